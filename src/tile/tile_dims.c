// The space of a program: which values are used, what each depends on, which dims join.
//
// Neighbouring dims that every stream walks through in equal steps are one dim. Programs with
// reductions keep the border between rows and columns that their writer chose; in others the last
// joined dim makes a row.
#include "tile/tile_internal.h"

static void mark_used(tsr_tile_program *p) {
  for (int64_t i = 0; i < p->stream_count; i++)
    if (p->streams[i].is_output) p->values[p->streams[i].value].used = true;
  for (int64_t i = 0; i < p->fold_count; i++) p->values[p->folds[i].value].used = true;
  // Operands come before their users.
  for (int64_t i = p->value_count - 1; i >= 0; i--) {
    const tsr_tile_value *value = &p->values[i];
    for (int k = 0; value->used && k < value->operand_count; k++)
      p->values[value->operands[k]].used = true;
  }
  for (int64_t i = 0; i < p->stream_count; i++) p->streams[i].used = p->streams[i].is_output;
  for (int64_t i = 0; i < p->value_count; i++) {
    const tsr_tile_value *value = &p->values[i];
    if (value->used && (value->kind == TSR_TILE_LOAD || value->kind == TSR_TILE_INDEX))
      p->streams[value->stream].used = true;
  }
}

static uint8_t row_dims_of(const tsr_tile_space *space) {
  return (uint8_t)((1u << space->rank) - (1u << (space->rank - space->row_dims)));
}

static uint8_t stream_dims(const tsr_tile_program *p, const tsr_tile_stream *stream) {
  unsigned dims = 0;
  for (int i = 0; i < p->space.rank; i++)
    if (stream->strides[i] && p->space.dims[i] != 1) dims |= 1u << i;
  return (uint8_t)dims;
}

static uint8_t value_dims(const tsr_tile_program *p, const tsr_tile_value *value) {
  if (value->kind == TSR_TILE_LOAD || value->kind == TSR_TILE_INDEX)
    return stream_dims(p, &p->streams[value->stream]);
  unsigned dims = 0;
  if (value->kind == TSR_TILE_SPREAD)
    for (int i = 0; i < p->space.rank; i++) dims |= (unsigned)(p->space.dims[i] != 1) << i;
  for (int k = 0; k < value->operand_count; k++) dims |= p->values[value->operands[k]].dims;
  if (value->kind == TSR_TILE_REDUCE) dims &= ~(unsigned)row_dims_of(&p->space);
  return (uint8_t)dims;
}

static int level_of(const tsr_tile_program *p, const tsr_tile_value *value) {
  int most = 0;
  for (int k = 0; k < value->operand_count; k++)
    if (p->values[value->operands[k]].level > most) most = p->values[value->operands[k]].level;
  return most + (value->kind == TSR_TILE_REDUCE);
}

// What a reduction made one for each row is stored once for each row, whatever the strides.
static void ignore_row_strides(tsr_tile_program *p, tsr_tile_stream *stream) {
  const tsr_tile_value *value = &p->values[stream->value];
  if (!value->level || value->dims & row_dims_of(&p->space)) return;
  for (int k = p->space.rank - p->space.row_dims; k < p->space.rank; k++) stream->strides[k] = 0;
}

// Whether the border between rows and columns matters: to reductions, and to stores of what is one
// for each row.
static bool keeps_rows(tsr_tile_program *p) {
  unsigned row = 0;
  for (int i = p->space.rank - p->space.row_dims; i < p->space.rank; i++)
    row |= (unsigned)(p->space.dims[i] != 1) << i;
  bool keeps = p->fold_count > 0 || p->space.by_blocks;
  p->levels = 0;
  for (int64_t i = 0; i < p->value_count; i++) {
    tsr_tile_value *value = &p->values[i];
    value->dims = value_dims(p, value);
    value->level = level_of(p, value);
    keeps = keeps || (value->used && value->kind == TSR_TILE_REDUCE);
    if (value->used && value->level > p->levels) p->levels = value->level;
  }
  for (int64_t i = 0; i < p->stream_count; i++) {
    if (!p->streams[i].is_output) continue;
    ignore_row_strides(p, &p->streams[i]);
    keeps = keeps || (row && (stream_dims(p, &p->streams[i]) & row) != row);
  }
  return keeps;
}

// Batch dims, outer dims, dims of a row; one group where nothing keeps them apart.
static int group_of(const tsr_tile_program *p, bool keeps, int dim) {
  if (!keeps) return 0;
  return (p->fold_count && dim >= p->space.batch_dims) +
         2 * (dim >= p->space.rank - p->space.row_dims);
}

static bool can_join(const tsr_tile_program *p, int dim) {
  for (int64_t i = 0; i < p->stream_count; i++) {
    const tsr_tile_stream *stream = &p->streams[i];
    int64_t span = 0;
    if (stream->used && (__builtin_mul_overflow(stream->strides[dim], p->space.dims[dim], &span) ||
                         stream->steps[p->rank - 1] != span))
      return false;
  }
  return true;
}

static void append_dim(tsr_tile_program *p, int dim, bool join) {
  if (join)
    p->dims[p->rank - 1] *= p->space.dims[dim];
  else
    p->dims[p->rank++] = p->space.dims[dim];
  for (int64_t i = 0; i < p->stream_count; i++)
    p->streams[i].steps[p->rank - 1] = p->streams[i].strides[dim];
}

static void join(tsr_tile_program *p, bool keeps) {
  int group = -1;
  uint8_t members[TSR_TILE_RANK] = {0};
  p->rank = p->outer = 0;
  for (int i = 0; i < p->space.rank; i++) {
    if (p->space.dims[i] == 1) continue;
    const int own = group_of(p, keeps, i);
    append_dim(p, i, own == group && can_join(p, i));
    group = own;
    if (own < 2) p->outer = p->rank;
    members[p->rank - 1] = (uint8_t)(members[p->rank - 1] | 1u << i);
  }
  if (!keeps && p->rank) p->outer = p->rank - 1;
  p->column_dims = 0;
  for (int i = p->outer; i < p->rank; i++) p->column_dims |= members[i];
}

static void count_space(tsr_tile_program *p) {
  p->rows = p->columns = p->batches = 1;
  for (int i = 0; i < p->rank; i++) *(i < p->outer ? &p->rows : &p->columns) *= p->dims[i];
  for (int i = 0; i < p->space.batch_dims; i++) p->batches *= p->space.dims[i];
  p->folded = 1;
  for (int i = p->space.batch_dims; i < p->space.rank - p->space.row_dims; i++)
    p->folded *= p->space.dims[i];
}

// Of one row, what depends on the column is all there is. Where there is one index, all is.
static tsr_tile_extent extent_of(const tsr_tile_program *p, uint8_t dims) {
  if (p->rows == 1 && (dims & p->column_dims || p->columns == 1)) return TSR_EXTENT_ALL;
  return (tsr_tile_extent)((dims & p->column_dims ? TSR_EXTENT_COLUMN : 0) |
                           (dims & ~p->column_dims ? TSR_EXTENT_ROW : 0));
}

static tsr_tile_extent value_extent(const tsr_tile_program *p, const tsr_tile_value *value) {
  if (value->kind == TSR_TILE_LOAD || value->kind == TSR_TILE_INDEX)
    return p->streams[value->stream].extent;
  if (value->kind == TSR_TILE_SPREAD) return TSR_EXTENT_ALL;
  if (value->kind == TSR_TILE_REDUCE) return TSR_EXTENT_ROW;
  unsigned extent = TSR_EXTENT_ONE;
  for (int k = 0; k < value->operand_count; k++) extent |= p->values[value->operands[k]].extent;
  return (tsr_tile_extent)extent;
}

void tsr_tile_join_dims(tsr_tile_program *program) {
  tsr_tile_program *p = program;
  mark_used(p);
  join(p, keeps_rows(p));
  count_space(p);
  for (int64_t i = 0; i < p->stream_count; i++)
    p->streams[i].extent = extent_of(p, stream_dims(p, &p->streams[i]));
  for (int64_t i = 0; i < p->value_count; i++) p->values[i].extent = value_extent(p, &p->values[i]);
}
