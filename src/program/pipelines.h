// All passes that a list may name, and those made of others.
#ifndef TESSERA_PROGRAM_PIPELINES_H
#define TESSERA_PROGRAM_PIPELINES_H

#include "simplify/pass_list.h"

// tsr_pass_list_run of the passes of all rooms.
TSR_MUST_USE tsr_status tsr_all_passes_run(tsr_ir *ir, const char *list,
                                           tsr_pass_report *out_report);

// sdy-propagation-pipeline around tsr_propagate: what makes a program ready for it, and what gives
// the program its final form. `shared` = dedup-functions-fully.
TSR_MUST_USE tsr_status tsr_propagation_prepare(tsr_ir *ir, bool shared);
TSR_MUST_USE tsr_status tsr_propagation_finish(tsr_ir *ir, bool shared);

#endif
