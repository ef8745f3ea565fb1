// Map: how the tensors of one checkpoint are made of those of another.
//
// Two programs that agree on a model's numbers seldom agree on names and shapes: one has q, k and v
// apart and the other in one tensor, one keeps kernels transposed, one stacks its experts. A map
// says, line by line, how each destination tensor is put together (docs/map.md has it all):
//
//   # names hold {captures}: a whole number, or what a regex matches, {x:regex}
//   layers.{n}.qkv = concat(0, layers.{n}.q, layers.{n}.k, layers.{n}.v)
//   layers.{n}.q.bias, layers.{n}.k.bias = split(layers.{n}.qk.bias, 0, heads*head_dim, _)
//   layers.{n+8*stage}.{rest} = stage{stage}.layers.{n}.{rest:.*}
//   {x}.kernel = transpose({x:.*}.weight)
//   layers.{n}.w1 = stack(0, layers.{n}.experts.{e}.w1 for e in 0..experts)
//   drop {x:.*}rotary_emb.inv_freq
//
// What no line mentions goes over unchanged, unless the file says `only`. Nothing is computed;
// elements are only arranged. A mapping, which is a map applied to a model, is what loads
// (tessera/checkpoint/load.h), transforms and comparisons take:
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

// A map as it is written. Immutable once made, hence safe to share.
typedef struct tsr_map tsr_map;

// `name` is what messages call the text, with line and column; NULL = "map".
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
  // Numbers that the map may ask for by name, such as "heads" (docs/rules.md lists those of a
  // model's config.json). One that a `let` of the map names too takes its place.
  const tsr_fact *facts;
  int64_t fact_count;
} tsr_map_options;
#define TSR_MAP_OPTIONS TSR_SIZED(tsr_map_options)

// A map applied to a model: its destination tensors, and where their elements come from.
// Immutable, shared.
typedef struct tsr_mapping tsr_mapping;

// Fails where a line names a source that is not there, asks for shapes that do not fit (with file,
// line, tensor and sizes), or makes a tensor that another line makes as well.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_map_apply(const tsr_map *map, const tsr_tree *source, const tsr_map_options *options,
                  tsr_mapping **out_mapping);
TSR_API TSR_NONNULL tsr_mapping *tsr_mapping_retain(const tsr_mapping *mapping);
TSR_API void tsr_mapping_release(const tsr_mapping *mapping);  // NULL is fine
// The destination tensors, each at the place of the sources it is made of.
TSR_API TSR_NONNULL const tsr_tree *tsr_mapping_tree(const tsr_mapping *mapping);
// What is odd but not wrong, one line each: patterns that match nothing, sources that nobody uses
// (`only`). "" = nothing.
TSR_API TSR_NONNULL const char *tsr_mapping_warnings(const tsr_mapping *mapping);
// The way back: the source tensors made of the destination's, for a checkpoint that holds these in
// any order. Fails with not_expressible when an element of the source is in no destination tensor,
// naming the first such tensor.
TSR_API TSR_MUST_USE TSR_NONNULL tsr_status tsr_mapping_invert(const tsr_mapping *mapping,
                                                               tsr_mapping **out_inverse);

// Floating-point tensors whose name matches `pattern` are cast to `dtype`.
typedef struct tsr_cast_rule {
  const char *pattern;
  tsr_dtype dtype;
} tsr_cast_rule;

TSR_END_DECLS

#endif
