// Collectives: what a comm does with buffers, for runtimes that have their own arrays, and for
// those who write engines.
//
//   const tsr_groups groups = {1, 4, (int64_t[]){0, 1, 2, 3}};
//   TSR_TRY(tsr_comm_all_reduce(comm, &groups, TSR_F32, TSR_REDUCE_SUM, count, in, out));
//
// Lists of buffers (`in`, `out`) have one entry per *local* device, in order of device number. The
// entry of a device that takes no part may be NULL, and so may be the list on a rank without
// devices. Elements narrower than a byte are packed, the first in the lowest bits; the bits
// after a buffer's last element are left alone. What "collective" means is said in tessera/comm.h.
#ifndef TESSERA_ENGINE_COLLECTIVES_H
#define TESSERA_ENGINE_COLLECTIVES_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/buffer.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "tessera/reduction.h"
#include "tessera/shape.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// ---- which devices are where ----

// Rank r has the devices from first_device(r) to before first_device(r + 1); r = rank_count gives
// device_count.
TSR_API TSR_NONNULL int64_t tsr_comm_first_device(const tsr_comm *comm, int rank);
// How many devices are here: the length of lists of buffers.
TSR_API TSR_NONNULL int64_t tsr_comm_local_count(const tsr_comm *comm);
// The rank that has a device; -1 when there is none.
TSR_API TSR_NONNULL int tsr_comm_rank_of(const tsr_comm *comm, int64_t device);
// Its place in lists of buffers; -1 for a device that is not here.
TSR_API TSR_NONNULL int64_t tsr_comm_local_index(const tsr_comm *comm, int64_t device);
// Where arrays on this comm have their buffers from: what the options gave, or its own.
TSR_API TSR_NONNULL tsr_buffer_pool *tsr_comm_buffers(const tsr_comm *comm);
// The workers here; may be used meanwhile.
TSR_API TSR_NONNULL tsr_pool *tsr_comm_pool(const tsr_comm *comm);

// ---- collectives ----
//
// A buffer is seen as `outer` blocks of `inner` elements: with the product of the dimensions before
// a dimension as `outer`, and its size times those after it as `inner`, a collective along any
// dimension of a row-major tensor needs no transposing copy.
//
// In all of these, buffers of one call must not overlap, but for what is said here:
// - Members of a group that get the same result may share one `out`, which is written once; any
//   devices may share an `in`.
// - all_reduce and broadcast may be in place (out == in).

// Collective. Every member's `out` has, for each of `outer` blocks, the `inner` elements of all
// members side by side: outer * size * inner elements.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2) tsr_status
    tsr_comm_all_gather(tsr_comm *comm, const tsr_groups *groups, tsr_dtype dtype, int64_t outer,
                        int64_t inner, const void *const *in, void *const *out);
// Collective. Every member's `out` has the `count` elements of all members reduced.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2) tsr_status
    tsr_comm_all_reduce(tsr_comm *comm, const tsr_groups *groups, tsr_dtype dtype, tsr_reduction op,
                        int64_t count, const void *const *in, void *const *out);
// Collective. `in` has outer * size * inner elements; member i gets part i of every block of the
// reduced whole: outer * inner elements.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2) tsr_status
    tsr_comm_reduce_scatter(tsr_comm *comm, const tsr_groups *groups, tsr_dtype dtype,
                            tsr_reduction op, int64_t outer, int64_t inner, const void *const *in,
                            void *const *out);
// Collective. `in` is a row-major tensor of `shape`. It is cut along dimension `split` in as many
// parts as a group has members; part i goes to member i, who joins what it gets along dimension
// `concat`, in order of the senders. The two may be equal.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_comm_all_to_all(tsr_comm *comm, const tsr_groups *groups, tsr_dtype dtype,
                        const tsr_shape *shape, int split, int concat, const void *const *in,
                        void *const *out);
// Collective. The target of each pair gets the `count` elements of its source. Local devices that
// are no target but have an `out` get zeros.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_comm_permute(tsr_comm *comm, const tsr_pair *pairs, int64_t pair_count, tsr_dtype dtype,
                     int64_t count, const void *const *in, void *const *out);
// Collective. Every member gets the `in` of member `root` of its group; other `in`s are not read.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2) tsr_status
    tsr_comm_broadcast(tsr_comm *comm, const tsr_groups *groups, int64_t root, tsr_dtype dtype,
                       int64_t count, const void *const *in, void *const *out);
// Collective. Returns when all ranks have called it.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_comm_barrier(tsr_comm *comm);
// Collective. Control data of a few kB: `bytes` from every rank, in order of ranks, to every rank.
// Both may be NULL where `bytes` is 0.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_comm_share(tsr_comm *comm, const void *mine, size_t bytes, void *out_all);

// ---- any movement of data ----

// The copies of one array: `source` and `target` are devices, `bits` the width of an element. Each
// rank lists every copy that has its source or its target here, and the copies from one rank to
// another stand in the same order on both. Copies to one place of one buffer must be equal: they
// are made by replicas that share their `out`, and done once.
typedef struct tsr_exchange {
  const tsr_copy *copies;
  int64_t copy_count;
  int bits;
  const void *const *in;
  void *const *out;
} tsr_exchange;
// Collective. Does the copies of all parts (arrays) in one round: one message per pair of ranks,
// cut so that no more than `in_flight` bytes are packed at once. Targets must not overlap, nor
// overlap any source. Ranks compare the number of parts, the widths of elements, and the copies
// that go from one to another.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_comm_exchange(tsr_comm *comm, const tsr_exchange *parts, int64_t part_count);

TSR_END_DECLS

#endif
