#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A program compiled again, as another C++ standard or by another compiler, must print the same TileIR:
#   check_identity.sh SOURCE KERNELS lines|text PROGRAM COMPILER FLAGS…
# PROGRAM is SOURCE as this build compiled it; each kernel that the file KERNELS defines must be printed. With
# `lines` the source lines of the operations count too; compilers differ in the line that they give a call
# which spans several.
set -eu
source=$1
kernels=$2
mode=$3
program=$4
shift 4
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "$*"
    exit 1
}
compiler=$1
shift
"$compiler" "$source" -o "$folder/again" "$@" || fail "$compiler cannot compile $source"
"$program" --emit-tir >"$folder/a" 2>"$folder/a.standard"
"$folder/again" --emit-tir >"$folder/b" 2>"$folder/b.standard"

if [ "$mode" = text ]; then
    sed -i 's|  // [^ ]*$||' "$folder/a" "$folder/b"
elif cmp -s "$folder/a.standard" "$folder/b.standard"; then
    fail "both were compiled as $(cat "$folder/a.standard")"
fi
defined=$(grep -c 'tile_kernel(' "$kernels")
printed=$(grep -c '^kernel @' "$folder/a" || true)
[ "$printed" -ge "$defined" ] || fail "$kernels defines $defined kernels, $printed are printed"
diff "$folder/a" "$folder/b" || fail "the TileIR differs"
echo "$printed kernels, $(wc -c <"$folder/a") bytes, the same"
