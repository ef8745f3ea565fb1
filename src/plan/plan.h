// How a plan is stored and built.
//
//   tsr_plan_builder builder;
//   TSR_TRY(tsr_plan_builder_init(&builder, tree, mesh));
//   for (each row) status = tsr_plan_builder_correct(&builder, row, spec, TSR_POLICY_ERROR);
//   return tsr_plan_builder_end(&builder, status, out_plan);
#ifndef TESSERA_PLAN_PLAN_H
#define TESSERA_PLAN_PLAN_H

#include <stdatomic.h>

#include "base/arena.h"
#include "base/name_index.h"
#include "plan/shape_table.h"
#include "tessera/engine/sharding.h"
#include "tessera/plan.h"

// tsr_plan_from_text for a tree. `model_path` says where to look for config.json; NULL = nowhere.
TSR_MUST_USE tsr_status tsr_plan_tree_by_text(const tsr_tree *tree, const char *model_path,
                                              const tsr_mesh *mesh, const char *rules,
                                              tsr_plan **out_plan);

// A row at its true size: specs and notes by number.
typedef struct tsr_stored_row {
  int64_t bytes_per_device;
  int32_t wanted, final;  // -1 = not set yet
  uint32_t first_note;
  uint16_t note_count;
  uint8_t policy;
} tsr_stored_row;

// The final spec, policy and dtype of a row as a number. With the shape they determine its bytes.
static inline uint64_t tsr_stored_row_key(const tsr_stored_row *row, const tsr_tensor *tensor) {
  return (uint64_t)row->final << 16 | (uint64_t)row->policy << 8 | (uint64_t)tensor->dtype;
}

struct tsr_plan {
  atomic_int references;
  const tsr_tree *tree;
  const tsr_mesh *mesh;                    // may be NULL
  const tsr_rules *rules;                  // may be NULL
  const tsr_logical_rules *logical_rules;  // may be NULL
  int spec_count;
  const tsr_spec **specs;  // owned, with a reference each
  tsr_stored_row *rows;    // owned
  tsr_plan_note *notes;    // owned
  tsr_arena names;         // of the axes in notes
  int64_t bytes_per_device;
};

// tsr_plan_at without a failure: false if there is no such row.
bool tsr_plan_row_read(const tsr_plan *plan, int64_t index, tsr_plan_row *out_row);

// A note with the row it belongs to.
typedef struct tsr_pending_note {
  int64_t row;  // -1 = dropped
  tsr_plan_note note;
} tsr_pending_note;

// The result of correcting a spec for a shape: found once, used for all tensors alike.
typedef struct tsr_correction {
  int32_t final;
  int64_t first_note, note_count;  // of `correction_notes`
} tsr_correction;

typedef struct tsr_plan_builder {
  tsr_plan *plan;       // owned until the end
  tsr_spec *uncut;      // owned: the empty spec
  tsr_hash_slots pool;  // of the plan's specs
  int64_t spec_capacity;
  tsr_pending_note *notes;
  int64_t note_count, note_capacity;
  bool any_dropped;   // of the notes
  const char **axes;  // names in notes, in the plan's arena
  int64_t axis_count, axis_capacity;
  tsr_name_index axis_names;
  bool keep_group_members;    // corrections drop single members of groups; false at first
  tsr_shape_table corrected;  // tsr_correction
  tsr_plan_note *correction_notes;
  int64_t correction_note_count, correction_note_capacity;
} tsr_plan_builder;

// Retains tree and mesh (may be NULL).
TSR_MUST_USE tsr_status tsr_plan_builder_init(tsr_plan_builder *builder, const tsr_tree *tree,
                                              const tsr_mesh *mesh);
void tsr_plan_builder_deinit(tsr_plan_builder *builder);  // all zeros is fine
// Keeps the rules that notes refer to by number; either may be NULL.
void tsr_plan_builder_rules(tsr_plan_builder *builder, const tsr_rules *rules,
                            const tsr_logical_rules *logical_rules);
// Sets a row's specs as they are; setting it again replaces them. A NULL spec cuts nothing.
TSR_MUST_USE tsr_status tsr_plan_builder_set(tsr_plan_builder *builder, int64_t row,
                                             const tsr_spec *wanted, const tsr_spec *final,
                                             tsr_policy policy);
// Sets a row to `wanted` (NULL = uncut) and to its correction for the mesh (tsr_spec_correct), with
// a note for each change. An axis left in two places is dropped from the later one. Under a policy
// other than TSR_POLICY_ERROR sizes need not divide. Without a mesh nothing is changed.
TSR_MUST_USE tsr_status tsr_plan_builder_correct(tsr_plan_builder *builder, int64_t row,
                                                 const tsr_spec *wanted, tsr_policy policy);
// Sets a row as in another plan, and adds its notes.
TSR_MUST_USE tsr_status tsr_plan_builder_copy(tsr_plan_builder *builder, int64_t row,
                                              const tsr_plan_row *from);
// The number of a spec in the plan's pool, which keeps a reference if it is new.
TSR_MUST_USE tsr_status tsr_plan_builder_intern(tsr_plan_builder *builder, const tsr_spec *spec,
                                                int32_t *out_index);
// A copy of an axis's name that lives as long as the plan, made once for each name.
TSR_MUST_USE tsr_status tsr_plan_builder_name(tsr_plan_builder *builder, const char *name,
                                              const char **out_kept);
// Adds a note to a row, after those it has. The axis's name is copied.
TSR_MUST_USE tsr_status tsr_plan_builder_note(tsr_plan_builder *builder, int64_t row,
                                              const tsr_plan_note *note);
// The same for a note without rule and axis; `dim` may be -1.
TSR_MUST_USE tsr_status tsr_plan_builder_reason(tsr_plan_builder *builder, int64_t row, tsr_why why,
                                                int dim, int64_t argument);
void tsr_plan_builder_drop_notes(tsr_plan_builder *builder, int64_t row);
// Makes the plan and works out its bytes per device, unless `status` is a failure, which is
// returned. Every row must have been set (asserted). Deinits the builder in either case.
TSR_MUST_USE tsr_status tsr_plan_builder_end(tsr_plan_builder *builder, tsr_status status,
                                             tsr_plan **out_plan);

// Whether the plan was made with companions.
bool tsr_plan_has_companions(const tsr_plan *plan);

// The rule that a row matched; -1 = none.
int64_t tsr_plan_row_rule(const tsr_plan_row *row);
// The row, or index_out_of_range.
TSR_MUST_USE tsr_status tsr_plan_need(const tsr_plan *plan, int64_t index, tsr_plan_row *out_row);

// The correction that a reason stands for; TSR_CHANGE_COUNT = none.
tsr_change_kind tsr_why_change(tsr_why why);
// Names a rule: `rule 3 (llama.rules:12) "q_proj"`.
void tsr_rules_print_name(const tsr_rules *rules, int64_t index, tsr_text *out);
// Appends a spec in its short form.
void tsr_spec_add(const tsr_spec *spec, tsr_text *out);

// The layout that a spec gives a tensor on a mesh. `try`: NULL where the spec does not fit.
TSR_MUST_USE tsr_status tsr_tensor_layout(const tsr_tensor *tensor, const tsr_mesh *mesh,
                                          const tsr_spec *spec, tsr_policy policy,
                                          tsr_layout **out_layout);
TSR_MUST_USE tsr_status tsr_tensor_try_layout(const tsr_tensor *tensor, const tsr_mesh *mesh,
                                              const tsr_spec *spec, tsr_policy policy,
                                              tsr_layout **out_layout);
TSR_MUST_USE tsr_status tsr_plan_try_layout(const tsr_plan *plan, int64_t index,
                                            tsr_layout **out_layout);
int64_t tsr_layout_largest(const tsr_layout *layout);  // elements of the largest shard

// Tensors of one shape, dtype, final spec and policy: the first row, and how many.
typedef struct tsr_plan_kind {
  int64_t row, count;
} tsr_plan_kind;
typedef struct tsr_plan_kinds {
  int64_t count;
  tsr_plan_kind *items;  // owned
} tsr_plan_kinds;
TSR_MUST_USE tsr_status tsr_plan_kinds_init(tsr_plan_kinds *kinds, const tsr_plan *plan);
void tsr_plan_kinds_deinit(tsr_plan_kinds *kinds);

#endif
