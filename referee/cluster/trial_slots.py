"""The slots that trials of a ladder's hand-ins take on the machines of a cluster. See `trial_orders` for the trials."""

from collections.abc import Callable, Collection

from referee.cluster.connection import Attempt, Connection, Machine
from referee.cluster.orders import Answer, TrialOrder
from referee.tournament.executor import MatchLost

SLOTS_PER_TRIAL = 4
"""Trials take at most one slot in this number, and at least one: matches get the others."""


class TrialSlots:
    """Each trial takes one slot of a machine of the connection."""

    def __init__(self, connection: Connection, note: Callable[[str], None]) -> None:
        self._connection = connection
        self._note = note
        self._taken = 0

    async def seat_trial(self, *, strict: bool, without: Collection[str] = ()) -> Machine | None:
        """The machine for a trial, on which a slot is taken. Waits until there is one; None if there are only those in
        `without`. `strict`: only where the sandbox works. MatchLost at the end."""
        is_noted = False
        while True:
            if self._connection.ended:
                raise MatchLost("the ladder was ended")
            self._connection.look_for_changes()
            machines = self._connection.machines
            able = [
                machine
                for machine in machines
                if not (machine.history.drained or machine.full or (strict and machine.facts.sandbox != "strict"))
            ]
            if machines and not able and not is_noted:
                is_noted = True
                self._note(
                    "a hand-in waits: each machine gets no more matches, its disk is nearly full, or the sandbox does"
                    " not work there; see what is missing with: crosstown doctor, on a machine"
                )
            left = [machine for machine in able if machine.name not in without]
            if able and not left:
                return None
            free = [machine for machine in left if machine.free]
            if free and self._taken < max(1, self._connection.slots // SLOTS_PER_TRIAL):
                best = max(free, key=lambda machine: (machine.free / machine.facts.slots, machine.name))
                best.playing += 1
                self._taken += 1
                return best
            await self._connection.changed()

    def give_back(self, machine: Machine) -> None:
        """The slot of a trial is free again."""
        machine.playing -= 1
        self._taken -= 1
        self._connection.change()

    async def send_trial(self, machine: Machine, order: TrialOrder, hear: Callable[[str, bytes], None]) -> str:
        """How the process of a trial on a machine ended; `hear` is called with what it says. MatchLost, with its name,
        if the machine is lost, or cannot try."""
        attempt = Attempt(machine, hear=hear)
        try:
            answer = Answer.from_bytes(await self._connection.ask(attempt, order.key, order.to_bytes()))
            trouble = "" if answer.kind == "tried" and attempt.heard else f"cannot try it: {answer.what}"
        except ValueError as error:
            trouble = f"gave an answer that cannot be used: {error}"
        if trouble:
            what = f"machine '{machine.name}' {trouble}"
            self._connection.fault(machine, order.content, what)
            raise MatchLost(what, machine=machine.name)
        machine.history.faults.clear()
        return answer.what
