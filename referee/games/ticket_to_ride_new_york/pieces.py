"""The tickets, cards and routes of the box, for the page of the rules."""

from referee.games.drawing.pieces import Piece, PieceGroup, piece_picture
from referee.games.ticket_to_ride_new_york.board import NO_TWIN, Board, board_of
from referee.games.ticket_to_ride_new_york.data import default_data
from referee.games.ticket_to_ride_new_york.drawing import drawn_card


def pieces() -> tuple[PieceGroup, ...]:
    """See `pieces_of`."""
    board = board_of("")
    cards = default_data()["cards"]
    return (
        PieceGroup(
            "Transportation cards",
            "Cards of a colour pay for routes of that colour; a taxi replaces any card.",
            tuple(
                Piece(name.title(), f"{count} cards", picture=piece_picture(36, 32, name, drawn_card(name)))
                for name, count in cards.items()
            ),
        ),
        PieceGroup("Destination tickets", "A ticket is completed by own routes that join its ends.", _tickets(board)),
        PieceGroup("Routes", "What each route costs, and the points that it gives.", _routes(board)),
    )


def _tickets(board: Board) -> tuple[Piece, ...]:
    place = board.locations
    return tuple(
        Piece(f"{place[ticket.a].name} to {place[ticket.b].name}", f"{ticket.points} points")
        for ticket in board.tickets
    )


def _routes(board: Board) -> tuple[Piece, ...]:
    place = board.locations
    return tuple(
        Piece(
            f"{place[route.a].name} to {place[route.b].name}",
            f"{route.length} {route.color_name}{'' if route.twin == NO_TWIN else ', double'}, "
            f"{route.points} {'point' if route.points == 1 else 'points'}",
        )
        for route in board.routes
    )
