// Builders: meshes that fit the hardware, with the answers of JAX, t5x and eformer.
//
// They all start from a topology, whose device order matters as it does in those libraries. Where a
// peer's answer is a fault, docs/compatibility.md says what is done instead.
#ifndef TESSERA_MESH_BUILD_H
#define TESSERA_MESH_BUILD_H

#include "tessera/mesh.h"

TSR_BEGIN_DECLS

// Sizes with at most one -1, filled so that the product is `device_count`.
TSR_API TSR_MUST_USE tsr_status tsr_sizes_complete(int64_t *sizes, int count, int64_t device_count);
// Ascending prime factors of n >= 1 into `out_factors` (room for 62); gives their number.
TSR_API TSR_MUST_USE tsr_status tsr_prime_factors(int64_t n, int64_t *out_factors, int *out_count);

// ---- JAX (jax.experimental.mesh_utils, jax.make_mesh) ----

// Device ids in the order of a mesh, row-major, from a builder that knows no axis names.
typedef struct tsr_device_array {
  int rank;
  int64_t dims[TSR_MAX_AXES];
  int64_t count;
  int64_t *ids;  // owned
} tsr_device_array;
TSR_API void tsr_device_array_deinit(tsr_device_array *array);

typedef struct tsr_jax_mesh_options {
  size_t size;                     // sizeof(tsr_jax_mesh_options)
  bool contiguous_submeshes;       // each process's devices a contiguous part (few slices can)
  bool allow_split_physical_axes;  // several mesh axes on one torus axis, where no other way fits
  bool process_is_granule;         // hybrid only: processes, not slices, are the granules
  bool keep_granule_order;         // hybrid only: first seen first, instead of sorted by key
  bool keep_list_order;            // GPUs as listed instead of by id, as older JAX left them
  // Where JAX's own answer is doubtful; without them the answer is JAX's.
  bool refuse_ignored_flags;  // fail where a kind's fixed order would ignore contiguous_submeshes
  bool check_fixed_orders;    // use a fixed order only where it is a ring of neighbours
} tsr_jax_mesh_options;
#define TSR_JAX_MESH_OPTIONS TSR_SIZED(tsr_jax_mesh_options)

// How a device mesh was found.
typedef enum tsr_mesh_path {
  TSR_PATH_LIST_ORDER,  // no known wiring: list order (GPUs by id)
  TSR_PATH_KIND_TABLE,  // a fixed order for this kind of device
  TSR_PATH_TORUS        // physical axes assigned to logical ones
} tsr_mesh_path;

// Why the mesh is as it is: with TSR_PATH_TORUS, which factor of each physical axis went to each
// logical one (row-major, physical by logical).
typedef struct tsr_mesh_reason {
  tsr_mesh_path path;
  int physical_rank;
  int64_t physical_dims[4];
  int64_t assignment[4][TSR_MAX_AXES];
} tsr_mesh_reason;

// create_device_mesh. Mesh axes run from least to most network-intensive. `options` and
// `out_reason` may be NULL.
TSR_API TSR_MUST_USE tsr_status tsr_jax_create_device_mesh(const tsr_topology *topology,
                                                           const int64_t *mesh_shape, int rank,
                                                           const tsr_jax_mesh_options *options,
                                                           tsr_device_array *out_array,
                                                           tsr_mesh_reason *out_reason);
// create_hybrid_device_mesh: `mesh_shape` inside a granule (slice or process), `dcn_mesh_shape`
// between granules.
TSR_API TSR_MUST_USE tsr_status tsr_jax_create_hybrid_device_mesh(
    const tsr_topology *topology, const int64_t *mesh_shape, const int64_t *dcn_mesh_shape,
    int rank, const tsr_jax_mesh_options *options, tsr_device_array *out_array);
// make_mesh: the first product(sizes) devices, axes Explicit unless they say otherwise; `axes`
// gives names, sizes and, when `use_types`, types.
TSR_API TSR_MUST_USE tsr_status tsr_jax_make_mesh(const tsr_topology *topology,
                                                  const tsr_axis *axes, int axis_count,
                                                  bool use_types, tsr_mesh **out_mesh);
// The same answer where there is one. Where the first devices form no box, or one that does not
// fit, takes others: of the boxes in the first slice one that fits the mesh, keeps whole axes of
// the torus, and is compact.
TSR_API TSR_MUST_USE tsr_status tsr_jax_make_mesh_in_box(const tsr_topology *topology,
                                                         const tsr_axis *axes, int axis_count,
                                                         bool use_types, tsr_mesh **out_mesh);
// Names for a device array.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_from_array(const tsr_topology *topology,
                                                    const tsr_device_array *array,
                                                    const char *const *names, tsr_mesh **out_mesh);

// ---- t5x (t5x.partitioning) ----

// A place or size in the machine: x, y, z, core on TPU (count 4); host, device elsewhere (count 2).
typedef struct tsr_hardware_mesh {
  int count;
  int64_t dims[4];
} tsr_hardware_mesh;

// bounds_from_last_device and get_coords for a device of the topology (by position in its list).
TSR_API bool tsr_t5x_bounds_from_last_device(const tsr_topology *topology, int64_t device,
                                             tsr_hardware_mesh *out_bounds);
TSR_API bool tsr_t5x_get_coords(const tsr_topology *topology, int64_t device,
                                tsr_hardware_mesh *out_coords);

// get_mesh: axes data and model. `local_process` is whose devices are the host tile (t5x: 0).
TSR_API TSR_MUST_USE tsr_status tsr_t5x_get_mesh(const tsr_topology *topology,
                                                 const tsr_hardware_mesh *submesh,
                                                 int64_t local_process, bool tile_by_host_if_needed,
                                                 tsr_mesh **out_mesh);
TSR_API TSR_MUST_USE tsr_status tsr_t5x_get_cpu_mesh(const tsr_topology *topology,
                                                     tsr_mesh **out_mesh);
TSR_API TSR_MUST_USE tsr_status tsr_t5x_get_gpu_mesh(const tsr_topology *topology,
                                                     int64_t num_partitions, tsr_mesh **out_mesh);

typedef struct tsr_t5x_mesh_options {
  size_t size;  // sizeof(tsr_t5x_mesh_options)
  int64_t num_partitions;
  const tsr_hardware_mesh *model_parallel_submesh;  // NULL or no sizes = none
  const int64_t *ici_mesh_shape, *dcn_mesh_shape;   // both or neither: replica, data, model
  int ici_rank, dcn_rank;
} tsr_t5x_mesh_options;
#define TSR_T5X_MESH_OPTIONS TSR_SIZED(tsr_t5x_mesh_options)
TSR_API TSR_MUST_USE tsr_status tsr_t5x_default_mesh(const tsr_topology *topology,
                                                     const tsr_t5x_mesh_options *options,
                                                     tsr_mesh **out_mesh);

// ---- eformer (eformer.escale.mesh) ----

typedef struct tsr_eformer_mesh_options {
  size_t size;               // sizeof(tsr_eformer_mesh_options)
  const int64_t *axis_dims;  // NULL = 1, -1, 1, 1, 1
  int axis_dim_count;
  const char *const *axis_names;  // NULL = dp, fsdp, ep, tp, sp
  int axis_name_count;
  const int64_t *dcn_mesh_dims;  // NULL = found
  int dcn_mesh_dim_count;
  bool keep_granule_order;          // should_sort_granules_by_key = false
  bool forbid_split_physical_axes;  // allow_split_physical_axes = false
  bool use_jax;                     // axes are Explicit unless types say otherwise
  const tsr_axis_type *axis_types;  // NULL = Auto (Explicit with use_jax)
  int axis_type_count;              // 1 = for all
  int64_t num_slices;               // 0 = as the devices say, else MEGASCALE_NUM_SLICES, else 1
} tsr_eformer_mesh_options;
#define TSR_EFORMER_MESH_OPTIONS TSR_SIZED(tsr_eformer_mesh_options)

TSR_API TSR_MUST_USE tsr_status tsr_eformer_create_mesh(const tsr_topology *topology,
                                                        const tsr_eformer_mesh_options *options,
                                                        tsr_mesh **out_mesh);
// parse_mesh_from_string: "dp:2,tp:4" or "2,4", completed to all devices.
TSR_API TSR_MUST_USE tsr_status tsr_eformer_parse_mesh(const tsr_topology *topology,
                                                       const char *text, const char *const *names,
                                                       int name_count, tsr_mesh **out_mesh);
// calculate_host_mesh_shape: the part of `global_shape` that one of `num_processes` hosts with
// `devices_per_host` devices each holds, so that outer axes go over hosts first.
TSR_API TSR_MUST_USE tsr_status tsr_eformer_host_mesh_shape(const int64_t *global_shape, int rank,
                                                            int64_t devices_per_host,
                                                            int64_t num_processes,
                                                            int64_t *out_shape);

// ---- ours ----

// Bytes a step moves over each axis, per collective; what a search weighs axes by.
typedef struct tsr_axis_traffic {
  int64_t bytes[TSR_COLLECTIVE_COUNT];
} tsr_axis_traffic;
// Tries the ways to lay the axes on the topology's physical axes (slices, x, y, z, cores; or hosts
// and devices) and keeps the one whose traffic costs least. The devices must fill a box of these.
// One size may be -1; `traffic` has one entry per axis; `out_seconds` may be NULL.
TSR_API TSR_MUST_USE tsr_status tsr_mesh_search(const tsr_topology *topology, const tsr_axis *axes,
                                                int axis_count, const tsr_axis_traffic *traffic,
                                                tsr_mesh **out_mesh, double *out_seconds);

TSR_END_DECLS

#endif
