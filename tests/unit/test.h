/* test: what every unit test includes. cmocka wants its four headers in this order. */
#ifndef ASSAY_TEST_H
#define ASSAY_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>

#include <cmocka.h>

#include "src/err.h"

/* A call of ours that must succeed; prints the message when it does not. */
#define assert_ok(call)                                                                            \
    do {                                                                                           \
        err_clear();                                                                               \
        int ok_ = (call);                                                                          \
        if (ok_ != 0)                                                                              \
            fail_msg("%s: %d: %s", #call, ok_, err_message());                                     \
    } while (0)

/* A call that must fail with this code and a message that contains `part`. */
#define assert_fails(call, wanted, part)                                                           \
    do {                                                                                           \
        err_clear();                                                                               \
        int failed_ = (call);                                                                      \
        if (failed_ != (wanted))                                                                   \
            fail_msg("%s: got %d, wanted %d: %s", #call, failed_, (int)(wanted), err_message());   \
        if (!strstr(err_message(), (part)))                                                        \
            fail_msg("%s: message lacks \"%s\": %s", #call, (part), err_message());                \
    } while (0)

#endif
