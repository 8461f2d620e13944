#!/bin/sh
# Does a report (the JSON form) name every planted fault with its commit? truth.sh REPORT.json
set -eu
report=$1
pebble=$(cd "$(dirname "$0")/../pebble" && pwd)
missed=0
while IFS='|' read -r id kind problem; do
    case $id in '#'*) continue ;; esac
    sha=$(sed -n "s/^$id //p" "$pebble/shas")
    label=$(echo "$kind" | sed 's/build-error/does not build/')
    # One blame has this kind of failure and this culprit.
    if ! tr -d '\n' <"$report" | grep -q "\"what\": *\"$label[^}]*\"sha\": *\"$sha\""; then
        echo "not named: $id ($kind), $sha"
        missed=$((missed + 1))
    fi
done <"$pebble/truth.txt"
[ $missed -eq 0 ] && echo "every planted fault is named with its commit"
