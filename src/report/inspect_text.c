// The report of `tessera inspect` as text.
#include <stdio.h>

#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "plan/plan_internal.h"
#include "report/report.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/engine/layout.h"

// Shards, and pieces of a shard, that are printed without --full.
enum { MOST_SHARDS = 64, MOST_PIECES = 4 };

static const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

static void add_shape(tsr_table *table, const tsr_shape *shape) {
  tsr_shape_print(shape, &table->text);
  tsr_table_end_cell(table);
}

// ---- heading and totals ----

static void print_title(const tsr_inspect_report *job, tsr_text *out) {
  const int64_t files = tsr_checkpoint_file_count(job->checkpoint);
  const tsr_plan *plan = tsr_checkpoint_plan(job->checkpoint);
  tsr_text_addf(out, " %s: %s, %lld file%s\n", job->path,
                tsr_checkpoint_format_name(tsr_checkpoint_format_of(job->checkpoint)),
                (long long)files, plural(files));
  if (plan) {
    tsr_text_add(out, " mesh ");
    tsr_mesh_print(tsr_plan_mesh(plan), out);
    tsr_text_addf(out, ": %lld devices\n", (long long)tsr_mesh_device_count(tsr_plan_mesh(plan)));
  }
  tsr_text_add_char(out, '\n');
}

static void print_sum(const char *title, const tsr_inspect_sums *sums, tsr_text *out) {
  tsr_text_addf(out, " %s%lld tensor%s, %lld elements, %s", title, (long long)sums->tensors,
                plural(sums->tensors), (long long)sums->elements,
                tsr_format_bytes(sums->bytes).text);
  if (sums->stored != sums->bytes)
    tsr_text_addf(out, "; with replicas %s", tsr_format_bytes(sums->stored).text);
  tsr_text_add_char(out, '\n');
}

static void print_sums(const tsr_inspect_report *job, tsr_text *out) {
  const tsr_inspect_sums all = tsr_inspection_sums(job->listing, TSR_DTYPE_NONE);
  tsr_text_add_char(out, '\n');
  print_sum("", &all, out);
  for (int dtype = 1; dtype < TSR_DTYPE_COUNT; dtype++) {
    const tsr_inspect_sums some = tsr_inspection_sums(job->listing, (tsr_dtype)dtype);
    char title[40];
    if (!some.tensors || some.tensors == all.tensors) continue;
    snprintf(title, sizeof title, "%s: ", tsr_dtype_name((tsr_dtype)dtype, TSR_NAMES_OWN));
    print_sum(title, &some, out);
  }
}

static void print_metadata(const tsr_inspect_report *job, tsr_text *out) {
  const tsr_metadata *items = NULL;
  const int64_t count = tsr_checkpoint_metadata(job->checkpoint, &items);
  for (int i = 0; i < count; i++) {
    tsr_text_add(out, " metadata ");
    tsr_text_add_plain(out, items[i].key);
    tsr_text_add(out, ": ");
    tsr_text_add_plain(out, items[i].value);
    tsr_text_add_char(out, '\n');
  }
}

// ---- tensors and groups ----

static void add_stats(tsr_table *table, const tsr_tensor_stats *stats) {
  tsr_table_addf(table, "%lld", (long long)stats->nans);
  tsr_table_addf(table, "%lld", (long long)stats->infinities);
  tsr_table_addf(table, "%.4g", stats->min);
  tsr_table_addf(table, "%.4g", stats->max);
  tsr_table_addf(table, "%.4g", stats->mean);
  tsr_table_addf(table, "%.4g", stats->norm);
}

static void add_hash(const tsr_inspect_report *job, tsr_table *table, int64_t tensor,
                     const tsr_survey_row *row) {
  tsr_hash128_print(row->hash, &table->text);
  if (tsr_inspect_report_disagrees(job, tensor, row))
    tsr_text_add(&table->text, " differs from stored");
  tsr_table_end_cell(table);
}

static void add_columns(const tsr_inspect_report *job, tsr_table *table) {
  static const char *const stats[] = {"nan", "inf", "min", "max", "mean", "norm"};
  tsr_table_add_column(table, (tsr_table_column){.title = "tensor", .most = 72});
  tsr_table_add_column(table, (tsr_table_column){.title = "type"});
  tsr_table_add_column(table, (tsr_table_column){.title = "shape", .most = 32});
  if (tsr_checkpoint_plan(job->checkpoint))
    tsr_table_add_column(table, (tsr_table_column){.title = "spec", .most = 40});
  tsr_table_add_column(table, (tsr_table_column){.title = "bytes", .right = true});
  for (int i = 0; job->stats && i < 6; i++)
    tsr_table_add_column(table, (tsr_table_column){.title = stats[i], .right = true});
  if (job->hashes) tsr_table_add_column(table, (tsr_table_column){.title = "hash"});
  if (tsr_checkpoint_file_count(job->checkpoint) > 1)
    tsr_table_add_column(table, (tsr_table_column){.title = "file"});
}

static void add_file(const tsr_inspect_report *job, const tsr_inspect_row *row, tsr_table *table) {
  if (row->files == 1)
    tsr_table_add(table, tsr_inspect_report_file(job, row->file));
  else
    tsr_table_addf(table, "%d files", row->files);
}

static tsr_status add_row(const tsr_inspect_report *job, int64_t index, tsr_table *table) {
  const tsr_inspect_row *row = tsr_inspection_row(job->listing, index);
  const tsr_tensor *tensor = tsr_tree_at(tsr_checkpoint_tree(job->checkpoint), row->tensors[0]);
  const tsr_shape shape = tsr_tensor_shape(tensor);
  tsr_text_add(&table->text, row->name);
  if (row->count > 1) tsr_text_addf(&table->text, "  x%lld", (long long)row->count);
  tsr_table_end_cell(table);
  tsr_table_add(table, tsr_dtype_name(tensor->dtype, TSR_NAMES_OWN));
  add_shape(table, &shape);
  if (row->spec) {
    TSR_TRY(tsr_spec_print(row->spec, TSR_FORM_SHORT, &table->text));
    tsr_table_end_cell(table);
  }
  tsr_table_add(table, tsr_format_bytes(row->bytes).text);
  if (job->stats) add_stats(table, &job->survey[index].stats);
  if (job->hashes) add_hash(job, table, row->tensors[0], &job->survey[index]);
  if (tsr_checkpoint_file_count(job->checkpoint) > 1) add_file(job, row, table);
  return NULL;
}

static tsr_status print_rows(const tsr_inspect_report *job, tsr_text *out) {
  tsr_status status = NULL;
  tsr_table table = {0};
  add_columns(job, &table);
  for (int64_t i = 0; i < tsr_inspection_count(job->listing) && !status; i++)
    status = add_row(job, i, &table);
  if (!status) tsr_table_print(&table, out);
  if (!status) print_sums(job, out);
  tsr_table_deinit(&table);
  return status;
}

// ---- files, ranks, devices ----

static void print_balance(const tsr_inspect_report *job, tsr_text *out) {
  int64_t most = 0, sum = 0;
  for (int64_t i = 0; i < job->share_count; i++) {
    if (job->shares[i].bytes > most) most = job->shares[i].bytes;
    sum += job->shares[i].bytes;
  }
  const double mean = job->share_count ? (double)sum / (double)job->share_count : 0;
  tsr_text_addf(out, "\n %lld %s%s: %s at most, %s on average (balance %.2f)\n",
                (long long)job->share_count, job->by_word, plural(job->share_count),
                tsr_format_bytes(most).text, tsr_format_bytes((int64_t)mean).text,
                most > 0 ? mean / (double)most : 1);
}

static void print_shares(const tsr_inspect_report *job, tsr_text *out) {
  const bool files = job->by == TSR_SHARE_BY_FILE;
  tsr_table table = {0};
  tsr_table_add_column(&table, (tsr_table_column){.title = job->by_word, .right = !files});
  tsr_table_add_column(&table, (tsr_table_column){.title = "tensors", .right = true});
  tsr_table_add_column(&table, (tsr_table_column){.title = "bytes", .right = true});
  if (files) tsr_table_add_column(&table, (tsr_table_column){.title = "size", .right = true});
  for (int64_t i = 0; i < job->share_count; i++) {
    const tsr_share *share = &job->shares[i];
    if (files)
      tsr_table_add(&table, tsr_inspect_report_file(job, share->id));
    else
      tsr_table_addf(&table, "%lld", (long long)share->id);
    tsr_table_addf(&table, "%lld", (long long)share->tensors);
    tsr_table_add(&table, tsr_format_bytes(share->bytes).text);
    if (files)
      tsr_table_add(&table,
                    tsr_format_bytes(tsr_checkpoint_file_bytes(job->checkpoint, share->id)).text);
  }
  tsr_table_print(&table, out);
  tsr_table_deinit(&table);
  print_balance(job, out);
}

// ---- one tensor ----

// Prints the mesh positions that a stored replica is for: its rank, or all that hold the shard.
static void print_holders(const tsr_inspect_report *job, int64_t shard, int copy, tsr_text *out) {
  const tsr_layout *layout = tsr_checkpoint_layout(job->checkpoint, job->tensor);
  const int64_t count = tsr_layout_replica_count(layout);
  if (tsr_checkpoint_copies(job->checkpoint, job->tensor) == count) {
    tsr_text_add_int(out, tsr_layout_replica_at(layout, shard, copy));
    return;
  }
  for (int64_t i = 0; i < count && i < MOST_PIECES; i++)
    tsr_text_addf(out, "%s%lld", i ? ", " : "", (long long)tsr_layout_replica_at(layout, shard, i));
  if (count > MOST_PIECES) tsr_text_add(out, ", ...");
}

static tsr_status add_shard(const tsr_inspect_report *job, int64_t shard, int copy,
                            tsr_table *table) {
  const tsr_layout *layout = tsr_checkpoint_layout(job->checkpoint, job->tensor);
  tsr_shape shape;
  tsr_stored stored;
  const int64_t copies = tsr_checkpoint_copies(job->checkpoint, job->tensor);
  tsr_layout_buffer_shape(layout, shard, &shape);
  tsr_table_addf(table, "%lld", (long long)shard);
  TSR_TRY(tsr_shard_print_pieces(layout, shard, MOST_PIECES, &table->text));
  tsr_table_end_cell(table);
  add_shape(table, &shape);
  if (tsr_checkpoint_plan(job->checkpoint)) {
    print_holders(job, shard, copy, &table->text);
    tsr_table_end_cell(table);
  }
  if (!tsr_checkpoint_find(job->checkpoint, job->tensor, shard, copy, &stored)) {
    tsr_table_add(table, copies == 1 ? "packed, or in another order" : "absent");
    tsr_table_add(table, "");
    tsr_table_add(table, "");
    return NULL;
  }
  tsr_table_add(table, tsr_inspect_report_file(job, stored.file));
  tsr_table_addf(table, "%lld", (long long)stored.offset);
  tsr_table_addf(table, "%lld", (long long)stored.bytes);
  return NULL;
}

static tsr_status print_shards(const tsr_inspect_report *job, tsr_text *out) {
  const int64_t shards =
      tsr_layout_shard_count(tsr_checkpoint_layout(job->checkpoint, job->tensor));
  const int64_t copies = tsr_checkpoint_copies(job->checkpoint, job->tensor);
  const int64_t lines = shards * copies;
  const int64_t shown = job->full || lines <= MOST_SHARDS ? lines : (int64_t)MOST_SHARDS;
  tsr_status status = NULL;
  tsr_table table = {0};
  tsr_table_add_column(&table, (tsr_table_column){.title = "shard", .right = true});
  tsr_table_add_column(&table, (tsr_table_column){.title = "holds", .most = 48});
  tsr_table_add_column(&table, (tsr_table_column){.title = "as", .most = 32});
  if (tsr_checkpoint_plan(job->checkpoint))
    tsr_table_add_column(&table, (tsr_table_column){.title = "for rank"});
  tsr_table_add_column(&table, (tsr_table_column){.title = "file"});
  tsr_table_add_column(&table, (tsr_table_column){.title = "offset", .right = true});
  tsr_table_add_column(&table, (tsr_table_column){.title = "bytes", .right = true});
  for (int64_t i = 0; i < shown && !status; i++)
    status = add_shard(job, i / copies, (int)(i % copies), &table);
  if (!status) tsr_table_print(&table, out);
  if (shown < lines) tsr_text_addf(out, " and %lld more (--full)\n", (long long)(lines - shown));
  tsr_table_deinit(&table);
  return status;
}

static void print_hash(const tsr_inspect_report *job, tsr_text *out) {
  tsr_hash128 known;
  if (job->hashes) {
    tsr_text_add(out, " hash      ");
    tsr_hash128_print(job->survey->hash, out);
    tsr_text_add_char(out, '\n');
  }
  if (!tsr_checkpoint_known_hash(job->checkpoint, job->tensor, &known)) return;
  tsr_text_add(out, " stored    ");
  tsr_hash128_print(known, out);
  if (job->hashes)
    tsr_text_add(out, tsr_inspect_report_disagrees(job, job->tensor, job->survey)
                          ? ": differs from the computed hash"
                          : ": matches");
  tsr_text_add_char(out, '\n');
}

static tsr_status print_tensor(const tsr_inspect_report *job, tsr_text *out) {
  const tsr_tensor *tensor = tsr_tree_at(tsr_checkpoint_tree(job->checkpoint), job->tensor);
  const tsr_plan *plan = tsr_checkpoint_plan(job->checkpoint);
  const tsr_shape shape = tsr_tensor_shape(tensor);
  tsr_text_add(out, " tensor    ");
  tsr_text_add_plain(out, tensor->path);
  tsr_text_addf(out, "\n type      %s\n shape     ", tsr_dtype_name(tensor->dtype, TSR_NAMES_OWN));
  tsr_shape_print(&shape, out);
  tsr_text_addf(out, "\n elements  %lld, %s\n", (long long)tsr_tensor_elements(tensor),
                tsr_format_bytes(tsr_tensor_bytes(tensor)).text);
  if (plan) {
    tsr_text_add(out, " spec      ");
    TSR_TRY(tsr_spec_print(tsr_plan_spec_at(plan, tsr_plan_final(plan, job->tensor)),
                           TSR_FORM_SHORT, out));
    tsr_text_add_char(out, '\n');
  }
  print_hash(job, out);
  if (job->stats) {
    tsr_text_add(out, " stats     ");
    tsr_stats_print(&job->survey->stats, out);
  }
  tsr_text_add_char(out, '\n');
  return print_shards(job, out);
}

static tsr_status print_slice(const tsr_inspect_report *job, tsr_text *out) {
  const tsr_tensor *tensor = tsr_tree_at(tsr_checkpoint_tree(job->checkpoint), job->tensor);
  const tsr_shape shape = tsr_slice_shape(&job->slice);
  tsr_text_add_plain(out, tensor->path);
  tsr_text_add_char(out, '[');
  tsr_slice_print(&job->slice, out);
  tsr_text_addf(out, "] %s ", tsr_dtype_name(tensor->dtype, TSR_NAMES_OWN));
  tsr_shape_print(&shape, out);
  tsr_text_add_char(out, '\n');
  return tsr_checkpoint_print_values(job->checkpoint, job->tensor, &job->slice, &job->values, out);
}

tsr_status tsr_inspect_report_print(const tsr_inspect_report *job, tsr_text *out) {
  if (job->sliced && !job->survey) return print_slice(job, out);
  print_title(job, out);
  if (job->tensor >= 0) {
    TSR_TRY(print_tensor(job, out));
    if (!job->sliced) return NULL;
    tsr_text_add_char(out, '\n');
    return print_slice(job, out);
  }
  if (job->by_word)
    print_shares(job, out);
  else
    TSR_TRY(print_rows(job, out));
  print_metadata(job, out);
  return NULL;
}
