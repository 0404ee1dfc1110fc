#!/bin/sh
# Makes target/release/bot. Needs Rust 1.88 or newer; `cargo fetch --locked` fetches all it needs beforehand.
set -eu
cd "$(dirname "$0")"
cargo build --release --locked --jobs "${CROSSTOWN_BUILD_JOBS:-2}"
