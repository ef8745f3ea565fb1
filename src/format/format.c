// Which format a checkpoint has, and opening it.
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/sized.h"
#include "base/text_internal.h"
#include "element/dtype_internal.h"
#include "format/format.h"
#include "format/numpy.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/open.h"

// ---- formats ----

static const char *const format_names[TSR_FORMAT_COUNT] = {[TSR_FORMAT_ANY] = "any",
#define X(id, word) [TSR_FORMAT_##id] = (word),
                                                           TSR_CHECKPOINT_FORMATS(X)
#undef X
};

const char *tsr_checkpoint_format_name(tsr_checkpoint_format format) {
  return format >= 0 && format < TSR_FORMAT_COUNT ? format_names[format] : NULL;
}

tsr_status tsr_checkpoint_format_parse(const char *name, tsr_checkpoint_format *out_format) {
  for (int i = 0; i < TSR_FORMAT_COUNT; i++)
    if (!strcmp(name, format_names[i])) {
      *out_format = (tsr_checkpoint_format)i;
      return NULL;
    }
  tsr_text known = TSR_TEXT_EMPTY;
  for (int i = 0; i < TSR_FORMAT_COUNT; i++)
    tsr_text_addf(&known, "%s%s", i ? ", " : "", format_names[i]);
  tsr_status status = tsr_fail(BAD_ARGUMENT, "\"%s\" is no format of checkpoints; there are %s",
                               name, tsr_text_string(&known));
  tsr_text_deinit(&known);
  return status;
}

tsr_status tsr_checkpoint_folder_format(const char *path, tsr_checkpoint_format *out_format) {
  static const struct {
    tsr_checkpoint_format format;
    tsr_status (*has)(const char *folder, bool *out_found);
  } formats[] = {{TSR_FORMAT_TESSERA, tsr_checkpoint_has_manifest},
                 {TSR_FORMAT_RANKS, tsr_checkpoint_has_ranks},
                 {TSR_FORMAT_STAGES, tsr_checkpoint_has_stages},
                 {TSR_FORMAT_NPY, tsr_checkpoint_has_npy}};
  bool found = false;
  for (size_t i = 0; i < sizeof formats / sizeof *formats && !found; i++) {
    TSR_TRY(formats[i].has(path, &found));
    *out_format = found ? formats[i].format : TSR_FORMAT_FOLDER;
  }
  return NULL;
}

static tsr_status find_format(const char *path, tsr_checkpoint_format *out_format) {
  struct stat info;
  if (stat(path, &info)) {
    const int error = errno;
    if (error != ENOENT) return tsr_fail(IO, "%s: %s", path, strerror(error));
    return tsr_fail(
        NOT_FOUND, "%s: %s", path,
        lstat(path, &info) ? "there is no such file or folder" : "the link points to nothing");
  }
  if (S_ISDIR(info.st_mode)) return tsr_checkpoint_folder_format(path, out_format);
  *out_format = TSR_FORMAT_FOLDER;
  if (tsr_ends_with(path, ".json")) return NULL;
  TSR_TRY(tsr_checkpoint_numpy_kind(path, out_format));
  if (*out_format == TSR_FORMAT_ANY) *out_format = TSR_FORMAT_FILE;
  return NULL;
}

// ---- opening ----

static tsr_checkpoint_reader *const readers[TSR_FORMAT_COUNT] = {
    [TSR_FORMAT_FILE] = tsr_checkpoint_read_plain,
    [TSR_FORMAT_FOLDER] = tsr_checkpoint_read_plain,
    [TSR_FORMAT_RANKS] = tsr_checkpoint_read_ranks,
    [TSR_FORMAT_TESSERA] = tsr_checkpoint_read_manifest,
    [TSR_FORMAT_STAGES] = tsr_checkpoint_read_stages,
    [TSR_FORMAT_NPZ] = tsr_checkpoint_read_numpy,
    [TSR_FORMAT_NPY] = tsr_checkpoint_read_numpy,
};

tsr_status tsr_checkpoint_check_format(tsr_checkpoint_format format) {
  if (format >= 0 && format < TSR_FORMAT_COUNT) return NULL;
  return tsr_fail(BAD_ARGUMENT, "checkpoint format %d does not exist, wanted 0 to %d", (int)format,
                  TSR_FORMAT_COUNT - 1);
}

tsr_status tsr_checkpoint_open_telling(const char *path, const tsr_checkpoint_options *options,
                                       tsr_complaint_fn *complain, void *context,
                                       tsr_checkpoint **out_checkpoint) {
  tsr_checkpoint_options read;
  tsr_checkpoint *checkpoint = NULL;
  TSR_TRY(tsr_sized_read(tsr_checkpoint_options, options, &read));
  tsr_checkpoint_format format = read.format;
  TSR_TRY(tsr_checkpoint_check_format(format));
  TSR_TRY(tsr_dtype_check_wanted(read.forgotten));
  if (format == TSR_FORMAT_ANY) TSR_TRY(find_format(path, &format));
  TSR_TRY(tsr_checkpoint_create(path, &checkpoint));
  checkpoint->format = format;
  checkpoint->complain = complain;
  checkpoint->complain_context = context;
  tsr_status status = readers[format](checkpoint, &read);
  if (!status) status = tsr_text_check(&checkpoint->warnings);
  if (!status && !checkpoint->complaints) status = tsr_store_open(checkpoint->store, false);
  if (status)
    tsr_checkpoint_release(checkpoint);
  else
    *out_checkpoint = checkpoint;
  return status;
}

tsr_status tsr_checkpoint_open(const char *path, const tsr_checkpoint_options *options,
                               tsr_checkpoint **out_checkpoint) {
  return tsr_checkpoint_open_telling(path, options, NULL, NULL, out_checkpoint);
}
