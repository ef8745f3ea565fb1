#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "notation_random.h"
#include "tiling/tiling_internal.h"
#include "spec/sharding_internal.h"
#include "support/test.h"
#include "tessera/compat/hlo.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/reduction.h"
#include "tessera/spec.h"
#include "tessera/text.h"

static tsr_mesh *parse_mesh(const char *text) {
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_parse(text, NULL, &mesh));
  return mesh;
}

static tsr_sharding *bind(const tsr_mesh *mesh, const char *text) {
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  assert_ok(tsr_spec_parse(text, TSR_FORM_ANY, &spec));
  assert_ok(tsr_sharding_bind(mesh, spec, false, &sharding));
  tsr_spec_release(spec);
  return sharding;
}

static char *print_tiling(const tsr_tiling *tiling) {
  tsr_text text = TSR_TEXT_EMPTY;
  char *string = NULL;
  tsr_tiling_print(tiling, &text);
  assert_ok(tsr_text_take(&text, &string));
  return string;
}

static char *print_spec(const tsr_spec *spec, tsr_spec_form form) {
  tsr_text text = TSR_TEXT_EMPTY;
  char *string = NULL;
  assert_ok(tsr_spec_print(spec, form, &text));
  assert_ok(tsr_text_take(&text, &string));
  return string;
}

// ---- from shardings: JAX's answers ----

static const struct {
  const char *mesh, *spec;
  int rank;
  const char *tiling;
} given[] = {
    {"x=2,y=4", "P('x', 'y')", 2, "{devices=[2,4]<=[8]}"},
    {"x=2,y=4", "P('y', 'x')", 2, "{devices=[4,2]<=[2,4]T(1,0)}"},
    {"x=2,y=4", "P(('y', 'x'))", 3, "{devices=[8,1,1]<=[2,4]T(1,0)}"},
    {"x=2,y=4", "P(None, 'y')", 2, "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"},
    {"x=2,y=4", "P()", 2, "{replicated}"},
    {"x=1,y=1", "P('x', 'y')", 2, "{replicated}"},
    {"x=1,y=4", "P('x', 'y')", 2, "{devices=[1,4]<=[4]}"},
    {"a=2,b=2,c=2", "P('c')", 1, "{devices=[2,4]<=[4,2]T(1,0) last_tile_dim_replicate}"},
    {"a=2,b=2,c=2", "P('b')", 1, "{devices=[2,4]<=[2,2,2]T(1,0,2) last_tile_dim_replicate}"},
    {"a=2:explicit,b=2:explicit", "P('a', unreduced={'b'})", 1,
     "{devices=[2,2]<=[4] last_tile_dims={unreduced}}"},
    {"a=2:explicit,b=2:explicit", "P(unreduced={'a', 'b'})", 1, "{unreduced}"},
    {"a=2:explicit,b=2:explicit,c=2:explicit", "P('b', unreduced={'c'})", 1,
     "{devices=[2,2,2]<=[2,4]T(1,0) last_tile_dims={unreduced, replicated}}"},
    {"a=2:manual,b=2", "P('b')", 1, "{devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}"},
    {"a=2:manual,b=2:manual", "P()", 2, "{manual}"},
    {"a=2:manual,b=2,c=2", "P(None, 'c')", 2,
     "{devices=[1,2,2,2]<=[4,2]T(1,0) last_tile_dims={manual, replicated}}"},
    {"a=2:manual,b=2", "P('a')", 1, "{devices=[2,2]<=[4] last_tile_dim_replicate}"},
    {"a=8", "a:(1)2", 1, "{devices=[2,4]<=[8] last_tile_dim_replicate}"},
    {"a=8", "a:(4)2, a:(1)2", 2, "{devices=[2,2,2]<=[4,2]T(1,0) last_tile_dim_replicate}"},
    {"a=2,b=4", "#sdy.sharding<@mesh, [{?}, {\"b\", ?}p1], replicated={\"a\"}>", 2,
     "{devices=[1,4,2]<=[2,4]T(1,0) last_tile_dim_replicate}"},
    {"a=1,b=4", "a;b", 1, "{devices=[4]<=[4]}"},
    {"a=1,b=4", "a/cyclic(3)", 1, "{replicated}"},
    {"a=100,b=1000", "b, a", 2, "{devices=[1000,100]<=[100,1000]T(1,0)}"},
};

static void shardings_give_the_tilings_of_named_sharding(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(given); i++) {
    tsr_mesh *mesh = parse_mesh(given[i].mesh);
    tsr_sharding *sharding = bind(mesh, given[i].spec);
    tsr_tiling *tiling = NULL;
    assert_ok(tsr_tiling_from_sharding(sharding, given[i].rank, &tiling));
    char *text = print_tiling(tiling);
    assert_string_equal(text, given[i].tiling);
    free(text);
    tsr_tiling_release(tiling);
    tsr_sharding_release(sharding);
    tsr_mesh_release(mesh);
  }
}

static const struct {
  const char *mesh, *spec;
  int rank;
  tsr_cause cause;
  const char *message;
} not_given[] = {
    {"a=2,b=4", "a;b", 1, TSR_CAUSE_NOT_EXPRESSIBLE,
     "dimension 0 is cut in 2 and again in 4, but XLA cuts once"},
    {"a=2", "_, a/cyclic(3)", 2, TSR_CAUSE_NOT_EXPRESSIBLE,
     "dimension 1 is not cut evenly; XLA has even cuts only"},
    {"a=2", "a/sizes(3,4)", 1, TSR_CAUSE_NOT_EXPRESSIBLE,
     "dimension 0 is not cut evenly; XLA has even cuts only"},
    {"a=2", "P(None, 'a')", 1, TSR_CAUSE_RANK_TOO_SMALL, "the spec has 2 dimensions, the tensor 1"},
    {"a=2", "P('a')", 33, TSR_CAUSE_TOO_LARGE, "rank 33, wanted at most 32"},
};

static void shardings_without_a_tiling_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(not_given); i++) {
    tsr_mesh *mesh = parse_mesh(not_given[i].mesh);
    tsr_sharding *sharding = bind(mesh, not_given[i].spec);
    tsr_tiling *tiling = NULL;
    test_assert_fails(tsr_tiling_from_sharding(sharding, not_given[i].rank, &tiling),
                      not_given[i].cause, not_given[i].message, __FILE__, __LINE__);
    tsr_sharding_release(sharding);
    tsr_mesh_release(mesh);
  }
}

// ---- to specs ----

static const struct {
  const char *tiling, *mesh, *spec;
} found[] = {
    {"{replicated}", "x=2,y=4", "P()"},
    {"{maximal device=0}", "x=1", "P()"},
    {"{devices=[1,1]<=[1]}", "x=1", "P(None, None)"},
    {"{manual}", "x=2:manual,y=4:manual,z=1", "P()"},
    {"{unreduced}", "x=2,y=4", "P(unreduced={'x', 'y'})"},
    {"{devices=[2,4]<=[8]}", "x=2,y=4", "P('x', 'y')"},
    {"{devices=[4,2]<=[2,4]T(1,0)}", "x=2,y=4", "P('y', 'x')"},
    {"{devices=[8,1]<=[8]}", "x=2,y=4", "P(('x', 'y'), None)"},
    {"{devices=[8,1]<=[2,4]T(1,0)}", "x=2,z=1,y=4", "P(('y', 'x'), None)"},
    {"{devices=[2,2]0,2,1,3}", "x=2,y=2", "P('y', 'x')"},
    {"{devices=[2,4]<=[8] last_tile_dim_replicate}", "x=2,y=4", "P('x',)"},
    {"{devices=[2,2]2,0,1,3 last_tile_dim_replicate}", "x=2,y=2", "P('y',)"},
    {"{devices=[2,2,2]<=[2,4]T(1,0) last_tile_dims={unreduced, replicated}}", "a=2,b=2,c=2",
     "P('b', unreduced={'c'})"},
    {"{devices=[2,2]<=[2,2]T(1,0) last_tile_dims={manual}}", "a=2:manual,b=2", "P('b',)"},
    // the order inside a manual or unreduced subgroup means nothing
    {"{devices=[2,4]<=[2,2,2]T(2,1,0) last_tile_dims={unreduced}}", "a=2,b=2,c=2",
     "P('c', unreduced={'a', 'b'})"},
};

static void tilings_become_specs_on_a_mesh(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(found); i++) {
    tsr_mesh *mesh = parse_mesh(found[i].mesh);
    tsr_tiling *tiling = NULL;
    tsr_spec *spec = NULL;
    assert_ok(tsr_tiling_parse(found[i].tiling, &tiling));
    assert_ok(tsr_tiling_to_spec(tiling, mesh, &spec));
    char *text = print_spec(spec, TSR_FORM_JAX);
    assert_string_equal(text, found[i].spec);
    free(text);
    tsr_spec_release(spec);
    tsr_tiling_release(tiling);
    tsr_mesh_release(mesh);
  }
}

static void tilings_across_axes_become_sub_axes(void **state) {
  (void)state;
  tsr_mesh *mesh = parse_mesh("x=4,y=4");
  tsr_tiling *tiling = NULL;
  tsr_spec *spec = NULL;
  assert_ok(tsr_tiling_parse("{devices=[2,8]<=[16]}", &tiling));
  assert_ok(tsr_tiling_to_spec(tiling, mesh, &spec));
  char *text = print_spec(spec, TSR_FORM_SHARDY);
  assert_string_equal(text, "#sdy.sharding<@mesh, [{\"x\":(1)2}, {\"x\":(2)2, \"y\"}]>");
  free(text);
  tsr_spec_release(spec);
  tsr_tiling_release(tiling);
  tsr_mesh_release(mesh);
}

static const struct {
  const char *tiling, *mesh, *message;
} not_found[] = {
    {"{unknown}", "x=2", "the tiling is unknown"},
    {"{{replicated}, {manual}}", "x=2", "a tuple of 2 tilings, expected one tiling"},
    {"{maximal device=1}", "x=2", "everything is on device 1, but the mesh has 2 devices"},
    {"{devices=[2,2]<=[4]}", "x=2", "the tiling has 4 devices, the mesh 2"},
    {"{devices=[2,3]<=[3,2]T(1,0)}", "x=2,y=3",
     "tile dimension 0: 2 devices in steps of 1 are not a sub-axis of mesh {x=2, y=3}"},
    {"{devices=[3,2]<=[2,3]T(1,0)}", "x=3,y=2",
     "tile dimension 0: 3 devices in steps of 1 are not a sub-axis of mesh {x=3, y=2}"},
    {"{devices=[2,3]<=[2,3]T(1,0)}", "x=2,y=3",
     "a tile dimension ends inside a run of devices that it does not divide"},
    {"{devices=[2,2]0,1,3,2}", "x=2,y=2",
     "tile [1, 1] is on device 2, but even steps through the mesh give 4"},
    {"{devices=[2,2]0,3,1,2}", "x=2,y=2",
     "tile [1, 1] is on device 2, but even steps through the mesh give 4"},
    {"{devices=[3]0,2,1}", "x=3",
     "tile [2] is on device 1, but even steps through the mesh give 4"},
    {"{devices=[2,2]3,2,1,0}", "x=2,y=2", "device 3 has the first tile, expected device 0"},
    {"{devices=[2]4,9}", "x=2", "device 4, but the mesh has 2 devices"},
    {"{manual}", "x=2:manual,y=2",
     "the tiling is manual over axis \"y\", which is auto in the mesh"},
    {"{replicated}", "x=2:manual,y=2",
     "the tiling replicates over axis \"x\", which is manual in the mesh"},
};

static void tilings_that_no_axes_give_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(not_found); i++) {
    tsr_mesh *mesh = parse_mesh(not_found[i].mesh);
    tsr_tiling *tiling = NULL;
    tsr_spec *spec = NULL;
    assert_ok(tsr_tiling_parse(not_found[i].tiling, &tiling));
    assert_fails(tsr_tiling_to_spec(tiling, mesh, &spec), NOT_EXPRESSIBLE, not_found[i].message);
    tsr_tiling_release(tiling);
    tsr_mesh_release(mesh);
  }
}

static void reductions_other_than_sums_travel_in_the_metadata(void **state) {
  (void)state;
  tsr_mesh *mesh = parse_mesh("a=2,b=2");
  tsr_axis_ref b = {"b", 1, 0};
  tsr_spec *spec = NULL, *back = NULL;
  tsr_sharding *sharding = NULL;
  tsr_tiling *tiling = NULL;
  assert_ok(tsr_spec_create(&(tsr_spec_desc){.size = sizeof(tsr_spec_desc),
                                             .unreduced = &b,
                                             .unreduced_count = 1,
                                             .reduction = TSR_REDUCE_MAX},
                            &spec));
  assert_ok(tsr_sharding_bind(mesh, spec, false, &sharding));
  assert_ok(tsr_tiling_from_sharding(sharding, 0, &tiling));
  char *text = print_tiling(tiling);
  assert_string_equal(text,
                      "{devices=[2,2]<=[2,2]T(1,0) last_tile_dims={unreduced, replicated} "
                      "metadata={op_type=\"sdy::reduction_op\" op_name=\"MAX\"}}");
  assert_ok(tsr_tiling_to_spec(tiling, mesh, &back));
  assert_true(tsr_spec_equal(spec, back));
  free(text);
  tsr_tiling_release(tiling);
  tsr_sharding_release(sharding);
  tsr_spec_release(back);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
}

// ---- random shardings ----

// The first member of the group whose partial results make one value: the position with its
// unreduced digits at zero.
static int64_t first_of_group(const tsr_sharding *sharding, int64_t position) {
  const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
  int count = 0;
  const tsr_sub_axis *parts = tsr_sharding_unreduced(sharding, &count);
  int64_t coords[TSR_MAX_AXES];
  tsr_mesh_coords(mesh, position, coords);
  for (int i = 0; i < count; i++) {
    const int64_t size = tsr_mesh_axis_at(mesh, parts[i].axis)->size;
    const int64_t below = size / (parts[i].pre * parts[i].size);
    coords[parts[i].axis] -= coords[parts[i].axis] / below % parts[i].size * below;
  }
  return tsr_mesh_position(mesh, coords);
}

static void assert_same_map(const tsr_sharding *a, const tsr_sharding *b, int rank) {
  const int64_t devices = tsr_mesh_device_count(tsr_sharding_mesh(a));
  for (int64_t position = 0; position < devices; position++) {
    assert_int_equal(first_of_group(a, position), first_of_group(b, position));
    for (int dim = 0; dim < rank; dim++) {
      const int64_t shards = tsr_sharding_dim_at(a, dim)->shards;
      assert_int_equal(tsr_sharding_dim_at(b, dim)->shards, shards);
      if (shards > 1)
        assert_int_equal(tsr_sharding_stage_index(a, dim, 0, position),
                         tsr_sharding_stage_index(b, dim, 0, position));
    }
  }
}

// The device a tiling's text gives to each tile, computed as XLA defines it: count, shape,
// transpose, shape.
static void list_by_definition(const int64_t *sizes, const int64_t *order, int count,
                               int64_t *devices, int64_t device_count) {
  for (int64_t n = 0; n < device_count; n++) {
    int64_t index[8], left = n, device = 0;
    for (int i = count; i-- > 0; left /= sizes[order[i]]) index[order[i]] = left % sizes[order[i]];
    for (int i = 0; i < count; i++) device = device * sizes[i] + index[i];
    devices[n] = device;
  }
}

// The same tiling as a list of devices.
static tsr_tiling *as_list(const char *text) {
  int64_t sizes[8], order[8] = {0}, devices = 1;
  int count = 0;
  const char *at = strstr(text, "<=[") + 3;
  for (char *end = NULL; count == 0 || at[-1] == ','; at = end + 1) {
    sizes[count++] = strtoll(at, &end, 10);
    devices *= sizes[count - 1];
  }
  if (*at == 'T') {
    at += 2;
    for (int i = 0; i < count; i++) {
      char *end = NULL;
      order[i] = strtoll(at, &end, 10);
      at = end + 1;
    }
  }
  int64_t list[256];
  list_by_definition(sizes, order, count, list, devices);
  tsr_text listed = TSR_TEXT_EMPTY;
  tsr_text_add_bytes(&listed, text, (size_t)(strstr(text, "<=[") - text));
  for (int64_t n = 0; n < devices; n++)
    tsr_text_addf(&listed, "%s%lld", n ? "," : "", (long long)list[n]);
  tsr_text_add(&listed, at);
  tsr_tiling *tiling = NULL;
  assert_ok(tsr_tiling_parse(tsr_text_string(&listed), &tiling));
  tsr_text_deinit(&listed);
  return tiling;
}

static void check_way_back(const tsr_tiling *tiling, const tsr_sharding *sharding, int rank) {
  const tsr_mesh *mesh = tsr_sharding_mesh(sharding);
  tsr_spec *spec = NULL;
  tsr_sharding *back = NULL;
  assert_ok(tsr_tiling_to_spec(tiling, mesh, &spec));
  assert_ok(tsr_sharding_bind(mesh, spec, false, &back));
  assert_same_map(sharding, back, rank);
  tsr_sharding_release(back);
  tsr_spec_release(spec);
}

static void random_shardings_survive_the_way_there_and_back(void **state) {
  (void)state;
  test_random random = {20240511};
  for (int round = 0; round < 10000; round++) {
    const int rank = (int)test_random_range(&random, 0, 4);
    tsr_mesh *mesh = random_mesh(&random, 200);
    tsr_sharding *sharding = random_sharding(&random, mesh, rank, true, false, true);
    tsr_tiling *tiling = NULL, *read = NULL;
    assert_ok(tsr_tiling_from_sharding(sharding, rank, &tiling));
    char *text = print_tiling(tiling);
    assert_ok(tsr_tiling_parse(text, &read));
    assert_true(tsr_tiling_equal(tiling, read));
    check_way_back(read, sharding, rank);
    if (strstr(text, "<=[") && tsr_mesh_device_count(mesh) > 1) {
      tsr_tiling *list = as_list(text);
      assert_true(tsr_tiling_equal(tiling, list));
      check_way_back(list, sharding, rank);
      tsr_tiling_release(list);
    }
    free(text);
    tsr_tiling_release(read);
    tsr_tiling_release(tiling);
    tsr_sharding_release(sharding);
    tsr_mesh_release(mesh);
  }
}

// Random lists are hardly ever made of axes: what is accepted must be right all the same.
static void a_list_is_translated_only_if_the_map_is_equal(void **state) {
  (void)state;
  test_random random = {7};
  tsr_mesh *mesh = parse_mesh("x=2,y=2");
  int accepted = 0;
  for (int round = 0; round < 500; round++) {
    int list[4] = {0, 1, 2, 3};
    for (int i = 3; i > 0; i--) {
      const int j = (int)test_random_range(&random, 0, i), swapped = list[i];
      list[i] = list[j];
      list[j] = swapped;
    }
    char text[64];
    snprintf(text, sizeof text, "{devices=[2,2]%d,%d,%d,%d}", list[0], list[1], list[2], list[3]);
    tsr_tiling *tiling = NULL;
    tsr_spec *spec = NULL;
    assert_ok(tsr_tiling_parse(text, &tiling));
    tsr_status status = tsr_tiling_to_spec(tiling, mesh, &spec);
    if (!status) {
      tsr_sharding *sharding = NULL;
      assert_ok(tsr_sharding_bind(mesh, spec, false, &sharding));
      for (int n = 0; n < 4; n++) {
        assert_int_equal(tsr_sharding_stage_index(sharding, 0, 0, list[n]), n / 2);
        assert_int_equal(tsr_sharding_stage_index(sharding, 1, 0, list[n]), n % 2);
      }
      tsr_sharding_release(sharding);
      accepted++;
    } else {
      assert_int_equal(tsr_status_cause(status), TSR_CAUSE_NOT_EXPRESSIBLE);
      assert_true(list[0] != 0 || list[3] != 3);
    }
    tsr_status_free(status);
    tsr_spec_release(spec);
    tsr_tiling_release(tiling);
  }
  assert_true(accepted > 0);
  tsr_mesh_release(mesh);
}

// ---- memory ----

typedef struct sweep {
  const tsr_mesh *mesh;
  const tsr_sharding *sharding;
  const tsr_tiling *tiling;
} sweep;

static tsr_status translate_back(void *context) {
  const sweep *s = context;
  tsr_spec *spec = NULL;
  tsr_status status = tsr_tiling_to_spec(s->tiling, s->mesh, &spec);
  tsr_spec_release(spec);
  return status;
}

static tsr_status translate(void *context) {
  const sweep *s = context;
  tsr_tiling *tiling = NULL;
  tsr_status status = tsr_tiling_from_sharding(s->sharding, 2, &tiling);
  tsr_tiling_release(tiling);
  return status;
}

static void translations_survive_every_failed_allocation(void **state) {
  (void)state;
  tsr_mesh *mesh = parse_mesh("x=2,y=4");
  tsr_tiling *tiling = NULL;
  assert_ok(
      tsr_tiling_parse("{devices=[2,2,2]0,4,1,5,2,6,3,7 last_tile_dims={unreduced}}", &tiling));
  sweep s = {mesh, bind(mesh, "P(None, 'y', unreduced={'x'})"), tiling};
  test_allocation_sweep(translate, &s);
  test_allocation_sweep(translate_back, &s);
  tsr_sharding_release(s.sharding);
  tsr_tiling_release(tiling);
  tsr_mesh_release(mesh);
}

SUITE(tiling_spec, TEST(shardings_give_the_tilings_of_named_sharding),
      TEST(shardings_without_a_tiling_are_refused), TEST(tilings_become_specs_on_a_mesh),
      TEST(tilings_across_axes_become_sub_axes), TEST(tilings_that_no_axes_give_are_refused),
      TEST(reductions_other_than_sums_travel_in_the_metadata),
      TEST(random_shardings_survive_the_way_there_and_back),
      TEST(a_list_is_translated_only_if_the_map_is_equal),
      TEST(translations_survive_every_failed_allocation))
