// Placing: arrays and whole trees of them, put where specs, rules, plans and axes say.
//
//   TSR_OWN(array_tree, placed);  // tessera/own.h
//   TSR_TRY(tsr_array_tree_put(comm, mesh, "up$ -> fsdp, tp\n.* -> ()\n", parameters, &placed));
//
// or step by step:
//
//   tsr_placer *placer = NULL;                        // make_shard_and_gather_fns
//   tsr_place_options options = TSR_PLACE_OPTIONS;
//   options.comm = comm;
//   TSR_TRY(tsr_placer_create(plan, &options, &placer));
//   tsr_array_tree *placed = NULL, *back = NULL;
//   TSR_TRY(tsr_placer_shard(placer, parameters, &placed, NULL));
//   TSR_TRY(tsr_placer_gather(placer, placed, &back));
//
// "Collective" is meant as in tessera/comm.h, over the comm of the (first) array, or, of a tree
// without arrays, over that of the options; without either, the call is not collective. Ranks
// compare paths, kinds, types, shapes and layouts of leaves in their order, what was decided about
// each, and the options. Arrays are never changed, but made again; what already lies as asked is
// the same array, held once more. Where an array is left alone, or its spec is corrected, a
// *report* says why.
#ifndef TESSERA_PLACE_H
#define TESSERA_PLACE_H

#include "tessera/array.h"
#include "tessera/axes.h"
#include "tessera/logical.h"
#include "tessera/plan_auto.h"

TSR_BEGIN_DECLS

// ---- trees of arrays ----

typedef enum tsr_leaf_kind {
  TSR_LEAF_ARRAY,  // an array on devices
  TSR_LEAF_HOST,   // a tensor in host memory
  TSR_LEAF_SHAPE   // type and shape alone
} tsr_leaf_kind;

typedef struct tsr_leaf {
  tsr_tensor tensor;  // of an array only path and logical names count: it tells type and shape
  tsr_leaf_kind kind;
  tsr_array *array;      // of an array
  const void *data;      // of a tensor in host memory, dense and row-major
  tsr_buffer *buffer;    // what keeps `data` alive; NULL = the caller does
  const tsr_spec *spec;  // of a shape: how it is to lie; NULL = not said
} tsr_leaf;

// Named leaves in an order that is kept. Immutable, hence safe to share.
typedef struct tsr_array_tree tsr_array_tree;

// Copies the descriptions of tensors, whose paths are UTF-8 and unique ("" is one too: a tree may
// be a single leaf), and retains arrays, buffers and specs. Leaves of a tree have their type and
// shape.
TSR_API TSR_MUST_USE tsr_status tsr_array_tree_create(const tsr_leaf *leaves, int64_t count,
                                                      tsr_array_tree **out_tree);
TSR_API tsr_array_tree *tsr_array_tree_retain(const tsr_array_tree *tree);
TSR_API void tsr_array_tree_release(const tsr_array_tree *tree);  // NULL is fine
TSR_API int64_t tsr_array_tree_count(const tsr_array_tree *tree);
TSR_API const tsr_leaf *tsr_array_tree_at(const tsr_array_tree *tree, int64_t index);
// The leaf of a path; NULL if there is none.
TSR_API const tsr_leaf *tsr_array_tree_find(const tsr_array_tree *tree, const char *path);
// The array of a path, which the tree keeps alive. Fails with not_found, naming the nearest path,
// and with unsupported_leaf where the leaf is no array.
TSR_API TSR_MUST_USE tsr_status tsr_array_tree_get(const tsr_array_tree *tree, const char *path,
                                                   tsr_array **out_array);
// Paths, types, shapes and logical names alone, for rules and plans.
TSR_API TSR_MUST_USE tsr_status tsr_array_tree_shapes(const tsr_array_tree *tree,
                                                      tsr_tree **out_tree);
// A line for each leaf: its path and what tsr_array_print says, or `f32 (8, 16) in host memory`, or
// `f32 (8, 16) without data`.
TSR_API void tsr_array_tree_print(const tsr_array_tree *tree, tsr_text *out);
// Collective over `comm`. Puts every leaf where rules as text (tessera/rules.h) say, on the mesh:
// match_partition_rules and shard in one call, as tsr_plan_match and tsr_placer_shard do it. Shapes
// are left alone. A path without a rule is an error.
TSR_API TSR_MUST_USE tsr_status tsr_array_tree_put(tsr_comm *comm, const tsr_mesh *mesh,
                                                   const char *rules, const tsr_array_tree *tree,
                                                   tsr_array_tree **out_tree);
// Collective. Arrays become tensors in host memory, which the new tree keeps, on all ranks, or on
// `root` alone, where others get shapes; -1 = all. Other leaves stay as they are.
TSR_API TSR_MUST_USE tsr_status tsr_array_tree_gather(const tsr_array_tree *tree, int root,
                                                      tsr_array_tree **out_tree);

// ---- what became of an array ----

// Id, word, what it says.
#define TSR_OUTCOMES(X)                                                                   \
  X(PLACED, "placed", "placed")                                                           \
  X(SAME, "same", "lay so before")                                                        \
  X(EMPTY_SPEC, "empty_spec", "left alone: the empty spec asks for nothing")              \
  X(TOO_SMALL, "too_small", "left alone: too small to be cut")                            \
  X(NO_MESH, "no_mesh", "left alone: there is no mesh")                                   \
  X(NO_NAMES, "no_names", "left alone: its dimensions have no names")                     \
  X(NO_RULES, "no_rules", "left alone: there are no rules")                               \
  X(UNMATCHED, "unmatched", "left alone: a name has no rule")                             \
  X(NOT_ASKED, "not_asked", "left alone: no layout was given")                            \
  X(ON_HOST, "on_host", "left alone: it is in host memory, and no comm was given for it") \
  X(NO_DATA, "no_data", "left alone: it is a shape without data")
#define TSR_ENUMERATOR_(id, word, text) TSR_OUTCOME_##id,
typedef enum tsr_outcome { TSR_OUTCOMES(TSR_ENUMERATOR_) TSR_OUTCOME_COUNT } tsr_outcome;
#undef TSR_ENUMERATOR_
TSR_API const char *tsr_outcome_word(tsr_outcome outcome);  // "no_mesh"
TSR_API const char *tsr_outcome_text(tsr_outcome outcome);  // "left alone: there is no mesh"

typedef struct tsr_place_report {
  size_t size;  // sizeof(tsr_place_report)
  tsr_outcome outcome;
  const tsr_spec *wanted;  // owned: before correction; NULL where none was asked for
  const tsr_spec *spec;    // owned: as it lies now; NULL where it was left alone
  tsr_changes changes;     // owned: from `wanted` to `spec`
} tsr_place_report;
#define TSR_PLACE_REPORT TSR_SIZED(tsr_place_report)
TSR_API void tsr_place_report_deinit(tsr_place_report *report);
// `placed: tp, _`, or why it was not, and a line for each change.
TSR_API void tsr_place_report_print(const tsr_place_report *report, tsr_text *out);

typedef struct tsr_place_options {
  size_t size;                         // sizeof(tsr_place_options)
  tsr_comm *comm;                      // that places leaves in host memory; NULL = they stay there
  tsr_policy policy;                   // for sizes that do not divide; ERROR = these are not cut
  const tsr_correct_options *correct;  // how specs are corrected; NULL = defaults
  // How arrays are moved; NULL = defaults. Of donated trees, an array that several leaves have
  // stays as it is.
  const tsr_reshard_options *reshard;
} tsr_place_options;
#define TSR_PLACE_OPTIONS TSR_SIZED(tsr_place_options)

// ---- constraints ----
//
// NULL options are defaults and a NULL mesh is the current one, everywhere. `out_report` may be
// NULL. `out_reports`, of trees, may be NULL too, and has a place for each leaf; the size of the
// first is that of all. A tree moves in one round.

// Collective. eformer's with_sharding_constraint: the spec is corrected for mesh and shape, then
// the array is put so. The empty spec, and no mesh at all, leave it alone; `_`, and a spec that
// correction empties, replicate it. As in JAX only Auto axes may be used
// (constraint_needs_auto_axis).
TSR_API TSR_MUST_USE tsr_status tsr_array_constrain(tsr_array *array, const tsr_spec *spec,
                                                    const tsr_mesh *mesh,
                                                    const tsr_place_options *options,
                                                    tsr_array **out_array,
                                                    tsr_place_report *out_report);
// Collective. The same spec for every leaf.
TSR_API TSR_MUST_USE tsr_status tsr_array_tree_constrain(const tsr_array_tree *tree,
                                                         const tsr_spec *spec, const tsr_mesh *mesh,
                                                         const tsr_place_options *options,
                                                         tsr_array_tree **out_tree,
                                                         tsr_place_report *out_reports);
// Collective. PartitionManager.shard and apply_logical_sharding: the spec that semantic axes and a
// mode come to (NULL axes = the current ones). The request's shape is the array's, whatever it
// says. Without a mesh `auto_correct` fails, its absence leaves the array alone; specs are
// corrected in any case.
TSR_API TSR_MUST_USE tsr_status tsr_array_constrain_axes(
    tsr_array *array, const tsr_axes *axes, const tsr_axis_registry *registry,
    const tsr_axes_request *request, const tsr_mesh *mesh, bool auto_correct,
    const tsr_place_options *options, tsr_array **out_array, tsr_place_report *out_report);
// Collective. linen's with_logical_constraint (tsr_logical_constrain). Nothing is corrected: what
// does not fit fails, unless the options' policy allows it.
TSR_API TSR_MUST_USE tsr_status tsr_array_constrain_logical(
    tsr_array *array, const tsr_logical_names *names, const tsr_logical_rules *rules,
    const tsr_mesh *mesh, tsr_fallback fallback, const tsr_place_options *options,
    tsr_array **out_array, tsr_place_report *out_report);
// Collective. `names` has an entry for each leaf; NULL = it is left alone.
TSR_API TSR_MUST_USE tsr_status tsr_array_tree_constrain_logical(
    const tsr_array_tree *tree, const tsr_logical_names *const *names,
    const tsr_logical_rules *rules, const tsr_mesh *mesh, tsr_fallback fallback,
    const tsr_place_options *options, tsr_array_tree **out_tree, tsr_place_report *out_reports);
// Collective. flax's shard_value (tsr_logical_shard_value): reshards where all axes of the mesh are
// Explicit, constrains where all are Auto, which is the same for arrays; other meshes fail. Nothing
// is corrected.
TSR_API TSR_MUST_USE tsr_status tsr_array_shard_value(
    tsr_array *array, const tsr_logical_names *names, const tsr_logical_rules *rules,
    const tsr_mesh *mesh, const tsr_place_options *options, tsr_array **out_array,
    tsr_place_report *out_report);
// Collective. auto_shard_array: constrained to its automatic spec. Too small arrays are left alone.
TSR_API TSR_MUST_USE tsr_status tsr_array_auto_shard(tsr_array *array, const tsr_mesh *mesh,
                                                     const tsr_auto_options *how,
                                                     const tsr_place_options *options,
                                                     tsr_array **out_array,
                                                     tsr_place_report *out_report);
// Collective. Each leaf in a layout of its own; NULL = left alone.
TSR_API TSR_MUST_USE tsr_status tsr_array_tree_place(const tsr_array_tree *tree,
                                                     const tsr_layout *const *layouts,
                                                     const tsr_place_options *options,
                                                     tsr_array_tree **out_tree,
                                                     tsr_place_report *out_reports);

// ---- shard and gather functions ----

// make_shard_and_gather_fns: knows how the leaf of each path is to lie. Immutable, hence safe to
// share.
typedef struct tsr_placer tsr_placer;

// One spec per path (NULL = replicated). They are checked now: an axis that the mesh lacks or that
// is used twice is refused, naming the path. Whether sizes divide shows when there are some.
// Copies the options and what they point to; retains the comm.
TSR_API TSR_MUST_USE tsr_status tsr_placer_from_specs(const char *const *paths,
                                                      const tsr_spec *const *specs, int64_t count,
                                                      const tsr_mesh *mesh,
                                                      const tsr_place_options *options,
                                                      tsr_placer **out_placer);
// The final specs and policies of a plan, on its mesh (or the current one).
TSR_API TSR_MUST_USE tsr_status tsr_placer_create(const tsr_plan *plan,
                                                  const tsr_place_options *options,
                                                  tsr_placer **out_placer);
TSR_API tsr_placer *tsr_placer_retain(const tsr_placer *placer);
TSR_API void tsr_placer_release(const tsr_placer *placer);  // NULL is fine
TSR_API const tsr_mesh *tsr_placer_mesh(const tsr_placer *placer);
// The spec of a path; NULL if it has none.
TSR_API const tsr_spec *tsr_placer_find_spec(const tsr_placer *placer, const char *path);

// Collective. Puts every leaf of a tree where its path's spec says, corrected for its size, in one
// round. Unlike a constraint, the empty spec replicates, and tensors in host memory are cut as
// well, by the options' comm or that of the first array; without one it fails. So does a path
// without a spec (tree_mismatch); specs without a leaf do not matter. Shapes are left alone.
TSR_API TSR_MUST_USE tsr_status tsr_placer_shard(const tsr_placer *placer,
                                                 const tsr_array_tree *tree,
                                                 tsr_array_tree **out_tree,
                                                 tsr_place_report *out_reports);
// Collective. One leaf, found by its path. A shape is refused.
TSR_API TSR_MUST_USE tsr_status tsr_placer_shard_leaf(const tsr_placer *placer,
                                                      const tsr_leaf *leaf, tsr_array **out_array,
                                                      tsr_place_report *out_report);
// Collective. tsr_array_tree_gather on all ranks, for paths that have a spec.
TSR_API TSR_MUST_USE tsr_status tsr_placer_gather(const tsr_placer *placer,
                                                  const tsr_array_tree *tree,
                                                  tsr_array_tree **out_tree);

// ---- how a tree lies ----

// extract_sharding_structure, get_shardings_with_structure: the sharding of every leaf that is an
// array with one; NULL for others. `out_shardings` has a place for each leaf; they live as long as
// the tree.
TSR_API void tsr_array_tree_shardings(const tsr_array_tree *tree,
                                      const tsr_sharding **out_shardings);
// extract_shardings: those of shapes with a spec too, bound to the mesh. A reference each, for the
// caller to release. Fails without a mesh.
TSR_API TSR_MUST_USE tsr_status tsr_array_tree_extract_shardings(const tsr_array_tree *tree,
                                                                 const tsr_mesh *mesh,
                                                                 tsr_sharding **out_shardings);
// get_partition_spec: the spec of every leaf as it was written, the empty one for scalars in host
// memory. A reference each. Fails with leaf_has_no_spec for arrays that no spec has placed, with
// unsupported_leaf for tensors in host memory and shapes.
TSR_API TSR_MUST_USE tsr_status tsr_array_tree_specs(const tsr_array_tree *tree,
                                                     tsr_spec **out_specs);

TSR_END_DECLS

#endif
