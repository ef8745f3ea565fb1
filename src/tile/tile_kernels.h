// The loops that instructions of tile programs call, in one table for each instruction set.
#ifndef TESSERA_TILE_TILE_KERNELS_H
#define TESSERA_TILE_TILE_KERNELS_H

#include "tile/tile_loops.h"

// What registers hold. Floats narrower than f32 are held as f32, integers narrower than a byte as
// bytes.
typedef enum tsr_tile_carrier {
  TSR_CARRIER_BOOL,
  TSR_CARRIER_S8,
  TSR_CARRIER_S16,
  TSR_CARRIER_S32,
  TSR_CARRIER_S64,
  TSR_CARRIER_U8,
  TSR_CARRIER_U16,
  TSR_CARRIER_U32,
  TSR_CARRIER_U64,
  TSR_CARRIER_F32,
  TSR_CARRIER_F64,
  TSR_CARRIER_C64,
  TSR_CARRIER_C128,
  TSR_CARRIER_COUNT
} tsr_tile_carrier;

// Which operands are one element for all. Ops of two operands have the first three forms. A select
// has (1) one element where true, (2) where false, (3) both; a clamp has (1) single bounds.
enum { TSR_LOOP_VECTORS, TSR_LOOP_FIRST, TSR_LOOP_SECOND, TSR_LOOP_BOTH, TSR_LOOP_FORMS };

enum { TSR_TILE_WIDTHS = 5 };  // elements of 1, 2, 4, 8 and 16 bytes: 1 << index

// Moves a block of `rows` x `columns` elements from memory, where rows are `row_stride` elements
// apart and columns `column_stride`, to a register, where rows are `pitch` elements apart; or back.
typedef void tsr_tile_move(void *out, const void *in, int64_t rows, int64_t columns, int64_t pitch,
                           int64_t row_stride, int64_t column_stride);
// Repeats each of `rows` elements `columns` times.
typedef void tsr_tile_spread(void *out, const void *in, int64_t rows, int64_t columns);
// Reduces each of `rows` to one element: a few elements in order, more in the order of a balanced
// tree over neighbours (tile_reductions.inc).
typedef void tsr_tile_reducer(void *out, const void *in, int64_t rows, int64_t columns);
// Reduces eight rows to one, column by column, in the order of that tree.
typedef void tsr_tile_folder(void *out, const void *in, int64_t columns);
typedef struct tsr_tile_reducers {
  tsr_tile_reducer *rows;
  tsr_tile_folder *eight;  // NULL = none
} tsr_tile_reducers;
enum { TSR_TILE_IN_ORDER = 32 };  // so many are reduced in order, in the element type
// Writes start + i * step.
typedef void tsr_tile_counter(void *out, int64_t start, int64_t step, int64_t count);

// The ops that reduce are among these, from the first to the last in tile_ops.def.
enum { TSR_TILE_REDUCERS = TSR_TILE_XOR - TSR_TILE_ADD + 1 };
#define TSR_REDUCER(op) (TSR_TILE_##op - TSR_TILE_ADD)

// Loops over blocks of rows and columns. They have files of their own: most of them are made of
// short loops that the compiler must unroll, which makes the simple loops of tsr_tile_kernels
// large.
typedef struct tsr_tile_blocks {
  tsr_tile_spread *spread[TSR_TILE_WIDTHS];
  tsr_tile_move *gather[TSR_TILE_WIDTHS];
  tsr_tile_move *scatter[TSR_TILE_WIDTHS];
  tsr_tile_reducers reduce[TSR_TILE_REDUCERS][TSR_CARRIER_COUNT];
  tsr_tile_reducer *reduce_bf16[TSR_TILE_REDUCERS];  // of few elements, rounded at every step
  tsr_tile_counter *count;                           // i64
  void (*copy_past)(void *out, const void *in, int64_t bytes);  // past the caches
} tsr_tile_blocks;

typedef struct tsr_tile_kernels {
  tsr_tile_loop *apply[TSR_TILE_OP_COUNT][TSR_CARRIER_COUNT][TSR_LOOP_FORMS];
  // equal, different, at least, more; the other two are those with the operands swapped
  tsr_tile_loop *compare[4][TSR_CARRIER_COUNT][TSR_LOOP_FORMS];
  tsr_tile_loop *convert[TSR_CARRIER_COUNT][TSR_CARRIER_COUNT];
  tsr_tile_loop *round_bf16, *round_f16;  // f32 to the numbers of these types
  void (*store_bf16)(const float *in, void *out, int64_t count);  // of such numbers
  tsr_tile_loop *order_f32, *order_f64;  // integers in the total order of floats
  tsr_tile_loop *wrap[4];                // to i2, i4, u2, u4, in bytes
  const tsr_tile_blocks *blocks;
} tsr_tile_kernels;

extern const tsr_tile_blocks tsr_tile_blocks_plain;
extern const tsr_tile_kernels tsr_tile_kernels_plain;
#if defined __x86_64__
#define TSR_TILE_KERNELS_AVX2
extern const tsr_tile_blocks tsr_tile_blocks_avx2;
extern const tsr_tile_kernels tsr_tile_kernels_avx2;
#endif
// How an op that reduces (tsr_tile_op_reduces) does it.
static inline const tsr_tile_reducers *tsr_tile_reducers_of(const tsr_tile_kernels *kernels,
                                                            tsr_tile_op op,
                                                            tsr_tile_carrier carrier) {
  return &kernels->blocks->reduce[op - TSR_TILE_ADD][carrier];
}
// The table for this processor.
const tsr_tile_kernels *tsr_tile_best_kernels(void);

#endif
