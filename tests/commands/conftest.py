import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from modgrok import cli


def no_nan(constant: str) -> float:
    raise AssertionError(f"{constant} is not JSON")


@pytest.fixture
def run_json(capsys: pytest.CaptureFixture[str]) -> Callable[..., dict[str, Any]]:
    """Runs a command with --json and returns the one object that it prints."""

    def run(*arguments: str) -> dict[str, Any]:
        cli.main([*arguments, "--json"])
        captured = capsys.readouterr()
        assert captured.out.count("\n") == 1
        return json.loads(captured.out, parse_constant=no_nan)

    return run


@pytest.fixture(scope="session")
def addition() -> tuple[str, ...]:
    """Settings that grok in well under a second, once compiled."""
    return ("n + m", "--modulus", "23", "--width", "96", "--fraction", "0.8", "--lr", "0.1", "--steps", "150")


@pytest.fixture(scope="session")
def grokked(tmp_path_factory: pytest.TempPathFactory, addition: tuple[str, ...]) -> Path:
    """A store with one run that grokked."""
    store = tmp_path_factory.mktemp("grokked")
    cli.main(["train", *addition, "--store", str(store)])
    return store
