#include "harness/tested.h"

#include <string.h>

static bool passes(const struct tested_filter *f, const struct result_row *row)
{
    return (!f->candidate || strcmp(row->candidate, f->candidate) == 0) &&
           (!f->commit || strcmp(row->commit, f->commit) == 0);
}

static bool same_configuration(const struct result_row *x, const struct result_row *y)
{
    return strcmp(x->problem, y->problem) == 0 && strcmp(x->variant, y->variant) == 0;
}

/* Rows of one configuration, oldest first: those of the build and the circumstances that were
 * tested last are judged together. */
static struct tested judge(struct arena *a, const struct gate *g, const struct result_row *rows,
                           size_t count)
{
    const struct result_row *last = &rows[count - 1];
    struct result_row *together = ARENA_ARRAY(a, count, struct result_row);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (rows[i].epoch == last->epoch && strcmp(rows[i].artifact, last->artifact) == 0)
            together[kept++] = rows[i];
    }
    struct check_verdict verdict;
    judge_check(&verdict, a, g, together, kept);
    return (struct tested){
        .problem = last->problem, .variant = last->variant, .outcome = verdict.outcome};
}

int tested_list(struct tested **out, size_t *count, struct arena *a, struct store *s,
                const struct gate *g, const struct tested_filter *filter)
{
    struct result_row *rows;
    size_t all, kept = 0;
    int status = store_list_results(&rows, &all, a, s, NULL);
    if (status < 0)
        return status;
    for (size_t i = 0; i < all; i++) {
        if (passes(filter, &rows[i]))
            rows[kept++] = rows[i];
    }
    if (kept > 0)
        qsort(rows, kept, sizeof *rows, store_by_configuration);
    *out = ARENA_ARRAY(a, kept, struct tested);
    *count = 0;
    for (size_t first = 0, end; first < kept; first = end) {
        end = first + 1;
        while (end < kept && same_configuration(&rows[first], &rows[end]))
            end++;
        (*out)[(*count)++] = judge(a, g, rows + first, end - first);
    }
    return 0;
}
