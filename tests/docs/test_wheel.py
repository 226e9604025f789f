"""The wheel runs in an environment that holds it and what it declares without extras, and nothing else."""

import ast
import os
import subprocess
import sys
import tomllib
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest

pytest.importorskip("build")
packaging = pytest.importorskip("packaging.requirements")

ROOT = Path(__file__).parents[2]
COMMANDS = (
    ("solve", "n + m", "--modulus", "7", "--json"),
    ("train", "n + m", "--modulus", "7", "--width", "16", "--lr", "0.1", "--steps", "3", "--json"),
    ("runs", "list", "--json"),
    ("reproduce", "--list", "--json"),
    ("lab", "--help"),
)
IF_THERE = ("IPython", "torch")
"""Imported only where they run already: in a notebook, and for weights that are tensors."""


def needed(requirements: list[str], found: dict[str, Path]) -> dict[str, Path]:
    """Where each distribution is installed that these requirements ask for here, and those that they ask for."""
    for text in requirements:
        requirement = packaging.Requirement(text)
        if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
            continue
        if requirement.name.lower() not in found:
            there = distribution(requirement.name)
            found[requirement.name.lower()] = Path(str(there.locate_file("")))
            needed(there.requires or [], found)
    return found


def top_level(name: str) -> set[str]:
    """The files and folders of a distribution in site-packages."""
    first = {Path(str(file)).parts[0] for file in distribution(name).files or ()}
    return {one for one in first if one not in ("..", "__pycache__")}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel; its dependencies, by what the wheel declares, are links to those here."""
    place = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", place]
    subprocess.run([*build, ROOT], check=True, capture_output=True)
    [wheel] = place.glob("modgrok-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place / "venv"], check=True)
    python = place / "venv" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", wheel], check=True, capture_output=True)
    [site] = (place / "venv" / "lib").glob("python*/site-packages")
    declared = site.glob("modgrok-*.dist-info/METADATA")
    lines = next(declared).read_text().splitlines()
    wanted = [line.removeprefix("Requires-Dist: ") for line in lines if line.startswith("Requires-Dist: ")]
    for name, where in needed(wanted, {}).items():
        for entry in top_level(name):
            if not (site / entry).exists():
                (site / entry).symlink_to(where / entry)
    return python


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_commands_run_without_extras(environment: Path, command: tuple[str, ...]) -> None:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "JAX_"))}
    place = {"cwd": environment.parents[2], "env": inherited}
    ran = subprocess.run([environment, "-m", "modgrok", *command], capture_output=True, text=True, **place)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout


def imported(sources: Path) -> set[str]:
    """The packages that sources import, at their top or later."""
    found = set()
    for path in sources.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            if isinstance(node, ast.ImportFrom):
                found.add(str(node.module).partition(".")[0])
    return found - set(sys.stdlib_module_names)


def test_what_is_declared_is_imported_and_what_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = [text for name in project["optional-dependencies"] for text in project["optional-dependencies"][name]]
    packages = packages_distributions()
    distributions = {name: {one.lower() for one in packages.get(name, [name])} for name in imported(ROOT / "src")}
    required, optional = (
        {packaging.Requirement(text).name.lower() for text in some} for some in (project["dependencies"], extras)
    )
    assert required <= set().union(*distributions.values())
    undeclared = {name for name, found in distributions.items() if not found & (required | optional)}
    assert undeclared == {"modgrok", *IF_THERE}


def test_extras_are_not_there(environment: Path) -> None:
    script = (
        "import importlib.util as u; print([n for n in ('ray', 'playwright', 'mkdocs', 'pytest') if u.find_spec(n)])"
    )
    ran = subprocess.run([environment, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
