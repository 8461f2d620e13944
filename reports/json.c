/* json: the whole model as one JSON object, nothing folded and nothing left out. jansson writes it,
 * keys in the order given here. */
#include "reports/report.h"

#include <jansson.h>
#include <math.h>

#include "src/mem.h"

static void put(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value) != 0)
        die("no memory for the report");
}

/* JSON text is Unicode: bytes that are not UTF-8 become U+FFFD here, since jansson refuses them. */
static json_t *text_value(const char *text)
{
    if (!text)
        return json_null();
    struct buf clean;
    buf_init(&clean, BUF_MAX_LINE);
    while (*text) {
        uint32_t code;
        text += report_decode(&code, text);
        report_encode(&clean, code);
    }
    json_t *value = json_string(clean.overflowed ? "(longer than 1 MiB)" : clean.data);
    buf_release(&clean);
    return value;
}

static void put_text(json_t *object, const char *key, const char *text)
{
    put(object, key, text_value(text));
}

static void put_integer(json_t *object, const char *key, int64_t value)
{
    put(object, key, json_integer(value));
}

static void put_real(json_t *object, const char *key, double value)
{
    put(object, key, isfinite(value) ? json_real(value) : json_null());
}

static void put_tone(json_t *object, enum tone tone)
{
    put_text(object, "tone", report_tone_word(tone));
}

static json_t *new_object(void)
{
    json_t *object = json_object();
    if (!object)
        die("no memory for the report");
    return object;
}

/* A new list under `key`; the object owns it. */
static json_t *put_list(json_t *object, const char *key)
{
    json_t *list = json_array();
    put(object, key, list);
    return list;
}

static void append(json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) != 0)
        die("no memory for the report");
}

static void put_texts(json_t *object, const char *key, const char *const *texts, size_t count)
{
    json_t *list = put_list(object, key);
    for (size_t i = 0; i < count; i++)
        append(list, text_value(texts[i]));
}

static json_t *commit_value(const struct report_commit *commit)
{
    json_t *object = new_object();
    put_text(object, "sha", commit->sha);
    put_text(object, "subject", commit->subject);
    put_text(object, "author", commit->author);
    put_text(object, "date", commit->date);
    return object;
}

static void put_facts(json_t *object, const char *key, const struct report_fact *facts,
                      size_t count)
{
    json_t *list = put_list(object, key);
    for (size_t i = 0; i < count; i++) {
        json_t *fact = new_object();
        put_text(fact, "name", facts[i].name);
        put_text(fact, "value", facts[i].value);
        append(list, fact);
    }
}

static json_t *speed_value(const struct report_speed *speed)
{
    json_t *object = new_object();
    put_text(object, "test", speed->test);
    put(object, "model", json_boolean(speed->model));
    put_integer(object, "batch", speed->batch);
    put_text(object, "unit", speed->unit);
    put_real(object, "rate_new", speed->rate_new);
    put_real(object, "rate_old", speed->rate_old);
    put_real(object, "change", speed->change);
    put_real(object, "change_low", speed->change_low);
    put_real(object, "change_high", speed->change_high);
    put_text(object, "compare", speed->compare);
    put_tone(object, speed->tone);
    put_integer(object, "pairs", speed->pairs);
    put_text(object, "reason", speed->reason);
    put_text(object, "again", speed->again);
    put_text(object, "theirs", speed->theirs);
    return object;
}

static json_t *check_value(const struct report_check *check)
{
    json_t *object = new_object();
    put_text(object, "problem", check->problem);
    put_text(object, "change", check->change);
    put_tone(object, check->tone);
    put_text(object, "base", check->base);
    put_text(object, "head", check->head);
    put_text(object, "signature", check->signature);
    put_text(object, "again", check->again);
    put_text(object, "theirs", check->theirs);
    return object;
}

static json_t *step_value(const struct report_step *step)
{
    json_t *object = new_object();
    put(object, "commit", commit_value(&step->commit));
    put_text(object, "answer", step->answer);
    put_tone(object, step->tone);
    put_text(object, "detail", step->detail);
    return object;
}

static json_t *blame_value(const struct report_blame *blame)
{
    json_t *object = new_object();
    put_text(object, "what", blame->what);
    put_text(object, "level", blame->level);
    put_tone(object, blame->tone);
    put(object, "culprit", blame->culprit.sha ? commit_value(&blame->culprit) : json_null());
    put_real(object, "error_probability",
             blame->error_probability >= 0.0 ? blame->error_probability : NAN);
    put_text(object, "because", blame->because);
    put_texts(object, "problems", blame->problems, blame->problem_count);
    json_t *suspects = put_list(object, "suspects");
    for (size_t i = 0; i < blame->suspect_count; i++)
        append(suspects, commit_value(&blame->suspects[i]));
    json_t *steps = put_list(object, "steps");
    for (size_t i = 0; i < blame->step_count; i++)
        append(steps, step_value(&blame->steps[i]));
    put_integer(object, "builds", blame->builds);
    put_integer(object, "runs", blame->runs);
    put_text(object, "again", blame->again);
    put_text(object, "theirs", blame->theirs);
    return object;
}

static json_t *coverage_value(const struct report *r)
{
    json_t *object = new_object();
    put_text(object, "summary", r->coverage);
    put_text(object, "tone", report_tone_word(r->coverage_tone));
    json_t *states = put_list(object, "states");
    for (size_t i = 0; i < r->state_count; i++) {
        json_t *state = new_object();
        put_text(state, "name", r->states[i].name);
        put_integer(state, "base", r->states[i].base);
        put_integer(state, "head", r->states[i].head);
        append(states, state);
    }
    return object;
}

/* Base, head and head / base; null from nothing. */
static void put_change(json_t *object, int64_t base, int64_t head)
{
    put_integer(object, "base", base);
    put_integer(object, "head", head);
    put_real(object, "ratio", base > 0 ? (double)head / (double)base : NAN);
}

static json_t *figure_value(const struct report_figure *figure)
{
    json_t *object = new_object();
    put_text(object, "name", figure->name);
    put_text(object, "unit", figure->unit);
    put_change(object, figure->base, figure->head);
    put_integer(object, "problems", figure->compared);
    put_real(object, "beyond", figure->beyond);
    put_integer(object, "shrank", (int64_t)figure->shrank_count);
    put_tone(object, figure->tone);
    put_text(object, "note", figure->note);
    json_t *grew = put_list(object, "grew");
    for (size_t i = 0; i < figure->grew_count; i++) {
        json_t *growth = new_object();
        put_text(growth, "problem", figure->grew[i].problem);
        put_change(growth, figure->grew[i].base, figure->grew[i].head);
        append(grew, growth);
    }
    return object;
}

static json_t *report_value(const struct report *r)
{
    json_t *object = new_object();
    put_text(object, "schema", "assay-report-1");
    put_text(object, "title", r->title);
    put_text(object, "verdict", r->verdict);
    put_tone(object, r->tone);
    put_text(object, "recommendation", r->recommendation);
    put_text(object, "command", r->command);
    put(object, "base", commit_value(&r->base));
    put(object, "head", commit_value(&r->head));
    put_facts(object, "facts", r->facts, r->fact_count);
    put_facts(object, "counts", r->counts, r->count_count);
    json_t *blames = put_list(object, "blames");
    for (size_t i = 0; i < r->blame_count; i++)
        append(blames, blame_value(&r->blames[i]));
    json_t *speeds = put_list(object, "speeds");
    for (size_t i = 0; i < r->speed_count; i++)
        append(speeds, speed_value(&r->speeds[i]));
    json_t *checks = put_list(object, "checks");
    for (size_t i = 0; i < r->check_count; i++)
        append(checks, check_value(&r->checks[i]));
    put(object, "coverage", r->state_count > 0 ? coverage_value(r) : json_null());
    json_t *figures = put_list(object, "figures");
    for (size_t i = 0; i < r->figure_count; i++)
        append(figures, figure_value(&r->figures[i]));
    put_texts(object, "configurations", r->configurations, r->configuration_count);
    return object;
}

static int add_chunk(const char *bytes, size_t length, void *payload)
{
    buf_add(payload, bytes, length);
    return 0;
}

void report_json(struct buf *out, const struct report *r)
{
    /* A fixed seed of jansson's hash tables: otherwise it would read one from the system, and this
     * layer reads nothing. */
    json_object_seed(1);
    json_t *object = report_value(r);
    /* 15 digits: every double comes back within one part in 10^15 and 0.1 stays 0.1. */
    if (json_dump_callback(object, add_chunk, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) != 0)
        die("no memory for the report");
    json_decref(object);
    buf_add_char(out, '\n');
}
