#include "test.h"

#include "folder.h"
#include "harness/tested.h"
#include "src/fs.h"

struct shelf {
    struct folder *folder;
    struct store *store;
    struct gate gate;
    int64_t epoch;
};

static int setup(void **state)
{
    struct folder *f;
    if (folder_setup((void **)&f) != 0)
        return -1;
    struct shelf *s = ARENA_NEW(&f->arena, struct shelf);
    s->folder = f;
    *state = s;
    if (config_gate(&s->gate, &f->arena, NULL) < 0 ||
        store_open(&s->store, fs_join(&f->arena, f->path, "store.db")) < 0)
        return -1;
    return store_epoch(&s->epoch, s->store, "one");
}

static int teardown(void **state)
{
    struct shelf *s = *state;
    void *folder = s->folder;
    store_close(s->store);
    return folder_teardown(&folder);
}

static void add(struct shelf *s, const char *candidate, const char *commit, const char *problem,
                const char *variant, const char *data, enum outcome outcome)
{
    struct result_row row = {.job = "j",
                             .artifact = commit,
                             .candidate = candidate,
                             .commit = commit,
                             .problem = problem,
                             .variant = variant,
                             .machine = "m",
                             .data = data,
                             .stage = STAGE_EXECUTE,
                             .outcome = outcome,
                             .detail = "",
                             .signature = "",
                             .code = "",
                             .stats = "",
                             .log = "",
                             .epoch = s->epoch};
    assert_ok(store_add_result(s->store, &row));
}

/* "problem variant outcome;" of each configuration listed. */
static const char *listed(struct shelf *s, const char *candidate, const char *commit)
{
    struct arena *a = &s->folder->arena;
    struct tested *list;
    size_t count;
    const struct tested_filter filter = {.candidate = candidate, .commit = commit};
    assert_ok(tested_list(&list, &count, a, s->store, &s->gate, &filter));
    const char *text = "";
    for (size_t i = 0; i < count; i++)
        text = arena_printf(a, "%s%s %s %s;", text, list[i].problem, list[i].variant,
                            outcome_word(list[i].outcome));
    return text;
}

static void a_configuration_stands_once_in_a_stable_order(void **state)
{
    struct shelf *s = *state;
    assert_string_equal(listed(s, NULL, NULL), "");
    add(s, "c", "1", "q", "", "integer", OUTCOME_OK);
    add(s, "c", "1", "p", "t", "integer", OUTCOME_OK);
    add(s, "c", "1", "p", "", "integer", OUTCOME_OK);
    add(s, "c", "1", "p", "", "real", OUTCOME_CRASH);
    assert_string_equal(listed(s, NULL, NULL), "p  crash;p t ok;q  ok;");
}

static void the_build_tested_last_speaks(void **state)
{
    struct shelf *s = *state;
    add(s, "c", "1", "p", "", "integer", OUTCOME_OK);
    add(s, "c", "2", "p", "", "integer", OUTCOME_CRASH);
    add(s, "c", "2", "p", "", "real", OUTCOME_OK);
    assert_string_equal(listed(s, NULL, NULL), "p  crash;");
    assert_string_equal(listed(s, NULL, "1"), "p  ok;");
    int64_t other;
    assert_ok(store_epoch(&other, s->store, "two"));
    s->epoch = other; /* the same build on another machine */
    add(s, "c", "2", "p", "", "integer", OUTCOME_OK);
    assert_string_equal(listed(s, NULL, "2"), "p  ok;");
}

static void rows_of_others_do_not_count(void **state)
{
    struct shelf *s = *state;
    add(s, "c", "1", "p", "", "integer", OUTCOME_OK);
    add(s, "d", "1", "q", "", "integer", OUTCOME_OK);
    assert_string_equal(listed(s, "c", NULL), "p  ok;");
    assert_string_equal(listed(s, "d", NULL), "q  ok;");
    assert_string_equal(listed(s, "d", "2"), "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_configuration_stands_once_in_a_stable_order),
        TEST(the_build_tested_last_speaks),
        TEST(rows_of_others_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
