"""One experiment as a value: the command line, the stored file, the page and the library share this definition."""

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.known_settings import Brought, brought, chosen_by
from modgrok.experiments.named_task import TABLE, group_order, is_table_file, load_task, table_name
from modgrok.experiments.schedule import evaluation_steps, snapshot_steps
from modgrok.experiments.user_code import UNKNOWN, user_code
from modgrok.networks import ARCHITECTURES, Architecture, architecture_named
from modgrok.setting import Setting, require_settings, setting, settings_of
from modgrok.tasks import MODULUS, SAMPLINGS, Split, Task, reads_modulus
from modgrok.tasks.choice import read_choice, write_choice
from modgrok.tasks.families.family import family_of
from modgrok.tasks.split import TEST_EXAMPLES
from modgrok.training.losses import LOSSES
from modgrok.training.optimizers import OPTIMIZERS, natural_decay, natural_learning_rate

MOST_STEPS = 2**31 - 1
"""Steps are counted in 32 bits."""
PARENT = re.compile("[0-9a-z]+@[0-9]{1,18}(:[a-z-]+)?|network:[0-9a-f]{16}")
FRESH_BATCH = 128
"""Examples per step where they are drawn afresh and no number is given."""
HASH_FORMAT = 2
"""Part of every hash: raised when the same settings come to mean something else."""
WRITTEN = (
    "width activation parametrization batch_norm depth embedding combine biases layers heads hidden positions "
    "layer_norm tied framed vocabulary initialization embedding_lr embedding_decay momentum beta1 beta2 epsilon "
    "grokfast_lambda grokfast_alpha grokfast_window"
).split()
"""Settings of networks and optimizers that files of this format, and the ids of sweeps, name even where they are left
open; all others only where they are given."""


@dataclass(frozen=True, init=False, repr=False)
class Experiment:
    """All settings of a run: the task, the examples, the network, and how it is trained.

    Settings are flat: those of every experiment, and those of its network, optimizer, loss and task
    (`modgrok.experiments.known_settings`). A setting with no effect is an error.
    """

    task: str = setting(
        dataclasses.MISSING,
        'What to learn: an expression such as "n + m", a name of the catalog, group:S5, parity:30,3, add:10, '
        "discrete:n^m, random:SEED, or a table file.",
    )
    modulus: int | None = setting(
        None, "p: numbers are added and multiplied modulo p; by default 97.", "[2, 1000000000]"
    )
    fraction: float = setting(0.5, "α, the share of all inputs used for training.", "(0, 1)")
    sampling: str = setting(
        "random",
        "How the training inputs are chosen: random, balanced (over rows and columns), answers, lines or expander.",
        choices=lambda: SAMPLINGS,
    )
    network: str = setting(
        "two-layer",
        "Which architecture learns: two-layer (the paper's), mlp, embedding-mlp or transformer.",
        choices=lambda: ARCHITECTURES,
    )
    optimizer: str = setting("adamw", f"{', '.join(OPTIMIZERS)}; sgd takes minibatches.", choices=lambda: OPTIMIZERS)
    lr: float | Literal["auto"] = setting(
        "auto", "Learning rate; auto is the natural unit for this optimizer and network.", "(0, inf)"
    )
    weight_decay: float | None = setting(
        None,
        "Weight decay, decoupled for adamw, lion and muon, part of the gradient (coupled) for all others; by default "
        "0.05 for adamw on the two-layer network, 1 on others, 0 for most.",
        "[0, inf)",
    )
    decoupled: bool = setting(False, "Decouple weight decay from the gradient for the other optimizers too.")
    batch_size: int | None = setting(
        None, "Examples per step, reshuffled every epoch; by default all, and 1024 for sgd.", f"[1, {MOST_STEPS}]"
    )
    dropout: float = setting(0.0, "Share of hidden units dropped at random in every step.", "[0, 1)")
    loss: str | None = setting(
        None,
        "Mean squared error against one-hot answers (mse), or cross_entropy, hinge or stablemax with the outputs as "
        "logits; by default mse for two-layer and cross_entropy for the other networks.",
        choices=lambda: LOSSES,
    )
    init_scale: float = setting(1.0, "Multiplies the weights at initialization.", "(0, inf)")
    steps: int | None = setting(
        None,
        "Steps to train; by default enough for the optimizer to grok n + m mod 97 at α = 0.5.",
        f"[1, {MOST_STEPS}]",
    )
    until: int | None = setting(
        None, "Stop this many steps after grokking instead of at the last step.", f"[0, {MOST_STEPS}]"
    )
    threshold: float = setting(0.99, "The accuracy that counts as memorized (train) or grokked (test).", "(0, 1]")
    evaluations: int = setting(
        150, "Number of evaluations, at equal ratios of steps: dense early, sparse late.", "[0, 1000000]"
    )
    refine: bool = setting(
        False,
        "Find the exact steps at which the accuracies reach the threshold, by measuring again between evaluations; the "
        "training stays the same.",
    )
    snapshots: int = setting(40, "How many of the evaluations also store the weights.", "[0, 1000000]")
    seed: int = setting(0, "Seed of the initial weights, the split, and the order of minibatches.", f"[0, {2**32 - 1}]")
    split_seed: int | None = setting(None, "Seed of the split alone; by default the seed.", f"[0, {2**63 - 1}]")
    precision: Literal["float32", "highest", "float64"] = setting(
        "float32",
        "Precision of weights and arithmetic; highest is float32 without the rounding of a GPU's matrix products.",
    )
    parent: str = setting(
        "",
        "RUN@STEP: start from another run's weights at that step. RUN@STEP:random first turns their phases so that "
        "φ1 + φ2 − φ3 is random; :zero makes it zero, :kept keeps it.",
    )
    warmup: int = setting(0, "Let the learning rate rise from 0 over this many steps.", f"[0, {MOST_STEPS}]")
    lr_end: float = setting(
        1.0, "Share of the learning rate that is left at the last step; it falls along a cosine.", "[0, 1]"
    )
    decay_to: Literal["zero", "start"] = setting(
        "zero", "Where weight decay pulls the weights: to zero, or to their initial values."
    )
    hold_norm: bool = setting(False, "Bring the norm of all weights back to its initial value after every step.")
    orthogonal: bool = setting(False, "Project every gradient orthogonally to its weights (⊥Grad).")
    update_noise: float = setting(
        0.0, "Standard deviation of Gaussian noise added to every update, before the learning rate.", "[0, inf)"
    )
    weight_noise: float = setting(
        0.0, "Standard deviation of Gaussian noise added to the weights at which a gradient is taken.", "[0, inf)"
    )
    grokfast: Literal["none", "ema", "ma"] = setting(
        "none", "Amplify slow gradients by an exponential (ema) or a moving average (ma)."
    )
    wrong_labels: float = setting(
        0.0, "Share of the training examples whose label is replaced by a wrong one.", "[0, 1)"
    )
    examples: int | None = setting(
        None,
        "Number of training examples, instead of a fraction. Without it, a task with too many inputs to list draws "
        "fresh examples in every step.",
        "[1, 1000000000]",
    )
    test_examples: int | None = setting(None, "Test examples of such a task; by default 2048.", "[1, 1000000000]")
    loss_precision: Literal["float32", "float64"] | None = setting(
        None, "Precision of outputs and loss; by default that of the weights."
    )
    train_on: str = setting(
        "",
        "A .npy or .csv file that selects the training inputs, instead of a fraction: a mask of the table's shape, "
        "indices into it, or rows n, m; mg.train also takes arrays.",
    )
    record: tuple[str, ...] = setting((), "Further measures to record during training, by name.")
    brought: tuple[tuple[str, Any], ...] = dataclasses.field(default=(), metadata={"help": ""})
    """Settings that the network, the optimizer, the loss or the task brings, as far as they are given, by name."""
    code: str = dataclasses.field(default="", metadata={"help": ""})
    """Of a resolved experiment that uses code which modgrok does not bring, the digest of it; see `user_code`."""

    def __init__(self, task: str, modulus: int | None = None, *, code: str = "", **settings: Any) -> None:
        object.__setattr__(self, "code", code)
        given = dict(settings.pop("brought", ())) | {"task": task, "modulus": modulus} | settings
        if modulus is None and isinstance(task, str) and reads_modulus(task):
            given["modulus"] = MODULUS
        for name in CHOOSING & given.keys():  # First, since they say which settings there are.
            self._set(OWN[name], given[name])
        known = known_settings()
        require_settings("An experiment", given, known)
        for name in given.keys() - CHOOSING:
            self._set(known[name], given[name])
        others = ((name, getattr(self, name)) for name in given if name not in OWN)
        found = sorted((name, value) for name, value in others if value != known[name].default)
        object.__setattr__(self, "brought", tuple(found))
        self._check()

    def _set(self, known: Setting, value: Any) -> None:
        if value is not known.default:
            value = known.checked(value)
            if known.range == "[0, 1)" and value and self.precision != "float64" and np.float32(value) == 1:
                raise ModgrokError(
                    f"{known.name} ({value}) rounds to 1 in float32; lower it, or set precision to float64."
                )
        object.__setattr__(self, known.name, value)

    def _check(self) -> None:
        """What depends on several settings."""
        if self.parent and PARENT.fullmatch(self.parent) is None:
            raise ModgrokError(
                "parent must be RUN@STEP, the id of a run and a step whose weights it has kept, or network:HASH of "
                f"weights that the store keeps, not {self.parent!r}."
            )
        _ = self.split, self.architecture

    def __getattr__(self, name: str) -> Any:
        """A setting that is left open: its value is up to the network, optimizer, loss or task that has it."""
        if not name.startswith("_") and (found := brought().settings.get(name)) is not None:
            return found.default
        raise AttributeError(f"An experiment has no setting {name!r}.")

    def __repr__(self) -> str:
        """What differs from the defaults."""
        known = known_settings()
        given = {name: value for name, value in self._values().items() if value != known[name].default}
        return f"Experiment({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    @cached_property
    def architecture(self) -> Architecture:
        """The network's architecture with the settings that it reads."""
        kind = architecture_named(self.network)
        given = {field.name: getattr(self, field.name, None) for field in dataclasses.fields(kind)}
        return kind(**{name: value for name, value in given.items() if value is not None})

    def resolve(self) -> "Experiment":
        """The same experiment with all defaults filled in, and None in settings that have no effect."""
        if is_table_file(self.task):
            return self.resolve_for(self.load_task())
        if self._resolved.code != user_code(self._resolved):  # What is registered has been edited since.
            self.__dict__["_resolved"] = dataclasses.replace(self)._resolved
        return self._resolved

    def seeded(self, seed: int, split_seed: int | None = None) -> "Experiment":
        """The same with another seed, for thousands of them: what does not depend on it is not checked, or resolved,
        again."""
        found, own = object.__new__(Experiment), {"seed": OWN["seed"].checked(seed), "_like": self.like}
        kept = {name: value for name, value in vars(self).items() if name not in ("_resolved", "content_hash", "split")}
        vars(found).update(kept | own | ({} if split_seed is None else {"split_seed": split_seed}))
        return found

    @property
    def like(self) -> "Experiment":
        """The experiment from which this one differs in its seed alone: one object for all those that `seeded` made."""
        found: Experiment = vars(self).get("_like", self)
        return found

    @cached_property
    def _resolved(self) -> "Experiment":
        if self.like is not self:
            resolved = self.like._resolved.seeded(self.seed, self.seed if self.split_seed is None else None)
            resolved.__dict__["_resolved"] = resolved
            return resolved
        return self.resolve_for(None if self.task.startswith(TABLE) else self.load_task())

    def resolve_for(self, found: Task | None) -> "Experiment":
        """`resolve`, given the task; None where it is a table that only a store knows, and all else is resolved."""
        chosen, architecture = OPTIMIZERS[self.optimizer], self.architecture
        if found is None:
            if self.lr == "auto" or self.steps is None:
                raise ModgrokError(f"The task {self.task} is a table that only its store knows.")
            return dataclasses.replace(self, code=user_code(self))
        paper = architecture.starts_large
        from_table = self.task.startswith(TABLE) or is_table_file(self.task)
        text = table_name(found) if is_table_file(self.task) else "".join(found.name.split())
        fresh = found.table is None and self.examples is None
        loss = self.loss or ("mse" if found.codes is not None else architecture.loss)
        group = group_order(text, found)
        natural = natural_learning_rate(self.optimizer, architecture, found.signature, loss, group)
        lr = natural if self.lr == "auto" else self.lr
        decay = natural_decay(self.optimizer, architecture, group)
        filled = {
            "task": text,
            "modulus": found.modulus if found.is_modular and (from_table or reads_modulus(self.task)) else None,
            "lr": lr,
            "loss": loss,
            "weight_decay": decay if self.weight_decay is None else self.weight_decay,
            "decoupled": self.decoupled or chosen.decay == "decoupled",
            "batch_size": self.batch_size or chosen.batch_size or (FRESH_BATCH if fresh else None),
            "steps": self.steps or (chosen.steps if paper else architecture.steps),
            "split_seed": self.seed if self.split_seed is None else self.split_seed,
        }
        if self.train_on:
            filled |= self._chosen_inputs(found)
        if found.table is None:
            filled["test_examples"] = self.test_examples or TEST_EXAMPLES
        elif self.test_examples is not None:
            raise ModgrokError(f"test_examples has no effect on {found.name}, whose inputs are listed; leave it out.")
        resolved = dataclasses.replace(self, **filled | self._read(loss))
        object.__setattr__(resolved, "code", user_code(resolved))
        resolved.architecture.check(found.signature)
        resolved.__dict__["_resolved"] = resolved  # It is its own; nothing is resolved twice.
        return resolved

    def _read(self, loss: str) -> dict[str, Any]:
        """The values of the settings that this experiment's network, optimizer, loss and task bring; raises where
        another one is given."""
        everything, chosen = brought(), chosen_by(self) | {"loss": loss}
        read = everything.read(chosen)
        for name, _ in self.brought:
            if name not in read:
                kind = everything.kind_of(name)
                raise ModgrokError(f"{name} has no effect with {kind} {chosen.get(kind, self.task)}; leave it out.")
        values = {name: getattr(self, name) for name in read if name not in OWN}
        return {name: read[name].default if value is None else value for name, value in values.items()}

    def _chosen_inputs(self, found: Task) -> dict[str, Any]:
        """The choice of training inputs as a text, and their share, which is the fraction then."""
        text = write_choice(self.train_on, found)
        share = round(len(read_choice(text, found)) / len(found.present), 12)
        others = {"fraction": self.fraction in (OWN["fraction"].default, share), "sampling": self.sampling == "random"}
        for name, unread in (others | {"examples": self.examples is None}).items():
            if not unread:
                raise ModgrokError(f"{name} has no effect beside train_on, which says what is trained on; drop one.")
        return {"train_on": text, "fraction": share}

    def load_task(self, tables: Path | None = None) -> Task:
        """The task; tables from files are stored in the folder `tables` under their hash."""
        family = family_of(self.task)
        own = {one.name: getattr(self, one.name) for one in (family.settings if family else ())}
        given = tuple((name, value) for name, value in own.items() if value is not None)
        return load_task(self.task, self.modulus, tables, given)

    @cached_property
    def split(self) -> Split:
        """The split that fraction, sampling, labels and seed define."""
        seed = self.seed if self.split_seed is None else self.split_seed
        return Split(
            self.fraction, self.sampling, seed, self.wrong_labels, self.examples, self.test_examples, self.train_on
        )

    @property
    def schedule(self) -> tuple[Any, Any]:
        """The steps of evaluations and of snapshots, ascending."""
        assert self.steps is not None
        evaluated = evaluation_steps(self.steps, self.evaluations)
        return evaluated, snapshot_steps(evaluated, self.snapshots)

    def as_dict(self) -> dict[str, Any]:
        """All settings as JSON values."""
        return self._values() | {"record": list(self.record)} | ({"code": self.code} if self.code else {})

    def _values(self) -> dict[str, Any]:
        others = brought().settings
        given = {name: vars(self).get(name, others[name].default) for name in WRITTEN}
        return {name: getattr(self, name) for name in OWN} | given | dict(self.brought)

    @property
    def id(self) -> str:
        """Content hash of the resolved settings, which names the run."""
        return self.resolve().content_hash

    @property
    def has_unknown_code(self) -> bool:
        """Whether its code cannot be compared with that of a stored run."""
        return self.code.endswith(UNKNOWN)

    @cached_property
    def content_hash(self) -> str:
        """The id of an experiment that is resolved."""
        return settings_hash(self.as_dict())

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> "Experiment":
        """The experiment that `as_dict` wrote down."""
        given: dict[str, Any] = {n: tuple(value) if isinstance(value, list) else value for n, value in settings.items()}
        return cls(**given)


OWN = {name: one for name, one in settings_of(Experiment).items() if name not in ("brought", "code")}
"""The settings of every experiment."""
CHOOSING = {"network", "optimizer", "loss", "grokfast", "precision"}


def known_settings() -> dict[str, Setting]:
    """All settings by name: those of every experiment, and those that are brought by what is registered now."""
    return _known(brought())


@lru_cache(maxsize=1)
def _known(others: Brought) -> dict[str, Setting]:
    return OWN | {name: one for name, one in others.settings.items() if name not in OWN}


def settings_hash(settings: Mapping[str, Any]) -> str:
    """The id of resolved settings, as `Experiment.as_dict` writes them: a hash of those that differ from their
    defaults. So a new setting changes no id; a default, once released, does not change."""
    usual = {name: one.default for name, one in known_settings().items()} | {"record": []}
    differing = {name: value for name, value in settings.items() if value != usual.get(name)}
    text = json.dumps({"format": HASH_FORMAT} | differing, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def describe_task(experiment: Experiment, name: str = "") -> str:
    """Such as `n+m mod 97`, or `group:S5`; by another name where it has one."""
    shown = name or experiment.task
    return shown if experiment.modulus is None else f"{shown} mod {experiment.modulus}"
