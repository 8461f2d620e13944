/* again: one row, repeated: a fresh compile in fresh processes, beside the stored row. */
#include "harness/commands/cmd.h"

#include "harness/run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The round after every stored one, so that the repetition is a row of its own. */
static int next_round(int64_t *round, struct setting *s, const struct result_row *row)
{
    struct result_row *rows;
    size_t count;
    int status = store_list_results(&rows, &count, &s->arena, s->workspace->store, row->artifact);
    *round = 1;
    for (size_t i = 0; status == 0 && i < count; i++) {
        if (strcmp(rows[i].problem, row->problem) == 0 && rows[i].round >= *round)
            *round = rows[i].round + 1;
    }
    return status;
}

static int find_artifact(struct artifact *out, struct setting *s, const struct result_row *row)
{
    if (strlen(row->commit) == REPO_SHA_SIZE - 1) {
        int status = build_commit(out, &s->arena, s->builder, row->commit, 0);
        if (status < 0 || strcmp(out->id, row->artifact) == 0)
            return status;
        return err_set(ERR_NOTFOUND,
                       "row %" PRId64
                       " came from build %.12s; this recipe and toolchain make %.12s of its commit",
                       row->row, row->artifact, out->id);
    }
    *out = (struct artifact){.outcome = OUTCOME_OK, .detail = "", .log = ""};
    snprintf(out->id, sizeof out->id, "%s", row->artifact);
    snprintf(out->commit, sizeof out->commit, "%s", row->commit);
    out->folder = arena_printf(&s->arena, "%s/artifacts/%s", s->workspace->folder, row->artifact);
    return 0;
}

static int repeat(int *code, struct setting *s, int64_t number)
{
    struct result_row row, fresh;
    bool found;
    struct artifact artifact;
    struct job job = {.artifact = &artifact};
    int status = setting_open(s, false);
    if (status == 0)
        status = setting_open_runner(s);
    if (status == 0)
        status = store_get_result(&row, &found, &s->arena, s->workspace->store, number);
    if (status == 0 && !found)
        status = err_set(ERR_NOTFOUND, "there is no row %" PRId64, number);
    if (status == 0)
        status = find_artifact(&artifact, s, &row);
    if (status == 0)
        status = next_round(&job.round, s, &row);
    if (status < 0)
        return status;
    job.problem = row.problem;
    job.variant = row.variant;
    if (!data_kind_parse(&job.data, row.data))
        return err_set(ERR_INVALID,
                       "row %" PRId64 " has data of a kind `%s` that this assay does not know",
                       number, row.data);
    job.seed = row.seed;
    status = run_jobs(&fresh, &s->arena, s->runner, &job, 1);
    if (status < 0)
        return status;
    printf("row %" PRId64 ": %s %s\n", row.row, outcome_word(row.outcome), row.detail);
    printf("again:  %s %s\n", outcome_word(fresh.outcome), fresh.detail);
    switch (outcome_meaning(fresh.outcome)) {
    case OUTCOME_MEANS_GOOD:
        *code = EXIT_GOOD;
        break;
    case OUTCOME_MEANS_BAD:
        *code = EXIT_BAD;
        break;
    case OUTCOME_MEANS_UNKNOWN:
        *code = EXIT_CANNOT_TELL;
        break;
    }
    return 0;
}

static int run(int argc, char **argv)
{
    struct setting s = {0};
    struct opt_list operands;
    const struct opt table[] = {SETTING_OPTIONS(&s), {0}};
    int code = EXIT_GOOD;
    if (cmd_parse(&code, &cmd_again, table, argc, argv, &s.arena, &operands)) {
        char *end = NULL;
        int64_t number = operands.count == 1 ? strtoll(operands.items[0], &end, 10) : 0;
        if (operands.count != 1 || *end || number < 1) {
            fprintf(stderr, "assay again: it takes the number of one row\n");
            code = EXIT_USAGE;
        } else if (repeat(&code, &s, number) < 0) {
            code = cmd_fail();
        }
    }
    setting_close(&s);
    return code;
}

const struct opt_command cmd_again = {
    .name = "again",
    .summary = "repeat one row with a fresh compile in fresh processes",
    .usage = "ROW",
    .text = "The repetition is stored beside the row. Exit code as for `assay run`.",
    .run = run,
};
