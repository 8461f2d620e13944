#include "harness/build.h"

#include "harness/progress.h"
#include "src/fs.h"
#include "src/proc.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct builder {
    struct workspace *workspace;
    const struct candidate *candidate;
    struct repo *repo;
    const char *patch;
    const char *toolchain; /* output of the toolchain commands; NULL until asked */
    struct arena arena;
    int64_t count; /* builds made */
};

/* What is to be built, named. */
struct plan_of_build {
    const char *tree, *label;
    bool clean;
    const char *recipe;
    char id[REPO_SHA_SIZE];
};

/* A file name made of a candidate's name: anything else than letters, digits, dot and dash becomes
 * a dash. */
static const char *file_name(struct arena *a, const char *name)
{
    char *copy = arena_strdup(a, name);
    for (char *c = copy; *c; c++) {
        bool plain = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                     (*c >= '0' && *c <= '9') || *c == '.' || *c == '-';
        if (!plain || (c == copy && *c == '.'))
            *c = '-';
    }
    return copy;
}

int builder_open(struct builder **out, struct workspace *w, const struct candidate *c, bool refresh)
{
    CLEANUP(builder_close_ptr) struct builder *b = xcalloc(1, sizeof *b);
    b->workspace = w;
    b->candidate = c;
    if (c->repository) {
        char id[REPO_SHA_SIZE];
        char *mirror;
        int status = repo_blob_id(id, c->repository, strlen(c->repository));
        if (status == 0)
            status = workspace_path(&mirror, w, "mirrors/%s-%.8s.git",
                                    file_name(&b->arena, c->name), id);
        if (status == 0)
            status = repo_mirror(&b->repo, c->repository, mirror, refresh);
        if (status < 0)
            return err_wrap("candidate %s", c->name);
    }
    *out = TAKE(b);
    return 0;
}

void builder_close(struct builder *b)
{
    if (!b)
        return;
    repo_close(b->repo);
    arena_release(&b->arena);
    free(b);
}

void builder_close_ptr(struct builder **b)
{
    builder_close(*b);
}

struct repo *builder_repo(const struct builder *b)
{
    return b->repo;
}

int64_t builder_count(const struct builder *b)
{
    return b->count;
}

void builder_set_patch(struct builder *b, const char *patch_file)
{
    b->patch = patch_file;
}

/* The toolchain commands' output, once a builder: compilers do not change under a running assay. */
static int ask_toolchain(struct builder *b)
{
    if (b->toolchain)
        return 0;
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    for (size_t i = 0; i < b->candidate->build.toolchain.count; i++) {
        const char **argv = b->candidate->build.toolchain.items[i];
        struct proc_spec spec = {
            .argv = argv, .wall_limit_ns = 60000000000, .merge_output = true, .cpu = -1};
        struct proc_result r;
        int status = proc_run(&r, &spec);
        if (status == 0 && (r.end != PROC_EXITED || r.code != 0)) {
            char why[256];
            status = err_set(ERR_NOTFOUND, "candidate %s: toolchain: %s", b->candidate->name,
                             proc_describe(why, sizeof why, &r, argv[0]));
        }
        if (status == 0)
            buf_printf(&text, "toolchain %s\n%s\n", argv[0], r.out.data);
        proc_result_release(&r);
        if (status < 0) {
            buf_release(&text);
            return status;
        }
    }
    b->toolchain = arena_strdup(&b->arena, text.data);
    buf_release(&text);
    return 0;
}

/* The text whose blob id names the artifact; see build.h. */
static const char *write_recipe(struct builder *b, const char *tree, bool clean)
{
    const struct candidate_build *build = &b->candidate->build;
    struct buf text;
    buf_init(&text, BUF_MAX_FILE);
    buf_printf(&text, "assay-recipe 1\ntree %s\n", tree);
    if (clean)
        buf_add_text(&text, "from an empty build folder\n");
    for (size_t i = 0; i < build->steps.count; i++) {
        buf_add_text(&text, "step");
        for (const char **word = build->steps.items[i]; *word; word++)
            buf_printf(&text, "\n  %s", *word);
        buf_add_char(&text, '\n');
    }
    for (size_t i = 0; i < build->artifacts.count; i++)
        buf_printf(&text, "artifact %s\n", build->artifacts.items[i]);
    buf_add_text(&text, b->toolchain);
    const char *recipe = arena_strndup(&b->arena, text.data, text.length);
    buf_release(&text);
    return recipe;
}

static const char *replace(struct arena *a, const char *word, const char *name, const char *value)
{
    const char *at = strstr(word, name);
    if (!at)
        return word;
    const char *rest = replace(a, at + strlen(name), name, value);
    return arena_printf(a, "%.*s%s%s", (int)(at - word), word, value, rest);
}

static const char **fill_in(struct arena *a, const char *const *words, const char *source,
                            const char *build)
{
    size_t count = 0;
    while (words[count])
        count++;
    const char **argv = ARENA_ARRAY(a, count + 1, const char *);
    for (size_t i = 0; i < count; i++) {
        const char *word = replace(a, words[i], "{source}", source);
        word = replace(a, word, "{build}", build);
        argv[i] = replace(a, word, "{jobs}", arena_printf(a, "%d", proc_cpu_count()));
    }
    return argv;
}

/* Ninja's own status line "[12/40] Building ..." tells how far a step is. */
static void note_ninja(const char *line, void *payload)
{
    int64_t *edges = payload;
    long long done, total;
    if (sscanf(line, "[%lld/%lld]", &done, &total) == 2) {
        *edges = total;
        progress_step("%s", line);
    }
}

/* The line that a person would look for first in a build's log: the first with "error:", else the
 * last that says anything. */
static const char *first_error(struct arena *a, const char *log)
{
    struct buf text;
    buf_init(&text, BUF_MAX_FILE);
    const char *found = "";
    if (fs_read(&text, log) < 0)
        err_clear();
    char *rest = text.data;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (*line)
            found = line;
        if (strstr(line, "error:") || strstr(line, "Error "))
            break;
    }
    const char *copy = arena_strndup(a, found, strnlen(found, 300));
    buf_release(&text);
    return copy;
}

/* A program that the step names by {source} or {build} and that is not there is missing from the
 * commit, not from this machine. */
static bool is_of_the_tree(const struct proc_result *r, const char *program, const char *as_written)
{
    return strcmp(program, as_written) != 0 && (r->code == ENOENT || r->code == EACCES);
}

/* One attempt: every step in order, until one fails. *outcome tells; an error is ours (a tool that
 * is not installed, Ctrl-C). */
static int run_steps(enum outcome *outcome, const char **detail, int64_t *edges, struct arena *a,
                     const struct builder *b, const char *source, const char *build,
                     const char *log, bool clean)
{
    static const char *const no_ccache[] = {"CCACHE_DISABLE=1", NULL};
    const struct candidate *c = b->candidate;
    *outcome = OUTCOME_OK;
    *detail = "";
    for (size_t i = 0; i < c->build.steps.count && *outcome == OUTCOME_OK; i++) {
        struct proc_spec spec = {.argv = fill_in(a, c->build.steps.items[i], source, build),
                                 .environment = clean ? no_ccache : NULL,
                                 .folder = build,
                                 .wall_limit_ns = c->limits.build_ns,
                                 .memory_limit_bytes = c->limits.memory_bytes,
                                 .log_path = log,
                                 .merge_output = true,
                                 .cpu = -1,
                                 .on_line = note_ninja,
                                 .payload = edges};
        struct proc_result r;
        int status = proc_run(&r, &spec);
        char why[256];
        if (status == 0)
            proc_describe(why, sizeof why, &r, spec.argv[0]);
        if (status == 0 && r.end == PROC_NOT_STARTED &&
            !is_of_the_tree(&r, spec.argv[0], c->build.steps.items[i][0]))
            status = err_set(ERR_NOTFOUND, "candidate %s: %s", c->name, why);
        if (status == 0 && (r.end != PROC_EXITED || r.code != 0)) {
            *outcome = OUTCOME_BUILD_ERROR;
            const char *error = first_error(a, log);
            *detail = *error ? arena_printf(a, "%s (%s: %s)", error, spec.argv[0], why)
                             : arena_printf(a, "%s: %s", spec.argv[0], why);
        }
        proc_result_release(&r);
        if (status < 0)
            return status;
    }
    return 0;
}

/* What an earlier commit left in the build folder must not pass for the work of this one. */
static int drop_artifacts(struct arena *a, const struct candidate *c, const char *build)
{
    int status = 0;
    for (size_t i = 0; i < c->build.artifacts.count && status == 0; i++)
        status = fs_remove_tree(fs_join(a, build, c->build.artifacts.items[i]));
    return status;
}

/* Copy the artifacts to artifacts/<id>, whole or not at all. A missing one is a build error. */
static int keep_artifacts(enum outcome *outcome, const char **detail, struct arena *a,
                          const struct candidate *c, const char *build, const char *folder)
{
    const char *half = arena_printf(a, "%s.half", folder);
    int status = fs_remove_tree(half);
    for (size_t i = 0; i < c->build.artifacts.count && status == 0; i++) {
        const char *from = fs_join(a, build, c->build.artifacts.items[i]);
        const char *to = fs_join(a, half, c->build.artifacts.items[i]);
        if (!fs_exists(from)) {
            *outcome = OUTCOME_BUILD_ERROR;
            *detail = arena_printf(a, "the build left no %s", c->build.artifacts.items[i]);
            return fs_remove_tree(half);
        }
        status = fs_make_folders(fs_dirname(a, to));
        if (status == 0)
            status = fs_copy_file(from, to);
    }
    if (status == 0)
        status = fs_remove_tree(folder);
    if (status == 0 && rename(half, folder) != 0)
        status = err_set(ERR_IO, "rename %s to %s:", half, folder);
    return status;
}

static const char *artifact_folder(struct builder *b, const char *id)
{
    return arena_printf(&b->arena, "%s/artifacts/%s", b->workspace->folder, id);
}

/* Is there a row for this recipe that still holds? */
static int find_artifact(struct artifact *out, bool *found, struct arena *a, struct builder *b,
                         const struct plan_of_build *p)
{
    struct build_row row;
    int status = store_find_build(&row, found, a, b->workspace->store, p->id);
    if (status < 0 || !*found)
        return status;
    *found = row.outcome == OUTCOME_BUILD_ERROR ||
             (row.outcome == OUTCOME_OK && fs_is_folder(out->folder));
    if (*found) {
        fs_touch(out->folder);
        out->outcome = row.outcome;
        out->detail = row.detail;
        out->log = row.log;
    }
    return 0;
}

/* Check out, build (once more from nothing if that fails), keep the artifacts and the row. */
static int make_artifact(struct artifact *out, struct arena *a, struct builder *b,
                         const struct plan_of_build *p)
{
    char *slot, *build, *log;
    const char *name = file_name(a, b->candidate->name);
    const char *which = p->clean ? "clean" : "0";
    int status = workspace_path(&slot, b->workspace, "slots/%s/%s", name, which);
    if (status == 0)
        status = workspace_path(&build, b->workspace, "slots/%s/%s.build", name, which);
    if (status == 0)
        status = workspace_path(&log, b->workspace, "logs/build-%.12s.log", p->id);
    if (status == 0)
        fs_touch(fs_dirname(a, slot));
    size_t written = 0;
    progress_step("checking out %.10s", p->label);
    if (status == 0)
        status = repo_checkout(&written, b->repo, p->tree, slot);
    if (status == 0)
        status = fs_remove_tree(log);
    if (status == 0 && p->clean)
        status = fs_remove_tree(build);
    int64_t edges = 0, started = proc_now_ns();
    for (int attempt = 0; attempt < 2 && status == 0; attempt++) {
        bool fresh = !fs_is_folder(build);
        status = fs_make_folders(build);
        if (status == 0)
            status = drop_artifacts(a, b->candidate, build);
        progress_step("building %.10s", p->label);
        if (status == 0)
            status =
                run_steps(&out->outcome, &out->detail, &edges, a, b, slot, build, log, p->clean);
        if (status == 0 && out->outcome == OUTCOME_OK)
            status =
                keep_artifacts(&out->outcome, &out->detail, a, b->candidate, build, out->folder);
        if (status < 0 || out->outcome == OUTCOME_OK || fresh)
            break;
        status = fs_remove_tree(build);
    }
    if (status < 0)
        return status;
    out->fresh = true;
    b->count++;
    out->log = log;
    struct build_row row = {.artifact = p->id,
                            .candidate = b->candidate->name,
                            .commit = p->label,
                            .tree = p->tree,
                            .recipe = p->recipe,
                            .outcome = out->outcome,
                            .detail = out->detail,
                            .log = log,
                            .wall_ns = proc_now_ns() - started,
                            .files_written = (int64_t)written,
                            .edges = edges,
                            .clean = p->clean};
    return store_add_build(b->workspace->store, &row);
}

int build_tree(struct artifact *out, struct arena *a, struct builder *b, const char *tree_sha,
               const char *label, unsigned flags)
{
    *out = (struct artifact){.detail = "", .log = ""};
    struct plan_of_build p = {.tree = tree_sha, .label = label, .clean = flags & BUILD_CLEAN};
    int status = ask_toolchain(b);
    if (status < 0)
        return status;
    p.recipe = write_recipe(b, tree_sha, p.clean);
    status = repo_blob_id(p.id, p.recipe, strlen(p.recipe));
    if (status < 0)
        return status;
    snprintf(out->id, sizeof out->id, "%s", p.id);
    snprintf(out->commit, sizeof out->commit, "%s", label);
    out->folder = artifact_folder(b, p.id);
    bool found;
    status = find_artifact(out, &found, a, b, &p);
    if (status < 0 || found)
        return status;
    if (flags & BUILD_ONLY_FIND) {
        out->outcome = OUTCOME_MISSING;
        return 0;
    }
    return make_artifact(out, a, b, &p);
}

int build_commit(struct artifact *out, struct arena *a, struct builder *b, const char *commit_sha,
                 unsigned flags)
{
    if (!b->repo)
        return err_set(ERR_INVALID, "candidate %s has no repository: give --prebuilt DIR",
                       b->candidate->name);
    char tree[REPO_SHA_SIZE];
    int status = b->patch ? repo_patched_tree(tree, b->repo, commit_sha, b->patch)
                          : repo_tree_of(tree, b->repo, commit_sha);
    if (status < 0)
        return status;
    return build_tree(out, a, b, tree, commit_sha, flags);
}

/* The hash of an engineer's artifacts: names and contents. */
static int hash_files(char id[REPO_SHA_SIZE], struct arena *a, const struct candidate *c,
                      const char *folder)
{
    struct buf list, bytes;
    buf_init(&list, BUF_MAX_LINE);
    buf_init(&bytes, (size_t)4 << 30);
    buf_add_text(&list, "assay-prebuilt 1\n");
    int status = 0;
    for (size_t i = 0; i < c->build.artifacts.count && status == 0; i++) {
        char file_id[REPO_SHA_SIZE];
        buf_clear(&bytes);
        status = fs_read(&bytes, fs_join(a, folder, c->build.artifacts.items[i]));
        if (status == 0)
            status = repo_blob_id(file_id, bytes.data, bytes.length);
        if (status == 0)
            buf_printf(&list, "%s %s\n", file_id, c->build.artifacts.items[i]);
    }
    if (status == 0)
        status = repo_blob_id(id, list.data, list.length);
    buf_release(&list);
    buf_release(&bytes);
    return status;
}

int build_prebuilt(struct artifact *out, struct arena *a, struct builder *b, const char *folder)
{
    *out = (struct artifact){.detail = "", .log = "", .outcome = OUTCOME_OK};
    char *absolute;
    int status = fs_absolute(&absolute, a, folder);
    if (status == 0)
        status = hash_files(out->id, a, b->candidate, absolute);
    if (status < 0)
        return err_wrap("--prebuilt %s", folder);
    out->folder = artifact_folder(b, out->id);
    if (fs_is_folder(out->folder))
        return 0;
    status = keep_artifacts(&out->outcome, &out->detail, a, b->candidate, absolute, out->folder);
    if (status < 0)
        return status;
    struct build_row row = {.artifact = out->id,
                            .candidate = b->candidate->name,
                            .recipe = absolute,
                            .outcome = out->outcome,
                            .detail = out->detail};
    return store_add_build(b->workspace->store, &row);
}
