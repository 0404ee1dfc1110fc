"""What is agreed with remote bots, and what is known of them: values that the runner has, too."""

from dataclasses import dataclass

from referee.schedule.spec import DEFAULTS, REMOTE_WAIT_S, Limits
from referee.wire.tokens import token_digest


@dataclass(frozen=True, slots=True)
class Invitation:
    """`token` is the remote bot's secret, at least 16 characters; or `digests` are those of its tokens, in hex.
    `limits` are announced in Welcome.

    The first match waits for the remote bot until `wait_s` after the table was opened, later ones as long as for any
    bot to start. A broken connection may be taken up again within `reconnect_s`; 0: it ends the session.
    `version` is what the bot must say in Hello; '' takes any.
    """

    token: str
    limits: Limits = DEFAULTS
    wait_s: float = REMOTE_WAIT_S
    reconnect_s: float = 0.0
    version: str = ""
    digests: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.token) < 16 and not self.digests:
            raise ValueError(f"the token of a remote bot has {len(self.token)} characters, at least 16 are needed")

    def known_digests(self) -> list[bytes]:
        """Of all tokens that it may come with."""
        return [*([token_digest(self.token)] if self.token else []), *map(bytes.fromhex, self.digests)]


@dataclass(frozen=True, slots=True)
class Seen:
    """A remote bot at this moment: whether there is a connection to it, and what it said in Hello of its version and of
    the games that it plays; () for any."""

    connected: bool
    version: str = ""
    games: tuple[str, ...] = ()
