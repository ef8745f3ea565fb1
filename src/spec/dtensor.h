// The words of PyTorch's texts, shared by the readers of placements and of what has them inside.
#ifndef TESSERA_SPEC_DTENSOR_H
#define TESSERA_SPEC_DTENSOR_H

#include "base/cursor.h"
#include "tessera/compat/torch.h"

// Takes placements: a list of them in brackets, or a row such as S(0)R. Orders are taken as they
// stand, for tsr_placements_settle_order to check: shards of a dimension in mesh order lose theirs.
TSR_MUST_USE tsr_status tsr_placements_read(tsr_cursor *cursor, tsr_placements *out);
TSR_MUST_USE tsr_status tsr_placements_settle_order(tsr_placements *placements);
// Whether a whole text is a row; whether it begins as a list. () is our empty spec, not a list.
bool tsr_placements_look_like_row(const char *text);
bool tsr_placements_look_like_list(const char *text);

#endif
