// Meshes and tensor shardings: their own rules, and how they fit the values they stand on.
//
// Parts of mesh axes are numbers once they are resolved: compared, sorted, joined and taken off.
// A sharding names axes of its mesh for each dimension, then those that are replicated and those
// that are unreduced. No part of an axis may be used twice in it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "verify/sdy_checks.h"
#include "verify/symbol_checks.h"

// ---- axes

static const tsr_attr *mesh_axis(const tsr_attr *mesh, int axis) {
  return tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->items[axis];
}

int64_t tsr_sdy_axis_size(const tsr_attr *mesh, int axis) {
  return tsr_attr_field(mesh_axis(mesh, axis), TSR_SDY_MESH_AXIS_SIZE)->integer;
}

int tsr_sdy_axis_find(const tsr_attr *mesh, const tsr_attr *name) {
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_SDY_MESH_AXES);
  for (int i = 0; i < axes->count; i++)
    if (tsr_attr_equal(tsr_attr_field(axes->items[i], TSR_SDY_MESH_AXIS_NAME), name)) return i;
  return -1;
}

void tsr_sdy_part_print(const tsr_attr *mesh, const tsr_sdy_part *part, tsr_text *out) {
  const tsr_attr *name = tsr_attr_field(mesh_axis(mesh, part->axis), TSR_SDY_MESH_AXIS_NAME);
  tsr_text_add_char(out, '"');
  tsr_text_add_bytes(out, name->bytes, name->length);
  tsr_text_add_char(out, '"');
  if (!part->whole) tsr_text_addf(out, ":(%lld)%lld", (long long)part->pre, (long long)part->size);
}

void tsr_sdy_parts_print(const tsr_attr *mesh, const tsr_sdy_parts *parts, tsr_text *out) {
  tsr_text_add_char(out, '{');
  for (int64_t i = 0; i < parts->count; i++) {
    if (i) tsr_text_add(out, ", ");
    tsr_sdy_part_print(mesh, &parts->items[i], out);
  }
  tsr_text_add_char(out, '}');
}

static tsr_status resolve_sub_axis(const tsr_attr *name, const tsr_attr *info, int64_t axis_size,
                                   tsr_sdy_part *part) {
  const int64_t pre = tsr_attr_field(info, TSR_SDY_SUB_AXIS_PRE_SIZE)->integer;
  const int64_t size = tsr_attr_field(info, TSR_SDY_SUB_AXIS_SIZE)->integer;
  const int length = (int)tsr_least((int64_t)name->length, 80);
  int64_t end = 0;
  if (pre < 1)
    return tsr_fail(CONSTRAINT, "sub-axis of \"%.*s\" has pre-size %lld, expected 1 or more",
                    length, name->bytes, (long long)pre);
  if (size <= 1)
    return tsr_fail(CONSTRAINT, "sub-axis of \"%.*s\" has size %lld, expected 2 or more", length,
                    name->bytes, (long long)size);
  if (__builtin_mul_overflow(pre, size, &end) || axis_size % end)
    return tsr_fail(CONSTRAINT,
                    "sub-axis \"%.*s\":(%lld)%lld does not divide its axis of size %lld", length,
                    name->bytes, (long long)pre, (long long)size, (long long)axis_size);
  if (size == axis_size)
    return tsr_fail(CONSTRAINT, "sub-axis \"%.*s\":(%lld)%lld is the full axis", length,
                    name->bytes, (long long)pre, (long long)size);
  part->pre = pre;
  part->size = size;
  part->whole = false;
  return NULL;
}

static tsr_status resolve(const tsr_attr *mesh, const tsr_attr *axis, tsr_sdy_part *out_part) {
  const tsr_attr *name = tsr_attr_field(axis, TSR_SDY_AXIS_NAME);
  const tsr_attr *info = tsr_attr_field(axis, TSR_SDY_AXIS_SUB_AXIS);
  const int index = tsr_sdy_axis_find(mesh, name);
  if (index < 0)
    return tsr_fail(CONSTRAINT, "axis \"%.*s\" is not in the mesh",
                    (int)tsr_least((int64_t)name->length, 80), name->bytes);
  const int64_t size = tsr_sdy_axis_size(mesh, index);
  if (size < 1)  // a wrong mesh is reported where it stands too
    return tsr_fail(CONSTRAINT, "axis \"%.*s\" has size %lld, expected 1 or more",
                    (int)tsr_least((int64_t)name->length, 80), name->bytes, (long long)size);
  *out_part = (tsr_sdy_part){.axis = index, .whole = true, .pre = 1, .size = size};
  return info ? resolve_sub_axis(name, info, size, out_part) : NULL;
}

static tsr_status fail_pair(const char *problem, const tsr_attr *mesh, const tsr_sdy_part *a,
                            const tsr_sdy_part *b) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_add(&text, "axes ");
  tsr_sdy_part_print(mesh, a, &text);
  tsr_text_add(&text, " and ");
  tsr_sdy_part_print(mesh, b, &text);
  tsr_text_addf(&text, " %s", problem);
  return tsr_fail_text(TSR_CAUSE_CONSTRAINT, &text);
}

tsr_status tsr_sdy_parts_add(const tsr_attr *mesh, const tsr_attr *axes, tsr_sdy_parts *parts) {
  for (int64_t i = 0; i < axes->count; i++) {
    tsr_sdy_part *part = &parts->items[parts->count];
    TSR_TRY(resolve(mesh, axes->items[i], part));
    if (i && tsr_sdy_can_join(part - 1, part))
      return fail_pair("follow each other and are one sub-axis", mesh, part - 1, part);
    parts->count++;
  }
  return NULL;
}

tsr_status tsr_sdy_parts_make(tsr_arena *arena, const tsr_attr *mesh, const tsr_attr *axes,
                              tsr_sdy_parts *out_parts) {
  tsr_sdy_parts parts = {tsr_arena_zeros(arena, (size_t)axes->count + 1, sizeof *parts.items), 0};
  TSR_NEED(parts.items);
  TSR_TRY(tsr_sdy_parts_add(mesh, axes, &parts));
  *out_parts = parts;
  return NULL;
}

static int compare_parts(const void *left, const void *right) {
  const tsr_sdy_part *a = left, *b = right;
  if (a->axis != b->axis) return a->axis < b->axis ? -1 : 1;
  if (a->pre != b->pre) return a->pre < b->pre ? -1 : 1;
  return (a->size > b->size) - (a->size < b->size);
}

void tsr_sdy_parts_sort(tsr_sdy_parts *parts) {
  if (parts->count > 1)
    qsort(parts->items, (size_t)parts->count, sizeof *parts->items, compare_parts);
}

bool tsr_sdy_parts_sorted(const tsr_sdy_parts *parts) {
  for (int64_t i = 1; i < parts->count; i++)
    if (compare_parts(&parts->items[i - 1], &parts->items[i]) > 0) return false;
  return true;
}

tsr_status tsr_sdy_parts_distinct(const tsr_attr *mesh, tsr_sdy_parts *parts) {
  tsr_sdy_parts_sort(parts);
  for (int64_t i = 1; i < parts->count; i++) {
    const tsr_sdy_part *a = &parts->items[i - 1], *b = &parts->items[i];
    if (!tsr_sdy_overlap(a, b)) continue;
    if (!tsr_sdy_same(a, b)) return fail_pair("overlap", mesh, a, b);
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_text_add(&text, "axis ");
    tsr_sdy_part_print(mesh, a, &text);
    tsr_text_add(&text, " is used twice");
    return tsr_fail_text(TSR_CAUSE_CONSTRAINT, &text);
  }
  return NULL;
}

bool tsr_sdy_parts_equal(const tsr_sdy_parts *a, const tsr_sdy_parts *b) {
  if (a->count != b->count) return false;
  for (int64_t i = 0; i < a->count; i++)
    if (!tsr_sdy_same(&a->items[i], &b->items[i])) return false;
  return true;
}

void tsr_sdy_parts_append(const tsr_attr *mesh, tsr_sdy_parts *parts, tsr_sdy_part part) {
  tsr_sdy_part *last = parts->count ? &parts->items[parts->count - 1] : NULL;
  if (!last || !tsr_sdy_can_join(last, &part)) {
    parts->items[parts->count++] = part;
    return;
  }
  last->size *= part.size;
  last->whole = last->size == tsr_sdy_axis_size(mesh, last->axis);
}

void tsr_sdy_parts_join(const tsr_attr *mesh, tsr_sdy_parts *parts) {
  const int64_t count = parts->count;
  tsr_sdy_parts_sort(parts);
  parts->count = 0;
  for (int64_t i = 0; i < count; i++) tsr_sdy_parts_append(mesh, parts, parts->items[i]);
}

bool tsr_sdy_parts_take(tsr_sdy_parts *parts, const tsr_sdy_part *part) {
  tsr_sdy_part *last = parts->count ? &parts->items[parts->count - 1] : NULL;
  if (!last || last->axis != part->axis || part->pre < last->pre ||
      tsr_sdy_end(part) != tsr_sdy_end(last))
    return false;
  if (last->pre == part->pre) {
    parts->count--;
  } else {
    last->size = part->pre / last->pre;
    last->whole = false;
  }
  return true;
}

// ---- meshes

// Whether a list has each number from 0 to count - 1 once, and whether in this order.
static tsr_status look_at_ids(const tsr_attr *ids, int64_t count, bool *out_each, bool *out_iota) {
  bool *seen = calloc((size_t)count + 1, sizeof *seen);
  TSR_NEED(seen);
  *out_each = *out_iota = true;
  for (int64_t i = 0; i < count; i++) {
    const int64_t id = tsr_attr_int_at(ids, i);
    const bool fine = id >= 0 && id < count && !seen[id];
    if (fine) seen[id] = true;
    *out_each &= fine;
    *out_iota &= id == i;
  }
  free(seen);
  return NULL;
}

static tsr_status check_device_ids(const tsr_op *op, const tsr_attr *ids, int64_t product) {
  const int64_t count = tsr_attr_int_count(ids);
  bool each = true, iota = true;
  TSR_ASK(product == count, op, "", "has %lld device ids, expected %lld, the product of the axes",
          (long long)count, (long long)product);
  TSR_TRY(look_at_ids(ids, count, &each, &iota));
  TSR_ASK(each, op, "", "device_ids is %s, expected each id from 0 to %lld", SHOW_INTS(ids),
          (long long)count - 1);
  TSR_ASK(!iota, op, "", "device_ids is %s, which is the default and must not be written",
          SHOW_INTS(ids));
  return NULL;
}

static tsr_status check_axis_names(const tsr_op *op, const tsr_attr *mesh) {
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_SDY_MESH_AXES);
  TSR_ASK(axes->count <= TSR_SDY_AXES_MOST, op, "", "a mesh has %lld axes, expected at most %d",
          (long long)axes->count, TSR_SDY_AXES_MOST);
  for (int i = 0; i < axes->count; i++) {
    const tsr_attr *name = tsr_attr_field(axes->items[i], TSR_SDY_MESH_AXIS_NAME);
    TSR_ASK(tsr_sdy_axis_find(mesh, name) == i, op, "", "axis %s occurs twice in a mesh",
            SHOW_ATTR(name));
    TSR_ASK(tsr_sdy_axis_size(mesh, i) > 0, op, "", "axis %s has size %lld, expected 1 or more",
            SHOW_ATTR(name), (long long)tsr_sdy_axis_size(mesh, i));
  }
  return NULL;
}

tsr_status tsr_check_sdy_mesh(const tsr_op *op, const tsr_attr *mesh) {
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_SDY_MESH_AXES);
  const tsr_attr *ids = tsr_attr_field(mesh, TSR_SDY_MESH_DEVICE_IDS);
  int64_t product = 1;
  TSR_ASK(tsr_ints_within(ids, 0, INT64_MAX), op, "", "device_ids is %s, expected 0 or more",
          SHOW_INTS(ids));
  TSR_ASK(axes->count || tsr_attr_int_count(ids) <= 1, op, "",
          "a mesh without axes has %lld device ids, expected at most 1",
          (long long)tsr_attr_int_count(ids));
  TSR_TRY(check_axis_names(op, mesh));
  for (int i = 0; i < axes->count; i++)
    TSR_ASK(!__builtin_mul_overflow(product, tsr_sdy_axis_size(mesh, i), &product), op, "",
            "the product of the axes of a mesh is too large");
  if (!axes->count || !tsr_attr_int_count(ids)) return NULL;
  return check_device_ids(op, ids, product);
}

const tsr_attr *tsr_sdy_mesh_of(const tsr_ir *ir, const tsr_op *op, const tsr_attr *sharding) {
  const tsr_attr *mesh = tsr_attr_field(sharding, TSR_SDY_SHARDING_MESH);
  if (mesh->kind != TSR_ATTR_SYMBOL) return mesh;
  const tsr_ir_block *block = tsr_module_of(ir, op)->regions[0].first;
  for (const tsr_op *member = block ? block->first : NULL; member; member = member->next) {
    if (member->info->id != TSR_OP_SDY_MESH) continue;
    const char *name = tsr_op_symbol(member);
    if (name && !strcmp(name, mesh->bytes)) return tsr_op_attr(member, "mesh");
  }
  return NULL;
}

// ---- one sharding

bool tsr_sdy_is_manual(const tsr_attr *manual, const tsr_attr *name) {
  const tsr_attr *names = tsr_attr_field(manual, TSR_SDY_MANUAL_AXES_NAMES);
  for (int64_t i = 0; i < names->count; i++)
    if (tsr_attr_equal(names->items[i], name)) return true;
  return false;
}

bool tsr_sdy_is_bound(const tsr_op *op, const tsr_attr *name) {
  for (const tsr_op *parent = tsr_op_parent(op); parent; parent = tsr_op_parent(parent)) {
    if (parent->info->id != TSR_OP_SDY_MANUAL_COMPUTATION) continue;
    const tsr_attr *manual = tsr_op_attr(parent, "manual_axes");
    if (tsr_attr_has_form(manual, TSR_FORM_RECORD, TSR_RECORD_SDY_MANUAL_AXES) &&
        tsr_sdy_is_manual(manual, name))
      return true;
  }
  return false;
}

static bool has_axes(const tsr_attr *sharding) {
  return tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS)->count ||
         tsr_attr_field(sharding, TSR_SDY_SHARDING_REPLICATED)->count ||
         tsr_attr_field(sharding, TSR_SDY_SHARDING_UNREDUCED)->count;
}

static tsr_status check_dim_priority(const tsr_op *op, const tsr_attr *dim, int64_t index,
                                     const char *where) {
  const tsr_attr *priority = tsr_attr_field(dim, TSR_SDY_DIM_PRIORITY);
  const tsr_attr *closed = tsr_attr_field(dim, TSR_SDY_DIM_CLOSED);
  if (!priority) return NULL;
  TSR_ASK(priority->integer >= 0, op, "",
          "%s: dimension %lld has priority %lld, expected 0 or more", where, (long long)index,
          (long long)priority->integer);
  TSR_ASK(!closed->integer || tsr_attr_field(dim, TSR_SDY_DIM_AXES)->count, op, "",
          "%s: dimension %lld is empty and closed but has a priority", where, (long long)index);
  return NULL;
}

static tsr_status check_not_bound(const tsr_op *op, const tsr_attr *axes, const char *where) {
  for (int64_t i = 0; i < axes->count; i++) {
    const tsr_attr *name = tsr_attr_field(axes->items[i], TSR_SDY_AXIS_NAME);
    TSR_ASK(!tsr_sdy_is_bound(op, name), op, "",
            "%s: axis %s is a manual axis of an enclosing sdy.manual_computation", where,
            SHOW_ATTR(name));
  }
  return NULL;
}

// Adds the axes of a list to those of the sharding.
static tsr_status take_axes(const tsr_op *op, const tsr_attr *mesh, const tsr_attr *axes,
                            const char *where, tsr_sdy_parts *parts) {
  TSR_TRY_NOTE(tsr_sdy_parts_add(mesh, axes, parts), "%s: %s", op->name, where);
  return check_not_bound(op, axes, where);
}

static tsr_status take_sorted(const tsr_op *op, const tsr_attr *mesh, const tsr_attr *axes,
                              const char *what, const char *where, tsr_sdy_parts *parts) {
  const int64_t before = parts->count;
  TSR_TRY(take_axes(op, mesh, axes, where, parts));
  const tsr_sdy_parts added = {parts->items + before, parts->count - before};
  TSR_ASK(tsr_sdy_parts_sorted(&added), op, "", "%s: %s axes are not in the order of the mesh",
          where, what);
  return NULL;
}

static int64_t count_axes(const tsr_attr *sharding) {
  const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
  int64_t count = tsr_attr_field(sharding, TSR_SDY_SHARDING_REPLICATED)->count +
                  tsr_attr_field(sharding, TSR_SDY_SHARDING_UNREDUCED)->count;
  for (int64_t i = 0; i < dims->count; i++)
    count += tsr_attr_field(dims->items[i], TSR_SDY_DIM_AXES)->count;
  return count;
}

static tsr_status check_axes(const tsr_op *op, const tsr_attr *mesh, const tsr_attr *sharding,
                             const char *where, tsr_sdy_parts *parts) {
  const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
  for (int64_t i = 0; i < dims->count; i++) {
    TSR_TRY(check_dim_priority(op, dims->items[i], i, where));
    TSR_TRY(take_axes(op, mesh, tsr_attr_field(dims->items[i], TSR_SDY_DIM_AXES), where, parts));
  }
  TSR_TRY(take_sorted(op, mesh, tsr_attr_field(sharding, TSR_SDY_SHARDING_REPLICATED), "replicated",
                      where, parts));
  TSR_TRY(take_sorted(op, mesh, tsr_attr_field(sharding, TSR_SDY_SHARDING_UNREDUCED), "unreduced",
                      where, parts));
  TSR_TRY_NOTE(tsr_sdy_parts_distinct(mesh, parts), "%s: %s", op->name, where);
  return NULL;
}

static tsr_status check_tensor_axes(const tsr_op *op, const tsr_attr *mesh,
                                    const tsr_attr *sharding, const char *where) {
  tsr_sdy_part few[32];
  const int64_t count = count_axes(sharding);
  tsr_sdy_parts parts = {few, 0};
  if (count > (int64_t)(sizeof few / sizeof *few)) {
    parts.items = calloc((size_t)count, sizeof *parts.items);
    TSR_NEED(parts.items);
  }
  const tsr_status status = check_axes(op, mesh, sharding, where, &parts);
  if (parts.items != few) free(parts.items);
  return status;
}

tsr_status tsr_check_sharding(tsr_ir *ir, const tsr_op *op, const tsr_attr *sharding,
                              const tsr_type *type, const char *where) {
  const tsr_attr *mesh = tsr_sdy_mesh_of(ir, op, sharding);
  const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
  TSR_ASK(mesh && tsr_attr_has_form(mesh, TSR_FORM_RECORD, TSR_RECORD_SDY_MESH), op, "",
          "%s: mesh %s is not in the module", where,
          SHOW_ATTR(tsr_attr_field(sharding, TSR_SDY_SHARDING_MESH)));
  if (tsr_attr_field(sharding, TSR_SDY_SHARDING_MESH) == mesh)
    TSR_TRY(tsr_check_sdy_mesh(op, mesh));  // written in place; others are checked as ops
  if (type && type->kind == TSR_TYPE_TUPLE) {
    TSR_ASK(type->count == 1 || tsr_sdy_is_maximal(mesh), op, "",
            "%s: %s has a sharding, expected a tuple of size 1", where, SHOW_TYPE(type));
    if (type->count == 1) type = type->types[0];
  }
  if (tsr_sdy_is_maximal(mesh) || !type || !tsr_type_is_shaped(type)) {
    TSR_ASK(!has_axes(sharding), op, "",
            "%s: the sharding is %s, expected no dimensions and no axes for a maximal mesh or a "
            "value that is no tensor",
            where, SHOW_ATTR(sharding));
    return NULL;
  }
  TSR_ASK(type->kind != TSR_TYPE_UNRANKED, op, "", "%s: %s has a sharding, expected a known rank",
          where, SHOW_TYPE(type));
  TSR_ASK(dims->count == type->rank, op, "",
          "%s: the sharding has %lld dimensions, expected %d as %s", where, (long long)dims->count,
          type->rank, SHOW_TYPE(type));
  return check_tensor_axes(op, mesh, sharding, where);
}

// ---- lists of shardings

const tsr_type *tsr_operand_type_at(const tsr_op *op, int index) {
  return tsr_operand_type(op, index);
}

const tsr_type *tsr_result_type_at(const tsr_op *op, int index) {
  return tsr_op_result(op, index)->type;
}

// Whether no dimension is sharded and nothing is unreduced.
static bool is_replicated(const tsr_attr *sharding) {
  const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
  for (int64_t i = 0; i < dims->count; i++)
    if (tsr_attr_field(dims->items[i], TSR_SDY_DIM_AXES)->count) return false;
  return !tsr_attr_field(sharding, TSR_SDY_SHARDING_UNREDUCED)->count;
}

tsr_status tsr_check_shardings(tsr_ir *ir, const tsr_op *op, const tsr_attr *shardings,
                               tsr_type_at *get, int count, const char *where) {
  const tsr_attr *list = tsr_attr_field(shardings, TSR_SDY_SHARDINGS_LIST);
  if (!count && list->count == 1) {
    const tsr_attr *mesh = tsr_sdy_mesh_of(ir, op, list->items[0]);
    if ((mesh && tsr_sdy_is_maximal(mesh)) || is_replicated(list->items[0]))
      return tsr_check_sharding(ir, op, list->items[0], NULL, where);
  }
  TSR_ASK(list->count == count, op, "", "%s: there are %lld shardings, expected %d", where,
          (long long)list->count, count);
  for (int i = 0; i < count; i++) {
    char place[64];
    snprintf(place, sizeof place, "%s %d", where, i);
    TSR_TRY(tsr_check_sharding(ir, op, list->items[i], get(op, i), place));
  }
  return NULL;
}

tsr_status tsr_check_value_sharding(tsr_ir *ir, const tsr_op *func, const tsr_attr *dict,
                                    const tsr_type *type, const char *what, int index) {
  const tsr_attr *sharding = tsr_dict_find(dict, "sdy.sharding");
  char where[64];
  if (!sharding) return NULL;
  snprintf(where, sizeof where, "%s %d", what, index);
  TSR_ASK(tsr_attr_has_form(sharding, TSR_FORM_RECORD, TSR_RECORD_SDY_SHARDING), func, "",
          "%s: sdy.sharding is %s, expected #sdy.sharding", where, SHOW_ATTR(sharding));
  return tsr_check_sharding(ir, func, sharding, type, where);
}
