// Sized structs: those that open with `size_t size`, so that they can grow (tessera/api.h).
//
// A new field begins at the old sizeof, never in the padding before it, whose bytes old callers do
// not set.
#ifndef TESSERA_BASE_SIZED_H
#define TESSERA_BASE_SIZED_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera/status.h"

// Copies the caller's struct to the library's own version. NULL is all zero, a shorter struct is
// filled up with zeros, a longer one must end in zeros. `out->size` becomes sizeof(type). No byte
// after the caller's struct is read. `type` is the struct's name in messages.
#define tsr_sized_read(type, given, out) \
  tsr_sized_read_as(#type, sizeof(type), 1 ? (given) : (const type *)NULL, 1 ? (out) : (type *)NULL)
TSR_MUST_USE tsr_status tsr_sized_read_as(const char *name, size_t known, const void *given,
                                          void *out);

// Whether the caller has initialised a struct that is to be filled. NULL passes.
#define tsr_sized_check(type, out) \
  tsr_sized_check_as(#type, sizeof(type), 1 ? (out) : (const type *)NULL)
TSR_MUST_USE tsr_status tsr_sized_check_as(const char *name, size_t known, const void *given);

// Whether the original fields of a refused struct can be read: it was zeroed, or has a field set
// that only newer headers have. Collectives find their comm there, to fail on all ranks.
#define tsr_sized_legible(type, given) \
  tsr_sized_legible_as(sizeof(type), 1 ? (given) : (const type *)NULL)
bool tsr_sized_legible_as(size_t known, const void *given);

// Fills the fields of a checked struct that the caller's headers have. Fields that only newer
// headers have, and the size, keep their values. NULL does nothing.
#define tsr_sized_fill(type, value, out) \
  tsr_sized_fill_as(sizeof(type), 1 ? (value) : (const type *)NULL, 1 ? (out) : (type *)NULL)
void tsr_sized_fill_as(size_t known, const void *value, void *out);

#endif
