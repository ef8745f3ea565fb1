// Spec: what users write about how a tensor is laid out, before any mesh is known.
//
// A spec keeps what its text says: unknown axes, repeated axes and a wrong length are legal here.
// Binding it to a mesh checks them (tessera/engine/sharding.h). Each dimension has a list of
// *stages*, major to minor; each stage divides the shards of the one before. Usually there is one
// stage of plain axes (JAX's rule: the axes together cut the dimension into even chunks).
//
// Text, one value in three notations:
//   short     data, _, fsdp+tp            our own, can express everything (below)
//   jax       P('data', None, ('fsdp', 'tp'))
//   shardy    #sdy.sharding<@mesh, [{"data"}, {}, {"fsdp", "tp"}]>
// (XLA and PyTorch notations name no axes: tessera/compat/hlo.h and torch.h.)
//
// The short form has one entry per dimension, separated by ','; () is the empty spec.
//   _                     not cut; also None              x+y         axes, major to minor
//   ?                     open (JAX's UNCONSTRAINED)      x+?         cut by x and open
//   x:(2)4                a sub-axis                      x@1         priority 1
//   dp;tp                 nested stages: each divides the shards of the one before
//   dp/sizes(3,3,2)       explicit sizes                  tp/cyclic(64)    blocks dealt round robin
//   tp/parts(q:4096/128, k:512/128*2)     fused parts: name:size/grain*copies
//   x, _ | unreduced=y+z reduced=w replicated=v mesh=m    sets; unreduced=max(y) for maxima
//   "my axis"             names that are not plain words need double quotes
// Each form is explained in the manual page tessera-notation(7).
#ifndef TESSERA_SPEC_H
#define TESSERA_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/reduction.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

// An axis or a sub-axis. Shardy's "x":(pre)size is the sub-axis of x with `size` members below
// `pre` members. The whole axis has pre 1 and size 0 (pre 0 means the same). The name "" is None
// inside a group, which JAX keeps: P(('x', None)).
typedef struct tsr_axis_ref {
  const char *name;
  int64_t pre, size;
} tsr_axis_ref;

typedef enum tsr_stage_kind {
  TSR_STAGE_EVEN,    // chunks of ceil(n / shards); late ones may be short or empty
  TSR_STAGE_SIZES,   // explicit sizes, one per shard
  TSR_STAGE_CYCLIC,  // blocks of `block` elements dealt round robin
  TSR_STAGE_PARTS    // fused parts side by side, each cut on its own
} tsr_stage_kind;

// One part of a fused dimension: `size` elements, cut only at multiples of `grain`. `copies`
// neighbouring shards hold the same elements (fewer KV heads than ranks).
typedef struct tsr_part {
  const char *name;  // may be ""
  int64_t size, grain, copies;
} tsr_part;

typedef struct tsr_stage {
  tsr_stage_kind kind;
  int axis_count;
  const tsr_axis_ref *axes;  // major to minor
  int64_t count;             // of sizes or parts
  union {                    // by kind
    const int64_t *sizes;    // TSR_STAGE_SIZES
    const tsr_part *parts;   // TSR_STAGE_PARTS
    int64_t block;           // TSR_STAGE_CYCLIC
  };
} tsr_stage;

typedef struct tsr_spec_dim {
  int stage_count;  // 0 = not cut
  const tsr_stage *stages;
  bool open;  // may be cut further; open and uncut is JAX's UNCONSTRAINED
  bool has_priority;
  int priority;  // Shardy's p0, p1, ...; 0 without one
} tsr_spec_dim;

// Specs know the first three reductions: sum, max, min.
#define TSR_SPEC_REDUCTION_COUNT (TSR_REDUCE_MIN + 1)

typedef struct tsr_spec tsr_spec;  // immutable, shared by any threads

typedef struct tsr_spec_desc {
  size_t size;  // sizeof(tsr_spec_desc)
  int dim_count;
  const tsr_spec_dim *dims;
  int unreduced_count, reduced_count, replicated_count;
  const tsr_axis_ref *unreduced;   // the value is a partial result over these
  const tsr_axis_ref *reduced;     // JAX: replicated now, unreduced in the gradient
  const tsr_axis_ref *replicated;  // Shardy: never to be used for cutting
  tsr_reduction reduction;         // how partial results combine
  const char *mesh_name;           // Shardy's @mesh; NULL = "mesh"
} tsr_spec_desc;
#define TSR_SPEC_DESC TSR_SIZED(tsr_spec_desc)

// Copies everything. Checks what needs no mesh: entries and sets must not overlap, and cuts must be
// valid. Canonical as in JAX: a dimension whose stages name no axis is uncut, and a group of one
// None is None. Printing keeps the order of sets, comparing ignores it. Repeated members are kept
// once.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_spec_create(const tsr_spec_desc *desc,
                                                            tsr_spec **out_spec);
TSR_API TSR_NONNULL tsr_spec *tsr_spec_retain(const tsr_spec *spec);
TSR_API void tsr_spec_release(const tsr_spec *spec);  // NULL is fine

TSR_API TSR_NONNULL const tsr_spec_desc *tsr_spec_desc_of(const tsr_spec *spec);  // borrowed
// The same value; the order of sets is ignored.
TSR_API TSR_NONNULL bool tsr_spec_equal(const tsr_spec *a, const tsr_spec *b);

typedef enum tsr_spec_form {
  TSR_FORM_ANY,  // parse: chosen by how the text begins; print: short
  TSR_FORM_SHORT,
  TSR_FORM_JAX,
  TSR_FORM_SHARDY
} tsr_spec_form;
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_spec_parse(const char *text, tsr_spec_form form,
                                                           tsr_spec **out_spec);
// Fails with not_expressible if the notation cannot express the value (cuts in JAX's). JAX's form
// omits the mesh's name.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_spec_print(const tsr_spec *spec, tsr_spec_form form,
                                                           tsr_text *out);

TSR_END_DECLS

#endif
