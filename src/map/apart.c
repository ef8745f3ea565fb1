// Finds companions that a map separates from their weight. A quantised weight is several tensors,
// and an optimiser keeps more for it. A line that fuses, cuts or renames the weight alone leaves
// them behind, and the result looks complete but is not. Names show what belongs together
// (plan/companions.def).
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "map/map.h"
#include "plan/companions.h"
#include "plan/stand_ins.h"

// ---- weights in other forms ----

static tsr_status add_hidden(tsr_map_hiddens *hiddens, const char *path, int64_t tensor) {
  tsr_map_hidden *items =
      tsr_grow(hiddens->items, hiddens->count, &hiddens->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "a list of weights");
  hiddens->items = items;
  const char *kept = tsr_arena_copy(&hiddens->arena, path, strlen(path));
  if (!kept) return tsr_fail(NO_MEMORY, "a list of weights");
  items[hiddens->count++] = (tsr_map_hidden){.path = kept, .tensor = tensor};
  return NULL;
}

tsr_status tsr_map_hiddens_init(tsr_map_hiddens *hiddens, const tsr_tree *source) {
  *hiddens = (tsr_map_hiddens){.arena = TSR_ARENA_EMPTY};
  for (int64_t i = 0; i < tsr_tree_count(source); i++) {
    tsr_stand_in stand_in;
    if (tsr_stand_in_find(source, i, &stand_in) && tsr_tree_find(source, stand_in.path) < 0)
      TSR_TRY(add_hidden(hiddens, stand_in.path, i));
  }
  return NULL;
}

void tsr_map_hiddens_deinit(tsr_map_hiddens *hiddens) {
  tsr_arena_deinit(&hiddens->arena);
  free(hiddens->items);
}

// A line whose pattern matches any name also takes the other form.
static void look_at_hidden(tsr_mapping *mapping, const tsr_map *map, const unsigned char *used,
                           const tsr_map_hidden *hidden) {
  if (!hidden->line || used[hidden->tensor]) return;
  tsr_text_addf(&mapping->apart,
                "%s:%d: this line is for \"%s\", which the source has only as \"%s\"; lines for "
                "that form are needed, or a model with plain weights",
                map->name, hidden->line, hidden->path,
                tsr_tree_at(mapping->source, hidden->tensor)->path);
}

// ---- companions ----

typedef struct apart_search {
  tsr_mapping *mapping;
  const tsr_map *map;
  const unsigned char *used;
  int64_t *made;           // owned: of each source, a tensor that a line makes of it; -1 = none
  unsigned char *changed;  // owned: of each source, whether a line does more than rename it
} apart_search;

// A tensor that is only renamed.
static bool is_renamed(const tsr_mapping *mapping, const tsr_mapped *mapped) {
  if (mapped->piece_count != 1 || mapped->pieces->source < 0) return false;
  const tsr_tensor *tensor = tsr_tree_at(mapping->source, mapped->pieces->source);
  const tsr_shape shape = tsr_tensor_shape(tensor);
  tsr_map_piece piece = tsr_map_kept_open(mapped->pieces);
  tsr_map_piece_simplify(&piece);
  const bool run = piece.loop_count == 0 ||
                   (piece.loop_count == 1 && piece.loops[0].from == 1 && piece.loops[0].to == 1);
  return run && tsr_shape_equal(&shape, &mapped->shape) &&
         tsr_map_piece_elements(&piece) == tsr_tensor_elements(tensor);
}

static tsr_status find_uses(apart_search *a) {
  const int64_t count = tsr_tree_count(a->mapping->source);
  a->made = malloc(sizeof *a->made * (size_t)(count + 1));
  a->changed = calloc((size_t)count + 1, 1);
  if (!a->made || !a->changed)
    return tsr_fail(NO_MEMORY, "a list of %lld tensors", (long long)count);
  for (int64_t i = 0; i < count; i++) a->made[i] = -1;
  for (int64_t i = 0; i < a->mapping->count; i++) {
    const tsr_mapped *mapped = &a->mapping->items[i];
    const bool changed = mapped->line && !is_renamed(a->mapping, mapped);
    for (int64_t p = 0; p < mapped->piece_count && mapped->line; p++) {
      const int64_t source = mapped->pieces[p].source;
      if (source < 0) continue;
      if (a->made[source] < 0) a->made[source] = i;
      a->changed[source] |= changed;
    }
  }
  return NULL;
}

static void note(const apart_search *a, int64_t taken, int64_t left) {
  const tsr_tree *source = a->mapping->source;
  const tsr_mapped *mapped = &a->mapping->items[a->made[taken]];
  tsr_text_addf(&a->mapping->apart,
                "%s:%d: tensor \"%s\" becomes \"%s\", but \"%s\", which goes with it, %s; a line "
                "for it takes it along",
                a->map->name, mapped->line, tsr_tree_at(source, taken)->path, mapped->name,
                tsr_tree_at(source, left)->path, a->map->only ? "is left out" : "stays as it is");
}

// Whether a line takes one of two tensors but not the other.
static bool takes_one(const apart_search *a, int64_t taken, int64_t left) {
  return a->made[taken] >= 0 && a->used[left] == TSR_SOURCE_UNUSED;
}

// Companions follow their weight under any name. They may be renamed alone, unless the name is the
// only thing that ties them to the weight.
static void look_at(const apart_search *a, int64_t index) {
  const tsr_tree *source = a->mapping->source;
  tsr_companion c = tsr_companion_find(source, index);
  const bool form = c.kind == TSR_COMPANION_WHOLE && !c.state;
  if (c.of < 0) (void)tsr_companion_is_number(source, index, &c.of);
  if (c.of < 0 || c.of == index) return;
  if (takes_one(a, c.of, index))
    note(a, c.of, index);
  else if (takes_one(a, index, c.of) && (form || a->changed[index]))
    note(a, index, c.of);
}

tsr_status tsr_mapping_find_apart(tsr_mapping *mapping, const tsr_map *map,
                                  const unsigned char *used, const tsr_map_hiddens *hiddens) {
  apart_search a = {.mapping = mapping, .map = map, .used = used};
  tsr_status status = find_uses(&a);
  for (int64_t i = 0; i < hiddens->count && !status && !mapping->apart.length; i++)
    look_at_hidden(mapping, map, used, &hiddens->items[i]);
  for (int64_t i = 0; i < tsr_tree_count(mapping->source) && !status && !mapping->apart.length; i++)
    look_at(&a, i);
  free(a.made);
  free(a.changed);
  return status ? status : tsr_text_check(&mapping->apart);
}

// ---- checking ----

tsr_status tsr_mapping_check(const tsr_mapping *mapping, bool apart_allowed) {
  if (!apart_allowed && mapping->apart.length)
    return tsr_fail(COMPANIONS_APART, "%s", tsr_text_string(&mapping->apart));
  if (!mapping->idle) return NULL;
  const char *first = tsr_text_string(&mapping->warnings);
  return tsr_fail(NOT_FOUND, "none of the map's lines finds a tensor: %.*s",
                  (int)strcspn(first, "\n"), first);
}
