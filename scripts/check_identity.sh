#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Two builds of one program, as different C++ standards or by different compilers, must print the
# same TileIR:
#   check_identity.sh SOURCE lines|text COMMAND -- COMMAND
# With `lines` the source lines of the operations count too; compilers differ in the line that they
# give a call which spans several. Each kernel that SOURCE defines must be printed.
set -eu
source=$1
mode=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

first=
while [ "$1" != -- ]; do
    first="$first $1"
    shift
done
shift
# The commands are a program and plain flags: no spaces inside of a word.
$first >"$folder/a" 2>"$folder/a.standard"
"$@" >"$folder/b" 2>"$folder/b.standard"

fail() {
    echo "$*"
    exit 1
}
if [ "$mode" = text ]; then
    sed -i 's|  // [^ ]*$||' "$folder/a" "$folder/b"
elif cmp -s "$folder/a.standard" "$folder/b.standard"; then
    fail "both were compiled as $(cat "$folder/a.standard")"
fi
defined=$(grep -c 'tile_kernel(' "$source")
printed=$(grep -c '^kernel @' "$folder/a" || true)
[ "$printed" -ge "$defined" ] || fail "$source defines $defined kernels, $printed are printed"
diff "$folder/a" "$folder/b" || fail "the TileIR differs"
echo "$printed kernels, $(wc -c <"$folder/a") bytes, the same"
