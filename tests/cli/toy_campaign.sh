# Sourced after lib.sh by tests that want a candidate which builds in a moment: the toy with three kernels, and a history of its own.
toy_first='conv fwd f32 n1 c8 k8 g1 in4x4 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw'
toy_second='conv fwd f32 n1 c8 k8 g1 in2x8 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw'
toy_steady='conv fwd f32 n1 c8 k8 g1 in1x16 fil1x1 str1x1 dil1x1 pad0:0x0:0 ngchw gkcyx ngkhw'

toy_commit() { # SUBJECT: everything that lies in toy/, as one commit
    mkdir "toy/notes of $1"
    for n in 1 2 3 4 5 6; do echo "$1" >"toy/notes of $1/$n.txt"; done # a checkout that takes a moment, and no conflict for a revert
    git -C toy add -A
    git -C toy -c user.name=Toy -c user.email=toy@example.com commit -q -m "$1"
    git -C toy rev-parse HEAD
}

# toy/ with twelve commits, and toy.yaml. The fifth breaks the first kernel, the seventh does not build, the tenth breaks the second kernel.
toy_make() {
    export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
    git init -q -b main toy
    cp "$root/tests/cli/toy.c" "$root/tests/cli/toy_kernel.c" "$root/tests/cli/toy_build.ninja.in" toy/
    for kernel in first second steady; do echo '#include "toy_kernel.c"' >toy/$kernel.c; done
    for commit in 1 2 3 4 5 6 7 8 9 10 11 12; do
        case $commit in
        5) printf '#define WRONG 100\n#include "toy_kernel.c"\n' >toy/first.c ;;
        7) echo '#error not today' >>toy/second.c ;;
        8) sed -i '$d' toy/second.c ;;
        10) printf '#define WRONG 1\n#include "toy_kernel.c"\n' >toy/second.c ;;
        esac
        toy_commit "commit $commit" >"toy-$commit"
    done
    unset GIT_AUTHOR_DATE GIT_COMMITTER_DATE
    cat >toy.yaml <<YAML
candidate: toy
repository: toy
build:
  steps:
    - [sh, -c, 'sed "s,@,{source}," "{source}/toy_build.ninja.in" >"{build}/build.ninja"']
    - [ninja, -C, "{build}"]
  artifacts: [libtoy.so, first.so, second.so, steady.so]
  toolchain: [[cc, -dumpversion]]
driver: miir
library: libtoy.so
YAML
    printf 'model: still\nbatch: 1\nlayers: [{problem: "%s"}]\n' "$toy_steady" >toy-model.yaml
    sed 's/confirm_runs: 5/confirm_runs: 2/' "$root/configs/gates/default.yaml" >toy-gate.yaml
}
