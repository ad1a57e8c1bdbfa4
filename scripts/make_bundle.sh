#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make_bundle.sh BUILD: packs BUILD's programs with every library that glibc does not bring into
# BUILD/luisa-tile-<version>-<machine>.run, which unpacks itself.
set -euo pipefail
build=$1
limit_mib=40
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")
name=luisa-tile-$version-$(uname -m)
stage=$build/stage/$name
archive=$build/$name.run

# The programs' run path is $ORIGIN/../lib as DT_RPATH, which also serves the libraries' own needs.
rm -rf "$build/stage"
mkdir -p "$stage/bin" "$stage/lib"
cp "$build"/bin/* "$stage/bin"
cp LICENSE README.md "$stage"

scripts/needed_libraries.sh "$build"/bin/* | while read -r library; do
    cp -L "$library" "$stage/lib/$(basename "$library")"
done
strip --strip-unneeded "$stage"/bin/* "$stage"/lib/*
for file in "$stage"/bin/*; do
    if ! readelf -d "$file" | grep -q 'RPATH.*\$ORIGIN'; then
        echo "$file has no \$ORIGIN run path" >&2
        exit 1
    fi
done

# The peers of GPUs are timed by Python, where there is one.
cp bench/gpu_peers.py bench/gpu_triton.py "$stage/bin"

cat >"$archive" <<'END'
#!/bin/sh
# Unpacks Luisa Tile into the folder given as argument, or beside this file.
set -e
target=${1:-$(basename "$0" .run)}
mkdir -p "$target"
sed '1,/^__ARCHIVE__$/d' "$0" | xz -dc | tar -x -C "$target" --strip-components=1
echo "unpacked into $target; programs are in $target/bin"
exit 0
__ARCHIVE__
END
tar -c -C "$build/stage" --owner=0 --group=0 --sort=name "$name" | xz -9e -T0 >>"$archive"
chmod +x "$archive"
size_mib=$((($(stat -c %s "$archive") + 1048575) / 1048576))
echo "$archive: $size_mib MiB"
if [[ $size_mib -gt $limit_mib ]]; then
    echo "larger than $limit_mib MiB" >&2
    exit 1
fi
