#include "options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER(key, field) {key, offsetof(struct conv, field)}

static const struct {
    const char *key;
    size_t offset; /* of an int64_t in struct conv */
} numbers[] = {
    NUMBER("batchsize", n),
    NUMBER("groupsize", g),
    NUMBER("in_channels", c),
    NUMBER("out_channels", k),
    NUMBER("in_h", in[0]),
    NUMBER("in_w", in[1]),
    NUMBER("fil_h", fil[0]),
    NUMBER("fil_w", fil[1]),
    NUMBER("out_h", out[0]),
    NUMBER("out_w", out[1]),
    NUMBER("conv_stride_h", stride[0]),
    NUMBER("conv_stride_w", stride[1]),
    NUMBER("dilation_h", dilation[0]),
    NUMBER("dilation_w", dilation[1]),
    NUMBER("padding_h_l", pad_lo[0]),
    NUMBER("padding_h_r", pad_hi[0]),
    NUMBER("padding_w_l", pad_lo[1]),
    NUMBER("padding_w_r", pad_hi[1]),
};

static bool parse_number(int64_t *out, const char *value)
{
    char *end;
    *out = strtoll(value, &end, 10);
    return end != value && !*end && *out >= 0 && *out < 1 << 24;
}

static bool parse_direction(struct conv *c, const char *value)
{
    if (strcmp(value, "conv2d") == 0 || strcmp(value, "conv") == 0)
        c->direction = FWD;
    else if (strcmp(value, "conv2d_bwd_data") == 0 || strcmp(value, "conv_bwd_data") == 0)
        c->direction = BWD_DATA;
    else if (strcmp(value, "conv2d_bwd_weight") == 0 || strcmp(value, "conv_bwd_weight") == 0)
        c->direction = BWD_WEIGHT;
    else
        return false;
    return true;
}

static bool parse_type(enum type *out, const char *value)
{
    static const char *const names[][2] = {[F32] = {"f32", "fp32"}, [F16] = {"f16", "fp16"}, [BF16] = {"bf16", "bf16"},
                                           [I8] = {"i8", "i8"}, [I32] = {"i32", "i32"}};
    for (int t = F32; t <= I32; t++) {
        if (strcmp(names[t][0], value) == 0 || strcmp(names[t][1], value) == 0) {
            *out = (enum type)t;
            return true;
        }
    }
    return false;
}

/* Clients write layouts in either case and may call the filter's axes by the tensor letters: GNCHW for gkcyx, NGCHW for ngkhw. */
static bool parse_layout(struct conv *c, enum operand which, const char *value)
{
    if (strlen(value) != 5)
        return false;
    for (int i = 0; i < 6; i++)
        c->layout[which][i] = value[i] >= 'A' && value[i] <= 'Z' ? (char)(value[i] - 'A' + 'a') : value[i];
    bool tensor_letters = strpbrk(c->layout[which], "hw") && strchr(c->layout[which], 'c') && which != INPUT;
    for (char *l = c->layout[which]; tensor_letters && *l; l++) {
        if (which == FILTER)
            *l = *l == 'n' ? 'k' : *l == 'h' ? 'y' : *l == 'w' ? 'x' : *l;
        else
            *l = *l == 'c' ? 'k' : *l;
    }
    return true;
}

/* "v1:CHANNELS,PIXELS" */
static bool parse_tiles(struct tiles *out, const char *value)
{
    int end = 0;
    if (sscanf(value, "v1:%d,%d%n", &out->channels, &out->pixels, &end) != 2 || value[end])
        return false;
    bool pixels = out->pixels == 4 || out->pixels == 8 || out->pixels == 16;
    return pixels && out->channels >= 1 && out->channels <= 16;
}

static bool copy_text(char *out, size_t size, const char *value)
{
    snprintf(out, size, "%s", value);
    return strlen(value) < size;
}

static bool set_both_pads(struct conv *c, int dim, const char *value)
{
    return parse_number(&c->pad_lo[dim], value) && parse_number(&c->pad_hi[dim], value);
}

static bool set(struct conv *c, const char *key, const char *value)
{
    int64_t number;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strcmp(numbers[i].key, key) == 0)
            return parse_number((int64_t *)((char *)c + numbers[i].offset), value);
    }
    if (strcmp(key, "padding_h") == 0 || strcmp(key, "padding_w") == 0)
        return set_both_pads(c, key[8] == 'w', value);
    if (strcmp(key, "operation") == 0)
        return parse_direction(c, value);
    if (strcmp(key, "in_type") == 0)
        return parse_type(&c->type[INPUT], value);
    if (strcmp(key, "fil_type") == 0)
        return parse_type(&c->type[FILTER], value);
    if (strcmp(key, "out_type") == 0)
        return parse_type(&c->type[OUTPUT], value);
    if (strcmp(key, "in_layout") == 0)
        return parse_layout(c, INPUT, value);
    if (strcmp(key, "fil_layout") == 0)
        return parse_layout(c, FILTER, value);
    if (strcmp(key, "out_layout") == 0)
        return parse_layout(c, OUTPUT, value);
    if (strcmp(key, "arch") == 0)
        return copy_text(c->arch, sizeof c->arch, value);
    if (strcmp(key, "kernel_name") == 0)
        return copy_text(c->kernel_name, sizeof c->kernel_name, value);
    if (strcmp(key, "perf_config") == 0)
        return parse_tiles(&c->tiles, value);
    if (strcmp(key, "kernel_id") == 0) {
        bool good = parse_number(&number, value);
        c->kernel_id = good ? (int)number : 0;
        return good;
    }
    /* Hints for other back ends. */
    return strcmp(key, "num_cu") == 0 || strcmp(key, "x2") == 0;
}

bool options_parse(struct conv *out, const char *text)
{
    char copy[4096];
    *out = (struct conv){.g = 1, .stride = {1, 1}, .dilation = {1, 1}, .kernel_name = "pebble_conv"};
    if (!text || !copy_text(copy, sizeof copy, text))
        return false;
    char *rest = NULL;
    for (char *key = strtok_r(copy, " ", &rest); key; key = strtok_r(NULL, " ", &rest)) {
        char *value = strtok_r(NULL, " ", &rest);
        if (strncmp(key, "--", 2) != 0 || !value || !set(out, key + 2, value))
            return false;
    }
    return conv_is_valid(out) && out->kernel_id < conv_kernel_count(out);
}
