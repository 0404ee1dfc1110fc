"""What the commands say and do about the secret of the luck."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from referee.record import read_record
from referee.run.folder import RunFolder
from referee.run.head import head_file
from referee.run.journal import Journal, read_journal
from referee.run.luck import keep_secrets
from referee.schedule.seeds import commitment

BOTS = Path(__file__).resolve().parents[3] / "bots" / "python"
GAMES = ("manhattan_traffiq", "--seat", str(BOTS / "random"), "--seat", str(BOTS / "random"))
SECRET = bytes(range(16))


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "my secret"
    path.write_text(SECRET.hex() + "\n")
    path.chmod(0o600)
    return path


def unfinish(folder: RunFolder) -> str:
    """As it was before its secret was told, which is returned."""
    lines = folder.journal.read_text().splitlines(keepends=True)
    last = next(number for number, line in enumerate(lines) if line.startswith('["revealed"'))
    folder.journal.write_text("".join(lines[:last]))
    head_file(folder.journal).unlink()  # which is of the whole journal
    return folder.secrets.read_text().strip()


@pytest.mark.slow
def test_a_match_of_a_secret_has_the_same_luck_again_and_says_who_knows_it(crosstown, secret, tmp_path):
    seeds = []
    for words in ((), (), ("--seed", "07")):
        printed = crosstown("match", *GAMES, "--secret", str(secret), "--json", *words)
        assert printed.code == 0, printed.err
        assert f"everybody who has {secret} knows the luck" in printed.err
        assert SECRET.hex() not in printed.err + printed.out
        seeds.append(json.loads(printed.out)["seed"])
    assert seeds[0] == seeds[1] != seeds[2]
    assert len(seeds[0]) == 32


@pytest.mark.slow
def test_a_run_and_a_comparison_of_a_secret_say_who_knows_their_luck(crosstown, secret, tmp_path):
    """Where the secret is given, and only there."""
    bots = [shutil.copytree(BOTS / "random", tmp_path / "bots" / name) for name in ("ann", "bob")]
    for bot in bots:
        manifest = bot / "bot.toml"
        manifest.write_text(manifest.read_text().replace('"random"', f'"{bot.name}"', 1))
    entered = "".join(f'[[bots]]\npath = "{bot}"\n' for bot in bots)
    (tmp_path / "cup.toml").write_text(f'game = "manhattan_traffiq"\nseed = 1\nblocks = 1\n{entered}')
    for words in (("run", "cup.toml"), ("compare", *map(str, bots), "--games", "manhattan_traffiq", "--cap", "1")):
        for given in (("--secret", str(secret)), ()):
            printed = crosstown(*words, *given)
            assert printed.code in (0, 1), printed.err
            said = " ".join(printed.err.split())
            assert (f"everybody who has {secret} knows the luck" in said) is bool(given), said
            assert SECRET.hex() not in printed.err + printed.out


def test_a_web_server_with_a_secret_says_who_knows_the_luck_of_its_matches(secret, tmp_path):
    address = [sys.executable, "-m", "referee.cli.main", "web", "--port", "0", "--play", "--runs", str(tmp_path)]
    for given in ((), ("--secret", str(secret))):
        with subprocess.Popen(
            [*address, *given], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        ) as server:
            assert server.stdout is not None
            said = ""
            while "http" not in said:
                line = server.stdout.readline()
                assert line, said
                said += line
            server.terminate()
            said += server.stdout.read()
        assert (f"everybody who has {secret} knows the luck" in " ".join(said.split())) is bool(given)
        assert SECRET.hex() not in said


@pytest.mark.parametrize(("seed", "warned"), [("07", True), ("07" * 16, False)])
def test_a_seed_that_a_bot_can_guess_is_warned_of(crosstown, seed, warned):
    printed = crosstown("match", *GAMES, "--seed", seed, "--json")
    assert printed.code == 0, printed.err
    assert ("a bot can guess one of 8 bits" in printed.err) is warned
    assert json.loads(printed.out)["seed"] == seed


def test_an_empty_seed_and_a_secret_without_people_to_play_are_refused(crosstown, secret):
    assert "--seed is empty" in crosstown("match", *GAMES, "--seed", "").err
    assert "--secret is for matches that people play here" in crosstown("web", "--secret", str(secret)).err


@pytest.mark.slow
def test_nothing_that_a_command_prints_or_writes_has_a_secret_that_is_not_revealed(played, crosstown, tmp_path):
    hidden = unfinish(played)
    match = next(played.matches.glob("*.gz")).name.removesuffix(".jsonl.gz")
    for words in (
        ("run", "cup.toml", "--dry-run", "--json"),
        ("standings", "--json"),
        ("report", "cup", "page.html"),
        ("matches", "list", "--json"),
        ("matches", "show", match),
        ("matches", "verify", "cup", "--all", "--json"),
        ("matches", "export", match, "match.json"),
        ("rebuild", "cup", "--json"),
    ):
        printed = crosstown(*words)
        assert printed.code == 0, (words, printed.err)
        assert hidden not in printed.out + printed.err, words
    for path in tmp_path.rglob("*"):
        if path.is_file() and path != played.secrets:
            assert hidden.encode() not in path.read_bytes(), path
    assert "revealed when the run is finished" in (tmp_path / "page.html").read_text()
    assert "987654321" in (tmp_path / "page.html").read_text(), "it decides the pairings alone"
    played.secrets.write_text(f"{bytes(16).hex()}\n")
    refused = crosstown("run", "cup.toml", "--debug")
    assert refused.code != 0
    assert hidden not in refused.err
    played.secrets.write_text(f"{hidden}\n")
    assert crosstown("run", "cup.toml").code == 0
    assert crosstown("report", "cup", "page.html").code == 0
    assert hidden in (tmp_path / "page.html").read_text()


def test_verify_says_whether_all_seeds_follow_from_the_secret(played, crosstown):
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 0, printed.out
    assert "committed to before the first match; all seeds were checked against it" in printed.out
    unfinish(played)
    assert "until then no seed can be checked" in crosstown("matches", "verify", "cup").out


@pytest.mark.slow
def test_verify_names_a_match_whose_luck_was_chosen(played, crosstown):
    """An organiser who plays a match on a seed that he likes: the record is sound, and the secret gives it away."""
    record = next(played.matches.glob("m000000*"))
    other = next(path for path in played.matches.glob("*.gz") if path != record)
    said = crosstown("match", "manhattan_traffiq", "--seat", "bots/ann", "--seat", "bots/bob", "--json")
    assert said.code == 0, said.err
    chosen = Path(json.loads(said.out)["record"])
    record.unlink()
    shutil.copyfile(chosen, played.matches / chosen.name)
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 1
    assert f"the seed {read_record(chosen).footer.seed} does not follow from the secret of the run" in printed.out
    assert str(other) not in printed.out


@pytest.mark.slow
@pytest.mark.parametrize("revealed", [False, True])
def test_an_epoch_that_is_added_to_a_journal_does_not_end_the_check_of_the_seeds_before(
    played, crosstown, revealed, tmp_path, monkeypatch
):
    """The secret that the journal commits to is not the one that the matches were played on."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    real = played.secrets.read_text().strip()
    lines = read_journal(played.journal).events
    played.journal.unlink()
    head_file(played.journal).unlink()
    with Journal(played.journal, read_journal(played.journal)) as journal:
        for line in lines:
            text = json.dumps(dict(line.fields)).replace(real, SECRET.hex())
            journal.append(line.kind, **json.loads(text.replace(commitment(bytes.fromhex(real)), commitment(SECRET))))
    assert crosstown("sign", "cup").code == 0
    with Journal(played.journal, read_journal(played.journal)) as journal:
        journal.append("epoch", epoch=1, commitment=commitment(bytes.fromhex(real)))
        if revealed:
            journal.append("revealed", epoch=1, secret=real)
        journal.write_head()
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 1
    assert printed.out.count("does not follow from the secret of the run") == len(list(played.matches.glob("*.gz")))
    assert revealed or "no seed can be checked of what came to count since it began" in printed.out


@pytest.mark.slow
def test_verify_names_a_secret_that_was_exchanged(played, crosstown):
    unfinish(played)
    with Journal(played.journal, read_journal(played.journal)) as journal:
        journal.append("revealed", epoch=0, secret=SECRET.hex())
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 1
    assert "the secret of epoch 0 that the journal reveals is not the one it is committed to" in printed.out


def test_of_a_run_without_a_secret_verify_says_so(make_run, crosstown):
    make_run()
    assert "its dice and cards have no secret" in crosstown("matches", "verify", "cup").out


def test_the_file_of_secrets_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "luck.secret"
    keep_secrets(path, (SECRET,))
    before = path.read_bytes()
    monkeypatch.setattr("os.fsync", lambda fd: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(Exception, match="No space left"):
        keep_secrets(path, (SECRET, SECRET))
    assert path.read_bytes() == before


@pytest.mark.slow
def test_verify_names_records_whose_names_were_swapped(played, crosstown):
    one, other = sorted(played.matches.glob("*.gz"))
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(kept)
    printed = crosstown("matches", "verify", "cup")
    assert printed.code == 1
    assert printed.out.count("it was put under another name") == 2
