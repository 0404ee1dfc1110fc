"""Hands bots in to a ladder: for tests of what takes them."""

import io
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

from leaderboard.web.hand_ins import Account, HandedIn
from referee.ladder.hand_ins import LadderHandIns

RANDOM = Path(__file__).parents[3] / "bots" / "python" / "random"
MANIFEST = 'name = "{name}"\nversion = "{version}"\ngames = ["{game}"]\nrun = ["{{python}}", "bot.py"]\n'

Sign = Callable[..., Account]


def archive(files: dict[str, str | bytes]) -> bytes:
    """A tar.gz of these files."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as tar:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return made.getvalue()


def bot_files(
    code: str | None = None, *, name: str = "mine", version: str = "1", game: str = "*", more: str = ""
) -> dict[str, str | bytes]:
    """A bot that plays by chance, or has this code; `more`: lines of its manifest."""
    manifest = MANIFEST.format(name=name, version=version, game=game) + more
    salt = "\n[options]\nsalt = 0\n" if code is None else ""
    return {"bot.toml": manifest + salt, "bot.py": code if code is not None else (RANDOM / "bot.py").read_text()}


def send(hand_ins: LadderHandIns, account: Account, data: bytes, *, bot: str = "mine", key: str = "") -> HandedIn:
    upload = hand_ins.begin_upload(account, bot, key)
    for place in range(0, len(data), 1000):
        upload.write(data[place : place + 1000])
    return upload.finish()


def wait_for(condition: Callable[[], bool], within_s: float = 30.0) -> None:
    """Until the condition holds."""
    end_s = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < end_s, "it did not happen"
        time.sleep(0.02)
