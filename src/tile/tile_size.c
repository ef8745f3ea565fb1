// How large tiles and tasks are. Both depend on the program only, never on workers.
//
// A tile is small enough for its registers to stay in the first-level cache, and large enough for
// the cost of calling loops to vanish. Reductions want whole rows; where these do not fit into the
// second-level cache, or are too few to share among workers, rows are done in phases: one pass for
// each level of reductions, in segments.
#include "base/arithmetic.h"
#include "tile/tile_internal.h"

enum {
  CACHE_BYTES = 12 * 1024,    // of registers and streams of a tile
  SECOND_CACHE = 384 * 1024,  // of registers of a whole row
  LEAST_TILE = 512,
  LARGEST_TILE = 4096,
  FOLD_COLUMNS = 512,
  BLOCK_COLUMNS = 64,  // of tiles that transpose
  LEAST_BLOCK_ROW = 128,
  FEW_ROWS = 8,
  LONG_ROW = 65536,
  TASK_NANOSECONDS = 100 * 1000,
  MOST_TASKS = 64
};

static int64_t power_below(int64_t value) {
  return value < 1 ? 1 : INT64_C(1) << (63 - __builtin_clzll((unsigned long long)value));
}

static int64_t parts(int64_t whole, int64_t part) { return whole / part + (whole % part != 0); }

static int64_t largest(int64_t a, int64_t b) { return a > b ? a : b; }

// The bytes of registers that are in use at once, for one index: at least one.
static int64_t live_bytes(tsr_tile_program *p) {
  int64_t live = 0, most = 1;
  for (int64_t i = 0; i < p->value_count; i++)
    for (int k = 0; p->values[i].used && k < p->values[i].operand_count; k++)
      p->values[p->values[i].operands[k]].last = (int)i;
  for (int64_t i = 0; i < p->value_count; i++) {
    const tsr_tile_value *value = &p->values[i];
    if (!value->used || value->extent != TSR_EXTENT_ALL || value->kind == TSR_TILE_LOAD) continue;
    live += tsr_tile_register_bytes(value->dtype);
    most = largest(most, live);
    for (int k = 0; k < value->operand_count; k++) {
      const tsr_tile_value *operand = &p->values[value->operands[k]];
      if (operand->last == i && operand->extent == TSR_EXTENT_ALL && operand->kind != TSR_TILE_LOAD)
        live -= tsr_tile_register_bytes(operand->dtype);
    }
    live = largest(live, 0);
  }
  return most;
}

static int64_t stream_bytes(const tsr_tile_program *p) {
  int64_t bytes = 0;
  for (int64_t i = 0; i < p->stream_count; i++)
    if (p->streams[i].used && p->streams[i].extent == TSR_EXTENT_ALL && !p->streams[i].is_index)
      bytes += tsr_tile_memory_bytes(p->streams[i].dtype);
  return bytes;
}

// A stream whose columns are far apart in memory and whose rows are near.
static bool transposes(const tsr_tile_program *p) {
  if (!p->outer || p->rank == p->outer) return false;
  for (int64_t i = 0; i < p->stream_count; i++) {
    const tsr_tile_stream *s = &p->streams[i];
    const int64_t down = s->steps[p->outer - 1], along = s->steps[p->rank - 1];
    if (s->used && !s->is_index && s->extent == TSR_EXTENT_ALL && (along > 1 || along < -1) &&
        down != 0 && down < along && down > -along)
      return true;
  }
  return false;
}

static void choose_tile(tsr_tile_program *p, int64_t live, int64_t most) {
  const int64_t rows = largest(1, p->rows), columns = largest(1, p->columns);
  const bool wide = columns > SECOND_CACHE / live || (rows < FEW_ROWS && columns > LONG_ROW);
  p->mode = TSR_TILE_MODE_WHOLE;
  if (p->levels && p->levels < 60 && !p->fold_count && columns > most && wide) {
    p->mode = TSR_TILE_MODE_PHASED;
    p->tile_rows = 1;
    p->tile_columns = power_below(most);
    return;
  }
  if (p->levels)
    p->tile_columns = columns;
  else if (p->fold_count)
    p->tile_columns = tsr_least(columns, FOLD_COLUMNS);
  else if (transposes(p))
    p->tile_columns = tsr_least(columns, BLOCK_COLUMNS);
  else
    p->tile_columns = tsr_least(columns, most);
  const bool blocks = !p->levels && !p->fold_count && transposes(p);
  p->tile_rows = largest(1, tsr_least(rows, (blocks ? LARGEST_TILE : most) / p->tile_columns));
  if (p->fold_count) p->tile_rows = power_below(p->tile_rows);
  // Without transposes a tile of several rows is of whole rows.
  if (!p->levels && !p->fold_count && p->tile_columns < columns && !blocks) p->tile_rows = 1;
  // Rows of a block lie apart: one at a time is one piece of memory.
  if (p->space.by_blocks && !blocks && columns >= LEAST_BLOCK_ROW) p->tile_rows = 1;
}

// A guess of the nanoseconds for one index.
static int64_t cost(const tsr_tile_program *p) {
  int64_t tenths = stream_bytes(p) / 2 + 1;
  for (int64_t i = 0; i < p->value_count; i++) {
    const tsr_tile_value *value = &p->values[i];
    if (!value->used || value->extent != TSR_EXTENT_ALL || value->kind == TSR_TILE_LOAD) continue;
    const bool math = value->kind == TSR_TILE_APPLY &&
                      !p->kernels->apply[value->op][tsr_tile_carrier_of(value->dtype)][0];
    tenths += math ? 12 : 1;
  }
  return tenths;
}

static void choose_tasks(tsr_tile_program *p) {
  const int64_t rows = largest(1, p->rows), columns = largest(1, p->columns);
  const int64_t total = tsr_saturated_multiply(tsr_saturated_multiply(rows, columns), cost(p)) / 10;
  const int64_t tasks = tsr_least(MOST_TASKS, total / TASK_NANOSECONDS);
  p->parallel = tasks > 1;
  p->task_rows = p->fold_count ? largest(1, p->folded) : rows;
  p->task_columns = columns;
  const int64_t batches = p->fold_count ? largest(1, p->batches) : 1;
  if (p->parallel && !p->levels) {
    const int64_t chunks = parts(columns, p->tile_columns);
    const bool by_columns = p->fold_count ? batches < tasks : rows < tasks * p->tile_rows;
    const int64_t wanted = p->fold_count ? parts(tasks, batches) : parts(tasks, rows);
    if (by_columns) p->task_columns = parts(chunks, tsr_least(chunks, wanted)) * p->tile_columns;
  }
  p->column_tasks = parts(columns, p->task_columns);
  const int64_t left = parts(tasks, p->column_tasks * batches);
  if (p->parallel && left > 1 && (!p->fold_count || p->folded > TSR_TILE_IN_ORDER)) {
    int64_t tiles = parts(parts(p->task_rows, p->tile_rows), left);
    if (p->fold_count) tiles = 2 * power_below(tiles);
    if (tiles < parts(p->task_rows, p->tile_rows)) p->task_rows = tiles * p->tile_rows;
  }
  p->row_tasks =
      p->fold_count ? parts(largest(1, p->folded), p->task_rows) : parts(rows, p->task_rows);
}

static void choose_segments(tsr_tile_program *p) {
  const int64_t total =
      tsr_saturated_multiply(tsr_saturated_multiply(p->rows, p->columns), cost(p));
  const int64_t segment = 10 * INT64_C(1) * TASK_NANOSECONDS / cost(p);
  p->parallel = total / 10 > 2 * TASK_NANOSECONDS;
  p->task_rows = 1;
  p->row_tasks = p->rows;
  p->task_columns = p->tile_columns * power_below(segment / p->tile_columns);
  // So many segments at most, since every task adds up all of its row.
  while (p->columns / p->task_columns > MOST_TASKS) p->task_columns *= 2;
  p->column_tasks = parts(p->columns, p->task_columns);
}

void tsr_tile_choose_size(tsr_tile_program *program) {
  const int64_t live = live_bytes(program);
  int64_t most = CACHE_BYTES / (live + stream_bytes(program));
  most = most < LEAST_TILE ? LEAST_TILE : most > LARGEST_TILE ? LARGEST_TILE : most;
  choose_tile(program, live, most / 64 * 64);
  if (program->mode == TSR_TILE_MODE_PHASED)
    choose_segments(program);
  else
    choose_tasks(program);
}
