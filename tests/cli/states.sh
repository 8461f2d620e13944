#!/bin/sh
# What a comparison says beside right and wrong: problems newly refused and newly taken, results that are not there, what the code takes; by the
# gate, in all forms; and the commit behind a refusal.
. "$(dirname "$0")/lib.sh"
. "$root/tests/cli/toy.sh"

commit plain toy ''
commit comment toy '-DUNUSED=1'
commit narrow toy '-DREFUSES="\"--in_h 2\""'
commit heavy toy_kernel -DBALLAST=262144
commit nothing toy '-DREFUSES="\"--operation\""'
P='conv fwd f32 n1 c8 k8 g1 in4x4 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw'
Q='conv fwd f32 n1 c8 k8 g1 in2x8 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw'
expect 0 'Workspace ready' assay init
compare() { # CODE TEXT BASE HEAD OPTION...
    code=$1 text=$2 base=$3 head=$4
    shift 4
    expect "$code" "$text" assay compare --base "$base" --head "$head" --problem "$P" --problem "$Q" --no-timing --quiet "$@"
}

# Nothing changed but a flag.
compare 0 'PASS: nothing got worse in 2 configurations' plain comment
also 'passes 2   fails 0   not applicable 0   no result 0'
also 'Nothing is refused as not applicable, at base or at head.'
also 'kernels       2 -> 2 (unchanged); none of 2 problems grew'
also 'so it only informs'

# Newly refused: it blocks, and the commit behind it is found.
compare 1 'REGRESSED: 1 no longer applicable of 2 configurations' plain heavy --bisect --report report
also 'newly not applicable: not-applicable'
also 'passes 2 -> 1   fails 0   not applicable 0 -> 1   no result 0'
also 'The share of not-applicable changed: 0 of 2 (0.0 %) at base, 1 of 2 (50.0 %) at head.'
also '1. not-applicable'
also "$(git -C toy rev-parse narrow | cut -c 1-10) narrow"
also 'PROVEN'
also '1 of 1 problem grew by more than 10 %'
also ' %): conv fwd f32 n1 c8 k8 g1 in4x4'
tr -d '\n ' <report.json >output
also '{"name":"notapplicable","base":0,"head":1}'
also '"name":"workspace","unit":"bytes","base":0,"head":0,"ratio":null,"problems":1'
cp report.md output
also '### Coverage'
also '| not applicable | 0 | **1** |'
also '### Generated code'
cp report.html output
also '<h2>Coverage</h2>'
also '<h2>Generated code</h2>'

# The gate may only doubt it, and may block what else grew.
cat >gate.yaml <<'EOF'
gate: mild
coverage: {newly_not_applicable: doubt}
EOF
expect 125 'COVERAGE CHANGED: 1 no longer applicable of 2 configurations' assay report --gate gate.yaml
echo 'figures: {code: {blocks: problem}}' >>gate.yaml
expect 1 'REGRESSED: more code; action needed' assay report --gate gate.yaml
also 'grew by more than 10 %; the gate blocks'
sed -i 's/problem/problm/' gate.yaml
expect 128 'gate.yaml:3:26: figures.code.blocks' assay report --gate gate.yaml
also 'did you mean `problem`?'
sed -i 's/: doubt/: ignore/' gate.yaml
expect 128 'gate.yaml:2:34: coverage.newly_not_applicable: `ignore` is not one of block, doubt' assay report --gate gate.yaml

# Newly taken is not green; refused everywhere is no pass; a library that is none gives no result.
compare 125 'COVERAGE CHANGED: not-applicable went from 1 to 0 of 2; someone has to look' heavy comment
also 'newly applicable: ok (base: not-applicable'
compare 1 'without a result of 2 configurations' plain nothing
also 'missing: infra'
also 'no result 0 -> 2'
expect 0 'newly_not_applicable' assay doctor --keys gate
also 'compile_time'
# NaN that becomes 0 is seen by special data alone, and its commit is found by them.
commit clear toy ''
commit clean toy_kernel -DBALLAST=8
commit loses toy_kernel -DLOSES
commit after toy_kernel '-DLOSES -DBALLAST=9'
one() { assay compare --base clean --head after --problem "$P" --no-timing --quiet "$@"; }
expect 0 'PASS: nothing got worse in 1 configuration' one
expect 1 'REGRESSED: 1 wrong' one --gate "$root/configs/gates/thorough.yaml" --bisect
also 'special data: '
also "$(git -C toy rev-parse loses | cut -c 1-10) loses"
expect 0 'ran 4 checks' assay run --rev plain --problem "$P" --gate "$root/configs/gates/thorough.yaml"
expect 0 'PASS: nothing got worse in 1 configuration' one # the default gate does not ask for them

# One element is off by a half: ours sees it, and what others would say stands beside.
commit right toy_kernel ''
commit half toy_kernel -DWRONG=0.5
printf 'gate: g\ncorrectness: {data: [real], rms: 0.1, atol: 0.01, rtol: 0.1}\n' >others.yaml
expect 1 '; by rms 0.1 it passes (0.0' assay compare --base right --head half --problem "$P" --no-timing --quiet --gate others.yaml
also '; by atol 0.01, rtol 0.1 it fails (1 beyond)'
expect 0 'by rms 0.1 it passes' assay run --rev right --problem "$P" --gate others.yaml --all
also 'by atol 0.01, rtol 0.1 it passes (0 beyond)'
sed -i 's/atol: 0.01/atol: 1/' others.yaml
expect 1 '; by atol 1, rtol 0.1 it passes (0 beyond)' assay compare --base right --head half --problem "$P" --no-timing --quiet --gate others.yaml

finish
