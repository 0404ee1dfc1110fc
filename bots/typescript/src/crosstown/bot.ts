import type { Decide, MatchEnd, MatchStart, Update } from "../../build/messages/crosstown/v1/referee.js";

/** Gives the match up. */
export const RESIGN = Symbol("resign");

/** An index below `turn.legalCount`; the game's Action message, encoded; or RESIGN. */
export type Answer = number | Uint8Array | typeof RESIGN;

/** Plays one match. An exception ends the process: that is a crash, which loses the match. */
export interface Player {
  choose(turn: Turn): Answer | Promise<Answer>;
  /** Others have moved; only with `wantsUpdates`. */
  update?(update: Update): void;
  end?(end: MatchEnd): void;
}

/** What the bot tells the referee about itself, and how it begins a match. */
export interface Bot {
  name: string;
  version: string;
  /** Ids of the games it plays; none: any. */
  games?: string[];
  /** Matches it plays at the same time, taking turns where a player waits for something. */
  parallelMatches?: number;
  wantsUpdates?: boolean;
  /** These two save the work of encoding what is not looked at; it is then not there. */
  omitObservation?: boolean;
  omitLegalActions?: boolean;
  /** Makes the player of a match. There is time: the limit is the one for becoming ready. */
  start(match: MatchStart): Player;
}

/** A generated message: Observation and LegalActions of a game are two. */
export interface Decoder<Message> {
  decode(bytes: Uint8Array): Message;
}

/** One question. */
export class Turn {
  /** Stands beside the move in the record. */
  note = "";

  constructor(
    readonly message: Decide,
    /** Aborted when the referee has closed the question: an answer would be dropped. */
    readonly signal: AbortSignal,
    private readonly bot: Bot,
  ) {}

  /** The game's name for the question, such as "turn". */
  get kind(): string {
    return this.message.kind;
  }

  /** Number of the decision within the match, over all seats, ascending. */
  get number(): number {
    return this.message.decision;
  }

  /** Legal answers are 0 to legalCount-1. 0 is the harmless one where there is one. */
  get legalCount(): number {
    return this.message.legalCount;
  }

  /**
   * Time for this answer when the referee sent the question, with all that bank or total can give, milliseconds; at 0
   * none is left. `message.clock` says how much of it is bank or total, which later answers lack.
   */
  get leftMs(): number {
    return Number(this.message.clock?.leftUs ?? 0n) / 1000;
  }

  /** The game's Observation message. Throws if the bot omits it. */
  observation<Message>(type: Decoder<Message>): Message {
    if (this.bot.omitObservation) {
      throw new Error("the observation is not sent: your Bot says omitObservation: true; take that line out of it");
    }
    return type.decode(this.message.observation);
  }

  /** The game's LegalActions message. Throws if the bot omits it. */
  legalActions<Message>(type: Decoder<Message>): Message {
    if (this.bot.omitLegalActions) {
      throw new Error("the legal actions are not sent: your Bot says omitLegalActions: true; take that line out of it");
    }
    return type.decode(this.message.legalActions);
  }

  /** The game's Events message: what this seat saw happen since the last message to it. */
  events<Message>(type: Decoder<Message>): Message {
    return type.decode(this.message.events);
  }
}

/** The bot's own options: those of bot.toml with the tournament's over them. */
export function options(): Record<string, string | number | boolean> {
  return JSON.parse(process.env.CROSSTOWN_OPTIONS ?? "{}") as Record<string, string | number | boolean>;
}
