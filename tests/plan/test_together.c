// Tensors that are cut together or not at all. For every preset, over a grid of sizes, ranks and
// policies, what each rank holds is looked at: whole heads, the same ones of q and o, the key and
// value heads that belong to them, and the same columns of up as rows of down.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element/shape_internal.h"
#include "layout/layout_internal.h"
#include "plan/plan_internal.h"
#include "plan/random_models.h"
#include "rules/rules.h"
#include "rules/rules_internal.h"
#include "support/models.h"
#include "support/real_models.h"
#include "support/test.h"
#include "tessera/compat/eformer_plan.h"

enum { MOST_SEGMENTS = 5, MOST_MEMBERS = 18, MOST_ITEMS = 8192, THINGS = 5 };

// Side by side along the dimension that is cut: `count` units of `width` elements, each unit
// standing for `scale` things in a row. Numbers are expressions over facts.
typedef struct segment {
  char thing;  // h: heads, k: key and value heads, i: of the mlp, e: of experts, s: of both heads
  const char *count, *width;
  int scale;  // 0 = 1
} segment;

typedef struct member {
  const char *path, *dims[4];
  int dim;
  segment segments[MOST_SEGMENTS];
} member;

#define HEADS \
  { 'h', "heads", "head_dim", 0 }
#define KEYS \
  { 'k', "kv_heads", "head_dim", 0 }
#define HEAD_NUMBERS \
  { 'h', "heads", "1", 0 }
#define INNER \
  { 'i', "intermediate", "1", 0 }
#define EXPERT \
  { 'e', "expert_intermediate", "1", 0 }
#define L "model.layers.0."

#define APART(at)                                                         \
  {at "q_proj.weight", {"heads*head_dim", "hidden"}, 0, {HEADS}},         \
      {at "k_proj.weight", {"kv_heads*head_dim", "hidden"}, 0, {KEYS}},   \
      {at "v_proj.weight", {"kv_heads*head_dim", "hidden"}, 0, {KEYS}}, { \
    at "o_proj.weight", {"hidden", "heads*head_dim"}, 1, { HEADS }        \
  }
#define BIASES(at)                                            \
  {at "q_proj.bias", {"heads*head_dim"}, 0, {HEADS}},         \
      {at "k_proj.bias", {"kv_heads*head_dim"}, 0, {KEYS}}, { \
    at "v_proj.bias", {"kv_heads*head_dim"}, 0, { KEYS }      \
  }
#define GATED(at, size, unit)                               \
  {at "gate_proj.weight", {size, "hidden"}, 0, {unit}},     \
      {at "up_proj.weight", {size, "hidden"}, 0, {unit}}, { \
    at "down_proj.weight", {"hidden", size}, 1, { unit }    \
  }
#define STACKED(at)                                                                     \
  {at "gate_up_proj", {"4", "2*expert_intermediate", "hidden"}, 1, {EXPERT, EXPERT}}, { \
    at "down_proj", {"4", "hidden", "expert_intermediate"}, 2, { EXPERT }               \
  }
#define ALL_HEADS(q, k, v, o)                                                                   \
  {q, {"heads*head_dim", "hidden"}, 0, {HEADS}}, {k, {"heads*head_dim", "hidden"}, 0, {HEADS}}, \
      {v, {"heads*head_dim", "hidden"}, 0, {HEADS}}, {                                          \
    o, {"hidden", "heads*head_dim"}, 1, { HEADS }                                               \
  }

static const struct family {
  const char *preset;
  bool all_heads;  // as many key and value heads as heads
  member members[MOST_MEMBERS];
} families[] = {
    {"llama",
     false,
     {APART(L "self_attn."),
      BIASES(L "self_attn."),
      GATED(L "mlp.", "intermediate", INNER),
      {L "mlp.up_proj.bias", {"intermediate"}, 0, {INNER}}}},
    {"cohere",
     false,
     {APART(L "self_attn."),
      {L "self_attn.q_norm.weight", {"heads", "head_dim"}, 0, {HEAD_NUMBERS}},
      {L "self_attn.k_norm.weight", {"kv_heads", "head_dim"}, 0, {{'k', "kv_heads", "1", 0}}},
      GATED(L "mlp.", "intermediate", INNER)}},
    {"gemma", false, {APART(L "self_attn."), GATED(L "mlp.", "intermediate", INNER)}},
    {"phi3",
     false,
     {{L "self_attn.qkv_proj.weight",
       {"(heads+2*kv_heads)*head_dim", "hidden"},
       0,
       {HEADS, KEYS, KEYS}},
      {L "self_attn.qkv_proj.bias", {"(heads+2*kv_heads)*head_dim"}, 0, {HEADS, KEYS, KEYS}},
      {L "self_attn.o_proj.weight", {"hidden", "heads*head_dim"}, 1, {HEADS}},
      {L "mlp.gate_up_proj.weight", {"2*intermediate", "hidden"}, 0, {INNER, INNER}},
      {L "mlp.down_proj.weight", {"hidden", "intermediate"}, 1, {INNER}}}},
    {"mixtral",
     false,
     {APART(L "self_attn."),
      {L "block_sparse_moe.experts.0.w1.weight", {"intermediate", "hidden"}, 0, {INNER}},
      {L "block_sparse_moe.experts.0.w3.weight", {"intermediate", "hidden"}, 0, {INNER}},
      {L "block_sparse_moe.experts.0.w2.weight", {"hidden", "intermediate"}, 1, {INNER}},
      {L "mlp.experts.gate_up_proj", {"4", "2*intermediate", "hidden"}, 1, {INNER, INNER}},
      {L "mlp.experts.down_proj", {"4", "hidden", "intermediate"}, 2, {INNER}}}},
    {"qwen_moe",
     false,
     {APART(L "self_attn."), BIASES(L "self_attn."), STACKED(L "mlp.experts."),
      GATED(L "mlp.experts.0.", "expert_intermediate", EXPERT),
      GATED(L "mlp.shared_expert.", "intermediate", INNER)}},
    {"deepseek",
     true,
     {{L "self_attn.q_b_proj.weight",
       {"heads*(qk_dim+qk_rope_dim)", "hidden"},
       0,
       {{'h', "heads", "qk_dim+qk_rope_dim", 0}}},
      {L "self_attn.kv_b_proj.weight",
       {"heads*(qk_dim+v_dim)", "hidden"},
       0,
       {{'h', "heads", "qk_dim+v_dim", 0}}},
      {L "self_attn.o_proj.weight", {"hidden", "heads*v_dim"}, 1, {{'h', "heads", "v_dim", 0}}},
      GATED(L "mlp.experts.0.", "expert_intermediate", EXPERT),
      GATED(L "mlp.shared_experts.", "intermediate", INNER)}},
    {"llama4",
     false,
     {APART(L "self_attn."),
      {L "feed_forward.experts.gate_up_proj", {"4", "hidden", "2*intermediate"}, 2, {INNER, INNER}},
      {L "feed_forward.experts.down_proj", {"4", "intermediate", "hidden"}, 1, {INNER}},
      GATED(L "feed_forward.shared_expert.", "expert_intermediate", EXPERT)}},
    {"gpt_oss",
     false,
     {APART(L "self_attn."),
      BIASES(L "self_attn."),
      {L "self_attn.sinks", {"heads"}, 0, {HEAD_NUMBERS}},
      {L "mlp.experts.gate_up_proj_blocks",
       {"4", "2*intermediate", "hidden", "16"},
       1,
       {{'i', "intermediate/32", "64", 32}}},
      {L "mlp.experts.gate_up_proj_bias",
       {"4", "2*intermediate"},
       1,
       {{'i', "intermediate", "2", 0}}},
      {L "mlp.experts.down_proj_blocks",
       {"4", "hidden", "intermediate/32", "16"},
       2,
       {{'i', "intermediate/32", "1", 32}}}}},
    {"mamba2",
     false,
     {{L "mixer.in_proj.weight",
       {"2*heads*head_dim+2*groups*state+heads", "hidden"},
       0,
       {HEADS, HEADS, {'k', "groups", "state", 0}, {'k', "groups", "state", 0}, HEAD_NUMBERS}},
      {L "mixer.conv1d.weight",
       {"heads*head_dim+2*groups*state", "1", "4"},
       0,
       {HEADS, {'k', "groups", "state", 0}, {'k', "groups", "state", 0}}},
      {L "mixer.A_log", {"heads"}, 0, {HEAD_NUMBERS}},
      {L "mixer.dt_bias", {"heads"}, 0, {HEAD_NUMBERS}},
      {L "mixer.norm.weight", {"heads*head_dim"}, 0, {HEADS}},
      {L "mixer.out_proj.weight", {"hidden", "heads*head_dim"}, 1, {HEADS}}}},
    {"gpt_neox",
     false,
     {{L "attention.query_key_value.weight",
       {"(heads+2*kv_heads)*head_dim", "hidden"},
       0,
       {{'s', "kv_heads", "(heads/kv_heads+2)*head_dim", 0}}},
      {L "attention.dense.weight", {"hidden", "heads*head_dim"}, 1, {HEADS}},
      {L "mlp.dense_h_to_4h.weight", {"intermediate", "hidden"}, 0, {INNER}},
      {L "mlp.dense_h_to_4h.bias", {"intermediate"}, 0, {INNER}},
      {L "mlp.dense_4h_to_h.weight", {"hidden", "intermediate"}, 1, {INNER}}}},
    {"megatron",
     false,
     {{L "self_attention.linear_qkv.weight",
       {"(heads+2*kv_heads)*head_dim", "hidden"},
       0,
       {{'s', "kv_heads", "(heads/kv_heads+2)*head_dim", 0}}},
      {L "self_attention.linear_proj.weight", {"hidden", "heads*head_dim"}, 1, {HEADS}},
      {L "mlp.linear_fc1.weight", {"2*intermediate", "hidden"}, 0, {INNER, INNER}},
      {L "mlp.linear_fc2.weight", {"hidden", "intermediate"}, 1, {INNER}}}},
    {"gpt2",
     true,
     {{"h.0.attn.c_attn.weight", {"hidden", "3*heads*head_dim"}, 1, {HEADS, HEADS, HEADS}},
      {"h.0.attn.c_attn.bias", {"3*heads*head_dim"}, 0, {HEADS, HEADS, HEADS}},
      {"h.0.attn.c_proj.weight", {"heads*head_dim", "hidden"}, 0, {HEADS}},
      {"h.0.mlp.c_fc.weight", {"hidden", "intermediate"}, 1, {INNER}},
      {"h.0.mlp.c_fc.bias", {"intermediate"}, 0, {INNER}},
      {"h.0.mlp.c_proj.weight", {"intermediate", "hidden"}, 0, {INNER}}}},
    {"t5",
     true,
     {ALL_HEADS("encoder.block.0.layer.0.SelfAttention.q.weight",
                "encoder.block.0.layer.0.SelfAttention.k.weight",
                "encoder.block.0.layer.0.SelfAttention.v.weight",
                "encoder.block.0.layer.0.SelfAttention.o.weight"),
      {"encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight",
       {"32", "heads"},
       1,
       {HEAD_NUMBERS}},
      {"encoder.block.0.layer.1.DenseReluDense.wi_0.weight",
       {"intermediate", "hidden"},
       0,
       {INNER}},
      {"encoder.block.0.layer.1.DenseReluDense.wo.weight",
       {"hidden", "intermediate"},
       1,
       {INNER}}}},
    {"bert",
     true,
     {ALL_HEADS("bert.encoder.layer.0.attention.self.query.weight",
                "bert.encoder.layer.0.attention.self.key.weight",
                "bert.encoder.layer.0.attention.self.value.weight",
                "bert.encoder.layer.0.attention.output.dense.weight"),
      {"bert.encoder.layer.0.attention.self.value.bias", {"heads*head_dim"}, 0, {HEADS}},
      {"bert.encoder.layer.0.intermediate.dense.weight", {"intermediate", "hidden"}, 0, {INNER}},
      {"bert.encoder.layer.0.output.dense.weight", {"hidden", "intermediate"}, 1, {INNER}}}},
    {"vit",
     true,
     {ALL_HEADS("vit.encoder.layer.0.attention.attention.query.weight",
                "vit.encoder.layer.0.attention.attention.key.weight",
                "vit.encoder.layer.0.attention.attention.value.weight",
                "vit.encoder.layer.0.attention.output.dense.weight"),
      {"vit.encoder.layer.0.intermediate.dense.bias", {"intermediate"}, 0, {INNER}},
      {"vit.encoder.layer.0.output.dense.weight", {"hidden", "intermediate"}, 1, {INNER}}}},
    {"whisper",
     true,
     {ALL_HEADS(L "self_attn.q_proj.weight", L "self_attn.k_proj.weight",
                L "self_attn.v_proj.weight", L "self_attn.out_proj.weight"),
      {L "self_attn.q_proj.bias", {"heads*head_dim"}, 0, {HEADS}},
      {L "fc1.weight", {"intermediate", "hidden"}, 0, {INNER}},
      {L "fc1.bias", {"intermediate"}, 0, {INNER}},
      {L "fc2.weight", {"hidden", "intermediate"}, 1, {INNER}}}},
};

// ---- one model on one mesh ----

typedef struct grid_case {
  const struct family *family;
  tsr_fact facts[11];
  tsr_rules_options options;
  tsr_plan *plan;
  int64_t ratio;  // heads that share a key and value head
  const char *title;
} grid_case;

static int64_t evaluate(const grid_case *at, const char *text) {
  int64_t value = 0;
  assert_ok(tsr_facts_evaluate(text, &at->options, &value));
  return value;
}

// Things that a rank holds, by number; `known` once a tensor has said so.
typedef struct held {
  bool known, items[MOST_ITEMS];
  const char *by;
} held;

static bool *held_elements(const grid_case *at, int64_t row, int dim, int64_t device,
                           int64_t size) {
  tsr_layout *layout = NULL;
  tsr_run *runs = NULL;
  int64_t coords[TSR_MAX_RANK];
  int64_t count = 0;
  bool *elements = calloc((size_t)size + 1, sizeof *elements);
  assert_non_null(elements);
  assert_ok(tsr_plan_layout(at->plan, row, &layout));
  tsr_layout_shard_coords(layout, tsr_layout_shard(layout, device), coords);
  assert_ok(tsr_layout_runs(layout, dim, coords[dim], &runs, &count));
  for (int i = 0; i < count; i++)
    for (int64_t n = 0; n < runs[i].count; n++)
      memset(elements + runs[i].global + n * runs[i].step, true, (size_t)runs[i].length);
  free(runs);
  tsr_layout_release(layout);
  return elements;
}

// What a segment says is held must be what others have said.
static void compare_held(const grid_case *at, const member *of, held *known, const bool *items,
                         int64_t count) {
  for (int64_t i = 0; known->known && i < count; i++)
    if (items[i] != known->items[i])
      fail_msg("%s: %s and %s do not agree on number %lld", at->title, known->by, of->path,
               (long long)i);
  memcpy(known->items, items, (size_t)count * sizeof *items);
  known->known = true;
  known->by = of->path;
}

// The units of a segment that are held, each whole or not at all, as things.
static int64_t read_segment(const grid_case *at, const member *of, const segment *part,
                            const bool *elements, held *things) {
  const int64_t count = evaluate(at, part->count), width = evaluate(at, part->width);
  const int scale = part->scale ? part->scale : 1;
  static bool items[MOST_ITEMS];
  assert_true(count * scale <= MOST_ITEMS);
  for (int64_t u = 0; u < count; u++) {
    for (int64_t e = 1; e < width; e++)
      if (elements[u * width + e] != elements[u * width])
        fail_msg("%s: %s is cut through unit %lld of %lld", at->title, of->path, (long long)u,
                 (long long)width);
    for (int s = 0; s < scale; s++) items[u * scale + s] = elements[u * width];
  }
  const char kinds[] = "hkie";
  if (part->thing != 's') {
    compare_held(at, of, &things[strchr(kinds, part->thing) - kinds], items, count * scale);
    return count * width;
  }
  compare_held(at, of, &things[1], items, count);  // key and value heads, and with them their heads
  static bool heads[MOST_ITEMS];
  for (int64_t h = 0; h < count * at->ratio; h++) heads[h] = items[h / at->ratio];
  compare_held(at, of, &things[0], heads, count * at->ratio);
  return count * width;
}

// A rank that has a head has the key and value head that belongs to it, and no others.
static void check_pairs(const grid_case *at, const held *things, int64_t heads) {
  for (int64_t k = 0; things[1].known && k < heads / at->ratio; k++) {
    bool wanted = false;
    for (int64_t h = k * at->ratio; h < (k + 1) * at->ratio; h++) wanted |= things[0].items[h];
    if (wanted != things[1].items[k])
      fail_msg("%s: %s does not have the heads of %s: number %lld", at->title, things[1].by,
               things[0].by, (long long)k);
  }
}

static void check_rank(const grid_case *at, int64_t device) {
  static held things[THINGS];
  memset(things, 0, sizeof things);
  for (int64_t m = 0; m < MOST_MEMBERS && at->family->members[m].path; m++) {
    const member *of = &at->family->members[m];
    int64_t begin = 0;
    bool *elements = held_elements(at, m, of->dim, device, evaluate(at, of->dims[of->dim]));
    for (int s = 0; s < MOST_SEGMENTS && of->segments[s].thing; s++)
      begin += read_segment(at, of, &of->segments[s], elements + begin, things);
    assert_int_equal(begin, evaluate(at, of->dims[of->dim]));
    free(elements);
  }
  check_pairs(at, things, evaluate(at, "heads"));
}

static tsr_tree *make_members(const grid_case *at) {
  tsr_tensor tensors[MOST_MEMBERS];
  int64_t dims[MOST_MEMBERS][4];
  int count = 0;
  for (; count < MOST_MEMBERS && at->family->members[count].path; count++) {
    const member *of = &at->family->members[count];
    int rank = 0;
    for (; rank < 4 && of->dims[rank]; rank++) dims[count][rank] = evaluate(at, of->dims[rank]);
    tensors[count] =
        (tsr_tensor){.path = of->path, .dtype = TSR_BF16, .rank = rank, .dims = dims[count]};
  }
  return make_tree(tensors, count);
}

static tsr_mesh *make_ranks(const char *axis, int64_t count) {
  char text[32];
  snprintf(text, sizeof text, "%s=%d", axis, (int)count);
  return make_mesh(text);
}

// The plan goes through its file on the way, which must say all that is needed.
static void check_converted(grid_case *at, int64_t tp) {
  tsr_plan *read = NULL, *first = at->plan;
  tsr_mesh *mesh = make_ranks("model", tp);
  char *json = write_plan(at->plan, 0);
  assert_ok(read_plan(json, &read));
  at->plan = NULL;
  assert_ok(tsr_plan_convert(read, mesh, NULL, &at->plan));
  for (int64_t device = 0; device < tp; device++) check_rank(at, device);
  tsr_plan_release(at->plan);
  at->plan = first;
  tsr_plan_release(read);
  tsr_mesh_release(mesh);
  free(json);
}

// `then`: the ranks to convert to, 0 = none.
static int64_t check_case(grid_case *at, int64_t tp, int64_t then, tsr_policy policy) {
  char preset[64];
  const tsr_match_options match = {.size = sizeof match, .policy = policy};
  tsr_rules *rules = NULL;
  snprintf(preset, sizeof preset, "%s:tp", at->family->preset);
  tsr_mesh *mesh = make_ranks("tp", tp);
  at->options.mesh = mesh;
  tsr_tree *tree = make_members(at);
  assert_ok(tsr_rules_preset(preset, &at->options, &rules));
  assert_ok(tsr_plan_match(tree, mesh, rules, &match, &at->plan));
  for (int64_t device = 0; device < tp; device++) check_rank(at, device);
  if (then) check_converted(at, then);
  const int64_t cut = tsr_plan_bytes_per_device(at->plan) < tsr_tree_bytes(tree);
  tsr_plan_release(at->plan);
  tsr_rules_release(rules);
  tsr_tree_release(tree);
  tsr_mesh_release(mesh);
  return cut;
}

static const int64_t head_counts[][2] = {{14, 2}, {12, 12}, {8, 8},  {8, 2},   {24, 6}, {6, 3},
                                         {32, 8}, {16, 1},  {15, 5}, {40, 10}, {1, 1},  {4, 4}};
// The thread sanitizer takes minutes for all of them, and nothing here has threads.
#ifdef __SANITIZE_THREAD__
enum { HEAD_STEP = 6 };
#else
enum { HEAD_STEP = 1 };
#endif
static const int64_t inner_sizes[][2] = {{192, 96}, {2880, 100}, {96, 7}};
static const int64_t rank_counts[] = {1, 2, 3, 4, 6, 8, 16};
static const tsr_policy policies[] = {TSR_POLICY_ERROR, TSR_POLICY_UNEVEN, TSR_POLICY_PAD};

static int64_t check_family(const struct family *family, const int64_t heads[2],
                            const int64_t inner[2], int64_t tp, int64_t then, tsr_policy policy) {
  char title[128];
  const int64_t kv = family->all_heads ? heads[0] : heads[1];
  grid_case at = {.family = family,
                  .title = title,
                  .ratio = heads[0] / kv,
                  .facts = {{"heads", heads[0]},
                            {"kv_heads", kv},
                            {"head_dim", 4},
                            {"hidden", family->all_heads ? heads[0] * 4 : 24},
                            {"intermediate", inner[0]},
                            {"expert_intermediate", inner[1]},
                            {"qk_dim", 4},
                            {"qk_rope_dim", 2},
                            {"v_dim", 3},
                            {"groups", kv},
                            {"state", 8}}};
  at.options = (tsr_rules_options){
      .size = sizeof at.options, .facts = at.facts, .fact_count = COUNT_OF(at.facts)};
  snprintf(title, sizeof title, "%s of %d heads, %d of them kv, %d inner, tp=%d then %d, %s",
           family->preset, (int)heads[0], (int)kv, (int)inner[0], (int)tp, (int)then,
           tsr_policy_name(policy));
  return check_case(&at, tp, then, policy);
}

static void every_preset_cuts_whole_heads_together(void **state) {
  (void)state;
  int64_t cut = 0, cases = 0;
  for (size_t f = 0; f < COUNT_OF(families); f++)
    for (size_t h = 0; h < COUNT_OF(head_counts); h += HEAD_STEP)
      for (size_t r = 0; r < COUNT_OF(rank_counts); r++)
        for (size_t p = 0; p < COUNT_OF(policies); p++, cases++)
          cut += check_family(&families[f], head_counts[h], inner_sizes[(h + r) % 3],
                              rank_counts[r], 0, policies[p]);
  assert_int_equal(cases, 17 * 12 / HEAD_STEP * 7 * 3);
  assert_true(cut > cases / 2);  // agreeing on nothing would be too easy
}

static const int64_t conversions[][2] = {{8, 16}, {2, 8}, {4, 6}, {16, 4}, {1, 4}, {8, 3}};

static void converted_plans_cut_whole_heads_together(void **state) {
  (void)state;
  int64_t cut = 0;
  for (size_t f = 0; f < COUNT_OF(families); f++)
    for (size_t h = 0; h < COUNT_OF(head_counts); h += HEAD_STEP)
      for (size_t c = 0; c < COUNT_OF(conversions); c++)
        for (size_t p = 0; p < COUNT_OF(policies); p++)
          cut += check_family(&families[f], head_counts[h], inner_sizes[c % 2], conversions[c][0],
                              conversions[c][1], policies[p]);
  assert_true(cut > 0);
}

static void the_grid_has_every_preset(void **state) {
  (void)state;
  for (int i = 0; tsr_preset_family_at(i); i++) {
    bool found = false;
    for (size_t f = 0; f < COUNT_OF(families); f++)
      found |= tsr_preset_text(families[f].preset) == tsr_preset_text(tsr_preset_family_at(i));
    if (!found) fail_msg("%s is not in the grid", tsr_preset_family_at(i));
  }
}

// ---- real models ----

static int64_t count_findings(const tsr_plan *plan, const char *file, int64_t tp) {
  tsr_findings findings;
  int64_t cut = 0;
  assert_ok(tsr_plan_check(plan, NULL, &findings));
  for (int64_t i = 0; i < findings.count; i++) {
    const tsr_finding *finding = &findings.items[i];
    if (finding->kind == TSR_FINDING_SPLIT_HEADS || finding->kind == TSR_FINDING_APART)
      fail_msg("%s on tp=%d: %s %s", file, (int)tp,
               tsr_tree_at(tsr_plan_tree(plan), finding->row)->path,
               tsr_finding_text(finding->kind));
  }
  for (int64_t i = 0; i < tsr_plan_count(plan); i++) {
    tsr_plan_row row = TSR_PLAN_ROW;
    assert_ok(tsr_plan_at(plan, i, &row));
    cut += row.bytes_per_device < tsr_tensor_bytes(row.tensor);
  }
  tsr_findings_deinit(&findings);
  return cut;
}

static void check_real_model(const real_model *model, void *context) {
  const tsr_match_options match = {.size = sizeof match, .companions = true};
  int64_t *cut = context;
  for (size_t r = 1; r < COUNT_OF(rank_counts); r++) {
    char preset[64];
    tsr_rules *rules = NULL;
    tsr_plan *plan = NULL;
    tsr_mesh *mesh = make_ranks("tp", rank_counts[r]);
    const tsr_rules_options options = {.size = sizeof options,
                                       .facts = model->facts.items,
                                       .fact_count = model->facts.count,
                                       .mesh = mesh};
    snprintf(preset, sizeof preset, "%s:tp", model->preset);
    assert_ok(tsr_rules_preset(preset, &options, &rules));
    assert_ok(tsr_plan_match(model->tree, mesh, rules, &match, &plan));
    *cut += count_findings(plan, model->file, rank_counts[r]);
    tsr_plan_release(plan);
    tsr_rules_release(rules);
    tsr_mesh_release(mesh);
  }
}

static void real_models_have_whole_blocks_on_any_ranks(void **state) {
  (void)state;
  int64_t cut = 0;
  assert_int_equal(each_real_model(check_real_model, &cut), 22);
  assert_true(cut > 100000);
}

// ---- single groups, by eye ----

static const char attention[] =
    "together attention over tp\n"
    "q_proj\\.weight$ -> tp/parts(896/64), fsdp\n"
    "[kv]_proj\\.weight$ -> tp/parts(128/64*2), fsdp\n"
    "o_proj\\.weight$ -> fsdp, tp/parts(896/64)\n"
    "bias$ -> tp/parts(896/64)\n"
    "end\n"
    "up_proj\\.weight$ -> tp, fsdp\n";

static tsr_plan *match_attention(const tsr_tensor *tensors, int count, const char *mesh_text,
                                 const char *text, bool companions) {
  const tsr_match_options options = {.size = sizeof options, .companions = companions};
  tsr_tree *tree = make_tree(tensors, count);
  tsr_mesh *mesh = make_mesh(mesh_text);
  tsr_rules *rules = make_rules(text);
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_match(tree, mesh, rules, &options, &plan));
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
  return plan;
}

static void what_stays_whole_names_what_could_not_be_cut(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {
      TENSOR("layers.0.q_proj.weight", 896, 64), TENSOR("layers.0.k_proj.weight", 128, 64),
      TENSOR("layers.0.o_proj.weight", 64, 896), TENSOR("layers.0.up_proj.weight", 64, 64)};
  tsr_plan *plan = match_attention(tensors, 4, "fsdp=2,tp=4", attention, false), *again = NULL;
  assert_specs(plan, "_, fsdp | _, fsdp | fsdp, _ | tp, fsdp");
  assert_reasons(plan, 0,
                 "rule 0 (my.rules:2) \"q_proj\\.weight$\" -> tp/parts(896/64), fsdp; dimension 0: "
                 "14 pieces of 64 are not divisible by 4, so it is not cut");
  assert_reasons(
      plan, 1,
      "rule 1 (my.rules:3) \"[kv]_proj\\.weight$\" -> tp/parts(128/64*2), fsdp; "
      "dimension 0: not cut, as attention is cut over tp together or not at all, and rule "
      "0 (my.rules:2) \"q_proj\\.weight$\" cannot be: 14 pieces of 64 are not divisible "
      "by 4");
  char *json = write_plan(plan, 0);
  assert_ok(read_plan(json, &again));
  assert_true(tsr_plan_equal(plan, again));
  free(json);
  tsr_plan_release(again);
  tsr_plan_release(plan);
}

static void layers_are_decided_on_apart(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {
      TENSOR("layers.0.q_proj.weight", 896, 64), TENSOR("layers.0.k_proj.weight", 128, 64),
      TENSOR("layers.1.q_proj.weight", 832, 64), TENSOR("layers.1.k_proj.weight", 128, 64),
      TENSOR("layers.1.up_proj.weight", 64, 64)};
  tsr_plan *plan = match_attention(tensors, 5, "tp=2", attention, false);
  // Layer 1 has sizes that its rule does not know.
  assert_specs(plan, "tp/parts(896/64), _ | tp/parts(128/64*2), _ | () | () | tp, _");
  tsr_plan_release(plan);
}

// q and k are packed and o is not: the weights that stand in are decided on apart from it.
static void packed_weights_are_cut_with_plain_ones(void **state) {
  (void)state;
  tsr_tensor tensors[] = {
      TENSOR("layers.0.q_proj.qweight", 8, 896), TENSOR("layers.0.q_proj.scales", 1, 896),
      TENSOR("layers.0.q_proj.qzeros", 1, 112), TENSOR("layers.0.o_proj.weight", 64, 832)};
  for (int i = 0; i < 3; i++) tensors[i].dtype = i == 1 ? TSR_F16 : TSR_I32;
  tsr_plan *plan = match_attention(tensors, 4, "tp=2", attention, true);
  assert_specs(plan, "_, _ | _, _ | _, _ | ()");
  tsr_plan_release(plan);
  tensors[3] = (tsr_tensor)TENSOR("layers.0.o_proj.weight", 64, 896);
  plan = match_attention(tensors, 4, "tp=2", attention, true);
  assert_specs(
      plan, "_, tp/parts(896/64) | _, tp/parts(896/64) | _, tp/parts(112/8) | _, tp/parts(896/64)");
  tsr_plan_release(plan);
}

// bitsandbytes flattens the weight, so its bias is whole too.
static void what_no_cut_can_follow_keeps_its_group_whole(void **state) {
  (void)state;
  tsr_tensor tensors[] = {TENSOR("layers.0.q_proj.weight", 28672, 1),
                          TENSOR("layers.0.q_proj.weight.absmax", 896),
                          TENSOR("layers.0.q_proj.bias", 896)};
  tensors[0].dtype = TSR_U8;
  tsr_plan *plan = match_attention(tensors, 3, "tp=2", attention, true);
  assert_specs(plan, "() | () | ()");
  tsr_plan_release(plan);
}

// A bias is small, but belongs to a weight that is not. Groups of small tensors stay whole.
static void small_tensors_go_with_their_group(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {
      TENSOR("layers.0.q_proj.weight", 896, 64), TENSOR("layers.0.q_proj.bias", 896),
      TENSOR("layers.1.q_proj.bias", 896), TENSOR("layers.0.up_proj.weight", 8, 8)};
  const tsr_match_options options = {.size = sizeof options, .min_size = 1000};
  tsr_tree *tree = make_tree(tensors, 4);
  tsr_mesh *mesh = make_mesh("tp=2");
  tsr_rules *rules = make_rules(attention);
  tsr_plan *plan = NULL;
  assert_ok(tsr_plan_match(tree, mesh, rules, &options, &plan));
  assert_specs(plan, "tp/parts(896/64), _ | tp/parts(896/64) | () | ()");
  assert_reasons(plan, 1, "rule 3 (my.rules:5) \"bias$\" -> tp/parts(896/64)");
  assert_reasons(plan, 2,
                 "rule 3 (my.rules:5) \"bias$\" -> tp/parts(896/64); 896 elements are fewer than "
                 "the minimum of 1000, so it is not cut");
  tsr_plan_release(plan);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
}

static tsr_status match_misfit(void *context) {
  const tsr_tensor tensors[] = {TENSOR("layers.0.q_proj.weight", 896, 64),
                                TENSOR("layers.0.k_proj.weight", 128, 64)};
  const tsr_mesh *mesh = context;
  tsr_tree *tree = NULL;
  tsr_rules *rules = NULL;
  tsr_plan *plan = NULL;
  tsr_status status = tsr_tree_create(tensors, 2, &tree);
  if (!status) status = tsr_rules_parse(attention, "my.rules", NULL, &rules);
  const tsr_match_options options = {.size = sizeof options, .min_size = 10000};
  if (!status) status = tsr_plan_match(tree, mesh, rules, &options, &plan);
  tsr_plan_release(plan);
  tsr_rules_release(rules);
  tsr_tree_release(tree);
  return status;
}

static void running_out_of_memory_is_reported(void **state) {
  (void)state;
  tsr_mesh *mesh = make_mesh("tp=4");
  test_allocation_sweep(match_misfit, mesh);
  tsr_mesh_release(mesh);
}

SUITE(together, TEST(small_tensors_go_with_their_group),
      TEST(what_stays_whole_names_what_could_not_be_cut), TEST(layers_are_decided_on_apart),
      TEST(packed_weights_are_cut_with_plain_ones),
      TEST(what_no_cut_can_follow_keeps_its_group_whole), TEST(running_out_of_memory_is_reported),
      TEST(the_grid_has_every_preset), TEST(every_preset_cuts_whole_heads_together),
      TEST(real_models_have_whole_blocks_on_any_ranks),
      TEST(converted_plans_cut_whole_heads_together))
