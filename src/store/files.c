// Open idle files form a list, the longest idle first. At the limit of open files, the first of the
// list is closed to open another.
#include "store/files.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "base/io.h"

// Bytes written to a file before its write-back starts: enough for long transfers.
static const int64_t sync_interval = 8 << 20;

// How many files may be open at once. A job has two such sets, its source and its destination, and
// the rest of the program needs descriptors too.
static int open_limit(void) {
  enum { MOST = 2048, OTHERS = 16 };
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit)) return 16;
  const rlim_t each = limit.rlim_cur < OTHERS + 3 ? 1 : (limit.rlim_cur - OTHERS) / 3;
  return each < MOST ? (int)each : MOST;
}

tsr_status tsr_files_create(const char *const *paths, int count, bool writable,
                            tsr_files **out_files) {
  tsr_files *files = calloc(1, sizeof *files);
  if (!files) return tsr_fail(NO_MEMORY, "a table of %d files", count);
  files->items = calloc((size_t)count + 1, sizeof *files->items);
  if (!files->items || pthread_mutex_init(&files->lock, NULL)) {
    free(files->items);
    free(files);
    return tsr_fail(NO_MEMORY, "a table of %d files", count);
  }
  files->writable = writable;
  files->count = count;
  files->open_limit = open_limit();
  files->oldest = files->newest = -1;
  for (int i = 0; i < count; i++) files->items[i] = (tsr_open_file){.path = paths[i], .fd = -1};
  *out_files = files;
  return NULL;
}

tsr_status tsr_files_close(tsr_files *files) {
  tsr_status first = NULL;
  if (!files) return NULL;
  for (int i = 0; i < files->count; i++) {
    tsr_status status = tsr_io_close(files->items[i].fd, files->items[i].path);
    if (first)
      tsr_status_free(status);
    else
      first = status;
  }
  pthread_mutex_destroy(&files->lock);
  free(files->items);
  free(files);
  return first;
}

const char *tsr_files_path(const tsr_files *files, int file) { return files->items[file].path; }

// ---- idle files ----

static void put_aside(tsr_files *files, int file) {
  tsr_open_file *item = &files->items[file];
  item->older = files->newest;
  item->newer = -1;
  if (item->older < 0)
    files->oldest = file;
  else
    files->items[item->older].newer = file;
  files->newest = file;
}

static void take_back(tsr_files *files, int file) {
  const tsr_open_file *item = &files->items[file];
  if (item->older < 0)
    files->oldest = item->newer;
  else
    files->items[item->older].newer = item->newer;
  if (item->newer < 0)
    files->newest = item->older;
  else
    files->items[item->newer].older = item->older;
}

static tsr_status close_oldest(tsr_files *files) {
  tsr_open_file *item = &files->items[files->oldest];
  const int fd = item->fd;
  take_back(files, files->oldest);
  item->fd = -1;
  files->open_count--;
  tsr_status status = tsr_io_close(fd, item->path);
  if (status) files->write_failed = true;
  return status;
}

// ---- taking ----

// When all are in use, the limit is exceeded by one.
static tsr_status keep_limit(tsr_files *files) {
  return files->open_count >= files->open_limit && files->oldest >= 0 ? close_oldest(files) : NULL;
}

static tsr_status open_item(tsr_files *files, tsr_open_file *item) {
  TSR_TRY(keep_limit(files));
  for (;;) {
    tsr_status status =
        files->writable ? tsr_io_create(item->path, &item->fd) : tsr_io_open(item->path, &item->fd);
    if (!status) break;
    // The rest of the process may have used up the descriptors: close an idle file and retry.
    if (tsr_status_cause(status) != TSR_CAUSE_IO || files->oldest < 0) return status;
    tsr_status_free(status);
    files->open_limit = files->open_count;
    TSR_TRY(close_oldest(files));
  }
  files->open_count++;
  return NULL;
}

tsr_status tsr_files_take(tsr_files *files, int file, int *out_fd) {
  tsr_open_file *item = &files->items[file];
  pthread_mutex_lock(&files->lock);
  tsr_status status = NULL;
  if (item->fd < 0)
    status = open_item(files, item);
  else if (!item->users)
    take_back(files, file);
  if (!status) {
    item->users++;
    *out_fd = item->fd;
  }
  pthread_mutex_unlock(&files->lock);
  return status;
}

void tsr_files_give_back(tsr_files *files, int file) {
  pthread_mutex_lock(&files->lock);
  if (!--files->items[file].users) put_aside(files, file);
  pthread_mutex_unlock(&files->lock);
}

void tsr_files_wrote(tsr_files *files, int file, int64_t bytes) {
  tsr_open_file *item = &files->items[file];
  if (!files->early_sync) return;
  pthread_mutex_lock(&files->lock);
  item->unsynced += bytes;
  const bool enough = item->unsynced >= sync_interval;
  if (enough) item->unsynced = 0;
  pthread_mutex_unlock(&files->lock);
  if (enough) tsr_io_start_sync(item->fd);
}
