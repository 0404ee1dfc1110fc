"""Plays matches for people who sit at a browser: what `crosstown match` does, beside the pages."""

import asyncio
import shutil
import tempfile
import threading
import time
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from leaderboard.titles import with_names
from leaderboard.web.play_host import HUMAN, HumanSeat, Opponent, PlayRefused, Setup
from referee.cli.confining import hiding, settle
from referee.cli.errors import explain
from referee.cli.one_match import Plan, human_entry, match_spec, plan, run_match, sandboxes_of
from referee.cli.person import RUN, Person
from referee.errors import UsageError
from referee.event_loop import new_event_loop
from referee.games.api import Option
from referee.games.registry import get_game
from referee.match.result import MatchResult
from referee.process.entry import Entry
from referee.process.manifest import ANY_GAME, FILE_NAME, Manifest, ManifestError, check_name, load_manifest
from referee.run.folder import SINGLE, RunFolder
from referee.run.luck import read_secrets
from referee.schedule.seeds import match_seed
from referee.schedule.spec import DEFAULTS, HUMAN_CLOCK, MatchSpec
from referee.texts import without_folders

AT_ONCE = 8
"""Matches that go on at the same time."""

UNSEEN_S = 300.0
"""A match is ended when for so long nobody has followed any of its people's pages: closed tabs keep its place."""

PER_VISITOR = 2
"""Of these matches, those that one address may have where strangers play."""

LOOK_S = 5.0

KEPT = 64
"""Matches whose seats are still known, so that their people see how they ended."""


class Host:
    """A `PlayHost` over the bots in some folders. `close` ends all matches; their records then say cancelled."""

    def __init__(
        self,
        runs: Path,
        bots: Sequence[Path],
        *,
        move_limit_s: float | None = None,
        alone: bool = True,
        per_visitor: int = PER_VISITOR,
        secret: Path | None = None,
    ) -> None:
        """`move_limit_s` is what a person has for a move. `alone`: only this machine may play, so that who asks may
        take up any seat. `per_visitor`: matches that one address may have going on, unless `alone`. `secret`: a file
        with the secret that all luck follows from. UsageError."""
        self.run = runs / SINGLE
        self._bots = {str(number): folder for number, folder in enumerate(_bot_folders(bots))}
        self._clock = HUMAN_CLOCK if move_limit_s is None else {"first_move_s": move_limit_s, "move_s": move_limit_s}
        self._seats: dict[str, list[Person]] = {}
        self._going: dict[str, asyncio.Task[None]] = {}
        self._visitors: dict[str, str] = {}
        self._alone = alone
        self._per_visitor = per_visitor
        self._secret = None if secret is None else read_secrets(secret)[0]
        self._secret_file = secret
        # A match of an earlier start of the server, whose record everybody may read, had the luck of its number.
        self._begun = 0 if secret is None else len(RunFolder(self.run).records.paths())
        self._unseen: set[str] = set()
        self._starting = threading.Lock()
        self._loop = new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="matches")

    def __enter__(self) -> "Host":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._in_loop(self._end_all())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def opponents(self, game: str) -> list[Opponent]:
        found = []
        for number, folder in self._bots.items():
            manifest = _manifest(folder)
            if manifest is not None and (ANY_GAME in manifest.games or game in manifest.games):
                found.append(Opponent(number, manifest.name, manifest.version))
        return found

    def options(self, game: str) -> list[Option]:
        """Where strangers play only those whose values have bounds: of others some take all memory, and some end the
        process, for instance those of OpenSpiel's games."""
        return [option for option in get_game(game).options if self._alone or option.is_bounded]

    def start(self, setup: Setup, visitor: str = "") -> Sequence[HumanSeat]:
        with self._starting:
            if HUMAN not in setup.seats:
                raise PlayRefused("no seat is a person's", "choose one, or play bots with: crosstown match")
            if len(self._going) >= AT_ONCE:
                raise PlayRefused(f"{AT_ONCE} matches are being played", "end one of them first")
            if not self._alone and list(self._visitors.values()).count(visitor) >= self._per_visitor:
                raise PlayRefused(
                    f"{self._per_visitor} matches of your address are being played, the most for one address",
                    "end one of them first",
                )
            move_s = self._clock["move_s"]
            if not self._alone and setup.bot_move_s > move_s:
                raise PlayRefused(
                    f"bots have as long as people at most, {move_s:g} s for a move", "choose a shorter time"
                )
            try:
                check_name(setup.name)
                planned = self._planned(setup)
                people: Sequence[Person] = self._in_loop(self._begin(planned, setup.name, visitor))
                self._begun += 1
            except Exception as error:
                refusal = explain(error)
                raise PlayRefused(self._shown(refusal.what), self._shown(refusal.next_step)) from None
            return people

    def going_on(self) -> list[Person]:
        if not self._alone:
            return []
        return [person for match_id in list(self._going) for person in self._seats.get(match_id, ())]

    def seat(self, match_id: str, key: str) -> HumanSeat | None:
        return next((person for person in self._seats.get(match_id, []) if person.key == key), None)

    def _shown(self, sentence: str) -> str:
        """What people read: strangers without the folders of this machine."""
        return sentence if self._alone else without_folders(sentence)

    def _planned(self, setup: Setup) -> Plan:
        unknown = [seat for seat in setup.seats if seat != HUMAN and seat not in self._bots]
        if unknown:
            raise UsageError("a chosen bot does not exist any more", "reload the page")
        free = setup.options.keys() - {option.name for option in self.options(setup.game)}
        if free and not self._alone:
            raise UsageError(f"the option '{min(free)}' cannot be set here", "leave it as it is")
        return plan(
            setup.game,
            [HUMAN if seat == HUMAN else str(self._bots[seat]) for seat in setup.seats],
            [f"{name}={text}" for name, text in setup.options.items()],
            None if self._secret is None else match_seed(self._secret, f"web {self._begun}"),
            clock={"first_move_s": max(DEFAULTS.first_move_s, setup.bot_move_s), "move_s": setup.bot_move_s},
            folder=self.run,
            confinement=hiding(settle(), self._secret_file),
        )

    async def _begin(self, planned: Plan, name: str, visitor: str) -> list[Person]:
        scratch = Path(tempfile.mkdtemp(prefix="crosstown-"))
        people: list[Person] = []
        try:
            alone = planned.bots.count(None) == 1
            entries = [
                bot
                or human_entry(scratch / str(seat), name if alone else f"{name} {seat + 1}", RUN, 0 if alone else seat)
                for seat, bot in enumerate(planned.bots)
            ]
            spec = match_spec(planned, entries, self._clock)
            names = [entry.name for entry in entries]
            for seat, bot in enumerate(planned.bots):
                if bot is None:
                    people.append(Person(entries[seat].home, planned.game, spec.match_id, seat, names))
        except BaseException:
            for person in people:
                person.end("it did not begin")
            shutil.rmtree(scratch, ignore_errors=True)
            raise
        for person in people:
            self._loop.add_reader(person.pipe, person.take)
        self._seats[spec.match_id] = people
        for old in list(self._seats)[:-KEPT]:
            if old not in self._going:
                del self._seats[old]
        self._visitors[spec.match_id] = visitor
        self._going[spec.match_id] = self._loop.create_task(self._play(planned, spec, entries, people))
        return people

    async def _mind(self, match_id: str, people: Sequence[Person]) -> None:
        """Ends the match once nobody follows it."""
        while True:
            await asyncio.sleep(LOOK_S)
            if max(person.seen_s for person in people) <= time.monotonic() - UNSEEN_S:
                break
        self._unseen.add(match_id)
        self._going[match_id].cancel()

    async def _play(self, planned: Plan, spec: MatchSpec, entries: Sequence[Entry], people: Sequence[Person]) -> None:
        how = "it was ended with the server"
        minding = self._loop.create_task(self._mind(spec.match_id, people))
        try:
            result = await run_match(spec, entries, self.run / "matches", sandboxes_of(planned, entries))
            how = _sentence(spec, result)
        except Exception as error:
            how = self._shown(explain(error).what)
        except asyncio.CancelledError:
            if spec.match_id not in self._unseen:
                raise
            how = "it was ended, since nobody followed it"
        finally:
            minding.cancel()
            self._unseen.discard(spec.match_id)
            del self._going[spec.match_id], self._visitors[spec.match_id]
            for person in people:
                self._loop.remove_reader(person.pipe)
                person.end(how)
            shutil.rmtree(entries[people[0].seat].home.parent, ignore_errors=True)

    async def _end_all(self) -> None:
        tasks = list(self._going.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _in_loop(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


def _sentence(spec: MatchSpec, result: MatchResult) -> str:
    if not result.ranking:
        return f"{result.reason}: {with_names(result.detail, [seat.name for seat in spec.seats])}"
    order = sorted(range(len(spec.seats)), key=lambda seat: result.ranking[seat])
    return f"{result.reason}. " + ", ".join(f"{result.ranking[seat]}. {spec.seats[seat].name}" for seat in order)


def _bot_folders(places: Sequence[Path]) -> list[Path]:
    """Every folder with a bot.toml among `places` and directly below them, by path. UsageError."""
    found: list[Path] = []
    for place in places:
        if not place.is_dir():
            raise UsageError(f"{place} is not a folder", "say where your bots are: --bots FOLDER")
        below = [place] if (place / FILE_NAME).exists() else sorted(place.iterdir())
        found += [folder for folder in below if (folder / FILE_NAME).exists()]
    return found


def _manifest(folder: Path) -> Manifest | None:
    """None for a bot that is broken: `crosstown bots list` says why."""
    try:
        return load_manifest(folder)
    except ManifestError:
        return None
