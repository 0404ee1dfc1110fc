"""What lies beside the drawn boroughs: dice, cards, and the seats with all they have."""

from collections.abc import Iterator, Sequence
from functools import cache

from referee.games.drawing.look import Look
from referee.games.drawing.parts import WIDTH, rect, text
from referee.games.drawing.spots import Spots
from referee.games.drawing.text import cut, seat_name, width_of
from referee.games.king_of_new_york.box import default_data, shipped_card_ids
from referee.games.king_of_new_york.names import FACES, GOALS, MONSTERS, NO_CARD, NOBODY, UNIT_KINDS, UNITS
from referee.games.king_of_new_york.observation import Observation
from referee.games.king_of_new_york.view_icons import FACE_WORDS, icon, monster

DICE_HEIGHT, CARDS_HEIGHT = 68, 70
_DIE, _DIE_PITCH, _DICE_ACROSS = 26, 28, 11
_SEAT, _LINE, _LEFT = 25, 13, 36
_CARD_WIDTH, _CARD_PITCH = 110, 114
_TITLE_WIDTHS = (80, 98, 58)
"""Of the rows of a card's title: the cost stands beside the first, the type beside the last."""


@cache
def _printed() -> dict[str, dict[str, str]]:
    """The cards shipped, by id."""
    return {card["id"]: card for card in default_data()["cards"]}


def card_title(card: int) -> str:
    """Of the card with this number."""
    return _printed()[shipped_card_ids()[card]]["name"]


def card_numbers(mask: int) -> list[int]:
    """The numbers of a set of cards."""
    return [number for number in range(mask.bit_length()) if mask >> number & 1]


def _card_told(card: int) -> str:
    printed = _printed()[shipped_card_ids()[card]]
    return f"{printed['name']} ({printed['type']}): {printed['text']}"


def dice_parts(o: Observation, notes: Sequence[str], spots: Spots) -> Iterator[str]:
    """The roll from (0, 0), `DICE_HEIGHT` high: dice to resolve, added results, dice resolved."""
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
            content = "".join(_die(face, x + _DIE_PITCH * step, added=step >= count) for step in range(count + added))
            width = _DIE_PITCH * (count + added)
        content += text(x + width / 2 - 1, 60, FACE_WORDS[face], size=10, css="ink m")
        told = f"{count} {FACES[face]}" + (f" and {added} added" if added else "")
        halo = rect(x - 2, 20, width + 2, 44, "halo", radius=5)
        yield spots.spot(f"die:{FACES[face]}", told, content, halo)
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
    return box + icon(FACES[face], x + _DIE / 2, 22 + _DIE / 2, 17, "f-black")


def _resolved(face: int, x: float) -> str:
    return rect(x, 27, 18, 18, "hole edge", radius=4) + icon(FACES[face], x + 9, 36, 11, "soft")


def card_parts(o: Observation, spots: Spots) -> Iterator[str]:
    """Market, deck and supply, from (0, 0), `CARDS_HEIGHT` high."""
    cards = o.cards
    for slot, card in enumerate(cards.market):
        x = 6 + _CARD_PITCH * slot
        halo = rect(x - 2, 0, _CARD_WIDTH + 4, 45, "halo", radius=6)
        if card == NO_CARD:
            yield rect(x, 2, _CARD_WIDTH, 41, "hole edge dash", radius=5)
            continue
        content = rect(x, 2, _CARD_WIDTH, 41, "panel edge", radius=5)
        for row, words in enumerate(_title_rows(card_title(card))):
            content += text(x + 6, 15 + 12 * row, words, size=10.5, css="ink b", width=_TITLE_WIDTHS[row])
        content += text(x + _CARD_WIDTH - 17, 17, str(o.setting.card_costs[card]), size=12, css="ink b e")
        content += icon("energy", x + _CARD_WIDTH - 9, 13, 11, "ink")
        content += text(x + _CARD_WIDTH - 5, 39, _printed()[shipped_card_ids()[card]]["type"], size=10, css="soft e")
        yield spots.spot(f"card:{shipped_card_ids()[card]}", _card_told(card), content, halo)
    x = 6 + _CARD_PITCH * len(cards.market)
    sweep = rect(x, 2, 46, 18, "panel edge", radius=4) + text(x + 23, 15, "sweep", size=10.5, css="ink m")
    yield spots.spot("sweep", "pay energy to replace the three cards", sweep, rect(x - 2, 0, 50, 22, "halo", radius=5))
    discards = card_numbers(cards.discards)
    told = ", ".join(card_title(card) for card in discards) or "none"
    content = text(x, 32, f"deck {cards.deck.bit_count()}", size=10, css="soft")
    content += text(x, 43, f"discard {len(discards)}", size=10, css="soft", width=WIDTH - x - 3)
    yield spots.spot("discards", f"discards: {told}", content, rect(x - 2, 24, 50, 22, "halo", radius=4))
    goals = ", ".join(
        _goal(goal) for goal, holder in zip(GOALS, (cards.superstar, cards.statue), strict=True) if holder == NOBODY
    )
    supply = f"Supply: {cards.web_left} Web, {cards.jinx_left} Jinx, {cards.carapace_left} Carapace"
    yield text(8, 61, supply + (f"; free: {goals}" if goals else ""), size=10, css="soft", width=WIDTH - 14)


def _goal(goal: str) -> str:
    return goal.replace("_", " ").title().replace(" Of ", " of ")


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


def seat_parts(o: Observation, seat: int, look: Look, spots: Spots) -> tuple[str, int]:
    """One seat from (0, 0), and how high it is."""
    lines = _wrapped(_belongings(o, seat), WIDTH - _LEFT - 14)
    height = _SEAT + _LINE * len(lines) + 3
    out = bool(o.holdings.out[seat])
    name = seat_name(look, seat, MONSTERS[seat]) + (" (out)" if out else "")
    parts = [
        rect(4, 0, WIDTH - 8, height, "panel" + (" s-can" if seat == o.asked else ""), radius=5),
        monster(20, 14.5, seat, 9),
        text(_LEFT, 17, name, size=12, css="ink b", width=160),
    ]
    seats, hit = o.seats, o.turn_state.hit[seat]
    for x, what, amount in (
        (208, "life", seats.life[seat]),
        (262, "vp", seats.vp[seat]),
        (312, "energy", seats.energy[seat]),
    ):
        parts.append(icon(what, x, 12.5, 13, "ink") + text(x + 10, 17, str(amount), size=12.5, css="ink b"))
    if hit:
        parts.append(text(WIDTH - 10, 17, f"damage {hit}", size=10.5, css="now b e"))
    parts += [text(_LEFT, _SEAT + 8 + _LINE * row, words, size=10.5, css="ink") for row, words in enumerate(lines)]
    cards = "; ".join(_card_told(card) for card in card_numbers(o.holdings.keep[seat]))
    tooltip = f"seat {seat}, {MONSTERS[seat]}: {seats.life[seat]} life, {seats.vp[seat]} points, "
    tooltip += f"{seats.energy[seat]} energy" + (f". {cards}" if cards else "")
    return spots.spot(
        f"seat:{seat}", tooltip, "".join(parts), rect(3, -1, WIDTH - 6, height + 2, "halo", radius=6)
    ), height


def _belongings(o: Observation, seat: int) -> list[str]:
    """Monster, goal cards, tokens, trophies and Keep cards."""
    held = o.holdings
    found = [MONSTERS[seat]]
    for goal, holder in zip(GOALS, (o.cards.superstar, o.cards.statue), strict=True):
        if holder == seat:
            found.append(_goal(goal))
    for name, count in (("Web", held.web[seat]), ("Jinx", held.jinx[seat]), ("Carapace tokens", held.carapace[seat])):
        if count:
            found.append(f"{count} {name}")
    for unit, name in enumerate(UNITS):
        if held.trophies[seat * UNIT_KINDS + unit]:
            found.append(f"{held.trophies[seat * UNIT_KINDS + unit]} {name}")
    return found + [card_title(card) for card in card_numbers(held.keep[seat])]


def _wrapped(items: Sequence[str], width: float) -> list[str]:
    lines: list[str] = []
    for item in items:
        longer = f"{lines[-1]}, {item}" if lines else item
        if lines and width_of(longer, 10.5) <= width:
            lines[-1] = longer
        else:
            lines.append(cut(item, 10.5, width))
    return lines
