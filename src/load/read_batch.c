// Runs of one buffer are added in ascending order, so a batch is a few sorted rows, which are
// merged instead of sorted.
#include "load/read_batch.h"

#include <stdlib.h>

#include "base/arithmetic.h"
#include "tessera/engine/kernels.h"
#include "view/overflow.h"

enum { MOST_ROWS = 64 };  // more are sorted instead of merged

typedef struct tsr_batch_read {
  int file;
  int64_t offset, bytes;
  char *place;
} batch_read;

// Elements in the scratch buffer; the first `skip` are not wanted.
typedef struct tsr_batch_conversion {
  const char *scratch;
  int64_t skip, to, length;
  tsr_dtype stored, dtype;
  char *data;
  const char *name;
} conversion;

int64_t tsr_batch_memory(void) {
  return TSR_MOST_READS * (int64_t)(sizeof(batch_read) + sizeof(conversion)) + TSR_RUNS_MEMORY;
}

tsr_status tsr_batch_init(tsr_batch *batch) {
  batch->reads = malloc(sizeof *batch->reads * TSR_MOST_READS);
  if (!batch->reads) return tsr_fail(NO_MEMORY, "a list of %d runs", TSR_MOST_READS);
  return tsr_runs_init(&batch->runs);
}

void tsr_batch_deinit(tsr_batch *batch) {
  tsr_runs_deinit(&batch->runs);
  free(batch->reads);
  free(batch->conversions);
  free(batch->scratch);
}

// ---- reading ----

static int by_place_in_file(const void *left, const void *right) {
  const batch_read *a = left, *b = right;
  if (a->file != b->file) return a->file < b->file ? -1 : 1;
  return (a->offset > b->offset) - (a->offset < b->offset);
}

// Ascending rows of reads.
typedef struct rows {
  int count;
  int next[MOST_ROWS], end[MOST_ROWS];  // of each row: what is left of it
} rows;

static bool find_rows(const tsr_batch *batch, rows *r) {
  r->count = 0;
  for (int i = 0; i < batch->count; i++) {
    const bool goes_on = i > 0 && by_place_in_file(&batch->reads[i - 1], &batch->reads[i]) <= 0;
    if (!goes_on && r->count == MOST_ROWS) return false;
    if (!goes_on) r->next[r->count++] = i;
    r->end[r->count - 1] = i + 1;
  }
  return true;
}

// The row with the next read. Mostly it is the next row, which continues where the last read ended:
// the next device's piece of a matrix row.
static int next_row(const batch_read *reads, const rows *r, int row, const batch_read *last) {
  const int after = row + 1 < r->count ? row + 1 : 0;
  const batch_read *guess = &reads[r->next[after]];
  if (last && r->next[after] < r->end[after] && guess->file == last->file &&
      guess->offset == last->offset + last->bytes)
    return after;
  int first = -1;
  for (int i = 0; i < r->count; i++)
    if (r->next[i] < r->end[i] &&
        (first < 0 || by_place_in_file(&reads[r->next[i]], &reads[r->next[first]]) < 0))
      first = i;
  return first;
}

static tsr_status read_rows(tsr_batch *batch, rows *r) {
  const batch_read *last = NULL;
  int row = 0;
  for (int i = 0; i < batch->count; i++) {
    row = next_row(batch->reads, r, row, last);
    last = &batch->reads[r->next[row]++];
    TSR_TRY(tsr_runs_add(&batch->runs, last->file, last->offset, last->place, last->bytes));
  }
  return tsr_runs_flush(&batch->runs);
}

static tsr_status read_all(tsr_batch *batch) {
  rows r;
  if (!find_rows(batch, &r)) {
    qsort(batch->reads, (size_t)batch->count, sizeof *batch->reads, by_place_in_file);
    r = (rows){.count = 1, .end = {batch->count}};
  }
  return read_rows(batch, &r);
}

static char *make_elements(int64_t count, int bits) {
  return malloc((size_t)(count / 8 * bits + bits));
}

// For dtypes narrower than a byte: through buffers that start at a byte. Skipped elements must not
// count as overflow.
static tsr_status convert_bits(const conversion *c, tsr_overflow *overflow) {
  const int stored_bits = tsr_dtype_info_of(c->stored)->bits,
            bits = tsr_dtype_info_of(c->dtype)->bits;
  const tsr_copy in = {.from = c->skip, .length = c->length};
  const tsr_copy out = {.to = c->to, .length = c->length};
  char *stored = make_elements(c->length, stored_bits), *converted = make_elements(c->length, bits);
  tsr_status status = stored && converted
                          ? NULL
                          : tsr_fail(NO_MEMORY, "%lld elements to cast", (long long)c->length);
  if (!status) {
    tsr_copy_run(&in, stored_bits, c->scratch, stored);
    status = tsr_convert_checked(c->stored, stored, c->dtype, converted, c->length, overflow);
  }
  if (!status) tsr_copy_run(&out, bits, converted, c->data);
  free(stored);
  free(converted);
  return status;
}

static tsr_status convert(const conversion *c, tsr_overflow *overflow) {
  const int bits = tsr_dtype_info_of(c->dtype)->bits;
  if (c->stored == c->dtype) {
    const tsr_copy copy = {.from = c->skip, .to = c->to, .length = c->length};
    tsr_copy_run(&copy, bits, c->scratch, c->data);
    return NULL;
  }
  if (bits % 8 || c->skip) return convert_bits(c, overflow);
  return tsr_convert_checked(c->stored, c->scratch, c->dtype, c->data + c->to * (bits / 8),
                             c->length, overflow);
}

static tsr_status convert_one(tsr_batch *batch, const conversion *c) {
  tsr_overflow overflow = {0};
  TSR_TRY(convert(c, &overflow));
  batch->overflows += overflow.count;
  if (overflow.count == 0 || batch->allow_overflow) return NULL;
  return tsr_note(tsr_overflow_fail(&overflow, -1, c->dtype), "tensor \"%s\"", c->name);
}

tsr_status tsr_batch_drain(tsr_batch *batch) {
  TSR_TRY(read_all(batch));
  for (int i = 0; i < batch->conversion_count; i++)
    TSR_TRY(convert_one(batch, &batch->conversions[i]));
  batch->count = batch->conversion_count = 0;
  batch->scratch_used = 0;
  return NULL;
}

// ---- gathering ----

tsr_status tsr_batch_make_room(tsr_batch *batch, int64_t runs) {
  return runs > TSR_MOST_READS - batch->count ? tsr_batch_drain(batch) : NULL;
}

static tsr_status add_read(tsr_batch *batch, int file, int64_t offset, int64_t bytes, char *place) {
  if (batch->count == TSR_MOST_READS) TSR_TRY(tsr_batch_drain(batch));
  batch->reads[batch->count++] = (batch_read){file, offset, bytes, place};
  batch->bytes_wanted += bytes;
  return NULL;
}

static tsr_status need_scratch(tsr_batch *batch, int64_t bytes) {
  if (!batch->scratch) batch->scratch = malloc((size_t)batch->scratch_bytes);
  if (!batch->conversions) batch->conversions = malloc(sizeof *batch->conversions * TSR_MOST_READS);
  if (!batch->scratch || !batch->conversions) return tsr_fail(NO_MEMORY, "a scratch buffer");
  if (batch->scratch_bytes - batch->scratch_used < bytes || batch->count == TSR_MOST_READS)
    return tsr_batch_drain(batch);
  return NULL;
}

// Adds elements that fit into the scratch buffer, from the last element before them that starts at
// a byte.
static tsr_status add_converted(tsr_batch *batch, const tsr_batch_run *run) {
  const int bits = tsr_dtype_info_of(run->stored)->bits;
  const int64_t aligned = 8 / tsr_gcd(8, bits), first = run->from / aligned * aligned;
  const int64_t start = first / 8 * bits + first % 8 * bits / 8;
  const int64_t count = run->from - first + run->length;
  const int64_t bytes = count / 8 * bits + (count % 8 * bits + 7) / 8;
  TSR_TRY(need_scratch(batch, bytes));
  char *place = batch->scratch + batch->scratch_used;
  batch->scratch_used += bytes;
  batch->conversions[batch->conversion_count++] = (conversion){.scratch = place,
                                                               .skip = run->from - first,
                                                               .to = run->to,
                                                               .length = run->length,
                                                               .stored = run->stored,
                                                               .dtype = run->dtype,
                                                               .data = run->data,
                                                               .name = run->name};
  return add_read(batch, run->file, run->offset + start, bytes, place);
}

// Whether elements are read in place: without a cast, and filling whole bytes.
static bool is_plain(const tsr_batch_run *run, int64_t bits) {
  if (run->stored != run->dtype) return false;
  return bits % 8 == 0 ||
         (run->from * bits % 8 == 0 && run->to * bits % 8 == 0 && run->length * bits % 8 == 0);
}

tsr_status tsr_batch_add(tsr_batch *batch, const tsr_batch_run *run) {
  const int64_t bits = tsr_dtype_info_of(run->stored)->bits;
  if (is_plain(run, bits))
    return add_read(batch, run->file, run->offset + run->from * bits / 8, run->length * bits / 8,
                    run->data + run->to * bits / 8);
  const int64_t most = (batch->scratch_bytes * 8 / bits - 16) / 8 * 8;  // elements
  for (int64_t done = 0; done < run->length; done += most) {
    tsr_batch_run some = *run;
    some.from += done;
    some.to += done;
    some.length = run->length - done < most ? run->length - done : most;
    TSR_TRY(add_converted(batch, &some));
  }
  return NULL;
}
