// Several failures reported in one: what a reader or a verifier finds wrong in one go.
#ifndef TESSERA_IR_ISSUES_H
#define TESSERA_IR_ISSUES_H

#include <stdint.h>

#include "tessera/status.h"
#include "tessera/text.h"

enum { TSR_ISSUES_SHOWN = 20 };  // the rest are counted

typedef struct tsr_issues {
  tsr_text text;
  tsr_cause cause;  // of the first
  int64_t count;
} tsr_issues;

// Takes and frees a failure; NULL is none. Where `line` is not 0 the place "NAME:LINE:COLUMN: "
// stands before its message.
void tsr_issues_add(tsr_issues *issues, const char *name, uint32_t line, uint32_t column,
                    tsr_status failure);
// All of them as one failure, each on its own line; NULL if there are none. Empty afterwards.
TSR_MUST_USE tsr_status tsr_issues_take(tsr_issues *issues);

#endif
