"""Uploads, rights and logs: what `/api/v1` and the pages ask of a ladder."""

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from leaderboard.web.hand_ins import HandInRefused, HandIns, NewToken, Refusal
from referee.games.registry import get_game
from referee.ladder import hand_ins as module
from referee.ladder.config import LadderConfig
from referee.ladder.hand_ins import LadderHandIns
from referee.ladder.intake import Places
from referee.ladder.store import LadderStore
from referee.process.manifest import load_manifest
from referee.process.sources import read_sources
from referee.process.store import content_of
from referee.run.head import head_file
from referee.run.journal import CREATED, FORMAT, Journal, JournalText, read_journal
from referee.tournament.bot_sections import RemoteConfig
from referee.wire import Listen
from referee.wire.remote_bots import token_digest
from tests.referee.ladder.handing_in import Sign, archive, bot_files, send


def refused(refusal: Refusal, call: Callable[[], object]) -> str:
    with pytest.raises(HandInRefused) as caught:
        call()
    assert caught.value.refusal is refusal, caught.value
    assert caught.value.next_step
    return f"{caught.value}; {caught.value.next_step}"


def uploads(config: LadderConfig) -> list[Path]:
    return list(Places(config.data).uploads.iterdir())


def test_it_is_what_the_web_server_asks_for(hand_ins: LadderHandIns) -> None:
    served: HandIns = hand_ins
    assert served.title == "test"
    assert (served.limits.upload_bytes, served.limits.files) == (1 << 20, 100)


def test_a_hand_in_is_kept_by_the_hash_of_its_files(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, tmp_path: Path
) -> None:
    done = send(hand_ins, sign(), archive(bot_files()))
    assert done.created
    assert (done.version.number, done.version.status, done.version.owner) == (1, "received", "ann")
    folder = tmp_path / "bot"
    folder.mkdir()
    for name, content in bot_files().items():
        (folder / name).write_text(str(content))
    assert done.version.content == content_of(folder, read_sources(folder, load_manifest(folder)))
    assert (Places(config.data).content / done.version.content / "bot" / "bot.py").is_file()
    assert uploads(config) == []


def test_the_same_files_packed_otherwise_are_the_same_version(hand_ins: LadderHandIns, sign: Sign) -> None:
    ann = sign()
    first = send(hand_ins, ann, archive(bot_files()))
    again = send(hand_ins, ann, archive({f"folder/{name}": content for name, content in bot_files().items()}))
    assert (again.version.number, again.created) == (first.version.number, False)


def test_a_client_that_lost_the_answer_gets_the_same_version_with_its_key(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig
) -> None:
    ann, data = sign(), archive(bot_files())
    first = send(hand_ins, ann, data, key="k1")
    again = send(hand_ins, ann, data, key="k1")
    assert (again.version.number, again.created) == (first.version.number, False)
    other = archive(bot_files(version="2"))
    assert "other content" in refused(Refusal.CONFLICT, lambda: send(hand_ins, ann, other, key="k1"))
    assert uploads(config) == []


def test_one_owner_may_send_only_so_many_archives_at_the_same_time(hand_ins: LadderHandIns, sign: Sign) -> None:
    ann, bob = sign(), sign("bob")
    sent = [hand_ins.begin_upload(ann, f"mine-{number}", "") for number in range(module.MOST_UPLOADS)]
    with pytest.raises(HandInRefused, match="4 archives of 'ann' are being sent") as caught:
        hand_ins.begin_upload(ann, "mine", "")
    assert (caught.value.refusal, caught.value.retry_after_s) == (Refusal.TOO_MANY, 5)
    hand_ins.begin_upload(bob, "bobs", "").abort()
    sent[0].abort()
    sent[0].abort()
    hand_ins.begin_upload(ann, "mine", "").abort()
    sent[1].write(b"no archive")
    refused(Refusal.UNUSABLE, sent[1].finish)
    send(hand_ins, ann, archive(bot_files()))
    for upload in sent[2:]:
        upload.abort()


def test_an_upload_that_cannot_begin_is_not_counted(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = sign()
    with monkeypatch.context() as patch:

        def full(_self: Path, _mode: str) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        patch.setattr(Path, "open", full)
        for _ in range(module.MOST_UPLOADS + 1):
            refused(Refusal.UNAVAILABLE, lambda: hand_ins.begin_upload(ann, "mine", ""))
    hand_ins.begin_upload(ann, "mine", "").abort()


def test_an_upload_that_breaks_off_leaves_nothing(hand_ins: LadderHandIns, sign: Sign, config: LadderConfig) -> None:
    upload = hand_ins.begin_upload(sign(), "mine", "")
    upload.write(archive(bot_files())[:100])
    upload.abort()
    assert uploads(config) == []
    assert hand_ins.bots() == []


def test_half_an_archive_is_refused_and_leaves_nothing(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig
) -> None:
    data = archive(bot_files())
    assert "cut off" in refused(Refusal.UNUSABLE, lambda: send(hand_ins, sign(), data[: len(data) // 2]))
    assert uploads(config) == []
    assert hand_ins.bots() == []


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "empty"),
        (b"print('hello')", "something else"),
        (archive({"../bot.toml": ""}), "'..'"),
        (archive({"zeros": bytes(3 << 20)}), "times as large"),
        (archive({f"{number}": "" for number in range(101)}), "more than 100 files"),
    ],
    ids=["empty", "text", "path", "bomb", "files"],
)
def test_what_is_no_good_archive_is_refused_with_a_sentence(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, data: bytes, why: str
) -> None:
    assert why in refused(Refusal.UNUSABLE, lambda: send(hand_ins, sign(), data))
    assert uploads(config) == []
    assert hand_ins.bots() == []


def test_more_bytes_than_an_archive_may_have_are_refused_while_they_come(hand_ins: LadderHandIns, sign: Sign) -> None:
    upload = hand_ins.begin_upload(sign(), "mine", "")
    upload.write(bytes(1 << 20))
    assert "1 MiB" in refused(Refusal.TOO_LARGE, lambda: upload.write(b"x"))
    upload.abort()


def test_what_a_killed_server_left_of_uploads_is_removed(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, store: LadderStore
) -> None:
    half = hand_ins.begin_upload(sign(), "mine", "")
    half.write(b"half")
    (Places(config.data).uploads / "x.files" / "deep").mkdir(parents=True)
    LadderHandIns(config, store)
    assert uploads(config) == []
    half.abort()


def test_a_bot_without_a_manifest_is_kept_to_be_rejected(hand_ins: LadderHandIns, sign: Sign) -> None:
    assert send(hand_ins, sign(), archive({"bot.py": "x"})).version.status == "received"


def test_a_full_disk_is_a_sentence_and_nothing_is_left(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    ann = sign()
    monkeypatch.setattr(module, "unpack", full)
    sentence = refused(Refusal.UNAVAILABLE, lambda: send(hand_ins, ann, archive(bot_files())))
    assert "No space left" in sentence
    assert "nothing was changed" in sentence
    monkeypatch.undo()
    assert uploads(config) == []
    assert send(hand_ins, ann, archive(bot_files())).created


def test_what_was_confirmed_is_there_without_the_cache(
    hand_ins: LadderHandIns, sign: Sign, config: LadderConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store of hand-ins is no cache: nothing in it goes when it is full."""
    monkeypatch.setenv("CROSSTOWN_STORE_MIB", "0")
    ann = sign()
    contents = [send(hand_ins, ann, archive(bot_files(version=f"{number}"))).version.content for number in range(3)]
    assert {path.name for path in Places(config.data).content.iterdir()} == set(contents)


# Rights


def test_a_token_is_good_for_its_scope(hand_ins: LadderHandIns, sign: Sign) -> None:
    reader, sender = sign("ann", "read"), sign("ann", "submit")
    assert "'submit'" in refused(Refusal.FORBIDDEN, lambda: hand_ins.begin_upload(reader, "mine", ""))
    refused(Refusal.FORBIDDEN, lambda: hand_ins.tokens(sender))
    refused(Refusal.FORBIDDEN, lambda: hand_ins.pause(sender, "mine", ""))
    refused(Refusal.FORBIDDEN, lambda: hand_ins.overview(sign("ann", "manage")))


def test_nobody_makes_a_token_for_more_than_their_own(hand_ins: LadderHandIns, sign: Sign) -> None:
    refused(Refusal.FORBIDDEN, lambda: hand_ins.create_token(sign(), "x", "organise", None))
    made = hand_ins.create_token(sign(), "x", "submit", 1)
    assert hand_ins.account(made.secret).scope == "submit"


def test_a_token_for_one_bot_is_good_for_nothing_else(hand_ins: LadderHandIns, sign: Sign) -> None:
    send(hand_ins, sign(), archive(bot_files()))
    limited = sign("ann", "manage", "mine")
    assert send(hand_ins, limited, archive(bot_files(version="2"))).created
    for call in (
        lambda: hand_ins.begin_upload(limited, "other", ""),
        lambda: hand_ins.create_token(limited, "x", "manage", None),
        lambda: hand_ins.tokens(limited),
    ):
        assert "'mine' alone" in refused(Refusal.FORBIDDEN, call)


def test_the_bot_of_another_is_the_others(hand_ins: LadderHandIns, sign: Sign) -> None:
    send(hand_ins, sign("ann"), archive(bot_files()))
    bob, otto = sign("bob"), sign("otto", "organise")
    for call in (
        lambda: hand_ins.begin_upload(bob, "mine", ""),
        lambda: hand_ins.pause(bob, "mine", ""),
        lambda: hand_ins.retire(bob, "mine", 1),
        lambda: hand_ins.activate(bob, "mine", 1),
        lambda: hand_ins.resume(bob, "mine"),
    ):
        assert "'ann'" in refused(Refusal.FORBIDDEN, call)
    refused(Refusal.UNKNOWN, lambda: hand_ins.log(bob, "mine", 1, 0, 10))
    assert hand_ins.pause(otto, "mine", "it copies").paused_by == "organiser"
    assert "it copies" in refused(Refusal.FORBIDDEN, lambda: hand_ins.resume(sign("ann"), "mine"))


def test_an_organiser_does_not_block_themselves(hand_ins: LadderHandIns, sign: Sign) -> None:
    refused(Refusal.CONFLICT, lambda: hand_ins.block(sign("otto", "organise"), "otto", "x"))


def test_too_many_hand_ins_at_once_are_refused(hand_ins: LadderHandIns, sign: Sign) -> None:
    ann = sign()
    for number in range(module.MOST_WAITING):
        send(hand_ins, ann, archive(bot_files(version=f"{number}")))
    with pytest.raises(HandInRefused) as caught:
        hand_ins.begin_upload(ann, "mine", "")
    assert caught.value.refusal is Refusal.TOO_MANY
    assert caught.value.retry_after_s


def test_a_session_ends_with_signing_out(hand_ins: LadderHandIns, store: LadderStore) -> None:
    store.accounts.add_owner("ann")
    session = hand_ins.sign_in(store.accounts.create_token("ann", "", "manage", None).secret)
    account = hand_ins.account(session.secret)
    hand_ins.sign_out(account)
    refused(Refusal.UNAUTHENTICATED, lambda: hand_ins.account(session.secret))


def test_a_session_ends_with_the_token_that_somebody_signed_in_with(
    hand_ins: LadderHandIns, sign: Sign, store: LadderStore
) -> None:
    ann, days = sign("ann", "manage"), 2
    lent, other = hand_ins.create_token(ann, "lent", "submit", days), hand_ins.create_token(ann, "own", "submit", 90)
    session, own = hand_ins.sign_in(lent.secret), hand_ins.sign_in(other.secret)
    assert session.token.expires == lent.token.expires
    assert own.token.expires < other.token.expires  # the control: as long as a session lasts
    refused(Refusal.UNAUTHENTICATED, lambda: hand_ins.sign_in(session.secret))  # it would be renewed without end
    hand_ins.revoke_token(ann, lent.token.id)
    refused(Refusal.UNAUTHENTICATED, lambda: hand_ins.account(session.secret))
    assert hand_ins.account(own.secret).owner == "ann"


def test_a_token_that_ends_makes_none_that_ends_later(hand_ins: LadderHandIns, sign: Sign, store: LadderStore) -> None:
    sign("ann")
    lent = store.accounts.create_token("ann", "lent", "manage", 2)
    for maker in (lent.secret, hand_ins.sign_in(lent.secret).secret):
        for days in (90, None):
            made = hand_ins.create_token(hand_ins.account(maker), "mine", "manage", days)
            assert made.token.expires == lent.token.expires
            found = next(one for one in store.accounts.tokens("ann") if one.id == made.token.id)
            assert found.expires == lent.token.expires
        assert hand_ins.create_token(hand_ins.account(maker), "mine", "manage", 1).token.expires < lent.token.expires
        connection = store.open_connection("ann", "afar", hand_ins.account(maker).token_id)
        assert connection.token.expires == lent.token.expires, "who has it could play in the name of the bot for a year"
    signed_in = store.accounts.create_token("ann", "browser", "manage", 30, kind="session")  # with a password
    assert hand_ins.create_token(hand_ins.account(signed_in.secret), "mine", "manage", None).token.expires == ""
    assert store.open_connection("ann", "afar", signed_in.token.id).token.expires > lent.token.expires


def test_a_token_is_revoked_with_the_token_that_it_was_made_with(
    hand_ins: LadderHandIns, sign: Sign, store: LadderStore
) -> None:
    """Somebody has got one that the owner has lost, and makes others with it."""
    ann = sign("ann", "manage")

    def make(maker: NewToken) -> NewToken:
        return hand_ins.create_token(hand_ins.account(maker.secret), "mine", "manage", None)

    lost, own = (store.accounts.create_token("ann", label, "manage", None) for label in ("lost", "own"))
    made, session = make(lost), hand_ins.sign_in(lost.secret)
    later, in_session = make(made), make(session)
    kept = make(hand_ins.sign_in(own.secret))
    store.open_connection("ann", "afar", made.token.id)
    hand_ins.sign_out(hand_ins.account(session.secret))
    assert hand_ins.account(in_session.secret).owner == "ann", "to sign out revokes no token"
    assert store.accounts.connections().keys() == {"afar"}
    hand_ins.revoke_token(ann, lost.token.id)
    for one in (lost, made, session, later, in_session):
        refused(Refusal.UNAUTHENTICATED, lambda secret=one.secret: hand_ins.account(secret))
    assert store.accounts.connections() == {}
    assert [hand_ins.account(one.secret).owner for one in (own, kept)] == ["ann", "ann"]


@pytest.mark.parametrize("kind", ["token", "session"])
def test_what_has_ended_while_a_request_with_it_was_answered_makes_no_token(
    hand_ins: LadderHandIns, sign: Sign, store: LadderStore, kind: Any
) -> None:
    """It would be revoked with nothing, as that has been done."""
    ann = sign("ann", "manage")
    lost = store.accounts.create_token("ann", "lost", "manage", 2, kind=kind)
    caller = hand_ins.account(lost.secret)
    hand_ins.create_token(caller, "in time", "manage", 1)
    hand_ins.revoke_token(ann, lost.token.id)
    before = [one.id for one in store.accounts.tokens("ann")]
    refused(Refusal.UNAUTHENTICATED, lambda: hand_ins.create_token(caller, "late", "manage", 1))
    refused(Refusal.UNAUTHENTICATED, lambda: store.open_connection("ann", "afar", caller.token_id))
    assert [one.id for one in store.accounts.tokens("ann")] == before
    assert store.accounts.connections() == {}


# Logs and divisions


def test_a_log_is_read_in_parts_that_do_not_cut_characters(
    hand_ins: LadderHandIns, sign: Sign, store: LadderStore, config: LadderConfig
) -> None:
    ann = sign()
    send(hand_ins, ann, archive(bot_files()))
    text = "häuser → 🚕\n" * 20
    (Places(config.data).logs / "1.txt").write_text(text)
    store.steps.set_log(store.steps.waiting()[0].id, "1.txt")
    for size in range(4, 30):
        read, end = "", 0
        while (part := hand_ins.log(ann, "mine", 1, end, size)).text:
            read, end = read + part.text, part.end
        assert read == text
        assert not part.complete
    store.steps.reject(store.steps.waiting()[0].id, "received", None, "x", "y")
    assert hand_ins.log(ann, "mine", 1, 0, 10_000).complete


def test_a_division_has_a_title_without_ids(hand_ins: LadderHandIns) -> None:
    for division in hand_ins.divisions():
        own = "" if division.name == division.game else f" ({division.name})"
        assert division.title.startswith(f"{get_game(division.game).title}, ")
        assert division.title.endswith(f"players{own}")


def test_divisions_are_those_of_the_file(hand_ins: LadderHandIns) -> None:
    assert [(one.name, one.game, one.bots) for one in hand_ins.divisions()] == [
        ("first", "toy", 0),
        ("second", "toy", 0),
    ]
    assert hand_ins.entries("first") == {}
    refused(Refusal.UNKNOWN, lambda: hand_ins.entries("third"))


def test_why_nothing_is_played_is_asked_once_for_all_divisions(config: LadderConfig, store: LadderStore) -> None:
    asked = []
    names = [division.name for division in config.divisions]

    def waits() -> dict[str, str]:
        asked.append(1)
        return {names[0]: "a table needs 2 bots"}

    ladder = LadderHandIns(config, store, waits=waits)
    assert [division.waits for division in ladder.divisions()] == ["a table needs 2 bots", *("" for _ in names[1:])]
    assert len(asked) == 1


# Remote bots


@pytest.fixture
def open_ladder(config: LadderConfig, store: LadderStore, tmp_path: Path) -> Callable[..., LadderHandIns]:
    """open_ladder(door) is a ladder that admits remote bots in its second division."""
    (tmp_path / "certificate.pem").write_text("a certificate")
    divisions = config.divisions[0], replace(config.divisions[1], admits=("remote",))
    remote = RemoteConfig(Listen("127.0.0.1", 7000))
    admitting = replace(config, divisions=divisions, remote=remote)

    def make(**door: object) -> LadderHandIns:
        told = {"address": "games.example:7000", "certificate": str(tmp_path / "certificate.pem"), "bots": {}} | door
        return LadderHandIns(admitting, store, door=lambda: told, alone=False)

    return make


def test_a_bot_that_runs_at_its_authors_gets_what_it_connects_with(
    open_ladder: Callable[..., LadderHandIns], sign: Sign, store: LadderStore
) -> None:
    ladder, ann = open_ladder(), sign()
    made = ladder.connect(ann, "afar")
    assert (made.bot, made.address, made.tls, made.certificate) == (
        "afar",
        "games.example:7000",
        True,
        "a certificate",
    )
    assert store.accounts.connections() == {"afar": [token_digest(made.token).hex()]}
    assert not ladder.bot("afar").connected
    assert open_ladder(bots={"afar": "1"}).bot("afar").connected
    assert [bot.connected for bot in open_ladder(bots={"afar": "1"}).bots("ann")] == [True]
    assert [token.kind for token in ladder.tokens(ann)][:1] == ["connection"]
    assert ladder.divisions()[1].settings["admits"] == "remote bots"


def test_who_may_not_hand_in_a_bot_may_not_connect_it(
    open_ladder: Callable[..., LadderHandIns], hand_ins: LadderHandIns, sign: Sign
) -> None:
    ladder = open_ladder()
    assert "no division" in refused(Refusal.CONFLICT, lambda: hand_ins.connect(sign(), "afar"))
    refused(Refusal.FORBIDDEN, lambda: ladder.connect(sign("ann", "read"), "afar"))
    ladder.connect(sign(), "afar")
    only = sign("ann", "submit", bot="afar")
    ladder.connect(only, "afar")
    refused(Refusal.FORBIDDEN, lambda: ladder.connect(only, "other"))
    refused(Refusal.FORBIDDEN, lambda: ladder.connect(sign("bob"), "afar"))
    said = refused(
        Refusal.UNAVAILABLE, lambda: open_ladder(address="", trouble="the port is taken").connect(only, "afar")
    )
    assert "the port is taken" in said
    lost = open_ladder(certificate="/srv/gone.pem")
    said = refused(Refusal.UNAVAILABLE, lambda: lost.connect(only, "afar"))
    assert "No such file or directory: 'gone.pem')" in said, "not where it is on the machine"
    for number in range(module.MOST_BOTS - 1):
        ladder.connect(sign(), f"afar {number}")
    refused(Refusal.TOO_MANY, lambda: ladder.connect(sign(), "one more"))


def test_an_owner_hands_in_so_often_within_a_day(
    config: LadderConfig, store: LadderStore, sign: Sign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_WAITING", 100)
    few = replace(config, accounts=replace(config.accounts, hand_ins_per_day=3))
    hand_ins = LadderHandIns(few, store)
    ann, bob = sign("ann"), sign("bob")
    for number in range(3):
        send(hand_ins, ann, archive(bot_files(version=str(number))))
    with pytest.raises(HandInRefused) as caught:
        send(hand_ins, ann, archive(bot_files(version="3")))
    assert (caught.value.refusal, caught.value.retry_after_s) == (Refusal.TOO_MANY, 3600)
    assert "has handed in 3 times within a day" in str(caught.value)
    send(hand_ins, bob, archive(bot_files(name="other")), bot="other")  # the control


def test_files_for_a_bot_that_runs_at_its_authors_are_refused_before_they_are_read(
    open_ladder: Callable[..., LadderHandIns], sign: Sign, config: LadderConfig
) -> None:
    ladder, ann = open_ladder(), sign()
    ladder.connect(ann, "afar")
    assert "runs at its owner's" in refused(Refusal.CONFLICT, lambda: ladder.begin_upload(ann, "afar", ""))
    assert uploads(config) == []
    send(ladder, ann, archive(bot_files()))  # the control
    assert "is handed in as files" in refused(Refusal.CONFLICT, lambda: ladder.connect(ann, "mine"))


def test_what_is_refused_after_its_files_were_kept_is_a_hand_in_of_the_day(
    open_ladder: Callable[..., LadderHandIns], sign: Sign, store: LadderStore, config: LadderConfig
) -> None:
    ladder, ann = open_ladder(), sign()
    arriving = []
    for number in range(3):
        arriving.append(ladder.begin_upload(ann, "new", ""))
        arriving[-1].write(archive(bot_files(version=str(number))))
    ladder.connect(ann, "new")
    for upload in arriving:
        refused(Refusal.CONFLICT, upload.finish)
    assert len(list(Places(config.data).content.iterdir())) == 3  # they are removed later
    assert store.count_sent("ann") == 3
    late = ladder.begin_upload(bob := sign("bob"), "other", "")
    late.write(archive(bot_files(version="4")))
    ladder.people.delete(bob, "bob")
    refused(Refusal.UNKNOWN, late.finish)


def test_the_hash_of_the_code_is_that_of_all_files_but_the_manifest(
    hand_ins: LadderHandIns, store: LadderStore, sign: Sign
) -> None:
    send(hand_ins, sign("ann"), archive(bot_files(name="mine")), bot="mine")
    send(hand_ins, sign("bob"), archive(bot_files(name="copy", version="9")), bot="copy")
    send(hand_ins, sign("cleo"), archive(bot_files(name="own", code="print(1)\n")), bot="own")
    (found,) = hand_ins.people.suspicions(sign("otto", "organise"))
    assert (found.owners, found.bots) == (("ann", "bob"), ("copy", "mine"))


def test_owners_are_names_for_people_and_ids_in_journals(
    hand_ins: LadderHandIns, store: LadderStore, sign: Sign, config: LadderConfig
) -> None:
    send(hand_ins, sign("ann"), archive(bot_files()))
    (owner,) = (id_ for id_, name in store.accounts.names().items() if name == "ann")
    folder = config.folder_of(config.divisions[0])
    folder.mkdir(parents=True)
    with Journal(folder / "tournament.jsonl", read_journal(folder / "tournament.jsonl")) as journal:
        journal.append(CREATED, format=FORMAT, hash="", configuration={})
        journal.append("added", place=0, entry_id="e1", name="mine", owner=owner, number=1)
        journal.append("added", place=0, entry_id="e2", name="old", owner="bob", number=1)
    assert {entry.bot: entry.owner for entry in hand_ins.entries("first").values()} == {"mine": "ann", "old": "bob"}
    hand_ins.people.delete(sign("ann"), "ann")
    assert hand_ins.entries("first")["e1"].owner == f"deleted {owner}"


def test_who_plays_in_a_division_is_read_on_from_where_its_journal_was(
    hand_ins: LadderHandIns, config: LadderConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = config.folder_of(config.divisions[0])
    folder.mkdir(parents=True)
    path = folder / "tournament.jsonl"
    whole: list[Path] = []

    def counted(path: Path) -> JournalText:
        whole.append(path)
        return read_journal(path)

    monkeypatch.setattr("referee.ladder.hand_ins.read_journal", counted)
    monkeypatch.setattr("referee.run.journal._LONG_BYTES", 0)
    for number, name in enumerate(("one", "two", "three")):
        with Journal(path, read_journal(path)) as journal:
            if number == 0:
                journal.append(CREATED, format=FORMAT, hash="", configuration={})
            journal.append("added", place=0, entry_id=name, name=name, owner="bob", number=1)
            journal.append("counted", matches={})
        assert len(hand_ins.entries("first")) == number + 1
    assert whole == [path]
    path.unlink()
    head_file(path).unlink()
    with Journal(path, read_journal(path)) as journal:
        journal.append(CREATED, format=FORMAT, hash="", configuration={"other": "x" * 2000})
        journal.append("added", place=0, entry_id="new", name="new", owner="bob", number=1)
    assert list(hand_ins.entries("first")) == ["new"]
