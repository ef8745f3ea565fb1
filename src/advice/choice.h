// Mesh axes assigned to dimensions, as all automatic plans do.
#ifndef TESSERA_ADVICE_CHOICE_H
#define TESSERA_ADVICE_CHOICE_H

#include "base/arena.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/spec.h"

// One axis, or a group of axes that are only used together.
typedef struct tsr_unit {
  int axis_count;
  uint8_t axes[TSR_MAX_AXES];  // of the mesh, major to minor
  uint32_t mask;               // the same as bits
  int64_t size;                // product of theirs
} tsr_unit;

#define TSR_MAX_UNITS 64
typedef struct tsr_units {
  int count;
  tsr_unit items[TSR_MAX_UNITS];
} tsr_units;

// Entries of a spec's short form, as in "dp" or "fsdp+tp". A name given twice counts once.
TSR_MUST_USE tsr_status tsr_units_of_names(const tsr_mesh *mesh, const char *const *names,
                                           int name_count, tsr_units *out_units);
// One unit per axis, in mesh order.
void tsr_units_in_order(const tsr_mesh *mesh, tsr_units *out_units);
// The largest first; equal ones keep their order.
void tsr_units_sort(tsr_units *units);

// Which axes cut each dimension, major to minor.
typedef struct tsr_choice {
  int rank;
  uint32_t used;  // axes assigned, as bits
  uint8_t counts[TSR_MAX_RANK];
  uint8_t axes[TSR_MAX_RANK][TSR_MAX_AXES];
} tsr_choice;

// The unit's axes must be unused (asserted).
void tsr_choice_add(tsr_choice *choice, int dim, const tsr_unit *unit);
// Adds the axes of dimension `dim` to an entry, as the minor ones of its last stage. Stages and
// axes are in the arena.
TSR_MUST_USE tsr_status tsr_choice_extend(const tsr_choice *choice, int dim, const tsr_mesh *mesh,
                                          tsr_arena *arena, tsr_spec_dim *inout_dim);
// `start` (NULL = nothing is cut) with all axes added: one entry per dimension, also where none is
// cut.
TSR_MUST_USE tsr_status tsr_choice_spec(const tsr_choice *choice, const tsr_mesh *mesh,
                                        const tsr_spec *start, tsr_spec **out_spec);

// Indices of dimensions, largest first or smallest first; equal ones by index.
void tsr_dims_by_size(const tsr_shape *shape, bool smallest_first, int *out_order);
// `mesh`, or the current one if it is NULL; fails if there is neither.
TSR_MUST_USE tsr_status tsr_mesh_or_current(const tsr_mesh *mesh, const tsr_mesh **out_mesh);

#endif
