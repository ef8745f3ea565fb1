// Axes chosen for factors where the tensors of an op disagree.
#ifndef TESSERA_RESHARD_AXIS_CHOICE_H
#define TESSERA_RESHARD_AXIS_CHOICE_H

#include "factor/projection.h"

// Gives factors axes, in `out_axes` of rule->factor_count, which is zero: again and again the list
// of axes of a factor that tensors of the most elements have, until no axis is left that extends
// what a factor has and overlaps no other factor. A factor behind another one in a dim has its turn
// once that one is full. False without memory.
bool tsr_axes_choose(tsr_arena *arena, const tsr_projection *projection, const int64_t *sizes,
                     tsr_sdy_parts *out_axes);

// Cuts a list at the first axis that overlaps one of `taken`, and says in `out_cut` whether it did.
// False without memory.
bool tsr_axes_cut(tsr_arena *arena, const tsr_attr *mesh, const tsr_sdy_parts *taken,
                  tsr_sdy_parts *axes, bool *out_cut);
// A copy of a list with one part more, at its end, not joined. False without memory.
bool tsr_parts_add_copy(tsr_arena *arena, tsr_sdy_parts *parts, tsr_sdy_part part);

// The product of the sizes of all axes that a tensor has, as far as INT64_MAX.
int64_t tsr_projected_size(const tsr_projection *projection, int tensor);

#endif
