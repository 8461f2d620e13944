#!/bin/sh
# Broken input of every kind: one clear message each, with file, line, column, key and the nearest right word where there is one; nothing runs and
# nothing is left behind.
. "$(dirname "$0")/lib.sh"

P='conv fwd f32 n1 c8 k8 g1 in8x8 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw'
git init -q -b main repo
(cd repo && echo text >file && git add -A && git -c user.name=t -c user.email=t@t commit -q -m one)
write() { # a candidate file with this toolchain, step and driver
    cat >c.yaml <<EOF
candidate: sample
repository: repo
build:
  steps: [[$2]]
  artifacts: [lib.so]
  toolchain: [[$1]]
driver: miir
library: lib.so
EOF
}
write 'true' 'cp, "{source}/file", "{build}/lib.so"'

# Workspace and candidate.
expect 128 'no workspace' assay run --candidate c.yaml --problem "$P"
also 'assay init'
expect 0 'Workspace ready' assay init
expect 0 'Workspace ready' assay init
expect 128 'no candidate: give --candidate FILE' assay run --problem "$P"
expect 128 'nowhere.yaml' assay run --candidate nowhere.yaml --problem "$P"
expect 128 'nothing to do: name problems' assay run --candidate c.yaml

# YAML: every fault of the file, with its place.
sed 's/driver: miir/drivr: miir/; s/steps:/step:/' c.yaml >broken.yaml
expect 128 'broken.yaml:7:1: drivr' assay run --candidate broken.yaml --problem "$P"
also 'did you mean `driver`?'
also 'broken.yaml:4:3: build.step'
also 'did you mean `steps`?'
printf 'candidate: [unfinished\n' >broken.yaml
expect 128 'broken.yaml:2:' assay run --candidate broken.yaml --problem "$P"
printf 'sweep: s\nproblems: []\n' >broken.yaml
expect 128 'this is a sweep file, a candidate file was wanted' assay run --candidate broken.yaml --problem "$P"
{ cat c.yaml; echo 'limits: {compile: 20 parsecs, memory: lots}'; } >broken.yaml
expect 128 'broken.yaml:9:' assay run --candidate broken.yaml --problem "$P"
also 'limits.compile'
also 'limits.memory'
printf 'sweep: s\nproblems:\n  - %s\n  - conv fwd f32 nonsense\n' "$P" >s.yaml
expect 128 's.yaml:4:5: problems' assay run --candidate c.yaml --sweep s.yaml
printf 'sweep: s\ninclude: [lost.txt]\n' >s.yaml
expect 128 's.yaml:2:11: include' assay run --candidate c.yaml --sweep s.yaml
printf 'model: m\nbatch: 2\nlayers: [{problem: "%s"}]\n' "$P" >m.yaml
expect 128 "the model's batch is 2" assay compare --candidate c.yaml --base main --head main --model m.yaml
printf 'gate: g\nspeed: {screen_pairs: 1}\n' >g.yaml
expect 128 'g.yaml:2:' assay run --candidate c.yaml --gate g.yaml --problem "$P"

printf 'gate: g\ncorrectness: {data: [real, one-hat]}\n' >g.yaml
expect 128 'g.yaml:2:28: correctness.data' assay run --candidate c.yaml --gate g.yaml --problem "$P"
also 'did you mean `one-hot`?'
printf 'gate: g\ncorrectness: {data: [real, real]}\n' >g.yaml
expect 128 '`real` stands twice' assay run --candidate c.yaml --gate g.yaml --problem "$P"

# Problem text: the word and its column.
expect 128 'column 6' assay run --candidate c.yaml --problem 'conv forward f32 n1 c8 k8 g1 in8x8 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw'
expect 128 'column' assay run --candidate c.yaml --problem 'conv fwd f32 n1 c8 k8 g3 in8x8 fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw'
expect 128 'column' assay run --candidate c.yaml --problem 'conv fwd f32 n1 c8 k8 g1 in2x2 fil5x5 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw'

# Commits and repositories.
expect 128 'no commit `0123456789abcdef`' assay run --candidate c.yaml --rev 0123456789abcdef --problem "$P"
expect 128 'did you mean' assay run --candidate c.yaml --rev mian --problem "$P"
sed 's/repository: repo/repository: nowhere.git/; s/candidate: sample/candidate: other/' c.yaml >lost.yaml
expect 128 'nowhere.git' assay run --candidate lost.yaml --problem "$P"
[ -z "$(ls .assay/mirrors | grep other)" ] || bad "a mirror of nothing was left behind"
expect 128 'give both ends' assay bisect --candidate c.yaml --good main --problem "$P"
expect 128 'give either --head' assay compare --candidate c.yaml --base main --problem "$P"

# Tools that are not there are our trouble, never a commit's.
write 'no-such-tool, --version' 'true'
expect 128 'no-such-tool' assay build --candidate c.yaml main
write 'true' 'no-such-builder'
expect 128 'no-such-builder' assay build --candidate c.yaml main

# A commit that does not build is a row, and 125 for a search.
write 'true' 'sh, -c, "echo x.c:1:2: error: no such thing; exit 3"'
expect 125 'x.c:1:2: error: no such thing' assay build --candidate c.yaml main
expect 125 'build-error' assay run --candidate c.yaml --rev main --problem "$P"

# A library that is none: something around the candidate failed, nobody is convicted.
write 'true' 'cp, "{source}/file", "{build}/lib.so"'
expect 125 '0 passed, 0 failed, 1 cannot be told' assay run --candidate c.yaml --rev main --problem "$P"
also 'infra'
expect 128 'lib.so' assay run --candidate c.yaml --prebuilt /dev --problem "$P"
printf 'garbage\n' >bad.patch
expect 128 'bad.patch' assay run --candidate c.yaml --rev main --patch bad.patch --problem "$P"
expect 128 '--prebuilt stands for a build' assay run --candidate c.yaml --prebuilt . --rev main --problem "$P"
printf 'machine: m\nhip: libnothing.so\n' >m.yaml
expect 128 'libnothing.so' assay run --candidate c.yaml --machine m.yaml --rev main --problem "$P"

# Rows and comparisons.
expect 128 'there is no row 999' assay show 999
expect 128 'show takes the number' assay show x
expect 128 'there is no comparison' assay report --candidate c.yaml
printf 'not a database, but long enough to be taken for one at first sight .....................' >.assay/store.db
expect 128 'not a database' assay status
finish
