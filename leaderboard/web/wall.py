"""One page for a projector: of each run that is being played the table, what is played now and what comes next."""

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from leaderboard.schedule_view import Coming
from leaderboard.web.pages import page, there
from leaderboard.web.rights import hides_open_blocks
from leaderboard.web.tables import RunTables, Tables, TablesBusy
from referee.record import RecordError
from referee.run.folder import SINGLE, RunFolder
from referee.run.status import PlayedMatch, Status, read_status

MOST_RUNS = 6
"""Runs on the wall; those that changed last."""

MOST_ROWS = 12
"""Rows of a table, and matches in play."""

MOST_COMING = 8
"""Coming matches."""

RENEWED_S = 5
"""How often a browser loads the page again."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A run on the wall. `hidden`: it is not said who plays now."""

    run: RunFolder
    tables: RunTables
    status: Status
    playing: Sequence[PlayedMatch]
    coming: Sequence[Coming]
    hidden: bool


def wall(request: Request) -> Response:
    """The runs that are being played; where there is none, the one that changed last."""
    tables: Tables = request.app.state.tables
    places = there(request)
    going_on = [place for place in places if tables.facts(place).state() == "going on"]
    shown, waiting, unreadable = [], False, []
    last = sorted(places, key=lambda place: place.name == SINGLE)[:1]
    for place in going_on[:MOST_RUNS] or last:
        try:
            shown.append(_shown(request, place, tables.of(place)))
        except TablesBusy:
            waiting = True
        except RecordError:  # one run must not hide the others; its own page says what is wrong
            unreadable.append(place)
    answer = page(
        request,
        "wall.html",
        shown=shown,
        waiting=waiting,
        unreadable=unreadable,
        going_on=bool(going_on),
        more=max(0, len(going_on) - MOST_RUNS),
        most=MOST_ROWS,
    )
    answer.headers["Refresh"] = str(RENEWED_S)
    return answer


def _shown(request: Request, place: RunFolder, tables: RunTables) -> Shown:
    status = read_status(place) or Status()
    hidden = hides_open_blocks(request)
    live = {one.match_id for one in status.playing}
    coming = [match for match in tables.ahead.coming if match.match_id not in live]
    return Shown(place, tables, status, () if hidden else status.playing, coming[:MOST_COMING], hidden)
