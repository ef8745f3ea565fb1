// Forms of ops that formats do not cover: modules, functions, constants, casts, barriers, returns.
#include <string.h>

#include "base/text_internal.h"
#include "syntax/op_forms.h"
#include "syntax/writer.h"

static tsr_status read_own_name(tsr_op_reader *reader, tsr_draft *draft) {
  const char *name = NULL;
  TSR_TRY(tsr_read_symbol_name(reader->in, &name));
  return tsr_draft_attr(reader, draft, "sym_name",
                        tsr_attr_string(reader->in->ir, name, strlen(name)));
}

static void print_own_name(tsr_op_printer *printer, const tsr_op *op) {
  const tsr_attr *name = tsr_op_attr(op, "sym_name");
  tsr_symbol_print(name->bytes, name->length, printer->out);
}

static tsr_status read_attributes(tsr_op_reader *reader, tsr_draft *draft) {
  if (!tsr_take_word(reader->in, "attributes")) return NULL;
  if (!tsr_at_sign(reader->in, "{")) return tsr_reader_expected(reader->in, "\"{\"");
  return tsr_draft_attr_dict(reader, draft);
}

// ---- modules: module @name attributes {...} {...} ----

tsr_status tsr_read_module_form(tsr_op_reader *reader, tsr_draft *draft) {
  if (tsr_at_kind(reader->in, TSR_TOKEN_SYMBOL)) TSR_TRY(read_own_name(reader, draft));
  TSR_TRY(read_attributes(reader, draft));
  TSR_TRY(tsr_draft_region(reader, draft, reader->arguments.count));
  tsr_region *region = &reader->regions.items[reader->regions.count - 1];
  if (!region->first) TSR_NEED(tsr_block_append(reader->in->ir, region));
  return NULL;
}

void tsr_print_module_form(tsr_op_printer *printer, const tsr_op *op) {
  if (tsr_op_attr(op, "sym_name")) {
    tsr_text_add_char(printer->out, ' ');
    print_own_name(printer, op);
  }
  tsr_print_attr_dict(printer, op, tsr_row_bit(op->info, "sym_name"), false, " attributes");
  tsr_text_add_char(printer->out, ' ');
  tsr_print_region(printer, &op->regions[0], false);
}

bool tsr_fits_module_form(const tsr_op *op) {
  return op->regions[0].block_count == 1 && !op->regions[0].first->arg_count;
}

// ---- functions: func.func private @name(%x: T {...} loc(...)) -> (U {...}) {...} ----

// %arg0: T {...} loc(...), or T {...} of a declaration.
static tsr_status read_func_argument(tsr_reader *in, void *context) {
  tsr_op_reader *reader = context;
  if (tsr_at_kind(in, TSR_TOKEN_VALUE)) return tsr_read_argument(reader, true);
  TSR_NEED(TSR_DRAFT_ROOM(reader->arguments));
  tsr_argument_draft argument = {.type = NULL};
  TSR_TRY(tsr_read_type(in, &argument.type));
  if (tsr_at_sign(in, "{")) TSR_TRY(tsr_read_attr_dict(in, &argument.attrs));
  TSR_TRY(tsr_read_optional_location(in, &argument.location));
  reader->arguments.items[reader->arguments.count++] = argument;
  return NULL;
}

// -> T, or -> (T {...}, U); pushed on the stack of arguments.
static tsr_status read_func_results(tsr_op_reader *reader) {
  if (!tsr_take_sign(reader->in, "->")) return NULL;
  if (tsr_at_sign(reader->in, "("))
    return tsr_read_list(reader->in, "(", ")", read_func_argument, reader);
  TSR_NEED(TSR_DRAFT_ROOM(reader->arguments));  // "{" after a lone type begins the body
  tsr_argument_draft result = {.type = NULL};
  TSR_TRY(tsr_read_type(reader->in, &result.type));
  reader->arguments.items[reader->arguments.count++] = result;
  return NULL;
}

// The dictionaries of arguments or results as one attribute; NULL if none has an entry.
static tsr_status make_attr_list(tsr_op_reader *reader, int64_t first, int64_t count,
                                 const tsr_attr **out_list) {
  *out_list = NULL;
  if (!count) return NULL;
  const tsr_argument_draft *arguments = reader->arguments.items + first;
  bool any = false;
  for (int64_t i = 0; i < count; i++) any |= arguments[i].attrs && arguments[i].attrs->count;
  if (!any) return NULL;
  tsr_ir *ir = reader->in->ir;
  const tsr_attr **dicts = tsr_ir_alloc(ir, (size_t)count * sizeof(tsr_attr *));
  TSR_NEED(dicts);
  for (int64_t i = 0; i < count; i++) {
    dicts[i] = arguments[i].attrs ? arguments[i].attrs : tsr_attr_dict(ir, NULL, 0);
    TSR_NEED(dicts[i]);
  }
  *out_list = tsr_attr_array(ir, dicts, count);
  TSR_NEED(*out_list);
  return NULL;
}

static tsr_status draft_attr_list(tsr_op_reader *reader, tsr_draft *draft, const char *name,
                                  int64_t first, int64_t count) {
  const tsr_attr *list = NULL;
  TSR_TRY(make_attr_list(reader, first, count, &list));
  return list ? tsr_draft_attr(reader, draft, name, list) : NULL;
}

static tsr_status draft_func_type(tsr_op_reader *reader, tsr_draft *draft, int64_t first,
                                  int64_t input_count, int64_t result_count) {
  tsr_ir *ir = reader->in->ir;
  if (input_count + result_count > INT32_MAX) return tsr_fail(TOO_LARGE, "types of a function");
  const size_t count = (size_t)(input_count + result_count);
  const tsr_type **types = tsr_ir_alloc(ir, (count + 1) * sizeof(tsr_type *));
  TSR_NEED(types);
  for (size_t i = 0; i < count; i++) types[i] = reader->arguments.items[first + (int64_t)i].type;
  const tsr_type *type =
      tsr_type_function(ir, types, (int)input_count, types + input_count, (int)result_count);
  TSR_NEED(type);
  return tsr_draft_attr(reader, draft, "function_type", tsr_attr_type(ir, type));
}

// The arguments and results, whose types and dictionaries become attributes. Arguments stay on the
// stack for the body.
static tsr_status read_signature(tsr_op_reader *reader, tsr_draft *draft) {
  const int64_t first = reader->arguments.count;
  TSR_TRY(tsr_read_list(reader->in, "(", ")", read_func_argument, reader));
  const int64_t results = reader->arguments.count;
  TSR_TRY(read_func_results(reader));
  const int64_t input_count = results - first, result_count = reader->arguments.count - results;
  TSR_TRY(draft_func_type(reader, draft, first, input_count, result_count));
  TSR_TRY(draft_attr_list(reader, draft, "arg_attrs", first, input_count));
  TSR_TRY(draft_attr_list(reader, draft, "res_attrs", results, result_count));
  reader->arguments.count = results;
  return NULL;
}

static tsr_status read_visibility(tsr_op_reader *reader, tsr_draft *draft) {
  static const char *const words[] = {"public", "private", "nested"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (tsr_take_word(reader->in, words[i]))
      return tsr_draft_attr(reader, draft, "sym_visibility",
                            tsr_attr_string(reader->in->ir, words[i], strlen(words[i])));
  return NULL;
}

// A body needs names for its arguments.
static tsr_status check_names(const tsr_op_reader *reader, const tsr_draft *draft, int64_t first) {
  for (int64_t i = first; i < reader->arguments.count; i++)
    if (!reader->arguments.items[i].ref.length)
      return tsr_reader_fail(reader->in, draft->at, SYNTAX,
                             "argument %lld of a function with a body has no name",
                             (long long)(i - first));
  return NULL;
}

tsr_status tsr_read_func_form(tsr_op_reader *reader, tsr_draft *draft) {
  const int64_t first = reader->arguments.count;
  TSR_TRY(read_visibility(reader, draft));
  TSR_TRY(read_own_name(reader, draft));
  TSR_TRY(read_signature(reader, draft));
  TSR_TRY(read_attributes(reader, draft));
  tsr_region *region = NULL;
  if (!tsr_at_sign(reader->in, "{")) return tsr_draft_add_region(reader, &region);
  TSR_TRY(check_names(reader, draft, first));
  return tsr_draft_region(reader, draft, first);
}

static void print_dict(tsr_op_printer *printer, const tsr_attr *dict) {
  if (!dict || !dict->count) return;
  tsr_text_add_char(printer->out, ' ');
  tsr_attr_dict_print(dict->entries, dict->count, printer->out);
}

static void print_inputs(tsr_op_printer *printer, const tsr_op *op, const tsr_type *type) {
  const tsr_ir_block *body = tsr_func_body(op);
  tsr_text_add_char(printer->out, '(');
  for (int i = 0; i < type->input_count; i++) {
    if (i) tsr_text_add(printer->out, ", ");
    if (body) {
      tsr_print_operand(printer, body->args[i]);
      tsr_text_add(printer->out, ": ");
    }
    tsr_print_type(printer, type->types[i]);
    print_dict(printer, tsr_func_arg_attrs(op, i));
    if (body) tsr_print_location(printer, body->args[i]->location, false);
  }
  tsr_text_add_char(printer->out, ')');
}

static void print_outputs(tsr_op_printer *printer, const tsr_op *op, const tsr_type *type) {
  const int count = type->count - type->input_count;
  const tsr_type *const *results = type->types + type->input_count;
  if (!count) return;
  const tsr_attr *dict = tsr_func_result_attrs(op, 0);
  const bool bare = count == 1 && results[0]->kind != TSR_TYPE_FUNCTION && (!dict || !dict->count);
  tsr_text_add(printer->out, bare ? " -> " : " -> (");
  for (int i = 0; i < count; i++) {
    if (i) tsr_text_add(printer->out, ", ");
    tsr_print_type(printer, results[i]);
    print_dict(printer, tsr_func_result_attrs(op, i));
  }
  if (!bare) tsr_text_add_char(printer->out, ')');
}

void tsr_print_func_form(tsr_op_printer *printer, const tsr_op *op) {
  static const char *const used_names[] = {"arg_attrs", "function_type", "res_attrs", "sym_name",
                                           "sym_visibility"};
  uint32_t used = 0;
  for (size_t i = 0; i < sizeof used_names / sizeof *used_names; i++)
    used |= tsr_row_bit(op->info, used_names[i]);
  tsr_text_add_char(printer->out, ' ');
  const tsr_attr *visibility = tsr_op_attr(op, "sym_visibility");
  if (visibility) {
    tsr_text_add_bytes(printer->out, visibility->bytes, visibility->length);
    tsr_text_add_char(printer->out, ' ');
  }
  print_own_name(printer, op);
  const tsr_type *type = tsr_func_type(op);
  print_inputs(printer, op, type);
  print_outputs(printer, op, type);
  tsr_print_attr_dict(printer, op, used, false, " attributes");
  if (!op->regions[0].first) return;
  tsr_text_add_char(printer->out, ' ');
  tsr_print_region(printer, &op->regions[0], false);
}

static bool is_visibility(const tsr_attr *attr) {
  return !attr || tsr_attr_is_string(attr, "public") || tsr_attr_is_string(attr, "private") ||
         tsr_attr_is_string(attr, "nested");
}

static bool is_dict_list(const tsr_attr *list, int64_t count) {
  if (!list) return true;
  if (list->count != count) return false;
  for (int64_t i = 0; i < count; i++)
    if (list->items[i]->kind != TSR_ATTR_DICT) return false;
  return true;
}

bool tsr_fits_func_form(const tsr_op *op) {
  const tsr_type *type = tsr_func_type(op);
  if (type->kind != TSR_TYPE_FUNCTION || !is_visibility(tsr_op_attr(op, "sym_visibility")) ||
      !is_dict_list(tsr_op_attr(op, "arg_attrs"), type->input_count) ||
      !is_dict_list(tsr_op_attr(op, "res_attrs"), type->count - type->input_count))
    return false;
  const tsr_ir_block *body = tsr_func_body(op);
  if (body && body->arg_count != type->input_count) return false;
  for (int i = 0; body && i < body->arg_count; i++)
    if (body->args[i]->type != type->types[i]) return false;
  return true;
}

// ---- constants: {attrs} dense<...> : T ----

// () <{value = ...}> {attrs} : () -> T, which MLIR prints where the value has another type.
static tsr_status read_generic_constant(tsr_op_reader *reader, tsr_draft *draft) {
  TSR_TRY(tsr_expect_sign(reader->in, "("));
  TSR_TRY(tsr_expect_sign(reader->in, ")"));
  if (tsr_take_sign(reader->in, "<")) {
    TSR_TRY(tsr_draft_attr_dict(reader, draft));
    TSR_TRY(tsr_expect_sign(reader->in, ">"));
  }
  TSR_TRY(tsr_draft_attr_dict(reader, draft));
  TSR_TRY(tsr_expect_sign(reader->in, ":"));
  return tsr_draft_function_type(reader, draft);
}

tsr_status tsr_read_constant_form(tsr_op_reader *reader, tsr_draft *draft) {
  if (tsr_at_sign(reader->in, "(")) return read_generic_constant(reader, draft);
  TSR_TRY(tsr_draft_attr_dict(reader, draft));
  const char *at = reader->in->token.start;
  const tsr_attr *value = NULL;
  TSR_TRY(tsr_read_attr(reader->in, NULL, &value));
  if (!tsr_attr_has_form(value, TSR_FORM_DENSE, 0))
    return tsr_reader_fail(reader->in, at, SYNTAX,
                           "expected a constant such as dense<0> : tensor<4xi32>");
  draft->result_type = value->type;
  draft->result_count = 1;
  return tsr_draft_attr(reader, draft, "value", value);
}

void tsr_print_constant_form(tsr_op_printer *printer, const tsr_op *op) {
  const tsr_attr *value = tsr_op_attr(op, "value");
  if (value->type != op->results[0].type) {
    tsr_print_generic_op(printer, op, false);
    return;
  }
  tsr_print_attr_dict(printer, op, tsr_row_bit(op->info, "value"), false, "");
  tsr_text_add_char(printer->out, ' ');
  tsr_print_attr(printer, value);
}

// ---- casts: %x : T to U {attrs} ----

tsr_status tsr_read_cast_form(tsr_op_reader *reader, tsr_draft *draft) {
  TSR_TRY(tsr_draft_operands(reader, draft));
  draft->operand_types = &draft->operand_type;
  if (tsr_draft_operand_count(reader, draft)) {
    TSR_TRY(tsr_expect_sign(reader->in, ":"));
    TSR_TRY(tsr_read_types(reader->in, &draft->operand_types, &draft->operand_type_count));
  }
  TSR_TRY(tsr_expect_word(reader->in, "to"));
  TSR_TRY(tsr_read_types(reader->in, &draft->result_types, &draft->result_count));
  return tsr_draft_attr_dict(reader, draft);
}

void tsr_print_cast_form(tsr_op_printer *printer, const tsr_op *op) {
  if (op->operand_count) {
    tsr_text_add_char(printer->out, ' ');
    tsr_print_operands(printer, op, 0, op->operand_count);
    tsr_text_add(printer->out, " : ");
    tsr_print_operand_types(printer, op);
  }
  tsr_text_add(printer->out, " to ");
  for (int i = 0; i < op->result_count; i++) {
    if (i) tsr_text_add(printer->out, ", ");
    tsr_print_type(printer, op->results[i].type);
  }
  tsr_print_attr_dict(printer, op, 0, false, "");
}

bool tsr_fits_cast_form(const tsr_op *op) { return op->result_count > 0; }

// %x, %y : T, U, or nothing; `draft` gets a type for each operand.
static tsr_status read_typed_operands(tsr_op_reader *reader, tsr_draft *draft) {
  draft->operand_types = &draft->operand_type;
  if (!tsr_draft_operand_count(reader, draft)) return NULL;
  TSR_TRY(tsr_expect_sign(reader->in, ":"));
  return tsr_read_types(reader->in, &draft->operand_types, &draft->operand_type_count);
}

static void print_types_after_colon(tsr_op_printer *printer, const tsr_op *op) {
  if (!op->operand_count) return;
  tsr_text_add(printer->out, " : ");
  tsr_print_operand_types(printer, op);
}

// ---- optimization barriers: {attrs} %x, %y : T, U, or () ----

tsr_status tsr_read_barrier_form(tsr_op_reader *reader, tsr_draft *draft) {
  TSR_TRY(tsr_draft_attr_dict(reader, draft));
  if (tsr_take_sign(reader->in, "(")) {
    draft->operand_types = &draft->operand_type;
    return tsr_expect_sign(reader->in, ")");
  }
  TSR_TRY(tsr_draft_operand(reader, draft));
  while (tsr_take_sign(reader->in, ",")) TSR_TRY(tsr_draft_operand(reader, draft));
  TSR_TRY(read_typed_operands(reader, draft));
  draft->result_types = draft->operand_types;
  draft->result_count = draft->operand_type_count;
  return NULL;
}

void tsr_print_barrier_form(tsr_op_printer *printer, const tsr_op *op) {
  tsr_print_attr_dict(printer, op, 0, false, "");
  if (!op->operand_count) {
    tsr_text_add(printer->out, "()");
    return;
  }
  tsr_text_add_char(printer->out, ' ');
  tsr_print_operands(printer, op, 0, op->operand_count);
  print_types_after_colon(printer, op);
}

bool tsr_fits_barrier_form(const tsr_op *op) {
  if (op->operand_count != op->result_count) return false;
  for (int i = 0; i < op->operand_count; i++)
    if (tsr_operand_type(op, i) != op->results[i].type) return false;
  return true;
}

// ---- returns: %x, %y {attrs} : T, U, or late: {attrs} %x, %y : T, U ----

tsr_status tsr_read_return_form(tsr_op_reader *reader, tsr_draft *draft) {
  TSR_TRY(tsr_draft_operands(reader, draft));
  TSR_TRY(tsr_draft_attr_dict(reader, draft));
  return read_typed_operands(reader, draft);
}

void tsr_print_return_form(tsr_op_printer *printer, const tsr_op *op) {
  tsr_text_add_char(printer->out, ' ');
  tsr_print_operands(printer, op, 0, op->operand_count);
  tsr_print_attr_dict(printer, op, 0, false, "");
  print_types_after_colon(printer, op);
}

tsr_status tsr_read_late_return_form(tsr_op_reader *reader, tsr_draft *draft) {
  TSR_TRY(tsr_draft_attr_dict(reader, draft));
  TSR_TRY(tsr_draft_operands(reader, draft));
  return read_typed_operands(reader, draft);
}

void tsr_print_late_return_form(tsr_op_printer *printer, const tsr_op *op) {
  tsr_print_attr_dict(printer, op, 0, false, "");
  if (!op->operand_count) return;
  tsr_text_add_char(printer->out, ' ');
  tsr_print_operands(printer, op, 0, op->operand_count);
  print_types_after_colon(printer, op);
}
