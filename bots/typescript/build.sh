#!/bin/sh
# Makes build/bot.cjs, one file with all it needs. Needs Node 20 or newer; `npm ci` fetches all it needs beforehand.
set -eu
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci --no-fund --no-audit
node build.js
node_modules/.bin/tsc # esbuild leaves types out without checking them
