"""One run of a tournament."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from referee.errors import BusyError, UsageError
from referee.record.format import Header
from referee.record.journal import (
    Anchors,
    Choice,
    Control,
    FailedStart,
    JournalLine,
    anchors_of,
    failed_starts,
    parse_control,
    provider_voids,
)
from referee.record.reader import Record
from referee.record.store import RecordStore, counts_in, match_id_of
from referee.record.verify import Verdict, verify_file
from referee.run import decisions
from referee.run.anchors import ANNULLED, set_aside_as
from referee.run.checks import RunCheck, check_run
from referee.run.decisions import JoiningBot
from referee.run.folder import RunFolder, title_of
from referee.run.journal import JournalText, read_brief, read_journal
from referee.run.lock import is_run
from referee.run.luck import Epoch, epochs_of, epochs_when_counted, seeds_of
from referee.run.machine_facts import facts_in_headers, flat_facts
from referee.run.orders import WAIT_S, OrderKind, give
from referee.run.participants import Participant, participants_of
from referee.schedule.config import ScheduleConfig, schedule_config, seat_spec
from referee.schedule.formats.api import Extent
from referee.schedule.formats.registry import UnknownFormat
from referee.schedule.progress import Result, ScheduleProgress, cancelled, planned
from referee.schedule.seeds import MatchSeeds
from referee.schedule.spec import Limits
from referee.texts import listed, one_line

if TYPE_CHECKING:
    from referee.run.signing import Signature  # its library takes a while to import

_TRIES = 3
"""How often a decision is tried again whose runner ended before it could make it."""

RunState: TypeAlias = Literal["not begun", "going on", "finished", "stopped", "cut off"]


class Run:
    """A run as its folder has it: what was configured and decided, its records and its schedule; and the decisions of
    its organiser, which are written to its journal.

    The journal is read once, and again after each decision. JournalError if it is damaged, PlatformError if it cannot
    be read. A folder without a journal is a run that has not begun.
    """

    def __init__(self, folder: RunFolder | Path, journal: JournalText | None = None, *, brief: bool = False) -> None:
        """`journal`: one to be taken instead of what lies in the folder, such as an empty one where that is damaged.
        `brief`: its digests of records are read only when they are needed, which is quicker for a run of many matches.
        """
        self.folder = folder if isinstance(folder, RunFolder) else RunFolder(folder)
        self._brief = brief
        self.journal = self._read() if journal is None else journal
        self.at_work = False
        """Whether a runner at work has made the last decision, and goes on with it."""
        self.patience_s = WAIT_S
        """How long a decision waits until the runner at work takes it."""

    def grown_from(self, before: "Run") -> bool:
        """Whether the journal has got nothing but blocks and digests of records since that of `before`, the same run at
        an earlier moment. What follows from the rest of it is then taken from there."""
        if self.journal.steps is not before.journal.steps:
            return False
        self.__dict__["participants"] = before.participants
        self.__dict__["schedule_config"] = replace(before.schedule_config, decided=self.journal.blocks)
        return True

    def _read(self) -> JournalText:
        return (read_brief if self._brief else read_journal)(self.folder.journal)

    @property
    def records(self) -> RecordStore:
        return self.folder.records

    @property
    def begun(self) -> bool:
        return self.journal.created is not None

    @property
    def configuration(self) -> Mapping[str, Any]:
        """As `referee.tournament.identity.describe` made it. Of a run that has begun."""
        return self.journal.configuration

    @property
    def name(self) -> str:
        """That of its tournament; of a folder without one, the folder's."""
        return str(self.configuration["name"]) if self.begun else self.folder.path.name

    @property
    def title(self) -> str:
        """What the run is called: 'cup', or 'cup (cup-2)' for another run of the same tournament."""
        return title_of(self.folder, self.name)

    @property
    def file(self) -> Path | None:
        """The tournament file that the run began with; where it is gone, one of its name beside the folder of runs, for
        all may have been moved together. None where the journal does not say."""
        created = self.journal.created
        if created is None or "file" not in created.fields:
            return None
        begun_with = Path(created.fields["file"])
        moved = self.folder.path.resolve().parent.parent / begun_with.name
        return moved if moved.is_file() and not begun_with.exists() else begun_with

    @cached_property
    def participants(self) -> tuple[Participant, ...]:
        """All bots that ever entered, those that were added last."""
        return participants_of(self.journal)

    @property
    def rating_anchors(self) -> Mapping[str, float]:
        """The ratings that are fixed, in Elo points by entry id."""
        return self.journal.rating_anchors

    @property
    def left_out(self) -> Sequence[Mapping[str, str]]:
        """The entries that could not play when the run began: `entry`, `why` and `next_step` of each."""
        return self.journal.created.fields.get("left_out", ()) if self.journal.created is not None else ()

    @property
    def controls(self) -> Sequence[Control]:
        """What was decided, in that order."""
        return self.journal.controls

    @cached_property
    def schedule_config(self) -> ScheduleConfig:
        """What its schedule depends on, besides controls and results. Of a run that has begun."""
        joined = self._joined
        games = {fields["entry_id"]: fields["games"] for fields in joined if "games" in fields}
        clubs = {fields["entry_id"]: fields["club"] for fields in joined if "club" in fields}
        added = map(seat_spec, joined)
        return schedule_config(self.journal.begun_with, added, self.journal.blocks, self.journal.length, games, clubs)

    @property
    def _joined(self) -> list[Mapping[str, Any]]:
        """What the journal says of each bot that was added."""
        return [line.fields for _, line in self.journal.steps if line.kind == "added"]

    def reason_for(self, seed_group: int) -> str:
        """Why the block was decided that has this seed group; '' in a run whose blocks follow from its format."""
        decided = self.journal.blocks
        place = bisect_right(decided, seed_group, key=lambda block: block.seed_group)
        return decided[place - 1].reason if place else ""

    @property
    def schedule_id(self) -> str:
        """Another one for another schedule, controls and results apart; '' before the run has begun."""
        if self.journal.created is None:
            return ""
        return f"{self.journal.created.fields['hash']} {dict(self.journal.length)}"

    def progress(self, results: Iterable[Result], *, skip_counted: bool = False) -> ScheduleProgress:
        """Its schedule with these results of rated matches. UnknownFormat if its format is not installed here.
        `skip_counted`: see `ScheduleProgress`."""
        return ScheduleProgress(self.schedule_config, self.controls, results, skip_counted=skip_counted)

    def gone_from(self, match_id: str, results: Iterable[Result]) -> list[str]:
        """Names of the bots that are out of those that have a seat in a match without a record."""
        with suppress(UnknownFormat):
            progress = self.progress(results)
            for spec, state in progress:
                if spec.match_id == match_id:
                    return [seat.name for seat in progress.schedule.out(spec)] if state == "off" else []
        return []

    def known_matches(self) -> set[str]:
        """The ids of all matches that have a record, or that the journal names."""
        paths = (*self.records.paths().values(), *self.records.aside_paths().values())
        named = {str(line.fields.get(name, "")) for line in self.journal.events for name in ("match", "match_id")}
        return named | {match_id_of(path) for path in paths}

    @property
    def state(self) -> RunState:
        """How far the run is now."""
        if not self.begun:
            return "not begun"
        if self.finished:
            return "finished"
        if is_run(self.folder.lock):
            return "going on"
        return "stopped" if self.journal.last_state in ("stopped", "finished") else "cut off"

    @property
    def finished(self) -> bool:
        """Whether all is played that could be played, and the run was neither resumed nor given more to play since."""
        return self._finish() is not None

    @property
    def extent(self) -> Extent:
        """How many matches count once all is played, at least and at most: that depends on results and on who leaves.
        Cancelled matches never count. Of a run that has begun."""
        finish = self._finish()
        if finish is None:
            return planned(self.schedule_config, self.controls, self.records)
        before, since = self.journal.controls_around(finish)
        known = {control.match_id for control in before}
        decided = {control.match_id: control for control in since if control.match_id}
        taken = sum(
            control.kind == "annulled" and match not in known and match not in self.records
            for match, control in decided.items()
        )
        finished = self.journal.events[finish].fields
        number = int(finished["rated"]) + int(finished["missing"]) - taken
        return Extent(number, number)

    @property
    def total(self) -> int:
        """Matches that count once all is played, at most."""
        return self.extent.most

    @property
    def at_most(self) -> bool:
        """Whether fewer than `total` may come to be played."""
        extent = self.extent
        return extent.least != extent.most

    @property
    def cancelled(self) -> tuple[int, tuple[str, ...]]:
        """How many of its matches are not played since a bot in them is out, and the entry ids of these bots; (0, ())
        where that is not counted. Of a run that has begun."""
        return cancelled(self.schedule_config, self.controls, self.records)

    def _finish(self) -> int | None:
        """The event that says how many matches there are; None if the schedule goes on, or has grown since."""
        return self.journal.finish if self.journal.opened is None else None

    @property
    def failed_starts(self) -> dict[str, FailedStart]:
        """The bots that did not start at least once, by entry id."""
        names = {bot.entry_id: bot.name for bot in self.participants}
        return failed_starts((line for _, line in self.journal.steps), names)

    @property
    def undecided(self) -> Sequence[str]:
        """The names of bots that were out, and whose matches count until the run goes on and the breaker decides
        again."""
        return [
            control.name
            for control, again in self.journal.fallen
            if control.choice != "keep" and not (again and all(match_id in self.records for match_id in again))
        ]

    @property
    def provider_voids(self) -> dict[str, int]:
        """By entry id, how many attempts at matches were void because the bot got no answer from its provider."""
        return dict(provider_voids(line for _, line in self.journal.steps))

    @property
    def startup_limits_s(self) -> dict[str, float]:
        """By entry id, how many seconds each bot has to say Hello."""
        if not self.begun:
            return {}
        of_all = float(self.configuration.get("limits", {}).get("startup_s", Limits().startup_s))
        bots = [*self.configuration["bots"], *self._joined]
        own = {bot["entry_id"]: bot.get("clock", {}).get("startup_s") for bot in bots}
        return {bot.entry_id: float(own.get(bot.entry_id) or of_all) for bot in self.participants}

    @property
    def machine_changes(self) -> list[str]:
        """A sentence for each fact of the machine that changed while the run went on, for who reads its table."""
        return [
            one_line(f"changed while the run went on: {change}")
            for _, line in self.journal.steps
            if line.kind == "machine"
            for change in line.fields["changes"]
        ]

    @cached_property
    def machine_facts(self) -> Mapping[str, Mapping[str, str]]:
        """By entry id, what comes from the machine, flat: as the journal has it, or, of bots of which it says nothing
        because a cluster has played them, the headers of the last records."""
        known = {entry_id: flat_facts(facts) for entry_id, facts in self.journal.machine.items()}
        others = {bot.entry_id for bot in self.participants} - known.keys()
        return {**facts_in_headers(self.records, others), **known}

    @property
    def epochs(self) -> tuple[Epoch, ...]:
        """The epochs of its luck. Of a run that has begun."""
        return epochs_of(self.journal)

    @property
    def reveals_all(self) -> bool:
        """Whether the luck of all that was played is public: what is played after this has another. Of a run that has
        begun."""
        return self.epochs[-1].over

    @property
    def season_over(self) -> bool:
        """Whether this is a division of a ladder whose season has ended: none of its matches is played any more."""
        return bool(self.journal.blocks) and self.reveals_all

    @cached_property
    def anchors(self) -> Anchors:
        """The digests of the records that count."""
        return anchors_of(self._whole_journal.events)

    def is_half_reopened(self, match_id: str) -> bool:
        """Whether a command was stopped that was to have this match played again: its record is set aside, and the
        journal does not say so yet."""
        digest = "" if match_id in self.records else self.anchors.digests.get(match_id, "")
        return bool(digest) and set_aside_as(self.folder, match_id, digest) == ANNULLED

    @property
    def _whole_journal(self) -> JournalText:
        return read_journal(self.folder.journal) if self.journal.brief else self.journal

    def verify(self, path: Path) -> tuple[Verdict, Record | None]:
        """Check one of its records against the rules and against all that the journal knows of it; the record, too, if
        it can be read."""
        if not self.begun:
            return verify_file(path, match_id=match_id_of(path) if self.folder.journal.exists() else "")
        match_id = match_id_of(path)
        digest = self.anchors.digests.get(match_id, "")
        seeds, epochs, when_counted = self._seeds
        epochs = when_counted.get(match_id, epochs) if digest else epochs
        of_match = replace(seeds, secrets=seeds.secrets[:epochs])
        verdict, record = verify_file(
            path,
            identities={bot.entry_id: (bot.name, bot.version) for bot in self.participants},
            seeds=(lambda header: of_match.seeds_of(header.game, header.block))
            if len(of_match.secrets) == epochs
            else None,
            match_id=match_id,
            anchored=digest if counts_in(path) else "",
        )
        other = self._other_game(record.header) if record is not None and counts_in(path) else ""
        if other and verdict.status != "wrong":
            verdict = replace(verdict, status="wrong", line=1, problem=other)
        return verdict, record

    def _other_game(self, header: Header) -> str:
        """A sentence if the run has no match of this game with these options; '' if it has."""
        played = [game.options_of(header.block) for game in self.schedule_config.games if game.game == header.game]
        if not played:
            return f"the record is of {one_line(header.game, 80)}, which the run does not play"
        if header.options in played:
            return ""
        names = sorted(
            name for name in {*header.options, *played[0]} if header.options.get(name) != played[0].get(name)
        )
        return f"the match was played with another value of {one_line(listed(names), 200)} than the run has"

    def get_ready_to_verify(self) -> None:
        """Compute what `verify` needs to know of the run."""
        if self.begun:
            _ = self.participants, self.anchors, self._seeds, self.schedule_config

    @cached_property
    def _seeds(self) -> tuple[MatchSeeds, int, Mapping[str, int]]:
        """The seeds that are known, how many epochs there are, and by match how many there were when it came to
        count."""
        return *seeds_of(self.journal), epochs_when_counted(self._whole_journal)

    def check(self, key: str = "", named: Iterable[str] = ()) -> RunCheck:
        """What the journal says of luck, records, signature and itself. `key`: the run has to be signed by it. `named`
        are matches without a record that are known already. Of a run that has begun."""
        return check_run(self.folder, self._whole_journal, key, frozenset(named))

    def leave(
        self,
        kind: Literal["withdrawn", "disabled"],
        bot: str,
        choice: Choice | None = None,
        *,
        by: str,
        reason: str = "",
    ) -> Control:
        """A bot, by name or entry id, plays no more. See `decisions.leave`."""
        what = {"kind": kind, "wanted": bot, "choice": choice}
        return self._decide(
            "leave", what, lambda: decisions.leave(self.folder, kind, bot, choice, by=by, reason=reason), by, reason
        )

    def reinstate(self, bot: str, *, by: str, reason: str = "") -> Control:
        """A bot that is out plays on as if it had not left. See `decisions.reinstate`."""
        return self._decide(
            "reinstate",
            {"wanted": bot},
            lambda: decisions.reinstate(self.folder, bot, by=by, reason=reason),
            by,
            reason,
        )

    def add(self, bot: JoiningBot, *, by: str, reason: str = "") -> Control:
        """A bot joins. See `decisions.add`."""
        what = decisions.joining_values(bot)
        return self._decide("add", what, lambda: decisions.add(self.folder, bot, by=by, reason=reason), by, reason)

    def extend(self, more: Mapping[str, float], *, by: str, reason: str = "") -> Control:
        """The schedule becomes longer. See `decisions.extend`."""
        return self._decide(
            "extend",
            {"more": dict(more)},
            lambda: decisions.extend(self.folder, more, by=by, reason=reason),
            by,
            reason,
        )

    def annul(self, match_id: str, *, replay: bool = False, by: str, reason: str = "") -> Control:
        """A match does not count, or is played again. See `decisions.annul`."""
        return self._decide(
            "annul",
            {"match_id": match_id, "replay": replay},
            lambda: decisions.annul(self.folder, match_id, replay=replay, by=by, reason=reason),
            by,
            reason,
        )

    def rejudge(self, match_id: str, ranking: Sequence[int], *, by: str, reason: str = "") -> Control:
        """A match counts with another ranking. See `decisions.judge_again`."""
        return self._decide(
            "rejudge",
            {"match_id": match_id, "ranking": list(ranking)},
            lambda: decisions.judge_again(self.folder, match_id, ranking, by=by, reason=reason),
            by,
            reason,
        )

    def hold(self, *, by: str, reason: str = "", going_on: bool = False) -> None:
        """The runner at work begins no match from now on, or, if `going_on`, again. UsageError without a runner."""
        kind: OrderKind = "resume" if going_on else "pause"
        order, answered = "", False
        if is_run(self.folder.lock):
            order, answered = give(self.folder, kind, {}, by=by, reason=reason, wait_s=self.patience_s)
        self.reload()
        if not answered and self.carried_out(order) is None:
            raise UsageError(f"'{self.name}' is not being played now", "to play it: crosstown run FILE")

    @property
    def held(self) -> bool:
        """Whether the runner at work was told to begin no match."""
        kinds = ("held", "unheld", "created", "resumed")
        states = [line for _, line in self.journal.steps if line.kind in kinds]
        while states and states[-1].kind == "resumed" and states[-1].fields.get("order"):
            states.pop()  # the same runner takes up what an order has changed
        return bool(states) and states[-1].kind == "held" and self.state == "going on"

    def _decide(
        self, kind: OrderKind, what: Mapping[str, Any], direct: Callable[[], Control], by: str, reason: str
    ) -> Control:
        """Make the decision here; while a runner is at work it makes it. What was decided holds from then on."""
        for _ in range(_TRIES):
            try:
                control = direct()
            except BusyError as error:
                busy = error
            else:
                self.reload()
                self.at_work = False
                return control
            try:
                order, _answered = give(self.folder, kind, what, by=by, reason=reason, wait_s=self.patience_s)
            except BusyError as error:
                raise BusyError(f"{busy}: {error}", error.next_step) from None
            self.reload()
            if (line := self.carried_out(order)) is not None:
                self.at_work = True
                return parse_control(line.kind, line.at, line.fields)
        raise busy

    def carried_out(self, order: str) -> JournalLine | None:
        """The line of the journal by which an order was carried out."""
        lines = (line for _, line in reversed(self.journal.steps) if line.fields.get("order") == order)
        return next((line for line in lines if line.kind != "resumed"), None)  # which names the order, too

    def sign(self) -> "Signature":
        """Sign the journal, which has a digest of each record that counts. See `signing.sign`."""
        from referee.run.signing import sign

        signed = sign(self.folder)
        self.reload()
        return signed

    @property
    def signature(self) -> "Signature | None":
        """None of a run that is not signed. JournalError for a file that is no signature."""
        if not self.folder.signature.exists():
            return None
        from referee.run.signing import read_signature

        return read_signature(self.folder)

    def too_few(self) -> str:
        """What can be played no more because too many bots have left, '' if nothing."""
        return decisions.too_few(self.journal)

    def reload(self) -> None:
        """Read the journal again."""
        self.journal = self._read()
        for name in ("participants", "schedule_config", "anchors", "machine_facts", "_seeds"):
            self.__dict__.pop(name, None)
