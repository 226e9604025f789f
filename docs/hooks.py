"""What MkDocs does not do by itself: pages from the sources, and mathematics typeset while the site is built.

Tutorials are the notebooks in `examples` with the outputs they were committed with; the settings are those of
`Experiment`, the commands those of the command line, the API is `modgrok.__all__`, and every paper with a committed
report has a page. TeX becomes MathML, which browsers draw themselves, in the font that comes with ziamath.
"""

import contextlib
import dataclasses
import html
import importlib
import inspect
import io
import json
import os
import re
import typing
from pathlib import Path
from typing import Any

import ziamath
from latex2mathml.converter import convert
from mkdocs.structure.files import File

from modgrok.experiments.experiment import known_settings
from modgrok.setting import described

ROOT = Path(__file__).parents[1]
NOTEBOOKS = (
    "fifteen_lines",
    "train_and_look_inside",
    "write_a_solution_down",
    "from_zp_to_s5",
    "find_the_critical_fraction",
    "bring_your_own_network",
    "sweep_on_a_cluster",
    "add_an_architecture",
)
API = {
    "Train": "train train_all load runs pack unpack replay Experiment Run Store Observer record",
    "Tasks": "task classify Task Split Structure",
    "Networks": "solve two_layer Network Architecture predictions score score_table Score",
    "Many runs": "sweep critical landscape Sweep run_sweep",
    "Measures": "analyze Analysis GroupAnalysis Overview neuron_waves power_spectrum average_ipr "
    "grokked_at memorized_at distance_to_closed_form",
    "Papers": "reproduce_paper",
    "Errors": "ModgrokError Interrupted",
}
HELP_COLUMNS = "92"
"""Width of help on the page of commands."""
MODULES = ("plot",)
"""Names of the package that are modules; their pictures are listed apart."""
TEX = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
TAG = re.compile(r"\\tag\{([^}]*)\}")
BLACKBOARD = re.compile(r"\\mathbb ([A-Z])")
NAMED = "<mi>(?:cos|sin|log|dim|exp)</mi>"
SPACED = re.compile(
    rf"({NAMED}|<msup>{NAMED}<mn>2</mn></msup>)(?=<m(?:i|n|sub|sup|frac)\b)"
    rf"|(</m(?:i|n|sub|sup|frac|style)>|&#x00029;</mo>)(?={NAMED}|<msup>{NAMED})"
)
"""A function's name right before its argument, or right behind a factor; the converter leaves out the space there."""
OUTSIDE = re.compile(r"\[([^\]]+)\]\(((?:\.\./)+[^)#]+)\)")


def on_config(config: Any) -> Any:
    """The parts of the navigation that depend on what there is."""
    papers = [
        "reproduction/README.md",
        *(str(path.relative_to(ROOT / "docs")) for path in _reports()),
        "reproduction/THRESHOLDS.md",
    ]
    made = {"Tutorials": [f"tutorials/{name}.md" for name in NOTEBOOKS], "Reproduction": papers}
    for part in config.nav:
        for title in part.keys() & made.keys():
            part[title] = made[title]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages that are made from the sources."""
    pages = {
        "reference/settings.md": settings(),
        "reference/commands.md": commands(),
        "reference/api.md": api(),
        **{f"tutorials/{name}.md": tutorial(ROOT / "examples" / f"{name}.ipynb") for name in NOTEBOOKS},
    }
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    font = Path(ziamath.__file__).parent / "fonts" / "STIXTwoMath-Regular.ttf"
    files.append(File.generated(config, "fonts/STIXTwoMath-Regular.ttf", abs_src_path=str(font)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Files of the repository that are not on the site are named instead of linked; notebooks are tutorials here."""
    depth = page.file.src_uri.count("/")

    def name(match: re.Match[str]) -> str:
        text, target = match.groups()
        if target.count("../") <= depth:
            return match.group(0)
        path = target.replace("../", "")
        if path.startswith("examples/") and path.endswith(".ipynb"):
            return f"[{text}]({'../' * depth}tutorials/{Path(path).stem}.md)"
        return f"`{path}`" if path in text else f"{text} (`{path}`)"

    return OUTSIDE.sub(name, markdown)


def on_page_content(content: str, **_: Any) -> str:
    """TeX to MathML."""
    return TEX.sub(lambda match: mathml(html.unescape(match.group(3)), match.group(2) == "["), content)


def mathml(tex: str, display: bool) -> str:
    """A formula; its number, where it has one, stands behind it."""
    number = TAG.search(tex)
    tex = tex.replace("{aligned}", "{align*}")
    plain = BLACKBOARD.sub(r"\\mathbb{\1}", TAG.sub("", tex)).replace("…", r"\ldots ")
    if number:
        plain = rf"{plain}\qquad ({number.group(1)})"
    return SPACED.sub(r'\g<0><mspace width="0.17em"/>', convert(plain, display="block" if display else "inline"))


def tutorial(path: Path) -> str:
    """A notebook as a page, with its outputs."""
    parts = []
    for cell in json.loads(path.read_text())["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        parts += [_output(output) for output in cell["outputs"]]
    return "\n\n".join([*parts, f"*This page is the notebook* `examples/{path.name}`.\n"])


def _output(output: dict[str, Any]) -> str:
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "image/png" in data:
        picture = "".join(data["image/png"]).replace("\n", "")
        return f'<img alt="The figure that this cell draws" src="data:image/png;base64,{picture}">'
    if "text/html" in data:
        return "".join(data["text/html"])
    text = "".join(data["text/plain"]).rstrip()
    return f'<div class="output" markdown>\n\n```text\n{text}\n```\n\n</div>'


def _reports() -> list[Path]:
    folder = ROOT / "docs" / "reproduction"
    return sorted(folder.glob("*/report.md"), key=lambda path: (path.parent.name != "gromov2023", path))


def settings() -> str:
    """Every setting of an experiment."""
    from modgrok.commands.help import headings

    lines = [
        "# Settings",
        "",
        "Every setting of an experiment: a keyword of `mg.train`, a flag of `modgrok train` (`weight_decay` is "
        "`--weight-decay`), a name on the axes of a sweep and in a sweep's file. A setting that is given and read by "
        "nobody is an error.",
        "",
    ]
    known, groups = known_settings(), headings()
    for heading in dict.fromkeys(groups.values()):
        lines += [f"## {heading.capitalize()}", "", "| setting | type | default | meaning |", "|---|---|---|---|"]
        lines += [_row(one) for one in known.values() if groups[one.name] == heading]
        lines.append("")
    return "\n".join(lines)


def _row(one: Any) -> str:
    meaning, default = described(one.help, one.default)
    required = "required" if one.default is dataclasses.MISSING else default
    return f"| `{one.name}` | {_kind(one.type)} | {required} | {meaning} |"


def _kind(hint: Any) -> str:
    """A type in words: the names that a setting may have, or what kind of value it is."""
    arguments = [argument for argument in typing.get_args(hint) if argument is not type(None)]
    if typing.get_origin(hint) is typing.Literal:
        return ", ".join(f"`{name}`" for name in arguments)
    if typing.get_origin(hint) is tuple:
        return "names"
    if arguments:
        return ", ".join(_kind(argument) for argument in arguments)
    return {int: "whole number", float: "number", str: "text", bool: "flag"}[hint]


def commands() -> str:
    """The commands with their flags, and examples."""
    from modgrok.cli import COMMANDS, EXAMPLES
    from modgrok.commands import runs

    rows = "\n".join(f"| `modgrok {name}` | {summary} |" for name, summary in COMMANDS.items())
    examples = "\n".join(f"$ {example}" for example in EXAMPLES)
    parts = [*COMMANDS, *(f"runs {name}" for name in runs.COMMANDS), "sweep show", "sweep list"]
    helps = "\n\n".join(f"## modgrok {part}\n\n```text\n{_help(part)}\n```" for part in sorted(parts))
    return (
        "# Commands\n\n`modgrok COMMAND --help` prints what stands here; `python -m modgrok` is the same "
        f"program.\n\n| command | what it does |\n|---|---|\n{rows}\n\n```console\n{examples}\n```\n\n"
        "Results go to stdout, progress and remarks to stderr; `--json` prints one JSON object. The exit code is 0, 1 "
        "where some runs of many failed, 2 with one sentence where a request cannot be fulfilled, and 128 and the "
        f"signal's number where one ended it.\n\n{helps}\n"
    )


def _help(command: str) -> str:
    """What a command prints when it is asked for help."""
    from modgrok import cli

    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        os.environ["COLUMNS"] = HELP_COLUMNS
        cli.main([*command.split(), "--help"])
    return text.getvalue().rstrip()


def api() -> str:
    """The names of the package, from their docstrings."""
    import modgrok
    from modgrok import plot

    listed = {name for names in API.values() for name in names.split()} | set(MODULES)
    others = [name for name in modgrok.__all__ if name not in listed]
    examples = _examples()
    parts = [
        "# Python API",
        "Everything here is imported with `import modgrok as mg`. The examples share their variables; "
        "`docs/api_examples.py` runs all of them in order.",
    ]
    for title, names in (API | ({"Others": " ".join(others)} if others else {})).items():
        parts += [f"## {title}", *(_shown(getattr(modgrok, name), name, examples[name]) for name in names.split())]
    parts += [
        "## Pictures",
        "`mg.plot.NAME`: each takes `ax=` and returns the axes it drew on, unless it says a figure.",
    ]
    parts += [_shown(getattr(plot, name), name, examples[f"plot.{name}"]) for name in plot.__all__]
    return "\n\n".join(parts) + "\n"


def _examples() -> dict[str, str]:
    """The code of docs/api_examples.py by the name it stands under."""
    _, *parts = re.split(r"^# ([\w.]+)\n", (ROOT / "docs" / "api_examples.py").read_text(), flags=re.MULTILINE)
    return {name: code.strip() for name, code in zip(parts[::2], parts[1::2], strict=True)}


def _entry(thing: Any, name: str) -> str:
    home = thing.__module__
    found = getattr(importlib.import_module(home), thing.__name__)
    if found is not thing:
        raise ValueError(f"{name} is not where it says, in {home}")
    return f"::: {home}.{thing.__name__}{_keywords(thing)}"


def _shown(thing: Any, name: str, example: str) -> str:
    return f"{_entry(thing, name)}\n\n```python\n{example}\n```"


def _keywords(thing: Any) -> str:
    """The settings that a function takes beside what its source names, with their defaults."""
    if not hasattr(thing, "__signature__"):
        return ""
    named = inspect.signature(thing).parameters.values()
    own = [one for one in named if one.name in known_settings() and one.default is not one.empty]
    listed = ", ".join(f"`{one.name}={one.default!r}`" for one in own)
    return f"\n\n<details markdown><summary>All settings as keywords</summary>\n\n{listed}\n\n</details>"
