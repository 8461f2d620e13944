#include "harness/compare.h"

#include "harness/plan.h"
#include "harness/progress.h"

#include <inttypes.h>
#include <string.h>

/* A layer of a model whose code did not change is still timed a little, for the rate; these pairs
 * are A/A controls. */
enum { IDENTICAL_PAIRS = 2 };

static size_t count_items(const struct compare_request *q)
{
    size_t count = 0;
    for (size_t i = 0; i < q->sweep_count; i++)
        count += q->sweeps[i].count;
    for (size_t i = 0; i < q->model_count; i++)
        count += q->models[i].count;
    return count;
}

/* Where each item's problem stands first. */
static size_t *first_places(const struct comparison_item *items, size_t count)
{
    CLEANUP(mem_free_ptr) const char **texts = xcalloc(count + 1, sizeof *texts);
    for (size_t i = 0; i < count; i++)
        texts[i] = items[i].problem;
    return mem_first_places(texts, count);
}

/* All that the request asks for, sweeps first. */
static size_t list_wishes(struct comparison_item *items, struct sweep_problem *problems,
                          const struct compare_request *q)
{
    size_t count = 0;
    for (size_t i = 0; i < q->sweep_count; i++) {
        const struct sweep *s = &q->sweeps[i];
        for (size_t n = 0; n < s->count; n++) {
            problems[count] = s->problems[n];
            items[count++] = (struct comparison_item){
                .problem = s->problems[n].text,
                .variant = q->variant,
                .model = "",
                .batch = s->problems[n].problem.n,
                .count = 1,
                .check = strcmp(s->purpose, "timing") != 0,
                .time = strcmp(s->purpose, "correctness") != 0 && !q->no_timing};
        }
    }
    for (size_t i = 0; i < q->model_count; i++) {
        const struct model *m = &q->models[i];
        for (size_t n = 0; n < m->count; n++) {
            problems[count] =
                (struct sweep_problem){.problem = m->layers[n].problem, .text = m->layers[n].text};
            items[count++] = (struct comparison_item){.problem = m->layers[n].text,
                                                      .variant = q->variant,
                                                      .model = m->name,
                                                      .batch = m->batch,
                                                      .count = m->layers[n].count,
                                                      .check = true,
                                                      .time = !q->no_timing};
        }
    }
    return count;
}

/* The wishes, where a problem that stands in two sweeps stands once and is asked for both their
 * purposes. */
static size_t list_items(struct comparison_item *items, struct sweep_problem *problems,
                         const struct compare_request *q)
{
    size_t all = list_wishes(items, problems, q), count = 0;
    CLEANUP(mem_free_ptr) size_t *first = first_places(items, all);
    CLEANUP(mem_free_ptr) size_t *place = xcalloc(all + 1, sizeof *place);
    for (size_t i = 0; i < all; i++) {
        if (first[i] != i && !*items[i].model) {
            items[place[first[i]]].check |= items[i].check;
            items[place[first[i]]].time |= items[i].time;
            continue;
        }
        place[i] = count;
        problems[count] = problems[i];
        items[count++] = items[i];
    }
    return count;
}

static int comparison_id(char id[REPO_SHA_SIZE], const struct runner *r,
                         const struct compare_request *q, const struct comparison_item *items,
                         size_t count)
{
    struct buf text;
    buf_init(&text, BUF_MAX_FILE);
    buf_printf(&text,
               "assay-comparison 1\nbase %s %s\nhead %s %s\nmachine %s\n%s\nround %" PRId64 "\n",
               q->base->id, q->base->commit, q->head->id, q->head->commit, r->machine->name,
               r->epoch_text, q->round);
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s|%s|%s|%" PRId64 "|%" PRId64 "|%d|%d\n", items[i].problem,
                   items[i].variant, items[i].model, items[i].batch, items[i].count, items[i].check,
                   items[i].time);
    int status = repo_blob_id(id, text.data, text.length);
    buf_release(&text);
    return status;
}

/* Rows of one build, in the comparison's epoch, found by problem and variant. */
struct rows {
    struct result_row *all;
    size_t count;
};

static int load_rows(struct rows *out, struct arena *a, struct store *s, const char *artifact,
                     int64_t epoch)
{
    int status = store_list_results(&out->all, &out->count, a, s, artifact);
    size_t kept = 0;
    for (size_t i = 0; status == 0 && i < out->count; i++) {
        if (out->all[i].epoch == epoch)
            out->all[kept++] = out->all[i];
    }
    out->count = kept;
    if (kept > 0)
        qsort(out->all, kept, sizeof *out->all, store_by_configuration);
    return status;
}

static void judge_rows(struct check_verdict *out, struct arena *a, const struct gate *g,
                       const struct rows *rows, const struct comparison_item *item)
{
    const struct result_row wanted = {
        .problem = item->problem, .variant = item->variant, .row = -1};
    size_t low = 0, high = rows->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (store_by_configuration(&rows->all[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    while (end < rows->count && strcmp(rows->all[end].problem, item->problem) == 0 &&
           strcmp(rows->all[end].variant, item->variant) == 0)
        end++;
    judge_check(out, a, g, rows->all ? rows->all + low : NULL, end - low);
}

static const char *session_name(struct arena *a, const char *comparison, const char *stage)
{
    return arena_printf(a, "%s/%s", comparison, stage);
}

static bool same_code(const struct compared *c)
{
    return *c->base.code && strcmp(c->base.code, c->head.code) == 0;
}

/* Code that did not change has one speed: the median of all its times. */
static void judge_identical(struct compared *c)
{
    c->speed.verdict = SPEED_IDENTICAL_CODE;
    c->speed.blocks = false;
    c->speed.reason = "the generated code is the same";
    c->speed.base_ns = c->speed.head_ns = (c->speed.base_ns + c->speed.head_ns) / 2;
    c->speed.effect = (struct stats_effect){.pairs = c->pair_count};
}

/* The pairs that count: the confirming ones where there are any. */
static int judge_pairs(struct compared *c, struct arena *a, struct store *s, const struct gate *g,
                       const struct comparison_row *row)
{
    static const char *const stages[] = {"confirm", "screen"};
    int status = 0;
    for (size_t i = 0; i < COUNT_OF(stages) && status == 0 && c->pair_count == 0; i++)
        status =
            store_list_pairs(&c->pairs, &c->pair_count, a, s, session_name(a, row->id, stages[i]),
                             c->item.problem, row->head_artifact);
    if (status < 0)
        return status;
    judge_speed(&c->speed, a, g, c->pairs, c->pair_count);
    c->timed = c->pair_count > 0 || (c->item.time && same_code(c));
    if (c->item.time && same_code(c))
        judge_identical(c);
    return 0;
}

/* Problems that stand twice, in a sweep and as a model's layer, count once. */
static void drop_repeats(struct comparison *c, struct arena *a, const struct comparison_item *items)
{
    CLEANUP(mem_free_ptr) size_t *first = first_places(items, c->count);
    c->once = ARENA_ARRAY(a, c->count, const struct compared *);
    c->once_count = 0;
    for (size_t i = 0; i < c->count; i++) {
        if (first[i] == i)
            c->once[c->once_count++] = &c->items[i];
    }
}

/* What changed beside right and wrong, fast and slow. */
static void judge_states(struct comparison *c, struct arena *a, const struct gate *g)
{
    struct judge_sides *sides = ARENA_ARRAY(a, c->once_count, struct judge_sides);
    for (size_t i = 0; i < c->once_count; i++)
        sides[i] = (struct judge_sides){.base = &c->once[i]->base, .head = &c->once[i]->head};
    judge_coverage(&c->coverage, g, sides, c->once_count);
    for (int f = 0; f < FIGURE_COUNT; f++)
        judge_figure(&c->figures[f], a, g, (enum figure)f, sides, c->once_count);
}

int compare_load(struct comparison *out, struct arena *a, struct store *s, const struct gate *g,
                 const char *id)
{
    bool found;
    struct comparison_item *items;
    struct rows base, head;
    int status = store_find_comparison(&out->row, &found, a, s, id);
    if (status == 0 && !found)
        status =
            err_set(ERR_NOTFOUND, "there is no comparison `%s`; `assay status` lists them", id);
    if (status == 0)
        status = store_list_comparison_items(&items, &out->count, a, s, out->row.id);
    if (status == 0)
        status = load_rows(&base, a, s, out->row.base_artifact, out->row.epoch);
    if (status == 0)
        status = load_rows(&head, a, s, out->row.head_artifact, out->row.epoch);
    if (status < 0)
        return status;
    out->items = ARENA_ARRAY(a, out->count, struct compared);
    for (size_t i = 0; i < out->count && status == 0; i++) {
        struct compared *c = &out->items[i];
        c->item = items[i];
        judge_rows(&c->base, a, g, &base, &c->item);
        judge_rows(&c->head, a, g, &head, &c->item);
        c->change = judge_change(&c->base, &c->head);
        status = judge_pairs(c, a, s, g, &out->row);
    }
    drop_repeats(out, a, items);
    judge_states(out, a, g);
    return status;
}

/* Is a failure of this row news that wants to be seen again? */
static bool got_worse(const struct result_row *base, const struct result_row *head)
{
    bool told = outcome_meaning(head->outcome) == OUTCOME_MEANS_BAD ||
                head->outcome == OUTCOME_NOT_APPLICABLE;
    return told && !(base && base->outcome == head->outcome);
}

/* The fresh compiles of one job, by round from 1 on. */
static void list_rounds(struct job *out, const struct job *job, int64_t rounds)
{
    for (int64_t i = 0; i < rounds; i++) {
        out[i] = *job;
        out[i].round = job->round + 1 + i;
    }
}

/* Does a fresh compile of the job make other code? codes has one for each round. */
static bool code_differs(const struct result_row *row, const char *const *codes, int64_t rounds)
{
    for (int64_t i = 0; i < rounds; i++) {
        if (strcmp(codes[i], row->code) != 0)
            return true;
    }
    return false;
}

/* What the first compile of head says is not the whole truth where compiles differ. What got worse
 * is run again in fresh compiles, and so is what a fresh compile makes other code of. base: by the
 * same order, or NULL. */
static int check_steadiness(struct arena *a, struct runner *r, const struct job *jobs,
                            const struct result_row *base, const struct result_row *head,
                            size_t count)
{
    size_t rounds = (size_t)r->gate->correctness.compiles - 1, again = 0, passing = 0;
    struct job *runs = ARENA_ARRAY(a, count * rounds, struct job),
               *compiles = ARENA_ARRAY(a, count * rounds, struct job);
    const char **codes = ARENA_ARRAY(a, count * rounds, const char *);
    size_t *passes = ARENA_ARRAY(a, count, size_t);
    for (size_t i = 0; i < count && rounds > 0; i++) {
        if (got_worse(base ? &base[i] : NULL, &head[i])) {
            list_rounds(&runs[rounds * again++], &jobs[i], (int64_t)rounds);
        } else if (head[i].outcome == OUTCOME_OK) {
            list_rounds(&compiles[rounds * passing], &jobs[i], (int64_t)rounds);
            passes[passing++] = i;
        }
    }
    int status = run_codes(codes, a, r, compiles, passing * rounds);
    for (size_t i = 0; i < passing && status == 0; i++) {
        if (code_differs(&head[passes[i]], &codes[rounds * i], (int64_t)rounds))
            list_rounds(&runs[rounds * again++], &jobs[passes[i]], (int64_t)rounds);
    }
    struct result_row *rows = ARENA_ARRAY(a, again * rounds, struct result_row);
    return status < 0 ? status : run_jobs(rows, a, r, runs, again * rounds);
}

static int check_both(struct arena *a, struct runner *r, const struct compare_request *q,
                      const struct sweep_problem *problems, size_t count)
{
    struct artifact both[2] = {*q->base, *q->head};
    size_t builds = strcmp(q->base->id, q->head->id) == 0 ? 1 : 2;
    struct plan plan;
    int status = plan_correctness(&plan, a, r, both, builds, problems, count, 0);
    if (status < 0)
        return status;
    struct result_row *rows = ARENA_ARRAY(a, plan.count, struct result_row);
    status = run_jobs(rows, a, r, plan.jobs, plan.count);
    if (status < 0 || plan.count == 0)
        return status;
    size_t each = plan.count / builds, head = plan.count - each;
    return check_steadiness(a, r, plan.jobs + head, builds == 2 ? rows : NULL, rows + head, each);
}

/* The pairs that the request asks for, judged; `ended` when there are none to judge. */
static int judge_more(struct speed_judgement *out, bool *ended, struct arena *a, struct runner *r,
                      const struct timing_request *t)
{
    struct pair_row *pairs;
    size_t count;
    enum outcome outcome;
    const char *detail;
    int status = run_pairs(&pairs, &count, &outcome, &detail, a, r, t);
    *ended = status < 0 || outcome != OUTCOME_OK;
    if (!*ended)
        judge_speed(out, a, r->gate, pairs, count);
    return status;
}

/* A screen goes on until it has found a slow-down, or has seen enough to exclude one that the gate
 * blocks: on a noisy machine the first pairs do neither. */
static int screen_item(bool *confirm, struct arena *a, struct runner *r, struct timing_request *t)
{
    const struct gate_speed *g = &r->gate->speed;
    *confirm = false;
    for (t->pairs = g->screen_pairs;; t->pairs += g->screen_pairs) {
        struct speed_judgement screen;
        bool ended;
        int status = judge_more(&screen, &ended, a, r, t);
        /* What is far beyond the gate owes nothing to being the screen's extreme. */
        if (ended || judge_is_beyond_doubt(r->gate, &screen))
            return status;
        *confirm = judge_wants_more(r->gate, &screen);
        if (*confirm || !judge_may_block(r->gate, &screen) || t->pairs >= g->confirm_pairs)
            return 0;
    }
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Fresh pairs until there are confirm_pairs, or fewer where there is no doubt. Where they leave it
 * open whether the gate blocks, they are doubled up to most_pairs. */
static int confirm_item(struct arena *a, struct runner *r, struct timing_request *t)
{
    const struct gate_speed *g = &r->gate->speed;
    t->pairs = 0;
    for (;;) {
        if (t->pairs < g->confirm_pairs)
            t->pairs = smaller(t->pairs + g->screen_pairs, g->confirm_pairs);
        else
            t->pairs *= 2;
        struct speed_judgement now;
        bool ended;
        int status = judge_more(&now, &ended, a, r, t);
        if (ended || judge_is_beyond_doubt(r->gate, &now))
            return status;
        bool open = now.verdict == SPEED_INCONCLUSIVE && judge_may_block(r->gate, &now);
        if (t->pairs >= g->confirm_pairs && !(open && 2 * t->pairs <= g->most_pairs))
            return 0;
    }
}

static int time_item(struct compared *c, struct arena *a, struct runner *r,
                     const struct compare_request *q, const char *id)
{
    struct timing_request t = {.session = session_name(a, id, "screen"),
                               .anchor = q->base,
                               .artifact = q->head,
                               .problem = c->item.problem,
                               .variant = c->item.variant,
                               .pairs = IDENTICAL_PAIRS};
    struct speed_judgement same;
    bool confirm = false;
    if (same_code(c))
        return judge_more(&same, &confirm, a, r, &t);
    int status = screen_item(&confirm, a, r, &t);
    if (status < 0 || !confirm)
        return status;
    t.session = session_name(a, id, "confirm");
    return confirm_item(a, r, &t);
}

/* Only what both builds do right is timed; unchanged code is timed only where a model's rate needs
 * it. */
static bool is_to_be_timed(const struct compared *c)
{
    bool right = c->base.outcome == OUTCOME_OK && c->head.outcome == OUTCOME_OK;
    return c->item.time && right && (*c->item.model || !same_code(c));
}

static int time_all(struct comparison *now, struct arena *a, struct runner *r,
                    const struct compare_request *q)
{
    int64_t total = 0;
    for (size_t i = 0; i < now->count; i++)
        total += is_to_be_timed(&now->items[i]);
    progress_begin("timing", total);
    int status = 0;
    for (size_t i = 0; i < now->count && status == 0; i++) {
        struct compared *c = &now->items[i];
        if (!is_to_be_timed(c))
            continue;
        progress_step("%s", c->item.problem);
        status = time_item(c, a, r, q, now->row.id);
        progress_done();
    }
    progress_end();
    return status;
}

int compare_run(struct comparison *out, struct arena *a, struct runner *r,
                const struct compare_request *q)
{
    struct store *s = r->workspace->store;
    size_t room = count_items(q);
    struct comparison_item *items = ARENA_ARRAY(a, room, struct comparison_item);
    struct sweep_problem *problems = ARENA_ARRAY(a, room, struct sweep_problem);
    size_t count = list_items(items, problems, q);
    char id[REPO_SHA_SIZE];
    bool known;
    struct comparison_row row;
    int status = comparison_id(id, r, q, items, count);
    if (status == 0)
        status = check_both(a, r, q, problems, count);
    if (status == 0)
        status = store_find_comparison(&row, &known, a, s, id);
    if (status == 0 && !known) {
        row = (struct comparison_row){.id = id,
                                      .candidate_file = r->candidate->file,
                                      .candidate = r->candidate->name,
                                      .machine_file = r->machine->file,
                                      .gate_file = r->gate->file,
                                      .base_commit = q->base->commit,
                                      .head_commit = q->head->commit,
                                      .base_artifact = q->base->id,
                                      .head_artifact = q->head->id,
                                      .command = q->command,
                                      .epoch = r->epoch};
        status = store_add_comparison(s, &row, items, count);
    }
    struct comparison now;
    if (status == 0)
        status = compare_load(&now, a, s, r->gate, id);
    if (status == 0)
        status = time_all(&now, a, r, q);
    return status < 0 ? status : compare_load(out, a, s, r->gate, id);
}
