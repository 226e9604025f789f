"""What the paper says (and what was found later of its cause), and the thresholds by which it is judged."""

import numpy as np

from modgrok.reproduce.claim import Verdict, claim, decide
from modgrok.reproduce.nested import Numbers
from modgrok.reproduce.thilak2022.profile import DOUBLE, EPSILONS, FIRST
from modgrok.text import count, number, percent, spread


def _counts(n: Numbers, name: str) -> list[int]:
    found = [one["spikes"] for one in n["variants"][name]]
    return [len(spikes) if isinstance(spikes, list) else spikes for spikes in found]


def _measured(n: Numbers, *names: str) -> dict[str, str]:
    return {f"spikes, {name}": spread(_counts(n, name)) for name in names}


@claim(
    "3 (Fig. 2)",
    "with ε = 1e-8 every seed has a spike, and after the loss has vanished the last layer's growth in spikes is at "
    "least 1.5 times its share of the steps (median over seeds)",
    "fig2",
)
def stairs_and_spikes(n: Numbers) -> Verdict:
    """Long after memorization the last layer grows in stairs, each of which ends in a spike of the training loss."""
    runs = n["variants"][FIRST]
    ratios = [
        run["share_of_growth"] / run["share_of_steps"] if run["share_of_growth"] and run["share_of_steps"] else 0.0
        for run in runs
    ]
    all_spike = all(run["spikes"] for run in runs)
    in_stairs = float(np.median(ratios)) >= 1.5
    shares = [percent(np.median([run[name] or 0.0 for run in runs])) for name in ("share_of_growth", "share_of_steps")]
    return decide(
        all_spike and in_stairs,
        f"Spikes and stairs come together: {shares[0]} of the growth in {shares[1]} of the steps.",
        f"The last layer grows between spikes: in {shares[1]} of the steps, they have {shares[0]} of its growth."
        if all_spike
        else "Some seeds have no spike.",
        _measured(n, FIRST)
        | {
            "growth in spikes": spread([run["share_of_growth"] for run in runs], percent),
            "steps in spikes": spread([run["share_of_steps"] for run in runs], percent),
            "growth of the norm after the loss has vanished": spread([run["growth"] for run in runs]),
            "the same in 64 bits": spread([run["growth"] for run in n["variants"][DOUBLE]]),
        },
    )


@claim("4 (Fig. 4)", "fewer spikes at ε = 1e-7 than at 1e-8, summed over seeds, and none at 1e-5", "fig4")
def larger_epsilon(n: Numbers) -> Verdict:
    """The larger Adam's ε, the fewer the spikes; at 1e-5 there are none."""
    return _by_epsilon(n)


def _by_epsilon(n: Numbers) -> Verdict:
    names = [f"ε = {epsilon:g}" for epsilon in EPSILONS]
    first, second, last = (sum(_counts(n, name)) for name in names)
    *small, large = map(number, EPSILONS)
    with_each = f"ε = {', '.join(small)} and {large}"
    found = f"There are {first}, {second} and {last} with {with_each}, all seeds together."
    return decide(
        first > second and last == 0,
        found,
        found,
        _measured(n, *names),
    )


@claim(
    "2605.06152",
    "with logits and loss in float64 no seed has a spike, with float32 every seed has one, all else equal",
    "fig4",
)
def precision_is_the_cause(n: Numbers) -> Verdict:
    """Spikes come from the rounding of the softmax in 32 bits: with logits and loss in 64 bits there are none."""
    return decide(
        all(_counts(n, FIRST)) and not any(_counts(n, DOUBLE)),
        f"In 64 bits there are none, in 32 bits {sum(_counts(n, FIRST))} in all seeds.",
        "Precision does not decide.",
        _measured(n, FIRST, DOUBLE),
    )


@claim(
    "4, App. A",
    "no seed of gradient descent with or without momentum has a spike; remark where RMSProp has none either",
    "fig4",
)
def adaptive_optimizers_only(n: Numbers) -> Verdict:
    """Gradient descent has no slingshots, with momentum or without; RMSProp has them as Adam does."""
    names = ("gradient descent", "momentum")
    learnt = [one["train_accuracy"] for name in names for one in n["variants"][name]]
    adaptive = any(_counts(n, "RMSProp"))
    return decide(
        not any(_counts(n, name)[i] for name in names for i in range(len(n["variants"][name]))),
        f"Descent has none, RMSProp {sum(_counts(n, 'RMSProp'))} in all seeds.",
        "Descent has spikes too.",
        _measured(n, FIRST, "RMSProp", *names) | {"training accuracy of descent": spread(learnt, percent)},
        not adaptive and "RMSProp has none here.",
        min(learnt) < 0.99 and "Descent has not learnt the training set in all runs.",
    )


@claim("4 (wd sweep)", "no seed has a spike at weight decay 1", "fig4")
def decay_removes(n: Numbers) -> Verdict:
    """Weight decay removes the spikes."""
    names = [name for name in n["variants"] if name.startswith("weight decay")]
    tests = [one["test_accuracy"] for one in n["variants"][names[-1]]]
    return decide(
        not any(_counts(n, names[-1])),
        f"At {names[-1]} there are none.",
        f"At {names[-1]} there are {sum(_counts(n, names[-1]))}.",
        _measured(n, FIRST, *names) | {f"test accuracy, {names[-1]}": spread(tests, percent)},
    )


PEAK = "largest {} near spikes at least 10 times the median of the other late steps, and above all of them"


@claim("3 (Fig. 3)", PEAK.format("curvature"), "fig3")
def curvature_peaks(n: Numbers) -> Verdict:
    """At the spikes the loss is sharply curved along the update."""
    steady = n["variants"][DOUBLE]["peaks"]["curvature"]["largest_elsewhere"]
    around = _around(n, "curvature")
    near, _, far = around.values()
    return decide(
        _peaks(n, "curvature"),
        f"It comes to {near} there, and to {far} elsewhere.",
        f"It peaks elsewhere too, at {far}.",
        around | {"largest curvature in 64 bits": number(steady)},
    )


@claim("3 (Fig. 2)", PEAK.format("relative change of features"), "fig3")
def features_change(n: Numbers) -> Verdict:
    """At the spikes the features that the last layer reads change most."""
    return decide(
        _peaks(n, "feature_change"),
        "They change most there.",
        "They change most elsewhere: while the norm climbs its stair, before the spike.",
        _around(n, "feature_change"),
    )


def _peaks(n: Numbers, name: str) -> bool:
    one = n["variants"][FIRST]["peaks"][name]
    top, middle, others = (one[key] for key in ("at_spikes", "elsewhere", "largest_elsewhere"))
    return None not in (top, middle, others) and bool(top >= 10 * abs(middle) and top > others)


def _around(n: Numbers, name: str) -> dict[str, str]:
    one, words = n["variants"][FIRST]["peaks"][name], name.replace("_", " ")
    return {
        f"largest {words} near spikes": number(one["at_spikes"]),
        f"median {words} elsewhere": number(one["elsewhere"]),
        f"largest {words} elsewhere": number(one["largest_elsewhere"]),
    }


@claim(
    "3, 4 (Figs. 2, 4)",
    "every seed has spikes at ε = 1e-8, fewer in sum at 1e-7, none at 1e-5, with float64 logits and loss, with SGD, "
    "and at weight decay 1",
    "figT",
)
def slingshots_of_the_transformer(n: Numbers) -> Verdict:
    """The transformer of Power et al. has the same spikes, and loses them in the same ways."""
    by_epsilon = _by_epsilon(n)
    quiet = (DOUBLE, "gradient descent", "weight decay 1")
    loud = [name for name in quiet if any(_counts(n, name))]
    everywhere = all(_counts(n, FIRST))
    return decide(
        everywhere and not loud and by_epsilon.outcome == "holds",
        "It has, and does.",
        f"{by_epsilon.sentence} Spikes remain with: {', '.join(loud) or 'none of the others'}.",
        by_epsilon.measured | _measured(n, *quiet),
    )


@claim("3 (Figs. 2, 4)", "median test accuracy at the end 0.1 higher at ε = 1e-8 than at 1e-5", "figT")
def generalization_after_stairs(n: Numbers) -> Verdict:
    """Without weight decay, late generalization comes with the stairs; without them there is none."""
    names = (FIRST, f"ε = {EPSILONS[-1]:g}")
    ends = {name: [one["test_accuracy"] for one in n["variants"][name]] for name in n["variants"]}
    stairs, none = (float(np.median(ends[name])) for name in names)
    found = (
        f"After {count(n['steps'])} steps the test accuracy is {percent(stairs)} with stairs, {percent(none)} without."
    )
    return decide(
        stairs - none >= 0.1,
        found,
        found,
        {f"test accuracy, {name}": spread(values, percent) for name, values in ends.items()},
    )
