// Scans a JSON string eight bytes at a time for bytes that need attention.
#ifndef TESSERA_JSON_JSON_SCAN_H
#define TESSERA_JSON_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool json_is_plain(char c) {
  return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

// The first byte at or after `at` that is not plain: a quote, a backslash, a control character or a
// byte beyond ASCII; `end` if there is none.
//
// In a word, `x - ones` sets the top bit of a zero byte, if the byte was below 80 before. A borrow
// may spoil higher bytes, but never the lowest match, which is the result.
static inline const char *json_skip_plain(const char *at, const char *end) {
  const uint64_t ones = UINT64_C(0x0101010101010101);
  while (end - at >= 8) {
    uint64_t word;
    memcpy(&word, at, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    const uint64_t quote = (word ^ ones * '"') - ones, backslash = (word ^ ones * '\\') - ones;
    const uint64_t control = word - ones * 0x20;
    const uint64_t found = (quote | backslash | control | word) & ones * 0x80;
    if (found) return at + __builtin_ctzll(found) / 8;
    at += 8;
  }
  while (at < end && json_is_plain(*at)) at++;
  return at;
}

#endif
