// Products of matrices of every element type, in batches, and whatever reads as one.
//
// The left side has m rows, the right side n columns ("rows" of that side), and both have a depth
// that is summed over. Where elements lie is said by walks, so transposes, and dims that do not lie
// in one stride, need no copy: sides are packed into panels in any case. A side may be a tensor
// under a moving window: then the product is a convolution.
//
//   tsr_gemm gemm = {.left = {...}, .right = {...}, .result = {...}};
//   status = tsr_gemm_plan(&gemm);             // when a program is compiled
//   status = tsr_gemm_run(&gemm, &call);
#ifndef TESSERA_KERNEL_GEMM_H
#define TESSERA_KERNEL_GEMM_H

#include "kernel/gemm_kernels.h"
#include "tessera/dtype.h"
#include "tessera/shape.h"
#include "tile/tile.h"

// An index of 0 to count - 1 as a place in memory: dims outermost first, strides in elements.
typedef struct tsr_gemm_walk {
  int64_t count;  // the product of the sizes
  int rank;
  int64_t sizes[TSR_MAX_RANK], strides[TSR_MAX_RANK];
} tsr_gemm_walk;

void tsr_gemm_walk_init(tsr_gemm_walk *walk);  // one index, at 0
// Adds an inner dim, joined to the last one where that gives the same places.
void tsr_gemm_walk_add(tsr_gemm_walk *walk, int64_t size, int64_t stride);
int64_t tsr_gemm_walk_place(const tsr_gemm_walk *walk, int64_t index);

// A spatial dim of a convolution.
typedef struct tsr_conv_dim {
  int64_t input, input_stride;  // size and stride of the operand
  int64_t output;               // positions of the window
  int64_t kernel;               // size of the window
  int64_t step;                 // from one position to the next
  int64_t kernel_dilation, input_dilation;
  int64_t pad_low;  // may be negative
} tsr_conv_dim;

// Adds the place of coordinate `at` of the window to `*place`; `corner` is the coordinate of its
// first element, in the padded and dilated input. False if it is outside of the input or between
// its elements.
static inline bool tsr_conv_enter(const tsr_conv_dim *dim, int64_t corner, int64_t at,
                                  int64_t *place) {
  int64_t coordinate = corner + at * dim->kernel_dilation;
  if (dim->input_dilation > 1) {
    if (coordinate < 0 || coordinate % dim->input_dilation) return false;
    coordinate /= dim->input_dilation;
  }
  if (coordinate < 0 || coordinate >= dim->input) return false;
  *place += coordinate * dim->input_stride;
  return true;
}

// Rows are (batch, positions) or, with `batch_inside`, (positions, batch); the depth is (places in
// the window, channels), innermost last.
typedef struct tsr_gemm_window {
  int rank;
  tsr_conv_dim dims[TSR_MAX_RANK];
  int64_t batch, batch_stride;
  bool batch_inside;
  int64_t channels, channel_stride;
  bool joined;  // places along the last dim and their channels lie in one line
} tsr_gemm_window;

typedef struct tsr_gemm_side {
  int input;  // of the call
  tsr_dtype dtype;
  int64_t start;  // of the first element
  tsr_gemm_walk batch, rows, depth;
  const tsr_gemm_window *window;  // NULL, or how rows and depth are read
} tsr_gemm_side;

typedef struct tsr_gemm_result {
  tsr_dtype dtype;
  tsr_gemm_walk batch, rows, columns;
} tsr_gemm_result;

// A tensor that an epilogue reads or writes: bytes from an element of the product to the next one.
typedef struct tsr_gemm_argument {
  int index;  // of an input or output of the call
  int64_t batch, row, column;
} tsr_gemm_argument;

// Elementwise code that runs on blocks of the product as soon as they are done, while they are in
// cache. The product is in the memory of one of the outputs, as [batch, rows, columns] without
// gaps.
enum { TSR_GEMM_ARGUMENTS = 32 };
typedef struct tsr_gemm_epilogue {
  tsr_tile_program *program;  // its space is a block; input 0 is the product
  int input_count, output_count;
  const tsr_gemm_argument *inputs, *outputs;  // of the program, less the product
  int product;                                // the output of the call that holds the product
  int64_t scratch;                            // where scratch memory of the program begins
} tsr_gemm_epilogue;

typedef enum tsr_gemm_way {
  TSR_GEMM_PANELS,  // packed panels
  TSR_GEMM_AXPY,    // one row times a matrix whose rows are contiguous
  TSR_GEMM_DOT      // one row times a matrix whose columns are
} tsr_gemm_way;

typedef struct tsr_gemm {
  tsr_gemm_side left, right;
  tsr_gemm_result result;
  bool panels_only;                   // no other way is chosen
  const tsr_gemm_kernels *kernels;    // NULL = the best for this processor
  const tsr_gemm_epilogue *epilogue;  // NULL = none
  // How several calls with the same right side run, which is packed once for all; NULL = each by
  // itself.
  const struct tsr_gemm *joined;
  // Set by tsr_gemm_plan.
  int64_t calls;  // of a joined product: at most so many; otherwise 1
  tsr_gemm_way way;
  int type;                         // TSR_GEMM_F32 and so on
  int parts;                        // 2 = complex numbers, as two real ones
  int64_t depth_block, row_block;   // of panels in cache
  int64_t task_rows, task_columns;  // of the result, for each task
  int64_t task_batch;               // products for each task
  int64_t task_calls;               // calls for each task, with all their rows where there are many
  int64_t row_tasks, column_tasks, tasks;  // of each call
  bool direct;                             // sums are kept in the result itself
  bool loose_left, loose_right;            // a side is read where it lies
  bool shared;                             // panels are packed once, in `temp`, for all tasks
  int64_t chunk_columns;                   // of the result, whose panels are in `temp` at once
  bool swapped;                            // AXPY, DOT: the one row is that of the right side
  int64_t left_bytes, right_bytes;         // of the parts of the scratch memory
  int64_t line_bytes, sum_bytes, scratch_bytes, temp_bytes;
  int64_t flops;
} tsr_gemm;

// Chooses how a product is computed. Refuses element types that do not multiply, by name.
TSR_MUST_USE tsr_status tsr_gemm_plan(tsr_gemm *gemm);
// Scratch memory that is enough for a product by panels of any size.
int64_t tsr_gemm_most_scratch(const tsr_gemm *gemm);
// Plans calls of a planned product that have the same right side, up to `calls` of them. False if
// they run no better together than one by one.
bool tsr_gemm_plan_joined(const tsr_gemm *gemm, int64_t calls, tsr_gemm *out_joined);
tsr_status tsr_gemm_run(const void *description, const tsr_kernel_call *call);  // a tsr_kernel_fn
// A tsr_kernel_calls_fn.
tsr_status tsr_gemm_run_calls(const void *description, tsr_kernel_call *calls, int count);

// ---- epilogues (gemm_epilogue.c) ----

// A block of the result that is done.
typedef struct tsr_gemm_block {
  int64_t batch, row, row_end, column, column_end;
} tsr_gemm_block;
// The rows and columns of the largest block of a planned product, joined or not.
void tsr_gemm_largest_block(const tsr_gemm *gemm, int64_t *out_rows, int64_t *out_columns);
// Whether the result lies as epilogues want it.
bool tsr_gemm_takes_epilogue(const tsr_gemm *gemm);
void tsr_gemm_finish_block(const tsr_gemm *gemm, const tsr_kernel_call *call, int worker,
                           const tsr_gemm_block *block);

// ---- elements (gemm_elements.c) ----

// The type to compute in, and whether elements are pairs; -1 = such elements do not multiply.
int tsr_gemm_type_of(tsr_dtype result, int *out_parts);
// Whether elements of `dtype` are those that the kernels of `type` read.
bool tsr_gemm_native(int type, tsr_dtype dtype);
int64_t tsr_gemm_element_bytes(tsr_dtype dtype);  // in memory of a run
// Reads `count` elements, `stride` apart, as numbers of `type` side by side.
void tsr_gemm_load(int type, tsr_dtype dtype, const char *from, int64_t stride, int64_t count,
                   void *out);
// Writes `count` numbers of `type` as elements `stride` apart.
void tsr_gemm_store(int type, const void *in, tsr_dtype dtype, char *to, int64_t stride,
                    int64_t count);

// ---- panels (gemm_pack.c) ----

typedef struct tsr_gemm_packing {
  const tsr_gemm *gemm;
  const tsr_gemm_side *side;
  const char *memory;  // of the side, at the start of its batch
  int width;           // lines of a panel; of complex numbers on the right, half as many
  char *lines;         // scratch memory: a line for each of a panel
  const char *zeros;   // a line of zeros
  tsr_gemm_pack_fn *pack;
} tsr_gemm_packing;

// Packs rows `first` to before `end` of a side, for a range of its depth, panel after panel.
void tsr_gemm_pack(const tsr_gemm_packing *packing, int64_t first, int64_t end, int64_t depth_first,
                   int64_t depth_end, char *out);

#endif
