// Shared by all pictures and pages: style sheets, titles, escaped text.
#include "draw/draw.h"

#include "base/text_internal.h"

// A page may set --ink, --faint and --paper; alone, a picture is dark on white.
static const char style_sheet[] =
    "text{font-family:Inter,'Segoe UI',Helvetica,Arial,sans-serif;fill:var(--ink,#1c1e26)}"
    ".t{font-size:20px;font-weight:600}.s{font-size:13px;fill:var(--faint,#5c6070)}"
    ".a{font-size:12px;fill:var(--faint,#5c6070)}.n{font-size:13px;font-weight:600}"
    ".c{font-family:'JetBrains Mono',Menlo,Consolas,monospace;text-anchor:middle;"
    "dominant-baseline:central;fill:#1c1e26}"
    ".p{fill:var(--paper,#fff)}"
    ".f{fill:none;stroke:var(--paper,#fff);stroke-width:3}.cell:hover "
    ".f{stroke:var(--ink,#1c1e26)}";

void tsr_svg_add_escaped(tsr_text *out, const char *text) {
  static const char *const entities[128] = {
      ['<'] = "&lt;", ['>'] = "&gt;", ['&'] = "&amp;", ['"'] = "&quot;"};
  for (; *text; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c < 128 && entities[c])
      tsr_text_add(out, entities[c]);
    else
      tsr_text_add_char(out, *text);
  }
}

void tsr_svg_add_text(double x, double y, const char *style, const char *anchor, const char *text,
                      tsr_text *out) {
  tsr_text_addf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\"", style, x, y);
  if (anchor) tsr_text_addf(out, " text-anchor=\"%s\"", anchor);
  tsr_text_add_char(out, '>');
  tsr_svg_add_escaped(out, text);
  tsr_text_add(out, "</text>\n");
}

void tsr_svg_begin(double width, double height, const char *title, const char *subtitle,
                   tsr_text *out) {
  tsr_text_addf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                "viewBox=\"0 0 %.0f %.0f\">\n<style>%s</style>\n"
                "<rect class=\"p\" width=\"100%%\" height=\"100%%\"/>\n",
                width, height, width, height, style_sheet);
  tsr_text_addf(out, "<text class=\"t\" x=\"%d\" y=\"%d\">", TSR_SVG_MARGIN, TSR_SVG_MARGIN + 14);
  tsr_svg_add_escaped(out, title);
  tsr_text_addf(out, "</text>\n<text class=\"s\" x=\"%d\" y=\"%d\">", TSR_SVG_MARGIN,
                TSR_SVG_MARGIN + 38);
  tsr_svg_add_escaped(out, subtitle);
  tsr_text_add(out, "</text>\n");
}

// Light and dark colours.
static const char page_style[] =
    ":root{--ink:#1c1e26;--faint:#5c6070;--paper:#fff;--line:#e6e8ee;--wash:#f4f6fb;--bar:#7aa2f7;"
    "color-scheme:light dark}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e8ef;--faint:#9aa0b4;--paper:#16181f;"
    "--line:#2b2f3b;--wash:#1f222c;--bar:#5478c8}}"
    "body{font-family:Inter,'Segoe UI',Helvetica,Arial,sans-serif;margin:24px "
    "auto;max-width:1180px;"
    "padding:0 20px;color:var(--ink);background:var(--paper)}"
    "h1{font-size:24px;margin:0 0 4px}h2{font-size:17px;margin:32px 0 10px}p{color:var(--faint)}"
    "table{border-collapse:collapse;font-size:13px;width:100%}"
    "th,td{padding:5px 14px 5px 0;text-align:left;border-bottom:1px solid var(--line);"
    "vertical-align:top}th{color:var(--faint);font-weight:600}"
    "td{font-family:'JetBrains Mono',Menlo,Consolas,monospace;overflow-wrap:anywhere}"
    "tr:hover td{background:var(--wash)}svg{max-width:100%;height:auto}";

void tsr_page_begin(const char *title, tsr_text *out) {
  tsr_text_add(out,
               "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
               "<meta name=\"viewport\" content=\"width=device-width\"><title>");
  tsr_svg_add_escaped(out, title);
  tsr_text_addf(out, "</title>\n<style>%s</style></head><body>\n", page_style);
}

void tsr_page_end(tsr_text *out) { tsr_text_add(out, "</body></html>\n"); }
