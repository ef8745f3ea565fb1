// Ops in MLIR's form: the generic form, regions, blocks and attributes. An op prints in its own
// form (syntax/op_forms.h) if it has one and fits it; otherwise nothing would be lost only in the
// generic form.
#include "syntax/op_printer.h"

#include <string.h>

#include "base/text_internal.h"
#include "syntax/location_aliases.h"
#include "syntax/op_forms.h"
#include "syntax/resources.h"
#include "syntax/ssa_names.h"
#include "syntax/writer.h"

enum { INDENT = 2 };

void tsr_print_newline(tsr_op_printer *printer) {
  static const char spaces[] = "                                ";
  tsr_text_add_char(printer->out, '\n');
  for (int left = printer->indent; left > 0; left -= (int)sizeof spaces - 1)
    tsr_text_add_bytes(printer->out, spaces,
                       left < (int)sizeof spaces - 1 ? (size_t)left : sizeof spaces - 1);
}

// ---- values and types ----

void tsr_print_type(tsr_op_printer *printer, const tsr_type *type) {
  tsr_printed_type *printed = &printer->printed[type->hash % TSR_PRINTED_TYPES];
  if (printed->type == type) {
    tsr_text_add_again(printer->out, printed->at, printed->length);
    return;
  }
  const size_t at = printer->out->length;
  tsr_type_print(type, printer->out);
  *printed = (tsr_printed_type){type, at, printer->out->length - at};
}

void tsr_print_operand(tsr_op_printer *printer, const tsr_value *value) {
  tsr_ssa_print(value, printer->out);
}

void tsr_print_operands(tsr_op_printer *printer, const tsr_op *op, int first, int count) {
  for (int i = 0; i < count; i++) {
    if (i) tsr_text_add(printer->out, ", ");
    tsr_print_operand(printer, tsr_op_operand(op, first + i));
  }
}

void tsr_print_operand_types(tsr_op_printer *printer, const tsr_op *op) {
  for (int i = 0; i < op->operand_count; i++) {
    if (i) tsr_text_add(printer->out, ", ");
    tsr_print_type(printer, tsr_operand_type(op, i));
  }
}

void tsr_print_result_types(tsr_op_printer *printer, const tsr_op *op) {
  const bool bare = op->result_count == 1 && op->results[0].type->kind != TSR_TYPE_FUNCTION;
  if (!bare) tsr_text_add_char(printer->out, '(');
  for (int i = 0; i < op->result_count; i++) {
    if (i) tsr_text_add(printer->out, ", ");
    tsr_print_type(printer, op->results[i].type);
  }
  if (!bare) tsr_text_add_char(printer->out, ')');
}

void tsr_print_functional_type(tsr_op_printer *printer, const tsr_op *op) {
  tsr_text_add_char(printer->out, '(');
  tsr_print_operand_types(printer, op);
  tsr_text_add(printer->out, ") -> ");
  tsr_print_result_types(printer, op);
}

// ---- attributes ----

void tsr_print_attr(tsr_op_printer *printer, const tsr_attr *attr) {
  tsr_attr_print_elided(attr, printer->options.elide_elements, printer->out);
}

static void print_entry(tsr_op_printer *printer, const tsr_named_attr *entry) {
  tsr_attr_name_print(entry->name, printer->out);
  if (entry->attr->kind == TSR_ATTR_UNIT) return;
  tsr_text_add(printer->out, " = ");
  tsr_print_attr(printer, entry->attr);
}

uint32_t tsr_row_bit(const tsr_op_info *info, const char *name) {
  for (int i = 0; i < info->attr_count; i++)
    if (!strcmp(info->attrs[i].name, name)) return UINT32_C(1) << i;
  return 0;
}

// The position in the op's row of one of its attributes, from `*next` on since both are sorted;
// -1 for a discardable one.
static int row_position(const tsr_op *op, const char *name, int *next) {
  const tsr_attr_info *fields = op->info->attrs;
  while (*next < op->info->attr_count) {
    const int order = strcmp(fields[*next].name, name);
    if (order == 0) return (*next)++;
    if (order > 0) return -1;
    ++*next;
  }
  return -1;
}

void tsr_print_attr_dict(tsr_op_printer *printer, const tsr_op *op, uint32_t used, bool elide,
                         const char *keyword) {
  bool any = false;
  for (int i = 0, next = 0; i < op->attr_count; i++) {
    const int at = row_position(op, op->attrs[i].name, &next);
    if (at >= 0 && used >> at & 1) continue;
    if (at >= 0 && elide && tsr_op_attr_is_default(op, op->attrs[i].name, op->attrs[i].attr))
      continue;
    if (!any) {
      tsr_text_add(printer->out, keyword);
      tsr_text_add(printer->out, " {");
    } else {
      tsr_text_add(printer->out, ", ");
    }
    print_entry(printer, &op->attrs[i]);
    any = true;
  }
  if (any) tsr_text_add_char(printer->out, '}');
}

// The attributes of the row (`inherent`) or the others, between `open` and `close`.
static void print_attrs(tsr_op_printer *printer, const tsr_op *op, bool inherent, const char *open,
                        const char *close) {
  bool any = false;
  for (int i = 0, next = 0; i < op->attr_count; i++) {
    if ((row_position(op, op->attrs[i].name, &next) >= 0) != inherent) continue;
    tsr_text_add(printer->out, any ? ", " : open);
    print_entry(printer, &op->attrs[i]);
    any = true;
  }
  if (any) tsr_text_add(printer->out, close);
}

// ---- locations ----

void tsr_print_location(tsr_op_printer *printer, const tsr_attr *location, bool allow_alias) {
  if (!printer->aliases) return;
  tsr_text_add(printer->out, " loc(");
  tsr_location_aliases_print(printer->aliases, location, allow_alias, printer->out);
  tsr_text_add_char(printer->out, ')');
}

void tsr_print_argument(tsr_op_printer *printer, const tsr_value *argument) {
  tsr_print_operand(printer, argument);
  tsr_text_add(printer->out, ": ");
  tsr_print_type(printer, argument->type);
  tsr_print_location(printer, argument->location, false);
}

// ---- regions and ops ----

static void print_block_header(tsr_op_printer *printer, const tsr_ir_block *block, int number) {
  tsr_print_newline(printer);
  tsr_text_add(printer->out, "^bb");
  tsr_text_add_int(printer->out, number);
  if (block->arg_count) tsr_text_add_char(printer->out, '(');
  for (int i = 0; i < block->arg_count; i++) {
    if (i) tsr_text_add(printer->out, ", ");
    tsr_print_argument(printer, block->args[i]);
  }
  if (block->arg_count) tsr_text_add_char(printer->out, ')');
  tsr_text_add_char(printer->out, ':');
  if (number) tsr_text_add(printer->out, "  // no predecessors");
}

static void print_block(tsr_op_printer *printer, const tsr_ir_block *block) {
  printer->indent += INDENT;
  for (const tsr_op *op = block->first; op; op = op->next) {
    tsr_print_newline(printer);
    tsr_print_op(printer, op);
  }
  printer->indent -= INDENT;
}

// Functions and modules let their own dialect's ops go without prefix.
static const char *dialect_inside(const tsr_op *op) {
  if (!op) return "";
  return op->info->id == TSR_OP_FUNC ? "func." : op->info->id == TSR_OP_MODULE ? "builtin." : "";
}

static void print_region(tsr_op_printer *printer, const tsr_region *region, bool header,
                         bool header_of_empty) {
  const char *outside = printer->dialect;
  printer->dialect = dialect_inside(region->parent);
  tsr_text_add_char(printer->out, '{');
  int number = 0;
  for (const tsr_ir_block *block = region->first; block; block = block->next, number++) {
    const bool first = number == 0;
    if (!first || (header && block->arg_count) || (header_of_empty && !block->first))
      print_block_header(printer, block, number);
    print_block(printer, block);
  }
  tsr_print_newline(printer);
  tsr_text_add_char(printer->out, '}');
  printer->dialect = outside;
}

void tsr_print_region(tsr_op_printer *printer, const tsr_region *region, bool header) {
  print_region(printer, region, header, false);
}

void tsr_print_generic_op(tsr_op_printer *printer, const tsr_op *op, bool with_name) {
  if (with_name) tsr_string_print(op->name, strlen(op->name), printer->out);
  tsr_text_add_char(printer->out, '(');
  tsr_print_operands(printer, op, 0, op->operand_count);
  tsr_text_add_char(printer->out, ')');
  print_attrs(printer, op, true, " <{", "}>");
  for (int i = 0; i < op->region_count; i++) {
    tsr_text_add(printer->out, i ? ", " : " (");
    print_region(printer, &op->regions[i], true, true);
  }
  if (op->region_count) tsr_text_add_char(printer->out, ')');
  print_attrs(printer, op, false, " {", "}");
  tsr_text_add(printer->out, " : ");
  tsr_print_functional_type(printer, op);
}

void tsr_print_op(tsr_op_printer *printer, const tsr_op *op) {
  tsr_ssa_print_results(op, printer->out);
  if (printer->options.generic || !tsr_op_form_print(printer, op))
    tsr_print_generic_op(printer, op, true);
  tsr_print_location(printer, op->location, true);
}

// ---- whole programs, and one op with the names it has in its function ----

static tsr_print_options options_or_default(const tsr_print_options *options) {
  return options ? *options : (tsr_print_options){.generic = false};
}

void tsr_syntax_print(const tsr_ir *ir, const tsr_print_options *options, tsr_text *out) {
  tsr_op_printer printer = {
      .out = out, .options = options_or_default(options), .dialect = "builtin."};
  tsr_location_aliases aliases = {.generic = printer.options.generic};
  if (printer.options.locations) {
    printer.aliases = &aliases;
    tsr_location_aliases_gather(&aliases, ir->module);
    if (aliases.failed) out->failed = true;
    tsr_location_aliases_define(&aliases, true, out);
  }
  tsr_ssa_name_values(ir->module, printer.options.generic);
  tsr_print_op(&printer, ir->module);
  tsr_text_add_char(out, '\n');
  tsr_location_aliases_define(&aliases, false, out);
  tsr_print_resources(ir, out);
  tsr_location_aliases_deinit(&aliases);
}

// The dialect whose ops print without prefix where `op` stands.
static const char *dialect_around(const tsr_op *op) {
  const tsr_op *parent = tsr_op_parent(op);
  if (!parent || parent->info->id == TSR_OP_MODULE) return "builtin.";
  return parent->info->id == TSR_OP_FUNC ? "func." : "";
}

// Locations of a single op are written out, since there is no place to define aliases.
void tsr_syntax_print_op(const tsr_op *op, const tsr_print_options *options, tsr_text *out) {
  const tsr_op *root = op;
  while (tsr_op_parent(root) && tsr_op_parent(root)->info->id != TSR_OP_MODULE)
    root = tsr_op_parent(root);
  tsr_op_printer printer = {
      .out = out, .options = options_or_default(options), .dialect = dialect_around(op)};
  tsr_location_aliases none = {.entries = NULL};
  if (printer.options.locations) printer.aliases = &none;
  tsr_ssa_name_values(root, printer.options.generic);
  tsr_print_op(&printer, op);
}
