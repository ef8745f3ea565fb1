// Counts of a program's ops, and its largest constants.
#ifndef TESSERA_REPORT_PROGRAM_SURVEY_H
#define TESSERA_REPORT_PROGRAM_SURVEY_H

#include "ir/ir.h"
#include "tessera/program/program.h"

typedef struct tsr_op_tally {
  const char *name;
  int64_t count;
} tsr_op_tally;

typedef struct tsr_constant_tally {
  const tsr_op *op;
  const char *function;
  int64_t bytes;  // of the elements as the program holds them: one if all are equal
  bool splat;
  int64_t order;  // among the program's constants
} tsr_constant_tally;

typedef struct tsr_program_survey {
  int64_t op_count, constant_count;
  tsr_op_tally *ops;              // most frequent first
  tsr_constant_tally *constants;  // largest first
} tsr_program_survey;

// Counts in function `only`, or in all functions if it is negative.
TSR_MUST_USE tsr_status tsr_program_survey_make(const tsr_program *program, int64_t only,
                                                tsr_program_survey *out_survey);
void tsr_program_survey_free(tsr_program_survey *survey);

#endif
