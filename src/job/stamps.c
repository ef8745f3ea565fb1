// A stamp is size and time of a file by stat(). Sizes are compared first: the message says more.
#include "job/stamps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_internal.h"

static tsr_status take(const char *path, tsr_stamp *out_stamp) {
  struct stat info;
  if (stat(path, &info)) {
    if (errno != ENOENT) return tsr_fail(IO, "%s: cannot stat it: %s", path, strerror(errno));
    return tsr_fail(SOURCE_CHANGED, "%s: it no longer exists", path);
  }
  *out_stamp = (tsr_stamp){info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
  return NULL;
}

static tsr_status check_size(const char *path, int64_t before, int64_t now) {
  if (before == now) return NULL;
  return tsr_fail(SOURCE_CHANGED, "%s: it has %lld bytes now and had %lld when it was opened", path,
                  (long long)now, (long long)before);
}

tsr_status tsr_stamps_take(const tsr_store *store, tsr_stamps *out_stamps) {
  tsr_stamps stamps = {.store = store, .count = store->file_count};
  stamps.items = calloc((size_t)stamps.count + 1, sizeof *stamps.items);
  tsr_status status = stamps.items ? NULL : tsr_fail(NO_MEMORY, "stamps of %d files", stamps.count);
  for (int i = 0; i < stamps.count && !status; i++) {
    status = take(store->paths[i], &stamps.items[i]);
    if (!status) status = check_size(store->paths[i], store->file_sizes[i], stamps.items[i].size);
  }
  if (status)
    tsr_stamps_deinit(&stamps);
  else
    *out_stamps = stamps;
  return status;
}

void tsr_stamps_deinit(tsr_stamps *stamps) {
  free(stamps->items);
  *stamps = (tsr_stamps){0};
}

tsr_status tsr_stamps_check(const tsr_stamps *stamps) {
  for (int i = 0; i < stamps->count; i++) {
    const char *path = stamps->store->paths[i];
    const tsr_stamp *before = &stamps->items[i];
    tsr_stamp now;
    TSR_TRY(take(path, &now));
    TSR_TRY(check_size(path, before->size, now.size));
    if (now.seconds != before->seconds || now.nanoseconds != before->nanoseconds)
      return tsr_fail(SOURCE_CHANGED, "%s: it was written to while it was read", path);
  }
  return NULL;
}

void tsr_stamps_print(const tsr_stamps *stamps, tsr_text *out) {
  for (int i = 0; i < stamps->count; i++) {
    const tsr_stamp *stamp = &stamps->items[i];
    tsr_text_addf(out, "%s %lld %lld.%09ld\n", stamps->store->paths[i], (long long)stamp->size,
                  (long long)stamp->seconds, stamp->nanoseconds);
  }
}
