"""A bot in the strict sandbox: it plays as any other, within its limits, and its end is known as exactly."""

import asyncio
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from referee.process import sandbox as sandbox_module
from referee.process.bot import BotProcess, StartError
from referee.process.cgroup import Cgroups, find
from referee.process.entry import Entry, load_entry
from referee.process.launch import LaunchContext
from referee.process.limits import ProcessLimits
from referee.process.sandbox import Sandbox, confine
from referee.process.seccomp import bot_filter
from tests.control_groups import needs_group

pytestmark = pytest.mark.strict_sandbox

STRICT = Sandbox("strict")
MIB = 1 << 20
PYTHON = Path(sys.executable).resolve()
WAIT = "import time; time.sleep(60)\n"


@pytest.fixture
async def confined(mark: Any, write_bot: Any) -> Any:
    """confined(source or entry, sandbox, limits, cgroups) -> a running bot; ended with the test."""
    started: list[BotProcess] = []

    async def begin(
        bot: str | Entry,
        sandbox: Sandbox = STRICT,
        limits: ProcessLimits | None = None,
        cgroups: Cgroups | None = None,
    ) -> BotProcess:
        entry = bot if isinstance(bot, Entry) else load_entry(write_bot({"bot.py": bot}))
        process = await BotProcess.start(
            entry,
            address="unix:/nowhere",
            token=mark.value,  # not the same in two runs of the tests: by it, what a killed guardian left is ended
            limits=limits or ProcessLimits(start_timeout_s=60),
            env=mark.env,
            context=LaunchContext(sandbox, find() if cgroups is None else cgroups),
        )
        started.append(process)
        return process

    yield begin
    for process in started:
        await process.stop(0)
    assert mark.alive() == []


@pytest.mark.parametrize("code", [0, 3, 127])
async def test_an_exit_code_is_reported(confined: Any, code: int) -> None:
    end = await (await confined(f"raise SystemExit({code})")).wait()
    assert (end.code, end.signal, end.out_of_memory) == (code, None, False)
    assert end.cpu_us > 0
    assert end.peak_memory_bytes > MIB


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
async def test_a_signal_is_reported(confined: Any, number: int) -> None:
    end = await (await confined(f"import os; os.kill(os.getpid(), {int(number)})")).wait()
    assert (end.code, end.signal) == (None, number)


async def test_sigterm_and_grace_let_a_bot_save(confined: Any, mock_bot: Any, until: Any) -> None:
    bot = await confined(mock_bot("slow"))
    await until(lambda: bot.output().stdout_text())
    assert (await bot.stop(10)).code == 0
    assert bot.output().stdout_text() == "ready\nsaved\n"


@pytest.mark.parametrize("name", ["double_forking", "forking", "hopping", "frozen"])
async def test_nothing_of_it_outlives_it(confined: Any, mock_bot: Any, mark: Any, until: Any, name: str) -> None:
    bot = await confined(mock_bot(name))
    await until(lambda: name == "frozen" or bot.output().stdout_text())
    await bot.stop(0)
    assert mark.alive() == []
    assert not bot.exited.guardian_lost


async def test_a_killed_guardian_takes_the_namespace_with_it(confined: Any, mock_bot: Any, mark: Any) -> None:
    bot = await confined(mock_bot("double_forking"))
    os.kill(bot.guardian_pid, signal.SIGKILL)
    assert (await bot.wait()).guardian_lost
    await bot.wait_gone()
    assert mark.alive() == []


async def test_no_group_and_no_folder_stays(confined: Any) -> None:
    bot = await confined("print(1)")
    folders = bot._group.folders if bot._group else ()
    await bot.wait_gone()
    assert not any(folder.exists() for folder in folders)


async def test_a_program_that_cannot_run_is_a_start_error_in_the_words_of_the_sandbox(
    write_bot: Any, tmp_path: Path
) -> None:
    hidden = tmp_path / "interpreter"  # there, and not shown to the bot
    hidden.symlink_to("/bin/sh")
    folder = write_bot({"bot": f"#!{hidden}\n"})
    (folder / "bot").chmod(0o755)
    (folder / "bot.toml").write_text('name = "Gone"\nversion = "1"\ngames = ["*"]\nrun = ["./bot"]\n')
    with pytest.raises(StartError, match=r"bot 'Gone': in its sandbox, it could not be started: bwrap: execvp .*"):
        await BotProcess.start(
            load_entry(folder),
            address="a",
            token="t",
            limits=ProcessLimits(start_timeout_s=60),
            context=LaunchContext(STRICT),
        )


async def test_its_threads_stay_as_ready_to_run_as_they_were(confined: Any) -> None:
    """What would make one wait for a processor by its own will succeeds and does nothing: such a wait is given back."""
    source = (
        "import os\n"
        "look = lambda: (os.getpriority(0, 0), os.sched_getscheduler(0), sorted(os.sched_getaffinity(0)))\n"
        "before = look()\n"
        "os.setpriority(0, 0, 19)\n"
        "os.nice(19)\n"
        "os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\n"
        "os.sched_setaffinity(0, before[2][:1])\n"
        "print(look() == before)\n"
    )
    bot = await confined(source)
    await bot.wait()
    assert bot.output().stdout_text() == f"{bool(bot_filter())}\n", bot.output().stderr_text()


@pytest.mark.parametrize("network", [False, True])
async def test_it_lists_interfaces_with_the_network_alone(confined: Any, network: bool) -> None:
    """For want of a limit on what lies in a netlink socket. Addresses are found without."""
    source = (
        "import socket\n"
        "print(socket.getaddrinfo('127.0.0.1', 1)[0][4][1], end=' ')\n"
        "try: print(bool(socket.if_nameindex()))\n"
        "except OSError as error: print(error.errno)\n"
    )
    bot = await confined(source, sandbox=Sandbox("strict", network=network))
    await bot.wait()
    if bot_filter():
        assert bot.output().stdout_text() == f"1 {True if network else 97}\n", bot.output().stderr_text()


async def test_what_it_keeps_in_sockets_is_bounded(confined: Any) -> None:
    """Under version 1 of control groups that counts as nobody's memory, unless a limit is set for it."""
    needs_group("memory")
    source = (
        "import socket\n"
        "listener, kept, sent = socket.create_server(('127.0.0.1', 0)), [], [0]\n"
        "for _ in range(100):\n"
        "    kept += [one := socket.create_connection(listener.getsockname()), listener.accept()[0]]\n"
        "    one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)\n"
        "    one.setblocking(False)\n"
        "    sent.append(0)\n"
        "    try:\n"
        "        while sum(sent) < 300 << 20: sent[-1] += one.send(bytes(65536))\n"
        "    except BlockingIOError: pass\n"
        "print(max(sent) >> 20, sum(sent) >> 20)\n"
    )
    bot = await confined(source, limits=ProcessLimits(start_timeout_s=60, memory_bytes=256 << 20))
    await bot.wait()
    most_in_one, in_all = map(int, bot.output().stdout_text().split())
    assert most_in_one >= 1, "a program that sends a MiB to itself is not disturbed"
    assert in_all < 256


async def test_it_takes_no_core_and_no_disk_from_others(confined: Any) -> None:
    """A group of tasks that shares no core with strangers is refused, and syncfs does not even look at its argument."""
    source = (
        "import ctypes, errno\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "print(libc.syncfs(-1), end=' ')\n"
        "libc.prctl(62, 1, 0, 0, 0)  # PR_SCHED_CORE, PR_SCHED_CORE_CREATE: ENODEV or EINVAL where it is of no use\n"
        "print(errno.errorcode.get(ctypes.get_errno()), end=' ')\n"
        "print(libc.prctl(15, b'name', 0, 0, 0))  # PR_SET_NAME\n"
    )
    bot = await confined(source)
    await bot.wait()
    if bot_filter():
        assert bot.output().stdout_text() == "0 EPERM 0\n", bot.output().stderr_text()


COUNTS_OF_THE_MACHINE = (
    "import os\n"
    "def is_told(name):\n"
    "    path = '/proc/' + name\n"
    "    try: return bool(os.listdir(path) if os.path.isdir(path) else open(path).read(1))\n"
    "    except OSError: return False\n"
    "print([name for name in ('fs', 'interrupts', 'irq', 'vmstat') if is_told(name)])\n"
)


def test_the_kernel_counts_some_things_for_the_whole_machine() -> None:
    found = subprocess.run([sys.executable, "-c", COUNTS_OF_THE_MACHINE], capture_output=True, text=True, check=True)
    assert "vmstat" in found.stdout


async def test_it_does_not_see_what_the_kernel_counts_for_the_whole_machine(confined: Any) -> None:
    bot = await confined(COUNTS_OF_THE_MACHINE)
    await bot.wait()
    assert bot.output().stdout_text() == "[]\n", bot.output().stderr_text()


@pytest.fixture
def in_usr(tmp_path: Path) -> Iterator[Path]:
    """A folder where every bot sees what is there, as projects in containers have; for who may not write in /usr, one
    that is then granted."""
    system = Path("/usr/local/share")
    folder = (system if os.access(system, os.W_OK) else tmp_path) / f"crosstown-test-{uuid.uuid4().hex}"
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


def lay_out(in_usr: Path, mode: int) -> Path:
    """A project with a bot that lists all it sees of it; the bot's folder."""
    for name in ("runs/cup/m1.jsonl", "bots/other/bot.py", "cache/x/built.json", "bots/other/model/weights"):
        (in_usr / name).parent.mkdir(parents=True, exist_ok=True)
        (in_usr / name).write_text("secret")
    folder = in_usr / "bots" / "mine"
    folder.mkdir()
    (folder / "bot.toml").write_text(
        'name = "Me"\nversion = "1"\ngames = ["*"]\nrun = ["/usr/bin/python3", "bot.py"]\n'
    )
    (folder / "bot.py").write_text(
        "import os\n"
        f"for parent, _, files in os.walk({str(in_usr)!r}):\n"
        f"    for name in files: print(os.path.relpath(f'{{parent}}/{{name}}', {str(in_usr)!r}))\n"
        f"try: open({str(in_usr / 'runs' / 'x')!r}, 'w')\n"
        "except OSError: print('not written')\n"
    )
    (in_usr / "runs").chmod(mode)
    in_usr.chmod(mode)
    return folder


@pytest.mark.parametrize("mode", [0o755, 0o700])
async def test_what_is_hidden_is_not_seen_even_in_usr(
    confined: Any, in_usr: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    """Nor is the cache of builds; what the bot is shown by name, it sees even in there."""
    monkeypatch.setenv("CROSSTOWN_CACHE", str(in_usr / "cache"))
    folder = lay_out(in_usr, mode)
    (in_usr / "runs" / "cup.toml").write_text("")
    names = ("runs", "runs/cup", "runs/cup.toml", "runs/cap", "bots/other", "bots/mine")
    hidden = tuple(str(in_usr / name) for name in names)
    read = [in_usr / "bots" / "other" / "model", *([] if in_usr.is_relative_to("/usr") else [in_usr])]
    sandbox = Sandbox("strict", read=tuple(map(str, read)), hidden=hidden)
    entry = load_entry(folder)
    bot = await confined(entry, sandbox)
    await bot.wait()
    said = bot.output().stdout_text().split("\n")
    own = entry.home.relative_to(in_usr)
    seen = ["", "bots/other/model/weights", f"{own}/bot.py", f"{own}/bot.toml", "not written"]
    assert sorted(said) == seen, bot.output().stderr_text()


@pytest.mark.parametrize("mode", [0o755, 0o700])
async def test_a_file_that_is_hidden_is_empty_wherever_it_lies(confined: Any, in_usr: Path, mode: int) -> None:
    """In the bot's own folder, beside it in /usr, or in a grant."""
    folder = lay_out(in_usr, mode)
    secrets = (folder / "cup.toml", in_usr / "cup.toml", in_usr / "runs" / "cup.toml")
    for path in secrets:
        path.write_text("seed = 1")
    (folder / "bot.py").write_text(
        "import os\n"
        f"for path in {list(map(str, secrets))!r}:\n"
        "    try: print(open(path).read())\n"
        "    except (FileNotFoundError, PermissionError): print()\n"
        "    try: os.unlink(path)\n"
        "    except OSError: continue\n"
        "    print('gone')\n"
        "print(os.path.getsize('bot.py') > 0)\n"
    )
    read = () if in_usr.is_relative_to("/usr") else (str(in_usr),)
    bot = await confined(load_entry(folder), Sandbox("strict", read=read, hidden=tuple(map(str, secrets))))
    await bot.wait()
    assert bot.output().stdout_text() == "\n\n\nTrue\n", bot.output().stderr_text()
    assert all(path.read_text() == "seed = 1" for path in secrets)


async def test_what_is_hidden_is_not_seen_in_a_wide_grant(confined: Any, tmp_path: Path) -> None:
    for name in ("shared/data", "shared/runs/cup/m1.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    shared = tmp_path / "shared"
    sandbox = Sandbox("strict", read=(str(shared),), hidden=(str(shared / "runs" / "cup"),))
    bot = await confined(
        f"import os; print([name for _, _, found in os.walk({str(shared)!r}) for name in found])", sandbox
    )
    await bot.wait()
    assert bot.output().stdout_text() == "['data']\n", bot.output().stderr_text()


async def test_its_path_tells_nothing_of_what_it_is_not_shown(
    confined: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    private, tool = tmp_path / "me" / "private", tmp_path / "node" / "bin"
    for folder in (private, tool):
        folder.mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{private}:{tool}:relative::{os.environ['PATH']}")
    source = "import os; print(os.environ['PATH'])"
    bot = await confined(source, Sandbox("strict", read=(str(tool.parent),)))
    await bot.wait()
    names = bot.output().stdout_text().strip().split(":")
    assert names[0] == str(tool)
    assert "/usr/bin" in names
    assert not {str(private), "relative", ""} & set(names)
    bot = await confined(source, Sandbox("strict", env=("PATH",)))
    await bot.wait()
    assert bot.output().stdout_text() == f"{os.environ['PATH']}\n"


def test_toolchains_are_looked_for_once_for_all_starts_of_a_bot(
    write_bot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[Path] = []

    def look(ours: Mapping[str, str], folder: Path) -> tuple[Path, ...]:
        looked.append(folder)
        return ()

    monkeypatch.setattr(sandbox_module, "find_toolchains", look)
    one, other = (write_bot({"bot": f"#!{tmp_path}/tool\n"}) for _ in range(2))

    def start(folder: Path) -> None:
        argv = (str(folder / "bot"),)
        confine(argv, folder, STRICT, sockets=[], disk_bytes=None, processes=None, call_filter=b"", program="bwrap")

    for folder in (one, one, other):
        start(folder)
    assert looked == [one, other]
    monkeypatch.setenv("PATH", "/elsewhere")
    start(one)
    assert looked == [one, other, one]


@pytest.mark.parametrize("name", ["oom_score_adj", "autogroup", "timerslack_ns", "comm"])
async def test_nothing_in_proc_can_be_written_not_even_its_own(confined: Any, name: str) -> None:
    """Not its place among those that the kernel ends first, nor its session's priority."""
    source = f"try:\n    open('/proc/self/{name}', 'r+').close()\nexcept OSError as error:\n    print(error.strerror)\n"
    bot = await confined(source)
    await bot.wait()
    assert bot.output().stdout_text() in ("Read-only file system\n", "No such file or directory\n")


async def test_its_own_open_files_can_be_reached_through_proc(confined: Any) -> None:
    source = (
        "import os\n"
        "reading, writing = os.pipe()\n"
        "open(f'/dev/fd/{writing}', 'w').write('a word')\n"
        "print(os.read(reading, 100).decode())\n"
    )
    bot = await confined(source)
    await bot.wait()
    assert bot.output().stdout_text() == "a word\n", bot.output().stderr_text()


async def test_the_disk_it_gets_is_small_and_there_is_no_other(confined: Any) -> None:
    source = (
        "import os\n"
        "for place in ('/tmp', '/dev/shm', '/', '/dev', '/usr', '.'):\n"
        "    try:\n"
        "        with open(place + '/big', 'wb') as file:\n"
        "            for _ in range(40): file.write(bytes(100_000)); file.flush()\n"
        "        print(place, 'all')\n"
        "    except OSError as error:\n"
        "        print(place, os.path.getsize(place + '/big') if os.path.exists(place + '/big') else 0)\n"
    )
    bot = await confined(source, limits=ProcessLimits(disk_bytes=MIB, start_timeout_s=60))
    await bot.wait()
    sizes = dict(line.split() for line in bot.output().stdout_text().splitlines())
    assert set(sizes) == {"/tmp", "/dev/shm", "/", "/dev", "/usr", "."}
    assert all(0 < int(sizes[place]) <= MIB for place in ("/tmp", "/dev/shm"))
    assert [sizes[place] for place in ("/", "/dev", "/usr", ".")] == ["0"] * 4


FORKS = (
    "import os, time\n"
    "made = 0\n"
    "try:\n"
    "    for _ in range(200):\n"
    "        if os.fork() == 0: time.sleep(60)\n"
    "        made += 1\n"
    "except OSError:\n"
    "    pass\n"
    "print(made, flush=True)\n" + WAIT
)


@pytest.mark.parametrize("groups", [True, False])
async def test_a_fork_bomb_meets_its_limit_and_the_next_bot_does_not_feel_it(
    confined: Any, until: Any, groups: bool
) -> None:
    limits = ProcessLimits(processes=30, start_timeout_s=60)
    cgroups = None if groups else Cgroups()
    bots = [await confined(FORKS, limits=limits, cgroups=cgroups) for _ in range(2)]
    await until(lambda: all(bot.output().stdout_text() for bot in bots))
    assert all(20 <= int(bot.output().stdout_text()) < 30 for bot in bots)


HUNGRY = "held = []\nwhile True: held.append(bytearray(b'x' * (8 << 20)))\n"


@pytest.mark.parametrize("sandbox", [STRICT, Sandbox()])
async def test_running_out_of_memory_is_known_as_that(confined: Any, sandbox: Sandbox) -> None:
    if "memory" not in find().controllers:
        return  # the next test then says what happens
    bot = await confined(HUNGRY, sandbox, ProcessLimits(memory_bytes=100 * MIB, start_timeout_s=60))
    end = await bot.wait()
    assert end.out_of_memory
    assert end.signal == signal.SIGKILL
    assert str(end) == "killed at its memory limit"
    assert 90 * MIB < end.peak_memory_bytes <= 101 * MIB


async def test_without_control_groups_memory_is_limited_for_each_process(confined: Any) -> None:
    limits = ProcessLimits(memory_bytes=200 * MIB, start_timeout_s=60)
    bot = await confined(HUNGRY, STRICT, limits, Cgroups())
    end = await bot.wait()
    assert (end.code, end.out_of_memory) == (1, False)
    assert "MemoryError" in bot.output().stderr_text()


async def test_a_share_of_a_core_is_a_share(confined: Any, until: Any) -> None:
    needs_group("cpu")
    limits = ProcessLimits(cores=0.2, start_timeout_s=60)
    bot = await confined("import os\nos.fork()\nwhile True: pass\n", limits=limits)
    loop = asyncio.get_running_loop()
    await until(lambda: bot.cpu_ns() > 50_000_000)
    first_ns, began_s = bot.cpu_ns(), loop.time()
    await asyncio.sleep(1)
    assert (bot.cpu_ns() - first_ns) / 1e9 < 0.4 * (loop.time() - began_s)


async def test_files_are_limited(confined: Any) -> None:
    source = (
        "import resource\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_FSIZE),"
        " resource.getrlimit(resource.RLIMIT_CORE))\n"
    )
    bot = await confined(source, limits=ProcessLimits(open_files=99, file_bytes=MIB, start_timeout_s=60))
    await bot.wait()
    assert bot.output().stdout_text() == f"(99, 99) ({MIB}, {MIB}) (1, 1)\n"


@pytest.mark.parametrize("groups", [True, False])
async def test_it_can_be_frozen(confined: Any, until: Any, groups: bool) -> None:
    source = "import os\nos.fork()\nprint('on', flush=True)\nwhile True: pass\n"
    bot = await confined(source, cgroups=None if groups else Cgroups())
    await until(lambda: bot.output().stdout_text().count("on") == 2)
    bot.freeze()
    await asyncio.sleep(0.05)
    used = bot.cpu_ns()
    await asyncio.sleep(0.1)
    assert bot.cpu_ns() == used
    bot.thaw()
    await until(lambda: bot.cpu_ns() > used + 20_000_000)
    bot.freeze()
    end = await bot.stop(0)
    assert end.signal == signal.SIGKILL


async def test_grants_are_what_the_tournament_says(
    confined: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model with spaces"
    model.mkdir(mode=0o700)
    (model / "weights").write_text("w")
    monkeypatch.setenv("API_KEY", "k")
    monkeypatch.setenv("OTHER_KEY", "o")
    source = (
        "import os, socket\n"
        f"print(open({str(model / 'weights')!r}).read())\n"
        "print(os.environ.get('API_KEY'), os.environ.get('OTHER_KEY'))\n"
        "print(len(socket.if_nameindex()))\n"
    )
    bot = await confined(source, Sandbox("strict", network=True, env=("API_KEY",), read=(str(model),)))
    end = await bot.wait()
    assert end.code == 0, bot.output().stderr_text()
    said = bot.output().stdout_text().split("\n")
    assert said[:2] == ["w", "k None"]


@pytest.mark.parametrize("where", ["venv", "prefix"])
async def test_an_interpreter_in_a_private_home_works(
    confined: Any, tmp_path: Path, write_bot: Callable[..., Path], where: str
) -> None:
    """A virtual environment, and something like a JDK or a node of a version manager, which finds its files by its
    own place; both readable by their owner alone."""
    home = tmp_path / "höme"
    tool = home / "tool 1.2"
    (tool / "bin").mkdir(parents=True)
    (tool / "lib").mkdir()
    (home / "secret").write_text("s")
    (tool / "secret").write_text("s")
    program = tool / "bin" / "prog"
    if where == "venv":
        (tool / "pyvenv.cfg").write_text(f"home = {PYTHON.parent}\n")
        program.symlink_to(PYTHON)
        bot_source = f"import os, sys; print(sys.prefix == {str(tool)!r}, os.path.exists({str(home / 'secret')!r}))\n"
    else:
        (tool / "lib" / "runtime").write_text("x")
        program.write_text(
            f'#!/bin/sh\ncat "$(dirname "$0")/../lib/runtime" >/dev/null && exec "{sys.executable}" "$@"\n'
        )
        program.chmod(0o700)
        bot_source = f"import os; print(True, os.path.exists({str(tool / 'secret')!r}))\n"
    for path in (*home.rglob("*"), home):
        if not path.is_symlink():
            path.chmod(0o700 if path.is_dir() or path.name == "prog" else 0o600)
    folder = write_bot({"bot.py": bot_source}, run=[str(program), "bot.py"])
    sandbox = STRICT if where == "venv" else Sandbox("strict", read=(sys.prefix, sys.base_prefix))
    bot = await confined(load_entry(folder), sandbox)
    end = await bot.wait()
    assert end.code == 0, bot.output().stderr_text()
    assert bot.output().stdout_text() == "True False\n"


@pytest.mark.parametrize(
    "wrong", [{"profile": "loose"}, {"env": ("CROSSTOWN_TOKEN",)}, {"env": ("A=B",)}, {"read": ("relative",)}]
)
def test_a_sandbox_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"profile|env|read"):
        Sandbox(**wrong)


def test_a_sandbox_is_named_for_people() -> None:
    assert str(Sandbox("strict", True, ("KEY",), ("/opt/m",))) == "strict, network, env KEY, read /opt/m"
    assert str(Sandbox()) == "plain"


DEVICES = """
import os, sys
for path in sys.argv[1:]:
    try:
        number = os.open(path, os.O_RDWR)
        print(path.rpartition("/")[2], len(os.read(number, 4)), os.write(number, b"ok"), flush=True)
    except OSError as error:
        print(path.rpartition("/")[2], type(error).__name__, flush=True)
"""


async def test_a_granted_device_is_there_and_no_other(confined: Any, write_bot: Any, tmp_path: Path) -> None:
    """By links, so that any user can run this: the sandbox has /dev/zero itself in any case."""
    for name in ("granted", "other"):
        (tmp_path / name).symlink_to("/dev/zero")
    paths = [str(tmp_path / name) for name in ("granted", "other")]
    bot = load_entry(write_bot({"bot.py": DEVICES}, ["{python}", "bot.py", *paths]))
    process = await confined(bot, Sandbox("strict", devices=(paths[0],)))
    await process.wait()
    assert process.output().stdout_text().splitlines() == ["granted 4 2", "other FileNotFoundError"]


def test_an_open_file_of_a_process_is_no_device_also_through_a_link(tmp_path: Path) -> None:
    """A path such as /dev/fd/0 names another file in each process: a bot that was granted it would not start."""
    link = tmp_path / "link"
    with Path("/dev/null").open() as file:
        link.symlink_to(f"/dev/fd/{file.fileno()}")
        for path in (link, link.readlink(), Path(f"/proc/self/fd/{file.fileno()}")):
            assert "an open file of the process that names it" in sandbox_module.why_no_device(str(path))
    assert not sandbox_module.why_no_device("/dev/null")


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everybody may enter, as /dev is."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


async def test_a_device_of_a_group_opens_for_the_bots_own_user(confined: Any, write_bot: Any, public: Path) -> None:
    """Such as /dev/dri/renderD128, which belongs to the group render. Who is not root is in its own groups."""
    node = public / "render"
    if os.getuid() == 0:
        os.mknod(node, stat.S_IFCHR | 0o660, os.makedev(1, 5))
        os.chown(node, 0, 4242)
        node.chmod(0o660)
    else:
        node.symlink_to("/dev/zero")
    bot = load_entry(write_bot({"bot.py": DEVICES}, ["{python}", "bot.py", str(node)]))
    process = await confined(bot, Sandbox("strict", devices=(str(node),)))
    await process.wait()
    assert process.output().stdout_text().splitlines() == ["render 4 2"]
