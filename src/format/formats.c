// The table of formats. One loop over its rows finds the format of a path, by stages: strict tests
// first, formats that accept any file or folder last.
#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/sized.h"
#include "base/text_internal.h"
#include "element/dtype_internal.h"
#include "format/format.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/open.h"

// ---- rows ----

static const tsr_format_ops *const rows[TSR_FORMAT_COUNT] = {
#define X(id, word) [TSR_FORMAT_##id] = &tsr_format_##word,
    TSR_CHECKPOINT_FORMATS(X)
#undef X
};

// Weak: a program that defines this function itself adds rows at link time.
__attribute__((weak)) const tsr_format_ops *tsr_format_added(int index) {
  (void)index;
  return NULL;
}

static int format_count(void) {
  int count = TSR_FORMAT_COUNT;
  while (tsr_format_added(count - TSR_FORMAT_COUNT)) count++;
  return count;
}

static bool has_row(tsr_checkpoint_format format) {
  return format != TSR_FORMAT_ANY && (unsigned)format < (unsigned)format_count();
}

const tsr_format_ops *tsr_format_row(tsr_checkpoint_format format) {
  if (!has_row(format)) return NULL;
  return format < TSR_FORMAT_COUNT ? rows[format]
                                   : tsr_format_added((int)format - TSR_FORMAT_COUNT);
}

const char *tsr_checkpoint_format_name(tsr_checkpoint_format format) {
  if (format == TSR_FORMAT_ANY) return "any";
  return has_row(format) ? tsr_format_row(format)->name : NULL;
}

tsr_status tsr_checkpoint_format_parse(const char *name, tsr_checkpoint_format *out_format) {
  tsr_text known = TSR_TEXT_EMPTY;
  for (int i = 0; i < format_count(); i++) {
    const char *word = tsr_checkpoint_format_name((tsr_checkpoint_format)i);
    if (!strcmp(name, word)) {
      *out_format = (tsr_checkpoint_format)i;
      tsr_text_deinit(&known);
      return NULL;
    }
    tsr_text_addf(&known, "%s%s", i ? ", " : "", word);
  }
  tsr_status status = tsr_fail(BAD_ARGUMENT, "format \"%s\" is unknown; known formats are %s", name,
                               tsr_text_string(&known));
  tsr_text_deinit(&known);
  return status;
}

tsr_status tsr_checkpoint_check_format(tsr_checkpoint_format format) {
  if (format == TSR_FORMAT_ANY || has_row(format)) return NULL;
  return tsr_fail(BAD_ARGUMENT, "checkpoint format %d does not exist, wanted 0 to %d", (int)format,
                  format_count() - 1);
}

tsr_checkpoint_format tsr_format_default(bool cut) {
  return cut ? TSR_FORMAT_TESSERA : TSR_FORMAT_FOLDER;
}

// ---- names of files ----

const char *tsr_format_single_ending(tsr_checkpoint_format format) {
  const tsr_format_ops *row = tsr_format_row(format);
  return row && row->single_name ? strrchr(row->single_name, '.') : NULL;
}

tsr_checkpoint_format tsr_format_of_file_name(const char *path) {
  for (int i = TSR_FORMAT_ANY + 1; i < format_count(); i++) {
    const char *ending = tsr_format_single_ending((tsr_checkpoint_format)i);
    if (ending && strlen(path) > strlen(ending) && tsr_ends_with(path, ending))
      return (tsr_checkpoint_format)i;
  }
  return TSR_FORMAT_ANY;
}

bool tsr_formats_own(const char *name) {
  for (int i = TSR_FORMAT_ANY + 1; i < format_count(); i++)
    for (const char *const *p = tsr_format_row((tsr_checkpoint_format)i)->patterns; *p; p++)
      if (!fnmatch(*p, name, 0)) return true;
  return false;
}

// ---- detecting ----

static tsr_status read_start(const char *path, char bytes[8]) {
  int fd = -1;
  int64_t size = 0;
  TSR_TRY(tsr_io_open(path, &fd));
  tsr_status status = tsr_io_size(fd, path, &size);
  if (!status) status = tsr_io_read(fd, path, bytes, size < 8 ? size : 8, 0);
  tsr_status_free(tsr_io_close(fd, path));  // nothing was written
  return status;
}

static tsr_status look_at(const char *path, tsr_format_probe *probe) {
  struct stat info;
  *probe = (tsr_format_probe){.path = path};
  if (stat(path, &info)) {
    const int error = errno;
    if (error != ENOENT) return tsr_fail(IO, "%s: %s", path, strerror(error));
    return tsr_fail(
        NOT_FOUND, "%s: %s", path,
        lstat(path, &info) ? "there is no such file or folder" : "the link points to nothing");
  }
  probe->folder = S_ISDIR(info.st_mode);
  const bool named = tsr_ends_with(path, ".json") || tsr_ends_with(path, ".safetensors");
  return probe->folder || named ? NULL : read_start(path, probe->start);
}

static tsr_status try_stage(const tsr_format_probe *probe, tsr_detect_stage stage,
                            tsr_checkpoint_format *out_format) {
  for (int i = TSR_FORMAT_ANY + 1; i < format_count(); i++) {
    const tsr_format_ops *row = tsr_format_row((tsr_checkpoint_format)i);
    bool found = false;
    if (row->stage == stage) TSR_TRY(row->detect(probe, &found));
    if (!found) continue;
    *out_format = (tsr_checkpoint_format)i;
    return NULL;
  }
  return NULL;
}

tsr_status tsr_format_detect(const char *path, tsr_checkpoint_format *out_format) {
  tsr_checkpoint_format format = TSR_FORMAT_ANY;
  tsr_format_probe probe;
  TSR_TRY(look_at(path, &probe));
  for (int stage = 0; stage < TSR_DETECT_STAGE_COUNT && format == TSR_FORMAT_ANY; stage++)
    TSR_TRY(try_stage(&probe, (tsr_detect_stage)stage, &format));
  *out_format = format;
  return NULL;
}

// ---- opening ----

tsr_status tsr_checkpoint_open_reporting(const char *path, const tsr_checkpoint_options *options,
                                         tsr_fault_fn *report, void *context,
                                         tsr_checkpoint **out_checkpoint) {
  tsr_checkpoint_options read;
  tsr_checkpoint *checkpoint = NULL;
  TSR_TRY(tsr_sized_read(tsr_checkpoint_options, options, &read));
  tsr_checkpoint_format format = read.format;
  TSR_TRY(tsr_checkpoint_check_format(format));
  TSR_TRY(tsr_dtype_check_wanted(read.fallback_dtype));
  if (format == TSR_FORMAT_ANY) TSR_TRY(tsr_format_detect(path, &format));
  TSR_TRY(tsr_checkpoint_create(path, &checkpoint));
  checkpoint->format = format;
  checkpoint->report = report;
  checkpoint->report_context = context;
  tsr_status status = tsr_format_row(format)->read(checkpoint, &read);
  if (!status) status = tsr_text_check(&checkpoint->warnings);
  if (!status && !checkpoint->fault_count) status = tsr_store_open(checkpoint->store, false);
  if (status)
    tsr_checkpoint_release(checkpoint);
  else
    *out_checkpoint = checkpoint;
  return status;
}

tsr_status tsr_checkpoint_open(const char *path, const tsr_checkpoint_options *options,
                               tsr_checkpoint **out_checkpoint) {
  return tsr_checkpoint_open_reporting(path, options, NULL, NULL, out_checkpoint);
}
