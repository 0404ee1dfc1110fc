"""How the records of this folder were made. They stay as they are: what Crosstown once wrote, it has to read for ever.

    python tests/referee/record/corpus/make.py FOLDER

writes records of the present format into an empty folder, under the names of FILES and with the number of the format
before them. Those here with `v1` were written by version 0.1.0. When the format changes, make them anew into another
folder and add them here beside the old ones; when the rules of a game change, say in `test_corpus.py` that its old
record can no longer be played again, and add a new one.
"""

import gzip
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "toy_game"))

from referee.games.api import resolve_options, state_hash
from referee.games.keyed import KeyedChance
from referee.games.registry import get_game
from referee.record import (
    FORMAT,
    Answer,
    Dropped,
    FaultLine,
    Footer,
    Header,
    RecordWriter,
    SeatHeader,
    SeatStats,
    Strike,
)
from referee.record.format import open_line, seal, seed_commitment

SEED = "00112233445566778899aabbccddeeff"
HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&]]>\u202egnp\x1b[31mred\x07\r\nnext\ud83d"
NAMES = ("Ada", "Boole", "Curie", "Dijkstra", "Erdos", "Franklin")


class Play:
    """A match by seeded dice, written as the referee writes it."""

    def __init__(self, folder: Path, name: str, game_id: str = "toy", players: int = 2, **head: Any) -> None:
        self.game = get_game(game_id)
        options = resolve_options(game_id, self.game.options, {})
        header = Header(
            match_id=f"v{FORMAT}-{name}",
            tournament="corpus",
            place=0,
            block=0,
            game=game_id,
            rules_version=self.game.rules_version,
            options=options,
            players=players,
            seats=tuple(SeatHeader(f"{seat:02x}" * 8, NAMES[seat], "1.0", sandbox="strict") for seat in range(players)),
            limits={"start_s": 60.0, "first_move_s": 10.0, "move_s": 1.0},
            seed_commitment=seed_commitment(SEED),
            created_at="2026-11-28T08:00:00.000+00:00",
            crosstown="0.1.0",
        )
        self.header = replace(header, **head)
        self.writer = RecordWriter(folder, self.header)
        self.state = self.game.new_initial_state(players, options)
        self.chance = KeyedChance(bytes.fromhex(SEED))
        self.rng = Random(name)
        self.stats = [SeatStats() for _ in range(players)]
        self.faults: list[dict[str, Any] | None] = [None] * players

    def play(self, decisions: int = 10_000, note: str = "") -> "Play":
        """So many decisions more, or to the end."""
        until = self.decisions + decisions
        while not self.state.is_terminal() and self.decisions < until:
            self.step(note)
        self.writer.flush()
        return self

    def step(self, note: str = "") -> None:
        """One node: an outcome, or the answers of all that are asked."""
        if self.state.decisions():
            self.answer(lambda seat, legal: self.rng.choice(legal), note)
            return
        outcome = self.chance.choose(self.state.chance_stream(), self.state.chance_outcomes())
        self.writer.chance(outcome)
        self.state.apply_chance(outcome)

    def answer(self, choose: Callable[[int, list[Any]], Any], note: str = "") -> None:
        actions = {}
        for item in self.state.decisions():
            action = choose(item.seat, list(self.state.legal_actions(item.seat)))
            wall_us = self.rng.randrange(300, 20_000)
            old = self.stats[item.seat]
            self.stats[item.seat] = SeatStats(
                old.decisions + 1, old.total_us + wall_us, max(old.worst_us, wall_us), old.cpu_us + wall_us // 2
            )
            text = self.game.format_action(action)
            self.writer.answer(Answer(item.seat, text, wall_us, wall_us // 2, self.rng.randrange(3), note))
            actions[item.seat] = action
        self.state.apply(actions)

    def strike(self, seat: int) -> "Play":
        """The seat misses its time, and the referee makes its choice."""
        while seat not in [item.seat for item in self.state.decisions()]:
            self.step()
        detail = "answered after 1.250 s of 1 s"
        self.writer.strike(Strike(seat, "move_timeout", detail, "choice"))
        self.faults[seat] = {"reason": "move_timeout", "detail": detail, "charged_us": 1_250_000}
        self.answer(lambda _, legal: legal[0])
        return self

    def crash(self, seat: int, output: str) -> "Play":
        self.writer.dropped(Dropped(seat, "stale", "AAAA"))
        self.writer.fault(FaultLine(seat, "crashed", f"exit code 3 {output}", True))
        evidence = {"exit_code": 3, "stdout": output, "stderr": output, "board": "a board", "legal": ["pass()"]}
        self.faults[seat] = {"reason": "crashed", "detail": f"exit code 3 {output}", **evidence}
        self.state.withdraw(seat)
        return self

    @property
    def decisions(self) -> int:
        return sum(row.decisions for row in self.stats)

    def close(self, **changes: Any) -> Path:
        over = self.state.is_terminal()
        footer = Footer(
            status="rated",
            reason="normal",
            detail="",
            seed=SEED,
            ranking=tuple(self.state.ranking()) if over else (),
            returns=tuple(self.state.returns()) if over else (),
            state_hash=state_hash(self.state),
            seat_stats=tuple(self.stats),
            faults=tuple(self.faults),
            decisions=self.decisions,
            wall_us=sum(row.total_us for row in self.stats) + 250_000,
        )
        return self.writer.close(replace(footer, **changes))


def changed(path: Path, change: Callable[[list[str]], list[str]], *, chain: bool) -> None:
    """Writes other lines into a record, with right chains if asked."""
    closed = path.name.endswith(".gz")
    data = path.read_bytes()
    lines = change((gzip.decompress(data) if closed else data).decode("ascii").splitlines())
    last, sealed = "", []
    for line in lines:
        whole, last = seal(last, open_line(line)[0])
        sealed.append(whole if chain else line + "\n")
    text = "".join(sealed).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if closed else text)


def first(old: str, new: str) -> Callable[[list[str]], list[str]]:
    """Replaces the first `old` in the lines."""

    def change(lines: list[str]) -> list[str]:
        at = next(number for number, line in enumerate(lines) if old in line)
        return [*lines[:at], lines[at].replace(old, new, 1), *lines[at + 1 :]]

    return change


def make(folder: Path) -> None:
    """All of them."""
    if folder.exists() and any(folder.iterdir()):
        raise SystemExit(f"{folder} is not empty")
    for game, players in (
        ("king_of_new_york", 3),
        ("manhattan_traffiq", 2),
        ("shibuya", 2),
        ("ticket_to_ride_new_york", 3),
        ("toy", 3),
    ):
        version = get_game(game).rules_version
        name = game if version == 1 else f"{game}-rules{version}"
        Play(folder, name, game, players).play(note="" if game != "toy" else "I see").close()
    Play(folder, "crashed").play(4).crash(1, "last words\n").close(reason="crashed", ranking=(1, 2))
    hostile = tuple(SeatHeader(f"{seat:02x}" * 8, f"{seat}{HOSTILE}", HOSTILE) for seat in range(2))
    crash = Play(folder, "hostile", seats=hostile, created_at=HOSTILE, tournament=HOSTILE).play(2, note=HOSTILE)
    crash.play(2, note="x" * 1_000_000).crash(1, HOSTILE + "y" * 1_000_000)
    crash.close(reason="crashed", detail=HOSTILE, ranking=(1, 2))
    Play(folder, "strike", policy={"policy": "default", "strikes": 2}).play(3).strike(1).play().close()
    nothing: dict[str, Any] = {"ranking": (), "returns": (), "state_hash": ""}
    Play(folder, "void").play(3).close(
        status="void", reason="platform_fault", detail="the disk is full", trouble="Traceback: disk", **nothing
    )
    Play(folder, "not-started").close(status="void", reason="start_failed", detail="Ada did not start", **nothing)
    Play(folder, "cancelled").play(2).close(
        status="cancelled", reason="cancelled", detail="by the organiser", **nothing
    )
    Play(folder, "unknown-game").play().close()
    Play(folder, "other-rules").play().close()
    Play(folder, "newer-format").play().close()
    Play(folder, "older-format").play().close()
    Play(folder, "changed-move").play().close()
    Play(folder, "other-move").play().close()
    Play(folder, "cut-closed").play().close()
    Play(folder, "no-footer").play().close()
    for name in ("live", "cut-line", "cut-header"):
        Play(folder, name).play(5).writer.abandon()
    spoil(folder)


def spoil(folder: Path) -> None:
    """What disks, other versions and other people do to records."""

    def path(name: str) -> Path:
        return next(folder.glob(f"v{FORMAT}-{name}.jsonl*"))

    changed(path("unknown-game"), first('"game":"toy"', '"game":"checkers"'), chain=True)
    changed(path("other-rules"), first('"rules_version":1', '"rules_version":99'), chain=True)
    changed(path("newer-format"), first(f'"format":{FORMAT}', f'"format":{FORMAT + 1}'), chain=True)
    changed(path("older-format"), first(f'"format":{FORMAT}', '"format":0'), chain=True)
    changed(path("changed-move"), first("draw()", "nonsense()"), chain=False)
    changed(path("other-move"), first("draw()", "nonsense()"), chain=True)
    changed(path("no-footer"), lambda lines: lines[:-1], chain=False)
    for name, keep in (("cut-closed", 0.6), ("cut-line", 0.97), ("cut-header", 0.1)):
        data = path(name).read_bytes()
        path(name).write_bytes(data[: int(len(data) * keep)])


if __name__ == "__main__":
    make(Path(sys.argv[1]))
