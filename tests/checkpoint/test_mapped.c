// Tensors made by maps, read by ranges: held against a simple-minded reference that moves whole
// tensors element by element.
#include <stdlib.h>
#include <string.h>

#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "checkpoint/models.h"
#include "element/packed_bits.h"
#include "element/shape_internal.h"
#include "json/json.h"
#include "map/map_internal.h"
#include "plan/tree_internal.h"
#include "support/test.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/engine/kernels.h"
#include "view/view.h"

// ---- sources in memory ----

// Element `element` of source `source`, as a number that fits any type.
static uint64_t value_of(int64_t source, int64_t element) {
  uint64_t x = (uint64_t)source * 1000003 + (uint64_t)element + 1;
  x ^= x >> 31, x *= 0x9e3779b97f4a7c15u, x ^= x >> 29;
  return x;
}

typedef struct memory_view {
  tsr_view view;
  int64_t source;
} memory_view;

static void put(tsr_dtype dtype, void *out, int64_t at, uint64_t value) {
  const int bits = tsr_dtype_info_of(dtype)->bits;
  const uint8_t code = (uint8_t)value;
  if (bits < 8)
    tsr_pack(bits, &code, 1, out, at);
  else
    memcpy((char *)out + at * bits / 8, &value, (size_t)bits / 8);
}

static tsr_status read_memory(const tsr_view *view, int64_t first, int64_t count, void *out) {
  assert_true(first >= 0 && count > 0 && first + count <= view->elements);
  for (int64_t i = 0; i < count; i++)
    put(view->dtype, out, i, value_of(((const memory_view *)view)->source, first + i));
  return NULL;
}

static int64_t memory_of_memory(const tsr_view *view, int64_t count) {
  (void)view, (void)count;
  return 0;
}

static void destroy_memory(tsr_view *view) { free(view); }

static const tsr_view_ops memory_ops = {
    .read = read_memory, .memory = memory_of_memory, .destroy = destroy_memory};

static tsr_status add_memory_view(const tsr_tree *tree, int64_t source, tsr_views *views) {
  const tsr_tensor *tensor = tsr_tree_at(tree, source);
  memory_view *view = calloc(1, sizeof *view);
  if (!view) return tsr_fail(NO_MEMORY, "a view");
  view->view = (tsr_view){.ops = &memory_ops,
                          .name = tensor->path,
                          .dtype = tensor->dtype,
                          .shape = tsr_tensor_shape(tensor),
                          .elements = tsr_tensor_elements(tensor)};
  view->source = source;
  views->items[views->count++] = &view->view;
  return NULL;
}

static tsr_status make_views(const tsr_tree *tree, tsr_views *out_views) {
  const int64_t count = tsr_tree_count(tree);
  tsr_views views = {.items = calloc((size_t)count + 1, sizeof *views.items)};
  tsr_status status = views.items ? NULL : tsr_fail(NO_MEMORY, "views");
  for (int64_t i = 0; i < count && !status; i++) status = add_memory_view(tree, i, &views);
  if (status)
    tsr_views_deinit(&views);
  else
    *out_views = views;
  return status;
}

static tsr_views views_of_tree(const tsr_tree *tree) {
  tsr_views views = {0};
  assert_ok(make_views(tree, &views));
  return views;
}

// ---- the reference ----

enum { SOURCES = 5, MOST_ELEMENTS = 4000, MOST_DEPTH = 4 };
static const int64_t constant_id = -1;

// A tensor whose elements are numbers that say where they come from.
typedef struct reference {
  tsr_shape shape;
  int64_t count;
  int64_t *ids;  // source * MOST_ELEMENTS + element, or constant_id
} reference;

static reference reference_make(tsr_shape shape) {
  reference made = {.shape = shape};
  assert_ok(tsr_shape_count(&shape, &made.count));
  made.ids = calloc((size_t)made.count + 1, sizeof *made.ids);
  return made;
}

static void coordinates(const tsr_shape *shape, int64_t flat, int64_t *out) {
  for (int d = shape->rank; d-- > 0;) {
    out[d] = flat % shape->dims[d];
    flat /= shape->dims[d];
  }
}

static int64_t flat_of(const tsr_shape *shape, const int64_t *at) {
  int64_t flat = 0;
  for (int d = 0; d < shape->rank; d++) flat = flat * shape->dims[d] + at[d];
  return flat;
}

static reference transposed(reference x, const int *order) {
  tsr_shape shape = {.rank = x.shape.rank};
  for (int i = 0; i < shape.rank; i++) shape.dims[i] = x.shape.dims[order[i]];
  reference y = reference_make(shape);
  for (int64_t i = 0; i < y.count; i++) {
    int64_t at[TSR_MAX_RANK], from[TSR_MAX_RANK];
    coordinates(&shape, i, at);
    for (int d = 0; d < shape.rank; d++) from[order[d]] = at[d];
    y.ids[i] = x.ids[flat_of(&x.shape, from)];
  }
  free(x.ids);
  return y;
}

// The elements of `x` that lie in y when y's dimension `dim` starts at `first` of x's; constants
// beyond x's end.
static reference windowed(reference x, int dim, int64_t first, int64_t size) {
  tsr_shape shape = x.shape;
  shape.dims[dim] = size;
  reference y = reference_make(shape);
  for (int64_t i = 0; i < y.count; i++) {
    int64_t at[TSR_MAX_RANK] = {0};
    coordinates(&shape, i, at);
    at[dim] += first;
    y.ids[i] = at[dim] < x.shape.dims[dim] ? x.ids[flat_of(&x.shape, at)] : constant_id;
  }
  return y;
}

static reference joined(reference a, reference b, int dim) {
  tsr_shape shape = a.shape;
  shape.dims[dim] += b.shape.dims[dim];
  reference y = reference_make(shape);
  for (int64_t i = 0; i < y.count; i++) {
    int64_t at[TSR_MAX_RANK] = {0};
    coordinates(&shape, i, at);
    const bool second = at[dim] >= a.shape.dims[dim];
    if (second) at[dim] -= a.shape.dims[dim];
    y.ids[i] = second ? b.ids[flat_of(&b.shape, at)] : a.ids[flat_of(&a.shape, at)];
  }
  free(a.ids);
  free(b.ids);
  return y;
}

// ---- random expressions ----

typedef struct generator {
  test_random random;
  const tsr_tree *tree;
} generator;

static int64_t pick(generator *g, int64_t low, int64_t high) {
  return test_random_range(&g->random, low, high);
}

static reference generate(generator *g, int depth, tsr_text *out);

static reference leaf(generator *g, tsr_text *out) {
  const int64_t source = pick(g, 0, SOURCES - 1);
  const tsr_tensor *tensor = tsr_tree_at(g->tree, source);
  reference made = reference_make(tsr_tensor_shape(tensor));
  for (int64_t i = 0; i < made.count; i++) made.ids[i] = source * MOST_ELEMENTS + i;
  tsr_text_add(out, tensor->path);
  return made;
}

// Sizes whose product is `whole`, at random; gives their number.
static int factors(generator *g, int64_t whole, int most, int64_t *out) {
  int count = 0;
  while (count + 1 < most && pick(g, 0, 2)) {
    int64_t factor = pick(g, 1, 6);
    while (whole ? whole % factor : false) factor--;
    out[count++] = factor;
    if (whole) whole /= factor;
  }
  out[count++] = whole;
  return count;
}

static reference gen_reshape(generator *g, int depth, tsr_text *out) {
  tsr_text_add(out, "reshape(");
  reference x = generate(g, depth, out);
  if (x.count == 1 && pick(g, 0, 1)) {
    x.shape = (tsr_shape){.rank = 0};
  } else {
    x.shape.rank = factors(g, x.count, 4, x.shape.dims);
    const int64_t open = x.count ? pick(g, -1, x.shape.rank - 1) : -1;
    for (int d = 0; d < x.shape.rank; d++)
      if (d == open)
        tsr_text_add(out, ", _");
      else
        tsr_text_addf(out, ", %lld", (long long)x.shape.dims[d]);
  }
  tsr_text_add(out, ")");
  return x;
}

static void shuffle(generator *g, int *order, int count) {
  for (int i = 0; i < count; i++) order[i] = i;
  for (int i = count - 1; i > 0; i--) {
    const int other = (int)pick(g, 0, i), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

static reference gen_transpose(generator *g, int depth, tsr_text *out) {
  int order[TSR_MAX_RANK];
  tsr_text_add(out, "transpose(");
  reference x = generate(g, depth, out);
  shuffle(g, order, x.shape.rank);
  for (int d = 0; d < x.shape.rank; d++) tsr_text_addf(out, ", %d", order[d]);
  tsr_text_add(out, ")");
  return transposed(x, order);
}

static reference gen_permute(generator *g, int depth, tsr_text *out) {
  int64_t sizes[4];
  int order[TSR_MAX_RANK], inner[4];
  tsr_text_add(out, "permute(");
  reference x = generate(g, depth, out);
  const int dim = (int)pick(g, 0, x.shape.rank - 1);
  const tsr_shape before = x.shape;
  const int parts = factors(g, before.dims[dim], 4, sizes);
  shuffle(g, inner, parts);
  tsr_text_addf(out, ", %d, (", dim);
  for (int i = 0; i < parts; i++) tsr_text_addf(out, "%s%lld", i ? ", " : "", (long long)sizes[i]);
  tsr_text_add(out, "), (");
  for (int i = 0; i < parts; i++) tsr_text_addf(out, "%s%d", i ? ", " : "", inner[i]);
  tsr_text_add(out, "))");
  x.shape.rank = before.rank + parts - 1;
  for (int i = 0; i < x.shape.rank; i++) {
    const bool parted = i >= dim && i < dim + parts;
    order[i] = parted ? dim + inner[i - dim] : i;
    x.shape.dims[i] = parted ? sizes[i - dim] : before.dims[i < dim ? i : i - parts + 1];
  }
  x = transposed(x, order);
  x.shape = before;
  return x;
}

static reference gen_window(generator *g, int depth, int kind, tsr_text *out) {
  tsr_text_add(out, kind == 0 ? "slice(" : kind == 1 ? "trim(" : "pad(");
  reference x = generate(g, depth, out);
  const int dim = (int)pick(g, 0, x.shape.rank - 1);
  const int64_t size = x.shape.dims[dim];
  int64_t first = kind == 0 ? pick(g, 0, size) : 0, wanted = pick(g, first, size) - first;
  if (kind == 2) wanted = size + (x.count < 500 ? pick(g, 0, 3) : 0);
  if (kind == 0)
    tsr_text_addf(out, ", %d, %lld:%lld)", dim, (long long)first, (long long)(first + wanted));
  else
    tsr_text_addf(out, ", %d, %lld%s)", dim, (long long)wanted, kind == 2 ? ", 1" : "");
  reference y = windowed(x, dim, first, wanted);
  free(x.ids);
  return y;
}

// An expression joined with a part of itself, or stacked with itself: what is sure to fit.
static reference gen_joined(generator *g, int depth, tsr_text *out) {
  tsr_text text = TSR_TEXT_EMPTY;
  reference x = generate(g, depth, &text);
  const char *inner = tsr_text_string(&text);
  if (x.shape.rank == 0 || (x.shape.rank < 6 && pick(g, 0, 2) == 0)) {
    const int dim = (int)pick(g, 0, x.shape.rank);
    tsr_text_addf(out, "stack(%d, %s, %s for i%d in 0..1)", dim, inner, inner, depth);
    for (int d = x.shape.rank++; d > dim; d--) x.shape.dims[d] = x.shape.dims[d - 1];
    x.shape.dims[dim] = 1;
    reference y = windowed(x, dim, 0, 1);
    tsr_text_deinit(&text);
    return joined(x, y, dim);
  }
  const int dim = (int)pick(g, 0, x.shape.rank - 1);
  const int64_t keep = pick(g, 0, x.shape.dims[dim]);
  tsr_text_addf(out, "concat(%d, %s, trim(%s, %d, %lld))", dim, inner, inner, dim, (long long)keep);
  reference y = windowed(x, dim, 0, keep);
  tsr_text_deinit(&text);
  return joined(x, y, dim);
}

// Whether what comes next at random is a scalar.
static bool next_is_scalar(const generator *g, int depth) {
  generator copy = *g;
  tsr_text text = TSR_TEXT_EMPTY;
  reference x = generate(&copy, depth, &text);
  free(x.ids);
  tsr_text_deinit(&text);
  return x.shape.rank == 0;
}

static reference generate(generator *g, int depth, tsr_text *out) {
  const int64_t kind = depth ? pick(g, 0, 7) : 7;
  if (kind == 0) return gen_reshape(g, depth - 1, out);
  if (kind == 1) return gen_joined(g, depth - 1, out);
  // The rest needs a dimension.
  if (kind == 7 || next_is_scalar(g, depth - 1)) return leaf(g, out);
  if (kind == 2) return gen_transpose(g, depth - 1, out);
  return kind == 3 ? gen_permute(g, depth - 1, out) : gen_window(g, depth - 1, (int)kind - 4, out);
}

// ---- checks ----

static bool same_element(tsr_dtype dtype, const void *bytes, int64_t at, int64_t id) {
  const int bits = tsr_dtype_info_of(dtype)->bits;
  uint64_t value = 0,
           wanted = id == constant_id ? 1 : value_of(id / MOST_ELEMENTS, id % MOST_ELEMENTS);
  if (bits < 8) {
    uint8_t code = 0;
    tsr_unpack(bits, bytes, at, 1, &code);
    return code == (wanted & ((1u << bits) - 1));
  }
  memcpy(&value, (const char *)bytes + at * bits / 8, (size_t)bits / 8);
  return value == (bits < 64 ? wanted & ((UINT64_C(1) << bits) - 1) : wanted);
}

static void check_range(const tsr_view *view, const reference *wanted, int64_t first, int64_t count,
                        const char *text) {
  const size_t bytes = (size_t)tsr_view_bytes(view, count);
  char *out = calloc(bytes + 2, 1);
  out[bytes] = 0x5a;
  assert_ok(tsr_view_read(view, first, count, out));
  assert_int_equal(out[bytes], 0x5a);
  for (int64_t i = 0; i < count; i++)
    if (!same_element(view->dtype, out, i, wanted->ids[first + i]))
      fail_msg("element %lld of %s", (long long)(first + i), text);
  free(out);
}

// A box of it, dense and row-major.
static void check_box(generator *g, const tsr_view *view, const reference *wanted,
                      const char *text) {
  const int rank = view->shape.rank;
  tsr_range box[TSR_MAX_RANK];
  int64_t count = 1;
  for (int d = 0; d < rank; d++) {
    box[d].lo = pick(g, 0, view->shape.dims[d] - 1);
    box[d].hi = pick(g, box[d].lo + 1, view->shape.dims[d]);
    count *= box[d].hi - box[d].lo;
  }
  char *out = calloc((size_t)tsr_view_bytes(view, count) + 2, 1);
  assert_ok(tsr_view_read_box(view, box, out));
  for (int64_t i = 0; i < count; i++) {
    int64_t element = 0, stride = 1, left = i;
    for (int d = rank - 1; d >= 0; d--) {
      const int64_t size = box[d].hi - box[d].lo;
      element += (box[d].lo + left % size) * stride;
      stride *= view->shape.dims[d];
      left /= size;
    }
    if (!same_element(view->dtype, out, i, wanted->ids[element]))
      fail_msg("element %lld of a box of %s", (long long)element, text);
  }
  free(out);
}

static const tsr_dtype dtypes[] = {TSR_U8, TSR_U16, TSR_U32, TSR_U64, TSR_U4};

static tsr_tree *source_tree(generator *g, tsr_dtype dtype) {
  tsr_tensor tensors[SOURCES];
  int64_t dims[SOURCES][4];
  static const char *const names[SOURCES] = {"a", "b.weight", "c.0", "d", "e"};
  tsr_tree *tree = NULL;
  for (int i = 0; i < SOURCES; i++) {
    tensors[i] = (tsr_tensor){.path = names[i], .dtype = dtype, .rank = i, .dims = dims[i]};
    for (int d = 0; d < i; d++) dims[i][d] = pick(g, pick(g, 0, 15) ? 1 : 0, 7);
  }
  assert_ok(tsr_tree_create(tensors, SOURCES, &tree));
  return tree;
}

// Applied, read, inverted if it can be, and read again.
static void check_expression(generator *g, tsr_dtype dtype) {
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  tsr_views made = {0};
  tsr_tree *tree = source_tree(g, dtype);
  g->tree = tree;
  tsr_text_add(&text, "only\nout = ");
  reference wanted = generate(g, (int)pick(g, 0, MOST_DEPTH), &text);
  assert_ok(tsr_map_parse(tsr_text_string(&text), "t", &map));
  assert_ok(tsr_map_apply(map, tree, NULL, &mapping));
  tsr_views views = views_of_tree(tree);
  assert_ok(tsr_views_map(&views, mapping, &made));
  assert_int_equal(made.count, 1);
  const tsr_view *view = made.items[0];
  if (!tsr_shape_equal(&view->shape, &wanted.shape))
    fail_msg("shape of %s", tsr_text_string(&text));
  assert_true(tsr_view_memory(view, 1) > 0);
  for (int i = 0; i < 6 && wanted.count > 0; i++) {
    const int64_t first = i ? pick(g, 0, wanted.count - 1) : 0;
    const int64_t count = i ? pick(g, 1, wanted.count - first) : wanted.count;
    check_range(view, &wanted, first, count, tsr_text_string(&text));
    check_box(g, view, &wanted, tsr_text_string(&text));
  }
  free(wanted.ids);
  tsr_views_deinit(&made);
  tsr_mapping_release(mapping);
  tsr_map_release(map);
  tsr_tree_release(tree);
  tsr_text_deinit(&text);
}

static void random_expressions_read_as_the_reference_has_them(void **state) {
  (void)state;
  generator g = {.random = {2024}};
  for (int i = 0; i < 3000; i++) check_expression(&g, dtypes[i % (int)COUNT_OF(dtypes)]);
}

// ---- maps there and back ----

typedef struct round_trip {
  const char *there, *back;  // presets
  const char *tree;
} round_trip;

static const tsr_fact facts[] = {{"heads", 8},   {"kv_heads", 2},      {"head_dim", 4},
                                 {"hidden", 32}, {"intermediate", 12}, {"experts", 3},
                                 {"layers", 2}};
static const tsr_map_options options = {
    .size = sizeof options, .facts = facts, .fact_count = (int)COUNT_OF(facts)};

#define LLAMA                                                                              \
  "\"model.embed_tokens.weight\": {\"dtype\": \"u16\", \"shape\": [50, 32]},"              \
  "\"model.layers.0.self_attn.q_proj.weight\": {\"dtype\": \"u16\", \"shape\": [32, 32]}," \
  "\"model.layers.0.self_attn.k_proj.weight\": {\"dtype\": \"u16\", \"shape\": [8, 32]},"  \
  "\"model.layers.0.self_attn.v_proj.weight\": {\"dtype\": \"u16\", \"shape\": [8, 32]},"  \
  "\"model.layers.0.self_attn.q_proj.bias\": {\"dtype\": \"u16\", \"shape\": [32]},"       \
  "\"model.layers.0.self_attn.k_proj.bias\": {\"dtype\": \"u16\", \"shape\": [8]},"        \
  "\"model.layers.0.self_attn.v_proj.bias\": {\"dtype\": \"u16\", \"shape\": [8]},"        \
  "\"model.layers.0.self_attn.o_proj.weight\": {\"dtype\": \"u16\", \"shape\": [32, 32]}," \
  "\"model.layers.0.mlp.gate_proj.weight\": {\"dtype\": \"u16\", \"shape\": [12, 32]},"    \
  "\"model.layers.0.mlp.up_proj.weight\": {\"dtype\": \"u16\", \"shape\": [12, 32]},"      \
  "\"model.layers.0.mlp.down_proj.weight\": {\"dtype\": \"u16\", \"shape\": [32, 12]},"    \
  "\"model.layers.0.input_layernorm.weight\": {\"dtype\": \"u16\", \"shape\": [32]}"
#define WHOLE_LLAMA                                                                            \
  "{" LLAMA                                                                                    \
  ","                                                                                          \
  "\"model.layers.0.post_attention_layernorm.weight\": {\"dtype\": \"u16\", \"shape\": [32]}," \
  "\"model.layers.0.self_attn.q_norm.weight\": {\"dtype\": \"u16\", \"shape\": [4]},"          \
  "\"model.norm.weight\": {\"dtype\": \"u16\", \"shape\": [32]},"                              \
  "\"lm_head.weight\": {\"dtype\": \"u16\", \"shape\": [50, 32]}}"
#define EXPERT(e)                                            \
  "\"m.0.block_sparse_moe.experts." #e                       \
  ".w1.weight\": {\"dtype\": \"u16\", \"shape\": [12, 32]}," \
  "\"m.0.block_sparse_moe.experts." #e                       \
  ".w2.weight\": {\"dtype\": \"u16\", \"shape\": [32, 12]}," \
  "\"m.0.block_sparse_moe.experts." #e ".w3.weight\": {\"dtype\": \"u16\", \"shape\": [12, 32]}"

static const round_trip trips[] = {
    {"llama-fuse", "llama-unfuse", "{" LLAMA "}"},
    {"llama-to-flax", "llama-from-flax", "{" LLAMA "}"},
    {"megatron-qkv", "megatron-qkv-back", "{" LLAMA "}"},
    {"llama-to-megatron", "llama-from-megatron", WHOLE_LLAMA},
    {"mixtral-stack", "mixtral-unstack", "{" EXPERT(0) "," EXPERT(1) "," EXPERT(2) "}"},
};

static tsr_tree *tree_of(const char *json) {
  tsr_json_doc *doc = NULL;
  tsr_tree *tree = NULL;
  assert_ok(tsr_json_parse(json, strlen(json), &doc));
  assert_ok(tsr_tree_from_json(tsr_json_root(doc), &tree));
  tsr_json_destroy(doc);
  return tree;
}

static tsr_mapping *apply_preset(const char *name, const tsr_tree *tree) {
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  assert_ok(tsr_map_preset(name, &map));
  assert_ok(tsr_map_apply(map, tree, &options, &mapping));
  assert_string_equal(tsr_mapping_warnings(mapping), "");
  tsr_map_release(map);
  return mapping;
}

// Every element of every view is that of the tensor of its name in the tree.
static void check_as_at_first(const tsr_views *views, const tsr_tree *tree) {
  assert_int_equal(views->count, tsr_tree_count(tree));
  for (int64_t i = 0; i < views->count; i++) {
    const tsr_view *view = views->items[i];
    const int64_t source = tsr_tree_find(tree, view->name);
    assert_true(source >= 0);
    const tsr_shape shape = tsr_tensor_shape(tsr_tree_at(tree, source));
    assert_true(tsr_shape_equal(&shape, &view->shape));
    reference wanted = reference_make(shape);
    for (int64_t e = 0; e < wanted.count; e++) wanted.ids[e] = source * MOST_ELEMENTS + e;
    check_range(view, &wanted, 0, wanted.count, view->name);
    free(wanted.ids);
  }
}

static void presets_come_in_pairs_that_undo_each_other(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(trips); i++) {
    tsr_tree *tree = tree_of(trips[i].tree);
    tsr_mapping *there = apply_preset(trips[i].there, tree), *inverse = NULL;
    tsr_mapping *back = apply_preset(trips[i].back, tsr_mapping_tree(there));
    assert_ok(tsr_mapping_invert(there, &inverse));
    assert_true(tsr_tree_equal(tsr_mapping_tree(inverse), tree));
    const tsr_mapping *ways[] = {back, inverse};
    for (size_t w = 0; w < COUNT_OF(ways); w++) {
      tsr_views views = views_of_tree(tree), made = {0}, again = {0};
      assert_ok(tsr_views_map(&views, there, &made));
      assert_ok(tsr_views_map(&made, ways[w], &again));
      check_as_at_first(&again, tree);
      tsr_views_deinit(&again);
    }
    tsr_mapping_release(inverse);
    tsr_mapping_release(back);
    tsr_mapping_release(there);
    tsr_tree_release(tree);
  }
}

// ---- tensors larger than the buffer ----

// Of 1500 x 1000 words, stored: transposed whole, cut into columns, and every hundredth row first.
static const char large_map[] =
    "only\nt = transpose(w)\nc = slice(w, 1, 3:5)\n"
    "r = permute(w, 0, (15, 100), (1, 0))\n"
    "two = transpose(reshape(concat(1, w, w), 3000, 2, 500), 1, 2, 0)\n";

static int64_t large_source(int64_t tensor, int64_t e) {
  switch (tensor) {
    case 0:
      return e % 1500 * 1000 + e / 1500;
    case 1:
      return e / 2 * 1000 + 3 + e % 2;
    case 2:
      return (e / 1000 % 15 * 100 + e / 15000) * 1000 + e % 1000;
    default: {
      const int64_t row = e % 3000, flat = row * 1000 + e / 3000 % 500 + e / 1500000 * 500;
      return flat / 2000 * 1000 + flat % 2000 % 1000;
    }
  }
}

static void check_large(const tsr_views *views) {
  test_random random = {5};
  for (int64_t t = 0; t < views->count; t++) {
    const tsr_view *view = views->items[t];
    for (int i = 0; i < 3; i++) {
      const int64_t first = i ? test_random_range(&random, 0, view->elements - 1) : 0;
      const int64_t count =
          i ? test_random_range(&random, 1, view->elements - first) : view->elements;
      uint32_t *words = malloc(sizeof *words * (size_t)count);
      assert_ok(tsr_view_read(view, first, count, words));
      for (int64_t e = 0; e < count; e++)
        if (words[e] != test_word("w", large_source(t, first + e)))
          fail_msg("element %lld of %s", (long long)(first + e), view->name);
      free(words);
    }
  }
}

static void large_tensors_go_through_a_small_buffer(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *model = NULL;
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  tsr_views sources = {0}, views = {0};
  test_folder_make(&folder);
  test_tensor tensor = test_tensor_whole("w", TSR_SHAPE(1500, 1000));
  test_write_safetensors(test_folder_path(&folder, "model.safetensors"), &tensor, 1);
  assert_ok(tsr_checkpoint_open(folder.path, NULL, &model));
  assert_ok(tsr_map_parse(large_map, "t", &map));
  assert_ok(tsr_map_apply(map, tsr_checkpoint_tree(model), NULL, &mapping));
  assert_ok(tsr_views_of(model, TSR_REPLICAS_COMPARE, &sources));
  assert_ok(tsr_views_map(&sources, mapping, &views));
  check_large(&views);
  assert_int_equal(views.items[0]->bytes_read, 6000000);
  assert_true(tsr_view_memory(views.items[0], 1 << 20) < 8 << 20);
  tsr_views_deinit(&views);
  tsr_mapping_release(mapping);
  tsr_map_release(map);
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

// ---- transforms ----

static void a_transform_writes_what_a_map_makes(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *model = NULL, *result = NULL, *other = NULL;
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL, *inverse = NULL;
  tsr_transform *job = NULL;
  test_folder_make(&folder);
  test_tensor tensors[] = {test_tensor_whole("a", TSR_SHAPE(6, 4)),
                           test_tensor_whole("b", TSR_SHAPE(2, 4)),
                           test_tensor_whole("c", TSR_SHAPE(3))};
  test_write_safetensors(test_folder_path(&folder, "in.safetensors"), tensors, 3);
  assert_ok(tsr_checkpoint_open(test_folder_path(&folder, "in.safetensors"), NULL, &model));
  assert_ok(tsr_map_parse("ab = transpose(concat(0, a, b))", "t", &map));
  assert_ok(tsr_map_apply(map, tsr_checkpoint_tree(model), NULL, &mapping));
  tsr_transform_options how = {.size = sizeof how, .map = mapping, .no_sync = true};
  assert_ok(tsr_transform_create(model, test_folder_path(&folder, "out"), &how, &job));
  assert_int_equal(tsr_transform_certificate_of(job)->bytes_read, 4 * (24 + 8 + 3));
  assert_ok(tsr_transform_run(job));
  tsr_transform_destroy(job);
  assert_ok(tsr_checkpoint_open(test_folder_path(&folder, "out"), NULL, &result));
  assert_true(tsr_tree_equal(tsr_checkpoint_tree(result), tsr_mapping_tree(mapping)));
  // And back; but not with a map of another model.
  assert_fails_with(tsr_transform_create(result, test_folder_path(&folder, "again"), &how, &job),
                    TREE_MISMATCH, "the map was applied to another model than ");
  assert_ok(tsr_mapping_invert(mapping, &inverse));
  how.map = inverse;
  assert_ok(tsr_transform_create(result, test_folder_path(&folder, "again"), &how, &job));
  assert_ok(tsr_transform_run(job));
  tsr_transform_destroy(job);
  assert_ok(tsr_checkpoint_open(test_folder_path(&folder, "again"), NULL, &other));
  for (int64_t i = 0; i < 3; i++) {
    tsr_hash128 a, b;
    assert_ok(tsr_checkpoint_hash(model, i, NULL, &a));
    assert_ok(tsr_checkpoint_hash(other, i, NULL, &b));
    assert_true(tsr_hash128_equal(a, b));
  }
  tsr_checkpoint_release(other);
  tsr_checkpoint_release(result);
  tsr_checkpoint_release(model);
  tsr_mapping_release(inverse);
  tsr_mapping_release(mapping);
  tsr_map_release(map);
  test_folder_remove(&folder);
}

// Files order their tensors by themselves: "a.up" stands before "a.down" in the map, and behind it
// in the folder.
static void an_inverse_takes_tensors_in_any_order(void **state) {
  (void)state;
  tsr_checkpoint *model = NULL, *cut = NULL;
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL, *inverse = NULL;
  tsr_transform *job = NULL;
  tsr_verification *verification = NULL;
  test_folder folder;
  test_folder_make(&folder);
  test_tensor w = test_tensor_whole("w", TSR_SHAPE(4, 2));
  test_write_safetensors(test_folder_path(&folder, "in.safetensors"), &w, 1);
  assert_ok(tsr_checkpoint_open(test_folder_path(&folder, "in.safetensors"), NULL, &model));
  assert_ok(tsr_map_parse("a.up, a.down = split(w, 0, 1, _)", "t", &map));
  assert_ok(tsr_map_apply(map, tsr_checkpoint_tree(model), NULL, &mapping));
  const tsr_transform_options how = {.size = sizeof how, .map = mapping, .no_sync = true};
  assert_ok(tsr_transform_create(model, test_folder_path(&folder, "out"), &how, &job));
  assert_ok(tsr_transform_run(job));
  tsr_transform_destroy(job);
  assert_ok(tsr_checkpoint_open(test_folder_path(&folder, "out"), NULL, &cut));
  assert_false(tsr_tree_equal(tsr_checkpoint_tree(cut), tsr_mapping_tree(mapping)));
  assert_ok(tsr_mapping_invert(mapping, &inverse));
  const tsr_verify_options back = {.size = sizeof back, .map = inverse, .mapped = 1};
  assert_ok(tsr_checkpoint_verify(model, cut, &back, &verification));
  assert_true(tsr_verification_equal(verification));
  assert_fails_with(tsr_checkpoint_verify(cut, model, &back, &verification), TREE_MISMATCH,
                    "which has no tensor \"a.up\" of this type and shape");
  tsr_verification_destroy(verification);
  tsr_mapping_release(inverse);
  tsr_mapping_release(mapping);
  tsr_map_release(map);
  tsr_checkpoint_release(cut);
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

static tsr_status map_and_read(void *context) {
  tsr_mapping *mapping = context, *inverse = NULL;
  tsr_views views = {0}, made = {0};
  TSR_TRY(make_views(tsr_mapping_source(mapping), &views));
  TSR_TRY(tsr_views_map(&views, mapping, &made));
  char bytes[4096];
  tsr_status status = tsr_mapping_invert(mapping, &inverse);
  for (int64_t i = 0; i < made.count && !status; i++)
    status = tsr_view_read(made.items[i], 0, made.items[i]->elements, bytes);
  tsr_views_deinit(&made);
  tsr_mapping_release(inverse);
  return status;
}

static void mapped_tensors_survive_failing_allocations(void **state) {
  (void)state;
  tsr_tree *tree = tree_of("{\"a\": {\"dtype\": \"u4\", \"shape\": [6, 5]}}");
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  assert_ok(tsr_map_parse("b = pad(transpose(a), 0, 6, 1)", "t", &map));
  assert_ok(tsr_map_apply(map, tree, NULL, &mapping));
  test_allocation_sweep(map_and_read, mapping);
  tsr_mapping_release(mapping);
  tsr_map_release(map);
  tsr_tree_release(tree);
}

SUITE(mapped, TEST(large_tensors_go_through_a_small_buffer),
      TEST(a_transform_writes_what_a_map_makes), TEST(an_inverse_takes_tensors_in_any_order),
      TEST(mapped_tensors_survive_failing_allocations),
      TEST(random_expressions_read_as_the_reference_has_them),
      TEST(presets_come_in_pairs_that_undo_each_other))
