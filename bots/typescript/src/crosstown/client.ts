import { readFileSync } from "node:fs";
import { isIPv4 } from "node:net";
import { ChannelCredentials, credentials, type ChannelOptions, type ServiceError, status } from "@grpc/grpc-js";
import { RefereeClient, type Hello, type RefereeMessage } from "../../build/messages/crosstown/v1/referee.js";
import type { Bot } from "./bot.js";
import { Playing, type Said } from "./playing.js";

const PROTOCOL = 1;
const PING_TIMEOUT_MS = 20_000;

/** Prints what is wrong for the bot's author and ends the process with exit code 1. */
export function fail(problem: unknown): never {
  console.error(problem);
  process.exit(1);
}

/**
 * Plays until the referee says Bye, then ends the process with exit code 0; with 1 and a sentence on stderr if
 * something is wrong.
 */
export function run(bot: Bot): void {
  const address = required("CROSSTOWN_ADDRESS");
  const token = required("CROSSTOWN_TOKEN");
  const client = new RefereeClient(address, security(address), channelOptions(address));
  const limitS = seconds("CROSSTOWN_CONNECT_S", 10);
  const connecting = setTimeout(() => {
    const used = address.startsWith("unix:")
      ? "; it takes one process for each token, and no further connection after that"
      : "";
    fail(`no answer from the referee at ${address} within ${String(limitS)} s${used}`);
  }, limitS * 1000);
  client.waitForReady(Date.now() + limitS * 1000, (late) => {
    if (late) return; // the timer above says so
    const stream = client.play();
    const send = (body: Said): void => {
      stream.write({ body });
    };
    const matches = new Map<string, Playing>();
    stream.on("data", ({ body }: RefereeMessage) => {
      clearTimeout(connecting);
      if (body === undefined || body.$case === "welcome") return; // or of a later version
      if (body.$case === "bye") {
        stream.on("finish", () => process.exit(0));
        stream.end();
        return;
      }
      const { match } = body.value;
      if (body.$case === "matchStart") {
        matches.set(match, new Playing(bot, body.value, send));
        return;
      }
      matches.get(match)?.deliver(body).catch(fail);
      if (body.$case === "matchEnd") matches.delete(match);
    });
    stream.on("error", (error: ServiceError) => {
      fail(`the referee ended the stream: ${error.details || status[error.code]}`);
    });
    stream.on("end", () => {
      // An error, if there is one, comes right after.
      setTimeout(() => fail("the referee ended the stream"), 100);
    });
    send({ $case: "hello", value: hello(bot, token) });
  });
}

function hello(bot: Bot, token: string): Hello {
  return {
    protocol: PROTOCOL,
    token,
    name: bot.name,
    version: bot.version,
    games: bot.games ?? [],
    maxParallelMatches: bot.parallelMatches ?? 1,
    printsStacks: false,
    wantsText: false,
    wantsUpdates: bot.wantsUpdates ?? false,
    omitObservation: bot.omitObservation ?? false,
    omitLegalActions: bot.omitLegalActions ?? false,
    session: "",
    received: 0n,
  };
}

function required(name: string): string {
  return (
    process.env[name] ??
    fail(`${name} is not set: a bot is started by the referee, for instance by \`crosstown run FILE\``)
  );
}

function seconds(name: string, otherwise: number): number {
  const set = Number.parseInt(process.env[name] ?? "", 10);
  return Number.isNaN(set) ? otherwise : set;
}

/** Where a plain connection may go: to another machine it would tell the token. */
function isOnThisMachine(address: string): boolean {
  if (address.startsWith("unix:")) return true;
  const host = address.slice(0, Math.max(0, address.lastIndexOf(":")));
  return host === "localhost" || host === "[::1]" || (isIPv4(host) && host.startsWith("127."));
}

function security(address: string): ChannelCredentials {
  const path = process.env.CROSSTOWN_TLS_CA;
  if (address.startsWith("unix:") || (!path && isOnThisMachine(address))) return credentials.createInsecure();
  if (!path) {
    return fail(
      `the referee at ${address} is not on this machine, and CROSSTOWN_TLS_CA is not set: give it the path of a PEM` +
        " file with the certificate of the referee or of who signed it",
    );
  }
  try {
    return credentials.createSsl(readFileSync(path));
  } catch (error) {
    return fail(
      `CROSSTOWN_TLS_CA names ${path}, expected the referee's certificate authority, a PEM file: ${String(error)}`,
    );
  }
}

function channelOptions(address: string): ChannelOptions {
  const given: ChannelOptions = {
    "grpc.max_receive_message_length": -1,
    "grpc.max_send_message_length": -1,
    "grpc.initial_reconnect_backoff_ms": 100,
    "grpc.max_reconnect_backoff_ms": 1000,
  };
  // Through a proxy a plain connection would leave this machine.
  if (isOnThisMachine(address)) given["grpc.enable_http_proxy"] = 0;
  // A unix socket tells at once that the other side is gone; a network only if asked.
  const everyS = seconds("CROSSTOWN_KEEPALIVE_S", address.startsWith("unix:") ? 0 : 20);
  if (everyS === 0) return given;
  return { ...given, "grpc.keepalive_time_ms": everyS * 1000, "grpc.keepalive_timeout_ms": PING_TIMEOUT_MS };
}
