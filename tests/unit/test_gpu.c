/* gpu.c over hip-cpu, and hip-cpu through gpu.c: a real code object, compiled here, is loaded and
 * run. What only HIP's own entry points show (handles that are not alive, `extra`) is asked of the
 * provider directly. */
#include "test.h"

#include "src/gpu.h"
#include "src/mem.h"

#include <hip/hip_runtime_api.h>

#include <dlfcn.h>
#include <elf.h>
#include <fenv.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- code objects, compiled once ---- */

static const char kernels_source[] =
    "#include <stdint.h>\n"
    /* y[i] = a * x[i] + i, four elements a workgroup of a grid of x * y * z */
    "void saxpy(void **params, const uint32_t w[3]) {\n"
    "    float *y = *(float **)params[0]; const float *x = *(const float **)params[1];\n"
    "    float a = *(float *)params[2]; const uint32_t *grid = *(const uint32_t **)params[3];\n"
    "    uint32_t first = 4 * ((w[2] * grid[1] + w[1]) * grid[0] + w[0]);\n"
    "    for (uint32_t i = first; i < first + 4; i++) y[i] = a * x[i] + (float)i;\n"
    "}\n"
    "void past_the_end(void **params, const uint32_t w[3]) {\n"
    "    (*(volatile char **)params[0])[*(int64_t *)params[1]] = (char)w[0];\n"
    "}\n"
    "int not_a_kernel = 7;\n";

/* Calls libm without being linked to it, and spoils the floating-point environment when it is
 * loaded and when it runs. */
static const char math_source[] =
    "#include <stdint.h>\n#include <fenv.h>\n"
    "double fma(double, double, double);\n"
    "__attribute__((constructor)) static void spoil(void) { __builtin_ia32_ldmxcsr(0xffc0); }\n"
    "void product(void **params, const uint32_t w[3]) {\n"
    "    (void)w; *(*(double **)params[0]) = fma(2, 3, 1);\n"
    "    *(*(double **)params[0] + 1) = __builtin_ia32_stmxcsr() & 0xffc0;\n"
    "    __builtin_ia32_ldmxcsr(0xffc0);\n"
    "}\n";

static const char undefined_source[] =
    "void nowhere(void); void k(void **p, const unsigned *w) { (void)p; (void)w; nowhere(); }\n";

static char folder[] = "/tmp/assay-test-gpu-XXXXXX";
static void *kernels, *math_kernels, *undefined_kernels, *relocatable;
static size_t kernels_bytes;

static void *read_whole(const char *path, size_t *out_bytes)
{
    FILE *file = fopen(path, "rb");
    struct stat st;
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &st), 0);
    void *bytes = xmalloc((size_t)st.st_size);
    assert_int_equal(fread(bytes, 1, (size_t)st.st_size, file), (size_t)st.st_size);
    fclose(file);
    *out_bytes = (size_t)st.st_size;
    return bytes;
}

static void *compile(const char *name, const char *source, const char *flags, size_t *out_bytes)
{
    char path[256], command[1024];
    snprintf(path, sizeof path, "%s/%s.c", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(source, file);
    fclose(file);
    snprintf(command, sizeof command, "cc -O1 -fPIC %s -o %s/%s.so %s/%s.c", flags, folder, name,
             folder, name);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/%s.so", folder, name);
    return read_whole(path, out_bytes);
}

static int compile_all(void **state)
{
    (void)state;
    size_t bytes;
    assert_non_null(mkdtemp(folder));
    kernels = compile("kernels", kernels_source, "-shared -nostdlib", &kernels_bytes);
    math_kernels = compile("math", math_source, "-shared -nostdlib -fno-builtin -mno-avx", &bytes);
    undefined_kernels = compile("undefined", undefined_source, "-shared", &bytes);
    relocatable = compile("relocatable", kernels_source, "-c", &bytes);
    return 0;
}

static int remove_all(void **state)
{
    (void)state;
    char command[256];
    snprintf(command, sizeof command, "rm -r %s", folder);
    free(kernels);
    free(math_kernels);
    free(undefined_kernels);
    free(relocatable);
    return system(command);
}

static int clear_knobs(void **state)
{
    (void)state;
    unsetenv("ASSAY_HIP_CPU_FAIL");
    unsetenv("ASSAY_HIP_CPU_MEMORY");
    unsetenv("ASSAY_HIP_CPU_THREADS");
    unsetenv("ASSAY_HIP_CPU_ARCH");
    unsetenv("ASSAY_LIBDIR");
    return 0;
}

static struct gpu *open_cpu(void)
{
    struct gpu *g = NULL;
    assert_ok(gpu_open(&g, "hip-cpu", 0));
    return g;
}

/* ---- a whole session: what a worker does with a job ---- */

enum {
    GRID_X = 5,
    GRID_Y = 3,
    GRID_Z = 2,
    COUNT = 4 * GRID_X * GRID_Y * GRID_Z,
    BYTES = COUNT * (int)sizeof(float)
};

struct session {
    struct gpu *g;
    void *x, *y, *grid;
    struct gpu_module *module;
    struct gpu_event *start, *stop;
    float result[COUNT];
    int64_t ns;
};

static int run_session(struct session *s)
{
    struct gpu_facts facts;
    struct gpu_kernel *kernel = NULL;
    float x[COUNT], a = 2;
    uint32_t grid[3] = {GRID_X, GRID_Y, GRID_Z};
    void *params[] = {&s->y, &s->x, &a, &s->grid};
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(COUNT - i);
    int status;
    if ((status = gpu_open(&s->g, "hip-cpu", 0)) < 0 || (status = gpu_facts(&facts, s->g)) < 0 ||
        (status = gpu_malloc(&s->x, s->g, BYTES)) < 0 ||
        (status = gpu_malloc(&s->y, s->g, BYTES)) < 0 ||
        (status = gpu_malloc(&s->grid, s->g, sizeof grid)) < 0 ||
        (status = gpu_copy_in(s->g, s->x, x, BYTES)) < 0 ||
        (status = gpu_copy_in(s->g, s->grid, grid, sizeof grid)) < 0 ||
        (status = gpu_memset(s->g, s->y, 0xff, BYTES)) < 0 ||
        (status = gpu_module_load(&s->module, s->g, kernels)) < 0 ||
        (status = gpu_module_kernel(&kernel, s->g, s->module, "saxpy")) < 0 ||
        (status = gpu_event_create(&s->start, s->g)) < 0 ||
        (status = gpu_event_create(&s->stop, s->g)) < 0 ||
        (status = gpu_event_record(s->g, s->start)) < 0 ||
        (status = gpu_launch(s->g, kernel, (struct gpu_dims){GRID_X, GRID_Y, GRID_Z},
                             (struct gpu_dims){4, 1, 1}, 0, params)) < 0 ||
        (status = gpu_event_record(s->g, s->stop)) < 0 ||
        (status = gpu_event_elapsed(&s->ns, s->g, s->start, s->stop)) < 0 ||
        (status = gpu_synchronize(s->g)) < 0)
        return status;
    return gpu_copy_out(s->g, s->result, s->y, BYTES);
}

/* Give one thing back; a refusal is the session's error if it has none yet, and one refused once is
 * given back on the second try. */
#define GIVE_BACK(status, call)                                                                    \
    do {                                                                                           \
        int first_ = (call);                                                                       \
        if (first_ < 0 && (call) < 0) {                                                            \
        }                                                                                          \
        if ((status) == 0)                                                                         \
            (status) = first_;                                                                     \
    } while (0)

static int end_session(struct session *s, int status)
{
    if (s->start)
        GIVE_BACK(status, gpu_event_destroy(s->g, s->start));
    if (s->stop)
        GIVE_BACK(status, gpu_event_destroy(s->g, s->stop));
    if (s->module)
        GIVE_BACK(status, gpu_module_unload(s->g, s->module));
    if (s->g) {
        GIVE_BACK(status, gpu_free(s->g, s->x));
        GIVE_BACK(status, gpu_free(s->g, s->y));
        GIVE_BACK(status, gpu_free(s->g, s->grid));
    }
    gpu_close(s->g);
    return status;
}

static int whole_session(struct session *s)
{
    memset(s, 0, sizeof *s);
    return end_session(s, run_session(s));
}

static void assert_right(const struct session *s)
{
    for (int i = 0; i < COUNT; i++)
        assert_float_equal(s->result[i], 2.0f * (float)(COUNT - i) + (float)i, 0);
    assert_true(s->ns >= 0);
}

static void launch__runs_every_workgroup_once(void **state)
{
    (void)state;
    struct session s;
    assert_ok(whole_session(&s));
    assert_right(&s);
}

static void launch__splits_over_threads(void **state)
{
    (void)state;
    struct session s;
    setenv("ASSAY_HIP_CPU_THREADS", "4", 1);
    assert_ok(whole_session(&s));
    assert_right(&s);
    struct gpu *g = open_cpu();
    struct gpu_facts facts;
    assert_ok(gpu_facts(&facts, g));
    assert_int_equal(facts.compute_units, 4);
    gpu_close(g);
}

/* ---- the device ---- */

static void facts__name_a_cpu_level(void **state)
{
    (void)state;
    struct gpu *g = open_cpu();
    struct gpu_facts f;
    assert_ok(gpu_facts(&f, g));
    assert_int_equal(strncmp(f.arch, "x86-64-v", 8), 0);
    assert_int_equal(f.compute_units, 1);
    assert_int_equal(f.runtime_version, HIP_VERSION);
    assert_true(f.memory_bytes > 1 << 20);
    gpu_close(g);
}

static void facts__follow_the_knobs(void **state)
{
    (void)state;
    setenv("ASSAY_HIP_CPU_ARCH", "x86-64-v2", 1);
    setenv("ASSAY_HIP_CPU_MEMORY", "123456", 1);
    struct gpu *g = open_cpu();
    struct gpu_facts f;
    assert_ok(gpu_facts(&f, g));
    assert_string_equal(f.arch, "x86-64-v2");
    assert_int_equal(f.memory_bytes, 123456);
    gpu_close(g);
}

static void open__refuses_senseless_knobs(void **state)
{
    (void)state;
    static const char *const bad[][2] = {
        {"ASSAY_HIP_CPU_ARCH", "x86-64-v9"},
        {"ASSAY_HIP_CPU_ARCH", "native"},
        {"ASSAY_HIP_CPU_THREADS", "0"},
        {"ASSAY_HIP_CPU_THREADS", "1025"},
        {"ASSAY_HIP_CPU_THREADS", "two"},
        {"ASSAY_HIP_CPU_MEMORY", "-1"},
        {"ASSAY_HIP_CPU_MEMORY", "99999999999999999999999"},
        {"ASSAY_HIP_CPU_FAIL", "0"},
        {"ASSAY_HIP_CPU_FAIL", "hipMalloc"},
        {"ASSAY_HIP_CPU_FAIL", ":3"},
        {"ASSAY_HIP_CPU_FAIL", "hipMalloc:"},
        {"ASSAY_HIP_CPU_FAIL", "3++"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct gpu *g = NULL;
        clear_knobs(NULL);
        setenv(bad[i][0], bad[i][1], 1);
        assert_fails(gpu_open(&g, "hip-cpu", 0), ERR_FOREIGN, "hipInit: hipErrorInvalidValue (1)");
        assert_null(g);
    }
}

static void open__misses_library_entry_and_device(void **state)
{
    (void)state;
    struct gpu *g = NULL;
    assert_fails(gpu_open(&g, "libno-such-provider.so.1", 0), ERR_NOTFOUND,
                 "libno-such-provider.so.1");
    assert_fails(gpu_open(&g, "libm.so.6", 0), ERR_NOTFOUND,
                 "libm.so.6 lacks the entry point hipInit");
    assert_fails(gpu_open(&g, "hip-cpu", 1), ERR_NOTFOUND, "none with index 1");
    assert_fails(gpu_open(&g, "hip-cpu", -1), ERR_NOTFOUND, "none with index -1");
    assert_null(g);
    gpu_close(NULL);
}

/* The real runtime where it is installed: with a device it opens, without one it says so. It stays
 * out of this process. */
static void open__amd_runtime_speaks_clearly(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        struct gpu *g = NULL;
        int status = gpu_open(&g, "libamdhip64.so.5", 0);
        bool is_clear = status == 0 ||
                        (status == ERR_NOTFOUND && strstr(err_message(), "libamdhip64.so.5")) ||
                        (status == ERR_FOREIGN && strncmp(err_message(), "hip", 3) == 0);
        if (!is_clear)
            fprintf(stderr, "%d: %s\n", status, err_message());
        _exit(is_clear ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- memory ---- */

static void memory__copies_and_fills(void **state)
{
    (void)state;
    struct gpu *g = open_cpu();
    void *device = NULL;
    char in[100], out[100];
    memset(in, 'x', sizeof in);
    assert_ok(gpu_malloc(&device, g, 100));
    assert_int_equal((uintptr_t)device % 64, 0);
    assert_ok(gpu_copy_in(g, device, in, 100));
    assert_ok(gpu_memset(g, (char *)device + 10, 'y', 80));
    assert_ok(gpu_copy_out(g, out, device, 100));
    for (int i = 0; i < 100; i++)
        assert_int_equal(out[i], i >= 10 && i < 90 ? 'y' : 'x');
    assert_ok(gpu_free(g, device));
    assert_ok(gpu_free(g, NULL));
    gpu_close(g);
}

static void memory__refuses_what_leaves_an_allocation(void **state)
{
    (void)state;
    struct gpu *g = open_cpu();
    char *device = NULL, host[256] = {0};
    assert_ok(gpu_malloc((void **)&device, g, 100));
    assert_fails(gpu_copy_in(g, device, host, 101), ERR_FOREIGN,
                 "hipMemcpyAsync: hipErrorInvalidValue (1)");
    assert_fails(gpu_copy_in(g, device + 1, host, 100), ERR_FOREIGN, "hipMemcpyAsync");
    assert_fails(gpu_copy_in(g, device - 1, host, 1), ERR_FOREIGN, "hipMemcpyAsync");
    assert_fails(gpu_copy_in(g, device, host, SIZE_MAX), ERR_FOREIGN, "hipMemcpyAsync");
    assert_fails(gpu_copy_out(g, host, device + 100, 1), ERR_FOREIGN, "hipMemcpyAsync");
    assert_fails(gpu_copy_in(g, host, host, 1), ERR_FOREIGN, "hipErrorInvalidDevicePointer (17)");
    assert_fails(gpu_memset(g, device + 50, 0, 51), ERR_FOREIGN, "hipMemsetAsync");
    assert_fails(gpu_memset(g, host, 0, 1), ERR_FOREIGN, "hipErrorInvalidDevicePointer");
    assert_fails(gpu_free(g, device + 64), ERR_FOREIGN,
                 "hipFree: hipErrorInvalidDevicePointer (17)");
    assert_fails(gpu_free(g, host), ERR_FOREIGN, "hipFree");
    assert_ok(gpu_free(g, device));
    assert_fails(gpu_free(g, device), ERR_FOREIGN, "hipFree");
    assert_string_equal(gpu_failed_call(), "hipFree");
    assert_int_equal(gpu_failed_code(), hipErrorInvalidDevicePointer);
    gpu_close(g);
}

static void memory__is_limited(void **state)
{
    (void)state;
    setenv("ASSAY_HIP_CPU_MEMORY", "1000", 1);
    struct gpu *g = open_cpu();
    void *a = NULL, *b = NULL;
    assert_ok(gpu_malloc(&a, g, 600));
    assert_fails(gpu_malloc(&b, g, 401), ERR_FOREIGN, "hipMalloc: hipErrorOutOfMemory (2)");
    assert_fails(gpu_malloc(&b, g, SIZE_MAX), ERR_FOREIGN, "hipErrorOutOfMemory");
    assert_ok(gpu_malloc(&b, g, 400));
    assert_ok(gpu_free(g, a));
    assert_ok(gpu_free(g, b));
    assert_ok(gpu_malloc(&a, g, 1000));
    assert_ok(gpu_free(g, a));
    assert_ok(gpu_malloc(&a, g, 0));
    assert_null(a);
    gpu_close(g);
}

/* How a child ends in which a kernel writes one byte at this offset of an allocation: its signal, 0
 * if it lived. */
static int signal_of_write_at(int64_t offset, size_t bytes)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* not cmocka's and not the sanitizer's */
        struct gpu *g = NULL;
        struct gpu_module *m = NULL;
        struct gpu_kernel *k = NULL;
        void *device = NULL;
        void *params[] = {&device, &offset};
        struct gpu_dims one = {1, 1, 1};
        _exit(gpu_open(&g, "hip-cpu", 0) < 0 || gpu_malloc(&device, g, bytes) < 0 ||
              gpu_module_load(&m, g, kernels) < 0 ||
              gpu_module_kernel(&k, g, m, "past_the_end") < 0 ||
              gpu_launch(g, k, one, one, 0, params) < 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        return WTERMSIG(status);
    assert_int_equal(WEXITSTATUS(status), 0);
    return 0;
}

static void memory__has_guard_pages(void **state)
{
    (void)state;
    assert_int_equal(signal_of_write_at(63, 64), 0);
    assert_int_equal(signal_of_write_at(64, 64), SIGSEGV);
    assert_int_equal(signal_of_write_at(4096, 4096), SIGSEGV);
    assert_int_equal(signal_of_write_at(4095, 4096), 0);
    assert_int_equal(signal_of_write_at(-1, 4096), SIGSEGV);
    assert_int_equal(signal_of_write_at(128, 100), SIGSEGV); /* 100 rounds up to 128 */
    assert_int_equal(signal_of_write_at(-4096, 100), SIGSEGV);
}

/* ---- modules and kernels ---- */

static void module__refuses_bad_images(void **state)
{
    (void)state;
    struct gpu *g = open_cpu();
    struct gpu_module *m = NULL;
    char text[64] = "not a code object";
    assert_fails(gpu_module_load(&m, g, text), ERR_FOREIGN,
                 "hipModuleLoadData: hipErrorInvalidImage (200)");
    assert_fails(gpu_module_load(&m, g, NULL), ERR_FOREIGN, "hipErrorInvalidValue");
    assert_fails(gpu_module_load(&m, g, relocatable), ERR_FOREIGN, "hipErrorInvalidImage");
    assert_fails(gpu_module_load(&m, g, undefined_kernels), ERR_FOREIGN,
                 "hipErrorSharedObjectSymbolNotFound (302)");
    assert_null(m);
    gpu_close(g);
}

/* One field of the ELF header of a good object is replaced. */
#define WITH_FIELD(g, member, value, message)                                                      \
    do {                                                                                           \
        struct gpu_module *module_ = NULL;                                                         \
        memcpy(copy, kernels, kernels_bytes);                                                      \
        ((Elf64_Ehdr *)(void *)copy)->member = (value);                                            \
        assert_fails(gpu_module_load(&module_, (g), copy), ERR_FOREIGN, (message));                \
    } while (0)

static void module__refuses_broken_headers(void **state)
{
    (void)state;
    struct gpu *g = open_cpu();
    char *copy = xmalloc(kernels_bytes);
    WITH_FIELD(g, e_machine, EM_AMDGPU, "hipErrorNoBinaryForGpu (209)");
    WITH_FIELD(g, e_ident[EI_CLASS], ELFCLASS32, "hipErrorNoBinaryForGpu");
    WITH_FIELD(g, e_type, ET_EXEC, "hipErrorInvalidImage");
    WITH_FIELD(g, e_phnum, 0, "hipErrorInvalidImage");
    WITH_FIELD(g, e_phnum, PN_XNUM, "hipErrorInvalidImage");
    WITH_FIELD(g, e_phentsize, 1, "hipErrorInvalidImage");
    WITH_FIELD(g, e_phoff, UINT64_MAX - 8, "hipErrorInvalidImage");
    WITH_FIELD(g, e_phoff, (uint64_t)1 << 40, "hipErrorInvalidImage");
    WITH_FIELD(g, e_shoff, UINT64_MAX - 8, "hipErrorInvalidImage");
    WITH_FIELD(g, e_shoff, 8, "hipErrorInvalidImage");
    WITH_FIELD(g, e_shentsize, 63, "hipErrorInvalidImage");
    WITH_FIELD(g, e_shstrndx, 0xfff0, "hipErrorInvalidImage");
    free(copy);
    gpu_close(g);
}

/* A truncated object whose tail is zeros, and one that ends where nothing is mapped. */
static void module__survives_truncation(void **state)
{
    (void)state;
    struct gpu *g = open_cpu();
    struct gpu_module *m = NULL;
    char *copy = xcalloc(1, kernels_bytes);
    memcpy(copy, kernels, kernels_bytes / 2);
    assert_fails(gpu_module_load(&m, g, copy), ERR_FOREIGN, "hipErrorInvalidImage");
    free(copy);
    char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(munmap(pages + 4096, 4096), 0);
    memcpy(pages, kernels, 4096);
    assert_fails(gpu_module_load(&m, g, pages), ERR_FOREIGN, "hipErrorInvalidImage");
    memcpy(pages + 4096 - 32, kernels, 32); /* not even a header */
    assert_fails(gpu_module_load(&m, g, pages + 4096 - 32), ERR_FOREIGN, "hipErrorInvalidImage");
    munmap(pages, 4096);
    gpu_close(g);
}

static void module__loads_without_sections(void **state)
{
    (void)state;
    struct gpu *g = open_cpu();
    struct gpu_module *m = NULL;
    struct gpu_kernel *k = NULL;
    char *copy = xmalloc(kernels_bytes);
    memcpy(copy, kernels, kernels_bytes);
    Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)copy;
    header->e_shnum = header->e_shstrndx = 0;
    header->e_shoff = 0;
    assert_ok(gpu_module_load(&m, g, copy));
    assert_ok(gpu_module_kernel(&k, g, m, "saxpy"));
    assert_ok(gpu_module_unload(g, m));
    free(copy);
    gpu_close(g);
}

static void module__knows_its_kernels_only(void **state)
{
    (void)state;
    struct gpu *g = open_cpu();
    struct gpu_module *m = NULL;
    struct gpu_kernel *k = NULL;
    assert_ok(gpu_module_load(&m, g, kernels));
    assert_fails(gpu_module_kernel(&k, g, m, "no_such"), ERR_FOREIGN,
                 "no_such: hipModuleGetFunction: hipErrorNotFound (500)");
    assert_fails(gpu_module_kernel(&k, g, m, "not_a_kernel"), ERR_FOREIGN, "hipErrorNotFound");
    assert_null(k);
    assert_ok(gpu_module_unload(g, m));
    assert_fails(gpu_module_unload(g, m), ERR_FOREIGN,
                 "hipModuleUnload: hipErrorInvalidHandle (400)");
    /* What a linked library exports is no kernel of the object. */
    size_t bytes;
    void *linked = compile("linked", kernels_source, "-shared -Wl,--no-as-needed -lm", &bytes);
    assert_ok(gpu_module_load(&m, g, linked));
    assert_ok(gpu_module_kernel(&k, g, m, "saxpy"));
    assert_fails(gpu_module_kernel(&k, g, m, "setenv"), ERR_FOREIGN, "hipErrorNotFound");
    assert_ok(gpu_module_unload(g, m));
    free(linked);
    gpu_close(g);
}

/* Two objects with the same names and different code: the loader must not take one for the other,
 * at once or in turn. */
static void module__keeps_twins_apart(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "void k(void **p, const unsigned *w) { (void)w; **(int **)p[0] = 1; }\n",
        "void k(void **p, const unsigned *w) { (void)w; **(int **)p[0] = 2; }\n",
        /* never unloaded: its path stays known to the loader */
        "void k(void **p, const unsigned *w) { (void)w; **(int **)p[0] = 3; }\n",
    };
    struct gpu *g = open_cpu();
    struct gpu_module *m[4] = {NULL};
    struct gpu_dims one = {1, 1, 1};
    void *images[3], *device = NULL;
    size_t bytes;
    for (int i = 0; i < 3; i++)
        images[i] =
            compile("twin", sources[i], i == 2 ? "-shared -Wl,-z,nodelete" : "-shared", &bytes);
    assert_ok(gpu_malloc(&device, g, sizeof(int)));
    static const int order[] = {0, 1, 2, 0, 1, 2, 1};
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        struct gpu_kernel *k = NULL;
        int got = 0;
        void *params[] = {&device};
        struct gpu_module **slot = &m[i % 2];
        if (*slot)
            assert_ok(gpu_module_unload(g, *slot));
        assert_ok(gpu_module_load(slot, g, images[order[i]]));
        assert_ok(gpu_module_kernel(&k, g, *slot, "k"));
        assert_ok(gpu_launch(g, k, one, one, 0, params));
        assert_ok(gpu_copy_out(g, &got, device, sizeof got));
        assert_int_equal(got, order[i] + 1);
    }
    assert_ok(gpu_module_unload(g, m[0]));
    assert_ok(gpu_module_unload(g, m[1]));
    assert_ok(gpu_free(g, device));
    for (int i = 0; i < 3; i++)
        free(images[i]);
    gpu_close(g);
}

static void module__cannot_spoil_arithmetic(void **state)
{
    (void)state;
    struct gpu *g = open_cpu();
    struct gpu_module *m = NULL;
    struct gpu_kernel *k = NULL;
    struct gpu_dims one = {1, 1, 1};
    void *device = NULL;
    double got[2];
    void *params[] = {&device};
    assert_ok(gpu_malloc(&device, g, sizeof got));
    assert_ok(gpu_module_load(&m, g, math_kernels));
    assert_int_equal(__builtin_ia32_stmxcsr() & 0xffc0, 0x1f80);
    assert_ok(gpu_module_kernel(&k, g, m, "product"));
    assert_ok(gpu_launch(g, k, one, one, 0, params));
    assert_int_equal(__builtin_ia32_stmxcsr() & 0xffc0, 0x1f80);
    /* nor does the kernel see ours: here rounding towards zero */
    assert_int_equal(fesetround(FE_TOWARDZERO), 0);
    assert_ok(gpu_launch(g, k, one, one, 0, params));
    assert_int_equal(fegetround(), FE_TOWARDZERO);
    assert_int_equal(fesetround(FE_TONEAREST), 0);
    assert_ok(gpu_copy_out(g, got, device, sizeof got));
    assert_true(got[0] == 7.0);
    assert_true(got[1] == 0x1f80);
    assert_ok(gpu_module_unload(g, m));
    assert_ok(gpu_free(g, device));
    gpu_close(g);
}

static void launch__checks_its_arguments(void **state)
{
    (void)state;
    struct gpu *g = open_cpu();
    struct gpu_module *m = NULL;
    struct gpu_kernel *k = NULL;
    struct gpu_dims one = {1, 1, 1};
    void *params[] = {NULL};
    assert_ok(gpu_module_load(&m, g, kernels));
    assert_ok(gpu_module_kernel(&k, g, m, "saxpy"));
    static const struct gpu_dims bad_blocks[] = {{0, 1, 1},    {1, 0, 1},   {1, 1, 0},
                                                 {1025, 1, 1}, {32, 32, 2}, {1U << 31, 2, 1}};
    static const struct gpu_dims bad_grids[] = {
        {0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1U << 31, 1, 1}, {0x7fffffff, 0x7fffffff, 0x7fffffff}};
    for (size_t i = 0; i < COUNT_OF(bad_blocks); i++)
        assert_fails(gpu_launch(g, k, one, bad_blocks[i], 0, params), ERR_FOREIGN,
                     "hipErrorInvalidConfiguration (9)");
    for (size_t i = 0; i < COUNT_OF(bad_grids); i++)
        assert_fails(gpu_launch(g, k, bad_grids[i], one, 0, params), ERR_FOREIGN,
                     "hipErrorInvalidConfiguration (9)");
    assert_fails(gpu_launch(g, k, one, one, 0, NULL), ERR_FOREIGN,
                 "hipModuleLaunchKernel: hipErrorInvalidValue (1)");
    assert_fails(gpu_launch(g, k, one, one, 1 << 20, params), ERR_FOREIGN, "hipErrorInvalidValue");
    assert_ok(gpu_module_unload(g, m));
    assert_fails(gpu_launch(g, k, one, one, 0, params), ERR_FOREIGN, "hipErrorInvalidHandle (400)");
    gpu_close(g);
}

static void event__needs_recording(void **state)
{
    (void)state;
    struct gpu *g = open_cpu();
    struct gpu_event *a = NULL, *b = NULL;
    int64_t ns = -1;
    assert_ok(gpu_event_create(&a, g));
    assert_ok(gpu_event_create(&b, g));
    assert_ok(gpu_event_record(g, a));
    assert_fails(gpu_event_elapsed(&ns, g, a, b), ERR_FOREIGN,
                 "hipEventElapsedTime: hipErrorInvalidHandle (400)");
    assert_int_equal(ns, -1);
    assert_ok(gpu_event_record(g, b));
    assert_ok(gpu_event_elapsed(&ns, g, a, b));
    assert_true(ns >= 0);
    assert_ok(gpu_event_destroy(g, a));
    assert_fails(gpu_event_record(g, a), ERR_FOREIGN, "hipEventRecord");
    assert_fails(gpu_event_elapsed(&ns, g, b, a), ERR_FOREIGN, "hipEventSynchronize");
    assert_fails(gpu_event_destroy(g, a), ERR_FOREIGN, "hipEventDestroy");
    assert_ok(gpu_event_destroy(g, b));
    gpu_close(g);
}

/* ---- the provider's own face ---- */

/* The provider is loaded for good once gpu.c opened it: its path stands in the process's map. */
static void *provider_handle(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096];
    void *library = NULL;
    gpu_close(open_cpu());
    assert_non_null(maps);
    while (!library && fgets(line, sizeof line, maps)) {
        char *path = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        if (path && strstr(path, "libassay-hip-cpu.so"))
            library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
    }
    fclose(maps);
    assert_non_null(library);
    return library;
}

#define ENTRY(library, name) ((__typeof__(name) *)dlsym((library), #name))

static void provider__answers_hip_itself(void **state)
{
    (void)state;
    void *library = provider_handle();
    int number = -1;
    size_t size = 0;
    void *device = NULL;
    char *host = "host", back[8] = {0};
    assert_int_equal(ENTRY(library, hipGetDevice)(&number), hipSuccess);
    assert_int_equal(number, 0);
    assert_int_equal(ENTRY(library, hipSetDevice)(1), hipErrorInvalidDevice);
    assert_int_equal(ENTRY(library, hipPeekAtLastError)(), hipErrorInvalidDevice);
    assert_int_equal(ENTRY(library, hipGetLastError)(), hipErrorInvalidDevice);
    assert_int_equal(ENTRY(library, hipGetLastError)(), hipSuccess);
    assert_int_equal(ENTRY(library, hipInit)(1), hipErrorInvalidValue);
    assert_int_equal(ENTRY(library, hipDeviceTotalMem)(&size, 0), hipSuccess);
    assert_true(size > 0);
    assert_int_equal(
        ENTRY(library, hipDeviceGetAttribute)(&number, hipDeviceAttributeMaxThreadsPerBlock, 0),
        hipSuccess);
    assert_int_equal(number, 1024);
    assert_int_equal(
        ENTRY(library, hipDeviceGetAttribute)(&number, hipDeviceAttributeEccEnabled, 0),
        hipErrorInvalidValue);
    assert_int_equal(ENTRY(library, hipMalloc)(&device, 5), hipSuccess);
    assert_int_equal(ENTRY(library, hipMemset)(device, 0, 5), hipSuccess);
    assert_int_equal(ENTRY(library, hipMemcpy)(device, host, 5, hipMemcpyHostToDevice), hipSuccess);
    assert_int_equal(ENTRY(library, hipMemcpy)(back, device, 5, hipMemcpyDefault), hipSuccess);
    assert_string_equal(back, "host");
    assert_int_equal(ENTRY(library, hipMemcpy)(back, device, 6, hipMemcpyDefault),
                     hipErrorInvalidValue);
    assert_int_equal(ENTRY(library, hipMemcpy)(back, device, 5, (hipMemcpyKind)9),
                     hipErrorInvalidMemcpyDirection);
    assert_int_equal(ENTRY(library, hipFree)(device), hipSuccess);
    assert_int_equal(ENTRY(library, hipStreamSynchronize)((hipStream_t)&number),
                     hipErrorInvalidHandle);
    assert_int_equal(ENTRY(library, hipStreamDestroy)(NULL), hipErrorInvalidHandle);
    assert_int_equal(ENTRY(library, hipDeviceSynchronize)(), hipSuccess);
    assert_string_equal(ENTRY(library, hipGetErrorString)(hipErrorNotFound), "no such name");
    assert_string_equal(ENTRY(library, hipGetErrorName)((hipError_t)4711), "hipErrorUnknown");
    dlclose(library);
}

static void provider__refuses_extra(void **state)
{
    (void)state;
    void *library = provider_handle();
    hipModule_t m = NULL;
    hipFunction_t f = NULL;
    void *params[] = {NULL}, *extra[] = {NULL};
    assert_int_equal(ENTRY(library, hipModuleLoadData)(&m, kernels), hipSuccess);
    assert_int_equal(ENTRY(library, hipModuleGetFunction)(&f, m, "saxpy"), hipSuccess);
    assert_int_equal(
        ENTRY(library, hipModuleLaunchKernel)(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, extra),
        hipErrorNotSupported);
    assert_int_equal(ENTRY(library, hipModuleUnload)(m), hipSuccess);
    dlclose(library);
}

/* Both layouts of hipDeviceProp_t hold the same facts. */
static void provider__writes_both_layouts(void **state)
{
    (void)state;
    void *library = provider_handle();
    hipError_t (*newer)(void *, int) =
        (hipError_t(*)(void *, int))dlsym(library, "hipGetDevicePropertiesR0600");
    hipError_t (*older)(void *, int) =
        (hipError_t(*)(void *, int))dlsym(library, "hipGetDeviceProperties");
    char new_bytes[1472 + 1], old_bytes[792 + 1];
    memset(new_bytes, '#', sizeof new_bytes);
    memset(old_bytes, '#', sizeof old_bytes);
    assert_int_equal(newer(new_bytes, 0), hipSuccess);
    assert_int_equal(older(old_bytes, 0), hipSuccess);
    assert_int_equal(newer(new_bytes, 1), hipErrorInvalidDevice);
    assert_int_equal(older(NULL, 0), hipErrorInvalidValue);
    assert_int_equal(new_bytes[1472], '#');
    assert_int_equal(old_bytes[792], '#');
    assert_string_equal(new_bytes, old_bytes);
    assert_string_equal(new_bytes + 1160, old_bytes + 396);
    assert_int_equal(strncmp(new_bytes + 1160, "x86-64-v", 8), 0);
    dlclose(library);
}

static void provider__exports_hip_alone(void **state)
{
    (void)state;
    void *library = provider_handle();
    static const char *const inner[] = {"image_copy", "device_get", "fault_strikes", "call_begin",
                                        "properties_r0600"};
    for (size_t i = 0; i < COUNT_OF(inner); i++)
        assert_null(dlsym(library, inner[i]));
    dlclose(library);
}

/* ---- faults ---- */

static void fault__of_one_entry_point(void **state)
{
    (void)state;
    void *a = NULL, *b = NULL, *c = NULL;
    setenv("ASSAY_HIP_CPU_FAIL", "hipMalloc:2", 1);
    struct gpu *g = open_cpu();
    assert_ok(gpu_malloc(&a, g, 1));
    assert_fails(gpu_malloc(&b, g, 1), ERR_FOREIGN, "hipMalloc: hipErrorUnknown (999)");
    assert_ok(gpu_malloc(&c, g, 1));
    gpu_close(g);
    setenv("ASSAY_HIP_CPU_FAIL", "hipFree:2+", 1);
    g = open_cpu();
    assert_ok(gpu_free(g, a));
    assert_fails(gpu_free(g, c), ERR_FOREIGN, "hipFree: hipErrorUnknown (999)");
    assert_fails(gpu_free(g, c), ERR_FOREIGN, "hipFree");
    gpu_close(g);
    unsetenv("ASSAY_HIP_CPU_FAIL");
    g = open_cpu();
    assert_ok(gpu_free(g, c));
    gpu_close(g);
}

static int open_descriptors(void)
{
    int count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void assert_named_failure(int n, int status)
{
    if (status != ERR_FOREIGN || err_code() != ERR_FOREIGN)
        fail_msg("call %d: status %d: %s", n, status, err_message());
    assert_int_equal(gpu_failed_code(), hipErrorUnknown);
    assert_int_equal(strncmp(gpu_failed_call(), "hip", 3), 0);
    if (!strstr(err_message(), ": hipErrorUnknown (999)") ||
        !strstr(err_message(), gpu_failed_call()))
        fail_msg("call %d: %s lacks %s", n, err_message(), gpu_failed_call());
}

/* The memory is just enough for one session and the clean session after each faulty one gets it: so
 * nothing was left allocated. Under the address sanitizer the process's end shows leaks of the
 * heap. */
static void fault__once_leaves_nothing(void **state)
{
    (void)state;
    struct session s;
    char memory[32], plan[32];
    snprintf(memory, sizeof memory, "%d", 2 * BYTES + 12);
    setenv("ASSAY_HIP_CPU_MEMORY", memory, 1);
    int descriptors = open_descriptors(), n = 1;
    for (;; n++) {
        snprintf(plan, sizeof plan, "%d", n);
        setenv("ASSAY_HIP_CPU_FAIL", plan, 1);
        err_clear();
        int status = whole_session(&s);
        if (status == 0)
            break;
        assert_named_failure(n, status);
        unsetenv("ASSAY_HIP_CPU_FAIL");
        assert_ok(whole_session(&s));
        assert_right(&s);
        assert_int_equal(open_descriptors(), descriptors);
    }
    assert_right(&s);
    assert_in_range(n, 35, 60); /* every call of the session was hit */
}

static void fault__from_then_on_is_named(void **state)
{
    (void)state;
    struct session s;
    int n = 1;
    for (;; n++) {
        char plan[32];
        snprintf(plan, sizeof plan, "%d+", n);
        setenv("ASSAY_HIP_CPU_FAIL", plan, 1);
        err_clear();
        int status = whole_session(&s);
        if (status == 0)
            break;
        assert_named_failure(n, status);
    }
    assert_right(&s);
    assert_in_range(n, 35, 60);
}

static void open__finds_hip_cpu_by_folder(void **state)
{
    (void)state;
    struct gpu *g = NULL;
    char path[512];
    /* A file of that name that is no library is taken first when ASSAY_LIBDIR says so, which shows
     * the order. */
    snprintf(path, sizeof path, "%s/libassay-hip-cpu.so", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    setenv("ASSAY_LIBDIR", folder, 1);
    assert_fails(gpu_open(&g, "hip-cpu", 0), ERR_NOTFOUND, path);
    setenv("ASSAY_LIBDIR", "/no/such/folder", 1);
    assert_ok(gpu_open(&g, "hip-cpu", 0));
    gpu_close(g);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, clear_knobs, clear_knobs)
    const struct CMUnitTest tests[] = {
        TEST(launch__runs_every_workgroup_once),
        TEST(launch__splits_over_threads),
        TEST(launch__checks_its_arguments),
        TEST(facts__name_a_cpu_level),
        TEST(facts__follow_the_knobs),
        TEST(open__refuses_senseless_knobs),
        TEST(open__misses_library_entry_and_device),
        TEST(open__amd_runtime_speaks_clearly),
        TEST(open__finds_hip_cpu_by_folder),
        TEST(memory__copies_and_fills),
        TEST(memory__refuses_what_leaves_an_allocation),
        TEST(memory__is_limited),
        TEST(memory__has_guard_pages),
        TEST(module__refuses_bad_images),
        TEST(module__refuses_broken_headers),
        TEST(module__survives_truncation),
        TEST(module__loads_without_sections),
        TEST(module__knows_its_kernels_only),
        TEST(module__keeps_twins_apart),
        TEST(module__cannot_spoil_arithmetic),
        TEST(event__needs_recording),
        TEST(provider__answers_hip_itself),
        TEST(provider__refuses_extra),
        TEST(provider__writes_both_layouts),
        TEST(provider__exports_hip_alone),
        TEST(fault__of_one_entry_point),
        TEST(fault__once_leaves_nothing),
        TEST(fault__from_then_on_is_named),
    };
    return cmocka_run_group_tests(tests, compile_all, remove_all);
}
