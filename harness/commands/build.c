/* build: commits to artifacts. */
#include "harness/commands/cmd.h"

#include "harness/progress.h"

#include <stdio.h>

struct build_options {
    struct setting setting;
    const char *patch;
    bool clean;
};

static void print_artifact(const struct artifact *a)
{
    if (a->outcome == OUTCOME_OK)
        printf("%.10s ok (%s): %s\n", a->commit, a->fresh ? "built" : "found", a->folder);
    else
        printf("%.10s %s: %s\n           log: %s\n", a->commit, outcome_word(a->outcome), a->detail,
               a->log);
}

static int build_all(int *code, struct build_options *o, const struct opt_list *revs)
{
    struct setting *s = &o->setting;
    int status = revs->count > 0 ? setting_open(s, true)
                                 : err_set(ERR_INVALID, "no commit: name at least one");
    if (status == 0)
        builder_set_patch(s->builder, o->patch);
    if (status == 0)
        progress_begin("building", (int64_t)revs->count);
    for (size_t i = 0; i < revs->count && status == 0; i++) {
        char sha[REPO_SHA_SIZE];
        struct artifact artifact;
        status = setting_resolve(sha, s, revs->items[i]);
        if (status == 0)
            status =
                build_commit(&artifact, &s->arena, s->builder, sha, o->clean ? BUILD_CLEAN : 0);
        if (status < 0)
            break;
        progress_done();
        print_artifact(&artifact);
        if (artifact.outcome != OUTCOME_OK)
            *code = EXIT_CANNOT_TELL;
    }
    return status;
}

static int run(int argc, char **argv)
{
    struct build_options o = {0};
    struct opt_list revs;
    const struct opt table[] = {
        PATCH_OPTION(&o.patch),
        {.name = "clean",
         .kind = OPT_FLAG,
         .value = &o.clean,
         .help = "in an empty build folder, ccache off"},
        SETTING_OPTIONS(&o.setting),
        {0},
    };
    int code = EXIT_GOOD;
    if (cmd_parse(&code, &cmd_build, table, argc, argv, &o.setting.arena, &revs) &&
        build_all(&code, &o, &revs) < 0)
        code = cmd_fail();
    setting_close(&o.setting);
    return code;
}

const struct opt_command cmd_build = {
    .name = "build",
    .summary = "build the candidate at the commits named",
    .usage = "REV...",
    .text = "An artifact that is there already is found, not built again. Exit code 125 when a "
            "commit does not build.\n\n"
            "  assay build --candidate configs/candidates/pebble.yaml main~3 main",
    .run = run,
};
