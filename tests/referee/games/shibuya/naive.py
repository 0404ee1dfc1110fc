"""A second implementation of the moving rules, plain and slow: breadth first over fields, reading only `to_dict()`.

It shares nothing with the first: no masks, no tables, its own reading of the data and the options.
"""

from collections import deque
from typing import Any

SIDES = {"S": (0, 0, 1, 0), "N": (0, 7, 1, 0), "W": (0, 0, 0, 1), "E": (7, 0, 0, 1)}


class Crossing:
    """One position from the view of the seat to move."""

    def __init__(self, saved: dict[str, Any], data: dict[str, Any]) -> None:
        self.saved = saved
        self.options = saved["options"]
        data = self.options.get("data", data)
        self.team = saved["seat"] % 2
        self.tiles = [tile["fields"] for tile in data["tile_sets"][self.options["tile_set"]]["tiles"]]
        self.looks: dict[tuple[int, int], str] = {}
        for slot, top in enumerate(saved["tops"]):
            if top:
                for field, look in zip(self.corners(slot), self.as_laid(top), strict=True):
                    self.looks[field] = look
        layout = "2p" if saved["players"] == 2 else "4p" + self.options["layout_4p"]
        self.starts: list[list[tuple[tuple[int, int], int]]] = [[], []]
        self.goals: list[list[tuple[int, int]]] = [[], []]
        for strip in data["layouts"][layout]["strips"]:
            x, y, dx, dy = SIDES[strip["side"]]
            for place in range(strip["first"], strip["last"] + 1):
                front = (x + dx * place, y + dy * place)
                if strip["holds"] == "start":
                    self.starts[strip["seat"] % 2].append((front, strip["seat"]))
                else:
                    self.goals[["red", "blue"].index(strip["team"])].append(front)
        self.standing = [{(field % 8, field // 8) for field in team["fields"]} for team in saved["teams"]]
        self.occupied = self.standing[0] | self.standing[1]

    @staticmethod
    def corners(slot: int) -> list[tuple[int, int]]:
        left, low = slot % 4 * 2, slot // 4 * 2
        return [(left, low + 1), (left + 1, low + 1), (left + 1, low), (left, low)]

    def as_laid(self, top: int) -> list[str]:
        looks = list(self.tiles[(top - 1) // 4])
        for _ in range((top - 1) % 4):
            looks.insert(0, looks.pop())
        return looks

    def open_goals(self, team: int) -> dict[tuple[int, int], int]:
        """Field before a goal with room: number of the goal."""
        taken = self.saved["teams"][team]["goals"]
        return {
            front: goal for goal, front in enumerate(self.goals[team]) if taken[goal] < self.options["goal_capacity"]
        }

    def barred(self, field: tuple[int, int]) -> bool:
        """Whether the field lies before a start or goal of the opponent that still counts."""
        other = 1 - self.team
        if self.options["front_rule_persists_after_start_or_goal_used"]:
            return field in self.goals[other] or field in [front for front, _ in self.starts[other]]
        waiting = self.saved["teams"][other]["waiting"]
        return field in self.open_goals(other) or field in [self.starts[other][start][0] for start in waiting]

    def shares_tile(self, field: tuple[int, int], own: tuple[int, int] | None) -> bool:
        """Whether another pedestrian of the colour is on the tile of `field`."""
        return any(
            (x // 2, y // 2) == (field[0] // 2, field[1] // 2) for x, y in self.standing[self.team] if (x, y) != own
        )

    def ways(self, begin: tuple[int, int], on_grid: bool) -> set[tuple[int, int]]:
        """All fields a way from `begin` can end on or is on, by one property throughout."""
        goals = self.open_goals(self.team)
        strict = not self.options["pass_through_own_goal_front"]
        found = {begin}
        for letter in (0, 1):
            seen = {begin}
            queue = deque([begin])
            while queue:
                x, y = queue.popleft()
                if strict and (x, y) in goals and not ((x, y) == begin and on_grid):
                    continue
                for field in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
                    if field in seen or field in self.occupied or field not in self.looks:
                        continue
                    if self.looks[field][letter] == self.looks[begin][letter]:
                        seen.add(field)
                        queue.append(field)
            found |= seen
        return found

    def targets(self, begin: tuple[int, int], on_grid: bool) -> set[int]:
        options = self.options
        goals = self.open_goals(self.team)
        own = begin if on_grid else None
        targets = set()
        for field in self.ways(begin, on_grid):
            x, y = field
            if on_grid and field == begin:
                if field in goals:
                    targets.add(64 + goals[field])
                if options["null_move_allowed"]:
                    targets.add(x + 8 * y)
                continue
            if not on_grid and field == begin and not options["first_move_may_stop_on_front_field"]:
                continue
            crowded, barred = self.shares_tile(field, own), self.barred(field)
            may_stop = not crowded and not barred
            if field in goals:
                tile_ok = not crowded or not options["same_colour_tile_rule_applies_to_goal_entry"]
                front_ok = not barred or not options["opponent_front_rule_applies_at_corners_even_for_goal_entry"]
                if tile_ok and front_ok:
                    targets.add(64 + goals[field])
                if options["goal_entry_automatic"]:
                    continue
            if may_stop:
                targets.add(x + 8 * y)
        return targets

    def moves(self) -> set[tuple[int, int]]:
        found = set()
        for x, y in self.standing[self.team]:
            found |= {(x + 8 * y, target) for target in self.targets((x, y), True)}
        for start in self.saved["teams"][self.team]["waiting"]:
            front, seat = self.starts[self.team][start]
            if seat == self.saved["seat"] and front in self.looks and front not in self.occupied:
                found |= {(64 + start, target) for target in self.targets(front, False)}
        return found

    def free_slots(self) -> set[int]:
        """Slots that may take a tile in the crossing phase."""
        return {
            slot
            for slot in range(16)
            if not self.saved["covered"][slot] and not self.occupied & set(self.corners(slot))
        }

    def may_build(self) -> bool:
        return sum(self.saved["stock"]) > 0 and bool(self.free_slots())

    def places(self) -> set[tuple[int, tuple[str, ...]]]:
        """Slot and looks of each way to lay the drawn tile."""
        slots = self.free_slots()
        if self.saved["phase"] == "place":
            slots = {slot for slot in range(16) if not self.saved["tops"][slot]}
        turns = range(4) if self.options["tile_rotation"] else range(1)
        return {(slot, tuple(self.as_laid(1 + 4 * self.saved["drawn"] + turn))) for slot in slots for turn in turns}


def after_leaving(saved: dict[str, Any], seat: int) -> dict[str, Any]:
    """The position after a seat has left: over, with the other team as winner, and everything where it was."""
    return saved | {"phase": "over", "winner": 1 if seat in (0, 2) else 0, "reason": "withdrawn", "withdrawn": seat}
