// Ops partitioned one by one.
//
// Each op that is chosen is copied into a function of its own, in a program apart that has the
// meshes too. There the passes of a partitioner run over all of these functions at once. The body
// of each then goes back, into a manual computation in place of the op. Dims that their axes do not
// divide are padded around it, where the op leaves elements of such a dim apart.
#include "program/single_ops.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "factor/rule.h"
#include "program/pipelines.h"
#include "propagate/edits.h"
#include "resolve/cut_build.h"
#include "verify/verify.h"

typedef struct single_op {
  tsr_op *op;
  tsr_op *func;                // of the program apart
  const tsr_attr **shardings;  // of its operands, then its results
  const tsr_type **types;      // the same: padded
  const tsr_attr *manual_axes;
} single_op;

typedef struct op_filter {
  char *words;              // one after the other, each with its '\0'
  size_t length;            // of all
  int64_t low, high, seen;  // places of ops
} op_filter;

typedef struct single_run {
  tsr_ir *ir, *apart;
  const tsr_single_how *how;
  tsr_arena arena;
  op_filter filter;
  single_op *items;
  int64_t count, capacity;
} single_run;

// ---- which ops ----

static tsr_status read_place(const char *word, int64_t *out_place) {
  char *end = NULL;
  const char *number = strchr(word, '=') + 1;
  *out_place = strtoll(number, &end, 10);
  if (end == number || *end || *out_place < 0)
    return tsr_fail(SYNTAX, "filter has \"%s\", expected a number from 0 on after \"=\"", word);
  return NULL;
}

static tsr_status read_word(op_filter *filter, const char *word, size_t length) {
  char *kept = filter->words + filter->length;
  memcpy(kept, word, length);
  kept[length] = '\0';
  if (!strncmp(kept, "selectLow=", 10)) return read_place(kept, &filter->low);
  if (!strncmp(kept, "selectHigh=", 11)) return read_place(kept, &filter->high);
  if (length) filter->length += length + 1;
  return NULL;
}

static tsr_status read_filter(single_run *run) {
  const char *at = run->how->filter ? run->how->filter : "";
  op_filter *filter = &run->filter;
  *filter = (op_filter){.words = tsr_arena_alloc(&run->arena, strlen(at) + 2), .high = INT64_MAX};
  TSR_NEED(filter->words);
  while (*at) {
    at += strspn(at, " ,");
    size_t length = strcspn(at, ",");
    const char *next = at + length;
    while (length && at[length - 1] == ' ') length--;
    TSR_TRY(read_word(filter, at, length));
    at = next;
  }
  return NULL;
}

static bool is_chosen(op_filter *filter, const tsr_op *op) {
  const int64_t place = filter->seen++;
  if (place < filter->low || place > filter->high) return false;
  bool found = !filter->length;
  for (size_t i = 0; i < filter->length && !found; i += strlen(filter->words + i) + 1)
    found = strstr(op->name, filter->words + i);
  return found;
}

// Ops that are about shardings, or whose bodies are local already, stay.
static bool is_left_alone(const tsr_op *op) {
  if (op->info->traits & TSR_TRAIT_TERMINATES) return true;
  switch (op->info->id) {
    case TSR_OP_SDY_DATA_FLOW_EDGE:
    case TSR_OP_SDY_MANUAL_COMPUTATION:
    case TSR_OP_SDY_PROPAGATION_BARRIER:
    case TSR_OP_SDY_SHARDING_CONSTRAINT:
    case TSR_OP_SDY_SHARDING_GROUP:
      return true;
    case TSR_OP_CUSTOM_CALL:
      return tsr_attr_is_string(tsr_op_attr(op, "call_target_name"), "Sharding");
    default:
      return op->info->id >= TSR_OP_SDY_ALL_GATHER &&
             op->info->id <= TSR_OP_SDY_REPLICATED_TO_UNREDUCED;
  }
}

static tsr_value *tensor_of(const tsr_op *op, int index) {
  return index < op->operand_count ? tsr_op_operand(op, index)
                                   : tsr_op_result(op, index - op->operand_count);
}

static int tensor_count(const tsr_op *op) { return op->operand_count + op->result_count; }

static tsr_status is_sharded(tsr_ir *ir, const tsr_op *op, bool *out_sharded) {
  *out_sharded = false;
  for (int i = 0; i < tensor_count(op) && !*out_sharded; i++) {
    const tsr_attr *sharding = NULL;
    TSR_TRY(tsr_sharding_get(ir, tensor_of(op, i), &sharding));
    *out_sharded = sharding && tsr_sharding_cuts_dims(sharding);
  }
  return NULL;
}

static tsr_status consider(single_run *run, tsr_op *op) {
  bool sharded = false;
  op->mark = 0;
  if (is_left_alone(op)) return NULL;
  TSR_TRY(is_sharded(run->ir, op, &sharded));
  if (!sharded || !is_chosen(&run->filter, op)) return NULL;
  single_op *items = tsr_grow(run->items, run->count, &run->capacity, sizeof *items);
  TSR_NEED(items);
  run->items = items;
  items[run->count++] = (single_op){.op = op};
  op->mark = 1;
  return NULL;
}

static tsr_status choose_ops(single_run *run) {
  for (tsr_op *func = run->ir->module->regions[0].first->first; func; func = func->next) {
    const tsr_ir_block *body = tsr_op_is(func, TSR_OP_FUNC) ? tsr_func_body(func) : NULL;
    for (tsr_op *op = body ? body->first : NULL; op; op = op->next) TSR_TRY(consider(run, op));
  }
  return NULL;
}

// ---- shardings of one op ----

static const tsr_attr *mesh_of(const tsr_attr *sharding) {
  return tsr_attr_field(sharding, TSR_SDY_SHARDING_MESH);
}

static tsr_status refuse(const single_op *item, const char *why) {
  return tsr_fail(UNSUPPORTED, "%s at line %u is not partitioned alone: %s", item->op->name,
                  item->op->line, why);
}

// Results are reduced inside, and so are operands that another single op makes.
static tsr_status reduced(tsr_ir *ir, const tsr_attr **sharding) {
  const tsr_attr *none = tsr_attr_array(ir, NULL, 0);
  TSR_NEED(none);
  *sharding = tsr_sharding_with(ir, *sharding, TSR_SDY_SHARDING_UNREDUCED, none);
  TSR_NEED(*sharding);
  return NULL;
}

// Missing shardings are replicated on the mesh of the others.
static tsr_status fill_shardings(single_run *run, single_op *item) {
  const int count = tensor_count(item->op);
  const tsr_attr *mesh = NULL;
  for (int i = 0; i < count; i++) {
    tsr_value *value = tensor_of(item->op, i);
    const tsr_attr **sharding = &item->shardings[i];
    if (value->type->kind != TSR_TYPE_TENSOR || !tsr_type_is_static(value->type))
      return refuse(item, "it has a value that is no tensor of known sizes");
    TSR_TRY(tsr_sharding_get(run->ir, value, sharding));
    if (!*sharding) continue;
    if (mesh_of(*sharding)->kind != TSR_ATTR_SYMBOL)
      return refuse(item, "its mesh has no name; sdy-lift-inlined-meshes gives it one");
    if (mesh && !tsr_attr_equal(mesh, mesh_of(*sharding)))
      return refuse(item, "its values are on different meshes");
    mesh = mesh_of(*sharding);
    if (i >= item->op->operand_count || (value->def && value->def->mark))
      TSR_TRY(reduced(run->ir, sharding));
  }
  for (int i = 0; i < count; i++) {
    if (item->shardings[i]) continue;
    item->shardings[i] =
        tsr_sharding_bare(run->ir, mesh, tsr_type_rank(tensor_of(item->op, i)->type), true);
    TSR_NEED(item->shardings[i]);
  }
  return NULL;
}

typedef struct manual_names {
  const tsr_attr **items;
  int64_t count;
} manual_names;

static bool add_axes(tsr_ir *ir, manual_names *names, const tsr_attr *axes) {
  for (int64_t i = 0; i < axes->count; i++) {
    const tsr_attr *name = tsr_attr_field(axes->items[i], TSR_SDY_AXIS_NAME);
    bool known = false;
    for (int64_t k = 0; k < names->count && !known; k++)
      known = tsr_attr_equal(names->items[k], name);
    if (known) continue;
    const tsr_attr **items = tsr_ir_alloc(ir, (size_t)(names->count + 1) * sizeof *items);
    if (!items) return false;
    if (names->count) memcpy(items, names->items, (size_t)names->count * sizeof *items);
    items[names->count++] = name;
    names->items = items;
  }
  return true;
}

// All axes of the shardings, in the order in which they stand there.
static tsr_status fill_axes(single_run *run, single_op *item) {
  manual_names names = {0};
  for (int i = 0; i < tensor_count(item->op); i++) {
    const tsr_attr *sharding = item->shardings[i];
    const tsr_attr *dims = tsr_attr_field(sharding, TSR_SDY_SHARDING_DIMS);
    bool added = true;
    for (int64_t d = 0; d < dims->count && added; d++)
      added = add_axes(run->ir, &names, tsr_attr_field(dims->items[d], TSR_SDY_DIM_AXES));
    added = added &&
            add_axes(run->ir, &names, tsr_attr_field(sharding, TSR_SDY_SHARDING_REPLICATED)) &&
            add_axes(run->ir, &names, tsr_attr_field(sharding, TSR_SDY_SHARDING_UNREDUCED));
    if (!added) return tsr_fail(NO_MEMORY, "the axes of an op");
  }
  const tsr_attr *list = tsr_attr_array(run->ir, names.items, names.count);
  item->manual_axes = list ? tsr_attr_record(run->ir, TSR_RECORD_SDY_MANUAL_AXES, &list) : NULL;
  TSR_NEED(item->manual_axes);
  return NULL;
}

// ---- sizes that are padded ----

// Whether an op keeps the elements of a dim apart, or adds products of them: then zeros at its end
// change nothing that is left when they are cut off.
static bool takes_padding(const tsr_op *op, const tsr_op_rule *rule, int tensor, int dim) {
  const int first = tsr_rule_dim(rule, tensor, dim), end = tsr_rule_dim(rule, tensor, dim + 1);
  const tsr_factor_kind kind = rule->factors[rule->places[first].factor].kind;
  if (end != first + 1) return false;
  return kind == TSR_FACTOR_PASS ||
         (kind == TSR_FACTOR_REDUCTION &&
          (tsr_op_is(op, TSR_OP_DOT) || tsr_op_is(op, TSR_OP_DOT_GENERAL)));
}

static tsr_status check_padding(const single_op *item, const tsr_op_rule *rule, int tensor) {
  const tsr_op *op = item->op;
  const tsr_type *type = tensor_of(op, tensor)->type, *padded = item->types[tensor];
  for (int d = 0; d < type->rank; d++) {
    if (padded->dims[d] == type->dims[d] || tsr_op_is(op, TSR_OP_IOTA)) continue;
    if (rule && takes_padding(op, rule, tensor, d)) continue;
    const bool operand = tensor < op->operand_count;
    return tsr_fail(UNSUPPORTED,
                    "%s at line %u is not partitioned alone: dimension %d of %s %d has size %lld, "
                    "which its axes do not divide, and padding would change the result",
                    op->name, op->line, d, operand ? "operand" : "result",
                    operand ? tensor : tensor - op->operand_count, (long long)type->dims[d]);
  }
  return NULL;
}

// Whether a place of the rule is all of its dim.
static bool is_whole_dim(const single_op *item, const tsr_op_rule *rule, int place) {
  const tsr_rule_place *where = &rule->places[place];
  const int first = tsr_rule_dim(rule, where->tensor, where->dim);
  return tsr_rule_dim(rule, where->tensor, where->dim + 1) == first + 1 &&
         tensor_of(item->op, where->tensor)->type->dims[where->dim] ==
             rule->factors[where->factor].size;
}

static tsr_status set_size(tsr_ir *ir, const tsr_type **type, int dim, int64_t size) {
  int64_t dims[TSR_MAX_RANK];
  if ((*type)->dims[dim] == size) return NULL;
  memcpy(dims, (*type)->dims, (size_t)(*type)->rank * sizeof *dims);
  dims[dim] = size;
  *type = tsr_type_tensor(ir, (*type)->element, (*type)->rank, dims, NULL);
  TSR_NEED(*type);
  return NULL;
}

// Dims that are one factor have one size: the largest that one of them is padded to.
static tsr_status join_sizes(single_run *run, single_op *item, const tsr_op_rule *rule,
                             int factor) {
  int64_t size = 0;
  for (int i = rule->used[factor]; i < rule->used[factor + 1]; i++) {
    const tsr_rule_place *place = &rule->places[rule->uses[i]];
    const int64_t padded = item->types[place->tensor]->dims[place->dim];
    if (is_whole_dim(item, rule, rule->uses[i]) && padded > size) size = padded;
  }
  for (int i = rule->used[factor]; i < rule->used[factor + 1]; i++) {
    const tsr_rule_place *place = &rule->places[rule->uses[i]];
    if (is_whole_dim(item, rule, rule->uses[i]))
      TSR_TRY(set_size(run->ir, &item->types[place->tensor], place->dim, size));
  }
  return NULL;
}

static tsr_status fill_types(single_run *run, single_op *item) {
  const tsr_op_rule *rule = NULL;
  if (tsr_op_is(item->op, TSR_OP_SDY_RESHARD))
    TSR_TRY(tsr_rule_identity(&run->arena, tensor_of(item->op, 0)->type, 1, 1, &rule));
  else
    TSR_TRY(tsr_rule_of(&run->arena, item->op, TSR_RULE_PLAIN, &rule));
  for (int i = 0; i < tensor_count(item->op); i++) {
    const tsr_tensor_sharding *cut = NULL;
    TSR_TRY(tsr_cut_of_attr(&run->arena, run->ir, item->op, item->shardings[i], &cut));
    TSR_TRY(tsr_even_type(run->ir, tensor_of(item->op, i)->type, cut, &item->types[i]));
  }
  for (int i = 0; rule && i < rule->factor_count; i++) TSR_TRY(join_sizes(run, item, rule, i));
  for (int i = 0; i < tensor_count(item->op); i++) TSR_TRY(check_padding(item, rule, i));
  return NULL;
}

// ---- apart ----

// Whether ops in the regions of an op use only what is made there.
static tsr_status check_inside(tsr_op *op, void *context) {
  const single_op *item = context;
  if (tsr_op_is(op, TSR_OP_CALL)) return refuse(item, "it calls a function");
  for (int i = 0; op != item->op && i < op->operand_count; i++) {
    const tsr_ir_block *block = tsr_value_block(tsr_op_operand(op, i));
    const tsr_op *parent = tsr_block_parent(block);
    while (parent && parent != item->op) parent = tsr_op_parent(parent);
    if (!parent) return refuse(item, "its regions use values from outside");
  }
  return NULL;
}

// A copy of the op on new arguments, with its results returned.
static tsr_status fill_func(single_run *run, const single_op *item, tsr_ir_block *body) {
  const tsr_op *op = item->op;
  tsr_value_map *map = tsr_value_map_create();
  tsr_op *copy = map ? tsr_op_clone(run->ir, op, map) : NULL;
  tsr_value_map_destroy(map);
  TSR_NEED(copy);
  for (int i = 0; i < op->operand_count; i++) {
    tsr_value *arg = tsr_block_add_arg(run->ir, body, item->types[i], NULL);
    TSR_NEED(arg);
    tsr_op_set_operand(copy, i, arg);
  }
  tsr_value **results = tsr_ir_alloc(run->ir, ((size_t)op->result_count + 1) * sizeof *results);
  TSR_NEED(results);
  for (int i = 0; i < op->result_count; i++) {
    results[i] = tsr_op_result(copy, i);
    results[i]->type = item->types[op->operand_count + i];
  }
  tsr_op_append(body, copy);
  const tsr_op_parts parts = {.id = TSR_OP_FUNC_RETURN,
                              .operands = results,
                              .operand_count = op->result_count,
                              .location = op->location};
  tsr_op *end = tsr_op_create(run->ir, &parts);
  TSR_NEED(end);
  tsr_op_append(body, end);
  return NULL;
}

static tsr_status make_func(single_run *run, const single_op *item, const char *name,
                            tsr_op **out_func) {
  tsr_ir *ir = run->ir;
  const tsr_op *op = item->op;
  const tsr_type *type = tsr_type_function(ir, item->types, op->operand_count,
                                           item->types + op->operand_count, op->result_count);
  TSR_NEED(type);
  const tsr_named_attr attrs[] = {
      {tsr_ir_name(ir, "function_type", 13), tsr_attr_type(ir, type)},
      {tsr_ir_name(ir, "sym_name", 8), tsr_attr_string(ir, name, strlen(name))},
      {tsr_ir_name(ir, "sym_visibility", 14), tsr_attr_string(ir, "private", 7)}};
  for (size_t i = 0; i < sizeof attrs / sizeof *attrs; i++)
    TSR_NEED(attrs[i].name && attrs[i].attr);
  const tsr_op_parts parts = {.id = TSR_OP_FUNC,
                              .attrs = attrs,
                              .attr_count = sizeof attrs / sizeof *attrs,
                              .region_count = 1,
                              .location = op->location};
  tsr_op *func = tsr_op_create(ir, &parts);
  tsr_ir_block *body = func ? tsr_block_append(ir, &func->regions[0]) : NULL;
  TSR_NEED(body);
  *out_func = func;
  return fill_func(run, item, body);
}

static tsr_status set_shardings(single_run *run, const single_op *item, tsr_op *func) {
  const int operands = item->op->operand_count;
  for (int i = 0; i < tensor_count(item->op); i++)
    TSR_TRY(tsr_func_dict_set(run->ir, func, i < operands ? "arg_attrs" : "res_attrs",
                              i < operands ? i : i - operands, "sdy.sharding", item->shardings[i]));
  return NULL;
}

static tsr_status copy_apart(single_run *run, const tsr_op *op, tsr_op **out_copy) {
  tsr_value_map *map = tsr_value_map_create();
  tsr_op *copy = map ? tsr_op_clone(run->apart, op, map) : NULL;
  tsr_value_map_destroy(map);
  TSR_NEED(copy);
  tsr_op_append(run->apart->module->regions[0].first, copy);
  *out_copy = copy;
  return NULL;
}

static tsr_status set_apart(single_run *run, single_op *item) {
  tsr_text name = TSR_TEXT_EMPTY;
  const size_t room = (size_t)tensor_count(item->op) + 1;
  tsr_op *func = NULL;
  item->shardings = tsr_arena_zeros(&run->arena, room, sizeof(const tsr_attr *));
  item->types = tsr_arena_zeros(&run->arena, room, sizeof(const tsr_type *));
  TSR_NEED(item->shardings && item->types);
  TSR_TRY(tsr_op_walk(item->op, check_inside, item));
  TSR_TRY(fill_shardings(run, item));
  TSR_TRY(fill_axes(run, item));
  TSR_TRY(fill_types(run, item));
  tsr_text_addf(&name, "op_%lld", (long long)(item - run->items));
  tsr_status status = tsr_text_check(&name);
  if (!status) status = make_func(run, item, tsr_text_string(&name), &func);
  tsr_text_deinit(&name);
  TSR_TRY(status);
  TSR_TRY(set_shardings(run, item, func));
  return copy_apart(run, func, &item->func);
}

static tsr_status set_all_apart(single_run *run) {
  for (const tsr_op *op = run->ir->module->regions[0].first->first; op; op = op->next) {
    tsr_op *copy = NULL;
    if (tsr_op_is(op, TSR_OP_SDY_MESH)) TSR_TRY(copy_apart(run, op, &copy));
  }
  for (int64_t i = 0; i < run->count; i++) TSR_TRY(set_apart(run, &run->items[i]));
  return tsr_verify(run->apart, "ops partitioned alone");
}

// Shardy's passes, and two of ours by which reductions that are no sums are none.
static tsr_status partition_apart(single_run *run) {
  const long long replicas = run->how->replicas, partitions = run->how->partitions;
  tsr_text list = TSR_TEXT_EMPTY;
  tsr_text_addf(&list,
                "partition-rules,sdy-resolve-permutation-factors{enable-halo-exchange=%s,"
                "replica-count=%lld,partition-count=%lld},"
                "sdy-insert-explicit-reshards{enable-full-version},reduction-kinds,"
                "sdy-reshard-to-collectives,sdy-pad-for-divisibility,sdy-drop-sharding-rules,"
                "sdy-convert-global-to-local{replica-count=%lld,partition-count=%lld},"
                "sdy-drop-sharding-and-mesh",
                run->how->halos ? "true" : "false", replicas, partitions, replicas, partitions);
  tsr_status status = tsr_text_check(&list);
  if (!status) status = tsr_all_passes_run(run->apart, tsr_text_string(&list), NULL);
  tsr_text_deinit(&list);
  return status;
}

// ---- back ----

static tsr_value *padded_operand(tsr_site *site, const single_op *item, int index) {
  tsr_value *value = tsr_op_operand(item->op, index);
  const tsr_type *type = item->types[index];
  if (type == value->type) return value;
  tsr_value *zero = tsr_site_zeros(site, tsr_site_scalar(site, type));
  return tsr_site_shard(site, tsr_site_pad_end(site, value, zero, type), item->shardings[index]);
}

static tsr_status replace_results(tsr_site *site, const single_op *item, tsr_op *manual) {
  const int operands = item->op->operand_count;
  for (int i = 0; i < item->op->result_count; i++) {
    tsr_value *old = tsr_op_result(item->op, i), *made = tsr_op_result(manual, i);
    if (made->type != old->type)
      made = tsr_site_shard(site, tsr_site_slice(site, made, NULL, old->type->dims),
                            item->shardings[operands + i]);
    if (site->failure) return site->failure;
    tsr_uses_move(old, made, NULL);
  }
  tsr_op_erase(item->op);
  return NULL;
}

static tsr_status take_body(single_run *run, const single_op *item, tsr_op *manual) {
  tsr_value_map *map = tsr_value_map_create();
  tsr_op *func = map ? tsr_op_clone(run->ir, item->func, map) : NULL;
  tsr_value_map_destroy(map);
  TSR_NEED(func);
  tsr_body_take(&manual->regions[0], &func->regions[0]);
  return tsr_return_exchange(run->ir, manual->regions[0].first, TSR_OP_SDY_RETURN);
}

static tsr_status bring_back(single_run *run, const single_op *item) {
  const int operands = item->op->operand_count, results = item->op->result_count;
  tsr_site site = {.ir = run->ir, .place = item->op};
  tsr_value **values = tsr_arena_alloc(&run->arena, ((size_t)operands + 1) * sizeof *values);
  TSR_NEED(values);
  for (int i = 0; i < operands; i++) values[i] = padded_operand(&site, item, i);
  const tsr_site_attr attrs[] = {
      {"in_shardings", tsr_shardings_attr(run->ir, item->shardings, operands)},
      {"manual_axes", item->manual_axes},
      {"out_shardings", tsr_shardings_attr(run->ir, item->shardings + operands, results)}};
  tsr_op *manual = tsr_site_op(&site, TSR_OP_SDY_MANUAL_COMPUTATION, values, operands,
                               item->types + operands, results, 1, attrs, 3);
  if (site.failure) return site.failure;
  TSR_TRY(take_body(run, item, manual));
  return replace_results(&site, item, manual);
}

static void release_apart(void *apart) { tsr_ir_destroy(apart); }

// The program apart lives on: constants of the bodies lie in its memory.
static tsr_status partition_chosen(single_run *run) {
  TSR_TRY(read_filter(run));
  TSR_TRY(choose_ops(run));
  if (!run->count) return NULL;
  run->apart = tsr_ir_create();
  TSR_NEED(run->apart);
  if (!tsr_ir_keep(run->ir, run->apart, release_apart)) return tsr_fail(NO_MEMORY, "single ops");
  TSR_TRY(set_all_apart(run));
  TSR_TRY(partition_apart(run));
  for (int64_t i = 0; i < run->count; i++) TSR_TRY(bring_back(run, &run->items[i]));
  return NULL;
}

tsr_status tsr_single_ops_partition(tsr_ir *ir, const tsr_single_how *how, int64_t *changes) {
  single_run run = {.ir = ir, .how = how};
  tsr_status status = partition_chosen(&run);
  *changes += run.count;
  free(run.items);
  tsr_arena_deinit(&run.arena);
  return status;
}
