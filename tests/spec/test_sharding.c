// Binding: the checks in JAX's order, and which shard a position holds.
#include "base/status_internal.h"
#include "spec/sharding_internal.h"
#include "support/test.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/spec.h"

static tsr_status bind(const char *mesh_text, const char *spec_text, bool strict,
                       tsr_sharding **out_sharding) {
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  TSR_TRY(tsr_mesh_parse(mesh_text, NULL, &mesh));
  tsr_status status = tsr_spec_parse(spec_text, TSR_FORM_ANY, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, strict, out_sharding);
  tsr_mesh_release(mesh);
  tsr_spec_release(spec);
  return status;
}

static void a_sharding_tells_its_parts(void **state) {
  (void)state;
  tsr_sharding *sharding = NULL;
  assert_ok(bind("a=2,b=3,c=4,d=5", "c+a, ?@1, b/cyclic(2) | replicated=d:(1)5", false, &sharding));
  assert_int_equal(tsr_sharding_dim_count(sharding), 3);
  const tsr_sharding_dim *dim = tsr_sharding_dim_at(sharding, 0);
  assert_int_equal(dim->stage_count, 1);
  assert_int_equal(dim->shards, 8);
  assert_int_equal(dim->stages[0].axes[0].axis, 2);
  assert_int_equal(dim->stages[0].axes[0].size, 4);
  assert_int_equal(dim->stages[0].axes[0].pre, 1);
  assert_int_equal(dim->stages[0].axes[1].axis, 0);
  dim = tsr_sharding_dim_at(sharding, 1);
  assert_true(dim->open);
  assert_true(dim->has_priority);
  assert_int_equal(dim->priority, 1);
  assert_int_equal(dim->shards, 1);
  dim = tsr_sharding_dim_at(sharding, 2);
  assert_int_equal(dim->stages[0].kind, TSR_STAGE_CYCLIC);
  assert_int_equal(dim->stages[0].cut->block, 2);
  dim = tsr_sharding_dim_at(sharding, 3);  // past the end
  assert_int_equal(dim->stage_count, 0);
  assert_int_equal(dim->shards, 1);
  assert_false(dim->has_priority);
  int count = -1;
  assert_int_equal(tsr_sharding_replicated(sharding, &count)[0].axis, 3);
  assert_int_equal(count, 1);
  tsr_sharding_unreduced(sharding, &count);
  assert_int_equal(count, 0);
  tsr_sharding_reduced(sharding, &count);
  assert_int_equal(count, 0);
  assert_int_equal(tsr_sharding_replicated_axes(sharding), 8);
  assert_int_equal(tsr_mesh_axis_count(tsr_sharding_mesh(sharding)), 4);
  assert_int_equal(tsr_spec_desc_of(tsr_sharding_spec(sharding))->dim_count, 3);
  tsr_sharding *again = tsr_sharding_retain(sharding);
  tsr_sharding_release(sharding);
  assert_true(tsr_sharding_equal(again, again));
  tsr_sharding_release(again);
  tsr_sharding_release(NULL);
}

static void shards_are_numbered_by_mixed_radix(void **state) {
  (void)state;
  tsr_sharding *sharding = NULL;
  assert_ok(bind("a=2,b=3,c=4", "c:(2)2+a, b;c:(1)2", false, &sharding));
  for (int64_t p = 0; p < 24; p++) {
    const int64_t a = p / 12, b = p / 4 % 3, c = p % 4;
    assert_int_equal(tsr_sharding_stage_index(sharding, 0, 0, p), c % 2 * 2 + a);
    assert_int_equal(tsr_sharding_stage_index(sharding, 1, 0, p), b);
    assert_int_equal(tsr_sharding_stage_index(sharding, 1, 1, p), c / 2);
  }
  tsr_sharding_release(sharding);
}

static const struct {
  const char *mesh, *spec;
  bool strict;
  const char *slug, *message;
} cases[] = {
    {"x=2,y=4", "x, y", true, "", ""},
    {"x=2,y=4", "x, x", false, "duplicate_mesh_axis",
     "axis \"x\" is used twice: in dimension 0 and in 1"},
    {"x=2,y=4", "x+y+x", false, "duplicate_mesh_axis", "axis \"x\" is used twice in dimension 0"},
    {"x=2", "z, z", false, "axis_used_twice", "axis \"z\" is used twice: in dimension 0 and in 1"},
    {"data=4,model=2", "_, modle", false, "unknown_mesh_axis",
     "dimension 1: axis \"modle\" is not in mesh {data=4, model=2}; did you mean \"model\"?"},
    {"data=4", "data+_", false, "unknown_mesh_axis",
     "dimension 0: None inside a group is not an axis of the mesh"},
    {"x=2,y=4", "x:(1)2, y:(4)2", false, "bad_sub_axis",
     "dimension 1: sub-axis \"y\":(4)2 does not fit: 4 * 2 does not divide the axis's size 4"},
    {"x=8", "x:(1)2, x:(2)4", false, "", ""},
    {"x=8", "x:(1)4, x:(2)4", false, "duplicate_mesh_axis",
     "axis \"x\" is used twice: in dimension 0 and in 1"},
    {"x=8", "x:(1)2, x", false, "duplicate_mesh_axis",
     "axis \"x\" is used twice: in dimension 0 and in 1"},
    {"x=6", "x:(1)2, x:(3)2", false, "bad_sub_axis",
     "sub-axes (1)2 and (3)2 of axis \"x\" of size 6 do not fit together: neither starts at a "
     "multiple of the other's end"},
    {"x=6", "x:(3)2 | unreduced=x:(1)2", false, "bad_sub_axis", NULL},
    {"x=6", "x:(3)1, x:(2)3", false, "", ""},  // a part of one member overlaps nothing
    {"x=2:explicit", "?", false, "unconstrained_needs_auto_axis",
     "dimension 0 is left open, but no axis of the mesh is auto"},
    {"x=2:explicit", "_, x+?", false, "unconstrained_needs_auto_axis", NULL},
    {"x=2:explicit,y=2", "?", false, "", ""},
    {"x=2", "_ | unreduced=x", false, "", ""},
    {"x=2", "_ | unreduced=x", true, "unreduced_needs_explicit_axis",
     "axis \"x\" is unreduced, so it must be explicit; it is auto"},
    {"x=2,y=2:explicit", "_ | unreduced=x", false, "unreduced_needs_explicit_axis", NULL},
    {"x=2:manual", "_ | reduced=x", false, "reduced_needs_explicit_axis",
     "axis \"x\" is reduced, so it must be explicit; it is manual"},
    {"x=2,y=2:explicit", "_ | unreduced=y", true, "", ""},
    {"x=2,y=2:explicit", "x | reduced=y", true, "", ""},
    {"x=2", "_ | unreduced=z", false, "unknown_mesh_axis",
     "unreduced: axis \"z\" is not in mesh {x=2}"},
    {"x=2", "_ | reduced=where", false, "unknown_mesh_axis", NULL},
    {"x=2", "_ | replicated=where", false, "unknown_mesh_axis", NULL},
    {"x=3", "x/sizes(3,3,2)", false, "", ""},
    {"x=2", "x/sizes(3,3,2)", false, "bad_cut",
     "dimension 0: 3 sizes for 2 shards, wanted one for each"},
    {"x=8", "x/parts(q:64/8, k:16/8*4)", false, "", ""},
    {"x=8", "x/parts(q:64/8, k:16/8*3)", false, "bad_cut",
     "dimension 0: part \"k\" has 3 copies, which do not divide 8 shards"},
};

static void checks_come_in_order(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_sharding *sharding = NULL;
    tsr_status status = bind(cases[i].mesh, cases[i].spec, cases[i].strict, &sharding);
    if (cases[i].message) assert_message(status, cases[i].message);
    assert_true(*cases[i].slug ? tsr_cause_matches(tsr_status_cause(status), cases[i].slug)
                               : sharding != NULL);
    tsr_status_free(status);
    tsr_sharding_release(sharding);
  }
}

static void replication_is_known(void **state) {
  (void)state;
  static const struct {
    const char *mesh, *spec;
    bool full;
    uint32_t axes;
  } rows[] = {
      {"x=2,y=4", "()", true, 3},
      {"x=2,y=4", "x", false, 2},
      {"x=1,y=4", "x", true, 2},
      {"x=1,y=1", "x | unreduced=y", true, 0},
      {"x=2,y=1", "_ | unreduced=y", false, 1},
      {"x=2,y=4", "_ | reduced=y", true, 1},
      {"x=2,y=4", "y:(1)2", false, 1},
      {"x=2,y=4", "_ | replicated=x", true, 3},
  };
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    tsr_sharding *sharding = NULL;
    assert_ok(bind(rows[i].mesh, rows[i].spec, false, &sharding));
    assert_true(tsr_sharding_is_fully_replicated(sharding) == rows[i].full);
    assert_int_equal(tsr_sharding_replicated_axes(sharding), rows[i].axes);
    tsr_sharding_release(sharding);
  }
}

static void equality_asks_for_the_same_mesh_and_spec(void **state) {
  (void)state;
  static const char *const meshes[] = {"x=2,y=4", "x=2,y=4,z=1",
                                       "x=2,y=4 devices=[7,6,5,4,3,2,1,0]"};
  static const char *const specs[] = {"x, y", "x, y, _", "x"};
  tsr_sharding *shardings[9] = {NULL};
  for (int i = 0; i < 9; i++) assert_ok(bind(meshes[i / 3], specs[i % 3], false, &shardings[i]));
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 9; j++)
      assert_true(tsr_sharding_equal(shardings[i], shardings[j]) == (i == j));
  tsr_sharding *again = NULL;
  assert_ok(bind(meshes[2], specs[0], false, &again));
  assert_true(tsr_sharding_equal(again, shardings[6]));
  tsr_sharding_release(again);
  for (int i = 0; i < 9; i++) tsr_sharding_release(shardings[i]);
}

static tsr_status bind_once(void *context) {
  (void)context;
  tsr_sharding *sharding = NULL;
  TSR_TRY(bind("x=2,y=4", "x+y:(1)2, _ | replicated=y:(2)2", false, &sharding));
  tsr_sharding_release(sharding);
  return NULL;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  test_allocation_sweep(bind_once, NULL);
}

SUITE(sharding, TEST(a_sharding_tells_its_parts), TEST(shards_are_numbered_by_mixed_radix),
      TEST(checks_come_in_order), TEST(replication_is_known),
      TEST(equality_asks_for_the_same_mesh_and_spec), TEST(running_out_of_memory_is_reported))
