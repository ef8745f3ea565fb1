// What `tessera inspect` prints about a program, and the coverage table of ops.
#ifndef TESSERA_REPORT_PROGRAM_REPORT_H
#define TESSERA_REPORT_PROGRAM_REPORT_H

#include "tessera/program/program.h"
#include "tessera/text.h"

typedef struct tsr_program_report {
  const tsr_program *program;
  const char *path;      // as the user wrote it
  const char *function;  // show this one; NULL = the entry, and the others in one line each
  bool full;             // list all ops and constants
} tsr_program_report;

TSR_MUST_USE tsr_status tsr_program_report_print(const tsr_program_report *report, tsr_text *out);
TSR_MUST_USE tsr_status tsr_program_report_to_json(const tsr_program_report *report, tsr_text *out);

// Every op with what Tessera has for it: text form, verifier, inference, evaluator.
TSR_MUST_USE tsr_status tsr_op_coverage_print(bool json, tsr_text *out);

#endif
