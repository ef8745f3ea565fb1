// UTF-8, as RFC 3629 defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
#ifndef TESSERA_BASE_UTF8_H
#define TESSERA_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Bytes of the character that starts at `bytes`, 1 to 4; 0 if they are not a whole character.
size_t tsr_utf8_length(const char *bytes, size_t left);
// Whether terminals obey this character of `length` bytes: a control character, also beyond ASCII,
// or one that changes the direction of text.
bool tsr_utf8_is_control(const char *bytes, size_t length);
bool tsr_utf8_is_valid(const char *text);
// Writes a character, which must not be a surrogate, and returns its 1 to 4 bytes.
size_t tsr_utf8_encode(uint32_t character, char *out);

#endif
