// A save as it is decided (save.c, writers.c) and done (save_run.c).
//
// A save is a transform whose views are arrays and whose windows are dealt to ranks. A window that
// its writer holds (near) is read from the arrays' buffers. One that it does not hold completely
// (far) is gathered in a buffer of the *stage* first.
#ifndef TESSERA_LOAD_SAVE_H
#define TESSERA_LOAD_SAVE_H

#include "array/array.h"
#include "job/transform.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/kernels.h"
#include "tessera/place.h"

// ---- views of arrays (array_view.c) ----

// Gathered windows, for the workers of this rank.
typedef struct tsr_staged {
  int64_t leaf, first;  // number of the leaf; its first element
  char *data;           // owned
} tsr_staged;
typedef struct tsr_save_stage {
  bool used;  // there are several ranks
  int count;
  tsr_staged *items;  // owned
} tsr_save_stage;

// A leaf as a view, whose origin is its index. The tree and the stage must outlive it. It reads
// elements that are on this rank or on the stage.
TSR_MUST_USE tsr_status tsr_view_of_leaf(const tsr_array_tree *tree, int64_t index,
                                         const tsr_save_stage *stage, tsr_view **out_view);
// The copies that give `count` elements from `first` on: `source` is a shard, `to` counts from
// `first`. `index` is of the array's layout.
TSR_MUST_USE tsr_status tsr_array_range_copies(const tsr_array *array, const tsr_box_index *index,
                                               int64_t first, int64_t count, tsr_box_copy_fn *fn,
                                               void *context);

// ---- the save ----

struct tsr_save {
  tsr_comm *comm;              // shared
  const tsr_array_tree *tree;  // shared
  tsr_transform *t;            // owned
  tsr_save_stage stage;
  int root;            // the rank that creates and finishes the files
  int32_t *writers;    // owned: a rank for each window
  int64_t *far;        // owned: far windows, by writer
  int64_t *first_far;  // owned: of each rank, and the end
  int64_t *near;       // owned: near windows of this rank
  int64_t near_count;
  tsr_save_certificate certificate;
  tsr_hash128 agreed;  // digest of what ranks compared
};

// The options as those of a transform.
tsr_transform_options tsr_save_transform(const tsr_save_options *options);
// Collective. Fails if ranks would save different things (save_compare.c), or with `found` of this
// rank.
TSR_MUST_USE tsr_status tsr_save_compare(tsr_save *save, const char *path,
                                         const tsr_save_options *options, tsr_status found);

// The array that a view or a window is of; NULL = a tensor in host memory.
const tsr_array *tsr_save_array_of(const tsr_save *save, const tsr_view *view);
const tsr_array *tsr_save_array(const tsr_save *save, const tsr_window *window);

// ---- who writes what (writers.c) ----

// Chooses the writers of all windows, equally on every rank.
TSR_MUST_USE tsr_status tsr_save_choose_writers(tsr_save *save);
// Adds the copies of a far window from and to this rank: from holders to the first device of its
// writer.
TSR_MUST_USE tsr_status tsr_save_list_copies(const tsr_save *save, int64_t window,
                                             tsr_copy_vector *out);

#endif
