"""What an organiser decides about a run: who leaves, who joins, which match does not count.

Each is one event of the journal, at a place in the schedule behind everything that has a record, so that what was
played stays what it was. It holds from the next run of the command on. While a runner is at work its lock refuses it:
then the runner itself makes the decision, at its `Desk`.
"""

import os
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from referee.errors import BusyError, PlatformError, UsageError
from referee.process.manifest import clashes
from referee.record.journal import Choice, Control, ControlKind, anchors_of, control_fields, departures, in_force
from referee.run.anchors import ANNULLED
from referee.run.folder import RunFolder
from referee.run.journal import Journal, JournalText, read_journal
from referee.run.judging import entries_at_fault
from referee.run.lock import RunLock
from referee.run.orders import Order
from referee.run.participants import Participant, find_participant, participants_of
from referee.schedule.config import MOST_BLOCKS, make_field
from referee.schedule.formats import comparison, gauntlet, knockout, stages
from referee.schedule.formats.registry import get_format
from referee.schedule.schedule import place_of
from referee.schedule.stopping import rule_in_force

_APART = "give each bot a folder of its own, apart from where runs are"


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a runner at work makes a decision: in its open `journal`, from `place` on, which is behind every match that
    was begun. `playing` are the matches in play. `order` is the id of the order that it carries out."""

    journal: Journal
    place: int
    playing: frozenset[str]
    order: str = ""


@dataclass(frozen=True, slots=True)
class JoiningBot:
    """A bot that is to join a run. `folder` is what it may read, None for one that connects from another machine;
    `games` are those it plays, none for any. `fields` is what the journal keeps of it, so that it plays as it was
    added."""

    entry_id: str
    name: str
    games: tuple[str, ...] = ()
    folder: Path | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)


def leave(
    folder: RunFolder,
    kind: ControlKind,
    wanted: str,
    choice: Choice | None,
    *,
    by: str,
    reason: str,
    desk: Desk | None = None,
) -> Control:
    """A bot, by name or entry id, plays no more. Not the last one. Without `choice` its played matches are kept; with
    one, what becomes of the matches of a bot that is out already is changed. UsageError, BusyError or PlatformError."""

    def make(text: JournalText) -> Control:
        bots = participants_of(text)
        bot = find_participant(bots, wanted)
        if bot.out:
            left = _departure(text, bot)
            if choice in (None, left.choice):
                back = shlex.join(["crosstown", "reinstate", str(folder.path), bot.entry_id])
                raise UsageError(
                    f"'{bot.name}' is out already, with --choice {left.choice}",
                    f"to change what becomes of its matches, give another --choice; to let it play on: {back}",
                )
            # What a rule has decided stays a rule's, with all that follows from that.
            return replace(
                left,
                kind="breaker" if left.kind == "breaker" else kind,
                choice=choice or "keep",
                by=by,
                reason=reason or left.reason,
            )
        if all(other.out for other in bots if other is not bot):
            raise UsageError(
                f"'{bot.name}' is the last bot of this run: without it there is nothing to play",
                "leave the run as it is, or let another bot join first: crosstown add",
            )
        return Control(
            kind,
            _next_place(folder, desk),
            entry_id=bot.entry_id,
            choice=choice or "keep",
            name=bot.name,
            by=by,
            reason=reason,
        )

    return _append(folder, make, desk)


def _departure(text: JournalText, bot: Participant) -> Control:
    """By what a bot is out."""
    return departures(text.controls)[bot.entry_id]


def reinstate(folder: RunFolder, wanted: str, *, by: str, reason: str, desk: Desk | None = None) -> Control:
    """A bot that is out, by name or entry id, plays on as if it had not left. Of one that the breaker has set aside
    the faults so far are not counted any more. UsageError, BusyError or PlatformError."""

    def make(text: JournalText) -> Control:
        bots = participants_of(text)
        bot = _find_out(bots, wanted)
        for other in bots:
            if not other.out:
                if clashes(other.name, bot.name):
                    step = shlex.join(["crosstown", "withdraw", str(folder.path), other.entry_id])
                    raise UsageError(f"another bot plays as '{other.name}' now", f"take it out first: {step}")
                if bot.folder:
                    _check_folders(bot.name, Path(os.path.realpath(bot.folder)), other)
        left = _departure(text, bot)
        forgiven = _faulty_matches(folder, bot, left.place, desk) if left.kind == "breaker" else ()
        return Control(
            "reinstated", left.place, entry_id=bot.entry_id, name=bot.name, by=by, reason=reason, forgiven=forgiven
        )

    return _append(folder, make, desk)


def _find_out(bots: Sequence[Participant], wanted: str) -> Participant:
    """As `find_participant`, but of several that had a name one after the other the last that is out. UsageError."""
    bot = find_participant(bots, wanted)
    if out := [bot for bot in bots if bot.out and wanted in (bot.name, bot.entry_id)]:
        return out[-1]
    raise UsageError(f"'{bot.name}' is in the run", "nothing to do")


def _faulty_matches(folder: RunFolder, bot: Participant, place: int, desk: Desk | None) -> tuple[str, ...]:
    """The matches before `place` that have a record by which this bot was at fault."""
    found = []
    records = folder.records.tidy() if desk is None else folder.records.paths()
    for match_id, path in records.items():
        if (at := place_of(match_id)) is not None and at < place and bot.entry_id in entries_at_fault(path):
            found.append(match_id)
    return tuple(sorted(found))


def add(folder: RunFolder, bot: JoiningBot, *, by: str, reason: str, desk: Desk | None = None) -> Control:
    """The bot joins. UsageError, BusyError or PlatformError."""

    def make(text: JournalText) -> Control:
        for other in participants_of(text):
            _check_apart(bot, other, folder.path.resolve())
            if other.entry_id == bot.entry_id:
                _fail_for_same(other, folder.path)
            if not other.out and clashes(other.name, bot.name):
                raise UsageError(f"there is a bot '{other.name}' already", "give this one another name: --name NAME")
        assert text.created is not None
        configuration = text.created.fields["configuration"]
        games = {game["game"] for game in configuration["games"]}
        foreign = sorted(games - set(bot.games))
        enough = get_format(configuration["format"]).by_game and len(foreign) < len(games)
        if bot.games and foreign and "*" not in bot.games and not enough:
            raise UsageError(f"bot '{bot.name}' does not play {foreign[0]}", "add a bot that plays it")
        place = _next_place(folder, desk)
        why, step = _closed_to_others(text, place)
        if why:
            raise UsageError(f"'{bot.name}' would play nothing: {why}", f"{step}start another run with it: --new")
        return Control("added", place, entry_id=bot.entry_id, name=bot.name, by=by, reason=reason)

    return _append(folder, make, desk, bot.fields)


def extend(folder: RunFolder, more: Mapping[str, float], *, by: str, reason: str, desk: Desk | None = None) -> Control:
    """The schedule becomes longer: by so many `blocks` or `rounds`, or up to a finer `precision`. UsageError, BusyError
    or PlatformError."""

    def make(text: JournalText) -> Control:
        begun = text.begun_with
        style = get_format(begun["format"])
        if style.name == comparison.NAME:
            step = "enter 'crosstown compare' again with the same bots and a higher --cap"
            raise UsageError("this run compares two bots", step)
        if any(control.kind == "decided" for control in in_force(text.controls)):
            when, _ = rule_in_force(text.controls)
            step = "write another stop_when in the tournament file, or take it away, and run it again"
            raise UsageError(f'this run has stopped by its rule, stop_when = "{when}"', step)
        now = {**style.lengths(make_field(begun)), **text.length}
        for name in more:
            if name not in now:
                others = " or ".join(f"--{other}" for other in now)
                step = f"give {others}" if others else "start another run: --new"
                raise UsageError(f"a run of the format {style.name} cannot be extended by {name}", step)
        length = {name: value if name == "precision" else now[name] + value for name, value in more.items()}
        if "precision" in length and length["precision"] >= now["precision"]:
            raise UsageError(
                f"{length['precision']:g} is no finer precision than {now['precision']:g}, which the run has",
                "give a smaller number",
            )
        if length.get("blocks", 0) > MOST_BLOCKS:
            raise UsageError(f"{length['blocks']:.0f} blocks are too many", f"at most {MOST_BLOCKS} can be played")
        return Control("extended", _next_place(folder, desk), by=by, reason=reason, length=length)

    return _append(folder, make, desk)


def length_words(length: Mapping[str, float]) -> str:
    """How long a schedule is: '20 blocks', 'a precision of 0.02'."""
    parts = (f"a precision of {n:g}" if name == "precision" else f"{n:.0f} {name}" for name, n in length.items())
    return " and ".join(parts)


def _fail_for_same(bot: Participant, run: Path) -> NoReturn:
    if not bot.out:
        raise UsageError(f"'{bot.name}' is the same entry: same source, same options", "add another bot")
    raise UsageError(
        f"'{bot.name}' is the same entry: same source, same options; it has left this run",
        f"to let it play on as if it had not: {shlex.join(['crosstown', 'reinstate', str(run), bot.entry_id])}",
    )


def _check_apart(joining: JoiningBot, bot: Participant, run: Path) -> None:
    """UsageError if the new bot's folder, all of which it may read, holds another or the run, or lies in another's."""
    if joining.folder is None:
        return
    if run.is_relative_to(joining.folder):
        raise UsageError(f"the folder of the bot '{joining.name}', {joining.folder}, holds the run, {run}", _APART)
    if not bot.out:
        _check_folders(joining.name, joining.folder, bot)


def _check_folders(name: str, folder: Path, bot: Participant) -> None:
    there = Path(os.path.realpath(bot.folder))
    if not bot.folder or there == folder:
        return
    if there.is_relative_to(folder) or folder.is_relative_to(there):
        raise UsageError(
            f"of the folders of the bots '{name}' and '{bot.name}', {folder} and {there}, one holds the other", _APART
        )


def _closed_to_others(text: JournalText, place: int) -> tuple[str, str]:
    """Why a bot that joins at this place would never play, '' if it would; and what would open the run to it, if
    anything does."""
    assert text.created is not None
    style = text.created.fields["configuration"]["format"]
    last = next(line for line in reversed(text.events) if line.kind in ("created", "resumed", "stopped", "finished"))
    if style == comparison.NAME:
        return "this run compares two bots", ""
    if style == knockout.FORMAT.name and place > 0:
        return "a knockout takes others only before its first round", ""
    ours = _challengers(text)
    if ours is not None and not any(bot.entry_id in ours and not bot.out for bot in participants_of(text)):
        return "all challengers have left, and a bot that joins is none", "reinstate a challenger first, or "
    if style == stages.FORMAT.name:
        return "a run with stages takes no others", ""
    if any(control.kind == "decided" for control in in_force(text.controls)):
        return "this run has stopped by its rule", "change stop_when in the tournament file and run it first, or "
    ended = last.kind == "finished" and not last.fields["missing"] and text.opened is None
    if ended and get_format(style).uses_results:
        return "the schedule of this run has ended", "make it longer first: crosstown extend RUN, or "
    return "", ""


def annul(folder: RunFolder, match_id: str, *, replay: bool, by: str, reason: str, desk: Desk | None = None) -> Control:
    """A match does not count: never, or not this time, and is played again. Its record is kept aside.

    A match that stayed void can be given up so: nobody waits for it any more. One that was annulled can be played
    again.
    UsageError, BusyError or PlatformError.
    """
    if desk is not None and match_id in desk.playing:
        raise UsageError(f"match {match_id} is being played", "wait until it has ended")
    with _alone(folder) if desk is None else nullcontext():
        text = read_journal(folder.journal)
        place = _place_in(folder, match_id)
        folder.records.tidy_match(match_id)
        record = folder.records.find(match_id)
        if record is None:
            _check_without_record(folder, text, match_id, replay=replay)
        with _writer(folder, text, desk) as journal:
            if replay and record is not None:
                # First of all, for what lies there when the run goes on counts. If nothing more is written, it is
                # played again all the same, and can be annulled again.
                folder.records.set_aside(record, ANNULLED)
            control = Control("reopened" if replay else "annulled", place, match_id=match_id, by=by, reason=reason)
            if not replay:  # a disqualification that rests on this match falls with it, so that bot is not out
                control = replace(control, out=tuple(departures((*text.controls, control))))
            _write(journal, control, desk)
            if not replay and record is not None:
                folder.records.set_aside(record, ANNULLED)
    return control


_PLAYED_AGAIN = (
    "continue with: crosstown run FILE; if a bot of the match was disqualified or withdrawn, first: crosstown reinstate"
    " RUN BOT"
)


def _check_without_record(folder: RunFolder, text: JournalText, match_id: str, *, replay: bool) -> None:
    annulled = any(c.kind == "annulled" and c.match_id == match_id for c in in_force(text.controls))
    waits = any(line.kind in ("void", "reopened") and match_id in line.fields.values() for line in text.events)
    if replay and not annulled and match_id in anchors_of(text.events).digests:
        return  # it was set aside for this, by a command that was killed before it could write so
    if annulled and not replay:
        raise UsageError(f"match {match_id} is annulled already", "to play it again: --replay")
    if not annulled and waits and replay:
        raise UsageError(f"match {match_id} is to be played again already", _PLAYED_AGAIN)
    if not annulled and not waits:
        raise _no_match(folder, match_id)


def _place_in(folder: RunFolder, match_id: str) -> int:
    place = place_of(match_id)
    if place is None or not match_id.replace("-", "").isalnum():
        raise _no_match(folder, match_id)
    return place


def _no_match(folder: RunFolder, match_id: str) -> UsageError:
    return UsageError(f"no match {match_id!r} counts in {folder.path}", "see: crosstown matches list")


def judge_again(
    folder: RunFolder, match_id: str, ranking: Sequence[int], *, by: str, reason: str, desk: Desk | None = None
) -> Control:
    """A match counts with another ranking (per seat, 1 the best) than its own; its record stays as it is."""

    def make(text: JournalText) -> Control:
        place = _place_in(folder, match_id)
        if min(ranking, default=0) != 1:
            raise UsageError(f"in the ranking {'-'.join(map(str, ranking))} no seat is first", "begin with rank 1")
        if folder.records.find(match_id) is None:
            raise _no_match(folder, match_id)
        return Control("rejudged", place, match_id=match_id, by=by, reason=reason, ranking=tuple(ranking))

    return _append(folder, make, desk)


def too_few(text: JournalText) -> str:
    """What can be played no more because too many bots have left, '' if nothing."""
    assert text.created is not None
    bots = participants_of(text)
    staying = at_tables = sum(not bot.out for bot in bots)
    if (ours := _challengers(text)) is not None:
        challengers = sum(bot.entry_id in ours and not bot.out for bot in bots)
        at_tables = staying - challengers + 1 if challengers else 0  # one of them at each table
    games = text.created.fields["configuration"]["games"]
    variants = [(game["game"], players) for game in games for players in game["players"]]
    lost = [f"{game} with {players} seats" for game, players in variants if players > at_tables]
    if not lost:
        return ""
    what = "nothing more is" if len(lost) == len(variants) else f"{', '.join(lost)} is no more"
    who = "no challenger is left" if not at_tables else f"too few bots are left ({staying})"
    return f"{who}: {what} played"


def _challengers(text: JournalText) -> frozenset[str] | None:
    """The entry ids of the challengers of a gauntlet; None of another format."""
    begun = text.begun_with
    if begun["format"] != gauntlet.FORMAT.name:
        return None
    return frozenset(begun["bots"][number]["entry_id"] for number in gauntlet.challengers(make_field(begun)))


def _next_place(folder: RunFolder, desk: Desk | None) -> int:
    return next_place(folder) if desk is None else desk.place


def next_place(folder: RunFolder) -> int:
    """The first place behind everything that has a record."""
    return max((place for name in folder.records.tidy() if (place := place_of(name)) is not None), default=-1) + 1


def _append(
    folder: RunFolder,
    make: Callable[[JournalText], Control],
    desk: Desk | None,
    more: Mapping[str, Any] | None = None,
) -> Control:
    with _alone(folder) if desk is None else nullcontext():
        text = read_journal(folder.journal)
        control = make(text)
        with _writer(folder, text, desk) as journal:
            _write(journal, control, desk, more)
    return control


def _writer(folder: RunFolder, text: JournalText, desk: Desk | None) -> AbstractContextManager[Journal]:
    return _opened(folder, text) if desk is None else nullcontext(desk.journal)


@contextmanager
def _opened(folder: RunFolder, text: JournalText) -> Iterator[Journal]:
    """The journal, for one decision. What is written holds, also where the head of the journal cannot be written after
    it: then the PlatformError says that the command must not be entered again, which would extend a run twice."""
    with Journal(folder.journal, text) as journal:
        yield journal
        try:
            journal.write_head()
        except PlatformError as error:
            step = "correct that, but do not enter the command again: the next one about this run writes the head, too"
            raise PlatformError(f"the decision is in the journal and holds; {error}", step) from error


def _write(journal: Journal, control: Control, desk: Desk | None, more: Mapping[str, Any] | None = None) -> None:
    order = {} if desk is None else {"order": desk.order}
    journal.append(control.kind, **control_fields(control), **(more or {}), **order)


def pause(desk: Desk, *, by: str, reason: str, going_on: bool) -> None:
    """Say in the journal that no match is begun from here on, or that matches begin again. PlatformError."""
    desk.journal.append("unheld" if going_on else "held", place=desk.place, by=by, reason=reason, order=desk.order)


def carry_out(folder: RunFolder, order: Order, desk: Desk) -> Control:
    """Do what an order says, other than to pause and to resume, in a runner at work. UsageError or PlatformError."""
    keys: dict[str, Any] = {"by": order.by, "reason": order.reason, "desk": desk}
    what = order.what
    try:
        match order.kind:
            case "leave":
                return leave(folder, what["kind"], what["wanted"], what["choice"], **keys)
            case "reinstate":
                return reinstate(folder, what["wanted"], **keys)
            case "add":
                return add(folder, _joining_bot(what), **keys)
            case "extend":
                return extend(folder, what["more"], **keys)
            case "annul":
                return annul(folder, what["match_id"], replay=what["replay"], **keys)
            case "rejudge":
                return judge_again(folder, what["match_id"], what["ranking"], **keys)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what_is_wrong = f"the order '{order.kind}' cannot be read: {error!r}"
        raise UsageError(what_is_wrong, "use the crosstown command of this version") from error
    raise UsageError(f"'{order.kind}' changes nothing", "use the crosstown command of this version")


def joining_values(bot: JoiningBot) -> dict[str, Any]:
    """A bot that is to join as plain values, for an order."""
    return {**asdict(bot), "folder": None if bot.folder is None else str(bot.folder), "games": list(bot.games)}


def _joining_bot(values: Mapping[str, Any]) -> JoiningBot:
    """Inverse of `joining_values`. KeyError or TypeError."""
    folder = values["folder"]
    return JoiningBot(
        values["entry_id"],
        values["name"],
        tuple(values["games"]),
        None if folder is None else Path(folder),
        dict(values["fields"]),
    )


@contextmanager
def _alone(folder: RunFolder) -> Iterator[None]:
    """Holds the lock of the run. BusyError that says how to get there, if a runner is at work."""
    try:
        lock = RunLock(folder.lock)
    except BusyError as error:
        step = (
            "stop it with Ctrl-C there (what was played stays played), enter this command again, and run the tournament"
            " again: it continues"
        )
        raise BusyError(str(error), step) from None
    with lock:
        yield
