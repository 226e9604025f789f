"""What a network trained on the product of a group has become: representations and vectors in place of waves."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.experiments.stored_json import finite
from modgrok.measures import CleaningRow, NeuronVectors, neuron_vectors, representation_counts, vector_table
from modgrok.networks import Network, Score, as_numpy, score_table
from modgrok.shapes import Float, Integer
from modgrok.tasks import Basis, Task
from modgrok.text import number, percent


@dataclass(frozen=True, eq=False, repr=False)
class GroupAnalysis:
    """All measures of one network on one group."""

    task: Task
    network: Network
    basis: Basis
    score: Score
    """On the whole table."""
    vectors: NeuronVectors
    counts: Integer[np.ndarray, "rho"]
    """Clear neurons of each representation."""
    expected: Float[np.ndarray, "rho"]
    """The same number of neurons dealt in proportion to d³/t, the closed form's own count."""
    cleaning: tuple[CleaningRow, ...]

    def __repr__(self) -> str:
        found = f"accuracy {percent(self.score.accuracy)}, loss {number(self.score.loss)}"
        counts = ", ".join(f"{name}: {n}" for name, n in zip(self.basis.names, self.counts, strict=True))
        return f"GroupAnalysis({self.task.name}: {found}; neurons of {counts})"

    def neurons(self, representation: int | str) -> Integer[np.ndarray, "neuron"]:
        """The neurons with more than half of their power in this representation, by its number or name."""
        names = self.basis.names
        if isinstance(representation, str) and representation not in names:
            raise ModgrokError(f"The representations here are {', '.join(names)}, not {representation!r}.")
        number = names.index(representation) if isinstance(representation, str) else representation
        return np.flatnonzero(self.vectors.clear & (self.vectors.representation == number))

    def medians(self) -> dict[str, float]:
        """Over the clear neurons: share of one representation, rank one of the worst block, agreement of the worst
        vectors; and the share of these neurons whose gap is below π/2."""
        clear, v = self.vectors.clear, self.vectors
        if not clear.any():
            return dict.fromkeys(("share", "rank_one", "agreement", "aligned"), math.nan)
        return {
            "share": float(np.median(v.share[clear])),
            "rank_one": float(np.median(v.rank_one[clear].min(axis=1))),
            "agreement": float(np.median(v.agreement[clear].min(axis=1))),
            "aligned": float((v.gap[clear] < np.pi / 2).mean()),
        }

    def as_dict(self) -> dict[str, Any]:
        """The numbers as JSON values; null where one does not exist."""
        return {
            "task": self.task.name,
            "group": self.task.structure.group,
            "width": self.network.width,
            "accuracy": self.score.accuracy,
            "loss": finite(self.score.loss),
            "loss_name": self.score.loss_name,
            "clear_neurons": int(self.vectors.clear.sum()),
            "medians": {name: finite(x) for name, x in self.medians().items()},
            "representations": [
                {
                    "number": k,
                    "name": name,
                    "dimension": one.dimension,
                    "type": one.type,
                    "neurons": int(count),
                    "expected": float(expected),
                }
                for k, (name, one, count, expected) in enumerate(
                    zip(self.basis.names, self.basis.representations, self.counts, self.expected, strict=True)
                )
            ],
            "cleaning": [{"name": r.name, "loss": finite(r.loss), "accuracy": r.accuracy} for r in self.cleaning],
        }


def on_group(task: Task) -> bool:
    """Whether a task is a product in a group that is not cyclic."""
    return task.is_modular and task.codes is None and task.structure.product is not None and bool(task.structure.basis)


def analyze_group(network: Network, task: Task) -> GroupAnalysis:
    """All measures of a two-layer network on a product in a group."""
    basis = task.structure.basis
    assert basis is not None
    network = as_numpy(network, np.float64)
    vectors = neuron_vectors(network, basis)
    return GroupAnalysis(
        task,
        network,
        basis,
        score_table(network, task.table),
        vectors,
        *representation_counts(vectors, basis),
        tuple(vector_table(network, task.table, basis)),
    )
