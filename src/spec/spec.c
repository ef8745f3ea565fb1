// A spec is one block: the description, its arrays, and each name once. One free releases it. A
// plain spec of rank 2 takes about 270 bytes, so 100,000 of them are fine.
//
// One function lays out the block and runs twice: first without memory, to measure, then to fill.
#include "spec/spec.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/sized.h"
#include "spec/axis_ref.h"
#include "spec/spec_builder.h"
#include "spec/spec_internal.h"
#include "tessera/engine/kernels.h"

struct tsr_spec {
  atomic_int refs;
  tsr_hash128 digest;
  tsr_spec_desc desc;
  // then dims, stages, axes, sizes, parts, and the bytes of the names
};

// ---- names, each once ----

typedef struct name_table {
  int count;
  const char **names;  // as the caller has them
  size_t *offsets;     // of their copies
  size_t bytes;
} name_table;

static int find_name(const name_table *table, const char *name) {
  for (int i = 0; i < table->count; i++)
    if (!strcmp(table->names[i], name)) return i;
  return -1;
}

static void add_name(name_table *table, const char *name) {
  if (find_name(table, name) >= 0) return;
  table->names[table->count] = name;
  table->offsets[table->count++] = table->bytes;
  table->bytes += strlen(name) + 1;
}

static void add_refs(name_table *table, const tsr_axis_ref *refs, int count) {
  for (int i = 0; i < count; i++) add_name(table, refs[i].name);
}

static void add_stage_names(name_table *table, const tsr_stage *stage) {
  add_refs(table, stage->axes, stage->axis_count);
  for (int64_t i = 0; stage->kind == TSR_STAGE_PARTS && i < stage->count; i++)
    add_name(table, stage->parts[i].name);
}

static int64_t count_names(const tsr_spec_desc *desc) {
  int64_t count = 1;  // the mesh's
  for (int d = 0; d < desc->dim_count; d++)
    for (int s = 0; s < desc->dims[d].stage_count; s++) {
      const tsr_stage *stage = &desc->dims[d].stages[s];
      count += stage->axis_count + (stage->kind == TSR_STAGE_PARTS ? stage->count : 0);
    }
  return count + desc->unreduced_count + desc->reduced_count + desc->replicated_count;
}

static const char *mesh_name_of(const tsr_spec_desc *desc) {
  return desc->mesh_name && strcmp(desc->mesh_name, "mesh") != 0 ? desc->mesh_name : NULL;
}

static bool collect_names(const tsr_spec_desc *desc, tsr_arena *arena, name_table *out_table) {
  const size_t room = (size_t)count_names(desc);
  *out_table = (name_table){.names = tsr_arena_zeros(arena, room, sizeof(char *)),
                            .offsets = tsr_arena_zeros(arena, room, sizeof(size_t))};
  if (!out_table->names || !out_table->offsets) return false;
  for (int d = 0; d < desc->dim_count; d++)
    for (int s = 0; s < desc->dims[d].stage_count; s++)
      add_stage_names(out_table, &desc->dims[d].stages[s]);
  add_refs(out_table, desc->unreduced, desc->unreduced_count);
  add_refs(out_table, desc->reduced, desc->reduced_count);
  add_refs(out_table, desc->replicated, desc->replicated_count);
  if (mesh_name_of(desc)) add_name(out_table, mesh_name_of(desc));
  return true;
}

// ---- the block ----

// Hands out the block front to back; without memory it only counts.
typedef struct packer {
  unsigned char *base;  // NULL while measuring
  size_t used;
  const name_table *table;
  const char *names;  // of their copies
} packer;

static void *take(packer *to, size_t count, size_t size) {
  void *place = to->base && count ? to->base + to->used : NULL;
  to->used += count * size;
  return place;
}

static const char *name_copy(const packer *to, const char *name) {
  return to->names + to->table->offsets[find_name(to->table, name)];
}

static tsr_axis_ref ref_copy(const packer *to, const tsr_axis_ref *ref) {
  return (tsr_axis_ref){name_copy(to, ref->name), ref->pre ? ref->pre : 1, ref->size};
}

static const tsr_axis_ref *pack_refs(packer *to, const tsr_axis_ref *refs, int count) {
  tsr_axis_ref *copy = take(to, (size_t)count, sizeof *copy);
  for (int i = 0; copy && i < count; i++) copy[i] = ref_copy(to, &refs[i]);
  return copy;
}

static bool is_repeated(const tsr_axis_ref *refs, int index) {
  for (int i = 0; i < index; i++)
    if (tsr_axis_ref_equal(&refs[i], &refs[index])) return true;
  return false;
}

// A set: members given twice are kept once.
static const tsr_axis_ref *pack_set(packer *to, const tsr_axis_ref *refs, int count,
                                    int *out_count) {
  int kept = 0;
  for (int i = 0; i < count; i++) kept += !is_repeated(refs, i);
  tsr_axis_ref *copy = take(to, (size_t)kept, sizeof *copy);
  for (int i = 0, j = 0; copy && i < count; i++)
    if (!is_repeated(refs, i)) copy[j++] = ref_copy(to, &refs[i]);
  *out_count = kept;
  return copy;
}

static const tsr_part *pack_parts(packer *to, const tsr_part *parts, int64_t count) {
  tsr_part *copy = take(to, (size_t)count, sizeof *copy);
  for (int i = 0; copy && i < count; i++) {
    copy[i] = parts[i];
    copy[i].name = name_copy(to, parts[i].name);
  }
  return copy;
}

static const int64_t *pack_sizes(packer *to, const int64_t *sizes, int64_t count) {
  int64_t *copy = take(to, (size_t)count, sizeof *copy);
  if (copy) memcpy(copy, sizes, (size_t)count * sizeof *copy);
  return copy;
}

static tsr_stage pack_stage(packer *to, const tsr_stage *stage) {
  tsr_stage copy = {.kind = stage->kind, .axis_count = stage->axis_count};
  copy.axes = pack_refs(to, stage->axes, stage->axis_count);
  if (stage->kind == TSR_STAGE_CYCLIC) copy.block = stage->block;
  if (stage->kind == TSR_STAGE_SIZES || stage->kind == TSR_STAGE_PARTS) copy.count = stage->count;
  if (stage->kind == TSR_STAGE_SIZES) copy.sizes = pack_sizes(to, stage->sizes, stage->count);
  if (stage->kind == TSR_STAGE_PARTS) copy.parts = pack_parts(to, stage->parts, stage->count);
  return copy;
}

static tsr_spec_dim pack_dim(packer *to, const tsr_spec_dim *dim) {
  int kept = 0;
  for (int s = 0; s < dim->stage_count; s++) kept += !tsr_stage_is_empty(&dim->stages[s]);
  tsr_stage *stages = take(to, (size_t)kept, sizeof *stages);
  for (int s = 0, i = 0; s < dim->stage_count; s++) {
    if (tsr_stage_is_empty(&dim->stages[s])) continue;
    const tsr_stage copy = pack_stage(to, &dim->stages[s]);
    if (stages) stages[i++] = copy;
  }
  return (tsr_spec_dim){.stage_count = kept,
                        .stages = stages,
                        .open = dim->open,
                        .has_priority = dim->has_priority,
                        .priority = dim->priority};
}

static void pack(packer *to, const tsr_spec_desc *desc, tsr_spec_desc *out_desc) {
  to->used = sizeof(tsr_spec);
  tsr_spec_desc copy = {.size = sizeof copy, .dim_count = desc->dim_count};
  tsr_spec_dim *dims = take(to, (size_t)desc->dim_count, sizeof *dims);
  for (int d = 0; d < desc->dim_count; d++) {
    const tsr_spec_dim dim = pack_dim(to, &desc->dims[d]);
    if (dims) dims[d] = dim;
  }
  copy.dims = dims;
  copy.unreduced = pack_set(to, desc->unreduced, desc->unreduced_count, &copy.unreduced_count);
  copy.reduced = pack_set(to, desc->reduced, desc->reduced_count, &copy.reduced_count);
  copy.replicated = pack_set(to, desc->replicated, desc->replicated_count, &copy.replicated_count);
  // Without partial results there is nothing to combine.
  copy.reduction = copy.unreduced_count ? desc->reduction : TSR_REDUCE_SUM;
  const char *mesh_name = mesh_name_of(desc);
  if (to->base && mesh_name) copy.mesh_name = name_copy(to, mesh_name);
  *out_desc = copy;
}

// ---- content hash ----

static const uint64_t second_seed = UINT64_C(0x9e3779b97f4a7c15);  // of the upper 64 bits

static uint64_t hash_ref(const tsr_axis_ref *ref, uint64_t seed) {
  const int64_t numbers[] = {ref->pre, ref->size};
  return tsr_hash64(ref->name, strlen(ref->name), tsr_hash64(numbers, sizeof numbers, seed));
}

// A sum, so that the order of the members does not matter.
static uint64_t hash_set(const tsr_axis_ref *refs, int count, uint64_t seed) {
  uint64_t sum = (uint64_t)count;
  for (int i = 0; i < count; i++) sum += hash_ref(&refs[i], seed);
  return sum;
}

static uint64_t hash_stage(const tsr_stage *stage, uint64_t hash) {
  const int64_t numbers[] = {(int64_t)stage->kind, stage->axis_count, stage->count,
                             stage->kind == TSR_STAGE_CYCLIC ? stage->block : 0};
  hash = tsr_hash64(numbers, sizeof numbers, hash);
  for (int i = 0; i < stage->axis_count; i++) hash = hash_ref(&stage->axes[i], hash);
  if (stage->kind == TSR_STAGE_SIZES)
    hash = tsr_hash64(stage->sizes, (size_t)stage->count * sizeof *stage->sizes, hash);
  for (int64_t i = 0; stage->kind == TSR_STAGE_PARTS && i < stage->count; i++) {
    const tsr_part *part = &stage->parts[i];
    const int64_t sizes[] = {part->size, part->grain, part->copies};
    hash = tsr_hash64(part->name, strlen(part->name), tsr_hash64(sizes, sizeof sizes, hash));
  }
  return hash;
}

static uint64_t hash_desc(const tsr_spec_desc *desc, uint64_t seed) {
  uint64_t hash = seed + (uint64_t)desc->dim_count;
  for (int d = 0; d < desc->dim_count; d++) {
    const tsr_spec_dim *dim = &desc->dims[d];
    const int64_t numbers[] = {dim->stage_count, dim->open, dim->has_priority ? dim->priority : -1};
    hash = tsr_hash64(numbers, sizeof numbers, hash);
    for (int s = 0; s < dim->stage_count; s++) hash = hash_stage(&dim->stages[s], hash);
  }
  const uint64_t rest[] = {hash_set(desc->unreduced, desc->unreduced_count, seed + 1),
                           hash_set(desc->reduced, desc->reduced_count, seed + 2),
                           hash_set(desc->replicated, desc->replicated_count, seed + 3),
                           (uint64_t)desc->reduction};
  hash = tsr_hash64(rest, sizeof rest, hash);
  return desc->mesh_name ? tsr_hash64(desc->mesh_name, strlen(desc->mesh_name), hash) : hash;
}

// ---- comparison ----

static bool refs_equal(const tsr_axis_ref *a, const tsr_axis_ref *b, int count) {
  for (int i = 0; i < count; i++)
    if (!tsr_axis_ref_equal(&a[i], &b[i])) return false;
  return true;
}

// Sets of equal size without repetitions are equal when one contains the other.
static bool sets_equal(const tsr_axis_ref *a, int a_count, const tsr_axis_ref *b, int b_count) {
  if (a_count != b_count) return false;
  for (int i = 0; i < a_count; i++) {
    int j = 0;
    while (j < b_count && !tsr_axis_ref_equal(&a[i], &b[j])) j++;
    if (j == b_count) return false;
  }
  return true;
}

bool tsr_stage_cut_equal(const tsr_stage *a, const tsr_stage *b) {
  if (a->kind != b->kind || a->count != b->count) return false;
  if (a->kind == TSR_STAGE_CYCLIC) return a->block == b->block;
  if (a->kind == TSR_STAGE_SIZES)
    return !memcmp(a->sizes, b->sizes, (size_t)a->count * sizeof *a->sizes);
  for (int i = 0; a->kind == TSR_STAGE_PARTS && i < a->count; i++) {
    const tsr_part *x = &a->parts[i], *y = &b->parts[i];
    if (x->size != y->size || x->grain != y->grain || x->copies != y->copies ||
        strcmp(x->name, y->name) != 0)
      return false;
  }
  return true;
}

static bool dims_equal(const tsr_spec_dim *a, const tsr_spec_dim *b) {
  if (a->stage_count != b->stage_count || a->open != b->open ||
      a->has_priority != b->has_priority || a->priority != b->priority)
    return false;
  for (int s = 0; s < a->stage_count; s++) {
    const tsr_stage *x = &a->stages[s], *y = &b->stages[s];
    if (x->axis_count != y->axis_count || !refs_equal(x->axes, y->axes, x->axis_count) ||
        !tsr_stage_cut_equal(x, y))
      return false;
  }
  return true;
}

static bool descs_equal(const tsr_spec_desc *a, const tsr_spec_desc *b) {
  if (a->dim_count != b->dim_count || a->reduction != b->reduction ||
      (a->mesh_name != NULL) != (b->mesh_name != NULL) ||
      (a->mesh_name && strcmp(a->mesh_name, b->mesh_name) != 0))
    return false;
  for (int d = 0; d < a->dim_count; d++)
    if (!dims_equal(&a->dims[d], &b->dims[d])) return false;
  return sets_equal(a->unreduced, a->unreduced_count, b->unreduced, b->unreduced_count) &&
         sets_equal(a->reduced, a->reduced_count, b->reduced, b->reduced_count) &&
         sets_equal(a->replicated, a->replicated_count, b->replicated, b->replicated_count);
}

// ---- public ----

static tsr_status create(const tsr_spec_desc *desc, tsr_arena *arena, tsr_spec **out_spec) {
  name_table table;
  if (!collect_names(desc, arena, &table)) return tsr_fail(NO_MEMORY, "the names of a spec");
  packer to = {.table = &table};
  tsr_spec_desc copy;
  pack(&to, desc, &copy);
  const size_t arrays = to.used;
  tsr_spec *spec = malloc(arrays + table.bytes);
  if (!spec) return tsr_fail(NO_MEMORY, "a spec of %zu bytes", arrays + table.bytes);
  to.base = (unsigned char *)spec;
  char *names = (char *)spec + arrays;
  to.names = names;
  for (int i = 0; i < table.count; i++) strcpy(names + table.offsets[i], table.names[i]);
  pack(&to, desc, &spec->desc);
  atomic_init(&spec->refs, 1);
  spec->digest = (tsr_hash128){hash_desc(&spec->desc, 0), hash_desc(&spec->desc, second_seed)};
  *out_spec = spec;
  return NULL;
}

tsr_status tsr_spec_create(const tsr_spec_desc *desc, tsr_spec **out_spec) {
  tsr_spec_desc read;
  TSR_TRY(tsr_sized_read(tsr_spec_desc, desc, &read));
  TSR_TRY(tsr_spec_desc_check(&read));
  tsr_arena arena = TSR_ARENA_EMPTY;
  tsr_status status = create(&read, &arena, out_spec);
  tsr_arena_deinit(&arena);
  return status;
}

tsr_spec *tsr_spec_retain(const tsr_spec *spec) {
  // The count is the only field of a shared value that changes.
  tsr_spec *mine = (tsr_spec *)spec;
  atomic_fetch_add_explicit(&mine->refs, 1, memory_order_relaxed);
  return mine;
}

void tsr_spec_release(const tsr_spec *spec) {
  tsr_spec *mine = (tsr_spec *)spec;
  if (mine && atomic_fetch_sub_explicit(&mine->refs, 1, memory_order_acq_rel) == 1) free(mine);
}

const tsr_spec_desc *tsr_spec_desc_of(const tsr_spec *spec) { return &spec->desc; }

bool tsr_spec_equal(const tsr_spec *a, const tsr_spec *b) {
  return a == b || (a->digest.low == b->digest.low && descs_equal(&a->desc, &b->desc));
}

uint64_t tsr_spec_hash(const tsr_spec *spec) { return spec->digest.low; }
tsr_hash128 tsr_spec_digest(const tsr_spec *spec) { return spec->digest; }
