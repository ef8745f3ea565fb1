// Einsum: which ops an equation becomes, and which equations are refused. That the ops compute what
// numpy.einsum does is checked beside NumPy (tests/peers).
#include "builder/build.h"

#include <stdio.h>

typedef struct einsum_case {
  const char *equation;
  int count;
  tsr_shape shapes[4];
  const char *result;  // the shape
  const char *ops;     // or the message of a failure
} einsum_case;

static const einsum_case *current;

static void build_current(tsr_builder *b) {
  tsr_node operands[4];
  for (int i = 0; i < current->count; i++)
    operands[i] = tsr_build_parameter(b, NULL, TSR_F32, &current->shapes[i], NULL);
  const tsr_node x = tsr_build_einsum(b, current->equation, operands, current->count);
  TSR_OWN(text, shape);
  const tsr_shape found = tsr_build_shape_of(b, x);
  tsr_shape_print(&found, &shape);
  if (!tsr_builder_failed(b)) assert_string_equal(tsr_text_string(&shape), current->result);
  OUT(x);
}

#define S(rank, ...)      \
  {                       \
    rank, { __VA_ARGS__ } \
  }
#define SCALAR S(0, 0)

static const einsum_case cases[] = {
    // one operand
    {"ab->ab", 1, {S(2, 2, 3)}, "(2, 3)", ""},
    {"ab->ba", 1, {S(2, 2, 3)}, "(3, 2)", "transpose"},
    {"ba", 1, {S(2, 2, 3)}, "(3, 2)", "transpose"},
    {"ab->", 1, {S(2, 2, 3)}, "()", "constant, reduce"},
    {"ii->i",
     1,
     {S(2, 3, 3)},
     "(3,)",
     "iota, iota, compare, constant, broadcast_in_dim, select, "
     "constant, reduce"},
    {"ii",
     1,
     {S(2, 3, 3)},
     "()",
     "iota, iota, compare, constant, broadcast_in_dim, select, "
     "constant, reduce, constant, reduce"},
    {"...i->i...", 1, {S(3, 2, 3, 4)}, "(4, 2, 3)", "transpose"},
    {" a b -> b a ", 1, {S(2, 2, 3)}, "(3, 2)", "transpose"},
    // contractions
    {"bd,dh->bh", 2, {S(2, 2, 3), S(2, 3, 4)}, "(2, 4)", "dot_general"},
    {"bsd,dh->bsh", 2, {S(3, 2, 3, 4), S(2, 4, 5)}, "(2, 3, 5)", "dot_general"},
    {"bhtd,bhsd->bhts", 2, {S(4, 2, 3, 4, 5), S(4, 2, 3, 6, 5)}, "(2, 3, 4, 6)", "dot_general"},
    {"ij,jk->ki", 2, {S(2, 2, 3), S(2, 3, 4)}, "(4, 2)", "dot_general, transpose"},
    {"ij,jk", 2, {S(2, 2, 3), S(2, 3, 4)}, "(2, 4)", "dot_general"},
    {"ij,j->i", 2, {S(2, 2, 3), S(1, 3)}, "(2,)", "dot_general"},
    {"i,i->", 2, {S(1, 3), S(1, 3)}, "()", "dot_general"},
    // products without sums
    {"i,j->ij",
     2,
     {S(1, 2), S(1, 3)},
     "(2, 3)",
     "reshape, reshape, broadcast_in_dim, broadcast_in_dim, multiply"},
    {"ij,ij->ij", 2, {S(2, 2, 3), S(2, 2, 3)}, "(2, 3)", "multiply"},
    {"ij,ji->ij", 2, {S(2, 2, 3), S(2, 3, 2)}, "(2, 3)", "transpose, multiply"},
    {"ij,i->ij", 2, {S(2, 2, 3), S(1, 2)}, "(2, 3)", "reshape, broadcast_in_dim, multiply"},
    {",ij->ij", 2, {SCALAR, S(2, 2, 3)}, "(2, 3)", "reshape, broadcast_in_dim, multiply"},
    {",", 2, {SCALAR, SCALAR}, "()", "multiply"},
    // labels of one operand are summed before it meets others
    {"ijk,jl->il", 2, {S(3, 2, 3, 4), S(2, 3, 5)}, "(2, 5)", "constant, reduce, dot_general"},
    // the ellipsis is broadcast
    {"...ij,...jk->...ik", 2, {S(3, 5, 2, 3), S(3, 1, 3, 4)}, "(5, 2, 4)", "reshape, dot_general"},
    {"...i,i", 2, {S(3, 2, 3, 4), S(1, 4)}, "(2, 3)", "dot_general"},
    // the small matrix meets the vector first
    {"ij,jk,k->i", 3, {S(2, 9, 8), S(2, 8, 7), S(1, 7)}, "(9,)", "dot_general, dot_general"},
    {"ab,bc,cd->ad", 3, {S(2, 2, 9), S(2, 9, 9), S(2, 9, 2)}, "(2, 2)", "dot_general, dot_general"},
    // empty dimensions
    {"ij,jk->ik", 2, {S(2, 2, 0), S(2, 0, 4)}, "(2, 4)", "dot_general"},
};

static void equations_become_ops(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    print_message("%s\n", cases[i].equation);
    current = &cases[i];
    expect_ops(build_current, cases[i].ops);
  }
}

static const struct {
  einsum_case given;
  tsr_cause cause;
} refused[] = {
    {{"ab,bc->d",
      2,
      {S(2, 2, 3), S(2, 3, 4)},
      "",
      "\"ab,bc->d\": label \"d\" of the result is in no operand"},
     TSR_CAUSE_BAD_ARGUMENT},
    {{"ab->aa", 1, {S(2, 2, 3)}, "", "\"ab->aa\": label \"a\" is twice in the result"},
     TSR_CAUSE_BAD_ARGUMENT},
    {{"ab,bc->ac",
      2,
      {S(2, 2, 3), S(2, 4, 5)},
      "",
      "\"ab,bc->ac\": label \"b\" has size 4 in operand 1, expected 3"},
     TSR_CAUSE_CONSTRAINT},
    {{"aa->a", 1, {S(2, 2, 3)}, "", "\"aa->a\": label \"a\" has size 3 in operand 0, expected 2"},
     TSR_CAUSE_CONSTRAINT},
    {{"...a,...a->...",
      2,
      {S(2, 2, 3), S(2, 4, 3)},
      "",
      "\"...a,...a->...\": label \"...\" has size 4 in operand 1, expected 2"},
     TSR_CAUSE_CONSTRAINT},
    {{"abc->a", 1, {S(2, 2, 3)}, "", "\"abc->a\": operand 0 has 2 dimensions, the equation has 3"},
     TSR_CAUSE_BAD_ARGUMENT},
    {{"...abc->a",
      1,
      {S(2, 2, 3)},
      "",
      "\"...abc->a\": operand 0 has 2 dimensions, the equation has at least 3"},
     TSR_CAUSE_BAD_ARGUMENT},
    {{"ab,bc->ac",
      1,
      {S(2, 2, 3)},
      "",
      "\"ab,bc->ac\": the equation has more operands than the 1 given"},
     TSR_CAUSE_BAD_ARGUMENT},
    {{"ab->ab",
      2,
      {S(2, 2, 3), S(2, 2, 3)},
      "",
      "\"ab->ab\": the equation has fewer operands than the 2 given"},
     TSR_CAUSE_BAD_ARGUMENT},
    {{"a1->a",
      1,
      {S(2, 2, 3)},
      "",
      "\"a1->a\": at \"1->a\", expected a letter, ',', \"->\" or one \"...\""},
     TSR_CAUSE_SYNTAX},
    {{"......->",
      1,
      {S(2, 2, 3)},
      "",
      "\"......->\": at \"...->\", expected a letter, ',', \"->\" or one \"...\""},
     TSR_CAUSE_SYNTAX},
    {{"ab->a->b", 1, {S(2, 2, 3)}, "", "\"ab->a->b\": at \"->b\", expected the end"},
     TSR_CAUSE_SYNTAX},
    {{"->", 0, {SCALAR}, "", "\"->\": 0 operands, expected 1 to 64"}, TSR_CAUSE_BAD_ARGUMENT},
};

static void wrong_equations_are_named(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(refused); i++) {
    char message[256];
    current = &refused[i].given;
    snprintf(message, sizeof message, "call %d, einsum: %s", current->count + 1, current->ops);
    expect_failure(build_current, refused[i].cause, message);
  }
}

static void two_dtypes(tsr_builder *b) {
  const tsr_node y = tsr_build_parameter(b, NULL, TSR_F16, TSR_SHAPE(3), NULL);
  OUT(tsr_build_einsum(b, "a,a", LIST(F32(3), y), 2));
}

static void operands_have_one_dtype(void **state) {
  (void)state;
  expect_failure(two_dtypes, TSR_CAUSE_CONSTRAINT,
                 "call 3, einsum: operands 0 and 1 have dtypes f32 and f16, expected the same "
                 "dtype");
}

SUITE(einsum, TEST(equations_become_ops), TEST(wrong_equations_are_named),
      TEST(operands_have_one_dtype))
