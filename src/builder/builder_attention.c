// Attention over grouped heads, and rotary positions.
//
// Heads that share keys become a dimension of their own, g, beside the heads of the keys, k: no key
// is repeated. Products are computed in f32, masked, and made shares by softmax.
#include <math.h>

#include "base/sized.h"
#include "builder/builder_internal.h"

// ---- shapes ----

typedef struct attention_shape {
  tsr_shape queries;           // [..., time, heads, size]
  tsr_shape grouped;           // [..., time, key heads, group, size]
  tsr_shape products;          // [..., heads, time, source time]
  tsr_shape grouped_products;  // [..., key heads, group, time, source time]
} attention_shape;

static tsr_status check_shapes(const tsr_shape *q, const tsr_shape *k, const tsr_shape *v) {
  if (q->rank < 3 || k->rank != q->rank || v->rank != q->rank)
    return tsr_fail(CONSTRAINT,
                    "queries, keys and values have %d, %d and %d dimensions, expected the same "
                    "number, at least 3",
                    q->rank, k->rank, v->rank);
  const int64_t heads = q->dims[q->rank - 2], key_heads = k->dims[k->rank - 2];
  if (key_heads < 1 || heads % key_heads != 0)
    return tsr_fail(CONSTRAINT, "%lld heads of queries, expected a multiple of the %lld of keys",
                    (long long)heads, (long long)key_heads);
  if (q->rank == TSR_MAX_RANK) return tsr_fail(TOO_LARGE, "queries have %d dimensions", q->rank);
  return NULL;
}

static attention_shape shapes_of(const tsr_shape *q, const tsr_shape *k) {
  const int batch = q->rank - 3;
  const int64_t time = q->dims[batch], heads = q->dims[batch + 1], size = q->dims[batch + 2];
  const int64_t source = k->dims[batch], key_heads = k->dims[batch + 1];
  const int64_t group = heads / key_heads;
  attention_shape s = {*q, *q, *q, *q};
  s.grouped.rank = s.grouped_products.rank = q->rank + 1;
  const int64_t grouped[] = {time, key_heads, group, size};
  const int64_t products[] = {heads, time, source};
  const int64_t grouped_products[] = {key_heads, group, time, source};
  for (int i = 0; i < 4; i++) s.grouped.dims[batch + i] = grouped[i];
  for (int i = 0; i < 3; i++) s.products.dims[batch + i] = products[i];
  for (int i = 0; i < 4; i++) s.grouped_products.dims[batch + i] = grouped_products[i];
  return s;
}

// A mask or bias given for all heads, in the shape of the grouped products.
static tsr_node regroup(tsr_builder *b, tsr_node x, const attention_shape *s) {
  const tsr_node full = tsr_build_broadcast(b, x, &s->products, NULL);
  return tsr_build_reshape(b, full, &s->grouped_products);
}

// ---- masks ----

// Whether the source position is at most the position: [time, source time].
static tsr_node causal_mask(tsr_builder *b, const attention_shape *s) {
  const int last = s->products.rank - 1;
  const tsr_shape square = {2, {s->products.dims[last - 1], s->products.dims[last]}};
  const tsr_node source = tsr_build_iota(b, TSR_I32, &square, 1);
  const tsr_node time = tsr_build_iota(b, TSR_I32, &square, 0);
  return tsr_build_compare(b, "LE", source, time);
}

// Products that are not seen become so small that their share is 0, and finite, so that a position
// that sees nothing gets equal shares and not NaN.
static tsr_node hide(tsr_builder *b, tsr_node products, tsr_node seen) {
  const tsr_node least = tsr_build_scalar(b, tsr_build_dtype_of(b, products), -0.7 * 3.4e38);
  return tsr_build_select(b, seen, products, least);
}

static tsr_node masked(tsr_builder *b, tsr_node products, const tsr_attention_options *options,
                       const attention_shape *s) {
  if (options->bias.id)
    products = tsr_build_add(
        b, products,
        tsr_build_convert(b, regroup(b, options->bias, s), tsr_build_dtype_of(b, products)));
  if (options->mask.id) products = hide(b, products, regroup(b, options->mask, s));
  return options->causal ? hide(b, products, causal_mask(b, s)) : products;
}

// ---- attention ----

static tsr_node attend(tsr_builder *b, tsr_node queries, tsr_node keys, tsr_node values,
                       const tsr_attention_options *options) {
  const tsr_shape q = tsr_build_shape_of(b, queries), k = tsr_build_shape_of(b, keys);
  const tsr_shape v = tsr_build_shape_of(b, values);
  if (!tsr_builder_keep(b, check_shapes(&q, &k, &v))) return TSR_NO_NODE;
  const attention_shape s = shapes_of(&q, &k);
  const double size = (double)q.dims[q.rank - 1];
  const double scale = options->scale != 0 ? options->scale : 1 / sqrt(size);
  const tsr_node grouped = tsr_build_reshape(b, tsr_build_widened(b, queries), &s.grouped);
  tsr_node products = tsr_build_einsum(b, "...tkgh,...skh->...kgts",
                                       (tsr_node[]){grouped, tsr_build_widened(b, keys)}, 2);
  const tsr_dtype wide = tsr_build_dtype_of(b, products);
  if (b->failure) return TSR_NO_NODE;
  products = tsr_build_multiply(b, products, tsr_build_scalar(b, wide, scale));
  tsr_node shares = tsr_build_softmax(b, masked(b, products, options, &s), -1);
  shares = tsr_build_convert(b, shares, tsr_build_dtype_of(b, values));
  const tsr_node sums =
      tsr_build_einsum(b, "...kgts,...skh->...tkgh", (tsr_node[]){shares, values}, 2);
  tsr_shape result = s.queries;
  result.dims[result.rank - 1] = v.dims[v.rank - 1];
  return tsr_build_reshape(b, sums, &result);
}

static bool are_floats(tsr_builder *b, const tsr_node *nodes, int count) {
  for (int i = 0; i < count; i++) {
    const tsr_type *type = tsr_builder_tensor(b, nodes[i], i);
    if (!type) return false;
    const tsr_dtype_info *info = tsr_dtype_info_of(type->dtype);
    if (info->kind != TSR_CLASS_FLOAT)
      return tsr_builder_keep(
          b, tsr_fail(CONSTRAINT, "operand %d has dtype %s, expected a float", i, info->name));
  }
  return true;
}

tsr_node tsr_build_attention(tsr_builder *b, tsr_node queries, tsr_node keys, tsr_node values,
                             const tsr_attention_options *given) {
  if (!tsr_builder_enter(b, "attention")) return TSR_NO_NODE;
  tsr_attention_options options;
  tsr_node result = TSR_NO_NODE;
  if (are_floats(b, (tsr_node[]){queries, keys, values}, 3) &&
      tsr_builder_keep(b, tsr_sized_read(tsr_attention_options, given, &options)))
    result = attend(b, queries, keys, values, &options);
  return tsr_builder_leave(b, result);
}

// ---- rotary positions ----

// base^(-2i / size) for i of the first half.
static tsr_node frequencies(tsr_builder *b, tsr_dtype dtype, int64_t half, double base) {
  const tsr_node count = tsr_build_iota(b, dtype, TSR_SHAPE(half), 0);
  const tsr_node exponent =
      tsr_build_multiply(b, count, tsr_build_scalar(b, dtype, -1.0 / (double)half));
  return tsr_build_binary(b, "power", tsr_build_scalar(b, dtype, base), exponent);
}

static tsr_node half_of(tsr_builder *b, tsr_node x, int64_t start, int64_t limit) {
  tsr_shape limits = tsr_build_shape_of(b, x), starts = {.rank = limits.rank};
  if (b->failure) return TSR_NO_NODE;
  starts.dims[starts.rank - 1] = start;
  limits.dims[limits.rank - 1] = limit;
  return tsr_build_slice(b, x, &starts, &limits, NULL);
}

// x * by_x OP y * by_y
static tsr_node turn(tsr_builder *b, const char *op, tsr_node x, tsr_node by_x, tsr_node y,
                     tsr_node by_y) {
  const tsr_node first = tsr_build_multiply(b, x, by_x);
  const tsr_node second = tsr_build_multiply(b, y, by_y);
  return tsr_build_binary(b, op, first, second);
}

static tsr_status check_rotary(const tsr_shape *x, const tsr_shape *positions) {
  if (x->rank < 3 || x->dims[x->rank - 1] % 2 != 0)
    return tsr_fail(CONSTRAINT,
                    "x has %d dimensions and a last one of %lld, expected at least 3 "
                    "and an even size",
                    x->rank, (long long)(x->rank ? x->dims[x->rank - 1] : 0));
  if (positions->rank > x->rank - 2)
    return tsr_fail(CONSTRAINT, "positions have %d dimensions, expected at most %d",
                    positions->rank, x->rank - 2);
  return NULL;
}

static tsr_node rotate(tsr_builder *b, tsr_node x, tsr_node positions, double base) {
  const tsr_shape shape = tsr_build_shape_of(b, x);
  tsr_shape outer = tsr_build_shape_of(b, positions);
  if (!tsr_builder_keep(b, check_rotary(&shape, &outer))) return TSR_NO_NODE;
  const int64_t size = shape.dims[shape.rank - 1], half = size / 2;
  outer.dims[outer.rank++] = 1;
  outer.dims[outer.rank++] = 1;
  const tsr_node wide = tsr_build_widened(b, x);
  const tsr_dtype dtype = tsr_build_dtype_of(b, wide);
  const tsr_node places = tsr_build_reshape(b, tsr_build_convert(b, positions, dtype), &outer);
  const tsr_node angles = tsr_build_multiply(b, places, frequencies(b, dtype, half, base));
  const tsr_node sine = tsr_build_unary(b, "sine", angles);
  const tsr_node cosine = tsr_build_unary(b, "cosine", angles);
  const tsr_node first = half_of(b, wide, 0, half), second = half_of(b, wide, half, size);
  const tsr_node left = turn(b, "subtract", first, cosine, second, sine);
  const tsr_node right = turn(b, "add", second, cosine, first, sine);
  const tsr_node both = tsr_build_concatenate(b, (tsr_node[]){left, right}, 2, -1);
  return tsr_build_convert(b, both, tsr_build_dtype_of(b, x));
}

tsr_node tsr_build_rotary(tsr_builder *b, tsr_node x, tsr_node positions, double base) {
  if (!tsr_builder_enter(b, "rotary")) return TSR_NO_NODE;
  tsr_node result = TSR_NO_NODE;
  if (are_floats(b, &x, 1) && tsr_builder_tensor(b, positions, 1))
    result = rotate(b, x, positions, base);
  return tsr_builder_leave(b, result);
}
