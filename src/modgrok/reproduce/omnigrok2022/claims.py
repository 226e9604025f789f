"""What the paper says of every system, and the thresholds by which it is judged."""

import math
from collections.abc import Callable

import numpy as np

from modgrok.reproduce.claim import BEYOND, Claim, Verdict, decide
from modgrok.reproduce.nested import Numbers
from modgrok.reproduce.omnigrok2022.profile import STUDIES
from modgrok.text import number, percent, spread


def landscape(n: Numbers) -> Verdict:
    """Holds where the test loss is a U and the training loss an L."""
    places = n["landscape"]
    test, train = ([place[key] for place in places] for key in ("test_loss", "train_loss"))
    best = int(np.argmin(test))
    inside = 0 < best < len(test) - 1 and min(test[0], test[-1]) >= 2 * test[best]
    flat = max(train[best:]) <= 0.1 * train[0]
    return decide(
        inside and flat,
        f"The test loss is least at α = {number(places[best]['scale'])}.",
        "The training loss rises again at large norms." if inside else "The test loss has no minimum inside.",
        {
            "α of the least test loss": number(places[best]["scale"]),
            "test loss: smallest α, minimum, largest α": ", ".join(number(test[i]) for i in (0, best, -1)),
            "training loss: smallest α, there, largest α": ", ".join(number(train[i]) for i in (0, best, -1)),
            "critical norm": number(n["critical_norm"]),
        },
    )


def _delays(times: list[list[int | None]]) -> list[int | None]:
    return [None if learnt is None or known is None else known - learnt for learnt, known in times]


def no_delay(n: Numbers) -> Verdict:
    """Holds where a held norm leaves at most a quarter of the delay."""
    free, held = (_delays(times) for times in (next(iter(n["times"].values())), n["held"]["times"]))
    known = [[delay for delay in some if delay is not None] for some in (free, held)]
    complete = bool(known[0]) and len(known[1]) == len(held)
    share = float(np.median(known[1])) / max(1.0, float(np.median(known[0]))) if complete else math.nan
    return decide(
        share <= 0.25,
        f"The delay is {percent(share, 0)} of that with a free norm.",
        f"The delay is {percent(share, 0)} of that with a free norm."
        if complete
        else "Not all runs come to know the test set.",
        {
            f"delay, free, decay {number(n['free']['decay'])}": spread(free),
            f"delay, held at α = {number(n['held']['scale'])}": spread(held),
        },
    )


def inverse_decay(n: Numbers) -> Verdict:
    """Holds where time · decay stays within a factor of 1.5."""
    medians = {}
    for decay, times in n["times"].items():
        known = [pair[1] for pair in times if pair[1] is not None]
        medians[float(decay)] = float(np.median(known)) if len(known) == len(times) else math.nan
    products = [decay * time for decay, time in medians.items()]
    ratio = max(products) / min(products) if all(math.isfinite(value) for value in products) else math.nan
    predicted = {float(decay): time for decay, time in n["predicted"].items()}
    some = [product for product in products if math.isfinite(product)]
    finished = f"over the others it varies by a factor of {number(max(some) / min(some))}" if some else "no decay does"
    quotients = [medians[decay] / time for decay, time in predicted.items() if time]
    off = [quotient for quotient in quotients if not 0.5 <= quotient <= 2]
    return decide(
        ratio <= 1.5,
        "Time times decay is constant.",
        f"Not with every decay do all runs come to know the test set; {finished}."
        if math.isnan(ratio)
        else "Time times decay is not constant.",
        {
            "largest over smallest time · decay": number(ratio),
            "measured over predicted": ", ".join(number(quotient) for quotient in quotients) or "no critical norm",
            "norm when the test set is known": spread(n["norm_when_known"], over="run"),
        }
        | {f"steps, decay {number(decay)}": number(time) for decay, time in medians.items()},
        (not quotients or bool(off)) and "The formula's factor is off by more than two.",
    )


NAMES = {
    "teacher": "a student of a teacher",
    "digits": "scikit-learn's digits",
    "addition": "modular addition by the network of Gromov",
    "transformer": "modular addition by a transformer",
}
KINDS: dict[str, tuple[str, str, str, Callable[[Numbers], Verdict]]] = {
    "landscape": (
        "2",
        "Against the norm of the weights the training loss is an L and the test loss a U",
        "the test loss has a minimum inside, at most half of both its ends; from there on the training loss stays "
        "below a tenth of its value at the smallest norm",
        landscape,
    ),
    "no_delay": (
        "3, 4",
        "With the norm held where the test loss is small, there is no delay",
        "median delay from training to test at most a quarter of that of the free runs with the smallest decay",
        no_delay,
    ),
    "inverse_decay": (
        "3",
        "The time to generalization is inverse to the weight decay",
        "median time · decay within a factor of 1.5 over all decays; remark where the formula ln(w0/wc)/(ηγ), with the "
        "critical norm of the landscape, is off by more than a factor of two",
        inverse_decay,
    ),
}
CLAIMS = tuple(
    Claim(
        f"{kind}_{system}",
        BEYOND if system == "addition" else section,
        f"{statement}: {NAMES[system]}.",
        threshold,
        (STUDIES[system],),
        judge,
    )
    for system in NAMES
    for kind, (section, statement, threshold, judge) in KINDS.items()
)
