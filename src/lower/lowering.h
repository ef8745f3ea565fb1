// Making a schedule: what the functions that lower ops share. One function lowers one kind of op;
// ir/ops.def names it in the column `kernel`, as tsr_lower_<name>.
#ifndef TESSERA_LOWER_LOWERING_H
#define TESSERA_LOWER_LOWERING_H

#include "lower/schedule.h"
#include "tile/tile.h"

typedef struct tsr_lowering {
  tsr_ir *ir;
  tsr_schedule *schedule;
  tsr_step_list *list;         // where steps are added now
  int lanes;                   // of the manual computation around; 1 = none
  struct tsr_manual *manual;   // NULL outside of manual computations
  struct tsr_lane_flow *flow;  // of the outermost manual computation; NULL outside
} tsr_lowering;

// Adds the steps of an op. Its operands have slots, or can be given one by tsr_slot_of.
typedef tsr_status tsr_lower_fn(tsr_lowering *lowering, tsr_op *op);
#define OP(id, name, form, operands, results, regions, traits, attrs, verify, infer, kernel, ...) \
  extern tsr_lower_fn tsr_lower_##kernel;
#include "ir/ops.def"
#undef OP
// The function of an op's row; NULL where it has none, and where the op is lowered by its block:
// terminators.
tsr_lower_fn *tsr_lower_of(tsr_op_id id);
// Lowers an op that lowering itself made: lanes hold the same of its results as of its operands.
tsr_lower_fn tsr_lower_made;

// ---- slots ----

// The slot of a value, row-major. A constant gets its slot when it is first asked for. The mark of
// a value is the number of its slot.
TSR_MUST_USE tsr_status tsr_slot_of(tsr_lowering *lowering, tsr_value *value, int *out_slot);
// A new slot of the arena for a value; it is the value's from now on.
TSR_MUST_USE tsr_status tsr_slot_create(tsr_lowering *lowering, tsr_value *value, int *out_slot);
TSR_MUST_USE tsr_status tsr_slot_temp(tsr_lowering *lowering, int64_t bytes,
                                      const tsr_lane_classes *classes, int *out_slot);
// Makes `value` a view of the memory of `of`, from byte `offset` of it.
TSR_MUST_USE tsr_status tsr_slot_view(tsr_lowering *lowering, tsr_value *value, tsr_value *of,
                                      int64_t offset);
// The same of a slot.
TSR_MUST_USE tsr_status tsr_slot_view_at(tsr_lowering *lowering, tsr_value *value, int base,
                                         int64_t offset);
// A view of a slot that lies at another place for each class of lanes.
TSR_MUST_USE tsr_status tsr_slot_part(tsr_lowering *lowering, int base,
                                      const tsr_lane_classes *classes, const int64_t *class_offsets,
                                      int *out_slot);
// Makes a slot that no value has that of `value`.
TSR_MUST_USE tsr_status tsr_slot_take(tsr_lowering *lowering, tsr_value *value, int slot);
// The lanes that hold the same bits of a value, which may have no slot yet.
const tsr_lane_classes *tsr_value_classes(const tsr_lowering *lowering, const tsr_value *value);
bool tsr_value_has_slot(const tsr_lowering *lowering, const tsr_value *value);

// ---- steps ----

// Adds a step that runs `run`, with the slots of the op's operands (those of tensor type) as inputs
// and new slots for its results. `description` is copied (`bytes` of it) to the schedule's memory.
// The caller then sets what else the step says: overwrites, scratch_bytes, temp_bytes, flops.
TSR_MUST_USE tsr_status tsr_lower_kernel(tsr_lowering *lowering, tsr_op *op, tsr_kernel_fn *run,
                                         const void *description, size_t bytes,
                                         tsr_schedule_step **out_step);
// The same with inputs that the caller chooses, such as the operand of a transpose that the kernel
// reads through.
TSR_MUST_USE tsr_status tsr_lower_kernel_on(tsr_lowering *lowering, tsr_op *op,
                                            tsr_value *const *inputs, int input_count,
                                            tsr_kernel_fn *run, const void *description,
                                            size_t bytes, tsr_schedule_step **out_step);
// The same with a description that owns memory: `destroy` frees it with the schedule, or here if
// this fails.
TSR_MUST_USE tsr_status tsr_lower_owning_kernel(tsr_lowering *lowering, tsr_op *op,
                                                tsr_value *const *inputs, int input_count,
                                                tsr_kernel_fn *run, void *description, size_t bytes,
                                                void (*destroy)(void *description),
                                                tsr_schedule_step **out_step);
// A step of any kind, without anything to run yet.
TSR_MUST_USE tsr_status tsr_lower_add(tsr_lowering *lowering, const tsr_op *op,
                                      tsr_schedule_step_kind kind, const int *inputs,
                                      int input_count, const int *outputs, int output_count,
                                      tsr_schedule_step **out_step);
// Makes a step of the list the last one; nothing after it may need it.
void tsr_lower_postpone(tsr_lowering *lowering, tsr_schedule_step *step);
// A kernel without values: slots on both sides.
TSR_MUST_USE tsr_status tsr_lower_step(tsr_lowering *lowering, const tsr_op *op, const int *inputs,
                                       int input_count, const int *outputs, int output_count,
                                       tsr_kernel_fn *run, const void *description, size_t bytes,
                                       tsr_schedule_step **out_step);
// A step that copies one slot to another, unless they are one memory.
TSR_MUST_USE tsr_status tsr_lower_copy(tsr_lowering *lowering, const tsr_op *op, int from, int to);
// A step of a finished tile program, which it owns from now on, also on failure.
TSR_MUST_USE tsr_status tsr_lower_tile(tsr_lowering *lowering, const tsr_op *op,
                                       tsr_tile_program *program, const int *inputs,
                                       int input_count, const int *outputs, int output_count,
                                       tsr_schedule_step **out_step);

void *tsr_lower_alloc(tsr_lowering *lowering, int64_t count, size_t size);  // NULL without memory

// ---- blocks and regions ----

// Adds the steps of all ops of a block but its terminator; the arguments have slots.
TSR_MUST_USE tsr_status tsr_lower_block(tsr_lowering *lowering, tsr_ir_block *block);

// The manual computation that is all of a block of a function: it takes arguments, each once, and
// its results are those of the function. NULL = there is more, or something else.
tsr_op *tsr_block_only_manual(const tsr_ir_block *block);
// Lowers the body of such a computation for callers that have the pieces of all lanes.
TSR_MUST_USE tsr_status tsr_lower_devices(tsr_lowering *lowering, tsr_op *manual);

// ---- fusion (lower/fuse*.c) ----

// Ops of a block that become one step, or one op by itself.
typedef struct tsr_fusion {
  tsr_op **ops;  // in the order of the block
  int count;
  bool fused;                    // false: one op, lowered by its own row
  struct tsr_fuse_group *group;  // of lower/fuse_group.h
} tsr_fusion;

// Puts the ops of a block (but its terminator) in groups, in an order in which they can run. An op
// that every user reads through (a broadcast into an elementwise op, a transpose into a dot) is in
// no group; an op that several groups recompute is in each. In a module with the attribute
// `tessera.unfused` every op is by itself.
TSR_MUST_USE tsr_status tsr_fuse_block(tsr_lowering *lowering, tsr_ir_block *block,
                                       tsr_fusion **out_fusions, int *out_count);
// Adds the step of a group of several ops.
TSR_MUST_USE tsr_status tsr_lower_fusion(tsr_lowering *lowering, const tsr_fusion *fusion);
// Whether the step of a use's op reads through `producer`, the op that defines the value used: then
// it finds the producer's operands by itself. True for a transpose into a dot_general, for example.
bool tsr_op_absorbs(const tsr_use *use, const tsr_op *producer);

// Whether an op is a large constant of equal elements, which a step writes where it is needed.
bool tsr_op_fills(const tsr_op *op);
// Adds the step that writes it to a slot.
TSR_MUST_USE tsr_status tsr_lower_fill(tsr_lowering *lowering, const tsr_op *op, int slot);

// ---- elementwise ops and regions (lower/elementwise_code.c, lower/region.c) ----

// Adds an elementwise op to a tile program: `operands` are its values there. -1 if the op is not
// elementwise or has no code for its types.
int tsr_tile_add_op(tsr_tile_program *program, const tsr_op *op, const int *operands);

// The body of a reduction, scatter, sort, map or window as a tile program of one dim: input i is
// argument i, output i is result i; values from outside are further inputs, in the order of
// `outside`. Refuses, by name, ops that are not elementwise.
typedef struct tsr_region_code {
  tsr_tile_program *program;
  int argument_count, result_count;
  tsr_value **outside;
  int outside_count;
  // The op, if the body is one op on exactly (argument 0, argument 1) that returns its result:
  // TSR_TILE_ADD and so on; TSR_TILE_OP_COUNT otherwise.
  tsr_tile_op single;
} tsr_region_code;
// `most` is the number of elements that one call of tsr_tile_run_few may have.
TSR_MUST_USE tsr_status tsr_region_compile(tsr_lowering *lowering, tsr_region *region, int64_t most,
                                           tsr_region_code *out_code);
// `single` of a region without compiling it.
tsr_tile_op tsr_region_single(const tsr_region *region);

// ---- reading ops ----

bool tsr_type_runs(const tsr_type *type);      // a static tensor of a dtype that computes
int64_t tsr_type_bytes(const tsr_type *type);  // of a static tensor in memory of a run
// Refuses, by name, a value whose type does not run.
TSR_MUST_USE tsr_status tsr_check_runs(tsr_lowering *lowering, const tsr_value *value);
// "stablehlo.gather at line 12", for messages.
const char *tsr_op_title(tsr_lowering *lowering, const tsr_op *op);

#endif
