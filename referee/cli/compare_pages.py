"""What `crosstown compare` found, as values and as text."""

import math
from collections import Counter, defaultdict
from dataclasses import asdict
from typing import Any

from leaderboard.sequential import Evidence, elo_of_score
from leaderboard.usage import dollars, spent_words, together
from referee.cli.output import fault_text, print_text
from referee.cli.run_pages import Played
from referee.record.journal import FailedStart
from referee.run.folder import RunFolder
from referee.run.run import Run
from referee.texts import listed, one_line, plural
from referee.tournament.config import Tournament


def outcome(tournament: Tournament, run: RunFolder, evidence: Evidence, played: Played, cap: int) -> dict[str, Any]:
    """For JSON: the verdict, the estimate with an interval that is right whenever one stops, and what more would
    take."""
    question = evidence.question
    wrong = question.alpha + question.beta  # then a verdict and the interval never contradict each other
    low, high = evidence.interval(wrong)
    faults: dict[str, Counter[str]] = defaultdict(Counter)
    for row in played.table.rows:  # one for each game
        faults[row.entry_id].update(row.faults)
    sides = [
        {
            "name": entry.name,
            "version": entry.manifest.version,
            "entry_id": entry.id,
            "faults": dict(faults[entry.id]),
            "usage": together(row.usage for row in played.table.rows if row.entry_id == entry.id),
        }
        for entry in tournament.entries[:2]
    ]
    return {
        "run": str(run.path),
        "same_bot": bool(tournament.entries[1].copy_of),
        "games": tournament.config.game,
        "a": sides[0],
        "b": sides[1],
        "verdict": evidence.verdict,
        "rounds": len(evidence.scores),
        "cap": cap,
        "matches": played.table.matches,
        "complete": played.summary.complete,
        "bounds": [question.low, question.high],
        "test": question.test,
        "llr": evidence.llr,
        "llr_bounds": list(evidence.llr_bounds),
        "alpha": question.alpha,
        "beta": question.beta,
        "score": evidence.mean,
        "interval": [low, high],
        "confidence": 1 - wrong,
        "elo": _finite(None if evidence.mean is None else elo_of_score(evidence.mean)),
        "elo_interval": [_finite(elo_of_score(low)), _finite(elo_of_score(high))],
        "evidence_for_accepting": evidence.against_low,
        "evidence_for_rejecting": evidence.against_high,
        "set_aside": list(played.summary.set_aside),
        "failed_starts": [asdict(start) for start in Run(run).failed_starts.values()],
        "more_rounds": None if evidence.verdict != "undecided" else evidence.more_blocks(),
    }


def print_outcome(found: dict[str, Any]) -> None:
    """For people."""
    a, b = one_line(found["a"]["name"]), one_line(found["b"]["name"])
    entries = [found[side]["entry_id"][:8] for side in ("a", "b")]
    print_text(f"A: {a} ({entries[0]}), B: {b} ({entries[1]}), at {found['games']}")
    rounds = plural(found["rounds"], "whole round")
    print_text(f"{rounds} of at most {found['cap']}, {plural(found['matches'], 'match')}")
    for side, name in (("a", a), ("b", b)):
        if found[side]["faults"]:
            print_text(f"faults of {name}: {fault_text(found[side]['faults'])}")
    for side, name in (("a", a), ("b", b)):
        if used := found[side].get("usage"):
            each = dollars(used["cost_dollars"] / used["matches"])
            print_text(f"language model of {name}: {spent_words(used)}; {each} a match")
    if found["score"] is not None:
        low, high = found["interval"]
        print_text(
            f"A scores {found['score']:.3f}; the {found['confidence']:.0%} interval is {low:.3f} to {high:.3f},"
            f" whenever the comparison stops; Elo {_elo(found['elo'])},"
            f" {_elo(found['elo_interval'][0])} to {_elo(found['elo_interval'][1])}"
        )
    if found["test"] == "sprt":
        least, most = found["llr_bounds"]
        print_text(f"SPRT: LLR {found['llr']:.2f} ({least:.2f} to {most:.2f})")
    for start in found["failed_starts"]:
        for line in FailedStart(**start).lines:
            print_text(one_line(line))
    print_text(_sentence(found))
    if found["same_bot"]:
        print_text(_noise(found))
    print_text(_surer(found))


def _sentence(found: dict[str, Any]) -> str:
    low, high = found["bounds"]
    share = "about" if found["test"] == "sprt" else "at most"
    if found["verdict"] == "accepted":
        wrong = f"wrong in {share} {found['alpha']:.1%} of such comparisons"
        return f"accepted: {_better(low)}: it scores more than {_bound(low)} against B ({wrong})"
    if found["verdict"] == "rejected":
        wrong = f"wrong in {share} {found['beta']:.1%} of such comparisons"
        return f"rejected: {_not_better(high)}: it scores less than {_bound(high)} against B ({wrong})"
    return (
        f"undecided: evidence that A scores more than {low:.3f} is {found['evidence_for_accepting']:.3g} of"
        f" {1 / found['alpha']:.3g}, that it scores less than {high:.3f} {found['evidence_for_rejecting']:.3g} of"
        f" {1 / found['beta']:.3g}"
    )


def _noise(found: dict[str, Any]) -> str:
    """What a comparison of a bot with itself says."""
    said = "A and B are the same bot, so that every difference between them is chance"
    low, high = found["interval"]
    rounds = plural(found["rounds"], "round")
    if found["verdict"] == "accepted":
        return f"{said}: this verdict is one of those that are wrong"
    inside = "has" if low <= 0.5 <= high else "does not have"
    return f"{said}: the interval {inside} the true score 0.500, and is {high - low:.3f} wide after {rounds}"


def _surer(found: dict[str, Any]) -> str:
    if found["verdict"] != "undecided":
        return (
            "this verdict is final: a higher --cap changes nothing; to be surer, compare again with --new and smaller"
            " --alpha and --beta, or closer bounds"
        )
    if found["set_aside"]:
        names = listed(f"'{one_line(name)}'" for name in found["set_aside"])
        return (
            f"no more rounds are played: {names} was disqualified for its faults; correct the bot, and compare again"
            " with --new"
        )
    if found["more_rounds"] is None:
        return "to be surer: more rounds (a higher --cap continues from here), or bounds further apart (with --new)"
    return (
        f"to be surer: about {plural(max(found['more_rounds'], 1), 'more round')}, if scores stay as they are"
        " (a higher --cap continues from here)"
    )


def _better(score: float) -> str:
    """What it means that A scores more than this."""
    if score == 0.5:
        return "A is better than B"
    return (
        f"A is better than B by more than {_points(score)}"
        if score > 0.5
        else (f"A is at most {_points(score)} weaker than B")
    )


def _not_better(score: float) -> str:
    """What it means that A scores less than this."""
    if score == 0.5:
        return "A is weaker than B"
    return (
        f"A is not better than B by {_points(score)}"
        if score > 0.5
        else (f"A is weaker than B by more than {_points(score)}")
    )


def _points(score: float) -> str:
    """How far a score is from that of equals."""
    elo = _finite(elo_of_score(score))
    return "what Elo can say" if elo is None else f"{abs(elo):.0f} Elo"


def _bound(score: float) -> str:
    return f"{score:.3f} (Elo {_elo(_finite(elo_of_score(score)))})"


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _elo(value: float | None) -> str:
    return "beyond what Elo can say" if value is None else f"{value:+.0f}"
