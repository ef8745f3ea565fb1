// What all handlers need: arguments out of a case, meshes into an answer.
#include <ctype.h>
#include <stdio.h>

#include "element/shape_internal.h"
#include "golden/golden.h"
#include "json/json.h"
#include "mesh/mesh_internal.h"
#include "topology/topology_internal.h"

bool golden_is_null(const tsr_json *value) {
  return !value || tsr_json_kind_of(value) == TSR_JSON_NULL;
}

// Room for the members of a list; a case with anything else than a list is badly recorded.
static tsr_status start_list(const golden_case *c, const tsr_json *value, const char *what,
                             size_t size, int *out_count, void **out_items) {
  if (!value || tsr_json_kind_of(value) != TSR_JSON_ARRAY)
    return tsr_fail(JSON_KIND, "%s: wanted a list", what);
  *out_count = (int)tsr_json_count(value);
  *out_items = tsr_arena_zeros(c->arena, (size_t)*out_count + 1, size);
  return *out_items ? NULL : tsr_fail(NO_MEMORY, "%s", what);
}

tsr_status golden_read_ints(const golden_case *c, const tsr_json *value, const char *what,
                            golden_ints *out) {
  void *items = NULL;
  TSR_TRY(start_list(c, value, what, sizeof *out->items, &out->count, &items));
  out->items = items;
  int i = 0;
  for (const tsr_json *at = tsr_json_first(value); at; at = tsr_json_next(at))
    TSR_TRY(tsr_json_get_int(at, what, &out->items[i++]));
  return NULL;
}

tsr_status golden_read_string(const golden_case *c, const tsr_json *value, const char *what,
                              const char **out) {
  const char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_json_get_string(value, what, &bytes, &length));
  *out = tsr_arena_copy(c->arena, bytes, length);
  return *out ? NULL : tsr_fail(NO_MEMORY, "%s", what);
}

tsr_status golden_read_names(const golden_case *c, const tsr_json *value, const char *what,
                             golden_names *out) {
  void *items = NULL;
  TSR_TRY(start_list(c, value, what, sizeof *out->items, &out->count, &items));
  out->items = items;
  int i = 0;
  for (const tsr_json *at = tsr_json_first(value); at; at = tsr_json_next(at))
    TSR_TRY(golden_read_string(c, at, what, &out->items[i++]));
  return NULL;
}

tsr_status golden_int(const golden_case *c, const char *what, int64_t *out) {
  return tsr_json_get_int(golden_get(c, what), what, out);
}

tsr_status golden_bool(const golden_case *c, const char *what, bool *out) {
  return tsr_json_get_bool(golden_get(c, what), what, out);
}

tsr_status golden_list(const golden_case *c, const char *what, golden_ints *out) {
  return golden_read_ints(c, golden_get(c, what), what, out);
}

tsr_status golden_shape(const golden_case *c, const char *what, tsr_shape *out) {
  golden_ints dims;
  TSR_TRY(golden_list(c, what, &dims));
  return tsr_shape_init(out, dims.items, dims.count);
}

tsr_status golden_machine(const golden_case *c, const char *what, tsr_topology **out) {
  const char *name = NULL;
  TSR_TRY(golden_read_string(c, golden_get(c, what), what, &name));
  const tsr_json *machine = tsr_json_find(c->machines, name);
  if (!machine) return tsr_fail(NOT_FOUND, "the file has no machine \"%s\"", name);
  return tsr_topology_from_json(machine, out);
}

void golden_write_ids(tsr_json_writer *out, const char *key, const int64_t *ids, int64_t count) {
  tsr_json_write_key(out, key);
  tsr_json_begin_inline_array(out);
  for (int64_t i = 0; i < count; i++) tsr_json_write_int(out, ids[i]);
  tsr_json_end_array(out);
}

void golden_write_mesh_ids(tsr_json_writer *out, const char *key, const tsr_mesh *mesh) {
  tsr_json_write_key(out, key);
  tsr_json_begin_inline_array(out);
  for (int64_t i = 0; i < tsr_mesh_device_count(mesh); i++)
    tsr_json_write_int(out, tsr_mesh_device_at(mesh, i));
  tsr_json_end_array(out);
}

void golden_write_mesh(tsr_json_writer *out, const tsr_mesh *mesh) {
  tsr_json_write_key(out, "shape");
  tsr_json_begin_inline_array(out);
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
    tsr_json_write_int(out, tsr_mesh_axis_at(mesh, i)->size);
  tsr_json_end_array(out);
  golden_write_mesh_ids(out, "ids", mesh);
}

void golden_write_axis_names(tsr_json_writer *out, const char *key, const tsr_mesh *mesh) {
  tsr_json_write_key(out, key);
  tsr_json_begin_inline_array(out);
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++)
    tsr_json_write_string(out, tsr_mesh_axis_at(mesh, i)->name);
  tsr_json_end_array(out);
}

void golden_write_axis_types(tsr_json_writer *out, const tsr_mesh *mesh, bool capital) {
  tsr_json_write_key(out, "axis_types");
  tsr_json_begin_inline_array(out);
  for (int i = 0; i < tsr_mesh_axis_count(mesh); i++) {
    char name[16];
    snprintf(name, sizeof name, "%s", tsr_axis_type_name(tsr_mesh_axis_at(mesh, i)->type));
    if (capital) name[0] = (char)toupper((unsigned char)name[0]);
    tsr_json_write_string(out, name);
  }
  tsr_json_end_array(out);
}
