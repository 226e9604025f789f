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
from jaxtyping import Float, Integer

from modgrok.networks import grid
from modgrok.reproduce.gromov2023.profile import Profile
from modgrok.reproduce.study import Numbers, Study, Tree
from modgrok.tasks import Split, Task, task

MEMORY = 12.0
"""Weight of the term that is there for equal inputs only."""


def tangent_kernel(a: Integer[np.ndarray, "a 2"], b: Integer[np.ndarray, "b 2"]) -> Float[np.ndarray, "a b"]:
    """$4 + 6c^2$ between pairs, c the number of variables in which they agree."""
    overlap = (a[:, None, :] == b[None, :, :]).sum(axis=2).astype(np.float64)
    return 4 + 6 * overlap**2


def features(inputs: Integer[np.ndarray, "input 2"], modulus: int) -> Float[np.ndarray, "input feature"]:
    """Vectors whose inner products are the kernel without its memory: a constant, and one-hot n and m."""
    one_hot = np.eye(modulus)
    constant = np.full((len(inputs), 1), 2.0)
    return np.concatenate([constant, *(6**0.5 * one_hot[values] for values in inputs.T)], axis=1)


def kernel_predictor(
    learnt: Task, train: Integer[np.ndarray, "train"], test: Integer[np.ndarray, "test"]
) -> Float[np.ndarray, "test p"]:
    r"""Outputs at test inputs, $\phi\,(12 + \Phi^T\Phi)^{-1}\Phi^T Y$, which is $K(x, X) K(X, X)^{-1} Y$ there."""
    inputs = grid(learnt.sizes)
    answers = np.eye(learnt.modulus)[learnt.table.reshape(-1)[train]]
    seen = features(inputs[train], learnt.modulus)
    gram = seen.T @ seen + MEMORY * np.eye(seen.shape[1])
    return features(inputs[test], learnt.modulus) @ np.linalg.solve(gram, seen.T @ answers)


def numbers(profile: Profile, runs: Tree) -> Numbers:
    """Accuracies of the kernel predictor of n + m for every fraction and split."""
    addition = task("n + m", profile.modulus)
    answers = addition.table.reshape(-1)
    cells = []
    for fraction in profile.kernel_fractions:
        scores = []
        for seed in profile.seed_range:
            train, test = Split(fraction, seed=seed).divide(addition)
            predicted = kernel_predictor(addition, train, test).argmax(axis=1)
            scores.append(float((predicted == answers[test]).mean()))
        cells.append({"fraction": fraction, "test_accuracy": scores})
    return {"modulus": profile.modulus, "cells": cells}


STUDY = Study(
    "kernel",
    "Infinite width in the kernel regime",
    "The neural tangent kernel of the quadratic network in closed form, 4 + 6c² for inputs that agree in c "
    "variables, and its predictor on all test pairs.",
    numbers,
)
