#include "reports/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { REPLACEMENT = 0xFFFD };

const char *report_short_sha(char text[11], const char *sha)
{
    snprintf(text, 11, "%.10s", sha ? sha : "");
    return text;
}

const char *report_count(char *text, size_t size, int64_t value)
{
    char digits[24];
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    int length = snprintf(digits, sizeof digits, "%" PRIu64, magnitude);
    char grouped[40];
    size_t used = 0;
    if (value < 0)
        grouped[used++] = '-';
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            grouped[used++] = ',';
        grouped[used++] = digits[i];
    }
    grouped[used] = '\0';
    snprintf(text, size, "%s", grouped);
    return text;
}

const char *report_percent(char *text, size_t size, double fraction)
{
    double percent = 100.0 * fraction;
    if (!isfinite(percent)) {
        snprintf(text, size, "n/a");
    } else if (fabs(percent) < 0.05) { /* no sign for what rounds to nothing */
        snprintf(text, size, "0.0 %%");
    } else if (fabs(percent) < 999.95) {
        snprintf(text, size, "%+.1f %%", percent);
    } else if (fabs(percent) < 1e15) {
        char count[40];
        report_count(count, sizeof count, llround(percent));
        snprintf(text, size, "%s%s %%", percent > 0 ? "+" : "", count);
    } else {
        snprintf(text, size, "%+.1e %%", percent);
    }
    return text;
}

const char *report_rate(char *text, size_t size, double rate)
{
    if (!isfinite(rate) || rate <= 0.0)
        snprintf(text, size, "not measured");
    else if (rate >= 1e15)
        snprintf(text, size, "%.3e", rate);
    else if (rate >= 999.95)
        report_count(text, size, llround(rate));
    else if (rate >= 99.995)
        snprintf(text, size, "%.1f", rate);
    else if (rate >= 9.9995)
        snprintf(text, size, "%.2f", rate);
    else if (rate >= 1.0)
        snprintf(text, size, "%.3f", rate);
    else if (rate >= 0.001)
        snprintf(text, size, "%.3g", rate);
    else
        snprintf(text, size, "%.2e", rate);
    return text;
}

/* "1 in N" with N rounded to two digits: more would pretend to know more than a model of noise can.
 */
static double two_digits(double value)
{
    double scale = pow(10.0, floor(log10(value)) - 1.0);
    return round(value / scale) * scale;
}

const char *report_probability(char *text, size_t size, double probability)
{
    if (!(probability >= 0.0)) {
        snprintf(text, size, "not stated");
    } else if (probability < 1e-15) {
        snprintf(text, size, "below 1e-15");
    } else if (probability > 0.1) {
        snprintf(text, size, "%.2f", probability);
    } else {
        char odds[40];
        report_count(odds, sizeof odds, llround(two_digits(1.0 / probability)));
        snprintf(text, size, probability < 0.001 ? "%.1e (1 in %s)" : "%.2g (1 in %s)", probability,
                 odds);
    }
    return text;
}

const char *report_interval(char *text, size_t size, double low, double high)
{
    char from[40], to[40];
    if (size > 0)
        text[0] = '\0';
    if (low < high)
        snprintf(text, size, "[%s, %s]", report_percent(from, sizeof from, low),
                 report_percent(to, sizeof to, high));
    return text;
}

const char *report_number_of(char *text, size_t size, size_t count, const char *noun)
{
    char number[40];
    snprintf(text, size, "%s %s%s", report_count(number, sizeof number, (int64_t)count), noun,
             count == 1 ? "" : "s");
    return text;
}

/* Three digits of a value in the largest unit that leaves at least one before the point. */
static void scaled(char *text, size_t size, double value, double step, const char *const *units)
{
    int unit = 0;
    for (; units[unit + 1] && value >= step; unit++)
        value /= step;
    int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(text, size, "%.*f %s", digits, value, units[unit]);
}

const char *report_quantity(char *text, size_t size, int64_t value, const char *unit)
{
    static const char *const bytes[] = {"B", "KiB", "MiB", "GiB", "TiB", NULL}, *const times[] = {
                                                                                    "ns", "us",
                                                                                    "ms", "s",
                                                                                    NULL};
    if (unit && strcmp(unit, "bytes") == 0)
        scaled(text, size, (double)value, 1024, bytes);
    else if (unit && strcmp(unit, "ns") == 0)
        scaled(text, size, (double)value, 1000, times);
    else
        report_count(text, size, value);
    return text;
}

const char *report_ratio(char *text, size_t size, int64_t base, int64_t head)
{
    if (base == head)
        snprintf(text, size, "unchanged");
    else if (base == 0)
        snprintf(text, size, "from nothing");
    else
        report_percent(text, size, (double)head / (double)base - 1);
    return text;
}

const char *report_figure_words(char *text, size_t size, const struct report_figure *figure)
{
    char beyond[60] = "", shrank[60] = "", grew[40], compared[60];
    if (figure->beyond > 0)
        snprintf(beyond, sizeof beyond, " by more than %.4g %%", 100 * figure->beyond);
    report_number_of(compared, sizeof compared, (size_t)figure->compared, "problem");
    if (figure->shrank_count > 0)
        snprintf(shrank, sizeof shrank, ", %zu shrank", figure->shrank_count);
    if (figure->grew_count > 0)
        snprintf(text, size, "%s of %s grew%s%s",
                 report_count(grew, sizeof grew, (int64_t)figure->grew_count), compared, beyond,
                 shrank);
    else
        snprintf(text, size, "none of %s grew%s%s", compared, beyond, shrank);
    return text;
}

const char *report_tone_word(enum tone tone)
{
    switch (tone) {
    case TONE_GOOD:
        return "good";
    case TONE_BAD:
        return "bad";
    case TONE_DOUBT:
        return "doubt";
    case TONE_PLAIN:
        return "plain";
    }
    bug("no such tone: %d", (int)tone);
}

const char *report_level_meaning(const char *level)
{
    static const char *const meanings[][2] = {
        {"PROVEN", "parent good, culprit bad, both freshly built, and its revert at head repairs"},
        {"CONFIRMED", "parent good, culprit bad, both freshly built; no revert at head proves it"},
        {"LIKELY", "from the answers of the search alone, not built afresh"},
        {"RANGE", "one of several commits that could not be told apart"},
        {"NOT-REPRODUCED", "the bad end does not fail"},
        {"NEVER-GOOD", "the good end fails too"},
        {"UNCHANGED-CODE", "the generated code is identical: not the compiler"},
    };
    for (size_t i = 0; level && i < sizeof meanings / sizeof meanings[0]; i++)
        if (strcmp(level, meanings[i][0]) == 0)
            return meanings[i][1];
    return "";
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return word && (strcmp(word, a) == 0 || strcmp(word, b) == 0);
}

static bool is_alarming(enum tone tone)
{
    return tone == TONE_BAD || tone == TONE_DOUBT;
}

enum report_group report_check_group(const struct report_check *check)
{
    if (is_one_of(check->change, "newly not applicable", "newly applicable") ||
        is_one_of(check->change, "missing", "missing"))
        return REPORT_COVERAGE;
    bool quiet = !is_alarming(check->tone) && is_one_of(check->change, "passes", "not applicable");
    return quiet ? REPORT_QUIET : REPORT_CHANGED;
}

bool report_speed_is_notable(const struct report_speed *speed)
{
    return speed->model || is_alarming(speed->tone) ||
           !is_one_of(speed->compare, "equivalent", "identical code");
}

bool report_speed_is_measured(const struct report_speed *speed)
{
    return speed->rate_new > 0.0 && speed->rate_old > 0.0;
}

size_t report_pick_checks(size_t *out, const struct report *r, enum report_group group)
{
    size_t count = 0;
    for (size_t i = 0; i < r->check_count; i++)
        if (report_check_group(&r->checks[i]) == group)
            out[count++] = i;
    return count;
}

size_t report_pick_speeds(size_t *out, const struct report *r, bool notable)
{
    size_t count = 0;
    for (size_t i = 0; i < r->speed_count; i++)
        if (report_speed_is_notable(&r->speeds[i]) == notable)
            out[count++] = i;
    return count;
}

/* Length that the first byte of a sequence promises, and the bits of the code that it carries; 0
 * when it can start none. */
static size_t sequence_length(unsigned char first, uint32_t *bits)
{
    if (first >= 0xC2 && first <= 0xDF) {
        *bits = first & 0x1Fu;
        return 2;
    }
    if (first >= 0xE0 && first <= 0xEF) {
        *bits = first & 0x0Fu;
        return 3;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        *bits = first & 0x07u;
        return 4;
    }
    return 0;
}

size_t report_decode(uint32_t *code, const char *text)
{
    static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *bytes = (const unsigned char *)text;
    uint32_t value = bytes[0];
    *code = value;
    if (value < 0x80)
        return 1;
    *code = REPLACEMENT;
    size_t length = sequence_length(bytes[0], &value);
    if (length == 0)
        return 1;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xC0) != 0x80) /* the terminating NUL ends here too */
            return 1;
        value = value << 6 | (bytes[i] & 0x3Fu);
    }
    if (value < smallest[length] || value > 0x10FFFF || (value >= 0xD800 && value <= 0xDFFF))
        return 1;
    *code = value;
    return length;
}

/* Controls drive terminals; marks of direction make text read as what it is not. */
static bool is_unsafe(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

bool report_next(uint32_t *code, const char **text)
{
    if (!*text || !**text)
        return false;
    *text += report_decode(code, *text);
    if (*code == '\n' || *code == '\t' || *code == '\r')
        *code = ' ';
    else if (is_unsafe(*code))
        *code = REPLACEMENT;
    return true;
}

void report_encode(struct buf *out, uint32_t code)
{
    if (code < 0x80) {
        buf_add_char(out, (char)code);
        return;
    }
    char bytes[4];
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned lead[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = length - 1; i > 0; i--) {
        bytes[i] = (char)(0x80 | (code & 0x3F));
        code >>= 6;
    }
    bytes[0] = (char)(lead[length] | code);
    buf_add(out, bytes, length);
}

int report_columns(uint32_t code)
{
    static const uint32_t none[][2] = {
        {0x0300, 0x036F}, {0x0483, 0x0489}, {0x0591, 0x05BD}, {0x064B, 0x065F},
        {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF}, {0x200B, 0x200D}, {0x2060, 0x2060},
        {0x20D0, 0x20FF}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xE0100, 0xE01EF},
    };
    static const uint32_t two[][2] = {
        {0x1100, 0x115F},   {0x231A, 0x231B},   {0x23E9, 0x23EC},   {0x2E80, 0x303E},
        {0x3041, 0xA4CF},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},   {0xF900, 0xFAFF},
        {0xFE30, 0xFE6F},   {0xFF00, 0xFF60},   {0xFFE0, 0xFFE6},   {0x1F300, 0x1F64F},
        {0x1F680, 0x1F6FF}, {0x1F900, 0x1F9FF}, {0x20000, 0x3FFFD},
    };
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (code >= none[i][0] && code <= none[i][1])
            return 0;
    for (size_t i = 0; i < sizeof two / sizeof two[0]; i++)
        if (code >= two[i][0] && code <= two[i][1])
            return 2;
    return 1;
}
