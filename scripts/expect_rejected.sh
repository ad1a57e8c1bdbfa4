#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# expect_rejected.sh COMPILER SOURCE FLAGS…: the source must be rejected with the text that its
# `// expect:` comment names.
compiler=$1
source=$2
shift 2
wanted=$(sed -n 's|^// expect: ||p' "$source" | head -n 1)
message=$("$compiler" -fsyntax-only "$@" "$source" 2>&1)
if [ $? -eq 0 ]; then
    echo "$source compiles, but must not"
    exit 1
fi
case $message in
*"$wanted"*) exit 0 ;;
esac
echo "expected in the message: $wanted"
printf '%s\n' "$message"
exit 1
