#!/bin/sh
# Makes build/bot. Needs Go 1.26 or newer; `go mod download` fetches all it needs beforehand.
set -eu
cd "$(dirname "$0")"
go run ./generate
CGO_ENABLED=0 go build -trimpath -p "${CROSSTOWN_BUILD_JOBS:-2}" -o build/bot .
