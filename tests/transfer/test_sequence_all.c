// Every pair of specs on small meshes: the cheapest there is, right when carried out, and never
// dearer than Shardy's order.
#include <stdlib.h>

#include "base/text_internal.h"
#include "sequence/sequence_internal.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "transfer/oracle.h"
#include "transfer/simulate.h"

enum { ELEMENT_BYTES = 4 };

typedef struct tally {
  int64_t pairs, fewer, shardy, shardy_bytes, our_bytes, bound_bytes;
} tally;

static tsr_sequence *greedy_of(const tsr_sharding *from, const tsr_sharding *to,
                               const tsr_shape *shape) {
  const tsr_sequence_options options = {.size = sizeof options, .method = TSR_SEQUENCE_SHARDY};
  tsr_sequence *sequence = NULL;
  tsr_status status = tsr_sequence_create(from, to, shape, TSR_F32, &options, &sequence);
  if (status) assert_int_equal(tsr_status_cause(status), TSR_CAUSE_NO_SEQUENCE);
  tsr_status_free(status);
  return sequence;
}

static void compare_greedy(const tsr_sequence *ours, tally *sums) {
  const tsr_shape shape = tsr_sequence_shape(ours);
  tsr_sequence *greedy = greedy_of(tsr_sequence_from(ours), tsr_sequence_to(ours), &shape);
  if (!greedy) return;
  const tsr_sequence_certificate a = *tsr_sequence_certificate_of(ours);
  const tsr_sequence_certificate b = *tsr_sequence_certificate_of(greedy);
  assert_true(a.bytes_moved <= b.bytes_moved);
  assert_true(test_sequence_right(greedy));
  sums->shardy++;
  sums->fewer += a.bytes_moved < b.bytes_moved;
  sums->our_bytes += a.bytes_moved;
  sums->shardy_bytes += b.bytes_moved;
  sums->bound_bytes += a.bytes_lower_bound;
  tsr_sequence_release(greedy);
}

static void try_pair(const oracle *all, int from, int to, tsr_sharding *const *shardings,
                     const tsr_shape *shape, tally *sums) {
  tsr_sequence *sequence = NULL;
  assert_ok(tsr_sequence_create(shardings[from], shardings[to], shape, TSR_F32, NULL, &sequence));
  const tsr_sequence_certificate certificate = *tsr_sequence_certificate_of(sequence);
  if ((double)certificate.bytes_moved != oracle_cost(all, from, to) || !certificate.optimal) {
    tsr_text text = TSR_TEXT_EMPTY;
    assert_ok(tsr_spec_print(tsr_sharding_spec(shardings[from]), TSR_FORM_SHORT, &text));
    tsr_text_add(&text, " -> ");
    assert_ok(tsr_spec_print(tsr_sharding_spec(shardings[to]), TSR_FORM_SHORT, &text));
    tsr_text_add(&text, "\n");
    assert_ok(tsr_sequence_print(sequence, &text));
    fail_msg("%soptimum %g", tsr_text_string(&text), oracle_cost(all, from, to));
  }
  assert_true(certificate.bytes_lower_bound <= certificate.bytes_moved);
  assert_true(test_sequence_right(sequence));
  sums->pairs++;
  if (!oracle_is_partial(all, from) && !oracle_is_partial(all, to)) compare_greedy(sequence, sums);
  tsr_sequence_release(sequence);
}

static void try_all(const char *mesh_text, const tsr_shape *shape, bool unreduced) {
  tsr_mesh *mesh = NULL;
  assert_ok(tsr_mesh_parse(mesh_text, NULL, &mesh));
  oracle *all = oracle_create(&(oracle_desc){
      .mesh = mesh, .shape = *shape, .unreduced = unreduced, .element_bytes = ELEMENT_BYTES});
  const int count = oracle_count(all);
  tsr_sharding **shardings = calloc((size_t)count, sizeof *shardings);
  for (int i = 0; i < count; i++) shardings[i] = oracle_sharding(all, i);
  tally sums = {0};
  for (int i = 0; i < count; i++)
    for (int j = 0; j < count; j++)
      if (i != j && oracle_is_whole(all, i) && oracle_is_whole(all, j))
        try_pair(all, i, j, shardings, shape, &sums);
  print_message(
      "%-12s rank %d: %5d pairs; of %5d without partial results %4.1f %% move fewer "
      "bytes than in Shardy's order, %.3f times its bytes over all; direct %.3f times\n",
      mesh_text, shape->rank, (int)sums.pairs, (int)sums.shardy,
      100.0 * (double)sums.fewer / (double)sums.shardy,
      (double)sums.our_bytes / (double)sums.shardy_bytes,
      (double)sums.bound_bytes / (double)sums.our_bytes);
  for (int i = 0; i < count; i++) tsr_sharding_release(shardings[i]);
  free(shardings);
  oracle_destroy(all);
  tsr_mesh_release(mesh);
}

static void sequences_of_vectors_are_optimal(void **state) {
  (void)state;
  try_all("x=2,y=2", TSR_SHAPE(4), true);
  try_all("x=2,y=3", TSR_SHAPE(6), true);
  try_all("x=2,y=4", TSR_SHAPE(8), true);
  try_all("x=2,y=2,z=2", TSR_SHAPE(8), true);
}

static void sequences_of_matrices_are_optimal(void **state) {
  (void)state;
  try_all("x=2,y=2", TSR_SHAPE(4, 4), true);
  try_all("x=2,y=3", TSR_SHAPE(6, 6), true);
  try_all("x=2,y=4", TSR_SHAPE(8, 8), true);
  try_all("x=2,y=2,z=2", TSR_SHAPE(8, 8), false);
}

static void sequences_of_rank_3_are_optimal(void **state) {
  (void)state;
  try_all("x=2,y=2", TSR_SHAPE(4, 4, 4), true);
  try_all("x=2,y=3", TSR_SHAPE(6, 6, 6), true);
  try_all("x=2,y=4", TSR_SHAPE(8, 8, 8), false);
}

static void small_sizes_leave_fewer_ways(void **state) {
  (void)state;
  try_all("x=2,y=2", TSR_SHAPE(4, 2), true);
  try_all("x=2,y=3", TSR_SHAPE(12, 2), true);
  try_all("x=2,y=4", TSR_SHAPE(8, 4), true);
  try_all("x=2,y=4", TSR_SHAPE(4, 2, 2), false);
  try_all("x=2,y=2,z=2", TSR_SHAPE(8, 2), false);
}

// What takes longer has a test of its own.
static void sequences_on_three_axes_are_optimal(void **state) {
  (void)state;
  try_all("x=2,y=2,z=2", TSR_SHAPE(8, 8), true);
  try_all("x=2,y=2,z=2", TSR_SHAPE(8, 8, 8), false);
  try_all("x=2,y=4", TSR_SHAPE(8, 8, 8), true);
  try_all("x=2,y=2,z=3", TSR_SHAPE(12, 12), true);
}

SUITE(sequence_large, TEST(sequences_on_three_axes_are_optimal))

SUITE(sequence_all, TEST(sequences_of_vectors_are_optimal), TEST(sequences_of_matrices_are_optimal),
      TEST(sequences_of_rank_3_are_optimal), TEST(small_sizes_leave_fewer_ways))
