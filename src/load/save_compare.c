// What ranks compare before a save: the leaves of the tree, the selection, the plan, and the files
// and writers that follow.
#include <string.h>

#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "layout/layout_internal.h"
#include "load/load.h"
#include "load/save.h"
#include "mesh/mesh.h"
#include "place/place.h"
#include "plan/plan.h"
#include "spec/spec.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/kernels.h"

typedef struct save_compared {
  const tsr_save *save;
  const tsr_save_options *options;
  tsr_transform_options how;
  tsr_selection selection;
  tsr_compared_leaves leaves;
  int64_t rows;  // of the plan
} save_compared;

// ---- the plan ----

static tsr_hash128 digest_row(const tsr_plan *plan, int64_t index) {
  tsr_plan_row row;
  tsr_plan_row_read(plan, index, &row);
  const tsr_mesh *mesh = tsr_plan_mesh(plan);
  const tsr_hash128 spec = tsr_spec_digest(row.final);
  const tsr_hash128 of_mesh = mesh ? tsr_mesh_digest(mesh) : TSR_HASH128_EMPTY;
  const uint64_t numbers[] = {spec.low, spec.high, of_mesh.low, of_mesh.high, (uint64_t)row.policy};
  return tsr_hash128_add(tsr_hash128_add_text(TSR_HASH128_EMPTY, row.tensor->path), numbers,
                         sizeof numbers);
}

static void describe_row(const tsr_plan *plan, int64_t index, tsr_text *out) {
  tsr_plan_row row;
  tsr_plan_row_read(plan, index, &row);
  tsr_text_addf(out, "plan of \"%s\": ", row.tensor->path);
  tsr_status status = tsr_spec_print(row.final, TSR_FORM_SHORT, out);
  if (status) out->failed = true;
  tsr_status_free(status);
  tsr_text_addf(out, ", %s", tsr_policy_name(row.policy));
  if (!tsr_plan_mesh(plan)) return;
  tsr_text_add(out, " over {");
  tsr_mesh_print(tsr_plan_mesh(plan), out);
  tsr_text_add(out, "}");
}

// ---- files ----

// The identity of the job covers names, dtypes and places; writers follow from the arrays' layouts.
static tsr_hash128 digest_files(const tsr_save *save) {
  const size_t windows = (size_t)save->t->certificate.windows;
  return tsr_hash128_add(save->t->job, save->writers, sizeof *save->writers * windows);
}

static void describe_files(const tsr_save *save, tsr_text *out) {
  tsr_text_addf(out, "%lld files of %lld bytes in %lld windows", (long long)save->certificate.files,
                (long long)save->certificate.file_bytes, (long long)save->t->certificate.windows);
}

// ---- items: leaves, rows of the plan, the selection, the files ----

static tsr_hash128 digest_item(void *context, int64_t item) {
  save_compared *a = context;
  const int64_t leaves = a->leaves.count;
  if (item < leaves) return tsr_compared_leaves_items(&a->leaves).digest(&a->leaves, item);
  if (item < leaves + a->rows) return digest_row(a->options->plan, item - leaves);
  return item == leaves + a->rows ? tsr_selection_digest(&a->selection) : digest_files(a->save);
}

static void describe_item(void *context, int64_t item, tsr_text *out) {
  save_compared *a = context;
  const int64_t leaves = a->leaves.count;
  if (item < leaves)
    tsr_compared_leaves_items(&a->leaves).describe(&a->leaves, item, out);
  else if (item < leaves + a->rows)
    describe_row(a->options->plan, item - leaves, out);
  else if (item == leaves + a->rows)
    tsr_selection_describe(&a->selection, out);
  else
    describe_files(a->save, out);
}

tsr_status tsr_save_compare(tsr_save *save, const char *path, const tsr_save_options *o,
                            tsr_status found) {
  save_compared a = {.save = save,
                     .options = o,
                     .how = tsr_save_transform(o),
                     .leaves = tsr_compared_leaves_of(save->tree),
                     .rows = o->plan ? tsr_plan_count(o->plan) : 0};
  const char *format = tsr_checkpoint_format_name(a.how.format);
  a.selection = TSR_SELECTION_OF(&a.how);
  tsr_call c = tsr_call_begin(save->comm, "save");
  tsr_call_describe(&c,
                    "save of %lld tensors as %s, max_memory %lld, max_file_size %lld%s%s, %lld "
                    "metadata, to \"%s\"",
                    (long long)a.leaves.count, format ? format : "no format",
                    (long long)o->max_memory, (long long)o->max_file_size,
                    o->existing == TSR_EXISTING_REPLACE ? ", replace" : "",
                    o->no_sync ? ", no_sync" : "", (long long)o->metadata_count, path);
  tsr_call_hash(&c, path, strlen(path));
  for (int64_t i = 0; i < o->metadata_count; i++) {
    tsr_call_hash(&c, o->metadata[i].key, strlen(o->metadata[i].key) + 1);
    tsr_call_hash(&c, o->metadata[i].value, strlen(o->metadata[i].value) + 1);
  }
  c.items = (tsr_call_items){a.leaves.count + a.rows + 2, &a, digest_item, describe_item};
  if (!found) save->agreed = tsr_call_digest(&c);
  return tsr_load_agree_on(&c, found);
}
