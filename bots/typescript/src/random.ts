import type { Bot } from "./crosstown/bot.js";
import { fairIndex } from "./crosstown/luck.js";

/** Plays any game: takes one of the legal actions by chance. */
export const randomBot: Bot = {
  name: "random",
  version: "1",
  parallelMatches: 4,
  // It only counts, so neither is sent, which is quicker. Take the two lines out to read them.
  omitObservation: true,
  omitLegalActions: true,
  start: ({ botSeed }) => ({
    choose: (turn) => fairIndex(botSeed, turn.number, turn.legalCount),
  }),
};
