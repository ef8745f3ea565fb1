// Slices are read twice: once as written, with what was left out, and then against the shape, by
// the rules of Python's slice.indices.
#include "element/slice.h"

#include "base/arithmetic.h"
#include "base/cursor.h"
#include "base/text_internal.h"
#include "tessera/shape.h"
#include "tessera/text.h"

// One item between commas, as written.
typedef struct item {
  bool ellipsis, single;
  bool has_start, has_stop;
  int64_t start, stop, step;
} item;

typedef struct items {
  int count;
  int ellipsis;  // its place; -1 = none
  item list[TSR_MAX_RANK + 1];
} items;

// ---- as written ----

static tsr_status read_bound(tsr_cursor *cursor, bool *out_there, int64_t *out_value) {
  const char next = tsr_cursor_peek(cursor);
  *out_there = next == '-' || (next >= '0' && next <= '9');
  return *out_there ? tsr_cursor_int(cursor, out_value) : NULL;
}

static tsr_status read_dots(tsr_cursor *cursor, item *out) {
  for (int i = 0; i < 3; i++) TSR_TRY(tsr_cursor_expect(cursor, '.'));
  out->ellipsis = true;
  return NULL;
}

static tsr_status read_item(tsr_cursor *cursor, item *out) {
  bool has_step = false;
  *out = (item){.step = 1};
  if (tsr_cursor_peek(cursor) == '.') return read_dots(cursor, out);
  TSR_TRY(read_bound(cursor, &out->has_start, &out->start));
  if (!tsr_cursor_take(cursor, ':')) {
    out->single = true;
    return out->has_start ? NULL
                          : tsr_cursor_expected(cursor, "an index, a range as 0:4 or \"...\"");
  }
  TSR_TRY(read_bound(cursor, &out->has_stop, &out->stop));
  if (tsr_cursor_take(cursor, ':')) TSR_TRY(read_bound(cursor, &has_step, &out->step));
  return out->step ? NULL : tsr_fail(BAD_ARGUMENT, "a step of 0");
}

static tsr_status read_items(tsr_cursor *cursor, items *out) {
  const bool bracket = tsr_cursor_take(cursor, '[');
  const char end = bracket ? ']' : '\0';
  while (tsr_cursor_peek(cursor) != end) {
    item *next = &out->list[out->count];
    if (out->count > TSR_MAX_RANK)
      return tsr_fail(TOO_LARGE, "more than %d dimensions", TSR_MAX_RANK);
    TSR_TRY(read_item(cursor, next));
    if (next->ellipsis && out->ellipsis >= 0) return tsr_fail(SYNTAX, "\"...\" stands twice");
    if (next->ellipsis) out->ellipsis = out->count;
    out->count++;
    if (!tsr_cursor_take(cursor, ',')) break;
  }
  if (bracket) TSR_TRY(tsr_cursor_expect(cursor, ']'));
  return tsr_cursor_end(cursor);
}

// ---- against the shape ----

// A bound that is counted from the end if negative, cut off at what a walk with this step can
// reach: 0 to size, or -1 to size - 1 backwards.
static int64_t clamp(int64_t bound, int64_t size, int64_t step) {
  const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? size - 1 : size;
  if (bound < 0) bound = bound < -size ? low : bound + size;
  return bound < low ? low : bound > high ? high : bound;
}

static tsr_slice_dim bind_range(const item *it, int64_t size) {
  const bool back = it->step < 0;
  const int64_t start = it->has_start ? clamp(it->start, size, it->step) : back ? size - 1 : 0;
  const int64_t stop = it->has_stop ? clamp(it->stop, size, it->step) : back ? -1 : size;
  const int64_t length = back ? start - stop : stop - start;
  if (length <= 0) return (tsr_slice_dim){.step = 1};
  // A step longer than the walk takes one element; so does INT64_MIN, which has no opposite.
  const bool one = back ? it->step <= -length : it->step >= length;
  if (one) return (tsr_slice_dim){.start = start, .step = 1, .count = 1};
  const int64_t stride = back ? -it->step : it->step;
  return (tsr_slice_dim){.start = start, .step = it->step, .count = (length - 1) / stride + 1};
}

static tsr_status bind_index(int64_t index, int dim, int64_t size, tsr_slice_dim *out) {
  if (index < -size || index >= size)
    return tsr_fail(INDEX_OUT_OF_RANGE, "index %lld of dimension %d, whose size is %lld",
                    (long long)index, dim, (long long)size);
  *out = (tsr_slice_dim){
      .start = index < 0 ? index + size : index, .step = 1, .count = 1, .single = true};
  return NULL;
}

static tsr_status bind(const items *list, const tsr_shape *shape, tsr_slice *out_slice) {
  const int given = list->count - (list->ellipsis >= 0);
  if (given > shape->rank)
    return tsr_fail(RANK_TOO_SMALL, "%d dimensions of a tensor that has %d", given, shape->rank);
  const int skipped = shape->rank - given, gap = list->ellipsis < 0 ? given : list->ellipsis;
  tsr_slice_whole(shape, out_slice);
  for (int i = 0; i < list->count; i++) {
    if (i == list->ellipsis) continue;
    const int dim = i < gap ? i : i - 1 + skipped;
    const item *it = &list->list[i];
    if (it->single)
      TSR_TRY(bind_index(it->start, dim, shape->dims[dim], &out_slice->dims[dim]));
    else
      out_slice->dims[dim] = bind_range(it, shape->dims[dim]);
  }
  return NULL;
}

tsr_status tsr_slice_parse(const char *text, const tsr_shape *shape, tsr_slice *out_slice) {
  tsr_cursor cursor = TSR_CURSOR("slice", text);
  items list = {.ellipsis = -1};
  tsr_slice slice = {0};
  tsr_status status = read_items(&cursor, &list);
  if (!status) status = bind(&list, shape, &slice);
  if (!status) *out_slice = slice;
  return tsr_cursor_note(&cursor, status);
}

// ---- what it says ----

void tsr_slice_whole(const tsr_shape *shape, tsr_slice *out_slice) {
  out_slice->rank = shape->rank;
  for (int d = 0; d < shape->rank; d++)
    out_slice->dims[d] = (tsr_slice_dim){.step = 1, .count = shape->dims[d]};
}

static void print_dim(const tsr_slice_dim *dim, tsr_text *out) {
  tsr_text_add_int(out, dim->start);
  if (dim->single) return;
  tsr_text_add_char(out, ':');
  // The last index is included only by going past it; past 0, backwards, there is no number.
  const int64_t last = dim->start + (dim->count - 1) * dim->step;
  if (dim->count == 0)
    tsr_text_add_int(out, dim->start);
  else if (dim->step > 0 || last > 0)
    tsr_text_add_int(out, last + (dim->step > 0 ? 1 : -1));
  if (dim->step != 1) tsr_text_addf(out, ":%lld", (long long)dim->step);
}

void tsr_slice_print(const tsr_slice *slice, tsr_text *out) {
  for (int d = 0; d < slice->rank; d++) {
    if (d) tsr_text_add(out, ", ");
    print_dim(&slice->dims[d], out);
  }
}

tsr_shape tsr_slice_shape(const tsr_slice *slice) {
  tsr_shape shape = {0};
  for (int d = 0; d < slice->rank; d++)
    if (!slice->dims[d].single) shape.dims[shape.rank++] = slice->dims[d].count;
  return shape;
}

int64_t tsr_slice_elements(const tsr_slice *slice) {
  int64_t elements = 1;
  for (int d = 0; d < slice->rank; d++)
    elements = tsr_saturated_multiply(elements, slice->dims[d].count);
  return elements;
}
