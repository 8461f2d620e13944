#!/bin/sh
# Does a report (the JSON form) name every planted fault with its commit, and nobody else? truth.sh REPORT.json [FOLDER]: FOLDER holds shas and truth.txt
# (default: tests/pebble). Commits of truth.txt that shas does not have are out of range.
set -eu
report=$1
planted=${2:-$(cd "$(dirname "$0")/../pebble" && pwd)}
missed=0
miss() {
    echo "$*"
    missed=$((missed + 1))
}

# blames FILTER: how many blames of the report pass it.
blames() {
    jq --arg sha "$sha" --arg word "$label" --arg problem "$problem" "[.blames[] | select($1)] | length" "$report"
}
sure='(.level == "PROVEN" or .level == "CONFIRMED")'
kind_is='(.what == $word or ($word == "slower" and (.what | startswith("slower"))))'

named=$(mktemp)
trap 'rm -f "$named"' EXIT
while IFS='|' read -r id kind problem; do
    case $id in '#'*) continue ;; esac
    sha=$(sed -n "s/^$id //p" "$planted/shas")
    [ -n "$sha" ] || continue
    label=$kind
    case $kind in
    build-error) label='does not build' ;;
    esac
    case $kind in
    never-good)
        [ "$(blames '.level == "NEVER-GOOD" and (.problems | index($problem))')" -gt 0 ] || miss "not told as never good: $problem" ;;
    repaired)
        [ "$(blames "$sure and .culprit.sha == \$sha")" -eq 0 ] || miss "named, though it was repaired: $id" ;;
    unsteady)
        [ "$(jq '[.checks[] | select(.head | startswith("unsteady"))] | length' "$report")" -gt 0 ] || miss "not seen as unsteady: $id" ;;
    *)
        [ "$(blames "$sure and $kind_is and .culprit.sha == \$sha")" -gt 0 ] || miss "not named: $id ($kind), $sha"
        echo "$sha $label" >>"$named" ;;
    esac
done <"$planted/truth.txt"

# Whoever is named for sure did it.
jq -r ".blames[] | select($sure) | .culprit.sha + \" \" + (.what | sub(\"^slower.*\"; \"slower\"))" "$report" | sort -u | while read -r line; do
    grep -qxF "$line" "$named" || echo "named without a fault: $line"
done >"$named.wrong"
cat "$named.wrong"
[ ! -s "$named.wrong" ] || missed=$((missed + 1))
rm -f "$named.wrong"
[ $missed -eq 0 ] && echo "every planted fault is named with its commit"
