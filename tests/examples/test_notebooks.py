"""Every notebook runs from the first cell to the last and draws what it says; in small form, with fewer steps."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(path.stem for path in EXAMPLES.glob("*.ipynb"))
RUN = """
import re
import sys
from pathlib import Path
import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

length = lambda given: int(given.removeprefix("steps="))
kernel, out = AsyncKernelManager(kernel_name="python3"), Path(sys.argv[1])
for path in map(Path, sys.argv[2:]):
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = re.sub("steps=[0-9_]+", lambda given: min(given[0], "steps=20", key=length), cell.source)
    try:
        NotebookClient(notebook, km=kernel, timeout=600).execute()
    except CellExecutionError as error:
        (out / f"{path.stem}.txt").write_text(str(error))
    nbformat.write(notebook, out / path.name)
"""
"""One kernel for all of them, which imports JAX once; in a process of its own, since sockets stay open."""


def test_notebooks(tmp_path: Path) -> None:
    usual = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_NUMPY_", "MPLBACKEND"))}
    usual |= {"MODGROK_STORE": str(tmp_path / "runs"), "PYTHONPATH": str(EXAMPLES.parent / "src")}
    paths = [str(EXAMPLES / f"{name}.ipynb") for name in NOTEBOOKS]
    subprocess.run([sys.executable, "-c", RUN, str(tmp_path), *paths], check=True, cwd=tmp_path, env=usual)
    for name in NOTEBOOKS:
        error = tmp_path / f"{name}.txt"
        assert not error.exists(), f"{name}: {error.read_text()}"
        for cell in nbformat.read(tmp_path / f"{name}.ipynb", as_version=4).cells:
            if cell.cell_type == "code" and "mg.plot." in cell.source:
                assert any("image/png" in output.get("data", {}) for output in cell.outputs), cell.source


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_outputs_are_small(name: str) -> None:
    assert (EXAMPLES / f"{name}.ipynb").stat().st_size < 250_000


def test_the_laboratory_fits_into_fifteen_lines() -> None:
    cells = nbformat.read(EXAMPLES / "fifteen_lines.ipynb", as_version=4).cells
    lines = [line for cell in cells if cell.cell_type == "code" for line in cell.source.splitlines() if line.strip()]
    assert len(lines) == 15
