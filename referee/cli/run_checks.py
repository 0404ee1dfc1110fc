"""What `crosstown matches verify` finds about a run as a whole, besides missing matches."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from referee.tournament.folder import RunFolder
from referee.tournament.journal import JournalText, read_journal
from referee.tournament.luck import Epoch, epochs_of


@dataclass(frozen=True, slots=True)
class RunCheck:
    """One run. `wrong` are sentences about what must not be, `notes` about what was and was not checked."""

    run: Path
    wrong: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """For people."""
        return [*(f"{self.run}: wrong: {what}" for what in self.wrong), *(f"{self.run}: {what}" for what in self.notes)]

    def values(self) -> dict[str, Any]:
        """For programs."""
        return {**asdict(self), "run": str(self.run)}


def checks_in(records: Iterable[Path]) -> list[RunCheck]:
    """A check of each run that these records lie in. JournalError."""
    folders = {path.parent.parent for path in records if path.parent.name == "matches"}
    found: list[RunCheck] = []
    for folder in sorted(folders):
        text = read_journal(RunFolder(folder).journal)
        if text.created is not None:
            found.append(check_run(folder, text))
    return found


def check_run(folder: Path, text: JournalText) -> RunCheck:
    """What the journal of a run that has begun says of its luck."""
    epochs = epochs_of(text)
    wrong = tuple(_broken(epoch) for epoch in epochs if epoch.secret and not epoch.holds)
    return RunCheck(folder, wrong, (_luck_words(epochs),))


def _broken(epoch: Epoch) -> str:
    return f"the secret of epoch {epoch.number} that the journal reveals is not the one it is committed to"


def _luck_words(epochs: tuple[Epoch, ...]) -> str:
    if not epochs[0].commitment:
        return "its luck has no secret: whoever knows the tournament's seed could compute it beforehand"
    kept = [epoch.number for epoch in epochs if not epoch.secret]
    if kept:
        return (
            "the secret of its luck is revealed when the run is finished: until then no seed can be checked against it"
        )
    return "the secret of its luck was committed to before the first match; all seeds were checked against it"
