// Functions: their arguments and results with names, shardings and donation. A function's type and
// the dictionaries of its arguments and results are set when it is closed.
#include <string.h>

#include "base/sized.h"
#include "builder/builder_internal.h"
#include "builder/builder_spec.h"

static tsr_status set_attr(tsr_builder *builder, tsr_op *op, const char *name,
                           const tsr_attr *attr) {
  const char *key = tsr_ir_name(builder->ir, name, strlen(name));
  TSR_NEED(attr && key && tsr_op_set_attr(builder->ir, op, key, attr) ? op : NULL);
  return NULL;
}

tsr_status tsr_builder_open(tsr_builder *builder, tsr_builder_function *function, const char *name,
                            const char *visibility) {
  tsr_ir *ir = builder->ir;
  tsr_op *op = tsr_op_create(ir, &(tsr_op_parts){.id = TSR_OP_FUNC, .region_count = 1});
  TSR_NEED(op);
  tsr_op_append(ir->module->regions[0].first, op);
  tsr_ir_block *block = tsr_block_append(ir, &op->regions[0]);
  TSR_NEED(block);
  TSR_TRY(set_attr(builder, op, "sym_name", tsr_attr_string(ir, name, strlen(name))));
  TSR_TRY(
      set_attr(builder, op, "sym_visibility", tsr_attr_string(ir, visibility, strlen(visibility))));
  *function = (tsr_builder_function){.op = op, .block = block};
  builder->open = function;
  return NULL;
}

// ---- parameters ----

static tsr_status add_entry(tsr_builder *builder, tsr_named_attr *entries, int *count,
                            const char *name, const tsr_attr *attr) {
  const char *key = tsr_ir_name(builder->ir, name, strlen(name));
  TSR_NEED(key && attr ? key : NULL);
  entries[(*count)++] = (tsr_named_attr){key, attr};
  return NULL;
}

static tsr_status argument_attrs(tsr_builder *builder, const tsr_type *type,
                                 const tsr_parameter_options *options, const tsr_attr **out_attrs) {
  tsr_named_attr entries[2];
  int count = 0;
  if (options->donate)
    TSR_TRY(add_entry(builder, entries, &count, "jax.buffer_donor", builder->ir->true_value));
  if (options->spec) {
    const tsr_attr *sharding = NULL;
    TSR_TRY(tsr_builder_sharding(builder, options->spec, type, &sharding));
    TSR_TRY(add_entry(builder, entries, &count, "sdy.sharding", sharding));
  }
  *out_attrs = tsr_attr_dict(builder->ir, entries, count);
  TSR_NEED(*out_attrs);
  return NULL;
}

const tsr_attr *tsr_name_location(tsr_ir *ir, const char *name) {
  const tsr_attr *string = tsr_attr_string(ir, name, strlen(name));
  const tsr_attr *fields[] = {[TSR_LOC_NAME_NAME] = string, [TSR_LOC_NAME_CHILD] = NULL};
  return string ? tsr_attr_record(ir, TSR_RECORD_LOC_NAME, fields) : NULL;
}

// Argument types are checked as those of constants are: a dtype and a valid static shape.
static tsr_status add_parameter(tsr_builder *builder, const char *name, tsr_dtype dtype,
                                const tsr_shape *shape, const tsr_parameter_options *given,
                                tsr_value **out_value) {
  tsr_builder_function *function = builder->open;
  tsr_parameter_options options;
  TSR_TRY(tsr_sized_read(tsr_parameter_options, given, &options));
  if (function->block->region->parent != function->op)
    return tsr_fail(BAD_ARGUMENT, "a region has no parameters, only functions have");
  const tsr_type *type = NULL;
  TSR_TRY(tsr_builder_type(builder, dtype, shape, &type));
  const tsr_attr *attrs = NULL, *location = NULL;
  TSR_TRY(argument_attrs(builder, type, &options, &attrs));
  const tsr_attr **list =
      tsr_arena_grow(&builder->ir->arena, function->arg_attrs, function->arg_count, sizeof *list);
  TSR_NEED(list);
  if (name) TSR_NEED(location = tsr_name_location(builder->ir, name));
  *out_value = tsr_block_add_arg(builder->ir, function->block, type, location);
  TSR_NEED(*out_value);
  function->arg_attrs = list;
  list[function->arg_count++] = attrs;
  return NULL;
}

tsr_node tsr_build_parameter(tsr_builder *builder, const char *name, tsr_dtype dtype,
                             const tsr_shape *shape, const tsr_parameter_options *options) {
  if (!tsr_builder_enter(builder, "parameter")) return TSR_NO_NODE;
  tsr_value *value = NULL;
  tsr_status status = add_parameter(builder, name, dtype, shape, options, &value);
  if (name) status = tsr_note(status, "\"%s\"", name);
  const bool added = tsr_builder_keep(builder, status);
  return tsr_builder_leave(builder, added ? tsr_builder_add_value(builder, value) : TSR_NO_NODE);
}

// ---- outputs ----

// The parameter's dictionary, with tf.aliasing_output instead of jax.buffer_donor.
static tsr_status alias(tsr_builder *builder, const tsr_value *parameter, int output) {
  tsr_ir *ir = builder->ir;
  const tsr_attr **slot = &builder->open->arg_attrs[parameter->index];
  if (tsr_dict_find(*slot, "tf.aliasing_output"))
    return tsr_fail(BAD_ARGUMENT, "parameter %d is already taken by another output",
                    parameter->index);
  tsr_named_attr entries[3];
  int count = 0;
  const tsr_attr *sharding = tsr_dict_find(*slot, "sdy.sharding");
  if (sharding) TSR_TRY(add_entry(builder, entries, &count, "sdy.sharding", sharding));
  const tsr_type *i32 = tsr_type_integer(ir, 32, TSR_SIGNLESS);
  TSR_NEED(i32);
  TSR_TRY(
      add_entry(builder, entries, &count, "tf.aliasing_output", tsr_attr_integer(ir, i32, output)));
  TSR_NEED(*slot = tsr_attr_dict(ir, entries, count));
  return NULL;
}

static tsr_status take(tsr_builder *builder, tsr_node node, const tsr_value *output) {
  tsr_value *parameter = NULL;
  TSR_TRY(tsr_builder_value(builder, node, 1, &parameter));
  if (parameter->block != tsr_func_body(builder->open->op))
    return tsr_fail(BAD_ARGUMENT, "the value taken is not a parameter");
  if (parameter->type != output->type)
    return tsr_fail_types(CONSTRAINT, "the output and the parameter it takes have types",
                          output->type, parameter->type);
  return alias(builder, parameter, builder->open->output_count);
}

static tsr_status output_attrs(tsr_builder *builder, const tsr_value *value, const char *name,
                               const char *spec, const tsr_attr **out_attrs) {
  tsr_named_attr entries[2];
  int count = 0;
  if (name)
    TSR_TRY(add_entry(builder, entries, &count, "jax.result_info",
                      tsr_attr_string(builder->ir, name, strlen(name))));
  if (spec) {
    const tsr_attr *sharding = NULL;
    TSR_TRY(tsr_builder_sharding(builder, spec, value->type, &sharding));
    TSR_TRY(add_entry(builder, entries, &count, "sdy.sharding", sharding));
  }
  *out_attrs = tsr_attr_dict(builder->ir, entries, count);
  TSR_NEED(*out_attrs);
  return NULL;
}

static tsr_status add_output(tsr_builder *builder, tsr_node x, const char *name,
                             const tsr_output_options *given) {
  tsr_builder_function *function = builder->open;
  tsr_output_options options;
  TSR_TRY(tsr_sized_read(tsr_output_options, given, &options));
  tsr_value *value = NULL;
  TSR_TRY(tsr_builder_value(builder, x, 0, &value));
  if (function->block->region->parent != function->op)
    return tsr_fail(BAD_ARGUMENT, "a region has no outputs, only functions have");
  const tsr_attr *attrs = NULL;
  TSR_TRY(output_attrs(builder, value, name, options.spec, &attrs));
  if (options.takes.id) TSR_TRY(take(builder, options.takes, value));
  tsr_builder_output *list =
      tsr_arena_grow(&builder->ir->arena, function->outputs, function->output_count, sizeof *list);
  TSR_NEED(list);
  function->outputs = list;
  list[function->output_count++] = (tsr_builder_output){value, attrs};
  return NULL;
}

void tsr_build_output(tsr_builder *builder, tsr_node x, const char *name,
                      const tsr_output_options *options) {
  if (!tsr_builder_enter(builder, "output")) return;
  tsr_status status = add_output(builder, x, name, options);
  if (name) status = tsr_note(status, "\"%s\"", name);
  (void)tsr_builder_keep(builder, status);
  (void)tsr_builder_leave(builder, TSR_NO_NODE);
}

// ---- closing ----

// Sets a list of dictionaries unless all of them are empty, as MLIR does.
static tsr_status set_dicts(tsr_builder *builder, tsr_op *op, const char *name,
                            const tsr_attr *const *dicts, int count) {
  bool any = false;
  for (int i = 0; i < count; i++) any |= dicts[i]->count > 0;
  return any ? set_attr(builder, op, name, tsr_attr_array(builder->ir, dicts, count)) : NULL;
}

static tsr_status set_type(tsr_builder *builder, const tsr_builder_function *function,
                           const tsr_ir_block *body) {
  tsr_ir *ir = builder->ir;
  const int inputs = function->arg_count, outputs = function->output_count;
  const tsr_type **types = tsr_ir_alloc(ir, sizeof *types * (size_t)(inputs + outputs + 1));
  TSR_NEED(types);
  for (int i = 0; i < inputs; i++) types[i] = body->args[i]->type;
  for (int i = 0; i < outputs; i++) types[inputs + i] = function->outputs[i].value->type;
  const tsr_type *type = tsr_type_function(ir, types, inputs, types + inputs, outputs);
  TSR_NEED(type);
  return set_attr(builder, function->op, "function_type", tsr_attr_type(ir, type));
}

tsr_status tsr_builder_close(tsr_builder *builder, tsr_builder_function *function) {
  tsr_ir *ir = builder->ir;
  const int count = function->output_count;
  tsr_value **values = tsr_ir_alloc(ir, sizeof *values * (size_t)(count + 1));
  const tsr_attr **dicts = tsr_ir_alloc(ir, sizeof *dicts * (size_t)(count + 1));
  TSR_NEED(values && dicts ? values : NULL);
  for (int i = 0; i < count; i++) {
    values[i] = function->outputs[i].value;
    dicts[i] = function->outputs[i].attrs;
  }
  TSR_TRY(set_type(builder, function, function->block));
  TSR_TRY(set_dicts(builder, function->op, "arg_attrs", function->arg_attrs, function->arg_count));
  TSR_TRY(set_dicts(builder, function->op, "res_attrs", dicts, count));
  tsr_op *end = tsr_op_create(
      ir, &(tsr_op_parts){.id = TSR_OP_FUNC_RETURN, .operand_count = count, .operands = values});
  TSR_NEED(end);
  tsr_op_append(function->block, end);
  builder->open = &builder->main;
  return NULL;
}

// ---- private functions ----

static tsr_status begin(tsr_builder *builder, const char *name) {
  if (builder->open != &builder->main)
    return tsr_fail(BAD_ARGUMENT, "function \"%s\" has not ended",
                    tsr_op_symbol(builder->function.op));
  if (builder->main.block->region->parent != builder->main.op)
    return tsr_fail(BAD_ARGUMENT, "a function cannot begin in a region");
  if (!*name) return tsr_fail(BAD_ARGUMENT, "the name of the function is empty");
  if (tsr_ir_find_symbol(builder->ir, name))
    return tsr_fail(BAD_ARGUMENT, "there is already a function or mesh \"%s\"", name);
  return tsr_builder_open(builder, &builder->function, name, "private");
}

void tsr_build_begin_function(tsr_builder *builder, const char *name) {
  if (!tsr_builder_enter(builder, "begin_function")) return;
  (void)tsr_builder_keep(builder, begin(builder, name));
  (void)tsr_builder_leave(builder, TSR_NO_NODE);
}

static tsr_status end(tsr_builder *builder) {
  tsr_builder_function *function = builder->open;
  if (function == &builder->main) return tsr_fail(BAD_ARGUMENT, "no function has begun");
  if (function->block->region->parent != function->op)
    return tsr_fail(BAD_ARGUMENT, "a function cannot end in a region");
  return tsr_builder_close(builder, function);
}

void tsr_build_end_function(tsr_builder *builder) {
  if (!tsr_builder_enter(builder, "end_function")) return;
  (void)tsr_builder_keep(builder, end(builder));
  (void)tsr_builder_leave(builder, TSR_NO_NODE);
}

// ---- calls ----

static tsr_status find_callee(const tsr_builder *builder, const char *name, int count,
                              const tsr_type **out_type) {
  const tsr_op *callee = tsr_ir_find_symbol(builder->ir, name);
  if (!callee || callee->info->id != TSR_OP_FUNC)
    return tsr_fail(UNKNOWN_SYMBOL, "there is no function \"%s\"", name);
  const tsr_type *type = tsr_op_attr(callee, "function_type") ? tsr_func_type(callee) : NULL;
  if (!type) return tsr_fail(BAD_ARGUMENT, "function \"%s\" has not ended", name);
  if (type->count - type->input_count != count)
    return tsr_fail(BAD_ARGUMENT, "function \"%s\" has %d outputs, expected %d", name,
                    type->count - type->input_count, count);
  *out_type = type;
  return NULL;
}

static tsr_status check_arguments(const tsr_builder *builder, const tsr_type *callee,
                                  const tsr_node *operands, int count) {
  if (count != callee->input_count)
    return tsr_fail(CONSTRAINT, "%d operands, expected %d", count, callee->input_count);
  if (count && !operands) return tsr_fail(BAD_ARGUMENT, "the operands are NULL");
  for (int i = 0; i < count; i++) {
    tsr_value *value = NULL;
    TSR_TRY(tsr_builder_value(builder, operands[i], i, &value));
    if (value->type != callee->types[i])
      return tsr_note(tsr_fail_types(CONSTRAINT, "value and parameter have types", value->type,
                                     callee->types[i]),
                      "operand %d", i);
  }
  return NULL;
}

void tsr_build_call(tsr_builder *builder, const char *name, const tsr_node *operands,
                    int operand_count, tsr_node *out_results, int count) {
  if (!tsr_builder_enter_all(builder, "call", out_results, count)) return;
  const tsr_type *type = NULL;
  tsr_status status = find_callee(builder, name, count, &type);
  if (!status)
    status =
        tsr_note(check_arguments(builder, type, operands, operand_count), "function \"%s\"", name);
  if (tsr_builder_keep(builder, status) && type) {
    tsr_builder_op draft = tsr_builder_draft(builder, TSR_OP_CALL, operands, operand_count);
    tsr_builder_attr(&draft, "callee", tsr_attr_symbol(builder->ir, name, strlen(name)));
    draft.type_count = count;
    draft.types = type->types + type->input_count;
    (void)tsr_builder_emit(&draft, out_results, count);
  }
  tsr_builder_leave_all(builder, out_results, count);
}
