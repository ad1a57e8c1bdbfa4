#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh [SECONDS]: what make_gpu_bench.sh packed, on this machine's GPU, within about so many seconds (default 560). Parts that
# no time is left for are named.
here=$(cd "$(dirname "$0")" && pwd)
seconds=${1:-560}
begin=$(date +%s)
work=$(mktemp -d)
OUT=${OUT:-$work}
python=${PYTHON:-python3}
tar -xJf "$here/pack.tar.xz" -C "$work" --strip-components=1
export LUISA_TILE_CACHE=off PYTHONDONTWRITEBYTECODE=1
if ldd "$work/bin/luisa-tile-bench" | grep -q 'not found'; then
    export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$work/lib/extra"
fi
status=0

# What is left of the time.
left() { echo $((seconds - $(date +%s) + begin)); }
part() {
    echo "== $* ($(left) s left)"
    if [ "$(left)" -lt 30 ]; then
        echo "no time left for it"
        status=1
        return
    fi
    timeout "$(left)" "$@" || { echo "status $? of: $*"; status=1; }
}

"$work/bin/luisa-tile" devices
PYTHONPATH=$work/python LUISA_TILE_LIBRARY=$(echo "$work"/lib/libluisa_tile.so.*) \
    part "$python" -m unittest discover -v -s "$work/tests/python" -p 'test_torch.py'
peers="$python $work/bin/gpu_peers.py"
part $peers rows --json "$OUT/rows.json"
part $peers fused --peers eager,compile,copy --case '^(4096x4096|16384x1024|4095)' --json "$OUT/fused.json"
part $peers reduce transpose --peers eager,compile,copy --json "$OUT/reduce.json"
part $peers gemm topk sort --peers eager,copy --json "$OUT/order.json"
part $peers whole --peers eager,copy --json "$OUT/whole.json"
part $peers scan --peers eager,copy --json "$OUT/scan.json"
exit $status
