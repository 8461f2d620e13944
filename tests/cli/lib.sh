# Sourced by the command-line tests. `assay` is the one under test (the first word of the command line names its folder); everything happens in a
# folder of its own, which goes away afterwards. A script ends with `finish`.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
PATH=$(cd "$1" && pwd):$PATH
export PATH NO_COLOR=1 GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
unset ASSAY_CANDIDATE ASSAY_WORKSPACE GIT_DIR || true
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
wrong=0 count=0

bad() {
    wrong=$((wrong + 1))
    printf 'not ok: %s\n' "$1"
    sed 's/^/    /' "$folder/output" | head -n 40
}

# expect CODE TEXT COMMAND...: the exit code is CODE, and the output (both streams) contains TEXT.
expect() {
    code=$1 text=$2
    shift 2
    "$@" >"$folder/output" 2>&1 </dev/null
    got=$?
    count=$((count + 1))
    if [ $got -ne "$code" ]; then
        bad "$* : exit code $got, wanted $code"
    elif ! grep -qF -e "$text" "$folder/output"; then
        bad "$* : the output lacks \"$text\""
    fi
}

# also TEXT: the output of the last command contains TEXT too.
also() {
    count=$((count + 1))
    grep -qF -e "$1" "$folder/output" || bad "the last output lacks \"$1\""
}

# never TEXT: it does not.
never() {
    count=$((count + 1))
    ! grep -qF -e "$1" "$folder/output" || bad "the last output has \"$1\""
}

finish() {
    echo "$count expectations, $wrong wrong"
    [ $wrong -eq 0 ]
    exit
}
