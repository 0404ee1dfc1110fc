"""The bots of a division: as they can be started here, and as its journal has them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from referee.ladder.bots import LadderBot
from referee.process.sandbox import Sandbox
from referee.run.machine_facts import Facts
from referee.tournament.messages import BotSetup

_TUPLES = ("env", "read", "hidden", "devices")


@dataclass(frozen=True, slots=True)
class Loaded:
    """A bot as it can be started here. `bot_id` is its id in this division, `setup` what a worker needs; `clock` are
    limits of its own; `trouble` says why it cannot be started, '' if it can; with `waits` that passes. `handed_in`: its
    files are those of a hand-in. `machine`: what of it comes from this machine; empty if it plays elsewhere."""

    bot_id: str
    setup: BotSetup
    options: Mapping[str, str | int | bool] = field(default_factory=dict)
    clock: Mapping[str, float] = field(default_factory=dict)
    trouble: str = ""
    waits: bool = False
    handed_in: bool = False
    machine: Facts = field(default_factory=dict)


@dataclass(slots=True)
class Member:
    """A version as the journal has it. `out` is the kind of control by which it is out, '' while it plays."""

    entry_id: str
    bot: LadderBot
    setup: BotSetup
    out: str = ""
    reason: str = ""
    blocks: int = 0
    playing: int = 0
    last: int = -1
    scores: list[tuple[str, float]] = field(default_factory=list)


def member_of(fields: Mapping[str, Any], activation: int, content: Path) -> Member:
    """From a line of the journal by which the bot was added. `content`: the store of what was handed in, which may lie
    elsewhere since."""
    if not fields.get("house", False) and fields.get("content") and (content / fields["content"]).is_dir():
        fields = {**fields, "folder": str(content / fields["content"] / "bot")}
    box, remote = fields.get("sandbox", {}), fields.get("remote")
    sandbox = Sandbox(**{**box, **{name: tuple(box[name]) for name in _TUPLES if name in box}})
    setup = BotSetup(
        fields["folder"],
        fields["name"],
        fields["options"],
        fields.get("source", fields["entry_id"]),
        sandbox,
        fields.get("content", ""),
        fields["entry_id"],
        fields.get("fresh", False),
        fields["name"] if remote is not None else "",
        remote["version"] if remote is not None else "",
        handed_in=remote is None and not fields.get("house", False),
    )
    bot = LadderBot(
        fields["name"],
        fields.get("owner", ""),
        int(fields.get("number", 1)),
        fields.get("content", ""),
        Path(fields["folder"]),
        fields["options"],
        house=fields.get("house", False),
        remote=remote is not None,
        activation=activation,
        label=remote["version"] if remote is not None else "",
    )
    return Member(fields["entry_id"], bot, setup)
