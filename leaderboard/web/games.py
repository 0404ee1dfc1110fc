"""The front page and the games: a list with pictures, and for each game its rules, options and pieces."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from random import Random

from markupsafe import Markup
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from leaderboard.web.markdown import as_html
from leaderboard.web.pages import list_of_runs, page, there
from leaderboard.web.rights import may_watch
from leaderboard.web.rules_text import rules_text
from referee.games.api import Game, Option, resolve_options
from referee.games.conformance.game_object import readme
from referee.games.drawing import Look, PieceGroup, draw_board, pieces_of
from referee.games.registry import BrokenGame, game_ids, is_game_id, load_game
from referee.run.folder import SINGLE

PICTURE_NODES = 80
"""How far a match of random actions has come in the picture of a game."""


@dataclass(frozen=True, slots=True)
class GameCard:
    """A game in one look."""

    id: str
    title: str
    players: str
    picture: Markup


@dataclass(frozen=True, slots=True)
class Rules:
    """What the page of a game shows; computed once, since it follows from the installed game alone."""

    card: GameCard
    notes: Sequence[str]
    options: Sequence[Option]
    pieces: Sequence[PieceGroup]
    about: str
    about_says_players: bool
    """How many can play it."""
    text: Markup
    more: Markup


def front(request: Request) -> Response:
    """What this is, what is being played, who leads, and what can be played."""
    places = sorted(there(request), key=lambda place: place.name == SINGLE)  # tournaments first
    shown = request.app.state.live_boards.of(places, partial(may_watch, request))
    plays = request.app.state.play_host is not None
    return list_of_runs(request, "front.html", places, boards=shown, games=game_cards(), plays=plays)


def games(request: Request) -> Response:
    """All games of this server."""
    return page(request, "games.html", games=game_cards())


def game(request: Request) -> Response:
    """One game: how it is played, its options, and what is in its box."""
    game_id = request.path_params["game"]
    found = load_game(game_id) if is_game_id(game_id) else None
    if found is None or isinstance(found, BrokenGame):
        raise HTTPException(404, "There is no such game on this server. The page Games lists those there are.")
    return page(request, "game.html", rules=_rules(game_id), plays=request.app.state.play_host is not None)


@cache
def game_cards() -> tuple[GameCard, ...]:
    """The games that work, by title."""
    found = [load_game(name) for name in game_ids()]
    cards = [_card(game) for game in found if not isinstance(game, BrokenGame)]
    return tuple(sorted(cards, key=lambda card: card.title))


@cache
def _rules(game_id: str) -> Rules:
    found = load_game(game_id)
    assert not isinstance(found, BrokenGame)
    text = rules_text(readme(found) or "")
    return Rules(
        _card(found),
        found.notes,
        found.options,
        pieces_of(found),
        text.about,
        re.search(r"\d players", text.about) is not None,
        as_html(text.rules, 3),
        as_html(text.more, 3, "the part for authors"),
    )


@cache
def about_game(game_id: str) -> str:
    """A paragraph on what the game is about and who wins; '' for a game that has none."""
    game = load_game(game_id)
    return "" if isinstance(game, BrokenGame) else rules_text(readme(game) or "").about


def _card(game: Game) -> GameCard:
    return GameCard(game.id, game.title, players_in_words(game.player_counts), _picture(game))


def players_in_words(counts: Sequence[int]) -> str:
    """Such as "2 to 4 players", or "2 or 4 players"."""
    low, high = min(counts), max(counts)
    if low == high:
        return f"{low} players"
    if len(counts) == high - low + 1 and len(counts) > 2:
        return f"{low} to {high} players"
    return f"{', '.join(map(str, counts[:-1]))} or {counts[-1]} players"


def _picture(game: Game) -> Markup:
    """A position of a match of random actions. '' where the game of a plug-in fails at that."""
    rng = Random(7)
    try:
        options = resolve_options(game.id, game.options, {})
        players = game.player_counts[0]
        state = game.new_initial_state(players, options)
        for _ in range(PICTURE_NODES):
            if state.is_terminal():
                break
            if asked := state.decisions():
                state.apply({item.seat: rng.choice(list(state.legal_actions(item.seat))) for item in asked})
            else:
                state.apply_chance(rng.choice([outcome for outcome, _ in state.chance_outcomes()]))
        look = Look(names=("Ada", "Boole", "Curie", "Dijkstra", "Erdős", "Floyd")[:players], styled=False)
        return Markup(draw_board(game, state.observation(None), look))  # noqa: S704 - escaped where it is drawn
    except Exception:  # a plug-in may raise anything; its game then has no picture
        return Markup("")
