// Mesh: devices arranged on named axes. Immutable once made, hence safe to share.
//
// A device has an id (its name in the runtime), and a *position* in the mesh: its row-major index,
// last axis fastest. A mesh without device ids is abstract: positions stand for the devices. The
// builders that fit a mesh to hardware are in tessera/mesh_build.h.
//
//   tsr_mesh *mesh = NULL;
//   TSR_TRY(tsr_mesh_parse("data=4,model=2", NULL, &mesh));
#ifndef TESSERA_MESH_H
#define TESSERA_MESH_H

#include <stdint.h>

#include "tessera/groups.h"
#include "tessera/json.h"
#include "tessera/scope.h"
#include "tessera/status.h"
#include "tessera/text.h"
#include "tessera/topology.h"

TSR_BEGIN_DECLS

#define TSR_MAX_AXES 16

typedef enum tsr_axis_type { TSR_AXIS_AUTO, TSR_AXIS_EXPLICIT, TSR_AXIS_MANUAL } tsr_axis_type;

typedef struct tsr_axis {
  const char *name;
  int64_t size;
  tsr_axis_type type;
} tsr_axis;

typedef struct tsr_mesh tsr_mesh;  // immutable, shared by any threads

typedef struct tsr_mesh_desc {
  size_t size;  // sizeof(tsr_mesh_desc)
  int axis_count;
  const tsr_axis *axes;  // outermost first; one size may be -1 when the number of devices is known
  int64_t device_count;  // of `devices`; 0 = as the axes say
  const int64_t *devices;        // ids, 0 to 2^31 - 1, row-major; NULL = 0, 1, 2, ...
  const tsr_topology *topology;  // the machine they belong to; NULL = none
  bool abstract;                 // no devices at all, only axes
} tsr_mesh_desc;
#define TSR_MESH_DESC TSR_SIZED(tsr_mesh_desc)

// Refuses repeated axis names and devices, sizes below 1, and ids the topology does not have.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_create(const tsr_mesh_desc *desc, tsr_mesh **out_mesh);
// "data=4,model=2", axis types after a colon as in "data=4:explicit"; one size may be -1 when a
// topology is given, whose first devices are then taken in list order. Other devices follow as
// " devices=[3,1,0,2]", and " abstract" says that there are none. Exact inverse of tsr_mesh_print.
// Names that are not plain words stand in double quotes. Every text that PyTorch prints of a
// DeviceMesh is read too, and "(dp=2, tp=2)": axes without names are dim_0, dim_1, ...; where the
// text lists no devices, those of rank 0's mesh, which the strides reach.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_parse(const char *text, const tsr_topology *topology,
                                               tsr_mesh **out_mesh);
TSR_API void tsr_mesh_print(const tsr_mesh *mesh, tsr_text *out);
// {"axes": [["data", 4], ...], "types": [...], "devices": [...], "abstract": true}; all but the
// axes only where they differ from auto, from 0, 1, 2, ..., and from false.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_from_json(const tsr_json *value,
                                                   const tsr_topology *topology,
                                                   tsr_mesh **out_mesh);
TSR_API void tsr_mesh_to_json(const tsr_mesh *mesh, tsr_json_writer *writer);
TSR_API tsr_mesh *tsr_mesh_retain(const tsr_mesh *mesh);
TSR_API void tsr_mesh_release(const tsr_mesh *mesh);  // NULL is fine
// The same axes (names, sizes, types) over the same devices in the same order.
TSR_API bool tsr_mesh_equal(const tsr_mesh *a, const tsr_mesh *b);
TSR_API uint64_t tsr_mesh_hash(const tsr_mesh *mesh);

// Axes.
TSR_API int tsr_mesh_axis_count(const tsr_mesh *mesh);
TSR_API const tsr_axis *tsr_mesh_axis_at(const tsr_mesh *mesh, int axis);
TSR_API int tsr_mesh_axis_find(const tsr_mesh *mesh, const char *name);  // -1 if there is none
TSR_API const char *tsr_axis_type_name(tsr_axis_type type);              // "auto"
TSR_API TSR_MUST_USE tsr_status tsr_axis_type_parse(const char *name, tsr_axis_type *out_type);
// Names, sizes and types side by side, as axes. They must be equally many; `types` may be NULL for
// all auto. `out_axes` has room for TSR_MAX_AXES and borrows the names.
TSR_API TSR_MUST_USE tsr_status tsr_axes_zip(const char *const *names, int name_count,
                                             const int64_t *sizes, int size_count,
                                             const tsr_axis_type *types, int type_count,
                                             tsr_axis *out_axes);
// Product of the sizes of the named axes: get_axes_size_in_mesh and get_mesh_axis_size. An empty
// list gives 1, a name given twice counts twice.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_axes_size(const tsr_mesh *mesh, const char *const *names,
                                                   int name_count, int64_t *out_size);
// Index of a position within the named axes, first name most significant; an empty list gives 0:
// get_submesh_device_index.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_axes_index(const tsr_mesh *mesh, int64_t position,
                                                    const char *const *names, int name_count,
                                                    int64_t *out_index);

// Devices.
TSR_API int64_t tsr_mesh_device_count(const tsr_mesh *mesh);  // product of the sizes, at least 1
TSR_API bool tsr_mesh_is_abstract(const tsr_mesh *mesh);
TSR_API const tsr_topology *tsr_mesh_topology(const tsr_mesh *mesh);  // borrowed, may be NULL
TSR_API int64_t tsr_mesh_device_at(const tsr_mesh *mesh, int64_t position);
TSR_API const int64_t *tsr_mesh_device_list(const tsr_mesh *mesh);       // NULL = 0, 1, 2, ...
TSR_API int64_t tsr_mesh_device_find(const tsr_mesh *mesh, int64_t id);  // position, or -1
TSR_API bool tsr_mesh_coords(const tsr_mesh *mesh, int64_t position, int64_t *out_coords);
TSR_API int64_t tsr_mesh_position(const tsr_mesh *mesh, const int64_t *coords);
// The process that drives a device; 0 for all without a topology.
TSR_API int64_t tsr_mesh_process(const tsr_mesh *mesh, int64_t position);
TSR_API int64_t tsr_mesh_process_count(const tsr_mesh *mesh);  // highest process + 1

// The groups that a collective over the named axes has: devices that differ in these axes only, by
// their ids. A member's index is the number its coordinates on these axes make, first name most
// significant; groups are in order of their first member's position. No names: every device alone.
// Give back with tsr_groups_deinit. (For parts of axes: tsr_sub_axis_groups, tessera/sharding.h.)
TSR_API TSR_MUST_USE tsr_status tsr_mesh_groups(const tsr_mesh *mesh, const char *const *axes,
                                                int axis_count, tsr_groups *out_groups);

// The smallest box of the mesh that holds all devices of `process`: its low corner and sizes, one
// per axis. Fails with process_not_in_mesh when there is none, and with local_devices_not_a_subcube
// when the box holds another process's device.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_local_box(const tsr_mesh *mesh, int64_t process,
                                                   int64_t *out_low, int64_t *out_sizes);
// That box as a mesh of its own.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_local(const tsr_mesh *mesh, int64_t process,
                                               tsr_mesh **out_mesh);

// New meshes from old ones, over the same devices.
// One coordinate of an axis, which disappears: the devices at `index` of `axis`.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_slice(const tsr_mesh *mesh, const char *axis,
                                               int64_t index, tsr_mesh **out_mesh);
// Neighbouring axes of one type, given in mesh order, become one called `name`.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_flatten(const tsr_mesh *mesh, const char *const *axes,
                                                 int axis_count, const char *name,
                                                 tsr_mesh **out_mesh);
// One axis becomes several, with the types of `parts`; one size may be -1.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_unflatten(const tsr_mesh *mesh, const char *axis,
                                                   const tsr_axis *parts, int part_count,
                                                   tsr_mesh **out_mesh);
// The axes in another order; devices keep their coordinates by name.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_transpose(const tsr_mesh *mesh, const char *const *axes,
                                                   int axis_count, tsr_mesh **out_mesh);
// The same axes with these types; one type for all, or one per axis.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_with_types(const tsr_mesh *mesh,
                                                    const tsr_axis_type *types, int type_count,
                                                    tsr_mesh **out_mesh);
// Only the axes, no devices.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_abstract(const tsr_mesh *mesh, tsr_mesh **out_mesh);

// The current mesh of this thread. Leave with tsr_scope_leave.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_enter(const tsr_mesh *mesh, tsr_scope *out_scope);
// get_incontext_mesh: borrowed, and NULL when there is none; tsr_mesh_require fails instead.
TSR_API const tsr_mesh *tsr_mesh_current(void);
TSR_API TSR_MUST_USE tsr_status tsr_mesh_require(const tsr_mesh **out_mesh);
// names_in_current_mesh: whether the current mesh has them all. No names: true, even without a
// mesh.
TSR_API bool tsr_mesh_current_has(const char *const *names, int name_count);
// global_mesh_defined.
TSR_API bool tsr_mesh_is_current(void);

// What communication along an axis costs on this mesh's topology.
typedef struct tsr_axis_cost {
  tsr_level level;  // the worst level crossed between neighbours on the axis
  bool ring;        // its groups close to a ring, so that both directions can be used
  tsr_link link;  // between neighbours, all groups talking at once: hops and directions counted in
} tsr_axis_cost;
TSR_API TSR_MUST_USE tsr_status tsr_mesh_axis_cost(const tsr_mesh *mesh, int axis,
                                                   tsr_axis_cost *out_cost);

typedef enum tsr_collective {
  TSR_COLLECTIVE_ALL_GATHER,
  TSR_COLLECTIVE_REDUCE_SCATTER,
  TSR_COLLECTIVE_ALL_TO_ALL,
  TSR_COLLECTIVE_ALL_REDUCE,
  TSR_COLLECTIVE_PERMUTE,
  TSR_COLLECTIVE_COUNT
} tsr_collective;
// Seconds for a collective by rings over the named axes, level by level where these differ, with
// `bytes` of local input per device.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_collective_cost(const tsr_mesh *mesh, tsr_collective op,
                                                         const char *const *axes, int axis_count,
                                                         int64_t bytes, double *out_seconds);

TSR_END_DECLS

#endif
