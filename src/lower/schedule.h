// A schedule: what a program becomes before it runs. Steps in order, and slots of memory between
// them. It is immutable once made, has no pointer to memory of a run, and any number of threads may
// run it at once.
#ifndef TESSERA_LOWER_SCHEDULE_H
#define TESSERA_LOWER_SCHEDULE_H

#include "base/arena.h"
#include "ir/ir.h"
#include "kernel/window_inputs.h"
#include "lanes/lane_classes.h"
#include "tile/kernel_call.h"

typedef enum tsr_slot_kind {
  TSR_SLOT_ARENA,     // memory of the run, placed by exec
  TSR_SLOT_ARGUMENT,  // the caller's; written only if it is donated
  TSR_SLOT_RESULT,    // the caller's
  TSR_SLOT_CONSTANT,  // of the schedule
  TSR_SLOT_VIEW       // part of another slot
} tsr_slot_kind;

// One block of memory for each class of lanes, which holds the same bits in all of them.
typedef struct tsr_slot {
  tsr_slot_kind kind;
  bool donated;                     // ARGUMENT: may be written after its last use
  const tsr_lane_classes *classes;  // NULL = one memory for all lanes
  int64_t bytes;                    // of one class; those of a slot lie one after another
  int index;                        // ARGUMENT, RESULT
  int base;                         // VIEW: the slot that it is part of, which may be a view too
  int64_t offset;                   // VIEW: bytes from the start of its base
  // VIEW: for each of its classes, bytes that are added to the offset; NULL = nothing. Without them
  // its classes are those of the base.
  const int64_t *class_offsets;
  // VIEW: offsets are from the memory of the base's first class, not from that of the lane's class.
  bool from_first;
  // VIEW: what else is added to the offset when a step runs (lower/slice_view.h); NULL = nothing.
  const struct tsr_slot_window *window;
  const char *data;        // CONSTANT
  const tsr_value *value;  // what it holds, for reports; may be NULL
} tsr_slot;

typedef enum tsr_schedule_step_kind {
  TSR_STEP_KERNEL,  // once for each of its classes, with the slots of a lane of it
  TSR_STEP_ACROSS,  // once for all lanes: inputs and outputs are `lanes` addresses for each slot
  TSR_STEP_WHILE,   // lists[0] gives the condition, lists[1] is the body
  TSR_STEP_CASE     // lists[i] is branch i
} tsr_schedule_step_kind;

typedef struct tsr_schedule_step tsr_schedule_step;
typedef struct tsr_step_list {
  tsr_schedule_step *first, *last;
  int count;
} tsr_step_list;

// At the end of the body of a loop the value in `from` becomes that of the carry `to`. All moves
// happen at once. `from` is a whole slot of the arena, made in the body, or a carry, and no two
// moves have the same: addresses change places, and nothing is copied.
typedef struct tsr_slot_move {
  int from, to;
} tsr_slot_move;

#define TSR_INPUT(index) ((index) < 64 ? UINT64_C(1) << (index) : 0)

struct tsr_schedule_step {
  tsr_schedule_step *next, *previous;
  tsr_schedule_step_kind kind;
  tsr_kernel_fn *run;                  // KERNEL, ACROSS
  tsr_kernel_calls_fn *run_calls;      // KERNEL: runs several classes at once; NULL = one by one
  const void *description;             // of both
  void (*destroy)(void *description);  // NULL = it needs none
  int input_count, output_count;
  int *inputs, *outputs;  // slots
  // KERNEL: inputs that are windows of their slots; what says where they start are inputs too.
  int window_count;
  const tsr_window_input *windows;
  // For each output the inputs whose memory it may take if they die here: bits TSR_INPUT(i).
  uint64_t *overwrites;
  int64_t temp_bytes, scratch_bytes;
  int temp_slot;                    // -1 = none; set by the lowering
  int lanes;                        // 1 outside of manual computations
  const tsr_lane_classes *classes;  // KERNEL; NULL = it runs once
  // WHILE: `inputs` are the initial values, `outputs` the carries, which the lists read. CASE:
  // `inputs` is the index (a bool or i32), `outputs` the results, which every branch writes.
  int list_count;
  tsr_step_list *lists;
  int condition;         // WHILE: the slot that lists[0] leaves the condition in
  tsr_slot_move *moves;  // WHILE: one for each output
  const tsr_op *op;      // for names in reports; of a fusion the last one
  int op_count;          // ops of the program that it computes
  int number;            // among all steps
  int loop;              // WHILE: its number among the loops, for exec
  const char *name;      // "stablehlo.dot_general", "fusion of 7: stablehlo.add"
  int64_t flops, bytes;  // bytes read and written
};

// How devices hold an argument or a result of the program of one device: a piece each, lanes of one
// class the same one.
typedef struct tsr_shards {
  const tsr_lane_classes *classes;  // NULL = all hold the whole
  int64_t bytes;                    // of a piece
  const int64_t *dims;              // of a piece
  const int64_t *starts;            // of each class: where its piece starts in the whole, in bytes
  // Pieces with gaps in the whole are copied, from there (cut) and to there (join).
  bool is_copied;
  tsr_strided_copies cut, join;
} tsr_shards;

typedef struct tsr_schedule {
  tsr_arena arena;  // of all of it
  tsr_ir *ir;       // the program it was made from, simplified; owned
  tsr_step_list steps;
  tsr_slot *slots;
  int slot_count;
  int argument_count, result_count;
  int *arguments;  // slots; -1 = an argument that nothing uses
  int *results;    // slots
  // Of an entry that is the program of one device, on all lanes: their number, and the shards of
  // each argument and result. Slots of arguments then are those of pieces. 0 = any other entry.
  int devices;
  const int64_t *device_ids;  // of each lane: its device in the mesh
  tsr_shards *argument_shards, *result_shards;
  tsr_class_table classes;
  int step_count, op_count;  // all, those in lists included
} tsr_schedule;

// Makes the schedule of the entry of a verified program. Takes `ir`, which it changes, also when it
// fails. What cannot run is refused by name.
TSR_MUST_USE tsr_status tsr_lower_program(tsr_ir *ir, tsr_schedule **out_schedule);
void tsr_schedule_destroy(tsr_schedule *schedule);  // NULL is fine

#endif
