/* buf.c: growing bytes that know their maximum. */
#include "test.h"

#include "src/buf.h"

static void a_new_buffer_is_an_empty_text(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 10);
    assert_string_equal(b.data, "");
    assert_int_equal(b.length, 0);
    assert_ok(buf_check(&b, "it"));
    buf_release(&b);
    assert_null(b.data);
    buf_release(&b);
}

static void adds_bytes_texts_and_characters(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    buf_add_text(&b, "ab");
    buf_add_char(&b, 'c');
    buf_add(&b, "\0d", 2);
    buf_add(&b, NULL, 0);
    assert_int_equal(b.length, 5);
    assert_memory_equal(b.data, "abc\0d", 6);
    buf_clear(&b);
    assert_string_equal(b.data, "");
    buf_release(&b);
}

static void grows_byte_by_byte(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    for (int i = 0; i < 100000; i++)
        buf_add_char(&b, (char)('a' + i % 26));
    assert_int_equal(b.length, 100000);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(b.data[i], 'a' + i % 26);
    assert_int_equal(b.data[100000], 0);
    buf_release(&b);
}

static void prints_short_and_long(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    buf_printf(&b, "%s=%d;", "n", 4);
    assert_string_equal(b.data, "n=4;");
    /* Around the size of the buffer on the stack. */
    for (int width = 509; width < 516; width++) {
        buf_clear(&b);
        buf_printf(&b, "%*d", width, 7);
        assert_int_equal(b.length, width);
        assert_int_equal(strlen(b.data), width);
        assert_int_equal(b.data[width - 1], '7');
    }
    buf_release(&b);
}

static void the_excess_is_dropped_and_remembered(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, 5);
    buf_add_text(&b, "12345");
    assert_ok(buf_check(&b, "the line"));
    buf_add_text(&b, "");
    assert_ok(buf_check(&b, "the line"));
    buf_add_text(&b, "67");
    assert_string_equal(b.data, "12345");
    assert_fails(buf_check(&b, "the line"), ERR_LIMIT, "the line is larger than 5 bytes");
    buf_consume(&b, 3);
    buf_add_text(&b, "8");
    assert_string_equal(b.data, "458");
    assert_fails(buf_check(&b, "the line"), ERR_LIMIT, "the line");
    buf_clear(&b);
    buf_printf(&b, "%s", "abcdefgh");
    assert_string_equal(b.data, "abcde");
    assert_fails(buf_check(&b, "the line"), ERR_LIMIT, "the line");
    buf_clear(&b);
    assert_ok(buf_check(&b, "the line"));
    buf_release(&b);
}

static void consume_drops_from_the_front(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    buf_add_text(&b, "one\ntwo\n");
    buf_consume(&b, 4);
    assert_string_equal(b.data, "two\n");
    buf_consume(&b, 0);
    assert_string_equal(b.data, "two\n");
    buf_consume(&b, 4);
    assert_string_equal(b.data, "");
    assert_int_equal(b.length, 0);
    buf_release(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_buffer_is_an_empty_text),
        cmocka_unit_test(adds_bytes_texts_and_characters),
        cmocka_unit_test(grows_byte_by_byte),
        cmocka_unit_test(prints_short_and_long),
        cmocka_unit_test(the_excess_is_dropped_and_remembered),
        cmocka_unit_test(consume_drops_from_the_front),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
