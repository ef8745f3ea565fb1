// Arrays: tensors whose pieces lie on devices.
//
// An array is a layout (which piece each device holds), an element type, a comm (where the devices
// are) and the buffers of the devices that are here. Devices are the comm's: a mesh's device ids,
// or mesh positions where the layout has no devices. A shard's buffer is dense and row-major, of
// the layout's buffer shape; padding, and bits after the last element, are zero.
//
// Devices of one process that hold the same shard share one buffer. So do arrays, where one was
// made from the other without moving anything. Nobody sees it: tsr_array_write gives a private
// buffer first. Memory comes from the comm's pool of buffers and goes back to it.
//
//   TSR_OWN(array, rows);  // given back at the end of the block: tessera/own.h
//   TSR_OWN(array, columns);
//   TSR_TRY(tsr_array_put(comm, mesh, "x, _", TSR_SHAPE(4, 6), TSR_F32, host, &rows));
//   TSR_TRY(tsr_array_reshard_to(rows, "_, y", &columns));
//   TSR_TRY(tsr_array_gather(columns, host, sizeof host, NULL));
//
// "Collective" is meant as in tessera/comm.h: ranks compare element types, layouts by value (also
// the order of devices), the order of arrays, roots, paths and all options; memory and strides are
// each rank's own. The other functions may be called on one rank alone.
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

// Shared by retain and release. On a comm of one rank any threads may read an array at once: look
// at it, gather it, reshard it. Over several ranks one thread makes the collective calls, as
// tessera/comm.h says, and others may look. tsr_array_write, donating and resharding into it are
// not safe while another thread uses the array.
typedef struct tsr_array tsr_array;

TSR_API TSR_NONNULL tsr_array *tsr_array_retain(tsr_array *array);
TSR_API void tsr_array_release(tsr_array *array);  // NULL is fine

// ---- making ----

// All elements are zero. (Contents that the caller is about to write: tsr_array_empty of
// tessera/engine/array.h.)
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_zeros(tsr_comm *comm,
                                                            const tsr_layout *layout,
                                                            tsr_dtype dtype, tsr_array **out_array);

// A tensor in the caller's memory, beside its address, which is that of the element whose indices
// are all 0. Functions that write to it take the bytes of the block that it lies in, and fail with
// bad_argument, before anything is written, where these are fewer than lie between the first byte
// and the last that the tensor has there: with strides, from the lowest element to the highest.
typedef struct tsr_host_options {
  size_t size;             // sizeof(tsr_host_options)
  const int64_t *strides;  // in elements, one per dimension, negative and 0 too; NULL = row-major
  // Shards that are contiguous there (cuts of the first dimension) may stay where they are. The
  // memory must not change or go before `release` is called (NULL: before the array and all made
  // from it are gone). It is called once in any case, but for failures; at once when nothing was
  // borrowed.
  bool borrow;
  tsr_release_fn *release;
  void *release_context;
  bool to_root;  // gather: only rank `root` gets the tensor, and others may pass NULL
  int root;
} tsr_host_options;
#define TSR_HOST_OPTIONS TSR_SIZED(tsr_host_options)

// jax.device_put: cuts the whole tensor, which every rank gives (only what its devices hold is
// read; where they hold no element, `host` may be NULL). NULL options: row-major, copied. Under
// unreduced axes the first member of each group gets the values and the others get zeros, so that
// the sum is right; of maxima and minima all get them.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 6) tsr_status
    tsr_array_shard(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype, const void *host,
                    const tsr_host_options *options, tsr_array **out_array);
// The common case: a row-major tensor in the layout that a spec as text gives it on the mesh, as
// tsr_layout_from_text has it. `host` may be NULL where no device here holds an element.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 3, 4, 7) tsr_status
    tsr_array_put(tsr_comm *comm, const tsr_mesh *mesh, const char *spec, const tsr_shape *shape,
                  tsr_dtype dtype, const void *host, tsr_array **out_array);

// What one device of an array holds.
typedef struct tsr_array_part {
  size_t size;  // sizeof(tsr_array_part)
  int64_t device, position, shard;
  int64_t replica;  // as JAX counts: devices before it on the mesh with the same ranges
  bool is_box;      // its elements are one box of the tensor: `ranges`, else these are not set
  tsr_range ranges[TSR_MAX_RANK];
  tsr_shape shape;                // of its elements
  tsr_shape buffer_shape;         // of the buffer: larger where it is padded
  int64_t strides[TSR_MAX_RANK];  // of the buffer, in elements: row-major
  const void *data;
  int64_t bytes;  // of the buffer
  bool shared;    // others (devices, arrays, the caller) hold the same memory
  bool borrowed;  // it is the caller's memory
} tsr_array_part;
#define TSR_ARRAY_PART TSR_SIZED(tsr_array_part)

// jax.make_array_from_callback: `fill` writes the elements of a part to `data`, once for each
// distinct shard here, from any worker of the comm.
typedef tsr_status tsr_array_fill_fn(void *context, const tsr_array_part *part, void *data);
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4, 6) tsr_status
    tsr_array_generate(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                       tsr_array_fill_fn *fill, void *context, tsr_array **out_array);

// ---- looking ----

TSR_API TSR_NONNULL tsr_dtype tsr_array_dtype(const tsr_array *array);
TSR_API TSR_NONNULL tsr_shape tsr_array_shape(const tsr_array *array);
TSR_API TSR_NONNULL const tsr_layout *tsr_array_layout(const tsr_array *array);
// How many of its devices are here.
TSR_API TSR_NONNULL int64_t tsr_array_local_count(const tsr_array *array);
// addressable_shards[index], in order of device number.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_local_at(const tsr_array *array,
                                                               int64_t index,
                                                               tsr_array_part *out_part);
// One line: `f32 (8, 16) over {x=4, y=2} as x, _: 8 of 8 devices here, 4 buffers, 512 B`.
TSR_API TSR_NONNULL void tsr_array_print(const tsr_array *array, tsr_text *out);

// ---- writing ----

// The memory of a local part, to write to: copied first if anyone else holds it. Replicas on other
// devices keep what they have.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_write(tsr_array *array, int64_t index,
                                                            void **out_data);
// All distinct shards here, each once: `fill` writes at `data`, which holds the shard's present
// values (where replicas differ, those of the first), from any worker of the comm. Replicas share
// what it wrote, so that the array takes no more memory than before; memory that is also another
// array's or the caller's is copied first, once for each shard. No communication: every rank writes
// its own. Where `fill` fails, shards may have been written or not, but replicas are the same.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2) tsr_status
    tsr_array_write_all(tsr_array *array, tsr_array_fill_fn *fill, void *context);

// ---- whole tensors ----

// Collective. jax.device_get: the whole tensor into the caller's memory, on all ranks or on one.
// Without communication where everything is here. Unreduced arrays are reduced first. `host_bytes`
// are those of `host`; on ranks that do not get the tensor, NULL and 0 are right.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_array_gather(tsr_array *array, void *host, int64_t host_bytes,
                     const tsr_host_options *options);

// ---- resharding ----

typedef enum tsr_reshard_method {
  TSR_RESHARD_DIRECT,  // by a copy plan: the fewest bytes there can be
  // By the cheapest sequence of collectives (tessera/engine/sequence.h), as a program would do it
  // that has nothing else: the same result. Fails with no_sequence where there is none.
  TSR_RESHARD_SEQUENCE,
  TSR_RESHARD_METHOD_COUNT
} tsr_reshard_method;

typedef struct tsr_reshard_options {
  size_t size;  // sizeof(tsr_reshard_options)
  tsr_reshard_method method;
  bool donate;   // the source is deleted and its memory given back as soon as it is not needed
  bool unshare;  // the result never shares memory with the source
  // Direct copies only: the target's devices may change places, so that the fewest bytes move. The
  // result's layout says which device has which position.
  bool relabel;
  int64_t max_memory;  // of tsr_array_reshard_all: bytes of new buffers per round and process;
                       // 0 = unlimited
} tsr_reshard_options;
#define TSR_RESHARD_OPTIONS TSR_SIZED(tsr_reshard_options)

// Collective. The same tensor in another layout of the same shape, on any devices of the comm.
// Axes that are unreduced in the source but not in the target are reduced on the way.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_array_reshard(tsr_array *array, const tsr_layout *layout,
                      const tsr_reshard_options *options, tsr_array **out_array);
// Collective. The common case: the layout that a spec as text gives the array's tensor on its own
// mesh, under its own policy. (On another mesh: tsr_layout_from_text, then tsr_array_reshard.)
// Fails as those two do, and with bad_argument for an array that lies on no mesh.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_array_reshard_to(tsr_array *array, const char *spec,
                                                                 tsr_array **out_array);

// Collective. The same into an array that is there, of the same shape and element type on the same
// comm: its layout is the target, and its buffers take the result. What others hold of them
// (arrays, the caller) is not written to: the target gets buffers of its own in their place, as
// tsr_array_write gives them, and replicas in one process hold one. Direct copies allocate nothing
// else; reductions and sequences have buffers for what is between, until they return. Fails with
// bad_argument for the array itself, another element type and `relabel`, with shapes_differ for
// another shape. A failure leaves the target as it was until all ranks are ready to move data;
// after that its elements are lost.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2) tsr_status
    tsr_array_reshard_into(tsr_array *array, tsr_array *target, const tsr_reshard_options *options);

TSR_END_DECLS

#endif
