// The slice of a tensor that a process holds: one range per dimension.
//
// t5x divides a dimension by the number of chunks, rounding down. The exact way (`uneven`,
// `strict`) starts from the devices: the axes cut the dimension in shards of ceil(size / devices),
// and the process holds those of its box.
#include "array/array_chunks.h"
#include "array/chunks_internal.h"
#include "base/sized.h"
#include "element/shape_internal.h"
#include "mesh/mesh.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/layout.h"
#include "tessera/shape.h"
#include "tessera/spec.h"

typedef struct chunk_request {
  const tsr_chunker *chunker;
  const tsr_mesh *mesh;
  tsr_process_box box;
  tsr_process_chunks chunks;
  tsr_chunk_options options;
  bool used[TSR_MAX_AXES];
} chunk_request;

// The axes that cut a dimension, major first, as indices.
typedef struct cutters {
  int count;
  int axes[TSR_MAX_AXES];
} cutters;

static tsr_status add_cutter(const chunk_request *request, const tsr_axis_ref *ref, cutters *out) {
  int axis = 0;
  if (ref->size)
    return tsr_fail(NOT_EXPRESSIBLE, "a sub-axis of \"%s\": chunks support whole axes only",
                    ref->name);
  TSR_TRY(tsr_mesh_need_axis(request->mesh, ref->name, &axis));
  for (int i = 0; i < out->count; i++)
    if (out->axes[i] == axis)
      return tsr_fail(DUPLICATE_MESH_AXIS, "axis \"%s\" is given twice", ref->name);
  out->axes[out->count++] = axis;
  return NULL;
}

// None inside a group is not an axis.
static int count_names(const tsr_stage *stage) {
  int count = 0;
  for (int i = 0; i < stage->axis_count; i++) count += stage->axes[i].name[0] != '\0';
  return count;
}

static tsr_status read_cutters(const chunk_request *request, const tsr_spec_dim *dim,
                               cutters *out) {
  out->count = 0;
  if (!dim->stage_count) return NULL;
  const tsr_stage *stage = &dim->stages[0];
  if (dim->stage_count > 1 || stage->kind != TSR_STAGE_EVEN)
    return tsr_fail(NOT_EXPRESSIBLE, "chunks support only even cuts by whole axes");
  const int names = count_names(stage);
  if (names > 1 && !request->options.tuple_axes)
    return tsr_fail(TUPLE_AXIS_UNSUPPORTED, "%d axes cut one dimension, which needs tuple_axes",
                    names);
  for (int i = 0; i < stage->axis_count; i++)
    if (stage->axes[i].name[0]) TSR_TRY(add_cutter(request, &stage->axes[i], out));
  return NULL;
}

static tsr_status mark_used(chunk_request *request, const cutters *by) {
  for (int i = 0; i < by->count; i++) {
    const int axis = by->axes[i];
    if (request->options.strict && request->used[axis])
      return tsr_fail(DUPLICATE_MESH_AXIS, "axis \"%s\" cuts two dimensions",
                      tsr_mesh_axis_at(request->mesh, axis)->name);
    request->used[axis] = true;
  }
  return NULL;
}

// The shards of the process are contiguous if all axes before some axis have one coordinate in the
// box, and all after it are whole.
static tsr_status check_contiguous(const chunk_request *request, const cutters *by) {
  int i = 0;
  while (i < by->count && request->box.sizes[by->axes[i]] == 1) i++;
  for (i++; i < by->count; i++) {
    const tsr_axis *axis = tsr_mesh_axis_at(request->mesh, by->axes[i]);
    const int64_t held = request->box.sizes[by->axes[i]];
    if (held != axis->size)
      return tsr_fail(CHUNK_NOT_CONTIGUOUS,
                      "the process's slice is not one range: it holds %lld of the %lld coordinates "
                      "of axis \"%s\", and several of an axis before it",
                      (long long)held, (long long)axis->size, axis->name);
  }
  return NULL;
}

static tsr_range floor_range(const chunk_request *request, const cutters *by, int64_t size) {
  int64_t id = 0, count = 1;  // of chunks, no more than there are devices
  for (int i = 0; i < by->count; i++) {
    const int64_t chunks = request->chunks.num_chunks[by->axes[i]];
    id = id * chunks + request->chunks.chunk_ids[by->axes[i]];
    count *= chunks;
  }
  const int64_t share = size / count;
  return (tsr_range){id * share, (id + 1) * share};
}

static tsr_status exact_range(const chunk_request *request, const cutters *by, int64_t size,
                              tsr_range *out_range) {
  int64_t first = 0, held = 1, shards = 1;
  for (int i = 0; i < by->count; i++) {
    const int64_t members = tsr_mesh_axis_at(request->mesh, by->axes[i])->size;
    first = first * members + request->box.low[by->axes[i]];
    held *= request->box.sizes[by->axes[i]];
    shards *= members;
  }
  if (!request->options.uneven && size % shards)
    return tsr_fail(INDIVISIBLE, "size %lld is not divisible by the %lld devices that cut it",
                    (long long)size, (long long)shards);
  // No overflow: shards * share < size + shards, and both are at most 2^62.
  const int64_t share = size / shards + (size % shards != 0);
  const int64_t lo = first * share, hi = (first + held) * share;
  *out_range = (tsr_range){lo < size ? lo : size, hi < size ? hi : size};
  return NULL;
}

static tsr_status slice_dim(chunk_request *request, const tsr_spec_dim *dim, int64_t size,
                            tsr_range *range, bool *cut) {
  cutters by;
  TSR_TRY(read_cutters(request, dim, &by));
  *cut = by.count > 0;
  *range = (tsr_range){0, size};
  if (!by.count) return NULL;
  TSR_TRY(mark_used(request, &by));
  TSR_TRY(check_contiguous(request, &by));
  if (request->options.uneven || request->options.strict)
    return exact_range(request, &by, size, range);
  *range = floor_range(request, &by, size);
  return NULL;
}

tsr_status tsr_chunker_local_chunk(const tsr_chunker *chunker, int64_t process,
                                   const tsr_shape *shape, const tsr_spec *spec,
                                   const tsr_chunk_options *options, tsr_chunk *out_chunk) {
  chunk_request request = {.chunker = chunker, .mesh = tsr_chunker_mesh(chunker)};
  tsr_chunk chunk = {.rank = shape->rank};
  const tsr_spec_desc *entries = tsr_spec_desc_of(spec);
  TSR_TRY(tsr_sized_read(tsr_chunk_options, options, &request.options));
  TSR_TRY(tsr_shape_check(shape));
  TSR_TRY(tsr_chunker_box(chunker, process, &request.box));
  TSR_TRY(tsr_chunker_chunks(chunker, process, &request.chunks));
  if (request.options.strict && entries->dim_count > shape->rank)
    return tsr_fail(RANK_TOO_SMALL, "a spec of %d entries for a tensor of rank %d",
                    entries->dim_count, shape->rank);
  for (int d = 0; d < shape->rank; d++) {
    const tsr_spec_dim whole = {0};
    const tsr_spec_dim *dim = d < entries->dim_count ? &entries->dims[d] : &whole;
    TSR_TRY_NOTE(slice_dim(&request, dim, shape->dims[d], &chunk.slice[d], &chunk.cut[d]),
                 "dimension %d", d);
  }
  chunk.replica_id = tsr_chunks_replica_id(chunker, &request.chunks, request.used);
  *out_chunk = chunk;
  return NULL;
}
