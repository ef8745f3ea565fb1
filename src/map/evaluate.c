// Evaluates expressions: checks shapes and rearranges pieces (map_pieces.h). No bytes are touched.
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/grow.h"
#include "base/text_internal.h"
#include "element/shape_internal.h"
#include "map/map.h"
#include "plan/tree_internal.h"

static tsr_status number(const tsr_map_world *world, const tsr_map_expr *expr, int index,
                         int64_t *out) {
  return tsr_map_number(&world->scope, expr->numbers[index], out);
}

// "(8, 16)", in a text that the caller frees.
static const char *shown(const tsr_shape *shape, tsr_text *text) {
  tsr_text_clear(text);
  tsr_shape_print(shape, text);
  return tsr_text_string(text);
}

#define FAIL_SHAPE(shape, cause, format, ...) \
  fail_about(shape, tsr_fail(cause, format, __VA_ARGS__))
static tsr_status fail_about(const tsr_shape *shape, tsr_status status) {
  tsr_text text = TSR_TEXT_EMPTY;
  return tsr_text_end(&text, tsr_note(status, "a tensor of shape %s", shown(shape, &text)));
}

// A dimension; negative ones count from the end. `extra` = one past the last is allowed.
static tsr_status read_dim(const tsr_map_world *world, const tsr_map_expr *expr,
                           const tsr_shape *shape, int extra, int *out) {
  int64_t dim = 0;
  TSR_TRY(number(world, expr, 0, &dim));
  const int64_t rank = shape->rank + extra;
  if (dim < -rank || dim >= rank)
    return FAIL_SHAPE(shape, INDEX_OUT_OF_RANGE, "there is no dimension %lld", (long long)dim);
  *out = (int)(dim < 0 ? dim + rank : dim);
  return NULL;
}

static tsr_status check_shape(const tsr_made *made) {
  int64_t bytes = 0;
  TSR_TRY(tsr_shape_check(&made->shape));
  return tsr_shape_bytes(&made->shape, made->dtype, &bytes);
}

// ---- sources ----

static tsr_status find_source(tsr_map_world *world, const tsr_map_name *name, int64_t *out) {
  tsr_text path = TSR_TEXT_EMPTY;
  tsr_status status = tsr_map_name_fill(&world->scope, name, &path);
  if (!status) *out = tsr_tree_find(world->source, tsr_text_string(&path));
  if (!status && *out < 0) {
    const char *near = tsr_tree_nearest(world->source, tsr_text_string(&path));
    status = tsr_fail(NOT_FOUND, "the source has no tensor \"%s\"%s%s%s", tsr_text_string(&path),
                      near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
  }
  tsr_text_deinit(&path);
  return status;
}

static tsr_status make_source(tsr_map_world *world, const tsr_map_expr *expr, tsr_made *out) {
  int64_t source = -1;
  TSR_TRY(find_source(world, &expr->name, &source));
  const tsr_tensor *tensor = tsr_tree_at(world->source, source);
  world->used[source] = TSR_SOURCE_USED;
  if (world->first_source < 0) world->first_source = source;
  out->dtype = tensor->dtype;
  out->shape = tsr_tensor_shape(tensor);
  return tsr_map_pieces_whole(&out->pieces, source, tsr_tensor_elements(tensor));
}

// ---- joining ----

typedef struct join_state {
  tsr_map_world *world;
  const tsr_map_expr *expr, *operand;
  tsr_made *items;  // owned
  int64_t count, capacity;
} join_state;

static tsr_status evaluate_item(void *context, tsr_map_scope *scope) {
  join_state *j = context;
  (void)scope;
  tsr_made *items = tsr_grow(j->items, j->count, &j->capacity, sizeof *items);
  if (!items) return tsr_fail(NO_MEMORY, "operands");
  j->items = items;
  tsr_made *made = &j->items[j->count++];
  *made = (tsr_made){0};
  return tsr_map_evaluate(j->world, j->operand, made);
}

// For stack: adds a dimension of size 1, which changes the shape only.
static tsr_status insert_dim(tsr_made *made, int dim) {
  if (made->shape.rank == TSR_MAX_RANK)
    return tsr_fail(TOO_LARGE, "more than %d dimensions", TSR_MAX_RANK);
  memmove(made->shape.dims + dim + 1, made->shape.dims + dim,
          sizeof *made->shape.dims * (size_t)(made->shape.rank - dim));
  made->shape.dims[dim] = 1;
  made->shape.rank++;
  return NULL;
}

static tsr_status check_alike(const join_state *j, int64_t item, int dim) {
  const tsr_made *first = &j->items[0], *made = &j->items[item];
  tsr_text a = TSR_TEXT_EMPTY, b = TSR_TEXT_EMPTY;
  bool alike = first->shape.rank == made->shape.rank;
  for (int d = 0; d < first->shape.rank && alike; d++)
    alike = d == dim || first->shape.dims[d] == made->shape.dims[d];
  tsr_status status = NULL;
  if (first->dtype != made->dtype)
    status = tsr_fail(SHAPES_DIFFER, "operand %lld of %s is %s, but the first is %s",
                      (long long)item + 1, tsr_map_ops[j->expr->op].word,
                      tsr_dtype_name(made->dtype, TSR_NAMES_OWN),
                      tsr_dtype_name(first->dtype, TSR_NAMES_OWN));
  else if (!alike)
    status = tsr_fail(SHAPES_DIFFER,
                      "operand %lld of %s has shape %s, which does not join %s along dimension %d",
                      (long long)item + 1, tsr_map_ops[j->expr->op].word, shown(&made->shape, &a),
                      shown(&first->shape, &b), dim);
  tsr_text_deinit(&a);
  tsr_text_deinit(&b);
  return status;
}

static tsr_status place_items(join_state *j, int dim, tsr_made *out) {
  int64_t size = 0, at = 0;
  for (int64_t i = 0; i < j->count; i++) {
    TSR_TRY(check_alike(j, i, dim));
    if (__builtin_add_overflow(size, j->items[i].shape.dims[dim], &size))
      return tsr_fail(OVERFLOW, "a dimension beyond 64 bits");
  }
  out->dtype = j->items[0].dtype;
  out->shape = j->items[0].shape;
  out->shape.dims[dim] = size;
  TSR_TRY(check_shape(out));
  for (int64_t i = 0; i < j->count; i++) {
    tsr_made *made = &j->items[i];
    TSR_TRY(tsr_map_pieces_place(&made->pieces, &made->shape, dim, size, at));
    for (int64_t p = 0; p < made->pieces.count; p++)
      TSR_TRY(tsr_map_pieces_add(&out->pieces, &made->pieces.items[p]));
    at += made->shape.dims[dim];
  }
  return NULL;
}

static tsr_status join_items(join_state *j, tsr_made *out) {
  const bool stack = j->expr->op == TSR_MAP_STACK;
  int dim = 0;
  for (int i = 0; i < j->expr->item_count; i++) {
    const tsr_map_item *item = &j->expr->items[i];
    j->operand = item->expr;
    TSR_TRY(tsr_map_loops_run(&j->world->scope, item->loops, item->loop_count, evaluate_item, j));
  }
  if (j->count == 0) return tsr_fail(SYNTAX, "%s of no tensors", tsr_map_ops[j->expr->op].word);
  TSR_TRY(read_dim(j->world, j->expr, &j->items[0].shape, stack, &dim));
  for (int64_t i = 0; i < j->count && stack; i++) {
    if (dim > j->items[i].shape.rank) return check_alike(j, i, -1);
    TSR_TRY(insert_dim(&j->items[i], dim));
  }
  return place_items(j, dim, out);
}

static tsr_status make_joined(tsr_map_world *world, const tsr_map_expr *expr, tsr_made *out) {
  join_state j = {.world = world, .expr = expr};
  tsr_status status = join_items(&j, out);
  for (int64_t i = 0; i < j.count; i++) tsr_map_pieces_deinit(&j.items[i].pieces);
  free(j.items);
  return status;
}

// ---- one tensor into one ----

static tsr_status cut(tsr_made *made, int dim, int64_t first, int64_t end) {
  if (first < 0 || end < first || end > made->shape.dims[dim])
    return FAIL_SHAPE(&made->shape, INDEX_OUT_OF_RANGE,
                      "%lld:%lld is not within dimension %d, 0:%lld", (long long)first,
                      (long long)end, dim, (long long)made->shape.dims[dim]);
  TSR_TRY(tsr_map_pieces_slice(&made->pieces, &made->shape, dim, first, end));
  made->shape.dims[dim] = end - first;
  return NULL;
}

static tsr_status do_slice(tsr_map_world *world, const tsr_map_expr *expr, tsr_made *made) {
  int dim = 0;
  TSR_TRY(read_dim(world, expr, &made->shape, 0, &dim));
  int64_t first = 0, end = made->shape.dims[dim];
  if (*expr->numbers[1]) TSR_TRY(number(world, expr, 1, &first));
  if (*expr->numbers[2]) TSR_TRY(number(world, expr, 2, &end));
  return cut(made, dim, first, end);
}

static tsr_status do_trim(tsr_map_world *world, const tsr_map_expr *expr, tsr_made *made) {
  int dim = 0;
  int64_t size = 0;
  TSR_TRY(read_dim(world, expr, &made->shape, 0, &dim));
  TSR_TRY(number(world, expr, 1, &size));
  if (size > made->shape.dims[dim] || size < 0)
    return FAIL_SHAPE(&made->shape, INDEX_OUT_OF_RANGE,
                      "trim to %lld along dimension %d, wanted 0 to %lld", (long long)size, dim,
                      (long long)made->shape.dims[dim]);
  return cut(made, dim, 0, size);
}

// Numbers `first` to `first + rank - 1`, an order of dimensions.
static tsr_status read_order(const tsr_map_world *world, const tsr_map_expr *expr, int first,
                             int rank, int *out_order) {
  bool seen[TSR_MAX_RANK] = {false};
  for (int i = 0; i < rank; i++) {
    int64_t dim = 0;
    TSR_TRY(number(world, expr, first + i, &dim));
    if (dim < 0 || dim >= rank || seen[dim])
      return tsr_fail(INDEX_OUT_OF_RANGE,
                      "%lld in an order of %d dimensions, wanted each of 0 to %d once",
                      (long long)dim, rank, rank - 1);
    seen[dim] = true;
    out_order[i] = (int)dim;
  }
  return NULL;
}

static tsr_status turn(tsr_made *made, const int *order) {
  const tsr_shape before = made->shape;
  TSR_TRY(tsr_map_pieces_transpose(&made->pieces, &before, order));
  for (int i = 0; i < before.rank; i++) made->shape.dims[i] = before.dims[order[i]];
  return NULL;
}

static tsr_status do_transpose(tsr_map_world *world, const tsr_map_expr *expr, tsr_made *made) {
  int order[TSR_MAX_RANK] = {1, 0};
  if (expr->number_count == 0 && made->shape.rank != 2)
    return FAIL_SHAPE(&made->shape, SHAPES_DIFFER,
                      "transpose of %d dimensions wants their order, as in transpose(x, 1, 0, 2)",
                      made->shape.rank);
  if (expr->number_count > 0 && expr->number_count != made->shape.rank)
    return FAIL_SHAPE(&made->shape, SHAPES_DIFFER, "an order of %d dimension%s, wanted %d",
                      expr->number_count, expr->number_count == 1 ? "" : "s", made->shape.rank);
  if (expr->number_count > 0) TSR_TRY(read_order(world, expr, 0, made->shape.rank, order));
  return turn(made, order);
}

// Sizes whose product is `whole`; one may be "_".
static tsr_status read_sizes(const tsr_map_world *world, const tsr_map_expr *expr, int first,
                             int count, int64_t whole, int64_t *out_sizes) {
  int64_t product = 1;
  int open = -1;
  for (int i = 0; i < count; i++) {
    out_sizes[i] = 1;
    if (!strcmp(expr->numbers[first + i], "_")) {
      if (open >= 0) return tsr_fail(SYNTAX, "two sizes that are \"_\"");
      open = i;
      continue;
    }
    TSR_TRY(number(world, expr, first + i, &out_sizes[i]));
    if (out_sizes[i] < 0)
      return tsr_fail(INDEX_OUT_OF_RANGE, "the size %lld in \"%s\", wanted 0 or more",
                      (long long)out_sizes[i], tsr_map_ops[expr->op].word);
    if (__builtin_mul_overflow(product, out_sizes[i], &product))
      return tsr_fail(OVERFLOW, "sizes whose product is beyond 64 bits");
  }
  if (open >= 0 && product > 0 && whole % product == 0) {
    out_sizes[open] = whole / product;
    return NULL;
  }
  if (open < 0 && product == whole) return NULL;
  return tsr_fail(SHAPES_DIFFER, "%lld elements do not make sizes whose product is %lld%s",
                  (long long)whole, (long long)product, open >= 0 ? " times a whole number" : "");
}

static tsr_status do_reshape(tsr_map_world *world, const tsr_map_expr *expr, tsr_made *made) {
  tsr_shape shape = {.rank = expr->number_count};
  int64_t elements = 0;
  if (shape.rank > TSR_MAX_RANK)
    return tsr_fail(TOO_LARGE, "more than %d dimensions", TSR_MAX_RANK);
  TSR_TRY(tsr_shape_count(&made->shape, &elements));
  tsr_status status = read_sizes(world, expr, 0, shape.rank, elements, shape.dims);
  if (status) return fail_about(&made->shape, status);
  made->shape = shape;
  return check_shape(made);
}

// Splits one dimension into several, permutes these and joins them again.
static tsr_status do_permute(tsr_map_world *world, const tsr_map_expr *expr, tsr_made *made) {
  const tsr_shape before = made->shape;
  const int factors = expr->size_count;
  int order[TSR_MAX_RANK], dim = 0;
  if (factors != expr->number_count - 1 - factors)
    return tsr_fail(SYNTAX, "%d sizes and an order of %d, wanted as many", factors,
                    expr->number_count - 1 - factors);
  TSR_TRY(read_dim(world, expr, &before, 0, &dim));
  tsr_shape factored = {.rank = before.rank + factors - 1};
  if (factored.rank > TSR_MAX_RANK)
    return tsr_fail(TOO_LARGE, "more than %d dimensions", TSR_MAX_RANK);
  for (int i = 0; i < factored.rank; i++) {
    factored.dims[i] = i < dim             ? before.dims[i]
                       : i < dim + factors ? 1
                                           : before.dims[i - factors + 1];
    order[i] = i;
  }
  tsr_status status = read_sizes(world, expr, 1, factors, before.dims[dim], factored.dims + dim);
  if (status) return fail_about(&before, tsr_note(status, "in dimension %d", dim));
  TSR_TRY(read_order(world, expr, 1 + factors, factors, order + dim));
  for (int i = 0; i < factors; i++) order[dim + i] += dim;
  TSR_TRY(tsr_map_pieces_transpose(&made->pieces, &factored, order));
  return NULL;
}

// ---- padding ----

// One element of this value, which must fit an integer dtype exactly.
static tsr_status read_constant(const tsr_map_expr *expr, tsr_dtype dtype, tsr_map_constant *out) {
  double value = 0, back = 0;
  *out = (tsr_map_constant){{0}};
  if (!expr->value) return NULL;
  if (!tsr_decimal_read(expr->value, &value))
    return tsr_fail(SYNTAX, "the value \"%s\" of pad is not a number", expr->value);
  if (!tsr_convertible(dtype, TSR_F64))
    return tsr_fail(UNSUPPORTED, "a tensor of %s is padded with 0 only",
                    tsr_dtype_name(dtype, TSR_NAMES_OWN));
  TSR_TRY(tsr_convert(TSR_F64, &value, dtype, out->bytes, 1));
  TSR_TRY(tsr_convert(dtype, out->bytes, TSR_F64, &back, 1));
  if (tsr_dtype_info_of(dtype)->kind != TSR_CLASS_FLOAT && back != value)
    return tsr_fail(INDEX_OUT_OF_RANGE, "the value %s of pad is not one of %s", expr->value,
                    tsr_dtype_name(dtype, TSR_NAMES_OWN));
  return NULL;
}

static tsr_status add_constant(tsr_mapping *mapping, const tsr_map_constant *constant,
                               int64_t *out_source) {
  for (int64_t i = 0; i < mapping->constant_count; i++)
    if (!memcmp(&mapping->constants[i], constant, sizeof *constant)) {
      *out_source = -1 - i;
      return NULL;
    }
  tsr_map_constant *constants = tsr_grow(mapping->constants, mapping->constant_count,
                                         &mapping->constant_capacity, sizeof *constants);
  if (!constants) return tsr_fail(NO_MEMORY, "constants");
  mapping->constants = constants;
  mapping->constants[mapping->constant_count] = *constant;
  *out_source = -1 - mapping->constant_count++;
  return NULL;
}

static tsr_status do_pad(tsr_map_world *world, const tsr_map_expr *expr, tsr_made *made) {
  int dim = 0;
  int64_t size = 0, source = 0, elements = 0;
  tsr_map_constant constant;
  TSR_TRY(read_dim(world, expr, &made->shape, 0, &dim));
  TSR_TRY(number(world, expr, 1, &size));
  if (size < made->shape.dims[dim])
    return FAIL_SHAPE(&made->shape, INDEX_OUT_OF_RANGE,
                      "pad to %lld along dimension %d, wanted %lld or more", (long long)size, dim,
                      (long long)made->shape.dims[dim]);
  TSR_TRY(read_constant(expr, made->dtype, &constant));
  TSR_TRY(add_constant(world->mapping, &constant, &source));
  const int64_t before = made->shape.dims[dim];
  tsr_made padding = {.dtype = made->dtype, .shape = made->shape};
  padding.shape.dims[dim] = size;
  TSR_TRY(check_shape(&padding));
  padding.shape.dims[dim] = size - before;
  TSR_TRY(tsr_shape_count(&padding.shape, &elements));
  TSR_TRY(tsr_map_pieces_place(&made->pieces, &made->shape, dim, size, 0));
  tsr_status status = tsr_map_pieces_whole(&padding.pieces, source, elements);
  if (!status) status = tsr_map_pieces_place(&padding.pieces, &padding.shape, dim, size, before);
  for (int64_t i = 0; i < padding.pieces.count && !status; i++)
    status = tsr_map_pieces_add(&made->pieces, &padding.pieces.items[i]);
  tsr_map_pieces_deinit(&padding.pieces);
  made->shape.dims[dim] = size;
  return status;
}

// ---- all functions ----

typedef tsr_status change_fn(tsr_map_world *world, const tsr_map_expr *expr, tsr_made *made);
static change_fn *const changes[TSR_MAP_OP_COUNT] = {
    [TSR_MAP_SLICE] = do_slice,     [TSR_MAP_TRANSPOSE] = do_transpose,
    [TSR_MAP_RESHAPE] = do_reshape, [TSR_MAP_PERMUTE] = do_permute,
    [TSR_MAP_PAD] = do_pad,         [TSR_MAP_TRIM] = do_trim,
};

tsr_status tsr_map_evaluate(tsr_map_world *world, const tsr_map_expr *expr, tsr_made *out) {
  if (expr->op == TSR_MAP_NAME) return make_source(world, expr, out);
  if (tsr_map_ops[expr->op].joins) return make_joined(world, expr, out);
  TSR_TRY(tsr_map_evaluate(world, expr->items[0].expr, out));
  if (!changes[expr->op]) return NULL;  // the caller of split and unstack takes the sections
  return tsr_note(changes[expr->op](world, expr, out), "%s", tsr_map_ops[expr->op].word);
}

// ---- sections of split and unstack ----

tsr_status tsr_map_section_sizes(tsr_map_world *world, const tsr_map_expr *expr,
                                 const tsr_made *whole, int64_t count, int64_t *out_sizes,
                                 int *out_dim) {
  TSR_TRY(read_dim(world, expr, &whole->shape, 0, out_dim));
  const int64_t size = whole->shape.dims[*out_dim];
  const bool unstack = expr->op == TSR_MAP_UNSTACK;
  if (unstack && size != count)
    return FAIL_SHAPE(&whole->shape, SHAPES_DIFFER,
                      "unstacked along dimension %d it makes %lld tensors, but there are names "
                      "for %lld",
                      *out_dim, (long long)size, (long long)count);
  if (unstack || expr->number_count == 1) {
    if (size % count)
      return FAIL_SHAPE(&whole->shape, INDIVISIBLE,
                        "dimension %d does not split into %lld equal sections", *out_dim,
                        (long long)count);
    for (int64_t i = 0; i < count; i++) out_sizes[i] = size / count;
    return NULL;
  }
  if (expr->number_count - 1 != count)
    return tsr_fail(SYNTAX, "split has %d size%s for %lld tensors", expr->number_count - 1,
                    expr->number_count == 2 ? "" : "s", (long long)count);
  int64_t sum = 0, open = -1;
  for (int64_t i = 0; i < count; i++) {
    out_sizes[i] = 0;
    if (!strcmp(expr->numbers[i + 1], "_")) {
      if (open >= 0) return tsr_fail(SYNTAX, "two sizes that are \"_\"");
      open = i;
      continue;
    }
    TSR_TRY(number(world, expr, (int)i + 1, &out_sizes[i]));
    if (out_sizes[i] < 0 || __builtin_add_overflow(sum, out_sizes[i], &sum))
      return tsr_fail(INDEX_OUT_OF_RANGE, "a section of size %lld", (long long)out_sizes[i]);
  }
  if (open >= 0 && sum <= size) out_sizes[open] = size - sum;
  if (open >= 0 ? sum > size : sum != size)
    return FAIL_SHAPE(&whole->shape, SHAPES_DIFFER,
                      "sections of dimension %d add up to %lld, "
                      "wanted %s%lld",
                      *out_dim, (long long)sum, open >= 0 ? "at most " : "", (long long)size);
  return NULL;
}

tsr_status tsr_map_section(const tsr_made *whole, int dim, int64_t first, int64_t size,
                           bool unstack, tsr_made *out) {
  *out = (tsr_made){.dtype = whole->dtype, .shape = whole->shape};
  for (int64_t i = 0; i < whole->pieces.count; i++)
    TSR_TRY(tsr_map_pieces_add(&out->pieces, &whole->pieces.items[i]));
  TSR_TRY(tsr_map_pieces_slice(&out->pieces, &out->shape, dim, first, first + size));
  out->shape.dims[dim] = size;
  if (!unstack) return NULL;
  out->shape.rank--;
  memmove(out->shape.dims + dim, out->shape.dims + dim + 1,
          sizeof *out->shape.dims * (size_t)(out->shape.rank - dim));
  return NULL;
}
