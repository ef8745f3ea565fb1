// Ops, blocks and regions of MLIR text, and going on after a failure.
#include <string.h>

#include "base/status_internal.h"
#include "base/suggest.h"
#include "syntax/op_forms.h"
#include "syntax/op_reader.h"

// Where the stacks of a reader stand, to be cut back to.
typedef struct stack_marks {
  int64_t refs, names, attrs, regions, arguments, values, entries;
} stack_marks;

static stack_marks mark_stacks(const tsr_op_reader *reader) {
  return (stack_marks){reader->refs.count,    reader->names.count,     reader->attrs.count,
                       reader->regions.count, reader->arguments.count, reader->values.count,
                       reader->scope.count};
}

static void cut_stacks(tsr_op_reader *reader, const stack_marks *marks) {
  reader->refs.count = marks->refs;
  reader->names.count = marks->names;
  reader->attrs.count = marks->attrs;
  reader->regions.count = marks->regions;
  reader->arguments.count = marks->arguments;
  reader->values.count = marks->values;
}

// ---- defining values ----

static tsr_status fulfil(tsr_op_reader *reader, tsr_scope_entry *entry, tsr_value *values,
                         int count) {
  for (tsr_forward_use *use = entry->forward; use; use = use->next) {
    const int64_t number = use->number < 0 ? 0 : use->number;
    if (number >= count || values[number].type != use->value.type)
      return tsr_reader_fail(reader->in, use->at, SYNTAX,
                             "value \"%%%.*s\" is used before its definition with another type",
                             (int)entry->length, entry->name);
    tsr_value_replace(&use->value, &values[number]);
  }
  entry->forward = NULL;
  return NULL;
}

// Counting lines back is slow, so only failures that are shown name the first definition.
static tsr_status fail_redefined(tsr_op_reader *reader, const tsr_value_ref *name,
                                 const tsr_scope_entry *entry) {
  uint32_t line = 0, column = 0;
  if (reader->in->issues.count < TSR_ISSUES_SHOWN)
    tsr_reader_place(reader->in, entry->at, &line, &column);
  return tsr_reader_fail(reader->in, name->at, SYNTAX,
                         "value \"%.*s\" is already defined at line %u", (int)name->length + 1,
                         name->at, line);
}

// `values` NULL: they are lost.
static tsr_status define_value(tsr_op_reader *reader, const tsr_value_ref *name, tsr_value *values,
                               int count) {
  tsr_scope_entry *entry = tsr_value_scope_find(&reader->scope, name->name, name->length);
  if (entry && entry->state == TSR_SCOPE_DEFINED && values)
    return fail_redefined(reader, name, entry);
  if (entry && entry->state == TSR_SCOPE_FORWARD && values)
    TSR_TRY(fulfil(reader, entry, values, count));
  if (!entry) entry = tsr_value_scope_add(&reader->scope, name->name, name->length);
  TSR_NEED(entry);
  if (!values && entry->state == TSR_SCOPE_DEFINED && entry->values) return NULL;
  entry->state = values ? TSR_SCOPE_DEFINED : TSR_SCOPE_LOST;
  entry->values = values;
  entry->count = count;
  entry->at = name->at;
  return NULL;
}

// Gives the results of an op their names; `number` of a name is how many results it has.
static tsr_status define_results(tsr_op_reader *reader, int64_t first_name, tsr_op *op) {
  int64_t next = 0;
  for (int64_t i = first_name; i < reader->names.count; i++) {
    const tsr_value_ref name = reader->names.items[i];
    TSR_TRY(define_value(reader, &name, op ? op->results + next : NULL, (int)name.number));
    next += name.number;
  }
  return NULL;
}

// ---- blocks and regions ----

tsr_status tsr_read_argument(tsr_op_reader *reader, bool with_attrs) {
  TSR_NEED(TSR_DRAFT_ROOM(reader->arguments));
  tsr_argument_draft argument = {.type = NULL};
  TSR_TRY(tsr_read_ref(reader, &argument.ref));
  TSR_TRY(tsr_expect_sign(reader->in, ":"));
  TSR_TRY(tsr_read_type(reader->in, &argument.type));
  if (with_attrs && tsr_at_sign(reader->in, "{"))
    TSR_TRY(tsr_read_attr_dict(reader->in, &argument.attrs));
  TSR_TRY(tsr_read_optional_location(reader->in, &argument.location));
  reader->arguments.items[reader->arguments.count++] = argument;
  return NULL;
}

// A block whose arguments lie on the stack from `first` on. Linking it here keeps it cheap to have
// many blocks.
static tsr_status add_block(tsr_op_reader *reader, tsr_region *region, tsr_ir_block **last,
                            int64_t first) {
  tsr_region lone = {.first = NULL};
  tsr_ir_block *block = tsr_block_append(reader->in->ir, &lone);
  TSR_NEED(block);
  if (*last)
    (*last)->next = block;
  else
    region->first = block;
  block->region = NULL;
  region->block_count++;
  *last = block;
  for (int64_t i = first; i < reader->arguments.count; i++) {
    const tsr_argument_draft *argument = &reader->arguments.items[i];
    tsr_value *value = tsr_block_add_arg(reader->in->ir, block, argument->type, argument->location);
    TSR_NEED(value);
    if (argument->ref.length) TSR_TRY(define_value(reader, &argument->ref, value, 1));
  }
  return NULL;
}

// ^bb0(%x: T, %y: U):
static tsr_status read_label(tsr_op_reader *reader) {
  tsr_next(reader->in);
  if (tsr_take_sign(reader->in, "(") && !tsr_take_sign(reader->in, ")")) {
    do TSR_TRY(tsr_read_argument(reader, false));
    while (tsr_take_sign(reader->in, ","));
    TSR_TRY(tsr_expect_sign(reader->in, ")"));
  }
  return tsr_expect_sign(reader->in, ":");
}

static tsr_status read_blocks(tsr_op_reader *reader, tsr_region *region, int64_t first_argument) {
  tsr_ir_block *last = NULL;
  const bool has_arguments = reader->arguments.count > first_argument;
  if (has_arguments ||
      !(tsr_at_kind(reader->in, TSR_TOKEN_BLOCK) || tsr_at_sign(reader->in, "}"))) {
    TSR_TRY(add_block(reader, region, &last, first_argument));
    TSR_TRY(tsr_read_block_ops(reader, last));
  }
  while (tsr_at_kind(reader->in, TSR_TOKEN_BLOCK)) {
    const int64_t first = reader->arguments.count;
    TSR_TRY(read_label(reader));
    TSR_TRY(add_block(reader, region, &last, first));
    reader->arguments.count = first;
    TSR_TRY(tsr_read_block_ops(reader, last));
  }
  return tsr_expect_sign(reader->in, "}");
}

void tsr_read_check_forward(tsr_op_reader *reader, int64_t first) {
  for (int64_t i = first; i < reader->scope.count; i++) {
    const tsr_scope_entry *entry = &reader->scope.entries[i];
    if (entry->state != TSR_SCOPE_FORWARD) continue;
    tsr_issues_add(
        &reader->in->issues, reader->in->name, 0, 0,
        tsr_reader_fail(reader->in, entry->forward->at, SYNTAX, "value \"%%%.*s\" is not defined",
                        (int)entry->length, entry->name));
  }
}

static const char *dialect_inside(const tsr_op_info *info) {
  return info->id == TSR_OP_FUNC ? "func" : info->id == TSR_OP_MODULE ? "builtin" : "";
}

tsr_status tsr_draft_region(tsr_op_reader *reader, const tsr_draft *draft, int64_t first_argument) {
  const char *dialect = reader->dialect;
  const bool graph = reader->graph;
  const int64_t floor = reader->scope.floor, first = reader->scope.count;
  TSR_TRY(tsr_expect_sign(reader->in, "{"));
  TSR_TRY(tsr_reader_enter(reader->in));
  reader->dialect = dialect_inside(draft->info);
  reader->graph = draft->info->id == TSR_OP_MODULE || draft->info->id == TSR_OP_UNKNOWN;
  if (draft->info->traits & TSR_TRAIT_ISOLATED) reader->scope.floor = first;
  tsr_region region = {.first = NULL};
  tsr_status status = read_blocks(reader, &region, first_argument);
  if (!status) tsr_read_check_forward(reader, first);
  tsr_value_scope_cut(&reader->scope, first);
  reader->scope.floor = floor;
  reader->dialect = dialect;
  reader->graph = graph;
  tsr_reader_leave(reader->in);
  TSR_TRY(status);
  tsr_region *kept = NULL;
  TSR_TRY(tsr_draft_add_region(reader, &kept));
  *kept = region;
  return NULL;
}

// ---- ops ----

// %a, %b:2 =
static tsr_status read_result_names(tsr_op_reader *reader) {
  do {
    TSR_NEED(TSR_DRAFT_ROOM(reader->names));
    tsr_value_ref name;
    TSR_TRY(tsr_read_ref(reader, &name));
    if (name.number >= 0)
      return tsr_reader_fail(reader->in, name.at, SYNTAX,
                             "a definition has a count such as %%x:2, not a number such as %%x#1");
    name.number = 1;
    if (tsr_take_sign(reader->in, ":")) {
      const char *at = reader->in->token.start;
      TSR_TRY(tsr_read_int(reader->in, "a count of results", &name.number));
      if (name.number < 1 || name.number > INT32_MAX)
        return tsr_reader_fail(reader->in, at, SYNTAX, "%lld results, wanted 1 or more",
                               (long long)name.number);
    }
    reader->names.items[reader->names.count++] = name;
  } while (tsr_take_sign(reader->in, ","));
  return tsr_expect_sign(reader->in, "=");
}

static tsr_status check_result_count(const tsr_op_reader *reader, const tsr_draft *draft,
                                     int64_t first_name) {
  if (reader->names.count == first_name) return NULL;
  int64_t named = 0;
  for (int64_t i = first_name; i < reader->names.count; i++) named += reader->names.items[i].number;
  if (named == draft->result_count) return NULL;
  return tsr_reader_fail(reader->in, reader->names.items[first_name].at, SYNTAX,
                         "op \"%s\" has %d result%s, but %lld %s named", draft->name,
                         draft->result_count, draft->result_count == 1 ? "" : "s", (long long)named,
                         named == 1 ? "is" : "are");
}

tsr_status tsr_draft_regions(tsr_op_reader *reader, tsr_draft *draft) {
  if (!tsr_take_sign(reader->in, "(")) return NULL;
  do TSR_TRY(tsr_draft_region(reader, draft, reader->arguments.count));
  while (tsr_take_sign(reader->in, ","));
  return tsr_expect_sign(reader->in, ")");
}

// "name"(%x, %y) <{...}> ({...}) {...} : (T, U) -> V
static tsr_status read_generic_op(tsr_op_reader *reader, tsr_draft *draft) {
  tsr_reader *in = reader->in;
  const char *name = NULL;
  size_t length = 0;
  TSR_TRY(tsr_read_string(in, "the name of an op", &name, &length));
  draft->info = tsr_op_find(name, length);
  draft->name = tsr_ir_name(in->ir, name, length);
  TSR_NEED(draft->name);
  TSR_TRY(tsr_expect_sign(in, "("));
  TSR_TRY(tsr_draft_operands(reader, draft));
  TSR_TRY(tsr_expect_sign(in, ")"));
  if (tsr_at_sign(in, "["))
    return tsr_reader_fail(in, in->token.start, UNSUPPORTED,
                           "op \"%s\" has successors; branches between blocks are not supported",
                           draft->name);
  if (tsr_take_sign(in, "<")) {
    TSR_TRY(tsr_draft_attr_dict(reader, draft));
    TSR_TRY(tsr_expect_sign(in, ">"));
  }
  TSR_TRY(tsr_draft_regions(reader, draft));
  TSR_TRY(tsr_draft_attr_dict(reader, draft));
  TSR_TRY(tsr_expect_sign(in, ":"));
  return tsr_draft_function_type(reader, draft);
}

static tsr_status fail_unknown_op(const tsr_op_reader *reader, const tsr_token *token) {
  enum { LONGEST = 64 };
  char name[LONGEST] = "";
  if (tsr_token_length(token) < LONGEST) memcpy(name, token->start, tsr_token_length(token));
  tsr_suggestion near = tsr_suggestion_for(name);
  for (int id = TSR_OP_UNKNOWN + 1; id < TSR_OP_COUNT; id++)
    tsr_suggestion_offer(&near, tsr_op_info_of((tsr_op_id)id)->name);
  return tsr_reader_fail(reader->in, token->start, UNKNOWN_OP,
                         "op \"%.*s\" is unknown" TSR_DID_YOU_MEAN, (int)tsr_token_length(token),
                         token->start, TSR_SUGGESTED(near));
}

// The row of an op written without quotes. Ops of the default dialect need no prefix.
static const tsr_op_info *find_op(const tsr_op_reader *reader, const tsr_token *token) {
  enum { LONGEST = 64 };
  const size_t length = tsr_token_length(token);
  const tsr_op_info *info = tsr_op_find(token->start, length);
  const size_t prefix = strlen(reader->dialect);
  if (info->id != TSR_OP_UNKNOWN || !prefix || prefix + length + 1 > LONGEST ||
      memchr(token->start, '.', length))
    return info;
  char name[LONGEST];
  memcpy(name, reader->dialect, prefix);
  name[prefix] = '.';
  memcpy(name + prefix + 1, token->start, length);
  return tsr_op_find(name, prefix + 1 + length);
}

static tsr_status read_short_op(tsr_op_reader *reader, tsr_draft *draft) {
  const tsr_token token = reader->in->token;
  draft->info = find_op(reader, &token);
  if (draft->info->id == TSR_OP_UNKNOWN) return fail_unknown_op(reader, &token);
  draft->name = draft->info->name;
  tsr_next(reader->in);
  return tsr_op_form_read(reader, draft);
}

static tsr_status read_draft(tsr_op_reader *reader, tsr_draft *draft) {
  tsr_reader *in = reader->in;
  draft->at = in->token.start;
  tsr_reader_place(in, draft->at, &draft->line, &draft->column);
  if (tsr_at_kind(in, TSR_TOKEN_STRING))
    TSR_TRY(read_generic_op(reader, draft));
  else if (tsr_at_kind(in, TSR_TOKEN_WORD))
    TSR_TRY(read_short_op(reader, draft));
  else
    return tsr_reader_expected(in, "an op");
  if (draft->location) return NULL;
  return tsr_read_optional_location(in, &draft->location);
}

static tsr_status read_op(tsr_op_reader *reader, tsr_ir_block *block) {
  const stack_marks marks = mark_stacks(reader);
  tsr_draft draft = {.info = NULL,
                     .first_ref = marks.refs,
                     .first_attr = marks.attrs,
                     .first_region = marks.regions};
  if (tsr_at_kind(reader->in, TSR_TOKEN_VALUE)) TSR_TRY(read_result_names(reader));
  TSR_TRY(read_draft(reader, &draft));
  TSR_TRY(check_result_count(reader, &draft, marks.names));
  tsr_op *op = NULL;
  TSR_TRY(tsr_draft_finish(reader, &draft, &op));
  TSR_TRY(define_results(reader, marks.names, op));
  if (op) tsr_op_append(block, op);
  return NULL;
}

// ---- going on after a failure ----

static bool starts_line(const tsr_reader *in, const char *at) {
  while (at > in->start && (at[-1] == ' ' || at[-1] == '\t')) at--;
  return at == in->start || at[-1] == '\n' || at[-1] == '\r';
}

// Whether an op, or the end of its block, may begin at the current token.
static bool may_start_op(const tsr_op_reader *reader) {
  const tsr_token *token = &reader->in->token;
  if (!starts_line(reader->in, token->start)) return false;
  if (token->kind == TSR_TOKEN_WORD)
    return find_op(reader, token)->id != TSR_OP_UNKNOWN ||
           memchr(token->start, '.', tsr_token_length(token));
  return token->kind == TSR_TOKEN_VALUE || token->kind == TSR_TOKEN_STRING ||
         token->kind == TSR_TOKEN_BLOCK;
}

tsr_status tsr_read_recover(tsr_op_reader *reader, const char *start, tsr_status failure) {
  tsr_reader *in = reader->in;
  const tsr_cause cause = tsr_status_cause(failure);
  if (cause == TSR_CAUSE_NO_MEMORY || cause == TSR_CAUSE_TOO_LARGE) return failure;
  tsr_issues_add(&in->issues, in->name, 0, 0, failure);
  const char *failed_at = in->token.start;
  int64_t nesting = 0;
  for (tsr_reader_seek(in, start); !tsr_at_kind(in, TSR_TOKEN_END); tsr_next(in)) {
    const bool past = in->token.start > start && in->token.start >= failed_at;
    if (past && nesting <= 0 && may_start_op(reader)) return NULL;
    if (!tsr_at_kind(in, TSR_TOKEN_SIGN)) continue;
    const char sign = *in->token.start;
    const bool single = tsr_token_length(&in->token) == 1;
    if (single && (sign == '(' || sign == '{' || sign == '[')) nesting++;
    if (single && (sign == ')' || sign == '}' || sign == ']')) nesting--;
    if (single && sign == '}' && nesting < 0) return NULL;
  }
  return NULL;
}

// The names before "=" of an op that failed are lost.
static tsr_status lose_results(tsr_op_reader *reader, int64_t first_name) {
  for (int64_t i = first_name; i < reader->names.count; i++) {
    const tsr_value_ref name = reader->names.items[i];
    TSR_TRY(define_value(reader, &name, NULL, 0));
  }
  return NULL;
}

// What ends a list of ops: the end of the region, the next block, or what only stands at the top of
// a program.
static bool at_block_end(const tsr_reader *in) {
  static const bool ends[] = {[TSR_TOKEN_END] = true,
                              [TSR_TOKEN_BLOCK] = true,
                              [TSR_TOKEN_HASH] = true,
                              [TSR_TOKEN_BANG] = true,
                              [TSR_TOKEN_WRONG] = false};
  return ends[in->token.kind] || tsr_at_sign(in, "}") || tsr_at_sign(in, "{-#");
}

tsr_status tsr_read_block_ops(tsr_op_reader *reader, tsr_ir_block *block) {
  while (!at_block_end(reader->in)) {
    const char *start = reader->in->token.start;
    const stack_marks marks = mark_stacks(reader);
    const int depth = reader->in->depth;
    tsr_status status = read_op(reader, block);
    if (status) {
      reader->in->depth = depth;
      TSR_TRY(tsr_read_recover(reader, start, status));
      TSR_TRY(lose_results(reader, marks.names));
    }
    cut_stacks(reader, &marks);
  }
  return NULL;
}
