// all_gather, all_to_all, broadcast and permute: every element where it belongs.
#include <stdlib.h>

#include "conformance/conformance.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/shape.h"

// A call over groups: who gets how much, and what element `index` of an output should be.
typedef struct origin {
  int64_t member, index;
} origin;
typedef struct move {
  tsr_dtype dtype;
  const pattern *pattern;
  int64_t in_count, out_count;
  int salt;
  bool shared;  // members of a group share one output
  // all_gather
  int64_t outer, inner;
  // all_to_all
  tsr_shape shape;
  int split, concat;
  // broadcast
  int64_t root;
} move;
typedef origin origin_of(const move *m, int64_t member, int64_t index);

static void alloc_buffers(suite *s, const move *m, buffers *b) {
  *b = (buffers){.count = tsr_comm_local_count(s->comm)};
  const int64_t first = tsr_comm_first_device(s->comm, tsr_comm_rank(s->comm));
  void *of_group[MOST_DEVICES] = {NULL};
  for (int64_t i = 0; i < b->count; i++) {
    int64_t group, index;
    if (!find_member(&m->pattern->groups, first + i, &group, &index)) continue;
    b->in[i] = make_input(m->dtype, first + i, m->salt, m->in_count);
    if (!of_group[group] || !m->shared) of_group[group] = make_output(m->dtype, m->out_count);
    b->out[i] = of_group[group];
  }
}

static void check_member(suite *s, const move *m, origin_of *where, int64_t device,
                         const void *out) {
  const tsr_groups *groups = &m->pattern->groups;
  const int bits = tsr_dtype_info_of(m->dtype)->bits;
  int64_t group, member;
  if (!find_member(groups, device, &group, &member)) return;
  void *inputs[MOST_DEVICES];
  for (int64_t i = 0; i < groups->size; i++)
    inputs[i] =
        make_input(m->dtype, groups->members[group * groups->size + i], m->salt, m->in_count);
  void *wanted = make_output(m->dtype, m->out_count);
  for (int64_t i = 0; i < m->out_count; i++) {
    const origin from = where(m, member, i);
    move_elements(inputs[from.member], from.index, wanted, i, 1, bits);
  }
  if (!same_buffers(m->dtype, out, wanted, m->out_count))
    suite_fail(s, "device %lld has another result", (long long)device);
  for (int64_t i = 0; i < groups->size; i++) free(inputs[i]);
  free(wanted);
}

static void check_move(suite *s, const move *m, origin_of *where, const buffers *b) {
  const int64_t first = tsr_comm_first_device(s->comm, tsr_comm_rank(s->comm));
  for (int64_t i = 0; i < b->count; i++)
    if (b->out[i]) check_member(s, m, where, first + i, b->out[i]);
}

static const char *type_name(tsr_dtype dtype) { return tsr_dtype_info_of(dtype)->name; }

// ---- all_gather ----

static origin gathered(const move *m, int64_t member, int64_t index) {
  (void)member;
  const int64_t row = m->pattern->groups.size * m->inner;
  return (origin){index % row / m->inner, index / row * m->inner + index % m->inner};
}

static void test_all_gather(suite *s, tsr_dtype dtype, const pattern *p, int64_t outer,
                            int64_t inner, bool shared) {
  suite_begin(s, "all_gather of %lld x %lld %s, %s%s", (long long)outer, (long long)inner,
              type_name(dtype), p->name, shared ? ", shared" : "");
  const move m = {.dtype = dtype,
                  .pattern = p,
                  .in_count = outer * inner,
                  .out_count = outer * inner * p->groups.size,
                  .salt = 1,
                  .shared = shared,
                  .outer = outer,
                  .inner = inner};
  buffers b;
  alloc_buffers(s, &m, &b);
  if (suite_ok(s, tsr_comm_all_gather(s->comm, &p->groups, dtype, outer, inner,
                                      (const void *const *)b.in, b.out)))
    check_move(s, &m, gathered, &b);
  free_buffers(&b);
}

// ---- all_to_all ----

// Where an element of the joined result comes from: its coordinates, one dimension at a time.
static origin turned(const move *m, int64_t member, int64_t index) {
  const int64_t n = m->pattern->groups.size;
  tsr_shape out = m->shape;
  out.dims[m->split] /= n;
  out.dims[m->concat] *= n;
  int64_t at[TSR_MAX_RANK] = {0};
  for (int d = out.rank - 1; d >= 0; d--) {
    at[d] = index % out.dims[d];
    index /= out.dims[d];
  }
  const int64_t part = out.dims[m->concat] / n, sender = at[m->concat] / part;
  at[m->concat] %= part;
  at[m->split] += member * (m->shape.dims[m->split] / n);
  int64_t from = 0;
  for (int d = 0; d < out.rank; d++) from = from * m->shape.dims[d] + at[d];
  return (origin){sender, from};
}

static void test_all_to_all(suite *s, tsr_dtype dtype, const pattern *p, const tsr_shape *shape,
                            int split, int concat) {
  suite_begin(s, "all_to_all of %s, rank %d, split %d, concat %d, %s", type_name(dtype),
              shape->rank, split, concat, p->name);
  int64_t count;
  if (!suite_ok(s, tsr_shape_count(shape, &count))) return;
  const move m = {.dtype = dtype,
                  .pattern = p,
                  .in_count = count,
                  .out_count = count,
                  .salt = 3,
                  .shape = *shape,
                  .split = split,
                  .concat = concat};
  buffers b;
  alloc_buffers(s, &m, &b);
  if (suite_ok(s, tsr_comm_all_to_all(s->comm, &p->groups, dtype, shape, split, concat,
                                      (const void *const *)b.in, b.out)))
    check_move(s, &m, turned, &b);
  free_buffers(&b);
}

static void test_turns(suite *s, tsr_dtype dtype, const pattern *p) {
  const int64_t n = p->groups.size;
  for (int split = 0; split < 3; split++) {
    for (int concat = 0; concat < 3; concat++) {
      tsr_shape shape = {3, {3, 2, 5}};
      shape.dims[split] *= n;
      test_all_to_all(s, dtype, p, &shape, split, concat);
    }
  }
  test_all_to_all(s, dtype, p, TSR_SHAPE(2 * n), 0, 0);
  test_all_to_all(s, dtype, p, TSR_SHAPE(n, 0), 0, 1);
}

// ---- broadcast ----

static origin of_root(const move *m, int64_t member, int64_t index) {
  (void)member;
  return (origin){m->root, index};
}

static void test_broadcast(suite *s, tsr_dtype dtype, const pattern *p, int64_t count, int64_t root,
                           bool shared) {
  suite_begin(s, "broadcast of %lld %s from member %lld, %s%s", (long long)count, type_name(dtype),
              (long long)root, p->name, shared ? ", shared" : "");
  const move m = {.dtype = dtype,
                  .pattern = p,
                  .in_count = count,
                  .out_count = count,
                  .salt = 5,
                  .shared = shared,
                  .root = root};
  buffers b;
  alloc_buffers(s, &m, &b);
  if (suite_ok(s, tsr_comm_broadcast(s->comm, &p->groups, root, dtype, count,
                                     (const void *const *)b.in, b.out)))
    check_move(s, &m, of_root, &b);
  free_buffers(&b);
}

// ---- permute ----

// Every device is to receive from `sources[device]`, or nothing (-1).
static void check_permuted(suite *s, tsr_dtype dtype, int64_t count, const int64_t *sources,
                           const buffers *b) {
  const int64_t first = tsr_comm_first_device(s->comm, tsr_comm_rank(s->comm));
  for (int64_t i = 0; i < b->count; i++) {
    void *wanted = make_output(dtype, count);
    void *input = make_input(dtype, sources[first + i], 7, count);
    const int bits = tsr_dtype_info_of(dtype)->bits;
    if (sources[first + i] < 0)
      for (int64_t k = 0; k < count * bits; k++) put_element(wanted, k, 1, 0);
    else
      move_elements(input, 0, wanted, 0, count, bits);
    if (!same_buffers(dtype, b->out[i], wanted, count))
      suite_fail(s, "device %lld has another result", (long long)(first + i));
    free(wanted);
    free(input);
  }
}

static void test_permute(suite *s, tsr_dtype dtype, int64_t count, const char *name,
                         const int64_t *sources) {
  suite_begin(s, "permute of %lld %s, %s", (long long)count, type_name(dtype), name);
  const int64_t n = tsr_comm_device_count(s->comm);
  tsr_pair pairs[MOST_DEVICES];
  int64_t pair_count = 0;
  for (int64_t d = 0; d < n; d++)
    if (sources[d] >= 0) pairs[pair_count++] = (tsr_pair){sources[d], d};
  buffers b = {.count = tsr_comm_local_count(s->comm)};
  const int64_t first = tsr_comm_first_device(s->comm, tsr_comm_rank(s->comm));
  for (int64_t i = 0; i < b.count; i++) {
    b.in[i] = make_input(dtype, first + i, 7, count);
    b.out[i] = make_output(dtype, count);
  }
  if (suite_ok(s, tsr_comm_permute(s->comm, pairs, pair_count, dtype, count,
                                   (const void *const *)b.in, b.out)))
    check_permuted(s, dtype, count, sources, &b);
  free_buffers(&b);
}

static void test_permutes(suite *s, tsr_dtype dtype) {
  const int64_t n = tsr_comm_device_count(s->comm);
  int64_t ring[MOST_DEVICES], same[MOST_DEVICES], one[MOST_DEVICES];
  for (int64_t d = 0; d < n; d++) {
    ring[d] = (d + 1) % n;
    same[d] = d;
    one[d] = d % 2 ? 0 : -1;  // the first to every second, nothing to the others
  }
  test_permute(s, dtype, 13, "ring", ring);
  test_permute(s, dtype, 5, "to itself", same);
  test_permute(s, dtype, 9, "from one", one);
  test_permute(s, dtype, 0, "nothing", ring);
}

// ---- all of them ----

static void test_pattern(suite *s, tsr_dtype dtype, const pattern *p) {
  static const int64_t blocks[][2] = {{1, 5}, {3, 4}, {2, 1}, {4, 7}, {0, 3}, {3, 0}};
  for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
    test_all_gather(s, dtype, p, blocks[i][0], blocks[i][1], i % 2);
  test_turns(s, dtype, p);
  for (int64_t root = 0; root < p->groups.size; root += 2)
    test_broadcast(s, dtype, p, 11, root, root % 4 == 0);
}

void test_moves(suite *s) {
  // One type of each width; how bits are moved does not depend on what they mean.
  static const tsr_dtype widths[] = {TSR_I2,  TSR_F4E2M1FN, TSR_F6E2M3FN, TSR_BOOL,
                                     TSR_F16, TSR_F32,      TSR_C64,      TSR_C128};
  pattern p;
  for (int which = 0; which < PATTERNS; which++) {
    if (!make_pattern(s->comm, which, &p)) continue;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) test_pattern(s, widths[i], &p);
  }
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) test_permutes(s, widths[i]);
  // Large enough to be cut in tasks and messages.
  if (!make_pattern(s->comm, 0, &p)) return;
  test_all_gather(s, TSR_F32, &p, 3, 5003, false);
  test_all_gather(s, TSR_I4, &p, 3, 4001, false);
  test_broadcast(s, TSR_F64, &p, 20011, p.groups.size - 1, false);
}
