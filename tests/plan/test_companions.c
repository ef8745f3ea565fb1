// Optimiser states and quantisation scales: cut with what they go with.
#include <string.h>

#include "plan/plan_internal.h"
#include "plan/random_models.h"
#include "support/models.h"
#include "support/test.h"
#include "tessera/compat/eformer_plan.h"
#include "tessera/engine/plan.h"

static const struct {
  const char *title, *spec;  // of the first tensor, the weight
  tsr_tensor weight, companion;
  const char *expected;  // the companion's spec, or what is said against it
} cases[] = {
    // States: before the parameter's name, behind it, beside other words.
    {"suffix", "fsdp, tp", TENSOR("a.w", 8, 8), TENSOR("a.w.exp_avg", 8, 8), "fsdp, tp"},
    {"torch", "fsdp, tp", TENSOR("a.w", 8, 8), TENSOR("optimizer.state.a.w.exp_avg_sq", 8, 8),
     "fsdp, tp"},
    {"megatron", "_, tp", TENSOR("a.w", 8, 8), TENSOR("optimizer.state.fp32_param.a.w", 8, 8),
     "_, tp"},
    {"optax", "fsdp, tp", TENSOR("params/d/kernel", 8, 8),
     TENSOR("opt_state/0/mu/params/d/kernel", 8, 8), "fsdp, tp"},
    {"fused", "tp/parts(q:8/2, k:4/2*2, v:4/2*2), _", TENSOR("qkv", 16, 3),
     TENSOR("qkv.momentum_buffer", 16, 3), "tp/parts(q:8/2, k:4/2*2, v:4/2*2), _"},
    {"t5x", "_, tp", TENSOR("target/d/kernel", 4, 8), TENSOR("state/param_states/d/kernel/m", 4, 8),
     "_, tp"},
    {"deepspeed", "fsdp, tp", TENSOR("a.w", 8, 8), TENSOR("zero/a.w/fp32", 8, 8), "fsdp, tp"},
    {"an optimiser that knows no model", "fsdp, tp", TENSOR("model.a.w", 8, 8),
     TENSOR("optim.state.a.w.exp_avg", 8, 8), "fsdp, tp"},
    // Adafactor keeps means over one dimension, and lacks it.
    {"rows", "fsdp, tp", TENSOR("a.w", 4, 8), TENSOR("a.w.exp_avg_sq_row", 4), "fsdp"},
    {"columns", "fsdp, tp", TENSOR("a.w", 4, 8), TENSOR("a.w.exp_avg_sq_col", 8), "tp"},
    {"rows of the longer side", "fsdp, tp", TENSOR("a/w", 16, 8), TENSOR("opt/v_row/a/w", 8), "tp"},
    {"rows of a square", "fsdp, tp", TENSOR("a/w", 8, 8), TENSOR("opt/v_row/a/w", 8), "fsdp"},
    {"columns of a square", "fsdp, tp", TENSOR("a/w", 8, 8), TENSOR("opt/v_col/a/w", 8), "tp"},
    {"columns of stacked squares", "_, fsdp, tp", TENSOR("a/w", 8, 8, 8),
     TENSOR("opt/v_col/a/w", 8, 8), "_, tp"},
    {"columns of a parts cut", "tp/parts(q:8/2, k:8/2), _", TENSOR("a/w", 16, 8),
     TENSOR("a/w/v_row", 16), "tp/parts(q:8/2, k:8/2)"},
    {"no second moment", "fsdp, tp", TENSOR("a/w", 4, 8), TENSOR("opt/v_row/a/w", 1), "()"},
    {"a factor of another shape", "fsdp, tp", TENSOR("a/w", 4, 8), TENSOR("opt/v_row/a/w", 5),
     "()"},
    {"a flattened state", "fsdp, tp", TENSOR("a.w", 8, 8), TENSOR("a.w.exp_avg", 64), "()"},
    {"a state in several tensors", "fsdp, tp", TENSOR("a.w", 8, 8),
     TENSOR("a.w.exp_avg.codes", 8, 8), "()"},
    {"a word that proves nothing", "tp, _", TENSOR("a.w", 8, 8), TENSOR("a.w.sum", 3), "()"},
    {"a step", "fsdp, tp", TENSOR("a.w", 8, 8), TENSOR("a.w.step", 1), "()"},
    // Scales.
    {"per channel", "tp, fsdp", TENSOR("a.weight", 8, 8), TENSOR("a.weight_scale", 8), "tp"},
    {"per channel, kept as a column", "tp, fsdp", TENSOR("a.weight", 8, 8),
     TENSOR("a.weight_scale", 8, 1), "tp, _"},
    {"of inputs", "_, tp", TENSOR("a.weight", 4, 8), TENSOR("a.weight_scale", 8), "tp"},
    {"per tensor", "tp, fsdp", TENSOR("a.weight", 8, 8), TENSOR("a.weight_scale", 1), "_"},
    {"blocks of 128", "tp, fsdp", TENSOR("a.weight", 1024, 512), TENSOR("a.weight_scale_inv", 8, 4),
     "tp, fsdp"},
    {"nested", "fsdp;tp, _", TENSOR("a.weight", 1024, 512), TENSOR("a.weight_scale_inv", 8, 4),
     "fsdp;tp, _"},
    {"groups of inputs", "_, tp", TENSOR("a.qweight", 128, 512), TENSOR("a.scales", 8, 512),
     "_, tp"},
    {"packed zeros", "tp, _", TENSOR("a.qweight", 128, 512), TENSOR("a.qzeros", 8, 64), "tp, _"},
    {"packed weights", "_, tp", TENSOR("a.qweight", 512, 64), TENSOR("a.scales", 4, 512), "_, tp"},
    {"experts", "tp, _, _", TENSOR("e.up_blocks", 8, 6, 4, 16), TENSOR("e.up_scales", 8, 6, 4),
     "tp, _, _"},
    {"parts by blocks", "tp/parts(q:1024/64, k:256/64*2, v:256/64*2), _",
     TENSOR("qkv.weight", 1536, 8), TENSOR("qkv.weight_scale_inv", 12, 8),
     "tp/parts(q:8/2, k:2*2, v:2*2), _"},
    {"parts of packed weights", "tp/parts(q:16/4, k:8/4*2), _", TENSOR("qkv.qweight", 24, 8),
     TENSOR("qkv.scales", 48, 8), "tp/parts(q:32/8, k:16/8*2), _"},
    {"three bits in words", "_, tp", TENSOR("a.weight", 4, 128), TENSOR("a.weight_scale", 4, 12),
     "_, tp"},
    {"experts per channel", "fsdp, tp, _", TENSOR("e.up", 4, 8, 6), TENSOR("e.up_scale", 4, 8, 1),
     "fsdp, tp, _"},
    {"a number for each expert", "fsdp, tp, _", TENSOR("e.up", 4, 8, 6), TENSOR("e.up_scale", 4),
     "fsdp"},
    {"outputs of stacked layers", "_, tp, _", TENSOR("e.up", 3, 8, 6), TENSOR("e.up_scale", 8),
     "tp"},
    {"8 bits by outputs", "tp, _", TENSOR("a.weight", 8, 8), TENSOR("a.SCB", 8), "tp"},
    {"outputs of a transposed weight", "fsdp, tp", TENSOR("a.qweight", 8, 8),
     TENSOR("a.weight_scale", 8), "tp"},
    {"inputs of a transposed weight", "tp, fsdp", TENSOR("a.qweight", 8, 64), TENSOR("a.g_idx", 64),
     "tp"},
    {"a bias of a transposed weight", "tp, fsdp", TENSOR("a.qweight", 8, 64), TENSOR("a.bias", 64),
     "fsdp"},
    {"smoothing of inputs", "fsdp, tp", TENSOR("a.weight", 8, 8), TENSOR("a.pre_quant_scale", 8),
     "tp"},
    {"a number of a layer", "fsdp, tp", TENSOR("a.weight", 8, 8), TENSOR("a.input_scale", 1), "()"},
    {"sizes of the whole", "_, tp", TENSOR("a.weight_packed", 8, 8), TENSOR("a.weight_shape", 2),
     "()"},
    {"in the order of kernels", "_, tp", TENSOR("a.weight", 8, 8), TENSOR("a.weight_scales", 8),
     "()"},
    {"sizes", "tp/sizes(128,128,256,512), _", TENSOR("a.weight", 1024, 8),
     TENSOR("a.weight_scale", 8, 1), "tp/sizes(1,1,2,4), _"},
    {"cyclic", "tp/cyclic(256), _", TENSOR("a.weight", 1024, 8), TENSOR("a.weight_scale", 8, 1),
     "tp/cyclic(2), _"},
    {"a short block in one piece", "one, tp", TENSOR("a.weight", 192, 8),
     TENSOR("a.weight_scale_inv", 2, 8), "_, tp"},
    {"parts in one piece", "one/parts(192/32), _", TENSOR("a.weight", 192, 8),
     TENSOR("a.weight_scale_inv", 2, 8), "_, _"},
    {"no blocks in one piece", "one, _", TENSOR("a.weight", 100, 8), TENSOR("a.weight_scale", 3, 8),
     "_, _"},
    {"not cut", "()", TENSOR("a.weight", 100, 8), TENSOR("a.weight_scale", 3, 1), "_, _"},
    // Refusals.
    {"through a block", "tp, _", TENSOR("a.weight", 640, 8), TENSOR("a.weight_scale", 5, 8),
     "! tensor \"a.weight_scale\": \"a.weight\" is cut at 160 elements of dimension 0, through one "
     "of the blocks of 128"},
    {"a last block that is short", "tp, _", TENSOR("a.weight", 576, 8),
     TENSOR("a.weight_scale", 5, 8), "! is cut at 144 elements"},
    {"parts through a block", "tp/parts(q:256/64, k:256/64), _", TENSOR("a.weight", 512, 8),
     TENSOR("a.weight_scale", 4, 8), "! is cut at 64 elements"},
    {"a last block that is short, and might be as long", "fsdp, _", TENSOR("a.weight", 192, 8),
     TENSOR("a.weight_scale_inv", 2, 8), "! is cut at 96 elements of dimension 0, through one of "},
    {"sizes that tell no blocks", "tp, _", TENSOR("a.weight", 100, 8),
     TENSOR("a.weight_scale", 3, 8), "! size 3 of dimension 0 does not go with"},
    {"dimensions that belong to nothing", "tp, _", TENSOR("a.weight", 64, 8),
     TENSOR("a.weight_scale", 4),
     "! has shape (4,) beside \"a.weight\" of (64, 8): its dimensions cannot be paired"},
    {"sizes through a block", "tp/sizes(100,156,128,128), _", TENSOR("a.weight", 512, 8),
     TENSOR("a.weight_scale", 4, 8), "! is cut at 100 elements"},
    {"cyclic through a block", "tp/cyclic(64), _", TENSOR("a.weight", 512, 8),
     TENSOR("a.weight_scale", 4, 8), "! is cut at 64 elements"},
    {"not a multiple", "tp, _", TENSOR("a.weight", 8, 8), TENSOR("a.weight_scale", 12, 8),
     "! size 12 of dimension 0 does not go with \"a.weight\"'s 8"},
    {"stages", "fsdp/sizes(256,256);tp, _", TENSOR("a.weight", 512, 8),
     TENSOR("a.weight_scale", 4, 8), "! in stages that are not even"},
};

static tsr_status plan_case(size_t i, tsr_plan **out_plan) {
  tsr_tree *tree = NULL;
  tsr_mesh *mesh = make_mesh("fsdp=2,tp=4,one=1");
  tsr_spec *spec = make_spec(cases[i].spec);
  tsr_plan *plain = NULL;
  const tsr_tensor tensors[] = {cases[i].companion, cases[i].weight};
  assert_ok(tsr_tree_create(tensors, 2, &tree));
  assert_ok(tsr_plan_from_specs(tree, mesh, (const tsr_spec *const[]){NULL, spec}, &plain));
  tsr_status status = tsr_plan_companions(plain, out_plan);
  tsr_plan_release(plain);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
  return status;
}

static void companions_are_cut_as_what_they_go_with(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_plan *plan = NULL;
    tsr_text found = TSR_TEXT_EMPTY;
    tsr_status status = plan_case(i, &plan);
    if (*cases[i].expected == '!') {
      if (!status || !strstr(tsr_status_text(status), cases[i].expected + 2))
        fail_msg("%s: %s", cases[i].title, tsr_status_text(status));
      tsr_status_free(status);
      tsr_plan_release(plan);
      continue;
    }
    if (status) fail_msg("%s: %s", cases[i].title, tsr_status_text(status));
    tsr_plan_row row = TSR_PLAN_ROW;
    assert_ok(tsr_plan_at(plan, 0, &row));
    assert_ok(tsr_spec_print(row.final, TSR_FORM_SHORT, &found));
    if (strcmp(tsr_text_string(&found), cases[i].expected) != 0)
      fail_msg("%s: %s, wanted %s", cases[i].title, tsr_text_string(&found), cases[i].expected);
    tsr_layout *layout = NULL;  // it can be laid out
    assert_ok(tsr_plan_layout(plan, 0, &layout));
    tsr_layout_release(layout);
    tsr_text_deinit(&found);
    tsr_plan_release(plan);
  }
}

// The elements of a scale that a device holds are those of its elements' blocks.
static void devices_hold_the_scales_of_their_elements(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const tsr_tensor *weight = &cases[i].weight, *scale = &cases[i].companion;
    tsr_plan *plan = NULL;
    if (*cases[i].expected == '!' || !strstr(scale->path, "scale") || strchr(cases[i].spec, '/') ||
        scale->rank != weight->rank)
      continue;
    assert_ok(plan_case(i, &plan));
    tsr_layout *layouts[2];
    for (int t = 0; t < 2; t++) assert_ok(tsr_plan_layout(plan, t, &layouts[t]));
    for (int64_t device = 0; device < 8; device++) {
      tsr_range own[TSR_MAX_RANK], of[TSR_MAX_RANK];
      assert_ok(tsr_layout_box(layouts[0], tsr_layout_shard(layouts[0], device), own));
      assert_ok(tsr_layout_box(layouts[1], tsr_layout_shard(layouts[1], device), of));
      for (int d = 0; d < scale->rank; d++) {
        if (scale->dims[d] == 1) continue;
        assert_int_equal(own[d].lo * weight->dims[d], of[d].lo * scale->dims[d]);
        assert_int_equal(own[d].hi * weight->dims[d], of[d].hi * scale->dims[d]);
      }
    }
    for (int t = 0; t < 2; t++) tsr_layout_release(layouts[t]);
    tsr_plan_release(plan);
  }
}

// ---- with rules ----

static const tsr_tensor quantised[] = {
    TENSOR("a.weight", 512, 256),         TENSOR("a.weight_scale_inv", 4, 2),
    TENSOR("a.weight.exp_avg", 512, 256), TENSOR("a.weight_scale_inv.mu", 4, 2),
    TENSOR("a.weight.step", 1),           TENSOR("b.norm", 16),
};

static tsr_status match(const char *text, bool companions, tsr_plan **out_plan) {
  const tsr_match_options options = {.size = sizeof options, .companions = companions};
  tsr_tree *tree = make_tree(quantised, COUNT_OF(quantised));
  tsr_mesh *mesh = make_mesh("fsdp=2,tp=4");
  tsr_rules *rules = make_rules(text);
  tsr_status status = tsr_plan_match(tree, mesh, rules, &options, out_plan);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
  return status;
}

static void companions_need_no_rule(void **state) {
  (void)state;
  static const char anchored[] = "weight$ -> tp, fsdp\nnorm$ -> _\n";
  tsr_plan *plan = NULL;
  assert_ok(match(anchored, true, &plan));
  assert_row(plan, 0, "tp, fsdp -> tp, fsdp 65536; rule -1 0 0 -");
  assert_row(plan, 1,
             "tp, fsdp -> tp, fsdp 4; companion -1 -1 0 -; companion 0 -1 128 -; "
             "companion 1 -1 128 -");
  assert_row(plan, 2, "tp, fsdp -> tp, fsdp 65536; companion -1 -1 0 -");
  assert_row(plan, 3, "tp, fsdp -> tp, fsdp 4; companion -1 -1 0 -");
  assert_row(plan, 4, "() -> () 4; companion -1 -1 0 -");
  assert_reasons(plan, 1,
                 "goes with \"a.weight\"; dimension 0: cut with it, by blocks of 128; "
                 "dimension 1: cut with it, by blocks of 128");
  assert_reasons(plan, 3, "goes with \"a.weight_scale_inv\"");
  tsr_plan_release(plan);
  assert_fails_with(match(anchored, false, &plan), NO_RULE, "no rule matches 4 of 6 tensors");
  assert_fails_with(match("weight$ -> tp\n", true, &plan), NO_RULE, "no rule matches 1 of 6");
}

static void a_part_of_a_model_forgets_whom_it_went_with(void **state) {
  (void)state;
  tsr_plan *plan = NULL, *part = NULL;
  tsr_tree *tree = make_tree(&quantised[1], 1);
  assert_ok(match("weight$ -> tp, fsdp\nnorm$ -> _\n", true, &plan));
  assert_ok(tsr_plan_for_tree(plan, tree, &part));
  assert_reasons(part, 0,
                 "goes with another tensor; dimension 0: cut with it, by blocks of 128; "
                 "dimension 1: cut with it, by blocks of 128");
  tsr_plan_release(plan);
  tsr_plan_release(part);
  tsr_tree_release(tree);
}

// On another mesh scales are cut with their weight again, or refused with it.
static void converted_plans_keep_companions_together(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {TENSOR("a.weight", 8, 1152), TENSOR("a.weight_scale_inv", 8, 9)};
  tsr_tree *tree = make_tree(tensors, 2);
  tsr_mesh *three = make_mesh("tp=3"), *nine = make_mesh("tp=9"), *two = make_mesh("tp=2");
  tsr_spec *spec = make_spec("_, tp");
  tsr_plan *apart = NULL, *plan = NULL, *converted = NULL;
  assert_ok(tsr_plan_from_specs(tree, three, (const tsr_spec *const[]){spec, NULL}, &apart));
  assert_ok(tsr_plan_companions(apart, &plan));
  assert_ok(tsr_plan_convert(plan, nine, NULL, &converted));
  assert_row(converted, 1, "_, tp -> _, tp 32; companion -1 -1 0 -; companion 1 -1 128 -");
  tsr_plan_release(converted);
  assert_fails_with(tsr_plan_convert(plan, two, NULL, &converted), BAD_CUT,
                    "\"a.weight\" is cut at 576 elements of dimension 1");
  assert_ok(tsr_plan_convert(apart, two, NULL, &converted));  // they never went together
  tsr_plan_release(converted);
  tsr_plan_release(plan);
  tsr_plan_release(apart);
  tsr_spec_release(spec);
  tsr_mesh_release(three);
  tsr_mesh_release(nine);
  tsr_mesh_release(two);
  tsr_tree_release(tree);
}

static void companions_ask_for_a_mesh(void **state) {
  (void)state;
  tsr_tree *tree = make_tree(quantised, 1);
  tsr_plan *plan = NULL, *out = NULL;
  assert_ok(tsr_plan_from_specs(tree, NULL, (const tsr_spec *const[]){NULL}, &plan));
  assert_fails_with(tsr_plan_companions(plan, &out), BAD_ARGUMENT, "without a mesh");
  tsr_plan_release(plan);
  tsr_tree_release(tree);
}

static tsr_status follow(void *context) {
  tsr_plan *plan = NULL;
  tsr_status status = tsr_plan_companions(context, &plan);
  tsr_plan_release(plan);
  return status;
}

static void companions_survive_failing_allocations(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_plan *plan = NULL;
    if (*cases[i].expected == '!' || !strchr(cases[i].spec, '/')) continue;
    assert_ok(plan_case(i, &plan));
    test_allocation_sweep(follow, plan);
    tsr_plan_release(plan);
  }
}

SUITE(companions, TEST(companions_are_cut_as_what_they_go_with),
      TEST(devices_hold_the_scales_of_their_elements), TEST(companions_need_no_rule),
      TEST(a_part_of_a_model_forgets_whom_it_went_with),
      TEST(converted_plans_keep_companions_together), TEST(companions_ask_for_a_mesh),
      TEST(companions_survive_failing_allocations))
