// Dynamic slices that are read where they lie.
#ifndef TESSERA_LOWER_SLICE_VIEW_H
#define TESSERA_LOWER_SLICE_VIEW_H

#include "kernel/window_inputs.h"
#include "lower/lowering.h"

enum { TSR_VIEW_STARTS = 2 };

// Where a view starts, besides its offset: computed by the steps that read it.
struct tsr_slot_window {
  int start_count;
  int slots[TSR_VIEW_STARTS];                // of the indices
  tsr_window_start starts[TSR_VIEW_STARTS];  // strides are bytes; inputs are set for each step
};

// Whether a dynamic_slice is one piece of memory, which few indices place.
bool tsr_slice_is_piece(const tsr_op *op);
// Makes its result a view. Only kernels may read it, and nothing writes the tensor while they do.
TSR_MUST_USE tsr_status tsr_lower_slice_view(tsr_lowering *lowering, tsr_op *op);
// Whether a dynamic_slice is one piece of memory whose place is known for each lane.
bool tsr_slice_is_known(const tsr_lowering *lowering, const tsr_op *op);
// Makes its result a view, which anything may read.
TSR_MUST_USE tsr_status tsr_lower_known_slice(tsr_lowering *lowering, tsr_op *op);
// Makes a step compute the addresses of such views among its inputs.
TSR_MUST_USE tsr_status tsr_step_place_views(tsr_lowering *lowering, tsr_schedule_step *step);

#endif
