"""The code in the documentation runs, or says why it does not."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "README.md",
    *(ROOT / "docs" / f"{name}.md" for name in ("index", "story", "clusters", "extending", "lecturers", "reviewers")),
    *sorted((ROOT / "docs" / "how-to").glob("*.md")),
]


def test_code_of_pages() -> None:
    """In one process, which imports JAX once."""
    usual = {name: value for name, value in os.environ.items() if not name.startswith("JAX_NUMPY_")}
    usual |= {"PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg"}
    script = Path(__file__).with_name("pages.py")
    ran = subprocess.run([sys.executable, script, *PAGES], capture_output=True, text=True, env=usual)
    assert ran.returncode == 0, ran.stderr
    failures = json.loads(ran.stdout)
    assert not failures, "\n".join(f"{page}: {failure}" for page, failure in failures.items())


def test_every_public_name_has_an_example_that_runs(tmp_path: Path) -> None:
    import modgrok as mg

    example = ROOT / "docs" / "api_examples.py"
    headed = re.findall(r"^# ([\w.]+)$", example.read_text(), re.MULTILINE)
    assert sorted(headed) == sorted([*{*mg.__all__} - {"plot"}, *(f"plot.{name}" for name in mg.plot.__all__)])
    usual = {name: value for name, value in os.environ.items() if not name.startswith("JAX_NUMPY_")}
    usual |= {"PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "agg"}
    ran = subprocess.run([sys.executable, example], cwd=tmp_path, capture_output=True, text=True, env=usual)
    assert ran.returncode == 0, ran.stderr


def test_completion_in_bash() -> None:
    page = (ROOT / "docs" / "how-to" / "command-line.md").read_text()
    [script] = re.findall(r"```bash\n(.*?)```", page, re.DOTALL)

    def completed(*words: str) -> list[str]:
        typed = " ".join(f"'{word}'" for word in words)
        call = f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _modgrok; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        here = f'modgrok() {{ {shlex.quote(sys.executable)} -m modgrok "$@"; }}\n{script}\n{call}'
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
        return subprocess.run(["bash", "-c", here], capture_output=True, text=True, env=environment).stdout.split()

    assert completed("modgrok", "so") == ["solve"]
    assert set(completed("modgrok", "classify", "--mod")) == {"--modulus"}


def test_version_is_said_once_and_the_same() -> None:
    import modgrok

    for name in ("CITATION.cff", "docs/citing.md"):
        assert modgrok.__version__ in (ROOT / name).read_text(), name
