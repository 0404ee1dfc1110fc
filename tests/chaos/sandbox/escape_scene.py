"""A program that plays referee for the bot `escape`: a private home with all that is worth reading, made under umask
077, and in its midst the bot; prints what the bot reached.

    escape_scene.py PROFILE FOLDER ESCAPE_BOT

Standard library and `referee.process` alone, so that another user's interpreter can run it too.
"""

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

from referee.process.bot import BotProcess
from referee.process.entry import Entry, load_entry
from referee.process.launch import Ground
from referee.process.limits import ProcessLimits
from referee.process.sandbox import Sandbox

SECRET = "the-secret"


def hide(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"here is {SECRET}\n")
    return str(path)


async def run_bot(entry: Entry, profile: str, sockets: Path) -> dict[str, str]:
    bot = await BotProcess.start(
        entry,
        address=f"unix:{sockets}",
        token=uuid.uuid4().hex,
        limits=ProcessLimits(disk_bytes=1 << 20, start_timeout_s=60),
        ground=Ground(Sandbox("strict" if profile == "strict" else "plain")),
    )
    async with bot:
        await bot.wait()
    said = bot.output()
    assert said.stdout_text(), said.stderr_text()
    outcome: dict[str, str] = json.loads(said.stdout_text())
    return outcome


async def main(profile: str, folder: Path, escape: Path) -> None:
    os.umask(0o077)
    home = folder / "späce home"
    home.mkdir(mode=0o700)
    mark = uuid.uuid4().hex
    note, host_tmp = Path(f"/tmp/note-{mark}"), Path(f"/tmp/secret-{mark}")
    bot = home / "bots" / "escape"
    bot.mkdir(parents=True)
    for name in ("bot.py", "bot.toml"):
        shutil.copyfile(escape / name, bot / name)
    (home / "sockets").mkdir()
    referee = subprocess.Popen(  # noqa: ASYNC220
        ["/bin/sh", "-c", "read end; : stand-in"],
        env={**os.environ, "SECRET": SECRET},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
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
        "other_bot": hide(home / "bots" / "other" / "bot.py"),
        "host_tmp": hide(host_tmp),
        "referee": referee.pid,
        "port": tcp.getsockname()[1],
        "abstract": f"crosstown-{mark}",
        "socket": str(home / "sockets" / "referee.sock"),
        "note": str(note),
    }
    try:
        entry = load_entry(bot, options={"targets": json.dumps(targets)})
        first = await run_bot(entry, profile, home / "sockets" / "referee.sock")
        second = await run_bot(entry, profile, home / "sockets" / "referee.sock")
        first["remember an earlier match"] = second["remember an earlier match"]
        if not (home / "escaped").exists():  # written, perhaps, but not where others see it
            first["write to the host's disk"] = "not on the host's disk"
        print(json.dumps(first))
    finally:
        referee.kill()
        referee.wait()
        for path in (note, host_tmp):
            path.unlink(missing_ok=True)


asyncio.run(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
