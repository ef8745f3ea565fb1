#include "support/pattern.h"

#include <stdlib.h>

#include "element/dtype_internal.h"
#include "tessera/engine/layout.h"

static unsigned char pattern(int64_t place) {
  return (unsigned char)((place * 167) ^ (place >> 7) ^ 0x5a);
}

void pattern_fill(void *data, int64_t bytes) {
  unsigned char *at = data;
  for (int64_t i = 0; i < bytes; i++) at[i] = pattern(i);
}

bool pattern_holds(const void *data, int64_t bytes) {
  const unsigned char *at = data;
  bool holds = true;
  for (int64_t i = 0; i < bytes && holds; i++) holds = at[i] == pattern(i);
  return holds;
}

// ---- making ----

tsr_status pattern_comm(const tsr_mesh *mesh, tsr_comm **out_comm) {
  int64_t devices = 1;
  for (int64_t i = 0; mesh && i < tsr_mesh_device_count(mesh); i++)
    if (tsr_mesh_device_at(mesh, i) >= devices) devices = tsr_mesh_device_at(mesh, i) + 1;
  return tsr_comm_create(devices, NULL, out_comm);
}

tsr_status pattern_array(tsr_comm *comm, const tsr_layout *layout, tsr_dtype dtype,
                         tsr_array **out_array) {
  const tsr_shape shape = tsr_layout_shape(layout);
  int64_t bytes = 0;
  TSR_TRY(tsr_shape_bytes(&shape, dtype, &bytes));
  void *data = malloc((size_t)bytes + 1);
  if (!data) return tsr_fail(NO_MEMORY, "an array of %lld bytes", (long long)bytes);
  pattern_fill(data, bytes);
  tsr_status status = tsr_array_shard(comm, layout, dtype, data, NULL, out_array);
  free(data);
  return status;
}

tsr_status pattern_unplaced(tsr_comm *comm, tsr_dtype dtype, const tsr_shape *shape,
                            tsr_array **out_array) {
  tsr_range whole[TSR_MAX_RANK];
  tsr_layout *layout = NULL;
  for (int d = 0; d < shape->rank; d++) whole[d] = (tsr_range){0, shape->dims[d]};
  TSR_TRY(tsr_layout_from_boxes(NULL, shape, 1, (const int64_t[]){1}, whole, &layout));
  tsr_status status = pattern_array(comm, layout, dtype, out_array);
  tsr_layout_release(layout);
  return status;
}

// ---- checking ----

// Where element `index` of a box lies in the row-major tensor.
static int64_t place_of(const tsr_piece *piece, const tsr_shape *shape, int64_t index,
                        int64_t *out_offset) {
  int64_t place = 0, stride = 1;
  *out_offset = piece->offset;
  for (int d = shape->rank - 1; d >= 0; d--) {
    const int64_t size = piece->ranges[d].hi - piece->ranges[d].lo, digit = index % size;
    place += (piece->ranges[d].lo + digit) * stride;
    *out_offset += digit * piece->strides[d];
    index /= size;
    stride *= shape->dims[d];
  }
  return place;
}

static tsr_status check_piece(const tsr_piece *piece, const tsr_shape *shape,
                              const unsigned char *data, int64_t width) {
  int64_t count = 1;
  for (int d = 0; d < shape->rank; d++) count *= piece->ranges[d].hi - piece->ranges[d].lo;
  for (int64_t i = 0; i < count; i++) {
    int64_t offset = 0;
    const int64_t place = place_of(piece, shape, i, &offset);
    for (int64_t b = 0; b < width; b++)
      if (data[offset * width + b] != pattern(place * width + b))
        return tsr_fail(BROKEN_LAYOUT, "element %lld of the tensor is wrong", (long long)place);
  }
  return NULL;
}

tsr_status pattern_check(const tsr_array *array) {
  const tsr_layout *layout = tsr_array_layout(array);
  const tsr_shape shape = tsr_array_shape(array);
  int64_t width = 0;
  TSR_TRY(tsr_dtype_bytes(tsr_array_dtype(array), 1, &width));
  for (int64_t i = 0; i < tsr_array_local_count(array); i++) {
    tsr_local_shard part = TSR_LOCAL_SHARD;
    tsr_pieces pieces;
    tsr_status status = NULL;
    TSR_TRY(tsr_array_local_at(array, i, &part));
    TSR_TRY(tsr_pieces_init(&pieces, layout, part.shard));
    for (tsr_piece piece; !status && tsr_pieces_next(&pieces, &piece);)
      status = check_piece(&piece, &shape, part.data, width);
    tsr_pieces_deinit(&pieces);
    TSR_TRY_NOTE(status, "device %lld", (long long)part.device);
  }
  return NULL;
}
