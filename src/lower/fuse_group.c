// Groups: nodes that compute or load values, each with its form in the space of the group.
//
// A group starts with one op. What it reads is followed through ops that only move elements, and
// through cheap ops that are computed again by every reader, to values in memory.
#include "lower/fuse_group.h"

// ---- nodes ----

static const tsr_form first_element = {0};  // of a scalar: at every index

static int find_node(const tsr_fuse_group *group, const tsr_value *value, const tsr_form *form) {
  for (int i = 0; i < group->node_count; i++)
    if (group->nodes[i].value == value && tsr_form_equal(&group->nodes[i].form, form)) return i;
  return -1;
}

static bool loads_value(const tsr_fuse_group *group, const tsr_value *value) {
  for (int i = 0; i < group->node_count; i++)
    if (group->nodes[i].value == value && group->nodes[i].kind == TSR_NODE_LOAD) return true;
  return false;
}

static bool reserve_nodes(tsr_fuser *fuser, tsr_fuse_group *group, int count) {
  if (count <= group->node_capacity) return true;
  const int capacity = count < 4 ? 4 : 2 * count;
  tsr_fuse_node *nodes = tsr_lower_alloc(fuser->lowering, capacity, sizeof *nodes);
  if (!nodes) return !(fuser->out_of_memory = true);
  for (int i = 0; i < group->node_count; i++) nodes[i] = group->nodes[i];
  group->nodes = nodes;
  group->node_capacity = capacity;
  return true;
}

// -1: the group is full, or there is no memory.
static int add_node(tsr_fuser *fuser, tsr_fuse_group *group, tsr_fuse_node node) {
  if (group->node_count == TSR_FUSE_NODES) return -1;
  if (node.kind == TSR_NODE_LOAD && !loads_value(group, node.value) &&
      group->input_count++ == TSR_FUSE_INPUTS)
    return -1;
  if (!reserve_nodes(fuser, group, group->node_count + 1)) return -1;
  group->nodes[group->node_count] = node;
  return group->node_count++;
}

bool tsr_group_split(tsr_fuse_group *group, tsr_fuse_split split) {
  const int rank = group->space.rank;
  if (split.dim < 0 || !tsr_space_split(&group->space, split)) return false;
  for (int i = 0; i < group->node_count; i++) tsr_form_split(&group->nodes[i].form, rank, split);
  if (split.dim >= rank - group->row_dims) group->row_dims++;
  if (split.dim < group->batch_dims) group->batch_dims++;
  return true;
}

// ---- reading ----

// Loads that step far from one index to the next are slow: a transpose of its own is faster then.
static bool is_near(const tsr_fuse_group *group, const tsr_form *form) {
  const int64_t step = form->coeff[group->space.rank - 1];
  return step >= -8 && step <= 8;
}

static bool is_small(const tsr_value *value) { return tsr_type_element_count(value->type) <= 4096; }

// Follows a value through the op that defines it, if that only moves elements.
static bool read_through(tsr_fuse_group *group, tsr_value **value, tsr_form *form) {
  const tsr_op *op = (*value)->def;
  if (!tsr_op_only_moves(op)) return false;
  tsr_form moved;
  tsr_fuse_split split;
  while (!tsr_form_through(&group->space, op, form, &moved, &split)) {
    const int rank = group->space.rank;
    if (!tsr_group_split(group, split)) return false;
    tsr_form_split(form, rank, split);
  }
  if (!is_near(group, &moved) && is_near(group, form) && !is_small(tsr_op_operand(op, 0)))
    return false;
  *value = tsr_op_operand(op, 0);
  *form = moved;
  return true;
}

// The index of an iota as a form; false where it is not one.
static bool iota_form(tsr_fuse_group *group, const tsr_op *op, tsr_form *form) {
  const int64_t dim = tsr_op_int(op, "iota_dimension", 0);
  tsr_form_radix digits;
  tsr_form dims[TSR_FORM_DIGITS];
  tsr_fuse_split split;
  if (!tsr_type_runs(op->results[0].type) || !tsr_form_radix_of(op->results[0].type, &digits))
    return false;
  while (!tsr_form_digits(&group->space, form, &digits, dims, &split)) {
    const int rank = group->space.rank;
    if (!tsr_group_split(group, split)) return false;
    tsr_form_split(form, rank, split);
  }
  *form = dims[dim];
  return true;
}

static int read_value(tsr_fuser *fuser, tsr_fuse_group *group, tsr_value *value, tsr_form form);

// A cheap op that is computed again here.
static int read_inlined(tsr_fuser *fuser, tsr_fuse_group *group, tsr_value *value, tsr_form form) {
  const tsr_op *op = value->def;
  const int node = add_node(
      fuser, group, (tsr_fuse_node){.kind = TSR_NODE_COMPUTE, .value = value, .form = form});
  for (int i = 0; node >= 0 && i < op->operand_count; i++) {
    const bool scalar = tsr_type_element_count(tsr_operand_type(op, i)) == 1;
    const int in = read_value(fuser, group, tsr_op_operand(op, i),
                              scalar ? first_element : group->nodes[node].form);
    if (in < 0) return -1;
    group->nodes[node].in[i] = in;
  }
  return node;
}

static int read_value(tsr_fuser *fuser, tsr_fuse_group *group, tsr_value *value, tsr_form form) {
  const tsr_fuse_op *def = tsr_fuser_def(fuser, value);
  while (def && read_through(group, &value, &form)) def = tsr_fuser_def(fuser, value);
  if (value->def && tsr_op_splat(value->def)) form = (tsr_form){0};
  int node = find_node(group, value, &form);
  if (node >= 0) return node;
  tsr_fuse_node made = {.kind = TSR_NODE_LOAD, .value = value};
  if (value->def && tsr_op_splat(value->def))
    made.kind = TSR_NODE_SPLAT;
  else if (value->def && value->def->info->id == TSR_OP_IOTA && iota_form(group, value->def, &form))
    made.kind = TSR_NODE_IOTA;
  else if (def && def->inlined)
    return read_inlined(fuser, group, value, form);
  made.form = form;
  node = find_node(group, value, &form);
  return node >= 0 ? node : add_node(fuser, group, made);
}

// ---- groups of one op ----

static void add_dim(tsr_fuse_space *space, int64_t size) {
  if (size > 1) space->dims[space->rank++] = size;
}

static void open_space(tsr_fuse_group *group, const tsr_op *op, const tsr_reduce_plan *plan) {
  group->batch_dims = -1;
  if (plan->way == TSR_REDUCE_OTHERWISE || plan->way == TSR_REDUCE_NOTHING) {
    group->space = (tsr_fuse_space){1, {tsr_type_element_count(op->results[0].type)}};
    return;
  }
  if (plan->way == TSR_REDUCE_FOLD) {
    add_dim(&group->space, plan->batch);
    group->batch_dims = group->space.rank;
  }
  add_dim(&group->space, plan->outer);
  add_dim(&group->space, plan->row);
  group->row_dims = 1;
}

static const tsr_node_kind node_kinds[] = {
    [TSR_REDUCE_OTHERWISE] = TSR_NODE_COMPUTE,
    [TSR_REDUCE_NOTHING] = TSR_NODE_COMPUTE,
    [TSR_REDUCE_ROWS] = TSR_NODE_ROWS,
    [TSR_REDUCE_FOLD] = TSR_NODE_FOLD,
};

// Reads the operands of the only op: all have its positions but scalars.
static bool read_operands(tsr_fuser *fuser, tsr_fuse_group *group, const tsr_op *op) {
  const bool folds = group->nodes[0].kind == TSR_NODE_FOLD;
  for (int i = 0; i < (folds ? 1 : op->operand_count); i++) {
    const bool scalar = tsr_type_element_count(tsr_operand_type(op, i)) == 1;
    const tsr_form whole = tsr_form_row_major(&group->space, 0, group->space.rank);
    const int in = read_value(fuser, group, tsr_op_operand(op, i), scalar ? first_element : whole);
    if (in < 0) return false;
    group->nodes[0].in[i] = in;
  }
  return true;
}

tsr_status tsr_group_create(tsr_fuser *fuser, tsr_fuse_op *op, tsr_fuse_group **out_group) {
  const tsr_reduce_plan plan = tsr_reduce_plan_of(op->op);
  tsr_fuse_group *group = tsr_lower_alloc(fuser->lowering, 1, sizeof *group);
  TSR_NEED(group);
  open_space(group, op->op, &plan);
  const int kept = plan.way == TSR_REDUCE_ROWS ? group->space.rank - 1 : group->space.rank;
  const int node = add_node(fuser, group,
                            (tsr_fuse_node){.kind = node_kinds[plan.way],
                                            .member = true,
                                            .value = &op->op->results[0],
                                            .form = tsr_form_row_major(&group->space, 0, kept)});
  *out_group = NULL;
  if (node < 0 || !read_operands(fuser, group, op->op)) return NULL;
  group->member_count = 1;
  group->depth = op->depth;
  group->classes = tsr_value_classes(fuser->lowering, &op->op->results[0]);
  group->last = (int)op->op->mark;
  op->group = group;
  op->node = 0;
  *out_group = group;
  return NULL;
}

// ---- joining ----

// How a value lies in a group: all over it, once for each row, or otherwise.
typedef enum value_extent { EXTENT_OTHER, EXTENT_ROWS, EXTENT_ALL } value_extent;

// The number of dims at the end where the form does not change; -1 if there are other such dims.
static int still_dims(const tsr_fuse_space *space, const tsr_form *form) {
  int still = 0;
  if (space->rank == 1 && space->dims[0] == 1) return 0;
  while (still < space->rank && form->coeff[space->rank - 1 - still] == 0) still++;
  for (int i = 0; i < space->rank - still; i++)
    if (form->coeff[i] == 0) return -1;
  return still;
}

static int64_t count_of(const tsr_fuse_space *space, int first, int end) {
  int64_t count = 1;
  for (int i = first; i < end; i++) count *= space->dims[i];
  return count;
}

static value_extent extent_of(const tsr_fuse_group *group, const tsr_form *form) {
  const int still = still_dims(&group->space, form);
  if (still < 0) return EXTENT_OTHER;
  return still == 0 ? EXTENT_ALL : EXTENT_ROWS;
}

// A form whose values are one for each row as one that tells the elements of a row apart too.
static tsr_form extended(const tsr_fuse_group *group, const tsr_form *form) {
  const int rank = group->space.rank, still = still_dims(&group->space, form);
  const int64_t row = count_of(&group->space, rank - still, rank);
  tsr_form whole = tsr_form_row_major(&group->space, rank - still, rank);
  whole.offset += form->offset * row;
  for (int i = 0; i < rank; i++) whole.coeff[i] += form->coeff[i] * row;
  return whole;
}

// The dims of a group as digits of positions, the largest stride first; `order` says which dim each
// digit is. False unless the form counts positions without gaps.
static bool digits_of_group(const tsr_fuse_group *group, const tsr_form *form,
                            tsr_form_radix *out_digits, int *out_order) {
  int64_t stride = 1;
  const int rank = group->space.rank;
  const bool one = rank == 1 && group->space.dims[0] == 1;
  out_digits->count = one ? 0 : rank;
  if (form->offset != 0 || one) return form->offset == 0;
  for (int k = rank - 1; k >= 0; k--) {
    int dim = 0;
    while (dim < rank && form->coeff[dim] != stride) dim++;
    if (dim == rank) return false;
    out_order[k] = dim;
    out_digits->sizes[k] = group->space.dims[dim];
    out_digits->strides[k] = stride;
    stride *= group->space.dims[dim];
  }
  return true;
}

// A join under way: group `from` becomes part of group `into`.
typedef struct group_join {
  tsr_fuser *fuser;
  tsr_fuse_group *into, *from;
  tsr_form dims[TSR_TILE_RANK];    // the index along each dim of `from` in the space of `into`
  tsr_form forms[TSR_FUSE_NODES];  // of the nodes of `from` in the space of `into`
  int numbers[TSR_FUSE_NODES];     // of the nodes of `from` in `into`
  int row_dims, batch_dims;        // of `into` afterwards
} group_join;

static tsr_form substitute(const group_join *join, const tsr_form *form) {
  tsr_form result = {.offset = form->offset};
  for (int d = 0; d < join->from->space.rank; d++) {
    result.offset += form->coeff[d] * join->dims[d].offset;
    for (int i = 0; i < TSR_TILE_RANK; i++)
      result.coeff[i] += form->coeff[d] * join->dims[d].coeff[i];
  }
  return result;
}

// Whether a form in `into` takes as many positions as `from` has indices.
static bool covers(const group_join *join, const tsr_form *into_form) {
  const tsr_fuse_space *space = &join->into->space;
  int64_t count = 1;
  for (int i = 0; i < space->rank; i++)
    if (into_form->coeff[i] != 0) count *= space->dims[i];
  return count == count_of(&join->from->space, 0, join->from->space.rank);
}

static void substitute_all(group_join *join) {
  for (int i = 0; i < join->from->node_count; i++)
    join->forms[i] = substitute(join, &join->from->nodes[i].form);
}

// Two groups of equal dims that have a value at equal places: even if that is part of the value.
static bool same_place(group_join *join, const tsr_form *into_form, const tsr_form *from_form) {
  const tsr_fuse_space *into = &join->into->space, *from = &join->from->space;
  if (into->rank != from->rank || !tsr_form_equal(into_form, from_form)) return false;
  for (int i = 0; i < into->rank; i++) {
    if (into->dims[i] != from->dims[i] || (into->dims[i] > 1 && into_form->coeff[i] == 0))
      return false;
    if (into->dims[i] > 1) join->dims[i].coeff[i] = 1;
  }
  return true;
}

// Finds the dims of `from` in the space of `into`, where one value has both forms.
static bool match_dims(group_join *join, tsr_form into_form, const tsr_form *from_form) {
  tsr_form_radix digits;
  int order[TSR_TILE_RANK] = {0};
  tsr_form found[TSR_FORM_DIGITS];
  tsr_fuse_split split;
  for (int d = 0; d < join->from->space.rank; d++) join->dims[d] = (tsr_form){0};
  if (same_place(join, &into_form, from_form)) {
    substitute_all(join);
    return true;
  }
  if (!covers(join, &into_form) || !digits_of_group(join->from, from_form, &digits, order))
    return false;
  while (!tsr_form_digits(&join->into->space, &into_form, &digits, found, &split)) {
    const int rank = join->into->space.rank;
    if (!tsr_group_split(join->into, split)) return false;
    tsr_form_split(&into_form, rank, split);
  }
  for (int k = 0; k < digits.count; k++) join->dims[order[k]] = found[k];
  substitute_all(join);
  return true;
}

// The number of dims at the end (or at the start) of a space that have `count` indices; -1 = none.
static int dims_of_count(const tsr_fuse_space *space, int64_t count, bool at_end) {
  int64_t product = 1;
  int dims = 0;
  while (product < count && dims < space->rank)
    product *= space->dims[at_end ? space->rank - 1 - dims++ : dims++];
  return product == count ? dims : -1;
}

// Rows of both must be the same dims, in the same order.
static bool match_rows(group_join *join) {
  const tsr_fuse_group *into = join->into, *from = join->from;
  join->row_dims = into->row_dims;
  if (from->row_dims == 0) return true;
  const int rank = into->space.rank, first = from->space.rank - from->row_dims;
  const tsr_form row = tsr_form_row_major(&from->space, first, from->space.rank);
  const tsr_form moved = substitute(join, &row);
  const int dims =
      dims_of_count(&into->space, count_of(&from->space, first, from->space.rank), true);
  if (dims < 0 || (into->row_dims && into->row_dims != dims)) return false;
  const tsr_form wanted = tsr_form_row_major(&into->space, rank - dims, rank);
  join->row_dims = dims;
  return tsr_form_equal(&moved, &wanted);
}

// Folds run over the space in its own order.
static bool match_folds(group_join *join) {
  const tsr_fuse_group *into = join->into, *from = join->from;
  join->batch_dims = into->batch_dims;
  if (from->batch_dims < 0) return true;
  const tsr_form whole = tsr_form_row_major(&into->space, 0, into->space.rank);
  for (int i = 0; i < from->node_count; i++)
    if (from->nodes[i].kind == TSR_NODE_FOLD && !tsr_form_equal(&join->forms[i], &whole))
      return false;
  join->batch_dims =
      dims_of_count(&into->space, count_of(&from->space, 0, from->batch_dims), false);
  return join->batch_dims >= 0 && (into->batch_dims < 0 || into->batch_dims == join->batch_dims);
}

// All members can be stored: they are all over the space, or one for each row.
static bool members_fit(const group_join *join, const tsr_fuse_group *group,
                        const tsr_form *forms) {
  for (int i = 0; i < group->node_count; i++) {
    const tsr_fuse_node *node = &group->nodes[i];
    if (!node->member || node->kind == TSR_NODE_FOLD) continue;
    const int still = still_dims(&join->into->space, forms ? &forms[i] : &node->form);
    if (still != 0 && (still != join->row_dims)) return false;
  }
  return true;
}

// A value that one group computes and the other loads must be the same node in both.
static bool loads_meet(const group_join *join) {
  const tsr_fuse_group *into = join->into, *from = join->from;
  for (int i = 0; i < into->node_count; i++) {
    const tsr_fuse_op *def = tsr_fuser_def(join->fuser, into->nodes[i].value);
    if (into->nodes[i].kind != TSR_NODE_LOAD || !def || def->group != from) continue;
    if (from->nodes[def->node].kind == TSR_NODE_FOLD ||
        !tsr_form_equal(&into->nodes[i].form, &join->forms[def->node]))
      return false;
  }
  for (int i = 0; i < from->node_count; i++) {
    const tsr_fuse_op *def = tsr_fuser_def(join->fuser, from->nodes[i].value);
    if (from->nodes[i].kind != TSR_NODE_LOAD || !def || def->group != into) continue;
    if (into->nodes[def->node].kind == TSR_NODE_FOLD ||
        !tsr_form_equal(&join->forms[i], &into->nodes[def->node].form))
      return false;
  }
  return true;
}

// Finds the numbers that the nodes of `from` will have; false where there are too many.
static bool number_nodes(group_join *join) {
  const tsr_fuse_group *into = join->into, *from = join->from;
  int next = into->node_count, inputs = into->input_count;
  for (int i = 0; i < from->node_count; i++) {
    const tsr_fuse_node *node = &from->nodes[i];
    const int found = find_node(into, node->value, &join->forms[i]);
    join->numbers[i] = found >= 0 ? found : next++;
    inputs += node->kind == TSR_NODE_LOAD && found < 0;
  }
  if (next > TSR_FUSE_NODES || inputs > TSR_FUSE_INPUTS) return false;
  return reserve_nodes(join->fuser, join->into, next);
}

static void move_nodes(group_join *join) {
  tsr_fuse_group *into = join->into;
  const int kept = into->node_count;
  for (int i = 0; i < join->from->node_count; i++) {
    tsr_fuse_node node = join->from->nodes[i];
    const int number = join->numbers[i];
    if (number < kept && (into->nodes[number].kind != TSR_NODE_LOAD || node.kind == TSR_NODE_LOAD))
      continue;
    node.form = join->forms[i];
    for (int k = 0; k < 3; k++) node.in[k] = join->numbers[node.in[k]];
    into->nodes[number] = node;
    if (number >= into->node_count) into->node_count = number + 1;
  }
}

static void finish_join(group_join *join) {
  tsr_fuse_group *into = join->into, *from = join->from;
  move_nodes(join);
  into->row_dims = join->row_dims;
  into->batch_dims = join->batch_dims;
  into->member_count += from->member_count;
  into->last = into->last > from->last ? into->last : from->last;
  from->joined = into;
  into->input_count = 0;
  for (int i = 0; i < into->node_count; i++) {
    tsr_fuse_op *def = tsr_fuser_def(join->fuser, into->nodes[i].value);
    if (into->nodes[i].kind == TSR_NODE_LOAD) into->input_count++;
    if (!into->nodes[i].member || !def) continue;
    def->group = into;
    def->node = i;
  }
}

// Two forms of one value: as the group that computes it has it, and as the one that reads it.
typedef struct form_pair {
  tsr_fuser *fuser;
  tsr_fuse_group *maker, *reader;
  int made, read;  // nodes
  bool extended;   // both are one for each row
} form_pair;

static tsr_form form_of(const form_pair *pair, const tsr_fuse_group *group) {
  const tsr_form *form = &group->nodes[group == pair->maker ? pair->made : pair->read].form;
  return pair->extended ? extended(group, form) : *form;
}

// Values of `from` that become one for each row of `into` make it run by rows.
static bool ask_for_rows(group_join *join) {
  const tsr_fuse_space *space = &join->into->space;
  if (join->from->row_dims) return false;
  if (join->row_dims) return true;
  const int still = still_dims(space, &join->forms[0]);
  join->row_dims = still;
  return still > 0 && count_of(space, space->rank - still, space->rank) >= TSR_FUSE_LEAST_ROW;
}

static bool try_join(const form_pair *pair, tsr_fuse_group *into, tsr_fuse_group *from,
                     bool by_rows) {
  group_join join;  // large: what is read is written first
  join.fuser = pair->fuser;
  join.into = into;
  join.from = from;
  const tsr_form into_form = form_of(pair, into), from_form = form_of(pair, from);
  if (!match_dims(&join, into_form, &from_form) || !match_rows(&join) || !match_folds(&join) ||
      (by_rows && !ask_for_rows(&join)) || !members_fit(&join, from, join.forms) ||
      (join.row_dims != into->row_dims && !members_fit(&join, into, NULL)) || !loads_meet(&join) ||
      !number_nodes(&join))
    return false;
  finish_join(&join);
  return true;
}

// In either direction, first into the group whose rows are known.
static tsr_fuse_group *join_either(const form_pair *pair) {
  tsr_fuse_group *a = pair->maker, *b = pair->reader;
  const bool swap = b->row_dims > 0 && a->row_dims == 0;
  tsr_fuse_group *first = swap ? b : a, *second = swap ? a : b;
  if (try_join(pair, first, second, false)) return first;
  return try_join(pair, second, first, false) ? second : NULL;
}

// One row of many elements is better run in two steps: each of them can be split.
static bool rows_are_few(const tsr_fuse_group *group, const tsr_form *form) {
  const int rank = group->space.rank, still = still_dims(&group->space, form);
  return count_of(&group->space, 0, rank - still) < 4 &&
         count_of(&group->space, rank - still, rank) > TSR_FUSE_WHOLE_ROW;
}

tsr_fuse_group *tsr_group_join(tsr_fuser *fuser, tsr_fuse_group *maker, int made,
                               tsr_fuse_group *reader, int read) {
  form_pair pair = {fuser, maker, reader, made, read, false};
  const tsr_form *made_form = &maker->nodes[made].form, *read_form = &reader->nodes[read].form;
  if (maker->nodes[made].kind == TSR_NODE_FOLD) return NULL;
  const value_extent a = extent_of(maker, made_form), b = extent_of(reader, read_form);
  if (a == EXTENT_ALL && b == EXTENT_ALL) return join_either(&pair);
  if (a == EXTENT_ROWS && b == EXTENT_ALL)
    return try_join(&pair, maker, reader, true) ? maker : NULL;
  if (b != EXTENT_ROWS || a == EXTENT_OTHER || rows_are_few(reader, read_form)) return NULL;
  pair.extended = a == EXTENT_ROWS;
  if (pair.extended) return join_either(&pair);
  if (count_of(&maker->space, 0, maker->space.rank) == 1) return NULL;
  return try_join(&pair, reader, maker, true) ? reader : NULL;
}

static bool is_load_of(const tsr_fuse_group *group, int node, const tsr_value *value) {
  return group->nodes[node].value == value && group->nodes[node].kind == TSR_NODE_LOAD &&
         still_dims(&group->space, &group->nodes[node].form) == 0;
}

bool tsr_group_find_loads(const tsr_fuse_group *a, const tsr_fuse_group *b, const tsr_value *value,
                          int *out_a, int *out_b) {
  bool found = false;
  for (int i = 0; i < a->node_count; i++)
    for (int k = 0; is_load_of(a, i, value) && k < b->node_count; k++) {
      if (!is_load_of(b, k, value)) continue;
      const bool equal = tsr_form_equal(&a->nodes[i].form, &b->nodes[k].form);
      if (found && !equal) continue;
      *out_a = i;
      *out_b = k;
      found = true;
      if (equal) return true;
    }
  return found;
}

// ---- values made of what is loaded anyway ----

enum { MOST_AGAIN = 3 };  // cheap ops that replace a load

static bool is_cheap(const tsr_fuse_op *def) {
  return def && def->kind == TSR_FUSE_ELEMENTWISE && def->op->info->id != TSR_OP_REDUCE &&
         tsr_elementwise_row_of(def->op)->cost <= 1;
}

static tsr_form operand_form(const tsr_op *op, int operand, const tsr_form *form) {
  const bool scalar = tsr_type_element_count(tsr_operand_type(op, operand)) == 1;
  return scalar ? first_element : *form;
}

// Whether a value is made, by few cheap ops, of others that the group has at the same places.
static bool is_at_hand(const tsr_fuser *fuser, const tsr_fuse_group *group, const tsr_value *value,
                       const tsr_form *form, bool itself, int *left) {
  const tsr_fuse_op *def = tsr_fuser_def(fuser, value);
  if (value->def && tsr_op_splat(value->def)) return true;
  if (!itself && find_node(group, value, form) >= 0) return true;
  if (!is_cheap(def) || (*left)-- == 0) return false;
  for (int i = 0; i < def->op->operand_count; i++) {
    const tsr_form own = operand_form(def->op, i, form);
    if (!is_at_hand(fuser, group, tsr_op_operand(def->op, i), &own, false, left)) return false;
  }
  return true;
}

static int make_again(tsr_fuser *fuser, tsr_fuse_group *group, tsr_value *value, tsr_form form);

// Makes node `node` compute its value of what the group has.
static bool compute_again(tsr_fuser *fuser, tsr_fuse_group *group, int node) {
  const tsr_op *op = group->nodes[node].value->def;
  int in[3] = {0};
  if (!op) return false;
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_form form = operand_form(op, i, &group->nodes[node].form);
    in[i] = make_again(fuser, group, tsr_op_operand(op, i), form);
    if (in[i] < 0) return false;
  }
  group->nodes[node].kind = TSR_NODE_COMPUTE;
  for (int i = 0; i < 3; i++) group->nodes[node].in[i] = in[i];
  return true;
}

static int make_again(tsr_fuser *fuser, tsr_fuse_group *group, tsr_value *value, tsr_form form) {
  const bool splat = value->def && tsr_op_splat(value->def);
  if (splat) form = (tsr_form){0};
  int node = find_node(group, value, &form);
  if (node >= 0) return node;
  node = add_node(
      fuser, group,
      (tsr_fuse_node){
          .kind = splat ? TSR_NODE_SPLAT : TSR_NODE_COMPUTE, .value = value, .form = form});
  return splat || (node >= 0 && compute_again(fuser, group, node)) ? node : -1;
}

void tsr_group_spare_loads(tsr_fuser *fuser, tsr_fuse_group *group) {
  for (int i = 0; i < group->node_count; i++) {
    const tsr_fuse_node *node = &group->nodes[i];
    const tsr_fuse_op *def = tsr_fuser_def(fuser, node->value);
    int left = MOST_AGAIN;
    if (node->kind != TSR_NODE_LOAD || !def || !def->group) continue;
    if (group->node_count + 4 * MOST_AGAIN > TSR_FUSE_NODES) return;
    if (is_at_hand(fuser, group, node->value, &node->form, true, &left) &&
        compute_again(fuser, group, i))
      group->input_count--;
  }
}
