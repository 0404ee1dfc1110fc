"""Checks a record against the rules: every line, every outcome, and what the footer claims."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from referee.games.api import Game, state_hash
from referee.games.registry import UnknownGame, get_game
from referee.record.format import Answer, Footer, RecordError, SeatStats, seed_commitment
from referee.record.ranking import final_ranking, teams_left
from referee.record.reader import Record, read_record
from referee.record.replay import FIRST_LINE, Replay, ReplayError


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found. `line` counts from 1, 0 for the whole file; `problem` is empty when all is well.

    `unfinished`: all that is there is right, but there is no footer (a match in progress, or a killed referee).
    """

    path: Path
    status: Literal["ok", "unfinished", "wrong"]
    line: int = 0
    problem: str = ""
    match_id: str = ""

    def __str__(self) -> str:
        where = f" line {self.line}:" if self.line else ""
        return f"{self.path}: {self.status}{':' if self.problem else ''}{where} {self.problem}".rstrip()


def verify(path: Path, games: Callable[[str], Game] = get_game) -> Verdict:
    """Read the record in `path` and re-simulate it. Never raises for what a file contains."""
    try:
        record = read_record(path)
    except RecordError as error:
        return Verdict(path, "wrong", 0, str(error))
    return verify_record(record, games)


def verify_record(record: Record, games: Callable[[str], Game] = get_game) -> Verdict:
    """Re-simulate a record that was read already; the first wrong line is named."""
    problems = [(problem.line, problem.what) for problem in record.problems]
    try:
        _check(record, games)
    except ReplayError as error:
        problems.append((error.line, str(error)))
    except RecordError as error:
        problems.append((0, str(error)))
    except Exception as error:  # rules may stumble over values that no match has ever had
        problems.append((0, f"the rules of {record.header.game} broke down: {type(error).__name__}: {error}"))
    match_id = record.header.match_id
    if problems:
        line, problem = min(problems, key=lambda item: item[0])
        return Verdict(record.path, "wrong", line, problem, match_id)
    return Verdict(record.path, "ok" if record.footer else "unfinished", match_id=match_id)


def _check(record: Record, games: Callable[[str], Game]) -> None:
    header, footer = record.header, record.footer
    try:
        game = games(header.game)
    except UnknownGame as error:
        raise ReplayError(1, str(error)) from None
    if game.rules_version != header.rules_version:
        raise ReplayError(
            1, f"played by rules version {header.rules_version} of {header.game}; installed is {game.rules_version}"
        )
    if footer is not None:
        _check_seed(record, footer)
    replay = Replay(header, record.lines, game, None if footer is None else footer.seed)
    for _ in replay:
        pass
    if footer is None:
        return
    end = FIRST_LINE + len(record.lines)
    _check_statistics(record.lines, footer, header.players, end)
    if footer.status == "rated":
        if replay.waiting:
            raise ReplayError(end, "the match ends among the answers of one node")
        _check_result(replay, game, footer, game.teams(header.players, header.options), end)


def _check_seed(record: Record, footer: Footer) -> None:
    line = FIRST_LINE + len(record.lines)
    try:
        commitment = seed_commitment(footer.seed)
    except ValueError:
        raise ReplayError(line, f"the seed {footer.seed[:80]!r} is not hexadecimal") from None
    if not 1 <= len(footer.seed) // 2 <= 64:
        raise ReplayError(line, "the seed is not 1 to 64 bytes long")
    if commitment != record.header.seed_commitment:
        raise ReplayError(line, f"the seed {footer.seed} is not the one the header is committed to")


def _check_statistics(lines: Sequence[object], footer: Footer, players: int, end: int) -> None:
    rows = [SeatStats()] * players
    for line in lines:
        if isinstance(line, Answer):
            old = rows[line.seat]
            rows[line.seat] = SeatStats(
                old.decisions + 1, old.total_us + line.wall_us, max(old.worst_us, line.wall_us), old.cpu_us
            )
    counted = [(row.decisions, row.total_us, row.worst_us) for row in rows]
    claimed = [(row.decisions, row.total_us, row.worst_us) for row in footer.seat_stats]
    if counted != claimed:
        raise ReplayError(end, f"(decisions, total_us, worst_us) per seat are {counted}, the footer has {claimed}")
    total = sum(row.decisions for row in rows)
    if footer.decisions != total:
        raise ReplayError(end, f"the match has {total} decisions, the footer says {footer.decisions}")


def _check_result(replay: Replay, game: Game, footer: Footer, teams: Sequence[int], end: int) -> None:
    state, left = replay.state, replay.left
    digest = state_hash(state)
    if footer.state_hash != digest:
        raise ReplayError(end, f"the final state has the hash {digest}, the footer says {footer.state_hash}")
    terminal, whole = state.is_terminal(), teams_left(teams, left)
    if not terminal and whole > 1:
        raise ReplayError(end, "the footer ends a match that is not over")
    ranking = final_ranking(state.ranking() if terminal else [1] * len(teams), teams, left)
    if footer.ranking != ranking:
        raise ReplayError(end, f"the ranking is {list(ranking)}, the footer says {list(footer.ranking)}")
    returns = tuple(state.returns()) if terminal and whole else ()
    if footer.returns != returns:
        raise ReplayError(end, f"the returns are {list(returns)}, the footer says {list(footer.returns)}")
