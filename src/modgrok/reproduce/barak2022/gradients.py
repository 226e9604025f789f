"""Section 5.1: the Fourier gap, exactly and sampled."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from modgrok.measures import fourier_gap
from modgrok.palette import GRAY, GREEN, SERIES
from modgrok.reproduce.form import Ask, Table, study
from modgrok.text import count

BITS, DEGREES = range(9, 32, 2), (2, 4, 6)
SHOWN = (15, 4)
"""n and k of the gradients that are sampled, of which one is drawn."""


def coefficients() -> Iterator[dict[str, Any]]:
    """Whether the identity holds, and the gap against its bound, where it has one."""
    for k in DEGREES:
        for n in BITS:
            found = {d: fourier_gap.closed_form(n, d) for d in (k - 1, k + 1)}
            identity = found[k - 1] * (k - 1) == found[k + 1] * (n - k)
            identity &= all(abs(fourier_gap.coefficient(n, d)) == value for d, value in found.items())
            bound = 0.03 * (n - 1) ** (-(k - 1) / 2) if n > 2 * k else None
            yield {"bits": n, "k": k, "identity": identity, "gap": float(fourier_gap.gap(n, k)), "bound": bound}


def gradients(neurons: int) -> Iterator[dict[str, Any]]:
    """Whether sampled gradients of random neurons show the bits; the first as a whole."""
    (n, k), rng = SHOWN, np.random.default_rng(0)
    gap = float(fourier_gap.gap(n, k))
    samples = int(4 * np.log(n) / gap**2) * 16
    for i, weights in enumerate(rng.choice([-1, 1], (neurons, n))):
        sampled, exact = fourier_gap.sampled_gradient(weights, k, samples, rng), fourier_gap.gradient(weights, k)
        found = set(np.argsort(-np.abs(sampled))[:k].tolist()) == set(range(k))
        row = {"samples": samples, "found": found, "error": np.abs(exact - sampled).max() / (gap / 2)}
        yield row if i else row | {"exact": np.abs(exact), "sampled": np.abs(sampled)}


fourier = study(
    "figF",
    "The Fourier gap",
    "The expected gradient of a random neuron is larger for the bits of the parity than for others, by the gap between "
    "two Fourier coefficients of majority. The coefficients are computed in exact fractions.",
    rows=lambda s: [*coefficients(), *gradients(s.gradients)],
)


@fourier.figure("one gradient, n = {}, k = {}".format(*SHOWN), "the gap and its bound (dotted)", height=2.7)
def gradient_and_gap(t: Table, left: Any, right: Any) -> str:
    (n, k), shown = SHOWN, t.where("samples > 0").first
    left.bar(range(n), shown.exact, color=[GREEN if j < k else GRAY for j in range(n)], alpha=0.6)
    left.plot(range(n), shown.sampled, "k_", markersize=7, label=f"{count(shown.samples)} samples")
    left.set(xlabel="bit", ylabel="|gradient|")
    left.legend()
    for color, (k, cell) in zip(SERIES, t.where("bound > 0").by("k").items(), strict=False):
        right.loglog(cell["bits"], cell["gap"], color=color, label=f"k = {k}")
        right.loglog(cell["bits"], cell["bound"], color=color, linestyle=":")
    right.set_xticks([10, 20, 30], ["10", "20", "30"])
    right.minorticks_off()
    right.set(xlabel="bits n", ylabel="gap γ")
    right.legend()
    return "green: the bits of the parity; bars: exact expectation for a neuron with weights ±1"


@fourier.claim("5.1")
def fourier_identity(t: Table, ask: Ask) -> None:
    """Majority's Fourier coefficients obey |ξ(k−1)| = (n−k)/(k−1) |ξ(k+1)|, with a gap of at least
    0.03 (n−1)^(−(k−1)/2)."""
    identity, over = t["identity"].known(), (t["gap"] / t["bound"]).known()
    ask.that("both sides are the same fraction for all odd n from 9 to 31 and k = 2, 4, 6", all(identity))
    ask.that("the gap is above its bound where n > 2k", min(over) >= 1)
    ask.note("The bound needs n > 2k; at n = 2k − 1 the two coefficients are equal.")
    ask.show({"cases": count(len(identity)), "least gap over bound": min(over)})


@fourier.claim("5.1")
def one_gradient(t: Table, ask: Ask) -> None:
    """One gradient, from enough examples, shows which bits matter."""
    sampled = t.where("samples > 0")
    found, missed = sampled["found"], sampled.where(found=False)
    ask.show({"neurons": f"{sum(found)} of {len(found)}", "examples": count(sampled.one("samples"))})
    error = "largest error over the gradient's gap (below ½ always shows the bits)"
    ask.show({error: sampled["error"]}, over="neuron")
    enough = not missed or min(missed["error"]) < 0.5
    ask.possible("no gradient shows other bits, or one does that has examples enough (an error below ½)", enough)
    ask.that("for every random neuron the k largest entries of the sampled gradient are the parity's bits", not missed)
