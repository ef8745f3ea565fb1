// NumPy's files as destinations: an archive (.npz), and a folder of arrays (.npy) with an index.
//
// Headers of an array say its size, so that all is laid out before the first element is there. An
// archive has checksums of its arrays besides: they are joined from those of the blocks, and what
// stands between the arrays is written when they are known.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/text_internal.h"
#include "file/file_metadata.h"
#include "file/npy_internal.h"
#include "file/npz.h"
#include "file/safetensors.h"
#include "format/dealing.h"
#include "format/numpy.h"
#include "json/json.h"
#include "store/checkpoint_metadata.h"
#include "tessera/engine/kernels.h"
#include "view/tensor_hash.h"

static const char ending[] = ".npy";
enum { ENDING = sizeof ending - 1, HASH_DIGITS = 32, MOST_KEPT = 200 };

// ---- names of files ----

// What no file system minds, and nobody takes for an option, a hidden file or a path. A ~ is kept
// for names that are cut off, so that no two tensors have one file.
static bool is_plain(unsigned char c, bool first) {
  if (c < 0x20 || c == 0x7f || (first && (c == '.' || c == '-'))) return false;
  return !strchr("/\\%:*?\"<>|~", c);
}

void tsr_npy_file_name(const char *tensor, char out[TSR_NPY_FILE_NAME]) {
  const size_t most = TSR_NPY_FILE_NAME - 1 - ENDING;
  size_t length = 0, kept = 0;
  if (!*tensor) out[length++] = '%';  // that no other name begins with and nothing after it
  for (const char *c = tensor; *c && length <= most; c++) {
    const bool plain = is_plain((unsigned char)*c, c == tensor);
    if (length + (plain ? 1 : 3) > most) {
      length = most + 1;
      break;
    }
    if (plain)
      out[length++] = *c;
    else
      length += (size_t)snprintf(out + length, 4, "%%%02X", (unsigned char)*c);
    // A name that is cut off ends with a whole character.
    if (length <= MOST_KEPT && ((unsigned char)c[1] & 0xc0) != 0x80) kept = length;
  }
  if (length > most) {
    const tsr_hash128 hash = tsr_block_hash(tensor, (int64_t)strlen(tensor));
    length = kept + (size_t)snprintf(out + kept, HASH_DIGITS + 2, "~%016llx%016llx",
                                     (unsigned long long)hash.high, (unsigned long long)hash.low);
  }
  memcpy(out + length, ending, ENDING + 1);
}

// ---- files ----

static tsr_npz_item item_of(const tsr_view *view) {
  return (tsr_npz_item){.tensor = tsr_tensor_of(view->name, view->dtype, &view->shape)};
}

tsr_status tsr_target_plan_array(const tsr_dealing *deal, const tsr_bin *bin,
                                 tsr_safetensors_file *out_file) {
  const tsr_view *view = deal->views->items[bin->slots[0].tensor];
  tsr_safetensors_file file = {.begins = calloc(1, sizeof *file.begins)};
  size_t length = 0;
  if (!file.begins) return tsr_fail(NO_MEMORY, "a file of one tensor");
  tsr_status status = tsr_npy_header(view->dtype, &view->shape, false, &file.header, &length);
  if (status) {
    free(file.begins);
    return tsr_note(status, "tensor \"%s\"", view->name);
  }
  file.length = file.begins[0] = (int64_t)length;
  file.size = file.length + tsr_view_bytes(view, view->elements);
  *out_file = file;
  return NULL;
}

tsr_status tsr_target_plan_archive(const tsr_dealing *deal, const tsr_bin *bin,
                                   tsr_safetensors_file *out_file) {
  tsr_npz_item *items = calloc((size_t)bin->count + 1, sizeof *items);
  tsr_safetensors_file file = {.begins = calloc((size_t)bin->count + 1, sizeof *file.begins)};
  tsr_text record = TSR_TEXT_EMPTY;
  tsr_status status = NULL;
  if (!items || !file.begins)
    status = tsr_fail(NO_MEMORY, "an archive of %lld tensors", (long long)bin->count);
  for (int64_t i = 0; i < bin->count && !status; i++)
    items[i] = item_of(deal->views->items[bin->slots[i].tensor]);
  // NumPy knows an archive by its first bytes: of an empty one they must be those of its end.
  if (!status && bin->count > 0)
    status =
        tsr_metadata_write_record(deal->options->metadata, deal->options->metadata_count, &record);
  if (!status)
    status =
        tsr_npz_plan(items, bin->count, tsr_text_string(&record), &deal->target->zip, file.begins);
  tsr_text_deinit(&record);
  free(items);
  if (status) {
    free(file.begins);
    return status;
  }
  file.size = deal->target->zip.size;
  *out_file = file;
  return NULL;
}

// ---- ends ----

tsr_status tsr_target_index_arrays(const tsr_dealing *deal) {
  tsr_target *target = deal->target;
  tsr_json_writer json;
  tsr_json_writer_init(&json, &target->index, 1);
  tsr_json_begin_object(&json);
  tsr_json_write_key(&json, "schema");
  tsr_json_write_string(&json, TSR_NPY_SCHEMA);
  if (deal->options->metadata_count > 0) {
    tsr_json_write_key(&json, "metadata");
    TSR_TRY(tsr_metadata_write(deal->options->metadata, deal->options->metadata_count, &json));
  }
  tsr_json_write_key(&json, "tensors");
  tsr_json_begin_object(&json);
  for (int64_t i = 0; i < deal->views->count; i++) {
    const tsr_view *view = deal->views->items[i];
    const tsr_stored_part *part = tsr_store_part(target->store, i, 0, 0);
    tsr_json_write_key(&json, view->name);
    tsr_json_begin_inline_object(&json);
    tsr_json_write_key(&json, "file");
    tsr_json_write_string(&json, target->files[part->file].name);
    tsr_json_write_key(&json, "dtype");
    tsr_json_write_string(&json, tsr_dtype_name(view->dtype, TSR_NAMES_OWN));
    tsr_json_end_object(&json);
  }
  tsr_json_end_object(&json);
  tsr_json_end_object(&json);
  tsr_text_add_char(&target->index, '\n');
  target->index_name = TSR_NPY_INDEX;
  return tsr_text_check(&target->index);
}

tsr_block_digest tsr_target_digest(const tsr_target *target) {
  return target->format == TSR_FORMAT_TESSERA ? TSR_DIGEST_HASH
         : target->format == TSR_FORMAT_NPZ   ? TSR_DIGEST_CRC
                                              : TSR_DIGEST_NONE;
}

tsr_status tsr_target_end_archive(tsr_target *target, const uint32_t *crcs, bool sync) {
  const tsr_store *store = target->store;
  int fd = -1;
  for (int64_t i = 0; i < store->count; i++) tsr_zip_plan_set_crc(&target->zip, i, crcs[i]);
  TSR_TRY(tsr_files_take(store->files, 0, &fd));
  tsr_status status = tsr_zip_plan_write(&target->zip, fd, store->paths[0]);
  if (!status && sync) status = tsr_io_sync(fd, store->paths[0]);
  tsr_files_give_back(store->files, 0);
  return status;
}
