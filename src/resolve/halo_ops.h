// Ops whose sharded dims move elements between devices, resolved by halo exchange.
#ifndef TESSERA_RESOLVE_HALO_OPS_H
#define TESSERA_RESOLVE_HALO_OPS_H

#include "resolve/halo.h"

// Replaces an op by an exchange where its sharded dims need one. `out_done` = it is settled: also
// where nothing moves. False: halos do not serve it, and its dims must be gathered.
typedef tsr_status tsr_halo_fn(tsr_resolving *r, tsr_op *op, bool *out_done);
tsr_halo_fn tsr_halo_pad, tsr_halo_slice, tsr_halo_reverse;

// A reshape whose dims are not divided by their axes: by an exchange where a dim is split,
// otherwise its uneven dims are gathered.
TSR_MUST_USE tsr_status tsr_resolve_reshape(tsr_resolving *r, tsr_op *op);

// Pads the operand of an exchange to even shards, with zeros if `padding` is NULL.
tsr_value *tsr_halo_even(tsr_site *site, const tsr_halo *halo, tsr_value *padding);
// Replaces the op of an exchange by `made`, trimmed to the type of its result.
TSR_MUST_USE tsr_status tsr_halo_replace(tsr_resolving *r, tsr_site *site, const tsr_halo *halo,
                                         tsr_value *made);

#endif
