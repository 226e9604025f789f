"""The logits as products of waves of n and m, at the end and on the way."""

from typing import Any

import numpy as np

from modgrok.experiments import Run
from modgrok.measures import progress_measures as measures
from modgrok.measures.network_progress import key_frequencies_of, logits_of
from modgrok.palette import GRAY, SERIES
from modgrok.reproduce.figures import modular
from modgrok.reproduce.form import BEYOND, Ask, Runs, Sizes, Table, study
from modgrok.reproduce.nanda2023.circuit import most
from modgrok.reproduce.nanda2023.progress import grokked, progress
from modgrok.reproduce.nanda2023.sizes import observed
from modgrok.text import percent


def shown_first(s: Sizes) -> Runs:
    found = observed(s)
    return found[:1].tag(part="shown") + found[1:].tag(part="others")


def products_of(run: Run) -> dict[str, Any]:
    """The share of the logits' power in products of two waves of one key frequency, and the coefficients of all cosines
    of n + m − c on the way, at every other kept step."""
    keys, kept = key_frequencies_of(run.network), run.snapshots[::-2][::-1]
    power = np.square(measures.product_norms(logits_of(run.network)))
    own = sum(power[2 * k - 1 : 2 * k + 1, 2 * k - 1 : 2 * k + 1].sum() for k in keys)
    coefficients = [measures.cosine_fit(logits_of(run.snapshot(step))).coefficients for step in kept]
    return {
        "frequencies": keys,
        "own_share": own / (power.sum() - power[0, 0]),
        "kept_step": kept,
        "coefficients": np.array(coefficients).T,
    }


def picture_of(run: Run) -> dict[str, Any]:
    return {"norms": measures.product_norms(logits_of(run.network))}


logits = study(
    "figF",
    "The logits in two dimensions",
    "(a) The two-dimensional Fourier transform of the logits: for each wave of n (rows) times wave of m (columns) the "
    "norm over the answers, at the end; cosine and sine of each frequency lie side by side. (b) The coefficients of "
    "cos(w(n + m − c)) on the way: key frequencies in color, all others gray.",
    runs=shown_first,
    keep={
        "shown": ("test_accuracy", products_of, picture_of),
        "others": ("test_accuracy", products_of),
    },
    digits=3,
)


@logits.figure("products of waves, at the end", "coefficients on the way", height=3.1)
def two_dimensions(t: Table, left: Any, right: Any) -> str:
    first = t.first
    norms = np.array(first.norms)
    norms[0, 0] = 0  # the mean over all pairs, which decides nothing
    image = left.imshow(norms, cmap="viridis", origin="lower")
    left.figure.colorbar(image, ax=left, label="norm over the answers", shrink=0.8)
    at = [2 * k - 0.5 for k in first.frequencies]
    left.set_xticks(at, first.frequencies, fontsize=6)
    left.set_yticks(at, first.frequencies, fontsize=6)
    left.set(xlabel="frequency of m", ylabel="frequency of n")
    x, colors = first.kept_step[1:], dict(zip(first.frequencies, SERIES, strict=False))
    for k, values in enumerate(first.coefficients, 1):
        look = {"color": colors[k], "label": f"{k}", "zorder": 3} if k in colors else {"color": GRAY, "linewidth": 0.4}
        right.plot(x, values[1:], **look)
    right.set(xscale="log", xlabel="step", ylabel="coefficient of cos(w(n + m − c))")
    right.legend(loc="upper left", fontsize=6, title="frequency", title_fontsize=6)
    return f"{modular(t)}, seed 0 of {len(t)}; ticks in (a): key frequencies"


@logits.claim("4.2 to 4.4")
def sparse_logits(t: Table, ask: Ask) -> None:
    """In two dimensions the logits are sparse: they use products of waves of n and of m with the same key frequency."""
    seeds = t.where("test_accuracy >= 0.99")
    good = [share >= 0.9 for share in seeds["own_share"]]
    most(ask, "products of two waves of one key frequency hold at least 90 % of the power of the logits", good)
    ask.show({"power in products of two waves of one key frequency": seeds["own_share"]}, percent)


@logits.claim(BEYOND, progress)
def chosen_while_forming(t: Table, network_progress: Table, ask: Ask) -> None:
    """The key frequencies are chosen while the circuit forms, before the test loss falls."""
    when = {row.seed: row.step[row.cleaning] for row in grokked(network_progress)}
    seeds = t.where(lambda r: r.seed in when)
    ratios = seeds.each(lambda r: _least_over_largest(r, when[r.seed]))
    most(
        ask,
        "at the last step at which the test loss is above half of its maximum, every key frequency of the end has a "
        "larger coefficient than all others",
        [ratio > 1 for ratio in ratios],
    )
    ask.show({"least coefficient of the key frequencies there, in units of the largest other": ratios})


def _least_over_largest(row: Any, step: int) -> float:
    at = max(i for i, kept in enumerate(row.kept_step) if kept <= step)
    sizes = {k: abs(values[at]) for k, values in enumerate(row.coefficients, 1)}
    others = max((size for k, size in sizes.items() if k not in row.frequencies), default=0.0)
    return min(sizes[k] for k in row.frequencies) / max(others, 1e-12)
