// Folders as readers see them: names in them, numbered paths, and paths of single files.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/grow.h"
#include "base/io.h"
#include "format/reading.h"

tsr_status tsr_reading_each_name(const char *folder, tsr_folder_name_fn *fn, void *context) {
  DIR *listing = opendir(folder);
  tsr_status status = NULL;
  bool stop = false;
  if (!listing) return tsr_fail(IO, "%s: %s", folder, strerror(errno));
  for (const char *name = ""; name && !stop && !status;) {
    status = tsr_io_next_name(listing, folder, &name);
    if (!status && name) status = fn(context, folder, name, &stop);
  }
  closedir(listing);
  return status;
}

// ---- numbered paths ----

tsr_status tsr_numbered_paths_add(tsr_numbered_paths *list, int64_t number, const char *path) {
  void *items = tsr_grow(list->items, list->count, &list->capacity, sizeof *list->items);
  if (items) list->items = items;
  char *copy = items ? strdup(path) : NULL;
  if (!copy) return tsr_fail(NO_MEMORY, "a list of files");
  list->items[list->count++] = (tsr_numbered_path){.number = number, .path = copy};
  return NULL;
}

static int by_number_and_path(const void *left, const void *right) {
  const tsr_numbered_path *a = left, *b = right;
  if (a->number != b->number) return a->number < b->number ? -1 : 1;
  return strcmp(a->path, b->path);
}

void tsr_numbered_paths_sort(tsr_numbered_paths *list) {
  if (list->count) qsort(list->items, (size_t)list->count, sizeof *list->items, by_number_and_path);
}

void tsr_numbered_paths_deinit(tsr_numbered_paths *list) {
  for (int64_t i = 0; i < list->count; i++) free(list->items[i].path);
  free(list->items);
}

// ---- single files ----

tsr_status tsr_reading_join(const char *folder, const char *name, size_t length,
                            char out[PATH_MAX]) {
  if (snprintf(out, PATH_MAX, "%s/%.*s", folder, (int)length, name) < PATH_MAX) return NULL;
  return tsr_fail(TOO_LARGE, "%s: the path of a file in it is longer than %d bytes", folder,
                  PATH_MAX);
}

tsr_status tsr_reading_find_file(const char *folder, const char *name, char path[PATH_MAX],
                                 bool *out_found) {
  struct stat info;
  *out_found = false;
  if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX) return NULL;
  return tsr_io_look(path, out_found, &info);
}

bool tsr_reading_is_inside(const char *name, size_t length) {
  return length && !memchr(name, '/', length) && !memchr(name, '\0', length) && name[0] != '.';
}

tsr_status tsr_reading_add_file(tsr_checkpoint *checkpoint, const char *path, int *out_file) {
  struct stat info;
  if (stat(path, &info))
    return tsr_fail(IO, "%s: the file disappeared after its header was read: %s", path,
                    strerror(errno));
  return tsr_store_add_file(checkpoint->store, path, info.st_size, out_file);
}
