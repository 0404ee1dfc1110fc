"""What each machine of a cluster has played in a run, from the records and the journal."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from leaderboard.controls import annulled_entries
from referee.record import Record, RecordError, read_record
from referee.record.format import Footer
from referee.record.journal import in_force
from referee.record.store import match_id_of
from referee.record.times import seat_times
from referee.run.journal import LOST
from referee.run.run import Run

HERE = "(this machine)"
"""Of matches whose record names no machine."""


@dataclass(slots=True)
class MachineRow:
    """`matches` count; `void` are other records that came from there, those of annulled matches included; `lost` are
    matches that were lost with the machine. Times are of all decisions of bots in matches that count, as charged to the
    bots, and so without `lag_us`."""

    name: str
    kind: str = ""
    matches: int = 0
    void: int = 0
    lost: int = 0
    decisions: int = 0
    total_us: int = 0
    worst_us: int = 0
    lag_us: int = 0

    @property
    def mean_move_ms(self) -> float | None:
        return self.total_us / self.decisions / 1000 if self.decisions else None

    @property
    def lag_share(self) -> float | None:
        """Of all the time between questions and answers."""
        wall_us = self.total_us + self.lag_us
        return self.lag_us / wall_us if wall_us else None


def machine_rows(run: Run) -> list[MachineRow]:
    """Of all machines on which matches of the run were played, by name."""
    store = run.folder.records
    rows: dict[str, MachineRow] = {}
    annulled = {control.match_id for control in in_force(run.controls) if control.kind == "annulled"}
    left = annulled_entries(run.controls)
    for record, footer in _closed(store.paths().values()):
        row = _row_of(rows, record)
        if match_id_of(record.path) in annulled or not left.isdisjoint(seat.entry_id for seat in record.header.seats):
            row.void += 1
            continue
        row.matches += 1
        for times in seat_times(record.lines, record.header.players, footer.faults):
            row.decisions += len(times.charged)
            row.total_us += times.charged_us
            row.worst_us = max(row.worst_us, times.worst_charged_us)
            row.lag_us += times.lag_us
    for record, _ in _closed(store.aside_paths().values()):
        _row_of(rows, record).void += 1
    lost = Counter(line.fields["machine"] for line in run.journal.events if line.kind == LOST)
    for name, number in lost.items():
        rows.setdefault(name, MachineRow(name)).lost = number
    return sorted(rows.values(), key=lambda row: row.name)


def _closed(paths: Iterable[Path]) -> Iterator[tuple[Record, Footer]]:
    for path in paths:
        try:
            record = read_record(path)
        except RecordError:
            continue
        if record.footer is not None:
            yield record, record.footer


def _row_of(rows: dict[str, MachineRow], record: Record) -> MachineRow:
    machine = record.header.machine
    name = machine.get("name", HERE)
    row = rows.setdefault(name, MachineRow(name))
    row.kind = machine.get("class", "") or row.kind
    return row
