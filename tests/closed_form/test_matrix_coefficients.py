"""Products in every finite group and modulo every number: exact, by random vectors, by one representation."""

import numpy as np
import pytest

from modgrok.closed_form import NoClosedForm, exact_width, expected_loss, least_width, solve
from modgrok.errors import ModgrokError
from modgrok.networks import score_table
from modgrok.tasks import Structure, Task, task
from modgrok.tasks.basis.named_groups import cayley_table
from modgrok.tasks.basis.representation import representations

WIDTHS = {"Z7": 13, "S3": 10, "D5": 18, "Q8": 20, "A4": 32, "S4": 64, "A5": 244, "S5": 596, "Z2xZ4": 12, "S3xS3": 100}
PRODUCTS = {6: 9, 10: 17, 15: 24, 21: 36, 30: 49, 42: 73} | {4: 8, 8: 18, 9: 18, 12: 22, 16: 41, 18: 37, 36: 90}
SMALL = ["S3", "D5", "D6", "Q8", "Q12", "Q16", "A4", "S4", "D8xZ2", "Q8xZ3", "S3xS3", "Z2xZ2xZ2xZ2", "D4xZ3", "A4xZ2"]


@pytest.mark.parametrize("name", WIDTHS)
def test_widths_of_exact_networks(name: str) -> None:
    product = task(f"group:{name}")
    network = solve(product, "exact")
    assert network.width == WIDTHS[name] == exact_width(product.structure.basis)
    assert sum(one.neurons for one in representations(product.table)) == WIDTHS[name]
    score = score_table(network, product.table)
    assert score.accuracy == 1
    assert score.loss < 1e-20


@pytest.mark.parametrize("name", SMALL)
def test_functions_of_groups(name: str) -> None:
    """Any f1, f2 and F, not injective and not surjective."""
    rng, table = np.random.default_rng(len(name)), cayley_table(name)
    first, second, outer = rng.integers(0, len(table), (3, len(table)))
    found = Task.from_table(outer[table[first[:, None], second]])
    vars(found)["structure"] = Structure("function_of_group", len(table), "Given.", (first, second), outer, table, name)
    network = solve(found, "exact")
    assert network.width <= sum(one.neurons for one in representations(table))
    assert score_table(network, found.table).loss < 1e-24


@pytest.mark.parametrize("modulus", PRODUCTS)
def test_products_modulo_every_number(modulus: int) -> None:
    for text in ("n*m", "n*m + 1"):
        product = task(text, modulus)
        network = solve(product, "exact")
        assert network.width == PRODUCTS[modulus]
        assert score_table(network, product.table).loss < 1e-24


@pytest.mark.parametrize(("p", "width"), [(5, 10), (7, 11), (11, 19), (13, 24), (31, 51), (43, 75)])
def test_powers(p: int, width: int) -> None:
    """As wide as the product modulo p − 1, and two neurons for 0^m."""
    table = task("discrete:n^m", p).table
    for power in (Task.from_table(table), Task.from_table(table.T)):
        network = solve(power, "exact")
        assert network.width == width
        assert score_table(network, power.table).loss < 1e-24


@pytest.mark.parametrize("p", [5, 7, 11, 13, 17, 19, 31])
@pytest.mark.parametrize("name", ["n^(1/m)", "log_n(m)", "root(n+m)", "log(n*m)"])
def test_roots_and_logarithms(name: str, p: int) -> None:
    """Wherever they exist, whether or not p − 1 is squarefree."""
    found = task(f"discrete:{name}", p)
    for some in (found, Task.from_table(found.table.T)):
        network = solve(some, "exact")
        score = score_table(network, some.table)
        assert score.accuracy == 1
        assert score.loss < 1e-24
        assert network.width < p * p


def test_what_has_no_basis_is_refused() -> None:
    with pytest.raises(NoClosedForm, match="product modulo any number"):
        solve(task("n*m", 1001), "exact")
    with pytest.raises(NoClosedForm, match="no closed form waves"):
        solve(task("n*m", 30), "waves")


def test_one_faithful_representation_answers_every_pair() -> None:
    product = task("group:S5")
    (four, *_) = [k for k, one in enumerate(product.structure.basis.representations) if one.dimension == 4]
    network = solve(product, "exact", frequencies=[four])
    assert network.width == 65
    assert score_table(network, product.table).accuracy == 1
    sign = solve(product, "exact", frequencies=[1])
    assert score_table(sign, product.table).accuracy < 0.1


def test_representations_have_numbers() -> None:
    with pytest.raises(ModgrokError, match="1 to 4, not 5"):
        solve(task("group:S4"), "exact", frequencies=[5])


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("name", ["S4", "Q8", "Z2xZ4", "A4", "S3"])
def test_expected_loss_of_random_vectors(name: str, constant: bool) -> None:
    product = task(f"group:{name}")
    losses = [
        score_table(solve(product, width=40, constant=constant, seed=seed), product.table).loss for seed in range(150)
    ]
    error = np.std(losses) / len(losses) ** 0.5
    expected = expected_loss(product.structure.basis, 40, constant=constant)
    assert np.mean(losses) == pytest.approx(expected, abs=4 * error)


def test_random_vectors_are_random_phases_in_a_cyclic_group() -> None:
    from modgrok.closed_form.matrix_coefficients import expected_vector_loss
    from modgrok.tasks import Basis

    places, p, width = np.arange(23), 23, 11 * 7
    cyclic = Basis(p, (places, places), places)
    for constant in (False, True):
        loss = expected_vector_loss(cyclic, width + constant, constant=constant)
        assert loss == pytest.approx(expected_loss(cyclic, width + constant, constant=constant))


def test_random_vectors_answer_every_pair_when_wide() -> None:
    product = task("group:A5")
    assert score_table(solve(product, width=1024), product.table).accuracy == 1


def test_lower_bounds() -> None:
    assert least_width(task("group:S3")) == 9
    assert least_width(task("n + m", 7)) == 10
    assert least_width(task("n*m", 6)) <= 9
