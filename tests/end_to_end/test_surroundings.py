"""The commands in surroundings that machines do have: no home, a long TMPDIR, an ASCII locale, a read-only home."""

import json
import os
import shlex
import shutil
import signal
import socket
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.command_tree import commands
from tests.end_to_end.serving import wait_for
from tests.sentences import says

ROOT = Path(__file__).resolve().parents[2]
RANDOM = ROOT / "bots" / "python" / "random"
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def long_folder(place: Path) -> Path:
    """A folder whose path has more bytes than a socket's may."""
    deep = place / ("t" * 60) / ("u" * 60)
    deep.mkdir(parents=True)
    return deep


def without_home(place: Path) -> dict[str, str | None]:
    return {"HOME": None, "XDG_CACHE_HOME": None}


def with_a_long_tmpdir(place: Path) -> dict[str, str | None]:
    return {"TMPDIR": str(long_folder(place))}


def with_odd_characters_in_tmpdir(place: Path) -> dict[str, str | None]:
    (place / "100%?\udcf6").mkdir()
    return {"TMPDIR": str(place / "100%?\udcf6")}


def with_an_ascii_locale(place: Path) -> dict[str, str | None]:
    return dict(ASCII)


def with_a_home_that_cannot_be_written(place: Path) -> dict[str, str | None]:
    (place / "tmp").mkdir()
    return {"HOME": "/proc/self", "XDG_CACHE_HOME": None, "CROSSTOWN_CACHE": None, "TMPDIR": str(place / "tmp")}


def with_all_of_these(place: Path) -> dict[str, str | None]:
    """No home, a long TMPDIR with an escape in it, and an ASCII locale; a fault that one of them causes shows here, and
    the long run says which."""
    return {**without_home(place), **dict(ASCII), "TMPDIR": str(long_folder(place / "100%"))}


ALONE = [without_home, with_a_long_tmpdir, with_odd_characters_in_tmpdir, with_an_ascii_locale]
SURROUNDINGS = [
    with_all_of_these,
    with_a_home_that_cannot_be_written,
    *(pytest.param(make, marks=pytest.mark.long) for make in ALONE),
]


@pytest.fixture(params=SURROUNDINGS, ids=lambda make: make.__name__)
def surrounded(request: Any, workplace: Any, write_cup: Callable[..., Path], tmp_path: Path) -> Any:
    """The workplace in such surroundings, with a cup of two bots of which one has an umlaut in its folder."""
    write_cup(bots=2, blocks=1)
    shutil.move(tmp_path / "bots" / "bot1", tmp_path / "bots" / "bött")
    (tmp_path / "cup.toml").write_text((tmp_path / "cup.toml").read_text().replace("bots/bot1", "bots/bött"))
    surroundings = request.param(tmp_path)
    workplace.environment = {name: value for name, value in surroundings.items() if value is not None}
    workplace.without = tuple(name for name, value in surroundings.items() if value is None)
    return workplace


BOT = str(Path("bots") / "bött")
PLAYED = [
    ("run", "cup.toml"),
    ("run", "swiss.toml"),
    ("match", f"toy --seat {BOT} --seat bots/bridged"),
    ("compare", f"{BOT} bots/bot0 --games toy --cap 1 --quiet"),
]
"""Commands that play, each in a process of its own."""
LISTENS = ("bots check", f"{BOT} --game toy --fail-fast")
AFTERWARDS = [
    ("bots new", "fresh --lang c --in bots"),
    ("bots build", "bots/fresh"),
    ("bots list", "bots"),
    ("games list", ""),
    ("games show", "toy"),
    ("games check", "toy --matches 1"),
    ("standings", "cup"),
    ("report", "cup page.html"),
    ("matches list", "cup"),
    ("matches show", "{match}"),
    ("matches verify", "{match}"),
    ("matches export", "{match} match.html"),
    ("matches rejudge", "{match}"),
    ("annul", "cup {match}"),
    ("withdraw", "cup 'bot 0'"),
    ("reinstate", "cup 'bot 0'"),
    ("disable", "cup 'bot 0'"),
    ("add", "cup bots/fresh --name late"),
    ("extend", "cup --blocks 1"),
    ("rebuild", "cup"),
    ("sign", "cup"),
    ("publish", "runs/cup site --jobs 2"),
    ("export", "cup all.csv"),
    ("certificate", "remote.toml"),
    ("doctor", ""),
    ("docs", "cli"),
    ("pairings", "swiss"),
    ("pack", "swiss"),
    ("cluster machines", "cup"),
    ("cluster certificates", "pki"),
    ("cluster slurm", "host.example"),
    ("cluster kubernetes", "arena:1"),
]
"""Commands that read or change the run, one after the other in one process."""
IN_TURN = """
import json, sys
from referee.cli.main import main

for words in json.loads(sys.argv[1]):
    given, sys.argv = sys.argv, ["crosstown", *words]
    try:
        main()  # which may begin this program anew, in UTF-8 mode, and then does so at the first command
    except SystemExit as ended:
        print(json.dumps([words, ended.code]), file=sys.stderr)
    sys.argv = given
"""
FITS = {"compare": (1,), "sign": (0, 3)}
"""Exit codes other than 0: one round decides nothing, and where no home can be written there is no place for a key."""
BRIDGED = "bridge"
SERVES = "web"


def words_of(command: str, line: str, **names: str) -> list[str]:
    return [*command.split(), *shlex.split(line.format(**names))]


def make_bridged_bot(folder: Path) -> None:
    """A bot that starts the command `bridge` in place of the module that it comes from."""
    shutil.copytree(ROOT / "bots" / "bridge" / "bash", folder)
    manifest = (folder / "bot.toml").read_text()
    assert '"crosstown_bridge"' in manifest
    (folder / "bot.toml").write_text(manifest.replace('"crosstown_bridge"', '"referee.cli.main", "bridge"'))


def test_every_command_works(surrounded: Any, tmp_path: Path) -> None:
    wrong = []

    def check(words: list[str], code: int, stdout: str, stderr: str) -> None:
        if code not in FITS.get(words[0], (0,)) or "unexpected" in stderr or "Traceback" in stderr:
            wrong.append((words, code, stdout[-400:], stderr[-800:]))

    make_bridged_bot(tmp_path / "bots" / "bridged")
    (tmp_path / "swiss.toml").write_text('format = "swiss"\n' + (tmp_path / "cup.toml").read_text())
    played = [*PLAYED, LISTENS] if "TMPDIR" in surrounded.environment else PLAYED
    for command, line in played:
        outcome = surrounded.run(*words_of(command, line))
        check(words_of(command, line), outcome.code, outcome.stdout, outcome.stderr)
    assert wrong == []
    remote = '[[bots]]\nremote = true\nname = "far"\ntoken_env = "FAR"\n[remote]\nlisten = "127.0.0.1:0"\n'
    (tmp_path / "remote.toml").write_text((tmp_path / "cup.toml").read_text() + remote)
    match = surrounded.records()[0].name.partition(".")[0]
    lines = [words_of(command, line, match=match) for command, line in AFTERWARDS]
    outcome = surrounded.run(json.dumps(lines), program=["-c", IN_TURN])
    ended, stderr = 0, ""
    for printed in outcome.stderr.splitlines():
        if not printed.startswith("[["):
            stderr += f"{printed}\n"
            continue
        words, code = json.loads(printed)
        check(words, code, "", stderr)
        ended, stderr = ended + 1, ""
    assert (wrong, ended, outcome.code, stderr) == ([], len(lines), 0, "")
    server = surrounded.start(SERVES, "--port", "0")
    address = server.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(f"{address}runs/cup", timeout=60) as page:
        assert "bot 1" in page.read().decode()
    ended_by_a_person = surrounded.kill(server, signal.SIGINT)
    assert (ended_by_a_person.code, ended_by_a_person.stderr) == (0, "")
    surrounded.assert_nobody_left()


OF_A_RUN_IN_PLAY = [("pause", "cup --reason why"), ("resume", "cup")]


def test_every_command_to_a_run_that_is_being_played_works(surrounded: Any, tmp_path: Path) -> None:
    file = (tmp_path / "cup.toml").read_text()
    assert "blocks = 1\n" in file
    (tmp_path / "cup.toml").write_text(file.replace("blocks = 1\n", "blocks = 100_000\n"))
    playing = surrounded.start("run", "cup.toml", "--workers", "1")
    surrounded.wait_for_records(1, playing)
    for command, line in OF_A_RUN_IN_PLAY:
        outcome = surrounded.run(*words_of(command, line))
        assert (outcome.code, outcome.stderr) == (0, ""), outcome
    ended_by_a_person = surrounded.kill(playing, signal.SIGINT)
    assert ended_by_a_person.code == 130
    assert "Traceback" not in ended_by_a_person.stderr
    surrounded.assert_nobody_left()


OF_A_CLUSTER = [
    ("cluster scheduler", "--port {port}"),
    ("cluster worker", "tcp://127.0.0.1:{port} --slots 1 --accept-plain"),
    ("cluster local", "--workers 1 --port 0 --accept-plain"),
]
"""Commands that go on until they are stopped, each with the words that say that it has begun."""
HAS_BEGUN = {"cluster scheduler": "scheduler at", "cluster worker": "plays for", "cluster local": "plays for"}


def test_every_command_of_a_cluster_works(surrounded: Any, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
    serving = []
    for command, line in OF_A_CLUSTER:
        log = tmp_path / f"{command}.log"
        with log.open("w") as file:
            process = surrounded.start(*words_of(command, line, port=port), stdout=file, stderr=file)
        serving.append((process, log))
        wait_for(lambda log=log, words=HAS_BEGUN[command]: words in log.read_text(), 60)  # type: ignore[misc]
    outcome = surrounded.run("run", "cup.toml", "--executor", "dask", "--scheduler", f"tcp://127.0.0.1:{port}")
    assert outcome.code == 0, outcome.stderr
    assert len(surrounded.records()) == 2
    for process, log in reversed(serving):
        assert surrounded.kill(process, signal.SIGINT).code in (0, 130), log.read_text()
        assert "Traceback" not in log.read_text()
    surrounded.assert_nobody_left()


LADDER = """
data = "ladder"
port = 0
workers = 1
[remote]
listen = "127.0.0.1:0"
[[divisions]]
game = "toy"
admits = ["remote"]
[[bots]]
path = "bots/bot0"
"""
OF_A_LADDER = [
    ("login", "{ladder} --invitation {code} --name otto"),
    ("ladder invite", "--file ladder.toml"),
    ("ladder people", "--file ladder.toml"),
    ("submit", f"{BOT} --name mine --follow --ladder {{ladder}}"),
    ("ladder collect", "class.toml --file ladder.toml"),
    ("ladder revoke", "eve --file ladder.toml"),
    ("ladder block", "eve --reason why --file ladder.toml"),
]
"""Commands beside a ladder that is served."""
OF_ITS_ORGANISER = [
    ("ladder approve", "ann --reason why --file ladder.toml"),
    ("ladder reset", "ann --file ladder.toml"),
    ("ladder notice", "'Bött' --file ladder.toml"),
    ("ladder annul", "toy {match} --reason why --file ladder.toml"),
    ("ladder pause", "toy --file ladder.toml"),
    ("ladder go-on", "toy --file ladder.toml"),
    ("ladder disable", "mine --file ladder.toml"),
    ("ladder drain", "--file ladder.toml"),
    ("ladder acts", "--file ladder.toml"),
    ("ladder backup", "kept --file ladder.toml"),
    ("ladder restore", "kept --file again.toml"),
    ("ladder season end", "--file ladder.toml"),
    ("ladder season pages", "1 --site pages --file ladder.toml"),
]
"""What somebody at the machine does, when a match has been played."""
MAKES_A_TOKEN = ("ladder token", "ann --scope manage --file ladder.toml --json")
CONNECTS = ("bots connect", "bots/bot0 {ladder} --name afar")
SERVES_A_LADDER = ("serve", "ladder.toml")


def test_every_command_of_a_ladder_works(surrounded: Any, tmp_path: Path) -> None:
    (tmp_path / "ladder.toml").write_text(LADDER)
    (tmp_path / "class.toml").write_text(f'[[bots]]\nowner = "eve"\npath = "{BOT}"\nname = "collected"\n')
    serving = surrounded.start(*words_of(*SERVES_A_LADDER))
    address = serving.stdout.readline().strip().rstrip("/")
    code = serving.stdout.readline().strip().rpartition("code=")[2]
    made = surrounded.run(*words_of(*MAKES_A_TOKEN))
    assert (made.code, made.stderr) == (0, "")
    surrounded.environment["CROSSTOWN_LADDER_TOKEN"] = json.loads(made.stdout)["token"]
    lines = [words_of(command, line, ladder=address, code=code) for command, line in OF_A_LADDER]
    outcome = surrounded.run(json.dumps(lines), program=["-c", IN_TURN])
    codes = [json.loads(line)[1] for line in outcome.stderr.splitlines() if line.startswith("[[")]
    no_place_for_tokens = surrounded.environment.get("HOME") == "/proc/self"
    assert (codes, outcome.code) == ([3 * no_place_for_tokens] + [0] * (len(lines) - 1), 0), outcome
    assert "unexpected" not in outcome.stderr
    assert "Traceback" not in outcome.stderr
    assert "is active in toy" in outcome.stdout
    connecting = surrounded.start(*words_of(*CONNECTS, ladder=address))
    said = ""
    while "version 1 is active in toy" not in said:
        line = connecting.stderr.readline()
        assert line, said
        said += line
    matches = tmp_path / "ladder" / "divisions" / "toy" / "matches"
    wait_for(lambda: any(matches.rglob("*.jsonl.gz")), 60)
    played = next(iter(matches.rglob("*.jsonl.gz"))).name.partition(".")[0]
    (tmp_path / "again.toml").write_text(LADDER.replace('data = "ladder"', 'data = "again"'))
    lines = [words_of(command, line, match=played) for command, line in OF_ITS_ORGANISER]
    outcome = surrounded.run(json.dumps(lines), program=["-c", IN_TURN])
    ended = [json.loads(line) for line in outcome.stderr.splitlines() if line.startswith("[[")]
    assert [words for words, code in ended if code != 0] == [], outcome
    assert (len(ended), outcome.code, "Traceback" in outcome.stderr) == (len(lines), 0, False), outcome
    # Not before the season has ended, which would wait for half a minute whether the bot comes back.
    assert surrounded.kill(connecting, signal.SIGINT).code == 0
    ended_by_a_person = surrounded.kill(serving, signal.SIGINT)
    assert ended_by_a_person.code == 0
    assert "Traceback" not in ended_by_a_person.stderr
    surrounded.assert_nobody_left()


def test_no_command_is_left_out_of_the_surroundings() -> None:
    beside = [*OF_A_LADDER, *OF_ITS_ORGANISER, MAKES_A_TOKEN, CONNECTS, SERVES_A_LADDER]
    going_on = [*OF_A_RUN_IN_PLAY, *OF_A_CLUSTER]
    tried = {command for command, _ in [*PLAYED, LISTENS, *AFTERWARDS, *going_on, *beside]} | {BRIDGED, SERVES}
    assert tried == {" ".join(words) for words, _ in commands()}


def test_in_an_ascii_locale_a_path_is_printed_so_that_it_can_be_copied(workplace: Any, tmp_path: Path) -> None:
    shutil.copytree(RANDOM, tmp_path / "bött")
    workplace.environment = dict(ASCII)
    listed = workplace.run("bots", "list", ".")
    assert "bött" in listed.stdout
    as_json = json.loads(workplace.run("bots", "list", ".", "--json").stdout)
    assert Path(tmp_path / as_json["bots"][0]["folder"]).is_dir()


def test_a_user_without_a_home_is_told_what_to_set_only_where_one_is_needed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from referee import folders

    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv(folders.CACHE_VARIABLE, raising=False)
    monkeypatch.setattr(folders.tempfile, "gettempdir", lambda: str(tmp_path))

    def nobody(_: int) -> Any:
        raise KeyError("no such user")

    monkeypatch.setattr(folders.pwd, "getpwuid", nobody)
    assert folders.home_folder() == Path("/nonexistent")
    own = folders.cache_folder()
    assert own.parent == tmp_path
    assert own.stat().st_mode & 0o777 == 0o700
    assert folders.cache_folder() == own
    with pytest.raises(folders.FolderError, check=says("there is no home folder here; set HOME")):
        folders.expanded("~/models")
    own.chmod(0o777)
    with pytest.raises(folders.FolderError, check=says("somebody else can write there; set CROSSTOWN_CACHE")):
        folders.cache_folder()


def test_a_socket_gets_a_short_path_whatever_tmpdir_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from referee import folders

    monkeypatch.setattr(folders.tempfile, "gettempdir", lambda: str(long_folder(tmp_path)))
    made = folders.make_socket_folder()
    made.rmdir()
    assert len(os.fsencode(made)) < 60


def test_a_working_directory_that_is_gone_is_said(workplace: Any, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    shell = f"mkdir -p {gone} && cd {gone} && rmdir {gone} && exec "
    for words in (["run", "cup.toml"], ["match", "toy", "--seat", "a"], ["bots", "list"], ["games", "list"]):
        outcome = workplace.run(*words, prefix=["sh", "-c", f'{shell} "$@"', "sh"])
        assert outcome.code == 2
        assert outcome.stderr.startswith("error: the working directory is gone\nnext: change to a folder")


@pytest.mark.parametrize(
    "closed", [*(pytest.param(stream, marks=pytest.mark.long) for stream in (">&-", "2>&-", "<&-")), "<&- >&- 2>&-"]
)
def test_what_would_be_printed_to_a_closed_stream_goes_nowhere(workplace: Any, write_cup: Any, closed: str) -> None:
    """The journal and the database had the number of the stream, and errors of printing the code of a failed run."""
    write_cup(bots=2, blocks=1)
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh"]
    assert workplace.run("run", "cup.toml", prefix=shell).code == 0
    ended = workplace.run("standings", "cup", prefix=shell)
    assert (ended.code, ended.stderr) == (0, "")
    assert workplace.run("matches", "verify", "cup").stdout.endswith("2 records: 2 ok, 0 wrong\n")
    wrong = workplace.run("standings", "nowhere", prefix=shell)
    assert wrong.code == 2
    assert wrong.stderr == "" or wrong.stderr.startswith("error: no run of nowhere")
