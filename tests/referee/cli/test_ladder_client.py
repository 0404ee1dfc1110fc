"""How commands of authors reach a ladder: tries, refusals, and the file of tokens."""

import json
import resource
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from referee.cli import ladder_client as module
from referee.cli.ladder_client import (
    LadderClient,
    LadderRefusedError,
    bot_path,
    check_address,
    find_token,
    keep_token,
    tokens_file,
)
from referee.errors import PlatformError, UsageError

Answer = tuple[int, Any]


class Server:
    """Answers one request after another with what the test has said; None breaks the connection off."""

    def __init__(self) -> None:
        self.answers: list[Answer | None] = []
        self.requests: list[tuple[str, str, dict[str, str], bytes]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                outer.requests.append((self.command, self.path, dict(self.headers), body))
                found = outer.answers.pop(0)
                if found is None:
                    self.close_connection = True
                    return
                status, values = found
                data = json.dumps(values).encode() if isinstance(values, dict) else values
                self.send_response(status)
                if status == 302:
                    self.send_header("Location", "http://elsewhere.example/")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = answer  # noqa: N815

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=[0.01], daemon=True).start()


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture(autouse=True)
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv(module.TOKEN_VARIABLE, raising=False)


def client(server: Server, waits: list[float] | None = None, notes: list[str] | None = None) -> LadderClient:
    return LadderClient(
        server.address,
        "crosstown_x",
        note=(notes if notes is not None else []).append,
        sleep=(waits if waits is not None else []).append,
    )


def test_a_login_without_a_terminal_reads_a_line_and_says_if_there_is_none(
    crosstown: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was an unexpected Abort, exit code 70."""
    for given, what in (("", "no token was entered"), ("a\tb\n", "that is not a token")):
        monkeypatch.setattr("sys.stdin", StringIO(given))
        printed = crosstown("login", "http://127.0.0.1:1")
        assert printed.code == 2
        assert printed.err.startswith(f"error: {what}\n")


def test_a_hand_in_is_sent_again_under_the_same_key_until_there_is_an_answer(server: Server) -> None:
    server.answers = [None, (503, {"error": "the disk is full", "next_step": "wait"}), (429, {}), (201, {"number": 1})]
    waits: list[float] = []
    notes: list[str] = []
    answer = client(server, waits, notes).send("/bots/a/versions", b"data", "application/gzip", "key-1")
    assert (answer.status, answer.values) == (201, {"number": 1})
    assert waits == [0.5, 1.0, 2.0]
    assert "the disk is full" in notes[1]
    assert {headers["Idempotency-Key"] for _, _, headers, _ in server.requests} == {"key-1"}
    assert {body for *_, body in server.requests} == {b"data"}
    assert server.requests[0][2]["Authorization"] == "Bearer crosstown_x"


def test_a_ladder_that_cannot_be_reached_is_a_sentence(server: Server) -> None:
    server.answers = [None] * module.MOST_TRIES
    with pytest.raises(PlatformError, match="cannot be reached") as caught:
        client(server).get("/me")
    assert "nothing is handed in twice" in caught.value.next_step


def test_what_may_have_been_carried_out_is_not_sent_again(server: Server) -> None:
    server.answers = [None]
    with pytest.raises(PlatformError):
        client(server).post("/join", {"code": "x"})
    assert len(server.requests) == 1


def test_a_refusal_is_the_sentence_of_the_ladder(server: Server) -> None:
    server.answers = [(409, {"error": "the name is taken", "next_step": "choose another"})]
    with pytest.raises(LadderRefusedError, match="the name is taken") as caught:
        client(server).get("/x")
    assert (caught.value.status, caught.value.next_step) == (409, "choose another")


def test_an_expired_token_says_how_to_sign_in_again(server: Server) -> None:
    server.answers = [(401, {"error": "the token expired", "next_step": "make another one"})]
    with pytest.raises(LadderRefusedError) as caught:
        client(server).get("/me")
    assert "crosstown login" in caught.value.next_step


@pytest.mark.parametrize("body", [b"<html>", b"", b"[" * 100_000])
def test_a_server_that_is_no_ladder_is_named(server: Server, body: Any) -> None:
    server.answers = [(200, body)]
    with pytest.raises(UsageError, match="not as a ladder"):
        client(server).get("/me")


@pytest.mark.parametrize("body", [b"<html>", b'{"error": "There is nothing at this address.", "next_step": ""}'])
def test_a_server_of_another_kind_is_named(server: Server, body: Any) -> None:
    """As that of `crosstown web`, where the address was not found, and no more was said."""
    server.answers = [(404, body)]
    with pytest.raises(UsageError, match="not as a ladder"):
        client(server).post("/join", {"code": "x"})


def test_what_a_ladder_cannot_do_is_no_fault_of_the_request(server: Server) -> None:
    server.answers = [(503, {"error": "the disk is full", "next_step": "try again later"})]
    with pytest.raises(PlatformError, match="the disk is full") as caught:
        client(server).post("/join", {"code": "x"})
    assert caught.value.next_step == "try again later"


def test_a_token_goes_to_no_other_address(server: Server) -> None:
    server.answers = [(302, {})]
    client(server).get("/me")
    assert len(server.requests) == 1


def test_text_of_a_server_cannot_steer_the_terminal(server: Server) -> None:
    server.answers = [(400, {"error": "\x1b[31mred", "next_step": "a\nb"})]
    with pytest.raises(LadderRefusedError) as caught:
        client(server).get("/x")
    assert "\x1b" not in str(caught.value)
    assert "\n" not in caught.value.next_step


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("games.example", "https://games.example"),
        ("https://games.example/ladder/", "https://games.example/ladder"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
    ],
)
def test_an_address_is_taken_as_the_browser_shows_it(given: str, address: str) -> None:
    assert check_address(given) == address


@pytest.mark.parametrize(
    "given", ["", "ftp://x.example", "https://", "https://a:b@x.example", "https://x:99999", "h?x"]
)
def test_what_is_no_address_is_refused(given: str) -> None:
    with pytest.raises(UsageError):
        check_address(given)


def test_a_token_does_not_go_unencrypted_over_a_network() -> None:
    with pytest.raises(UsageError, match="not encrypted"):
        check_address("http://games.example")
    assert check_address("http://games.example", plain_http=True) == "http://games.example"


def test_a_name_of_a_bot_is_part_of_an_address() -> None:
    assert bot_path("größe 1", 2) == "/bots/gr%C3%B6%C3%9Fe%201/versions/2"


# Tokens


def test_tokens_are_kept_for_the_user_alone_and_the_last_ladder_is_the_usual_one() -> None:
    keep_token("https://a.example", "one")
    keep_token("https://b.example", "two")
    assert tokens_file().stat().st_mode & 0o777 == 0o600
    assert find_token(None) == ("https://b.example", "two")
    assert find_token("https://a.example") == ("https://a.example", "one")
    keep_token("https://a.example", "three")
    assert find_token(None) == ("https://a.example", "three")


def test_a_token_in_the_environment_counts_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(module.TOKEN_VARIABLE, "four")
    assert find_token("https://c.example") == ("https://c.example", "four")


def test_a_token_in_the_environment_may_end_as_a_line_of_windows_and_is_never_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The header's error was an unexpected one, with the token in it."""
    monkeypatch.setenv(module.TOKEN_VARIABLE, "four\r")
    assert find_token("https://c.example") == ("https://c.example", "four")
    for wrong in ("fo\rur", "four\u201d"):
        monkeypatch.setenv(module.TOKEN_VARIABLE, wrong)
        with pytest.raises(UsageError, match=f"^{module.TOKEN_VARIABLE} is not a token$"):
            find_token("https://c.example")


def test_who_has_a_token_but_names_no_ladder_may_name_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next step was to sign in, which is not needed with a token."""
    monkeypatch.setenv(module.TOKEN_VARIABLE, "four")
    with pytest.raises(UsageError) as caught:
        find_token(None)
    assert caught.value.next_step.startswith("name the address of the ladder, or sign in")


@pytest.mark.parametrize("trouble", ["no folder", "damaged", "disk full"])
def test_an_invitation_is_not_used_where_no_token_can_be_kept(
    server: Server, crosstown: Any, tmp_path: Path, trouble: str
) -> None:
    """The account was made, and its only token lost."""
    if trouble == "damaged":
        damage(keep_token("https://a.example", "one"))
    elif trouble == "no folder":
        (tmp_path / "config").write_text("a file where the folder should be")
    usual, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000 if trouble == "disk full" else usual, most))
    try:
        printed = crosstown("login", server.address, "--invitation", "code", "--name", "ann")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (usual, most))
    assert printed.code == (2 if trouble == "damaged" else 3)
    assert "ladders.json" in printed.err
    assert server.requests == []


@pytest.mark.parametrize("answer", [{}, {"ladder": "x"}, []])
def test_another_program_that_answers_in_json_is_no_ladder(server: Server, crosstown: Any, answer: Any) -> None:
    """It was an unexpected KeyError or TypeError, exit code 70."""
    Path("token.txt").write_text("crosstown_x")
    server.answers = [(200, json.dumps(answer).encode())]
    printed = crosstown("login", server.address, "--token-file", "token.txt")
    assert printed.code == 2
    assert printed.err.startswith("error: the address answers, but not as a ladder does\nnext: ")
    assert not tokens_file().exists()


def test_without_a_token_the_next_step_is_to_sign_in() -> None:
    for ladder in (None, "https://c.example"):
        with pytest.raises(UsageError) as caught:
            find_token(ladder)
        assert "crosstown login" in caught.value.next_step


def damage(path: Path) -> None:
    path.write_text('{"tokens": [')


def open_to_all(path: Path) -> None:
    path.chmod(0o644)


@pytest.mark.parametrize(("how", "why"), [(damage, "is damaged"), (open_to_all, "others can read")])
def test_a_file_of_tokens_that_is_not_as_it_should_be_is_not_used(how: Callable[[Path], None], why: str) -> None:
    how(keep_token("https://a.example", "one"))
    with pytest.raises(UsageError, match=why):
        find_token(None)
