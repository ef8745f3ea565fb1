// Comm: moving and reducing bytes between devices.
//
// A comm is a set of devices 0 .. device_count-1, some of which are here: all of them in the
// `threads` engine, a contiguous block of them per rank in others (`mpi`). The device ids of a mesh
// are a comm's devices. N devices are a loop index, not N threads: the work of a call is cut in
// tasks that as many workers as cores share.
//
// Lists of buffers (`in`, `out`) have one entry per *local* device, in order of device number. The
// entry of a device that takes no part may be NULL. Elements narrower than a byte are packed, the
// first in the lowest bits; the bits after a buffer's last element are left alone.
//
// A function that says "Collective" is called by all ranks with the same arguments but for the
// buffers, and fails on every rank or on none. Ranks compare a digest of what they ask for before
// anything moves: where one calls something else, or with other arguments, all fail with
// comm_mismatch, in the same words, which name the ranks and what differs, and the comm can be used
// afterwards. Results never depend on the number of workers or ranks: reductions follow a fixed
// tree over the members of a group.
#ifndef TESSERA_COMM_H
#define TESSERA_COMM_H

#include "tessera/buffer.h"
#include "tessera/copy.h"
#include "tessera/dtype.h"
#include "tessera/groups.h"
#include "tessera/pool.h"
#include "tessera/reduction.h"
#include "tessera/shape.h"
#include "tessera/status.h"

TSR_BEGIN_DECLS

// Shared by retain and release, from any threads. Collective calls are made by one thread at a time
// on each rank, in the same order on all ranks; functions that only look at it, and those of arrays
// that need no other rank, may run beside them.
typedef struct tsr_comm tsr_comm;

typedef struct tsr_comm_options {
  size_t size;       // sizeof(tsr_comm_options)
  int workers;       // threads of this process; 0 = tsr_cpu_count()
  double timeout;    // seconds without progress until a call fails; 0 = 300, negative = never
  size_t in_flight;  // bytes of packed messages at most; 0 = 64 MB
  // Reductions between ranks may follow the transport's own order, which some networks are built
  // for. Results are then the same on all ranks, but not those of other numbers of ranks.
  bool fast;
  // Where arrays on this comm have their memory from: several comms may share one pool, and it may
  // have an allocator of the caller's. Held until the comm is gone. NULL = a pool of its own, which
  // keeps up to a quarter of the machine's memory.
  tsr_buffer_pool *buffers;
} tsr_comm_options;
#define TSR_COMM_OPTIONS TSR_SIZED(tsr_comm_options)

// Makes a comm of the `threads` engine: all devices are in this process. NULL options are defaults.
TSR_API TSR_MUST_USE tsr_status tsr_comm_create(int64_t device_count,
                                                const tsr_comm_options *options,
                                                tsr_comm **out_comm);
// Makes a comm of the engine of that name: "threads", or "mpi", whose library is loaded (see
// docs/mpi.md: the one of the launcher that started the program, or what the variable TESSERA_MPI
// names) and shares the devices out to the ranks; 0 devices = one for each rank. Collective over
// the ranks.
//   TSR_TRY(tsr_comm_open("mpi", 0, NULL, &comm));  // starts MPI, and ends it with the comm
TSR_API TSR_MUST_USE tsr_status tsr_comm_open(const char *engine, int64_t device_count,
                                              const tsr_comm_options *options, tsr_comm **out_comm);
TSR_API tsr_comm *tsr_comm_retain(tsr_comm *comm);
TSR_API void tsr_comm_release(tsr_comm *comm);  // NULL is fine

TSR_API const char *tsr_comm_engine_name(const tsr_comm *comm);  // "threads"
TSR_API int64_t tsr_comm_device_count(const tsr_comm *comm);
TSR_API int tsr_comm_rank(const tsr_comm *comm);
TSR_API int tsr_comm_rank_count(const tsr_comm *comm);
// Rank r has the devices from first_device(r) to before first_device(r + 1); r = rank_count gives
// device_count.
TSR_API int64_t tsr_comm_first_device(const tsr_comm *comm, int rank);
TSR_API int64_t tsr_comm_local_count(const tsr_comm *comm);
TSR_API int tsr_comm_rank_of(const tsr_comm *comm, int64_t device);  // -1 when there is none
// Its place in lists of buffers; -1 for a device that is not here.
TSR_API int64_t tsr_comm_local_index(const tsr_comm *comm, int64_t device);
// Where arrays on this comm have their buffers from: what the options gave, or its own.
TSR_API tsr_buffer_pool *tsr_comm_buffers(const tsr_comm *comm);
TSR_API tsr_pool *tsr_comm_pool(const tsr_comm *comm);  // the workers here; may be used meanwhile

// ---- collectives ----
//
// A buffer is seen as `outer` blocks of `inner` elements: with the product of the dimensions before
// a dimension as `outer`, and its size times those after it as `inner`, a collective along any
// dimension of a row-major tensor needs no transposing copy.

// In all of these, buffers of one call must not overlap, but for what is said here:
// - Members of a group that get the same result may share one `out`, which is written once; any
//   devices may share an `in`.
// - all_reduce and broadcast may be in place (out == in).

// Collective. Every member's `out` has, for each of `outer` blocks, the `inner` elements of all
// members side by side: outer * size * inner elements.
TSR_API TSR_MUST_USE tsr_status tsr_comm_all_gather(tsr_comm *comm, const tsr_groups *groups,
                                                    tsr_dtype dtype, int64_t outer, int64_t inner,
                                                    const void *const *in, void *const *out);
// Collective. Every member's `out` has the `count` elements of all members reduced.
TSR_API TSR_MUST_USE tsr_status tsr_comm_all_reduce(tsr_comm *comm, const tsr_groups *groups,
                                                    tsr_dtype dtype, tsr_reduction op,
                                                    int64_t count, const void *const *in,
                                                    void *const *out);
// Collective. `in` has outer * size * inner elements; member i gets part i of every block of the
// reduced whole: outer * inner elements.
TSR_API TSR_MUST_USE tsr_status tsr_comm_reduce_scatter(tsr_comm *comm, const tsr_groups *groups,
                                                        tsr_dtype dtype, tsr_reduction op,
                                                        int64_t outer, int64_t inner,
                                                        const void *const *in, void *const *out);
// Collective. `in` is a row-major tensor of `shape`. It is cut along dimension `split` in as many
// parts as a group has members; part i goes to member i, who joins what it gets along dimension
// `concat`, in order of the senders. The two may be equal.
TSR_API TSR_MUST_USE tsr_status tsr_comm_all_to_all(tsr_comm *comm, const tsr_groups *groups,
                                                    tsr_dtype dtype, const tsr_shape *shape,
                                                    int split, int concat, const void *const *in,
                                                    void *const *out);
// Collective. Local devices that are no target but have an `out` get zeros.
TSR_API TSR_MUST_USE tsr_status tsr_comm_permute(tsr_comm *comm, const tsr_pair *pairs,
                                                 int64_t pair_count, tsr_dtype dtype, int64_t count,
                                                 const void *const *in, void *const *out);
// Collective. Every member gets the `in` of member `root` of its group; other `in`s are not read.
TSR_API TSR_MUST_USE tsr_status tsr_comm_broadcast(tsr_comm *comm, const tsr_groups *groups,
                                                   int64_t root, tsr_dtype dtype, int64_t count,
                                                   const void *const *in, void *const *out);
// Collective. Returns when all ranks have called it.
TSR_API TSR_MUST_USE tsr_status tsr_comm_barrier(tsr_comm *comm);
// Collective. Control data of a few kB: `bytes` from every rank, in order of ranks, to every rank.
TSR_API TSR_MUST_USE tsr_status tsr_comm_share(tsr_comm *comm, const void *mine, size_t bytes,
                                               void *out_all);

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
TSR_API TSR_MUST_USE tsr_status tsr_comm_exchange(tsr_comm *comm, const tsr_exchange *parts,
                                                  int64_t part_count);

// ---- what it costs ----

// A line through the measured times of messages between two devices, and how well it fits.
#define TSR_MEASURE_SIZES 8
typedef struct tsr_comm_fit {
  double alpha, beta;                 // a message of n bytes takes alpha + beta * n seconds
  double error;                       // how far off that is: root mean square of relative errors
  double noise;                       // by how much of it the median round exceeds the fastest,
                                      // of the size where that is worst
  int64_t bytes[TSR_MEASURE_SIZES];   // rising
  double seconds[TSR_MEASURE_SIZES];  // the fastest of several rounds
} tsr_comm_fit;
// Collective. Sends messages of up to `most_bytes` (0 = 16 MB) there and back, and fits the line by
// least squares of relative errors. Every rank gets the same answer.
TSR_API TSR_MUST_USE tsr_status tsr_comm_measure_between(tsr_comm *comm, int64_t a, int64_t b,
                                                         int64_t most_bytes, tsr_comm_fit *out_fit);

// Seconds of a message of n bytes: alpha + beta * n. Zero where there is nothing to measure: one
// device here, one rank.
typedef struct tsr_comm_cost {
  double local_alpha, local_beta;  // between two devices of one process
  double rank_alpha, rank_beta;    // between two ranks
} tsr_comm_cost;
// Collective. Measures both between the first devices that will do, as tsr_comm_measure_between
// does; takes about a second.
TSR_API TSR_MUST_USE tsr_status tsr_comm_measure(tsr_comm *comm, int64_t most_bytes,
                                                 tsr_comm_cost *out_cost);

TSR_END_DECLS

#endif
