#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make_device_check.sh BUILD [MORE…]: packs BUILD's conformance tests, tool and examples, and test programs named in
# addition, with every library that glibc does not bring into BUILD/device_check/, whose run.py checks a GPU on another
# machine. SANITIZER=WHEEL packs compute-sanitizer, too, from a wheel of nvidia-cuda-sanitizer-api.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1
shift
limit_mib=60
stage=$build/stage/luisa-tile-check
out=$build/device_check

rm -rf "$stage" "$out"
mkdir -p "$stage/bin" "$stage/lib" "$stage/tests" "$out"
# Programs find the library in lib/ beside their folder.
cp -L "$build"/lib/libluisa_tile.so.[0-9].[0-9] "$stage/lib"
for program in conformance luisa-tile "$@"; do
    cp "$build/bin/$program" "$stage/bin"
done
# Those that need no picture and no weights.
for example in attention convolution cross_entropy gemm rows whole_array; do
    [[ ! -e $build/bin/$example ]] || cp "$build/bin/$example" "$stage/bin"
done
if [[ -n ${SANITIZER:-} ]]; then
    mkdir -p "$build/stage/wheel"
    unzip -q -o "$SANITIZER" -d "$build/stage/wheel"
    mkdir "$stage/sanitizer"
    cp -r "$build"/stage/wheel/nvidia/*/bin "$build"/stage/wheel/nvidia/*/lib "$stage/sanitizer"
    chmod +x "$stage/sanitizer/bin/compute-sanitizer"
fi
# What tests read of the sources.
cp -r "$here/../tests/tool" "$here/../tests/conformance" "$stage/tests"
find "$stage/tests" -name '*.cpp' -delete
"$here"/needed_libraries.sh "$stage"/bin/* |
    while read -r library; do
        [[ -e $stage/lib/$(basename "$library") ]] || cp -L "$library" "$stage/lib"
    done
strip --strip-unneeded "$stage"/bin/* "$stage"/lib/*
tar -c -C "$build/stage" --owner=0 --group=0 --sort=name luisa-tile-check | xz -6 -T0 >"$out/check.tar.xz"
cp "$here/device_check.py" "$out/run.py"
size_mib=$((($(stat -c %s "$out/check.tar.xz") + 1048575) / 1048576))
echo "$out: $size_mib MiB; there, python3 $out/run.py checks the GPU"
if [[ $size_mib -gt $limit_mib ]]; then
    echo "larger than $limit_mib MiB" >&2
    exit 1
fi
