// Ops, uses, blocks, symbols, copies and equality of programs.
#include <stdio.h>
#include <string.h>

#include "base/text_internal.h"
#include "ir/ir.h"
#include "support/test.h"

typedef struct made {
  tsr_ir *ir;
  tsr_op *func;
  tsr_ir_block *body;
  const tsr_type *type;
} made;

static const char *name_of(tsr_ir *ir, const char *name) {
  return tsr_ir_name(ir, name, strlen(name));
}

static tsr_op *add_func(tsr_ir *ir, const char *name, const tsr_type *type) {
  const tsr_type *function = tsr_type_function(ir, &type, 1, &type, 1);
  const tsr_named_attr attrs[] = {
      {name_of(ir, "sym_name"), tsr_attr_string(ir, name, strlen(name))},
      {name_of(ir, "function_type"), tsr_attr_type(ir, function)}};
  tsr_op *func = tsr_op_create(
      ir, &(tsr_op_parts){.id = TSR_OP_FUNC, .region_count = 1, .attrs = attrs, .attr_count = 2});
  tsr_op_append(ir->module->regions[0].first, func);
  return func;
}

static made make(const char *name) {
  made m = {.ir = tsr_ir_create()};
  m.type = tsr_type_shaped(m.ir, TSR_F32, 0, NULL);
  m.func = add_func(m.ir, name, m.type);
  m.body = tsr_block_append(m.ir, &m.func->regions[0]);
  tsr_block_add_arg(m.ir, m.body, m.type, NULL);
  return m;
}

static tsr_op *add_op(const made *m, tsr_op_id id, tsr_value *a, tsr_value *b) {
  tsr_value *operands[] = {a, b};
  tsr_op *op = tsr_op_create(m->ir, &(tsr_op_parts){.id = id,
                                                    .operands = operands,
                                                    .operand_count = b ? 2 : 1,
                                                    .result_types = &m->type,
                                                    .result_count = id != TSR_OP_FUNC_RETURN});
  tsr_op_append(m->body, op);
  return op;
}

static int use_count(const tsr_value *value) {
  int count = 0;
  for (const tsr_use *use = value->uses; use; use = use->next) count++;
  return count;
}

static void the_newest_use_comes_first(void **state) {
  (void)state;
  made m = make("main");
  tsr_value *x = m.body->args[0];
  tsr_op *first = add_op(&m, TSR_OP_ADD, x, x), *second = add_op(&m, TSR_OP_NEGATE, x, NULL);
  assert_int_equal(use_count(x), 3);
  assert_ptr_equal(x->uses->user, second);
  assert_ptr_equal(x->uses->next, &first->operands[1]);
  tsr_op_set_operand(first, 0, tsr_op_result(second, 0));
  assert_int_equal(use_count(x), 2);
  assert_int_equal(use_count(&second->results[0]), 1);
  tsr_ir_destroy(m.ir);
}

static void replaced_uses_keep_their_order(void **state) {
  (void)state;
  made m = make("main");
  tsr_value *x = m.body->args[0];
  tsr_op *source = add_op(&m, TSR_OP_NEGATE, x, NULL);
  tsr_op *a = add_op(&m, TSR_OP_ABS, &source->results[0], NULL);
  tsr_op *b = add_op(&m, TSR_OP_ABS, &source->results[0], NULL);
  tsr_value_replace(&source->results[0], x);
  assert_null(source->results[0].uses);
  assert_ptr_equal(x->uses->user, b);
  assert_ptr_equal(x->uses->next->user, a);
  assert_ptr_equal(x->uses->next->next->user, source);
  tsr_ir_destroy(m.ir);
}

static void operands_grow_and_shrink(void **state) {
  (void)state;
  made m = make("main");
  tsr_value *x = m.body->args[0];
  tsr_op *op = add_op(&m, TSR_OP_FUNC_RETURN, x, NULL);
  assert_true(tsr_op_set_operands(m.ir, op, (tsr_value *[]){x, x, x}, 3));
  assert_int_equal(use_count(x), 3);
  assert_true(tsr_op_set_operands(m.ir, op, NULL, 0));
  assert_null(x->uses);
  tsr_ir_destroy(m.ir);
}

static void erased_ops_leave_no_uses(void **state) {
  (void)state;
  made m = make("main");
  tsr_value *x = m.body->args[0];
  tsr_op *branch = tsr_op_create(m.ir, &(tsr_op_parts){.id = TSR_OP_IF, .region_count = 1});
  tsr_op_append(m.body, branch);
  made inside = m;
  inside.body = tsr_block_append(m.ir, &branch->regions[0]);
  tsr_op *inner = add_op(&inside, TSR_OP_ABS, x, NULL);
  tsr_op *after = add_op(&m, TSR_OP_NEGATE, x, NULL);
  assert_ptr_equal(tsr_op_parent(inner), branch);
  assert_ptr_equal(tsr_op_parent(branch), m.func);
  tsr_op_erase(branch);
  assert_int_equal(use_count(x), 1);
  assert_ptr_equal(m.body->first, after);
  assert_ptr_equal(m.body->last, after);
  tsr_ir_destroy(m.ir);
}

static void ops_are_linked_where_they_are_put(void **state) {
  (void)state;
  made m = make("main");
  tsr_value *x = m.body->args[0];
  tsr_op *a = add_op(&m, TSR_OP_ABS, x, NULL), *b = add_op(&m, TSR_OP_ABS, x, NULL);
  tsr_op_unlink(b);
  tsr_op_insert_before(a, b);
  assert_ptr_equal(m.body->first, b);
  assert_ptr_equal(b->next, a);
  assert_ptr_equal(m.body->last, a);
  assert_null(tsr_block_terminator(m.body));
  tsr_op *end = add_op(&m, TSR_OP_FUNC_RETURN, x, NULL);
  assert_ptr_equal(tsr_block_terminator(m.body), end);
  tsr_ir_destroy(m.ir);
}

static void attributes_stay_sorted(void **state) {
  (void)state;
  made m = make("main");
  const tsr_attr *one = tsr_attr_i64(m.ir, 1), *unit = tsr_attr_unit(m.ir);
  assert_true(tsr_op_set_attr(m.ir, m.func, name_of(m.ir, "zeta"), one));
  assert_true(tsr_op_set_attr(m.ir, m.func, name_of(m.ir, "alpha"), unit));
  assert_int_equal(m.func->attr_count, 4);
  for (int i = 1; i < m.func->attr_count; i++)
    assert_true(strcmp(m.func->attrs[i - 1].name, m.func->attrs[i].name) < 0);
  assert_int_equal(tsr_op_int(m.func, "zeta", 5), 1);
  assert_int_equal(tsr_op_int(m.func, "eta", 5), 5);
  assert_true(tsr_op_flag(m.func, "alpha"));
  assert_true(tsr_op_set_attr(m.ir, m.func, "alpha", NULL));
  assert_false(tsr_op_flag(m.func, "alpha"));
  assert_true(tsr_op_is_inherent(m.func, "sym_name"));
  assert_false(tsr_op_is_inherent(m.func, "zeta"));
  tsr_ir_destroy(m.ir);
}

static void symbols_are_found_after_changes(void **state) {
  (void)state;
  made m = make("main");
  char name[16];
  for (int i = 0; i < 300; i++) {
    snprintf(name, sizeof name, "f%d", i);
    add_func(m.ir, name, m.type);
  }
  tsr_op *last = tsr_ir_find_symbol(m.ir, "f299");
  assert_string_equal(tsr_op_symbol(last), "f299");
  assert_ptr_equal(tsr_ir_find_symbol(m.ir, "main"), m.func);
  assert_null(tsr_ir_find_symbol(m.ir, "f300"));
  tsr_op_erase(last);
  assert_null(tsr_ir_find_symbol(m.ir, "f299"));
  tsr_op *renamed = tsr_ir_find_symbol(m.ir, "f7");
  tsr_op_set_attr(m.ir, renamed, name_of(m.ir, "sym_name"), tsr_attr_string(m.ir, "g", 1));
  assert_null(tsr_ir_find_symbol(m.ir, "f7"));
  assert_ptr_equal(tsr_ir_find_symbol(m.ir, "g"), renamed);
  assert_ptr_equal(tsr_ir_entry(m.ir), m.func);
  tsr_ir_destroy(m.ir);
}

static void the_only_function_is_the_entry(void **state) {
  (void)state;
  made m = make("step");
  assert_ptr_equal(tsr_ir_entry(m.ir), m.func);
  add_func(m.ir, "other", m.type);
  assert_null(tsr_ir_entry(m.ir));
  tsr_ir_destroy(m.ir);
}

static made make_sum(const char *name, tsr_op_id id) {
  made m = make(name);
  tsr_op *op = add_op(&m, id, m.body->args[0], m.body->args[0]);
  add_op(&m, TSR_OP_FUNC_RETURN, &op->results[0], NULL);
  return m;
}

static void copies_are_equal_and_differences_are_named(void **state) {
  (void)state;
  made a = make_sum("main", TSR_OP_ADD), b = make_sum("main", TSR_OP_MULTIPLY);
  tsr_ir *copy = tsr_ir_create();
  tsr_value_map *map = tsr_value_map_create();
  tsr_text text = TSR_TEXT_EMPTY;
  copy->module = tsr_op_clone(copy, a.ir->module, map);
  assert_non_null(copy->module);
  assert_true(tsr_ir_equal(a.ir, copy, &text));
  assert_ptr_not_equal(tsr_ir_entry(copy), tsr_ir_entry(a.ir));
  assert_false(tsr_ir_equal(a.ir, b.ir, &text));
  assert_string_equal(tsr_text_string(&text), "stablehlo.add stands where stablehlo.multiply does");
  tsr_text_clear(&text);
  tsr_op_set_attr(copy, copy->module, name_of(copy, "x"), tsr_attr_unit(copy));
  assert_false(tsr_ir_equal(a.ir, copy, &text));
  assert_string_equal(tsr_text_string(&text), "builtin.module: the attributes differ in number");
  tsr_text_deinit(&text);
  tsr_value_map_destroy(map);
  tsr_ir_destroy(copy);
  tsr_ir_destroy(a.ir);
  tsr_ir_destroy(b.ir);
}

static void a_copy_in_its_own_program_maps_operands(void **state) {
  (void)state;
  made m = make("main");
  tsr_op *negate = add_op(&m, TSR_OP_NEGATE, m.body->args[0], NULL);
  tsr_op *sum = add_op(&m, TSR_OP_ADD, m.body->args[0], &negate->results[0]);
  tsr_value_map *map = tsr_value_map_create();
  assert_true(tsr_value_map_add(map, m.body->args[0], &negate->results[0]));
  tsr_op *copy = tsr_op_clone(m.ir, sum, map);
  assert_ptr_equal(copy->operands[0].value, &negate->results[0]);
  assert_ptr_equal(copy->operands[1].value, &negate->results[0]);
  assert_ptr_equal(tsr_value_map_find(map, &sum->results[0]), &copy->results[0]);
  tsr_value_map_destroy(map);
  tsr_ir_destroy(m.ir);
}

static int released;
static void release(void *memory) {
  (void)memory;
  released++;
}

static void kept_memory_is_released_once(void **state) {
  (void)state;
  tsr_ir *ir = tsr_ir_create();
  released = 0;
  assert_true(tsr_ir_keep(ir, &released, release));
  assert_int_equal(released, 0);
  tsr_ir_destroy(ir);
  assert_int_equal(released, 1);
}

SUITE(ir_changes, TEST(the_newest_use_comes_first), TEST(replaced_uses_keep_their_order),
      TEST(operands_grow_and_shrink), TEST(erased_ops_leave_no_uses),
      TEST(ops_are_linked_where_they_are_put), TEST(attributes_stay_sorted),
      TEST(symbols_are_found_after_changes), TEST(the_only_function_is_the_entry),
      TEST(copies_are_equal_and_differences_are_named),
      TEST(a_copy_in_its_own_program_maps_operands), TEST(kept_memory_is_released_once))
