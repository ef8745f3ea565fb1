// Two propagations of one program, value by value.
#include <stdlib.h>

#include "base/text_internal.h"
#include "insight/insight.h"
#include "syntax/syntax.h"

// What a slot is in the given program, whatever was added to the work: which of the values of which
// op, and which copy.
typedef struct slot_key {
  uint64_t what;
  uint32_t slot;
} slot_key;

static int by_what(const void *a, const void *b) {
  const slot_key *x = a, *y = b;
  if (x->what != y->what) return x->what < y->what ? -1 : 1;
  return (x->slot > y->slot) - (x->slot < y->slot);
}

static uint64_t what_of(const tsr_propagation *p, int64_t slot) {
  const tsr_sharding_place *place = &p->places[slot];
  const tsr_value *value = place->value ? tsr_given_value(p, place->value) : NULL;
  const tsr_op *op = value ? value->def : place->func;
  if (value && !op) op = tsr_block_parent(value->block);
  const uint64_t kind = !value ? 3 : value->def ? 0 : 1;
  const uint64_t region = kind == 1 ? (uint64_t)(value->block->region - op->regions) & 0xff : 0;
  const uint32_t index = (uint32_t)(value ? value->index : place->index);
  return (uint64_t)op->origin << 32 | region << 24 | kind << 22 | (index & 0x3fffff);
}

static slot_key *make_keys(const tsr_propagation *p, int64_t *out_count) {
  slot_key *keys = calloc((size_t)p->place_count + 1, sizeof *keys);
  int64_t count = 0;
  for (int64_t i = 1; keys && i <= p->place_count; i++) {
    const tsr_sharding_place *place = &p->places[i];
    if (tsr_slot_is_shown(p, i) || (place->func && place->func->origin))
      keys[count++] = (slot_key){what_of(p, i), (uint32_t)i};
  }
  if (keys) qsort(keys, (size_t)count, sizeof *keys, by_what);
  *out_count = count;
  return keys;
}

// The same axes on the same mesh, be dims open or closed. The two are of different programs.
static bool is_same_cut(const tsr_tensor_sharding *a, const tsr_tensor_sharding *b) {
  if (!a || !b) return a == b;
  bool same = tsr_attr_equal(a->mesh_ref, b->mesh_ref) && tsr_attr_equal(a->mesh, b->mesh) &&
              a->rank == b->rank && tsr_sdy_parts_equal(&a->replicated, &b->replicated) &&
              tsr_sdy_parts_equal(&a->unreduced, &b->unreduced);
  for (int i = 0; same && i < a->rank; i++)
    same = tsr_sdy_parts_equal(&a->dims[i].axes, &b->dims[i].axes);
  return same;
}

static void print_change(const tsr_propagation *a, uint32_t x, const tsr_propagation *b, uint32_t y,
                         tsr_text *out) {
  tsr_slot_print(a, x, out);
  tsr_text_add(out, ": ");
  tsr_slot_sharding_print(a, x, out);
  tsr_text_add(out, " -> ");
  tsr_slot_sharding_print(b, y, out);
  tsr_text_add(out, "  (");
  tsr_type_print(tsr_slot_type(a, x), out);
  tsr_text_add(out, ")\n");
}

tsr_status tsr_propagation_compare(const tsr_propagation *before, const tsr_propagation *after,
                                   int64_t *out_count, tsr_text *out) {
  int64_t count_a = 0, count_b = 0, changes = 0;
  slot_key *a = make_keys(before, &count_a), *b = make_keys(after, &count_b);
  for (int64_t i = 0, k = 0; a && b && i < count_a && k < count_b;) {
    if (a[i].what != b[k].what) {
      if (a[i].what < b[k].what)
        i++;
      else
        k++;
      continue;
    }
    const uint32_t x = a[i++].slot, y = b[k++].slot;
    if (is_same_cut(before->places[x].last, after->places[y].last)) continue;
    changes++;
    print_change(before, x, after, y, out);
  }
  const bool made = a && b;
  free(a);
  free(b);
  if (!made) return tsr_fail(NO_MEMORY, "the values of two propagations");
  *out_count = changes;
  return tsr_text_check(out);
}
