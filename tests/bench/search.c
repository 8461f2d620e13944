/* search: how many builds a bisection takes, by our engine alone, on graphs with a planted culprit:
 * commits asked for one problem against the bound ceil(log2 N) + 2, and for many problems at once
 * against searching each by itself (every separate search caching nothing).
 */
#include "harness/bisect.h"
#include "src/fs.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>

enum { TRIALS = 200, MAX_COMMITS = 1024, MAX_PROBLEMS = 300 };

static uint64_t state = 20261201;

static uint64_t draw(uint64_t below)
{
    state += 0x9e3779b97f4a7c15;
    uint64_t x = state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return (x ^ (x >> 31)) % below;
}

/* Commits asked until every problem has its culprit; aborts when one is wrong. */
static int64_t search(size_t commits, const size_t *culprits, size_t problems)
{
    struct bisect_node nodes[MAX_COMMITS];
    size_t parents[MAX_COMMITS], open[MAX_PROBLEMS], commit, count;
    for (size_t i = 0; i < commits; i++) {
        parents[i] = i > 0 ? i - 1 : 0;
        nodes[i] = (struct bisect_node){.parents = &parents[i], .parent_count = i > 0};
    }
    struct bisect *b = NULL;
    if (bisect_new(&b, nodes, commits, false) < 0)
        bug("%s", err_message());
    for (size_t p = 0; p < problems; p++)
        (void)bisect_add_problem(b);
    int64_t asked = 0;
    for (; bisect_ask(&commit, open, &count, b); asked++) {
        for (size_t i = 0; i < count; i++)
            bisect_tell(b, open[i], commit, commit >= culprits[open[i]] ? BISECT_BAD : BISECT_GOOD);
    }
    for (size_t p = 0; p < problems; p++) {
        if (bisect_state(b, p) != BISECT_FOUND || bisect_culprit(b, p) != culprits[p])
            bug("a wrong culprit");
    }
    bisect_free(b);
    return asked;
}

struct row {
    char id[64];
    double value, goal;
    const char *unit;
};

static struct row one_problem(size_t commits)
{
    struct row r = {.goal = ceil(log2((double)commits - 1)) + 2,
                    .unit = "commits asked, ends included"};
    int64_t total = 0;
    for (int t = 0; t < TRIALS; t++) {
        size_t culprit = 1 + draw(commits - 1);
        total += search(commits, &culprit, 1);
    }
    snprintf(r.id, sizeof r.id, "one-of-%zu", commits);
    r.value = (double)total / TRIALS;
    return r;
}

/* Builds shared, as a share of what separate searches build. */
static struct row many_problems(size_t commits, size_t problems, size_t distinct)
{
    struct row r = {.goal = 0.05, .unit = "of the builds of separate searches"};
    int64_t shared = 0, separate = 0;
    for (int t = 0; t < TRIALS / 20; t++) {
        size_t culprits[MAX_PROBLEMS], pool[MAX_PROBLEMS];
        for (size_t i = 0; i < distinct; i++)
            pool[i] = 1 + draw(commits - 1);
        for (size_t p = 0; p < problems; p++) {
            culprits[p] = pool[p % distinct];
            separate += search(commits, &culprits[p], 1);
        }
        shared += search(commits, culprits, problems);
    }
    snprintf(r.id, sizeof r.id, "%zu-problems-%zu-culprits-%zu", problems, distinct, commits);
    r.value = (double)shared / (double)separate;
    return r;
}

static int write_json(const struct row *rows, size_t count, const char *path)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_pack("{s:s, s:f, s:s, s:f, s:s}", "id", rows[i].id,
                                              "value", rows[i].value, "unit", rows[i].unit, "goal",
                                              rows[i].goal, "better", "lower"));
    json_t *page = json_pack("{s:s, s:{}, s:o}", "bench", "search", "machine", "rows", list);
    char *text = json_dumps(page, JSON_INDENT(2));
    int status = fs_write_text(path, text);
    free(text);
    json_decref(page);
    return status;
}

int main(int argc, char **argv)
{
    struct row rows[8];
    size_t count = 0;
    for (size_t commits = 16; commits <= MAX_COMMITS; commits *= 4)
        rows[count++] = one_problem(commits);
    rows[count++] = many_problems(256, 300, 4);
    rows[count++] = many_problems(1024, 300, 16);
    for (size_t i = 0; i < count; i++)
        printf("%-32s %10.4f  goal %8.4f  %s\n", rows[i].id, rows[i].value, rows[i].goal,
               rows[i].unit);
    if (argc > 1 && write_json(rows, count, argv[1]) < 0)
        die("%s", err_message());
    return 0;
}
