"""Builds in the sandbox: the network to fetch and none to compile, a home of their own, an end to all they start."""

import errno
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from referee.process import build as module
from referee.process import build_settings, disk
from referee.process.build import BuildError, BuildLimits, NoRoomError, Yard, build
from referee.process.entry import NotBuiltError, load_entry
from referee.process.sandbox import Profile
from referee.process.store import Built
from tests.sentences import says

pytestmark = [pytest.mark.strict_sandbox, pytest.mark.usefixtures("cache")]

MADE = "mkdir -p build; printf '#!/bin/sh\\n' > build/bot; chmod +x build/bot"
Make = Callable[..., Path]
PATIENCE_S = 30.0


@pytest.fixture
def bot(tmp_path: Path) -> Make:
    def made(script: str = "", *, fetch: str = "", toolchain: str = "") -> Path:
        folder = tmp_path / "a bot"
        folder.mkdir(exist_ok=True)
        commands = {"build": f"set -e; {script}\n{MADE}", "fetch": fetch, "toolchain": toolchain}
        lines = ['name = "b"', 'version = "1"', 'games = ["*"]', 'run = ["build/bot"]']
        lines += [f"{key} = {json.dumps(['sh', '-c', text])}" for key, text in commands.items() if text]
        (folder / "bot.toml").write_text("\n".join(lines) + "\n")
        return folder

    return made


def strict(folder: Path, **limits: float) -> Built:
    return build(folder, Yard("strict", BuildLimits(**limits)))[0]  # type: ignore[arg-type]


def log_of(folder: Path) -> str:
    """What a build that fails at last has printed."""
    with pytest.raises(BuildError) as caught:
        strict(folder)
    assert caught.value.log is not None
    return caught.value.log.read_text()


def test_what_is_built_is_ours_and_runs_from_the_cache(bot: Make, cache: Path) -> None:
    folder = bot("id -u > build-user")
    built = strict(folder)
    assert built.sandbox == "strict"
    assert load_entry(folder).home.is_relative_to(cache)
    assert {path.lstat().st_uid for path in built.folder.rglob("*")} == {os.getuid()}
    if os.getuid() == 0:
        assert int((built.folder / "build-user").read_text()) != 0


@pytest.fixture
def port() -> Iterator[int]:
    """Of somebody who listens on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_no_phase_reaches_this_machine_or_the_internet_but_through_the_proxy(bot: Make, port: int) -> None:
    knock = f"bash -c '< /dev/tcp/127.0.0.1/{port}'"
    away = "bash -c '< /dev/tcp/198.51.100.1/443'"
    strict(bot(f"if {knock} || {away}; then exit 9; fi", fetch=f"if {knock} || {away}; then exit 9; fi"))


CONNECT = """python3 -c '
import os, socket, sys
from urllib.parse import urlsplit
proxy = urlsplit(os.environ["https_proxy"])
server = socket.create_connection((proxy.hostname, proxy.port))
server.sendall(b"CONNECT HOST HTTP/1.1\\r\\n\\r\\n")
answer = server.recv(4096).decode()
print(answer)
if " 200 " in answer:
    server.sendall(b"ping")
    print(server.recv(100).decode())
'"""


def test_fetching_reaches_a_host_that_the_organiser_lists(
    bot: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as pool:
        place = f"localhost:{server.getsockname()[1]}"
        hosts = tmp_path / "hosts.toml"
        hosts.write_text(f'[here]\nfiles = ["bot.toml"]\nprivate_hosts = ["{place}"]\n')
        monkeypatch.setenv("CROSSTOWN_FETCH_HOSTS", str(hosts))

        def answer() -> None:
            client, _ = server.accept()
            with client:
                client.sendall(client.recv(4) + b" pong")

        answered = pool.submit(answer)
        log = log_of(bot("exit 9", fetch=CONNECT.replace("HOST", place)))
        answered.result(PATIENCE_S)
    assert "ping pong" in log


def test_a_host_that_nobody_lists_is_refused_and_the_log_says_so(bot: Make) -> None:
    log = log_of(bot("exit 9", fetch=CONNECT.replace("HOST", "example.com:443")))
    assert "403" in log
    assert (
        "crosstown: example.com:443 is not a host that this build may reach; an organiser can list it"
        " (CROSSTOWN_FETCH_HOSTS)" in log
    )


def test_a_build_that_leaves_sparse_files_without_end_fails(bot: Make) -> None:
    with pytest.raises(BuildError, match=r"the build left more than 4096 MiB or 200,000 files"):
        strict(bot("for n in 1 2 3; do truncate -s 2047M big$n; done"))


DEEP = "import os\nfor _ in range(3000):\n    os.mkdir('d'); os.chdir('d')\n"


@pytest.mark.slow
@pytest.mark.parametrize("where", ["copy", "home"])
def test_folders_that_a_build_leaves_deeper_than_any_path_fail_it_or_go(bot: Make, cache: Path, where: str) -> None:
    """They ended the run with a RecursionError, and stayed on the disk."""
    go = 'cd "$HOME"; ' if where == "home" else ""
    folder = bot(f'({go}python3 -c "{DEEP}")')
    if where == "copy":
        with pytest.raises(BuildError, match="the build left folders that cannot be read, or lie too deep for a path"):
            strict(folder)
    else:
        strict(folder)
    left = [path for path in cache.rglob("d") if path.is_dir()]
    assert left == []


def test_a_list_of_hosts_that_cannot_be_read_fails_the_build_with_a_sentence(
    bot: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = tmp_path / "hosts.toml"
    hosts.write_text("[python]\nhosts = 3\n")
    monkeypatch.setenv("CROSSTOWN_FETCH_HOSTS", str(hosts))
    with pytest.raises(BuildError, match=r"hosts.toml: \[python\] must be a table with lists of text"):
        strict(bot("true", fetch="true"))


def test_the_home_is_private_is_kept_between_the_phases_and_gone_afterwards(bot: Make, users_home: Path) -> None:
    fetch = (
        'test "$HOME" = "$TMPDIR" && mkdir "$HOME/modules" && echo x > "$HOME/modules/x" && chmod 555 "$HOME/modules"'
    )
    built = strict(bot('test -f "$HOME/modules/x"', fetch=fetch))
    assert not list(users_home.iterdir())
    assert sorted(path.name for path in built.folder.parent.iterdir()) == ["bot", "files", "lines", "log.txt"]


def test_nothing_else_of_this_machine_is_there(
    bot: Make, tmp_path: Path, users_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (users_home / ".netrc").write_text("secret")
    (tmp_path / "other").write_text("secret")
    folder = bot()
    unseen = (users_home / ".netrc", tmp_path / "other", folder)
    looks = "; ".join(f"test ! -e '{path}'" for path in unseen)
    folder = bot(f"{looks}; if touch /usr/x; then exit 9; fi")
    monkeypatch.setenv("PATH", f"{users_home}{os.pathsep}{os.environ['PATH']}")  # as a whole it is not shown even then
    strict(folder)


def hostile(folder: Path, trick: str, private: Path) -> None:
    """Make the bot's build a script of its own that prints the secret, and has what it needs shown by a trick."""
    script = f"#!/bin/sh\ncat '{private}/conf/key' /etc/shadow\nexit 9\n"
    build = folder / "s" / "x"
    build.parent.mkdir()
    if trick == "environment":
        (folder / "pyvenv.cfg").write_text(f"home = {private}/bin\n")
    elif trick == "dots":
        (folder / "pyvenv.cfg").write_text("home = /home/../bin\n")
    else:
        # The kernel takes a vertical tab for a part of the name, and so finds the second script.
        inner = Path(f"{folder}/\x0b{private}/conf")
        inner.parent.mkdir(parents=True)
        inner.write_text(script)
        inner.chmod(0o755)
        script = f"#!\x0b{private}/conf\n"
    build.write_text(script)
    build.chmod(0o755)
    text = (folder / "bot.toml").read_text()
    (folder / "bot.toml").write_text(re.sub("build = .*", 'build = ["s/x"]', text))


@pytest.fixture
def private(tmp_path: Path) -> Path:
    """A service of somebody else on this machine."""
    folder = tmp_path / "service" / "app"
    program(folder / "bin" / "tool", "cat $(dirname $0)/../conf/key")
    (folder / "conf").mkdir(mode=0o700)
    (folder / "conf" / "key").write_text("SECRET")
    return folder


@pytest.mark.parametrize("trick", ["environment", "dots", "vertical tab"])
def test_no_file_of_a_bot_makes_its_build_see_more_of_the_machine(bot: Make, private: Path, trick: str) -> None:
    folder = bot()
    hostile(folder, trick, private)
    with pytest.raises(BuildError, match="ended with exit code 9") as caught:
        strict(folder)
    assert caught.value.tail.count("No such file or directory") == 2
    assert "SECRET" not in caught.value.tail


@pytest.mark.parametrize(
    "link", ["mkdir build; ln -s {0}/bin/tool build/bot", "mkdir build; ln -s {0}/bin build/b; ln -s b/tool build/bot"]
)
def test_a_build_may_not_leave_a_link_to_the_machine_as_the_bot(bot: Make, private: Path, link: str) -> None:
    folder = bot()
    text = (folder / "bot.toml").read_text()
    words = json.dumps(["sh", "-c", link.format(private)])
    (folder / "bot.toml").write_text(re.sub("build = .*", f"build = {words}", text))
    with pytest.raises(BuildError, match=r"links to .*/bin/tool, outside of the bot's folder"):
        strict(folder)


def test_settings_of_package_managers_are_seen_without_what_is_secret_in_them(bot: Make, users_home: Path) -> None:
    for name, text in {
        ".config/go/env": "GOPROXY=https://proxy.test\nGOAUTH=netrc\n",
        ".npmrc": "registry=https://npm.test\n//npm.test/:_authToken=SECRET\n_password = SECRET\n",
        ".cargo/config.toml": '[registries.mine]\nindex = "https://cargo.test"\ntoken = "SECRET"\n'
        'credential-provider = [\n  "SECRET",\n]\n[http]\ntimeout = 7\n',
        ".cargo/credentials.toml": 'token = "SECRET"\n',
        ".m2/settings.xml": "<settings><mirrors>https://maven.test</mirrors><!-- </servers> SECRET -->"
        "<servers><server><password>SECRET</password></server></servers></settings>",
        ".config/pip/pip.conf": "[global]\nindex-url = https://pip.test\n",
    }.items():
        (users_home / name).parent.mkdir(parents=True, exist_ok=True)
        (users_home / name).write_text(text)
    log = log_of(bot('cd "$HOME"; find . -type f -exec cat {} +; exit 1'))
    for name in ("proxy", "cargo", "maven", "pip"):
        assert f"https://{name}.test" in log
    assert "registry=http://npm.test\n" in log, "the proxy has the token, and asks over TLS"
    assert '"timeout" = 7' in log
    assert "SECRET" not in log


def test_settings_of_the_machine_are_seen_without_what_is_secret_in_them(
    bot: Make, users_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those for all users, and those that lie in a toolchain; the user's own come on top."""
    etc, kit = tmp_path / "etc", tmp_path / "tools" / "kit"
    monkeypatch.setattr(build_settings, "MACHINE_SETTINGS", etc)
    monkeypatch.setenv("PATH", f"{kit / 'bin'}{os.pathsep}{os.environ['PATH']}")
    program(kit / "bin" / "mvn", "cat $(dirname $0)/../conf/*")
    program(kit / "bin" / "node", "cat $(dirname $0)/../etc/*")
    (kit / "boot").mkdir()
    for path, text in {
        etc / "npmrc": "registry=https://npm.test\n_authToken=SECRET\n",
        etc / "pip.conf": "[global]\nindex-url = https://pip.test\npassword = SECRET\n",
        kit / "etc" / "npmrc": "strict-ssl=true\n_password=SECRET\n",
        kit / "etc" / "other": "from the kit's etc\n",
        kit / "conf" / "settings.xml": "<settings><proxies><proxy><host>maven.test</host><password>SECRET</password>"
        "</proxy></proxies></settings>",
        kit / "conf" / "logging": "from the kit's conf\n",
        users_home / ".npmrc": "registry=https://mine.test\n",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    log = log_of(bot('set +e; mvn; node; cd "$HOME"; find . -type f -exec cat {} +; exit 1'))
    for text in ("npm.test", "pip.test", "maven.test", "strict-ssl", "from the kit's etc", "from the kit's conf"):
        assert text in log
    assert log.index("npm.test") < log.index("mine.test")
    assert "SECRET" not in log


def test_variables_that_say_where_packages_come_from_are_passed_on_and_places_and_secrets_are_not(
    bot: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = {
        "GOPROXY": "https://proxy.test",
        "GONOPROXY": "own.test",
        "npm_config_registry": "https://n.test",
    }
    kept_back = {
        "https_proxy": "me:x@proxy.test",
        "PIP_PROXY": "x",
        "GOMODCACHE": "/x",
        "CARGO_HOME": "/x",
        "NPM_TOKEN": "x",
        "CARGO_REGISTRY_TOKEN": "x",
        "MY_KEY": "x",
    }
    for name, value in {**passed, **kept_back, "CROSSTOWN_BUILD_TOKEN": "granted"}.items():
        monkeypatch.setenv(name, value)
    lines = log_of(bot("env; exit 1")).splitlines()
    assert {f"{name}={value}" for name, value in passed.items()} <= set(lines)
    assert "CROSSTOWN_BUILD_TOKEN=granted" in lines
    assert not {line.partition("=")[0] for line in lines} & set(kept_back)


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_toolchains_outside_of_usr_are_found(bot: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On PATH; a link on PATH into another folder; a whole kit by its marks; one that a variable names."""
    folders = {name: tmp_path / "tools" / name for name in ("maker", "links", "node", "go", "jdk")}
    program(folders["maker"] / "bin" / "maker", "cat $(dirname $0)/../lib/data")
    (folders["maker"] / "lib").mkdir()
    (folders["maker"] / "lib" / "data").write_text("from lib")
    (folders["maker"] / "notes.txt").write_text("somebody's own")
    node = program(folders["node"] / "bin" / "node", "echo from node")
    folders["links"].mkdir()
    (folders["links"] / "node").symlink_to(node)
    program(folders["go"] / "bin" / "gopher", "cat $(dirname $0)/../src/data")
    (folders["go"] / "pkg" / "tool").mkdir(parents=True)
    (folders["go"] / "src").mkdir()
    (folders["go"] / "src" / "data").write_text("from src")
    program(folders["jdk"] / "bin" / "javac", "echo from jdk")
    monkeypatch.setenv("JAVA_HOME", str(folders["jdk"]))
    path = [str(folders["maker"] / "bin"), str(folders["links"]), str(folders["go"] / "bin"), os.environ["PATH"]]
    monkeypatch.setenv("PATH", os.pathsep.join(path))
    log = log_of(bot(f'maker; node; gopher; "$JAVA_HOME/bin/javac"; ls "{folders["maker"]}"; exit 1'))
    for name in ("lib", "node", "src", "jdk"):
        assert f"from {name}" in log
    assert "notes.txt" not in log


PROFILES: list[Profile] = ["strict", "plain"]


def alive(mark: str) -> list[str]:
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                found += [folder.name] if mark.encode() in (folder / "environ").read_bytes() else []
            except OSError:
                continue
    return found


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("phase", ["fetch", "build", "toolchain"])
def test_nothing_of_a_build_outlives_it_in_whatever_session_it_is(
    bot: Make, monkeypatch: pytest.MonkeyPatch, profile: Profile, phase: str
) -> None:
    mark = uuid.uuid4().hex
    monkeypatch.setenv("CROSSTOWN_BUILD_MARK", mark)
    daemon = "setsid sh -c 'setsid sleep 600 & sleep 600' > /dev/null 2>&1 & sleep 0.2"
    build(bot(daemon) if phase == "build" else bot(**{phase: daemon}), Yard(profile))
    assert not [pid for pid in alive(mark) if int(pid) != os.getpid()]


BUILDER = """
import sys
from pathlib import Path
from referee.process.build import Yard, build
build(Path(sys.argv[1]), Yard(sys.argv[2]))
"""


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_build_ends_with_who_builds(
    bot: Make, cache: Path, monkeypatch: pytest.MonkeyPatch, profile: Profile, number: signal.Signals
) -> None:
    """By Ctrl-C or killed: nothing runs on, and nothing counts as built."""
    mark = uuid.uuid4().hex
    monkeypatch.setenv("CROSSTOWN_BUILD_MARK", mark)
    folder = bot("setsid sleep 600 & touch started; sleep 600")
    builder = subprocess.Popen([sys.executable, "-c", BUILDER, str(folder), profile], stderr=subprocess.DEVNULL)
    try:
        until(lambda: list(cache.glob("*/1/bot/started")))
        builder.send_signal(number)
        builder.wait(PATIENCE_S)
    finally:
        builder.kill()
        builder.wait()
    until(lambda: not [pid for pid in alive(mark) if int(pid) != os.getpid()])
    with pytest.raises(NotBuiltError):
        load_entry(folder)
    assert build(bot(), Yard(profile))[1]


@pytest.mark.parametrize("profile", PROFILES)
def test_nothing_of_a_build_outlives_its_guardian(
    bot: Make, cache: Path, monkeypatch: pytest.MonkeyPatch, profile: Profile
) -> None:
    mark = uuid.uuid4().hex
    monkeypatch.setenv("CROSSTOWN_BUILD_MARK", mark)
    folder = bot("setsid sh -c 'setsid sleep 600 & sleep 600' > /dev/null 2>&1 & touch started; sleep 600")
    with ThreadPoolExecutor(1) as pool:
        making = pool.submit(build, folder, Yard(profile))
        until(lambda: list(cache.glob("*/1/bot/started")))
        guardian = next(
            int(pid)
            for pid in alive(mark)
            if b"start_guardian" in Path(f"/proc/{pid}/cmdline").read_bytes()
            and int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1]) == os.getpid()
        )
        os.kill(guardian, signal.SIGKILL)
        with pytest.raises(BuildError, match="build: its guardian was killed"):
            making.result(PATIENCE_S)
    until(lambda: not [pid for pid in alive(mark) if int(pid) != os.getpid()])


def until(true: Callable[[], object]) -> None:
    end_s = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end_s, "it did not come true in time"
        time.sleep(0.02)


@pytest.mark.parametrize("profile", PROFILES)
def test_a_toolchain_that_never_says_its_version_is_ended(
    bot: Make, monkeypatch: pytest.MonkeyPatch, profile: Profile
) -> None:
    mark = uuid.uuid4().hex
    monkeypatch.setenv("CROSSTOWN_BUILD_MARK", mark)
    built, _ = build(bot(toolchain="setsid sleep 600; sleep 600"), Yard(profile, BuildLimits(toolchain_s=0.5)))
    assert built.toolchain == "unknown: not ready after 0.5 s; it was ended"
    assert not [pid for pid in alive(mark) if int(pid) != os.getpid()]


def test_a_build_may_not_fill_the_disk(bot: Make) -> None:
    with pytest.raises(BuildError, check=says("build: it filled more than 32 MiB of the disk; it was ended")):
        strict(bot("head -c 100000000 /dev/zero > big; sync; sleep 60"), disk_mib=32)


HELD = {
    "open": "f = open('big', 'wb'); os.remove('big'); f.write(bytes(100_000_000)); f.flush(); os.fsync(f.fileno())",
    "mapped": "f = open('big', 'wb+'); f.write(bytes(100_000_000)); f.flush(); os.fsync(f.fileno()); "
    "m = mmap.mmap(f.fileno(), 0); f.close(); os.remove('big')",
}


@pytest.mark.parametrize("how", HELD)
def test_a_build_may_not_fill_the_disk_with_files_that_it_has_removed(bot: Make, how: str) -> None:
    with pytest.raises(BuildError, check=says("build: it filled more than 32 MiB of the disk; it was ended")):
        strict(bot(f'python3 -c "import mmap, os, time; {HELD[how]}; time.sleep(60)"'), disk_mib=32)


def test_a_build_is_not_ended_for_the_room_that_another_takes(bot: Make, cache: Path, tmp_path: Path) -> None:
    folder = bot("touch began; while [ ! -e go ]; do sleep 0.05; done")
    with ThreadPoolExecutor(1) as pool:
        making = pool.submit(strict, folder, disk_mib=32)
        until(lambda: list(cache.rglob("began")) or making.done())
        with (tmp_path / "of another").open("wb") as file:
            file.write(bytes(100_000_000))
            file.flush()
            os.fsync(file.fileno())
        time.sleep(1)  # several looks at the disk
        for began in cache.rglob("began"):
            began.with_name("go").touch()
        assert making.result(PATIENCE_S).sandbox == "strict"


def test_on_a_disk_that_is_nearly_full_a_build_is_ended_whoever_filled_it_and_that_is_said(
    bot: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "free_share", lambda _: 0.01)
    with pytest.raises(NoRoomError, check=says("build: ended, as the disk is nearly full")):
        strict(bot("head -c 100000000 /dev/zero > big; sync; sleep 60"), disk_mib=32)
    strict(bot("sleep 1"), disk_mib=32)


@pytest.mark.parametrize(("number", "kind"), [(errno.EAGAIN, NoRoomError), (errno.EACCES, BuildError)])
def test_a_build_for_which_there_is_no_process_is_no_fault_of_the_bot(
    bot: Make, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[BuildError]
) -> None:
    def start(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(module, "run_supervised", start)
    with pytest.raises(BuildError, check=says("build: cannot be started")) as caught:
        strict(bot("true"))
    assert type(caught.value) is kind


@pytest.mark.slow
def test_empty_files_without_end_do_not_use_up_those_of_the_disk(bot: Make, tmp_path: Path) -> None:
    if not os.statvfs(tmp_path).f_files:
        pytest.skip("this file system has no number of files that could be used up")
    many = "import time; [open(str(n), 'w').close() for n in range(6000)]; time.sleep(60)"
    with pytest.raises(BuildError, check=says("build: it made more than 3,000 files; it was ended")):
        strict(bot(f'python3 -c "{many}"'), files=3000)
    strict(bot(f'python3 -c "{many.replace("; time.sleep(60)", "")}"'), files=100_000)


def test_a_build_in_its_sandbox_may_take_no_more_memory_than_it_is_given(bot: Make) -> None:
    with pytest.raises(BuildError, match="ended with") as caught:
        strict(bot("head -c 400000000 /dev/zero | tail > /dev/null"), memory_mib=100)
    assert "memory" in caught.value.tail


@pytest.mark.parametrize(
    ("script", "how"), [("exit 7", "exit code 7"), ("exit 255", "exit code 255"), ("kill -9 $$", "SIGKILL")]
)
def test_a_phase_that_fails_in_its_sandbox_says_how(bot: Make, script: str, how: str) -> None:
    with pytest.raises(BuildError, match=f"build: 'sh' ended with {how}$"):
        strict(bot(script))


def test_a_sandbox_that_cannot_be_made_is_told_with_what_it_said(bot: Make) -> None:
    folder = bot()
    text = (folder / "bot.toml").read_text().replace('["sh", "-c", ', '["./build.sh", ')
    (folder / "bot.toml").write_text(text)
    (folder / "build.sh").write_text("#!/no/such/interpreter\n")
    (folder / "build.sh").chmod(0o755)
    with pytest.raises(BuildError, match="build: not started: its sandbox could not be made") as caught:
        strict(folder)
    assert "execvp" in caught.value.tail


@pytest.mark.parametrize("profile", ["strict", "plain"])
def test_a_hidden_file_of_the_bot_itself_is_empty_in_its_build(bot: Make, profile: Profile) -> None:
    folder = bot("cat sub/cup.toml > seen; cat notes >> seen")
    (folder / "sub").mkdir()
    for name in ("sub/cup.toml", "notes"):
        (folder / name).write_text(f"of {name}")
    built, _ = build(folder, Yard(profile, hidden=(str(folder), str(folder / "sub" / "cup.toml"), "/elsewhere")))
    assert (built.folder / "seen").read_text() == "of notes"
    assert (built.folder / "sub" / "cup.toml").read_text() == ""
    assert (folder / "sub" / "cup.toml").read_text() == "of sub/cup.toml"


def test_a_build_does_not_see_what_is_hidden_even_in_usr_nor_the_cache(
    bot: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of who may not write in /usr, in a folder that every build sees, too: on PATH."""
    system = Path("/usr/local/share")
    place = (system if os.access(system, os.W_OK) else tmp_path) / f"crosstown-test-{uuid.uuid4().hex}"
    try:
        for name in ("lib/other/bot.py", "lib/cache/x/built.json", "lib/shown", "bin/tool"):
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_text("x")
        monkeypatch.setenv("PATH", f"{os.environ['PATH']}{os.pathsep}{place / 'bin'}")
        monkeypatch.setenv("CROSSTOWN_CACHE", str(place / "lib" / "cache"))
        yard = Yard("strict", hidden=(str(place / "lib" / "other"),))
        built, _ = build(bot(f"cd {place}/lib; find . -type f; cd -"), yard)
        seen = [line for line in built.log.read_text().splitlines() if line.startswith("./")]
        own = f"./cache/{built.source_id}/1/bot/"
        assert [line for line in seen if not line.startswith(own)] == ["./shown"]
        assert len(seen) > 1
    finally:
        shutil.rmtree(place)
