r"""Two or three neurons that answer every pair of a sum; one cannot.

With $x, y, z$ for $\theta x_1, \theta x_2, \theta r$, $\theta = 2\pi/L$:

- **Three**: $\varphi_1 = \varphi_2 = 2\pi j/3$ and the readout $\cos(z + \varphi_1 + \varphi_2)$ leave
  $\tfrac32(1 + \cos(x-y))\cos(x+y-z)$, the real twin of the one complex neuron.
- **Two**: $h_1 = \cos x + \cos y$ and $h_2 = \sin x + \sin y$ have $(h_1^2, h_2^2) \propto (\cos^2s, \sin^2s)$ with
  $s = (x+y)/2$, a direction in the plane; the readout of r is the unit vector in its own direction. A turn of x and
  y by $\pi/4L$ keeps all L directions apart.

For even L the factor $1 + \cos(x-y)$ is 0 where x and y are opposite, so x is turned further by $\pi/L$.
"""

import numpy as np

from modgrok.closed_form.frequencies import group_angles, input_angles, onto_answers
from modgrok.closed_form.matrices import Layers
from modgrok.errors import ModgrokError
from modgrok.tasks.basis import Basis

WIDTHS = (2, 3)


def has_few(basis: Basis | None) -> bool:
    """Whether two neurons can answer a task: two variables, a sum in Z_L, every value with a place, F injective."""
    return (
        basis is not None
        and basis.is_cyclic
        and len(basis.index) == 2
        and all((index >= 0).all() for index in basis.index)
        and len(np.unique(basis.readout)) == basis.length
    )


def few_layers(basis: Basis, width: int) -> Layers:
    """The network of two or three neurons whose largest output is the answer, for every pair."""
    if width not in WIDTHS or not has_few(basis):
        raise ModgrokError(
            f"Two or three neurons answer F(f1(n) + f2(m)) with F injective, and this is a width of {width} for "
            f"{'such a task' if has_few(basis) else 'another task'}."
        )
    length = basis.length
    one = np.ones(1, dtype=np.int64)
    angles = input_angles(basis, one)[0]  # (S, p)
    z = group_angles(length, one)[:, 0]
    apart = np.pi / length if length % 2 == 0 else 0.0
    if width == 3:
        turn = 2 * np.pi / 3 * np.arange(3)[:, None]
        w_in = np.cos(np.stack([angles[0] + apart + turn, angles[1] + turn], axis=1))
        readout = np.cos(z[:, None] + apart + 2 * turn[:, 0])
    else:
        x, y, s = angles[0] + apart + np.pi / (4 * length), angles[1] + np.pi / (4 * length), (z + apart) / 2
        s = s + np.pi / (4 * length)
        w_in = np.stack([np.stack([wave(x), wave(y)]) for wave in (np.cos, np.sin)])
        readout = np.square(np.stack([np.cos(s), np.sin(s)], axis=1))
        readout = readout / np.linalg.norm(readout, axis=1, keepdims=True)
    return Layers(w_in, onto_answers(basis, readout, "all"))
