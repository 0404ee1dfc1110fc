"""The pages of a run with stages: rounds of its groups, the bracket of its cup, pairings to print."""

import csv
import io

import httpx
import pytest

from leaderboard.web.app import make_app
from leaderboard.web.facts import facts_of

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
        assert f", {listed['stage']}, round {listed['round']}, table {listed['table']}, " in match
        matches = (await web.get(f"/api/runs/{cup.name}/matches?count=1000")).json()["matches"]
        assert {(match["stage"], match["round"], match["table"]) for match in matches} == {
            (row["stage"], int(row["round"]), int(row["table"])) for row in rows if row["table"]
        }
