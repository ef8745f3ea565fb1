// Maps that take a tensor and leave behind what goes with it: which ones are refused.
#include <string.h>

#include "map/map.h"
#include "map/map_internal.h"
#include "support/models.h"
#include "support/test.h"
#include "tessera/checkpoint/map.h"

#define T(name, dtype, shape) "\"" name "\": {\"dtype\": \"" dtype "\", \"shape\": [" shape "]}"
#define AT "model.layers.0.self_attn."

static const char plain[] =
    "{" T(AT "q_proj.weight", "bf16", "8, 8") ", " T(AT "k_proj.weight", "bf16", "4, 8") ", " T(
        AT "v_proj.weight", "bf16", "4, 8") ", " T("model.norm.weight", "bf16", "8") "}";
#define FP8_OF(p) \
  T(AT p ".weight", "F8_E4M3", "256, 256") ", " T(AT p ".weight_scale_inv", "f32", "2, 2")
static const char fp8[] = "{" FP8_OF("q_proj") ", " FP8_OF("k_proj") ", " FP8_OF("v_proj") ", " T(
    "model.norm.weight", "bf16", "256") "}";
#define STATIC_OF(p)                     \
  T(AT p ".weight", "F8_E4M3", "16, 16") \
  ", " T(AT p ".weight_scale", "f32", "16, 1") ", " T(AT p ".input_scale", "f32", "")
static const char fixed[] = "{" STATIC_OF("q_proj") "}";
#define GPTQ_OF(p)                                                                     \
  T(AT p ".qweight", "i32", "8, 64")                                                   \
  ", " T(AT p ".scales", "f16", "1, 64") ", " T(AT p ".qzeros", "i32", "1, 8") ", " T( \
      AT p ".bias", "f16", "64")
static const char gptq[] = "{" GPTQ_OF("q_proj") ", " GPTQ_OF("k_proj") ", " GPTQ_OF(
    "v_proj") ", " T("model.norm.weight", "f16", "64") "}";
static const char bnb[] = "{" T(AT "q_proj.weight", "u8", "2048, 1") ", " T(
    AT "q_proj.weight.absmax", "f32", "64") ", " T(AT "q_proj.weight.quant_map", "f32", "16") "}";
static const char adam[] =
    "{" T("a.weight", "bf16", "8, 8") ", " T("b.weight", "bf16", "8, 8") ", " T(
        "optim.state.a.weight.exp_avg", "f32", "8, 8") ", " T("optim.state.b.weight.exp_avg", "f32",
                                                              "8, 8") "}";
static const char lora[] = "{" T("a.weight", "bf16", "8, 8") ", " T(
    "a.lora_A.weight", "bf16", "2, 8") ", " T("a.lora_B.weight", "bf16", "8, 2") "}";

#define FUSE \
  "{p}.qkv.weight = concat(0, {p:.*}.q_proj.weight, {p}.k_proj.weight, {p}.v_proj.weight)\n"
#define BEHIND(p, made, left)                                   \
  "tensor \"" AT p "\" becomes \"" AT made "\", but \"" AT left \
  "\", which goes with it, stays as it is"

// clang-format off
static const struct {
  const char *tree, *map, *failure;  // "" = it is none
} cases[] = {
    {plain, "llama-fuse", ""},
    {plain, "llama-to-flax", ""},
    // FP8: weights with scales of their own.
    {fp8, "llama-fuse", "llama-fuse.map:3: " BEHIND("q_proj.weight", "qkv_proj.weight", "q_proj.weight_scale_inv")},
    {fp8, "llama-to-flax", "llama-to-flax.map:3: " BEHIND("q_proj.weight", "q_proj.kernel", "q_proj.weight_scale_inv")},
    {fp8, FUSE, "t.map:1: " BEHIND("q_proj.weight", "qkv.weight", "q_proj.weight_scale_inv")},
    {fp8, FUSE "{p}.qkv.weight_scale_inv = concat(0, {p:.*}.q_proj.weight_scale_inv, {p}.k_proj.weight_scale_inv, {p}.v_proj.weight_scale_inv)", ""},
    {fp8, FUSE "drop {p:.*}.weight_scale_inv", ""},
    {fp8, "x.{r} = model.{r:.*}", ""},
    {fp8, "x.{r} = model.{r:.*weight}", "t.map:1: tensor \"" AT "q_proj.weight\" becomes \"x.layers.0.self_attn.q_proj.weight\", but"},
    {fp8, "only\n{x} = {x:.*weight}", "q_proj.weight_scale_inv\", which goes with it, is left out"},
    {fp8, "only\n{x} = {x:.*}", ""},
    {fp8, "{x}.weight_scale = {x:.*}.weight_scale_inv", ""},
    {fp8, "{x}.weight_scale = transpose({x:.*}.weight_scale_inv)", BEHIND("q_proj.weight_scale_inv", "q_proj.weight_scale", "q_proj.weight")},
    {fp8, "drop {x:.*}.weight", ""},
    {fp8, "optional x = nothing", ""},
    // Single numbers of a layer, also without dimensions.
    {fixed, "{x}.w = {x:.*}.weight\n{x}.w_scale = {x:.*}.weight_scale", BEHIND("q_proj.weight", "q_proj.w", "q_proj.input_scale")},
    {fixed, "{x}.w{r} = {x:.*}.weight{r:.*}\n{x}.w_in = {x:.*}.input_scale", ""},
    // GPTQ: weights under other names.
    {gptq, "llama-fuse", "llama-fuse.map:3: this line is for \"" AT "q_proj.weight\", which the source has only as \"" AT "q_proj.qweight\""},
    {gptq, "llama-to-flax", "llama-to-flax.map:3: this line is for \"" AT "q_proj.weight\""},
    {gptq, AT "q.weight = " AT "q_proj.weight", "t.map:1: this line is for \"" AT "q_proj.weight\""},
    {gptq, "drop {x:.*}q_proj.weight", "none of the map's lines finds a tensor: t.map:1: no tensor of the source matches {x:.*}q_proj.weight"},
    {gptq, "{p}.qkv.bias = concat(0, {p:.*}.q_proj.bias, {p}.k_proj.bias, {p}.v_proj.bias)", BEHIND("q_proj.bias", "qkv.bias", "q_proj.qweight")},
    {gptq, "x.{r} = model.{r:.*}", ""},
    {gptq, "{x}.q = {x:.*}.qweight", "\"" AT "q_proj.scales\", which goes with it, stays as it is"},
    // bitsandbytes: tensors that only their names hold together.
    {bnb, "{x}.w = {x:.*}.weight", BEHIND("q_proj.weight", "q_proj.w", "q_proj.weight.absmax")},
    {bnb, "{x}.w{r} = {x:.*}.weight{r:.*}", ""},
    // States of an optimiser.
    {adam, "ab = concat(0, a.weight, b.weight)", "tensor \"a.weight\" becomes \"ab\", but \"optim.state.a.weight.exp_avg\", which goes with it, stays as it is"},
    {adam, "ab = concat(0, a.weight, b.weight)\noptim.ab = concat(0, optim.state.a.weight.exp_avg, optim.state.b.weight.exp_avg)", ""},
    {adam, "o.{x} = optim.state.{x:.*}", ""},
    // Adapters.
    {lora, "a.w = transpose(a.weight)", "\"a.lora_A.weight\", which goes with it, stays as it is"},
    {lora, "a.w = transpose(a.weight)\na.B = transpose(a.lora_A.weight)\na.A = transpose(a.lora_B.weight)", ""},
    // Maps that do nothing.
    {plain, "llama-unfuse", "none of the map's lines finds a tensor: llama-unfuse.map:2: no tensor of the source matches"},
    {plain, "optional x = y\nx = z", "none of the map's lines finds a tensor"},
    {plain, "let a = 1", ""},
};
// clang-format on

static tsr_status apply(const tsr_tree *tree, const char *text, tsr_mapping **out_mapping) {
  tsr_map *map = NULL;
  TSR_TRY(strchr(text, ' ') ? tsr_map_parse(text, "t.map", &map) : tsr_map_preset(text, &map));
  const tsr_fact facts[] = {{"heads", 2}, {"kv_heads", 1}, {"head_dim", 4}};
  const tsr_map_options options = {.size = sizeof options, .facts = facts, .fact_count = 3};
  tsr_status status = tsr_map_apply(map, tree, &options, out_mapping);
  tsr_map_release(map);
  return status;
}

static void what_goes_together_is_not_put_apart(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_tree *tree = NULL;
    assert_ok(read_tree(cases[i].tree, &tree));
    tsr_mapping *mapping = NULL;
    assert_ok(apply(tree, cases[i].map, &mapping));
    tsr_status status = tsr_mapping_check(mapping, false);
    const char *text = tsr_status_text(status), *wanted = cases[i].failure;
    if (*wanted ? !strstr(text, wanted) : status != NULL)
      fail_msg("%s: \"%s\", wanted \"%s\"", cases[i].map, text, wanted);
    const tsr_cause cause = tsr_status_cause(status);
    tsr_status_free(status);
    assert_true(cause == TSR_CAUSE_NONE || cause == TSR_CAUSE_NOT_FOUND ||
                cause == TSR_CAUSE_COMPANIONS_APART);
    status = tsr_mapping_check(mapping, true);
    assert_int_not_equal(tsr_status_cause(status), TSR_CAUSE_COMPANIONS_APART);
    tsr_status_free(status);
    tsr_mapping_release(mapping);
    tsr_tree_release(tree);
  }
}

static void the_way_back_is_as_bad(void **state) {
  (void)state;
  tsr_tree *tree = NULL;
  assert_ok(read_tree(fp8, &tree));
  tsr_mapping *mapping = NULL, *inverse = NULL;
  assert_ok(apply(tree, "llama-fuse", &mapping));
  assert_ok(tsr_mapping_invert(mapping, &inverse));
  assert_fails_with(tsr_mapping_check(inverse, false), COMPANIONS_APART, "stays as it is");
  tsr_mapping_release(inverse);
  tsr_mapping_release(mapping);
  tsr_tree_release(tree);
}

static tsr_status apply_all(void *context) {
  tsr_mapping *mapping = NULL;
  TSR_TRY(apply(context, "{x}.q = {x:.*}.qweight", &mapping));
  tsr_mapping_release(mapping);
  TSR_TRY(apply(context, "{x}.w = {x:.*}.weight", &mapping));
  tsr_mapping_release(mapping);
  return NULL;
}

static void looking_survives_failing_allocations(void **state) {
  (void)state;
  tsr_tree *tree = NULL;
  assert_ok(read_tree(gptq, &tree));
  test_allocation_sweep(apply_all, tree);
  tsr_tree_release(tree);
}

SUITE(apart, TEST(what_goes_together_is_not_put_apart), TEST(the_way_back_is_as_bad),
      TEST(looking_survives_failing_allocations))
