// Building a plan: a pool of specs by hash, notes in the order they come, and at the end one pass
// that gives each row its notes and its bytes.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "element/dtype_internal.h"
#include "element/shape_internal.h"
#include "plan/plan.h"
#include "spec/spec_internal.h"

// ---- the pool of specs ----

static tsr_status grow_pool(tsr_plan_builder *builder) {
  tsr_plan *plan = builder->plan;
  const int capacity = builder->spec_capacity ? 2 * builder->spec_capacity : 32;
  const size_t slot_count = 2 * (size_t)capacity;
  int32_t *slots = calloc(slot_count, sizeof *slots);
  const tsr_spec **specs = realloc(plan->specs, sizeof *specs * (size_t)capacity);
  if (specs) plan->specs = specs;
  if (!slots || !specs) {
    free(slots);
    return tsr_fail(NO_MEMORY, "pool of %d specs", capacity);
  }
  for (int i = 0; i < plan->spec_count; i++) {
    size_t slot = tsr_spec_hash(specs[i]) & (slot_count - 1);
    while (slots[slot]) slot = (slot + 1) & (slot_count - 1);
    slots[slot] = i + 1;
  }
  free(builder->slots);
  builder->slots = slots;
  builder->slot_mask = slot_count - 1;
  builder->spec_capacity = capacity;
  return NULL;
}

tsr_status tsr_plan_builder_intern(tsr_plan_builder *builder, const tsr_spec *spec,
                                   int32_t *out_index) {
  tsr_plan *plan = builder->plan;
  if (plan->spec_count == builder->spec_capacity) TSR_TRY(grow_pool(builder));
  size_t slot = tsr_spec_hash(spec) & builder->slot_mask;
  for (; builder->slots[slot]; slot = (slot + 1) & builder->slot_mask) {
    *out_index = builder->slots[slot] - 1;
    const tsr_spec *known = plan->specs[*out_index];
    if (known == spec || tsr_spec_equal(known, spec)) return NULL;
  }
  *out_index = plan->spec_count;
  plan->specs[plan->spec_count++] = tsr_spec_retain(spec);
  builder->slots[slot] = plan->spec_count;
  return NULL;
}

// ---- notes ----

tsr_status tsr_plan_builder_name(tsr_plan_builder *builder, const char *name,
                                 const char **out_kept) {
  int64_t known = tsr_name_index_find(&builder->axis_names, name);
  if (known < 0) {
    known = builder->axis_count;
    const char **axes = tsr_grow(builder->axes, known, &builder->axis_capacity, sizeof *axes);
    if (!axes) return tsr_fail(NO_MEMORY, "names of axes");
    builder->axes = axes;
    axes[known] = tsr_arena_copy(&builder->plan->names, name, strlen(name));
    if (!axes[known]) return tsr_fail(NO_MEMORY, "names of axes");
    TSR_TRY(tsr_name_index_add(&builder->axis_names, axes[known], known, &(int64_t){0}));
    builder->axis_count++;
  }
  *out_kept = builder->axes[known];
  return NULL;
}

tsr_status tsr_plan_builder_note(tsr_plan_builder *builder, int64_t row,
                                 const tsr_plan_note *note) {
  tsr_pending_note *notes =
      tsr_grow(builder->notes, builder->note_count, &builder->note_capacity, sizeof *notes);
  if (!notes) return tsr_fail(NO_MEMORY, "notes of a plan");
  builder->notes = notes;
  tsr_pending_note pending = {row, *note};
  if (note->axis) TSR_TRY(tsr_plan_builder_name(builder, note->axis, &pending.note.axis));
  tsr_stored_row *stored = &builder->plan->rows[row];
  if (stored->note_count == UINT16_MAX)
    return tsr_fail(TOO_LARGE, "more than %d notes on one tensor", UINT16_MAX);
  stored->note_count++;
  notes[builder->note_count++] = pending;
  return NULL;
}

// Notes by row: where each row's begin follows from their numbers, then one pass puts them there.
static tsr_status place_notes(const tsr_plan_builder *builder) {
  tsr_plan *plan = builder->plan;
  if (builder->note_count > UINT32_MAX)
    return tsr_fail(TOO_LARGE, "more than %u notes in one plan", UINT32_MAX);
  plan->notes = malloc(sizeof *plan->notes * ((size_t)builder->note_count + 1));
  if (!plan->notes) return tsr_fail(NO_MEMORY, "%lld notes", (long long)builder->note_count);
  uint32_t first = 0;
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    tsr_stored_row *row = &plan->rows[i];
    row->first_note = first;
    first += row->note_count;
    row->note_count = 0;
  }
  for (int64_t i = 0; i < builder->note_count; i++) {
    tsr_stored_row *row = &plan->rows[builder->notes[i].row];
    plan->notes[row->first_note + row->note_count++] = builder->notes[i].note;
  }
  return NULL;
}

// ---- bytes ----

// What the largest shard takes. A spec that does not fit cuts nothing.
static tsr_status largest_bytes(const tsr_plan *plan, int64_t index, int64_t *out_bytes) {
  const tsr_tensor *tensor = tsr_tree_at(plan->tree, index);
  const tsr_stored_row *row = &plan->rows[index];
  *out_bytes = tsr_tensor_bytes(tensor);
  if (!plan->mesh) return NULL;
  tsr_layout *layout = NULL;
  tsr_status status = tsr_tensor_layout(tensor, plan->mesh, plan->specs[row->final],
                                        (tsr_policy)row->policy, &layout);
  if (status) {
    if (tsr_status_code(status) == TSR_CODE_NO_MEMORY) return status;
    tsr_status_free(status);
    return NULL;
  }
  status = tsr_dtype_bytes(tensor->dtype, tsr_layout_largest(layout), out_bytes);
  tsr_layout_release(layout);
  return status;
}

// Once for each shape, type, spec and policy.
static tsr_status count_bytes(tsr_plan *plan, tsr_shape_table *table, int64_t **inout_known,
                              int64_t *inout_capacity) {
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    tsr_stored_row *row = &plan->rows[i];
    const tsr_tensor *tensor = tsr_tree_at(plan->tree, i);
    const int seen = table->count;
    int entry = 0;
    TSR_TRY(tsr_shape_table_add(table, tsr_stored_row_key(row, tensor), tensor, &entry));
    if (entry == seen) {
      int64_t *known = tsr_grow(*inout_known, seen, inout_capacity, sizeof *known);
      if (!known) return tsr_fail(NO_MEMORY, "bytes of a plan");
      *inout_known = known;
      TSR_TRY(largest_bytes(plan, i, &known[entry]));
    }
    assert(*inout_known);  // the first entry is always new
    row->bytes_per_device = (*inout_known)[entry];
    plan->bytes_per_device += row->bytes_per_device;
  }
  return NULL;
}

// ---- building ----

tsr_status tsr_plan_builder_init(tsr_plan_builder *builder, const tsr_tree *tree,
                                 const tsr_mesh *mesh) {
  *builder = (tsr_plan_builder){0};
  const size_t count = (size_t)tsr_tree_count(tree);
  tsr_plan *plan = calloc(1, sizeof *plan);
  if (!plan) return tsr_fail(NO_MEMORY, "plan");
  plan->rows = malloc(sizeof *plan->rows * (count + 1));
  if (!plan->rows) {
    free(plan);
    return tsr_fail(NO_MEMORY, "plan of %zu tensors", count);
  }
  for (size_t i = 0; i < count; i++) plan->rows[i] = (tsr_stored_row){.wanted = -1, .final = -1};
  atomic_init(&plan->references, 1);
  plan->tree = tsr_tree_retain(tree);
  plan->mesh = mesh ? tsr_mesh_retain(mesh) : NULL;
  builder->plan = plan;
  return NULL;
}

void tsr_plan_builder_deinit(tsr_plan_builder *builder) {
  tsr_plan_release(builder->plan);
  tsr_name_index_deinit(&builder->axis_names);
  tsr_shape_table_deinit(&builder->corrected);
  free(builder->slots);
  free(builder->notes);
  free(builder->axes);
  free(builder->corrections);
  free(builder->correction_notes);
  *builder = (tsr_plan_builder){0};
}

void tsr_plan_builder_rules(tsr_plan_builder *builder, const tsr_rules *rules,
                            const tsr_logical_rules *logical_rules) {
  tsr_plan *plan = builder->plan;
  tsr_rules_release(plan->rules);
  tsr_logical_rules_release(plan->logical_rules);
  plan->rules = rules ? tsr_rules_retain(rules) : NULL;
  plan->logical_rules = logical_rules ? tsr_logical_rules_retain(logical_rules) : NULL;
}

tsr_status tsr_plan_builder_set(tsr_plan_builder *builder, int64_t row, const tsr_spec *wanted,
                                const tsr_spec *final, tsr_policy policy) {
  tsr_stored_row *stored = &builder->plan->rows[row];
  int32_t wanted_index = 0, final_index = 0;
  TSR_TRY(tsr_plan_builder_intern(builder, wanted, &wanted_index));
  TSR_TRY(tsr_plan_builder_intern(builder, final, &final_index));
  stored->wanted = wanted_index;
  stored->final = final_index;
  stored->policy = (uint8_t)policy;
  return NULL;
}

tsr_status tsr_plan_builder_finish(tsr_plan_builder *builder, tsr_plan **out_plan) {
  tsr_plan *plan = builder->plan;
  tsr_shape_table table = TSR_SHAPE_TABLE_EMPTY;
  int64_t *known = NULL, capacity = 0;
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) assert(plan->rows[i].final >= 0);
  tsr_status status = place_notes(builder);
  if (!status) status = count_bytes(plan, &table, &known, &capacity);
  tsr_shape_table_deinit(&table);
  free(known);
  if (status) return status;
  builder->plan = NULL;
  *out_plan = plan;
  return NULL;
}
