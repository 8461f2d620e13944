#include "harness/result.h"

#include "src/mem.h"

#include <string.h>

static const char *const stage_words[STAGE_COUNT] = {
    [STAGE_CHECKOUT] = "checkout", [STAGE_BUILD] = "build",     [STAGE_COMPILE] = "compile",
    [STAGE_LOAD] = "load",         [STAGE_EXECUTE] = "execute", [STAGE_VERIFY] = "verify",
    [STAGE_TIME] = "time",
};

static const struct {
    const char *word;
    enum outcome_meaning meaning;
    const char *sentence;
} outcomes[OUTCOME_COUNT] = {
#define OUTCOME(id, text, means, says) {text, OUTCOME_MEANS_##means, says},
#include "harness/outcome.def"
#undef OUTCOME
};

const char *stage_word(enum stage s)
{
    return stage_words[s];
}

const char *outcome_word(enum outcome o)
{
    return outcomes[o].word;
}

const char *outcome_sentence(enum outcome o)
{
    return outcomes[o].sentence;
}

enum outcome_meaning outcome_meaning(enum outcome o)
{
    return outcomes[o].meaning;
}

bool stage_parse(enum stage *out, const char *word)
{
    for (int s = 0; s < STAGE_COUNT; s++) {
        if (strcmp(stage_words[s], word) == 0) {
            *out = (enum stage)s;
            return true;
        }
    }
    return false;
}

bool outcome_parse(enum outcome *out, const char *word)
{
    for (int o = 0; o < OUTCOME_COUNT; o++) {
        if (strcmp(outcomes[o].word, word) == 0) {
            *out = (enum outcome)o;
            return true;
        }
    }
    return false;
}

const char *purpose_word(enum purpose p)
{
    return p == PURPOSE_TIMING ? "timing" : "correctness";
}
