// Passes: changes of a program that keep what it computes. One row of simplify/passes.def each.
//
// Every pass keeps these promises. Ops with effects are neither dropped nor merged nor moved. An op
// that carries a discardable attribute, such as sdy.sharding or mhlo.frontend_attributes, is not
// replaced by one without it, and is merged only with an equal one; sharding constraints and
// barriers stay. Floats keep their NaNs, infinities and signed zeros.
#ifndef TESSERA_SIMPLIFY_PASSES_H
#define TESSERA_SIMPLIFY_PASSES_H

#include "ir/ir.h"
#include "tessera/text.h"

typedef struct tsr_pass_info {
  const char *name, *summary;
} tsr_pass_info;
int tsr_pass_count(void);
const tsr_pass_info *tsr_pass_info_of(int index);  // NULL out of range

// What the options in braces set; 0 = the default.
typedef struct tsr_pass_options {
  int64_t elements;  // of a folded constant that is not a splat: 65536
  int64_t ops;       // of a function that is inlined wherever it is called: 8
  int64_t rounds;    // of simplify: 8
  bool all;          // inline every call that can be
} tsr_pass_options;

typedef struct tsr_pass_change {
  const char *name;  // of the pass
  int64_t changes;   // ops replaced, merged, dropped, inlined or changed
} tsr_pass_change;
typedef struct tsr_pass_report {
  tsr_pass_change *changes;  // one for each pass that ran, in order
  int count;
} tsr_pass_report;
void tsr_pass_report_deinit(tsr_pass_report *report);

// Runs passes on a verified program: a list such as "inline{all},fold{elements=1024},dce". Names
// and options that do not exist are refused, with the nearest one, before the first pass runs.
// `out_report` may be NULL. After a failure (no_memory, or too_large for a program that `inline`
// makes too large) the program is whole, but some passes have not run.
TSR_MUST_USE tsr_status tsr_passes_run(tsr_ir *ir, const char *passes, tsr_pass_report *out_report);

#endif
