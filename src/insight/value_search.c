// Which value of the given program a name means.
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/text_internal.h"
#include "insight/insight.h"
#include "program/program_internal.h"
#include "propagate/edits.h"
#include "syntax/ssa_names.h"

// ---- values by number ----

typedef struct value_search {
  const tsr_propagation *p;
  const char *name;
  tsr_text text;  // of the value that is looked at
  const tsr_value *outer, *inner, *last_inner;
  const tsr_op *inner_op;  // that the inner ones are in
  bool several, failed;
  const tsr_op *func;
  char near[64];  // the nearest name so far
  size_t distance;
} value_search;

// Keeps the nearest name: its text lives only for a moment.
static void offer(value_search *s, const char *known) {
  tsr_suggestion one = tsr_suggestion_for(s->name);
  tsr_suggestion_offer(&one, known);
  if (!one.best || strlen(known) >= sizeof s->near || one.distance >= s->distance) return;
  s->distance = one.distance;
  memcpy(s->near, known, strlen(known) + 1);
}

static void meet_value(value_search *s, const tsr_value *value, const tsr_op *around) {
  tsr_text_clear(&s->text);
  tsr_ssa_print(value, &s->text);
  s->failed |= s->text.failed;  // clearing a text forgets it
  const char *text = tsr_text_string(&s->text);
  if (strcmp(text, s->name) != 0) {
    // "%5" means the first of the results "%5#0" as well.
    const size_t length = strlen(s->name);
    if (strncmp(text, s->name, length) != 0 || strcmp(text + length, "#0") != 0) {
      offer(s, text);
      return;
    }
  }
  if (around == s->func) {
    s->outer = value;
    return;
  }
  s->several |= s->inner && around != s->inner_op;
  if (!s->inner) s->inner = value;
  s->last_inner = value;
  s->inner_op = around;
}

static tsr_status meet_op(tsr_op *op, void *context) {
  value_search *s = context;
  for (int i = 0; i < op->result_count && op != s->func; i++)
    meet_value(s, tsr_op_result(op, i), tsr_op_parent(op));
  for (int i = 0; i < op->region_count; i++)
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      for (int a = 0; a < block->arg_count; a++) meet_value(s, block->args[a], op);
  return NULL;
}

static tsr_status not_found(value_search *s) {
  const char *func = tsr_op_symbol(s->func);
  const bool near = s->near[0] != '\0';
  return tsr_fail(NOT_FOUND, "function @%s has no value \"%s\"%s%s%s", func ? func : "", s->name,
                  near ? "; did you mean \"" : "", near ? s->near : "", near ? "\"?" : "");
}

// Names repeat in regions side by side; then the op that they stand in is given too.
static tsr_status ambiguous(const value_search *s) {
  tsr_text first = TSR_TEXT_EMPTY, second = TSR_TEXT_EMPTY;
  const tsr_op *op =
      s->inner->def ? tsr_op_parent(s->inner->def) : tsr_block_parent(s->inner->block);
  if (op->result_count) tsr_ssa_print(tsr_op_result(op, 0), &first);
  if (s->inner_op->result_count) tsr_ssa_print(tsr_op_result(s->inner_op, 0), &second);
  tsr_status status = tsr_fail(
      BAD_ARGUMENT,
      "several regions have a value \"%s\"; expected the op around it too: \"%s/%s\" or \"%s/%s\"",
      s->name, tsr_text_string(&first), s->name, tsr_text_string(&second), s->name);
  tsr_text_deinit(&first);
  tsr_text_deinit(&second);
  return status;
}

static void trim_result_number(char *name) {
  char *hash = strchr(name, '#');
  if (hash) *hash = '\0';
}

// A value in the regions of `root`, a function or an op.
static tsr_status find_in(const tsr_propagation *p, const tsr_op *root, const char *name,
                          const tsr_value **out_value) {
  value_search s = {.p = p, .name = name, .func = root, .distance = SIZE_MAX};
  tsr_status status = tsr_op_walk((tsr_op *)(uintptr_t)root, meet_op, &s);
  tsr_text_deinit(&s.text);
  if (status) return status;
  if (s.failed) return tsr_fail(NO_MEMORY, "name of a value");
  if (s.outer) {
    *out_value = s.outer;
    return NULL;
  }
  if (!s.inner) {
    s.func = tsr_function_around(root);
    return not_found(&s);
  }
  if (s.several) return ambiguous(&s);
  *out_value = s.last_inner;
  return NULL;
}

// "%7/%3": a value in the regions of another one's op.
static tsr_status find_path(const tsr_propagation *p, const tsr_op *func, const char *name,
                            const tsr_value **out_value) {
  const tsr_op *root = func;
  const char *at = name;
  for (const char *slash; (slash = strchr(at, '/')); at = slash + 1) {
    char part[64];
    const tsr_value *value = NULL;
    const size_t length = (size_t)(slash - at);
    if (length >= sizeof part) return tsr_fail(BAD_ARGUMENT, "\"%s\" is no name of a value", name);
    memcpy(part, at, length);
    part[length] = '\0';
    trim_result_number(part);
    TSR_TRY(find_in(p, root, part, &value));
    if (!value || !value->def || !value->def->region_count)
      return tsr_fail(BAD_ARGUMENT, "%s of \"%s\" is no op with regions", part, name);
    root = value->def;
  }
  return find_in(p, root, at, out_value);
}

// ---- other names ----

// "out7" -> 7.
static bool is_result(const char *text, int *out_number) {
  char *end = NULL;
  if (strncmp(text, "out", 3) != 0 || !isdigit((unsigned char)text[3])) return false;
  const long number = strtol(text + 3, &end, 10);
  *out_number = number > INT32_MAX ? INT32_MAX : (int)number;
  return !*end;
}

// Arguments and results by their names in JAX; results also as out0.
static bool find_in_signature(const tsr_propagation *p, const tsr_op *func, const char *name,
                              tsr_named_value *out, tsr_suggestion *near) {
  const char *symbol = tsr_op_symbol(func);
  const int64_t index = symbol ? tsr_program_find_function(p->original, symbol) : -1;
  const tsr_type *type = tsr_func_type(func);
  const int results = type->count - type->input_count;
  const tsr_ir_block *body = tsr_func_body(func);
  int number = 0;
  if (is_result(name, &number) && number < results) {
    *out = (tsr_named_value){.func = func, .index = number};
    return true;
  }
  for (int i = 0; index >= 0 && body && i < type->input_count; i++) {
    tsr_program_value value = TSR_PROGRAM_VALUE;
    tsr_status_free(tsr_program_argument(p->original, index, i, &value));  // the index is right
    if (value.name) tsr_suggestion_offer(near, value.name);
    if (!value.name || !tsr_argument_matches(value.name, name)) continue;
    *out = (tsr_named_value){.value = body->args[i], .func = func, .index = i};
    return true;
  }
  for (int i = 0; index >= 0 && i < results; i++) {
    tsr_program_value value = TSR_PROGRAM_VALUE;
    tsr_status_free(tsr_program_result(p->original, index, i, &value));
    if (value.name) tsr_suggestion_offer(near, value.name);
    if (!value.name || strcmp(value.name, name) != 0) continue;
    *out = (tsr_named_value){.func = func, .index = i};
    return true;
  }
  return false;
}

typedef struct location_search {
  const char *name;
  size_t length;
  const tsr_op *first;
  int64_t count;
  tsr_text text;  // the first few
} location_search;

// The name of a location: of its callers and fused parts only the outermost counts.
static const tsr_attr *name_of_location(const tsr_attr *location) {
  if (!location || location->kind != TSR_ATTR_RECORD || location->id != TSR_RECORD_LOC_NAME)
    return NULL;
  return tsr_attr_field(location, TSR_LOC_NAME_NAME);
}

// Whether it is the whole name or ends it: "jvp()/dot_general" of "jit(f)/jvp()/dot_general".
static bool ends_name(const location_search *s, const tsr_attr *name) {
  if (!name || name->length < s->length) return false;
  const char *end = name->bytes + name->length - s->length;
  return !memcmp(end, s->name, s->length) && (end == name->bytes || end[-1] == '/');
}

enum { SHOWN_PLACES = 5 };

static tsr_status meet_location(tsr_op *op, void *context) {
  location_search *s = context;
  if (!op->result_count || !ends_name(s, name_of_location(op->location))) return NULL;
  if (!s->first) s->first = op;
  if (s->count++ >= SHOWN_PLACES) return NULL;
  if (s->count > 1) tsr_text_add(&s->text, ", ");
  tsr_ssa_print(tsr_op_result(op, 0), &s->text);
  return NULL;
}

static tsr_status find_location(const tsr_op *func, const char *name, const tsr_suggestion *near,
                                tsr_named_value *out) {
  location_search s = {.name = name, .length = strlen(name)};
  const char *symbol = tsr_op_symbol(func);
  tsr_status status = tsr_op_walk((tsr_op *)(uintptr_t)func, meet_location, &s);
  if (!status) status = tsr_text_check(&s.text);
  if (!status && !s.first)
    status =
        tsr_fail(NOT_FOUND,
                 "function @%s has no value, argument, result or location \"%s\"" TSR_DID_YOU_MEAN,
                 symbol ? symbol : "", name, TSR_SUGGESTED(*near));
  if (!status && s.count > 1)
    status = tsr_fail(BAD_ARGUMENT, "%" PRId64 " ops have the location \"%s\": %s%s", s.count, name,
                      tsr_text_string(&s.text), s.count > SHOWN_PLACES ? ", ..." : "");
  tsr_text_deinit(&s.text);
  if (!status) *out = (tsr_named_value){.value = tsr_op_result(s.first, 0), .func = func};
  return status;
}

// "@f:%3" -> the function and the rest; the entry without a function.
static tsr_status find_function(const tsr_propagation *p, const char **name,
                                const tsr_op **out_func) {
  const tsr_ir *ir = tsr_program_ir(p->given);
  const char *colon = **name == '@' ? strchr(*name, ':') : NULL;
  *out_func = tsr_ir_entry(ir);
  if (**name != '@') {
    if (*out_func && tsr_func_body(*out_func)) return NULL;
    return tsr_fail(NOT_FOUND, "the program has no function @main; expected @function:value");
  }
  if (!colon) return tsr_fail(BAD_ARGUMENT, "\"%s\" has no value; expected @function:value", *name);
  char *symbol = strndup(*name + 1, (size_t)(colon - *name - 1));
  if (!symbol) return tsr_fail(NO_MEMORY, "name of a value");
  tsr_op *func = tsr_ir_find_symbol(ir, symbol);
  const bool found = tsr_op_is(func, TSR_OP_FUNC) && tsr_func_body(func);
  tsr_suggestion near = tsr_suggestion_for(symbol);
  for (const tsr_op *op = ir->module->regions[0].first->first; op; op = op->next)
    if (op->info->id == TSR_OP_FUNC && tsr_op_symbol(op))
      tsr_suggestion_offer(&near, tsr_op_symbol(op));
  tsr_status status = found
                          ? NULL
                          : tsr_fail(NOT_FOUND, "the program has no function @%s" TSR_DID_YOU_MEAN,
                                     symbol, TSR_SUGGESTED(near));
  free(symbol);
  *out_func = func;
  *name = colon + 1;
  return status;
}

tsr_status tsr_value_find(const tsr_propagation *propagation, const char *name,
                          tsr_named_value *out_value) {
  const char *rest = name;
  const tsr_op *func = NULL;
  TSR_TRY(find_function(propagation, &rest, &func));
  tsr_suggestion near = tsr_suggestion_for(rest);
  *out_value = (tsr_named_value){.func = func};
  if (*rest == '%') return find_path(propagation, func, rest, &out_value->value);
  if (find_in_signature(propagation, func, rest, out_value, &near)) return NULL;
  const tsr_type *type = tsr_func_type(func);
  int number = 0;
  if (is_result(rest, &number))
    return tsr_fail(INDEX_OUT_OF_RANGE, "result %s of @%s, which has %d results, counted from out0",
                    rest, tsr_op_symbol(func), type->count - type->input_count);
  char numbered[32] = "%";
  if (*rest && strlen(rest) < sizeof numbered - 1 && !rest[strspn(rest, "0123456789#")])
    near.best = strcat(numbered, rest);
  return find_location(func, rest, &near, out_value);
}
