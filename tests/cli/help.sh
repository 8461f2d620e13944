#!/bin/sh
# Every command is in the help, in the README, and explains itself; slips of the finger are answered with the right word.
. "$(dirname "$0")/lib.sh"

expect 129 'usage: assay COMMAND' assay
expect 0 'usage: assay COMMAND' assay --help
commands=$(assay --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
[ "$(echo "$commands" | wc -w)" -ge 13 ] || bad "assay --help lists too few commands"
for command in $commands; do
    expect 0 "usage: assay $command" assay "$command" --help
    grep -q "\`$command\`" "$root/README.md" || bad "README.md does not name \`$command\`"
    # Help fits the terminal that it is shown in.
    assay "$command" --help >"$folder/output"
    awk 'length($0) > 120 {exit 1}' "$folder/output" || bad "the help of $command is wider than 120 columns"
done
expect 0 'assay 0' assay --version

expect 129 'did you mean `bisect`?' assay bisct
expect 129 'there is no command `frobnicate`' assay frobnicate
expect 129 'did you mean --candidate?' assay run --candidat x
expect 129 'needs a value' assay run --candidate
expect 129 'takes a number from 0 to' assay run --round -1
expect 129 'did you mean `miopen`?' assay import --from miopn
expect 129 'takes no other words' assay compare main
expect 129 'takes no other words' assay run pebble.yaml
for kind in candidate sweep model machine gate; do
    expect 0 "$kind" assay doctor --keys $kind
done
expect 0 'build' assay doctor --keys candidate
also 'toolchain'
finish
