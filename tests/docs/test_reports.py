"""The HTML of the committed reports can be read on a phone."""

import re
from pathlib import Path

import pytest

from modgrok.reproduce.report import render

REPORTS = sorted((Path(__file__).parents[2] / "docs" / "reproduction").glob("*/report.md"))
LONGEST = 34
"""Characters without a place to break that a column of a table has room for on a phone."""


@pytest.mark.parametrize("path", REPORTS, ids=lambda path: path.parent.name)
def test_no_cell_of_a_table_is_wider_than_a_phone(path: Path) -> None:
    cells = re.findall(r"<td[^>]*>(.*?)</td>", render(path.read_text(), "", path.parent), re.DOTALL)
    words = {word for cell in cells for word in re.split(r"[\s\-/]+", re.sub(r"<[^>]*>", " ", cell))}
    assert len(cells) > 20
    assert [word for word in words if len(word) > LONGEST] == []
