"""[clock], [limits], [faults] and `ponder`: what a match may take, and what a fault costs; `clock` of a bot."""

from collections.abc import Mapping

from referee.schedule.spec import (
    CLOCK_KEYS,
    DEFAULTS,
    MOST_MESSAGE_BYTES,
    POLICIES,
    RESOURCE_KEYS,
    Faults,
    Limits,
    SpecError,
)
from referee.tournament.reading import TomlFile, dotted, show

LIMIT_KEYS = ("max_message_bytes", "max_note_bytes", "max_output_bytes", "match_s", *RESOURCE_KEYS)
FAULT_KEYS = ("policy", "strikes")

LEAST = {
    "startup_s": 0.05,  # the sandbox and the smallest program take longer
    "memory_mib": 4,  # Python without a module takes 3.7 MiB
    "open_files": 64,  # what sandbox and interpreter need to begin
    "cores": 0.01,  # the kernel takes no smaller share
    "max_message_bytes": 256,  # what Hello takes
}
"""Limits with less than which no bot can start."""

Where = tuple[str | int, ...]


def read_limits(file: TomlFile) -> Limits:
    """Raises ConfigError."""
    values = {**read_clock(file, ("clock",)), **_read(file, ("limits",), LIMIT_KEYS)}
    if values.get("total_s"):  # a total stands alone unless the file says otherwise
        values = {"first_move_s": 0, "move_s": 0, **values}
    return _together(file, ("clock",), DEFAULTS, values)


def read_clock(file: TomlFile, where: Where) -> Mapping[str, float]:
    """The limits of time that the table at `where` names. Raises ConfigError."""
    return _read(file, where, CLOCK_KEYS)


def read_resources(file: TomlFile, where: Where) -> Mapping[str, float]:
    """What a bot may use of its machine, as far as the table at `where` names it. Raises ConfigError."""
    return _read(file, where, RESOURCE_KEYS)


def check_clock(file: TomlFile, where: Where, limits: Limits, clock: Mapping[str, float]) -> None:
    """ConfigError if a bot's own clock does not go together with the limits of the tournament."""
    _together(file, where, limits, clock)


def read_faults(file: TomlFile) -> Faults:
    """Raises ConfigError."""
    file.check_keys(("faults",), file.table("faults"), FAULT_KEYS)
    word = file.text_at("faults", "policy", default=POLICIES[0], example='policy = "forfeit"')
    policy = next((known for known in POLICIES if known == word), None)
    if policy is None:
        what = f"'faults.policy' must be {', '.join(POLICIES)}, not {show(word)}"
        file.fail(("faults", "policy"), what, 'write, for instance, policy = "forfeit"')
    strikes = file.integer("faults", "strikes", minimum=0, maximum=1_000_000, default=0, example="strikes = 3")
    return Faults(policy, strikes)


def read_ponder(file: TomlFile) -> bool:
    """Whether bots may think while they are not asked. Raises ConfigError."""
    ponder = file.get("ponder")
    if ponder is not None and not isinstance(ponder, bool):
        file.fail(
            ("ponder",), f"'ponder' must be true or false, not {show(ponder)}", "write ponder = false, or nothing"
        )
    return ponder is not False


def _read(file: TomlFile, where: Where, known: tuple[str, ...]) -> dict[str, float]:
    given = file.table(*where)
    file.check_keys(where, given, known)
    for name, value in given.items():
        if name == "max_message_bytes" and type(value) is int and value > MOST_MESSAGE_BYTES:
            what = f"'{dotted(*where, name)}' must be at most {MOST_MESSAGE_BYTES}, not {value}"
            file.fail((*where, name), what, f"write, for instance, {name} = {DEFAULTS.max_message_bytes}")
        try:
            # Without a total a move's limit cannot be 0; a bot's clock may stand over one that has a total.
            no_total = name == "bank_s" or (where == ("clock",) and "total_s" not in given and name != "increment_s")
            Limits(**{"total_s": 0 if no_total else 1, name: value})
        except SpecError as error:
            default = getattr(DEFAULTS, name) or 10
            what = str(error).replace(f"limit {name}", f"'{dotted(*where, name)}'")
            file.fail((*where, name), what, f"write, for instance, {name} = {_number(default)}")
        least = LEAST.get(name, 0)
        if 0 < value < least:
            what = f"'{dotted(*where, name)}' must be at least {least:g}: with {value:g} no bot can start"
            file.fail((*where, name), what, f"write, for instance, {name} = {_number(getattr(DEFAULTS, name) or 1)}")
    return dict(given)


def _number(value: float) -> str:
    """As people write it in a file: no power of ten for a count of bytes."""
    return str(value) if isinstance(value, int) else f"{value:g}"


def _together(file: TomlFile, where: Where, limits: Limits, values: Mapping[str, float]) -> Limits:
    try:
        return limits.with_clock(values)
    except SpecError as error:
        file.fail(where, f"'{dotted(*where)}': {error}", "correct these limits together")
