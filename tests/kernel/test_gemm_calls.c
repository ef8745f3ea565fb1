// Calls of one product for several devices: together they give the bits that each gives alone, for
// any of them that have the same right side, whatever the rows of each, on any number of workers.
#include <stdlib.h>
#include <string.h>

#include "kernel/gemm.h"
#include "support/test.h"

enum { MOST_WORKERS = 3, MOST_CALLS = 40 };

typedef struct calls_case {
  int calls, rights;  // call i has the right side i % rights
  int64_t m, n, k;
  bool left_transposed, right_transposed;
  bool joins;  // some calls run together
} calls_case;

static void set_walk(tsr_gemm_walk *walk, int64_t size, int64_t stride) {
  tsr_gemm_walk_init(walk);
  tsr_gemm_walk_add(walk, size, stride);
}

static tsr_gemm gemm_of(const calls_case *c) {
  tsr_gemm gemm = {.left = {.input = 0, .dtype = TSR_F32},
                   .right = {.input = 1, .dtype = TSR_F32},
                   .result = {.dtype = TSR_F32}};
  tsr_gemm_walk_init(&gemm.left.batch);
  tsr_gemm_walk_init(&gemm.right.batch);
  tsr_gemm_walk_init(&gemm.result.batch);
  set_walk(&gemm.left.rows, c->m, c->left_transposed ? 1 : c->k);
  set_walk(&gemm.left.depth, c->k, c->left_transposed ? c->m : 1);
  set_walk(&gemm.right.rows, c->n, c->right_transposed ? c->k : 1);
  set_walk(&gemm.right.depth, c->k, c->right_transposed ? 1 : c->n);
  set_walk(&gemm.result.rows, c->m, c->n);
  set_walk(&gemm.result.columns, c->n, 1);
  return gemm;
}

// Sums of these depend on their order.
static float *make_numbers(test_random *random, int64_t count) {
  float *numbers = malloc((size_t)count * sizeof *numbers + 1);
  for (int64_t i = 0; i < count; i++)
    numbers[i] = (float)test_random_range(random, -1000, 1000) / 999;
  return numbers;
}

// product + bias of the column, on blocks of a planned product.
static tsr_tile_program *make_epilogue(const tsr_gemm *gemm) {
  const int64_t down[] = {gemm->result.columns.count, 1}, bias[] = {0, 1};
  tsr_tile_space space = {.rank = 2, .row_dims = 1, .by_blocks = true};
  tsr_gemm_largest_block(gemm, &space.dims[0], &space.dims[1]);
  tsr_tile_program *p = tsr_tile_create(&space);
  const int product = tsr_tile_load(p, 0, TSR_F32, down, 0);
  const int b = tsr_tile_load(p, 1, TSR_F32, bias, 0);
  tsr_tile_store(p, tsr_tile_apply(p, TSR_TILE_ADD, (int[]){product, b}), 0, down, 0);
  assert_ok(tsr_tile_finish(p));
  return p;
}

typedef struct calls_memory {
  float *lefts[MOST_CALLS], *rights[MOST_CALLS], *bias, *wanted[MOST_CALLS], *found[MOST_CALLS];
} calls_memory;

static void make_memory(const calls_case *c, test_random *random, calls_memory *out) {
  out->bias = make_numbers(random, c->n);
  for (int i = 0; i < c->rights; i++) out->rights[i] = make_numbers(random, c->n * c->k);
  for (int i = 0; i < c->calls; i++) {
    out->lefts[i] = make_numbers(random, c->m * c->k);
    out->wanted[i] = calloc((size_t)(c->m * c->n) + 1, sizeof(float));
    out->found[i] = calloc((size_t)(c->m * c->n) + 1, sizeof(float));
  }
}

static void free_memory(const calls_case *c, calls_memory *memory) {
  free(memory->bias);
  for (int i = 0; i < c->rights; i++) free(memory->rights[i]);
  for (int i = 0; i < c->calls; i++) {
    free(memory->lefts[i]);
    free(memory->wanted[i]);
    free(memory->found[i]);
  }
}

// Runs all calls, at once or one by one; scratch memory and results hold NaNs before.
static void run_calls(const calls_case *c, const tsr_gemm *gemm, const calls_memory *memory,
                      float *const *results, int workers, bool at_once) {
  const tsr_gemm *joined = gemm->joined ? gemm->joined : gemm;
  const int64_t temp_bytes =
      joined->temp_bytes > gemm->temp_bytes ? joined->temp_bytes : gemm->temp_bytes;
  const int64_t scratch_bytes = (gemm->epilogue->scratch + 63) / 64 * 64 +
                                (tsr_tile_scratch_bytes(gemm->epilogue->program) + 63) / 64 * 64;
  char *scratch = aligned_alloc(64, (size_t)(scratch_bytes * MOST_WORKERS + 64));
  char *temp = aligned_alloc(64, (size_t)(temp_bytes + 63) / 64 * 64 + 64);
  const char *inputs[MOST_CALLS][3];
  char *outputs[MOST_CALLS];
  tsr_kernel_call calls[MOST_CALLS];
  tsr_pool *pool = NULL;
  if (workers > 1) assert_ok(tsr_pool_create(workers, &pool));
  memset(scratch, 0xff, (size_t)(scratch_bytes * MOST_WORKERS));
  memset(temp, 0xff, (size_t)temp_bytes);
  for (int i = 0; i < c->calls; i++) {
    inputs[i][0] = (char *)memory->lefts[i];
    inputs[i][1] = (char *)memory->rights[i % c->rights];
    inputs[i][2] = (char *)memory->bias;
    outputs[i] = (char *)results[i];
    memset(outputs[i], 0xff, (size_t)(c->m * c->n) * sizeof(float));
    calls[i] = (tsr_kernel_call){.inputs = inputs[i],
                                 .outputs = &outputs[i],
                                 .temp = temp,
                                 .scratch = scratch,
                                 .scratch_bytes = scratch_bytes,
                                 .pool = pool,
                                 .lane = i};
  }
  if (at_once) assert_ok(tsr_gemm_run_calls(gemm, calls, c->calls));
  for (int i = 0; !at_once && i < c->calls; i++) assert_ok(tsr_gemm_run(gemm, &calls[i]));
  tsr_pool_destroy(pool);
  free(scratch);
  free(temp);
}

static void check_calls(const calls_case *c, test_random *random) {
  calls_memory memory;
  make_memory(c, random, &memory);
  tsr_gemm gemm = gemm_of(c), joined;
  assert_ok(tsr_gemm_plan(&gemm));
  const bool joins = tsr_gemm_plan_joined(&gemm, (c->calls + c->rights - 1) / c->rights, &joined);
  assert_int_equal(joins, c->joins);
  if (joins) gemm.joined = &joined;
  const tsr_gemm_argument whole = {0, 0, c->n * 4, 4}, bias = {2, 0, 0, 4};
  int64_t scratch = gemm.scratch_bytes;
  if (joins && joined.scratch_bytes > scratch) scratch = joined.scratch_bytes;
  const tsr_gemm_epilogue epilogue = {.program = make_epilogue(&gemm),
                                      .input_count = 1,
                                      .output_count = 1,
                                      .inputs = &bias,
                                      .outputs = &whole,
                                      .scratch = (scratch + 63) / 64 * 64};
  gemm.epilogue = joined.epilogue = &epilogue;
  run_calls(c, &gemm, &memory, memory.wanted, 1, false);
  for (int workers = 1; workers <= MOST_WORKERS; workers++) {
    run_calls(c, &gemm, &memory, memory.found, workers, true);
    for (int i = 0; i < c->calls; i++)
      assert_memory_equal(memory.found[i], memory.wanted[i], (size_t)(c->m * c->n) * sizeof(float));
  }
  tsr_tile_destroy(epilogue.program);
  free_memory(c, &memory);
}

static void calls_together_give_the_bits_of_each_alone(void **state) {
  (void)state;
  test_random random = {21};
  static const calls_case cases[] = {
      {8, 1, 50, 400, 330, false, false, true},   // panels shared by all, two calls for each task
      {5, 1, 200, 390, 330, true, true, true},    // two tasks for the rows of each call
      {6, 2, 150, 400, 170, false, false, true},  // two right sides
      {8, 1, 20, 90, 340, false, false, true},    // tiles of their own
      {7, 3, 2, 700, 90, false, false, true},     // few rows: read where they lie
      {4, 1, 7, 60, 33, false, true, true},
      {5, 1, 900, 70, 40, false, false, true},     // more rows than run together
      {3, 1, 1, 700, 90, false, false, false},     // one row: a way of its own
      {3, 1, 30, 17, 20, false, false, true},      // a short depth
      {3, 1, 30, 17, 40, false, false, false},     // few columns: rows are read where they lie
      {6, 6, 40, 100, 70, false, false, false},    // nothing in common, one list of tasks
      {2, 2, 390, 390, 170, false, false, false},  // large, and nothing in common
      {MOST_CALLS, 1, 3, 65, 70, true, false, true},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) check_calls(&cases[i], &random);
}

// Nothing is summed: zeros, and no rows at all.
static void calls_of_empty_products_write_zeros(void **state) {
  (void)state;
  float left[1] = {0}, right[1] = {0}, results[2][6];
  const calls_case c = {2, 1, 2, 3, 0, false, false, false};
  tsr_gemm gemm = gemm_of(&c), joined;
  assert_ok(tsr_gemm_plan(&gemm));
  assert_false(tsr_gemm_plan_joined(&gemm, 2, &joined));
  memset(results, 0xff, sizeof results);
  const char *inputs[] = {(char *)left, (char *)right};
  char *outputs[] = {(char *)results[0], (char *)results[1]};
  tsr_kernel_call calls[] = {{.inputs = inputs, .outputs = &outputs[0]},
                             {.inputs = inputs, .outputs = &outputs[1]}};
  assert_ok(tsr_gemm_run_calls(&gemm, calls, 2));
  for (int i = 0; i < 12; i++) assert_true(results[i / 6][i % 6] == 0);
  tsr_gemm none = gemm_of(&(calls_case){2, 1, 0, 3, 4, false, false, false});
  assert_ok(tsr_gemm_plan(&none));
  assert_false(tsr_gemm_plan_joined(&none, 2, &joined));
  assert_ok(tsr_gemm_run_calls(&none, calls, 2));
}

SUITE(gemm_calls, TEST(calls_together_give_the_bits_of_each_alone),
      TEST(calls_of_empty_products_write_zeros))
