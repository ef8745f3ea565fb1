// JAX's mesh builders, between their files: kinds of devices, the box of a TPU slice, and the
// assignment of its physical axes to logical ones.
#ifndef TESSERA_MESH_JAX_H
#define TESSERA_MESH_JAX_H

#include "mesh/dims.h"
#include "tessera/compat/jax_mesh.h"
#include "tessera/engine/topology.h"
#include "tessera/mesh.h"
#include "tessera/topology.h"

// ---- kinds ----

// Whether the cores of a chip are an axis of the torus.
typedef enum tsr_core_axis {
  TSR_CORE_NONE,    // one device per chip, anything else is an error
  TSR_CORE_IF_TWO,  // a fourth axis for two devices per chip, else as above
  TSR_CORE_ALWAYS   // a fourth axis, even of size 1
} tsr_core_axis;

typedef struct tsr_jax_kind {
  const char *name;
  const struct tsr_kind_rule *rules;  // fixed orders, first match wins; ends with step 0
  tsr_core_axis core_axis;
  bool make_mesh_splits;  // whether make_mesh may split physical axes
} tsr_jax_kind;

// Never NULL: unknown kinds share a row without rules.
const tsr_jax_kind *tsr_jax_kind_find(const char *name);

// Devices to be arranged: those of a topology, of one granule, or the first few.
typedef struct tsr_device_list {
  const tsr_device *devices;
  int64_t count;
  tsr_platform platform;
  const char *kind_name;
  const tsr_jax_kind *kind;
} tsr_device_list;

// Writes the kind's fixed order for this number of devices and mesh shape, if there is one.
// `rings_only` skips orders that are no ring of neighbours in the slice.
TSR_MUST_USE tsr_status tsr_jax_kind_order(const tsr_device_list *list, const int64_t *shape,
                                           int rank, bool rings_only, int64_t *out_ids,
                                           bool *out_done);

// ---- the box ----

enum { TSR_FIELD_X, TSR_FIELD_Y, TSR_FIELD_Z, TSR_FIELD_CORE, TSR_FIELD_COUNT };

// The box of coordinates that devices fill, and its axes in the order in which they are assigned.
typedef struct tsr_torus {
  int64_t low[TSR_FIELD_COUNT];
  int64_t sizes[TSR_FIELD_COUNT];
  int rank;
  int fields[TSR_FIELD_COUNT];    // the field of each axis
  int64_t dims[TSR_FIELD_COUNT];  // sizes of the axes
} tsr_torus;

// Fails unless the devices fill the box: each place once, no holes.
TSR_MUST_USE tsr_status tsr_torus_init(tsr_torus *torus, const tsr_device_list *list);
// Reorders the axes so that each process holds a contiguous block of the mesh; few shapes can.
TSR_MUST_USE tsr_status tsr_torus_make_contiguous(tsr_torus *torus, const int64_t *shape, int rank);

// ---- the assignment ----

// The factor of each physical axis (row) that each logical axis (column) gets. Rows multiply to the
// sizes of the torus, columns to the mesh shape.
typedef struct tsr_assignment {
  int64_t factors[TSR_FIELD_COUNT][TSR_MAX_AXES];
} tsr_assignment;

// Where an assignment without splitting got stuck.
typedef struct tsr_stuck {
  int axis;           // the logical axis that nothing fits
  unsigned free_set;  // physical axes still free, as bits
} tsr_stuck;

// Whole physical axes only; false when stuck.
bool tsr_torus_assign_whole(const int64_t *dims, int dim_count, const int64_t *shape, int rank,
                            tsr_assignment *out_assignment, tsr_stuck *out_stuck);
// Physical axes may be split. The products must be equal; then a solution always exists.
void tsr_torus_assign_split(const int64_t *dims, int dim_count, const int64_t *shape, int rank,
                            tsr_assignment *out_assignment);
// Assigns; an error names near mesh shapes that fit.
TSR_MUST_USE tsr_status tsr_torus_assign(const tsr_torus *torus, const int64_t *shape, int rank,
                                         bool split, tsr_assignment *out_assignment);
// Places each device by the assignment.
TSR_MUST_USE tsr_status tsr_torus_place(const tsr_torus *torus, const tsr_device_list *list,
                                        const int64_t *shape, int rank,
                                        const tsr_assignment *assignment, int64_t *out_ids);

// ---- the builder ----

// Allocates the ids of a mesh with checked sizes.
TSR_MUST_USE tsr_status tsr_device_array_init(tsr_device_array *array, const int64_t *dims,
                                              int rank);
// A mesh of these axes over the array.
TSR_MUST_USE tsr_status tsr_mesh_over_array(const tsr_topology *topology,
                                            const tsr_device_array *array, const tsr_axis *axes,
                                            tsr_mesh **out_mesh);
tsr_device_list tsr_device_list_of(const tsr_topology *topology);
// create_device_mesh for a list in two steps: checks, then ids in mesh order.
TSR_MUST_USE tsr_status tsr_jax_check_shape(const int64_t *shape, int rank, int64_t device_count);
TSR_MUST_USE tsr_status tsr_jax_arrange(const tsr_device_list *list, const int64_t *shape, int rank,
                                        const tsr_jax_mesh_options *options, int64_t *out_ids,
                                        tsr_mesh_reason *out_reason);

#endif
