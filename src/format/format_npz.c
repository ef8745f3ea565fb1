// NumPy's archive of arrays (.npz): a zip file whose members are .npy files, stored or deflated.
//
// Headers of arrays give their sizes, so the whole archive is laid out before the first element is
// there. Zip also wants a checksum of each array: it is joined from those of the blocks, and
// everything between the arrays is written at the end. Metadata is a record before the directory.
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/hash_internal.h"
#include "base/io.h"
#include "base/text_internal.h"
#include "file/file_metadata.h"
#include "file/npz.h"
#include "file/zip_plan.h"
#include "format/format.h"
#include "format/numpy_arrays.h"
#include "format/reading.h"
#include "json/json.h"
#include "json/json_read.h"
#include "view/tensor_hash.h"

static const char schema[] = "tessera-npz/1";
static const char beginning[] = "{\"schema\":\"tessera-npz/";  // of records of any version

// ---- reading ----

// A safetensors file starts with the length of its header, whose four high bytes are zero. An
// archive has other bytes there, unless it is empty: then the length would be too large.
static tsr_status detect(const tsr_format_probe *probe, bool *out_found) {
  static const char zeros[4];
  const char *start = probe->start;
  const bool member = !memcmp(start, "PK\3\4", 4) && memcmp(start + 4, zeros, 4) != 0;
  *out_found = !probe->folder &&
               (member || !memcmp(start, "PK\5\6", 4) || tsr_ends_with(probe->path, ".npz"));
  return NULL;
}

static tsr_status read_record(tsr_checkpoint *checkpoint, const tsr_json_doc *doc) {
  static const char *const keys[] = {"schema", "metadata", NULL};
  const tsr_json *root = tsr_json_root(doc);
  TSR_TRY(tsr_json_check_schema(root, schema));
  TSR_TRY(tsr_json_check_keys(root, keys));
  return tsr_checkpoint_read_metadata(checkpoint, doc, tsr_json_find(root, "metadata"));
}

// Records of other programs are ignored.
static tsr_status take_record(tsr_checkpoint *checkpoint, const tsr_npz *npz) {
  size_t length = 0;
  const char *text = tsr_npz_record(npz, &length);
  const size_t least = sizeof beginning - 1;
  tsr_json_doc *doc = NULL;
  if (!text || length < least || memcmp(text, beginning, least) != 0) return NULL;
  tsr_status status = tsr_json_parse(text, length, &doc);
  if (!status) status = read_record(checkpoint, doc);
  tsr_json_destroy(doc);
  return tsr_note(status, "the record before the directory");
}

static tsr_status add_members(tsr_numpy_arrays *list, const tsr_npz *npz) {
  const char *path = list->checkpoint->path;
  tsr_numpy_array found = {0};
  TSR_TRY(tsr_reading_add_file(list->checkpoint, path, &found.file));
  for (int64_t i = 0; i < tsr_npz_count(npz); i++) {
    const char *name = tsr_npz_name(npz, i);
    found.npy = *tsr_npz_array(npz, i);
    found.member = tsr_npz_member(npz, i);
    TSR_TRY_NOTE(tsr_numpy_arrays_add(list, name, strlen(name), TSR_DTYPE_NONE, &found), "%s",
                 path);
  }
  TSR_TRY_NOTE(take_record(list->checkpoint, npz), "%s", path);
  return tsr_numpy_arrays_finish(list);
}

static tsr_status read_archive(tsr_checkpoint *checkpoint, const tsr_checkpoint_options *options) {
  tsr_numpy_arrays list = {.checkpoint = checkpoint, .options = options};
  tsr_npz *npz = NULL;
  TSR_TRY(tsr_reading_refuse_plan(checkpoint, options));
  TSR_TRY(tsr_npz_open(checkpoint->path, &npz));
  tsr_status status = add_members(&list, npz);
  tsr_npz_destroy(npz);
  free(list.items);
  return status;
}

// ---- the destination ----

static tsr_status make_items(const tsr_dealing *deal, tsr_npz_item **out_items) {
  const int64_t count = deal->views->count;
  tsr_npz_item *items = calloc((size_t)count + 1, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "an archive of %lld tensors", (long long)count);
  for (int64_t i = 0; i < count; i++) {
    const tsr_view *view = deal->views->items[i];
    items[i].tensor = tsr_tensor_of(view->name, view->dtype, &view->shape);
  }
  *out_items = items;
  return NULL;
}

static tsr_status write_record(const tsr_metadata *items, int64_t count, tsr_text *out) {
  tsr_json_writer json;
  if (!count) return NULL;
  tsr_json_writer_init(&json, out, 0);
  tsr_json_begin_inline_object(&json);
  tsr_json_write_key(&json, "schema");
  tsr_json_write_string(&json, schema);
  tsr_json_write_key(&json, "metadata");
  TSR_TRY(tsr_metadata_write(items, count, &json));
  tsr_json_end_object(&json);
  return tsr_text_check(out);
}

static tsr_status plan_archive(const tsr_dealing *deal, tsr_zip_plan *zip, int64_t *begins) {
  tsr_npz_item *items = NULL;
  tsr_text record = TSR_TEXT_EMPTY;
  tsr_status status = make_items(deal, &items);
  // NumPy knows an archive by its first bytes, so an empty one must begin with its end.
  if (!status && deal->views->count > 0)
    status = write_record(deal->options->metadata, deal->options->metadata_count, &record);
  if (!status)
    status = tsr_npz_plan(items, deal->views->count, tsr_text_string(&record), zip, begins);
  tsr_text_deinit(&record);
  free(items);
  return status;
}

// The only bin holds all views in their order.
static tsr_status lay_out(const tsr_dealing *deal, const tsr_bin *bin, tsr_target_file *file) {
  tsr_zip_plan *zip = calloc(1, sizeof *zip);
  deal->target->state = zip;
  file->begins = calloc((size_t)bin->count + 1, sizeof *file->begins);
  if (!zip || !file->begins)
    return tsr_fail(NO_MEMORY, "an archive of %lld tensors", (long long)bin->count);
  TSR_TRY(plan_archive(deal, zip, file->begins));
  file->size = zip->size;
  deal->target->state_bytes = (int64_t)zip->text.length + (int64_t)zip->directory.length;
  return NULL;
}

static void describe_zip(const tsr_target *target, tsr_text *out) {
  const tsr_zip_plan *zip = target->state;
  tsr_hash128_print(tsr_block_hash(zip->text.data, (int64_t)zip->text.length), out);
  tsr_hash128_print(tsr_block_hash(zip->directory.data, (int64_t)zip->directory.length), out);
}

static void destroy_zip(void *state) {
  if (state) tsr_zip_plan_deinit(state);
  free(state);
}

static tsr_hash128 block_crc(const void *bytes, int64_t length) {
  return (tsr_hash128){.low = tsr_zip_crc(0, bytes, length)};
}

// The checksum of a whole tensor, from those of its blocks.
static uint32_t join_crcs(const tsr_view *view, const tsr_hash128 *blocks) {
  const int64_t block = tsr_block_elements(view->dtype);
  uint32_t crc = 0;
  for (int64_t at = 0; at < view->elements; at += block) {
    const int64_t bytes = tsr_view_bytes(view, tsr_least(block, view->elements - at));
    crc = tsr_zip_crc_join(crc, (uint32_t)blocks[at / block].low, bytes);
  }
  return crc;
}

static tsr_status end_archive(tsr_target *target, const tsr_target_end *end) {
  const tsr_store *store = target->store;
  tsr_zip_plan *zip = target->state;
  int fd = -1;
  for (int64_t i = 0; i < store->count; i++)
    tsr_zip_plan_set_crc(zip, i,
                         join_crcs(end->views->items[i], end->blocks + end->first_block[i]));
  TSR_TRY(tsr_files_take(store->files, 0, &fd));
  tsr_status status = tsr_zip_plan_write(zip, fd, store->paths[0]);
  if (!status && end->sync) status = tsr_io_sync(fd, store->paths[0]);
  tsr_files_give_back(store->files, 0);
  return status;
}

// ---- checking ----

static tsr_status check(tsr_fsck *fsck) { return tsr_fsck_open_whole(fsck, TSR_FAULT_HEADER); }

static tsr_status check_members(tsr_fsck *fsck) {
  tsr_npz *npz = NULL;
  TSR_TRY(tsr_npz_open(fsck->path, &npz));
  tsr_status status = NULL;
  for (int64_t i = 0; i < tsr_npz_count(npz) && !status; i++) {
    const tsr_fault place = {.kind = TSR_FAULT_HASH, .tensor = tsr_npz_name(npz, i)};
    status = tsr_fsck_add_failure(fsck, &place, tsr_npz_check(npz, i));
  }
  tsr_npz_destroy(npz);
  return status;
}

static const char *const patterns[] = {"*.npz", NULL};

const tsr_format_ops tsr_format_npz = {.name = "npz",
                                       .single_name = "model.npz",
                                       .ending = ".npz",
                                       .patterns = patterns,
                                       .fallback_dtype = true,
                                       .stage = TSR_DETECT_BY_NAME,
                                       .detect = detect,
                                       .read = read_archive,
                                       .lay_out = lay_out,
                                       .digest = block_crc,
                                       .end = end_archive,
                                       .describe_state = describe_zip,
                                       .destroy_state = destroy_zip,
                                       .check = check,
                                       .check_elements = check_members};
