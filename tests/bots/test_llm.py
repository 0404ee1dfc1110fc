"""The bot that asks a language model, against an endpoint that the test starts: what it sends, reads and counts."""

import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from crosstown_env import GAMES

from referee.match import EndReason, Limits
from referee.process.entry import load_entry
from tests.llm_provider import Provider, say, send

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


@pytest.fixture
def stub() -> Iterator[Provider]:
    provider = Provider()
    yield provider
    provider.close()


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


def test_it_sends_rules_news_position_and_actions_with_model_and_key(stub: Provider) -> None:
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


def test_without_a_key_none_is_sent(stub: Provider) -> None:
    assert ask(stub.address, OPENAI_API_KEY="")[0]["index"] == 1
    assert "Authorization" not in stub.asked[0][1]


def test_no_error_shows_the_key(stub: Provider) -> None:
    """What the bot prints and reports is in the record, which everybody may read."""
    stub.reply = lambda r: send(r, 401, f"bad key: {r.headers['Authorization']}")
    answer, errors = ask(stub.address, OPENAI_API_KEY="sk-secret\r\n")
    assert stub.asked[0][1]["Authorization"] == "Bearer sk-secret"
    assert "HTTP 401 'bad key: Bearer KEY'" in answer["provider_error"]
    assert "HTTP 401" in errors
    done = start(stub.address, START, OPENAI_API_KEY="sk-\nsecret")
    assert done.returncode == 1
    assert "OPENAI_API_KEY has characters that no key has" in done.stderr
    assert "secret" not in f"{answer}{errors}{done.stderr}"


def test_no_part_of_the_key_is_shown_where_an_error_is_cut(stub: Provider) -> None:
    stub.reply = lambda r: send(r, 401, f"{'x' * 185} {r.headers['Authorization']}")
    answer, errors = ask(stub.address, OPENAI_API_KEY="sk-secret")
    assert "HTTP 401 'xxx" in answer["provider_error"]
    assert "sk-" not in f"{answer}{errors}"


@pytest.mark.parametrize("game", GAMES)
def test_every_game_has_rules_that_leave_room_for_the_rest_of_the_prompt(game: str) -> None:
    """At most 1,500 tokens: no tokenizer makes more than one token of two characters of English."""
    rules = (FOLDER / "rules" / f"{game}.md").read_text(encoding="utf-8")
    assert rules.startswith("# Rules of ")
    assert 1000 < len(rules) < 3000
    assert rules.isascii()


def test_a_game_without_rules_is_played_by_its_text(stub: Provider) -> None:
    done = start(stub.address, {**START, "game": "chess"}, {**QUESTION, "left_s": 5.0})
    assert json.loads(done.stdout)["index"] == 1
    assert "Rules of" not in stub.asked[0][2]["messages"][0]["content"]


def test_the_rationale_goes_into_the_note_with_what_was_used(stub: Provider) -> None:
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
def test_an_answer_in_another_form_is_asked_for_once_more(stub: Provider, reply: str, problem: str) -> None:
    stub.reply = lambda request: say(request, reply if len(stub.asked) == 1 else "ACTION: 2")
    answer, errors = ask(stub.address)
    assert answer["index"] == 2
    assert problem in errors
    again = stub.asked[1][2]["messages"]
    assert [message["role"] for message in again] == ["system", "user", "assistant", "user"]
    assert again[3]["content"].startswith(f"Your reply was not accepted: {problem}. Think briefly.")


def test_a_second_unreadable_answer_is_the_bots_fault_and_no_default(stub: Provider) -> None:
    stub.reply = lambda request: say(request, "no idea")
    answer, errors = ask(stub.address)
    assert (answer["index"], answer["note"]) == (-1, "unreadable answer: its last line is 'no idea'")
    assert answer["usage"]["unreadable"] == 2
    assert len(stub.asked) == 2
    assert "2 unreadable" in errors


def test_errors_of_the_provider_are_tried_again_and_counted(stub: Provider) -> None:
    answers = [lambda r: send(r, 503, "busy"), lambda r: send(r, 200, "{"), lambda r: say(r, "ACTION: 2")]
    stub.reply = lambda request: answers[len(stub.asked) - 1](request)
    answer, errors = ask(stub.address, 20)
    assert answer["index"] == 2
    assert "provider error: HTTP 503 'busy'" in errors
    assert "3 requests" in errors
    assert "2 provider errors, 0 unreadable" in errors
    assert (answer["usage"]["requests"], answer["usage"]["provider_errors"]) == (3, 2)


def test_the_provider_says_how_long_to_wait(stub: Provider) -> None:
    stub.reply = lambda r: send(r, 429, "slow", Retry_After="30") if len(stub.asked) == 1 else say(r, "ACTION: 0")
    answer, _ = ask(stub.address, 5)
    assert answer["provider_error"] == "HTTP 429 'slow' (request 1)"
    assert "index" not in answer


@pytest.mark.parametrize(
    ("status", "advice"),
    [
        (400, ""),
        (401, "; check the key, and that its variable is granted"),
        (404, "; check model and base_url, which mostly ends in /v1"),
    ],
)
def test_a_refusal_that_will_not_change_is_not_tried_again_and_says_what_to_do(
    stub: Provider, status: int, advice: str
) -> None:
    stub.reply = lambda request: send(request, status, "who are you")
    answer, _ = ask(stub.address, 20)
    assert answer["provider_error"] == f"HTTP {status} 'who are you'{advice} (request 1)"
    assert len(stub.asked) == 1


def test_a_server_that_drips_does_not_outlast_the_limit(stub: Provider) -> None:
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


def test_a_talkative_answer_is_cut_in_the_note(stub: Provider) -> None:
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


def test_a_key_with_the_end_of_its_line_is_sent_without_it(stub: Provider) -> None:
    assert ask(stub.address, OPENAI_API_KEY="key\r", OPENAI_MODEL="small\r")[0]["index"] == 1
    ((_, headers, body),) = stub.asked
    assert (headers["Authorization"], body["model"]) == ("Bearer key", "small")


@pytest.mark.parametrize("key", ["secret\nmore", "secret\u201d"])
def test_a_key_that_no_header_takes_is_refused_and_not_shown(key: str) -> None:
    done = start("http://localhost", START, OPENAI_API_KEY=key)
    assert done.returncode == 1
    assert "OPENAI_API_KEY has characters that no key has" in done.stderr
    assert "secret" not in done.stdout + done.stderr


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


def test_the_options_name_model_key_and_what_each_request_has_besides(stub: Provider) -> None:
    options = {"base_url": stub.address, "model": "large", "key_env": "OTHER_KEY", "request": '{"max_tokens": 9}'}
    answer, _ = ask("http://localhost:9", CROSSTOWN_OPTIONS=json.dumps(options), OTHER_KEY="other")
    assert answer["index"] == 1
    ((_, headers, body),) = stub.asked
    assert (headers["Authorization"], body["model"], body["max_tokens"]) == ("Bearer other", "large", 9)


def test_the_instructions_of_the_option_prompt_stand_before_the_form(stub: Provider, tmp_path: Path) -> None:
    shutil.copytree(FOLDER, tmp_path / "llm")
    (tmp_path / "llm" / "careful.md").write_text("Think of what the others want.\n")
    ask(stub.address, folder=tmp_path / "llm", CROSSTOWN_OPTIONS='{"prompt": "careful.md"}')
    system = stub.asked[0][2]["messages"][0]["content"]
    assert "\n\nThink of what the others want.\n\nThink briefly." in system


@pytest.mark.parametrize("content", [None, [{"type": "text"}], 7])
def test_a_reply_without_text_is_unreadable_and_no_error_of_the_provider(stub: Provider, content: object) -> None:
    reply = json.dumps({"choices": [{"message": {"content": content}}], "usage": {"prompt_tokens": 5}})
    stub.reply = lambda request: send(request, 200, reply)
    answer, _ = ask(stub.address)
    assert answer["index"] == -1
    used = answer["usage"]
    assert (used["unreadable"], used["provider_errors"], used["prompt_tokens"]) == (2, 0, 10)


@pytest.mark.parametrize("body", ["{", "[]", '{"choices": []}', "<html>busy</html>"])
def test_a_broken_reply_is_an_error_of_the_provider(stub: Provider, body: str) -> None:
    stub.reply = lambda r: send(r, 200, body) if len(stub.asked) == 1 else say(r, "ACTION: 0")
    answer, _ = ask(stub.address, 20)
    assert answer["index"] == 0
    assert answer["usage"]["provider_errors"] == 1


def test_a_connection_that_breaks_in_the_reply_is_an_error_of_the_provider(stub: Provider) -> None:
    def cut(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", "1000")
        request.end_headers()
        request.wfile.write(b'{"choices"')

    stub.reply = lambda r: cut(r) if len(stub.asked) == 1 else say(r, "ACTION: 0")
    answer, errors = ask(stub.address, 20)
    assert answer["index"] == 0
    assert "provider error: IncompleteRead" in errors


def model(hall: Any, provider: Provider, **options: str) -> Any:
    """The bot as an entry of the hall, with this provider."""
    folder = hall.new_folder() / "llm"
    shutil.copytree(FOLDER, folder)
    return load_entry(folder, None, {"base_url": provider.address, "model": "small", **options})


@pytest.mark.slow
@pytest.mark.asyncio(loop_scope="module")
async def test_a_match_with_a_provider_that_is_slow_broken_refusing_and_talkative_is_played_to_its_end(
    hall: Any, stub: Provider
) -> None:
    numbers = itertools.count(1)

    def moody(request: BaseHTTPRequestHandler) -> None:
        match next(numbers):
            case 1:
                time.sleep(0.3)
                say(request, "ACTION: 0", prompt_tokens=100, completion_tokens=4)
            case 2:
                send(request, 429, "slow down", Retry_After="0.1")
            case 3:
                send(request, 500, "broken")
            case 4:
                send(request, 200, '{"choices": ')
            case 5:
                say(request, "I would rather talk about it", prompt_tokens=100, completion_tokens=4)
            case _:
                say(request, "word " * 3000 + "\nACTION: 0", prompt_tokens=100, completion_tokens=4)

    stub.reply = moody
    bot = model(hall, stub, prompt_price="1", reply_price="10")
    result, record = await hall.play("toy", bot, model(hall, stub, model="other"))
    assert result.reason is EndReason.NORMAL, result.detail
    used, other = record.footer.usage
    assert (used.requests + other.requests, used.provider_errors + other.provider_errors) == (len(stub.asked), 3)
    assert used.unreadable + other.unreadable == 1
    assert used.prompt_tokens + other.prompt_tokens == 100 * (len(stub.asked) - 3)
    assert used.cost_nanos == used.prompt_tokens * 1000 + used.reply_tokens * 10_000
    assert other.cost_nanos == 0


@pytest.mark.asyncio(loop_scope="module")
async def test_a_provider_that_goes_on_refusing_costs_the_bot_the_match_by_that_reason(
    hall: Any, stub: Provider
) -> None:
    stub.reply = lambda request: send(request, 503, "busy")
    limits = Limits(startup_s=60, ready_s=60, first_move_s=3, move_s=3)
    good = Provider()
    good.reply = lambda request: say(request, "ACTION: 0")
    result, record = await hall.play("toy", model(hall, stub), model(hall, good, model="good"), limits=limits)
    good.close()
    assert (result.reason, result.faults[1]) == (EndReason.PROVIDER_ERROR, None)
    assert "HTTP 503 'busy' (request " in result.detail
    assert record.footer.usage[0].provider_errors == len(stub.asked)
