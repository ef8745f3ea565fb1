#include "array/arrays.h"

#include <stdlib.h>

#include "base/text_internal.h"
#include "layout/layout_internal.h"
#include "tessera/engine/layout.h"

// ---- elements ----

// Byte `byte` of element `index`: numbers that hardly ever agree by chance.
static unsigned char element_byte(uint64_t seed, int64_t index, int byte) {
  uint64_t x = (uint64_t)index * UINT64_C(0x9E3779B97F4A7C15) + seed * 977 + (uint64_t)byte * 131;
  x ^= x >> 29;
  x *= UINT64_C(0xBF58476D1CE4E5B9);
  return (unsigned char)(x >> 40);
}

static int read_bits(const unsigned char *data, int64_t bit, int count) {
  int value = 0;
  for (int i = 0; i < count; i++) value |= (data[(bit + i) / 8] >> ((bit + i) % 8) & 1) << i;
  return value;
}

static bool holds(const unsigned char *data, int64_t place, int bits, uint64_t seed,
                  int64_t index) {
  if (bits < 8)
    return read_bits(data, place * bits, bits) ==
           (element_byte(seed, index, 0) & ((1 << bits) - 1));
  for (int b = 0; b < bits / 8; b++)
    if (data[place * (bits / 8) + b] != element_byte(seed, index, b)) return false;
  return true;
}

int64_t test_tensor_bytes(const tsr_shape *shape, tsr_dtype dtype) {
  int64_t bytes = 0;
  assert_ok(tsr_shape_bytes(shape, dtype, &bytes));
  return bytes;
}

void *test_tensor(const tsr_shape *shape, tsr_dtype dtype, uint64_t seed) {
  const int bits = tsr_dtype_info_of(dtype)->bits;
  int64_t count = 0;
  assert_ok(tsr_shape_count(shape, &count));
  unsigned char *data = calloc(1, (size_t)test_tensor_bytes(shape, dtype) + 1);
  for (int64_t i = 0; i < count; i++) {
    if (bits >= 8)
      for (int b = 0; b < bits / 8; b++) data[i * (bits / 8) + b] = element_byte(seed, i, b);
    else
      for (int b = 0; b < bits; b++)
        data[(i * bits + b) / 8] |=
            (unsigned char)((element_byte(seed, i, 0) >> b & 1) << ((i * bits + b) % 8));
  }
  return data;
}

// ---- the oracle ----

typedef struct looking {
  const tsr_array *array;
  const unsigned char *data;
  unsigned char *seen;  // a byte per place of the buffer
  uint64_t seed;
  int64_t device;
} looking;

static tsr_status look_at_piece(const looking *l, const tsr_piece *piece) {
  const tsr_shape shape = tsr_array_shape(l->array);
  const int bits = tsr_dtype_info_of(tsr_array_dtype(l->array))->bits;
  int64_t at[TSR_MAX_RANK];
  for (int d = 0; d < shape.rank; d++) at[d] = piece->ranges[d].lo;
  for (int d = 0; d >= 0;) {
    int64_t index = 0, place = piece->offset;
    for (int k = 0; k < shape.rank; k++) {
      index = index * shape.dims[k] + at[k];
      place += (at[k] - piece->ranges[k].lo) * piece->strides[k];
    }
    if (!holds(l->data, place, bits, l->seed, index))
      return tsr_fail(BROKEN_PLAN, "device %lld has something else at place %lld than element %lld",
                      (long long)l->device, (long long)place, (long long)index);
    l->seen[place] = 1;
    for (d = shape.rank - 1; d >= 0 && ++at[d] == piece->ranges[d].hi; d--)
      at[d] = piece->ranges[d].lo;
  }
  return NULL;
}

static tsr_status look_at_rest(const looking *l, const tsr_local_shard *part, int64_t places) {
  const int bits = tsr_dtype_info_of(tsr_array_dtype(l->array))->bits;
  for (int64_t bit = 0; bit < part->bytes * 8; bit++) {
    if (bit / bits < places && l->seen[bit / bits]) continue;
    if (l->data[bit / 8] >> (bit % 8) & 1)
      return tsr_fail(BROKEN_PLAN, "device %lld: bit %lld of the padding is not 0",
                      (long long)l->device, (long long)bit);
  }
  return NULL;
}

static tsr_status look_at_part(const tsr_array *array, int64_t i, uint64_t seed) {
  const tsr_layout *layout = tsr_array_layout(array);
  const int bits = tsr_dtype_info_of(tsr_array_dtype(array))->bits;
  tsr_local_shard part = TSR_LOCAL_SHARD;
  TSR_TRY(tsr_array_local_at(array, i, &part));
  const int64_t places = tsr_layout_buffer_elements(layout, part.shard);
  looking l = {array, part.data, calloc(1, (size_t)places + 1), seed, part.device};
  tsr_pieces pieces = {0};
  tsr_status status = tsr_pieces_init(&pieces, layout, part.shard);
  for (tsr_piece piece; !status && tsr_pieces_next(&pieces, &piece);)
    status = look_at_piece(&l, &piece);
  tsr_pieces_deinit(&pieces);
  const bool rest =
      places > tsr_layout_shard_elements(layout, part.shard) || places * bits % 8 != 0;
  if (!status && rest) status = look_at_rest(&l, &part, places);
  free(l.seen);
  return status;
}

tsr_status test_array_check(const tsr_array *array, uint64_t seed) {
  for (int64_t i = 0; i < tsr_array_local_count(array); i++) TSR_TRY(look_at_part(array, i, seed));
  return NULL;
}

// ---- comms and layouts ----

tsr_comm *test_comm(int64_t devices, int workers) {
  const tsr_comm_options options = {.size = sizeof options, .workers = workers};
  tsr_comm *comm = NULL;
  assert_ok(tsr_comm_create(devices, &options, &comm));
  return comm;
}

static tsr_layout *random_grid(test_random *random, const tsr_shape *shape) {
  static const char *const meshes[] = {"x=2,y=2",
                                       "x=2,y=3",
                                       "x=4,y=2",
                                       "x=2,y=2,z=2",
                                       "x=3 devices=[5,1,3]",
                                       "x=2,y=2 devices=[7,2,4,0]",
                                       "x=1"};
  static const char *const cuts[] = {"_",   "_",   "x",           "y",           "z",  "x+y",
                                     "y+x", "z+x", "x/cyclic(1)", "y/cyclic(2)", "x;y"};
  static const tsr_policy policies[] = {TSR_POLICY_UNEVEN, TSR_POLICY_PAD, TSR_POLICY_TRIM};
  for (;;) {
    tsr_text spec = TSR_TEXT_EMPTY, text = TSR_TEXT_EMPTY;
    tsr_layout *layout = NULL;
    for (int d = 0; d < shape->rank; d++)
      tsr_text_addf(&spec, "%s%s", d ? ", " : "",
                    cuts[test_random_range(random, 0, COUNT_OF(cuts) - 1)]);
    if (shape->rank == 0) tsr_text_add(&spec, "()");
    tsr_shape_print(shape, &text);
    tsr_status status =
        test_layout_read(meshes[test_random_range(random, 0, COUNT_OF(meshes) - 1)],
                         tsr_text_string(&spec), tsr_text_string(&text),
                         policies[test_random_range(random, 0, COUNT_OF(policies) - 1)], &layout);
    tsr_text_deinit(&spec);
    tsr_text_deinit(&text);
    tsr_status_free(status);  // an axis used twice, or one that the mesh lacks
    if (layout) return layout;
  }
}

// Flat ranges, or boxes: the slabs of dimension 0 between random places.
static tsr_layout *random_listed(test_random *random, const tsr_shape *shape, bool flat) {
  enum { SHARDS = 4 };
  tsr_range ranges[SHARDS], boxes[SHARDS * TSR_MAX_RANK];
  int64_t counts[SHARDS];
  int64_t size = 0, at = 0;
  tsr_layout *layout = NULL;
  assert_ok(tsr_shape_count(shape, &size));
  if (!flat) size = shape->dims[0];
  for (int s = 0; s < SHARDS; s++) {
    ranges[s].lo = at;
    at = ranges[s].hi = s == SHARDS - 1 ? size : test_random_range(random, at, size);
    counts[s] = 1;
    for (int d = 0; d < shape->rank; d++)
      boxes[s * shape->rank + d] = d ? (tsr_range){0, shape->dims[d]} : ranges[s];
  }
  if (flat)
    assert_ok(tsr_layout_from_flat(NULL, shape, SHARDS, ranges, &layout));
  else
    assert_ok(tsr_layout_from_boxes(NULL, shape, SHARDS, counts, boxes, &layout));
  return layout;
}

tsr_layout *test_random_layout(test_random *random, const tsr_shape *shape) {
  const int64_t kind = test_random_range(random, 0, 7);
  if (kind == 0) return random_listed(random, shape, true);
  if (kind == 1 && shape->rank > 0) return random_listed(random, shape, false);
  return random_grid(random, shape);
}

tsr_status test_array_full(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                           const void *element, tsr_array **out_array) {
  const int64_t strides[TSR_MAX_RANK] = {0};
  tsr_host_options options = TSR_HOST_OPTIONS;
  options.strides = strides;
  return tsr_array_shard(comm, layout, dtype, element, &options, out_array);
}
