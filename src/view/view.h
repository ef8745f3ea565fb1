// Views: tensors that can be read piece by piece.
//
// A view is a stored tensor, a cast of another view, a tensor made by a map, or an array in memory.
// Code that moves, compares or measures tensors works on views of any kind.
#ifndef TESSERA_VIEW_VIEW_H
#define TESSERA_VIEW_VIEW_H

#include "tessera/api.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/dtype.h"
#include "tessera/layout.h"
#include "tessera/shape.h"
#include "tessera/status.h"
#include "view/source_hashes.h"

typedef struct tsr_view tsr_view;

typedef struct tsr_view_ops {
  // Reads elements first .. first+count-1 in row-major order, packed; from any thread.
  tsr_status (*read)(const tsr_view *view, int64_t first, int64_t count, void *out);
  // Reads a box, a range for each dimension, dense and row-major; NULL = by runs of `read`.
  tsr_status (*read_box)(const tsr_view *view, const tsr_range *box, void *out);
  // Bytes of memory that reading `count` elements takes besides `out`.
  int64_t (*memory)(const tsr_view *view, int64_t count);
  void (*destroy)(tsr_view *view);
} tsr_view_ops;

struct tsr_view {
  const tsr_view_ops *ops;
  const char *name;  // lives as long as the source of the view
  tsr_dtype dtype;
  tsr_shape shape;
  int64_t elements;
  bool in_pieces;      // small reads (a few hundred kilobytes) cost no more than large ones
  int64_t origin;      // the (first) stored tensor or leaf that it is made of; -1 = none
  bool direct;         // it has the elements and the shape of its origin, apart from a cast
  int64_t bytes_read;  // of files, for the whole tensor
  int64_t least_read;  // the same without compared replicas
};

enum { TSR_INDEX_KEPT_FROM = 1 << 20 };  // bytes of a stored tensor whose view keeps a box index

typedef struct tsr_views {
  int64_t count;
  tsr_view **items;  // owned, with the views
} tsr_views;
void tsr_views_deinit(tsr_views *views);
int64_t tsr_views_bytes(const tsr_views *views);  // of all elements, each once

// The value an option means: `fallback` for TSR_REPLICAS_DEFAULT. Fails with bad_argument for a
// value that is not listed. Views compare replicas with TSR_REPLICAS_COMPARE only.
TSR_MUST_USE tsr_status tsr_replicas_choose(tsr_replicas option, tsr_replicas fallback,
                                            tsr_replicas *out_replicas);

// A tensor of a checkpoint, which the view retains. Fails unless the checkpoint has it.
TSR_MUST_USE tsr_status tsr_view_stored(const tsr_checkpoint *checkpoint, int64_t tensor,
                                        tsr_replicas replicas, tsr_view **out_view);
// Adds what is read of a stored tensor to the hashes of its source, which outlive the view.
void tsr_view_set_hashes(tsr_view *stored, tsr_source_hashes *hashes);
// All tensors of a checkpoint, in its order.
TSR_MUST_USE tsr_status tsr_views_of(const tsr_checkpoint *checkpoint, tsr_replicas replicas,
                                     tsr_views *out_views);
// `inner` with its elements converted. Owns `inner`, also when it fails. Overflow fails with
// cast_overflow, or is counted and converted as by tsr_convert.
TSR_MUST_USE tsr_status tsr_view_cast(tsr_view *inner, tsr_dtype dtype, bool allow_overflow,
                                      tsr_view **out_view);
// Elements that overflowed so far.
int64_t tsr_view_overflows(const tsr_view *view);
// Fails unless a mapping was applied to the tensors of this checkpoint, in any order.
TSR_MUST_USE tsr_status tsr_mapping_check_source(const tsr_mapping *mapping,
                                                 const tsr_checkpoint *checkpoint);
// The tensors of a mapping, in the order of its tree, made from views of its source's tensors. Owns
// the sources, also when it fails, and retains the mapping.
TSR_MUST_USE tsr_status tsr_views_map(tsr_views *sources, const tsr_mapping *mapping,
                                      tsr_views *out_views);

TSR_MUST_USE tsr_status tsr_view_read(const tsr_view *view, int64_t first, int64_t count,
                                      void *out);
TSR_MUST_USE tsr_status tsr_view_read_box(const tsr_view *view, const tsr_range *box, void *out);
int64_t tsr_view_memory(const tsr_view *view, int64_t count);
bool tsr_view_is_cast(const tsr_view *view);
void tsr_view_destroy(tsr_view *view);  // NULL is fine
// Bytes of `count` elements, packed.
int64_t tsr_view_bytes(const tsr_view *view, int64_t count);

#endif
