"""Builds rows and record files of made-up matches; no match is played here. And a real browser."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from leaderboard.records import MatchRow, SeatRow
from referee.record import Answer, Footer, Header, RecordWriter, SeatHeader, SeatStats, Strike
from referee.record.format import EFFECT_TAKEN, seed_commitment
from referee.record.store import FileStamp

SEED = "00" * 16


@pytest.fixture
def make_row() -> Callable[..., MatchRow]:
    """make_row(place, {entry: rank, ...}) with teams and faults per seat where wanted."""

    def make(
        place: int,
        ranks: dict[str, int],
        teams: Sequence[int] | None = None,
        faults: Sequence[str] | None = None,
        times_us: Sequence[int] | None = None,
    ) -> MatchRow:
        seats = tuple(
            SeatRow(
                seat=seat,
                entry_id=entry,
                name=entry.upper(),
                version="1",
                team=seat if teams is None else teams[seat],
                rank=rank,
                points=None if faults and any(faults) else 10 - rank,
                fault="" if faults is None else faults[seat],
                decisions=2,
                total_us=0 if times_us is None else 2 * times_us[seat],
                worst_us=0 if times_us is None else times_us[seat],
                cpu_us=0,
            )
            for seat, (entry, rank) in enumerate(ranks.items())
        )
        return MatchRow(
            match_id=f"m{place:06d}-00000000",
            tournament="cup",
            place=place,
            block=place // 2,
            game="nim",
            rules_version=1,
            reason="normal",
            detail="",
            decisions=2 * len(seats),
            wall_us=1000,
            seed=SEED,
            state_hash="ab",
            created_at="2026-01-01T00:00:00Z",
            stamp=FileStamp(f"m{place:06d}-00000000.jsonl.gz", 1, 1),
            seats=seats,
        )

    return make


@pytest.fixture
def write_record() -> Callable[..., Path]:
    """write_record(folder, place, ranking) leaves a record as a match would; `status` None: no footer. `choices`: those
    of the referee for the first seat, after its answer."""

    def write(
        folder: Path,
        place: int,
        ranking: tuple[int, ...] = (1, 2),
        status: str | None = "rated",
        reason: str = "normal",
        names: Sequence[str] = ("ann", "bob"),
        lag_us: int = 0,
        choices: int = 0,
    ) -> Path:
        header = Header(
            match_id=f"m{place:06d}-00000000",
            tournament="cup",
            place=place,
            block=place // 2,
            game="nim",
            rules_version=1,
            options={},
            players=len(ranking),
            seats=tuple(SeatHeader(name * 2, name, "1") for name in names[: len(ranking)]),
            limits={"move_s": 1.0},
            seed_commitment=seed_commitment(SEED),
            created_at="2026-01-01T00:00:00Z",
            crosstown="0.1.0",
        )
        writer = RecordWriter(folder, header)
        writer.answer(Answer(0, "take(n=1)", 1500 + lag_us, 100, lag_us))
        if choices:
            writer.strike(Strike(0, "illegal_action", "as told", EFFECT_TAKEN))
        for _ in range(choices):
            writer.answer(Answer(0, "take(n=1)", 0))
        writer.flush()
        if status is None:
            writer.abandon()
            return writer.path
        rated = status == "rated"
        faults: tuple[Mapping[str, Any] | None, ...] = ()
        if choices:
            faults = ({"reason": "illegal_action"}, *[None] * (len(ranking) - 1))
        elif reason != "normal":
            faults = (None, {"reason": reason}, *[None] * (len(ranking) - 2))
        first = SeatStats(1 + choices, 1500 + lag_us, 1500 + lag_us, 100, lag_us=lag_us, worst_charged_us=1500)
        return writer.close(
            Footer(
                status=status,
                reason=reason,
                detail="as told" if reason != "normal" else "",
                seed=SEED,
                ranking=ranking if rated else (),
                returns=tuple(9 - rank for rank in ranking) if rated and reason == "normal" else (),
                state_hash="cd" if rated else "",
                seat_stats=(first, *[SeatStats()] * (len(ranking) - 1)),
                faults=faults,
                decisions=1 + choices,
                wall_us=2000,
            )
        )

    return write


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Debian's Chromium. Tests that need it are left out where it is not installed; CI forbids that.

    For one module: while it is there an event loop runs, and tests that bring their own cannot.
    """
    path = Path("/usr/bin/chromium")
    if not path.exists():
        if os.environ.get("CROSSTOWN_REQUIRE_CHROMIUM"):
            pytest.fail(f"CROSSTOWN_REQUIRE_CHROMIUM is set, but there is no {path}; apt install chromium")
        pytest.skip(f"there is no {path}; apt install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=str(path), args=arguments)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def profile(chromium: Any) -> Iterator[Any]:
    """One profile of the browser for a module: to make one takes three times as long as to open a page."""
    profile = chromium.new_context()
    yield profile
    profile.close()


@pytest.fixture
def blank(profile: Any) -> Iterator[Any]:
    """An empty page."""
    page = profile.new_page()
    yield page
    page.close()
