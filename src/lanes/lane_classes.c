// Partitions of lanes, interned; linear in lanes.
#include "lanes/lane_classes.h"

#include <stdlib.h>
#include <string.h>

#include "ir/ir.h"
#include "tessera/engine/hash.h"

struct tsr_class_meet {
  const tsr_lane_classes *a, *b, *met;
  struct tsr_class_meet *next;
};

// ---- numbering ----

// A hash table of items that were numbered, by index plus one.
typedef struct number_table {
  int *places;
  uint64_t mask;
} number_table;

static tsr_status open_numbers(number_table *table, int count) {
  uint64_t capacity = 16;
  while (capacity < 2 * (uint64_t)count) capacity *= 2;
  table->places = calloc(capacity, sizeof *table->places);
  table->mask = capacity - 1;
  return table->places ? NULL : tsr_fail(NO_MEMORY, "memory of a program");
}

static bool same_list(const int *starts, const int64_t *items, int a, int b) {
  const int length = starts[a + 1] - starts[a];
  return length == starts[b + 1] - starts[b] &&
         (!length || !memcmp(items + starts[a], items + starts[b], sizeof *items * (size_t)length));
}

tsr_status tsr_number_lists(int count, const int *starts, const int64_t *items,
                            int64_t *out_numbers) {
  number_table table;
  TSR_TRY(open_numbers(&table, count));
  int64_t used = 0;
  for (int i = 0; i < count; i++) {
    const size_t bytes = sizeof *items * (size_t)(starts[i + 1] - starts[i]);
    uint64_t at = tsr_hash64(items + starts[i], bytes, 0) & table.mask;
    while (table.places[at] && !same_list(starts, items, table.places[at] - 1, i))
      at = (at + 1) & table.mask;
    if (table.places[at]) {
      out_numbers[i] = out_numbers[table.places[at] - 1];
    } else {
      table.places[at] = i + 1;
      out_numbers[i] = used++;
    }
  }
  free(table.places);
  return NULL;
}

// The class of each lane by its key; gives their number. Both lists have room for all lanes.
static tsr_status number_keys(int lanes, const int64_t *keys, int *of, int *first, int *out_count) {
  number_table table;
  TSR_TRY(open_numbers(&table, lanes));
  int count = 0;
  for (int lane = 0; lane < lanes; lane++) {
    uint64_t at = tsr_hash64(&keys[lane], sizeof *keys, 0) & table.mask;
    while (table.places[at] && keys[first[table.places[at] - 1]] != keys[lane])
      at = (at + 1) & table.mask;
    if (!table.places[at]) {
      first[count] = lane;
      table.places[at] = ++count;
    }
    of[lane] = table.places[at] - 1;
  }
  free(table.places);
  *out_count = count;
  return NULL;
}

// ---- interning ----

static const tsr_lane_classes *find_classes(const tsr_class_table *table, uint64_t hash, int lanes,
                                            const int *of) {
  const tsr_lane_classes *c = table->lists[hash % TSR_CLASS_LISTS];
  while (c && (c->hash != hash || c->lanes != lanes ||
               memcmp(c->of, of, sizeof *of * (size_t)lanes) != 0))
    c = c->next;
  return c;
}

static tsr_status add_classes(tsr_class_table *table, tsr_lane_classes made,
                              const tsr_lane_classes **out_classes) {
  const tsr_lane_classes **list = &table->lists[made.hash % TSR_CLASS_LISTS];
  tsr_lane_classes *kept = tsr_arena_alloc(table->arena, sizeof *kept);
  int *of = tsr_arena_alloc(table->arena, sizeof *of * (size_t)made.lanes);
  int *first = tsr_arena_alloc(table->arena, sizeof *first * (size_t)made.count);
  TSR_NEED(kept && of && first ? kept : NULL);
  memcpy(of, made.of, sizeof *of * (size_t)made.lanes);
  memcpy(first, made.first, sizeof *first * (size_t)made.count);
  made.of = of;
  made.first = first;
  made.next = *list;
  *kept = made;
  *list = *out_classes = kept;
  return NULL;
}

tsr_status tsr_classes_of_keys(tsr_class_table *table, int lanes, const int64_t *keys,
                               const tsr_lane_classes **out_classes) {
  int *of = malloc(2 * sizeof *of * (size_t)lanes + 1);
  if (!of) return tsr_fail(NO_MEMORY, "memory of a program");
  tsr_lane_classes made = {.lanes = lanes, .of = of, .first = of + lanes};
  tsr_status status = number_keys(lanes, keys, of, of + lanes, &made.count);
  *out_classes = NULL;
  if (!status && made.count > 1) {
    made.hash = tsr_hash64(of, sizeof *of * (size_t)lanes, 0);
    *out_classes = find_classes(table, made.hash, lanes, of);
    if (!*out_classes) status = add_classes(table, made, out_classes);
  }
  free(of);
  return status;
}

tsr_status tsr_classes_finest(tsr_class_table *table, int lanes,
                              const tsr_lane_classes **out_classes) {
  int64_t *keys = malloc(sizeof *keys * (size_t)lanes + 1);
  if (!keys) return tsr_fail(NO_MEMORY, "memory of a program");
  for (int lane = 0; lane < lanes; lane++) keys[lane] = lane;
  const tsr_status status = tsr_classes_of_keys(table, lanes, keys, out_classes);
  free(keys);
  return status;
}

// ---- meets ----

static tsr_status make_meet(tsr_class_table *table, const tsr_lane_classes *a,
                            const tsr_lane_classes *b, const tsr_lane_classes **out_classes) {
  int64_t *keys = malloc(sizeof *keys * (size_t)a->lanes + 1);
  if (!keys) return tsr_fail(NO_MEMORY, "memory of a program");
  for (int lane = 0; lane < a->lanes; lane++)
    keys[lane] = (int64_t)a->of[lane] * b->count + b->of[lane];
  const tsr_status status = tsr_classes_of_keys(table, a->lanes, keys, out_classes);
  free(keys);
  return status;
}

tsr_status tsr_classes_meet(tsr_class_table *table, const tsr_lane_classes *a,
                            const tsr_lane_classes *b, const tsr_lane_classes **out_classes) {
  if (!a || !b || a == b || a->count == a->lanes) {
    *out_classes = a ? a : b;
    return NULL;
  }
  struct tsr_class_meet **list =
      &table->meets[((uintptr_t)a / 64 * 31 + (uintptr_t)b / 64) % TSR_CLASS_LISTS];
  struct tsr_class_meet *known = *list;
  while (known && (known->a != a || known->b != b)) known = known->next;
  if (!known) {
    known = tsr_arena_alloc(table->arena, sizeof *known);
    TSR_NEED(known);
    *known = (struct tsr_class_meet){.a = a, .b = b, .next = *list};
    TSR_TRY(make_meet(table, a, b, &known->met));
    *list = known;
  }
  *out_classes = known->met;
  return NULL;
}
