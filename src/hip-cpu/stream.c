/* Work is done before the call that queues it returns, so a stream holds nothing and is always
 * idle: all it can be is alive. */
#include "src/hip-cpu/provider.h"

#include <stdlib.h>

struct ihipStream_t {
    struct ihipStream_t *next;
};
static struct ihipStream_t *streams;

bool stream_is_alive(hipStream_t stream)
{
    struct ihipStream_t *s = streams;
    while (s && s != stream)
        s = s->next;
    return s != NULL || stream == NULL;
}

static hipError_t create(hipStream_t *out)
{
    if (!out)
        return hipErrorInvalidValue;
    struct ihipStream_t *s = calloc(1, sizeof *s);
    if (!s)
        return hipErrorOutOfMemory;
    s->next = streams;
    streams = s;
    *out = s;
    return hipSuccess;
}

hipError_t hipStreamCreate(hipStream_t *out)
{
    return HIP_CALL(create(out));
}

static hipError_t destroy(hipStream_t stream)
{
    struct ihipStream_t **link = &streams;
    while (*link && *link != stream)
        link = &(*link)->next;
    if (!*link)
        return hipErrorInvalidHandle;
    *link = stream->next;
    free(stream);
    return hipSuccess;
}

hipError_t hipStreamDestroy(hipStream_t stream)
{
    return HIP_CALL(destroy(stream));
}

hipError_t hipStreamSynchronize(hipStream_t stream)
{
    return HIP_CALL(stream_is_alive(stream) ? hipSuccess : hipErrorInvalidHandle);
}
