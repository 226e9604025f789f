"""Section 5.2: the critical fraction as a measure of how complex a function is."""

from typing import Any

from modgrok.experiments.sweeps.trends import clearly_below
from modgrok.plot import style
from modgrok.reproduce.figures import seeds
from modgrok.reproduce.form import Ask, Runs, Sizes, Table, runs, study
from modgrok.reproduce.gromov2023.search import until_grokked
from modgrok.reproduce.gromov2023.sizes import natural_rate
from modgrok.reproduce.transitions import error_bars, transitions, within
from modgrok.text import count

EASY = ("n + m", "n - m", "n^2 + m^2", "n^3 + 2*m", "(n + m)^2", "n*m")
"""F(f1(n) + f2(m)) and a product: what the paper's network learns easily."""
HARD = ("n^2 + m^2 + n*m", "n^2*m + n", "n^3 + n*m^2 + m")
"""Sums and products mixed, which are not of that form."""
EVALUATIONS = 150


def near_their_fractions(s: Sizes) -> Runs:
    """Both kinds under gradient descent with equal settings, each at fractions where it may begin to be learned."""
    rate = natural_rate(s.search_descent, s.sweep_modulus, s.mixed_width)
    settings = until_grokked(s, s.complexity_steps, EVALUATIONS) | {"width": s.mixed_width, "lr": rate}
    found = [
        runs(settings | {"optimizer": "gd"}, task=[*some], fraction=[*fractions], seed=range(s.complexity_seeds))
        for some, fractions in ((EASY, s.easy_fractions), (HARD, s.hard_function_fractions))
    ]
    return sum(found, Runs([])).fresh_seeds()


complexity = study(
    "complexity",
    "Critical fractions of functions",
    "The share of the table from which a function is learned within the same steps of gradient descent. Arrows: none "
    "of the fractions tried is enough, or all are.",
    runs=near_their_fractions,
    keep="grokked_at",
    also=lambda s, t: {"critical": within(t, [s.complexity_steps], "task")},
)


@complexity.figure(beyond=True, width=style.COLUMN, height=2.8)
def fractions_by_function(t: Table, panel: Any) -> str:
    rows = transitions(t)
    for i, names in enumerate((EASY, HARD)):
        places = [place for place, row in enumerate(rows) if row.task in names]
        label = ("F(f1(n) + f2(m)) and nm", "sums and products mixed")[i]
        error_bars(panel, places, [rows.rows[place].alpha for place in places], i, label, lying=True)
    panel.set_yticks(range(len(rows)), [row.task.replace("*", "·") for row in rows])
    panel.invert_yaxis()
    panel.set(xlabel=r"critical fraction $\alpha_c$", ylabel="function", xlim=(0, 1.04))
    panel.legend(loc="center right", fontsize=6)
    sizes = f"mod {t.one('modulus')}, N = {t.one('width')}, plain GD, {count(t.one('steps'))} steps"
    return f"{sizes}; 95 % intervals from {seeds(t)} at each α"


@complexity.claim("5.2")
def complexity_by_data(t: Table, ask: Ask) -> None:
    """The data that a function needs, α_c, measures its complexity: less for easy functions than for hard ones."""
    alpha = {row.task: row.alpha for row in transitions(t)}
    ask.show({f"α_c, {text}": str(one) for text, one in alpha.items()})
    known = all(alpha[text].high is not None for text in EASY)
    ask.possible("some fraction tried is enough for each function F(f1(n) + f2(m)) and for nm", known)
    ask.that(
        "at equal settings and steps of gradient descent α_c of each function F(f1(n) + f2(m)) and of nm is below that "
        "of every mixed one, beyond the 95 % interval, where one that no fraction teaches counts as above all",
        all(clearly_below(alpha[a], alpha[b]) for a in EASY for b in HARD),
    )
    known = all(alpha[text].high is not None for text in HARD)
    ask.remark("some fraction tried is enough for each mixed function", known)
    first, *rest = EASY
    apart = [a for a in rest if clearly_below(alpha[first], alpha[a]) or clearly_below(alpha[a], alpha[first])]
    ask.show({f"easy functions whose α_c differs from that of {first}": ", ".join(apart) or "none"})
