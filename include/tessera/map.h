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
// Whatever no line mentions goes over unchanged, unless the file says `only`. Nothing is computed,
// elements are only arranged; so a map that loses none of them can be turned around.
#ifndef TESSERA_MAP_H
#define TESSERA_MAP_H

#include "tessera/rules.h"
#include "tessera/tree.h"

TSR_BEGIN_DECLS

// A map as it is written. Immutable once made, hence safe to share.
typedef struct tsr_map tsr_map;

// `name` stands in messages, which tell line and column.
TSR_API TSR_MUST_USE tsr_status tsr_map_parse(const char *text, const char *name,
                                              tsr_map **out_map);
TSR_API TSR_MUST_USE tsr_status tsr_map_read(const char *path, tsr_map **out_map);
// The text form, one statement a line, without comments. Reads back as the same map.
TSR_API void tsr_map_print(const tsr_map *map, tsr_text *out);
TSR_API tsr_map *tsr_map_retain(const tsr_map *map);
TSR_API void tsr_map_release(const tsr_map *map);   // NULL is fine
TSR_API int64_t tsr_map_count(const tsr_map *map);  // of rules and drops

// Maps that ship with the library ("llama-fuse"); the names end with NULL.
TSR_API TSR_MUST_USE tsr_status tsr_map_preset(const char *name, tsr_map **out_map);
TSR_API const char *tsr_map_preset_at(int64_t index);
TSR_API const char *tsr_map_preset_text(const char *name);  // NULL if there is none

typedef struct tsr_map_options {
  size_t size;  // sizeof(tsr_map_options)
  // Numbers that the map may ask for by name, as tsr_facts_from_config gives them. One that a `let`
  // of the map names too takes its place.
  const tsr_fact *facts;
  int64_t fact_count;
} tsr_map_options;
#define TSR_MAP_OPTIONS TSR_SIZED(tsr_map_options)

// A map applied to a model: its destination tensors, and where their elements come from.
// Immutable, shared.
typedef struct tsr_mapping tsr_mapping;

// Fails where a line names a source that is not there, asks for shapes that do not fit (with file,
// line, tensor and sizes), or makes a tensor that another line makes as well.
TSR_API TSR_MUST_USE tsr_status tsr_map_apply(const tsr_map *map, const tsr_tree *source,
                                              const tsr_map_options *options,
                                              tsr_mapping **out_mapping);
// Of two models, one has a map's sources and the other what it makes of them: finds out which is
// which, by the names and shapes that come out (the first, where it could be either), and applies
// the map to the one with the sources. `options` are for each of them, and may be NULL. Fails where
// the map applies to neither, no line of it finds anything in either, or nothing that it makes is
// in the other.
TSR_API TSR_MUST_USE tsr_status tsr_map_apply_to_either(const tsr_map *map,
                                                        const tsr_tree *const models[2],
                                                        const tsr_map_options *const options[2],
                                                        int64_t *out_which,
                                                        tsr_mapping **out_mapping);
TSR_API tsr_mapping *tsr_mapping_retain(const tsr_mapping *mapping);
TSR_API void tsr_mapping_release(const tsr_mapping *mapping);  // NULL is fine
TSR_API const tsr_tree *tsr_mapping_source(const tsr_mapping *mapping);
// The destination tensors, where the sources they are made of stand.
TSR_API const tsr_tree *tsr_mapping_tree(const tsr_mapping *mapping);
// The line of the map that makes a destination tensor; 0 = it goes over unchanged, or the mapping
// is an inverse.
TSR_API int64_t tsr_mapping_line(const tsr_mapping *mapping, int64_t tensor);
// What is odd but not wrong, one line each: patterns that match nothing, sources that nobody uses
// (`only`). "" = nothing.
TSR_API const char *tsr_mapping_warnings(const tsr_mapping *mapping);

// The way back: the source tensors made of the destination's. Fails with not_expressible when an
// element of the source is in no destination tensor, naming the first such tensor.
TSR_API TSR_MUST_USE tsr_status tsr_mapping_invert(const tsr_mapping *mapping,
                                                   tsr_mapping **out_inverse);

TSR_END_DECLS

#endif
