// Terms are put on a stack, left to right. The two on top become one as soon as they are the two
// branches of a node: so every node is made of what it is made of in one process.
#include "ranks/rank_fold.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"

enum {
  BLOCK = 1024,     // elements, as the kernels of one process have
  LEVELS = 18,      // of the stack: 2^17 members and more are no lanes
  LEAST = 1 << 19,  // bytes that are worth waking workers for
  TASK = 16         // blocks
};

typedef struct fold_level {
  tsr_reduce_node node;
  const char *data;
} fold_level;

static int64_t padded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// ---- programs ----

// A program of one op: `count` inputs of type `from`, converted to `to`; with two inputs, combined.
static tsr_status make_program(const tsr_lane_reduction *r, int count, tsr_dtype from, tsr_dtype to,
                               tsr_tile_program **out) {
  static const int64_t next[1] = {1};
  tsr_tile_program *program =
      tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {BLOCK}, .row_dims = 1});
  if (!program) return tsr_fail(NO_MEMORY, "reductions between ranks");
  int values[2] = {0, 0};
  for (int i = 0; i < count; i++) values[i] = tsr_tile_load(program, i, from, next, 0);
  const int value = count == 2 ? tsr_tile_apply(program, r->op, values) : values[0];
  tsr_tile_store(program, tsr_tile_convert(program, to, value), 0, next, 0);
  const tsr_status status = tsr_tile_finish(program);
  if (status)
    tsr_tile_destroy(program);
  else
    *out = program;
  return status;
}

static int64_t memory_bytes(tsr_dtype dtype) {
  const int bits = tsr_dtype_info_of(dtype)->bits;
  return bits < 8 ? 1 : bits / 8;
}

static tsr_status make_programs(const tsr_lane_reduction *r, tsr_fold_programs *out) {
  out->bytes = out->partial_bytes = r->count ? r->values[0].bytes : 1;
  out->pair = r->program;
  if (!r->arity) return NULL;
  out->partial_bytes = memory_bytes(r->sum_dtype);
  TSR_TRY(make_program(r, 2, r->sum_dtype, r->sum_dtype, &out->own));
  out->pair = out->own;
  if (r->dtype == r->sum_dtype) return NULL;
  TSR_TRY(make_program(r, 1, r->dtype, r->sum_dtype, &out->widen));
  return make_program(r, 1, r->sum_dtype, r->dtype, &out->narrow);
}

tsr_status tsr_fold_programs_create(const tsr_lane_reduction *reduction,
                                    tsr_fold_programs **out_programs) {
  tsr_fold_programs *programs = calloc(1, sizeof *programs);
  if (!programs) return tsr_fail(NO_MEMORY, "reductions between ranks");
  const tsr_status status = make_programs(reduction, programs);
  if (status)
    tsr_fold_programs_destroy(programs);
  else
    *out_programs = programs;
  return status;
}

void tsr_fold_programs_destroy(tsr_fold_programs *programs) {
  if (!programs) return;
  tsr_tile_destroy(programs->own);
  tsr_tile_destroy(programs->widen);
  tsr_tile_destroy(programs->narrow);
  free(programs);
}

// ---- folding ----

static int64_t program_scratch(const tsr_fold_programs *p) {
  int64_t most = tsr_tile_scratch_bytes(p->pair);
  if (p->widen && tsr_tile_scratch_bytes(p->widen) > most) most = tsr_tile_scratch_bytes(p->widen);
  if (p->narrow && tsr_tile_scratch_bytes(p->narrow) > most)
    most = tsr_tile_scratch_bytes(p->narrow);
  return padded(most);
}

int64_t tsr_fold_scratch(const tsr_fold_programs *programs) {
  return program_scratch(programs) + padded(2 * (int64_t)LEVELS * BLOCK * programs->partial_bytes);
}

// Whether two neighbours are the branches of a node.
static bool are_branches(const tsr_reduce_node *left, const tsr_reduce_node *right,
                         int64_t members) {
  const int64_t size = left->last - left->first;
  return !(size & (size - 1)) && left->first % (2 * size) == 0 &&
         right->last == tsr_least(left->first + 2 * size, members);
}

// The first of the two blocks of a level.
static char *block_at(const tsr_rank_fold *fold, char *blocks, int level) {
  return blocks + 2 * level * BLOCK * fold->programs->partial_bytes;
}

// The one of the two that `data` is not in: it may be an operand of what the other becomes.
static char *free_block(const tsr_rank_fold *fold, char *blocks, int level, const char *data) {
  char *out = block_at(fold, blocks, level);
  return data == out ? out + BLOCK * fold->programs->partial_bytes : out;
}

// Elements of a term as a partial result.
static const char *load_term(const tsr_rank_fold *fold, const tsr_fold_term *term, int64_t outer,
                             int64_t first, int64_t count, int level, char *blocks, char *scratch) {
  const tsr_fold_programs *p = fold->programs;
  const int64_t bytes = term->is_partial ? p->partial_bytes : p->bytes;
  const char *data = term->data + outer * term->stride + first * bytes;
  if (term->is_partial || !p->widen) return data;
  char *out = block_at(fold, blocks, level);
  tsr_tile_run_few(p->widen, count, &data, &out, scratch);
  return out;
}

// Combines `count` elements of all terms; the result is one of them, or in the scratch memory.
static const char *fold_elements(const tsr_rank_fold *fold, int64_t outer, int64_t first,
                                 int64_t count, char *scratch) {
  char *blocks = scratch + program_scratch(fold->programs);
  fold_level stack[LEVELS];
  int depth = 0;
  for (int i = 0; i < fold->term_count; i++) {
    assert(depth < LEVELS);
    stack[depth] = (fold_level){fold->terms[i].node, load_term(fold, &fold->terms[i], outer, first,
                                                               count, depth, blocks, scratch)};
    depth++;
    while (depth > 1 &&
           are_branches(&stack[depth - 2].node, &stack[depth - 1].node, fold->members)) {
      fold_level *left = &stack[depth - 2], *right = &stack[depth - 1];
      char *out = free_block(fold, blocks, depth - 2, left->data);
      const char *pair[] = {left->data, right->data};
      tsr_tile_run_few(fold->programs->pair, count, pair, &out, scratch);
      *left = (fold_level){{left->node.first, right->node.last}, out};
      depth--;
    }
  }
  assert(depth == 1);
  return stack[0].data;
}

static void store_elements(const tsr_rank_fold *fold, const char *partial, int64_t at,
                           int64_t count, char *scratch) {
  const tsr_fold_programs *p = fold->programs;
  const bool narrows = p->narrow && !fold->to_partial;
  const int64_t bytes = narrows ? p->bytes : p->partial_bytes;
  char *out = fold->out + at * bytes;
  if (narrows)
    tsr_tile_run_few(p->narrow, count, &partial, &out, scratch);
  else if (out != partial)
    memcpy(out, partial, (size_t)(count * bytes));
}

typedef struct fold_task {
  const tsr_rank_fold *fold;
  int64_t blocks, scratch_bytes;
} fold_task;

static tsr_status fold_blocks(void *context, int64_t index, int worker) {
  const fold_task *task = context;
  const tsr_rank_fold *fold = task->fold;
  char *scratch = fold->scratch + worker * task->scratch_bytes;
  const int64_t end = tsr_least(fold->outer * task->blocks, (index + 1) * TASK);
  for (int64_t i = index * TASK; i < end; i++) {
    const int64_t outer = i / task->blocks, first = i % task->blocks * BLOCK;
    const int64_t count = tsr_least(BLOCK, fold->run - first);
    const char *partial = fold_elements(fold, outer, first, count, scratch);
    store_elements(fold, partial, outer * fold->run + first, count, scratch);
  }
  return NULL;
}

tsr_status tsr_fold_run(const tsr_rank_fold *fold, tsr_pool *pool) {
  fold_task task = {.fold = fold,
                    .blocks = (fold->run + BLOCK - 1) / BLOCK,
                    .scratch_bytes = tsr_fold_scratch(fold->programs)};
  const int64_t blocks = fold->outer * task.blocks;
  const bool worth = fold->outer * fold->run * fold->programs->bytes * fold->term_count > LEAST;
  return tsr_pool_run(worth ? pool : NULL, (blocks + TASK - 1) / TASK, fold_blocks, &task);
}
