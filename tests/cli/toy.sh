# Sourced after lib.sh: a repository `toy` without a commit, `commit` to give it some, and its candidate file.
git init -q -b main toy
cp "$root/tests/cli/toy.c" "$root/tests/cli/toy_kernel.c" toy
commit() { # NAME FILE FLAGS: from this commit on the build of FILE has these flags
    echo "$3" >"toy/$2.flags"
    git -C toy add -A
    GIT_AUTHOR_DATE='2025-01-01T00:00:00Z' GIT_COMMITTER_DATE='2025-01-01T00:00:00Z' \
        git -C toy -c user.name=t -c user.email=t@t commit -q --allow-empty -m "$1"
    git -C toy tag "$1"
}
touch toy/toy_kernel.flags
cat >toy.yaml <<'EOF'
candidate: toy
repository: toy
build:
  steps:
    - [sh, -c, "eval cc -shared -fPIC $(cat '{source}/toy.flags') -o '{build}/libtoy.so' '{source}/toy.c' -ldl"]
    - [sh, -c, "eval cc -shared -fPIC -O1 $(cat '{source}/toy_kernel.flags') -o '{build}/kernel.so' '{source}/toy_kernel.c'"]
  artifacts: [libtoy.so, kernel.so]
driver: miir
library: libtoy.so
EOF
export ASSAY_CANDIDATE="$folder/toy.yaml"
