"""The pages of a run with stages: rounds of its groups, the bracket of its cup, pairings to print."""

import csv
import io
import json

import httpx
import pytest

from leaderboard.web.app import make_app
from leaderboard.web.facts import facts_of
from referee.cli.app import run_command

STAGES = (
    '[[stages]]\nname = "groups"\ngroups = 2\nadvance = 2\n'
    '[[stages]]\nname = "cup"\nformat = "knockout"\nbracket = "fixed"\nbronze = true\n'
)


@pytest.fixture
def cup(make_tournament, play, run_folder):
    tournament = make_tournament(6, format="stages", blocks=1, more=STAGES)
    assert play(tournament).summary.complete
    return run_folder.path


async def test_a_run_with_stages_shows_its_groups_its_bracket_and_its_pairings(cup):
    app = make_app(cup.parent, facts_of)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as web:
        here = f"/runs/{cup.name}"
        page = (await web.get(here)).text
        for heading in ("Rounds: groups A", "Rounds: groups B", "Bracket: cup", "<h2>Stages</h2>"):
            assert heading in page
        printed = (await web.get(f"{here}/pairings")).text
        assert "cup, round 2" in printed
        assert printed.index("cup, round 2") < printed.index("groups A, round 1")
        rows = list(csv.DictReader(io.StringIO((await web.get(f"{here}/pairings.csv")).text)))
        per_round = [(row["stage"], row["round"]) for row in rows if row["table"]]
        assert per_round.count(("groups A", "1")) == 1
        assert per_round.count(("cup", "1")) == per_round.count(("cup", "2")) == 2
        drawing = await web.get(f"{here}/bracket.svg")
        assert drawing.headers["content-type"].startswith("image/svg+xml")
        assert drawing.text.count("<path") == 2  # both semi-finals lead to the final, none to the third rank
        listed = (await web.get(f"/api/runs/{cup.name}/matches?count=1")).json()["matches"][0]
        match = (await web.get(f"{here}/matches/{listed['match_id']}")).text
        assert f", {listed['stage']}, round {listed['round']}, table {listed['table']}. " in match
        matches = (await web.get(f"/api/runs/{cup.name}/matches?count=1000")).json()["matches"]
        assert {(match["stage"], match["round"], match["table"]) for match in matches} == {
            (row["stage"], int(row["round"]), int(row["table"])) for row in rows if row["table"]
        }


def test_the_command_prints_the_last_round_or_all_as_text_csv_json_and_html(cup, capsys):
    def printed(*words):
        assert run_command(["pairings", str(cup), *words]) == 0
        return capsys.readouterr().out

    assert printed().splitlines()[0] == "cup, round 2"
    assert printed("--stage", "groups", "--round", "1").count("round 1") == 2
    rows = list(csv.DictReader(io.StringIO(printed("--all", "--csv"))))
    assert json.loads(printed("--all", "--json")) == [
        row
        | {
            "round": int(row["round"]),
            "table": int(row["table"]) if row["table"] else None,
            "matches_left": int(row["matches_left"]),
        }
        for row in rows
    ]
    assert printed("--all", "--html").count("<section>") == len({(row["stage"], row["round"]) for row in rows})


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--round", "9"), "round 9 is not known yet"),
        (("--stage", "finals"), "the stages so far are: groups A, groups B, cup"),
        (("--csv", "--json"), "--html, --csv and --json exclude each other"),
        (("--all", "--round", "1"), "--all and --round exclude each other"),
        (("--round", "0"), "--round must be at least 1"),
        (("--stage", "\x1b[31m"), "no stage is called"),
    ],
)
def test_what_the_command_cannot_print_is_refused_with_what_there_is(cup, capsys, words, told):
    assert run_command(["pairings", str(cup), *words]) == 2
    said = capsys.readouterr().err
    assert told in " ".join(said.split())
    assert "\x1b" not in said


def test_a_run_without_rounds_says_which_formats_have_them(make_tournament, play, run_folder, capsys):
    play(make_tournament(3, blocks=1))
    assert run_command(["pairings", str(run_folder.path)]) == 2
    assert "pairings are for formats in rounds: swiss, knockout, stages" in " ".join(capsys.readouterr().err.split())
