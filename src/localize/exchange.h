// Elements of a sharded dimension that devices need of each other.
//
// Every device asks for a range of the whole dimension: where it begins depends on the device, its
// length and stride do not. Each pair of devices whose shards and ranges meet exchanges the
// elements in common, by one permute for each distance between two such devices; or the dimension
// is gathered and each device slices its range out, where that moves no more.
#ifndef TESSERA_LOCALIZE_EXCHANGE_H
#define TESSERA_LOCALIZE_EXCHANGE_H

#include "localize/localize.h"

typedef struct tsr_range_ask {
  const tsr_tensor_sharding *cut;  // of the tensor
  int dim;
  bool whole;             // every device has all of the dim already: only the ranges are cut
  const int64_t *starts;  // of each shard's range, in elements of the whole dim; may be outside
  int64_t stride, length;
  int64_t others;   // elements that are sent for other ranges of the tensor: a gather serves all
  tsr_value *fill;  // a scalar for what lies outside the whole dim; NULL = anything
} tsr_range_ask;

// The range of the device that runs it, of the local tensor `x`. NULL = the site has a failure.
tsr_value *tsr_exchange_range(tsr_localizing *l, tsr_site *site, tsr_value *x,
                              const tsr_range_ask *ask);
// The same of a dim whose elements are `gaps` apart, with fill between them: starts are places in
// the dim with its gaps, and the stride is 1.
tsr_value *tsr_exchange_spread(tsr_localizing *l, tsr_site *site, tsr_value *x,
                               const tsr_range_ask *ask, int64_t gaps);
// A number for each shard of a dim: that of the device that runs it, an i64.
tsr_value *tsr_site_by_shard(tsr_localizing *l, tsr_site *site, const tsr_tensor_sharding *cut,
                             int dim, const int64_t *numbers);
// Elements of the dim that a device sends by permutes, of shards of `size`.
int64_t tsr_range_sent(tsr_localizing *l, const tsr_range_ask *ask, int64_t size);
// Whether a dim of a local value is gathered at the site anyway: it was, or something else asks for
// it.
bool tsr_dim_is_gathered(const tsr_localizing *l, const tsr_site *site, const tsr_value *x, int dim,
                         const tsr_sdy_parts *axes);
// A table of starts for the shards of a dim: first + shard * step. NULL without memory.
int64_t *tsr_range_starts(tsr_localizing *l, int64_t shards, int64_t first, int64_t step);

// ---- ops in the option `exchange` (localize_exchange.c) ----

// Whether the dims of a tensor have the same axes on both sides of an op.
TSR_MUST_USE tsr_status tsr_check_same_axes(const tsr_op *op, const tsr_whole *from, int from_dim,
                                            const tsr_whole *to, int to_dim);
// Windows along a dim of an operand.
typedef struct tsr_window_ask {
  int dim, result_dim;
  int64_t size, stride, dilation, low, gaps;
} tsr_window_ask;
// What the windows of the device's results cover of operand `index`, which was `from` whole.
TSR_MUST_USE tsr_status tsr_exchange_window(tsr_localizing *l, tsr_op *op, int index,
                                            const tsr_whole *from, const tsr_window_ask *window,
                                            tsr_value *fill);
// Whether a reduce_window of a dim of `size` is a cumulative reduction whose parts can be combined,
// and that of a sharded one (localize_cumulative.c).
TSR_MUST_USE tsr_status tsr_is_cumulative(tsr_ir *ir, const tsr_op *op,
                                          const tsr_window_ask *window, int64_t high, int64_t size,
                                          bool *out);
TSR_MUST_USE tsr_status tsr_localize_cumulative(tsr_localizing *l, tsr_op *op,
                                                const tsr_whole *input, int dim);
// Entry `index` of a list of numbers of an op; `otherwise` where it has no such list.
int64_t tsr_list_number(const tsr_op *op, const char *name, int64_t index, int64_t otherwise);
// Sets entry `index` of a list of numbers, if the op has the list.
TSR_MUST_USE tsr_status tsr_set_number(tsr_localizing *l, tsr_op *op, const char *name,
                                       int64_t index, int64_t number);
tsr_localize_fn tsr_exchange_pad, tsr_exchange_concatenate;
// A slice or pad that has nothing left to do is replaced by its operand.
tsr_localize_fn tsr_exchange_ends;
// Gets a sliced dim of the operand, as the result needs it.
TSR_MUST_USE tsr_status tsr_exchange_slice(tsr_localizing *l, tsr_op *op, int dim,
                                           const tsr_whole *from, int64_t made);

#endif
