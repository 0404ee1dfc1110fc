"""The steps of a hand-in in `ladder.db`, for the process that takes them: `LadderStore.steps`."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from sqlite_utils import Database

from leaderboard.web.hand_ins import StepName, StepState, VersionStatus
from referee.ladder.accounts import note_change
from referee.ladder.database import LadderDatabase, find

ON_THE_WAY = "('received', 'checking', 'building', 'qualifying')"
VERSIONS = (
    "SELECT v.*, b.name AS bot, b.remote, o.name AS owner FROM versions v JOIN bots b ON b.id = v.bot_id"
    " JOIN owners o ON o.id = b.owner_id"
)


@dataclass(frozen=True, slots=True)
class WaitingVersion:
    """A hand-in that is on its way. `games` are the only ones that its owner wants it to play; () for all."""

    id: int
    bot: str
    owner: str
    number: int
    content: str
    status: VersionStatus
    games: tuple[str, ...]
    remote: bool
    label: str = ""


class HandInSteps:
    """What the process that takes hand-ins reads and writes. Methods raise HandInRefused, as those of `LadderStore`."""

    def __init__(self, database: LadderDatabase) -> None:
        self._database = database

    def waiting(self) -> list[WaitingVersion]:
        """All hand-ins that are on their way, in the order in which they came."""
        rows = self._database.rows(f"{VERSIONS} WHERE v.status IN {ON_THE_WAY} ORDER BY v.id")
        return [_waiting(row) for row in rows]

    def qualifying(self) -> list[tuple[WaitingVersion, tuple[str, ...]]]:
        """Versions for which divisions are left to qualify in, with these divisions; active ones too, since a version
        plays from its first division on."""
        rows = self._database.rows(
            f"{VERSIONS} WHERE v.status NOT IN ('rejected', 'retired') AND EXISTS"  # noqa: S608 - our own text
            " (SELECT 1 FROM qualifications q WHERE q.version_id = v.id AND q.state = 'waiting') ORDER BY v.id"
        )
        return [(_waiting(row), self.unqualified(row["id"])) for row in rows]

    def unqualified(self, version_id: int) -> tuple[str, ...]:
        """The divisions in which the version has still to qualify."""
        rows = self._database.rows(
            "SELECT division FROM qualifications WHERE version_id = ? AND state = 'waiting' ORDER BY division",
            version_id,
        )
        return tuple(row["division"] for row in rows)

    def begin_step(self, version_id: int, name: StepName, status: VersionStatus | None, limit_s: float | None) -> int:
        """The version is at this step now; how often the step has begun, as the process may have been killed in it.
        `status` None for a version that plays already."""

        def begin(db: Database) -> int:
            row = find(db, "SELECT tries FROM steps WHERE version_id = ? AND name = ?", version_id, name)
            tries = 1 if row is None else int(row["tries"]) + 1
            db.execute(
                "REPLACE INTO steps (version_id, name, state, began, limit_s, tries) VALUES (?, ?, 'running', ?, ?, ?)",
                [version_id, name, self._database.now(), limit_s, tries],
            )
            if status is not None:
                _set_status(db, version_id, status)
            return tries

        return self._database.write(begin)

    def postpone_step(self, version_id: int, name: StepName, detail: str) -> None:
        """The step begins again later, for a reason that is not the bot's: this time does not count."""

        def postpone(db: Database) -> None:
            db.execute("UPDATE steps SET tries = tries - 1 WHERE version_id = ?", [version_id])
            db.execute(
                "UPDATE steps SET state = 'waiting', detail = ? WHERE version_id = ? AND name = ?",
                [detail, version_id, name],
            )

        self._database.write(postpone)

    def note_step(self, version_id: int, name: StepName, detail: str) -> None:
        """What the step is at."""
        self._database.write(
            lambda db: db.execute(
                "UPDATE steps SET detail = ? WHERE version_id = ? AND name = ?", [detail, version_id, name]
            )
        )

    def end_step(self, version_id: int, name: StepName, state: StepState, took_s: float, detail: str = "") -> None:
        """`took_s` by a clock that is not set back."""
        self._database.write(lambda db: end_step(db, self._database.now(), version_id, name, state, took_s, detail))

    def set_log(self, version_id: int, name: str) -> None:
        """Where its log is."""
        self._database.write(lambda db: db.execute("UPDATE versions SET log = ? WHERE id = ?", [name, version_id]))

    def checked(self, version_id: int, label: str, divisions: Iterable[str]) -> None:
        """Its manifest is good: what it states as its version, and the divisions in which it is to qualify."""

        def set_(db: Database) -> None:
            db.execute("UPDATE versions SET label = ? WHERE id = ?", [label, version_id])
            for division in divisions:
                db.execute(
                    "INSERT OR IGNORE INTO qualifications (version_id, division, state) VALUES (?, ?, 'waiting')",
                    [version_id, division],
                )

        self._database.write(set_)

    def reject(self, version_id: int, step: StepName, took_s: float | None, reason: str, next_step: str) -> None:
        """A step failed, and the version with it."""

        def set_(db: Database) -> None:
            end_step(db, self._database.now(), version_id, step, "failed", took_s, reason)
            db.execute(
                "UPDATE versions SET status = 'rejected', reason = ?, next_step = ? WHERE id = ?",
                [reason, next_step, version_id],
            )
            # It may have been active: one whose owner handed it in again for other games.
            db.execute("DELETE FROM playing WHERE version_id = ?", [version_id])
            note_change(db)

        self._database.write(set_)

    def qualified(self, version_id: int, division: str, detail: str = "") -> None:
        """It passed in this division, and plays there, unless its owner has chosen otherwise since it was handed in."""

        def set_(db: Database) -> None:
            db.execute(
                "REPLACE INTO qualifications (version_id, division, state, detail) VALUES (?, ?, 'passed', ?)",
                [version_id, division, detail],
            )
            row = find(
                db,
                "SELECT v.*, b.chosen_after FROM versions v JOIN bots b ON b.id = v.bot_id WHERE v.id = ?",
                version_id,
            )
            assert row is not None
            db.execute("UPDATE versions SET qualified = 1 WHERE id = ?", [version_id])
            if row["status"] == "active":
                _set_playing(db, row["bot_id"], version_id, division)
            elif row["number"] > row["chosen_after"]:
                choose_version(db, self._database.now(), row["bot_id"], version_id, after=row["number"])
            elif row["status"] != "retired":
                _set_status(db, version_id, "inactive")
            _end_if_decided(db, self._database.now(), version_id)
            note_change(db)

        self._database.write(set_)

    def not_qualified(self, version_id: int, division: str, reason: str) -> None:
        """It failed in this division, and does not play there."""

        def set_(db: Database) -> None:
            db.execute(
                "REPLACE INTO qualifications (version_id, division, state, detail) VALUES (?, ?, 'failed', ?)",
                [version_id, division, reason],
            )
            db.execute(
                "DELETE FROM playing WHERE division = ? AND bot_id ="
                " (SELECT bot_id FROM versions WHERE id = ? AND status = 'active')",
                [division, version_id],
            )
            _end_if_decided(db, self._database.now(), version_id)
            note_change(db)

        self._database.write(set_)

    def failed_divisions(self, version_id: int) -> dict[str, str]:
        """The divisions in which it did not qualify, with the reasons."""
        rows = self._database.rows(
            "SELECT division, detail FROM qualifications WHERE version_id = ? AND state = 'failed' ORDER BY division",
            version_id,
        )
        return {row["division"]: row["detail"] for row in rows}

    def status_of(self, version_id: int) -> VersionStatus:
        """Of a version that is there."""
        row = self._database.row("SELECT status FROM versions WHERE id = ?", version_id)
        assert row is not None
        status: VersionStatus = row["status"]
        return status


def end_step(
    db: Database, now: str, version_id: int, name: StepName, state: StepState, took_s: float | None, detail: str
) -> None:
    """A step of a version is over, in this change."""
    db.execute(
        "UPDATE steps SET state = ?, ended = ?, took_s = ?, detail = ? WHERE version_id = ? AND name = ?",
        [state, now, took_s, detail, version_id, name],
    )


def _end_if_decided(db: Database, now: str, version_id: int) -> None:
    """The step is over with the last division: what a kill could part is one change."""
    rows = db.execute(
        "SELECT division, state, detail FROM qualifications WHERE version_id = ? ORDER BY division", [version_id]
    ).fetchall()
    if all(state != "waiting" for _, state, _ in rows):
        detail = "; ".join(f"{division}: {why}" for division, state, why in rows if state == "failed")
        end_step(db, now, version_id, "qualified", "done", None, detail)


def _set_status(db: Database, version_id: int, status: VersionStatus) -> None:
    db.execute("UPDATE versions SET status = ? WHERE id = ?", [status, version_id])


def choose_version(db: Database, now: str, bot_id: int, version_id: int, *, after: int | None = None) -> None:
    """The version plays from now on, where it has qualified; where it has still to, the one before goes on.

    `after`: a later one that qualifies takes its place; None: one that is handed in from now on does.
    """
    if after is None:
        row = find(db, "SELECT max(number) AS number FROM versions WHERE bot_id = ?", bot_id)
        assert row is not None
        after = row["number"]
    db.execute("UPDATE bots SET chosen_after = ? WHERE id = ?", [after, bot_id])
    db.execute("UPDATE versions SET status = 'inactive' WHERE bot_id = ? AND status = 'active'", [bot_id])
    db.execute("UPDATE versions SET status = 'active', activations = activations + 1 WHERE id = ?", [version_id])
    passed = [
        row[0]
        for row in db.execute(
            "SELECT division FROM qualifications WHERE version_id = ? AND state = 'passed'", [version_id]
        ).fetchall()
    ]
    for division in passed:
        _set_playing(db, bot_id, version_id, division)
    db.execute(
        "DELETE FROM playing WHERE bot_id = ? AND division NOT IN"
        " (SELECT division FROM qualifications WHERE version_id = ? AND state IN ('passed', 'waiting'))",
        [bot_id, version_id],
    )
    db.execute(
        "REPLACE INTO steps (version_id, name, state, began, ended) VALUES (?, 'active', 'done', ?, ?)",
        [version_id, now, now],
    )
    note_change(db)


def _set_playing(db: Database, bot_id: int, version_id: int, division: str) -> None:
    db.execute("REPLACE INTO playing (bot_id, division, version_id) VALUES (?, ?, ?)", [bot_id, division, version_id])


def _waiting(row: sqlite3.Row) -> WaitingVersion:
    return WaitingVersion(
        id=row["id"],
        bot=row["bot"],
        owner=row["owner"],
        number=row["number"],
        content=row["content"],
        status=row["status"],
        games=tuple(json.loads(row["games"])),
        remote=bool(row["remote"]),
        label=row["label"],
    )
