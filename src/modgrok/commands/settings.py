"""Under which headings the settings of an experiment stand."""

from modgrok.experiments.experiment import known_settings
from modgrok.experiments.known_settings import brought

GROUPS = {
    "task": "task modulus",
    "data": "fraction sampling examples test_examples train_on split_seed wrong_labels",
    "network": "network init_scale dropout parent",
    "optimizer": "optimizer lr weight_decay decoupled warmup lr_end decay_to hold_norm orthogonal update_noise "
    "weight_noise grokfast",
    "training": "steps until batch_size loss seed precision loss_precision",
    "measuring": "threshold evaluations refine snapshots record",
}
"""The settings of every experiment by what they are about; brought ones stand with what brings them."""
KINDS = {"grokfast": "optimizer", "loss": "training"}


def headings() -> dict[str, str]:
    """The heading of every setting in help and documentation, in the order of the groups."""
    own = {name: heading for heading, names in GROUPS.items() for name in names.split()}
    others = brought()
    found = {name: KINDS.get(kind := others.kind_of(name), kind) for name in others.settings}
    return own | {name: found.get(name, "training") for name in known_settings() if name not in own}
