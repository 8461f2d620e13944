/* style: the style sheet of the html report, as one constant. Colours by prefers-color-scheme, one
 * column on a phone, ink on paper. */
#ifndef ASSAY_STYLE_H
#define ASSAY_STYLE_H

extern const char report_style[];

#endif
