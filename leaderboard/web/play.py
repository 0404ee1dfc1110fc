"""Playing in the browser: a page to set a match up, and one for each person's seat."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from leaderboard.frames import last_board
from leaderboard.web.accounts import address_of, session_of
from leaderboard.web.games import about_game, game_cards, players_in_words
from leaderboard.web.guard import SENT_IN, Guard, body_of, form_of
from leaderboard.web.live import SharedLooks, changes, event, stream
from leaderboard.web.pages import page
from leaderboard.web.play_host import BOT_MOVE_S, HUMAN, HumanSeat, PlayHost, PlayRefused, Question, Setup
from leaderboard.web.strength import rivals, usual
from referee.games.api import Game, action_sentence, event_sentence, question_words, selection_of
from referee.games.drawing import Look, draw_board, event_places
from referee.games.registry import UnknownGame, get_game, is_game_id
from referee.record import RecordError, read_record
from referee.record.format import told_apart
from referee.run.folder import RunFolder
from referee.texts import listed, one_line

LOOK_S = 0.05
_SHOWN_EVENTS = 200
_OPTION = "option-"
_SEAT = "/play/{match}/{key}"


def routes() -> list[Route]:
    """The addresses of a server whose `state` has a `play_host` and a `guard`."""
    return [
        Route("/play", choose, methods=["GET"]),
        Route("/play", begin, methods=["POST"]),
        Route(_SEAT, seat_page),
        Route(f"{_SEAT}/state", state),
        Route(f"{_SEAT}/events", events),
        Route(f"{_SEAT}/answer", answer, methods=["POST"]),
    ]


def choose(request: Request) -> Response:
    """Which game, who sits where, which options."""
    wanted = request.query_params.get("game", "")
    return _form(request, wanted, {}, "")


async def begin(request: Request) -> Response:
    """Start what the form says."""
    form = await form_of(request)
    _guard(request).check(request, form.get("token", ""), session_of(request))
    try:
        setup = _setup(form)
        async with request.app.state.starting:  # one at a time: who waits takes no thread, which others' moves need
            seats = await asyncio.to_thread(_host(request).start, setup, address_of(request))
    except PlayRefused as refusal:
        return await asyncio.to_thread(_form, request, form.get("game", ""), form, refusal.sentence)
    if len(seats) == 1:
        return RedirectResponse(_address(seats[0]), 303)
    return await asyncio.to_thread(page, request, "people.html", seats=[(seat, _address(seat)) for seat in seats])


def seat_page(request: Request) -> Response:
    """The board with what can be done on it, the list of it, and the clock."""
    seat = _seat(request)
    return page(
        request,
        "play.html",
        here=_address(seat),
        token=_guard(request).token(session_of(request)),
        game=_game(seat.game).title,
        game_id=seat.game,
        human=HUMAN,
        others=listed([name for number, name in enumerate(told_apart(seat.names)) if number != seat.seat]),
        about=about_game(seat.game),
        seat=seat,
        match=_match_address(request, seat),
    )


def state(request: Request) -> Response:
    """What the page shows now."""
    seat = _seat(request)
    now = seat.now()
    game = _game(seat.game)
    names = told_apart(seat.names)
    shown = now.events[-_SHOWN_EVENTS:]
    return JSONResponse(
        {
            "number": now.number,
            "asked": None if now.question is None else _asked(game, now.question, names),
            "board": _board(request, seat, game, now.question, now.events),
            "events": [one_line(event_sentence(game, payload, now.seen, names)) for payload in shown],
            "earlier": len(now.events) - len(shown),
            "over": one_line(now.over),
            "notice": one_line(now.notice),
        },
        headers={"Cache-Control": "no-store"},
    )


async def events(request: Request) -> StreamingResponse:
    """`{"number": n}` whenever the state has changed, the first at once; `{"over": true}` at the end of the match, and
    then the end."""
    seat = await asyncio.to_thread(_seat, request)
    return stream(request, _changes(seat, _place(request), request.app.state.looks))


async def answer(request: Request) -> Response:
    """`{"decision": n, "index": i}` or `{"decision": n, "resign": true}`. 409 if that is not asked any more."""
    data = await body_of(request)
    _guard(request).check(request, request.headers.get(SENT_IN, ""), session_of(request))
    seat = await asyncio.to_thread(_seat, request)
    try:
        said = json.loads(data)
        decision = int(said["decision"])
        index = None if said.get("resign") is True else int(said["index"])
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        raise HTTPException(400, "This is not an answer: it has a decision, and an index or resign.") from None
    if not await asyncio.to_thread(seat.answer, decision, index):
        raise HTTPException(409, "This question is closed.")
    return JSONResponse({"taken": True})


def _form(request: Request, wanted: str, chosen: Mapping[str, str], problem: str) -> Response:
    game = _game(wanted) if is_game_id(wanted) else None
    found = rivals(_host(request).opponents(game.id), game.id) if game else []
    first = usual(found)
    return page(
        request,
        "choose.html",
        status=400 if problem else 200,
        games=game_cards(),
        game=game,
        about=about_game(game.id) if game else "",
        players=players_in_words(game.player_counts) if game else "",
        rivals=found,
        opponent=chosen.get("opponent") or (first.opponent.id if first else ""),
        options=_host(request).options(game.id) if game else [],
        chosen=chosen,
        bot_move_s=chosen.get("bot_move_s", BOT_MOVE_S),
        problem=problem,
        token=_guard(request).token(session_of(request)),
        human=HUMAN,
        seats=[(seat, _address(seat)) for seat in _host(request).going_on()],
    )


def _setup(form: Mapping[str, str]) -> Setup:
    seats = [form.get(f"seat{number}", "") for number in range(12)]
    if not any(seats) and form.get("opponent"):
        seats = [HUMAN, form["opponent"]]
    try:
        bot_move_s = float(form.get("bot_move_s", BOT_MOVE_S))
    except ValueError:
        raise PlayRefused("the time of bots must be a number of seconds", "write, for instance, 1") from None
    return Setup(
        game=form.get("game", ""),
        seats=tuple(seat for seat in seats if seat),
        options=_changed(form),
        name=form.get("name", "").strip() or HUMAN,
        bot_move_s=bot_move_s,
    )


def _changed(form: Mapping[str, str]) -> dict[str, str]:
    """The options whose value is not the game's default: a browser without scripts sends all of them."""
    sent = {name.removeprefix(_OPTION): text for name, text in form.items() if name.startswith(_OPTION) and text}
    if not is_game_id(form.get("game", "")):
        return sent
    options = {option.name: option.default for option in _game(form["game"]).options}
    return {name: text for name, text in sent.items() if name not in options or text != as_typed(options[name])}


def as_typed(value: object) -> str:
    """The value of an option as a form has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _asked(game: Game, question: Question, names: Sequence[str]) -> dict[str, Any]:
    selection = selection_of(game, question.observation, question.legal)
    return {
        "decision": question.decision,
        "question": one_line(question_words(game, question.kind)),
        "actions": [one_line(action_sentence(game, action, question.observation, names)) for action in question.legal],
        "selection": None if selection is None else asdict(selection),
        "left_s": question.left_s,
    }


def _board(request: Request, seat: HumanSeat, game: Game, question: Question | None, seen: Any) -> str:
    """With a question what it was asked with; while others think what the seat may see of the record so far."""
    if question is not None:
        look = Look(
            names=told_apart(seat.names),
            legal=question.legal,
            marked=tuple(place for payload in seen[-3:] for place in event_places(game, payload)),
            styled=False,
        )
        return draw_board(game, question.observation, look)
    path = _place(request).records.find_anywhere(seat.match_id)
    try:
        return last_board(read_record(path), seat.seat) if path else ""
    except RecordError:  # nothing is written yet
        return ""


async def _changes(seat: HumanSeat, place: RunFolder, looks: SharedLooks) -> AsyncIterator[str]:
    def look() -> tuple[int, int] | None:
        seat.seen()
        return None if seat.over else (seat.number, _size(place, seat.match_id))

    turn = looks.turn(("seat", seat.match_id, seat.key))
    async for text in changes(look, lambda _, number: {"number": number + 1}, LOOK_S, turn):
        yield text
    yield event({"over": True})


def _size(place: RunFolder, match_id: str) -> int:
    path = place.records.find_anywhere(match_id)
    try:
        return path.stat().st_size if path else 0
    except OSError:
        return 0


def _seat(request: Request) -> HumanSeat:
    seat = _host(request).seat(request.path_params["match"], request.path_params["key"])
    if seat is None:
        raise HTTPException(404, "There is no such seat: the match is long over, or the server was started again.")
    return seat


def _game(name: str) -> Game:
    try:
        return get_game(name)
    except UnknownGame as error:
        raise HTTPException(404, str(error)) from None


def _address(seat: HumanSeat) -> str:
    return f"/play/{quote(seat.match_id)}/{quote(seat.key)}"


def _match_address(request: Request, seat: HumanSeat) -> str:
    return f"/runs/{quote(_place(request).name)}/matches/{quote(seat.match_id)}"


def _place(request: Request) -> RunFolder:
    run = _host(request).run
    return RunFolder(run)


def _host(request: Request) -> PlayHost:
    host: PlayHost = request.app.state.play_host
    return host


def _guard(request: Request) -> Guard:
    guard: Guard = request.app.state.guard
    return guard
