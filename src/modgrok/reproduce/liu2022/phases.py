"""Fig. 6: phase diagrams. Every place is a network with its own rates, trained beside all others in batches."""

import math
from typing import Any

import numpy as np

from modgrok.plot import style
from modgrok.plot.phase_diagram import PHASES, patches, phase
from modgrok.reproduce.figures import panels, phase_map
from modgrok.reproduce.form import Ask, Runs, Settings, Sizes, Table, joined, runs, study
from modgrok.reproduce.liu2022.sizes import PAPER_STEPS, TOY
from modgrok.text import count, number, percent

TITLES = {
    "a": "squared error, two rates",
    "b": "squared error, weight decay",
    "c": "cross-entropy, weight decay",
    "d": "products of permutations, weight decay",
}
ONE_HOT: Settings = {"task": "add:10:unordered", "loss": "cross_entropy"}
PERMUTATIONS: Settings = {"task": "group:S3,codes=30", "embedding": 9, "combine": "product", "examples": 24}
"""Products of the six permutations of three things, each a learnable matrix of 3 × 3; 24 of 36 pairs are trained on."""
RELIABLE = 0.9
"""Accuracy that counts as known."""


def axes(s: Sizes, name: str) -> Settings:
    """What a diagram adds to the toy, and what varies in it."""
    return {
        "a": {"embedding_lr": [*s.diagram_rates], "lr": [*s.diagram_rates]},
        "b": {"weight_decay": [*s.decays], "lr": [*s.decoder_rates]},
        "c": ONE_HOT | {"weight_decay": [*s.class_decays], "lr": [*s.decoder_rates]},
        "d": PERMUTATIONS | {"weight_decay": [*s.group_decays], "lr": [*s.group_rates]},
    }[name]


def diagram(name: str, steps: int, seeds: int, varied: Settings) -> Runs:
    """One diagram, row by row; its runs stop when the test pairs are known."""
    common = TOY | {"examples": 45, "steps": steps, "threshold": RELIABLE, "until": 0}
    common |= {"evaluations": 300}  # So many that steps are known to 4 % of themselves.
    return runs(common, **varied, seed=range(seeds)).tag(diagram=name)


def corner_runs(s: Sizes) -> Runs:
    """The fastest decoder without and with the strongest decay, in diagrams (b) to (d)."""

    def corner(name: str) -> Runs:
        whole = axes(s, name)
        decays = [min(whole["weight_decay"]), max(whole["weight_decay"])]
        return diagram(name, s.other_steps, s.other_seeds, whole | {"weight_decay": decays, "lr": max(whole["lr"])})

    return joined(map(corner, "bcd"))


def classified(s: Sizes, t: Table) -> dict[str, Any]:
    """The phase of every run, and the steps of all."""
    found = [run.result for run in t.runs]
    phases = [phase(one["memorized_at"], one["grokked_at"], s.lag) for one in found]
    return {"lag": s.lag, "phases": phases, "run_steps": sum(one["steps"] for one in found)}


squared = study(
    "fig6",
    "Comprehension, grokking, memorization, confusion",
    "How the toy ends up, against (a) the learning rates of embedding and decoder and (b) the decoder's rate and "
    "weight decay. Comprehension: training and test accuracy pass 90 % at about the same time; grokking: the test "
    "accuracy much later; memorization: training accuracy alone; confusion: neither.",
    runs=lambda s: joined(diagram(name, s.diagram_steps, s.diagram_seeds, axes(s, name)) for name in "ab"),
    also=classified,
)
classes = study(
    "fig6c",
    "The phases with cross-entropy",
    "The same with the 19 sums as classes and cross-entropy.",
    runs=lambda s: diagram("c", s.other_steps, s.other_seeds, axes(s, "c")),
    also=classified,
)
permutations = study(
    "fig6d",
    "The phases for permutations",
    "The six permutations of three things as learnable 3 × 3 matrices, which are multiplied; all weights start as in "
    "(a) to (c), and weight decay is the only penalty (the paper starts at a tenth of that and adds an L1 term).",
    runs=lambda s: diagram("d", s.other_steps, s.other_seeds, axes(s, "d")),
    also=classified,
)
ends = study("corners", "Corners of the phase diagrams", runs=corner_runs, also=classified)


def diagrams(t: Table) -> dict[str, Table]:
    """Each diagram, its runs with their phases."""
    phases = t.one("phases")
    return Table(vars(row) | {"phase": one} for row, one in zip(t, phases, strict=True)).by("diagram")


def places(t: Table) -> Table:
    """The commonest phase at every place of a diagram."""
    cells = t.by("embedding_lr", "weight_decay", "lr").values()
    return Table(vars(cell.first) | {"phase": max(PHASES, key=cell["phase"].count)} for cell in cells)


def maps(t: Table) -> Any:
    found, drawn, seeds = diagrams(t), [], t.seeds
    note = f"{'24 of 36' if 'd' in found else '45 of 55'} pairs, at most {count(t.one('steps'))} steps, "
    note += "one seed" if seeds == 1 else f"the commonest of {seeds} seeds"
    note += f"; grokking: test {count(t.one('lag'))} steps or more after training"
    figure, grid = panels(*found, width=style.PAGE if len(found) > 1 else style.COLUMN, height=2.9, note=note)
    for panel, (name, some) in zip(grid, found.items(), strict=True):
        y = ("embedding_lr", "embedding learning rate") if name == "a" else ("weight_decay", "decoder weight decay")
        drawn.append(phase_map(panel, places(some), ("lr", "decoder learning rate"), y))
        panel.set_title(f"({name}) {TITLES[name]}")
    figure.legend(handles=patches(drawn), loc="outside upper center", ncols=4)
    return figure


for one in (squared, classes, permutations):
    one.figure()(maps)


def counted(t: Table, name: str, ask: Ask) -> tuple[dict[str, int], Table]:
    """How often each phase occurs in a diagram, which is shown, and where it is the commonest."""
    found = diagrams(t)[name]
    counts = {phase: found["phase"].count(phase) for phase in PHASES}
    ask.show({f"{phase}, of {len(found)} runs": count(n) for phase, n in counts.items()})
    return counts, places(found)


@squared.claim("4 (Fig. 6a)")
def phases_of_rates(t: Table, ask: Ask) -> None:
    """A fast embedding comprehends, a fast decoder memorizes."""
    counts, here = counted(t, "a", ask)
    rates = {name: here.where(phase=name).each(lambda r: math.log10(r.lr / r.embedding_lr)) for name in PHASES}
    ratios = {name: some.average() for name, some in rates.items()}
    ask.show({f"mean log10(decoder rate / embedding rate), {name}": mean for name, mean in ratios.items()})
    occur = all(counts[name] for name in ("comprehension", "grokking", "memorization"))
    ask.that("comprehension, grokking and memorization occur", occur)
    ask.that(
        "where memorization is, the decoder is faster relative to the embedding than where comprehension is",
        ratios["memorization"] > ratios["comprehension"],
    )
    ask.show({"run-steps of diagrams (a) and (b), trained as batches": count(t.one("run_steps"))})


def steps_to_memorization(here: Table, y: str) -> Any:
    """How many places of a diagram lie between grokking, or comprehension, and the nearest memorization, on average:
    the difference of the two, and the same after 2 000 random exchanges of their names."""
    columns, rows = sorted(here["lr"].distinct()), sorted(here[y].distinct())
    at = {name: [(columns.index(r.lr), rows.index(r[y])) for r in here.where(phase=name)] for name in PHASES}
    late, soon, far = (np.array(at[name]) for name in ("grokking", "comprehension", "memorization"))
    both = np.concatenate([late, soon])
    distance = np.abs(both[:, None] - far).sum(axis=2).min(axis=1)
    rng = np.random.default_rng(0)
    orders = [np.arange(len(both)), *(rng.permutation(len(both)) for _ in range(2_000))]
    return np.array([distance[o[: len(late)]].mean() - distance[o[len(late) :]].mean() for o in orders])


def closer(ask: Ask, found: dict[str, tuple[Table, str]]) -> None:
    """Asks whether grokking is closer to memorization than comprehension is, in diagrams together."""
    names = ("comprehension", "grokking", "memorization")
    occur = all(here.where(phase=name) for here, _ in found.values() for name in names)
    ask.that("comprehension, grokking and memorization each are somewhere the commonest phase", occur)
    if not occur:
        return
    differences = {name: steps_to_memorization(here, y) for name, (here, y) in found.items()}
    label = "places from grokking to the nearest memorization, less those from comprehension"
    ask.show({f"{label}{f' ({name})' if len(found) > 1 else ''}": float(d[0]) for name, d in differences.items()})
    together = np.sum([*differences.values()], axis=0)
    chance = float(np.mean(together[1:] <= together[0]))
    ask.show({"share of random exchanges of the two phases that are as close": chance}, percent)
    ask.that("the places where it groks are nearer to memorization than those of comprehension", together[0] < 0)
    ask.that("at most 5 % of random exchanges of these two phases are as near", chance <= 0.05)


@squared.claim("abstract, 4 (Fig. 6)")
def grokking_between(t: Table, ask: Ask) -> None:
    """Compared with comprehension, grokking stays closer to memorization."""
    found = diagrams(t)
    closer(ask, {"a": (places(found["a"]), "embedding_lr"), "b": (places(found["b"]), "weight_decay")})
    ask.budget(t, steps=PAPER_STEPS)


@ends.claim("4 (Fig. 6b to d)")
def corners(t: Table, ask: Ask) -> None:
    """A fast decoder memorizes without weight decay, and is confused by the strongest."""
    for name, some in diagrams(t).items():
        here = places(some)
        for end, said, which in ((min, "memorization", "smallest"), (max, "confusion", "largest")):
            decay = end(here["weight_decay"])
            (found,) = here.where(weight_decay=decay)["phase"]
            ask.that(f"in ({name}) {said} is commonest at the largest rate and the {which} decay", found == said)
            ask.show({f"at the largest rate and decay {number(decay)}, ({name})": found})
    ask.yes("In all three diagrams the fastest decoder memorizes without decay and is confused by the strongest.")
    steps = t.one("steps")
    ask.note(f"Within {count(steps)} steps; the paper says {count(PAPER_STEPS)}.", steps < PAPER_STEPS)


@squared.claim("4 (Fig. 6b)")
def phases_of_decay(t: Table, ask: Ask) -> None:
    """Too much weight decay of the decoder confuses."""
    _, here = counted(t, "b", ask)
    means = {name: here.where(phase=name)["weight_decay"].average() for name in PHASES}
    others = [mean for name, mean in means.items() if name != "confusion" and not math.isnan(mean)]
    corner = here.where(weight_decay=max(here["weight_decay"]), lr=max(here["lr"]))["phase"]
    larger = means["confusion"] > max(others, default=math.inf)
    ask.that("confusion occurs, at larger decays on average than every other phase", larger)
    ask.that("where rate and decay are largest there is confusion", corner == ["confusion"])
    ask.show({f"mean decay, {name}": mean for name, mean in means.items()})


@classes.claim("4 (Fig. 6c)")
def phases_with_cross_entropy(t: Table, ask: Ask) -> None:
    """With cross-entropy the phases are the same."""
    counts, _ = counted(t, "c", ask)
    ask.that("comprehension or grokking occurs", counts["comprehension"] + counts["grokking"])
    ask.that("memorization and confusion occur", counts["memorization"] and counts["confusion"])


@permutations.claim("4 (Fig. 6d)")
def phases_of_permutations(t: Table, ask: Ask) -> None:
    """For products of permutations weight decay turns memorization into generalization, and too much confuses."""
    counted(t, "d", ask)
    runs = diagrams(t)["d"]
    learned = runs.of("phase", lambda c: (c.count("comprehension") + c.count("grokking")) / len(c), "weight_decay")
    confused = runs.of("phase", lambda c: c.count("confusion") / len(c), "weight_decay").y[-1]
    without, most = learned[0.0], max(learned.y)
    ask.show({f"comprehension or grokking at decay {decay:g}": share for decay, share in learned.items()}, percent)
    ask.yes(f"{percent(without)} of the runs generalize without decay, {percent(most)} at the best one.")
    more = most >= 2 * without and most >= without + 0.2
    ask.that("at some decay twice as many runs comprehend or grok as without, and at least a fifth of all more", more)
    ask.that("at the largest most are confused", confused > 0.5)
