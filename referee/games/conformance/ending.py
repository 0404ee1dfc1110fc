"""The end of a match: asks nothing, ranks everyone."""

from collections.abc import Collection

from referee.games.api import GameError, State
from referee.games.conformance.failure import CheckFailed
from referee.games.conformance.trial import Trial


def check_ending(trial: Trial, state: State, gone: Collection[int]) -> None:
    """CheckFailed `ending` unless the terminal `state` ranks every seat well. `gone` are the seats that left."""
    for seat in range(trial.players):
        if unasked_actions(state, seat):
            raise CheckFailed("ending", f"the match is over and seat {seat} still has legal actions")
    ranking, returns = state.ranking(), state.returns()
    for name, values in (("ranking", ranking), ("returns", returns)):
        if type(values) is not tuple or [type(value) for value in values] != [int] * trial.players:
            raise CheckFailed("ending", f"{name}() is {values!r}, not {trial.players} integers")
    for seat, rank in enumerate(ranking):
        better = sum(other < rank for other in ranking)
        if rank != better + 1:
            raise CheckFailed(
                "ending", f"ranking {ranking}: {better} seats rank before seat {seat}, so its rank is {better + 1}"
            )
    teams = trial.game.teams(trial.players, trial.options)
    for team in sorted(set(teams)):
        ranks = {rank for rank, of in zip(ranking, teams, strict=True) if of == team}
        if len(ranks) > 1:
            raise CheckFailed("ending", f"ranking {ranking}: team {team} of {teams} holds different ranks")
    best = {team for team, rank in zip(teams, ranking, strict=True) if rank == 1}
    if len(best) > 1 and not trial.game.draws_possible and not gone:
        raise CheckFailed("ending", f"ranking {ranking} shares the first rank, and draws_possible is false")


def unasked_actions(state: State, seat: int) -> bool:
    """Whether a seat that is not asked is offered something; refusing the question is as good as an empty list."""
    try:
        return bool(state.legal_actions(seat))
    except GameError:
        return False
