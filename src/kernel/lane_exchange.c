// Collectives between lanes: copies between their memory, and reductions block by block.
#include "kernel/lane_exchange.h"

#include <string.h>

#include "base/arithmetic.h"

static int member_count(const tsr_lane_groups *groups, int group) {
  return groups->starts[group + 1] - groups->starts[group];
}

static const int *members_of(const tsr_lane_groups *groups, int group) {
  return groups->members + groups->starts[group];
}

// What lanes in no group get.
static void clear(char *out, int64_t bytes) {
  if (bytes) memset(out, 0, (size_t)bytes);
}

static bool is_member(const tsr_lane_groups *groups, int lane) {
  for (int i = 0; i < groups->starts[groups->group_count]; i++)
    if (groups->members[i] == lane) return true;
  return false;
}

static void clear_others(const tsr_lane_groups *groups, char *const *outputs, int64_t bytes) {
  if (groups->starts[groups->group_count] >= groups->lanes) return;
  for (int lane = 0; lane < groups->lanes; lane++)
    if (!is_member(groups, lane)) clear(outputs[lane], bytes);
}

// ---- all_gather, all_to_all ----

static void exchange_box(const tsr_lane_groups *groups, const tsr_lane_box *box, int group,
                         const char *const *inputs, char *const *outputs) {
  const int count = member_count(groups, group);
  const int *members = members_of(groups, group);
  for (int r = 0; r < count; r++)
    for (int s = 0; s < count; s++) {
      tsr_copy copy = box->copy;
      copy.from += r * box->from_step;
      copy.to += s * box->to_step;
      tsr_copy_run(&copy, box->bits, inputs[members[s]], outputs[members[r]]);
    }
}

tsr_status tsr_lane_exchange_run(const void *description, const tsr_kernel_call *call) {
  const tsr_lane_exchange *exchange = description;
  const tsr_lane_groups *groups = &exchange->groups;
  for (int i = 0; i < exchange->count; i++) {
    const tsr_lane_box *box = &exchange->boxes[i];
    const char *const *inputs = call->inputs + i * groups->lanes;
    char *const *outputs = call->outputs + i * groups->lanes;
    clear_others(groups, outputs, box->bytes);
    if (!box->bytes) continue;
    for (int g = 0; g < groups->group_count; g++) exchange_box(groups, box, g, inputs, outputs);
  }
  return NULL;
}

// ---- collective_broadcast, collective_permute ----

// The place of the root of a value in its group. Roots are an input, the same in all lanes.
static int root_of(const tsr_lane_groups *groups, int group, bool dynamic,
                   const char *const *inputs, int count, int value) {
  if (!dynamic) return 0;
  const int *members = members_of(groups, group);
  int32_t root = 0;
  memcpy(&root, inputs[count * groups->lanes + members[0]] + (size_t)value * sizeof root,
         sizeof root);
  return root < 0 || root >= member_count(groups, group) ? 0 : root;
}

static void pick(char *out, const char *in, int64_t bytes) {
  if (bytes) memcpy(out, in, (size_t)bytes);
}

static void pick_by_group(const tsr_lane_pick *p, int value, const tsr_kernel_call *call) {
  const tsr_lane_groups *groups = &p->groups;
  const char *const *inputs = call->inputs + value * groups->lanes;
  char *const *outputs = call->outputs + value * groups->lanes;
  clear_others(groups, outputs, p->bytes[value]);
  for (int g = 0; g < groups->group_count; g++) {
    const int *members = members_of(groups, g);
    const int root = root_of(groups, g, p->dynamic_root, call->inputs, p->count, value);
    for (int i = 0; i < member_count(groups, g); i++)
      pick(outputs[members[i]], inputs[members[root]], p->bytes[value]);
  }
}

tsr_status tsr_lane_pick_run(const void *description, const tsr_kernel_call *call) {
  const tsr_lane_pick *p = description;
  const int lanes = p->groups.lanes;
  for (int i = 0; i < p->count; i++) {
    if (!p->sources) pick_by_group(p, i, call);
    for (int lane = 0; lane < lanes && p->sources; lane++) {
      char *out = call->outputs[i * lanes + lane];
      if (p->sources[lane] < 0)
        clear(out, p->bytes[i]);
      else
        pick(out, call->inputs[i * lanes + p->sources[lane]], p->bytes[i]);
    }
  }
  return NULL;
}

// ---- reductions ----

typedef struct lane_fold {
  const tsr_lane_reduction *reduction;
  const tsr_kernel_call *call;
  int value, group, part, parts, root;
  int64_t blocks;  // of a run
} lane_fold;

// Writes the block of a result to the lanes that get it.
static void give(const lane_fold *fold, int64_t at, const char *block, int64_t bytes) {
  const tsr_lane_reduction *r = fold->reduction;
  const int *members = members_of(&r->groups, fold->group);
  char *const *outputs = fold->call->outputs + fold->value * r->groups.lanes;
  const int takers = r->once ? 1 : member_count(&r->groups, fold->group);
  for (int i = 0; i < takers; i++) {
    if (r->scattered ? i == fold->part : !r->to_root || i == fold->root)
      memcpy(outputs[members[i]] + at, block, (size_t)bytes);
    else if (!r->scattered)
      memset(outputs[members[i]] + at, 0, (size_t)bytes);
  }
}

static tsr_status fold_block(void *context, int64_t index, int worker) {
  const lane_fold *fold = context;
  const tsr_lane_reduction *r = fold->reduction;
  const tsr_lane_value *value = &r->values[fold->value];
  const int64_t outer = index / fold->blocks, first = index % fold->blocks * TSR_LANE_BLOCK;
  const int64_t count = tsr_least(TSR_LANE_BLOCK, value->run - first);
  const int64_t from = ((outer * fold->parts + fold->part) * value->run + first) * value->bytes;
  char *block = tsr_kernel_scratch(fold->call, worker);
  char *next = block + TSR_LANE_BLOCK * value->bytes;
  char *scratch = block + 2 * (int64_t)TSR_LANE_BLOCK * 16;
  const int *members = members_of(&r->groups, fold->group);
  const char *const *inputs = fold->call->inputs + fold->value * r->groups.lanes;
  memcpy(block, inputs[members[0]] + from, (size_t)(count * value->bytes));
  for (int i = 1; i < member_count(&r->groups, fold->group); i++) {
    const char *pair[] = {block, inputs[members[i]] + from};
    tsr_tile_run_few(r->program, count, pair, &next, scratch);
    char *swap = block;
    block = next;
    next = swap;
  }
  give(fold, (outer * value->run + first) * value->bytes, block, count * value->bytes);
  return NULL;
}

static tsr_status fold_group(const tsr_lane_reduction *r, const tsr_kernel_call *call, int value,
                             int group) {
  lane_fold fold = {.reduction = r, .call = call, .value = value, .group = group};
  const tsr_lane_value *v = &r->values[value];
  fold.parts = r->scattered ? member_count(&r->groups, group) : 1;
  fold.root = root_of(&r->groups, group, r->dynamic_root, call->inputs, r->count, value);
  fold.blocks = (v->run + TSR_LANE_BLOCK - 1) / TSR_LANE_BLOCK;
  const int64_t blocks = v->outer * fold.blocks;
  const bool worth = blocks * member_count(&r->groups, group) > 128;
  for (fold.part = 0; fold.part < fold.parts; fold.part++)
    TSR_TRY(tsr_pool_run(worth ? call->pool : NULL, blocks, fold_block, &fold));
  return NULL;
}

tsr_status tsr_lane_reduction_run(const void *description, const tsr_kernel_call *call) {
  const tsr_lane_reduction *r = description;
  for (int i = 0; i < r->count; i++) {
    const tsr_lane_value *value = &r->values[i];
    clear_others(&r->groups, call->outputs + i * r->groups.lanes,
                 value->outer * value->run * value->bytes);
    for (int g = 0; g < r->groups.group_count; g++) TSR_TRY(fold_group(r, call, i, g));
  }
  return NULL;
}

int64_t tsr_lane_reduction_scratch(const tsr_lane_reduction *reduction) {
  return 2 * (int64_t)TSR_LANE_BLOCK * 16 + tsr_tile_scratch_bytes(reduction->program);
}

void tsr_lane_reduction_destroy(void *reduction) {
  tsr_lane_reduction *r = reduction;
  tsr_tile_destroy(r->program);
}
