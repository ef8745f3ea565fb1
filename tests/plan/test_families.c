// Weights in several tensors, and states in several, as frameworks write them.
#include <stdlib.h>
#include <string.h>

#include "plan/plan_internal.h"
#include "plan/random_models.h"
#include "support/models.h"
#include "support/test.h"
#include "tessera/engine/plan.h"

enum { MOST = 8 };

// Tensors with the spec that each is to have; the first has its own, the others follow.
static const struct {
  const char *title;
  struct {
    tsr_tensor tensor;
    const char *spec;
  } rows[MOST];
} families[] = {
    {"GPTQ, cut by inputs, with an index",
     {{TENSOR("a.qweight", 128, 512), "tp, _"},
      {TENSOR("a.g_idx", 1024), "tp"},
      {TENSOR("a.scales", 8, 512), "_, _"},
      {TENSOR("a.qzeros", 8, 64), "_, _"},
      {TENSOR("a.bias", 512), "_"}}},
    {"GPTQ, cut by outputs",
     {{TENSOR("a.qweight", 128, 512), "_, tp"},
      {TENSOR("a.g_idx", 1024), "_"},
      {TENSOR("a.scales", 8, 512), "_, tp"},
      {TENSOR("a.qzeros", 8, 64), "_, tp"},
      {TENSOR("a.bias", 512), "tp"}}},
    {"GPTQ, groups cut through, but an index finds them",
     {{TENSOR("a.qweight", 48, 512), "tp, _"},
      {TENSOR("a.g_idx", 384), "tp"},
      {TENSOR("a.scales", 3, 512), "_, _"}}},
    {"AWQ, cut by outputs",
     {{TENSOR("a.qweight", 1024, 64), "fsdp, tp"},
      {TENSOR("a.scales", 8, 512), "fsdp, tp"},
      {TENSOR("a.qzeros", 8, 64), "fsdp, tp"}}},
    {"compressed tensors, ordered by activations",
     {{TENSOR("a.weight_packed", 512, 128), "fsdp, tp"},
      {TENSOR("a.weight_scale", 512, 8), "fsdp, _"},
      {TENSOR("a.weight_zero_point", 64, 8), "fsdp, _"},
      {TENSOR("a.weight_g_idx", 1024), "tp"},
      {TENSOR("a.weight_shape", 2), "()"}}},
    {"compressed tensors",
     {{TENSOR("a.weight_packed", 512, 128), "fsdp, tp"},
      {TENSOR("a.weight_scale", 512, 8), "fsdp, tp"},
      {TENSOR("a.weight_zero_point", 64, 8), "fsdp, tp"},
      {TENSOR("a.weight_shape", 2), "()"}}},
    {"NVFP4",
     {{TENSOR("a.weight", 512, 128), "fsdp, tp"},
      {TENSOR("a.weight_scale", 512, 16), "fsdp, tp"},
      {TENSOR("a.weight_scale_2", 1), "()"},
      {TENSOR("a.input_scale", 1), "()"}}},
    {"MLX",
     {{TENSOR("a.weight", 512, 128), "fsdp, tp"},
      {TENSOR("a.scales", 512, 16), "fsdp, tp"},
      {TENSOR("a.biases", 512, 16), "fsdp, tp"}}},
    {"MXFP4",
     {{TENSOR("e.down_proj_blocks", 4, 64, 8, 16), "fsdp, _, tp, _"},
      {TENSOR("e.down_proj_scales", 4, 64, 8), "fsdp, _, tp"}}},
    {"bitsandbytes, 4 bits",
     {{TENSOR("a.weight", 4096, 1), "()"},
      {TENSOR("a.weight.absmax", 128), "()"},
      {TENSOR("a.weight.quant_map", 16), "()"},
      {TENSOR("a.weight.nested_absmax", 1), "()"},
      {TENSOR("a.weight.quant_state.bitsandbytes__nf4", 89), "()"}}},
    {"bitsandbytes, 8 bits",
     {{TENSOR("a.weight", 64, 32), "tp, _"},
      {TENSOR("a.SCB", 64), "tp"},
      {TENSOR("a.weight_format", 1), "()"}}},
    {"HQQ",
     {{TENSOR("a.W_q", 64, 64), "()"},
      {TENSOR("a.scale", 128, 1), "()"},
      {TENSOR("a.zero", 128, 1), "()"},
      {TENSOR("a.nbits", 1), "()"}}},
    {"8-bit Adam",
     {{TENSOR("a.weight", 64, 64), "tp, fsdp"},
      {TENSOR("state.a.weight.state1", 64, 64), "()"},
      {TENSOR("state.a.weight.state2", 64, 64), "()"},
      {TENSOR("state.a.weight.absmax1", 16), "()"},
      {TENSOR("state.a.weight.absmax2", 16), "()"},
      {TENSOR("state.a.weight.qmap1", 256), "()"}}},
    {"8-bit Adam with states of 32 bits",
     {{TENSOR("a.weight", 64, 64), "tp, fsdp"},
      {TENSOR("state.a.weight.state1", 64, 64), "tp, fsdp"}}},
};

static void members_of_a_family_are_cut_together(void **state) {
  (void)state;
  tsr_mesh *mesh = make_mesh("fsdp=2,tp=4");
  for (size_t i = 0; i < COUNT_OF(families); i++) {
    tsr_tensor tensors[MOST];
    int count = 0;
    tsr_plan *plain = NULL, *plan = NULL;
    while (count < MOST && families[i].rows[count].spec) {
      tensors[count] = families[i].rows[count].tensor;
      count++;
    }
    tsr_tree *tree = make_tree(tensors, count);
    // What is not to be cut shall resist even where it is asked for.
    const char *first = families[i].rows[0].spec;
    tsr_spec *spec = make_spec(strcmp(first, "()") != 0 ? first : "tp");
    const tsr_spec *specs[MOST] = {spec};
    assert_ok(tsr_plan_from_specs(tree, mesh, specs, &plain));
    tsr_status status = tsr_plan_companions(plain, &plan);
    if (status) fail_msg("%s: %s", families[i].title, tsr_status_text(status));
    for (int t = 0; t < count; t++) {
      tsr_plan_row row = TSR_PLAN_ROW;
      tsr_text found = TSR_TEXT_EMPTY;
      assert_ok(tsr_plan_at(plan, t, &row));
      assert_ok(tsr_spec_print(row.final, TSR_FORM_SHORT, &found));
      if (strcmp(tsr_text_string(&found), families[i].rows[t].spec) != 0)
        fail_msg("%s: %s is cut %s, wanted %s", families[i].title, row.tensor->path,
                 tsr_text_string(&found), families[i].rows[t].spec);
      tsr_text_deinit(&found);
    }
    tsr_plan_release(plan);
    tsr_plan_release(plain);
    tsr_spec_release(spec);
    tsr_tree_release(tree);
  }
  tsr_mesh_release(mesh);
}

static void what_stays_whole_says_why(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {
      TENSOR("a.qweight", 128, 512),  TENSOR("a.g_idx", 1024),        TENSOR("a.scales", 8, 512),
      TENSOR("b.weight", 4096, 1),    TENSOR("b.weight.absmax", 128), TENSOR("c.weight", 8, 8),
      TENSOR("c.weight.exp_avg", 64),
  };
  tsr_tree *tree = make_tree(tensors, COUNT_OF(tensors)), *part = make_tree(&tensors[3], 1);
  tsr_mesh *mesh = make_mesh("tp=4");
  tsr_spec *spec = make_spec("tp");
  const tsr_spec *specs[COUNT_OF(tensors)] = {spec, spec, spec, spec, spec, spec, spec};
  tsr_plan *plain = NULL, *plan = NULL, *less = NULL;
  assert_ok(tsr_plan_from_specs(tree, mesh, specs, &plain));
  assert_ok(tsr_plan_companions(plain, &plan));
  assert_reasons(plan, 2,
                 "goes with \"a.qweight\"; dimension 0: not cut with it: an index counts groups "
                 "over the whole weight");
  assert_reasons(plan, 3, "kept whole, as bitsandbytes flattens the weight into blocks");
  assert_reasons(plan, 6, "kept whole, as its shape is not its parameter's");
  assert_ok(tsr_plan_for_tree(plan, part, &less));
  assert_reasons(less, 0, "kept whole: it cannot be cut");
  tsr_plan_release(less);
  tsr_plan_release(plan);
  tsr_plan_release(plain);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  tsr_tree_release(part);
  tsr_tree_release(tree);
}

// ---- by rules that know only the weights ----

#define LAYER "model.layers.0."

static const char weights_only[] =
    "q_proj\\.weight$ -> tp/parts(1024/64), fsdp\n"
    "o_proj\\.weight$ -> fsdp, tp/parts(1024/64)\n"
    "embed\\.weight$ -> tp, fsdp\n"
    "special\\.qweight$ -> tp, _\n";

static const struct {
  const char *title;
  struct {
    tsr_tensor tensor;
    tsr_dtype dtype;
    const char *spec, *reasons;
  } rows[MOST];
} forms[] = {
    {"GPTQ",
     {{TENSOR(LAYER "o_proj.qweight", 128, 512), TSR_I32, "tp/parts(128/8), fsdp",
       "stands for \"" LAYER "o_proj.weight\"; rule 1 (my.rules:2) \"o_proj\\.weight$\" -> fsdp, "
       "tp/parts(1024/64); dimension 0: cut with it, by blocks of 8; dimension 1: cut with it"},
      {TENSOR(LAYER "o_proj.qzeros", 16, 64), TSR_I32, "tp/parts(16), fsdp", NULL},
      {TENSOR(LAYER "o_proj.scales", 16, 512), TSR_F16, "tp/parts(16), fsdp", NULL}}},
    {"GPTQ of 3 bits",
     {{TENSOR(LAYER "o_proj.qweight", 96, 512), TSR_I32, "tp/parts(96/6), fsdp", NULL},
      {TENSOR(LAYER "o_proj.qzeros", 16, 48), TSR_I32, "tp/parts(16), fsdp", NULL},
      {TENSOR(LAYER "o_proj.scales", 16, 512), TSR_F16, "tp/parts(16), fsdp", NULL}}},
    {"GPTQ with an index and no zero points",
     {{TENSOR(LAYER "o_proj.qweight", 256, 512), TSR_I32, "tp/parts(256/16), fsdp", NULL},
      {TENSOR(LAYER "o_proj.g_idx", 1024), TSR_I32, "tp/parts(1024/64)", NULL},
      {TENSOR(LAYER "o_proj.scales", 16, 512), TSR_F16, "_, fsdp", NULL}}},
    {"Marlin's neighbour: no zero points, no index",
     {{TENSOR(LAYER "o_proj.qweight", 128, 512), TSR_I32, "tp/parts(128/8), fsdp", NULL},
      {TENSOR(LAYER "o_proj.scales", 16, 512), TSR_F16, "tp/parts(16), fsdp", NULL}}},
    {"a rule of its own",
     {{TENSOR("special.qweight", 128, 512), TSR_I32, "tp, _", NULL},
      {TENSOR("special.scales", 16, 512), TSR_F16, "tp, _", NULL}}},
    {"AWQ",
     {{TENSOR(LAYER "q_proj.qweight", 512, 128), TSR_I32, "fsdp, tp/parts(128/8)", NULL},
      {TENSOR(LAYER "q_proj.qzeros", 8, 128), TSR_I32, "fsdp, tp/parts(128/8)", NULL},
      {TENSOR(LAYER "q_proj.scales", 8, 1024), TSR_F16, "fsdp, tp/parts(1024/64)", NULL}}},
    {"compressed tensors, with zero points",
     {{TENSOR(LAYER "o_proj.weight_packed", 512, 256), TSR_I32, "fsdp, tp/parts(256/16)", NULL},
      {TENSOR(LAYER "o_proj.weight_zero_point", 128, 16), TSR_I32, "fsdp, tp/parts(16)", NULL},
      {TENSOR(LAYER "o_proj.weight_scale", 512, 16), TSR_BF16, "fsdp, tp/parts(16)", NULL}}},
    {"compressed tensors, with an index",
     {{TENSOR(LAYER "o_proj.weight_packed", 512, 256), TSR_I32, "fsdp, tp/parts(256/16)", NULL},
      {TENSOR(LAYER "o_proj.weight_g_idx", 1024), TSR_I32, "tp/parts(1024/64)", NULL},
      {TENSOR(LAYER "o_proj.weight_scale", 512, 16), TSR_BF16, "fsdp, _", NULL}}},
    {"compressed tensors of 4-bit floats",
     {{TENSOR(LAYER "o_proj.weight_packed", 512, 512), TSR_U8, "fsdp, tp/parts(512/32)", NULL},
      {TENSOR(LAYER "o_proj.weight_scale", 512, 64), TSR_F8E4M3FN, "fsdp, tp/parts(64/4)", NULL},
      {TENSOR(LAYER "o_proj.weight_global_scale", 1), TSR_F32, "()", NULL}}},
    {"NVFP4 under the weight's own name",
     {{TENSOR(LAYER "o_proj.weight", 512, 512), TSR_U8, "fsdp, tp/parts(512/32)", NULL},
      {TENSOR(LAYER "o_proj.weight_scale", 512, 64), TSR_F8E4M3FN, "fsdp, tp/parts(64/4)", NULL}}},
    {"MLX",
     {{TENSOR(LAYER "o_proj.weight", 512, 128), TSR_U32, "fsdp, tp/parts(128/8)", NULL},
      {TENSOR(LAYER "o_proj.scales", 512, 16), TSR_BF16, "fsdp, tp/parts(16)", NULL},
      {TENSOR(LAYER "o_proj.biases", 512, 16), TSR_BF16, "fsdp, tp/parts(16)", NULL}}},
    {"torchao, scales turned round",
     {{TENSOR(LAYER "o_proj._weight_qdata", 512, 512), TSR_U8, "fsdp, tp/parts(512/32)", NULL},
      {TENSOR(LAYER "o_proj._weight_scale", 16, 512), TSR_BF16, "tp/parts(16), fsdp", NULL}}},
    {"torchao, 8 bits",
     {{TENSOR(LAYER "o_proj._weight_qdata", 512, 1024), TSR_I8, "fsdp, tp/parts(1024/64)", NULL},
      {TENSOR(LAYER "o_proj._weight_scale", 512, 1), TSR_BF16, "fsdp, _", NULL}}},
    {"LoRA alone",
     {{TENSOR(LAYER "q_proj.lora_A.weight", 8, 512), TSR_F32, "_, fsdp", NULL},
      {TENSOR(LAYER "q_proj.lora_B.weight", 1024, 8), TSR_F32, "tp/parts(1024/64), _", NULL},
      {TENSOR(LAYER "o_proj.lora_A.default.weight", 8, 1024), TSR_F32, "_, tp/parts(1024/64)",
       NULL},
      {TENSOR(LAYER "o_proj.lora_B.default.weight", 512, 8), TSR_F32, "fsdp, _", NULL},
      {TENSOR("embed.lora_embedding_A", 8, 64), TSR_F32, "_, tp", NULL},
      {TENSOR("embed.lora_embedding_B", 32, 8), TSR_F32, "fsdp, _", NULL}}},
    {"LoRA beside its weight",
     {{TENSOR(LAYER "q_proj.weight", 1024, 512), TSR_F32, "tp/parts(1024/64), fsdp", NULL},
      {TENSOR(LAYER "q_proj.lora_A.weight", 8, 512), TSR_F32, "_, fsdp",
       "goes with \"" LAYER "q_proj.weight\"; dimension 1: cut with it"},
      {TENSOR(LAYER "q_proj.lora_B.weight", 1024, 8), TSR_F32, "tp/parts(1024/64), _", NULL},
      {TENSOR(LAYER "q_proj.lora_magnitude_vector", 1024), TSR_F32, "tp/parts(1024/64)", NULL}}},
    {"states without their parameters",
     {{TENSOR("state." LAYER "o_proj.weight.exp_avg", 512, 1024), TSR_F32,
       "fsdp, tp/parts(1024/64)",
       "stands for \"state." LAYER
       "o_proj.weight\"; rule 1 (my.rules:2) \"o_proj\\.weight$\" -> fsdp, "
       "tp/parts(1024/64)"},
      {TENSOR("state." LAYER "o_proj.weight.exp_avg_sq", 512, 1024), TSR_F32,
       "fsdp, tp/parts(1024/64)", NULL},
      {TENSOR("state." LAYER "o_proj.weight.step", 1), TSR_F32, "()",
       "kept whole, as it is a single number of its optimiser"}}},
    {"sizes that do not divide",
     {{TENSOR(LAYER "embed.qweight", 8, 514), TSR_I32, "fsdp, _",
       "stands for \"" LAYER
       "embed.weight\"; rule 2 (my.rules:3) \"embed\\.weight$\" -> tp, fsdp; dimension 1: size 514 "
       "is not divisible by tp=4, so it is not cut; dimension 0: cut with it, by blocks of 8"},
      {TENSOR(LAYER "embed.scales", 1, 514), TSR_F16, "_, _", NULL}}},
};

static int take_form(size_t form, tsr_tensor *out) {
  int count = 0;
  while (count < MOST && forms[form].rows[count].spec) {
    out[count] = forms[form].rows[count].tensor;
    out[count].dtype = forms[form].rows[count].dtype;
    count++;
  }
  return count;
}

static void assert_form(const tsr_plan *plan, size_t form, int t) {
  tsr_plan_row row = TSR_PLAN_ROW;
  tsr_text found = TSR_TEXT_EMPTY;
  tsr_layout *layout = NULL;
  assert_ok(tsr_plan_at(plan, t, &row));
  assert_ok(tsr_spec_print(row.final, TSR_FORM_SHORT, &found));
  if (strcmp(tsr_text_string(&found), forms[form].rows[t].spec) != 0)
    fail_msg("%s: %s is cut %s, wanted %s", forms[form].title, row.tensor->path,
             tsr_text_string(&found), forms[form].rows[t].spec);
  if (forms[form].rows[t].reasons) assert_reasons(plan, t, forms[form].rows[t].reasons);
  assert_ok(tsr_plan_layout(plan, t, &layout));  // it can be laid out
  tsr_layout_release(layout);
  tsr_text_deinit(&found);
}

typedef struct asked {
  tsr_tree *tree;
  tsr_mesh *mesh;
  tsr_rules *rules;
} asked;

static tsr_status match(void *context) {
  const asked *with = context;
  const tsr_match_options options = {.size = sizeof options, .companions = true};
  tsr_plan *plan = NULL;
  tsr_status status = tsr_plan_match(with->tree, with->mesh, with->rules, &options, &plan);
  tsr_plan_release(plan);
  return status;
}

static void rules_for_weights_serve_their_other_forms(void **state) {
  (void)state;
  const tsr_match_options options = {.size = sizeof options, .companions = true};
  asked with = {.mesh = make_mesh("fsdp=2,tp=4"), .rules = make_rules(weights_only)};
  for (size_t i = 0; i < COUNT_OF(forms); i++) {
    tsr_tensor tensors[MOST];
    tsr_plan *plan = NULL, *again = NULL;
    const int count = take_form(i, tensors);
    with.tree = make_tree(tensors, count);
    tsr_status status = tsr_plan_match(with.tree, with.mesh, with.rules, &options, &plan);
    if (status) fail_msg("%s: %s", forms[i].title, tsr_status_text(status));
    for (int t = 0; t < count; t++) assert_form(plan, i, t);
    char *json = write_plan(plan, 0);
    assert_ok(read_plan(json, &again));  // with all its notes
    free(json);
    test_allocation_sweep(match, &with);
    tsr_plan_release(again);
    tsr_plan_release(plan);
    tsr_tree_release(with.tree);
  }
  tsr_mesh_release(with.mesh);
  tsr_rules_release(with.rules);
}

static void cuts_through_packed_words_are_refused(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {TENSOR("embed.qweight", 9, 512), TENSOR("embed.scales", 1, 512)};
  asked with = {.mesh = make_mesh("fsdp=2,tp=4"),
                .rules = make_rules(weights_only),
                .tree = make_tree(tensors, 2)};
  assert_fails_with(match(&with), BAD_CUT,
                    "tensor \"embed.qweight\": \"embed.weight\" is cut at 36 elements of dimension "
                    "1, through one of the blocks of 8 that belong together");
  tsr_tree_release(with.tree);
  tsr_mesh_release(with.mesh);
  tsr_rules_release(with.rules);
}

// What stands for a weight without a rule, or disagrees about its sizes, has no rule either.
static void forms_of_unknown_weights_are_refused(void **state) {
  (void)state;
  const tsr_tensor cases[][2] = {
      {TENSOR("x.qweight", 8, 64), TENSOR("x.scales", 1, 64)},
      {TENSOR("q_proj.qweight", 8, 64), TENSOR("q_proj.bias", 64)},
      {TENSOR("q_proj.qweight", 8, 8, 64), TENSOR("q_proj.scales", 1, 64)},
      {TENSOR("q_proj.weight_packed", 64), TENSOR("q_proj.weight_scale", 64)},
      {TENSOR("q_proj.lora_A.weight", 8, 64), TENSOR("q_proj.rest.weight_scale_2", 1)},
      {TENSOR("q_proj.weight.exp_avg", 8, 64), TENSOR("q_proj.weight.exp_avg_sq", 64, 8)},
      {TENSOR("q_proj.v_row", 8), TENSOR("v_col", 8)},
  };
  const asked with = {.mesh = make_mesh("fsdp=2,tp=4"), .rules = make_rules(weights_only)};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    asked one = with;
    one.tree = make_tree(cases[i], 2);
    assert_fails_with(match(&one), NO_RULE, "no rule matches ");
    tsr_tree_release(one.tree);
  }
  tsr_mesh_release(with.mesh);
  tsr_rules_release(with.rules);
}

SUITE(families, TEST(members_of_a_family_are_cut_together), TEST(what_stays_whole_says_why),
      TEST(rules_for_weights_serve_their_other_forms), TEST(cuts_through_packed_words_are_refused),
      TEST(forms_of_unknown_weights_are_refused))
