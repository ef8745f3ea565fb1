// What `tessera propagate` and `tessera explain` print about the shardings of a program.
#ifndef TESSERA_REPORT_PROPAGATION_REPORT_H
#define TESSERA_REPORT_PROPAGATION_REPORT_H

#include "tessera/program/propagation.h"
#include "tessera/text.h"

typedef struct tsr_propagation_report {
  const tsr_propagation *propagation;
  const char *path;  // of the program, as the user wrote it
  bool all;          // every value and every conflict
} tsr_propagation_report;

TSR_MUST_USE tsr_status tsr_propagation_report_print(const tsr_propagation_report *report,
                                                     tsr_text *out);
TSR_MUST_USE tsr_status tsr_propagation_report_to_json(const tsr_propagation_report *report,
                                                       tsr_text *out);
// An explanation as JSON, with all steps; `after` (or NULL) is the same program with constraints.
TSR_MUST_USE tsr_status tsr_explanation_to_json(const tsr_propagation_report *report,
                                                const char *value, int dim,
                                                const tsr_propagation *after, tsr_text *out);
// What constraints change: values whose shardings differ, conflicts before and after.
TSR_MUST_USE tsr_status tsr_what_if_print(const tsr_propagation_report *before,
                                          const tsr_propagation *after, tsr_text *out);

#endif
