"""Plays one match: chance, questions, faults, the end; every step goes into the record."""

import asyncio
import json
import traceback
from collections.abc import Container, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from typing import Any

from referee.games.api import Event, Game, state_hash
from referee.games.api import Outcome as ChanceOutcome
from referee.games.keyed import KeyedChance
from referee.match.decision import Question, SeatPlay
from referee.match.result import Fault, Outcome, SeatStats
from referee.match.seat import Seat, SeatLostError
from referee.match.seat_controller import SeatController
from referee.match.time_control import TimeSource
from referee.record import Answer, FaultLine, RecordError, RecordWriter, Strike
from referee.record.adjudication import Scores
from referee.record.format import EFFECT_CHOICE, EFFECT_NONE, EFFECT_TAKEN, Usage
from referee.record.ranking import FORFEIT, Leavings, default_action, final_ranking, is_decided, teams_left
from referee.record.reasons import EndReason
from referee.schedule.spec import MatchSpec
from referee.wire import encode

_LINES_AT_ONCE = 50
"""The number of lines of the record after which they are written at the latest."""

_VOIDING = (EndReason.START_FAILED, EndReason.SUSPECT_TIMEOUT, EndReason.PROVIDER_ERROR_VOID)


def bot_seed(match_seed: str, seat: int) -> int:
    """63 bits for the bot's own luck. They tell nothing about the match seed (hex)."""
    digest = blake2b(f"bot\x1f{seat}".encode(), digest_size=8, key=bytes.fromhex(match_seed)).digest()
    return int.from_bytes(digest) >> 1


class Match:
    """One match in play. `run` once; then `faults` and `seat_stats` are final."""

    def __init__(
        self, spec: MatchSpec, game: Game, bots: Sequence[Seat], record: RecordWriter, clock: TimeSource
    ) -> None:
        """Sets the game up; raises what the game raises."""
        self._spec = spec
        self._game = game
        self._record = record
        self._chance = KeyedChance(bytes.fromhex(spec.seed))
        self._scores = Scores(spec.adjudication.policy())
        self._events: list[Event] = []
        self._moment = 0
        self._leavings = Leavings()
        self._unrecorded: list[Question | ChanceOutcome] = []
        self._teams = tuple(game.teams(len(bots), spec.options))
        self._state = game.new_initial_state(len(bots), spec.options)
        self._clock = clock
        self._controller = SeatController(
            spec, game, self._state, bots, self._events, clock, record.dropped, record.flush
        )

    @property
    def faults(self) -> tuple[Fault | None, ...]:
        """Per seat the fault it left for, or the last that it went on after."""
        return tuple(seat.fault or seat.struck for seat in self._controller.seats)

    @property
    def seat_stats(self) -> tuple[SeatStats, ...]:
        return tuple(
            SeatStats(
                seat.decisions,
                seat.total_us,
                seat.worst_us,
                seat.cpu_us,
                seat.dropped,
                seat.off_turn_cpu_us,
                seat.idle_cpu_us,
                seat.lag_us,
                seat.worst_charged_us,
            )
            for seat in self._controller.seats
        )

    @property
    def usage(self) -> tuple[Usage | None, ...]:
        """Per seat the provider usage that the bot reported; None if it reported none."""
        return tuple(seat.usage for seat in self._controller.seats)

    async def run(self) -> Outcome:
        """From MatchStart to MatchEnd; the record has all lines but the footer.

        Never raises for what a bot does; whatever goes wrong with the game or the record is a platform fault.
        CancelledError is passed on, after the seats have got MatchEnd.
        """
        try:
            await self._controller.start([self._match_start(seat) for seat in self._controller.seats])
            outcome = await self._play_within_cap()
            self._write_lines()
        except asyncio.CancelledError:
            with suppress(RecordError):
                self._write_lines()
            self._send_ends(Outcome(EndReason.CANCELLED, "the match was cancelled"))
            raise
        except Exception as error:
            if isinstance(error, SeatLostError):
                outcome = Outcome(EndReason.PLATFORM_FAULT, str(error), memory_of=error.memory_of)
            else:
                detail = f"{type(error).__name__}: {error}"
                outcome = Outcome(EndReason.PLATFORM_FAULT, detail, trouble=traceback.format_exc())
            with suppress(RecordError):  # then the record ends before the trouble
                self._write_lines()
        self._send_ends(outcome)
        return outcome

    async def collect_output(self) -> None:
        """Add what faulted bots wrote to the evidence of their faults. After `run`."""
        for seat in self._controller.seats:
            if seat.fault is not None or seat.struck is not None:
                output = await seat.bot.last_output()
                seat.fault, seat.struck = _with_output(seat.fault, output), _with_output(seat.struck, output)

    async def _play_within_cap(self) -> Outcome:
        if cap_s := self._spec.limits.match_s:
            self._controller.cap_after(cap_s)
        try:
            outcome = await self._play_on()
        finally:
            self._controller.lift_cap()
        self._controller.forgive()
        return outcome

    async def _play_on(self) -> Outcome:
        state, controller = self._state, self._controller
        while True:
            if controller.fresh and not state.is_terminal() and (ended := self._settle(())):
                return ended
            decisions = state.decisions()
            if decisions and controller.late:
                controller.gather()
                continue
            if decisions:
                questions = await controller.ask(decisions, decided=self._faults_decide, sent=self._take_down)
                if controller.capped:
                    controller.gather()
                    return (self._settle(()) if controller.fresh else None) or self._adjudicate()
                if any(question.action is None for question in questions):
                    if controller.fresh and (ended := self._settle(questions)):
                        return ended
                    questions = self._still_valid(questions)
                if not questions:
                    continue
                self._events += state.apply(self._accept(questions))
                if self._scores.decides and (ended := self._by_scores(questions)):
                    return ended
            elif state.is_terminal():
                return self._finished()
            else:
                outcome = self._chance.choose(state.chance_stream(), state.chance_outcomes())
                self._unrecorded.append(outcome)
                self._events += state.apply_chance(outcome)
            self._moment += 1
            controller.owed.clear()

    def _finished(self) -> Outcome:
        """The game has ended by its rules. What seats did wrong before its last answer still counts."""
        state, controller = self._state, self._controller
        ended = self._settle(()) if controller.fresh else None
        if ended is not None and ended.reason is EndReason.EVERYONE_FAULTED:
            return ended
        ranking = final_ranking(state.ranking(), self._teams, [seat.left for seat in controller.seats])
        return Outcome(EndReason.NORMAL, "", ranking, tuple(state.returns()), state_hash(state))

    def _by_scores(self, questions: Sequence[Question]) -> Outcome | None:
        """The outcome if the scores in the notes have decided the match, which its rules have not."""
        rankings = [self._scores.add(question.seat, question.note) for question in questions]
        ranking = next((found for found in rankings if found is not None), None)
        if ranking is None or self._state.is_terminal() or self._controller.fresh:
            return None
        detail = "by the scores of both bots"
        return Outcome(EndReason.ADJUDICATED, detail, ranking, state_hash=state_hash(self._state))

    def _accept(self, questions: Sequence[Question]) -> Mapping[int, Any]:
        """The answers of a node count."""
        for question in questions:
            self._controller.seats[question.seat].count(question)
        self._unrecorded += questions
        return {question.seat: question.action for question in questions}

    def _write_lines(self) -> None:
        """Write what has happened into the record's file."""
        self._take_down()
        self._record.flush()

    def _take_down(self) -> None:
        """Record what has happened since the last call. Done while bots think, not while they wait. In a quick match
        the lines of several decisions are written to the file together, at the latest when a decision takes long."""
        record, lines = self._record, self._unrecorded
        self._unrecorded = []
        for line in lines:
            if isinstance(line, Question):
                text = self._game.format_action(line.action)
                record.answer(Answer(line.seat, text, line.wall_ns // 1000, line.cpu_us, line.lag_us, line.note))
            else:
                record.chance(line)
        if record.waiting >= _LINES_AT_ONCE:
            record.flush()

    # Faults

    def _settle(self, questions: Sequence[Question]) -> Outcome | None:
        """What the faults of this moment mean, together and in seat order. The outcome if that ends the match.

        `questions` are those of the node at hand.
        """
        controller = self._controller
        fresh = sorted(controller.fresh, key=lambda seat: seat.number)
        controller.fresh = []
        faults = {seat.number: seat.fault for seat in fresh if seat.fault is not None}
        for fault in faults.values():
            if fault.reason in _VOIDING:
                return Outcome(fault.reason, self._sentence(fault), fault_seat=fault.seat)
        self._write_lines()
        unanswered = {question.seat for question in questions if question.action is None}
        out = [(seat, fault) for seat in fresh if not self._strike(seat, fault := faults[seat.number], unanswered)]
        leaving = [(seat, fault) for seat, fault in out if self._leaves(fault)]
        later = self._leavings.is_open_at(self._moment)
        for seat, fault in leaving:
            self._leave(seat, fault, later=later and seat is leaving[0][0])
        for seat, fault in out:
            if seat.left is None:
                seat.taken = True
                self._record.strike(Strike(seat.number, fault.reason, fault.detail, EFFECT_TAKEN))
        if out and self._is_over():
            return self._forfeited([fault for _, fault in leaving] or [fault for _, fault in out])
        for seat, fault in out:
            self._send_end(seat, Outcome(fault.reason, self._sentence(fault), fault_seat=seat.number))
            seat.bot.dismiss()
        self._record.flush()
        return None

    def _strike(self, seat: SeatPlay, fault: Fault, unanswered: Container[int]) -> bool:
        """Whether the seat goes on with its bot, which has lost no more than a choice."""
        if not seat.goes_on_after(fault):
            return False
        seat.strikes += 1
        seat.struck = replace(fault, evidence={**fault.evidence, "strikes": seat.strikes})
        seat.fault = None
        effect = EFFECT_NONE
        if seat.number in unanswered:
            effect = EFFECT_CHOICE
            self._controller.owed.add(seat.number)
        self._record.strike(Strike(seat.number, fault.reason, fault.detail, effect))
        return True

    def _leaves(self, fault: Fault) -> bool:
        """Whether the seat of a fault that no strike pays for leaves the match; else the referee plays for it."""
        return self._spec.faults.policy == FORFEIT or fault.reason is EndReason.RESIGNED

    def _leave(self, seat: SeatPlay, fault: Fault, *, later: bool) -> None:
        seat.left = self._leavings.take(self._moment, later=later)
        withdrawn = not self._state.is_terminal()
        self._record.fault(FaultLine(seat.number, fault.reason, fault.detail, withdrawn, later))
        if withdrawn:
            self._events += self._state.withdraw(seat.number)

    def _is_over(self) -> bool:
        """Whether there is nothing left to play for: the game ended, leaving has decided it, or no bot is left."""
        seats = self._controller.seats
        return (
            self._state.is_terminal()
            or is_decided(self._teams, [seat.left for seat in seats])
            or all(seat.is_out for seat in seats)
        )

    def _forfeited(self, faults: Sequence[Fault]) -> Outcome:
        """The outcome of a match that these faults have ended."""
        state, seats = self._state, self._controller.seats
        left = [seat.left for seat in seats]
        terminal = state.is_terminal()
        everyone = teams_left(self._teams, left) == 0 or all(seat.is_out for seat in seats)
        return Outcome(
            EndReason.EVERYONE_FAULTED if everyone else faults[0].reason,
            "; ".join(self._sentence(fault) for fault in faults),
            final_ranking(state.ranking() if terminal else [1] * len(left), self._teams, left),
            tuple(state.returns()) if terminal and not everyone else (),
            state_hash(state),
            faults[0].seat if len(faults) == 1 else None,
        )

    def _adjudicate(self) -> Outcome:
        """The match took too long: all that are in it share the first rank."""
        left = [seat.left for seat in self._controller.seats]
        decisions = sum(seat.decisions for seat in self._controller.seats)
        detail = f"the match took longer than its cap of {self._spec.limits.match_s:g} s, after {decisions} decisions"
        ranking = final_ranking([1] * len(left), self._teams, left)
        return Outcome(EndReason.ADJUDICATED, detail, ranking, state_hash=state_hash(self._state))

    def _faults_decide(self) -> bool:
        """Whether the match is over once the faults of this moment are settled."""
        seats = self._controller.seats
        out = {seat.number for seat in self._controller.fresh if seat.fault and not seat.goes_on_after(seat.fault)}
        gone = [
            0 if seat.left is not None or (seat.number in out and seat.fault and self._leaves(seat.fault)) else None
            for seat in seats
        ]
        return is_decided(self._teams, gone) or all(seat.number in out or seat.is_out for seat in seats)

    def _still_valid(self, questions: Sequence[Question]) -> list[Question]:
        """The answers of a node that faults have disturbed, with the referee's own for seats that it answers for; or
        none, and they are dropped, if the game does not ask exactly for them any more, because others left."""
        state, seats = self._state, self._controller.seats
        staying = [item for item in questions if seats[item.seat].left is None]
        given = [item for item in staying if item.action is not None]
        asked = [decision.seat for decision in state.decisions()]
        if asked == [item.seat for item in staying]:
            for item in staying:
                if item.action is None or seats[item.seat].taken:
                    self._answer_for(item)
            if all(item.action in state.legal_actions(item.seat) for item in staying):
                return staying
        for item in given:
            self._controller.drop_answer(item)
        return []

    def _answer_for(self, question: Question) -> None:
        """The referee makes the choice that a seat has not made."""
        policy, seed, seat = self._spec.faults.policy, self._spec.seed, question.seat
        question.action = default_action(policy, self._state.legal_actions(seat), seed, seat, self._moment)

    def _sentence(self, fault: Fault) -> str:
        return f"seat {fault.seat} ({self._spec.seats[fault.seat].name}): {fault.detail}"

    # Messages

    def _match_start(self, seat: SeatPlay) -> bytes:
        spec = self._spec
        return encode.match_start(
            match=spec.match_id,
            game=spec.game,
            rules_version=self._game.rules_version,
            seat=seat.number,
            players=len(spec.seats),
            options=json.dumps(spec.options, separators=(",", ":")),
            teams=self._teams,
            clock=seat.clock,
            bot_seed=bot_seed(spec.seed, seat.number),
        )

    def _send_ends(self, outcome: Outcome) -> None:
        self._controller.close()
        if outcome.reason is EndReason.PLATFORM_FAULT:
            self._controller.see_nothing()  # what cannot be trusted is not encoded
        for seat in self._controller.seats:
            self._send_end(seat, outcome)

    def _send_end(self, seat: SeatPlay, outcome: Outcome) -> None:
        def message(events: bytes) -> bytes:
            return encode.match_end(
                match=self._spec.match_id,
                events=events,
                ranking=outcome.ranking,
                returns=outcome.returns,
                reason=outcome.reason,
                fault_seat=outcome.fault_seat,
                explanation=outcome.detail,
            )

        self._controller.send_end(seat, message)


def _with_output(fault: Fault | None, output: Mapping[str, Any]) -> Fault | None:
    return None if fault is None else replace(fault, evidence={**fault.evidence, **output})
