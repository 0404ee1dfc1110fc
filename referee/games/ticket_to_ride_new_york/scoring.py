"""What claims and tickets are worth, and who ranks where."""

from collections.abc import Sequence

from referee.games.ticket_to_ride_new_york.actions import ticket_id
from referee.games.ticket_to_ride_new_york.events import SeatScore
from referee.games.ticket_to_ride_new_york.tables import Tables


def components(tables: Tables, owner: Sequence[int], seat: int) -> list[int]:
    """Per location a label: equal for two locations if and only if routes of `seat` join them."""
    label = list(range(len(tables.locations)))
    for route, holder in zip(tables.routes, owner, strict=True):
        if holder == seat and label[route.a] != label[route.b]:
            old, new = label[route.a], label[route.b]
            label = [new if mark == old else mark for mark in label]
    return label


def seat_score(tables: Tables, owner: Sequence[int], seat: int, tickets: Sequence[int]) -> SeatScore:
    """The score of `seat` with these tickets (numbers), ascending."""
    label = components(tables, owner, seat)
    route_points = 0
    ends: list[bool] = [False] * len(label)
    for route, holder in zip(tables.routes, owner, strict=True):
        if holder == seat:
            route_points += route.points
            ends[route.a] = ends[route.b] = True
    ticket_points = 0
    completed: list[str] = []
    failed: list[str] = []
    for number in tickets:
        ticket = tables.tickets[number - 1]
        done = label[ticket.a] == label[ticket.b]
        ticket_points += ticket.points if done else -ticket.points
        (completed if done else failed).append(ticket_id(number))
    attractions = sum(end and worth for end, worth in zip(ends, tables.attractions, strict=True))
    return SeatScore(seat, route_points, ticket_points, attractions, tuple(completed), tuple(failed))


def rank_seats(scores: Sequence[SeatScore], left: Sequence[int]) -> tuple[int, ...]:
    """Ranks by points, then by number of completed tickets, else shared (E19).

    Seats of `left` come last, the first to leave lowest.
    """
    playing = {score.seat: (score.total, len(score.completed)) for score in scores if score.seat not in left}
    ranks = [0] * len(scores)
    for seat, value in playing.items():
        ranks[seat] = 1 + sum(other > value for other in playing.values())
    for place, seat in enumerate(left):
        ranks[seat] = len(scores) - place
    return tuple(ranks)
