// The token of this launch, from the address that the terminal printed. It is kept in this origin's storage and sent in a
// header: a cookie would go to every server on this machine, since cookies do not tell ports apart.

const NAME = "modgrok-token";
const given = new URLSearchParams(location.search).get("token");

if (given) {
  localStorage.setItem(NAME, given);
  history.replaceState(history.state, "", location.pathname + location.hash);
}

export const token = () => localStorage.getItem(NAME) ?? "";
