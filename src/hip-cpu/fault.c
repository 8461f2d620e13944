/* The plan is one text: "N", "N+", "name:N" or "name:N+". N counts calls from 1: all of them, or
 * those of one entry point. */
#include "src/hip-cpu/provider.h"

#include <stdlib.h>
#include <string.h>

static struct {
    char name[64]; /* "": every call counts */
    uint64_t strike;
    bool onwards;
    uint64_t seen;
} plan;

static bool parse_number(const char *text)
{
    if (*text < '1' || *text > '9')
        return false;
    char *end = NULL;
    plan.strike = strtoull(text, &end, 10);
    plan.onwards = *end == '+';
    return end[plan.onwards] == '\0';
}

static bool parse(const char *text)
{
    const char *colon = strchr(text, ':');
    if (!colon)
        return parse_number(text);
    size_t length = (size_t)(colon - text);
    if (length == 0 || length >= sizeof plan.name)
        return false;
    memcpy(plan.name, text, length);
    return parse_number(colon + 1);
}

hipError_t fault_reset(void)
{
    memset(&plan, 0, sizeof plan);
    const char *text = getenv("ASSAY_HIP_CPU_FAIL");
    if (!text || !*text || parse(text))
        return hipSuccess;
    memset(&plan, 0, sizeof plan);
    complain("ASSAY_HIP_CPU_FAIL=%s is none of N, N+, name:N, name:N+", text);
    return hipErrorInvalidValue;
}

bool fault_strikes(const char *name)
{
    if (plan.strike == 0 || (plan.name[0] && strcmp(plan.name, name) != 0))
        return false;
    plan.seen++;
    return plan.onwards ? plan.seen >= plan.strike : plan.seen == plan.strike;
}
