// Whether the caller's memory is there: room for what is about to be written, and lists.
#ifndef TESSERA_BASE_ROOM_H
#define TESSERA_BASE_ROOM_H

#include <stdint.h>

#include "tessera/status.h"

// Fails with bad_argument where `bytes` at `room` are fewer than `needed`. When nothing is needed,
// NULL and 0 are right.
TSR_MUST_USE tsr_status tsr_room_check(const void *room, int64_t bytes, int64_t needed);

// Fails with bad_argument where a list is NULL although it has elements, or has fewer than none.
// `what` is the name of its elements in the plural.
TSR_MUST_USE tsr_status tsr_list_check(const void *list, int64_t count, const char *what);

#endif
