// A merge sort whose comparisons are made many at a time: all merges of a level go on together,
// one element each, so that the program runs on vectors. The order is stable, and the sort ends
// whatever the comparison says.
#include "reduce/sort_compared.h"

#include <string.h>

enum { TASK_ELEMENTS = 1 << 11, ALIGN = 64 };

// One merge: of places a .. middle - 1 and b .. end - 1, to `out` on.
typedef struct merge_lane {
  int64_t line, a, b, middle, end, out;
} merge_lane;

typedef struct compared_run {
  const tsr_sort_compared *sort;
  const tsr_kernel_call *call;
} compared_run;

// The memory of one task.
typedef struct compared_space {
  const char **inputs;
  char **arguments;  // the memory of the arguments, for each operand two
  char *truths, *scratch;
  merge_lane *lanes;
  uint32_t *places, *spare;  // of all lines of the task
} compared_space;

static int64_t lines_of_task(const tsr_sort_lines *lines) {
  return lines->length < TASK_ELEMENTS ? TASK_ELEMENTS / lines->length : 1;
}

static int64_t round_up(int64_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

// Cuts a block of memory; the address is NULL while bytes are counted.
typedef struct block_cut {
  char *memory;
  int64_t used;
} block_cut;

static void *take(block_cut *cut, int64_t bytes) {
  char *at = cut->memory ? cut->memory + cut->used : NULL;
  cut->used += round_up(bytes);
  return at;
}

static int64_t cut_space(const tsr_sort_compared *s, char *memory, compared_space *out) {
  const tsr_sort_lines *lines = &s->lines;
  const int count = lines->operand_count;
  const int64_t elements = lines->length ? lines_of_task(lines) * lines->length : 0;
  block_cut cut = {.memory = memory};
  out->inputs = take(&cut, (2 * count + s->outside_count) * (int64_t)sizeof *out->inputs);
  out->arguments = take(&cut, 2 * count * (int64_t)sizeof *out->arguments);
  out->truths = take(&cut, TSR_SORT_LANES);
  out->lanes = take(&cut, TSR_SORT_LANES * (int64_t)sizeof *out->lanes);
  out->places = take(&cut, elements * (int64_t)sizeof *out->places);
  out->spare = take(&cut, elements * (int64_t)sizeof *out->spare);
  for (int k = 0; k < 2 * count; k++) {
    char *argument = take(&cut, TSR_SORT_LANES * (int64_t)lines->element_bytes[k / 2]);
    if (memory) out->arguments[k] = argument;
  }
  out->scratch = take(&cut, tsr_tile_scratch_bytes(s->program));
  return cut.used;
}

int64_t tsr_sort_compared_scratch_bytes(const tsr_sort_compared *sort) {
  compared_space none;
  return cut_space(sort, NULL, &none);
}

void tsr_sort_compared_destroy(void *description) {
  const tsr_sort_compared *sort = description;
  tsr_tile_destroy(sort->program);
}

// Fills truths: for each lane, whether the first element of its second run stands before the first
// of its first run.
static void compare_lanes(const compared_run *r, const compared_space *space, int64_t count) {
  const tsr_sort_lines *lines = &r->sort->lines;
  for (int k = 0; k < lines->operand_count; k++) {
    const size_t bytes = (size_t)lines->element_bytes[k];
    const int64_t stride = lines->inner * (int64_t)bytes;
    for (int64_t i = 0; i < count; i++) {
      const merge_lane *lane = &space->lanes[i];
      const char *line =
          r->call->inputs[k] + tsr_sort_line_start(lines, lane->line) * (int64_t)bytes;
      const char *first = line + space->places[lane->a] * stride;
      const char *second = line + space->places[lane->b] * stride;
      memcpy(space->arguments[2 * k] + i * (int64_t)bytes, second, bytes);
      memcpy(space->arguments[2 * k + 1] + i * (int64_t)bytes, first, bytes);
    }
  }
  char *truths[1] = {space->truths};
  tsr_tile_run_few(r->sort->program, count, space->inputs, truths, space->scratch);
}

// What is left of the one run follows.
static void end_lane(const compared_space *space, merge_lane *lane) {
  const int64_t left = lane->middle - lane->a, right = lane->end - lane->b;
  const size_t size = sizeof *space->spare;
  if (left > 0) memcpy(space->spare + lane->out, space->places + lane->a, (size_t)left * size);
  if (right > 0)
    memcpy(space->spare + lane->out + left, space->places + lane->b, (size_t)right * size);
}

// Moves every lane on by one element; gives the number of lanes that go on.
static int64_t advance(const compared_space *space, int64_t count) {
  int64_t kept = 0;
  for (int64_t i = 0; i < count; i++) {
    merge_lane lane = space->lanes[i];
    space->spare[lane.out++] = space->places[space->truths[i] ? lane.b++ : lane.a++];
    if (lane.a < lane.middle && lane.b < lane.end)
      space->lanes[kept++] = lane;
    else
      end_lane(space, &lane);
  }
  return kept;
}

// All merges of runs of `width` of the lines first .. last - 1.
static void merge_level(const compared_run *r, const compared_space *space, int64_t first,
                        int64_t last, int64_t width) {
  const int64_t length = r->sort->lines.length;
  int64_t count = 0;
  for (int64_t line = first; line < last; line++)
    for (int64_t at = 0; at < length; at += 2 * width) {
      const int64_t base = (line - first) * length;
      const int64_t middle = at + width < length ? at + width : length;
      const int64_t end = middle + width < length ? middle + width : length;
      merge_lane lane = {line, base + at, base + middle, base + middle, base + end, base + at};
      if (lane.b >= lane.end) {
        end_lane(space, &lane);
        continue;
      }
      space->lanes[count++] = lane;
      while (count == TSR_SORT_LANES) {
        compare_lanes(r, space, count);
        count = advance(space, count);
      }
    }
  while (count) {
    compare_lanes(r, space, count);
    count = advance(space, count);
  }
}

static tsr_status sort_some(void *context, int64_t task, int worker) {
  const compared_run *r = context;
  const tsr_sort_lines *lines = &r->sort->lines;
  const int64_t all = lines->outer * lines->inner, each = lines_of_task(lines);
  const int64_t first = task * each, last = first + each < all ? first + each : all;
  compared_space space;
  cut_space(r->sort, tsr_kernel_scratch(r->call, worker), &space);
  for (int k = 0; k < 2 * lines->operand_count; k++) space.inputs[k] = space.arguments[k];
  for (int k = 0; k < r->sort->outside_count; k++)
    space.inputs[2 * lines->operand_count + k] = r->call->inputs[lines->operand_count + k];
  for (int64_t i = 0; i < (last - first) * lines->length; i++)
    space.places[i] = (uint32_t)(i % lines->length);
  for (int64_t width = 1; width < lines->length; width *= 2) {
    merge_level(r, &space, first, last, width);
    uint32_t *const made = space.spare;
    space.spare = space.places, space.places = made;
  }
  for (int64_t line = first; line < last; line++)
    tsr_sort_move_lines(lines, line, r->call, space.places + (line - first) * lines->length, 0,
                        lines->length);
  return NULL;
}

tsr_status tsr_sort_compared_run(const void *description, const tsr_kernel_call *call) {
  const tsr_sort_compared *sort = description;
  const tsr_sort_lines *lines = &sort->lines;
  const int64_t all = lines->outer * lines->inner;
  if (!all || !lines->length) return NULL;
  const int64_t each = lines_of_task(lines);
  compared_run r = {sort, call};
  return tsr_pool_run(call->pool, (all + each - 1) / each, sort_some, &r);
}
