// Checkpoints made of an input: its parts, between lines that are %%, become files of a folder in
// memory. What is opened must be sound to fsck and readable, and what is refused must not be.
#ifndef TESSERA_TESTS_FUZZ_FOLDER_H
#define TESSERA_TESTS_FUZZ_FOLDER_H

#include <assert.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "element/shape_internal.h"
#include "format/fsck_report.h"
#include "json/json.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/open.h"
#include "tessera/status.h"
#include "tessera/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_PARTS = 8, MOST_DATA = 1 << 16 };

typedef struct fuzz_part {
  const char *bytes;
  size_t length;
} fuzz_part;

typedef struct fuzz_folder {
  char path[64];
  int count;
  fuzz_part parts[MOST_PARTS];
} fuzz_folder;

static inline void fuzz_path(const fuzz_folder *folder, const char *name, char out[static 512]) {
  snprintf(out, 512, "%s/%s", folder->path, name);
}

static inline void fuzz_folder_make(const uint8_t *data, size_t size, fuzz_folder *out) {
  const char *bytes = (const char *)data, *end = bytes + size;
  *out = (fuzz_folder){.path = "/dev/shm/tessera-fuzz-XXXXXX"};
  if (!mkdtemp(out->path)) {
    strcpy(out->path, "/tmp/tessera-fuzz-XXXXXX");
    if (!mkdtemp(out->path)) abort();
  }
  while (out->count < MOST_PARTS && bytes <= end) {
    const char *line = bytes < end ? memmem(bytes, (size_t)(end - bytes), "\n%%\n", 4) : NULL;
    if (out->count == MOST_PARTS - 1) line = NULL;
    out->parts[out->count++] = (fuzz_part){bytes, (size_t)((line ? line : end) - bytes)};
    bytes = line ? line + 4 : end + 1;
  }
}

static inline void fuzz_folder_remove(const fuzz_folder *folder) {
  DIR *listing = opendir(folder->path);
  char path[512];
  if (!listing) abort();
  for (const struct dirent *entry = NULL; (entry = readdir(listing));) {
    fuzz_path(folder, entry->d_name, path);
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) remove(path);
  }
  closedir(listing);
  if (rmdir(folder->path)) abort();
}

static inline void fuzz_write(const fuzz_folder *folder, int part, const char *name) {
  char path[512];
  if (part >= folder->count) return;
  fuzz_path(folder, name, path);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(folder->parts[part].bytes, 1, folder->parts[part].length, file) !=
                   folder->parts[part].length)
    abort();
  fclose(file);
}

// Where the tensors of a header end, if it is one, so that sound files are easily found.
static inline int64_t fuzz_data_bytes(const fuzz_part *header) {
  tsr_json_doc *doc = NULL;
  int64_t most = 0;
  tsr_status status = tsr_json_parse(header->bytes, header->length, &doc);
  const tsr_json *m = status ? NULL : tsr_json_first(tsr_json_root(doc));
  for (; m; m = tsr_json_next(m)) {
    int64_t end = 0;
    tsr_status_free(
        tsr_json_get_int(tsr_json_at(tsr_json_find(m, "data_offsets"), 1), "end", &end));
    if (end > most && end <= MOST_DATA) most = end;
  }
  tsr_status_free(status);
  tsr_json_destroy(doc);
  return most;
}

// A safetensors file whose header is the part.
static inline void fuzz_write_tensors(const fuzz_folder *folder, int part, const char *name) {
  char path[512];
  if (part >= folder->count) return;
  const fuzz_part *header = &folder->parts[part];
  const uint64_t length = header->length;
  const int64_t data = fuzz_data_bytes(header);
  fuzz_path(folder, name, path);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(&length, 8, 1, file) != 1 ||
      fwrite(header->bytes, 1, header->length, file) != header->length)
    abort();
  for (int64_t i = 0; i < data; i++) fputc((int)(i % 251), file);
  fclose(file);
}

static inline void fuzz_read_all(const tsr_checkpoint *model) {
  const tsr_tree *tree = tsr_checkpoint_tree(model);
  for (int64_t i = 0; i < tsr_tree_count(tree); i++) {
    const int64_t bytes = tsr_tensor_bytes(tsr_tree_at(tree, i));
    if (bytes > MOST_DATA) continue;
    char *elements = malloc((size_t)bytes + 1);
    tsr_status status = tsr_checkpoint_read(model, i, NULL, elements, bytes);
    assert(!status);
    free(elements);
  }
}

// Opens it and looks for faults: both say the same. Gives whether it is sound.
static inline bool fuzz_check(const fuzz_folder *folder) {
  tsr_checkpoint *model = NULL;
  tsr_fsck *fsck = NULL;
  tsr_status status = tsr_checkpoint_open(folder->path, NULL, &model);
  assert(!status || *tsr_status_text(status));
  const bool opened = !status, plan = tsr_status_cause(status) == TSR_CAUSE_PLAN_REQUIRED;
  if (opened) fuzz_read_all(model);
  tsr_status_free(status);
  tsr_checkpoint_release(model);
  status = tsr_fsck_run(folder->path, NULL, &fsck);
  assert(!status);
  const bool sound = tsr_fsck_total(fsck, TSR_SEVERITY_ERROR) == 0;
  assert(plan || sound == opened);
  for (int64_t i = 0; i < tsr_fsck_count(fsck); i++)
    assert(strstr(tsr_fsck_at(fsck, i)->message, folder->path));
  tsr_fsck_destroy(fsck);
  return opened;
}

#endif
