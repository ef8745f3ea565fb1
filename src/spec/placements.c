// PyTorch's placements as text: what repr() and str() print and what users write.
//
// The printed form is that of repr() in a list: [Shard(dim=0), Replicate(), Partial(sum)].
#include <string.h>

#include "base/scan.h"
#include "tessera/notation.h"

// ---- reading ----

static bool word_is(const char *word, size_t length, const char *name) {
  return strlen(name) == length && !memcmp(word, name, length);
}

// An integer argument, with its name before it or not. `other` is a second name, or NULL.
static tsr_status parse_number(tsr_scan *scan, const char *name, const char *other, int64_t low,
                               int64_t high, int64_t *out_value) {
  tsr_scan_peek(scan);
  tsr_scan named = *scan;
  size_t length = 0;
  const char *word = tsr_scan_word(&named, &length);
  if (word_is(word, length, name) || (other && word_is(word, length, other))) {
    *scan = named;
    TSR_TRY(tsr_scan_expect(scan, '='));
  }
  TSR_TRY(tsr_scan_int(scan, out_value));
  if (*out_value < low || *out_value > high)
    return tsr_fail(SYNTAX, "%s %lld, wanted %lld to %lld", name, (long long)*out_value,
                    (long long)low, (long long)high);
  return NULL;
}

static tsr_status parse_dim(tsr_scan *scan, tsr_placement *out) {
  int64_t dim = 0;
  TSR_TRY(parse_number(scan, "dim", NULL, -TSR_MAX_RANK, TSR_MAX_RANK - 1, &dim));
  out->dim = (int)dim;
  return NULL;
}

static tsr_status parse_replicate(tsr_scan *scan, tsr_placement *out) {
  out->kind = TSR_PLACEMENT_REPLICATE;
  return tsr_scan_take(scan, '(') ? tsr_scan_expect(scan, ')') : NULL;
}

static tsr_status parse_shard(tsr_scan *scan, tsr_placement *out) {
  out->kind = TSR_PLACEMENT_SHARD;
  TSR_TRY(tsr_scan_expect(scan, '('));
  TSR_TRY(parse_dim(scan, out));
  return tsr_scan_expect(scan, ')');
}

static tsr_status parse_strided(tsr_scan *scan, tsr_placement *out) {
  out->kind = TSR_PLACEMENT_STRIDED_SHARD;
  out->split_factor = 1;
  TSR_TRY(tsr_scan_expect(scan, '('));
  TSR_TRY(parse_dim(scan, out));
  if (tsr_scan_take(scan, ','))
    TSR_TRY(parse_number(scan, "split_factor", "sf", 1, INT32_MAX, &out->split_factor));
  return tsr_scan_expect(scan, ')');
}

static const char *const reductions[] = {[TSR_SUM] = "sum", [TSR_MAX] = "max", [TSR_MIN] = "min"};

static tsr_status find_reduction(const char *word, size_t length, tsr_reduction *out) {
  for (int i = 0; i < TSR_SPEC_REDUCTION_COUNT; i++) {
    if (!word_is(word, length, reductions[i])) continue;
    *out = (tsr_reduction)i;
    return NULL;
  }
  return tsr_fail(UNSUPPORTED, "partial results that combine by \"%.*s\", wanted sum, max or min",
                  (int)(length < 20 ? length : 20), word);
}

// sum, 'sum', "sum", or one of these after reduce_op=.
static tsr_status parse_reduction(tsr_scan *scan, tsr_reduction *out) {
  size_t length = 0;
  tsr_scan named = *scan;
  const char *word = tsr_scan_word(&named, &length);
  if (word_is(word, length, "reduce_op")) {
    *scan = named;
    TSR_TRY(tsr_scan_expect(scan, '='));
  }
  const char quote = tsr_scan_peek(scan);
  const bool quoted = quote == '\'' || quote == '"';
  if (quoted) scan->at++;
  word = tsr_scan_word(scan, &length);
  if (!length) return tsr_scan_fail(scan, "a reduction");
  if (quoted) TSR_TRY(tsr_scan_expect(scan, quote));
  return find_reduction(word, length, out);
}

static tsr_status parse_partial(tsr_scan *scan, tsr_placement *out) {
  out->kind = TSR_PLACEMENT_PARTIAL;
  out->reduction = TSR_SUM;
  if (!tsr_scan_take(scan, '(') || tsr_scan_take(scan, ')')) return NULL;
  TSR_TRY(parse_reduction(scan, &out->reduction));
  return tsr_scan_expect(scan, ')');
}

static tsr_status refuse_masked(tsr_scan *scan, tsr_placement *out) {
  (void)scan;
  (void)out;
  return tsr_fail(UNSUPPORTED, "masked partial results have no equal here");
}

static const struct {
  const char *name;
  tsr_status (*parse)(tsr_scan *scan, tsr_placement *out);
} words[] = {
    {"MaskP", refuse_masked},       {"P", parse_partial},
    {"Partial", parse_partial},     {"R", parse_replicate},
    {"Replicate", parse_replicate}, {"S", parse_shard},
    {"Shard", parse_shard},         {"_MaskPartial", refuse_masked},
    {"_S", parse_strided},          {"_StridedShard", parse_strided},
};

static tsr_status parse_placement(tsr_scan *scan, tsr_placement *out) {
  tsr_scan_peek(scan);
  const char *at = scan->at;
  size_t length = 0;
  const char *word = tsr_scan_word(scan, &length);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (word_is(word, length, words[i].name)) return words[i].parse(scan, out);
  scan->at = at;
  return tsr_scan_fail(scan, "Shard, Replicate, Partial or _StridedShard");
}

tsr_status tsr_placements_parse(const char *text, tsr_placements *out) {
  tsr_scan scan = TSR_SCAN(text);
  tsr_placements placements = {0};
  const char close = tsr_scan_take(&scan, '[') ? ']' : ')';
  if (close == ')') TSR_TRY(tsr_scan_expect(&scan, '('));
  while (!tsr_scan_take(&scan, close)) {
    if (placements.count == TSR_MAX_AXES)
      return tsr_fail(TOO_LARGE, "more than %d placements", TSR_MAX_AXES);
    TSR_TRY_NOTE(parse_placement(&scan, &placements.items[placements.count]), "in placement %d",
                 placements.count);
    placements.count++;
    if (!tsr_scan_take(&scan, ',') && tsr_scan_peek(&scan) != close)
      return tsr_scan_expect(&scan, close);
  }
  TSR_TRY(tsr_scan_end(&scan));
  *out = placements;
  return NULL;
}

// ---- printing ----

static void print_placement(const tsr_placement *placement, tsr_text *out) {
  switch (placement->kind) {
    case TSR_PLACEMENT_REPLICATE:
      tsr_text_add(out, "Replicate()");
      break;
    case TSR_PLACEMENT_SHARD:
      tsr_text_addf(out, "Shard(dim=%d)", placement->dim);
      break;
    case TSR_PLACEMENT_STRIDED_SHARD:
      tsr_text_addf(out, "_StridedShard(dim=%d, sf=%lld)", placement->dim,
                    (long long)placement->split_factor);
      break;
    case TSR_PLACEMENT_PARTIAL:
      tsr_text_addf(out, "Partial(%s)", reductions[placement->reduction]);
      break;
  }
}

void tsr_placements_print(const tsr_placements *placements, tsr_text *out) {
  tsr_text_add_char(out, '[');
  for (int i = 0; i < placements->count; i++) {
    if (i) tsr_text_add(out, ", ");
    print_placement(&placements->items[i], out);
  }
  tsr_text_add_char(out, ']');
}
