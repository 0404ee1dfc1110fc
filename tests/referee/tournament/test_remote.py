"""Bots that dial in to a tournament: what the file says of them, their tokens, and what a worker is told."""

import json
from pathlib import Path

import pytest

from referee.errors import ConfigError
from referee.process.checkup import probe
from referee.run.folder import changes
from referee.schedule.config import digest
from referee.schedule.spec import Limits
from referee.tournament import messages
from referee.tournament.confine import confine_all
from referee.tournament.entrants import folders_needed, load_tournament
from referee.tournament.identity import describe, seats_of
from referee.tournament.remote import Guests, invite_all, waiting_words
from referee.wire import Listen

TOKEN = "0123456789abcdef"
FILE = """\
game = "toy"
seed = 1
blocks = 2
[remote]
listen = "127.0.0.1:0"
wait_s = 5
reconnect_s = 7
[[bots]]
path = "bots/ann"
[[bots]]
remote = true
name = "Ada"
token_env = "ADA_TOKEN"
version = "3"
"""
BOB = '[[bots]]\nremote = true\nname = "Bob"\ntoken_file = "bob.token"\nclock = { margin_s = 1, move_s = 9 }\n'


@pytest.fixture
def bots(write_bot, monkeypatch):
    write_bot("ann")
    monkeypatch.setenv("ADA_TOKEN", TOKEN)


def write_token(folder: Path, text: str, mode: int = 0o600) -> None:
    (folder / "bob.token").write_text(text)
    (folder / "bob.token").chmod(mode)


def test_a_bot_that_dials_in_is_known_by_name_and_version(write_file, bots):
    tournament = load_tournament(write_file(FILE + BOB))
    ada, bob = seats_of(tournament)[1:]
    assert (ada.name, ada.version, ada.clock) == ("Ada", "3", {"margin_s": 0.25})
    assert (bob.name, bob.version, bob.clock) == ("Bob", "remote", {"margin_s": 1, "move_s": 9})
    newer = load_tournament(write_file(FILE.replace('version = "3"', 'version = "4"')))
    assert seats_of(newer)[1].entry_id != ada.entry_id


@pytest.mark.parametrize(("before", "after", "same"), [(7, 8, False), (7, 7, True), (60, None, True)])
def test_another_time_to_come_back_is_another_tournament(write_file, bots, before, after, same):
    plans = []
    for reconnect_s in (before, after):
        line = "" if reconnect_s is None else f"reconnect_s = {reconnect_s}\n"
        plans.append(describe(load_tournament(write_file(FILE.replace("reconnect_s = 7\n", line)))))
    found = changes(*plans)
    assert (digest(plans[0]) == digest(plans[1]), found == ()) == (same, same)
    assert same or found == ("remote.reconnect_s: 7.0 -> 8.0",)


def test_it_has_no_folder_to_build_and_no_sandbox(write_file, bots):
    tournament = load_tournament(write_file(FILE))
    assert [bot.folder.name for bot in folders_needed(tournament.config, ())] == ["ann"]
    assert list(confine_all(tournament, probe()).sandboxes) == [tournament.entries[0].id]


def test_tokens_come_from_the_environment_or_from_a_file(write_file, bots, tmp_path):
    write_token(tmp_path, " bob's-own-secret-token\n")
    tournament = load_tournament(write_file(FILE + BOB))
    guests = invite_all(tournament, tmp_path / "tls")
    assert guests is not None
    ada, bob = guests.invited.values()
    assert (ada.token, ada.wait_s, ada.reconnect_s, ada.version) == (TOKEN, 5, 7, "3")
    assert (bob.token, bob.version, bob.limits.move_s) == ("bob's-own-secret-token", "", 9)
    assert guests.listen.certificate == tmp_path / "tls" / "certificate.pem"


def test_a_token_is_nowhere_in_what_is_kept(write_file, bots):
    assert TOKEN not in json.dumps(describe(load_tournament(write_file(FILE))))


def test_a_certificate_is_kept_while_it_is_fresh(write_file, bots, tmp_path):
    tournament = load_tournament(write_file(FILE))
    texts = []
    for _ in range(2):
        invite_all(tournament, tmp_path / "tls")
        texts.append((tmp_path / "tls" / "certificate.pem").read_text())
    assert texts[0] == texts[1]


def test_nobody_is_invited_who_has_left(write_file, bots, tmp_path):
    tournament = load_tournament(write_file(FILE))
    assert invite_all(tournament, tmp_path / "tls", {tournament.entries[1].id}) is None


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ("", "there is no token of 'Bob'"),
        ("short", "one word of 16 to 4096"),
        ("two words of many letters", "one word of 16 to 4096"),
        ("\u00e9" * 20, "one word of 16 to 4096"),
        ("a" * 4097, "one word of 16 to 4096"),
        (TOKEN, "'Bob' has the token of another bot"),
    ],
    ids=["empty", "short", "two words", "not ASCII", "long", "another's"],
)
def test_a_token_that_is_no_good_is_refused(write_file, bots, tmp_path, token, said):
    write_token(tmp_path, token)
    tournament = load_tournament(write_file(FILE + BOB))
    with pytest.raises(ConfigError, match=said) as caught:
        invite_all(tournament, tmp_path / "tls")
    assert token not in str(caught.value) or not token


def test_a_token_that_others_can_read_is_refused(write_file, bots, tmp_path):
    write_token(tmp_path, "bob's-own-secret-token", 0o644)
    with pytest.raises(ConfigError, match="can be read by others") as caught:
        invite_all(load_tournament(write_file(FILE + BOB)), tmp_path / "tls")
    assert "chmod 600" in caught.value.next_step


def test_a_token_that_is_not_there_is_named(write_file, bots, tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match=r"bob\.token cannot be read \(No such file or directory\)$"):
        invite_all(load_tournament(write_file(FILE + BOB)), tmp_path / "tls")
    monkeypatch.delenv("ADA_TOKEN")
    with pytest.raises(ConfigError, match="no token of 'Ada' in the environment variable ADA_TOKEN") as caught:
        invite_all(load_tournament(write_file(FILE)), tmp_path / "tls")
    assert "export ADA_TOKEN=" in caught.value.next_step


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('listen = "127.0.0.1:0"', "", "'remote.listen' is missing"),
        ('"127.0.0.1:0"', '"7000"', "'7000' is not HOST:PORT"),
        ("wait_s = 5", "wait_s = -1", "'remote.wait_s' must be a number from 0"),
        ("wait_s = 5", 'key = "k.pem"', "belong together"),
        ("wait_s = 5", "plain = 1", "'remote.plain' must be true or false"),
        ("wait_s = 5", 'plain = true\nkey = "k"\ncertificate = "c"', "without TLS, and there is a certificate"),
        ("wait_s = 5", 'public = "a:1"', "'remote.public': 'a:1' is not the name of a machine"),
        ("wait_s = 5", "colour = 1", "unknown key 'remote.colour'"),
        ("remote = true", 'remote = true\npath = "x"', "is for bots that the referee starts"),
        ("remote = true", "remote = true\nnetwork = true", "is for bots that the referee starts"),
        ("remote = true", "remote = true\noptions = { a = 1 }", "is for bots that the referee starts"),
        ("remote = true", 'remote = true\ndevices = ["/dev/null"]', "is for bots that the referee starts"),
        ("remote = true", "remote = true\nfresh = true", "is for bots that the referee starts"),
        ("remote = true", "remote = true\ncopies = 1", "is for bots that the referee starts"),
        ("remote = true", "remote = 1", "must be true or false"),
        ("remote = true", 'path = "bots/ann"', "is for remote bots"),
        ('name = "Ada"', "", "name' is missing"),
        ('token_env = "ADA_TOKEN"', "", "needs its token from one place"),
        ('token_env = "ADA_TOKEN"', 'token_env = "A"\ntoken_file = "b"', "needs its token from one place"),
        ('version = "3"', 'version = "a\\u0007"', "printable characters"),
        ("seed = 1", "seed = 1\nponder = false", "cannot be stopped while it is not asked"),
        ("seed = 1", "seed = 1\nround-robin.mirrors = true", "2 seats of a match; a remote bot takes one at a time"),
    ],
)
def test_what_makes_no_sense_is_refused(write_file, bots, old, new, said):
    assert old in FILE
    with pytest.raises(ConfigError, match=said) as caught:
        load_tournament(write_file(FILE.replace(old, new, 1)))
    assert caught.value.next_step


def test_without_the_section_nobody_dials_in(write_file, bots):
    start, end = FILE.index("[remote]"), FILE.index("[[bots]]")
    with pytest.raises(ConfigError, match="does not say where") as caught:
        load_tournament(write_file(FILE[:start] + FILE[end:]))
    assert "[remote]" in caught.value.next_step


@pytest.mark.parametrize("version", ['version = "3"', "", 'version = "remote"'])
@pytest.mark.parametrize("plain", [False, True])
def test_a_worker_is_told_all_of_it(write_file, bots, tmp_path, plain, version):
    tournament = load_tournament(write_file(FILE.replace('version = "3"', version)))
    guests = invite_all(tournament, tmp_path / "tls")
    assert guests is not None
    if plain:
        guests = Guests(Listen("127.0.0.1", 0, plain=True), guests.invited, guests.entries)
    line = messages.setup_line(tournament.entries, tmp_path, tmp_path, None, None, guests)
    kind, setup = messages.read_line(line)
    assert (kind, setup.guests) == ("setup", guests)
    assert [bot.name for bot in setup.bots] == ["ann"]
    words = waiting_words(guests, "127.0.0.1:7000")
    assert ("waiting up to 5 s for 'Ada' at CROSSTOWN_ADDRESS=127.0.0.1:7000" in words, "TLS" in words) == (True, True)
    assert TOKEN not in words


def test_limits_are_those_of_the_tournament_with_its_own(write_file, bots, tmp_path):
    tournament = load_tournament(write_file(FILE + "[clock]\nmove_s = 3\n"))
    guests = invite_all(tournament, tmp_path / "tls")
    assert guests is not None
    (ada,) = guests.invited.values()
    assert ada.limits == Limits(move_s=3, margin_s=0.25)


@pytest.mark.parametrize(
    ("in_file", "clock", "keepalive_s"),
    [
        ("", "", 20),
        ("", "clock = { move_s = 40 }\n", 50),
        ("", "clock = { ready_s = 40 }\n", 50),
        ("", "clock = { move_s = 600 }\n", 75),
        ("keepalive_s = 3\n", "clock = { move_s = 600 }\n", 3),
    ],
    ids=["usual", "long moves", "long preparation", "very long moves", "the organiser's"],
)
def test_a_silent_connection_is_found_within_the_time_that_the_file_or_the_clocks_give(
    write_file, bots, tmp_path, in_file, clock, keepalive_s
):
    text = FILE.replace("reconnect_s = 7\n", f"reconnect_s = 7\n{in_file}")
    guests = invite_all(load_tournament(write_file(text + clock)), tmp_path / "tls")
    assert guests is not None
    assert guests.listen.keepalive_s == keepalive_s
    line = messages.setup_line(tuple(guests.entries.values()), tmp_path, tmp_path, None, None, guests)
    kind, setup = messages.read_line(line)
    assert (kind, setup.guests.listen) == ("setup", guests.listen)


def test_a_keepalive_that_one_lost_packet_breaks_is_refused(write_file, bots):
    for given in ("0.5", '"x"'):
        with pytest.raises(ConfigError, match=r"'remote.keepalive_s' must be a number from 1 to 86400, not "):
            load_tournament(write_file(FILE.replace("reconnect_s = 7\n", f"keepalive_s = {given}\n")))
