#!/bin/sh
# Makes build/bot. Needs g++ 12 or newer, CMake 3.25 and Debian's libgrpc++-dev and protobuf-compiler-grpc.
set -eu
cd "$(dirname "$0")"
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release
cmake --build build --parallel "${CROSSTOWN_BUILD_JOBS:-2}"
