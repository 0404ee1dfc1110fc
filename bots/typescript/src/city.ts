import { Vehicle, type Observation, type Standing } from "../build/messages/crosstown/v1/manhattan_traffiq.js";

/** A cell or a vertex; vertex (x, y) is the south-west corner of cell (x, y). */
export interface Place {
  x: number;
  y: number;
}

const key = ({ x, y }: Place): string => `${String(x)},${String(y)}`;

/** What a vehicle counts, by its kind. */
export const STRENGTHS: readonly number[] = Object.assign([], {
  [Vehicle.VEHICLE_TAXI]: 1,
  [Vehicle.VEHICLE_TRUCK]: 2,
});

/** The map with its streets. */
export class City {
  readonly #faces: ReadonlyMap<string, string>;
  readonly #vehicles: ReadonlyMap<string, Standing>;

  constructor(seen: Observation) {
    this.#faces = new Map(seen.tiles.map((tile) => [key(tile), tile.face]));
    this.#vehicles = new Map(seen.vehicles.map((vehicle) => [key(vehicle), vehicle]));
  }

  /** How many of the four cells around a vertex hold tiles. */
  tilesAround({ x, y }: Place): number {
    const cells = [
      { x, y },
      { x: x - 1, y },
      { x, y: y - 1 },
      { x: x - 1, y: y - 1 },
    ];
    return cells.filter((cell) => this.#faces.has(key(cell))).length;
  }

  /** Points that opponents lose when `seat` competes with a vehicle of this strength at `spot`, coming from `source`. */
  gain(seat: number, spot: Place, power: number, source?: Place): number {
    let lost = 0;
    for (const street of [this.#run(spot, 1, 0), this.#run(spot, 0, 1)]) {
      const powers = new Map([[seat, power]]);
      for (const vertex of street) {
        const standing = this.#vehicles.get(key(vertex));
        if (standing && !(source && key(vertex) === key(source))) {
          powers.set(standing.seat, (powers.get(standing.seat) ?? 0) + (STRENGTHS[standing.vehicle] ?? 0));
        }
      }
      const own = powers.get(seat) ?? 0;
      for (const [other, theirs] of powers) {
        if (other !== seat && theirs < own) lost += theirs;
      }
    }
    return lost;
  }

  /** The vertices of the street through `spot` in one direction and its opposite, without `spot`. */
  #run(spot: Place, dx: number, dy: number): Place[] {
    const vertices: Place[] = [];
    for (const sign of [1, -1]) {
      let here = spot;
      for (;;) {
        const there = { x: here.x + sign * dx, y: here.y + sign * dy };
        if (!this.#isSegment(sign > 0 ? here : there, dx === 1)) break;
        vertices.push(there);
        here = there;
      }
    }
    return vertices;
  }

  /** Whether one can drive east (or north) from a vertex: both tiles are there, and their common side is red or beige. */
  #isSegment({ x, y }: Place, east: boolean): boolean {
    const face = this.#faces.get(key({ x, y }));
    const beside = this.#faces.has(key(east ? { x, y: y - 1 } : { x: x - 1, y }));
    const side = face?.[east ? 2 : 3]; // faces are read clockwise from north
    return beside && (side === "r" || side === "t");
  }
}
