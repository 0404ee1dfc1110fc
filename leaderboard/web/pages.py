"""The pages for people. Every function answers one address."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from importlib.metadata import version
from typing import Any
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

from leaderboard.comparison import Compared
from leaderboard.controls import ruling_on
from leaderboard.evidence import evidence_of, output_title
from leaderboard.frames import board_at, extent_of, seat_pictures, step_of_fault, step_words, viewer_of, viewers
from leaderboard.pairings import pairing_rows, pairings_page, rounds_with_tables
from leaderboard.plots import evidence_plot, history_plot
from leaderboard.records import MatchRow, SeatRow
from leaderboard.report import FILTERS, TEMPLATES, bar_cell
from leaderboard.results import has_people, is_mirror, is_person, outcome_for, result_words
from leaderboard.standings import CAPTION, Pool, Standing, rating_words, split_pools
from leaderboard.times import PERCENTILES
from leaderboard.titles import end_words, game_title, match_label, match_title, option_words, pool_title, with_names
from leaderboard.web.accounts import account_of, has_ladder, is_organiser, notice_of, sentence, session_of
from leaderboard.web.bracket import Bracket, bracket_svg, brackets_of
from leaderboard.web.csv_files import matches_csv, pairings_csv, standings_csv
from leaderboard.web.facts import settings_of, signature_of
from leaderboard.web.markdown import coded
from leaderboard.web.rights import (
    check_shown,
    hides_open_blocks,
    may_see_output,
    shown_record,
    shown_start,
    why_not_watched,
)
from leaderboard.web.rules_text import option_sentence
from leaderboard.web.tables import RunTables, Tables, tables_of
from leaderboard.web.time_words import ago, in_time, took
from leaderboard.web.watching import live_matches
from referee.record import Record, RecordError, read_record
from referee.record.journal import slow_start
from referee.record.narration import EVERYTHING, Viewer, ending_of, fault_words
from referee.record.reasons import is_fault
from referee.record.store import contents, is_live, is_packed, match_id_of, record_name, why_aside
from referee.record.times import seat_times
from referee.run.folder import SINGLE, RunFolder, runs_in, why_no_address
from referee.run.machines import read_state
from referee.schedule.formats.knockout import FORMAT as KNOCKOUT
from referee.schedule.formats.stages import FORMAT as STAGES
from referee.texts import one_line

PAGE = 200
"""Matches on one page of a list."""


@dataclass(frozen=True, slots=True)
class Section:
    """A link in the header of every page, to what this server has."""

    title: str
    address: str


def make_templates() -> Environment:
    loader = ChoiceLoader([PackageLoader("leaderboard.web"), FileSystemLoader(TEMPLATES)])
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    environment.filters |= FILTERS | {"line": one_line, "coded": coded, "option": option_words}
    environment.filters |= {"ago": ago, "took": took, "duration": in_time, "rating": rating_words, "sentence": sentence}
    environment.filters |= {"fault": fault_words, "result": result_words, "end": end_words, "with_names": with_names}
    environment.filters |= {"match_title": match_title, "match_label": match_label}
    environment.filters["rule"] = option_sentence
    environment.filters["output_title"] = output_title
    environment.globals |= {
        "archive": "",  # what pages that become files are an archive of
        "pool_title": pool_title,
        "version": version("crosstown-arena"),
        "interval_bar": bar_cell,
        "evidence_plot": _evidence_plot,
    }
    environment.tests |= {"mirror": is_mirror, "with_people": has_people, "fault": is_fault}
    environment.globals["is_person"] = is_person
    return environment


def _evidence_plot(found: Compared) -> Markup:
    question = found.evidence.question
    a = found.names[0]
    words = f"{a} scores more than {question.low:.3g}", f"{a} scores less than {question.high:.3g}"
    needed = 1 / question.alpha, 1 / question.beta
    return Markup(evidence_plot(found.path, needed, words))  # noqa: S704 - escaped where it is drawn


def runs(request: Request) -> Response:
    """All runs: how far they are, and who leads."""
    return list_of_runs(request, "runs.html", there(request))


def list_of_runs(request: Request, name: str, places: Sequence[RunFolder], **values: Any) -> Response:
    """A page made from the template `name` with all `runs`; a browser looks again until all are computed."""
    glances = request.app.state.glances.of(places)
    tables: Tables = request.app.state.tables
    found = [(place, tables.facts(place), glances.get(place.name)) for place in places]
    answer = page(request, name, runs=found, **values)
    if len(glances) < len(places):
        answer.headers["Refresh"] = "2"
    return answer


def search(request: Request) -> Response:
    """All bots of all runs, in one table with a field that leaves only the rows with its words."""
    found, broken = [], []
    for place in there(request):
        try:
            tables = tables_of(request, place)
        except RecordError:  # one run must not hide the others; its own page says what is wrong
            broken.append(place)
            continue
        split = split_pools(tables.table)
        found += [
            (place, tables.facts.title or place.name, game_title(row.game), row, (row.game, row.players) in split)
            for row in tables.table
        ]
    found.sort(key=lambda one: (one[3].name.lower(), one[1], one[2]))
    return page(request, "search.html", found=found, unreadable=broken)


def run(request: Request) -> Response:
    """One run: verdict, placings, and the tables with the last results."""
    return _run_page(request, "run.html")


def cross_table(request: Request) -> Response:
    """Every bot of a run against every other."""
    return _run_page(request, "cross.html")


def plots(request: Request) -> Response:
    """Intervals, ratings over the schedule, seats, faults and move times."""
    return _run_page(request, "plots.html")


def schedule(request: Request) -> Response:
    """What is being played, what comes next, rounds, and records that do not count."""
    return _run_page(request, "schedule.html")


def settings(request: Request) -> Response:
    """What the tournament file says, in words."""
    return _run_page(request, "settings.html")


def standings_file(request: Request) -> Response:
    """The tables of a run as CSV."""
    _, tables = _run(request)
    return standings_csv(tables.table, tables.format_table)


def matches_file(request: Request) -> Response:
    """The matches of a run as CSV, by bot, game and end reason as in the list."""
    _, tables = _run(request)
    return matches_csv(_wanted_rows(tables, _wanted(request)), tables.rounds, tables.seating)


def pairings(request: Request) -> Response:
    """The tables of all rounds, to print."""
    place, tables = _run(request)
    rounds = rounds_with_tables(tables.view, tables.paired)
    return HTMLResponse(pairings_page(tables.facts.title or place.name, list(reversed(rounds))))


def pairings_file(request: Request) -> Response:
    """The same as CSV."""
    _, tables = _run(request)
    return pairings_csv(pairing_rows(rounds_with_tables(tables.view, tables.paired)))


def bracket_file(request: Request) -> Response:
    """The bracket of a knockout, or of the last stage that is one, as SVG."""
    _, tables = _run(request)
    knockouts = [part for part in _brackets(tables) if part.knockout]
    if not knockouts:
        raise HTTPException(404, "This run has no bracket, or no round of it is known yet.")
    last = [part for part in knockouts if part.stage == knockouts[-1].stage]
    return Response(bracket_svg(last), media_type="image/svg+xml")


def _brackets(tables: RunTables) -> list[Bracket]:
    """The rounds of the run with their results; those of each group of each stage apart."""
    own = tables.format_table
    first = frozenset(row["entry_id"] for row in own.rows if own.final and row["rank"] == 1)
    run = tables.facts.run
    settings = {} if run is None or not run.begun else run.configuration["settings"]
    staged = own.format == STAGES.name
    stages = {stage["name"]: stage for stage in settings.get("stages", ())} if staged else {}
    whole: Mapping[str, Any] = {} if staged else {"format": own.format, "settings": settings}
    found: list[Bracket] = []
    for label in dict.fromkeys(pairing.stage for pairing in tables.view.pairings):
        stage: Mapping[str, Any] = stages.get(label) or stages.get(label.rpartition(" ")[0]) or whole
        given = stage.get("settings", {})
        found += brackets_of(
            [pairing for pairing in tables.view.pairings if pairing.stage == label],
            tables.paired,
            tables.view.names,
            first,
            stage=label,
            knockout=stage.get("format") == KNOCKOUT.name,
            bronze=bool(given.get("bronze")),
            double=bool(given.get("double")),
        )
    return found


def _run_page(request: Request, name: str) -> Response:
    """A tab of a run. What a visitor sees is kept until the tables, the matches in play or the notice change."""
    place, tables = _run(request)
    hidden = hides_open_blocks(request)
    visitor = account_of(request) is None
    live = place.records.live()
    trouble = request.app.state.tables.trouble(place)
    cluster = read_state(place.machines)
    signature = signature_of(tables.facts) if name == "settings.html" else {}
    shown = live, trouble, tables.facts.state(), cluster, notice_of(request), signature
    kept = request.app.state.kept_pages.setdefault(tables, {})
    if visitor and name in kept and kept[name][0] == shown:
        return HTMLResponse(kept[name][1])
    playing = live_matches(place)
    named = {match.match_id for match in playing}
    answer = page(
        request,
        name,
        run=place,
        tables=tables,
        tabs=_tabs(place),
        warnings=tables.warnings,
        rows=list(reversed(tables.listed[-10:])),
        playing=[(match, why_not_watched(request, place, match.header)) for match in playing],
        unusable=[item for item in tables.unusable if match_id_of(item.path) not in named],
        hidden=hidden,
        cluster=cluster,
        trouble=trouble,
        failed_starts=[shown_start(request, place, tables, start) for start in tables.facts.failed_starts.values()],
        coming=[match for match in tables.ahead.coming if match.match_id not in live],
        brackets=_brackets(tables),
        settings=settings_of(tables.facts),
        signature=signature,
        caption=CAPTION,
        percentiles=PERCENTILES,
        standings=_standings(request, place, tables) if name == "run.html" else "",
    )
    if visitor:
        kept[name] = shown, answer.body
    return answer


def _standings(request: Request, place: RunFolder, tables: RunTables) -> Markup:
    """The standings of each pool. They are the same for everybody, and are rendered once."""
    kept = request.app.state.kept_standings
    if tables not in kept:
        template = request.app.state.templates.get_template("run_standings.html")
        kept[tables] = Markup(template.render(run=place, tables=tables))  # noqa: S704 - escaped in the template
    found: Markup = kept[tables]
    return found


def _tabs(place: RunFolder) -> list[Section]:
    here = f"/runs/{quote(place.name)}"
    return [
        Section("Table", here),
        Section("Matches", f"{here}/matches"),
        Section("Cross table", f"{here}/cross"),
        Section("Plots", f"{here}/plots"),
        Section("Schedule", f"{here}/schedule"),
        Section("Settings", f"{here}/settings"),
    ]


def match_list(request: Request) -> Response:
    """The matches of a run that count, by bot, game and end reason."""
    place, tables = _run(request)
    wanted = _wanted(request)
    rows = _wanted_rows(tables, wanted)
    first = _number(request.query_params.get("from", ""), 0)
    return page(
        request,
        "matches.html",
        run=place,
        tables=tables,
        tabs=_tabs(place),
        trouble=request.app.state.tables.trouble(place),
        warnings=tables.warnings,
        rows=rows[first : first + PAGE],
        rounds=tables.rounds,
        first=first,
        total=len(rows),
        page=PAGE,
        wanted=wanted,
        choices={
            "bot": list(tables.bearers),
            "game": tables.games,
            "reason": tables.reasons,
        },
    )


def bot(request: Request) -> Response:
    """One entry of a run: its ratings, versions, opponents, faults, times, and what it printed last."""
    place, tables = _run(request)
    entry_id = request.path_params["entry"]
    rows = [row for row in tables.table if row.entry_id == entry_id]
    if not rows:
        raise HTTPException(404, "There is no such bot in this run.")
    matches = tables.entries.get(entry_id, ())
    faults: dict[str, list[tuple[MatchRow, SeatRow]]] = {}
    for played in matches:
        for seat in played.seats:
            if is_fault(seat.fault):
                faults.setdefault(seat.fault, []).append((played.row, seat))
    own = may_see_output(request, place.name, entry_id)
    start = tables.facts.failed_starts.get(entry_id)
    worst_us = max((seat.startup_us for match in matches for seat in match.seats), default=0)
    return page(
        request,
        "bot.html",
        run=place,
        warnings=tables.warnings,
        entry=rows[0],
        rows=rows,
        title=tables.facts.title,
        versions=(versions := [row for row in tables.table if row.name == rows[0].name]),
        recent=tables.recent,
        ways=_ways(tables, versions),
        outcomes=[outcome_for(match.row, entry_id) for match in matches[:10]],
        pools=[(pool, facts) for pool in tables.pools if (facts := pool.statistics.entries.get(entry_id))],
        matches=matches[:10],
        rounds=tables.rounds,
        faults=faults,
        failed_start=start and shown_start(request, place, tables, start),
        slow_start=slow_start(rows[0].name, worst_us, tables.facts.startup_s.get(entry_id, math.inf)),
        startup_s=tables.facts.startup_s.get(entry_id),
        output=_outputs(place, faults) if own else {},
        percentiles=PERCENTILES,
    )


def _ways(tables: RunTables, versions: Sequence[Standing]) -> dict[Pool, Markup]:
    """The live rating of the versions of a bot over the schedule, by table."""
    found = {}
    for pool, ways in tables.ways.items():
        names = {row.entry_id: f"{row.name} {row.version}" for row in versions if (row.game, row.players) == pool}
        points = {entry: ways[entry].points for entry in names if entry in ways}
        found[pool] = Markup(history_plot(points, names))  # noqa: S704 - escaped where it is drawn
    return found


def match(request: Request) -> Response:
    """One match: the board at `step`, as `seat` saw it; `fault` names a seat and leads to its fault. Without `seat` it
    is shown as everybody may see it, which is everything once it is over. Without `step` it is shown as it ended: at
    the fault that ended it, or at its last step."""
    place, record = read_wanted(request)
    if seat := request.query_params.get("fault", ""):
        step = step_of_fault(record, _number(seat, -1))
        return RedirectResponse(request.url.include_query_params(step=step or 0).remove_query_params("fault"), 302)
    viewer = wanted_viewer(request, record)
    if "seat" not in request.query_params and EVERYTHING in viewers(record):
        viewer = EVERYTHING
    extent = extent_of(record)
    ending = None if record.footer is None else ending_of(record.header, record.lines, record.footer)
    end = extent.end(ending)
    wanted = request.query_params.get("step", "")
    step = end if not wanted else extent.last if wanted == "last" else min(_number(wanted, 0), extent.last)
    board = board_at(record, extent, viewer, step)
    run, head = request.app.state.tables.facts(place).run, record.header
    return page(
        request,
        "match.html",
        run=place,
        warnings=request.app.state.tables.facts(place).warnings,
        record=record,
        head=head,
        single=record.header.tournament == SINGLE,
        footer=record.footer,
        names=record.header.names,
        pieces=seat_pictures(record.header),
        times=seat_times(record.lines, record.header.players, record.footer.faults if record.footer else ()),
        points=extent.points,
        ending=ending,
        said="" if ending is None else extent.said,
        end_step=end,
        ruled=ruling_on(record, () if run is None else run.controls),
        attempts=_other_attempts(place, record),
        failed_starts=[
            start
            for start in request.app.state.tables.facts(place).failed_starts.values()
            if start.match_id == match_id_of(record.path)
        ],
        live=is_live(record.path) and record.footer is None,
        state=request.app.state.tables.facts(place).state,
        reason="" if run is None else run.reason_for(record.header.block),
        match_id=request.path_params["match"],
        viewer="" if viewer is None else str(viewer),
        viewers=["" if item is None else str(item) for item in viewers(record)],
        step=step,
        where=step_words(step, extent.last),
        last=extent.last,
        wrong=extent.wrong,
        board=Markup(board),  # noqa: S704 - escaped where it is drawn
        evidence=evidence_of(record),
    )


def _other_attempts(place: RunFolder, record: Record) -> list[tuple[str, str, str]]:
    """Name, why it does not count, and how it ended, of each other attempt at the match that was set aside."""
    found = []
    for path in place.records.aside_of(match_id_of(record.path)):
        if path == record.path or is_live(path):
            continue
        try:
            other = read_record(path)
        except RecordError:
            continue
        ended = "" if other.footer is None else ending_of(other.header, other.lines, other.footer).sentence
        found.append((record_name(path), why_aside(path), ended or "it has no end"))
    return found


def download(request: Request) -> Response:
    """The record as its file is, or was before it was packed; only of matches that are over. On a ladder it is for
    organisers: it has what all its bots printed."""
    _, record = read_wanted(request)
    if has_ladder(request) and not is_organiser(request):
        raise HTTPException(403, "The record has the output of all its bots, so only organisers can download it.")
    if is_live(record.path):
        raise HTTPException(403, "The match is not over: its record is closed until then.")
    if is_packed(record.path):
        headers = {"content-disposition": f'attachment; filename="{record.path.name}"'}
        return Response(contents(record.path), media_type="application/gzip", headers=headers)
    return FileResponse(record.path, media_type="application/gzip", filename=record.path.name)


def read_wanted(request: Request) -> tuple[RunFolder, Record]:
    """The run and the record that the address names, as who asks may see it.

    404 without one, RecordError for a file that is no record, 403 for a match that is not shown yet.
    """
    place = wanted_run(request)
    name = request.path_params["match"]
    path = place.records.find_anywhere(name) or max(place.records.aside_of(name), default=None)
    if path is None:
        raise HTTPException(404, "There is no such match in this run.")
    record = read_record(path)
    check_shown(request, place, path, record.header)
    return place, shown_record(request, place, record)


def wanted_run(request: Request) -> RunFolder:
    """The run that the address names; 404 without one."""
    name = request.path_params["run"]
    for place in there(request):
        if place.name == name:
            return place
    raise HTTPException(404, "There is no such run.")


def there(request: Request) -> list[RunFolder]:
    """All runs there are that have an address, the one that changed last first. What is kept of others is forgotten."""
    shown = request.app.state.runs_shown
    found = [place for place in runs_in(request.app.state.runs) if not why_no_address(place)]
    places = [place for place in found if shown is None or place.name in shown]
    request.app.state.tables.keep_only(places)
    return places


def wanted_viewer(request: Request, record: Record) -> Viewer:
    """The view that the address asks for; 403 for one that this match does not offer now."""
    try:
        return viewer_of(request.query_params.get("seat", ""), record)
    except ValueError:
        raise HTTPException(403, "This view is not offered: there is no such seat, or the match is not over.") from None


_HEADINGS = {
    401: "Sign in first",
    403: "Not allowed",
    404: "Not found",
    405: "Not possible here",
    409: "Too late",
    413: "Too large",
    422: "Not readable",
}


def error_page(request: Request, error: HTTPException) -> Response:
    """What went wrong, in a sentence."""
    heading = "Not yet" if "Retry-After" in (error.headers or {}) else _HEADINGS.get(error.status_code, "Refused")
    unknown = error.status_code == 404 and error.detail == HTTPStatus.NOT_FOUND.phrase
    detail = "There is no page at this address." if unknown else error.detail
    answer = page(request, "error.html", status=error.status_code, heading=heading, detail=detail)
    answer.headers.update(error.headers or {})
    return answer


def page(
    request: Request, name: str, /, *, status: int = 200, warnings: Sequence[str] = (), **values: Any
) -> HTMLResponse:
    """The page made from the template `name`, below the `warnings`."""
    template = request.app.state.templates.get_template(name)
    sections = request.app.state.sections
    path = request.url.path
    return HTMLResponse(
        template.render(
            status=status,
            sections=sections,
            path=path,
            warnings=warnings,
            ladder=has_ladder(request),
            account=account_of(request),
            guard=request.app.state.guard.token(session_of(request)),
            notice=notice_of(request),
            **values,
        ),
        status,
    )


def _run(request: Request) -> tuple[RunFolder, RunTables]:
    place = wanted_run(request)
    return place, tables_of(request, place)


def _wanted(request: Request) -> dict[str, str]:
    return {name: request.query_params.get(name, "") for name in ("bot", "game", "reason")}


def _wanted_rows(tables: RunTables, wanted: dict[str, str]) -> Sequence[MatchRow]:
    """The last first."""
    rows: Sequence[MatchRow] = tables.listed[::-1]
    if wanted["bot"]:
        entries = tables.bearers.get(wanted["bot"], frozenset())
        found = {match.row.match_id: match.row for entry in entries for match in tables.entries[entry]}
        rows = sorted(found.values(), key=lambda row: (row.place, row.match_id), reverse=True)
    if wanted["game"] or wanted["reason"]:
        rows = [
            row
            for row in rows
            if wanted["game"] in ("", row.game) and wanted["reason"] in ("", row.reason, *row.faults)
        ]
    return rows


def _number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else default


def _outputs(
    place: RunFolder, faults: Mapping[str, Sequence[tuple[MatchRow, SeatRow]]]
) -> dict[str, list[tuple[str, str]]]:
    """What a bot printed before its latest fault, by reason."""
    latest = {reason: found[0] for reason, found in faults.items()}
    return {reason: _last_output(place, row.match_id, seat.seat) for reason, (row, seat) in latest.items()}


def _last_output(place: RunFolder, match_id: str, seat: int) -> list[tuple[str, str]]:
    """What a bot printed before its fault in a match, by the name of the stream."""
    path = place.records.find_anywhere(match_id)
    try:
        record = read_record(path) if path else None
    except RecordError:
        return []
    found = [evidence for evidence in evidence_of(record) if evidence.seat == seat] if record else []
    return [text for evidence in found for text in evidence.texts if text[0] != "board"]
