"""The Fourier gap, exactly and sampled."""

from typing import Any

import numpy as np

from modgrok.palette import GRAY, GREEN, SERIES
from modgrok.plot import style
from modgrok.reproduce.barak2022 import fourier_gap
from modgrok.reproduce.barak2022.profile import Profile
from modgrok.reproduce.nested import Numbers, Study, Tree

SIZES = tuple(range(9, 32, 2))
DEGREES = (2, 4, 6)
SHOWN = (15, 4)
"""n and k of the gradient that is drawn and sampled."""


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Where the identity holds, the gap against its bound, and whether sampled gradients show the bits."""
    n, k = SHOWN
    rng = np.random.default_rng(0)
    gap = float(fourier_gap.gap(n, k))
    samples = int(4 * np.log(n) / gap**2) * 4
    weights = rng.choice([-1, 1], (profile.gradients, n))
    sampled = [fourier_gap.sampled_gradient(one, k, samples, rng) for one in weights]
    exact = [fourier_gap.gradient(one, k) for one in weights]
    return {
        "identity": {
            f"{n},{k}": fourier_gap.closed_form(n, k - 1) * (k - 1) == fourier_gap.closed_form(n, k + 1) * (n - k)
            and all(abs(fourier_gap.coefficient(n, d)) == fourier_gap.closed_form(n, d) for d in (k - 1, k + 1))
            for n in SIZES
            for k in DEGREES
        },
        "gaps": {
            k: [{"n": n, "gap": float(fourier_gap.gap(n, k)), "bound": 0.03 * (n - 1) ** (-(k - 1) / 2)} for n in SIZES]
            for k in DEGREES
        },
        "shown": {
            "n": n,
            "k": k,
            "samples": samples,
            "gap": gap,
            "exact": np.abs(exact[0]),
            "sampled": np.abs(sampled[0]),
        },
        "found": [set(np.argsort(-np.abs(one))[:k].tolist()) == set(range(k)) for one in sampled],
        "error": [np.abs(a - b).max() / (gap / 2) for a, b in zip(exact, sampled, strict=True)],
    }


def draw(n: Numbers) -> Any:
    figure, panels = style.grid(1, 2, height=2.7)
    left, right = panels[0]
    shown = n["shown"]
    place = np.arange(shown["n"])
    colors = [GREEN if j < shown["k"] else GRAY for j in place]
    left.bar(place, shown["exact"], color=colors, alpha=0.6)
    left.plot(place, shown["sampled"], "k_", markersize=7, label=f"{shown['samples']:,} samples".replace(",", "\u202f"))
    left.set(xlabel="bit", ylabel="|gradient|")
    left.legend()
    for i, (k, rows) in enumerate(n["gaps"].items()):
        rows = [row for row in rows if row["n"] > 2 * int(k)]
        x = [row["n"] for row in rows]
        right.loglog(x, [row["gap"] for row in rows], color=SERIES[i], label=f"k = {k}")
        right.loglog(x, [row["bound"] for row in rows], color=SERIES[i], linestyle=":")
    right.set_xticks([10, 20, 30], ["10", "20", "30"])
    right.minorticks_off()
    right.set(xlabel="bits n", ylabel="gap γ")
    right.legend()
    style.letter(panels[0], (f"one gradient, n = {shown['n']}, k = {shown['k']}", "the gap and its bound (dotted)"))
    style.note(figure, "green: the bits of the parity; bars: exact expectation for a neuron with weights ±1")
    return figure


STUDY = Study(
    "figF",
    "The Fourier gap",
    "The expected gradient of a random neuron is larger for the bits of the parity than for others, by the gap between "
    "two Fourier coefficients of majority. The coefficients are computed in exact fractions.",
    numbers,
    draw=draw,
)
