"""Plays matches with the bot on one seat and random play on the others, and validates the bot's replies.

Also finds a position for each kind of decision, so that even rare kinds are asked.
"""

import json
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from random import Random
from typing import Any

from crosstown_proto.v1 import referee_pb2 as pb

from referee.compliance.report import Failed
from referee.compliance.scripted_referee import ScriptedReferee
from referee.games.api import ActionSyntaxError, Game, State, action_sentence, resolve_options, text_board
from referee.games.keyed import KeyedChance
from referee.games.registry import get_game
from referee.schedule.spec import DEFAULTS
from referee.texts import plural
from referee.wire import encode
from referee.wire.encode import shown_index

MOST_MATCHES = 60
"""That are looked through for kinds whose place is not known, a second or two."""

MOST_LOOKED_THROUGH = 5000
"""When positions.toml is made."""


@dataclass(frozen=True, slots=True)
class Position:
    """The first node at which `seat` is asked the kind in question, in a random match `number`."""

    players: int
    number: int
    seat: int


class RandomPlay:
    """Plays all seats of a match: takes what it has taken least often, of equals one by chance.

    So it comes to rare decisions sooner than chance does. What it does depends on its arguments alone.
    """

    def __init__(self, game: Game, players: int, number: int) -> None:
        self.options = resolve_options(game.id, game.options, {})
        self.state: State = game.new_initial_state(players, self.options)
        self._rng = Random(f"{game.id}/{players}/{number}")
        self._chance = KeyedChance(f"compliance {number}".encode())
        self._taken: Counter[Any] = Counter()

    def draw(self) -> Sequence[Any]:
        """At a chance node: apply an outcome; the events."""
        state = self.state
        return state.apply_chance(self._chance.choose(state.chance_stream(), state.chance_outcomes()))

    def choose(self, legal: Sequence[Any]) -> Any:
        least = min(self._taken[action] for action in legal)
        action = self._rng.choice([action for action in legal if self._taken[action] == least])
        self._taken[action] += 1
        return action


def find_positions(game: Game, kinds: Collection[str]) -> dict[str, Position]:
    """A position for each of `kinds` that is known, or comes up in a random first matches."""
    known = {kind: position for kind, position in known_positions(game.id).items() if kind in kinds}
    return {**known, **look_for(game, set(kinds) - set(known), MOST_MATCHES)}


def look_for(game: Game, kinds: Collection[str], most_matches: int) -> dict[str, Position]:
    """The first position for each of `kinds`, as far as they come up."""
    found: dict[str, Position] = {}
    missing = set(kinds)
    counts = game.player_counts
    for match in range(most_matches):
        if not missing:
            break
        players, number = counts[match % len(counts)], match // len(counts)
        for kind, seat in _asked(game, players, number):
            if kind in missing:
                found[kind] = Position(players, number, seat)
                missing.discard(kind)
    return found


def _asked(game: Game, players: int, number: int) -> list[tuple[str, int]]:
    """Every kind that is asked in a match, with the seat it is asked of first."""
    random_play = RandomPlay(game, players, number)
    asked: dict[str, int] = {}
    while not random_play.state.is_terminal():
        decisions = random_play.state.decisions()
        if not decisions:
            random_play.draw()
            continue
        for decision in decisions:
            asked.setdefault(decision.kind, decision.seat)
        random_play.state.apply(
            {
                decision.seat: random_play.choose(random_play.state.legal_actions(decision.seat))
                for decision in decisions
            }
        )
    return list(asked.items())


@cache
def known_positions(game_id: str) -> dict[str, Position]:
    """Those in positions.toml: of kinds that would take long to come to."""
    table = tomllib.loads(files(__package__).joinpath("positions.toml").read_text(encoding="utf-8"))
    return {kind: Position(**place) for kind, place in table.get(game_id, {}).items()}


def main(words: Sequence[str]) -> None:
    """Prints the lines of positions.toml for the games named."""
    for game_id in words:
        game = get_game(game_id)
        common = set(look_for(game, game.decision_kinds, MOST_MATCHES // 2))
        print(f"[{game_id}]")
        for kind, place in sorted(look_for(game, set(game.decision_kinds) - common, MOST_LOOKED_THROUGH).items()):
            print(f"{kind} = {{ players = {place.players}, number = {place.number}, seat = {place.seat} }}")


if __name__ == "__main__":
    main(sys.argv[1:])


CLOCK_S = (DEFAULTS.first_move_s, DEFAULTS.move_s)
"""First move and move, as in a tournament that says nothing."""

EXAMPLES = 3
"""Legal actions that are shown to who chose none of them."""

PATIENCE = 3.0
"""Times the limit are waited for, so that a slow answer is distinguished from none."""


@dataclass(slots=True)
class Tally:
    """What was asked and how long the answers took, over several matches."""

    kinds: dict[str, int] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    late: int = 0
    answers: list[bytes] = field(default_factory=list)

    def summary(self) -> str:
        kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(self.kinds.items()))
        ordered = sorted(self.seconds)
        if not ordered:
            return "it was asked nothing"
        middle, worst = ordered[len(ordered) // 2], ordered[-1]
        asked = plural(len(ordered), "decision")
        return f"{asked} ({kinds}); answers: median {middle * 1e3:.1f} ms, worst {worst * 1e3:.1f} ms"


class CheckedMatch:
    """One match of the bot on `seat`. Not started until `start`; a step at a time, so that matches can interleave."""

    def __init__(
        self,
        referee: ScriptedReferee,
        game: Game,
        players: int,
        seat: int,
        number: int,
        tally: Tally,
        *,
        padding: int = 0,
        padded: int | None = None,
        purpose: str = "",
    ) -> None:
        """`number` seeds everything; `purpose` tells the ids of two such matches apart, as an id stands for one match;
        `padding` bytes of an unknown field go with the first `padded` questions (all)."""
        self._referee = referee
        self._game = game
        self._seat = seat
        self._tally = tally
        self._padding = padding
        self._padded = padded
        self._random_play = RandomPlay(game, players, number)
        self._unseen: list[Any] = []
        self._decision = 0
        self._asked = False
        self._last_us = 0
        self._bot_seed = number
        self.players = players
        self.id = f"check-{game.id}-{players}-{seat}-{number}{purpose and '-'}{purpose}"
        self.state: State = self._random_play.state

    async def start(self, *, owing: str = "") -> None:
        """MatchStart, and the bot's Ready; a match `owing` may still get an answer before, which is dropped."""
        await self._referee.send(
            encode.match_start(
                match=self.id,
                game=self._game.id,
                rules_version=self._game.rules_version,
                seat=self._seat,
                players=self.players,
                options=json.dumps(self._random_play.options, sort_keys=True),
                teams=self._game.teams(self.players, self._random_play.options),
                clock=pb.Clock(first_move_us=int(CLOCK_S[0] * 1e6), move_us=int(CLOCK_S[1] * 1e6)),
                bot_seed=self._bot_seed,
            )
        )
        message = await self._referee.hear(DEFAULTS.ready_s, f"Ready for match {self.id}")
        while owing and message.WhichOneof("body") == "move" and message.move.match == owing:
            message = await self._referee.hear(DEFAULTS.ready_s, f"Ready for match {self.id}")
        if message.WhichOneof("body") != "ready":
            raise Failed(f"expected Ready for match {self.id}, got {message.WhichOneof('body') or 'an empty message'}")
        if message.ready.match != self.id:
            raise Failed(f"Ready names match {message.ready.match[:200]!r}; expected {self.id!r}")

    async def play(self) -> None:
        """From the present node to the end, and MatchEnd."""
        while not await self.step():
            pass
        await self.end()

    async def step(self) -> bool:
        """Go on until the bot has answered once; True if the match is over."""
        state = self.state
        while not state.is_terminal():
            decisions = state.decisions()
            if not decisions:
                self._note(self._random_play.draw())
                continue
            answers = {}
            asked = False
            for decision in decisions:
                legal = state.legal_actions(decision.seat)
                if decision.seat == self._seat:
                    answers[decision.seat] = await self._ask(decision.kind, legal)
                    asked = True
                else:
                    answers[decision.seat] = self._random_play.choose(legal)
            self._note(state.apply(answers))
            if asked:
                return state.is_terminal()
        return True

    async def ask_first(self, kind: str) -> None:
        """Go on to the first time that the bot's seat is asked this, with random play in the bot's place, and ask."""
        state, random_play = self.state, self._random_play
        while not state.is_terminal():
            decisions = state.decisions()
            if not decisions:
                self._note(random_play.draw())
                continue
            if any(decision.seat == self._seat and decision.kind == kind for decision in decisions):
                await self._ask(kind, state.legal_actions(self._seat))
                return
            self._note(
                state.apply({each.seat: random_play.choose(state.legal_actions(each.seat)) for each in decisions})
            )
        raise ValueError(f"match {self.id} never asks seat {self._seat} '{kind}'")

    async def ask_only(self) -> int:
        """Go on to the bot's next question and send it, without waiting; its number. Failed if there is none."""
        state = self.state
        while not state.is_terminal():
            decisions = {decision.seat: decision for decision in state.decisions()}
            if self._seat in decisions:
                legal = state.legal_actions(self._seat)
                await self._referee.send(self._question(decisions[self._seat].kind, legal))
                return self._decision
            if not decisions:
                self._note(self._random_play.draw())
            else:
                choose = self._random_play.choose
                self._note(state.apply({seat: choose(state.legal_actions(seat)) for seat in decisions}))
        raise Failed(f"{self._game.id} never asks seat {self._seat}")

    async def end(self, *, reason: str = "normal") -> None:
        counts = reason == "normal"
        await self._referee.send(
            encode.match_end(
                match=self.id,
                events=self._take_events(),
                ranking=self.state.ranking() if counts else (),
                returns=self.state.returns() if counts else (),
                reason=reason,
                fault_seat=None,
                explanation="" if counts else "the match was cancelled, which is no bot's fault",
            )
        )

    async def cancel(self, decision: int) -> None:
        await self._referee.send(encode.cancel(self.id, decision))

    async def _ask(self, kind: str, legal: Any) -> Any:
        limit_s = CLOCK_S[1] if self._asked else CLOCK_S[0]
        message = self._question(kind, legal)
        self._asked = True
        began_s = time.monotonic()
        await self._referee.send(message)
        where = f"decision {self._decision} ({kind}) of match {self.id}"
        answer = await self._referee.hear(PATIENCE * limit_s, f"Move for {where}")
        took_s = time.monotonic() - began_s
        action = self._judge(answer, legal, where)
        tally = self._tally
        tally.kinds[kind] = tally.kinds.get(kind, 0) + 1
        tally.seconds.append(took_s)
        tally.answers.append(self._game.format_action(action).encode())
        tally.late += took_s > limit_s
        self._last_us = int(took_s * 1e6)
        return action

    def _question(self, kind: str, legal: Any) -> bytes:
        self._decision += 1
        wants = self._referee.hello
        observation = self.state.observation(self._seat)
        game, codec = self._game, self._game.codec
        text = None
        if wants.wants_text:
            sentences = [action_sentence(game, action, observation) for action in legal]
            text = pb.Text(board=text_board(game, observation), actions=sentences)
        clock = pb.Clock(first_move_us=int(CLOCK_S[0] * 1e6), move_us=int(CLOCK_S[1] * 1e6))
        clock.left_us = clock.move_us if self._asked else clock.first_move_us
        message = encode.decide(
            match=self.id,
            decision=self._decision,
            kind=kind,
            legal_count=len(legal),
            observation=b"" if wants.omit_observation else codec.encode_observation(observation),
            legal_actions=b"" if wants.omit_legal_actions else codec.encode_actions(legal),
            events=self._take_events(),
            clock=clock,
            last_latency_us=self._last_us,
            text=text,
        )
        if self._padding and (self._padded is None or self._decision <= self._padded):
            # Beside the body of the envelope, where a reader meets it however it decodes the question.
            return message + unknown_field(self._padding)
        return message

    def _judge(self, answer: pb.BotMessage, legal: Any, where: str) -> Any:
        body = answer.WhichOneof("body")
        if body == "resign":
            raise Failed(f"it resigned at {where}, against random play")
        if body != "move":
            raise Failed(f"expected a Move for {where}, got {body or 'an empty message'}")
        move = answer.move
        if move.match != self.id:
            raise Failed(f"Move.match is {move.match[:200]!r} in the answer to {where}; copy it from Decide")
        if move.decision != self._decision:
            raise Failed(f"Move.decision is {move.decision} in the answer to {where}; copy it from Decide")
        if answer.ByteSize() > DEFAULTS.max_message_bytes:
            raise Failed(f"the answer to {where} has {answer.ByteSize()} bytes; at most {DEFAULTS.max_message_bytes}")
        choice = move.WhichOneof("choice")
        if choice == "index":
            if move.index >= len(legal):
                raise Failed(
                    f"index {shown_index(move.index)} in the answer to {where}; expected 0 to {len(legal) - 1}"
                )
            return legal[move.index]
        if choice == "provider_error":
            raise Failed(f"it got no answer from its provider for {where}: {move.provider_error[:200]}")
        if choice is None:
            raise Failed(f"the Move for {where} has neither an index nor an action")
        try:
            action = self._game.codec.decode_action(move.action)
        except ActionSyntaxError as error:
            raise Failed(
                f"the action in the answer to {where} is not an Action message of {self._game.id}: {error}"
            ) from None
        if action not in legal:
            text = self._game.format_action(action)
            some = ", ".join(map(self._game.format_action, legal[:EXAMPLES]))
            raise Failed(
                f"{text} in the answer to {where} is not one of the {len(legal)} legal actions; expected one of {some}"
                + (", ..." if len(legal) > EXAMPLES else "")
            )
        return action

    def _note(self, events: Any) -> None:
        self._unseen.extend(event.seen_by(self._seat) for event in events)

    def _take_events(self) -> bytes:
        unseen, self._unseen = self._unseen, []
        return self._game.codec.encode_events(unseen) if unseen else b""


def unknown_field(size: int) -> bytes:
    """`size` bytes (and a few) of field 1000, which no message has: a message with it added must read as without."""
    tag = (1000 << 3) | 2
    return _varint(tag) + _varint(size) + bytes(size)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
