"""Hostile requests to a running lab: foreign hosts, guessed tokens, odd methods, paths, bodies and framings, and stores
in which a run or a sweep lies.

Each gets its answer or a refusal, never status 500; none takes long, none takes the server with it, and nothing but the
token lets anyone in.
"""

import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import lying_files
from attack import PATIENCE, main, train

from modgrok.experiments import Experiment, Store
from modgrok.experiments.sweeps import Sweep
from modgrok.experiments.sweeps.record import Record

SEED = 12
SECONDS, GIGABYTES = 5.0, 1.0
"""No answer may take longer, nor the server more memory."""
PROGRAM = "from modgrok.cli import main; main()"
TABLE = "task,modulus,seed,run,status,grokked_at\nn+m,11,0,{run},finished,40\nn+m,11,1,,finished,\n"
DEEP = "[" * 30_000
LONG = "9" * 5000
REFUSED = range(400, 500)


class Lab:
    """A lab on a store, and raw requests to it."""

    def __init__(self, store: Path, run: str) -> None:
        self.store, self.run = store, run
        self.errors = store.parent / "stderr"
        with self.errors.open("w") as file:
            command = [sys.executable, "-c", PROGRAM, "lab", "--no-browser", "--port", "0", "--store", str(store)]
            self.process = subprocess.Popen(command, stderr=file)
        while not (found := re.search(r"127\.0\.0\.1:(\d+)/\?token=(\S+)", self.errors.read_text())):
            assert self.process.poll() is None, self.errors.read_text()
            time.sleep(0.05)
        self.port, self.token = int(found[1]), found[2]
        self.host = f"127.0.0.1:{self.port}"

    def head(self, method: str, path: str, **headers: str) -> str:
        """The head of a request that may pass, but for what is given."""
        fields = {"host": self.host, "x_modgrok_token": self.token, "connection": "close"} | headers
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
        return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""])

    def post(self, path: str, body: bytes, **headers: str) -> bytes:
        return self.head("POST", path, **{"content_length": str(len(body))} | headers).encode() + body

    def ask(self, request: bytes, whole: bool = True) -> tuple[int, float]:
        """The status of the answer, 0 where there is none, and the seconds that it took."""
        began = time.monotonic()
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            answer = b""
            try:
                connection.sendall(request)
                if not whole:
                    connection.shutdown(socket.SHUT_WR)
                while part := connection.recv(1 << 20):
                    answer = answer or part[:20]
            except OSError:
                pass  # The server may close before it has read all.
        found = re.match(rb"HTTP/1\.1 (\d+)", answer)
        return int(found[1]) if found else 0, time.monotonic() - began

    def gigabytes(self) -> float:
        """The most memory that the server has had."""
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{self.process.pid}/status").read_text())
        return int(found[1]) / 1e6 if found else 0.0

    def close(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)


class Case(NamedTuple):
    """A request, and what may be answered."""

    what: str
    request: bytes
    allowed: range | tuple[int, ...] = REFUSED
    whole: bool = True
    """Whether the server need not wait for more of it."""


def hosts(lab: Lab, chance: random.Random) -> Case:
    names = (
        "evil.example",
        "127.0.0.1",
        f"evil.example:{lab.port}",
        f"127.0.0.1.nip.io:{lab.port}",
        "[::1]",
        "",
        "\x7f",
    )
    name = chance.choice((*names, f"127.0.0.1:{lab.port + 1}", f"localhost:{lab.port}.evil", "a" * 5000))
    return Case(f"host {name[:40]!r}", lab.head("GET", chance.choice(("/", "/api/runs")), host=name).encode())


def tokens(lab: Lab, chance: random.Random) -> Case:
    given = chance.choice(("", "guess", lab.token[:-1], lab.token + "x", lab.token.swapcase(), "é", "\x00", "x" * 9000))
    cookie = chance.choice(("", f"modgrok-lab-{lab.port}={given}", f"modgrok-lab-1={lab.token}", "a=b; ;=,", ";" * 999))
    path = chance.choice((f"/?token={given}", "/", "/lab", "/api/state", "/api/events", "/static/main.js"))
    request = lab.head("GET", path, x_modgrok_token=given, cookie=cookie)
    return Case(f"token {given[:20]!r}, cookie {cookie[:30]!r}, {path[:20]}", request.encode("latin-1", "replace"))


def origins(lab: Lab, chance: random.Random) -> Case:
    name = chance.choice(
        ("http://evil.example", "null", f"https://{lab.host}", "http://127.0.0.1:1", "file://", "é" * 99)
    )
    request = lab.post(chance.choice(("/api/stop", "/api/train")), b"{}", origin=name)
    return Case(f"origin {name[:40]}", request)


def methods(lab: Lab, chance: random.Random) -> Case:
    method = chance.choice(("DELETE", "PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "G" * 3000, "POST", "\x00"))
    path = chance.choice(("/", "/lab", "/api/state", "/api/runs", f"/api/runs/{lab.run}", "/static/main.js", "*"))
    return Case(f"{method[:20]!r} {path}", lab.head(method, path, content_length="0").encode())


def paths(lab: Lab, chance: random.Random) -> Case:
    way = chance.choice(
        ("../", "..%2f", "%2e%2e/", "..%5c", "..\\", "%252e%252e%252f", "/", "%2f", "....//", "%c0%ae%c0%ae/", "%00")
    )
    room = chance.choice(("/static/", "/api/runs/", "/api/sweeps/", "/", f"/api/runs/{lab.run}/frames/", "//"))
    path = (
        room
        + way * chance.choice((1, 2, 9))
        + chance.choice(("etc/passwd", "server.py", "lock", "", "%0a", "x" * 9000))
    )
    found = lab.head("GET", path).encode()
    return Case(f"path {path[:60]}", found, (*REFUSED, 200) if path.strip("/") == "" else REFUSED)


def bodies(lab: Lab, chance: random.Random) -> Case:
    odd = (
        "null",
        '"text"',
        "[]",
        "{}",
        "true",
        "-1",
        "1.5",
        "1e999",
        "NaN",
        "-Infinity",
        LONG,
        "9" * 19,
        '"' + "n+" * 9000,
    )
    odd = (
        *odd,
        DEEP,
        '{"a":' * 9000,
        '"\\ud800"',
        '"\\u0000"',
        '""',
        '"n*"',
        '"/etc/passwd"',
        '"table:x"',
        '"group:S99"',
    )
    fields = (
        "task",
        "modulus",
        "width",
        "steps",
        "lr",
        "fraction",
        "seed",
        "snapshots",
        "parent",
        "network",
        "optimizer",
    )
    fields = (*fields, "activation", "examples", "heads", "depth", "measures", "until", "batch_size", "__class__", "")
    settings = {"task": "n + m", "modulus": 5, "width": 4, "steps": 2} | {chance.choice(fields): "PLACE"}
    text = json.dumps(settings).replace('"PLACE"', chance.choice(odd))
    body = chance.choice((text, text, text, text, chance.choice(odd))).encode()
    if chance.random() < 0.2:
        body = body[: chance.randrange(len(body) + 1)] + chance.randbytes(chance.choice((1, 300)))
    path = chance.choice(("/api/check", "/api/train"))
    return Case(f"{path}, {body[:90]!r}", lab.post(path, body), (200, *REFUSED))


def framings(lab: Lab, chance: random.Random) -> Case:
    body = b'{"task": "' + b"n" * 200_000 + b'"}'
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body, b"")) + b"\r\n"
    small = b'{"task": "n + m"}'
    kinds: dict[str, Callable[[], bytes]] = {
        "chunks": lambda: lab.head("POST", "/api/check", transfer_encoding="chunked").encode() + chunks,
        "chunks and a length": lambda: (
            lab.head("POST", "/api/check", transfer_encoding="chunked", content_length="9").encode() + chunks
        ),
        "two lengths": lambda: lab.post("/api/check", small).replace(b"\r\n\r\n", b"\r\nContent-Length: 3\r\n\r\n"),
        "a length below the truth": lambda: lab.post("/api/check", body, content_length="9"),
        "a length above the truth": lambda: lab.post("/api/check", small, content_length="60000"),
        "a length below zero": lambda: lab.post("/api/check", small, content_length="-1"),
        "a length of words": lambda: lab.post("/api/check", small, content_length="ten"),
        "a length of 5000 digits": lambda: lab.post("/api/check", small, content_length=LONG),
        "a body too long": lambda: lab.post("/api/check", body),
        "a header too long": lambda: lab.head("GET", "/", x="y" * 200_000).encode(),
        "a thousand headers": lambda: lab.head("GET", "/nothing", **{f"x{k}": "y" for k in range(1000)}).encode(),
        "half a head": lambda: lab.head("GET", "/").encode()[:30],
        "no head": lambda: b"",
        "another protocol": lambda: b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "a handshake": lambda: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + chance.randbytes(500),
        "noise": lambda: chance.randbytes(2000),
        "a header within a header": lambda: lab.head("GET", "/nothing", x="y\r\nHost: evil.example").encode(),
        "an upgrade": lambda: lab.head("GET", "/nothing", connection="Upgrade, close", upgrade="websocket").encode(),
    }
    name = chance.choice(list(kinds))
    cut = name in ("a length above the truth", "half a head", "no head", "a handshake", "noise")
    below = name in ("a length below the truth", "a header within a header")
    return Case(name, kinds[name](), (0, *REFUSED) if cut else (200, *REFUSED) if below else REFUSED, not cut)


def names(lab: Lab, chance: random.Random) -> Case:
    words = (
        "0123456789ab",
        "lock",
        ".",
        "%00",
        "%0a",
        "%ff",
        "%F0%9F%A6%8A",
        "a" * 5000,
        "sweeps",
        "tables",
        "damaged",
    )
    run = chance.choice((*words, lab.run.upper(), lab.run[:-1], f"{lab.run}%00", f"{lab.run}@60"))
    rest = chance.choice(("", "/frames/0", "/measures/0", "/theory/exact", "/replay", "/frames", "/nothing"))
    return Case(f"run {run[:30]}{rest}", lab.head("GET", f"/api/runs/{run}{rest}").encode())


def steps(lab: Lab, chance: random.Random) -> Case:
    number = chance.choice((LONG, "-1", "1.5", "1e3", "%D9%A3", "7", "999999999999", "NaN", "", "0x0", "+0"))
    what = chance.choice(("frames", "measures"))
    return Case(f"{what} of step {number[:20]}", lab.head("GET", f"/api/runs/{lab.run}/{what}/{number}").encode())


def queries(lab: Lab, chance: random.Random) -> Case:
    numbers = ("0", "-1", "99999999", LONG, "%D9%A3", "nan", "", "1.5")
    change = f"{chance.choice(('neuron', 'frequency', 'top', 'closed', 'waves', 'snap', 'x'))}:{chance.choice(numbers)}"
    changes = ",".join([change] * chance.choice((1, 2, 31, 33, 5000)))[:50_000]
    options = {
        f"/api/runs/{lab.run}/frames/0": f"changes={changes}&coordinate={chance.choice(('raw', 'task', 'odd', LONG))}",
        f"/api/runs/{lab.run}/theory/{chance.choice(('exact', 'waves', 'odd', LONG))}": f"coordinate={LONG[:99]}",
        "/api/sweeps/abc/map": f"x={chance.choice(('seed', 'run', 'odd', ''))}&y={LONG}&outcome=grokked_at",
        f"/api/sweeps/{chance.choice(('abc', 'odd', LONG))}": "x=" + "%00" * 999,
    }
    path = chance.choice(list(options))
    request = lab.head("GET", f"{path}?{options[path]}").encode()
    return Case(f"{path[:50]}?{options[path][:60]}", request, (200, *REFUSED))


def lies(lab: Lab, chance: random.Random) -> Case:
    """One file of the store says something else, under a digest that fits or not, or is no file."""
    folder = lab.store / lab.run
    kind = chance.choice(("json", "curves", "network", "sweep", "noise", "noise", "special"))
    if kind in ("json", "curves"):
        lie = lying_files.lie_in_json if kind == "json" else lying_files.lie_in_curves
        what = lie(lab.store, lab.run, chance)
    elif kind == "network":
        what = lying_files.lie_as_network(folder, chance.choice(list(lying_files.NETWORKS)))
    elif kind == "sweep":
        what = chance.choice(
            ("", "\0", "x" * 200_000, "run\n" + "1" * 5000, "a,a,run,status\n1\n1,2,3,4,5,6,7\n", "é,run\nnan,")
        )
        (lab.store / "sweeps" / "abc" / "table.csv").write_text(what, encoding="latin-1")
        what = f"table {what[:20]!r}"
    else:
        path = chance.choice([path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "lock"])
        what = f"{path.name}, {kind}"
        path.unlink()
        if kind == "noise":
            path.write_bytes(chance.choice((b"", chance.randbytes(3000), b"[" * 50_000, b"NaN", b"{}", b"\xff" * 9)))
        else:
            _special(path, chance)
    run = f"/api/runs/{lab.run}"
    places = ("", "/frames/0", "/frames/60", "/measures/60", "/theory/exact", "/theory/waves", "/replay")
    places = ("/api/runs", "/api/sweeps", *(run + place for place in places))
    if kind == "sweep":
        places = ("/api/sweeps", "/api/sweeps/abc", "/api/sweeps/abc/map?x=seed&y=&outcome=grokked_at")
    path = chance.choice(places)
    if "/frames/" in path:
        path += f"?changes=neuron:{chance.randrange(16)}"  # What was asked before is remembered.
    return Case(f"{what}; {path.replace(run, '…')}", lab.head("GET", path).encode(), (200, *REFUSED))


def _special(path: Path, chance: random.Random) -> None:
    kind = chance.choice(("folder", "loop", "endless", "pipe"))
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(path if kind == "loop" else "/dev/zero")


KINDS = (hosts, tokens, origins, methods, paths, bodies, bodies, framings, names, steps, queries, lies, lies, lies)


def attack(cases: int) -> dict[str, Any]:
    chance, outcomes, failures, slowest = random.Random(SEED), Counter[str](), list[str](), 0.0
    with running_lab() as (lab, original):
        healthy = lab.head("GET", f"/api/runs/{lab.run}").encode()
        for number in range(cases):
            kind = KINDS[number % len(KINDS)]
            case = kind(lab, chance)
            status, seconds = lab.ask(case.request, case.whole)
            slowest = max(slowest, seconds)
            outcomes["answered" if status == 200 else "refused" if status else "left_without_an_answer"] += 1
            wrong = [] if status in case.allowed else [f"status {status}"]
            wrong += [f"{seconds:.1f} s"] if seconds > SECONDS else []
            if kind is lies:
                shutil.rmtree(lab.store / lab.run)
                shutil.copytree(original, lab.store, dirs_exist_ok=True)
            after, _ = lab.ask(healthy)
            wrong += [] if after == 200 else [f"afterwards a good request got {after}"]
            failures += [f"case {number}, {kind.__name__}, {case.what}: {reason}" for reason in wrong]
        gigabytes, code, said = lab.gigabytes(), lab.close(), lab.errors.read_text()
    failures += [f"{gigabytes:.1f} GB of memory"] if gigabytes > GIGABYTES else []
    failures += [f"exit code {code}"] if code != 128 + signal.SIGTERM else []
    failures += [f"it said {said[-2000:]}"] if "Traceback" in said else []
    return {
        "cases": cases,
        **outcomes,
        "slowest": f"{slowest:.1f} s",
        "memory": f"{gigabytes:.1f} GB",
        "failures": failures,
    }


@contextmanager
def running_lab() -> Iterator[tuple[Lab, Path]]:
    """A lab on a store with a run and a sweep, and a copy of that store."""
    with tempfile.TemporaryDirectory() as folder:
        original, place = Path(folder) / "original", Path(folder) / "store"
        run, _ = train(Store(original))
        Record(Sweep(Experiment("n + m", 11), ["seed=0:3"]), Store(original)).begin()
        sweep = original / "sweeps" / "abc" / "table.csv"
        sweep.parent.mkdir()
        sweep.write_text(TABLE.format(run=run.id))
        shutil.copytree(original, place)
        lab = Lab(place, run.id)
        try:
            yield lab, original
        finally:
            lab.process.kill()
            lab.process.wait()


if __name__ == "__main__":
    main("hostile requests to a running lab", attack, 200)
