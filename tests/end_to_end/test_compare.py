"""Two bots compared for real: the same verdict for any number of workers, and taken up again."""

import json

import pytest

from referee.record import read_record
from referee.run.journal import read_journal
from referee.schedule.seeds import block_seed


def compare(workplace, *words):
    return workplace.run("compare", "bots/bot0", "bots/bot1", "--games", "toy", "--json", *words)


@pytest.mark.usefixtures("same_luck")
def test_one_worker_and_two_give_the_same_evidence_and_again_nothing_is_played(workplace, write_cup):
    write_cup(bots=2)
    found = []
    for workers in ("1", "2"):
        printed = compare(workplace, "--cap", "6", "--workers", workers, "--out", f"out{workers}")
        assert printed.code in (0, 1), printed.stderr
        found.append(json.loads(printed.stdout))
        found[-1].pop("run")
    assert found[0] == found[1]
    assert 0 < found[0]["rounds"] <= 6
    again = json.loads(compare(workplace, "--cap", "6", "--out", "out1").stdout)
    again.pop("run")
    assert again == found[0]


@pytest.mark.strict_sandbox
def test_a_comparison_that_began_in_the_sandbox_goes_on_without_it_only_if_that_is_accepted(workplace, write_cup):
    write_cup(bots=2)
    wide = ("--scores", "0.01", "0.99")
    began = json.loads(compare(workplace, "--cap", "1", *wide).stdout)
    (workplace.folder / "bin").mkdir()
    workplace.environment["PATH"] = str(workplace.folder / "bin")  # where no bubblewrap is
    refused = compare(workplace, "--cap", "2", *wide)
    assert refused.code == 2
    said = " ".join(refused.stderr.split())
    assert "played with a stronger sandbox than works here now: 'bot 0': sandbox: strict -> plain" in said
    assert "--accept-weaker-sandbox" in said
    assert refused.stdout == ""
    accepted = compare(workplace, "--cap", "2", *wide, "--accept-weaker-sandbox")
    assert accepted.code in (0, 1), accepted.stderr
    went_on = json.loads(accepted.stdout)
    assert (went_on["run"], began["rounds"], went_on["rounds"]) == (began["run"], 1, 2)
    (changed,) = [
        e for e in read_journal(workplace.folder / began["run"] / "tournament.jsonl").events if e.kind == "machine"
    ]
    assert [facts["profile"] for facts in changed.fields["machine"].values()] == ["plain", "plain"]


def test_a_higher_cap_goes_on_and_plays_no_round_again(workplace, write_cup):
    write_cup(bots=2)
    wide = ("--scores", "0.3", "0.7")
    short = json.loads(compare(workplace, "--cap", "2", *wide).stdout)
    assert (short["rounds"], short["cap"]) == (2, 2)
    records = sorted((workplace.folder / short["run"] / "matches").glob("*.gz"))
    times = [path.stat().st_mtime_ns for path in records]
    longer = json.loads(compare(workplace, "--cap", "4", *wide).stdout)
    assert longer["run"] == short["run"]
    assert longer["rounds"] > 2
    assert [path.stat().st_mtime_ns for path in records] == times
    less = json.loads(compare(workplace, "--cap", "3", *wide).stdout)
    assert less == longer, "what was played stays"
    verified = workplace.run("matches", "verify", short["run"], "--json")
    assert json.loads(verified.stdout)["runs"] == [], verified.stderr
    assert json.loads(verified.stdout)["wrong"] == 0


def test_rounds_beyond_an_old_cap_have_luck_that_nobody_knew_when_the_cap_was_reached(workplace, write_cup):
    write_cup(bots=2)
    wide = ("--scores", "0.01", "0.99", "--alpha", "0.0001", "--beta", "0.0001")
    run = workplace.folder / json.loads(compare(workplace, "--cap", "2", *wide).stdout)["run"]
    compare(workplace, "--cap", "3", *wide)
    events = read_journal(run / "tournament.jsonl").events
    kinds = [event.kind for event in events if event.kind in ("created", "revealed", "epoch")]
    assert kinds == ["created", "revealed", "epoch", "revealed"]
    told = [bytes.fromhex(event.fields["secret"]) for event in events if event.kind == "revealed"]
    played = {read_record(path).header.block: read_record(path).footer.seed for path in (run / "matches").glob("*.gz")}
    secrets = {block: told[block >= 2] for block in played}
    assert played == {block: block_seed(secret, 1, "toy", block) for block, secret in secrets.items()}
    assert set(played) == {0, 1, 2}


def test_an_sprt_is_another_comparison_and_counts_the_same_rounds(workplace, write_cup):
    write_cup(bots=2)
    usual = json.loads(compare(workplace, "--cap", "1").stdout)
    printed = compare(workplace, "--cap", "1", "--sprt", "--new")
    assert printed.code in (0, 1), printed.stderr
    sprt = json.loads(printed.stdout)
    assert (usual["test"], sprt["test"], sprt["rounds"]) == ("betting", "sprt", 1)
    assert usual["run"] != sprt["run"]
    low, high = sprt["llr_bounds"]
    assert low < sprt["llr"] < high
    assert read_journal(workplace.folder / sprt["run"] / "tournament.jsonl").configuration["settings"]["test"] == "sprt"


def test_other_bounds_are_another_comparison(workplace, write_cup):
    write_cup(bots=2)
    assert compare(workplace, "--cap", "2").code in (0, 1)
    (file,) = (workplace.folder / "runs").glob("*.toml")
    before = file.read_text()
    refused = compare(workplace, "--cap", "2", "--elo", "0", "100")
    assert file.read_text() == before, "a refused comparison leaves the file of the other alone"
    assert refused.code == 2
    assert "high" in refused.stderr
    assert compare(workplace, "--cap", "2", "--elo", "0", "100", "--new").code in (0, 1)
