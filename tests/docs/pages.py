"""Runs the code of the pages named on the command line, all in this process, and prints what failed as JSON.

Python blocks of a page share a namespace. Console blocks run by the command line of this package. A block after a
comment `<!-- not run: REASON -->` is compiled, or its flags are parsed, and no more. Training is cut to a few steps.
"""

import contextlib
import importlib
import io
import json
import re
import shlex
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

BLOCK = re.compile(
    r"(?:<!-- not run: (?P<reason>[^\n]+?) -->\n)?```(?P<kind>python|console)\n(?P<code>.*?)```", re.DOTALL
)


STEPS = re.compile(r"(steps=|--steps )([0-9][0-9_]*)\b")
MOST_STEPS = 20
"""Longer training than this is cut: that the code runs is what is looked at."""


def _fewer(given: re.Match[str]) -> str:
    return f"{given[1]}{min(int(given[2]), MOST_STEPS)}"


class Parsed(Exception):
    """The flags were understood."""


def run_page(path: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in BLOCK.finditer(STEPS.sub(_fewer, path.read_text())):
        only_checked = block["reason"] is not None
        if block["kind"] == "python":
            code = compile(block["code"], f"{path.name}: {block['code'].splitlines()[0]}", "exec")
            if not only_checked:
                exec(code, names)
            continue
        for line in block["code"].splitlines():
            if line.startswith("$ "):
                run_command(shlex.split(line[2:], comments=True), only_checked)


def run_command(words: list[str], only_checked: bool) -> None:
    words = words[2:] if words[:2] == ["python", "-m"] else words
    if words[0] != "modgrok":
        if not only_checked:
            raise ValueError(f"{words[0]} is no command of this package; say why it is not run")
        return
    if not only_checked or len(words) == 1:
        from modgrok.cli import main

        return main(words[1:])
    module: Any = importlib.import_module(f"modgrok.commands.{words[1]}")
    real = module.parse

    def parse(*given: Any) -> None:
        real(*given)
        raise Parsed

    module.parse = parse
    try:
        module.main(words[2:])
    except Parsed:
        return
    finally:
        module.parse = real
    raise ValueError(f"{shlex.join(words)} was not parsed")


def main() -> None:
    failures = {}
    for page in map(Path, sys.argv[1:]):
        place = tempfile.mkdtemp()
        try:
            with contextlib.chdir(place), contextlib.redirect_stdout(io.StringIO()):
                run_page(page)
        except (Exception, SystemExit):
            failures[page.name] = traceback.format_exc()
    print(json.dumps(failures))


if __name__ == "__main__":
    main()
