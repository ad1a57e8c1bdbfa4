#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# needed_libraries.sh PROGRAM…: prints the files of the libraries that the programs load, other than glibc's and the
# kernel's: what a pack for another machine has to bring.
set -euo pipefail
ldd "$@" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libresolv|ld-linux[^/]*)\.so'
