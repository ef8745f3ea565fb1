// Drafts of ops: what is gathered while an op is read, the values that its references mean, and the
// op that is made of it.
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/suggest.h"
#include "base/text_internal.h"
#include "syntax/op_reader.h"
#include "syntax/syntax.h"

// ---- names of values (syntax/value_scope.h) ----
//
// An open-addressed table over a stack of entries. Entries leave in the reverse order of their
// coming, so a slot can simply be emptied: no entry that is still there was put past it.

enum { FIRST_SLOTS = 256 };

static uint32_t hash_name(const char *name, size_t length) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)name[i]) * 16777619u;
  return hash;
}

void tsr_value_scope_deinit(tsr_value_scope *scope) {
  free(scope->entries);
  free(scope->slots);
  *scope = (tsr_value_scope){.entries = NULL};
}

tsr_scope_entry *tsr_value_scope_find(const tsr_value_scope *scope, const char *name,
                                      size_t length) {
  if (!scope->slots) return NULL;
  const uint32_t hash = hash_name(name, length);
  for (size_t slot = hash & scope->mask; scope->slots[slot]; slot = (slot + 1) & scope->mask) {
    const int64_t position = (int64_t)scope->slots[slot] - 1;
    tsr_scope_entry *entry = &scope->entries[position];
    if (entry->hash == hash && position >= scope->floor && entry->length == length &&
        !memcmp(entry->name, name, length))
      return entry;
  }
  return NULL;
}

static void place_entry(tsr_value_scope *scope, int64_t position) {
  size_t slot = scope->entries[position].hash & scope->mask;
  while (scope->slots[slot]) slot = (slot + 1) & scope->mask;
  scope->slots[slot] = (uint32_t)(position + 1);
}

// Twice the slots; the entries come in their order again.
static bool grow_slots(tsr_value_scope *scope) {
  const size_t wanted = scope->slots ? 2 * (scope->mask + 1) : FIRST_SLOTS;
  uint32_t *slots = calloc(wanted, sizeof *slots);
  if (!slots) return false;
  free(scope->slots);
  scope->slots = slots;
  scope->mask = wanted - 1;
  for (int64_t i = 0; i < scope->count; i++) place_entry(scope, i);
  return true;
}

tsr_scope_entry *tsr_value_scope_add(tsr_value_scope *scope, const char *name, size_t length) {
  if (scope->count >= INT32_MAX) return NULL;
  tsr_scope_entry *entries =
      tsr_grow(scope->entries, scope->count, &scope->capacity, sizeof *entries);
  if (!entries) return NULL;
  scope->entries = entries;
  if ((!scope->slots || (size_t)scope->count * 2 > scope->mask) && !grow_slots(scope)) return NULL;
  tsr_scope_entry *entry = &entries[scope->count];
  *entry = (tsr_scope_entry){.name = name, .length = length, .hash = hash_name(name, length)};
  place_entry(scope, scope->count++);
  return entry;
}

void tsr_value_scope_cut(tsr_value_scope *scope, int64_t count) {
  while (scope->count > count) {
    const int64_t position = --scope->count;
    size_t slot = scope->entries[position].hash & scope->mask;
    while (scope->slots[slot] != (uint32_t)(position + 1)) slot = (slot + 1) & scope->mask;
    scope->slots[slot] = 0;
  }
}

// ---- gathering ----

bool tsr_draft_room(void *items, int64_t count, int64_t *capacity, size_t size) {
  void *list = NULL;
  memcpy(&list, items, sizeof list);
  list = tsr_grow(list, count, capacity, size);
  if (!list) return false;
  memcpy(items, &list, sizeof list);
  return true;
}

tsr_status tsr_read_ref(tsr_op_reader *reader, tsr_value_ref *out_ref) {
  tsr_reader *in = reader->in;
  if (!tsr_at_kind(in, TSR_TOKEN_VALUE)) return tsr_reader_expected(in, "a value such as %0");
  const tsr_token token = in->token;
  *out_ref = (tsr_value_ref){.at = token.start,
                             .name = token.start + 1,
                             .length = tsr_token_length(&token) - 1,
                             .number = -1};
  tsr_next(in);
  if (!tsr_at_kind(in, TSR_TOKEN_HASH) || in->token.start != token.end) return NULL;
  int64_t number = 0;
  for (const char *at = in->token.start + 1; at < in->token.end; at++) {
    if (*at < '0' || *at > '9' || number > INT32_MAX)
      return tsr_reader_expected(in, "the number of a result, such as #0");
    number = 10 * number + (*at - '0');
  }
  out_ref->number = number;
  tsr_next(in);
  return NULL;
}

tsr_status tsr_draft_operand(tsr_op_reader *reader, tsr_draft *draft) {
  (void)draft;
  TSR_NEED(TSR_DRAFT_ROOM(reader->refs));
  TSR_TRY(tsr_read_ref(reader, &reader->refs.items[reader->refs.count]));
  reader->refs.count++;
  return NULL;
}

tsr_status tsr_draft_operands(tsr_op_reader *reader, tsr_draft *draft) {
  if (!tsr_at_kind(reader->in, TSR_TOKEN_VALUE)) return NULL;
  TSR_TRY(tsr_draft_operand(reader, draft));
  while (tsr_at_sign(reader->in, ",") && tsr_peek_next(reader->in).kind == TSR_TOKEN_VALUE) {
    tsr_next(reader->in);
    TSR_TRY(tsr_draft_operand(reader, draft));
  }
  return NULL;
}

static tsr_status push_attr(tsr_op_reader *reader, tsr_named_attr entry) {
  TSR_NEED(TSR_DRAFT_ROOM(reader->attrs));
  reader->attrs.items[reader->attrs.count++] = entry;
  return NULL;
}

tsr_status tsr_draft_attr(tsr_op_reader *reader, tsr_draft *draft, const char *name,
                          const tsr_attr *attr) {
  (void)draft;
  const char *kept = tsr_ir_name(reader->in->ir, name, strlen(name));
  TSR_NEED(kept);
  TSR_NEED(attr);
  return push_attr(reader, (tsr_named_attr){kept, attr});
}

// Attributes come from several places of an op; a name must come from one.
static tsr_status check_unique_attrs(tsr_op_reader *reader, const tsr_draft *draft,
                                     const char *at) {
  const int64_t count = reader->attrs.count - draft->first_attr;
  if (count < 2) return NULL;
  tsr_named_attr *attrs = reader->attrs.items + draft->first_attr;
  qsort(attrs, (size_t)count, sizeof *attrs, tsr_named_attr_order);
  for (int64_t i = 1; i < count; i++)
    if (attrs[i].name == attrs[i - 1].name)
      return tsr_reader_fail(reader->in, at, SYNTAX, "attribute \"%s\" is given twice",
                             attrs[i].name);
  return NULL;
}

tsr_status tsr_draft_attr_dict(tsr_op_reader *reader, tsr_draft *draft) {
  if (!tsr_at_sign(reader->in, "{")) return NULL;
  const char *at = reader->in->token.start;
  const bool alone = reader->attrs.count == draft->first_attr;
  const tsr_attr *dict = NULL;
  TSR_TRY(tsr_read_attr_dict(reader->in, &dict));
  for (int64_t i = 0; i < dict->count; i++) TSR_TRY(push_attr(reader, dict->entries[i]));
  return alone ? NULL : check_unique_attrs(reader, draft, at);
}

void tsr_draft_types_of(tsr_draft *draft, const tsr_type *function) {
  draft->operand_types = function->types;
  draft->operand_type_count = function->input_count;
  draft->result_types = function->types + function->input_count;
  draft->result_count = function->count - function->input_count;
}

tsr_status tsr_draft_function_type(tsr_op_reader *reader, tsr_draft *draft) {
  const tsr_type *type = NULL;
  TSR_TRY(tsr_read_function_type(reader->in, &type));
  tsr_draft_types_of(draft, type);
  return NULL;
}

tsr_status tsr_draft_add_region(tsr_op_reader *reader, tsr_region **out_region) {
  TSR_NEED(TSR_DRAFT_ROOM(reader->regions));
  *out_region = &reader->regions.items[reader->regions.count++];
  **out_region = (tsr_region){.first = NULL};
  return NULL;
}

// ---- values ----

enum { LONGEST_NAME = 64 };

// Copies a name with its "%"; false if it is too long for a suggestion.
static bool copy_name(const char *name, size_t length, char *out) {
  if (length + 2 > LONGEST_NAME) return false;
  out[0] = '%';
  memcpy(out + 1, name, length);
  out[length + 1] = '\0';
  return true;
}

static tsr_status fail_undefined(tsr_op_reader *reader, const tsr_value_ref *ref) {
  const tsr_value_scope *scope = &reader->scope;
  char wanted[LONGEST_NAME] = "", known[2][LONGEST_NAME];
  // Numbers are always near to other numbers, and nobody reads more suggestions than are shown.
  const bool suggests = (ref->name[0] < '0' || ref->name[0] > '9') &&
                        reader->in->issues.count < TSR_ISSUES_SHOWN &&
                        copy_name(ref->name, ref->length, wanted);
  tsr_suggestion near = tsr_suggestion_for(wanted);
  int spare = 0;
  for (int64_t i = scope->floor; i < scope->count && suggests; i++) {
    if (!copy_name(scope->entries[i].name, scope->entries[i].length, known[spare])) continue;
    tsr_suggestion_offer(&near, known[spare]);
    if (near.best == known[spare]) spare = !spare;
  }
  return tsr_reader_fail(reader->in, ref->at, SYNTAX,
                         "value \"%.*s\" is not defined" TSR_DID_YOU_MEAN, (int)ref->length + 1,
                         ref->at, TSR_SUGGESTED(near));
}

static tsr_status fail_type(tsr_op_reader *reader, const tsr_value_ref *ref,
                            const tsr_type *written, const tsr_type *found) {
  tsr_text types[2] = {TSR_TEXT_EMPTY, TSR_TEXT_EMPTY};
  tsr_type_print(found, &types[0]);
  tsr_type_print(written, &types[1]);
  tsr_status status = tsr_reader_fail(
      reader->in, ref->at, SYNTAX, "value \"%.*s\" has type %s, but is used as %s",
      (int)ref->length + 1, ref->at, tsr_text_string(&types[0]), tsr_text_string(&types[1]));
  tsr_text_deinit(&types[0]);
  tsr_text_deinit(&types[1]);
  return status;
}

// A value that is defined later in a region where that is allowed: a stand-in until then.
static tsr_status use_forward(tsr_op_reader *reader, const tsr_value_ref *ref, const tsr_type *type,
                              tsr_value **out_value) {
  tsr_scope_entry *entry = tsr_value_scope_find(&reader->scope, ref->name, ref->length);
  if (!entry) entry = tsr_value_scope_add(&reader->scope, ref->name, ref->length);
  TSR_NEED(entry);
  tsr_forward_use *use = tsr_arena_zeros(&reader->in->ir->arena, 1, sizeof *use);
  TSR_NEED(use);
  *use = (tsr_forward_use){
      .value = {.type = type}, .number = ref->number, .at = ref->at, .next = entry->forward};
  entry->state = TSR_SCOPE_FORWARD;
  entry->forward = use;
  *out_value = &use->value;
  return NULL;
}

// The value of a reference; NULL if it is lost.
static tsr_status find_value(tsr_op_reader *reader, const tsr_value_ref *ref, const tsr_type *type,
                             tsr_value **out_value) {
  const tsr_scope_entry *entry = tsr_value_scope_find(&reader->scope, ref->name, ref->length);
  *out_value = NULL;
  if (!entry || entry->state == TSR_SCOPE_FORWARD)
    return reader->graph ? use_forward(reader, ref, type, out_value) : fail_undefined(reader, ref);
  if (entry->state == TSR_SCOPE_LOST) return NULL;
  const int64_t number = ref->number < 0 ? 0 : ref->number;
  if (number >= entry->count)
    return tsr_reader_fail(reader->in, ref->at, SYNTAX,
                           "value \"%.*s\" has %d results, so #%lld is not one of them",
                           (int)ref->length + 1, ref->at, entry->count, (long long)number);
  tsr_value *value = &entry->values[number];
  if (value->type != type) return fail_type(reader, ref, type, value->type);
  *out_value = value;
  return NULL;
}

static tsr_status find_operands(tsr_op_reader *reader, const tsr_draft *draft, bool *out_lost) {
  const int64_t count = tsr_draft_operand_count(reader, draft);
  if (count > INT32_MAX || (draft->operand_types && count != draft->operand_type_count))
    return tsr_reader_fail(reader->in, draft->at, SYNTAX,
                           "op \"%s\" has %lld operands, but types for %d", draft->name,
                           (long long)count, draft->operand_type_count);
  for (int64_t i = 0; i < count; i++) {
    TSR_NEED(TSR_DRAFT_ROOM(reader->values));
    const tsr_value_ref ref = reader->refs.items[draft->first_ref + i];
    tsr_value *value = NULL;
    TSR_TRY(find_value(reader, &ref,
                       draft->operand_types ? draft->operand_types[i] : draft->operand_type,
                       &value));
    *out_lost |= !value;
    reader->values.items[reader->values.count++] = value;
  }
  return NULL;
}

// ---- making the op ----

static void move_regions(tsr_op_reader *reader, const tsr_draft *draft, tsr_op *op) {
  for (int i = 0; i < op->region_count; i++) {
    op->regions[i] = reader->regions.items[draft->first_region + i];
    op->regions[i].parent = op;
    for (tsr_ir_block *block = op->regions[i].first; block; block = block->next)
      block->region = &op->regions[i];
  }
}

static tsr_op *make_op(tsr_op_reader *reader, const tsr_draft *draft, int64_t first_value) {
  const tsr_type *const *types = draft->result_types ? draft->result_types : &draft->result_type;
  tsr_op *op = tsr_op_create(
      reader->in->ir,
      &(tsr_op_parts){.id = draft->info->id,
                      .name = draft->name,
                      .operand_count = (int)(reader->values.count - first_value),
                      .operands = reader->values.items ? reader->values.items + first_value : NULL,
                      .result_count = draft->result_count,
                      .result_types = types,
                      .region_count = (int)(reader->regions.count - draft->first_region),
                      .attr_count = (int)(reader->attrs.count - draft->first_attr),
                      .attrs = reader->attrs.items ? reader->attrs.items + draft->first_attr : NULL,
                      .location = draft->location});
  if (!op) return NULL;
  op->line = draft->line;
  op->column = draft->column;
  move_regions(reader, draft, op);
  return op;
}

tsr_status tsr_draft_finish(tsr_op_reader *reader, tsr_draft *draft, tsr_op **out_op) {
  const int64_t first_value = reader->values.count;
  bool lost = false;
  TSR_TRY(find_operands(reader, draft, &lost));
  *out_op = NULL;
  if (!lost) {
    *out_op = make_op(reader, draft, first_value);
    TSR_NEED(*out_op);
  }
  reader->values.count = first_value;
  return NULL;
}
