"""Data flows one way: a module imports from lower layers only (docs/design of the house)."""

import ast
from pathlib import Path

import pytest

import modgrok

LAYERS = (
    "tasks",
    "networks",
    "closed_form",
    "measures",
    "training",
    "experiments",
    "plot",
    "reproduce",
    "lab",
    "commands",
)
UNAWARE = {"reproduce": {"lab"}, "lab": {"reproduce"}}
ROOT = Path(modgrok.__file__).parent


def imported_layers(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    parts = [name.split(".") for name in names]
    return {part[1] for part in parts if part[0] == "modgrok" and len(part) > 1 and part[1] in LAYERS}


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_point_backwards(layer: str) -> None:
    allowed = set(LAYERS[: LAYERS.index(layer) + 1]) - UNAWARE.get(layer, set())
    for path in (ROOT / layer).rglob("*.py"):
        wrong = imported_layers(path) - allowed
        assert not wrong, f"{path.relative_to(ROOT)} belongs to {layer} and imports {', '.join(sorted(wrong))}"


def test_no_module_lives_outside_the_layers() -> None:
    outside = {path.name for path in ROOT.iterdir()} - {*LAYERS, "__pycache__"}
    names = "__init__ __main__ api arrays card cli disk errors palette sealed setting shapes signals text".split()
    assert outside == {"py.typed", *(f"{name}.py" for name in names)}


def test_no_module_name_is_there_twice() -> None:
    """A command and a picture may be called like what they are of; papers have the same rooms."""
    places: dict[str, set[str]] = {}
    for path in ROOT.rglob("*.py"):
        place = path.relative_to(ROOT).parent
        if not path.stem.startswith("__") and place.parts[:1] not in (("commands",), ("plot",), ("reproduce",)):
            places.setdefault(path.stem, set()).add(str(place))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
