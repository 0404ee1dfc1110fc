"""Each drawing shows what is public, and what its viewer knows besides."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from referee.games.api import resolve_options
from referee.games.drawing import Look, draw_board
from referee.games.registry import get_game

PLAIN = Look(styled=False)


def texts(apart: Any, svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in apart.elements(svg) if element.tag.endswith("}text")]


# Ticket to Ride: New York


def test_every_claimed_route_shows_its_owner_on_each_space(walk: Callable[..., Any], apart: Any) -> None:
    game = get_game("ticket_to_ride_new_york")
    lengths = [route["length"] for route in game.default_data()["routes"]]
    for players in (2, 4):
        for state, _ in walk(game, players, 5, 20):
            svg = draw_board(game, state.observation(None), PLAIN)
            titles = apart.titles(svg)
            groups = {element.get("data-place"): element for element in apart.elements(svg)}
            for place, owner in enumerate(state.owner):
                name = f"route:R{place + 1:02d}"
                if owner >= 0:
                    assert titles[name].endswith(f"claimed by seat {owner + 1}")
                    (signs,) = [element for element in groups[name] if element.tag.endswith("}text")]
                    assert [sign.text for sign in signs] == [str(owner)] * lengths[place]
                else:
                    assert titles[name].endswith(("free", "closed"))


def test_only_who_may_know_sees_hands_and_tickets(walk: Callable[..., Any], apart: Any) -> None:
    game = get_game("ticket_to_ride_new_york")
    for state, _ in walk(game, 3, 6, 25):
        if state.is_terminal():
            continue
        for viewer in (None, 0, 1, 2):
            svg = draw_board(game, state.observation(viewer), PLAIN)
            shown = {int(place.removeprefix("ticket:T")) for place in apart.places(svg) if place.startswith("ticket:")}
            seen = state.observation(viewer)
            assert shown == {*seen.tickets, *seen.offered}
        everything = draw_board(game, state.observation(None), PLAIN, [state.observation(seat) for seat in range(3)])
        shown = {int(place.removeprefix("ticket:T")) for place in apart.places(everything) if "ticket:" in place}
        assert shown >= {number for kept in state.kept for number in kept}
        assert not any(text.startswith("?") and text[1:].isdigit() for text in texts(apart, everything))


def test_a_replaced_map_is_drawn_where_its_box_has_it(apart: Any) -> None:
    game = get_game("ticket_to_ride_new_york")
    box = game.default_data()
    box["locations"][0] |= {"code": "HA", "name": 'Har"lem & <b>'}
    for entry in (*box["routes"], *box["tickets"]):
        for end in ("from", "to"):
            entry[end] = "HA" if entry[end] == "LC" else entry[end]
    state = game.new_initial_state(2, resolve_options(game.id, game.options, {"data": box}))
    svg = draw_board(game, state.observation(0), PLAIN)
    assert 'Har"lem & <b>' in texts(apart, svg)
    assert "HA" in texts(apart, svg)
    assert len([place for place in apart.places(svg) if place.startswith("route:")]) == len(box["routes"])


# King of New York


def test_seats_stacks_units_and_monsters_are_all_there(walk: Callable[..., Any], apart: Any) -> None:
    game = get_game("king_of_new_york")
    for players in (2, 6):
        for state, _ in walk(game, players, 5, 30):
            o = state.observation(None)
            svg = draw_board(game, o, PLAIN)
            titles = apart.titles(svg)
            for seat in range(players):
                told = f"{o.seats.life[seat]} life, {o.seats.vp[seat]} points, {o.seats.energy[seat]} energy"
                assert told in titles[f"seat:{seat}"]
            for stack, top in enumerate(o.board.tops):
                assert ("used up" in titles[f"stack:{stack}"]) == (top == 0)
            boroughs = ("manhattan", "brooklyn", "queens", "bronx", "staten_island")
            for borough, name in enumerate(boroughs):
                for unit, kind in enumerate(("infantry", "jet", "tank")):
                    count = o.board.units[3 * borough + unit]
                    if count:
                        assert titles[f"unit:{name}-{kind}"].startswith(f"{count} {kind}")
                    else:
                        assert f"unit:{name}-{kind}" not in titles
            dice = {face: count for face, count in enumerate(o.turn_state.dice) if count}
            assert len([place for place in titles if place.startswith("die:")]) >= len(dice)


def test_every_card_has_its_whole_title_in_the_market(apart: Any) -> None:
    game = get_game("king_of_new_york")
    o = game.new_initial_state(2, resolve_options(game.id, game.options, {})).observation(None)
    for card in range(len(o.setting.card_costs)):
        svg = draw_board(game, replace(o, cards=replace(o.cards, market=(card,))), PLAIN)
        assert "\u2026" not in svg, apart.titles(svg)


def test_large_piles_are_told_in_full(apart: Any) -> None:
    game = get_game("king_of_new_york")
    o = game.new_initial_state(2, resolve_options(game.id, game.options, {})).observation(None)
    all_but_one = o.cards.deck & (o.cards.deck - 1)
    svg = draw_board(game, replace(o, cards=replace(o.cards, deck=0, discards=all_but_one)), PLAIN)
    assert f"discard {all_but_one.bit_count()}" in texts(apart, svg)


# Manhattan TraffIQ


def test_tiles_vehicles_and_points_are_all_there(walk: Callable[..., Any], apart: Any) -> None:
    game = get_game("manhattan_traffiq")
    for state, _ in walk(game, 3, 5, 10):
        seen = state.observation(None)
        titles = apart.titles(draw_board(game, seen, PLAIN))
        assert {f"cell:{tile.x},{tile.y}" for tile in seen.map.tiles} == {
            place for place in titles if place.startswith("cell:")
        }
        for piece in seen.fleet.standing:
            assert titles[f"vertex:{piece.x},{piece.y}"].endswith(f"{piece.vehicle} of seat {piece.seat + 1}")
        held = [title for title in titles.values() if " of seat " in title and title.startswith("vertex")]
        assert len(held) == len(seen.fleet.standing)


def test_a_hidden_hand_is_a_number_and_a_known_one_its_tiles(walk: Callable[..., Any], apart: Any) -> None:
    game = get_game("manhattan_traffiq")
    for state, _ in walk(game, 2, 6, 12):
        for viewer in (None, 0, 1):
            places = apart.places(draw_board(game, state.observation(viewer), PLAIN))
            shown = {place for place in places if place.startswith(("tile:", "hand:"))}
            hand = () if viewer is None else state.observation(viewer).hands[viewer]
            assert {place.split(":")[1].split("-")[-1] for place in shown} == set(hand)
        both = draw_board(game, state.observation(None), PLAIN, [state.observation(seat) for seat in range(2)])
        shown = {place.split(":")[1].split("-")[-1] for place in apart.places(both) if place[:5] in ("tile:", "hand:")}
        assert shown == {tile for seat in range(2) for tile in state.observation(seat).hands[seat]}


# Shibuya


def test_pedestrians_goals_tiles_and_stock_are_all_there(walk: Callable[..., Any], apart: Any) -> None:
    game = get_game("shibuya")
    for players in (2, 4):
        for state, _ in walk(game, players, 5, 15):
            seen = state.observation(None)
            titles = apart.titles(draw_board(game, seen, PLAIN))
            for team, name in enumerate(("red", "blue")):
                for field in seen.fields[team]:
                    assert titles[f"field:{field}"].endswith(f"{name} pedestrian")
                for goal, inside in enumerate(seen.goals[team]):
                    assert titles[f"goal:{name[0].upper()}{goal}"].endswith(f"{inside} pedestrians in it")
                waits = {place for place, told in titles.items() if "start:" in place and told.endswith("waiting")}
                mine = {f"start:{name[0].upper()}{start}" for start in seen.waiting[team]}
                assert {place for place in waits if place.startswith(f"start:{name[0].upper()}")} == mine
            assert titles["stock"] == f"the stock, {sum(seen.stock)} tiles"
            for slot in range(16):
                layers = "empty" if not seen.tops[slot] else "two tiles" if seen.covered[slot] else "one tile"
                assert layers in titles[f"slot:{slot}"]
