// Fixed device orders for each kind of TPU. On small slices an order that closes to a ring on the
// board beats any assignment of physical axes.
//
// A rule holds for some slices and gives the order of one group of devices, which repeats group
// after group. The tables reproduce JAX's behaviour, odd cases included (docs/compatibility.md
// lists them): bounds count from coordinate zero, and the rule for eight v5e devices ignores the
// shape of the slice.
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "mesh/jax.h"

enum { LARGEST_GROUP = 16 };

typedef struct tsr_kind_rule {
  int step, most;     // holds for multiples of `step` devices, up to `most`
  int bounds[3];      // required bounds of the slice; 0 = any
  int64_t last_axis;  // required size of the last mesh axis; 0 = any
  bool one_axis;      // only when a single mesh axis holds all devices
  bool flat_box;      // only when the box is at most 2 wide in x and y
  bool by_place;      // order counts devices by (z, y, x) instead of as listed
  int group;          // length of `order`
  int order[LARGEST_GROUP];
} tsr_kind_rule;

// clang-format off
static const tsr_kind_rule no_rules[] = {{.step = 0}};

static const tsr_kind_rule v2_rules[] = {
    {.step = 8, .most = 8, .group = 8, .order = {0, 1, 2, 3, 6, 7, 4, 5}},
    {.step = 8, .most = INT_MAX, .last_axis = 8, .group = 8, .order = {0, 1, 2, 3, 6, 7, 4, 5}},
    {.step = 1, .most = INT_MAX, .group = 1, .order = {0}},
    {.step = 0},
};
static const tsr_kind_rule inference_rules[] = {
    {.step = 4, .most = 4, .group = 4, .order = {0, 1, 3, 2}},
    {.step = 0},
};
static const tsr_kind_rule v5e_rules[] = {
    {.step = 4, .most = 4, .bounds = {2, 2, 1}, .by_place = true,
     .group = 4, .order = {0, 1, 3, 2}},
    {.step = 8, .most = 8, .bounds = {2, 2, 2}, .by_place = true,
     .group = 8, .order = {0, 4, 2, 6, 1, 5, 3, 7}},
    {.step = 8, .most = 8, .by_place = true,
     .group = 8, .order = {0, 1, 2, 3, 7, 6, 5, 4}},
    {.step = 16, .most = 16, .bounds = {4, 4, 1}, .one_axis = true, .by_place = true,
     .group = 16, .order = {0, 1, 2, 3, 7, 6, 5, 9, 10, 11, 15, 14, 13, 12, 8, 4}},
    {.step = 0},
};
static const tsr_kind_rule v5p_rules[] = {
    {.step = 8, .most = 8, .bounds = {2, 2, 2}, .by_place = true,
     .group = 8, .order = {0, 1, 3, 2, 6, 7, 5, 4}},
    {.step = 0},
};
static const tsr_kind_rule v7_rules[] = {
    {.step = 8, .most = 32, .flat_box = true, .group = 8, .order = {0, 1, 2, 3, 6, 7, 4, 5}},
    {.step = 0},
};

static const tsr_jax_kind kinds[] = {
    {"TPU v2",      v2_rules,        TSR_CORE_NONE,   false},
    {"TPU v3",      v2_rules,        TSR_CORE_NONE,   false},
    {"TPU v4 lite", inference_rules, TSR_CORE_NONE,   false},
    {"TPU v5",      v5p_rules,       TSR_CORE_IF_TWO, false},
    {"TPU v5 lite", v5e_rules,       TSR_CORE_NONE,   true},
    {"TPU v5e",     v5e_rules,       TSR_CORE_NONE,   true},
    {"TPU v5p",     v5p_rules,       TSR_CORE_IF_TWO, false},
    {"TPU v6 lite", v5e_rules,       TSR_CORE_NONE,   false},
    {"TPU7",        v7_rules,        TSR_CORE_ALWAYS, false},
    {"TPU7x",       v7_rules,        TSR_CORE_ALWAYS, false},
    {"TPU8i",       inference_rules, TSR_CORE_ALWAYS, false},
};
static const tsr_jax_kind any_kind = {"", no_rules, TSR_CORE_NONE, false};
// clang-format on

const tsr_jax_kind *tsr_jax_kind_find(const char *name) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (!strcmp(name, kinds[i].name)) return &kinds[i];
  return &any_kind;
}

// Coordinates for rules: a device without any is at the origin.
static int64_t coordinate(const tsr_device *device, int axis) {
  return device->has_coords ? device->coords[axis] : 0;
}

// Compares two places by these axes, in this order.
static int compare_places(const tsr_device *a, const tsr_device *b, const int axes[3]) {
  for (int i = 0; i < 3; i++) {
    const int64_t x = coordinate(a, axes[i]), y = coordinate(b, axes[i]);
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

// The greatest place in (x, y, z) order gives all three bounds.
static bool has_bounds(const tsr_device_list *list, const int bounds[3]) {
  if (!bounds[0]) return true;
  const tsr_device *greatest = &list->devices[0];
  for (int64_t i = 1; i < list->count; i++)
    if (compare_places(&list->devices[i], greatest, (const int[]){0, 1, 2}) > 0)
      greatest = &list->devices[i];
  for (int axis = 0; axis < 3; axis++)
    if (coordinate(greatest, axis) != bounds[axis] - 1) return false;
  return true;
}

static tsr_status rule_holds(const tsr_kind_rule *rule, const tsr_device_list *list,
                             const int64_t *shape, int rank, bool *out_holds) {
  *out_holds = false;
  if (list->count % rule->step || list->count > rule->most) return NULL;
  if (rule->last_axis && (!rank || shape[rank - 1] != rule->last_axis)) return NULL;
  if (!has_bounds(list, rule->bounds)) return NULL;
  bool one_axis = false;
  for (int i = 0; i < rank; i++) one_axis |= shape[i] == list->count;
  if (rule->one_axis && !one_axis) return NULL;
  if (rule->flat_box) {
    tsr_torus torus;
    TSR_TRY(tsr_torus_init(&torus, list));
    if (torus.sizes[TSR_FIELD_X] > 2 || torus.sizes[TSR_FIELD_Y] > 2) return NULL;
  }
  *out_holds = true;
  return NULL;
}

// Positions of the devices by (z, y, x), stable. Rules that use it have at most LARGEST_GROUP
// devices.
static void sort_by_place(const tsr_device_list *list, int64_t out_positions[LARGEST_GROUP]) {
  for (int64_t i = 0; i < list->count; i++) {
    int64_t at = i;
    for (; at > 0; at--) {
      const tsr_device *before = &list->devices[out_positions[at - 1]];
      if (compare_places(before, &list->devices[i], (const int[]){2, 1, 0}) <= 0) break;
      out_positions[at] = out_positions[at - 1];
    }
    out_positions[at] = i;
  }
}

// The list position of the device at `index` of this rule's order.
static int64_t ordered_position(const tsr_kind_rule *rule, const int64_t *by_place, int64_t index) {
  const int rung = rule->order[index % rule->group];
  return rule->by_place ? by_place[rung] : index - index % rule->group + rung;
}

// On one chip, or on chips one step apart.
static bool are_neighbours(const tsr_device *a, const tsr_device *b) {
  int64_t steps = 0;
  for (int axis = 0; axis < 3; axis++) steps += llabs(a->coords[axis] - b->coords[axis]);
  return a->has_coords && b->has_coords && steps <= 1;
}

// Whether every group of the order closes to a ring of neighbours.
static bool makes_rings(const tsr_kind_rule *rule, const int64_t *by_place,
                        const tsr_device_list *list) {
  for (int64_t i = 0; i < list->count; i++) {
    const int64_t next = (i + 1) % rule->group ? i + 1 : i + 1 - rule->group;
    if (!are_neighbours(&list->devices[ordered_position(rule, by_place, i)],
                        &list->devices[ordered_position(rule, by_place, next)]))
      return false;
  }
  return true;
}

tsr_status tsr_jax_kind_order(const tsr_device_list *list, const int64_t *shape, int rank,
                              bool rings_only, int64_t *out_ids, bool *out_done) {
  *out_done = false;
  for (const tsr_kind_rule *rule = list->kind->rules; rule->step && !*out_done; rule++) {
    bool holds = false;
    int64_t by_place[LARGEST_GROUP] = {0};
    TSR_TRY(rule_holds(rule, list, shape, rank, &holds));
    if (!holds) continue;
    if (rule->by_place) sort_by_place(list, by_place);
    if (rings_only && rule->group > 1 && !makes_rings(rule, by_place, list)) continue;
    for (int64_t i = 0; i < list->count; i++)
      out_ids[i] = list->devices[ordered_position(rule, by_place, i)].id;
    *out_done = true;
  }
  return NULL;
}
