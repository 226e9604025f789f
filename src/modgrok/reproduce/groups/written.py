"""Networks that are written down: exact ones of Σ d³ neurons, and random vectors, Claim I for groups."""

from collections.abc import Iterator
from typing import Any

from modgrok.closed_form.matrix_coefficients import expected_vector_loss
from modgrok.closed_form.solve import solve
from modgrok.measures.vectors import shared_vectors
from modgrok.networks import Network, score_table
from modgrok.reproduce.figures import named_lines
from modgrok.reproduce.form import Ask, Sizes, Table, study
from modgrok.reproduce.groups.neurons import by_group
from modgrok.reproduce.groups.sizes import basis_of, exact, task_of
from modgrok.tasks.task import Task
from modgrok.text import listed, percent

SHARES = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Widths of random vectors in units of the exact network's."""


def scored(network: Network, task: Task) -> dict[str, float]:
    score = score_table(network, task.table)
    return {"accuracy": score.accuracy, "loss": score.loss}


def networks(s: Sizes) -> Iterator[dict[str, Any]]:
    """Scores of the exact network and of random vectors, over the whole table."""
    for group in s.groups:
        task, width = task_of(group), exact(group)
        yield {"group": group, "form": "exact", "width": width, **scored(solve(task, form="exact"), task)}
        for share in SHARES:
            wide = max(2, round(share * width))
            for seed in range(s.seeds):
                network = solve(task, form="waves", width=wide, seed=seed, constant=True)
                expected = expected_vector_loss(basis_of(group), wide, constant=True)
                row = {"group": group, "share": share, "width": wide, "seed": seed, "expected": expected}
                yield {**row, "form": "random vectors", **scored(network, task)}
                if share == max(SHARES):
                    unshared = shared_vectors(network, basis_of(group), shuffle=seed)
                    yield {**row, "form": "unshared vectors", **scored(unshared, task)}


written = study(
    "written",
    "Networks written down for groups",
    "Accuracy over the whole table of random vectors aᵀρ(g)b + bᵀρ(h)c, read out with aᵀρ(q)c, against their number in "
    "units of the exact network's.",
    rows=networks,
)


@written.figure(width=4.6)
def accuracy_of_random_vectors(t: Table, panel: Any) -> str:
    random = t.where(form="random vectors")
    named_lines(panel, {group: cell.median("accuracy", "share") for group, cell in random.by("group").items()})
    panel.set(xscale="log", xlabel="neurons / exact width", ylabel="accuracy", ylim=(0, 1.03))
    panel.set_xticks(shares := random["share"].distinct(), [f"{share:g}" for share in shares])
    panel.minorticks_off()
    panel.legend(fontsize=6, ncols=2, handlelength=4)
    return "medians over seeds; the exact network answers everything at width 1"


@written.claim("closed form")
def exact_for_every_group(t: Table, ask: Ask) -> None:
    """The paper's network computes products in every finite group exactly, with Σ d³ neurons."""
    found = t.where(form="exact")
    ask.that("every pair of every group is answered", min(found["accuracy"]) == 1)
    ask.that("the loss is below 1e-20 in every group", max(found["loss"]) < 1e-20)
    ask.show({f"neurons for {row.group}": str(row.width) for row in found})
    ask.show({"largest loss": max(found["loss"])})


@written.claim("Claim I for groups")
def random_vectors(t: Table, ask: Ask) -> None:
    """Random vectors do for groups what random phases do for Z_p: enough of them answer everything."""
    random = t.where(form="random vectors")
    most, least = max(SHARES), min(SHARES)
    wide, narrow = (by_group(random.where(share=share), "accuracy") for share in (most, least))
    cells = random.where("share >= 1").by("group").items()
    ratios = {group: cell["loss"].average() / cell["expected"].average() for group, cell in cells}
    unshared = by_group(t.where(form="unshared vectors"), "accuracy")
    ask.that(f"at {most:g} times the exact width the median accuracy is at least 99 %", min(wide.values()) >= 0.99)
    ask.that("at a quarter of the exact width some group is below 90 %", min(narrow.values()) < 0.9)
    ask.that("with the second block of another neuron it is at most 50 %", max(unshared.values()) <= 0.5)
    off = max(abs(ratio - 1) for ratio in ratios.values())
    ask.remark("the mean loss is the expected one within a third in every group", off <= 1 / 3)
    ask.show({f"accuracy at {most:g} times the width": listed(wide, percent)})
    ask.show({"with unshared vectors": listed(unshared, percent), "mean loss over expected loss": listed(ratios)})
