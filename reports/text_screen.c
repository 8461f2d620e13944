/* text_screen: lines of a terminal: styles, wrapping, labels, commands that can be copied. */
#include "reports/text_internal.h"

const char *screen_tone_style(enum tone tone)
{
    switch (tone) {
    case TONE_GOOD:
        return "32";
    case TONE_BAD:
        return "1;31";
    case TONE_DOUBT:
        return "33";
    case TONE_PLAIN:
        return SCREEN_PLAIN;
    }
    bug("no such tone: %d", (int)tone);
}

void screen_style_begin(struct screen *s, const char *style)
{
    if (s->colour && *style)
        buf_printf(s->out, "\033[%sm", style);
}

void screen_style_end(struct screen *s, const char *style)
{
    if (s->colour && *style)
        buf_add_text(s->out, "\033[0m");
}

void screen_spaces(struct screen *s, int count)
{
    for (int i = 0; i < count; i++)
        buf_add_char(s->out, ' ');
}

int screen_columns_of(const char *text)
{
    int columns = 0;
    for (uint32_t code; report_next(&code, &text);)
        columns += report_columns(code);
    return columns;
}

void screen_styled(struct screen *s, const char *style, const char *text)
{
    screen_style_begin(s, style);
    for (uint32_t code; report_next(&code, &text);)
        report_encode(s->out, code);
    screen_style_end(s, style);
}

/* The next word of a text: from *start (blanks skipped) up to the returned end; equal when there is
 * none. */
static const char *word_end(const char **start, int *columns)
{
    const char *at = *start, *after = at;
    uint32_t code;
    while (report_next(&code, &after) && code == ' ')
        at = after;
    *start = after = at;
    *columns = 0;
    while (report_next(&code, &after) && code != ' ') {
        *columns += report_columns(code);
        at = after;
    }
    return at;
}

/* Put [text, end) from `column` on; a word wider than a line is broken where the line ends. Returns
 * the column reached. */
static int put_word(struct screen *s, const char *text, const char *end, int column, int hang,
                    int right)
{
    while (text < end) {
        uint32_t code;
        report_next(&code, &text);
        if (column + report_columns(code) > right) {
            buf_add_char(s->out, '\n');
            screen_spaces(s, hang);
            column = hang;
        }
        report_encode(s->out, code);
        column += report_columns(code);
    }
    return column;
}

/* Words from `column` on, wrapped at `right` and continued at `hang`. Returns the column reached;
 * the line stays open. */
int screen_wrap(struct screen *s, const char *text, int column, int hang, int right)
{
    bool first = true;
    for (;;) {
        int columns;
        const char *end = word_end(&text, &columns);
        if (end == text)
            return column;
        if (!first && column + 1 + columns > right) {
            buf_add_char(s->out, '\n');
            screen_spaces(s, hang);
            column = hang;
        } else if (!first) {
            buf_add_char(s->out, ' ');
            column++;
        }
        column = put_word(s, text, end, column, hang, right);
        text = end;
        first = false;
    }
}

/* A paragraph of its own: `indent` blanks before the first line and `hang` before the others. */
void screen_paragraph(struct screen *s, const char *style, int indent, int hang, const char *text)
{
    if (!text || !*text)
        return;
    screen_spaces(s, indent);
    screen_style_begin(s, style);
    screen_wrap(s, text, indent, hang, s->width);
    screen_style_end(s, style);
    buf_add_char(s->out, '\n');
}

void screen_label(struct screen *s, const char *name)
{
    screen_spaces(s, 3);
    screen_styled(s, SCREEN_DIM, name);
    screen_spaces(s, SCREEN_LABEL - 3 - screen_columns_of(name));
}

/* "   because its parent is good ..." */
void screen_labelled(struct screen *s, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    screen_label(s, name);
    screen_wrap(s, text, SCREEN_LABEL, SCREEN_LABEL, s->width);
    buf_add_char(s->out, '\n');
}

/* As word_end, for a shell command: blanks in quotes or behind a backslash do not end a word. */
static const char *argument_end(const char *text)
{
    char quote = '\0';
    for (; *text && (quote || *text != ' '); text++) {
        if (*text == '\\' && quote != '\'' && text[1])
            text++;
        else if (quote && *text == quote)
            quote = '\0';
        else if (!quote && (*text == '\'' || *text == '"'))
            quote = *text;
    }
    return text;
}

static void put_argument(struct screen *s, const char *text, const char *end)
{
    while (text < end) {
        uint32_t code;
        report_next(&code, &text);
        report_encode(s->out, code);
    }
}

static int argument_columns(const char *text, const char *end)
{
    int columns = 0;
    while (text < end) {
        uint32_t code;
        report_next(&code, &text);
        columns += report_columns(code);
    }
    return columns;
}

/* A command, continued as a shell continues it, so that what is copied runs. */
static void command_text(struct screen *s, int hang, const char *text)
{
    int column = hang;
    bool first = true;
    while (*text) {
        const char *end = argument_end(text);
        int columns = argument_columns(text, end);
        int room = s->width - (*end ? 2 : 0); /* " \" */
        if (!first && column + 1 + columns > room) {
            buf_add_text(s->out, " \\\n");
            screen_spaces(s, hang);
            column = hang;
        } else if (!first) {
            buf_add_char(s->out, ' ');
            column++;
        }
        put_argument(s, text, end);
        column += columns;
        first = false;
        text = *end ? end + 1 : end;
    }
    buf_add_char(s->out, '\n');
}

void screen_labelled_command(struct screen *s, const char *name, const char *text)
{
    if (!text || !*text)
        return;
    screen_label(s, name);
    command_text(s, SCREEN_LABEL, text);
}

void screen_heading(struct screen *s, const char *text)
{
    buf_add_char(s->out, '\n');
    screen_styled(s, SCREEN_BOLD, text);
    buf_add_char(s->out, '\n');
}
