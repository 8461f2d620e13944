#include "test.h"

#include "folder.h"
#include "harness/store.h"

#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

static struct store *open_store(struct folder *f)
{
    struct store *s = NULL;
    assert_ok(store_open(&s, fs_join(&f->arena, f->path, "store.db")));
    return s;
}

static struct result_row sample_row(int64_t epoch)
{
    return (struct result_row){.job = "job-1",
                               .artifact = "artifact-1",
                               .candidate = "pebble",
                               .commit = "c0ffee",
                               .problem = "conv fwd ...",
                               .variant = "v1:4,8",
                               .machine = "cpu",
                               .data = "integer",
                               .seed = 7,
                               .round = 2,
                               .purpose = PURPOSE_CORRECTNESS,
                               .stage = STAGE_VERIFY,
                               .outcome = OUTCOME_MISMATCH,
                               .detail = "3 of 9 off; it's \"quoted\"",
                               .signature = "border",
                               .code = "code-1",
                               .kernels = 4,
                               .workspace_bytes = 5,
                               .code_bytes = 6,
                               .compile_ns = 123456789012345,
                               .execute_ns = 8,
                               .stats = "elements 9\nmismatches 3\n",
                               .log = "/tmp/log",
                               .epoch = epoch,
                               .created_s = 1700000000};
}

static void store__gives_back_what_it_was_given(void **state)
{
    struct folder *f = *state;
    struct store *s = open_store(f);
    int64_t epoch;
    assert_ok(store_epoch(&epoch, s, "arch x"));
    struct result_row in = sample_row(epoch), out;
    bool found;
    assert_ok(store_add_result(s, &in));
    assert_ok(store_find_result(&out, &found, &f->arena, s, "job-1"));
    assert_true(found);
    assert_string_equal(out.detail, in.detail);
    assert_string_equal(out.stats, in.stats);
    assert_string_equal(out.signature, "border");
    assert_string_equal(out.variant, "v1:4,8");
    assert_int_equal(out.seed, 7);
    assert_int_equal(out.round, 2);
    assert_int_equal(out.stage, STAGE_VERIFY);
    assert_int_equal(out.outcome, OUTCOME_MISMATCH);
    assert_int_equal(out.compile_ns, 123456789012345);
    assert_int_equal(out.kernels, 4);
    assert_int_equal(out.created_s, 1700000000);
    assert_int_equal(out.row, in.row);
    assert_ok(store_find_result(&out, &found, &f->arena, s, "job-2"));
    assert_false(found);
    store_close(s);
}

static void store__outlives_its_process(void **state)
{
    struct folder *f = *state;
    struct store *s = open_store(f);
    int64_t first, second, third;
    assert_ok(store_epoch(&first, s, "one"));
    struct result_row in = sample_row(first);
    assert_ok(store_add_result(s, &in));
    store_close(s);
    s = open_store(f);
    assert_ok(store_epoch(&second, s, "two"));
    assert_ok(store_epoch(&third, s, "one"));
    assert_int_equal(first, third);
    assert_int_not_equal(first, second);
    struct result_row *rows;
    size_t count;
    assert_ok(store_list_results(&rows, &count, &f->arena, s, NULL));
    assert_int_equal(count, 1);
    store_close(s);
}

/* A child is killed without warning after every single row: each row that was added is there, and
 * the store opens. */
static void store__keeps_every_row_before_a_kill(void **state)
{
    struct folder *f = *state;
    enum { ROWS = 5 };
    for (int i = 0; i < ROWS; i++) {
        pid_t child = fork();
        if (child == 0) {
            struct store *s = NULL;
            int64_t epoch;
            struct result_row row;
            if (store_open(&s, fs_join(&f->arena, f->path, "store.db")) < 0 ||
                store_epoch(&epoch, s, "e") < 0)
                _exit(1);
            row = sample_row(epoch);
            if (store_add_result(s, &row) < 0)
                _exit(1);
            kill(getpid(), SIGKILL);
        }
        int status;
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));
    }
    struct store *s = open_store(f);
    struct store_counts counts;
    assert_ok(store_counts(&counts, s));
    assert_int_equal(counts.results, ROWS);
    assert_int_equal(counts.results_bad, ROWS);
    assert_int_equal(counts.epochs, 1);
    store_close(s);
}

static void store__refuses_a_newer_schema(void **state)
{
    struct folder *f = *state;
    store_close(open_store(f));
    sqlite3 *db;
    assert_int_equal(sqlite3_open(fs_join(&f->arena, f->path, "store.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 99", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    struct store *s = NULL;
    assert_fails(store_open(&s, fs_join(&f->arena, f->path, "store.db")), ERR_INVALID,
                 "newer assay");
    assert_null(s);
}

static void store__says_that_a_file_is_no_store(void **state)
{
    struct folder *f = *state;
    char *path = folder_file(
        f, "text",
        "this is no database, but long enough to be looked at as one ........................");
    struct store *s = NULL;
    assert_fails(store_open(&s, path), ERR_FOREIGN, "not a database");
}

static void store__finds_the_newest_build(void **state)
{
    struct folder *f = *state;
    struct store *s = open_store(f);
    struct build_row row = {.artifact = "a",
                            .candidate = "pebble",
                            .commit = "c",
                            .tree = "t",
                            .recipe = "r\n",
                            .detail = "x.c:1: error: no",
                            .outcome = OUTCOME_BUILD_ERROR,
                            .log = "",
                            .wall_ns = 5};
    bool found;
    assert_ok(store_add_build(s, &row));
    row.outcome = OUTCOME_OK;
    row.clean = true;
    assert_ok(store_add_build(s, &row));
    assert_ok(store_find_build(&row, &found, &f->arena, s, "a"));
    assert_true(found);
    assert_int_equal(row.outcome, OUTCOME_OK);
    assert_true(row.clean);
    assert_string_equal(row.recipe, "r\n");
    store_close(s);
}

static void store__lists_pairs_of_their_session_only(void **state)
{
    struct folder *f = *state;
    struct store *s = open_store(f);
    int64_t epoch;
    assert_ok(store_epoch(&epoch, s, "e"));
    struct pair_row pair = {.session = "s1",
                            .problem = "p",
                            .variant = "",
                            .anchor = "base",
                            .artifact = "head",
                            .anchor_first = true,
                            .anchor_ns = 100,
                            .candidate_ns = 110,
                            .anchor_samples = "99 100",
                            .candidate_samples = "110",
                            .note = "",
                            .epoch = epoch};
    for (pair.position = 2; pair.position >= 0; pair.position--)
        assert_ok(store_add_pair(s, &pair));
    pair.session = "s2";
    pair.position = 0;
    assert_ok(store_add_pair(s, &pair));
    assert_int_equal(store_add_pair(s, &pair), ERR_FOREIGN); /* one place, one pair */
    struct pair_row *rows;
    size_t count;
    assert_ok(store_list_pairs(&rows, &count, &f->arena, s, "s1", "p", "head"));
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rows[i].position, i);
    assert_string_equal(rows[0].anchor_samples, "99 100");
    store_close(s);
}

static void store__finds_comparisons_by_their_beginning(void **state)
{
    struct folder *f = *state;
    struct store *s = open_store(f);
    int64_t epoch;
    bool found;
    assert_ok(store_epoch(&epoch, s, "e"));
    struct comparison_item items[2] = {
        {.problem = "p1",
         .variant = "",
         .model = "",
         .batch = 1,
         .count = 1,
         .check = true,
         .time = true},
        {.problem = "p2", .variant = "", .model = "net", .batch = 4, .count = 3, .check = true}};
    struct comparison_row row = {.id = "abc1",
                                 .candidate = "pebble",
                                 .base_commit = "b",
                                 .head_commit = "h",
                                 .epoch = epoch},
                          out;
    assert_ok(store_add_comparison(s, &row, items, 2));
    row.id = "abc2";
    assert_ok(store_add_comparison(s, &row, items, 1));
    assert_int_equal(store_add_comparison(s, &row, items, 1), ERR_FOREIGN);
    assert_ok(store_find_comparison(&out, &found, &f->arena, s, "latest"));
    assert_string_equal(out.id, "abc2");
    assert_ok(store_find_comparison(&out, &found, &f->arena, s, "abc1"));
    assert_true(found);
    assert_fails(store_find_comparison(&out, &found, &f->arena, s, "abc"), ERR_INVALID,
                 "more than one");
    assert_ok(store_find_comparison(&out, &found, &f->arena, s, "nothing"));
    assert_false(found);
    struct comparison_item *listed;
    size_t count;
    assert_ok(store_list_comparison_items(&listed, &count, &f->arena, s, "abc1"));
    assert_int_equal(count, 2);
    assert_string_equal(listed[1].model, "net");
    assert_int_equal(listed[1].count, 3);
    assert_false(listed[1].time);
    store_close(s);
}

static void store__keeps_a_blame_with_its_steps(void **state)
{
    struct folder *f = *state;
    struct store *s = open_store(f);
    struct blame_row blame = {.hunt = "h1",
                              .candidate = "pebble",
                              .good_commit = "g",
                              .bad_commit = "b",
                              .problem = "p",
                              .variant = "",
                              .label = "mismatch",
                              .level = "LIKELY",
                              .culprit = "c1",
                              .error_probability = 0.25,
                              .suspects = "c1"};
    struct step_row steps[2] = {{.commit = "g", .answer = "good"},
                                {.commit = "b", .answer = "bad", .detail = "border"}};
    assert_ok(store_add_blame(s, &blame, steps, 2));
    blame.hunt = "h2";
    blame.level = "PROVEN";
    assert_ok(store_add_blame(s, &blame, steps, 1));
    blame.label = "slower";
    assert_ok(store_add_blame(s, &blame, steps, 1));
    struct blame_row *rows, one;
    struct step_row *listed;
    size_t count;
    bool found;
    assert_ok(store_list_blames(&rows, &count, &f->arena, s, "pebble", "g", "b"));
    assert_int_equal(count, 2); /* the newest wrong one, and the slower one */
    assert_string_equal(rows[0].level, "PROVEN");
    assert_ok(store_find_blame(&one, &found, &f->arena, s, "h1", "p"));
    assert_true(found);
    assert_true(one.error_probability == 0.25);
    assert_ok(store_list_steps(&listed, &count, &f->arena, s, "h1", "p"));
    assert_int_equal(count, 2);
    assert_string_equal(listed[1].detail, "border");
    store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(store__gives_back_what_it_was_given, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(store__outlives_its_process, folder_setup, folder_teardown),
        cmocka_unit_test_setup_teardown(store__keeps_every_row_before_a_kill, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(store__refuses_a_newer_schema, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(store__says_that_a_file_is_no_store, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(store__finds_the_newest_build, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(store__lists_pairs_of_their_session_only, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(store__finds_comparisons_by_their_beginning, folder_setup,
                                        folder_teardown),
        cmocka_unit_test_setup_teardown(store__keeps_a_blame_with_its_steps, folder_setup,
                                        folder_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
