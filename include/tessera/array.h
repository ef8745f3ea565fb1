// Arrays: tensors sharded over devices.
//
// An array is a layout (which shard each device holds), a dtype, a comm (where the devices are) and
// the buffers of the local devices. Its devices are numbers of the comm: the mesh's device ids, or
// mesh positions where the layout has no devices. A shard's buffer is row-major, of the layout's
// buffer shape. Padding and the bits after the last element are zero.
//
// Replicas in one process share a buffer, and so do arrays made from one another without moving
// data. Sharing is invisible: tsr_array_write copies a shared buffer first. Buffers come from the
// comm's pool.
//
//   TSR_OWN(array, rows);  // released at the end of the block: tessera/own.h
//   TSR_OWN(array, columns);
//   TSR_TRY(tsr_array_put(comm, mesh, "x, _", TSR_SHAPE(4, 6), TSR_F32, host, &rows));
//   TSR_TRY(tsr_array_reshard_to(rows, "_, y", &columns));
//   TSR_TRY(tsr_array_gather(columns, host, sizeof host, NULL));
//
// "Collective" means what tessera/comm.h says. Ranks compare dtypes, layouts by value (with the
// order of devices), the order of arrays, roots, paths and all options, but not memory and strides.
// Other functions may be called on one rank alone.
#ifndef TESSERA_ARRAY_H
#define TESSERA_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/buffer.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/layout.h"
#include "tessera/mesh.h"
#include "tessera/shape.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

// Reference counted. On a comm of one rank, several threads may read, gather and reshard an array
// at once. Over several ranks one thread makes the collective calls and others may read.
// tsr_array_write, donating and resharding into an array need it to themselves.
typedef struct tsr_array tsr_array;

TSR_API TSR_NONNULL tsr_array *tsr_array_retain(tsr_array *array);
TSR_API void tsr_array_release(tsr_array *array);  // NULL is fine

// ---- making ----

// All elements are zero. (Uninitialized: tsr_array_empty of tessera/engine/array.h.)
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_zeros(tsr_comm *comm,
                                                            const tsr_layout *layout,
                                                            tsr_dtype dtype, tsr_array **out_array);

// A tensor in host memory. Its address is that of element (0, 0, ...). Functions that write to it
// also take the size of the block in bytes. They fail with bad_argument before writing anything if
// the tensor, from its lowest element to its highest, does not fit.
typedef struct tsr_host_options {
  size_t size;             // sizeof(tsr_host_options)
  const int64_t *strides;  // in elements, one per dimension, may be 0 or negative; NULL = row-major
  // Use shards that are contiguous in host memory in place. The memory must stay unchanged until
  // `release` is called (without it: until the array and all made from it are released). `release`
  // is called once on success, at once if nothing was borrowed.
  bool borrow;
  tsr_release_fn *release;
  void *release_context;
  bool to_root;  // gather: only rank `root` gets the tensor; the others may pass NULL
  int root;
} tsr_host_options;
#define TSR_HOST_OPTIONS TSR_SIZED(tsr_host_options)

// jax.device_put. Every rank passes the whole tensor, but only elements of its own devices are
// read; `host` may be NULL where they hold none. NULL options: row-major, copied. Under unreduced
// axes the first member of each group gets the values and the others zeros; for max and min all get
// them.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 6) tsr_status
    tsr_array_shard(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype, const void *host,
                    const tsr_host_options *options, tsr_array **out_array);
// The common case: a row-major tensor in the layout of tsr_layout_from_text. `host` may be NULL
// where no local device holds an element.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3, 4, 7) tsr_status
    tsr_array_put(tsr_comm *comm, const tsr_mesh *mesh, const char *spec, const tsr_shape *shape,
                  tsr_dtype dtype, const void *host, tsr_array **out_array);

// The shard that one local device holds.
typedef struct tsr_local_shard {
  size_t size;  // sizeof(tsr_local_shard)
  int64_t device, position, shard;
  int64_t replica;  // JAX's replica id: number of mesh positions before it with the same ranges
  bool is_box;      // the elements are one box of the tensor; `ranges` is set only then
  tsr_range ranges[TSR_MAX_RANK];
  tsr_shape shape;                // of the elements
  tsr_shape buffer_shape;         // larger if the buffer is padded
  int64_t strides[TSR_MAX_RANK];  // of the buffer, in elements, row-major
  const void *data;
  int64_t bytes;  // of the buffer
  bool shared;    // another device, array or the caller holds the same memory
  bool borrowed;  // the memory is the caller's
} tsr_local_shard;
#define TSR_LOCAL_SHARD TSR_SIZED(tsr_local_shard)

// jax.make_array_from_callback: `fill` writes the elements of a shard to `data`. It is called once
// for each distinct local shard, from any worker of the comm.
typedef tsr_status tsr_array_fill_fn(void *context, const tsr_local_shard *shard, void *data);
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4, 6) tsr_status
    tsr_array_generate(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                       tsr_array_fill_fn *fill, void *context, tsr_array **out_array);

// ---- reading ----

TSR_API TSR_NONNULL tsr_dtype tsr_array_dtype(const tsr_array *array);
TSR_API TSR_NONNULL tsr_shape tsr_array_shape(const tsr_array *array);
TSR_API TSR_NONNULL const tsr_layout *tsr_array_layout(const tsr_array *array);
// Number of local devices.
TSR_API TSR_NONNULL int64_t tsr_array_local_count(const tsr_array *array);
// JAX's addressable_shards[index], in order of device number.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_local_at(const tsr_array *array,
                                                               int64_t index,
                                                               tsr_local_shard *out_shard);
// One line: `f32 (8, 16) over {x=4, y=2} as x, _: 8 of 8 devices here, 4 buffers, 512 B`.
TSR_API TSR_NONNULL void tsr_array_print(const tsr_array *array, tsr_text *out);

// ---- writing ----

// The memory of a local shard, for writing. A shared buffer is copied first; replicas keep their
// values.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_write(tsr_array *array, int64_t index,
                                                            void **out_data);
// Calls `fill` once for each distinct local shard, from any worker of the comm. `data` holds the
// present values (of the first replica, if replicas differ). Afterwards local replicas share the
// result. Memory that another array or the caller holds is copied first, once per shard. No
// communication. If `fill` fails, some shards may be written, but replicas stay equal.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2) tsr_status
    tsr_array_write_all(tsr_array *array, tsr_array_fill_fn *fill, void *context);

// ---- whole tensors ----

// Collective. jax.device_get: the whole tensor into host memory, on all ranks or on one. Unreduced
// arrays are reduced first. `host_bytes` is the size of `host`; ranks that do not get the tensor
// may pass NULL and 0.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_array_gather(tsr_array *array, void *host, int64_t host_bytes,
                     const tsr_host_options *options);

// ---- resharding ----

typedef enum tsr_reshard_method {
  TSR_RESHARD_DIRECT,  // by a copy plan: moves the fewest bytes possible
  // By the cheapest sequence of collectives (tessera/engine/sequence.h), with the same result.
  // Fails with no_sequence where there is none.
  TSR_RESHARD_SEQUENCE,
  TSR_RESHARD_METHOD_COUNT
} tsr_reshard_method;

typedef struct tsr_reshard_options {
  size_t size;  // sizeof(tsr_reshard_options)
  tsr_reshard_method method;
  bool donate;   // delete the source as soon as its memory is not needed
  bool unshare;  // the result never shares memory with the source
  // Direct copies only: permute the target's devices so that the fewest bytes move. The result's
  // layout says which device has which position.
  bool relabel;
  int64_t max_memory;  // of tsr_array_reshard_all: bytes of new buffers per round and process;
                       // 0 = unlimited
} tsr_reshard_options;
#define TSR_RESHARD_OPTIONS TSR_SIZED(tsr_reshard_options)

// Collective. The same tensor in another layout, on any devices of the comm. Axes unreduced in the
// source but not in the target are reduced on the way.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_array_reshard(tsr_array *array, const tsr_layout *layout,
                      const tsr_reshard_options *options, tsr_array **out_array);
// Collective. The common case: reshards to a spec in text form on the array's own mesh, under its
// own policy. Fails as tsr_layout_from_text and tsr_array_reshard do, and with bad_argument if the
// array has no mesh.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_reshard_to(tsr_array *array, const char *spec,
                                                                 tsr_array **out_array);

// Collective. Reshards into the buffers of `target`, an existing array of the same shape, dtype and
// comm; its layout is the target layout. A buffer that another array or the caller also holds is
// replaced, not written. Direct copies allocate nothing else; reductions and sequences allocate
// intermediate buffers. Fails with bad_argument for `target` == `array`, another dtype or
// `relabel`, and with shapes_differ. If data movement itself fails, the target's elements are
// undefined; any earlier failure leaves the target unchanged.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2) tsr_status
    tsr_array_reshard_into(tsr_array *array, tsr_array *target, const tsr_reshard_options *options);

TSR_END_DECLS

#endif
