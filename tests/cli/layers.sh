#!/bin/sh
# The layer rule's checker, with errors planted: each must be seen, and a tree without any must pass.
. "$(dirname "$0")/lib.sh"

plant() { # FILE INCLUDE: a tree whose only line is this
    rm -rf tree
    mkdir -p tree/src/hip-cpu tree/reference tree/reports tree/harness/commands tree/harness/drivers
    printf '#include %s\n' "$2" >"tree/$1"
}
good() {
    plant "$1" "$2"
    count=$((count + 1))
    "$root/tests/layers" tree >output 2>&1 || bad "$1 may include $2"
}
wrong() {
    plant "$1" "$2"
    expect 123 "$3" "$root/tests/layers" tree
    also "$1:1"
}

good src/repo_slot.c '"src/repo_internal.h"'
good src/proc.c '"src/fs.h"'
good reference/verify.c '"reference/conv.h"'
good harness/run.c '"harness/build.h"'
good harness/commands/run.c '"harness/hunt.h"'
wrong src/fs.c '"src/proc.h"' 'reaches to its right'
wrong src/repo.c '"src/yaml.h"' 'foreign libraries never meet'
wrong src/buf.c '"reference/problem.h"' 'reaches up'
wrong reference/conv.c '"reports/report.h"' 'side by side'
wrong reference/conv.c '"harness/store.h"' 'reaches up'
wrong reports/html.c '"harness/judge.h"' 'reaches up'
wrong harness/bisect.c '"harness/store.h"' 'reaches up'
wrong harness/store.c '"harness/judge.h"' 'reaches to its right'
wrong harness/judge.c '"harness/commands/cmd.h"' 'nobody includes the doors'
wrong src/gpu.c '"src/hip-cpu/provider.h"' 'a provider stands alone'
wrong src/hip-cpu/memory.c '"src/err.h"' 'a provider stands alone'
wrong harness/new.c '"src/err.h"' 'not in the table of layers'
wrong harness/judge.c '<sqlite3.h>' 'only harness/store knows SQL'
wrong harness/worker.c '<hip/hip_runtime_api.h>' 'only src/gpu knows HIP'
wrong src/fs.c '<git2.h>' 'only src/repo knows libgit2'
finish
