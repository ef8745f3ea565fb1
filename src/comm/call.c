// Before anything moves, the ranks compare what they are about to do: 16 bytes each. Only when
// these differ, or somebody found a mistake in its arguments, do they exchange texts, from which
// every rank makes its message. So a rank that calls something else is an error, not a hang, and a
// call fails on every rank or on none.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "comm/comm.h"
#include "tessera/hash.h"

call tsr_call_begin(tsr_comm *comm) {
  comm->step++;
  return (call){.comm = comm};
}

void tsr_call_hash(call *c, const void *bytes, size_t length) {
  if (c->comm->rank_count > 1 && length) c->hash = tsr_hash64(bytes, length, c->hash);
}

void tsr_call_describe(call *c, const char *format, ...) {
  if (c->comm->rank_count == 1) return;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(c->text, sizeof c->text, format, arguments);
  va_end(arguments);
  tsr_call_hash(c, c->text, strlen(c->text));
}

tsr_status tsr_call_end(const call *c, tsr_status status) {
  if (!status || c->comm->rank_count == 1) return status;
  return tsr_note(status, "step %lld, %s", (long long)c->comm->step, c->text);
}

// ---- when they differ ----

static void add_ranks(tsr_text *out, const tsr_comm *comm, int like) {
  int count = 0;
  for (int r = 0; r < comm->rank_count; r++)
    count += comm->records[r].call == comm->records[like].call;
  tsr_text_addf(out, count == 1 ? "rank " : "ranks ");
  int shown = 0;
  for (int r = 0; r < comm->rank_count && shown < 8; r++) {
    if (comm->records[r].call != comm->records[like].call) continue;
    tsr_text_addf(out, "%s%d", shown++ ? ", " : "", r);
  }
  if (count > shown) tsr_text_addf(out, " and %d more", count - shown);
  tsr_text_addf(out, count == 1 ? " calls %s" : " call %s", comm->texts[like]);
}

static bool is_new(const tsr_comm *comm, int rank) {
  for (int r = 0; r < rank; r++) {
    if (comm->records[r].call == comm->records[rank].call) return false;
  }
  return true;
}

static tsr_status mismatch(const tsr_comm *comm) {
  tsr_text text = TSR_TEXT_EMPTY;
  for (int r = 0; r < comm->rank_count; r++) {
    if (!is_new(comm, r)) continue;
    if (r) tsr_text_add(&text, "; ");
    add_ranks(&text, comm, r);
  }
  tsr_status status = tsr_text_check(&text);
  if (!status)
    status = tsr_fail(COMM_MISMATCH, "ranks differ in step %lld: %s", (long long)comm->step,
                      tsr_text_string(&text));
  tsr_text_deinit(&text);
  return status;
}

// The failure of the lowest rank that has one, as the others report it.
static tsr_status failed_elsewhere(const tsr_comm *comm) {
  int rank = 0;
  while (!comm->records[rank].cause) rank++;
  return tsr_fail_at((tsr_cause)comm->records[rank].cause, __FILE__, __LINE__, "rank %d: %s", rank,
                     comm->texts[rank]);
}

// Which kind of trouble the records tell of.
static bool calls_differ(const tsr_comm *comm) {
  for (int r = 1; r < comm->rank_count; r++) {
    if (comm->records[r].call != comm->records[0].call) return true;
  }
  return false;
}

static bool somebody_failed(const tsr_comm *comm) {
  for (int r = 0; r < comm->rank_count; r++) {
    if (comm->records[r].cause) return true;
  }
  return false;
}

static tsr_status share_texts(const call *c, bool differ, tsr_status found) {
  tsr_comm *comm = c->comm;
  char text[CALL_TEXT] = "";
  snprintf(text, sizeof text, "%s", differ ? c->text : tsr_status_text(found));
  TSR_TRY(comm->engine->share(comm, text, sizeof text, comm->texts));
  for (int r = 0; r < comm->rank_count; r++) comm->texts[r][CALL_TEXT - 1] = '\0';
  return NULL;
}

tsr_status tsr_call_agree(const call *c, tsr_status found) {
  tsr_comm *comm = c->comm;
  if (comm->rank_count == 1) return found;
  const record mine = {c->hash, tsr_status_cause(found)};
  tsr_status status = comm->engine->share(comm, &mine, sizeof mine, comm->records);
  const bool differ = !status && calls_differ(comm);
  if (!status && !differ && !somebody_failed(comm)) return NULL;
  if (!status) status = share_texts(c, differ, found);
  if (!status && !differ && found) return found;
  tsr_status_free(found);
  if (!status && differ) return mismatch(comm);
  return tsr_call_end(c, status ? status : failed_elsewhere(comm));
}
