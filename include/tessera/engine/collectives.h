// Collectives on buffers, for runtimes with arrays of their own and for authors of engines.
//
//   const tsr_groups groups = {1, 4, (int64_t[]){0, 1, 2, 3}};
//   TSR_TRY(tsr_comm_all_reduce(comm, &groups, TSR_F32, TSR_REDUCE_SUM, count, in, out));
//
// Lists of buffers (`in`, `out`) have one entry per *local* device, in order of device number. The
// entry of a device outside the groups may be NULL; so may the list on a rank without devices.
// Elements narrower than a byte are packed, the first in the lowest bits; bits after the last
// element are not written. "Collective" means what tessera/comm.h says.
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

// Rank r has devices first_device(r) to first_device(r + 1) - 1; first_device(rank_count) is
// device_count.
TSR_API TSR_NONNULL int64_t tsr_comm_first_device(const tsr_comm *comm, int rank);
// Number of local devices: the length of lists of buffers.
TSR_API TSR_NONNULL int64_t tsr_comm_local_count(const tsr_comm *comm);
// The rank of a device; -1 if there is none.
TSR_API TSR_NONNULL int tsr_comm_rank_of(const tsr_comm *comm, int64_t device);
// Index of a device in lists of buffers; -1 if it is not local.
TSR_API TSR_NONNULL int64_t tsr_comm_local_index(const tsr_comm *comm, int64_t device);
// The pool for buffers of arrays on this comm: from the options, or its own.
TSR_API TSR_NONNULL tsr_buffer_pool *tsr_comm_buffers(const tsr_comm *comm);
// The local workers; free to use between calls.
TSR_API TSR_NONNULL tsr_pool *tsr_comm_pool(const tsr_comm *comm);

// ---- collectives ----
//
// A buffer is `outer` blocks of `inner` elements. With the product of the dimensions before a
// dimension as `outer`, and of that dimension and those after it as `inner`, a collective works
// along any dimension of a row-major tensor.
//
// Buffers of one call must not overlap, except:
// - Members of a group with the same result may share one `out`; any devices may share an `in`.
// - all_reduce and broadcast may be in place (out == in).

// Collective. Every member's `out` has, for each of `outer` blocks, the `inner` elements of all
// members side by side: outer * size * inner elements.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2) tsr_status
    tsr_comm_all_gather(tsr_comm *comm, const tsr_groups *groups, tsr_dtype dtype, int64_t outer,
                        int64_t inner, const void *const *in, void *const *out);
// Collective. Every member's `out` gets the reduction of `count` elements over all members.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2) tsr_status
    tsr_comm_all_reduce(tsr_comm *comm, const tsr_groups *groups, tsr_dtype dtype, tsr_reduction op,
                        int64_t count, const void *const *in, void *const *out);
// Collective. `in` has outer * size * inner elements; member i gets piece i of every block of the
// reduction: outer * inner elements.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2) tsr_status
    tsr_comm_reduce_scatter(tsr_comm *comm, const tsr_groups *groups, tsr_dtype dtype,
                            tsr_reduction op, int64_t outer, int64_t inner, const void *const *in,
                            void *const *out);
// Collective. `in` is a row-major tensor of `shape`, split along dimension `split` into one piece
// per member. Piece i goes to member i, which concatenates what it receives along dimension
// `concat`, in order of senders. `split` and `concat` may be equal.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_comm_all_to_all(tsr_comm *comm, const tsr_groups *groups, tsr_dtype dtype,
                        const tsr_shape *shape, int split, int concat, const void *const *in,
                        void *const *out);
// Collective. The target of each pair gets the `count` elements of its source. A local device that
// is not a target but has an `out` gets zeros.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_comm_permute(tsr_comm *comm, const tsr_pair *pairs, int64_t pair_count, tsr_dtype dtype,
                     int64_t count, const void *const *in, void *const *out);
// Collective. Every member gets the `in` of member `root` of its group; other `in`s are not read.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2) tsr_status
    tsr_comm_broadcast(tsr_comm *comm, const tsr_groups *groups, int64_t root, tsr_dtype dtype,
                       int64_t count, const void *const *in, void *const *out);
// Collective. Returns when all ranks have called it.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_comm_barrier(tsr_comm *comm);
// Collective. An all-gather of a few kB of control data: `bytes` from every rank, in order of
// ranks. Both pointers may be NULL if `bytes` is 0.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_comm_share(tsr_comm *comm, const void *mine, size_t bytes, void *out_all);

// ---- any movement of data ----

// The copies of one array. `bits` is the width of an element. Each rank lists every copy with a
// local source or target. The copies from one rank to another have the same order on both. Copies
// to the same place of a buffer (of replicas that share `out`) must be equal; they are done once.
typedef struct tsr_exchange {
  const tsr_copy *copies;
  int64_t copy_count;
  int bits;
  const void *const *in;
  void *const *out;
} tsr_exchange;
// Collective. Does the copies of all arrays in one round: one message per pair of ranks, cut so
// that at most `in_flight` bytes are packed at once. Targets must not overlap each other or any
// source. Ranks compare the number of arrays, the widths of elements, and the copies between ranks.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_comm_exchange(tsr_comm *comm, const tsr_exchange *arrays, int64_t array_count);

TSR_END_DECLS

#endif
