/* collect_internal: what the parts of collect share. */
#ifndef ASSAY_COLLECT_INTERNAL_H
#define ASSAY_COLLECT_INTERNAL_H

#include "harness/collect.h"

/* The comparison's sides by the way the reader reads them: new is head, old is base. */
struct page {
    struct report *report;
    struct arena *arena;
    const struct collect_request *q;
    const char *arch; /* of the epoch */
};

/* Is the item's correctness told? Asked to be, or the problem is not done at all any more. */
bool collect_is_told(const struct compared *c);
/* The states of all problems at both ends, and what their code takes. */
void collect_states(struct page *p);
/* Verdict, tone and recommendation; last, since models' speeds have a say. */
void collect_verdict(struct page *p);

#endif
