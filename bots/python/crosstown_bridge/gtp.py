"""A Go engine that speaks GTP as a bot of the game `openspiel/go`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosstown_bot import RESIGN, Bot, Match, Turn

from crosstown_bridge.engines import (
    OVERHEAD_MS,
    Engine,
    EngineFault,
    Patience,
    check_limits,
    engine_options,
    illegal,
    limit,
    patience_to_start,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crosstown_bridge.child import Child

GAME = "openspiel/go"
COLOURS = ("B", "W")
"""Of the seats."""
_LIMITS = ("overhead_ms",)


class GtpBot(Bot):
    """Passes moves on, and the engine's back."""

    name = "gtp"
    games = (GAME,)
    wants_observation = False
    prints_stacks = False

    def __init__(self, options: Mapping[str, Any], child: Child) -> None:
        super().__init__(options)
        self._engine = Engine(child)
        self._child = child
        self._own = ""
        self._knows_time = False

    async def start(self, match: Match) -> None:
        """An empty board of the match's size, its komi, and the engine's options: GTP commands by name."""
        try:
            check_limits(self.options, _LIMITS)
            if match.options.get("handicap"):
                raise EngineFault("the bridge plays even games only; leave the option handicap out")
            self._child.listen()
            self._engine.drop_old_lines()
            self._own = COLOURS[match.seat]
            until = patience_to_start(match)
            for command, value in engine_options(self.options).items():
                await self._ask(f"{command} {written(value)}".strip(), until)
            await self._ask(f"boardsize {match.options['board_size']}", until)
            await self._ask("clear_board", until)
            await self._ask(f"komi {match.options['komi']}", until)
            self._knows_time = await self._ask("known_command time_settings", until) == "true"
            if self._knows_time:
                await self._ask(time_settings(match, self.options), until)
        except EngineFault as fault:
            raise SystemExit(f"bridge: match {match.id}: {fault}") from None

    async def choose(self, turn: Turn) -> Any:
        """The index of the engine's move. Ends the process, with the reason, if none comes."""
        try:
            return await self._choose(turn)
        except EngineFault as fault:
            raise SystemExit(f"bridge: decision {turn.number} of match {turn.match.id}: {fault}") from None

    async def _choose(self, turn: Turn) -> Any:
        until = Patience(turn.left_s)
        for event in turn.events:
            if event.WhichOneof("body") == "acted" and COLOURS[event.acted.seat] != self._own:
                colour, vertex = event.acted.text.split(" ")
                await self._ask(f"play {colour} {vertex}", until)
        if self._knows_time and (turn.match.total_s or turn.left_s < turn.match.move_limit_s):
            stones = 0 if turn.match.total_s else 1  # a first move may have less time than the others
            await self._ask(f"time_left {self._own} {time_left(turn, self.options)} {stones}", until)
        answer = await self._ask(f"genmove {self._own}", until)
        legal = [text.split(" ")[-1].lower() for text in turn.legal_actions.texts]
        vertex = answer.strip().lower()
        if vertex == "resign":
            return RESIGN
        return legal.index(vertex) if vertex in legal else illegal(turn, answer, legal)

    async def _ask(self, command: str, until: Patience) -> str:
        """The answer to a command, without its `=`. EngineFault for a refusal."""
        self._engine.tell(command)
        lines: list[str] = []
        while True:
            line = await self._engine.line(until, f"an answer to {command!r}")
            if line.strip():
                lines.append(line.strip())
            elif lines:
                break
        if not lines[0].startswith("="):
            raise EngineFault(f"the engine answered {lines[0]!r} to {command!r}")
        return " ".join([lines[0][1:].strip(), *lines[1:]]).strip()


def time_settings(match: Match, options: Mapping[str, Any]) -> str:
    """A time for the match, or one for each move as Canadian overtime of one stone; whole seconds, at least one."""
    overhead_s = _overhead_s(options)
    if match.total_s and not match.move_limit_s:
        return f"time_settings {max(1, int(match.total_s - overhead_s))} 0 0"
    return f"time_settings 0 {max(1, int(match.move_limit_s - overhead_s))} 1"


def time_left(turn: Turn, options: Mapping[str, Any]) -> int:
    """Whole seconds for this move and all that follow; for this one alone where it has a limit of its own."""
    left_s = min(turn.left_s, turn.total_left_s) if turn.match.total_s else turn.left_s
    return max(0, int(left_s - _overhead_s(options)))


def _overhead_s(options: Mapping[str, Any]) -> float:
    return limit(options, "overhead_ms", OVERHEAD_MS) / 1000
