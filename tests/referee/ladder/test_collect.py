"""Bots of a class from a file: folders, archives, and git repositories."""

import getpass
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from leaderboard.web.hand_ins import VersionState
from referee.errors import ConfigError
from referee.ladder import collect as module
from referee.ladder.collect import Collected, Collector, Source, clone_arguments, load_sources, why_not
from referee.ladder.hand_ins import LadderHandIns
from referee.ladder.store import LadderStore
from tests.referee.ladder.handing_in import archive, bot_files, wait_for
from tests.ssh import make_key, sshd_program, write_sshd_config


@pytest.fixture
def collector(hand_ins: LadderHandIns, store: LadderStore) -> Collector:
    return Collector(store, hand_ins, "plain")


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    folder.mkdir(parents=True)
    for name, content in files.items():
        (folder / name).write_text(str(content))
    return folder


def test_one_bad_hand_in_does_not_stop_the_others(collector: Collector, tmp_path: Path, store: LadderStore) -> None:
    write(tmp_path / "ann", bot_files(name="ann-bot"))
    (tmp_path / "bob.tar.gz").write_bytes(archive(bot_files(name="other")))
    (tmp_path / "bomb.tar.gz").write_bytes(archive({"zeros": bytes(3 << 20)}))
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe.zip")
    file = tmp_path / "class.toml"
    file.write_text(
        '[[bots]]\nowner = "ann"\npath = "ann"\n'
        '[[bots]]\nowner = "missing"\npath = "nowhere"\n'
        '[[bots]]\nowner = "pipe"\npath = "pipe.zip"\nname = "pipe"\n'
        '[[bots]]\nowner = "empty"\npath = "empty"\n'
        '[[bots]]\nowner = "unnamed"\npath = "bob.tar.gz"\n'
        '[[bots]]\nowner = "bomb"\npath = "bomb.tar.gz"\nname = "bomb"\n'
        '[[bots]]\nowner = "thief"\npath = "ann"\n'
        '[[bots]]\nowner = "a/b"\npath = "ann"\n'
        '[[bots]]\nowner = "bob"\npath = "bob.tar.gz"\nname = "bob-bot"\ngames = ["toy"]\n'
    )
    found = {one.source.owner: one for one in collector.collect(load_sources(file))}
    assert {owner for owner, one in found.items() if one.version} == {"ann", "bob"}
    reasons = {owner: one.reason for owner, one in found.items() if not one.version}
    assert "does not exist" in reasons["missing"]
    assert "neither a folder nor a file" in reasons["pipe"]
    assert "no such file" in reasons["empty"]
    assert "says no name" in reasons["unnamed"]
    assert "times as large" in reasons["bomb"]
    assert "belongs to 'ann'" in reasons["thief"]
    assert "has '/'" in reasons["a/b"]
    assert all(one.next_step for one in found.values() if not one.version)
    assert {bot.name: bot.owner for bot in store.bots()} == {"ann-bot": "ann", "bob-bot": "bob"}
    assert store.steps.waiting()[1].games == ("toy",)


def test_a_folder_beyond_the_limits_is_refused_at_once_and_does_not_stop_the_others(
    collector: Collector, tmp_path: Path, store: LadderStore
) -> None:
    """A sparse file of 200 GiB would take minutes to read."""
    for owner in ("large", "deep", "sound"):
        write(tmp_path / owner, bot_files(name=f"{owner}-bot"))
    with (tmp_path / "large" / "huge").open("wb") as file:
        file.truncate(200 << 30)
    (tmp_path / "deep").joinpath(*["d"] * 60).mkdir(parents=True)
    sources = [Source(owner, None, tmp_path / owner) for owner in ("large", "deep", "sound")]
    found = {one.source.owner: one for one in collector.collect(sources)}
    assert "holds more than 4 GiB" in found["large"].reason
    assert "is more than 40 folders deep in the bot's folder" in found["deep"].reason
    assert all(found[owner].next_step for owner in ("large", "deep"))
    assert [bot.name for bot in store.bots()] == ["sound-bot"]


def test_a_bot_that_has_not_changed_is_the_version_that_it_was(collector: Collector, tmp_path: Path) -> None:
    source = Source("ann", None, write(tmp_path / "ann", bot_files(name="ann-bot")))

    def numbers() -> list[int]:
        return [version(one).number for one in collector.collect([source])]

    assert (numbers(), numbers()) == ([1], [1])
    (tmp_path / "ann" / "bot.py").write_text("pass\n")
    assert numbers() == [2]


def version(one: Collected) -> VersionState:
    assert one.version, one.reason
    return one.version


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('path = "a"\ngit = "https://g.example/a.git"', "has both 'path' and 'git'"),
        ("", "has neither 'path' nor 'git'"),
        ('path = "a"\nref = "v1"', "without 'git'"),
        ('git = "ext::sh -c touch% /tmp/x"', "is not an address"),
        ('git = "ext::x"', "helper program"),
        ('git = "file:///etc"', "only https and ssh"),
        ('git = "http://g.example/a.git"', "only https and ssh"),
        ('git = "/home/ann/bot"', "not an address on a server"),
        ('git = "--upload-pack=x"', "is not an address"),
        ('git = "ssh://-oProxyCommand=x/a"', "has no host"),
        ('git = "https://ann:secret@g.example/a.git"', "'https://...@g.example/a.git' has a password in it"),
        ('git = "https://ann:sec@ret@g.example/a.git"', "'https://...@g.example/a.git' has a password in it"),
        ('git = "ssh://git:secret@g.example/a.git"', "'ssh://...@g.example/a.git' has a password in it"),
        ('git = "https://g.example/a.git"\nref = "--x"', "'ref' must be"),
        ('git = "https://g.example/a.git"\nref = "a..b"', "'ref' must be"),
        ('git = "https://g.example/a.git"\nfolder = "../x"', "must lie in the repository"),
        ('path = "a"\ngames = "toy"', "must be a list"),
        ('path = "a"\nplan = 1', "plan"),
        ("path = 3", "must be a text"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_before_anything_is_fetched(tmp_path: Path, line: str, why: str) -> None:
    file = tmp_path / "class.toml"
    file.write_text(f'[[bots]]\nowner = "ann"\n{line}\n')
    with pytest.raises(ConfigError, match=r"class\.toml") as caught:
        load_sources(file)
    assert why in str(caught.value)
    assert caught.value.next_step


@pytest.mark.parametrize("text", ["", "bots = 3", "bots = []", "[[bots]]\npath = 'a'"])
def test_a_file_without_bots_or_owners_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "class.toml"
    file.write_text(text)
    with pytest.raises(ConfigError):
        load_sources(file)


@pytest.mark.parametrize(
    "address",
    ["https://g.example/ann/bot.git", "ssh://git@g.example:22/ann/bot.git", "git@g.example:ann/bot.git"],
)
def test_addresses_of_servers_are_allowed(address: str) -> None:
    assert why_not(address) == ""


def test_git_is_kept_to_one_commit_and_two_ways_to_a_server() -> None:
    words = clone_arguments(Source("ann", None, git="https://g.example/a.git", ref="v1"), "clone")
    settings = {word for before, word in pairwise(words) if before == "-c"}
    assert {"protocol.allow=never", "protocol.https.allow=always", "protocol.ssh.allow=always"} <= settings
    assert {"core.hooksPath=/dev/null", "filter.lfs.smudge=", "credential.helper="} <= settings
    assert {"--depth=1", "--no-recurse-submodules", "--single-branch", "--branch"} <= set(words)
    assert words[words.index("--") :] == ["--", "https://g.example/a.git", "clone"]


def fake_git(folder: Path, script: str) -> str:
    """A program in git's place: what it is to do with the folder in which the clone is to be."""
    path = folder / "fake-git"
    start = f'"exec" "{sys.executable}" "$0" "$@"'  # a shell starts Python, which takes the line for a text
    path.write_text(f"#!/bin/sh\n{start}\nimport os, sys, time\ntarget = sys.argv[-1]\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_what_git_has_fetched_is_handed_in_without_its_own_files(
    store: LadderStore, hand_ins: LadderHandIns, tmp_path: Path
) -> None:
    bot = write(tmp_path / "there", bot_files(name="cleo-bot"))
    script = f"import shutil; shutil.copytree({str(bot)!r}, f'{{target}}/bot'); os.mkdir(f'{{target}}/.git')"
    collector = Collector(store, hand_ins, "plain", git=fake_git(tmp_path, script))
    source = Source("cleo", None, git="https://g.example/cleo.git", folder="bot")
    (one,) = collector.collect([source])
    assert version(one).bot == "cleo-bot"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("print('fatal: repository not found', file=sys.stderr); sys.exit(128)", "fatal: repository not found"),
        ("os.mkdir(target)", "has no folder 'bot'"),
        ("os.mkdir(target); os.symlink('/', f'{target}/bot')", "leads out of the repository"),
        ("time.sleep(600)", "could not be fetched"),
        (
            "os.mkdir(target); [open(f'{target}/{n}', 'wb').write(os.urandom(900_000)) for n in range(3)];"
            " time.sleep(600)",
            "more than 1 MiB",
        ),
    ],
    ids=["fails", "no folder", "link", "slow", "large"],
)
def test_a_repository_that_cannot_be_had_is_a_reason(
    store: LadderStore,
    hand_ins: LadderHandIns,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    script: str,
    why: str,
) -> None:
    monkeypatch.setattr(module, "CLONE_S", 3.0)
    monkeypatch.setattr(module, "CLONE_MIB", 1)
    collector = Collector(store, hand_ins, "plain", git=fake_git(tmp_path, script))
    (one,) = collector.collect([Source("cleo", None, git="https://g.example/cleo.git", folder="bot")])
    assert one.version is None
    assert why in one.reason
    assert one.next_step


@pytest.mark.parametrize("begin", ["https://s3cret@", "HTTPS://s3cret@", "https://to@s3cret@"])
def test_a_token_in_an_address_is_not_printed(
    store: LadderStore, hand_ins: LadderHandIns, tmp_path: Path, begin: str
) -> None:
    script = f"import sys; sys.exit(\"fatal: could not read Password for '{begin}g.example'\")"
    collector = Collector(store, hand_ins, "plain", git=fake_git(tmp_path, script))
    (one,) = collector.collect([Source("cleo", None, git=f"{begin}g.example/cleo.git")])
    assert "://...@g.example/cleo.git" in one.reason
    assert "s3cret" not in one.reason + str(one.source)


def test_a_user_without_a_home_can_have_repositories_fetched(
    store: LadderStore, hand_ins: LadderHandIns, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container with a user that has no name there: it was a RuntimeError, which stopped all hand-ins."""

    def nobody(_: int) -> Any:
        raise KeyError("no such user")

    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    collector = Collector(store, hand_ins, "plain", git=fake_git(tmp_path, "import sys; sys.exit('no way')"))
    (one,) = collector.collect([Source("cleo", None, git="https://g.example/cleo.git")])
    assert "no way" in one.reason


def test_git_itself_refuses_what_is_not_on_a_server(tmp_path: Path) -> None:
    """The settings that it is given hold, whatever the checks before let through."""
    if shutil.which("git") is None:
        pytest.fail("git is needed for this test")
    subprocess.run(["git", "init", "-q", str(tmp_path / "there")], check=True)
    for address in (f"file://{tmp_path / 'there'}", str(tmp_path / "there"), "ext::sh -c true"):
        words = clone_arguments(Source("ann", None, git=address), str(tmp_path / "clone"))
        done = subprocess.run(["git", *words], capture_output=True, text=True, check=False)
        assert done.returncode != 0
        assert "not allowed" in done.stderr


# Over ssh


@pytest.fixture
def ssh_server(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """The address of a repository on a server of this machine, and the private key that it lets in."""
    program = sshd_program()
    make_key(tmp_path / "deploy_key")
    repository = write(tmp_path / "there", bot_files(name="cleo-bot"))
    for words in (["init", "-q"], ["add", "-A"], ["-c", "user.name=c", "-c", "user.email=c@x", "commit", "-qm", "one"]):
        subprocess.run(["git", "-C", str(repository), *words], check=True)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
    config = write_sshd_config(tmp_path, "127.0.0.1", port, tmp_path / "deploy_key")
    server = subprocess.Popen([program, "-D", "-f", str(config)], stderr=subprocess.DEVNULL)
    wait_for(lambda: is_listening(port))
    yield f"ssh://{getpass.getuser()}@127.0.0.1:{port}{repository}", tmp_path / "deploy_key"
    server.terminate()
    server.wait()


def is_listening(port: int) -> bool:
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("profile", ["plain", pytest.param("strict", marks=pytest.mark.strict_sandbox)])
def test_a_repository_is_fetched_over_ssh_with_the_key_of_the_file(
    store: LadderStore, hand_ins: LadderHandIns, ssh_server: tuple[str, Path], tmp_path: Path, profile: Any
) -> None:
    address, key = ssh_server
    file = tmp_path / "class.toml"
    file.write_text(f'key = "deploy_key"\n[[bots]]\nowner = "cleo"\ngit = "{address}"\n')
    (source,) = load_sources(file)
    assert source.key == key
    collector = Collector(store, hand_ins, profile)
    (one,) = collector.collect([source])
    assert version(one).bot == "cleo-bot"
    if profile == "strict":  # without it there is no key of this user in its home
        (one,) = collector.collect([replace(source, key=None)])
        assert "Permission denied" in one.reason
        assert "key = " in one.next_step


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('key = "gone"', "cannot be read"),
        ('key = "open"', "others can read this key"),
        ("key = 3", "'key' must be a text"),
        ('key = "a\\u0000b"', "zero byte"),
    ],
)
def test_a_key_that_cannot_be_used_is_refused_before_anything_is_fetched(tmp_path: Path, line: str, why: str) -> None:
    (tmp_path / "open").write_text("a key")
    (tmp_path / "open").chmod(0o644)
    file = tmp_path / "class.toml"
    file.write_text(f'{line}\n[[bots]]\nowner = "ann"\npath = "a"\n')
    with pytest.raises(ConfigError, match=r"class\.toml") as caught:
        load_sources(file)
    assert why in str(caught.value)
