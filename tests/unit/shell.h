/* shell: scripts run in a test's folder, and small Git histories made with them. */
#ifndef ASSAY_TEST_SHELL_H
#define ASSAY_TEST_SHELL_H

#include "folder.h"
#include "src/proc.h"

/* Run `script` in the folder; its output without the last newline. */
static inline char *shell(struct folder *f, const char *script)
{
    static const char *const environment[] = {
        "GIT_CONFIG_GLOBAL=/dev/null",
        "GIT_CONFIG_NOSYSTEM=1",
        "GIT_AUTHOR_NAME=Ann Author",
        "GIT_AUTHOR_EMAIL=ann@example.com",
        "GIT_COMMITTER_NAME=Carl Committer",
        "GIT_COMMITTER_EMAIL=carl@example.com",
        "GIT_AUTHOR_DATE=1700000000 +0000",
        "GIT_COMMITTER_DATE=1700000000 +0000",
        NULL,
    };
    const char *const argv[] = {"sh", "-ec", script, NULL};
    const struct proc_spec spec = {
        .argv = argv, .environment = environment, .folder = f->path, .cpu = -1};
    struct proc_result r;
    if (proc_run(&r, &spec) < 0)
        die("%s", err_message());
    if (r.end != PROC_EXITED || r.code != 0)
        die("%s: %s%s", script, r.out.data, r.err.data);
    char *out = arena_strndup(&f->arena, r.out.data, r.out.length - (r.out.length > 0));
    proc_result_release(&r);
    return out;
}

/* The SHA of a commit of everything that lies in the folder `source`, a new repository at first. */
static inline const char *commit_all(struct folder *f, const char *subject)
{
    return shell(f, arena_printf(&f->arena,
                                 "cd source; [ -d .git ] || git init -q -b main; git add -A;"
                                 " git commit -q --allow-empty -m '%s'; git rev-parse HEAD",
                                 subject));
}

#endif
