// Copies between shards and a box: each element of the box once from its owner, and once for every
// shard that holds it.
#include <stdlib.h>

#include "base/text_internal.h"
#include "layout/layout_internal.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "transfer/any_layout.h"
#include "transfer/box_copies.h"
#include "transfer/carry.h"

// What copies did to the box: how often each of its places was reached.
typedef struct judge {
  const tsr_layout *layout;
  const test_image *image;
  const tsr_range *box;
  const int64_t *strides;  // of the box in its buffer
  int64_t *reached;        // by place of the box's buffer
  int64_t places, copies, owned;
} judge;

// The row-major number of the element at a place of the box's buffer.
static int64_t element_at(const judge *j, int64_t place) {
  const tsr_shape shape = tsr_layout_shape(j->layout);
  int64_t element = 0;
  for (int d = 0; d < shape.rank; d++) {
    const int64_t size = j->box[d].hi - j->box[d].lo;
    element = element * shape.dims[d] + j->box[d].lo + place / j->strides[d] % size;
  }
  return element;
}

static void reach(judge *j, const tsr_copy *copy, int64_t from, int64_t to) {
  const int64_t position = tsr_layout_replica_at(j->layout, copy->source, 0);
  assert_true(to >= 0 && to < j->places);
  assert_true(from >= 0 && from < j->image->counts[position]);
  assert_int_equal(j->image->elements[position][from], element_at(j, to));
  j->reached[to]++;
  j->owned += copy->target == 0;
}

static void walk(judge *j, const tsr_copy *copy, int loop, int64_t from, int64_t to) {
  if (loop == copy->loop_count) {
    for (int64_t e = 0; e < copy->length; e++) reach(j, copy, from + e, to + e);
    return;
  }
  for (int64_t i = 0; i < copy->loops[loop].count; i++)
    walk(j, copy, loop + 1, from + i * copy->loops[loop].from, to + i * copy->loops[loop].to);
}

static tsr_status take_copy(void *context, const tsr_copy *copy) {
  judge *j = context;
  assert_true(copy->length > 0);
  walk(j, copy, 0, copy->from, copy->to);
  j->copies++;
  return NULL;
}

static int64_t holders_of(const judge *j, int64_t element) {
  int64_t holders = 0;
  for (int64_t s = 0; s < tsr_layout_shard_count(j->layout); s++) {
    const int64_t position = tsr_layout_replica_at(j->layout, s, 0);
    for (int64_t i = 0; i < j->image->counts[position]; i++)
      holders += j->image->elements[position][i] == element;
  }
  return holders;
}

// `spread`: the box lies in its buffer with gaps, in the order of columns.
static void check_box(const tsr_box_index *index, const test_image *image, const tsr_range *box,
                      tsr_box_holders holders, bool spread) {
  int64_t strides[TSR_MAX_RANK], stride = 1, count = 1;
  const int rank = tsr_layout_rank(image->layout);
  for (int i = 0; i < rank; i++) {
    const int d = spread ? i : rank - 1 - i;
    strides[d] = stride;
    stride *= box[d].hi - box[d].lo;
    count *= box[d].hi - box[d].lo;
  }
  judge j = {.layout = image->layout,
             .image = image,
             .box = box,
             .strides = strides,
             .places = count,
             .reached = calloc((size_t)count + 1, sizeof *j.reached)};
  assert_non_null(j.reached);
  assert_ok(spread ? tsr_box_copies_into(index, box, strides, holders, take_copy, &j)
                   : tsr_box_copies(index, box, holders, take_copy, &j));
  for (int64_t i = 0; i < count; i++)
    assert_int_equal(j.reached[i],
                     holders == TSR_BOX_OWNERS ? 1 : holders_of(&j, element_at(&j, i)));
  assert_int_equal(j.owned, count);
  assert_true(count > 0 || j.copies == 0);
  free(j.reached);
}

static void random_box(test_random *random, const tsr_shape *shape, tsr_range *out_box) {
  for (int d = 0; d < shape->rank; d++) {
    out_box[d].lo = test_random_range(random, 0, shape->dims[d]);
    out_box[d].hi = test_random_range(random, out_box[d].lo, shape->dims[d]);
  }
}

// ---- facts ----

static void boxes_of_any_layout_are_met_once(void **state) {
  (void)state;
  test_random random = {11};
  for (int i = 0; i < 400; i++) {
    test_layout made;
    test_image image;
    tsr_box_index *index = NULL;
    test_layout_make(&random, i % 4 == 0, &made);
    test_image_init(&image, test_layout_any(&random, &made));
    assert_ok(tsr_box_index_create(image.layout, &index));
    for (int turn = 0; turn < 6; turn++) {
      tsr_range box[TSR_MAX_RANK];
      random_box(&random, &made.shape, box);
      if (turn == 0)
        for (int d = 0; d < made.shape.rank; d++) box[d] = (tsr_range){0, made.shape.dims[d]};
      check_box(index, &image, box, turn % 2 ? TSR_BOX_ALL : TSR_BOX_OWNERS, turn > 3);
    }
    tsr_box_index_destroy(index);
    test_image_deinit(&image);
    test_layout_free(&made);
  }
  tsr_box_index_destroy(NULL);
}

typedef struct tally {
  int64_t copies, elements;
  int most_loops;
} tally;

static tsr_status count_copy(void *context, const tsr_copy *copy) {
  tally *t = context;
  t->copies++;
  t->elements += tsr_copy_elements(copy);
  if (copy->loop_count > t->most_loops) t->most_loops = copy->loop_count;
  return NULL;
}

// Cyclic cuts take two loops a dimension. Where a copy has no room for so many, blocks go one by
// one: the copies are more, and the elements the same.
static void cyclic_cuts_of_any_rank_are_met(void **state) {
  (void)state;
  static const int ranks[] = {3, 16, 17, 32};
  for (size_t i = 0; i < COUNT_OF(ranks); i++) {
    const int rank = ranks[i];
    tsr_text spec = TSR_TEXT_EMPTY, shape = TSR_TEXT_EMPTY;
    tsr_box_index *index = NULL;
    tsr_range box[TSR_MAX_RANK];
    tally t = {0};
    for (int d = 0; d < rank; d++) {
      // The first three are cut in blocks of two, of which each shard has two.
      tsr_text_addf(&spec, "%s%s", d ? "," : "", d < 3 ? (char[]){'a' + (char)d, '\0'} : "_");
      if (d < 3) tsr_text_add(&spec, "/cyclic(2)");
      tsr_text_addf(&shape, "%s%d", d ? "," : "", d < 3 ? 8 : 1);
      box[d] = (tsr_range){0, d < 3 ? 8 : 1};
    }
    tsr_layout *layout = test_layout_of("a=2,b=2,c=2", tsr_text_string(&spec),
                                        tsr_text_string(&shape), TSR_POLICY_ERROR);
    assert_ok(tsr_box_index_create(layout, &index));
    assert_ok(tsr_box_copies(index, box, TSR_BOX_OWNERS, count_copy, &t));
    assert_int_equal(t.elements, 8 * 8 * 8);
    assert_int_equal(t.copies, rank <= 16 ? 8 : 64);
    tsr_box_index_destroy(index);
    tsr_layout_release(layout);
    tsr_text_deinit(&spec);
    tsr_text_deinit(&shape);
  }
}

static tsr_status refuse(void *context, const tsr_copy *copy) {
  (void)copy;
  return --*(int *)context ? NULL : tsr_fail(IO, "enough");
}

static void the_first_failure_ends_it(void **state) {
  (void)state;
  test_random random = {3};
  for (int i = 0; i < 40; i++) {
    test_layout made;
    tsr_box_index *index = NULL;
    tsr_range box[TSR_MAX_RANK];
    int left = 1;
    test_layout_make(&random, false, &made);
    tsr_layout *layout = test_layout_any(&random, &made);
    int64_t elements = 0;
    assert_ok(tsr_shape_count(&made.shape, &elements));
    for (int d = 0; d < made.shape.rank; d++) box[d] = (tsr_range){0, made.shape.dims[d]};
    assert_ok(tsr_box_index_create(layout, &index));
    if (elements > 0)
      assert_fails(tsr_box_copies(index, box, TSR_BOX_ALL, refuse, &left), IO, "enough");
    assert_int_equal(left, elements > 0 ? 0 : 1);
    tsr_box_index_destroy(index);
    tsr_layout_release(layout);
    test_layout_free(&made);
  }
}

static tsr_status meet_boxes(void *context) {
  const tsr_layout *layout = context;
  const tsr_range box[] = {{1, 9}, {0, 5}};
  tally t = {0};
  tsr_box_index *index = NULL;
  TSR_TRY(tsr_box_index_create(layout, &index));
  tsr_status status = tsr_box_copies(index, box, TSR_BOX_ALL, count_copy, &t);
  tsr_box_index_destroy(index);
  return status;
}

static void memory_may_be_out(void **state) {
  (void)state;
  tsr_layout *layout = test_layout_of("a=4,b=2", "a/cyclic(1),b", "40,6", TSR_POLICY_ERROR);
  test_allocation_sweep(meet_boxes, layout);
  tsr_layout_release(layout);
}

SUITE(box_copies, TEST(boxes_of_any_layout_are_met_once), TEST(cyclic_cuts_of_any_rank_are_met),
      TEST(the_first_failure_ends_it), TEST(memory_may_be_out))
