#!/bin/sh
# pebble's faults dealt out anew, and the demo's comparison over that history: is every one of them named again, and nobody else? dealt.sh BUILD SEED
seed=$2
. "$(dirname "$0")/lib.sh"
expect 0 '' "$root/tests/pebble/deal" "$seed" "$folder/dealt"
sed "s,../../out/pebble.git,$folder/dealt/pebble.git," "$root/configs/candidates/pebble.yaml" >pebble.yaml
assay init >/dev/null
expect 1 'REGRESSED' assay compare --candidate pebble.yaml --gate "$root/configs/gates/default.yaml" --base "$(sed -n 's/^base //p' dealt/shas)" --head main \
    --sweep "$root/configs/sweeps/backward-data.yaml" --sweep "$root/configs/sweeps/small.yaml" --sweep "$root/configs/sweeps/resnet50.yaml" \
    --bisect --every-commit --report report
expect 0 'every planted fault is named' "$root/tests/cli/truth.sh" report.json dealt
finish
