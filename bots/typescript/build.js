// Makes build/bot.cjs: the messages' code by buf and ts-proto, then one file of all by esbuild. No protoc is needed.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { build } from "esbuild";

const REFEREE = "crosstown/v1/referee.proto";

// The messages: CROSSTOWN_PROTO, proto here, or that of the checkout.
const folder = [process.env.CROSSTOWN_PROTO, "proto", "../../proto"].find(
  (place) => place && existsSync(`${place}/${REFEREE}`),
);
if (!folder) {
  console.error(`${REFEREE} found neither in proto/ nor in ../../proto: set CROSSTOWN_PROTO`);
  process.exit(1);
}
execFileSync("node_modules/.bin/buf", ["generate", folder, "--template", "buf.gen.yaml"], { stdio: "inherit" });
await build({
  entryPoints: ["src/main.ts"],
  outfile: "build/bot.cjs",
  bundle: true,
  minifySyntax: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  sourcemap: "inline",
  sourcesContent: false,
  logLevel: "warning",
});
