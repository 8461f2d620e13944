#include "src/hip-cpu/provider.h"

#include <stdlib.h>
#include <time.h>

struct ihipEvent_t {
    struct ihipEvent_t *next;
    bool is_recorded;
    int64_t at_ns; /* CLOCK_MONOTONIC */
};
static struct ihipEvent_t *events;

static bool event_is_alive(hipEvent_t event)
{
    struct ihipEvent_t *e = events;
    while (e && e != event)
        e = e->next;
    return e != NULL;
}

static hipError_t create(hipEvent_t *out)
{
    if (!out)
        return hipErrorInvalidValue;
    struct ihipEvent_t *e = calloc(1, sizeof *e);
    if (!e)
        return hipErrorOutOfMemory;
    e->next = events;
    events = e;
    *out = e;
    return hipSuccess;
}

hipError_t hipEventCreate(hipEvent_t *out)
{
    return HIP_CALL(create(out));
}

static hipError_t destroy(hipEvent_t event)
{
    struct ihipEvent_t **link = &events;
    while (*link && *link != event)
        link = &(*link)->next;
    if (!*link)
        return hipErrorInvalidHandle;
    *link = event->next;
    free(event);
    return hipSuccess;
}

hipError_t hipEventDestroy(hipEvent_t event)
{
    return HIP_CALL(destroy(event));
}

static hipError_t record(hipEvent_t event, hipStream_t stream)
{
    if (!event_is_alive(event) || !stream_is_alive(stream))
        return hipErrorInvalidHandle;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->at_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    event->is_recorded = true;
    return hipSuccess;
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream)
{
    return HIP_CALL(record(event, stream));
}

hipError_t hipEventSynchronize(hipEvent_t event)
{
    return HIP_CALL(event_is_alive(event) ? hipSuccess : hipErrorInvalidHandle);
}

static hipError_t elapsed(float *out_ms, hipEvent_t start, hipEvent_t stop)
{
    if (!out_ms)
        return hipErrorInvalidValue;
    if (!event_is_alive(start) || !event_is_alive(stop) || !start->is_recorded ||
        !stop->is_recorded)
        return hipErrorInvalidHandle;
    *out_ms = (float)((double)(stop->at_ns - start->at_ns) / 1e6);
    return hipSuccess;
}

hipError_t hipEventElapsedTime(float *out_ms, hipEvent_t start, hipEvent_t stop)
{
    return HIP_CALL(elapsed(out_ms, start, stop));
}
