"""Sends bots to the machines of a cluster: their sources, and the builds that were made on this machine."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.cluster import tasks
from referee.cluster.archive import MOST_BUILD_BYTES, MOST_PACKED_BYTES, Parcel, fits, pack, pack_build
from referee.cluster.connection import Connection, Machine
from referee.cluster.machine import own_platform
from referee.cluster.orders import HandIns
from referee.errors import ExpectedError
from referee.process.build import BuildLimits
from referee.process.entry import load_stored
from referee.process.store import Built, store_folder
from referee.texts import one_line
from referee.tournament.executor import MatchLost
from referee.tournament.messages import BotSetup

MOST_MADE = 1000
"""The number of bots whose builds on this machine are known and held: those that were needed last."""

TAKE_S = 3 * (BuildLimits().fetch_s + BuildLimits().build_s)
"""Longer than a machine takes to build a bot and its packages, also if it first waits for another build of them."""

SENT_AT_ONCE = 2
"""Bots that are packed and sent to machines at the same time: each is in memory."""


@dataclass(frozen=True, slots=True)
class Made:
    """Builds of a bot that were made here: its `own`, and all, with that of its packages. `holds` keeps them."""

    own: Built | None = None
    builds: tuple[Built, ...] = ()
    holds: tuple[object, ...] = ()


class BotSender:
    """Sends bots over a connection. With `sends_builds` machines of this machine's platform get the builds that were
    made here. With `ladder`, a bot that cannot be packed is the trouble of its match alone. `hand_ins`: how machines
    build what strangers have handed in."""

    def __init__(
        self,
        connection: Connection,
        note: Callable[[str], None],
        *,
        sends_builds: bool,
        ladder: bool,
        hand_ins: HandIns | None,
    ) -> None:
        self._connection = connection
        self._note = note
        self._sends_builds = sends_builds
        self._ladder = ladder
        self._hand_ins = "" if hand_ins is None else hand_ins.to_json()
        self._made: dict[str, Made] = {}
        self._packing = asyncio.Semaphore(SENT_AT_ONCE)

    async def made_for(self, machine: Machine, bot: BotSetup) -> Made:
        """The builds of a bot on this machine with which the other machine is to play."""
        if not self._sends_builds or machine.facts.platform != own_platform():
            return Made()
        if bot.content not in self._made:
            async with self._packing:
                if bot.content not in self._made:  # it may have been found for another match
                    self._made[bot.content], why = await asyncio.to_thread(_find_builds, bot)
                    if why:
                        self._note(f"machines build '{bot.name}' themselves: {why}")
        made = self._made[bot.content] = self._made.pop(bot.content)  # the last one used is at the end
        if len(self._made) > MOST_MADE:
            del self._made[next(iter(self._made))]
        confined = bot.sandbox.profile == "strict" and machine.facts.sandbox == "strict"
        return Made() if confined and any(built.sandbox != "strict" for built in made.builds) else made

    async def bring(self, machine: Machine, bot: BotSetup, made: Made) -> tuple[str, str]:
        """Let the machine have a bot, once however many matches need it. What `tasks.take_bot` gives; MatchLost if the
        machine is lost."""
        task = machine.bringing.get(bot.content)
        if task is None:
            task = machine.bringing[bot.content] = asyncio.create_task(self._send(machine, bot, made))
            task.add_done_callback(_heard)
        try:
            return await asyncio.shield(task)
        finally:
            if task.done():
                machine.bringing.pop(bot.content, None)

    async def _send(self, machine: Machine, bot: BotSetup, made: Made) -> tuple[str, str]:
        key = f"crosstown-bot-{bot.content}-{secrets.token_hex(6)}"
        async with self._connection.attempt(machine, key) as attempt:
            async with self._packing:  # not while the machine builds, which may take long
                data = await self._transport(machine, bot, made)
            hand_ins = self._hand_ins if bot.handed_in else ""
            try:
                async with asyncio.timeout(TAKE_S):
                    told = await self._connection.run(
                        attempt, key, tasks.take_bot, bot.content, bot.sandbox.profile, data, hand_ins
                    )
            except TimeoutError:
                return "broken", f"no answer within {TAKE_S:g} s"
        match told:
            case [("" | "unable" | "broken") as kind, str() as why]:
                return kind, why
        return "broken", "its answer cannot be used"

    async def _transport(self, machine: Machine, bot: BotSetup, made: Made) -> Any:
        """Dask's future of the parcel of a bot, which is on the machine. MatchLost."""
        try:
            parcel = await asyncio.to_thread(_packed, bot, made)
        except (ExpectedError, OSError) as error:
            if not self._ladder:
                raise
            raise MatchLost(f"'{bot.name}' cannot be sent: {one_line(str(error))}") from None
        return await self._connection.scatter(machine, bot.content, parcel)


def _find_builds(bot: BotSetup) -> tuple[Made, str]:
    """The builds of a bot that can be sent, or why none can."""
    try:
        entry = load_stored(bot.content, Path(bot.folder), bot.name, bot.options)
        if not fits(entry.builds):
            most = f"{MOST_BUILD_BYTES >> 20} MiB, or {MOST_PACKED_BYTES >> 20} MiB packed"
            return Made(), f"its build has more than {most}"
    except (ExpectedError, OSError) as error:
        return Made(), one_line(str(error))
    return Made(entry.built, entry.builds, (*entry.holds, entry.environment)), ""


def _packed(bot: BotSetup, made: Made) -> bytes:
    """The parcel of a bot, from the store or else from the folder that it was read from."""
    entry = load_stored(bot.content, Path(bot.folder), bot.name, bot.options, elsewhere=True)
    builds = tuple((built, pack_build(built)) for built in made.builds)
    return Parcel(pack(store_folder(), entry.content), builds).to_bytes()


def _heard(task: "asyncio.Task[tuple[str, str]]") -> None:
    """The caller may have been cancelled; then no code asks for its error."""
    if not task.cancelled():
        task.exception()
