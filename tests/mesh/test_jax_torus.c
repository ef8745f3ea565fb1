#include "mesh/jax.h"

#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "mesh/mesh_build_internal.h"
#include "support/test.h"
#include "tessera/mesh.h"
#include "tessera/text.h"

// ---- whole axes ----

static const struct {
  int64_t dims[4];
  int dim_count;
  int64_t shape[4];
  int rank;
  const char *rows;  // the assignment, or where it gets stuck
} whole[] = {
    // More axes are preferred, then lower ones.
    {{4, 4, 16}, 3, {16, 16}, 2, "1,4 1,4 16,1"},
    {{4, 4, 4}, 3, {4, 16}, 2, "1,4 1,4 4,1"},
    {{2, 4, 8}, 3, {8, 8}, 2, "1,2 1,4 8,1"},
    {{4, 4, 4}, 3, {4, 4, 4}, 3, "1,1,4 1,4,1 4,1,1"},
    {{2, 2, 2, 2}, 4, {4, 4}, 2, "1,2 1,2 2,1 2,1"},
    {{4, 1, 1}, 3, {1, 4, 1}, 3, "1,4,1 1,1,1 1,1,1"},
    {{4, 4, 4}, 3, {64}, 1, "4 4 4"},
    {{1, 1, 1}, 3, {1}, 1, "1 1 1"},
    {{4, 4, 4}, 3, {8, 8}, 2, "stuck at 1 with 7"},
    {{4, 4, 4}, 3, {2, 8, 4}, 3, "stuck at 1 with 6"},
    // Greedy: the 6 takes 2 x 3, although the axis of 6 would have left them for the others.
    {{2, 3, 6}, 3, {2, 3, 6}, 3, "stuck at 1 with 4"},
};

static void print_assignment(const tsr_assignment *assignment, int dim_count, int rank,
                             tsr_text *out) {
  for (int axis = 0; axis < dim_count; axis++)
    for (int l = 0; l < rank; l++)
      tsr_text_addf(out, "%s%lld",
                    l      ? ","
                    : axis ? " "
                           : "",
                    (long long)assignment->factors[axis][l]);
}

static void whole_axes_are_taken_greedily(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(whole); i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_assignment assignment;
    tsr_stuck stuck;
    if (tsr_torus_assign_whole(whole[i].dims, whole[i].dim_count, whole[i].shape, whole[i].rank,
                               &assignment, &stuck))
      print_assignment(&assignment, whole[i].dim_count, whole[i].rank, &text);
    else
      tsr_text_addf(&text, "stuck at %d with %u", stuck.axis, stuck.free_set);
    assert_string_equal(tsr_text_string(&text), whole[i].rows);
    tsr_text_deinit(&text);
  }
}

// ---- split axes ----

// The rule of JAX, word for word: every way to write `size` as a product of parts that fit, judged
// pair by pair. Slow, hence only here.
typedef struct judged {
  int64_t parts[4], whole_product, shared_product;
  int whole_count;
} judged;

static judged judge(const int64_t *parts, const int64_t *dims, const int64_t *taken, int count) {
  judged way = {.whole_product = 1, .shared_product = 1};
  for (int i = 0; i < count; i++) {
    way.parts[i] = parts[i];
    if (parts[i] == dims[i]) way.whole_product *= parts[i];
    if (parts[i] == dims[i] && parts[i] > 1) way.whole_count++;
    if (taken[i] > 1) way.shared_product *= parts[i];
  }
  return way;
}

static bool prefers(const judged *a, const judged *b, int count) {
  if (a->whole_product != b->whole_product) return a->whole_product > b->whole_product;
  if (a->whole_count != b->whole_count) return a->whole_count > b->whole_count;
  if (a->shared_product != b->shared_product) return a->shared_product > b->shared_product;
  for (int i = 0; i < count; i++)
    if (a->parts[i] != b->parts[i]) return a->parts[i] > b->parts[i];
  return false;
}

static judged try_every_way(const int64_t *dims, const int64_t *taken, int count, int64_t size) {
  judged best = {.whole_product = 0};
  int64_t parts[4] = {1, 1, 1, 1};
  for (;;) {
    int64_t product = 1;
    bool fits = true;
    for (int i = 0; i < count; i++) {
      product *= parts[i];
      fits = fits && dims[i] / taken[i] % parts[i] == 0;
    }
    const judged way = judge(parts, dims, taken, count);
    if (fits && product == size && prefers(&way, &best, count)) best = way;
    int axis = 0;
    for (; axis < count && ++parts[axis] > dims[axis] / taken[axis]; axis++) parts[axis] = 1;
    if (axis == count) return best;
  }
}

// A mesh shape with the product of `dims`: factors go to random logical axes.
static int random_shape(test_random *random, const int64_t *dims, int dim_count, int64_t *shape) {
  const int rank = (int)test_random_range(random, 1, 5);
  for (int l = 0; l < rank; l++) shape[l] = 1;
  for (int axis = 0; axis < dim_count; axis++) {
    int64_t factors[62];
    int count = 0;
    assert_ok(tsr_prime_factors(dims[axis], factors, &count));
    for (int k = 0; k < count; k++) shape[test_random_range(random, 0, rank - 1)] *= factors[k];
  }
  return rank;
}

static void the_split_is_the_best_of_all_ways(void **state) {
  (void)state;
  test_random random = {3};
  for (int round = 0; round < 1500; round++) {
    int64_t dims[4], shape[TSR_MAX_AXES], taken[4] = {1, 1, 1, 1};
    const int dim_count = (int)test_random_range(&random, 1, 4);
    for (int axis = 0; axis < dim_count; axis++) dims[axis] = test_random_range(&random, 1, 12);
    const int rank = random_shape(&random, dims, dim_count, shape);
    tsr_assignment assignment;
    tsr_torus_assign_split(dims, dim_count, shape, rank, &assignment);
    for (int l = rank - 1; l >= 0; l--) {
      const judged best = try_every_way(dims, taken, dim_count, shape[l]);
      for (int axis = 0; axis < dim_count; axis++) {
        assert_int_equal(assignment.factors[axis][l], best.parts[axis]);
        taken[axis] *= best.parts[axis];
      }
    }
    for (int axis = 0; axis < dim_count; axis++) assert_int_equal(taken[axis], dims[axis]);
  }
}

static const struct {
  int64_t dims[4];
  int dim_count;
  int64_t shape[4];
  int rank;
  const char *rows;
} split[] = {
    {{4, 4, 4}, 3, {2, 2, 16}, 3, "1,1,4 1,1,4 2,2,1"},
    // The 8 prefers what the 2 left of x over untouched axes.
    {{4, 4, 4}, 3, {4, 8, 2}, 3, "1,2,2 1,4,1 4,1,1"},
    {{16, 16, 16}, 3, {64, 64}, 2, "1,16 4,4 16,1"},
    // Sizes with very many ways to be spread.
    {{1 << 20, 1 << 10, 243, 1},
     4,
     {1 << 15, 1 << 10, 243 << 5},
     3,
     "32768,1,32 1,1024,1 1,1,243 1,1,1"},
};

static void known_splits(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(split); i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_assignment assignment;
    tsr_torus_assign_split(split[i].dims, split[i].dim_count, split[i].shape, split[i].rank,
                           &assignment);
    print_assignment(&assignment, split[i].dim_count, split[i].rank, &text);
    assert_string_equal(tsr_text_string(&text), split[i].rows);
    tsr_text_deinit(&text);
  }
}

// ---- advice ----

static tsr_torus torus_of(int64_t x, int64_t y, int64_t z) {
  return (tsr_torus){.sizes = {x, y, z, 1}, .rank = 3, .fields = {0, 1, 2}, .dims = {x, y, z}};
}

static void failures_name_shapes_that_fit(void **state) {
  (void)state;
  const tsr_torus cube = torus_of(4, 4, 4);
  tsr_assignment assignment;
  assert_fails(tsr_torus_assign(&cube, (const int64_t[]){2, 8, 4}, 3, false, &assignment),
               NO_AXIS_ASSIGNMENT,
               "axis 1 of mesh (2, 8, 4) has size 8, which is no product of the axes {y=4, z=4} "
               "still free on the 4x4x4 torus; these would fit: (4, 4, 4), (1, 16, 4), (4, 16, 1), "
               "or allow physical axes to be split");
  assert_ok(tsr_torus_assign(&cube, (const int64_t[]){2, 8, 4}, 3, true, &assignment));
}

// Whatever is advised can be had.
static void advice_can_be_followed(void **state) {
  (void)state;
  test_random random = {11};
  int followed = 0;
  for (int round = 0; round < 300; round++) {
    const tsr_torus torus =
        torus_of(test_random_range(&random, 1, 12), test_random_range(&random, 1, 12),
                 test_random_range(&random, 1, 12));
    int64_t shape[TSR_MAX_AXES];
    const int rank = random_shape(&random, torus.dims, torus.rank, shape);
    tsr_assignment assignment;
    tsr_status status = tsr_torus_assign(&torus, shape, rank, false, &assignment);
    if (!status) continue;
    const char *text = strstr(tsr_status_text(status), "these would fit:");
    assert_non_null(text);
    while ((text = strchr(text, '('))) {
      char *end = NULL;
      for (int l = 0; l < rank; l++, text = end) shape[l] = strtoll(text + 1, &end, 10);
      assert_ok(tsr_torus_assign(&torus, shape, rank, false, &assignment));
      followed++;
    }
    tsr_status_free(status);
  }
  assert_true(followed > 300);
}

SUITE(jax_torus, TEST(whole_axes_are_taken_greedily), TEST(the_split_is_the_best_of_all_ways),
      TEST(known_splits), TEST(failures_name_shapes_that_fit), TEST(advice_can_be_followed))
