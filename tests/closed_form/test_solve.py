"""What is refused, and which forms there are."""

from typing import Any

import numpy as np
import pytest

from modgrok.closed_form import NoClosedForm, available, default_width, solve, widths
from modgrok.errors import ModgrokError
from modgrok.tasks import Structure, Task
from modgrok.tasks import task as find_task


def unstructured() -> Task:
    task = Task.from_expression("n^3 + n*m^2 + m", 7)
    vars(task)["structure"] = Structure("none", 7, "Nothing fits.")
    return task


def test_no_closed_form() -> None:
    with pytest.raises(
        NoClosedForm, match=r"n\^3 \+ n\*m\^2 \+ m mod 7.*none \(Nothing fits\).*F\(f1\(n\) ∘ f2\(m\)\)"
    ):
        solve(unstructured())


def test_available(make_task: Any) -> None:
    assert available(make_task("sum", 6).structure, 2) == ("waves", "exact", "complex")
    assert available(make_task("product", 7).structure, 2) == ("waves", "exact", "complex")
    assert available(make_task("product", 6).structure, 2) == ("exact",)
    assert available(make_task("product", 12).structure, 2) == ("exact",)
    assert available(unstructured().structure, 2) == ()
    assert available(make_task("sum", 2, [np.arange(2)] * 9).structure, 9) == ("waves", "complex")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"width": 0}, "at least 1"),
        ({"width": -5, "form": "complex"}, "at least 1"),
        ({"width": 1, "constant": True}, "at least 2"),
        ({"form": "exact", "constant": True}, "has it anyway"),
        ({"width": 10**9}, "more than the 512 MiB"),
        ({"width": 30, "form": "exact"}, "width 25, not 30"),
        ({"frequencies": [0]}, "1 to 6, and 0"),
        ({"frequencies": [1, 7], "form": "exact"}, "1 to 6, and 7"),
        ({"frequencies": []}, "none was given"),
        ({"form": "sharp"}, "waves, exact, complex, few, minimal"),
        ({"branches": "two"}, "all, one"),
        ({"activation": "cosine"}, "activation"),
        ({"parametrization": "ntk"}, "parametrization"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_settings(make_task: Any, settings: dict[str, Any], message: str) -> None:
    solve_unchecked: Any = getattr(solve, "__wrapped__", solve)
    with pytest.raises(ModgrokError, match=message):
        solve_unchecked(make_task("sum", 13), **settings)


def test_width_of_a_product_includes_the_neurons_that_count_zeros(make_task: Any) -> None:
    assert solve(make_task("product", 5), width=4).width == 4
    with pytest.raises(ModgrokError, match="at least 4"):
        solve(make_task("product", 5), width=3)


def test_the_exact_form_has_a_largest_number_of_variables(make_task: Any) -> None:
    with pytest.raises(ModgrokError, match="at most 8 variables"):
        solve(make_task("sum", 2, [np.arange(2)] * 9), form="exact")


def test_default_widths(make_task: Any) -> None:
    tasks = [make_task("sum", 3, [np.arange(3)] * arity) for arity in (1, 2, 3)]
    assert [default_width("waves", task) for task in tasks] == [500, 500, 3167]
    assert default_width("complex", tasks[2]) == 500
    assert widths(find_task("group:S4")) == {"waves": 256, "exact": 64}
