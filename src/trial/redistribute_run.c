// Runs a redistribution on real buffers.
//
// Elements are a function of their index in the tensor, so each rank can check its own. Ranks then
// agree on the result: all fail, or none.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/array.h"
#include "array/array_internal.h"
#include "base/pool_internal.h"
#include "base/progress_internal.h"
#include "comm/comm_internal.h"
#include "element/dtype_internal.h"
#include "element/shape_internal.h"
#include "layout/layout_internal.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/engine/array.h"
#include "tessera/engine/buffer.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/pool.h"
#include "tessera/engine/sharding.h"
#include "trial/trial.h"

enum { ROUNDS = 5, COPY_BLOCK = 1 << 20 };

// ---- contents ----

// Elements are finite and not negative, so that adding the zeros of partial results does not change
// them.
typedef struct contents {
  int bits;       // of an element
  uint64_t mask;  // of the bits that may be set, for each word of 64
} contents;

static contents contents_of(tsr_dtype dtype) {
  const tsr_dtype_info *info = tsr_dtype_info_of(dtype);
  const int bits = info->kind == TSR_CLASS_COMPLEX ? info->bits / 2 : info->bits;
  uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
  if (info->kind == TSR_CLASS_FLOAT || info->kind == TSR_CLASS_COMPLEX) mask >>= 2;
  if (info->kind == TSR_CLASS_BOOL) mask = 1;
  if (info->kind == TSR_CLASS_COMPLEX && bits < 64) mask |= mask << bits;
  return (contents){info->bits, mask};
}

// Steele, Lea and Flood's SplitMix64.
static uint64_t word_at(const contents *c, int64_t index) {
  uint64_t z = ((uint64_t)index + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (z ^ (z >> 31)) & c->mask;
}

// Writes element `index` of the tensor at `place` of a buffer, or compares it with what is there.
// Sub-byte elements may straddle two bytes. False = it differs.
static bool visit_element(const contents *c, unsigned char *data, int64_t place, int64_t index,
                          bool write) {
  const uint64_t words[2] = {word_at(c, index), word_at(c, ~index)};
  if (c->bits >= 8) {
    const size_t bytes = (size_t)c->bits / 8;
    if (write) memcpy(data + (size_t)place * bytes, words, bytes);
    return write || !memcmp(data + (size_t)place * bytes, words, bytes);
  }
  for (int b = 0; b < c->bits; b++) {
    const int64_t bit = place * c->bits + b;
    const unsigned char mask = (unsigned char)(1 << bit % 8);
    const unsigned char wanted = words[0] >> b & 1 ? mask : 0;
    if (write) data[bit / 8] = (unsigned char)((data[bit / 8] & ~mask) | wanted);
    if ((data[bit / 8] & mask) != wanted) return false;
  }
  return true;
}

// ---- every element of a shard ----

// Visits `count` elements with consecutive indices, `stride` apart in the buffer. False stops, with
// the index of the element that differs.
static bool visit_row(const contents *c, unsigned char *data, int64_t place, int64_t stride,
                      int64_t index, int64_t count, bool write, int64_t *out_wrong) {
  for (int64_t i = 0; i < count; i++)
    if (!visit_element(c, data, place + i * stride, index + i, write)) {
      *out_wrong = index + i;
      return false;
    }
  return true;
}

static bool visit_piece(const contents *c, const tsr_shape *shape, const tsr_piece *piece,
                        unsigned char *data, bool write, int64_t *out_wrong) {
  const int last = shape->rank - 1;
  int64_t strides[TSR_MAX_RANK], at[TSR_MAX_RANK];
  if (last < 0) return visit_row(c, data, piece->offset, 0, 0, 1, write, out_wrong);
  tsr_shape_strides(shape, strides);
  for (int d = 0; d <= last; d++) at[d] = piece->ranges[d].lo;
  for (int d = 0; d >= 0;) {
    int64_t place = piece->offset, index = 0;
    for (int i = 0; i <= last; i++) {
      place += (at[i] - piece->ranges[i].lo) * piece->strides[i];
      index += at[i] * strides[i];
    }
    if (!visit_row(c, data, place, piece->strides[last], index,
                   piece->ranges[last].hi - piece->ranges[last].lo, write, out_wrong))
      return false;
    for (d = last - 1; d >= 0 && ++at[d] == piece->ranges[d].hi; d--) at[d] = piece->ranges[d].lo;
  }
  return true;
}

static tsr_status visit_shard(const tsr_layout *layout, tsr_dtype dtype, int64_t shard,
                              unsigned char *data, bool write, int64_t *out_wrong) {
  const contents c = contents_of(dtype);
  const tsr_shape shape = tsr_layout_shape(layout);
  tsr_pieces pieces;
  TSR_TRY(tsr_pieces_init(&pieces, layout, shard));
  for (tsr_piece piece; *out_wrong < 0 && tsr_pieces_next(&pieces, &piece);)
    visit_piece(&c, &shape, &piece, data, write, out_wrong);
  tsr_pieces_deinit(&pieces);
  return NULL;
}

// Collective. All ranks fail if one does.
static tsr_status agree(tsr_comm *comm, tsr_status status) {
  return tsr_array_agree(comm, "redistribute", status);
}

// Collective. The sum over all ranks.
static tsr_status add_up(tsr_comm *comm, int64_t mine, int64_t *out_sum) {
  const int ranks = tsr_comm_rank_count(comm);
  int64_t *all = calloc((size_t)ranks, sizeof *all), sum = 0;
  tsr_status status = all ? tsr_comm_share(comm, &mine, sizeof mine, all)
                          : tsr_fail(NO_MEMORY, "numbers of %d ranks", ranks);
  for (int r = 0; r < ranks && !status; r++) sum += all[r];
  free(all);
  if (!status) *out_sum = sum;
  return status;
}

// ---- arrays ----

typedef struct runner {
  const tsr_redistribution *change;
  tsr_comm *comm;
  tsr_progress *progress;
  int64_t step_bytes;  // of one step on this rank, for progress
  int64_t checked;     // elements on this rank
} runner;

static tsr_status fill_shard(void *context, const tsr_local_shard *shard, void *data) {
  const runner *r = context;
  int64_t wrong = -1;
  memset(data, 0, (size_t)shard->bytes);
  return visit_shard(r->change->from, r->change->dtype, shard->shard, data, true, &wrong);
}

// Makes whole values, then reshards them: of partial results, the first of each group gets the
// value and the others get zero.
static tsr_status make_source(runner *r, tsr_array **out_array) {
  tsr_layout *plain = NULL;
  tsr_array *values = NULL;
  TSR_TRY(tsr_layout_reduced(r->change->from, &plain));
  tsr_status status = tsr_array_generate(r->comm, plain, r->change->dtype, fill_shard, r, &values);
  status = agree(r->comm, status);
  if (!status) status = tsr_array_reshard(values, r->change->from, NULL, out_array);
  tsr_array_release(values);
  tsr_layout_release(plain);
  tsr_progress_add(r->progress, r->step_bytes);
  return status;
}

static tsr_status check_shard(void *context, int64_t index, int worker) {
  const tsr_array *array = context;
  tsr_local_shard shard = TSR_LOCAL_SHARD;
  int64_t wrong = -1;
  (void)worker;
  TSR_TRY(tsr_array_local_at(array, index, &shard));
  // Only compared, not written.
  unsigned char *data = (unsigned char *)(uintptr_t)shard.data;
  TSR_TRY(visit_shard(tsr_array_layout(array), tsr_array_dtype(array), shard.shard, data, false,
                      &wrong));
  if (wrong < 0) return NULL;
  return tsr_fail(BROKEN_PLAN, "device %lld: element %lld of the tensor changed",
                  (long long)shard.device, (long long)wrong);
}

static tsr_status check_elements(runner *r, tsr_array *array) {
  tsr_layout *plain = NULL;
  tsr_array *values = NULL;
  TSR_TRY(tsr_layout_reduced(tsr_array_layout(array), &plain));
  tsr_status status = tsr_array_reshard(array, plain, NULL, &values);
  if (!status)
    status = agree(r->comm, tsr_pool_run(tsr_comm_pool(r->comm), tsr_array_local_count(values),
                                         check_shard, values));
  for (int64_t i = 0; !status && i < tsr_array_local_count(values); i++) {
    const int64_t position = tsr_layout_device_find(plain, tsr_array_device(values, i));
    r->checked += tsr_layout_shard_elements(plain, tsr_layout_shard(plain, position));
  }
  tsr_array_release(values);
  tsr_layout_release(plain);
  tsr_progress_add(r->progress, r->step_bytes);
  return status;
}

// ---- time ----

typedef struct block_copy {
  char *to;
  const char *from;
  int64_t bytes;
} block_copy;

static tsr_status copy_block(void *context, int64_t index, int worker) {
  const block_copy *job = context;
  const int64_t start = index * COPY_BLOCK, left = job->bytes - start;
  (void)worker;
  memcpy(job->to + start, job->from + start, (size_t)(left < COPY_BLOCK ? left : COPY_BLOCK));
  return NULL;
}

// Times memcpy of as many bytes as were written here, on the same workers.
static tsr_status time_memcpy(runner *r, int64_t bytes, double *out_seconds) {
  tsr_buffer *from = NULL, *to = NULL;
  tsr_status status = tsr_buffer_create(tsr_comm_buffers(r->comm), bytes, &from);
  if (!status) status = tsr_buffer_create(tsr_comm_buffers(r->comm), bytes, &to);
  status = agree(r->comm, status);
  if (!status && to && bytes) memset(tsr_buffer_data(from), 1, (size_t)bytes);
  for (int round = 0; round < ROUNDS && !status; round++) {
    block_copy job = {0};
    if (to && bytes) job = (block_copy){tsr_buffer_data(to), tsr_buffer_data(from), bytes};
    status = tsr_comm_barrier(r->comm);
    const double start = tsr_now();
    if (!status)
      status = tsr_pool_run(tsr_comm_pool(r->comm), (bytes + COPY_BLOCK - 1) / COPY_BLOCK,
                            copy_block, &job);
    if (!status) status = tsr_comm_barrier(r->comm);
    const double seconds = tsr_now() - start;
    if (round == 0 || seconds < *out_seconds) *out_seconds = seconds;
    tsr_progress_add(r->progress, r->step_bytes);
  }
  tsr_buffer_release(from);
  tsr_buffer_release(to);
  return status;
}

// The first round also pays for fresh pages, so the fastest round counts.
static tsr_status time_way(runner *r, tsr_array *source, tsr_reshard_method method,
                           tsr_redistribution_timing *out) {
  const tsr_reshard_options options = {.size = sizeof options, .method = method, .unshare = true};
  tsr_array *result = NULL;
  tsr_status status = NULL;
  for (int round = 0; round < ROUNDS && !status; round++) {
    tsr_array_release(result);
    result = NULL;
    status = tsr_comm_barrier(r->comm);
    const double start = tsr_now();
    if (!status) status = tsr_array_reshard(source, r->change->to, &options, &result);
    if (!status) status = tsr_comm_barrier(r->comm);
    const double seconds = tsr_now() - start;
    if (round == 0 || seconds < out->seconds) out->seconds = seconds;
    tsr_progress_add(r->progress, r->step_bytes);
  }
  if (!status) status = check_elements(r, result);
  const int64_t here = result ? tsr_array_memory(result) : 0;
  tsr_array_release(result);
  if (!status) status = add_up(r->comm, here, &out->bytes_written);
  if (!status) status = time_memcpy(r, here, &out->memcpy_seconds);
  return tsr_note(status, method == TSR_RESHARD_DIRECT ? "direct" : "by collectives");
}

// Counts the elements that the copies of this rank move, independently of the certificate.
static tsr_status count_moved(const runner *r, int64_t *out_elements) {
  const tsr_redistribution *change = r->change;
  for (int64_t p = 0; p < tsr_layout_device_count(change->to); p++) {
    if (tsr_comm_local_index(r->comm, tsr_layout_device_at(change->to, p)) < 0) continue;
    tsr_copies copies;
    TSR_TRY(tsr_copies_init_into(&copies, change->plan, p));
    for (tsr_copy copy; tsr_copies_next(&copies, &copy);)
      if (copy.source != copy.target) *out_elements += tsr_copy_elements(&copy);
    tsr_copies_deinit(&copies);
  }
  return NULL;
}

static tsr_status check_moved(const runner *r) {
  int64_t elements = 0, bytes = 0;
  TSR_TRY(agree(r->comm, count_moved(r, &elements)));
  TSR_TRY(add_up(r->comm, elements, &elements));
  TSR_TRY(tsr_dtype_bytes(r->change->dtype, elements, &bytes));
  if (bytes == r->change->certificate.bytes_moved) return NULL;
  return tsr_fail(BROKEN_PLAN, "the copies move %lld bytes, but %lld were certified",
                  (long long)bytes, (long long)r->change->certificate.bytes_moved);
}

// ---- the run ----

// Needs source, result and two buffers of memcpy. Ranks may share one machine.
static tsr_status check_memory(int64_t bytes) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (pages < 1 || page < 1 || bytes / page <= pages / 4) return NULL;
  return tsr_fail(DOES_NOT_FIT, "--run needs four times %s, more than this machine's memory",
                  tsr_format_bytes(bytes).text);
}

static tsr_status run_ways(runner *r, tsr_redistribution_run *out) {
  tsr_array *source = NULL;
  TSR_TRY(make_source(r, &source));
  tsr_status status = NULL;
  if (r->change->plan) {
    out->direct = true;
    status = time_way(r, source, TSR_RESHARD_DIRECT, &out->by_direct);
    if (!status) status = check_moved(r);
  }
  if (!status && r->change->sequence) {
    out->collectives = true;
    status = time_way(r, source, TSR_RESHARD_SEQUENCE, &out->by_collectives);
  }
  tsr_array_release(source);
  return status ? status : add_up(r->comm, r->checked, &out->verified_elements);
}

tsr_status tsr_redistribution_try(const tsr_redistribution *change, tsr_comm *comm,
                                  tsr_redistribution_run *out_run) {
  int64_t bytes = 0;
  TSR_TRY(tsr_shape_bytes(&change->shape, change->dtype, &bytes));
  TSR_TRY(check_memory(bytes));
  tsr_redistribution_run run = {.engine = tsr_comm_engine_name(comm),
                                .ranks = tsr_comm_rank_count(comm),
                                .workers = tsr_pool_workers(tsr_comm_pool(comm))};
  runner r = {.change = change, .comm = comm, .step_bytes = bytes / run.ranks};
  const int ways = (change->plan != NULL) + (change->sequence != NULL);
  const int64_t steps = 1 + ways * (2 * ROUNDS + 1);
  const bool first = tsr_comm_rank(comm) == 0;
  TSR_TRY(tsr_progress_create("redistribute", "B", r.step_bytes * steps, 0.1,
                              first ? tsr_progress_bar : NULL, stderr, &r.progress));
  tsr_status status = run_ways(&r, &run);
  tsr_progress_finish(r.progress);
  if (!status) *out_run = run;
  return status;
}
