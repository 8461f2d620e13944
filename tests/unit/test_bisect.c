#include "test.h"

#include "harness/bisect.h"

#include <math.h>
#include <time.h>

enum { MAX_COMMITS = 512, MAX_PROBLEMS = 300, SEED = 20240607 };

/* splitmix64: the same graphs on every machine. */
static uint64_t state = SEED;

static uint64_t draw(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t below(size_t limit)
{
    return (size_t)(draw() % limit);
}

static bool chance(int percent)
{
    return below(100) < (size_t)percent;
}

/* A graph and, by brute force, who descends from whom. */
struct graph {
    size_t count;
    struct bisect_node nodes[MAX_COMMITS];
    size_t parents[MAX_COMMITS][8];
    bool descends[MAX_COMMITS][MAX_COMMITS]; /* [a][b]: b is a or a descendant of a */
};
static struct graph g;

static size_t add_commit(const size_t *parents, size_t parent_count)
{
    size_t i = g.count++;
    for (size_t k = 0; k < parent_count; k++)
        g.parents[i][k] = parents[k];
    g.nodes[i] = (struct bisect_node){g.parents[i], parent_count};
    return i;
}

static void find_descent(void)
{
    for (size_t a = 0; a < g.count; a++) {
        for (size_t i = 0; i < g.count; i++) {
            g.descends[a][i] = i == a;
            for (size_t k = 0; k < g.nodes[i].parent_count; k++)
                g.descends[a][i] |= g.descends[a][g.parents[i][k]];
        }
    }
}

static void make_line(size_t count)
{
    g.count = 0;
    add_commit(NULL, 0);
    while (g.count < count)
        add_commit(&(size_t){g.count - 1}, 1);
    find_descent();
}

/* Branches are opened at any commit, or before the good end (no parent in the range), grow, and are merged into each other; at the end all
 * join. tips[0] is the main line. */
static void make_graph(size_t count)
{
    size_t tips[7], tip_count = 1;
    g.count = 0;
    tips[0] = add_commit(NULL, 0);
    while (g.count < count) {
        size_t into = below(tip_count);
        if (tip_count < 6 && chance(12)) {
            size_t from = below(g.count);
            tips[tip_count++] = chance(10) ? add_commit(NULL, 0) : add_commit(&from, 1);
        } else if (tip_count > 1 && chance(20)) {
            size_t other = into == 0 ? 1 + below(tip_count - 1) : into;
            into = into == 0 || chance(50) ? 0 : into - 1;
            tips[into] = add_commit((size_t[]){tips[into], tips[other]}, 2);
            tips[other] = tips[--tip_count];
        } else {
            tips[into] = add_commit(&tips[into], 1);
        }
    }
    if (tip_count > 1)
        add_commit(tips, tip_count);
    find_descent();
}

static bool bad[MAX_PROBLEMS][MAX_COMMITS];

static void plant(size_t problem, const size_t *culprits, size_t count)
{
    for (size_t i = 0; i < g.count; i++) {
        bad[problem][i] = false;
        for (size_t k = 0; k < count; k++)
            bad[problem][i] |= g.descends[culprits[k]][i];
    }
}

static void plant_one(size_t problem, size_t culprit)
{
    plant(problem, &culprit, 1);
}

/* The definition: bad, and no parent in the range is. */
static bool is_culprit(size_t problem, size_t commit)
{
    bool parents_good = true;
    for (size_t k = 0; k < g.nodes[commit].parent_count; k++)
        parents_good &= !bad[problem][g.parents[commit][k]];
    return bad[problem][commit] && parents_good;
}

static struct bisect *start(size_t problems, bool first_parent_only)
{
    struct bisect *b;
    assert_ok(bisect_new(&b, g.nodes, g.count, first_parent_only));
    for (size_t i = 0; i < problems; i++)
        assert_int_equal(bisect_add_problem(b), i);
    return b;
}

static bool skipped[MAX_COMMITS];

static enum bisect_answer truth(size_t problem, size_t commit)
{
    return bad[problem][commit] ? BISECT_BAD : BISECT_GOOD;
}

/* Answer until all has ended; each answer `repeats` times. Returns how many commits were asked; never the same twice. */
static size_t answer_all(struct bisect *b, int repeats)
{
    bool asked[MAX_COMMITS] = {0};
    size_t problems[MAX_PROBLEMS], count, commit, questions = 0;
    while (bisect_ask(&commit, problems, &count, b)) {
        assert_true(count > 0);
        assert_false(asked[commit]);
        asked[commit] = true;
        questions++;
        if (skipped[commit])
            bisect_skip(b, commit);
        for (size_t i = 0; i < count && !skipped[commit]; i++) {
            for (int k = 0; k < repeats; k++)
                bisect_tell(b, problems[i], commit, truth(problems[i], commit));
        }
    }
    return questions;
}

static int log2_up(size_t n)
{
    int bits = 0;
    while (((size_t)1 << bits) < n)
        bits++;
    return bits;
}

static void new__refuses_what_is_no_range(void **unused)
{
    (void)unused;
    struct bisect *b;
    size_t zero = 0, one = 1, two = 2;
    const struct bisect_node single[] = {{NULL, 0}};
    const struct bisect_node unordered[] = {{NULL, 0}, {&two, 1}, {&zero, 1}};
    const struct bisect_node own[] = {{NULL, 0}, {&one, 1}};
    const struct bisect_node apart[] = {{NULL, 0}, {NULL, 0}, {&one, 1}};
    assert_fails(bisect_new(&b, single, 1, false), ERR_INVALID, "at least two");
    assert_fails(bisect_new(&b, unordered, 3, false), ERR_INVALID, "parent 2 of commit 1");
    assert_fails(bisect_new(&b, own, 2, false), ERR_INVALID, "parent 1 of commit 1");
    assert_fails(bisect_new(&b, apart, 3, false), ERR_INVALID, "no ancestor");
    bisect_free(NULL);
}

static void line__every_length_and_culprit_within_log2(void **unused)
{
    (void)unused;
    size_t runs = 0;
    for (size_t count = 2; count <= 200; count++) {
        make_line(count);
        for (size_t culprit = 1; culprit < count; culprit++, runs++) {
            plant_one(0, culprit);
            struct bisect *b = start(1, culprit % 2);
            assert_int_equal(bisect_steps_left(b), log2_up(count - 1));
            assert_in_range(answer_all(b, 1), 1, (size_t)log2_up(count - 1) + 2);
            assert_int_equal(bisect_state(b, 0), BISECT_FOUND);
            assert_int_equal(bisect_culprit(b, 0), culprit);
            assert_int_equal(bisect_steps_left(b), 0);
            bisect_free(b);
        }
    }
    print_message("%zu lines, each within ceil(log2 N) + 2 questions\n", runs);
}

static void ends__are_asked_first_bad_end_before_good_end(void **unused)
{
    (void)unused;
    make_line(10);
    plant_one(0, 4);
    plant_one(1, 7);
    struct bisect *b = start(2, false);
    size_t problems[2], count, commit;
    for (size_t end = 0; end < 2; end++) {
        assert_true(bisect_ask(&commit, problems, &count, b));
        assert_int_equal(commit, end == 0 ? 9 : 0);
        assert_int_equal(count, 2);
        bisect_tell(b, 0, commit, truth(0, commit));
        assert_true(bisect_ask(&commit, problems, &count, b)); /* problem 1 still waits for the same end */
        assert_int_equal(commit, end == 0 ? 9 : 0);
        assert_int_equal(count, 1);
        assert_int_equal(problems[0], 1);
        bisect_tell(b, 1, commit, truth(1, commit));
    }
    bisect_free(b);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void graphs__one_culprit_anywhere(void **unused)
{
    (void)unused;
    size_t merges = 0, excess = 0, worst = 0, runs = 6000;
    double spent = 0;
    for (size_t run = 0; run < runs; run++) {
        make_graph(3 + below(80));
        size_t culprit = 1 + below(g.count - 1);
        plant_one(0, culprit);
        merges += g.nodes[culprit].parent_count > 1;
        double before = seconds();
        struct bisect *b = start(1, false);
        size_t questions = answer_all(b, 1);
        spent += seconds() - before;
        if (bisect_state(b, 0) != BISECT_FOUND || bisect_culprit(b, 0) != culprit || !is_culprit(0, culprit))
            fail_msg("graph %zu: culprit %zu missed", run, culprit);
        size_t least = (size_t)log2_up(g.count - 1) + 2;
        excess += questions > least ? questions - least : 0;
        worst = questions > least + worst ? questions - least : worst;
        bisect_free(b);
    }
    print_message("seed %d: %zu graphs, %zu culprits are merges, none missed; beyond ceil(log2 N) + 2: mean %.3f, worst %zu; "
                  "%.0f graphs a minute\n", SEED, runs, merges, (double)excess / (double)runs, worst, 60 * (double)runs / spent);
    assert_true(merges > 300);
}

/* Whatever else is bad, the blamed commit is one of the culprits. */
static void graphs__several_culprits(void **unused)
{
    (void)unused;
    for (size_t run = 0; run < 4000; run++) {
        make_graph(6 + below(80));
        size_t culprits[3] = {1 + below(g.count - 1), 1 + below(g.count - 1), 1 + below(g.count - 1)};
        plant(0, culprits, 2 + below(2));
        struct bisect *b = start(1, false);
        answer_all(b, 1);
        assert_int_equal(bisect_state(b, 0), BISECT_FOUND);
        if (!is_culprit(0, bisect_culprit(b, 0)))
            fail_msg("graph %zu: %zu is no culprit", run, bisect_culprit(b, 0));
        bisect_free(b);
    }
}

/* Many problems with culprits of their own; answers are told to all of them, asked for or not. */
static void graphs__shared_by_many_problems(void **unused)
{
    (void)unused;
    for (size_t run = 0; run < 400; run++) {
        make_graph(20 + below(80));
        for (size_t p = 0; p < 12; p++) {
            size_t culprits[2] = {1 + below(g.count - 1), 1 + below(g.count - 1)};
            plant(p, culprits, 1 + below(2));
        }
        struct bisect *b = start(12, false);
        size_t problems[MAX_PROBLEMS], count, commit;
        while (bisect_ask(&commit, problems, &count, b)) {
            for (size_t p = 0; p < 12; p++)
                bisect_tell(b, p, commit, truth(p, commit));
        }
        for (size_t p = 0; p < 12; p++) {
            assert_int_equal(bisect_state(b, p), BISECT_FOUND);
            if (!is_culprit(p, bisect_culprit(b, p)))
                fail_msg("graph %zu, problem %zu: %zu is no culprit", run, p, bisect_culprit(b, p));
        }
        bisect_free(b);
    }
}

static void first_parents__come_before_side_branches(void **unused)
{
    (void)unused;
    /* 0 - 1 ----- 4 - 5 - 6   with 2 - 3 beside, merged by 4; culprit 3. */
    g.count = 0;
    size_t one = 1;
    add_commit(NULL, 0);
    add_commit(&(size_t){0}, 1);
    add_commit(&one, 1);
    add_commit(&(size_t){2}, 1);
    add_commit((size_t[]){1, 3}, 2);
    add_commit(&(size_t){4}, 1);
    add_commit(&(size_t){5}, 1);
    find_descent();
    plant_one(0, 3);
    struct bisect *b = start(1, false);
    size_t problems[1], count, commit, order[8], asked = 0;
    while (bisect_ask(&commit, problems, &count, b)) {
        order[asked++] = commit;
        bisect_tell(b, 0, commit, truth(0, commit));
    }
    assert_int_equal(bisect_culprit(b, 0), 3);
    size_t first_side = 0;
    while (order[first_side] != 2 && order[first_side] != 3)
        first_side++;
    assert_true(first_side >= 4); /* both ends, then 4 and 1 */
    for (size_t i = first_side; i < asked; i++)
        assert_true(order[i] == 2 || order[i] == 3);
    bisect_free(b);
}

/* A first-parent line ends at a commit without parents. */
static void first_parents__end_at_a_root(void **unused)
{
    (void)unused;
    /* 0 - 1 - 3   2, a root, is the first parent of the merge 4 of 2 and 3. */
    g.count = 0;
    add_commit(NULL, 0);
    add_commit(&(size_t){0}, 1);
    add_commit(NULL, 0);
    add_commit(&(size_t){1}, 1);
    add_commit((size_t[]){2, 3}, 2);
    find_descent();
    struct bisect *b = start(1, false);
    size_t problems[1], count, commit;
    bisect_tell(b, 0, 4, BISECT_BAD);
    bisect_tell(b, 0, 0, BISECT_GOOD);
    assert_true(bisect_ask(&commit, problems, &count, b));
    assert_int_equal(commit, 2);
    bisect_free(b);
}

static void first_parent_only__blames_the_merge(void **unused)
{
    (void)unused;
    for (size_t run = 0; run < 1500; run++) {
        make_graph(10 + below(80));
        size_t line[MAX_COMMITS], length = 0, at = g.count - 1;
        for (;;) {
            line[length++] = at;
            if (g.nodes[at].parent_count == 0)
                break;
            at = g.parents[at][0];
        }
        size_t wanted = 0;
        plant_one(0, 1 + below(g.count - 1));
        for (size_t i = 0; i < length; i++)
            wanted = bad[0][line[i]] ? line[i] : wanted;
        struct bisect *b = start(1, true);
        assert_true(answer_all(b, 1) <= (size_t)log2_up(length) + 2);
        assert_int_equal(bisect_state(b, 0), BISECT_FOUND);
        assert_int_equal(bisect_culprit(b, 0), wanted);
        bisect_free(b);
    }
}

/* c and d answer alike wherever an answer can be had. */
static bool is_alike(size_t c, size_t d)
{
    for (size_t i = 0; i < g.count; i++) {
        if (!skipped[i] && g.descends[c][i] != g.descends[d][i])
            return false;
    }
    return true;
}

/* The engine's suspects are exactly the commits that no possible question tells apart from the culprit. */
static bool check_suspects(struct bisect *b, size_t culprit)
{
    size_t suspects[MAX_COMMITS], count = bisect_suspects(suspects, b, 0), wanted = 0;
    for (size_t i = 1; i < g.count; i++) {
        if (!is_alike(culprit, i))
            continue;
        if (wanted >= count || suspects[wanted++] != i)
            fail_msg("%zu is missing among the suspects for %zu", i, culprit);
    }
    assert_int_equal(count, wanted);
    assert_int_equal(bisect_state(b, 0), count == 1 ? BISECT_FOUND : BISECT_RANGE);
    return count == 1;
}

static void skips__leave_the_smallest_set_possible(void **unused)
{
    (void)unused;
    size_t found = 0, runs = 4000;
    for (size_t run = 0; run < runs; run++) {
        make_graph(4 + below(60));
        int percent = (int)below(80);
        for (size_t i = 1; i + 1 < g.count; i++)
            skipped[i] = chance(percent);
        size_t culprit = 1 + below(g.count - 1);
        plant_one(0, culprit);
        struct bisect *b = start(1, false);
        answer_all(b, 1);
        found += check_suspects(b, culprit);
        bisect_free(b);
        memset(skipped, 0, sizeof skipped);
    }
    print_message("%zu graphs with skipped commits: %zu found, the others minimal sets\n", runs, found);
    assert_true(found > runs / 4 && found < runs);
}

static void skips__of_one_problem_do_not_hinder_another(void **unused)
{
    (void)unused;
    make_line(16);
    plant_one(0, 8);
    plant_one(1, 8);
    struct bisect *b = start(2, false);
    size_t problems[2], count, commit;
    while (bisect_ask(&commit, problems, &count, b)) {
        for (size_t i = 0; i < count; i++) {
            bool skip = problems[i] == 1 && (commit == 8 || commit == 7);
            bisect_tell(b, problems[i], commit, skip ? BISECT_SKIP : truth(problems[i], commit));
        }
    }
    size_t suspects[16];
    assert_int_equal(bisect_state(b, 0), BISECT_FOUND);
    assert_int_equal(bisect_culprit(b, 0), 8);
    assert_int_equal(bisect_state(b, 1), BISECT_RANGE);
    assert_int_equal(bisect_suspects(suspects, b, 1), 3);
    assert_int_equal(suspects[0], 7);
    assert_int_equal(suspects[2], 9);
    bisect_free(b);
}

/* 8-commit broken blocks in a line of 256, as facts/bisection.md 3.3: galloping took 10.1, 12.3 and 15.2 attempts for 10, 20 and 30 %. The
 * two ends come on top. */
/* When no suspect can be asked, a commit beside them that divides them best is. */
static void skips__are_gone_round_by_the_best_side_branch(void **unused)
{
    (void)unused;
    /* 0 - 1 - 2 - 3 - 4 ------ 7   5 stands on 2, 6 on 1, merged by 7. */
    make_line(5);
    add_commit(&(size_t){2}, 1);
    add_commit(&(size_t){1}, 1);
    add_commit((size_t[]){4, 5, 6}, 3);
    find_descent();
    struct bisect *b = start(1, false);
    size_t problems[1], suspects[8], count, commit;
    bisect_tell(b, 0, 7, BISECT_BAD);
    bisect_tell(b, 0, 0, BISECT_GOOD);
    bisect_tell(b, 0, 4, BISECT_BAD);
    for (size_t i = 1; i < 4; i++)
        bisect_skip(b, i);
    assert_int_equal(bisect_state(b, 0), BISECT_OPEN);
    assert_true(bisect_ask(&commit, problems, &count, b));
    assert_int_equal(commit, 5);
    assert_int_equal(count, 1);
    bisect_tell(b, 0, 5, BISECT_GOOD);
    assert_int_equal(bisect_state(b, 0), BISECT_RANGE); /* 6 would tell nothing more */
    assert_int_equal(bisect_suspects(suspects, b, 0), 2);
    assert_int_equal(suspects[0], 3);
    bisect_free(b);
}

/* A merge of two branches from one suspect holds it once, and so divides it from another. */
static void skips__count_a_suspect_below_a_merge_once(void **unused)
{
    (void)unused;
    /* 0 - 1 - 5 ------- 6   2 and 3 stand on 1, 4 merges them. */
    make_line(2);
    add_commit(&(size_t){1}, 1);
    add_commit(&(size_t){1}, 1);
    add_commit((size_t[]){2, 3}, 2);
    add_commit(&(size_t){1}, 1);
    add_commit((size_t[]){5, 4}, 2);
    find_descent();
    struct bisect *b = start(1, false);
    size_t problems[1], count, commit;
    bisect_tell(b, 0, 6, BISECT_BAD);
    bisect_tell(b, 0, 0, BISECT_GOOD);
    bisect_tell(b, 0, 5, BISECT_BAD);
    for (size_t i = 1; i < 4; i++)
        bisect_skip(b, i);
    assert_true(bisect_ask(&commit, problems, &count, b));
    assert_int_equal(commit, 4);
    bisect_tell(b, 0, 4, BISECT_GOOD);
    assert_int_equal(bisect_culprit(b, 0), 5);
    bisect_free(b);
}

/* The steps out of a skipped commit count the commits that are offered, not those of other branches between them. */
static void skips__are_left_along_the_line(void **unused)
{
    (void)unused;
    /* 0 - 1 - 2 - 5 -- 6   3 - 4 beside, from 0. */
    make_line(3);
    add_commit(&(size_t){0}, 1);
    add_commit(&(size_t){3}, 1);
    add_commit(&(size_t){2}, 1);
    add_commit((size_t[]){5, 4}, 2);
    find_descent();
    struct bisect *b = start(1, false);
    size_t problems[1], count, commit;
    bisect_tell(b, 0, 6, BISECT_BAD);
    bisect_tell(b, 0, 0, BISECT_GOOD);
    bisect_skip(b, 5); /* half of the suspects: it would have been asked */
    assert_true(bisect_ask(&commit, problems, &count, b));
    assert_int_equal(commit, 2);
    bisect_free(b);
}

static void skips__gallop_out_of_blocks(void **unused)
{
    (void)unused;
    const double published[] = {10.1, 12.3, 15.2};
    for (size_t tenth = 1; tenth <= 3; tenth++) {
        size_t attempts = 0, runs = 400;
        make_line(257);
        for (size_t run = 0; run < runs; run++) {
            for (size_t block = 0; block < (tenth * 256 + 40) / 80; block++)
                memset(skipped + 1 + below(256 - 8), 1, 8);
            size_t culprit = 1 + below(256);
            plant_one(0, culprit);
            struct bisect *b = start(1, false);
            attempts += answer_all(b, 1) - 2;
            check_suspects(b, culprit);
            bisect_free(b);
            memset(skipped, 0, sizeof skipped);
        }
        double mean = (double)attempts / (double)runs;
        print_message("blocks over %zu %%: %.1f attempts beside the ends\n", 10 * tenth, mean);
        assert_true(mean < published[tenth - 1] + 0.5);
    }
}

/* Commits asked for 300 problems, both ends included. */
static size_t ask_for_300(const size_t culprits[4])
{
    for (size_t p = 0; p < 300; p++)
        plant_one(p, culprits[p % 4]);
    struct bisect *b = start(300, false);
    size_t asked = answer_all(b, 1);
    for (size_t p = 0; p < 300; p++)
        assert_int_equal(bisect_culprit(b, p), culprits[p % 4]);
    bisect_free(b);
    return asked;
}

/* Searched one by one they would ask 2400 times. Culprits anywhere: facts/bisection.md 3.3 has a mean of 24.3 commits. One in each quarter is the worst
 * case: 1 + 2 shared questions and 6 for each quarter. */
static void sharing__300_problems_4_culprits_256_commits(void **unused)
{
    (void)unused;
    size_t anywhere = 0, apart = 0, most = 0, runs = 60;
    make_line(256);
    for (size_t run = 0; run < runs; run++) {
        anywhere += ask_for_300((size_t[]){1 + below(255), 1 + below(255), 1 + below(255), 1 + below(255)}) - 2;
        size_t asked = ask_for_300((size_t[]){1 + below(63), 65 + below(63), 129 + below(63), 193 + below(63)}) - 2;
        apart += asked;
        most = asked > most ? asked : most;
    }
    print_message("300 problems, 4 culprits, 256 commits: %.1f commits beside the ends; one culprit in each quarter: %.1f, most %zu\n",
                  (double)anywhere / (double)runs, (double)apart / (double)runs, most);
    assert_true(most <= 27);
    assert_true((double)anywhere / (double)runs <= 25.3); /* three standard errors of 60 runs above 24.3 */
}

static void sharing__lists_only_problems_that_the_answer_divides(void **unused)
{
    (void)unused;
    make_line(101);
    struct bisect *b = start(4, false);
    for (size_t p = 0; p < 4; p++) {
        bisect_tell(b, p, 100, BISECT_BAD);
        bisect_tell(b, p, 0, p == 3 ? BISECT_BAD : BISECT_GOOD);
    }
    bisect_tell(b, 0, 50, BISECT_GOOD); /* suspects 51 to 100, 1 to 50, all, and none */
    bisect_tell(b, 1, 50, BISECT_BAD);
    bisect_set_cost(b, 75, 0.001);
    size_t problems[4], count, commit;
    assert_true(bisect_ask(&commit, problems, &count, b));
    assert_int_equal(commit, 75);
    assert_int_equal(count, 2);
    assert_int_equal(problems[0], 0);
    assert_int_equal(problems[1], 2);
    bisect_free(b);
    b = start(2, false);
    for (size_t p = 0; p < 2; p++) {
        bisect_tell(b, p, 100, BISECT_BAD);
        bisect_tell(b, p, 0, BISECT_GOOD);
        bisect_tell(b, p, p == 0 ? 50 : 49, p == 0 ? BISECT_GOOD : BISECT_BAD);
    }
    bisect_set_cost(b, 25, 0.001); /* below all suspects of problem 0 */
    assert_true(bisect_ask(&commit, problems, &count, b));
    assert_int_equal(commit, 25);
    assert_int_equal(count, 1);
    assert_int_equal(problems[0], 1);
    bisect_free(b);
}

/* Ten problems in one half do not outweigh one in the other, where asking is cheaper. */
static void sharing__counts_distinct_suspects_not_problems(void **unused)
{
    (void)unused;
    make_line(101);
    struct bisect *b = start(11, false);
    for (size_t p = 0; p < 11; p++) {
        bisect_tell(b, p, 100, BISECT_BAD);
        bisect_tell(b, p, 0, BISECT_GOOD);
        bisect_tell(b, p, 50, p < 10 ? BISECT_BAD : BISECT_GOOD);
    }
    bisect_set_cost(b, 75, 0.5);
    size_t problems[11], count, commit;
    assert_true(bisect_ask(&commit, problems, &count, b));
    assert_int_equal(commit, 75);
    assert_int_equal(count, 1);
    bisect_free(b);
}

static void cost__prefers_cached_commits(void **unused)
{
    (void)unused;
    make_line(101);
    plant_one(0, 70);
    struct bisect *b = start(1, false);
    bisect_set_cost(b, 40, 0.05);
    bisect_tell(b, 0, 100, BISECT_BAD);
    bisect_tell(b, 0, 0, BISECT_GOOD);
    size_t problems[1], count, commit;
    assert_true(bisect_ask(&commit, problems, &count, b));
    assert_int_equal(commit, 40);
    bisect_tell(b, 0, 40, BISECT_GOOD);
    assert_true(bisect_ask(&commit, problems, &count, b));
    assert_int_equal(commit, 70);
    bisect_free(b);
}

/* A fifth of the commits is cached: 1.6 builds for the ends, and log2 of the 9 commits of the gap in which a culprit falls (a mean of 4.8
 * altogether, 8 and more when costs are ignored). */
static void cost__saves_builds(void **unused)
{
    (void)unused;
    size_t builds[2] = {0};
    make_line(256);
    for (size_t run = 0; run < 200; run++) {
        size_t culprit = 1 + below(255);
        bool cached[MAX_COMMITS];
        for (size_t i = 0; i < g.count; i++)
            cached[i] = chance(20);
        plant_one(0, culprit);
        for (int aware = 0; aware < 2; aware++) {
            struct bisect *b = start(1, false);
            for (size_t i = 0; aware && i < g.count; i++)
                bisect_set_cost(b, i, cached[i] ? 0.02 : 1);
            size_t problems[1], count, commit;
            while (bisect_ask(&commit, problems, &count, b)) {
                builds[aware] += !cached[commit];
                bisect_tell(b, 0, commit, truth(0, commit));
            }
            assert_int_equal(bisect_culprit(b, 0), culprit);
            bisect_free(b);
        }
    }
    print_message("a fifth cached: %.2f builds, %.2f when costs are known\n", (double)builds[0] / 200, (double)builds[1] / 200);
    assert_true(builds[1] < 4.8 * 200);
    assert_true(builds[0] > 7.5 * 200);
}

static void ties__go_to_the_older_commit(void **unused)
{
    (void)unused;
    make_line(4); /* suspects 1, 2, 3: asking at 1 or at 2 splits alike */
    struct bisect *b = start(1, false);
    bisect_tell(b, 0, 3, BISECT_BAD);
    bisect_tell(b, 0, 0, BISECT_GOOD);
    size_t problems[1], count, commit;
    assert_true(bisect_ask(&commit, problems, &count, b));
    assert_int_equal(commit, 1);
    bisect_free(b);
}

static enum bisect_state end_state(enum bisect_answer bad_end, enum bisect_answer good_end)
{
    make_line(8);
    struct bisect *b = start(1, false);
    size_t problems[1], suspects[8], count, commit;
    bisect_tell(b, 0, 7, bad_end);
    bisect_tell(b, 0, 0, good_end);
    enum bisect_state ended = bisect_state(b, 0);
    assert_int_equal(bisect_ask(&commit, problems, &count, b), ended == BISECT_OPEN);
    if (ended == BISECT_NOT_REPRODUCED || ended == BISECT_NEVER_GOOD)
        assert_int_equal(bisect_suspects(suspects, b, 0), 0);
    bisect_free(b);
    return ended;
}

static void ends__that_do_not_hold(void **unused)
{
    (void)unused;
    assert_int_equal(end_state(BISECT_BAD, BISECT_GOOD), BISECT_OPEN);
    assert_int_equal(end_state(BISECT_GOOD, BISECT_GOOD), BISECT_NOT_REPRODUCED);
    assert_int_equal(end_state(BISECT_GOOD, BISECT_BAD), BISECT_NOT_REPRODUCED);
    assert_int_equal(end_state(BISECT_GOOD, BISECT_SKIP), BISECT_NOT_REPRODUCED);
    assert_int_equal(end_state(BISECT_BAD, BISECT_BAD), BISECT_NEVER_GOOD);
    assert_int_equal(end_state(BISECT_SKIP, BISECT_BAD), BISECT_NEVER_GOOD);
    assert_int_equal(end_state(BISECT_BAD, BISECT_SKIP), BISECT_UNTESTABLE);
    assert_int_equal(end_state(BISECT_SKIP, BISECT_GOOD), BISECT_UNTESTABLE);
}

static void ends__of_one_problem_end_only_that(void **unused)
{
    (void)unused;
    make_line(32);
    plant_one(0, 9);
    plant(1, NULL, 0);
    plant_one(2, 0);
    struct bisect *b = start(3, false);
    answer_all(b, 1);
    assert_int_equal(bisect_culprit(b, 0), 9);
    assert_int_equal(bisect_state(b, 1), BISECT_NOT_REPRODUCED);
    assert_int_equal(bisect_state(b, 2), BISECT_NEVER_GOOD);
    size_t late = bisect_add_problem(b), problems[4], count, commit;
    assert_int_equal(late, 3);
    assert_true(bisect_ask(&commit, problems, &count, b));
    assert_int_equal(commit, 31);
    bisect_skip(b, 31);
    assert_int_equal(bisect_state(b, 3), BISECT_UNTESTABLE);
    assert_int_equal(bisect_state(b, 0), BISECT_FOUND); /* a skip takes no answer back */
    bisect_free(b);
}

static void shuffle(size_t *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t k = below(i), item = items[i - 1];
        items[i - 1] = items[k];
        items[k] = item;
    }
}

/* All answers in a random order, some twice, none asked for. */
static void told__in_any_order(void **unused)
{
    (void)unused;
    for (size_t run = 0; run < 1000; run++) {
        make_graph(5 + below(60));
        size_t culprit = 1 + below(g.count - 1), order[MAX_COMMITS], problems[1], count, commit;
        plant_one(0, culprit);
        for (size_t i = 0; i < g.count; i++)
            order[i] = i;
        shuffle(order, g.count);
        struct bisect *b = start(1, false);
        for (size_t i = 0; i < g.count; i++) {
            for (size_t k = 0; k <= below(3); k++)
                bisect_tell(b, 0, order[i], truth(0, order[i]));
        }
        assert_int_equal(bisect_culprit(b, 0), culprit);
        assert_false(bisect_ask(&commit, problems, &count, b));
        bisect_free(b);
    }
}

/* Answers that contradict each other in every way: the state is the same for each order, and the search still ends, at a commit that was
 * told bad or at a set. */
static void told__contradictions_in_any_order(void **unused)
{
    (void)unused;
    for (size_t run = 0; run < 1500; run++) {
        make_graph(5 + below(40));
        enum { TOLD = 14 };
        size_t order[TOLD], at[TOLD], suspects[2][MAX_COMMITS], counts[2], problems[1], count, commit;
        enum bisect_answer answers[TOLD];
        double errors[2];
        for (size_t i = 0; i < TOLD; i++) {
            order[i] = i;
            at[i] = i == 0 ? g.count - 1 : i == 1 ? 0 : below(g.count);
            answers[i] = i == 0 ? BISECT_BAD : i == 1 ? BISECT_GOOD : (enum bisect_answer)below(3);
        }
        enum bisect_state states[2];
        for (int k = 0; k < 2; k++, shuffle(order, TOLD)) {
            struct bisect *b = start(1, false);
            for (size_t i = 0; i < TOLD; i++)
                bisect_tell(b, 0, at[order[i]], answers[order[i]]);
            states[k] = bisect_state(b, 0);
            counts[k] = bisect_suspects(suspects[k], b, 0);
            errors[k] = bisect_error_probability(b, 0);
            while (bisect_ask(&commit, problems, &count, b))
                bisect_tell(b, 0, commit, chance(50) ? BISECT_BAD : BISECT_GOOD);
            assert_int_not_equal(bisect_state(b, 0), BISECT_OPEN);
            bisect_free(b);
        }
        assert_int_equal(states[0], states[1]);
        assert_int_equal(counts[0], counts[1]);
        assert_memory_equal(suspects[0], suspects[1], counts[0] * sizeof suspects[0][0]);
        assert_true(fabs(errors[0] - errors[1]) < 1e-9);
    }
}

static void told__majority_decides_and_a_tie_asks_again(void **unused)
{
    (void)unused;
    make_line(3);
    struct bisect *b = start(1, false);
    size_t problems[1], count, commit;
    bisect_tell(b, 0, 2, BISECT_BAD);
    bisect_tell(b, 0, 0, BISECT_GOOD);
    bisect_tell(b, 0, 1, BISECT_BAD);
    assert_int_equal(bisect_culprit(b, 0), 1);
    bisect_tell(b, 0, 1, BISECT_GOOD);
    assert_int_equal(bisect_state(b, 0), BISECT_OPEN);
    assert_true(bisect_ask(&commit, problems, &count, b));
    assert_int_equal(commit, 1);
    bisect_tell(b, 0, 1, BISECT_SKIP);
    assert_int_equal(bisect_state(b, 0), BISECT_RANGE);
    bisect_tell(b, 0, 1, BISECT_GOOD);
    assert_int_equal(bisect_culprit(b, 0), 2);
    bisect_free(b);
}

/* A good answer that is taken back gives its ancestors back to the suspects. */
static void told__a_revoked_answer_frees_what_it_excluded(void **unused)
{
    (void)unused;
    make_line(9);
    struct bisect *b = start(1, false);
    size_t suspects[9];
    bisect_tell(b, 0, 8, BISECT_BAD);
    bisect_tell(b, 0, 0, BISECT_GOOD);
    bisect_tell(b, 0, 5, BISECT_GOOD);
    assert_int_equal(bisect_suspects(suspects, b, 0), 3);
    bisect_tell(b, 0, 5, BISECT_BAD);
    assert_int_equal(bisect_suspects(suspects, b, 0), 8);
    bisect_tell(b, 0, 5, BISECT_BAD);
    assert_int_equal(bisect_suspects(suspects, b, 0), 5);
    bisect_free(b);
}

/* A good answer above a bad one: the good one excludes its ancestors from the search, the posterior keeps the doubt. */
static void told__a_contradiction_costs_surety(void **unused)
{
    (void)unused;
    make_line(32);
    plant_one(0, 20);
    struct bisect *b = start(1, false);
    answer_all(b, 3);
    double before = bisect_error_probability(b, 0);
    bisect_tell(b, 0, 5, BISECT_BAD);
    assert_int_equal(bisect_culprit(b, 0), 20);
    assert_true(bisect_error_probability(b, 0) > before);
    bisect_free(b);
}

/* Two bad commits on separate branches point at their common past; when that is good there are two culprits, and the older one is named. */
static void told__bad_branches_without_a_common_culprit(void **unused)
{
    (void)unused;
    /* 0 - 1 - 2 ----- 4   1 - 3 beside, merged by 4. */
    g.count = 0;
    add_commit(NULL, 0);
    add_commit(&(size_t){0}, 1);
    add_commit(&(size_t){1}, 1);
    add_commit(&(size_t){1}, 1);
    add_commit((size_t[]){2, 3}, 2);
    find_descent();
    struct bisect *b = start(1, false);
    size_t problems[1], suspects[5], count, commit;
    for (size_t i = 2; i < 5; i++)
        bisect_tell(b, 0, i, BISECT_BAD);
    bisect_tell(b, 0, 0, BISECT_GOOD);
    assert_int_equal(bisect_suspects(suspects, b, 0), 1);
    assert_int_equal(suspects[0], 1);
    assert_int_equal(bisect_state(b, 0), BISECT_OPEN); /* nobody is blamed by inference alone */
    assert_true(bisect_ask(&commit, problems, &count, b));
    assert_int_equal(commit, 1);
    assert_int_equal(count, 1);
    bisect_tell(b, 0, 1, BISECT_GOOD);
    assert_int_equal(bisect_culprit(b, 0), 2);
    bisect_free(b);
}

static double error_after(int repeats)
{
    make_line(129);
    plant_one(0, 77);
    struct bisect *b = start(1, false);
    answer_all(b, repeats);
    assert_int_equal(bisect_culprit(b, 0), 77);
    double error = bisect_error_probability(b, 0);
    assert_true(bisect_null_probability(b, 0) <= error);
    bisect_free(b);
    return error;
}

static void posterior__falls_with_repeats(void **unused)
{
    (void)unused;
    double one = error_after(1), two = error_after(2), five = error_after(5);
    print_message("error probability, N = 128: %.3g after one answer each, %.3g after two, %.3g after five\n", one, two, five);
    assert_true(one < 0.9 && two < one / 5 && five < two / 100);
}

/* The formula by hand: two commits, one answer each. With B' = B / B(1/2, 1/2): culprit 1 has B'(3/2, 1/2) B'(1/2, 3/2) = 1/4, none has
 * B'(3/2, 3/2) = 1/8; priors .9 and .1. */
static void posterior__by_hand(void **unused)
{
    (void)unused;
    make_line(2);
    plant_one(0, 1);
    struct bisect *b = start(1, false);
    assert_true(fabs(bisect_null_probability(b, 0) - 0.1) < 1e-12); /* nothing told: the prior */
    assert_int_equal(answer_all(b, 1), 2);
    double none = 0.1 / 8, culprit = 0.9 / 4;
    assert_true(fabs(bisect_error_probability(b, 0) - none / (none + culprit)) < 1e-12);
    assert_true(fabs(bisect_null_probability(b, 0) - none / (none + culprit)) < 1e-12);
    bisect_free(b);
}

/* A fair coin everywhere: a bare search would blame somebody; here the blame is doubted and "none" gains on its prior of 0.1. It gains slowly: one rate
 * instead of two is worth a factor of about sqrt(n), n = 180 answers split in two, which is 5 to 6 at best. */
static void posterior__sees_noise_without_culprit(void **unused)
{
    (void)unused;
    double none = 0, error = 0;
    size_t runs = 100;
    make_line(65);
    for (size_t run = 0; run < runs; run++) {
        struct bisect *b = start(1, false);
        size_t problems[1], count, commit;
        bisect_tell(b, 0, 64, BISECT_BAD);
        bisect_tell(b, 0, 0, BISECT_GOOD);
        while (bisect_ask(&commit, problems, &count, b))
            bisect_tell(b, 0, commit, chance(50) ? BISECT_BAD : BISECT_GOOD);
        for (size_t i = 0; i < 65; i += 8) {
            for (int k = 0; k < 20; k++)
                bisect_tell(b, 0, i, chance(50) ? BISECT_BAD : BISECT_GOOD);
        }
        none += bisect_null_probability(b, 0) / (double)runs;
        error += bisect_error_probability(b, 0) / (double)runs;
        bisect_free(b);
    }
    print_message("coin everywhere: P(none) %.2f, error probability %.2f\n", none, error);
    assert_true(none > 0.2 && error > 0.8);
}

/* Answers that are wrong one time in five: the stated error probability is kept by the blames that claim to be sure. */
static void posterior__is_honest_under_noise(void **unused)
{
    (void)unused;
    size_t sure = 0, wrong = 0;
    double promised = 0;
    make_line(33);
    for (size_t run = 0; run < 600; run++) {
        size_t culprit = 1 + below(32), problems[1], count, commit;
        plant_one(0, culprit);
        struct bisect *b = start(1, false);
        while (bisect_ask(&commit, problems, &count, b)) {
            for (int k = 0; k < 15; k++)
                bisect_tell(b, 0, commit, chance(20) ? (enum bisect_answer)!truth(0, commit) : truth(0, commit));
        }
        double error = bisect_state(b, 0) == BISECT_FOUND ? bisect_error_probability(b, 0) : 1;
        if (error < 0.05) {
            sure++;
            promised += error;
            wrong += bisect_culprit(b, 0) != culprit;
        }
        bisect_free(b);
    }
    print_message("20 %% noise: %zu of 600 sure, %zu wrong, %.1f promised\n", sure, wrong, promised);
    assert_true(sure > 300);
    assert_true((double)wrong <= promised + 3 * sqrt(promised + 1));
}

/* Two commits, wrong with probability e each: the culprit against none is (1 - e) / e at the bad end; the good end says the same to both. */
static void odds__by_hand(void **unused)
{
    (void)unused;
    make_line(2);
    struct bisect *b = start(1, false);
    bisect_tell_odds(b, 0, 1, BISECT_BAD, 0.02);
    bisect_tell_odds(b, 0, 0, BISECT_GOOD, 0.02);
    assert_int_equal(bisect_culprit(b, 0), 1);
    double none = 0.1 * 0.02, culprit = 0.9 * 0.98;
    assert_true(fabs(bisect_error_probability(b, 0) - none / (none + culprit)) < 1e-12);
    bisect_tell_odds(b, 0, 1, BISECT_BAD, 0.02);
    none *= 0.02;
    culprit *= 0.98;
    assert_true(fabs(bisect_error_probability(b, 0) / (none / (none + culprit)) - 1) < 1e-9);
    bisect_free(b);
}

/* A diamond: what is told of one branch says nothing of the other. Against none and a culprit in the good branch, whose odds
 * cancel out, stand the other branch and the merge. */
static void odds__of_one_branch_do_not_touch_the_other(void **unused)
{
    (void)unused;
    g.count = 0;
    add_commit(NULL, 0);
    add_commit(&(size_t){0}, 1);
    add_commit(&(size_t){0}, 1);
    add_commit((size_t[]){1, 2}, 2);
    find_descent();
    struct bisect *b = start(1, false);
    bisect_tell_odds(b, 0, 3, BISECT_BAD, 0.02);
    bisect_tell_odds(b, 0, 0, BISECT_GOOD, 0.02);
    bisect_tell_odds(b, 0, 2, BISECT_GOOD, 0.02);
    double others = 0.3 + 0.1, suspects = 2 * 0.3 * 49;
    assert_true(fabs(bisect_error_probability(b, 0) - others / (others + suspects)) < 1e-12);
    assert_true(fabs(bisect_null_probability(b, 0) - 0.1 / (others + suspects)) < 1e-12);
    bisect_free(b);
}

static double odds_error(double wrong)
{
    make_line(65);
    plant_one(0, 30);
    struct bisect *b = start(1, false);
    size_t problems[1], count, commit;
    while (bisect_ask(&commit, problems, &count, b))
        bisect_tell_odds(b, 0, commit, truth(0, commit), wrong);
    assert_int_equal(bisect_culprit(b, 0), 30);
    double error = bisect_error_probability(b, 0);
    bisect_free(b);
    return error;
}

static void odds__surer_answers_make_surer_blames(void **unused)
{
    (void)unused;
    assert_true(odds_error(0.001) < 0.02);
    assert_true(odds_error(0.001) < odds_error(0.05));
    assert_true(odds_error(0.05) < odds_error(0.3));
    assert_true(odds_error(0.5) > 0.95); /* answers without worth leave the prior */
    assert_true(odds_error(0) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new__refuses_what_is_no_range),
        cmocka_unit_test(line__every_length_and_culprit_within_log2),
        cmocka_unit_test(ends__are_asked_first_bad_end_before_good_end),
        cmocka_unit_test(graphs__one_culprit_anywhere),
        cmocka_unit_test(graphs__several_culprits),
        cmocka_unit_test(graphs__shared_by_many_problems),
        cmocka_unit_test(first_parents__come_before_side_branches),
        cmocka_unit_test(first_parents__end_at_a_root),
        cmocka_unit_test(first_parent_only__blames_the_merge),
        cmocka_unit_test(skips__leave_the_smallest_set_possible),
        cmocka_unit_test(skips__of_one_problem_do_not_hinder_another),
        cmocka_unit_test(skips__are_gone_round_by_the_best_side_branch),
        cmocka_unit_test(skips__count_a_suspect_below_a_merge_once),
        cmocka_unit_test(skips__are_left_along_the_line),
        cmocka_unit_test(skips__gallop_out_of_blocks),
        cmocka_unit_test(sharing__300_problems_4_culprits_256_commits),
        cmocka_unit_test(sharing__lists_only_problems_that_the_answer_divides),
        cmocka_unit_test(sharing__counts_distinct_suspects_not_problems),
        cmocka_unit_test(cost__prefers_cached_commits),
        cmocka_unit_test(cost__saves_builds),
        cmocka_unit_test(ties__go_to_the_older_commit),
        cmocka_unit_test(ends__that_do_not_hold),
        cmocka_unit_test(ends__of_one_problem_end_only_that),
        cmocka_unit_test(told__in_any_order),
        cmocka_unit_test(told__contradictions_in_any_order),
        cmocka_unit_test(told__majority_decides_and_a_tie_asks_again),
        cmocka_unit_test(told__a_revoked_answer_frees_what_it_excluded),
        cmocka_unit_test(told__a_contradiction_costs_surety),
        cmocka_unit_test(told__bad_branches_without_a_common_culprit),
        cmocka_unit_test(posterior__falls_with_repeats),
        cmocka_unit_test(posterior__by_hand),
        cmocka_unit_test(posterior__sees_noise_without_culprit),
        cmocka_unit_test(posterior__is_honest_under_noise),
        cmocka_unit_test(odds__by_hand),
        cmocka_unit_test(odds__of_one_branch_do_not_touch_the_other),
        cmocka_unit_test(odds__surer_answers_make_surer_blames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
