#!/bin/sh
# Formats the sources; `sh format.sh --check` changes nothing and fails where something is to be changed.
set -eu
cd "$(dirname "$0")"
jar=target/google-java-format-1.28.0-all-deps.jar
[ -f "$jar" ] || mvn --batch-mode --quiet dependency:copy -DoutputDirectory=target \
  -Dartifact=com.google.googlejavaformat:google-java-format:1.28.0:jar:all-deps
exports=
for package in api code file parser tree util; do
  exports="$exports --add-exports=jdk.compiler/com.sun.tools.javac.$package=ALL-UNNAMED"
done
case "${1-}" in
--check) mode="--dry-run --set-exit-if-changed" ;;
*) mode=--replace ;;
esac
find src -name '*.java' -exec java $exports -jar "$jar" $mode {} +
