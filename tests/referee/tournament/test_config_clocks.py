"""[clock], [limits], [faults] and `ponder` of a tournament file, and the clocks of bots."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.errors import ConfigError
from referee.match import Faults
from referee.schedule.schedule import known_matches
from referee.tournament.config import load_config
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import config_of

Write = Callable[..., Path]

HEAD = 'game = "shibuya"\nseed = 1\nblocks = 1\n'
BOTS = '[[bots]]\npath = "bots/ann"\n[[bots]]\npath = "bots/bob"\n'


@pytest.fixture
def bots(write_bot: Write) -> None:
    write_bot("ann")
    write_bot("bob", options="[options]\ndepth = 1\n")


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("[clock]\nbank_s = 30\n", {"bank_s": 30, "move_s": 1.0, "first_move_s": 5.0}),
        (
            "[clock]\ntotal_s = 60\nincrement_s = 0.5\n",
            {"total_s": 60, "increment_s": 0.5, "move_s": 0, "first_move_s": 0},
        ),
        ("[clock]\ntotal_s = 60\nmove_s = 5\n", {"total_s": 60, "move_s": 5, "first_move_s": 0}),
        ("[limits]\nmatch_s = 600\n", {"match_s": 600}),
    ],
)
def test_kinds_of_clocks(write_file: Write, bots: None, text: str, limits: dict[str, float]) -> None:
    found = load_config(write_file(HEAD + text + BOTS)).limits
    assert {name: getattr(found, name) for name in limits} == limits


def test_a_bot_may_have_a_clock_of_its_own(write_file: Write, bots: None) -> None:
    """TIM-15, CON-2: limits of start-up, warm-up, first move and move, per bot."""
    clock = "clock = { startup_s = 60, ready_s = 30, move_s = 2 }\n"
    tournament = load_tournament(write_file(HEAD + BOTS + clock))
    spec = next(iter(known_matches(config_of(tournament))))
    seat = next(number for number, seat in enumerate(spec.seats) if seat.name == "bob")
    assert (spec.limits_of(seat).move_s, spec.limits_of(seat).startup_s) == (2, 60)
    assert spec.limits_of(1 - seat).move_s == 1.0


def test_faults_and_ponder_reach_every_match(write_file: Write, bots: None) -> None:
    text = HEAD + 'ponder = false\n[faults]\npolicy = "default"\nstrikes = 3\n' + BOTS
    spec = next(iter(known_matches(config_of(load_tournament(write_file(text))))))
    assert (spec.faults, spec.ponder) == (Faults("default", 3), False)
    spec = next(iter(known_matches(config_of(load_tournament(write_file(HEAD + BOTS))))))
    assert (spec.faults, spec.ponder) == (Faults(), True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[clock]\nbank_s = -1\n", "'clock.bank_s' must be at least"),
        ("[clock]\nmove_s = 0\n", "'clock.move_s' must be at least"),
        ("[clock]\nbank_s = 1\ntotal_s = 1\n", "bank_s goes with move_s"),
        ("[clock]\nincrement_s = 1\n", "give total_s too"),
        ("[clock]\nmatch_s = 1\n", "'match_s' belongs in [limits]"),
        ('[faults]\npolicy = "draw"\n', "'faults.policy' must be forfeit, default, random"),
        ("[faults]\nstrikes = -1\n", "'faults.strikes' must be an integer"),
        ("[faults]\nstrike = 1\n", "did you mean 'strikes'"),
        (BOTS + "clock = { mov_s = 1 }\n", "unknown key 'bots[2].clock.mov_s'"),
        (BOTS + "clock = { total_s = 1, bank_s = 1 }\n", "bank_s goes with move_s"),
    ],
)
def test_what_makes_no_clock_is_told(write_file: Write, bots: None, text: str, said: str) -> None:
    with pytest.raises(ConfigError) as found:
        load_config(write_file(HEAD + (text if "[[bots]]" in text else text + BOTS)))
    assert said in f"{found.value} {found.value.next_step}"


@pytest.mark.parametrize("name", ["move_s", "first_move_s"])
@pytest.mark.parametrize("place", ["[bot_defaults]\n", BOTS, "[clock]\ntotal_s = 0\n" + BOTS])
def test_no_limit_for_a_move_is_offered_only_where_there_is_a_total(
    write_file: Write, bots: None, name: str, place: str
) -> None:
    text = f"{place}clock = {{ {name} = -1 }}\n"
    with pytest.raises(ConfigError) as found:
        load_config(write_file(HEAD + (text if "[[bots]]" in text else text + BOTS)))
    assert f"clock.{name}' must be at least 0.001, not -1" in str(found.value)
    with pytest.raises(ConfigError, match=r"must be at least 0\.001, or 0 for no limit, not -1"):
        load_config(write_file(f"{HEAD}[clock]\ntotal_s = 9\n{BOTS}clock = {{ {name} = -1 }}\n"))
    own = write_file(f"{HEAD}{BOTS}clock = {{ total_s = 9, {name} = 0 }}\n")
    assert load_config(own).bots[-1].clock == {"total_s": 9, name: 0}


@pytest.mark.parametrize("value", ["1", '"no"'])
def test_ponder_is_yes_or_no(write_file: Write, bots: None, value: Any) -> None:
    with pytest.raises(ConfigError, match="'ponder' must be true or false"):
        load_config(write_file(HEAD + f"ponder = {value}\n" + BOTS))
