// Sized structs are copied by their leading `size` bytes. A caller with newer headers may pass more
// bytes than the library knows; these must be zero, since their meaning is unknown.
#include "base/sized.h"

#include <stdint.h>
#include <string.h>

// No struct will ever grow by more: beyond it, `size` was not set.
enum { MOST_GROWTH = 4096, NAME_TEXT = 64 };

static size_t size_of(const void *given) {
  size_t size = 0;
  memcpy(&size, given, sizeof size);
  return size;
}

// tsr_load_options is initialised by TSR_LOAD_OPTIONS.
static tsr_status fail_size(const char *name, size_t size, size_t known) {
  char macro[NAME_TEXT];
  size_t at = 0;
  for (; name[at] && at + 1 < sizeof macro; at++)
    macro[at] = (char)(name[at] >= 'a' && name[at] <= 'z' ? name[at] - 'a' + 'A' : name[at]);
  macro[at] = 0;
  return tsr_fail(BAD_ARGUMENT, "%s has size %zu, wanted %zu: initialise it with %s", name, size,
                  known, macro);
}

// Every sized struct is as long as some number of its first member.
static bool is_size(size_t size, size_t known) {
  return size >= sizeof size && size % sizeof size == 0 && size <= known + MOST_GROWTH;
}

tsr_status tsr_sized_check_as(const char *name, size_t known, const void *given) {
  if (!given || is_size(size_of(given), known)) return NULL;
  return fail_size(name, size_of(given), known);
}

bool tsr_sized_legible_as(size_t known, const void *given) {
  if (!given) return false;
  const size_t size = size_of(given);
  return size == 0 || (size >= known && is_size(size, known));
}

static tsr_status check_tail(const char *name, size_t known, const unsigned char *bytes,
                             size_t size) {
  for (size_t i = known; i < size; i++)
    if (bytes[i])
      return tsr_fail(
          BAD_ARGUMENT,
          "%s has size %zu and a field set at byte %zu, but this library (%s) knows %zu "
          "bytes of it: leave that field zero, or use a newer library",
          name, size, i, TSR_VERSION, known);
  return NULL;
}

tsr_status tsr_sized_read_as(const char *name, size_t known, const void *given, void *out) {
  TSR_TRY(tsr_sized_check_as(name, known, given));
  const size_t size = given ? size_of(given) : 0;
  if (size > known) TSR_TRY(check_tail(name, known, given, size));
  memset(out, 0, known);
  if (given) memcpy(out, given, size < known ? size : known);
  memcpy(out, &known, sizeof known);
  return NULL;
}

void tsr_sized_fill_as(size_t known, const void *value, void *out) {
  if (!out) return;
  const size_t size = size_of(out);
  memcpy(out, value, size < known ? size : known);
  memcpy(out, &size, sizeof size);
}
