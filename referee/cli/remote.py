"""Seats of `crosstown match` whose bots dial in from another machine: where it listens, and what their authors set."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from referee.cli.output import console
from referee.errors import UsageError
from referee.match.invitation import Invitation
from referee.process.entry import Entry, remote_bot_entry
from referee.schedule.spec import RECONNECT_S, Limits
from referee.texts import one_line
from referee.wire import Listen, ListenError
from referee.wire.public_address import (
    check_pair,
    check_public,
    own_certificate,
    parse_address,
    reached_at,
)

REMOTE = "remote"


@dataclass(frozen=True, slots=True)
class RemoteSeats:
    """`tokens` by entry id. `wait_s` is how long the match waits for its bots."""

    listen: Listen
    tokens: Mapping[str, str]
    wait_s: float
    public: str

    def guests(self, limits: Limits) -> dict[str, Invitation]:
        return {
            key: Invitation(token, limits, wait_s=self.wait_s, reconnect_s=RECONNECT_S)
            for key, token in self.tokens.items()
        }


def remote_seats(
    entries: Sequence[Entry],
    address: str | None,
    certificate: Path | None,
    key: Path | None,
    *,
    public: str,
    wait_s: float,
    folder: Path,
) -> RemoteSeats | None:
    """None without `entries`, those of remote bots. Without a certificate one is made in `folder`. UsageError."""
    if not entries:
        named = {"--listen": address, "--public": public or None, "--certificate": certificate, "--key": key}
        for option, value in named.items():
            if value is not None:
                raise UsageError(f"{option} {value} is for remote bots, and there is none", f"give --seat {REMOTE}")
        return None
    if address is None:
        raise UsageError(f"--seat {REMOTE} needs an address to listen on", "give, for instance, --listen 0.0.0.0:7000")
    if (certificate is None) != (key is None):
        raise UsageError("--certificate and --key belong together", "give both, or neither for a trial")
    try:
        host, port = parse_address(address)
        if public:
            check_public(public)
    except ValueError as error:
        raise UsageError(f"--listen, --public: {error}", "give, for instance, --listen 0.0.0.0:7000") from None
    try:
        if certificate is not None and key is not None:
            check_pair(certificate, key)
            pair = certificate.resolve(), key
        else:
            pair = own_certificate(folder.resolve(), host, public)
    except ListenError as error:
        raise UsageError(str(error), error.next_step) from None
    return RemoteSeats(
        Listen(host, port, *pair), {entry.id: secrets.token_hex(16) for entry in entries}, wait_s, public
    )


def remote_entries(seats: Sequence[str]) -> dict[int, Entry]:
    """By seat the entry of each remote bot."""
    numbers = [number for number, seat in enumerate(seats) if seat == REMOTE]
    return {number: remote_bot_entry(REMOTE if len(numbers) == 1 else f"{REMOTE} {number}") for number in numbers}


def tell_guest(names: Mapping[str, str], entry_id: str, what: str) -> None:
    """Tell that a remote bot has connected, reconnected or disconnected. `names` are those of the bots, by entry id."""
    console(stderr=True).print(one_line(f"'{names[entry_id]}' {what}"), markup=False)


def announce(remote: RemoteSeats, address: str, entries: Sequence[Entry]) -> None:
    """Tell what each author sets; `address` is where the table listens."""
    out = console(stderr=True)
    host, port = parse_address(address)
    shown = reached_at(host, port, remote.public)
    for entry in entries:
        if entry.id in remote.tokens:
            out.print(f"waiting up to {remote.wait_s:g} s for '{entry.name}'; its author sets", markup=False)
            out.print(f"    CROSSTOWN_ADDRESS={shown}", markup=False, soft_wrap=True)
            out.print(f"    CROSSTOWN_TOKEN={remote.tokens[entry.id]}", markup=False, soft_wrap=True)
            out.print(
                f"    CROSSTOWN_TLS_CA={remote.listen.certificate}  (a copy of this file)",
                markup=False,
                soft_wrap=True,
            )
            out.print("and starts the bot by hand, such as: python bot.py", markup=False)
