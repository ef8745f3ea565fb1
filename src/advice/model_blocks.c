// Finds the blocks of a model by module names, and cuts that split their heads or leave some of
// their tensors whole.
#include "advice/model_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "advice/roles.h"
#include "base/grow.h"
#include "base/text_internal.h"
#include "layout/layout_internal.h"
#include "plan/spec_entry.h"

// ---- names ----

typedef enum block_kind { ATTENTION, FEED_FORWARD } block_kind;

// A tensor's place in its block.
typedef struct block_member {
  block_kind kind;
  size_t block;  // the length of the path up to the tensor's own module
  int dim;       // that the block is cut along, over its heads or inner size
  bool heads;    // made of whole heads along it
} block_member;

// Modules of PyTorch's Linear, whose weights are (out, in): those at the start of a block are cut
// by outputs, those at its end by inputs.
static const struct {
  const char *name;
  block_kind kind;
  int dim;
  bool heads;
} modules[] = {
    {"q_proj", ATTENTION, 0, true},
    {"k_proj", ATTENTION, 0, true},
    {"v_proj", ATTENTION, 0, true},
    {"o_proj", ATTENTION, 1, true},
    {"out_proj", ATTENTION, 1, true},
    {"qkv_proj", ATTENTION, 0, false},
    {"query", ATTENTION, 0, true},
    {"key", ATTENTION, 0, true},
    {"value", ATTENTION, 0, true},
    {"q", ATTENTION, 0, true},
    {"k", ATTENTION, 0, true},
    {"v", ATTENTION, 0, true},
    {"o", ATTENTION, 1, true},
    {"gate_proj", FEED_FORWARD, 0, false},
    {"up_proj", FEED_FORWARD, 0, false},
    {"gate_up_proj", FEED_FORWARD, 0, false},
    {"down_proj", FEED_FORWARD, 1, false},
};

// Vision and audio models inside others have sizes of their own.
static bool is_in_tower(const char *path) {
  static const char *const words[] = {"visual", "vision", "audio", "image"};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strstr(path, words[i])) return true;
  return false;
}

static bool is_in_attention(const char *path, size_t length) {
  return memmem(path, length, "attn", 4) || memmem(path, length, "ttention", 8);
}

// The last word of `path` before `end`, behind a dot.
static size_t word_before(const char *path, size_t end) {
  while (end && path[end - 1] != '.') end--;
  return end;
}

// False for other names, and for tensors of towers (vision, audio), which have heads of other
// sizes.
static bool find_member(const tsr_tensor *tensor, block_member *out) {
  const char *path = tensor->path;
  const size_t length = strlen(path), own = word_before(path, length);
  const bool weight = !strcmp(path + own, "weight") && tensor->rank == 2;
  const bool bias = !strcmp(path + own, "bias") && tensor->rank == 1;
  if (own < 2 || !(weight || bias)) return false;
  const size_t module = word_before(path, own - 1), word = own - 1 - module;
  for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
    if (strlen(modules[i].name) != word || memcmp(modules[i].name, path + module, word) != 0)
      continue;
    if (bias && modules[i].dim) return false;  // added after the sum over ranks
    if (modules[i].kind == ATTENTION && !is_in_attention(path, module)) return false;
    *out = (block_member){modules[i].kind, module, modules[i].dim, modules[i].heads};
    return !is_in_tower(path);
  }
  return false;
}

// ---- cuts ----

static tsr_status find_block(tsr_model_blocks *blocks, const char *path, const block_member *member,
                             int64_t *out_block) {
  tsr_text_clear(&blocks->key);
  tsr_text_add_char(&blocks->key, member->kind == FEED_FORWARD ? 'm' : 'a');
  tsr_text_add_bytes(&blocks->key, path, member->block);
  TSR_TRY(tsr_text_check(&blocks->key));
  *out_block = tsr_name_index_find(&blocks->names, tsr_text_string(&blocks->key));
  return NULL;
}

static tsr_status add_block(tsr_model_blocks *blocks, int64_t *out_block) {
  int64_t existing = -1;
  for (int a = 0; a < blocks->axis_count; a++) {
    const int64_t at = blocks->count * blocks->axis_count + a;
    tsr_model_block_cut *cuts = tsr_grow(blocks->cuts, at, &blocks->capacity, sizeof *cuts);
    if (!cuts) return tsr_fail(NO_MEMORY, "blocks of a plan");
    blocks->cuts = cuts;
    cuts[at] = (tsr_model_block_cut){-1, -1};
  }
  const char *name = tsr_arena_copy(&blocks->arena, blocks->key.data, blocks->key.length);
  if (!name) return tsr_fail(NO_MEMORY, "blocks of a plan");
  *out_block = blocks->count++;
  return tsr_name_index_add(&blocks->names, name, *out_block, &existing);
}

static tsr_status add_row(tsr_model_blocks *blocks, int64_t row) {
  tsr_plan_row found;
  block_member member;
  int64_t block = -1;
  tsr_plan_row_read(blocks->plan, row, &found);
  if (!find_member(found.tensor, &member)) return NULL;
  TSR_TRY(find_block(blocks, found.tensor->path, &member, &block));
  if (block < 0) TSR_TRY(add_block(blocks, &block));
  for (int a = 0; a < blocks->axis_count; a++) {
    tsr_model_block_cut *cut = &blocks->cuts[block * blocks->axis_count + a];
    const int dim = tsr_spec_find_axis(tsr_spec_desc_of(found.final), blocks->axes[a]);
    int64_t *first = dim < 0 ? &cut->whole : &cut->cut;
    if (*first < 0) *first = row;
  }
  return NULL;
}

tsr_status tsr_model_blocks_find_apart(tsr_model_blocks *blocks, int64_t row, const char **out_axis,
                                       int64_t *out_row) {
  const tsr_tensor *tensor = tsr_tree_at(blocks->plan->tree, row);
  block_member member;
  int64_t block = -1;
  *out_axis = NULL;
  if (!blocks->axis_count || !find_member(tensor, &member)) return NULL;
  TSR_TRY(find_block(blocks, tensor->path, &member, &block));
  for (int a = 0; block >= 0 && a < blocks->axis_count && !*out_axis; a++) {
    const tsr_model_block_cut *cut = &blocks->cuts[block * blocks->axis_count + a];
    if (cut->whole != row || cut->cut < 0) continue;
    *out_axis = blocks->axes[a];
    *out_row = cut->cut;
  }
  return NULL;
}

// ---- heads ----

// The size of the first piece that is not made of whole heads; 0 = all are.
static tsr_status find_piece(const tsr_model_blocks *blocks, int64_t row, int dim,
                             int64_t *out_piece) {
  tsr_layout *layout = NULL;
  tsr_status status = NULL;
  TSR_TRY(tsr_plan_try_layout(blocks->plan, row, &layout));
  if (!layout) return NULL;  // tsr_plan_check reports it by itself
  const int64_t shards = tsr_layout_dim_shards(layout, dim), head = blocks->head_dim;
  for (int64_t i = 0; i < shards && !status && !*out_piece; i++) {
    tsr_run *runs = NULL;
    int64_t count = 0;
    status = tsr_layout_runs(layout, dim, i, &runs, &count);
    for (int64_t r = 0; r < count && !status; r++)
      if (runs[r].global % head || runs[r].length % head ||
          (runs[r].count > 1 && runs[r].step % head))
        *out_piece = runs[r].length;
    free(runs);
  }
  tsr_layout_release(layout);
  return status;
}

// Whether a size is that of the model's heads. Other attentions (latent, in towers) have others.
static bool is_made_of_heads(const tsr_model_blocks *blocks, int64_t size) {
  const int64_t count = size / blocks->head_dim;
  if (size % blocks->head_dim) return false;
  return !blocks->heads || count == blocks->heads || count == blocks->kv_heads;
}

tsr_status tsr_model_blocks_find_split(tsr_model_blocks *blocks, int64_t row, int64_t *out_piece,
                                       int *out_dim) {
  const tsr_tensor *tensor = tsr_tree_at(blocks->plan->tree, row);
  block_member member;
  *out_piece = 0;
  if (!blocks->head_dim || !blocks->plan->mesh) return NULL;
  if (!find_member(tensor, &member) || !member.heads) return NULL;
  if (!is_made_of_heads(blocks, tensor->dims[member.dim])) return NULL;
  const tsr_stored_row *stored = &blocks->plan->rows[row];
  const uint64_t key =
      (uint64_t)stored->final << 8 | (uint64_t)stored->policy << 1 | (uint64_t)member.dim;
  bool is_new = false;
  int64_t *piece = tsr_shape_table_value(&blocks->pieces, key, tensor, &is_new);
  if (!piece) return tsr_fail(NO_MEMORY, "pieces of heads");
  if (is_new) TSR_TRY(find_piece(blocks, row, member.dim, piece));
  *out_piece = *piece;
  *out_dim = member.dim;
  return NULL;
}

// ---- all ----

static int64_t find_fact(const tsr_fact *facts, int64_t count, const char *name) {
  for (int64_t i = 0; i < count; i++)
    if (!strcmp(facts[i].name, name)) return facts[i].value > 0 ? facts[i].value : 0;
  return 0;
}

tsr_status tsr_model_blocks_init(tsr_model_blocks *blocks, const tsr_plan *plan,
                                 const tsr_fact *facts, int64_t fact_count) {
  *blocks = (tsr_model_blocks){.plan = plan,
                               .names = TSR_NAME_INDEX_EMPTY,
                               .arena = TSR_ARENA_EMPTY,
                               .pieces = TSR_SHAPE_TABLE(int64_t)};
  blocks->head_dim = find_fact(facts, fact_count, "head_dim");
  blocks->heads = find_fact(facts, fact_count, "heads");
  blocks->kv_heads = find_fact(facts, fact_count, "kv_heads");
  for (int a = 0; plan->mesh && a < tsr_mesh_axis_count(plan->mesh); a++)
    if (tsr_mesh_axis_at(plan->mesh, a)->size > 1 && tsr_axis_splits_blocks(plan->mesh, a))
      blocks->axes[blocks->axis_count++] = tsr_mesh_axis_at(plan->mesh, a)->name;
  for (int64_t i = 0; blocks->axis_count && i < tsr_plan_count(plan); i++)
    TSR_TRY(add_row(blocks, i));
  return NULL;
}

void tsr_model_blocks_deinit(tsr_model_blocks *blocks) {
  tsr_name_index_deinit(&blocks->names);
  tsr_arena_deinit(&blocks->arena);
  tsr_text_deinit(&blocks->key);
  tsr_shape_table_deinit(&blocks->pieces);
  free(blocks->cuts);
}
