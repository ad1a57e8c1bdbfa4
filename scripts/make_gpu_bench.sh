#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make_gpu_bench.sh BUILD: packs the benchmarks of BUILD (preset bundle), their peers, the Python package and its tests into
# BUILD/gpu_bench/. There, on a machine with a driver and PyTorch, `sh run.sh` checks the package on the GPU and prints
# tables of ratios; lines of JSON go to the folder $OUT if that is set.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
build=$1
limit_mib=30
stage=$build/stage/gpu_bench
out=$build/gpu_bench

rm -rf "$stage" "$out"
mkdir -p "$stage/bin" "$stage/lib" "$stage/tests" "$out"
cp -L "$build"/lib/libluisa_tile.so.[0-9].[0-9] "$stage/lib"
cp "$build"/bin/luisa-tile{,-bench} "$stage/bin"
"$here"/scripts/needed_libraries.sh "$stage"/bin/* |
    while read -r library; do
        [[ -e $stage/lib/$(basename "$library") ]] || cp -L "$library" "$stage/lib"
    done
strip --strip-unneeded "$stage"/bin/* "$stage"/lib/*
# An older standard library of C++ than the machine's must not meet PyTorch; it is for machines that have none.
mkdir "$stage/lib/extra"
mv "$stage"/lib/libstdc++* "$stage"/lib/libgcc_s* "$stage/lib/extra"
cp "$here"/bench/gpu_*.py "$stage/bin"
cp -r "$here/python" "$stage"
cp -r "$here/tests/python" "$here/tests/tool" "$stage/tests"
find "$stage" -name __pycache__ -prune -exec rm -r {} +
tar -c -C "$build/stage" --owner=0 --group=0 --sort=name gpu_bench | xz -6 -T0 >"$out/pack.tar.xz"
cp "$here/scripts/gpu_bench.sh" "$out/run.sh"
size_mib=$((($(stat -c %s "$out/pack.tar.xz") + 1048575) / 1048576))
echo "$out: $size_mib MiB; there, sh run.sh measures"
if [[ $size_mib -gt $limit_mib ]]; then
    echo "larger than $limit_mib MiB" >&2
    exit 1
fi
