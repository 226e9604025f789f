"""A lab with two tiny runs, in this process for requests and in its own for the browser."""

import asyncio
import json as json_module
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from modgrok.experiments import Experiment, Run, Store
from modgrok.lab.server import Lab

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PORT, TOKEN = 8642, "the-token"
TINY = Experiment("n + m", 13, 32, fraction=0.7, lr=0.1, steps=30, evaluations=12, snapshots=5)
PRODUCT = Experiment("n * m", 11, 24, fraction=0.7, lr=0.1, steps=20, evaluations=8, snapshots=0)


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, list[Run]]:
    """A store with a run of addition that kept snapshots, and one of multiplication that kept only its end."""
    from modgrok.experiments.trainer import train_all

    store = Store(tmp_path_factory.mktemp("trained"))
    return store, train_all([TINY, PRODUCT], store)


@pytest.fixture
def store(trained: tuple[Store, list[Run]], tmp_path: Path) -> Store:
    """A copy of that store."""
    shutil.copytree(trained[0].folder, tmp_path / "store")
    return Store(tmp_path / "store")


@dataclass(frozen=True)
class Answer:
    status_code: int
    headers: dict[str, str]
    content: bytes

    @property
    def text(self) -> str:
        return self.content.decode()

    def json(self) -> Any:
        return json_module.loads(self.content)


class Client:
    """A caller at one host; requests reach the application as written, nothing tidies their paths or headers."""

    def __init__(self, app: Any, host: str) -> None:
        self.app = app
        self.headers = {"host": host}

    def get(self, path: str, headers: dict[str, str] | None = None) -> Answer:
        return self.request("GET", path, headers)

    def post(self, path: str, json: Any = None, content: bytes | None = None) -> Answer:
        return self.request("POST", path, content=json_module.dumps(json).encode() if content is None else content)

    def request(self, method: str, path: str, headers: dict[str, str] | None = None, content: bytes = b"") -> Answer:
        return asyncio.run(self._request(method, path, self.headers | (headers or {}), content))

    async def _request(self, method: str, path: str, headers: dict[str, str], content: bytes) -> Answer:
        if method == "POST":
            headers = {"content-length": str(len(content))} | headers
        path, _, query = path.partition("?")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 1),
        }
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": content}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        head = {name.decode().lower(): value.decode() for name, value in sent[0]["headers"]}
        return Answer(sent[0]["status"], head, b"".join(message.get("body", b"") for message in sent[1:]))


@pytest.fixture
def bare(store: Store) -> Client:
    """A caller that does not know the token. The training process is not started."""
    return Client(Lab(store, PORT, TOKEN).app, f"127.0.0.1:{PORT}")


@pytest.fixture
def client(bare: Client) -> Client:
    """A caller that knows it."""
    bare.headers["x-modgrok-token"] = TOKEN
    return bare


class LabProcess:
    """`modgrok lab` as a person starts it."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        command = [sys.executable, "-c", "from modgrok.cli import main; main()", "lab", "--no-browser"]
        self.process = subprocess.Popen(
            [*command, "--port", str(port), "--store", str(folder)],
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONWARNINGS": "default"},
        )
        assert self.process.stderr is not None
        line = self.process.stderr.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/\?token=(\S+)", line)
        assert found, line + self.process.stderr.read()
        self.url, self.port, self.token = found[0], int(found[1]), found[2]

    def close(self) -> int:
        """Ctrl-C, and the exit code."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.stderr is not None
        self.process.stderr.read()
        return self.process.wait(30)


@pytest.fixture
def lab(store: Store) -> Iterator[LabProcess]:
    """A running lab on the copied store."""
    started = LabProcess(store.folder)
    yield started
    if started.process.poll() is None:
        started.close()
