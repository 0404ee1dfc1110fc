"""How the bots of a single match or of a check are confined: as `run` does it, with options in place of the file."""

import os
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from referee.cli.output import console
from referee.errors import PlatformError, UsageError
from referee.process.checkup import Probe, SandboxError, choose_profile, probe
from referee.process.entry import Entry
from referee.process.outside import not_shown
from referee.process.paths import is_there
from referee.process.sandbox import PROFILES, Sandbox, why_no_device
from referee.texts import one_line


@dataclass(frozen=True, slots=True)
class Confinement:
    """The sandbox of every bot, and one sentence on it; `warning`: nobody asked for what it says."""

    sandbox: Sandbox
    sentence: str
    warning: bool = False


def check_env(names: Sequence[str]) -> None:
    """UsageError if one of the variables that --env names is not set."""
    if missing := [name for name in names if name not in os.environ]:
        raise UsageError(f"--env {missing[0]}: the variable is not set", f"export {missing[0]}, or leave --env out")


def settle(
    profile: str | None = None,
    *,
    network: bool = False,
    env: Sequence[str] | None = None,
    read: Sequence[Path] | None = None,
    devices: Sequence[str] | None = None,
    found: Probe | None = None,
) -> Confinement:
    """What was asked for, else strict where it works. UsageError, or PlatformError if strict does not work here."""
    if profile is not None and profile not in PROFILES:
        raise UsageError(f"--sandbox is '{profile}'", f"expected {' or '.join(PROFILES)}")
    wanted = next((known for known in PROFILES if known == profile), None)
    check_env(env or ())
    for path in read or ():
        if not is_there(path):
            raise UsageError(f"--read {path} does not exist", "name a file or a folder that is there")
    for device in devices or ():
        if why := why_no_device(device):
            raise UsageError(f"--device {device} {why}", "name a device of this machine, such as /dev/nvidia0")
    found = found or probe()
    try:
        chosen = choose_profile(wanted, found)
    except SandboxError as error:
        raise PlatformError(str(error), f"{error.next_step}; or go without: --sandbox plain") from None
    try:
        paths = tuple(str(path.resolve()) for path in read or ())
        sandbox = Sandbox(chosen, network, tuple(env or ()), paths, devices=tuple(devices or ()))
    except ValueError as error:
        raise UsageError(str(error), "correct it, or leave it out") from None
    if chosen == "strict":
        return Confinement(sandbox, f"sandbox of the bots: {sandbox}")
    if wanted == "plain":
        return Confinement(sandbox, f"no sandbox, as asked for: the bots may do what you may ({sandbox})")
    return Confinement(sandbox, found.warning, warning=True)


def hiding(confinement: Confinement, secret: Path | None) -> Confinement:
    """The same, in which no bot sees the file of a secret."""
    if secret is None:
        return confinement
    return replace(confinement, sandbox=replace(confinement.sandbox, hidden=(os.path.realpath(secret),)))


def tell(confinement: Confinement, *, quiet: bool = False) -> None:
    """On stderr, before anything starts: a warning always, else unless `quiet`."""
    notes = console(stderr=True)
    if confinement.warning:
        notes.print(one_line(f"warning: {confinement.sentence}"), markup=False, style="bold")
    elif not quiet:
        notes.print(one_line(confinement.sentence), markup=False)


def tell_unseen(confinement: Confinement, bots: Iterable[Entry | None]) -> None:
    """On stderr, before anything starts: a warning about each file that a bot's command names and its sandbox does not
    show."""
    for bot in bots:
        if bot is None or not bot.argv:  # a person, or it dials in
            continue
        for path in not_shown(bot, confinement.sandbox):
            sentence = f"warning: 'run' of '{bot.name}' names {path}, which its sandbox does not show to it"
            step = shlex.join(["--read", str(path)])
            console(stderr=True).print(one_line(f"{sentence}; grant it: {step}"), markup=False, style="bold")
