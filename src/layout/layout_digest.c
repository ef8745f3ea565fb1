// Layouts as values: equal, digested, printed. layout_equivalent.c compares which elements devices
// hold, however the layouts are written.
#include <string.h>

#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "layout/layout.h"
#include "layout/layout_internal.h"
#include "mesh/mesh.h"
#include "spec/sharding_internal.h"
#include "spec/spec.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/sharding.h"

// ---- equality ----

static int64_t range_count(const tsr_layout *layout) {
  const tsr_box_table *table = layout->table;
  if (layout->kind == TSR_LAYOUT_FLAT) return table->shard_count;
  return table->first[table->shard_count] * layout->rank;
}

static bool same_table(const tsr_layout *a, const tsr_layout *b) {
  const tsr_box_table *x = a->table, *y = b->table;
  const size_t starts = sizeof *x->first * ((size_t)x->shard_count + 1);
  if (x->shard_count != y->shard_count) return false;
  if (a->kind == TSR_LAYOUT_BOXES && memcmp(x->first, y->first, starts) != 0) return false;
  const size_t bytes = sizeof *x->ranges * (size_t)range_count(a);
  return !bytes || !memcmp(x->ranges, y->ranges, bytes);
}

bool tsr_layout_same(const tsr_layout *a, const tsr_layout *b) {
  if (a == b) return true;
  if (a->kind != b->kind || a->policy != b->policy || a->rank != b->rank || !a->mesh != !b->mesh ||
      memcmp(a->dims, b->dims, sizeof *a->dims * a->rank) != 0)
    return false;
  if (a->kind == TSR_LAYOUT_GRID) return tsr_sharding_equal(a->sharding, b->sharding);
  return (!a->mesh || tsr_mesh_equal(a->mesh, b->mesh)) && same_table(a, b);
}

// ---- digest ----

static tsr_hash128 digest_table(const tsr_layout *layout) {
  const tsr_box_table *table = layout->table;
  tsr_hash128 hash = TSR_HASH128_EMPTY;
  if (layout->kind == TSR_LAYOUT_BOXES)
    hash = tsr_hash128_add(hash, table->first,
                           sizeof *table->first * ((size_t)table->shard_count + 1));
  return tsr_hash128_add(hash, table->ranges, sizeof *table->ranges * (size_t)range_count(layout));
}

tsr_hash128 tsr_layout_digest(const tsr_layout *layout) {
  const tsr_hash128 cut = layout->kind == TSR_LAYOUT_GRID
                              ? tsr_spec_digest(tsr_sharding_spec(layout->sharding))
                              : digest_table(layout);
  const tsr_hash128 mesh = layout->mesh ? tsr_mesh_digest(layout->mesh) : TSR_HASH128_EMPTY;
  const uint64_t numbers[] = {cut.low,      cut.high,       mesh.low,     mesh.high,
                              layout->kind, layout->policy, layout->rank, layout->mesh != NULL};
  const tsr_hash128 hash = tsr_hash128_add(TSR_HASH128_EMPTY, numbers, sizeof numbers);
  return tsr_hash128_add(hash, layout->dims, sizeof *layout->dims * layout->rank);
}

// ---- text ----

static void print_spec(const tsr_spec *spec, tsr_text *out) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = tsr_spec_print(spec, TSR_FORM_SHORT, &text);
  tsr_text_add(out, text.length ? tsr_text_string(&text) : "()");
  if (status) out->failed = true;  // the short form can say everything: memory is out
  tsr_status_free(status);
  tsr_text_deinit(&text);
}

void tsr_layout_describe(const tsr_layout *layout, tsr_text *out) {
  const tsr_shape shape = tsr_layout_shape(layout);
  tsr_shape_print(&shape, out);
  if (layout->mesh) {
    tsr_text_add(out, " over {");
    tsr_mesh_print(layout->mesh, out);
    tsr_text_add(out, "}");
  }
  if (layout->kind != TSR_LAYOUT_GRID) {
    tsr_text_addf(out, " in %lld shards of %s", (long long)tsr_layout_shard_count(layout),
                  layout->kind == TSR_LAYOUT_FLAT ? "flat ranges" : "boxes");
    return;
  }
  tsr_text_add(out, " as ");
  print_spec(tsr_sharding_spec(layout->sharding), out);
  if (layout->policy != TSR_POLICY_ERROR)
    tsr_text_addf(out, ", %s", tsr_policy_name((tsr_policy)layout->policy));
}
