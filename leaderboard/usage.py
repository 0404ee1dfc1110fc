"""The usage of services such as the provider of a language model, as bots report it: per seat as text, and as sums.

Nothing but these tables depends on it: the bots count it, and it cannot be checked.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TypeAlias

from referee.record.format import Usage
from referee.texts import plural

Spent: TypeAlias = Mapping[str, float]
"""Sums over matches: `matches` in which the bot reported usage, `requests`, `prompt_tokens`, `reply_tokens`,
`provider_errors`, `unreadable`, `wait_s` and `cost_dollars`."""

_COUNTS = ("requests", "prompt_tokens", "reply_tokens", "provider_errors", "unreadable")

COLUMNS = (*_COUNTS, "wait_s", "cost_dollars")
"""Of `Spent` what tables in files have."""


def usage_text(used: Usage | None) -> str:
    """For the database: a JSON object of all counts that are not 0; '' for a bot that reported none."""
    if used is None:
        return ""
    return json.dumps({name: count for name, count in asdict(used).items() if count}, separators=(",", ":"))


def add(total: Counter[str], text: str, number: int = 1) -> None:
    """Add what `usage_text` made of one match, so many times."""
    if text:
        total["matches"] += number
        total.update({name: number * count for name, count in json.loads(text).items()})


def spent(total: Counter[str]) -> Spent | None:
    """The sums; None for a bot that never reported usage."""
    if not total["matches"]:
        return None
    sums: dict[str, float] = {name: total[name] for name in ("matches", *_COUNTS)}
    return sums | {"wait_s": total["wait_us"] / 1e6, "cost_dollars": total["cost_nanos"] / 1e9}


def spent_in(used: Usage) -> Spent:
    """The sums over one match."""
    total: Counter[str] = Counter()
    add(total, usage_text(used))
    return spent(total) or {}


def together(parts: Iterable[Spent | None]) -> Spent | None:
    """The sums of sums, such as over several games; None if there are none."""
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part or {})
    return dict(total) if total else None


def spent_words(used: Spent) -> str:
    """For people: "12 requests, 2 failed, 900 + 20 tokens, 1.2 s, $0.0005"."""
    failed = failed_requests(used)
    return (
        f"{plural(int(used['requests']), 'request')}{f', {failed} failed' if failed else ''},"
        f" {used['prompt_tokens']:.0f} + {used['reply_tokens']:.0f} tokens, {used['wait_s']:.1f} s,"
        f" {dollars(used['cost_dollars'])}"
    )


def failed_requests(used: Spent) -> int:
    """The number of requests without a usable reply."""
    return int(used["provider_errors"] + used["unreadable"])


def dollars(amount: float) -> str:
    """Short, and exact enough for one match: "$0.0123", "$12.35"."""
    return f"${amount:.2f}" if amount >= 10 else f"${amount:.4f}"
