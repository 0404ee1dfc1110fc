"""A second implementation of the rules over the dictionary form of a state, as slow and plain as can be.

It shares nothing with the game: streets come from labelling all segments, reachability from a breadth-first search,
attachments from trying every tile in every rotation on every cell in sight.
"""

from collections import Counter, deque
from itertools import combinations
from typing import Any

Vertex = tuple[int, int]
Segment = frozenset[Vertex]
STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))  # N, E, S, W, as sides are listed
TURNS = {"", "A", "T", "L", "D", "AA", "AT", "AL", "AD", "TL", "LT", "TD", "LD", "DD"}
LETTERS = {"attach": "A", "taxi": "T", "truck": "L", "draw": "D"}


class Naive:
    """One position; `after` gives the next one."""

    def __init__(self, state: dict[str, Any], box: dict[str, Any]) -> None:
        self.d = state
        self.box = box
        self.o = state["options"]
        self.n = state["players"]
        self.me = state["seat"]
        self.tiles = {(x, y): face for x, y, face in state["tiles"]}
        self.known: dict[bool, dict[Segment, str]] = {}
        self.whole: set[Vertex] | None = None
        self.at = {(x, y): (seat, vehicle) for x, y, seat, vehicle in state["vehicles"]}

    # -- the map -----------------------------------------------------------------------------------------------

    def segments(self, halves: bool) -> dict[Segment, str]:
        """All street segments with their colours; with `halves` those with a tile on one side only, too."""
        if halves in self.known:
            return self.known[halves]
        found: dict[Segment, list[str]] = {}
        for (x, y), face in self.tiles.items():
            corners = [(x, y + 1), (x + 1, y + 1), (x + 1, y), (x, y)]  # NW, NE, SE, SW
            for side in range(4):
                ends = frozenset((corners[side], corners[(side + 1) % 4]))
                found.setdefault(ends, []).append(face[side])
        for colours in found.values():
            assert len(set(colours)) == 1
        self.known[halves] = {
            ends: colours[0] for ends, colours in found.items() if colours[0] in "rt" and (halves or len(colours) == 2)
        }
        return self.known[halves]

    def complete(self) -> set[Vertex]:
        if self.whole is None:
            around = Counter((x + dx, y + dy) for x, y in self.tiles for dx in (0, 1) for dy in (0, 1))
            self.whole = {vertex for vertex, tiles in around.items() if tiles == 4}
        return self.whole

    def streets(self, vertex: Vertex) -> dict[str, set[Vertex]]:
        """By name the vertices of the streets through `vertex`."""
        segments = self.segments(self.o["half_streets_connect"])
        label = {segment: number for number, segment in enumerate(segments)}
        pairs = self.beside(segments)
        changed = True
        while changed:  # the least number wins, until every run has one
            changed = False
            for one, two in pairs:
                least = min(label[one], label[two])
                changed = changed or label[one] != label[two]
                label[one] = label[two] = least
        runs = [{segment for segment in segments if label[segment] == number} for number in set(label.values())]
        names: dict[str, set[Vertex]] = {}
        for axis in (0, 1):
            here = [run for run in runs if vertex in frozenset().union(*run) and self.axis(next(iter(run))) == axis]
            for run in here:
                vertices = set(frozenset().union(*run))
                ahead = any(v[axis] > vertex[axis] for v in vertices)
                name = "hv"[axis] if len(here) == 1 else ("we"[ahead] if axis == 0 else "sn"[ahead])
                names[name] = vertices
        return names

    def axis(self, segment: Segment) -> int:
        (_, y1), (_, y2) = sorted(segment)
        return 0 if y1 == y2 else 1

    def beside(self, segments: dict[Segment, str]) -> list[tuple[Segment, Segment]]:
        """Pairs of segments that belong to one street, whatever comes between them and others."""
        found = []
        for one in segments:
            (x1, y1), (x2, y2) = sorted(one)
            two = frozenset(((x2, y2), (2 * x2 - x1, 2 * y2 - y1)))
            if two in segments and (segments[one] == segments[two] or not self.o["colour_change_ends_street"]):
                found.append((one, two))
        return found

    # -- what is legal -----------------------------------------------------------------------------------------

    def legal(self) -> set[tuple[Any, ...]]:
        phase = self.d["phase"]
        if phase == "turn":
            return self.turn_actions()
        if phase == "place":
            return self.place_actions()
        return self.compete_actions() if phase == "compete" else set()

    def turn_actions(self) -> set[tuple[Any, ...]]:
        found: set[tuple[Any, ...]] = set()
        for kind, letter in LETTERS.items():
            if self.d["used"] + letter in TURNS:
                found |= {"attach": self.attaches, "taxi": self.taxis, "truck": self.trucks, "draw": self.draws}[kind]()
        if self.o["forfeit_actions_any_time"] or self.d["final"] or not found:
            found.add(("end_turn",))
        return found

    def draws(self) -> set[tuple[Any, ...]]:
        return {("draw",)} if sum(self.d["stock"].values()) and not self.d["final"] else set()

    def attaches(self) -> set[tuple[Any, ...]]:
        xs, ys = [x for x, _ in self.tiles], [y for _, y in self.tiles]
        found: set[tuple[Any, ...]] = set()
        for tile in self.d["hands"][self.me]:
            for turn in range(4 if self.o["tiles_may_rotate"] else 1):
                face = tile[turn:] + tile[:turn]
                for x in range(min(xs) - 1, max(xs) + 2):
                    for y in range(min(ys) - 1, max(ys) + 2):
                        if (x, y) not in self.tiles and self.matches(face, x, y):
                            found.add(("attach", face, x, y))
        return found

    def matches(self, face: str, x: int, y: int) -> bool:
        beside = [self.tiles.get((x + dx, y + dy)) for dx, dy in STEPS]
        touching = [(face[side], other[(side + 2) % 4]) for side, other in enumerate(beside) if other is not None]
        return bool(touching) and all(mine == theirs for mine, theirs in touching)

    def joined(self, vertex: Vertex) -> set[Vertex]:
        segments = [segment for segment in self.segments(False) if vertex in segment]
        return {v for segment in segments for v in segment if v in self.complete() and v not in self.at}

    def own(self, kind: str) -> list[Vertex]:
        return [vertex for vertex, piece in self.at.items() if piece == (self.me, kind)]

    def taxis(self) -> set[tuple[Any, ...]]:
        found: set[tuple[Any, ...]] = set()
        for source in self.own("taxi"):
            reached: set[Vertex] = set()
            todo = deque([source])
            while todo:
                for vertex in self.joined(todo.popleft()) - reached:
                    reached.add(vertex)
                    todo.append(vertex)
            found |= {("taxi", *source, *target) for target in reached}
        return found

    def trucks(self) -> set[tuple[Any, ...]]:
        return {("truck", *source, *target) for source in self.own("truck") for target in self.joined(source)}

    def supply(self, seat: int, kind: str) -> int:
        total: int = self.box["vehicles"][str(self.n)][kind]
        return total - sum(piece == (seat, kind) for piece in self.at.values())

    def place_actions(self) -> set[tuple[Any, ...]]:
        kinds = [kind for kind in ("taxi", "truck") if self.supply(self.me, kind)]
        found: set[tuple[Any, ...]] = {("place", kind, x, y) for x, y in self.d["open_vertices"] for kind in kinds}
        return found | ({("decline",)} if self.o["placing_vehicle_optional"] else set())

    def compete_actions(self) -> set[tuple[Any, ...]]:
        names = self.contested(tuple(self.d["spot"]))
        few = 1 if self.o["compete_choice_granularity"] == "per_street" else len(names)
        order = "hwevsn"
        sets = [
            some for size in range(few, len(names) + 1) for some in combinations(sorted(names, key=order.index), size)
        ]
        return {("decline",), *(("compete", some) for some in sets)}

    def contested(self, vertex: Vertex) -> dict[str, set[Vertex]]:
        """By street the vertices that would be cleared."""
        found = {}
        for name, vertices in self.streets(vertex).items():
            strength = dict.fromkeys(range(self.n), 0)
            for v in vertices & set(self.at):
                seat, kind = self.at[v]
                strength[seat] += 2 if kind == "truck" else 1
            beaten = {v for v in vertices & set(self.at) if strength[self.at[v][0]] < strength[self.me]}
            if beaten:
                found[name] = beaten
        return found

    # -- what follows ------------------------------------------------------------------------------------------

    def after(self, move: Any) -> dict[str, Any]:
        """The position after an action (a tuple) or a chance outcome."""
        phase = self.d["phase"]
        if phase == "start":
            self.d["start"] = self.me = self.d["seat"] = move
            self.d["phase"] = "deal"
        elif phase in ("deal", "draw"):
            self.draw_tile(move)
        else:
            getattr(self, "do_" + move[0])(*move[1:])
        self.d["vehicles"] = [[x, y, *self.at[x, y]] for x, y in sorted(self.at, key=lambda v: (v[1], v[0]))]
        self.d["tiles"] = [[x, y, self.tiles[x, y]] for x, y in sorted(self.tiles, key=lambda c: (c[1], c[0]))]
        return self.d

    def leave(self, seat: int) -> dict[str, Any]:
        """The position after a seat has left the match."""
        d = self.d
        self.at = {vertex: standing for vertex, standing in self.at.items() if standing[0] != seat}
        d["left"] = [*d["left"], seat]
        d["owed"] = [other for other in d["owed"] if other != seat]
        playing = [other for other in range(self.n) if other not in d["left"]]
        if len(playing) == 1:
            self.finish()
        elif d["phase"] == "deal":
            if seat == self.me:
                d["start"] = d["seat"] = min(playing, key=lambda other: (other - seat) % self.n)
            if all(len(d["hands"][other]) == 2 for other in playing):
                d["phase"] = "turn"
        elif d["phase"] != "start" and seat == self.me:
            d |= {"open_vertices": [], "spot": None}
            self.end_turn()
        elif d["phase"] == "compete" and not self.contested(tuple(d["spot"])):
            self.go_on()
        d["vehicles"] = [[x, y, *self.at[x, y]] for x, y in sorted(self.at, key=lambda v: (v[1], v[0]))]
        return d

    def draw_tile(self, tile: str) -> None:
        short = [seat for seat, hand in enumerate(self.d["hands"]) if len(hand) < 2 and seat not in self.d["left"]]
        seat = self.me if self.d["phase"] == "draw" else short[0]
        self.d["hands"][seat] = sorted([*self.d["hands"][seat], tile])
        self.d["stock"][tile] -= 1
        self.d["stock"] = {name: count for name, count in self.d["stock"].items() if count}
        if self.d["phase"] == "draw":
            self.go_on()
        elif seat == short[-1] and len(self.d["hands"][seat]) == 2:
            self.d["phase"] = "turn"

    def do_end_turn(self) -> None:
        self.end_turn()

    def do_draw(self) -> None:
        self.d["used"] += "D"
        self.d["phase"] = "draw"

    def do_attach(self, face: str, x: int, y: int) -> None:
        names = [name for name in self.d["hands"][self.me] if face in [name[i:] + name[:i] for i in range(4)]]
        self.d["hands"][self.me].remove(names[0] if self.o["tiles_may_rotate"] else face)
        before = self.complete()
        self.tiles[x, y] = face
        self.known, self.whole = {}, None
        self.d["used"] += "A"
        opened = sorted(self.complete() - before, key=lambda v: (v[1], v[0]))
        segments = self.segments(False)
        degree = {v: sum(v in segment for segment in segments) for v in opened}
        lowest = {0: self.o["place_on_vertex_without_street"], 1: self.o["place_on_dead_end"]}
        self.d["open_vertices"] = [list(v) for v in opened if lowest.get(degree[v], True)]
        self.go_on()

    def do_taxi(self, x: int, y: int, to_x: int, to_y: int, letter: str = "T") -> None:
        self.at[to_x, to_y] = self.at.pop((x, y))
        self.d["used"] += letter
        self.compete_at((to_x, to_y))

    def do_truck(self, *where: int) -> None:
        self.do_taxi(*where, letter="L")

    def do_place(self, kind: str, x: int, y: int) -> None:
        self.at[x, y] = (self.me, kind)
        self.d["open_vertices"].remove([x, y])
        if self.done() and not self.o["last_vehicle_competes"]:
            self.finish()
        else:
            self.compete_at((x, y))

    def do_decline(self) -> None:
        if self.d["phase"] == "place":
            self.d["open_vertices"] = []
        self.go_on()

    def do_compete(self, names: tuple[str, ...]) -> None:
        cleared = self.contested(tuple(self.d["spot"]))
        for name in names:
            for vertex in cleared[name]:
                del self.at[vertex]
        self.go_on()

    def compete_at(self, vertex: Vertex) -> None:
        contested = self.contested(vertex)
        self.d["spot"] = list(vertex)
        self.d["phase"] = "compete"
        if not contested:
            self.go_on()
        elif not self.o["competing_optional"]:
            self.do_compete(tuple(contested))

    def done(self) -> bool:
        return not self.supply(self.me, "taxi") and not self.supply(self.me, "truck")

    def go_on(self) -> None:
        self.d["spot"] = None
        stock = sum(self.d["stock"].values())
        if self.done():
            self.finish()
        elif self.d["open_vertices"]:
            self.d["phase"] = "place"
        elif len(self.d["used"]) == 2 or (self.d["used"] == "D" and not stock):
            self.end_turn()
        else:
            self.d["phase"] = "turn"

    def finish(self) -> None:
        self.d |= {"phase": "over", "open_vertices": [], "spot": None}

    def end_turn(self) -> None:
        d = self.d
        d["turns"] += 1
        d["idle"] = 0 if set(d["used"]) & {"A", "D"} else d["idle"] + 1
        d["used"] = ""
        playing = [seat for seat in range(self.n) if seat not in d["left"]]
        limit = self.o["no_progress_rounds"] * len(playing)
        if d["final"]:
            d["owed"] = [seat for seat in d["owed"] if seat != self.me]
        elif not sum(d["stock"].values()) or (limit and d["idle"] >= limit) or d["turns"] >= self.o["turn_limit"]:
            d["final"] = True
            d["owed"] = playing
        if d["final"] and not d["owed"]:
            self.finish()
            return
        candidates = d["owed"] if d["final"] else playing
        d["seat"] = min(candidates, key=lambda seat: (seat - self.me - 1) % self.n)
        d["phase"] = "turn"

    def scores(self) -> tuple[int, ...]:
        return tuple(
            sum(2 if kind == "truck" else 1 for seat, kind in self.at.values() if seat == who) for who in range(self.n)
        )
