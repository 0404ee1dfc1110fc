"""Owners, their tokens, and the invitations with which people become owners.

Secrets are shown once and stored as hashes. A token that has expired stays expired when the clock is set back.
"""

import secrets
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256

from sqlite_utils import Database

from leaderboard.web.hand_ins import (
    Account,
    HandInRefused,
    Invitation,
    NewInvitation,
    NewToken,
    Person,
    Refusal,
    Scope,
    Token,
    TokenKind,
)
from referee.ladder.database import LadderDatabase, find, insert
from referee.ladder.names import check_ladder_name, seen_as, taken
from referee.process.manifest import look_alike_keys

SESSION_DAYS = 30
SEEN_EVERY_S = 600.0
"""The last use of a token is kept with this precision, because each update is a write."""

TOKEN_PREFIX = "crosstown_"  # noqa: S105 - how secret scanners know one
_SECRET_BYTES = 32
_MOST_LABEL = 100
_FIRST = "first organiser"
_PEOPLE = "SELECT o.*, (SELECT count(*) FROM bots b WHERE b.owner_id = o.id) AS bots FROM owners o"


class Accounts:
    """The accounts of one ladder. Methods raise HandInRefused, and change all or nothing."""

    def __init__(self, database: LadderDatabase) -> None:
        self._database = database

    def account(self, secret: str) -> Account:
        """The account of this token. UNAUTHENTICATED if it is not valid, FORBIDDEN if its owner is blocked."""
        row = self._database.row(
            "SELECT t.*, o.name AS owner, o.organiser, o.blocked, b.name AS bot FROM tokens t"
            " JOIN owners o ON o.id = t.owner_id LEFT JOIN bots b ON b.id = t.bot_id WHERE t.digest = ?",
            digest_of(secret),
        )
        if row is None:
            raise HandInRefused(
                Refusal.UNAUTHENTICATED, "the token is not known here", "check it, or ask the organiser for another"
            )
        if row["over"] == "revoked":
            raise HandInRefused(Refusal.UNAUTHENTICATED, "the token was revoked", "use another one, or make one")
        if row["over"] or self._database.is_past(row["expires"]):
            if not row["over"]:
                with suppress(HandInRefused):  # said again the next time
                    self._database.write(
                        lambda db: db.execute("UPDATE tokens SET over = 'expired' WHERE id = ?", [row["id"]])
                    )
            raise HandInRefused(
                Refusal.UNAUTHENTICATED, f"the token expired at {row['expires']}", "make another one, or sign in again"
            )
        if row["blocked"]:
            raise HandInRefused(
                Refusal.FORBIDDEN, f"the owner '{row['owner']}' is blocked: {row['blocked']}", "ask the organiser"
            )
        if row["kind"] == "connection":
            raise HandInRefused(
                Refusal.FORBIDDEN,
                f"with this token the bot '{row['bot']}' connects to play, and it is good for nothing else",
                "use another token",
            )
        self._note_use(row)
        scope: Scope = row["scope"]
        if scope == "organise" and not row["organiser"]:
            scope = "manage"
        return Account(row["owner"], scope, str(row["id"]), bool(row["organiser"]), row["bot"] or "")

    def _note_use(self, row: sqlite3.Row) -> None:
        if self._database.is_within(row["last_used"], SEEN_EVERY_S):
            return
        now = self._database.now()

        def seen(db: Database) -> None:
            db.execute("UPDATE tokens SET last_used = ? WHERE id = ?", [now, row["id"]])
            db.execute("UPDATE owners SET last_seen = ? WHERE id = ?", [now, row["owner_id"]])

        with suppress(HandInRefused):  # who may do something is not kept from it by a full disk
            self._database.write(seen)

    def organiser_link(self) -> str:
        """A new code for the first organiser's account, which replaces the one before; '' once there is an
        organiser."""

        def make(db: Database) -> str:
            if db.execute("SELECT 1 FROM owners WHERE organiser").fetchone():
                return ""
            db.execute("DELETE FROM invitations WHERE organiser AND label = ?", [_FIRST])
            return self._invite(db, _FIRST, 1, None, organiser=True).code

        return self._database.write(make)

    def create_invitation(self, label: str, uses: int, days: int, *, organiser: bool = False) -> NewInvitation:
        """UNUSABLE for a number out of its range."""
        label = _label(label)
        if not 1 <= uses <= 10_000:
            raise HandInRefused(Refusal.UNUSABLE, f"an invitation for {uses} uses", "give a number from 1 to 10000")
        return self._database.write(lambda db: self._invite(db, label, uses, days, organiser=organiser))

    def _invite(self, db: Database, label: str, uses: int, days: int | None, *, organiser: bool) -> NewInvitation:
        code, now = _secret(), self._database.now()
        expires = self._database.after(days)
        values = {
            "digest": digest_of(code),
            "label": label,
            "organiser": int(organiser),
            "created": now,
            "expires": expires,
            "uses_left": uses,
        }
        id_ = insert(db, "invitations", values)
        return NewInvitation(Invitation(str(id_), label, now, expires, uses, organiser), code)

    def invitations(self) -> list[Invitation]:
        """All valid invitations, the newest first."""
        rows = self._database.rows("SELECT * FROM invitations WHERE uses_left > 0 ORDER BY id DESC")
        return [_invitation(row) for row in rows if not self._database.is_past(row["expires"])]

    def invitation(self, code: str) -> Invitation:
        """The invitation with this code. UNAUTHENTICATED if it is not valid."""
        row = self._database.row("SELECT * FROM invitations WHERE digest = ?", digest_of(code))
        return self._good(row)

    def _good(self, row: sqlite3.Row | None) -> Invitation:
        step = "ask the organiser for another invitation"
        if row is None:
            raise HandInRefused(Refusal.UNAUTHENTICATED, "the invitation is not known here", step)
        if row["uses_left"] < 1:
            raise HandInRefused(Refusal.UNAUTHENTICATED, "the invitation was used already", step)
        if self._database.is_past(row["expires"]):
            raise HandInRefused(Refusal.UNAUTHENTICATED, f"the invitation expired at {row['expires']}", step)
        return _invitation(row)

    def revoke_invitation(self, invitation_id: str) -> None:
        """UNKNOWN."""

        def revoke(db: Database) -> int:
            return db.execute(
                "UPDATE invitations SET uses_left = 0 WHERE id = ? AND uses_left > 0", [_number(invitation_id)]
            ).rowcount

        if not self._database.write(revoke):
            raise HandInRefused(
                Refusal.UNKNOWN, f"there is no invitation {invitation_id}", "see the list of invitations"
            )

    def make(self, owner: str, code: str, more: Callable[[Database, int], None]) -> NewToken:
        """Make the account, with an invitation unless `code` is ''; a session for it. `more` is done in the same
        change, with the owner's number. An invitation is the organiser's approval. UNAUTHENTICATED, UNUSABLE,
        CONFLICT."""
        name = check_ladder_name(owner, "an owner")

        def use(db: Database) -> NewToken:
            organiser = False
            if code:
                row = find(db, "SELECT * FROM invitations WHERE digest = ?", digest_of(code))
                organiser = self._good(row).organiser
                assert row is not None
                db.execute("UPDATE invitations SET uses_left = uses_left - 1 WHERE id = ?", [row["id"]])
            more(db, self._make_owner(db, name, organiser=organiser, approved=bool(code)))
            scope: Scope = "organise" if organiser else "manage"
            return self._make_token(db, name, "browser", scope, SESSION_DAYS, kind="session")

        return self._database.write(use)

    def add_owner(self, owner: str, *, organiser: bool = False) -> bool:
        """Whether the account was made just now: an existing account is not changed. UNUSABLE, CONFLICT."""
        name = check_ladder_name(owner, "an owner")

        def make(db: Database) -> bool:
            if find(db, "SELECT 1 FROM owners WHERE name = ?", name):
                return False
            self._make_owner(db, name, organiser=organiser)
            return True

        return self._database.write(make)

    def _make_owner(self, db: Database, name: str, *, organiser: bool, approved: bool = True) -> int:
        folded, drawn = look_alike_keys(name)
        seen = seen_as(name)
        other = find(db, "SELECT name FROM owners WHERE folded = ? OR drawn = ? OR seen_as = ?", folded, drawn, seen)
        if other is not None:
            raise HandInRefused(Refusal.CONFLICT, taken("owner", name, other["name"]), "choose another name")
        values = {
            "name": name,
            "folded": folded,
            "drawn": drawn,
            "seen_as": seen,
            "public_id": "o" + secrets.token_hex(8),
            "organiser": int(organiser),
            "approved": int(approved),
            "joined": self._database.now(),
        }
        return insert(db, "owners", values)

    def people(self) -> list[Person]:
        """All owners, by name."""
        rows = self._database.rows(f"{_PEOPLE} WHERE o.deleted = '' ORDER BY o.folded")
        return [_person(row) for row in rows]

    def block(self, owner: str, reason: str) -> Person:
        """`reason` '' lifts it. UNKNOWN."""

        return self._database.write(lambda db: self.set_blocked(db, owner, reason))

    def set_blocked(self, db: Database, owner: str, reason: str) -> Person:
        """The same inside a change. Sessions end, and are not there again when the block is lifted."""
        row = find_owner(db, owner)
        db.execute("UPDATE owners SET blocked = ? WHERE id = ?", [reason, row["id"]])
        if reason:
            end_access(db, row["id"])
        note_change(db)
        return person_of(db, row["id"])

    def delete(self, db: Database, row: sqlite3.Row) -> None:
        """Inside a change: the account of this row, for good. Its bots stay, with their results, and play no more."""
        gone = f"deleted {row['public_id']}"
        now = self._database.now()
        db.execute(
            "UPDATE owners SET name = ?, folded = ?, drawn = ?, seen_as = ?, password = '', organiser = 0,"
            " approved = 0, blocked = 'the account was deleted', last_seen = '', deleted = ? WHERE id = ?",
            [gone, gone, gone, gone, now, row["id"]],
        )
        for table in ("identities", "resets", "sign_ins", "keys", "tokens", "sent"):
            db.execute(f"DELETE FROM {table} WHERE owner_id = ?", [row["id"]])  # noqa: S608 - our own words
        db.execute("DELETE FROM playing WHERE bot_id IN (SELECT id FROM bots WHERE owner_id = ?)", [row["id"]])
        note_change(db)

    def names(self) -> dict[str, str]:
        """By the id that journals have: the names of owners."""
        return {row["public_id"]: row["name"] for row in self._database.rows("SELECT public_id, name FROM owners")}

    def create_token(
        self,
        owner: str,
        label: str,
        scope: Scope,
        days: int | None,
        *,
        bot: str = "",
        kind: TokenKind = "token",
        maker: str = "",
    ) -> NewToken:
        """`days` None: it does not expire. With `bot` it is good for that one. `maker`: the id of what makes it; if it
        is a token, or a session that began with one, the new token expires no later, and is revoked with that one.
        UNKNOWN, UNUSABLE, UNAUTHENTICATED."""
        label = _label(label)

        def make(db: Database) -> NewToken:
            return _ended_with(db, self._make_token(db, owner, label, scope, days, bot=bot, kind=kind), maker)

        return self._database.write(make)

    def _make_token(
        self,
        db: Database,
        owner: str,
        label: str,
        scope: Scope,
        days: int | None,
        *,
        bot: str = "",
        kind: TokenKind = "token",
    ) -> NewToken:
        row = find_owner(db, owner)
        bot_id = None
        if bot:
            found = find(db, "SELECT id FROM bots WHERE name = ? AND owner_id = ?", bot, row["id"])
            if found is None:
                raise HandInRefused(Refusal.UNKNOWN, f"'{owner}' has no bot '{bot}'", "check its name")
            bot_id = found["id"]
        secret, now, expires = TOKEN_PREFIX + _secret(), self._database.now(), self._database.after(days)
        values = {
            "owner_id": row["id"],
            "digest": digest_of(secret),
            "kind": kind,
            "label": label,
            "scope": scope,
            "bot_id": bot_id,
            "created": now,
            "expires": expires,
        }
        id_ = insert(db, "tokens", values)
        return NewToken(owner, Token(str(id_), label, scope, now, kind, bot, expires), secret)

    def began_with_token(self, id_: str) -> bool:
        """Whether this is the id of a token, or of a session of who signed in with one."""
        row = self._database.row("SELECT kind, signed_in_with FROM tokens WHERE id = ?", _number(id_))
        return row is not None and _began_with_token(row)

    def session_of(self, secret: str) -> NewToken:
        """A session for who has this token. It has its scope, and ends with it. UNAUTHENTICATED, FORBIDDEN."""
        account = self.account(secret)
        if account.bot:
            raise HandInRefused(
                Refusal.FORBIDDEN, f"the token is good for the bot '{account.bot}' alone", "sign in with another one"
            )

        def make(db: Database) -> NewToken:
            row = find(db, "SELECT kind FROM tokens WHERE id = ?", _number(account.token_id))
            if row is None or row["kind"] != "token":
                raise HandInRefused(
                    Refusal.UNAUTHENTICATED, "this is no token to sign in with", "sign in with a token or a password"
                )
            made = self._make_token(db, account.owner, "browser", account.scope, SESSION_DAYS, kind="session")
            return _ended_with(db, made, account.token_id)

        return self._database.write(make)

    def replace_connection(self, db: Database, owner: str, bot: str, days: int, maker: str) -> NewToken:
        """Inside a change: the token with which the bot connects from now on. The one before is revoked: the
        latest start of the bot has it. `maker` as for `create_token`."""
        db.execute(
            "UPDATE tokens SET over = 'revoked' WHERE kind = 'connection' AND over = ''"
            " AND bot_id = (SELECT id FROM bots WHERE name = ?)",
            [bot],
        )
        note_change(db)
        return _ended_with(db, self._make_token(db, owner, "connect", "read", days, bot=bot, kind="connection"), maker)

    def connections(self) -> dict[str, list[str]]:
        """By name of the remote bot, the digests of the tokens with which it may connect, in hex."""
        rows = self._database.rows(
            "SELECT t.digest, t.expires, b.name FROM tokens t JOIN bots b ON b.id = t.bot_id"
            " JOIN owners o ON o.id = t.owner_id WHERE t.kind = 'connection' AND t.over = '' AND o.blocked = ''"
            " ORDER BY t.id"
        )
        found: dict[str, list[str]] = {}
        for row in rows:
            if not self._database.is_past(row["expires"]):
                found.setdefault(row["name"], []).append(bytes(row["digest"]).hex())
        return found

    def tokens(self, owner: str) -> list[Token]:
        """All valid tokens of an owner, the newest first."""
        rows = self._database.rows(
            "SELECT t.*, b.name AS bot FROM tokens t JOIN owners o ON o.id = t.owner_id"
            " LEFT JOIN bots b ON b.id = t.bot_id WHERE o.name = ? AND t.over = '' ORDER BY t.id DESC",
            owner,
        )
        return [
            Token(
                str(row["id"]),
                row["label"],
                row["scope"],
                row["created"],
                row["kind"],
                row["bot"] or "",
                row["expires"],
                row["last_used"],
            )
            for row in rows
            if not self._database.is_past(row["expires"])
        ]

    def revoke_token(self, owner: str, token_id: str) -> None:
        """Revoke a token permanently, with the sessions that began with it, the tokens that were made with it or in
        these sessions, and so on. UNKNOWN unless it is one of the owner's."""

        def revoke(db: Database) -> int:
            note_change(db)  # it may be that of a remote bot, which goes then
            found = db.execute(
                "UPDATE tokens SET over = 'revoked' WHERE id = ? AND over = ''"
                " AND owner_id = (SELECT id FROM owners WHERE name = ?)",
                [_number(token_id), owner],
            ).rowcount
            if found:
                db.execute(
                    "WITH RECURSIVE gone (id) AS (VALUES (?)"
                    " UNION SELECT t.id FROM tokens t JOIN gone ON t.signed_in_with = gone.id)"
                    " UPDATE tokens SET over = 'revoked' WHERE over = '' AND id IN (SELECT id FROM gone)",
                    [_number(token_id)],
                )
                _end_additions(db, find_owner(db, owner)["id"])
            return found

        if not self._database.write(revoke):
            raise HandInRefused(Refusal.UNKNOWN, f"'{owner}' has no token {token_id}", "see the list of tokens")


def _ended_with(db: Database, made: NewToken, maker: str) -> NewToken:
    """Inside a change: the token, which expires no later than the one that made it, or with which the session began
    that did, and is revoked with that. Who has signed in with a password makes tokens that stand alone.
    UNAUTHENTICATED if the maker has been revoked just now."""
    row = find(db, "SELECT * FROM tokens WHERE id = ?", _number(maker))
    if row is not None and row["over"]:
        raise HandInRefused(Refusal.UNAUTHENTICATED, "the token was revoked", "use another one, or make one")
    if row is None or not _began_with_token(row):
        return made
    first = row["signed_in_with"] if row["kind"] == "session" else row["id"]  # signing out revokes no token
    expires = min(row["expires"] or made.token.expires, made.token.expires or row["expires"])  # '' is never
    db.execute("UPDATE tokens SET signed_in_with = ?, expires = ? WHERE id = ?", [first, expires, made.token.id])
    return replace(made, token=replace(made.token, expires=expires))


def _began_with_token(row: sqlite3.Row) -> bool:
    return row["kind"] == "token" or row["signed_in_with"] is not None


def find_owner(db: Database, name: str) -> sqlite3.Row:
    """Inside a change. UNKNOWN."""
    row = find(db, "SELECT * FROM owners WHERE name = ?", name)
    if row is None:
        raise HandInRefused(Refusal.UNKNOWN, f"there is no owner '{name}'", "check the name")
    return row


def end_access(db: Database, owner_id: int, *, keep: str = "", tokens: bool = False) -> None:
    """Inside a change: the owner's sessions end, with `tokens` all tokens do. The one with the id `keep` stays."""
    kinds = "" if tokens else " AND kind = 'session'"
    db.execute(
        f"UPDATE tokens SET over = 'revoked' WHERE owner_id = ? AND over = '' AND id != ?{kinds}",  # noqa: S608
        [owner_id, _number(keep)],
    )
    _end_additions(db, owner_id)


def _end_additions(db: Database, owner_id: int) -> None:
    """Inside a change: what was begun to add a way to sign in to this account is not finished any more: who began it
    may have done so with what has just ended."""
    db.execute("DELETE FROM sign_ins WHERE owner_id = ?", [owner_id])


def person_of(db: Database, owner_id: int) -> Person:
    """Inside a change."""
    found = find(db, f"{_PEOPLE} WHERE o.id = ?", owner_id)
    assert found is not None
    return _person(found)


def note_change(db: Database) -> None:
    """Inside a change of what the roster says."""
    db.execute("UPDATE counters SET value = value + 1 WHERE name = 'changes'")


def _label(text: str) -> str:
    label = " ".join(text.split())
    if not label.isprintable() or len(label) > _MOST_LABEL:
        raise HandInRefused(
            Refusal.UNUSABLE, f"the label {text[:_MOST_LABEL]!a}", f"use at most {_MOST_LABEL} printable characters"
        )
    return label


def _number(id_: str) -> int:
    """The number of an id; -1 for other text."""
    return int(id_) if id_.isascii() and id_.isdecimal() and len(id_) < 19 else -1


def _secret() -> str:
    return secrets.token_urlsafe(_SECRET_BYTES)


def digest_of(secret: str) -> bytes:
    """Of 256 random bits: a slow hash would add nothing."""
    return sha256(secret.encode("utf-8", "surrogatepass")).digest()


def _invitation(row: sqlite3.Row) -> Invitation:
    return Invitation(
        str(row["id"]), row["label"], row["created"], row["expires"], row["uses_left"], bool(row["organiser"])
    )


def _person(row: sqlite3.Row) -> Person:
    return Person(
        row["name"],
        bool(row["organiser"]),
        row["joined"],
        row["bots"],
        row["last_seen"],
        row["blocked"],
        bool(row["approved"]),
    )
