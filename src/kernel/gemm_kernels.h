// The inner loops of products: small tiles of the result, panels packed for them, and products with
// one row. There is one table for each type that products are computed in.
#ifndef TESSERA_KERNEL_GEMM_KERNELS_H
#define TESSERA_KERNEL_GEMM_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

enum { TSR_GEMM_F32, TSR_GEMM_F64, TSR_GEMM_I32, TSR_GEMM_I64, TSR_GEMM_TYPES };

// A tile of the result has up to 6 rows and up to 2 vectors of columns. 12 sums, 2 vectors of the
// right side and one number of the left fill the 16 vector registers of AVX2.
enum { TSR_GEMM_SLACK = 64 };  // bytes that packing rows may write past the last panel
enum { TSR_GEMM_ROWS = 6, TSR_GEMM_VECTORS = 2, TSR_GEMM_MOST_COLUMNS = 16 };

// One tile: c (+)= a * b over `depth` steps. Strides count elements; columns of b and c are
// neighbours.
typedef struct tsr_gemm_tile {
  const void *a, *b;
  void *c;
  int64_t a_row, a_step;  // read by loose kernels only
  int64_t b_step;
  int64_t depth;
  int64_t c_row;
  int rows;  // read by kernels that compute all 6
  bool add;
} tsr_gemm_tile;
typedef void tsr_gemm_tile_fn(const tsr_gemm_tile *tile);

// Packs `count` steps of `width` lines: out[step * width + line]. Lines at and after `lines_used`
// are 0. `stride` is that between the elements of a line.
typedef void tsr_gemm_pack_fn(const void *const *lines, int lines_used, int64_t stride,
                              int64_t count, void *out);

typedef struct tsr_gemm_kernels {
  int columns;        // of a tile: 16 or 8
  int element_bytes;  // of the type
  // By the rows and vectors of the tile, less 1. Packed: a is a panel of 6 lines, b one of
  // `columns`. Loose ones are NULL in tables that have none.
  tsr_gemm_tile_fn *packed[TSR_GEMM_ROWS][TSR_GEMM_VECTORS];
  tsr_gemm_tile_fn *loose[TSR_GEMM_ROWS][TSR_GEMM_VECTORS];
  tsr_gemm_pack_fn *pack_rows;             // 6 lines
  tsr_gemm_pack_fn *pack_columns;          // `columns` lines
  tsr_gemm_pack_fn *pack_complex_columns;  // half as many lines of complex numbers; see the code
  // out[i] (+)= sum over step of x[step] * matrix[step * stride + i], in the order of steps.
  void (*axpy)(const void *x, const void *matrix, int64_t stride, int64_t depth, void *out,
               int64_t count, bool add);
  // out[i] = sum over step of x[step][i] * y[step][i], in the order of steps.
  void (*many_dots)(const void *const *x, const void *const *y, int64_t depth, void *out,
                    int64_t count);
  // The sum of x[i] * y[i], in an order that depends on `count` only.
  void (*dot)(const void *x, const void *y, int64_t count, void *out);
} tsr_gemm_kernels;

// For this processor. `rounded`: products are rounded before they are added, as in a loop without
// fused multiply-add.
const tsr_gemm_kernels *tsr_gemm_kernels_of(int type, bool rounded);

typedef tsr_gemm_kernels tsr_gemm_table[TSR_GEMM_TYPES];
extern const tsr_gemm_table tsr_gemm_plain;
#if defined __x86_64__
#define TSR_GEMM_AVX2
extern const tsr_gemm_table tsr_gemm_avx2, tsr_gemm_rounded;
#endif

#endif
