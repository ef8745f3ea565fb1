// A propagation and the record of how it went, shared by the files of this room and the reports.
//
// Three programs stand side by side. `given` is the one that was asked about, with the mesh and the
// plan in place; its ops are numbered (tsr_op.origin), and the marks of its values hold their
// names. `work` is its copy as propagation saw it: calls are computations of their own, loops have
// edges. Copies of an op keep its number, so that everything said about `work` is said in the names
// of `given`. `final` is what the passes after propagation make of it.
#ifndef TESSERA_INSIGHT_INSIGHT_H
#define TESSERA_INSIGHT_INSIGHT_H

#include <pthread.h>

#include "factor/shardings.h"
#include "propagate/propagate.h"
#include "tessera/program/propagation.h"

// A value got a part of an axis.
typedef struct tsr_gain {
  uint32_t slot, source;  // source 0 = not known
  int dim, source_dim;
  tsr_sdy_part part;
  const tsr_op *op;  // of `work`, that it came through
  int64_t user_priority;
  int op_priority;
  uint32_t previous;  // the gain of the same slot before it, plus 1; 0 = none
} tsr_gain;

// Why a tensor of an op does not have an axis that another one has along the same factor: id, the
// word in JSON.
#define TSR_REFUSALS(X)              \
  X(MESHES, "different_meshes")      \
  X(OTHER_AXES, "other_axes")        \
  X(REPLICATED, "replicated")        \
  X(UNREDUCED, "unreduced")          \
  X(TAKEN, "axis_taken")             \
  X(CLOSED, "closed")                \
  X(INDIVISIBLE, "indivisible")      \
  X(BLOCKED, "blocked")              \
  X(DISAGREE, "neighbours_disagree") \
  X(CONTESTED, "axis_contested")     \
  X(NOT_PASSED, "not_passed")
#define TSR_ENUMERATOR_(id, word) TSR_REFUSED_##id,
typedef enum tsr_refusal_reason {
  TSR_REFUSALS(TSR_ENUMERATOR_) TSR_REFUSED_COUNT
} tsr_refusal_reason;
#undef TSR_ENUMERATOR_

typedef struct tsr_refusal {
  uint32_t slot, source;  // the source has the axis
  int dim, source_dim;
  tsr_sdy_part part;
  const tsr_op *op;  // of `work`
  tsr_refusal_reason reason;
  int other_dim;        // TAKEN, CONTESTED: the dim that has the axis, or could
  tsr_sdy_part other;   // OTHER_AXES, DISAGREE: the axis in its place
  uint32_t other_slot;  // DISAGREE, CONTESTED: who has it
  uint32_t previous;    // as in tsr_gain
} tsr_refusal;

// A place of a sharding: a value of `work`, or a result of a function.
typedef struct tsr_sharding_place {
  tsr_value *value;    // NULL: a result of a function
  const tsr_op *func;  // then this one
  int index;
  bool dropped;                             // nothing uses it, so that it is gone
  const tsr_tensor_sharding *first, *last;  // before and after; NULL = none
  uint32_t gains, refusals;                 // the newest one, plus 1; 0 = none
  const tsr_sharded_value *answer;          // kept for who asks again
} tsr_sharding_place;

// A value of `given`.
typedef struct tsr_named_value {
  const tsr_value *value;  // of `given`; NULL = a result
  const tsr_op *func;
  int index;
} tsr_named_value;

// A constraint of the caller, and the op of `work` that it became: the function for arguments and
// results.
typedef struct tsr_given_constraint {
  const char *text;  // "%12=data, _"
  tsr_named_value named;
  const tsr_op *op;
} tsr_given_constraint;

struct tsr_propagation {
  tsr_program *original, *given, *work, *final;
  const tsr_op **ops;  // of `given`, by origin - 1
  int64_t op_count;
  tsr_sharding_place *places;  // by slot; the first is not used
  int64_t place_count;         // the last slot
  tsr_gain *gains;
  int64_t gain_count, gain_capacity;
  tsr_refusal *refusals;
  int64_t refusal_count, refusal_capacity;
  tsr_propagation_info info;
  tsr_given_constraint *constraints;
  int64_t constraint_count;
  tsr_plan *plan;        // of the options, or NULL
  const char **planned;  // for each argument of the entry the row of the plan; NULL = none
  tsr_arena arena;
  pthread_mutex_t lock;  // of `answers`
  tsr_arena answers;     // texts of tsr_sharded_value
  tsr_arena scratch;     // while it is made
  bool failed;           // a gain could not be kept
};

// The program with the mesh, the plan and the constraints of the options written into it, and with
// the names that a file of jax.export gives to its arguments. Nothing is propagated.
TSR_MUST_USE tsr_status tsr_program_annotate(const tsr_program *program,
                                             const tsr_propagate_options *options,
                                             tsr_program **out_program);

// ---- the record (propagation_record.c) ----

// What tsr_propagate is asked with, so that everything is written into `propagation`.
void tsr_record_watch(tsr_propagation *propagation, tsr_flow_how *how);
// Adds what the tensors of an op did not get.
TSR_MUST_USE tsr_status tsr_refusals_add(tsr_propagation *propagation, const tsr_flow_view *view);
const char *tsr_refusal_word(tsr_refusal_reason reason);

// ---- values and their names (value_names.c, value_search.c) ----

// Numbers the ops of `given` and names its values.
TSR_MUST_USE tsr_status tsr_names_make(tsr_propagation *propagation);
// The value of `given` that a value of `work` comes from; NULL = it was added.
const tsr_value *tsr_given_value(const tsr_propagation *propagation, const tsr_value *value);
const tsr_op *tsr_given_op(const tsr_propagation *propagation, const tsr_op *op);  // or NULL
// Whether a slot is shown as a value: not dropped, and no second place of another one.
bool tsr_slot_is_shown(const tsr_propagation *propagation, int64_t slot);
// Whether the sharding of a place was given, at least in part: axes, or dims that are closed.
bool tsr_place_is_given(const tsr_sharding_place *place);
// The function of `given` that a slot belongs to.
const tsr_op *tsr_slot_function(const tsr_propagation *propagation, uint32_t slot);
const tsr_type *tsr_slot_type(const tsr_propagation *propagation, uint32_t slot);
// %12, %5#1, out0; "@f:" before it outside the entry.
void tsr_slot_print(const tsr_propagation *propagation, uint32_t slot, tsr_text *out);
// The function that an op stands in, or is; NULL = none.
const tsr_op *tsr_function_around(const tsr_op *op);
// "@f:" for a function other than the entry.
void tsr_function_print(const tsr_propagation *propagation, const tsr_op *func, tsr_text *out);
// The op of `given` in one line: "%2 = stablehlo.add %0, %1 : tensor<8xf32>".
void tsr_op_line_print(const tsr_op *op, tsr_text *out);
TSR_MUST_USE tsr_status tsr_value_find(const tsr_propagation *propagation, const char *name,
                                       tsr_named_value *out_value);
// The slots of a value, one after the other: `after` = 0 or the slot before; 0 = no more.
uint32_t tsr_value_slot(const tsr_propagation *propagation, const tsr_named_value *value,
                        uint32_t after);

// ---- arguments (argument_paths.c, argument_plan.c, given_shardings.c) ----

// Adds the name of an argument in JAX with its keys joined by "/".
void tsr_argument_path_print(const char *name, tsr_text *out);
// Adds a name with every separator as "/": names that are equal then mean the same.
void tsr_argument_key_print(const char *name, tsr_text *out);
bool tsr_argument_matches(const char *name, const char *other);
// The mesh that shardings are given on: its name in the program, and the mesh (to release).
struct tsr_builder_mesh;
// Writes the mesh of the options, or that of the plan, into `ir`, a copy of the program, and finds
// the mesh of a program that has one.
TSR_MUST_USE tsr_status tsr_mesh_apply(const tsr_program *program, tsr_ir *ir,
                                       const tsr_propagate_options *options,
                                       struct tsr_builder_mesh *out_mesh);
// The SDY_SHARDING of a spec on the mesh for a value of a type.
TSR_MUST_USE tsr_status tsr_spec_to_attr(tsr_ir *ir, const tsr_spec *spec, const tsr_type *type,
                                         const struct tsr_builder_mesh *mesh,
                                         const tsr_attr **out_attr);
// Writes the shardings of a plan for the entry's arguments into `ir`, a copy of the program.
TSR_MUST_USE tsr_status tsr_plan_apply(tsr_propagation *propagation, tsr_ir *ir,
                                       const tsr_plan *plan, const struct tsr_builder_mesh *mesh);
// Adds the constraints of the options to `work`, while it is a plain copy of `given`.
TSR_MUST_USE tsr_status tsr_constraints_add(tsr_propagation *propagation, tsr_ir *work,
                                            const tsr_propagate_options *options,
                                            const struct tsr_builder_mesh *mesh);

// ---- why (gain_chain.c, explanation.c) ----

// The gain that gave a slot a part of an axis, among the first `before` gains; NULL = it had it
// from the start, or the way is not known.
const tsr_gain *tsr_gain_of(const tsr_propagation *propagation, uint32_t slot, int dim,
                            const tsr_sdy_part *part, int64_t before);
// What gave the source of a gain the same axis; NULL = it is where the axis was given.
const tsr_gain *tsr_gain_before(const tsr_propagation *propagation, const tsr_gain *gain);
// Where a part that a slot had from the start came from, in words.
void tsr_root_print(const tsr_propagation *propagation, uint32_t slot, tsr_text *out);
// The op that a gain or a refusal goes through: "%3 = stablehlo.add", "the loop %5".
void tsr_way_print(const tsr_propagation *propagation, const tsr_op *op, tsr_text *out);
// Why an axis was refused: "dimension 0 has it already".
void tsr_refusal_print(const tsr_propagation *propagation, const tsr_refusal *refusal,
                       tsr_text *out);
// The refusals of a dim, of which those with the same axis and reason are one.
typedef struct tsr_refusal_group {
  const tsr_refusal *first;
  int64_t count;
} tsr_refusal_group;
enum { TSR_REFUSAL_GROUPS = 32 };
int tsr_refusals_of(const tsr_propagation *propagation, uint32_t slot, int dim,
                    tsr_refusal_group out[TSR_REFUSAL_GROUPS]);

// ---- shardings as text (sharding_text.c) ----

// #sdy.sharding<...>, all dims closed unless `open`; nothing for NULL.
void tsr_tensor_sharding_print(const tsr_tensor_sharding *sharding, bool open, tsr_text *out);
// "data, _": the sharding of a slot; "-" = none.
void tsr_slot_sharding_print(const tsr_propagation *propagation, uint32_t slot, tsr_text *out);

#endif
