"""The cross-check: Bradley-Terry for two teams, Plackett-Luce for more, by maximum likelihood.

Another model and another method than the official table's: the winner is drawn among all teams in proportion to
exp(strength), then the second among the rest, and so on (Luce, 1959; Plackett, 1975). A team's strength is the sum of
its players'. A tie counts as the mean, in the logarithm, over all orders of the tied; with two teams, as half a win
for each.

A weak prior (`PRIOR_ELO`) keeps strengths finite where one side wins all. Newton's method; the errors are from the
curvature at the end.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from leaderboard.ratings.anchors import ELO, Frame, among, centring_of, frame_of, joined, offsets_of
from leaderboard.ratings.skill import Array, Skill
from leaderboard.records import MatchRow
from leaderboard.results import Result, Team, groups_of, tally

PRIOR_ELO = 1000.0
"""Standard deviation of strengths before any result."""

_MAX_STEPS = 100
_TOLERANCE = 1e-9


def rate(matches: Iterable[MatchRow], anchors: Mapping[str, float] | None = None) -> dict[str, Skill]:
    """The strengths over rated matches, in any order. `anchors` are those that are fixed."""
    return strengths(tally(matches), anchors)


def strengths(results: Mapping[Result, int], anchors: Mapping[str, float] | None = None) -> dict[str, Skill]:
    """In Elo points above the mean of all entries that an entry has met, directly or through others, with one standard
    error; where there are anchors among these, on the scale of the anchors. The same for any order of `results`."""
    entries = sorted({entry for result in results for group in result for team in group for entry in team})
    if not entries:
        return {}
    place = {entry: number for number, entry in enumerate(entries)}
    wins = np.zeros(len(entries))
    for result in sorted(results):
        for group in result:
            for team in group:
                for entry in team:
                    wins[place[entry]] += results[result]
    choices = _gather(results, place)
    fixed = among(entries, anchors or {})
    frame = frame_of(entries, offsets_of(fixed, ELO))
    theta, covariance = _newton(wins, choices, frame)
    groups = joined(groups_of(results), fixed)
    centring = centring_of(entries, groups, fixed)
    errors = np.sqrt(np.maximum(np.diag(centring @ covariance @ centring.T), 0.0))
    theta = centring @ theta
    level = math.fsum(fixed.values()) / len(fixed) if fixed else 0.0
    levels = {entry: level for group in groups if not group.isdisjoint(fixed) for entry in group}
    return {
        entry: Skill(fixed[entry], 0.0)
        if entry in fixed
        else Skill(float(theta[i] * ELO) + levels.get(entry, 0.0), float(errors[i] * ELO))
        for i, entry in enumerate(entries)
    }


@dataclass(frozen=True, slots=True)
class _Choices:
    """One team chosen out of several, for all choices with the same sizes of teams: `players` are theirs, `rows` say
    whose each one is, `weights` how often this was."""

    players: np.ndarray[tuple[int, int], np.dtype[np.intp]]
    rows: Array
    weights: Array

    def add_to(self, theta: Array, gradient: Array, curvature: Array) -> float:
        """Adds the derivatives of the negative logarithmic likelihood; returns its part of it."""
        size = len(theta)
        odds = theta[self.players] @ self.rows.T
        most = odds.max(axis=1, keepdims=True)
        shares = np.exp(odds - most)
        total = shares.sum(axis=1, keepdims=True)
        shares /= total
        pull = self.weights[:, None] * (shares @ self.rows)
        gradient += np.bincount(self.players.ravel(), weights=pull.ravel(), minlength=size)
        inner = self.rows.T @ (shares[:, :, None] * (np.eye(shares.shape[1]) - shares[:, None, :])) @ self.rows
        flat = (self.players[:, :, None] * size + self.players[:, None, :]).ravel()
        parts = (self.weights[:, None, None] * inner).ravel()
        curvature += np.bincount(flat, weights=parts, minlength=size * size).reshape(size, size)
        return float(self.weights @ (np.log(total) + most)[:, 0])


def _newton(wins: Array, choices: list[_Choices], frame: Frame | None = None) -> tuple[Array, Array]:
    """The strengths at the maximum, and their covariance by the curvature there."""
    precision = (ELO / PRIOR_ELO) ** 2
    theta = np.zeros(len(wins)) if frame is None else frame.offset

    def look(at: Array) -> tuple[float, Array, Array]:
        gradient, curvature = precision * at - wins, precision * np.eye(len(at))
        value = precision * float(at @ at) / 2 - float(wins @ at)
        for group in choices:
            value += group.add_to(at, gradient, curvature)
        return value, gradient, curvature

    value, gradient, curvature = look(theta)
    for _ in range(_MAX_STEPS):
        if frame is None:
            step = np.linalg.solve(curvature, gradient)
        else:
            matrix = frame.matrix
            step = matrix @ np.linalg.solve(matrix.T @ curvature @ matrix, matrix.T @ gradient)
        if np.abs(step).max() < _TOLERANCE:
            break
        scale = 1.0
        while scale > 1e-6:
            found = look(theta - scale * step)
            if found[0] <= value + 1e-12 * abs(value):
                theta = theta - scale * step
                value, gradient, curvature = found
                break
            scale /= 2
        else:
            break
    if frame is None:
        return theta, np.asarray(np.linalg.inv(curvature), dtype=np.float64)
    matrix = frame.matrix
    return theta, matrix @ np.linalg.inv(matrix.T @ curvature @ matrix) @ matrix.T


def _gather(results: Mapping[Result, int], place: Mapping[str, int]) -> list[_Choices]:
    found: dict[tuple[int, ...], dict[tuple[int, ...], float]] = {}
    for result in sorted(results):
        for teams, weight in _stages(result):
            shape = tuple(map(len, teams))
            players = tuple(place[entry] for team in teams for entry in team)
            same = found.setdefault(shape, {})
            same[players] = same.get(players, 0.0) + weight * results[result]
    made: list[_Choices] = []
    for shape, weights in sorted(found.items()):
        rows = np.repeat(np.eye(len(shape)), shape, axis=1)
        made.append(_Choices(np.array(list(weights), dtype=np.intp), rows, np.array(list(weights.values()))))
    return made


def _stages(result: Result) -> Iterator[tuple[tuple[Team, ...], float]]:
    """Whom one team was chosen from, and the weight of it, over all orders of those that tied."""
    worse: tuple[Team, ...] = ()
    for group in reversed(result):
        for size in range(1, len(group) + 1):
            weight = 1 / math.comb(len(group), size)
            for left in combinations(group, size):
                yield tuple(sorted(left + worse)), weight
        worse += group
