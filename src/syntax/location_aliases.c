// Aliases of locations. Equal locations have one alias. Numbers go by depth first, so that an alias
// is defined before those that hold it, then by first use.
#include "syntax/location_aliases.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "syntax/region_forms.h"
#include "syntax/syntax.h"
#include "syntax/writer.h"

enum { FIRST_SLOTS = 64 };

// Unknown locations are NULL or a record of their own; here they are NULL.
static const tsr_attr *plain(const tsr_attr *location) {
  const bool unknown =
      !location || (location->kind == TSR_ATTR_RECORD && location->id == TSR_RECORD_LOC_UNKNOWN);
  return unknown ? NULL : location;
}

static uint64_t hash_of(const tsr_attr *location) { return location ? location->hash : 0; }

// ---- the table ----

static void place_entry(tsr_location_aliases *aliases, int64_t entry) {
  size_t slot = (size_t)hash_of(aliases->entries[entry].location) & aliases->mask;
  while (aliases->slots[slot]) slot = (slot + 1) & aliases->mask;
  aliases->slots[slot] = (int)entry + 1;
}

static bool grow_slots(tsr_location_aliases *aliases) {
  const size_t wanted = aliases->slots ? 2 * (aliases->mask + 1) : FIRST_SLOTS;
  int *slots = calloc(wanted, sizeof *slots);
  if (!slots) return false;
  free(aliases->slots);
  aliases->slots = slots;
  aliases->mask = wanted - 1;
  for (int64_t i = 0; i < aliases->count; i++) place_entry(aliases, i);
  return true;
}

// The entry of a location; -1 = none.
static int find_entry(const tsr_location_aliases *aliases, const tsr_attr *location) {
  if (!aliases->slots) return -1;
  const uint64_t hash = hash_of(location);
  for (size_t slot = (size_t)hash & aliases->mask; aliases->slots[slot];
       slot = (slot + 1) & aliases->mask) {
    const tsr_attr *known = aliases->entries[aliases->slots[slot] - 1].location;
    if (known == location || (hash_of(known) == hash && tsr_attr_equal(known, location)))
      return aliases->slots[slot] - 1;
  }
  return -1;
}

// ---- gathering ----

static int gather_location(tsr_location_aliases *aliases, const tsr_attr *location, bool early);

// Gathers what a location holds; gives its depth.
static int gather_inner(tsr_location_aliases *aliases, const tsr_attr *location, bool early) {
  if (!location || location->kind != TSR_ATTR_RECORD) return 0;
  const tsr_attr *inner[2] = {NULL, NULL};
  const tsr_attr *const *list = inner;
  int64_t count = 2;
  if (location->id == TSR_RECORD_LOC_NAME) {
    inner[0] = plain(tsr_attr_field(location, TSR_LOC_NAME_CHILD));
    if (!inner[0]) return 0;
    count = 1;
  } else if (location->id == TSR_RECORD_LOC_CALL) {
    inner[0] = tsr_attr_field(location, TSR_LOC_CALL_CALLEE);
    inner[1] = tsr_attr_field(location, TSR_LOC_CALL_CALLER);
  } else if (location->id == TSR_RECORD_LOC_FUSED) {
    list = tsr_attr_field(location, TSR_LOC_FUSED_LIST)->items;
    count = tsr_attr_field(location, TSR_LOC_FUSED_LIST)->count;
  } else {
    return 0;
  }
  int depth = 0;
  for (int64_t i = 0; i < count; i++) {
    const int below = gather_location(aliases, plain(list[i]), early);
    if (below >= depth) depth = below + 1;
  }
  return depth;
}

static int new_entry(tsr_location_aliases *aliases, const tsr_attr *location, bool early) {
  if ((!aliases->slots || 2 * (size_t)aliases->count > aliases->mask) && !grow_slots(aliases))
    return -1;
  tsr_location_alias *entries =
      tsr_grow(aliases->entries, aliases->count, &aliases->capacity, sizeof *entries);
  if (!entries) return -1;
  aliases->entries = entries;
  entries[aliases->count] = (tsr_location_alias){.location = location, .early = early};
  place_entry(aliases, aliases->count);
  return (int)aliases->count++;
}

// An alias that stands before the module takes those inside with it.
static void move_early(tsr_location_aliases *aliases, int entry) {
  if (aliases->entries[entry].early) return;
  aliases->entries[entry].early = true;
  gather_inner(aliases, aliases->entries[entry].location, true);
}

static int gather_location(tsr_location_aliases *aliases, const tsr_attr *location, bool early) {
  if (aliases->failed) return 0;
  int entry = find_entry(aliases, location);
  if (entry < 0) {
    entry = new_entry(aliases, location, early);
    aliases->failed = entry < 0;
    if (aliases->failed) return 0;
    const int depth = gather_inner(aliases, location, early);
    aliases->entries[entry].depth = depth;
  }
  if (early) move_early(aliases, entry);
  return aliases->entries[entry].depth;
}

// The arguments whose locations are printed, in the order of their printing.
static void gather_arguments(tsr_location_aliases *aliases, const tsr_op *op,
                             const tsr_ir_block *block) {
  const bool generic = aliases->generic || op->info->form == TSR_TEXT_GENERIC;
  if (!generic && op->info->id == TSR_OP_WHILE) return;
  const bool paired = !generic && op->info->id == TSR_OP_REDUCE && block->arg_count % 2 == 0;
  const int half = block->arg_count / 2;
  for (int i = 0; i < block->arg_count; i++) {
    const int at = paired ? i / 2 + (i % 2 ? half : 0) : i;
    gather_location(aliases, plain(block->args[at]->location), true);
  }
}

static void gather_op(tsr_location_aliases *aliases, const tsr_op *op) {
  gather_location(aliases, plain(op->location), false);
  if (!aliases->generic && op->info->id == TSR_OP_REDUCE && tsr_reduce_is_short(op)) return;
  for (int i = 0; i < op->region_count; i++)
    for (const tsr_ir_block *block = op->regions[i].first; block; block = block->next) {
      gather_arguments(aliases, op, block);
      for (const tsr_op *inner = block->first; inner; inner = inner->next)
        gather_op(aliases, inner);
    }
}

// Numbers by depth, then by first use.
static bool number_aliases(tsr_location_aliases *aliases) {
  int deepest = 0;
  for (int64_t i = 0; i < aliases->count; i++)
    if (aliases->entries[i].depth > deepest) deepest = aliases->entries[i].depth;
  aliases->order = calloc((size_t)aliases->count + 1, sizeof *aliases->order);
  if (!aliases->order) return false;
  int number = 0;
  for (int depth = 0; depth <= deepest; depth++)
    for (int64_t i = 0; i < aliases->count; i++) {
      if (aliases->entries[i].depth != depth) continue;
      aliases->entries[i].number = number;
      aliases->order[number++] = (int)i;
    }
  return true;
}

void tsr_location_aliases_gather(tsr_location_aliases *aliases, const tsr_op *op) {
  gather_op(aliases, op);
  if (!aliases->failed && !number_aliases(aliases)) aliases->failed = true;
}

void tsr_location_aliases_deinit(tsr_location_aliases *aliases) {
  free(aliases->entries);
  free(aliases->slots);
  free(aliases->order);
  *aliases = (tsr_location_aliases){.entries = NULL};
}

// ---- printing ----

static void print_place(const tsr_attr *location, tsr_text *out) {
  const tsr_attr *name = tsr_attr_field(location, TSR_LOC_FILE_NAME);
  const tsr_attr *place = tsr_attr_field(location, TSR_LOC_FILE_PLACE);
  static const char *const before[5][4] = {
      [1] = {":"}, [2] = {":", ":"}, [3] = {":", ":", " to :"}, [4] = {":", ":", " to ", ":"}};
  tsr_string_print(name->bytes, name->length, out);
  const int64_t count = place->count <= 4 ? place->count : 4;
  for (int64_t i = 0; i < count; i++) {
    tsr_text_add(out, before[count][i]);
    tsr_text_add_int(out, tsr_attr_int_at(place, i));
  }
}

static void print_name(const tsr_location_aliases *aliases, const tsr_attr *location,
                       tsr_text *out) {
  const tsr_attr *name = tsr_attr_field(location, TSR_LOC_NAME_NAME);
  const tsr_attr *child = plain(tsr_attr_field(location, TSR_LOC_NAME_CHILD));
  tsr_string_print(name->bytes, name->length, out);
  if (!child) return;
  tsr_text_add_char(out, '(');
  tsr_location_aliases_print(aliases, child, true, out);
  tsr_text_add_char(out, ')');
}

static void print_call(const tsr_location_aliases *aliases, const tsr_attr *location,
                       tsr_text *out) {
  tsr_text_add(out, "callsite(");
  tsr_location_aliases_print(aliases, tsr_attr_field(location, TSR_LOC_CALL_CALLEE), true, out);
  tsr_text_add(out, " at ");
  tsr_location_aliases_print(aliases, tsr_attr_field(location, TSR_LOC_CALL_CALLER), true, out);
  tsr_text_add_char(out, ')');
}

static void print_fused(const tsr_location_aliases *aliases, const tsr_attr *location,
                        tsr_text *out) {
  const tsr_attr *list = tsr_attr_field(location, TSR_LOC_FUSED_LIST);
  const tsr_attr *metadata = tsr_attr_field(location, TSR_LOC_FUSED_METADATA);
  tsr_text_add(out, "fused");
  if (metadata) {
    tsr_text_add_char(out, '<');
    tsr_attr_print(metadata, out);
    tsr_text_add_char(out, '>');
  }
  tsr_text_add_char(out, '[');
  for (int64_t i = 0; i < list->count; i++) {
    if (i) tsr_text_add(out, ", ");
    tsr_location_aliases_print(aliases, list->items[i], true, out);
  }
  tsr_text_add_char(out, ']');
}

static void print_alias(const tsr_location_alias *alias, tsr_text *out) {
  tsr_text_add(out, "#loc");
  if (alias->number) tsr_text_add_int(out, alias->number);
}

void tsr_location_aliases_print(const tsr_location_aliases *aliases, const tsr_attr *location,
                                bool allow_alias, tsr_text *out) {
  location = plain(location);
  const int entry = allow_alias ? find_entry(aliases, location) : -1;
  if (entry >= 0) {
    print_alias(&aliases->entries[entry], out);
    return;
  }
  const int id = location && location->kind == TSR_ATTR_RECORD ? location->id : -1;
  if (!location)
    tsr_text_add(out, "unknown");
  else if (id == TSR_RECORD_LOC_FILE)
    print_place(location, out);
  else if (id == TSR_RECORD_LOC_NAME)
    print_name(aliases, location, out);
  else if (id == TSR_RECORD_LOC_CALL)
    print_call(aliases, location, out);
  else if (id == TSR_RECORD_LOC_FUSED)
    print_fused(aliases, location, out);
  else
    tsr_attr_print(location, out);
}

void tsr_location_aliases_define(const tsr_location_aliases *aliases, bool early, tsr_text *out) {
  for (int64_t i = 0; i < aliases->count && aliases->order; i++) {
    const tsr_location_alias *alias = &aliases->entries[aliases->order[i]];
    if (alias->early != early) continue;
    print_alias(alias, out);
    tsr_text_add(out, " = loc(");
    tsr_location_aliases_print(aliases, alias->location, false, out);
    tsr_text_add(out, ")\n");
  }
}
