#include "checkpoint/files.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "base/io.h"

// Bytes written to a file before they are sent to the disk: enough for long transfers.
static const int64_t send_interval = 8 << 20;

// How many of them may be open at once: most of what the process may have, since the rest of the
// program needs some too.
static int open_limit(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit)) return 64;
  const rlim_t most = limit.rlim_cur == RLIM_INFINITY ? 4096 : limit.rlim_cur;
  return most > 4096 ? 2048 : most > 32 ? (int)(most / 2) : 8;
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

// Closes the file that has been out of use longest; when all are in use, one more is opened than
// wanted.
static tsr_status make_room(tsr_files *files) {
  tsr_open_file *oldest = NULL;
  if (files->open_count < files->open_limit) return NULL;
  for (int i = 0; i < files->count; i++) {
    tsr_open_file *item = &files->items[i];
    if (item->fd < 0 || item->users) continue;
    if (!oldest || item->last_use < oldest->last_use) oldest = item;
  }
  if (!oldest) return NULL;
  const int fd = oldest->fd;
  oldest->fd = -1;
  files->open_count--;
  tsr_status status = tsr_io_close(fd, oldest->path);
  if (status) files->lost = true;
  return status;
}

static tsr_status open_item(tsr_files *files, tsr_open_file *item) {
  if (item->fd >= 0) return NULL;
  TSR_TRY(make_room(files));
  TSR_TRY(files->writable ? tsr_io_create(item->path, &item->fd)
                          : tsr_io_open(item->path, &item->fd));
  files->open_count++;
  return NULL;
}

tsr_status tsr_files_take(tsr_files *files, int file, int *out_fd) {
  tsr_open_file *item = &files->items[file];
  pthread_mutex_lock(&files->lock);
  tsr_status status = open_item(files, item);
  if (!status) {
    item->users++;
    item->last_use = ++files->uses;
    *out_fd = item->fd;
  }
  pthread_mutex_unlock(&files->lock);
  return status;
}

void tsr_files_give_back(tsr_files *files, int file) {
  pthread_mutex_lock(&files->lock);
  files->items[file].users--;
  pthread_mutex_unlock(&files->lock);
}

void tsr_files_wrote(tsr_files *files, int file, int64_t bytes) {
  tsr_open_file *item = &files->items[file];
  if (!files->sends) return;
  pthread_mutex_lock(&files->lock);
  item->unsent += bytes;
  const bool enough = item->unsent >= send_interval;
  if (enough) item->unsent = 0;
  pthread_mutex_unlock(&files->lock);
  if (enough) tsr_io_start_sync(item->fd);
}
