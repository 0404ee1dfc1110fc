#!/bin/sh
# keep.sh COMPILER... -o OBJECT ...: compiles, or takes what the same compiler made before of the same text with the same
# flags. Objects are kept in $CROSSTOWN_KEPT, which `crosstown bots build` gives to one build of a bot after the other.
set -eu

object= before= flags=
for word; do
  case $before in -o) object=$word ;; esac
  before=$word
  case $word in
    -g*) exec "$@" ;;  # an object for a debugger knows the lines of its file, which the key below does not
    -I* | -isystem | /* | -f*-prefix-map=*) ;;  # where the text came from does not matter
    *) flags="$flags $word" ;;
  esac
done

"$@" -E -P
text=$(sha256sum <"$object")
compiler=$("$1" --version)
key=$(printf '%s\n' "$text" "$compiler" "$flags" | sha256sum | cut -c1-40)
kept=$CROSSTOWN_KEPT/objects/$key.o
if [ -f "$kept" ]; then
  cp "$kept" "$object"
  touch "$kept"
  exit
fi
"$@"
mkdir -p "$CROSSTOWN_KEPT/objects"
cp "$object" "$kept.$$"
mv "$kept.$$" "$kept"
find "$CROSSTOWN_KEPT/objects" -type f -mtime +14 -delete
