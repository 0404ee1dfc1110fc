"""Passwords, sessions, resets, the end of an account, and what organisers decide."""

import sqlite3
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from leaderboard.web.hand_ins import Account, HandInRefused, NewToken, Refusal
from leaderboard.web.people import Steering
from referee.ladder import passwords
from referee.ladder.people import SHELL, LadderPeople
from referee.ladder.schema import _V1
from referee.ladder.store import LadderStore
from tests.referee.ladder.clock import Clock

GOOD = "correct horse battery"
OLA = Account("ola", "organise", "0", organiser=True)


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[LadderStore]:
    with LadderStore(tmp_path / "ladder.db", tmp_path / "content", clock=clock) as made:
        made.accounts.add_owner("ola", organiser=True)
        yield made


@pytest.fixture
def people(store: LadderStore) -> LadderPeople:
    return store.people(sign_up="open", divisions=["cup", "toy"])


def refused(refusal: Refusal, call: Callable[[], object]) -> str:
    with pytest.raises(HandInRefused) as caught:
        call()
    assert caught.value.refusal is refusal, str(caught.value)
    assert caught.value.next_step
    return str(caught.value)


def account(store: LadderStore, made: NewToken) -> Account:
    return store.accounts.account(made.secret)


def is_good(store: LadderStore, made: NewToken) -> bool:
    try:
        store.accounts.account(made.secret)
    except HandInRefused:
        return False
    return True


def qualify(store: LadderStore, bot: str, number: int = 1, division: str = "cup") -> None:
    waiting = next(one for one in store.steps.waiting() if (one.bot, one.number) == (bot, number))
    store.steps.checked(waiting.id, "1", [division])
    store.steps.qualified(waiting.id, division)


# Joining and signing in


def test_a_name_with_its_password_is_a_session(people: LadderPeople, store: LadderStore) -> None:
    people.join("ann", GOOD)
    made = people.sign_in(" ann ", GOOD)
    assert (made.token.kind, account(store, made).owner, account(store, made).scope) == ("session", "ann", "manage")
    wrong = refused(Refusal.UNAUTHENTICATED, lambda: people.sign_in("ann", "correct horse batterz"))
    assert wrong == refused(Refusal.UNAUTHENTICATED, lambda: people.sign_in("nobody", GOOD))
    assert wrong == refused(Refusal.UNAUTHENTICATED, lambda: people.sign_in("ola", ""))  # who has none


def test_a_password_is_stored_as_argon2id_with_a_salt_of_its_own(people: LadderPeople, store: LadderStore) -> None:
    people.join("ann", GOOD)
    people.join("bob", GOOD)
    with sqlite3.connect(store._database.path) as db:
        kept = [row[0] for row in db.execute("SELECT password FROM owners WHERE password != ''")]
    assert len(set(kept)) == 2
    assert all(one.startswith("$argon2id$v=19$m=19456,t=2,p=1$") for one in kept)
    assert GOOD not in Path(store._database.path).read_bytes().decode("latin-1")


def test_an_unknown_name_costs_as_much_as_a_wrong_password(
    people: LadderPeople, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.join("ann", GOOD)
    compared: list[str] = []
    verify = passwords._HASH.verify

    class Watched:
        def verify(self, password: str, kept: str) -> bool:
            compared.append(kept[:30])
            return verify(password, kept)

    monkeypatch.setattr(passwords, "_HASH", Watched())
    for name in ("ann", "nobody"):
        refused(Refusal.UNAUTHENTICATED, lambda name=name: people.sign_in(name, "wrong"))  # type: ignore[misc]
    assert len(set(compared)) == 1  # the same parameters
    assert len(compared) == 2


@pytest.mark.parametrize("password", ["short", "aaaaaaaaaaaa", "annabelle-x", "x" * 201])
def test_a_password_that_is_easy_to_guess_is_not_taken(people: LadderPeople, password: str) -> None:
    refused(Refusal.UNUSABLE, lambda: people.join("annabelle-x", password))
    refused(Refusal.UNAUTHENTICATED, lambda: people.sign_in("annabelle-x", password))  # nothing was made
    people.join("annabelle-x", GOOD)


def test_a_password_is_the_same_however_its_letters_are_written(people: LadderPeople) -> None:
    people.join("ann", "Straße naïve été")
    people.sign_in("ann", "Straße nai\u0308ve e\u0301te\u0301")


@pytest.mark.parametrize("sign_up", ["invitation", "closed", "open"])
def test_who_may_make_an_account_is_the_files_to_say(store: LadderStore, sign_up: Any) -> None:
    people = store.people(sign_up=sign_up)
    code = store.accounts.create_invitation("class", 5, 1).code
    if sign_up == "open":
        people.join("ann", GOOD)
        assert not next(one for one in store.accounts.people() if one.owner == "ann").approved
    else:
        refused(Refusal.FORBIDDEN, lambda: people.join("ann", GOOD))
    if sign_up == "closed":
        refused(Refusal.FORBIDDEN, lambda: people.join("bob", GOOD, code=code))
        organisers = store.accounts.create_invitation("me", 1, 1, organiser=True).code
        people.join("olga", GOOD, code=organisers)
    else:
        people.join("bob", GOOD, code=code)
        assert next(one for one in store.accounts.people() if one.owner == "bob").approved
    refused(Refusal.UNAUTHENTICATED, lambda: people.join("cleo", GOOD, code="guessed"))


def test_without_invitation_and_identity_an_account_needs_a_password(people: LadderPeople) -> None:
    assert "no password" in refused(Refusal.UNUSABLE, lambda: people.join("ann", ""))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "ANN",
        "\uff41\uff4e\uff4e",
        "\u0430nn",
        "Ann ",
        "ann\u200b",
        "\u202eann",
        "a" * 65,
        "",
        "ann/",
        "..",
        "\u0391nn",
        "\u03b1nn",
    ],
)
def test_a_name_that_looks_like_anothers_or_is_none_is_refused(people: LadderPeople, name: str) -> None:
    people.join("ann", GOOD)
    with pytest.raises(HandInRefused):
        people.join(name, GOOD)
    people.join("Ännchen", GOOD)  # the control


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("coco", "\u0441\u043e\u0441\u043e"),
        ("hop", "\u0570\u0585\u0440"),
        ("OO7", "007"),
        ("lll", "I1l"),
        ("Straße", "strasse"),
    ],
)
def test_of_two_names_of_different_alphabets_that_look_alike_the_second_is_refused(
    people: LadderPeople, first: str, second: str
) -> None:
    people.join(first, GOOD)
    with pytest.raises(HandInRefused) as caught:
        people.join(second, GOOD)
    assert caught.value.refusal in (Refusal.CONFLICT, Refusal.UNUSABLE)


def test_a_name_is_kept_composed(people: LadderPeople) -> None:
    assert people.join("A\u0308nn", GOOD).owner == "Änn"


def test_who_has_signed_in_with_a_token_chooses_a_first_password_with_all_rights_of_the_owner_alone(
    people: LadderPeople, store: LadderStore
) -> None:
    """Who signs in with a password has all of them: a token with fewer would become one with all."""
    part = store.accounts.create_token("ola", "part", "manage", 7)
    for made in (part, store.accounts.session_of(part.secret)):
        ola = account(store, made)
        refused(Refusal.FORBIDDEN, lambda one=ola: people.change_password(one, "", GOOD))  # type: ignore[misc]
    whole = store.accounts.session_of(store.accounts.create_token("ola", "whole", "organise", 7).secret)
    people.change_password(account(store, whole), "", GOOD)
    assert account(store, people.sign_in("ola", GOOD)).scope == "organise"


def test_an_organiser_who_has_signed_in_with_a_token_makes_no_link_for_their_own_new_password(
    people: LadderPeople, store: LadderStore
) -> None:
    """It would be another way to sign in, which outlasts the token."""
    lent = store.accounts.create_token("ola", "lent", "organise", 7)
    people.reset(people.make_reset(account(store, lent), "ola").code, GOOD)  # they had no other way
    lent = store.accounts.create_token("ola", "lent", "organise", 7)
    for made in (lent, store.accounts.session_of(lent.secret)):
        ola = account(store, made)
        refused(Refusal.FORBIDDEN, lambda one=ola: people.make_reset(one, "ola"))  # type: ignore[misc]
    assert people.make_reset(account(store, people.sign_in("ola", GOOD)), "ola").owner == "ola"
    assert people.make_reset(SHELL, "ola").owner == "ola"


# The end of sessions


def test_a_new_password_ends_all_other_sessions_and_no_token(people: LadderPeople, store: LadderStore) -> None:
    first = people.join("ann", GOOD)
    second = people.sign_in("ann", GOOD)
    token = store.accounts.create_token("ann", "laptop", "submit", None)
    refused(Refusal.UNAUTHENTICATED, lambda: people.change_password(account(store, second), "wrong", "x" * 12))
    assert is_good(store, first)
    people.change_password(account(store, second), GOOD, "another good one")
    assert [is_good(store, one) for one in (first, second, token)] == [False, True, True]
    refused(Refusal.UNAUTHENTICATED, lambda: people.sign_in("ann", GOOD))
    people.sign_in("ann", "another good one")


def test_a_ban_ends_sessions_and_its_end_does_not_bring_them_back(people: LadderPeople, store: LadderStore) -> None:
    session = people.join("ann", GOOD)
    token = store.accounts.create_token("ann", "laptop", "submit", None)
    people.block(OLA, "ann", "cheats")
    assert not is_good(store, session)
    assert not is_good(store, token)
    assert "cheats" in refused(Refusal.FORBIDDEN, lambda: people.sign_in("ann", GOOD))
    people.block(OLA, "ann", "")
    assert not is_good(store, session)
    assert is_good(store, token)
    people.sign_in("ann", GOOD)
    refused(Refusal.CONFLICT, lambda: people.block(OLA, "ola", "me"))


def test_a_reset_link_works_once_within_two_days_and_ends_all_access(
    people: LadderPeople, store: LadderStore, clock: Clock
) -> None:
    session = people.join("ann", GOOD)
    token = store.accounts.create_token("ann", "laptop", "submit", None)
    first = people.make_reset(OLA, "ann")
    link = people.make_reset(OLA, "ann")
    refused(Refusal.UNAUTHENTICATED, lambda: people.reset(first.code, "another good one"))  # the later one counts
    assert people.check_reset(link.code) == "ann"
    refused(Refusal.UNUSABLE, lambda: people.reset(link.code, "short"))
    made = people.reset(link.code, "another good one")
    assert account(store, made).owner == "ann"
    assert [is_good(store, one) for one in (session, token)] == [False, False]
    refused(Refusal.UNAUTHENTICATED, lambda: people.reset(link.code, "yet another one"))
    late = people.make_reset(OLA, "ann")
    clock.now += timedelta(days=2)
    refused(Refusal.UNAUTHENTICATED, lambda: people.reset(late.code, "yet another one"))
    refused(Refusal.UNKNOWN, lambda: people.make_reset(OLA, "nobody"))


# The end of an account


def test_a_deleted_account_leaves_no_name_and_its_bots_play_no_more(people: LadderPeople, store: LadderStore) -> None:
    session = people.join("ann", GOOD)
    ann = account(store, session)
    store.hand_in("ann", "anna", "c1")
    qualify(store, "anna")
    (bot,) = store.active("cup")
    refused(Refusal.UNUSABLE, lambda: people.delete(ann, "bob"))
    assert is_good(store, session)
    people.delete(ann, "ann")
    assert not is_good(store, session)
    assert list(store.active("cup")) == []
    assert store.accounts.names()[bot.owner] == f"deleted {bot.owner}"
    assert "ann" not in [one.owner for one in store.accounts.people()]
    refused(Refusal.UNAUTHENTICATED, lambda: people.sign_in("ann", GOOD))
    assert store.bot("anna").owner == f"deleted {bot.owner}"
    refused(Refusal.FORBIDDEN, lambda: store.hand_in("ola", "anna", "c2"))  # nobody takes a bot's name over
    rows = store._database.rows("SELECT * FROM owners")
    assert all("ann" not in str(value) for row in rows for value in tuple(row))


def test_the_last_organiser_cannot_delete_the_account(people: LadderPeople, store: LadderStore) -> None:
    refused(Refusal.CONFLICT, lambda: people.delete(OLA, "ola"))
    store.accounts.add_owner("olga", organiser=True)
    people.delete(OLA, "ola")


# Rights


def test_what_organisers_do_needs_all_rights_of_one(people: LadderPeople) -> None:
    people.join("ann", GOOD)
    for one in (Account("ann", "manage", "0"), Account("ola", "manage", "0", organiser=True),
                Account("ola", "organise", "0", organiser=True, bot="anna")):  # fmt: skip
        calls: list[Callable[[], object]] = [
            lambda one=one: people.make_reset(one, "ann"),  # type: ignore[misc]
            lambda one=one: people.approve(one, "ann", True, ""),  # type: ignore[misc]
            lambda one=one: people.block(one, "ann", "x"),  # type: ignore[misc]
            lambda one=one: people.steer(one, "drain", "", ""),  # type: ignore[misc]
            lambda one=one: people.annul(one, "cup", "m1", ""),  # type: ignore[misc]
            lambda one=one: people.acts(one, 5),  # type: ignore[misc]
            lambda one=one: people.suspicions(one),  # type: ignore[misc]
        ]
        for call in calls:
            refused(Refusal.FORBIDDEN, call)
    assert people.steering() == Steering()
    assert people.acts(OLA, 5) == []


def test_what_owners_do_to_their_account_needs_manage(people: LadderPeople) -> None:
    people.join("ann", GOOD)
    for one in (Account("ann", "submit", "0"), Account("ann", "manage", "0", bot="anna")):
        refused(Refusal.FORBIDDEN, lambda one=one: people.ways(one))  # type: ignore[misc]
        refused(Refusal.FORBIDDEN, lambda one=one: people.change_password(one, GOOD, GOOD))  # type: ignore[misc]
        refused(Refusal.FORBIDDEN, lambda one=one: people.delete(one, "ann"))  # type: ignore[misc]
        refused(Refusal.FORBIDDEN, lambda one=one: people.forget_identity(one, "x", "y"))  # type: ignore[misc]


# What organisers decide


def test_every_act_is_kept_with_who_and_why(people: LadderPeople, store: LadderStore) -> None:
    people.join("ann", GOOD)
    people.approve(OLA, "ann", True, "I know her")
    people.approve(OLA, "ann", True, "again")  # nothing changes
    people.block(OLA, "ann", "cheats")
    people.steer(OLA, "pause", "cup", "the rules change")
    people.steer(SHELL, "drain", "", "")
    people.steer(OLA, "notice", "", "The final is on Friday.")
    assert people.steering() == Steering(
        "The final is on Friday.", "the organiser has paused it", (("cup", "the rules change"),)
    )
    people.steer(OLA, "go on", "cup", "")
    people.steer(OLA, "go on", "", "")
    people.steer(OLA, "notice", "", "")
    assert people.steering() == Steering()
    acts = [(act.who, act.what, act.subject, act.reason) for act in people.acts(OLA, 20)][::-1]
    assert acts[:5] == [
        ("ola", "approve", "ann", "I know her"),
        ("ola", "ban", "ann", "cheats"),
        ("ola", "pause", "cup", "the rules change"),
        ("this machine's shell", "drain", "", ""),
        ("ola", "notice", "", "The final is on Friday."),
    ]
    rows = store._database.rows("SELECT who, subject FROM acts WHERE what = 'ban'")
    assert all(value.startswith("o") and len(value) == 17 for value in tuple(rows[0]))  # ids, not names
    refused(Refusal.UNKNOWN, lambda: people.steer(OLA, "pause", "nowhere", ""))
    refused(Refusal.UNUSABLE, lambda: people.steer(OLA, "pause", "", ""))
    refused(Refusal.UNUSABLE, lambda: people.steer(OLA, "notice", "", "x" * 501))


def test_a_match_that_is_annulled_waits_for_the_process_that_plays(people: LadderPeople, store: LadderStore) -> None:
    before = store.change_count()
    people.annul(OLA, "cup", "cup-000001", "a power cut")
    assert store.change_count() > before
    ((number, reason, what),) = people.waiting_acts()
    assert (reason, what["division"], what["match_id"]) == ("a power cut", "cup", "cup-000001")
    assert store.accounts.names()[what["by"]] == "ola"
    assert people.acts(OLA, 1)[0].state == ""
    people.done(number, "no such match")
    assert people.waiting_acts() == []
    assert people.acts(OLA, 1)[0].state == "no such match"
    for bad in ("../x", "m 1", "", "é"):
        refused(Refusal.UNUSABLE, lambda bad=bad: people.annul(OLA, "cup", bad, ""))  # type: ignore[misc]


# Many accounts of one person


def test_of_an_owners_bots_three_play_in_a_division_and_the_next_one_moves_up(
    people: LadderPeople, store: LadderStore
) -> None:
    people.join("ann", GOOD)
    for number in range(5):
        store.hand_in("ann", f"anna{number}", f"c{number}")
        qualify(store, f"anna{number}")
    assert [bot.name for bot in store.active("cup")] == ["anna0", "anna1", "anna2"]
    waiting = store.bot("anna3")
    assert (waiting.paused_by, waiting.paused) == (
        "limit",
        "cup: 3 of its owner's bots play there, and no more may",
    )
    assert store.bot("anna2").paused == ""
    store.pause("anna1", "", "owner")
    assert [bot.name for bot in store.active("cup")] == ["anna0", "anna2", "anna3"]
    assert store.bot("anna3").paused == ""
    store.hand_in("ola", "olas", "c0")
    qualify(store, "olas")
    assert len(store.active("cup")) == 4  # another owner has places of its own


def test_hand_ins_of_a_day_are_counted_by_owner(people: LadderPeople, store: LadderStore, clock: Clock) -> None:
    people.join("ann", GOOD)
    for number in range(3):
        store.hand_in("ann", "anna", f"c{number}")
    store.hand_in("ann", "anna", "c0")
    assert (store.count_sent("ann"), store.count_sent("ola")) == (4, 0)
    clock.now += timedelta(days=1)
    assert store.count_sent("ann") == 0


def test_an_approval_reaches_the_roster_and_is_a_change(people: LadderPeople, store: LadderStore) -> None:
    people.join("ann", GOOD)
    store.hand_in("ann", "anna", "c1")
    qualify(store, "anna")
    assert [bot.approved for bot in store.active("cup")] == [False]
    before = store.change_count()
    assert people.approve(OLA, "ann", True, "").approved
    assert store.change_count() > before
    assert [bot.approved for bot in store.active("cup")] == [True]


def test_the_same_code_of_several_owners_is_told_whatever_its_name(people: LadderPeople, store: LadderStore) -> None:
    for name in ("ann", "bob", "cleo"):
        people.join(name, GOOD)
    store.hand_in("ann", "anna", "c1", code="same")
    store.hand_in("ann", "anne", "c2", code="same")
    assert people.suspicions(OLA) == []  # one owner
    store.hand_in("bob", "bobs", "c3", code="same")
    store.hand_in("cleo", "cleos", "c4", code="")
    (found,) = people.suspicions(OLA)
    assert (found.owners, found.bots) == (("ann", "bob"), ("anna", "anne", "bobs"))


# A database of before


def test_a_database_of_the_first_version_is_migrated_with_its_owners_approved(tmp_path: Path) -> None:
    path = tmp_path / "ladder.db"
    with sqlite3.connect(path) as db:
        db.executescript(f"{_V1} PRAGMA user_version = 1;")
        for name, organiser in (("ann", 0), ("\u0441\u043e\u0441\u043e", 0), ("ola", 1)):
            db.execute(
                "INSERT INTO owners (name, folded, drawn, organiser, joined) VALUES (?, ?, ?, ?, '2026-01-01')",
                [name, name, name, organiser],
            )
        db.execute("INSERT INTO bots (owner_id, name, folded, drawn, created) VALUES (1, 'anna', 'anna', 'anna', '')")
    db.close()
    with LadderStore(path, tmp_path / "content") as store:
        assert all(one.approved for one in store.accounts.people())
        names = store.accounts.names()
        assert sorted(names.values()) == ["ann", "ola", "\u0441\u043e\u0441\u043e"]
        assert all(id_.startswith("o") and len(id_) == 17 for id_ in names)
        people = store.people(sign_up="open")
        assert "looks like" in refused(Refusal.CONFLICT, lambda: people.join("coco", GOOD))
        store.hand_in("ann", "anna", "c1")
        token = store.accounts.create_token("ann", "x", "manage", None)
        session = store.accounts.session_of(token.secret)
        store.accounts.revoke_token("ann", token.token.id)
        refused(Refusal.UNAUTHENTICATED, lambda: store.accounts.account(session.secret))
