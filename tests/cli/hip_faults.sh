#!/bin/sh
# Every HIP call of a small sweep fails, once and from then on: each time `assay run` ends in a named outcome. A right kernel is never called
# wrong and a wrong one never right; nothing hangs; with a sanitizer's build, nothing leaks. hip_faults.sh BUILD
. "$(dirname "$0")/lib.sh"
. "$root/tests/cli/toy_campaign.sh"
toy_make
# Each process of a sanitizer's build leaves its complaints, if any, in a file of its own.
export ASAN_OPTIONS="detect_leaks=1:log_path=$folder/complaint" UBSAN_OPTIONS="log_path=$folder/complaint"

assay init calm >"$folder/output"
expect 1 '1 passed, 1 failed' assay run --workspace calm --candidate toy.yaml --rev "$(cat toy-6)" --problem "$toy_first" --problem "$toy_second" --all
built=$(dirname "$(find calm/.assay/artifacts -name libtoy.so)")

# One run with a fault: a store of its own, so that nothing is found. The problems: `first` has a wrong kernel, `second` a right one.
runs=0
fault() {
    rm -rf shaken
    assay init shaken >"$folder/output"
    timeout 60 env ASSAY_HIP_CPU_FAIL="$1" assay run --workspace shaken --candidate toy.yaml --prebuilt "$built" \
        --problem "$toy_first" --problem "$toy_second" --all >"$folder/output" 2>&1 </dev/null
    code=$?
    runs=$((runs + 1)) count=$((count + 1))
    sed -n 's/^\([a-z-]*\)  *conv .*/\1/p' output | tr '\n' ' ' >outcomes
    read -r wrong_kernel right_kernel <outcomes || :
    case $code in
    # The device does not say what it is: our trouble, with the call's name.
    128)
        grep -q 'machine cpu: .*hip[A-Z]' output || bad "$1: exit code 128 names no call"
        outcome=none
        return
        ;;
    0 | 1 | 125) ;;
    *) bad "$1: exit code $code" ;;
    esac
    case $wrong_kernel in
    mismatch | infra | crash) ;;
    *) bad "$1: the wrong kernel is called \"$wrong_kernel\"" ;;
    esac
    case $right_kernel in
    ok | infra | crash) ;;
    *) bad "$1: the right kernel is called \"$right_kernel\"" ;;
    esac
    # Whoever is not told why cannot mend it.
    [ "$right_kernel" = ok ] || grep -q 'hip[A-Z][A-Za-z]*: hipErrorUnknown (999)' output || bad "$1: no reason for $right_kernel"
    outcome=$right_kernel
}

# The n-th call of each process, until there is no n-th call any more. The last calls only tidy up, and the answer stands when they fail: so
# the end is where more of them in a row do no harm than there are.
walk() { # SUFFIX
    n=1 calm=0 trouble=0
    while [ $calm -lt 8 ]; do
        fault "$n$1"
        if [ "$outcome" = ok ]; then calm=$((calm + 1)); else calm=0 trouble=$((trouble + 1)); fi
        n=$((n + 1))
    done
    echo "N$1: $((n - 1)) runs, $trouble in trouble"
    [ $trouble -ge 25 ] || bad "N$1: only $trouble calls fail"
}
walk ''
walk +

# By name: each entry point, its first call, and all of them.
for name in $(sed -n 's/^ *X(\(hip[A-Za-z]*\)).*/\1/p' "$root/src/gpu.c"); do
    for when in 1 1+; do fault "$name:$when"; done
done

for file in complaint*; do
    [ -e "$file" ] || continue
    cp "$file" output
    bad "a sanitizer complains"
done
echo "$runs runs"
finish
