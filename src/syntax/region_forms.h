// What printers must know about forms of ops with regions.
#ifndef TESSERA_SYNTAX_REGION_FORMS_H
#define TESSERA_SYNTAX_REGION_FORMS_H

#include <stdbool.h>

#include "ir/ir.h"

// Whether a reduce prints in one line, without its region.
bool tsr_reduce_is_short(const tsr_op *op);

#endif
