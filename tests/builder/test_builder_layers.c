// Layers: the ops that each becomes. That they compute the right thing is checked by running them
// (tests/peers).
#include "builder/build.h"

static void softmax(tsr_builder *b) { OUT(tsr_build_softmax(b, F32(2, 3), -1)); }
static void softmax_of_bf16(tsr_builder *b) {
  OUT(tsr_build_softmax(b, tsr_build_parameter(b, NULL, TSR_BF16, TSR_SHAPE(2, 3), NULL), 0));
}
static void layer_norm(tsr_builder *b) {
  OUT(tsr_build_layer_norm(b, F32(2, 3), F32(3), F32(3), 1e-5));
}
static void rms_norm(tsr_builder *b) { OUT(tsr_build_rms_norm(b, F32(2, 3), TSR_NO_NODE, 1e-5)); }
static void gelu_by_tanh(tsr_builder *b) { OUT(tsr_build_gelu(b, F32(2, 3), true)); }
static void gelu_by_erf(tsr_builder *b) { OUT(tsr_build_gelu(b, F32(2, 3), false)); }
static void silu(tsr_builder *b) { OUT(tsr_build_silu(b, F32(2, 3))); }
static void rotary(tsr_builder *b) { OUT(tsr_build_rotary(b, F32(2, 3, 4), I32(2), 10000)); }
static void attention(tsr_builder *b) {
  tsr_attention_options options = TSR_ATTENTION_OPTIONS;
  options.causal = true;
  OUT(tsr_build_attention(b, F32(5, 4, 8), F32(6, 2, 8), F32(6, 2, 8), &options));
}
static void attention_with_mask(tsr_builder *b) {
  tsr_attention_options options = TSR_ATTENTION_OPTIONS;
  options.mask = tsr_build_parameter(b, NULL, TSR_BOOL, TSR_SHAPE(5, 6), NULL);
  options.bias = F32(4, 1, 1);
  options.scale = 1;
  OUT(tsr_build_attention(b, F32(5, 4, 8), F32(6, 4, 8), F32(6, 4, 7), &options));
}

#define SHARES                                                                             \
  "constant, reduce, reshape, broadcast_in_dim, subtract, exponential, constant, reduce, " \
  "reshape, broadcast_in_dim, divide"
#define PRODUCTS "reshape, dot_general, transpose, constant, broadcast_in_dim, multiply"
#define MEAN "constant, reduce, constant, broadcast_in_dim, divide, reshape"

static const struct {
  build_fn *build;
  const char *ops;
} cases[] = {
    {softmax, SHARES},
    {softmax_of_bf16, "convert, " SHARES ", convert"},
    {layer_norm, MEAN ", broadcast_in_dim, subtract, multiply, " MEAN
                      ", constant, broadcast_in_dim, add, rsqrt, broadcast_in_dim, multiply, "
                      "broadcast_in_dim, multiply, broadcast_in_dim, add"},
    {rms_norm,
     "multiply, " MEAN ", constant, broadcast_in_dim, add, rsqrt, broadcast_in_dim, multiply"},
    {gelu_by_tanh,
     "multiply, multiply, constant, broadcast_in_dim, multiply, add, constant, "
     "broadcast_in_dim, multiply, tanh, constant, broadcast_in_dim, add, constant, "
     "broadcast_in_dim, multiply, multiply"},
    {gelu_by_erf,
     "constant, broadcast_in_dim, multiply, erf, constant, broadcast_in_dim, add, "
     "constant, broadcast_in_dim, multiply, multiply"},
    {silu, "logistic, multiply"},
    {rotary,
     "convert, reshape, iota, constant, broadcast_in_dim, multiply, constant, "
     "broadcast_in_dim, power, broadcast_in_dim, broadcast_in_dim, multiply, sine, cosine, "
     "slice, slice, broadcast_in_dim, multiply, broadcast_in_dim, multiply, subtract, "
     "broadcast_in_dim, multiply, broadcast_in_dim, multiply, add, concatenate"},
    {attention, PRODUCTS ", iota, iota, compare, constant, broadcast_in_dim, broadcast_in_dim, "
                         "select, " SHARES ", dot_general, transpose, reshape"},
    {attention_with_mask,
     PRODUCTS ", broadcast_in_dim, reshape, add, broadcast_in_dim, reshape, "
              "constant, broadcast_in_dim, select, " SHARES ", dot_general, transpose, reshape"},
};

static void layers_become_ops(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) expect_ops(cases[i].build, cases[i].ops);
}

SUITE(builder_layers, TEST(layers_become_ops))
