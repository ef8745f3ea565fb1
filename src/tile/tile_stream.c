// Tiles and memory: where a tile of a stream is, loading it to a register, storing it.
//
// A tile is a block of rows and columns. Rows and columns may each be several dims of memory, so a
// tile is cut into blocks that lie within the last dim of either; each is moved by one loop.
#include <string.h>

#include "base/arithmetic.h"
#include "element/convert_blocks.h"
#include "tile/tile_internal.h"

// The offset of position `index` along dims `first` to before `end`.
static int64_t offset_along(const tsr_tile_program *p, const tsr_tile_stream *stream, int first,
                            int end, int64_t index) {
  int64_t offset = 0;
  for (int i = end - 1; i > first; i--) {
    offset += index % p->dims[i] * stream->steps[i];
    index /= p->dims[i];
  }
  return end > first ? offset + index * stream->steps[first] : offset;
}

int64_t tsr_tile_offset(const tsr_tile_program *program, const tsr_tile_stream *stream, int64_t row,
                        int64_t column) {
  return stream->offset + offset_along(program, stream, 0, program->outer, row) +
         offset_along(program, stream, program->outer, program->rank, column);
}

// ---- blocks ----

typedef struct tile_block {
  int64_t rows, columns, row_stride, column_stride;
  int64_t memory;     // the offset of its first element in memory
  int64_t register_;  // in the register
} tile_block;

// The rows or columns from `index` on, at most `left`, that are steps of one dim.
static int64_t span_at(const tsr_tile_program *p, int first, int end, int64_t index, int64_t left) {
  if (end - first < 2) return left;
  const int64_t size = p->dims[end - 1];
  return tsr_least(left, size - index % size);
}

typedef void block_fn(tsr_tile_worker *worker, const tsr_tile_step *step, const tile_block *block,
                      void *context);

// Calls `function` for each block of a tile of `rows` x `columns`.
static void for_blocks(tsr_tile_worker *w, const tsr_tile_step *step, int64_t rows, int64_t columns,
                       block_fn *function, void *context) {
  const tsr_tile_program *p = w->program;
  const tsr_tile_stream *stream = step->stream;
  tile_block block = {.row_stride = p->outer ? stream->steps[p->outer - 1] : 0,
                      .column_stride = p->rank > p->outer ? stream->steps[p->rank - 1] : 0};
  for (int64_t i = 0; i < rows; i += block.rows) {
    block.rows = span_at(p, 0, p->outer, w->row + i, rows - i);
    for (int64_t j = 0; j < columns; j += block.columns) {
      block.columns = span_at(p, p->outer, p->rank, w->column + j, columns - j);
      block.memory = tsr_tile_offset(p, stream, w->row + i, w->column + j);
      block.register_ = i * columns + j;
      function(w, step, &block, context);
    }
  }
}

static int width_index(int bytes) { return __builtin_ctz((unsigned)bytes); }

// What moving a tile needs: memory from the first element of the tensor on, and a register.
typedef struct tile_transfer {
  char *memory, *register_;
  int bytes;
  int64_t pitch;
} tile_transfer;

static void gather_block(tsr_tile_worker *w, const tsr_tile_step *step, const tile_block *block,
                         void *context) {
  const tile_transfer *t = context;
  (void)step;
  w->program->kernels->blocks->gather[width_index(t->bytes)](
      t->register_ + block->register_ * t->bytes, t->memory + block->memory * t->bytes, block->rows,
      block->columns, t->pitch, block->row_stride, block->column_stride);
}

static void scatter_block(tsr_tile_worker *w, const tsr_tile_step *step, const tile_block *block,
                          void *context) {
  const tile_transfer *t = context;
  (void)step;
  w->program->kernels->blocks->scatter[width_index(t->bytes)](
      t->memory + block->memory * t->bytes, t->register_ + block->register_ * t->bytes, block->rows,
      block->columns, t->pitch, block->row_stride, block->column_stride);
}

static void count_block(tsr_tile_worker *w, const tsr_tile_step *step, const tile_block *block,
                        void *context) {
  const tile_transfer *t = context;
  (void)step;
  for (int64_t i = 0; i < block->rows; i++)
    w->program->kernels->blocks->count(
        t->register_ + (block->register_ + i * t->pitch) * t->bytes,
        (int64_t)((uint64_t)block->memory + (uint64_t)i * (uint64_t)block->row_stride),
        block->column_stride, block->columns);
}

// ---- tiles ----

static int64_t rows_of(const tsr_tile_worker *w, tsr_tile_extent extent) {
  return extent & TSR_EXTENT_ROW ? w->rows : 1;
}

static int64_t columns_of(const tsr_tile_worker *w, tsr_tile_extent extent) {
  return extent & TSR_EXTENT_COLUMN ? w->columns : 1;
}

// What is the same for all rows stands in the register once for each.
static void repeat_row(const tsr_tile_worker *w, tsr_tile_extent extent, char *row, int bytes) {
  if (extent != TSR_EXTENT_COLUMN) return;
  const size_t length = (size_t)(w->columns * bytes);
  for (int64_t i = 1; i < w->rows; i++) memcpy(row + (size_t)i * length, row, length);
}

void tsr_tile_do_index(tsr_tile_worker *worker, const tsr_tile_step *step) {
  const tsr_tile_extent extent = step->stream->extent;
  const int64_t columns = columns_of(worker, extent);
  tile_transfer transfer = {
      .register_ = tsr_tile_at(worker, step->out), .bytes = sizeof(int64_t), .pitch = columns};
  for_blocks(worker, step, rows_of(worker, extent), columns, count_block, &transfer);
  repeat_row(worker, extent, transfer.register_, transfer.bytes);
}

void tsr_tile_do_load(tsr_tile_worker *worker, const tsr_tile_step *step) {
  const tsr_tile_stream *stream = step->stream;
  const bool narrow = tsr_tile_is_narrow_float(stream->dtype);
  const int64_t rows = rows_of(worker, stream->extent),
                columns = columns_of(worker, stream->extent);
  char *out = tsr_tile_at(worker, step->out);
  const char *memory = worker->bases[step->stream_base];
  tile_transfer t = {.memory = (char *)worker->inputs[stream->argument],
                     .register_ = narrow ? worker->scratch + worker->program->raw_place : out,
                     .bytes = tsr_tile_memory_bytes(stream->dtype),
                     .pitch = columns};
  if (!stream->direct) {
    for_blocks(worker, step, rows, columns, gather_block, &t);
    memory = t.register_;
  }
  if (narrow)
    tsr_block_load_f32(stream->dtype, memory, (float *)(void *)out, rows * columns);
  else if (memory != out && rows * columns > 0)
    memcpy(out, memory, (size_t)(rows * columns * t.bytes));
  repeat_row(worker, stream->extent, out, step->width);
}

void tsr_tile_do_store(tsr_tile_worker *worker, const tsr_tile_step *step) {
  const tsr_tile_stream *stream = step->stream;
  const bool narrow = tsr_tile_is_narrow_float(stream->dtype);
  if (!(step->extent & TSR_EXTENT_COLUMN) && !worker->first) return;
  if (!(step->extent & TSR_EXTENT_ROW) && worker->row > 0) return;
  const int64_t rows = rows_of(worker, step->extent), columns = columns_of(worker, step->extent);
  char *in = tsr_tile_at(worker, step->in[0]), *memory = worker->bases[step->stream_base];
  tile_transfer t = {.memory = worker->outputs[stream->argument],
                     .register_ = in,
                     .bytes = tsr_tile_memory_bytes(stream->dtype),
                     .pitch = columns};
  if (narrow) {
    char *raw = stream->direct ? memory : worker->scratch + worker->program->raw_place;
    const float *wide = (const float *)(const void *)in;
    if (stream->dtype == TSR_BF16)
      worker->program->kernels->store_bf16(wide, raw, rows * columns);
    else
      tsr_block_store_f32(stream->dtype, wide, raw, rows * columns);
    t.register_ = raw;
  } else if (stream->direct && rows * columns > 0) {
    if (stream->is_large)
      worker->program->kernels->blocks->copy_past(memory, in, rows * columns * t.bytes);
    else
      memcpy(memory, in, (size_t)(rows * columns * t.bytes));
  }
  if (!stream->direct) for_blocks(worker, step, rows, columns, scatter_block, &t);
}
