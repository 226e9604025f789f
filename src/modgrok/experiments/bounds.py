"""What the settings of an experiment may be, each by itself."""

import math
import re
from collections.abc import Collection
from difflib import get_close_matches
from typing import TYPE_CHECKING

import numpy as np

from modgrok.errors import ModgrokError, Unknown
from modgrok.networks import ARCHITECTURES
from modgrok.text import abridged
from modgrok.training.optimizers import OPTIMIZERS

if TYPE_CHECKING:
    from modgrok.experiments.experiment import Experiment

MOST_STEPS = 2**31 - 1
"""Steps are counted in 32 bits."""
PARENT = re.compile("[0-9a-z]+@[0-9]{1,18}|network:[0-9a-f]{16}")

_RANGES = (
    ("modulus", 2, 10**9, "at least 2"),
    ("width", 1, 10**12, "at least 1 neuron"),
    ("depth", 1, 1000, "at least 1"),
    ("embedding", 1, 10**9, "at least 1"),
    ("layers", 1, 1000, "at least 1"),
    ("heads", 1, 10**6, "at least 1"),
    ("hidden", 1, 10**9, "at least 1"),
    ("vocabulary", 1, 10**9, "at least 1"),
    ("batch_size", 1, MOST_STEPS, "at least 1"),
    ("steps", 1, MOST_STEPS, "at least 1"),
    ("until", 0, MOST_STEPS, "at least 0"),
    ("evaluations", 0, 10**6, "at least 0"),
    ("snapshots", 0, 10**6, "at least 0"),
    ("seed", 0, 2**32 - 1, "at least 0"),
    ("split_seed", 0, 2**63 - 1, "at least 0"),
    ("warmup", 0, MOST_STEPS, "at least 0"),
    ("grokfast_window", 1, 10**5, "at least 1"),
    ("examples", 1, 10**9, "at least 1"),
    ("test_examples", 1, 10**9, "at least 1"),
)
"""Whole numbers: their least and their largest."""
_SHARES = (
    ("weight_decay", 0, math.inf),
    ("embedding_decay", 0, math.inf),
    ("grokfast_lambda", 0, math.inf),
    ("momentum", 0, 1),
    ("beta1", 0, 1),
    ("beta2", 0, 1),
    ("grokfast_alpha", 0, 1),
    ("dropout", 0, 1),
    ("update_noise", 0, math.inf),
    ("weight_noise", 0, math.inf),
    ("wrong_labels", 0, 1),
)


def check_settings(e: "Experiment") -> None:
    """Raises where a setting is out of bounds."""

    def require(holds: bool, sentence: str) -> None:
        if not holds:
            raise ModgrokError(sentence)

    for name, least, most, meaning in _RANGES:
        value = getattr(e, name)
        if value is not None:
            require(value >= least, f"{name} is {meaning}, not {abridged(value)}.")
            require(value <= most, f"{name} is at most {most:,}, and a larger number was given.")
    for name, low, high in _SHARES:
        value = getattr(e, name)
        require(value is None or low <= value < high, f"{name} lies in [{low}, {high}), and {value} does not.")
        rounded = high == 1 and value is not None and e.precision != "float64" and np.float32(value) == 1
        require(not rounded, f"{name} ({value}) rounds to 1 in float32; lower it, or set precision to float64.")
    _require_known("optimizer", e.optimizer, OPTIMIZERS)
    _require_known("network", e.network, ARCHITECTURES)
    _ = e.split, e.architecture
    for name, choices in _CHOICES.items():
        value = getattr(e, name)
        require(value is None or value in choices, f"{name} is {' or '.join(choices)}, not {value!r}.")
    for name in ("lr", "embedding_lr", "epsilon", "init_scale"):
        value = getattr(e, name)
        positive = not isinstance(value, str) and value is not None and 0 < value < math.inf
        required = "a positive number or auto" if name == "lr" else "a positive number"
        require(
            value is None or positive or (name == "lr" and value == "auto"),
            f"{name} is {required}, not {value!r}.",
        )
    require(0 < e.threshold <= 1, f"The threshold is an accuracy in (0, 1], not {e.threshold}.")
    require(0 <= e.lr_end <= 1, f"The share of the rate at the end lies in [0, 1], and {e.lr_end} does not.")
    require(
        not e.parent or PARENT.fullmatch(e.parent) is not None,
        f"The parent is RUN@STEP, the id of a run and a step whose weights it has kept, or network:HASH of weights "
        f"that the store keeps, not {e.parent!r}.",
    )


def require_settings(owner: str, given: Collection[str], known: Collection[str]) -> None:
    """Raises where something is given that is no setting of the owner."""
    if unknown := sorted(set(given) - set(known)):
        close = get_close_matches(unknown[0], known, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"its settings are {', '.join(known)}."
        raise ModgrokError(f"{owner} has no setting {unknown[0]!r}; {hint}")


def _require_known(name: str, given: str, known: Collection[str]) -> None:
    if given not in known:
        close = get_close_matches(given, known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else "."
        raise Unknown(f"The {name} is one of {', '.join(known)}, not {given!r}{hint}", f"{name} {given!r}")


_CHOICES: dict[str, tuple[str, ...]] = {
    "loss": ("mse", "cross_entropy", "hinge", "stablemax"),
    "precision": ("float32", "highest", "float64"),
    "loss_precision": ("float32", "float64"),
    "decay_to": ("zero", "start"),
    "grokfast": ("none", "ema", "ma"),
    "positions": ("learned", "sinusoidal"),
    "layer_norm": ("none", "pre", "post"),
    "initialization": ("normal", "torch"),
    "combine": ("sum", "concat", "product"),
}
