#!/bin/sh
# pebble's first commit, built as assay builds it, against the reference: random problems in host code, code objects for AMD and NVIDIA, the interface.
#     check.sh PEBBLE_CHECK
set -eu
check=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$here/make-history" pebble.git >/dev/null
git --git-dir=pebble.git archive "$(sed -n 's/^base //p' "$here/shas")" --prefix=source/ | tar x
cmake -G Ninja -S source -B build -DCMAKE_BUILD_TYPE=Release >log && ninja -C build pebble >>log || { cat log; exit 1; }
library=$folder/build/lib/libpebble.so
"$check" "$library" api
"$check" "$library" gpu
"$check" "$library" random 300 1
PEBBLE_ARCH=x86-64-v3 "$check" "$library" random 200 2
