// Several ranks, as one of them sees them: the others are played by an engine that answers for
// them.
#include <string.h>

#include "comm/comm.h"
#include "comm/comm_internal.h"
#include "support/test.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/transport.h"
#include "tessera/reduction.h"
#include "tessera/shape.h"

enum { RANKS = 4 };

// What the others say. Rank 0 is the one that is tested.
typedef struct stage {
  uint64_t other_calls[RANKS];  // added to our hash: not 0 for those who call something else
  const char *calls[RANKS];     // the text of their call
  tsr_cause causes[RANKS];      // mistakes of theirs
  bool silent;                  // they never answer
  int shares, exchanges, reductions, ends;
} stage;

static tsr_status play_share(tsr_comm *comm, const void *mine, size_t bytes, void *out_all) {
  stage *s = tsr_comm_engine_state(comm);
  if (s->silent) return tsr_fail(COMM_TIMEOUT, "no answer from rank 1");
  s->shares++;
  for (int r = 0; r < RANKS; r++) {
    char *to = (char *)out_all + bytes * (size_t)r;
    memcpy(to, mine, bytes);
    if (r && bytes == sizeof(tsr_call_record)) {
      tsr_call_record *theirs = (tsr_call_record *)(void *)to;
      theirs->name += s->other_calls[r];
      theirs->digest.low += s->other_calls[r];
      theirs->cause = s->causes[r];
    } else if (r && bytes == TSR_CALL_TEXT && s->calls[r]) {
      strncpy(to, s->calls[r], bytes);
    }
  }
  return NULL;
}

static tsr_status play_exchange(tsr_comm *comm, const tsr_exchange *parts, int64_t part_count) {
  ((stage *)tsr_comm_engine_state(comm))->exchanges++;
  return tsr_engine_copy_here(comm, parts, part_count);
}

static tsr_status play_reduce(tsr_comm *comm, const tsr_reduce_job *job) {
  (void)job;
  ((stage *)tsr_comm_engine_state(comm))->reductions++;
  return tsr_fail(COMM_FAILED, "rank 2 is gone");
}

static void play_end(void *state) { ((stage *)state)->ends++; }

static const tsr_engine players = {.size = sizeof players,
                                   .name = "players",
                                   .exchange = play_exchange,
                                   .reduce = play_reduce,
                                   .share = play_share,
                                   .destroy = play_end};

// Rank 0 has devices 0 and 1, rank 1 has none, rank 2 has 2 to 4, rank 3 has 5.
static const int64_t first_devices[] = {0, 2, 2, 5, 6};

static tsr_engine_desc desc_of(stage *s) {
  return (tsr_engine_desc){.size = sizeof(tsr_engine_desc),
                           .engine = &players,
                           .state = s,
                           .rank_count = RANKS,
                           .first_devices = first_devices};
}

static tsr_comm *open_stage(stage *s) {
  tsr_comm *comm;
  const tsr_engine_desc desc = desc_of(s);
  const tsr_comm_options options = {
      .size = sizeof options, .workers = 1, .timeout = -1, .in_flight = 1000};
  assert_ok(tsr_comm_create_with_engine(&desc, &options, &comm));
  return comm;
}

static void devices_lie_in_blocks(void **state) {
  (void)state;
  stage s = {.silent = false};
  tsr_comm *comm = open_stage(&s);
  static const int ranks[] = {0, 0, 2, 2, 2, 3};
  for (int d = 0; d < 6; d++) assert_int_equal(tsr_comm_rank_of(comm, d), ranks[d]);
  assert_int_equal(tsr_comm_rank_of(comm, 6), -1);
  assert_int_equal(tsr_comm_local_count(comm), 2);
  assert_int_equal(tsr_comm_local_index(comm, 1), 1);
  assert_int_equal(tsr_comm_local_index(comm, 2), -1);
  assert_int_equal(tsr_comm_first_device(comm, 2), 2);
  assert_int_equal(tsr_comm_first_device(comm, 4), 6);
  assert_int_equal(tsr_comm_first_device(comm, 9), 6);
  assert_int_equal(tsr_comm_first_device(comm, -1), 0);
  assert_true(tsr_comm_timeout(comm) < 0);
  assert_int_equal(tsr_comm_in_flight(comm), 1000);
  tsr_comm_release(comm);
  assert_int_equal(s.ends, 1);
}

static void ranks_that_agree_pay_one_round(void **state) {
  (void)state;
  stage s = {.silent = false};
  tsr_comm *comm = open_stage(&s);
  assert_ok(tsr_comm_barrier(comm));
  assert_int_equal(s.shares, 1);
  assert_int_equal(tsr_comm_step(comm), 1);
  tsr_comm_release(comm);
}

static void a_rank_that_calls_something_else_is_named(void **state) {
  (void)state;
  stage s = {.other_calls = {0, 7, 9, 7},
             .calls = {NULL, "barrier", "share of 3 bytes", "barrier"}};
  tsr_comm *comm = open_stage(&s);
  const tsr_groups groups = {1, 1, (int64_t[]){5}};
  assert_fails(tsr_comm_all_reduce(comm, &groups, TSR_BF16, TSR_REDUCE_MAX, 8,
                                   (const void *[2]){NULL}, (void *[2]){NULL}),
               COMM_MISMATCH,
               "ranks differ in step 1: "
               "rank 0 calls all_reduce of 1 x 8 bf16, max, 1 groups of 1; ranks 1, 3 call "
               "barrier; rank 2 calls share of 3 bytes");
  assert_int_equal(s.reductions, 0);
  tsr_comm_release(comm);
}

static void a_mistake_of_one_rank_fails_all(void **state) {
  (void)state;
  stage s = {.causes = {0, 0, TSR_CAUSE_BAD_ARGUMENT, 0},
             .calls = {NULL, "", "device 3 has no `in`", ""}};
  tsr_comm *comm = open_stage(&s);
  assert_fails(tsr_comm_barrier(comm), BAD_ARGUMENT,
               "step 1, barrier: rank 2: device 3 has no `in`");
  // A mistake found here is told as it is.
  const tsr_groups groups = {1, 1, (int64_t[]){0}};
  assert_fails(
      tsr_comm_broadcast(comm, &groups, 0, TSR_F32, 1, (const void *[2]){NULL}, (void *[2]){NULL}),
      BAD_ARGUMENT, "device 0 has no `in`");
  tsr_comm_release(comm);
}

static void what_an_engine_fails_with_says_what_was_done(void **state) {
  (void)state;
  stage s = {.silent = false};
  tsr_comm *comm = open_stage(&s);
  const tsr_groups groups = {1, 2, (int64_t[]){2, 5}};
  assert_fails(tsr_comm_reduce_scatter(comm, &groups, TSR_F32, TSR_REDUCE_SUM, 2, 3,
                                       (const void *[2]){NULL}, (void *[2]){NULL}),
               COMM_FAILED,
               "step 1, reduce_scatter of 2 x 3 f32, sum, 1 groups of 2: rank 2 is gone");
  s.silent = true;
  assert_fails(tsr_comm_barrier(comm), COMM_TIMEOUT, "step 2, barrier: no answer from rank 1");
  tsr_comm_release(comm);
}

static void groups_elsewhere_need_nothing_here(void **state) {
  (void)state;
  stage s = {.silent = false};
  tsr_comm *comm = open_stage(&s);
  const tsr_groups groups = {1, 3, (int64_t[]){2, 3, 5}};
  const void *in[2] = {NULL, NULL};
  void *out[2] = {NULL, NULL};
  assert_ok(tsr_comm_all_gather(comm, &groups, TSR_I4, 2, 3, in, out));
  assert_ok(tsr_comm_broadcast(comm, &groups, 1, TSR_I4, 3, in, out));
  assert_ok(tsr_comm_permute(comm, &(tsr_pair){3, 4}, 1, TSR_I4, 3, in, out));
  assert_ok(tsr_comm_all_to_all(comm, &groups, TSR_I4, TSR_SHAPE(3, 2), 0, 1, in, out));
  assert_int_equal(s.exchanges, 4);  // a round is one for all, even when it is empty here
  tsr_comm_release(comm);
}

static void messages_between_ranks_are_measured(void **state) {
  (void)state;
  stage s = {.silent = false};
  tsr_comm *comm = open_stage(&s);
  tsr_comm_fit fit;
  assert_fails(tsr_comm_measure_between(comm, 0, 1, -1, &fit), BAD_ARGUMENT,
               "messages of -1 bytes, wanted 0 to 2^40");
  assert_ok(tsr_comm_measure_between(comm, 1, 0, 1 << 16, &fit));
  assert_int_equal(fit.bytes[0], 4);
  assert_int_equal(fit.bytes[TSR_MEASURE_SIZES - 1], 1 << 16);
  for (int i = 0; i < TSR_MEASURE_SIZES; i++) assert_true(fit.seconds[i] > 0);
  assert_true(fit.alpha + fit.beta > 0);
  assert_true(fit.error >= 0 && fit.noise >= 0);
  assert_ok(tsr_comm_measure_between(comm, 0, 1, 1, &fit));  // one size only: there is no slope
  assert_true(fit.beta == 0 && fit.alpha > 0);
  assert_fails(tsr_comm_measure_between(comm, 0, 0, 0, &fit), BAD_ARGUMENT,
               "messages from device 0 to 0, wanted two of 6");
  assert_fails(tsr_comm_measure_between(comm, 0, 99, 0, &fit), BAD_ARGUMENT,
               "messages from device 0 to 99, wanted two of 6");
  tsr_comm_release(comm);
}

static void engines_are_checked(void **state) {
  (void)state;
  stage s = {.silent = false};
  tsr_comm *comm = NULL;
  tsr_engine_desc desc = desc_of(&s);
  tsr_engine engine = players;
  desc.engine = &engine;
#define FAILS(message) \
  assert_fails(tsr_comm_create_with_engine(&desc, NULL, &comm), BAD_ARGUMENT, message)
  desc.rank = 4;
  FAILS("rank 4 of 4 ranks");
  desc.rank = 0;
  desc.rank_count = 0;
  FAILS("0 ranks, wanted 1 to 16777216");
  desc.rank_count = RANKS;
  desc.first_devices = (int64_t[]){1, 2, 3, 4, 5};
  FAILS("the first rank starts at device 1, wanted 0");
  desc.first_devices = (int64_t[]){0, 2, 1, 4, 5};
  FAILS("rank 2 starts at device 1, before rank 1 at 2");
  desc.first_devices = (int64_t[]){0, 0, 0, 0, 0};
  FAILS("a comm of 0 devices, wanted 1 to 2147483647");
  engine.share = NULL;
  FAILS("engine \"players\" lacks a name, exchange, reduce or share");
  engine.name = NULL;
  FAILS("engine \"\" lacks a name, exchange, reduce or share");
  engine.size = 1;
  assert_fails_with(tsr_comm_create_with_engine(&desc, NULL, &comm), BAD_ARGUMENT,
                    "tsr_engine has size 1, wanted ");
  desc.engine = NULL;
  FAILS("engine \"\" lacks a name, exchange, reduce or share");
  desc.size = 1;
  assert_fails_with(tsr_comm_create_with_engine(&desc, NULL, &comm), BAD_ARGUMENT,
                    "tsr_engine_desc has size 1, wanted ");
  assert_null(comm);
}

SUITE(call, TEST(devices_lie_in_blocks), TEST(ranks_that_agree_pay_one_round),
      TEST(a_rank_that_calls_something_else_is_named), TEST(a_mistake_of_one_rank_fails_all),
      TEST(what_an_engine_fails_with_says_what_was_done), TEST(groups_elsewhere_need_nothing_here),
      TEST(messages_between_ranks_are_measured), TEST(engines_are_checked))
