"""The orders that one run of the command takes while it plays. See `referee.run.orders`."""

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Self

from referee.errors import TournamentError, UsageError
from referee.run.decisions import Desk, carry_out, pause
from referee.run.folder import RunFolder
from referee.run.lock import RunLock
from referee.run.orders import LOOK_S, Inbox, Order
from referee.schedule.spec import MatchSpec

_NEEDS_BOTS = ("add", "reinstate", "extend")
"""Orders after which bots or workers are needed that were not started."""


class Steering:
    """A context manager. It holds the lock of the run, and what was ordered, until all of it is played: the run may be
    taken up several times inside, each time with what was ordered before."""

    def __init__(
        self,
        folder: RunFolder,
        *,
        fixed: str = "",
        time_s: Callable[[], float] = time.monotonic,
        on_playing: Callable[[Collection[MatchSpec], bool], None] = lambda _playing, _held: None,
    ) -> None:
        """`fixed`: why this run takes no orders but to pause and to resume, '' if it does. `on_playing` is called now
        and then with the matches in play."""
        self._on_playing = on_playing
        self._folder = folder
        self._fixed = fixed
        self._time_s = time_s
        self._looked_s = -LOOK_S
        self._inbox = Inbox(folder)
        self._lock: RunLock | None = None
        self.paused = False
        self.changed_by = ""
        """The last order that changed the run since it was taken up; '' if none has."""
        self.needs_bots = False
        """Whether bots or workers are needed since that were not started."""
        self.goes_on = False
        """Whether the run, which has been left, is taken up again at once."""
        self.sessions = 0
        """How often the run was taken up."""

    def __enter__(self) -> Self:
        self._folder.make()
        self._lock = RunLock(self._folder.lock)
        try:
            self._inbox.__enter__()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._inbox.__exit__()
        assert self._lock is not None
        self._lock.release()

    @property
    def lock_fd(self) -> int:
        """What workers inherit."""
        assert self._lock is not None
        return self._lock.fd

    def taken_up(self) -> str:
        """The run is taken up with all that was ordered. Returns the order after which it is, '' the first time."""
        order, self.changed_by, self.needs_bots, self.goes_on = self.changed_by, "", False, False
        self.sessions += 1
        return order

    def obey(
        self,
        desk: Callable[[], Desk],
        playing: Collection[MatchSpec],
        note: Callable[[str], None],
        revoked: Callable[[str], None],
    ) -> None:
        """Carry out the orders that have come. `revoked` is called with each match that counts no more."""
        if self._time_s() < self._looked_s + LOOK_S:
            return
        self._looked_s = self._time_s()
        self._on_playing(playing, self.paused)
        for order in self._inbox.take():
            try:
                self._carry_out(order, replace(desk(), order=order.id), note, revoked)
            except TournamentError as error:
                self._inbox.answer(order.id, error)
            else:
                self._inbox.answer(order.id)

    def _carry_out(self, order: Order, desk: Desk, note: Callable[[str], None], revoked: Callable[[str], None]) -> None:
        if order.kind in ("pause", "resume"):
            going_on = order.kind == "resume"
            if self.paused != going_on:
                what = "is not paused" if going_on else "is paused already"
                raise UsageError(f"the run {what}", "nothing to do")
            pause(desk, by=order.by, reason=order.reason, going_on=going_on)
            self.paused = not going_on
            words = "matches begin again" if going_on else "no match begins until: crosstown resume"
            note(f"{order.kind}d by {order.by}: {words}")
            return
        if self._fixed:
            raise UsageError(self._fixed, "stop it with Ctrl-C there, and enter this command again")
        control = carry_out(self._folder, order, desk)
        self.changed_by = order.id
        self.needs_bots |= order.kind in _NEEDS_BOTS
        about = f" '{control.name}'" if control.name else f" {control.match_id}" if control.match_id else ""
        note(f"{control.kind}{about} from place {control.place} on, by {order.by}; the matches in play end first")
        if order.kind == "annul":
            revoked(control.match_id)
