"""Bots and their versions in `ladder.db`, which is the truth for all that was handed in, and the roster made of them.

A version's way is received, checking, building, qualifying, and then active, inactive or rejected. Every method may be
called from any thread, waits for the disk, and changes all or nothing: none belongs on an event loop.
"""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import Literal, Self, TypeAlias

from sqlite_utils import Database

from leaderboard.web.hand_ins import (
    OVER,
    STEPS,
    BotState,
    HandInRefused,
    NewToken,
    Refusal,
    Step,
    StepName,
    VersionState,
    VersionStatus,
)
from leaderboard.web.people import SignUp
from referee.ladder.accounts import Accounts, find_owner, note_change
from referee.ladder.bots import LadderBot
from referee.ladder.config import BOTS_PER_DIVISION, HAND_INS_PER_DAY, ProviderConfig
from referee.ladder.database import LadderDatabase, find, insert, utc_now
from referee.ladder.names import check_ladder_name, seen_as, taken
from referee.ladder.people import LadderPeople
from referee.ladder.steps import ON_THE_WAY, VERSIONS, HandInSteps, choose_version, end_step
from referee.process.manifest import look_alike_keys

KEY_DAYS = 30
"""How long an idempotency key is known."""

CONNECTION_DAYS = 365
"""How long a remote bot may connect with one token."""

_MOST_KEY = 200

Paused: TypeAlias = Literal["", "owner", "organiser", "breaker"]


_SENT = "SELECT count(*) AS number FROM sent WHERE at > ? AND owner_id ="


@dataclass(frozen=True, slots=True)
class KeptVersion:
    """A version whose files lie, or lay, in the content store."""

    bot: str
    owner: str
    number: int
    content: str
    status: VersionStatus


class LadderStore:
    """One process's access to `ladder.db`. Methods raise HandInRefused, with UNAVAILABLE where the database cannot be
    read or written now; nothing was changed then."""

    def __init__(
        self,
        path: Path,
        content: Path,
        *,
        reserved: Sequence[str] = (),
        bots_per_division: int = BOTS_PER_DIVISION,
        hand_ins_per_day: int = HAND_INS_PER_DAY,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Opens or creates it, and migrates an older one. `content`: the store of the files of bot versions;
        `reserved`: names of bots that nobody can take. PlatformError for a file that is damaged, newer, or cannot be
        opened: it is never replaced."""
        self._content = content
        self.bots_per_division = bots_per_division
        self.hand_ins_per_day = hand_ins_per_day
        self._reserved = tuple(reserved)
        self._database = LadderDatabase(path, clock)
        self.accounts = Accounts(self._database)
        self.steps = HandInSteps(self._database)

    def people(
        self, *, sign_up: SignUp = "invitation", providers: Sequence[ProviderConfig] = (), divisions: Sequence[str] = ()
    ) -> LadderPeople:
        """Passwords, sign-ins elsewhere, and what organisers decide."""
        return LadderPeople(self._database, self.accounts, sign_up=sign_up, providers=providers, divisions=divisions)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Waits for calls of other threads; later ones are refused. A second one does nothing."""
        self._database.close()

    # Bots and versions

    def check_bot(self, owner: str, name: str, *, remote: bool) -> str:
        """The name in its usual form, for a bot that the owner has or may make: a remote one, or one that is handed in.
        UNUSABLE, FORBIDDEN, CONFLICT."""
        name = check_ladder_name(name, "a bot")
        folded, drawn = look_alike_keys(name)
        row = self._database.row(
            "SELECT b.name, b.remote, o.name AS owner FROM bots b JOIN owners o ON o.id = b.owner_id"
            " WHERE b.folded = ? OR b.drawn = ? OR b.seen_as = ?"
            " ORDER BY b.name != ?",
            folded,
            drawn,
            seen_as(name),
            name,
        )
        if row is not None:
            self._check_owned(owner, name, row, remote=remote)
        for other in self._reserved:
            if row is None and {*look_alike_keys(other), seen_as(other)} & {folded, drawn, seen_as(name)}:
                raise HandInRefused(Refusal.CONFLICT, taken("bot", name, other), "choose another name for the bot")
        return name

    def _check_owned(self, owner: str, name: str, row: sqlite3.Row, *, remote: bool) -> None:
        if row["name"] != name:
            raise HandInRefused(Refusal.CONFLICT, taken("bot", name, row["name"]), "choose another name for the bot")
        if row["owner"] != owner:
            raise HandInRefused(
                Refusal.FORBIDDEN,
                f"the bot '{name}' belongs to '{row['owner']}'",
                "choose another name for the bot: a name is its first owner's for good",
            )
        if bool(row["remote"]) != remote:
            kind = "runs at its owner's" if row["remote"] else "is handed in as files"
            raise HandInRefused(
                Refusal.CONFLICT, f"the bot '{name}' {kind}", "choose another name for one that does not"
            )

    def known_key(self, owner: str, key: str) -> tuple[VersionState, bytes] | None:
        """The version that came with an idempotency key, and the digest of what was sent; None if it is new."""
        row = self._database.row(
            "SELECT k.version_id, k.digest FROM keys k JOIN owners o ON o.id = k.owner_id WHERE o.name = ?"
            " AND k.key = ?",
            owner,
            key,
        )
        return None if row is None else (self._version_of(row["version_id"]), bytes(row["digest"]))

    def hand_in(
        self,
        owner: str,
        name: str,
        content: str,
        *,
        key: str = "",
        digest: bytes = b"",
        games: Sequence[str] = (),
        label: str = "",
        remote: bool = False,
        code: str = "",
    ) -> tuple[VersionState, bool]:
        """The version with this content, and whether it is a new one.

        Content that was rejected is tried again, and content that has qualified plays again. With a `key` that came
        before nothing changes. `code` is the hash of the files that say what it does. FORBIDDEN, CONFLICT, UNUSABLE.
        """
        name = self.check_bot(owner, name, remote=remote)
        if len(key) > _MOST_KEY:
            raise HandInRefused(
                Refusal.UNUSABLE, f"the idempotency key has {len(key)} characters", f"send at most {_MOST_KEY}"
            )

        def put(db: Database) -> tuple[int, bool]:
            row = find_owner(db, owner)
            if key and (known := find(db, "SELECT * FROM keys WHERE owner_id = ? AND key = ?", row["id"], key)):
                if bytes(known["digest"]) != digest:
                    raise HandInRefused(
                        Refusal.CONFLICT,
                        "this idempotency key came with other content before",
                        "send a new key with new content",
                    )
                return known["version_id"], False
            bot_id = self._bot_for(db, row["id"], owner, name, remote=remote)
            version_id, created = self._version_for(db, bot_id, content, games, label, code)
            self._note_sent(db, row["id"])
            if key:
                db.execute("DELETE FROM keys WHERE created < ?", [self._database.before(KEY_DAYS)])
                values = {
                    "owner_id": row["id"],
                    "key": key,
                    "digest": digest,
                    "version_id": version_id,
                    "created": self._database.now(),
                }
                insert(db, "keys", values)
            return version_id, created

        version_id, created = self._database.write(put)
        return self._version_of(version_id), created

    def _bot_for(self, db: Database, owner_id: int, owner: str, name: str, *, remote: bool) -> int:
        folded, drawn = look_alike_keys(name)
        row = find(
            db,
            "SELECT b.id, b.name, b.remote, o.name AS owner FROM bots b JOIN owners o ON o.id = b.owner_id"
            " WHERE b.folded = ? OR b.drawn = ? OR b.seen_as = ?"
            " ORDER BY b.name != ?",
            folded,
            drawn,
            seen_as(name),
            name,
        )
        if row is not None:
            self._check_owned(owner, name, row, remote=remote)
            return int(row["id"])
        values = {
            "owner_id": owner_id,
            "name": name,
            "folded": folded,
            "drawn": drawn,
            "seen_as": seen_as(name),
            "remote": int(remote),
            "created": self._database.now(),
        }
        return insert(db, "bots", values)

    def _version_for(
        self, db: Database, bot_id: int, content: str, games: Sequence[str], label: str, code: str
    ) -> tuple[int, bool]:
        found = find(db, "SELECT * FROM versions WHERE bot_id = ? AND content = ?", bot_id, content)
        wanted = json.dumps(sorted(games))
        if found is None:
            last = find(db, "SELECT max(number) AS number FROM versions WHERE bot_id = ?", bot_id)
            assert last is not None
            values = {
                "bot_id": bot_id,
                "number": (last["number"] or 0) + 1,
                "content": content,
                "games": wanted,
                "status": "received",
                "label": label,
                "code": code,
                "created": self._database.now(),
            }
            version_id = insert(db, "versions", values)
            self._receive(db, version_id)
            return version_id, True
        version_id = int(found["id"])
        if found["status"] == "rejected" or (found["status"] in OVER and found["games"] != wanted):
            db.execute("DELETE FROM steps WHERE version_id = ?", [version_id])
            db.execute("DELETE FROM qualifications WHERE version_id = ?", [version_id])
            db.execute(
                "UPDATE versions SET status = 'received', games = ?, reason = '', next_step = '' WHERE id = ?",
                [wanted, version_id],
            )
            # Its owner wants it to play now, whatever was handed in after it at first.
            db.execute(
                "UPDATE bots SET chosen_after = min(chosen_after, ?) WHERE id = ?", [found["number"] - 1, bot_id]
            )
            self._receive(db, version_id)
        elif found["status"] in ("inactive", "retired"):
            choose_version(db, self._database.now(), bot_id, version_id)
        return version_id, False

    def _receive(self, db: Database, version_id: int) -> None:
        now = self._database.now()
        values = {"version_id": version_id, "name": "received", "state": "done", "began": now, "ended": now}
        insert(db, "steps", values)

    # Remote bots

    def open_connection(self, owner: str, name: str, maker: str = "") -> NewToken:
        """The token with which the bot, which runs at its owner's, connects from now on. The first one makes the bot.
        `maker` as for `Accounts.create_token`. FORBIDDEN, CONFLICT, UNUSABLE, UNAUTHENTICATED."""
        name = self.check_bot(owner, name, remote=True)

        def put(db: Database) -> NewToken:
            row = find_owner(db, owner)
            self._bot_for(db, row["id"], owner, name, remote=True)
            return self.accounts.replace_connection(db, owner, name, CONNECTION_DAYS, maker)

        return self._database.write(put)

    def has_connected(self, name: str, label: str, games: Sequence[str]) -> None:
        """A remote bot has said in Hello that it is this version. A version that is not known is a new one; one that
        has qualified plays again, unless its owner has retired it; one that was rejected is tried again if the bot was
        connected anew since. What has to be tried is a hand-in, and so is a change to another version that has
        qualified. TOO_MANY if the owner may hand in nothing more today."""

        def put(db: Database) -> None:
            bot = self._bot_row(db, name)
            content, wanted = remote_content(label), json.dumps(sorted(games))
            known = find(db, "SELECT * FROM versions WHERE bot_id = ? AND content = ?", bot["id"], content)
            if (
                known is None
                or (known["status"] in ("active", "inactive") and known["games"] != wanted)
                or (known["status"] == "rejected" and self._is_connected_anew(db, bot["id"], known["id"]))
            ):
                self._note_connected(db, bot["owner_id"])
                self._version_for(db, bot["id"], content, games, label, "")
                self._displace(db, bot["id"], content)
            elif known["status"] == "inactive":  # the lines in the journals that it costs are bounded as well
                self._note_connected(db, bot["owner_id"])
                choose_version(db, self._database.now(), bot["id"], known["id"])

        self._database.write(put)

    def _note_connected(self, db: Database, owner_id: int) -> None:
        """A remote bot has come as another version, which is one of the hand-ins of its owner. TOO_MANY."""
        sent = find(db, f"{_SENT} ?", self._database.before(1), owner_id)
        if sent is not None and sent["number"] >= self.hand_ins_per_day:
            raise HandInRefused(
                Refusal.TOO_MANY,
                f"its owner has handed in {self.hand_ins_per_day} times within a day, and no more is allowed",
                "connect it again tomorrow",
            )
        self._note_sent(db, owner_id)

    def _is_connected_anew(self, db: Database, bot_id: int, version_id: int) -> bool:
        """Whether the bot's token was made after this version was rejected."""
        row = find(
            db,
            "SELECT 1 FROM tokens WHERE kind = 'connection' AND over = '' AND bot_id = ?"
            " AND created >= (SELECT max(ended) FROM steps WHERE version_id = ?)",
            bot_id,
            version_id,
        )
        return row is not None

    def _displace(self, db: Database, bot_id: int, content: str) -> None:
        """Another version than those that are on their way has connected: they cannot be tried any more."""
        rows = db.execute(
            f"SELECT id FROM versions WHERE bot_id = ? AND content != ? AND status IN {ON_THE_WAY}",  # noqa: S608
            [bot_id, content],
        ).fetchall()
        for (version_id,) in rows:
            end_step(db, self._database.now(), version_id, "qualified", "failed", None, "another version connected")
            db.execute(
                "UPDATE versions SET status = 'rejected', reason = ?, next_step = ? WHERE id = ?",
                [
                    "the bot connected as another version before this one had qualified",
                    "connect it as this version again: crosstown bots connect FOLDER URL",
                    version_id,
                ],
            )

    def bots(self, owner: str | None = None) -> list[BotState]:
        """Of one owner or of all, by name."""
        where, wanted = ("", []) if owner is None else (" WHERE o.name = ?", [owner])
        rows = self._database.rows(f"{_BOTS}{where} ORDER BY b.folded", *wanted)
        return [self._bot_state(row) for row in rows]

    def bot(self, name: str) -> BotState:
        """UNKNOWN."""
        row = self._database.row(f"{_BOTS} WHERE b.name = ?", name)
        if row is None:
            raise _no_bot(name)
        return self._bot_state(row)

    def _bot_state(self, row: sqlite3.Row) -> BotState:
        newest = None if row["newest"] is None else self._version_of(row["newest"])
        paused, by, step = row["paused"], row["paused_by"], ""
        if paused:
            step = "resume it when it is to play again" if by == "owner" else "ask the organiser"
        elif broken := self._database.row(
            "SELECT k.division, k.reason FROM breaks k JOIN versions v ON v.id = k.version_id"
            " JOIN playing p ON p.bot_id = k.bot_id AND p.division = k.division AND p.version_id = k.version_id"
            " WHERE k.bot_id = ? AND v.activations = k.activation ORDER BY k.division",
            row["id"],
        ):
            paused, by = f"{broken['division']}: {broken['reason']}", "breaker"
            step = "correct the bot and hand in the next version, or resume it to try once more"
        elif division := self._over_limit(row["id"]):
            paused = f"{division}: {self.bots_per_division} of its owner's bots play there, and no more may"
            by, step = "limit", "pause or retire one of those, and this one plays"
        return BotState(
            name=row["name"],
            owner=row["owner"],
            created=row["created"],
            versions=row["versions"],
            newest=newest,
            active=row["active"],
            paused=paused,
            paused_by=by,
            next_step=step,
            remote=bool(row["remote"]),
        )

    def versions(self, name: str) -> list[VersionState]:
        """The newest first. UNKNOWN for a bot that is not there."""
        rows = self._database.rows(f"{VERSIONS} WHERE b.name = ? ORDER BY v.number DESC", name)
        if not rows:
            self.bot(name)  # a remote bot has none before it has connected
        return [self._version_state(row) for row in rows]

    def version(self, name: str, number: int) -> VersionState:
        """UNKNOWN."""
        row = self._database.row(f"{VERSIONS} WHERE b.name = ? AND v.number = ?", name, number)
        if row is None:
            self.bot(name)
            raise HandInRefused(
                Refusal.UNKNOWN, f"the bot '{name}' has no version {number}", "see the list of its versions"
            )
        return self._version_state(row)

    def _version_of(self, version_id: int) -> VersionState:
        row = self._database.row(f"{VERSIONS} WHERE v.id = ?", version_id)
        assert row is not None
        return self._version_state(row)

    def _version_state(self, row: sqlite3.Row) -> VersionState:
        steps = {one["name"]: one for one in self._database.rows("SELECT * FROM steps WHERE version_id = ?", row["id"])}
        over = row["status"] in OVER
        divisions = self._database.rows(
            "SELECT division FROM qualifications WHERE version_id = ? AND state != 'failed' ORDER BY division",
            row["id"],
        )
        return VersionState(
            bot=row["bot"],
            owner=row["owner"],
            number=row["number"],
            status=row["status"],
            steps=tuple(_step(name, steps.get(name), over=over) for name in STEPS),
            created=row["created"],
            label=row["label"],
            content=row["content"],
            divisions=tuple(one["division"] for one in divisions),
            reason=row["reason"],
            next_step=row["next_step"],
            has_log=bool(row["log"]),
        )

    def log_name(self, name: str, number: int) -> str:
        """The file name of a version's log, '' before there is one. UNKNOWN."""
        row = self._database.row(f"{VERSIONS} WHERE b.name = ? AND v.number = ?", name, number)
        return "" if row is None else str(row["log"])

    def overview(self, most: int) -> tuple[list[VersionState], list[VersionState]]:
        """The hand-ins on their way, the next first; and the last ones that are over, the newest first."""
        waiting = self._database.rows(f"{VERSIONS} WHERE v.status IN {ON_THE_WAY} ORDER BY v.id LIMIT ?", most)
        over = self._database.rows(
            f"{VERSIONS} WHERE v.status NOT IN {ON_THE_WAY} ORDER BY v.id DESC LIMIT ?",
            most,
        )
        return [self._version_state(row) for row in waiting], [self._version_state(row) for row in over]

    def kept_versions(self, owner: str | None = None) -> list[KeptVersion]:
        """The versions of one owner or of all that came as files, the oldest first."""
        where, wanted = ("", []) if owner is None else (" AND o.name = ?", [owner])
        rows = self._database.rows(
            "SELECT b.name AS bot, o.name AS owner, v.number, v.content, v.status FROM versions v"  # noqa: S608 - ours
            " JOIN bots b ON b.id = v.bot_id JOIN owners o ON o.id = b.owner_id"
            f" WHERE b.remote = 0{where} ORDER BY v.id",
            *wanted,
        )
        return [KeptVersion(*row) for row in rows]

    def step_seconds(self) -> dict[StepName, tuple[int, float]]:
        """By step of hand-ins how many have ended, and how long they took together."""
        rows = self._database.rows(
            "SELECT name, count(took_s) AS number, total(took_s) AS took_s FROM steps WHERE state IN ('done', 'failed')"
            " AND took_s IS NOT NULL GROUP BY name"
        )
        return {row["name"]: (row["number"], row["took_s"]) for row in rows}

    def count_by_status(self) -> dict[VersionStatus, int]:
        """How many versions there are of each status."""
        rows = self._database.rows("SELECT status, count(*) AS number FROM versions GROUP BY status")
        return {row["status"]: row["number"] for row in rows}

    def count_waiting(self, owner: str) -> int:
        """Hand-ins of the owner that are on their way."""
        return sum(version.owner == owner for version in self.steps.waiting())

    def count_sent(self, owner: str) -> int:
        """Hand-ins of the owner within a day."""
        own = "(SELECT id FROM owners WHERE name = ?)"
        row = self._database.row(f"{_SENT} {own}", self._database.before(1), owner)
        assert row is not None
        return int(row["number"])

    def count_refused(self, owner: str) -> None:
        """An archive of the owner was refused after its files were kept, which takes of the disk what a hand-in takes:
        it is one of the day. UNKNOWN."""
        self._database.write(lambda db: self._note_sent(db, find_owner(db, owner)["id"]))

    def _note_sent(self, db: Database, owner_id: int) -> None:
        """Inside a change: one more hand-in of the owner."""
        db.execute("DELETE FROM sent WHERE at < ?", [self._database.before(2)])
        insert(db, "sent", {"owner_id": owner_id, "at": self._database.now()})

    def activate(self, name: str, number: int) -> VersionState:
        """Let this version play from now on. CONFLICT unless it has qualified, UNKNOWN."""

        def choose(db: Database) -> int:
            row = self._version_row(db, name, number)
            if row["status"] == "active":
                return int(row["id"])
            if not row["qualified"] or row["status"] not in OVER:
                raise HandInRefused(
                    Refusal.CONFLICT,
                    f"version {number} of '{name}' is {row['status']} and has not qualified",
                    "choose a version that has",
                )
            choose_version(db, self._database.now(), row["bot_id"], row["id"])
            return int(row["id"])

        return self._version_of(self._database.write(choose))

    def retire(self, name: str, number: int) -> VersionState:
        """It plays no more. CONFLICT while it is on its way, UNKNOWN."""

        def set_(db: Database) -> int:
            row = self._version_row(db, name, number)
            if row["status"] not in OVER:
                raise HandInRefused(
                    Refusal.CONFLICT,
                    f"version {number} of '{name}' is on its way ({row['status']})",
                    "wait until it is active or rejected",
                )
            if row["status"] != "rejected":
                db.execute("UPDATE versions SET status = 'retired' WHERE id = ?", [row["id"]])
                db.execute("DELETE FROM playing WHERE version_id = ?", [row["id"]])
                note_change(db)
            return int(row["id"])

        return self._version_of(self._database.write(set_))

    def pause(self, name: str, reason: str, by: Paused) -> BotState:
        """The bot gets no new matches. An organiser's pause stays when the owner pauses. UNKNOWN."""

        def set_(db: Database) -> None:
            row = self._bot_row(db, name)
            if row["paused_by"] != "organiser" or by == "organiser":
                said = reason.strip() or f"paused by {'its' if by == 'owner' else 'the'} {by}"
                db.execute("UPDATE bots SET paused = ?, paused_by = ? WHERE id = ?", [said, by, row["id"]])
                note_change(db)

        self._database.write(set_)
        return self.bot(name)

    def resume(self, name: str, by: Paused) -> BotState:
        """It plays again, also after the breaker paused it. FORBIDDEN for its owner where an organiser paused it."""

        def set_(db: Database) -> None:
            row = self._bot_row(db, name)
            if row["paused_by"] == "organiser" and by != "organiser":
                raise HandInRefused(
                    Refusal.FORBIDDEN, f"the organiser paused '{name}': {row['paused']}", "ask the organiser"
                )
            db.execute("UPDATE bots SET paused = '', paused_by = '' WHERE id = ?", [row["id"]])
            # What the breaker of a division has paused plays again with the next activation.
            db.execute(
                "UPDATE versions SET activations = activations + 1 WHERE bot_id = ? AND status = 'active'", [row["id"]]
            )
            note_change(db)

        self._database.write(set_)
        return self.bot(name)

    # The roster

    def note_roster_change(self) -> None:
        """Have the roster asked again, since a bot that could not be started now can."""
        self._database.write(note_change)

    def change_count(self) -> int:
        """A number that is another one after every change of what `active` returns."""
        row = self._database.row("SELECT value FROM counters WHERE name = 'changes'")
        assert row is not None
        return int(row["value"])

    def active(self, division: str) -> Sequence[LadderBot]:
        """The version of each bot that plays in the division; of one owner's at most `bots_per_division`."""
        rows = self._database.rows(
            "SELECT b.name, b.remote, o.public_id, o.approved, v.number, v.content, v.label, v.activations"
            " FROM playing p"
            " JOIN bots b ON b.id = p.bot_id JOIN owners o ON o.id = b.owner_id JOIN versions v ON v.id = p.version_id"
            " WHERE p.division = ? AND b.paused = '' AND o.blocked = '' ORDER BY b.id",
            division,
        )
        seats: Counter[str] = Counter()
        found = []
        for row in rows:
            seats[row["public_id"]] += 1
            if seats[row["public_id"]] <= self.bots_per_division:
                found.append(
                    LadderBot(
                        name=row["name"],
                        owner=row["public_id"],
                        version=row["number"],
                        content="" if row["remote"] else row["content"],
                        folder=Path() if row["remote"] else self._content / row["content"] / "bot",
                        remote=bool(row["remote"]),
                        activation=row["activations"],
                        approved=bool(row["approved"]),
                        label=row["label"] if row["remote"] else "",
                    )
                )
        return found

    def _over_limit(self, bot_id: int) -> str:
        """The first division in which the bot waits for the owner's other bots; '' for none."""
        row = self._database.row(
            "SELECT p.division FROM playing p JOIN bots b ON b.id = p.bot_id WHERE p.bot_id = ? AND ? <="
            " (SELECT count(*) FROM playing q JOIN bots c ON c.id = q.bot_id WHERE q.division = p.division"
            " AND c.owner_id = b.owner_id AND c.paused = '' AND c.id < b.id) ORDER BY p.division",
            bot_id,
            self.bots_per_division,
        )
        return "" if row is None else str(row["division"])

    def broken(self, division: str) -> set[str]:
        """The bots whose active version the breaker of the division has paused."""
        rows = self._database.rows(
            "SELECT b.name FROM breaks k JOIN bots b ON b.id = k.bot_id JOIN versions v ON v.id = k.version_id"
            " WHERE k.division = ? AND v.status = 'active' AND v.activations = k.activation",
            division,
        )
        return {row["name"] for row in rows}

    def paused(self, division: str, bot: LadderBot, reason: str) -> None:
        """The breaker of the division has paused this version; its owner is shown why."""

        def keep(db: Database) -> None:
            row = find(
                db,
                "SELECT v.id, v.bot_id FROM versions v JOIN bots b ON b.id = v.bot_id"
                " WHERE b.name = ? AND v.number = ?",
                bot.name,
                bot.version,
            )
            if row is not None:
                db.execute(
                    "REPLACE INTO breaks (bot_id, division, version_id, activation, reason) VALUES (?, ?, ?, ?, ?)",
                    [row["bot_id"], division, row["id"], bot.activation, reason],
                )

        self._database.write(keep)

    def forget_breaks(self) -> None:
        """What the breakers of divisions that have ended paused plays in new ones."""

        def forget(db: Database) -> None:
            db.execute("DELETE FROM breaks")
            note_change(db)

        self._database.write(forget)

    # Inside a change

    def _bot_row(self, db: Database, name: str) -> sqlite3.Row:
        row = find(db, "SELECT * FROM bots WHERE name = ?", name)
        if row is None:
            raise _no_bot(name)
        return row

    def _version_row(self, db: Database, name: str, number: int) -> sqlite3.Row:
        bot = self._bot_row(db, name)
        row = find(db, "SELECT * FROM versions WHERE bot_id = ? AND number = ?", bot["id"], number)
        if row is None:
            raise HandInRefused(
                Refusal.UNKNOWN, f"the bot '{name}' has no version {number}", "see the list of its versions"
            )
        return row


def remote_content(label: str) -> str:
    """In place of the hash of files, of a bot that runs at its owner's: all that is known of it is what it says."""
    return blake2b(json.dumps(["remote", label]).encode(), digest_size=16, person=b"crosstown-ladder").hexdigest()


_BOTS = (
    "SELECT b.*, o.name AS owner, (SELECT count(*) FROM versions v WHERE v.bot_id = b.id) AS versions,"
    " (SELECT v.id FROM versions v WHERE v.bot_id = b.id ORDER BY v.number DESC LIMIT 1) AS newest,"
    " (SELECT v.number FROM versions v WHERE v.bot_id = b.id AND v.status = 'active') AS active"
    " FROM bots b JOIN owners o ON o.id = b.owner_id"
)


def _no_bot(name: str) -> HandInRefused:
    return HandInRefused(Refusal.UNKNOWN, f"there is no bot '{name}'", "check its name, or see the list of bots")


def _step(name: StepName, row: sqlite3.Row | None, *, over: bool) -> Step:
    if row is None:
        return Step(name, "skipped" if over else "waiting")
    return Step(name, row["state"], row["began"], row["ended"], row["limit_s"], row["detail"])
