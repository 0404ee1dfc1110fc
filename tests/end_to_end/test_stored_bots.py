"""What plays is what the run began with: bots edited and removed while it goes on, and before it is resumed."""

import gzip
import json
import shutil
import signal
from pathlib import Path

from referee.record.reader import read_header


def answers(path: Path) -> bytes:
    return b"".join(line for line in gzip.decompress(path.read_bytes()).splitlines(True) if line.startswith(b'["f"'))


def test_a_bot_that_is_edited_in_mid_run_plays_on_as_it_was(workplace, write_cup, tmp_path):
    """The new source would crash; every process is a new one, so that it would be read."""
    write_cup(bots=2, blocks=60)
    process = workplace.start("run", "cup.toml", "--workers", "1")
    workplace.wait_for_records(3, process)  # of which the last may be of a match that goes on, and goes with it
    (tmp_path / "bots" / "bot0" / "bot.py").write_text("raise SystemExit('edited')\n")
    shutil.rmtree(tmp_path / "bots" / "bot1")
    workplace.kill(process, signal.SIGINT)
    assert 2 <= len(workplace.records()) < 120
    again = workplace.run("run", "cup.toml", "--workers", "2")
    assert again.code == 0, again.stderr
    said = " ".join(again.stderr.split())
    assert f"warning: {tmp_path}/bots/bot0 has changed since this run began; 'bot 0' plays on as it was then" in said
    assert f"warning: {tmp_path}/bots/bot1 is gone since this run began; 'bot 1' plays on as it was then" in said
    assert len(workplace.records()) == 120
    assert not any(map(answers, workplace.records()))
    assert workplace.run("matches", "verify", "--run", "cup").code == 0
    workplace.assert_nobody_left()


def test_a_program_outside_that_changed_between_two_commands_is_told_and_stands_in_each_record(
    workplace, write_cup, tmp_path
):
    """The bot's folder, and with it its hash, is the same."""
    write_cup(bots=2, blocks=60, more='[sandbox]\nprofile = "plain"\n')
    outside = tmp_path / "shared" / "bot.py"
    outside.parent.mkdir()
    shutil.move(tmp_path / "bots" / "bot0" / "bot.py", outside)
    manifest = tmp_path / "bots" / "bot0" / "bot.toml"
    assert '"bot.py"' in manifest.read_text()
    manifest.write_text(manifest.read_text().replace('"bot.py"', f'"{outside}"'))
    process = workplace.start("run", "cup.toml", "--workers", "1")
    workplace.wait_for_records(3, process)
    workplace.kill(process, signal.SIGINT)
    before = [path.name for path in workplace.records() if path.suffix == ".gz"]
    outside.write_text(outside.read_text() + "# changed\n")
    again = workplace.run("run", "cup.toml")
    assert again.code == 0, again.stderr
    hashes = {}
    for path in workplace.records():
        [seat] = [seat for seat in read_header(path).seats if seat.name == "bot 0"]
        hashes.setdefault(seat.outside[str(outside)], set()).add(path.name)
    (old, first), (new, rest) = sorted(hashes.items(), key=lambda item: min(item[1]))
    assert first == set(before)
    assert len(first | rest) == 120
    told = f"changed since this run was played last: 'bot 0': {outside}: {old} -> {new}"
    assert told in " ".join(again.stderr.split())
    shown = json.loads(workplace.run("standings", "cup", "--json").stdout)["machine_changes"]
    assert shown == [f"changed while the run went on: 'bot 0': {outside}: {old} -> {new}"]


def test_a_bot_that_another_toolchain_built_before_a_run_goes_on_is_told(workplace, write_cup, tmp_path):
    write_cup(bots=2, blocks=60, more='[sandbox]\nprofile = "plain"\n')
    version = tmp_path / "version"
    version.write_text("maker 1\n")
    manifest = tmp_path / "bots" / "bot0" / "bot.toml"
    build = 'build = ["sh", "-c", "mkdir build && cp bot.py build/bot.py"]'
    text = manifest.read_text().replace('"bot.py"', '"build/bot.py"')
    manifest.write_text(text.replace("run =", f'{build}\ntoolchain = ["cat", "{version}"]\nrun =', 1))
    process = workplace.start("run", "cup.toml", "--workers", "1")
    workplace.wait_for_records(3, process)
    workplace.kill(process, signal.SIGINT)
    version.write_text("maker 2\n")
    same = workplace.run("run", "cup.toml", "--dry-run")
    assert "maker" not in same.stderr
    shutil.rmtree(tmp_path / "cache")
    again = workplace.run("run", "cup.toml")
    assert again.code == 0, again.stderr
    told = " ".join(again.stderr.split())
    assert "changed since this run was played last: 'bot 0': build, toolchain: " in told
    assert " by maker 1 -> " in told
    assert " by maker 2" in told


def test_a_cache_that_is_removed_in_mid_run_costs_no_bot_anything(workplace, write_cup, tmp_path):
    write_cup(bots=2, blocks=12, keys={"fresh": "true"})
    process = workplace.start("run", "cup.toml", "--workers", "1")
    workplace.wait_for_records(3, process)
    shutil.rmtree(tmp_path / "cache")
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 3, stderr
    assert " cannot play on: " in stderr
    assert "next: run the same command again" in stderr
    assert "disqualified" not in stderr
    again = workplace.run("run", "cup.toml")
    assert again.code == 0, again.stderr
    assert "disqualified" not in again.stdout
    assert len(workplace.records()) == 24


def test_a_folder_with_a_huge_sparse_file_is_refused_at_once(workplace, write_cup, tmp_path):
    write_cup(bots=2, blocks=1)
    with (tmp_path / "bots" / "bot0" / "huge").open("wb") as file:
        file.truncate(200 << 30)
    for words in (("run", "cup.toml"), ("match", "toy", "--seat", "bots/bot0", "--seat", "bots/bot1")):
        outcome = workplace.run(*words, timeout_s=30)
        assert outcome.code == 2, outcome.stderr
        assert "holds more than 4 GiB" in " ".join(outcome.stderr.split())
