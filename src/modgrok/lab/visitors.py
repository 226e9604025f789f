"""Connections to the lab: those that have not shown the token are strangers, few, and soon closed when they are silent.

Whoever opens hundreds of connections and says nothing takes neither the file handles of this process nor its log.
"""

import asyncio
import socket
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

PATIENCE_SECONDS = 10.0
"""How long a stranger may be silent."""
ROOM = 48
"""Connections at a time; a browser has six to one server."""

Peer = tuple[str, int]


class Visitors:
    """The open connections of one server."""

    def __init__(self) -> None:
        self.accepted = self.inside = 0
        """Taken from the system's queue, and of these begun; both less those that are gone."""
        self._strangers: dict[Peer, tuple[asyncio.Transport, asyncio.TimerHandle]] = {}
        """The one that was silent for longest comes first."""

    def enter(self, peer: Peer | None, transport: asyncio.Transport) -> None:
        self.inside += 1
        if peer is not None:
            self._watch(peer, transport)

    def leave(self, peer: Peer | None) -> None:
        self.accepted -= 1
        self.inside -= 1
        self.recognize(peer)

    def _watch(self, peer: Peer, transport: asyncio.Transport) -> None:
        expiry = asyncio.get_running_loop().call_later(PATIENCE_SECONDS, self._turn_out, peer)
        self._strangers[peer] = transport, expiry

    def recognize(self, peer: Peer | None) -> None:
        """It has shown the token, and may stay as long as it likes."""
        if peer in self._strangers:
            self._strangers.pop(peer)[1].cancel()

    def hear(self, peer: Peer | None) -> None:
        """A stranger has asked for something that everybody may see."""
        if peer is not None and peer in self._strangers:
            transport = self._strangers[peer][0]
            self.recognize(peer)
            self._watch(peer, transport)

    def make_room(self) -> bool:
        """Whether one more may come in now. Where there are too many, the most silent stranger has to go first; where
        none is a stranger, they are too many only while some are still on their way in."""
        if self.accepted >= ROOM and self._strangers:
            self._turn_out(next(iter(self._strangers)))
            return False
        return self.accepted < max(ROOM, self.inside + 1)

    def _turn_out(self, peer: Peer) -> None:
        transport = self._strangers[peer][0]
        self.recognize(peer)
        transport.abort()


class Visit(H11Protocol):
    """One connection."""

    def __init__(self, visitors: Visitors, **server: Any) -> None:
        super().__init__(**server)
        self.visitors = visitors

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.visitors.enter(self.client, transport)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.visitors.leave(self.client)


class Door(socket.socket):
    """A listening socket that lets in only as many as there is room for; the others wait in the system's queue."""

    visitors: Visitors

    def accept(self) -> tuple[socket.socket, Any]:
        if not self.visitors.make_room():
            raise BlockingIOError
        accepted = super().accept()
        self.visitors.accepted += 1
        return accepted
