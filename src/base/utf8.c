// UTF-8 checked by the ranges of its first two bytes (Unicode, table 3-7).
#include "base/utf8.h"

#include <string.h>

// The range of the second byte excludes overlong forms, surrogates and characters above U+10FFFF.
// The other bytes are always 80 to BF.
static bool second_fits(unsigned char first, unsigned char second) {
  switch (first) {
    case 0xe0:
      return second >= 0xa0 && second <= 0xbf;
    case 0xed:
      return second >= 0x80 && second <= 0x9f;
    case 0xf0:
      return second >= 0x90 && second <= 0xbf;
    case 0xf4:
      return second >= 0x80 && second <= 0x8f;
    default:
      return second >= 0x80 && second <= 0xbf;
  }
}

size_t tsr_utf8_length(const char *bytes, size_t left) {
  if (!left) return 0;
  const unsigned char first = (unsigned char)bytes[0];
  if (first < 0x80) return 1;
  const size_t length = first < 0xc2   ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (!length || length > left || !second_fits(first, (unsigned char)bytes[1])) return 0;
  for (size_t i = 2; i < length; i++)
    if (((unsigned char)bytes[i] & 0xc0) != 0x80) return 0;
  return length;
}

size_t tsr_utf8_encode(uint32_t character, char *out) {
  if (character < 0x80) {
    out[0] = (char)character;
    return 1;
  }
  const size_t length = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  static const unsigned char marks[] = {0, 0, 0xc0, 0xe0, 0xf0};
  for (size_t i = length - 1; i; i--, character >>= 6) out[i] = (char)(0x80 | (character & 0x3f));
  out[0] = (char)(marks[length] | character);
  return length;
}

bool tsr_utf8_is_control(const char *bytes, size_t length) {
  const unsigned char *c = (const unsigned char *)bytes;
  if (length == 1) return c[0] < ' ' || c[0] == 0x7f;
  if (length == 2) return c[0] == 0xc2 && c[1] < 0xa0;  // U+0080 to U+009F
  if (length != 3 || c[0] != 0xe2) return false;
  return (c[1] == 0x80 && c[2] >= 0xaa && c[2] <= 0xae) ||  // U+202A to U+202E
         (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9);    // U+2066 to U+2069
}

bool tsr_utf8_is_valid(const char *text) {
  const char *const end = text + strlen(text);
  while (text < end) {
    const size_t length = tsr_utf8_length(text, (size_t)(end - text));
    if (!length) return false;
    text += length;
  }
  return true;
}
