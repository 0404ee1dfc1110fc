"""A program that plays referee for the bot `escape`: a private home with all that is worth reading, made under umask
077, and in its midst the bot; prints what the bot reached. Below /usr, which every bot sees, everybody may read it all.

    escape_scene.py PROFILE FOLDER ESCAPE_BOT

PROFILE may be "strict+network", which grants that.

Standard library and `referee.process` alone, so that another user's interpreter can run it too.
"""

import asyncio
import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import uuid
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from referee.process.bot import BotProcess
from referee.process.entry import Entry, load_entry
from referee.process.launch import LaunchContext
from referee.process.limits import ProcessLimits
from referee.process.sandbox import Sandbox
from referee.process.sources import copied

SECRET = "the-secret"


def hide(path: Path, text: str = "here is {}\n") -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.format(SECRET))
    return str(path)


async def start_bot(entry: Entry, sandbox: Sandbox, socket: Path, token: str = "") -> BotProcess:
    return await BotProcess.start(
        entry,
        address=f"unix:{socket}",
        token=token or uuid.uuid4().hex,
        limits=ProcessLimits(disk_bytes=1 << 20, start_timeout_s=60),
        context=LaunchContext(sandbox),
    )


async def run_bot(entry: Entry, sandbox: Sandbox, socket: Path) -> dict[str, str]:
    bot = await start_bot(entry, sandbox, socket)
    async with bot:
        await bot.wait()
    said = bot.output()
    assert said.stdout_text(), said.stderr_text()
    outcome: dict[str, str] = json.loads(said.stdout_text())
    return outcome


def process_with(token: str) -> int:
    """The bot of this token: of all that have it, guardian and sandbox too, the one that was started last."""
    wanted = f"CROSSTOWN_TOKEN={token}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return max(found)


async def main(profile: str, folder: Path, escape: Path) -> None:
    in_usr = folder.is_relative_to("/usr")
    if in_usr:
        folder.chmod(0o755)  # noqa: ASYNC240
    os.umask(0o022 if in_usr else 0o077)
    home = folder / "späce home"
    home.mkdir(mode=0o755 if in_usr else 0o700)
    mark = uuid.uuid4().hex
    note, host_tmp = Path(f"/tmp/note-{mark}"), Path(f"/tmp/secret-{mark}")
    bot = home / "bots" / "escape"
    bot.mkdir(parents=True)
    other = home / "bots" / "other"
    other_bot = hide(other / "bot.py", "# here is {}\nimport time\nprint(1, flush=True)\ntime.sleep(600)\n")
    shutil.copyfile(escape / "bot.toml", other / "bot.toml")
    os.environ["CROSSTOWN_CACHE"] = str(home / "cache")
    own_path = f"/höme-{mark}/my-tools"
    os.environ["PATH"] += f":{own_path}"
    for name in ("bot.py", "bot.toml"):
        shutil.copyfile(escape / name, bot / name)
    (home / "sockets").mkdir()
    held = open(hide(home / "referee's own"))  # noqa: ASYNC230, PTH123, SIM115
    referee = subprocess.Popen(  # noqa: ASYNC220
        ["/bin/sh", "-c", "read end; : stand-in"],
        env={**os.environ, "SECRET": SECRET},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        pass_fds=(held.fileno(),),
    )
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(str(home / "sockets" / "referee.sock"))
    unix.listen()
    abstract = socket.socket(socket.AF_UNIX)
    abstract.bind(f"\0crosstown-{mark}")
    abstract.listen()
    tcp = socket.create_server(("127.0.0.1", 0))
    targets: dict[str, Any] = {
        "secret": SECRET,
        "home": str(home),
        "database": hide(home / "runs" / "cup" / "crosstown.db"),
        "record": hide(home / "runs" / "cup" / "matches" / "m1.jsonl"),
        "seed": hide(home / "cup.toml"),
        "luck": hide(home / "runs" / "cup" / "luck.secret"),
        "other_bot": other_bot,
        "own_path": own_path,
        "built": hide(home / "cache" / "0123456789abcdef" / "1" / "bot" / "bot"),
        "host_tmp": hide(host_tmp),
        "referee": referee.pid,
        "port": tcp.getsockname()[1],
        "abstract": f"crosstown-{mark}",
        "socket": str(home / "sockets" / "referee.sock"),
        "note": str(note),
    }
    referee_socket = home / "sockets" / "referee.sock"
    token = uuid.uuid4().hex
    own_seed = hide(bot / "cup.toml")  # as where a tournament lies beside its author's bot
    other_entry = load_entry(other)
    targets["hidden"] = str(other_entry.home)
    hidden = (str(home / "runs" / "cup"), str(bot), str(other), str(other_entry.home), str(targets["seed"]), own_seed)
    sandbox = Sandbox("plain" if profile == "plain" else "strict", network="network" in profile, hidden=hidden)
    playing = await start_bot(other_entry, sandbox, referee_socket, token)
    try:
        while not playing.output().stdout_text():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        targets |= {"playing": process_with(token), "token": token}
        entry = load_entry(bot, options={"targets": json.dumps(targets)})
        own_copies = tuple(map(str, copied(hidden, bot, entry.home)))  # as the command hides them
        sandbox = replace(sandbox, hidden=(*hidden, *own_copies))
        first = await run_bot(entry, sandbox, referee_socket)
        second = await run_bot(entry, sandbox, referee_socket)
        first["remember an earlier match"] = second["remember an earlier match"]
        if not (home / "escaped").exists():  # written, perhaps, but not where others see it
            first["write to the host's disk"] = "not on the host's disk"
        if stat.S_IMODE((home / "sockets").stat().st_mode) != 0o711:
            first["change the rights of the socket's folder"] = "not those of the host's folder"
        print(json.dumps(first))
    finally:
        await playing.stop(0)
        referee.kill()
        referee.wait()
        for path in (note, host_tmp):
            path.unlink(missing_ok=True)


asyncio.run(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
