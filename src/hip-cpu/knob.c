#include "src/hip-cpu/provider.h"

#include <errno.h>
#include <stdlib.h>

bool knob_number(uint64_t *out, const char *name, uint64_t fallback, uint64_t lowest,
                 uint64_t highest)
{
    *out = fallback;
    const char *text = getenv(name);
    if (!text || !*text)
        return true;
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    /* strtoull takes "-1" and leading blanks; a knob does not. */
    if (*text < '0' || *text > '9' || *end || errno || value < lowest || value > highest) {
        complain("%s=%s is not a number from %llu to %llu", name, text, (unsigned long long)lowest,
                 (unsigned long long)highest);
        return false;
    }
    *out = value;
    return true;
}
