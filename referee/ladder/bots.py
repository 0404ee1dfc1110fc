"""The bots of a ladder as the runner sees them, and the rosters that list them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from referee.process.manifest import OptionValue

_ID_BYTES = 8


@dataclass(frozen=True, slots=True)
class LadderBot:
    """One active version of a bot.

    `name` is its owner's for good; `owner` is an id that tells nothing of the person, '' for a house bot; `approved` is
    False for a bot that moves nobody's rating but its own. `version` counts the hand-ins of this bot from 1.
    `content` is the hash of its sources in the store of bot versions (`referee.process.store`), and `folder` is where
    these sources lie; a `remote` bot has neither. `network`: it may use the network while it plays.

    `label` is what a remote bot says of its version in Hello. `away`: it has not been connected for long, and is in no
    division until it is back.

    `activation` counts from 1 how often this version was made active: a division that has paused the bot lets it play
    again when the number is higher than the one at which it was paused.
    """

    name: str
    owner: str
    version: int
    content: str = ""
    folder: Path = Path()
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    house: bool = False
    remote: bool = False
    network: bool = False
    activation: int = 1
    approved: bool = True
    label: str = ""
    away: bool = False

    @property
    def remembers(self) -> bool:
        """Whether it may know in one match what happened in another one that is played at the same time."""
        return self.remote or self.network


class Roster(Protocol):
    """Lists the bots of each division. The runner asks it at start, and about once a second: calls must be fast."""

    def change_count(self) -> int:
        """A number that changes whenever the result of `active` changes for any division."""

    def active(self, division: str) -> Sequence[LadderBot]:
        """The active version of each bot that plays in the division. No name is there twice."""

    def paused(self, division: str, bot: LadderBot, reason: str) -> None:
        """The breaker of the division has paused the bot, for its faults. `reason` is a sentence for its author. Said
        again after a restart, since the journal has it first."""


class Connections(Protocol):
    """Which remote bots can be seated now."""

    def connected(self, bot: LadderBot) -> bool:
        """Whether there is a connection to it, and it is this version."""

    def busy(self, bot: LadderBot) -> bool:
        """Whether it is in a match, or is awaited for one: it plays one after another."""


class NoConnections:
    """Connections of a ladder in which no division admits remote bots."""

    def connected(self, bot: LadderBot) -> bool:
        return False

    def busy(self, bot: LadderBot) -> bool:
        return False


def entry_id(bot: LadderBot, source: str) -> str:
    """The id of a version in journals and records. `source` is the id that its sources and options have: two bots may
    be handed in with the same sources, and are two bots all the same."""
    text = json.dumps([bot.name, source])
    return blake2b(text.encode(), digest_size=_ID_BYTES, person=b"crosstown-ladder").hexdigest()
