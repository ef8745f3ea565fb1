// Programs between passes, written to files for who debugs them.
#ifndef TESSERA_PROPAGATE_STAGE_DUMP_H
#define TESSERA_PROPAGATE_STAGE_DUMP_H

#include "ir/ir.h"

// Writes a program as text to FOLDER/INDEX.NAME.mlir, as Shardy names such files. Changes the marks
// of values.
TSR_MUST_USE tsr_status tsr_stage_dump(tsr_ir *ir, const char *folder, int index, const char *name);
// The same, but marks stay.
TSR_MUST_USE tsr_status tsr_stage_dump_marked(tsr_ir *ir, const char *folder, int index,
                                              const char *name);

#endif
