// A compiled program: shared by the files that compile and call it.
#ifndef TESSERA_PARTITIONED_COMPILED_H
#define TESSERA_PARTITIONED_COMPILED_H

#include "partitioned/partitioned.h"

struct tsr_compiled {
  tsr_partitioned *partitioned;
  tsr_comm *comm;
  tsr_executable *executable;
};

#endif
