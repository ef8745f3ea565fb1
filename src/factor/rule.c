// Rules put together from factors, and the rule of an op.
//
// While a rule is made it is a list of links, each a factor for a dim, in the order in which they
// were added. At the end they are sorted by dim, which numbers the places, and by factor.
#include <string.h>

#include "factor/rule_build.h"

typedef struct tsr_rule_link {
  int factor, dim;  // the dim among those of all tensors
} tsr_rule_link;

// ---- adding factors ----

tsr_dims tsr_dims_of(const tsr_type *type) {
  if (type->kind != TSR_TYPE_TENSOR && type->kind != TSR_TYPE_BUFFER) return (tsr_dims){NULL, 0};
  return (tsr_dims){type->dims, type->rank};
}

int tsr_add_factor(tsr_rule_builder *builder, int64_t size, tsr_factor_kind kind, bool blocked) {
  if (builder->failed) return 0;
  tsr_factor *factors = tsr_arena_grow(builder->arena, builder->factors, builder->factor_count,
                                       sizeof *builder->factors);
  builder->failed = !factors;
  if (!factors) return 0;
  builder->factors = factors;
  factors[builder->factor_count] = (tsr_factor){.size = size, .kind = kind, .blocked = blocked};
  return (int)builder->factor_count++;
}

static void add_link(tsr_rule_builder *builder, int dim, int factor) {
  if (builder->failed) return;
  tsr_rule_link *links =
      tsr_arena_grow(builder->arena, builder->links, builder->link_count, sizeof *builder->links);
  builder->failed = !links;
  if (!links) return;
  builder->links = links;
  links[builder->link_count++] = (tsr_rule_link){factor, dim};
  builder->filled[dim]++;
}

static int dim_at(const tsr_rule_builder *builder, int tensor, int64_t dim) {
  const int first = builder->tensors[tensor];
  return dim < builder->tensors[tensor + 1] - first ? first + (int)dim : -1;
}

void tsr_map_dim(tsr_rule_builder *builder, int tensor, int64_t dim, int factor) {
  if (dim < 0 || builder->failed) return;
  const int at = dim_at(builder, tensor, dim);
  if (at < 0 || (builder->factors[factor].size == 1 && builder->filled[at])) return;
  add_link(builder, at, factor);
}

void tsr_map_dims(tsr_rule_builder *builder, int first, int end, int64_t dim, int factor) {
  for (int i = first; i < end && dim >= 0 && !builder->failed; i++) {
    const int at = dim_at(builder, i, dim);
    if (at >= 0) add_link(builder, at, factor);
  }
}

void tsr_add_common(tsr_rule_builder *builder, int64_t dim, int64_t size, tsr_factor_kind kind,
                    bool blocked) {
  const int factor = tsr_add_factor(builder, size, kind, blocked);
  tsr_map_dims(builder, 0, builder->tensor_count, dim, factor);
}

void tsr_add_leading(tsr_rule_builder *builder, tsr_dims dims, int count) {
  for (int i = 0; i < count; i++) tsr_add_common(builder, i, dims.sizes[i], TSR_FACTOR_PASS, false);
}

void tsr_add_pair(tsr_rule_builder *builder, int64_t operand_dim, int64_t result_dim, int64_t size,
                  tsr_factor_kind kind) {
  const int factor = tsr_add_factor(builder, size, kind, false);
  tsr_map_dim(builder, 0, operand_dim, factor);
  tsr_map_dim(builder, 1, result_dim, factor);
}

bool tsr_add_resized(tsr_rule_builder *builder, tsr_dims from, tsr_dims to,
                     tsr_factor_kind mismatch, bool blocked) {
  if (from.rank != to.rank) return false;
  for (int i = 0; i < from.rank; i++) {
    const bool same = from.sizes[i] == to.sizes[i];
    tsr_add_common(builder, i, from.sizes[i], same ? TSR_FACTOR_PASS : mismatch, !same && blocked);
  }
  return true;
}

bool tsr_add_elementwise(tsr_rule_builder *builder, const tsr_op *op) {
  if (!op->result_count || !tsr_type_is_shaped(tsr_op_result(op, 0)->type)) return false;
  const tsr_dims dims = tsr_result_dims(op, 0);
  tsr_add_leading(builder, dims, dims.rank);
  return true;
}

bool tsr_ints_have(const tsr_attr *list, int64_t value) {
  const int64_t count = tsr_attr_int_count(list);
  for (int64_t i = 0; i < count; i++)
    if (tsr_attr_int_at(list, i) == value) return true;
  return false;
}

// ---- finishing ----

bool tsr_rule_begin(tsr_rule_builder *builder, tsr_arena *arena, int operand_count,
                    int tensor_count, const int *ranks) {
  *builder = (tsr_rule_builder){
      .arena = arena, .operand_count = operand_count, .tensor_count = tensor_count};
  builder->tensors = tsr_arena_alloc(arena, sizeof(int) * ((size_t)tensor_count + 1));
  if (!builder->tensors) return false;
  builder->tensors[0] = 0;
  for (int i = 0; i < tensor_count; i++) builder->tensors[i + 1] = builder->tensors[i] + ranks[i];
  builder->filled = tsr_arena_zeros(arena, (size_t)builder->tensors[tensor_count], sizeof(int));
  return builder->filled != NULL;
}

// Every dim has a factor: those without one get one of size 1.
static void fill_dims(tsr_rule_builder *builder) {
  const int count = builder->tensors[builder->tensor_count];
  for (int i = 0; i < count && !builder->failed; i++)
    if (!builder->filled[i])
      add_link(builder, i, tsr_add_factor(builder, 1, TSR_FACTOR_PASS, false));
}

// Gives in `starts` (count + 1) where the entries of each key begin, from how many it has.
static void start_at(int *starts, int count) {
  for (int i = 0, sum = 0; i <= count; i++) {
    const int entries = starts[i];
    starts[i] = sum;
    sum += entries;
  }
}

static void number_places(const tsr_rule_builder *builder, int *dims, tsr_rule_place *places) {
  int tensor = 0;
  for (int64_t i = 0; i < builder->link_count; i++) {
    const tsr_rule_link *link = &builder->links[i];
    places[dims[link->dim]++] = (tsr_rule_place){.factor = link->factor};
  }
  const int dim_count = builder->tensors[builder->tensor_count];
  for (int i = dim_count; i > 0; i--) dims[i] = dims[i - 1];  // they were moved to the ends
  dims[0] = 0;
  for (int dim = 0; dim < dim_count; dim++) {
    while (builder->tensors[tensor + 1] <= dim) tensor++;
    for (int i = dims[dim]; i < dims[dim + 1]; i++) {
      places[i].tensor = tensor;
      places[i].dim = dim - builder->tensors[tensor];
      places[i].minor_most = i + 1 == dims[dim + 1];
    }
  }
}

static void index_factors(const tsr_rule_place *places, int place_count, int factor_count,
                          int *used, int *uses) {
  for (int i = 0; i < place_count; i++) used[places[i].factor]++;
  start_at(used, factor_count);
  for (int i = 0; i < place_count; i++) uses[used[places[i].factor]++] = i;
  for (int i = factor_count; i > 0; i--) used[i] = used[i - 1];
  used[0] = 0;
}

tsr_status tsr_rule_finish(tsr_rule_builder *builder, bool custom, const tsr_op_rule **out_rule) {
  fill_dims(builder);
  TSR_NEED(!builder->failed);
  const int dim_count = builder->tensors[builder->tensor_count];
  const int place_count = (int)builder->link_count, factor_count = (int)builder->factor_count;
  tsr_op_rule *rule = tsr_arena_alloc(builder->arena, sizeof *rule);
  tsr_rule_place *places =
      tsr_arena_alloc(builder->arena, sizeof *places * ((size_t)place_count + 1));
  int *dims = tsr_arena_zeros(builder->arena, (size_t)dim_count + 1, sizeof *dims);
  int *used = tsr_arena_zeros(builder->arena, (size_t)factor_count + 1, sizeof *used);
  int *uses = tsr_arena_alloc(builder->arena, sizeof *uses * ((size_t)place_count + 1));
  TSR_NEED(rule && places && dims && used && uses);
  if (dim_count) memcpy(dims, builder->filled, sizeof *dims * (size_t)dim_count);
  start_at(dims, dim_count);
  number_places(builder, dims, places);
  index_factors(places, place_count, factor_count, used, uses);
  *rule = (tsr_op_rule){.factor_count = factor_count,
                        .operand_count = builder->operand_count,
                        .tensor_count = builder->tensor_count,
                        .place_count = place_count,
                        .custom = custom,
                        .factors = builder->factors,
                        .places = places,
                        .tensors = builder->tensors,
                        .dims = dims,
                        .used = used,
                        .uses = uses};
  *out_rule = rule;
  return NULL;
}

// ---- the rule of an op ----

static tsr_factors_fn *const rows[TSR_OP_COUNT] = {
    [TSR_OP_UNKNOWN] = tsr_factors_unknown,
#define OP(id, name, form, operands, results, regions, traits, attrs, verify, infer, kernel, \
           factors)                                                                          \
  [TSR_OP_##id] = tsr_factors_##factors,
#include "ir/ops.def"
#undef OP
};

// Shardy knows that it has none.
bool tsr_factors_none(tsr_rule_builder *builder, const tsr_op *op) {
  (void)builder, (void)op;
  return false;
}

// Shardy does not know the op.
bool tsr_factors_unknown(tsr_rule_builder *builder, const tsr_op *op) {
  return tsr_factors_none(builder, op);
}

bool tsr_op_has_rule(tsr_op_id id) {
  return rows[id] != tsr_factors_none && rows[id] != tsr_factors_unknown;
}

bool tsr_op_is_ruled(const tsr_op *op) {
  tsr_factors_fn *row = rows[op->info->id];
  if (row == tsr_factors_custom_call) return tsr_custom_call_is_ruled(op);
  if (row != tsr_factors_unknown)
    return row != tsr_factors_expanded && row != tsr_factors_expanded_top_k;
  return (op->info->traits & TSR_TRAIT_TERMINATES) != 0;
}

static const tsr_type *type_at(const tsr_op *op, int tensor) {
  return tensor < op->operand_count ? tsr_operand_type(op, tensor)
                                    : tsr_op_result(op, tensor - op->operand_count)->type;
}

// The ranks of all operands and results; false in `out_static` if a shape is not known.
static tsr_status ranks_of(tsr_arena *arena, const tsr_op *op, int **out_ranks, bool *out_static) {
  const int count = op->operand_count + op->result_count;
  int *ranks = tsr_arena_alloc(arena, sizeof *ranks * ((size_t)count + 1));
  TSR_NEED(ranks);
  *out_static = true;
  for (int i = 0; i < count; i++) {
    const tsr_type *type = type_at(op, i);
    ranks[i] = tsr_dims_of(type).rank;
    if (tsr_type_is_shaped(type) && !tsr_type_is_static(type)) *out_static = false;
  }
  *out_ranks = ranks;
  return NULL;
}

static tsr_status make_rule(tsr_arena *arena, const tsr_op *op, unsigned how,
                            const tsr_op_rule **out_rule) {
  tsr_rule_builder builder;
  int *ranks = NULL;
  bool is_static = false;
  TSR_TRY(ranks_of(arena, op, &ranks, &is_static));
  if (!is_static) return NULL;
  TSR_NEED(tsr_rule_begin(&builder, arena, op->operand_count, op->operand_count + op->result_count,
                          ranks));
  builder.how = how;
  return rows[op->info->id](&builder, op) ? tsr_rule_finish(&builder, false, out_rule) : NULL;
}

static tsr_status check_fit(const tsr_op *op, const tsr_op_rule *rule) {
  if (rule->operand_count != op->operand_count ||
      rule->tensor_count != op->operand_count + op->result_count)
    return tsr_fail(CONSTRAINT,
                    "%s: the sharding rule has %d operands and %d results, the op %d and %d",
                    op->name, rule->operand_count, rule->tensor_count - rule->operand_count,
                    op->operand_count, op->result_count);
  for (int i = 0; i < rule->tensor_count; i++)
    if (tsr_rule_rank(rule, i) != tsr_dims_of(type_at(op, i)).rank)
      return tsr_fail(CONSTRAINT, "%s: the sharding rule has rank %d for tensor %d, expected %d",
                      op->name, tsr_rule_rank(rule, i), i, tsr_dims_of(type_at(op, i)).rank);
  return NULL;
}

tsr_status tsr_rule_of(tsr_arena *arena, const tsr_op *op, unsigned how,
                       const tsr_op_rule **out_rule) {
  *out_rule = NULL;
  const tsr_attr *attr = tsr_op_attr(op, "sdy.sharding_rule");
  if (attr && tsr_attr_has_form(attr, TSR_FORM_RECORD, TSR_RECORD_SDY_RULE)) {
    TSR_TRY(tsr_rule_read(arena, attr, out_rule));
    return check_fit(op, *out_rule);
  }
  return tsr_op_has_rule(op->info->id) ? make_rule(arena, op, how, out_rule) : NULL;
}

tsr_status tsr_rule_identity(tsr_arena *arena, const tsr_type *type, int operand_count,
                             int result_count, const tsr_op_rule **out_rule) {
  const tsr_dims dims = tsr_dims_of(type);
  const int count = operand_count + result_count;
  int *ranks = tsr_arena_alloc(arena, sizeof *ranks * ((size_t)count + 1));
  tsr_rule_builder builder;
  TSR_NEED(ranks);
  for (int i = 0; i < count; i++) ranks[i] = dims.rank;
  TSR_NEED(tsr_rule_begin(&builder, arena, operand_count, count, ranks));
  tsr_add_leading(&builder, dims, dims.rank);
  return tsr_rule_finish(&builder, false, out_rule);
}

bool tsr_op_is_pointwise(const tsr_op *op) {
  switch (op->info->id) {
    case TSR_OP_SELECT:
    case TSR_OP_CLAMP:
    case TSR_OP_SDY_PROPAGATION_BARRIER:
    case TSR_OP_SDY_SHARDING_CONSTRAINT:
    case TSR_OP_SDY_RESHARD:
      return true;
    case TSR_OP_SDY_DATA_FLOW_EDGE:
    case TSR_OP_SDY_FUNC_DATA_FLOW_EDGE:
      return false;
    case TSR_OP_BITCAST_CONVERT:
      return tsr_operand_dims(op, 0).rank == tsr_result_dims(op, 0).rank;
    default:
      return (op->info->traits & TSR_TRAIT_ELEMENTWISE) != 0;
  }
}
