// Programs: the tier of StableHLO. Everything below include/tessera/program/.
#ifndef TESSERA_PROGRAM_H
#define TESSERA_PROGRAM_H

#include "tessera/program/builder.h"
#include "tessera/program/executable.h"
#include "tessera/program/partitioned.h"
#include "tessera/program/preflight.h"
#include "tessera/program/program.h"
#include "tessera/program/propagation.h"

#endif
