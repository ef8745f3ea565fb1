// Forms of ops with regions: reduce, while and scan.
#include "syntax/region_forms.h"

#include <string.h>

#include "base/text_internal.h"
#include "syntax/op_forms.h"
#include "syntax/writer.h"

static tsr_status read_attributes_after(tsr_op_reader *reader, tsr_draft *draft) {
  if (!tsr_take_word(reader->in, "attributes")) return NULL;
  return tsr_draft_attr_dict(reader, draft);
}

// ---- reduce ----
//
//   (%x init: %c) applies stablehlo.add across dimensions = [0] {attrs} : (T, S) -> U
//   (%x init: %c), (%y init: %d) across dimensions = [0] : (...) -> (...)
//    reducer(%a: S, %b: S) (%c: S, %d: S)  {...}
//
// The pairs of the reducer are an accumulator and an element each; the block has all accumulators
// first, then all elements.

static tsr_status push_ref(tsr_op_reader *reader, const tsr_value_ref *ref) {
  TSR_NEED(TSR_DRAFT_ROOM(reader->refs));
  reader->refs.items[reader->refs.count++] = *ref;
  return NULL;
}

// Inputs become operands at once; inits wait on the stack of names.
static tsr_status read_reduce_operands(tsr_op_reader *reader) {
  const int64_t first_init = reader->names.count;
  do {
    tsr_value_ref input, init;
    TSR_TRY(tsr_expect_sign(reader->in, "("));
    TSR_TRY(tsr_read_ref(reader, &input));
    TSR_TRY(tsr_expect_word(reader->in, "init"));
    TSR_TRY(tsr_expect_sign(reader->in, ":"));
    TSR_TRY(tsr_read_ref(reader, &init));
    TSR_TRY(tsr_expect_sign(reader->in, ")"));
    TSR_TRY(push_ref(reader, &input));
    TSR_NEED(TSR_DRAFT_ROOM(reader->names));
    reader->names.items[reader->names.count++] = init;
  } while (tsr_take_sign(reader->in, ","));
  for (int64_t i = first_init; i < reader->names.count; i++) {
    const tsr_value_ref init = reader->names.items[i];
    TSR_TRY(push_ref(reader, &init));
  }
  reader->names.count = first_init;
  return NULL;
}

// across dimensions = [0] {attrs} : (T, S) -> U
static tsr_status read_reduce_rest(tsr_op_reader *reader, tsr_draft *draft) {
  const int64_t *dims = NULL;
  int64_t count = 0;
  TSR_TRY(tsr_expect_word(reader->in, "across"));
  TSR_TRY(tsr_expect_word(reader->in, "dimensions"));
  TSR_TRY(tsr_expect_sign(reader->in, "="));
  TSR_TRY(tsr_read_int_list(reader->in, &dims, &count));
  TSR_TRY(tsr_draft_attr(reader, draft, "dimensions", tsr_attr_ints(reader->in->ir, dims, count)));
  TSR_TRY(tsr_draft_attr_dict(reader, draft));
  TSR_TRY(tsr_expect_sign(reader->in, ":"));
  return tsr_draft_function_type(reader, draft);
}

// Elements wait on the stack behind their accumulators: (a, i) (b, j) is brought to a, b, i, j.
static tsr_status sort_reducer_arguments(tsr_op_reader *reader, int64_t first) {
  const int64_t pairs = (reader->arguments.count - first) / 2;
  if (!pairs) return NULL;
  for (int64_t i = 0; i < pairs; i++) {
    TSR_NEED(TSR_DRAFT_ROOM(reader->arguments));
    reader->arguments.items[reader->arguments.count++] = reader->arguments.items[first + 2 * i + 1];
  }
  tsr_argument_draft *items = reader->arguments.items + first;
  for (int64_t i = 0; i < pairs; i++) items[i] = items[2 * i];
  memmove(items + pairs, items + 2 * pairs, (size_t)pairs * sizeof *items);
  reader->arguments.count -= pairs;
  return NULL;
}

static tsr_status read_reducer(tsr_op_reader *reader, tsr_draft *draft) {
  const int64_t first = reader->arguments.count;
  TSR_TRY(tsr_expect_word(reader->in, "reducer"));
  while (tsr_take_sign(reader->in, "(")) {
    TSR_TRY(tsr_read_argument(reader, false));
    TSR_TRY(tsr_expect_sign(reader->in, ","));
    TSR_TRY(tsr_read_argument(reader, false));
    TSR_TRY(tsr_expect_sign(reader->in, ")"));
  }
  TSR_TRY(sort_reducer_arguments(reader, first));
  return tsr_draft_region(reader, draft, first);
}

// The body of a reduce that applies one op: it takes both arguments, and its result is returned.
static tsr_status make_reducer(tsr_op_reader *reader, const tsr_draft *draft,
                               const tsr_op_info *inner) {
  tsr_ir *ir = reader->in->ir;
  const tsr_type *type =
      tsr_type_tensor(ir, tsr_type_element(draft->operand_types[0]), 0, NULL, NULL);
  TSR_NEED(type);
  tsr_region *region = NULL;
  TSR_TRY(tsr_draft_add_region(reader, &region));
  tsr_ir_block *block = tsr_block_append(ir, region);
  TSR_NEED(block);
  for (int i = 0; i < 2; i++) TSR_NEED(tsr_block_add_arg(ir, block, type, draft->location));
  tsr_op_parts parts = {.id = inner->id,
                        .operand_count = 2,
                        .operands = block->args,
                        .result_count = 1,
                        .result_types = &type,
                        .location = draft->location};
  tsr_op *op = tsr_op_create(ir, &parts);
  TSR_NEED(op);
  tsr_op_append(block, op);
  tsr_value *result = op->results;
  parts = (tsr_op_parts){
      .id = TSR_OP_RETURN, .operand_count = 1, .operands = &result, .location = draft->location};
  tsr_op *end = tsr_op_create(ir, &parts);
  TSR_NEED(end);
  tsr_op_append(block, end);
  op->line = end->line = draft->line;
  op->column = end->column = draft->column;
  return NULL;
}

static bool may_be_applied(const tsr_op_info *info) {
  return info->traits & TSR_TRAIT_COMMUTES && info->operands == 2 && info->results == 1 &&
         !strncmp(info->name, "stablehlo.", 10);
}

tsr_status tsr_read_reduce_form(tsr_op_reader *reader, tsr_draft *draft) {
  tsr_reader *in = reader->in;
  TSR_TRY(read_reduce_operands(reader));
  if (!tsr_take_word(in, "applies")) {
    TSR_TRY(read_reduce_rest(reader, draft));
    return read_reducer(reader, draft);
  }
  const tsr_op_info *inner = tsr_op_find(in->token.start, tsr_token_length(&in->token));
  if (!tsr_at_kind(in, TSR_TOKEN_WORD) || !may_be_applied(inner))
    return tsr_reader_expected(in, "a commutative op such as stablehlo.add");
  tsr_next(in);
  TSR_TRY(read_reduce_rest(reader, draft));
  TSR_TRY(tsr_read_optional_location(in, &draft->location));
  if (!draft->operand_type_count)
    return tsr_reader_fail(in, draft->at, SYNTAX, "op \"%s\" has no types of inputs", draft->name);
  return make_reducer(reader, draft, inner);
}

static bool is_scalar_of(const tsr_type *type, const tsr_type *tensor) {
  return type->kind == TSR_TYPE_TENSOR && !type->rank && !type->encoding &&
         type->element == tsr_type_element(tensor);
}

// The op that a reducer applies; NULL if it does more, or the short form would not say all.
static const tsr_op *applied_op(const tsr_op *reduce) {
  const tsr_ir_block *block = reduce->regions[0].first;
  const tsr_op *op = block->first, *end = block->last;
  if (!op || op->next != end || op == end || !may_be_applied(op->info)) return NULL;
  if (op->operand_count != 2 || op->result_count != 1 || op->attr_count || block->arg_count != 2 ||
      !reduce->operand_count)
    return NULL;
  const tsr_type *type = op->results[0].type;
  if (!is_scalar_of(type, tsr_operand_type(reduce, 0))) return NULL;
  for (int i = 0; i < 2; i++)
    if (tsr_op_operand(op, i) != block->args[i] || tsr_operand_type(op, i) != type) return NULL;
  const bool returned = end->info->id == TSR_OP_RETURN && end->operand_count == 1 &&
                        tsr_op_operand(end, 0) == op->results && !end->attr_count;
  return returned ? op : NULL;
}

static void print_reducer(tsr_op_printer *printer, const tsr_op *op) {
  const tsr_ir_block *block = op->regions[0].first;
  const int pairs = block->arg_count / 2;
  tsr_print_newline(printer);
  tsr_text_add(printer->out, " reducer");
  for (int i = 0; i < pairs; i++) {
    tsr_text_add_char(printer->out, '(');
    tsr_print_argument(printer, block->args[i]);
    tsr_text_add(printer->out, ", ");
    tsr_print_argument(printer, block->args[i + pairs]);
    tsr_text_add(printer->out, ") ");
  }
  tsr_text_add_char(printer->out, ' ');
  tsr_print_region(printer, &op->regions[0], false);
}

void tsr_print_reduce_form(tsr_op_printer *printer, const tsr_op *op) {
  const int pairs = op->operand_count / 2;
  for (int i = 0; i < pairs; i++) {
    tsr_text_add(printer->out, i ? ", (" : "(");
    tsr_print_operand(printer, tsr_op_operand(op, i));
    tsr_text_add(printer->out, " init: ");
    tsr_print_operand(printer, tsr_op_operand(op, i + pairs));
    tsr_text_add_char(printer->out, ')');
  }
  const tsr_op *applied = applied_op(op);
  if (applied) {
    tsr_text_add(printer->out, " applies ");
    tsr_text_add(printer->out, applied->name);
  }
  tsr_text_add(printer->out, " across dimensions = ");
  tsr_ints_print(tsr_op_attr(op, "dimensions"), printer->out);
  tsr_print_attr_dict(printer, op, tsr_row_bit(op->info, "dimensions"), false, "");
  tsr_text_add(printer->out, " : ");
  tsr_print_functional_type(printer, op);
  if (!applied) print_reducer(printer, op);
}

bool tsr_fits_reduce_form(const tsr_op *op) {
  return op->operand_count && op->operand_count % 2 == 0 && op->regions[0].block_count == 1 &&
         op->regions[0].first->arg_count == op->operand_count;
}

bool tsr_reduce_is_short(const tsr_op *op) { return tsr_fits_reduce_form(op) && applied_op(op); }

// ---- while: (%iterArg = %x) : T attributes {...} cond {...} do {...} ----

// Gives the arguments on the stack the types of the operands.
static tsr_status set_argument_types(tsr_op_reader *reader, const tsr_draft *draft, int64_t first) {
  const int64_t count = reader->arguments.count - first;
  if (count != draft->operand_type_count)
    return tsr_reader_fail(reader->in, draft->at, SYNTAX,
                           "op \"%s\" has %lld operands, but types for %d", draft->name,
                           (long long)count, draft->operand_type_count);
  for (int64_t i = 0; i < count; i++)
    reader->arguments.items[first + i].type = draft->operand_types[i];
  return NULL;
}

static tsr_status read_iteration(tsr_reader *in, void *context) {
  tsr_op_reader *reader = context;
  TSR_NEED(TSR_DRAFT_ROOM(reader->arguments));
  tsr_argument_draft argument = {.type = NULL};
  tsr_value_ref operand;
  TSR_TRY(tsr_read_ref(reader, &argument.ref));
  TSR_TRY(tsr_expect_sign(in, "="));
  TSR_TRY(tsr_read_ref(reader, &operand));
  reader->arguments.items[reader->arguments.count++] = argument;
  return push_ref(reader, &operand);
}

tsr_status tsr_read_while_form(tsr_op_reader *reader, tsr_draft *draft) {
  const int64_t first = reader->arguments.count;
  TSR_TRY(tsr_read_list(reader->in, "(", ")", read_iteration, reader));
  draft->operand_types = &draft->operand_type;
  if (reader->arguments.count > first) {
    TSR_TRY(tsr_expect_sign(reader->in, ":"));
    TSR_TRY(tsr_read_types(reader->in, &draft->operand_types, &draft->operand_type_count));
  }
  draft->result_types = draft->operand_types;
  draft->result_count = draft->operand_type_count;
  TSR_TRY(set_argument_types(reader, draft, first));
  TSR_TRY(read_attributes_after(reader, draft));
  TSR_TRY(tsr_expect_word(reader->in, "cond"));
  TSR_TRY(tsr_draft_region(reader, draft, first));
  TSR_TRY(tsr_expect_word(reader->in, "do"));
  return tsr_draft_region(reader, draft, first);
}

void tsr_print_while_form(tsr_op_printer *printer, const tsr_op *op) {
  const tsr_ir_block *body = op->regions[1].first;
  tsr_text_add_char(printer->out, '(');
  for (int i = 0; i < op->operand_count; i++) {
    if (i) tsr_text_add(printer->out, ", ");
    tsr_print_operand(printer, body->args[i]);
    tsr_text_add(printer->out, " = ");
    tsr_print_operand(printer, tsr_op_operand(op, i));
  }
  tsr_text_add_char(printer->out, ')');
  if (op->operand_count) {
    tsr_text_add(printer->out, " : ");
    tsr_print_operand_types(printer, op);
  }
  tsr_print_attr_dict(printer, op, 0, false, " attributes");
  tsr_print_newline(printer);
  tsr_text_add(printer->out, "cond ");
  tsr_print_region(printer, &op->regions[0], false);
  tsr_text_add(printer->out, " do ");
  tsr_print_region(printer, &op->regions[1], false);
}

bool tsr_fits_while_form(const tsr_op *op) {
  if (op->operand_count != op->result_count) return false;
  for (int r = 0; r < 2; r++)
    if (op->regions[r].block_count != 1 || op->regions[r].first->arg_count != op->operand_count)
      return false;
  for (int i = 0; i < op->operand_count; i++) {
    const tsr_type *type = tsr_operand_type(op, i);
    if (op->results[i].type != type || op->regions[0].first->args[i]->type != type ||
        op->regions[1].first->args[i]->type != type)
      return false;
  }
  return true;
}

// ---- scan: (%x) inits (%c) dimension=0 attributes {...} {^bb0(...): ...} : (...) -> ... ----

static tsr_status draft_sizes(tsr_op_reader *reader, tsr_draft *draft, const char *name, int64_t a,
                              int64_t b) {
  tsr_ir *ir = reader->in->ir;
  const int32_t sizes[2] = {(int32_t)a, (int32_t)b};
  const tsr_type *i32 = tsr_type_integer(ir, 32, TSR_SIGNLESS);
  TSR_NEED(i32);
  return tsr_draft_attr(reader, draft, name, tsr_attr_dense_array(ir, i32, sizes, 2));
}

static tsr_status read_operand_list(tsr_op_reader *reader, tsr_draft *draft) {
  TSR_TRY(tsr_expect_sign(reader->in, "("));
  TSR_TRY(tsr_draft_operands(reader, draft));
  return tsr_expect_sign(reader->in, ")");
}

tsr_status tsr_read_scan_form(tsr_op_reader *reader, tsr_draft *draft) {
  tsr_reader *in = reader->in;
  int64_t dimension = 0;
  TSR_TRY(read_operand_list(reader, draft));
  const int64_t inputs = tsr_draft_operand_count(reader, draft);
  TSR_TRY(tsr_expect_word(in, "inits"));
  TSR_TRY(read_operand_list(reader, draft));
  const int64_t inits = tsr_draft_operand_count(reader, draft) - inputs;
  TSR_TRY(tsr_expect_word(in, "dimension"));
  TSR_TRY(tsr_expect_sign(in, "="));
  TSR_TRY(tsr_read_int(in, "a dimension", &dimension));
  TSR_TRY(tsr_draft_attr(reader, draft, "dimension", tsr_attr_i64(in->ir, dimension)));
  TSR_TRY(read_attributes_after(reader, draft));
  TSR_TRY(tsr_draft_region(reader, draft, reader->arguments.count));
  TSR_TRY(tsr_expect_sign(in, ":"));
  TSR_TRY(tsr_draft_function_type(reader, draft));
  if (draft->result_count < inits || inputs + inits > INT32_MAX)
    return tsr_reader_fail(in, draft->at, SYNTAX, "op \"%s\" has %d results, but %lld inits",
                           draft->name, draft->result_count, (long long)inits);
  TSR_TRY(draft_sizes(reader, draft, "operandSegmentSizes", inputs, inits));
  return draft_sizes(reader, draft, "resultSegmentSizes", draft->result_count - inits, inits);
}

// The first of the two numbers of a segment attribute; -1 if they do not sum up to `total`.
static int first_segment(const tsr_op *op, const char *name, int total) {
  const tsr_attr *attr = tsr_op_attr(op, name);
  if (!attr || attr->kind != TSR_ATTR_DENSE_ARRAY || attr->count != 2) return -1;
  if (attr->type->kind != TSR_TYPE_INTEGER || attr->type->width != 32) return -1;
  int32_t sizes[2];
  memcpy(sizes, attr->bytes, sizeof sizes);
  const bool fits = sizes[0] >= 0 && sizes[1] >= 0 && (int64_t)sizes[0] + sizes[1] == total;
  return fits ? sizes[0] : -1;
}

void tsr_print_scan_form(tsr_op_printer *printer, const tsr_op *op) {
  const int inputs = first_segment(op, "operandSegmentSizes", op->operand_count);
  const uint32_t used = tsr_row_bit(op->info, "dimension") |
                        tsr_row_bit(op->info, "operandSegmentSizes") |
                        tsr_row_bit(op->info, "resultSegmentSizes");
  tsr_text_add_char(printer->out, '(');
  tsr_print_operands(printer, op, 0, inputs);
  tsr_text_add(printer->out, ") inits (");
  tsr_print_operands(printer, op, inputs, op->operand_count - inputs);
  tsr_text_add(printer->out, ") dimension=");
  tsr_text_add_int(printer->out, tsr_op_int(op, "dimension", 0));
  tsr_text_add_char(printer->out, ' ');
  tsr_print_attr_dict(printer, op, used, false, " attributes");
  tsr_text_add_char(printer->out, ' ');
  tsr_print_region(printer, &op->regions[0], true);
  tsr_text_add(printer->out, " : ");
  tsr_print_functional_type(printer, op);
}

bool tsr_fits_scan_form(const tsr_op *op) {
  const int inputs = first_segment(op, "operandSegmentSizes", op->operand_count);
  const int outputs = first_segment(op, "resultSegmentSizes", op->result_count);
  return inputs >= 0 && outputs >= 0 && op->operand_count - inputs == op->result_count - outputs;
}
