// A mesh is one block, freed at once: the struct, its axes, the bytes of their names, and, unless
// the devices are 0, 1, 2, ..., their ids and a table from id to position.
//
// The table is open addressing over positions (the key of position p is devices[p]), at most half
// full, so finding a device costs a probe or two. Building it finds repeated devices.
#include "mesh/mesh.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "base/sized.h"
#include "base/utf8.h"
#include "mesh/dims.h"
#include "mesh/mesh_internal.h"
#include "tessera/engine/mesh.h"
#include "tessera/engine/topology.h"
#include "topology/topology_internal.h"

struct tsr_mesh {
  atomic_int references;
  int axis_count;
  int64_t process_count;
  bool is_abstract;
  int64_t device_count;
  tsr_hash128 digest;
  const tsr_topology *topology;
  const int64_t *devices;  // NULL = 0, 1, 2, ...
  const int32_t *slots;    // position + 1 (at most INT32_MAX), or 0 = free; slot_mask + 1 of them
  uint64_t slot_mask;
  int64_t strides[TSR_MAX_AXES];
  tsr_axis axes[];
};

// ---- checks ----

static tsr_status check_axes(const tsr_axis *axes, int axis_count) {
  TSR_TRY(tsr_rank_check(axis_count));
  for (int i = 0; i < axis_count; i++) {
    if (!axes[i].name) return tsr_fail(MESH_AXIS_NAME_NONE, "axis %d of the mesh has no name", i);
    if (!*axes[i].name)  // a spec could not say it: P('') is P(None)
      return tsr_fail(MESH_AXIS_NAME_NONE, "axis %d of the mesh has an empty name", i);
    if (!tsr_utf8_is_valid(axes[i].name))  // JSON could not hold it
      return tsr_fail(BAD_ARGUMENT, "the name of axis %d is not UTF-8", i);
    if ((unsigned)axes[i].type > TSR_AXIS_MANUAL)
      return tsr_fail(UNKNOWN_AXIS_TYPE, "axis \"%s\" has type %d, wanted auto, explicit or manual",
                      axes[i].name, (int)axes[i].type);
    for (int j = 0; j < i; j++)
      if (!strcmp(axes[i].name, axes[j].name))
        return tsr_fail(DUPLICATE_AXIS_NAME, "axis name \"%s\" is given twice, to axes %d and %d",
                        axes[i].name, j, i);
  }
  return NULL;
}

static tsr_status check_sizes(const tsr_axis *axes, int axis_count) {
  for (int i = 0; i < axis_count; i++) {
    if (axes[i].size == -1)
      return tsr_fail(BAD_AXIS_SIZE,
                      "axis \"%s\" has size -1, but the number of devices is not known",
                      axes[i].name);
    if (axes[i].size < 1)
      return tsr_fail(BAD_AXIS_SIZE, "axis \"%s\" has size %lld, wanted 1 or more", axes[i].name,
                      (long long)axes[i].size);
  }
  return NULL;
}

// The number of devices if the caller gave it; 0 = the axes determine it.
static int64_t known_device_count(const tsr_mesh_desc *desc) {
  if (desc->device_count) return desc->device_count;
  for (int i = 0; i < desc->axis_count; i++)
    if (desc->axes[i].size == -1 && desc->topology)
      return tsr_topology_device_count(desc->topology);
  return 0;
}

// Copies the axes with all sizes known, and counts the devices.
static tsr_status resolve_axes(const tsr_mesh_desc *desc, tsr_axis *axes, int64_t *out_count) {
  TSR_TRY(tsr_list_check(desc->axes, desc->axis_count, "axes"));
  TSR_TRY(check_axes(desc->axes, desc->axis_count));
  for (int i = 0; i < desc->axis_count; i++) axes[i] = desc->axes[i];
  const int64_t known = known_device_count(desc);
  if (known < 0)
    return tsr_fail(BAD_ARGUMENT, "a mesh of %lld devices, wanted 1 or more", (long long)known);
  if (known) TSR_TRY(tsr_axes_complete(axes, desc->axis_count, known));
  TSR_TRY(check_sizes(axes, desc->axis_count));
  if (!tsr_axes_product(axes, desc->axis_count, out_count))
    return tsr_fail(OVERFLOW, "the sizes of the mesh's axes multiply to more than 2^63");
  // Tables of devices hold positions in 32 bits; an abstract mesh has no devices.
  if (!desc->abstract && *out_count > INT32_MAX)
    return tsr_fail(TOO_LARGE, "a mesh of %lld devices; at most %d are possible",
                    (long long)*out_count, INT32_MAX);
  return NULL;
}

static bool is_iota(const int64_t *ids, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (ids[i] != i) return false;
  return true;
}

// ---- the block ----

static uint64_t slot_count_for(int64_t devices) {
  uint64_t slots = 4;
  while (slots < 2 * (uint64_t)devices) slots *= 2;
  return slots;
}

// `ids` NULL = 0, 1, 2, ...; names come last.
static tsr_mesh *allocate(const tsr_axis *axes, int axis_count, int64_t count, const int64_t *ids) {
  const size_t axes_bytes = sizeof *axes * (size_t)axis_count;
  const uint64_t slots = ids ? slot_count_for(count) : 0;
  const size_t device_bytes = ids ? sizeof *ids * (size_t)count : 0;
  const size_t slot_bytes = sizeof(int32_t) * slots;
  size_t name_bytes = 0;
  for (int i = 0; i < axis_count; i++) name_bytes += strlen(axes[i].name) + 1;

  tsr_mesh *mesh = malloc(sizeof *mesh + axes_bytes + device_bytes + slot_bytes + name_bytes);
  if (!mesh) return NULL;
  *mesh = (tsr_mesh){.axis_count = axis_count, .device_count = count};
  atomic_init(&mesh->references, 1);
  char *rest = (char *)mesh->axes + axes_bytes;
  if (ids) {
    mesh->devices = memcpy(rest, ids, device_bytes);
    mesh->slots = memset(rest + device_bytes, 0, slot_bytes);
    mesh->slot_mask = slots - 1;
    rest += device_bytes + slot_bytes;
  }
  for (int i = 0; i < axis_count; i++) {
    const size_t bytes = strlen(axes[i].name) + 1;
    mesh->axes[i] = axes[i];
    mesh->axes[i].name = memcpy(rest, axes[i].name, bytes);
    rest += bytes;
  }
  int64_t stride = 1;
  for (int i = axis_count - 1; i >= 0; i--) {
    mesh->strides[i] = stride;
    stride *= axes[i].size;
  }
  return mesh;
}

// Spreads neighbouring ids over the table (the finisher of SplitMix64).
static uint64_t mix(int64_t id) {
  uint64_t z = (uint64_t)id + 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The slot that holds `id`, or the free one where it belongs.
static uint64_t find_slot(const tsr_mesh *mesh, int64_t id) {
  uint64_t slot = mix(id) & mesh->slot_mask;
  while (mesh->slots[slot] && mesh->devices[mesh->slots[slot] - 1] != id)
    slot = (slot + 1) & mesh->slot_mask;
  return slot;
}

static tsr_status index_devices(tsr_mesh *mesh) {
  int32_t *slots = (int32_t *)mesh->slots;
  for (int64_t i = 0; mesh->devices && i < mesh->device_count; i++) {
    const uint64_t slot = find_slot(mesh, mesh->devices[i]);
    if (slots[slot])
      return tsr_fail(DUPLICATE_DEVICE, "device %lld is given twice, at positions %d and %lld",
                      (long long)mesh->devices[i], (int)slots[slot] - 1, (long long)i);
    slots[slot] = (int32_t)(i + 1);
  }
  return NULL;
}

static tsr_status check_device_ids(const tsr_mesh *mesh) {
  if (mesh->is_abstract || (!mesh->devices && !mesh->topology)) return NULL;
  for (int64_t i = 0; i < mesh->device_count; i++) {
    const int64_t id = tsr_mesh_device_at(mesh, i);
    if (id < 0 || id > INT32_MAX)
      return tsr_fail(UNKNOWN_DEVICE, "device %lld at position %lld; ids are 0 to %d",
                      (long long)id, (long long)i, INT32_MAX);
    if (mesh->topology && tsr_topology_device_find(mesh->topology, id) < 0)
      return tsr_fail(UNKNOWN_DEVICE,
                      "device %lld at position %lld is not in the topology (%s, %lld devices)",
                      (long long)id, (long long)i, tsr_topology_kind(mesh->topology),
                      (long long)tsr_topology_device_count(mesh->topology));
  }
  return NULL;
}

static int64_t count_processes(const tsr_mesh *mesh) {
  int64_t count = 1;
  if (!mesh->topology) return count;
  for (int64_t i = 0; i < mesh->device_count; i++) {
    const int64_t process = tsr_mesh_process(mesh, i);
    if (process >= count) count = process + 1;
  }
  return count;
}

static const uint64_t second_seed = UINT64_C(0x9e3779b97f4a7c15);  // of the upper 64 bits

static uint64_t hash_mesh(const tsr_mesh *mesh, uint64_t seed) {
  uint64_t hash = seed + (uint64_t)mesh->axis_count + (mesh->is_abstract ? 1000 : 0);
  for (int i = 0; i < mesh->axis_count; i++) {
    const tsr_axis *axis = &mesh->axes[i];
    const int64_t numbers[] = {axis->size, axis->type};
    hash = tsr_hash64(axis->name, strlen(axis->name), hash);
    hash = tsr_hash64(numbers, sizeof numbers, hash);
  }
  if (mesh->devices)
    hash = tsr_hash64(mesh->devices, sizeof *mesh->devices * (size_t)mesh->device_count, hash);
  return hash;
}

tsr_status tsr_mesh_create(const tsr_mesh_desc *given, tsr_mesh **out_mesh) {
  tsr_axis axes[TSR_MAX_AXES];
  int64_t count = 0;
  tsr_mesh_desc desc;
  TSR_TRY(tsr_sized_read(tsr_mesh_desc, given, &desc));
  TSR_TRY(resolve_axes(&desc, axes, &count));
  if (desc.abstract && desc.devices)
    return tsr_fail(BAD_ARGUMENT, "an abstract mesh has no devices, but %lld are given",
                    (long long)count);
  if (desc.devices && !desc.device_count)
    return tsr_fail(BAD_ARGUMENT, "a list of devices without its length");

  const int64_t *ids = desc.devices;
  if (ids && is_iota(ids, count)) ids = NULL;
  tsr_mesh *mesh = allocate(axes, desc.axis_count, count, ids);
  if (!mesh) return tsr_fail(NO_MEMORY, "mesh of %lld devices", (long long)count);
  mesh->is_abstract = desc.abstract;
  if (desc.topology && !desc.abstract) mesh->topology = tsr_topology_retain(desc.topology);
  tsr_status status = index_devices(mesh);
  if (!status) status = check_device_ids(mesh);
  if (status) {
    tsr_mesh_release(mesh);
    return status;
  }
  mesh->process_count = count_processes(mesh);
  mesh->digest = (tsr_hash128){hash_mesh(mesh, 0), hash_mesh(mesh, second_seed)};
  *out_mesh = mesh;
  return NULL;
}

tsr_mesh *tsr_mesh_retain(const tsr_mesh *mesh) {
  tsr_mesh *shared = (tsr_mesh *)mesh;
  atomic_fetch_add_explicit(&shared->references, 1, memory_order_relaxed);
  return shared;
}

void tsr_mesh_release(const tsr_mesh *mesh) {
  tsr_mesh *shared = (tsr_mesh *)mesh;
  if (!shared) return;
  if (atomic_fetch_sub_explicit(&shared->references, 1, memory_order_acq_rel) > 1) return;
  tsr_topology_release(shared->topology);
  free(shared);
}

bool tsr_mesh_equal(const tsr_mesh *a, const tsr_mesh *b) {
  if (a == b) return true;
  if (a->digest.low != b->digest.low || a->axis_count != b->axis_count ||
      a->is_abstract != b->is_abstract || !a->devices != !b->devices)
    return false;
  for (int i = 0; i < a->axis_count; i++)
    if (strcmp(a->axes[i].name, b->axes[i].name) || a->axes[i].size != b->axes[i].size ||
        a->axes[i].type != b->axes[i].type)
      return false;
  return !a->devices ||
         !memcmp(a->devices, b->devices, sizeof *a->devices * (size_t)a->device_count);
}

tsr_hash128 tsr_mesh_digest(const tsr_mesh *mesh) { return mesh->digest; }

// ---- accessors ----

int tsr_mesh_axis_count(const tsr_mesh *mesh) { return mesh->axis_count; }

const tsr_axis *tsr_mesh_axis_at(const tsr_mesh *mesh, int axis) {
  if (axis < 0 || axis >= mesh->axis_count) return NULL;
  return &mesh->axes[axis];
}

int tsr_mesh_axis_find(const tsr_mesh *mesh, const char *name) {
  for (int i = 0; i < mesh->axis_count; i++)
    if (!strcmp(mesh->axes[i].name, name)) return i;
  return -1;
}

int64_t tsr_mesh_stride(const tsr_mesh *mesh, int axis) { return mesh->strides[axis]; }

int64_t tsr_mesh_device_count(const tsr_mesh *mesh) { return mesh->device_count; }

bool tsr_mesh_is_abstract(const tsr_mesh *mesh) { return mesh->is_abstract; }

const tsr_topology *tsr_mesh_topology(const tsr_mesh *mesh) { return mesh->topology; }

const int64_t *tsr_mesh_device_list(const tsr_mesh *mesh) { return mesh->devices; }

static bool has_position(const tsr_mesh *mesh, int64_t position) {
  return position >= 0 && position < mesh->device_count;
}

int64_t tsr_mesh_device_at(const tsr_mesh *mesh, int64_t position) {
  if (!has_position(mesh, position)) return -1;
  return mesh->devices ? mesh->devices[position] : position;
}

int64_t tsr_mesh_device_find(const tsr_mesh *mesh, int64_t id) {
  if (mesh->devices) return (int64_t)mesh->slots[find_slot(mesh, id)] - 1;
  return id >= 0 && id < mesh->device_count ? id : -1;
}

bool tsr_mesh_coords(const tsr_mesh *mesh, int64_t position, int64_t *out_coords) {
  if (!has_position(mesh, position)) return false;
  for (int i = mesh->axis_count - 1; i >= 0; i--) {
    out_coords[i] = position % mesh->axes[i].size;
    position /= mesh->axes[i].size;
  }
  return true;
}

int64_t tsr_mesh_position(const tsr_mesh *mesh, const int64_t *coords) {
  int64_t position = 0;
  for (int i = 0; i < mesh->axis_count; i++) {
    if (coords[i] < 0 || coords[i] >= mesh->axes[i].size) return -1;
    position += coords[i] * mesh->strides[i];
  }
  return position;
}

int64_t tsr_mesh_process(const tsr_mesh *mesh, int64_t position) {
  if (!has_position(mesh, position)) return -1;
  if (!mesh->topology) return 0;
  const int64_t index =
      tsr_topology_device_find(mesh->topology, tsr_mesh_device_at(mesh, position));
  return tsr_topology_devices(mesh->topology)[index].process;
}

int64_t tsr_mesh_process_count(const tsr_mesh *mesh) { return mesh->process_count; }

bool tsr_mesh_has_default_devices(const tsr_mesh *mesh) {
  if (mesh->devices) return false;
  if (!mesh->topology) return true;
  const tsr_device *devices = tsr_topology_devices(mesh->topology);
  for (int64_t i = 0; i < mesh->device_count; i++)
    if (devices[i].id != i) return false;
  return true;
}
