// Finds the weights that a model has only as packed words, as two factors or as optimiser state,
// and makes a tree of them, so that rules can be matched against the weight.
#include "plan/stand_ins.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { BITS = 4, MLX_GROUP = 64 };  // the usual values, where the tensors do not show them

static const struct {
  const char *a, *a_axes, *b, *b_axes;
} factors[] = {
#define FACTORS(a, a_axes, b, b_axes) {a, a_axes, b, b_axes},
#include "plan/companions.def"
};

// A tensor and those beside it.
typedef struct stand_in_search {
  const tsr_tree *tree;
  const tsr_tensor *tensor;
  size_t stem;  // of its path
} stand_in_search;

static bool has_end(stand_in_search *s, const char *end) {
  s->stem = tsr_companion_stem(s->tensor->path, end);
  return s->stem > 0;
}

static const tsr_tensor *beside(const stand_in_search *s, const char *end, int rank) {
  const int64_t found = tsr_companion_find_beside(s->tree, s->tensor->path, s->stem, end);
  const tsr_tensor *tensor = found < 0 ? NULL : tsr_tree_at(s->tree, found);
  return tensor && tensor->rank == rank ? tensor : NULL;
}

static int word_bits(const tsr_tensor *tensor) { return tsr_dtype_info_of(tensor->dtype)->bits; }

// The elements in `size` words, if `packed` words hold `plain` elements; -1 = not whole.
static int64_t unpacked(int64_t size, int64_t packed, int64_t plain) {
  int64_t product = 0;
  if (packed < 1 || __builtin_mul_overflow(size, plain, &product) || product % packed) return -1;
  return product / packed;
}

static bool set(tsr_stand_in *out, int64_t outputs, int64_t inputs, const char *axes) {
  out->rank = 2;
  out->dims[0] = outputs;
  out->dims[1] = inputs;
  out->axes = axes;
  return outputs > 0 && inputs > 0;
}

// ---- packed weights ----

// GPTQ packs inputs into words, AWQ outputs. Scales have every output; the index every input.
static bool from_qweight(const stand_in_search *s, tsr_stand_in *out) {
  const tsr_tensor *own = s->tensor, *scales = beside(s, ".scales", 2);
  if (own->rank != 2 || !scales) return false;
  const tsr_tensor *index = beside(s, ".g_idx", 1), *zeros = beside(s, ".qzeros", 2);
  const int64_t outputs = scales->dims[1];
  if (own->dims[1] != outputs) return set(out, outputs, own->dims[0], "io");
  if (index) return set(out, outputs, index->dims[0], "io");
  const int64_t inputs = zeros ? unpacked(own->dims[0], zeros->dims[1], outputs)
                               : unpacked(own->dims[0], BITS, word_bits(own));
  return set(out, outputs, inputs, "io");
}

// Inputs are packed. Zero points, if any, show by how much: their outputs are packed alike.
static bool from_packed(const stand_in_search *s, tsr_stand_in *out) {
  const tsr_tensor *own = s->tensor, *index = beside(s, ".weight_g_idx", 1);
  const tsr_tensor *zeros = beside(s, ".weight_zero_point", 2);
  if (own->rank != 2) return false;
  if (index) return set(out, own->dims[0], index->dims[0], "oi");
  if (zeros && zeros->dims[0] < own->dims[0] && zeros->dtype == own->dtype)
    return set(out, own->dims[0], unpacked(own->dims[1], zeros->dims[0], own->dims[0]), "oi");
  return set(out, own->dims[0], unpacked(own->dims[1], BITS, word_bits(own)), "oi");
}

// Bytes hold two elements of 4 bits, everything else one.
static bool from_data(const stand_in_search *s, tsr_stand_in *out) {
  const int64_t each = s->tensor->dtype == TSR_U8 ? 2 : 1;
  return s->tensor->rank == 2 &&
         set(out, s->tensor->dims[0], unpacked(s->tensor->dims[1], 1, each), "oi");
}

// Under the plain weight's own name: bytes of two elements with a scale for 16 or 32 of them
// (NVFP4, MXFP4), or MLX's words.
static bool from_plain(const stand_in_search *s, tsr_stand_in *out) {
  const tsr_tensor *own = s->tensor;
  const tsr_tensor *scale = beside(s, ".weight_scale", 2), *scales = beside(s, ".scales", 2);
  if (own->rank != 2) return false;
  if (own->dtype == TSR_U8 && scale && scale->dims[0] == own->dims[0] &&
      (scale->dims[1] == own->dims[1] / 8 || scale->dims[1] == own->dims[1] / 16))
    return set(out, own->dims[0], unpacked(own->dims[1], 1, 2), "oi");
  return own->dtype == TSR_U32 && scales && scales->dims[0] == own->dims[0] &&
         set(out, own->dims[0], unpacked(scales->dims[1], 1, MLX_GROUP), "oi");
}

// Groups are a dimension of their own, so the names have rules.
static bool from_blocks(const stand_in_search *s, tsr_stand_in *out) {
  (void)s;
  (void)out;
  return false;
}

static const struct {
  const char *end, *weight;
  bool (*from)(const stand_in_search *, tsr_stand_in *);
} carriers[] = {
#define CARRIER(end, axes, weight, form) {end, weight, from_##form},
#include "plan/companions.def"
};

static bool find_packed(stand_in_search *s, tsr_stand_in *out) {
  for (size_t i = 0; i < sizeof carriers / sizeof *carriers; i++)
    if (has_end(s, carriers[i].end)) {
      snprintf(out->path, sizeof out->path, "%.*s%s", (int)s->stem, s->tensor->path,
               carriers[i].weight);
      return carriers[i].from(s, out);
    }
  snprintf(out->path, sizeof out->path, "%s", s->tensor->path);
  return has_end(s, ".weight") && from_plain(s, out);
}

// ---- low rank ----

static int64_t size_at(const tsr_tensor *tensor, const char *axes, char letter, int64_t otherwise) {
  const char *at = strchr(axes, letter);
  return at ? tensor->dims[at - axes] : otherwise;
}

// One of two factors whose product is added to a weight. Together they have its sizes.
static bool find_factor(stand_in_search *s, tsr_stand_in *out) {
  for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
    const bool a = has_end(s, factors[i].a), b = !a && has_end(s, factors[i].b);
    if (!a && !b) continue;
    const tsr_tensor *other = beside(s, a ? factors[i].b : factors[i].a, 2);
    const tsr_tensor *first = a ? s->tensor : other, *second = a ? other : s->tensor;
    if (s->tensor->rank != 2 || !other) return false;
    snprintf(out->path, sizeof out->path, "%.*s.weight", (int)s->stem, s->tensor->path);
    const int64_t outputs = size_at(first, factors[i].a_axes, 'o', 0);
    const int64_t inputs = size_at(first, factors[i].a_axes, 'i', 0);
    return set(out, size_at(second, factors[i].b_axes, 'o', outputs),
               size_at(second, factors[i].b_axes, 'i', inputs),
               a ? factors[i].a_axes : factors[i].b_axes);
  }
  return false;
}

bool tsr_stand_in_find(const tsr_tree *tree, int64_t index, tsr_stand_in *out) {
  stand_in_search s = {.tree = tree, .tensor = tsr_tree_at(tree, index)};
  if (strlen(s.tensor->path) >= TSR_COMPANION_NAME) return false;
  if (tsr_companion_find(tree, index).kind) return false;
  if (find_packed(&s, out) || find_factor(&s, out)) return true;
  if (!tsr_companion_parameter(tree, index, out->path, sizeof out->path)) return false;
  out->rank = s.tensor->rank;
  memcpy(out->dims, s.tensor->dims, sizeof *out->dims * (size_t)out->rank);
  out->axes = NULL;
  return true;
}

// ---- all of them ----

typedef struct stand_in_list {
  tsr_tensor *tensors;  // owned
  int64_t count, capacity;
  tsr_name_index names;
  tsr_arena arena;  // paths and dims
} stand_in_list;

static tsr_status append(stand_in_list *all, const tsr_stand_in *found, tsr_dtype dtype) {
  tsr_tensor *list = tsr_grow(all->tensors, all->count, &all->capacity, sizeof *list);
  if (list) all->tensors = list;
  const char *path = tsr_arena_copy(&all->arena, found->path, strlen(found->path));
  int64_t *dims = tsr_arena_zeros(&all->arena, (size_t)found->rank + 1, sizeof *dims);
  int64_t existing = 0;
  if (!list || !path || !dims) return tsr_fail(NO_MEMORY, "the weights of a model");
  memcpy(dims, found->dims, sizeof *dims * (size_t)found->rank);
  TSR_TRY(tsr_name_index_add(&all->names, path, all->count, &existing));
  list[all->count++] =
      (tsr_tensor){.path = path, .dtype = dtype, .rank = found->rank, .dims = dims};
  return NULL;
}

// Several tensors may stand for one weight if they agree on its sizes.
static tsr_status add(stand_in_list *all, const tsr_stand_in *found, tsr_dtype dtype,
                      int64_t *out_of) {
  *out_of = tsr_name_index_find(&all->names, found->path);
  if (*out_of < 0) {
    *out_of = all->count;
    return append(all, found, dtype);
  }
  assert(all->tensors);
  const tsr_tensor *before = &all->tensors[*out_of];
  if (before->rank != found->rank ||
      memcmp(before->dims, found->dims, sizeof *found->dims * (size_t)found->rank) != 0)
    *out_of = -1;
  return NULL;
}

static tsr_status gather(stand_in_list *all, const tsr_tree *tree, const bool *decided,
                         int64_t *of) {
  tsr_stand_in found;
  for (int64_t i = 0; i < tsr_tree_count(tree); i++) {
    of[i] = -1;
    if (!tsr_stand_in_find(tree, i, &found)) continue;
    const tsr_tensor *tensor = tsr_tree_at(tree, i);
    if (decided[i] && strcmp(found.path, tensor->path) != 0) continue;
    TSR_TRY(add(all, &found, tensor->dtype, &of[i]));
  }
  return NULL;
}

tsr_status tsr_stand_ins_init(tsr_stand_ins *all, const tsr_tree *tree, const bool *decided) {
  stand_in_list work = {.names = TSR_NAME_INDEX_EMPTY, .arena = TSR_ARENA_EMPTY};
  *all = (tsr_stand_ins){.of = calloc((size_t)tsr_tree_count(tree) + 1, sizeof *all->of)};
  if (!all->of) return tsr_fail(NO_MEMORY, "the weights of a model");
  tsr_status status = gather(&work, tree, decided, all->of);
  if (!status && work.count) status = tsr_tree_create(work.tensors, work.count, &all->tree);
  tsr_name_index_deinit(&work.names);
  tsr_arena_deinit(&work.arena);
  free(work.tensors);
  if (status) tsr_stand_ins_deinit(all);
  return status;
}

void tsr_stand_ins_deinit(tsr_stand_ins *all) {
  tsr_tree_release(all->tree);
  free(all->of);
  *all = (tsr_stand_ins){0};
}
