"""The seats of a running match: asks them, waits, and judges their answers.

Everything a bot does arrives as a call from its seat or from a timer. The match sleeps meanwhile. It is woken when
every asked seat has answered or made a fault, or when the match is decided.
"""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from referee.games.api import Decision, Event, Game, State, action_sentence, text_board
from referee.match.decision import (
    GOES_ON_AFTER,
    Question,
    Refusal,
    SeatPlay,
    cut_note,
    message_evidence,
    position_evidence,
    read_choice,
    stray_kind,
    stray_text,
)
from referee.match.lag_attribution import (
    PROBE_SHARE,
    Waits,
    is_held_up,
    judge_lateness,
    probe_after_ns,
    time_left_ns,
)
from referee.match.result import Fault
from referee.match.seat import Seat, SeatEnd, SeatLostError
from referee.match.time_control import GRACE_NS, NOTHING_ALLOWED, Deadline, Handle, TimeSource
from referee.record import Dropped
from referee.record.reasons import EndReason
from referee.schedule.spec import MatchSpec
from referee.wire import BotMessage, Received, encode

MAX_STRAY_MESSAGES = 100
"""Messages of one seat in one match that answer nothing asked; one more is a fault."""

MOST_STRAY_LIMITS = 8
"""So many times the limit of one message they may have together: reading them makes the referee late, and time in which
it is late is given back."""

RECORDED_STRAY_MESSAGES = 10
_LOOK_NS = 250_000_000
"""So often it is looked whether a bot is back that has lost its connection before it was ready."""

_MOST_BREAKS = 5
"""So often the connection of a bot may break while one match gets ready: no match waits for ever."""

ENDING_NS = 1_000_000_000
"""So long after its deadline, or the match's, a bot that has closed its stream is waited for, to tell a crash from a
mere close."""


class SeatController:
    """All seats of one match. `events` grows as the match goes on; seats are told what they have not seen yet."""

    def __init__(
        self,
        spec: MatchSpec,
        game: Game,
        state: State,
        bots: Sequence[Seat],
        events: Sequence[Event],
        clock: TimeSource,
        drop: Callable[[Dropped], None],
        lasts: Callable[[], None] = lambda: None,
    ) -> None:
        """`drop` records a message that was dropped. `lasts` is called when a decision is not answered quickly."""
        limits = spec.limits
        self.seats = [
            SeatPlay(self, number, bot, spec.limits_of(number), spec.faults.strikes) for number, bot in enumerate(bots)
        ]
        self.fresh: list[SeatPlay] = []
        """Seats that have faulted since the match last settled faults, up to the last answer of the node at hand."""
        self.late: list[SeatPlay] = []
        """Those that have faulted after that: they are settled with the next node, or forgiven if there is none."""
        self.owed: set[int] = set()
        """Seats that a strike has cost their next choice: the referee makes it."""
        self._id = spec.match_id
        self._limits = limits
        self._game = game
        self._codec = game.codec
        self._state = state
        self._events = events
        self._clock = clock
        self._drop = drop
        self._lasts = lasts
        self._numbers = 0
        self._waiting_for: set[int] = set()
        self._decided: Callable[[], bool] = lambda: False
        self._wake: asyncio.Future[None] | None = None
        self._trouble: Exception | None = None
        self._starting = False
        self._ready_timers: dict[int, Handle] = {}
        self._over = False
        self._ponder = spec.ponder
        self._charged_for_memory = spec.charged_for_memory
        self._provider_errors = spec.faults.provider_errors
        self._charged_for_provider = spec.charged_for_provider
        self._forfeits = spec.forfeits
        self.capped = False
        """Whether the match has taken its time."""
        self._cap: Handle | None = None

    async def start(self, messages: Sequence[bytes]) -> None:
        """Send each seat its MatchStart and wait for all Ready. A late seat has a start_failed fault."""
        self._starting = True
        self._waiting_for = {seat.number for seat in self.seats}
        looks: list[Handle] = []
        try:
            for seat, message in zip(self.seats, messages, strict=True):
                if not self._ponder:
                    seat.bot.thaw()
                seat.begin()
                seat.bot.send(message)
                seat.bot.listen(seat)
                waits, ready_s, now_ns = Waits(seat.bot), seat.limits.ready_s, self._clock.now_ns()
                up = partial(self._ready_time_is_up, seat, now_ns)
                self._ready_timers[seat.number] = Deadline(self._clock, ready_s, up, waits.excused_ns)
                looks.append(self._clock.call_at(now_ns + round(ready_s / PROBE_SHARE * 1e9), waits.look))
            await self._sleep(self._start_has_failed)
        finally:
            for timer in (*self._ready_timers.values(), *looks):
                timer.cancel()
        self._starting = False
        for number, why in self._forfeits:
            self._blame(self.seats[number], EndReason.DISCONNECTED, why, {})

    async def ask(
        self, decisions: Sequence[Decision], *, decided: Callable[[], bool], sent: Callable[[], None]
    ) -> list[Question]:
        """Ask one node; the questions come back closed, answered where `action` is not None.

        `decided` tells whether the faults so far end the match: then a fault off turn ends the waiting. `sent` is
        called once all questions are on their way.
        """
        if self.fresh:
            return []
        questions = [self._open(self.seats[decision.seat], decision.kind) for decision in decisions]
        self._waiting_for = {question.seat for question in questions if question.open}
        for seat in self.seats:
            if seat.wants.updates and seat.number not in self._waiting_for and self._ponder:
                self._send_update(seat)
        sent()
        await self._sleep(decided)
        for question in questions:
            if question.open:
                self._cancel(question)
        return questions

    def cap_after(self, seconds: float) -> None:
        """From now on the match may take so long."""
        self._cap = Deadline(self._clock, seconds, self._reach_cap)

    def lift_cap(self) -> None:
        """The match is over."""
        if self._cap is not None:
            self._cap.cancel()

    def drop_answer(self, question: Question) -> None:
        """An answer that was good when it came means nothing any more, because others left."""
        self.seats[question.seat].dropped += 1
        self._drop(Dropped(question.seat, "superseded", ""))

    def send_end(self, seat: SeatPlay, message: Callable[[bytes], bytes]) -> None:
        """MatchEnd, once per seat. `message` makes it from the encoded events the seat has not seen."""
        if not seat.told:
            seat.told = True
            seat.finish()
            if not self._ponder:
                seat.bot.thaw()
            if seat.question is not None and seat.question.open:
                self._cancel(seat.question)
            seat.bot.send(message(self._unseen(seat)))
            seat.bot.listen(None)

    def gather(self) -> None:
        """There is a next node: what came too late for the last one is settled with it."""
        self.fresh, self.late = self.fresh + self.late, []

    def forgive(self) -> None:
        """What seats did wrong after the last answer that counts came too late to matter."""
        for seat in self.fresh + self.late:
            seat.fault = None
        self.fresh, self.late = [], []

    def see_nothing(self) -> None:
        """Count all events as seen."""
        for seat in self.seats:
            seat.seen = len(self._events)

    def close(self) -> None:
        """Nothing counts from now on."""
        self._over = True
        for seat in self.seats:
            if seat.probe is not None:
                seat.probe.cancel()

    # What seats and timers call

    def take_message(self, seat: SeatPlay, received: Received) -> None:
        if not self._over:
            try:
                if seat.fault is None:
                    self._judge(seat, received)
                elif self._is_pending(seat) and seat.goes_on_after(seat.fault):
                    self._judge_more(seat, received)
            except Exception as error:  # a game's codec or view, the record's file
                self._break(error)

    def take_end(self, seat: SeatPlay, end: SeatEnd) -> None:
        try:
            is_in = seat.fault is None or (self._is_pending(seat) and seat.has_strike_for(seat.fault))
            if end.machine_memory and seat.number in self._charged_for_memory:
                end = end.charged()
            if end.reason is EndReason.PLATFORM_FAULT and is_in and not self._over:
                memory_of = seat.number if end.machine_memory else None
                raise SeatLostError(f"seat {seat.number}: {end.detail}", memory_of)
            self._blame(seat, end.reason, end.detail, dict(end.evidence))
            self._wake_if_decided()  # where a strike would have paid for its fault, none does any more
        except Exception as error:
            self._break(error)

    def _ready_time_is_up(self, seat: SeatPlay, since_ns: int, breaks: int = 0) -> None:
        """A bot whose connection has broken, or may have, is awaited for as long as it may stay away. When it is back
        it gets MatchStart again, and as much time as at first. `breaks`: how often that was so."""
        if seat.ready or seat.fault is not None:
            return
        now_ns, contact = self._clock.now_ns(), seat.bot.contact(since_ns)
        if contact == "lost":
            again = partial(self._ready_time_is_up, seat, since_ns, breaks)
            self._ready_timers[seat.number] = self._clock.call_at(now_ns + _LOOK_NS, again)
        elif contact == "back" and breaks < _MOST_BREAKS:
            after = partial(self._ready_time_is_up, seat, now_ns, breaks + 1)
            self._ready_timers[seat.number] = Deadline(self._clock, seat.limits.ready_s, after)
        else:
            self._is_not_ready(seat, "its connection broke and it was back" if breaks else "MatchStart")

    def _is_not_ready(self, seat: SeatPlay, since: str) -> None:
        if not seat.ready:
            limit_s = seat.limits.ready_s
            seat.bot.ask_for_stacks()
            detail = f"not ready {limit_s:g} s after {since}"
            self._blame(seat, EndReason.START_FAILED, detail, {"limit_us": int(limit_s * 1e6)})

    def _reach_cap(self) -> None:
        """The match has taken its time, but how a bot ends may be about to be told."""
        if any(seat.bot.ending for seat in self.seats if seat.fault is None):
            self._cap = self._clock.call_at(self._clock.now_ns() + ENDING_NS, self._cap_now)
        else:
            self._cap_now()

    def _cap_now(self) -> None:
        """Nobody is waited for any more. Who is gone or late has lost by that before."""
        for seat in self.seats:
            question = seat.question
            if seat.bot.ending:
                self._give_up(seat)
            elif question is not None and question.open:
                self._judge_at_cap(seat, question)
        self.capped = True
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def _judge_at_cap(self, seat: SeatPlay, question: Question) -> None:
        try:
            self._measure(seat, question, self._clock.now_ns())
            if question.charged_ns > question.limit_ns and not is_held_up(question):
                self._time_out(seat, question)
        except Exception as error:
            self._break(error)

    def _set_probe(self, seat: SeatPlay, at_ns: int) -> None:
        """Have the seat looked at by `at_ns`. Most decisions are answered earlier, so one timer serves many:
        it stays when its decision is answered, and moves to the one that is open when it fires."""
        if seat.probe is not None:
            if seat.probe_at_ns <= at_ns:
                return
            seat.probe.cancel()
        seat.probe_at_ns = at_ns
        seat.probe = self._clock.call_at(at_ns, partial(self._take_probe, seat))

    def _take_probe(self, seat: SeatPlay) -> None:
        seat.probe, question = None, seat.question
        if question is None or not question.open or question.timer is not None:
            return
        if seat.probe_at_ns < question.probe_ns and self._clock.now_ns() < question.probe_ns:
            self._set_probe(seat, question.probe_ns)
        else:
            self._probe(seat, question)

    def _probe(self, seat: SeatPlay, question: Question) -> None:
        """The decision lasts: from here on it matters what the bot's tasks do."""
        if question.open:
            question.lag_probed_ns = self._clock.lag_ns()
            question.effort_before = seat.bot.effort()
            question.watch(self._clock, seat.bot.effort)
            question.others_before_ns = [other.bot.cpu_ns() for other in self.seats]
            at_ns = question.sent_ns + question.limit_ns
            question.timer = self._clock.call_at(at_ns, lambda: self._time_is_up(seat, question))
            try:
                self._lasts()
            except Exception as error:  # the record's file
                self._break(error)

    def _time_is_up(self, seat: SeatPlay, question: Question) -> None:
        """Judged a little later, so that an answer which is here but unread is seen first."""
        if question.open:
            question.state = seat.bot.process_state()
            self._judge_time_at(self._clock.now_ns() + GRACE_NS, seat, question)

    def _judge_time_at(self, at_ns: int, seat: SeatPlay, question: Question) -> None:
        question.timer = self._clock.call_at(at_ns, lambda: self._judge_time(seat, question))

    def _judge_time(self, seat: SeatPlay, question: Question) -> None:
        if question.open:
            try:
                now_ns = self._clock.now_ns()
                if seat.bot.ending:  # It has crashed, however late it was; how is about to be told.
                    question.timer = self._clock.call_at(now_ns + ENDING_NS, lambda: self._give_up(seat))
                    return
                self._measure(seat, question, now_ns)
                left_ns = time_left_ns(seat, question)
                if left_ns is None:
                    self._time_out(seat, question)
                    return
                self._judge_time_at(now_ns + left_ns + GRACE_NS, seat, question)
            except Exception as error:
                self._break(error)

    def _give_up(self, seat: SeatPlay) -> None:
        """The bot has closed its stream, and its process goes on: no answer can come."""
        try:
            evidence = {"process_state": seat.bot.process_state()}
            self._blame(seat, EndReason.DISCONNECTED, "closed its stream, and its process went on", evidence)
        except Exception as error:
            self._break(error)

    # Judging

    def _judge(self, seat: SeatPlay, received: Received) -> None:
        message, raw = received.message, received.raw
        if len(raw) > self._limits.max_message_bytes:
            detail = f"a message of {len(raw)} bytes, the limit is {self._limits.max_message_bytes}"
            self._blame(seat, EndReason.OVERSIZED_MESSAGE, detail, message_evidence(raw))
        elif message is None:
            detail = "a message that is not a crosstown.v1.BotMessage"
            self._blame(seat, EndReason.MALFORMED_MESSAGE, detail, message_evidence(raw))
        elif message.HasField("move"):
            self._judge_move(seat, message, received)
        elif message.HasField("ready") and message.ready.match == self._id and self._starting and not seat.ready:
            seat.ready = True
            self._answered(seat)
        elif message.HasField("resign") and message.resign.match == self._id:
            self._blame(seat, EndReason.RESIGNED, "resigned", {})
        else:
            self._stray(seat, message, raw)

    def _judge_more(self, seat: SeatPlay, received: Received) -> None:
        """While a fault is to be settled that a strike pays for: the bot may give up, and all else answers nothing."""
        message, raw = received.message, received.raw
        if message is not None and message.HasField("resign") and message.resign.match == self._id:
            self._blame(seat, EndReason.RESIGNED, "resigned", {})
        else:
            self._stray(seat, message, raw)

    def _judge_move(self, seat: SeatPlay, message: BotMessage, received: Received) -> None:
        move, question = message.move, seat.question
        if question is None or not question.open or move.decision != question.number or move.match != self._id:
            self._stray(seat, message, received.raw)
            return
        if move.HasField("usage"):
            seat.add_usage(move.usage)
        self._measure(seat, question, received.at_ns)
        if question.charged_ns > question.limit_ns:
            self._time_out(seat, question, answered=True)
            return
        action = read_choice(message, question, self._game)
        if isinstance(action, Refusal):
            if self._provider_errors == "void":
                action = action.of_provider(charged=seat.number in self._charged_for_provider)
            self._blame(seat, action.reason, action.detail, message_evidence(received.raw), measured=True)
            return
        question.action = action
        if move.note:
            question.note = cut_note(move.note, self._limits.max_note_bytes)
        question.close()
        self._answered(seat)

    def _time_out(self, seat: SeatPlay, question: Question, *, answered: bool = False) -> None:
        reason, detail, evidence = judge_lateness(seat, question, self.seats, answered=answered)
        away_s = 0.0 if answered or seat.can_be_struck else seat.bot.away_s
        if away_s and reason is not EndReason.SUSPECT_TIMEOUT:
            reason = EndReason.DISCONNECTED
            detail = f"{detail}; its connection broke {away_s:.1f} s before, and it had not come back"
        if not answered:
            seat.bot.ask_for_stacks()
        seat.bot.send(encode.cancel(self._id, question.number))  # a strike may pay for it; and before it is stopped
        self._blame(seat, reason, detail, evidence, measured=True)

    def _stray(self, seat: SeatPlay, message: BotMessage | None, raw: bytes) -> None:
        what = "malformed" if message is None else stray_kind(message, self._id, self._numbers)
        seat.dropped += 1
        if seat.dropped <= RECORDED_STRAY_MESSAGES:
            self._drop(Dropped(seat.number, what, stray_text(raw)))
        seat.dropped_bytes += len(raw)
        if seat.dropped > MAX_STRAY_MESSAGES or seat.dropped_bytes > MOST_STRAY_LIMITS * self._limits.max_message_bytes:
            size = f"{seat.dropped} messages that answer nothing asked, of {seat.dropped_bytes} bytes"
            detail = f"{size}, the last one {what}"
            self._blame(seat, EndReason.WRONG_TURN_MESSAGE, detail, message_evidence(raw))

    def _blame(
        self, seat: SeatPlay, reason: EndReason, detail: str, evidence: dict[str, Any], *, measured: bool = False
    ) -> None:
        """`measured`: the open question has its times, those on which the verdict rests."""
        before = seat.fault
        if self._over or (before is not None and not self._comes_on_top(seat, before, reason)):
            return
        if self._starting and reason is not EndReason.RESIGNED and reason is not EndReason.START_FAILED:
            reason, detail = EndReason.START_FAILED, f"before the match had begun: {detail}"
        question = seat.question
        if question is not None and question.open:
            question.close()
            if not measured:
                self._measure(seat, question, self._clock.now_ns())
            evidence |= {"decision": question.number, "kind": question.kind, **question.times()}
            evidence |= position_evidence(self._game, self._state, seat.number, question.legal)
        if before is not None:
            evidence, detail = {**before.evidence, **evidence}, f"{detail} (before that: {before.detail})"
        else:
            (self.fresh if self._waiting_for or self._starting else self.late).append(seat)
        seat.fault = Fault(seat.number, reason, detail, evidence)
        if seat.number in self._waiting_for:
            self._answered(seat)
        else:
            self._wake_if_decided()

    def _is_pending(self, seat: SeatPlay) -> bool:
        """Whether its fault is still to be settled."""
        return seat in self.fresh or seat in self.late

    def _comes_on_top(self, seat: SeatPlay, before: Fault, reason: EndReason) -> bool:
        """Whether a seat that could go on after its fault of this moment has done now what no strike pays for."""
        return reason not in GOES_ON_AFTER and self._is_pending(seat) and seat.goes_on_after(before)

    def _wake_if_decided(self) -> None:
        """A fault off turn may end the match: nobody is waited for any more."""
        if self._wake is not None and not self._wake.done() and self._decided():
            self._wake.set_result(None)

    # Asking and waiting

    def _open(self, seat: SeatPlay, kind: str) -> Question:
        number = seat.number
        state, wants, codec = self._state, seat.wants, self._codec
        legal = state.legal_actions(number)
        self._numbers += 1
        if seat.taken or number in self.owed:
            seat.question = question = Question(number, self._numbers, kind, legal, NOTHING_ALLOWED)
            question.open = False
            return question
        seat.question = question = Question(number, self._numbers, kind, legal, seat.allow())
        observation = state.observation(number) if wants.observation or wants.text else None
        text = None
        if wants.text:
            # Without names: a bot does not know whom it plays against.
            game = self._game
            sentences = [action_sentence(game, action, observation) for action in legal]
            text = encode.TextMessage(board=text_board(game, observation), actions=sentences)
        data = encode.decide(
            match=self._id,
            decision=question.number,
            kind=kind,
            legal_count=len(legal),
            observation=codec.encode_observation(observation) if wants.observation else b"",
            legal_actions=codec.encode_actions(legal) if wants.legal_actions else b"",
            events=self._unseen(seat),
            clock=seat.clock,
            last_latency_us=seat.last_latency_us,
            text=text,
        )
        clock = self._clock
        if not self._ponder:
            seat.bot.thaw()
        question.lag_before_ns = clock.lag_ns()
        question.sent_ns = sent_ns = clock.now_ns()
        question.traffic_before_ns = seat.bot.traffic_ns()
        seat.bot.send(data)  # which may take as long as the bot likes, and is then its traffic
        question.probe_ns = sent_ns + probe_after_ns(seat, question)
        self._set_probe(seat, question.probe_ns)
        question.cpu_before_ns = seat.bot.cpu_ns()
        return question

    def _unseen(self, seat: SeatPlay) -> bytes:
        """Encoded, what happened since the last message to this seat."""
        number = seat.number
        events = self._events[seat.seen :]
        seat.seen = len(self._events)
        return self._codec.encode_events([event.seen_by(number) for event in events]) if events else b""

    def _send_update(self, seat: SeatPlay) -> None:
        if seat.seen < len(self._events) and not seat.told:
            seat.bot.send(encode.update(self._id, self._unseen(seat)))

    def _cancel(self, question: Question) -> None:
        question.close()
        self.seats[question.seat].bot.send(encode.cancel(self._id, question.number))

    def _measure(self, seat: SeatPlay, question: Question, at_ns: int) -> None:
        question.measure(at_ns, self._clock, seat.bot.cpu_ns(), seat.bot.traffic_ns())
        late = question.wall_ns > question.limit_ns
        if question.effort_before is not None and (late or seat.budget.counts):
            # The states first: a wait that ends after they have been read is then in the effort.
            ready = seat.bot.ready_tasks() if late else frozenset[int]()
            question.weigh(seat.bot.effort(), ready)

    def _answered(self, seat: SeatPlay) -> None:
        self._waiting_for.discard(seat.number)
        if not self._ponder:
            seat.bot.freeze()
        wake = self._wake
        if wake is not None and not wake.done() and (not self._waiting_for or (self._starting and self._decided())):
            wake.set_result(None)

    async def _sleep(self, decided: Callable[[], bool]) -> None:
        """Until nobody is waited for, or `decided` holds after a fault. Raises what went wrong on our side."""
        self._decided = decided
        if self._trouble is None and self._waiting_for and not self.capped and not (self.fresh and decided()):
            self._wake = asyncio.get_running_loop().create_future()
            try:
                await self._wake
            finally:
                self._wake = None
        self._waiting_for = set()
        if self._trouble is not None:
            raise self._trouble

    def _start_has_failed(self) -> bool:
        return any(seat.fault and seat.fault.reason is EndReason.START_FAILED for seat in self.seats)

    def _break(self, error: Exception) -> None:
        if self._trouble is None:
            self._trouble = error
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)
