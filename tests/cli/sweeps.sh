#!/bin/sh
# Sweeps that are made, not listed: axes, conditions, samples, other tools' lines, sweeps in sweeps; and those that assay comes with.
. "$(dirname "$0")/lib.sh"
. "$root/tests/cli/toy.sh"
commit plain toy ''
expect 0 'Workspace ready' assay init
plan() { # CODE TEXT FILE
    expect "$1" "$2" assay plan --quiet --rev plain --sweep "$3"
}

cat >s.yaml <<'Y'
sweep: s
import: [log.txt]
axes:
  direction: [fwd, bwd_data]
  channels: [8]
  in: [4x4, 2x8]
  fil: [1, 3]
  pad: {each_side: [0, 1]}
where: out_h > 1 and pad_h_lo == pad_h_hi
sample: {count: 10, seed: 7}
Y
echo 'MIOpenDriver conv -n 1 -c 8 -H 4 -W 4 -k 8 -y 1 -x 1 -p 0 -q 0 -u 1 -v 1 -l 1 -j 1 -g 1 -F 1
[100%] Built target all' >log.txt
plan 0 'sweep s: 10 problems; 128 combinations of its axes, 8 of them no convolution; 1 lines of imports passed over; where leaves out' s.yaml
also '; a sample of 5'
also '20 jobs: 20 to run, 0 in the store'
cp output first
sed -i 's/\[4x4, 2x8\]/[2x8, 4x4]/' s.yaml
plan 0 'sweep s: 10 problems' s.yaml
sort first >a && sort output >b
cmp -s a b || bad "the order of an axis changed the sample"
count=$((count + 1))

# What the toy does of it is right, and what it does not is said so.
printf 'sweep: t\naxes: {channels: [[1, 8, 8]], in: [4x4, 2x8], fil: 1}\n' >t.yaml
expect 0 '2 passed, 0 failed' assay run --quiet --rev plain --sweep t.yaml

printf 'sweep: t\naxes: {channels: 4, in: 4x4, fil: 1}\nwhere: in_hh > 2\n' >t.yaml
plan 128 't.yaml:3:8: where: a problem has no `in_hh` (did you mean `in_h`?)' t.yaml
printf 'sweep: t\naxes: {channels: 4, in: 4x4, fil: 1, pads: 1}\n' >t.yaml
plan 128 't.yaml:2:38: axes.pads: there is no such key (did you mean `pad`?)' t.yaml
printf 'sweep: t\ninclude: [t.yaml]\n' >t.yaml
plan 128 't.yaml:2:11: include:' t.yaml
also 'includes itself'
expect 0 'each_side' assay doctor --keys sweep
also 'keep as many, chosen by a hash of each problem'

# Those in configs: as many problems as they say, within a second or two.
for sweep in "$root"/configs/sweeps/*.yaml; do
    plan 0 ' jobs: ' "$sweep"
done
plan 0 'sweep conv-structure: 2000 problems; 294912 combinations of its axes' "$root/configs/sweeps/conv-structure.yaml"
finish
