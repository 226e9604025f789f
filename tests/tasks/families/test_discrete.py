import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.tasks import task

P = 13


def table(name: str) -> np.ndarray:
    return task(f"discrete:{name}", P).table


def test_powers_roots_and_logarithms_undo_each_other() -> None:
    powers = table("n^m")
    assert all(powers[n, m] == pow(n, m, P) for n in range(P) for m in range(P))
    roots, logarithms = table("n^(1/m)"), table("log_n(m)")
    for n in range(P):
        for m in range(P):
            if roots[n, m] >= 0:
                assert pow(int(roots[n, m]), m, P) == n
                assert all(pow(r, m, P) != n for r in range(roots[n, m]))
            else:
                assert all(pow(r, m, P) != n for r in range(P))
            if logarithms[n, m] >= 0:
                assert pow(n, int(logarithms[n, m]), P) == m
            else:
                assert m not in powers[n]


def test_functions_of_sums_and_products() -> None:
    root, log = table("root(n + m)"), table("log(n*m)")
    n, m = np.nonzero(root >= 0)
    np.testing.assert_array_equal(root[n, m] ** 2 % P, (n + m) % P)
    assert (root < 0).sum() == P * (P - 1) // 2
    n, m = np.nonzero(log >= 0)
    assert len(n) == (P - 1) ** 2
    assert all(pow(2, int(x), P) == a * b % P for x, a, b in zip(log[n, m], n, m, strict=True))
    assert task("discrete:log(n*m)", P).structure.kind == "function_of_product"


def test_what_is_no_discrete_function_is_told() -> None:
    with pytest.raises(ModgrokError, match="discrete:n\\^m"):
        task("discrete:sin", P)
    with pytest.raises(ModgrokError, match="prime"):
        task("discrete:n^m", 12)
