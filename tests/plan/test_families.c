// Weights in several tensors, and states in several, as frameworks write them.
#include <string.h>

#include "plan/random_models.h"
#include "support/models.h"
#include "support/test.h"

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
      tsr_plan_row row;
      tsr_text found = TSR_TEXT_EMPTY;
      tsr_plan_get(plan, t, &row);
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
  assert_reasons(less, 0, "kept whole: no cut can be followed");
  tsr_plan_release(less);
  tsr_plan_release(plan);
  tsr_plan_release(plain);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  tsr_tree_release(part);
  tsr_tree_release(tree);
}

SUITE(families, TEST(members_of_a_family_are_cut_together), TEST(what_stays_whole_says_why))
