// eformer's functions that place arrays, and those that tell how they lie.
#include "element/shape_internal.h"
#include "golden/golden.h"
#include "json/json.h"
#include "place/place_internal.h"
#include "spec/spec_internal.h"
#include "support/pattern.h"
#include "tessera/compat/constrain.h"
#include "tessera/compat/placer.h"
#include "tessera/engine/sharding.h"

// ---- arguments ----

// The spec of the case. Anything but a list is none, whatever a C caller could not pass.
static tsr_status read_spec(const golden_case *c, tsr_spec **out) {
  if (golden_get(c, "raw_sharding")) return tsr_fail(JSON_KIND, "a text is no sharding");
  return tsr_spec_from_json(golden_get(c, "spec"), out);
}

typedef struct leaves {
  int64_t count, capacity;
  tsr_leaf *items;
  tsr_array_tree *tree;
  bool foreign;  // the next leaf is one that no C caller has
} leaves;

static void leaves_deinit(leaves *list) {
  for (int64_t i = 0; i < list->count; i++) golden_release_leaf(&list->items[i]);
  tsr_array_tree_release(list->tree);
}

// The leaves of the case as a tree, up to the first that is foreign.
static tsr_status leaves_init(const golden_case *c, const golden_place *place, leaves *list) {
  const tsr_json *values = tsr_json_find(c->json, "leaves");
  list->items = tsr_arena_zeros(c->arena, tsr_json_count(values) + 1, sizeof *list->items);
  if (!list->items) return tsr_fail(NO_MEMORY, "leaves");
  for (const tsr_json *at = tsr_json_first(values); at; at = tsr_json_next(at)) {
    tsr_status status = golden_read_leaf(c, place, at, &list->items[list->count]);
    list->foreign = tsr_status_cause(status) == TSR_CAUSE_UNSUPPORTED_LEAF;
    if (list->foreign) tsr_status_free(status);
    if (list->foreign) break;
    TSR_TRY(status);
    list->count++;
  }
  return tsr_array_tree_create(list->items, list->count, &list->tree);
}

// ---- one array ----

typedef tsr_status array_question(const golden_case *c, const golden_place *place, tsr_array *array,
                                  tsr_array **out_array);

// Asks about the case's array, and writes what became of it.
static tsr_status ask_about_array(const golden_case *c, array_question *ask, tsr_json_writer *out) {
  golden_place place;
  tsr_leaf leaf = {.tensor.path = ""};
  tsr_array *result = NULL;
  tsr_status status = golden_place_init(c, &place);
  if (!status) status = golden_read_leaf(c, &place, golden_get(c, "array"), &leaf);
  if (!status && leaf.array) status = ask(c, &place, leaf.array, &result);
  if (!status) status = golden_write_array(result, true, out);
  tsr_array_release(result);
  golden_release_leaf(&leaf);
  golden_place_deinit(&place);
  return status;
}

static tsr_status constrain(const golden_case *c, const golden_place *place, tsr_array *array,
                            tsr_array **out_array) {
  tsr_spec *spec = NULL;
  TSR_TRY(read_spec(c, &spec));
  tsr_status status = tsr_array_constrain(array, spec, place->given, NULL, out_array, NULL);
  tsr_spec_release(spec);
  return status;
}

tsr_status golden_with_sharding_constraint(const golden_case *c, const golden_answer *answer) {
  return ask_about_array(c, constrain, answer->out);
}

static tsr_status auto_shard(const golden_case *c, const golden_place *place, tsr_array *array,
                             tsr_array **out_array) {
  tsr_auto_options options;
  TSR_TRY(golden_read_auto_options(c, &options));
  return tsr_array_auto_shard(array, place->given, &options, NULL, out_array, NULL);
}

tsr_status golden_auto_shard_array(const golden_case *c, const golden_answer *answer) {
  return ask_about_array(c, auto_shard, answer->out);
}

// ---- trees ----

typedef tsr_status tree_question(const golden_case *c, const golden_place *place,
                                 const leaves *list, tsr_json_writer *out);

static tsr_status ask_about_tree(const golden_case *c, tree_question *ask, tsr_json_writer *out) {
  golden_place place;
  leaves list = {0};
  tsr_status status = golden_place_init(c, &place);
  if (!status) status = leaves_init(c, &place, &list);
  if (!status) status = ask(c, &place, &list, out);
  leaves_deinit(&list);
  golden_place_deinit(&place);
  return status;
}

// [path, kind and spec] for each leaf.
static tsr_status write_tree(const tsr_array_tree *tree, tsr_json_writer *out) {
  tsr_json_begin_array(out);
  for (int64_t i = 0; i < tsr_array_tree_count(tree); i++) {
    const tsr_leaf *leaf = tsr_array_tree_at(tree, i);
    tsr_json_begin_array(out);
    tsr_json_write_string(out, leaf->tensor.path);
    TSR_TRY(golden_write_array(leaf->array, false, out));
    tsr_json_end_array(out);
  }
  tsr_json_end_array(out);
  return NULL;
}

static tsr_status constrain_tree(const golden_case *c, const golden_place *place,
                                 const leaves *list, tsr_json_writer *out) {
  tsr_spec *spec = NULL;
  tsr_array_tree *placed = NULL;
  TSR_TRY(read_spec(c, &spec));
  tsr_status status = tsr_array_tree_constrain(list->tree, spec, place->given, NULL, &placed, NULL);
  if (!status) status = write_tree(placed, out);
  tsr_array_tree_release(placed);
  tsr_spec_release(spec);
  return status;
}

tsr_status golden_with_sharding_constraint_tree(const golden_case *c, const golden_answer *answer) {
  return ask_about_tree(c, constrain_tree, answer->out);
}

// ---- how they lie ----

static void write_pair(const tsr_leaf *leaf, const tsr_spec *spec, tsr_json_writer *out) {
  if (spec) {
    golden_write_pair(out, leaf->tensor.path, spec);
    return;
  }
  tsr_json_begin_inline_array(out);
  tsr_json_write_string(out, leaf->tensor.path);
  tsr_json_write_null(out);
  tsr_json_end_array(out);
}

static void write_shardings(const tsr_array_tree *tree, const tsr_sharding *const *shardings,
                            tsr_json_writer *out) {
  tsr_json_begin_array(out);
  for (int64_t i = 0; i < tsr_array_tree_count(tree); i++)
    write_pair(tsr_array_tree_at(tree, i), shardings[i] ? tsr_sharding_spec(shardings[i]) : NULL,
               out);
  tsr_json_end_array(out);
}

static tsr_status structure(const golden_case *c, const golden_place *place, const leaves *list,
                            tsr_json_writer *out) {
  const tsr_sharding **shardings =
      tsr_arena_zeros(c->arena, (size_t)list->count + 1, sizeof *shardings);
  (void)place;
  if (!shardings) return tsr_fail(NO_MEMORY, "shardings");
  tsr_array_tree_shardings(list->tree, shardings);
  write_shardings(list->tree, shardings, out);
  return NULL;
}

tsr_status golden_extract_sharding_structure(const golden_case *c, const golden_answer *answer) {
  return ask_about_tree(c, structure, answer->out);
}

static tsr_status shardings_too(const golden_case *c, const golden_place *place, const leaves *list,
                                tsr_json_writer *out) {
  tsr_sharding **shardings = tsr_arena_zeros(c->arena, (size_t)list->count + 1, sizeof *shardings);
  if (!shardings) return tsr_fail(NO_MEMORY, "shardings");
  TSR_TRY(tsr_array_tree_extract_shardings(list->tree, place->given, shardings));
  write_shardings(list->tree, (const tsr_sharding *const *)shardings, out);
  for (int64_t i = 0; i < list->count; i++) tsr_sharding_release(shardings[i]);
  return NULL;
}

tsr_status golden_extract_shardings(const golden_case *c, const golden_answer *answer) {
  return ask_about_tree(c, shardings_too, answer->out);
}

static tsr_status specs(const golden_case *c, const golden_place *place, const leaves *list,
                        tsr_json_writer *out) {
  tsr_spec **found = tsr_arena_zeros(c->arena, (size_t)list->count + 1, sizeof *found);
  (void)place;
  if (!found) return tsr_fail(NO_MEMORY, "specs");
  TSR_TRY(tsr_array_tree_specs(list->tree, found));
  tsr_json_begin_array(out);
  for (int64_t i = 0; i < list->count; i++) {
    write_pair(tsr_array_tree_at(list->tree, i), found[i], out);
    tsr_spec_release(found[i]);
  }
  tsr_json_end_array(out);
  if (!list->foreign) return NULL;
  return tsr_fail(UNSUPPORTED_LEAF, "a leaf that is neither an array nor a number");
}

tsr_status golden_get_partition_spec(const golden_case *c, const golden_answer *answer) {
  return ask_about_tree(c, specs, answer->out);
}

// ---- shard and gather functions ----

static tsr_status make_placer(const golden_case *c, const golden_place *place,
                              tsr_placer **out_placer) {
  const tsr_json *pairs = golden_get(c, "specs");
  const size_t room = tsr_json_count(pairs) + 1;
  const char **paths = tsr_arena_zeros(c->arena, room, sizeof *paths);
  tsr_spec **found = tsr_arena_zeros(c->arena, room, sizeof *found);
  const tsr_place_options options = {.size = sizeof options, .comm = place->comm};
  int64_t count = 0;
  tsr_status status = paths && found ? NULL : tsr_fail(NO_MEMORY, "specs");
  for (const tsr_json *at = tsr_json_first(pairs); at && !status; at = tsr_json_next(at), count++) {
    status = golden_read_string(c, tsr_json_at(at, 0), "specs", &paths[count]);
    if (!status) status = tsr_spec_from_json(tsr_json_at(at, 1), &found[count]);
  }
  if (!status)
    status = tsr_placer_from_specs(paths, (const tsr_spec *const *)found, count, place->given,
                                   &options, out_placer);
  for (int64_t i = 0; found && i < count; i++) tsr_spec_release(found[i]);
  return status;
}

static tsr_status write_round(const tsr_leaf *placed, const tsr_leaf *back, tsr_json_writer *out) {
  const int64_t bytes = tsr_tensor_bytes(&back->tensor);
  tsr_json_begin_array(out);
  tsr_json_write_string(out, placed->tensor.path);
  tsr_json_begin_object(out);
  tsr_json_write_key(out, "placed");
  TSR_TRY(golden_write_array(placed->array, true, out));
  tsr_json_write_key(out, "gathered_equal");
  tsr_json_write_bool(out, pattern_holds(back->data, bytes));
  tsr_json_write_key(out, "gathered_is_host");
  tsr_json_write_bool(out, back->kind == TSR_LEAF_HOST);
  tsr_json_end_object(out);
  tsr_json_end_array(out);
  return NULL;
}

static tsr_status read_arrays(const golden_case *c, const golden_place *place, leaves *list) {
  const tsr_json *pairs = golden_get(c, "arrays");
  list->items = tsr_arena_zeros(c->arena, tsr_json_count(pairs) + 1, sizeof *list->items);
  if (!list->items) return tsr_fail(NO_MEMORY, "arrays");
  for (const tsr_json *at = tsr_json_first(pairs); at; at = tsr_json_next(at)) {
    tsr_leaf *leaf = &list->items[list->count++];
    TSR_TRY(golden_read_leaf(c, place, tsr_json_at(at, 1), leaf));
    TSR_TRY(golden_read_string(c, tsr_json_at(at, 0), "arrays", &leaf->tensor.path));
  }
  return tsr_array_tree_create(list->items, list->count, &list->tree);
}

// There and back.
static tsr_status shard_and_gather(const tsr_placer *placer, const leaves *list,
                                   tsr_json_writer *out) {
  tsr_array_tree *placed = NULL, *back = NULL;
  tsr_status status = tsr_placer_shard(placer, list->tree, &placed, NULL);
  if (!status) status = tsr_placer_gather(placer, placed, &back);
  tsr_json_begin_array(out);
  for (int64_t i = 0; i < list->count && !status; i++)
    status = write_round(tsr_array_tree_at(placed, i), tsr_array_tree_at(back, i), out);
  if (!status) tsr_json_end_array(out);
  tsr_array_tree_release(back);
  tsr_array_tree_release(placed);
  return status;
}

tsr_status golden_make_shard_and_gather_fns(const golden_case *c, const golden_answer *answer) {
  golden_place place;
  tsr_placer *placer = NULL;
  leaves list = {0};
  tsr_status status = golden_place_init(c, &place);
  if (!status) status = make_placer(c, &place, &placer);
  if (!status) status = read_arrays(c, &place, &list);
  if (!status) status = shard_and_gather(placer, &list, answer->out);
  leaves_deinit(&list);
  tsr_placer_release(placer);
  golden_place_deinit(&place);
  return status;
}
