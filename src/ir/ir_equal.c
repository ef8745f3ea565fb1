// Equality of whole programs, with the first difference in words.
#include <string.h>

#include "base/text_internal.h"
#include "ir/ir.h"
#include "ir/type_content.h"

typedef struct program_comparison {
  tsr_value_map *map;  // values of a to values of b
  tsr_text *out;       // NULL = nobody reads it
  bool failed;         // memory ran out
} program_comparison;

static bool differ(const program_comparison *compare, const tsr_op *op, const char *what) {
  if (compare->out) tsr_text_addf(compare->out, "%s: %s", op->name, what);
  return false;
}

static bool add_values(program_comparison *compare, const tsr_value *a, tsr_value *b) {
  if (tsr_value_map_add(compare->map, a, b)) return true;
  compare->failed = true;
  return false;
}

// The next attribute that says something: defaults do not. Functions may list a dictionary for each
// argument and result, all of them empty.
static int next_attr(const tsr_op *op, int at) {
  for (; at < op->attr_count; at++) {
    const tsr_attr *attr = op->attrs[at].attr;
    if (tsr_op_attr_is_default(op, op->attrs[at].name, attr)) continue;
    const bool lists =
        !strcmp(op->attrs[at].name, "arg_attrs") || !strcmp(op->attrs[at].name, "res_attrs");
    if (op->info->id != TSR_OP_FUNC || !lists || attr->kind != TSR_ATTR_ARRAY) return at;
    for (int64_t i = 0; i < attr->count; i++)
      if (attr->items[i]->kind != TSR_ATTR_DICT || attr->items[i]->count) return at;
  }
  return at;
}

static bool differ_in(const program_comparison *compare, const tsr_op *op, const char *name) {
  if (compare->out) tsr_text_addf(compare->out, "%s: attribute \"%s\" differs", op->name, name);
  return false;
}

static bool same_attrs(const program_comparison *compare, const tsr_op *a, const tsr_op *b) {
  int left = next_attr(a, 0), right = next_attr(b, 0);
  for (; left < a->attr_count && right < b->attr_count;
       left = next_attr(a, left + 1), right = next_attr(b, right + 1))
    if (strcmp(a->attrs[left].name, b->attrs[right].name) != 0 ||
        !tsr_attr_equal(a->attrs[left].attr, b->attrs[right].attr))
      return differ_in(compare, a, a->attrs[left].name);
  if (left == a->attr_count && right == b->attr_count) return true;
  return differ(compare, a, "the attributes differ in number");
}

static bool same_values(program_comparison *compare, const tsr_op *a, const tsr_op *b) {
  if (a->operand_count != b->operand_count || a->result_count != b->result_count ||
      a->region_count != b->region_count)
    return differ(compare, a, "operands, results or regions differ in number");
  for (int i = 0; i < a->operand_count; i++)
    if (tsr_value_map_find(compare->map, a->operands[i].value) != b->operands[i].value)
      return differ(compare, a, "an operand differs");
  for (int i = 0; i < a->result_count; i++) {
    if (!tsr_type_equal(a->results[i].type, b->results[i].type))
      return differ(compare, a, "the type of a result differs");
    if (!add_values(compare, &a->results[i], &b->results[i])) return false;
  }
  return true;
}

static bool same_op(program_comparison *compare, const tsr_op *a, const tsr_op *b);

static bool same_block(program_comparison *compare, const tsr_op *parent, const tsr_ir_block *a,
                       const tsr_ir_block *b) {
  if (a->arg_count != b->arg_count)
    return differ(compare, parent, "the arguments of a block differ in number");
  for (int i = 0; i < a->arg_count; i++) {
    if (!tsr_type_equal(a->args[i]->type, b->args[i]->type))
      return differ(compare, parent, "the type of an argument differs");
    if (!add_values(compare, a->args[i], b->args[i])) return false;
  }
  const tsr_op *left = a->first, *right = b->first;
  for (; left && right; left = left->next, right = right->next)
    if (!same_op(compare, left, right)) return false;
  return left || right ? differ(compare, parent, "the ops of a block differ in number") : true;
}

static bool same_op(program_comparison *compare, const tsr_op *a, const tsr_op *b) {
  if (strcmp(a->name, b->name) != 0) {
    if (compare->out) tsr_text_addf(compare->out, "%s stands where %s does", a->name, b->name);
    return false;
  }
  if (!same_values(compare, a, b) || !same_attrs(compare, a, b)) return false;
  for (int i = 0; i < a->region_count; i++) {
    const tsr_ir_block *left = a->regions[i].first, *right = b->regions[i].first;
    for (; left && right; left = left->next, right = right->next)
      if (!same_block(compare, a, left, right)) return false;
    if (left || right) return differ(compare, a, "the blocks of a region differ in number");
  }
  return true;
}

bool tsr_ir_equal(const tsr_ir *a, const tsr_ir *b, struct tsr_text *out_difference) {
  program_comparison compare = {.map = tsr_value_map_create(), .out = out_difference};
  const bool equal = compare.map && same_op(&compare, a->module, b->module);
  if ((!compare.map || compare.failed) && out_difference) out_difference->failed = true;
  tsr_value_map_destroy(compare.map);
  return equal;
}
