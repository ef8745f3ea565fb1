// Before anything moves, ranks compare a digest of 128 bits of the call. Only if digests differ, or
// a rank found a mistake in its arguments, do they exchange more: a bisection finds the first item
// that differs, and every rank builds its message from the texts of all ranks. So a rank with other
// arguments causes a failure, not a hang or wrong data, and a call fails on every rank or on none.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "comm/comm.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/transport.h"
#include "tessera/text.h"

enum { MOST_GROUPS = 4, MOST_RANKS_SHOWN = 8 };

tsr_call tsr_call_begin(tsr_comm *comm, const char *name) {
  atomic_fetch_add_explicit(&comm->step, 1, memory_order_relaxed);
  return (tsr_call){.comm = comm, .name = name};
}

void tsr_call_hash(tsr_call *c, const void *bytes, size_t length) {
  if (c->comm->rank_count > 1) c->hash = tsr_hash128_add(c->hash, bytes, length);
}

void tsr_call_describe(tsr_call *c, const char *format, ...) {
  if (c->comm->rank_count == 1) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(c->text, sizeof c->text, format, arguments);
  va_end(arguments);
  tsr_call_hash(c, c->text, strlen(c->text));
}

static const char *text_of(const tsr_call *c) { return c->text[0] ? c->text : c->name; }

tsr_status tsr_call_end(const tsr_call *c, tsr_status status) {
  if (!status || c->comm->rank_count == 1) return status;
  return tsr_note(status, "step %lld, %s", (long long)tsr_comm_step(c->comm), text_of(c));
}

// ---- digests ----

static uint64_t hash_name(const tsr_call *c) { return tsr_hash64(c->name, strlen(c->name), 0); }

// Of the call and its first items; the number of items is included.
static tsr_hash128 digest(const tsr_call *c, int64_t items) {
  const uint64_t numbers[] = {hash_name(c), (uint64_t)c->items.count};
  tsr_hash128 hash = tsr_hash128_add(c->hash, numbers, sizeof numbers);
  for (int64_t i = 0; i < items; i++) {
    const tsr_hash128 item = c->items.digest(c->items.context, i);
    hash = tsr_hash128_add(hash, &item, sizeof item);
  }
  return hash;
}

tsr_hash128 tsr_call_digest(const tsr_call *c) {
  return c->comm->rank_count > 1 ? digest(c, c->items.count) : TSR_HASH128_EMPTY;
}

static bool names_differ(const tsr_comm *comm) {
  for (int r = 1; r < comm->rank_count; r++)
    if (comm->records[r].name != comm->records[0].name) return true;
  return false;
}

static bool same_digest(const tsr_comm *comm, int a, int b) {
  return tsr_hash128_equal(comm->records[a].digest, comm->records[b].digest);
}

static bool digests_differ(const tsr_comm *comm) {
  for (int r = 1; r < comm->rank_count; r++)
    if (!same_digest(comm, r, 0)) return true;
  return false;
}

static bool any_rank_failed(const tsr_comm *comm) {
  for (int r = 0; r < comm->rank_count; r++)
    if (comm->records[r].cause) return true;
  return false;
}

// ---- texts ----

static tsr_status share_record(const tsr_call *c, tsr_call_record mine) {
  return tsr_call_end(c, c->comm->engine->share(c->comm, &mine, sizeof mine, c->comm->records));
}

static tsr_status share_text(const tsr_call *c, const char *mine) {
  tsr_comm *comm = c->comm;
  char text[TSR_CALL_TEXT] = "";
  if (snprintf(text, sizeof text, "%s", mine) >= TSR_CALL_TEXT)
    strcpy(text + TSR_CALL_TEXT - 4, "...");
  TSR_TRY(tsr_call_end(c, comm->engine->share(comm, text, sizeof text, comm->texts)));
  for (int r = 0; r < comm->rank_count; r++) comm->texts[r][TSR_CALL_TEXT - 1] = '\0';
  return NULL;
}

static bool is_first_of_its_kind(const tsr_comm *comm, int rank) {
  for (int r = 0; r < rank; r++)
    if (same_digest(comm, r, rank)) return false;
  return true;
}

// Whether another call has the same text, so that the text does not show the difference.
static bool is_ambiguous(const tsr_comm *comm, int rank) {
  for (int r = 0; r < comm->rank_count; r++)
    if (!same_digest(comm, r, rank) && !strcmp(comm->texts[r], comm->texts[rank])) return true;
  return false;
}

static void add_ranks(tsr_text *out, const tsr_comm *comm, int like, const char *verb) {
  int count = 0, shown = 0;
  for (int r = 0; r < comm->rank_count; r++) count += same_digest(comm, r, like);
  tsr_text_add(out, count == 1 ? "rank " : "ranks ");
  for (int r = 0; r < comm->rank_count && shown < MOST_RANKS_SHOWN; r++)
    if (same_digest(comm, r, like)) tsr_text_addf(out, "%s%d", shown++ ? ", " : "", r);
  if (count > shown) tsr_text_addf(out, " and %d more", count - shown);
  tsr_text_addf(out, " %s%s%s %s", verb, count == 1 ? "s" : "", !strcmp(verb, "ask") ? " for" : "",
                comm->texts[like]);
  if (is_ambiguous(comm, like))
    tsr_text_addf(out, " (digest %016llx)", (unsigned long long)comm->records[like].digest.low);
}

// The failure that lists what ranks call, or ask for in one item, from their records and texts.
static tsr_status mismatch(const tsr_call *c, bool of_item) {
  const tsr_comm *comm = c->comm;
  tsr_text text = TSR_TEXT_EMPTY;
  int kinds = 0;
  for (int r = 0; r < comm->rank_count; r++) {
    if (!is_first_of_its_kind(comm, r) || ++kinds > MOST_GROUPS) continue;
    if (r) tsr_text_add(&text, "; ");
    add_ranks(&text, comm, r, of_item ? "ask" : "call");
  }
  if (kinds > MOST_GROUPS)
    tsr_text_addf(&text, "; others differ in %d more ways", kinds - MOST_GROUPS);
  tsr_status status = tsr_text_check(&text);
  if (!status)
    status =
        tsr_fail(COMM_MISMATCH, "ranks differ in step %lld%s%s: %s", (long long)tsr_comm_step(comm),
                 of_item ? ", " : "", of_item ? text_of(c) : "", tsr_text_string(&text));
  tsr_text_deinit(&text);
  return status;
}

// ---- finding the difference ----

// The first item that differs between ranks. There is one, and all ranks have equally many.
static tsr_status find_item(const tsr_call *c, int64_t *out_item) {
  int64_t same = 0, differing = c->items.count;  // numbers of items that do not, and do, differ
  while (differing - same > 1) {
    const int64_t middle = same + (differing - same) / 2;
    TSR_TRY(share_record(c, (tsr_call_record){.digest = digest(c, middle)}));
    if (digests_differ(c->comm))
      differing = middle;
    else
      same = middle;
  }
  *out_item = same;
  return NULL;
}

static tsr_status compare_items(const tsr_call *c) {
  tsr_text text = TSR_TEXT_EMPTY;
  int64_t item = 0;
  TSR_TRY(find_item(c, &item));
  TSR_TRY(share_record(c, (tsr_call_record){.digest = c->items.digest(c->items.context, item)}));
  c->items.describe(c->items.context, item, &text);
  tsr_status status = share_text(
      c, text.failed ? "something that there is no memory to describe" : tsr_text_string(&text));
  tsr_text_deinit(&text);
  return status ? status : mismatch(c, true);
}

static tsr_status compare_calls(const tsr_call *c) {
  TSR_TRY(share_record(c, (tsr_call_record){.digest = digest(c, 0)}));
  if (!digests_differ(c->comm)) return compare_items(c);
  TSR_TRY(share_text(c, text_of(c)));
  return mismatch(c, false);
}

// ---- mistakes ----

// The failure of the lowest rank that has one, as other ranks report it.
static tsr_status failed_elsewhere(const tsr_call *c) {
  const tsr_comm *comm = c->comm;
  int rank = 0;
  while (!comm->records[rank].cause) rank++;
  return tsr_call_end(c, tsr_fail_at((tsr_cause)comm->records[rank].cause, __FILE__, __LINE__,
                                     "rank %d: %s", rank, comm->texts[rank]));
}

static tsr_status compare_mistakes(const tsr_call *c, tsr_status found) {
  tsr_status status = share_text(c, tsr_status_text(found));
  if (!status) return found ? found : failed_elsewhere(c);
  tsr_status_free(found);
  return status;
}

tsr_status tsr_call_agree(const tsr_call *c, tsr_status found) {
  tsr_comm *comm = c->comm;
  if (comm->rank_count == 1) return found;
  const tsr_call_record mine = {.name = hash_name(c),
                                .digest = found ? TSR_HASH128_EMPTY : tsr_call_digest(c),
                                .balance = found ? TSR_HASH128_EMPTY : c->balance,
                                .cause = tsr_status_cause(found)};
  tsr_status status = share_record(c, mine);
  const bool other_calls = !status && names_differ(comm);
  if (!status && !other_calls && any_rank_failed(comm)) return compare_mistakes(c, found);
  tsr_status_free(found);
  if (status) return status;
  if (other_calls || digests_differ(comm)) return compare_calls(c);
  return tsr_records_balance(comm) ? NULL : tsr_call_find_lane(c);
}
