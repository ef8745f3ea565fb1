// Whether a text ends in another: names of files tell by it what they hold.
#ifndef TESSERA_BASE_ENDS_WITH_H
#define TESSERA_BASE_ENDS_WITH_H

#include <stdbool.h>
#include <string.h>

static inline bool tsr_ends_with(const char *text, const char *end) {
  const size_t length = strlen(text), end_length = strlen(end);
  return length >= end_length && !strcmp(text + length - end_length, end);
}

#endif
