r"""The network of infinite width in the kernel regime, solved exactly.

With $W^{(1)}, W^{(2)} \sim \mathcal N(0,1)$, one-hot pairs x, x′ and their overlap $c = x\cdot x' \in \{0, 1, 2\}$, the
preactivations $u = W^{(1)}x$, $u' = W^{(1)}x'$ are Gaussian with variance 2 and covariance c, and the neural tangent
kernel of the quadratic network is, up to a factor,

$$K(x, x') = E[u^2u'^2] + c\,E[2u \cdot 2u'] = (4 + 2c^2) + 4c^2 = 4 + 6c^2.$$

Since $c = [n=n'] + [m=m']$, $K = 12[x=x'] + 4 + 6[n=n'] + 6[m=m']$: the first term memorizes, the others are the inner
product of 2p + 1 features of n alone and m alone. Gradient descent's limit $K(x, X) K(X, X)^{-1} Y$ interpolates the
training pairs X, and everywhere else it is ridge regression on these features: a function of n plus a function of m.
"""

import numpy as np

from modgrok.networks import grid
from modgrok.shapes import Float, Integer
from modgrok.tasks import Task

MEMORY = 12.0
"""Weight of the term that is there for equal inputs only."""


def features(inputs: Integer[np.ndarray, "input 2"], modulus: int) -> Float[np.ndarray, "input feature"]:
    """Vectors whose inner products are the kernel without its memory: a constant, and one-hot n and m."""
    one_hot = np.eye(modulus)
    constant = np.full((len(inputs), 1), 2.0)
    return np.concatenate([constant, *(6**0.5 * one_hot[values] for values in inputs.T)], axis=1)


def kernel_predictor(
    learned: Task, train: Integer[np.ndarray, "train"], test: Integer[np.ndarray, "test"]
) -> Float[np.ndarray, "test p"]:
    r"""Outputs at test inputs, $\phi\,(12 + \Phi^T\Phi)^{-1}\Phi^T Y$, which is $K(x, X) K(X, X)^{-1} Y$ there."""
    return features(grid(learned.sizes)[test], learned.modulus) @ _solved(learned, train)[2]


def interpolation_error(learned: Task, train: Integer[np.ndarray, "train"]) -> float:
    r"""Largest distance between $K(X, X)\,c$ and Y on the training pairs, with $c = (Y - \Phi w)/12$.

    The kernel is at least 12 on the diagonal beyond a positive matrix, so it interpolates whatever the table is; this
    measures it.
    """
    seen, answers, weights = _solved(learned, train)
    dual = (answers - seen @ weights) / MEMORY
    return float(abs(seen @ (seen.T @ dual) + MEMORY * dual - answers).max())


def _solved(learned: Task, train: Integer[np.ndarray, "train"]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features and answers of the training pairs, and the weights of the features."""
    answers = np.eye(learned.modulus)[learned.table.reshape(-1)[train]]
    seen = features(grid(learned.sizes)[train], learned.modulus)
    gram = seen.T @ seen + MEMORY * np.eye(seen.shape[1])
    return seen, answers, np.linalg.solve(gram, seen.T @ answers)
