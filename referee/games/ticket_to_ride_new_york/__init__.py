"""Ticket to Ride: New York for two to four players, whole: see README.md for the rules as implemented."""

from referee.games.ticket_to_ride_new_york.game import GAME

__all__ = ["GAME"]
