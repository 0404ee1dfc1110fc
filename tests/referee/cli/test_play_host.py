"""People at the browser, as far as the host goes: the toy game against bots of this checkout."""

import base64
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaderboard.web.play_host import HUMAN, HumanSeat, PlayRefused, Setup, Standpoint
from referee.cli import play_host
from referee.cli.person import QUESTIONS, Person
from referee.cli.play_host import Host
from referee.games.api import resolve_options
from referee.games.registry import get_game
from referee.record import read_record
from tests.living import open_files

BOTS = Path(__file__).resolve().parents[3] / "bots" / "python"


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    with Host(tmp_path / "runs", [BOTS]) as host:
        yield host


def against_random(host: Host) -> Setup:
    (bot,) = (found for found in host.opponents("toy") if found.name == "random")
    return Setup("toy", (HUMAN, bot.id))


def wait_for(seat: HumanSeat, what: Callable[[Standpoint], bool]) -> Standpoint:
    end = time.monotonic() + 60
    while not what(now := seat.now()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
    return now


def ended_or_asked(now: Standpoint) -> bool:
    return bool(now.over) or now.question is not None


def record_of(host: Host, seat: HumanSeat):
    return read_record(host.run / "matches" / f"{seat.match_id}.jsonl.gz")


def test_a_match_is_played_to_its_end_and_leaves_an_ordinary_record(host: Host) -> None:
    (seat,) = host.start(against_random(host))
    answered = 0
    while not (now := wait_for(seat, ended_or_asked)).over:
        assert now.question is not None
        assert now.question.left_s is None
        assert seat.answer(now.question.decision, len(now.question.legal) - 1)
        assert not seat.answer(now.question.decision, 0)
        answered += 1
    assert "human" in now.over
    assert now.events
    record = record_of(host, seat)
    assert record.footer is not None
    assert record.footer.status == "rated"
    assert record.footer.seat_stats[0].decisions == answered
    assert host.seat(seat.match_id, seat.key) is seat
    assert host.seat(seat.match_id, "other") is None


def test_two_people_play_each_other_and_see_their_own_questions(host: Host) -> None:
    seats = host.start(Setup("toy", (HUMAN, HUMAN), name="Eve"))
    assert [seat.seat for seat in seats] == [0, 1]
    assert seats[0].names == ("Eve 1", "Eve 2")
    assert seats[0].key != seats[1].key
    while not all(seat.now().over for seat in seats):
        for seat in seats:
            question = seat.now().question
            if question is not None:
                assert seat.answer(question.decision, 0)
        time.sleep(0.005)
    footer = record_of(host, seats[0]).footer
    assert footer is not None
    assert footer.reason == "normal"


def test_the_clock_decides_for_who_has_gone_away(tmp_path: Path) -> None:
    with Host(tmp_path / "runs", [BOTS], move_limit_s=1) as host:
        (seat,) = host.start(against_random(host))
        asked = wait_for(seat, lambda now: now.question is not None).question
        assert asked is not None
        assert asked.left_s is not None
        assert 0 < asked.left_s <= 1
        assert "move_timeout" in wait_for(seat, lambda now: bool(now.over)).over


def test_a_person_may_resign(host: Host) -> None:
    (seat,) = host.start(against_random(host))
    asked = wait_for(seat, lambda now: now.question is not None).question
    assert asked is not None
    assert seat.answer(asked.decision, None)
    assert "resigned" in wait_for(seat, lambda now: bool(now.over)).over


def test_what_goes_on_when_the_server_ends_is_cancelled(tmp_path: Path) -> None:
    with Host(tmp_path / "runs", [BOTS]) as host:
        (seat,) = host.start(against_random(host))
        wait_for(seat, lambda now: now.question is not None)
    footer = record_of(host, seat).footer
    assert footer is not None
    assert footer.status == "cancelled"
    assert "ended with the server" in seat.now().over


@pytest.mark.parametrize(
    ("setup", "why"),
    [
        (Setup("toy", ("0", "0")), "no seat is a person's"),
        (Setup("toy", (HUMAN,)), "players"),
        (Setup("none", (HUMAN, HUMAN)), "none"),
        (Setup("toy", (HUMAN, "no bot")), "a chosen bot does not exist any more"),
        (Setup("toy", (HUMAN, HUMAN), {"odd": "1"}), "odd"),
        (Setup("toy", (HUMAN, HUMAN), bot_move_s=-1), "move_s"),
        (Setup("toy", (HUMAN, HUMAN), name="a\nb"), "name"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_sentence(host: Host, setup: Setup, why: str) -> None:
    with pytest.raises(PlayRefused, match=why):
        host.start(setup)


@pytest.mark.parametrize("alone", [True, False])
def test_strangers_do_not_read_where_the_bots_of_this_machine_are(tmp_path: Path, alone: bool) -> None:
    bot = tmp_path / "bots" / "ann"
    bot.mkdir(parents=True)
    (bot / "bot.toml").write_text('name = "ann"\nversion = "1"\ngames = ["*"]\nrun = ["{python}", "bot.py"]\n')
    (bot / "out.txt").symlink_to("/etc/hostname")
    with Host(tmp_path / "runs", [bot], move_limit_s=60, alone=alone) as host:
        with pytest.raises(PlayRefused, match=r"out\.txt") as refused:
            host.start(Setup("toy", (HUMAN, "0")))
        assert (str(tmp_path) in refused.value.sentence) is alone


@pytest.mark.slow
def test_who_answers_too_late_is_refused_and_told_while_the_others_play_on(tmp_path: Path) -> None:
    with Host(tmp_path / "runs", [BOTS], move_limit_s=2) as host:
        (bot,) = (found for found in host.opponents("toy") if found.name == "random")
        late, other = host.start(Setup("toy", (HUMAN, HUMAN, bot.id)))
        asked = wait_for(late, lambda now: now.question is not None).question
        assert asked is not None
        now = wait_for(late, lambda now: now.question is None)
        assert "Your time was over" in now.notice
        assert not now.over
        assert not late.answer(asked.decision, 0)
        while not (now := other.now()).over:
            if now.question is not None:
                other.answer(now.question.decision, 0)
            assert late.now().question is None
            time.sleep(0.02)
        assert late.now().over == now.over


class Pipes:
    """A seat without a bridge, whose pipes the test reads and writes."""

    def __init__(self, folder: Path) -> None:
        self.person = Person(folder, get_game("toy"), "m1", 0, ("ann", "bob"))
        self.writes = os.open(folder / QUESTIONS, os.O_WRONLY)

    def say(self, **said: Any) -> None:
        os.write(self.writes, json.dumps(said).encode() + b"\n")
        self.person.take()


@pytest.fixture
def pipes(tmp_path: Path) -> Iterator[Pipes]:
    pipes = Pipes(tmp_path)
    yield pipes
    pipes.person.end("over")
    os.close(pipes.writes)


def question(decision: int) -> dict[str, Any]:
    game = get_game("toy")
    state = game.new_initial_state(2, resolve_options("toy", game.options, {}))
    while state.chance_outcomes():
        state.apply_chance(state.chance_outcomes()[0][0])
    messages = {
        "events": game.codec.encode_events(()),
        "observation": game.codec.encode_observation(state.observation(0)),
        "legal_actions": game.codec.encode_actions(state.legal_actions(0)),
    }
    shown = {name: base64.b64encode(data).decode() for name, data in messages.items()}
    return {"type": "decide", "decision": decision, "kind": "stash", "left_s": 1e6, "legal_count": 1, **shown}


def test_a_seat_that_has_left_is_told_so(pipes: Pipes) -> None:
    pipes.say(type="match_end")
    assert pipes.person.now().notice == "The match is over for you."


def test_a_bridge_that_reads_nothing_takes_no_answer(pipes: Pipes) -> None:
    pipes.say(**question(1))
    with suppress(BlockingIOError):
        while True:
            os.write(pipes.person._pipes[0], b"x" * 4096)  # until it is full
    assert not pipes.person.answer(1, 0)


def test_pipes_are_closed_if_one_of_them_cannot_be_made(tmp_path: Path) -> None:
    before = open_files()
    (tmp_path / QUESTIONS).touch()
    with pytest.raises(FileExistsError):
        Person(tmp_path, get_game("toy"), "m1", 0, ("ann",))
    assert open_files() <= before


def test_where_strangers_play_no_seat_is_shown(tmp_path: Path) -> None:
    with Host(tmp_path / "runs", [BOTS], alone=False) as host:
        (seat,) = host.start(against_random(host))
        assert host.going_on() == []
        assert host.seat(seat.match_id, seat.key) is seat


def test_a_stranger_sets_only_options_whose_values_have_bounds(tmp_path: Path) -> None:
    """A board of no rows ends the process in which the match is played, and with it all pages."""
    pytest.importorskip("pyspiel")
    name = "openspiel/connect_four"
    with Host(tmp_path / "runs", [BOTS], alone=False) as host:
        (bot,) = (found for found in host.opponents(name) if found.name == "random")
        for option, value in (("rows", "0"), ("rows", "5"), ("none", "1")):
            with pytest.raises(PlayRefused, match=f"the option '{option}' cannot be set here"):
                host.start(Setup(name, (HUMAN, bot.id), {option: value}))
        assert host.start(Setup(name, (HUMAN, bot.id), {"tensors": "false"}))
        assert "rows" not in [option.name for option in host.options(name)]
        assert host.options("shibuya") == list(get_game("shibuya").options)
    with Host(tmp_path / "own", [BOTS]) as host:
        assert "rows" in [option.name for option in host.options(name)]


def test_a_stranger_gives_bots_no_more_time_than_people_have(tmp_path: Path) -> None:
    """They compute on the organiser's machine."""
    with Host(tmp_path / "runs", [BOTS], move_limit_s=3, alone=False) as host:
        with pytest.raises(PlayRefused, match="3 s for a move"):
            host.start(replace(against_random(host), bot_move_s=3.5))
        (seat,) = host.start(replace(against_random(host), bot_move_s=3))
        assert host.seat(seat.match_id, seat.key) is seat


def test_one_address_has_some_of_the_places_where_strangers_play(tmp_path: Path) -> None:
    with Host(tmp_path / "runs", [BOTS], alone=False) as host:
        (seat,) = host.start(against_random(host), "10.0.0.1")
        host.start(against_random(host), "10.0.0.1")
        with pytest.raises(PlayRefused, match="2 matches of your address are being played"):
            host.start(against_random(host), "10.0.0.1")
        host.start(against_random(host), "10.0.0.2")
        asked = wait_for(seat, lambda now: now.question is not None).question
        assert asked is not None
        seat.answer(asked.decision, None)
        wait_for(seat, lambda now: bool(now.over))
        assert host.start(against_random(host), "10.0.0.1")


def test_a_name_that_is_refused_is_refused_without_a_path_of_this_machine(host: Host) -> None:
    with pytest.raises(PlayRefused, match="control character") as refused:
        host.start(replace(against_random(host), name="a\nb"))
    assert "/" not in str(refused.value)


def test_with_a_secret_no_match_has_the_luck_of_one_before_the_server_was_started_again(tmp_path: Path) -> None:
    """Its record is on the pages, and so is its seed."""
    secret = tmp_path / "secret"
    secret.write_text(f"{'ab' * 16}\n")
    secret.chmod(0o600)
    seeds = []
    for folder in ("runs", "runs", "elsewhere"):
        with Host(tmp_path / folder, [BOTS], alone=False, secret=secret) as host:
            (seat,) = host.start(against_random(host))
            question = wait_for(seat, ended_or_asked).question
            assert question is not None
            seat.answer(question.decision, None)
            wait_for(seat, lambda now: bool(now.over))
        seeds.append(record_of(host, seat).footer.seed)
    assert seeds[0] != seeds[1]
    assert seeds[0] == seeds[2], "the same secret gives the same luck from the start"


def test_a_match_that_nobody_follows_is_ended(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(play_host, "LOOK_S", 0.01)
    (seat,) = host.start(against_random(host))
    assert host.going_on() == [seat]
    wait_for(seat, lambda now: now.question is not None)
    monkeypatch.setattr(play_host, "UNSEEN_S", 0.0)
    assert "nobody followed it" in wait_for(seat, lambda now: bool(now.over)).over
    assert host.going_on() == []
    footer = record_of(host, seat).footer
    assert footer is not None
    assert footer.status == "cancelled"
