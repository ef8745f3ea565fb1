// Which tensors are a quantised weight only together.
#include <stdlib.h>

#include "base/text_internal.h"
#include "plan/quantised.h"
#include "support/models.h"
#include "support/test.h"

#define T(name, dtype, shape) "\"" name "\": {\"dtype\": \"" dtype "\", \"shape\": [" shape "]}"

// Of each tensor, in the order of the tree: its kind, and the tensor it goes with.
static const struct {
  const char *tree, *kinds;
} cases[] = {
    {"{" T("a.weight", "bf16", "8, 8") "}", "a.weight\n"},
    // FP8, by blocks and by channels.
    {"{" T("a.weight", "F8_E4M3", "256, 256") ", " T("a.weight_scale_inv", "f32", "2, 2") "}",
     "a.weight codes a.weight_scale_inv\na.weight_scale_inv scale a.weight\n"},
    {"{" T("a.weight", "F8_E4M3", "8, 8") ", " T("a.weight_scale", "f32", "8, 1") ", " T(
         "a.input_scale", "f32", "") "}",
     "a.weight codes a.weight_scale\na.weight_scale scale a.weight\n"
     "a.input_scale scale a.weight\n"},
    // Values that are their own, whatever lies beside them.
    {"{" T("a.weight", "F8_E4M3", "8, 8") "}", "a.weight\n"},
    {"{" T("a.weight", "bf16", "8, 8") ", " T("a.scales", "bf16", "8, 1") "}",
     "a.weight\na.scales\n"},
    {"{" T("a.k_scale", "f32", "1") "}", "a.k_scale scale a.k_scale\n"},
    // GPTQ, with a bias; an adapter beside it.
    {"{" T("a.qweight", "i32", "8, 64") ", " T("a.scales", "f16", "1, 64") ", " T(
         "a.qzeros", "i32", "1, 8") ", " T("a.bias", "f16", "64") "}",
     "a.qweight codes a.scales\na.scales scale a.qweight\na.qzeros scale a.qweight\na.bias\n"},
    {"{" T("a.weight", "i8", "8, 8") ", " T("a.SCB", "f32", "8") ", " T("a.lora_A.weight", "f32",
                                                                        "2, 8") "}",
     "a.weight codes a.SCB\na.SCB scale a.weight\na.lora_A.weight\n"},
    // Forms of several tensors.
    {"{" T("a.weight", "u8", "2048, 1") ", " T("a.weight.absmax", "f32", "64") ", " T(
         "a.weight.quant_map", "f32", "16") "}",
     "a.weight codes a.weight.absmax\na.weight.absmax scale a.weight\n"
     "a.weight.quant_map scale a.weight.absmax\n"},
    {"{" T("a.W_q", "u8", "32, 8") ", " T("a.scale", "f16", "8, 1") ", " T("a.zero", "f16",
                                                                           "8, 1") "}",
     "a.W_q codes a.scale\na.scale scale a.W_q\na.zero scale a.W_q\n"},
    // States: plain ones, and those of 8 bits.
    {"{" T("a.weight", "bf16", "8, 8") ", " T("a.weight.exp_avg", "f32", "8, 8") ", " T(
         "b.weight.state1", "u8", "64") ", " T("b.weight.absmax1", "f32", "1") "}",
     "a.weight\na.weight.exp_avg\nb.weight.state1\nb.weight.absmax1 scale b.weight.absmax1\n"},
};

static void codes_and_scales_are_found_by_names_and_types(void **state) {
  (void)state;
  static const char *const kinds[] = {"", " codes ", " scale "};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_tree *tree = NULL;
    assert_ok(read_tree(cases[i].tree, &tree));
    tsr_quantised *items = NULL;
    tsr_text text = TSR_TEXT_EMPTY;
    assert_ok(tsr_quantised_find(tree, &items));
    for (int64_t t = 0; t < tsr_tree_count(tree); t++)
      tsr_text_addf(&text, "%s%s%s\n", tsr_tree_at(tree, t)->path, kinds[items[t].kind],
                    items[t].kind ? tsr_tree_at(tree, items[t].with)->path : "");
    assert_string_equal(tsr_text_string(&text), cases[i].kinds);
    tsr_text_deinit(&text);
    free(items);
    tsr_tree_release(tree);
  }
}

static tsr_status find_all(void *context) {
  tsr_quantised *items = NULL;
  TSR_TRY(tsr_quantised_find(context, &items));
  free(items);
  return NULL;
}

static void finding_survives_failing_allocations(void **state) {
  (void)state;
  tsr_tree *tree = NULL;
  assert_ok(read_tree(cases[1].tree, &tree));
  test_allocation_sweep(find_all, tree);
  tsr_tree_release(tree);
}

SUITE(quantised, TEST(codes_and_scales_are_found_by_names_and_types),
      TEST(finding_survives_failing_allocations))
