// The sharding that a value has, what Shardy's attributes say about any op, and the ops of Shardy
// that are no collectives.
#include <string.h>

#include "base/arithmetic.h"
#include "verify/sdy_checks.h"

// ---- shardings of values

// A sharding without the manual axes of an op, as its body sees it.
static tsr_status drop_manual(tsr_ir *ir, const tsr_attr *manual, const tsr_attr *axes,
                              const tsr_attr **out_axes) {
  const tsr_attr **kept = tsr_ir_alloc(ir, sizeof *kept * ((size_t)axes->count + 1));
  int64_t count = 0;
  TSR_NEED(kept);
  for (int64_t i = 0; i < axes->count; i++)
    if (!tsr_sdy_is_manual(manual, tsr_attr_field(axes->items[i], TSR_SDY_AXIS_NAME)))
      kept[count++] = axes->items[i];
  *out_axes = tsr_attr_array(ir, kept, count);
  TSR_NEED(*out_axes);
  return NULL;
}

static tsr_status local_dim(tsr_ir *ir, const tsr_attr *manual, const tsr_attr *dim,
                            const tsr_attr **out_dim) {
  const tsr_attr *fields[TSR_SDY_DIM_PRIORITY + 1];
  memcpy(fields, dim->items, sizeof fields);
  TSR_TRY(drop_manual(ir, manual, fields[TSR_SDY_DIM_AXES], &fields[TSR_SDY_DIM_AXES]));
  *out_dim = tsr_attr_record(ir, TSR_RECORD_SDY_DIM, fields);
  TSR_NEED(*out_dim);
  return NULL;
}

static tsr_status local_sharding(tsr_ir *ir, const tsr_attr *manual, const tsr_attr *sharding,
                                 const tsr_attr **out_sharding) {
  const tsr_attr *fields[TSR_SDY_SHARDING_REDUCTION + 1];
  memcpy(fields, sharding->items, sizeof fields);
  const tsr_attr *dims = fields[TSR_SDY_SHARDING_DIMS];
  const tsr_attr **local = tsr_ir_alloc(ir, sizeof *local * ((size_t)dims->count + 1));
  TSR_NEED(local);
  for (int64_t i = 0; i < dims->count; i++)
    TSR_TRY(local_dim(ir, manual, dims->items[i], &local[i]));
  fields[TSR_SDY_SHARDING_DIMS] = tsr_attr_array(ir, local, dims->count);
  TSR_NEED(fields[TSR_SDY_SHARDING_DIMS]);
  TSR_TRY(drop_manual(ir, manual, fields[TSR_SDY_SHARDING_REPLICATED],
                      &fields[TSR_SDY_SHARDING_REPLICATED]));
  TSR_TRY(drop_manual(ir, manual, fields[TSR_SDY_SHARDING_UNREDUCED],
                      &fields[TSR_SDY_SHARDING_UNREDUCED]));
  *out_sharding = tsr_attr_record(ir, TSR_RECORD_SDY_SHARDING, fields);
  TSR_NEED(*out_sharding);
  return NULL;
}

// The entry of an SDY_SHARDINGS; NULL if there is none.
static const tsr_attr *listed(const tsr_attr *shardings, int index) {
  if (!shardings || !tsr_attr_has_form(shardings, TSR_FORM_RECORD, TSR_RECORD_SDY_SHARDINGS))
    return NULL;
  const tsr_attr *list = tsr_attr_field(shardings, TSR_SDY_SHARDINGS_LIST);
  return index < list->count ? list->items[index] : NULL;
}

static const tsr_attr *single(const tsr_attr *sharding) {
  const bool fits =
      sharding && tsr_attr_has_form(sharding, TSR_FORM_RECORD, TSR_RECORD_SDY_SHARDING);
  return fits ? sharding : NULL;
}

static const tsr_attr *result_sharding(const tsr_op *op, int index) {
  switch (op->info->id) {
    case TSR_OP_SDY_SHARDING_CONSTRAINT:
    case TSR_OP_SDY_RESHARD:
    case TSR_OP_SDY_DATA_FLOW_EDGE:
      return single(tsr_op_attr(op, "sharding"));
    case TSR_OP_SDY_MANUAL_COMPUTATION:
    case TSR_OP_SDY_NAMED_COMPUTATION:
      return listed(tsr_op_attr(op, "out_shardings"), index);
    default:
      break;
  }
  const bool collective =
      op->info->id >= TSR_OP_SDY_ALL_GATHER && op->info->id <= TSR_OP_SDY_REPLICATED_TO_UNREDUCED;
  return collective ? single(tsr_op_attr(op, "out_sharding"))
                    : listed(tsr_op_attr(op, "sdy.sharding"), index);
}

// A block argument has the sharding of what it stands for.
static tsr_status argument_sharding(tsr_ir *ir, const tsr_op *op, int index,
                                    const tsr_attr **out_sharding) {
  const tsr_attr *sharding = NULL;
  switch (op->info->id) {
    case TSR_OP_FUNC:
      sharding = single(tsr_dict_find(tsr_func_arg_attrs(op, index), "sdy.sharding"));
      break;
    case TSR_OP_SDY_NAMED_COMPUTATION:
      sharding = listed(tsr_op_attr(op, "in_shardings"), index);
      break;
    case TSR_OP_SDY_MANUAL_COMPUTATION:
      sharding = listed(tsr_op_attr(op, "in_shardings"), index);
      if (sharding)
        return local_sharding(ir, tsr_op_attr(op, "manual_axes"), sharding, out_sharding);
      break;
    case TSR_OP_WHILE:
      sharding = listed(tsr_op_attr(op, "sdy.sharding"), index);
      break;
    default:
      break;
  }
  *out_sharding = sharding;
  return NULL;
}

tsr_status tsr_value_sharding(tsr_ir *ir, const tsr_value *value, const tsr_attr **out_sharding) {
  *out_sharding = NULL;
  if (value->def) {
    *out_sharding = result_sharding(value->def, value->index);
    return NULL;
  }
  const tsr_op *parent = tsr_block_parent(value->block);
  return parent ? argument_sharding(ir, parent, value->index, out_sharding) : NULL;
}

// ---- sharding rules

enum { FACTORS_MOST = 4096 };

// Which factors a tensor, or all operands or results, use.
typedef struct factor_set {
  uint64_t words[FACTORS_MOST / 64];
} factor_set;

static bool set_has(const factor_set *set, int64_t factor) {
  return set->words[factor / 64] >> (factor % 64) & 1;
}

static void set_add(factor_set *set, int64_t factor) {
  set->words[factor / 64] |= (uint64_t)1 << (factor % 64);
}

static tsr_status check_dim_mapping(const tsr_op *op, const tsr_attr *sizes, const tsr_attr *dim,
                                    factor_set *used) {
  const tsr_attr *factors = tsr_attr_field(dim, TSR_SDY_DIM_MAPPING_FACTORS);
  const int64_t count = tsr_attr_int_count(factors);
  TSR_ASK(count > 0, op, "", "sdy.sharding_rule has a dimension without a factor");
  for (int64_t i = 0; i < count; i++) {
    const int64_t factor = tsr_attr_int_at(factors, i);
    TSR_ASK(factor >= 0 && factor < tsr_attr_int_count(sizes), op, "",
            "sdy.sharding_rule has factor %lld, expected 0 or more and less than %lld",
            (long long)factor, (long long)tsr_attr_int_count(sizes));
    TSR_ASK(!set_has(used, factor), op, "", "sdy.sharding_rule has factor %lld twice in one tensor",
            (long long)factor);
    TSR_ASK(count == 1 || tsr_attr_int_at(sizes, factor) != 1, op, "",
            "sdy.sharding_rule has a factor of size 1 beside others in a dimension");
    set_add(used, factor);
  }
  return NULL;
}

static tsr_status check_mapping(const tsr_op *op, const tsr_attr *sizes, const tsr_attr *mapping,
                                const tsr_type *type, factor_set *all) {
  const tsr_attr *dims = tsr_attr_field(mapping, TSR_SDY_TENSOR_MAPPING_DIMS);
  factor_set used = {0};
  TSR_ASK(tsr_type_is_static(type), op, "", "sdy.sharding_rule: %s has no known shape",
          SHOW_TYPE(type));
  TSR_ASK(dims->count == type->rank, op, "",
          "sdy.sharding_rule has a mapping of rank %lld, expected %d as %s", (long long)dims->count,
          type->rank, SHOW_TYPE(type));
  for (int64_t i = 0; i < dims->count; i++)
    TSR_TRY(check_dim_mapping(op, sizes, dims->items[i], &used));
  for (size_t i = 0; i < sizeof all->words / sizeof *all->words; i++)
    all->words[i] |= used.words[i];
  return NULL;
}

static tsr_status check_mappings(const tsr_op *op, const tsr_attr *sizes, const tsr_attr *mappings,
                                 tsr_type_at *get, int count, const char *what, factor_set *all) {
  TSR_ASK(mappings->count == count && count > 0, op, "",
          "sdy.sharding_rule has %lld mappings of %ss, expected %d, at least 1",
          (long long)mappings->count, what, count);
  for (int i = 0; i < count; i++)
    TSR_TRY(check_mapping(op, sizes, mappings->items[i], get(op, i), all));
  return NULL;
}

// Factors of one kind: sorted, unique, and in no other kind.
static tsr_status check_kind(const tsr_op *op, const tsr_attr *factors, int64_t count,
                             factor_set *special) {
  TSR_ASK(tsr_ints_sorted(factors) && tsr_ints_unique(factors), op, "",
          "sdy.sharding_rule has the special factors %s, expected them sorted and each once",
          SHOW_INTS(factors));
  TSR_ASK(tsr_ints_within(factors, 0, count), op, "",
          "sdy.sharding_rule has the special factors %s, expected 0 or more and less than %lld",
          SHOW_INTS(factors), (long long)count);
  for (int64_t i = 0; special && i < tsr_attr_int_count(factors); i++) {
    const int64_t factor = tsr_attr_int_at(factors, i);
    TSR_ASK(!set_has(special, factor), op, "",
            "sdy.sharding_rule has factor %lld in two special sets", (long long)factor);
    set_add(special, factor);
  }
  return NULL;
}

static tsr_status check_rule(const tsr_op *op, const tsr_attr *rule) {
  const tsr_attr *sizes = tsr_attr_field(rule, TSR_SDY_RULE_SIZES);
  const tsr_attr *reduction = tsr_attr_field(rule, TSR_SDY_RULE_REDUCTION);
  const int64_t count = tsr_attr_int_count(sizes);
  factor_set in = {0}, out = {0}, special = {0};
  TSR_ASK(count <= FACTORS_MOST, op, "", "sdy.sharding_rule has %lld factors, expected at most %d",
          (long long)count, FACTORS_MOST);
  TSR_TRY(check_mappings(op, sizes, tsr_attr_field(rule, TSR_SDY_RULE_OPERANDS),
                         tsr_operand_type_at, op->operand_count, "operand", &in));
  TSR_TRY(check_mappings(op, sizes, tsr_attr_field(rule, TSR_SDY_RULE_RESULTS), tsr_result_type_at,
                         op->result_count, "result", &out));
  for (int64_t i = 0; i < count; i++)
    TSR_ASK(set_has(&in, i) || set_has(&out, i), op, "",
            "sdy.sharding_rule does not use factor %lld", (long long)i);
  TSR_TRY(check_kind(op, reduction, count, &special));
  TSR_TRY(check_kind(op, tsr_attr_field(rule, TSR_SDY_RULE_NEED_REPLICATION), count, &special));
  TSR_TRY(check_kind(op, tsr_attr_field(rule, TSR_SDY_RULE_PERMUTATION), count, &special));
  TSR_TRY(check_kind(op, tsr_attr_field(rule, TSR_SDY_RULE_BLOCKED), count, NULL));
  for (int64_t i = 0; i < tsr_attr_int_count(reduction); i++)
    TSR_ASK(!set_has(&out, tsr_attr_int_at(reduction, i)), op, "",
            "sdy.sharding_rule has the reduction factor %lld in a result",
            (long long)tsr_attr_int_at(reduction, i));
  return NULL;
}

// ---- attributes of any op

// Tags of Shardy's debugging are kept as text.
static bool is_edges(const tsr_attr *attr) {
  static const char start[] = "#sdy.propagation_edges";
  return attr->kind == TSR_ATTR_OPAQUE && !strncmp(attr->bytes, start, sizeof start - 1);
}

static bool is_edges_list(const tsr_attr *attr) {
  if (attr->kind != TSR_ATTR_ARRAY) return false;
  for (int64_t i = 0; i < attr->count; i++)
    if (!is_edges(attr->items[i])) return false;
  return true;
}

static tsr_status check_sdy_attr(tsr_ir *ir, const tsr_op *op, const char *name,
                                 const tsr_attr *attr) {
  if (!strcmp(name, "sdy.sharding")) {
    TSR_ASK(tsr_attr_has_form(attr, TSR_FORM_RECORD, TSR_RECORD_SDY_SHARDINGS), op, "",
            "sdy.sharding is %s, expected #sdy.sharding_per_value", SHOW_ATTR(attr));
    return tsr_check_shardings(ir, op, attr, tsr_result_type_at, op->result_count, "result");
  }
  if (!strcmp(name, "sdy.sharding_rule")) {
    TSR_ASK(tsr_attr_has_form(attr, TSR_FORM_RECORD, TSR_RECORD_SDY_RULE), op, "",
            "sdy.sharding_rule is %s, expected #sdy.op_sharding_rule", SHOW_ATTR(attr));
    return check_rule(op, attr);
  }
  if (!strcmp(name, "sdy.propagation_edges")) {
    TSR_ASK(is_edges(attr), op, "", "%s is %s, expected #sdy.propagation_edges", name,
            SHOW_ATTR(attr));
    return tsr_check_propagation_edges(ir, op, attr);
  }
  if (!strcmp(name, "sdy.result_propagation_edges") ||
      !strcmp(name, "sdy.block_arg_propagation_edges"))
    TSR_ASK(is_edges_list(attr), op, "", "%s is %s, expected a list of #sdy.propagation_edges",
            name, SHOW_ATTR(attr));
  return NULL;
}

tsr_status tsr_check_sdy_attrs(tsr_ir *ir, const tsr_op *op) {
  for (int i = 0; i < op->attr_count; i++) {
    const tsr_named_attr *attr = &op->attrs[i];
    if (!strncmp(attr->name, "sdy.", 4)) TSR_TRY(check_sdy_attr(ir, op, attr->name, attr->attr));
  }
  return NULL;
}

// ---- ops that are no collectives

tsr_status tsr_verify_sdy_mesh(tsr_ir *ir, const tsr_op *op) {
  const tsr_op *parent = tsr_op_parent(op);
  (void)ir;
  TSR_ASK(!parent || parent->info->id == TSR_OP_MODULE, op, "", "stands in %s, expected a module",
          parent->name);
  return tsr_check_sdy_mesh(op, tsr_op_attr(op, "mesh"));
}

// sharding_constraint and reshard. Unreduced axes that the operand does not have are sums; kept
// ones keep their reduction.
tsr_status tsr_verify_sdy_sharding(tsr_ir *ir, const tsr_op *op) {
  const tsr_attr *to = tsr_op_attr(op, "sharding"), *from = NULL;
  const tsr_value *source = tsr_op_operand(op, 0);
  TSR_TRY(tsr_check_sharding(ir, op, to, tsr_operand_type(op, 0), "sharding"));
  while (source->def && source->def->info->id == TSR_OP_SDY_PROPAGATION_BARRIER)
    source = tsr_op_operand(source->def, 0);
  TSR_TRY(tsr_value_sharding(ir, source, &from));
  if (!from) return NULL;
  const int reduction = (int)tsr_attr_field(from, TSR_SDY_SHARDING_REDUCTION)->integer;
  return tsr_check_unreduced(ir, op, from, to, TSR_SDY_REDUCTION_SUM, reduction);
}

static bool has_one_use(const tsr_value *value) { return value->uses && !value->uses->next; }

tsr_status tsr_verify_sdy_edge(tsr_ir *ir, const tsr_op *op) {
  const tsr_value *input = tsr_op_operand(op, 0);
  const tsr_attr *sharding = tsr_op_attr(op, "sharding");
  TSR_ASK(tsr_type_is_static(input->type), op, "", "input is %s, expected a known shape",
          SHOW_TYPE(input->type));
  TSR_ASK(has_one_use(input), op, "", "the input has other users, expected none");
  const tsr_op *def = input->def;
  TSR_ASK(!def || strncmp(def->name, "sdy.", 4) || def->info->id == TSR_OP_SDY_NAMED_COMPUTATION ||
              def->info->id == TSR_OP_SDY_MANUAL_COMPUTATION,
          op, "", "the input is made by %s, expected an op that is not of sdy", def->name);
  return sharding ? tsr_check_sharding(ir, op, sharding, input->type, "sharding") : NULL;
}

tsr_status tsr_verify_sdy_func_edge(tsr_ir *ir, const tsr_op *op) {
  const tsr_value *input = tsr_op_operand(op, 0);
  const tsr_op *owner = input->def ? input->def : tsr_block_parent(input->block);
  (void)ir;
  TSR_ASK(tsr_type_is_static(input->type), op, "", "operand is %s, expected a known shape",
          SHOW_TYPE(input->type));
  TSR_ASK(has_one_use(input), op, "", "the operand has other users, expected none");
  TSR_ASK(owner && owner->info->id == (input->def ? TSR_OP_CALL : TSR_OP_FUNC), op, "",
          "the operand is of %s, expected an argument of func.func or a result of func.call",
          owner ? owner->name : "no op");
  return NULL;
}

tsr_status tsr_verify_sdy_barrier(tsr_ir *ir, const tsr_op *op) {
  const int64_t direction = tsr_op_int(op, "allowed_direction", 0);
  (void)ir;
  TSR_ASK(direction >= TSR_SDY_DIRECTION_NONE && direction < TSR_SDY_DIRECTION_BOTH, op, "",
          "allowed_direction is %lld, expected NONE, FORWARD or BACKWARD", (long long)direction);
  return NULL;
}

tsr_status tsr_verify_sdy_group(tsr_ir *ir, const tsr_op *op) {
  const tsr_type *type = tsr_operand_type(op, 0);
  (void)ir;
  TSR_ASK(type->kind == TSR_TYPE_TENSOR, op, "", "operand is %s, expected a tensor",
          SHOW_TYPE(type));
  return NULL;
}

// ---- computations with a body

static tsr_status find_return(const tsr_op *op, const tsr_op **out_return) {
  const tsr_ir_block *block = tsr_only_block(op, 0);
  const tsr_op *end = block ? tsr_block_terminator(block) : NULL;
  TSR_ASK(end && end->info->id == TSR_OP_SDY_RETURN, op, "",
          "the body is not one block that ends with sdy.return");
  *out_return = end;
  return NULL;
}

tsr_status tsr_verify_sdy_named(tsr_ir *ir, const tsr_op *op) {
  const tsr_attr *in = tsr_op_attr(op, "in_shardings"), *out = tsr_op_attr(op, "out_shardings");
  const tsr_op *end = NULL;
  TSR_TRY(find_return(op, &end));
  const tsr_ir_block *body = end->block;
  TSR_ASK(body->arg_count == op->operand_count, op, "",
          "the body has %d arguments, expected %d as there are operands", body->arg_count,
          op->operand_count);
  for (int i = 0; i < body->arg_count; i++)
    TSR_ASK(body->args[i]->type == tsr_operand_type(op, i), op, "",
            "argument %d of the body is %s, expected %s", i, SHOW_TYPE(body->args[i]->type),
            SHOW_TYPE(tsr_operand_type(op, i)));
  if (in)
    TSR_TRY(
        tsr_check_shardings(ir, op, in, tsr_operand_type_at, op->operand_count, "in_shardings"));
  if (!out) return NULL;
  return tsr_check_shardings(ir, op, out, tsr_result_type_at, op->result_count, "out_shardings");
}

tsr_status tsr_infer_sdy_named(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_op *end = tsr_block_terminator(op->regions[0].first);
  (void)ir;
  for (int i = 0; i < end->operand_count; i++)
    TSR_TRY(tsr_results_add(out, tsr_operand_type(end, i)));
  return NULL;
}

// ---- manual_computation

// One side of it: the operands and the arguments of the body, or the results and what it returns.
typedef struct manual_side {
  const char *what;
  const tsr_attr *shardings, *manual;
  tsr_type_at *global, *local;
  int global_count, local_count;
} manual_side;

static const tsr_type *body_argument_at(const tsr_op *op, int index) {
  return op->regions[0].first->args[index]->type;
}

static const tsr_type *body_result_at(const tsr_op *op, int index) {
  return tsr_operand_type(tsr_block_terminator(op->regions[0].first), index);
}

static int64_t part_size(const tsr_attr *mesh, const tsr_attr *axis) {
  const tsr_attr *sub = tsr_attr_field(axis, TSR_SDY_AXIS_SUB_AXIS);
  if (sub) return tsr_attr_field(sub, TSR_SDY_SUB_AXIS_SIZE)->integer;
  return tsr_sdy_axis_size(mesh, tsr_sdy_axis_find(mesh, tsr_attr_field(axis, TSR_SDY_AXIS_NAME)));
}

// The product of the manual axes of a dimension, which stand before the free ones.
static tsr_status manual_factor(const tsr_op *op, const manual_side *side, int index,
                                const tsr_attr *mesh, const tsr_attr *dim, int64_t *out_factor) {
  const tsr_attr *axes = tsr_attr_field(dim, TSR_SDY_DIM_AXES);
  int64_t factor = 1;
  bool free_seen = false;
  for (int64_t i = 0; i < axes->count; i++) {
    const tsr_attr *name = tsr_attr_field(axes->items[i], TSR_SDY_AXIS_NAME);
    const bool manual = tsr_sdy_is_manual(side->manual, name);
    TSR_ASK(!manual || !free_seen, op, "",
            "%s %d: the manual axis %s stands after a free axis, expected before", side->what,
            index, SHOW_ATTR(name));
    free_seen |= !manual;
    if (manual) factor = tsr_saturated_multiply(factor, part_size(mesh, axes->items[i]));
  }
  *out_factor = factor;
  return NULL;
}

static tsr_status check_local(tsr_ir *ir, const tsr_op *op, const manual_side *side, int index) {
  const tsr_attr *sharding = tsr_attr_field(side->shardings, TSR_SDY_SHARDINGS_LIST)->items[index];
  const tsr_attr *mesh = tsr_sdy_mesh_of(ir, op, sharding);
  const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
  const tsr_type *global = side->global(op, index), *local = side->local(op, index);
  if (global->kind != TSR_TYPE_TENSOR || dims->count != global->rank) return NULL;
  int64_t sizes[TSR_RANK_LIMIT];
  TSR_ASK(global->rank <= TSR_RANK_LIMIT, op, "", "%s %d has rank %d, expected at most %d",
          side->what, index, global->rank, TSR_RANK_LIMIT);
  for (int i = 0; i < global->rank; i++) {
    int64_t factor = 1;
    TSR_TRY(manual_factor(op, side, index, mesh, dims->items[i], &factor));
    sizes[i] = global->dims[i];
    if (tsr_is_dynamic(sizes[i])) continue;
    TSR_ASK(sizes[i] % factor == 0, op, "",
            "%s %d: dimension %d has size %lld, expected a multiple of %lld, the size of its "
            "manual axes",
            side->what, index, i, (long long)sizes[i], (long long)factor);
    sizes[i] /= factor;
  }
  const tsr_type *wanted = tsr_type_tensor(ir, global->element, global->rank, sizes, NULL);
  TSR_NEED(wanted);
  TSR_ASK(local == wanted, op, "", "%s %d is %s in the body, expected %s", side->what, index,
          SHOW_TYPE(local), SHOW_TYPE(wanted));
  return NULL;
}

static tsr_status check_side(tsr_ir *ir, const tsr_op *op, const manual_side *side) {
  TSR_TRY(
      tsr_check_shardings(ir, op, side->shardings, side->global, side->global_count, side->what));
  TSR_ASK(side->global_count == side->local_count, op, "",
          "there are %d %ss but %d in the body, expected as many", side->global_count, side->what,
          side->local_count);
  for (int i = 0; i < side->global_count; i++) TSR_TRY(check_local(ir, op, side, i));
  return NULL;
}

// All shardings are bound to one mesh, or to empty ones.
static tsr_status common_mesh(tsr_ir *ir, const tsr_op *op, const tsr_attr *shardings,
                              const tsr_attr **mesh) {
  const tsr_attr *list = tsr_attr_field(shardings, TSR_SDY_SHARDINGS_LIST);
  for (int64_t i = 0; i < list->count; i++) {
    const tsr_attr *other = tsr_sdy_mesh_of(ir, op, list->items[i]);
    if (!*mesh || tsr_sdy_is_empty(*mesh)) {
      *mesh = other;
      continue;
    }
    TSR_ASK(tsr_sdy_is_empty(other) || tsr_attr_equal(other, *mesh), op, "",
            "the shardings are bound to different meshes");
  }
  return NULL;
}

static tsr_status check_manual_axes(tsr_ir *ir, const tsr_op *op, const tsr_attr *names) {
  const tsr_attr *mesh = NULL;
  for (int64_t i = 0; i < names->count; i++) {
    TSR_ASK(names->items[i]->kind == TSR_ATTR_STRING, op, "",
            "manual_axes has %s, expected the name of an axis", SHOW_ATTR(names->items[i]));
    TSR_ASK(!tsr_sdy_is_bound(op, names->items[i]), op, "",
            "axis %s is a manual axis of an enclosing sdy.manual_computation",
            SHOW_ATTR(names->items[i]));
  }
  if (!names->count) return NULL;
  TSR_TRY(common_mesh(ir, op, tsr_op_attr(op, "in_shardings"), &mesh));
  TSR_TRY(common_mesh(ir, op, tsr_op_attr(op, "out_shardings"), &mesh));
  for (int64_t i = 0; mesh && i < names->count; i++)
    TSR_ASK(tsr_sdy_axis_find(mesh, names->items[i]) >= 0, op, "",
            "manual axis %s is not in the mesh", SHOW_ATTR(names->items[i]));
  return NULL;
}

tsr_status tsr_verify_sdy_manual(tsr_ir *ir, const tsr_op *op) {
  const tsr_attr *manual = tsr_op_attr(op, "manual_axes");
  const tsr_op *end = NULL;
  TSR_TRY(find_return(op, &end));
  const manual_side in = {"operand",
                          tsr_op_attr(op, "in_shardings"),
                          manual,
                          tsr_operand_type_at,
                          body_argument_at,
                          op->operand_count,
                          end->block->arg_count};
  const manual_side out = {"result",
                           tsr_op_attr(op, "out_shardings"),
                           manual,
                           tsr_result_type_at,
                           body_result_at,
                           op->result_count,
                           end->operand_count};
  TSR_TRY(check_side(ir, op, &in));
  TSR_TRY(check_side(ir, op, &out));
  return check_manual_axes(ir, op, tsr_attr_field(manual, TSR_SDY_MANUAL_AXES_NAMES));
}
