r"""Section 3, Figs. 3 to 5: one number decides. Points $\pm(\epsilon + s)$, s exponential, are told apart by the
threshold b; formulas beside samples.

Gradient flow of the regularized square loss moves the threshold along
$b(t) = \bar x_\lambda + (b_0 - \bar x_\lambda) e^{-(1 + \lambda_2) t}$ with
$\bar x_\lambda = (\bar x - \lambda_1 \mathrm{sgn}\, b) / (1 + \lambda_2)$, where $\bar x$ is the mean of the 2N signed
offsets s of the training points. The test error vanishes while $|b| \le \epsilon$.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from modgrok.measures.laws import exponent
from modgrok.palette import GRAY, MARKERS, SERIES
from modgrok.plot import style
from modgrok.reproduce.figures import panels
from modgrok.reproduce.form import Ask, Sizes, Table, study
from modgrok.shapes import Float
from modgrok.text import number

SIMPSON = 4001
"""Points of the integrals over a density."""
GAP, END, START = 1.0, 0.7, 21.0
"""ε, x̄ and b(0) of Fig. 3."""
SAMPLES = (2, 5, 10)
GAPS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8)
TIME_GAPS = (0.4, 0.04, 0.004)


def threshold(t: Float[np.ndarray, "t"], end: float, start: float, l2: float = 0.0) -> Float[np.ndarray, "t"]:
    r"""b(t) that starts at $b_0$ and ends at $\bar x_\lambda$."""
    return end + (start - end) * np.exp(-(1 + l2) * t)


def test_error(b: Float[np.ndarray, "*t"], gap: float) -> Float[np.ndarray, "*t"]:
    r"""$\frac12 (1 - e^{\epsilon - |b|})$ beyond the gap, 0 inside."""
    return -np.expm1(-np.maximum(np.abs(b) - gap, 0)) / 2


def zero_time(end: float, start: float, gap: float, l2: float = 0.0) -> float:
    r"""$t_\epsilon = \frac{1}{1+\lambda_2} \ln \frac{b_0 - \bar x_\lambda}{\epsilon - \bar x_\lambda}$, where the test
    error vanishes; the paper leaves the prefactor out in one place."""
    return float(np.log((start - end) / (gap - end)) / (1 + l2))


def mean_density(x: Float[np.ndarray, "x"], samples: int) -> Float[np.ndarray, "x"]:
    r"""$\frac{2 N^{N+1/2} |\bar x|^{N-1/2} K_{N-1/2}(2N|\bar x|)}{\sqrt\pi\, \Gamma(N)}$, the density of $\bar x$."""
    from scipy.special import gammaln, kve

    size = np.maximum(np.abs(x), 1e-5)  # below, the density is flat and its factors overflow
    order = samples - 0.5
    logarithm = np.log(2) + (samples + 0.5) * np.log(samples) + order * np.log(size) - gammaln(samples)
    return kve(order, 2 * samples * size) * np.exp(logarithm - 2 * samples * size) / np.sqrt(np.pi)


def probability(gap: float, samples: int) -> float:
    r"""$P(|\bar x| < \epsilon_\lambda)$, that the test error ever vanishes, with
    $\epsilon_\lambda = \epsilon(1+\lambda_2) + \lambda_1$; for N = 2 it is
    $1 - (1 + 2\epsilon_\lambda) e^{-4\epsilon_\lambda}$."""
    from scipy.integrate import simpson

    x = np.linspace(0, gap, SIMPSON)
    return float(2 * simpson(mean_density(x, samples), x=x))


class Offsets(NamedTuple):
    """Of many training sets: the mean of all signed offsets, and the least offset of the positive class."""

    mean: Float[np.ndarray, "set"]
    least: Float[np.ndarray, "set"]


def draw_offsets(samples: int, sets: int, rng: np.random.Generator) -> Offsets:
    """Training sets of N points in each class."""
    positive, negative = rng.exponential(size=(2, sets, samples))
    return Offsets((positive.mean(axis=1) - negative.mean(axis=1)) / 2, positive.min(axis=1))


def grokking_times(offsets: Offsets, gap: float) -> Float[np.ndarray, "grokking"]:
    r"""$t_G = \ln \frac{\epsilon + x_{\min} - \bar x}{\epsilon - \bar x}$ at λ = 0, from zero training error to zero
    test error for a threshold that comes from far above; of the sets whose test error vanishes."""
    mean, least = (values[np.abs(offsets.mean) < gap] for values in offsets)
    return np.log1p(least / (gap - mean))


def time_distribution(t: Float[np.ndarray, "t"], gap: float) -> Float[np.ndarray, "t"]:
    r"""$P(t_G < t \mid \text{grokking})$ for N = 2 and λ = 0.

    Given $\bar x$, the time is below t where $x_{\min} < (\epsilon - \bar x)(e^t - 1)$; the joint density of the two is
    $2 e^{-4\bar x}$ below $x_{\min} = 2\bar x$ and $-2 e^{4\bar x - 4 x_{\min}} (8\bar x - 4 x_{\min} - 1)$ above.
    """
    from scipy.integrate import simpson

    mean = np.linspace(-gap, gap, SIMPSON)[None, :]
    reached = _joint_below(mean, (gap - mean) * np.expm1(t)[:, None])
    return simpson(reached, x=mean[0], axis=1) / probability(gap, 2)


def _joint_below(mean: np.ndarray, least: np.ndarray) -> np.ndarray:
    """The joint density, integrated over the least offset up to the one that is given."""

    def antiderivative(s: np.ndarray) -> np.ndarray:
        return np.exp(4 * (mean - s)) * (4 * mean - 1 - 2 * s)

    kink = np.maximum(2 * mean, 0)
    below = 2 * np.exp(-4 * np.abs(mean)) * np.minimum(least, kink)
    return below + antiderivative(np.maximum(least, kink)) - antiderivative(kink)


def flow(s: Sizes) -> Iterator[dict[str, Any]]:
    """The test error along the flow, from the formula and from sampled points, and its exponent at the end."""
    end_time = zero_time(END, START, GAP)
    time = np.linspace(0, 1.25 * end_time, 61)
    b = threshold(time, END, START)
    # Of the positive class; b > 0 errs on no other.
    points = GAP + np.random.default_rng(3).exponential(size=s.points)
    distance = end_time * np.logspace(-4, -2, 30)
    near = test_error(threshold(end_time - distance, END, START), GAP)
    yield {
        "time": time,
        "error": test_error(b, GAP),
        "sampled": [np.mean(points < one) / 2 for one in b],
        "sigma": 0.25 / np.sqrt(s.points),
        "zero_time": end_time,
        "distance": distance,
        "near": near,
        "linear": GAP / 2 * distance * (GAP - END) / GAP,
        "exponent": exponent(distance, near),
    }


def probabilities(s: Sizes) -> Iterator[dict[str, Any]]:
    """The probability of grokking against ε_λ, and how far samples are from it in standard deviations."""
    rng, curve = np.random.default_rng(4), np.linspace(0, GAPS[-1], 60)
    for samples in SAMPLES:
        means = np.abs(draw_offsets(samples, s.time_sets, rng).mean)
        predicted = np.array([probability(gap, samples) for gap in GAPS])
        sampled = np.array([(means < gap).mean() for gap in GAPS])
        sigma = np.sqrt(predicted * (1 - predicted) / s.time_sets)
        yield {
            "samples": samples,
            "gaps": GAPS,
            "curve": curve,
            "formula": [probability(gap, samples) if gap else 0.0 for gap in curve],
            "sampled": sampled,
            "sigmas": (sampled - predicted) / sigma,
        }


def delays(s: Sizes) -> Iterator[dict[str, Any]]:
    """The distribution of grokking times for N = 2, and the largest distance of samples from it."""
    rng, grid, edges = np.random.default_rng(5), np.linspace(0, 9, 120), np.linspace(0, 9, 37)
    for gap in TIME_GAPS:
        sampled = np.sort(grokking_times(draw_offsets(2, s.time_sets, rng), gap))
        chosen = np.linspace(0, len(sampled) - 1, 400).astype(int)
        yield {
            "gap": gap,
            "grid": grid,
            "density": np.gradient(time_distribution(grid, gap), grid),
            "edges": edges,
            "histogram": np.histogram(sampled, edges)[0] / len(sampled) / np.diff(edges),
            "distance": np.abs(time_distribution(sampled[chosen], gap) - (chosen + 1) / len(sampled)).max(),
            "allowed": 1.63 / np.sqrt(len(sampled)),
            "median": np.median(sampled),
        }


transition = study(
    "fig3",
    "The test error vanishes at a finite time",
    "One number b separates two classes of points with a gap of 2ε between them. Under gradient flow b approaches its "
    "end exponentially, and the test error is exactly zero from the moment it enters the gap: a transition with "
    "exponent 1.",
    rows=flow,
)
chances = study(
    "fig4",
    "Probability of grokking in one dimension",
    "Whether the test error ever vanishes depends on the training points drawn. Regularization widens the gap to "
    "ε(1 + λ2) + λ1 and makes it more likely; so do more points.",
    rows=probabilities,
)
times = study(
    "fig5",
    "Grokking times in one dimension",
    "Time from zero training error to zero test error, over training sets of two points in each class that grok. The "
    "smaller the gap, the longer the delay; the mode moves as the logarithm of 1/ε.",
    rows=delays,
)


@transition.figure()
def vanishing_error(t: Table) -> Any:
    found = t.first
    note = f"ε = {GAP:g}, mean offset {END:g}, b(0) = {START:g}, no regularization"
    figure, (left, right) = panels("the error vanishes at a finite time", "linearly, ν = 1", height=2.7, note=note)
    left.plot(found.time, found.error, color=SERIES[0], label="formula")
    left.plot(found.time, found.sampled, "o", color=SERIES[1], markersize=2.5, label="sampled points")
    style.mark(left, found.zero_time, "$t_\\epsilon$")
    left.set(xlabel="time t", ylabel="test error E")
    left.legend(loc="lower left")
    right.loglog(found.distance, found.near, color=SERIES[0], label=f"formula, slope {found.exponent:.3f}")
    right.loglog(found.distance, found.linear, color=GRAY, linestyle="--", label="to first order")
    right.set(xlabel="$t_\\epsilon - t$", ylabel="test error E")
    right.legend()
    return figure


@chances.figure()
def against_the_gap(t: Table) -> Any:
    note = "lines: formula; marks: sampled training sets of N points in each class"
    figure, (panel,) = panels(width=style.COLUMN, height=2.9, note=note)
    for i, row in enumerate(t):
        panel.plot(row.curve, row.formula, color=SERIES[i], label=f"N = {row.samples}")
        panel.plot(row.gaps, row.sampled, MARKERS[i], color=SERIES[i], fillstyle="none")
    panel.set(xlabel="$\\epsilon_\\lambda = \\epsilon(1 + \\lambda_2) + \\lambda_1$", ylabel="probability of grokking")
    panel.set_ylim(0, 1.03)
    panel.legend(loc="lower right")
    return figure


@times.figure()
def densities(t: Table) -> Any:
    note = "N = 2; lines: formula; filled: sampled training sets"
    figure, (panel,) = panels(width=style.COLUMN, height=2.9, note=note)
    for i, row in enumerate(t):
        panel.stairs(row.histogram, row.edges, color=SERIES[i], fill=True, alpha=0.25)
        panel.plot(row.grid, row.density, color=SERIES[i], label=f"$\\epsilon_\\lambda$ = {row.gap}")
    panel.set(xlabel="grokking time $t_G$", ylabel="density", xlim=(0, 9), ylim=(0, 1.05))
    panel.legend()
    return figure


@transition.claim("3 (Fig. 3)", "fitted exponent 1 ± 0.02; sampled errors within 4 standard deviations")
def linear_transition(t: Table, ask: Ask) -> None:
    """In one dimension the test error reaches zero at a finite time, linearly."""
    found = t.first
    off = max(abs(a - b) for a, b in zip(found.error, found.sampled, strict=True)) / found.sigma
    ask.yes("The error is zero from a finite time on and falls linearly before.")
    ask.fault("The exponent or the error is another.", abs(found.exponent - 1) > 0.02 or off > 4)
    ask.show({"exponent ν": number(found.exponent, 4), "largest distance of samples, in σ": off})


@chances.claim("3 (Fig. 4)", "every sampled probability within 3 standard deviations of the formula")
def probability_in_one_dimension(t: Table, ask: Ask) -> None:
    """The probability of grokking in one dimension is known exactly."""
    worst = t.each(lambda r: max(map(abs, r.sigmas)))
    ask.yes("The formula gives the sampled probabilities.")
    ask.fault("Samples differ from the formula.", max(worst) > 3)
    ask.show({f"largest distance in σ, N = {n}": off for n, off in zip(t["samples"], worst, strict=True)})


@times.claim("3 (Fig. 5)", "largest distance of the sampled distribution below the 1 % Kolmogorov–Smirnov limit")
def times_in_one_dimension(t: Table, ask: Ask) -> None:
    """The distribution of grokking times in one dimension is known exactly."""
    ask.yes("The formula gives the sampled distributions.")
    ask.fault("Samples differ from the formula.", t.where(lambda r: r.distance > r.allowed))
    for row in t:
        limits = f"limit {number(row.allowed)}, median time {number(row.median)}"
        ask.show({f"largest distance, gap {row.gap}": f"{number(row.distance)} ({limits})"})
