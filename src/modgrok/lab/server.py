"""The lab's server: routes, events, and the life of its training process."""

import asyncio
import contextlib
import inspect
import json
import math
import os
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

import modgrok
from modgrok.errors import ModgrokError
from modgrok.experiments import Run, Store
from modgrok.lab import assets, form, limits, sweeps
from modgrok.lab.library import UNREADABLE, Library
from modgrok.lab.replay import replay
from modgrok.lab.security import Guard
from modgrok.lab.training import Listener, Training
from modgrok.lab.visitors import Door, Visit, Visitors

LOOPBACK = ("127.0.0.1", "localhost")
BATCH_SECONDS = 0.1
"""Events are sent in batches this far apart: as often as a screen can show them."""
HEARTBEAT_SECONDS = 5.0
STEP_DIGITS = 12


class Lab:
    """The page's server for one store."""

    def __init__(self, store: Store, port: int, token: str | None = None) -> None:
        self.library = Library(store)
        self.training = Training(store.folder)
        self.token = token or secrets.token_urlsafe(24)
        self.port = port
        self.launch = secrets.token_hex(4)
        self.visitors = Visitors()
        self.app = Starlette(
            routes=[
                Route("/", self.story),
                Route("/lab", self.page),
                Route("/static/{name:path}", self.static),
                Route("/api/state", _answer(self.state)),
                Route("/api/check", _answer(self.check), methods=["POST"]),
                Route("/api/train", _answer(self.train), methods=["POST"]),
                Route("/api/stop", _answer(self.stop), methods=["POST"]),
                Route("/api/runs", _answer(self.runs)),
                Route("/api/runs/{run}", _answer(self.details)),
                Route("/api/runs/{run}/frames/{step}", _answer(self.frame)),
                Route("/api/runs/{run}/theory/{form}", _answer(self.theory)),
                Route("/api/runs/{run}/measures/{step}", _answer(self.measures)),
                Route("/api/runs/{run}/replay", _answer(self.replay)),
                Route("/api/sweeps", _answer(self.sweeps)),
                Route("/api/sweeps/{sweep}", _answer(self.sweep)),
                Route("/api/sweeps/{sweep}/map", _answer(self.sweep_map)),
                Route("/api/events", self.events),
            ],
            middleware=[Middleware(Guard, token=self.token, hosts=LOOPBACK, port=port, visitors=self.visitors)],
            lifespan=self._lifespan,
        )
        self.app.router.redirect_slashes = False

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        warming = asyncio.create_task(self.training.warm_up())
        yield
        await warming
        await self.training.close()

    async def story(self, request: Request) -> Response:
        return HTMLResponse(assets.page("story.html", "story/main.js", request.scope["nonce"]))

    async def page(self, request: Request) -> Response:
        return HTMLResponse(assets.page("lab.html", "main.js", request.scope["nonce"]))

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in assets.names():
            return PlainTextResponse("There is no such file.", 404)
        kind = assets.TYPES[os.path.splitext(name)[1]]
        return Response(assets.content(name), media_type=kind, headers={"Cache-Control": "no-cache"})

    def state(self, request: Request) -> Any:
        return {
            "version": modgrok.__version__,
            "launch": self.launch,
            "store": str(self.library.store.folder.absolute()),
            "training": self.training.state(),
            "fields": form.fields(),
            "bounds": {"modulus": limits.MODULUS, "width": limits.WIDTH, "steps": limits.STEPS},
        }

    async def check(self, request: Request) -> Any:
        return await run_in_threadpool(form.check, await _body(request))

    async def train(self, request: Request) -> Any:
        experiment = await run_in_threadpool(form.resolved_from, await _body(request))
        return {"run": await self.training.train(experiment)}

    async def stop(self, request: Request) -> Any:
        await self.training.stop()
        return self.training.state()

    def runs(self, request: Request) -> Any:
        return self.library.runs()

    def details(self, request: Request) -> Any:
        name, experiment = request.path_params["run"], self.training.experiment
        if name == self.training.run and experiment is not None:
            return self.library.details(Run(self.library.store.folder / name), experiment)
        return self.library.details(self._run(request))

    def frame(self, request: Request) -> Any:
        changes = [text for text in request.query_params.get("changes", "").split(",") if text]
        return self.library.frame(self._run(request), _step(request), _coordinate(request), changes)

    def theory(self, request: Request) -> Any:
        return self.library.theory(self._run(request), request.path_params["form"], _coordinate(request))

    def measures(self, request: Request) -> Any:
        return self.library.measures(self._run(request), _step(request))

    def replay(self, request: Request) -> Any:
        run = self._run(request)
        named = {"Content-Disposition": f'attachment; filename="modgrok-{run.id}.html"'}
        return HTMLResponse(replay(self.library, run), headers=named)

    def sweeps(self, request: Request) -> Any:
        return {"sweeps": sweeps.sweeps(self.library.store)}

    def sweep(self, request: Request) -> Any:
        return sweeps.sweep(self.library.store, request.path_params["sweep"])

    def sweep_map(self, request: Request) -> Any:
        x, y, outcome = (request.query_params.get(name, "") for name in ("x", "y", "outcome"))
        return sweeps.sweep_map(self.library.store, request.path_params["sweep"], x, y or None, outcome)

    def _run(self, request: Request) -> Run:
        return self.library.find(request.path_params["run"])

    async def events(self, request: Request) -> Response:
        async def stream() -> AsyncIterator[str]:
            listener = Listener()
            self.training.listeners.add(listener)
            try:
                hello = {"event": "hello", "launch": self.launch, "training": self.training.state()}
                yield f"data: {json.dumps([hello])}\n\n"
                while not await request.is_disconnected():
                    events = await listener.take(HEARTBEAT_SECONDS)
                    yield f"data: {json.dumps(events)}\n\n" if events else ": still here\n\n"
                    if any(event["event"] == "closing" for event in events):
                        return
                    await asyncio.sleep(BATCH_SECONDS)
            finally:
                self.training.listeners.discard(listener)

        return StreamingResponse(stream(), media_type="text/event-stream")


class _Server(uvicorn.Server):
    """Lets open event streams end before it waits for them."""

    def __init__(self, config: uvicorn.Config, lab: Lab) -> None:
        super().__init__(config)
        self.lab = lab

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listener in self.lab.training.listeners:
            listener.put({"event": "closing"})
        await super().shutdown(sockets)


def serve(store: Store, port: int, ready: Callable[[Lab], None]) -> None:
    """Serves until Ctrl-C; `ready` is called with the lab once its port is open."""
    listening = open_port(port)
    lab = Lab(store, listening.getsockname()[1])
    listening.visitors = lab.visitors
    config = uvicorn.Config(
        lab.app,
        loop="asyncio",  # which asks the door before it accepts
        http=partial(Visit, lab.visitors),  # type: ignore[arg-type]
        ws="none",
        log_level="error",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
    )
    ready(lab)
    _Server(config, lab).run(sockets=[listening])


def open_port(port: int) -> Door:
    """A listening socket on this machine's own address; 0 is any free port."""
    if not 0 <= port < 1 << 16:
        raise ModgrokError(f"port must be from 1 to 65535, or 0 to choose a free one, not {port}.")
    listening = Door(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind(("127.0.0.1", port))
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise ModgrokError(
            f"Port {port} cannot be used ({error.strerror}), perhaps because another lab is open; choose another with "
            f"--port, or --port 0 for a free one."
        ) from error
    return listening


def _step(request: Request) -> int:
    text = request.path_params["step"]
    if not text.isascii() or not text.isdigit() or len(text) > STEP_DIGITS:
        raise ModgrokError(f"A step must be a whole number of at most {STEP_DIGITS} digits.")
    return int(text)


def _coordinate(request: Request) -> str:
    return request.query_params.get("coordinate", "task")


async def _body(request: Request) -> Any:
    content = b""
    try:
        async for chunk in request.stream():
            content += chunk
            if len(content) > limits.REQUEST_BYTES:
                raise ModgrokError(f"A request must have at most {limits.REQUEST_BYTES} bytes.")
    except ClientDisconnect as error:
        raise ModgrokError("The request ended before its stated length.") from error
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ModgrokError("The request is not JSON, or nests too deeply.") from error


def _answer(handler: Callable[[Request], Any]) -> Callable[[Request], Awaitable[Response]]:
    """JSON or binary from what a handler returns, and status 422 with the sentence where it cannot be done. One that
    does not wait for anything runs in a thread."""

    async def endpoint(request: Request) -> Response:
        try:
            waits = inspect.iscoroutinefunction(handler)
            found = await (handler(request) if waits else run_in_threadpool(handler, request))
        except UNREADABLE as error:
            return JSONResponse({"error": _sentence(error, request)}, 422)
        if isinstance(found, Response):
            return found
        if isinstance(found, bytes):
            return Response(found, media_type="application/octet-stream")
        return JSONResponse(_finite(found))

    return endpoint


def _sentence(error: BaseException, request: Request) -> str:
    if isinstance(error, ModgrokError):
        return str(error)
    name = request.path_params.get("run") or request.path_params.get("sweep")
    what = f"The files of {name[:40]}" if name else "What was asked for"
    return f"{what} cannot be read ({type(error).__name__}: {str(error)[:200]})."


def _finite(value: Any) -> Any:
    """The value with null for numbers that JSON does not have, which damaged and diverged runs hold."""
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
