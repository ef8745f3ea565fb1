// Checks of arguments that many functions share, so that all of them fail in the same words.
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

tsr_status tsr_list_check(const void *list, int64_t count, const char *what) {
  if (count < 0) return tsr_fail(BAD_ARGUMENT, "%lld %s, wanted 0 or more", (long long)count, what);
  if (!list && count > 0)
    return tsr_fail(BAD_ARGUMENT, "no list of %s was given, wanted one of %lld", what,
                    (long long)count);
  return NULL;
}
