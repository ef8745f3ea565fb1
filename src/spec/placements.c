// PyTorch's placements as text: as repr() and str() print them and as users write them.
//
// Printing gives what PyTorch's constructors accept: [Shard(dim=0), Replicate(), Partial('sum')].
// They have no order of shards, which is printed as PyTorch's specs do: S(0)[1]S(0)[0].
#include <string.h>

#include "base/text_internal.h"
#include "spec/dtensor.h"
#include "tessera/compat/torch.h"
#include "tessera/mesh.h"
#include "tessera/reduction.h"
#include "tessera/shape.h"
#include "tessera/spec.h"
#include "tessera/text.h"

// ---- one placement ----

// An integer argument, with or without its name. `other` is a second name, or NULL.
static tsr_status parse_number(tsr_cursor *cursor, const char *name, const char *other, int64_t low,
                               int64_t high, int64_t *out_value) {
  if (tsr_cursor_take_word(cursor, name) || (other && tsr_cursor_take_word(cursor, other)))
    TSR_TRY(tsr_cursor_expect(cursor, '='));
  tsr_cursor_peek(cursor);
  const tsr_cursor number = *cursor;
  TSR_TRY(tsr_cursor_int(cursor, out_value));
  if (*out_value < low || *out_value > high)
    return tsr_cursor_fail(&number, SYNTAX, "%s is %lld, expected %lld to %lld", name,
                           (long long)*out_value, (long long)low, (long long)high);
  return NULL;
}

static tsr_status parse_dim(tsr_cursor *cursor, tsr_placement *out) {
  int64_t dim = 0;
  TSR_TRY(parse_number(cursor, "dim", NULL, -TSR_MAX_RANK, TSR_MAX_RANK - 1, &dim));
  out->dim = (int)dim;
  return NULL;
}

static tsr_status parse_replicate(tsr_cursor *cursor, tsr_placement *out) {
  out->kind = TSR_PLACEMENT_REPLICATE;
  return tsr_cursor_take(cursor, '(') ? tsr_cursor_expect(cursor, ')') : NULL;
}

static tsr_status parse_shard(tsr_cursor *cursor, tsr_placement *out) {
  out->kind = TSR_PLACEMENT_SHARD;
  TSR_TRY(tsr_cursor_expect(cursor, '('));
  TSR_TRY(parse_dim(cursor, out));
  return tsr_cursor_expect(cursor, ')');
}

static tsr_status parse_strided(tsr_cursor *cursor, tsr_placement *out) {
  out->kind = TSR_PLACEMENT_STRIDED_SHARD;
  out->split_factor = 1;
  TSR_TRY(tsr_cursor_expect(cursor, '('));
  TSR_TRY(parse_dim(cursor, out));
  if (tsr_cursor_take(cursor, ','))
    TSR_TRY(parse_number(cursor, "split_factor", "sf", 1, INT32_MAX, &out->split_factor));
  return tsr_cursor_expect(cursor, ')');
}

static const char *const reductions[] = {
    [TSR_REDUCE_SUM] = "sum", [TSR_REDUCE_MAX] = "max", [TSR_REDUCE_MIN] = "min"};

static tsr_status find_reduction(const char *word, size_t length, tsr_reduction *out) {
  for (int i = 0; i < TSR_SPEC_REDUCTION_COUNT; i++) {
    if (!tsr_word_is(word, length, reductions[i])) continue;
    *out = (tsr_reduction)i;
    return NULL;
  }
  return tsr_fail(UNSUPPORTED, "partial results combine by \"%.*s\", expected sum, max or min",
                  (int)(length < 20 ? length : 20), word);
}

// sum, 'sum', "sum", or one of these after reduce_op=.
static tsr_status parse_reduction(tsr_cursor *cursor, tsr_reduction *out) {
  if (tsr_cursor_take_word(cursor, "reduce_op")) TSR_TRY(tsr_cursor_expect(cursor, '='));
  const char quote = tsr_cursor_peek(cursor);
  const bool quoted = quote == '\'' || quote == '"';
  if (quoted) cursor->at++;
  size_t length = 0;
  const char *word = tsr_cursor_word(cursor, &length);
  if (!length) return tsr_cursor_expected(cursor, "a reduction");
  if (quoted) TSR_TRY(tsr_cursor_expect(cursor, quote));
  return find_reduction(word, length, out);
}

static tsr_status parse_partial(tsr_cursor *cursor, tsr_placement *out) {
  out->kind = TSR_PLACEMENT_PARTIAL;
  out->reduction = TSR_REDUCE_SUM;
  if (!tsr_cursor_take(cursor, '(') || tsr_cursor_take(cursor, ')')) return NULL;
  TSR_TRY(parse_reduction(cursor, &out->reduction));
  return tsr_cursor_expect(cursor, ')');
}

static tsr_status refuse_masked(tsr_cursor *cursor, tsr_placement *out) {
  (void)out;
  TSR_TRY(tsr_cursor_expect(cursor, '('));
  return tsr_fail(UNSUPPORTED, "masked partial results are not supported");
}

static const struct {
  const char *name;
  tsr_status (*parse)(tsr_cursor *cursor, tsr_placement *out);
} words[] = {
    {"MaskP", refuse_masked},       {"P", parse_partial},
    {"Partial", parse_partial},     {"R", parse_replicate},
    {"Replicate", parse_replicate}, {"S", parse_shard},
    {"Shard", parse_shard},         {"_MaskPartial", refuse_masked},
    {"_S", parse_strided},          {"_StridedShard", parse_strided},
};

enum { WORD_COUNT = sizeof words / sizeof *words };

static tsr_status parse_placement(tsr_cursor *cursor, tsr_placement *out) {
  size_t length = 0;
  tsr_cursor qualified = *cursor;
  const char *word = tsr_cursor_qualified(&qualified, &length);
  for (size_t i = 0; i < WORD_COUNT; i++) {
    if (!tsr_word_is(word, length, words[i].name)) continue;
    const tsr_cursor start = *cursor;
    *cursor = qualified;
    return tsr_cursor_place_missing(&start, words[i].parse(cursor, out));
  }
  return tsr_cursor_expected(cursor, "Shard, Replicate, Partial or _StridedShard");
}

static tsr_status add_placement(tsr_placements *to, tsr_cursor *cursor,
                                tsr_status (*parse)(tsr_cursor *, tsr_placement *)) {
  if (to->count == TSR_MAX_AXES)
    return tsr_fail(TOO_LARGE, "more than %d placements", TSR_MAX_AXES);
  TSR_TRY(parse(cursor, &to->items[to->count]));
  to->count++;
  return NULL;
}

// ---- a list: (Shard(dim=0), Replicate()) ----

static tsr_status parse_list(tsr_cursor *cursor, tsr_placements *out) {
  const char close = tsr_cursor_take(cursor, '[') ? ']' : ')';
  if (close == ')') TSR_TRY(tsr_cursor_expect(cursor, '('));
  while (!tsr_cursor_take(cursor, close)) {
    TSR_TRY(add_placement(out, cursor, parse_placement));
    if (!tsr_cursor_take(cursor, ',') && tsr_cursor_peek(cursor) != close)
      return tsr_cursor_expect(cursor, close);
  }
  return NULL;
}

// ---- a row: S(0)[1]S(0)[0]R ----

// The longest word here. Nothing separates the words of a row: RS(0) is two.
static int find_row_word(const char *at) {
  int found = -1;
  size_t longest = 0;
  for (int i = 0; i < WORD_COUNT; i++) {
    const size_t length = strlen(words[i].name);
    if (length <= longest || strncmp(at, words[i].name, length) != 0) continue;
    found = i;
    longest = length;
  }
  return found;
}

static tsr_status parse_row_word(tsr_cursor *cursor, tsr_placement *out) {
  tsr_cursor_peek(cursor);
  const int word = find_row_word(cursor->at);
  if (word < 0) return tsr_cursor_expected(cursor, "S, R, P or _S");
  const tsr_cursor start = *cursor;
  cursor->at += strlen(words[word].name);
  TSR_TRY(tsr_cursor_place_missing(&start, words[word].parse(cursor, out)));
  if (!tsr_cursor_take(cursor, '[')) return NULL;
  int64_t order = 0;
  TSR_TRY(tsr_cursor_int(cursor, &order));
  if (order < 0 || order >= TSR_MAX_AXES)
    return tsr_fail(SYNTAX, "shard order %lld, expected 0 to %d", (long long)order,
                    TSR_MAX_AXES - 1);
  if (out->kind != TSR_PLACEMENT_SHARD && out->kind != TSR_PLACEMENT_STRIDED_SHARD)
    return tsr_fail(SYNTAX, "shard order %lld of a placement that is not a shard",
                    (long long)order);
  out->order = (int)order + 1;
  return tsr_cursor_expect(cursor, ']');
}

static tsr_status parse_row(tsr_cursor *cursor, tsr_placements *out) {
  do {
    TSR_TRY(add_placement(out, cursor, parse_row_word));
    tsr_cursor_peek(cursor);
  } while (find_row_word(cursor->at) >= 0);
  return NULL;
}

// The text allowed in the brackets of a partial result. P('x'), P(None) and P() are JAX's.
static bool is_reduction(const char *text, size_t length) {
  static const char *const all[] = {"sum", "avg", "product", "min", "max", "band", "bor", "bxor"};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (tsr_word_is(text, length, all[i])) return true;
  return false;
}

// The length up to the closing bracket; a mask has a shape inside.
static size_t bracket_length(const char *at) {
  const size_t first = strcspn(at, "()");
  if (at[first] != '(') return first;
  const size_t inner = first + strcspn(at + first, ")");
  return at[inner] ? inner + 1 + strcspn(at + inner + 1, ")") : inner;
}

// Skips a word of a row. Sets `brackets` if it has brackets, which names of axes never have.
static bool skip_row_word(tsr_cursor *cursor, bool *brackets) {
  const int word = find_row_word(cursor->at);
  if (word < 0) return false;
  cursor->at += strlen(words[word].name);
  if (tsr_cursor_take(cursor, '(')) {
    const size_t length = bracket_length(cursor->at);
    if (!length || memchr(cursor->at, '\'', length) || memchr(cursor->at, '"', length))
      return false;
    if (words[word].parse == parse_partial && !is_reduction(cursor->at, length)) return false;
    cursor->at += length;
    *brackets = true;
    if (!tsr_cursor_take(cursor, ')')) return false;
  }
  if (tsr_cursor_take(cursor, '[')) cursor->at += strcspn(cursor->at, "]");
  tsr_cursor_take(cursor, ']');
  return true;
}

bool tsr_placements_look_like_row(const char *text) {
  tsr_cursor cursor = TSR_CURSOR("placements", text);
  bool brackets = false;
  while (tsr_cursor_peek(&cursor))
    if (!skip_row_word(&cursor, &brackets)) return false;
  return brackets;
}

bool tsr_placements_look_like_list(const char *text) {
  tsr_cursor cursor = TSR_CURSOR("placements", text);
  if (tsr_cursor_take(&cursor, '[')) return true;
  if (!tsr_cursor_take(&cursor, '(')) return false;
  size_t length = 0;
  const char *word = tsr_cursor_qualified(&cursor, &length);
  for (size_t i = 0; i < WORD_COUNT; i++)
    if (tsr_word_is(word, length, words[i].name)) return true;
  return false;
}

// ---- the order of shards ----

static bool cuts_same_dim(const tsr_placements *p, int a, int b) {
  const tsr_placement *first = &p->items[a], *second = &p->items[b];
  return second->dim == first->dim &&
         (second->kind == TSR_PLACEMENT_SHARD || second->kind == TSR_PLACEMENT_STRIDED_SHARD);
}

// The shards of one dimension must be numbered from 0 on, all or none.
static tsr_status check_order(const tsr_placements *p, int index) {
  uint32_t seen = 0;
  int count = 0;
  for (int i = 0; i < p->count; i++) {
    if (!cuts_same_dim(p, index, i)) continue;
    if (p->items[i].kind == TSR_PLACEMENT_STRIDED_SHARD)
      return tsr_fail(UNSUPPORTED, "dimension %d has a strided shard and an order of shards",
                      p->items[i].dim);
    if (p->items[i].order) seen |= UINT32_C(1) << (p->items[i].order - 1);
    count++;
  }
  if (seen == (UINT32_C(1) << count) - 1) return NULL;
  return tsr_fail(SYNTAX, "the shards of dimension %d are not numbered 0 to %d",
                  p->items[index].dim, count - 1);
}

// Shards in mesh order need no numbers.
static void drop_mesh_order(tsr_placements *p, int index) {
  int last = 0;
  for (int i = 0; i < p->count; i++) {
    if (!cuts_same_dim(p, index, i)) continue;
    if (p->items[i].order < last) return;
    last = p->items[i].order;
  }
  for (int i = 0; i < p->count; i++)
    if (cuts_same_dim(p, index, i)) p->items[i].order = 0;
}

tsr_status tsr_placements_settle_order(tsr_placements *p) {
  for (int i = 0; i < p->count; i++) {
    if (!p->items[i].order) continue;
    TSR_TRY(check_order(p, i));
    drop_mesh_order(p, i);
  }
  return NULL;
}

tsr_status tsr_placements_read(tsr_cursor *cursor, tsr_placements *out) {
  const char next = tsr_cursor_peek(cursor);
  *out = (tsr_placements){0};
  if (next == '[' || next == '(') return parse_list(cursor, out);
  return find_row_word(cursor->at) < 0 ? add_placement(out, cursor, parse_placement)
                                       : parse_row(cursor, out);
}

// ---- printing ----

// "" for what placements do not know.
static const char *reduction_word(tsr_reduction reduction) {
  return (unsigned)reduction < sizeof reductions / sizeof *reductions ? reductions[reduction] : "";
}

static void print_placement(const tsr_placement *placement, tsr_text *out) {
  switch (placement->kind) {
    case TSR_PLACEMENT_REPLICATE:
      tsr_text_add(out, "Replicate()");
      break;
    case TSR_PLACEMENT_SHARD:
      tsr_text_addf(out, "Shard(dim=%d)", placement->dim);
      break;
    case TSR_PLACEMENT_STRIDED_SHARD:
      tsr_text_addf(out, "_StridedShard(dim=%d, split_factor=%lld)", placement->dim,
                    (long long)placement->split_factor);
      break;
    case TSR_PLACEMENT_PARTIAL:
      tsr_text_addf(out, "Partial('%s')", reduction_word(placement->reduction));
      break;
  }
}

static void print_row_word(const tsr_placement *placement, tsr_text *out) {
  switch (placement->kind) {
    case TSR_PLACEMENT_REPLICATE:
      tsr_text_add_char(out, 'R');
      break;
    case TSR_PLACEMENT_SHARD:
      tsr_text_addf(out, "S(%d)", placement->dim);
      break;
    case TSR_PLACEMENT_STRIDED_SHARD:
      tsr_text_addf(out, "_S(%d, %lld)", placement->dim, (long long)placement->split_factor);
      break;
    case TSR_PLACEMENT_PARTIAL:
      tsr_text_addf(out, "P(%s)", reduction_word(placement->reduction));
      break;
  }
  if (placement->order) tsr_text_addf(out, "[%d]", placement->order - 1);
}

static bool has_order(const tsr_placements *placements) {
  for (int i = 0; i < placements->count; i++)
    if (placements->items[i].order) return true;
  return false;
}

void tsr_placements_print(const tsr_placements *placements, tsr_text *out) {
  if (has_order(placements)) {
    for (int i = 0; i < placements->count; i++) print_row_word(&placements->items[i], out);
    return;
  }
  tsr_text_add_char(out, '[');
  for (int i = 0; i < placements->count; i++) {
    if (i) tsr_text_add(out, ", ");
    print_placement(&placements->items[i], out);
  }
  tsr_text_add_char(out, ']');
}
