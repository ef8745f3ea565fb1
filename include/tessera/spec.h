// Spec: what users write about how a tensor is laid out, before any mesh is known.
//
// A spec is faithful to its text: unknown axes, repeated axes and a wrong length are legal here and
// found when it is bound to a mesh (tessera/sharding.h). Per dimension it lists *stages*, major to
// minor; each divides what the previous one left. One stage with plain axes is the ordinary case
// (JAX's rule: the axes together cut the dimension in even chunks).
//
// Text, one value in three notations:
//   short     data, _, fsdp+tp            our own, which can say everything (below)
//   jax       P('data', None, ('fsdp', 'tp'))
//   shardy    #sdy.sharding<@mesh, [{"data"}, {}, {"fsdp", "tp"}]>
// (XLA and PyTorch notations name no axes: tessera/notation.h.)
//
// The short form has one entry per dimension, separated by ','; () is the empty spec.
//   _                     not cut; None does too          x+y         axes, major to minor
//   ?                     open (JAX's UNCONSTRAINED)      x+?         cut by x and open
//   x:(2)4                a sub-axis                      x@1         priority 1
//   dp;tp                 nested stages: each divides what the previous one left
//   dp/sizes(3,3,2)       explicit sizes                  tp/cyclic(64)    blocks dealt round robin
//   tp/parts(q:4096/128, k:512/128*2)     pieces side by side: name:size/grain*copies
//   x, _ | unreduced=y+z reduced=w replicated=v mesh=m    sets; unreduced=max(y) for maxima
//   "my axis"             names that are not plain words stand in double quotes
// The grammar: src/spec/README.md.
#ifndef TESSERA_SPEC_H
#define TESSERA_SPEC_H

#include <stdint.h>

#include "tessera/log.h"
#include "tessera/mesh.h"
#include "tessera/reduction.h"
#include "tessera/shape.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

// An axis, or a part of one: Shardy's "x":(pre)size is the sub-axis of x with `size` members whose
// major parts have `pre` members together. The whole axis has pre 1 and size 0 (all zeros is taken
// for it too). The name "" stands for None inside a group, which JAX keeps: P(('x', None)).
typedef struct tsr_axis_ref {
  const char *name;
  int64_t pre, size;
} tsr_axis_ref;

typedef enum tsr_stage_kind {
  TSR_STAGE_EVEN,    // chunks of ceil(n / shards); late ones may be short or empty
  TSR_STAGE_SIZES,   // explicit sizes, one per shard
  TSR_STAGE_CYCLIC,  // blocks of `block` elements dealt round robin
  TSR_STAGE_PARTS    // logical pieces side by side, each cut on its own
} tsr_stage_kind;

// One logical piece of a fused dimension: `size` elements, cut only at multiples of `grain`, each
// piece held by `copies` neighbouring shards (fewer KV heads than ranks).
typedef struct tsr_part {
  const char *name;  // may be ""
  int64_t size, grain, copies;
} tsr_part;

typedef struct tsr_stage {
  tsr_stage_kind kind;
  int axis_count;
  const tsr_axis_ref *axes;  // major to minor
  int64_t count;             // of sizes or parts
  union {                    // which one, the kind tells
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

// Copies everything. Checks what needs no mesh: entries and sets must not overlap, cuts must make
// sense. Canonical as in JAX: a dimension whose stages name no axis is uncut, a group of one None
// is None. The sets keep their order in print but not in comparison, and a member given twice is
// kept once.
TSR_API TSR_MUST_USE tsr_status tsr_spec_create(const tsr_spec_desc *desc, tsr_spec **out_spec);
// The common case: `entries[i]` is "" or NULL (uncut), "?" (unconstrained), axes joined by '+', or
// any other entry of the short form.
TSR_API TSR_MUST_USE tsr_status tsr_spec_of(const char *const *entries, int count,
                                            tsr_spec **out_spec);
TSR_API tsr_spec *tsr_spec_retain(const tsr_spec *spec);
TSR_API void tsr_spec_release(const tsr_spec *spec);  // NULL is fine

TSR_API const tsr_spec_desc *tsr_spec_desc_of(const tsr_spec *spec);  // borrowed
TSR_API bool tsr_spec_equal(const tsr_spec *a, const tsr_spec *b);
TSR_API uint64_t tsr_spec_hash(const tsr_spec *spec);

typedef enum tsr_spec_form {
  TSR_FORM_ANY,  // parse: told by how it begins; print: short
  TSR_FORM_SHORT,
  TSR_FORM_JAX,
  TSR_FORM_SHARDY
} tsr_spec_form;
TSR_API TSR_MUST_USE tsr_status tsr_spec_parse(const char *text, tsr_spec_form form,
                                               tsr_spec **out_spec);
// Fails with not_expressible when the notation has no words for the value (cuts in JAX's). JAX's
// form leaves out the mesh's name.
TSR_API TSR_MUST_USE tsr_status tsr_spec_print(const tsr_spec *spec, tsr_spec_form form,
                                               tsr_text *out);
// What JAX shows of a sharding's Shardy form when debugging: SdyArray([{'x', 'y'}, {?}, {}]).
TSR_API TSR_MUST_USE tsr_status tsr_spec_print_sdy_array(const tsr_spec *spec, int rank,
                                                         tsr_text *out);
// The JSON form of the golden files: a list of null, "axis", ["a", "b"], {"unconstrained": true}.
// Writing what has no such form gives the short text as one string; reading takes any form of text.
TSR_API TSR_MUST_USE tsr_status tsr_spec_from_json(const tsr_json *value, tsr_spec **out_spec);
// The same with sets beside the entries, lists of names; NULL = none.
TSR_API TSR_MUST_USE tsr_status tsr_spec_from_json_sets(const tsr_json *entries,
                                                        const tsr_json *unreduced,
                                                        const tsr_json *reduced,
                                                        tsr_spec **out_spec);
TSR_API void tsr_spec_to_json(const tsr_spec *spec, tsr_json_writer *writer);

// The names of the axes used by any of the specs, in entries or sets, each once, first seen first:
// get_names_from_partition_spec. Gives pointers into the specs, in a block to free().
TSR_API TSR_MUST_USE tsr_status tsr_spec_axis_names(const tsr_spec *const *specs,
                                                    int64_t spec_count, const char ***out_names,
                                                    int *out_count);

// ---- correction ----

// Why a dimension of a spec was changed.
#define TSR_CHANGES(X)                                         \
  X(CUT_TO_RANK, "longer than the tensor's rank")              \
  X(AXIS_MISSING, "axis not in the mesh")                      \
  X(SUB_AXIS_MISFIT, "sub-axis does not divide its axis")      \
  X(INDIVISIBLE, "size not divisible by the axes' product")    \
  X(CUT_MISFIT, "sizes or parts do not fit the mesh and size") \
  X(UNCONSTRAINED, "unconstrained means not cut here")         \
  X(NOTHING_LEFT, "nothing left to cut, so the empty spec")    \
  X(NO_MESH, "no mesh, so the empty spec")
#define TSR_ENUMERATOR_(id, text) TSR_CHANGE_##id,
typedef enum tsr_change_kind { TSR_CHANGES(TSR_ENUMERATOR_) TSR_CHANGE_COUNT } tsr_change_kind;
#undef TSR_ENUMERATOR_

typedef struct tsr_change {
  tsr_change_kind kind;
  int dim;                // -1 = the spec as a whole
  const char *axis;       // the axis at fault, NULL if none; lives as long as the original spec
  int64_t size, product;  // of the dimension and of its axes, where they matter; or rank and length
  bool alone;             // only that axis was dropped, the others of its group stay
} tsr_change;
TSR_API const char *tsr_change_text(tsr_change_kind kind);  // "axis not in the mesh"

typedef struct tsr_changes {
  int64_t count;
  tsr_change *items;  // owned
} tsr_changes;
TSR_API void tsr_changes_deinit(tsr_changes *changes);
// One line per change: `dimension 1: size 10 is not divisible by tp=4, so it is not cut`.
TSR_API void tsr_changes_print(const tsr_changes *changes, tsr_text *out);

typedef struct tsr_correct_options {
  size_t size;              // sizeof(tsr_correct_options)
  bool strict;              // refuse instead of changing anything
  bool allow_no_mesh;       // raise_mesh_error = false: without a mesh give P()
  bool keep_group_members;  // drop only the members of a group that are missing or do not divide
  bool uneven;              // sizes need not divide
  tsr_log_fn *log;          // where changes are logged; NULL = where tsr_log_set says
  void *log_context;
} tsr_correct_options;
#define TSR_CORRECT_OPTIONS TSR_SIZED(tsr_correct_options)

// get_corrected_named_sharding, the spec side: pads to the rank, cuts to it, and drops what the
// mesh lacks or the sizes do not allow, with a reason for each. NULL mesh means the current one.
// `options` and `out_changes` may be NULL. With LOG_SHARDING_MOVE set to true, yes, 1 or on, each
// change is also logged.
//
// An entry is kept or dropped as a whole. Even stages must divide the size, one after the other;
// cyclic ones may stay for any size; sizes and parts must add up to it and fit the number of
// shards. After a stage whose shards differ in size nothing more is asked. An axis left in two
// places is an error (duplicate_mesh_axis), as nothing says which of them was meant.
TSR_API TSR_MUST_USE tsr_status tsr_spec_correct(const tsr_spec *spec, const tsr_mesh *mesh,
                                                 const tsr_shape *shape,
                                                 const tsr_correct_options *options,
                                                 tsr_spec **out_spec, tsr_changes *out_changes);
// eformer's with_sharding_constraint, the spec side: like tsr_spec_correct, but an empty spec or no
// mesh means "leave alone" (`*out_spec` is NULL then).
TSR_API TSR_MUST_USE tsr_status tsr_spec_constrain(const tsr_spec *spec, const tsr_mesh *mesh,
                                                   const tsr_shape *shape,
                                                   const tsr_correct_options *options,
                                                   tsr_spec **out_spec, tsr_changes *out_changes);
// t5x's with_sharding_constraint leaves its argument alone on CPU devices and without a mesh.
TSR_API bool tsr_t5x_constraint_applies(const tsr_topology *topology);

TSR_END_DECLS

#endif
