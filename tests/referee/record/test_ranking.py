"""Rankings of matches that seats have left."""

import pytest

from referee.record.ranking import final_ranking, is_decided, teams_left

ALONE = (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("state_ranking", "teams", "left", "expected"),
    [
        ((2, 1), (0, 1), (None, None), (2, 1)),
        ((1, 1), (0, 1), (None, 5), (1, 2)),
        ((1, 2), (0, 1), (3, 3), (1, 1)),
        ((1, 3, 1, 4), ALONE, (None, None, None, None), (1, 3, 1, 4)),
        ((1, 2, 3, 4), ALONE, (9, None, 4, None), (3, 1, 4, 2)),
        ((1, 2, 3, 4), ALONE, (2, 2, None, None), (3, 3, 1, 2)),
        ((1, 1, 1, 1), ALONE, (7, 3, 7, 7), (1, 4, 1, 1)),
        ((2, 1, 2, 1), (0, 1, 0, 1), (None, 6, None, None), (1, 3, 1, 3)),
        ((1, 3, 1, 3), (0, 1, 0, 1), (6, None, None, 8), (3, 1, 3, 1)),
        ((1, 3, 1, 3), (0, 1, 0, 1), (6, 6, None, None), (1, 1, 1, 1)),
    ],
)
def test_those_who_left_rank_behind_in_order_of_leaving(
    state_ranking: tuple[int, ...], teams: tuple[int, ...], left: tuple[int | None, ...], expected: tuple[int, ...]
) -> None:
    assert final_ranking(state_ranking, teams, left) == expected


@pytest.mark.parametrize(
    ("teams", "left", "expected"),
    [((0, 1), (None, None), 2), ((0, 1), (1, None), 1), ((0, 1, 0, 1), (1, None, 2, None), 1), ((0, 1), (1, 1), 0)],
)
def test_a_team_is_whole_while_all_its_members_stay(
    teams: tuple[int, ...], left: tuple[int | None, ...], expected: int
) -> None:
    assert teams_left(teams, left) == expected


@pytest.mark.parametrize(
    ("teams", "left", "expected"),
    [
        ((0, 1), (None, None), False),
        ((0, 1), (1, None), True),
        ((0, 1, 2), (1, None, None), False),
        ((0, 1, 0, 1), (1, None, None, None), True),
        ((0, 0), (None, None), False),
        ((0, 0), (None, 1), True),
        ((0,), (None,), False),
        ((0,), (1,), True),
    ],
)
def test_a_match_is_decided_when_all_others_left_or_the_only_team_is_broken(
    teams: tuple[int, ...], left: tuple[int | None, ...], expected: bool
) -> None:
    assert is_decided(teams, left) is expected
