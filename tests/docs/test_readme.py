"""What the README says is so: its code prints what stands beside it, its commands exist, its numbers were measured."""

import contextlib
import importlib.util
import io
import json
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import modgrok as mg
from modgrok import cli

pytestmark = pytest.mark.usefixtures("optimized")

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def loaded(path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


tables, pages = loaded(ROOT / "docs" / "tables.py"), loaded(Path(__file__).with_name("pages.py"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with contextlib.chdir(tmp_path_factory.mktemp("readme")):
        yield


def test_it_has_at_most_900_words() -> None:
    assert len(README.split()) <= 900


def test_the_python_prints_what_stands_beside_it(place: None) -> None:
    [code] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    said = [[int(n) for n in re.findall(r"\d+", line)] for line in re.findall(r"  # (.*)", code)]
    found = [[int(n) for n in re.findall(r"\d+", line)] for line in printed.getvalue().splitlines()]
    steps, frequencies, exact = found
    np.testing.assert_allclose(steps, said[0], rtol=0.1)  # Another processor may round otherwise on the way.
    assert len(frequencies) == len(said[1])
    assert exact == said[2]


def test_the_commands_say_what_stands_beside_them(place: None, capsys: pytest.CaptureFixture[str]) -> None:
    said = []
    for line in re.findall(r"^\$ (modgrok .*)", README, re.MULTILINE)[:3]:
        cli.main([*shlex.split(line, comments=True)[1:], "--json"])
        said.append(json.loads(capsys.readouterr().out))
    trained, taken_apart, two = said
    for step, name in zip(
        re.findall(r"memorized at step (\d+), grokked at (\d+)", README)[0], ("memorized_at", "grokked_at"), strict=True
    ):
        assert trained[name] == pytest.approx(int(step), rel=0.1)
    share = re.search(r"([\d.]+) % of the weights' power", README)
    assert share is not None
    assert 100 * taken_apart["explained"] == pytest.approx(float(share[1]), abs=1)
    assert (two["width"], two["accuracy"]) == (2, 1)


def test_the_commands_of_the_questions_exist(place: None) -> None:
    asked = re.findall(r"\| `(modgrok .*?)` \|", README)
    assert len(asked) >= 8
    for line in asked:
        pages.run_command(shlex.split(line), True)


def test_widths_of_exact_networks() -> None:
    for text, width in (("n + m", 2 * 97 - 1), ("n * m", 2 * 97 - 2)):
        assert mg.solve(text, 97, form="exact").width == width
    assert "width 2p − 1 (193 for p = 97)" in README
    assert {name: mg.solve(f"group:{name}", form="exact").width for name in ("S4", "S5")} == {"S4": 64, "S5": 596}
    assert "64 for S4, 596 for S5" in README


def test_every_result_is_listed() -> None:
    listed = {file.partition(".")[0] for file, *_ in tables.MEASURED}
    assert {path.name.partition(".")[0] for path in tables.RESULTS.iterdir()} == listed | {"README"}


def test_the_tracked_files_are_light() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not in a clone of the repository")
    there = [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]
    assert sum(path.stat().st_size for path in there) <= 8 * 2**20
    assert {path.suffix for path in there if "reproduction" in path.parts} <= {".md", ".json", ".gz", ".png", ".py"}


@pytest.mark.parametrize("page", tables.PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_tables_are_those_of_the_results(page: Path) -> None:
    """`python docs/tables.py` writes them."""
    assert tables.filled(page.read_text()) == page.read_text()


def test_reproductions_are_told_what_the_full_profile_found() -> None:
    assert tables.OUTCOMES_FILE.read_text() == tables.outcomes()
