// Bytes per device. Shards of a tensor are nearly always equal; devices are counted one by one only
// where they are not.
#include <stdlib.h>

#include "element/dtype_internal.h"
#include "layout/layout.h"
#include "layout/layout_internal.h"
#include "plan/plan.h"
#include "plan/plan_internal.h"
#include "tessera/engine/layout.h"

typedef struct device_counter {
  const tsr_plan *plan;
  int64_t same;  // bytes that every device holds
  int64_t *bytes;
} device_counter;

// ---- kinds of tensors ----

static tsr_status gather_kinds(const tsr_plan *plan, tsr_shape_table *table) {
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    const tsr_tensor *tensor = tsr_tree_at(plan->tree, i);
    const uint64_t key = tsr_stored_row_key(&plan->rows[i], tensor);
    bool is_new = false;
    tsr_plan_kind *kind = tsr_shape_table_value(table, key, tensor, &is_new);
    if (!kind) return tsr_fail(NO_MEMORY, "kinds of tensors");
    if (is_new) kind->row = i;
    kind->count++;
  }
  return NULL;
}

// The kinds are the values of the table.
tsr_status tsr_plan_kinds_init(tsr_plan_kinds *kinds, const tsr_plan *plan) {
  tsr_shape_table table = TSR_SHAPE_TABLE(tsr_plan_kind);
  *kinds = (tsr_plan_kinds){0, NULL};
  const tsr_status status = gather_kinds(plan, &table);
  if (!status) {
    *kinds = (tsr_plan_kinds){table.slots.count, (tsr_plan_kind *)(void *)table.values};
    table.values = NULL;
  }
  tsr_shape_table_deinit(&table);
  return status;
}

void tsr_plan_kinds_deinit(tsr_plan_kinds *kinds) {
  free(kinds->items);
  *kinds = (tsr_plan_kinds){0, NULL};
}

// ---- devices ----

static bool is_even(const tsr_layout *layout) {
  if (tsr_layout_policy(layout) == TSR_POLICY_PAD) return true;
  for (int d = 0; d < tsr_layout_rank(layout); d++) {
    const tsr_cut cut = tsr_layout_cut(layout, d);
    if (cut.size % cut.shards || tsr_cut_longest(&cut) != cut.size / cut.shards) return false;
  }
  return true;
}

static tsr_status count_shards(device_counter *work, const tsr_plan_kind *tensors,
                               const tsr_layout *layout) {
  const tsr_dtype dtype = tsr_tree_at(work->plan->tree, tensors->row)->dtype;
  for (int64_t p = 0; p < tsr_layout_device_count(layout); p++) {
    int64_t bytes = 0;
    const int64_t shard = tsr_layout_shard(layout, p);
    TSR_TRY(tsr_dtype_bytes(dtype, tsr_layout_shard_elements(layout, shard), &bytes));
    work->bytes[p] += bytes * tensors->count;
  }
  return NULL;
}

static tsr_status count_kind(device_counter *work, const tsr_plan_kind *tensors) {
  const int64_t largest = work->plan->rows[tensors->row].bytes_per_device;
  tsr_layout *layout = NULL;
  tsr_status status = NULL;
  if (work->plan->mesh) TSR_TRY(tsr_plan_try_layout(work->plan, tensors->row, &layout));
  if (!layout || is_even(layout))
    work->same += largest * tensors->count;
  else
    status = count_shards(work, tensors, layout);
  tsr_layout_release(layout);
  return status;
}

tsr_status tsr_plan_device_bytes(const tsr_plan *plan, int64_t *out_bytes) {
  const int64_t devices = plan->mesh ? tsr_mesh_device_count(plan->mesh) : 1;
  device_counter work = {.plan = plan, .bytes = calloc((size_t)devices, sizeof *work.bytes)};
  tsr_plan_kinds kinds = {0};
  tsr_status status = work.bytes ? tsr_plan_kinds_init(&kinds, plan)
                                 : tsr_fail(NO_MEMORY, "bytes of %lld devices", (long long)devices);
  for (int64_t i = 0; i < kinds.count && !status; i++) status = count_kind(&work, &kinds.items[i]);
  for (int64_t p = 0; p < devices && !status; p++) out_bytes[p] = work.bytes[p] + work.same;
  tsr_plan_kinds_deinit(&kinds);
  free(work.bytes);
  return status;
}

tsr_status tsr_plan_device_load(const tsr_plan *plan, tsr_device_load *out_load) {
  const int64_t count = plan->mesh ? tsr_mesh_device_count(plan->mesh) : 1;
  int64_t *bytes = malloc(sizeof *bytes * (size_t)count);
  if (!bytes) return tsr_fail(NO_MEMORY, "bytes of %lld devices", (long long)count);
  const tsr_status status = tsr_plan_device_bytes(plan, bytes);
  tsr_device_load load = {.min = INT64_MAX};
  for (int64_t i = 0; i < count && !status; i++) {
    if (bytes[i] < load.min) load.min = bytes[i];
    if (bytes[i] > load.max) load.max = bytes[i];
    load.total += (double)bytes[i];
  }
  free(bytes);
  if (!status) *out_load = load;
  return status;
}
