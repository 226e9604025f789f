"""Verdicts follow the numbers: textbook runs make claims hold, broken ones turn them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from modgrok.experiments import Experiment, Run
from modgrok.measures.spectrum import FAMILIES
from modgrok.networks import Network
from modgrok.reproduce.claim import Verdict
from modgrok.reproduce.gromov2023.sizes import TINY, Recipe
from modgrok.reproduce.paper import find_paper
from modgrok.reproduce.study import Numbers
from modgrok.reproduce.table import Table

PAPER = find_paper()
CLAIMS = {claim.name: claim for claim in PAPER.claims}
CLEAR = TINY.but(modulus=23, width=256, gd=Recipe(1e6, 1000, 100), adamw=Recipe(0.1, 1000, 100))


def shuffled(network: Network, seed: int = 0) -> Network:
    """The same numbers in every neuron, in another order: all structure is gone."""
    rng = np.random.default_rng(seed)
    return network.replace(
        w_in=rng.permuted(network.w_in.reshape(network.width, -1), axis=1).reshape(network.w_in.shape),
        w_out=rng.permuted(network.w_out, axis=0),
    )


def broken(find: Callable[[Experiment], Run]) -> Callable[[Experiment], Run]:
    """Finds runs whose final weights were shuffled."""

    def find_shuffled(experiment: Experiment) -> Run:
        run = find(experiment)

        class Shuffled(Run):
            network = property(lambda self: shuffled(run.network))  # type: ignore[assignment]

        return Shuffled(run.folder)

    return find_shuffled


def judge(name: str, **numbers: Numbers) -> Verdict:
    return CLAIMS[name].verdict(numbers)


def measure(study: str, write_runs: Any, change: Any = lambda find: find, profile: Any = CLEAR) -> Numbers:
    found = PAPER.study(study)
    return found.measure(profile, change(write_runs(found.needs(profile))))


@pytest.mark.parametrize(("claim", "study"), [("phases", "fig2"), ("copies", "fig2"), ("phases_random", "fig2")])
def test_weights_make_a_claim_hold_and_shuffled_weights_break_it(claim: str, study: str, write_runs: Any) -> None:
    assert judge(claim, **{study: measure(study, write_runs)}).outcome.startswith("holds")
    assert judge(claim, **{study: measure(study, write_runs, broken)}).outcome == "does not hold here"


def test_shuffled_weights_have_no_single_series_of_peaks(write_runs: Any) -> None:
    found = measure("fig1", write_runs, broken)
    assert judge("fourier_peaks", fig1=found).outcome == "does not hold here"
    table = Table.from_json(found)
    exact = {name: table.where(form="exact form").first[name] for name in FAMILIES}
    clean = Table(vars(row) | exact if row.form == "gradient descent" else row for row in table).to_json(3)
    assert judge("fourier_peaks", fig1=clean).outcome == "holds"


@pytest.mark.parametrize(
    "claim",
    ["grokking", "no_waves_yet", "loss_peak", "train_loss", "loss_gap_closes", "norms_of_solution", "gradients"],
)
def test_a_textbook_run_fulfils_what_the_paper_says_of_dynamics(claim: str, write_runs: Any) -> None:
    numbers = measure("fig0", write_runs)
    verdict = judge(claim, fig0=numbers)
    assert verdict.outcome == "holds", verdict
    assert all("2 seeds" in text for text in list(verdict.measured.values())[:1])


def test_the_ratio_has_to_accelerate(write_runs: Any) -> None:
    numbers = measure("fig4", write_runs)
    assert judge("ipr_start", fig4=numbers).outcome == "holds"
    assert judge("ipr_onset", fig4=numbers).outcome == "holds with a remark"
    assert judge("ipr_gap", fig4=numbers).outcome == "holds"
    regimes = judge("ipr_regimes", fig4=numbers)
    assert regimes.outcome == "does not hold here"


def test_closed_forms_are_judged_on_the_whole_table(write_runs: Any) -> None:
    profile = TINY.but(modulus=31, width=300)
    numbers = measure("closed_forms", write_runs, profile=profile)
    for name in ("claim_one", "complex_network", "many_variables"):
        assert judge(name, closed_forms=numbers).outcome == "holds", name
    table = Table.from_json(numbers)
    assert table["degree"].known().distinct() == [2, 3, 4, 5, 6, 7, 8]
    composed = ["(n^2 + 3*m)^7", "4*(n^3 + 2*m)^7 + 1", "(n^2 + m^2)^7"]
    assert table.where(kind="composed")["task"].distinct() == composed
    trained = Table([{"task": "(n + m)^7", "modulus": 31, "test_accuracy": 1.0, "in_waves": 0.9}]).to_json(5)
    assert judge("corollary", closed_forms=numbers, composed=trained).outcome == "holds"
    assert [text.split(",")[1].strip() for text in judge("branches", closed_forms=numbers).measured] == [
        *("b = 2", "b = 3", "b = 2", "b = 5", "b = 6", "b = 2")
    ]


def test_claims_without_numbers_are_not_run() -> None:
    verdicts = [claim.verdict({}) for claim in PAPER.claims]
    assert {verdict.outcome for verdict in verdicts} == {"undecided here"}


def test_every_claim_says_where_it_is_from() -> None:
    assert len(CLAIMS) >= 25
    for claim in CLAIMS.values():
        assert claim.section
        assert claim.statement.endswith(".")
        assert set(claim.studies) <= {study.name for study in PAPER.studies}
