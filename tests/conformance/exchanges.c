// Exchanges of boxes with any strides: transposes, blocks, several arrays at once, and random ones.
#include <stdlib.h>

#include "conformance/conformance.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"

enum { MOST_COPIES = 64, MOST_PARTS = 3 };

// The copies of all devices; each rank hands in those that are its own.
typedef struct array {
  int bits;
  tsr_dtype dtype;
  int64_t in_count, out_count;
  int salt;
  tsr_copy copies[MOST_COPIES];
  int64_t copy_count;
} array;

static bool is_here(const tsr_comm *comm, const tsr_copy *copy) {
  return tsr_comm_local_index(comm, copy->source) >= 0 ||
         tsr_comm_local_index(comm, copy->target) >= 0;
}

// One element after the other, in the order of the loops.
static void copy_slowly(const tsr_copy *copy, int bits, const void *source, void *target) {
  const int64_t elements = tsr_copy_elements(copy);
  for (int64_t e = 0; e < elements; e++) {
    int64_t rest = e / copy->length, from = copy->from + e % copy->length;
    int64_t to = copy->to + e % copy->length;
    for (int i = copy->loop_count - 1; i >= 0; i--) {
      from += rest % copy->loops[i].count * copy->loops[i].from;
      to += rest % copy->loops[i].count * copy->loops[i].to;
      rest /= copy->loops[i].count;
    }
    move_elements(source, from, target, to, 1, bits);
  }
}

static void check_device(suite *s, const array *a, int64_t device, const void *out) {
  void *wanted = make_output(a->dtype, a->out_count);
  for (int64_t i = 0; i < a->copy_count; i++) {
    if (a->copies[i].target != device) continue;
    void *input = make_input(a->dtype, a->copies[i].source, a->salt, a->in_count);
    copy_slowly(&a->copies[i], a->bits, input, wanted);
    free(input);
  }
  if (!same_buffers(a->dtype, out, wanted, a->out_count))
    suite_fail(s, "device %lld has another result", (long long)device);
  free(wanted);
}

static void test_exchange(suite *s, const array *arrays, int count) {
  const int64_t local = tsr_comm_local_count(s->comm);
  const int64_t first = tsr_comm_first_device(s->comm, tsr_comm_rank(s->comm));
  buffers b[MOST_PARTS] = {{0}};
  tsr_copy own[MOST_PARTS][MOST_COPIES];
  tsr_exchange parts[MOST_PARTS];
  for (int p = 0; p < count; p++) {
    const array *a = &arrays[p];
    b[p].count = local;
    for (int64_t i = 0; i < local; i++) {
      b[p].in[i] = make_input(a->dtype, first + i, a->salt, a->in_count);
      b[p].out[i] = make_output(a->dtype, a->out_count);
    }
    parts[p] = (tsr_exchange){
        .copies = own[p], .bits = a->bits, .in = (const void *const *)b[p].in, .out = b[p].out};
    for (int64_t i = 0; i < a->copy_count; i++)
      if (is_here(s->comm, &a->copies[i])) own[p][parts[p].copy_count++] = a->copies[i];
  }
  if (suite_ok(s, tsr_comm_exchange(s->comm, parts, count)))
    for (int p = 0; p < count; p++)
      for (int64_t i = 0; i < local; i++) check_device(s, &arrays[p], first + i, b[p].out[i]);
  for (int p = 0; p < count; p++) free_buffers(&b[p]);
}

static array new_array(tsr_dtype dtype, int salt, int64_t in_count, int64_t out_count) {
  return (array){.bits = tsr_dtype_info_of(dtype)->bits,
                 .dtype = dtype,
                 .salt = salt,
                 .in_count = in_count,
                 .out_count = out_count};
}

// Row blocks of a matrix of n * rows by n * columns become column blocks, or those transposed.
static array turn_matrix(tsr_dtype dtype, int salt, int64_t n, int64_t rows, int64_t columns,
                         bool transpose) {
  array a = new_array(dtype, salt, rows * n * columns, rows * n * columns);
  for (int64_t to = 0; to < n; to++) {
    for (int64_t from = 0; from < n && a.copy_count < MOST_COPIES; from++) {
      tsr_copy *copy = &a.copies[a.copy_count++];
      *copy = (tsr_copy){.source = from, .target = to, .from = to * columns};
      if (transpose) {  // row-major columns x (n * rows)
        copy->to = from * rows;
        copy->length = 1;
        copy->loop_count = 2;
        copy->loops[0] = (tsr_copy_loop){rows, n * columns, 1};
        copy->loops[1] = (tsr_copy_loop){columns, 1, n * rows};
      } else {
        copy->to = from * rows * columns;
        copy->length = columns;
        copy->loop_count = 1;
        copy->loops[0] = (tsr_copy_loop){rows, n * columns, columns};
      }
    }
  }
  return a;
}

static const tsr_dtype widths[] = {TSR_U2,  TSR_I4,  TSR_F6E3M2FN, TSR_U8,
                                   TSR_I16, TSR_F32, TSR_F64,      TSR_C128};

static void test_matrices(suite *s) {
  const int64_t devices = tsr_comm_device_count(s->comm), n = devices < 8 ? devices : 8;
  static const int64_t shapes[][2] = {{3, 5}, {8, 8}, {17, 33}, {1, 4}, {4, 1}};
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
      for (int transpose = 0; transpose < 2; transpose++) {
        suite_begin(s, "exchange of blocks %lld x %lld of %s%s", (long long)shapes[i][0],
                    (long long)shapes[i][1], tsr_dtype_info_of(widths[w])->name,
                    transpose ? ", transposed" : "");
        const array a = turn_matrix(widths[w], 11, n, shapes[i][0], shapes[i][1], transpose);
        test_exchange(s, &a, 1);
      }
    }
  }
}

// A generator of the same boxes on every rank: each target is cut in stretches, and each is filled
// by one copy with one or two loops from somewhere.
typedef struct generator {
  uint64_t state;
} generator;

static int64_t pick(generator *g, int64_t low, int64_t high) {
  g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return low + (int64_t)((g->state >> 33) % (uint64_t)(high - low + 1));
}

static void add_random(array *a, generator *g, int64_t device, int64_t devices, int64_t *place) {
  tsr_copy *copy = &a->copies[a->copy_count++];
  *copy = (tsr_copy){.source = pick(g, 0, devices - 1), .target = device, .to = *place};
  copy->length = pick(g, 1, 9);
  copy->loop_count = (int)pick(g, 0, 2);
  int64_t to = copy->length, from = copy->length;
  for (int i = copy->loop_count - 1; i >= 0; i--) {
    to += pick(g, 0, 3);  // with gaps, which stay as they are
    from += pick(g, 0, 5);
    copy->loops[i] = (tsr_copy_loop){pick(g, 1, 6), from, to};
    to *= copy->loops[i].count;
    from *= copy->loops[i].count;
  }
  copy->from = pick(g, 0, a->in_count - from);
  *place += to;
}

static void test_random(suite *s) {
  const int64_t devices = tsr_comm_device_count(s->comm);
  generator g = {12345};
  for (int round = 0; round < 40; round++) {
    array arrays[MOST_PARTS];
    const int count = (int)pick(&g, 1, MOST_PARTS);
    for (int p = 0; p < count; p++) {
      arrays[p] = new_array(widths[pick(&g, 0, 7)], 13 + p, 4000, 4000);
      for (int64_t d = 0; d < devices && d < 16; d++) {
        int64_t place = pick(&g, 0, 3);
        for (int64_t k = pick(&g, 0, 3); k > 0; k--) add_random(&arrays[p], &g, d, devices, &place);
      }
    }
    suite_begin(s, "random exchange %d of %d arrays", round, count);
    test_exchange(s, arrays, count);
  }
}

void test_exchanges(suite *s) {
  test_matrices(s);
  test_random(s);
  const int64_t devices = tsr_comm_device_count(s->comm), n = devices < 8 ? devices : 8;
  suite_begin(s, "exchange of a large matrix");
  const array large = turn_matrix(TSR_F32, 17, n, 61, 1031, false);
  test_exchange(s, &large, 1);
  suite_begin(s, "exchange of a large matrix, transposed");
  const array turned = turn_matrix(TSR_I16, 19, n, 61, 131, true);
  test_exchange(s, &turned, 1);
  suite_begin(s, "exchange of nothing");
  suite_ok(s, tsr_comm_exchange(s->comm, NULL, 0));
}
