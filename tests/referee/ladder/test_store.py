"""Owners, tokens, bots and versions in `ladder.db`."""

import resource
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlite_utils import Database

from leaderboard.web.hand_ins import HandInRefused, NewToken, Refusal, VersionState
from referee.errors import PlatformError
from referee.ladder import database as module
from referee.ladder.schema import SCHEMA_VERSION
from referee.ladder.store import LadderStore
from referee.wire.remote_bots import token_digest
from tests.referee.ladder.clock import Clock


@pytest.fixture
def store(tmp_path: Path, clock: Clock) -> Iterator[LadderStore]:
    with LadderStore(tmp_path / "ladder.db", tmp_path / "content", reserved=["greedy"], clock=clock) as made:
        made.accounts.add_owner("ann")
        made.accounts.add_owner("bob")
        yield made


def refused(refusal: Refusal, call: Callable[[], object]) -> str:
    """The sentence with which it is refused, and what to do."""
    with pytest.raises(HandInRefused) as caught:
        call()
    assert caught.value.refusal is refusal
    assert caught.value.next_step
    return f"{caught.value}; {caught.value.next_step}"


def join(store: LadderStore, code: str, name: str) -> NewToken:
    """The session of a new account that was made with an invitation."""
    return store.people().join(name, "", code=code)


def id_of(store: LadderStore, bot: str, number: int) -> int:
    return next(one.id for one in store.steps.waiting() if (one.bot, one.number) == (bot, number))


def hand_in(store: LadderStore, content: str, bot: str = "anna", owner: str = "ann") -> VersionState:
    return store.hand_in(owner, bot, content)[0]


def qualify(store: LadderStore, bot: str, number: int, *divisions: str) -> int:
    """Through all steps; its id."""
    version_id = id_of(store, bot, number)
    store.steps.begin_step(version_id, "checked", "checking", 30.0)
    store.steps.checked(version_id, "1.0", divisions)
    store.steps.end_step(version_id, "checked", "done", 0.1)
    store.steps.begin_step(version_id, "qualified", "qualifying", 60.0)
    for division in divisions:
        store.steps.qualified(version_id, division)
    store.steps.end_step(version_id, "qualified", "done", 2.0)
    return version_id


def playing(store: LadderStore, division: str = "toy") -> list[tuple[str, int]]:
    return [(bot.name, bot.version) for bot in store.active(division)]


# Accounts


def test_a_token_is_good_until_it_is_revoked(store: LadderStore) -> None:
    made = store.accounts.create_token("ann", "laptop", "submit", None)
    account = store.accounts.account(made.secret)
    assert (account.owner, account.scope, account.bot, account.organiser) == ("ann", "submit", "", False)
    assert [token.label for token in store.accounts.tokens("ann")] == ["laptop"]
    store.accounts.revoke_token("ann", made.token.id)
    assert "revoked" in refused(Refusal.UNAUTHENTICATED, lambda: store.accounts.account(made.secret))
    assert store.accounts.tokens("ann") == []


def test_the_secret_of_a_token_is_stored_nowhere(store: LadderStore, tmp_path: Path) -> None:
    made = store.accounts.create_token("ann", "laptop", "submit", None)
    code = store.accounts.create_invitation("class", 1, 1).code
    store.close()
    written = b"".join(path.read_bytes() for path in tmp_path.glob("ladder.db*"))
    assert made.secret.encode() not in written
    assert code.encode() not in written


def test_nobody_revokes_the_token_of_another(store: LadderStore) -> None:
    made = store.accounts.create_token("ann", "", "submit", None)
    for wrong in (made.token.id, "99", "x", "9" * 40, "-1"):
        refused(Refusal.UNKNOWN, lambda wrong=wrong: store.accounts.revoke_token("bob", wrong))  # type: ignore[misc]
    assert store.accounts.account(made.secret)


def test_a_token_that_was_seen_to_be_expired_stays_so_when_the_clock_is_set_back(
    store: LadderStore, clock: Clock
) -> None:
    made = store.accounts.create_token("ann", "", "submit", 1)
    clock.move(days=1)
    assert "expired at 2026-11-30" in refused(Refusal.UNAUTHENTICATED, lambda: store.accounts.account(made.secret))
    clock.move(days=-1)
    refused(Refusal.UNAUTHENTICATED, lambda: store.accounts.account(made.secret))


def test_a_token_can_be_good_for_one_bot(store: LadderStore) -> None:
    hand_in(store, "c1")
    made = store.accounts.create_token("ann", "", "submit", None, bot="anna")
    assert store.accounts.account(made.secret).bot == "anna"
    refused(Refusal.UNKNOWN, lambda: store.accounts.create_token("bob", "", "submit", None, bot="anna"))


def test_a_blocked_owner_may_do_nothing_and_has_no_bot_on_the_table(store: LadderStore) -> None:
    made = store.accounts.create_token("ann", "", "submit", None)
    hand_in(store, "c1")
    qualify(store, "anna", 1, "toy")
    before = store.change_count()
    assert store.accounts.block("ann", "threw stones").blocked == "threw stones"
    assert "threw stones" in refused(Refusal.FORBIDDEN, lambda: store.accounts.account(made.secret))
    assert playing(store) == []
    assert store.change_count() != before
    store.accounts.block("ann", "")
    assert store.accounts.account(made.secret)
    assert playing(store) == [("anna", 1)]


def test_an_unknown_token_is_refused(store: LadderStore) -> None:
    for wrong in ("", "x", "crosstown_", "\ud800", "é" * 100_000):
        refused(Refusal.UNAUTHENTICATED, lambda wrong=wrong: store.accounts.account(wrong))  # type: ignore[misc]


def test_when_a_token_was_used_last_is_kept(store: LadderStore, clock: Clock) -> None:
    made = store.accounts.create_token("ann", "", "submit", None)
    clock.move(hours=1)
    store.accounts.account(made.secret)
    clock.move(seconds=10)
    store.accounts.account(made.secret)
    assert store.accounts.tokens("ann")[0].last_used.startswith("2026-11-29T13:00:00")
    assert {person.owner: person.last_seen[:13] for person in store.accounts.people()} == {
        "ann": "2026-11-29T13",
        "bob": "",
    }


def test_an_invitation_makes_as_many_accounts_as_it_says(store: LadderStore) -> None:
    made = store.accounts.create_invitation("class", 2, 7)
    assert store.accounts.invitation(made.code).uses_left == 2
    session = join(store, made.code, "cleo")
    assert (session.owner, session.token.kind, session.token.scope) == ("cleo", "session", "manage")
    join(store, made.code, "dan")
    assert "used already" in refused(Refusal.UNAUTHENTICATED, lambda: join(store, made.code, "eve"))
    assert store.accounts.invitations() == []


def test_an_invitation_is_not_used_up_by_a_name_that_is_refused(store: LadderStore) -> None:
    made = store.accounts.create_invitation("class", 1, 7)
    assert "taken" in refused(Refusal.CONFLICT, lambda: join(store, made.code, "ann"))
    assert "looks like 'ann'" in refused(Refusal.CONFLICT, lambda: join(store, made.code, "ANN"))
    refused(Refusal.UNUSABLE, lambda: join(store, made.code, ""))
    assert join(store, made.code, "cleo").owner == "cleo"


def test_an_invitation_expires_and_can_be_revoked(store: LadderStore, clock: Clock) -> None:
    one, other = store.accounts.create_invitation("a", 1, 1), store.accounts.create_invitation("b", 1, 1)
    store.accounts.revoke_invitation(one.invitation.id)
    refused(Refusal.UNKNOWN, lambda: store.accounts.revoke_invitation(one.invitation.id))
    clock.move(days=2)
    assert "expired" in refused(Refusal.UNAUTHENTICATED, lambda: store.accounts.invitation(other.code))
    refused(Refusal.UNUSABLE, lambda: store.accounts.create_invitation("c", 0, 1))
    refused(Refusal.UNUSABLE, lambda: store.accounts.create_invitation("c", 1, 0))


def test_two_people_who_use_the_last_place_of_an_invitation_at_once_are_not_both_let_in(store: LadderStore) -> None:
    made = store.accounts.create_invitation("class", 1, 7)
    outcomes = at_once(*(lambda name=name: join(store, made.code, name) for name in ("cleo", "dan", "eve", "fay")))
    assert sum(not isinstance(outcome, HandInRefused) for outcome in outcomes) == 1
    assert len(store.accounts.people()) == 3


def at_once(*calls: Callable[[], object]) -> list[object]:
    """What each returns or raises, begun together in threads of their own."""
    outcomes: list[object] = []
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], object]) -> None:
        barrier.wait()
        try:
            outcomes.append(call())
        except HandInRefused as error:
            outcomes.append(error)

    threads = [threading.Thread(target=run, args=[call]) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes


def test_the_link_for_the_first_organiser_works_once(store: LadderStore) -> None:
    first, second = store.accounts.organiser_link(), store.accounts.organiser_link()
    refused(Refusal.UNAUTHENTICATED, lambda: join(store, first, "otto"))  # the later one took its place
    made = join(store, second, "otto")
    account = store.accounts.account(made.secret)
    assert account.organiser
    assert account.may("organise")
    assert store.accounts.organiser_link() == ""


# Names


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a/b", "has '/'"),
        ("..", "starts with '.'"),
        ("a?b", "has '?'"),
        ("a\x00b", "control"),
        ("a\u202eb", "direction"),
        ("", "0"),
        ("x" * 65, "65"),
        ("boт", "mixes Latin and Cyrillic"),
    ],
)
def test_a_name_that_cannot_stand_in_an_address_is_refused(store: LadderStore, name: str, why: str) -> None:
    assert why in refused(Refusal.UNUSABLE, lambda: store.hand_in("ann", name, "c1"))


@pytest.mark.parametrize("name", ["Anna", "ａnna", "ΑΝΝΑ", "ann\u0430", "ANNA"])  # noqa: RUF001
def test_a_name_that_looks_like_that_of_another_bot_is_refused(store: LadderStore, name: str) -> None:
    hand_in(store, "c1", "anna")
    with pytest.raises(HandInRefused) as caught:
        store.hand_in("bob", name, "c2")
    assert caught.value.refusal in (Refusal.CONFLICT, Refusal.UNUSABLE)
    assert [bot.name for bot in store.bots()] == ["anna"]


def test_a_name_stays_with_its_first_owner(store: LadderStore) -> None:
    hand_in(store, "c1", "anna")
    assert "belongs to 'ann'" in refused(Refusal.FORBIDDEN, lambda: store.hand_in("bob", "anna", "c2"))


def test_the_name_of_a_house_bot_cannot_be_taken(store: LadderStore) -> None:
    assert "taken" in refused(Refusal.CONFLICT, lambda: store.hand_in("ann", "greedy", "c1"))
    assert "looks like" in refused(Refusal.CONFLICT, lambda: store.hand_in("ann", "GREEDY", "c1"))


def test_of_two_owners_who_take_a_name_at_once_one_has_it(store: LadderStore) -> None:
    outcomes = at_once(lambda: store.hand_in("ann", "new", "c1"), lambda: store.hand_in("bob", "new", "c2"))
    assert sum(isinstance(outcome, HandInRefused) for outcome in outcomes) == 1
    assert len(store.bots()) == 1
    assert len(store.versions("new")) == 1


# Versions


def test_each_hand_in_of_new_content_is_the_next_version(store: LadderStore) -> None:
    assert [hand_in(store, content).number for content in ("c1", "c2", "c3")] == [1, 2, 3]
    assert [version.number for version in store.versions("anna")] == [3, 2, 1]
    assert store.version("anna", 2).content == "c2"
    assert store.bot("anna").versions == 3
    refused(Refusal.UNKNOWN, lambda: store.version("anna", 4))
    refused(Refusal.UNKNOWN, lambda: store.version("nobody", 1))
    refused(Refusal.UNKNOWN, lambda: store.versions("nobody"))


def test_the_same_content_twice_is_one_version(store: LadderStore) -> None:
    first, created = store.hand_in("ann", "anna", "c1", key="k1", digest=b"1")
    again, anew = store.hand_in("ann", "anna", "c1", key="k2", digest=b"2")
    assert created
    assert not anew
    assert first == again


def test_a_client_that_tries_again_with_its_key_gets_its_version(store: LadderStore) -> None:
    first, _ = store.hand_in("ann", "anna", "c1", key="k", digest=b"1")
    store.hand_in("ann", "anna", "c2", key="other", digest=b"2")
    again, created = store.hand_in("ann", "anna", "c1", key="k", digest=b"1")
    assert not created
    assert again.number == first.number
    known = store.known_key("ann", "k")
    assert known is not None
    assert known[0].number == 1
    assert known[1] == b"1"
    assert store.known_key("bob", "k") is None
    assert "other content" in refused(
        Refusal.CONFLICT, lambda: store.hand_in("ann", "anna", "c3", key="k", digest=b"3")
    )
    refused(Refusal.UNUSABLE, lambda: store.hand_in("ann", "anna", "c3", key="k" * 201))


def test_two_submits_of_one_content_at_once_are_one_version(store: LadderStore) -> None:
    outcomes = at_once(*(lambda: store.hand_in("ann", "anna", "c1") for _ in range(4)))
    assert sorted(outcome[1] for outcome in outcomes if isinstance(outcome, tuple)) == [False, False, False, True]
    assert len(store.versions("anna")) == 1


def test_two_submits_of_different_content_at_once_are_two_versions(store: LadderStore) -> None:
    at_once(*(lambda content=content: store.hand_in("ann", "anna", content) for content in "abcd"))
    assert sorted(version.number for version in store.versions("anna")) == [1, 2, 3, 4]


def test_rejected_content_that_is_handed_in_again_is_tried_again(store: LadderStore) -> None:
    hand_in(store, "c1")
    store.steps.begin_step(id_of(store, "anna", 1), "checked", "checking", 1.0)
    store.steps.reject(id_of(store, "anna", 1), "checked", 0.1, "no bot.toml", "add one")
    rejected = store.version("anna", 1)
    assert (rejected.status, rejected.reason, rejected.next_step) == ("rejected", "no bot.toml", "add one")
    assert [step.state for step in rejected.steps] == ["done", "failed", "skipped", "skipped", "skipped"]
    again, created = store.hand_in("ann", "anna", "c1")
    assert (again.number, again.status, again.reason, created) == (1, "received", "", False)
    qualify(store, "anna", 1, "toy")
    assert playing(store) == [("anna", 1)]


def test_steps_have_their_times_and_limits(store: LadderStore, clock: Clock) -> None:
    hand_in(store, "c1")
    version_id = id_of(store, "anna", 1)
    assert store.steps.begin_step(version_id, "built", "building", 600.0) == 1
    clock.move(seconds=3)
    store.steps.end_step(version_id, "built", "done", 3.0, "with go 1.24")
    step = store.version("anna", 1).steps[2]
    assert (step.name, step.state, step.limit_s, step.detail) == ("built", "done", 600.0, "with go 1.24")
    assert (step.began, step.ended) == ("2026-11-29T12:00:00.000Z", "2026-11-29T12:00:03.000Z")
    assert store.steps.begin_step(version_id, "built", "building", 600.0) == 2


def test_the_newest_qualified_version_plays_and_the_one_before_is_inactive(store: LadderStore) -> None:
    hand_in(store, "c1")
    qualify(store, "anna", 1, "toy", "other")
    before = store.change_count()
    hand_in(store, "c2")
    qualify(store, "anna", 2, "toy", "other")
    assert store.change_count() != before
    assert playing(store) == playing(store, "other") == [("anna", 2)]
    assert [version.status for version in store.versions("anna")] == ["active", "inactive"]
    assert store.bot("anna").active == 2


def test_the_older_version_plays_on_in_a_division_where_the_newer_one_has_still_to_qualify(store: LadderStore) -> None:
    hand_in(store, "c1")
    qualify(store, "anna", 1, "toy", "other", "third")
    hand_in(store, "c2")
    version_id = id_of(store, "anna", 2)
    store.steps.checked(version_id, "2", ["toy", "other"])
    store.steps.qualified(version_id, "toy")
    assert store.version("anna", 2).status == "active"
    assert (playing(store, "toy"), playing(store, "other"), playing(store, "third")) == (
        [("anna", 2)],
        [("anna", 1)],
        [],  # which the newer one does not play
    )
    assert [(one.number, left) for one, left in store.steps.qualifying()] == [(2, ("other",))]
    store.steps.not_qualified(version_id, "other", "illegal action")
    assert playing(store, "other") == []
    assert store.steps.failed_divisions(version_id) == {"other": "illegal action"}
    assert store.version("anna", 2).divisions == ("toy",)


def test_a_version_that_qualifies_late_does_not_displace_a_later_one(store: LadderStore) -> None:
    hand_in(store, "slow")
    hand_in(store, "quick")
    qualify(store, "anna", 2, "toy")
    qualify(store, "anna", 1, "toy")
    assert playing(store) == [("anna", 2)]
    assert store.version("anna", 1).status == "inactive"


def test_any_qualified_version_can_be_made_active_again(store: LadderStore) -> None:
    for content in ("c1", "c2"):
        qualify(store, "anna", hand_in(store, content).number, "toy")
    hand_in(store, "c3")  # on its way when the older one is chosen
    assert store.activate("anna", 1).status == "active"
    assert playing(store) == [("anna", 1)]
    qualify(store, "anna", 3, "toy")
    assert playing(store) == [("anna", 1)]
    qualify(store, "anna", hand_in(store, "c4").number, "toy")
    assert playing(store) == [("anna", 4)]
    refused(Refusal.UNKNOWN, lambda: store.activate("anna", 9))


def test_content_that_qualified_before_plays_again_when_it_is_handed_in_again(store: LadderStore) -> None:
    for content in ("c1", "c2"):
        qualify(store, "anna", hand_in(store, content).number, "toy")
    again, created = store.hand_in("ann", "anna", "c1")
    assert not created
    assert again.status == "active"
    assert playing(store) == [("anna", 1)]


def test_a_version_that_has_not_qualified_cannot_be_made_active(store: LadderStore) -> None:
    hand_in(store, "c1")
    assert "received" in refused(Refusal.CONFLICT, lambda: store.activate("anna", 1))
    refused(Refusal.CONFLICT, lambda: store.retire("anna", 1))
    store.steps.reject(id_of(store, "anna", 1), "received", None, "x", "y")
    refused(Refusal.CONFLICT, lambda: store.activate("anna", 1))


def test_a_retired_version_plays_no_more_and_can_come_back(store: LadderStore) -> None:
    hand_in(store, "c1")
    qualify(store, "anna", 1, "toy")
    assert store.retire("anna", 1).status == "retired"
    assert playing(store) == []
    assert store.activate("anna", 1).status == "active"
    assert playing(store) == [("anna", 1)]


def test_the_roster_says_how_often_a_version_was_made_active(store: LadderStore, tmp_path: Path) -> None:
    hand_in(store, "c1")
    qualify(store, "anna", 1, "toy")
    (bot,) = store.active("toy")
    assert (bot.activation, bot.folder) == (1, tmp_path / "content" / "c1" / "bot")
    assert store.accounts.names()[bot.owner] == "ann"
    store.paused("toy", bot, "3 crashes in a row")
    shown = store.bot("anna")
    assert shown.paused == "toy: 3 crashes in a row"
    assert shown.paused_by == "breaker"
    assert shown.next_step
    store.resume("anna", "owner")
    (bot,) = store.active("toy")
    assert bot.activation == 2
    assert store.bot("anna").paused == ""


def test_a_pause_of_the_organiser_is_not_lifted_by_the_owner(store: LadderStore) -> None:
    hand_in(store, "c1")
    qualify(store, "anna", 1, "toy")
    assert store.pause("anna", "", "owner").paused == "paused by its owner"
    assert playing(store) == []
    store.resume("anna", "owner")
    assert playing(store) == [("anna", 1)]
    store.pause("anna", "copied", "organiser")
    store.pause("anna", "", "owner")
    assert "copied" in refused(Refusal.FORBIDDEN, lambda: store.resume("anna", "owner"))
    store.resume("anna", "organiser")
    assert playing(store) == [("anna", 1)]


def test_a_bot_that_is_handed_in_for_other_games_is_checked_again(store: LadderStore) -> None:
    hand_in(store, "c1")
    qualify(store, "anna", 1, "toy", "other")
    again, _ = store.hand_in("ann", "anna", "c1", games=["toy"])
    assert again.status == "received"
    assert store.steps.waiting()[0].games == ("toy",)
    qualify(store, "anna", 1, "toy")
    assert (playing(store, "toy"), playing(store, "other")) == ([("anna", 1)], [])


def test_a_remote_bot_has_no_files(store: LadderStore) -> None:
    store.hand_in("ann", "afar", "remote 1", remote=True)
    qualify(store, "afar", 1, "toy")
    (bot,) = store.active("toy")
    assert bot.remote
    assert bot.content == ""
    assert bot.folder == Path()
    refused(Refusal.CONFLICT, lambda: store.hand_in("ann", "afar", "c1"))


# The file


def test_what_was_written_is_there_after_another_start(store: LadderStore, tmp_path: Path) -> None:
    hand_in(store, "c1")
    qualify(store, "anna", 1, "toy")
    store.close()
    with LadderStore(tmp_path / "ladder.db", tmp_path / "content") as again:
        assert playing(again) == [("anna", 1)]


def test_the_server_and_the_runner_each_have_a_store_on_the_file(store: LadderStore, tmp_path: Path) -> None:
    with LadderStore(tmp_path / "ladder.db", tmp_path / "content") as runner:
        before = runner.change_count()
        hand_in(store, "c1")
        qualify(runner, "anna", 1, "toy")
        assert playing(store) == [("anna", 1)]
        assert store.change_count() != before


def test_two_processes_that_make_the_file_at_once_both_get_it(tmp_path: Path) -> None:
    def start() -> object:
        return LadderStore(tmp_path / "new.db", tmp_path)

    for made in at_once(*[start] * 6):
        assert isinstance(made, LadderStore)
        made.close()


def test_a_file_that_another_process_makes_meanwhile_is_taken_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, others = Database.table_names, [tmp_path / "new.db"]

    def another_makes_it_then(db: Database) -> Any:
        found = look(db)
        while others:
            LadderStore(others.pop(), tmp_path).close()
        return found

    monkeypatch.setattr(Database, "table_names", another_makes_it_then)
    LadderStore(tmp_path / "new.db", tmp_path).close()
    assert others == []


def test_a_second_store_of_this_process_does_not_end_the_locks_of_the_first(store: LadderStore, tmp_path: Path) -> None:
    """Another process that closes the file would take the log away otherwise, with what is written later."""
    path = tmp_path / "ladder.db"
    assert len(store.accounts.people()) == 2
    LadderStore(path, tmp_path / "content").close()
    look = f"import sqlite3; db = sqlite3.connect({str(path)!r}); db.execute('SELECT 1 FROM owners'); db.close()"
    subprocess.run([sys.executable, "-c", look], check=True)
    assert (tmp_path / "ladder.db-wal").exists()


CLOSED_WHILE_READ = """
import sys, threading, time
from pathlib import Path
from leaderboard.web.hand_ins import HandInRefused
from referee.ladder.store import LadderStore

sys.setswitchinterval(1e-5)
for number in range(30):
    refused, store = [], LadderStore(Path(sys.argv[1], f"{number}.db"), Path(sys.argv[1]))
    store.accounts.add_owner("ann")

    def use(call):
        try:
            while True:
                call()
        except HandInRefused as error:
            refused.append(error)

    calls = (store.steps.waiting, store.steps.waiting, store.note_roster_change)
    threads = [threading.Thread(target=use, args=[call]) for call in calls]
    for thread in threads:
        thread.start()
    time.sleep(0.002)
    store.close()
    for thread in threads:
        thread.join()
    assert len(refused) == len(threads)
"""


def test_a_store_may_be_closed_while_threads_still_use_it(tmp_path: Path) -> None:
    """A task that is cancelled leaves its call behind in a thread. In a process of its own, for it may crash."""
    done = subprocess.run([sys.executable, "-c", CLOSED_WHILE_READ, str(tmp_path)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_whose_mode_another_process_changes_now_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite says at once that it is locked."""
    refusals, execute = [1, 1, 1], Database.execute

    def held_at_first(db: Database, sql: str, *more: Any) -> Any:
        if "journal_mode" in sql and refusals:
            refusals.pop()
            error = sqlite3.OperationalError("database is locked")
            error.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise error
        return execute(db, sql, *more)

    monkeypatch.setattr(Database, "execute", held_at_first)
    LadderStore(tmp_path / "new.db", tmp_path).close()
    assert refusals == []


def test_a_database_that_another_program_holds_is_a_sentence_and_nothing_is_changed(
    store: LadderStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.close()
    monkeypatch.setattr(module, "BUSY_TIMEOUT_S", 0.05)
    with LadderStore(tmp_path / "ladder.db", tmp_path / "content") as again:
        other = sqlite3.connect(tmp_path / "ladder.db", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert "another program holds" in refused(Refusal.UNAVAILABLE, lambda: hand_in(again, "c1"))
        assert again.bots() == []  # readers do not wait
        other.execute("ROLLBACK")
        other.close()
        assert hand_in(again, "c1").number == 1


def test_a_full_disk_is_a_sentence_and_nothing_is_changed(store: LadderStore, tmp_path: Path) -> None:
    hand_in(store, "c1")
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, ((tmp_path / "ladder.db-wal").stat().st_size, most))
    try:
        sentence = refused(Refusal.UNAVAILABLE, lambda: hand_in(store, "c2"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    assert "full" in sentence
    assert [version.number for version in store.versions("anna")] == [1]
    assert hand_in(store, "c2").number == 2


def test_a_damaged_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "ladder.db"
    path.write_bytes(b"not a database, but somebody's only copy" * 100)
    before = path.read_bytes()
    with pytest.raises(PlatformError, match="damaged") as caught:
        LadderStore(path, tmp_path)
    assert "backup" in caught.value.next_step
    assert path.read_bytes() == before


def test_a_database_of_a_newer_version_is_left_as_it_is(store: LadderStore, tmp_path: Path) -> None:
    store.close()
    connection = sqlite3.connect(tmp_path / "ladder.db")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    with pytest.raises(PlatformError, match="version"):
        LadderStore(tmp_path / "ladder.db", tmp_path)


@pytest.mark.parametrize("place", ["missing/ladder.db", "."])
def test_a_database_that_cannot_be_opened_is_a_sentence(tmp_path: Path, place: str) -> None:
    rights = tmp_path.stat().st_mode
    with pytest.raises(PlatformError, match="cannot be opened"):
        LadderStore(tmp_path / place, tmp_path)
    assert tmp_path.stat().st_mode == rights


# Remote bots


def connection(store: LadderStore, name: str = "afar", owner: str = "ann") -> str:
    return store.open_connection(owner, name).secret


def test_a_connection_makes_the_bot_and_replaces_the_one_before(store: LadderStore) -> None:
    first, before = connection(store), store.change_count()
    assert (store.bot("afar").remote, store.bot("afar").versions, store.versions("afar")) == (True, 0, [])
    second = connection(store)
    assert store.change_count() > before
    digests = store.accounts.connections()
    assert digests == {"afar": [token_digest(second).hex()]}
    assert "was revoked" in refused(Refusal.UNAUTHENTICATED, lambda: store.accounts.account(first))
    assert "good for nothing else" in refused(Refusal.FORBIDDEN, lambda: store.accounts.account(second))
    assert "belongs to 'ann'" in refused(Refusal.FORBIDDEN, lambda: connection(store, owner="bob"))
    hand_in(store, "c1")
    assert "is handed in as files" in refused(Refusal.CONFLICT, lambda: connection(store, "anna"))


def test_connections_end_with_the_token_and_with_a_block_of_the_owner(store: LadderStore, clock: Clock) -> None:
    connection(store)
    store.accounts.block("ann", "floods")
    assert store.accounts.connections() == {}
    store.accounts.block("ann", "")
    assert store.accounts.connections().keys() == {"afar"}
    clock.move(days=366)
    assert store.accounts.connections() == {}
    connection(store)
    (token,) = store.accounts.tokens("ann")
    before = store.change_count()
    store.accounts.revoke_token("ann", token.id)
    assert store.accounts.connections() == {}
    assert store.change_count() > before


def test_what_a_remote_bot_says_in_hello_is_its_version(store: LadderStore, clock: Clock) -> None:
    connection(store)
    store.has_connected("afar", "1", [])
    store.has_connected("afar", "1", [])
    (version,) = store.versions("afar")
    assert (version.number, version.label, version.status) == (1, "1", "received")
    qualify(store, "afar", 1, "toy")
    (bot,) = store.active("toy")
    assert (bot.remote, bot.content) == (True, "")
    store.has_connected("afar", "2", [])
    qualify(store, "afar", 2, "toy")
    assert playing(store, "toy") == [("afar", 2)]
    store.has_connected("afar", "1", [])
    assert playing(store, "toy") == [("afar", 1)], "what connects plays"
    store.retire("afar", 1)
    store.has_connected("afar", "1", [])
    assert store.version("afar", 1).status == "retired"


def test_a_version_that_was_rejected_is_tried_again_when_its_bot_is_connected_anew(
    store: LadderStore, clock: Clock
) -> None:
    connection(store)
    clock.move(seconds=5)
    store.has_connected("afar", "1", [])
    store.steps.begin_step(id_of(store, "afar", 1), "qualified", "qualifying", None)
    store.steps.reject(id_of(store, "afar", 1), "qualified", 1.0, "it crashed", "correct it")
    clock.move(seconds=5)
    store.has_connected("afar", "1", [])
    assert store.version("afar", 1).status == "rejected"
    connection(store)
    store.has_connected("afar", "1", [])
    assert store.version("afar", 1).status == "received"


def test_a_version_that_waits_is_given_up_when_another_one_connects(store: LadderStore) -> None:
    connection(store)
    store.has_connected("afar", "1", [])
    store.has_connected("afar", "2", ["toy"])
    assert [(one.number, one.label, one.games) for one in store.steps.waiting()] == [(2, "2", ("toy",))]
    assert "connected as another version" in store.version("afar", 1).reason
