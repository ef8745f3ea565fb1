// stablehlo.reduce by itself. Sums, products, extremes and the like are tile programs; argmax and
// argmin have a kernel; any other body runs as a program of its own, on vectors of accumulators.
#include "lower/lower_reduce.h"

#include <math.h>

#include "base/arithmetic.h"
#include "reduce/arg_reduce.h"
#include "reduce/reduce_region.h"
#include "lower/body_match.h"
#include "lower/elementwise_code.h"
#include "simplify/evaluate.h"
#include "simplify/scalar.h"

enum { REGION_ELEMENTS = 512 };  // of one call of a body

void tsr_dims_around(const tsr_type *type, int dim, int64_t *out_outer, int64_t *out_length,
                     int64_t *out_inner) {
  *out_outer = *out_inner = 1;
  *out_length = type->dims[dim];
  for (int d = 0; d < dim; d++) *out_outer *= type->dims[d];
  for (int d = dim + 1; d < type->rank; d++) *out_inner *= type->dims[d];
}

// ---- reading bodies ----

static bool has_type_of(const tsr_value *argument, const tsr_value *operand) {
  return tsr_type_element(argument->type) == tsr_type_element(operand->type);
}

// The op of result k; TSR_TILE_OP_COUNT if it is no such op.
static tsr_tile_op op_of_result(const tsr_op *reduce, const tsr_ir_block *block, const tsr_op *end,
                                int k) {
  const tsr_value *a = block->args[k], *b = block->args[reduce->result_count + k];
  const tsr_op *op = tsr_op_operand(end, k)->def;
  if (!op || op->operand_count != 2 || op->block != block) return TSR_TILE_OP_COUNT;
  const tsr_value *x = tsr_op_operand(op, 0), *y = tsr_op_operand(op, 1);
  if (!((x == a && y == b) || (x == b && y == a))) return TSR_TILE_OP_COUNT;
  if (!has_type_of(a, tsr_op_operand(reduce, k))) return TSR_TILE_OP_COUNT;
  const tsr_elementwise_row *row = tsr_elementwise_row_of(op);
  return row->add && tsr_tile_op_reduces(row->tile) ? row->tile : TSR_TILE_OP_COUNT;
}

bool tsr_reduce_ops(const tsr_op *op, tsr_tile_op *out_ops) {
  const tsr_ir_block *block = op->region_count == 1 ? op->regions[0].first : NULL;
  const tsr_op *end = block ? tsr_block_terminator(block) : NULL;
  if (!end || end->operand_count != op->result_count || block->arg_count != 2 * op->result_count)
    return false;
  for (int k = 0; k < op->result_count; k++) {
    out_ops[k] = op_of_result(op, block, end, k);
    if (out_ops[k] == TSR_TILE_OP_COUNT) return false;
  }
  return true;
}

// ---- initial values ----

// The number that a scalar constant is.
static bool scalar_of(const tsr_value *value, tsr_scalar_type *type, tsr_scalar *out) {
  const tsr_attr *attr = tsr_value_constant(value);
  if (!attr || tsr_type_element_count(attr->type) != 1 || !tsr_scalar_type_of(attr->type, type))
    return false;
  *out = tsr_scalar_load(type, attr->bytes);
  return true;
}

static int64_t least_integer(const tsr_scalar_type *type) {
  return type->kind == TSR_CLASS_SIGNED ? -((int64_t)1 << (type->bits - 2)) * 2 : 0;
}

static int64_t largest_integer(const tsr_scalar_type *type) {
  if (type->kind == TSR_CLASS_BOOL) return 1;
  const int bits = type->kind == TSR_CLASS_SIGNED ? type->bits - 1 : type->bits;
  return (int64_t)(UINT64_MAX >> (64 - bits));
}

bool tsr_is_identity(const tsr_value *initial, tsr_tile_op op) {
  tsr_scalar_type type;
  tsr_scalar number;
  if (!scalar_of(initial, &type, &number)) return false;
  const bool complex = type.kind == TSR_CLASS_COMPLEX;
  const bool real = complex || type.kind == TSR_CLASS_FLOAT;
  if (complex && number.imag != 0) return false;
  switch (op) {
    case TSR_TILE_ADD:
    case TSR_TILE_OR:
    case TSR_TILE_XOR:
      return real ? number.f == 0 : number.i == 0;
    case TSR_TILE_MULTIPLY:
      return real ? number.f == 1 : number.i == 1;
    case TSR_TILE_MAXIMUM:
      return real ? !complex && number.f == -INFINITY : number.i == least_integer(&type);
    case TSR_TILE_MINIMUM:
      return real ? !complex && number.f == INFINITY : number.i == largest_integer(&type);
    case TSR_TILE_AND:
      return !real &&
             (type.kind == TSR_CLASS_SIGNED ? number.i == -1 : number.i == largest_integer(&type));
    default:
      return false;
  }
}

// ---- the order of dims ----
//
// Programs are fastest where the innermost dim of the space is the innermost one in memory. If that
// dim is reduced, all reduced dims make a row (tsr_tile_reduce), inside the kept ones. If it is
// kept, the kept dims after the last reduced one make a row, and rows are added up (tsr_tile_fold):
// the other kept dims are batch dims, and the reduced dims are between.

enum { MOST_RANK = 32 };

// The dims of the input, each once, in the order of the space: first `batch`, then those between,
// then `row`.
typedef struct reduce_order {
  int rank;
  int dims[MOST_RANK];
  int batch, row;
  bool folds;  // rows are added up; otherwise each row is reduced
} reduce_order;

// The space: dims of size 1 left out, neighbours joined. Strides, one for each dim of the space,
// are those of the row-major input and of the row-major result (0 for reduced dims).
typedef struct row_space {
  tsr_tile_space space;
  bool folds;
  int64_t strides[TSR_TILE_RANK], result_strides[TSR_TILE_RANK];
} row_space;

// Whether the innermost dim with more than one element is kept.
static bool ends_kept(int rank, const int64_t *dims, const bool *reduced) {
  for (int d = rank - 1; d >= 0; d--)
    if (dims[d] != 1) return !reduced[d];
  return false;
}

static void append(reduce_order *order, int rank, const bool *chosen, bool wanted) {
  for (int d = 0; d < rank; d++)
    if (chosen[d] == wanted) order->dims[order->rank++] = d;
}

static void order_of(int rank, const int64_t *dims, const bool *reduced, reduce_order *out_order) {
  reduce_order order = {.folds = ends_kept(rank, dims, reduced)};
  int row = rank;  // the first dim of a row that is folded
  while (order.folds && row > 0 && !reduced[row - 1]) row--;
  append(&order, row, reduced, false);
  order.batch = order.rank;
  append(&order, row, reduced, true);
  order.row = order.folds ? rank - row : order.rank - order.batch;
  if (!order.folds) order.batch = 0;
  for (int d = row; d < rank; d++) order.dims[order.rank++] = d;
  *out_order = order;
}

// A dim of the space while it is made.
typedef struct space_dim {
  int64_t size, stride, result_stride;
  int part;  // 0 = batch, 1 = between, 2 = row
} space_dim;

static int part_of(const reduce_order *order, int position) {
  return position < order->batch ? 0 : position < order->rank - order->row ? 1 : 2;
}

static bool joins(const space_dim *outer, const space_dim *inner) {
  return outer->part == inner->part && outer->stride == inner->size * inner->stride &&
         outer->result_stride == inner->size * inner->result_stride;
}

static void add_dim(row_space *out, int at, const space_dim *dim) {
  out->space.dims[at] = dim->size;
  out->strides[at] = dim->stride;
  out->result_strides[at] = dim->result_stride;
  out->space.batch_dims += dim->part == 0;
  out->space.row_dims += dim->part == 2;
}

static void strides_of(int rank, const int64_t *dims, const bool *reduced, int64_t *strides,
                       int64_t *result_strides) {
  int64_t stride = 1, result_stride = 1;
  for (int d = rank - 1; d >= 0; d--) {
    strides[d] = stride;
    result_strides[d] = reduced[d] ? 0 : result_stride;
    stride *= dims[d];
    if (!reduced[d]) result_stride *= dims[d];
  }
}

// False if the space would have more than TSR_TILE_RANK dims.
static bool space_of(int rank, const int64_t *dims, const bool *reduced, row_space *out_space) {
  int64_t strides[MOST_RANK], result_strides[MOST_RANK];
  space_dim joined[MOST_RANK];
  reduce_order order;
  int count = 0;
  order_of(rank, dims, reduced, &order);
  strides_of(rank, dims, reduced, strides, result_strides);
  for (int i = 0; i < rank; i++) {
    const int d = order.dims[i];
    const space_dim dim = {dims[d], strides[d], result_strides[d], part_of(&order, i)};
    if (dim.size == 1) continue;
    space_dim *last = count ? &joined[count - 1] : NULL;
    if (last && joins(last, &dim))
      *last = (space_dim){last->size * dim.size, dim.stride, dim.result_stride, dim.part};
    else
      joined[count++] = dim;
  }
  if (!count || joined[count - 1].part != 2)  // every space has a row
    joined[count++] = (space_dim){1, 0, 0, 2};
  if (count > TSR_TILE_RANK) return false;
  *out_space = (row_space){.space = {.rank = count}, .folds = order.folds};
  for (int i = 0; i < count; i++) add_dim(out_space, i, &joined[i]);
  return true;
}

// The reduced dims, as flags of the inputs' dims; false if they do not fit.
static bool reduced_dims(const tsr_op *op, bool *out_reduced) {
  const tsr_type *type = tsr_operand_type(op, 0);
  const tsr_attr *list = tsr_op_attr(op, "dimensions");
  if (type->rank > MOST_RANK) return false;
  for (int d = 0; d < type->rank; d++) out_reduced[d] = false;
  for (int64_t i = 0; i < tsr_attr_int_count(list); i++) {
    const int64_t d = tsr_attr_int_at(list, i);
    if (d < 0 || d >= type->rank) return false;
    out_reduced[d] = true;
  }
  return true;
}

// ---- tile programs ----

// The initial value as a value of the program; input `input` is its memory.
static int add_initial(tsr_tile_program *program, const tsr_value *initial, int input) {
  static const int64_t still[TSR_TILE_RANK] = {0};
  const tsr_attr *splat = initial->def ? tsr_op_splat(initial->def) : NULL;
  return splat ? tsr_tile_add_splat(program, splat)
               : tsr_tile_load(program, input, initial->type->dtype, still, 0);
}

static void add_reduction(tsr_tile_program *program, const tsr_op *op, const row_space *s,
                          tsr_tile_op body, int k) {
  const tsr_value *initial = tsr_op_operand(op, op->result_count + k);
  const int value = tsr_tile_load(program, k, tsr_operand_type(op, k)->dtype, s->strides, 0);
  if (s->folds) {
    tsr_tile_fold(program, body, value, k);
    return;
  }
  int made = tsr_tile_reduce(program, body, value);
  if (!tsr_is_identity(initial, body))
    made = tsr_tile_apply(program, body,
                          (int[]){add_initial(program, initial, op->result_count + k), made});
  tsr_tile_store(program, made, k, s->result_strides, 0);
}

static tsr_status reduce_slots(tsr_lowering *lowering, tsr_op *op, int **out_inputs,
                               int **out_outputs) {
  int *inputs = tsr_lower_alloc(lowering, op->operand_count + 1, sizeof *inputs);
  int *outputs = tsr_lower_alloc(lowering, op->result_count + 1, sizeof *outputs);
  TSR_NEED(inputs && outputs ? inputs : NULL);
  for (int i = 0; i < op->operand_count; i++)
    TSR_TRY(tsr_slot_of(lowering, tsr_op_operand(op, i), &inputs[i]));
  for (int i = 0; i < op->result_count; i++)
    TSR_TRY(tsr_slot_create(lowering, &op->results[i], &outputs[i]));
  *out_inputs = inputs;
  *out_outputs = outputs;
  return NULL;
}

// Combines the results of a fold with an initial value, in place.
static tsr_status add_initial_step(tsr_lowering *lowering, tsr_op *op, int k, tsr_tile_op body,
                                   int initial_slot, int result_slot) {
  const tsr_type *type = op->results[k].type;
  const tsr_value *initial = tsr_op_operand(op, op->result_count + k);
  const int64_t count = tsr_type_element_count(type);
  if (!count || tsr_is_identity(initial, body)) return NULL;
  tsr_tile_program *program =
      tsr_tile_create(&(tsr_tile_space){.rank = 1, .dims = {count}, .row_dims = 1});
  TSR_NEED(program);
  const int value = tsr_tile_load(program, 0, type->dtype, (int64_t[]){1}, 0);
  const int made = tsr_tile_apply(program, body, (int[]){add_initial(program, initial, 1), value});
  tsr_tile_store(program, made, 0, (int64_t[]){1}, 0);
  const tsr_status status = tsr_tile_finish(program);
  if (status) {
    tsr_tile_destroy(program);
    return status;
  }
  tsr_schedule_step *step = NULL;
  const int inputs[2] = {result_slot, initial_slot};
  return tsr_lower_tile(lowering, op, program, inputs, 2, &result_slot, 1, &step);
}

// The finished program of a reduction by plain ops; NULL where tiles have no code for its types.
static tsr_status make_program(const tsr_op *op, const row_space *s, const tsr_tile_op *bodies,
                               tsr_tile_program **out_program) {
  tsr_tile_program *program = tsr_tile_create(&s->space);
  TSR_NEED(program);
  for (int k = 0; k < op->result_count; k++) add_reduction(program, op, s, bodies[k], k);
  const tsr_status status = tsr_tile_finish(program);
  *out_program = status ? NULL : program;
  if (!status) return NULL;
  tsr_tile_destroy(program);
  if (tsr_status_cause(status) == TSR_CAUSE_NO_MEMORY) return status;
  tsr_status_free(status);
  return NULL;
}

static tsr_status lower_by_tiles(tsr_lowering *lowering, tsr_op *op, const bool *reduced,
                                 bool *out_done) {
  const tsr_type *type = tsr_operand_type(op, 0);
  tsr_tile_op *bodies = tsr_lower_alloc(lowering, op->result_count, sizeof *bodies);
  row_space space;
  TSR_NEED(bodies);
  *out_done = false;
  if (!tsr_reduce_ops(op, bodies)) return NULL;
  if (!space_of(type->rank, type->dims, reduced, &space)) return NULL;
  tsr_tile_program *program = NULL;
  TSR_TRY(make_program(op, &space, bodies, &program));
  if (!program) return NULL;
  int *inputs = NULL, *outputs = NULL;
  const tsr_status status = reduce_slots(lowering, op, &inputs, &outputs);
  if (status) {
    tsr_tile_destroy(program);
    return status;
  }
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_tile(lowering, op, program, inputs, op->operand_count, outputs,
                         op->result_count, &step));
  for (int k = 0; space.folds && k < op->result_count; k++)
    TSR_TRY(add_initial_step(lowering, op, k, bodies[k], inputs[op->result_count + k], outputs[k]));
  *out_done = true;
  return NULL;
}

// ---- argmax, argmin ----

// Whether a value is the index along `dim`.
static bool is_index_of(const tsr_value *value, int64_t dim) {
  const tsr_op *def = value->def;
  if (def && def->info->id == TSR_OP_BROADCAST_IN_DIM) {
    const tsr_attr *dims = tsr_op_attr(def, "broadcast_dimensions");
    const tsr_op *inner = tsr_op_operand(def, 0)->def;
    if (!inner || inner->info->id != TSR_OP_IOTA) return false;
    const int64_t along = tsr_op_int(inner, "iota_dimension", -1);
    return along >= 0 && along < tsr_attr_int_count(dims) && tsr_attr_int_at(dims, along) == dim &&
           inner->results[0].type->dims[along] == value->type->dims[dim];
  }
  return def && def->info->id == TSR_OP_IOTA && tsr_op_int(def, "iota_dimension", -1) == dim;
}

static bool arg_reduce_of(const tsr_op *op, tsr_arg_reduce *out) {
  if (op->result_count != 2 || op->operand_count != 4 || op->region_count != 1) return false;
  const tsr_arg_body body = tsr_match_arg_body(&op->regions[0]);
  const tsr_attr *dims = tsr_op_attr(op, "dimensions");
  const tsr_type *type = tsr_operand_type(op, 0), *index = op->results[1].type;
  if (body == TSR_ARG_NONE || tsr_attr_int_count(dims) != 1 || !tsr_arg_reduces(type->dtype))
    return false;
  const int64_t dim = tsr_attr_int_at(dims, 0);
  if (dim < 0 || dim >= type->rank || !is_index_of(tsr_op_operand(op, 1), dim)) return false;
  if (op->results[0].type->dtype != type->dtype) return false;
  if (index->dtype != TSR_I32 && index->dtype != TSR_I64) return false;
  const bool smallest = body == TSR_ARG_SMALLEST;
  if (!tsr_is_identity(tsr_op_operand(op, 2), smallest ? TSR_TILE_MINIMUM : TSR_TILE_MAXIMUM) ||
      !tsr_is_identity(tsr_op_operand(op, 3), TSR_TILE_ADD))
    return false;
  *out = (tsr_arg_reduce){
      .dtype = type->dtype, .smallest = smallest, .index_bytes = index->dtype == TSR_I32 ? 4 : 8};
  tsr_dims_around(type, (int)dim, &out->outer, &out->length, &out->inner);
  return out->length > 0 && out->length <= INT32_MAX;
}

bool tsr_is_arg_reduce(const tsr_op *op) {
  tsr_arg_reduce arg;
  return op->info->id == TSR_OP_REDUCE && arg_reduce_of(op, &arg);
}

// ---- any body ----

tsr_status tsr_region_call_of(tsr_lowering *lowering, tsr_op *op, int64_t most,
                              tsr_region_call *out_call, tsr_value ***out_inputs,
                              int *out_input_count) {
  const int count = op->result_count;
  tsr_region_code code;
  TSR_TRY(tsr_region_compile(lowering, &op->regions[0], most, &code));
  tsr_region_call call = {
      .program = code.program, .count = count, .outside_count = code.outside_count, .most = most};
  tsr_value **inputs =
      tsr_lower_alloc(lowering, op->operand_count + code.outside_count + 1, sizeof *inputs);
  int *bytes = tsr_lower_alloc(lowering, count + 1, sizeof *bytes);
  const tsr_ir_block *block = op->regions[0].first;
  bool fits =
      code.argument_count == 2 * count && code.result_count == count && op->operand_count >= count;
  for (int k = 0; bytes && fits && k < count; k++) {
    const tsr_type *element = tsr_type_element(tsr_operand_type(op, k));
    bytes[k] = (int)tsr_type_element_bytes(element);
    fits = tsr_type_element(block->args[k]->type) == element &&
           tsr_type_element(block->args[count + k]->type) == element &&
           tsr_type_element(op->results[k].type) == element;
  }
  if (!inputs || !bytes || !fits) {
    tsr_tile_destroy(code.program);
    TSR_NEED(inputs && bytes ? inputs : NULL);
    return tsr_fail(UNSUPPORTED, "%s: its body has other element types than its operands",
                    tsr_op_title(lowering, op));
  }
  for (int i = 0; i < op->operand_count; i++) inputs[i] = tsr_op_operand(op, i);
  for (int i = 0; i < code.outside_count; i++) inputs[op->operand_count + i] = code.outside[i];
  call.element_bytes = bytes;
  *out_call = call;
  *out_inputs = inputs;
  *out_input_count = op->operand_count + code.outside_count;
  return NULL;
}

// The dims that are reduced, or those that are kept, neighbours joined. False if they are too many.
static bool take_dims(const tsr_type *type, const bool *reduced, bool wanted,
                      tsr_reduce_dims *out) {
  int64_t strides[MOST_RANK], stride = 1;
  for (int d = type->rank - 1; d >= 0; d--) strides[d] = stride, stride *= type->dims[d];
  *out = (tsr_reduce_dims){.rank = 0};
  for (int d = 0; d < type->rank; d++) {
    if (reduced[d] != wanted || type->dims[d] == 1) continue;
    const int last = out->rank - 1;
    if (out->rank && out->strides[last] == type->dims[d] * strides[d]) {
      out->dims[last] *= type->dims[d];
      out->strides[last] = strides[d];
      continue;
    }
    if (out->rank == TSR_REDUCE_RANK) return false;
    out->dims[out->rank] = type->dims[d];
    out->strides[out->rank++] = strides[d];
  }
  return true;
}

static tsr_status lower_any(tsr_lowering *lowering, tsr_op *op, const bool *reduced) {
  const tsr_type *type = tsr_operand_type(op, 0);
  tsr_reduce_region reduce = {.region = {.count = 0}};
  if (!take_dims(type, reduced, false, &reduce.kept) ||
      !take_dims(type, reduced, true, &reduce.reduced))
    return tsr_fail(UNSUPPORTED, "%s: it has more than %d dimensions to go through",
                    tsr_op_title(lowering, op), TSR_REDUCE_RANK);
  tsr_value **inputs = NULL;
  int input_count = 0;
  TSR_TRY(tsr_region_call_of(lowering, op, REGION_ELEMENTS, &reduce.region, &inputs, &input_count));
  tsr_schedule_step *step = NULL;
  TSR_TRY(tsr_lower_owning_kernel(lowering, op, inputs, input_count, tsr_reduce_region_run, &reduce,
                                  sizeof reduce, tsr_reduce_region_destroy, &step));
  step->scratch_bytes = tsr_reduce_region_scratch_bytes(&reduce);
  step->flops =
      tsr_saturated_multiply(tsr_type_element_count(type), tsr_tile_flops(reduce.region.program)) /
      REGION_ELEMENTS;
  return NULL;
}

tsr_status tsr_lower_reduce(tsr_lowering *lowering, tsr_op *op) {
  bool reduced[MOST_RANK], done = false;
  tsr_arg_reduce arg;
  if (op->result_count < 1 || op->operand_count != 2 * op->result_count ||
      !reduced_dims(op, reduced))
    return tsr_lower_none(lowering, op);
  for (int k = 0; k < op->result_count; k++)
    if (!tsr_type_runs(tsr_operand_type(op, k)) || !tsr_type_runs(op->results[k].type))
      return tsr_lower_none(lowering, op);
  tsr_schedule_step *step = NULL;
  if (arg_reduce_of(op, &arg)) {
    tsr_value *input = tsr_op_operand(op, 0);
    return tsr_lower_kernel_on(lowering, op, &input, 1, tsr_arg_reduce_run, &arg, sizeof arg,
                               &step);
  }
  if (tsr_type_element_count(tsr_operand_type(op, 0)) > 0)
    TSR_TRY(lower_by_tiles(lowering, op, reduced, &done));
  return done ? NULL : lower_any(lowering, op, reduced);
}
