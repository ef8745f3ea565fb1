// The collectives of tessera/place.h and tsr_partitioner_move_params with an argument swapped.
#include <stdlib.h>
#include <string.h>

#include "conformance/swaps.h"
#include "place/place_internal.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/compat/placer.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/engine/sharding.h"

// Options, of which number `swapped` is another one: policy, correct, method, donate, unshare,
// relabel, max_memory; refused: size.
typedef struct how {
  tsr_correct_options correct;
  tsr_reshard_options reshard;
  tsr_place_options place;
} how;
#define OPTIONS "policy correct method donate unshare relabel max_memory ! options.size"

static const tsr_place_options *options_of(const scene *s, how *h, int swapped) {
  h->correct = (tsr_correct_options){.size = sizeof h->correct, .strict = swapped == 2};
  h->reshard =
      (tsr_reshard_options){.size = sizeof h->reshard,
                            .method = swapped == 3 ? TSR_RESHARD_SEQUENCE : TSR_RESHARD_DIRECT,
                            .donate = swapped == 4,
                            .unshare = swapped == 5,
                            .relabel = swapped == 6,
                            .max_memory = swapped == 7 ? 4096 : 0};
  h->place = (tsr_place_options){.size = swapped == 8 ? 1 : sizeof h->place,
                                 .comm = s->comm,
                                 .policy = swapped == 1 ? TSR_POLICY_PAD : TSR_POLICY_ERROR,
                                 .correct = &h->correct,
                                 .reshard = &h->reshard};
  return &h->place;
}

static tsr_status check_one(const scene *s, tsr_array *array, tsr_status status) {
  if (!status) status = swap_check(s, array, 0);
  tsr_array_release(array);
  return status;
}

// ---- single arrays ----

static tsr_array *array_of(const scene *s, int swapped) {
  return swapped == 1 ? s->of_floats : swapped == 2 ? s->by_columns : s->arrays[0];
}

static tsr_status constrain(scene *s, int swapped) {
  how h;
  tsr_spec *spec = NULL;
  tsr_array *made = NULL;
  const char *const texts[] = {"model, data", "_, model", "()"};
  tsr_status status = tsr_spec_parse(texts[swapped == 3   ? 1
                                           : swapped == 4 ? 2
                                                          : 0],
                                     TSR_FORM_ANY, &spec);
  if (!status)
    status = tsr_array_constrain(array_of(s, swapped), spec, swapped == 5 ? s->turned : s->mesh,
                                 options_of(s, &h, swapped < 6 ? 0 : swapped - 5), &made, NULL);
  tsr_spec_release(spec);
  return check_one(s, made, status);
}

static tsr_status semantic_mesh(const scene *s, bool other, tsr_mesh **out_mesh) {
  const tsr_axis axes[] = {{.name = "dp", .size = other ? 1 : s->ranks},
                           {.name = "fsdp", .size = other ? s->ranks : 1},
                           {.name = "ep", .size = 1},
                           {.name = "tp", .size = 2},
                           {.name = "sp", .size = 1}};
  const tsr_mesh_desc desc = {.size = sizeof desc, .axis_count = 5, .axes = axes};
  return tsr_mesh_create(&desc, out_mesh);
}

static tsr_status constrain_axes(scene *s, int swapped) {
  const tsr_logical_entry rows = TSR_LOGICAL_NAME("__BATCH__"),
                          columns = TSR_LOGICAL_NAME("__EMBED__");
  const tsr_logical_entry entries[] = {swapped == 3 ? columns : rows,
                                       swapped == 3 ? rows : columns};
  const tsr_field_value field = {.field = TSR_FIELD_TENSOR_PARALLEL,
                                 .entry = TSR_LOGICAL_NAME("sp")};
  const tsr_logical_names names = {2, entries, NULL};
  const tsr_axes_request request = {.size = swapped == 7 ? 0 : sizeof request,
                                    .names = &names,
                                    .mode = {.kind = TSR_MODE_BY_DIM, .dim = 1}};
  how h;
  tsr_axes *axes = NULL;
  tsr_mesh *mesh = NULL;
  tsr_array *made = NULL;
  tsr_status status = tsr_axes_create(&field, swapped == 4, &axes);
  if (!status) status = semantic_mesh(s, swapped == 5, &mesh);
  if (!status)
    status = tsr_array_constrain_axes(array_of(s, swapped), axes, NULL, &request,
                                      swapped == 6 ? NULL : mesh, swapped == 6,
                                      options_of(s, &h, 0), &made, NULL);
  tsr_mesh_release(mesh);
  tsr_axes_release(axes);
  return check_one(s, made, status);
}

// ---- logical names ----

typedef struct named {
  tsr_logical_entry entries[2];
  tsr_logical_names names;
  tsr_logical_rules *rules;
} named;

static const tsr_logical_entry batch = {TSR_ENTRY_NAME, 1, (const char *const[]){"batch"}},
                               embed = {TSR_ENTRY_NAME, 1, (const char *const[]){"embed"}};

// Numbers 1 and 2 swap names and rules.
static tsr_status name_dims(named *n, int swapped) {
  n->entries[0] = swapped == 1 ? embed : batch;
  n->entries[1] = swapped == 1 ? batch : embed;
  n->names = (tsr_logical_names){2, n->entries, NULL};
  return tsr_logical_rules_parse(
      swapped == 2 ? "batch -> model\nembed -> data\n" : "batch -> data\nembed -> model\n", "rules",
      &n->rules);
}

static tsr_status constrain_logical(scene *s, int swapped) {
  how h;
  named n = {0};
  tsr_array *made = NULL;
  tsr_status status = name_dims(&n, swapped - 2);
  // What fallbacks differ in shows where a name has no rule.
  tsr_logical_rules *few = NULL;
  if (!status) status = tsr_logical_rules_parse("batch -> data\n", "few", &few);
  if (!status)
    status =
        tsr_array_constrain_logical(array_of(s, swapped), &n.names, swapped == 4 ? n.rules : few,
                                    swapped == 5 ? s->turned : s->mesh,
                                    swapped == 6   ? TSR_FALLBACK_NO_CONSTRAINT
                                    : swapped == 7 ? TSR_FALLBACK_RAISE
                                                   : TSR_FALLBACK_UNSHARDED,
                                    options_of(s, &h, 0), &made, NULL);
  tsr_logical_rules_release(few);
  tsr_logical_rules_release(n.rules);
  return check_one(s, made, status);
}

static tsr_status shard_value(scene *s, int swapped) {
  how h;
  named n = {0};
  tsr_array *made = NULL;
  tsr_status status = name_dims(&n, swapped - 2);
  if (!status)
    status = tsr_array_shard_value(array_of(s, swapped), &n.names, n.rules,
                                   swapped == 5   ? s->turned
                                   : swapped == 7 ? NULL
                                                  : s->mesh,
                                   options_of(s, &h, swapped == 6), &made, NULL);
  tsr_logical_rules_release(n.rules);
  return check_one(s, made, status);
}

static tsr_status auto_shard(scene *s, int swapped) {
  const char *const model = "model";
  const tsr_auto_options one = {
      .size = swapped == 7 ? 0 : sizeof one, .names = &model, .name_count = 1};
  how h;
  tsr_array *made = NULL;
  tsr_status status = tsr_array_auto_shard(array_of(s, swapped),
                                           swapped == 3   ? s->turned
                                           : swapped == 6 ? NULL
                                                          : s->mesh,
                                           swapped == 4 || swapped == 7 ? &one : NULL,
                                           options_of(s, &h, swapped == 5), &made, NULL);
  return check_one(s, made, status);
}

// ---- trees ----

// Numbers 1 to 5 are other trees.
#define TREES "order path dtype leaves kind"
static tree_kind tree_of(int swapped) {
  static const tree_kind kinds[] = {PLAIN, REORDERED, RENAMED, RETYPED, SHORTER, HOSTED};
  return kinds[swapped < 6 ? swapped : 0];
}

static tsr_status tree_constrain(scene *s, int swapped) {
  how h;
  tsr_spec *spec = NULL;
  tsr_array_tree *tree = NULL, *made = NULL;
  tsr_status status = swap_tree(s, tree_of(swapped), &tree);
  if (!status)
    status = tsr_spec_parse(swapped == 6 ? "data, model" : "model, data", TSR_FORM_ANY, &spec);
  if (!status)
    status =
        tsr_array_tree_constrain(tree, spec, swapped == 7 ? s->turned : s->mesh,
                                 options_of(s, &h, swapped < 8 ? 0 : swapped - 7), &made, NULL);
  tsr_spec_release(spec);
  tsr_array_tree_release(tree);
  return swap_check_tree(s, made, status);
}

static tsr_status tree_place(scene *s, int swapped) {
  how h;
  tsr_array_tree *tree = NULL, *made = NULL;
  const tsr_layout *layouts[] = {s->columns, s->turned_rows, s->rows};
  tsr_status status = swap_tree(s, tree_of(swapped), &tree);
  if (swapped == 6) layouts[0] = s->turned_rows, layouts[1] = s->columns;
  if (swapped == 7) layouts[2] = NULL;
  if (swapped == 8) layouts[0] = s->rows;  // as it lies
  if (!status)
    status = tsr_array_tree_place(tree, layouts, options_of(s, &h, swapped < 9 ? 0 : swapped - 8),
                                  &made, NULL);
  tsr_array_tree_release(tree);
  return swap_check_tree(s, made, status);
}

static tsr_status tree_gather(scene *s, int swapped) {
  tsr_array_tree *tree = NULL, *made = NULL;
  tsr_status status = swap_tree(s, tree_of(swapped), &tree);
  if (!status)
    status = tsr_array_tree_gather(tree, swapped == 6 ? 0 : swapped == 7 ? s->ranks : -1, &made);
  tsr_array_tree_release(tree);
  return swap_check_tree(s, made, status);
}

// ---- placers ----

// Number 1 has other specs, 2 another mesh, 3 lacks a path, 4 on are other options.
static tsr_status make_placer(scene *s, int swapped, tsr_placer **out_placer) {
  const char *const paths[] = {"a", "b", "h", "c"};
  tsr_spec *one = NULL, *other = NULL;
  how h;
  tsr_status status = tsr_spec_parse("model, data", TSR_FORM_ANY, &one);
  if (!status) status = tsr_spec_parse("_, data+model", TSR_FORM_ANY, &other);
  const tsr_spec *specs[] = {one, swapped == 1 ? one : other, one, other};
  if (!status)
    status = tsr_placer_from_specs(paths, specs, swapped == 3 ? 1 : 4,
                                   swapped == 2 ? s->turned : s->mesh,
                                   options_of(s, &h, swapped < 4 ? 0 : swapped - 3), out_placer);
  tsr_spec_release(one);
  tsr_spec_release(other);
  return status;
}

static tsr_status placer_shard(scene *s, int swapped) {
  tsr_array_tree *tree = NULL, *made = NULL;
  tsr_placer *placer = NULL;
  static const int of[] = {0, 1, 2, 4, 6, 7, 10, 3};
  tsr_status status = swap_tree(s, tree_of(swapped), &tree);
  if (!status) status = make_placer(s, swapped < 6 ? 0 : of[swapped - 5], &placer);
  if (!status) status = tsr_placer_shard(placer, tree, &made, NULL);
  tsr_placer_release(placer);
  tsr_array_tree_release(tree);
  return swap_check_tree(s, made, status);
}

static tsr_status tree_put(scene *s, int swapped) {
  tsr_array_tree *tree = NULL, *made = NULL;
  tsr_status status = swap_tree(s, tree_of(swapped), &tree);
  if (!status)
    status = tsr_array_tree_put(s->comm, swapped == 7 ? s->turned : s->mesh,
                                swapped == 6   ? ". -> data"
                                : swapped == 8 ? "a -> data"
                                               : ". -> model, data",
                                tree, &made);
  tsr_array_tree_release(tree);
  return swap_check_tree(s, made, status);
}

static tsr_status placer_gather(scene *s, int swapped) {
  tsr_array_tree *tree = NULL, *made = NULL;
  tsr_placer *placer = NULL;
  tsr_status status = swap_tree(s, tree_of(swapped), &tree);
  if (!status) status = make_placer(s, swapped == 6 ? 3 : 0, &placer);
  if (!status) status = tsr_placer_gather(placer, tree, &made);
  tsr_placer_release(placer);
  tsr_array_tree_release(tree);
  return swap_check_tree(s, made, status);
}

// ---- a partitioner ----

static tsr_status move_params(scene *s, int swapped) {
  const tsr_move_options options = {.size = swapped == 12 ? 0 : sizeof options,
                                    .comm = s->comm,
                                    .keep = swapped != 9,
                                    .host_local = swapped == 10};
  tsr_partitioner *partitioner = NULL;
  tsr_plan *axes = NULL;
  tsr_array_tree *tree = NULL, *made = NULL;
  tsr_status status = swap_tree(s, tree_of(swapped), &tree);
  if (!status) status = swap_partitioner(s, swapped == 8, swapped == 11, &partitioner);
  if (!status)
    status = swap_plan(s, swapped == 7 ? s->turned : s->mesh,
                       swapped == 6 ? ". -> data" : ". -> model, data", 4, &axes);
  if (!status) status = tsr_partitioner_move_params(partitioner, tree, axes, &options, &made);
  tsr_array_tree_release(tree);
  tsr_plan_release(axes);
  tsr_partitioner_release(partitioner);
  return swap_check_tree(s, made, status);
}

const collective place_collectives[] = {
    {"tsr_array_constrain", "dtype array spec spec mesh " OPTIONS, constrain},
    {"tsr_array_constrain_axes", "dtype array names axes mesh ! auto_correct request.size",
     constrain_axes},
    {"tsr_array_constrain_logical", "dtype array names rules mesh fallback ! fallback",
     constrain_logical},
    {"tsr_array_shard_value", "dtype array names rules mesh policy ! mesh", shard_value},
    {"tsr_array_auto_shard", "dtype array mesh how policy ! mesh how.size", auto_shard},
    {"tsr_array_tree_constrain", TREES " spec mesh " OPTIONS, tree_constrain},
    {"tsr_array_tree_place", TREES " layouts layouts layouts " OPTIONS, tree_place},
    {"tsr_array_tree_gather", TREES " root root", tree_gather},
    {"tsr_placer_shard", TREES " specs mesh policy method donate max_memory ! specs", placer_shard},
    {"tsr_array_tree_put", TREES " rules mesh ! rules", tree_put},
    {"tsr_placer_gather", TREES " ! specs", placer_gather},
    {"tsr_partitioner_move_params",
     TREES " axes mesh params_on_devices keep host_local ! partitioner options.size", move_params},
    {0}};
