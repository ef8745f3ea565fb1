// JAX's device_put: arrays on devices, and what every device holds.
#include <stdlib.h>

#include "golden/golden.h"
#include "json/json.h"
#include "spec/spec_internal.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"

enum { DEVICES = 64 };

static tsr_status read_layout(const golden_case *c, const char *mesh_key, const char *spec_key,
                              tsr_layout **out) {
  tsr_spec *spec = NULL;
  tsr_mesh *mesh = NULL;
  tsr_sharding *sharding = NULL;
  tsr_shape shape;
  TSR_TRY(golden_shape(c, "shape", &shape));
  tsr_status status = tsr_spec_from_json(golden_get(c, spec_key), &spec);
  if (!status) status = golden_read_mesh(c, golden_get(c, mesh_key), &mesh);
  if (!status) status = tsr_sharding_bind(mesh, spec, true, &sharding);
  if (!status) status = tsr_layout_create(sharding, &shape, TSR_POLICY_ERROR, out);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  tsr_sharding_release(sharding);
  return status;
}

// zlib's CRC-32, which Python has at hand.
static uint32_t crc32_of(const void *data, size_t length) {
  const unsigned char *bytes = data;
  uint32_t crc = ~UINT32_C(0);
  for (size_t i = 0; i < length; i++) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
  }
  return ~crc;
}

// 0, 1, 2, ... as elements of the type, to free().
static tsr_status count_up(const tsr_shape *shape, tsr_dtype dtype, void **out_tensor,
                           int64_t *out_bytes) {
  int64_t count = 0;
  TSR_TRY(tsr_shape_count(shape, &count));
  TSR_TRY(tsr_shape_bytes(shape, dtype, out_bytes));
  int64_t *numbers = malloc(sizeof *numbers * ((size_t)count + 1));
  char *tensor = calloc(1, (size_t)*out_bytes + 1);
  tsr_status status = numbers && tensor ? NULL : tsr_fail(NO_MEMORY, "tensor");
  for (int64_t i = 0; i < count && !status; i++) numbers[i] = i;
  if (!status) status = tsr_convert(TSR_I64, numbers, dtype, tensor, count);
  free(numbers);
  if (status) {
    free(tensor);
    return status;
  }
  *out_tensor = tensor;
  return NULL;
}

static tsr_status write_array(tsr_json_writer *out, const tsr_array *array) {
  tsr_json_begin_array(out);
  for (int64_t i = 0; i < tsr_array_local_count(array); i++) {
    tsr_local_shard part = TSR_LOCAL_SHARD;
    TSR_TRY(tsr_array_local_at(array, i, &part));
    tsr_json_begin_inline_array(out);
    tsr_json_write_int(out, part.device);
    tsr_json_begin_inline_array(out);
    for (int d = 0; d < tsr_array_shape(array).rank; d++) {
      tsr_json_begin_inline_array(out);
      tsr_json_write_int(out, part.ranges[d].lo);
      tsr_json_write_int(out, part.ranges[d].hi);
      tsr_json_end_array(out);
    }
    tsr_json_end_array(out);
    tsr_json_write_int(out, part.replica);
    tsr_json_write_int(out, crc32_of(part.data, (size_t)part.bytes));
    tsr_json_end_array(out);
  }
  tsr_json_end_array(out);
  return NULL;
}

typedef struct putting {
  tsr_comm *comm;
  tsr_layout *first, *second;
  void *tensor, *back;
  int64_t bytes;
  tsr_array *put, *moved;
} putting;

static tsr_status put_twice(const golden_case *c, putting *p) {
  const char *name = NULL;
  tsr_dtype dtype;
  TSR_TRY(golden_read_string(c, golden_get(c, "dtype"), "dtype", &name));
  TSR_TRY(tsr_dtype_parse(name, &dtype));
  TSR_TRY(tsr_comm_create(DEVICES, NULL, &p->comm));
  TSR_TRY(read_layout(c, "mesh", "spec", &p->first));
  TSR_TRY(read_layout(c, "mesh2", "spec2", &p->second));
  const tsr_shape shape = tsr_layout_shape(p->first);
  TSR_TRY(count_up(&shape, dtype, &p->tensor, &p->bytes));
  TSR_TRY(tsr_array_shard(p->comm, p->first, dtype, p->tensor, NULL, &p->put));
  TSR_TRY(tsr_array_reshard(p->put, p->second, NULL, &p->moved));
  p->back = calloc(1, (size_t)p->bytes + 1);
  if (!p->back) return tsr_fail(NO_MEMORY, "tensor");
  return tsr_array_gather(p->moved, p->back, p->bytes, NULL);
}

static tsr_status write_both(const putting *p, tsr_json_writer *out) {
  tsr_json_begin_object(out);
  tsr_json_write_key(out, "put");
  TSR_TRY(write_array(out, p->put));
  tsr_json_write_key(out, "moved");
  TSR_TRY(write_array(out, p->moved));
  tsr_json_write_key(out, "whole");
  tsr_json_write_int(out, crc32_of(p->back, (size_t)p->bytes));
  tsr_json_end_object(out);
  return NULL;
}

tsr_status golden_device_put(const golden_case *c, const golden_answer *answer) {
  putting p = {0};
  tsr_status status = put_twice(c, &p);
  if (!status) status = write_both(&p, answer->out);
  tsr_array_release(p.put);
  tsr_array_release(p.moved);
  tsr_layout_release(p.first);
  tsr_layout_release(p.second);
  tsr_comm_release(p.comm);
  free(p.tensor);
  free(p.back);
  return status;
}
