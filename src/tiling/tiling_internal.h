// Tilings, for other rooms and tests.
#ifndef TESSERA_TILING_TILING_INTERNAL_H
#define TESSERA_TILING_TILING_INTERNAL_H

#include <stdbool.h>

#include "tessera/api.h"
#include "tessera/compat/hlo.h"

typedef enum tsr_tiling_kind {
  TSR_TILING_REPLICATED,  // {replicated}
  TSR_TILING_MAXIMAL,     // {maximal device=3}
  TSR_TILING_MANUAL,      // {manual}
  TSR_TILING_UNKNOWN,     // {unknown}
  TSR_TILING_UNREDUCED,   // {unreduced}
  TSR_TILING_TILED,       // {devices=[...]...}
  TSR_TILING_TUPLE        // {{...}, {...}}
} tsr_tiling_kind;

// The kind of a trailing subgroup dimension.
typedef enum tsr_subgroup {
  TSR_SUBGROUP_REPLICATED,
  TSR_SUBGROUP_MANUAL,
  TSR_SUBGROUP_UNREDUCED
} tsr_subgroup;

tsr_tiling_kind tsr_tiling_kind_of(const tsr_tiling *tiling);
// Compares values: a list equals its counted form, and metadata is ignored.
bool tsr_tiling_equal(const tsr_tiling *a, const tsr_tiling *b);
// Elements of a tuple; 0 for other kinds.
int tsr_tiling_element_count(const tsr_tiling *tiling);
const tsr_tiling *tsr_tiling_element(const tsr_tiling *tiling, int index);

#endif
