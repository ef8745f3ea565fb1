// Functions, calls, returns, composites and runs of programs: names that must be defined, and
// signatures that must agree.
#include <string.h>

#include "verify/op_rows.h"
#include "verify/sdy_checks.h"
#include "verify/symbol_checks.h"

// ---- symbols

const tsr_op *tsr_module_of(const tsr_ir *ir, const tsr_op *op) {
  const tsr_op *parent = op;
  while (parent && parent->info->id != TSR_OP_MODULE) parent = tsr_op_parent(parent);
  return parent ? parent : ir->module;
}

tsr_op *tsr_symbol_near(const tsr_ir *ir, const tsr_op *op, const char *name) {
  const tsr_op *module = tsr_module_of(ir, op);
  if (module == ir->module) return tsr_ir_find_symbol(ir, name);
  const tsr_ir_block *block = module->regions[0].first;
  for (tsr_op *member = block ? block->first : NULL; member; member = member->next) {
    const char *symbol = tsr_op_symbol(member);
    if (symbol && !strcmp(symbol, name)) return member;
  }
  return NULL;
}

tsr_op *tsr_func_near(const tsr_ir *ir, const tsr_op *op, const char *name) {
  tsr_op *found = tsr_symbol_near(ir, op, name);
  return found && found->info->id == TSR_OP_FUNC ? found : NULL;
}

// ---- func.func and func.return

static tsr_status check_attr_list(const tsr_op *op, const char *name, int count) {
  const tsr_attr *list = tsr_op_attr(op, name);
  if (!list) return NULL;
  TSR_ASK(list->count == count, op, "", "%s has %lld entries, expected %d", name,
          (long long)list->count, count);
  for (int64_t i = 0; i < list->count; i++)
    TSR_ASK(list->items[i]->kind == TSR_ATTR_DICT, op, "", "%s has %s, expected a dictionary", name,
            SHOW_ATTR(list->items[i]));
  return NULL;
}

// Attributes of arguments and results belong to a dialect, whose name and a dot they begin with.
static tsr_status check_attr_names(const tsr_op *op, const tsr_attr *dict, const char *what,
                                   int index) {
  for (int64_t i = 0; dict && i < dict->count; i++)
    TSR_ASK(strchr(dict->entries[i].name, '.'), op, "",
            "%s %d has the attribute \"%s\", expected one of a dialect", what, index,
            dict->entries[i].name);
  return NULL;
}

static tsr_status check_values(tsr_ir *ir, const tsr_op *op, const tsr_type *type) {
  for (int i = 0; i < type->count; i++) {
    const bool input = i < type->input_count;
    const int index = input ? i : i - type->input_count;
    const tsr_attr *dict = input ? tsr_func_arg_attrs(op, index) : tsr_func_result_attrs(op, index);
    TSR_TRY(tsr_check_type(op, type->types[i]));
    TSR_TRY(check_attr_names(op, dict, input ? "argument" : "result", index));
    TSR_TRY(tsr_check_value_sharding(ir, op, dict, type->types[i], input ? "argument" : "result",
                                     index));
  }
  return NULL;
}

static tsr_status check_entry_block(const tsr_op *op, const tsr_type *type) {
  const tsr_ir_block *body = tsr_func_body(op);
  if (!body) return NULL;
  TSR_ASK(body->arg_count == type->input_count, op, "",
          "the entry block has %d arguments, expected %d as the type", body->arg_count,
          type->input_count);
  for (int i = 0; i < body->arg_count; i++)
    TSR_ASK(body->args[i]->type == type->types[i], op, "",
            "argument %d of the entry block is %s, expected %s as the type", i,
            SHOW_TYPE(body->args[i]->type), SHOW_TYPE(type->types[i]));
  return NULL;
}

static tsr_status check_visibility(const tsr_op *op) {
  const tsr_attr *visibility = tsr_op_attr(op, "sym_visibility");
  const bool hidden =
      tsr_attr_is_string(visibility, "private") || tsr_attr_is_string(visibility, "nested");
  TSR_ASK(!visibility || hidden || tsr_attr_is_string(visibility, "public"), op, "",
          "sym_visibility is %s, expected public, private or nested", SHOW_ATTR(visibility));
  TSR_ASK(hidden || tsr_func_body(op), op, "", "@%s has no body, so it must be private",
          tsr_op_symbol(op));
  return NULL;
}

tsr_status tsr_verify_func(tsr_ir *ir, const tsr_op *op) {
  const tsr_type *type = tsr_func_type(op);
  TSR_ASK(type && type->kind == TSR_TYPE_FUNCTION, op, "",
          "function_type is %s, expected the type of a function", SHOW_TYPE(type));
  TSR_TRY(check_attr_list(op, "arg_attrs", type->input_count));
  TSR_TRY(check_attr_list(op, "res_attrs", type->count - type->input_count));
  TSR_TRY(check_visibility(op));
  TSR_TRY(check_entry_block(op, type));
  return check_values(ir, op, type);
}

tsr_status tsr_verify_func_return(tsr_ir *ir, const tsr_op *op) {
  const tsr_op *func = tsr_op_parent(op);
  (void)ir;
  TSR_ASK(func && func->info->id == TSR_OP_FUNC, op, "", "stands in %s, expected func.func",
          func ? func->name : "no op");
  const tsr_type *type = tsr_func_type(func);
  if (!type || type->kind != TSR_TYPE_FUNCTION) return NULL;  // reported for the function
  const int count = type->count - type->input_count;
  TSR_ASK(op->operand_count == count, op, "", "returns %d values, expected %d as @%s has results",
          op->operand_count, count, tsr_op_symbol(func));
  for (int i = 0; i < count; i++) {
    const tsr_type *wanted = type->types[type->input_count + i];
    TSR_ASK(tsr_operand_type(op, i) == wanted, op, "", "returns %s at %d, expected %s as @%s",
            SHOW_TYPE(tsr_operand_type(op, i)), i, SHOW_TYPE(wanted), tsr_op_symbol(func));
  }
  return NULL;
}

// ---- calls and composites

// What an op asks of the function it names.
typedef struct call_rules {
  const char *name, *defined, *inputs, *outputs;
} call_rules;

static tsr_status check_signature(const tsr_op *op, const call_rules *rules, const tsr_op *func) {
  const tsr_type *type = tsr_func_type(func);
  if (!type || type->kind != TSR_TYPE_FUNCTION) return NULL;  // reported for the function
  const int results = type->count - type->input_count;
  TSR_ASK(op->operand_count == type->input_count, op, rules->inputs,
          "has %d operands, expected %d as @%s", op->operand_count, type->input_count,
          tsr_op_symbol(func));
  for (int i = 0; i < op->operand_count; i++)
    TSR_ASK(tsr_operand_type(op, i) == type->types[i], op, rules->inputs,
            "operand %d is %s, expected %s as @%s", i, SHOW_TYPE(tsr_operand_type(op, i)),
            SHOW_TYPE(type->types[i]), tsr_op_symbol(func));
  TSR_ASK(op->result_count == results, op, rules->outputs, "has %d results, expected %d as @%s",
          op->result_count, results, tsr_op_symbol(func));
  for (int i = 0; i < results; i++) {
    const tsr_type *wanted = type->types[type->input_count + i];
    TSR_ASK(tsr_op_result(op, i)->type == wanted, op, rules->outputs,
            "result %d is %s, expected %s as @%s", i, SHOW_TYPE(tsr_op_result(op, i)->type),
            SHOW_TYPE(wanted), tsr_op_symbol(func));
  }
  return NULL;
}

static tsr_status check_callee(tsr_ir *ir, const tsr_op *op, const call_rules *rules) {
  const tsr_attr *callee = tsr_op_attr(op, rules->name);
  const tsr_op *func = callee->count ? NULL : tsr_func_near(ir, op, callee->bytes);
  TSR_ASK(func, op, rules->defined, "%s %s is not a function of the module", rules->name,
          SHOW_ATTR(callee));
  return check_signature(op, rules, func);
}

tsr_status tsr_verify_call(tsr_ir *ir, const tsr_op *op) {
  static const call_rules rules = {"callee", "", "", ""};
  TSR_TRY(check_attr_list(op, "arg_attrs", op->operand_count));
  TSR_TRY(check_attr_list(op, "res_attrs", op->result_count));
  return check_callee(ir, op, &rules);
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool is_word(char c, bool dollar) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || (dollar && c == '$');
}

// "my_namespace.my_op": words joined by dots, two or more; the first begins with a letter.
static bool is_namespaced(const tsr_attr *name) {
  const char *text = name->bytes;
  const size_t length = name->length;
  size_t at = 0, words = 0;
  if (!length || !is_letter(text[0])) return false;
  while (true) {
    const size_t start = at;
    while (at < length && is_word(text[at], words > 0)) at++;
    if (at == start) return false;
    words++;
    if (at == length) return words > 1;
    if (text[at++] != '.') return false;
  }
}

tsr_status tsr_verify_composite(tsr_ir *ir, const tsr_op *op) {
  static const call_rules rules = {"decomposition", "C2", "C3", "C4"};
  const tsr_attr *name = tsr_op_attr(op, "name");
  TSR_ASK(is_namespaced(name), op, "C1", "name is %s, expected one like \"my_namespace.my_op\"",
          SHOW_ATTR(name));
  return check_callee(ir, op, &rules);
}

// ---- check.* and interpreter.*: the vocabulary of the peers' tests

static tsr_status check_same(const tsr_op *op, const tsr_type *found, const tsr_type *wanted) {
  TSR_ASK(found == wanted, op, "", "compares %s with %s, expected one type", SHOW_TYPE(found),
          SHOW_TYPE(wanted));
  return NULL;
}

tsr_status tsr_verify_check_pair(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  return check_same(op, tsr_operand_type(op, 0), tsr_operand_type(op, 1));
}

tsr_status tsr_verify_check_const(tsr_ir *ir, const tsr_op *op) {
  (void)ir;
  return check_same(op, tsr_operand_type(op, 0), tsr_op_attr(op, "value")->type);
}

typedef struct program_sums {
  int64_t inputs, outputs;
} program_sums;

// The operands and results of one program, from `sums` on.
static tsr_status check_program_values(const tsr_op *op, const tsr_attr *program,
                                       const tsr_type *type, const program_sums *sums) {
  for (int i = 0; i < type->count; i++) {
    const bool input = i < type->input_count;
    const int64_t place = input ? sums->inputs + i : sums->outputs + i - type->input_count;
    if (place >= (input ? op->operand_count : op->result_count)) continue;  // told by the count
    const tsr_type *found =
        input ? tsr_operand_type(op, (int)place) : tsr_op_result(op, (int)place)->type;
    TSR_ASK(found == type->types[i], op, "", "%s %lld is %s, expected %s as in %s",
            input ? "operand" : "result", (long long)place, SHOW_TYPE(found),
            SHOW_TYPE(type->types[i]), SHOW_ATTR(program));
  }
  return NULL;
}

static tsr_status find_program(tsr_ir *ir, const tsr_op *op, const tsr_attr *symbol,
                               const tsr_type **out_type) {
  TSR_ASK(symbol->kind == TSR_ATTR_SYMBOL && !symbol->count, op, "",
          "has the program %s, expected the name of a function", SHOW_ATTR(symbol));
  const tsr_op *func = tsr_func_near(ir, op, symbol->bytes);
  const tsr_type *type = func ? tsr_func_type(func) : NULL;
  TSR_ASK(type && type->kind == TSR_TYPE_FUNCTION, op, "", "@%s is not a function of the module",
          symbol->bytes);
  *out_type = type;
  return NULL;
}

static tsr_status add_programs(tsr_ir *ir, const tsr_op *op, const tsr_attr *row, int64_t columns,
                               program_sums *sums) {
  TSR_ASK(row->kind == TSR_ATTR_ARRAY, op, "", "programs has %s, expected a list", SHOW_ATTR(row));
  TSR_ASK(row->count && row->count == columns, op, "",
          "a replica has %lld programs, expected %lld as the first", (long long)row->count,
          (long long)columns);
  for (int64_t i = 0; i < row->count; i++) {
    const tsr_type *type = NULL;
    TSR_TRY(find_program(ir, op, row->items[i], &type));
    TSR_TRY(check_program_values(op, row->items[i], type, sums));
    sums->inputs += type->input_count;
    sums->outputs += type->count - type->input_count;
  }
  return NULL;
}

static tsr_status check_feeds(tsr_ir *ir, const tsr_op *op, const tsr_attr *infeed) {
  TSR_ASK(infeed->count, op, "", "infeed is empty, expected functions");
  for (int64_t i = 0; i < infeed->count; i++) {
    const tsr_type *type = NULL;
    TSR_TRY(find_program(ir, op, infeed->items[i], &type));
    TSR_ASK(
        type->count - type->input_count == 1 && tsr_type_is_shaped(type->types[type->input_count]),
        op, "", "%s is %s, expected one tensor as its result", SHOW_ATTR(infeed->items[i]),
        SHOW_TYPE(type));
  }
  return NULL;
}

tsr_status tsr_verify_run_parallel(tsr_ir *ir, const tsr_op *op) {
  const tsr_attr *programs = tsr_op_attr(op, "programs"), *infeed = tsr_op_attr(op, "infeed");
  program_sums sums = {0};
  TSR_ASK(programs->count, op, "", "programs is empty");
  for (int64_t i = 0; i < programs->count; i++)
    TSR_TRY(add_programs(ir, op, programs->items[i], programs->items[0]->count, &sums));
  TSR_ASK(op->operand_count == sums.inputs, op, "",
          "has %d operands, expected %lld as the programs have together", op->operand_count,
          (long long)sums.inputs);
  TSR_ASK(op->result_count == sums.outputs, op, "",
          "has %d results, expected %lld as the programs have together", op->result_count,
          (long long)sums.outputs);
  return infeed ? check_feeds(ir, op, infeed) : NULL;
}

// ---- custom_call: layouts, aliases of operands and results, the configuration, and buffers.
//
// A buffer (memref) is a value that is changed in place. Pin and Unpin turn tensors into buffers
// and back; any other call must say which operand each buffer it gives is.

enum { API_UNSPECIFIED = 0, API_ORIGINAL = 1, API_TYPED_FFI = 4 };

// ---- layouts

static bool is_permutation(const tsr_attr *dims, int rank) {
  return tsr_attr_int_count(dims) == rank && tsr_ints_within(dims, 0, rank) &&
         tsr_ints_unique(dims);
}

static tsr_status check_layout(const tsr_op *op, const char *what, int index, const tsr_type *type,
                               const tsr_attr *layout) {
  TSR_ASK(
      layout->kind == TSR_ATTR_DENSE && layout->type->rank == 1 &&
          (tsr_is_integer(layout->type) || tsr_type_element(layout->type)->kind == TSR_TYPE_INDEX),
      op, "", "the layout of %s %d is %s, expected a 1-dimensional tensor of index", what, index,
      SHOW_ATTR(layout));
  TSR_ASK(type->kind != TSR_TYPE_TUPLE, op, "", "%s %d is a tuple, which cannot have a layout",
          what, index);
  if (!tsr_type_is_shaped(type)) {
    TSR_ASK(tsr_attr_int_count(layout) == 0, op, "",
            "%s %d is %s and has the layout %s, expected none", what, index, SHOW_TYPE(type),
            SHOW_INTS(layout));
    return NULL;
  }
  TSR_ASK(type->kind == TSR_TYPE_UNRANKED || is_permutation(layout, type->rank), op, "",
          "the layout of %s %d is %s, expected a permutation of the %d dimensions of %s", what,
          index, SHOW_INTS(layout), type->rank, SHOW_TYPE(type));
  return NULL;
}

static tsr_status check_operand_layouts(const tsr_op *op, const tsr_attr *layouts) {
  TSR_ASK(layouts->count == op->operand_count, op, "",
          "operand_layouts has %lld entries, expected %d", (long long)layouts->count,
          op->operand_count);
  for (int i = 0; i < op->operand_count; i++)
    TSR_TRY(check_layout(op, "operand", i, tsr_operand_type(op, i), layouts->items[i]));
  return NULL;
}

// The results, or the elements of a single result that is a tuple.
static tsr_status check_result_layouts(const tsr_op *op, const tsr_attr *layouts) {
  const bool is_tuple = op->result_count == 1 && op->results[0].type->kind == TSR_TYPE_TUPLE;
  const tsr_type *tuple = is_tuple ? op->results[0].type : NULL;
  const int count = tuple ? tuple->count : op->result_count;
  TSR_ASK(layouts->count == count, op, "", "result_layouts has %lld entries, expected %d",
          (long long)layouts->count, count);
  for (int i = 0; i < count; i++)
    TSR_TRY(check_layout(op, "result", i, tuple ? tuple->types[i] : op->results[i].type,
                         layouts->items[i]));
  return NULL;
}

static tsr_status check_layouts(const tsr_op *op) {
  const tsr_attr *operands = tsr_op_attr(op, "operand_layouts");
  const tsr_attr *results = tsr_op_attr(op, "result_layouts");
  if (!operands && !results) return NULL;
  TSR_ASK(operands && results, op, "", "has %s, expected layouts of both operands and results",
          operands ? "operand_layouts alone" : "result_layouts alone");
  TSR_TRY(check_operand_layouts(op, operands));
  return check_result_layouts(op, results);
}

// ---- aliases

// The element of a type that a path of tuple indices leads to; NULL if it leads nowhere.
static const tsr_type *follow(const tsr_type *type, const tsr_attr *path, int64_t first) {
  for (int64_t i = first; type && i < tsr_attr_int_count(path); i++) {
    const int64_t index = tsr_attr_int_at(path, i);
    const bool leads = type->kind == TSR_TYPE_TUPLE && index >= 0 && index < type->count;
    type = leads ? type->types[index] : NULL;
  }
  return type;
}

// Several results count as one tuple.
static const tsr_type *follow_results(const tsr_op *op, const tsr_attr *path) {
  if (op->result_count == 1) return follow(op->results[0].type, path, 0);
  if (!tsr_attr_int_count(path)) return NULL;
  const int64_t index = tsr_attr_int_at(path, 0);
  if (index < 0 || index >= op->result_count) return NULL;
  return follow(op->results[index].type, path, 1);
}

static tsr_status check_alias(const tsr_op *op, const tsr_attr *alias) {
  const int64_t operand = tsr_record_int(alias, TSR_ALIAS_OPERAND_INDEX);
  const tsr_attr *operand_path = tsr_record_ints(alias, TSR_ALIAS_OPERAND_INDICES);
  const tsr_attr *result_path = tsr_record_ints(alias, TSR_ALIAS_OUTPUT_INDICES);
  TSR_ASK(operand >= 0 && operand < op->operand_count, op, "I7",
          "operand_index of an alias is %lld, expected 0 or more and less than %d",
          (long long)operand, op->operand_count);
  const tsr_type *from = follow(tsr_operand_type(op, (int)operand), operand_path, 0);
  const tsr_type *to = follow_results(op, result_path);
  TSR_ASK(from, op, "I7",
          "operand_tuple_indices of an alias is %s, which operand %lld does not have",
          SHOW_INTS(operand_path), (long long)operand);
  TSR_ASK(to, op, "I7", "output_tuple_indices of an alias is %s, which the results do not have",
          SHOW_INTS(result_path));
  TSR_ASK(from == to, op, "I7",
          "an alias joins the operand %s and the result %s, expected one type", SHOW_TYPE(from),
          SHOW_TYPE(to));
  return NULL;
}

static bool same_operand(const tsr_attr *a, const tsr_attr *b) {
  return tsr_record_int(a, TSR_ALIAS_OPERAND_INDEX) == tsr_record_int(b, TSR_ALIAS_OPERAND_INDEX) &&
         tsr_ints_equal(tsr_record_ints(a, TSR_ALIAS_OPERAND_INDICES),
                        tsr_record_ints(b, TSR_ALIAS_OPERAND_INDICES));
}

static bool same_output(const tsr_attr *a, const tsr_attr *b) {
  return tsr_ints_equal(tsr_record_ints(a, TSR_ALIAS_OUTPUT_INDICES),
                        tsr_record_ints(b, TSR_ALIAS_OUTPUT_INDICES));
}

static bool joins_buffer(const tsr_op *op, const tsr_attr *alias) {
  const tsr_type *type = follow_results(op, tsr_record_ints(alias, TSR_ALIAS_OUTPUT_INDICES));
  return type->kind == TSR_TYPE_BUFFER;
}

// A buffer is in one alias at most.
static tsr_status check_buffer_alias(const tsr_op *op, const tsr_attr *aliases, int64_t index) {
  const tsr_attr *alias = aliases->items[index];
  if (!joins_buffer(op, alias)) return NULL;
  for (int64_t i = 0; i < index; i++) {
    const tsr_attr *other = aliases->items[i];
    if (!joins_buffer(op, other)) continue;
    TSR_ASK(!same_output(alias, other), op, "I7", "the buffer of result %s is in two aliases",
            SHOW_INTS(tsr_record_ints(alias, TSR_ALIAS_OUTPUT_INDICES)));
    TSR_ASK(!same_operand(alias, other), op, "I7", "the buffer of operand %lld is in two aliases",
            (long long)tsr_record_int(alias, TSR_ALIAS_OPERAND_INDEX));
  }
  return NULL;
}

static tsr_status check_aliases(const tsr_op *op, const tsr_attr *aliases) {
  for (int64_t i = 0; i < aliases->count; i++) TSR_TRY(check_alias(op, aliases->items[i]));
  return NULL;
}

// ---- buffers

enum { PATH_LIMIT = 64 };  // nested tuples

static bool has_output_alias(const tsr_attr *aliases, const int64_t *path, int length) {
  for (int64_t i = 0; aliases && i < aliases->count; i++) {
    const tsr_attr *output = tsr_record_ints(aliases->items[i], TSR_ALIAS_OUTPUT_INDICES);
    bool same = tsr_attr_int_count(output) == length;
    for (int j = 0; same && j < length; j++) same = tsr_attr_int_at(output, j) == path[j];
    if (same) return true;
  }
  return false;
}

static tsr_status check_buffers(const tsr_op *op, const tsr_attr *aliases, const tsr_type *type,
                                int64_t *path, int length) {
  if (type->kind == TSR_TYPE_BUFFER)
    TSR_ASK(has_output_alias(aliases, path, length), op, "I7",
            "the buffer of result %s is in no alias", SHOW_LIST(path, length));
  if (type->kind != TSR_TYPE_TUPLE) return NULL;
  TSR_ASK(length < PATH_LIMIT, op, "", "tuples are nested deeper than %d", PATH_LIMIT);
  for (int i = 0; i < type->count; i++) {
    path[length] = i;
    TSR_TRY(check_buffers(op, aliases, type->types[i], path, length + 1));
  }
  return NULL;
}

static tsr_status check_result_buffers(const tsr_op *op, const tsr_attr *aliases) {
  int64_t path[PATH_LIMIT + 1] = {0};
  const int start = op->result_count == 1 ? 0 : 1;
  for (int i = 0; i < op->result_count; i++) {
    path[0] = i;
    TSR_TRY(check_buffers(op, aliases, op->results[i].type, path, start));
  }
  return NULL;
}

static bool has_only(const tsr_op *op, int operands, int results) {
  return op->operand_count == operands && op->result_count == results;
}

// CreateBuffer, Pin and Unpin: what goes in and what comes out. True if the op is one of them.
static tsr_status check_buffer_target(const tsr_op *op, bool *out_known) {
  const tsr_attr *target = tsr_op_attr(op, "call_target_name");
  const bool creates = tsr_attr_is_string(target, "CreateBuffer");
  const bool pins = tsr_attr_is_string(target, "Pin");
  *out_known = creates || pins || tsr_attr_is_string(target, "Unpin");
  if (!*out_known) return NULL;
  TSR_ASK(has_only(op, creates ? 0 : 1, 1), op, "I1",
          "%s has %d operands and %d results, expected %d and 1", target->bytes, op->operand_count,
          op->result_count, creates ? 0 : 1);
  const tsr_type *result = op->results[0].type, *input = creates ? result : tsr_operand_type(op, 0);
  const bool buffer = result->kind == TSR_TYPE_BUFFER;
  TSR_ASK(buffer == (creates || pins) && tsr_type_is_shaped(result), op, "I1",
          "%s has the result %s, expected a %s", target->bytes, SHOW_TYPE(result),
          creates || pins ? "memref" : "tensor");
  if (creates) return NULL;
  TSR_ASK(tsr_type_is_shaped(input) && (input->kind == TSR_TYPE_BUFFER) != buffer, op, "I1",
          "%s has the operand %s, expected a %s", target->bytes, SHOW_TYPE(input),
          pins ? "tensor" : "memref");
  TSR_ASK(tsr_shapes_match(input, result) && tsr_same_element(input, result), op, "I1",
          "%s makes %s of %s, expected the same shape and elements", target->bytes,
          SHOW_TYPE(result), SHOW_TYPE(input));
  return NULL;
}

// ---- the op

static tsr_status check_config(const tsr_op *op) {
  const tsr_attr *config = tsr_op_attr(op, "backend_config");
  const int64_t version = tsr_op_int(op, "api_version", API_ORIGINAL);
  const bool typed = version == API_TYPED_FFI;
  TSR_ASK(version >= API_UNSPECIFIED && version <= API_TYPED_FFI, op, "I5",
          "api_version is %lld, expected 0 to %d", (long long)version, API_TYPED_FFI);
  TSR_ASK(!config || config->kind == (typed ? TSR_ATTR_DICT : TSR_ATTR_STRING), op, "I4",
          "backend_config is %s, expected a %s with api_version %lld", SHOW_ATTR(config),
          typed ? "dictionary" : "string", (long long)version);
  return NULL;
}

tsr_status tsr_verify_custom_call(tsr_ir *ir, const tsr_op *op) {
  const tsr_attr *aliases = tsr_op_attr(op, "output_operand_aliases");
  bool known = false;
  (void)ir;
  TSR_TRY(check_layouts(op));
  if (aliases) TSR_TRY(check_aliases(op, aliases));
  TSR_TRY(check_config(op));
  TSR_TRY(check_buffer_target(op, &known));
  if (known) return NULL;
  for (int64_t i = 0; aliases && i < aliases->count; i++)
    TSR_TRY(check_buffer_alias(op, aliases, i));
  return check_result_buffers(op, aliases);
}
