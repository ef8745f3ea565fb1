// The report of `tessera inspect` as JSON; docs/inspect-schema.md describes its members.
#include <string.h>

#include "base/hash_internal.h"
#include "element/shape_internal.h"
#include "json/json_fields.h"
#include "layout/layout_internal.h"
#include "mesh/mesh_internal.h"
#include "plan/plan_internal.h"
#include "report/report.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/engine/layout.h"

// ---- the checkpoint ----

static void write_warnings(const tsr_checkpoint *checkpoint, tsr_json_writer *w) {
  const char *line = tsr_checkpoint_warnings(checkpoint);
  tsr_json_add_array(w, "warnings");
  while (*line) {
    const size_t length = strcspn(line, "\n");
    tsr_json_write_bytes(w, line, length);
    line += length + (line[length] == '\n');
  }
  tsr_json_end_array(w);
}

static void write_metadata(const tsr_checkpoint *checkpoint, tsr_json_writer *w) {
  const tsr_metadata *items = NULL;
  const int64_t count = tsr_checkpoint_metadata(checkpoint, &items);
  tsr_json_add_object(w, "metadata");
  for (int i = 0; i < count; i++) tsr_json_add_string(w, items[i].key, items[i].value);
  tsr_json_end_object(w);
}

static void write_files(const tsr_inspect_report *job, tsr_json_writer *w) {
  tsr_json_add_array(w, "files");
  for (int64_t i = 0; i < tsr_checkpoint_file_count(job->checkpoint); i++) {
    tsr_json_begin_inline_object(w);
    tsr_json_add_string(w, "name", tsr_inspect_report_file(job, i));
    tsr_json_add_int(w, "bytes", tsr_checkpoint_file_bytes(job->checkpoint, i));
    tsr_json_end_object(w);
  }
  tsr_json_end_array(w);
}

static void write_checkpoint(const tsr_inspect_report *job, tsr_json_writer *w) {
  const tsr_plan *plan = tsr_checkpoint_plan(job->checkpoint);
  tsr_json_add_string(w, "schema", "tessera-inspect/1");
  tsr_json_add_string(w, "path", job->path);
  tsr_json_add_string(w, "format",
                      tsr_checkpoint_format_name(tsr_checkpoint_format_of(job->checkpoint)));
  tsr_json_write_key(w, "mesh");
  if (plan)
    tsr_mesh_to_json(tsr_plan_mesh(plan), w);
  else
    tsr_json_write_null(w);
  write_metadata(job->checkpoint, w);
  write_warnings(job->checkpoint, w);
  write_files(job, w);
}

// ---- sums ----

static const tsr_json_field sum_fields[] = {
    TSR_JSON_FIELD(tsr_inspect_sums, tensors),
    TSR_JSON_FIELD(tsr_inspect_sums, elements),
    TSR_JSON_FIELD(tsr_inspect_sums, bytes),
    TSR_JSON_FIELD_AS(tsr_inspect_sums, stored, "stored_bytes"),
    {0}};

static void write_sums(const tsr_inspection *listing, tsr_json_writer *w) {
  const tsr_inspect_sums all = tsr_inspection_sums(listing, TSR_DTYPE_NONE);
  tsr_json_add_object(w, "totals");
  tsr_json_add_fields(w, sum_fields, &all);
  tsr_json_add_object(w, "dtypes");
  for (int dtype = 1; dtype < TSR_DTYPE_COUNT; dtype++) {
    const tsr_inspect_sums some = tsr_inspection_sums(listing, (tsr_dtype)dtype);
    if (!some.tensors) continue;
    tsr_json_write_key(w, tsr_dtype_name((tsr_dtype)dtype, TSR_NAMES_OWN));
    tsr_json_begin_inline_object(w);
    tsr_json_add_fields(w, sum_fields, &some);
    tsr_json_end_object(w);
  }
  tsr_json_end_object(w);
  tsr_json_end_object(w);
}

static void write_shares(const tsr_inspect_report *job, tsr_json_writer *w) {
  tsr_json_add_string(w, "by", job->by_word);
  tsr_json_add_array(w, "shares");
  for (int64_t i = 0; i < job->share_count; i++) {
    const tsr_share *share = &job->shares[i];
    tsr_json_begin_inline_object(w);
    if (job->by == TSR_SHARE_BY_FILE)
      tsr_json_add_string(w, "file", tsr_inspect_report_file(job, share->id));
    else
      tsr_json_add_int(w, job->by_word, share->id);
    tsr_json_add_int(w, "tensors", share->tensors);
    tsr_json_add_int(w, "bytes", share->bytes);
    tsr_json_end_object(w);
  }
  tsr_json_end_array(w);
}

// ---- tensors ----

static void write_hash(tsr_json_writer *w, const char *key, tsr_hash128 hash) {
  tsr_text digits = TSR_TEXT_EMPTY;
  tsr_hash128_print(hash, &digits);
  tsr_json_add_string(w, key, tsr_text_string(&digits));
  tsr_text_deinit(&digits);
}

static void write_survey(const tsr_inspect_report *job, int64_t tensor, const tsr_survey_row *row,
                         tsr_json_writer *w) {
  tsr_hash128 known;
  if (job->stats) {
    tsr_json_write_key(w, "stats");
    tsr_stats_to_json(&row->stats, w);
  }
  if (!job->hashes) return;
  write_hash(w, "hash", row->hash);
  if (!tsr_checkpoint_known_hash(job->checkpoint, tensor, &known)) return;
  write_hash(w, "stored_hash", known);
  tsr_json_add_bool(w, "hash_agrees", !tsr_inspect_report_disagrees(job, tensor, row));
}

// Members that a tensor and a group of tensors share.
static tsr_status write_kind(const tsr_inspect_report *job, int64_t tensor, tsr_json_writer *w) {
  const tsr_tensor *t = tsr_tree_at(tsr_checkpoint_tree(job->checkpoint), tensor);
  const tsr_plan *plan = tsr_checkpoint_plan(job->checkpoint);
  tsr_text spec = TSR_TEXT_EMPTY;
  tsr_status status = NULL;
  tsr_json_add_string(w, "dtype", tsr_dtype_name(t->dtype, TSR_NAMES_OWN));
  tsr_json_add_ints(w, "shape", t->dims, (size_t)t->rank);
  if (plan)
    status =
        tsr_spec_print(tsr_plan_spec_at(plan, tsr_plan_final(plan, tensor)), TSR_FORM_SHORT, &spec);
  tsr_json_add_string(w, "spec", plan ? tsr_text_string(&spec) : NULL);
  tsr_text_deinit(&spec);
  return status;
}

static tsr_status write_row(const tsr_inspect_report *job, int64_t index, tsr_json_writer *w) {
  const tsr_inspect_row *row = tsr_inspection_row(job->listing, index);
  const bool group = job->grouped;
  tsr_json_begin_inline_object(w);
  tsr_json_add_string(w, group ? "pattern" : "name", row->name);
  if (group) tsr_json_add_int(w, "count", row->count);
  TSR_TRY(write_kind(job, row->tensors[0], w));
  tsr_json_add_int(w, "elements", row->elements);
  tsr_json_add_int(w, "bytes", row->bytes);
  tsr_json_add_int(w, "stored_bytes", row->stored);
  tsr_json_add_int(w, "files", row->files);
  tsr_json_add_string(w, "file", row->file < 0 ? NULL : tsr_inspect_report_file(job, row->file));
  if (job->survey) write_survey(job, row->tensors[0], &job->survey[index], w);
  tsr_json_end_object(w);
  return NULL;
}

static tsr_status write_rows(const tsr_inspect_report *job, tsr_json_writer *w) {
  tsr_json_add_array(w, job->grouped ? "groups" : "tensors");
  for (int64_t i = 0; i < tsr_inspection_count(job->listing); i++) TSR_TRY(write_row(job, i, w));
  tsr_json_end_array(w);
  return NULL;
}

// ---- one tensor ----

static tsr_status write_pieces(const tsr_layout *layout, int64_t shard, tsr_json_writer *w) {
  tsr_pieces pieces;
  TSR_TRY(tsr_pieces_init(&pieces, layout, shard));
  tsr_json_add_inline_array(w, "pieces");
  for (tsr_piece piece; tsr_pieces_next(&pieces, &piece);)
    tsr_ranges_to_json(piece.ranges, tsr_layout_rank(layout), w);
  tsr_json_end_array(w);
  tsr_pieces_deinit(&pieces);
  return NULL;
}

static void write_copies(const tsr_inspect_report *job, int64_t shard, tsr_json_writer *w) {
  const tsr_layout *layout = tsr_checkpoint_layout(job->checkpoint, job->tensor);
  const int64_t copies = tsr_checkpoint_copies(job->checkpoint, job->tensor);
  const bool ranks = copies == tsr_layout_replica_count(layout);
  tsr_json_add_array(w, "copies");
  for (int copy = 0; copy < copies; copy++) {
    tsr_stored stored;
    if (!tsr_checkpoint_find(job->checkpoint, job->tensor, shard, copy, &stored)) continue;
    tsr_json_begin_inline_object(w);
    if (ranks && tsr_checkpoint_plan(job->checkpoint))
      tsr_json_add_int(w, "rank", tsr_layout_replica_at(layout, shard, copy));
    tsr_json_add_string(w, "file", tsr_inspect_report_file(job, stored.file));
    tsr_json_add_int(w, "offset", stored.offset);
    tsr_json_add_int(w, "bytes", stored.bytes);
    tsr_json_end_object(w);
  }
  tsr_json_end_array(w);
}

static tsr_status write_shards(const tsr_inspect_report *job, tsr_json_writer *w) {
  const tsr_layout *layout = tsr_checkpoint_layout(job->checkpoint, job->tensor);
  tsr_json_add_array(w, "shards");
  for (int64_t shard = 0; shard < tsr_layout_shard_count(layout); shard++) {
    tsr_shape shape;
    tsr_layout_buffer_shape(layout, shard, &shape);
    tsr_json_begin_object(w);
    tsr_json_add_int(w, "shard", shard);
    tsr_json_add_ints(w, "shape", shape.dims, (size_t)shape.rank);
    TSR_TRY(write_pieces(layout, shard, w));
    write_copies(job, shard, w);
    tsr_json_end_object(w);
  }
  tsr_json_end_array(w);
  return NULL;
}

static tsr_status write_slice(const tsr_inspect_report *job, tsr_json_writer *w) {
  const tsr_shape shape = tsr_slice_shape(&job->slice);
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_slice_print(&job->slice, &text);
  tsr_json_add_object(w, "slice");
  tsr_json_add_string(w, "text", tsr_text_string(&text));
  tsr_text_deinit(&text);
  tsr_json_add_ints(w, "shape", shape.dims, (size_t)shape.rank);
  tsr_json_write_key(w, "values");
  TSR_TRY(tsr_checkpoint_write_values(job->checkpoint, job->tensor, &job->slice, &job->values, w));
  tsr_json_end_object(w);
  return NULL;
}

static tsr_status write_tensor(const tsr_inspect_report *job, tsr_json_writer *w) {
  const tsr_tensor *tensor = tsr_tree_at(tsr_checkpoint_tree(job->checkpoint), job->tensor);
  tsr_json_add_object(w, "tensor");
  tsr_json_add_string(w, "name", tensor->path);
  TSR_TRY(write_kind(job, job->tensor, w));
  tsr_json_add_int(w, "elements", tsr_tensor_elements(tensor));
  tsr_json_add_int(w, "bytes", tsr_tensor_bytes(tensor));
  if (job->survey) write_survey(job, job->tensor, job->survey, w);
  if (job->sliced) TSR_TRY(write_slice(job, w));
  TSR_TRY(write_shards(job, w));
  tsr_json_end_object(w);
  return NULL;
}

tsr_status tsr_inspect_report_to_json(const tsr_inspect_report *job, tsr_text *out) {
  tsr_json_writer w;
  tsr_json_begin_document(&w, out);
  write_checkpoint(job, &w);
  if (job->tensor >= 0) {
    TSR_TRY(write_tensor(job, &w));
  } else {
    write_sums(job->listing, &w);
    if (job->by_word)
      write_shares(job, &w);
    else
      TSR_TRY(write_rows(job, &w));
  }
  tsr_json_end_document(&w);
  return NULL;
}
