"""Metrics as values, and as the text that Prometheus reads. Nothing here knows of requests."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias

FORMAT: Final = "text/plain; version=0.0.4; charset=utf-8"
"""Of Prometheus' text."""

MetricKind: TypeAlias = Literal["gauge", "counter", "summary"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric with all its values. `labels` are the names, `samples` the values of the labels with the number. A
    summary's number is the sum, and `counts` has how many went into each."""

    name: str
    kind: MetricKind
    meaning: str
    labels: tuple[str, ...] = ()
    samples: Sequence[tuple[tuple[str, ...], float]] = ()
    counts: Sequence[int] = field(default=())


class Monitor(Protocol):
    """What monitoring wants to know of a ladder. Calls wait for the disk."""

    def problems(self) -> Sequence[str]:
        """Sentences on why the ladder cannot do its work; none if it can. They name no path and no person."""

    def metrics(self) -> Sequence[Metric]:
        """As of now."""


def text_of(found: Sequence[Metric]) -> bytes:
    """All metrics, with those of this process and of Python."""
    from prometheus_client import GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR, CollectorRegistry
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, SummaryMetricFamily
    from prometheus_client.core import Metric as Family
    from prometheus_client.exposition import generate_latest

    class Ladder:
        def collect(self) -> list[Family]:
            families: list[Family] = []
            for one in found:
                if one.kind == "summary":
                    summary = SummaryMetricFamily(one.name, one.meaning, labels=one.labels)
                    for (labels, total), count in zip(one.samples, one.counts, strict=True):
                        summary.add_metric(labels, count, total)
                    families.append(summary)
                    continue
                kind = CounterMetricFamily if one.kind == "counter" else GaugeMetricFamily
                family = kind(one.name, one.meaning, labels=one.labels)
                for labels, value in one.samples:
                    family.add_metric(labels, value)
                families.append(family)
            return families

    registry = CollectorRegistry()
    registry.register(Ladder())
    for collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR):
        registry.register(collector)
    return generate_latest(registry)
