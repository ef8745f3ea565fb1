// Copy plans: carried out on real buffers, they turn any layout into any other.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transfer/any_layout.h"
#include "transfer/carry.h"

// ---- every pair of specs on small meshes ----

enum { MAX_SPECS = 160 };

// All specs of a rank: every axis in some dimension or in none, in every order within one. Axes are
// put in one by one, each before or after every axis that is already there.
static int list_specs(const char *const *axes, int axis_count, int rank, char (*specs)[64]) {
  int count = 1;
  char(*next)[64] = malloc(sizeof *next * MAX_SPECS);
  assert_non_null(next);
  memset(specs[0], ',', (size_t)rank - 1);
  for (int a = 0; a < axis_count; a++) {
    int made = 0;
    for (int s = 0; s < count; s++) {
      strcpy(next[made++], specs[s]);
      const int length = (int)strlen(specs[s]);
      for (int at = 0; at <= length; at++) {
        const char before = at ? specs[s][at - 1] : ',', after = specs[s][at] ? specs[s][at] : ',';
        if (before != ',' && before != '+' && after != ',' && after != '+') continue;
        if (before == '+') continue;  // the same as after the axis before
        const bool first = before == ',', last = after == ',';
        assert_true(made < MAX_SPECS);
        const int written =
            snprintf(next[made++], sizeof *next, "%.*s%s%s%s%s", at, specs[s], first ? "" : "+",
                     axes[a], first && !last ? "+" : "", specs[s] + at);
        assert_true(written < (int)sizeof *next);
      }
    }
    count = made;
    memcpy(specs, next, sizeof *next * (size_t)count);
  }
  free(next);
  return count;
}

// An entry without axes is written "_".
static void write_spec(const char *entries, char *out) {
  char last = ',';
  for (;; last = *entries++) {
    if (last == ',' && (*entries == ',' || !*entries)) *out++ = '_';
    *out++ = *entries;
    if (!*entries) return;
  }
}

static int make_images(const char *mesh, const char *const *axes, int axis_count, const char *shape,
                       int rank, tsr_policy policy, test_image *images) {
  static char specs[MAX_SPECS][64];
  memset(specs, 0, sizeof specs);
  const int count = list_specs(axes, axis_count, rank, specs);
  for (int i = 0; i < count; i++) {
    char spec[96];
    write_spec(specs[i], spec);
    test_image_init(&images[i], test_layout_of(mesh, spec, shape, policy));
  }
  return count;
}

// With k of n axes in use: k! orders of them, cut into `rank` lists.
static const int spec_counts[2][3] = {{5, 11, 19}, {16, 49, 106}};

static void carry_out_all_pairs(const char *mesh, int axis_count, const char *shape, int rank,
                                tsr_policy policy) {
  static const char *const axes[] = {"x", "y", "z"};
  test_image *images = malloc(sizeof *images * MAX_SPECS);
  assert_non_null(images);
  const int count = make_images(mesh, axes, axis_count, shape, rank, policy, images);
  assert_int_equal(count, spec_counts[axis_count - 2][rank - 1]);
  // Of the 106 * 106 pairs on three axes that divide, all; of those that do not, every third.
  const int step = axis_count == 3 && rank == 3 && policy != TSR_POLICY_ERROR ? 3 : 1;
  for (int i = 0; i < count; i++)
    for (int j = i % step; j < count; j += step) test_carry_out(&images[i], &images[j], i + j);
  for (int i = 0; i < count; i++) test_image_deinit(&images[i]);
  free(images);
}

static const struct {
  const char *mesh;
  int axis_count;
  const char *divisible[3], *uneven[3];  // shapes of rank 1, 2 and 3
} small_meshes[] = {
    {"x=2,y=2", 2, {"8", "4,8", "4,4,4"}, {"7", "5,7", "5,3,2"}},
    {"x=2,y=3", 2, {"12", "6,12", "6,6,6"}, {"7", "5,7", "5,3,2"}},
    {"x=2,y=4", 2, {"16", "8,8", "8,8,8"}, {"7", "5,7", "5,3,2"}},
    {"x=2,y=2,z=2", 3, {"8", "8,8", "8,8,8"}, {"5", "7,5", "3,5,2"}},
};

static void specs_of_rank_become_one_another(int rank, bool uneven) {
  for (size_t i = 0; i < COUNT_OF(small_meshes); i++) {
    const int axes = small_meshes[i].axis_count;
    const char *mesh = small_meshes[i].mesh;
    if (!uneven) {
      carry_out_all_pairs(mesh, axes, small_meshes[i].divisible[rank - 1], rank, TSR_POLICY_ERROR);
      continue;
    }
    const char *shape = small_meshes[i].uneven[rank - 1];
    carry_out_all_pairs(mesh, axes, shape, rank, i % 2 ? TSR_POLICY_PAD : TSR_POLICY_UNEVEN);
    if (rank < 3)
      carry_out_all_pairs(mesh, axes, shape, rank, i % 2 ? TSR_POLICY_UNEVEN : TSR_POLICY_PAD);
  }
}

static void all_pairs_of_specs_of_rank_1(void **state) {
  (void)state;
  specs_of_rank_become_one_another(1, false);
  specs_of_rank_become_one_another(1, true);
}

static void all_pairs_of_specs_of_rank_2(void **state) {
  (void)state;
  specs_of_rank_become_one_another(2, false);
  specs_of_rank_become_one_another(2, true);
}

static void all_pairs_of_specs_of_rank_3(void **state) {
  (void)state;
  specs_of_rank_become_one_another(3, false);
  specs_of_rank_become_one_another(3, true);
}

// ---- random layouts of all kinds ----

static void random_layouts_of_all_kinds_become_one_another(void **state) {
  (void)state;
  static const int widths[] = {1, 2, 4, 8, 16, 32, 64};
  test_random random = {7};
  for (int i = 0; i < 1500; i++) {
    test_layout a, b;
    test_image from, to;
    test_layout_make(&random, i % 4 == 0, &a);
    test_layout_make_other(&random, i % 4 == 0, &a, &b);
    test_image_init(&from, test_layout_any(&random, &a));
    test_image_init(&to, test_layout_any(&random, &b));
    test_carry_out(&from, &to, i);
    if (i % 5 == 0) test_carry_bits(&from, &to, widths[i / 5 % 7]);
    test_image_deinit(&from);
    test_image_deinit(&to);
    test_layout_free(&a);
    test_layout_free(&b);
  }
}

SUITE(copy_plan, TEST(all_pairs_of_specs_of_rank_1), TEST(all_pairs_of_specs_of_rank_2),
      TEST(all_pairs_of_specs_of_rank_3), TEST(random_layouts_of_all_kinds_become_one_another))
