/* result: the words of a result, (stage, outcome), shared by everything that runs, stores and judges. */
#ifndef ASSAY_RESULT_H
#define ASSAY_RESULT_H

#include "src/repo.h"

enum stage { STAGE_CHECKOUT, STAGE_BUILD, STAGE_COMPILE, STAGE_LOAD, STAGE_EXECUTE, STAGE_VERIFY, STAGE_TIME, STAGE_COUNT };

enum outcome {
#define OUTCOME(id, word, meaning, sentence) OUTCOME_##id,
#include "harness/outcome.def"
#undef OUTCOME
    OUTCOME_COUNT
};

enum outcome_meaning { OUTCOME_MEANS_GOOD, OUTCOME_MEANS_BAD, OUTCOME_MEANS_UNKNOWN };

const char *stage_word(enum stage s);
const char *outcome_word(enum outcome o);
const char *outcome_sentence(enum outcome o);
enum outcome_meaning outcome_meaning(enum outcome o);
/* False for a word that is none. */
bool stage_parse(enum stage *out, const char *word);
bool outcome_parse(enum outcome *out, const char *word);

enum purpose { PURPOSE_CORRECTNESS, PURPOSE_TIMING };
const char *purpose_word(enum purpose p);

#endif
