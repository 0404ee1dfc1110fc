"""Passwords, sign-ins at providers, and what organisers decide: implements `leaderboard.web.people.People`."""

import json
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, Protocol

from sqlite_utils import Database

from leaderboard.web.hand_ins import Account, HandInRefused, NewToken, Person, Refusal, Scope
from leaderboard.web.people import (
    Act,
    Identity,
    NewReset,
    Provider,
    Returned,
    SignInWays,
    SignUp,
    Steer,
    Steering,
    Suspicion,
)
from referee.ladder.accounts import SESSION_DAYS, Accounts, digest_of, end_access, find_owner, note_change, person_of
from referee.ladder.config import ProviderConfig
from referee.ladder.database import LadderDatabase, find, insert
from referee.ladder.passwords import hash_password, is_right

SIGN_IN_S: Final = 600
"""The most time that a browser may be at a provider, and then take to choose a name."""

RESET_DAYS: Final = 2
MOST_NOTICE: Final = 500
_MOST_REASON: Final = 500
_MOST_SUSPICIONS: Final = 50


class SignInClient(Protocol):
    """Speaks to one provider, as `referee.ladder.providers` does."""

    config: ProviderConfig

    def start(self, back: str, state: str, verifier: str, nonce: str) -> str: ...

    def subject(self, back: str, code: str, verifier: str, nonce: str) -> str: ...


class LadderPeople:
    """The accounts and decisions of one ladder."""

    def __init__(
        self,
        database: LadderDatabase,
        accounts: Accounts,
        *,
        sign_up: SignUp = "invitation",
        providers: Sequence[ProviderConfig] = (),
        divisions: Sequence[str] = (),
    ) -> None:
        self._database = database
        self._accounts = accounts
        self._providers = {config.id: config for config in providers}
        self._clients: dict[str, SignInClient] = {}
        self._divisions = tuple(divisions)
        self.sign_up: SignUp = sign_up

    @property
    def providers(self) -> Sequence[Provider]:
        return [Provider(config.id, config.title) for config in self._providers.values()]

    # Signing in

    def join(self, owner: str, password: str, *, code: str = "", pending: str = "", browser: str = "") -> NewToken:
        if not code and self.sign_up != "open":
            self._refuse_sign_up()
        if code and self.sign_up == "closed" and not self._accounts.invitation(code).organiser:
            self._refuse_sign_up()
        kept = hash_password(password, owner.strip()) if password else ""
        if not code and not password and not pending:
            raise HandInRefused(Refusal.UNUSABLE, "the account has no password", "choose a password")

        def more(db: Database, owner_id: int) -> None:
            if kept:
                db.execute("UPDATE owners SET password = ? WHERE id = ?", [kept, owner_id])
            if pending:
                row = self._pending(db, pending, browser)
                self._add_identity(db, row["provider"], row["subject"], owner_id)
                db.execute("DELETE FROM sign_ins WHERE digest = ?", [row["digest"]])

        return self._accounts.make(owner, code, more)

    def _refuse_sign_up(self) -> None:
        if self.sign_up == "closed":
            raise HandInRefused(Refusal.FORBIDDEN, "this ladder takes no new accounts", "ask the organiser")
        raise HandInRefused(Refusal.FORBIDDEN, "a new account needs an invitation", "ask the organiser for one")

    def sign_in(self, owner: str, password: str) -> NewToken:
        row = self._database.row("SELECT * FROM owners WHERE name = ? AND deleted = ''", owner.strip())
        right = is_right(password, "" if row is None else row["password"])
        if row is None or not right:
            raise HandInRefused(
                Refusal.UNAUTHENTICATED,
                "the name or the password is wrong",
                "check both; the organiser can make a link with which you choose a new password",
            )
        return self._session(row)

    def _session(self, row: sqlite3.Row) -> NewToken:
        if row["blocked"]:
            raise HandInRefused(
                Refusal.FORBIDDEN, f"the owner '{row['name']}' is blocked: {row['blocked']}", "ask the organiser"
            )
        scope: Scope = "organise" if row["organiser"] else "manage"
        return self._accounts.create_token(row["name"], "browser", scope, SESSION_DAYS, kind="session")

    def begin(self, provider: str, browser: str, back: str, account: Account | None = None) -> str:
        if account is not None:
            _need(account, "manage")
            self._need_new_way(account)
        client = self._client(provider)
        state, verifier, nonce = (secrets.token_urlsafe(48) for _ in range(3))
        url = client.start(back, state, verifier, nonce)

        def keep(db: Database) -> None:
            db.execute("DELETE FROM sign_ins WHERE expires < ?", [self._database.now()])
            values = {
                "digest": digest_of(state),
                "provider": provider,
                "browser": digest_of(browser),
                "verifier": verifier,
                "nonce": nonce,
                "owner_id": None if account is None else find_owner(db, account.owner)["id"],
                "expires": self._database.in_time(timedelta(seconds=SIGN_IN_S)),
            }
            insert(db, "sign_ins", values)

        self._database.write(keep)
        return url

    def finish(self, provider: str, browser: str, back: str, state: str, code: str) -> Returned:
        client = self._client(provider)
        begun = self._database.write(lambda db: self._take(db, provider, browser, state))
        if not code:
            raise HandInRefused(
                Refusal.UNAUTHENTICATED, f"{client.config.title} did not sign you in", "sign in again, or another way"
            )
        subject = client.subject(back, code, begun["verifier"], begun["nonce"])
        issuer = client.config.issuer

        def settle(db: Database) -> Returned | sqlite3.Row:
            known = find(
                db,
                "SELECT o.* FROM identities i JOIN owners o ON o.id = i.owner_id WHERE i.provider = ? AND"
                " i.subject = ?",
                issuer,
                subject,
            )
            if begun["owner_id"] is not None:
                if known is not None and known["id"] != begun["owner_id"]:
                    raise HandInRefused(
                        Refusal.CONFLICT,
                        f"this account at {client.config.title} signs another owner in",
                        "sign in with it, and remove it there first",
                    )
                if known is None:
                    self._add_identity(db, issuer, subject, begun["owner_id"])
                return Returned(added=True)
            if known is not None:
                return known
            pending = secrets.token_urlsafe(32)
            values = {
                "digest": digest_of(pending),
                "provider": issuer,
                "browser": digest_of(browser),
                "verifier": "",
                "nonce": "",
                "subject": subject,
                "expires": self._database.in_time(timedelta(seconds=SIGN_IN_S)),
            }
            insert(db, "sign_ins", values)
            return Returned(pending=pending)

        settled = self._database.write(settle)
        return settled if isinstance(settled, Returned) else Returned(session=self._session(settled))

    def _take(self, db: Database, provider: str, browser: str, state: str) -> sqlite3.Row:
        """The sign-in that this state belongs to, which is used up."""
        row = find(db, "SELECT * FROM sign_ins WHERE digest = ?", digest_of(state))
        same = row is not None and row["provider"] == provider and not row["subject"]
        if row is None or not same or not _is(row["browser"], browser) or self._database.is_past(row["expires"]):
            raise HandInRefused(
                Refusal.UNAUTHENTICATED,
                "this sign-in was not begun in this browser, or took more than ten minutes",
                "sign in again from the beginning",
            )
        db.execute("DELETE FROM sign_ins WHERE digest = ?", [row["digest"]])
        return row

    def pending(self, pending: str, browser: str) -> Identity:
        row = self._database.row("SELECT * FROM sign_ins WHERE digest = ?", digest_of(pending))
        row = self._good_pending(row, browser)
        return Identity(row["provider"], self._title(row["provider"]), row["subject"], "")

    def _pending(self, db: Database, pending: str, browser: str) -> sqlite3.Row:
        return self._good_pending(find(db, "SELECT * FROM sign_ins WHERE digest = ?", digest_of(pending)), browser)

    def _good_pending(self, row: sqlite3.Row | None, browser: str) -> sqlite3.Row:
        bad = row is None or not row["subject"] or not _is(row["browser"], browser)
        if row is None or bad or self._database.is_past(row["expires"]):
            raise HandInRefused(
                Refusal.UNAUTHENTICATED,
                "the sign-in took more than ten minutes, or was begun in another browser",
                "sign in again from the beginning",
            )
        return row

    def _add_identity(self, db: Database, issuer: str, subject: str, owner_id: int) -> None:
        values = {"provider": issuer, "subject": subject, "owner_id": owner_id, "created": self._database.now()}
        try:
            insert(db, "identities", values)
        except sqlite3.IntegrityError:
            raise HandInRefused(
                Refusal.CONFLICT, "this account elsewhere signs another owner in already", "sign in with it"
            ) from None

    def _client(self, provider: str) -> SignInClient:
        if provider not in self._providers:
            raise HandInRefused(Refusal.UNKNOWN, f"nobody signs in with {provider[:40]!a} here", "see the page Sign in")
        if provider not in self._clients:
            from referee.ladder.providers import ProviderClient  # takes a third of a second, and few ladders need it

            self._clients[provider] = ProviderClient(self._providers[provider])
        return self._clients[provider]

    def _title(self, issuer: str) -> str:
        titles = {config.issuer: config.title for config in self._providers.values()}
        return titles.get(issuer, issuer)

    # One's own account

    def ways(self, account: Account) -> SignInWays:
        _need(account, "manage")
        row = self._database.row("SELECT id, password FROM owners WHERE name = ?", account.owner)
        found = self._database.rows(
            "SELECT i.* FROM identities i JOIN owners o ON o.id = i.owner_id WHERE o.name = ? ORDER BY i.created",
            account.owner,
        )
        identities = tuple(
            Identity(one["provider"], self._title(one["provider"]), one["subject"], one["created"]) for one in found
        )
        return SignInWays(row is not None and bool(row["password"]), identities)

    def _need_new_way(self, account: Account) -> None:
        """FORBIDDEN for a token with fewer rights than its owner, and, unless the owner has no other way to sign in,
        for any token: who signs in in a new way has all rights, and keeps them when the token ends."""
        if account.organiser and not account.may("organise"):
            _need(account, "organise")
        ways = self.ways(account)
        if (ways.has_password or ways.identities) and self._accounts.began_with_token(account.token_id):
            raise HandInRefused(
                Refusal.FORBIDDEN,
                "you have signed in with a token, which adds no other way to sign in",
                "sign in with your password, or with your account elsewhere",
            )

    def change_password(self, account: Account, current: str, new: str) -> None:
        _need(account, "manage")
        row = self._database.row("SELECT password FROM owners WHERE name = ?", account.owner)
        if row is not None and row["password"] and not is_right(current, row["password"]):
            raise HandInRefused(
                Refusal.UNAUTHENTICATED, "the current password is wrong", "enter it again; nothing was changed"
            )
        if row is not None and not row["password"]:
            self._need_new_way(account)
        kept = hash_password(new, account.owner)

        def change(db: Database) -> None:
            owner = find_owner(db, account.owner)
            db.execute("UPDATE owners SET password = ? WHERE id = ?", [kept, owner["id"]])
            end_access(db, owner["id"], keep=account.token_id)

        self._database.write(change)

    def forget_identity(self, account: Account, provider: str, subject: str) -> None:
        _need(account, "manage")

        def forget(db: Database) -> int:
            owner = find_owner(db, account.owner)
            return db.execute(
                "DELETE FROM identities WHERE provider = ? AND subject = ? AND owner_id = ?",
                [provider, subject, owner["id"]],
            ).rowcount

        if not self._database.write(forget):
            raise HandInRefused(Refusal.UNKNOWN, "you do not sign in with this account", "see the list")

    def delete(self, account: Account, name: str) -> None:
        _need(account, "manage")
        if name != account.owner:
            raise HandInRefused(
                Refusal.UNUSABLE, "that is not the name of your account", "enter it as it is; nothing was deleted"
            )

        def delete(db: Database) -> None:
            row = find_owner(db, account.owner)
            others = find(db, "SELECT 1 FROM owners WHERE organiser AND id != ? AND deleted = ''", row["id"])
            if row["organiser"] and others is None:
                raise HandInRefused(
                    Refusal.CONFLICT, "you are the only organiser", "make an invitation for another one first"
                )
            self._accounts.delete(db, row)

        self._database.write(delete)

    def check_reset(self, code: str) -> str:
        row = self._database.row(_RESETS, digest_of(code))
        return str(self._good_reset(row)["name"])

    def _good_reset(self, row: sqlite3.Row | None) -> sqlite3.Row:
        if row is None or self._database.is_past(row["expires"]):
            raise HandInRefused(
                Refusal.UNAUTHENTICATED, "the link was used, or is too old", "ask the organiser for another one"
            )
        return row

    def reset(self, code: str, new: str) -> NewToken:
        kept = hash_password(new, self.check_reset(code))

        def change(db: Database) -> sqlite3.Row:
            row = self._good_reset(find(db, _RESETS, digest_of(code)))
            db.execute("DELETE FROM resets WHERE owner_id = ?", [row["owner_id"]])
            db.execute("UPDATE owners SET password = ? WHERE id = ?", [kept, row["owner_id"]])
            end_access(db, row["owner_id"], tokens=True)
            owner = find(db, "SELECT * FROM owners WHERE id = ?", row["owner_id"])
            assert owner is not None
            return owner

        return self._session(self._database.write(change))

    # For organisers

    def make_reset(self, account: Account, owner: str) -> NewReset:
        _need(account, "organise")
        if owner == account.owner:
            self._need_new_way(account)

        def make(db: Database) -> NewReset:
            row = find_owner(db, owner)
            code, expires = secrets.token_urlsafe(32), self._database.after(RESET_DAYS)
            db.execute("DELETE FROM resets WHERE owner_id = ?", [row["id"]])
            insert(db, "resets", {"digest": digest_of(code), "owner_id": row["id"], "expires": expires})
            self._note(db, account, "reset link", row["public_id"])
            return NewReset(owner, code, expires)

        return self._database.write(make)

    def approve(self, account: Account, owner: str, approved: bool, reason: str) -> Person:
        _need(account, "organise")

        def set_(db: Database) -> Person:
            row = find_owner(db, owner)
            if bool(row["approved"]) != approved:
                db.execute("UPDATE owners SET approved = ? WHERE id = ?", [int(approved), row["id"]])
                self._note(db, account, "approve" if approved else "no longer approve", row["public_id"], reason)
                note_change(db)
            return person_of(db, row["id"])

        return self._database.write(set_)

    def block(self, account: Account, owner: str, reason: str) -> Person:
        """As `HandIns.block`."""
        _need(account, "organise")
        if owner == account.owner:
            raise HandInRefused(Refusal.CONFLICT, "you cannot block yourself", "ask another organiser")

        def set_(db: Database) -> Person:
            row = find_owner(db, owner)
            self._note(db, account, "ban" if reason else "lift a ban", row["public_id"], reason)
            return self._accounts.set_blocked(db, owner, reason)

        return self._database.write(set_)

    def note(self, account: Account, what: str, subject: str, reason: str = "") -> None:
        """Something that an organiser has done elsewhere in the database."""
        self._database.write(lambda db: self._note(db, account, what, subject, reason))

    def steer(self, account: Account, what: Steer, division: str, text: str) -> None:
        _need(account, "organise")
        text = _reason(text, MOST_NOTICE)
        if division and division not in self._divisions:
            raise HandInRefused(Refusal.UNKNOWN, f"there is no division {division[:60]!a}", "see the list of divisions")
        if what == "pause" and not division:
            raise HandInRefused(Refusal.UNUSABLE, "a pause is of one division", "choose one; to pause all: drain")
        name = f"pause:{division}" if division else "notice" if what == "notice" else "drain"
        value = "" if what == "go on" else text if what == "notice" else text or "the organiser has paused it"

        def set_(db: Database) -> None:
            if value:
                db.execute("REPLACE INTO switches (name, value) VALUES (?, ?)", [name, value])
            else:
                db.execute("DELETE FROM switches WHERE name = ?", [name])
            self._note(db, account, what, division, text)
            note_change(db)

        self._database.write(set_)

    def steering(self) -> Steering:
        rows = {row["name"]: row["value"] for row in self._database.rows("SELECT * FROM switches ORDER BY name")}
        paused = tuple((name[6:], why) for name, why in rows.items() if name.startswith("pause:"))
        return Steering(rows.get("notice", ""), rows.get("drain", ""), paused)

    def annul(self, account: Account, division: str, match_id: str, reason: str) -> None:
        _need(account, "organise")
        if division not in self._divisions:
            raise HandInRefused(Refusal.UNKNOWN, f"there is no division {division[:60]!a}", "see the list of divisions")
        if not match_id.replace("-", "").isalnum() or not match_id.isascii() or len(match_id) > 80:
            raise HandInRefused(Refusal.UNUSABLE, f"{match_id[:80]!a} is no id of a match", "copy it from its page")
        detail = {"division": division, "match_id": match_id}

        def ask(db: Database) -> None:
            self._note(db, account, "annul", f"{division}/{match_id}", reason, detail, done="")
            note_change(db)

        self._database.write(ask)

    def acts(self, account: Account, most: int) -> Sequence[Act]:
        _need(account, "organise")
        names = self._accounts.names()
        rows = self._database.rows("SELECT * FROM acts ORDER BY id DESC LIMIT ?", most)
        return [
            Act(
                row["at"],
                names.get(row["who"], row["who"]) or "this machine's shell",
                row["what"],
                names.get(row["subject"], row["subject"]),
                row["reason"],
                row["done"],
            )
            for row in rows
        ]

    def suspicions(self, account: Account) -> Sequence[Suspicion]:
        _need(account, "organise")
        rows = self._database.rows(
            "SELECT DISTINCT v.code, o.name AS owner, b.name AS bot FROM versions v JOIN bots b ON b.id = v.bot_id"
            " JOIN owners o ON o.id = b.owner_id WHERE v.code IN (SELECT v.code FROM versions v JOIN bots b"
            " ON b.id = v.bot_id WHERE v.code != '' GROUP BY v.code HAVING count(DISTINCT b.owner_id) > 1"
            " ORDER BY max(v.id) DESC LIMIT ?) ORDER BY v.id DESC",
            _MOST_SUSPICIONS,
        )
        found: dict[str, tuple[set[str], set[str]]] = {}
        for row in rows:
            owners, bots = found.setdefault(row["code"], (set(), set()))
            owners.add(row["owner"])
            bots.add(row["bot"])
        return [
            Suspicion("the same code was handed in by several owners", tuple(sorted(owners)), tuple(sorted(bots)))
            for owners, bots in found.values()
        ]

    # For the process that plays

    def waiting_acts(self) -> list[tuple[int, str, Mapping[str, Any]]]:
        """Acts that are still to be carried out, the oldest first: number, reason, and what they are about with who
        asked for them and when."""
        rows = self._database.rows("SELECT * FROM acts WHERE done = '' ORDER BY id")
        asked = ((row, {"by": row["who"], "at": row["at"]}) for row in rows)
        return [(row["id"], row["reason"], json.loads(row["detail"]) | by) for row, by in asked]

    def done(self, number: int, state: str = "yes") -> None:
        """An act was carried out, or `state` says why not."""
        self._database.write(lambda db: db.execute("UPDATE acts SET done = ? WHERE id = ?", [state, number]))

    def _note(
        self,
        db: Database,
        account: Account,
        what: str,
        subject: str,
        reason: str = "",
        detail: Mapping[str, str] | None = None,
        done: str = "yes",
    ) -> None:
        """Inside the change that it is about."""
        who = find_owner(db, account.owner)["public_id"] if account.owner else ""
        values = {
            "at": self._database.now(),
            "who": who,
            "what": what,
            "subject": subject,
            "reason": _reason(reason, _MOST_REASON),
            "detail": json.dumps(detail or {}),
            "done": done,
        }
        insert(db, "acts", values)


_RESETS = "SELECT r.*, o.name FROM resets r JOIN owners o ON o.id = r.owner_id WHERE r.digest = ?"

SHELL: Final = Account("", "organise", "", organiser=True)
"""The actor of a command on the ladder's machine."""


def _need(account: Account, scope: Scope) -> None:
    if not account.may(scope) or account.bot:
        raise HandInRefused(
            Refusal.FORBIDDEN,
            f"this needs a token for '{scope}', and this one is for '{account.bot or account.scope}'",
            "sign in, or use another token",
        )


def _is(kept: bytes, secret: str) -> bool:
    return secrets.compare_digest(bytes(kept), digest_of(secret))


def _reason(text: str, most: int) -> str:
    said = " ".join(text.split())
    if not said.isprintable() or len(said) > most:
        raise HandInRefused(
            Refusal.UNUSABLE, f"the text has {len(said)} characters", f"use at most {most} printable ones"
        )
    return said
