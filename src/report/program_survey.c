// One walk through all functions: ops by name, constants by size.
#include "report/program_survey.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/name_index.h"
#include "program/program_internal.h"

typedef struct survey_walk {
  tsr_program_survey *survey;
  tsr_name_index names;
  int64_t op_room, constant_room;
  const char *function;
} survey_walk;

static tsr_status tally_op(survey_walk *walk, const tsr_op *op) {
  tsr_program_survey *survey = walk->survey;
  int64_t known = -1;
  TSR_TRY(tsr_name_index_add(&walk->names, op->name, survey->op_count, &known));
  if (known >= 0) {
    survey->ops[known].count++;
    return NULL;
  }
  tsr_op_tally *ops = tsr_grow(survey->ops, survey->op_count, &walk->op_room, sizeof *ops);
  TSR_NEED(ops);
  survey->ops = ops;
  ops[survey->op_count++] = (tsr_op_tally){op->name, 1};
  return NULL;
}

static tsr_status tally_constant(survey_walk *walk, const tsr_op *op) {
  tsr_program_survey *survey = walk->survey;
  const tsr_attr *value = tsr_op_attr(op, "value");
  if (!value || value->kind != TSR_ATTR_DENSE) return NULL;
  tsr_constant_tally *constants =
      tsr_grow(survey->constants, survey->constant_count, &walk->constant_room, sizeof *constants);
  TSR_NEED(constants);
  survey->constants = constants;
  constants[survey->constant_count] = (tsr_constant_tally){
      op, walk->function, (int64_t)value->length, value->splat, survey->constant_count};
  survey->constant_count++;
  return NULL;
}

static tsr_status visit(tsr_op *op, void *context) {
  survey_walk *walk = context;
  if (op->info->id == TSR_OP_FUNC) return NULL;
  if (op->info->id == TSR_OP_CONSTANT) TSR_TRY(tally_constant(walk, op));
  return tally_op(walk, op);
}

static int by_count(const void *a, const void *b) {
  const tsr_op_tally *x = a, *y = b;
  if (x->count != y->count) return x->count < y->count ? 1 : -1;
  return strcmp(x->name, y->name);
}

static int by_bytes(const void *a, const void *b) {
  const tsr_constant_tally *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  return x->order < y->order ? -1 : 1;
}

static tsr_status walk_functions(const tsr_program *program, int64_t only, survey_walk *walk) {
  for (int64_t i = 0; i < tsr_program_function_count(program); i++) {
    if (only >= 0 && i != only) continue;
    const tsr_op *func = tsr_program_function_op(program, i);
    walk->function = tsr_op_symbol(func);
    TSR_TRY(tsr_op_walk((tsr_op *)(uintptr_t)func, visit, walk));
  }
  return NULL;
}

tsr_status tsr_program_survey_make(const tsr_program *program, int64_t only,
                                   tsr_program_survey *out_survey) {
  tsr_program_survey survey = {0};
  survey_walk walk = {.survey = &survey};
  tsr_status status = walk_functions(program, only, &walk);
  tsr_name_index_deinit(&walk.names);
  if (status) {
    tsr_program_survey_free(&survey);
    return status;
  }
  if (survey.op_count) qsort(survey.ops, (size_t)survey.op_count, sizeof *survey.ops, by_count);
  if (survey.constant_count)
    qsort(survey.constants, (size_t)survey.constant_count, sizeof *survey.constants, by_bytes);
  *out_survey = survey;
  return NULL;
}

void tsr_program_survey_free(tsr_program_survey *survey) {
  free(survey->ops);
  free(survey->constants);
  *survey = (tsr_program_survey){0};
}
