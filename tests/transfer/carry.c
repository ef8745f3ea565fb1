#include "transfer/carry.h"

#include <stdlib.h>
#include <string.h>

// ---- lists ----

void test_copies_add(test_copies *list, const tsr_copy *copy) {
  if (list->count == list->capacity) {
    list->capacity = list->capacity ? 2 * list->capacity : 64;
    list->items = realloc(list->items, sizeof *list->items * (size_t)list->capacity);
    assert_non_null(list->items);
  }
  list->items[list->count++] = *copy;
}

void test_copies_free(test_copies *list) {
  free(list->items);
  *list = (test_copies){NULL, 0, 0};
}

static int by_order(const void *left, const void *right) {
  const tsr_copy *a = left, *b = right;
  if (a->target != b->target) return a->target < b->target ? -1 : 1;
  if (a->source != b->source) return a->source < b->source ? -1 : 1;
  return (a->to > b->to) - (a->to < b->to);
}

// What an iterator gives must already be in order, its own device aside.
static void add_all(tsr_copies *copies, test_copies *list) {
  const int64_t first = list->count;
  for (tsr_copy copy; tsr_copies_next(copies, &copy);) {
    if (list->count > first) assert_true(by_order(&list->items[list->count - 1], &copy) < 0);
    test_copies_add(list, &copy);
  }
  assert_int_equal(tsr_copies_count(copies), list->count - first);
  tsr_copies_deinit(copies);
}

static void sort(test_copies *list) {
  if (list->count) qsort(list->items, (size_t)list->count, sizeof *list->items, by_order);
}

void test_copies_into(const tsr_copy_plan *plan, test_copies *list) {
  const tsr_layout *to = tsr_copy_plan_to(plan);
  tsr_copies copies;
  for (int64_t p = 0; p < tsr_layout_device_count(to); p++) {
    assert_ok(tsr_copies_init_into(&copies, plan, p));
    add_all(&copies, list);
  }
  sort(list);
}

void test_copies_out_of(const tsr_copy_plan *plan, test_copies *list) {
  const tsr_layout *from = tsr_copy_plan_from(plan);
  tsr_copies copies;
  for (int64_t p = 0; p < tsr_layout_device_count(from); p++) {
    assert_ok(tsr_copies_init_out_of(&copies, plan, p));
    add_all(&copies, list);
  }
  sort(list);
}

static void assert_same_copies(const test_copies *a, const test_copies *b) {
  assert_int_equal(a->count, b->count);
  for (int64_t i = 0; i < a->count; i++) {
    const tsr_copy *x = &a->items[i], *y = &b->items[i];
    assert_int_equal(by_order(x, y), 0);
    assert_int_equal(x->from, y->from);
    assert_int_equal(x->length, y->length);
    assert_int_equal(x->loop_count, y->loop_count);
    const size_t loops = sizeof *x->loops * (size_t)x->loop_count;
    assert_memory_equal(x->loops, y->loops, loops);
  }
}

// ---- buffers ----

static void note_piece(const tsr_layout *layout, const tsr_piece *piece, int64_t *elements) {
  const tsr_shape shape = tsr_layout_shape(layout);
  int64_t at[TSR_MAX_RANK];
  for (int d = 0; d < shape.rank; d++) at[d] = piece->ranges[d].lo;
  for (;;) {
    int64_t place = piece->offset, element = 0;
    for (int d = 0; d < shape.rank; d++) {
      place += (at[d] - piece->ranges[d].lo) * piece->strides[d];
      element = element * shape.dims[d] + at[d];
    }
    elements[place] = element;
    int d = shape.rank - 1;
    for (; d >= 0 && ++at[d] == piece->ranges[d].hi; d--) at[d] = piece->ranges[d].lo;
    if (d < 0) return;
  }
}

int64_t *test_elements(const tsr_layout *layout, int64_t position, int64_t *out_count) {
  const int64_t shard = tsr_layout_shard(layout, position);
  const int64_t count = tsr_layout_buffer_elements(layout, shard);
  int64_t *elements = malloc(sizeof *elements * ((size_t)count + 1));
  assert_non_null(elements);
  for (int64_t i = 0; i < count; i++) elements[i] = -1;
  tsr_pieces pieces;
  assert_ok(tsr_pieces_init(&pieces, layout, shard));
  for (tsr_piece piece; tsr_pieces_next(&pieces, &piece);) note_piece(layout, &piece, elements);
  tsr_pieces_deinit(&pieces);
  *out_count = count;
  return elements;
}

static uint64_t value_of(int64_t element, int bits) {
  const uint64_t mixed = ((uint64_t)element + 17) * 0x9e3779b97f4a7c15u;
  return bits == 64 ? mixed : mixed >> (64 - bits);
}

static uint64_t read_element(const unsigned char *buffer, int64_t place, int bits) {
  uint64_t value = 0;
  for (int64_t b = 0; b < bits; b++) {
    const int64_t bit = place * bits + b;
    value |= (uint64_t)(buffer[bit / 8] >> (bit % 8) & 1) << b;
  }
  return value;
}

static void write_element(unsigned char *buffer, int64_t place, int bits, uint64_t value) {
  for (int64_t b = 0; b < bits; b++) {
    const int64_t bit = place * bits + b;
    const unsigned char mask = (unsigned char)(1U << (bit % 8));
    if (value >> b & 1)
      buffer[bit / 8] |= mask;
    else
      buffer[bit / 8] = (unsigned char)(buffer[bit / 8] & ~mask);
  }
}

// A position's buffer: full of its elements, or of zeros.
static unsigned char *make_buffer(const tsr_layout *layout, int64_t position, bool full, int bits) {
  int64_t count = 0;
  int64_t *elements = test_elements(layout, position, &count);
  unsigned char *buffer = calloc((size_t)(count * bits / 8 + 1), 1);
  assert_non_null(buffer);
  for (int64_t i = 0; i < count && full; i++)
    if (elements[i] >= 0) write_element(buffer, i, bits, value_of(elements[i], bits));
  free(elements);
  return buffer;
}

static void judge_buffer(const tsr_layout *layout, int64_t position, const unsigned char *buffer,
                         int bits) {
  int64_t count = 0;
  int64_t *elements = test_elements(layout, position, &count);
  for (int64_t i = 0; i < count; i++) {
    const uint64_t wanted = elements[i] < 0 ? 0 : value_of(elements[i], bits);
    if (read_element(buffer, i, bits) != wanted)
      fail_msg("place %lld of position %lld is wrong", (long long)i, (long long)position);
  }
  free(elements);
}

static unsigned char **make_buffers(const tsr_layout *layout, bool full, int bits) {
  const int64_t count = tsr_layout_device_count(layout);
  unsigned char **buffers = malloc(sizeof *buffers * (size_t)count);
  assert_non_null(buffers);
  for (int64_t p = 0; p < count; p++) buffers[p] = make_buffer(layout, p, full, bits);
  return buffers;
}

static void free_buffers(const tsr_layout *layout, unsigned char **buffers) {
  for (int64_t p = 0; p < tsr_layout_device_count(layout); p++) free(buffers[p]);
  free(buffers);
}

// ---- what devices lack ----

static int64_t count_lacking(const tsr_layout *from, const tsr_layout *to, int64_t position) {
  const tsr_shape shape = tsr_layout_shape(to);
  int64_t total = 0, count = 0, lacking = 0;
  assert_ok(tsr_shape_count(&shape, &total));
  bool *held = calloc((size_t)total + 1, sizeof *held);
  assert_non_null(held);
  const int64_t own = tsr_layout_find_device(from, tsr_layout_device(to, position));
  if (own >= 0) {
    int64_t *mine = test_elements(from, own, &count);
    for (int64_t i = 0; i < count; i++)
      if (mine[i] >= 0) held[mine[i]] = true;
    free(mine);
  }
  int64_t *wanted = test_elements(to, position, &count);
  for (int64_t i = 0; i < count; i++) lacking += wanted[i] >= 0 && !held[wanted[i]];
  free(wanted);
  free(held);
  return lacking;
}

// ---- all of it ----

static void run_copies(const tsr_layout *from, const tsr_layout *to, const test_copies *copies,
                       int bits) {
  unsigned char **in = make_buffers(from, true, bits), **out = make_buffers(to, false, bits);
  for (int64_t i = 0; i < copies->count; i++) {
    const tsr_copy *copy = &copies->items[i];
    const int64_t source = tsr_layout_find_device(from, copy->source);
    const int64_t target = tsr_layout_find_device(to, copy->target);
    assert_true(source >= 0 && target >= 0);
    tsr_copy_run(copy, bits, in[source], out[target]);
  }
  for (int64_t p = 0; p < tsr_layout_device_count(to); p++) judge_buffer(to, p, out[p], bits);
  free_buffers(from, in);
  free_buffers(to, out);
}

void test_carry_out(const tsr_layout *from, const tsr_layout *to, int64_t tensor, int bits) {
  const tsr_copy_plan_options options = {.size = sizeof options, .tensor = tensor};
  tsr_copy_plan *plan = NULL;
  test_copies into = {NULL, 0, 0}, out_of = {NULL, 0, 0};
  assert_ok(tsr_copy_plan_create(from, to, &options, &plan));
  test_copies_into(plan, &into);
  test_copies_out_of(plan, &out_of);
  assert_same_copies(&into, &out_of);
  run_copies(from, to, &into, bits);
  int64_t moved = 0, lacking = 0;
  for (int64_t i = 0; i < into.count; i++)
    if (into.items[i].source != into.items[i].target) moved += tsr_copy_elements(&into.items[i]);
  for (int64_t p = 0; p < tsr_layout_device_count(to); p++) lacking += count_lacking(from, to, p);
  assert_int_equal(moved, lacking);
  test_copies_free(&into);
  test_copies_free(&out_of);
  tsr_copy_plan_release(plan);
}
