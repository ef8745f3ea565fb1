// From chosen devices to others: broadcast and permute.
#include <string.h>

#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "comm/rounds.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "tessera/text.h"

// ---- broadcast ----

typedef struct broadcast {
  tsr_collective_args args;
  int64_t root;
} broadcast;

static tsr_comm_role broadcast_role(const void *context, int64_t device) {
  const broadcast *b = context;
  tsr_comm_role r = tsr_member_role(&b->args, device);
  if (r.out_bytes && b->args.groups->members[r.group * b->args.groups->size + b->root] != device)
    r.in_bytes = 0;
  return r;
}

static tsr_status check_broadcast(broadcast *b, int64_t count) {
  tsr_collective_args *a = &b->args;
  TSR_TRY(tsr_groups_check(a->comm, a->groups));
  if (b->root < 0 || b->root >= a->groups->size)
    return tsr_fail(BAD_ARGUMENT, "the root is member %lld, wanted 0 to %lld", (long long)b->root,
                    (long long)a->groups->size - 1);
  TSR_TRY(tsr_blocks_check(a->dtype, 1, 1, count, &a->in_bytes));
  a->out_bytes = a->in_bytes;
  return tsr_buffers_check(a->comm, broadcast_role, b, a->in, a->out);
}

// Whether a device already has the result in its `out`: the root, if in place.
static bool is_in_place(const tsr_collective_args *a, int64_t source, int64_t target) {
  const int64_t from = tsr_comm_local_index(a->comm, source);
  const int64_t to = tsr_comm_local_index(a->comm, target);
  return from >= 0 && to >= 0 && a->in[from] == a->out[to];
}

static tsr_status broadcast_group(tsr_copy_rounds *r, const int64_t *members, int64_t root,
                                  int64_t count) {
  const tsr_collective_args *a = r->args;
  for (int64_t j = 0; j < a->groups->size; j++) {
    const tsr_copy copy = {.source = members[root], .target = members[j], .length = count};
    const bool skip =
        is_in_place(a, copy.source, copy.target) || tsr_is_written_by_another(a, members, j);
    TSR_TRY(tsr_rounds_add(r, &copy, skip));
  }
  return NULL;
}

tsr_status tsr_comm_broadcast(tsr_comm *comm, const tsr_groups *groups, int64_t root,
                              tsr_dtype dtype, int64_t count, const void *const *in,
                              void *const *out) {
  tsr_call c = tsr_call_begin(comm, "broadcast");
  tsr_call_describe(&c, "broadcast of %lld %s from member %lld, %lld groups of %lld",
                    (long long)count, tsr_type_name(dtype), (long long)root,
                    tsr_group_count(groups), tsr_group_size(groups));
  tsr_call_add_groups(&c, groups);
  broadcast b = {{.comm = comm,
                  .groups = groups,
                  .dtype = dtype,
                  .in = in,
                  .out = out,
                  .alike = true,
                  .in_place = true},
                 root};
  TSR_TRY(tsr_call_agree(&c, check_broadcast(&b, count)));
  tsr_copy_rounds r;
  tsr_status status = tsr_rounds_begin(&r, &b.args, count ? groups->count * groups->size : 0);
  for (int64_t g = 0; !status && r.capacity && g < groups->count; g++)
    status = broadcast_group(&r, groups->members + g * groups->size, root, count);
  return tsr_call_end(&c, tsr_rounds_end(&r, status));
}

// ---- permute ----

typedef struct permutation {
  tsr_collective_args args;
  const tsr_pair *pairs;
  int64_t pair_count, count;
} permutation;

// In a permutation `member_of` is the source of each device, or -1, and `sends` whether it is a
// source.
static tsr_comm_role permute_role(const void *context, int64_t device) {
  const tsr_collective_args *a = &((const permutation *)context)->args;
  const int64_t source = a->comm->member_of[device], no_source = tsr_comm_device_count(a->comm);
  const bool wants = source >= 0 || a->out[tsr_comm_local_index(a->comm, device)];
  return (tsr_comm_role){.in_bytes = a->comm->sends[device] ? a->in_bytes : 0,
                         .out_bytes = wants ? a->out_bytes : 0,
                         .result = source >= 0 ? source : no_source,  // zeros are the same for all
                         .group = -1};
}

static tsr_status check_pair(const permutation *p, int64_t index) {
  tsr_comm *comm = p->args.comm;
  const int64_t devices = tsr_comm_device_count(comm);
  const tsr_pair pair = p->pairs[index];
  if (pair.source < 0 || pair.source >= devices || pair.target < 0 || pair.target >= devices)
    return tsr_fail(BAD_ARGUMENT, "pair %lld is from device %lld to device %lld, wanted 0 to %lld",
                    (long long)index, (long long)pair.source, (long long)pair.target,
                    (long long)devices - 1);
  if (comm->member_of[pair.target] >= 0)
    return tsr_fail(BAD_ARGUMENT, "device %lld is the target of device %lld and of device %lld",
                    (long long)pair.target, (long long)comm->member_of[pair.target],
                    (long long)pair.source);
  comm->member_of[pair.target] = pair.source;
  comm->sends[pair.source] = true;
  return NULL;
}

static tsr_status check_permutation(permutation *p) {
  tsr_collective_args *a = &p->args;
  const int64_t devices = tsr_comm_device_count(a->comm);
  memset(a->comm->sends, 0, sizeof *a->comm->sends * (size_t)devices);
  for (int64_t d = 0; d < devices; d++) a->comm->member_of[d] = -1;
  if (p->pair_count < 0 || p->pair_count > devices || (p->pair_count && !p->pairs))
    return tsr_fail(BAD_ARGUMENT, "%lld pairs, wanted 0 to %lld", (long long)p->pair_count,
                    (long long)devices);
  for (int64_t i = 0; i < p->pair_count; i++) TSR_TRY(check_pair(p, i));
  TSR_TRY(tsr_blocks_check(a->dtype, 1, 1, p->count, &a->in_bytes));
  a->out_bytes = a->in_bytes;
  return tsr_buffers_check(a->comm, permute_role, p, a->in, a->out);
}

// Zeros for devices that get nothing; bits after the last element are not written.
static tsr_status fill_zeros(void *context, int64_t local, int worker) {
  (void)worker;
  const permutation *p = context;
  const tsr_collective_args *a = &p->args;
  const int64_t device = a->comm->first[a->comm->rank] + local;
  unsigned char *out = a->out[local];
  if (!out || a->comm->member_of[device] >= 0) return NULL;
  for (int64_t i = 0; i < local; i++) {
    if (a->out[i] == out && a->comm->member_of[device - local + i] < 0) return NULL;
  }
  const int64_t bits = p->count * tsr_dtype_info_of(a->dtype)->bits;
  memset(out, 0, (size_t)(bits / 8));
  if (bits % 8) out[bits / 8] &= (unsigned char)(0xffU << (bits % 8));
  return NULL;
}

static tsr_status permute(permutation *p) {
  const tsr_collective_args *a = &p->args;
  if (!p->count) return NULL;
  TSR_TRY(tsr_pool_run(a->comm->pool, tsr_comm_local_count(a->comm), fill_zeros, p));
  tsr_copy_rounds r;
  tsr_status status = tsr_rounds_begin(&r, a, p->pair_count);
  for (int64_t i = 0; !status && i < p->pair_count; i++) {
    const tsr_copy copy = {
        .source = p->pairs[i].source, .target = p->pairs[i].target, .length = p->count};
    status = tsr_rounds_add(&r, &copy, false);
  }
  return tsr_rounds_end(&r, status);
}

static tsr_hash128 digest_pairs(void *context, int64_t item) {
  const permutation *p = context;
  (void)item;
  return tsr_hash128_add(TSR_HASH128_EMPTY, p->pairs, sizeof *p->pairs * (size_t)p->pair_count);
}

static void describe_pairs(void *context, int64_t item, tsr_text *out) {
  const permutation *p = context;
  (void)item;
  tsr_text_add(out, "pairs");
  for (int64_t i = 0; i < p->pair_count && out->length < TSR_CALL_TEXT; i++)
    tsr_text_addf(out, "%s %lld to %lld", i ? "," : "", (long long)p->pairs[i].source,
                  (long long)p->pairs[i].target);
}

tsr_status tsr_comm_permute(tsr_comm *comm, const tsr_pair *pairs, int64_t pair_count,
                            tsr_dtype dtype, int64_t count, const void *const *in,
                            void *const *out) {
  tsr_call c = tsr_call_begin(comm, "permute");
  tsr_call_describe(&c, "permute of %lld %s, %lld pairs", (long long)count, tsr_type_name(dtype),
                    (long long)pair_count);
  permutation p = {.args = {.comm = comm, .dtype = dtype, .in = in, .out = out},
                   .pairs = pairs,
                   .pair_count = pair_count,
                   .count = count};
  if (pairs && pair_count > 0 && pair_count <= tsr_comm_device_count(comm))
    c.items = (tsr_call_items){1, &p, digest_pairs, describe_pairs};
  TSR_TRY(tsr_call_agree(&c, check_permutation(&p)));
  return tsr_call_end(&c, permute(&p));
}
