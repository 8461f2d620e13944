/* pebble_check: a built libpebble.so against assay's reference, without the harness: the host kernels are called in this process.
 *
 *   pebble_check LIB random COUNT SEED   problems over directions, types, groups, strides, dilations, pads, layouts; prints the wrong ones
 *   pebble_check LIB line PROBLEM...     "ok", "mismatch <signature>", "guard <bytes>" or "not-applicable" for each
 *   pebble_check LIB time PROBLEM...     nanoseconds and GFLOP/s of the fastest of some runs
 *   pebble_check LIB gpu                 an AMD code object and PTX of each direction
 *   pebble_check LIB api                 what must be refused, kernel counts, buffers
 * Exit status 0: all good; 1: something is wrong; 2: usage. Data are integers that make every partial sum exact, so equality is demanded.
 */
#include "reference/conv.h"
#include "reference/spelling.h"
#include "reference/verify.h"
#include "src/mem.h"

#include <dlfcn.h>
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

typedef void *handle;
typedef void kernel(void **params, const uint32_t workgroup[3]);

static struct {
    handle (*create)(const char *options);
    int (*destroy)(handle);
    int (*kernel_count)(handle);
    int (*workspace_size)(handle);
    int (*lower_tuning)(handle);
    int (*lower_bin)(handle);
    int (*buffer)(handle, char *buffer, size_t *size);
    int (*dims)(handle, size_t *global, size_t *local);
} miir;

enum { MAX_KERNELS = 64 };

struct loaded {
    int count;
    int file[MAX_KERNELS]; /* open as long as it is loaded: the loader knows libraries by their path */
    void *library[MAX_KERNELS];
    kernel *run[MAX_KERNELS];
    uint32_t workgroups[MAX_KERNELS];
};

static const char *arch = "x86-64-v3", *tuning = "";

static void take_symbol(void *function, void *library, const char *name)
{
    void *symbol = dlsym(library, name);
    if (!symbol)
        die("no %s: %s", name, dlerror());
    memcpy(function, &symbol, sizeof symbol);
}

static void open_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        die("%s", dlerror());
    take_symbol(&miir.create, library, "miirCreateHandle");
    take_symbol(&miir.destroy, library, "miirDestroyHandle");
    take_symbol(&miir.kernel_count, library, "miirGetKernelCount");
    take_symbol(&miir.workspace_size, library, "miirGetWorkspaceSize");
    take_symbol(&miir.lower_tuning, library, "miirLowerTuningParams");
    take_symbol(&miir.lower_bin, library, "miirLowerBin");
    take_symbol(&miir.buffer, library, "miirBufferGet");
    take_symbol(&miir.dims, library, "miirGetExecutionDims");
}

/* The handle of one kernel; NULL when refused. */
static handle create(const struct problem *p, const char *target, int id)
{
    struct buf text;
    buf_init(&text, BUF_MAX_LINE);
    if (spelling_print(&text, SPELLING_MIIR, p, true) < 0)
        die("%s", err_message());
    buf_printf(&text, " --arch %s --kernel_id %d --kernel_name check_%d", target, id, id);
    if (tuning[0])
        buf_printf(&text, " --perf_config %s", tuning);
    handle h = miir.create(text.data);
    buf_release(&text);
    return h;
}

static char *lower(handle h, size_t *size)
{
    if (miir.lower_bin(h) != 0 || miir.buffer(h, NULL, size) != 0)
        return NULL;
    char *code = xmalloc(*size);
    if (miir.buffer(h, code, size) != 0)
        die("miirBufferGet gives a size but no code");
    return code;
}

static void load_kernel(struct loaded *l, int id, const char *code, size_t size)
{
    char path[64], name[32];
    int fd = memfd_create("kernel", MFD_CLOEXEC);
    if (fd < 0 || write(fd, code, size) != (ssize_t)size)
        die("memfd:");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    snprintf(name, sizeof name, "check_%d", id);
    l->library[id] = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!l->library[id])
        die("%s", dlerror());
    l->file[id] = fd;
    take_symbol(&l->run[id], l->library[id], name);
}

/* All kernels of a problem; false: refused or not lowered, and `why` says which. */
static bool load(struct loaded *l, const struct problem *p, const char **why)
{
    *l = (struct loaded){.count = 1};
    for (int id = 0; id < l->count; id++) {
        size_t size = 0, global = 0, local = 0;
        handle h = create(p, arch, id);
        *why = "not-applicable";
        if (!h)
            return false;
        if (id == 0)
            l->count = miir.kernel_count(h);
        if (l->count < 1 || l->count > MAX_KERNELS)
            die("%d kernels", l->count);
        CLEANUP(mem_free_ptr) char *code = lower(h, &size);
        *why = "compile-error";
        if (!code || miir.dims(h, &global, &local) != 0 || local == 0 || global % local != 0)
            return false;
        load_kernel(l, id, code, size);
        l->workgroups[id] = (uint32_t)(global / local);
        miir.destroy(h);
    }
    return true;
}

static void unload(struct loaded *l)
{
    for (int id = 0; id < l->count; id++)
        if (l->library[id]) {
            dlclose(l->library[id]);
            close(l->file[id]);
        }
}

static void execute(const struct loaded *l, const struct tensor tensors[3])
{
    void *argument[3] = {tensors[OPERAND_FILTER].data, tensors[OPERAND_INPUT].data, tensors[OPERAND_OUTPUT].data};
    void *params[3] = {&argument[0], &argument[1], &argument[2]};
    for (int id = 0; id < l->count; id++)
        for (uint32_t i = 0; i < l->workgroups[id]; i++)
            l->run[id](params, (uint32_t[3]){i, 0, 0});
}

static void fill(struct tensor tensors[3], const struct problem *p)
{
    int bits = p->dtype[OPERAND_INPUT] == DTYPE_I8 ? 31 : 24;
    int64_t range = tensor_exact_range(p, bits);
    for (int i = 0; i < 3; i++) {
        tensor_init(&tensors[i], p, (enum operand)i);
        if ((enum operand)i == problem_result(p))
            tensor_poison(&tensors[i], 0);
        else
            tensor_fill(&tensors[i], DATA_INTEGER, 7, (enum operand)i, range < 1 ? 1 : range);
    }
}

/* "ok", or what is wrong. */
static const char *check(char text[256], const struct problem *p)
{
    struct loaded l;
    struct tensor tensors[3];
    struct conv_answer answer;
    struct verify_stats stats;
    const char *why;
    int64_t damage = 0, low, high;
    if (!load(&l, p, &why)) {
        unload(&l);
        return why;
    }
    fill(tensors, p);
    execute(&l, tensors);
    if (conv_direct(&answer, p, tensors) < 0)
        die("%s", err_message());
    enum accumulator accumulator = p->dtype[OPERAND_INPUT] == DTYPE_I8 ? ACCUMULATOR_I32 : ACCUMULATOR_F32_FMA;
    verify_measure(&stats, p, &tensors[problem_result(p)], &answer, DATA_INTEGER, accumulator, 0);
    for (int i = 0; i < 3; i++) {
        tensor_guard_damage(&low, &high, &tensors[i]);
        damage += low + high;
    }
    snprintf(text, 256, "ok");
    if (stats.mismatches)
        snprintf(text, 256, "mismatch %" PRId64 " of %" PRId64 ", %g for %g, %" PRId64 " unwritten, guards %" PRId64, stats.mismatches,
                 stats.elements, stats.worst_actual, stats.worst_expected, stats.unwritten, damage);
    else if (damage)
        snprintf(text, 256, "guard %" PRId64, damage);
    conv_answer_release(&answer);
    for (int i = 0; i < 3; i++)
        tensor_release(&tensors[i]);
    unload(&l);
    return text;
}

static uint64_t state;

static int64_t draw(int64_t low, int64_t high)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return low + (int64_t)(state % (uint64_t)(high - low + 1));
}

static void shuffle(char *letters)
{
    for (size_t i = strlen(letters) - 1; i > 0; i--) {
        size_t j = (size_t)draw(0, (int64_t)i);
        char c = letters[i];
        letters[i] = letters[j], letters[j] = c;
    }
}

static void draw_layouts(struct problem *p)
{
    int64_t kind = draw(0, 3);
    problem_default_layouts(p);
    if (kind == 1) {
        strcpy(p->layout[OPERAND_INPUT], "nhwgc");
        strcpy(p->layout[OPERAND_FILTER], "gkyxc");
        strcpy(p->layout[OPERAND_OUTPUT], "nhwgk");
    } else if (kind == 2) {
        for (int i = 0; i < 3; i++)
            shuffle(p->layout[i]);
    }
}

static void draw_types(struct problem *p)
{
    static const enum dtype types[] = {DTYPE_F32, DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_I8};
    enum dtype type = types[draw(0, p->direction == DIRECTION_FWD ? 4 : 3)];
    for (int i = 0; i < 3; i++)
        p->dtype[i] = type;
    if (type == DTYPE_I8)
        p->dtype[OPERAND_OUTPUT] = DTYPE_I32;
}

/* Wrong since the first commit, and meant to be (truth.txt: never-good). */
static bool was_never_good(const struct problem *p)
{
    return p->direction == DIRECTION_FWD && p->fil[0] != p->fil[1];
}

static void draw_problem(struct problem *p)
{
    do {
        *p = (struct problem){.direction = (enum direction)draw(0, 2), .dims = 2, .n = draw(1, 3)};
        draw_types(p);
        p->g = draw(0, 2) ? 1 : draw(1, 4);
        p->c = p->g * draw(1, 9), p->k = p->g * draw(1, 10);
        for (int d = 0; d < 2; d++) {
            p->in[d] = draw(1, 22), p->fil[d] = draw(1, draw(1, 4));
            p->str[d] = draw(1, draw(1, 3)), p->dil[d] = draw(1, draw(1, 3));
            p->pad_lo[d] = draw(0, draw(0, 3)), p->pad_hi[d] = draw(0, draw(0, 3));
        }
        draw_layouts(p);
        err_clear();
    } while (problem_check(p) < 0 || was_never_good(p));
}

static int check_random(int count, uint64_t seed)
{
    static const char *const tunings[] = {"", "", "v1:4,8", "v1:1,4", "v1:8,8", "v1:2,4"};
    int wrong = 0;
    state = seed * 2 + 1;
    for (int i = 0; i < count; i++) {
        char line[PROBLEM_MAX_TEXT], text[256];
        struct problem p;
        draw_problem(&p);
        tuning = tunings[draw(0, 5)];
        const char *outcome = check(text, &p);
        if (strcmp(outcome, "ok") == 0)
            continue;
        printf("%s: %s %s\n", problem_print(line, &p), outcome, tuning);
        wrong++;
    }
    printf("%d of %d wrong\n", wrong, count);
    return wrong != 0;
}

static struct problem parse(const char *line)
{
    struct problem p;
    if (problem_parse(&p, line) < 0)
        die("%s: %s", line, err_message());
    return p;
}

static int check_lines(char **lines)
{
    int wrong = 0;
    for (; *lines; lines++) {
        struct problem p = parse(*lines);
        char text[256];
        const char *outcome = check(text, &p);
        printf("%s: %s\n", *lines, outcome);
        fflush(stdout);
        wrong |= strcmp(outcome, "ok") != 0;
    }
    return wrong;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The fastest of at least five runs, for about a quarter of a second. */
static double fastest(const struct loaded *l, const struct tensor tensors[3])
{
    double best = 1e9, until = seconds() + 0.25;
    for (int i = 0; i < 5 || seconds() < until; i++) {
        double start = seconds();
        execute(l, tensors);
        double took = seconds() - start;
        best = took < best ? took : best;
    }
    return best;
}

static int time_lines(char **lines)
{
    for (; *lines; lines++) {
        struct problem p = parse(*lines);
        struct tensor tensors[3];
        struct loaded l;
        const char *why;
        double start = seconds();
        if (!load(&l, &p, &why))
            die("%s: %s", *lines, why);
        double compile = seconds() - start;
        fill(tensors, &p);
        double best = fastest(&l, tensors);
        printf("%-95s %10.0f ns %6.1f GFLOP/s, compile %3.0f ms\n", *lines, best * 1e9,
               (double)problem_flops(&p) / best * 1e-9, compile * 1e3);
        for (int i = 0; i < 3; i++)
            tensor_release(&tensors[i]);
        unload(&l);
    }
    return 0;
}

static bool looks_like_amd(const char *code, size_t size)
{
    const Elf64_Ehdr *head = (const void *)code;
    return size > sizeof *head && memcmp(code, ELFMAG, SELFMAG) == 0 && head->e_machine == 224 && head->e_type == ET_DYN &&
           memmem(code, size, "check_0.kd", 10);
}

static bool looks_like_ptx(const char *code, size_t size)
{
    return size > 0 && code[size - 1] == '\0' && strstr(code, ".visible .entry check_0(") && strstr(code, ".target sm_");
}

static int check_gpu(void)
{
    static const char *const targets[] = {"gfx906", "amdgcn-amd-amdhsa:gfx90a:sramecc+:xnack-", "gfx942", "gfx1030",
                                          "gfx1100", "gfx1201", "sm_70", "sm_80", "sm_90"};
    static const char *const directions[] = {"fwd f32", "fwd f16", "fwd bf16", "fwd i8", "bwd_data f32", "bwd_weight f32", "bwd_weight f16"};
    int wrong = 0;
    for (size_t t = 0; t < COUNT_OF(targets); t++)
        for (size_t d = 0; d < COUNT_OF(directions); d++) {
            char line[256];
            size_t size = 0;
            snprintf(line, sizeof line, "conv %s%s n2 c8 k8 g2 in9x9 fil3x3 str2x2 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw",
                     directions[d], strstr(directions[d], "i8") ? ":i8:i32" : "");
            struct problem p = parse(line);
            handle h = create(&p, targets[t], 0);
            CLEANUP(mem_free_ptr) char *code = h ? lower(h, &size) : NULL;
            bool good = code && (targets[t][0] == 's' ? looks_like_ptx(code, size) : looks_like_amd(code, size));
            if (!good)
                printf("%s: %s: %s\n", targets[t], directions[d], !h ? "refused" : !code ? "not lowered" : "looks wrong");
            if (h)
                miir.destroy(h);
            wrong |= !good;
        }
    return wrong;
}

static int expect(bool good, const char *what)
{
    if (!good)
        printf("wrong: %s\n", what);
    return !good;
}

static bool refused(const char *base, const char *more)
{
    char text[2048];
    snprintf(text, sizeof text, "%s%s", base, more);
    handle h = miir.create(text);
    if (h)
        miir.destroy(h);
    return h == NULL;
}

/* A key given again takes the later value, so one good string serves all. */
static int check_refusals(const char *good)
{
    static const char *const bad[] = {
        " --arch gfx000", " --arch x86-64-v9", " --arch sm_1", " --arch amdgcn-amd-amdhsa:sm_80", " --arch gfx906:turbo+",
         " --perf_config v2:4,8", " --perf_config v1:4,8x", " --perf_config 4,8",
        " --kernel_id 4", " --kernel_id -1", " --groupsize 3", " --out_h 7", " --in_layout NCHW", " --in_layout NGCHH",
        " --in_type fp64", " --in_type i8", " --in_h", " --in_h 8x", " --in_h 0", " --colour red", " --padding_h -1",
        " --operation gemm", " --arch x86-64-v2 --in_type f16 --fil_type f16 --out_type f16",
    };
    int wrong = 0;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        wrong |= expect(refused(good, bad[i]), bad[i]);
    return wrong;
}

static int check_api(void)
{
    struct problem p = parse("conv bwd_data f32 n1 c4 k4 g1 in8x8 fil1x1 str2x2 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw");
    struct buf text;
    size_t size = 0, global = 0, local = 0;
    buf_init(&text, BUF_MAX_LINE);
    if (spelling_print(&text, SPELLING_MIIR, &p, false) < 0)
        die("%s", err_message());
    buf_add_text(&text, " --arch x86-64-v3");
    int wrong = check_refusals(text.data);
    handle first = miir.create(text.data);
    wrong |= expect(refused("", "") && !miir.create(NULL), "an empty string is refused");
    wrong |= expect(miir.kernel_count(first) == 4, "stride 2x2 backward data has four kernels");
    wrong |= expect(miir.kernel_count(NULL) == -1 && miir.workspace_size(first) == 0, "no handle counts -1, no workspace");
    wrong |= expect(miir.destroy(NULL) == 1 && miir.lower_bin(NULL) == 1 && miir.lower_tuning(NULL) == 1, "NULL is an invalid parameter");
    wrong |= expect(miir.buffer(first, NULL, &size) == 2 && miir.dims(first, &global, &local) == 2, "nothing to give before lowering");
    wrong |= expect(miir.lower_tuning(first) == 0 && miir.dims(first, &global, &local) == 0 && global % local == 0, "dims after tuning");
    wrong |= expect(miir.lower_bin(first) == 0 && miir.buffer(first, NULL, NULL) == 1, "no buffer and no size");
    buf_add_text(&text, " --kernel_id 3");
    handle last = miir.create(text.data);
    wrong |= expect(last && miir.kernel_count(last) == 1, "a later kernel counts itself");
    wrong |= expect(miir.destroy(first) == 0 && miir.destroy(last) == 0, "handles end");
    buf_release(&text);
    return wrong;
}

int main(int argc, char **argv)
{
    if (getenv("PEBBLE_ARCH"))
        arch = getenv("PEBBLE_ARCH");
    if (getenv("PEBBLE_TUNING"))
        tuning = getenv("PEBBLE_TUNING");
    if (argc < 3) {
        fprintf(stderr, "usage: pebble_check LIB random COUNT SEED | line PROBLEM... | time PROBLEM... | gpu | api\n");
        return 2;
    }
    open_library(argv[1]);
    if (strcmp(argv[2], "random") == 0 && argc == 5)
        return check_random(atoi(argv[3]), strtoull(argv[4], NULL, 10));
    if (strcmp(argv[2], "line") == 0)
        return check_lines(argv + 3);
    if (strcmp(argv[2], "time") == 0)
        return time_lines(argv + 3);
    if (strcmp(argv[2], "gpu") == 0)
        return check_gpu();
    return strcmp(argv[2], "api") == 0 ? check_api() : 2;
}
