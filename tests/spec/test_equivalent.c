// Normal form and equivalence, judged by a slow reading of what a cut means.
#include <string.h>

#include "mesh/mesh_internal.h"
#include "spec/random_specs.h"
#include "spec/sharding_internal.h"
#include "support/test.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/spec.h"
#include "tessera/text.h"

static tsr_sharding *bind(const char *mesh_text, const char *spec_text) {
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  assert_ok(tsr_mesh_parse(mesh_text, NULL, &mesh));
  assert_ok(tsr_spec_parse(spec_text, TSR_FORM_ANY, &spec));
  assert_ok(tsr_sharding_bind(mesh, spec, false, &sharding));
  tsr_mesh_release(mesh);
  tsr_spec_release(spec);
  return sharding;
}

static void normal_forms(void **state) {
  (void)state;
  static const struct {
    const char *mesh, *spec, *wanted;
  } cases[] = {
      {"x=2,y=4", "x, y, _", "x, y, _"},
      {"x=2,one=1,uno=1", "one+x, uno", "x, _"},
      {"x=8", "x:(1)2+x:(2)4", "x"},
      {"x=8", "x:(1)2+x:(2)2", "x:(1)4"},
      {"x=8", "x:(2)2+x:(1)2", "x:(2)2+x:(1)2"},
      {"x=8,y=2", "x:(1)2+y+x:(2)2", "x:(1)2+y+x:(2)2"},
      {"x=8,one=1", "x:(1)2+one+x:(2)2", "x:(1)4"},
      {"x=8", "x:(1)8", "x"},
      {"x=8", "x:(2)1", "_"},
      {"x=2,y=4", "x;y", "x;y"},
      {"x=2,one=1,y=4", "x;one;y+?@3", "x;y+?@3"},
      {"x=2,one=1", "one/cyclic(4);x", "x"},
      {"x=2,one=1", "one/sizes(8);x", "x"},
      {"x=2,y=3", "x/cyclic(4);y/cyclic(4)", "y+x/cyclic(4)"},
      {"x=2,y=3,z=5", "x/cyclic(4);y/cyclic(4);z/cyclic(4)", "z+y+x/cyclic(4)"},
      {"x=8", "x:(2)4/cyclic(4);x:(1)2/cyclic(4)", "x/cyclic(4)"},
      {"x=2,y=3", "x/cyclic(4);y/cyclic(2)", "x/cyclic(4);y/cyclic(2)"},
      {"x=2,y=3", "x+y/parts(q:6, k:6)", "x+y/parts(q:6, k:6)"},
      {"x=2,y=4,z=1", "_ | unreduced=y+z+x", "_ | unreduced=x+y"},
      {"x=2,y=4", "_ | replicated=y:(2)2+x+y:(1)2", "_ | replicated=x+y"},
      {"x=2:explicit,y=4:explicit", "_ | reduced=y:(2)2+x", "_ | reduced=x+y:(2)2"},
      {"x=2", "x | mesh=m", "x | mesh=m"},
      {"x=1", "_ | unreduced=max(x)", "_"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_sharding *sharding = bind(cases[i].mesh, cases[i].spec), *normal = NULL;
    assert_ok(tsr_sharding_normalise(sharding, &normal));
    tsr_text text = TSR_TEXT_EMPTY;
    assert_ok(tsr_spec_print(tsr_sharding_spec(normal), TSR_FORM_SHORT, &text));
    assert_string_equal(tsr_text_string(&text), cases[i].wanted);
    tsr_text_deinit(&text);
    tsr_sharding_release(sharding);
    tsr_sharding_release(normal);
  }
}

static void equivalence(void **state) {
  (void)state;
  static const struct {
    const char *mesh1, *spec1, *mesh2, *spec2;
    bool wanted;
  } cases[] = {
      {"x=2,y=4", "x, y", "x=2,y=4", "x, y", true},
      {"x=2,y=4", "x, y", "x=2,y=4", "y, x", false},
      {"x=2,y=4", "x", "x=2,y=4", "x, _", true},
      {"x=2,y=4", "()", "y=4,x=2", "_", true},
      {"x=2,y=4", "x+y", "z=8", "z", true},
      {"x=2,y=4", "y+x", "z=8", "z", false},
      {"x=2,y=4", "y", "z=8", "z:(2)4", true},
      {"x=2,y=4", "x", "z=8", "z:(1)2", true},
      {"x=2,y=3", "x", "x=3,y=2", "y", false},
      {"x=2,y=4", "x", "x=2,y=4 devices=[0,1,2,3,4,5,7,6]", "x", false},
      {"x=2,y=4", "()", "x=2,y=4 devices=[0,1,2,3,4,5,7,6]", "()", false},
      {"x=2,y=2 devices=[3,1,0,2]", "x", "z=4 devices=[3,1,0,2]", "z:(1)2", true},
      {"x=2", "()", "x=4", "()", false},
      {"x=1", "x", "y=1", "_", true},
      {"x=2,y=4", "?", "x=2,y=4", "_", true},
      {"x=2,y=4", "x+?@1 | replicated=y", "x=2,y=4", "x", true},
      {"x=2,y=4", "_ | unreduced=x", "x=2,y=4", "_", false},
      {"x=2,y=4", "_ | unreduced=x+y", "z=8", "_ | unreduced=z", true},
      {"x=2,y=4", "_ | unreduced=x", "x=2,y=4", "_ | unreduced=max(x)", false},
      {"x=2,y=4", "_ | unreduced=x", "x=2,y=4", "_ | unreduced=y", false},
      {"x=2:explicit", "_ | reduced=x", "x=2", "_", true},
      {"x=2:manual,y=2", "y", "x=2,y=2", "y", false},
      {"x=2:manual,y=2", "y", "x=2:manual,y=2", "y", true},
      {"x=2,y=4", "x;y", "x=2,y=4", "x+y", false},
      {"x=2,y=4", "x;y", "z=8", "z:(1)2;z:(2)4", true},
      {"x=2,y=4", "x/cyclic(2)", "x=2,y=4", "x/cyclic(3)", false},
      {"x=2,y=4", "x/cyclic(2)", "x=2,y=4", "x", false},
      {"x=2,y=4", "x/cyclic(2);y/cyclic(2)", "x=2,y=4", "y+x/cyclic(2)", true},
      {"x=2,y=4", "x/sizes(3,5)", "x=2,y=4", "x/sizes(3,5)", true},
      {"x=2,y=4", "x/sizes(3,5)", "x=2,y=4", "x/sizes(5,3)", false},
      {"x=2,y=4", "x/parts(q:4,k:4)", "x=2,y=4", "x/parts(q:4,k:4/2)", false},
      // 100,000 devices, by arithmetic.
      {"x=100000", "x", "x=100,y=1000", "x+y", true},
      {"x=100000", "x:(100)1000", "x=100,y=1000", "y", true},
      {"x=100000", "x:(1000)100", "x=100,y=1000", "y", false},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_sharding *a = bind(cases[i].mesh1, cases[i].spec1);
    tsr_sharding *b = bind(cases[i].mesh2, cases[i].spec2);
    bool same = !cases[i].wanted, back = same;
    assert_ok(tsr_sharding_equivalent(a, b, 2, &same));
    assert_ok(tsr_sharding_equivalent(b, a, 2, &back));
    if (same != cases[i].wanted) print_error("%s and %s\n", cases[i].spec1, cases[i].spec2);
    assert_true(same == cases[i].wanted && back == same);
    tsr_sharding_release(a);
    tsr_sharding_release(b);
  }
}

static void a_rank_below_the_spec_is_refused(void **state) {
  (void)state;
  tsr_sharding *a = bind("x=2", "x, _"), *b = bind("x=2", "x");
  bool same = false;
  assert_fails(tsr_sharding_equivalent(b, a, 1, &same), RANK_TOO_SMALL,
               "a spec of 2 entries for tensors of rank 1");
  tsr_sharding_release(a);
  tsr_sharding_release(b);
}

static void abstract_meshes_compare_by_position(void **state) {
  (void)state;
  tsr_sharding *real = bind("x=2,y=2 devices=[3,1,0,2]", "x"), *abstract = NULL;
  tsr_mesh *mesh = NULL;
  bool same = false;
  assert_ok(tsr_mesh_abstract(tsr_sharding_mesh(real), &mesh));
  assert_ok(tsr_sharding_bind(mesh, tsr_sharding_spec(real), false, &abstract));
  assert_ok(tsr_sharding_equivalent(abstract, abstract, 1, &same));
  assert_true(same);
  assert_ok(tsr_sharding_equivalent(abstract, real, 1, &same));
  assert_false(same);
  tsr_mesh_release(mesh);
  tsr_sharding_release(real);
  tsr_sharding_release(abstract);
}

// ---- the slow reading ----

enum { MAX_SIZE = 64 };

// The elements, in local order, of one dimension.
typedef struct elements {
  int count;
  int items[MAX_SIZE];
} elements;

// What is left of `all` in chunk `index` of a stage, element by element.
static elements select_elements(const elements *all, const tsr_bound_stage *stage, int64_t index) {
  elements kept = {0};
  const int64_t chunk = (all->count + stage->shards - 1) / stage->shards;
  for (int i = 0; i < all->count; i++) {
    const int64_t owner = stage->kind == TSR_STAGE_EVEN ? (chunk ? i / chunk : 0)
                                                        : i / stage->cut->block % stage->shards;
    if (owner == index) kept.items[kept.count++] = all->items[i];
  }
  return kept;
}

static elements held(const tsr_sharding *sharding, int dim, int size, int64_t position) {
  elements all = {.count = size};
  for (int i = 0; i < size; i++) all.items[i] = i;
  const tsr_sharding_dim *d = tsr_sharding_dim_at(sharding, dim);
  for (int s = 0; s < d->stage_count; s++)
    all =
        select_elements(&all, &d->stages[s], tsr_sharding_stage_index(sharding, dim, s, position));
  return all;
}

static bool dim_agrees(const tsr_sharding *a, const tsr_sharding *b, int dim) {
  static const int sizes[] = {1, 7, 10, 16, 37, MAX_SIZE};
  const int64_t count = tsr_mesh_device_count(tsr_sharding_mesh(a));
  for (size_t n = 0; n < COUNT_OF(sizes); n++)
    for (int64_t p = 0; p < count; p++) {
      const elements x = held(a, dim, sizes[n], p), y = held(b, dim, sizes[n], p);
      if (x.count != y.count || memcmp(x.items, y.items, (size_t)x.count * sizeof *x.items) != 0)
        return false;
    }
  return true;
}

// Whether a unreduced axis tells two positions apart.
static bool same_partial(const tsr_sharding *sharding, int64_t p, int64_t q) {
  int count = 0;
  const tsr_sub_axis *parts = tsr_sharding_unreduced(sharding, &count);
  const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
  int64_t x[TSR_MAX_AXES], y[TSR_MAX_AXES];
  tsr_mesh_coords(mesh, p, x);
  tsr_mesh_coords(mesh, q, y);
  for (int i = 0; i < count; i++) {
    const int64_t minor =
        tsr_mesh_axis_at(mesh, parts[i].axis)->size / (parts[i].pre * parts[i].size);
    if (x[parts[i].axis] / minor % parts[i].size != y[parts[i].axis] / minor % parts[i].size)
      return false;
  }
  return true;
}

static bool partials_agree(const tsr_sharding *a, const tsr_sharding *b) {
  const int64_t count = tsr_mesh_device_count(tsr_sharding_mesh(a));
  for (int64_t p = 0; p < count; p++)
    for (int64_t q = 0; q < p; q++)
      if (same_partial(a, p, q) != same_partial(b, p, q)) return false;
  return true;
}

static bool agrees(const tsr_sharding *a, const tsr_sharding *b, int rank) {
  for (int d = 0; d < rank; d++)
    if (!dim_agrees(a, b, d)) return false;
  return partials_agree(a, b);
}

static void equivalence_agrees_with_every_device(void **state) {
  (void)state;
  static const int64_t counts[] = {2, 4, 4, 6, 8, 8, 12};
  test_random random = {21};
  int same_count = 0;
  for (int i = 0; i < 10000; i++) {
    const int64_t count = counts[test_random_range(&random, 0, COUNT_OF(counts) - 1)];
    tsr_mesh *x = test_random_mesh(&random, count), *y = test_random_mesh(&random, count);
    tsr_sharding *a = test_random_sharding(&random, x, 1), *b = test_random_sharding(&random, y, 1);
    bool same = false;
    assert_ok(tsr_sharding_equivalent(a, b, 1, &same));
    assert_true(same == agrees(a, b, 1));
    same_count += same;
    tsr_sharding_release(a);
    tsr_sharding_release(b);
    tsr_mesh_release(x);
    tsr_mesh_release(y);
  }
  assert_in_range(same_count, 500, 9500);  // both answers must have been tried
}

static void normal_form_keeps_the_map(void **state) {
  (void)state;
  test_random random = {22};
  int changed = 0;
  for (int i = 0; i < 10000; i++) {
    tsr_mesh *mesh = test_random_mesh(&random, 12 * test_random_range(&random, 1, 2));
    tsr_sharding *sharding = test_random_sharding(&random, mesh, 2), *normal = NULL, *again = NULL;
    bool same = false;
    assert_ok(tsr_sharding_normalise(sharding, &normal));
    assert_ok(tsr_sharding_normalise(normal, &again));
    assert_true(tsr_sharding_equal(normal, again));
    assert_ok(tsr_sharding_equivalent(sharding, normal, 2, &same));
    assert_true(same);
    if (i % 10 == 0) assert_true(agrees(sharding, normal, 2));
    changed += !tsr_sharding_equal(sharding, normal);
    tsr_sharding_release(sharding);
    tsr_sharding_release(normal);
    tsr_sharding_release(again);
    tsr_mesh_release(mesh);
  }
  assert_in_range(changed, 1000, 9900);
}

static tsr_status normalise_once(void *context) {
  tsr_sharding *normal = NULL;
  TSR_TRY(tsr_sharding_normalise(context, &normal));
  tsr_sharding_release(normal);
  return NULL;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  tsr_sharding *sharding = bind("x=2,y=4,z=3", "x+y:(1)2/cyclic(2), z | unreduced=y:(2)2");
  test_allocation_sweep(normalise_once, sharding);
  tsr_sharding_release(sharding);
}

SUITE(equivalent, TEST(normal_forms), TEST(equivalence), TEST(a_rank_below_the_spec_is_refused),
      TEST(abstract_meshes_compare_by_position), TEST(equivalence_agrees_with_every_device),
      TEST(normal_form_keeps_the_map), TEST(running_out_of_memory_is_reported))
