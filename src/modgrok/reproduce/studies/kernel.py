r"""The network of infinite width in the kernel regime, solved exactly.

With $W^{(1)}, W^{(2)} \sim \mathcal N(0,1)$, one-hot pairs x, x′ and their overlap $c = x\cdot x' \in \{0, 1, 2\}$, the
preactivations $u = W^{(1)}x$, $u' = W^{(1)}x'$ are Gaussian with variance 2 and covariance c, and the neural tangent
kernel of the quadratic network is, up to a factor,

$$K(x, x') = E[u^2u'^2] + c\,E[2u \cdot 2u'] = (4 + 2c^2) + 4c^2 = 4 + 6c^2.$$

Since $c = [n=n'] + [m=m']$, $K = 4 + 6[n=n'] + 6[m=m'] + 12[n=n'][m=m']$: the last term memorizes, and away from the
training pairs the predictor of gradient descent's limit is a sum of a function of n and a function of m.
"""

import numpy as np
from jaxtyping import Float, Integer

from modgrok.networks import grid
from modgrok.reproduce.profile import Profile
from modgrok.reproduce.study import Numbers, Runs, Study, no_experiments
from modgrok.reproduce.values import plain
from modgrok.tasks import Split, Task, task


def tangent_kernel(a: Integer[np.ndarray, "a S"], b: Integer[np.ndarray, "b S"]) -> Float[np.ndarray, "a b"]:
    """$4 + 6c^2$ between inputs, c the number of variables in which they agree."""
    overlap = (a[:, None, :] == b[None, :, :]).sum(axis=2).astype(np.float64)
    return 4 + 6 * overlap**2


def kernel_predictor(
    learnt: Task, train: Integer[np.ndarray, "train"], test: Integer[np.ndarray, "test"]
) -> tuple[Float[np.ndarray, "train p"], Float[np.ndarray, "test p"]]:
    """Outputs at training and test inputs after training for ever: $K(x, X) K(X, X)^{-1} Y$ with one-hot answers Y."""
    from scipy.linalg import cho_factor, cho_solve

    inputs = grid(learnt.modulus, learnt.arity)
    answers = np.eye(learnt.modulus)[learnt.table.reshape(-1)[train]]
    kernel = tangent_kernel(inputs[train], inputs[train])
    weights = cho_solve(cho_factor(kernel), answers)
    return kernel @ weights, tangent_kernel(inputs[test], inputs[train]) @ weights


def numbers(profile: Profile, runs: Runs) -> Numbers:
    """Accuracies of the kernel predictor of n + m for every fraction and split."""
    addition = task("n + m", profile.modulus)
    answers = addition.table.reshape(-1)
    cells = []
    for fraction in profile.kernel_fractions:
        scores = []
        for seed in profile.seed_range:
            train, test = Split(fraction, seed=seed).divide(addition)
            on_train, on_test = kernel_predictor(addition, train, test)
            scores.append(
                {
                    "train": float((on_train.argmax(axis=1) == answers[train]).mean()),
                    "test": float((on_test.argmax(axis=1) == answers[test]).mean()),
                }
            )
        cells.append({"fraction": fraction, "seeds": scores})
    return plain({"modulus": profile.modulus, "cells": cells})


STUDY = Study(
    "kernel",
    "Infinite width in the kernel regime",
    "The neural tangent kernel of the quadratic network in closed form, 4 + 6c² for inputs that agree in c "
    "variables, and its predictor on all test pairs.",
    no_experiments,
    numbers,
)
