#include "job/stamps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_internal.h"

static tsr_status take(const char *path, tsr_stamp *out_stamp) {
  struct stat info;
  if (stat(path, &info)) {
    if (errno != ENOENT) return tsr_fail(IO, "%s: cannot look at it: %s", path, strerror(errno));
    return tsr_fail(SOURCE_CHANGED, "%s: it is no longer there", path);
  }
  *out_stamp = (tsr_stamp){info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  return NULL;
}

static tsr_status check_size(const char *path, int64_t before, int64_t now) {
  if (before == now) return NULL;
  return tsr_fail(SOURCE_CHANGED, "%s: it has %lld bytes now and had %lld when it was opened", path,
                  (long long)now, (long long)before);
}

tsr_status tsr_stamps_take(const tsr_store *store, tsr_stamp **out_stamps) {
  tsr_stamp *stamps = calloc((size_t)store->file_count + 1, sizeof *stamps);
  tsr_status status = stamps ? NULL : tsr_fail(NO_MEMORY, "stamps of %d files", store->file_count);
  for (int i = 0; i < store->file_count && !status; i++) {
    status = take(store->paths[i], &stamps[i]);
    if (!status) status = check_size(store->paths[i], store->file_sizes[i], stamps[i].size);
  }
  if (status)
    free(stamps);
  else
    *out_stamps = stamps;
  return status;
}

tsr_status tsr_stamps_check(const tsr_stamp *stamps, const tsr_store *store) {
  for (int i = 0; i < store->file_count; i++) {
    const char *path = store->paths[i];
    tsr_stamp now;
    TSR_TRY(take(path, &now));
    TSR_TRY(check_size(path, stamps[i].size, now.size));
    if (now.seconds != stamps[i].seconds || now.nanoseconds != stamps[i].nanoseconds)
      return tsr_fail(SOURCE_CHANGED, "%s: it was written to while it was read", path);
  }
  return NULL;
}

void tsr_stamps_print(const tsr_stamp *stamps, const tsr_store *store, tsr_text *out) {
  for (int i = 0; i < store->file_count; i++)
    tsr_text_addf(out, "%s %lld %lld.%09ld\n", store->paths[i], (long long)stamps[i].size,
                  (long long)stamps[i].seconds, stamps[i].nanoseconds);
}
