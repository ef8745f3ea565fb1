// Numbers for people: sizes and times with the unit that fits.
#ifndef TESSERA_DRAW_UNITS_H
#define TESSERA_DRAW_UNITS_H

#include <stdint.h>

// Returned by value, so callers need no buffer: printf("%s", tsr_format_bytes(n).text).
typedef struct tsr_unit_text {
  char text[24];
} tsr_unit_text;

tsr_unit_text tsr_format_bytes(int64_t bytes);     // "16.1 GB"
tsr_unit_text tsr_format_seconds(double seconds);  // "1.25 ms"

// Terminal columns of UTF-8 text, counting one per character.
int tsr_display_width(const char *text);

#endif
