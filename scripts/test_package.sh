#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_package.sh BUILD: installs BUILD into a fresh folder and builds and runs a project that finds
# the package there and nowhere else.
set -euo pipefail
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
cmake -S tests/package/consumer -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_PREFIX_PATH="$work/prefix" >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work/build"
"$work/build/consumer"
