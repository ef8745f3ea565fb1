// Contractions and convolutions: dot_general and convolution with their records of dimensions.
#include <string.h>

#include "base/sized.h"
#include "base/text_internal.h"
#include "builder/builder_internal.h"
#include "syntax/syntax.h"

// ---- dot_general ----

typedef struct contraction_dims {
  tsr_shape x_batch, y_batch, x_contract, y_contract;
} contraction_dims;

static bool read_pair(tsr_builder *builder, const char *what, const tsr_shape *x,
                      const tsr_shape *y, int x_rank, int y_rank, tsr_shape *out_x,
                      tsr_shape *out_y) {
  const tsr_shape none = {0};
  if (!x) x = &none;
  if (!y) y = &none;
  if (x->rank != y->rank)
    return tsr_builder_keep(builder, tsr_fail(BAD_ARGUMENT, "%d %s dimensions of x and %d of y",
                                              x->rank, what, y->rank));
  return tsr_builder_dims(builder, x, x_rank, out_x) && tsr_builder_dims(builder, y, y_rank, out_y);
}

static const tsr_attr *dot_attr(tsr_ir *ir, const contraction_dims *dims) {
  const tsr_attr *fields[] = {
      [TSR_DOT_LHS_BATCHING] = tsr_attr_ints(ir, dims->x_batch.dims, dims->x_batch.rank),
      [TSR_DOT_RHS_BATCHING] = tsr_attr_ints(ir, dims->y_batch.dims, dims->y_batch.rank),
      [TSR_DOT_LHS_CONTRACTING] = tsr_attr_ints(ir, dims->x_contract.dims, dims->x_contract.rank),
      [TSR_DOT_RHS_CONTRACTING] = tsr_attr_ints(ir, dims->y_contract.dims, dims->y_contract.rank)};
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (!fields[i]) return NULL;
  return tsr_attr_record(ir, TSR_RECORD_DOT, fields);
}

// The same precision for both operands.
static tsr_status precision_attr(tsr_ir *ir, const char *name, const tsr_attr **out_attr) {
  const int value = tsr_enum_value(TSR_ENUM_PRECISION, name, strlen(name));
  if (value < 0)
    return tsr_fail(BAD_ARGUMENT, "precision \"%s\", expected DEFAULT, HIGH or HIGHEST", name);
  const tsr_attr *one = tsr_attr_enum(ir, TSR_ENUM_PRECISION, value);
  TSR_NEED(one);
  *out_attr = tsr_attr_array(ir, (const tsr_attr *[]){one, one}, 2);
  TSR_NEED(*out_attr);
  return NULL;
}

static bool is_listed(const tsr_shape *list, int dim) {
  for (int i = 0; i < list->rank; i++)
    if (list->dims[i] == dim) return true;
  return false;
}

static void add_free(const tsr_type *type, const tsr_shape *batch, const tsr_shape *contract,
                     tsr_shape *shape) {
  for (int i = 0; i < type->rank; i++)
    if (!is_listed(batch, i) && !is_listed(contract, i) && shape->rank < TSR_MAX_RANK)
      shape->dims[shape->rank++] = type->dims[i];
}

// Batch dimensions, then the others of x and of y.
static tsr_shape dot_shape(const tsr_type *x, const tsr_type *y, const contraction_dims *dims) {
  tsr_shape shape = {0};
  for (int i = 0; i < dims->x_batch.rank; i++)
    shape.dims[shape.rank++] = x->dims[dims->x_batch.dims[i]];
  add_free(x, &dims->x_batch, &dims->x_contract, &shape);
  add_free(y, &dims->y_batch, &dims->y_contract, &shape);
  return shape;
}

static tsr_node emit_dot(tsr_builder *builder, tsr_node x, tsr_node y, const contraction_dims *dims,
                         const tsr_dot_options *options) {
  const tsr_type *x_type = tsr_builder_tensor(builder, x, 0);
  const tsr_type *y_type = tsr_builder_tensor(builder, y, 1);
  const tsr_attr *precision = NULL;
  tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_DOT_GENERAL, (tsr_node[]){x, y}, 2);
  tsr_builder_attr(&draft, "dot_dimension_numbers", dot_attr(builder->ir, dims));
  if (options->precision &&
      !tsr_builder_keep(builder, precision_attr(builder->ir, options->precision, &precision)))
    return TSR_NO_NODE;
  if (precision) tsr_builder_attr(&draft, "precision_config", precision);
  const tsr_shape shape = dot_shape(x_type, y_type, dims);
  const tsr_dtype dtype = options->dtype == TSR_DTYPE_NONE ? x_type->dtype : options->dtype;
  return tsr_builder_emit_shaped(&draft, dtype, &shape);
}

tsr_node tsr_build_dot_general(tsr_builder *builder, tsr_node x, tsr_node y,
                               const tsr_dot_options *given) {
  if (!tsr_builder_enter(builder, "dot_general")) return TSR_NO_NODE;
  tsr_node result = TSR_NO_NODE;
  tsr_dot_options options;
  contraction_dims dims;
  const tsr_type *x_type = tsr_builder_tensor(builder, x, 0);
  const tsr_type *y_type = x_type ? tsr_builder_tensor(builder, y, 1) : NULL;
  if (y_type && tsr_builder_keep(builder, tsr_sized_read(tsr_dot_options, given, &options)) &&
      read_pair(builder, "batch", options.x_batch, options.y_batch, x_type->rank, y_type->rank,
                &dims.x_batch, &dims.y_batch) &&
      read_pair(builder, "contracting", options.x_contract, options.y_contract, x_type->rank,
                y_type->rank, &dims.x_contract, &dims.y_contract))
    result = emit_dot(builder, x, y, &dims, &options);
  return tsr_builder_leave(builder, result);
}

// ---- convolution ----

// "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>", as a record.
static tsr_status read_conv(tsr_builder *builder, const char *dims, const tsr_attr **out_attr) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_text_addf(&text, "#stablehlo.conv<%s>",
                dims ? dims : "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]");
  tsr_status status = tsr_text_check(&text);
  if (!status)
    status = tsr_syntax_read_attr(builder->ir, tsr_text_string(&text), text.length, out_attr);
  tsr_text_deinit(&text);
  if (status) return tsr_note(status, "dims");
  if ((*out_attr)->kind != TSR_ATTR_RECORD || (*out_attr)->id != TSR_RECORD_CONV)
    return tsr_fail(BAD_ARGUMENT,
                    "dims are \"%s\", expected such as "
                    "\"[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]\"",
                    dims);
  return NULL;
}

static bool add_list(tsr_builder_op *draft, const char *name, const char *what,
                     const tsr_shape *list, int rank) {
  if (!list) return true;
  if (!tsr_builder_list(draft->builder, what, list, rank)) return false;
  tsr_builder_ints(draft, name, list);
  return true;
}

// Pairs of low and high padding.
static bool add_padding(tsr_builder_op *draft, const tsr_shape *low, const tsr_shape *high,
                        int rank) {
  tsr_builder *builder = draft->builder;
  if (!low && !high) return true;
  if ((low && !tsr_builder_list(builder, "low paddings", low, rank)) ||
      (high && !tsr_builder_list(builder, "high paddings", high, rank)))
    return false;
  int64_t *pairs = tsr_ir_alloc(builder->ir, sizeof *pairs * 2 * (size_t)(rank + 1));
  const tsr_type *type = tsr_type_shaped(builder->ir, TSR_I64, 2, (int64_t[]){rank, 2});
  for (int i = 0; pairs && i < rank; i++) {
    pairs[2 * i] = low ? low->dims[i] : 0;
    pairs[2 * i + 1] = high ? high->dims[i] : 0;
  }
  const size_t bytes = sizeof *pairs * 2 * (size_t)rank;
  tsr_builder_attr(draft, "padding",
                   pairs && type ? tsr_attr_dense(builder->ir, type, pairs, bytes) : NULL);
  return !builder->failure;
}

static tsr_node emit_convolution(tsr_builder *builder, const tsr_node *pair,
                                 const tsr_convolution_options *o, const tsr_attr *dims) {
  const int rank = (int)tsr_attr_int_count(tsr_attr_field(dims, TSR_CONV_INPUT_SPATIAL));
  tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_CONVOLUTION, pair, 2);
  tsr_builder_attr(&draft, "dimension_numbers", dims);
  tsr_builder_int(&draft, "feature_group_count", o->feature_groups ? o->feature_groups : 1);
  tsr_builder_int(&draft, "batch_group_count", o->batch_groups ? o->batch_groups : 1);
  if (!add_list(&draft, "window_strides", "strides", o->strides, rank) ||
      !add_list(&draft, "lhs_dilation", "dilations of x", o->x_dilation, rank) ||
      !add_list(&draft, "rhs_dilation", "dilations of the kernel", o->kernel_dilation, rank) ||
      !add_padding(&draft, o->low, o->high, rank))
    return TSR_NO_NODE;
  return tsr_builder_emit_one(&draft);
}

tsr_node tsr_build_convolution(tsr_builder *builder, tsr_node x, tsr_node kernel,
                               const tsr_convolution_options *given) {
  if (!tsr_builder_enter(builder, "convolution")) return TSR_NO_NODE;
  tsr_node result = TSR_NO_NODE;
  tsr_convolution_options options;
  const tsr_attr *dims = NULL;
  if (tsr_builder_keep(builder, tsr_sized_read(tsr_convolution_options, given, &options)) &&
      tsr_builder_keep(builder, read_conv(builder, options.dims, &dims)) && dims)
    result = emit_convolution(builder, (tsr_node[]){x, kernel}, &options, dims);
  return tsr_builder_leave(builder, result);
}
