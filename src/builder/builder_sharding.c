// Meshes, and shardings of values over them: sdy.mesh, sdy.sharding, sdy.sharding_constraint.
#include <string.h>

#include "base/text_internal.h"
#include "builder/builder_internal.h"
#include "builder/builder_spec.h"
#include "syntax/syntax.h"
#include "tessera/compat/flax_rules.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/logical.h"

// ---- meshes ----

static const tsr_attr *axis_attr(tsr_ir *ir, const tsr_axis *axis) {
  const tsr_attr *fields[] = {
      [TSR_SDY_MESH_AXIS_NAME] = tsr_attr_string(ir, axis->name, strlen(axis->name)),
      [TSR_SDY_MESH_AXIS_SIZE] = tsr_attr_i64(ir, axis->size)};
  return fields[0] && fields[1] ? tsr_attr_record(ir, TSR_RECORD_SDY_MESH_AXIS, fields) : NULL;
}

static const tsr_attr *axes_attr(tsr_ir *ir, const tsr_mesh *mesh) {
  const int count = tsr_mesh_axis_count(mesh);
  const tsr_attr **axes = tsr_ir_alloc(ir, sizeof *axes * (size_t)(count + 1));
  for (int i = 0; axes && i < count; i++) {
    axes[i] = axis_attr(ir, tsr_mesh_axis_at(mesh, i));
    if (!axes[i]) return NULL;
  }
  return axes ? tsr_attr_array(ir, axes, count) : NULL;
}

// Devices in an order of their own; none for 0, 1, 2, ...
static const tsr_attr *devices_attr(tsr_ir *ir, const tsr_mesh *mesh) {
  const int64_t count = tsr_mesh_device_count(mesh);
  bool counting = true;
  for (int64_t i = 0; i < count; i++) counting &= tsr_mesh_device_at(mesh, i) == i;
  if (counting) return tsr_attr_ints(ir, NULL, 0);
  int64_t *ids = tsr_ir_alloc(ir, sizeof *ids * (size_t)count);
  for (int64_t i = 0; ids && i < count; i++) ids[i] = tsr_mesh_device_at(mesh, i);
  return ids ? tsr_attr_ints(ir, ids, count) : NULL;
}

const tsr_attr *tsr_mesh_attr(tsr_ir *ir, const tsr_mesh *mesh) {
  const tsr_attr *fields[] = {[TSR_SDY_MESH_AXES] = axes_attr(ir, mesh),
                              [TSR_SDY_MESH_DEVICE_IDS] = devices_attr(ir, mesh)};
  return fields[0] && fields[1] ? tsr_attr_record(ir, TSR_RECORD_SDY_MESH, fields) : NULL;
}

static tsr_status mesh_attrs(tsr_ir *ir, const char *name, const tsr_mesh *mesh,
                             tsr_named_attr attrs[2]) {
  attrs[0] = (tsr_named_attr){tsr_ir_name(ir, "mesh", strlen("mesh")), tsr_mesh_attr(ir, mesh)};
  attrs[1] = (tsr_named_attr){tsr_ir_name(ir, "sym_name", strlen("sym_name")),
                              tsr_attr_string(ir, name, strlen(name))};
  TSR_NEED(attrs[0].name && attrs[0].attr && attrs[1].name && attrs[1].attr ? ir : NULL);
  return NULL;
}

tsr_status tsr_device_count_write(tsr_ir *ir, int64_t count) {
  const tsr_type *i32 = tsr_type_integer(ir, 32, TSR_SIGNLESS);
  const char *partitions = tsr_ir_name(ir, "mhlo.num_partitions", strlen("mhlo.num_partitions"));
  const char *replicas = tsr_ir_name(ir, "mhlo.num_replicas", strlen("mhlo.num_replicas"));
  TSR_NEED(i32 && partitions && replicas ? ir : NULL);
  if (count > INT32_MAX) return tsr_fail(TOO_LARGE, "mesh of %lld devices", (long long)count);
  const tsr_attr *all = tsr_attr_integer(ir, i32, count), *one = tsr_attr_integer(ir, i32, 1);
  TSR_NEED(all && one && tsr_op_set_attr(ir, ir->module, partitions, all) &&
                   tsr_op_set_attr(ir, ir->module, replicas, one)
               ? ir
               : NULL);
  return NULL;
}

// Meshes stand before the functions, in the order of their declaration.
static tsr_status add_mesh(tsr_builder *builder, const char *name, const tsr_mesh *mesh) {
  tsr_ir *ir = builder->ir;
  if (!*name) return tsr_fail(BAD_ARGUMENT, "the name of the mesh is empty");
  if (tsr_ir_find_symbol(ir, name))
    return tsr_fail(BAD_ARGUMENT, "there is already a function or mesh \"%s\"", name);
  tsr_named_attr attrs[2];
  TSR_TRY(mesh_attrs(ir, name, mesh, attrs));
  // As many devices as the largest mesh has.
  const int64_t devices = tsr_mesh_device_count(mesh);
  if (devices > tsr_op_int(ir->module, "mhlo.num_partitions", 0))
    TSR_TRY(tsr_device_count_write(ir, devices));
  tsr_builder_mesh *meshes =
      tsr_arena_grow(&ir->arena, builder->meshes, builder->mesh_count, sizeof *meshes);
  tsr_op *op =
      tsr_op_create(ir, &(tsr_op_parts){.id = TSR_OP_SDY_MESH, .attr_count = 2, .attrs = attrs});
  const char *kept = tsr_ir_name(ir, name, strlen(name));
  TSR_NEED(meshes && op && kept ? op : NULL);
  tsr_op_insert_before(builder->main.op, op);
  builder->meshes = meshes;
  meshes[builder->mesh_count++] = (tsr_builder_mesh){kept, tsr_mesh_retain(mesh)};
  return NULL;
}

void tsr_build_mesh(tsr_builder *builder, const char *name, const tsr_mesh *mesh) {
  if (!tsr_builder_enter(builder, "mesh")) return;
  (void)tsr_builder_keep(builder, add_mesh(builder, name ? name : "mesh", mesh));
  (void)tsr_builder_leave(builder, TSR_NO_NODE);
}

// ---- shardings ----

static tsr_status read_sharding(tsr_builder *builder, const tsr_text *text,
                                const tsr_attr **out_attr) {
  char *kept = tsr_arena_copy(&builder->ir->arena, tsr_text_string(text), text->length);
  TSR_NEED(kept);
  return tsr_syntax_read_attr(builder->ir, kept, text->length, out_attr);
}

tsr_status tsr_builder_sharding(tsr_builder *builder, const char *spec, const tsr_type *type,
                                const tsr_attr **out_attr) {
  if (type->kind != TSR_TYPE_TENSOR || type->rank > TSR_MAX_RANK)
    return tsr_fail(CONSTRAINT, "only tensors have shardings");
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status =
      tsr_spec_to_shardy(spec, type->rank, builder->meshes, builder->mesh_count, &text);
  if (!status) status = read_sharding(builder, &text, out_attr);
  tsr_text_deinit(&text);
  return tsr_note(status, "spec \"%s\"", spec);
}

static tsr_node constrain(tsr_builder *builder, tsr_node x, const char *spec) {
  tsr_value *value = NULL;
  const tsr_attr *sharding = NULL;
  if (!tsr_builder_keep(builder, tsr_builder_value(builder, x, 0, &value)) ||
      !tsr_builder_keep(builder, tsr_builder_sharding(builder, spec, value->type, &sharding)))
    return TSR_NO_NODE;
  tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_SDY_SHARDING_CONSTRAINT, &x, 1);
  tsr_builder_attr(&draft, "sharding", sharding);
  draft.type_count = 1;
  draft.types = &value->type;
  return tsr_builder_emit_one(&draft);
}

tsr_node tsr_build_constrain(tsr_builder *builder, tsr_node x, const char *spec) {
  if (!tsr_builder_enter(builder, "constrain")) return TSR_NO_NODE;
  return tsr_builder_leave(builder, constrain(builder, x, spec));
}

// ---- logical axes ----

static bool has_mesh(const tsr_builder *builder) {
  for (int i = 0; i < builder->mesh_count; i++)
    if (!strcmp(builder->meshes[i].name, "mesh")) return true;
  return false;
}

static tsr_status check_names(const char *names) {
  tsr_logical_names parsed = {0};
  TSR_TRY(tsr_logical_names_parse(names, &parsed));
  tsr_logical_names_deinit(&parsed);
  return NULL;
}

static tsr_status map_names(const char *names, tsr_text *out_spec) {
  TSR_TRY_NOTE(tsr_logical_to_spec_text(names, NULL, out_spec), "logical axes \"%s\"", names);
  return tsr_text_check(out_spec);
}

static tsr_node constrain_logical(tsr_builder *builder, tsr_node x, const char *names) {
  const tsr_mesh *current = tsr_mesh_current();
  tsr_text spec = TSR_TEXT_EMPTY;
  if (!tsr_builder_keep(builder, check_names(names))) return TSR_NO_NODE;
  if (!tsr_logical_current() || (!has_mesh(builder) && !current)) return x;
  if (!has_mesh(builder) && !tsr_builder_keep(builder, add_mesh(builder, "mesh", current)))
    return TSR_NO_NODE;
  tsr_node result = TSR_NO_NODE;
  if (tsr_builder_keep(builder, map_names(names, &spec)))
    result = constrain(builder, x, tsr_text_string(&spec));
  tsr_text_deinit(&spec);
  return result;
}

tsr_node tsr_build_constrain_logical(tsr_builder *builder, tsr_node x, const char *names) {
  if (!tsr_builder_enter(builder, "constrain_logical")) return TSR_NO_NODE;
  return tsr_builder_leave(builder, constrain_logical(builder, x, names));
}
