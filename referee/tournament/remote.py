"""The bots of a tournament that dial in: their tokens, and what the table that they come to must know."""

import os
import shlex
import stat
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import ConfigError, PlatformError, why_unread
from referee.match.invitation import Invitation
from referee.process.entry import Entry
from referee.schedule.spec import Limits
from referee.tournament.reading import read_text
from referee.wire.public_address import KEEPALIVE_S, Listen, ListenError, check_pair, own_certificate, reached_at
from referee.wire.tokens import MOST_TOKEN

if TYPE_CHECKING:  # a worker reads no tournament file
    from referee.tournament.bot_sections import RemoteBot
    from referee.tournament.config import BotConfig, Tournament

LEAST_TOKEN = 16
_LEAST_S = 20.0
"""Where no bot may compute for longer."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What holds for remote bots that are named while it is listened for them already."""

    limits: Limits
    reconnect_s: float


@dataclass(frozen=True, slots=True)
class Guests:
    """Where they dial in, and by entry id who may and who that is. With `terms` others may come, too: those that
    `LocalExecutor.expect` names, and it is listened for them as long as the executor is open."""

    listen: Listen
    invited: Mapping[str, Invitation]
    entries: Mapping[str, Entry]
    public: str = ""
    """By what name bots reach this machine; '' for its own."""
    terms: Terms | None = None
    at_once: int = 1
    """Matches with guests that are played side by side; one whose guest is awaited is not played yet."""


def invite_all(tournament: "Tournament", folder: Path, gone: Container[str] = ()) -> Guests | None:
    """None if no bot dials in, but those of `gone` (entry ids). Reads the tokens; makes a certificate in `folder` if
    none is named, and takes it again while it is fresh.

    ConfigError for a token that is not there, or not fit for use; PlatformError for a certificate.
    """
    config = tournament.config
    remote = [
        (bot, bot.remote, entry)
        for bot, entry in zip(tournament.bots, tournament.entries, strict=True)
        if bot.remote is not None and entry.id not in gone
    ]
    if config.remote is None or not remote:
        return None
    invited: dict[str, Invitation] = {}
    for bot, its, entry in remote:
        path = bot.entry_list or config.path
        token = _token(path, bot, its, entry)
        if any(token == other.token for other in invited.values()):
            what = f"'{entry.name}' has the token of another bot"
            raise ConfigError(path, bot.line, what, "give each bot a token of its own")
        invited[entry.id] = Invitation(
            token,
            config.limits.with_clock(bot.clock),
            wait_s=config.remote.wait_s,
            reconnect_s=config.remote.reconnect_s,
            version=its.version,
        )
    keepalive_s = config.remote.keepalive_s or usual_keepalive_s([guest.limits for guest in invited.values()])
    return Guests(
        listen_with(replace(config.remote.listen, keepalive_s=keepalive_s), config.remote.public, folder),
        invited,
        {entry.id: entry for _, _, entry in remote},
        config.remote.public,
    )


def usual_keepalive_s(clocks: Iterable[Limits]) -> float:
    """Where the file names none: long enough for a bot that answers no ping while it computes, up to `KEEPALIVE_S`."""
    longest_s = max(
        max(clock.ready_s, max(clock.first_move_s, clock.move_s) + clock.bank_s + clock.total_s) for clock in clocks
    )
    return min(KEEPALIVE_S, max(_LEAST_S, longest_s + _LEAST_S / 2))


def listen_with(listen: Listen, public: str, folder: Path) -> Listen:
    """With the certificate that the file names; if it names none, with one in `folder`, which is made unless a fresh
    one lies there. PlatformError."""
    try:
        if listen.plain:
            return listen
        if listen.certificate is None or listen.key is None:
            certificate, key = own_certificate(folder, listen.host, public)
            return replace(listen, certificate=certificate.resolve(), key=key.resolve())
        check_pair(listen.certificate, listen.key)
    except ListenError as error:
        raise PlatformError(str(error), error.next_step) from None
    return listen


def _token(path: Path, bot: "BotConfig", its: "RemoteBot", entry: Entry) -> str:
    if its.token_file is None:
        token, where = os.environ.get(its.token_env, "").strip(), f"the environment variable {its.token_env}"
        advice = f"make one, such as: export {its.token_env}=$(openssl rand -hex 16)"
    else:
        where = str(its.token_file)
        advice = f"make one, such as: (umask 077; openssl rand -hex 16 > {shlex.quote(where)})"
        try:
            if stat.S_IMODE(its.token_file.stat().st_mode) & 0o077:
                what = f"the token of '{entry.name}' in {where} can be read by others"
                raise ConfigError(
                    path, bot.line, what, f"make it readable by you alone: chmod 600 {shlex.quote(where)}"
                )
            token = read_text(its.token_file).strip()
        except (OSError, UnicodeDecodeError) as error:
            what = f"the token of '{entry.name}': {where} cannot be read ({why_unread(error)})"
            raise ConfigError(path, bot.line, what, advice) from None
    if not token:
        raise ConfigError(path, bot.line, f"there is no token of '{entry.name}' in {where}", advice)
    if not LEAST_TOKEN <= len(token) <= MOST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        what = (
            f"the token of '{entry.name}' in {where} must be one word of {LEAST_TOKEN} to {MOST_TOKEN} ASCII characters"
        )
        raise ConfigError(path, bot.line, what, advice)
    return token


def waiting_words(guests: Guests, address: str) -> str:
    """For the organiser, once the table listens: where the bots dial in and what their authors need."""
    port = int(address.rpartition(":")[2])
    shown = reached_at(guests.listen.host, port, guests.public)
    wait_s = max(one.wait_s for one in guests.invited.values())
    who = ", ".join(f"'{entry.name}'" for entry in guests.entries.values())
    proof = "without TLS" if guests.listen.plain else f"CROSSTOWN_TLS_CA={guests.listen.certificate}"
    return f"waiting up to {wait_s:g} s for {who} at CROSSTOWN_ADDRESS={shown}, {proof}"
