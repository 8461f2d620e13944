/* Device memory is mapped singly, with a no-access page on either side:
 *
 *     | no access | unused ... | allocation, rounded up to 64 | no access |
 *     base        page         start                          end
 *
 * A kernel that runs past the end dies at the first byte beyond the rounding; one that runs below
 * the start dies within a page. 64 bytes are the widest vector, so every allocation is aligned for
 * any of them. */
#include "src/hip-cpu/provider.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ALIGNMENT = 64 };

struct allocation {
    struct allocation *next;
    uint8_t *base; /* of the mapping, guard pages included */
    size_t mapped_bytes;
    uint8_t *start; /* what the caller has */
    size_t bytes;
};
static struct allocation *allocations;
static uint64_t used_bytes;

static bool map_guarded(struct allocation *a)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t rounded = (a->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    size_t inner = (rounded + page - 1) / page * page;
    a->mapped_bytes = inner + 2 * page;
    void *base =
        mmap(NULL, a->mapped_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    a->base = base;
    a->start = a->base + page + inner - rounded;
    if (mprotect(a->base + page, inner, PROT_READ | PROT_WRITE) == 0)
        return true;
    munmap(a->base, a->mapped_bytes);
    return false;
}

static hipError_t allocate(void **out, size_t bytes)
{
    if (!out)
        return hipErrorInvalidValue;
    *out = NULL;
    if (bytes == 0)
        return hipSuccess;
    /* The limit is at most what the machine has, so that the rounding up in map_guarded cannot
     * overflow. */
    uint64_t limit = device_get()->memory_bytes;
    if (used_bytes > limit || bytes > limit - used_bytes || bytes > SIZE_MAX / 2)
        return hipErrorOutOfMemory;
    struct allocation *a = calloc(1, sizeof *a);
    if (!a)
        return hipErrorOutOfMemory;
    a->bytes = bytes;
    if (!map_guarded(a)) {
        free(a);
        return hipErrorOutOfMemory;
    }
    a->next = allocations;
    allocations = a;
    used_bytes += bytes;
    *out = a->start;
    return hipSuccess;
}

hipError_t hipMalloc(void **out, size_t bytes)
{
    return HIP_CALL(allocate(out, bytes));
}

static hipError_t release(void *pointer)
{
    if (!pointer)
        return hipSuccess;
    for (struct allocation **link = &allocations; *link; link = &(*link)->next) {
        struct allocation *a = *link;
        if (a->start != pointer)
            continue;
        *link = a->next;
        used_bytes -= a->bytes;
        munmap(a->base, a->mapped_bytes);
        free(a);
        return hipSuccess;
    }
    return hipErrorInvalidDevicePointer;
}

hipError_t hipFree(void *pointer)
{
    return HIP_CALL(release(pointer));
}

/* Where a range of bytes lies: in one allocation, outside all mappings, or half in one or on its
 * guard pages. */
enum place { ON_DEVICE, ON_HOST, ASTRAY };

static enum place place_of(const void *pointer, size_t bytes)
{
    uintptr_t first = (uintptr_t)pointer;
    for (const struct allocation *a = allocations; a; a = a->next) {
        uintptr_t base = (uintptr_t)a->base, start = (uintptr_t)a->start;
        if (first >= start && first - start <= a->bytes && bytes <= a->bytes - (first - start))
            return ON_DEVICE;
        if (first < base + a->mapped_bytes && (first >= base || bytes > base - first))
            return ASTRAY;
    }
    return ON_HOST;
}

static hipError_t copy(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                       hipStream_t stream)
{
    if (!stream_is_alive(stream))
        return hipErrorInvalidHandle;
    if ((unsigned)kind > hipMemcpyDefault)
        return hipErrorInvalidMemcpyDirection;
    if (bytes == 0)
        return hipSuccess;
    if (!to || !from)
        return hipErrorInvalidValue;
    enum place to_place = place_of(to, bytes), from_place = place_of(from, bytes);
    bool to_device = kind == hipMemcpyHostToDevice || kind == hipMemcpyDeviceToDevice;
    bool from_device = kind == hipMemcpyDeviceToHost || kind == hipMemcpyDeviceToDevice;
    if (to_place == ASTRAY || from_place == ASTRAY)
        return hipErrorInvalidValue;
    if ((to_device && to_place != ON_DEVICE) || (from_device && from_place != ON_DEVICE))
        return hipErrorInvalidDevicePointer;
    memmove(to, from, bytes);
    return hipSuccess;
}

hipError_t hipMemcpy(void *to, const void *from, size_t bytes, hipMemcpyKind kind)
{
    return HIP_CALL(copy(to, from, bytes, kind, NULL));
}

hipError_t hipMemcpyAsync(void *to, const void *from, size_t bytes, hipMemcpyKind kind,
                          hipStream_t stream)
{
    return HIP_CALL(copy(to, from, bytes, kind, stream));
}

static hipError_t set(void *to, int byte, size_t bytes, hipStream_t stream)
{
    if (!stream_is_alive(stream))
        return hipErrorInvalidHandle;
    if (bytes == 0)
        return hipSuccess;
    enum place place = place_of(to, bytes);
    if (place != ON_DEVICE)
        return place == ASTRAY ? hipErrorInvalidValue : hipErrorInvalidDevicePointer;
    memset(to, byte, bytes);
    return hipSuccess;
}

hipError_t hipMemset(void *to, int byte, size_t bytes)
{
    return HIP_CALL(set(to, byte, bytes, NULL));
}

hipError_t hipMemsetAsync(void *to, int byte, size_t bytes, hipStream_t stream)
{
    return HIP_CALL(set(to, byte, bytes, stream));
}
