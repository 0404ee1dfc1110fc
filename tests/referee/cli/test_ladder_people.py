"""What an organiser decides by command, in a ladder's database."""

import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.ladder.config import load_ladder
from referee.ladder.served import note_address
from referee.ladder.store import LadderStore
from referee.process import checkup

Crosstown = Callable[..., Any]


@pytest.fixture
def ladder(tmp_path: Path, crosstown: Crosstown) -> Path:
    """A ladder with the owner ann and her bot; its database."""
    (tmp_path / "ladder.toml").write_text('[[divisions]]\ngame = "toy"\n')
    data = tmp_path / "ladder"
    data.mkdir()
    with LadderStore(data / "ladder.db", data / "content") as store:
        store.accounts.add_owner("ann")
        store.hand_in("ann", "annbot", "c1")
    return data / "ladder.db"


def acts(crosstown: Crosstown) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(crosstown("ladder", "acts", "--file", "ladder.toml", "--json").out)["acts"]
    return found


def test_an_invitation_has_the_address_on_which_the_ladder_is_served_now(crosstown: Crosstown, ladder: Path) -> None:
    def links() -> tuple[str, str]:
        done = crosstown("ladder", "invite", "--file", "ladder.toml")
        _, _, link, command = done.out.splitlines()
        return link.partition("/join")[0], command.split()[2]

    assert set(links()) == {"http://127.0.0.1:8000"}
    note_address(replace(load_ladder(Path("ladder.toml")), port=9321))
    assert set(links()) == {"http://127.0.0.1:9321"}
    noted = ladder.parent / "serve.json"
    noted.write_text(json.dumps({**json.loads(noted.read_text()), "started": "another process with this id"}))
    assert set(links()) == {"http://127.0.0.1:8000"}


def test_each_decision_is_carried_out_and_kept_with_why(crosstown: Crosstown, ladder: Path) -> None:
    def do(*words: str) -> str:
        done = crosstown("ladder", *words, "--file", "ladder.toml")
        assert (done.code, done.err) == (0, "")
        return str(done.out)

    assert "not approved" in do("approve", "ann", "--lift", "--reason", "who is she?")
    assert "not approved" in do("people")
    assert "'ann' is approved" in do("approve", "ann")
    assert "is disabled" in do("disable", "annbot", "--reason", "prints too much")
    assert "plays again" in do("disable", "annbot", "--lift")
    assert "toy is paused" in do("pause", "toy", "--reason", "the clock changes")
    assert "toy goes on" in do("go-on", "toy")
    assert "no new blocks" in do("drain", "--reason", "the machine moves")
    assert "the ladder goes on" in do("go-on")
    assert "all pages show it" in do("notice", "The final is on Friday.")
    assert "no page shows" in do("notice")
    assert "will do it" in do("annul", "toy", "m1", "--reason", "a power cut")
    assert "'ann' is blocked" in do("block", "ann", "--reason", "cheats")
    assert "no longer blocked" in do("block", "ann", "--lift")
    code, _, link, command = do("invite", "--label", "class").splitlines()
    assert link == f"http://127.0.0.1:8000/join?code={code}"
    assert command == f"crosstown login http://127.0.0.1:8000 --invitation {code} --name NAME"
    found = [(act["what"], act["subject"], act["reason"]) for act in acts(crosstown)][::-1]
    assert found == [
        ("no longer approve", "ann", "who is she?"),
        ("approve", "ann", ""),
        ("disable", "annbot", "prints too much"),
        ("let play", "annbot", ""),
        ("pause", "toy", "the clock changes"),
        ("go on", "toy", ""),
        ("drain", "", "the machine moves"),
        ("go on", "", ""),
        ("notice", "", "The final is on Friday."),
        ("notice", "", ""),
        ("annul", "toy/m1", "a power cut"),
        ("ban", "ann", "cheats"),
        ("lift a ban", "ann", ""),
        ("invite", "class", "1 account, 14 days"),
    ]
    assert {act["who"] for act in acts(crosstown)} == {"this machine's shell"}
    lines = do("acts", "--last", "5").splitlines()
    assert len(lines) == 5
    assert any("annul toy/m1: a power cut (waits for the process that plays)" in line for line in lines)


def test_a_link_for_a_new_password_works_once(crosstown: Crosstown, ladder: Path) -> None:
    done = crosstown("ladder", "reset", "ann", "--file", "ladder.toml", "--json")
    code = json.loads(done.out)["code"]
    with LadderStore(ladder, ladder.parent / "content") as store:
        people = store.people()
        assert people.check_reset(code) == "ann"
        people.reset(code, "correct horse battery")
        people.sign_in("ann", "correct horse battery")
    assert code not in crosstown("ladder", "acts", "--file", "ladder.toml").out
    assert "/reset?code=CODE" in crosstown("ladder", "reset", "ann", "--file", "ladder.toml").out


@pytest.mark.parametrize(
    "words",
    [
        ("approve", "nobody"),
        ("reset", "nobody"),
        ("disable", "nobot"),
        ("disable", "nobot", "--lift"),
        ("pause", "nowhere"),
        ("go-on", "nowhere"),
        ("annul", "nowhere", "m1"),
        ("annul", "toy", "../m1"),
        ("notice", "x" * 501),
        ("block", "ann"),
        ("acts", "--last", "0"),
    ],
)
def test_what_cannot_be_done_is_a_sentence_and_no_act(
    crosstown: Crosstown, ladder: Path, words: tuple[str, ...]
) -> None:
    done = crosstown("ladder", *words, "--file", "ladder.toml")
    assert done.code != 0
    assert "Traceback" not in done.err
    assert done.err
    assert acts(crosstown) == []


def test_a_command_that_is_printed_is_about_the_same_ladder(crosstown: Crosstown, ladder: Path, tmp_path: Path) -> None:
    """It named no file, and so the ladder in ./ladder."""
    (tmp_path / "my class.toml").write_text('data = "other"\n[[divisions]]\ngame = "toy"\n')
    made = crosstown("ladder", "token", "bob", "--file", "my class.toml")
    revoke = shlex.split(made.out.splitlines()[-1])
    assert revoke[:3] == ["crosstown", "ladder", "revoke"]
    assert crosstown(*revoke[1:]).out == "1 token of 'bob' revoked\n"
    pages = crosstown("ladder", "season", "pages", "1", "--file", "my class.toml")
    assert "crosstown ladder season end --file 'my class.toml'" in pages.err


def test_a_season_without_a_match_ends_without_pages_and_without_an_error(crosstown: Crosstown, ladder: Path) -> None:
    done = crosstown("ladder", "season", "end", "--now", "--file", "ladder.toml")
    assert done.code == 0, done.err
    assert done.out == "season 1 has ended; it had no matches, so it has no pages\n"
    again = crosstown("ladder", "season", "end", "--now", "--json", "--file", "ladder.toml")
    assert json.loads(again.out) == {"season": 2, "folder": None, "site": None, "replays": 0}


@pytest.mark.parametrize("words", [("people",), ("token", "ann"), ("invite",), ("season", "end", "--now")])
def test_who_forgets_the_file_makes_no_second_ladder(
    crosstown: Crosstown, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """There was an empty one in ./ladder then, and a token that was good for nothing."""
    done = crosstown("ladder", *words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: there is no ladder in {tmp_path / 'ladder'}\nnext: name its file: --file FILE")
    assert not (tmp_path / "ladder").exists()


def test_git_sources_are_collected_only_in_a_sandbox_or_with_the_flag_that_goes_without(
    crosstown: Crosstown, ladder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = checkup.Probe(False, "bwrap is not installed", "install bubblewrap")
    monkeypatch.setattr(checkup, "probe", lambda: missing)
    (tmp_path / "class.toml").write_text(
        '[[bots]]\nowner = "ann"\ngit = "https://127.0.0.1:1/nothing"\nref = "main"\nname = "b"\n'
    )
    words = ("ladder", "collect", "class.toml", "--no-wait", "--file", "ladder.toml")
    refused = crosstown(*words)
    assert refused.code == 3
    assert "the sandbox does not work here: bwrap is not installed" in refused.err
    assert "--accept-plain" in refused.err
    tried = crosstown(*words, "--accept-plain")
    assert tried.code == 1
    assert "could not be fetched" in tried.out

    (tmp_path / "class.toml").write_text('[[bots]]\nowner = "ann"\npath = "nothing"\nname = "b"\n')
    without_git = crosstown(*words)
    assert without_git.code == 1
    assert "does not exist" in without_git.out


@pytest.mark.parametrize("wait", [pytest.param(("--limit", "0.1"), marks=pytest.mark.slow), ("--no-wait",)])
def test_who_waits_for_a_class_in_a_ladder_that_does_not_run_is_warned_once(
    crosstown: Crosstown, ladder: Path, tmp_path: Path, write_bot: Callable[[str], Path], wait: tuple[str, ...]
) -> None:
    write_bot("ann")
    (tmp_path / "class.toml").write_text('[[bots]]\nowner = "ann"\npath = "bots/ann"\n')
    done = crosstown("ladder", "collect", "class.toml", *wait, "--file", "ladder.toml")
    assert (done.code, done.out) == (0, "ann: 'ann' version 1 received\n")
    assert done.err.count("warning: the ladder is not running") == ("--limit" in wait)
