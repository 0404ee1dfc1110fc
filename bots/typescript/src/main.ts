// One program, several players: the option `player` of bot.toml, or of the tournament, says which one plays.
import { options } from "./crosstown/bot.js";
import { fail, run } from "./crosstown/client.js";
import { randomBot } from "./random.js";
import { traffiqBot } from "./traffiq.js";

const bots = new Map([
  ["random", randomBot],
  ["traffiq", traffiqBot],
]);
const player = String(options().player ?? "random");
run(bots.get(player) ?? fail(`option player is '${player}': expected ${[...bots.keys()].join(" or ")}`));
