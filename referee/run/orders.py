"""Orders to a runner at work: what an organiser decides about a run while it is played.

While a run is played the folder `orders` lies in its run folder. An order is a file in it, which the runner claims by
giving it another name. The runner carries it out with one line in the journal, which has the id of the order, and then
writes an answer beside it. So an order is carried out if and only if the journal has its line: a kill at any moment,
of the runner or of the command that gave the order, leaves it done or not done.
"""

import json
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, get_args

from referee.errors import BusyError, PlatformError, TournamentError, UsageError
from referee.record.files import read_ordinary
from referee.record.format import dumps
from referee.run.folder import RunFolder
from referee.run.head import write_durably
from referee.run.lock import is_run

OrderKind: TypeAlias = Literal["leave", "reinstate", "add", "extend", "annul", "rejudge", "pause", "resume"]

LOOK_S = 0.2
"""How often a runner looks for orders."""

WAIT_S = 30.0
"""How long a command waits until the runner takes its order: a runner that starts its bots does not look for orders."""

_BEGIN_S = 5.0
"""What a runner that has just been started gets until it takes orders."""

_POLL_S = 0.02
_ORDER, _TAKEN, _ANSWER = ".order", ".taken", ".answer"


@dataclass(frozen=True, slots=True)
class Order:
    """`what` are the keywords of the function in `decisions` that carries it out."""

    id: str
    kind: OrderKind
    what: Mapping[str, Any]
    by: str
    reason: str


def orders_folder(folder: RunFolder) -> Path:
    """Is there while a runner takes orders."""
    return folder.path / "orders"


def give(
    folder: RunFolder, kind: OrderKind, what: Mapping[str, Any], *, by: str, reason: str, wait_s: float = WAIT_S
) -> tuple[str, bool]:
    """Give an order to the runner at work and wait until it is carried out. Returns the id of the order, and whether
    the runner has answered that it is carried out; where it has not, the runner is gone, and the journal has the order
    or not.

    The error of the runner, if it refuses. BusyError if it does not take the order in time: then it never will.
    """
    place = orders_folder(folder)
    id_ = f"{time.time_ns():020}-{secrets.token_hex(4)}"
    order, taken, answer = (place / f"{id_}{suffix}" for suffix in (_ORDER, _TAKEN, _ANSWER))
    began_s = time.monotonic()
    while not place.is_dir():
        if not is_run(folder.lock):
            return id_, False
        if time.monotonic() > began_s + min(_BEGIN_S, wait_s):
            raise BusyError("the runner takes no orders now", _STOP)
        time.sleep(_POLL_S)
    try:
        write_durably(order, dumps({"kind": kind, "what": what, "by": by, "reason": reason}))
    except FileNotFoundError:  # it has ended just now
        return id_, False
    except OSError as error:
        raise PlatformError(f"cannot write {order}: {error.strerror}", "check the folder and its rights") from error
    until_s = began_s + wait_s
    while True:
        waits = order.exists() or taken.exists()
        if (said := _read(answer)) is not None:
            answer.unlink(missing_ok=True)
            if said.get("error"):
                raise _error_of(said)
            return id_, True
        if not waits or not is_run(folder.lock):
            for path in (order, taken, answer):
                path.unlink(missing_ok=True)
            return id_, False
        if time.monotonic() > until_s:
            with suppress(FileNotFoundError):  # it is being carried out: the answer comes
                order.rename(place / f".{id_}.tmp")
                (place / f".{id_}.tmp").unlink(missing_ok=True)
                raise BusyError(f"the runner has not taken the order within {wait_s:g} s; it was taken back", _STOP)
        time.sleep(_POLL_S)


_STOP = (
    "stop it with Ctrl-C there (what was played stays played), enter this command again, and run the tournament again:"
    " it continues"
)


class Inbox:
    """The runner's side: a context manager, inside of which orders are taken. Needs the lock of the run."""

    def __init__(self, folder: RunFolder) -> None:
        self._place = orders_folder(folder)

    def __enter__(self) -> Self:
        """Orders that an earlier runner left are not carried out. Their commands have ended, or get an answer that says
        so."""
        try:
            self._place.mkdir(exist_ok=True)
            for path in self._place.iterdir():
                path.unlink(missing_ok=True)
        except OSError as error:
            raise PlatformError(
                f"cannot use {self._place}: {error.strerror}", "check the folder and its rights"
            ) from error
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._place, ignore_errors=True)

    def take(self) -> Iterator[Order]:
        """The orders that have come, each claimed; the first given first. One that cannot be read is refused."""
        try:
            names = sorted(path.name for path in self._place.iterdir() if path.name.endswith(_ORDER))
        except OSError:
            return
        for name in names:
            id_ = name.removesuffix(_ORDER)
            taken = self._place / f"{id_}{_TAKEN}"
            try:
                (self._place / name).rename(taken)
            except OSError:  # it was taken back
                continue
            if (order := _parse(id_, _read(taken))) is None:
                self.answer(id_, UsageError(f"{name} is not an order", "use the crosstown command of this version"))
            else:
                yield order

    def answer(self, order_id: str, error: TournamentError | None = None) -> None:
        """Say that an order was carried out, or why not. Where that cannot be written, the journal says it."""
        said = {} if error is None else {"error": type(error).__name__, "what": str(error), "step": error.next_step}
        with suppress(OSError):
            write_durably(self._place / f"{order_id}{_ANSWER}", dumps(said))
            (self._place / f"{order_id}{_TAKEN}").unlink(missing_ok=True)


def _read(path: Path) -> dict[str, Any] | None:
    try:
        found = json.loads(read_ordinary(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _parse(id_: str, values: Mapping[str, Any] | None) -> Order | None:
    if not values or values.get("kind") not in get_args(OrderKind) or not isinstance(values.get("what"), dict):
        return None
    return Order(id_, values["kind"], values["what"], str(values.get("by", "")), str(values.get("reason", "")))


def _error_of(said: Mapping[str, Any]) -> TournamentError:
    what, step = str(said.get("what", "")), str(said.get("step", ""))
    kinds = {kind.__name__: kind for kind in (UsageError, BusyError, PlatformError)}
    return kinds.get(str(said["error"]), UsageError)(what, step)
