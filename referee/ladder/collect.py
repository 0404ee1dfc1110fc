"""Hands in the bots of a class from a file: folders, archives, and git repositories at a branch or tag.

key = "deploy_key"               # private key for ssh, without a passphrase; from the file's folder

[[bots]]
owner = "ann"                    # the account; it is made if it is not there
path = "hand-ins/ann"            # a folder with a bot, or a zip or tar.gz file; from the file's folder

[[bots]]
owner = "bob"
git = "https://git.example/bob/bot.git"   # https or ssh
ref = "v2"                       # branch or tag; default: the repository's own branch
folder = "bot"                   # the bot's folder in the repository; default: the repository itself
name = "bob"                     # name of the bot in the ladder; default: that of bot.toml
games = ["shibuya"]              # the only games it plays; default: all of bot.toml
"""

import io
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import urlsplit

from leaderboard.web.hand_ins import Account, VersionState
from referee.errors import ExpectedError
from referee.folders import home_folder, why_no_program
from referee.ladder.archives import pack
from referee.ladder.hand_ins import LadderHandIns
from referee.ladder.store import LadderStore
from referee.process.cgroup import find
from referee.process.launch import LaunchContext
from referee.process.limits import ProcessLimits
from referee.process.manifest import load_manifest
from referee.process.paths import HOME
from referee.process.sandbox import Profile, Sandbox
from referee.process.supervised_command import SupervisedCommand, run_supervised
from referee.process.trees import remove_tree, walk
from referee.record.files import read_ordinary
from referee.texts import clean, one_line
from referee.tournament.reading import TomlFile, show

_KEYS = ("owner", "path", "git", "ref", "folder", "name", "games")
_MOST_BOTS = 10_000
_PIECE_BYTES = 1 << 20
_KEY, _KNOWN_HOSTS = "key", "known_hosts"

CLONE_S = 300.0
CLONE_MIB = 1024
"""What a repository may take on the disk while it is fetched: its files at one commit, and git's own."""

_GIT_MEMORY_MIB = 2048
_GIT_PROCESSES = 64
_REF = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/+-]{0,199}")
_SSH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*@[A-Za-z0-9][A-Za-z0-9.-]*:[A-Za-z0-9_~/.][A-Za-z0-9_~/.+-]*")


@dataclass(frozen=True, slots=True)
class Source:
    """Where one bot is. Either `path`, absolute, or `git` is set; `line` is where the file says so. `key` is the
    private key that git signs in with over ssh."""

    owner: str
    line: int | None
    path: Path | None = None
    git: str = ""
    ref: str = ""
    folder: str = ""
    name: str = ""
    games: tuple[str, ...] = ()
    key: Path | None = None

    def __str__(self) -> str:
        return without_user(self.git) or str(self.path)


class CollectError(ExpectedError):
    """A bot that could not be handed in."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What became of one: its version, or why there is none."""

    source: Source
    version: VersionState | None = None
    bot: str = ""
    reason: str = ""
    next_step: str = ""


def load_sources(path: Path) -> list[Source]:
    """The bots in the file. ConfigError for a file that says what makes no sense, before anything is fetched."""
    file = TomlFile(path, kind="file of hand-ins")
    file.check_keys((), file.values, ("key", "bots"))
    key = _key(file)
    listed = file.values.get("bots")
    if not isinstance(listed, list) or not listed or not all(isinstance(one, dict) for one in listed):
        file.fail(("bots",), f"'bots' must be a list of tables, not {show(listed)}", "begin each bot with [[bots]]")
    if len(listed) > _MOST_BOTS:
        file.fail(("bots",), f"there are {len(listed)} bots", f"name at most {_MOST_BOTS} in a file")
    return [_source(file, place, given, key) for place, given in enumerate(listed)]


def _key(file: TomlFile) -> Path | None:
    """The file's private key for ssh. ConfigError for one that cannot be read, or that others can read."""
    text = file.text_at("key", example='key = "deploy_key"')
    if not text:
        return None
    path = (file.path.parent / text).absolute()
    try:
        read_ordinary(path, 1 << 20)
        mode = path.stat().st_mode
    except OSError as error:
        file.fail(("key",), f"'key': {path}: cannot be read ({error.strerror})", "correct the path, or its rights")
    if mode & 0o077:
        step = f"make it yours alone: chmod 600 {shlex.quote(str(path))}"
        file.fail(("key",), f"'key': {path}: others can read this key", step)
    return path


def _source(file: TomlFile, place: int, given: dict[str, Any], key: Path | None) -> Source:
    here = ("bots", place)
    file.check_keys(here, given, _KEYS)

    def text(key: str) -> str:
        value = given.get(key, "")
        if not isinstance(value, str) or "\0" in value or (key in given and not value):
            file.fail((*here, key), f"'{key}' must be a text, not {show(value)}", f'write, for instance, {key} = "..."')
        return value

    owner, git, ref, folder = text("owner"), text("git"), text("ref"), text("folder")
    path = text("path")
    if not owner:
        file.fail(here, "a bot has no owner", 'add a line such as owner = "ann"')
    if bool(path) == bool(git):
        what = "has both 'path' and 'git'" if path else "has neither 'path' nor 'git'"
        file.fail(here, f"the bot of '{owner}' {what}", 'say where it is: path = "..." or git = "..."')
    if (ref or folder) and not git:
        file.fail(
            here, f"the bot of '{owner}' has 'ref' or 'folder' without 'git'", "remove them, or name a repository"
        )
    if git and (why := why_not(git)):
        file.fail((*here, "git"), f"'{without_user(git)}' {why}", "name a repository by https:// or ssh://")
    if ref and (not _REF.fullmatch(ref) or ".." in ref):
        file.fail((*here, "ref"), f"'ref' must be the name of a branch or tag, not {show(ref)}", 'such as ref = "v1"')
    if folder and (Path(folder).is_absolute() or ".." in Path(folder).parts):
        file.fail(
            (*here, "folder"), f"'folder' must lie in the repository, not {show(folder)}", 'such as folder = "bot"'
        )
    games = given.get("games", [])
    if not isinstance(games, list) or not all(isinstance(game, str) for game in games):
        file.fail(
            (*here, "games"), f"'games' must be a list of texts, not {show(games)}", 'such as games = ["shibuya"]'
        )
    where = (file.path.parent / path).absolute() if path else None
    return Source(owner, file.line(*here), where, git, ref, folder, text("name"), tuple(games), key)


def why_not(address: str) -> str:
    """Why git is not asked for what is there; '' if it may be. No `ext::`, which is a command, nor files of this
    machine, nor what is not encrypted; and no word that git would take for an option."""
    if not address.isascii() or not address.isprintable() or " " in address or address.startswith("-"):
        return "is not an address"
    if "::" in address:
        return "is a helper program of git's, and would run here"
    if "://" not in address:
        return "" if _SSH.fullmatch(address) else "is not an address on a server"
    try:
        parts = urlsplit(address)
    except ValueError:
        return "is not an address"
    if parts.scheme not in ("https", "ssh"):
        return f"begins with '{parts.scheme}', and only https and ssh are allowed"
    if not parts.hostname or parts.hostname.startswith("-") or (parts.username or "").startswith("-"):
        return "has no host"
    if parts.password is not None:
        return "has a password in it, which would be printed"
    return ""


def without_user(text: str) -> str:
    """The text without the users and passwords in its addresses: some servers take a token there, which may have an @
    in it."""
    return re.sub(r"([a-z][a-z0-9+.-]*://)[^/\s]*@", r"\1...@", text, flags=re.IGNORECASE)


class Collector:
    """Hands in on behalf of owners. `profile`: how git is confined."""

    def __init__(
        self,
        store: LadderStore,
        hand_ins: LadderHandIns,
        profile: Profile,
        *,
        git: str = "git",
        hidden: tuple[str, ...] = (),
    ) -> None:
        """`hidden` is what git does not see."""
        self._store = store
        self._hand_ins = hand_ins
        self._profile = profile
        self._git = git
        self._hidden = hidden

    def collect(self, sources: list[Source], began: Callable[[Source], None] = lambda _: None) -> Iterator[Collected]:
        """Each in turn. A bad one never stops the others."""
        for source in sources:
            began(source)
            try:
                yield self._take(source)
            except ExpectedError as error:
                yield Collected(source, None, source.name, str(error), error.next_step)
            except OSError as error:
                what = f"{error.filename or source}: {error.strerror or error}"
                yield Collected(source, None, source.name, what, "check what it names, and its rights")

    def _take(self, source: Source) -> Collected:
        self._store.accounts.add_owner(source.owner)
        account = Account(source.owner, "submit", "")
        with tempfile.TemporaryDirectory(prefix="crosstown-collect-") as scratch:
            path = source.path
            if path is None:
                path = self._clone(source, Path(scratch))
            if not path.exists():
                raise CollectError(f"{path} does not exist", "correct the path, or ask its author")
            if path.is_dir():
                folder = path.resolve()
                manifest = load_manifest(folder)
                bot, packed = source.name or manifest.name, io.BytesIO()
                pack(folder, manifest, packed)
                packed.seek(0)
                return Collected(source, self._send(account, bot, source, packed), bot)
            if not path.is_file():  # such as a pipe: to wait for it would stop the others
                raise CollectError(f"{path} is neither a folder nor a file", "correct the path, or ask its author")
            if not source.name:
                raise CollectError(f"the archive {path} says no name before it is unpacked", 'add name = "..."')
            with path.open("rb") as file:
                return Collected(source, self._send(account, source.name, source, file), source.name)

    def _send(self, account: Account, bot: str, source: Source, data: BinaryIO) -> VersionState:
        upload = self._hand_ins.begin_upload(account, bot, "", source.games)
        try:
            while piece := data.read(_PIECE_BYTES):
                upload.write(piece)
        except BaseException:
            upload.abort()
            raise
        return upload.finish().version

    def _clone(self, source: Source, scratch: Path) -> Path:
        """The folder of the bot in a new clone, made in the sandbox. CollectError."""
        program = shutil.which(self._git)
        if program is None:
            raise CollectError(*why_no_program(self._git, "install it: apt install git"))
        target, home = scratch / "work", scratch / "home"
        target.mkdir()
        home.mkdir(mode=0o700)
        _give_ssh(home, source.key)
        printed: list[bytes] = []
        strict = self._profile == "strict"
        command = SupervisedCommand(
            (program, *clone_arguments(source, "clone")),
            target,
            _environment(HOME if strict else str(home), with_key=source.key is not None),
            CLONE_S,
            ProcessLimits(memory_bytes=_GIT_MEMORY_MIB << 20, processes=_GIT_PROCESSES, file_bytes=CLONE_MIB << 20),
            LaunchContext(Sandbox(self._profile, network=True, hidden=self._hidden), find()),
            writable=(target,) if strict else (),
            home=home if strict else None,
            problem=lambda _: _too_large(target),
        )
        ended = run_supervised(command, printed.append)
        if ended.code != 0:
            said = without_user(clean(b"".join(printed)[-4000:].decode(errors="replace"))).strip().splitlines()
            why = ended.why or f"git ended with {ended.code}{f': {one_line(_cause(said), 300)}' if said else ''}"
            step = "check the address, and that the branch or tag is there and may be read without a password"
            if not source.git.startswith("https:"):
                step += ', or with the key of a line key = "..." at the top of the file'
            raise CollectError(f"{source} could not be fetched: {why}", step)
        if why := _too_large(target):
            raise CollectError(f"{source}: {why}", "ask its author to remove large files")
        folder = target / "clone" / source.folder
        if not folder.resolve().is_relative_to((target / "clone").resolve()):
            raise CollectError(f"{source.folder} in {source} leads out of the repository", "name another folder")
        if not folder.is_dir():
            raise CollectError(f"{source} has no folder '{source.folder}'", "correct 'folder'")
        remove_tree(target / "clone" / ".git")
        return folder


_NO_CAUSE = ("fatal:", "Cloning into", "Warning: Permanently added", "Please make sure", "and the repository exists")
"""How lines of git and ssh begin that do not say why it failed."""


def _cause(said: list[str]) -> str:
    """Of what git and ssh printed the line that says why it failed: that before ssh's end is announced, else the last
    one."""
    before = [line.strip() for line in said if line.strip() and not line.startswith(_NO_CAUSE)]
    remote = any(line.startswith("fatal: Could not read from remote repository") for line in said)
    return before[-1] if remote and before else said[-1].strip()


def _give_ssh(home: Path, key: Path | None) -> None:
    """What ssh needs in its home: the key, and the hosts that are known on this machine."""
    if key is not None:
        (home / _KEY).touch(mode=0o600)
        (home / _KEY).write_bytes(key.read_bytes())
    known = home_folder() / ".ssh" / "known_hosts"
    with suppress(OSError):  # nobody has been there yet
        (home / _KNOWN_HOSTS).write_bytes(known.read_bytes())


def clone_arguments(source: Source, target: str) -> list[str]:
    """One commit, without submodules, hooks, LFS, or any other way to a server than https and ssh."""
    settings = {
        "protocol.allow": "never",
        "protocol.https.allow": "always",
        "protocol.ssh.allow": "always",
        "core.hooksPath": "/dev/null",
        "core.fsmonitor": "false",
        "filter.lfs.smudge": "",
        "filter.lfs.process": "",
        "filter.lfs.required": "false",
        "submodule.recurse": "false",
        "fetch.fsckObjects": "true",
        "credential.helper": "",
        "http.followRedirects": "false",
    }
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    branch = ["--branch", source.ref] if source.ref else []
    return [
        *options,
        "clone",
        "--depth=1",
        "--single-branch",
        "--no-tags",
        "--no-recurse-submodules",
        "--template=",
        *branch,
        "--",
        source.git,
        target,
    ]


def _environment(home: str, *, with_key: bool) -> dict[str, str]:
    """Of ours what a proxy and certificates need; nobody is asked for a password."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.lower().endswith("_proxy") or name in ("SSL_CERT_FILE", "GIT_SSL_CAINFO", "SSH_AUTH_SOCK", "LANG")
    }
    return {
        **kept,
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": home,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "GIT_SSH_COMMAND": " ".join(
            [
                "ssh -F none -oBatchMode=yes -oStrictHostKeyChecking=accept-new",
                shlex.quote(f"-oUserKnownHostsFile={home}/{_KNOWN_HOSTS}"),
                *(["-oIdentitiesOnly=yes -i", shlex.quote(f"{home}/{_KEY}")] if with_key else []),
            ]
        ),
    }


def _too_large(folder: Path) -> str:
    """A sentence once there is more in the folder than a repository may have."""
    size = 0
    try:
        for entry in walk(folder):
            if entry.is_file(follow_symlinks=False):
                size += entry.stat(follow_symlinks=False).st_blocks * 512
    except OSError:  # git renames and removes at the same time
        return ""
    return f"it has more than {CLONE_MIB} MiB" if size > CLONE_MIB << 20 else ""
