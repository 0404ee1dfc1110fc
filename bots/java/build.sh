#!/bin/sh
# Makes target/bot.jar, one file with all it needs. Needs Java 17 or newer and Maven 3.8 or newer.
set -eu
cd "$(dirname "$0")"
mvn --batch-mode --quiet package ${CROSSTOWN_PROTO:+"-Dcrosstown.proto=$CROSSTOWN_PROTO"}
