#include "sample_report.h"

#include <jansson.h>
#include <math.h>

/* Print and read back with the library's own strict reader. */
static json_t *printed(const struct report *r)
{
    struct buf json;
    buf_init(&json, BUF_MAX_REPORT);
    report_json(&json, r);
    assert_ok(buf_check(&json, "report"));
    json_error_t error;
    json_t *root = json_loadb(json.data, json.length, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        fail_msg("line %d: %s", error.line, error.text);
    buf_release(&json);
    return root;
}

static const char *text_at(json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void the_sample_is_the_golden_file(void **state)
{
    (void)state;
    struct arena a = {0};
    struct report r = sample_report(&a);
    struct buf json;
    buf_init(&json, BUF_MAX_REPORT);
    report_json(&json, &r);
    assert_golden("sample.json", &json);
    buf_release(&json);
    arena_release(&a);
}

static void every_row_comes_back(void **state)
{
    (void)state;
    struct arena a = {0};
    struct report r = sample_report(&a);
    json_t *root = printed(&r);
    assert_string_equal(text_at(root, "schema"), "assay-report-1");
    assert_string_equal(text_at(root, "tone"), "bad");
    assert_string_equal(text_at(root, "verdict"), r.verdict);
    assert_int_equal(json_array_size(json_object_get(root, "checks")), 40);
    assert_int_equal(json_array_size(json_object_get(root, "configurations")), 40);
    assert_int_equal(json_array_size(json_object_get(root, "speeds")), 10);
    json_t *blames = json_object_get(root, "blames");
    assert_int_equal(json_array_size(blames), 3);
    assert_string_equal(text_at(json_object_get(json_array_get(blames, 0), "culprit"), "sha"),
                        sample_commits[4].sha);
    assert_true(json_is_null(json_object_get(json_array_get(blames, 2), "culprit")));
    assert_int_equal(json_array_size(json_object_get(json_array_get(blames, 2), "suspects")), 3);
    json_t *speed = json_array_get(json_object_get(root, "speeds"), 0);
    assert_true(json_real_value(json_object_get(speed, "change")) == -0.177);
    assert_true(json_is_true(json_object_get(speed, "model")));
    json_t *coverage = json_object_get(root, "coverage");
    json_t *refused = json_array_get(json_object_get(coverage, "states"), 2);
    assert_string_equal(text_at(refused, "name"), "not applicable");
    assert_int_equal(json_integer_value(json_object_get(refused, "head")), 4);
    json_t *figures = json_object_get(root, "figures");
    assert_int_equal(json_array_size(figures), 4);
    assert_true(json_is_null(json_object_get(json_array_get(figures, 1), "ratio")));
    json_t *compile = json_array_get(figures, 3);
    assert_string_equal(text_at(compile, "unit"), "ns");
    assert_int_equal(json_integer_value(json_object_get(compile, "head")), 14020000000);
    assert_int_equal(json_array_size(json_object_get(compile, "grew")), 5);
    json_decref(root);
    arena_release(&a);
}

static void hostile_text_comes_back_as_it_was(void **state)
{
    (void)state;
    struct arena a = {0};
    struct report r = hostile_report(&a);
    json_t *root = printed(&r);
    assert_contains(
        text_at(root, "title"),
        "<script>alert(\"1\")</script> a|b `tick` ``` **bold** @who #12\n# line\t\x1b[31m");
    assert_contains(text_at(root, "title"), "\xef\xbf\xbd\xef\xbf\xbd(");
    json_decref(root);
    arena_release(&a);
}

static void what_is_not_stated_is_null(void **state)
{
    (void)state;
    struct report_speed speed = {.change = (double)NAN, .change_high = (double)INFINITY};
    struct report_blame blame = {.error_probability = -1};
    struct report r = {.speeds = &speed, .speed_count = 1, .blames = &blame, .blame_count = 1};
    json_t *root = printed(&r);
    json_t *first = json_array_get(json_object_get(root, "speeds"), 0);
    assert_true(json_is_null(json_object_get(first, "change")));
    assert_true(json_is_null(json_object_get(first, "change_high")));
    assert_true(json_is_null(json_object_get(first, "test")));
    assert_true(json_is_null(
        json_object_get(json_array_get(json_object_get(root, "blames"), 0), "error_probability")));
    assert_true(json_is_null(json_object_get(root, "coverage")));
    json_decref(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sample_is_the_golden_file),
        cmocka_unit_test(every_row_comes_back),
        cmocka_unit_test(hostile_text_comes_back_as_it_was),
        cmocka_unit_test(what_is_not_stated_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
