// Building a plan: a pool of specs by hash, and notes in the order they come. The end sorts notes
// by row and works out the bytes.
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "element/dtype_internal.h"
#include "element/shape_internal.h"
#include "plan/plan.h"
#include "spec/spec_internal.h"

tsr_status tsr_plan_builder_intern(tsr_plan_builder *builder, const tsr_spec *spec,
                                   int32_t *out_index) {
  tsr_plan *plan = builder->plan;
  if (!spec) spec = builder->uncut;
  const uint64_t hash = tsr_spec_hash(spec);
  size_t step = 0;
  for (int64_t at; (at = tsr_hash_slots_probe(&builder->pool, hash, &step)) >= 0;)
    if (plan->specs[at] == spec || tsr_spec_equal(plan->specs[at], spec)) {
      *out_index = (int32_t)at;
      return NULL;
    }
  const tsr_spec **specs =
      tsr_grow(plan->specs, plan->spec_count, &builder->spec_capacity, sizeof *specs);
  if (specs) plan->specs = specs;
  if (!specs || !tsr_hash_slots_add(&builder->pool, hash))
    return tsr_fail(NO_MEMORY, "pool of %d specs", plan->spec_count);
  *out_index = plan->spec_count;
  specs[plan->spec_count++] = tsr_spec_retain(spec);
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

tsr_status tsr_plan_builder_reason(tsr_plan_builder *builder, int64_t row, tsr_why why, int dim,
                                   int64_t argument) {
  const tsr_plan_note note = {.why = why, .dim = dim, .rule = -1, .argument = argument};
  return tsr_plan_builder_note(builder, row, &note);
}

// Until the end, `first_note` of a row counts its dropped notes: the first ones in the list.
void tsr_plan_builder_drop_notes(tsr_plan_builder *builder, int64_t row) {
  tsr_stored_row *stored = &builder->plan->rows[row];
  stored->first_note += stored->note_count;
  stored->note_count = 0;
  builder->any_dropped = true;
}

static void mark_dropped(const tsr_plan_builder *builder) {
  for (int64_t i = 0; i < builder->note_count && builder->any_dropped; i++) {
    tsr_stored_row *row = &builder->plan->rows[builder->notes[i].row];
    if (!row->first_note) continue;
    row->first_note--;
    builder->notes[i].row = -1;
  }
}

// Sorts notes by row: counts give each row its first note, one pass puts them there.
static tsr_status place_notes(const tsr_plan_builder *builder) {
  tsr_plan *plan = builder->plan;
  mark_dropped(builder);
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
    if (builder->notes[i].row < 0) continue;
    tsr_stored_row *row = &plan->rows[builder->notes[i].row];
    plan->notes[row->first_note + row->note_count++] = builder->notes[i].note;
  }
  return NULL;
}

// ---- bytes ----

// Bytes of the largest shard. A spec that does not fit cuts nothing.
static tsr_status largest_bytes(const tsr_plan *plan, int64_t index, int64_t *out_bytes) {
  const tsr_tensor *tensor = tsr_tree_at(plan->tree, index);
  tsr_layout *layout = NULL;
  *out_bytes = tsr_tensor_bytes(tensor);
  if (!plan->mesh) return NULL;
  TSR_TRY(tsr_plan_try_layout(plan, index, &layout));
  if (!layout) return NULL;
  const tsr_status status = tsr_dtype_bytes(tensor->dtype, tsr_layout_largest(layout), out_bytes);
  tsr_layout_release(layout);
  return status;
}

// Once for each shape, type, spec and policy.
static tsr_status count_bytes(tsr_plan *plan, tsr_shape_table *table) {
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    tsr_stored_row *row = &plan->rows[i];
    const tsr_tensor *tensor = tsr_tree_at(plan->tree, i);
    bool is_new = false;
    int64_t *bytes = tsr_shape_table_value(table, tsr_stored_row_key(row, tensor), tensor, &is_new);
    if (!bytes) return tsr_fail(NO_MEMORY, "bytes of a plan");
    if (is_new) TSR_TRY(largest_bytes(plan, i, bytes));
    row->bytes_per_device = *bytes;
    plan->bytes_per_device += *bytes;
  }
  return NULL;
}

// ---- building ----

tsr_status tsr_plan_builder_init(tsr_plan_builder *builder, const tsr_tree *tree,
                                 const tsr_mesh *mesh) {
  *builder = (tsr_plan_builder){.corrected = TSR_SHAPE_TABLE(tsr_correction)};
  const size_t count = (size_t)tsr_tree_count(tree);
  tsr_plan *plan = calloc(1, sizeof *plan);
  if (!plan) return tsr_fail(NO_MEMORY, "plan");
  plan->rows = malloc(sizeof *plan->rows * (count + 1));
  tsr_status status = plan->rows ? tsr_spec_of(NULL, 0, &builder->uncut)
                                 : tsr_fail(NO_MEMORY, "plan of %zu tensors", count);
  if (status) {
    free(plan->rows);
    free(plan);
    return status;
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
  tsr_spec_release(builder->uncut);
  tsr_hash_slots_deinit(&builder->pool);
  tsr_name_index_deinit(&builder->axis_names);
  tsr_shape_table_deinit(&builder->corrected);
  free(builder->notes);
  free(builder->axes);
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

tsr_status tsr_plan_builder_copy(tsr_plan_builder *builder, int64_t row, const tsr_plan_row *from) {
  TSR_TRY(tsr_plan_builder_set(builder, row, from->wanted, from->final, from->policy));
  for (int64_t i = 0; i < from->note_count; i++)
    TSR_TRY(tsr_plan_builder_note(builder, row, &from->notes[i]));
  return NULL;
}

static tsr_status finish(tsr_plan_builder *builder, tsr_plan **out_plan) {
  tsr_plan *plan = builder->plan;
  tsr_shape_table table = TSR_SHAPE_TABLE(int64_t);
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) assert(plan->rows[i].final >= 0);
  tsr_status status = place_notes(builder);
  if (!status) status = count_bytes(plan, &table);
  tsr_shape_table_deinit(&table);
  if (status) return status;
  builder->plan = NULL;
  *out_plan = plan;
  return NULL;
}

tsr_status tsr_plan_builder_end(tsr_plan_builder *builder, tsr_status status, tsr_plan **out_plan) {
  if (!status) status = finish(builder, out_plan);
  tsr_plan_builder_deinit(builder);
  return status;
}
