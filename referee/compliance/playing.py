"""Plays matches with the bot on one seat and the wanderer on the others, and hears whether its answers are answers."""

import json
import time
from dataclasses import dataclass, field
from typing import Any

from crosstown_proto.v1 import referee_pb2 as pb

from referee.compliance.positions import Wanderer
from referee.compliance.report import Failed
from referee.compliance.stage import MAX_MESSAGE_BYTES, READY_LIMIT_S, Stage
from referee.games.api import ActionSyntaxError, Game, State
from referee.wire import encode
from referee.wire.encode import shown_index

CLOCK_S = (5.0, 1.0)
"""First move and move, as in a tournament that says nothing."""

EXAMPLES = 3
"""Legal actions that are shown to who chose none of them."""

PATIENCE = 3.0
"""Times the limit are waited for, so that a slow answer is told from none."""


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
        return f"{len(ordered)} decisions ({kinds}); answers: median {middle * 1e3:.1f} ms, worst {worst * 1e3:.1f} ms"


class Sitting:
    """One match of the bot on `seat`. Not started until `start`; a step at a time, so that matches can interleave."""

    def __init__(
        self,
        stage: Stage,
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
        self._stage = stage
        self._game = game
        self._seat = seat
        self._tally = tally
        self._padding = padding
        self._padded = padded
        self._wanderer = Wanderer(game, players, number)
        self._unseen: list[Any] = []
        self._decision = 0
        self._asked = False
        self._last_us = 0
        self._bot_seed = number
        self.players = players
        self.id = f"check-{game.id}-{players}-{seat}-{number}{purpose and '-'}{purpose}"
        self.state: State = self._wanderer.state

    async def start(self, *, owing: str = "") -> None:
        """MatchStart, and the bot's Ready; a match `owing` may still get an answer before, which is dropped."""
        await self._stage.send(
            encode.match_start(
                match=self.id,
                game=self._game.id,
                rules_version=self._game.rules_version,
                seat=self._seat,
                players=self.players,
                options_json=json.dumps(self._wanderer.options, sort_keys=True),
                teams=self._game.teams(self.players, self._wanderer.options),
                clock=pb.Clock(first_move_us=int(CLOCK_S[0] * 1e6), move_us=int(CLOCK_S[1] * 1e6)),
                bot_seed=self._bot_seed,
            )
        )
        message = await self._stage.hear(READY_LIMIT_S, f"Ready for match {self.id}")
        while owing and message.WhichOneof("body") == "move" and message.move.match == owing:
            message = await self._stage.hear(READY_LIMIT_S, f"Ready for match {self.id}")
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
                self._note(self._wanderer.draw())
                continue
            answers = {}
            asked = False
            for decision in decisions:
                legal = state.legal_actions(decision.seat)
                if decision.seat == self._seat:
                    answers[decision.seat] = await self._ask(decision.kind, legal)
                    asked = True
                else:
                    answers[decision.seat] = self._wanderer.choose(legal)
            self._note(state.apply(answers))
            if asked:
                return state.is_terminal()
        return True

    async def ask_first(self, kind: str) -> None:
        """Go on to the first time that the bot's seat is asked this, with the wanderer in the bot's place, and ask."""
        state, wanderer = self.state, self._wanderer
        while not state.is_terminal():
            decisions = state.decisions()
            if not decisions:
                self._note(wanderer.draw())
                continue
            if any(decision.seat == self._seat and decision.kind == kind for decision in decisions):
                await self._ask(kind, state.legal_actions(self._seat))
                return
            self._note(state.apply({each.seat: wanderer.choose(state.legal_actions(each.seat)) for each in decisions}))
        raise ValueError(f"match {self.id} never asks seat {self._seat} '{kind}'")

    async def ask_only(self) -> int:
        """Go on to the bot's next question and send it, without waiting; its number. Failed if there is none."""
        state = self.state
        while not state.is_terminal():
            decisions = {decision.seat: decision for decision in state.decisions()}
            if self._seat in decisions:
                legal = state.legal_actions(self._seat)
                await self._stage.send(self._question(decisions[self._seat].kind, legal))
                return self._decision
            if not decisions:
                self._note(self._wanderer.draw())
            else:
                choose = self._wanderer.choose
                self._note(state.apply({seat: choose(state.legal_actions(seat)) for seat in decisions}))
        raise Failed(f"{self._game.id} never asks seat {self._seat}")

    async def end(self, *, reason: str = "normal") -> None:
        counts = reason == "normal"
        await self._stage.send(
            encode.match_end(
                match=self.id,
                events=self._take_events(),
                ranking=self.state.ranking() if counts else (),
                returns=self.state.returns() if counts else (),
                reason=reason,
                fault_seat=None,
                explanation="" if counts else "the match was cancelled; nobody's fault",
            )
        )

    async def cancel(self, decision: int) -> None:
        await self._stage.send(encode.cancel(self.id, decision))

    async def _ask(self, kind: str, legal: Any) -> Any:
        limit_s = CLOCK_S[1] if self._asked else CLOCK_S[0]
        message = self._question(kind, legal)
        self._asked = True
        began_s = time.monotonic()
        await self._stage.send(message)
        where = f"decision {self._decision} ({kind}) of match {self.id}"
        answer = await self._stage.hear(PATIENCE * limit_s, f"Move for {where}")
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
        wants = self._stage.hello
        observation = self.state.observation(self._seat)
        view, codec = self._game.view, self._game.codec
        text = None
        if wants.wants_text:
            text = view.text_board(observation), [view.describe_action(action) for action in legal]
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
        if answer.ByteSize() > MAX_MESSAGE_BYTES:
            raise Failed(f"the answer to {where} has {answer.ByteSize()} bytes; at most {MAX_MESSAGE_BYTES}")
        choice = move.WhichOneof("choice")
        if choice == "index":
            if move.index >= len(legal):
                raise Failed(
                    f"index {shown_index(move.index)} in the answer to {where}; expected 0 to {len(legal) - 1}"
                )
            return legal[move.index]
        if choice is None:
            raise Failed(f"the Move for {where} has neither an index nor an action")
        try:
            action = self._game.codec.decode_action(move.action)
        except ActionSyntaxError as error:
            raise Failed(
                f"the action in the answer to {where} is no Action message of {self._game.id}: {error}"
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
