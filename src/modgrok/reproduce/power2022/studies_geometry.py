"""Fig. 3 and appendix A.5: how the answers lie in the unembedding, and how sharp the minima are."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.networks import Network
from modgrok.palette import BLUE, VERMILLION
from modgrok.plot import style
from modgrok.reproduce.nested import Numbers, Study, Tree, results
from modgrok.reproduce.power2022.profile import Profile
from modgrok.reproduce.power2022.sharpness import sharpness
from modgrok.reproduce.power2022.studies_data import KNOWN
from modgrok.reproduce.power2022.tsne import tsne
from modgrok.shapes import Float, Int
from modgrok.tasks.basis.named_groups import cayley_table

PARTITIONS = 200
"""Random partitions that cosets are compared with."""
EXAMPLES = 512
"""Training examples over which the loss is taken for the sharpness."""


def cosets(table: Int[np.ndarray, "g g"], subgroup: list[int], side: str) -> Int[np.ndarray, "g"]:
    """The number of every element's coset x H (`left`: first x, then H) or H x (`right`)."""
    members = table[:, subgroup] if side == "left" else table[subgroup].T  # (g, |H|)
    return np.unique(members.min(axis=1), return_inverse=True)[1]


def generated(table: Int[np.ndarray, "g g"], generators: list[int]) -> list[int]:
    """The subgroup that some elements generate."""
    found = set(generators)
    while True:
        grown = found | {int(table[x, y]) for x in found for y in found}
        if grown == found:
            return sorted(found)
        found = grown


def within_over_all(vectors: Float[np.ndarray, "n d"], labels: Int[np.ndarray, "n"]) -> float:
    """Mean cosine distance of pairs with one label in units of that of all pairs."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    distance = 1 - unit @ unit.T
    pairs = ~np.eye(len(unit), dtype=bool)
    return float(distance[(labels[:, None] == labels) & pairs].mean() / distance[pairs].mean())


def commonest_step(plane: Float[np.ndarray, "n 2"]) -> tuple[int, float]:
    """The commonest difference, up to sign, between a number and its nearest neighbor, and the share that has it."""
    count = len(plane)
    distance = np.square(plane[:, None] - plane).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    steps = (distance.argmin(axis=1) - np.arange(count)) % count
    steps = np.minimum(steps, count - steps)
    commonest = int(np.bincount(steps).argmax())
    return commonest, float((steps == commonest).mean())


def last_known(run: Run) -> tuple[int, Network]:
    """The last step whose weights are kept and at which the test set is known, or else the last of all, and the network
    there."""
    history = run.history
    known = set(history["step"][history["test_accuracy"] >= KNOWN].tolist())
    last = int(history["step"][-1])
    kept = [step for step in run.snapshots if step in known]
    return (last, run.network) if last in known or not kept else (kept[-1], run.snapshot(kept[-1]))


def unembedding(network: Network) -> Float[np.ndarray, "answer d"]:
    """The rows of the answers, without their mean."""
    rows = np.asarray(network.parameters["unembedding.weight"], np.float64)[: network.signature.outputs]
    return rows - rows.mean(axis=0)


def geometry(profile: Profile, runs: Tree) -> Numbers:
    """Both unembeddings in the plane; cosets against random partitions, and steps of neighbors."""
    table = cayley_table(profile.group)
    subgroup = generated(table, list(profile.subgroup))
    looked_at = {name: last_known(run) for name, run in runs.items()}
    product, total = (unembedding(looked_at[name][1]) for name in ("product", "sum"))
    random = np.random.default_rng(0)
    sides = {side: cosets(table, subgroup, side) for side in ("left", "right")}
    ratios = {side: within_over_all(product, labels) for side, labels in sides.items()}
    side = min(ratios, key=lambda name: ratios[name])
    chance = [within_over_all(product, random.permutation(sides[side])) for _ in range(PARTITIONS)]
    planes = {"product": tsne(product), "sum": tsne(total)}
    step, share = commonest_step(planes["sum"])
    return {
        "group": profile.group,
        "modulus": profile.modulus,
        "subgroup": len(subgroup),
        "ratios": ratios,
        "chance": [min(chance), float(np.median(chance))],
        "side": side,
        "cosets": sides[side],
        "planes": planes,
        "step": step,
        "step_share": share,
        "at": {name: at for name, (at, _) in looked_at.items()},
        "test_accuracy": {name: accuracy_at(runs[name], at) for name, (at, _) in looked_at.items()},
    }


def accuracy_at(run: Run, step: int) -> float:
    """As it was recorded at that step."""
    history = run.history
    return float(history["test_accuracy"][history["step"] == step][0])


def minima(profile: Profile, runs: list[Run]) -> Numbers:
    """Sharpness and test accuracy of networks at the end, and their rank correlation."""
    from scipy.stats import spearmanr

    found = []
    for run in runs:
        examples = run.experiment.split.examples_of(run.task)
        chosen = np.flatnonzero(examples.trained)[:EXAMPLES]
        value = sharpness(run.network, examples.inputs[chosen], examples.labels[chosen])
        decays = bool(run.experiment.weight_decay) and run.experiment.decay_to == "zero"
        found.append({"sharpness": value, "test_accuracy": results(run, "test_accuracy"), "decays": decays})

    def correlation(networks: list[dict[str, Any]]) -> float | None:
        both = [[one[key] for one in networks] for key in ("sharpness", "test_accuracy")]
        return float(spearmanr(*both)[0]) if all(len(set(values)) > 1 for values in both) else None

    decayed = correlation([one for one in found if one["decays"]])
    return {"networks": found, "spearman": correlation(found), "decayed": decayed}


def draw_geometry(n: Numbers) -> Any:
    figure, panels = style.grid(1, 2, height=3.2)
    x, y = zip(*n["planes"]["product"], strict=True)
    panels[0, 0].scatter(x, y, c=n["cosets"], cmap="tab20", s=10)
    x, y = zip(*n["planes"]["sum"], strict=True)
    step = n["step"]
    panels[0, 1].scatter(x, y, c=[c % step for c in range(len(x))], cmap="tab10", s=10)
    for c in range(len(x)):
        other = (c + step) % len(x)
        panels[0, 1].plot([x[c], x[other]], [y[c], y[other]], color="#999999", linewidth=0.3, zorder=0)
    for panel in panels[0]:
        panel.set(xticks=[], yticks=[])
    kind = f"{n['side']} cosets of a subgroup of {n['subgroup']}"
    style.letter(panels[0], (f"x ∘ y in {n['group']}; {kind}", f"x + y mod {n['modulus']}; lines: add {step}"))
    style.note(figure, "t-SNE of the rows of the unembedding")
    return figure


def draw_minima(n: Numbers) -> Any:
    figure, panels = style.grid(1, 1, style.COLUMN, 2.8)
    panel = panels[0, 0]
    for decays, color, label in ((True, BLUE, "weight decay"), (False, VERMILLION, "none, or toward the start")):
        some = [one for one in n["networks"] if one["decays"] is decays]
        points = [one["sharpness"] for one in some], [one["test_accuracy"] for one in some]
        panel.scatter(*points, color=color, s=14, label=label)
    panel.legend(loc="center left")
    panel.set(xscale="log", xlabel="sharpness φ", ylabel="test accuracy", ylim=(-0.02, 1.02))
    style.note(figure, f"{len(n['networks'])} networks at their last step")
    return figure


STUDIES = (
    Study(
        "fig3",
        "Where the answers lie",
        "t-SNE of the unembedding's rows at the last kept step at which the network knows the test set: one that has "
        "grokked with this decay loses it again at times. For the group's product colors are cosets of a subgroup, "
        "those of the side whose cosets lie closer together; for the sum lines join numbers that differ by the "
        "commonest difference between nearest neighbors.",
        geometry,
        lambda profile: profile.shown(),
        draw_geometry,
    ),
    Study(
        "figA5",
        "Sharpness of the minima",
        "Sharpness after Keskar et al. of networks at the end, against their test accuracy: one of every variant, of "
        "every share of wrong labels, of every operation.",
        minima,
        lambda profile: profile.ended(),
        draw_minima,
    ),
)
