"""The drills of `crosstown bots check`: each starts a process of the bot and checks one thing."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from crosstown_proto.v1 import referee_pb2 as pb

from referee.compliance.matches import CLOCK_S, CheckedMatch, Tally, find_positions, unknown_field
from referee.compliance.report import Failed, Outcome, Report, Row, Silent
from referee.compliance.scripted_referee import ScriptedReferee
from referee.games.api import Game
from referee.process.entry import Entry
from referee.process.launch import LaunchContext
from referee.process.manifest import ANY_GAME
from referee.process.output import Output
from referee.schedule.spec import DEFAULTS
from referee.texts import plural
from referee.wire import encode

EXIT_LIMIT_S = 5.0
LATE_SOCKET_S = 1.0
UNASKED_S = 0.1
"""What a line too many gets to arrive before the next question."""

UNASKED_MOVES = 3
HUGE_BYTES = 3 << 20
"""Below the 4 MiB that gRPC libraries take by default; no shipped game comes near."""


@dataclass(frozen=True, slots=True)
class DrillResult:
    """What a drill that did not fail has to say."""

    detail: str
    outcome: Outcome = "passed"


class BotUnderCheck:
    """One bot on its way through the drills."""

    def __init__(self, entry: Entry, startup_s: float, context: LaunchContext) -> None:
        self.entry = entry
        self.startup_s = startup_s
        self.context = context
        self.output = Output()
        """Of the process before."""

    @asynccontextmanager
    async def start(self, *, listen_after_s: float = 0.0) -> AsyncIterator[ScriptedReferee]:
        made = ScriptedReferee(
            self.entry, startup_s=self.startup_s, listen_after_s=listen_after_s, context=self.context
        )
        try:
            async with made as referee:
                yield referee
        finally:
            self.output = made.output()


async def check_bot(
    entry: Entry,
    games: Sequence[Game],
    *,
    context: LaunchContext,
    startup_s: float = DEFAULTS.startup_s,
    fail_fast: bool = False,
    on_row: Callable[[Row], None] = lambda row: None,
    drills: Collection[str] | None = None,
) -> Report:
    """Every drill with every game on this `context`; never raises for what the bot does. `on_row` gets each row;
    `drills` are the names of those that are wanted, None for all.

    A bot that does not get through the handshake is not asked more; with `fail_fast`, neither one that fails later. One
    that does not answer in a game is not asked more in that game: each question to it would last as long.
    """
    bot = BotUnderCheck(entry, startup_s, context)
    rows: list[Row] = []
    output = Output()
    silent_in: set[str] = set()

    async def run(name: str, game: str, drill: Callable[[], Awaitable[DrillResult]]) -> None:
        nonlocal output
        failed_before = any(row.outcome == "failed" for row in rows)
        if game in silent_in or (failed_before and (fail_fast or rows[0].outcome == "failed")):
            return
        began_s = time.monotonic()
        try:
            found = await drill()
        except Silent as silent:
            found = DrillResult(str(silent), "failed")
            if game:
                silent_in.add(game)
                found = DrillResult(f"{silent}; the drills with {game} that remain were left out", "failed")
        except Failed as failed:
            found = DrillResult(str(failed), "failed")
        if not failed_before:
            output = bot.output
        row = Row(name, game, found.outcome, found.detail, round(time.monotonic() - began_s, 3))
        rows.append(row)
        on_row(row)

    for name, drill in DRILLS.items():
        if drills is None or name in drills:
            await run(name, "", partial(drill, bot))
    for game in games:
        for name, game_drill in GAME_DRILLS.items():
            if drills is not None and name not in drills:
                continue
            await run(name, game.id, partial(game_drill, bot, game))
    return Report(entry.name, tuple(rows), output.stdout_text(), output.stderr_text())


async def handshake(bot: BotUnderCheck) -> DrillResult:
    """Hello in time, with the token and the protocol."""
    async with bot.start() as referee:
        hello = referee.hello
        named = set(hello.games) or {ANY_GAME}
        said = set(bot.entry.manifest.games)
        detail = f"Hello after {referee.hello_s:.2f} s, of {bot.startup_s:g} s"
        if ANY_GAME not in named and (ANY_GAME in said or not said <= named):
            return DrillResult(f"{detail}; but Hello.games is {sorted(named)}, and bot.toml has {sorted(said)}", "note")
        return DrillResult(detail)


async def bye(bot: BotUnderCheck) -> DrillResult:
    """Exit code 0 soon after Bye."""
    async with bot.start() as referee:
        return await _leave(referee)


async def referee_gone(bot: BotUnderCheck) -> DrillResult:
    """A bot whose referee is gone must exit, because nothing else might end it."""
    async with bot.start() as referee:
        began_s = time.monotonic()
        await referee.leave()
        if await referee.exit_within(EXIT_LIMIT_S) is None:
            raise Failed(f"it still runs {EXIT_LIMIT_S:g} s after the referee has gone; exit when the stream ends")
        return DrillResult(f"it ended after {time.monotonic() - began_s:.2f} s")


async def late_socket(bot: BotUnderCheck) -> DrillResult:
    """The referee may listen a little later than the bot starts: connecting waits."""
    async with bot.start(listen_after_s=LATE_SOCKET_S):
        return DrillResult(f"it waited {LATE_SOCKET_S:g} s for the referee's socket")


async def matches(bot: BotUnderCheck, game: Game) -> DrillResult:
    """Whole matches with every number of players, on the first and the last seat, one after another on one stream."""
    tally = Tally()
    async with bot.start() as referee:
        for players in game.player_counts:
            for seat in (0, players - 1):
                match = CheckedMatch(referee, game, players, seat, players * 10 + seat, tally)
                await match.start()
                await match.play()
        await _leave(referee)
    detail = f"{2 * len(game.player_counts)} matches, {tally.summary()}"
    if tally.late:
        first_s, move_s = CLOCK_S
        return DrillResult(f"{detail}; {tally.late} answers came after {first_s:g} s (first) or {move_s:g} s", "note")
    return DrillResult(detail)


async def every_kind(bot: BotUnderCheck, game: Game) -> DrillResult:
    """Each kind of decision that the game can ask, in a match that comes to it: the rare ones, too."""
    positions = find_positions(game, game.decision_kinds)
    tally = Tally()
    async with bot.start() as referee:
        for kind, place in positions.items():
            match = CheckedMatch(referee, game, place.players, place.seat, place.number, tally, purpose=kind)
            await match.start()
            await match.ask_first(kind)
            await match.end(reason="cancelled")
    missing = [kind for kind in game.decision_kinds if kind not in positions]
    detail = f"{len(positions)} of {len(game.decision_kinds)} kinds asked: {', '.join(sorted(positions))}"
    if missing:
        return DrillResult(f"{detail}; no match was found that asks {', '.join(missing)}", "note")
    return DrillResult(detail)


async def repeated(bot: BotUnderCheck, game: Game) -> DrillResult:
    """The same match in two processes: does the bot draw its luck from bot_seed alone? Worth knowing, no duty."""
    answers = []
    for _ in range(2):
        tally = Tally()
        async with bot.start() as referee:
            match = CheckedMatch(referee, game, game.player_counts[0], 0, 1, tally)
            await match.start()
            await match.play()
        answers.append(tally.answers)
    if answers[0] == answers[1]:
        return DrillResult(f"the same {len(answers[0])} answers in two processes on one bot_seed")
    same = next(
        n for n, pair in enumerate(zip(answers[0] + [b""], answers[1] + [b""], strict=False)) if len(set(pair)) > 1
    )
    return DrillResult(f"answers differ from the {same + 1}. on: its matches cannot be played again exactly", "note")


async def cancelled(bot: BotUnderCheck, game: Game) -> DrillResult:
    """A match that is cancelled while the bot thinks: a late answer is dropped, and the next match is as any other."""
    tally = Tally()
    async with bot.start() as referee:
        match = CheckedMatch(referee, game, game.player_counts[0], 0, 2, tally)
        await match.start()
        await match.cancel(await match.ask_only())
        await match.end(reason="cancelled")
        after = CheckedMatch(referee, game, game.player_counts[0], 0, 3, tally)
        await after.start(owing=match.id)
        await after.play()
    return DrillResult(f"the match after it was played, {plural(len(tally.seconds), 'decision')}")


async def nothing_unasked(bot: BotUnderCheck, game: Game) -> DrillResult:
    """One answer to each question, and none to anything else. The line too many of a program behind the bridge gets
    time to arrive: there it would be taken for the answer to the next question."""
    tally = Tally()
    async with bot.start() as referee:
        for number in (10, 11):
            match = CheckedMatch(referee, game, game.player_counts[0], 0, number, tally, purpose="unasked")
            await match.start()
            await referee.hear_nothing(UNASKED_S, "after its Ready")
            for _ in range(UNASKED_MOVES):
                over = await match.step()
                await referee.hear_nothing(UNASKED_S, "after its answer")
                if over:
                    break
            await match.end(reason="cancelled")
            await referee.hear_nothing(UNASKED_S, "after MatchEnd")
    return DrillResult(f"{len(tally.seconds)} questions, and as many answers")


async def huge(bot: BotUnderCheck, game: Game) -> DrillResult:
    """Questions of some megabytes."""
    tally = Tally()
    async with bot.start() as referee:
        match = CheckedMatch(referee, game, game.player_counts[0], 0, 4, tally, padding=HUGE_BYTES, padded=2)
        await match.start()
        await match.play()
    return DrillResult(f"two questions of {HUGE_BYTES >> 20} MiB answered")


async def unknown(bot: BotUnderCheck, game: Game) -> DrillResult:
    """Fields and messages of a later protocol are ignored."""
    tally = Tally()
    async with bot.start() as referee:
        await referee.send(unknown_field(16))
        match = CheckedMatch(referee, game, game.player_counts[0], 0, 5, tally, padding=16)
        await match.start()
        await referee.send(pb.RefereeMessage().SerializeToString())
        await match.play()
    return DrillResult("unknown fields and an empty message were passed over")


async def side_by_side(bot: BotUnderCheck, game: Game) -> DrillResult:
    """If Hello says so: several matches at once on one stream."""
    tally = Tally()
    async with bot.start() as referee:
        most = referee.hello.max_parallel_matches
        if most < 2:
            return DrillResult("it plays one match at a time, and says so")
        matches_at_once = [
            CheckedMatch(referee, game, game.player_counts[0], 0, 6 + number, tally) for number in range(min(most, 3))
        ]
        for match in matches_at_once:
            await match.start()
        playing = list(matches_at_once)
        while playing:
            playing = [match for match in playing if not await match.step()]
        for match in matches_at_once:
            await match.end()
    return DrillResult(f"{len(matches_at_once)} matches at once, {plural(len(tally.seconds), 'decision')}")


async def _leave(referee: ScriptedReferee) -> DrillResult:
    began_s = time.monotonic()
    await referee.send(encode.bye())
    ended = await referee.exit_within(EXIT_LIMIT_S)
    if ended is None:
        raise Failed(f"it still runs {EXIT_LIMIT_S:g} s after Bye; close the stream and exit")
    if ended.code != 0:
        raise Failed(f"it ended with {ended} after Bye; expected exit code 0")
    return DrillResult(f"exit code 0, {time.monotonic() - began_s:.2f} s after Bye")


DRILLS: dict[str, Callable[[BotUnderCheck], Awaitable[DrillResult]]] = {
    "handshake": handshake,
    "bye": bye,
    "late socket": late_socket,
    "referee gone": referee_gone,
}

GAME_DRILLS: dict[str, Callable[[BotUnderCheck, Game], Awaitable[DrillResult]]] = {
    "matches": matches,
    "every decision": every_kind,
    "nothing unasked": nothing_unasked,
    "cancelled match": cancelled,
    "huge questions": huge,
    "unknown fields": unknown,
    "matches at once": side_by_side,
    "same answers": repeated,
}
