r"""Which representations of a group a network has learnt.

Vectors $u_g$, one for each element, fall into parts that the group does not mix, one for each irreducible
representation ρ. Their shares of $\sum_g |u_g|^2$ say how near cosets lie: where $|u_g| = 1$, the mean of
$u_x · u_{xh}$ over x and over the conjugates of h is $\sum_ρ \mathrm{share}_ρ χ_ρ(h) / d_ρ$.
"""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.palette import MARKERS, SERIES
from modgrok.plot import style
from modgrok.reproduce.nested import Numbers, Study, Tree
from modgrok.reproduce.power2022.profile import Profile
from modgrok.reproduce.power2022.studies_geometry import (
    accuracy_at,
    cosets,
    generated,
    last_known,
    unembedding,
    within_over_all,
)
from modgrok.shapes import Float, Int
from modgrok.tasks.basis import Representation
from modgrok.tasks.basis import representations as irreducible
from modgrok.tasks.basis.group import identity
from modgrok.tasks.basis.named_groups import cayley_table


def shares(vectors: Float[np.ndarray, "g d"], parts: tuple[Representation, ...]) -> Float[np.ndarray, "part"]:
    """How much of the vectors, each of length 1, lies in each part."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    power = [one.dimension * np.square(one.coefficients.T @ unit).sum() for one in parts]
    return np.array(power) / len(unit) ** 2


def predicted_ratio(
    share: Float[np.ndarray, "part"],
    parts: tuple[Representation, ...],
    table: Int[np.ndarray, "g g"],
    subgroup: list[int],
) -> float:
    """What `within_over_all` is for cosets of a subgroup, from the shares alone."""
    others = [h for h in subgroup if h != identity(table)]
    characters = np.array([part.character / part.dimension for part in parts])  # (part, g)
    within = 1 - share @ characters[:, others].mean(axis=1)
    every = 1 - (share @ characters.sum(axis=1) - share.sum()) / (len(table) - 1)
    return float(within / every)


def representations(profile: Profile, runs: Tree) -> Numbers:
    """Shares of all irreducible representations in the unembedding, at every kept step of every seed; and cosets at the
    last step that the product is known."""
    table = cayley_table(profile.group)
    parts, subgroup = irreducible(table), generated(table, list(profile.subgroup))

    def followed(run: Run) -> dict[str, Any]:
        at, network = last_known(run)
        vectors = unembedding(network)
        share = shares(vectors, parts)
        return {
            "step": run.snapshots,
            "shares": [shares(unembedding(run.snapshot(step)), parts) for step in run.snapshots],
            "test_accuracy": [accuracy_at(run, step) for step in run.snapshots],
            "at": at,
            "known": accuracy_at(run, at),
            "share": share,
            "ratios": {side: within_over_all(vectors, cosets(table, subgroup, side)) for side in ("left", "right")},
            "predicted": predicted_ratio(share, parts, table, subgroup),
        }

    return {
        "group": profile.group,
        "subgroup": len(subgroup),
        "dimensions": [part.dimension for part in parts],
        "seeds": [followed(run) for run in runs],
    }


def names(dimensions: list[int]) -> list[str]:
    """4 and 4′ for the first and the second of dimension 4."""
    return [f"{d}{'′' * dimensions[:i].count(d)}" for i, d in enumerate(dimensions)]


def draw_representations(n: Numbers) -> Any:
    figure, panels = style.grid(1, len(n["seeds"]), height=3.0)
    for seed, (panel, found) in enumerate(zip(panels[0], n["seeds"], strict=True)):
        for i, name in enumerate(names(n["dimensions"])):
            look = {"color": SERIES[i % len(SERIES)], "marker": MARKERS[i % len(MARKERS)], "markersize": 3}
            panel.plot(found["step"], [share[i] for share in found["shares"]], label=name, **look)
        panel.plot(found["step"], found["test_accuracy"], color="black", linestyle="--", label="test accuracy")
        panel.axvline(found["at"], color="black", linewidth=0.6, linestyle=":")
        panel.set_xscale("symlog", linthresh=100)
        panel.set(xlabel="step", xlim=(0, found["step"][-1]), ylabel="share of the unembedding", ylim=(-0.02, 1.02))
        panel.set_title(f"seed {seed}", loc="left")
    panels[0, 0].legend(title="dimension", loc="upper left")
    style.note(figure, f"x ∘ y in {n['group']}; dotted: the last kept step at which the test set is known")
    return figure


STUDIES = (
    Study(
        "figR",
        "Which representation is learnt",
        "How much of the unembedding lies in each irreducible representation of the group; a prime marks another one "
        "of the same dimension. At the start each has its share of all dimensions.",
        representations,
        lambda profile: profile.product_runs(),
        draw_representations,
        beyond=True,
    ),
)
