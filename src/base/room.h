// Checks of the caller's buffers and lists.
#ifndef TESSERA_BASE_ROOM_H
#define TESSERA_BASE_ROOM_H

#include <stdint.h>

#include "tessera/status.h"

// Fails with bad_argument if the buffer has fewer bytes than `needed`. If nothing is needed, NULL
// and 0 are fine.
TSR_MUST_USE tsr_status tsr_room_check(const void *room, int64_t bytes, int64_t needed);

// Fails with bad_argument if a list with elements is NULL, or if its count is negative. `what`
// names the elements, in the plural.
TSR_MUST_USE tsr_status tsr_list_check(const void *list, int64_t count, const char *what);

#endif
