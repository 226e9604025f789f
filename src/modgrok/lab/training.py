"""The training process seen from the server: start, stop, what it reports, and who listens."""

import asyncio
import contextlib
import json
import sys
from collections import deque
from pathlib import Path
from typing import Any

from modgrok.errors import ModgrokError
from modgrok.experiments import Experiment

LINE_BYTES = 1 << 20
BACKLOG = 4_000
"""Events that may wait for a slow page; one that falls further behind is told to read the run again."""
CLOSING_SECONDS = 20.0


class Listener:
    """Events on their way to one page."""

    def __init__(self) -> None:
        self.events: deque[dict[str, Any]] = deque()
        self.arrived = asyncio.Event()

    def put(self, event: dict[str, Any]) -> None:
        if len(self.events) >= BACKLOG:
            self.events.clear()
            event = {"event": "behind"}
        self.events.append(event)
        self.arrived.set()

    async def take(self, wait: float) -> list[dict[str, Any]]:
        """All that has come, or nothing after `wait` seconds."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.arrived.wait(), wait)
        self.arrived.clear()
        events = list(self.events)
        self.events.clear()
        return events


class Training:
    """One worker process, kept warm between runs so that a second run starts at once."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.run: str | None = None
        """The run that trains now."""
        self.experiment: Experiment | None = None
        """What that run trains."""
        self.status = "idle"
        """`idle`, `starting`, `training` or `stopping`."""
        self.step = 0
        self.rate: float | None = None
        """Steps per second, as last reported."""
        self.listeners: set[Listener] = set()
        self._process: asyncio.subprocess.Process | None = None
        self._reader: asyncio.Task[None] | None = None

    def state(self) -> dict[str, Any]:
        return {"run": self.run, "status": self.status, "step": self.step, "rate": self.rate}

    async def warm_up(self) -> None:
        """Starts the worker if there is none, so that its imports are done before the first run is asked for."""
        if self._process is not None and self._process.returncode is None:
            return
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "modgrok.lab.worker", str(self.store)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LINE_BYTES,
            start_new_session=True,  # Ctrl-C in the terminal is for the server, which then closes the worker's stdin.
        )
        self._reader = asyncio.create_task(self._read(self._process))

    async def train(self, experiment: Experiment) -> str:
        """Starts or resumes an experiment and returns its run."""
        if self.run is not None:
            raise ModgrokError(f"Run {self.run} is training; pause or stop it first, since one run trains at a time.")
        run = self.run = experiment.id
        self.experiment = experiment
        self.status, self.step, self.rate = "starting", 0, None
        self._tell({"event": "started", "run": run})
        try:
            await self.warm_up()
            await self._send({"train": experiment.as_dict(), "run": run})
        except OSError as error:
            self.run, self.status = None, "idle"
            raise ModgrokError(f"The training process could not be started: {error}.") from error
        return run

    async def stop(self) -> None:
        """Asks for a clean stop; the event `paused` follows when everything is stored."""
        if self.run is not None:
            self.status = "stopping"
            self._tell({"event": "stopping", "run": self.run})
            await self._send({"stop": True})

    async def close(self) -> None:
        """Ends the worker after it has stored what it has."""
        process = self._process
        for listener in self.listeners:
            listener.put({"event": "closing"})
        if process is None or process.returncode is not None or process.stdin is None:
            return
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), CLOSING_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()
        if self._reader is not None:
            await self._reader

    async def _send(self, request: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write((json.dumps(request) + "\n").encode())
        await self._process.stdin.drain()

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdout is not None
        while line := await process.stdout.readline():
            self._hear(json.loads(line))
        code = await process.wait()
        if self.run is not None:
            message = f"Training ended unexpectedly (exit code {code}); Resume continues from the last checkpoint."
            self._hear({"event": "failed", "run": self.run, "message": message})

    def _hear(self, event: dict[str, Any]) -> None:
        kind = event["event"]
        if kind in ("row", "progress") and self.status == "starting":
            self.status = "training"
        if kind == "progress":
            self.step, self.rate = event["step"], event["rate"]
        elif kind == "row":
            self.step = event["row"]["step"]
        elif kind in ("ended", "idle", "paused", "failed"):
            self.run, self.status = None, "idle"
        self._tell(event)

    def _tell(self, event: dict[str, Any]) -> None:
        for listener in self.listeners:
            listener.put(event)
