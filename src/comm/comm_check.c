// Checks of the arguments of a call, done once here so that engines need none.
#include <stdlib.h>

#include "comm/comm.h"
#include "element/reduction.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/reduction.h"
#include "tessera/shape.h"

// ---- groups ----

static tsr_status check_member(tsr_comm *comm, const tsr_groups *groups, int64_t index) {
  const int64_t device = groups->members[index], group = index / groups->size;
  if (device < 0 || device >= tsr_comm_device_count(comm))
    return tsr_fail(BAD_ARGUMENT, "member %lld of group %lld is device %lld, wanted 0 to %lld",
                    (long long)(index % groups->size), (long long)group, (long long)device,
                    (long long)tsr_comm_device_count(comm) - 1);
  int64_t *member_of = &comm->member_of[device];
  if (*member_of == group)
    return tsr_fail(BAD_ARGUMENT, "device %lld is twice in group %lld", (long long)device,
                    (long long)group);
  if (*member_of >= 0)
    return tsr_fail(BAD_ARGUMENT, "device %lld is in group %lld and in group %lld",
                    (long long)device, (long long)*member_of, (long long)group);
  *member_of = group;
  return NULL;
}

tsr_status tsr_groups_check(tsr_comm *comm, const tsr_groups *groups) {
  const int64_t devices = tsr_comm_device_count(comm);
  for (int64_t d = 0; d < devices; d++) comm->member_of[d] = -1;
  if (!groups) return tsr_fail(BAD_ARGUMENT, "no groups");
  if (groups->count < 0 || groups->size < 1)
    return tsr_fail(BAD_ARGUMENT, "%lld groups of %lld devices, wanted 0 or more of 1 or more",
                    (long long)groups->count, (long long)groups->size);
  if (groups->count > devices / groups->size)
    return tsr_fail(BAD_ARGUMENT, "%lld groups of %lld devices, but there are %lld devices",
                    (long long)groups->count, (long long)groups->size, (long long)devices);
  if (groups->count && !groups->members) return tsr_fail(BAD_ARGUMENT, "groups without members");
  for (int64_t i = 0; i < groups->count * groups->size; i++) TSR_TRY(check_member(comm, groups, i));
  return NULL;
}

// ---- sizes and operations ----

tsr_status tsr_blocks_check(tsr_dtype dtype, int64_t outer, int64_t size, int64_t inner,
                            int64_t *out_bytes) {
  if (!tsr_dtype_info_of(dtype))
    return tsr_fail(BAD_ARGUMENT, "element type %d does not exist", (int)dtype);
  if (outer < 0 || inner < 0)
    return tsr_fail(BAD_ARGUMENT, "%lld blocks of %lld elements, wanted 0 or more",
                    (long long)outer, (long long)inner);
  const tsr_shape blocks = {3, {outer, size, inner}};
  return tsr_shape_bytes(&blocks, dtype, out_bytes);
}

tsr_status tsr_reduction_check(tsr_dtype dtype, tsr_reduction op) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  if (!info) return tsr_fail(BAD_ARGUMENT, "element type %d does not exist", (int)dtype);
  const char *name = tsr_reduction_name(op);
  if (!name) return tsr_fail(BAD_ARGUMENT, "reduction %d does not exist", (int)op);
  if (tsr_reduction_allows(op, dtype)) return NULL;
  if (op == TSR_REDUCE_MIN || op == TSR_REDUCE_MAX)
    return tsr_fail(BAD_ARGUMENT, "%s of %s: complex numbers have no order", name, info->name);
  return tsr_fail(BAD_ARGUMENT, "%s of %s, wanted bool or an integer type", name, info->name);
}

// ---- buffers ----

static int by_begin(const void *left, const void *right) {
  const tsr_comm_span *a = left, *b = right;
  if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
  if (a->end != b->end) return a->end < b->end ? 1 : -1;  // the longer first
  return (a->result > b->result) - (a->result < b->result);
}

static bool may_coincide(const tsr_comm_span *a, const tsr_comm_span *b) {
  if (a->result < 0 && b->result < 0) return true;  // two that are only read
  if (a->begin != b->begin || a->end != b->end) return false;
  if (a->result >= 0 && b->result >= 0) return a->result == b->result;
  const tsr_comm_span *in = a->result < 0 ? a : b, *out = a->result < 0 ? b : a;
  return in->group >= 0 && in->group == out->group;
}

static tsr_status check_overlap(const tsr_comm_span *a, const tsr_comm_span *b) {
  if (may_coincide(a, b)) return NULL;
  return tsr_fail(BAD_ARGUMENT, "`%s` of device %lld overlaps `%s` of device %lld",
                  a->result < 0 ? "in" : "out", (long long)a->device, b->result < 0 ? "in" : "out",
                  (long long)b->device);
}

// Compares each span with the previous one that reaches furthest, among written ones and among all:
// if any two overlap, one of these pairs does. Equal spans may be allowed to overlap while the
// buffer is also the `in` of another group; `other` tracks that one.
static tsr_status check_spans(tsr_comm_span *spans, size_t count) {
  qsort(spans, count, sizeof *spans, by_begin);
  const tsr_comm_span *written = NULL, *any = NULL, *same = NULL, *other = NULL;
  for (size_t i = 0; i < count; i++) {
    const tsr_comm_span *s = &spans[i];
    if (!same || s->begin != same->begin || s->end != same->end)
      same = s, other = NULL;
    else if (s->result < 0 && s->group != same->group)
      other = s;
    if (s->result >= 0 && other) TSR_TRY(check_overlap(other, s));
    if (written && s->begin < written->end) TSR_TRY(check_overlap(written, s));
    if (s->result >= 0 && any && s->begin < any->end) TSR_TRY(check_overlap(any, s));
    if (s->result >= 0 && (!written || s->end > written->end)) written = s;
    if (!any || s->end > any->end) any = s;
  }
  return NULL;
}

static tsr_status add_span(tsr_comm_span *spans, size_t *count, tsr_comm_span s, const void *buffer,
                           int64_t bytes) {
  if (!bytes) return NULL;
  if (!buffer)
    return tsr_fail(BAD_ARGUMENT, "device %lld has no `%s`", (long long)s.device,
                    s.result < 0 ? "in" : "out");
  s.begin = (uintptr_t)buffer;
  s.end = s.begin + (uintptr_t)bytes;
  spans[(*count)++] = s;
  return NULL;
}

tsr_status tsr_buffers_check(tsr_comm *comm, tsr_comm_role_fn *role_of_device, const void *context,
                             const void *const *in, void *const *out) {
  const int64_t first = comm->first[comm->rank], local = tsr_comm_local_count(comm);
  if (local && !in) return tsr_fail(BAD_ARGUMENT, "no list of `in` buffers");
  if (local && !out) return tsr_fail(BAD_ARGUMENT, "no list of `out` buffers");
  size_t count = 0;
  for (int64_t i = 0; i < local; i++) {
    const tsr_comm_role r = role_of_device(context, first + i);
    const tsr_comm_span source = {.device = first + i, .result = -1, .group = r.group};
    const tsr_comm_span target = {.device = first + i, .result = r.result, .group = r.group};
    TSR_TRY(add_span(comm->spans, &count, source, in[i], r.in_bytes));
    TSR_TRY(add_span(comm->spans, &count, target, out[i], r.out_bytes));
  }
  return check_spans(comm->spans, count);
}
