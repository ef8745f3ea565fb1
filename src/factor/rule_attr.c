// Rules out of attributes and back.
#include "factor/rule_build.h"

// ---- reading ----

static const tsr_attr *tensor_mapping(const tsr_attr *attr, int64_t tensor) {
  const tsr_attr *operands = tsr_attr_field(attr, TSR_SDY_RULE_OPERANDS);
  if (tensor < operands->count) return operands->items[tensor];
  return tsr_attr_field(attr, TSR_SDY_RULE_RESULTS)->items[tensor - operands->count];
}

static tsr_status read_factors(tsr_rule_builder *builder, const tsr_attr *attr) {
  static const struct {
    int field;
    tsr_factor_kind kind;
  } kinds[] = {{TSR_SDY_RULE_REDUCTION, TSR_FACTOR_REDUCTION},
               {TSR_SDY_RULE_NEED_REPLICATION, TSR_FACTOR_NEED_REPLICATION},
               {TSR_SDY_RULE_PERMUTATION, TSR_FACTOR_PERMUTATION},
               {TSR_SDY_RULE_BLOCKED, TSR_FACTOR_PASS}};
  const tsr_attr *sizes = tsr_attr_field(attr, TSR_SDY_RULE_SIZES);
  for (int64_t i = 0; i < tsr_attr_int_count(sizes); i++)
    tsr_add_factor(builder, tsr_attr_int_at(sizes, i), TSR_FACTOR_PASS, false);
  TSR_NEED(!builder->failed);
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    const tsr_attr *list = tsr_attr_field(attr, kinds[k].field);
    for (int64_t i = 0; i < tsr_attr_int_count(list); i++) {
      const int64_t factor = tsr_attr_int_at(list, i);
      if (factor < 0 || factor >= builder->factor_count)
        return tsr_fail(CONSTRAINT, "sharding rule names factor %lld of %lld", (long long)factor,
                        (long long)builder->factor_count);
      if (kinds[k].field == TSR_SDY_RULE_BLOCKED)
        builder->factors[factor].blocked = true;
      else
        builder->factors[factor].kind = kinds[k].kind;
    }
  }
  return NULL;
}

static tsr_status read_mapping(tsr_rule_builder *builder, const tsr_attr *mapping, int tensor) {
  const tsr_attr *dims = tsr_attr_field(mapping, TSR_SDY_TENSOR_MAPPING_DIMS);
  for (int64_t dim = 0; dim < dims->count; dim++) {
    const tsr_attr *list = tsr_attr_field(dims->items[dim], TSR_SDY_DIM_MAPPING_FACTORS);
    for (int64_t i = 0; i < tsr_attr_int_count(list); i++) {
      const int64_t factor = tsr_attr_int_at(list, i);
      if (factor < 0 || factor >= builder->factor_count)
        return tsr_fail(CONSTRAINT, "sharding rule maps a dimension to factor %lld of %lld",
                        (long long)factor, (long long)builder->factor_count);
      tsr_map_dims(builder, tensor, tensor + 1, dim, (int)factor);
    }
  }
  return NULL;
}

tsr_status tsr_rule_read(tsr_arena *arena, const tsr_attr *attr, const tsr_op_rule **out_rule) {
  const int operand_count = (int)tsr_attr_field(attr, TSR_SDY_RULE_OPERANDS)->count;
  const int count = operand_count + (int)tsr_attr_field(attr, TSR_SDY_RULE_RESULTS)->count;
  int *ranks = tsr_arena_alloc(arena, sizeof *ranks * ((size_t)count + 1));
  tsr_rule_builder builder;
  TSR_NEED(ranks);
  for (int i = 0; i < count; i++)
    ranks[i] = (int)tsr_attr_field(tensor_mapping(attr, i), TSR_SDY_TENSOR_MAPPING_DIMS)->count;
  TSR_NEED(tsr_rule_begin(&builder, arena, operand_count, count, ranks));
  TSR_TRY(read_factors(&builder, attr));
  for (int i = 0; i < count; i++) TSR_TRY(read_mapping(&builder, tensor_mapping(attr, i), i));
  return tsr_rule_finish(&builder, tsr_attr_field(attr, TSR_SDY_RULE_CUSTOM)->integer != 0,
                         out_rule);
}

// ---- writing ----

static const tsr_attr *factors_attr(tsr_ir *ir, const tsr_op_rule *rule, int64_t *room,
                                    tsr_factor_kind kind, bool blocked) {
  int64_t count = 0;
  for (int i = 0; i < rule->factor_count; i++)
    if (blocked ? rule->factors[i].blocked : rule->factors[i].kind == kind) room[count++] = i;
  return tsr_attr_ints(ir, room, count);
}

static const tsr_attr *mapping_attr(tsr_ir *ir, const tsr_op_rule *rule, int tensor,
                                    int64_t *room) {
  const int rank = tsr_rule_rank(rule, tensor);
  const tsr_attr **dims = tsr_ir_alloc(ir, sizeof *dims * ((size_t)rank + 1));
  if (!dims) return NULL;
  for (int dim = 0; dim < rank; dim++) {
    const int first = tsr_rule_dim(rule, tensor, dim), end = tsr_rule_dim(rule, tensor, dim + 1);
    for (int i = first; i < end; i++) room[i - first] = rule->places[i].factor;
    const tsr_attr *factors = tsr_attr_ints(ir, room, end - first);
    dims[dim] = factors ? tsr_attr_record(ir, TSR_RECORD_SDY_DIM_MAPPING, &factors) : NULL;
    if (!dims[dim]) return NULL;
  }
  const tsr_attr *list = tsr_attr_array(ir, dims, rank);
  return list ? tsr_attr_record(ir, TSR_RECORD_SDY_TENSOR_MAPPING, &list) : NULL;
}

static const tsr_attr *mappings_attr(tsr_ir *ir, const tsr_op_rule *rule, int first, int end,
                                     int64_t *room) {
  const tsr_attr **items = tsr_ir_alloc(ir, sizeof *items * ((size_t)(end - first) + 1));
  if (!items) return NULL;
  for (int i = first; i < end; i++) {
    items[i - first] = mapping_attr(ir, rule, i, room);
    if (!items[i - first]) return NULL;
  }
  return tsr_attr_array(ir, items, end - first);
}

const tsr_attr *tsr_rule_attr(tsr_ir *ir, const tsr_op_rule *rule) {
  int64_t *room =
      tsr_ir_alloc(ir, sizeof *room * ((size_t)rule->factor_count + (size_t)rule->place_count + 1));
  if (!room) return NULL;
  const tsr_attr *fields[] = {
      NULL,
      mappings_attr(ir, rule, 0, rule->operand_count, room),
      mappings_attr(ir, rule, rule->operand_count, rule->tensor_count, room),
      factors_attr(ir, rule, room, TSR_FACTOR_REDUCTION, false),
      factors_attr(ir, rule, room, TSR_FACTOR_NEED_REPLICATION, false),
      factors_attr(ir, rule, room, TSR_FACTOR_PERMUTATION, false),
      factors_attr(ir, rule, room, TSR_FACTOR_PASS, true),
      tsr_attr_bool(ir, rule->custom)};
  for (int i = 0; i < rule->factor_count; i++) room[i] = rule->factors[i].size;
  fields[TSR_SDY_RULE_SIZES] = tsr_attr_ints(ir, room, rule->factor_count);
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (!fields[i]) return NULL;
  return tsr_attr_record(ir, TSR_RECORD_SDY_RULE, fields);
}
