// Collectives: all_gather, all_reduce, all_to_all, reduce_scatter, permute, broadcast, reduce; and
// their groups of processes, as lists of ids or as axes of a mesh.
//
// How many processes run is not known here, so sizes of results are checked as far as the groups
// and the types tell. Ids are sorted once, so that lists of thousands of processes are checked
// without a set. A splat is looked at alone: its shape may have more elements than memory has
// bytes.
#include "verify/group_checks.h"

#include <stdlib.h>

typedef struct id_list {
  int64_t *ids;  // sorted
  int64_t count;
} id_list;

static int compare_ids(const void *left, const void *right) {
  const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
  return (a > b) - (a < b);
}

// Every `step`th id from `start`, without those of -1 if `skip`. The caller frees the ids.
static tsr_status list_ids(const tsr_attr *dense, int64_t start, int64_t step, bool skip,
                           id_list *out_list) {
  const int64_t count = tsr_attr_int_count(dense);
  int64_t *ids = malloc(sizeof *ids * ((size_t)count + 1));
  int64_t kept = 0;
  TSR_NEED(ids);
  for (int64_t i = start; i < count; i += step) {
    const int64_t id = tsr_attr_int_at(dense, i);
    if (!skip || id != -1) ids[kept++] = id;
  }
  if (kept > 1) qsort(ids, (size_t)kept, sizeof *ids, compare_ids);
  *out_list = (id_list){ids, kept};
  return NULL;
}

// The first id that occurs twice in a sorted list; -1 = none.
static int64_t repeated_at(const id_list *list) {
  for (int64_t i = 1; i < list->count; i++)
    if (list->ids[i] == list->ids[i - 1]) return i;
  return -1;
}

static tsr_status check_id_list(const tsr_op *op, const tsr_group_rules *rules,
                                const id_list *list) {
  const int64_t twice = repeated_at(list);
  if (list->count) {
    const int64_t low = list->ids[0], high = list->ids[list->count - 1];
    TSR_ASK(low >= 0, op, rules->range, "replica id is %lld, expected 0 or more", (long long)low);
    TSR_ASK(twice < 0, op, rules->unique, "replica id %lld occurs twice in replica_groups",
            (long long)list->ids[twice < 0 ? 0 : twice]);
    TSR_ASK(rules->any_ids || high == list->count - 1, op, rules->range,
            "replica id is %lld, expected each id from 0 to %lld", (long long)high,
            (long long)list->count - 1);
  }
  return NULL;
}

static tsr_status check_dense_ids(const tsr_op *op, const tsr_group_rules *rules,
                                  const tsr_attr *groups) {
  const tsr_type *type = groups->type;
  const bool empty = type->dims[0] == 0 || type->dims[1] == 0;
  const bool repeats = groups->splat && !empty && tsr_type_element_count(type) != 1;
  id_list list = {0};
  if (empty) return NULL;
  if (repeats) {
    const int64_t id = tsr_attr_int_at(groups, 0);
    TSR_ASK(id == -1 && !rules->even, op, rules->unique,
            "replica id %lld occurs twice in replica_groups", (long long)id);
    return NULL;
  }
  TSR_TRY(list_ids(groups, 0, 1, !rules->even && !rules->any_ids, &list));
  const tsr_status status = check_id_list(op, rules, &list);
  free(list.ids);
  return status;
}

static tsr_status check_written_groups(const tsr_op *op, const tsr_group_rules *rules,
                                       const tsr_attr *groups) {
  const tsr_type *type = groups->type;
  TSR_ASK(type->rank == 2, op, rules->form, "replica_groups has rank %d, expected 2", type->rank);
  TSR_TRY(check_dense_ids(op, rules, groups));
  TSR_ASK(!rules->group_size || (type->dims[0] && type->dims[1] == rules->group_size), op,
          rules->size, "replica_groups is %s, expected groups of %lld", SHOW_TYPE(type),
          (long long)rules->group_size);
  return NULL;
}

static bool mesh_has_axis(const tsr_attr *mesh, const tsr_attr *name) {
  const tsr_attr *axes = tsr_attr_field(mesh, TSR_MESH_AXES);
  for (int64_t i = 0; i < axes->count; i++)
    if (tsr_attr_equal(tsr_attr_field(axes->items[i], TSR_MESH_AXIS_NAME), name)) return true;
  return false;
}

static tsr_status check_mesh_axes(tsr_ir *ir, const tsr_op *op, const char *constraint,
                                  const tsr_attr *groups) {
  const tsr_attr *mesh = tsr_attr_field(groups, TSR_GROUP_AXES_MESH);
  const tsr_attr *axes = tsr_attr_field(groups, TSR_GROUP_AXES_AXES);
  if (mesh->kind == TSR_ATTR_SYMBOL) {
    TSR_ASK(tsr_ir_find_symbol(ir, mesh->bytes), op, constraint,
            "replica_groups: mesh @%s is not in the module", mesh->bytes);
    return NULL;
  }
  TSR_ASK(tsr_attr_has_form(mesh, TSR_FORM_RECORD, TSR_RECORD_MESH), op, constraint,
          "replica_groups: mesh is %s, expected a symbol or a mesh", SHOW_ATTR(mesh));
  for (int64_t i = 0; i < axes->count; i++) {
    const tsr_attr *name = tsr_attr_field(axes->items[i], TSR_AXIS_REF_NAME);
    TSR_ASK(mesh_has_axis(mesh, name), op, constraint,
            "replica_groups: axis %s is not an axis of the mesh", SHOW_ATTR(name));
  }
  return NULL;
}

tsr_status tsr_check_groups(tsr_ir *ir, const tsr_op *op, const tsr_group_rules *rules) {
  const tsr_attr *groups = tsr_op_attr(op, "replica_groups");
  if (tsr_attr_has_form(groups, TSR_FORM_RECORD, TSR_RECORD_GROUP_AXES))
    return check_mesh_axes(ir, op, rules->form, groups);
  TSR_ASK(tsr_attr_has_form(groups, TSR_FORM_DENSE_I64, 0), op, rules->form,
          "replica_groups is %s, expected a 2-dimensional tensor of i64 or mesh axes",
          SHOW_ATTR(groups));
  return check_written_groups(op, rules, groups);
}

int64_t tsr_process_group_size(const tsr_op *op) {
  const tsr_attr *groups = tsr_op_attr(op, "replica_groups");
  if (!groups || groups->kind != TSR_ATTR_DENSE || groups->type->rank != 2) return 0;
  return groups->type->dims[1];
}

int64_t tsr_channel_id(const tsr_op *op) {
  const tsr_attr *channel = tsr_op_attr(op, "channel_handle");
  return channel ? tsr_record_int(channel, TSR_CHANNEL_HANDLE) : 0;
}

tsr_status tsr_check_global_ids(const tsr_op *op, const char *constraint, int64_t least) {
  const tsr_attr *groups = tsr_op_attr(op, "replica_groups");
  if (!tsr_op_flag(op, "use_global_device_ids")) return NULL;
  TSR_ASK(tsr_channel_id(op) >= least, op, constraint,
          "channel_id is %lld, expected %lld or more with use_global_device_ids",
          (long long)tsr_channel_id(op), (long long)least);
  TSR_ASK(groups->kind != TSR_ATTR_DENSE || tsr_attr_int_count(groups) != 0, op, constraint,
          "replica_groups is empty, expected groups with use_global_device_ids");
  return NULL;
}

static tsr_status check_ends(const tsr_op *op, const tsr_attr *pairs, int end) {
  id_list list = {0};
  TSR_TRY(list_ids(pairs, end, 2, false, &list));
  const int64_t twice = repeated_at(&list);
  const int64_t low = list.count ? list.ids[0] : 0;
  const int64_t id = twice < 0 ? 0 : list.ids[twice];
  free(list.ids);
  TSR_ASK(low >= 0, op, "C4", "source_target_pairs has %lld, expected 0 or more", (long long)low);
  TSR_ASK(twice < 0, op, end ? "C3" : "C2", "%s %lld occurs twice in source_target_pairs",
          end ? "target" : "source", (long long)id);
  return NULL;
}

tsr_status tsr_check_pairs(const tsr_op *op, const tsr_attr *pairs) {
  const tsr_type *type = pairs->type;
  TSR_ASK(type->rank == 2, op, "I2", "source_target_pairs has rank %d, expected 2", type->rank);
  TSR_ASK(type->dims[1] == 2, op, "C1", "source_target_pairs is %s, expected pairs",
          SHOW_TYPE(type));
  TSR_ASK(!pairs->splat || type->dims[0] < 2, op, "C2",
          "source %lld occurs twice in source_target_pairs", (long long)tsr_attr_int_at(pairs, 0));
  for (int end = 0; end < 2; end++) TSR_TRY(check_ends(op, pairs, end));
  return NULL;
}

static tsr_status check_dim(const tsr_op *op, const char *constraint, const char *name,
                            const tsr_type *type) {
  const int64_t dim = tsr_op_int(op, name, 0);
  TSR_ASK(dim >= 0 && dim < type->rank, op, constraint,
          "%s is %lld, expected 0 or more and less than %d, the rank of %s", name, (long long)dim,
          type->rank, SHOW_TYPE(type));
  return NULL;
}

static tsr_status check_pairwise(const tsr_op *op, const char *constraint) {
  TSR_ASK(op->operand_count == op->result_count, op, constraint,
          "there are %d results, expected %d as there are operands", op->result_count,
          op->operand_count);
  return NULL;
}

// ---- all_gather

static tsr_status check_gathered(const tsr_op *op, int index) {
  const tsr_type *from = tsr_operand_type(op, index), *to = tsr_op_result(op, index)->type;
  const int64_t dim = tsr_op_int(op, "all_gather_dim", 0);
  TSR_TRY(check_dim(op, "C1", "all_gather_dim", from));
  TSR_ASK(tsr_same_element(from, to), op, "C6", "result is %s, expected the elements of %s",
          SHOW_TYPE(to), SHOW_TYPE(from));
  TSR_ASK(from->dims[dim] != 0, op, "C6",
          "operand is %s, expected a size above 0 at dimension %lld", SHOW_TYPE(from),
          (long long)dim);
  TSR_ASK(from->rank == to->rank, op, "C6", "result is %s, expected the rank of %s", SHOW_TYPE(to),
          SHOW_TYPE(from));
  for (int i = 0; i < from->rank; i++)
    TSR_ASK(i == dim || tsr_sizes_match(from->dims[i], to->dims[i]), op, "C6",
            "result is %s, expected the size of %s at dimension %d", SHOW_TYPE(to), SHOW_TYPE(from),
            i);
  if (tsr_is_dynamic(from->dims[dim]) || tsr_is_dynamic(to->dims[dim])) return NULL;
  TSR_ASK(to->dims[dim] % from->dims[dim] == 0, op, "C6",
          "result is %s, expected a multiple of %lld at dimension %lld", SHOW_TYPE(to),
          (long long)from->dims[dim], (long long)dim);
  return NULL;
}

tsr_status tsr_verify_all_gather(tsr_ir *ir, const tsr_op *op) {
  static const tsr_group_rules rules = {"I3", "C2", "C4", "C4", .even = true};
  TSR_TRY(tsr_check_groups(ir, op, &rules));
  TSR_TRY(tsr_check_global_ids(op, "C5", 0));
  TSR_TRY(check_pairwise(op, "C6"));
  for (int i = 0; i < op->operand_count; i++) TSR_TRY(check_gathered(op, i));
  return NULL;
}

// ---- all_reduce and collective_reduce: results have the elements that the computation returns

static tsr_status check_combined(const tsr_op *op, const char *constraint, int count) {
  for (int i = 0; i < count; i++) {
    const tsr_type *type = tsr_operand_type(op, i);
    TSR_TRY(tsr_check_combiner(op, 0, constraint, &type, NULL, 1));
  }
  return NULL;
}

static tsr_status infer_combined(tsr_ir *ir, const tsr_op *op, int count, tsr_result_types *out) {
  const tsr_type *element = tsr_combiner_element(op, 0, 0);
  for (int i = 0; i < count; i++)
    TSR_TRY(tsr_results_add(out, tsr_type_with_element(ir, tsr_operand_type(op, i), element)));
  return NULL;
}

tsr_status tsr_verify_all_reduce(tsr_ir *ir, const tsr_op *op) {
  static const tsr_group_rules rules = {"I2", "C1", "C3", "C3", .even = false};
  TSR_TRY(tsr_check_groups(ir, op, &rules));
  TSR_TRY(tsr_check_global_ids(op, "C4", 1));
  return check_combined(op, "C5", op->operand_count);
}

tsr_status tsr_infer_all_reduce(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  return infer_combined(ir, op, op->operand_count, out);
}

// With has_dynamic_root the last operand holds a root for each other operand.
static int data_count(const tsr_op *op) {
  return op->operand_count - (tsr_op_flag(op, "has_dynamic_root") ? 1 : 0);
}

static tsr_status check_roots(const tsr_op *op, const char *constraint) {
  const int count = data_count(op);
  TSR_ASK(count >= 1, op, constraint, "there are %d operands, expected %d or more",
          op->operand_count, op->operand_count - count + 1);
  if (count == op->operand_count) return NULL;
  const tsr_type *roots = tsr_operand_type(op, count);
  TSR_ASK(roots->kind == TSR_TYPE_TENSOR && roots->rank == 1 &&
              roots->element->kind == TSR_TYPE_INTEGER && roots->element->width == 32 &&
              roots->element->sign == TSR_SIGNLESS && roots->dims[0] == count,
          op, constraint, "the roots are %s, expected tensor<%dxi32>", SHOW_TYPE(roots), count);
  return NULL;
}

tsr_status tsr_verify_collective_reduce(tsr_ir *ir, const tsr_op *op) {
  static const tsr_group_rules rules = {"I2", "C1", "C2", "C2", .even = false};
  TSR_TRY(tsr_check_groups(ir, op, &rules));
  TSR_TRY(tsr_check_global_ids(op, "I3", 1));
  TSR_TRY(check_roots(op, "C3"));
  return check_combined(op, "C4", data_count(op));
}

tsr_status tsr_infer_collective_reduce(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  return infer_combined(ir, op, data_count(op), out);
}

// ---- collective_broadcast, collective_permute, cross-replica-sum: results are the operands' types

tsr_status tsr_verify_collective_broadcast(tsr_ir *ir, const tsr_op *op) {
  static const tsr_group_rules rules = {"I2", "C1", "C2", "C2", .even = true, .any_ids = true};
  TSR_TRY(tsr_check_groups(ir, op, &rules));
  return check_roots(op, tsr_op_flag(op, "has_dynamic_root") ? "C4" : "C3");
}

tsr_status tsr_infer_collective_broadcast(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  (void)ir;
  for (int i = 0; i < data_count(op); i++) TSR_TRY(tsr_results_add(out, tsr_operand_type(op, i)));
  return NULL;
}

tsr_status tsr_verify_collective_permute(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  return tsr_check_pairs(op, tsr_op_attr(op, "source_target_pairs"));
}

// ---- all_to_all

tsr_status tsr_verify_all_to_all(tsr_ir *ir, const tsr_op *op) {
  const int64_t count = tsr_op_int(op, "split_count", 0);
  const int64_t split = tsr_op_int(op, "split_dimension", 0);
  const tsr_group_rules rules = {"I5", "C5", "C7", "C8", .even = true, .group_size = count};
  TSR_ASK(count > 0, op, "C4", "split_count is %lld, expected more than 0", (long long)count);
  TSR_TRY(tsr_check_groups(ir, op, &rules));
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_type *type = tsr_operand_type(op, i);
    TSR_TRY(check_dim(op, "C1", "split_dimension", type));
    TSR_TRY(check_dim(op, "C3", "concat_dimension", type));
    TSR_ASK(tsr_is_dynamic(type->dims[split]) || type->dims[split] % count == 0, op, "C2",
            "operand is %s, expected a multiple of split_count %lld at dimension %lld",
            SHOW_TYPE(type), (long long)count, (long long)split);
  }
  return NULL;
}

static void exchange(int64_t *sizes, int64_t split, int64_t concat, int64_t count) {
  if (!tsr_is_dynamic(sizes[split])) sizes[split] /= count;
  if (!tsr_is_dynamic(sizes[concat])) sizes[concat] *= count;
}

static tsr_status infer_exchanged(tsr_ir *ir, const tsr_op *op, const tsr_type *type,
                                  tsr_result_types *out) {
  const int64_t split = tsr_op_int(op, "split_dimension", 0);
  const int64_t concat = tsr_op_int(op, "concat_dimension", 0);
  const int64_t count = tsr_op_int(op, "split_count", 0);
  int64_t dims[TSR_RANK_LIMIT], bounds[TSR_RANK_LIMIT], grown = 0;
  for (int i = 0; i < type->rank; i++) dims[i] = type->dims[i];
  tsr_type_bounds(type, bounds);
  TSR_ASK(tsr_is_dynamic(dims[concat]) || !__builtin_mul_overflow(dims[concat], count, &grown), op,
          "C9", "dimension %lld of %s times %lld is too large", (long long)concat, SHOW_TYPE(type),
          (long long)count);
  TSR_ASK(tsr_is_dynamic(bounds[concat]) || !__builtin_mul_overflow(bounds[concat], count, &grown),
          op, "C9", "the bound of dimension %lld of %s times %lld is too large", (long long)concat,
          SHOW_TYPE(type), (long long)count);
  exchange(dims, split, concat, count);
  exchange(bounds, split, concat, count);
  return tsr_results_add(out, tsr_type_bounded(ir, type->element, type->rank, dims, bounds));
}

tsr_status tsr_infer_all_to_all(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  for (int i = 0; i < op->operand_count; i++)
    TSR_TRY(infer_exchanged(ir, op, tsr_operand_type(op, i), out));
  return NULL;
}

// ---- reduce_scatter

static tsr_status check_scattered(const tsr_op *op) {
  const tsr_type *from = tsr_operand_type(op, 0), *to = tsr_op_result(op, 0)->type;
  const int64_t dim = tsr_op_int(op, "scatter_dimension", 0);
  TSR_ASK(from->rank == to->rank, op, "C8", "result is %s, expected the rank of %s", SHOW_TYPE(to),
          SHOW_TYPE(from));
  TSR_TRY(check_dim(op, "C2", "scatter_dimension", from));
  const int64_t whole = from->dims[dim], share = to->dims[dim];
  if (tsr_is_dynamic(whole) || tsr_is_dynamic(share)) return NULL;
  TSR_ASK(whole && share && whole % share == 0, op, "C8",
          "result is %s, expected a divisor of %lld at dimension %lld", SHOW_TYPE(to),
          (long long)whole, (long long)dim);
  for (int i = 0; i < from->rank; i++)
    TSR_ASK(i == dim || tsr_sizes_match(from->dims[i], to->dims[i]), op, "C8",
            "result is %s, expected the size of %s at dimension %d", SHOW_TYPE(to), SHOW_TYPE(from),
            i);
  return NULL;
}

tsr_status tsr_verify_reduce_scatter(tsr_ir *ir, const tsr_op *op) {
  static const tsr_group_rules rules = {"I3", "C3", "C5", "C5", .even = true};
  TSR_TRY(tsr_check_groups(ir, op, &rules));
  TSR_TRY(check_combined(op, "C7", 1));
  TSR_TRY(tsr_check_global_ids(op, "C6", 1));
  TSR_TRY(check_scattered(op));
  const tsr_type *element = tsr_combiner_element(op, 0, 0);
  const tsr_type *result = tsr_op_result(op, 0)->type;
  TSR_ASK(tsr_type_element(result) == element, op, "C9", "result is %s, expected elements of %s",
          SHOW_TYPE(result), SHOW_TYPE(element));
  return NULL;
}
