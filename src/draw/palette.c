// Colours that differ clearly and are readable under dark text. Hues walk the circle, light and
// strong in turn, at nearly equal lightness (OKLCh).
#include "draw/draw.h"

#include <math.h>
#include <stdbool.h>

static unsigned char channel(double linear) {
  const double v = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
  return (unsigned char)(v < 0 ? 0 : v > 1 ? 255 : v * 255 + 0.5);
}

static void from_oklch(double lightness, double chroma, double hue, unsigned char out_rgb[3]) {
  const double a = chroma * cos(hue), b = chroma * sin(hue);
  const double l_ = lightness + 0.3963377774 * a + 0.2158037573 * b;
  const double m_ = lightness - 0.1055613458 * a - 0.0638541728 * b;
  const double s_ = lightness - 0.0894841775 * a - 1.2914855480 * b;
  const double l = l_ * l_ * l_, m = m_ * m_ * m_, s = s_ * s_ * s_;
  out_rgb[0] = channel(+4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
  out_rgb[1] = channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
  out_rgb[2] = channel(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
}

void tsr_palette_color(int64_t index, int64_t count, unsigned char out_rgb[3]) {
  // Few colours are spread evenly; many by the golden angle, so that neighbours differ.
  const double turn =
      count <= 12 ? (double)index / (double)(count > 0 ? count : 1) : (double)index * 0.381966;
  const double hue = 6.283185307179586 * (turn - floor(turn)) + 0.9;
  const bool strong = count > 12 && index % 2;
  from_oklch(strong ? 0.79 : 0.86, strong ? 0.105 : 0.09, hue, out_rgb);
}

// Pale yellow, orange, red: both lightness and hue change.
void tsr_palette_heat(double share, unsigned char out_rgb[3]) {
  from_oklch(0.97 - 0.31 * share, 0.05 + 0.12 * share, 1.75 - 1.2 * share, out_rgb);
}
