// gather and scatter: which dimensions of the operand, of the indices and of the slices belong
// together. Both have the same kinds of dimension numbers, with other names.
#include "verify/op_checks.h"

static tsr_status check_sorted(const tsr_op *op, const char *constraint, const char *name,
                               const tsr_attr *dims) {
  TSR_ASK(tsr_ints_sorted(dims), op, constraint, "%s is %s, expected sorted dimensions", name,
          SHOW_INTS(dims));
  return NULL;
}

static tsr_status check_within(const tsr_op *op, const char *constraint, const char *name,
                               const tsr_attr *dims, int64_t rank) {
  TSR_ASK(tsr_ints_within(dims, 0, rank), op, constraint,
          "%s is %s, expected dimensions of 0 to %lld", name, SHOW_INTS(dims), (long long)rank - 1);
  return NULL;
}

static tsr_status check_distinct(const tsr_op *op, const char *constraint, const char *name,
                                 const tsr_attr *dims, const char *other_name,
                                 const tsr_attr *others) {
  TSR_ASK(tsr_ints_distinct(dims, others), op, constraint,
          "%s is %s and %s is %s, expected unique dimensions", name, SHOW_INTS(dims), other_name,
          SHOW_INTS(others));
  return NULL;
}

// Dimensions that the operand and the indices have in common.
typedef struct batching {
  const char *operand_name, *indices_name;
  const tsr_attr *operand_dims, *indices_dims;
  const tsr_type *operand, *indices;
  int64_t index_vector_dim;
  const char *unique, *within, *vector, *count, *size;  // constraints
} batching;

static tsr_status check_batching(const tsr_op *op, const batching *b) {
  const int64_t rank = b->indices->rank +
                       (b->index_vector_dim == b->indices->rank && op->info->id == TSR_OP_SCATTER);
  TSR_TRY(tsr_check_dims(op, b->unique, b->within, b->indices_name, b->indices_dims, rank));
  TSR_ASK(!tsr_ints_contain(b->indices_dims, b->index_vector_dim), op, b->vector,
          "%s is %s, expected it not to hold index_vector_dim %lld", b->indices_name,
          SHOW_INTS(b->indices_dims), (long long)b->index_vector_dim);
  const int64_t count = tsr_attr_int_count(b->operand_dims);
  TSR_ASK(count == tsr_attr_int_count(b->indices_dims), op, b->count,
          "%s is %s and %s is %s, expected as many dimensions", b->operand_name,
          SHOW_INTS(b->operand_dims), b->indices_name, SHOW_INTS(b->indices_dims));
  for (int64_t i = 0; i < count; i++) {
    const int64_t x = tsr_attr_int_at(b->operand_dims, i), y = tsr_attr_int_at(b->indices_dims, i);
    TSR_ASK(tsr_sizes_match(b->operand->dims[x], b->indices->dims[y]), op, b->size,
            "dimensions %lld and %lld of %s and %s have different sizes", (long long)x,
            (long long)y, SHOW_TYPE(b->operand), SHOW_TYPE(b->indices));
  }
  return NULL;
}

// The number of coordinates in an index vector; TSR_DYNAMIC = unknown.
static int64_t vector_size(const tsr_type *indices, int64_t index_vector_dim) {
  return index_vector_dim == indices->rank ? 1 : indices->dims[index_vector_dim];
}

// ---- gather

static tsr_status check_offsets(const tsr_op *op, const tsr_attr *numbers) {
  const tsr_type *operand = tsr_operand_type(op, 0), *indices = tsr_operand_type(op, 1);
  const tsr_attr *offset = tsr_record_ints(numbers, TSR_GATHER_OFFSET_DIMS);
  const tsr_attr *collapsed = tsr_record_ints(numbers, TSR_GATHER_COLLAPSED_SLICE_DIMS);
  const tsr_attr *batching_dims = tsr_record_ints(numbers, TSR_GATHER_OPERAND_BATCHING_DIMS);
  const tsr_attr *map = tsr_record_ints(numbers, TSR_GATHER_START_INDEX_MAP);
  const int64_t vector = tsr_record_int(numbers, TSR_GATHER_INDEX_VECTOR_DIM);
  const int64_t sum = tsr_attr_int_count(offset) + tsr_attr_int_count(collapsed) +
                      tsr_attr_int_count(batching_dims);
  TSR_ASK(sum == operand->rank, op, "C1",
          "offset_dims, collapsed_slice_dims and operand_batching_dims have %lld dimensions, "
          "expected %d for %s",
          (long long)sum, operand->rank, SHOW_TYPE(operand));
  TSR_ASK(vector >= 0 && vector <= indices->rank, op, "C2",
          "index_vector_dim is %lld, expected 0 to %d for %s", (long long)vector, indices->rank,
          SHOW_TYPE(indices));
  const int64_t wanted = vector_size(indices, vector);
  TSR_ASK(tsr_sizes_match(tsr_attr_int_count(map), wanted), op, "C3",
          "start_index_map is %s, expected length %lld", SHOW_INTS(map), (long long)wanted);
  TSR_TRY(check_sorted(op, "C4", "offset_dims", offset));
  TSR_ASK(tsr_ints_unique(offset), op, "C4", "offset_dims is %s, expected unique dimensions",
          SHOW_INTS(offset));
  const int64_t rank = tsr_attr_int_count(offset) + indices->rank - (vector < indices->rank);
  TSR_ASK(rank <= TSR_RANK_LIMIT, op, "C22", "the result has %lld dimensions, expected at most %d",
          (long long)rank, TSR_RANK_LIMIT);
  return check_within(op, "C5", "offset_dims", offset, rank);
}

tsr_status tsr_check_gather(const tsr_op *op, const tsr_attr *numbers, int64_t slice_count) {
  const tsr_type *operand = tsr_operand_type(op, 0);
  const tsr_attr *collapsed = tsr_record_ints(numbers, TSR_GATHER_COLLAPSED_SLICE_DIMS);
  const tsr_attr *dims = tsr_record_ints(numbers, TSR_GATHER_OPERAND_BATCHING_DIMS);
  const tsr_attr *map = tsr_record_ints(numbers, TSR_GATHER_START_INDEX_MAP);
  TSR_TRY(check_offsets(op, numbers));
  TSR_TRY(
      check_distinct(op, "C6", "collapsed_slice_dims", collapsed, "operand_batching_dims", dims));
  TSR_TRY(check_sorted(op, "C7", "collapsed_slice_dims", collapsed));
  TSR_TRY(check_within(op, "C8", "collapsed_slice_dims", collapsed, operand->rank));
  TSR_TRY(check_sorted(op, "C10", "operand_batching_dims", dims));
  TSR_TRY(check_within(op, "C11", "operand_batching_dims", dims, operand->rank));
  const batching b = {
      "operand_batching_dims",
      "start_indices_batching_dims",
      dims,
      tsr_record_ints(numbers, TSR_GATHER_START_INDICES_BATCHING_DIMS),
      operand,
      tsr_operand_type(op, 1),
      tsr_record_int(numbers, TSR_GATHER_INDEX_VECTOR_DIM),
      .unique = "C13",
      .within = "C14",
      .vector = "C15",
      .count = "C16",
      .size = "C17",
  };
  TSR_TRY(check_batching(op, &b));
  TSR_TRY(check_distinct(op, "C18", "start_index_map", map, "operand_batching_dims", dims));
  TSR_TRY(check_within(op, "C19", "start_index_map", map, operand->rank));
  TSR_ASK(slice_count == operand->rank, op, "C20", "slice_sizes has %lld sizes, expected %d for %s",
          (long long)slice_count, operand->rank, SHOW_TYPE(operand));
  return NULL;
}

static tsr_status check_ones(const tsr_op *op, const char *constraint, const char *name,
                             const tsr_attr *dims) {
  const tsr_attr *sizes = tsr_op_attr(op, "slice_sizes");
  for (int64_t i = 0; i < tsr_attr_int_count(dims); i++) {
    const int64_t dim = tsr_attr_int_at(dims, i), size = tsr_attr_int_at(sizes, dim);
    TSR_ASK(size <= 1, op, constraint,
            "slice size %lld of dimension %lld in %s, expected at most 1", (long long)size,
            (long long)dim, name);
  }
  return NULL;
}

tsr_status tsr_verify_gather(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  const tsr_type *operand = tsr_operand_type(op, 0);
  const tsr_attr *numbers = tsr_op_attr(op, "dimension_numbers");
  const tsr_attr *sizes = tsr_op_attr(op, "slice_sizes");
  TSR_TRY(tsr_check_gather(op, numbers, tsr_attr_int_count(sizes)));
  TSR_TRY(check_ones(op, "C9", "collapsed_slice_dims",
                     tsr_record_ints(numbers, TSR_GATHER_COLLAPSED_SLICE_DIMS)));
  TSR_TRY(check_ones(op, "C12", "operand_batching_dims",
                     tsr_record_ints(numbers, TSR_GATHER_OPERAND_BATCHING_DIMS)));
  for (int i = 0; i < operand->rank; i++) {
    const int64_t size = tsr_attr_int_at(sizes, i), whole = operand->dims[i];
    TSR_ASK(size >= 0 && (tsr_is_dynamic(whole) || size <= whole), op, "C21",
            "slice size of dimension %d is %lld, expected 0 to %s", i, (long long)size,
            SHOW_INT(whole));
  }
  if (!op->result_count) return NULL;
  TSR_ASK(tsr_same_element(operand, op->results[0].type), op, "C23",
          "the result is %s, expected elements of %s", SHOW_TYPE(op->results[0].type),
          SHOW_TYPE(operand));
  return NULL;
}

// Walks the dimensions of the slices that the result keeps.
static int next_kept(int dim, const tsr_attr *collapsed, const tsr_attr *batching_dims) {
  while (tsr_ints_contain(collapsed, dim) || tsr_ints_contain(batching_dims, dim)) dim++;
  return dim;
}

tsr_status tsr_infer_gathered(tsr_ir *ir, const tsr_op *op, const tsr_attr *numbers,
                              const int64_t *slices, tsr_result_types *out) {
  const tsr_type *operand = tsr_operand_type(op, 0), *indices = tsr_operand_type(op, 1);
  const tsr_attr *offset = tsr_record_ints(numbers, TSR_GATHER_OFFSET_DIMS);
  const tsr_attr *collapsed = tsr_record_ints(numbers, TSR_GATHER_COLLAPSED_SLICE_DIMS);
  const tsr_attr *batching_dims = tsr_record_ints(numbers, TSR_GATHER_OPERAND_BATCHING_DIMS);
  const int64_t vector = tsr_record_int(numbers, TSR_GATHER_INDEX_VECTOR_DIM);
  const int rank = (int)tsr_attr_int_count(offset) + indices->rank - (vector < indices->rank);
  int64_t dims[TSR_RANK_LIMIT], bounds[TSR_RANK_LIMIT];
  int slice = 0, batch = 0;
  for (int i = 0; i < rank; i++) {
    if (tsr_ints_contain(offset, i)) {
      slice = next_kept(slice, collapsed, batching_dims);
      dims[i] = slices[slice++];
      bounds[i] = TSR_DYNAMIC;
    } else {
      if (batch == vector) batch++;
      dims[i] = indices->dims[batch];
      bounds[i] = tsr_type_bound(indices, batch++);
    }
  }
  return tsr_results_add(out, tsr_type_bounded(ir, operand->element, rank, dims, bounds));
}

tsr_status tsr_infer_gather(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  const tsr_attr *sizes = tsr_op_attr(op, "slice_sizes");
  int64_t slices[TSR_RANK_LIMIT];
  for (int i = 0; i < tsr_operand_type(op, 0)->rank; i++) slices[i] = tsr_attr_int_at(sizes, i);
  return tsr_infer_gathered(ir, op, tsr_op_attr(op, "dimension_numbers"), slices, out);
}

// ---- scatter

// Inputs, indices, updates: `count` inputs and updates.
typedef struct scatter {
  const tsr_op *op;
  const tsr_attr *window, *inserted, *batching_dims, *map;
  const tsr_type *indices;
  int64_t vector;
  int count;
} scatter;

static const tsr_type *input_type(const scatter *s, int index) {
  return tsr_operand_type(s->op, index);
}

static const tsr_type *update_type(const scatter *s, int index) {
  return tsr_operand_type(s->op, s->count + 1 + index);
}

static scatter scatter_of(const tsr_op *op) {
  const tsr_attr *numbers = tsr_op_attr(op, "scatter_dimension_numbers");
  const int count = (op->operand_count - 1) / 2;
  return (scatter){
      .op = op,
      .window = tsr_record_ints(numbers, TSR_SCATTER_UPDATE_WINDOW_DIMS),
      .inserted = tsr_record_ints(numbers, TSR_SCATTER_INSERTED_WINDOW_DIMS),
      .batching_dims = tsr_record_ints(numbers, TSR_SCATTER_INPUT_BATCHING_DIMS),
      .map = tsr_record_ints(numbers, TSR_SCATTER_DIMS_TO_OPERAND_DIMS),
      .indices = tsr_operand_type(op, count),
      .vector = tsr_record_int(numbers, TSR_SCATTER_INDEX_VECTOR_DIM),
      .count = count,
  };
}

static tsr_status check_scatter_types(const scatter *s) {
  const tsr_op *op = s->op;
  for (int i = 0; i < s->count; i++) {
    TSR_ASK(tsr_type_fits(input_type(s, i), TSR_TENSOR), op, "I1", "input %d is %s, expected %s", i,
            SHOW_TYPE(input_type(s, i)), tsr_show_mask(&shown_, TSR_TENSOR));
    TSR_ASK(tsr_type_fits(update_type(s, i), TSR_TENSOR), op, "I3", "update %d is %s, expected %s",
            i, SHOW_TYPE(update_type(s, i)), tsr_show_mask(&shown_, TSR_TENSOR));
  }
  const tsr_type_kind element = tsr_type_element(s->indices)->kind;
  TSR_ASK(s->indices->kind == TSR_TYPE_TENSOR &&
              (element == TSR_TYPE_INTEGER || element == TSR_TYPE_INDEX),
          op, "I2", "scatter_indices is %s, expected a tensor of integers", SHOW_TYPE(s->indices));
  for (int i = 1; i < s->count; i++) {
    TSR_ASK(tsr_dims_match(input_type(s, 0), input_type(s, i)), op, "C1",
            "inputs 0 and %d are %s and %s, expected one shape", i, SHOW_TYPE(input_type(s, 0)),
            SHOW_TYPE(input_type(s, i)));
    TSR_ASK(tsr_dims_match(update_type(s, 0), update_type(s, i)), op, "C3",
            "updates 0 and %d are %s and %s, expected one shape", i, SHOW_TYPE(update_type(s, 0)),
            SHOW_TYPE(update_type(s, i)));
  }
  return NULL;
}

static tsr_status check_scatter_dims(const scatter *s, int index) {
  const tsr_op *op = s->op;
  const tsr_type *input = input_type(s, index), *update = update_type(s, index);
  const int64_t sum = tsr_attr_int_count(s->window) + tsr_attr_int_count(s->inserted) +
                      tsr_attr_int_count(s->batching_dims);
  TSR_ASK(sum == input->rank, op, "C2",
          "update_window_dims, inserted_window_dims and input_batching_dims have %lld dimensions, "
          "expected %d for %s",
          (long long)sum, input->rank, SHOW_TYPE(input));
  TSR_TRY(check_sorted(op, "C7", "update_window_dims", s->window));
  TSR_TRY(tsr_check_dims(op, "C7", "C8", "update_window_dims", s->window, update->rank));
  TSR_TRY(check_distinct(op, "C9", "inserted_window_dims", s->inserted, "input_batching_dims",
                         s->batching_dims));
  TSR_TRY(check_sorted(op, "C10", "inserted_window_dims", s->inserted));
  TSR_TRY(check_within(op, "C11", "inserted_window_dims", s->inserted, input->rank));
  TSR_TRY(check_sorted(op, "C12", "input_batching_dims", s->batching_dims));
  return check_within(op, "C13", "input_batching_dims", s->batching_dims, input->rank);
}

static tsr_status check_scatter_map(const scatter *s, int index) {
  const tsr_op *op = s->op;
  const tsr_type *input = input_type(s, index);
  const tsr_attr *numbers = tsr_op_attr(op, "scatter_dimension_numbers");
  const batching b = {
      "input_batching_dims",
      "scatter_indices_batching_dims",
      s->batching_dims,
      tsr_record_ints(numbers, TSR_SCATTER_INDICES_BATCHING_DIMS),
      input,
      s->indices,
      s->vector,
      .unique = "C14",
      .within = "C15",
      .vector = "C16",
      .count = "C17",
      .size = "C18",
  };
  TSR_TRY(check_batching(op, &b));
  const int64_t wanted = vector_size(s->indices, s->vector);
  TSR_ASK(tsr_sizes_match(tsr_attr_int_count(s->map), wanted), op, "C19",
          "scatter_dims_to_operand_dims is %s, expected length %lld", SHOW_INTS(s->map),
          (long long)wanted);
  TSR_TRY(check_distinct(op, "C20", "scatter_dims_to_operand_dims", s->map, "input_batching_dims",
                         s->batching_dims));
  return check_within(op, "C21", "scatter_dims_to_operand_dims", s->map, input->rank);
}

// Window dimensions of the updates fit into the input, the others are those of the indices.
static tsr_status check_update_sizes(const scatter *s, int index) {
  const tsr_op *op = s->op;
  const tsr_type *input = input_type(s, index), *update = update_type(s, index);
  int kept = 0, batch = 0;
  for (int i = 0; i < update->rank; i++) {
    const int64_t size = update->dims[i];
    if (tsr_ints_contain(s->window, i)) {
      kept = next_kept(kept, s->inserted, s->batching_dims);
      const int64_t whole = input->dims[kept++];
      TSR_ASK(tsr_is_dynamic(size) || tsr_is_dynamic(whole) || size <= whole, op, "C4",
              "dimension %d of %s has size %lld, expected at most %lld as dimension %d of %s", i,
              SHOW_TYPE(update), (long long)size, (long long)whole, kept - 1, SHOW_TYPE(input));
    } else {
      if (batch == s->vector) batch++;
      TSR_ASK(tsr_sizes_match(size, s->indices->dims[batch]), op, "C4",
              "dimension %d of %s is not as large as dimension %d of %s", i, SHOW_TYPE(update),
              batch, SHOW_TYPE(s->indices));
      batch++;
    }
  }
  return NULL;
}

// Combines elements of the inputs with those of the updates, as scalars.
static tsr_status check_update_computation(tsr_ir *ir, const scatter *s) {
  const size_t bytes = sizeof(const tsr_type *) * (size_t)s->count;
  const tsr_type *few[16];
  const tsr_type **types = s->count <= 8 ? few : tsr_ir_alloc(ir, 2 * bytes);
  TSR_NEED(types);
  for (int i = 0; i < s->count; i++) {
    TSR_TRY(tsr_check_one_kind(s->op, "C6", "an input", input_type(s, i), "its update",
                               update_type(s, i)));
    types[i] = input_type(s, i);
    types[s->count + i] = tsr_type_tensor(ir, update_type(s, i)->element, 0, NULL, NULL);
    TSR_NEED(types[s->count + i]);
  }
  return tsr_check_combiner(s->op, 0, "C23", types, types + s->count, s->count);
}

tsr_status tsr_verify_scatter(tsr_ir *ir, const tsr_op *op) {
  TSR_ASK(op->operand_count % 2 == 1, op, "C5",
          "has %d operands, expected as many updates as inputs", op->operand_count);
  const scatter s = scatter_of(op);
  TSR_TRY(check_scatter_types(&s));
  TSR_ASK(s.vector >= 0 && s.vector <= s.indices->rank, op, "C22",
          "index_vector_dim is %lld, expected 0 to %d for %s", (long long)s.vector, s.indices->rank,
          SHOW_TYPE(s.indices));
  TSR_TRY(check_update_computation(ir, &s));
  const int64_t rank =
      tsr_attr_int_count(s.window) + s.indices->rank - (s.vector < s.indices->rank);
  for (int i = 0; i < s.count; i++) {
    TSR_ASK(update_type(&s, i)->rank == rank, op, "C4", "update %d is %s, expected rank %lld", i,
            SHOW_TYPE(update_type(&s, i)), (long long)rank);
    TSR_TRY(check_scatter_dims(&s, i));
    TSR_TRY(check_scatter_map(&s, i));
    TSR_TRY(check_update_sizes(&s, i));
  }
  return NULL;
}

tsr_status tsr_infer_scatter(tsr_ir *ir, const tsr_op *op, tsr_result_types *out) {
  for (int i = 0; i < (op->operand_count - 1) / 2; i++)
    TSR_TRY(tsr_results_add(
        out, tsr_type_with_element(ir, tsr_operand_type(op, i), tsr_combiner_element(op, 0, i))));
  return NULL;
}
