/* options: the option string of miirCreateHandle, "--key value" pairs. */
#ifndef PEBBLE_OPTIONS_H
#define PEBBLE_OPTIONS_H

#include "conv.h"

/* False for an unknown key, a missing or malformed value, or a problem that makes no sense. */
bool options_parse(struct conv *out, const char *text);

#endif
