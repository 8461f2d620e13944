/* opt.c: options from tables, help, units, the nearest right word. */
#include "test.h"

#include "src/opt.h"

static const char *const colours[] = {"red", "green", "blue", NULL};

static struct values {
    bool dry, verbose;
    const char *rev, *colour;
    struct opt_list sets;
    int64_t jobs;
} v;

static const struct opt table[] = {
    {.name = "dry-run", .letter = 'n', .kind = OPT_FLAG, .value = &v.dry, .help = "only say what would be done"},
    {.name = "verbose", .letter = 'v', .kind = OPT_FLAG, .value = &v.verbose, .help = "say more"},
    {.name = "rev", .kind = OPT_TEXT, .value = &v.rev, .argument = "SHA", .help = "the commit under test"},
    {.name = "set", .kind = OPT_LIST, .value = &v.sets, .argument = "KEY=VALUE", .help = "a key of the configuration, may be repeated"},
    {.name = "jobs", .kind = OPT_INT, .value = &v.jobs, .argument = "N", .min = 1, .max = 64, .help = "how many at once"},
    {.name = "colour", .kind = OPT_WORD, .value = &v.colour, .argument = "NAME", .words = colours, .help = "of the report"},
    {0},
};

static struct arena arena;
static struct opt_list operands;
static bool help;

static int parse(const char *const *words)
{
    char *argv[16] = {"command"};
    int argc = 1;
    for (; words[argc - 1]; argc++)
        argv[argc] = (char *)words[argc - 1];
    v = (struct values){.jobs = 4};
    return opt_parse(table, argc, argv, &arena, &operands, &help);
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void every_kind_is_read(void **state)
{
    (void)state;
    assert_ok(PARSE("-n", "--rev", "abc", "one", "--set=a=1", "--set", "b=2", "--jobs=8", "--colour", "blue", "two"));
    assert_true(v.dry);
    assert_false(v.verbose);
    assert_string_equal(v.rev, "abc");
    assert_string_equal(v.colour, "blue");
    assert_int_equal(v.jobs, 8);
    assert_int_equal(v.sets.count, 2);
    assert_string_equal(v.sets.items[0], "a=1");
    assert_string_equal(v.sets.items[1], "b=2");
    assert_int_equal(operands.count, 2);
    assert_string_equal(operands.items[0], "one");
    assert_string_equal(operands.items[1], "two");
    assert_false(help);
}

static void what_is_not_given_stays(void **state)
{
    (void)state;
    assert_ok(parse((const char *const[]){NULL}));
    assert_int_equal(v.jobs, 4);
    assert_null(v.rev);
    assert_int_equal(operands.count, 0);
}

static void two_dashes_end_the_options(void **state)
{
    (void)state;
    assert_ok(PARSE("--verbose", "--", "--rev", "-n", "--", "--help"));
    assert_true(v.verbose);
    assert_false(v.dry);
    assert_false(help);
    assert_int_equal(operands.count, 4);
    assert_string_equal(operands.items[0], "--rev");
    assert_string_equal(operands.items[2], "--");
    assert_ok(PARSE("-"));
    assert_string_equal(operands.items[0], "-");
}

static void help_is_seen_before_faults(void **state)
{
    (void)state;
    assert_ok(PARSE("--nonsense", "-h"));
    assert_true(help);
    assert_ok(PARSE("--jobs=x", "--help"));
    assert_true(help);
}

static void faults_name_the_option_and_the_remedy(void **state)
{
    (void)state;
    assert_fails(PARSE("--verbsoe"), ERR_INVALID, "there is no option --verbsoe; did you mean --verbose?");
    assert_fails(PARSE("--jbos=3"), ERR_INVALID, "there is no option --jbos; did you mean --jobs?");
    assert_fails(PARSE("--something-else"), ERR_INVALID, "there is no option --something-else");
    assert_null(strstr(err_message(), "did you mean"));
    assert_fails(PARSE("-x"), ERR_INVALID, "there is no option -x");
    assert_fails(PARSE("-nv"), ERR_INVALID, "there is no option -nv");
    assert_fails(PARSE("--rev"), ERR_INVALID, "--rev needs a value: SHA");
    assert_fails(PARSE("--dry-run=yes"), ERR_INVALID, "--dry-run takes no value");
    assert_fails(PARSE("--jobs", "many"), ERR_INVALID, "--jobs takes a whole number, not `many`");
    assert_fails(PARSE("--jobs", "4x"), ERR_INVALID, "whole number");
    assert_fails(PARSE("--jobs="), ERR_INVALID, "whole number");
    assert_fails(PARSE("--jobs", "0"), ERR_INVALID, "from 1 to 64, not 0");
    assert_fails(PARSE("--jobs", "65"), ERR_INVALID, "from 1 to 64, not 65");
    assert_fails(PARSE("--jobs", "99999999999999999999"), ERR_INVALID, "whole number");
    assert_fails(PARSE("--colour", "gren"), ERR_INVALID, "did you mean `green`?");
    assert_fails(PARSE("--colour", "violet"), ERR_INVALID, "one of: red, green, blue");
}

static size_t longest_line(const char *text)
{
    size_t longest = 0;
    for (; *text; text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n')) {
        size_t length = strcspn(text, "\n");
        longest = length > longest ? length : longest;
    }
    return longest;
}

static const struct opt_command command = {
    .name = "paint",
    .summary = "paint the report",
    .usage = "SHA...",
    .text = "Example:\n  assay paint abc",
};

static void help_is_in_columns(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    opt_print_help(&b, "assay", &command, table, 80);
    assert_string_equal(b.data, "usage: assay paint [OPTION...] SHA...\n"
                                "\n"
                                "paint the report\n"
                                "\n"
                                "Example:\n"
                                "  assay paint abc\n"
                                "\n"
                                "  -n, --dry-run        only say what would be done\n"
                                "  -v, --verbose        say more\n"
                                "      --rev SHA        the commit under test\n"
                                "      --set KEY=VALUE  a key of the configuration, may be repeated\n"
                                "      --jobs N         how many at once\n"
                                "      --colour NAME    of the report\n");
    buf_release(&b);
}

static void help_fits_its_width(void **state)
{
    (void)state;
    struct buf b;
    buf_init(&b, BUF_MAX_LINE);
    for (int width = 38; width <= 120; width++) {
        buf_clear(&b);
        opt_print_help(&b, "assay", &command, table, width);
        assert_in_range(longest_line(b.data), 20, width);
        assert_non_null(strstr(b.data, "--set KEY=VALUE"));
        assert_null(strstr(b.data, " \n"));
    }
    static const struct opt none[] = {{0}};
    struct opt_command plain = {.name = "version", .summary = "print the version"};
    buf_clear(&b);
    opt_print_help(&b, "assay", &plain, none, 80);
    assert_string_equal(b.data, "usage: assay version\n\nprint the version\n");
    buf_release(&b);
}

static void durations_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } right[] = {
        {"1ns", 1}, {"5us", 5000}, {"500ms", 500000000}, {"30s", 30000000000}, {"2m", 120000000000}, {"1h", 3600000000000},
        {"0s", 0}, {"1.5s", 1500000000},
    };
    int64_t ns;
    for (size_t i = 0; i < COUNT_OF(right); i++) {
        assert_ok(opt_parse_duration(&ns, right[i].text));
        assert_int_equal(ns, right[i].ns);
    }
    static const char *const wrong[] = {"", "s", "30", "30 s", "30x", "-1s", "nans", "infs", "1e30h", "30ss"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_fails(opt_parse_duration(&ns, wrong[i]), ERR_INVALID, "duration");
    assert_fails(opt_parse_duration(&ns, "30x"), ERR_INVALID, "`30x` is no duration: the units are ns us ms s m h");
}

static void sizes_have_units(void **state)
{
    (void)state;
    int64_t bytes;
    assert_ok(opt_parse_bytes(&bytes, "17"));
    assert_int_equal(bytes, 17);
    assert_ok(opt_parse_bytes(&bytes, "4k"));
    assert_int_equal(bytes, 4096);
    assert_ok(opt_parse_bytes(&bytes, "16M"));
    assert_int_equal(bytes, 16 << 20);
    assert_ok(opt_parse_bytes(&bytes, "2G"));
    assert_int_equal(bytes, (int64_t)2 << 30);
    assert_ok(opt_parse_bytes(&bytes, "3T"));
    assert_int_equal(bytes, (int64_t)3 << 40);
    assert_fails(opt_parse_bytes(&bytes, "2g"), ERR_INVALID, "size");
    assert_fails(opt_parse_bytes(&bytes, "-1"), ERR_INVALID, "size");
    assert_fails(opt_parse_bytes(&bytes, "9000000000G"), ERR_INVALID, "too large");
}

static void the_nearest_word(void **state)
{
    (void)state;
    static const char *const words[] = {"candidate", "sweep", "machine", "gate", "model", "f16", NULL};
    static const char *const none[] = {NULL};
    assert_string_equal(opt_nearest("candidte", words), "candidate");
    assert_string_equal(opt_nearest("candiadte", words), "candidate");
    assert_string_equal(opt_nearest("sweeps", words), "sweep");
    assert_string_equal(opt_nearest("swep", words), "sweep");
    assert_string_equal(opt_nearest("mahcine", words), "machine");
    assert_string_equal(opt_nearest("gaet", words), "gate");
    assert_string_equal(opt_nearest("fp16", words), "f16");
    assert_string_equal(opt_nearest("model", words), "model");
    assert_null(opt_nearest("zebra", words));
    assert_null(opt_nearest("x", words));
    assert_null(opt_nearest("", words));
    assert_null(opt_nearest("gate", none));
    char large[5000];
    memset(large, 'g', sizeof large - 1);
    large[sizeof large - 1] = '\0';
    assert_null(opt_nearest(large, words));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_is_read),
        cmocka_unit_test(what_is_not_given_stays),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(help_is_seen_before_faults),
        cmocka_unit_test(faults_name_the_option_and_the_remedy),
        cmocka_unit_test(help_is_in_columns),
        cmocka_unit_test(help_fits_its_width),
        cmocka_unit_test(durations_have_units),
        cmocka_unit_test(sizes_have_units),
        cmocka_unit_test(the_nearest_word),
    };
    return cmocka_run_group_tests(tests, NULL, release);
}
