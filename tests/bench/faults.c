/* faults: which planted faults are seen, by our verdicts and by the gates of others. A device is
 * simulated that is right but for one fault; whether the fault is visible at all is decided
 * beforehand, by comparing the two results element by element. No clock is read. bench_faults OUT
 * [COUNT]: COUNT faults of each kind (default 1000); writes OUT/faults.json.
 *
 * data     integer, real: ours. sparse: benchdnn's rule, whole numbers up to 32 (f32) or 4, of
 *          which only so many are not 0 that the worst sum fits the result's type; its gate is
 *          equality, so "visible" is what it catches
 * visible  integer and sparse data: an element differs. Real data: an element differs by more than
 *          2 (f16, bf16) or 256 (f32) units in its last place
 * ours     verify_result: projection on whole numbers, the derived bound on real data
 * others   on real data: MIOpenDriver's rms of 1.5e-6, 8.2e-3, 6.56e-2; 80 eps of MIOpen's ctest
 *          and MIGraphX; rocMLIR's rms of 3e-5 (facts/reference.md 1.1); PyTorch's assert_close
 *          with rtol 1.3e-6, 1e-3, 1.6e-2, atol 1e-5
 */
#include "reference/verify.h"
#include "src/fs.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { C = 64, K = 32, SIZE = 28, PIXELS = SIZE * SIZE, TAPS = 9 };

static uint64_t state = 20261201;

static uint64_t draw(void)
{
    state += 0x9e3779b97f4a7c15;
    uint64_t x = state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static int64_t pick(int64_t below)
{
    return (int64_t)(draw() % (uint64_t)below);
}

struct bench {
    struct problem p;
    struct tensor t[3];
    struct conv_answer answer;
    double *right; /* what a right device gives */
    enum data_kind kind;
    enum dtype dtype;
};

static const struct {
    const char *name;
    enum data_kind kind;
    bool sparse;
} fills[] = {
    {"integer", DATA_INTEGER, false}, {"real", DATA_REAL, false}, {"sparse", DATA_INTEGER, true}};

/* Whole numbers, 0 where the lot says so. */
static void fill_sparse(struct tensor *t, int64_t largest, double density)
{
    for (int64_t i = 0; i < t->elements; i++) {
        bool there = (double)(draw() >> 11) * 0x1p-53 < density;
        tensor_set(t, i, there ? (double)(pick(2 * largest + 1) - largest) : 0);
    }
}

static void fill_operand(struct bench *b, enum operand o, bool sparse)
{
    static const int64_t largest[] = {32, 4, 4}, holds[] = {1 << 24, 1 << 11, 1 << 8};
    int64_t l = largest[b->dtype];
    if (!sparse)
        data_fill(&b->t[o], &b->p, o, b->kind, 1, 24);
    else
        fill_sparse(
            &b->t[o], l,
            o == OPERAND_INPUT ? fmin(1, (double)holds[b->dtype] / (double)(l * l * C * TAPS)) : 1);
}

static void set_up(struct bench *b, enum dtype dtype, enum data_kind kind, bool sparse)
{
    char line[PROBLEM_MAX_TEXT];
    snprintf(line, sizeof line,
             "conv fwd %s n1 c%d k%d g1 in%dx%d fil3x3 str1x1 dil1x1 pad1:1x1:1 ngchw gkcyx ngkhw",
             dtype_name(dtype), C, K, SIZE, SIZE);
    *b = (struct bench){.kind = kind, .dtype = dtype};
    if (problem_parse(&b->p, line) < 0)
        die("%s", err_message());
    for (enum operand o = OPERAND_INPUT; o <= OPERAND_OUTPUT; o++) {
        tensor_init(&b->t[o], &b->p, o);
        if (o != OPERAND_OUTPUT)
            fill_operand(b, o, sparse);
    }
    if (conv_reference(&b->answer, &b->p, b->t, NULL) < 0)
        die("%s", err_message());
    b->right = xcalloc((size_t)b->answer.elements, sizeof *b->right);
    for (int64_t i = 0; i < b->answer.elements; i++)
        b->right[i] = tensor_round(dtype, (double)(float)b->answer.value[i]);
}

static void tear_down(struct bench *b)
{
    for (int o = 0; o < 3; o++)
        tensor_release(&b->t[o]);
    conv_answer_release(&b->answer);
    free(b->right);
}

static double input(const struct bench *b, int64_t c, int64_t h, int64_t w)
{
    return tensor_get(&b->t[OPERAND_INPUT], (c * SIZE + h) * SIZE + w);
}

static double filter(const struct bench *b, int64_t k, int64_t c, int64_t tap)
{
    return tensor_get(&b->t[OPERAND_FILTER], (k * C + c) * TAPS + tap);
}

/* y += value, rounded as the device would. */
static void add(struct bench *b, int64_t k, int64_t pixel, double value)
{
    int64_t at = k * PIXELS + pixel;
    tensor_set(&b->t[OPERAND_OUTPUT], at, (double)(float)(b->answer.value[at] + value));
}

static double get(const struct bench *b, int64_t at)
{
    return tensor_get(&b->t[OPERAND_OUTPUT], at);
}

static void set(struct bench *b, int64_t at, double value)
{
    tensor_set(&b->t[OPERAND_OUTPUT], at, value);
}

static double last_place(enum dtype t, double value)
{
    static const int digits[] = {24, 11, 8};
    int exponent;
    frexp(value, &exponent);
    double place = ldexp(1, exponent - digits[t]), least[] = {0x1p-149, 0x1p-24, 0x1p-133};
    return place > least[t] ? place : least[t];
}

static void one_element(struct bench *b)
{
    int64_t at = pick(K * PIXELS);
    set(b, at, 2 * get(b, at));
}

/* One of the upper half of the mantissa's bits. */
static void bit_flip(struct bench *b)
{
    struct tensor *t = &b->t[OPERAND_OUTPUT];
    static const int bits[] = {23, 10, 7};
    int64_t at = pick(K * PIXELS);
    uint8_t *bytes = (uint8_t *)t->data + (size_t)at * dtype_bytes(b->dtype);
    int bit = bits[b->dtype] - 1 - (int)pick(bits[b->dtype] / 2);
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
}

static void cancelling_pair(struct bench *b)
{
    int64_t at = pick(K * PIXELS), to = pick(K * PIXELS);
    double places = fmax(last_place(b->dtype, get(b, at)), last_place(b->dtype, get(b, to)));
    double d = fmax(4 * places, b->kind == DATA_REAL ? 0.25 : 1);
    set(b, at, get(b, at) + d);
    set(b, to, get(b, to) - d);
}

static void exchanged_tiles(struct bench *b)
{
    int64_t k = pick(K / 8) * 8, p = pick(PIXELS / 16) * 16, other = pick(PIXELS / 16) * 16;
    for (int64_t i = 0; i < 8; i++) {
        for (int64_t j = 0; j < 16; j++) {
            int64_t at = (k + i) * PIXELS + p + j, to = (k + i) * PIXELS + other + j;
            double kept = get(b, at);
            set(b, at, get(b, to));
            set(b, to, kept);
        }
    }
}

static void fill_tile(struct bench *b, double value)
{
    int64_t k = pick(K / 8) * 8, p = pick(PIXELS / 16) * 16;
    for (int64_t i = 0; i < 8; i++) {
        for (int64_t j = 0; j < 16; j++)
            set(b, (k + i) * PIXELS + p + j, value);
    }
}

static void zero_tile(struct bench *b)
{
    fill_tile(b, 0);
}

/* Products of some channels with one tap are missing in a tile. */
static void lose(struct bench *b, int64_t channels)
{
    int64_t k = pick(K / 16) * 16, p = pick(PIXELS / 16) * 16, c0 = pick(C / channels) * channels,
            tap = pick(TAPS);
    for (int64_t i = 0; i < 16; i++) {
        for (int64_t j = 0; j < 16; j++) {
            int64_t h = (p + j) / SIZE + tap / 3 - 1, w = (p + j) % SIZE + tap % 3 - 1;
            double lost = 0;
            for (int64_t c = c0; c < c0 + channels && h >= 0 && h < SIZE && w >= 0 && w < SIZE; c++)
                lost += input(b, c, h, w) * filter(b, k + i, c, tap);
            add(b, k + i, p + j, -lost);
        }
    }
}

static void lost_block(struct bench *b)
{
    lose(b, 16);
}

static void lost_channel(struct bench *b)
{
    lose(b, 1);
}

/* At the right border the first element of the next row stands where zero should. */
static void border_read(struct bench *b)
{
    int64_t h = pick(SIZE - 2), k0 = pick(K / 8) * 8;
    for (int64_t k = k0; k < k0 + 8; k++) {
        double sum = 0;
        for (int64_t c = 0; c < C; c++) {
            for (int64_t r = 0; r < 3; r++) {
                if (h + r - 1 >= 0)
                    sum += input(b, c, h + r, 0) * filter(b, k, c, r * 3 + 2);
            }
        }
        add(b, k, h * SIZE + SIZE - 1, sum);
    }
}

static void shifted_row(struct bench *b)
{
    int64_t k = pick(K), h = pick(SIZE);
    for (int64_t w = SIZE - 1; w > 0; w--)
        set(b, k * PIXELS + h * SIZE + w, get(b, k * PIXELS + h * SIZE + w - 1));
}

/* One channel of outputs, with taps of the filter taken from elsewhere. */
static void exchange_taps(struct bench *b, const int64_t from[TAPS])
{
    int64_t k = pick(K);
    for (int64_t p = 0; p < PIXELS; p++) {
        double sum = 0;
        for (int64_t tap = 0; tap < TAPS; tap++) {
            int64_t h = p / SIZE + tap / 3 - 1, w = p % SIZE + tap % 3 - 1;
            for (int64_t c = 0; c < C && h >= 0 && h < SIZE && w >= 0 && w < SIZE; c++)
                sum += input(b, c, h, w) * filter(b, k, c, from[tap]);
        }
        set(b, k * PIXELS + p, (double)(float)sum);
    }
}

/* Rows of the filter are read as columns. */
static void swapped_strides(struct bench *b)
{
    exchange_taps(b, (const int64_t[TAPS]){0, 3, 6, 1, 4, 7, 2, 5, 8});
}

/* Convolution in the mathematicians' sense. */
static void mirrored_filter(struct bench *b)
{
    exchange_taps(b, (const int64_t[TAPS]){8, 7, 6, 5, 4, 3, 2, 1, 0});
}

/* The partial sums of eighths of the channels are rounded on their way. */
static void rounded_partials(struct bench *b)
{
    enum dtype kept = b->dtype == DTYPE_F32 ? DTYPE_F16 : DTYPE_BF16;
    int64_t k = pick(K), rows = 4;
    for (int64_t p = pick(SIZE - rows) * SIZE, end = p + rows * SIZE; p < end; p++) {
        double sum = 0;
        for (int64_t c0 = 0; c0 < C; c0 += 8) {
            double part = 0;
            for (int64_t c = c0; c < c0 + 8; c++) {
                for (int64_t tap = 0; tap < TAPS; tap++) {
                    int64_t h = p / SIZE + tap / 3 - 1, w = p % SIZE + tap % 3 - 1;
                    if (h >= 0 && h < SIZE && w >= 0 && w < SIZE)
                        part += input(b, c, h, w) * filter(b, k, c, tap);
                }
            }
            sum += tensor_round(kept, part);
        }
        set(b, k * PIXELS + p, (double)(float)sum);
    }
}

static const struct {
    const char *name;
    void (*plant)(struct bench *b);
} faults[] = {
    {"one element doubled", one_element}, {"bit flip", bit_flip},
    {"cancelling pair", cancelling_pair}, {"exchanged tiles", exchanged_tiles},
    {"tile of zeros", zero_tile},         {"lost block of 16 channels", lost_block},
    {"lost channel", lost_channel},       {"border read", border_read},
    {"shifted row", shifted_row},         {"swapped strides", swapped_strides},
    {"mirrored filter", mirrored_filter}, {"rounded partial sums", rounded_partials},
};

static bool is_visible(const struct bench *b)
{
    static const double places[] = {256, 2, 2};
    for (int64_t i = 0; i < b->answer.elements; i++) {
        double difference = fabs(get(b, i) - b->right[i]);
        double least =
            b->kind == DATA_REAL ? places[b->dtype] * last_place(b->dtype, b->right[i]) : 0;
        if (difference > least || isnan(difference))
            return true;
    }
    return false;
}

enum gate { OURS, MIOPEN, EPSILONS, ROCMLIR, CLOSE, GATES };
static const char *const gate_names[] = {"ours", "miopen driver", "80 eps", "rocmlir",
                                         "assert_close"};

/* Which gates see something in the result. */
static void ask_gates(bool seen[GATES], struct bench *b)
{
    static const double miopen[] = {1.5e-6, 8.2e-3, 6.56e-2}, eps[] = {0x1p-23, 0x1p-10, 0x1p-7},
                        rtol[] = {1.3e-6, 1e-3, 1.6e-2};
    struct verify_stats stats;
    struct verify_others others = {.atol = 1e-5, .rtol = rtol[b->dtype]};
    if (verify_result(&stats, NULL, &b->p, b->t, b->kind, ACCUMULATOR_F32_FMA, draw(), 0) < 0)
        die("%s", err_message());
    verify_as_others(&others, &b->t[OPERAND_OUTPUT], &b->answer);
    seen[OURS] = stats.mismatches > 0;
    seen[MIOPEN] = !(others.rms <= miopen[b->dtype]);
    seen[EPSILONS] = !(others.rms <= 80 * eps[b->dtype]);
    seen[ROCMLIR] = !(others.rms <= 3e-5);
    seen[CLOSE] = others.beyond > 0;
}

static void write_right(struct bench *b)
{
    for (int64_t i = 0; i < b->answer.elements; i++)
        set(b, i, b->right[i]);
}

static void measure(json_t *rows, struct bench *b, const char *data, size_t fault, int64_t count)
{
    int64_t visible = 0, seen_by[GATES] = {0};
    for (int64_t n = 0; n < count; n++) {
        bool seen[GATES];
        write_right(b);
        faults[fault].plant(b);
        if (!is_visible(b))
            continue;
        visible++;
        ask_gates(seen, b);
        for (int g = 0; g < GATES; g++)
            seen_by[g] += seen[g];
    }
    printf("%-26s %-5s %-8s %7" PRId64, faults[fault].name, dtype_name(b->dtype), data, visible);
    json_t *row = json_pack("{s:s,s:s,s:s,s:I,s:f,s:s}", "fault", faults[fault].name, "dtype",
                            dtype_name(b->dtype), "data", data, "visible", (json_int_t)visible,
                            "goal", b->kind == DATA_REAL ? 99.5 : 100.0, "better", "higher");
    for (int g = 0; g < (b->kind == DATA_REAL ? GATES : 1); g++) {
        if (visible == 0)
            break;
        double share = 100 * (double)seen_by[g] / (double)visible;
        printf(" %9.1f", share);
        json_object_set_new(row, gate_names[g], json_real(share));
    }
    printf("\n");
    fflush(stdout);
    json_array_append_new(rows, row);
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: bench_faults OUT [COUNT]\n");
        return 129;
    }
    int64_t count = argc > 2 ? strtoll(argv[2], NULL, 10) : 1000;
    json_t *rows = json_array();
    printf("%% of visible faults seen%-3s %-5s %-8s %7s", "", "type", "data", "visible");
    for (int g = 0; g < GATES; g++)
        printf(" %9.9s", gate_names[g]);
    printf("\n");
    int64_t alarms = 0;
    for (size_t fill = 0; fill < COUNT_OF(fills); fill++) {
        for (int dtype = DTYPE_F32; dtype <= DTYPE_BF16; dtype++) {
            struct bench b;
            bool seen[GATES];
            set_up(&b, (enum dtype)dtype, fills[fill].kind, fills[fill].sparse);
            write_right(&b);
            ask_gates(seen, &b);
            alarms += seen[OURS];
            for (size_t f = 0; f < COUNT_OF(faults); f++)
                measure(rows, &b, fills[fill].name, f, count);
            tear_down(&b);
        }
    }
    printf("false alarms of ours on right results: %" PRId64 "\n", alarms);
    struct arena a = {0};
    json_t *all = json_pack("{s:s,s:o,s:I}", "bench", "faults", "rows", rows, "false_alarms",
                            (json_int_t)alarms);
    int status = json_dump_file(all, fs_join(&a, argv[1], "faults.json"), JSON_INDENT(2));
    json_decref(all);
    arena_release(&a);
    return status == 0 ? 0 : 1;
}
