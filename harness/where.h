/* where: a condition on a problem, as text: which combinations of a sweep's axes stay.
 *
 *   or := and { "or" and }        and := not { "and" not }        not := "not" not | comparison
 *   comparison := sum [ ("==" | "!=" | "<" | "<=" | ">" | ">=") sum ]
 *   sum := product { ("+" | "-") product }      product := unary { ("*" | "/" | "%") unary }
 *   unary := "-" unary | number | field | word | "(" or ")"
 * Numbers are int64 with C's division. A condition in which a division by zero is met, or a number overflows, does not hold.
 * Fields: n c k g dims reduction flops bytes; in_, fil_, out_, stride_, dilation_ with d, h or w; pad_ with d, h or w and _lo or _hi; and the words direction
 * (fwd bwd_data bwd_weight), dtype (of the input: f32 ...) and layout (nchw, nhwc, or ncw ... by dims; other), which know == and != alone. Of a dim that the
 * problem does not have, sizes are 1 and pads 0.
 */
#ifndef ASSAY_WHERE_H
#define ASSAY_WHERE_H

#include "reference/problem.h"
#include "src/mem.h"

struct where;

/* ERR_INVALID says what is wrong, with the nearest field for an unknown one; *column is then where it stands in the text, from 1. */
int where_parse(struct where **out, size_t *column, struct arena *a, const char *text) MUST_USE;
/* Cost: some tens of ns. */
bool where_holds(const struct where *w, const struct problem *p);

/* The word for a problem's three layouts: "nchw" (channels first, as problem_default_layouts has it) or "nhwc" (channels last), with "ncw" "nwc" for one dim
 * and "ncdhw" "ndhwc" for three; "other" for any other. */
const char *where_layout(const struct problem *p);
/* Give the problem the layouts of such a word; false when its dims have no such word. */
bool where_set_layout(struct problem *p, const char *word);

#endif
