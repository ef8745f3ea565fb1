// argmax and argmin: rows that lie in one piece are searched by vectors; of others, columns beside
// each other go together.
#include "reduce/arg_reduce.h"

#include <string.h>

enum { TASK_ELEMENTS = 1 << 16 };  // about

static const tsr_arg_code *code_of(tsr_dtype dtype) {
  const tsr_arg_code *table = tsr_arg_plain;
#if defined __x86_64__
  if (__builtin_cpu_supports("avx2")) table = tsr_arg_avx2;
#endif
  if (dtype == TSR_BOOL) dtype = TSR_U8;
  for (int i = 0; i < TSR_ARG_TYPES; i++)
    if (table[i].dtype == dtype) return &table[i];
  return NULL;
}

bool tsr_arg_reduces(tsr_dtype dtype) { return code_of(dtype) != NULL; }

typedef struct arg_run {
  const tsr_arg_reduce *arg;
  const tsr_arg_code *code;
  const tsr_kernel_call *call;
  int64_t element_bytes;
  int64_t pieces;  // of columns, for each outer index; rows have one
} arg_run;

static void write_one(const arg_run *r, int64_t result, int64_t from, int64_t index) {
  const size_t bytes = (size_t)r->element_bytes;
  char *value = r->call->outputs[0] + result * r->element_bytes;
  char *place = r->call->outputs[1] + result * r->arg->index_bytes;
  const int32_t narrow = (int32_t)index;
  memcpy(value, r->call->inputs[0] + from * r->element_bytes, bytes);
  if (r->arg->index_bytes == 4)
    memcpy(place, &narrow, sizeof narrow);
  else
    memcpy(place, &index, sizeof index);
}

static void find_in_columns(const arg_run *r, int64_t outer, int64_t piece) {
  const tsr_arg_reduce *a = r->arg;
  const int64_t column = piece * TSR_ARG_COLUMNS, left = a->inner - column;
  const int64_t count = left < TSR_ARG_COLUMNS ? left : TSR_ARG_COLUMNS;
  const int64_t first = outer * a->length * a->inner + column;
  int32_t indices[TSR_ARG_COLUMNS];
  r->code->columns[a->smallest](r->call->inputs[0] + first * r->element_bytes, a->length, a->inner,
                                count, indices);
  for (int64_t j = 0; j < count; j++)
    write_one(r, outer * a->inner + column + j, first + indices[j] * a->inner + j, indices[j]);
}

static void find_in_row(const arg_run *r, int64_t row) {
  const tsr_arg_reduce *a = r->arg;
  const int64_t first = row * a->length;
  const int64_t index =
      r->code->row[a->smallest](r->call->inputs[0] + first * r->element_bytes, a->length);
  write_one(r, row, first + index, index);
}

static int64_t pieces_of_task(const arg_run *r) {
  const int64_t columns = r->arg->inner < TSR_ARG_COLUMNS ? r->arg->inner : TSR_ARG_COLUMNS;
  const int64_t each = r->arg->length * columns;
  return each < TASK_ELEMENTS ? TASK_ELEMENTS / each : 1;
}

static tsr_status find_some(void *context, int64_t task, int worker) {
  (void)worker;
  const arg_run *r = context;
  const int64_t each = pieces_of_task(r), all = r->arg->outer * r->pieces;
  const int64_t end = (task + 1) * each < all ? (task + 1) * each : all;
  for (int64_t i = task * each; i < end; i++)
    if (r->arg->inner == 1)
      find_in_row(r, i);
    else
      find_in_columns(r, i / r->pieces, i % r->pieces);
  return NULL;
}

tsr_status tsr_arg_reduce_run(const void *description, const tsr_kernel_call *call) {
  const tsr_arg_reduce *arg = description;
  const tsr_dtype_info *info = tsr_dtype_info_of(arg->dtype);
  arg_run r = {.arg = arg,
               .code = code_of(arg->dtype),
               .call = call,
               .element_bytes = info->bits / 8,
               .pieces = (arg->inner + TSR_ARG_COLUMNS - 1) / TSR_ARG_COLUMNS};
  const int64_t all = arg->outer * r.pieces;
  if (!all) return NULL;
  const int64_t each = pieces_of_task(&r), tasks = (all + each - 1) / each;
  return tsr_pool_run(tasks > 1 ? call->pool : NULL, tasks, find_some, &r);
}
