"""Values look like something in a notebook."""

import base64
import io
import re

import pytest
from PIL import Image

import modgrok as mg
from modgrok.experiments.sweeps.table import Table


def test_a_task_shows_its_table() -> None:
    shown = mg.task("n/m", 7)._repr_html_()
    assert "n/m mod 7" in shown
    assert '<td style="text-align:left">7</td>' in shown
    assert "product" in shown
    data = re.search('base64,([^"]+)', shown)
    assert data is not None
    with Image.open(io.BytesIO(base64.b64decode(data[1]))) as picture:
        assert picture.size == (7, 7)
        assert picture.convert("RGB").getpixel((0, 3)) == (238, 238, 238)
    assert "img" not in mg.task("parity:30,3")._repr_html_()


def test_texts_are_escaped() -> None:
    assert "<script>" not in mg.Task.from_table([[0, 1], [1, 0]], name="<script>")._repr_html_()


def test_a_structure_says_its_verdict() -> None:
    found = mg.classify("n^2 + 2*n*m + m^2", 7)
    assert repr(found).startswith("Structure(function of sum mod 7")
    assert "F(x)" in found._repr_html_()


def test_a_network_shows_its_arrays() -> None:
    assert "w_in" in mg.solve("n + m", modulus=7, form="exact")._repr_html_()


@pytest.fixture
def table() -> Table:
    outcomes = {"status": ["finished", "unfinished"], "test_accuracy": [1.0, None], "memorized_at": [5, None]}
    settings = {"task": ["n+m", "n+m"], "seed": [0, 1]}
    return Table(settings | {"run": ["a", "b"], "grokked_at": [9, None]} | outcomes, ("task", "seed"))


def test_a_table_shows_what_varies(table: Table) -> None:
    assert repr(table).startswith("Table(2 runs, 1 of them ended; seed varies")
    shown = table._repr_html_()
    assert "<th>seed</th>" in shown
    assert "<th>task</th>" not in shown
    assert "<td>–</td>" in shown


def test_frames_of_other_libraries(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys
    from types import SimpleNamespace

    stand_in = SimpleNamespace(DataFrame=lambda columns, schema_overrides: columns, Float64=float)
    monkeypatch.setitem(sys.modules, "polars", stand_in)
    assert table.to_polars()["grokked_at"] == [9, None]
    dataset = SimpleNamespace(from_dataframe=lambda frame: frame)
    monkeypatch.setitem(sys.modules, "xarray", SimpleNamespace(Dataset=dataset))
    frame = table.to_xarray()
    assert frame.index.names == ["seed"]
    assert "task" not in frame.columns
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(mg.ModgrokError, match=r"modgrok\[frames\]"):
        table.to_polars()


def test_what_no_run_has_is_a_number_all_the_same(table: Table) -> None:
    table["grokked_at"] = [None, None]
    assert table.to_pandas()["grokked_at"].dtype == float
    assert table.to_pandas()["run"].tolist() == ["a", "b"]


def test_polars_and_xarray_themselves(table: Table) -> None:
    polars, xarray = pytest.importorskip("polars"), pytest.importorskip("xarray")
    table["grokked_at"] = [None, None]
    assert table.to_polars().schema["grokked_at"] == polars.Float64
    arrays = table.to_xarray()
    assert isinstance(arrays, xarray.Dataset)
    assert float(arrays.test_accuracy.mean("seed")) == 1
    assert arrays.grokked_at.isnull().all()
