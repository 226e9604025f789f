r"""The tangent kernel of a two-layer network, as it is and at infinite width, and what a frozen kernel would answer.

With $f_q = b\sum_k W^{(2)}_{qk}\phi(h_k)$, $h_k = a\sum_sW^{(1)}_{k,s}(n_s)$ and c the number of variables in which two
inputs agree, the mean over outputs of $\nabla f_q(x)\cdot\nabla f_q(x')$ is

$$K(x, x') = b^2\sum_k\Big[\phi(h_k)\phi(h_k') + a^2c\,\overline{(W^{(2)}_k)^2}\,\phi'(h_k)\phi'(h_k')\Big].$$

In the kernel regime it stays what it is at initialization; where features are learned it drifts.

At infinite width, with $W^{(1)}, W^{(2)} \sim \mathcal N(0,1)$, one-hot pairs x, x′ and their overlap
$c = x\cdot x' \in \{0, 1, 2\}$, the preactivations $u = W^{(1)}x$, $u' = W^{(1)}x'$ are Gaussian with variance 2 and
covariance c, and the kernel of the quadratic network is, up to a factor,

$$K(x, x') = E[u^2u'^2] + c\,E[2u \cdot 2u'] = (4 + 2c^2) + 4c^2 = 4 + 6c^2.$$

Since $c = [n=n'] + [m=m']$, $K = 12[x=x'] + 4 + 6[n=n'] + 6[m=m']$: the first term memorizes, the others are the inner
product of 2p + 1 features of n alone and m alone. Gradient descent's limit $K(x, X) K(X, X)^{-1} Y$ interpolates the
training pairs X, and everywhere else it is ridge regression on these features: a function of n plus a function of m.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.networks import Network, as_numpy, grid
from modgrok.networks.activation import activation
from modgrok.networks.two_layer import hidden
from modgrok.shapes import Float, Integer
from modgrok.tasks import Examples, Task

RIDGE = 1e-6
"""Added to a kernel's diagonal, in units of its mean: far below what decides an answer."""
MEMORY = 12.0
"""Weight of the term that is there for equal inputs only."""


def tangent_kernel(
    network: Network, first: Integer[np.ndarray, "a S"], second: Integer[np.ndarray, "b S"]
) -> Float[np.ndarray, "a b"]:
    """The mean over outputs of the products of their gradients, between two lists of inputs."""
    if network.architecture.name != "two-layer" or network.normalization is not None or network.dtype.kind == "c":
        raise ModgrokError(
            "The tangent kernel is written down for real two-layer networks without batch normalization."
        )
    network = as_numpy(network, np.float64)
    a, b = network.scales.hidden, network.scales.output
    (z, slope), (z_, slope_) = (_with_slope(network, inputs) for inputs in (first, second))
    agree = (first[:, None, :] == second[None, :, :]).sum(axis=2)
    return b**2 * (z @ z_.T + a**2 * agree * ((slope * np.square(network.w_out).mean(axis=0)) @ slope_.T))


def _with_slope(network: Network, inputs: Any) -> tuple[np.ndarray, np.ndarray]:
    import jax

    h = hidden(network, inputs)
    with jax.enable_x64(True):
        z, slope = jax.jvp(activation(network.activation), (h,), (np.ones_like(h),))
    return np.asarray(z), np.asarray(slope)


def alignment(first: Float[np.ndarray, "x x"], second: Float[np.ndarray, "x x"]) -> float:
    r"""$\langle A, B\rangle/(\|A\|\|B\|)$ of two kernels after their means are taken out of rows and columns (CKA)."""
    a, b = (_centered(kernel) for kernel in (first, second))
    return float((a * b).sum() / np.sqrt(np.square(a).sum() * np.square(b).sum()))


def _centered(kernel: Float[np.ndarray, "x x"]) -> Float[np.ndarray, "x x"]:
    rows = kernel - kernel.mean(axis=0)
    return rows - rows.mean(axis=1, keepdims=True)


def kernel_answers(
    among: Float[np.ndarray, "train train"],
    across: Float[np.ndarray, "test train"],
    labels: Integer[np.ndarray, "train"],
    answers: int,
) -> Integer[np.ndarray, "test"]:
    r"""What kernel regression with $K$ answers: the largest component of $K(x, X)(K(X, X) + \epsilon)^{-1}Y$."""
    from scipy.linalg import cho_factor, cho_solve

    solid = among + RIDGE * np.trace(among) / len(among) * np.eye(len(among))
    return (across @ cho_solve(cho_factor(solid), np.eye(answers)[labels])).argmax(axis=1)


def kernel_path(networks: Sequence[Network], examples: Examples, most: int) -> dict[str, list[float]]:
    """The kernel of networks, the first of them untrained, between at most `most` test inputs: how far it has drifted
    in units of its first norm, its alignment with the first kernel and with that of the answers (1 where two inputs
    have the same), and the share of these inputs that regression with it from the training inputs answers right."""
    train, test = examples.inputs[examples.trained], examples.inputs[~examples.trained]
    chosen = np.random.default_rng(0).permutation(len(test))[:most]
    test, answers = test[chosen], examples.answers[~examples.trained][chosen]
    target = (answers[:, None] == answers).astype(np.float64)
    labels = examples.labels[examples.trained]
    start = tangent_kernel(networks[0], test, test)
    rows = []
    for network in networks:
        kernel = tangent_kernel(network, test, test)
        across, among = tangent_kernel(network, test, train), tangent_kernel(network, train, train)
        right = kernel_answers(among, across, labels, network.signature.outputs) == answers
        drift = float(np.linalg.norm(kernel - start) / np.linalg.norm(start))
        rows.append((drift, alignment(kernel, start), alignment(kernel, target), float(right.mean())))
    names = ("drift", "like_start", "like_target", "regression_accuracy")
    return {name: list(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)}


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

    The kernel is at least 12 on the diagonal beyond a positive matrix, so it interpolates whatever the table is.
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
