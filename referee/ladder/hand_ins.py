"""The operations behind the pages and `/api/v1` of a ladder: accounts, uploads, versions, divisions."""

import hashlib
import os
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leaderboard.titles import division_title
from leaderboard.web.hand_ins import (
    OVER,
    Account,
    Alarm,
    BotState,
    Connection,
    Division,
    Entry,
    HandedIn,
    HandInLimits,
    HandInRefused,
    Invitation,
    LogPart,
    NewInvitation,
    NewToken,
    Overview,
    Person,
    Refusal,
    Scope,
    Token,
    VersionState,
    Worker,
)
from referee.errors import JournalError, PlatformError
from referee.folders import cache_folder
from referee.games.registry import get_game
from referee.ladder.archives import ArchiveError, ArchiveLimits, unpack
from referee.ladder.config import DivisionConfig, LadderConfig
from referee.ladder.disk import DiskWatch, watch_of
from referee.ladder.intake import QUALIFY_S, Places
from referee.ladder.quotas import Quotas
from referee.ladder.store import LadderStore
from referee.ladder.tournaments import SteeredTournaments
from referee.process.manifest import ANY_GAME, FILE_NAME, Manifest, ManifestError, load_manifest
from referee.process.sources import EntryError, read_sources
from referee.process.store import put
from referee.process.trees import remove_tree, walk
from referee.record.journal import JournalLine
from referee.run.folder import RunFolder
from referee.run.journal import new_lines, read_journal
from referee.run.machines import ClusterState
from referee.texts import plural, without_folders

MOST_BOTS = 20
MOST_WAITING = 10
MOST_UPLOADS = 4
"""Of one owner: bots, hand-ins that are on their way, and archives that are being sent at the same time."""

_MOST_SHOWN = 50
_RETRY_S = 60
_LATER_S = 3600
_SOON_S = 5
_DISK_RETRY_S = 600
_AT_ONCE = 2
"""Archives that are unpacked side by side."""


class LadderHandIns:
    """Implements `leaderboard.web.people.LadderHost`. Any method may be called from any thread."""

    def __init__(
        self,
        config: LadderConfig,
        store: LadderStore,
        *,
        state: Callable[[], tuple[Sequence[Alarm], Sequence[Worker], str]] = lambda: ((), (), ""),
        waits: Callable[[], Mapping[str, str]] = dict,
        door: Callable[[], Mapping[str, Any]] = dict,
        cluster: Callable[[], ClusterState | None] = lambda: None,
        alone: bool = True,
        disk: DiskWatch | None = None,
        runs: Path | None = None,
    ) -> None:
        """`state`: alarms, workers, and why nothing is played, as the process that plays says; `waits`: why no match is
        played, by division; `door`: what `RemoteBots.state` said last; `cluster`: the machines
        of a cluster that plays. `alone`: this is the server, and what an earlier
        one left of uploads is removed. `runs`: the folder with the runs of the divisions, default those of the season
        that goes on. PlatformError."""
        self._config = config
        self._runs = runs or config.data / "divisions"
        self._store = store
        self._accounts = store.accounts
        wanted = config.accounts
        self.people = store.people(
            sign_up=wanted.sign_up,
            providers=wanted.providers,
            divisions=[division.name for division in config.divisions],
        )
        self.tournaments = (
            None
            if config.tournaments is None
            else SteeredTournaments(config.tournaments, (config.data, cache_folder()))
        )
        self._state = state
        self._waits = waits
        self._door = door
        self._cluster = cluster
        self._places = Places(config.data)
        self._places.make()
        for path in self._places.uploads.iterdir() if alone else ():
            remove_tree(path) if path.is_dir() else path.unlink(missing_ok=True)
        self._disk = disk or watch_of(config)
        self._quotas = Quotas(store, self._places.content, cache_folder(), config.storage.owner_mib)
        self._unpacking = threading.BoundedSemaphore(_AT_ONCE)
        self._uploads = Counter[str]()
        self._counting = threading.Lock()
        self._entries: dict[str, tuple[tuple[int, int, int], _Joined, dict[str, Entry]]] = {}

    @property
    def title(self) -> str:
        return self._config.name

    @property
    def limits(self) -> HandInLimits:
        wanted = self._config.hand_ins
        return HandInLimits(
            upload_bytes=wanted.archive_mib << 20,
            unpacked_bytes=wanted.unpacked_mib << 20,
            files=wanted.files,
            build_s=wanted.build_s,
            qualify_s=QUALIFY_S,
        )

    # Who is there

    def account(self, secret: str) -> Account:
        return self._accounts.account(secret)

    def invitation(self, code: str) -> Invitation:
        return self._accounts.invitation(code)

    def sign_in(self, secret: str) -> NewToken:
        return self._accounts.session_of(secret)

    def sign_out(self, account: Account) -> None:
        self._accounts.revoke_token(account.owner, account.token_id)

    def tokens(self, account: Account) -> Sequence[Token]:
        _need(account, "manage")
        return self._accounts.tokens(account.owner)

    def create_token(self, account: Account, label: str, scope: Scope, days: int | None, bot: str = "") -> NewToken:
        _need(account, "manage", bot=bot)
        _need(account, scope)
        return self._accounts.create_token(account.owner, label, scope, days, bot=bot, maker=account.token_id)

    def revoke_token(self, account: Account, token_id: str) -> None:
        _need(account, "manage")
        self._accounts.revoke_token(account.owner, token_id)

    def invitations(self, account: Account) -> Sequence[Invitation]:
        _need(account, "organise")
        return self._accounts.invitations()

    def create_invitation(self, account: Account, label: str, uses: int, days: int, organiser: bool) -> NewInvitation:
        _need(account, "organise")
        made = self._accounts.create_invitation(label, uses, days, organiser=organiser)
        self.people.note(account, "invite", made.invitation.label, f"{plural(uses, 'account')}, {plural(days, 'day')}")
        return made

    def revoke_invitation(self, account: Account, invitation_id: str) -> None:
        _need(account, "organise")
        self._accounts.revoke_invitation(invitation_id)
        self.people.note(account, "revoke an invitation", invitation_id)

    # Bots and versions

    def bots(self, owner: str | None = None) -> Sequence[BotState]:
        there = self._door().get("bots", {})
        return [replace(bot, connected=bot.remote and bot.name in there) for bot in self._store.bots(owner)]

    def bot(self, name: str) -> BotState:
        bot = self._store.bot(name)
        return replace(bot, connected=bot.remote and name in self._door().get("bots", {}))

    def versions(self, name: str) -> Sequence[VersionState]:
        return self._store.versions(name)

    def version(self, name: str, number: int) -> VersionState:
        return self._store.version(name, number)

    def log(self, account: Account, name: str, number: int, start: int, most_bytes: int) -> LogPart:
        _need(account, "read", bot=name)
        version = self._store.version(name, number)
        if version.owner != account.owner and not account.may("organise"):
            raise HandInRefused(
                Refusal.UNKNOWN, f"you have no bot '{name}' with a version {number}", "see the list of your bots"
            )
        over = version.status in OVER  # asked first: what is added afterwards is read the next time
        data, file = b"", self._store.log_name(name, number)
        if file:
            with suppress(FileNotFoundError), (self._places.logs / file).open("rb") as opened:
                opened.seek(start)
                data = opened.read(most_bytes)
        data = _whole_characters(data)
        return LogPart(data.decode("utf-8", "replace"), start + len(data), over and len(data) < most_bytes)

    def begin_upload(self, account: Account, name: str, key: str, games: Sequence[str] = ()) -> "ArchiveUpload":
        _need(account, "submit", bot=name)
        name = self._store.check_bot(account.owner, name, remote=False)
        known = {division.game.game for division in self._config.divisions}
        if unknown := [game for game in games if game not in known]:
            raise HandInRefused(
                Refusal.UNUSABLE, f"the ladder has no division of {unknown[0]!a}", f"choose among {', '.join(known)}"
            )
        if not key or self._store.known_key(account.owner, key) is None:
            self._check_room(account.owner, name)
        with ExitStack() as stack:
            stack.enter_context(self._sending(account.owner))
            return ArchiveUpload(
                self._config, self._store, self._places, self._unpacking, account.owner, name, key, games, stack
            )

    @contextmanager
    def _sending(self, owner: str) -> Iterator[None]:
        """TOO_MANY if the owner sends as many archives as may be sent at the same time."""
        with self._counting:
            if self._uploads[owner] >= MOST_UPLOADS:
                raise HandInRefused(
                    Refusal.TOO_MANY,
                    f"{MOST_UPLOADS} archives of '{owner}' are being sent",
                    "wait until one of them has arrived",
                    _SOON_S,
                )
            self._uploads[owner] += 1
        try:
            yield
        finally:
            with self._counting:
                self._uploads[owner] -= 1

    def connect(self, account: Account, name: str) -> Connection:
        _need(account, "submit", bot=name)
        name = self._store.check_bot(account.owner, name, remote=True)
        remote = self._config.remote
        if remote is None or not any("remote" in division.admits for division in self._config.divisions):
            raise HandInRefused(
                Refusal.CONFLICT,
                "no division of this ladder admits remote bots",
                "hand in the bot's files: crosstown submit FOLDER",
            )
        self._check_bots(account.owner, name)
        door = self._door()
        if not door.get("address"):
            why = f": {without_folders(door['trouble'])}" if door.get("trouble") else ""
            raise HandInRefused(
                Refusal.UNAVAILABLE, f"remote bots cannot connect now{why}", "try again in a moment", _SOON_S
            )
        try:
            certificate = "" if remote.listen.plain else Path(door["certificate"]).read_text(encoding="ascii")
        except (OSError, ValueError) as error:
            what = f"the certificate cannot be read ({without_folders(str(error))})"
            raise HandInRefused(Refusal.UNAVAILABLE, what, "tell the organiser", _RETRY_S) from None
        made = self._store.open_connection(account.owner, name, account.token_id)
        return Connection(
            name,
            made.token.id,
            made.secret,
            made.token.expires,
            door["address"],
            not remote.listen.plain,
            certificate,
        )

    def _check_room(self, owner: str, name: str) -> None:
        """TOO_MANY if the owner may hand in nothing more now, UNAVAILABLE if no owner may."""
        if full := self._disk.stops_hand_ins():
            step = "try again later; the organiser sees this, too"
            raise HandInRefused(Refusal.UNAVAILABLE, f"no hand-in is taken now: {full}", step, _DISK_RETRY_S)
        self._quotas.check(owner)
        if self._store.count_waiting(owner) >= MOST_WAITING:
            raise HandInRefused(
                Refusal.TOO_MANY,
                f"{MOST_WAITING} hand-ins of '{owner}' are on their way",
                "wait until one of them is active or rejected",
                _RETRY_S,
            )
        most = self._config.accounts.hand_ins_per_day
        if self._store.count_sent(owner) >= most:
            raise HandInRefused(
                Refusal.TOO_MANY,
                f"'{owner}' has handed in {most} times within a day, and no more is allowed",
                "hand in the best of your changes tomorrow",
                _LATER_S,
            )
        self._check_bots(owner, name)

    def _check_bots(self, owner: str, name: str) -> None:
        """TOO_MANY if this would be one bot too many."""
        own = self._store.bots(owner)
        if len(own) >= MOST_BOTS and all(bot.name != name for bot in own):
            raise HandInRefused(
                Refusal.TOO_MANY,
                f"'{owner}' has {len(own)} bots, and at most {MOST_BOTS} are allowed",
                "hand in a new version of one of them",
                _RETRY_S,
            )

    def activate(self, account: Account, name: str, number: int) -> VersionState:
        self._need_bot(account, name)
        version = self._store.version(name, number)
        gone = not (self._places.content / version.content).is_dir()
        if version.status == "retired" and gone and not self._store.bot(name).remote:
            raise HandInRefused(
                Refusal.CONFLICT,
                f"the files of version {number} of '{name}' were removed after it was retired",
                "hand them in again: it is the same version",
            )
        return self._store.activate(name, number)

    def retire(self, account: Account, name: str, number: int) -> VersionState:
        self._need_bot(account, name)
        return self._store.retire(name, number)

    def pause(self, account: Account, name: str, reason: str) -> BotState:
        owner = self._need_bot(account, name)
        if owner == account.owner:
            return self._store.pause(name, reason, "owner")
        self.people.note(account, "disable", name, reason)
        return self._store.pause(name, reason, "organiser")

    def resume(self, account: Account, name: str) -> BotState:
        if self._need_bot(account, name) != account.owner:
            self.people.note(account, "let play", name)
        return self._store.resume(name, "organiser" if account.may("organise") else "owner")

    def _need_bot(self, account: Account, name: str) -> str:
        """The owner of a bot that the account manages."""
        _need(account, "manage", bot=name)
        owner = self._store.bot(name).owner
        if owner != account.owner and not account.may("organise"):
            raise HandInRefused(Refusal.FORBIDDEN, f"the bot '{name}' belongs to '{owner}'", "choose one of your own")
        return owner

    # Divisions

    def divisions(self) -> Sequence[Division]:
        waits = self._waits()
        return [self._division(division, waits.get(division.name, "")) for division in self._config.divisions]

    def _division(self, division: DivisionConfig, waits: str) -> Division:
        house = sum(entry.house for entry in self.entries(division.name).values())
        players = division.game.players
        return Division(
            name=division.name,
            title=division_title(division.name, division.game.game, players),
            game=division.game.game,
            players=tuple(players),
            settings={"clock": _clock_words(division)} | _admits(division) | _chosen(division),
            bots=house + len(self._store.active(division.name)),
            waits=waits,
            admits=tuple(division.admits),
        )

    def playing(self, division: str) -> Mapping[str, int]:
        self._find(division)
        broken = self._store.broken(division)
        return {bot.name: bot.version for bot in self._store.active(division) if bot.name not in broken}

    def _find(self, division: str) -> DivisionConfig:
        found = next((one for one in self._config.divisions if one.name == division), None)
        if found is None:
            raise HandInRefused(Refusal.UNKNOWN, f"there is no division '{division}'", "see the list of divisions")
        return found

    def entries(self, division: str) -> Mapping[str, Entry]:
        journal = RunFolder(self._runs / self._find(division).name).journal
        try:
            stamp = (journal.stat().st_mtime_ns, journal.stat().st_size, self._store.change_count())
            known = self._entries.get(division)
            if known is None or known[0] != stamp:
                joined = _joined_in(journal, known[1] if known else None)
                known = stamp, joined, _entries_of(joined, self._accounts.names())
                self._entries[division] = known
        except (OSError, JournalError, PlatformError):  # it has not begun, or the run's own pages say what is wrong
            return {}
        return known[2]

    # For organisers

    def overview(self, account: Account) -> Overview:
        _need(account, "organise")
        alarms, workers, runner = self._state()
        queue, over = self._store.overview(_MOST_SHOWN)
        return Overview(
            tuple(alarms),
            tuple(queue),
            tuple(workers),
            tuple(over),
            tuple(self._accounts.people()),
            runner,
            self._cluster(),
        )

    def block(self, account: Account, owner: str, reason: str) -> Person:
        return self.people.block(account, owner, reason)


def _chosen(division: DivisionConfig) -> dict[str, str]:
    """The options that are not the game's usual ones."""
    usual = {option.name: option.default for option in get_game(division.game.game).options}
    return {name: str(value) for name, value in division.game.options.items() if usual.get(name) != value}


def _admits(division: DivisionConfig) -> dict[str, str]:
    """Which bots that may remember other matches play here; nothing where there are none."""
    words = {"remote": "remote bots", "network": "bots with network", "people": "people"}
    return {"admits": ", ".join(words[kind] for kind in division.admits)} if division.admits else {}


def _clock_words(division: DivisionConfig) -> str:
    limits = division.limits
    if limits.total_s:
        return f"{limits.total_s:g} s for the match, and {limits.increment_s:g} s for each move"
    bank = f", and {limits.bank_s:g} s of overtime" if limits.bank_s else ""
    return f"{limits.move_s:g} s a move, {limits.first_move_s:g} s for the first{bank}"


def _need(account: Account, scope: Scope, bot: str = "") -> None:
    """FORBIDDEN unless the account may do what needs this scope, for this bot where there is one."""
    if not account.may(scope):
        raise HandInRefused(
            Refusal.FORBIDDEN,
            f"this needs a token for '{scope}', and this one is for '{account.scope}'",
            f"use or make a token of the scope '{scope}'",
        )
    if account.bot and account.bot != bot:
        raise HandInRefused(
            Refusal.FORBIDDEN, f"the token is good for the bot '{account.bot}' alone", "use another token"
        )


def _whole_characters(data: bytes) -> bytes:
    """Without the beginning of a character whose end is still to come."""
    for length in range(1, min(4, len(data) + 1)):
        byte = data[-length]
        if byte & 0xC0 == 0xC0:
            wanted = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-length] if wanted > length and len(data) > length else data
        if byte < 0x80:
            return data
    return data


@dataclass(frozen=True, slots=True)
class _Joined:
    """The lines of a journal that added a bot: those among its first `number` ones, which end with `last`."""

    added: tuple[JournalLine, ...]
    last: JournalLine | None
    number: int


def _joined_in(journal: Path, before: _Joined | None) -> _Joined:
    """`before`: what was found earlier. Of a long journal only what came since is read."""
    if before is not None and before.last is not None:
        lines = new_lines(journal, before.last, before.number)
        if lines is not None:
            added = (*before.added, *(line for line in lines if line.kind == "added"))
            return _Joined(added, lines[-1] if lines else before.last, before.number + len(lines))
    text = read_journal(journal)
    added = tuple(line for _, line in text.steps if line.kind == "added")
    return _Joined(added, text.events[-1] if text.events else None, len(text.events))


def _entries_of(joined: _Joined, names: Mapping[str, str]) -> dict[str, Entry]:
    """`names` are those of owners by the ids that the journal has; older journals have the names themselves."""
    return {
        line.fields["entry_id"]: Entry(
            line.fields["entry_id"],
            line.fields["name"],
            names.get(line.fields.get("owner", ""), line.fields.get("owner", "")),
            int(line.fields.get("number", 1)),
            bool(line.fields.get("house", False)),
        )
        for line in joined.added
    }


class ArchiveUpload:
    """One archive on its way. Implements `leaderboard.web.hand_ins.Upload`."""

    def __init__(
        self,
        config: LadderConfig,
        store: LadderStore,
        places: Places,
        unpacking: threading.BoundedSemaphore,
        owner: str,
        name: str,
        key: str,
        games: Sequence[str],
        sending: ExitStack,
    ) -> None:
        """`sending` is closed when this has ended."""
        self._config = config
        self._store = store
        self._places = places
        self._unpacking = unpacking
        self._owner, self._name, self._key, self._games = owner, name, key, games
        self._bytes = 0
        self._digest = hashlib.sha256()
        self._path = places.uploads / secrets.token_hex(8)
        try:
            self._file = self._path.open("xb")
        except OSError as error:
            raise _disk(error) from None
        self._sending = sending.pop_all()

    def write(self, data: bytes) -> None:
        self._bytes += len(data)
        most = self._config.hand_ins.archive_mib << 20
        if self._bytes > most:
            raise HandInRefused(
                Refusal.TOO_LARGE,
                f"the archive has more than {self._config.hand_ins.archive_mib} MiB",
                "leave out what the bot does not need: builds, packages, data",
            )
        self._digest.update(data)
        try:
            self._file.write(data)
        except OSError as error:
            raise _disk(error) from None

    def finish(self) -> HandedIn:
        """Unpacks the archive, keeps its files, and then the version: whatever ends this process, what was confirmed is
        there."""
        try:
            self._file.close()
            if self._key and (known := self._store.known_key(self._owner, self._key)):
                return self._known(*known)
            with self._unpacking:
                content, code = self._keep()
            return self._enter(content, code)
        except (ArchiveError, EntryError) as error:
            what = str(error).replace(f"{self._unpacked}/", "").replace(str(self._unpacked), "the archive")
            raise HandInRefused(Refusal.UNUSABLE, what, error.next_step) from None
        except (OSError, PlatformError) as error:
            raise _disk(error) from None
        finally:
            self.abort()

    def _enter(self, content: str, code: str) -> HandedIn:
        """Write the version into the database. What is refused here, since another request was faster, has its files on
        the disk."""
        try:
            version, created = self._store.hand_in(
                self._owner,
                self._name,
                content,
                key=self._key,
                digest=self._digest.digest(),
                games=self._games,
                code=code,
            )
        except HandInRefused as error:
            if error.refusal is not Refusal.UNAVAILABLE:
                with suppress(HandInRefused):  # the account is gone
                    self._store.count_refused(self._owner)
            raise
        return HandedIn(version, created)

    def _known(self, version: VersionState, digest: bytes) -> HandedIn:
        if digest != self._digest.digest():
            raise HandInRefused(
                Refusal.CONFLICT,
                "this idempotency key came with other content before",
                "send a new key with new content",
            )
        return HandedIn(version, False)

    @property
    def _unpacked(self) -> Path:
        return self._path.with_suffix(".files")

    def _keep(self) -> tuple[str, str]:
        """The content of the archive, which is on the disk then, and the hash of its code."""
        wanted = self._config.hand_ins
        limits = ArchiveLimits(wanted.archive_mib << 20, wanted.unpacked_mib << 20, files=wanted.files)
        folder = unpack(self._path, self._unpacked, limits).resolve()
        try:
            manifest = load_manifest(folder)
        except ManifestError:
            # It is kept as it is, and rejected when it is checked, where its author sees why.
            manifest = Manifest(self._name, "", (ANY_GAME,), ("missing",))
        version = put(self._places.content, folder, manifest, read_sources(folder, manifest), evicting=False)
        for entry in walk(version.folder.parent):
            if entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False):
                _sync(Path(entry.path))
        for path in (version.folder, version.folder.parent, self._places.content):
            _sync(path)
        return version.content, code_of(version.folder)

    def abort(self) -> None:
        with suppress(OSError):
            self._file.close()
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        remove_tree(self._unpacked)
        self._sending.close()


def code_of(folder: Path) -> str:
    """The hash of a bot's files without its manifest, which has the name. '' where nothing else is there."""
    found = sorted((Path(entry.path) for entry in walk(folder) if entry.is_file(follow_symlinks=False)), key=str)
    made = hashlib.blake2b(digest_size=16, person=b"crosstown-code")
    for path in (files := [path for path in found if path != folder / FILE_NAME]):
        name = os.fsencode(path.relative_to(folder))
        made.update(b"%d %s %d\n" % (len(name), name, path.stat().st_size))
        with path.open("rb") as opened:
            while part := opened.read(1 << 20):
                made.update(part)
    return made.hexdigest() if files else ""


def _sync(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def _disk(error: OSError | PlatformError) -> HandInRefused:
    why = f" ({error.strerror or error})" if isinstance(error, OSError) else ""  # the other names a place of the ladder
    return HandInRefused(
        Refusal.UNAVAILABLE,
        f"the ladder cannot write to its disk{why}; nothing was changed",
        "try again later, or tell the organiser to free some space",
        _RETRY_S,
    )
