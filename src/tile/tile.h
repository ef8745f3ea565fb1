// Tile programs: elementwise code with reductions, run in tiles that stay in cache.
//
// A program has a space of indices, such as 128 x 1024. Its values are written as if for one index;
// they are computed for a tile of indices at a time, op by op, by loops over vectors. So a chain of
// ops passes over memory once, and adding an op needs no code generator.
//
//   tsr_tile_program *p = tsr_tile_create(&(tsr_tile_space){.rank = 2, .dims = {128, 1024},
//                                                           .row_dims = 1});
//   const int x = tsr_tile_load(p, 0, TSR_F32, (int64_t[]){1024, 1}, 0);
//   const int e = tsr_tile_apply(p, TSR_TILE_EXPONENTIAL, (int[]){x});
//   const int sum = tsr_tile_reduce(p, TSR_TILE_ADD, e);               // one for each row
//   const int share = tsr_tile_apply(p, TSR_TILE_DIVIDE, (int[]){e, sum});
//   tsr_tile_store(p, share, 0, (int64_t[]){1024, 1}, 0);
//   status = tsr_tile_finish(p);
//   status = tsr_tile_run(p, &call);
//
// Every op gives the result that its element type asks for: bf16 is computed in f32 and rounded
// after each op, i4 wraps at 4 bits. Results do not depend on how ops were put together in
// programs, nor on workers, nor on the place of an element in its tile. Programs are immutable once
// finished and run in any number of threads.
#ifndef TESSERA_TILE_TILE_H
#define TESSERA_TILE_TILE_H

#include <stdbool.h>
#include <stdint.h>

#include "tessera/dtype.h"
#include "tessera/status.h"
#include "tile/kernel_call.h"

enum { TSR_TILE_RANK = 8 };  // callers join neighbouring dims first

// Dims are outermost first: batch dims, then outer dims, then the dims of a row.
typedef struct tsr_tile_space {
  int rank;
  int64_t dims[TSR_TILE_RANK];
  int row_dims;    // the last dims, which make a row; tsr_tile_reduce is over them
  int batch_dims;  // the first dims, which tsr_tile_fold keeps
  bool by_blocks;  // run by tsr_tile_run_block only: rows and columns are never joined
} tsr_tile_space;

// TSR_TILE_ADD and so on, from tile/tile_ops.def, named as in StableHLO and CHLO.
#define TILE_OP(id, ...) TSR_TILE_##id,
typedef enum tsr_tile_op {
#include "tile/tile_ops.def"
  TSR_TILE_OP_COUNT
} tsr_tile_op;
#undef TILE_OP

typedef struct tsr_tile_program tsr_tile_program;

// Functions that give a value give -1 where there is none: without memory, or for an op that its
// element type does not have. Such a failure is kept; tsr_tile_finish reports the first. -1 as an
// operand gives -1.
tsr_tile_program *tsr_tile_create(const tsr_tile_space *space);  // NULL without memory
void tsr_tile_destroy(tsr_tile_program *program);                // NULL is fine

// Element `offset + sum of index * stride` of an input; strides, one for each dim, count elements
// and may be 0 (a broadcast) or negative. What has stride 0 over the dims of a row is one value for
// each row, and what has it everywhere one value.
int tsr_tile_load(tsr_tile_program *program, int input, tsr_dtype dtype, const int64_t *strides,
                  int64_t offset);
int tsr_tile_constant(tsr_tile_program *program, tsr_dtype dtype, const void *element);
// The index along a dim of the space times `scale` plus `start`, as a number of `dtype`.
int tsr_tile_index(tsr_tile_program *program, tsr_dtype dtype, int dim, int64_t start,
                   int64_t scale);
// An op on values of any extent (one, one for each row, all); the result has the largest.
int tsr_tile_apply(tsr_tile_program *program, tsr_tile_op op, const int *operands);
int tsr_tile_compare(tsr_tile_program *program, int direction, bool total_order, int a, int b);
int tsr_tile_convert(tsr_tile_program *program, tsr_dtype to, int value);
int tsr_tile_bitcast(tsr_tile_program *program, tsr_dtype to, int value);  // of equal width
int tsr_tile_reduce_precision(tsr_tile_program *program, int exponent_bits, int mantissa_bits,
                              int value);
// The sum (TSR_TILE_ADD), product, maximum, minimum, and, or, xor of each row: one value for each
// row. The order depends on the length of the row only.
int tsr_tile_reduce(tsr_tile_program *program, tsr_tile_op op, int value);
bool tsr_tile_op_reduces(tsr_tile_op op);  // whether it is one of these
// The same value as one for each index, such as a sum that a store is to write to the whole row.
int tsr_tile_spread_out(tsr_tile_program *program, int value);
tsr_dtype tsr_tile_dtype(const tsr_tile_program *program, int value);  // TSR_DTYPE_NONE for -1

// Writes a value to an output. Strides count elements; those over the row are ignored for a value
// that reductions made one for each row (tsr_tile_spread_out writes it to the whole row). Outputs
// must not overlap inputs. But an output that has an element for each index may be an input that is
// loaded with the same strides and offset only.
void tsr_tile_store(tsr_tile_program *program, int value, int output, const int64_t *strides,
                    int64_t offset);
// Reduces a value over the outer dims: the output has the batch dims and the dims of a row, without
// gaps. `tsr_tile_finish` says how much `temp` it needs.
void tsr_tile_fold(tsr_tile_program *program, tsr_tile_op op, int value, int output);

// Orders the code, shares registers, chooses the size of tiles. Nothing is added afterwards.
TSR_MUST_USE tsr_status tsr_tile_finish(tsr_tile_program *program);
int64_t tsr_tile_scratch_bytes(const tsr_tile_program *program);  // for each worker
int64_t tsr_tile_temp_bytes(const tsr_tile_program *program);
int64_t tsr_tile_flops(const tsr_tile_program *program);  // one for each op and index

// A tsr_kernel_fn; the description is the program.
tsr_status tsr_tile_run(const void *program, const tsr_kernel_call *call);
// Runs a program whose space is one dim on the first `count` indices of it, on this thread, in
// `scratch`: for regions that run many times on few elements.
void tsr_tile_run_few(const tsr_tile_program *program, int64_t count, const char *const *inputs,
                      char *const *outputs, char *scratch);

// Runs a program whose space is rows x columns, without reductions and indices, on the first `rows`
// and `columns` of it, on this thread: for kernels that make a block of a tensor at a time. Inputs
// and outputs begin with the block; `scratch` is 64-byte aligned.
void tsr_tile_run_block(const tsr_tile_program *program, int64_t rows, int64_t columns,
                        const char *const *inputs, char *const *outputs, char *scratch);

#endif
