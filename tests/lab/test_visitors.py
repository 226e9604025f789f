"""Connections of strangers, on real sockets: silent ones are closed, and a flood of them starves nobody."""

import asyncio
import contextlib
import http.client
import resource
import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from modgrok.lab import visitors
from modgrok.lab.visitors import Visitors

HANDLES = 120
FLOOD = 300


def ask(lab: Any, path: str, token: str | None) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", lab.port, timeout=600)
    headers = {} if token is None else {"x-modgrok-token": token}
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


@pytest.fixture
def few_handles() -> Iterator[None]:
    """Programs started meanwhile have few file handles."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (HANDLES, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_flood_of_silent_connections_starves_nobody(few_handles: None, lab_process: Any, tmp_path: Path) -> None:
    lab = lab_process(tmp_path)
    resource.setrlimit(resource.RLIMIT_NOFILE, (4 * FLOOD, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    silent = []
    for number in range(FLOOD):
        silent.append(socket.create_connection(("127.0.0.1", lab.port), timeout=600))
        if number % 3 == 0:
            silent[-1].sendall(b"GET /api/state HTTP/1.1\r\nHost: 127")
        if number % 50 == 49:
            assert ask(lab, "/api/state", lab.token) == 200
            assert ask(lab, "/lab", None) == 200
    # Whether it was turned out for others or for being silent, each is closed by the server, and not by this end.
    for connection in silent:
        with connection, contextlib.suppress(ConnectionResetError):
            assert connection.recv(1) == b""
    assert ask(lab, "/api/runs", lab.token) == 200
    code, said = lab.close()
    assert code == 130
    assert "accept" not in said
    assert len(said.splitlines()) < 10


class Transport:
    """As much of a connection as is needed to close it."""

    def __init__(self) -> None:
        self.open = True

    def abort(self) -> None:
        self.open = False


def enter(inside: Visitors, port: int) -> Transport:
    transport = Transport()
    inside.accepted += 1
    inside.enter(("127.0.0.1", port), transport)  # type: ignore[arg-type]
    return transport


def test_who_has_shown_the_token_is_not_turned_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visitors, "ROOM", 3)
    clock = SimpleNamespace(call_later=lambda *_: SimpleNamespace(cancel=lambda: None))
    monkeypatch.setattr(asyncio, "get_running_loop", lambda: clock)
    inside = Visitors()
    known, older, newer = (enter(inside, port) for port in range(3))
    inside.recognize(("127.0.0.1", 0))
    inside.hear(("127.0.0.1", 1))
    assert not inside.make_room()
    assert (known.open, older.open, newer.open) == (True, True, False)
    inside.leave(("127.0.0.1", 2))
    assert inside.make_room()
    inside.recognize(("127.0.0.1", 1))
    inside.accepted += 1
    assert not inside.make_room()  # one is on its way in
    inside.enter(("127.0.0.1", 4), Transport())  # type: ignore[arg-type]
    inside.recognize(("127.0.0.1", 4))
    assert inside.make_room()  # all are known
