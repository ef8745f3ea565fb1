// checkpoint/map.h
#ifndef TSR_CHECKPOINT_MAP_H
#define TSR_CHECKPOINT_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/rules.h"
#include "tessera/status.h"
#include "tessera/tree.h"

TSR_BEGIN_DECLS

// A map as it is written. Immutable once made, hence safe to share.
typedef struct tsr_map tsr_map;

// `name` stands in messages, which tell line and column.
TSR_API TSR_MUST_USE tsr_status tsr_map_parse(const char *text, const char *name,
                                              tsr_map **out_map);
TSR_API TSR_MUST_USE tsr_status tsr_map_read(const char *path, tsr_map **out_map);
// The text form, one statement a line, without comments. Reads back as the same map.
TSR_API tsr_map *tsr_map_retain(const tsr_map *map);
TSR_API void tsr_map_release(const tsr_map *map);  // NULL is fine

// Maps that ship with the library ("llama-fuse"); the names end with NULL.
TSR_API TSR_MUST_USE tsr_status tsr_map_preset(const char *name, tsr_map **out_map);

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
TSR_API tsr_mapping *tsr_mapping_retain(const tsr_mapping *mapping);
TSR_API void tsr_mapping_release(const tsr_mapping *mapping);  // NULL is fine
// The destination tensors, where the sources they are made of stand.
TSR_API const tsr_tree *tsr_mapping_tree(const tsr_mapping *mapping);
// What is odd but not wrong, one line each: patterns that match nothing, sources that nobody uses
// (`only`). "" = nothing.
TSR_API const char *tsr_mapping_warnings(const tsr_mapping *mapping);

TSR_END_DECLS

#endif
