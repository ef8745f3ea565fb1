// The frame of SVG pictures and HTML pages.
#ifndef TESSERA_DRAW_SVG_PAGE_H
#define TESSERA_DRAW_SVG_PAGE_H

#include "tessera/text.h"

enum { TSR_SVG_MARGIN = 28, TSR_SVG_TITLE_HEIGHT = 64 };

// Begins a picture and writes its titles; the caller ends it with "</svg>". Styles: t title,
// s subtitle, a and n names of axes, c text on colours, p paper, f frame, cell highlighted on
// hover.
void tsr_svg_begin(double width, double height, const char *title, const char *subtitle,
                   tsr_text *out);
// Adds a line of text. `anchor` is start, middle, end, or NULL for that of the style.
void tsr_svg_add_text(double x, double y, const char *style, const char *anchor, const char *text,
                      tsr_text *out);
// Adds text with <, >, & and " written as entities.
void tsr_svg_add_escaped(tsr_text *out, const char *text);

// Begin and end a page, with colours for light and dark screens.
void tsr_page_begin(const char *title, tsr_text *out);
void tsr_page_end(tsr_text *out);

#endif
