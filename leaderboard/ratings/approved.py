"""Ratings where some owners are not approved, so that many accounts of one person cannot move the bots of others.

For each entry a match counts as if the others who were not approved had not been at the table. So an approved entry is
moved by approved ones alone, and one that is not approved by approved ones too. Where nobody at the table was approved,
the match counts as it is.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from leaderboard.controls import unapproved_in
from leaderboard.match_table import sketched
from leaderboard.ratings.official import Official, rate_results
from leaderboard.ratings.skill import Skill
from leaderboard.records import MatchRow
from leaderboard.results import Result, result_of
from referee.record.journal import Approvals


def parts_of(match: MatchRow, unapproved: frozenset[str]) -> list[tuple[frozenset[str], MatchRow]]:
    """The matches that this one counts as, each with the entries that it moves."""
    everybody = frozenset(seat.entry_id for seat in match.seats)
    approved = everybody - unapproved
    if not unapproved or not approved:
        return [(everybody, match)]
    own = [(frozenset({entry}), _among(match, approved | {entry})) for entry in sorted(unapproved)]
    return [(approved, _among(match, approved)), *own]


def approved_parts(matches: Sequence[MatchRow], approvals: Approvals) -> Sequence[MatchRow]:
    """What matches say of approved entries alone."""
    if not approvals:
        return matches
    found = []
    for match in matches:
        unapproved = unapproved_in(match, approvals)
        if not unapproved:
            found.append(match)
        elif len(unapproved) < len({seat.entry_id for seat in match.seats}):
            found.append(parts_of(match, unapproved)[0][1])
    return found


def rate_parted(matches: Sequence[MatchRow], approvals: Approvals) -> Official:
    """The official ratings: of approved entries from what they did among each other, and then, on the same scale, of
    the others."""
    clean: Counter[Result] = Counter()
    whole: Counter[Result] = Counter()
    for match in sketched(matches):
        unapproved = unapproved_in(match, approvals)
        for moved, part in parts_of(match, unapproved):
            if (result := result_of(part)) is not None:
                whole[result] += 1
                if not moved & unapproved:
                    clean[result] += 1
    first = rate_results(clean)
    if len(whole) == len(clean):
        return first
    return _joined(first, rate_results(whole))


def _joined(first: Official, whole: Official) -> Official:
    """`first` as it is, with the entries that `whole` alone has."""
    order = list(whole.skills)
    known = [entry for entry in order if entry in first.skills]
    offset = sum(first.skills[entry].mu - whole.skills[entry].mu for entry in known) / len(known) if known else 0.0
    skills: Mapping[str, Skill] = {
        entry: first.skills.get(entry) or replace(skill, mu=skill.mu + offset) for entry, skill in whole.skills.items()
    }
    covariance = whole.covariance.copy()
    if known:
        places = [order.index(entry) for entry in known]
        earlier = list(first.skills)
        own = [earlier.index(entry) for entry in known]
        covariance[np.ix_(places, places)] = first.covariance[np.ix_(own, own)]
    return Official(
        skills,
        covariance,
        first.draw_probability if known else whole.draw_probability,
        first.sweeps + whole.sweeps,
        first.settled and whole.settled,
        whole.groups,
    )


def _among(match: MatchRow, entries: frozenset[str]) -> MatchRow:
    """The match as if these had been alone at the table."""
    return match._replace(seats=tuple(seat for seat in match.seats if seat.entry_id in entries))
