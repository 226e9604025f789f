"""The token in the browser: kept by this origin, and told to no other server on this machine."""

import http.server
import threading
from collections.abc import Iterator
from typing import Any

import playwright.sync_api as playwright
import pytest

expect = playwright.expect


@pytest.fixture
def neighbor() -> Iterator[tuple[int, list[str]]]:
    """Another server on this machine: its port, and all that it is told."""
    heard: list[str] = []

    class Neighbor(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.extend((self.path, str(self.headers)))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<!doctype html><title>neighbor</title><link rel=icon href='data:,'>")

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Neighbor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1], heard
    server.shutdown()
    server.server_close()


def test_a_neighbor_never_sees_the_token(open_lab: Any, lab: Any, neighbor: tuple[int, list[str]]) -> None:
    page = open_lab()
    port, heard = neighbor
    assert lab.token not in page.url
    assert page.context.cookies() == []
    other = page.context.new_page()
    for host in ("127.0.0.1", "localhost"):
        other.goto(f"http://{host}:{port}/page")
        assert lab.token not in other.evaluate("JSON.stringify([document.cookie, { ...localStorage }])")
    other.close()
    assert "/page" in heard
    assert not any(lab.token in text for text in heard)
    assert page.evaluate("import('lab/source.js').then(({ source }) => source.runs())")


def test_a_page_without_the_token_says_where_to_find_it(chromium: Any, watch: Any, lab: Any) -> None:
    context = chromium.new_context()
    page = watch(context).page
    page.goto(f"http://127.0.0.1:{lab.port}/lab")
    expect(page.locator("#notice")).to_contain_text("Open the address that `modgrok lab` printed")
    context.close()
