"""A ladder from its first start: an author hands in a bot by command, and sees it in a rated match."""

import http.client
import io
import itertools
import json
import os
import random
import signal
import threading
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from leaderboard.completeness import Verification
from referee.run.run import Run
from tests.end_to_end.serving import RANDOM, Served, has_played, token_file, wait_for


def test_a_bot_is_handed_in_by_command_and_plays_rated_matches(serve: Callable[..., Served]) -> None:
    served = serve()
    _, _, link, _ = served.run("ladder", "invite", "--file", str(served.file)).splitlines()
    assert link.startswith(f"{served.address}/join?")  # the file says port 0
    said = served.run("login", served.address, "--invitation", served.code, "--name", "otto")
    assert "signed in to trial as otto" in said
    tokens = served.folder / "config" / "crosstown" / "ladders.json"
    assert tokens.stat().st_mode & 0o777 == 0o600
    said = served.run("submit", str(RANDOM), "--name", "mine", "--follow")
    assert "handed in version 1 of 'mine'" in said
    assert "is active in toy" in said
    shown = said.split()[-1]
    assert shown == f"{served.address}/bots/mine"
    with urllib.request.urlopen(shown, timeout=20) as page:
        assert "mine" in page.read().decode()
    wait_for(lambda: has_played(served, "toy", "mine"), 60)
    again = served.run("submit", str(RANDOM), "--name", "mine")
    assert "these files are known: version 1" in again


def test_what_was_confirmed_is_there_after_a_kill_of_all_processes(
    serve: Callable[..., Served], tmp_path: Path
) -> None:
    served = serve()
    served.run("login", served.address, "--invitation", served.code, "--name", "otto")
    served.run("submit", str(RANDOM), "--name", "mine")
    served.stop(signal.SIGKILL)
    served.start()
    served.run("login", served.address, "--token-file", token_file(served, tmp_path))
    said = served.run("submit", str(RANDOM), "--name", "mine", "--follow")
    assert "these files are known: version 1" in said
    assert "is active in toy" in said


@pytest.mark.long
def test_a_bot_in_go_is_built_and_plays(serve: Callable[..., Served], tmp_path: Path) -> None:
    served = serve("shibuya")
    served.run("login", served.address, "--invitation", served.code, "--name", "otto")
    served.run("bots", "new", "gopher", "--lang", "go", "--in", str(tmp_path))
    said = served.run("submit", str(tmp_path / "gopher"), "--follow", limit_s=600)
    assert "built in" in said
    assert "is active in shibuya" in said
    wait_for(lambda: has_played(served, "shibuya", "gopher"), 120)


def write_bot(folder: Path, name: str, *, code: str | None = None, more: str = "") -> Path:
    folder.mkdir(parents=True)
    manifest = f'name = "{name}"\nversion = "1"\ngames = ["*"]\nrun = ["{{python}}", "bot.py"]\n{more}'
    (folder / "bot.toml").write_text(manifest + ("\n[options]\nsalt = 0\n" if code is None else ""))
    (folder / "bot.py").write_text((RANDOM / "bot.py").read_text() if code is None else code)
    return folder


def write_class(folder: Path, good: int) -> Path:
    """A file of hand-ins: so many good ones, of which one is an archive, and five that are broken in different ways."""
    lines = []
    for number in range(good):
        bot = write_bot(folder / f"good-{number}", f"good-{number}")
        where = f'path = "good-{number}"'
        if number == 0:
            with zipfile.ZipFile(folder / "good.zip", "w") as packed:
                for path in bot.iterdir():
                    packed.write(path, f"bot/{path.name}")
            where = 'path = "good.zip"\nname = "good-0"'
        lines.append(f'[[bots]]\nowner = "student-{number}"\n{where}')
    (folder / "none").mkdir()
    write_bot(folder / "crash", "crash", code="raise SystemExit('no')\n")
    write_bot(folder / "unbuilt", "unbuilt", more='build = ["false"]\n')
    (folder / "tricks.zip").write_bytes(b"PK\x03\x04" + b"half a zip")
    for owner, where in {
        "empty": 'path = "none"',
        "crash": 'path = "crash"',
        "unbuilt": 'path = "unbuilt"',
        "trick": 'path = "tricks.zip"\nname = "tricks"',
        "missing": 'path = "not-there"',
    }.items():
        lines.append(f'[[bots]]\nowner = "{owner}"\n{where}')
    file = folder / "class.toml"
    file.write_text("\n".join(lines) + "\n")
    return file


@pytest.mark.parametrize("good", [1, pytest.param(25, marks=pytest.mark.long)])
def test_a_class_is_collected_and_each_author_gets_a_verdict(
    serve: Callable[..., Served], tmp_path: Path, good: int
) -> None:
    served = serve()
    (tmp_path / "class").mkdir()
    file = write_class(tmp_path / "class", good)
    said = served.run("ladder", "collect", str(file), "--file", str(served.file), code=1, limit_s=1500)
    verdicts = said.splitlines()
    assert len(verdicts) == good + 5
    assert sum("active in toy" in line for line in verdicts) == good
    broken = {line.partition(":")[0]: line for line in verdicts if "active in toy" not in line}
    assert sorted(broken) == ["crash", "empty", "missing", "trick", "unbuilt"]
    assert "no such file" in broken["empty"]
    assert "'handshake' failed" in broken["crash"]
    assert "exit code 1" in broken["unbuilt"]
    assert "damaged or cut off" in broken["trick"]
    assert "does not exist" in broken["missing"]
    again = served.run("ladder", "collect", str(file), "--file", str(served.file), "--no-wait", code=1)
    assert sum("version 1 active" in line for line in again.splitlines()) == good


def hand_in(served: Served, token: str, content: bytes) -> tuple[int, int]:
    """Status, and the number of the version that the server confirmed; 0 where it did not. OSError if it is gone."""
    request = urllib.request.Request(
        f"{served.address}/api/v1/bots/mine/versions",
        data=content,
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/zip"},
    )
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, json.load(answer)["number"]
    except urllib.error.HTTPError as error:
        return error.code, 0


def rated_matches(served: Served) -> list[str]:
    """The ids of the last matches that the server shows. OSError if it is gone."""
    try:
        listed = served.ask("/runs/toy/matches?count=1000")["matches"]
    except urllib.error.HTTPError:  # there is none yet
        return []
    assert isinstance(listed, list)
    return [match["match_id"] for match in listed]


def bot_archive(salt: int) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path in RANDOM.iterdir():
            if path.is_file():
                archive.writestr(f"bot/{path.name}", path.read_bytes())
        archive.writestr("bot/salt.txt", str(salt))
    return packed.getvalue()


@pytest.mark.parametrize("kills", [2, pytest.param(20, marks=pytest.mark.long)])
def test_what_clients_were_told_is_there_however_often_server_and_player_are_killed(
    serve: Callable[..., Served], kills: int
) -> None:
    served, dice = serve(), random.Random(kills)
    said = served.run("login", served.address, "--invitation", served.code, "--name", "otto")
    assert "otto" in said
    token = json.loads((served.folder / "config" / "crosstown" / "ladders.json").read_text())["tokens"][served.address]
    confirmed: dict[int, bytes] = {}
    rated: set[str] = set()
    answers: set[int] = set()
    salts = itertools.count()
    end_s = 0.0

    def work() -> None:
        """Hand in versions and look at results until the server is gone."""
        while True:
            content = bot_archive(next(salts))
            try:
                status, number = hand_in(served, token, content)
                answers.add(status)
                if number:
                    confirmed[number] = content
                rated.update(rated_matches(served))
            except (OSError, http.client.HTTPException):
                return
            if time.monotonic() > end_s:
                return

    for kill in range(kills):
        end_s = time.monotonic() + dice.uniform(0.5, 4)
        client = threading.Thread(target=work)
        client.start()
        if kill % 2:
            client.join()
            wait_for(lambda: player(served), 60)
            os.kill(player(served), signal.SIGKILL)
        else:
            time.sleep(max(0.0, end_s - time.monotonic() - dice.uniform(0, 0.4)))
            served.stop(signal.SIGKILL)
            client.join()
            served.start()
    wait_for(partial(rated_matches, served), 60)
    assert rated <= set(rated_matches(served))
    assert 201 in answers
    assert answers <= {201, 429}, "too many wait to be checked, and nothing else is wrong"
    for number, content in confirmed.items():
        wait_for(partial(is_known, served, token, content, number), 120)
    served.stop()
    run = Run(served.folder / "data" / "divisions" / "toy")
    assert rated <= set(run.anchors.digests)
    verification = Verification()
    paths = run.records.paths()
    assert {verification.verify(paths[match_id]).status for match_id in run.anchors.digests} <= {"ok"}
    assert not run.check().wrong


def player(served: Served) -> int:
    """The process that plays; 0 while none does."""
    with suppress(OSError, ValueError):
        pid = int(json.loads((served.folder / "data" / "runner.json").read_text())["pid"])
        if pid and b"ladder_process" in Path(f"/proc/{pid}/cmdline").read_bytes():
            return pid
    return 0


def is_known(served: Served, token: str, content: bytes, number: int) -> bool:
    """Whether these files, handed in again, are that version. Not answered while too many others wait."""
    status, known = hand_in(served, token, content)
    assert (status, known) in ((200, number), (429, 0))
    return status == 200
