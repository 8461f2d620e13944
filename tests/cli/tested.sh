#!/bin/sh
# The list of every tested configuration, in the words of each tool: once each, in a stable order, nothing dropped.
. "$(dirname "$0")/lib.sh"
. "$root/tests/cli/toy.sh"
commit plain toy ''
commit narrow toy '-DREFUSES="\"--in_h 2\""'
sed 's/^candidate: toy/candidate: other/' toy.yaml >other.yaml

P='conv fwd f32 n1 c8 k8 g1 in4x4 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw'
Q='conv fwd f32 n1 c8 k8 g1 in2x8 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw'
TWIN='conv fwd f32 n1 c8 k8 g1 in4x4 fil1x1 str1x1 dil1x1 pad0:0x0:0 gnchw gkcyx ngkhw'
ONE_SIDED='conv fwd f32 n1 c8 k8 g1 in3x4 fil1x1 str1x1 dil1x1 pad0:1x0:0 ngchw gkcyx ngkhw'
expect 0 'Workspace ready' assay init
expect 0 '# 0 configurations of toy, as assay lines' assay show --tested
expect 0 '2 passed' assay run --rev plain --problem "$P" --problem "$Q"
expect 125 '1 cannot be told' assay run --rev narrow --problem "$Q"

# Two builds and two kinds of data are one line each; the build tested last says the outcome.
expect 0 '# 2 configurations of toy, as assay lines: 1 ok, 1 not-applicable' assay show --tested
also "$P"
[ "$(grep -c '^conv' output)" -eq 2 ] || bad "a configuration stands twice"
cp output first
assay run --rev plain --problem "$Q" --round 1 >/dev/null 2>&1
expect 0 '2 ok' assay show --tested
grep '^conv' first >lines
grep '^conv' output | cmp -s - lines || bad "the order changed"
expect 0 '# 1 configuration of toy at' assay show --tested --rev narrow
also "$(git -C toy rev-parse --short=10 narrow)"
never "$P"
expect 0 '1 not-applicable' assay show --tested --rev narrow --outcome not-applicable --with-outcome
also "not-applicable $Q"
expect 0 '# 0 configurations' assay show --tested --outcome crash

# In other tools' words, and back.
for tool in miopen rocmlir mlir-miopen miir; do
    expect 0 "as $tool lines" assay show --tested --as $tool
    assay import --from $tool output >back || bad "import --from $tool"
    sort back >output
    sort lines | cmp -s - output || bad "there and back through $tool changes the problems"
done
expect 0 'MIOpenDriver conv ' assay show --tested --as miopen

# What MIOpenDriver cannot say, and what it says in the same words, stays as a comment.
assay run --rev plain --problem "$ONE_SIDED" --problem "$TWIN" >/dev/null 2>&1
expect 0 '# 4 configurations' assay show --tested --as miopen
also "# $ONE_SIDED: "
also 'pads'
also ': its line stands above already'
[ "$(grep -c '^MIOpenDriver' output)" -eq 2 ] || bad "MIOpenDriver cannot say two of four"
expect 0 "$ONE_SIDED" assay show --tested

# Whose: a candidate's own; everybody's when none is named.
expect 0 '# 0 configurations of other' assay show --tested --candidate other.yaml
unset ASSAY_CANDIDATE
expect 0 '# 4 configurations, as rocmlir lines' assay show --tested --as rocmlir
expect 128 'no candidate' assay show --tested --rev plain
expect 128 'no commit `nowhere`' assay show --tested --rev nowhere --candidate toy.yaml
expect 129 'did you mean `miopen`?' assay show --tested --as miopn
expect 129 'did you mean `mismatch`?' assay show --tested --outcome mismach
expect 128 'go with --tested' assay show 1 --as miopen
expect 128 'not both' assay show 1 --tested
expect 128 'or --tested' assay show
finish
