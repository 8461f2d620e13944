#include "test.h"

#include "harness/result.h"

static void words__come_back(void **state)
{
    (void)state;
    for (int s = 0; s < STAGE_COUNT; s++) {
        enum stage back;
        assert_true(stage_parse(&back, stage_word((enum stage)s)));
        assert_int_equal(back, s);
    }
    for (int o = 0; o < OUTCOME_COUNT; o++) {
        enum outcome back;
        assert_true(outcome_parse(&back, outcome_word((enum outcome)o)));
        assert_int_equal(back, o);
        assert_true(strlen(outcome_sentence((enum outcome)o)) > 10);
    }
    enum stage s;
    enum outcome o;
    assert_false(stage_parse(&s, "nonsense"));
    assert_false(outcome_parse(&o, ""));
    assert_string_not_equal(purpose_word(PURPOSE_CORRECTNESS), purpose_word(PURPOSE_TIMING));
}

/* What cannot be told must never read as good or bad. */
static void outcomes__mean_what_a_search_takes_them_for(void **state)
{
    (void)state;
    assert_int_equal(outcome_meaning(OUTCOME_OK), OUTCOME_MEANS_GOOD);
    static const enum outcome unknown[] = {OUTCOME_BUILD_ERROR, OUTCOME_NOT_APPLICABLE,
                                           OUTCOME_MISSING, OUTCOME_INFRA};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_int_equal(outcome_meaning(unknown[i]), OUTCOME_MEANS_UNKNOWN);
    static const enum outcome bad[] = {OUTCOME_MISMATCH, OUTCOME_UNSTEADY, OUTCOME_COMPILE_ERROR,
                                       OUTCOME_CRASH,    OUTCOME_TIMEOUT,  OUTCOME_NO_VERDICT};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(outcome_meaning(bad[i]), OUTCOME_MEANS_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words__come_back),
        cmocka_unit_test(outcomes__mean_what_a_search_takes_them_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
