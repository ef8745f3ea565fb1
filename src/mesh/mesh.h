// What the files of this room, and the rooms above it, share about meshes beyond the public header.
#ifndef TESSERA_MESH_MESH_H
#define TESSERA_MESH_MESH_H

#include "tessera/engine/groups.h"
#include "tessera/engine/kernels.h"
#include "tessera/mesh.h"

// ---- names and messages ----

// Whether names may hold this byte without being quoted.
bool tsr_is_plain_name(char c);
// One axis as text: name=size, and its type unless it is auto; only the size without a name. Names
// that are not plain words are quoted.
void tsr_axis_print(const tsr_axis *axis, tsr_text *out);
// Axes as messages show them: {data=4, model=2}.
void tsr_axes_describe(const tsr_axis *axes, int axis_count, tsr_text *out);
void tsr_mesh_describe(const tsr_mesh *mesh, tsr_text *out);

// The failure for an axis name that `mesh` does not have: unknown_mesh_axis, with the nearest name.
TSR_MUST_USE tsr_status tsr_mesh_no_axis(const tsr_mesh *mesh, const char *name);
// The index of a named axis, or that failure.
TSR_MUST_USE tsr_status tsr_mesh_need_axis(const tsr_mesh *mesh, const char *name, int *out_axis);

// ---- sizes ----

// The failure for axes that do not make `device_count` devices, with sizes that would.
TSR_MUST_USE tsr_status tsr_axes_mismatch(const tsr_axis *axes, int axis_count,
                                          int64_t device_count);
// The product of sizes >= 0; false when it does not fit 63 bits.
bool tsr_axes_product(const tsr_axis *axes, int axis_count, int64_t *out_product);
// Fills a single size of -1, as tsr_sizes_complete does.
TSR_MUST_USE tsr_status tsr_axes_complete(tsr_axis *axes, int axis_count, int64_t device_count);

// ---- devices ----

// Positions between neighbours along an axis: the product of the sizes after it.
int64_t tsr_mesh_stride(const tsr_mesh *mesh, int axis);
// Whether a reader of this mesh's text finds its devices without being told: they are 0, 1, 2, ...
// and its topology, if it has one, lists them so.
bool tsr_mesh_has_default_devices(const tsr_mesh *mesh);

// Equal meshes have equal digests of 128 bits. tsr_mesh_hash is the lower half.
tsr_hash128 tsr_mesh_digest(const tsr_mesh *mesh);

// The groups of devices whose positions differ in some digits only (position / stride % size),
// which must be independent of each other. Members count through the digits, last one fastest.
TSR_MUST_USE tsr_status tsr_mesh_digit_groups(const tsr_mesh *mesh, const int64_t *strides,
                                              const int64_t *sizes, int digit_count,
                                              tsr_groups *out_groups);
// The numbers of named axes, each of which may be named once; `out_axes` has TSR_MAX_AXES.
TSR_MUST_USE tsr_status tsr_mesh_find_axes(const tsr_mesh *mesh, const char *const *names,
                                           int name_count, int *out_axes);

// What the readers of text and JSON have in common: `desc` without device_count when it has no
// devices; these are then the first of the topology's list.
TSR_MUST_USE tsr_status tsr_mesh_create_read(const tsr_mesh_desc *desc, tsr_mesh **out_mesh);

// PyTorch's DeviceMesh as text, which tsr_mesh_parse reads too, recognised by how it begins.
bool tsr_mesh_looks_torch(const char *text);
TSR_MUST_USE tsr_status tsr_mesh_read_torch(const char *text, const tsr_topology *topology,
                                            tsr_mesh **out_mesh);
// Whether this is what an axis is called that has no name there.
bool tsr_mesh_is_unnamed_axis(const char *name, int axis);

#endif
