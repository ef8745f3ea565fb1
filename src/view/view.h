// Views: tensors that can be read piece by piece, wherever they come from.
//
// A stored tensor is one, and so is one that is cast, or made of others by a map. Whoever moves,
// compares or counts tensors works on views, and so on all of these alike.
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
  // Elements first .. first+count-1 of the row-major tensor, packed; from any thread.
  tsr_status (*read)(const tsr_view *view, int64_t first, int64_t count, void *out);
  // A box of it, a range for each dimension, dense and row-major; NULL = by runs of `read`.
  tsr_status (*read_box)(const tsr_view *view, const tsr_range *box, void *out);
  // Bytes of memory that reading `count` elements takes, besides `out`.
  int64_t (*memory)(const tsr_view *view, int64_t count);
  // Bytes of files that reading all of it reads, with or without the replicas that it compares.
  int64_t (*bytes_read)(const tsr_view *view, bool replicas);
  // The stored tensor that it is made of, the first of several; -1 = none. `*out_same` is whether
  // its elements are that one's, whatever their type, in the same shape.
  int64_t (*origin)(const tsr_view *view, bool *out_same);
  void (*destroy)(tsr_view *view);
} tsr_view_ops;

struct tsr_view {
  const tsr_view_ops *ops;
  const char *name;  // lives as long as what the view is made of
  tsr_dtype dtype;
  tsr_shape shape;
  int64_t elements;
  bool in_pieces;  // reading a few hundred kilobytes at a time costs no more than reading megabytes
};

enum { TSR_INDEX_KEPT_FROM = 1 << 20 };  // bytes of a stored tensor whose view keeps a box index

typedef struct tsr_views {
  int64_t count;
  tsr_view **items;  // owned, with the views
} tsr_views;
void tsr_views_deinit(tsr_views *views);

// The value an option means: `fallback` for TSR_REPLICAS_DEFAULT. Fails with bad_argument for a
// value that is not listed. Views compare replicas with TSR_REPLICAS_COMPARE only.
TSR_MUST_USE tsr_status tsr_replicas_choose(tsr_replicas option, tsr_replicas fallback,
                                            tsr_replicas *out_replicas);

// A tensor of a checkpoint. The view shares the checkpoint.
TSR_MUST_USE tsr_status tsr_view_stored(const tsr_checkpoint *checkpoint, int64_t tensor,
                                        tsr_replicas replicas, tsr_view **out_view);
// Holds what is read of a stored tensor against the hashes of its source, which outlive the view.
void tsr_view_set_hashes(tsr_view *stored, tsr_source_hashes *hashes);
// All of its tensors, in its order.
TSR_MUST_USE tsr_status tsr_views_of(const tsr_checkpoint *checkpoint, tsr_replicas replicas,
                                     tsr_views *out_views);
// What becomes of numbers that a cast has no place for: a failure with cast_overflow, or what
// tsr_convert makes of them, counted.
typedef enum tsr_overflowing { TSR_OVERFLOW_REFUSED, TSR_OVERFLOW_COUNTED } tsr_overflowing;

// Another view with its elements converted. Takes `inner` over, also when it fails.
TSR_MUST_USE tsr_status tsr_view_cast(tsr_view *inner, tsr_dtype dtype, tsr_overflowing overflowing,
                                      tsr_view **out_view);
// How many numbers did not fit of those that were read so far.
int64_t tsr_view_overflows(const tsr_view *view);
// Refuses a mapping that was applied to other tensors than a checkpoint's, whatever their order.
TSR_MUST_USE tsr_status tsr_mapping_check_source(const tsr_mapping *mapping,
                                                 const tsr_checkpoint *checkpoint);
// The tensors of a mapping made of views of its source's tensors, in the order of its tree. Takes
// the sources over, also when it fails; the views share the mapping.
TSR_MUST_USE tsr_status tsr_views_map(tsr_views *sources, const tsr_mapping *mapping,
                                      tsr_views *out_views);

TSR_MUST_USE tsr_status tsr_view_read(const tsr_view *view, int64_t first, int64_t count,
                                      void *out);
TSR_MUST_USE tsr_status tsr_view_read_box(const tsr_view *view, const tsr_range *box, void *out);
int64_t tsr_view_memory(const tsr_view *view, int64_t count);
int64_t tsr_view_bytes_read(const tsr_view *view);
int64_t tsr_view_least_read(const tsr_view *view);  // the same without replicas
bool tsr_view_is_cast(const tsr_view *view);
int64_t tsr_view_origin(const tsr_view *view, bool *out_same);
void tsr_view_destroy(tsr_view *view);  // NULL is fine
// Bytes that `count` of its elements take, packed.
int64_t tsr_view_bytes(const tsr_view *view, int64_t count);

#endif
