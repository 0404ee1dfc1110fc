"""The bot that asks a language model, against an endpoint that the test starts: what it sends, reads and counts."""

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from crosstown_env import GAMES

FOLDER = Path(__file__).resolve().parents[2] / "bots" / "bridge" / "llm"
START = {"type": "match_start", "match": "m", "game": "shibuya", "seat": 1, "players": 2}
QUESTION = {
    "type": "decide",
    "match": "m",
    "decision": 7,
    "kind": "turn",
    "legal_count": 3,
    "board": "the board\n",
    "actions": ["Pass", "Move left", "Move right"],
    "events": {"events": [{"moved": {"seat": 0, "source": 64, "target": 3}}]},
}
END = {"type": "match_end", "match": "m"}


class Stub:
    """An endpoint that answers as the test says; it keeps what it was asked."""

    def __init__(self) -> None:
        self.reply: Callable[[BaseHTTPRequestHandler], None] = lambda request: say(request, "ACTION: 1")
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


def say(request: BaseHTTPRequestHandler, content: str, **usage: int) -> None:
    send(request, 200, json.dumps({"choices": [{"message": {"content": content}}], "usage": usage}))


def send(request: BaseHTTPRequestHandler, status: int, body: str, **headers: str) -> None:
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(body.encode())


@pytest.fixture
def stub() -> Iterator[Stub]:
    stub = Stub()
    yield stub
    stub.server.shutdown()
    stub.server.server_close()


def start(address: str, *lines: Any, folder: Path = FOLDER, **more: str) -> "subprocess.CompletedProcess[str]":
    """The bot's program with these lines as its input."""
    environment = {**os.environ, "OPENAI_BASE_URL": address, "OPENAI_MODEL": "small", "OPENAI_API_KEY": "key"} | more
    return subprocess.run(
        [sys.executable, str(folder / "llm.py"), "--answer"],
        input="".join(json.dumps(line) + "\n" for line in lines),
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def ask(address: str, within_s: float = 5.0, folder: Path = FOLDER, **more: str) -> tuple[dict[str, Any], str]:
    """What the bot answers to one question, and its errors."""
    done = start(address, START, {**QUESTION, "left_s": within_s}, END, folder=folder, **more)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer, done.stderr


def test_it_sends_rules_news_position_and_actions_with_model_and_key(stub: Stub) -> None:
    answer, _ = ask(stub.address)
    assert answer["index"] == 1
    ((path, headers, body),) = stub.asked
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer key"
    assert body["model"] == "small"
    system, user = body["messages"]
    assert system["content"].startswith("You play seat 1 of 2 (seats count from 0) in a match of shibuya.")
    assert "# Rules of Shibuya in short" in system["content"]
    assert system["content"].endswith("ACTION: 12")
    assert user["content"] == (
        "Since your last decision:\nmoved: seat 0, source 64, target 3\n\nthe board\n\n"
        "Your decision (turn). Legal actions:\n   0  Pass\n   1  Move left\n   2  Move right"
    )


def test_without_a_key_none_is_sent(stub: Stub) -> None:
    assert ask(stub.address, OPENAI_API_KEY="")[0]["index"] == 1
    assert "Authorization" not in stub.asked[0][1]


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_rules_that_leave_room_for_the_rest_of_the_prompt(game: str) -> None:
    """At most 1,500 tokens: no tokenizer makes more than one token of two characters of English."""
    rules = (FOLDER / "rules" / f"{game}.md").read_text(encoding="utf-8")
    assert rules.startswith("# Rules of ")
    assert 1000 < len(rules) < 3000
    assert rules.isascii()


def test_a_game_without_rules_is_played_by_its_text(stub: Stub) -> None:
    done = start(stub.address, {**START, "game": "chess"}, {**QUESTION, "left_s": 5.0})
    assert json.loads(done.stdout)["index"] == 1
    assert "Rules of" not in stub.asked[0][2]["messages"][0]["content"]


def test_the_rationale_goes_into_the_note_with_what_was_used(stub: Stub) -> None:
    stub.reply = lambda r: say(r, "The left way\nis open.\nACTION: 2\n", prompt_tokens=900, completion_tokens=20)
    options = json.dumps({"prompt_price": "0.5", "reply_price": "2"})
    answer, errors = ask(stub.address, CROSSTOWN_OPTIONS=options)
    assert answer["index"] == 2
    assert answer["note"] == "The left way is open."
    used = answer["usage"]
    assert 0 < used.pop("wait_s") < 5
    assert used.pop("cost_dollars") == pytest.approx(0.00049)
    assert used == {"requests": 1, "prompt_tokens": 900, "reply_tokens": 20, "provider_errors": 0, "unreadable": 0}
    assert "match m: 1 requests, 900 prompt tokens, 20 reply tokens, 0 provider errors, 0 unreadable," in errors
    assert errors.rstrip().endswith("0.000490 dollars")


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("I choose 2", "its last line is 'I choose 2'"),
        ("ACTION: 2 or 1", "its last line is 'ACTION: 2 or 1'"),
        ("ACTION: 3", "action 3 is not in the list, which ends with 2"),
        ("", "its last line is ''"),
    ],
)
def test_an_answer_in_another_form_is_asked_for_once_more(stub: Stub, reply: str, problem: str) -> None:
    stub.reply = lambda request: say(request, reply if len(stub.asked) == 1 else "ACTION: 2")
    answer, errors = ask(stub.address)
    assert answer["index"] == 2
    assert problem in errors
    again = stub.asked[1][2]["messages"]
    assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]
    assert again[3]["content"].startswith(f"Your reply was not accepted: {problem}. Think briefly.")


def test_a_second_unreadable_answer_is_the_bots_fault_and_no_default(stub: Stub) -> None:
    stub.reply = lambda request: say(request, "no idea")
    answer, errors = ask(stub.address)
    assert (answer["index"], answer["note"]) == (-1, "unreadable answer: its last line is 'no idea'")
    assert answer["usage"]["unreadable"] == 2
    assert len(stub.asked) == 2
    assert "2 unreadable" in errors


def test_errors_of_the_provider_are_tried_again_and_counted(stub: Stub) -> None:
    answers = [lambda r: send(r, 503, "busy"), lambda r: send(r, 200, "{"), lambda r: say(r, "ACTION: 2")]
    stub.reply = lambda request: answers[len(stub.asked) - 1](request)
    answer, errors = ask(stub.address, 20)
    assert answer["index"] == 2
    assert "provider error: HTTP 503 'busy'" in errors
    assert "3 requests" in errors
    assert "2 provider errors, 0 unreadable" in errors
    assert (answer["usage"]["requests"], answer["usage"]["provider_errors"]) == (3, 2)


def test_the_provider_says_how_long_to_wait(stub: Stub) -> None:
    stub.reply = lambda r: send(r, 429, "slow", Retry_After="30") if len(stub.asked) == 1 else say(r, "ACTION: 0")
    answer, _ = ask(stub.address, 5)
    assert answer["provider_error"] == "HTTP 429 'slow' at request 1"
    assert "index" not in answer


@pytest.mark.parametrize("status", [400, 401, 404])
def test_a_refusal_that_will_not_change_is_not_tried_again(stub: Stub, status: int) -> None:
    stub.reply = lambda request: send(request, status, "who are you")
    answer, _ = ask(stub.address, 20)
    assert answer["provider_error"] == f"HTTP {status} 'who are you' at request 1"
    assert len(stub.asked) == 1


def test_a_server_that_drips_does_not_outlast_the_limit(stub: Stub) -> None:
    def drip(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        for _ in range(200):
            request.wfile.write(b" ")
            time.sleep(0.1)

    stub.reply = drip
    answer, _ = ask(stub.address, 1.0)
    assert answer["provider_error"] == "no reply within 0.9 s"
    assert answer["usage"]["provider_errors"] == 1
    assert answer["usage"]["wait_s"] >= 0.8


def test_an_endpoint_that_is_not_there_is_an_error_of_the_provider() -> None:
    answer, errors = ask("http://127.0.0.1:9/v1", 1.0)
    assert answer["provider_error"].startswith("URLError: ")
    assert "0 provider errors" not in errors


def test_a_talkative_answer_is_cut_in_the_note(stub: Stub) -> None:
    stub.reply = lambda request: say(request, "word " * 5000 + "\nACTION: 0")
    answer, _ = ask(stub.address)
    assert answer["index"] == 0
    assert len(answer["note"]) < 500


def test_without_a_model_it_refuses_to_start() -> None:
    done = start("", START)
    assert done.returncode == 1
    assert "OPENAI_BASE_URL not set: grant it with env = [...]" in done.stderr
    done = start("http://localhost", START, OPENAI_MODEL="")
    assert "OPENAI_MODEL not set" in done.stderr


@pytest.mark.parametrize("price", ["cheap", "-1", "nan", "inf"])
def test_a_price_that_is_no_amount_is_refused(price: str) -> None:
    done = start("http://localhost", START, CROSSTOWN_OPTIONS=json.dumps({"prompt_price": price}))
    assert done.returncode == 1
    assert f"option prompt_price is '{price}'; expected dollars for a million tokens" in done.stderr


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("request", "hot", "expected a JSON object, such as"),
        ("request", "[1]", "expected a JSON object, such as"),
        ("prompt", "none.md", "expected a text file in the bot's folder"),
        ("base_url", "localhost:8080", "expected an address such as http://localhost:8080/v1"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused(option: str, value: str, problem: str) -> None:
    done = start("http://localhost", START, CROSSTOWN_OPTIONS=json.dumps({option: value}))
    assert done.returncode == 1
    assert problem in done.stderr
    assert repr(value) in done.stderr


def test_the_options_name_model_key_and_what_each_request_has_besides(stub: Stub) -> None:
    options = {"base_url": stub.address, "model": "large", "key_env": "OTHER_KEY", "request": '{"max_tokens": 9}'}
    answer, _ = ask("http://localhost:9", CROSSTOWN_OPTIONS=json.dumps(options), OTHER_KEY="other")
    assert answer["index"] == 1
    ((_, headers, body),) = stub.asked
    assert (headers["Authorization"], body["model"], body["max_tokens"]) == ("Bearer other", "large", 9)


def test_the_instructions_of_the_option_prompt_stand_before_the_form(stub: Stub, tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "llm")
    (tmp_path / "llm" / "careful.md").write_text("Think of what the others want.\n")
    ask(stub.address, folder=tmp_path / "llm", CROSSTOWN_OPTIONS='{"prompt": "careful.md"}')
    system = stub.asked[0][2]["messages"][0]["content"]
    assert "\n\nThink of what the others want.\n\nThink briefly." in system


@pytest.mark.parametrize("content", [None, [{"type": "text"}], 7])
def test_a_reply_without_text_is_unreadable_and_no_error_of_the_provider(stub: Stub, content: object) -> None:
    reply = json.dumps({"choices": [{"message": {"content": content}}], "usage": {"prompt_tokens": 5}})
    stub.reply = lambda request: send(request, 200, reply)
    answer, _ = ask(stub.address)
    assert answer["index"] == -1
    used = answer["usage"]
    assert (used["unreadable"], used["provider_errors"], used["prompt_tokens"]) == (2, 0, 10)


@pytest.mark.parametrize("body", ["{", "[]", '{"choices": []}', "<html>busy</html>"])
def test_a_broken_reply_is_an_error_of_the_provider(stub: Stub, body: str) -> None:
    stub.reply = lambda r: send(r, 200, body) if len(stub.asked) == 1 else say(r, "ACTION: 0")
    answer, _ = ask(stub.address, 20)
    assert answer["index"] == 0
    assert answer["usage"]["provider_errors"] == 1


def test_a_connection_that_breaks_in_the_reply_is_an_error_of_the_provider(stub: Stub) -> None:
    def cut(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "1000")
        request.end_headers()
        request.wfile.write(b'{"choices"')

    stub.reply = lambda r: cut(r) if len(stub.asked) == 1 else say(r, "ACTION: 0")
    answer, errors = ask(stub.address, 20)
    assert answer["index"] == 0
    assert "provider error: IncompleteRead" in errors
