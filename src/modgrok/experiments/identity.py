"""What names a run: the hash of its resolved settings, less those that have their defaults.

So a new setting changes no id; a default, once released, does not change.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

FORMAT = 2
"""Part of every hash: raised when the same settings come to mean something else."""
WRITTEN = (
    "width activation parametrization batch_norm depth embedding combine biases layers heads hidden positions "
    "layer_norm tied framed vocabulary initialization embedding_lr embedding_decay momentum beta1 beta2 epsilon "
    "grokfast_lambda grokfast_alpha grokfast_window"
).split()
"""Settings of networks and optimizers that files of this format, and the ids of sweeps, name even where they are left
open; all others only where they are given."""


def content_hash(settings: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """The id of resolved settings."""
    differing = {name: value for name, value in settings.items() if value != defaults.get(name)}
    text = json.dumps({"format": FORMAT} | differing, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]
