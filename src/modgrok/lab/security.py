"""Who may talk to the server: pages it served itself, on this machine, that know the token of this launch."""

import hmac
import secrets
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from modgrok.lab.limits import REQUEST_BYTES
from modgrok.lab.visitors import Visitors

HEADER = "x-modgrok-token"
"""Where the page puts the token, which it keeps in its origin's storage; a cookie would go to all ports."""
PAGES = ("/", "/lab")
UNKNOWN_PAGE = (
    "This page belongs to a lab that has been restarted, or was opened without its token. "
    "Open the address that `modgrok lab` printed in the terminal."
)


class Guard:
    """Checks Host, Origin, path, size and token before anything else sees a request. Pages and scripts, which are the
    package's own files, need no token; everything that knows a run does."""

    def __init__(self, app: ASGIApp, token: str, hosts: tuple[str, ...], port: int, visitors: Visitors) -> None:
        self.app = app
        self.token = token
        self.hosts = {f"{host}:{port}" for host in hosts}
        self.visitors = visitors

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        nonce = scope["nonce"] = secrets.token_urlsafe(16)
        started = False

        async def send_guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                _add_headers(MutableHeaders(scope=message), nonce)
            await send(message)

        answer: ASGIApp = self._answer(scope) or self.app
        try:
            await answer(scope, receive, send_guarded)
        except Exception:
            if not started:
                await PlainTextResponse("The lab failed; its terminal says why.", 500)(scope, receive, send_guarded)
            raise

    def _answer(self, scope: Scope) -> Response | None:
        """What is said to a request before anything else sees it; None where it may pass."""
        headers = Headers(scope=scope)
        answer = self._refusal(scope, headers)
        if answer is not None:
            answer.headers["Connection"] = "close"
        elif HEADER in headers:
            self.visitors.recognize(scope["client"])
        else:
            self.visitors.hear(scope["client"])
        return answer

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if headers.get("host") not in self.hosts:
            return PlainTextResponse("This server answers to its own address on this machine only.", 403)
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{host}" for host in self.hosts}:
            return PlainTextResponse("Requests from other sites are refused.", 403)
        if ".." in scope["path"] or "\\" in scope["path"]:
            return PlainTextResponse("A path here must not contain '..'.", 400)
        if scope["method"] not in ("GET", "HEAD", "POST"):
            return PlainTextResponse("The methods here are GET and POST.", 405)
        length = headers.get("content-length", "0")
        chunked = "transfer-encoding" in headers or (scope["method"] == "POST" and "content-length" not in headers)
        if chunked or not length.isdigit() or len(length) > 9 or int(length) > REQUEST_BYTES:
            return PlainTextResponse(f"A request must state a length of at most {REQUEST_BYTES} bytes.", 413)
        shown = headers.get(HEADER, _query_token(scope) if scope["path"] in PAGES else None)
        if not (_is_public(scope) if shown is None else hmac.compare_digest(shown.encode(), self.token.encode())):
            return PlainTextResponse(UNKNOWN_PAGE, 401)
        return None


def _is_public(scope: Scope) -> bool:
    return scope["method"] != "POST" and (scope["path"] in PAGES or scope["path"].startswith("/static/"))


def _query_token(scope: Scope) -> str | None:
    values = parse_qs(scope["query_string"].decode("latin-1")).get("token")
    return values[0] if values else None


def _add_headers(headers: MutableHeaders, nonce: str) -> None:
    headers["Content-Security-Policy"] = (
        f"default-src 'self'; script-src 'self' 'nonce-{nonce}'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    headers["Cross-Origin-Resource-Policy"] = "same-origin"
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Referrer-Policy"] = "no-referrer"
    headers.setdefault("Cache-Control", "no-store")
