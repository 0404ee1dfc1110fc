"""`crosstown sign`, and what `verify` and `rebuild` say of runs that were changed."""

import asyncio
import gzip
import json
import shutil
import stat
from types import SimpleNamespace

import httpx
import pytest

from leaderboard.web.app import make_app
from referee.cli import match_actions
from referee.record import read_record
from referee.record.format import next_chain, open_line
from referee.record.journal import LEAVING, Control, anchors_of, control_fields
from referee.run.head import head_file, read_head
from referee.run.journal import Journal, read_journal
from referee.run.run import Run
from referee.run.signing import DECISIONS, key_file, read_signature, since_signed

SIGNATURE = "runs/cup/tournament.signature"


@pytest.fixture(autouse=True)
def settings(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))


def records(folder):
    return sorted(folder.matches.glob("*.gz"))


def forge(path):
    """A crash that never was, in a record that is right by itself."""
    lines = gzip.decompress(path.read_bytes()).decode().splitlines()
    header, footer = json.loads(lines[0]), json.loads(lines[-1])
    note = json.dumps(["x", 0, "late", ""], separators=(",", ":"))[:-1]
    bodies = [open_line(line)[0] for line in lines[:-1]] + [note, open_line(lines[-1])[0]]
    assert header[0] == "header"
    assert footer[0] == "footer"
    path.write_bytes(gzip.compress(chained(bodies).encode(), mtime=0))


def chained(bodies):
    """The lines of a file with these, every chain made anew."""
    chain, made = "", []
    for body in bodies:
        chain = next_chain(chain, body)
        made.append(f'{body},"{chain}"]\n')
    return "".join(made)


@pytest.mark.slow
def test_a_forged_record_is_named_by_verify_and_left_out_by_rebuild(played, crosstown):
    honest, forged = records(played)
    assert crosstown("matches", "verify", "cup").code == 0
    forge(forged)
    for words in ("cup", f"runs/cup/matches/{forged.name}"):
        printed = crosstown("matches", "verify", words)
        assert printed.code == 1
        assert (
            f"runs/cup/matches/{forged.name}: wrong: this is not the record that counted: its digest is " in printed.out
        )
        assert honest.name not in printed.out
    printed = crosstown("rebuild", "cup")
    assert printed.code == 1
    assert "1 match from the records" in printed.out
    assert f"not counted: {forged.name}: damaged: this is not the record that counted" in printed.out
    assert json.loads(crosstown("standings", "cup", "--json").out)["played"] == 1


@pytest.mark.slow
def test_a_deleted_record_is_named_also_while_the_run_is_not_finished(played, crosstown):
    text = read_journal(played.journal)
    with Journal(played.journal, text) as journal:
        journal.append("stopped", why="a test")
    gone = records(played)[0]
    gone.unlink()
    match_id = gone.name.removesuffix(".jsonl.gz")
    sentence = f"match {match_id} counts by the journal, and its record is not in runs/cup/matches"
    printed = crosstown("matches", "verify", "cup")
    assert (printed.code, sentence in printed.out) == (1, True)
    printed = crosstown("rebuild", "cup", "--json")
    assert (printed.code, json.loads(printed.out)["wrong"]) == (1, [sentence])


@pytest.mark.slow
def test_a_deleted_record_of_a_finished_run_is_named_once(played, crosstown):
    gone = records(played)[0]
    gone.unlink()
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 1
    assert printed.out.count(gone.name.removesuffix(".jsonl.gz")) == 1


@pytest.mark.slow
@pytest.mark.parametrize("words", [("annul", "cup", "{}", "--replay"), ("matches", "rejudge", "{}", "--apply")])
def test_a_command_that_was_killed_between_record_and_journal_is_named_and_can_be_entered_again(
    played, crosstown, monkeypatch, words
):
    """It sets the record aside first, for what lies there when the run goes on counts."""
    fallen = SimpleNamespace(stands=False, why="the disk hung", seat=0, reason="crashed")
    judgement = SimpleNamespace(findings=[fallen], stands=False, ranking=(), status="void", reason="crashed")
    monkeypatch.setattr(match_actions, "rejudge", lambda *_, **__: judgement)
    match_id = records(played)[0].name.removesuffix(".jsonl.gz")
    played.records.set_aside(played.records.find(match_id), "annulled")
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 1
    assert f"To do that: crosstown annul RUN {match_id} --replay" in printed.out
    printed = crosstown(*(word.format(match_id) for word in words))
    assert "; it is played again by: " in printed.out
    printed = crosstown("matches", "verify", "cup")
    assert (printed.code, match_id in printed.out) == (0, False)
    assert crosstown("matches", "rejudge", match_id, "--apply").code != 0, "it is done"


@pytest.mark.slow
def test_a_journal_that_was_cut_with_its_head_does_not_fit_the_head_that_run_anchor_wrote_elsewhere(
    played, crosstown, tmp_path
):
    elsewhere = tmp_path / "usb" / "cup.head"
    elsewhere.parent.mkdir()
    shutil.rmtree(played.path)
    printed = crosstown("run", "cup.toml", "--anchor", str(elsewhere))
    assert printed.code == 0, printed.err
    own = head_file(played.journal)
    heads = [read_head(path) for path in (own, elsewhere)]
    assert heads[0].digest == heads[1].digest
    assert heads[0].lines == heads[1].lines
    assert crosstown("matches", "verify", "cup").code == 0
    played.journal.write_bytes(b"".join(played.journal.read_bytes().splitlines(keepends=True)[:-1]))
    own.unlink()
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 1
    assert str(elsewhere) in printed.out
    printed = crosstown("run", "cup.toml")
    assert printed.code != 0
    assert str(elsewhere) in " ".join(printed.err.split())


@pytest.mark.slow
def test_a_cut_journal_is_named_and_a_missing_head_is_told(played, crosstown):
    whole = played.journal.read_bytes()
    lines = whole.splitlines(keepends=True)
    played.journal.write_bytes(b"".join(lines[:-1]))
    for words in (("matches", "verify", "cup"), ("rebuild", "cup")):
        printed = crosstown(*words)
        assert printed.code == 1
        assert f"1 line was cut off the end of the journal: it has {len(lines) - 1}" in printed.out
    head_file(played.journal).unlink()
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 0
    assert "there is no runs/cup/tournament.head: lines that were cut off" in printed.out


@pytest.mark.slow
def test_a_record_of_a_match_with_other_options_than_those_of_the_run_is_named(played, crosstown):
    """It can be right by itself, and have the digest that the journal has: an easier game on the same seed."""
    lines = played.journal.read_text().splitlines()
    kind, at, fields, _ = json.loads(lines[0])
    options = fields["configuration"]["games"][0]["options"]
    name = next(name for name, value in options.items() if type(value) is bool)
    options[name] = not options[name]
    bodies = [json.dumps([kind, at, fields], separators=(",", ":"))[:-1], *(open_line(line)[0] for line in lines[1:])]
    played.journal.write_text(chained(bodies))
    head_file(played.journal).unlink()
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 1
    assert f"line 1: the match was played with another value of {name} than the run has" in printed.out


@pytest.mark.slow
def test_a_run_of_an_older_version_is_verified_and_called_not_anchored(played, crosstown):
    lines = [line for line in played.journal.read_text().splitlines() if not line.startswith('["counted"')]
    played.journal.write_text(chained(open_line(line)[0] for line in lines))
    head_file(played.journal).unlink()
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 0, printed.out
    assert "its records are not anchored: an older version wrote the journal" in printed.out
    assert crosstown("sign", "cup").code == 0
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 0, printed.out
    assert "2 records had no digest before the run was continued or signed, and counted as found" in printed.out
    assert len(anchors_of(read_journal(played.journal).events).digests) == 2


@pytest.mark.slow
def test_a_signed_run_proves_that_nothing_changed_and_says_what_it_does_not_prove(played, crosstown):
    assert "it is not signed" in crosstown("matches", "verify", "cup").out
    printed = crosstown("sign", "cup")
    assert printed.code == 0, printed.err
    key = printed.out.split("public key: ")[1].split()[0]
    assert len(bytes.fromhex(key)) == 32
    assert stat.S_IMODE(key_file().stat().st_mode) == 0o600
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 0, printed.out
    assert (
        f"by the key {key}: nothing that counted was changed since. This does not prove who has the key" in printed.out
    )
    printed = crosstown("matches", "verify", "cup", "--key", key)
    assert printed.code == 0, printed.out
    assert "who has the key" not in printed.out
    assert "what happened before it was signed" in printed.out
    printed = crosstown("matches", "verify", "cup", "--key", "ab" * 32)
    assert (printed.code, f"signed by the key {key}, not by {'ab' * 32}" in printed.out) == (1, True)
    assert crosstown("report", "cup", "page.html").code == 0
    page = (played.path.parents[1] / "page.html").read_text()
    assert key in page
    assert key_file().read_text().splitlines()[1] not in page
    assert json.loads(crosstown("sign", "cup", "--json").out)["public_key"] == key, "one key for all runs"


@pytest.mark.slow
def test_pages_api_and_published_site_have_the_signed_head_and_the_key(played, crosstown, tmp_path):
    """A reader who keeps them can check later that the run is the same. The server is not stopped for that."""
    app = httpx.ASGITransport(app=make_app(tmp_path / "runs"))

    async def fetched():
        async with httpx.AsyncClient(transport=app, base_url="http://localhost") as web:
            page, answer = await web.get("/runs/cup/settings"), await web.get("/api/v1/runs/cup")
        return page.text, json.dumps(answer.json()["facts"])

    with asyncio.Runner() as loop:

        def shown():
            assert crosstown("publish", "runs/cup", "site").code == 0
            return *loop.run(fetched()), (tmp_path / "site" / "runs" / "cup" / "settings.html").read_text()

        assert not any("public key" in text.lower() for text in shown())
        assert crosstown("sign", "cup").code == 0
        signed = read_signature(played)
        for text in shown():
            assert signed.public_key in text
            assert signed.head.digest in text
            assert f"{signed.at}, {signed.head.lines} lines of the journal" in text
            assert key_file().read_text().splitlines()[1] not in text
        played.signature.write_text(played.signature.read_text().replace(signed.head.digest, "ab" * 32))
        assert not any("public key" in text.lower() for text in shown()), "it signs something else"


@pytest.mark.slow
def test_a_run_made_anew_after_it_was_signed_is_found_out(played, crosstown):
    """Record, journal and head forged together, every chain made anew: all of it is right, but for the signature."""
    assert crosstown("sign", "cup").code == 0
    forged = records(played)[0]
    match_id, before = forged.name.removesuffix(".jsonl.gz"), anchors_of(read_journal(played.journal).events).digests
    forge(forged)
    lines = played.journal.read_text().replace(before[match_id], read_record(forged).digest).splitlines()
    played.journal.write_text(chained(open_line(line)[0] for line in lines))
    head_file(played.journal).unlink()
    with Journal(played.journal, read_journal(played.journal)) as journal:
        journal.write_head()
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 1
    assert f"wrong: the first {len(lines)} lines of the journal are not those that it had by {SIGNATURE}" in printed.out
    assert "this is not the record that counted" not in printed.out


@pytest.mark.slow
def test_a_decision_after_the_signature_is_named(played, crosstown):
    assert crosstown("sign", "cup").code == 0
    match_id = records(played)[0].name.removesuffix(".jsonl.gz")
    assert crosstown("annul", "cup", match_id).code == 0
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 1
    assert f"match {match_id} counted when the run was signed, and does not now: annulled" in printed.out
    assert f"was decided since the run was signed: annulled {match_id}" in printed.out
    assert crosstown("report", "cup", "page.html").code == 0
    page = (played.path.parents[1] / "page.html").read_text()
    assert "does not hold for the run as it is now" in page
    assert read_signature(played).public_key not in page
    assert crosstown("sign", "cup").code == 0
    assert crosstown("matches", "verify", "cup").code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("control", "honest"),
    [
        (Control("breaker", 9, choice="annul", by="rule", reason="3 faults in a row"), False),
        (Control("breaker", 9, choice="losses", by="rule"), False),
        (Control("replaced", 0), False),
        (Control("unapproved", 0), False),
        (Control("decided", 0, by="rule"), False),
        (Control("reinstated", 9), False),
        (Control("extended", 9, length={"blocks": 0}), False),
        (Control("breaker", 9, by="rule", reason="3 faults in a row"), True),
        (Control("extended", 0, length={"blocks": 2}), True),
    ],
    ids=lambda value: f"{value.kind}-{value.choice}-{value.place}" if isinstance(value, Control) else "",
)
def test_a_control_that_somebody_adds_to_a_signed_journal_is_named_if_it_reaches_back(
    played, crosstown, control, honest
):
    """Who can write in the folder, and has no key, can add lines to the journal with the right chain. What concerns
    only matches after the signed ones is what a run that goes on writes."""
    assert crosstown("sign", "cup").code == 0
    text = read_journal(played.journal)
    entry = read_record(records(played)[0]).header.seats[0]
    about = {} if control.kind in ("decided", "extended") else {"entry_id": entry.entry_id, "name": entry.name}
    with Journal(played.journal, text) as journal:
        journal.append(control.kind, **{**control_fields(control), **about})
        journal.write_head()
    printed = crosstown("matches", "verify", "cup")
    named = f"was decided since the run was signed: {control.kind}" in printed.out
    assert named is not honest, printed.out
    if not honest:
        assert printed.code == 1


@pytest.mark.parametrize("choice", ["annul", "losses"])
@pytest.mark.parametrize(
    "control",
    [*(Control(kind, 99, by="rule") for kind in LEAVING if kind not in DECISIONS), Control("returned", 99, by="rule")],
    ids=lambda control: control.kind,
)
def test_a_control_that_takes_back_what_became_of_the_matches_of_a_bot_is_named(make_run, crosstown, control, choice):
    """Wherever it holds: the matches of a bot that was out, which were annulled or lost, would count again."""
    folder = make_run(played=4)
    entry = read_record(folder.records.find(sorted(folder.records.paths())[0])).header.seats[0]
    about = {"entry_id": entry.entry_id, "name": entry.name}
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("breaker", **{**control_fields(Control("breaker", 2, choice=choice, by="rule")), **about})
    assert crosstown("sign", "cup").code == 0
    table = json.loads(crosstown("standings", "cup", "--json").out)
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append(control.kind, **{**control_fields(control), **about})
    assert json.loads(crosstown("standings", "cup", "--json").out) != table
    line = len(read_journal(folder.journal).events)
    assert said_since(folder) == [
        f"line {line} of the journal was decided since the run was signed: {control.kind} {entry.name}"
    ]


def test_a_bot_that_is_added_once_more_after_the_signature_is_named(make_run, crosstown):
    """In a Swiss it would have joined after the rounds that it has played."""
    folder = make_run(style="swiss", others=("cat", "dan"), more="[swiss]\nrounds = 2", played=4)
    assert crosstown("sign", "cup").code == 0
    entry = read_record(folder.records.find(sorted(folder.records.paths())[0])).header.seats[0]
    about = {"entry_id": entry.entry_id, "name": entry.name, "version": entry.version, "options": {}, "folder": ""}
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("added", place=99, **about)
    assert len(said_since(folder)) == 1
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("added", place=99, **{**about, "entry_id": "ab" * 16, "name": "new"})
    assert len(said_since(folder)) == 1, "a new one may join what is still to be played"


@pytest.mark.parametrize(("place", "honest"), [(4, False), (5, True)])
def test_a_line_that_decides_a_finished_run_where_it_ended_is_named(make_run, crosstown, place, honest):
    """It removes the table of a format in rounds, which ends there without it."""
    folder = make_run(style="swiss", others=("cat", "dan"), more="[swiss]\nrounds = 2", played=4)
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("finished", rated=4, missing=0)
    assert crosstown("sign", "cup").code == 0
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("decided", place=place, by="rule")
    assert (said_since(folder) == []) is honest


def test_lines_that_are_no_controls_and_change_a_signed_table_are_named(make_run, crosstown):
    """A run that goes on writes lines of these kinds, too, but none about matches that had a record then."""
    folder = make_run(played=4)
    assert crosstown("sign", "cup").code == 0
    counted = sorted(folder.records.paths())[0]
    entry = read_record(folder.records.find(counted)).header.seats[0].entry_id
    failed = {"place": 0, "attempt": 1, "reason": "start_failed", "detail": "", "failed_starts": [[entry, "no Hello"]]}
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("resumed", rated=4, set_aside=[])
        journal.append("ratings", anchor={entry: 3000.0})
        journal.append("void", match=counted, **failed)
        journal.append("void", match="m000009-00000000", **failed)
    last = len(read_journal(folder.journal).events)
    assert said_since(folder) == [
        f"line {last - 2} of the journal was decided since the run was signed: ratings",
        f"line {last - 1} of the journal was decided since the run was signed: void {counted}",
    ]


def test_lines_of_any_kind_that_came_after_the_signature_are_listed(make_run, crosstown):
    """Without the key, anyone who can write in the folder can add lines that change no result, and tables show them."""
    folder = make_run(played=4)
    assert crosstown("sign", "cup").code == 0
    key = read_signature(folder).public_key
    assert "came after" not in " ".join(Run(folder).check(key).notes)
    last = len(read_journal(folder.journal).events)
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("machine", machine={}, changes=["'ann': sandbox: strict -> plain"])
        journal.append("epoch", epoch=1, commitment="ab" * 32)
        journal.append("machine", machine={}, changes=[])
        journal.write_head()
    check = Run(folder).check(key)
    assert check.wrong == ()
    kinds = f"machine (2 lines, the first is line {last + 1}), epoch (line {last + 2})"
    assert f"the signature does not cover 3 lines of the journal that came after it: {kinds}" in check.notes
    assert "what happened before it was signed, and what came after" in check.notes[-1]
    printed = crosstown("matches", "verify", "cup", "--key", key)
    assert kinds in printed.out


@pytest.mark.parametrize(("place", "rounds", "honest"), [(99, 4, True), (99, 2, False), (0, 4, False), (0, 2, False)])
def test_an_extension_of_a_swiss_is_named_if_it_shortens_it_or_reaches_into_what_was_played(
    make_run, crosstown, place, rounds, honest
):
    """With fewer rounds, or with others from the first on, the table would be that of another tournament."""
    folder = make_run(style="swiss", others=("cat", "dan"), more="[swiss]\nrounds = 3", played=4)
    assert crosstown("sign", "cup").code == 0
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("extended", place=place, rounds=rounds)
    assert bool(said_since(folder)) is not honest


def said_since(folder):
    text = read_journal(folder.journal)
    return list(since_signed(read_signature(folder), folder, text, folder.journal.read_bytes()))


@pytest.mark.parametrize("end", ["finished", "stopped"])
def test_a_record_that_was_laid_into_a_run_which_has_ended_is_named(make_run, crosstown, end):
    """As of a match that was given up, or cancelled because a bot was disqualified: it is right by itself, and its seed
    follows from the secret that was revealed."""
    folder, other = make_run(played=3), make_run(played=4, out="others")
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append(end, rated=3, missing=1, why="a test")
    assert crosstown("sign", "cup").code == 0
    assert Run(folder).check().wrong == ()
    (laid,) = other.records.paths().keys() - folder.records.paths().keys()
    shutil.copyfile(other.records.find(laid), folder.matches / f"{laid}.jsonl.gz")
    assert Run(folder).check().wrong == (
        f"match {laid} has a record that the run did not write: the journal has no digest of it",
    )
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("resumed", rated=3, set_aside=[])  # of a runner that is killed now, a record may lack its digest
    assert f"the journal has no digest yet of 1 record: {laid}" in Run(folder).check().notes


def test_a_match_of_a_finished_run_that_counts_only_since_it_was_signed_is_named(make_run, crosstown):
    folder = make_run(played=4)
    gone = sorted(folder.records.paths())[1]
    unplaced = folder.matches / "zz.jsonl.gz"
    record = folder.records.find(gone)
    aside = record.rename(folder.path / "kept")
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("finished", rated=3, missing=1)
    assert crosstown("sign", "cup").code == 0
    assert said_since(folder) == []
    shutil.copyfile(aside, record)
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("resumed", rated=4, set_aside=[])
        journal.append("found", matches={gone: read_record(record).digest})
        journal.append("finished", rated=4, missing=0)
    assert said_since(folder) == [f"match {gone} did not count when the finished run was signed, and has a record now"]
    record.rename(unplaced)
    assert any(said.startswith("match zz did not count") for said in said_since(folder)), "it says no place"


@pytest.mark.slow
def test_a_signature_that_was_changed_does_not_hold(played, crosstown):
    assert crosstown("sign", "cup").code == 0
    values = json.loads(played.signature.read_text())
    played.signature.write_text(json.dumps({**values, "at": "2020-01-01T00:00:00+00:00"}))
    printed = crosstown("matches", "verify", "cup")
    assert (printed.code, "was not made by the key" in printed.out) == (1, True)
    played.signature.write_text("signed, the organiser\n")
    printed = crosstown("matches", "verify", "cup")
    assert (printed.code, "is not a signature of a run" in printed.out) == (1, True)
    played.signature.unlink()
    printed = crosstown("matches", "verify", "cup", "--key", "ab" * 32)
    assert (printed.code, "it is not signed" in printed.out) == (1, True)


@pytest.mark.slow
def test_what_does_not_match_its_journal_is_not_signed(played, crosstown):
    forge(records(played)[0])
    printed = crosstown("sign", "cup")
    assert printed.code == 2
    assert "this is not the record that counted" in printed.err
    records(played)[0].unlink()
    assert "which counts by the journal, is not in runs/cup/matches" in crosstown("sign", "cup").err
    assert not played.signature.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "mode", "said"), [("", 0o600, "is not a key in PEM form"), (None, 0o644, "others")]
)
def test_a_key_that_cannot_be_used_or_that_others_can_read_is_refused(played, crosstown, content, mode, said):
    assert crosstown("sign", "cup").code == 0
    if content is not None:
        key_file().write_text(content)
    key_file().chmod(mode)
    printed = crosstown("sign", "cup")
    assert printed.code == 2
    assert said in printed.err
    assert "next: " in printed.err
