"""The board as SVG: headline, boroughs, dice, cards, seats; and where on it actions and events lie."""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from referee.games.api import Action
from referee.games.drawing.look import Look
from referee.games.drawing.parts import WIDTH, circle, moved, number, path, picture, rect, text
from referee.games.drawing.spots import Spots, spots_of
from referee.games.drawing.text import cut, seat_name, width_of
from referee.games.king_of_new_york import actions as act
from referee.games.king_of_new_york import events as ev
from referee.games.king_of_new_york.constants import (
    BOROUGHS,
    FACES,
    GOALS,
    MANHATTAN,
    MONSTERS,
    NO_CARD,
    NO_SEAT,
    NO_TILE,
    NOWHERE,
    STACKS_PER_BOROUGH,
    UNIT_KINDS,
    UNITS,
    ZONE_COUNT,
    ZONES,
)
from referee.games.king_of_new_york.data import default_data, shipped_card_ids
from referee.games.king_of_new_york.observation import Observation

_HEAD, _GAP = 28, 3
_QUESTIONS = {
    "place": "place the monster",
    "before_roll": "roll, or act before",
    "dice": "keep or reroll",
    "convert": "turn dice by cards?",
    "hail": "hail cabs?",
    "resolve": "resolve a face",
    "destroy": "destroy what?",
    "move": "move?",
    "buy": "buy?",
    "flee": "flee Manhattan?",
    "leave": "leave Manhattan",
    "respond": "respond to the damage",
    "pay": "how to pay?",
    "push": "push a Unit?",
    "discard": "discard a card",
    "photo": "name a monster",
    "trade": "points into energy?",
}
_ENDINGS = {
    "last_standing": "the last one alive",
    "withdrawals": "the last one that stayed",
}

# Names


@cache
def printed_cards() -> dict[str, dict[str, Any]]:
    """The cards of `data/cards.json` by id, with name, type and text."""
    return {card["id"]: card for card in default_data()["cards"]}


def cards_of(cards: int) -> list[str]:
    """The ids of a set of cards."""
    return [card for number, card in enumerate(shipped_card_ids()) if cards >> number & 1]


def _card_text(card: str) -> str:
    printed = printed_cards()[card]
    return f"{printed['name']} ({printed['type']}): {printed['text']}"


def title(name: str) -> str:
    """An identifier as a title, such as "Statue of Liberty"."""
    return name.replace("_", " ").title().replace(" Of ", " of ")


def question_words(kind: str) -> str:
    """What a seat is asked, in words."""
    return _QUESTIONS.get(kind, kind.replace("_", " "))


def ending_words(reason: str) -> str:
    """Why a match is over, in words."""
    return _ENDINGS.get(reason, reason.replace("_", " "))


def begun(o: Observation) -> bool:
    """Whether the first turn has begun: before it the monsters roll for it, and are placed."""
    return any(o.holdings.turns)


def turn_words(o: Observation, active: str) -> str:
    """Whose turn it is, where `active` is the name of the active seat."""
    return f"turn of {active}" if begun(o) else "before the first turn"


def place_name(o: Observation, seat: int) -> str:
    """Where a monster is."""
    borough = o.seats.borough[seat]
    if o.holdings.out[seat]:
        return "out"
    if borough == NOWHERE:
        return "not placed"
    if borough == MANHATTAN:
        space = o.seats.space[seat]
        return f"{ZONES[space % ZONE_COUNT].title()} Manhattan, {'5-6' if space >= ZONE_COUNT else '2-4'}"
    return title(BOROUGHS[borough])


# The whole board


def draw(observation: Observation, look: Look, revealed: Sequence[Any] = ()) -> str:
    """See `Drawing.draw`. The game has no secrets, so `revealed` adds nothing."""
    o = observation
    spots = spots_of((action_places(o, action) for action in look.legal), look)
    dice = _HEAD + _MAP_HEIGHT
    cards = dice + _DICE_HEIGHT
    y = cards + _CARDS_HEIGHT
    seats = []
    for seat in range(o.setting.players):
        content, height = _seat_parts(o, seat, look, spots)
        seats.append(moved(0, y, content))
        y += height + _GAP
    headline = _headline(o, look)
    sign = o.asked_seat if o.asked_seat != NO_SEAT else o.winner_seat if o.reason else o.active_seat
    if not begun(o) and o.asked_seat == NO_SEAT:
        sign = NO_SEAT
    return picture(
        WIDTH,
        y + 1,
        title=f"King of New York. {headline}",
        description=_description(o, look),
        look=look,
        spots=spots,
        content=[
            _monster(18, 15, sign, 9) if sign != NO_SEAT else "",
            text(36, 18, headline, size=11.5, css="ink b", width=WIDTH - 40),
            moved(0, _HEAD, "".join(_borough_parts(o, spots))),
            moved(0, dice, "".join(_dice_parts(o, _notes(o, look), spots))),
            moved(0, cards, "".join(_card_parts(o, spots))),
            *seats,
        ],
    )


def _headline(o: Observation, look: Look) -> str:
    if o.reason:
        winner = "nobody" if o.winner_seat == NO_SEAT else seat_name(look, o.winner_seat, MONSTERS[o.winner_seat])
        return f"{winner} has won ({ending_words(o.reason)})"
    turn = turn_words(o, seat_name(look, o.active_seat, MONSTERS[o.active_seat]))
    if o.asked_seat == NO_SEAT:
        return f"{turn}; chance decides"
    question = question_words(o.question)
    return f"{seat_name(look, o.asked_seat, MONSTERS[o.asked_seat])}: {question}; {turn}"


def _notes(o: Observation, look: Look) -> list[str]:
    """What the roll and the turn are about."""

    def who(seat: int) -> str:
        return seat_name(look, seat, MONSTERS[seat])

    now = o.turn_state
    notes = [f"rerolls left {now.rerolls}" if any(now.dice) or any(now.bonus) else "no dice to resolve"]
    if now.force:
        notes.append(f"destruction left {now.force}" + (" (Units only)" if now.units_only else ""))
    if now.rides:
        notes.append(f"Subway moves left {now.rides}")
    if o.cards.claims:
        notes.append(f"next Keep card: {', '.join(map(who, o.cards.claims))}")
    if o.cards.extra_turns:
        notes.append(f"extra turns: {', '.join(who(turn >> 1) for turn in o.cards.extra_turns)}")
    return notes


def _description(o: Observation, look: Look) -> str:
    seats = o.seats
    return " ".join(
        f"{seat_name(look, seat, MONSTERS[seat])}: {seats.life[seat]} life, {seats.vp[seat]} points, "
        f"{seats.energy[seat]} energy, {place_name(o, seat)}."
        for seat in range(o.setting.players)
    )


def action_places(observation: Observation, action: Action) -> tuple[str, ...]:
    """See `Drawing.action_places`."""
    o = observation
    match action:
        case (
            act.Place(borough)
            | act.Move(borough)
            | act.Dash(borough)
            | act.Ride(borough)
            | act.Flee(borough)
            | act.Leave(borough)
            | act.Redirect(borough)
        ):
            return (f"borough:{borough}",)
        case act.Push(unit, borough):
            return (f"unit:{BOROUGHS[o.seats.borough[o.asked_seat]]}-{unit}", f"borough:{borough}")
        case act.DestroyBuilding(stack):
            return (f"stack:{stack}",)
        case act.DestroyUnit(borough, unit):
            return (f"unit:{borough}-{unit}",)
        case act.Resolve(face) | act.Remove(face):
            return (f"die:{face}",)
        case act.Swap(die, _):
            return (f"die:{die}",)
        case act.Reroll(counts):
            return tuple(f"die:{face}" for face, count in zip(FACES, counts, strict=True) if count)
        case act.Buy(card):
            return (f"card:{card}",)
        case act.Scavenge():
            return ("discards",)
        case act.Sweep():
            return ("sweep",)
        case act.Photo(seat):
            return (f"seat:{seat}",)
        case act.Discard() | act.Shed():
            return (f"seat:{o.asked_seat}",)
    return ()


def event_places(payload: Any) -> tuple[str, ...]:
    """See `Drawing.event_places`."""
    match payload:
        case ev.TileShown(stack) | ev.BuildingDestroyed(_, stack):
            return (f"stack:{stack}",)
        case ev.CardShown(_, card):
            return (f"card:{card}",)
        case ev.Added(_, face) | ev.Resolved(_, face):
            return (f"die:{face}",)
        case ev.UnitDestroyed(_, borough, unit):
            return (f"unit:{borough}-{unit}",)
        case ev.UnitPushed(_, unit, left, borough):
            return (f"unit:{left}-{unit}", f"unit:{borough}-{unit}")
        case ev.Placed(_, borough) | ev.Moved(_, borough) | ev.SouvenirPlaced(_, borough):
            return (f"borough:{borough}",)
        case ev.Gained(seat) | ev.Hurt(seat) | ev.Eliminated(seat) | ev.Bought(seat) | ev.TokensChanged(seat):
            return (f"seat:{seat}",)
    return ()


# Boroughs

_MAP_HEIGHT = 326
_WIDE, _HIGH, _TALL = 193, 100, 206
_BOXES = ((4, 4), (203, 220), (203, 112), (203, 4), (4, 220))
"""Top left corners by borough: Manhattan with Staten Island below it, the others on the right from north to south."""
_TILE_W, _TILE_H, _PITCH = 43, 46, 47
_TRACK_2_4, _TRACK_5_6 = 96, 146


def _borough_parts(o: Observation, spots: Spots) -> Iterator[str]:
    """The map from (0, 0), `_MAP_HEIGHT` high."""
    yield rect(0, 0, WIDTH, _MAP_HEIGHT, "water")
    for borough in range(len(BOROUGHS)):
        yield _borough(o, borough, spots)


def _borough(o: Observation, borough: int, spots: Spots) -> str:
    x, y = _BOXES[borough]
    name = BOROUGHS[borough]
    high = _TALL if borough == MANHATTAN else _HIGH
    parts = [rect(x, y, _WIDE, high, "land edge", radius=8), text(x + 8, y + 14, title(name), size=11.5, css="ink b")]
    if o.board.souvenirs >> borough & 1:
        parts.append(text(x + _WIDE - 8, y + 14, "Souvenir", size=10, css="ink e"))
    for place in range(STACKS_PER_BOROUGH):
        parts.append(_stack(o, borough * STACKS_PER_BOROUGH + place, x + 8 + _PITCH * place, y + 24, spots))
    for unit in range(UNIT_KINDS):
        parts.append(_units(o, borough, unit, x + 8 + _PITCH * unit, y + 76, spots))
    if borough == MANHATTAN:
        parts += _zones(o, x, y + 100)
    else:
        there = [seat for seat in range(o.setting.players) if o.seats.borough[seat] == borough]
        for place, seat in enumerate(there):
            parts.append(_monster(x + _WIDE - 23 + 13 * (place // 3), y + 36 + 27 * (place % 3), seat))
    halo = rect(x, y, _WIDE, high, "halo", radius=8)
    return spots.spot(f"borough:{name}", title(name), "".join(parts), halo)


def _stack(o: Observation, stack: int, x: float, y: float, spots: Spots) -> str:
    kind, below = o.board.tops[stack], o.board.covered[stack]
    halo = rect(x - 2, y - 2, _TILE_W + 4, _TILE_H + 4, "halo", radius=4)
    if kind == NO_TILE:
        content = rect(x, y, _TILE_W, _TILE_H, "hole edge dash", radius=3)
        return spots.spot(f"stack:{stack}", f"stack {stack}: used up", content, halo)
    at, setting = kind - 1, o.setting
    name, needed = setting.tile_names[at], setting.tile_durability[at]
    rewards = _rewards(setting.tile_vp[at], setting.tile_energy[at], setting.tile_life[at])
    building = name.rstrip("0123456789").rstrip("_")
    tooltip = f"stack {stack}: {title(building)}, {needed} destruction, {_gives(rewards)}, {below} tiles below"
    return spots.spot(f"stack:{stack}", tooltip, _tile(building, needed, rewards, below, x, y), halo)


def _rewards(vp: int, energy: int, life: int) -> tuple[tuple[str, int], ...]:
    return tuple((what, amount) for what, amount in (("vp", vp), ("energy", energy), ("life", life)) if amount)


def _gives(rewards: tuple[tuple[str, int], ...]) -> str:
    return "gives " + (", ".join(f"{amount} {'VP' if what == 'vp' else what}" for what, amount in rewards) or "nothing")


@lru_cache(maxsize=4096)
def _tile(building: str, needed: int, rewards: tuple[tuple[str, int], ...], below: int, x: float, y: float) -> str:
    fill = _BUILDING_FILLS.get(building, "gray")
    parts = [
        rect(x + 2 * step, y - 2 * step, _TILE_W, _TILE_H, "f-road edge", radius=3) for step in range(below, 0, -1)
    ]
    parts.append(rect(x, y, _TILE_W, _TILE_H, f"f-{fill} piece", radius=3))
    if building in _BUILDING_FILLS:
        parts.append(_icon(building, x + 28, y + 15, 19, "f-black"))
    else:
        parts.append(text(x + 28, y + 19, building[:2].title(), size=12, css=f"on-{fill} b m"))
    parts += [
        circle(x + 10, y + 11, 7.5, "f-white piece"),
        text(x + 10, y + 15, str(needed), size=11, css="on-white b m"),
    ]
    for place, (what, amount) in enumerate(rewards):
        left = x + 4 + 20 * place
        parts.append(text(left, y + 41, f"{amount}", size=12, css=f"on-{fill} b"))
        parts.append(_icon(what, left + 13, y + 37, 10, "f-black"))
    if below:
        parts.append(text(x + _TILE_W - 3, y + 41, f"+{below}", size=10, css=f"on-{fill} e"))
    return "".join(parts)


def _units(o: Observation, borough: int, unit: int, x: float, y: float, spots: Spots) -> str:
    place = borough * UNIT_KINDS + unit
    count, fresh = o.board.units[place], o.board.fresh_units[place]
    if not count:
        return ""
    setting, name = o.setting, UNITS[unit]
    rewards = _rewards(setting.unit_vp[unit], setting.unit_energy[unit], setting.unit_life[unit])
    new = f", {fresh} of them new" if fresh else ""
    tooltip = f"{count} {name}{new}, {setting.unit_durability[unit]} destruction each, {_gives(rewards)}"
    content = rect(x, y, _TILE_W, 18, "f-white edge", radius=3) + _icon(name, x + 11, y + 9, 13, "f-black")
    shown = f"{count}*" if fresh else str(count)
    content += text(x + 21, y + 13.5, shown, size=11.5, css="on-white b")
    return spots.spot(
        f"unit:{BOROUGHS[borough]}-{name}", tooltip, content, rect(x - 1, y - 1, 45, 20, "halo", radius=4)
    )


def _zones(o: Observation, x: float, y: float) -> Iterator[str]:
    """Upper Manhattan on top."""
    two = o.setting.players > 4
    for row, zone in enumerate(reversed(range(ZONE_COUNT))):
        top = y + 34 * row
        yield rect(x + 8, top, _WIDE - 16, 31, "panel edge", radius=4)
        yield text(x + 15, top + 19.5, ZONES[zone].title(), size=10.5, css="ink")
        tracks = ((zone, _TRACK_2_4), (zone + ZONE_COUNT, _TRACK_5_6)) if two else ((zone, _TRACK_2_4 + 25),)
        for space, right in tracks:
            here = [seat for seat in range(o.setting.players) if _is_at(o, seat, space)]
            yield circle(x + right, top + 16, 11.5, "hole edge dash")
            if two and not here:
                yield text(x + right, top + 19.5, "5-6" if space >= ZONE_COUNT else "2-4", size=10, css="soft m")
            for seat in here:
                yield _monster(x + right, top + 17, seat)


def _is_at(o: Observation, seat: int, space: int) -> bool:
    return o.seats.borough[seat] == MANHATTAN and o.seats.space[seat] == space


# Dice, cards and seats

_DICE_HEIGHT, _CARDS_HEIGHT = 68, 70
_DIE, _DIE_PITCH, _DICE_ACROSS = 26, 28, 11
_FACE = 37
"""The least width for the dice of a face: that of its word."""
_SEAT, _LINE, _LEFT = 25, 13, 36
_CARD_WIDTH, _CARD_PITCH = 110, 114
_TITLE_WIDTHS = (72, 98, 58)
"""Of the rows of a card's title: the cost stands beside the first, the type beside the last."""


def _dice_parts(o: Observation, notes: Sequence[str], spots: Spots) -> Iterator[str]:
    """The roll from (0, 0), `_DICE_HEIGHT` high: dice to resolve, added results, dice resolved."""
    now = o.turn_state
    yield text(8, 14, "; ".join(notes), size=10.5, css="soft", width=WIDTH - 16)
    x = 8.0
    crowded = sum(now.dice) + sum(now.bonus) > _DICE_ACROSS
    for face, (count, added) in enumerate(zip(now.dice, now.bonus, strict=True)):
        if not count + added:
            continue
        if crowded:
            content = _die(face, x, added=not count) + text(x + 31, 40, f"\u00d7{count + added}", size=12, css="ink b")
            width = 2 * _DIE_PITCH
        else:
            width = max(_FACE, _DIE_PITCH * (count + added))
            left = x + (width - _DIE_PITCH * (count + added)) / 2
            content = "".join(
                _die(face, left + _DIE_PITCH * step, added=step >= count) for step in range(count + added)
            )
        content += text(x + width / 2 - 1, 60, _FACE_WORDS[face], size=10, css="ink m")
        tooltip = f"{count} {FACES[face]}" + (f" and {added} added" if added else "")
        halo = rect(x - 2, 20, width + 2, 44, "halo", radius=5)
        yield spots.spot(f"die:{FACES[face]}", tooltip, content, halo)
        x += width + 6
    if any(now.shown):
        yield text(min(x, WIDTH - 44), 60, "resolved", size=10, css="soft")
    for face, count in enumerate(now.shown):
        for _ in range(count):
            if x + 20 < WIDTH:
                yield _resolved(face, x)
            x += 21


def _die(face: int, x: float, *, added: bool) -> str:
    box = rect(x, 22, _DIE, _DIE, "f-white edge dash" if added else "f-white piece", radius=5)
    return box + _icon(FACES[face], x + _DIE / 2, 22 + _DIE / 2, 17, "f-black")


def _resolved(face: int, x: float) -> str:
    return rect(x, 27, 18, 18, "hole edge", radius=4) + _icon(FACES[face], x + 9, 36, 11, "soft")


def _card_parts(o: Observation, spots: Spots) -> Iterator[str]:
    """Market, deck and supply, from (0, 0), `_CARDS_HEIGHT` high."""
    cards = o.cards
    for slot, card in enumerate(cards.market):
        x = 6 + _CARD_PITCH * slot
        halo = rect(x - 2, 0, _CARD_WIDTH + 4, 45, "halo", radius=6)
        if card == NO_CARD:
            yield rect(x, 2, _CARD_WIDTH, 41, "hole edge dash", radius=5)
            continue
        card_id = shipped_card_ids()[card]
        printed = printed_cards()[card_id]
        content = rect(x, 2, _CARD_WIDTH, 41, "panel edge", radius=5)
        for row, words in enumerate(_title_rows(printed["name"])):
            content += text(x + 6, 15 + 12 * row, words, size=9.5, css="ink b", width=_TITLE_WIDTHS[row])
        content += text(x + _CARD_WIDTH - 17, 17, str(o.setting.card_costs[card]), size=12, css="ink b e")
        content += _icon("energy", x + _CARD_WIDTH - 9, 13, 11, "ink")
        content += text(x + _CARD_WIDTH - 5, 39, printed["type"], size=10, css="soft e")
        yield spots.spot(f"card:{card_id}", _card_text(card_id), content, halo)
    x = 6 + _CARD_PITCH * len(cards.market)
    sweep = rect(x, 2, 46, 18, "panel edge", radius=4) + text(x + 23, 15, "sweep", size=10.5, css="ink m")
    yield spots.spot("sweep", "pay energy to replace the three cards", sweep, rect(x - 2, 0, 50, 22, "halo", radius=5))
    discards = cards_of(cards.discards)
    names = ", ".join(printed_cards()[card]["name"] for card in discards) or "none"
    content = text(x, 32, f"deck {cards.deck.bit_count()}", size=10, css="soft")
    content += text(x, 43, f"discard {len(discards)}", size=10, css="soft", width=WIDTH - x - 3)
    yield spots.spot("discards", f"discards: {names}", content, rect(x - 2, 24, 50, 22, "halo", radius=4))
    holders = zip(GOALS, (cards.superstar_seat, cards.statue_seat), strict=True)
    goals = ", ".join(title(goal) for goal, holder in holders if holder == NO_SEAT)
    supply = f"Supply: {cards.web_left} Web, {cards.jinx_left} Jinx, {cards.carapace_left} Carapace"
    yield text(8, 61, supply + (f"; free: {goals}" if goals else ""), size=10, css="soft", width=WIDTH - 14)


def _title_rows(words: str) -> list[str]:
    """A title in as few rows as hold it; the last row takes what is left."""
    rows: list[str] = []
    for word in words.split(" "):
        longer = f"{rows[-1]} {word}" if rows else word
        last = len(rows) == len(_TITLE_WIDTHS)
        if rows and not last and width_of(longer, 10.5, bold=True) > _TITLE_WIDTHS[len(rows) - 1]:
            rows.append(word)
        else:
            rows[-1:] = [longer]
    return rows


def _seat_parts(o: Observation, seat: int, look: Look, spots: Spots) -> tuple[str, int]:
    """One seat from (0, 0), and how high it is."""
    lines = _wrapped(_belongings(o, seat), WIDTH - _LEFT - 14)
    height = _SEAT + _LINE * len(lines) + 3
    out = bool(o.holdings.out[seat])
    name = seat_name(look, seat, MONSTERS[seat]) + (" (out)" if out else "")
    parts = [
        rect(4, 0, WIDTH - 8, height, "panel" + (" s-can" if seat == o.asked_seat else ""), radius=5),
        _monster(20, 14.5, seat, 9),
        text(_LEFT, 17, name, size=12, css="ink b", width=160),
    ]
    seats, hit = o.seats, o.turn_state.hit[seat]
    for x, what, amount in (
        (208, "life", seats.life[seat]),
        (262, "vp", seats.vp[seat]),
        (312, "energy", seats.energy[seat]),
    ):
        parts.append(_icon(what, x, 12.5, 13, "ink") + text(x + 10, 17, str(amount), size=12.5, css="ink b"))
    if hit:
        parts.append(text(WIDTH - 10, 17, f"damage {hit}", size=10.5, css="now b e"))
    parts += [text(_LEFT, _SEAT + 8 + _LINE * row, words, size=10.5, css="ink") for row, words in enumerate(lines)]
    cards = "; ".join(_card_text(card) for card in cards_of(o.holdings.keep_cards[seat]))
    tooltip = (
        f"{seat_name(look, seat, MONSTERS[seat])}, {MONSTERS[seat]}: {seats.life[seat]} life, {seats.vp[seat]} points, "
    )
    tooltip += f"{seats.energy[seat]} energy" + (f". {cards}" if cards else "")
    return spots.spot(
        f"seat:{seat}", tooltip, "".join(parts), rect(3, -1, WIDTH - 6, height + 2, "halo", radius=6)
    ), height


def _belongings(o: Observation, seat: int) -> list[str]:
    """Monster, goal cards, tokens, trophies and Keep cards."""
    held = o.holdings
    found = [MONSTERS[seat]]
    for goal, holder in zip(GOALS, (o.cards.superstar_seat, o.cards.statue_seat), strict=True):
        if holder == seat:
            found.append(title(goal))
    for name, count in (("Web", held.web[seat]), ("Jinx", held.jinx[seat]), ("Carapace tokens", held.carapace[seat])):
        if count:
            found.append(f"{count} {name}")
    for unit, name in enumerate(UNITS):
        if held.trophies[seat * UNIT_KINDS + unit]:
            found.append(f"{held.trophies[seat * UNIT_KINDS + unit]} {name}")
    return found + [printed_cards()[card]["name"] for card in cards_of(held.keep_cards[seat])]


def _wrapped(items: Sequence[str], width: float) -> list[str]:
    lines: list[str] = []
    for item in items:
        longer = f"{lines[-1]}, {item}" if lines else item
        if lines and width_of(longer, 10.5) <= width:
            lines[-1] = longer
        else:
            lines.append(cut(item, 10.5, width))
    return lines


# Signs, each in a square of 12 around (0, 0)

_SEAT_FILLS = ("sky", "orange", "green", "pink", "white", "yellow")
_FACE_WORDS = ("energy", "attack", "destr.", "heart", "celeb.", "ouch")
_BUILDING_FILLS = {"high_rise": "yellow", "power_plant": "sky", "hospital": "pink"}
_STAR = "M0 -6L1.6 -2H6L2.6 .9L3.8 5.4L0 2.8L-3.8 5.4L-2.6 .9L-6 -2H-1.6Z"
_BOLT = "M1.5 -6L-4.5 1H-1L-2.5 6L4.5 -1.5H.5Z"
_HEART = "M0 5.5C-8 0 -6 -5.5 -3 -5.5C-1.2 -5.5 0 -4 0 -3C0 -4 1.2 -5.5 3 -5.5C6 -5.5 8 0 0 5.5Z"
_PATHS = {
    "energy": _BOLT,
    "attack": "M-6 -6L-3.5 6L-2.5 -6ZM-1.5 -6L.5 6L2 -6ZM3 -6L4.5 6L6.5 -6Z",
    "destruction": "M0 -6.5L1.6 -2.6L5.5 -4.6L3.6 -.8L6.5 1.6L2.6 2.2L2.4 6L0 3.2L-3 6L-2.8 2.2L-6.5 1L-3.4 -1L-5 -4.8"
    "L-1.6 -2.8Z",
    "heart": _HEART,
    "celebrity": _STAR,
    "ouch": "M0 -6L6.5 5.5H-6.5ZM-.9 -2.2L-.5 2H.5L.9 -2.2ZM-.8 3V4.5H.8V3Z",
    "vp": _STAR,
    "life": _HEART,
    "high_rise": "M-4 6V-6H4V6H1V3H-1V6ZM-2.5 -4.5V-3H-.7V-4.5ZM.7 -4.5V-3H2.5V-4.5ZM-2.5 -1.5V0H-.7V-1.5Z"
    "M.7 -1.5V0H2.5V-1.5Z",
    "power_plant": "M-6 6V-.5L-2.5 -3.5V-.5L1 -3.5V-.5H2.5L3 -6H5L6 6Z",
    "hospital": "M-2 -6H2V-2H6V2H2V6H-2V2H-6V-2H-2Z",
    "infantry": "M-2.4 -3.8a2.4 2.4 0 1 0 4.8 0a2.4 2.4 0 1 0 -4.8 0ZM-4.5 6V3C-4.5 -1 4.5 -1 4.5 3V6Z",
    "jet": "M0 -6.5L1.4 -2L6.5 2.5V4L1.4 2.5V4.5L3 6H-3L-1.4 4.5V2.5L-6.5 4V2.5L-1.4 -2Z",
    "tank": "M-5 5C-7 5 -7 1.5 -5 1.5H-3.5V-1.5L-2 -3H2L2.5 -2H7V-.8H3V1.5H5C7 1.5 7 5 5 5Z",
}


@lru_cache(maxsize=4096)
def _icon(name: str, x: float, y: float, size: float, css: str) -> str:
    """The sign with its middle at (x, y), `size` high."""
    scale = f"translate({number(x)} {number(y)})" + (f" scale({number(size / 12)})" if size != 12 else "")
    return f'<path d="{_PATHS[name]}" transform="{scale}" fill-rule="evenodd" class="{css}"/>'


@lru_cache(maxsize=256)
def _monster(x: float, y: float, seat: int, radius: float = 10) -> str:
    """A head with horns and the number of its seat."""
    fill, r = _SEAT_FILLS[seat], radius
    horns = "".join(
        "M"
        + "L".join(f"{number(side * x * r)} {number(y * r)}" for x, y in ((0.9, -0.2), (0.95, -1.3), (0.2, -0.8)))
        + "Z"
        for side in (-1, 1)
    )
    head = path(horns, f"f-{fill} piece") + circle(0, 0, radius, f"f-{fill} piece")
    return moved(x, y, head + text(0, 4, str(seat), size=11.5, css=f"on-{fill} b m"))


def seat_sign(seat: int, players: int) -> str:
    """The piece that stands for a seat; see `Drawing`."""
    return _monster(0, 0, seat)


# Single pieces


def drawn_tile(building: str, needed: int, rewards: tuple[tuple[str, int], ...]) -> str:
    """A tile of 43 x 46 at (2, 2)."""
    return _tile(building, needed, rewards, 0, 2, 2)


def drawn_unit(name: str) -> str:
    """The sign of a Unit in 24 x 24."""
    return _icon(name, 12, 12, 18, "ink")


def given(rewards: tuple[tuple[str, int], ...]) -> str:
    """A reward in words, such as "gives 2 energy"."""
    return _gives(rewards)
