#include "harness/plan.h"

#include <string.h>

/* The kinds of data that the gate asks for; integer and real where it says nothing. */
static size_t list_kinds(enum data_kind kinds[DATA_KINDS], const struct gate *g)
{
    size_t count = 0;
    if (g->correctness.data.count == 0) {
        kinds[count++] = DATA_INTEGER;
        kinds[count++] = DATA_REAL;
    }
    for (size_t i = 0; i < g->correctness.data.count; i++) {
        if (!data_kind_parse(&kinds[count++], g->correctness.data.items[i]))
            bug("data kind %s passed the key table", g->correctness.data.items[i]);
    }
    return count;
}

static bool says_something(const struct candidate *c, const struct problem *p, enum data_kind kind)
{
    return data_suits(p, kind, accumulator_bits(candidate_accumulator(c, p->dtype[OPERAND_INPUT])));
}

static int explain(struct plan *plan, struct arena *a, struct runner *r, size_t i)
{
    struct job *j = &plan->jobs[i];
    char id[REPO_SHA_SIZE];
    struct result_row row;
    int status = run_job_id(id, r, j);
    if (status == 0)
        status = store_find_result(&row, &plan->is_stored[i], a, r->workspace->store, id);
    if (status < 0)
        return status;
    if (plan->is_stored[i]) {
        plan->stored++;
        j->because = arena_printf(a, "stored as row %lld: %s", (long long)row.row,
                                  outcome_word(row.outcome));
    } else if (j->round > 0) {
        j->because = "a fresh compile was asked for";
    } else {
        j->because = "no row for this build, problem, data and machine";
    }
    return 0;
}

int plan_correctness(struct plan *out, struct arena *a, struct runner *r,
                     const struct artifact *artifacts, size_t artifact_count,
                     const struct sweep_problem *problems, size_t problem_count, int64_t round)
{
    enum data_kind kinds[DATA_KINDS];
    size_t kind_count = list_kinds(kinds, r->gate);
    /* A problem that stands in a sweep and again in a model is one job. */
    CLEANUP(mem_free_ptr) size_t *first = sweep_first_places(problems, problem_count);
    *out = (struct plan){
        .jobs = ARENA_ARRAY(a, artifact_count * problem_count * kind_count, struct job)};
    for (size_t i = 0; i < artifact_count; i++) {
        for (size_t k = 0; k < kind_count; k++) {
            for (size_t n = 0; n < problem_count; n++) {
                if (first[n] != n || !says_something(r->candidate, &problems[n].problem, kinds[k]))
                    continue;
                out->jobs[out->count++] = (struct job){.artifact = &artifacts[i],
                                                       .problem = problems[n].text,
                                                       .variant = r->candidate->variant,
                                                       .data = kinds[k],
                                                       .seed = r->gate->correctness.seed,
                                                       .round = round};
            }
        }
    }
    out->is_stored = ARENA_ARRAY(a, out->count, bool);
    int status = 0;
    for (size_t i = 0; i < out->count && status == 0; i++)
        status = explain(out, a, r, i);
    return status;
}
