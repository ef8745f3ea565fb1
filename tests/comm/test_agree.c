// Calls with items, compared by ranks that are threads.
#include <stdio.h>
#include <string.h>

#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "comm/comm.h"
#include "support/ranks.h"
#include "support/test.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/text.h"

// What ranks ask for: `count` items, of which one is another on one rank.
typedef struct plea {
  int64_t count, differing;
  int odd;
  bool each, mute, longwinded;  // all ranks differ; texts do not say how; or say too much
  tsr_cause mistake;            // of the odd rank
  char texts[8][4096];          // what each rank reads
} plea;

typedef struct rank_plea {
  const plea *of;
  int rank;
} rank_plea;

static int64_t value_of(const rank_plea *mine, int64_t item) {
  if (item != mine->of->differing) return item;
  return mine->of->each ? -1 - mine->rank : mine->rank == mine->of->odd ? -1 : item;
}

static tsr_hash128 digest(void *context, int64_t item) {
  const int64_t value = value_of(context, item);
  return tsr_hash128_add(TSR_HASH128_EMPTY, &value, sizeof value);
}

static void describe(void *context, int64_t item, tsr_text *out) {
  const rank_plea *mine = context;
  tsr_text_addf(out, "item %lld", (long long)item);
  for (int i = 0; i < 100 && mine->of->longwinded; i++) tsr_text_add(out, " and so on");
  if (!mine->of->mute) tsr_text_addf(out, " of %lld", (long long)value_of(mine, item));
}

static tsr_status ask(void *context, tsr_comm *comm) {
  plea *p = context;
  rank_plea mine = {p, tsr_comm_rank(comm)};
  const bool odd = mine.rank == p->odd;
  tsr_call c = tsr_call_begin(comm, "plea");
  tsr_call_describe(&c, "plea for %lld", (long long)p->count);
  c.items = (tsr_call_items){p->count, &mine, digest, describe};
  tsr_status found = odd && p->mistake ? tsr_fail(BAD_ARGUMENT, "it is mistaken") : NULL;
  tsr_status status = tsr_call_agree(&c, found);
  snprintf(p->texts[mine.rank], sizeof *p->texts, "%s", tsr_status_text(status));
  tsr_status after = tsr_comm_barrier(comm);  // the comm goes on
  if (!after) return status;
  tsr_status_free(status);
  return after;
}

static const int64_t first_devices[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};

static void the_first_item_that_differs_is_named(void **state) {
  (void)state;
  static const int64_t counts[] = {1, 2, 3, 7, 1000};
  for (size_t i = 0; i < COUNT_OF(counts); i++) {
    const int64_t items[] = {0, counts[i] / 2, counts[i] - 1};
    for (size_t k = 0; k < COUNT_OF(items); k++) {
      plea p = {.count = counts[i], .differing = items[k], .odd = 2};
      char wanted[256];
      snprintf(wanted, sizeof wanted,
               "rank 0: ranks differ in step 1, plea for %lld: ranks 0, 1, 3 ask for item %lld of "
               "%lld; rank 2 asks for item %lld of -1",
               (long long)p.count, (long long)p.differing, (long long)p.differing,
               (long long)p.differing);
      assert_fails(test_ranks_run(4, first_devices, ask, &p), COMM_MISMATCH, wanted);
      for (int r = 1; r < 4; r++) assert_string_equal(p.texts[r], p.texts[0]);
    }
  }
}

static void ranks_that_ask_for_the_same_agree(void **state) {
  (void)state;
  plea p = {.count = 5, .differing = -1, .odd = -1};
  assert_ok(test_ranks_run(4, first_devices, ask, &p));
  assert_ok(test_ranks_run(1, first_devices, ask, &p));
}

static void a_mistake_comes_before_what_differs(void **state) {
  (void)state;
  plea p = {.count = 3, .differing = 1, .odd = 2, .mistake = TSR_CAUSE_BAD_ARGUMENT};
  assert_fails(test_ranks_run(3, first_devices, ask, &p), BAD_ARGUMENT,
               "rank 0: step 1, plea for 3: rank 2: it is mistaken");
  assert_string_equal(p.texts[2], "it is mistaken");
}

static void texts_that_do_not_tell_have_digests(void **state) {
  (void)state;
  plea p = {.count = 1, .odd = 1, .mute = true};
  assert_fails_with(test_ranks_run(2, first_devices, ask, &p), COMM_MISMATCH,
                    "rank 0 asks for item 0 (digest ");
  p.longwinded = true;
  assert_fails_with(test_ranks_run(2, first_devices, ask, &p), COMM_MISMATCH,
                    " and so on... (digest ");
}

static void more_than_four_ways_to_differ_are_counted(void **state) {
  (void)state;
  plea p = {.count = 2, .differing = 1, .odd = -1, .each = true};
  assert_fails_with(test_ranks_run(8, first_devices, ask, &p), COMM_MISMATCH,
                    "; rank 3 asks for item 1 of -4; others differ in 4 more ways");
}

// Each rank another number of items.
static tsr_status ask_for_some(void *context, tsr_comm *comm) {
  plea *p = context;
  rank_plea mine = {p, tsr_comm_rank(comm)};
  tsr_call c = tsr_call_begin(comm, "plea");
  c.items =
      (tsr_call_items){mine.rank == p->odd ? p->count - 1 : p->count, &mine, digest, describe};
  return tsr_call_agree(&c, NULL);
}

static void other_numbers_of_items_are_other_calls(void **state) {
  (void)state;
  plea p = {.count = 3, .differing = -1, .odd = 1};
  assert_fails_with(test_ranks_run(3, first_devices, ask_for_some, &p), COMM_MISMATCH,
                    "ranks differ in step 1: ranks 0, 2 call plea (digest ");
}

SUITE(agree, TEST(the_first_item_that_differs_is_named), TEST(ranks_that_ask_for_the_same_agree),
      TEST(a_mistake_comes_before_what_differs), TEST(texts_that_do_not_tell_have_digests),
      TEST(more_than_four_ways_to_differ_are_counted), TEST(other_numbers_of_items_are_other_calls))
