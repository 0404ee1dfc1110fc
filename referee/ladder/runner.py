"""The runner of a ladder: plays all divisions with the same workers, and gives each division equal time."""

import asyncio
import json
import math
import os
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from leaderboard.web.hand_ins import HandInRefused
from referee.errors import JournalError, PlatformError, TournamentError, UsageError
from referee.ladder.bots import Connections, LadderBot, NoConnections, Roster, entry_id
from referee.ladder.config import LadderConfig
from referee.ladder.counts import CountingObserver
from referee.ladder.disk import DiskWatch, watch_of
from referee.ladder.division import Division, Tables
from referee.ladder.members import Loaded
from referee.ladder.people import LadderPeople
from referee.ladder.season import Season, note_over, read_season, season_file
from referee.process.checkup import Probe, SandboxError, choose_profile
from referee.process.entry import Entry, EntryError, ManifestError, NotBuiltError, load_entry, remote_bot_entry
from referee.process.limits import Share, memory_room
from referee.process.manifest import BotNameError, load_manifest, plays
from referee.process.outside import Prints
from referee.process.sandbox import Profile, Sandbox
from referee.record import RecordError
from referee.run.folder import RunFolder
from referee.run.head import write_durably
from referee.run.journal import JournalText, read_journal
from referee.run.lock import started
from referee.run.machine_facts import controllers_of
from referee.run.machines import ClusterState
from referee.run.participants import participants_of
from referee.texts import one_line, plural, without_folders
from referee.tournament.bot_sections import SandboxConfig
from referee.tournament.config import BotConfig
from referee.tournament.machine import facts_of
from referee.tournament.messages import BotSetup
from referee.tournament.runner import Observer, cancel

LOOK_S = 0.5
"""How often it looks for bots that came or went."""

PACK_S = 3600.0
"""How often it looks for records that are old enough to be packed."""

STATUS_S = 2.0
"""How often the state is written for the pages, if it has changed."""

DISK_S = 5.0
"""How often it looks how much of the disk is free."""

NEWCOMERS_S = 10.0
"""After this time bots that the machine had no place for are tried again."""


class HouseBots:
    """The roster of the bots that the ladder's file names."""

    def __init__(self, config: LadderConfig) -> None:
        """ManifestError or BotNameError for a bot that cannot be read."""
        self._games = {division.name: division.game.game for division in config.divisions}
        self.settings: dict[str, BotConfig] = {}
        self._plays: dict[str, tuple[str, ...]] = {}
        for bot in config.bots:
            manifest = load_manifest(bot.folder)
            name = bot.name or manifest.name
            self.settings[name] = bot
            self._plays[name] = tuple(manifest.games)

    def change_count(self) -> int:
        return 0

    def active(self, division: str) -> Sequence[LadderBot]:
        game = self._games[division]
        return [
            LadderBot(name, "", 1, folder=bot.folder, options=bot.options, house=True, network=bot.sandbox.network)
            for name, bot in self.settings.items()
            if plays(self._plays[name], game)
        ]

    def paused(self, division: str, bot: LadderBot, reason: str) -> None:
        """It stays paused there until its files change: the journal has that."""


class Loader:
    """Loads bots once each, and says how they are confined."""

    def __init__(
        self,
        config: LadderConfig,
        profile: Profile,
        house: HouseBots,
        *,
        elsewhere: bool = False,
        controllers: Sequence[str] = (),
    ) -> None:
        """`elsewhere`: bots are built and played on other machines, and need no build here. `controllers`: those of the
        control groups that hold the bots' limits."""
        self._elsewhere = elsewhere
        self._controllers = controllers
        self._prints = Prints()
        self._config = config
        self._profile = profile
        self._house = house
        self._known: dict[tuple[object, ...], tuple[Loaded, Entry]] = {}
        """With the entries: as long as they are there, nothing that they need is removed from the store."""
        self.unbuilt: list[LadderBot] = []
        """Handed-in bots whose builds are gone, as after a move to another machine; whoever builds them empties it."""

    def __call__(self, bot: LadderBot) -> Loaded:
        key = bot.name, bot.version, bot.content, bot.folder, tuple(sorted(bot.options.items())), bot.network, bot.label
        if key not in self._known:
            found, entry = self._load(bot)
            if entry is None:
                return found
            self._known[key] = found, entry
        return self._known[key][0]

    def keep_only(self, contents: Collection[str]) -> None:
        """Forget handed-in bots with other contents: they play no more, and their files may be removed."""
        self._known = {
            key: (loaded, entry)
            for key, (loaded, entry) in self._known.items()
            if not loaded.handed_in or entry.content in contents
        }

    def _load(self, bot: LadderBot) -> tuple[Loaded, Entry | None]:
        if bot.remote:
            entry = remote_bot_entry(bot.name, bot.label)
            return load_remote(bot, self._config), entry
        settings = self._house.settings.get(bot.name) if bot.house else None
        given = settings.sandbox if settings else SandboxConfig()
        sandbox = Sandbox(
            given.profile or self._profile,
            bot.network,
            given.env,
            (*self._config.sandbox.read, *given.read),
            devices=given.devices,
        )
        none = BotSetup("", bot.name, {}, "", sandbox)
        try:
            entry = load_entry(bot.folder, bot.name, bot.options, elsewhere=self._elsewhere)
        except (ManifestError, EntryError, BotNameError) as error:
            if isinstance(error, NotBuiltError) and bot.content:
                self.unbuilt.append(bot)
                return Loaded("", none, trouble="it is built again first", waits=True), None
            return Loaded("", none, trouble=f"it cannot be started: {error.sentence}"), None
        if bot.content and entry.content != bot.content:
            return Loaded("", none, trouble=f"its files in {bot.folder} are not those that were handed in"), None
        known_as = entry_id(bot, entry.id)
        fresh = self._config.fresh if settings is None or settings.fresh is None else settings.fresh
        setup = BotSetup(
            str(entry.folder),
            bot.name,
            dict(entry.options),
            entry.id,
            sandbox,
            entry.content,
            known_as,
            fresh,
            handed_in=bool(bot.content),
        )
        clock = settings.clock if settings else {}
        machine = {} if self._elsewhere else facts_of(entry, sandbox, self._prints, self._controllers)
        found = Loaded(known_as, setup, dict(entry.options), clock, handed_in=bool(bot.content), machine=machine)
        return found, entry


def load_remote(bot: LadderBot, config: LadderConfig) -> Loaded:
    """A bot that runs at its owner's: nothing of it is here."""
    entry = remote_bot_entry(bot.name, bot.label)
    known_as = entry_id(bot, entry.id)
    setup = BotSetup("", bot.name, {}, entry.id, Sandbox(), known_as=known_as, remote=bot.name, version=bot.label)
    return Loaded(known_as, setup, {}, {"margin_s": config.remote.margin_s} if config.remote else {})


def profile_of(config: LadderConfig, found: Probe) -> Profile:
    """The sandbox profile on this machine. PlatformError if the file asks for one that does not work."""
    try:
        return choose_profile(config.sandbox.profile, found)
    except SandboxError as error:
        raise PlatformError(str(error), f'{error.next_step}; or play without: profile = "plain" in [sandbox]') from None


def memory_of(config: LadderConfig) -> tuple[int, str]:
    """The most that a bot may have, in MiB, so that all fit, and a sentence for the organiser; (0, '') where the file's
    limits fit. PlatformError."""
    seats = max(division.game.players[-1] for division in config.divisions)
    share = Share(memory_room(), config.workers, config.workers * seats)
    if not share.is_enough:
        raise PlatformError(f"the bots do not fit into memory: {share.words()}", "use fewer workers")
    fits = all(0 < division.limits.memory_mib <= share.mib for division in config.divisions)
    return (0, "") if fits else (share.mib, share.lowered_words("use fewer workers for more"))


def profile_to_play(config: LadderConfig, found: Probe, *, elsewhere: bool = False) -> Profile:
    """The sandbox profile for matches and hand-ins, whose bots are of strangers: strict, unless the file says plain.
    `elsewhere`: bots are built and played on other machines, which see to that. PlatformError."""
    if config.sandbox.profile is None and elsewhere:
        return "strict"
    if config.sandbox.profile is None and not found.works:
        what = f"a ladder plays bots of strangers, and the sandbox does not work here: {found.why}"
        step = 'or play without, trusted bots only: --accept-plain, or profile = "plain" in [sandbox]'
        raise PlatformError(what, f"{found.fix}; {step}")
    return profile_of(config, found)


def check_groups(config: LadderConfig, controllers: Collection[str]) -> None:
    """PlatformError if bots that are in the ladder have had control groups that do not work here: bots of strangers
    would have fewer limits than before. `controllers` are those of the groups that work."""
    lost: set[str] = set()
    for division in config.divisions:
        text = JournalText()
        with suppress(JournalError):  # a damaged division is not played
            text = read_journal(RunFolder(config.folder_of(division)).journal)
        for bot in participants_of(text):
            if not bot.out:
                lost.update(set(controllers_of(text.machine.get(bot.entry_id, {}))) - set(controllers))
    if lost:
        what = f"this ladder has limited its bots with control groups that do not work here: {', '.join(sorted(lost))}"
        step = (
            "see what is missing with: crosstown doctor; or go on with fewer limits, trusted bots only: --accept-plain"
        )
        raise PlatformError(what, step)


def accept_plain(config: LadderConfig, found: Probe) -> LadderConfig:
    """The same ladder, in which bots have no sandbox if it does not work here and the file does not ask for it."""
    if found.works or config.sandbox.profile is not None:
        return config
    return replace(config, sandbox=replace(config.sandbox, profile="plain"))


class LadderRunner:
    """Plays all divisions of a ladder until it is told to stop."""

    def __init__(
        self,
        config: LadderConfig,
        rosters: Sequence[Roster],
        tables: Tables,
        load: Callable[[LadderBot], Loaded],
        observer: Callable[[RunFolder], Observer],
        note: Callable[[str], None],
        connections: Connections | None = None,
        *,
        people: LadderPeople | None = None,
        door: Callable[[], dict[str, Any]] = dict,
        cluster: Callable[[], dict[str, Any]] = dict,
        time_s: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        disk: DiskWatch | None = None,
        keep_only: Callable[[Collection[str]], None] = lambda _: None,
    ) -> None:
        """`rosters`: of several with a bot of one name the first counts. `observer` makes one for each division. `door`
        says for the pages where remote bots connect, and which are there; `cluster` says which machines
        play. `disk`: default the ladder's own. `keep_only`
        is called with the contents of bots that are in use: others may go. `people` have what organisers decide."""
        self._config = config
        self._rosters = rosters
        self._tables = tables
        self._load = load
        self._observer = observer
        self._note = note
        self._people = people
        self._connections = connections or NoConnections()
        self._door = door
        self._cluster = cluster
        self._time_s = time_s
        self._now = now
        self._seen: tuple[int, ...] | None = None
        self._has_bots = False
        """Whether the divisions have their bots."""
        self._again_s = -math.inf
        """When bots that this machine had no place for are tried again."""
        self._alarms: dict[str, str] = {}
        self._since: dict[str, str] = {}
        """When the alarm of a division began, or ended."""
        self._kept_out: set[tuple[str, str, str]] = set()
        self._trouble = ""
        self._disk = disk or watch_of(config)
        self._disk_look_s = -math.inf
        self._keep_only = keep_only
        self._full = ""
        """Why no match begins: little of the disk is free."""
        self._observers: dict[str, CountingObserver] = {}
        self._frozen = False
        self._season_read = 0, Season()
        self._idled: set[str] = set()
        self._reached_s = 0.0
        """What the division that was served last has used of the tables."""
        self._status: tuple[float, str] = 0.0, ""
        self.divisions: list[Division] = []
        self.troubles: dict[str, str] = {}
        """By name, the divisions that cannot be played, and why."""

    async def run(self, stop: asyncio.Event, beside: Sequence[Callable[[], Awaitable[None]]] = ()) -> None:
        """Until `stop` is set. `beside` go on at the same time; their end, before it is stopped, ends this. What they
        raise is raised here. PlatformError when the machine does not let it go on; TournamentError if no division can
        be played."""
        with ExitStack() as stack:
            self._enter(stack, stop)
            stopping = asyncio.create_task(stop.wait())
            packing = asyncio.create_task(self._pack(stop))
            others = [asyncio.ensure_future(one()) for one in beside]
            try:
                while not stop.is_set():
                    self._reconcile()
                    self._freeze()
                    self._fill()
                    self._tell()
                    if self._has_ended():
                        break
                    playing = [task for division in self.divisions for task in division.playing]
                    await asyncio.wait(
                        [stopping, *others, *playing], timeout=LOOK_S, return_when=asyncio.FIRST_COMPLETED
                    )
                    for other in others:
                        if other.done():
                            other.result()
                    for division in self.divisions:
                        division.judge_finished()
                await self._drain()
            finally:
                stop.set()
                for other in others:
                    other.cancel()
                await packing  # not cancelled: it writes in a thread, and holds no lock of its own
                await asyncio.gather(*others, return_exceptions=True)
                await cancel([stopping, *(task for division in self.divisions for task in division.playing)])
            for division in self.divisions:
                division.stop()
            if self._has_ended():
                note_over(self._config.data)
            self._tell(stopped=True)

    async def _drain(self) -> None:
        """Matches in play get `drain_s` to finish; those that do not are played again after the next start."""
        playing = sum(len(division.playing) for division in self.divisions)
        grace_s, began_s = self._config.server.drain_s, self._time_s()
        if playing:
            self._note(f"ending: {plural(playing, 'match')} in play, which {_has(playing)} up to {grace_s:g} s to end")
        self._tell()
        await asyncio.gather(*(division.runner.finish(division.playing, grace_s) for division in self.divisions))
        left = sum(len(division.playing) for division in self.divisions)
        how = f"; {plural(left, 'match')} did not end and will be played again" if left else ""
        self._note(f"ended after {self._time_s() - began_s:.1f} s{how}")

    def _enter(self, stack: ExitStack, stop: asyncio.Event) -> None:
        for settings in self._config.divisions:
            folder = RunFolder(self._config.folder_of(settings))
            observer = CountingObserver(self._observer(folder))
            division = Division(
                self._config,
                settings,
                self._tables,
                observer,
                self,
                now=self._now,
                time_s=self._time_s,
            )
            try:
                stack.enter_context(division)
            except (JournalError, TournamentError) as error:
                self.troubles[settings.name] = f"{error}; {error.next_step}"
                self._note(f"{settings.name} is not played: {error}; {error.next_step}")
                continue
            division.begin(stop)
            self.divisions.append(division)
            self._observers[settings.name] = observer
        if not self.divisions:
            raise PlatformError("no division can be played", "see the sentences above")

    async def _pack(self, stop: asyncio.Event) -> None:
        """Pack old records from time to time. What stands in the way is told once, and the ladder goes on."""
        told: set[str] = set()
        while not stop.is_set() and self._config.storage.pack_after_days:
            until = self._now() - timedelta(days=self._config.storage.pack_after_days)
            for division in self.divisions:
                try:
                    packing = await asyncio.to_thread(division.pack, until, stop.is_set)
                    wrong = f"the record of match {packing.kept[0]} is not the one that counted" if packing.kept else ""
                except (PlatformError, RecordError) as error:
                    wrong = error.sentence
                if wrong and wrong not in told:
                    told.add(wrong)
                    self._note(one_line(f"warning: old records of {division.config.name} are not packed: {wrong}"))
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), PACK_S)

    # What a division asks of remote bots, which may play in others, too

    def connected(self, bot: LadderBot) -> bool:
        return self._connections.connected(bot)

    def busy(self, bot: LadderBot) -> bool:
        playing = (spec for division in self.divisions for spec in division.playing.values())
        return any(seat.name == bot.name for spec in playing for seat in spec.seats) or self._connections.busy(bot)

    def _reconcile(self) -> None:
        """Let the divisions know who came and went. PlatformError if the machine has no place for the first bots; later
        ones are waited for, while the others play."""
        if self._time_s() < self._again_s:
            return
        try:
            seen = tuple(roster.change_count() for roster in self._rosters)
            if seen == self._seen:
                return
            self._take_over()
            self._seen, self._has_bots = seen, True
            self._keep_only({content for division in self.divisions for content in division.contents})
        except HandInRefused as error:  # another program holds ladder.db: it is tried again
            self._tell_trouble(f"who plays is not known just now: {error}")
        except PlatformError as error:
            if not self._has_bots:
                raise
            self._tell_trouble(f"newcomers and new versions wait, and are tried again: {error}")
            self._again_s = self._time_s() + NEWCOMERS_S

    def _tell_trouble(self, trouble: str) -> None:
        if trouble != self._trouble:
            self._note(one_line(trouble))
        self._trouble = trouble

    def _obey(self) -> None:
        """Pauses, and matches that are annulled."""
        if self._people is None:
            return
        steering = self._people.steering()
        paused = dict(steering.paused)
        for division in self.divisions:
            division.paused = steering.drain or paused.get(division.config.name, "")
        known = {division.config.name: division for division in self.divisions}
        for number, reason, what in self._people.waiting_acts():
            division_name, match_id, by = what["division"], what["match_id"], what["by"]
            state = "yes"
            try:
                if division_name not in known:
                    raise UsageError(f"{division_name} is not played now", "see the alarms")
                # Matches of two seasons may have the same id. Acts have their time in seconds.
                if datetime.fromisoformat(what["at"]) < known[division_name].begun_at.replace(microsecond=0):
                    raise UsageError("the season of this match has ended", "its results stay as they are")
                if not known[division_name].has_annulled(match_id):  # a kill may come before `done`
                    known[division_name].annul(match_id, by=by, reason=reason)
            except UsageError as error:
                state = str(error)
            self._people.done(number, state)

    def _take_over(self) -> None:
        self._obey()
        for division in self.divisions:
            names: dict[str, tuple[LadderBot, Roster]] = {}
            for roster in self._rosters:
                for bot in roster.active(division.config.name):
                    if bot.network and "network" not in division.config.admits:
                        bot = replace(bot, network=False)
                    names.setdefault(bot.name, (bot, roster))
            for name, reason in division.reconcile([bot for bot, _ in names.values()], self._load):
                bot, roster = names[name]
                roster.paused(division.config.name, bot, without_folders(reason))
                said = division.config.name, name, reason
                if said not in self._kept_out:
                    self._kept_out.add(said)
                    self._note(one_line(f"'{name}' does not play in {division.config.name}: {reason}"))

    def _fill(self) -> None:
        """Begin matches while there are tables: first of a division in which somebody waits for the first match of a
        bot, then of the one that has had the least of the tables."""
        if self._is_full():
            return
        free = self._tables.slots - sum(len(division.playing) for division in self.divisions)
        waiting = list(self.divisions)
        while free > 0 and waiting:
            now_s = self._time_s()
            division = min(waiting, key=lambda one: (not one.awaits_first_match, one.used_until(now_s)))
            spec = division.next()
            self._tell_broken(division)
            if spec is None:
                waiting.remove(division)
                self._idled.add(division.config.name)
                continue
            if division.config.name in self._idled:  # what it left to others meanwhile is not made up for
                self._idled.discard(division.config.name)
                division.used_s = max(division.used_s, self._reached_s)
            self._reached_s = max(self._reached_s, division.used_until(now_s))
            division.start(spec)
            free -= 1

    def _freeze(self) -> None:
        """If the season is to end, no block is decided from now on."""
        if not self._frozen and self._season().ends:
            self._frozen = True
            self._note("the season ends: no block is decided any more, and those that are decided are played")
            for division in self.divisions:
                division.frozen = True

    def _has_ended(self) -> bool:
        """Whether the season is to end, and all that was decided in it is played. A division that cannot be played
        does not hold it up."""
        return self._frozen and not any(division.playing or division.has_open_blocks for division in self.divisions)

    def _season(self) -> Season:
        """As of now; the file is read when it has changed."""
        try:
            stamp = season_file(self._config.data).stat().st_mtime_ns
        except OSError:
            return Season()
        if stamp != self._season_read[0]:
            self._season_read = stamp, read_season(self._config.data)
        return self._season_read[1]

    def _is_full(self) -> bool:
        """Whether too little of the disk is free to begin a match. Matches in play go on."""
        if self._time_s() >= self._disk_look_s + DISK_S:
            self._disk_look_s = self._time_s()
            full = self._disk.stops_matches()
            if bool(full) != bool(self._full):
                self._note(f"no match begins: {full}" if full else "matches begin again: the disk has room")
            self._full = full
        return bool(self._full)

    def _tell_broken(self, division: Division) -> None:
        if division.broken:
            division.broken.clear()
            self._seen = None  # all rosters are told of all bots that are kept out

    def _tell(self, *, stopped: bool = False) -> None:
        """Alarms, and the state of the divisions for the pages, in `runner.json` in the data folder."""
        state: dict[str, Any] = {}
        for division in self.divisions:
            alarm = f"no match begins in {division.config.name}: {self._full}" if self._full else division.alarm()
            if bool(alarm) != bool(self._alarms.get(division.config.name)):
                self._note(f"warning: {alarm}" if alarm else f"matches of {division.config.name} end again")
                self._since[division.config.name] = self._now().isoformat(timespec="seconds")
            self._alarms[division.config.name] = alarm
            state[division.config.name] = {
                "bots": division.bots,
                "playing": len(division.playing),
                "idle": "" if division.playing else self._full or division.idle.reason,
                "alarm": alarm,
                "since": self._since.get(division.config.name, ""),
                "matches": division.in_play(),
                "counts": {**self._observers[division.config.name].counts.values(), "void": division.runner.voided},
            }
        for name, trouble in self.troubles.items():
            since = self._since.setdefault(name, self._now().isoformat(timespec="seconds"))
            state[name] = {
                "bots": 0,
                "playing": 0,
                "idle": "",
                "alarm": f"{name} is not played: {trouble}",
                "since": since,
                "matches": [],
            }
        pid = 0 if stopped else os.getpid()
        said = {
            "pid": pid,
            "started": started(pid),
            "divisions": state,
            "door": self._door(),
            "cluster": self._cluster(),
        }
        text = json.dumps(said, indent=1, sort_keys=True) + "\n"
        at_s, before = self._status
        if text != before and (stopped or self._time_s() >= at_s + STATUS_S):
            try:
                write_durably(status_file(self._config.data), text)
            except OSError:
                return  # what matters will fail, too, and say so
            self._status = self._time_s(), text


def _has(number: int) -> str:
    return "has" if number == 1 else "have"


def make_data(config: LadderConfig) -> Path:
    """The folder of the divisions, which is made if it is not there. PlatformError."""
    place = config.data / "divisions"
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"the folder {place} cannot be made: {error.strerror}"
        raise PlatformError(what, 'choose another place: data = "..." in the ladder\'s file') from None
    return place


def read_status(data: Path) -> dict[str, Any]:
    """What the runner said last, by division; empty where it does not run."""
    return _said(data, "divisions")


def read_door(data: Path) -> dict[str, Any]:
    """What it said last of remote bots: see `RemoteBots.state`. Empty where it does not run, or admits none."""
    return _said(data, "door")


def read_cluster(data: Path) -> ClusterState | None:
    """The machines that play, as it said last; None where it does not run, or plays on its own machine."""
    try:
        return ClusterState.from_values(_said(data, "cluster"))
    except (KeyError, TypeError):
        return None


def _said(data: Path, key: str) -> dict[str, Any]:
    try:
        found = json.loads(status_file(data).read_text(encoding="ascii"))
        is_there = bool(found["started"]) and started(int(found["pid"])) == found["started"]
        return dict(found[key]) if is_there else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def status_file(data: Path) -> Path:
    """Where the runner says what its divisions do."""
    return data / "runner.json"
