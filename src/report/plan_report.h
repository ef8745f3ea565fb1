// A plan as one self-contained HTML page.
#ifndef TESSERA_REPORT_PLAN_REPORT_H
#define TESSERA_REPORT_PLAN_REPORT_H

#include "tessera/plan.h"
#include "tessera/text.h"

tsr_status tsr_plan_report(const tsr_plan *plan, const char *title, tsr_text *out);

#endif
