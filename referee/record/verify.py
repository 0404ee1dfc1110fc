"""Checks a record against the rules: every line, every outcome, and what the footer claims.

What this proves: the lines are as they were written, unless somebody has recomputed all chained hashes (`anchored`, the
digest that a run's journal has of the record, shows too); and such a person can only have written another match that
the rules allow, with the luck that the seed gives, and with the result that follows from it. What nothing inside one
file can prove: who sat there and how long answers took, whether a fault happened as reported, and whether the match was
meant to count. `identities` compares the first with what a run's journal knows; for the others you have to trust the
organiser, who ran the referee.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from referee.games.api import Game, state_hash
from referee.games.registry import UnknownGame, get_game
from referee.record.adjudication import Scores
from referee.record.format import Answer, FaultLine, Footer, Header, RecordError, SeatStats, Strike, seed_commitment
from referee.record.journal import mismatch
from referee.record.ranking import final_ranking, is_decided, teams_left
from referee.record.reader import NotARecordError, Problem, Record, read_record
from referee.record.reasons import OWN_FAULTS, EndReason, status_of
from referee.record.replay import FIRST_LINE, Replay, ReplayError


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found. `line` counts from 1, 0 for the whole file; `problem` is empty when all is well.

    `unfinished`: all that is there is right, but there is no footer (a match in progress, or a killed referee).
    `other_rules`: the file is whole and its seed is the one promised, but the installed game has another rules version,
    so the match cannot be played again.
    """

    path: Path
    status: Literal["ok", "unfinished", "other_rules", "wrong"]
    line: int = 0
    problem: str = ""
    match_id: str = ""

    def __str__(self) -> str:
        where = f" line {self.line}:" if self.line else ""
        return f"{self.path}: {self.status}{':' if self.problem else ''}{where} {self.problem}".rstrip()


_STATE_HASH = re.compile("[0-9a-f]{32}")

_WHOLE_FILE = 1 << 62
"""A line that is named says more than what is said of the whole file."""

Seeds: TypeAlias = Callable[[Header], Collection[str] | None]
"""The seeds that follow from the secrets of a run, for a match of it; None where they are not known."""

Identities: TypeAlias = Mapping[str, tuple[str, str]]
"""Name and version of entries by id, from where they are known to be right."""


def verify(
    path: Path,
    games: Callable[[str], Game] = get_game,
    identities: Identities | None = None,
    seeds: Seeds | None = None,
    match_id: str = "",
    anchored: str = "",
) -> Verdict:
    """Read the record in `path` and re-simulate it. Never raises for what a file contains.

    `match_id` is the match that its name says it is of, where names have to say so. `anchored` is the digest that the
    journal of its run has of it.
    """
    return verify_file(path, games, identities, seeds, match_id, anchored)[0]


def verify_file(
    path: Path,
    games: Callable[[str], Game] = get_game,
    identities: Identities | None = None,
    seeds: Seeds | None = None,
    match_id: str = "",
    anchored: str = "",
) -> tuple[Verdict, Record | None]:
    """As `verify`; and the record, if it can be read."""
    try:
        record = read_record(path)
    except RecordError as error:
        return Verdict(path, "wrong", 1 if isinstance(error, NotARecordError) else 0, str(error)), None
    return _verify_named(record, games, identities, seeds, match_id, anchored), record


def _verify_named(
    record: Record,
    games: Callable[[str], Game],
    identities: Identities | None,
    seeds: Seeds | None,
    match_id: str,
    anchored: str,
) -> Verdict:
    if match_id and record.header.match_id != match_id:
        what = f"the record is of match {record.header.match_id}: it was put under another name"
        return Verdict(record.path, "wrong", 1, what, record.header.match_id)
    if what := mismatch(record.digest, anchored):
        # It is not played again: somebody else has written it, and some options of games end the process.
        first = min(record.problems, key=lambda problem: problem.line or _WHOLE_FILE, default=Problem(0, ""))
        said = f"{first.what}; {what}" if first.what else what
        return Verdict(record.path, "wrong", first.line, said, record.header.match_id)
    return verify_record(record, games, identities, seeds)


def verify_record(
    record: Record,
    games: Callable[[str], Game] = get_game,
    identities: Identities | None = None,
    seeds: Seeds | None = None,
) -> Verdict:
    """Re-simulate a record that was read already; the first wrong line is named.

    With `identities` every seat's entry must be among them and be called as there. With `seeds` the match must have
    been played on one of them.
    """
    problems = [(problem.line, problem.what) for problem in record.problems]
    other_rules = ""
    try:
        if identities is not None:
            _check_identities(record, identities)
        other_rules = _check(record, games, seeds)
    except ReplayError as error:
        problems.append((error.line, str(error)))
    except RecordError as error:
        problems.append((0, str(error)))
    except Exception as error:  # rules may stumble over values that no match has ever had
        problems.append((0, f"the rules of {record.header.game} broke down: {type(error).__name__}: {error}"))
    match_id = record.header.match_id
    if problems:
        line, problem = min(problems, key=lambda item: item[0] or _WHOLE_FILE)
        return Verdict(record.path, "wrong", line, problem, match_id)
    if other_rules:
        return Verdict(record.path, "other_rules", 1, other_rules, match_id)
    return Verdict(record.path, "ok" if record.footer else "unfinished", match_id=match_id)


def _check(record: Record, games: Callable[[str], Game], seeds: Seeds | None) -> str:
    """Play the match again; a sentence if the installed rules are not those of the record."""
    header, footer = record.header, record.footer
    try:
        game = games(header.game)
    except UnknownGame as error:
        raise ReplayError(1, str(error)) from None
    if footer is not None:
        _check_seed(record, footer, None if seeds is None else seeds(header))
    if game.rules_version != header.rules_version:
        if footer is not None:
            end = FIRST_LINE + len(record.lines)
            _check_status(record.lines, footer, end)
            _check_hash_alone(footer, end)
            _check_statistics(record.lines, footer, header.players, end)
        return (
            f"played by rules version {header.rules_version} of {header.game}; installed is {game.rules_version}. "
            f"The moves were not played again; crosstown {header.crosstown}, which wrote the record, can do that"
        )
    replay = Replay(header, record.lines, game, None if footer is None else footer.seed)
    for _ in replay:
        pass
    if footer is None:
        return ""
    end = FIRST_LINE + len(record.lines)
    _check_status(record.lines, footer, end)
    if footer.reason == EndReason.NORMAL and not replay.state.is_terminal():
        raise ReplayError(end, "the footer says normal, but the game is not over")
    _check_statistics(record.lines, footer, header.players, end)
    if footer.status == "rated":
        if replay.waiting:
            raise ReplayError(end, "the match ends among the answers of one node")
        scored = _by_scores(record) if footer.reason == EndReason.ADJUDICATED else None
        _check_result(replay, game, footer, game.teams(header.players, header.options), scored, end)
    return ""


def _check_identities(record: Record, identities: Identities) -> None:
    for number, seat in enumerate(record.header.seats):
        known = identities.get(seat.entry_id)
        if known is None:
            raise ReplayError(1, f"seat {number} is entry {seat.entry_id}, which the run does not have")
        if known != (seat.name, seat.version):
            here, there = (f"{name!r} version {version!r}" for name, version in ((seat.name, seat.version), known))
            raise ReplayError(1, f"seat {number} is called {here}; in the run that entry is {there}")


def _check_status(lines: Sequence[object], footer: Footer, end: int) -> None:
    """Status, reason, fault lines and faults say the same, and there is a result exactly where it counts. Needs no
    rules."""
    try:
        reason = EndReason(footer.reason)
    except ValueError:
        raise ReplayError(end, f"the end reason {footer.reason[:40]!r} is not a known one") from None
    if footer.status != status_of(reason):
        raise ReplayError(
            end, f"a match that ended by {reason} is {status_of(reason)}, the footer says {footer.status}"
        )
    if footer.status != "rated":
        if footer.ranking or footer.returns or footer.state_hash:
            raise ReplayError(end, f"the footer of a {footer.status} match has a result")
        return
    last = {line.seat: line.reason for line in lines if isinstance(line, FaultLine | Strike)}
    claimed = {seat: str(fault.get("reason")) for seat, fault in enumerate(footer.faults) if fault is not None}
    if last != claimed:
        raise ReplayError(end, f"faults by seat are {last} in the lines, the footer has {claimed}")
    if any(word not in OWN_FAULTS for word in last.values()):
        raise ReplayError(end, f"a rated match with a fault that is not a seat's own: {sorted(last.values())}")
    if reason in OWN_FAULTS and reason not in last.values():
        raise ReplayError(end, f"the footer says {reason}, which no line reports")


def _check_hash_alone(footer: Footer, end: int) -> None:
    """What can be said of a final state's hash without the rules that lead there."""
    if footer.status == "rated" and not _STATE_HASH.fullmatch(footer.state_hash):
        what = repr(footer.state_hash[:80]) if footer.state_hash else "none"
        raise ReplayError(end, f"the final state has a hash of 32 hexadecimal digits, the footer has {what}")


def _check_seed(record: Record, footer: Footer, seeds: Collection[str] | None) -> None:
    line = FIRST_LINE + len(record.lines)
    try:
        commitment = seed_commitment(footer.seed)
    except ValueError:
        raise ReplayError(line, f"the seed {footer.seed[:80]!r} is not hexadecimal") from None
    if not 1 <= len(footer.seed) // 2 <= 64:
        raise ReplayError(line, "the seed is not 1 to 64 bytes long")
    if commitment != record.header.seed_commitment:
        raise ReplayError(line, f"the seed {footer.seed} is not the one the header is committed to")
    if seeds is not None and footer.seed not in seeds:
        raise ReplayError(line, f"the seed {footer.seed} does not follow from the secret of the run")


def _check_statistics(lines: Sequence[object], footer: Footer, players: int, end: int) -> None:
    rows = [SeatStats()] * players
    for line in lines:
        if isinstance(line, Answer):
            old = rows[line.seat]
            rows[line.seat] = replace(
                old,
                decisions=old.decisions + 1,
                total_us=old.total_us + line.wall_us,
                worst_us=max(old.worst_us, line.wall_us),
                lag_us=(old.lag_us or 0) + line.lag_us,
                worst_charged_us=max(old.worst_charged_us or 0, line.wall_us - line.lag_us),
            )
    counted = [(row.decisions, row.total_us, row.worst_us) for row in rows]
    claimed = [(row.decisions, row.total_us, row.worst_us) for row in footer.seat_stats]
    if counted != claimed:
        raise ReplayError(end, f"(decisions, total_us, worst_us) per seat are {counted}, the footer has {claimed}")
    for seat, (row, said) in enumerate(zip(rows, footer.seat_stats, strict=True)):
        lag = (row.lag_us or 0, row.worst_charged_us or 0)
        if said.lag_us is not None and lag != (said.lag_us, said.worst_charged_us):
            told = (said.lag_us, said.worst_charged_us)
            raise ReplayError(end, f"(lag_us, worst_charged_us) of seat {seat} are {lag}, the footer has {told}")
    total = sum(row.decisions for row in rows)
    if footer.decisions != total:
        raise ReplayError(end, f"the match has {total} decisions, the footer says {footer.decisions}")


def _by_scores(record: Record) -> tuple[int, ...] | None:
    """The ranking that follows from the scores in the notes of a match for two; None if they decide nothing."""
    scores, ranking = Scores(record.header.policy), None
    if scores.decides and record.header.players == 2:
        for line in record.lines:
            if isinstance(line, Answer):
                ranking = scores.add(line.seat, line.note)
    return ranking


def _check_result(
    replay: Replay, game: Game, footer: Footer, teams: Sequence[int], scored: tuple[int, ...] | None, end: int
) -> None:
    """`scored` is the ranking of a match that ended by the scores of its bots."""
    state, left = replay.state, replay.left
    digest = state_hash(state)
    if footer.state_hash != digest:
        raise ReplayError(end, f"the final state has the hash {digest}, the footer says {footer.state_hash}")
    terminal = state.is_terminal()
    out = all(when is not None or seat in replay.taken for seat, when in enumerate(left))
    everyone = out or teams_left(teams, left) == 0
    if not terminal and not is_decided(teams, left) and not everyone and footer.reason != EndReason.ADJUDICATED:
        raise ReplayError(end, "the footer ends a match that is not over")
    if everyone is not (footer.reason == EndReason.EVERYONE_FAULTED):
        raise ReplayError(
            end, f"the footer says {footer.reason}; {'no seat' if everyone else 'a seat'} is without fault"
        )
    ranking = final_ranking(state.ranking() if terminal else scored or [1] * len(teams), teams, left)
    if footer.ranking != ranking:
        raise ReplayError(end, f"the ranking is {list(ranking)}, the footer says {list(footer.ranking)}")
    returns = tuple(state.returns()) if terminal and not everyone else ()
    if footer.returns != returns:
        raise ReplayError(end, f"the returns are {list(returns)}, the footer says {list(footer.returns)}")
