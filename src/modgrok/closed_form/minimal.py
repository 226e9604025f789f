r"""The smallest exact network of two variables: a lower bound on its width, and a numerical search.

Without prefactors the network is exact where $\sum_i W_{qi}(U_i(n) + V_i(m))^2 = [\,q = T(n, m)\,]$. Taking the means
over n and over m away leaves $2\sum_i W_{qi}\tilde U_i(n)\tilde V_i(m)$, a sum of N products between which there is a
relation, so N is above the rank of the projected table as a tensor (`least_width`; docs/theory.md). The search
minimizes the sum of squared errors over all 3Np weights by Levenberg–Marquardt from random starts; the readout of a
start is the least-squares solution.
"""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from modgrok.closed_form.matrices import Layers
from modgrok.errors import ModgrokError
from modgrok.shapes import Float
from modgrok.tasks.task import Task

LARGEST_MODULUS = 13
"""The search is refused beyond: its unknowns grow as p², a step as p⁶."""
SECONDS = 60.0
"""Time after which a search ends with what it has."""
EXACT = 1e-20
"""Sum of squared errors over all p³ outputs below which a network counts as exact."""
STEPS = 400
"""Of Levenberg–Marquardt from one start."""
PENALTIES = (1e-2, 1e-1)
"""Range of the weight penalty, in units of the loss and drawn anew for every start: it vanishes with the loss, and
keeps the weights finite where small errors need large ones."""

Weights = Float[np.ndarray, "3 N p"]
"""U, V and the transposed W."""
Target = Float[np.ndarray, "q n m"]


class Attempt(NamedTuple):
    """What a search at one width came to."""

    width: int
    starts: int
    loss: float
    """Least sum of squared errors over all p³ outputs."""
    largest: float
    """The largest weight there: it grows without bound where errors can be made small but not zero."""
    weights: Weights

    @property
    def exact(self) -> bool:
        return self.loss < EXACT

    @property
    def layers(self) -> Layers:
        u, v, w = self.weights
        return Layers(np.stack([u, v], axis=1), w.T)


def least_width(task: Task) -> int:
    r"""A width below which no network of two variables is exact on a task, whatever its weights.

    One more than the rank of the projected table: $\sum_q$ of the outputs is 1, so the products are not independent.
    Where all elements of a group or monoid occur in both variables and F keeps them apart, the projected table
    multiplies in an algebra that is a product of one simple algebra for each representation but the trivial one, and
    by the Alder–Strassen theorem its rank is at least twice its dimension less their number: $N \ge 3(p-1)/2 + 1$ for
    n + m and odd p, 9 for S3. Otherwise the rank is at least the number of independent slices.
    """
    projected = one_hot(task)
    for axis in (1, 2):
        projected = projected - projected.mean(axis=axis, keepdims=True)
    slices = (np.moveaxis(projected, axis, 0).reshape(task.modulus, -1) for axis in range(3))
    least = 1 + max(int(np.linalg.matrix_rank(x, tol=1e-9)) for x in slices)
    basis = task.structure.basis
    if basis is None or any(len(np.unique(i[i >= 0])) < basis.length for i in basis.index):
        return least
    zeros = [bool((index < 0).any()) for index in basis.index]
    outcomes = [*basis.readout.tolist(), *([basis.at_zero] if all(zeros) else [])]
    if any(zeros) != all(zeros) or len(set(outcomes)) < len(outcomes):
        return least
    algebras = len(basis.representations) - 1 + all(zeros)  # with a zero the constant is one of two that are trivial
    return max(least, 2 * (basis.length - 1 + all(zeros)) - algebras + 1)


def one_hot(task: Task) -> Target:
    """The table of a task of two variables, one plane for each answer."""
    if task.arity != 2 or (task.table < 0).any():
        raise ModgrokError("The search for the smallest exact network needs a table of two variables without holes.")
    return np.moveaxis(np.eye(task.modulus)[task.table], 2, 0)


def smallest_exact(
    task: Task, widths: Sequence[int], seed: int = 0, report: Callable[[Attempt], None] = lambda attempt: None
) -> Attempt | None:
    """The last exact network found on going through the widths, until one fails; None where the first does.

    `report` hears of the best network after every start.
    """
    if task.modulus > LARGEST_MODULUS:
        raise ModgrokError(
            f"The search for the smallest exact network goes up to p = {LARGEST_MODULUS}, and this task has "
            f"p = {task.modulus}; the form exact has a width that is known for every p."
        )
    deadline, found = time.monotonic() + SECONDS, None
    for width in widths:
        attempt = search(one_hot(task), width, np.random.default_rng((seed, width)), deadline=deadline, report=report)
        if not attempt.exact:
            break
        found = attempt
    return found


def search(
    target: Target,
    width: int,
    rng: np.random.Generator,
    starts: int | None = None,
    deadline: float = np.inf,
    report: Callable[[Attempt], None] = lambda attempt: None,
) -> Attempt:
    """The best network over `starts`, or until the deadline; an exact one ends the search."""
    best, tried = None, 0
    while best is None or not (best.exact or tried == starts or time.monotonic() > deadline):
        weights, loss = _descend(target, width, rng, deadline)
        tried += 1
        if best is None or loss < best.loss:
            best = Attempt(width, tried, loss, float(abs(weights).max()), weights)
        best = best._replace(starts=tried)
        report(best)
    return best


def _descend(target: Target, width: int, rng: np.random.Generator, deadline: float) -> tuple[Weights, float]:
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    p = len(target)
    flat = target.reshape(p, -1)
    u, v = rng.normal(size=(2, width, p))
    squares = np.square(u[:, :, None] + v[:, None, :]).reshape(width, -1)
    weights = np.stack([u, v, np.linalg.lstsq(squares.T, flat.T, rcond=None)[0]])
    penalty = np.exp(rng.uniform(*np.log(PENALTIES)))
    damping, losses = 1.0, [_loss(weights, target)]
    while len(losses) <= STEPS and losses[-1] > 1e-5 * EXACT and time.monotonic() < deadline:
        loss = losses[-1]
        if len(losses) > 60 and losses[-40] < 1.02 * loss and loss > 1e-6:
            break
        matrix, gradient = _normal_equations(weights, target)
        shrink = penalty * min(1, loss)
        gradient = gradient + shrink * weights.reshape(-1)
        while damping < 1e12:
            damped = matrix.copy()
            damped[np.diag_indices_from(damped)] += damping * np.sqrt(loss) + shrink
            try:
                step = cho_solve(cho_factor(damped, overwrite_a=True, check_finite=False), gradient, check_finite=False)
            except LinAlgError:
                damping *= 10
                continue
            new = weights - step.reshape(weights.shape)
            new_loss = _loss(new, target)
            if new_loss + shrink * np.square(new).sum() < loss + shrink * np.square(weights).sum():
                weights, damping = new, max(damping / 3, 1e-9)
                losses.append(new_loss)
                break
            damping *= 4
        else:
            break
    return weights, losses[-1]


def _loss(weights: Weights, target: Target) -> float:
    u, v, w = weights
    squares = np.square(u[:, :, None] + v[:, None, :]).reshape(len(u), -1)
    return float(np.square(w.T @ squares - target.reshape(len(target), -1)).sum())


def _normal_equations(
    weights: Weights, target: Target
) -> tuple[Float[np.ndarray, "parameter parameter"], Float[np.ndarray, "parameter"]]:
    r"""$J^TJ$ and $J^Tr$ of the residuals $r_{q,nm} = \sum_i W_{qi}h_i^2 - T$, $h_i = U_i(n) + V_i(m)$.

    Written block by block: $J$ has $2h_iW_{qi}$ at $U_i(n)$ and $V_i(m)$, $h_i^2$ at $W_{qi}$, and p times more rows.
    """
    u, v, w = weights
    width, p = u.shape
    h = u[:, :, None] + v[:, None, :]  # (N, n, m)
    squares = (h * h).reshape(width, -1)
    residual = w.T @ squares - target.reshape(p, -1)  # (q, nm)
    products = h[:, None] * h[None] * (4 * w @ w.T)[:, :, None, None]  # (N, N, n, m)
    matrix, diagonal = np.zeros((3, width, p, 3, width, p)), np.arange(p)
    matrix[0, :, diagonal, 0, :, diagonal] = products.sum(axis=3).transpose(2, 0, 1)
    matrix[1, :, diagonal, 1, :, diagonal] = products.sum(axis=2).transpose(2, 0, 1)
    matrix[2, :, diagonal, 2, :, diagonal] = squares @ squares.T
    matrix[0, :, :, 1] = products.transpose(0, 2, 1, 3)
    matrix[1, :, :, 0] = matrix[0, :, :, 1].transpose(2, 3, 0, 1)
    for block, h_by_value in ((0, h), (1, h.transpose(0, 2, 1))):
        h_squared = np.square(h_by_value)
        overlap = np.stack([h_by_value[:, x] @ h_squared[:, x].T for x in diagonal], axis=1)  # (N, p, N)
        matrix[block, :, :, 2] = 2 * overlap[..., None] * w[:, None, None, :]
        matrix[2, :, :, block] = matrix[block, :, :, 2].transpose(2, 3, 0, 1)
    pull = 2 * h * (w @ residual).reshape(h.shape)
    gradient = np.stack([pull.sum(axis=2), pull.sum(axis=1), squares @ residual.T])
    size = 3 * width * p
    return matrix.reshape(size, size), gradient.reshape(size)
