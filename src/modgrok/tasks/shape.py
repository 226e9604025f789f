"""The shape of a table of answers, and how large a table may be."""

from modgrok.errors import ModgrokError

MOST_ENTRIES = 50_000_000
MOST_VARIABLES = MOST_ENTRIES.bit_length() - 1
"""More variables than this exceed `MOST_ENTRIES` even modulo 2."""


def table_shape(modulus: int, arity: int) -> tuple[int, ...]:
    """(p, …, p), one axis for each variable, where p ≥ 2, S ≥ 1 and p^S fits in memory; an error otherwise."""
    if modulus < 2:
        raise ModgrokError(f"The modulus must be at least 2, not {modulus}.")
    if arity < 1:
        raise ModgrokError(f"A task needs at least one variable, not {arity}.")
    if arity > MOST_VARIABLES or modulus**arity > MOST_ENTRIES:
        raise ModgrokError(
            f"A table has at most {MOST_ENTRIES:,} entries, and {arity} variables modulo {modulus} need "
            f"{modulus}^{arity}; take a smaller modulus or fewer variables."
        )
    return (modulus,) * arity


def variable_names(arity: int) -> tuple[str, ...]:
    """What the variables are called where no expression says otherwise: n; n, m; n1, n2, n3, …"""
    return ("n", "m")[:arity] if arity <= 2 else tuple(f"n{s + 1}" for s in range(arity))


def describe_input(names: tuple[str, ...], values: tuple[int, ...]) -> str:
    """One input in words, such as `n=0, m=3`."""
    return ", ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))
