"""Finding the program of a bot before any match."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.process.entry import load_entry
from referee.process.manifest import ManifestError
from tests.sentences import says

WriteBot = Callable[..., Path]


def test_the_word_python_is_the_referees_own_interpreter(write_bot: WriteBot) -> None:
    assert load_entry(write_bot()).argv == (sys.executable, "bot.py")


def test_a_program_is_looked_for_in_path(write_bot: WriteBot) -> None:
    program, *rest = load_entry(write_bot(run=["sh", "-c", "true"])).argv
    assert Path(program).is_absolute()
    assert Path(program).name == "sh"
    assert rest == ["-c", "true"]


@pytest.mark.parametrize("word", ["./sh", "sh", "deep/sh"])
def test_a_program_in_the_bots_folder_comes_first(write_bot: WriteBot, word: str) -> None:
    folder = write_bot({"sh": "#!/bin/sh\n", "deep/sh": "#!/bin/sh\n"}, run=[word])
    (folder / "sh").chmod(0o755)
    (folder / "deep/sh").chmod(0o755)
    entry = load_entry(folder)
    assert entry.argv == (str(entry.home / word),)


@pytest.mark.parametrize(
    ("run", "toml", "message"),
    [
        (["no-such-program"], None, "'no-such-program', which is not there: it is neither in "),
        (["./bot"], None, "and a name with '/' is not looked for in PATH; correct it"),
        (["/no/such/program"], None, "which is not there"),
        (["./plain"], None, "which is not executable; run: chmod +x "),
        (["plain"], None, "which is not executable; run: chmod +x "),
        (["./folder"], None, "which is a folder; name a program"),
        (["./a plain"], None, "/a plain'"),
        (["{pyton}", "bot.py"], None, "'{pyton}', which means nothing here; write {python} for"),
        (
            ["{python}", "-m", "crosstown_bridge", "perl", "bot.pl"],
            None,
            "starts the bridge without a program; write it after '--', such as",
        ),
        (
            [],
            'name = "B"\nversion = "1"\ngames = ["*"]\nrun = ["./target/bot"]\nbuild = ["cargo", "build"]\n',
            "the bot is not built, or was changed since; build the bot first: crosstown bots build ",
        ),
    ],
)
def test_a_program_that_cannot_run_is_said_before_any_match(
    write_bot: WriteBot, run: list[str], toml: str | None, message: str
) -> None:
    folder = write_bot({"plain": "", "a plain": "", "folder/x": ""}, run=run, toml=toml)
    (folder / "plain").chmod(0o644)
    (folder / "a plain").chmod(0o644)
    with pytest.raises(ManifestError) as error:
        load_entry(folder)
    assert message in error.value.sentence
    assert str(error.value).startswith(str(folder / "bot.toml"))


BRIDGE = ["{python}", "-m", "crosstown_bridge", "--text", "--"]


def test_the_program_behind_the_bridge_is_looked_for_as_well(write_bot: WriteBot) -> None:
    with pytest.raises(ManifestError, match="'run' starts 'no-such-program', which is not there"):
        load_entry(write_bot(run=[*BRIDGE, "no-such-program", "x"]))
    argv = load_entry(write_bot({"bot.sh": ""}, run=[*BRIDGE, "sh", "bot.sh"])).argv
    assert argv[-2:] == ("sh", "bot.sh")
    assert load_entry(write_bot(run=["echo", "--", "no-such-program"])).argv[1:] == ("--", "no-such-program")


def test_a_missing_program_says_which_path_it_was_looked_for_in(
    write_bot: WriteBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = write_bot(run=["no-such-program"])
    monkeypatch.setenv("PATH", "/usr/bin:/opt/tools/bin")
    with pytest.raises(
        ManifestError, check=says("the referee's PATH \\(/usr/bin:/opt/tools/bin\\); install it, add its folder")
    ):
        load_entry(folder)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ManifestError, check=says("PATH is empty; set PATH")):
        load_entry(folder)
    (tmp_path / "no-such-program").write_text("#!/bin/sh\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ManifestError, match=f"{tmp_path}/no-such-program, in PATH, is not executable"):
        load_entry(folder)


def test_a_folder_of_path_that_may_not_be_looked_at_hides_no_other(
    write_bot: WriteBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as one of root's, inherited by another user in a container. A name that is too long is refused for root."""
    monkeypatch.setenv("PATH", f"/{'x' * 300}:/usr/bin")
    for run in (["no-such-program"], [*BRIDGE, "no-such-program"], ["env", "no-such-program"]):
        with pytest.raises(ManifestError, match="'no-such-program', which is not there: it is neither in"):
            load_entry(write_bot(run=run))


def test_a_program_that_is_a_link_to_nothing_is_named_as_one(write_bot: WriteBot, tmp_path: Path) -> None:
    """Such as the interpreter of a virtual environment whose Python was removed."""
    (tmp_path / "python").symlink_to("/no/such/python3")
    with pytest.raises(ManifestError, match=r"/python, a link to /no/such/python3, leads nowhere$"):
        load_entry(write_bot(run=[str(tmp_path / "python")]))


def test_a_program_or_a_folder_that_may_not_be_looked_at_is_named_with_the_reason(
    write_bot: WriteBot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = os.stat

    def refuse(path: Any, *rest: Any, **named: Any) -> os.stat_result:
        name = os.fspath(path) if isinstance(path, str | Path) else ""
        if "/closed/" in name or (name.endswith("/linked") and named.get("follow_symlinks", True)):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *rest, **named)

    monkeypatch.setattr(os, "stat", refuse)
    monkeypatch.setattr(os, "lstat", lambda path, **named: refuse(path, **named, follow_symlinks=False))
    (tmp_path / "linked").symlink_to("/closed/python")
    linked = r"/linked, a link to /closed/python, cannot be read \(Permission denied\)"
    with pytest.raises(ManifestError, match=linked):
        load_entry(write_bot(run=[str(tmp_path / "linked")]))
    with pytest.raises(ManifestError, match=r"/closed/bot: cannot be read \(Permission denied\)"):
        load_entry(tmp_path / "closed" / "bot")
    with pytest.raises(ManifestError, match=r"which is not there: /closed/x cannot be read \(Permission denied\)"):
        load_entry(write_bot(run=["/closed/x"]))
    with pytest.raises(ManifestError, match=r"which is not there: /closed/x cannot be read \(Permission denied\)"):
        load_entry(write_bot(run=["env", "/closed/x"]))


def test_a_script_that_is_a_pipe_is_refused_also_where_a_bot_is_only_listed(write_bot: WriteBot) -> None:
    folder = write_bot(run=["sh", "start.sh"])
    os.mkfifo(folder / "start.sh")
    with pytest.raises(ManifestError, check=says("'start.sh', which is a pipe, a socket or a device; name a file")):
        load_entry(folder, built_in=folder)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (["python3", "bott.py"], "'run' has python3 run 'bott.py', which is not there (looked for "),
        (["{python}", "-u", "bott.py"], "did you mean 'bot.py'?"),
        (["python3", "-X", "dev", "other/x.py"], "'other/x.py', which is not there"),
        (["{python}", "-m", "no_such_module"], "run the module 'no_such_module', and there is no such module"),
        (["env", "DEPTH=3", "python3", "no.py"], "'no.py', which is not there"),
        (
            ["env", "DEPTH=3", "no-such-program"],
            "has env start 'no-such-program', which is not there: it is neither in ",
        ),
        (["env", "./no"], "has env start './no', which is not there: there is no "),
        ([*BRIDGE, "env", "A=1", "no-such-program"], "has env start 'no-such-program'"),
        (["./windows"], "whose first line ends as on Windows; the system takes the additional character for a part of"),
        (["{python}", "empty"], "names 'empty', which is a folder without a file; only files are copied"),
        (["bash", "start"], "'start', which is not there"),
        (["sh", "no.sh"], "'no.sh', which is not there"),
        ([*BRIDGE, "perl", "no.pl"], "'no.pl', which is not there"),
        (["crosstown", "bridge", "--", "bash", "no.sh"], "'no.sh', which is not there"),
        (["crosstown", "bridge", "--text", "--", "no-such-program"], "starts 'no-such-program', which is not there"),
        (["bash", "-e", "no.sh"], "'no.sh', which is not there"),
        (["python3", "-E", "-s", "no.py"], "'no.py', which is not there"),
        (["python3", "--", "no.py"], "'no.py', which is not there"),
        (["{python}", "-um", "no_such_module"], "run the module 'no_such_module'"),
        (["{python}", "-mno_such_module"], "run the module 'no_such_module'"),
        (["{python}", "-m", "**/a/**/a/**/a/**/a/**/a/**/a/**/qq"], "and there is no such module"),
        (["{python}", "-m", "/nowhere"], "run the module '/nowhere', and there is no such module"),
        (["x" * 300], "has a word that no file can be named by (File name too long)"),
        (["env", "y" * 300], "has a word that no file can be named by"),
        ([*BRIDGE, "z" * 300], "has a word that no file can be named by"),
        (["python3", "w" * 300], "has a word that no file can be named by"),
        (["timeout", "-k", "5", "500", "python3", "no.py"], "'no.py', which is not there"),
        (["nice", "-n", "5", "no-such-program"], "has nice start 'no-such-program', which is not there"),
        (["nohup", "env", "A=1", "stdbuf", "-oL", "bash", "no.sh"], "'no.sh', which is not there"),
        (["./hashbang"], "the interpreter '/no/such/interpreter', which is not there"),
        (["./with-env"], "the interpreter 'no-such-interpreter': it is neither in "),
    ],
)
def test_a_missing_script_is_found_before_the_first_match(write_bot: WriteBot, run: list[str], message: str) -> None:
    files = {
        "bot.py": "",
        "hashbang": "#!/no/such/interpreter\n",
        "with-env": "#!/usr/bin/env no-such-interpreter\n",
        "windows": "#!/bin/sh\r\nexit 0\r\n",
    }
    folder = write_bot(files, run=run)
    (folder / "empty").mkdir()
    for name in ("hashbang", "with-env", "windows"):
        (folder / name).chmod(0o755)
    with pytest.raises(ManifestError) as error:
        load_entry(folder)
    assert message in error.value.sentence
    assert str(error.value).startswith(str(folder / "bot.toml"))


@pytest.mark.parametrize(
    "run",
    [
        ["{python}", "-c", "print(1)", "no.py"],
        ["{python}", "-"],
        ["{python}", "-m", "json.tool", "no.py"],
        ["{python}", "-m", "own", "no.py"],
        ["{python}", "bot.py", "no.py"],
        ["sh", "-c", "exec ./later.sh"],
        ["sh", "bot.py", "no.sh"],
        ["perl", "-E", "print 1", "no.pl"],
        ["{python}", "-uc", "print(1)", "no.py"],
        ["{python}", "-cprint(1)", "-m", "no_such_module"],
        ["bash", "-xc", "true", "no.sh"],
        ["timeout", "500", "python3", "bot.py"],
        ["env", "A=1", "{python}", "bot.py"],
        ["env", "-u", "HOME", "no-such-program"],
        ["env", "PATH=/opt/other", "no-such-program"],
        ["{python}", "package"],
    ],
)
def test_what_need_not_be_a_script_is_not_looked_for(write_bot: WriteBot, run: list[str]) -> None:
    folder = write_bot({"bot.py": "", "own/__main__.py": "", "package/__main__.py": ""}, run=run)
    assert load_entry(folder).argv[-1] == run[-1]
