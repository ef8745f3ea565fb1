// gather and scatter: slices at positions that a tensor of indices gives.
#include "simplify/index_rules.h"

// Positions of fields, which differ between the two records only in name.
typedef struct index_fields {
  int window, dropped, batching, index_batching, map, vector_dim;
} index_fields;
static const index_fields gather_fields = {
    TSR_GATHER_OFFSET_DIMS,           TSR_GATHER_COLLAPSED_SLICE_DIMS,
    TSR_GATHER_OPERAND_BATCHING_DIMS, TSR_GATHER_START_INDICES_BATCHING_DIMS,
    TSR_GATHER_START_INDEX_MAP,       TSR_GATHER_INDEX_VECTOR_DIM};
static const index_fields scatter_fields = {
    TSR_SCATTER_UPDATE_WINDOW_DIMS,   TSR_SCATTER_INSERTED_WINDOW_DIMS,
    TSR_SCATTER_INPUT_BATCHING_DIMS,  TSR_SCATTER_INDICES_BATCHING_DIMS,
    TSR_SCATTER_DIMS_TO_OPERAND_DIMS, TSR_SCATTER_INDEX_VECTOR_DIM};

bool tsr_index_rules_read(const tsr_attr *record, const tsr_type *operand, const tsr_type *indices,
                          const tsr_type *windows, tsr_index_rules *out) {
  *out = (tsr_index_rules){.rank = operand->rank, .index_rank = indices->rank};
  if (!record || record->kind != TSR_ATTR_RECORD) return false;
  const index_fields *f = record->id == TSR_RECORD_GATHER ? &gather_fields : &scatter_fields;
  const int room = TSR_EVALUATED_RANK, rank = operand->rank;
  const tsr_attr *vector_dim = tsr_attr_field(record, f->vector_dim);
  out->vector_dim = vector_dim ? (int)vector_dim->integer : 0;
  out->window_count =
      tsr_dims_of_attr(tsr_attr_field(record, f->window), windows->rank, room, out->window);
  out->dropped_count =
      tsr_dims_of_attr(tsr_attr_field(record, f->dropped), rank, room, out->dropped);
  out->batching_count =
      tsr_dims_of_attr(tsr_attr_field(record, f->batching), rank, room, out->batching);
  out->map_count = tsr_dims_of_attr(tsr_attr_field(record, f->map), rank, room, out->map);
  const int paired = tsr_dims_of_attr(tsr_attr_field(record, f->index_batching), indices->rank,
                                      room, out->index_batching);
  if (out->window_count < 0 || out->dropped_count < 0 || out->map_count < 0) return false;
  if (out->vector_dim < 0 || out->vector_dim > indices->rank) return false;
  const int64_t length = out->vector_dim == indices->rank ? 1 : indices->dims[out->vector_dim];
  const int batch_rank = indices->rank - (out->vector_dim < indices->rank);
  return out->batching_count >= 0 && paired == out->batching_count && length == out->map_count &&
         out->window_count + out->dropped_count + out->batching_count == rank &&
         out->window_count + batch_rank == windows->rank;
}

// Splits an index of the result or updates: where it starts in the operand by the index vector, and
// how far into the window it is, for each dimension of the operand.
static bool split(const tsr_index_rules *rules, const tsr_constant *indices,
                  const tsr_walk *windows, int64_t *start, int64_t *within) {
  int64_t batch[TSR_EVALUATED_RANK] = {0}, strides[TSR_EVALUATED_RANK];
  int at = 0;
  for (int d = 0; d < windows->rank; d++) {
    if (tsr_has_dim(rules->window, rules->window_count, d)) continue;
    if (at == rules->vector_dim) at++;
    if (at >= rules->index_rank || windows->index[d] >= indices->type->dims[at]) return false;
    batch[at++] = windows->index[d];
  }
  for (int d = 0; d < rules->rank; d++) start[d] = within[d] = 0;
  tsr_strides_of(indices->type, strides);
  for (int k = 0; k < rules->map_count; k++) {
    int64_t offset = 0;
    for (int d = 0; d < rules->index_rank; d++)
      offset += (d == rules->vector_dim ? k : batch[d]) * strides[d];
    start[rules->map[k]] = tsr_constant_integer(indices, offset);
  }
  for (int k = 0; k < rules->batching_count; k++)
    start[rules->batching[k]] = batch[rules->index_batching[k]];
  int window = 0;
  for (int d = 0; d < rules->rank; d++)
    if (!tsr_has_dim(rules->dropped, rules->dropped_count, d) &&
        !tsr_has_dim(rules->batching, rules->batching_count, d))
      within[d] = windows->index[rules->window[window++]];
  return true;
}

// The element of the operand, or -1 if it is outside. Gather moves a window inside first.
static int64_t element_at(const tsr_type *operand, const int64_t *start, const int64_t *within,
                          const int64_t *slice_sizes) {
  int64_t offset = 0;
  for (int d = 0; d < operand->rank; d++) {
    int64_t at = start[d];
    if (slice_sizes) {
      const int64_t most = operand->dims[d] - slice_sizes[d];
      at = at > most ? most : at;
      at = at < 0 ? 0 : at;
    }
    if (__builtin_add_overflow(at, within[d], &at) || at < 0 || at >= operand->dims[d]) return -1;
    offset = offset * operand->dims[d] + at;
  }
  return offset;
}

bool tsr_eval_gather(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                     tsr_constant *results) {
  const tsr_type *type = op->results[0].type, *operand = operands[0]->type;
  tsr_index_rules rules;
  int64_t sizes[TSR_EVALUATED_RANK], start[TSR_EVALUATED_RANK], within[TSR_EVALUATED_RANK];
  tsr_walk walk;
  if (!tsr_constant_open(type, results) || !tsr_walk_init(&walk, type)) return false;
  if (!tsr_ints_of_attr(tsr_op_attr(op, "slice_sizes"), operand->rank, sizes)) return false;
  if (!tsr_index_rules_read(tsr_op_attr(op, "dimension_numbers"), operand, operands[1]->type, type,
                            &rules))
    return false;
  for (int d = 0; d < operand->rank; d++)
    if (sizes[d] < 0 || sizes[d] > operand->dims[d]) return false;
  memcpy(results->one, operands[0]->one, sizeof results->one);
  if (!operands[0]->bytes) return operands[0]->count > 0 || results->count == 0;
  char *to = tsr_constant_fill(e, type, results);
  const size_t width = (size_t)results->scalar.bytes;
  if (!to) return false;
  for (bool more = tsr_walk_start(&walk); more; more = tsr_walk_next(&walk), to += width) {
    if (!split(&rules, operands[1], &walk, start, within)) return false;
    const int64_t element = element_at(operand, start, within, sizes);
    if (element < 0) return false;
    memcpy(to, tsr_constant_at(operands[0], element), width);
  }
  return true;
}

bool tsr_eval_scatter(tsr_evaluator *e, tsr_op *op, const tsr_constant *const *operands,
                      tsr_constant *results) {
  const int inputs = op->result_count;
  tsr_ir_block *block = tsr_region_block(op, 0, 2 * inputs);
  if (op->operand_count != 2 * inputs + 1 || !block) return false;
  const tsr_constant *indices = operands[inputs], *const *updates = operands + inputs + 1;
  const tsr_type *operand = operands[0]->type;
  tsr_index_rules rules;
  int64_t start[TSR_EVALUATED_RANK], within[TSR_EVALUATED_RANK];
  tsr_walk walk;
  if (!tsr_index_rules_read(tsr_op_attr(op, "scatter_dimension_numbers"), operand, indices->type,
                            updates[0]->type, &rules) ||
      !tsr_walk_init(&walk, updates[0]->type))
    return false;
  for (int i = 0; i < inputs; i++) {
    char *to = tsr_constant_fill(e, op->results[i].type, &results[i]);
    if (!to || results[i].count != operands[0]->count || operands[i]->count != results[i].count ||
        updates[i]->count != updates[0]->count ||
        operands[i]->scalar.bytes != results[i].scalar.bytes ||
        updates[i]->scalar.bytes != results[i].scalar.bytes)
      return false;
    for (int64_t k = 0; k < results[i].count; k++)
      memcpy(to + k * results[i].scalar.bytes, tsr_constant_at(operands[i], k),
             (size_t)results[i].scalar.bytes);
  }
  int64_t from = 0;
  for (bool more = tsr_walk_start(&walk); more; more = tsr_walk_next(&walk), from++) {
    if (!split(&rules, indices, &walk, start, within)) return false;
    const int64_t element = element_at(operand, start, within, NULL);
    if (element >= 0 && !tsr_accumulate(e, block, inputs, results, element, updates, from))
      return false;
  }
  return true;
}
