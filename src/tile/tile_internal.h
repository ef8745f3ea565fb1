// Tile programs from the inside: values as they are written, steps as they run.
#ifndef TESSERA_TILE_TILE_INTERNAL_H
#define TESSERA_TILE_TILE_INTERNAL_H

#include "base/arena.h"
#include "tile/tile_kernels.h"

// ---- values: what the program computes for one index ----

typedef enum tsr_tile_kind {
  TSR_TILE_LOAD,
  TSR_TILE_INDEX,
  TSR_TILE_CONSTANT,
  TSR_TILE_APPLY,
  TSR_TILE_COMPARE,
  TSR_TILE_CONVERT,    // between carriers
  TSR_TILE_NARROW,     // to `narrow`, by way of its elements in memory, and back to its carrier
  TSR_TILE_ROUND,      // f32 to the numbers of `narrow`
  TSR_TILE_WRAP,       // a byte to the numbers of `narrow`
  TSR_TILE_ORDER,      // a float as an integer in the total order
  TSR_TILE_BITCAST,    // the bits of `narrow` as bits of `dtype`
  TSR_TILE_PRECISION,  // reduce_precision, on the bits of `narrow`
  TSR_TILE_NEXT,       // next_after of a narrow float, on its bits
  TSR_TILE_SPREAD,     // the same elements for a larger extent
  TSR_TILE_REDUCE
} tsr_tile_kind;

// What a value depends on: bits for the column (the place in its row) and for the row.
typedef enum tsr_tile_extent {
  TSR_EXTENT_ONE,
  TSR_EXTENT_COLUMN,
  TSR_EXTENT_ROW,
  TSR_EXTENT_ALL
} tsr_tile_extent;

enum { TSR_TILE_OPERANDS = 3 };

// An entry of the table of addresses, and an offset there.
typedef struct tsr_tile_place {
  int base;
  int64_t offset;
} tsr_tile_place;

typedef struct tsr_tile_value {
  tsr_tile_kind kind;
  tsr_tile_op op;  // APPLY, REDUCE
  tsr_dtype dtype;
  int operands[TSR_TILE_OPERANDS];
  int operand_count;
  tsr_dtype narrow;
  int a, b;         // COMPARE: direction; PRECISION: bits of exponent and mantissa
  int stream;       // LOAD, INDEX
  int64_t element;  // CONSTANT: its place in `constants`
  // Set when the program is finished.
  bool used;
  uint8_t dims;  // bits of the dims of the space that it depends on
  tsr_tile_extent extent;
  int level;        // reductions on the longest path to it
  uint64_t phases;  // bits of the phases that need it (TSR_TILE_MODE_PHASED)
  tsr_dtype from;   // of the first operand
  int same;         // the value whose register it is, the bits being the same; often itself
  int spread;       // the value that is this one for each index; 0 = none yet
  bool emitted, placed;
  int last;              // the last step that reads it
  int store;             // the first step that stores it; -1 = none
  tsr_tile_place place;  // where it is
} tsr_tile_value;

// A tensor that is read or written, or an index: an element for each index of the space.
typedef struct tsr_tile_stream {
  int argument;  // the input or output; unused for an index
  tsr_dtype dtype;
  int64_t strides[TSR_TILE_RANK], offset;
  int value;  // of a store
  // Set when the program is finished: strides of the joined dims.
  int64_t steps[TSR_TILE_RANK];
  tsr_tile_extent extent;
  bool direct;  // registers are not needed: a tile is one piece of memory
  bool used, is_index, is_output;
  bool is_large;  // an output larger than the caches: it is written past them
  bool copied;    // a load that is stored as it is, beside other outputs
} tsr_tile_stream;

// Where the memory of a tile is, for streams that are used there.
typedef struct tsr_tile_address {
  int base, argument;
  bool is_output;
  bool simple;  // rows and columns are one dim each, at most
  int bytes;
  int64_t offset, row_step, column_step;  // in bytes
  const tsr_tile_stream *stream;
} tsr_tile_address;

typedef struct tsr_tile_folding {
  tsr_tile_op op;
  tsr_dtype dtype;
  int value, output;
  // Set when the program is finished.
  int width;
  int64_t pitch;    // bytes of a row of columns of a tile
  int64_t levels;   // in scratch: partial sums of 1, 2, 4, ... tiles
  int64_t partial;  // in temp: the sums of segments
} tsr_tile_folding;

// ---- steps: what runs ----

typedef struct tsr_tile_step tsr_tile_step;
typedef struct tsr_tile_worker tsr_tile_worker;
typedef void tsr_tile_action(tsr_tile_worker *worker, const tsr_tile_step *step);

struct tsr_tile_step {
  tsr_tile_loop *loop;      // NULL = `action`
  tsr_tile_action *action;  // gets its places from the step
  tsr_tile_extent extent;   // how many elements it makes
  uint8_t operand_count;
  uint8_t single;   // bits of operands that are one element for several
  uint8_t per_row;  // those that are one for each row; then the loop runs row by row
  uint64_t phases;  // bits of the phases that need it
  int widths[TSR_TILE_OPERANDS], width;
  tsr_tile_place in[TSR_TILE_OPERANDS], out;
  int result, operands[TSR_TILE_OPERANDS];  // values; the result of a store is -1
  const tsr_tile_value *value;              // parameters of actions
  const tsr_tile_stream *stream;            // of a load or store
  int stream_base;
  tsr_tile_reducer *reduce;
  tsr_tile_loop *combine;  // REDUCE: the loop of its op
  bool in_order;           // REDUCE: the order makes a difference
  int reduction;           // REDUCE: its number
};

typedef enum tsr_tile_mode {
  TSR_TILE_MODE_WHOLE,  // tiles are independent; rows are whole if there are reductions
  TSR_TILE_MODE_PHASED  // rows are longer than tiles: one pass over a row for each level of
                        // reductions
} tsr_tile_mode;

struct tsr_tile_program {
  tsr_arena arena;
  tsr_tile_space space;
  tsr_status failure;  // the first
  bool finished;
  const tsr_tile_kernels *kernels;
  tsr_tile_value *values;
  int64_t value_count;
  tsr_tile_stream *streams;  // loads, indices and stores, in the order they were made
  int64_t stream_count;
  tsr_tile_folding *folds;
  int64_t fold_count;
  char *constants;  // 16 bytes each
  int64_t constant_count;

  // Set when it is finished. Joined dims: those of rows before, those of columns from `outer` on.
  int rank, outer;
  uint8_t column_dims;  // bits of the dims of the space that are columns
  int64_t dims[TSR_TILE_RANK];
  int64_t rows, columns, batches, folded;  // rows = batches * folded
  tsr_tile_mode mode;
  int levels;                       // of reductions
  int64_t tile_rows, tile_columns;  // of the largest tile
  int64_t task_rows,
      task_columns;  // what one task does; TSR_TILE_MODE_PHASED: columns of a segment
  int64_t row_tasks, column_tasks;
  bool parallel;
  tsr_tile_step *once;  // steps of values that are the same for all rows of a task
  tsr_tile_step *steps;
  int64_t once_count, step_count;
  int reductions;
  tsr_tile_address *addresses;
  int address_count;
  int base_count;  // of addresses: registers, constants, then streams
  int64_t register_bytes, raw_place, fold_place, carry_place;
  int64_t scratch_bytes, temp_bytes, flops;
};

enum { TSR_BASE_REGISTERS, TSR_BASE_CONSTANTS, TSR_BASE_STREAMS };

// One task of a run: the tile that it is at.
struct tsr_tile_worker {
  const tsr_tile_program *program;
  const char *const *inputs;
  char *const *outputs;
  char *temp;
  char **bases;
  char *scratch;
  int64_t row, rows, column, columns;  // the tile
  int phase;
  int64_t segment;      // TSR_TILE_MODE_PHASED
  int64_t folded_rows;  // added to folds by this task
  bool first;           // of the tiles of a row: it stores what is one for each row
};

tsr_tile_carrier tsr_tile_carrier_of(tsr_dtype dtype);
tsr_dtype tsr_carrier_dtype(tsr_tile_carrier carrier);
int tsr_carrier_bytes(tsr_tile_carrier carrier);
static inline int tsr_tile_register_bytes(tsr_dtype dtype) {
  return tsr_carrier_bytes(tsr_tile_carrier_of(dtype));
}
int tsr_tile_memory_bytes(tsr_dtype dtype);      // of an element in memory
bool tsr_tile_is_narrow_float(tsr_dtype dtype);  // carried as f32
bool tsr_tile_is_narrow_integer(tsr_dtype dtype);

// tile_dims.c: what is used, which dims join, where rows end; extents and levels of values.
void tsr_tile_join_dims(tsr_tile_program *program);

// tile_size.c: how large tiles and tasks are.
void tsr_tile_choose_size(tsr_tile_program *program);

// tile_stream.c: the place of a stream's element at a row and column; loads and stores of tiles.
int64_t tsr_tile_offset(const tsr_tile_program *program, const tsr_tile_stream *stream, int64_t row,
                        int64_t column);
tsr_tile_action tsr_tile_do_load, tsr_tile_do_index, tsr_tile_do_store;

// tile_actions.c: instructions with parameters.
tsr_tile_action tsr_tile_do_narrow, tsr_tile_do_round, tsr_tile_do_bitcast, tsr_tile_do_precision,
    tsr_tile_do_next, tsr_tile_do_spread, tsr_tile_do_reduce;
// Rounds f32 to a narrow float type, in place.
void tsr_tile_round(const tsr_tile_program *program, tsr_dtype narrow, float *elements,
                    int64_t count);
// Makes the results of a reduction, one for each row, numbers of its type.
void tsr_tile_settle(tsr_tile_worker *worker, const tsr_tile_step *step, char *out);
// The element that a reduction of no elements gives.
void tsr_tile_identity(tsr_tile_op op, tsr_dtype dtype, void *out);

// tile_fold.c
bool tsr_tile_has_order(tsr_tile_op op, tsr_dtype dtype);  // the order makes a difference
void tsr_tile_fold_tile(tsr_tile_worker *worker);          // adds the rows of the tile
// The sums of the rows that were added, to the output or to `temp`.
void tsr_tile_fold_finish(tsr_tile_worker *worker, int64_t batch, int64_t segment);
void tsr_tile_fold_segments(tsr_tile_worker *worker, int64_t batch);

static inline int64_t tsr_tile_count(const tsr_tile_worker *worker, tsr_tile_extent extent) {
  switch (extent) {
    case TSR_EXTENT_ONE:
      return 1;
    case TSR_EXTENT_ROW:
      return worker->rows;
    default:
      return worker->rows * worker->columns;
  }
}

static inline char *tsr_tile_at(const tsr_tile_worker *worker, tsr_tile_place place) {
  return worker->bases[place.base] + place.offset;
}

#endif
