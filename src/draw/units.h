// Numbers for people: sizes and times with the unit that fits.
#ifndef TESSERA_DRAW_UNITS_H
#define TESSERA_DRAW_UNITS_H

#include <stddef.h>
#include <stdint.h>

void tsr_format_bytes(int64_t bytes, char *out, size_t size);     // "16.1 GB"
void tsr_format_seconds(double seconds, char *out, size_t size);  // "1.25 ms"

#endif
