// Our own folder: each shard stored once, and a manifest with the plan, the device of each file and
// a hash of each tensor.
//
//   {"schema": "tessera-checkpoint/1",
//    "files": [{"name": "data-00001-of-00008.safetensors", "position": 0, "bytes": 1234}, ...],
//    "hashes": ["<32 digits>", ...],          one for each tensor, in the order of the plan
//    "plan": {"schema": "tessera-plan/1", ...}}
//
// Each file is an ordinary safetensors file: under the name of a tensor it holds the shard of the
// device at this mesh position. The first replica of a shard stores it.
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "file/model.h"
#include "format/format.h"
#include "format/reading.h"
#include "json/json.h"
#include "json/json_read.h"
#include "plan/plan_internal.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/plan.h"
#include "tessera/tree.h"
#include "view/tensor_hash.h"

static const char schema[] = "tessera-checkpoint/1";
static const char manifest_name[] = "manifest.json";

// ---- writing ----

static void write_files(const tsr_target *target, tsr_json_writer *json) {
  tsr_json_add_array(json, "files");
  for (int i = 0; i < target->file_count; i++) {
    tsr_json_begin_inline_object(json);
    tsr_json_add_string(json, "name", target->files[i].name);
    tsr_json_add_int(json, "position", target->files[i].position);
    tsr_json_add_int(json, "bytes", target->files[i].size);
    tsr_json_end_object(json);
  }
  tsr_json_end_array(json);
}

static void write_manifest(const tsr_target *target, const tsr_views *views,
                           const tsr_hash128 *hashes, tsr_text *out) {
  tsr_json_writer json;
  tsr_json_writer_init(&json, out, 1);
  tsr_json_begin_object(&json);
  tsr_json_add_string(&json, "schema", schema);
  write_files(target, &json);
  tsr_json_add_array(&json, "hashes");
  for (int64_t i = 0; i < views->count; i++) {
    char digits[33];
    const tsr_hash128 hash = hashes ? hashes[i] : (tsr_hash128){0};
    snprintf(digits, sizeof digits, "%016llx%016llx", (unsigned long long)hash.high,
             (unsigned long long)hash.low);
    tsr_json_write_string(&json, digits);
  }
  tsr_json_end_array(&json);
  tsr_json_write_key(&json, "plan");
  tsr_plan_to_json(target->plan, &json);
  tsr_json_end_object(&json);
  tsr_text_add_char(out, '\n');
}

static void name_file(const tsr_dealing *deal, int64_t index, char *out, size_t size) {
  snprintf(out, size, "data-%05lld-of-%05lld.safetensors", (long long)index + 1,
           (long long)deal->count);
}

// Hashes have one length, so the length of the manifest is known without them.
static tsr_status measure_manifest(const tsr_dealing *deal) {
  tsr_target *target = deal->target;
  tsr_text text = TSR_TEXT_EMPTY;
  target->index_name = manifest_name;
  write_manifest(target, deal->views, NULL, &text);
  tsr_status status = tsr_text_check(&text);
  target->index_bytes = (int64_t)text.length;
  tsr_text_deinit(&text);
  return status;
}

static tsr_status end_manifest(tsr_target *target, const tsr_target_end *end) {
  const int64_t count = end->views->count;
  tsr_hash128 *hashes = calloc((size_t)count + 1, sizeof *hashes);
  if (!hashes) return tsr_fail(NO_MEMORY, "hashes of %lld tensors", (long long)count);
  for (int64_t i = 0; i < count; i++)
    hashes[i] = tsr_blocks_hash(end->views->items[i], end->blocks + end->first_block[i]);
  write_manifest(target, end->views, hashes, &target->index);
  free(hashes);
  return tsr_text_check(&target->index);
}

// ---- reading ----

static tsr_status detect(const tsr_format_probe *probe, bool *out_found) {
  char path[PATH_MAX];
  if (!probe->folder) return NULL;
  return tsr_reading_find_file(probe->path, manifest_name, path, out_found);
}

// Reports a fault of one row and continues with the next.
static tsr_status bad_manifest(tsr_checkpoint *checkpoint, tsr_status failure) {
  return tsr_checkpoint_report(checkpoint, TSR_FAULT_BAD_MANIFEST, manifest_name, NULL, failure);
}

// The path of a file of the manifest, which must be in its folder.
static tsr_status read_name(const tsr_json *value, const char *folder, char *out) {
  const char *name = NULL;
  size_t length = 0;
  TSR_TRY(tsr_json_get_string(value, "name", &name, &length));
  if (!tsr_reading_is_inside(name, length))
    return tsr_fail(BROKEN_FILE, "file \"%.*s\" is not one in the manifest's folder", (int)length,
                    name);
  return tsr_reading_join(folder, name, length, out);
}

static tsr_status read_file(tsr_checkpoint *checkpoint, const tsr_json *value, int64_t positions) {
  static const char *const keys[] = {"name", "position", "bytes", NULL};
  char path[PATH_MAX];
  struct stat info;
  int64_t position = -1, bytes = -1;
  TSR_TRY(tsr_json_check_keys(value, keys));
  TSR_TRY(read_name(tsr_json_find(value, "name"), checkpoint->path, path));
  TSR_TRY(tsr_json_get_int(tsr_json_find(value, "position"), "position", &position));
  TSR_TRY(tsr_json_get_int(tsr_json_find(value, "bytes"), "bytes", &bytes));
  if (position < 0 || position >= positions)
    return tsr_fail(BROKEN_FILE, "position %lld, expected 0 to %lld, the last device of the mesh",
                    (long long)position, (long long)positions - 1);
  TSR_TRY(tsr_model_check_link(path));
  if (stat(path, &info))
    return tsr_checkpoint_report(checkpoint, TSR_FAULT_FILE_MISSING, path, NULL,
                                 tsr_fail(IO, "%s: %s", path, strerror(errno)));
  TSR_TRY(tsr_reading_add_slices(checkpoint, path, position));
  if (info.st_size == bytes) return NULL;
  return tsr_checkpoint_report(
      checkpoint, TSR_FAULT_SIZE, path, NULL,
      tsr_fail(BROKEN_FILE, "%s: the file has %lld bytes, but the manifest says %lld", path,
               (long long)info.st_size, (long long)bytes));
}

static tsr_status read_hash(tsr_checkpoint *checkpoint, const tsr_json *item, int64_t tensor) {
  const char *digits = NULL;
  TSR_TRY(tsr_json_copy_string(item, "its value", &checkpoint->arena, &digits));
  return tsr_hash128_parse(digits, &checkpoint->hashes[tensor]);
}

static tsr_status read_hashes(tsr_checkpoint *checkpoint, const tsr_json *value) {
  const int64_t count = tsr_plan_count(checkpoint->plan);
  TSR_TRY(tsr_json_want_array(value, "hashes"));
  if ((int64_t)tsr_json_count(value) != count)
    return bad_manifest(
        checkpoint, tsr_fail(BROKEN_FILE, "hashes: there are %lld, but %lld tensors in the plan",
                             (long long)tsr_json_count(value), (long long)count));
  checkpoint->hashes = calloc((size_t)count + 1, sizeof *checkpoint->hashes);
  if (!checkpoint->hashes) return tsr_fail(NO_MEMORY, "hashes");
  int64_t i = 0;
  for (const tsr_json *item = tsr_json_first(value); item; item = tsr_json_next(item), i++)
    TSR_TRY(bad_manifest(checkpoint,
                         tsr_note(read_hash(checkpoint, item, i), "hashes[%lld], of tensor \"%s\"",
                                  (long long)i, tsr_tree_at(checkpoint->tree, i)->path)));
  return NULL;
}

static tsr_status read_manifest(tsr_checkpoint *checkpoint, const tsr_json *root) {
  static const char *const keys[] = {"schema", "files", "hashes", "plan", NULL};
  tsr_plan *plan = NULL;
  // Other programs write a manifest.json too, so the schema is checked before the keys.
  if (tsr_json_kind_of(root) == TSR_JSON_OBJECT) TSR_TRY(tsr_json_check_schema(root, schema));
  TSR_TRY(tsr_json_check_keys(root, keys));
  if (!tsr_json_find(root, "plan"))
    return tsr_json_wrong_kind(NULL, "plan", "an object that says how tensors are cut");
  TSR_TRY(tsr_plan_from_json(tsr_json_find(root, "plan"), &plan));
  checkpoint->plan = plan;
  if (!tsr_plan_mesh(plan)) return tsr_json_wrong_kind(NULL, "plan: mesh", "an object");
  TSR_TRY(tsr_reading_add_planned(checkpoint, false));
  TSR_TRY(read_hashes(checkpoint, tsr_json_find(root, "hashes")));
  const tsr_json *files = tsr_json_find(root, "files");
  TSR_TRY(tsr_json_want_array(files, "files"));
  const int64_t positions = tsr_mesh_device_count(tsr_plan_mesh(plan));
  int64_t i = 0;
  for (const tsr_json *file = tsr_json_first(files); file; file = tsr_json_next(file), i++)
    TSR_TRY(bad_manifest(
        checkpoint, tsr_note(read_file(checkpoint, file, positions), "files[%lld]", (long long)i)));
  return tsr_reading_check_complete(checkpoint);
}

static tsr_status read_tessera(tsr_checkpoint *checkpoint, const tsr_checkpoint_options *options) {
  char path[PATH_MAX];
  tsr_json_doc *doc = NULL;
  if (options->plan)
    return tsr_fail(BAD_ARGUMENT, "%s: a plan was given, but the manifest has its own",
                    checkpoint->path);
  TSR_TRY(tsr_reading_join(checkpoint->path, manifest_name, strlen(manifest_name), path));
  TSR_TRY(tsr_model_check_link(path));
  TSR_TRY(tsr_json_read_file(path, &doc));
  tsr_status status = read_manifest(checkpoint, tsr_json_root(doc));
  tsr_json_destroy(doc);
  return tsr_note(status, "%s", path);
}

static const char *const patterns[] = {"*.safetensors", manifest_name, NULL};

const tsr_format_ops tsr_format_tessera = {.name = "tessera",
                                           .index_name = manifest_name,
                                           .ending = ".safetensors",
                                           .patterns = patterns,
                                           .needs_plan = true,
                                           .stage = TSR_DETECT_BY_INDEX,
                                           .detect = detect,
                                           .read = read_tessera,
                                           .name_file = name_file,
                                           .lay_out = tsr_dealing_lay_out_safetensors,
                                           .make_index = measure_manifest,
                                           .digest = tsr_block_hash,
                                           .end = end_manifest,
                                           .check = tsr_fsck_slices};
