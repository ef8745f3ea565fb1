// What a manager is asked: modes told by a dimension, lists that know their mode, what arrays are
// cut by, and the axes in force on a thread.
#include <string.h>

#include "base/scope.h"
#include "mesh/mesh_internal.h"
#include "rules/axes_internal.h"
#include "rules/entries.h"
#include "spec/spec_internal.h"
#include "support/test.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/scope.h"
#include "tessera/engine/sharding.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"

static const char decoding[] = "{'decode_batch_axis':'db','decode_head_axis':'dh'}";

static const tsr_mode_source train = {TSR_MODE_FIXED, TSR_MODE_TRAIN, 0};

static tsr_mode_source by_dim(int64_t dim) {
  return (tsr_mode_source){TSR_MODE_BY_DIM, TSR_MODE_TRAIN, dim};
}

static tsr_status ask(const tsr_axes_request *request, tsr_spec **out_spec) {
  tsr_axes *axes = axes_of(decoding);
  tsr_status status = tsr_axes_resolve_request(axes, NULL, request, out_spec);
  tsr_axes_release(axes);
  return status;
}

static void a_dimension_of_one_means_decoding(void **state) {
  (void)state;
  const tsr_logical_entry entries[] = {TSR_LOGICAL_NAME("__BATCH__"), TSR_LOGICAL_NAME("__HEAD__")};
  const tsr_logical_names names = {2, entries, NULL};
  static const struct {
    int64_t dim;
    tsr_shape shape;
    const char *wanted;
  } cases[] = {
      {1, {2, {4, 1}}, "db, dh"},  {1, {2, {1, 4}}, "fsdp+dp, tp"}, {-1, {2, {4, 1}}, "db, dh"},
      {-2, {2, {1, 4}}, "db, dh"}, {0, {1, {0}}, "fsdp+dp, tp"},    {0, {1, {1}}, "db, dh"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_spec *spec = NULL;
    assert_ok(ask(&(tsr_axes_request){.size = sizeof(tsr_axes_request),
                                      .names = &names,
                                      .mode = by_dim(cases[i].dim),
                                      .shape = &cases[i].shape},
                  &spec));
    assert_spec(spec, cases[i].wanted);
  }
  static const int64_t outside[] = {2, -3, INT64_MIN, INT64_MAX};
  for (size_t i = 0; i < COUNT_OF(outside); i++) {
    tsr_spec *spec = NULL;
    assert_fails_with(ask(&(tsr_axes_request){.size = sizeof(tsr_axes_request),
                                              .names = &names,
                                              .mode = by_dim(outside[i]),
                                              .shape = TSR_SHAPE(4, 1)},
                          &spec),
                      INDEX_OUT_OF_RANGE, "of a tensor of rank 2");
  }
}

static void both_or_a_list_that_knows(void **state) {
  (void)state;
  const tsr_logical_entry head = TSR_LOGICAL_NAME("__HEAD__"),
                          batch = TSR_LOGICAL_NAME("__BATCH__");
  const tsr_logical_names names = {1, &head, NULL};
  const tsr_dynamic_axes insert = {NULL, 1, &batch, {TSR_MODE_FIXED, TSR_MODE_INSERT, 0}};
  const tsr_dynamic_axes modeless = {NULL, 1, &batch, {TSR_MODE_NOT_GIVEN, TSR_MODE_TRAIN, 0}};
  const size_t size = sizeof(tsr_axes_request);
  tsr_spec *spec = NULL;
  // Names and mode together win; one of them alone does not count.
  assert_ok(ask(&(tsr_axes_request){size, &names, train, &insert, NULL}, &spec));
  assert_spec(spec, "tp");
  assert_ok(ask(&(tsr_axes_request){.size = size, .names = &names, .dynamic = &insert}, &spec));
  assert_spec(spec, "db");
  assert_ok(ask(&(tsr_axes_request){.size = size, .mode = train, .dynamic = &insert}, &spec));
  assert_spec(spec, "db");
  assert_fails(ask(&(tsr_axes_request){.size = size}, &spec), AXES_OR_MODE_MISSING,
               "axes and mode are missing, wanted both or dynamic axes");
  assert_fails(ask(&(tsr_axes_request){.size = size, .names = &names}, &spec), AXES_OR_MODE_MISSING,
               "the mode is missing, wanted both or dynamic axes");
  assert_fails(ask(&(tsr_axes_request){.size = size, .mode = train}, &spec), AXES_OR_MODE_MISSING,
               "the axes are missing, wanted both or dynamic axes");
  assert_fails_with(ask(&(tsr_axes_request){.size = size, .dynamic = &modeless}, &spec),
                    AXES_OR_MODE_MISSING, "wanted both");
  assert_fails(ask(&(tsr_axes_request){.size = size, .names = &names, .mode = by_dim(0)}, &spec),
               SHAPE_MISSING_FOR_DYNAMIC_MODE,
               "the mode depends on dimension 0, but no shape is given");
  assert_fails_with(ask(&(tsr_axes_request){.names = &names, .mode = train}, &spec), BAD_ARGUMENT,
                    "tsr_axes_request has size 0");
}

static void known_lists_serve(void **state) {
  (void)state;
  tsr_spec *spec = NULL;
  int count = 0;
  for (const tsr_dynamic_axes *at; (at = tsr_dynamic_axes_at(count)); count++) {
    assert_ptr_equal(tsr_dynamic_axes_find(at->name), at);
    assert_ok(ask(
        &(tsr_axes_request){
            .size = sizeof(tsr_axes_request), .dynamic = at, .shape = TSR_SHAPE(4, 1, 8, 8)},
        &spec));
    assert_int_equal(tsr_spec_desc_of(spec)->dim_count, at->count);
    tsr_spec_release(spec);
  }
  assert_int_equal(count, 17);
  assert_null(tsr_dynamic_axes_at(-1));
  assert_null(tsr_dynamic_axes_find("NoSuch"));
  assert_ok(ask(&(tsr_axes_request){.size = sizeof(tsr_axes_request),
                                    .dynamic = tsr_dynamic_axes_find("UnifiedExpertRowWise")},
                &spec));
  assert_spec(spec, "fsdp+sp+ep, tp, _");
}

// ---- what arrays are cut by ----

// The spec of an array, as PartitionManager.shard corrects it.
static tsr_status shard_axes(const tsr_axes *axes, const tsr_axes_request *request,
                             const tsr_mesh *mesh, bool auto_correct, tsr_spec **out_spec,
                             tsr_spec **out_wanted, tsr_changes *out_changes) {
  tsr_spec *wanted = NULL;
  TSR_TRY(tsr_axes_resolve_request(axes, NULL, request, &wanted));
  tsr_status status = !mesh && auto_correct ? tsr_mesh_require(&mesh) : NULL;
  if (!status)
    status = tsr_spec_constrain(wanted, mesh, request->shape, NULL, out_spec, out_changes);
  if (!status && out_wanted)
    *out_wanted = wanted;
  else
    tsr_spec_release(wanted);
  return status;
}

static void arrays_are_cut_as_far_as_they_allow(void **state) {
  (void)state;
  static const struct {
    const char *names, *mesh;
    tsr_shape shape;
    bool auto_correct;
    const char *wanted;  // the spec, "none" for left alone, or a message
  } cases[] = {
      {"['__BATCH__','__HEAD__']", "dp=2,fsdp=2,tp=2", {2, {8, 4}}, true, "fsdp+dp, tp"},
      {"['__BATCH__','__HEAD__']", "dp=2,fsdp=2,tp=2", {2, {6, 4}}, true, "_, tp"},
      {"['__BATCH__','__HEAD__']", "dp=2,fsdp=2,tp=2", {2, {6, 4}}, false, "_, tp"},
      // Nothing left means replicated, with and without correction.
      {"['__BATCH__','__HEAD__']", "dp=2,fsdp=2,tp=2", {2, {5, 5}}, true, "()"},
      {"['__BATCH__','__HEAD__']", "dp=2,fsdp=2,tp=2", {2, {5, 5}}, false, "()"},
      {"[]", "dp=2", {1, {4}}, true, "none"},
      {"['__HEAD__']", NULL, {1, {4}}, false, "none"},
      {"['__HEAD__']", NULL, {1, {4}}, true, "no mesh is active; enter one with tsr_mesh_enter"},
      {"['__HEAD__','__EMBED__']",
       "tp=2",
       {2, {4, 4}},
       true,
       "axis \"tp\" is used twice: in dimension 0 and in 1"},
      {"['__HEDA__']",
       NULL,
       {1, {4}},
       true,
       "dimension 0: there is no semantic axis \"__HEDA__\"; did you mean \"__HEAD__\"?"},
  };
  tsr_axes *axes = axes_of("{}");
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_logical_names names = names_of(cases[i].names);
    tsr_mesh *mesh = NULL;
    tsr_spec *spec = NULL;
    const tsr_axes_request request = {sizeof request, &names, train, NULL, &cases[i].shape};
    if (cases[i].mesh) assert_ok(tsr_mesh_parse(cases[i].mesh, NULL, &mesh));
    tsr_status status = shard_axes(axes, &request, mesh, cases[i].auto_correct, &spec, NULL, NULL);
    if (status)
      assert_message(status, cases[i].wanted);
    else
      assert_spec(spec, cases[i].wanted);
    tsr_status_free(status);
    tsr_mesh_release(mesh);
    tsr_logical_names_deinit(&names);
  }
  tsr_axes_release(axes);
}

static void changes_come_with_the_spec_that_was_wanted(void **state) {
  (void)state;
  tsr_axes *axes = axes_of("{}");
  tsr_logical_names names = names_of("['__BATCH__','__HEAD__']");
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL, *wanted = NULL;
  tsr_changes changes = {0};
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_scope scope;
  const tsr_axes_request request = {sizeof request, &names, train, NULL, TSR_SHAPE(6, 4)};
  assert_ok(tsr_mesh_parse("dp=2,fsdp=2", NULL, &mesh));
  assert_ok(tsr_mesh_enter(mesh, &scope));
  assert_ok(shard_axes(axes, &request, NULL, true, &spec, &wanted, &changes));
  assert_spec(spec, "()");
  tsr_changes_print(&changes, &text);
  assert_non_null(strstr(tsr_text_string(&text), "\"tp\" is not in the mesh"));
  tsr_changes_deinit(&changes);
  assert_spec(wanted, "fsdp+dp, tp");
  tsr_scope_leave(scope);
  tsr_text_deinit(&text);
  tsr_mesh_release(mesh);
  tsr_logical_names_deinit(&names);
  tsr_axes_release(axes);
}

// ---- scopes ----

static void the_innermost_axes_serve(void **state) {
  (void)state;
  tsr_axes *outer = axes_of("{'head_axis':'o'}"), *inner = axes_of("{'head_axis':'i'}");
  const tsr_axes *found = NULL;
  const tsr_logical_entry head = TSR_LOGICAL_NAME("__HEAD__");
  const tsr_logical_names names = {1, &head, NULL};
  const tsr_axes_request request = {sizeof request, &names, train, NULL, NULL};
  tsr_spec *spec = NULL;
  tsr_scope first, second;
  assert_null(tsr_axes_current());
  assert_fails(tsr_axes_require(&found), NO_AXES_ACTIVE,
               "no semantic axes are active; enter some with tsr_axes_enter");
  assert_fails_with(tsr_axes_resolve_request(NULL, NULL, &request, &spec), NO_AXES_ACTIVE,
                    "no semantic axes");
  assert_ok(tsr_axes_enter(outer, &first));
  assert_ok(tsr_axes_enter(inner, &second));
  assert_ok(tsr_axes_resolve_request(NULL, NULL, &request, &spec));
  assert_spec(spec, "i");
  tsr_scope_leave(second);
  assert_ptr_equal(tsr_axes_current(), outer);
  assert_ok(tsr_axes_require(&found));
  assert_ptr_equal(found, outer);
  tsr_scope_leave(first);
  assert_null(tsr_axes_current());
  tsr_axes_release(outer);
  tsr_axes_release(inner);
}

// ---- memory ----

typedef struct sweep {
  tsr_axes *axes;
  tsr_mesh *mesh;
  tsr_logical_names names;
} sweep;

static tsr_status shard(void *context) {
  const sweep *in = context;
  const tsr_scope mark = tsr_scope_mark();
  const tsr_axes_request request = {sizeof request, &in->names, train, NULL, TSR_SHAPE(6, 4)};
  tsr_spec *spec = NULL, *wanted = NULL;
  tsr_changes changes = {0};
  tsr_scope scope;
  tsr_status status = tsr_axes_enter(in->axes, &scope);
  if (!status) status = shard_axes(NULL, &request, in->mesh, true, &spec, &wanted, &changes);
  tsr_scope_leave(mark);
  tsr_changes_deinit(&changes);
  tsr_spec_release(spec);
  tsr_spec_release(wanted);
  return status;
}

static void running_out_of_memory_is_a_status(void **state) {
  (void)state;
  sweep in = {.axes = axes_of("{}"), .names = names_of("['__BATCH__','__HEAD__']")};
  assert_ok(tsr_mesh_parse("dp=2,tp=2", NULL, &in.mesh));
  test_allocation_sweep(shard, &in);
  tsr_mesh_release(in.mesh);
  tsr_axes_release(in.axes);
  tsr_logical_names_deinit(&in.names);
}

SUITE(axes_manager, TEST(a_dimension_of_one_means_decoding), TEST(both_or_a_list_that_knows),
      TEST(known_lists_serve), TEST(arrays_are_cut_as_far_as_they_allow),
      TEST(changes_come_with_the_spec_that_was_wanted), TEST(the_innermost_axes_serve),
      TEST(running_out_of_memory_is_a_status))
