import numpy as np
import pytest

from modgrok.errors import ModgrokError
from modgrok.tasks import CATALOGUE, task

N, M = np.ogrid[:11, :11]


@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("addition", N + M),
        ("subtraction", N - M),
        ("multiplication", N * M),
        ("sum_of_squares", N**2 + M**2),
        ("square_of_sum", (N + M) ** 2),
        ("quadratic_form", N**2 + M**2 + N * M),
        ("cubic", N**3 + N * M**2 + M),
    ],
)
def test_functions_of_the_paper(name: str, table: np.ndarray) -> None:
    found = task(name, 11)
    assert found.name == name
    np.testing.assert_array_equal(found.table, table % 11)


def test_every_entry_says_what_and_where() -> None:
    for entry in CATALOGUE.values():
        assert entry.summary.endswith(".")
        assert "section" in entry.place or "appendix" in entry.place or "et al." in entry.place


def test_unknown_names_get_a_suggestion() -> None:
    with pytest.raises(ModgrokError, match="did you mean 'addition'"):
        task("additon", 11)
    with pytest.raises(ModgrokError, match="the catalog has addition, "):
        task("zeta", 11)
