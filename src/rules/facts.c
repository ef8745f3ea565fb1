// Facts: the numbers that rules compute with, and the expressions over them.
//
//   sum     = product { ("+" | "-") product }
//   product = factor { ("*" | "/") factor }
//   factor  = number | fact | "-" factor | "(" sum ")" | function "(" sum "," sum ")"
//
// All numbers are 64-bit integers. A division with a remainder is an error, since a rounded size
// would silently cut a tensor in the wrong place.
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/suggest.h"
#include "base/text_internal.h"
#include "rules/rules.h"
#include "rules/rules_internal.h"

enum { MOST_DEPTH = 100 };

#define FACT(name, ...) static const char *const keys_of_##name[] = {__VA_ARGS__, NULL};
#include "rules/facts.def"
#undef FACT
#define FACT(name, ...) {#name, keys_of_##name},
static const tsr_preset_fact known_facts[] = {
#include "rules/facts.def"
};
#undef FACT
enum { KNOWN_COUNT = sizeof known_facts / sizeof *known_facts };

const tsr_preset_fact *tsr_preset_facts(int64_t *out_count) {
  *out_count = KNOWN_COUNT;
  return known_facts;
}

// Usual axis names: one that the mesh lacks has size 1 and is no misspelt fact.
static const char *const usual_axes[] = {"dp", "fsdp", "tp", "sp", "ep"};

// ---- lookup ----

typedef struct evaluator {
  tsr_cursor cursor;
  const tsr_rules_options *options;  // NULL = a syntax check: every fact is 1
  int depth;
} evaluator;

static bool find_given(const tsr_rules_options *options, const char *word, size_t length,
                       int64_t *out) {
  for (int64_t i = 0; i < options->fact_count; i++)
    if (tsr_word_is(word, length, options->facts[i].name)) {
      *out = options->facts[i].value;
      return true;
    }
  return false;
}

// The size of the mesh axis that rules know by this name.
static bool find_axis(const tsr_rules_options *options, const char *word, size_t length,
                      int64_t *out) {
  if (!options->mesh) return false;
  const char *axis = word;
  size_t axis_length = length;
  for (int i = 0; i < options->rename_axis_count; i++)
    if (tsr_word_is(word, length, options->rename_axes[2 * i])) {
      axis = options->rename_axes[2 * i + 1];
      axis_length = strlen(axis);
    }
  for (int i = 0; i < tsr_mesh_axis_count(options->mesh); i++)
    if (tsr_word_is(axis, axis_length, tsr_mesh_axis_at(options->mesh, i)->name)) {
      *out = tsr_mesh_axis_at(options->mesh, i)->size;
      return true;
    }
  for (size_t i = 0; i < sizeof usual_axes / sizeof *usual_axes; i++)
    if (tsr_word_is(word, length, usual_axes[i])) {
      *out = 1;
      return true;
    }
  return false;
}

static tsr_status unknown_fact(const tsr_rules_options *options, const char *name) {
  tsr_suggestion near = tsr_suggestion_for(name);
  for (int i = 0; i < KNOWN_COUNT; i++) {
    if (!strcmp(known_facts[i].name, name))
      return tsr_fail(UNKNOWN_FACT, "fact \"%s\" is missing; its name in config.json is %s", name,
                      known_facts[i].keys[0]);
    tsr_suggestion_offer(&near, known_facts[i].name);
  }
  for (size_t i = 0; i < sizeof usual_axes / sizeof *usual_axes; i++)
    if (!strcmp(usual_axes[i], name))
      return tsr_fail(UNKNOWN_FACT, "the size of axis \"%s\" is unknown without a mesh", name);
  for (int64_t i = 0; i < options->fact_count; i++)
    tsr_suggestion_offer(&near, options->facts[i].name);
  return tsr_fail(UNKNOWN_FACT, "fact \"%s\" is unknown" TSR_DID_YOU_MEAN, name,
                  TSR_SUGGESTED(near));
}

static tsr_status find_fact(const evaluator *e, const char *word, size_t length, int64_t *out) {
  *out = 1;
  if (!e->options) return NULL;
  if (find_given(e->options, word, length, out) || find_axis(e->options, word, length, out))
    return NULL;
  char *name = strndup(word, length);
  if (!name) return tsr_fail(NO_MEMORY, "a fact");
  tsr_status status = unknown_fact(e->options, name);
  free(name);
  return status;
}

// ---- evaluation ----

static tsr_status read_sum(evaluator *e, int64_t *out);
static tsr_status read_deeper(evaluator *e, int64_t *out);

// False during a syntax check.
static bool has_facts(const evaluator *e) { return e->options != NULL; }

static tsr_status overflow(void) { return tsr_fail(OVERFLOW, "a value beyond 64 bits"); }

static tsr_status divide(int64_t a, int64_t b, bool exact, int64_t *out) {
  if (b == 0) return tsr_fail(DIVISION_BY_ZERO, "%lld / 0", (long long)a);
  if (b == -1) return __builtin_sub_overflow((int64_t)0, a, out) ? overflow() : NULL;
  if (exact && a % b != 0)
    return tsr_fail(INDIVISIBLE, "%lld / %lld leaves a remainder", (long long)a, (long long)b);
  *out = a / b + (!exact && a % b != 0 && (a < 0) == (b < 0));
  return NULL;
}

static tsr_status read_call(evaluator *e, const char *word, size_t length, int64_t *out) {
  int64_t a = 0, b = 0;
  TSR_TRY(tsr_cursor_expect(&e->cursor, '('));
  TSR_TRY(read_sum(e, &a));
  TSR_TRY(tsr_cursor_expect(&e->cursor, ','));
  TSR_TRY(read_sum(e, &b));
  TSR_TRY(tsr_cursor_expect(&e->cursor, ')'));
  if (tsr_word_is(word, length, "min"))
    *out = a < b ? a : b;
  else if (tsr_word_is(word, length, "max"))
    *out = a > b ? a : b;
  else if (tsr_word_is(word, length, "ceil_div"))
    return has_facts(e) ? divide(a, b, false, out) : NULL;
  else
    return tsr_fail(SYNTAX, "there is no function %.*s, only min, max and ceil_div", (int)length,
                    word);
  return NULL;
}

static tsr_status read_factor(evaluator *e, int64_t *out) {
  tsr_cursor *cursor = &e->cursor;
  const char next = tsr_cursor_peek(cursor);
  if (next >= '0' && next <= '9') return tsr_cursor_int(cursor, out);
  if (tsr_cursor_take(cursor, '-')) {
    TSR_TRY(read_deeper(e, out));
    return __builtin_sub_overflow((int64_t)0, *out, out) ? overflow() : NULL;
  }
  if (tsr_cursor_take(cursor, '(')) {
    TSR_TRY(read_sum(e, out));
    return tsr_cursor_expect(cursor, ')');
  }
  size_t length = 0;
  const char *word = tsr_cursor_word(cursor, &length);
  if (!length) return tsr_cursor_expected(cursor, "a number or a fact");
  if (tsr_cursor_peek(cursor) == '(') return read_call(e, word, length, out);
  return find_fact(e, word, length, out);
}

static tsr_status read_deeper(evaluator *e, int64_t *out) {
  if (++e->depth > MOST_DEPTH) return tsr_fail(TOO_LARGE, "an expression too deep");
  TSR_TRY(read_factor(e, out));
  e->depth--;
  return NULL;
}

static tsr_status read_product(evaluator *e, int64_t *out) {
  TSR_TRY(read_deeper(e, out));
  for (;;) {
    int64_t right = 0;
    if (tsr_cursor_take(&e->cursor, '*')) {
      TSR_TRY(read_deeper(e, &right));
      if (__builtin_mul_overflow(*out, right, out)) return overflow();
    } else if (tsr_cursor_take(&e->cursor, '/')) {
      TSR_TRY(read_deeper(e, &right));
      if (has_facts(e)) TSR_TRY(divide(*out, right, true, out));
    } else {
      return NULL;
    }
  }
}

static tsr_status read_sum(evaluator *e, int64_t *out) {
  TSR_TRY(read_product(e, out));
  for (;;) {
    int64_t right = 0;
    if (tsr_cursor_take(&e->cursor, '+')) {
      TSR_TRY(read_product(e, &right));
      if (__builtin_add_overflow(*out, right, out)) return overflow();
    } else if (tsr_cursor_take(&e->cursor, '-')) {
      TSR_TRY(read_product(e, &right));
      if (__builtin_sub_overflow(*out, right, out)) return overflow();
    } else {
      return NULL;
    }
  }
}

tsr_status tsr_facts_evaluate(const char *text, const tsr_rules_options *options,
                              int64_t *out_value) {
  evaluator e = {.cursor = TSR_CURSOR("expression", text), .options = options};
  TSR_TRY(read_sum(&e, out_value));
  return tsr_cursor_end(&e.cursor);
}

tsr_status tsr_facts_check(const char *text) {
  int64_t value = 0;
  return tsr_facts_evaluate(text, NULL, &value);
}

// ---- expansion ----

// Expands one expression, without its braces.
static tsr_status expand_one(const char *start, const char *end, const tsr_rules_options *options,
                             tsr_text *out, tsr_status *out_missing) {
  char *text = strndup(start, (size_t)(end - start));
  int64_t value = 0;
  if (!text) return tsr_fail(NO_MEMORY, "an expression");
  tsr_status status = tsr_facts_evaluate(text, options, &value);
  if (!status) tsr_text_add_int(out, value);
  if (tsr_status_cause(status) == TSR_CAUSE_UNKNOWN_FACT && !*out_missing) {
    *out_missing = tsr_note(status, "in {%s}", text);
    status = NULL;
  }
  if (status) status = tsr_note(status, "in {%s}", text);
  free(text);
  return status;
}

// Copies a character, or a whole quoted name. Returns where it ended.
static const char *copy_plain(const char *at, tsr_text *out) {
  const char *start = at++;
  if (*start == '"') {
    while (*at && *at != '"') at += *at == '\\' && at[1] ? 2 : 1;
    at += *at == '"';
  }
  tsr_text_add_bytes(out, start, (size_t)(at - start));
  return at;
}

static tsr_status expand(const char *text, const tsr_rules_options *options, tsr_text *out,
                         tsr_status *out_missing) {
  for (const char *at = text; *at;) {
    if (*at != '{') {
      at = copy_plain(at, out);
      continue;
    }
    const char *end = strchr(at, '}');
    if (!end) return tsr_fail(SYNTAX, "a { without a } in \"%s\"", text);
    TSR_TRY(expand_one(at + 1, end, options, out, out_missing));
    if (*out_missing) return NULL;
    at = end + 1;
  }
  return tsr_text_check(out);
}

// Replaces every expression by 1, for specs whose numbers do not matter.
static void expand_to_ones(const char *text, tsr_text *out) {
  for (const char *at = text; *at;) {
    const char *end = *at == '{' ? strchr(at, '}') : NULL;
    if (end) tsr_text_add_char(out, '1');
    at = end ? end + 1 : copy_plain(at, out);
  }
}

tsr_status tsr_facts_expand(const char *text, const tsr_rules_options *options, tsr_text *out,
                            tsr_status *out_missing) {
  *out_missing = NULL;
  TSR_TRY(expand(text, options, out, out_missing));
  if (!*out_missing) return NULL;
  tsr_text_clear(out);
  expand_to_ones(text, out);
  return tsr_text_check(out);
}

// ---- config.json ----

static bool is_true(const tsr_json *config, const char *key) {
  const tsr_json *value = tsr_json_find(config, key);
  bool is = false;
  if (!value || tsr_json_kind_of(value) != TSR_JSON_BOOL) return false;
  tsr_status_free(tsr_json_get_bool(value, key, &is));
  return is;
}

// Falcon: with multi_query all heads share one key and value head, whatever num_kv_heads says,
// except in the new architecture.
static bool is_multi_query(const tsr_json *config) {
  return is_true(config, "multi_query") && !is_true(config, "new_decoder_architecture");
}

// The number that a config has for a fact; null means absent.
static tsr_status read_config(const tsr_json *config, const tsr_preset_fact *fact, int64_t *out,
                              bool *out_found) {
  if (!strcmp(fact->name, "kv_heads") && is_multi_query(config)) {
    *out = 1;
    *out_found = true;
    return NULL;
  }
  for (const char *const *key = fact->keys; *key; key++) {
    const tsr_json *value = tsr_json_find(config, *key);
    if (!value || tsr_json_kind_of(value) != TSR_JSON_NUMBER) continue;
    *out_found = true;
    return tsr_json_get_int(value, *key, out);
  }
  *out_found = false;
  return NULL;
}

static const tsr_fact *find_in(const tsr_facts *facts, const char *name) {
  for (int i = 0; i < facts->count; i++)
    if (!strcmp(facts->items[i].name, name)) return &facts->items[i];
  return NULL;
}

static const char *known_name(const char *name) {
  for (int i = 0; i < KNOWN_COUNT; i++)
    if (!strcmp(known_facts[i].name, name)) return known_facts[i].name;
  return NULL;
}

static void derive(tsr_facts *facts, const char *name, int64_t value) {
  if (!find_in(facts, name)) facts->items[facts->count++] = (tsr_fact){known_name(name), value};
}

// Derives facts that configs leave out.
static void derive_facts(tsr_facts *facts) {
  const tsr_fact *heads = find_in(facts, "heads"), *hidden = find_in(facts, "hidden");
  int64_t four = 0;
  if (heads) derive(facts, "kv_heads", heads->value);
  if (heads && hidden && heads->value > 0 && hidden->value % heads->value == 0)
    derive(facts, "head_dim", hidden->value / heads->value);
  if (hidden && !__builtin_mul_overflow(hidden->value, 4, &four))
    derive(facts, "intermediate", four);
}

tsr_status tsr_facts_from_config(const tsr_json *config, tsr_facts *out_facts) {
  const char *key = NULL;
  const tsr_json *inner = tsr_config_nested(config, &key);
  if (inner) config = inner;
  if (!config || tsr_json_kind_of(config) != TSR_JSON_OBJECT)
    return tsr_fail(JSON_KIND, "a model's config must be an object");
  tsr_facts facts = {0, calloc(KNOWN_COUNT, sizeof *facts.items)};
  if (!facts.items) return tsr_fail(NO_MEMORY, "facts");
  for (int i = 0; i < KNOWN_COUNT; i++) {
    int64_t value = 0;
    bool found = false;
    tsr_status status = read_config(config, &known_facts[i], &value, &found);
    if (status) {
      tsr_facts_deinit(&facts);
      return status;
    }
    if (found) facts.items[facts.count++] = (tsr_fact){known_facts[i].name, value};
  }
  derive_facts(&facts);
  *out_facts = facts;
  return NULL;
}

void tsr_facts_deinit(tsr_facts *facts) {
  if (!facts) return;
  free(facts->items);
  *facts = (tsr_facts){0, NULL};
}
