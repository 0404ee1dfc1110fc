"""`benchmarks/hidden_channels.py`: the rate that follows from the share of wrong guesses, and every way it measures."""

from pathlib import Path

import pytest

from benchmarks.hidden_channels import BOT, MANIFEST, WAYS, capacity, share_of_errors


@pytest.mark.parametrize(
    ("error", "slot_us", "rate"), [(0.0, 1000, 1000), (0.5, 1000, 0), (0.11, 1000, 500), (0.0, 9, 111_111)]
)
def test_a_rate_is_what_an_ideal_code_carries(error: float, slot_us: float, rate: float) -> None:
    assert capacity(error, slot_us) == pytest.approx(rate, abs=1)


@pytest.mark.slow
@pytest.mark.strict_sandbox
@pytest.mark.parametrize("way", WAYS)
async def test_each_way_can_be_measured_between_two_strict_bots(tmp_path: Path, way: str) -> None:
    """How well it carries depends on what else the machine does."""
    (tmp_path / "bot.toml").write_text(MANIFEST)
    (tmp_path / "bot.py").write_text(BOT)
    error, slot_us = await share_of_errors(tmp_path, way, max(WAYS[way]), 16)
    assert 0 <= error <= 0.5
    assert slot_us > 0
