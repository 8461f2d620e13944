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

static void execute_beside(struct folder *f, const char *sql)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(fs_join(&f->arena, f->path, "store.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void store__lists_more_than_a_page_of_rows(void **state)
{
    struct folder *f = *state;
    struct store *s = open_store(f);
    enum { ROWS = 40 };
    int64_t epoch, rows_of[ROWS];
    assert_ok(store_epoch(&epoch, s, "e"));
    for (int i = 0; i < ROWS; i++) {
        struct result_row row = sample_row(epoch);
        row.artifact = i % 2 ? "odd" : "even";
        row.seed = i;
        assert_ok(store_add_result(s, &row));
        rows_of[i] = row.row;
    }
    struct result_row *rows, one;
    size_t count;
    bool found;
    assert_ok(store_list_results(&rows, &count, &f->arena, s, NULL));
    assert_int_equal(count, ROWS);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(rows[i].seed, i);
        assert_int_equal(rows[i].row, rows_of[i]);
    }
    assert_ok(store_list_results(&rows, &count, &f->arena, s, "odd"));
    assert_int_equal(count, ROWS / 2);
    assert_int_equal(rows[0].seed, 1);
    assert_ok(store_list_results(&rows, &count, &f->arena, s, "neither"));
    assert_int_equal(count, 0);
    assert_ok(store_get_result(&one, &found, &f->arena, s, rows_of[7]));
    assert_true(found);
    assert_int_equal(one.seed, 7);
    assert_ok(store_get_result(&one, &found, &f->arena, s, 4711));
    assert_false(found);
    store_close(s);
}

static void store__tells_when_a_row_was_written(void **state)
{
    struct folder *f = *state;
    struct store *s = open_store(f);
    int64_t epoch;
    assert_ok(store_epoch(&epoch, s, "e"));
    struct result_row row = sample_row(epoch);
    row.created_s = 0; /* now */
    bool found;
    assert_ok(store_add_result(s, &row));
    assert_ok(store_find_result(&row, &found, &f->arena, s, "job-1"));
    assert_true(row.created_s > 1700000000);
    store_close(s);
}

static void store__finds_epochs_and_builds_of_a_commit(void **state)
{
    struct folder *f = *state;
    struct store *s = open_store(f);
    int64_t epoch;
    const char *text;
    bool found;
    assert_ok(store_epoch(&epoch, s, "arch x"));
    assert_ok(store_epoch_text(&text, &f->arena, s, epoch));
    assert_string_equal(text, "arch x");
    assert_ok(store_epoch_text(&text, &f->arena, s, epoch + 1));
    assert_string_equal(text, "");
    struct build_row row = {.artifact = "a",
                            .candidate = "pebble",
                            .commit = "c",
                            .tree = "t",
                            .recipe = "r",
                            .outcome = OUTCOME_OK,
                            .detail = "",
                            .log = ""};
    assert_ok(store_add_build(s, &row));
    row.artifact = "b";
    row.clean = true; /* a confirmation's build is not the one that jobs run on */
    assert_ok(store_add_build(s, &row));
    assert_ok(store_find_commit_build(&row, &found, &f->arena, s, "pebble", "c"));
    assert_true(found);
    assert_string_equal(row.artifact, "a");
    assert_ok(store_find_commit_build(&row, &found, &f->arena, s, "sling", "c"));
    assert_false(found);
    assert_ok(store_find_build(&row, &found, &f->arena, s, "c"));
    assert_false(found);
    struct comparison_row comparison = {.id = "abc", .candidate = "pebble", .epoch = epoch}, *listed;
    size_t count;
    assert_ok(store_list_comparisons(&listed, &count, &f->arena, s));
    assert_int_equal(count, 0);
    assert_ok(store_find_comparison(&comparison, &found, &f->arena, s, "latest"));
    assert_false(found);
    comparison = (struct comparison_row){.id = "abc", .candidate = "pebble", .epoch = epoch};
    assert_ok(store_add_comparison(s, &comparison, NULL, 0));
    assert_ok(store_list_comparisons(&listed, &count, &f->arena, s));
    assert_int_equal(count, 1);
    assert_string_equal(listed[0].id, "abc");
    store_close(s);
}

/* A word of a newer assay reads as infra: nothing is concluded from it. */
static void store__concludes_nothing_from_unknown_words(void **state)
{
    struct folder *f = *state;
    struct store *s = open_store(f);
    int64_t epoch;
    bool found;
    assert_ok(store_epoch(&epoch, s, "e"));
    struct result_row row = sample_row(epoch);
    row.purpose = PURPOSE_TIMING;
    assert_ok(store_add_result(s, &row));
    assert_ok(store_find_result(&row, &found, &f->arena, s, "job-1"));
    assert_int_equal(row.purpose, PURPOSE_TIMING);
    execute_beside(f, "UPDATE result SET outcome = 'melted', stage = 'fusion', purpose = 'art'");
    assert_ok(store_find_result(&row, &found, &f->arena, s, "job-1"));
    assert_int_equal(row.outcome, OUTCOME_INFRA);
    assert_int_equal(row.stage, STAGE_CHECKOUT);
    assert_int_equal(row.purpose, PURPOSE_CORRECTNESS);
    store_close(s);
}

/* What belongs together is there together or not at all. */
static void store__rolls_back_what_is_half_written(void **state)
{
    struct folder *f = *state;
    struct store *s = open_store(f);
    int64_t epoch;
    struct store_counts counts;
    assert_ok(store_epoch(&epoch, s, "e"));
    execute_beside(f, "DROP TABLE comparison_item; DROP TABLE step");
    struct comparison_item item = {.problem = "p", .variant = "", .model = ""};
    struct comparison_row comparison = {.id = "abc", .candidate = "pebble", .epoch = epoch};
    struct step_row step = {.commit = "g", .answer = "good"};
    struct blame_row blame = {.hunt = "h", .candidate = "pebble", .problem = "p"};
    assert_fails(store_add_comparison(s, &comparison, &item, 1), ERR_FOREIGN, "comparison_item");
    assert_fails(store_add_blame(s, &blame, &step, 1), ERR_FOREIGN, "step");
    assert_ok(store_counts(&counts, s));
    assert_int_equal(counts.comparisons, 0);
    assert_int_equal(counts.blames, 0);
    assert_ok(store_add_comparison(s, &comparison, &item, 0)); /* no transaction was left open */
    assert_ok(store_counts(&counts, s));
    assert_int_equal(counts.comparisons, 1);
    store_close(s);
}

/* Every call on a store that lacks its tables says so, and which. */
static void store__names_what_it_lacks(void **state)
{
    struct folder *f = *state;
    struct store *s = open_store(f);
    execute_beside(f, "PRAGMA foreign_keys = OFF; DROP TABLE step; DROP TABLE blame; DROP TABLE pair;"
                      " DROP TABLE comparison_item; DROP TABLE comparison; DROP TABLE result;"
                      " DROP TABLE build; DROP TABLE epoch");
    struct arena *a = &f->arena;
    int64_t epoch;
    const char *text;
    bool found;
    size_t count;
    struct build_row build = {.artifact = "a"};
    struct result_row result = sample_row(1), *results;
    struct pair_row pair = {.session = "s"}, *pairs;
    struct comparison_row comparison = {.id = "c"}, *comparisons;
    struct comparison_item *items;
    struct blame_row blame = {.hunt = "h"}, *blames;
    struct step_row *steps;
    struct store_counts counts;
    assert_fails(store_epoch(&epoch, s, "e"), ERR_FOREIGN, "no such table: epoch");
    assert_fails(store_epoch_text(&text, a, s, 1), ERR_FOREIGN, "no such table: epoch");
    assert_fails(store_add_build(s, &build), ERR_FOREIGN, "no such table: build");
    assert_fails(store_find_build(&build, &found, a, s, "a"), ERR_FOREIGN, "no such table: build");
    assert_fails(store_find_commit_build(&build, &found, a, s, "p", "c"), ERR_FOREIGN, "build");
    assert_fails(store_add_result(s, &result), ERR_FOREIGN, "no such table: result");
    assert_fails(store_find_result(&result, &found, a, s, "j"), ERR_FOREIGN, "table: result");
    assert_fails(store_get_result(&result, &found, a, s, 1), ERR_FOREIGN, "table: result");
    assert_fails(store_list_results(&results, &count, a, s, NULL), ERR_FOREIGN, "table: result");
    assert_fails(store_add_pair(s, &pair), ERR_FOREIGN, "no such table: pair");
    assert_fails(store_list_pairs(&pairs, &count, a, s, "s", "p", "a"), ERR_FOREIGN, "pair");
    assert_fails(store_add_comparison(s, &comparison, NULL, 0), ERR_FOREIGN, "comparison");
    assert_fails(store_find_comparison(&comparison, &found, a, s, "c"), ERR_FOREIGN, "comparison");
    assert_fails(store_list_comparisons(&comparisons, &count, a, s), ERR_FOREIGN, "comparison");
    assert_fails(store_list_comparison_items(&items, &count, a, s, "c"), ERR_FOREIGN, "item");
    assert_fails(store_add_blame(s, &blame, NULL, 0), ERR_FOREIGN, "no such table: blame");
    assert_fails(store_find_blame(&blame, &found, a, s, "h", "p"), ERR_FOREIGN, "table: blame");
    assert_fails(store_list_blames(&blames, &count, a, s, "p", "g", "b"), ERR_FOREIGN, "blame");
    assert_fails(store_list_steps(&steps, &count, a, s, "h", "p"), ERR_FOREIGN, "no such table");
    assert_fails(store_counts(&counts, s), ERR_FOREIGN, "no such table: build");
    store_close(s);
}

static int64_t ask_beside(struct folder *f, const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *statement;
    assert_int_equal(sqlite3_open(fs_join(&f->arena, f->path, "store.db"), &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    int64_t answer = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    return answer;
}

static void store__numbers_its_schema(void **state)
{
    struct folder *f = *state;
    store_close(open_store(f));
    assert_int_equal(ask_beside(f, "PRAGMA user_version"), 1);
}

/* A migration that fails leaves the database as it was. */
static void store__migrates_whole_or_not_at_all(void **state)
{
    struct folder *f = *state;
    struct store *s = NULL;
    execute_beside(f, "CREATE TABLE pair(mine INTEGER)");
    assert_fails(store_open(&s, fs_join(&f->arena, f->path, "store.db")), ERR_FOREIGN,
                 "already exists");
    assert_null(s);
    assert_int_equal(ask_beside(f, "PRAGMA user_version"), 0);
    assert_int_equal(ask_beside(f, "SELECT count(*) FROM sqlite_master WHERE type = 'table'"), 1);
}

static void store__says_where_it_cannot_be(void **state)
{
    struct folder *f = *state;
    struct store *s = NULL;
    assert_fails(store_open(&s, fs_join(&f->arena, f->path, "no/store.db")), ERR_FOREIGN,
                 "opening");
    assert_null(s);
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)

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
        STORE_TEST(store__lists_more_than_a_page_of_rows),
        STORE_TEST(store__tells_when_a_row_was_written),
        STORE_TEST(store__finds_epochs_and_builds_of_a_commit),
        STORE_TEST(store__concludes_nothing_from_unknown_words),
        STORE_TEST(store__rolls_back_what_is_half_written),
        STORE_TEST(store__names_what_it_lacks),
        STORE_TEST(store__numbers_its_schema),
        STORE_TEST(store__migrates_whole_or_not_at_all),
        STORE_TEST(store__says_where_it_cannot_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
