"""Grokking modular arithmetic (Gromov 2023, arXiv 2301.02679) on one page of NumPy.

    python examples/paper_in_one_page.py

A network learns n + m mod p from a part of all pairs. First it knows these pairs by heart; long after, and suddenly,
it knows all others too. What it has found can be written down, and one number, the IPR, says how far it is.
"""

import numpy as np

p, N, alpha = 23, 128, 0.7  # modulus, hidden neurons, share of the pairs that is trained on
D = 2 * p  # length of the input: n and m as one-hot vectors, one below the other


def preactivations(w1, n, m):
    """(pair, N): a one-hot vector picks a column, so W1 x is the sum of two columns."""
    return (w1[:, n] + w1[:, p + m]).T / np.sqrt(D)


def network(w1, w2, n, m):
    """f(x) = 1/N W2 (1/sqrt(D) W1 x)^2: two layers, no biases, and the square in between. (pair, p)"""
    return preactivations(w1, n, m) ** 2 @ w2.T / N


def accuracy(w1, w2, n, m):
    return np.mean(network(w1, w2, n, m).argmax(axis=1) == (n + m) % p)


def gradient(w1, w2, n, m):
    """Of the mean squared error between f and the one-hot answer, by hand."""
    h = preactivations(w1, n, m)
    error = (h**2 @ w2.T / N - np.eye(p)[(n + m) % p]) * 2 / (len(n) * p)
    back = (error @ w2 / N) * 2 * h / np.sqrt(D)  # through the square
    onehot = np.concatenate([np.eye(p)[n], np.eye(p)[m]], axis=1)
    return back.T @ onehot, error.T @ h**2 / N


def ipr(w1):
    """Inverse participation ratio: 1/4 for a neuron that is one wave, about 1/p for noise; its mean over neurons."""
    power = np.abs(np.fft.fft(w1.reshape(-1, 2, p))).reshape(len(w1), D) ** 2
    return np.mean(((power / power.sum(axis=1, keepdims=True)) ** 2).sum(axis=1))


def claim_1(width, rng):
    """The solution written down: neuron i is a wave of frequency k with random phases, and phi3 = phi1 + phi2.

    The square holds cos(A + B); times the readout, every phase cancels in cos 2 pi k (n + m - q)/p, and only there.
    All else averages away as the width grows, and the sum over k is largest at q = n + m.
    """
    k = np.resize(np.arange(1, p // 2 + 1), width)
    phi1, phi2 = rng.uniform(0, 2 * np.pi, (width, 2)).T[:, :, None]
    angle = 2 * np.pi * np.outer(k, np.arange(p)) / p
    a = (2 * D) ** (1 / 3)  # so that the right answer's output is 1
    w1 = a * np.concatenate([np.cos(angle + phi1), np.cos(angle + phi2)], axis=1)
    return w1, a * np.cos(angle + phi1 + phi2).T


def train(steps, rng):
    """Plain gradient descent on the full batch, without regularization; curves of (step, train, test, IPR)."""
    n, m = np.divmod(rng.permutation(p * p), p)
    known, unknown = np.split(np.arange(p * p), [round(alpha * p * p)])
    w1, w2 = rng.normal(size=(N, D)), rng.normal(size=(p, N))
    rate = 1e6 * (p / 97) ** 3 * (N / 500)  # gradients are about 2/(p^3 N)
    curves = []
    for step in range(steps + 1):
        if step % max(1, steps // 200) == 0:
            parts = [accuracy(w1, w2, n[part], m[part]) for part in (known, unknown)]
            curves.append((step, *parts, ipr(w1)))
        g1, g2 = gradient(w1, w2, n[known], m[known])
        w1, w2 = w1 - rate * g1, w2 - rate * g2
    return w1, w2, np.array(curves)


def main(steps=6_000, picture="paper_in_one_page.png"):
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(0)
    n, m = np.divmod(np.arange(p * p), p)
    w1, w2, curves = train(steps, rng)
    print(f"trained:      {accuracy(w1, w2, n, m):6.1%} of all pairs, IPR {ipr(w1):.3f}")
    w1_written, w2_written = claim_1(500, rng)
    print(f"written down: {accuracy(w1_written, w2_written, n, m):6.1%} of all pairs, IPR {ipr(w1_written):.3f}")

    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3), layout="constrained")
    step, train_accuracy, test_accuracy, localization = curves.T
    left.plot(step, train_accuracy, label="train")
    left.plot(step, test_accuracy, label="test")
    left.plot(step, 4 * localization, label="4 IPR")
    left.set(xlabel="step", title="first by heart, then suddenly", xscale="symlog")
    left.legend()
    best = np.argmax([ipr(neuron) for neuron in w1[:, None]])
    middle.plot(w1[best, :p], "o-")
    middle.plot(w1[best, p:], "o-")
    middle.set(xlabel="n, m", title="a neuron it found is a wave")
    right.imshow(network(w1, w2, n, m)[:, 0].reshape(p, p))
    right.set(xlabel="m", ylabel="n", title="output 0 fires where n + m = 0")
    figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main()
