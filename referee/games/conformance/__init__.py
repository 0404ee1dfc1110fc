"""The conformance kit: plays random matches of any game and checks everything that the game contract promises.

`check_game(game)` runs the checks, `crosstown games check ID` prints the result, `checks.CHECKS` lists the checks.
"""

from referee.games.conformance.checks import CHECKS, CheckFailed, Failure
from referee.games.conformance.determinism import check_golden, match_digest, write_golden
from referee.games.conformance.game_object import resolve
from referee.games.conformance.match import Job, check_match
from referee.games.conformance.run import Plan, ProgressError, Report, check_game, make_plan, run_plan
from referee.games.conformance.tally import Tally

__all__ = [
    "CHECKS",
    "CheckFailed",
    "Failure",
    "Job",
    "Plan",
    "ProgressError",
    "Report",
    "Tally",
    "check_game",
    "check_golden",
    "check_match",
    "make_plan",
    "match_digest",
    "resolve",
    "run_plan",
    "write_golden",
]
