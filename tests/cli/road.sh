#!/bin/sh
# The road itself on the sample compiler: build, run, compare, bisect, repeat; checked against the truth file, and against git bisect.
. "$(dirname "$0")/lib.sh"
pebble=$root/tests/pebble

# The first eighteen commits of the history; the demo walks all of it.
mkdir planted
sed '/^hints-comment /q' "$pebble/shas" >planted/shas
cp "$pebble/truth.txt" planted
"$pebble/make-history" pebble.git >/dev/null || bad "make-history"
sha_of() { sed -n "s/^$1 //p" planted/shas; }
problem_of() { sed -n "s/^$1|[a-z-]*|//p" planted/truth.txt; }
base=$(sha_of base)
head=$(sha_of hints-comment)
[ "$(git -C pebble.git rev-parse main)" = "$(sed -n '$s/.* //p' "$pebble/shas")" ] || bad "the history has other SHAs than tests/pebble/shas"
git -C pebble.git update-ref refs/heads/main "$head"

sed "s,../../out/pebble.git,$folder/pebble.git," "$root/configs/candidates/pebble.yaml" >pebble.yaml
sed 's/confirm_runs: 5/confirm_runs: 2/' "$root/configs/gates/default.yaml" >gate.yaml
export ASSAY_CANDIDATE="$folder/pebble.yaml"
expect 0 'Workspace ready' assay init
expect 0 'ok      device' assay doctor

# One problem at one commit; found again; shown; repeated.
wrong_data=$(problem_of first-tap)
expect 0 '1 passed, 0 failed' assay run --rev "$base" --problem "$wrong_data" --all
expect 0 'Nothing was built or measured' assay run --rev "$base" --problem "$wrong_data"
expect 0 'because no row for this build' assay plan --rev "$head" --problem "$wrong_data"
also 'is to be built'
expect 1 'mismatch' assay run --rev "$head" --problem "$wrong_data"
row=$(sed -n 's/.*(row \([0-9]*\)).*/\1/p' output | head -n 1)
expect 0 'outcome     mismatch at verify' assay show "$row"
also 'worst_index'
expect 1 'again:  mismatch' assay again "$row"
expect 0 'because stored as row' assay plan --rev "$head" --problem "$wrong_data"
expect 0 'blames 0' assay status

# The faults that show in problems, and the one that does not build, from one call.
set --
while IFS='|' read -r id kind problem; do
    case $id in '#'*) continue ;; esac
    [ -z "$problem" ] || [ -z "$(sha_of "$id")" ] || set -- "$@" --problem "$problem"
done <planted/truth.txt
expect 1 'REGRESSED' assay compare --gate gate.yaml --base "$base" --head "$head" "$@" --bisect --every-commit --report report
also 'not recommended to merge'
expect 0 'every planted fault is named' "$root/tests/cli/truth.sh" report.json planted
grep -q PROVEN report.md || bad "no blame is proven"
for form in html md json; do
    [ -s report.$form ] || bad "report.$form is empty"
done
cp report.html first.html
expect 1 'Nothing was built or measured' assay compare --gate gate.yaml --base "$base" --head "$head" "$@" --bisect --every-commit --report report
cmp -s first.html report.html || bad "the same rows gave another report"
expect 1 'REGRESSED' assay report --gate gate.yaml
expect 0 'comparison' assay status

# By hand for one problem; then git's own bisect, with a store and artifacts of its own, agrees.
expect 0 "$(sha_of first-tap) is the first bad commit" assay bisect --gate gate.yaml --good "$base" --bad "$head" --problem "$wrong_data"
git clone -q pebble.git tree
mkdir other && assay init other >/dev/null
(
    cd tree || exit 1
    git bisect start "$head" "$base" >/dev/null
    git bisect run assay run --workspace "$folder/other" --problem "$wrong_data"
) >output 2>&1
count=$((count + 1))
grep -qF "$(sha_of first-tap) is the first bad commit" output || bad "git bisect run names another commit"

# A search among commits where nothing is wrong; one that was never good.
expect 125 'NOT-REPRODUCED' assay bisect --gate gate.yaml --good "$base" --bad "$(sha_of offset-lines)" --problem "$wrong_data"
expect 125 'NEVER-GOOD' assay bisect --gate gate.yaml --good "$(sha_of launch-text)" --bad "$head" --problem "$wrong_data"

# A patch over a commit, and an engineer's own build folder.
git -C tree bisect reset >/dev/null 2>&1
git -C tree diff "$(sha_of first-tap)" "$(sha_of offset-lines)" -- src >undo.patch
expect 0 '1 passed' assay run --rev "$(sha_of first-tap)" --patch undo.patch --problem "$wrong_data"
git -C tree checkout -q "$head"
cmake -G Ninja -S tree -B mine -DCMAKE_BUILD_TYPE=Release >/dev/null && ninja -C mine >/dev/null
expect 1 '1 failed' assay run --prebuilt mine --problem "$wrong_data"

# A machine with little room: what was used least recently goes, and is made again.
printf 'machine: small\ndisk: {artifacts: 0, slots: 0}\n' >small.yaml
expect 0 'beyond the budget of machine small went' assay run --machine small.yaml --rev "$base" --problem "$wrong_data"
also '1 passed'

# Disk is given back; rows stay.
expect 0 'MiB' assay gc
expect 0 'every row is kept' assay gc --slots --artifacts

# Ctrl-C in the middle of a build leaves no child behind, and the next run goes on.
: >output # or words of the command before would be taken for this one's
assay run --rev "$(sha_of whole-rows)" --sweep "$root/configs/sweeps/small.yaml" >output 2>&1 &
pid=$!
until grep -q 'building' output 2>/dev/null || ! kill -0 $pid 2>/dev/null; do :; done
kill -INT $pid
wait $pid
[ $? -eq 128 ] || bad "an interrupted run ends with 128"
count=$((count + 1))
pgrep -f "$folder/.assay/slots" >output && bad "children outlived Ctrl-C"
expect 1 'passed' assay run --rev "$(sha_of whole-rows)" --sweep "$root/configs/sweeps/small.yaml"
finish
