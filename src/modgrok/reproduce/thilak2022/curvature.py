"""Fig. 3: the curvature along the update and the change of features, at spikes and elsewhere."""

from typing import Any

import numpy as np

from modgrok.experiments import Experiment
from modgrok.measures.spikes import VANISHED, near, spikes
from modgrok.palette import GRAY, SERIES
from modgrok.reproduce.form import Ask, Settings, Table, study
from modgrok.reproduce.thilak2022.along_update import follow
from modgrok.reproduce.thilak2022.sizes import ADAM, DIVISION, DOUBLE, FIRST, QUICK, perceptron
from modgrok.reproduce.thilak2022.stairs import CUT, draw_curve
from modgrok.text import count, number

STEPS, STRIDE = 4_000, 5
"""Of the perceptrons that are followed, and between two looks at them."""
TRANSFORMER_STEPS = 7_000
"""Of the transformer, which has three late spikes by then."""
BEFORE = 40
"""Steps before a spike is seen in which the curvature counts as its own."""
MEASURED = {
    "loss": "training loss",
    "last_layer": "norm of the last layer",
    "curvature": "curvature along the update",
    "feature_change": "relative change of features",
}


def followed(settings: Settings, steps: int, curved: bool = True) -> dict[str, Any]:
    """Seed 0 step by step (the curvature of the transformer would take long); after the loss has vanished, the largest
    value near spikes, and the median and the largest of the others."""
    h = follow(Experiment(**settings | {"record": ()}), steps, STRIDE, curved)
    step, loss, found = h["step"], h["loss"].astype(np.float64), {}
    late = step > (step[np.argmax(loss < VANISHED)] if (loss < VANISHED).any() else step[-1])
    at = near(step, spikes(step, loss), BEFORE)
    for name in ("curvature", "feature_change") if curved else ("feature_change",):
        inside, outside = (h[name][late & where].astype(np.float64) for where in (at, ~at))
        wanted = ((np.max, inside), (np.median, outside), (np.max, outside))
        found[f"{name}_peaks"] = [float(of(values)) if values.size else None for of, values in wanted]
    return h | found


curvature = study(
    "fig3",
    "Curvature along the update",
    "The training loss, the norm of the last layer, the curvature of the loss in the direction in which Adam moves, "
    "and how much the features that the last layer reads change, with logits and loss in 32 and in 64 bits.",
    rows=lambda s: [
        {"variant": name, "modulus": QUICK.modulus, "width": QUICK.width}
        | followed(perceptron(QUICK) | ADAM[FIRST] | ADAM[name], STEPS)
        for name in (FIRST, DOUBLE)
    ],
)
features = study(
    "figF",
    "Features of the transformer",
    "The same of the transformer of Power et al. on division: training loss, norm of the last layer, and how much an "
    "update changes what the last layer reads.",
    rows=lambda s: [
        {"variant": FIRST, "modulus": DIVISION["modulus"], "steps": TRANSFORMER_STEPS}
        | followed(DIVISION | ADAM[FIRST], TRANSFORMER_STEPS, curved=False)
    ],
)


@features.figure("training loss", "norm of the last layer", "relative change of features", height=2.4)
def features_on_the_way(t: Table, *shown: Any) -> str:
    for panel, name in zip(shown, ("loss", "last_layer", "feature_change"), strict=True):
        draw_curve(panel, t.first, name, linewidth=0.7)
        panel.set_xlabel("step")
    return f"x / y modulo {t.one('modulus')}, Adam without weight decay, seed 0; {CUT}"


@curvature.figure(rows=2, columns=2, height=3.8, sharex=True)
def measures_on_the_way(t: Table, *shown: Any) -> str:
    for panel, (name, label) in zip(shown, MEASURED.items(), strict=True):
        for row, color in zip(t, (SERIES[1], GRAY), strict=True):
            draw_curve(panel, row, name, color=color, label=row.variant)
        panel.set_ylabel(label)
    for panel in shown[2:]:
        panel.set_xlabel("step")
    shown[1].legend(loc="lower right")
    return f"n + m mod {t.one('modulus')}, two hidden layers of {t.one('width')} ReLU, Adam, seed 0"


def peaks_at_spikes(t: Table, ask: Ask, name: str) -> None:
    """Asks whether a measure is largest at the spikes."""
    top, middle, others = found = t.where(variant=FIRST).first[f"{name}_peaks"]
    words = name.replace("_", " ")
    labels = (f"largest {words} near spikes", f"median {words} elsewhere", f"largest {words} elsewhere")
    ask.show(dict(zip(labels, found, strict=True)))
    ask.that(
        f"the largest {words} near spikes is at least 10 times the median of the other late steps, and above all of "
        "them",
        None not in found and top >= 10 * abs(middle) and top > others,
    )


@curvature.claim("3 (Fig. 3)")
def curvature_peaks(t: Table, ask: Ask) -> None:
    """At the spikes the loss is sharply curved along the update."""
    peaks_at_spikes(t, ask, "curvature")
    ask.show({"largest curvature in 64 bits": t.where(variant=DOUBLE).first.curvature_peaks[2]})


@features.claim("3 (Fig. 2)", curvature)
def features_change(t: Table, perceptron: Table, ask: Ask) -> None:
    """At the spikes the features that the last layer reads change most."""
    beside = perceptron.where(variant=FIRST).first.feature_change_peaks
    ask.show({"the same in the perceptron": ", ".join(map(number, beside))})
    late = t.first.feature_change_peaks[0] is not None
    ask.possible(f"the transformer has a late spike in {count(t.one('steps'))} steps", late)
    peaks_at_spikes(t, ask, "feature_change")
