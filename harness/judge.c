#include "harness/judge.h"

#include "reference/data.h"

#include <math.h>
#include <string.h>

static double stat_of(const struct result_row *row, const char *key)
{
    size_t length = strlen(key);
    for (const char *line = row->stats; line && *line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, length) == 0 && line[length] == ' ')
            return strtod(line + length + 1, NULL);
    }
    return 0;
}

/* What the gate makes of a row that came as far as verify. Exact data stand as measured; others are
 * held against the gate's ratio. */
static enum outcome judge_row(const struct gate *g, const struct result_row *row)
{
    bool measured = row->stage == STAGE_VERIFY &&
                    (row->outcome == OUTCOME_OK || row->outcome == OUTCOME_MISMATCH);
    if (!measured)
        return row->outcome;
    double damage = stat_of(row, "nans") + stat_of(row, "unwritten") + stat_of(row, "guard_low") +
                    stat_of(row, "guard_high");
    enum data_kind kind;
    bool exact = !data_kind_parse(&kind, row->data) || data_kind_is_exact(kind);
    bool only_tolerance = !exact && damage == 0 && stat_of(row, "elements") > 0 &&
                          stat_of(row, "infs") == 0 && strncmp(row->signature, "writes", 6) != 0;
    enum outcome outcome = row->outcome;
    if (only_tolerance)
        outcome =
            stat_of(row, "worst_ratio") <= g->correctness.ratio ? OUTCOME_OK : OUTCOME_MISMATCH;
    if (outcome == OUTCOME_OK &&
        stat_of(row, "zeros") > g->correctness.zero_share * stat_of(row, "elements"))
        return OUTCOME_NO_VERDICT;
    return outcome;
}

/* What other tools would say of a row of real data, where the gate asks for it; "" else. */
static const char *judge_others(struct arena *a, const struct gate *g, const struct result_row *row)
{
    enum data_kind kind;
    const struct gate_correctness *c = &g->correctness;
    bool measured = row->stage == STAGE_VERIFY && data_kind_parse(&kind, row->data) &&
                    !data_kind_is_exact(kind) && stat_of(row, "elements") > 0;
    if (!measured)
        return "";
    double rms = stat_of(row, "rms"), beyond = stat_of(row, "beyond");
    const char *by_rms = "", *by_close = "";
    if (c->rms > 0)
        by_rms = arena_printf(a, "; by rms %g it %s (%.3g)", c->rms,
                              rms <= c->rms ? "passes" : "fails", rms);
    if (c->atol > 0 || c->rtol > 0)
        by_close = arena_printf(a, "; by atol %g, rtol %g it %s (%.0f beyond)", c->atol, c->rtol,
                                beyond == 0 ? "passes" : "fails", beyond);
    return arena_printf(a, "%s%s", by_rms, by_close);
}

/* Failures say more than doubts, doubts more than passes. */
static int weight(enum outcome o)
{
    switch (outcome_meaning(o)) {
    case OUTCOME_MEANS_BAD:
        return 2;
    case OUTCOME_MEANS_UNKNOWN:
        return 1;
    default:
        return 0;
    }
}

/* Do two rows of the same data in different rounds pass and fail? */
static bool disagree(const struct gate *g, const struct result_row *x, const struct result_row *y)
{
    if (strcmp(x->data, y->data) != 0 || x->seed != y->seed || x->round == y->round)
        return false;
    int wx = weight(judge_row(g, x)), wy = weight(judge_row(g, y));
    return (wx == 0 && wy == 2) || (wx == 2 && wy == 0);
}

static bool is_unsteady(const struct gate *g, const struct result_row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            if (disagree(g, &rows[i], &rows[j]))
                return true;
        }
    }
    return false;
}

/* In how many rounds did a kind of data fail, and of how many? */
static const char *describe_unsteady(struct arena *a, const struct gate *g,
                                     const struct result_row *rows, size_t count)
{
    size_t rounds = 0, failed = 0;
    for (size_t i = 0; i < count; i++) {
        bool first = true, fails = false;
        for (size_t k = 0; k < count; k++) {
            first = first && !(k < i && rows[k].round == rows[i].round);
            fails =
                fails || (rows[k].round == rows[i].round && weight(judge_row(g, &rows[k])) == 2);
        }
        rounds += first;
        failed += first && fails;
    }
    return arena_printf(a, "fails in %zu of %zu compiles", failed, rounds);
}

/* The figures of the first round that made code: later rounds are there for steadiness. */
static void read_figures(struct check_verdict *out, const struct result_row *rows, size_t count)
{
    const struct result_row *first = NULL;
    for (size_t i = 0; i < count; i++) {
        if (*rows[i].code && (!first || rows[i].round < first->round))
            first = &rows[i];
    }
    out->compiled = first != NULL;
    if (!first)
        return;
    out->figures[FIGURE_KERNELS] = first->kernels;
    out->figures[FIGURE_WORKSPACE] = first->workspace_bytes;
    out->figures[FIGURE_CODE] = first->code_bytes;
    out->figures[FIGURE_COMPILE_TIME] = first->compile_ns;
}

static const char *shared_code(const struct result_row *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (strcmp(rows[i].code, rows[0].code) != 0)
            return "";
    }
    return rows[0].code;
}

/* Rows of kinds of data that the gate asks about. */
static size_t keep_asked(struct result_row *kept, const struct gate *g,
                         const struct result_row *rows, size_t count)
{
    const struct yaml_texts *data = &g->correctness.data;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        bool asked = data->count == 0;
        for (size_t k = 0; k < data->count && !asked; k++)
            asked = strcmp(data->items[k], rows[i].data) == 0;
        if (asked)
            kept[n++] = rows[i];
    }
    return n;
}

void judge_check(struct check_verdict *out, struct arena *a, const struct gate *g,
                 const struct result_row *all, size_t all_count)
{
    struct result_row *rows = ARENA_ARRAY(a, all_count, struct result_row);
    size_t count = keep_asked(rows, g, all, all_count);
    *out = (struct check_verdict){
        .outcome = OUTCOME_MISSING, .detail = "no row", .signature = "", .code = ""};
    if (count == 0)
        return;
    const struct result_row *worst = &rows[0];
    for (size_t i = 1; i < count; i++) {
        if (weight(judge_row(g, &rows[i])) > weight(judge_row(g, worst)))
            worst = &rows[i];
    }
    out->outcome = judge_row(g, worst);
    out->stage = worst->stage;
    out->row = worst->row;
    out->signature = worst->signature;
    out->code = shared_code(rows, count);
    read_figures(out, rows, count);
    out->detail = worst->detail;
    if (out->outcome == OUTCOME_OK)
        out->detail = "";
    else if (out->outcome == OUTCOME_MISMATCH && worst->outcome == OUTCOME_OK)
        out->detail =
            arena_printf(a, "%s data: worst %.4g times the tolerance where the gate allows %.4g",
                         worst->data, stat_of(worst, "worst_ratio"), g->correctness.ratio);
    else if (out->outcome == OUTCOME_MISMATCH)
        out->detail = arena_printf(a, "%s data: %s", worst->data, worst->detail);
    else if (out->outcome == OUTCOME_NO_VERDICT && worst->stage == STAGE_VERIFY)
        out->detail = "too many zeros in the result to prove anything";
    /* Of the row that the verdict is from, or of any real data where all is well. */
    const char *others = judge_others(a, g, worst);
    for (size_t i = 0; i < count && out->outcome == OUTCOME_OK && !*others; i++)
        others = judge_others(a, g, &rows[i]);
    if (*others)
        out->detail = arena_printf(a, "%s%s", out->detail, *out->detail ? others : others + 2);
    if (is_unsteady(g, rows, count)) {
        out->detail = arena_printf(a, "%s; %s: %s", describe_unsteady(a, g, rows, count),
                                   outcome_word(out->outcome), out->detail);
        out->outcome = OUTCOME_UNSTEADY;
    }
}

const char *judge_describe(struct arena *a, const struct check_verdict *v)
{
    return *v->detail ? arena_printf(a, "%s: %s", outcome_word(v->outcome), v->detail)
                      : outcome_word(v->outcome);
}

enum check_change judge_change(const struct check_verdict *base, const struct check_verdict *head)
{
    bool base_applies = base->outcome != OUTCOME_NOT_APPLICABLE,
         head_applies = head->outcome != OUTCOME_NOT_APPLICABLE;
    bool base_unknown = base_applies && weight(base->outcome) == 1,
         head_unknown = head_applies && weight(head->outcome) == 1;
    if (base_unknown || head_unknown)
        return CHECK_MISSING;
    if (!head_applies)
        return base_applies ? CHECK_NEWLY_NOT_APPLICABLE : CHECK_NOT_APPLICABLE;
    bool fails = weight(head->outcome) == 2;
    if (!base_applies)
        return fails ? CHECK_NEWLY_FAILING : CHECK_NEWLY_APPLICABLE;
    if (weight(base->outcome) == 0)
        return fails ? CHECK_NEWLY_FAILING : CHECK_PASSES;
    if (!fails)
        return CHECK_FIXED;
    return base->outcome == head->outcome ? CHECK_STILL_FAILING : CHECK_FAILS_OTHERWISE;
}

const char *check_change_words(enum check_change c)
{
    static const char *const words[] = {
        [CHECK_PASSES] = "passes",
        [CHECK_NEWLY_FAILING] = "newly failing",
        [CHECK_FIXED] = "fixed",
        [CHECK_STILL_FAILING] = "still failing",
        [CHECK_FAILS_OTHERWISE] = "fails otherwise",
        [CHECK_NOT_APPLICABLE] = "not applicable",
        [CHECK_NEWLY_NOT_APPLICABLE] = "newly not applicable",
        [CHECK_NEWLY_APPLICABLE] = "newly applicable",
        [CHECK_MISSING] = "missing",
    };
    return words[c];
}

/* "block" or "doubt": the key table lets nothing else through. */
static enum gate_answer answer_of_word(const char *word)
{
    return strcmp(word, "block") == 0 ? GATE_BLOCKS : GATE_DOUBTS;
}

enum gate_answer check_change_answer(const struct gate *g, enum check_change c)
{
    switch (c) {
    case CHECK_NEWLY_FAILING:
    case CHECK_FAILS_OTHERWISE:
        return GATE_BLOCKS;
    case CHECK_NEWLY_NOT_APPLICABLE:
        return answer_of_word(g->coverage.newly_not_applicable);
    case CHECK_MISSING:
        return answer_of_word(g->coverage.missing);
    default:
        return GATE_PASSES;
    }
}

bool check_change_blocks(const struct gate *g, enum check_change c)
{
    return check_change_answer(g, c) == GATE_BLOCKS;
}

bool check_change_is_coverage(enum check_change c)
{
    return c == CHECK_NEWLY_NOT_APPLICABLE || c == CHECK_NEWLY_APPLICABLE || c == CHECK_MISSING;
}

bool check_change_is_worse(enum check_change c)
{
    return c == CHECK_NEWLY_FAILING || c == CHECK_FAILS_OTHERWISE ||
           c == CHECK_NEWLY_NOT_APPLICABLE;
}

static void count_side(struct coverage_side *side, const struct check_verdict *v)
{
    if (v->outcome == OUTCOME_NOT_APPLICABLE)
        side->not_applicable++;
    else if (weight(v->outcome) == 0)
        side->passes++;
    else if (weight(v->outcome) == 2)
        side->fails++;
    else
        side->missing++;
}

void judge_coverage(struct coverage_judgement *out, const struct gate *g,
                    const struct judge_sides *sides, size_t count)
{
    *out = (struct coverage_judgement){.problems = (int64_t)count};
    for (size_t i = 0; i < count; i++) {
        count_side(&out->base, sides[i].base);
        count_side(&out->head, sides[i].head);
    }
    out->share_changed = out->base.not_applicable != out->head.not_applicable;
    if (out->share_changed)
        out->share_answer = answer_of_word(g->coverage.changed_share);
}

const struct gate_figure *gate_figure_of(const struct gate *g, enum figure which)
{
    switch (which) {
    case FIGURE_KERNELS:
        return &g->figures.kernels;
    case FIGURE_WORKSPACE:
        return &g->figures.workspace;
    case FIGURE_CODE:
        return &g->figures.code;
    case FIGURE_COMPILE_TIME:
        return &g->figures.compile_time;
    case FIGURE_COUNT:
        break;
    }
    bug("no such figure: %d", (int)which);
}

/* From nothing to something is beyond every fraction. */
static bool grows(const struct gate_figure *gate, int64_t from, int64_t to)
{
    return to > from && to - from >= gate->least && (double)to > (double)from * (1 + gate->beyond);
}

/* What grew, with by how much, for the order. */
struct growth {
    size_t index;
    double ratio; /* infinite from nothing */
    int64_t difference;
};

static int by_growth(const void *left, const void *right)
{
    const struct growth *l = left, *r = right;
    if (l->ratio != r->ratio)
        return l->ratio < r->ratio ? 1 : -1;
    if (l->difference != r->difference)
        return l->difference < r->difference ? 1 : -1;
    return (l->index > r->index) - (l->index < r->index);
}

void judge_figure(struct figure_judgement *out, struct arena *a, const struct gate *g,
                  enum figure which, const struct judge_sides *sides, size_t count)
{
    const struct gate_figure *gate = gate_figure_of(g, which);
    struct growth *growths = ARENA_ARRAY(a, count, struct growth);
    *out = (struct figure_judgement){.grew = ARENA_ARRAY(a, count, size_t)};
    for (size_t i = 0; i < count; i++) {
        if (!sides[i].base->compiled || !sides[i].head->compiled)
            continue;
        int64_t from = sides[i].base->figures[which], to = sides[i].head->figures[which];
        out->compared++;
        out->base += from;
        out->head += to;
        out->shrank_count += grows(gate, to, from);
        if (grows(gate, from, to))
            growths[out->grew_count++] =
                (struct growth){.index = i,
                                .ratio = from > 0 ? (double)to / (double)from : HUGE_VAL,
                                .difference = to - from};
    }
    if (out->grew_count > 0)
        qsort(growths, out->grew_count, sizeof *growths, by_growth);
    for (size_t i = 0; i < out->grew_count; i++)
        out->grew[i] = growths[i].index;
    out->blocks = (strcmp(gate->blocks, "problem") == 0 && out->grew_count > 0) ||
                  (strcmp(gate->blocks, "total") == 0 && grows(gate, out->base, out->head));
}

const char *speed_verdict_words(enum speed_verdict v)
{
    static const char *const words[] = {
        [SPEED_REGRESSED] = "regressed",           [SPEED_IMPROVED] = "improved",
        [SPEED_EQUIVALENT] = "equivalent",         [SPEED_INCONCLUSIVE] = "inconclusive",
        [SPEED_IDENTICAL_CODE] = "identical code", [SPEED_MISSING] = "missing",
    };
    return words[v];
}

static enum speed_verdict verdict_of(const struct gate *g, const struct stats_effect *e)
{
    double least = log1p(g->speed.minimum_effect);
    if (e->low > least)
        return SPEED_REGRESSED;
    if (e->high < -least)
        return SPEED_IMPROVED;
    return e->low > -least && e->high < least ? SPEED_EQUIVALENT : SPEED_INCONCLUSIVE;
}

static const char *explain(struct arena *a, const struct gate *g, const struct speed_judgement *j)
{
    double percent = 100 * expm1(j->effect.mean), low = 100 * expm1(j->effect.low),
           high = 100 * expm1(j->effect.high);
    const char *interval = arena_printf(a, "time %+.1f %% [%+.1f, %+.1f] over %zu pairs", percent,
                                        low, high, j->effect.pairs);
    if (j->verdict == SPEED_REGRESSED && !j->blocks)
        return arena_printf(a, "%s, below the gate's %.0f %%", interval, 100 * g->speed.regression);
    return interval;
}

static void conclude(struct speed_judgement *j, struct arena *a, const struct gate *g)
{
    j->verdict = verdict_of(g, &j->effect);
    j->blocks = j->verdict == SPEED_REGRESSED && j->effect.mean >= log1p(g->speed.regression);
    j->reason = explain(a, g, j);
}

void judge_speed(struct speed_judgement *out, struct arena *a, const struct gate *g,
                 const struct pair_row *pairs, size_t count)
{
    *out = (struct speed_judgement){.verdict = SPEED_MISSING, .reason = "not timed"};
    if (count < 2)
        return;
    double *ratios = ARENA_ARRAY(a, count, double), *base = ARENA_ARRAY(a, count, double),
           *head = ARENA_ARRAY(a, count, double);
    for (size_t i = 0; i < count; i++) {
        base[i] = (double)pairs[i].anchor_ns;
        head[i] = (double)pairs[i].candidate_ns;
        ratios[i] = log(head[i] / base[i]);
    }
    out->effect = stats_pairs(ratios, count, g->speed.confidence, g->speed.noise_floor);
    out->base_ns = stats_median(base, count);
    out->head_ns = stats_median(head, count);
    conclude(out, a, g);
}

bool judge_wants_more(const struct gate *g, const struct speed_judgement *screen)
{
    if (screen->verdict == SPEED_MISSING || screen->effect.error <= 0)
        return false;
    double beyond = fabs(screen->effect.mean) - log1p(g->speed.minimum_effect);
    return stats_t_tail(beyond / screen->effect.error, screen->effect.freedom) < 0.2;
}

bool judge_may_block(const struct gate *g, const struct speed_judgement *j)
{
    if (j->verdict == SPEED_MISSING || j->effect.error <= 0)
        return false;
    double below = log1p(g->speed.regression) - j->effect.mean;
    return stats_t_tail(below / j->effect.error, j->effect.freedom) >= 0.05;
}

bool judge_is_beyond_doubt(const struct gate *g, const struct speed_judgement *j)
{
    if (j->verdict == SPEED_MISSING || j->effect.error <= 0)
        return false;
    double beyond = fabs(j->effect.mean) - log1p(g->speed.regression);
    return stats_t_tail(beyond / j->effect.error, j->effect.freedom) < 1e-5;
}

void judge_model(struct speed_judgement *out, struct arena *a, const struct gate *g,
                 const struct judge_layer *layers, size_t count)
{
    *out = (struct speed_judgement){.verdict = SPEED_MISSING, .reason = "a layer was not timed"};
    double base = 0, head = 0, squares = 0, freedom = 1e9;
    size_t pairs = SIZE_MAX, identical = 0;
    for (size_t i = 0; i < count; i++) {
        const struct speed_judgement *j = layers[i].judgement;
        if (j->verdict == SPEED_MISSING)
            return;
        base += (double)layers[i].count * j->base_ns;
        head += (double)layers[i].count * j->head_ns;
        identical += j->verdict == SPEED_IDENTICAL_CODE;
        if (j->effect.freedom > 0 && j->effect.freedom < freedom)
            freedom = j->effect.freedom;
        if (j->effect.pairs < pairs)
            pairs = j->effect.pairs;
    }
    for (size_t i = 0; i < count; i++) {
        const struct speed_judgement *j = layers[i].judgement;
        double share = (double)layers[i].count * j->head_ns / head;
        squares += share * share * j->effect.error * j->effect.error;
    }
    if (count == 0 || base <= 0 || head <= 0)
        return;
    double half = stats_t_quantile(g->speed.confidence, freedom) * sqrt(squares);
    double mean = log(head / base);
    out->base_ns = base;
    out->head_ns = head;
    out->effect = (struct stats_effect){.pairs = pairs,
                                        .mean = mean,
                                        .error = sqrt(squares),
                                        .freedom = freedom,
                                        .low = mean - half,
                                        .high = mean + half};
    conclude(out, a, g);
    if (identical == count) {
        out->verdict = SPEED_IDENTICAL_CODE;
        out->reason = "the generated code of every layer is the same";
    }
}
