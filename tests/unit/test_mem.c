/* mem.c: arenas and allocation that never returns NULL. */
#include "test.h"

#include "src/mem.h"

#include <sys/wait.h>
#include <unistd.h>

static void memory_is_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    struct arena a = {0};
    unsigned char *before = NULL;
    assert_non_null(arena_alloc(&a, 0));
    for (size_t size = 1; size < 300; size++) {
        unsigned char *p = arena_alloc(&a, size);
        assert_non_null(p);
        assert_ptr_not_equal(p, before);
        assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, size);
        before = p;
    }
    arena_release(&a);
}

static void blocks_of_every_size_fit(void **state)
{
    (void)state;
    struct arena a = {0};
    enum { COUNT = 400 };
    unsigned char *blocks[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        blocks[i] = arena_alloc(&a, i * 701);
        memset(blocks[i], (int)(i & 0xff), i * 701);
    }
    for (size_t i = 1; i < COUNT; i++) {
        assert_int_equal(blocks[i][0], i & 0xff);
        assert_int_equal(blocks[i][i * 701 - 1], i & 0xff);
    }
    arena_release(&a);
}

static void a_released_arena_serves_again(void **state)
{
    (void)state;
    struct arena a = {0};
    arena_release(&a);
    for (int round = 0; round < 3; round++) {
        char *text = arena_strdup(&a, "again");
        assert_string_equal(text, "again");
        arena_release(&a);
        assert_null(a.blocks);
    }
}

static void texts_are_copied(void **state)
{
    (void)state;
    struct arena a = {0};
    char original[] = "convolution";
    char *copy = arena_strdup(&a, original), *part = arena_strndup(&a, original, 4);
    original[0] = 'X';
    assert_string_equal(copy, "convolution");
    assert_string_equal(part, "conv");
    assert_string_equal(arena_strdup(&a, ""), "");
    assert_string_equal(arena_printf(&a, "%s-%03d", "n", 7), "n-007");
    char *wide = arena_printf(&a, "%100000d", 1);
    assert_int_equal(strlen(wide), 100000);
    arena_release(&a);
}

static void plain_allocation(void **state)
{
    (void)state;
    void *nothing = xmalloc(0);
    assert_non_null(nothing);
    free(nothing);
    int *zeros = xcalloc(100, sizeof *zeros);
    for (int i = 0; i < 100; i++)
        assert_int_equal(zeros[i], 0);
    zeros[99] = 5;
    zeros = xrealloc(zeros, 1000 * sizeof *zeros);
    assert_int_equal(zeros[99], 5);
    free(zeros);
    char *text = xstrdup("text");
    assert_string_equal(text, "text");
    free(text);
}

static char *make_text(void)
{
    CLEANUP(mem_free_ptr) char *text = xstrdup("given away");
    return TAKE(text);
}

static void cleanup_frees_and_take_gives_away(void **state)
{
    (void)state;
    CLEANUP(mem_free_ptr) char *text = make_text();
    assert_string_equal(text, "given away");
    mem_free_ptr(&text);
    assert_null(text);
}

static void repeats_know_their_first_place(void **state)
{
    (void)state;
    static const char *const texts[] = {"b", "a", "b", "c", "a", "b", ""};
    static const size_t wanted[] = {0, 1, 0, 3, 1, 0, 6};
    size_t *first = mem_first_places(texts, COUNT_OF(texts));
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_int_equal(first[i], wanted[i]);
    free(first);
    free(mem_first_places(NULL, 0));
}

static void impossible_sizes_end_the_process(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++) {
        pid_t child = fork();
        if (child == 0) {
            struct arena a = {0};
            if (!freopen("/dev/null", "w", stderr))
                _exit(1);
            void *p = which == 0 ? arena_array(&a, SIZE_MAX / 2, 4) : arena_alloc(&a, SIZE_MAX - 8);
            _exit(p != NULL);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 128);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
        cmocka_unit_test(blocks_of_every_size_fit),
        cmocka_unit_test(a_released_arena_serves_again),
        cmocka_unit_test(texts_are_copied),
        cmocka_unit_test(plain_allocation),
        cmocka_unit_test(cleanup_frees_and_take_gives_away),
        cmocka_unit_test(repeats_know_their_first_place),
        cmocka_unit_test(impossible_sizes_end_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
