// stablehlo.einsum and unary_einsum: sums, one dot_general, a transpose.
#include <string.h>

#include "simplify/decompose_build.h"
#include "simplify/einsum_equation.h"

static int find_label(const tsr_einsum_term *term, int label) {
  for (int i = 0; i < term->count; i++)
    if (term->labels[i] == label) return i;
  return -1;
}

static bool has_repeats(const tsr_einsum_term *term) {
  for (int i = 0; i < term->count; i++)
    if (find_label(term, term->labels[i]) != i) return true;
  return false;
}

// Reads the text of an op; false where it has none that plain ops can do.
static bool read_equation(const tsr_op *op, tsr_einsum_equation *out) {
  const tsr_attr *text = tsr_op_attr(op, "einsum_config");
  int ranks[2];
  if (!text || text->kind != TSR_ATTR_STRING || strlen(text->bytes) != text->length) return false;
  for (int i = 0; i < op->operand_count; i++) {
    if (!tsr_type_is_static(tsr_operand_type(op, i))) return false;
    ranks[i] = tsr_operand_type(op, i)->rank;
  }
  const tsr_status status = tsr_einsum_parse(text->bytes, ranks, op->operand_count, out);
  tsr_status_free(status);
  if (status) return false;
  for (int i = 0; i < op->operand_count; i++)
    if (has_repeats(&out->operands[i])) return false;
  return !has_repeats(&out->result);
}

// Sums an operand over the labels that neither `other` nor the result has. Its term follows.
static tsr_value *sum_unused(tsr_site *site, tsr_value *x, tsr_einsum_term *term,
                             const tsr_einsum_term *other, const tsr_einsum_term *result) {
  bool kept[TSR_MAX_RANK];
  int count = 0;
  tsr_einsum_term left = {.count = 0};
  for (int i = 0; i < term->count; i++) {
    const int label = term->labels[i];
    kept[i] = find_label(result, label) >= 0 || (other && find_label(other, label) >= 0);
    if (kept[i]) left.labels[count++] = label;
  }
  left.count = count;
  *term = left;
  return tsr_site_sum(site, x, kept);
}

// A value whose dims are `term`, in the order of the result.
static tsr_value *in_order(tsr_site *site, tsr_value *x, const tsr_einsum_term *term,
                           const tsr_einsum_term *result) {
  int64_t permutation[TSR_MAX_RANK];
  if (term->count != result->count) return NULL;
  for (int i = 0; i < result->count; i++) permutation[i] = find_label(term, result->labels[i]);
  return tsr_site_transpose(site, x, permutation);
}

tsr_status tsr_decompose_unary_einsum(tsr_rewriter *r, tsr_op *op) {
  tsr_einsum_equation equation;
  tsr_site site = {.ir = r->ir, .r = r, .place = op};
  if (!read_equation(op, &equation)) return NULL;
  tsr_einsum_term *term = &equation.operands[0];
  tsr_value *sum = sum_unused(&site, tsr_op_operand(op, 0), term, NULL, &equation.result);
  tsr_value *made = in_order(&site, sum, term, &equation.result);
  return tsr_site_replace(&site, op, &made);
}

// The dims of a product: those of both and the result, those of both only, the rest of each side.
typedef struct product_dims {
  int64_t lists[4][TSR_MAX_RANK];  // in the order of the record of dot_general
  int counts[4];
  tsr_einsum_term result;
  int64_t sizes[TSR_MAX_RANK];  // of the result
} product_dims;

static bool add_result(product_dims *p, int label, int64_t size) {
  if (p->result.count == TSR_MAX_RANK) return false;
  p->sizes[p->result.count] = size;
  p->result.labels[p->result.count++] = label;
  return true;
}

static bool add_shared(product_dims *p, const tsr_einsum_term *a, const tsr_einsum_term *b,
                       const tsr_einsum_term *result, const tsr_type *type) {
  for (int i = 0; i < a->count; i++) {
    const int at = find_label(b, a->labels[i]);
    if (at < 0) continue;
    const bool batch = find_label(result, a->labels[i]) >= 0;
    p->lists[batch ? TSR_DOT_LHS_BATCHING : TSR_DOT_LHS_CONTRACTING]
            [p->counts[batch ? TSR_DOT_LHS_BATCHING : TSR_DOT_LHS_CONTRACTING]++] = i;
    p->lists[batch ? TSR_DOT_RHS_BATCHING : TSR_DOT_RHS_CONTRACTING]
            [p->counts[batch ? TSR_DOT_RHS_BATCHING : TSR_DOT_RHS_CONTRACTING]++] = at;
    if (batch && !add_result(p, a->labels[i], type->dims[i])) return false;
  }
  return true;
}

static bool add_free(product_dims *p, const tsr_einsum_term *a, const tsr_einsum_term *other,
                     const tsr_type *type) {
  for (int i = 0; i < a->count; i++)
    if (find_label(other, a->labels[i]) < 0 && !add_result(p, a->labels[i], type->dims[i]))
      return false;
  return true;
}

static tsr_value *product(tsr_site *site, tsr_value *const *sides, const product_dims *p,
                          const tsr_type *element) {
  const tsr_attr *fields[4];
  for (int i = 0; i < 4; i++) fields[i] = tsr_attr_ints(site->ir, p->lists[i], p->counts[i]);
  const bool made = fields[0] && fields[1] && fields[2] && fields[3];
  const tsr_site_attr numbers = {"dot_dimension_numbers",
                                 made ? tsr_attr_record(site->ir, TSR_RECORD_DOT, fields) : NULL};
  const tsr_type *type = tsr_type_tensor(site->ir, element, p->result.count, p->sizes, NULL);
  return tsr_site_add(site, TSR_OP_DOT_GENERAL, type, sides, 2, &numbers, 1);
}

tsr_status tsr_decompose_einsum(tsr_rewriter *r, tsr_op *op) {
  tsr_einsum_equation equation;
  tsr_site site = {.ir = r->ir, .r = r, .place = op};
  product_dims p = {.counts = {0}};
  if (!read_equation(op, &equation)) return NULL;
  tsr_einsum_term *a = &equation.operands[0], *b = &equation.operands[1];
  tsr_value *const sides[2] = {sum_unused(&site, tsr_op_operand(op, 0), a, b, &equation.result),
                               sum_unused(&site, tsr_op_operand(op, 1), b, a, &equation.result)};
  if (!sides[0] || !sides[1]) return site.failure;
  if (!add_shared(&p, a, b, &equation.result, sides[0]->type) ||
      !add_free(&p, a, b, sides[0]->type) || !add_free(&p, b, a, sides[1]->type))
    return NULL;
  tsr_value *dot = product(&site, sides, &p, tsr_type_element(op->results[0].type));
  tsr_value *made = in_order(&site, dot, &p.result, &equation.result);
  return tsr_site_replace(&site, op, &made);
}
