/* report: the model of a page. harness/collect fills it from rows and verdicts; html, markdown, json and text print it. Pure: the same model
 * gives the same bytes; nothing here knows store, candidate, clock or file.
 *
 * All text is plain (printers escape it), UTF-8, memory of whoever filled the model. NULL text prints as nothing. Lists come sorted by the collector,
 * worst first. Printers cut nothing silently: what is folded away says how many.
 */
#ifndef ASSAY_REPORT_H
#define ASSAY_REPORT_H

#include "src/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a line is to be felt: colours in html, words and marks elsewhere. */
enum tone { TONE_GOOD, TONE_BAD, TONE_DOUBT, TONE_PLAIN };

struct report_fact {
    const char *name, *value; /* "machine", "cpu: x86-64-v4, hip-cpu 6.0" */
};

struct report_commit {
    const char *sha;      /* 40 digits; printers show 10 */
    const char *subject, *author;
    const char *date;     /* "2025-03-04" */
};

/* One row of the table that reviewers know: Test | Batch | Rate new | Rate old | Diff | Compare. */
struct report_speed {
    const char *test;      /* model name or problem line */
    int64_t batch;
    const char *unit;      /* "images/s", "GFLOP/s" */
    double rate_new, rate_old;          /* 0: not measured */
    double change;                      /* rate_new / rate_old - 1 */
    double change_low, change_high;     /* 95 % interval of change; equal when unknown */
    const char *compare;   /* "regressed" "improved" "equivalent" "inconclusive" "identical code" "missing" */
    enum tone tone;
    int64_t pairs;
    const char *reason;    /* one sentence */
    const char *again;     /* the assay command that repeats it */
    const char *theirs;    /* the candidate's own command or option string */
    bool model;            /* models stand above problems */
};

/* One correctness line: a problem at base and head. */
struct report_check {
    const char *problem;
    const char *change;    /* "newly failing" "fixed" "still failing" "newly not applicable" "newly applicable" "missing" "passes" "not applicable" */
    enum tone tone;
    const char *base, *head; /* "ok", "mismatch: border, 1,024 of 65,536 off, worst 35.2x tolerance" */
    const char *signature;
    const char *again, *theirs;
};

/* How many problems are in one state at both ends: "passes" "fails" "not applicable" "no result". */
struct report_state {
    const char *name;
    int64_t base, head;
};

/* One problem whose figure grew beyond the gate's threshold. */
struct report_growth {
    const char *problem;
    int64_t base, head;
};

/* What the generated code takes beside its time, over all problems that both ends compiled. */
struct report_figure {
    const char *name;      /* "kernels" "workspace" "code" "compile time" */
    const char *unit;      /* "" (a count) "bytes" "ns" */
    int64_t base, head;    /* totals */
    int64_t compared;      /* problems */
    double beyond;         /* the gate's threshold, a fraction */
    struct report_growth *grew; size_t grew_count; /* worst first */
    size_t shrank_count;
    enum tone tone;        /* bad: it blocks */
    const char *note;      /* one clause: how sure, whether it blocks */
};

/* One tested commit in a search. */
struct report_step {
    struct report_commit commit;
    const char *answer;   /* "good" "bad" "skip: build-error: lower_fwd.c:12: ..." */
    enum tone tone;
    const char *detail;   /* "ratio 1.00 [0.99, 1.01], 6 pairs", "mismatch" */
};

struct report_blame {
    const char *what;      /* "mismatch (border)", "slower by 3.1x" */
    const char *level;     /* PROVEN CONFIRMED LIKELY RANGE NOT-REPRODUCED NEVER-GOOD UNCHANGED-CODE */
    enum tone tone;
    struct report_commit culprit;        /* sha NULL: none */
    double error_probability;            /* of the blame; negative: not stated */
    const char *because;                 /* one or two sentences: parent good, culprit bad, revert at head ... */
    const char **problems;               /* all problems of this blame */
    size_t problem_count;
    struct report_commit *suspects;      /* RANGE: the set, oldest first */
    size_t suspect_count;
    struct report_step *steps;           /* in the order of the range, oldest first */
    size_t step_count;
    int64_t builds, runs;
    const char *again, *theirs;
};

struct report {
    const char *title;        /* "pebble: 0123456789 against 9876543210" */
    const char *verdict;      /* one line with the action */
    enum tone tone;
    const char *recommendation; /* last line: "This build is not recommended to merge: ..." */
    struct report_commit base, head;
    struct report_fact *facts;  size_t fact_count;
    struct report_fact *counts; size_t count_count; /* "newly failing" -> "3", ... in the order to show */
    struct report_speed *speeds; size_t speed_count;
    struct report_check *checks; size_t check_count;
    struct report_state *states; size_t state_count; /* 0: no section on coverage */
    const char *coverage;     /* the share of not-applicable at both ends, one sentence */
    enum tone coverage_tone;  /* of that sentence; rows have their own */
    struct report_figure *figures; size_t figure_count;
    struct report_blame *blames; size_t blame_count;
    const char **configurations; size_t configuration_count; /* every tested problem, canonical */
    const char *command;      /* what made this report */
};

/* One self-contained page (inline style, no script needed to read it, no outside asset). */
void report_html(struct buf *out, const struct report *r);
/* GitHub-flavoured markdown that fits a comment: the tables that matter first, long lists folded in <details>, below 60,000 characters (what is left out is counted). */
void report_markdown(struct buf *out, const struct report *r);
/* {"schema":"assay-report-1",...}; its keys stand in reports/README.md */
void report_json(struct buf *out, const struct report *r);
/* The summary for a terminal of `width` columns (at least 40), with ANSI colours when `colour`. */
void report_text(struct buf *out, const struct report *r, int width, bool colour);

/* Shared by the printers.
 *
 * Numbers for people. All return `text`.
 *   report_count        "1,234,567"
 *   report_percent      "+3.2 %", "0.0 %", "+1,240 %"; "n/a" for what is no number
 *   report_rate         four digits: "1.23e-05", "0.0421", "12.34", "1,234,567"; "not measured" for 0
 *   report_probability  "1.2e-06 (1 in 830,000)", "below 1e-15", "not stated" for a negative one
 *   report_interval     "[-18.9 %, -16.5 %]"; "" when low == high: not known
 *   report_quantity     "41", "12.3 KiB", "1.20 s" by its unit
 *   report_ratio        how much `head` is above `base`: "+26.2 %", "unchanged", "from nothing"
 */
const char *report_short_sha(char text[11], const char *sha);
const char *report_count(char *text, size_t size, int64_t value);
const char *report_percent(char *text, size_t size, double fraction);
const char *report_rate(char *text, size_t size, double rate);
const char *report_probability(char *text, size_t size, double probability);
const char *report_interval(char *text, size_t size, double low, double high);
const char *report_quantity(char *text, size_t size, int64_t value, const char *unit);
const char *report_ratio(char *text, size_t size, int64_t base, int64_t head);
/* "3 of 38 problems grew by more than 50 %, 1 shrank"; "in none of 38 problems by more than 50 %". */
const char *report_figure_words(char *text, size_t size, const struct report_figure *figure);
/* One number with its noun: "1 problem", "1,842 problems". */
const char *report_number_of(char *text, size_t size, size_t count, const char *noun);

/* "good" "bad" "doubt" "plain": the word of a tone in json and in classes of html. */
const char *report_tone_word(enum tone tone);
/* What a level of blame means, in one clause; "" for a word that is no level. */
const char *report_level_meaning(const char *level);

/* Which rows are shown at once; the others are folded away or counted.
 * A check is quiet when it passes or is not applicable at both ends; it belongs to coverage when the candidate newly takes or refuses the problem, or
 * when a result is missing; else it changed. A speed is notable when it belongs to a model, or is neither equivalent nor identical code. A tone of bad
 * or doubt is never quiet. The pick functions fill `out` (room for all rows) with the indices of the rows of a group, in the order of the model,
 * and return how many. */
enum report_group { REPORT_QUIET, REPORT_CHANGED, REPORT_COVERAGE };
enum report_group report_check_group(const struct report_check *check);
bool report_speed_is_notable(const struct report_speed *speed);
size_t report_pick_checks(size_t *out, const struct report *r, enum report_group group);
size_t report_pick_speeds(size_t *out, const struct report *r, bool notable);
/* Both rates are there, so that change means something. */
bool report_speed_is_measured(const struct report_speed *speed);

/* Text that others made (logs, commit subjects, names) goes through these, so that it can neither leave its place on a page nor drive a terminal.
 *
 * Decode one character at `text` (not at its end) and return its length in bytes; what is not UTF-8 gives U+FFFD, byte by byte. */
size_t report_decode(uint32_t *code, const char *text);
/* The next character of a text printed on one line: breaks and tabs come as a space; control characters and those that turn the direction of
 * writing come as U+FFFD. False at the end; NULL is an empty text. */
bool report_next(uint32_t *code, const char **text);
void report_encode(struct buf *out, uint32_t code);
/* Columns that a character takes on a terminal: 0 combining, 2 East Asian wide and pictographs, else 1 (Unicode Standard Annex 11, coarsely). */
int report_columns(uint32_t code);

#endif
