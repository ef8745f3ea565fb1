// note-fallbacks: after reshards are inserted, those that an op asks for because it cannot be cut
// along a dimension, and that leave its operand with fewer axes. A reshard that only moves axes to
// another dimension, or one because of shardings that conflict, is none.
#include "spmd/fallbacks.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/text_internal.h"
#include "factor/rule.h"
#include "propagate/edits.h"
#include "resolve/cut_build.h"
#include "spmd/pad_uneven.h"
#include "spmd/spmd_passes.h"

static const char list_name[] = "tessera.fallbacks";

// ---- rows ----

static void print_axes(const tsr_attr *mesh, const tsr_sdy_parts *axes, tsr_text *out) {
  for (int64_t i = 0; i < axes->count; i++) {
    const tsr_sdy_part *part = &axes->items[i];
    const tsr_attr *axis = tsr_attr_field(mesh, TSR_SDY_MESH_AXES)->items[part->axis];
    tsr_text_addf(out, "%s%s", i ? ", " : "", tsr_attr_field(axis, TSR_SDY_MESH_AXIS_NAME)->bytes);
    if (!part->whole)
      tsr_text_addf(out, ":(%lld)%lld", (long long)part->pre, (long long)part->size);
  }
}

static const tsr_attr *make_row(tsr_ir *ir, const tsr_spmd_fallback *row) {
  const struct {
    const char *name;
    const tsr_attr *attr;
  } fields[] = {{"axes", tsr_attr_string(ir, row->axes, strlen(row->axes))},
                {"bytes", tsr_attr_i64(ir, row->bytes)},
                {"cause", tsr_attr_string(ir, row->cause, strlen(row->cause))},
                {"dimension", tsr_attr_i64(ir, row->dim)},
                {"op", tsr_attr_string(ir, row->op, strlen(row->op))},
                {"operand", tsr_attr_i64(ir, row->operand)},
                {"places", tsr_attr_i64(ir, row->places)}};
  enum { COUNT = sizeof fields / sizeof *fields };
  tsr_named_attr entries[COUNT];
  for (int i = 0; i < COUNT; i++) {
    entries[i].name = tsr_ir_name(ir, fields[i].name, strlen(fields[i].name));
    entries[i].attr = fields[i].attr;
    if (!entries[i].name || !entries[i].attr) return NULL;
  }
  return tsr_attr_dict(ir, entries, COUNT);
}

static const tsr_attr *list_of(const tsr_ir *ir) {
  const tsr_attr *list = tsr_op_attr(ir->module, list_name);
  return list && list->kind == TSR_ATTR_ARRAY ? list : NULL;
}

bool tsr_op_computes(const tsr_op *op) {
  static const char *const dialects[] = {"stablehlo.", "chlo.", "mhlo."};
  for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
    if (!strncmp(op->name, dialects[i], strlen(dialects[i]))) return true;
  return false;
}

int64_t tsr_spmd_fallback_count(const tsr_ir *ir) {
  const tsr_attr *list = list_of(ir);
  return list ? list->count : 0;
}

static const char *text_field(const tsr_attr *row, const char *name) {
  const tsr_attr *attr = tsr_dict_find(row, name);
  return attr && attr->kind == TSR_ATTR_STRING ? attr->bytes : "";
}

static int64_t number_field(const tsr_attr *row, const char *name) {
  const tsr_attr *attr = tsr_dict_find(row, name);
  return attr && attr->kind == TSR_ATTR_INTEGER ? attr->integer : 0;
}

// Programs may come with the attribute: what is missing in it is empty.
tsr_spmd_fallback tsr_spmd_fallback_at(const tsr_ir *ir, int64_t index) {
  const tsr_attr *row = list_of(ir)->items[index];
  if (row->kind != TSR_ATTR_DICT) return (tsr_spmd_fallback){.op = "", .axes = "", .cause = ""};
  return (tsr_spmd_fallback){.op = text_field(row, "op"),
                             .operand = number_field(row, "operand"),
                             .dim = number_field(row, "dimension"),
                             .axes = text_field(row, "axes"),
                             .bytes = number_field(row, "bytes"),
                             .places = number_field(row, "places"),
                             .cause = text_field(row, "cause")};
}

static bool is_alike(const tsr_spmd_fallback *a, const tsr_spmd_fallback *b) {
  return a->operand == b->operand && a->dim == b->dim && a->bytes == b->bytes &&
         !strcmp(a->op, b->op) && !strcmp(a->axes, b->axes) && !strcmp(a->cause, b->cause);
}

// Adds a row, or a place to the one that is alike.
static tsr_status add_row(tsr_ir *ir, tsr_spmd_fallback *made) {
  const tsr_attr *old = list_of(ir);
  const int64_t count = tsr_spmd_fallback_count(ir);
  int64_t place = 0;
  for (made->places = 1; place < count; place++) {
    const tsr_spmd_fallback row = tsr_spmd_fallback_at(ir, place);
    if (!is_alike(&row, made)) continue;
    made->places = tsr_saturated_add(row.places, 1);
    break;
  }
  const tsr_attr **rows = tsr_ir_alloc(ir, ((size_t)count + 1) * sizeof *rows);
  TSR_NEED(rows);
  for (int64_t i = 0; i < count; i++) rows[i] = old->items[i];
  rows[place] = make_row(ir, made);
  TSR_NEED(rows[place]);
  const tsr_attr *list = tsr_attr_array(ir, rows, place < count ? count : count + 1);
  TSR_NEED(list);
  return tsr_op_attr_set(ir, ir->module, list_name, list);
}

// ---- causes ----

static const struct {
  tsr_op_id id;
  const char *cause;
} causes[] = {
    {TSR_OP_SORT, "the dimension is sorted, which needs all of it"},
    {TSR_OP_CHLO_TOP_K, "the largest elements are looked for in all of the dimension"},
    {TSR_OP_FFT, "the dimension is transformed, which needs all of it"},
    {TSR_OP_CHOLESKY, "the matrix is factored whole"},
    {TSR_OP_TRIANGULAR_SOLVE, "the system is solved whole"},
    {TSR_OP_REDUCE, "partial results of the body cannot be combined"},
    {TSR_OP_SCATTER, "partial results of the body cannot be combined"},
    {TSR_OP_RESHAPE, "the shards of the result have elements of several shards"},
    {TSR_OP_CONVOLUTION, "the axes do not divide the dimension of the result"},
    {TSR_OP_REDUCE_WINDOW, "the axes do not divide the dimension of the result"},
    {TSR_OP_SELECT_AND_SCATTER, "its windows are padded negatively, or not divided by the axes"},
    {TSR_OP_CONCATENATE, "the operands are joined along the dimension"},
    {TSR_OP_SLICE, "the axes do not divide the dimension of the result"},
    {TSR_OP_PAD, "the axes do not divide the dimension of the result"},
    {TSR_OP_DYNAMIC_SLICE, "a sum of parts of the slice would move more than all of the operand"},
    {TSR_OP_RNG_BIT_GENERATOR, "the state of the generator is needed whole"},
};

// Why an op asks for a dim of an operand to be whole; NULL = it does not, as far as the op goes.
static const char *cause_of(const tsr_op *op, const tsr_op_rule *rule, int operand, int dim,
                            const tsr_tensor_sharding *from) {
  bool whole = tsr_op_is(op, TSR_OP_RESHAPE);
  if (!tsr_op_has_rule(op->info->id)) return "the op has no sharding rule";
  if (tsr_operand_type(op, operand)->dims[dim] % tsr_cut_count(from, dim) &&
      !tsr_uneven_is_served(op, rule, operand, dim))
    return "its axes do not divide the dimension";
  for (int i = tsr_rule_dim(rule, operand, dim); i < tsr_rule_dim(rule, operand, dim + 1); i++) {
    const tsr_factor_kind kind = rule->factors[rule->places[i].factor].kind;
    whole |= kind == TSR_FACTOR_NEED_REPLICATION || kind == TSR_FACTOR_PERMUTATION;
  }
  if (!whole) return NULL;
  for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
    if (tsr_op_is(op, causes[i].id)) return causes[i].cause;
  return "the op needs all of the dimension";
}

// ---- the pass ----

typedef struct fallback_walk {
  tsr_ir *ir;
  tsr_arena scratch;
  int64_t *changes;
} fallback_walk;

int64_t tsr_received_bytes(const tsr_type *type, const tsr_tensor_sharding *cut,
                           const tsr_sdy_parts *axes) {
  int64_t bytes = (int64_t)tsr_type_element_bytes(tsr_type_element(type));
  for (int d = 0; d < type->rank; d++) {
    const int64_t shards = tsr_cut_count(cut, d);
    bytes = tsr_saturated_multiply(bytes, type->dims[d] / shards + (type->dims[d] % shards != 0));
  }
  return tsr_saturated_multiply(bytes, tsr_parts_size(axes) - 1);
}

static tsr_status add_fallback(tsr_ir *ir, const tsr_op *op, int operand, const tsr_type *type,
                               int dim, const tsr_tensor_sharding *from, const tsr_sdy_parts *axes,
                               const char *cause) {
  tsr_text text = TSR_TEXT_EMPTY;
  print_axes(from->mesh, axes, &text);
  tsr_status status = tsr_text_check(&text);
  tsr_spmd_fallback row = {.op = op->name,
                           .operand = operand,
                           .dim = dim,
                           .axes = tsr_text_string(&text),
                           .bytes = tsr_received_bytes(type, from, axes),
                           .cause = cause};
  if (!status) status = add_row(ir, &row);
  tsr_text_deinit(&text);
  return status;
}

// The axes of a dim that a reshard gathers: no dim has them after it.
static tsr_status gathered_axes(fallback_walk *w, const tsr_tensor_sharding *from,
                                const tsr_tensor_sharding *to, int dim, tsr_sdy_parts *out_axes) {
  *out_axes = from->dims[dim].axes;
  for (int d = 0; to && d < to->rank && out_axes->count; d++) {
    tsr_sdy_parts rest;
    if (!tsr_parts_minus(&w->scratch, from->mesh, out_axes, &to->dims[d].axes, &rest))
      return tsr_fail(NO_MEMORY, "axes of a sharding");
    *out_axes = rest;
  }
  return NULL;
}

static tsr_status note_operand(fallback_walk *w, tsr_op *op, const tsr_op_rule *rule, int operand) {
  tsr_value *value = tsr_op_operand(op, operand);
  const tsr_tensor_sharding *from = NULL, *to = NULL;
  if (!tsr_op_is(value->def, TSR_OP_SDY_RESHARD)) return NULL;
  TSR_TRY(tsr_cut_of_value(&w->scratch, w->ir, tsr_op_operand(value->def, 0), &from));
  TSR_TRY(tsr_cut_of_value(&w->scratch, w->ir, value, &to));
  for (int d = 0; from && d < from->rank && d < tsr_rule_rank(rule, operand); d++) {
    tsr_sdy_parts axes;
    const char *cause = cause_of(op, rule, operand, d, from);
    if (!cause || !from->dims[d].axes.count) continue;
    TSR_TRY(gathered_axes(w, from, to, d, &axes));
    if (tsr_parts_size(&axes) <= 1) continue;
    TSR_TRY(add_fallback(w->ir, op, operand, value->type, d, from, &axes, cause));
    ++*w->changes;
  }
  return NULL;
}

static tsr_status note_op(tsr_op *op, void *context) {
  fallback_walk *w = context;
  const tsr_op_rule *rule = NULL;
  tsr_arena_reset(&w->scratch);
  if (!tsr_op_computes(op)) return NULL;
  TSR_TRY(tsr_rule_of(&w->scratch, op, TSR_RULE_EXPANDED, &rule));
  for (int i = 0; rule && i < op->operand_count; i++) TSR_TRY(note_operand(w, op, rule, i));
  return NULL;
}

tsr_status tsr_pass_note_fallbacks(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  fallback_walk w = {.ir = ir, .changes = changes};
  (void)options;
  tsr_status status = tsr_op_walk(ir->module, note_op, &w);
  tsr_arena_deinit(&w.scratch);
  return status;
}

tsr_status tsr_spmd_fallback_uneven(tsr_ir *ir, const tsr_op *op, int index, const tsr_type *type,
                                    const tsr_attr *sharding) {
  const bool argument = tsr_op_is(op, TSR_OP_FUNC);
  const tsr_tensor_sharding *cut = NULL;
  tsr_arena arena = {0};
  tsr_status status = tsr_cut_of_attr(&arena, ir, op, sharding, &cut);
  for (int d = 0; cut && d < cut->rank && !status; d++)
    if (type->dims[d] != TSR_DYNAMIC && type->dims[d] % tsr_cut_count(cut, d))
      status = add_fallback(ir, op, index, type, d, cut, &cut->dims[d].axes,
                            argument ? "its axes do not divide the dimension of the argument"
                                     : "its axes do not divide the dimension of its result");
  tsr_arena_deinit(&arena);
  return status;
}
