"""The groups, and how much is trained of each.

quick: two CPU cores, groups up to order 24 and three seeds. full: up to S5, five seeds, for a GPU. Widths are four
times that of the exact network, at most 1 000. Fractions, rate and decays come from a search over 12 groups, 4 shares,
3 rates and 5 decays with one seed: a decay of 0.2 is the fastest of them up to order 48, and S5 collapses beyond 0.02.
"""

from functools import cache
from typing import Any

from modgrok.closed_form.exact import exact_width
from modgrok.experiments import Experiment
from modgrok.reproduce.form import Runs, Sizes, joined, runs, sizes
from modgrok.tasks.basis import Basis
from modgrok.tasks.task import Task

FRACTIONS = {"S3": 0.9, "Q8": 0.9, "D5": 0.9, "A4": 0.9, "Q16": 0.8, "D12": 0.6, "S4": 0.7}
"""Share of the table that is trained on; of larger groups half."""
DECAYS = {"A5": 0.05, "S5": 0.01}
"""Of smaller groups 0.2."""
FEW_PAIRS = 64
"""Tables no larger than this leave a handful of test pairs: such groups are shown, and not judged by their time."""

PROFILES = QUICK, FULL, TINY = sizes(
    groups=(
        ("S3", "Q8", "D5", "A4", "D12", "S4"),
        ("S3", "Q8", "D5", "A4", "Q16", "D12", "S4", "S3xS3", "D9xZ2", "S4xZ2", "A5", "S5"),
        ("S3", "D5"),
    ),
    random_labels=(("S4",), ("S4", "A5"), ("S3",)),
    seeds=(3, 5, 1),
    steps=(2_000, 4_000, 6),
    swept=(("D12", "S4"), ("D12", "S4", "S3xS3", "S4xZ2", "A5"), ("S3", "D5")),
    swept_fractions=((0.4, 0.5, 0.6, 0.75), (0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8), (0.5,)),
    swept_decay=0.05,
    narrow=(("S4",), ("S4", "A5"), ("S3",)),
    shares_of_width=((0.25, 0.5, 1.0, 2.0), (0.125, 0.25, 0.5, 1.0, 2.0, 4.0), (1.0,)),
    dealt=(("A4", "S4"), ("A4", "S4", "S3xS3", "S4xZ2", "A5"), ("S3",)),
    dealt_widths=((1.0, 4.0), (1.0, 2.0, 4.0, 8.0, 16.0), (1.0,)),
    dealt_steps=(2_000, 20_000, 6),
    descended=(("S4",), ("S4", "S4xZ2", "A5"), ("S3",)),
    descent_steps=(4_000, 20_000, 6),
)


@cache
def task_of(group: str) -> Task:
    return Experiment(task=f"group:{group}").load_task()


def basis_of(group: str) -> Basis:
    """The basis of matrix coefficients."""
    basis = task_of(group).structure.basis
    assert basis is not None
    return basis


def exact(group: str) -> int:
    """Neurons of the exact network, Σ d³ where all representations are of real type."""
    return exact_width(basis_of(group))


def settings(group: str) -> dict[str, Any]:
    return {
        "task": f"group:{group}",
        "width": min(1_000, 4 * exact(group)),
        "fraction": FRACTIONS.get(group, 0.5),
        "optimizer": "adamw",
        "lr": 0.1,
        "weight_decay": DECAYS.get(group, 0.2),
    }


def trained(s: Sizes, groups: tuple[str, ...], random_labels: bool = False, **more: Any) -> Runs:
    """Every seed of groups at their usual settings or the given ones; or of random tables of the same size."""
    found = {group: settings(group) for group in groups}
    if random_labels:
        found = {g: one | {"task": "random:1", "modulus": task_of(g).modulus} for g, one in found.items()}
    common = {"steps": s.steps, "evaluations": 200, "snapshots": 2}
    return runs(common, group=found, seed=range(s.seeds)).but(**more)


def wider(s: Sizes, groups: tuple[str, ...], shares: tuple[float, ...], **more: Any) -> Runs:
    """Groups at widths in units of the exact network's."""
    return joined(
        trained(s, (group,), snapshots=0, width=round(x * exact(group)), **more).tag(share=x)
        for group in groups
        for x in shares
    )
