"""A provider of language models on this machine, that answers as a test says: slowly, brokenly, or not at all."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Provider:
    """An endpoint that answers as the test says; it keeps what it was asked."""

    def __init__(self) -> None:
        self.reply: Callable[[BaseHTTPRequestHandler], None] = lambda request: say(request, "ACTION: 1")
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                provider.asked.append((self.path, dict(self.headers), self.body))
                provider.reply(self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


def say(request: BaseHTTPRequestHandler, content: str, **usage: int) -> None:
    send(request, 200, json.dumps({"choices": [{"message": {"content": content}}], "usage": usage}))


def send(request: BaseHTTPRequestHandler, status: int, body: str, **headers: str) -> None:
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(body.encode())
