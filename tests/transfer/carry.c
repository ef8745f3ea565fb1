#include "transfer/carry.h"

#include <stdlib.h>

#include "layout/layout_internal.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/topology.h"
#include "transfer/transfer_internal.h"

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

void test_copies_assert_same(const test_copies *a, const test_copies *b) {
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

// ---- images ----

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

static int64_t *no_elements(int64_t count) {
  int64_t *elements = malloc(sizeof *elements * ((size_t)count + 1));
  assert_non_null(elements);
  for (int64_t i = 0; i < count; i++) elements[i] = -1;
  return elements;
}

void test_image_init(test_image *image, tsr_layout *layout) {
  const int64_t positions = tsr_layout_device_count(layout);
  image->layout = layout;
  image->elements = malloc(sizeof *image->elements * (size_t)positions);
  image->counts = malloc(sizeof *image->counts * (size_t)positions);
  assert_true(image->elements && image->counts);
  for (int64_t p = 0; p < positions; p++) {
    const int64_t shard = tsr_layout_shard(layout, p);
    image->counts[p] = tsr_layout_buffer_elements(layout, shard);
    image->elements[p] = no_elements(image->counts[p]);
    tsr_pieces pieces;
    assert_ok(tsr_pieces_init(&pieces, layout, shard));
    for (tsr_piece piece; tsr_pieces_next(&pieces, &piece);)
      note_piece(layout, &piece, image->elements[p]);
    tsr_pieces_deinit(&pieces);
  }
}

void test_image_deinit(test_image *image) {
  for (int64_t p = 0; p < tsr_layout_device_count(image->layout); p++) free(image->elements[p]);
  free(image->elements);
  free(image->counts);
  tsr_layout_release(image->layout);
}

static void run_copies(const test_image *from, const test_image *to, const test_copies *copies) {
  const int64_t positions = tsr_layout_device_count(to->layout);
  int64_t **out = malloc(sizeof *out * (size_t)positions);
  assert_non_null(out);
  for (int64_t p = 0; p < positions; p++) out[p] = no_elements(to->counts[p]);
  for (int64_t i = 0; i < copies->count; i++) {
    const tsr_copy *copy = &copies->items[i];
    const int64_t source = tsr_layout_device_find(from->layout, copy->source);
    const int64_t target = tsr_layout_device_find(to->layout, copy->target);
    assert_true(source >= 0 && target >= 0);
    tsr_copy_run(copy, 64, from->elements[source], out[target]);
  }
  for (int64_t p = 0; p < positions; p++) {
    assert_memory_equal(out[p], to->elements[p], sizeof **out * (size_t)to->counts[p]);
    free(out[p]);
  }
  free(out);
}

// ---- bits ----

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
    const unsigned mask = 1U << (bit % 8), byte = buffer[bit / 8];
    buffer[bit / 8] = (unsigned char)(value >> b & 1 ? byte | mask : byte & ~mask);
  }
}

// The buffer of a position with its elements' values, zeros in the padding; to free.
static unsigned char *full_buffer(const test_image *image, int64_t position, int bits) {
  const int64_t count = image->counts[position];
  unsigned char *buffer = calloc((size_t)(count * bits / 8 + 1), 1);
  assert_non_null(buffer);
  for (int64_t i = 0; i < count; i++)
    if (image->elements[position][i] >= 0)
      write_element(buffer, i, bits, value_of(image->elements[position][i], bits));
  return buffer;
}

static void carry_into(const tsr_copy_plan *plan, const test_image *from, const test_image *to,
                       int64_t position, int bits) {
  unsigned char *out = calloc((size_t)(to->counts[position] * bits / 8 + 1), 1);
  tsr_copies copies;
  assert_non_null(out);
  assert_ok(tsr_copies_init_into(&copies, plan, position));
  for (tsr_copy copy; tsr_copies_next(&copies, &copy);) {
    const int64_t source = tsr_layout_device_find(from->layout, copy.source);
    unsigned char *in = full_buffer(from, source, bits);
    tsr_copy_run(&copy, bits, in, out);
    free(in);
  }
  tsr_copies_deinit(&copies);
  for (int64_t i = 0; i < to->counts[position]; i++) {
    const int64_t element = to->elements[position][i];
    assert_int_equal(read_element(out, i, bits), element < 0 ? 0 : value_of(element, bits));
  }
  free(out);
}

void test_carry_bits(const test_image *from, const test_image *to, int bits) {
  tsr_copy_plan *plan = NULL;
  assert_ok(tsr_copy_plan_create(from->layout, to->layout, NULL, &plan));
  for (int64_t p = 0; p < tsr_layout_device_count(to->layout); p++)
    carry_into(plan, from, to, p, bits);
  tsr_copy_plan_release(plan);
}

// ---- certificates ----

static int64_t count_lacking(const test_image *from, const test_image *to, int64_t position) {
  const int64_t own =
      tsr_layout_device_find(from->layout, tsr_layout_device_at(to->layout, position));
  int64_t total = 0, lacking = 0;
  const tsr_shape shape = tsr_layout_shape(to->layout);
  assert_ok(tsr_shape_count(&shape, &total));
  bool *held = calloc((size_t)total + 1, sizeof *held);
  assert_non_null(held);
  for (int64_t i = 0; own >= 0 && i < from->counts[own]; i++)
    if (from->elements[own][i] >= 0) held[from->elements[own][i]] = true;
  for (int64_t i = 0; i < to->counts[position]; i++)
    lacking += to->elements[position][i] >= 0 && !held[to->elements[position][i]];
  free(held);
  return lacking;
}

static int64_t process_of(const tsr_layout *from, const tsr_layout *to, int64_t device) {
  const tsr_layout *both[2] = {from, to};
  for (int i = 0; i < 2; i++) {
    const tsr_mesh *mesh = tsr_layout_mesh(both[i]);
    const tsr_topology *topology = mesh ? tsr_mesh_topology(mesh) : NULL;
    const int64_t at = topology ? tsr_topology_device_find(topology, device) : -1;
    if (at >= 0) return tsr_topology_devices(topology)[at].process;
  }
  return 0;
}

// What the copies add up to, one by one.
static tsr_certificate add_up(const tsr_layout *from, const tsr_layout *to,
                              const test_copies *copies) {
  tsr_certificate sum = {.copies = copies->count};
  for (int64_t i = 0; i < copies->count; i++) {
    const tsr_copy *copy = &copies->items[i];
    const int64_t bytes = tsr_copy_elements(copy);
    const bool first = i == 0 || copy[-1].source != copy->source || copy[-1].target != copy->target;
    if (copy->source == copy->target) {
      sum.bytes_local += bytes;
      continue;
    }
    sum.bytes_moved += bytes;
    sum.messages += first;
    if (process_of(from, to, copy->source) != process_of(from, to, copy->target))
      sum.bytes_between_processes += bytes;
  }
  return sum;
}

static void add_memory(const tsr_layout *from, const tsr_layout *to, tsr_certificate *sum) {
  for (int64_t p = 0; p < tsr_layout_device_count(from); p++) {
    const int64_t had = tsr_layout_buffer_elements(from, tsr_layout_shard(from, p));
    if (had > sum->peak_memory) sum->peak_memory = had;
  }
  for (int64_t p = 0; p < tsr_layout_device_count(to); p++) {
    const int64_t own = tsr_layout_device_find(from, tsr_layout_device_at(to, p));
    const int64_t now = tsr_layout_buffer_elements(to, tsr_layout_shard(to, p));
    const int64_t had = own < 0 ? 0 : tsr_layout_buffer_elements(from, tsr_layout_shard(from, own));
    if (now > sum->extra_memory) sum->extra_memory = now;
    if (now + had > sum->peak_memory) sum->peak_memory = now + had;
  }
}

// The certificate says what the copies add up to, and they move what devices lack.
static void judge_certificate(const tsr_copy_plan *plan, const test_image *from,
                              const test_image *to, const test_copies *copies) {
  tsr_certificate wanted = add_up(from->layout, to->layout, copies), found = TSR_CERTIFICATE;
  for (int64_t p = 0; p < tsr_layout_device_count(to->layout); p++)
    wanted.bytes_lower_bound += count_lacking(from, to, p);
  add_memory(from->layout, to->layout, &wanted);
  assert_ok(tsr_copy_plan_certify(plan, TSR_I8, &found));
  assert_int_equal(found.bytes_moved, found.bytes_lower_bound);
  assert_int_equal(found.bytes_moved, wanted.bytes_moved);
  assert_int_equal(found.bytes_lower_bound, wanted.bytes_lower_bound);
  assert_int_equal(found.bytes_local, wanted.bytes_local);
  assert_int_equal(found.bytes_between_processes, wanted.bytes_between_processes);
  assert_int_equal(found.copies, wanted.copies);
  assert_int_equal(found.messages, wanted.messages);
  assert_int_equal(found.extra_memory, wanted.extra_memory);
  assert_int_equal(found.peak_memory, wanted.peak_memory);
}

void test_carry_out(const test_image *from, const test_image *to, int64_t tensor) {
  const tsr_copy_plan_options options = {.size = sizeof options, .tensor = tensor};
  tsr_copy_plan *plan = NULL;
  test_copies into = {NULL, 0, 0}, out_of = {NULL, 0, 0};
  assert_ok(tsr_copy_plan_create(from->layout, to->layout, &options, &plan));
  test_copies_into(plan, &into);
  test_copies_out_of(plan, &out_of);
  test_copies_assert_same(&into, &out_of);
  run_copies(from, to, &into);
  judge_certificate(plan, from, to, &into);
  assert_ok(tsr_copy_plan_check(plan));
  test_copies_free(&into);
  test_copies_free(&out_of);
  tsr_copy_plan_release(plan);
}
