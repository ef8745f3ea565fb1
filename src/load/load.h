// A load as it is decided (load.c, readers.c) and done (load_read.c, load_share.c).
//
// *Who reads what* is decided for all ranks by each of them in the same way: a shard that several
// ranks hold is read by one of them, or by all, a piece each. *In which order* is decided by each
// rank alone: it cuts what it reads into windows and sorts them by their place in the files.
#ifndef TESSERA_LOAD_LOAD_H
#define TESSERA_LOAD_LOAD_H

#include "array/array.h"
#include "base/progress_internal.h"
#include "load/read_batch.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/pool.h"
#include "view/select.h"
#include "view/view.h"

enum { TSR_READER_ALL = -1 };  // every rank that holds the shard reads a piece of it

// A shard that this rank holds, and what of it this rank reads: all elements or only those it owns;
// a range of one dimension of its buffer, or (dim -1) all.
typedef struct tsr_load_slot {
  int64_t shard, device;
  char *data;  // its buffer; NULL before the run
  bool owned_only;
  int dim;
  tsr_range range;
} tsr_load_slot;

typedef struct tsr_load_tensor {
  const tsr_view *view;      // borrowed
  const tsr_layout *layout;  // owned
  bool overlaps;             // some elements are in several shards
  bool moves;                // some rank sends some of it
  tsr_box_index *index;      // owned: of the stored tensor's layout
  int32_t *readers;          // owned: a rank, or all, for each shard; NULL if ranks read alone
  int64_t slot_count;
  tsr_load_slot *slots;  // owned; by shard
} tsr_load_tensor;

struct tsr_load {
  const tsr_checkpoint *checkpoint;  // shared
  tsr_comm *comm;                    // shared; NULL for one shard
  tsr_pool *pool;                    // the comm's, or the caller's
  tsr_load_options options;
  tsr_views views;
  tsr_load_tensor *tensors;  // owned; in the order of the views
  int64_t count;
  int64_t *order;   // owned: the tensors in file order
  int64_t *rounds;  // owned: the first of each round in that order, and the end
  int64_t window_bytes;
  atomic_bool *touched;  // owned: files that were read from
  tsr_load_certificate certificate;
  tsr_load_report report;
  tsr_hash128 agreed;        // digest of what ranks compared
  int64_t overflows_before;  // of views, before this run
};

// ---- deciding (load.c) ----

// The tensors that a load with these options gives, with their dtypes: the tree to make its plan
// for. `planned_only` has no effect.
TSR_MUST_USE tsr_status tsr_load_tree(const tsr_checkpoint *checkpoint,
                                      const tsr_load_options *options, tsr_tree **out_tree);
// A tensor without slots. Owns the layout, also when it fails.
TSR_MUST_USE tsr_status tsr_load_tensor_init(tsr_load_tensor *t, const tsr_load *load,
                                             const tsr_view *view, const tsr_layout *layout);
// Chooses the size of windows.
TSR_MUST_USE tsr_status tsr_load_fit_memory(tsr_load *load);
// Bytes of elements as stored, or as a map makes them.
int64_t tsr_load_stored_bytes(const tsr_load *load, const tsr_load_tensor *t, int64_t elements);
// Collective. Fails on all ranks if it fails on one; a local failure names this rank.
TSR_MUST_USE tsr_status tsr_load_agree(tsr_comm *comm, const char *what, tsr_status found);
TSR_MUST_USE tsr_status tsr_load_agree_on(const tsr_call *c, tsr_status found);

// ---- what ranks compare (load_compare.c) ----

// Of the patterns, dtypes and map of a load or a save.
tsr_hash128 tsr_selection_digest(const tsr_selection *selection);
void tsr_selection_describe(const tsr_selection *selection, tsr_text *out);
// Collective. Fails if ranks would load different things, or with `found` of this rank.
TSR_MUST_USE tsr_status tsr_load_compare(tsr_load *load, tsr_status found);

// ---- who reads what (readers.c) ----

// A rank that holds a shard, on its first device that does.
typedef struct tsr_holder {
  int rank;
  int64_t device;
} tsr_holder;
// The holders in order of ranks; `out` has room for all replicas. Returns their number.
int64_t tsr_load_holders(const tsr_comm *comm, const tsr_layout *layout, int64_t shard,
                         tsr_holder *out);
// Chooses the readers of all tensors and what the slots of this rank read.
TSR_MUST_USE tsr_status tsr_load_choose_readers(tsr_load *load);
// The dimension along which `count` ranks divide a shard, -1 = they cannot; and the range that rank
// number `index` of them reads.
int tsr_load_split_dim(const tsr_load_tensor *t, int64_t shard, int64_t count);
tsr_range tsr_load_piece(const tsr_load_tensor *t, int64_t shard, int dim, int64_t count,
                         int64_t index);

// ---- what a rank reads, as windows in file order (load_tasks.c) ----

// The windows of a tensor: the bounding box of what is read, cut along one dimension and at each
// index of the dimensions before it.
typedef struct tsr_load_windows {
  int64_t tensor;
  tsr_range hull[TSR_MAX_RANK];
  int dim;
  int64_t rows;   // of a window
  int64_t along;  // windows along the dimension
  int64_t count;
  int64_t bytes;  // read in all of them
  int64_t runs;   // in each, estimated
} tsr_load_windows;
void tsr_load_window(const tsr_load_windows *windows, int rank, int64_t index, tsr_range *out_box);

// Windows first .. first+count-1 of a tensor, read by one worker.
typedef struct tsr_load_task {
  int64_t windows;  // number in the list
  int64_t first, count;
  int file;
  int64_t offset;  // of their first byte
  int64_t bytes;
} tsr_load_task;

typedef struct tsr_load_tasks {
  tsr_load_windows *windows;  // owned
  tsr_load_task *items;       // owned
  int64_t count, capacity;
  // Job j of a worker is tasks firsts[j] to firsts[j + 1] - 1.
  int64_t *firsts;  // owned
  int64_t job_count;
} tsr_load_tasks;
// A piece as a copy: from a dense box, or between buffers of equal shape.
tsr_copy tsr_load_piece_copy(const tsr_piece *piece, int rank, bool dense);
TSR_MUST_USE tsr_status tsr_load_tasks_init(tsr_load_tasks *tasks, const tsr_load *load,
                                            const int64_t *tensors, int64_t count);
void tsr_load_tasks_deinit(tsr_load_tasks *tasks);

// ---- reading (load_tasks.c, load_read.c) ----

// The next piece of a slot that this rank reads, clipped to a box unless that is NULL.
bool tsr_load_next_piece(const tsr_load_tensor *t, const tsr_load_slot *slot, tsr_pieces *pieces,
                         const tsr_range *box, tsr_piece *out_piece);
// Elements of a slot that this rank reads.
TSR_MUST_USE tsr_status tsr_load_slot_elements(const tsr_load_tensor *t, const tsr_load_slot *slot,
                                               int64_t *out_elements);
// Reads the slots of some tensors, given by their numbers, and adds to the report. `progress` may
// be NULL.
TSR_MUST_USE tsr_status tsr_load_read(tsr_load *load, const int64_t *tensors, int64_t count,
                                      tsr_progress *progress);

// ---- sending (load_share.c) ----

// Copies of several tensors or windows that ranks exchange in one call.
typedef struct tsr_exchanged {
  int bits;                // of an element
  tsr_copy_vector copies;  // owned
  tsr_lists lists;         // owned: buffers
} tsr_exchanged;
typedef struct tsr_exchanges {
  int count;
  tsr_exchanged *items;  // owned
  tsr_exchange *calls;   // owned: the items as the exchange takes them
} tsr_exchanges;
// Room for `most`. `end` also after a failure.
TSR_MUST_USE tsr_status tsr_exchanges_init(tsr_exchanges *exchanges, int64_t most);
// One more, without copies and buffers, which the caller fills in.
TSR_MUST_USE tsr_status tsr_exchanges_add(tsr_exchanges *exchanges, const tsr_comm *comm, int bits,
                                          tsr_exchanged **out_item);
// Collective: exchanges them unless ranks have `agreed` on a failure, and frees them.
TSR_MUST_USE tsr_status tsr_exchanges_end(tsr_exchanges *exchanges, tsr_comm *comm,
                                          tsr_status agreed);

// Adds the copies of a tensor from and to this rank.
TSR_MUST_USE tsr_status tsr_load_list_copies(const tsr_load *load, const tsr_load_tensor *t,
                                             tsr_copy_vector *out);
// Collective. Sends to other ranks what they need.
TSR_MUST_USE tsr_status tsr_load_share(const tsr_load *load, const int64_t *tensors, int64_t count);

#endif
