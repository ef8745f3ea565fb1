// The automatic choice of axes.
#ifndef TESSERA_ADVICE_AUTO_H
#define TESSERA_ADVICE_AUTO_H

#include "advice/choice.h"
#include "tessera/plan.h"

// tsr_auto_options, checked and completed for a mesh.
typedef struct tsr_chooser {
  const tsr_mesh *mesh;
  tsr_units units;
  int64_t min_size;
  bool reverse, stack_leftovers;
} tsr_chooser;

// NULL mesh: the current one; NULL options: the defaults.
TSR_MUST_USE tsr_status tsr_chooser_init(tsr_chooser *chooser, const tsr_mesh *mesh,
                                         const tsr_auto_options *options);
// The axes for a checked shape. False when it is too small: the choice then has rank 0.
bool tsr_chooser_choose(const tsr_chooser *chooser, const tsr_shape *shape, tsr_choice *out_choice);

#endif
