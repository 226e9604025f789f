"""What is timed: full-batch training of the paper's network."""

from dataclasses import dataclass

from modgrok.errors import ModgrokError
from modgrok.experiments.experiment import Experiment


@dataclass(frozen=True)
class Workload:
    """Full-batch AdamW on n + m, without evaluations."""

    modulus: int = 97
    """p."""
    width: int = 500
    """N, the number of hidden neurons."""
    fraction: float = 0.5
    """α, the share of all inputs that is trained on."""
    runs: int | None = None
    """Networks in the batch; by default as many as this device trains at once."""
    seconds: float = 3.0
    """How long each contestant is timed in all."""

    def __post_init__(self) -> None:
        if self.runs is not None and self.runs < 1:
            raise ModgrokError(f"A batch has at least 1 run, not {self.runs}.")
        if not 0 < self.seconds <= 600:
            raise ModgrokError(f"Each contestant is timed for up to 600 seconds, not {self.seconds:g}.")
        self.experiment(0)

    def experiment(self, seed: int) -> Experiment:
        """One network of the batch, with its settings written out."""
        return Experiment(
            "n+m", self.modulus, width=self.width, fraction=self.fraction, optimizer="adamw", seed=seed
        ).resolve()

    @property
    def examples(self) -> int:
        """Size of the training set."""
        return round(self.fraction * self.modulus**2)

    @property
    def flops(self) -> int:
        """Of one step of one run: three products of |train| × N by N × p, two operations for each term."""
        return 6 * self.examples * self.width * self.modulus
