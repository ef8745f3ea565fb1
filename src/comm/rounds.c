// Arguments of collectives, and their copies in rounds of bounded size.
#include "comm/rounds.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "element/copy_internal.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/kernels.h"
#include "tessera/text.h"

enum { PAIRS_PER_ROUND = 1 << 12 };

// ---- what ranks compare ----

static tsr_hash128 digest_groups(void *context, int64_t item) {
  const tsr_groups *groups = context;
  (void)item;
  return tsr_hash128_add(TSR_HASH128_EMPTY, groups->members,
                         sizeof *groups->members * (size_t)(groups->count * groups->size));
}

static void describe_groups(void *context, int64_t item, tsr_text *out) {
  const tsr_groups *groups = context;
  (void)item;
  tsr_text_add(out, "groups");
  for (int64_t i = 0; i < groups->count * groups->size && out->length < TSR_CALL_TEXT; i++)
    tsr_text_addf(out, "%s%lld%s", i % groups->size ? ", " : " [", (long long)groups->members[i],
                  (i + 1) % groups->size ? "" : "]");
}

void tsr_call_add_groups(tsr_call *c, const tsr_groups *groups) {
  if (!groups || groups->count < 1 || groups->size < 1 || !groups->members) return;
  if (groups->count > tsr_comm_device_count(c->comm) / groups->size) return;
  c->items = (tsr_call_items){1, (void *)(uintptr_t)groups, digest_groups, describe_groups};
}

long long tsr_group_count(const tsr_groups *groups) { return groups ? groups->count : 0; }
long long tsr_group_size(const tsr_groups *groups) { return groups ? groups->size : 0; }

const char *tsr_type_name(tsr_dtype dtype) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  return info ? info->name : "?";
}

tsr_comm_role tsr_member_role(const void *context, int64_t device) {
  const tsr_collective_args *a = context;
  const int64_t group = a->comm->member_of[device];
  if (group < 0) return (tsr_comm_role){.result = -1, .group = -1};
  return (tsr_comm_role){.in_bytes = a->in_bytes,
                         .out_bytes = a->out_bytes,
                         .result = a->alike ? group : device,
                         .group = a->in_place ? group : -1};
}

// ---- rounds of copies ----

bool tsr_is_written_by_another(const tsr_collective_args *a, const int64_t *members,
                               int64_t index) {
  const int64_t own = tsr_comm_local_index(a->comm, members[index]);
  if (own < 0) return false;
  for (int64_t i = 0; i < index; i++) {
    const int64_t local = tsr_comm_local_index(a->comm, members[i]);
    if (local >= 0 && a->out[local] == a->out[own]) return true;
  }
  return false;
}

tsr_status tsr_rounds_begin(tsr_copy_rounds *r, const tsr_collective_args *a, int64_t pairs) {
  *r = (tsr_copy_rounds){.args = a, .capacity = pairs < PAIRS_PER_ROUND ? pairs : PAIRS_PER_ROUND};
  if (!pairs) return NULL;
  r->copies = malloc(sizeof *r->copies * (size_t)r->capacity);
  return r->copies ? NULL : tsr_fail(NO_MEMORY, "%lld copies", (long long)r->capacity);
}

static tsr_status rounds_flush(tsr_copy_rounds *r) {
  if (!r->pairs) return NULL;
  const tsr_collective_args *a = r->args;
  const tsr_exchange array = {.copies = r->copies,
                              .copy_count = r->copy_count,
                              .bits = tsr_dtype_info_of(a->dtype)->bits,
                              .in = a->in,
                              .out = a->out};
  r->pairs = r->copy_count = 0;
  return a->comm->engine->exchange(a->comm, &array, 1);
}

tsr_status tsr_rounds_add(tsr_copy_rounds *r, const tsr_copy *copy, bool skip) {
  const tsr_comm *comm = r->args->comm;
  if (r->pairs == r->capacity) TSR_TRY(rounds_flush(r));
  r->pairs++;
  const bool from_here = tsr_comm_local_index(comm, copy->source) >= 0;
  // A sender does not know which targets share a buffer, so it sends to each.
  if ((skip && from_here) || (!from_here && tsr_comm_local_index(comm, copy->target) < 0))
    return NULL;
  tsr_copy *to = &r->copies[r->copy_count++];
  memcpy(to, copy, offsetof(tsr_copy, loops) + sizeof *copy->loops * (size_t)copy->loop_count);
  tsr_copy_simplify(to);
  return NULL;
}

tsr_status tsr_rounds_end(tsr_copy_rounds *r, tsr_status status) {
  if (!status) status = rounds_flush(r);
  free(r->copies);
  return status;
}
