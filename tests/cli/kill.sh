#!/bin/sh
# Nothing is lost by kill -9: a campaign (compare, bisect, every commit) is killed at moments drawn from a seed and started again until it
# ends. Then the report and the rows are those of an undisturbed run: no job lost, none that was stored repeated, no child left alive.
# kill.sh BUILD [SEED [ROUNDS]]: seven moments a round, three rounds. KILLER is the library that kills (BUILD/tests/cli/libkiller.so).
build=$(cd "$1" && pwd)
. "$(dirname "$0")/lib.sh"
. "$root/tests/cli/toy_campaign.sh"
seed=${2:-$(date +%s)} rounds=${3:-3}
echo "seed $seed: kill.sh BUILD $seed $rounds runs the same again"
killer=$build/tests/cli/libkiller.so
[ -f "$killer" ] || { echo "there is no $killer"; exit 1; }
# Beside the killer, a sanitizer's runtime does not come first.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0"

# draw N: a number from 1 to N into $drawn.
draw() {
    seed=$(((seed * 1103515245 + 12345) % 2147483648))
    drawn=$((seed / 65536 % $1 + 1))
}

toy_make
base=$(cat toy-1) head=$(cat toy-12)

# campaign FOLDER [NAME=value...]: once, in the workspace FOLDER, under the killer.
campaign() {
    where=$folder/$1
    shift
    env "$@" LD_PRELOAD="$killer" ASSAY_KILL_UNDER="$where/.assay/" ASSAY_KILL_TRACE="$where/trace" ASSAY_KILL_MARK="$folder" TOY_LOG="$where/lowered" \
        assay compare --workspace "$where" --candidate toy.yaml --gate toy-gate.yaml --base "$base" --head "$head" \
        --problem "$toy_first" --problem "$toy_second" --problem "$toy_steady" --model toy-model.yaml --bisect --every-commit \
        --report "$where/report" >"$folder/output" 2>&1 </dev/null
}

# The report without times and without the name of its workspace; what the store holds.
what_it_says() {
    sed "s,$folder/$1,WORKSPACE,g" "$folder/$1/report.json" | jq 'del(.figures[] | select(.unit == "ns"))
        | del(.speeds[] | .rate_new, .rate_old, .change, .change_low, .change_high)'
}
rows_of() {
    assay status --workspace "$folder/$1" | grep -v "$folder\|MiB\|KiB"
}

workspace() {
    mkdir "$folder/$1"
    assay init "$folder/$1" >/dev/null
}

# All of a killed assay's children carry its mark in their environment.
no_child_lives() {
    tries=0
    while grep -lzs "^ASSAY_KILL_MARK=$folder" /proc/[0-9]*/environ >"$folder/alive"; do
        tries=$((tries + 1))
        if [ $tries -gt 200 ]; then
            for file in $(cat "$folder/alive"); do tr '\0' ' ' <"${file%environ}cmdline"; echo; done >"$folder/output"
            bad "children outlive kill -9"
            return
        fi
        sleep 0.05
    done
}

workspace calm
campaign calm
[ $? -eq 1 ] || bad "the undisturbed campaign finds the regressions"
cp output calm/output
cp calm/trace trace
what_it_says calm >calm.report
rows_of calm >calm.rows
grep -q PROVEN calm/report.json || bad "no blame is proven"
total=$(wc -l <trace)
# The places that a kill must have seen: files of a slot between journal and end, and the log that commits go to.
in_slot='.assay/slots/toy/0/' in_commit='store.db-wal'
count=$((count + 3))
[ "$(grep -c " write .*$in_slot" trace)" -gt 20 ] || bad "the trace has no checkouts"
[ "$(grep -c " pwrite .*$in_commit" trace)" -gt 20 ] || bad "the trace has no commits"
echo "undisturbed: $total calls to die at"

kills=0
# killed ROUND WORDS [NAME=value...]: run until the moment; false when the campaign ends before.
killed() {
    round=$1 words=$2
    shift 2
    campaign "$round" "$@"
    code=$?
    no_child_lives
    if [ $code -eq 1 ]; then
        echo "  $words: the campaign had ended"
        return 1
    fi
    count=$((count + 1))
    [ $code -eq 137 ] || bad "$words: exit code $code, wanted a kill"
    kills=$((kills + 1))
    echo "  $kills, $words: $(tail -n 1 "$folder/$round/trace" | cut -d " " -f 2- | sed "s,$folder/[^/]*/.assay/,,")"
}

for round in $(seq "$rounds"); do
    workspace "$round"
    echo "round $round"
    draw 40
    killed "$round" "inside a checkout" ASSAY_KILL_PATH="$in_slot" ASSAY_KILL_AT=$drawn
    draw 60
    killed "$round" "inside a commit" ASSAY_KILL_PATH="$in_commit" ASSAY_KILL_AT=$drawn
    for moment in 1 2 3 4 5; do
        draw $((total / 4))
        killed "$round" "call $drawn" ASSAY_KILL_AT=$drawn || break
    done
    campaign "$round"
    code=$?
    count=$((count + 4))
    [ $code -eq 1 ] || bad "round $round ends with $code, wanted 1"
    what_it_says "$round" | diff calm.report - >output || bad "round $round gives another report"
    rows_of "$round" | diff calm.rows - >output || bad "round $round has other rows"
    # What a kill costs is at most the jobs in flight, one a CPU; each lowers one kernel.
    [ "$(wc -l <"$round/lowered")" -le $(($(wc -l <calm/lowered) + 7 * $(nproc))) ] || bad "round $round compiled again what was stored"
    no_child_lives
done

# The second checkout, from the first commit to the last, is left half-way; then another commit is wanted, whose tree is neither's.
workspace half
draw 40
killed half "from first to last" ASSAY_KILL_PATH="$in_slot" ASSAY_KILL_AT=$((drawn + 15))
expect 0 'ok' assay build --workspace half --candidate toy.yaml "$(cat toy-2)"
count=$((count + 2))
git -C toy ls-tree -r --name-only "$(cat toy-2)" | sort >half/wanted
(cd half/.assay/slots/toy/0 && find . -type f | sed 's,^\./,,' | sort) | diff half/wanted - >output || bad "a checkout after a kill leaves files"
for artifact in half/.assay/artifacts/*; do
    diff -r "calm/${artifact#half/}" "$artifact" >output 2>&1 || bad "a checkout after a kill is mixed"
done

echo "$kills kills"
[ "$kills" -ge $((rounds * 6 + 1)) ] || bad "too few moments were reached"
finish
