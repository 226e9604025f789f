"""Accuracy against the logarithm of the step, drawn in characters: the test set as an area, the training set a line."""

import numpy as np
from jaxtyping import Float, Integer
from rich.text import Text

HEIGHT = 12
BLOCKS = " ▁▂▃▄▅▆▇█"
DASHES = "⣀⠤⠒⠉"
"""A line at four heights of a character, from the bottom up."""
TRAIN, TEST, AXIS = "orange1", "dodger_blue2", "dim"
MARGIN = 6
"""Columns left of the picture, for the numbers."""


def accuracy_chart(
    steps: Integer[np.ndarray, "evaluation"],
    train: Float[np.ndarray, "evaluation"],
    test: Float[np.ndarray, "evaluation"],
    width: int,
) -> Text:
    """The picture, `width` characters wide; steps count from 1, so the first column also stands for step 0."""
    columns = max(16, width - MARGIN - 2)
    last = max(2, int(steps[-1]))
    places = np.geomspace(1, last, columns)
    areas, lines = (_sampled(steps, accuracy, places) for accuracy in (test, train))
    picture = Text()
    for row in reversed(range(HEIGHT)):
        label = {HEIGHT - 1: "100 %", HEIGHT // 2: " 50 %", 0: "  0 %"}.get(row, "")
        picture.append(f"{label:>{MARGIN - 1}} ┤", AXIS)
        for area, line in zip(areas, lines, strict=True):
            picture.append(*_cell(row, area, line))
        picture.append("\n")
    picture.append(_axis(last, columns) + "\n", AXIS)
    picture.append(" " * MARGIN).append(" ⠒⠒ train", TRAIN).append("  ").append("██ test", TEST)
    picture.append("  accuracy against step", AXIS)
    return picture


def _sampled(
    steps: Integer[np.ndarray, "evaluation"],
    accuracy: Float[np.ndarray, "evaluation"],
    places: Float[np.ndarray, "column"],
) -> Float[np.ndarray, "column"]:
    """The accuracy between evaluations, along straight lines; NaN counts as 0."""
    return np.interp(np.log(places), np.log(np.maximum(steps, 1)), np.nan_to_num(accuracy))


def _cell(row: int, area: float, line: float) -> tuple[str, str]:
    at = min(int(line * HEIGHT * 4), HEIGHT * 4 - 1)
    if at // 4 == row:
        return DASHES[at % 4], TRAIN
    filled = int(np.clip(round((area * HEIGHT - row) * 8), 0, 8))
    return BLOCKS[filled], TEST


def _axis(last: int, columns: int) -> str:
    """Powers of ten, and the last step where it does not run into them."""
    ticks = [10**i for i in range(len(str(last))) if 10**i <= last]
    line, numbers = ["─"] * columns, [" "] * (columns + MARGIN)
    for tick in [last, *reversed(ticks)]:
        column, label = round((columns - 1) * np.log(tick) / np.log(last)), f"{tick:,}"
        start = max(0, column - len(label) // 2)
        if all(mark == " " for mark in numbers[max(0, start - 1) : start + len(label) + 1]):
            line[column] = "┬"
            numbers[start : start + len(label)] = label
    return " " * (MARGIN - 1) + " └" + "".join(line) + "\n" + " " * (MARGIN + 1) + "".join(numbers).rstrip()
