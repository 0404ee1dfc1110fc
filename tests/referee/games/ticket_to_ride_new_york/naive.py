"""A second implementation of the delicate parts, by other means: names and sets, straight from the box data."""

from collections.abc import Mapping
from copy import deepcopy
from itertools import permutations, product
from typing import Any

BOX_COLORS = ("red", "orange", "green", "blue", "black", "pink")


def routes_of(box: Mapping[str, Any], owner: list[int], seat: int) -> list[Mapping[str, Any]]:
    return [route for route, holder in zip(box["routes"], owner, strict=True) if holder == seat]


def connected(box: Mapping[str, Any], owner: list[int], seat: int, one: str, other: str) -> bool:
    """Whether a chain of the seat's routes leads there: spread out until nothing new is reached."""
    reached = {one}
    while True:
        more = {
            end
            for route in routes_of(box, owner, seat)
            for end in (route["from"], route["to"])
            if {route["from"], route["to"]} & reached
        }
        if more <= reached:
            return other in reached
        reached |= more


def score(box: Mapping[str, Any], owner: list[int], seat: int, tickets: list[int]) -> dict[str, Any]:
    worth = {1: 1, 2: 2, 3: 4, 4: 7}
    mine = routes_of(box, owner, seat)
    held = [ticket for ticket in box["tickets"] if int(ticket["id"][1:]) in tickets]
    done = [ticket for ticket in held if connected(box, owner, seat, ticket["from"], ticket["to"])]
    visited = {route["from"] for route in mine} | {route["to"] for route in mine}
    return {
        "routes": sum(worth[route["length"]] for route in mine),
        "completed": tuple(ticket["id"] for ticket in done),
        "failed": tuple(ticket["id"] for ticket in held if ticket not in done),
        "tickets": sum(ticket["points"] if ticket in done else -ticket["points"] for ticket in held),
        "attractions": sum(1 for place in box["locations"] if place["attraction"] and place["code"] in visited),
    }


def ranks(totals: list[tuple[int, int]], left: list[int]) -> tuple[int, ...]:
    """From (points, completed tickets) per seat; by counting seats that stand better."""
    order = [(0, left.index(seat)) if seat in left else (1, *totals[seat]) for seat in range(len(totals))]
    return tuple(1 + sum(other > mine for other in order) for mine in order)


def halves(box: Mapping[str, Any]) -> dict[str, str]:
    """Of each half of a double route the other."""
    return {
        one["id"]: two["id"]
        for one, two in permutations(box["routes"], 2)
        if one["double"] and one["double"] == two["double"]
    }


def open_to(
    box: Mapping[str, Any], other_half: Mapping[str, str], owner: list[int], players: int, seat: int
) -> set[str]:
    """Ids of the routes that are unclaimed and that double routes leave open to the seat."""
    holders = {route["id"]: holder for route, holder in zip(box["routes"], owner, strict=True)}
    claimed = {name for name, holder in holders.items() if holder >= 0}
    blocking = claimed if players == 2 else {name for name, holder in holders.items() if holder == seat}
    return set(holders) - claimed - {other_half[name] for name in blocking if name in other_half}


def claims(box: Mapping[str, Any], free: set[str], hand: Mapping[str, int], supply: int) -> set[str]:
    """All claims of these routes that the seat can pay for, by trying every payment there could be."""
    found = set()
    for route in box["routes"]:
        if route["id"] not in free or route["length"] > supply:
            continue
        for color, taxis in product(BOX_COLORS, range(route["length"] + 1)):
            fits = route["color"] in (color, "gray")
            if fits and hand["taxi"] >= taxis and hand[color] >= route["length"] - taxis:
                card = "taxi" if taxis == route["length"] else color
                found.add(f"claim(route={route['id']},card={card},taxis={taxis})")
    return found


def shortest(box: Mapping[str, Any]) -> dict[tuple[str, str], int]:
    """Lengths of shortest paths between all locations."""
    codes = [place["code"] for place in box["locations"]]
    far = 10**6
    best = {(one, two): 0 if one == two else far for one in codes for two in codes}
    for route in box["routes"]:
        for ends in ((route["from"], route["to"]), (route["to"], route["from"])):
            best[ends] = min(best[ends], route["length"])
    for middle, one, two in product(codes, repeat=3):
        best[one, two] = min(best[one, two], best[one, middle] + best[middle, two])
    return best


OFFER_KEPT = 1
BEFORE_TURNS = ("lot", "hands", "deal_tickets", "starting_tickets")


def after_leaving(table: dict[str, Any], seat: int) -> dict[str, Any]:
    """The position after a seat has left, from the dictionary of the one before."""
    new = deepcopy(table)
    players = table["players"]
    new["left"] = [*table["left"], seat]
    playing = [other for other in range(players) if other not in new["left"]]
    offer = table["open_offers"][seat]
    if offer >= 0:
        first = sum(table["tickets"]["sizes"][:offer])
        offered = table["tickets"]["tickets"][first : first + table["tickets"]["sizes"][offer]]
        new["kept"][seat] = sorted(table["kept"][seat] + offered)
        new["tickets"]["states"][offer] = OFFER_KEPT
        new["open_offers"][seat] = -1
    # Seats that still have a last turn: as many as are left, from the one whose turn it is, those in play before.
    order = [(table["turn_seat"] + step) % players for step in range(players)]
    owed = [other for other in order if other not in table["left"]][: table["last_turns"]]
    if seat in owed:
        new["last_turns"] -= 1
    if len(playing) == 1 or (seat in owed and len(owed) == 1):
        return new | {"stage": "over"}
    following = next(other for other in [(seat + step) % players for step in range(1, players)] if other in playing)
    stage = table["stage"]
    if stage in BEFORE_TURNS or (stage == "refill" and table["after_row"] == "tickets"):
        if seat == table["first_seat"] and stage != "lot":
            new["first_seat"] = new["turn_seat"] = following
        if stage == "hands" and all(sum(table["hands"][other]) >= 2 for other in playing):
            new |= {"stage": "refill", "after_row": "tickets"}
        if stage == "deal_tickets":
            deal_on(new, playing)
    elif seat != table["turn_seat"]:
        if new["passed"] and set(playing) <= set(new["passed"]):
            new["stage"] = "over"
    elif stage == "refill":
        new["after_row"] = "end"
    else:
        new["to_draw"] = 0
        new |= {"stage": "turn", "turn_seat": following}
        if new["passed"] and set(playing) <= set(new["passed"]):
            new |= {"stage": "over", "turn_seat": seat}
    return new


def deal_on(new: dict[str, Any], playing: list[int]) -> None:
    """Starting tickets go to the next seat in play that has not got two; when all have, they choose."""
    deck = new["tickets"]
    if deck["seats"][-1] in playing and deck["sizes"][-1] < 2:
        return
    waiting = [seat for seat in playing if seat > deck["seats"][-1]]
    if not waiting:
        new["stage"] = "starting_tickets"
        return
    new["open_offers"][waiting[0]] = len(deck["seats"])
    deck["seats"].append(waiting[0])
    for column in ("sizes", "states", "returned"):
        deck[column].append(0)
