#!/bin/bash
cd "$(dirname "$0")"; d=$(mktemp -d); tar -xJf pack.tar.xz -C $d; timeout 300 python3 $d/bench.py 2>&1 | tee ${OUT:-.}/wgmma.txt
