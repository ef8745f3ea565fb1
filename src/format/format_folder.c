// Safetensors stored whole: one file, or a folder as Hugging Face's libraries write it, with one
// file or several and an index. Both rows share the reader.
//
// The check of a folder compares the index with the headers of the files, and both with
// config.json. Repair writes a new index from the headers, if no tensor would be lost by it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"
#include "base/name_index.h"
#include "base/text_internal.h"
#include "file/model.h"
#include "file/replace.h"
#include "file/safetensors.h"
#include "format/format.h"
#include "format/reading.h"
#include "json/json.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/open.h"
#include "tessera/text.h"

#define INDEX_NAME "model.safetensors.index.json"
#define SINGLE_NAME "model.safetensors"

typedef struct folder_entry {
  const char *tensor, *file;
} folder_entry;

// ---- reading ----

static tsr_status detect_folder(const tsr_format_probe *probe, bool *out_found) {
  *out_found = probe->folder || tsr_ends_with(probe->path, ".json");
  return NULL;
}

static tsr_status detect_file(const tsr_format_probe *probe, bool *out_found) {
  *out_found = !probe->folder && !tsr_ends_with(probe->path, ".json");
  return NULL;
}

static tsr_status take(tsr_checkpoint *checkpoint, const tsr_model *model) {
  for (int i = 0; i < tsr_model_file_count(model); i++) {
    int file = -1;
    TSR_TRY(tsr_reading_add_file(checkpoint, tsr_model_file(model, i), &file));
  }
  TSR_TRY(tsr_reading_add_whole(checkpoint, tsr_model_tensor_at(model, 0), tsr_model_count(model)));
  return tsr_checkpoint_take_metadata(checkpoint, model);
}

static tsr_status read_folder(tsr_checkpoint *checkpoint, const tsr_checkpoint_options *options) {
  tsr_model *model = NULL;
  TSR_TRY(tsr_reading_refuse_plan(checkpoint, options));
  TSR_TRY(tsr_model_open(checkpoint->path, &model));
  tsr_status status = take(checkpoint, model);
  tsr_model_destroy(model);
  return status;
}

// ---- the destination ----

static void name_file(const tsr_dealing *deal, int64_t index, char *out, size_t size) {
  if (deal->count == 1)
    snprintf(out, size, SINGLE_NAME);
  else
    snprintf(out, size, "model-%05lld-of-%05lld.safetensors", (long long)index + 1,
             (long long)deal->count);
}

// As Hugging Face's libraries write it, without the last newline. They sort entries by tensor.
static void write_index(const folder_entry *entries, int64_t count, int64_t bytes, tsr_text *out) {
  tsr_json_writer json;
  tsr_json_begin_document(&json, out);
  tsr_json_add_object(&json, "metadata");
  tsr_json_add_int(&json, "total_size", bytes);
  tsr_json_end_object(&json);
  tsr_json_add_object(&json, "weight_map");
  for (int64_t i = 0; i < count; i++)
    tsr_json_add_string(&json, entries[i].tensor, entries[i].file);
  tsr_json_end_object(&json);
  tsr_json_end_object(&json);
}

static int by_tensor(const void *left, const void *right) {
  const folder_entry *a = left, *b = right;
  return strcmp(a->tensor, b->tensor);
}

static tsr_status make_index(const tsr_dealing *deal) {
  const int64_t count = deal->views->count;
  int64_t bytes = 0;
  if (deal->count == 1) return NULL;
  folder_entry *entries = malloc(sizeof *entries * (size_t)(count + 1));
  if (!entries) return tsr_fail(NO_MEMORY, "the index of a folder");
  for (int64_t i = 0; i < count; i++)
    entries[i] = (folder_entry){deal->views->items[i]->name, tsr_dealing_file_of(deal, i)};
  for (int64_t i = 0; i < deal->count; i++) bytes += deal->bins[i].bytes;
  qsort(entries, (size_t)count, sizeof *entries, by_tensor);
  write_index(entries, count, bytes, &deal->target->index);
  free(entries);
  return tsr_target_set_index(deal->target, INDEX_NAME);
}

// ---- checking: files ----

typedef struct folder_state {
  tsr_fsck *fsck;
  tsr_json_doc *doc;    // of the index; NULL = none that can be read
  const tsr_json *map;  // its weight_map
  tsr_name_index names;
  folder_entry *entries;  // owned: every tensor of every file that counts
  int64_t count, capacity, bytes;
  bool damaged;  // a new index would hide a missing or unreadable tensor
} folder_state;

static int64_t find_file(const tsr_fsck *fsck, const char *name, size_t length) {
  for (int64_t i = 0; i < fsck->file_count; i++)
    if (strlen(fsck->files[i].name) == length && !memcmp(fsck->files[i].name, name, length))
      return i;
  return -1;
}

// ---- checking: the index ----

static tsr_status add_index_failure(folder_state *f, const tsr_fault *place, tsr_status failure) {
  return tsr_fsck_add_failure(f->fsck, place, tsr_note(failure, "%s/" INDEX_NAME, f->fsck->path));
}

static tsr_status read_index(folder_state *f) {
  const char *path = NULL;
  TSR_TRY(tsr_fsck_path(f->fsck, INDEX_NAME, &path));
  if (access(path, F_OK)) return NULL;
  const tsr_fault place = {.kind = TSR_FAULT_BAD_INDEX, .repairable = true, .file = INDEX_NAME};
  tsr_status status = tsr_json_read_file(path, &f->doc);
  if (status) return tsr_fsck_add_failure(f->fsck, &place, status);
  return add_index_failure(f, &place, tsr_index_map(f->doc, &f->map));
}

// Marks the file that an entry names. Each wrong name is reported once.
static tsr_status mark_file(folder_state *f, const tsr_json *member, const char **last,
                            size_t *last_length) {
  const char *name = NULL;
  size_t length = 0;
  tsr_fault place = {.kind = TSR_FAULT_BAD_INDEX, .repairable = true, .file = INDEX_NAME};
  tsr_status status = tsr_index_file(member, &name, &length);
  if (status) return add_index_failure(f, &place, status);
  if (*last && length == *last_length && !memcmp(name, *last, length)) return NULL;
  *last = name;
  *last_length = length;
  const int64_t file = find_file(f->fsck, name, length);
  if (file >= 0) {
    f->fsck->files[file].named = true;
    return NULL;
  }
  for (int64_t i = 0; i < f->fsck->count; i++)
    if (!strncmp(f->fsck->faults[i].file, name, length) && !f->fsck->faults[i].file[length] &&
        (f->fsck->faults[i].kind == TSR_FAULT_FILE_MISSING ||
         f->fsck->faults[i].kind == TSR_FAULT_OUTSIDE))
      return NULL;
  char *copy = strndup(name, length);
  if (!copy) return tsr_fail(NO_MEMORY, "the name of a file");
  place.file = copy;
  place.repairable = false;
  f->damaged = true;  // a new index would omit its tensors
  const bool outside = !length || memchr(name, '/', length) || name[0] == '.';
  place.kind = outside ? TSR_FAULT_OUTSIDE : TSR_FAULT_FILE_MISSING;
  status = tsr_fsck_add(f->fsck, &place,
                        outside ? "%s/%s names file \"%s\", which is not one in its folder"
                                : "%s/%s names file \"%s\", which is not there",
                        f->fsck->path, INDEX_NAME, copy);
  free(copy);
  return status;
}

static tsr_status mark_files(folder_state *f) {
  const char *last = NULL;
  size_t length = 0;
  const tsr_json *m = f->map ? tsr_json_first(f->map) : NULL;
  for (; m; m = tsr_json_next(m)) TSR_TRY(mark_file(f, m, &last, &length));
  return NULL;
}

// The total of a name model-00001-of-00003.safetensors; -1 for other names. Without an index,
// numbered files are the model, or else the single file; other files are only reported.
static int total_of_name(const char *name) {
  int number = 0, total = 0, end = 0;
  const bool numbered =
      sscanf(name, "model-%5d-of-%5d.safetensors%n", &number, &total, &end) == 2 && end > 0;
  return numbered && !name[end] ? total : -1;
}

static tsr_status choose_files(folder_state *f) {
  tsr_fsck *fsck = f->fsck;
  int64_t numbered = 0;
  for (int64_t i = 0; i < fsck->file_count; i++)
    numbered += total_of_name(fsck->files[i].name) >= 0;
  const bool indexed = f->map != NULL;
  if (!indexed && !f->doc && !numbered) {
    const int64_t single = find_file(fsck, SINGLE_NAME, strlen(SINGLE_NAME));
    if (single >= 0) fsck->files[single].named = true;
    if (single < 0)
      return tsr_fsck_add(fsck, &(tsr_fault){.kind = TSR_FAULT_NO_INDEX},
                          "%s: neither " INDEX_NAME " nor " SINGLE_NAME " is there", fsck->path);
  } else if (!indexed) {
    for (int64_t i = 0; i < fsck->file_count; i++)
      fsck->files[i].named = total_of_name(fsck->files[i].name) >= 0;
    if (!f->doc && !fsck->totals[TSR_SEVERITY_ERROR])
      TSR_TRY(tsr_fsck_add(fsck, &(tsr_fault){.kind = TSR_FAULT_NO_INDEX, .repairable = true},
                           "%s: %lld numbered files, but " INDEX_NAME " is not there", fsck->path,
                           (long long)numbered));
  }
  for (int64_t i = 0; i < fsck->file_count; i++)
    if (!fsck->files[i].named)
      TSR_TRY(tsr_fsck_add(fsck,
                           &(tsr_fault){.kind = TSR_FAULT_FILE_SURPLUS,
                                        .severity = TSR_SEVERITY_WARNING,
                                        .file = fsck->files[i].name},
                           "%s/%s: the index does not name it", fsck->path, fsck->files[i].name));
  return NULL;
}

// Without an index, missing numbers are missing files.
static tsr_status check_numbers(folder_state *f) {
  int most = 0;
  for (int64_t i = 0; i < f->fsck->file_count; i++) {
    const int total = total_of_name(f->fsck->files[i].name);
    if (total > most) most = total;
  }
  for (int i = 1; i <= most && !f->map; i++) {
    char name[64];
    snprintf(name, sizeof name, "model-%05d-of-%05d.safetensors", i, most);
    if (find_file(f->fsck, name, strlen(name)) >= 0) continue;
    f->damaged = true;
    TSR_TRY(tsr_fsck_add(f->fsck, &(tsr_fault){.kind = TSR_FAULT_FILE_MISSING, .file = name},
                         "%s/%s: the file is missing, but others of %d are there", f->fsck->path,
                         name, most));
  }
  return NULL;
}

// ---- checking: the headers ----

static tsr_status take_tensor(folder_state *f, const char *file, const tsr_model_tensor *tensor) {
  const char *name = tensor->tensor.path;
  int64_t existing = -1;
  TSR_TRY(tsr_name_index_add(&f->names, name, f->count, &existing));
  if (existing >= 0) {
    f->damaged = true;
    return tsr_fsck_add(f->fsck,
                        &(tsr_fault){.kind = TSR_FAULT_TWICE, .file = file, .tensor = name},
                        "%s: tensor \"%s\" is in two files, %s and %s", f->fsck->path, name,
                        f->entries[existing].file, file);
  }
  void *entries = tsr_grow(f->entries, f->count, &f->capacity, sizeof *f->entries);
  if (!entries) return tsr_fail(NO_MEMORY, "a list of tensors");
  f->entries = entries;
  f->entries[f->count++] = (folder_entry){name, file};
  f->bytes += tensor->end - tensor->begin;
  return NULL;
}

static tsr_status read_files(folder_state *f) {
  for (int64_t i = 0; i < f->fsck->file_count; i++) {
    tsr_fsck_file *file = &f->fsck->files[i];
    if (!file->named) continue;
    const int64_t errors = f->fsck->totals[TSR_SEVERITY_ERROR];
    TSR_TRY(tsr_fsck_read_header(f->fsck, file->name, &file->model));
    f->damaged = f->damaged || f->fsck->totals[TSR_SEVERITY_ERROR] > errors;
    for (int64_t k = 0; file->model && k < tsr_model_count(file->model); k++)
      TSR_TRY(take_tensor(f, file->name, tsr_model_tensor_at(file->model, k)));
  }
  f->fsck->tensors = f->count;
  return NULL;
}

// ---- checking: index against headers ----

static tsr_status check_entry(folder_state *f, const tsr_json *member) {
  size_t key_length = 0, length = 0;
  const char *key = tsr_json_key(member, &key_length), *file = NULL;
  tsr_status status = tsr_index_file(member, &file, &length);
  if (status) {
    tsr_status_free(status);  // already reported
    return NULL;
  }
  const int64_t said = find_file(f->fsck, file, length);
  if (said < 0 || !f->fsck->files[said].model) return NULL;  // already reported
  char *name = strndup(key, key_length);
  if (!name) return tsr_fail(NO_MEMORY, "the name of a tensor");
  const int64_t found = tsr_name_index_find(&f->names, name);
  const char *holder = found < 0 ? "no file" : f->entries[found].file;
  // No file holds the tensor: a new index would hide that.
  if (found < 0) f->damaged = true;
  const tsr_fault place = {.kind = TSR_FAULT_NOT_IN_FILE,
                           .repairable = found >= 0,
                           .file = f->fsck->files[said].name,
                           .tensor = name};
  if (found < 0 || (holder != place.file && tsr_model_find(f->fsck->files[said].model, name) < 0))
    status = tsr_fsck_add(f->fsck, &place,
                          "%s/%s: the index says that it holds tensor \"%s\", but its header does "
                          "not name it; %s does",
                          f->fsck->path, place.file, name, holder);
  free(name);
  return status;
}

static tsr_status check_total(folder_state *f) {
  const tsr_json *total =
      tsr_json_find(tsr_json_find(tsr_json_root(f->doc), "metadata"), "total_size");
  int64_t bytes = 0;
  if (!total || f->damaged || f->fsck->totals[TSR_SEVERITY_ERROR]) return NULL;
  const tsr_fault place = {.kind = TSR_FAULT_TOTAL_SIZE,
                           .severity = TSR_SEVERITY_WARNING,
                           .repairable = true,
                           .file = INDEX_NAME};
  tsr_status status = tsr_json_get_int(total, "total_size", &bytes);
  if (status) return add_index_failure(f, &place, status);
  if (bytes == f->bytes) return NULL;
  return tsr_fsck_add(f->fsck, &place, "%s/%s: total_size is %lld, but the tensors take %lld bytes",
                      f->fsck->path, INDEX_NAME, (long long)bytes, (long long)f->bytes);
}

static tsr_status compare(folder_state *f) {
  if (!f->map) return NULL;
  for (const tsr_json *m = tsr_json_first(f->map); m; m = tsr_json_next(m))
    TSR_TRY(check_entry(f, m));
  for (int64_t i = 0; i < f->count; i++) {
    const folder_entry *e = &f->entries[i];
    if (!tsr_json_find(f->map, e->tensor))
      TSR_TRY(tsr_fsck_add(f->fsck,
                           &(tsr_fault){.kind = TSR_FAULT_NOT_IN_INDEX,
                                        .repairable = true,
                                        .file = e->file,
                                        .tensor = e->tensor},
                           "%s/%s: it holds tensor \"%s\", which is not in the index",
                           f->fsck->path, e->file, e->tensor));
  }
  return check_total(f);
}

static tsr_status check_tied(folder_state *f) {
  static const char head[] = "lm_head.weight";
  const char *path = NULL;
  tsr_json_doc *doc = NULL;
  bool tied = false;
  TSR_TRY(tsr_fsck_path(f->fsck, "config.json", &path));
  if (access(path, F_OK)) return NULL;
  tsr_status status = tsr_json_read_file(path, &doc);
  if (status)
    return tsr_fsck_add_failure(
        f->fsck, &(tsr_fault){.kind = TSR_FAULT_UNREADABLE, .file = "config.json"}, status);
  const tsr_json *value = tsr_json_find(tsr_json_root(doc), "tie_word_embeddings");
  if (value) tsr_status_free(tsr_json_get_bool(value, "tie_word_embeddings", &tied));
  tsr_json_destroy(doc);
  if (!tied || !f->count || tsr_name_index_find(&f->names, head) >= 0) return NULL;
  return tsr_fsck_add(
      f->fsck, &(tsr_fault){.kind = TSR_FAULT_TIED, .severity = TSR_SEVERITY_NOTE, .tensor = head},
      "%s: tensor \"%s\" is absent; by config.json it is tied to the embedding", f->fsck->path,
      head);
}

// ---- repair ----

// The old index gets a second name first, so that an index exists at every moment.
static tsr_status keep_old(const char *path, const char *kept) {
  if (access(path, F_OK)) return NULL;
  unlink(kept);
  return link(path, kept) ? tsr_fail(IO, "%s: the old index cannot be kept there", kept) : NULL;
}

static tsr_status repair(folder_state *f) {
  const char *path = NULL, *kept = NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_replacement file;
  int64_t repairable = 0;
  for (int64_t i = 0; i < f->fsck->count; i++) repairable += f->fsck->faults[i].repairable;
  if (!f->fsck->options.repair || !repairable) return NULL;
  TSR_TRY(tsr_fsck_path(f->fsck, INDEX_NAME, &path));
  TSR_TRY(tsr_fsck_path(f->fsck, INDEX_NAME ".bak", &kept));
  qsort(f->entries, (size_t)f->count, sizeof *f->entries, by_tensor);
  write_index(f->entries, f->count, f->bytes, &text);
  tsr_text_add_char(&text, '\n');
  tsr_status status = tsr_text_check(&text);
  if (!status) status = keep_old(path, kept);
  if (!status) status = tsr_replacement_begin(&file, path);
  if (!status) {
    status = tsr_replacement_write(&file, text.data, (int64_t)text.length, 0);
    status = tsr_replacement_end(&file, status);
  }
  tsr_text_deinit(&text);
  if (!status) f->fsck->repaired = true;
  return status;
}

static tsr_status check_folder(tsr_fsck *fsck) {
  folder_state f = {.fsck = fsck};
  tsr_status status = read_index(&f);
  if (!status) status = mark_files(&f);
  if (!status) status = check_numbers(&f);
  if (!status) status = choose_files(&f);
  if (!status) status = read_files(&f);
  if (!status) status = compare(&f);
  if (!status) status = check_tied(&f);
  // A new index would hide a lost tensor: then nothing is repairable.
  for (int64_t i = 0; i < fsck->count; i++)
    if (f.damaged || !f.count) fsck->faults[i].repairable = false;
  if (!status) status = repair(&f);
  tsr_name_index_deinit(&f.names);
  tsr_json_destroy(f.doc);
  free(f.entries);
  return status;
}

// ---- rows ----

static tsr_status check_file(tsr_fsck *fsck) {
  tsr_model *model = NULL;
  TSR_TRY(tsr_fsck_read_header(fsck, "", &model));
  if (model) fsck->tensors = tsr_model_count(model);
  tsr_model_destroy(model);
  return NULL;
}

static const char *const patterns[] = {"*.safetensors", "*.safetensors.index.json", NULL};

const tsr_format_ops tsr_format_file = {.name = "file",
                                        .single_name = SINGLE_NAME,
                                        .ending = ".safetensors",
                                        .patterns = patterns,
                                        .stage = TSR_DETECT_REST,
                                        .detect = detect_file,
                                        .read = read_folder,
                                        .lay_out = tsr_dealing_lay_out_safetensors,
                                        .check = check_file};

const tsr_format_ops tsr_format_folder = {.name = "folder",
                                          .index_name = INDEX_NAME,
                                          .ending = ".safetensors",
                                          .patterns = patterns,
                                          .stage = TSR_DETECT_REST,
                                          .detect = detect_folder,
                                          .read = read_folder,
                                          .name_file = name_file,
                                          .lay_out = tsr_dealing_lay_out_safetensors,
                                          .make_index = make_index,
                                          .check = check_folder};
