"""Hidden hands: what each viewer may see, and states drawn anew from it."""

from collections import Counter
from random import Random
from typing import Any

import pytest

from referee.games.manhattan_traffiq import GAME
from referee.games.manhattan_traffiq.actions import TEXT

from . import positions as pos
from .positions import options, wander


def test_an_observation_shows_the_viewers_own_hand_only() -> None:
    state = pos.position(pos.grid(2, 2), players=3, hands=[["tttt"], ["rrrr", "bbbb"], ["gggg"]])
    assert state.observation(1).hands == ((), ("bbbb", "rrrr"), ())
    assert state.observation(None).hands == ((), (), ())
    assert state.observation(0).hand_sizes == (1, 2, 1)


def test_what_a_viewer_does_not_see_is_counted_together() -> None:
    hands = [["tttt"], ["rrrr", "bbbb"], ["gggg"]]
    state = pos.position(pos.grid(2, 2), players=3, hands=hands, stock={"tttt": 2, "rrrr": 1})
    seen = state.observation(1)
    counts = {name: count for name, count in zip(seen.facts.tile_names, seen.unseen, strict=True) if count}
    assert counts == {"tttt": 3, "rrrr": 1, "gggg": 1}


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("seed", range(3))
def test_nothing_a_viewer_gets_depends_on_what_it_cannot_see(players: int, seed: int) -> None:
    """Redeal all that v does not know: v's observation, legal list and, for the same answer, events stay the same."""
    rng = Random(seed)
    moved = 0
    hidden = 0

    def visit(state: Any) -> None:
        nonlocal moved, hidden
        for viewer in (*range(players), None):
            other = state.resample(viewer, rng)
            assert other.observation(viewer) == state.observation(viewer)
            assert GAME.codec.encode_observation(other.observation(viewer)) == GAME.codec.encode_observation(
                state.observation(viewer)
            )
            assert other.decisions() == state.decisions()
            assert GAME.conserved(other) == GAME.conserved(state)
            if any(len(hand) for seat, hand in enumerate(state.hands) if seat != viewer) and state.stock_left > 10:
                hidden += 1
                moved += other.to_dict() != state.to_dict()
            if state.decisions() and state.seat == viewer:
                assert other.legal_actions(viewer) == state.legal_actions(viewer)
                for action in state.legal_actions(viewer)[::9]:
                    one, two = state.clone(), other.clone()
                    seen = [event.seen_by(viewer) for event in one.apply({viewer: action})]
                    assert seen == [event.seen_by(viewer) for event in two.apply({viewer: action})]
                    assert one.observation(viewer) == two.observation(viewer)

    wander(players, options(turn_limit=30), seed, visit)
    assert moved >= 0.9 * hidden > 0


def test_a_viewers_own_hand_the_map_and_the_stock_count_survive_resampling() -> None:
    state = pos.position(pos.grid(2, 2), hands=[["rrrr", "bbbb"], ["gggg"]], stock={"tttt": 5})
    other = state.resample(0, Random(1))
    assert other.observation(0) == state.observation(0)
    assert other.to_dict()["hands"][0] == ["bbbb", "rrrr"]
    assert sum(other.to_dict()["stock"].values()) == 5


def test_with_open_hands_nothing_is_hidden() -> None:
    def visit(state: Any) -> None:
        for viewer in (0, 1, None):
            assert state.resample(viewer, Random(3)).to_dict() == state.to_dict()

    wander(2, options(hands="open", turn_limit=12), 5, visit)


def test_resampling_leaves_the_state_alone() -> None:
    state = pos.position(pos.grid(2, 2), hands=[["rrrr"], ["gggg"]], stock={"tttt": 5})
    before = state.to_dict()
    state.resample(0, Random(1))
    assert state.to_dict() == before


@pytest.mark.slow
def test_every_unseen_tile_is_equally_likely_in_a_hidden_hand() -> None:
    """One hidden tile, four unseen ones of which two are alike: 1/2, 1/4, 1/4."""
    state = pos.position(pos.grid(2, 2), hands=[[], ["gggg"]], stock={"tttt": 2, "rrrr": 1})
    rng = Random(9)
    counts = Counter(state.resample(0, rng).to_dict()["hands"][1][0] for _ in range(4000))
    for name, share in (("tttt", 0.5), ("rrrr", 0.25), ("gggg", 0.25)):
        assert abs(counts[name] / 4000 - share) < 0.03


def test_the_deal_depends_on_what_is_unseen_not_on_where_it_is() -> None:
    one = pos.position(pos.grid(2, 2), hands=[[], ["gggg"]], stock={"tttt": 2, "rrrr": 1})
    data = one.to_dict()
    data["hands"], data["stock"] = [[], ["rrrr"]], {"gggg": 1, "tttt": 2}
    two = GAME.state_from_dict(data)
    for seed in range(20):
        assert one.resample(0, Random(seed)).to_dict() == two.resample(0, Random(seed)).to_dict()


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("given", [{}, {"hands": "open", "scenario": "central_park"}, {"tiles_may_rotate": False}])
def test_a_state_from_an_observation_looks_the_same_to_its_viewer(players: int, given: dict[str, Any]) -> None:
    rng = Random(4)
    full = options(turn_limit=30, **given)

    def visit(state: Any) -> None:
        for viewer in (*range(players), None):
            seen = state.observation(viewer)
            other = GAME.from_observation(seen, (), full, rng)
            assert other.observation(viewer) == seen
            assert other.decisions() == state.decisions()
            assert GAME.conserved(other) == GAME.conserved(state)
            assert other.ranking() == state.ranking()
            if state.decisions() and state.seat == viewer:
                assert other.legal_actions(viewer) == state.legal_actions(viewer)

    wander(players, full, 11, visit)


def test_attaching_shows_a_tile_to_all() -> None:
    state = pos.position(pos.grid(2, 2), hands=[["tttt"], []])
    (event,) = state.apply({0: TEXT.parse("attach(face=tttt,x=2,y=0)")})
    assert event.private == {}
    assert event.public.face == "tttt"
