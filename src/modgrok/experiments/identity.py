"""What names a run: the hash of its resolved settings, less those that say nothing.

The id hashes a format number and only those settings that differ from frozen defaults, so that adding a setting changes
no id.
"""

import hashlib
import json
from typing import Any

FORMAT = 2
"""Part of every hash: raised when the same settings come to mean something else."""
FROZEN: dict[str, Any] = {
    "fraction": 0.5,
    "sampling": "random",
    "network": "two-layer",
    "optimizer": "adamw",
    "lr": "auto",
    "decoupled": False,
    "dropout": 0.0,
    "batch_norm": False,
    "init_scale": 1.0,
    "threshold": 0.99,
    "evaluations": 150,
    "refine": False,
    "snapshots": 40,
    "seed": 0,
    "precision": "float32",
    "parent": "",
    "tied": False,
    "framed": False,
    "warmup": 0,
    "lr_end": 1.0,
    "decay_to": "zero",
    "hold_norm": False,
    "orthogonal": False,
    "update_noise": 0.0,
    "weight_noise": 0.0,
    "grokfast": "none",
    "wrong_labels": 0.0,
    "train_on": "",
    "record": [],
}
"""What a setting was before it existed; None for all others. Never changes, so that no id does: a new setting with a
default of its own adds a line."""


def content_hash(settings: dict[str, Any]) -> str:
    """The id of resolved settings."""
    differing = {name: value for name, value in settings.items() if value != FROZEN.get(name)}
    text = json.dumps({"format": FORMAT} | differing, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]
