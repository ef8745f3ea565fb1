// All members to all members: all_gather and all_to_all are one copy for each pair of a group.
#include <assert.h>
#include <stdio.h>

#include "comm/rounds.h"
#include "element/shape_internal.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/kernels.h"
#include "tessera/shape.h"

// The copy from member i to member j of a group, without the devices.
typedef void copy_between(const void *context, int64_t i, int64_t j, tsr_copy *out_copy);

static tsr_status add_group(tsr_copy_rounds *r, const int64_t *members, int64_t size,
                            copy_between *between, const void *context) {
  for (int64_t j = 0; j < size; j++) {
    const bool skip = r->args->alike && tsr_is_written_by_another(r->args, members, j);
    for (int64_t i = 0; i < size; i++) {
      tsr_copy copy;
      between(context, i, j, &copy);
      copy.source = members[i];
      copy.target = members[j];
      TSR_TRY(tsr_rounds_add(r, &copy, skip));
    }
  }
  return NULL;
}

static tsr_status move_between(const tsr_collective_args *a, copy_between *between,
                               const void *context) {
  const tsr_groups *groups = a->groups;
  tsr_copy_rounds r;
  int64_t pairs = 0;
  if (__builtin_mul_overflow(groups->count * groups->size, groups->size, &pairs)) pairs = INT64_MAX;
  tsr_status status = tsr_rounds_begin(&r, a, a->out_bytes ? pairs : 0);
  for (int64_t g = 0; !status && r.capacity && g < groups->count; g++)
    status = add_group(&r, groups->members + g * groups->size, groups->size, between, context);
  return tsr_rounds_end(&r, status);
}

typedef struct gather_view {
  int64_t outer, inner, size;
} gather_view;

static void gather_copy(const void *context, int64_t i, int64_t j, tsr_copy *out_copy) {
  (void)j;
  const gather_view *g = context;
  out_copy->from = 0;
  out_copy->to = i * g->inner;
  out_copy->length = g->inner;
  out_copy->loop_count = 1;
  out_copy->loops[0] = (tsr_copy_loop){g->outer, g->inner, g->size * g->inner};
}

tsr_status tsr_comm_all_gather(tsr_comm *comm, const tsr_groups *groups, tsr_dtype dtype,
                               int64_t outer, int64_t inner, const void *const *in,
                               void *const *out) {
  tsr_call c = tsr_call_begin(comm, "all_gather");
  tsr_call_describe(&c, "all_gather of %lld x %lld %s, %lld groups of %lld", (long long)outer,
                    (long long)inner, tsr_type_name(dtype), tsr_group_count(groups),
                    tsr_group_size(groups));
  tsr_call_add_groups(&c, groups);
  tsr_collective_args a = {
      .comm = comm, .groups = groups, .dtype = dtype, .in = in, .out = out, .alike = true};
  tsr_status status = tsr_groups_check(comm, groups);
  if (!status) status = tsr_blocks_check(dtype, outer, 1, inner, &a.in_bytes);
  if (!status) status = tsr_blocks_check(dtype, outer, groups->size, inner, &a.out_bytes);
  if (!status) status = tsr_buffers_check(comm, tsr_member_role, &a, in, out);
  TSR_TRY(tsr_call_agree(&c, status));
  const gather_view g = {outer, inner, groups->size};
  return tsr_call_end(&c, move_between(&a, gather_copy, &g));
}

// The tensor as outer x D0 x between x D1 x inner, where D0 and D1 are the split and the
// concatenated dimension in order; `piece` is the size of a piece along each. If both are one
// dimension, it is D0.
typedef struct all_to_all_view {
  int64_t outer, between, inner, size;
  int64_t piece[2];
  int split, concat;  // 0 or 1: index in `piece`
} all_to_all_view;

// The strides of outer, D0, between and D1, if Dk has size piece[k], or `size` times that for k ==
// whole.
static void view_strides(const all_to_all_view *t, int whole, int64_t strides[4]) {
  strides[3] = t->inner;
  strides[2] = strides[3] * t->piece[1] * (whole == 1 ? t->size : 1);
  strides[1] = strides[2] * t->between;
  strides[0] = strides[1] * t->piece[0] * (whole == 0 ? t->size : 1);
}

static void all_to_all_copy(const void *context, int64_t i, int64_t j, tsr_copy *out_copy) {
  const all_to_all_view *t = context;
  int64_t from[4], to[4];
  view_strides(t, t->split, from);
  view_strides(t, t->concat, to);
  out_copy->from = j * t->piece[t->split] * from[t->split ? 3 : 1];
  out_copy->to = i * t->piece[t->concat] * to[t->concat ? 3 : 1];
  out_copy->length = t->inner;
  out_copy->loop_count = 4;
  const int64_t counts[4] = {t->outer, t->piece[0], t->between, t->piece[1]};
  for (int k = 0; k < 4; k++) out_copy->loops[k] = (tsr_copy_loop){counts[k], from[k], to[k]};
}

static all_to_all_view view_of(const tsr_shape *shape, int split, int concat, int64_t size) {
  const int first = split < concat ? split : concat, second = split < concat ? concat : split;
  all_to_all_view t = {
      .outer = 1, .between = 1, .inner = 1, .size = size, .piece = {shape->dims[first], 1}};
  t.split = split > concat;
  t.concat = concat > split;
  if (first != second) t.piece[1] = shape->dims[second];
  t.piece[t.split] /= size;
  for (int d = 0; d < shape->rank; d++) {
    if (d < first) t.outer *= shape->dims[d];
    if (d > first && d < second) t.between *= shape->dims[d];
    if (d > second) t.inner *= shape->dims[d];
  }
  return t;
}

static tsr_status check_dim(const tsr_shape *shape, const char *what, int dim) {
  if (dim >= 0 && dim < shape->rank) return NULL;
  return tsr_fail(BAD_ARGUMENT, "%s dimension %d of a tensor of rank %d", what, dim, shape->rank);
}

static tsr_status check_all_to_all(tsr_collective_args *a, const tsr_shape *shape, int split,
                                   int concat) {
  TSR_TRY(tsr_groups_check(a->comm, a->groups));
  if (!shape) return tsr_fail(BAD_ARGUMENT, "no shape");
  TSR_TRY(tsr_shape_check(shape));
  TSR_TRY(check_dim(shape, "split", split));
  TSR_TRY(check_dim(shape, "concat", concat));
  const int64_t size = a->groups->size;
  if (shape->dims[split] % size)
    return tsr_fail(INDIVISIBLE, "dimension %d of size %lld is not divisible by %lld members",
                    split, (long long)shape->dims[split], (long long)size);
  if (!tsr_dtype_info_of(a->dtype))
    return tsr_fail(BAD_ARGUMENT, "element type %d does not exist", (int)a->dtype);
  TSR_TRY(tsr_shape_bytes(shape, a->dtype, &a->in_bytes));
  a->out_bytes = a->in_bytes;
  return tsr_buffers_check(a->comm, tsr_member_role, a, a->in, a->out);
}

// `4x8`; empty for an invalid shape.
static void print_sizes(const tsr_shape *shape, char *out, size_t size) {
  size_t used = 0;
  out[0] = '\0';
  if (!shape || shape->rank < 0 || shape->rank > TSR_MAX_RANK) return;
  for (int d = 0; d < shape->rank && used < size; d++)
    used += (size_t)snprintf(out + used, size - used, "%s%lld", d ? "x" : "",
                             (long long)shape->dims[d]);
}

tsr_status tsr_comm_all_to_all(tsr_comm *comm, const tsr_groups *groups, tsr_dtype dtype,
                               const tsr_shape *shape, int split, int concat, const void *const *in,
                               void *const *out) {
  tsr_call c = tsr_call_begin(comm, "all_to_all");
  char sizes[TSR_CALL_TEXT / 2];
  print_sizes(shape, sizes, sizeof sizes);
  tsr_call_describe(&c, "all_to_all of rank %d %s %s, split %d, concat %d, %lld groups of %lld",
                    shape ? shape->rank : 0, tsr_type_name(dtype), sizes, split, concat,
                    tsr_group_count(groups), tsr_group_size(groups));
  if (shape && shape->rank > 0 && shape->rank <= TSR_MAX_RANK)
    tsr_call_hash(&c, shape->dims, sizeof *shape->dims * (size_t)shape->rank);
  tsr_call_add_groups(&c, groups);
  tsr_collective_args a = {.comm = comm, .groups = groups, .dtype = dtype, .in = in, .out = out};
  TSR_TRY(tsr_call_agree(&c, check_all_to_all(&a, shape, split, concat)));
  assert(shape);  // a NULL shape was reported by agree
  const all_to_all_view t = view_of(shape, split, concat, groups->size);
  return tsr_call_end(&c, move_between(&a, all_to_all_copy, &t));
}
