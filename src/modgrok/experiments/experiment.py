"""One experiment as a value: the command line, the stored file and the library share this definition."""

import dataclasses
import hashlib
import json
import math
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from modgrok.errors import ModgrokError
from modgrok.experiments.optimizers import OPTIMIZERS, natural_learning_rate
from modgrok.experiments.plain import plain, words
from modgrok.experiments.schedule import evaluation_steps, snapshot_steps
from modgrok.networks import activation, parametrization
from modgrok.tasks import Split, Task, task
from modgrok.tasks.families.files import SUFFIXES

FORMAT = 1
"""Part of every hash: raised when the same settings come to mean something else."""
TABLE = "table:"
"""How the name of a task begins whose table came from a file; the table's own hash follows."""
PARENT = re.compile("[0-9a-z]+@[0-9]{1,18}")


@dataclass(frozen=True)
class Experiment:
    """What is learnt, from which examples, by which network, and how it is trained."""

    task: str
    """The function to learn: an expression such as "n + m", a name of the catalogue, random:SEED, or a table file."""
    modulus: int = 97
    """p: numbers are added and multiplied modulo p."""
    width: int = 500
    """N, the number of hidden neurons."""
    fraction: float = 0.5
    """α, the share of all inputs that is trained on."""
    sampling: str = "random"
    """How the training inputs are chosen: random, balanced (over rows and columns) or answers."""
    optimizer: str = "adamw"
    """gd, momentum, nesterov, sgd (minibatches), adam or adamw."""
    lr: float | Literal["auto"] = "auto"
    """Learning rate; auto is the natural unit for this optimizer, p and N."""
    weight_decay: float | None = None
    """Shrinks the weights: beside the update for adamw (decoupled), through the gradient for all others (coupled); by
    default 0.05 for adamw and 0 for all others."""
    decoupled: bool = False
    """Apply weight decay beside the update for the other optimizers too."""
    momentum: float | None = None
    """Momentum; by default 0.9 for momentum and nesterov, 0 for gd and sgd."""
    beta1: float = 0.9
    """Adam's average of gradients."""
    beta2: float = 0.98
    """Adam's average of squared gradients."""
    epsilon: float = 1e-8
    """Adam's smallest divisor."""
    batch_size: int | None = None
    """Examples per step, reshuffled every epoch; by default all, and 1024 for sgd."""
    dropout: float = 0.0
    """Share of hidden units that is silenced at random in every step."""
    batch_norm: bool = False
    """Normalize the first preactivations over the batch."""
    loss: Literal["mse", "cross_entropy"] = "mse"
    """Mean squared error against one-hot answers, or cross-entropy with the outputs as logits."""
    activation: str = "quadratic"
    """quadratic, relu, gelu, abs, tanh, silu, or x^d."""
    parametrization: str = "mean-field"
    """mean-field (the paper's prefactors) or standard (none)."""
    init_scale: float = 1.0
    """Multiplies the weights at initialization."""
    steps: int | None = None
    """Steps to train; by default enough for the optimizer to grok at α = 0.5."""
    until: int | None = None
    """Stop this many steps after grokking instead of training on to the last step."""
    threshold: float = 0.99
    """The accuracy that counts as memorized (train) or grokked (test)."""
    evaluations: int = 150
    """How many times to measure, at equal ratios of steps: dense early, sparse late."""
    snapshots: int = 40
    """How many of these times to keep the weights too."""
    seed: int = 0
    """Decides the initial weights, the split, and the order of minibatches."""
    split_seed: int | None = None
    """Decides the split alone; by default the seed."""
    precision: Literal["float32", "float64"] = "float32"
    """Of weights and arithmetic."""
    parent: str = ""
    """RUN@STEP: start from the weights another run had at that step instead of random ones."""

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            object.__setattr__(self, field.name, plain(field, getattr(self, field.name)))
        _check(self)

    def resolve(self) -> "Experiment":
        """The same experiment with every default that depends on other settings written out as a number."""
        chosen = OPTIMIZERS[self.optimizer]
        task, lr = self.task, self.lr
        if not task.startswith(TABLE):
            task = table_name(self.load_task()) if is_table_file(task) else _without_spaces(self.load_task().name)
        if lr == "auto":
            arity = self.load_task().arity
            lr = natural_learning_rate(
                self.optimizer, self.modulus, arity, self.width, self.parametrization, self.batch_norm
            )
        return dataclasses.replace(
            self,
            task=task,
            lr=lr,
            weight_decay=chosen.weight_decay if self.weight_decay is None else float(self.weight_decay),
            decoupled=self.decoupled or chosen.decay == "decoupled",
            momentum=chosen.momentum if self.momentum is None else self.momentum,
            batch_size=self.batch_size or chosen.batch_size,
            steps=self.steps or chosen.steps,
            split_seed=self.seed if self.split_seed is None else self.split_seed,
        )

    def load_task(self, tables: Path | None = None) -> Task:
        """The task behind the text; tables that came from files are kept in the folder `tables` under their hash."""
        if self.task.startswith(TABLE):
            if tables is None:
                raise ModgrokError(f"The task {self.task} is a table that only its store knows.")
            path = tables / f"{self.task.removeprefix(TABLE)}.npy"
            found = _cached_task(str(path), self.modulus, _written(path))
            if table_name(found) != self.task:
                raise ModgrokError(
                    f"{path} does not hold the table that its name says; train from the table's own file."
                )
            return found
        return _cached_task(self.task, self.modulus, _written(Path(self.task)) if is_table_file(self.task) else None)

    @property
    def split(self) -> Split:
        """The split behind fraction, sampling and seed."""
        return Split(self.fraction, self.sampling, self.seed if self.split_seed is None else self.split_seed)

    @property
    def schedule(self) -> tuple[Any, Any]:
        """Steps of evaluations and of snapshots, ascending."""
        assert self.steps is not None
        evaluated = evaluation_steps(self.steps, self.evaluations)
        return evaluated, snapshot_steps(evaluated, self.snapshots)

    def as_dict(self) -> dict[str, Any]:
        """All settings as JSON values."""
        return dataclasses.asdict(self)

    @property
    def id(self) -> str:
        """Content hash of the resolved settings, which names the run."""
        text = json.dumps({"format": FORMAT} | self.resolve().as_dict(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @classmethod
    def from_dict(cls, settings: dict[str, Any]) -> "Experiment":
        """The experiment that `as_dict` wrote down."""
        names = [field.name for field in dataclasses.fields(cls)]
        if unknown := sorted(set(settings) - set(names)):
            raise ModgrokError(f"An experiment has no setting {unknown[0]!r}; its settings are {', '.join(names)}.")
        return cls(**settings)


def _check(e: Experiment) -> None:
    def require(holds: bool, sentence: str) -> None:
        if not holds:
            raise ModgrokError(sentence)

    require(e.modulus >= 2, f"The modulus is at least 2, not {e.modulus}.")
    require(e.width >= 1, f"The width is at least 1 neuron, not {e.width}.")
    require(e.optimizer in OPTIMIZERS, f"The optimizer is one of {', '.join(OPTIMIZERS)}, not {e.optimizer!r}.")
    _ = e.split
    activation.check(e.activation)
    parametrization.scales(e.parametrization, 1, 1)
    require(e.loss in ("mse", "cross_entropy"), f"The loss is mse or cross_entropy, not {e.loss!r}.")
    require(e.precision in ("float32", "float64"), f"The precision is float32 or float64, not {e.precision!r}.")
    require(
        e.lr == "auto" or (not isinstance(e.lr, str) and math.isfinite(e.lr) and e.lr > 0),
        f"The learning rate is a positive number or auto, not {e.lr!r}.",
    )
    for name, low, high in (
        ("weight_decay", 0, math.inf),
        ("momentum", 0, 1),
        ("beta1", 0, 1),
        ("beta2", 0, 1),
        ("dropout", 0, 1),
    ):
        value = getattr(e, name)
        require(value is None or low <= value < high, f"{words(name)} lies in [{low}, {high}), and {value} does not.")
    require(0 < e.epsilon < math.inf, f"Epsilon is a positive number, not {e.epsilon}.")
    require(0 < e.init_scale < math.inf, f"The initial scale is a positive number, not {e.init_scale}.")
    require(0 < e.threshold <= 1, f"The threshold is an accuracy in (0, 1], not {e.threshold}.")
    for name, least in (
        ("batch_size", 1),
        ("steps", 1),
        ("until", 0),
        ("evaluations", 0),
        ("snapshots", 0),
        ("seed", 0),
    ):
        value = getattr(e, name)
        require(value is None or value >= least, f"{words(name)} is at least {least}, not {value}.")
    require(e.seed < 2**32, f"The seed is less than 2^32, and {e.seed} is not.")
    require(
        not e.parent or PARENT.fullmatch(e.parent) is not None,
        f"The parent is RUN@STEP, the id of a run and a step whose weights it has kept, not {e.parent!r}.",
    )
    require(
        not e.momentum or OPTIMIZERS[e.optimizer].family == "sgd",
        "Momentum is for gd, momentum, nesterov and sgd; adam and adamw have beta1.",
    )


def is_table_file(text: str) -> bool:
    """Whether a task's text is the path of a table rather than an expression or a name."""
    return text.strip().lower().endswith(SUFFIXES)


def table_name(found: Task) -> str:
    """The name of a table by its content."""
    shape = f"{found.modulus}^{found.arity}:".encode()
    return TABLE + hashlib.sha256(shape + found.table.tobytes()).hexdigest()[:16]


@lru_cache(maxsize=256)
def _cached_task(text: str, modulus: int, written: int | None) -> Task:
    """Runs of one task share its table and its structure; a file that was written anew is another task."""
    return task(text, modulus)


def _written(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None


def _without_spaces(text: str) -> str:
    return "".join(text.split())
