// Any op, by name, with attributes and types as text in MLIR's notation.
#include <string.h>

#include "base/sized.h"
#include "base/text_internal.h"
#include "builder/builder_internal.h"
#include "syntax/syntax.h"

// ---- texts ----

// "before TEXT after" in the program's memory, which what is read may refer to.
static tsr_status wrap(tsr_builder *builder, const char *before, const char *text,
                       const char *after, const char **out, size_t *out_length) {
  const size_t first = strlen(before), length = strlen(text), last = strlen(after);
  char *copy = tsr_ir_alloc(builder->ir, first + length + last + 1);
  TSR_NEED(copy);
  memcpy(copy, before, first);
  memcpy(copy + first, text, length);
  memcpy(copy + first + length, after, last + 1);
  *out = copy;
  *out_length = first + length + last;
  return NULL;
}

// A list of types, as the inputs of a function type.
static tsr_status read_types(tsr_builder *builder, const char *list, const tsr_type **out_type) {
  const char *text = NULL;
  size_t length = 0;
  TSR_TRY(wrap(builder, "(", list ? list : "", ") -> ()", &text, &length));
  TSR_TRY(tsr_syntax_read_type(builder->ir, text, length, out_type));
  if ((*out_type)->kind != TSR_TYPE_FUNCTION)
    return tsr_fail(SYNTAX, "types are \"%s\", expected such as \"tensor<4xf32>, tensor<i32>\"",
                    list);
  return NULL;
}

// ---- attributes ----

static const tsr_attr_info *find_field(const tsr_op_info *info, const char *name) {
  for (int i = 0; i < info->attr_count; i++)
    if (!strcmp(info->attrs[i].name, name)) return &info->attrs[i];
  return NULL;
}

// [0, 1] as array<i64: 0, 1>; NULL without memory.
static const tsr_attr *to_ints(tsr_ir *ir, const tsr_attr *list) {
  int64_t *values = tsr_ir_alloc(ir, sizeof *values * (size_t)(list->count + 1));
  for (int64_t i = 0; values && i < list->count; i++) values[i] = list->items[i]->integer;
  return values ? tsr_attr_ints(ir, values, list->count) : NULL;
}

static const tsr_attr *to_bools(tsr_ir *ir, const tsr_attr *list) {
  bool *values = tsr_ir_alloc(ir, sizeof *values * (size_t)(list->count + 1));
  for (int64_t i = 0; values && i < list->count; i++) values[i] = list->items[i]->integer != 0;
  return values ? tsr_attr_bools(ir, values, list->count) : NULL;
}

static bool are_integers(const tsr_attr *list) {
  if (list->kind != TSR_ATTR_ARRAY) return false;
  for (int64_t i = 0; i < list->count; i++)
    if (list->items[i]->kind != TSR_ATTR_INTEGER) return false;
  return true;
}

static const tsr_attr *fit(tsr_ir *ir, const tsr_op_info *info, const tsr_named_attr *entry) {
  const tsr_attr_info *field = find_field(info, entry->name);
  if (field && are_integers(entry->attr)) {
    if (field->form == TSR_FORM_INTS) return to_ints(ir, entry->attr);
    if (field->form == TSR_FORM_BOOLS) return to_bools(ir, entry->attr);
  }
  return entry->attr;
}

static tsr_status read_attrs(tsr_builder_op *draft, const tsr_op_info *info, const char *attrs) {
  tsr_builder *builder = draft->builder;
  const char *text = NULL;
  size_t length = 0;
  const tsr_attr *dict = NULL;
  TSR_TRY(wrap(builder, "{", attrs, "}", &text, &length));
  TSR_TRY(tsr_syntax_read_attr(builder->ir, text, length, &dict));
  if (dict->kind != TSR_ATTR_DICT || dict->count > TSR_BUILDER_ATTRS)
    return tsr_fail(SYNTAX, "attributes are \"%s\", expected at most %d such as \"k = 3\"", attrs,
                    TSR_BUILDER_ATTRS);
  for (int64_t i = 0; i < dict->count; i++)
    tsr_builder_attr(draft, dict->entries[i].name, fit(builder->ir, info, &dict->entries[i]));
  return NULL;
}

// ---- ops ----

static tsr_status check_counts(const tsr_op_info *info, int operands, int regions) {
  const int wanted = info->operands, blocks = info->regions;
  if (operands < 0 || !tsr_op_count_fits(wanted, operands))
    return tsr_fail(BAD_ARGUMENT, "%d operands, expected %s%d", operands,
                    wanted < 0 ? "at least " : "", wanted < 0 ? -1 - wanted : wanted);
  if (regions < 0 || !tsr_op_count_fits(blocks, regions))
    return tsr_fail(BAD_ARGUMENT, "%d regions, expected %s%d", regions,
                    blocks < 0 ? "at least " : "", blocks < 0 ? -1 - blocks : blocks);
  if (info->traits & (TSR_TRAIT_TERMINATES | TSR_TRAIT_SYMBOL) || info->id == TSR_OP_MODULE)
    return tsr_fail(BAD_ARGUMENT, "%s is not an op of a function", info->name);
  return NULL;
}

static tsr_status read_regions(tsr_builder_op *draft, const tsr_op_options *options) {
  tsr_builder *builder = draft->builder;
  tsr_builder_region *regions =
      tsr_arena_zeros(&builder->ir->arena, (size_t)options->region_count + 1, sizeof *regions);
  TSR_NEED(regions);
  for (int i = 0; i < options->region_count; i++) {
    const tsr_build_region *given = &options->regions[i];
    const tsr_type *types = NULL;
    if (given->result_count < 0)
      return tsr_fail(BAD_ARGUMENT, "region %d has %d results", i, given->result_count);
    TSR_TRY_NOTE(read_types(builder, given->args, &types), "region %d", i);
    regions[i] = (tsr_builder_region){.build = given->build,
                                      .context = given->context,
                                      .args = types->types,
                                      .arg_count = types->input_count,
                                      .result_count = given->result_count};
  }
  draft->regions = regions;
  draft->region_count = options->region_count;
  return NULL;
}

static tsr_status read_op(tsr_builder_op *draft, const char *name, const tsr_op_options *given) {
  const tsr_op_info *info = NULL;
  const tsr_type *results = NULL;
  tsr_op_options options;
  TSR_TRY(tsr_sized_read(tsr_op_options, given, &options));
  TSR_TRY(tsr_builder_find_op(name, &info));
  TSR_TRY(check_counts(info, draft->operand_count, options.region_count));
  if ((draft->operand_count && !draft->operands) || (options.region_count && !options.regions))
    return tsr_fail(BAD_ARGUMENT, "the %s are NULL", draft->operands ? "regions" : "operands");
  draft->id = info->id;
  if (options.attrs) TSR_TRY_NOTE(read_attrs(draft, info, options.attrs), "attributes");
  TSR_TRY(read_regions(draft, &options));
  if (!options.results) return NULL;
  TSR_TRY_NOTE(read_types(draft->builder, options.results, &results), "types of results");
  draft->type_count = results->input_count;
  draft->types = results->types;
  return NULL;
}

tsr_node tsr_build_op(tsr_builder *builder, const char *name, const tsr_node *operands, int count,
                      const tsr_op_options *options) {
  if (!tsr_builder_enter(builder, name)) return TSR_NO_NODE;
  tsr_node result = TSR_NO_NODE;
  tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_UNKNOWN, operands, count);
  if (tsr_builder_keep(builder, read_op(&draft, name, options)))
    result = tsr_builder_emit(&draft, NULL, -1);
  return tsr_builder_leave(builder, result);
}

static tsr_status find_result(const tsr_builder *builder, tsr_node first, int index,
                              tsr_node *out_node) {
  tsr_value *value = NULL;
  TSR_TRY(tsr_builder_value(builder, first, 0, &value));
  if (!value->def || value->index != 0)
    return tsr_fail(BAD_ARGUMENT, "the value is not the first result of an op");
  if (index < 0 || index >= value->def->result_count)
    return tsr_fail(INDEX_OUT_OF_RANGE, "result %d of %s, expected 0 to %d", index,
                    value->def->name, value->def->result_count - 1);
  // The results of an op are consecutive nodes.
  *out_node = (tsr_node){first.id + index};
  return NULL;
}

tsr_node tsr_build_result(tsr_builder *builder, tsr_node first, int index) {
  if (!tsr_builder_enter(builder, "result")) return TSR_NO_NODE;
  tsr_node result = TSR_NO_NODE;
  (void)tsr_builder_keep(builder, find_result(builder, first, index, &result));
  return tsr_builder_leave(builder, result);
}
