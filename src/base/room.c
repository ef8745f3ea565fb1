#include "base/room.h"

tsr_status tsr_room_check(const void *room, int64_t bytes, int64_t needed) {
  if (!room && needed > 0)
    return tsr_fail(BAD_ARGUMENT, "no buffer was given, wanted one of at least %lld bytes",
                    (long long)needed);
  if (bytes < needed || bytes < 0)
    return tsr_fail(BAD_ARGUMENT, "the buffer has %lld bytes, wanted at least %lld",
                    (long long)bytes, (long long)needed);
  return NULL;
}
