"""Stages: groups and then a knockout in one run; seeding by an order or by ratings."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.errors import ConfigError
from referee.schedule.formats import knockout, stages, swiss
from referee.schedule.formats.registry import get_format
from referee.tournament.config import load_config
from tests.referee.schedule.played import by_chance, by_strength, field_of, played_out, rounds_of


def stage(name, style, *, blocks=1, groups=1, advance=None, **given):
    wanted = {one.name: one.default for one in stages.settings_of(get_format(style)) if not one.later} | given
    return {
        "name": name, "format": style, "blocks": blocks, "groups": groups, "advance": advance, "settings": wanted,
    }  # fmt: skip


def cup(bots, *parts, players=2, **more):
    field = field_of(stages.FORMAT, bots, players)
    return type(field)(field.names, field.variants, 1, 1, {"stages": list(parts), **more})


def by_stage(blocks):
    found = {}
    for block in blocks:
        found.setdefault(block.block.stage, []).append(block)
    return found


GROUPS = stage("groups", "round-robin", groups=4, advance=2)
FINAL = stage("cup", "knockout", bracket="fixed", extra=0)


def test_groups_are_dealt_there_and_back_and_their_first_two_play_the_knockout():
    field = cup(16, GROUPS, FINAL)
    assert stages.FORMAT.check(field) == ""
    blocks, table, _ = played_out(stages.FORMAT, field, by_strength)
    made = by_stage(blocks)
    assert list(made) == ["groups A", "groups B", "groups C", "groups D", "cup"]
    assert {bot for block in made["groups A"] for bot in block.block.group} == {0, 7, 8, 15}
    assert rounds_of(made["cup"])[0] == [(0, 5), (2, 7), (1, 6), (3, 4)] or Counter(
        bot for tables in rounds_of(made["cup"])[0] for bot in tables
    ) == Counter(range(8))
    assert [(row.bot, row.rank) for row in table[:2]] == [(0, 1), (1, 2)]
    first = table[0].columns
    assert list(first)[:5] == [
        "groups group",
        "groups rank",
        "groups points",
        "groups buchholz",
        "groups sonneborn-berger",
    ]
    assert (first["groups group"], first["groups rank"], first["groups points"], first["cup rank"]) == (
        "A",
        "1",
        "3",
        "1",
    )
    assert table[-1].columns["cup rank"] == "-"
    assert [row.rank for row in table[8:]] == [9] * 4 + [13] * 4
    matches = sum(len(block.matches) for block in blocks)
    assert stages.FORMAT.extent(field).most == matches == stages.FORMAT.extent(field).least


@pytest.mark.parametrize("bracket", ["fixed", "reseeded"])
@pytest.mark.parametrize("groups", [2, 3, 4, 5, 7, 8])
def test_the_first_two_of_each_group_do_not_meet_in_the_first_round_of_any_bracket(groups, bracket):
    given_stages = (
        stage("groups", "round-robin", groups=groups, advance=2),
        stage("cup", "knockout", bracket=bracket, extra=0),
    )
    blocks, _, _ = played_out(stages.FORMAT, cup(3 * groups, *given_stages), by_chance(random.Random(groups)), {})
    made = by_stage(blocks)
    first = [block.block.group for block in made.pop("cup") if block.block.round == 1]
    group_of = {bot: name for name, part in made.items() for block in part for bot in block.block.group}
    assert first
    assert [pair for pair in first if group_of[pair[0]] == group_of[pair[1]]] == []


@given(st.integers(4, 40), st.integers(1, 6), st.integers(1, 3), st.randoms(use_true_random=False), st.data())
@settings(max_examples=40, deadline=None)
def test_no_two_of_a_group_meet_in_the_first_round_of_the_cup_where_that_can_be(bots, groups, advance, chance, data):
    if bots < groups * (advance + 1):
        return
    style = data.draw(st.sampled_from(["round-robin", "swiss"]))
    bracket = data.draw(st.sampled_from(["fixed", "reseeded"]))
    leaving = data.draw(st.dictionaries(st.integers(0, bots - 1), st.integers(0, 3 * bots), max_size=bots // 4))
    field = cup(
        bots, stage("groups", style, groups=groups, advance=advance), stage("cup", "knockout", bracket=bracket, extra=0)
    )
    if groups * advance == 1:
        return
    blocks, table, _ = played_out(stages.FORMAT, field, by_chance(chance), leaving)
    assert sorted(row.bot for row in table) == list(range(bots))
    made = by_stage(blocks)
    final = made.pop("cup", [])
    group_of = {bot: name for name, part in made.items() for block in part for bot in block.block.group}
    if final:
        assert {bot for block in final for bot in block.block.group} <= group_of.keys()
    if not leaving:
        assert len({bot for block in final for bot in block.block.group}) == groups * advance
        if groups > 1 and advance == 2:
            first = [block.block.group for block in final if block.block.round == 1]
            assert not any(group_of[one] == group_of[other] for one, other in first)
    for part in (*made.values(), final):
        for tables in rounds_of(part):
            assert len(set(tables)) == len(tables)


def test_tables_of_a_round_are_numbered_over_all_groups():
    blocks, _, _ = played_out(stages.FORMAT, cup(8, stage("a", "swiss", groups=2, advance=1), FINAL), by_strength)
    first = [block.block for block in blocks if block.block.stage.startswith("a ") and block.block.round == 1]
    assert [block.table for block in first] == [1, 2, 3, 4]
    assert [block.stage for block in first] == ["a A", "a B", "a A", "a B"]


def test_who_leaves_between_the_stages_makes_room_for_the_next_of_its_group():
    field = cup(8, stage("groups", "round-robin", groups=2, advance=1), FINAL)
    blocks, _, _ = played_out(stages.FORMAT, field, by_strength, leaving={0: 12})
    assert {bot for block in by_stage(blocks)["cup"] for bot in block.block.group} == {1, 3}


@pytest.mark.parametrize("style", ["round-robin", "knockout"])
@pytest.mark.parametrize("advance", [2, 3])
@pytest.mark.parametrize("left", [(), (0,), (0, 1), (0, 1, 3), (0, 3)])
def test_a_stage_ends_with_whoever_is_left_of_its_groups(style, advance, left):
    field = cup(8, stage("groups", style, groups=2, advance=advance), FINAL)
    leaving = {bot: 2 for bot in range(8) if bot not in left}
    blocks, table, _ = played_out(stages.FORMAT, field, by_strength, leaving)
    assert sorted(row.bot for row in table) == list(range(8))
    final = {bot for block in by_stage(blocks).get("cup", ()) for bot in block.block.group}
    assert final == (set(left) if len(left) > 1 else set())


def test_three_stages_follow_each_other():
    field = cup(
        12,
        stage("first", "round-robin", groups=3, advance=2),
        stage("second", "swiss", groups=2, advance=1),
        stage("third", "knockout", extra=0),
    )
    assert stages.FORMAT.check(field) == ""
    blocks, table, _ = played_out(stages.FORMAT, field, by_strength)
    assert [name.split()[0] for name in by_stage(blocks)] == ["first"] * 3 + ["second"] * 2 + ["third"]
    assert [row.bot for row in table[:2]] == [0, 1]


@pytest.mark.parametrize(
    ("bots", "parts", "words"),
    [
        (
            6,
            [stage("g", "round-robin", groups=4, advance=1), FINAL],
            "stage 'g' has 4 groups for 6 bots, and a match needs 2",
        ),
        (8, [stage("g", "round-robin", groups=2), FINAL], "stage 'g': 'advance' is missing, and its smallest group"),
        (8, [stage("g", "round-robin", groups=2, advance=4), FINAL], "stage 'g': 'advance' is 4, and its smallest"),
        (8, [stage("c", "knockout", advance=1)], "stage 'c' is the last one, and has 'advance' = 1"),
        (
            8,
            [stage("s", "swiss", forbidden=[[f"bot{bot}" for bot in range(7)]])],
            "stage 's': round 1: ",
        ),
    ],
)
def test_stages_that_cannot_be_played_are_refused_with_the_stage(bots, parts, words):
    assert stages.FORMAT.check(cup(bots, *parts)).startswith(words)


# Seeding


@given(st.integers(2, 20), st.randoms(use_true_random=False), st.sampled_from([knockout, swiss]))
@settings(max_examples=25, deadline=None)
def test_a_seeded_field_plays_as_if_the_file_had_this_order(bots, chance, style):
    order = list(range(bots))
    chance.shuffle(order)
    plain = field_of(style.FORMAT, bots)
    given = field_of(style.FORMAT, bots, seeding=[f"bot{bot}" for bot in order])
    blocks, table, _ = played_out(style.FORMAT, plain, by_strength)
    again, same, _ = played_out(
        style.FORMAT, given, lambda result, seats: by_strength(result, [order.index(bot) for bot in seats])
    )
    assert [tuple(order[bot] for bot in block.block.group) for block in blocks] == [
        block.block.group for block in again
    ]
    assert [(order[row.bot], row.rank, row.columns) for row in table] == [
        (row.bot, row.rank, row.columns) for row in same
    ]


def test_bots_without_a_seed_follow_in_the_order_of_the_file():
    field = field_of(knockout.FORMAT, 4, seeding=["bot3"])
    assert rounds_of(played_out(knockout.FORMAT, field, by_strength)[0])[0] == [(3, 2), (0, 1)]


TOML = 'game = "toy"\nseed = 1\nblocks = 2\n'
BOTS = '[[bots]]\npath = "a"\n[[bots]]\npath = "b"\n'


def test_seeds_are_read_from_a_file_of_ratings(write_file):
    file = write_file(f'{TOML}format = "knockout"\n[knockout]\nseeding = "seeds.csv"\n{BOTS}')
    (file.parent / "seeds.csv").write_text("name,rating\nann,1500\nbob,1800.5\ncyd,\ndan,1800.5\n")
    assert load_config(file).settings["seeding"] == ("bob", "dan", "ann", "cyd")
    (file.parent / "seeds.csv").write_text("rank,name,mu,conservative\n1,ann,30,25\n2,bob,29,26.5\n")
    assert load_config(file).settings["seeding"] == ("bob", "ann")


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffname,rating\nann,1500\nbob,1800.5\ncyd,\n",
        "\ufeffname;rating\r\nann;1500\r\nbob;1800,5\r\ncyd;\r\n",
        '"rating"; "name"\n1500;ann\nnan;cyd\n1800,5; bob\n',
    ],
)
def test_seeds_are_read_as_spreadsheets_of_any_language_write_them(write_file, text):
    file = write_file(f'{TOML}format = "knockout"\n[knockout]\nseeding = "seeds.csv"\n{BOTS}')
    (file.parent / "seeds.csv").write_text(text)
    assert load_config(file).settings["seeding"] == ("bob", "ann", "cyd")


@pytest.mark.parametrize(
    ("text", "words"),
    [(None, "cannot be read (No such file"), ("a,b\n1,2\n", "has no columns 'name' and 'rating'"), ("", "no columns")],
)
def test_a_file_of_ratings_that_cannot_be_used_is_refused(write_file, text, words):
    file = write_file(f'{TOML}format = "swiss"\n[swiss]\nseeding = "seeds.csv"\n{BOTS}')
    if text is not None:
        (file.parent / "seeds.csv").write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(file)
    assert words in str(caught.value)
    assert "'swiss.seeding'" in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ("name,rating\nann,18OO\n", "seeds.csv:2: the column 'rating' must be a number, or empty"),
        ("name,conservative\n\nann,1e999\n", "seeds.csv:3: the column 'conservative' must be a number, or empty"),
        ("name,rating\nann,1,5\n", "seeds.csv:2: the row has 3 cells, and there are 2 columns"),
        ("name,rating\nann,1\nann,2\n", "seeds.csv:3: the bot 'ann' is there twice"),
        ("name,rating\n,1\n", "seeds.csv:2: the column 'name' is empty"),
        ("name,rating,rating\nann,1,2\n", "seeds.csv:1: the column 'rating' is there twice"),
        ('name,rating\nann,1\n"bob,2\ncyd,3\n', "seeds.csv:3: not CSV: a quote in this row has no end"),
        ("name,rating\n", "seeds.csv has no row with a bot"),
    ],
)
def test_a_wrong_row_of_a_file_of_ratings_is_refused_with_its_line(write_file, rows, what):
    file = write_file(f'{TOML}format = "knockout"\n[knockout]\nseeding = "seeds.csv"\n{BOTS}')
    (file.parent / "seeds.csv").write_text(rows)
    with pytest.raises(ConfigError) as caught:
        load_config(file)
    assert what in str(caught.value)


def test_the_table_of_a_run_of_two_games_has_two_rows_for_a_bot_and_seeds(write_file):
    file = write_file(f'{TOML}format = "knockout"\n[knockout]\nseeding = "seeds.csv"\n{BOTS}')
    (file.parent / "seeds.csv").write_text("name,entry_id,game,conservative\nann,1,x,2\nbob,2,x,5\nann,1,y,7\n")
    assert load_config(file).settings["seeding"] == ("ann", "bob")


def test_stages_are_read_with_the_settings_of_their_formats(write_file):
    file = write_file(
        f'{TOML}format = "stages"\n[[stages]]\nname = "groups"\ngroups = 2\nadvance = 1\ntie_breaks = ["wins"]\n'
        f'[[stages]]\nformat = "knockout"\nblocks = 5\nbronze = true\n{BOTS}'
    )
    assert load_config(file).settings == {
        "stages": [
            {
                "name": "groups", "format": "round-robin", "blocks": 2, "groups": 2, "advance": 1,
                "settings": {"same_seeds": False, "tie_breaks": ["wins"]},
            },
            {
                "name": "knockout", "format": "knockout", "blocks": 5, "groups": 1, "advance": None,
                "settings": {"best_of": 1, "extra": 2, "bronze": True},
            },
        ]
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "format = \"stages\" needs at least one [[stages]]"),
        ("[stages]\nname = 'a'", "'stages' must be a list of tables"),
        ("[[stages]]\nformat = 'league'", "'stages[1].format' must be one of 'round-robin', 'swiss', 'knockout'"),
        ("[[stages]]\nbronze = true", "'bronze' belongs to a stage with format = \"knockout\""),
        ("[[stages]]\n[[stages]]\nseeding = ['a']", "'stages[2].seeding'"),
        ("[[stages]]\n[[stages]]\n", "two stages are named 'round-robin'"),
    ],
)  # fmt: skip
def test_stages_that_cannot_be_read_are_refused_by_their_key(write_file, text, words):
    with pytest.raises(ConfigError) as caught:
        load_config(write_file(f'{TOML}format = "stages"\n{text}\n{BOTS}'))
    assert words in str(caught.value)
