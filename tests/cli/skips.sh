#!/bin/sh
# ci/skips on a log of meson's: each skip with its reason; one that has none, or names a package that ci/deps installs, is a failure.
. "$(dirname "$0")/lib.sh"
header() { # NAME STATUS
    printf '=========== 1/4 ===========\ntest:         assay:%s\nstart time:   12:00:00\nresult:       %s\n----- stdout -----\n' "$1" "$2"
}
{
    header 'unit / err' 'exit status 0'
    echo '[  PASSED  ] skip: is no line of its own'
    header 'unit / gpu' 'exit status 77'
    echo 'skip: no AMD device here'
    header 'road / release' 'exit status 0'
    echo 'skip: mlir-19-tools is not installed'
    echo 'skip: libcmocka-dev is not installed'
    header 'unit / mute' 'exit status 77'
} >log
expect 0 'skipped unit/gpu: no AMD device here' "$root/ci/skips" log
also 'skipped road/release: mlir-19-tools is not installed'
also 'failed road/release: libcmocka-dev is not installed (but ci/deps installs libcmocka-dev)'
also 'failed unit/mute: no reason given'
never 'unit/err'
printf 'check mlir-19-tools\n' >deps
expect 0 'failed road/release: mlir-19-tools is not installed (but ci/deps installs mlir-19-tools)' "$root/ci/skips" log deps
also 'skipped road/release: libcmocka-dev is not installed'
finish
