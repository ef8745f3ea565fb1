// Colours that differ clearly and are readable under dark text. Hues walk the circle, light and
// strong in turn, at nearly equal lightness (OKLCh).
#include "draw/draw.h"

#include <math.h>
#include <stdio.h>

static unsigned char channel(double linear) {
  const double v = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
  return (unsigned char)(v < 0 ? 0 : v > 1 ? 255 : v * 255 + 0.5);
}

static tsr_color from_oklch(double lightness, double chroma, double hue) {
  const double a = chroma * cos(hue), b = chroma * sin(hue);
  const double l_ = lightness + 0.3963377774 * a + 0.2158037573 * b;
  const double m_ = lightness - 0.1055613458 * a - 0.0638541728 * b;
  const double s_ = lightness - 0.0894841775 * a - 1.2914855480 * b;
  const double l = l_ * l_ * l_, m = m_ * m_ * m_, s = s_ * s_ * s_;
  tsr_color out = {.red = channel(+4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                   .green = channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                   .blue = channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
  snprintf(out.hex, sizeof out.hex, "#%02x%02x%02x", out.red, out.green, out.blue);
  return out;
}

tsr_color tsr_palette_color(int64_t index, int64_t count) {
  // Few colours are spread evenly; many by the golden angle, so that neighbours differ.
  const double turn =
      count <= 12 ? (double)index / (double)(count > 0 ? count : 1) : (double)index * 0.381966;
  const double hue = 6.283185307179586 * (turn - floor(turn)) + 0.9;
  const bool strong = count > 12 && index % 2;
  return from_oklch(strong ? 0.79 : 0.86, strong ? 0.105 : 0.09, hue);
}

// Pale yellow, orange, red: both lightness and hue change.
tsr_color tsr_palette_heat(double share) {
  return from_oklch(0.97 - 0.31 * share, 0.05 + 0.12 * share, 1.75 - 1.2 * share);
}
