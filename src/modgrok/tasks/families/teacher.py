r"""`teacher:200`: real vectors and what a random network, the teacher, says of them (Liu et al., arXiv 2210.01117)."""

import re
from itertools import pairwise

import numpy as np

from modgrok.errors import ModgrokError
from modgrok.shapes import Float
from modgrok.tasks.families.family import Family
from modgrok.tasks.task import Task

WIDTHS = (5, 100, 100, 5)
"""Of the teacher: inputs, two hidden layers of tanh, outputs."""
TOLERANCE = 0.001
"""Mean square error below which an output counts as right."""
MOST_VECTORS = 100_000


def teacher_student(count: int, seed: int = 0) -> Task:
    """So many normal vectors of length 5, and the teacher's answers of length 5; the teacher's weights and biases are
    uniform between ±1/√(fan in), as PyTorch's are."""
    if not 2 <= count <= MOST_VECTORS:
        raise ModgrokError(f"A teacher labels 2 to {MOST_VECTORS:,} vectors, not {count:,}.")
    rng = np.random.default_rng([seed, count])
    vectors = rng.standard_normal((count, WIDTHS[0]))
    answers: Float[np.ndarray, "count width"] = vectors
    for fan_in, fan_out in pairwise(WIDTHS):
        weight, bias = (rng.uniform(-1, 1, shape) * fan_in**-0.5 for shape in ((fan_out, fan_in), (fan_out,)))
        hidden = answers if answers is vectors else np.tanh(answers)
        answers = hidden @ weight.T + bias
    name = f"teacher:{count}" + (f",{seed}" if seed else "")
    return Task(name, (count,), count, np.arange(count), vectors=vectors, codes=answers, tolerance=TOLERANCE)


def _read(text: str, _: int | None) -> Task:
    match = re.fullmatch("teacher:([0-9]{1,9})(?:,([0-9]{1,18}))?", "".join(text.split()), re.IGNORECASE)
    if match is None:
        raise ModgrokError(f"A teacher of 200 vectors is written teacher:200 or teacher:200,SEED, not {text!r}.")
    return teacher_student(int(match[1]), int(match[2] or 0))


FAMILY = Family(
    "teacher", "teacher:.*", _read, "teacher:200, what a random network says of 200 real vectors; teacher:200,SEED"
)
