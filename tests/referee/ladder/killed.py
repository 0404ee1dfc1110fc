"""`python -m tests.referee.ladder.killed FOLDER POINT`: a ladder that takes a hand-in and plays, until it is killed.

POINT names the write before which, or after which, the process ends without another word; "none" for no kill: then it
ends in order, after a few matches.
"""

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from leaderboard.web.hand_ins import Account
from referee.ladder.bots import LadderBot, entry_id
from referee.ladder.config import LadderConfig, load_ladder
from referee.ladder.database import LadderDatabase
from referee.ladder.hand_ins import LadderHandIns
from referee.ladder.intake import open_store
from referee.ladder.members import Loaded
from referee.ladder.runner import LadderRunner
from referee.ladder.store import LadderStore
from referee.process.sandbox import Sandbox
from referee.run.anchors import AnchorKeeper
from referee.run.folder import RunFolder
from referee.run.journal import Journal
from referee.tournament.messages import BotSetup
from tests.referee.conftest import Log, make_record
from tests.referee.ladder.conftest import FakeTables
from tests.referee.ladder.handing_in import archive, bot_files, send

MATCHES = 6
POINTS = {
    "before the database": (LadderStore, "hand_in", "", True),
    "in the database": (LadderDatabase, "_commit", "", True),
    "after the database": (LadderStore, "hand_in", "", False),
    "before the journal": (Journal, "append", "added", True),
    "after the journal": (Journal, "append", "added", False),
    "before a block": (Journal, "append", "block", True),
    "after a block": (Journal, "append", "block", False),
    "before a result counts": (AnchorKeeper, "counted", "", True),
    "before results are written": (Journal, "append", "counted", True),
    "after results are written": (Journal, "append", "counted", False),
}
"""By name: the method of a class, the kind of event that it is about ('' for all), and whether it is killed before."""


def kill_at(point: str) -> None:
    """Have this process end there."""
    owner, name, kind, before = POINTS[point]
    method: Callable[..., Any] = getattr(owner, name)

    def killed(self: Any, *given: Any, **more: Any) -> Any:
        if kind and given[0] != kind:
            return method(self, *given, **more)
        if not before:
            method(self, *given, **more)
        os._exit(9)

    setattr(owner, name, killed)


def load(bot: LadderBot) -> Loaded:
    source = f"{bot.name}-{bot.version}"
    known_as = entry_id(bot, source)
    return Loaded(known_as, BotSetup("", bot.name, {}, source, Sandbox(), bot.content, known_as))


def hand_in(config: LadderConfig, store: LadderStore) -> None:
    """Two bots with a key each, as a client does that got no answer the last time."""
    hand_ins = LadderHandIns(config, store)
    for name in ("ann", "bob"):
        store.accounts.add_owner(name)
        packed = config.path.with_name(f"{name}.tar.gz")
        if not packed.exists():
            packed.write_bytes(archive(bot_files(name=name)))
        send(hand_ins, Account(name, "submit", "1"), packed.read_bytes(), bot=name, key=f"key of {name}")
    for version in store.steps.waiting():
        store.steps.checked(version.id, "1", ["toy"])
        store.steps.qualified(version.id, "toy")


async def play(runner: LadderRunner, tables: FakeTables) -> None:
    stop = asyncio.Event()
    running = asyncio.create_task(runner.run(stop))
    while not running.done() and len(tables.played) < MATCHES:  # noqa: ASYNC110 - of another task
        await asyncio.sleep(0.01)
    stop.set()
    await running


def main(folder: Path, point: str) -> None:
    if point != "none":
        kill_at(point)
    config = load_ladder(folder / "ladder.toml")
    (config.data / "divisions").mkdir(parents=True, exist_ok=True)
    with open_store(config) as store:
        hand_in(config, store)
        tables = FakeTables(make_record)

        def observer(_folder: RunFolder) -> Log:
            return Log()

        runner = LadderRunner(config, [store], tables, load, observer, lambda _: None)
        asyncio.run(play(runner, tables))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
