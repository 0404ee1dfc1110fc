"""The bot that asks a language model, against a stub endpoint: what it sends, and that it always answers in time."""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

BOT = Path(__file__).resolve().parents[2] / "bots" / "bridge" / "llm" / "llm.py"
QUESTION = "\nthe board\n\nturn:\n   0  pass\n   1  move\n  12  jump\n"


class Stub:
    """An endpoint that answers as the test says; it keeps what it was asked."""

    def __init__(self) -> None:
        self.reply: Callable[[BaseHTTPRequestHandler], None] = lambda request: say(request, "1")
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        stub = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                stub.asked.append((self.path, dict(self.headers), body))
                stub.reply(self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def say(request: BaseHTTPRequestHandler, content: str) -> None:
    send(request, 200, json.dumps({"choices": [{"message": {"content": content}}]}))


def send(request: BaseHTTPRequestHandler, status: int, body: str) -> None:
    request.send_response(status)
    request.end_headers()
    request.wfile.write(body.encode())


@pytest.fixture
def stub() -> Iterator[Stub]:
    stub = Stub()
    yield stub
    stub.server.shutdown()
    stub.server.server_close()


def ask(address: str, within_s: float = 5.0, **more: str) -> tuple[str, str]:
    """What the bot prints to one question, and its errors."""
    environment = {**os.environ, "OPENAI_BASE_URL": address, "OPENAI_MODEL": "small", "OPENAI_API_KEY": "key"} | more
    done = subprocess.run(
        [sys.executable, str(BOT)],
        input=f"# match m: shibuya, you are seat 0 of 2\n{QUESTION}choose 0 to 12 within {within_s:.1f} s\n",
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout, done.stderr


def test_it_sends_the_text_with_model_and_key_and_prints_the_number(stub: Stub) -> None:
    assert ask(stub.address) == ("1\n", "")
    ((path, headers, body),) = stub.asked
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer key"
    assert body["model"] == "small"
    assert body["messages"][-1] == {"role": "user", "content": QUESTION}


@pytest.mark.parametrize(
    ("reply", "printed"),
    [("12", "12"), ("I think 3 of 12 is best.\n\n7", "7"), ("**5**", "5"), ("action 4, not 99", "4")],
)
def test_it_takes_the_last_number_that_is_legal(stub: Stub, reply: str, printed: str) -> None:
    stub.reply = lambda request: say(request, reply)
    assert ask(stub.address)[0] == f"{printed}\n"


def test_it_tries_again_after_a_failure(stub: Stub) -> None:
    answers = [lambda r: send(r, 503, "busy"), lambda r: say(r, "no idea"), lambda r: say(r, "2")]
    stub.reply = lambda request: answers[len(stub.asked) - 1](request)
    printed, errors = ask(stub.address, 20)
    assert printed == "2\n"
    assert "503" in errors
    assert "no number from 0 to 12" in errors


@pytest.mark.parametrize(
    "reply",
    [
        lambda request: send(request, 200, "{"),
        lambda request: send(request, 200, "[]"),
        lambda request: send(request, 200, '{"choices": []}'),
        lambda request: send(request, 401, "who are you"),
        lambda request: say(request, "99"),
        lambda request: time.sleep(60),
    ],
    ids=["no JSON", "no object", "no choice", "refused", "out of range", "silent"],
)
def test_it_falls_back_to_the_harmless_action_in_time(
    stub: Stub, reply: Callable[[BaseHTTPRequestHandler], None]
) -> None:
    stub.reply = reply
    printed, errors = ask(stub.address, 1.5)
    assert printed == "0\n"
    assert errors


def test_a_server_that_drips_does_not_outlast_the_limit(stub: Stub) -> None:
    def drip(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        for _ in range(200):
            request.wfile.write(b" ")
            time.sleep(0.1)

    stub.reply = drip
    assert ask(stub.address, 1.0)[0] == "0\n"


def test_an_endpoint_that_is_not_there_costs_no_match() -> None:
    printed, errors = ask("http://127.0.0.1:9/v1", 1.0)
    assert printed == "0\n"
    assert "no reply" in errors


def test_a_variable_that_was_not_granted_is_named() -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("OPENAI_")}
    done = subprocess.run(
        [sys.executable, str(BOT)],
        input="choose 0 to 1 within 5.0 s\n",
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "0\n"
    assert "OPENAI_MODEL" in done.stderr
