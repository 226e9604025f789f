"""The command line: one module of `modgrok.commands` for each command, imported only when it is called."""

import atexit
import codecs
import errno
import gc
import importlib
import io
import os
import shlex
import sys
from collections.abc import Sequence
from difflib import get_close_matches

from modgrok import __version__, signals
from modgrok.errors import ModgrokError

COMMANDS = {
    "classify": "find the structure of a modular function, and its closed form, from its table",
    "solve": "write down the weights that compute a modular function, and score them",
    "train": "train a network on a modular function until it groks, and store the run",
    "analyze": "take a trained network apart: frequencies, phases, cleaning, distance to the closed form",
    "film": "write a run as an animated picture",
    "runs": "list, show, name, export, pack, replay and remove stored runs",
    "sweep": "train all combinations of settings, here or on a Ray cluster, into one table",
    "critical": "estimate how much of its table a task needs before a network groks, with an interval",
    "landscape": "train many functions, and compare which ones generalize with their structure",
    "reproduce": "train, draw and judge every figure and claim of the paper, and write the report",
    "lab": "open a local page where you watch networks train and take them apart",
    "bench": "time training on this machine, against its bare matrix products",
    "doctor": "check this installation: versions, devices, store, permissions",
}

OTHERS = {"inspect": "analyze", "analyse": "analyze", "list": "runs", "run": "train", "plot": "film"}
"""Commands that are looked for under other names."""

USAGE = """usage: modgrok COMMAND [options]      (modgrok COMMAND --help explains each)

Grokking modular arithmetic (Gromov 2023), runnable: a two-layer network memorizes part of a table
over Z_p, then suddenly finds the rule behind it. Or you write its weights down without training.

commands:
{commands}

examples:
{examples}
"""

EXAMPLES = (
    'modgrok classify "n^2 + 2*n*m + m^2" --modulus 97',
    'modgrok solve "n + m" --modulus 97 --form exact',
    'modgrok train "n + m" --modulus 97 --lr 0.3 --steps 300',
    "modgrok analyze last --figure network.png",
    'modgrok sweep "n + m" --modulus 31 --width 128 --vary fraction=0.4:0.9:0.1 --vary seed=0:5',
    "modgrok reproduce --only fig2",
)

START = """modgrok {version}: a laboratory for grokking modular arithmetic.

{found}"""
FIRST = (
    ('modgrok train "n + m" --modulus 97 --lr 0.3 --steps 300', "watch a network grok"),
    ('modgrok solve "n + m" --modulus 97 --width 2', "write the weights down instead"),
    ("modgrok lab", "both on a local page"),
    ("modgrok --help", "every command"),
)
LATER = (
    ("modgrok analyze last", "what the latest run has learned"),
    ("modgrok film last", "an animated picture of it"),
    ("modgrok runs list", "all runs here"),
    ("modgrok lab", "runs on a local page"),
    ("modgrok --help", "every command"),
)
FOLLOWING = {
    "classify": "modgrok solve {arguments}",
    "solve": "modgrok train {task}",
    "analyze": "modgrok film {task}",
    "film": "modgrok lab",
    "critical": "modgrok landscape --modulus 23",
    "landscape": 'modgrok classify "n^2 + m^2 + n*m" --modulus 23',
    "reproduce": "modgrok lab --store reproduction/runs",
    "lab": "modgrok runs list",
    "bench": 'modgrok train "n + m" --modulus 97',
    "doctor": "modgrok bench",
}
"""What usually comes after a command; those that are not here say it themselves, of what they made."""

YOUNG_OBJECTS = 500_000
"""New objects after which the program looks for garbage: what it imports and traces is none, and looking there took a
twentieth of a short command's time."""


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point: exit code 0, or 2 with one sentence on stderr for a request that cannot be fulfilled.

    Without arguments it is the program itself, which ends with one sentence when a signal asks for it, and with 128
    and the signal's number.
    """
    if argv is not None:
        return _answer(argv)
    signals.Process.is_program = True
    gc.set_threshold(YOUNG_OBJECTS)
    # What is imported need not be searched for garbage at the end: without this JAX takes 0.8 s longer to leave.
    atexit.register(gc.freeze)
    signals.catch(signals.end_at_once)
    codecs.register_error("spelled", _spell)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="spelled")  # For terminals that cannot show α.
    try:
        _answer(sys.argv[1:])
    except BaseException as ended:
        asked = signals.Process.received
        if asked and (not isinstance(ended, SystemExit) or ended.code == 128 + asked):
            signals.end(128 + asked, "" if isinstance(ended, SystemExit) else "interrupted.")
        raise


def _spell(error: UnicodeError) -> tuple[str, int]:
    from modgrok.text import in_ascii

    assert isinstance(error, UnicodeEncodeError)
    return in_ascii(error.object[error.start : error.end]), error.end


def _answer(argv: Sequence[str]) -> None:
    name, *rest = list(argv) or [""]
    try:
        _dispatch(name, rest)
        sys.stdout.flush()
    except ModgrokError as error:
        from modgrok.text import printable

        print(f"modgrok: {printable(str(error))}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("modgrok: interrupted.", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO):
            raise
        # Nothing can be said on stdout any more, also not what is left in its memory.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"modgrok: The output could not be written: {error.strerror}.", file=sys.stderr)
        sys.exit(2)


def _dispatch(name: str, rest: list[str]) -> None:
    if not name:
        print(START.format(version=__version__, found=_suggested()))
        return
    if name in ("-h", "--help", "help"):
        commands = "\n".join(f"  {command:<10} {summary}" for command, summary in COMMANDS.items())
        print(USAGE.format(commands=commands, examples="\n".join(f"  {example}" for example in EXAMPLES)))
        return
    if name in ("-V", "--version"):
        print(f"modgrok {__version__}")
        return
    if name not in COMMANDS:
        close = [OTHERS[name]] if name in OTHERS else get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"the commands are {', '.join(COMMANDS)}."
        raise ModgrokError(f"There is no command {name!r}; {hint}")
    importlib.import_module(f"modgrok.commands.{name}").main(rest)
    if name in FOLLOWING and sys.stderr.isatty() and "--json" not in rest:
        print(f"Next: {_following(name, rest)}", file=sys.stderr)


def _suggested() -> str:
    """What to do first in a folder without runs, and what with them in one that has some."""
    store = os.environ.get("MODGROK_STORE") or "runs"
    commands = LATER if os.path.isdir(store) and os.listdir(store) else FIRST
    width = max(len(command) for command, _ in commands)
    return "\n".join(f"  {command:<{width}}  {words}" for command, words in commands)


def _following(name: str, rest: list[str]) -> str:
    """The command that usually comes next, with what this one was asked about."""
    task = [word for word in rest[:1] if not word.startswith("-")]
    places = [i for i, word in enumerate(rest) if word == "--modulus"]
    chosen = task + (rest[places[0] : places[0] + 2] if places and name == "solve" else [])
    return FOLLOWING[name].format(arguments=shlex.join(rest), task=shlex.join(chosen or ["last"]))
