"""A chess engine that speaks UCI as a bot of the game `openspiel/chess`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crosstown_bot import Bot, Match, Turn

from crosstown_bridge.child import say
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

GAME = "openspiel/chess"
WHITE = 1
"""OpenSpiel's player with the white pieces."""
_LIMITS = ("nodes", "depth", "overhead_ms")
_SCORES = ("cp", "mate")
_COUNTS = ("depth", "nodes", "time")


class UciBot(Bot):
    """Passes positions on, and moves back. It never lets the engine think in the opponent's time."""

    name = "uci"
    games = (GAME,)
    wants_observation = False
    prints_stacks = False

    def __init__(self, options: Mapping[str, Any], child: Child) -> None:
        super().__init__(options)
        self._engine = Engine(child)
        self._child = child
        self._started = False
        self._position = ""
        self._moves: list[str] = []

    async def start(self, match: Match) -> None:
        """`uci` and the options once, `ucinewgame` before each match."""
        try:
            check_limits(self.options, _LIMITS)
            if match.options.get("chess960"):
                raise EngineFault("the bridge plays usual chess only; leave the option chess960 out")
            self._child.listen()
            until = patience_to_start(match)
            if not self._started:
                await self._handshake(until)
                self._started = True
            self._engine.tell("ucinewgame")
            await self._is_ready(until)
        except EngineFault as fault:
            raise SystemExit(f"bridge: match {match.id}: {fault}") from None
        start = match.options.get("start", "")
        self._position = f"fen {start}" if start else "startpos"
        self._moves = []

    async def _handshake(self, until: Patience) -> None:
        known: dict[str, str] = {}
        self._engine.tell("uci")
        while (line := await self._engine.line(until, "uciok")).strip() != "uciok":
            if line.startswith("option name "):
                name = line.removeprefix("option name ").partition(" type ")[0].strip()
                known[name.lower()] = name
        if "ponder" in known:
            self._engine.tell(f"setoption name {known['ponder']} value false")
        for name, value in engine_options(self.options).items():
            if name.lower() not in known:
                say(f"the engine names no option {name!r}; it has: {', '.join(sorted(known.values())) or 'none'}")
            self._engine.tell(f"setoption name {known.get(name.lower(), name)} value {written(value)}")
        await self._is_ready(until)

    async def _is_ready(self, until: Patience) -> None:
        self._engine.tell("isready")
        while (await self._engine.line(until, "readyok")).strip() != "readyok":
            continue

    async def choose(self, turn: Turn) -> int:
        """The index of the move that the engine gives. Ends the process, with the reason, if none comes."""
        try:
            return await self._choose(turn)
        except EngineFault as fault:
            raise SystemExit(f"bridge: decision {turn.number} of match {turn.match.id}: {fault}") from None

    async def _choose(self, turn: Turn) -> int:
        self._moves += [event.acted.text for event in turn.events if event.WhichOneof("body") == "acted"]
        legal = list(turn.legal_actions.texts)
        moves = f" moves {' '.join(self._moves)}" if self._moves else ""
        self._engine.drop_old_lines()
        self._engine.tell(f"position {self._position}{moves}")
        self._engine.tell(f"go {search_limits(turn, self.options)}")
        until = Patience(turn.left_s)
        info = ""
        while True:
            line = await self._engine.line(until, "bestmove")
            word, _, rest = line.strip().partition(" ")
            if word == "info" and " score " in line:
                info = line
            elif word == "bestmove":
                break
        turn.note = note_of(info)
        move = rest.split(" ")[0]
        return legal.index(move) if move in legal else illegal(turn, move, legal)


def search_limits(turn: Turn, options: Mapping[str, Any]) -> str:
    """The words after `go`: fixed nodes or depth where the bot's options say so, else the referee's clock.

    The referee tells a bot its own time only, so the opponent is given the same.
    """
    fixed = [f"{name} {value}" for name in ("nodes", "depth") if (value := limit(options, name))]
    if fixed:
        return " ".join(fixed)
    overhead_ms = limit(options, "overhead_ms", OVERHEAD_MS)
    match = turn.match
    if match.total_s and not match.move_limit_s:
        # A first move may have a limit of its own.
        left_ms = max(1, int(min(turn.left_s, turn.total_left_s) * 1000) - overhead_ms)
        increment_ms = int(match.increment_s * 1000)
        return f"wtime {left_ms} btime {left_ms} winc {increment_ms} binc {increment_ms}"
    usual_s = match.move_limit_s or turn.left_s
    return f"movetime {max(1, int(min(turn.left_s, usual_s) * 1000) - overhead_ms)}"


def note_of(info: str) -> str:
    """What an `info` line says, as `cp 35 depth 18 nodes 20011 time 12`; the score is from the engine's side."""
    words = info.split()
    parts = []
    for name in (*_SCORES, *_COUNTS):
        if name in words[:-1]:
            value = words[words.index(name) + 1]
            if value.lstrip("-").isdigit():
                parts.append(f"{name} {value}")
    return " ".join(parts)
