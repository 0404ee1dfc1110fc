"""Random play in other Python libraries of games, for `games.py`: one function for each, absent ones are left out.

Each plays a match to the end, by way of what the library offers to those who choose moves themselves: the legal moves,
one of them at random, the step, and luck by the library's own means.
"""

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from random import Random
from typing import Any


@dataclass(frozen=True, slots=True)
class Player:
    """Something that can be played at random."""

    name: str
    players: int
    play: Callable[[Random], int]
    """Plays one match and returns how many decisions it took."""


def open_spiel() -> Iterator[Player]:
    """The games of OpenSpiel that are written in Python, then some that are written in C++ and called from Python."""
    pyspiel: Any = importlib.import_module("pyspiel")
    importlib.import_module("open_spiel.python.games")
    for name in ("python_tic_tac_toe", "python_kuhn_poker", "python_block_dominoes"):
        yield _spiel_player(f"open_spiel {name}", pyspiel.load_game(name))
    for name in ("kuhn_poker", "tic_tac_toe", "othello", "chess", "go", "backgammon", "gin_rummy", "hearts"):
        yield _spiel_player(f"open_spiel C++ {name}", pyspiel.load_game(name))


def _spiel_player(title: str, game: Any) -> Player:
    def play(rng: Random) -> int:
        state, decisions = game.new_initial_state(), 0
        while not state.is_terminal():
            if state.is_chance_node():
                moves, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(rng.choices(moves, weights)[0])
            else:
                legal = state.legal_actions()
                state.apply_action(legal[int(rng.random() * len(legal))])
                decisions += 1
        return decisions

    return Player(title, game.num_players(), play)


def rlcard() -> Iterator[Player]:
    """Environments of RLCard; a step includes the observation of the next player, as arrays."""
    package: Any = importlib.import_module("rlcard")
    for name in ("blackjack", "leduc-holdem", "uno"):
        environment = package.make(name)

        def play(rng: Random, environment: Any = environment) -> int:
            state, _ = environment.reset()
            decisions = 0
            while not environment.is_over():
                legal = list(state["legal_actions"])
                state, _ = environment.step(legal[int(rng.random() * len(legal))])
                decisions += 1
            return decisions

        yield Player(f"rlcard {name}", environment.num_players, play)


def catanatron() -> Iterator[Player]:
    """Catan between four of its own random players."""
    package: Any = importlib.import_module("catanatron")
    colours = list(package.Color)

    def play(_rng: Random) -> int:
        game = package.Game([package.RandomPlayer(colour) for colour in colours])
        game.play()
        return len(game.state.actions)

    yield Player("catanatron", len(colours), play)


def python_chess() -> Iterator[Player]:
    chess: Any = importlib.import_module("chess")

    def play(rng: Random) -> int:
        board = chess.Board()
        while board.halfmove_clock < 150 and not board.is_insufficient_material():
            legal = list(board.legal_moves)
            if not legal:
                break
            board.push(legal[int(rng.random() * len(legal))])
        return len(board.move_stack)

    yield Player("python-chess", 2, play)


PEERS = {"open_spiel": open_spiel, "rlcard": rlcard, "catanatron": catanatron, "chess": python_chess}
"""By the name of the package."""


def find_peers() -> tuple[list[Player], list[str]]:
    """What is installed and works, and a line on each peer: its version, or why it is not there."""
    players, remarks = [], []
    for package, make in PEERS.items():
        try:
            players += make()
            remarks.append(f"{package} {version(package)}")
        except (ImportError, PackageNotFoundError):
            remarks.append(f"{package} absent")
        except Exception as error:  # whatever a peer of another version does
            remarks.append(f"{package} does not work ({type(error).__name__}: {error})")
    return players, remarks
