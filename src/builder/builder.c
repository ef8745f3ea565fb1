// The life of a builder: created with an open function "main", asked for values, finished into a
// program. The first failure stays with the call that met it.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "builder/builder_internal.h"
#include "program/program_internal.h"
#include "verify/verify.h"

// ---- calls and failures ----

bool tsr_builder_enter(tsr_builder *builder, const char *name) {
  if (builder->failure || builder->spent) return false;
  tsr_builder_calls *calls = &builder->calls;
  if (calls->depth == 0) calls->number = ++builder->call_count;
  calls->names[calls->depth++] = name;
  return true;
}

tsr_node tsr_builder_leave(tsr_builder *builder, tsr_node result) {
  builder->calls.depth--;
  return builder->failure ? TSR_NO_NODE : result;
}

bool tsr_builder_enter_all(tsr_builder *builder, const char *name, tsr_node *results, int count) {
  for (int i = 0; results && i < count; i++) results[i] = TSR_NO_NODE;
  if (!tsr_builder_enter(builder, name)) return false;
  if (tsr_builder_given(builder, "results", results, count, 0)) return true;
  builder->calls.depth--;
  return false;
}

void tsr_builder_leave_all(tsr_builder *builder, tsr_node *results, int count) {
  builder->calls.depth--;
  for (int i = 0; builder->failure && i < count; i++) results[i] = TSR_NO_NODE;
}

// "call 3, softmax: reduce: ..."; "call 3, add: ..." where no call is inside of another.
static tsr_status with_call(const tsr_builder_calls *calls, tsr_status status) {
  if (calls->depth > 1) status = tsr_note(status, "%s", calls->names[calls->depth - 1]);
  return tsr_note(status, "call %lld, %s", (long long)calls->number, calls->names[0]);
}

bool tsr_builder_keep(tsr_builder *builder, tsr_status status) {
  if (status && !builder->failure)
    builder->failure = with_call(&builder->calls, status);
  else
    tsr_status_free(status);
  return !builder->failure;
}

bool tsr_builder_failed(const tsr_builder *builder) { return builder->failure != NULL; }

// ---- values ----

// Whether a value made in `made` can be used in `here`, which is inside of it or the same.
static bool is_visible(const tsr_ir_block *made, const tsr_ir_block *here) {
  while (here) {
    if (made == here) return true;
    const tsr_op *parent = tsr_block_parent(here);
    if (!parent || parent->info->traits & TSR_TRAIT_ISOLATED) return false;
    here = parent->block;
  }
  return false;
}

tsr_status tsr_builder_value(const tsr_builder *builder, tsr_node node, int index,
                             tsr_value **out_value) {
  if (node.id == 0) return tsr_fail(BAD_ARGUMENT, "operand %d is no value", index);
  if (node.id < 0 || node.id > builder->value_count)
    return tsr_fail(BAD_ARGUMENT, "operand %d is node %d, expected 1 to %lld", index, (int)node.id,
                    (long long)builder->value_count);
  tsr_value *value = builder->values[node.id - 1];
  if (!is_visible(tsr_value_block(value), builder->open->block))
    return tsr_fail(BAD_ARGUMENT,
                    "operand %d is a value of another function or region, expected one of this "
                    "region or of those around it",
                    index);
  *out_value = value;
  return NULL;
}

static tsr_status append_value(tsr_builder *builder, tsr_value *value) {
  if (builder->value_count == INT32_MAX)
    return tsr_fail(TOO_LARGE, "more than %d values in one program", (int)INT32_MAX);
  tsr_value **grown = tsr_grow(builder->values, builder->value_count, &builder->value_capacity,
                               sizeof *builder->values);
  TSR_NEED(grown);
  builder->values = grown;
  builder->values[builder->value_count++] = value;
  return NULL;
}

tsr_node tsr_builder_add_value(tsr_builder *builder, tsr_value *value) {
  if (!tsr_builder_keep(builder, append_value(builder, value))) return TSR_NO_NODE;
  return (tsr_node){(int32_t)builder->value_count};
}

// The type of a node wherever it was made; NULL for the node 0 and after a failure.
static const tsr_type *type_of(const tsr_builder *builder, tsr_node node) {
  if (builder->failure || builder->spent || node.id < 1 || node.id > builder->value_count)
    return NULL;
  const tsr_type *type = builder->values[node.id - 1]->type;
  return type->kind == TSR_TYPE_TENSOR && tsr_type_is_static(type) && type->rank <= TSR_MAX_RANK
             ? type
             : NULL;
}

tsr_shape tsr_shape_of_type(const tsr_type *type) {
  tsr_shape shape = {.rank = type->rank};
  for (int i = 0; i < type->rank; i++) shape.dims[i] = type->dims[i];
  return shape;
}

tsr_shape tsr_build_shape_of(const tsr_builder *builder, tsr_node x) {
  const tsr_type *type = type_of(builder, x);
  return type ? tsr_shape_of_type(type) : (tsr_shape){0};
}

tsr_dtype tsr_build_dtype_of(const tsr_builder *builder, tsr_node x) {
  const tsr_type *type = type_of(builder, x);
  return type ? type->dtype : TSR_DTYPE_NONE;
}

// ---- life ----

static tsr_status set_module_name(tsr_ir *ir, const char *name) {
  if (!name) return NULL;
  const char *key = tsr_ir_name(ir, "sym_name", strlen("sym_name"));
  const tsr_attr *value = tsr_attr_string(ir, name, strlen(name));
  TSR_NEED(key && value && tsr_op_set_attr(ir, ir->module, key, value) ? ir : NULL);
  return NULL;
}

static tsr_status start(tsr_builder *builder, const char *name) {
  builder->ir = tsr_ir_create();
  TSR_NEED(builder->ir);
  TSR_TRY(set_module_name(builder->ir, name));
  return tsr_builder_open(builder, &builder->main, "main", "public");
}

tsr_status tsr_builder_create(const char *name, tsr_builder **out_builder) {
  tsr_builder *builder = calloc(1, sizeof *builder);
  TSR_NEED(builder);
  const tsr_status status = start(builder, name);
  if (status)
    tsr_builder_destroy(builder);
  else
    *out_builder = builder;
  return status;
}

// The list lies in the program's arena: it is given back while that is still ours.
static void release_meshes(tsr_builder *builder) {
  for (int i = 0; i < builder->mesh_count; i++) tsr_mesh_release(builder->meshes[i].mesh);
  builder->mesh_count = 0;
}

void tsr_builder_destroy(tsr_builder *builder) {
  if (!builder) return;
  release_meshes(builder);
  tsr_ir_destroy(builder->ir);
  tsr_status_free(builder->failure);
  free(builder->values);
  free(builder);
}

static tsr_status finish(tsr_builder *builder, tsr_program **out_program) {
  if (builder->open != &builder->main)
    return tsr_fail(BAD_ARGUMENT, "function \"%s\" has not ended",
                    tsr_op_symbol(builder->function.op));
  TSR_TRY(tsr_builder_close(builder, &builder->main));
  TSR_TRY(tsr_verify(builder->ir, "builder"));
  release_meshes(builder);
  tsr_ir *ir = builder->ir;
  builder->ir = NULL;
  return tsr_program_wrap(ir, "builder", TSR_PROGRAM_BUILT, out_program);
}

tsr_status tsr_builder_finish(tsr_builder *builder, tsr_program **out_program) {
  if (builder->spent) return tsr_fail(BAD_ARGUMENT, "the builder was finished before");
  tsr_status failure = builder->failure;
  builder->failure = NULL;
  builder->spent = true;
  return failure ? failure : finish(builder, out_program);
}
