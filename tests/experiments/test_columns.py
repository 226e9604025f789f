"""Tables as files: what is written comes back."""

from pathlib import Path

import pytest

from modgrok.errors import ModgrokError
from modgrok.experiments.columns import Frame, read_csv, uniform

COLUMNS = {"run": ["012345678901", "1e5"], "rate": [0.1, None], "steps": [3, 10**20], "task": ["n, m", 'a "b"']}


def test_what_is_written_comes_back(tmp_path: Path) -> None:
    Frame(COLUMNS).write(tmp_path / "table.csv")
    names, rows = read_csv(tmp_path / "table.csv", 10, texts=("run",))
    assert names == list(COLUMNS)
    assert {name: [row[name] for row in rows] for name in names} == COLUMNS
    assert len(read_csv(tmp_path / "table.csv", 1)[1]) == 1


def test_there_is_a_header_without_rows() -> None:
    assert Frame({"run": [], "step": []}).to_csv() == "run,step\n"


def test_mixed_columns_are_texts() -> None:
    assert uniform({"lr": ["auto", 0.1, None], "seed": [1, 2, 3]}) == {"lr": ["auto", "0.1", None], "seed": [1, 2, 3]}


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModgrokError, match=r"not to table\.xls"):
        Frame(COLUMNS).write(tmp_path / "table.xls")
    (tmp_path / "table.csv").write_bytes(b'run\n"\0' + b"x" * 200_000)
    with pytest.raises(ModgrokError, match="cannot be read"):
        read_csv(tmp_path / "table.csv", 10)
