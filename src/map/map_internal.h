// Functions on maps that only other rooms and tests use.
#ifndef TESSERA_MAP_MAP_INTERNAL_H
#define TESSERA_MAP_MAP_INTERNAL_H

#include <stdint.h>

#include "tessera/api.h"
#include "tessera/checkpoint/map.h"
#include "tessera/status.h"
#include "tessera/text.h"
#include "tessera/tree.h"

// The text form, one statement a line, without comments. It reads back as the same map.
void tsr_map_print(const tsr_map *map, tsr_text *out);
int64_t tsr_map_count(const tsr_map *map);  // of rules and drops

// The names of the maps that ship with the library, NULL after the last; and their text.
const char *tsr_map_preset_at(int64_t index);
const char *tsr_map_preset_text(const char *name);  // NULL if there is none

// One of two models has the sources of a map, the other its results. Finds which is which by the
// names and shapes of the results (the first model if both fit), and applies the map to it.
// `options` has one entry per model, each may be NULL. Fails if the map applies to neither model,
// if no line finds a source, or if the other model has none of the results.
TSR_MUST_USE tsr_status tsr_map_apply_to_either(const tsr_map *map, const tsr_tree *const models[2],
                                                const tsr_map_options *const options[2],
                                                int64_t *out_which, tsr_mapping **out_mapping);
// The tensors it was applied to.
const tsr_tree *tsr_mapping_source(const tsr_mapping *mapping);
// The line of the map that makes a destination tensor; 0 = it goes over unchanged, or the mapping
// is an inverse.
int64_t tsr_mapping_line(const tsr_mapping *mapping, int64_t tensor);

#endif
