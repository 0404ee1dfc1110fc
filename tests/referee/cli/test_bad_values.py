"""Every argument and option of every command with values that cannot be, taken from the command tree: one sentence
about the value, exit code 2, and nothing is written."""

import math
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from leaderboard.web.app import make_app
from referee.cli.ladder_client import TOKEN_VARIABLE
from referee.cli.listening import address_of, listen_on
from referee.ladder.config import load_ladder
from referee.ladder.hand_ins import LadderHandIns
from referee.ladder.intake import open_store
from tests.command_tree import ELSEWHERE, commands

LONG = "n" * 300
OF_A_LADDER = {"serve", "login", "submit", "bots connect"} | {
    " ".join(words) for words, _ in commands() if words[0] == "ladder"
}


COMMANDS = {" ".join(words): command for words, command in commands() if " ".join(words) not in ELSEWHERE}

LINES = {
    "run": "cup.toml",
    "match": "toy --seat bots/ann --seat bots/bob",
    "standings": "cup",
    "report": "cup page.html",
    "rebuild": "cup",
    "pack": "cup",
    "sign": "cup",
    "withdraw": "cup cyd",
    "disable": "cup cyd",
    "reinstate": "cup cyd",
    "add": "cup bots/new",
    "annul": "cup {match}",
    "extend": "cup --blocks 1",
    "compare": "bots/ann bots/bob --games toy",
    "certificate": "cup.toml",
    "doctor": "",
    "web": "--port 0",
    "publish": "runs/cup site",
    "export": "cup all.csv",
    "docs": "cli",
    "bridge": "cat",
    "bots new": "fresh --lang python",
    "bots build": "bots/ann",
    "bots list": "bots",
    "bots check": "bots/ann --game toy",
    "matches list": "cup",
    "matches show": "{match}",
    "matches verify": "{match}",
    "matches export": "{match} page.html",
    "matches rejudge": "{match}",
    "games list": "",
    "games show": "toy",
    "games check": "toy --matches 1",
    "cluster scheduler": "",
    "cluster worker": "127.0.0.1",
    "cluster local": "",
    "cluster certificates": "pki",
    "cluster machines": "cup",
    "cluster slurm": "host.example",
    "cluster kubernetes": "arena:1",
    "serve": "ladder.toml --port 0",
    "login": "{ladder} --token-file token.txt",
    "submit": "bots/ann --name mine --ladder {ladder}",
    "bots connect": "bots/ann {ladder} --name far",
    "ladder invite": "--file ladder.toml",
    "ladder token": "ann --file ladder.toml",
    "ladder revoke": "ann 1 --file ladder.toml",
    "ladder people": "--file ladder.toml",
    "ladder block": "bob --reason why --file ladder.toml",
    "ladder collect": "class.toml --no-wait --file ladder.toml",
}
"""Arguments with which each command works, but for the value that is tried. A new command needs a line here."""

REMOTE = "toy --seat bots/ann --seat remote --listen 127.0.0.1:0"
PEM = {"--ca": "--cert note.txt --key note.txt", "--cert": "--ca note.txt --key note.txt"}
PEM["--key"] = "--ca note.txt --cert note.txt"
LINES_OF_OPTIONS = {
    **{("run", name): f"cup.toml --scheduler 127.0.0.1 {others}" for name, others in PEM.items()},
    **{("serve", name): f"ladder.toml --scheduler 127.0.0.1 {others}" for name, others in PEM.items()},
    **{("cluster scheduler", name): others for name, others in PEM.items()},
    **{("cluster worker", name): f"127.0.0.1 {others}" for name, others in PEM.items()},
    ("match", "--listen"): "toy --seat bots/ann --seat remote",
    ("match", "--public"): REMOTE,
    ("match", "--certificate"): f"{REMOTE} --key note.txt",
    ("match", "--key"): f"{REMOTE} --certificate note.txt",
    ("web", "--bots"): "--port 0 --play",
    ("web", "--move-limit"): "--port 0 --play",
    ("web", "--secret"): "--port 0 --play",
    ("login", "--invitation"): "{ladder} --name zed",
    ("login", "--name"): "{ladder} --invitation {code}",
    ("ladder block", "--reason"): "bob --file ladder.toml",
    **dict.fromkeys([("matches export", name) for name in ("--step", "--seat", "--theme", "--pace")], "{match} p.svg"),
}
"""Options that belong to others."""

PATHS = {"missing": "gone/there", "folder": "bots", "file": "note.txt", "inside of a file": "note.txt/x", "long": LONG}
TEXTS = {"text": "no such", "minus": "-1", "nan": "nan", "control": "\x1b[31m", "long": LONG, "file": "note.txt"}
NUMBERS = {"text": "x", "nan": "nan", "minus nan": "-nan", "inf": "inf", "minus inf": "-inf", "huge": "9" * 30}

REASONED = ("withdraw", "disable", "reinstate", "annul", "extend", "add", "matches rejudge")
FITS = {
    ("report", "file"): ("missing", "file"),  # written, with its folder
    ("matches export", "file"): ("folder", "missing", "file"),  # these have no suffix, and are refused for it
    **{(name, "--reason"): tuple(TEXTS) for name in REASONED},
    **{
        ("add", name): tuple(TEXTS | PATHS) for name in ("--token-env", "--token-file", "--version")
    },  # see test_control
    ("add", "--name"): ("text", "minus", "nan", "file"),
    ("add", "--club"): ("text", "minus", "nan", "file"),
    ("add", "--env"): tuple(TEXTS),  # it may be set when the run goes on
    ("match", "--public"): ("nan", "file"),  # names that a machine may have
    ("web", "--name"): ("nan", "file"),
    ("bots new", "name"): ("text", "nan", "file"),
    ("bots new", "--in"): ("missing", "folder"),
    ("bots list", "folders"): ("folder",),
    ("bots list", "--out"): ("missing", "folder"),  # no bot has failed to start there
    **dict.fromkeys([(name, "--out") for name in ("run", "match", "compare", "certificate")], ("missing", "folder")),
    ("run", "--anchor"): ("missing",),  # made
    ("games check", "--progress"): ("missing",),  # made
    ("games check", "--golden"): ("file",),  # a check that fails
    ("games check", "--seed"): ("huge",),  # any whole number is one
    ("matches list", "--last"): ("huge",),  # all there are
    **{("matches list", name): tuple(TEXTS) for name in ("--bot", "--game", "--tournament")},  # no match fits
    **{("export", name): tuple(TEXTS) for name in ("--bot", "--game")},  # as above
    ("match", "--read"): ("folder", "file"),
    ("bots check", "--read"): ("folder", "file"),
    ("add", "--read"): ("folder", "file"),
    ("compare", "--read"): ("folder", "file"),
    ("web", "--runs"): ("folder",),
    ("publish", "target"): ("missing",),  # made
    ("serve", "--name"): ("nan", "file"),
    ("serve", "--scheduler"): ("nan", "file"),  # names that a machine may have; the ladder waits for it
    **dict.fromkeys(
        [("login", "url"), ("submit", "--ladder"), ("bots connect", "url")], ("nan", "file")
    ),  # names that a host may have
    ("login", "--name"): ("text", "minus", "nan", "file"),
    ("submit", "--name"): ("text", "minus", "nan", "file"),
    ("bots connect", "--name"): ("text", "minus", "nan", "file"),
    ("ladder invite", "--label"): ("text", "minus", "nan", "file"),
    ("ladder token", "owner"): ("text", "nan", "file"),  # the account is made
    ("ladder token", "--label"): ("text", "minus", "nan", "file"),
    ("ladder block", "--reason"): tuple(TEXTS),
    ("web", "--bots"): ("folder",),
    ("cluster worker", "--name"): ("text", "nan", "file"),
    ("cluster worker", "--class"): ("text", "nan", "file"),
    ("cluster worker", "--host"): ("nan", "file"),
    ("cluster worker", "--work"): ("missing", "folder"),
    ("cluster certificates", "folder"): ("missing", "folder"),
    ("cluster certificates", "--name"): ("text", "nan", "file"),
    ("cluster slurm", "address"): ("nan", "file"),
    ("cluster kubernetes", "image"): ("nan", "file"),
    **{(name, "--name"): ("text", "nan", "file") for name in ("cluster slurm", "cluster kubernetes")},
    **{(name, "--pki"): tuple(PATHS) for name in ("cluster slurm", "cluster kubernetes")},  # a folder of the nodes
}
"""Values of these tables that are none too bad for an option."""


SECRETS = {("login", "--invitation")}
"""Options whose values no error shows."""


def name_of(parameter: Any) -> str:
    """--last, or the name of an argument."""
    return str(parameter.opts[0])


def is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def values(parameter: Any) -> dict[str, str]:
    """Bad ones for what the parameter takes, by what is wrong with them. An argument with a dash is an option."""
    takes = str(parameter.type_descriptor.annotation)
    if "bool" in takes:
        return {}
    if "Path" in takes:
        return PATHS
    if "int" not in takes and "float" not in takes:
        return {what: text for what, text in TEXTS.items() if not (text[0] == "-" and is_argument(parameter))}
    found = dict(NUMBERS)
    step = 1 if "int" in takes else 0.0001
    if parameter.min is not None:
        found["too small"] = str(parameter.min - step)
    if parameter.max is not None:
        found["too large"] = str(parameter.max + step)
    return found | ({"broken": "1.5"} if "int" in takes else {})


def line(command: str, parameter: Any, value: str, **names: str) -> list[str]:
    """The words of the command with this value."""
    name = name_of(parameter)
    words = LINES_OF_OPTIONS.get((command, name), LINES[command]).format(**names).split()
    if not is_argument(parameter):
        return [*command.split(), *words, name, *[value] * max(1, parameter.nargs)]
    place = [one for one in COMMANDS[command].params if is_argument(one)].index(parameter)
    return [*command.split(), *words[:place], value, *words[place + 1 :]]


@pytest.fixture
def run_folder(make_run: Any, tmp_path: Path) -> Path:
    """A folder with the run "cup" of ann, bob and cyd, another bot, and a file that is none of what is asked for."""
    make_run("cup", others=("cyd",))
    new = tmp_path / "bots" / "new"
    shutil.copytree(tmp_path / "bots" / "cyd", new)
    (new / "bot.toml").write_text((new / "bot.toml").read_text().replace("cyd", "new"))
    (tmp_path / "note.txt").write_text("a note\n")
    return tmp_path


@pytest.fixture
def ladder(
    run_folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[dict[str, str]]:
    """The ladder of ladder.toml with the accounts of ann and bob, served; its address, and an invitation's code."""
    data = tmp_path_factory.mktemp("ladder")
    (run_folder / "ladder.toml").write_text(
        f'data = "{data}"\n[remote]\nlisten = "127.0.0.1:0"\nplain = true\n'
        '[[divisions]]\ngame = "toy"\nadmits = ["remote"]\n'
    )
    (run_folder / "class.toml").write_text('[[bots]]\nowner = "ann"\npath = "bots/ann"\nname = "collected"\n')
    config = load_ladder(run_folder / "ladder.toml")
    with open_store(config) as store:
        for owner in ("ann", "bob"):
            store.accounts.add_owner(owner)
        (run_folder / "token.txt").write_text(store.accounts.create_token("ann", "", "manage", None).secret)
        code = store.accounts.create_invitation("", 1, 1).code
        pages = make_app(data, hand_ins=LadderHandIns(config, store, door=lambda: {"address": "127.0.0.1:9"}))
        server = uvicorn.Server(uvicorn.Config(pages, log_level="warning", lifespan="off"))
        bound = listen_on("127.0.0.1", 0)
        bound.listen()
        thread = threading.Thread(target=server.run, args=[[bound]])
        thread.start()
        address = address_of(bound, "127.0.0.1").rstrip("/")
        monkeypatch.setenv("XDG_CONFIG_HOME", str(data / "config"))
        monkeypatch.setenv(TOKEN_VARIABLE, (run_folder / "token.txt").read_text())
        yield {"ladder": address, "code": code}
        server.should_exit = True
        thread.join()
        bound.close()


def tree(folder: Path) -> dict[Path, bytes]:
    """Every file with its content, but for the database, the head of the journal and the lock: they follow from it."""
    return {
        path: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in (".db", ".head", ".lock")
    }


def shown(value: str, err: str) -> bool:
    """Whether an error has the value in it, as text or as the number that it is."""
    if value in err or ascii(value)[1:-1] in err:
        return True
    try:
        number = float(value)
    except ValueError:
        return False
    return any(
        text in err for text in (f"{number:g}", repr(number), str(abs(number)) if math.isnan(number) else "nan!")
    )


@pytest.fixture
def names(request: Any, command: str) -> dict[str, str]:
    """What stands in braces in the line of the command."""
    if command in OF_A_LADDER:
        found: dict[str, str] = request.getfixturevalue("ladder")
        return found
    matches = request.getfixturevalue("run_folder") / "runs" / "cup" / "matches"
    return {"match": sorted(matches.glob("*.gz"))[0].name.partition(".")[0]}


@pytest.mark.slow
@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "bridge"])
def test_every_option_refuses_bad_values_in_one_sentence_that_has_the_value(command, names, run_folder, crosstown):
    before, wrong = tree(run_folder), []
    for parameter in COMMANDS[command].params:
        for what, value in values(parameter).items():
            if what in FITS.get((command, name_of(parameter)), ()):
                continue
            words = line(command, parameter, value, **names)
            printed = crosstown(*words)
            lines = printed.err.splitlines()
            told = len(lines) == 2 and lines[0].startswith("error: ") and lines[1].startswith("next: ")
            hidden = value == LONG or (command, name_of(parameter)) in SECRETS
            if printed.code != 2 or printed.out or not told or not (hidden or shown(value, lines[0])):
                wrong.append((" ".join(words)[-120:], what, printed.code, printed.out[-200:], printed.err[-400:]))
    assert not wrong, "\n".join(map(repr, wrong))
    after = tree(run_folder)
    assert {str(path) for path in before | after if before.get(path) != after.get(path)} == set()


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "bridge"])
def test_an_empty_word_is_refused_wherever_it_stands(command, names, run_folder, crosstown):
    for parameter in COMMANDS[command].params:
        if not values(parameter):
            continue
        words = line(command, parameter, "", **names)
        name = name_of(parameter) if not is_argument(parameter) else "an argument"
        for given in [words, *([[*words[: -max(1, parameter.nargs) - 1], f"{name}="]] if name.startswith("-") else [])]:
            printed = crosstown(*given)
            assert (printed.code, printed.out) == (2, ""), given
            assert printed.err == f"error: {name} is empty\nnext: give it a value, or leave it out\n", given


def test_the_words_of_a_bridged_program_may_be_empty(crosstown):
    printed = crosstown("bridge", "no-such-program", "")
    assert "cannot start 'no-such-program'" in printed.err


def test_the_tables_name_no_option_that_is_gone():
    known = {(name, name_of(one)) for name, command in COMMANDS.items() for one in command.params}
    assert set(FITS) - known == set()
    assert set(LINES_OF_OPTIONS) - known == set()
    assert set(LINES) - set(COMMANDS) == set()
