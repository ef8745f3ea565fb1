// PyTorch's placements as text, shared by their own reader and the readers of texts around them.
#ifndef TESSERA_SPEC_DTENSOR_H
#define TESSERA_SPEC_DTENSOR_H

#include "base/cursor.h"
#include "tessera/compat/torch.h"

// Takes placements: a list in brackets, or a row such as S(0)R. tsr_placements_settle_order then
// checks the orders and clears those that equal the mesh order.
TSR_MUST_USE tsr_status tsr_placements_read(tsr_cursor *cursor, tsr_placements *out);
TSR_MUST_USE tsr_status tsr_placements_settle_order(tsr_placements *placements);
// Whether a whole text is a row; whether it begins like a list. () is the empty spec, not a list.
bool tsr_placements_look_like_row(const char *text);
bool tsr_placements_look_like_list(const char *text);

#endif
