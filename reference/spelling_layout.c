/* spelling_layout: the axes of a tensor in the letters of MIOpen and of rocMLIR. */
#include "reference/spelling_internal.h"

#include <ctype.h>
#include <string.h>

/* Ours, by operand; the same place in MIOPEN_LETTERS and DIGITS. */
static const char *const own_letters[3] = {
    [OPERAND_INPUT] = "ngcdhw", [OPERAND_FILTER] = "kgczyx", [OPERAND_OUTPUT] = "ngkdhw"};
static const char miopen_letters[] = "NGCDHW";
/* rocmlir-gen packs the spatial sizes as h, w, d, so that a third digit is the depth. */
static const char digits[] = "...201";

const char *operand_name(enum operand which)
{
    static const char *const names[] = {"input", "filter", "output"};
    return names[which];
}

/* The letter that g divides: the input's c, and k of the filter and the output. */
static char channel_letter(enum operand which)
{
    return which == OPERAND_INPUT ? 'c' : 'k';
}

static char own_letter(char c, enum letters letters, enum operand which)
{
    const char *own = own_letters[which];
    const char *found = isdigit((unsigned char)c) ? strchr(digits, c)
                        : letters == LETTERS_MLIR ? strchr(own, c)
                                                  : strchr(miopen_letters, c);
    if (!found)
        return '\0';
    const char *base = isdigit((unsigned char)c) ? digits
                       : letters == LETTERS_MLIR ? own
                                                 : miopen_letters;
    return own[found - base];
}

/* The depth is no axis of a plane, nor the height of a line. */
static bool axis_exists(char letter, enum operand which, int dims)
{
    size_t place = (size_t)(strchr(own_letters[which], letter) - own_letters[which]);
    return place < 3 || place >= (size_t)(6 - dims);
}

int layout_read(char out[8], const char *flag, const char *text, enum letters letters,
                enum operand which, int dims)
{
    size_t length = strlen(text), axes = (size_t)dims + 2;
    bool has_group = strpbrk(text, letters == LETTERS_MLIR ? "g" : "G") != NULL;
    if (length != axes + has_group)
        return err_set(ERR_INVALID, "%s %s: a %d-D %s has %zu axes, or %zu with the group", flag,
                       text, dims, operand_name(which), axes, axes + 1);
    for (size_t i = 0; i < length; i++) {
        char c = own_letter(text[i], letters, which);
        if (!c || !axis_exists(c, which, dims))
            return err_set(ERR_INVALID, "%s %s: '%c' is no axis of a %d-D %s", flag, text, text[i],
                           dims, operand_name(which));
        if (memchr(out, c, i))
            return err_set(ERR_INVALID, "%s %s: '%c' stands twice", flag, text, text[i]);
        out[i] = c;
    }
    out[length] = '\0';
    return 0;
}

bool layout_has_group(const char *layout)
{
    return strchr(layout, 'g') != NULL;
}

static void insert_group(char layout[8], size_t place)
{
    memmove(layout + place + 1, layout + place, strlen(layout + place) + 1);
    layout[place] = 'g';
}

void layout_group_miopen(char layout[8], enum operand which)
{
    if (!layout_has_group(layout))
        insert_group(layout, strcspn(layout, (char[]){channel_letter(which), '\0'}));
}

void layout_group_2023(char layout[8], enum operand which)
{
    char channels_last[8] = "nhw";
    channels_last[3] = channel_letter(which);
    if (layout_has_group(layout))
        return;
    if (which == OPERAND_FILTER)
        insert_group(layout, 0);
    else if (!strcmp(layout, channels_last))
        insert_group(layout, 3);
    else
        insert_group(layout, !strcmp(layout, which == OPERAND_INPUT ? "nchw" : "nkhw"));
}

void layout_group_2026(char layout[8], enum operand which)
{
    if (!layout_has_group(layout))
        insert_group(layout, which == OPERAND_FILTER ? 0 : strcspn(layout, "n") + 1);
}

void layout_to_miopen(char out[8], const char *layout, enum operand which)
{
    size_t i = 0;
    for (; layout[i]; i++)
        out[i] = miopen_letters[strchr(own_letters[which], layout[i]) - own_letters[which]];
    out[i] = '\0';
}

void layout_to_mlir(char out[8], const char *layout, enum operand which, int dims)
{
    size_t i = 0;
    for (; layout[i]; i++) {
        size_t place = (size_t)(strchr(own_letters[which], layout[i]) - own_letters[which]);
        out[i] = dims == 3 && place >= 3 ? digits[place] : layout[i];
    }
    out[i] = '\0';
}
