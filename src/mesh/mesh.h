// Meshes, between the files of this room and for the rooms above.
#ifndef TESSERA_MESH_MESH_H
#define TESSERA_MESH_MESH_H

#include "tessera/engine/groups.h"
#include "tessera/engine/kernels.h"
#include "tessera/mesh.h"

// ---- names and messages ----

// Whether names may have this byte without quotes.
bool tsr_is_plain_name(char c);
// One axis as text: name=size, with its type unless auto; only the size without a name. Names that
// are not plain words are quoted.
void tsr_axis_print(const tsr_axis *axis, tsr_text *out);
// Axes in messages: {data=4, model=2}.
void tsr_axes_describe(const tsr_axis *axes, int axis_count, tsr_text *out);
void tsr_mesh_describe(const tsr_mesh *mesh, tsr_text *out);

// The error for an unknown axis name, unknown_mesh_axis, with the nearest name.
TSR_MUST_USE tsr_status tsr_mesh_no_axis(const tsr_mesh *mesh, const char *name);
// The index of a named axis, or that error.
TSR_MUST_USE tsr_status tsr_mesh_need_axis(const tsr_mesh *mesh, const char *name, int *out_axis);

// ---- sizes ----

// The error for axes that do not make `device_count` devices, with sizes that would.
TSR_MUST_USE tsr_status tsr_axes_mismatch(const tsr_axis *axes, int axis_count,
                                          int64_t device_count);
// The product of sizes >= 0; false if it overflows.
bool tsr_axes_product(const tsr_axis *axes, int axis_count, int64_t *out_product);
// Fills a single size of -1, as tsr_sizes_complete does.
TSR_MUST_USE tsr_status tsr_axes_complete(tsr_axis *axes, int axis_count, int64_t device_count);

// ---- devices ----

// Positions between neighbours along an axis: the product of the sizes after it.
int64_t tsr_mesh_stride(const tsr_mesh *mesh, int axis);
// Whether the devices are the default ones, which text and JSON leave out: 0, 1, 2, ..., also in
// its topology, if any.
bool tsr_mesh_has_default_devices(const tsr_mesh *mesh);

// Equal meshes have equal digests of 128 bits.
tsr_hash128 tsr_mesh_digest(const tsr_mesh *mesh);

// The groups of devices whose positions differ only in some digits (position / stride % size),
// which must be independent. Members count through the digits, last one fastest.
TSR_MUST_USE tsr_status tsr_mesh_digit_groups(const tsr_mesh *mesh, const int64_t *strides,
                                              const int64_t *sizes, int digit_count,
                                              tsr_groups *out_groups);
// The indices of named axes; a repeated name is an error. `out_axes` has TSR_MAX_AXES elements.
TSR_MUST_USE tsr_status tsr_mesh_find_axes(const tsr_mesh *mesh, const char *const *names,
                                           int name_count, int *out_axes);

// Creates a mesh read from text or JSON. Without devices in `desc`, it takes the first ones of the
// topology.
TSR_MUST_USE tsr_status tsr_mesh_create_read(const tsr_mesh_desc *desc, tsr_mesh **out_mesh);

// PyTorch's DeviceMesh as text, which tsr_mesh_parse recognises by its beginning.
bool tsr_mesh_looks_torch(const char *text);
TSR_MUST_USE tsr_status tsr_mesh_read_torch(const char *text, const tsr_topology *topology,
                                            tsr_mesh **out_mesh);
// Whether this is the name of an unnamed axis there.
bool tsr_mesh_is_unnamed_axis(const char *name, int axis);

#endif
