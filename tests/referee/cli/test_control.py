"""What an organiser decides on the command line."""

import asyncio
import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from markupsafe import escape

from leaderboard.store import read_rows
from leaderboard.web.app import make_app
from leaderboard.web.facts import facts_of
from leaderboard.web.site import get
from referee.cli import building
from referee.cli import match_actions as rejudging
from referee.process.checkup import Probe
from referee.record import read_record
from referee.record.journal import Control, read_controls
from referee.run.folder import choose_folder
from referee.run.journal import Journal, read_journal
from referee.run.run import Run
from referee.schedule.config import digest
from referee.tournament.entrants import load_tournament
from referee.tournament.identity import describe

ROOT = Path(__file__).resolve().parents[3]


def test_an_annulled_match_leaves_the_database_at_once(make_run, crosstown):
    folder = make_run()
    assert crosstown("rebuild", "cup").code == 0
    first, second, *_ = sorted(path.name.partition(".")[0] for path in folder.matches.glob("*.gz"))
    printed = crosstown("annul", "cup", first)
    assert (printed.code, printed.out) == (0, f"match {first} does not count\n")
    assert [row.place for row in read_rows(folder.database)] == [1, 2, 3]
    printed = crosstown("annul", "cup", second, "--replay")
    assert printed.out.startswith(f"match {second} does not count; it is played again by: crosstown run ")
    assert [row.place for row in read_rows(folder.database)] == [2, 3]


NO_RANKINGS = ("1", "1,3", "0,1", "1,-1", "1,x", "1,\u0662", f"1,{'9' * 5000}")


@pytest.mark.parametrize("ranking", NO_RANKINGS, ids=lambda word: word[:5])
def test_what_is_no_ranking_is_refused_in_a_sentence(make_run, crosstown, ranking):
    folder = make_run()
    match_id = next(folder.matches.glob("*.gz")).name.partition(".")[0]
    printed = crosstown("matches", "rejudge", match_id, "--ranking", ranking)
    assert printed.code == 2
    assert "does not fit 2 seats" in printed.err


def test_a_ranking_without_a_first_rank_is_refused(make_run, crosstown):
    folder = make_run()
    match_id = next(folder.matches.glob("*.gz")).name.partition(".")[0]
    printed = crosstown("matches", "rejudge", match_id, "--ranking", "2,2", "--apply")
    assert printed.code == 2
    assert "--ranking '2,2' has no first rank" in printed.err
    assert not Run(folder).controls


def test_a_ranking_that_parts_the_members_of_a_team_is_refused(make_run, crosstown, monkeypatch):
    folder = make_run()
    match_id = next(folder.matches.glob("*.gz")).name.partition(".")[0]
    monkeypatch.setattr(rejudging, "teams_of", lambda _header: (0, 0))
    stands = SimpleNamespace(findings=[], stands=True, ranking=(1, 2), status="rated", reason="normal")
    monkeypatch.setattr(rejudging, "rejudge", lambda *_, **__: stands)
    printed = crosstown("matches", "rejudge", match_id, "--ranking", "1,2")
    assert "ranks members of one team differently" in printed.err
    assert crosstown("matches", "rejudge", match_id, "--ranking", "1,1").code == 0


@pytest.mark.parametrize("kind", ["judged again", "annulled", "all annulled"])
def test_whoever_looks_at_a_match_reads_what_was_decided_about_it(make_run, crosstown, tmp_path, kind):
    folder = make_run()
    match_id = sorted(path.name.partition(".")[0] for path in folder.matches.glob("*.gz"))[0]
    seats = read_record(folder.matches / f"{match_id}.jsonl.gz").header.seats
    if kind == "judged again":
        Run(folder).rejudge(match_id, (2, 1), by="eve")
        said = f"This match was judged again, and counts with another ranking: {seats[0].name} 2, {seats[1].name} 1."
    elif kind == "annulled":
        assert crosstown("annul", "cup", match_id).code == 0
        said = "This record does not count: it was set aside (annulled)."
    else:
        assert crosstown("withdraw", "cup", "<ann>", "--choice", "annul").code == 0
        said = "This match does not count: all matches of '<ann>' are annulled."
    assert said in " ".join(crosstown("matches", "show", match_id).out.split())
    crosstown("matches", "export", match_id, "match.html")
    page = asyncio.run(get(make_app(tmp_path / "runs"), f"/runs/cup/matches/{match_id}"))[1].decode()
    assert escape(said) in (tmp_path / "match.html").read_text()
    assert escape(said) in page
    assert crosstown("publish", "runs/cup", "site").code == 0
    replay = tmp_path / "site" / "runs" / "cup" / "matches" / f"{match_id}.html"
    assert replay.exists() == (kind == "judged again")
    if replay.exists():
        assert escape(said) in replay.read_text()


def test_a_replay_is_written_again_when_its_match_was_judged_again(make_run, crosstown, tmp_path):
    folder = make_run()
    match_id = sorted(path.name.partition(".")[0] for path in folder.matches.glob("*.gz"))[0]
    crosstown("publish", "runs/cup", "site")
    Run(folder).rejudge(match_id, (2, 1), by="eve")
    crosstown("publish", "runs/cup", "site")
    replay = tmp_path / "site" / "runs" / "cup" / "matches" / f"{match_id}.html"
    assert "judged again" in replay.read_text()


@pytest.mark.parametrize("words", [("annul", "cup", "{}", "--replay"), ("matches", "rejudge", "{}", "--apply")])
def test_what_a_bot_that_is_out_had_to_play_is_not_said_to_be_played_again(make_run, crosstown, monkeypatch, words):
    fallen = SimpleNamespace(stands=False, why="the disk hung", seat=0, reason="crashed")
    judgement = SimpleNamespace(findings=[fallen], stands=False, ranking=(), status="void", reason="crashed")
    monkeypatch.setattr(rejudging, "rejudge", lambda *_, **__: judgement)
    folder = make_run(others=("cyd", "dan"))
    match_id = sorted(path.name.partition(".")[0] for path in folder.matches.glob("*.gz"))[1]
    name = read_record(folder.matches / f"{match_id}.jsonl.gz").header.seats[0].name
    assert crosstown("withdraw", "cup", name).code == 0
    printed = crosstown(*(word.format(match_id) for word in words))
    assert printed.out.rstrip().endswith(f"; it is not played again, for '{name}' is out of the run")


def test_a_verdict_that_falls_names_the_command_that_plays_the_match_again(make_run, crosstown, monkeypatch):
    fallen = SimpleNamespace(stands=False, why="the disk hung", seat=0, reason="crashed")
    judgement = SimpleNamespace(findings=[fallen], stands=False, ranking=(), status="void", reason="crashed")
    monkeypatch.setattr(rejudging, "rejudge", lambda *_, **__: judgement)
    folder = make_run(out="elsewhere")
    created = read_journal(folder.journal).created
    folder.journal.unlink()
    folder.journal.with_name("tournament.head").unlink()
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("created", **created.fields, file=str(Path("cup.toml").absolute()))
    match_id = sorted(path.name.partition(".")[0] for path in folder.matches.glob("*.gz"))[1]
    printed = crosstown("matches", "rejudge", match_id, "--apply", "--out", "elsewhere")
    last = printed.out.splitlines()[-1]
    assert last == f"match {match_id} is void; it is played again by: crosstown run cup.toml --out elsewhere"


def test_every_table_says_how_many_matches_were_annulled(make_run, crosstown, tmp_path):
    """Their records were set aside when that was decided."""
    folder = make_run()
    first, second, *_ = sorted(path.name.partition(".")[0] for path in folder.matches.glob("*.gz"))
    assert crosstown("annul", "cup", first).code == 0
    values = json.loads(crosstown("standings", "cup", "--json").out)
    assert (values["caption"], values["played"], values["total"]) == ("1 match was annulled.", 3, 3)
    assert "1 match was annulled." in crosstown("standings", "cup", "--combined").out
    assert "1 match was annulled." in crosstown("standings", "cup", "--cross").out
    crosstown("report", "cup", "page.html")
    status, page = asyncio.run(get(make_app(tmp_path / "runs"), "/runs/cup"))
    assert status == 200
    for text in (page.decode(), (tmp_path / "page.html").read_text()):
        assert "1 match was annulled." in text
    assert crosstown("annul", "cup", second, "--replay").code == 0
    assert "1 match was annulled." in crosstown("standings", "cup").out, "the other is played again"


@pytest.mark.parametrize("replay", [False, True])
def test_every_table_says_whose_disqualification_is_to_be_decided_again(make_run, crosstown, tmp_path, replay):
    """It rested on a match that was annulled since; until the run goes on, no rule puts the bot out."""
    folder = make_run()
    said = "The disqualification of '[b]bob' rested on what was changed since"
    first, *_ = sorted(path.name.partition(".")[0] for path in folder.matches.glob("*.gz"))
    bob = next(bot for bot in Run(folder).participants if bot.name == "[b]bob")
    breaker = Control("breaker", 3, entry_id=bob.entry_id, choice="annul", name=bob.name, by="rule")
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.control(breaker)
    assert said not in crosstown("standings", "cup").out
    assert crosstown("annul", "cup", first, *["--replay"] * replay).code == 0
    assert said in json.loads(crosstown("standings", "cup", "--json").out)["caption"]
    assert said in " ".join(crosstown("standings", "cup", "--combined").out.split())
    crosstown("report", "cup", "page.html")
    status, page = asyncio.run(get(make_app(tmp_path / "runs"), "/runs/cup"))
    assert status == 200
    for text in (page.decode(), (tmp_path / "page.html").read_text()):
        assert str(escape(said)) in text
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("resumed", found=3, moved=[])
    assert (said in crosstown("standings", "cup").out.replace("\n", " ")) == replay, "the match is played first"
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.control(breaker)
    assert said not in crosstown("standings", "cup").out.replace("\n", " ")


def test_a_disqualification_does_not_wait_for_a_match_that_is_not_played_again_after_all(make_run, crosstown):
    """It is decided when the run goes on, as if the match had been annulled at once."""
    folder = make_run()
    said = "The disqualification of '[b]bob' rested on what was changed since"
    first, *_ = sorted(path.name.partition(".")[0] for path in folder.matches.glob("*.gz"))
    bob = next(bot for bot in Run(folder).participants if bot.name == "[b]bob")
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.control(Control("breaker", 3, entry_id=bob.entry_id, choice="annul", name=bob.name, by="rule"))
    assert crosstown("annul", "cup", first, "--replay").code == 0
    assert crosstown("annul", "cup", first).code == 0
    assert said in json.loads(crosstown("standings", "cup", "--json").out)["caption"]
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        journal.append("resumed", found=3, moved=[])
    assert said not in json.loads(crosstown("standings", "cup", "--json").out)["caption"]


def test_annul_takes_the_beginning_of_an_id(make_run, crosstown):
    folder = make_run()
    first, second, *_ = sorted(path.name.partition(".")[0] for path in folder.matches.glob("*.gz"))
    assert crosstown("annul", "cup", first[:7]).out == f"match {first} does not count\n"
    assert crosstown("annul", "cup", first[:7], "--replay").out.startswith(f"match {first} does not count; ")
    refused = crosstown("annul", "cup", "m00000")
    assert refused.code == 2
    assert f"'m00000' fits several matches: {first}, {second}" in refused.err
    assert "no match 'm7' counts" in crosstown("annul", "cup", "m7").err


@pytest.mark.parametrize("profile", [None, "strict", "plain"])
def test_a_bot_that_joins_is_built_as_the_run_builds(make_run, crosstown, tmp_path, monkeypatch, profile):
    wanted = []
    monkeypatch.setattr(building, "load_or_build", lambda folder, profile=None: wanted.append(profile))
    make_run()
    file = tmp_path / "cup.toml"
    if profile:
        file.write_text(file.read_text().replace("[[bots]]", f'[sandbox]\nprofile = "{profile}"\n[[bots]]', 1))
        shutil.rmtree(tmp_path / "runs")
        tournament = load_tournament(file)
        folder = choose_folder(tmp_path / "runs", describe(tournament), new=False)
        folder.make()
        with Journal(folder.journal, read_journal(folder.journal)) as journal:
            journal.append("created", format=1, hash=digest(describe(tournament)), configuration=describe(tournament))
    bot = tmp_path / "bots" / "eve"
    shutil.copytree(tmp_path / "bots" / "ann", bot)
    (bot / "bot.py").write_text("# eve\n")
    printed = crosstown("add", "cup", "bots/eve", "--name", "eve")
    assert (printed.code, wanted) == (0, [profile]), printed.err


def test_a_run_is_not_resumed_with_a_weaker_sandbox_unless_that_is_accepted(
    make_run, crosstown, tmp_path, monkeypatch, write_tournament
):
    file = write_tournament()
    for name in ("ann", "bob"):
        (tmp_path / "bots" / name / "bot.py").write_text(f"import crosstown_bot  # {name}\nraise SystemExit\n")
    monkeypatch.setattr(
        "referee.tournament.play.probe", lambda: Probe(False, "bubblewrap is not installed", "install it")
    )
    tournament = load_tournament(file)
    folder = choose_folder(tmp_path / "runs", describe(tournament), new=False)
    folder.make()
    strict = {entry.id: {"profile": "strict"} for entry in tournament.entries}
    with Journal(folder.journal, read_journal(folder.journal)) as journal:
        description = describe(tournament)
        journal.append("created", format=1, hash=digest(description), configuration=description, machine=strict)
    refused = crosstown("run", "cup.toml")
    assert refused.code == 2
    said = " ".join(refused.err.split())
    assert "played with a stronger sandbox than works here now: '<ann>': sandbox: strict -> plain" in said
    assert "--accept-weaker-sandbox" in said
    accepted = " ".join(crosstown("run", "cup.toml", "--accept-weaker-sandbox").err.split())
    assert "changed since this run was played last: '<ann>': sandbox: strict -> plain" in accepted
    kept = [line.fields["machine"] for line in read_journal(folder.journal).events if line.kind == "machine"]
    assert [facts["profile"] for facts in kept[0].values()] == ["plain", "plain"]
    sentence = "changed while the run went on: '<ann>': sandbox: strict -> plain"
    assert sentence in crosstown("standings", "cup").out
    assert json.loads(crosstown("standings", "cup", "--json").out)["machine_changes"][0] == sentence
    assert facts_of(folder.path).warnings[0] == sentence


def test_a_bot_that_must_be_built_is_built_before_it_joins(make_run, crosstown, tmp_path, monkeypatch):
    monkeypatch.setenv("CROSSTOWN_CACHE", str(tmp_path / "cache"))
    folder = make_run()
    shutil.copytree(ROOT / "bots" / "bridge" / "c", tmp_path / "c", ignore=shutil.ignore_patterns("build"))
    printed = crosstown("add", "cup", "c")
    assert printed.code == 0, printed.err
    assert "building c: compiling ..." in printed.err
    assert printed.out.startswith("'c' joins from place 4 on; continue with: crosstown run ")
    assert [control.kind for control in read_controls(folder.journal)] == ["added"]


def test_a_bot_that_cannot_be_built_does_not_join(make_run, crosstown, tmp_path, monkeypatch):
    monkeypatch.setenv("CROSSTOWN_CACHE", str(tmp_path / "cache"))
    folder = make_run()
    shutil.copytree(ROOT / "bots" / "bridge" / "c", tmp_path / "c", ignore=shutil.ignore_patterns("build"))
    (tmp_path / "c" / "bot.c").write_text("int main(void) { return oops; }\n")
    printed = crosstown("add", "cup", "c")
    assert printed.code == 1
    assert "ended with exit code" in printed.err
    assert read_controls(folder.journal) == ()


@pytest.mark.parametrize("command", ["withdraw", "disable"])
def test_whoever_lets_too_few_bots_remain_hears_what_that_means(make_run, crosstown, command):
    make_run()
    printed = crosstown(command, "cup", "<ann>")
    assert printed.code == 0
    assert printed.out.splitlines()[1] == "too few bots are left (1): nothing more is played"
    refused = crosstown(command, "cup", "[b]bob")
    assert refused.code == 2
    assert "'[b]bob' is the last bot of this run" in refused.err
    assert "next: leave the run as it is, or let another bot join first: crosstown add" in refused.err


@pytest.mark.parametrize("style", ["league", "round-robin"])
def test_a_run_in_which_nothing_can_be_played_says_why_and_what_to_do(make_run, crosstown, style):
    make_run(played=0, style=style)
    assert crosstown("withdraw", "cup", "[b]bob").code == 0
    for _ in range(2):
        said = " ".join(crosstown("run", "cup.toml").err.split())
        assert "no match was played: there is none without a bot that is out of the run ('[b]bob');" in said
        assert "to let it play: crosstown reinstate runs/cup " in said
        assert "; then: crosstown run cup.toml" in said
