// Map: how the tensors of one checkpoint are made from those of another.
//
// Two programs that share a model's numbers rarely share names and shapes: one fuses q, k and v,
// one keeps kernels transposed, one stacks its experts. Each line of a map makes destination
// tensors (docs/map.md describes the language):
//
//   # names hold {captures}: a whole number, or what a regex matches, {x:regex}
//   layers.{n}.qkv = concat(0, layers.{n}.q, layers.{n}.k, layers.{n}.v)
//   layers.{n}.q.bias, layers.{n}.k.bias = split(layers.{n}.qk.bias, 0, heads*head_dim, _)
//   layers.{n+8*stage}.{rest} = stage{stage}.layers.{n}.{rest:.*}
//   {x}.kernel = transpose({x:.*}.weight)
//   layers.{n}.w1 = stack(0, layers.{n}.experts.{e}.w1 for e in 0..experts)
//   drop {x:.*}rotary_emb.inv_freq
//
// Tensors that no line mentions go over unchanged, unless the file says `only`. Elements are only
// rearranged, never computed. A mapping is a map applied to a model. Loads
// (tessera/checkpoint/load.h), transforms and comparisons take it:
//
//   tsr_map *map = NULL;
//   tsr_mapping *mapping = NULL;
//   TSR_TRY(tsr_map_preset("llama-fuse", &map));
//   TSR_TRY(tsr_map_apply(map, tsr_checkpoint_tree(model), NULL, &mapping));
//   tsr_transform_options options = TSR_TRANSFORM_OPTIONS;
//   options.map = mapping;
#ifndef TSR_CHECKPOINT_MAP_H
#define TSR_CHECKPOINT_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/dtype.h"
#include "tessera/rules.h"
#include "tessera/status.h"
#include "tessera/tree.h"

TSR_BEGIN_DECLS

// A map as written. Immutable once made, so safe to share.
typedef struct tsr_map tsr_map;

// `name` names the text in messages, before line and column; NULL = "map".
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_map_parse(const char *text, const char *name, tsr_map **out_map);
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_map_read(const char *path, tsr_map **out_map);
TSR_API TSR_NONNULL tsr_map *tsr_map_retain(const tsr_map *map);
TSR_API void tsr_map_release(const tsr_map *map);  // NULL is fine

// A map that ships with the library, by name: "llama-fuse". Fails with unknown_preset, which lists
// them.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_map_preset(const char *name, tsr_map **out_map);

typedef struct tsr_map_options {
  size_t size;  // sizeof(tsr_map_options)
  // Numbers that the map uses by name, such as "heads" (docs/rules.md lists those of a model's
  // config.json). A fact replaces a `let` of the same name.
  const tsr_fact *facts;
  int64_t fact_count;
} tsr_map_options;
#define TSR_MAP_OPTIONS TSR_SIZED(tsr_map_options)

// A map applied to a model: its destination tensors, and where their elements come from.
// Immutable, shared.
typedef struct tsr_mapping tsr_mapping;

// Fails if a line names a source that does not exist, needs shapes that do not fit (with file,
// line, tensor and sizes), or makes a tensor that another line makes.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_map_apply(const tsr_map *map, const tsr_tree *source, const tsr_map_options *options,
                  tsr_mapping **out_mapping);
TSR_API TSR_NONNULL tsr_mapping *tsr_mapping_retain(const tsr_mapping *mapping);
TSR_API void tsr_mapping_release(const tsr_mapping *mapping);  // NULL is fine
// The destination tensors, each at the position of its sources.
TSR_API TSR_NONNULL const tsr_tree *tsr_mapping_tree(const tsr_mapping *mapping);
// Warnings, one a line: patterns that match nothing, and under `only` sources that no line uses.
// "" = none.
TSR_API TSR_NONNULL const char *tsr_mapping_warnings(const tsr_mapping *mapping);
// The inverse: makes the source tensors from the destination's, for a checkpoint that holds these
// in any order. Fails with not_expressible if an element of a source is in no destination tensor,
// and names the first such source.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_mapping_invert(const tsr_mapping *mapping,
                                                               tsr_mapping **out_inverse);

// Floating-point tensors whose name matches `pattern` are cast to `dtype`.
typedef struct tsr_cast_rule {
  const char *pattern;
  tsr_dtype dtype;
} tsr_cast_rule;

TSR_END_DECLS

#endif
