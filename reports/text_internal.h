/* text_internal: the lines of a terminal that the summary is put on. Every line keeps within the width, but for a word of a command that is
 * wider by itself: broken, it could not be copied. */
#ifndef ASSAY_TEXT_INTERNAL_H
#define ASSAY_TEXT_INTERNAL_H

#include "reports/report.h"

struct screen {
    struct buf *out;
    int width;
    bool colour;
};

enum { SCREEN_LABEL = 12 }; /* columns of "   problems " */

/* Styles: parameters of the escape sequence. */
#define SCREEN_BOLD "1"
#define SCREEN_DIM "2"
#define SCREEN_PLAIN ""
const char *screen_tone_style(enum tone tone);
void screen_style_begin(struct screen *s, const char *style);
void screen_style_end(struct screen *s, const char *style);

void screen_spaces(struct screen *s, int count);
/* Columns that a text takes on one line. */
int screen_columns_of(const char *text);
void screen_styled(struct screen *s, const char *style, const char *text);
/* Words from `column` on, wrapped at `right` and continued at `hang`. Returns the column reached; the line stays open. */
int screen_wrap(struct screen *s, const char *text, int column, int hang, int right);
/* A paragraph of its own: `indent` blanks before the first line and `hang` before the others. */
void screen_paragraph(struct screen *s, const char *style, int indent, int hang, const char *text);
void screen_label(struct screen *s, const char *name);
/* "   because its parent is good ..." */
void screen_labelled(struct screen *s, const char *name, const char *text);
/* A command, continued as a shell continues it, so that what is copied runs. */
void screen_labelled_command(struct screen *s, const char *name, const char *text);
void screen_heading(struct screen *s, const char *text);

#endif
