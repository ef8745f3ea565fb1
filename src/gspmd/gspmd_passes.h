// The pass of this room.
#ifndef TESSERA_GSPMD_GSPMD_PASSES_H
#define TESSERA_GSPMD_GSPMD_PASSES_H

#include "simplify/pass_list.h"

extern tsr_pass_fn tsr_pass_import_gspmd;

tsr_pass_table tsr_gspmd_passes(void);

#endif
