"""Modular functions: expressions, and those of the papers by name."""

import dataclasses
import re
from dataclasses import dataclass
from difflib import get_close_matches

from modgrok.errors import ModgrokError
from modgrok.tasks.families.family import Family
from modgrok.tasks.task import Task


@dataclass(frozen=True)
class Entry:
    """A function of a paper."""

    expression: str
    summary: str
    place: str
    """Where the paper treats it."""


CATALOGUE: dict[str, Entry] = {
    "addition": Entry(
        "n + m",
        "The running example: learned by every optimizer, solved by waves of one frequency in each neuron.",
        "section 3.1, Claim I (eq_sol1, eq_sol2)",
    ),
    "subtraction": Entry(
        "n - m",
        "A sum f1(n) + f2(m) with f2(m) = −m, so it has the waves of addition with the second index reversed.",
        "section 3.2, a case of Claim II (eq_solf1)",
    ),
    "multiplication": Entry(
        "n*m",
        "Learned as easily as addition; the paper has no solution for it, waves in the discrete logarithm are one.",
        "section 3.2 and appendix C, Fig. A4",
    ),
    "sum_of_squares": Entry(
        "n^2 + m^2",
        "A sum f1(n) + f2(m) of functions that are not invertible; solved by waves in n² and m².",
        "section 3.2, Claim II; appendix C (eq_sol_sq1), Fig. A3",
    ),
    "square_of_sum": Entry(
        "(n + m)^2",
        "A function F(n + m) whose F has two branches; one branch alone answers about half of the inputs.",
        "section 3.2, Corollary (eq_solfF2); appendix C (eq_sol_sq3), Fig. A2",
    ),
    "quadratic_form": Entry(
        "n^2 + m^2 + n*m",
        "Sums and products mixed: learned to about 97 % with most of the data, no solution known.",
        "appendix C, Fig. A5",
    ),
    "cubic": Entry(
        "n^3 + n*m^2 + m",
        "Never generalizes, not even from nine tenths of the table.",
        "section 3.2 and appendix C, Fig. A5",
    ),
    "power:mix1": Entry(
        "n/m if m odd else n - m",
        "Two operations in one table, chosen by the second number.",
        "Power et al. 2022, appendix A.1.1",
    ),
    "power:+*": Entry(
        "n + m if n even else n*m",
        "Sum or product, chosen by the first number.",
        "Power et al. 2022, their code (grok/data.py)",
    ),
    "power:+-": Entry(
        "n + m if n even else n - m",
        "Sum or difference, chosen by the first number.",
        "Power et al. 2022, their code (grok/data.py)",
    ),
}


def _read(text: str, modulus: int | None) -> Task:
    assert modulus is not None  # the family reads it
    if text in CATALOGUE:
        return dataclasses.replace(Task.from_expression(CATALOGUE[text].expression, modulus), name=text)
    if re.fullmatch("[a-z_]{3,}|power:.*", text, re.DOTALL) and set(text) - set("nm"):
        close = get_close_matches(text, CATALOGUE, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"the catalog has {', '.join(CATALOGUE)}."
        raise ModgrokError(f"There is no function called {text!r}; {hint}")
    return Task.from_expression(text, modulus)


FAMILY = Family(
    "modular",
    "power:.*|[^:]*",
    _read,
    'an expression such as "n^2 + m^2", or a name of the catalog such as addition',
    reads_modulus=True,
)
