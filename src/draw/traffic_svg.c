// Traffic as SVG.
//
// Up to eight devices are two columns, senders and receivers, with bands between them as wide as
// their bytes. More bands would be a tangle, so more devices are a matrix: rows send, columns
// receive, colour is the amount.
#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "draw/draw.h"

enum {
  MOST_BANDS = 8,
  LEFT = TSR_SVG_MARGIN,
  TOP = TSR_SVG_MARGIN + TSR_SVG_TITLE_HEIGHT,
  NODE_WIDTH = 16,
  NODE_GAP = 14,
  NAME_WIDTH = 150,
  BAND_WIDTH = 460,
  BAND_HEIGHT = 380,
  MATRIX = 704,
  TICK = 84,
  LEGEND = 72
};

// Dark colours; those of a page override them.
static const char dark_style[] =
    "<style>:root{color-scheme:light dark}.b{opacity:.78}.b:hover{opacity:1}"
    ".k{fill:var(--faint,#5c6070);opacity:.16}"
    ".w{font-size:11px;fill:var(--faint,#5c6070)}"
    "@media(prefers-color-scheme:dark){svg{--ink:#e6e8ef;--faint:#9aa0b4;--paper:#16181f}}"
    "</style>\n";

static void add_hint(const tsr_traffic *traffic, int source, int target, tsr_text *out) {
  const tsr_unit_text size = tsr_format_bytes(tsr_traffic_at(traffic, source, target));
  if (source != target)
    tsr_text_addf(out, "<title>%s to %s: %s</title>", traffic->labels[source],
                  traffic->labels[target], size.text);
  else
    tsr_text_addf(out, "<title>%s: %s stay</title>", traffic->labels[source], size.text);
}

// ---- bands ----

typedef struct bands {
  const tsr_traffic *traffic;
  double scale;                                   // pixels per byte
  double left[MOST_BANDS], right[MOST_BANDS];     // where each device's bar begins
  double sent[MOST_BANDS], received[MOST_BANDS];  // pixels used so far
} bands;

static int64_t sum_of(const tsr_traffic *traffic, int device, bool sent, bool moved_only) {
  int64_t sum = 0;
  for (int other = 0; other < traffic->rows; other++)
    if (!moved_only || other != device)
      sum += sent ? tsr_traffic_at(traffic, device, other) : tsr_traffic_at(traffic, other, device);
  return sum;
}

static void place_bands(const tsr_traffic *traffic, bands *out) {
  *out = (bands){.traffic = traffic};
  double total = 0;
  for (int d = 0; d < traffic->rows; d++) total += (double)sum_of(traffic, d, true, false);
  const double room = BAND_HEIGHT - (double)(traffic->rows - 1) * NODE_GAP;
  out->scale = total > 0 ? room / total : 0;
  double left = TOP + 24, right = TOP + 24;
  for (int d = 0; d < traffic->rows; d++) {
    out->left[d] = left;
    out->right[d] = right;
    left += (double)sum_of(traffic, d, true, false) * out->scale + NODE_GAP;
    right += (double)sum_of(traffic, d, false, false) * out->scale + NODE_GAP;
  }
}

static void add_band(bands *b, int source, int target, tsr_text *out) {
  const int64_t bytes = tsr_traffic_at(b->traffic, source, target);
  if (!bytes) return;
  const double height = (double)bytes * b->scale;
  const double x0 = LEFT + NAME_WIDTH + NODE_WIDTH, x1 = x0 + BAND_WIDTH;
  const double middle = (x0 + x1) / 2;
  const double y0 = b->left[source] + b->sent[source], y1 = b->right[target] + b->received[target];
  b->sent[source] += height;
  b->received[target] += height;
  tsr_text_addf(out,
                "<g class=\"%s\"><path %sd=\"M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1fv%.1fC%.1f "
                "%.1f %.1f %.1f %.1f %.1fz\"",
                source == target ? "" : "b", source == target ? "class=\"k\" " : "", x0, y0, middle,
                y0, middle, y1, x1, y1, height, middle, y1 + height, middle, y0 + height, x0,
                y0 + height);
  if (source != target)
    tsr_text_addf(out, " fill=\"%s\"", tsr_palette_color(source, b->traffic->rows).hex);
  tsr_text_add(out, ">");
  add_hint(b->traffic, source, target, out);
  tsr_text_add(out, "</path></g>\n");
  if (height >= 11 && source != target)
    tsr_text_addf(out,
                  "<text class=\"c\" style=\"text-anchor:start\" font-size=\"10\" x=\"%.1f\" "
                  "y=\"%.1f\">%s</text>\n",
                  x0 + 6, y0 + height / 2, tsr_format_bytes(bytes).text);
}

static void add_node(const bands *b, int device, bool sent, tsr_text *out) {
  const double height = (double)sum_of(b->traffic, device, sent, false) * b->scale;
  const double x = LEFT + NAME_WIDTH + (sent ? 0 : NODE_WIDTH + BAND_WIDTH);
  const double y = sent ? b->left[device] : b->right[device];
  char name[48], sum[48];
  snprintf(name, sizeof name, "device %s", b->traffic->labels[device]);
  snprintf(sum, sizeof sum, "%s %s", sent ? "sends" : "gets",
           tsr_format_bytes(sum_of(b->traffic, device, sent, true)).text);
  tsr_text_addf(out,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" rx=\"3\" "
                "fill=\"%s\"/>\n",
                x, y, (int)NODE_WIDTH, height > 2 ? height : 2,
                tsr_palette_color(device, b->traffic->rows).hex);
  const double tx = sent ? x - 10 : x + NODE_WIDTH + 10, middle = y + height / 2;
  tsr_svg_add_text(tx, middle - 1, "n", sent ? "end" : "start", name, out);
  tsr_svg_add_text(tx, middle + 14, "a", sent ? "end" : "start", sum, out);
}

static void draw_bands(const tsr_traffic *traffic, const char *title, const char *subtitle,
                       tsr_text *out) {
  bands b;
  place_bands(traffic, &b);
  const double width = 2 * LEFT + 2 * NAME_WIDTH + 2 * NODE_WIDTH + BAND_WIDTH;
  const double bottom = TOP + 24 + BAND_HEIGHT;
  tsr_svg_begin(width, bottom + LEGEND, title, subtitle, out);
  tsr_text_add(out, dark_style);
  for (int s = 0; s < traffic->rows; s++)
    for (int t = 0; t < traffic->rows; t++) add_band(&b, s, t, out);
  for (int d = 0; d < traffic->rows; d++) {
    add_node(&b, d, true, out);
    add_node(&b, d, false, out);
  }
  const double y = bottom + 30;
  tsr_text_addf(out, "<rect class=\"k\" x=\"%d\" y=\"%.1f\" width=\"26\" height=\"14\"/>\n",
                (int)LEFT, y);
  tsr_svg_add_text(LEFT + 34, y + 11, "a", "start",
                   "stays on its device; coloured bands move, as wide as their bytes", out);
  tsr_text_add(out, "</svg>\n");
}

// ---- a matrix ----

static void add_square(const tsr_traffic *traffic, int source, int target, double cell,
                       int64_t most, tsr_text *out) {
  const int64_t bytes = tsr_traffic_at(traffic, source, target);
  const double x = LEFT + TICK + target * cell, y = TOP + TICK + source * cell;
  if (!bytes) {
    tsr_text_addf(out,
                  "<rect class=\"k\" style=\"opacity:.07\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                  "height=\"%.1f\"/>\n",
                  x, y, cell - 1, cell - 1);
    return;
  }
  tsr_text_add(out, "<g class=\"cell\">");
  add_hint(traffic, source, target, out);
  if (source == target)
    tsr_text_addf(out, "<rect class=\"k\" style=\"opacity:.34\" x=\"%.1f\" y=\"%.1f\"", x, y);
  else
    tsr_text_addf(out, "<rect fill=\"%s\" x=\"%.1f\" y=\"%.1f\"",
                  tsr_palette_heat((double)bytes / (double)most).hex, x, y);
  tsr_text_addf(out, " width=\"%.1f\" height=\"%.1f\"/>", cell - 1, cell - 1);
  if (cell >= 40)
    tsr_text_addf(out, "<text class=\"c\"%s x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\">%s</text>",
                  source == target ? " style=\"fill:var(--ink,#1c1e26)\"" : "", x + cell / 2,
                  y + cell / 2, cell >= 56 ? 12.0 : 9.5, tsr_format_bytes(bytes).text);
  tsr_text_add(out, "</g>\n");
}

// Names of rows and columns: every n-th if letters would touch, and vertical if they are wider than
// their column.
static void add_ticks(const tsr_traffic *traffic, double cell, tsr_text *out) {
  int step = 1;
  while (step * cell < 13) step++;
  const bool vertical = (double)strlen(traffic->labels[traffic->rows - 1]) * 6.2 > step * cell;
  for (int d = 0; d < traffic->rows; d += step) {
    const char *label = traffic->labels[d];
    const double middle = (d + 0.5) * cell;
    tsr_svg_add_text(LEFT + TICK - 6, TOP + TICK + middle + 4, "w", "end", label, out);
    if (vertical)
      tsr_text_addf(out,
                    "<text class=\"w\" transform=\"translate(%.1f %d) rotate(-90)\">%s</text>\n",
                    LEFT + TICK + middle + 4, TOP + TICK - 6, label);
    else
      tsr_svg_add_text(LEFT + TICK + middle, TOP + TICK - 8, "w", "middle", label, out);
  }
  tsr_svg_add_text(LEFT + TICK, vertical ? TOP + 14 : TOP + TICK - 30, "n", "start",
                   "receiving device", out);
  tsr_text_addf(out,
                "<text class=\"n\" transform=\"translate(%d %.1f) rotate(-90)\" "
                "text-anchor=\"middle\">sending device</text>\n",
                LEFT + 10, TOP + TICK + traffic->rows * cell / 2);
}

static void add_legend(const tsr_traffic *traffic, double y, tsr_text *out) {
  for (int i = 0; i < 48; i++)
    tsr_text_addf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"4.2\" height=\"14\" fill=\"%s\"/>",
                  LEFT + TICK + i * 4.0, y, tsr_palette_heat(i / 47.0).hex);
  tsr_text_add_char(out, '\n');
  tsr_svg_add_text(LEFT + TICK, y + 30, "a", "start", "0", out);
  tsr_svg_add_text(LEFT + TICK + 192, y + 30, "a", "end",
                   tsr_format_bytes(tsr_traffic_max(traffic)).text, out);
  tsr_text_addf(out,
                "<rect class=\"k\" style=\"opacity:.34\" x=\"%d\" y=\"%.1f\" width=\"14\" "
                "height=\"14\"/>\n",
                LEFT + TICK + 232, y);
  tsr_svg_add_text(
      LEFT + TICK + 254, y + 11, "a", "start",
      traffic->per_row > 1 ? "stays among the devices of the row" : "stays on its device", out);
}

static void draw_matrix(const tsr_traffic *traffic, const char *title, const char *subtitle,
                        tsr_text *out) {
  const double cell = (double)MATRIX / traffic->rows;
  const int64_t most = tsr_traffic_max(traffic);
  const double side = TICK + MATRIX;
  tsr_svg_begin(2 * LEFT + side, TOP + side + LEGEND, title, subtitle, out);
  tsr_text_add(out, dark_style);
  add_ticks(traffic, cell, out);
  for (int s = 0; s < traffic->rows; s++)
    for (int t = 0; t < traffic->rows; t++) add_square(traffic, s, t, cell, most, out);
  add_legend(traffic, TOP + side + 20, out);
  tsr_text_add(out, "</svg>\n");
}

void tsr_traffic_print_svg(const tsr_traffic *traffic, const char *title, const char *subtitle,
                           tsr_text *out) {
  if (traffic->device_count <= MOST_BANDS)
    draw_bands(traffic, title, subtitle, out);
  else
    draw_matrix(traffic, title, subtitle, out);
}
