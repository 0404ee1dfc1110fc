import { LegalActions, Observation } from "../build/messages/crosstown/v1/manhattan_traffiq.js";
import { City, STRENGTHS, type Place } from "./city.js";
import type { Bot, Turn } from "./crosstown/bot.js";
import { fairIndex } from "./crosstown/luck.js";

/** Of a vertex completed, where a vehicle can be placed. */
const COMPLETED_WORTH = 1.5;
/** Of a vertex that lacks one tile when others have their turn, and when there is another tile to lay. */
const OPENING_COST = 0.8;
const OWN_OPENING_COST = 0.2;
const LAYING_WORTH = 0.1;
const DRAWING_WORTH = 0.9;
const EACH_IN_HAND = 0.1;

/** An action as the packed column lists it. */
type Action =
  | { kind: "nothing" | "draw" }
  | { kind: "ride"; from: Place; to: Place; power: number }
  | { kind: "attach"; cell: Place }
  | { kind: "place"; spot: Place; power: number }
  | { kind: "compete"; streets: number };

/** The numbers of the column one after the other: each action takes as many as its kind has. */
function* unpack(column: readonly number[]): Generator<Action> {
  let at = 0;
  const next = (): number => column[at++] ?? 0;
  const place = (): Place => ({ x: next(), y: next() });
  while (at < column.length) {
    switch (next()) {
      case 2:
        yield { kind: "draw" };
        break;
      case 3:
        yield { kind: "ride", from: place(), to: place(), power: 1 };
        break;
      case 4:
        yield { kind: "ride", from: place(), to: place(), power: 2 };
        break;
      case 5: {
        const cell = place();
        next(); // the face: whatever is legal fits
        yield { kind: "attach", cell };
        break;
      }
      case 7:
        yield { kind: "place", spot: place(), power: STRENGTHS[next()] ?? 0 };
        break;
      case 8:
        yield { kind: "compete", streets: next().toString(2).replaceAll("0", "").length };
        break;
      default:
        yield { kind: "nothing" };
    }
  }
}

/** Points, about, that an action is good for. */
function worth(action: Action, city: City, seen: Observation, seat: number): number {
  switch (action.kind) {
    case "nothing":
      return 0;
    case "draw":
      return Math.max(EACH_IN_HAND, DRAWING_WORTH - EACH_IN_HAND * (seen.handSizes[seat] ?? 0));
    case "ride":
      return city.gain(seat, action.to, action.power, action.from) - LAYING_WORTH;
    case "place":
      return action.power + city.gain(seat, action.spot, action.power);
    case "compete":
      return action.streets;
    case "attach": {
      const { x, y } = action.cell;
      const more = seen.used === "" && (seen.handSizes[seat] ?? 0) > 1;
      let sum = LAYING_WORTH;
      for (const corner of [
        { x, y },
        { x: x + 1, y },
        { x, y: y + 1 },
        { x: x + 1, y: y + 1 },
      ]) {
        const before = city.tilesAround(corner);
        if (before === 3) sum += COMPLETED_WORTH;
        if (before === 2) sum -= more ? OWN_OPENING_COST : OPENING_COST;
      }
      return sum;
    }
  }
}

/** One of the best, by chance. */
function best(worths: readonly number[], seed: bigint, turn: Turn): number {
  const top = Math.max(...worths);
  const ties = [...worths.keys()].filter((index) => worths[index] === top);
  return ties[fairIndex(seed, turn.number, ties.length)] ?? 0;
}

/** Plays Manhattan TraffIQ: completes vertices, puts trucks on them, and drives where weaker opponents can be thrown out. */
export const traffiqBot: Bot = {
  name: "traffiq",
  version: "1",
  games: ["manhattan_traffiq"],
  parallelMatches: 4,
  start: ({ botSeed, seat }) => ({
    choose: (turn) => {
      const seen = turn.observation(Observation);
      const city = new City(seen);
      const actions = [...unpack(turn.legalActions(LegalActions).column)];
      return best(
        actions.map((action) => worth(action, city, seen, seat)),
        botSeed,
        turn,
      );
    },
  }),
};
