"""The conformance kit: random matches of any game, with every promise of the contract checked on the way.

`check_game(game)` runs it, `crosstown games check ID` prints it; `catalogue.CHECKS` says what is checked.
"""

from referee.games.conformance.catalogue import CHECKS
from referee.games.conformance.digest import match_digest
from referee.games.conformance.failure import CheckFailed, Failure
from referee.games.conformance.golden import check_golden, write_golden
from referee.games.conformance.match import Job, check_match
from referee.games.conformance.plan import Plan, make_plan
from referee.games.conformance.progress import ProgressError
from referee.games.conformance.refs import resolve
from referee.games.conformance.run import Report, check_game, run_plan
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
