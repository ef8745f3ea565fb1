// The aliases MLIR makes for locations: #loc, #loc1, ... The locations of ops are replaced by them;
// those of arguments are written out. Aliases of the locations of arguments, and of what they hold,
// stand before the module, the others after it.
#ifndef TESSERA_SYNTAX_LOCATION_ALIASES_H
#define TESSERA_SYNTAX_LOCATION_ALIASES_H

#include <stdbool.h>
#include <stddef.h>

#include "ir/ir.h"
#include "tessera/text.h"

typedef struct tsr_location_alias {
  const tsr_attr *location;  // NULL = unknown
  int depth;                 // 0 = holds no other location
  int number;                // of #locN
  bool early;                // stands before the module
} tsr_location_alias;

typedef struct tsr_location_aliases {
  tsr_location_alias *entries;  // in the order of their first use
  int64_t count, capacity;
  int *slots;  // positions + 1 in `entries`, by content; 0 = free
  size_t mask;
  int *order;    // positions in `entries` by number
  bool generic;  // every op prints in the generic form
  bool failed;   // memory ran out
} tsr_location_aliases;

// Gathers the locations of an op and all ops in it, once. Without memory it sets `failed`.
void tsr_location_aliases_gather(tsr_location_aliases *aliases, const tsr_op *op);
void tsr_location_aliases_deinit(tsr_location_aliases *aliases);
// What stands in loc(...): #loc3, or the location itself with aliases inside.
void tsr_location_aliases_print(const tsr_location_aliases *aliases, const tsr_attr *location,
                                bool allow_alias, tsr_text *out);
// #loc1 = loc(...), a line each: those before the module, or those after it.
void tsr_location_aliases_define(const tsr_location_aliases *aliases, bool early, tsr_text *out);

#endif
