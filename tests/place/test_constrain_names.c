// Constraints by names: semantic axes with a mode, and logical names by both mappings of flax.
#include "place/arrays.h"
#include "place/place_internal.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/compat/flax_rules.h"

static const tsr_logical_entry batch_length_embed[] = {
    {TSR_ENTRY_NAME, 1, (const char *const[]){"__BATCH__"}},
    {TSR_ENTRY_NAME, 1, (const char *const[]){"__QUERY_LENGTH__"}},
    {TSR_ENTRY_NAME, 1, (const char *const[]){"__EMBED__"}}};

// ---- semantic axes ----

static const struct {
  tsr_shape shape;
  bool auto_correct;
  const char *result;
} modes[] = {
    {{3, {8, 4, 8}}, true, "fsdp+dp, sp, tp"},
    {{3, {8, 1, 8}}, true, "fsdp+dp, _, tp"},  // one token: decoding, and 1 is not cut anyway
    {{3, {6, 4, 8}}, true, "_, sp, tp"},
    {{3, {6, 4, 8}}, false, "_, sp, tp"},  // the constraint corrects all the same
    {{3, {5, 5, 5}}, true, "()"},
};

static void semantic_axes_are_resolved_by_mode(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(16);
  tsr_mesh *mesh = make_mesh("dp=2,fsdp=2,ep=1,tp=2,sp=2");
  tsr_axes *axes = NULL;
  const tsr_logical_names names = {3, batch_length_embed, NULL};
  const tsr_axes_request request = {
      .size = sizeof request, .names = &names, .mode = {.kind = TSR_MODE_BY_DIM, .dim = 1}};
  assert_ok(tsr_axes_create(NULL, 0, &axes));
  for (size_t i = 0; i < COUNT_OF(modes); i++) {
    tsr_array *array = make_unplaced(comm, &modes[i].shape), *result = NULL;
    assert_ok(tsr_array_constrain_axes(array, axes, NULL, &request, mesh, modes[i].auto_correct,
                                       NULL, &result, NULL));
    assert_lies(result, modes[i].result);
    tsr_array_release(result);
    tsr_array_release(array);
  }
  tsr_axes_release(axes);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

static void without_a_mesh_only_auto_correct_fails(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(1);
  tsr_array *array = make_unplaced(comm, TSR_SHAPE(8, 4, 8)), *result = NULL;
  const tsr_dynamic_axes *dynamic = tsr_dynamic_axes_find("HiddenStateSharding");
  const tsr_axes_request request = {.size = sizeof request, .dynamic = dynamic};
  tsr_axes *axes = NULL;
  tsr_place_report report = TSR_PLACE_REPORT;
  assert_ok(tsr_axes_create(NULL, 0, &axes));
  assert_fails_with(
      tsr_array_constrain_axes(array, axes, NULL, &request, NULL, true, NULL, &result, NULL),
      NO_MESH_ACTIVE, "mesh");
  assert_ok(
      tsr_array_constrain_axes(array, axes, NULL, &request, NULL, false, NULL, &result, &report));
  assert_ptr_equal(result, array);
  assert_report(&report, "left alone: there is no mesh\n");
  tsr_array_release(result);
  assert_fails_with(
      tsr_array_constrain_axes(array, NULL, NULL, &request, NULL, false, NULL, &result, NULL),
      NO_AXES_ACTIVE, "no semantic axes are active");
  tsr_axes_release(axes);
  tsr_array_release(array);
  tsr_comm_release(comm);
}

// ---- logical names, as linen maps them ----

static const tsr_logical_entry batch_embed[] = {
    {TSR_ENTRY_NAME, 1, (const char *const[]){"batch"}},
    {TSR_ENTRY_NAME, 1, (const char *const[]){"embed"}}};

static const struct {
  const char *rules, *mesh;
  tsr_fallback fallback;
  const char *result, *report;
} fallbacks[] = {
    {"batch -> data\nembed -> model\n", "data=2,model=4", TSR_FALLBACK_RAISE, "data, model",
     "placed: data, model\n"},
    {"batch -> data\n", "data=2,model=4", TSR_FALLBACK_UNSHARDED, "data, _", "placed: data, _\n"},
    {"batch -> data\n", "data=2,model=4", TSR_FALLBACK_NO_CONSTRAINT, "",
     "left alone: a name has no rule\n"},
    {"", "data=2,model=4", TSR_FALLBACK_RAISE, "", "left alone: there are no rules\n"},
    {"batch -> data\nembed -> model\n", NULL, TSR_FALLBACK_RAISE, "",
     "left alone: there is no mesh\n"},
};

static void names_without_rules_have_three_fallbacks(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(8);
  const tsr_logical_names names = {2, batch_embed, NULL};
  for (size_t i = 0; i < COUNT_OF(fallbacks); i++) {
    tsr_array *array = make_unplaced(comm, TSR_SHAPE(8, 16)), *result = NULL;
    tsr_mesh *mesh = fallbacks[i].mesh ? make_mesh(fallbacks[i].mesh) : NULL;
    tsr_logical_rules *rules = make_logical_rules(fallbacks[i].rules);
    tsr_place_report report = TSR_PLACE_REPORT;
    assert_ok(tsr_array_constrain_logical(array, &names, rules, mesh, fallbacks[i].fallback, NULL,
                                          &result, &report));
    if (*fallbacks[i].result)
      assert_lies(result, fallbacks[i].result);
    else
      assert_ptr_equal(result, array);
    assert_report(&report, fallbacks[i].report);
    tsr_array_release(result);
    tsr_logical_rules_release(rules);
    tsr_mesh_release(mesh);
    tsr_array_release(array);
  }
  tsr_comm_release(comm);
}

static void logical_constraints_are_not_corrected(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(8);
  tsr_mesh *mesh = make_mesh("data=2,model=4");
  tsr_logical_rules *rules = make_logical_rules("batch -> data\nembed -> model\n");
  tsr_array *array = make_unplaced(comm, TSR_SHAPE(8, 6)), *result = NULL;
  const tsr_logical_names names = {2, batch_embed, NULL};
  assert_fails_with(tsr_array_constrain_logical(array, &names, rules, mesh, TSR_FALLBACK_RAISE,
                                                NULL, &result, NULL),
                    INDIVISIBLE, "6");
  const tsr_place_options uneven = {.size = sizeof uneven, .policy = TSR_POLICY_UNEVEN};
  assert_ok(tsr_array_constrain_logical(array, &names, rules, mesh, TSR_FALLBACK_RAISE, &uneven,
                                        &result, NULL));
  assert_lies(result, "data, model");
  tsr_array_release(result);
  tsr_array_release(array);
  array = make_unplaced(comm, TSR_SHAPE(8));
  assert_fails_with(tsr_array_constrain_logical(array, &names, rules, mesh, TSR_FALLBACK_RAISE,
                                                NULL, &result, NULL),
                    RANK_TOO_SMALL, "2");
  tsr_array_release(array);
  tsr_logical_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_comm_release(comm);
}

// ---- logical names, as flax.core.spmd maps them ----

static tsr_mesh *make_typed_mesh(tsr_axis_type data, tsr_axis_type model) {
  const tsr_axis axes[] = {{.name = "data", .size = 2, .type = data},
                           {.name = "model", .size = 4, .type = model}};
  const tsr_mesh_desc desc = {.size = sizeof desc, .axis_count = 2, .axes = axes};
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_create(&desc, &mesh));
  return mesh;
}

static void values_are_sharded_on_meshes_of_one_type(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(8);
  tsr_logical_rules *rules = make_logical_rules("batch -> data\nembed -> model\n");
  tsr_array *array = make_unplaced(comm, TSR_SHAPE(8, 16)), *result = NULL;
  const tsr_logical_names names = {2, batch_embed, NULL}, none = {0, NULL, NULL};
  static const tsr_axis_type types[] = {TSR_AXIS_AUTO, TSR_AXIS_EXPLICIT};
  tsr_place_report report = TSR_PLACE_REPORT;
  for (size_t i = 0; i < COUNT_OF(types); i++) {
    tsr_mesh *mesh = make_typed_mesh(types[i], types[i]);
    assert_ok(tsr_array_shard_value(array, &names, rules, mesh, NULL, &result, &report));
    assert_lies(result, "data, model");
    assert_report(&report, "placed: data, model\n");
    tsr_array_release(result);
    tsr_mesh_release(mesh);
  }
  // A reshard drops entries that cut nothing, a constraint refuses them.
  const tsr_logical_entry long_entries[] = {batch_embed[0], batch_embed[1], TSR_LOGICAL_NONE};
  const tsr_logical_names too_long = {3, long_entries, NULL};
  tsr_mesh *explicit = make_typed_mesh(TSR_AXIS_EXPLICIT, TSR_AXIS_EXPLICIT);
  assert_ok(tsr_array_shard_value(array, &too_long, rules, explicit, NULL, &result, NULL));
  assert_lies(result, "data, model");
  tsr_array_release(result);
  tsr_mesh_release(explicit);
  tsr_mesh *plain = make_typed_mesh(TSR_AXIS_AUTO, TSR_AXIS_AUTO);
  assert_fails_with(tsr_array_shard_value(array, &too_long, rules, plain, NULL, &result, NULL),
                    RANK_TOO_SMALL, "3");
  tsr_mesh_release(plain);
  tsr_mesh *mixed = make_typed_mesh(TSR_AXIS_AUTO, TSR_AXIS_EXPLICIT);
  assert_fails_with(tsr_array_shard_value(array, &names, rules, mixed, NULL, &result, NULL),
                    MIXED_AXIS_TYPES, "of the mesh's axes 1 are auto, 1 explicit");
  assert_ok(tsr_array_shard_value(array, &none, rules, mixed, NULL, &result, &report));
  assert_ptr_equal(result, array);
  assert_report(&report, "left alone: its dimensions have no names\n");
  tsr_array_release(result);
  assert_fails_with(tsr_array_shard_value(array, &names, rules, NULL, NULL, &result, NULL),
                    NO_MESH_ACTIVE, "mesh");
  tsr_mesh_release(mixed);
  tsr_array_release(array);
  tsr_logical_rules_release(rules);
  tsr_comm_release(comm);
}

// ---- without memory ----

typedef struct ingredients {
  tsr_array *array;
  tsr_mesh *mesh;
  tsr_logical_rules *rules;
  tsr_axes *axes;
} ingredients;

static tsr_status constrain_three_ways(void *context) {
  const ingredients *with = context;
  const tsr_logical_names names = {2, batch_embed, NULL};
  const tsr_logical_names semantic = {2, batch_length_embed, NULL};
  const tsr_axes_request request = {
      .size = sizeof request, .names = &semantic, .mode = {.kind = TSR_MODE_FIXED}};
  tsr_array *results[3] = {NULL};
  tsr_status status = tsr_array_constrain_logical(with->array, &names, with->rules, with->mesh,
                                                  TSR_FALLBACK_RAISE, NULL, &results[0], NULL);
  if (!status)
    status = tsr_array_shard_value(with->array, &names, with->rules, with->mesh, NULL, &results[1],
                                   NULL);
  if (!status)
    status = tsr_array_constrain_axes(with->array, with->axes, NULL, &request, with->mesh, true,
                                      NULL, &results[2], NULL);
  for (int i = 0; i < 3; i++) tsr_array_release(results[i]);
  return status;
}

static void memory_may_run_out(void **state) {
  (void)state;
  tsr_comm *comm = make_comm(8);
  ingredients with = {make_unplaced(comm, TSR_SHAPE(8, 16)), make_mesh("data=2,model=4"),
                      make_logical_rules("batch -> data\nembed -> model\n"), NULL};
  assert_ok(tsr_axes_create(NULL, 0, &with.axes));
  test_allocation_sweep(constrain_three_ways, &with);
  tsr_axes_release(with.axes);
  tsr_logical_rules_release(with.rules);
  tsr_mesh_release(with.mesh);
  tsr_array_release(with.array);
  tsr_comm_release(comm);
}

SUITE(constrain_names, TEST(semantic_axes_are_resolved_by_mode),
      TEST(without_a_mesh_only_auto_correct_fails), TEST(names_without_rules_have_three_fallbacks),
      TEST(logical_constraints_are_not_corrected), TEST(values_are_sharded_on_meshes_of_one_type),
      TEST(memory_may_run_out))
