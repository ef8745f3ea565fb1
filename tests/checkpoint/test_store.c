// Stores: what is written box by box lies where the layouts say, and any box of it can be read.
#include "store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/layouts.h"
#include "support/test.h"
#include "tessera/engine/layout.h"

enum { MAX_BYTES = 1 << 16, FILES = 3 };

typedef struct fixture {
  char folder[64];
  tsr_store *store;
  tsr_layout *layout;
  tsr_box_index *index;
  tsr_shape shape;
  int64_t elements;
  int bits, copies;
} fixture;

static const tsr_dtype dtypes[] = {TSR_U8, TSR_BF16, TSR_F32, TSR_C128, TSR_F4E2M1FN, TSR_F6E2M3FN};

// ---- a tensor whose elements follow from their index ----

static uint64_t value_of(int64_t element, int bits) {
  const uint64_t mixed = ((uint64_t)element + 1) * UINT64_C(0x9e3779b97f4a7c15);
  return bits >= 64 ? mixed : (mixed >> 20) & ((UINT64_C(1) << bits) - 1);
}

static uint64_t get_bits(const unsigned char *bytes, int64_t bit, int bits) {
  uint64_t value = 0;
  for (int i = 0; i < bits && i < 64; i++)
    value |= (uint64_t)(bytes[(bit + i) / 8] >> ((bit + i) % 8) & 1) << i;
  return value;
}

static void put_bits(unsigned char *bytes, int64_t bit, int bits, uint64_t value) {
  for (int i = 0; i < bits; i++) {
    const unsigned char mask = (unsigned char)(1U << ((bit + i) % 8));
    const bool set = i < 64 && (value >> i & 1);
    bytes[(bit + i) / 8] =
        (unsigned char)(set ? bytes[(bit + i) / 8] | mask : bytes[(bit + i) / 8] & ~mask);
  }
}

// Walks over the elements of a box: their place in it and their index in the tensor.
typedef struct box_walk {
  int rank;
  const tsr_range *box;
  const int64_t *dims;
  int64_t at[TSR_MAX_RANK];
} box_walk;

static int64_t box_elements(int rank, const tsr_range *box) {
  int64_t elements = 1;
  for (int d = 0; d < rank; d++) elements *= box[d].hi - box[d].lo;
  return elements;
}

static int64_t walk_element(const box_walk *walk) {
  int64_t element = 0;
  for (int d = 0; d < walk->rank; d++)
    element = element * walk->dims[d] + walk->box[d].lo + walk->at[d];
  return element;
}

static void walk_step(box_walk *walk) {
  for (int d = walk->rank - 1; d >= 0; d--) {
    if (++walk->at[d] < walk->box[d].hi - walk->box[d].lo) return;
    walk->at[d] = 0;
  }
}

static void fill_box(const fixture *f, const tsr_range *box, unsigned char *bytes) {
  box_walk walk = {.rank = f->shape.rank, .box = box, .dims = f->shape.dims};
  const int64_t count = box_elements(walk.rank, box);
  for (int64_t i = 0; i < count; i++, walk_step(&walk))
    put_bits(bytes, i * f->bits, f->bits, value_of(walk_element(&walk), f->bits));
}

static void check_box(const fixture *f, const tsr_range *box, const unsigned char *bytes) {
  box_walk walk = {.rank = f->shape.rank, .box = box, .dims = f->shape.dims};
  const int64_t count = box_elements(walk.rank, box);
  for (int64_t i = 0; i < count; i++, walk_step(&walk))
    assert_int_equal(get_bits(bytes, i * f->bits, f->bits), value_of(walk_element(&walk), f->bits));
}

// ---- the store ----

// Each part in some file at some place, none of them overlapping.
static void place_parts(fixture *f, test_random *random) {
  int64_t ends[FILES] = {0};
  for (int64_t shard = 0; shard < tsr_layout_shard_count(f->layout); shard++)
    for (int copy = 0; copy < f->copies; copy++) {
      const int file = (int)test_random_range(random, 0, FILES - 1);
      const int64_t offset = ends[file] + test_random_range(random, 0, 9);
      *tsr_store_place(f->store, 0, shard, copy) = (tsr_shard_place){file, offset};
      ends[file] = offset + tsr_store_shard_bytes(f->store, 0, shard);
    }
  for (int i = 0; i < FILES; i++) f->store->file_sizes[i] = ends[i];
}

static void make_files(const fixture *f) {
  for (int i = 0; i < FILES; i++) {
    FILE *file = fopen(f->store->paths[i], "wb");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), f->store->file_sizes[i]), 0);
    assert_int_equal(fclose(file), 0);
  }
}

static void make_fixture(fixture *f, test_random *random, test_layout *made) {
  int64_t tensor = -1;
  const tsr_dtype dtype = dtypes[test_random_range(random, 0, COUNT_OF(dtypes) - 1)];
  *f = (fixture){.shape = made->shape,
                 .bits = tsr_dtype_info_of(dtype)->bits,
                 .copies = (int)test_random_range(random, 1, 2)};
  strcpy(f->folder, "/tmp/tessera-store-XXXXXX");
  assert_non_null(mkdtemp(f->folder));
  const tsr_policy policy = test_random_range(random, 0, 1) ? TSR_POLICY_UNEVEN : TSR_POLICY_PAD;
  assert_ok(tsr_layout_create(made->sharding, &made->shape, policy, &f->layout));
  assert_ok(tsr_box_index_create(f->layout, &f->index));
  assert_ok(tsr_store_create(&f->store));
  for (int i = 0; i < FILES; i++) {
    char path[96];
    int file = -1;
    snprintf(path, sizeof path, "%s/%d", f->folder, i);
    assert_ok(tsr_store_add_file(f->store, path, 0, &file));
  }
  assert_ok(tsr_store_add_tensor(f->store, dtype, f->layout, f->copies, &tensor));
  place_parts(f, random);
  make_files(f);
  assert_ok(tsr_store_open(f->store, true));
  assert_ok(tsr_shape_count(&f->shape, &f->elements));
}

static void free_fixture(fixture *f) {
  char paths[FILES][96];
  for (int i = 0; i < FILES; i++) strcpy(paths[i], f->store->paths[i]);
  tsr_box_index_destroy(f->index);
  tsr_layout_release(f->layout);
  assert_ok(tsr_store_close(f->store));
  for (int i = 0; i < FILES; i++) unlink(paths[i]);
  assert_int_equal(rmdir(f->folder), 0);
}

// ---- facts ----

// Writes the tensor as slabs of one dimension, of random thickness.
static void write_in_slabs(fixture *f, test_random *random) {
  static unsigned char bytes[MAX_BYTES];
  tsr_range box[TSR_MAX_RANK];
  for (int d = 0; d < f->shape.rank; d++) box[d] = (tsr_range){0, f->shape.dims[d]};
  if (f->shape.rank == 0) {
    fill_box(f, box, bytes);
    assert_ok(tsr_store_write(f->store, 0, f->index, box, bytes));
    return;
  }
  const int dim = (int)test_random_range(random, 0, f->shape.rank - 1);
  for (int64_t lo = 0; lo < f->shape.dims[dim]; lo = box[dim].hi) {
    const int64_t hi = lo + test_random_range(random, 1, 5);
    box[dim] = (tsr_range){lo, hi < f->shape.dims[dim] ? hi : f->shape.dims[dim]};
    fill_box(f, box, bytes);
    assert_ok(tsr_store_write(f->store, 0, f->index, box, bytes));
  }
}

static void check_piece(const fixture *f, const tsr_piece *piece, const unsigned char *part) {
  box_walk walk = {.rank = f->shape.rank, .box = piece->ranges, .dims = f->shape.dims};
  const int64_t count = box_elements(walk.rank, piece->ranges);
  for (int64_t i = 0; i < count; i++, walk_step(&walk)) {
    int64_t place = piece->offset;
    for (int d = 0; d < walk.rank; d++) place += walk.at[d] * piece->strides[d];
    assert_int_equal(get_bits(part, place * f->bits, f->bits),
                     value_of(walk_element(&walk), f->bits));
  }
}

static void check_part(const fixture *f, int64_t shard, int copy) {
  static unsigned char bytes[MAX_BYTES];
  const tsr_shard_place *part = tsr_store_place(f->store, 0, shard, copy);
  const size_t length = (size_t)tsr_store_shard_bytes(f->store, 0, shard);
  FILE *file = fopen(f->store->paths[part->file], "rb");
  assert_non_null(file);
  assert_int_equal(fseek(file, part->offset, SEEK_SET), 0);
  assert_int_equal(fread(bytes, 1, length, file), length);
  fclose(file);
  tsr_pieces pieces;
  assert_ok(tsr_pieces_init(&pieces, f->layout, shard));
  for (tsr_piece piece; tsr_pieces_next(&pieces, &piece);) check_piece(f, &piece, bytes);
  tsr_pieces_deinit(&pieces);
}

static void read_some_boxes(fixture *f, test_random *random) {
  static unsigned char bytes[MAX_BYTES];
  for (int turn = 0; turn < 4; turn++) {
    tsr_range box[TSR_MAX_RANK];
    for (int d = 0; d < f->shape.rank; d++) {
      const int64_t lo = test_random_range(random, 0, f->shape.dims[d]);
      box[d] = (tsr_range){lo, test_random_range(random, lo, f->shape.dims[d])};
    }
    const int copy = (int)test_random_range(random, -1, f->copies - 1);
    assert_ok(tsr_store_read(f->store, 0, f->index, box, copy, bytes));
    check_box(f, box, bytes);
  }
}

// The same tensor once more, by ranges of its elements.
static void write_and_read_ranges(fixture *f, test_random *random) {
  static unsigned char bytes[MAX_BYTES];
  for (int64_t first = 0; first < f->elements;) {
    const int64_t left = f->elements - first, some = test_random_range(random, 1, 40);
    const int64_t count = some < left ? some : left;
    for (int64_t i = 0; i < count; i++)
      put_bits(bytes, i * f->bits, f->bits, value_of(first + i, f->bits));
    assert_ok(tsr_store_write_range(f->store, 0, f->index, first, count, bytes));
    first += count;
  }
  const int64_t first = test_random_range(random, 0, f->elements);
  const int64_t count = test_random_range(random, 0, f->elements - first);
  assert_ok(tsr_store_read_range(f->store, 0, f->index, first, count, -1, bytes));
  for (int64_t i = 0; i < count; i++)
    assert_int_equal(get_bits(bytes, i * f->bits, f->bits), value_of(first + i, f->bits));
}

static void boxes_go_where_layouts_say_and_come_back(void **state) {
  (void)state;
  test_random random = {2026};
  for (int round = 0; round < 300; round++) {
    test_layout made;
    fixture f;
    test_layout_make(&random, round % 2 == 0, &made);
    make_fixture(&f, &random, &made);
    if (round % 3 == 0)
      write_and_read_ranges(&f, &random);
    else
      write_in_slabs(&f, &random);
    for (int64_t shard = 0; shard < tsr_layout_shard_count(f.layout); shard++)
      for (int copy = 0; copy < f.copies; copy++) check_part(&f, shard, copy);
    read_some_boxes(&f, &random);
    free_fixture(&f);
    test_layout_free(&made);
  }
}

static void an_absent_shard_is_named(void **state) {
  (void)state;
  test_random random = {7};
  fixture f;
  test_layout made;
  unsigned char bytes[MAX_BYTES];
  do {
    test_layout_make(&random, true, &made);
    make_fixture(&f, &random, &made);
    if (f.elements > 0 && f.shape.rank > 0) break;
    free_fixture(&f);
    test_layout_free(&made);
  } while (true);
  tsr_range box[TSR_MAX_RANK];
  for (int d = 0; d < f.shape.rank; d++) box[d] = (tsr_range){0, 1};
  for (int copy = 0; copy < f.copies; copy++) tsr_store_place(f.store, 0, 0, copy)->file = -1;
  assert_fails_with(tsr_store_read(f.store, 0, f.index, box, -1, bytes), NOT_FOUND, "shard 0");
  free_fixture(&f);
  test_layout_free(&made);
}

// Makes a store of one tensor and writes and reads all of it.
static tsr_status write_and_read(void *context) {
  const fixture *f = context;
  tsr_range box[TSR_MAX_RANK];
  unsigned char bytes[MAX_BYTES] = {0};
  tsr_store *store = NULL;
  tsr_box_index *index = NULL;
  int64_t tensor = -1;
  int file = -1;
  for (int d = 0; d < f->shape.rank; d++) box[d] = (tsr_range){0, f->shape.dims[d]};
  TSR_TRY(tsr_store_create(&store));
  tsr_status status = tsr_store_add_file(store, f->store->paths[0], 0, &file);
  if (!status) status = tsr_store_add_tensor(store, TSR_U8, f->layout, 1, &tensor);
  if (!status) {
    tsr_store_place(store, 0, 0, 0)->file = 0;
    status = tsr_store_open(store, true);
  }
  if (!status) status = tsr_box_index_create(f->layout, &index);
  if (!status) status = tsr_store_write(store, 0, index, box, bytes);
  if (!status) status = tsr_store_read(store, 0, index, box, -1, bytes);
  tsr_box_index_destroy(index);
  tsr_status closed = tsr_store_close(store);
  if (!status) return closed;
  tsr_status_free(closed);
  return status;
}

static void stores_survive_failing_allocations(void **state) {
  (void)state;
  test_random random = {11};
  fixture f;
  test_layout made;
  for (;;) {
    test_layout_make(&random, true, &made);
    make_fixture(&f, &random, &made);
    if (f.elements > 1 && tsr_layout_shard_count(f.layout) == 1) break;
    free_fixture(&f);
    test_layout_free(&made);
  }
  test_allocation_sweep(write_and_read, &f);
  free_fixture(&f);
  test_layout_free(&made);
}

SUITE(store, TEST(boxes_go_where_layouts_say_and_come_back), TEST(an_absent_shard_is_named),
      TEST(stores_survive_failing_allocations))
