r"""What a memorizer already holds: waves out of phase by less than chance, long before any test pair is answered.

Every right example pushes $\varphi_1 + \varphi_2 - \varphi_3$ of every frequency toward zero, coherently in all
neurons, while what it takes to memorize is incoherent (`modgrok.measures.early_flow`). Replacing neurons by their best
waves keeps the coherent part and supplies the rest itself: that a block is a wave, and that the three blocks of a
neuron share its frequency. What is left for the network to know is the signs and the offset in ±n ± m + c.
"""

from typing import Any

import numpy as np

from modgrok.experiments import Experiment, Run
from modgrok.measures import early_flow, neuron_waves, own_waves, shuffle_phases, waves_only
from modgrok.networks import Network, score_table
from modgrok.palette import BLUE, GRAY, GREEN, MARKERS, ORANGE, PURPLE, VERMILLION
from modgrok.plot import style
from modgrok.reproduce.gromov2023.profile import Further, Profile, natural_unit
from modgrok.reproduce.nested import Numbers, Study, mean
from modgrok.tasks import task

SHARES = (0.001, 0.003, 0.01, 0.03, 0.1)
"""Of the table, to memorize: 9, 28, 94, 282 and 941 pairs at p = 97."""
SHARE = 0.03
SMALL = 0.9
"""Share of the initial training loss down to which outputs are small beside the answers, as the early flow has it."""
FLOW_SHARES = (0.03, 0.5)
FUNCTIONS = ("n - m", "2*n + 3*m", "n^2 + m^2", "n*m", "n^2 + m^2 + n*m")
SIGNS = ("n + m", "n + m + 7", "n - m", "m - n")
"""Functions that differ in signs and an offset only."""
RANDOM = "random labels"
RATE = 0.1
"""Of Adam."""
WAYS = {"as it is": GRAY, "waves": BLUE, "own waves": VERMILLION, "waves, readouts shuffled": GREEN}


def memorizer(further: Further, text: str = "n + m", share: float = SHARE, seed: int = 0, **more: Any) -> Experiment:
    """A network that is trained on few pairs until it knows them, under Adam unless another optimizer is named."""
    p, width = more.pop("modulus", further.memorizer_modulus), more.pop("width", further.memorizer_width)
    adam = {"optimizer": "adam", "lr": RATE, "weight_decay": 0.0, "steps": further.memorizer_steps}
    settings: Any = adam | {"evaluations": 1, "snapshots": 2} | more
    return Experiment(task=text, modulus=p, width=width, examples=max(2, round(share * p * p)), seed=seed, **settings)


def descended(further: Further, share: float, seed: int = 0, **more: Any) -> Experiment:
    """The same under plain gradient descent, with snapshots on the way."""
    rate = 1e6 * natural_unit(further.memorizer_modulus, further.memorizer_width)
    settings: Any = {"optimizer": "gd", "lr": float(f"{rate:.4g}"), "steps": further.flow_steps}
    return memorizer(further, share=share, seed=seed, **settings | {"evaluations": 10, "snapshots": 11} | more)


def experiments(profile: Profile) -> dict[str, Any]:
    further = profile.further
    seeds = range(further.memorizer_seeds)
    return {
        "pairs": [[memorizer(further, share=share, seed=seed) for seed in seeds] for share in SHARES],
        "steps": [memorizer(further, seed=seed, evaluations=10, snapshots=11) for seed in seeds],
        "width": {N: [memorizer(further, width=N, seed=seed) for seed in seeds] for N in further.memorizer_widths},
        "p": {p: [memorizer(further, modulus=p, seed=seed) for seed in seeds] for p in further.memorizer_moduli},
        "optimizer": {
            "gd": [descended(further, SHARE, seed) for seed in seeds],
            "adamw": [memorizer(further, seed=seed, optimizer="adamw", weight_decay=further.decay) for seed in seeds],
        },
        "function": {text: [memorizer(further, text, seed=seed) for seed in seeds] for text in FUNCTIONS},
        "signs": {text: [memorizer(further, text, seed=seed) for seed in seeds] for text in SIGNS},
        RANDOM: [memorizer(further, seed=seed, wrong_labels=1 - 1 / further.memorizer_modulus) for seed in seeds],
        "flow": [[descended(further, share, seed) for seed in seeds] for share in FLOW_SHARES],
    }


def numbers(profile: Profile, runs: dict[str, Any]) -> Numbers:
    """Accuracy on the whole table of what is left after each projection, and the coherence of the phases."""
    further = profile.further
    p = further.memorizer_modulus
    return {
        "modulus": p,
        "width": further.memorizer_width,
        "shares": SHARES,
        "pairs": [runs["pairs"][i][0].experiment.examples for i in range(len(SHARES))],
        "by_pairs": [[_held(run) for run in cell] for cell in runs["pairs"]],
        "untrained": [_held(run, 0) for run in runs["pairs"][0]],
        RANDOM: [_held(run) for run in runs[RANDOM]],
        "by_step": {
            "step": runs["steps"][0].snapshots,
            "seeds": [[_held(run, step) for step in run.snapshots] for run in runs["steps"]],
        },
        "by": {
            name: {str(value): [_held(run) for run in cell] for value, cell in runs[name].items()}
            for name in ("width", "p", "optimizer", "function")
        },
        "signs": {text: _across([run.network for run in cell], p) for text, cell in runs["signs"].items()},
        "flow": _flow(runs["flow"]),
    }


def _held(run: Run, step: int | None = None) -> dict[str, Any]:
    """What one network holds, at a snapshot or at the end."""
    learnt, history = run.task, run.history
    network = run.network if step is None else run.snapshot(step)
    at = -1 if step is None else int(np.searchsorted(history["step"], step))
    coordinate = learnt.structure.coordinate
    waves = waves_only(network, coordinate)
    # A random label is right nowhere; what is asked is whether the rule is in the waves all the same.
    accuracy = {
        "as it is": network,
        "waves": waves,
        "own waves": own_waves(network, coordinate),
        "waves, readouts shuffled": shuffle_phases(waves, coordinate, readout=False),
    }
    return {
        "accuracy": {name: float(score_table(one, learnt.table).accuracy) for name, one in accuracy.items()},
        "coherence": neuron_waves(network, coordinate).coherence,
        "train_accuracy": history["train_accuracy"][at],
        "test_accuracy": history["test_accuracy"][at],
        "ipr": history["ipr"][at],
    }


def _across(networks: list[Network], modulus: int) -> dict[str, list[float]]:
    """How often the waves of networks that learnt one function, fitted in the raw index, answer each of several."""
    waves = [waves_only(network) for network in networks]
    tables = {text: task(text, modulus).table for text in SIGNS}
    return {text: [float(score_table(one, table).accuracy) for one in waves] for text, table in tables.items()}


def _flow(cells: list[list[Run]]) -> dict[str, Any]:
    """Coherence on the way under gradient descent, and what the early flow from the same weights predicts."""
    steps = np.array(cells[0][0].snapshots, dtype=float)
    predicted = [early_flow(run.snapshot(0), run.experiment.lr, steps).coherence for run in cells[0]]  # type: ignore[arg-type]
    measured = [[[neuron_waves(run.snapshot(int(step))).coherence for step in steps] for run in cell] for cell in cells]

    def curve(run: Run, name: str) -> np.ndarray:
        return run.history[name][np.searchsorted(run.history["step"], steps)]

    losses = [[curve(run, "train_loss") for run in cell] for cell in cells]
    return {
        "shares": FLOW_SHARES,
        "step": steps,
        "predicted": predicted,
        "measured": measured,
        "applies": [[loss >= SMALL * loss[0] for loss in cell] for cell in losses],
        "test_accuracy": [[curve(run, "test_accuracy") for run in cell] for cell in cells],
    }


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(2, 2, height=5.2)
    by_pairs, by_step, across, flow = panels.flat
    _lines(by_pairs, n["pairs"], n["by_pairs"])
    noise = mean([cell["accuracy"]["waves"] for cell in n[RANDOM]])
    by_pairs.axhline(noise, color="black", linestyle=":", linewidth=0.9, label="waves, random labels")
    by_pairs.set_xscale("log")
    by_pairs.set_xlabel("training pairs")
    by_pairs.legend(loc="center", bbox_to_anchor=(0.62, 0.5), title="neurons replaced by")
    step = n["by_step"]["step"]
    _lines(by_step, step, [list(cell) for cell in zip(*n["by_step"]["seeds"], strict=True)], coherence=True)
    by_step.set_xscale("symlog", linthresh=3)
    by_step.set_xlim(left=0)
    by_step.set_xlabel("step")
    by_step.legend(loc="upper left", fontsize=6)
    _squares(across, n)
    _draw_flow(flow, n["flow"])
    titles = (
        "what is answered after a projection",
        f"{n['pairs'][n['shares'].index(SHARE)]} pairs, on the way",
        "known are a sign and an offset (accuracy)",
        "phases align; dashed: early flow",
    )
    style.letter(panels.flat, titles)
    style.note(figure, f"n + m mod {n['modulus']}, N = {n['width']}, Adam with rate {RATE}, no decay; (d): plain GD")
    return figure


def _lines(panel: Any, x: list[int], cells: list[list[dict[str, Any]]], coherence: bool = False) -> None:
    for (name, color), marker in zip(WAYS.items(), MARKERS, strict=False):
        values = [mean([one["accuracy"][name] for one in cell]) for cell in cells]
        panel.plot(x, values, color=color, marker=marker, label={"as it is": "nothing"}.get(name, name))
    if coherence:
        values = [mean([one["coherence"] for one in cell]) for cell in cells]
        panel.plot(x, values, color=PURPLE, linestyle="--", label="coherence of φ1 + φ2 − φ3")
    panel.set_ylim(-0.03, 1.03)
    panel.set_ylabel("accuracy on all pairs")


def _squares(panel: Any, n: Numbers) -> None:
    values = np.array([[mean(n["signs"][row][column]) for column in SIGNS] for row in SIGNS])
    panel.imshow(values, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    for i, row in enumerate(values):
        for j, value in enumerate(row):
            panel.text(
                j, i, f"{value:.0%}", ha="center", va="center", fontsize=7, color="white" if value > 0.5 else "black"
            )
    panel.set_xticks(range(len(SIGNS)), SIGNS)
    panel.set_yticks(range(len(SIGNS)), SIGNS)
    panel.set_xlabel("waves are asked for")
    panel.set_ylabel("trained on")


def _draw_flow(panel: Any, flow: dict[str, Any]) -> None:
    for i, (share, color) in enumerate(zip(flow["shares"], (ORANGE, BLUE), strict=True)):
        cells, applies = flow["measured"][i], np.all(flow["applies"][i], axis=0).tolist()
        values = np.mean(cells, axis=0)
        panel.plot(flow["step"], values, color=color, marker="o", markevery=applies, label=f"{share:.0%} of the pairs")
    panel.plot(flow["step"], np.mean(flow["predicted"], axis=0), color="black", linestyle="--", label="early flow")
    panel.set_xlabel("step")
    panel.set_ylabel("coherence of φ1 + φ2 − φ3")
    panel.set_ylim(0, 1.03)
    panel.legend(loc="upper left", fontsize=6)


STUDY = Study(
    "memorizer",
    "What a memorizer already holds",
    "Networks that know up to a tenth of the table by heart and answer no other pair. (a) Replace every neuron by its "
    "best wave triple, and the network answers all pairs; with untrained weights or random labels it does not. But the "
    "projection supplies nearly all of that: let every block have the wave that fits it best, with its own frequency, "
    "and little is left; shuffle the readouts among the neurons of a frequency, and nothing is. (c) What the weights "
    "do supply is a sign and an offset: waves answer the function that was trained, and no other. (d) The phases align "
    "because every right example pushes those of all neurons the same way, as the first stage of gradient flow "
    "predicts while outputs are small beside the answers (points: training loss at least 90 % of its start).",
    numbers,
    experiments,
    draw,
    beyond=True,
)
