/* collect_states: what changed beside right and wrong, fast and slow; and the verdict over it all.
 */
#include "harness/collect_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *share(struct arena *a, int64_t part, int64_t of)
{
    return arena_printf(a, "%" PRId64 " of %" PRId64 " (%.1f %%)", part, of,
                        of > 0 ? 100.0 * (double)part / (double)of : 0.0);
}

static const char *describe_share(struct arena *a, const struct coverage_judgement *j)
{
    if (j->share_changed)
        return arena_printf(a, "The share of not-applicable changed: %s at base, %s at head.",
                            share(a, j->base.not_applicable, j->problems),
                            share(a, j->head.not_applicable, j->problems));
    if (j->head.not_applicable == 0)
        return "Nothing is refused as not applicable, at base or at head.";
    return arena_printf(a, "The share of not-applicable is the same at base and at head: %s.",
                        share(a, j->head.not_applicable, j->problems));
}

static enum tone tone_of(enum gate_answer answer)
{
    return answer == GATE_BLOCKS ? TONE_BAD : answer == GATE_DOUBTS ? TONE_DOUBT : TONE_PLAIN;
}

static void collect_coverage(struct page *p)
{
    const struct coverage_judgement *j = &p->q->comparison->coverage;
    const struct report_state states[] = {
        {"passes", j->base.passes, j->head.passes},
        {"fails", j->base.fails, j->head.fails},
        {"not applicable", j->base.not_applicable, j->head.not_applicable},
        {"no result", j->base.missing, j->head.missing},
    };
    p->report->states = ARENA_ARRAY(p->arena, COUNT_OF(states), struct report_state);
    memcpy(p->report->states, states, sizeof states);
    p->report->state_count = COUNT_OF(states);
    p->report->coverage = describe_share(p->arena, j);
    p->report->coverage_tone = tone_of(j->share_answer);
}

static const struct {
    const char *name, *unit;
} figure_names[] = {
    [FIGURE_KERNELS] = {"kernels", ""},
    [FIGURE_WORKSPACE] = {"workspace", "bytes"},
    [FIGURE_CODE] = {"code", "bytes"},
    [FIGURE_COMPILE_TIME] = {"compile time", "ns"},
};

static const char *figure_note(const struct figure_judgement *j, enum figure which)
{
    if (j->blocks)
        return "the gate blocks this";
    return which == FIGURE_COMPILE_TIME ? "one sample a problem, so it only informs" : "";
}

static void add_figure(struct page *p, enum figure which)
{
    const struct comparison *c = p->q->comparison;
    const struct figure_judgement *j = &c->figures[which];
    struct report_figure *out = &p->report->figures[p->report->figure_count++];
    *out =
        (struct report_figure){.name = figure_names[which].name,
                               .unit = figure_names[which].unit,
                               .base = j->base,
                               .head = j->head,
                               .compared = j->compared,
                               .beyond = gate_figure_of(p->q->gate, which)->beyond,
                               .grew = ARENA_ARRAY(p->arena, j->grew_count, struct report_growth),
                               .grew_count = j->grew_count,
                               .shrank_count = j->shrank_count,
                               .tone = j->blocks           ? TONE_BAD
                                       : j->grew_count > 0 ? TONE_DOUBT
                                                           : TONE_PLAIN,
                               .note = figure_note(j, which)};
    for (size_t i = 0; i < j->grew_count; i++) {
        const struct compared *item = c->once[j->grew[i]];
        out->grew[i] = (struct report_growth){.problem = item->item.problem,
                                              .base = item->base.figures[which],
                                              .head = item->head.figures[which]};
    }
}

void collect_states(struct page *p)
{
    collect_coverage(p);
    if (p->q->comparison->figures[FIGURE_CODE].compared == 0)
        return;
    p->report->figures = ARENA_ARRAY(p->arena, FIGURE_COUNT, struct report_figure);
    for (int f = 0; f < FIGURE_COUNT; f++)
        add_figure(p, (enum figure)f);
}

/* Words of a list: "2 wrong, 1 slower". */
static void list_word(struct buf *list, const char *format, ...) PRINTF_LIKE(2, 3);
static void list_word(struct buf *list, const char *format, ...)
{
    char word[160];
    va_list args;
    va_start(args, format);
    vsnprintf(word, sizeof word, format, args);
    va_end(args);
    buf_printf(list, "%s%s", list->length > 0 ? ", " : "", word);
}

/* How many problems the gate has something against, by what it is. */
struct tally {
    int64_t wrong, refused, missing, slower;
};

static struct tally count_answers(const struct page *p, enum gate_answer answer)
{
    const struct comparison *c = p->q->comparison;
    struct tally t = {0};
    for (size_t i = 0; i < c->once_count; i++) {
        const struct compared *item = c->once[i];
        if (answer == GATE_BLOCKS && item->item.time)
            t.slower += item->speed.blocks;
        if (!collect_is_told(item) || check_change_answer(p->q->gate, item->change) != answer)
            continue;
        t.refused += item->change == CHECK_NEWLY_NOT_APPLICABLE;
        t.missing += item->change == CHECK_MISSING;
        t.wrong += !check_change_is_coverage(item->change);
    }
    return t;
}

static void list_problems(struct buf *list, const struct page *p, enum gate_answer answer)
{
    struct tally t = count_answers(p, answer);
    if (t.wrong > 0)
        list_word(list, "%" PRId64 " wrong", t.wrong);
    if (t.refused > 0)
        list_word(list, "%" PRId64 " no longer applicable", t.refused);
    if (t.missing > 0)
        list_word(list, "%" PRId64 " without a result", t.missing);
    if (t.slower > 0)
        list_word(list, "%" PRId64 " slower", t.slower);
    if (list->length > 0)
        buf_printf(list, " of %zu configurations", p->report->configuration_count);
}

/* Models that are slower as a whole, whatever their layers say one by one. */
static int64_t slower_models(const struct report *r)
{
    int64_t count = 0;
    for (size_t i = 0; i < r->speed_count; i++)
        count += r->speeds[i].model && r->speeds[i].tone == TONE_BAD;
    return count;
}

/* Everything that the gate answers so, in words; "" when there is nothing. */
static const char *list_findings(struct page *p, enum gate_answer answer)
{
    const struct coverage_judgement *j = &p->q->comparison->coverage;
    struct buf list;
    buf_init(&list, BUF_MAX_LINE);
    list_problems(&list, p, answer);
    int64_t models = answer == GATE_BLOCKS ? slower_models(p->report) : 0;
    if (models > 0)
        list_word(&list, "%" PRId64 " model%s slower", models, models > 1 ? "s" : "");
    if (j->share_changed && j->share_answer == answer)
        list_word(&list, "not-applicable went from %" PRId64 " to %" PRId64 " of %" PRId64,
                  j->base.not_applicable, j->head.not_applicable, j->problems);
    for (size_t i = 0; i < p->report->figure_count && answer == GATE_BLOCKS; i++) {
        if (p->report->figures[i].tone == TONE_BAD)
            list_word(&list, "more %s", p->report->figures[i].name);
    }
    const char *words = arena_strdup(p->arena, list.data);
    buf_release(&list);
    return words;
}

static const char *unproven(const struct coverage_judgement *j)
{
    return j->problems > 0 && j->head.not_applicable == j->problems
               ? "NOTHING PROVEN: every configuration is refused as not applicable at head"
               : "NOTHING PROVEN: no configuration passed at head";
}

void collect_verdict(struct page *p)
{
    struct report *r = p->report;
    const char *blocking = list_findings(p, GATE_BLOCKS), *doubts = list_findings(p, GATE_DOUBTS);
    if (*blocking) {
        r->tone = TONE_BAD;
        r->verdict = arena_printf(p->arena, "REGRESSED: %s; action needed", blocking);
        r->recommendation = "This build is not recommended to merge.";
    } else if (p->q->comparison->coverage.head.passes == 0) {
        r->tone = TONE_DOUBT;
        r->verdict = unproven(&p->q->comparison->coverage);
        r->recommendation = "This build is not recommended to merge: nothing shows that it works.";
    } else if (*doubts) {
        r->tone = TONE_DOUBT;
        r->verdict = arena_printf(p->arena, "COVERAGE CHANGED: %s; someone has to look", doubts);
        r->recommendation = "This build is not recommended to merge before someone has looked at "
                            "what it newly takes or refuses.";
    } else {
        r->tone = TONE_GOOD;
        r->verdict = arena_printf(p->arena,
                                  "PASS: nothing got worse in %zu configurations; no action needed",
                                  r->configuration_count);
        r->recommendation = "This build is recommended to merge.";
    }
}
