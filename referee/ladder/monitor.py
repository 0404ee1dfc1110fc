"""The state of a ladder for monitoring: from `ladder.db`, the disk, and the last status of the runner."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from leaderboard.web.hand_ins import HandInRefused
from leaderboard.web.metrics import Metric
from referee.ladder.config import LadderConfig
from referee.ladder.disk import DiskWatch, watch_of
from referee.ladder.runner import read_status
from referee.ladder.store import LadderStore

_SECOND_US = 1_000_000


class LadderMonitor:
    """Implements `leaderboard.web.metrics.Monitor`."""

    def __init__(
        self,
        config: LadderConfig,
        store: LadderStore,
        *,
        status: Callable[[], Mapping[str, Any]] | None = None,
        disk: DiskWatch | None = None,
    ) -> None:
        """`status`: of the divisions, as `read_status` has it; default that."""
        self._store = store
        self._status = status or (lambda: read_status(config.data))
        self._disk = disk or watch_of(config)

    def problems(self) -> Sequence[str]:
        found = []
        try:
            self._store.change_count()
        except HandInRefused:
            found.append("the ladder's database cannot be read")
        if not self._status():
            found.append("the process that plays does not run")
        if full := self._disk.stops_matches():
            found.append(full)
        return found

    def metrics(self) -> Sequence[Metric]:
        status = self._status()
        counts = {name: division["counts"] for name, division in status.items() if "counts" in division}
        by_division = [
            _gauge("bots", "Bots that may play.", status, "bots"),
            _gauge("matches_playing", "Matches in play.", status, "playing"),
            Metric(
                "crosstown_alarm",
                "gauge",
                "1 while the division has an alarm.",
                ("division",),
                [((name,), float(bool(division["alarm"]))) for name, division in status.items()],
            ),
            _counter("matches_void", "Matches that did not count.", {n: c["void"] for n, c in counts.items()}),
            _counter("matches_revoked", "Matches that counted once.", {n: c["revoked"] for n, c in counts.items()}),
            _counter(
                "decision_charged_seconds",
                "Time of decisions that counted against the bots' limits.",
                {name: one["charged_us"] / _SECOND_US for name, one in counts.items()},
            ),
            _counter(
                "decision_excused_seconds",
                "Time of decisions that did not count, since the machine kept the bot from running.",
                {name: one["excused_us"] / _SECOND_US for name, one in counts.items()},
            ),
            _by_reason("matches_rated", "Matches that count, by end reason.", counts, "rated"),
            _by_reason("faults", "Faults of bots in matches that count.", counts, "faults"),
        ]
        free = Metric("crosstown_disk_free_ratio", "gauge", "Free share of the disk.", (), [((), self._disk.free())])
        up = Metric("crosstown_runner_up", "gauge", "1 while the runner runs.", (), [((), bool(status))])
        return [*by_division, free, up, *self._hand_ins()]

    def _hand_ins(self) -> list[Metric]:
        try:
            by_status, seconds = self._store.count_by_status(), self._store.step_seconds()
        except HandInRefused:  # `/healthz` says so
            return []
        return [
            Metric(
                "crosstown_versions",
                "gauge",
                "Versions of bots by status; those that are not decided are the queue.",
                ("status",),
                [((status,), number) for status, number in sorted(by_status.items())],
            ),
            Metric(
                "crosstown_hand_in_step_seconds",
                "summary",
                "Duration of the steps of hand-ins.",
                ("step",),
                [((name,), took_s) for name, (_, took_s) in sorted(seconds.items())],
                [number for _, (number, _) in sorted(seconds.items())],
            ),
        ]


def _gauge(name: str, meaning: str, status: Mapping[str, Any], key: str) -> Metric:
    samples = [((division,), float(said[key])) for division, said in status.items()]
    return Metric(f"crosstown_{name}", "gauge", meaning, ("division",), samples)


def _counter(name: str, meaning: str, values: Mapping[str, float]) -> Metric:
    samples = [((division,), float(value)) for division, value in values.items()]
    return Metric(f"crosstown_{name}", "counter", meaning, ("division",), samples)


def _by_reason(name: str, meaning: str, counts: Mapping[str, Any], key: str) -> Metric:
    samples = [
        ((division, reason), float(number))
        for division, one in counts.items()
        for reason, number in sorted(one[key].items())
    ]
    return Metric(f"crosstown_{name}", "counter", meaning, ("division", "reason"), samples)
