"""Accuracy against the logarithm of the step, drawn in characters: the test set as an area, the training set a line."""

import numpy as np
from rich.text import Text

from modgrok.palette import TEST, TRAIN
from modgrok.shapes import Float, Integer
from modgrok.text import count

HEIGHT = 12
BLOCKS = " ▁▂▃▄▅▆▇█"
BRAILLE = 0x2800
LEFT, RIGHT = (0x40, 0x04, 0x02, 0x01), (0x80, 0x20, 0x10, 0x08)
"""The dots of a braille character, from the bottom up."""
AXIS = "dim"
MARGIN = 6
"""Columns left of the picture, for the numbers."""

Curve = Float[np.ndarray, "evaluation"]
Steps = Integer[np.ndarray, "evaluation"]


def accuracy_chart(steps: Steps, train: Curve, test: Curve, width: int) -> Text:
    """The picture, `width` characters wide; steps count from 1, so the first column also stands for step 0."""
    columns = max(16, width - MARGIN - 2)
    last = max(2, int(steps[-1]))
    places = np.log(np.geomspace(1, last, columns))
    # Straight lines between evaluations; an accuracy that does not exist counts as 0.
    area, line = (np.interp(places, np.log(np.maximum(steps, 1)), np.nan_to_num(curve)) for curve in (test, train))
    level = np.minimum(line * HEIGHT * 4, HEIGHT * 4 - 1).astype(int)
    before = np.concatenate([level[:1], level[:-1]])
    picture = Text()
    for row in reversed(range(HEIGHT)):
        label = {HEIGHT - 1: "100 %", HEIGHT // 2: "50 %", 0: "0 %"}.get(row, "")
        picture.append(f"{label:>{MARGIN - 1}} ┤", AXIS)
        for i in range(columns):
            dots = _dots(row, int(level[i]), int(before[i]))
            block = BLOCKS[min(max(round((float(area[i]) * HEIGHT - row) * 8), 0), 8)]
            picture.append(*((dots, TRAIN) if dots else (block, TEST)))
        picture.append("\n")
    picture.append(_axis(last, columns) + "\n", AXIS)
    picture.append(" " * MARGIN).append(" ⠒⠒ train", TRAIN).append("  ").append("██ test", TEST)
    picture.append("  accuracy against step", AXIS)
    return picture


def _dots(row: int, level: int, before: int) -> str:
    """The part of the line in one character: a dash at its level, and dots down or up to the one before."""
    dots = 0
    for i in range(4):
        at = 4 * row + i
        if at == level:
            dots |= LEFT[i] | RIGHT[i]
        elif min(level, before) < at < max(level, before):
            dots |= LEFT[i]
    return chr(BRAILLE + dots) if dots else ""


def _axis(last: int, columns: int) -> str:
    """Powers of ten, and the last step; those that would run into one another are left out."""
    line, numbers = ["─"] * columns, [" "] * columns
    for tick in [last, *(10**i for i in reversed(range(len(str(last)))))]:
        column, label = round((columns - 1) * np.log(tick) / np.log(last)), count(tick)
        start = min(max(0, column - len(label) // 2), columns - len(label))
        if all(mark == " " for mark in numbers[max(0, start - 1) : start + len(label) + 1]):
            line[column] = "┬"
            numbers[start : start + len(label)] = label
    return " " * MARGIN + "└" + "".join(line) + "\n" + " " * (MARGIN + 1) + "".join(numbers).rstrip()
