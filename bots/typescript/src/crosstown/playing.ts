import type { BotMessage, Decide, MatchStart, RefereeMessage } from "../../build/messages/crosstown/v1/referee.js";
import { RESIGN, Turn, type Answer, type Bot, type Player } from "./bot.js";

/** What is sent or read, without the envelope. */
export type Said = NonNullable<BotMessage["body"]>;
export type Heard = NonNullable<RefereeMessage["body"]>;

/** That the wire can carry. */
const MOST_INDEX = 2 ** 32 - 1;

/** One match: its player is shown one message after the other, each when it is done with the one before. */
export class Playing {
  readonly #bot: Bot;
  readonly #player: Player;
  readonly #send: (said: Said) => void;
  #done: Promise<void> = Promise.resolve();
  #asked = 0;
  #question = new AbortController();

  constructor(bot: Bot, start: MatchStart, send: (said: Said) => void) {
    this.#bot = bot;
    this.#player = bot.start(start);
    this.#send = send;
    send({ $case: "ready", value: { match: start.match } });
  }

  /** Hands over a message about the match. Rejected when the player fails. */
  async deliver(heard: Heard): Promise<void> {
    if (heard.$case === "cancel") {
      if (heard.value.decision === this.#asked) this.#question.abort();
      return;
    }
    if (heard.$case === "matchEnd") this.#question.abort();
    if (heard.$case === "decide") {
      this.#asked = heard.value.decision;
      this.#question = new AbortController();
    }
    const signal = this.#question.signal;
    this.#done = this.#done.then(() => this.#show(heard, signal));
    return this.#done;
  }

  async #show(heard: Heard, signal: AbortSignal): Promise<void> {
    if (heard.$case === "decide") {
      const turn = new Turn(heard.value, signal, this.#bot);
      const choice = this.#player.choose(turn);
      const settled = typeof choice === "object" && "then" in choice ? await choice : choice;
      check(turn, settled);
      if (!signal.aborted) this.#send(answer(heard.value, settled, turn.note)); // else nobody waits for it any more
    } else if (heard.$case === "update") {
      this.#player.update?.(heard.value);
    } else if (heard.$case === "matchEnd") {
      this.#player.end?.(heard.value);
    }
  }
}

/** Throws for what is no answer: a NaN would be sent as 0. Whether an index is below legalCount is the referee's to judge. */
function check({ message, legalCount }: Turn, choice: unknown): void {
  if (typeof choice === "number" ? Number.isInteger(choice) && choice >= 0 && choice <= MOST_INDEX : isOther(choice)) {
    return;
  }
  throw new TypeError(
    `choose returned ${String(choice)} for decision ${String(message.decision)} (${message.kind}) of match ${message.match};` +
      ` expected an index from 0 to ${String(legalCount - 1)}, the game's Action message, encoded, or RESIGN`,
  );
}

function isOther(choice: unknown): boolean {
  return choice === RESIGN || choice instanceof Uint8Array;
}

function answer({ match, decision }: Decide, choice: Answer, note: string): Said {
  if (choice === RESIGN) return { $case: "resign", value: { match } };
  const move = { match, decision, note, usage: undefined };
  if (typeof choice === "number") {
    return { $case: "move", value: { ...move, choice: { $case: "index", value: choice } } };
  }
  return { $case: "move", value: { ...move, choice: { $case: "action", value: Buffer.from(choice) } } };
}
