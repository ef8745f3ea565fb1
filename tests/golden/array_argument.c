// Arrays of the recordings, as real ones: bytes are put on devices, moved, and looked at again.
#include "array/array_internal.h"
#include "base/scope.h"
#include "element/shape_internal.h"
#include "golden/golden.h"
#include "json/json.h"
#include "mesh/mesh_internal.h"
#include "spec/spec_internal.h"
#include "support/pattern.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/compat/scope.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"

// ---- the machine ----

tsr_status golden_place_init(const golden_case *c, golden_place *out) {
  const tsr_json *mesh = tsr_json_find(c->json, "mesh"), *via = tsr_json_find(c->json, "mesh_via");
  tsr_scope scope;
  *out = (golden_place){.mark = tsr_scope_mark()};
  if (!golden_is_null(mesh)) TSR_TRY(tsr_mesh_from_json(mesh, NULL, &out->mesh));
  TSR_TRY(pattern_comm(out->mesh, &out->comm));
  if (tsr_json_is_string(via, "argument") || tsr_json_is_string(via, "named"))
    out->given = out->mesh;
  return tsr_json_is_string(via, "context") ? tsr_mesh_enter(out->mesh, &scope) : NULL;
}

void golden_place_deinit(golden_place *place) {
  tsr_scope_leave(place->mark);
  tsr_comm_release(place->comm);
  tsr_mesh_release(place->mesh);
}

// ---- leaves ----

// A tensor in host memory that lasts as long as the case.
static tsr_status make_bytes(const golden_case *c, tsr_leaf *out) {
  const int64_t bytes = tsr_tensor_bytes(&out->tensor);
  void *data = tsr_arena_alloc(c->arena, (size_t)bytes + 1);
  if (!data) return tsr_fail(NO_MEMORY, "an array");
  pattern_fill(data, bytes);
  out->data = data;
  return NULL;
}

static tsr_status make_sharded(const golden_place *place, const tsr_json *entries,
                               const tsr_leaf *leaf, tsr_array **out) {
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_layout *layout = NULL;
  const tsr_shape shape = tsr_tensor_shape(&leaf->tensor);
  tsr_status status = tsr_spec_from_json(entries, &spec);
  if (!status) status = tsr_sharding_bind(place->mesh, spec, false, &sharding);
  if (!status) status = tsr_layout_create(sharding, &shape, TSR_POLICY_ERROR, &layout);
  if (!status) status = pattern_array(place->comm, layout, leaf->tensor.dtype, out);
  tsr_layout_release(layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  return status;
}

// A number of Python's, or a numpy scalar that is one too: a scalar in host memory.
static tsr_status read_scalar(const golden_case *c, const tsr_json *kind, const tsr_json *dtype,
                              tsr_leaf *out) {
  const bool is_float = tsr_json_is_string(kind, "float") || tsr_json_is_string(dtype, "float64");
  const bool is_int = tsr_json_is_string(kind, "int"), is_bool = tsr_json_is_string(kind, "bool");
  if (!is_float && !is_int && !is_bool)
    return tsr_fail(UNSUPPORTED_LEAF, "a leaf that is neither an array nor a number");
  out->kind = TSR_LEAF_HOST;
  out->tensor.dtype = is_float ? TSR_F64 : is_int ? TSR_I64 : TSR_BOOL;
  out->tensor.rank = 0;
  return make_bytes(c, out);
}

static tsr_status read_tensor(const golden_case *c, const tsr_json *value, tsr_leaf *out) {
  const char *dtype = NULL;
  golden_ints dims;
  TSR_TRY(golden_read_string(c, tsr_json_find(value, "dtype"), "dtype", &dtype));
  TSR_TRY(tsr_dtype_parse(dtype, &out->tensor.dtype));
  TSR_TRY(golden_read_ints(c, tsr_json_find(value, "shape"), "shape", &dims));
  out->tensor.rank = dims.count;
  out->tensor.dims = dims.items;
  return tsr_shape_init(&(tsr_shape){0}, dims.items, dims.count);
}

tsr_status golden_read_leaf(const golden_case *c, const golden_place *place, const tsr_json *value,
                            tsr_leaf *out) {
  const tsr_json *kind = tsr_json_find(value, "$"), *spec = tsr_json_find(value, "spec");
  const tsr_json *path = tsr_json_find(value, "path");
  tsr_spec *read = NULL;
  *out = (tsr_leaf){.tensor.path = "", .kind = TSR_LEAF_SHAPE};
  if (!kind) kind = tsr_json_find(value, "kind");
  if (path) TSR_TRY(golden_read_string(c, path, "path", &out->tensor.path));
  if (!tsr_json_find(value, "shape"))
    return read_scalar(c, kind, tsr_json_find(value, "dtype"), out);
  TSR_TRY(read_tensor(c, value, out));
  if (tsr_json_is_string(kind, "abstract")) {
    if (spec) TSR_TRY(tsr_spec_from_json(spec, &read));
    out->spec = read;
    return NULL;
  }
  if (tsr_json_is_string(kind, "array")) {
    out->kind = TSR_LEAF_HOST;
    return make_bytes(c, out);
  }
  out->kind = TSR_LEAF_ARRAY;
  if (spec) return make_sharded(place, spec, out, &out->array);
  const tsr_shape shape = tsr_tensor_shape(&out->tensor);
  return pattern_unplaced(place->comm, out->tensor.dtype, &shape, &out->array);
}

void golden_release_leaf(tsr_leaf *leaf) {
  tsr_array_release(leaf->array);
  tsr_spec_release(leaf->spec);
}

// ---- answers ----

// [device, [[start, stop], ...]] for every device, by number.
static tsr_status write_shards(const tsr_array *array, tsr_json_writer *out) {
  tsr_json_write_key(out, "shards");
  tsr_json_begin_array(out);
  for (int64_t i = 0; i < tsr_array_local_count(array); i++) {
    tsr_local_shard part = TSR_LOCAL_SHARD;
    TSR_TRY(tsr_array_local_at(array, i, &part));
    tsr_json_begin_inline_array(out);
    tsr_json_write_int(out, part.device);
    tsr_json_begin_inline_array(out);
    for (int d = 0; d < part.shape.rank; d++)
      tsr_json_write_ints(out, (int64_t[]){part.ranges[d].lo, part.ranges[d].hi}, 2);
    tsr_json_end_array(out);
    tsr_json_end_array(out);
  }
  tsr_json_end_array(out);
  return NULL;
}

tsr_status golden_write_array(const tsr_array *array, bool shards, tsr_json_writer *out) {
  const tsr_sharding *sharding = array ? tsr_array_sharding(array) : NULL;
  if (array) TSR_TRY(pattern_check(array));
  tsr_json_begin_object(out);
  tsr_json_write_key(out, "kind");
  tsr_json_write_string(out, sharding ? "named" : array ? "single_device" : "not_a_jax_array");
  if (sharding) {
    tsr_json_write_key(out, "spec");
    tsr_spec_to_json(tsr_sharding_spec(sharding), out);
    if (shards) TSR_TRY(write_shards(array, out));
  }
  tsr_json_end_object(out);
  return NULL;
}
