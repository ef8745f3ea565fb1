// Grouping: 32 layers have 32 tensors of each kind, and a reader wants to see each kind once.
//
// A path's pattern has '*' for each number. One pass groups tensors by the hash of pattern, dtype,
// shape and logical axes.
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/text_internal.h"
#include "plan/hash_slots.h"
#include "plan/tree.h"
#include "tessera/engine/kernels.h"

// ---- patterns ----

static bool is_separator(char c) { return c == '\0' || strchr("./[]()'\"", c) != NULL; }

// The length of the number at `at`, if it is a whole component of the path; else 0.
static size_t number_at(const char *path, const char *at, bool slashes) {
  const size_t length = strspn(at, "0123456789");
  if (!length || !is_separator(at[length])) return 0;
  if (at == path || is_separator(at[-1])) return length;
  return slashes && at[-1] == '_' ? length : 0;
}

static void print_pattern(const char *path, tsr_text *out) {
  const bool slashes = strchr(path, '/') != NULL;
  for (const char *at = path; *at;) {
    const size_t number = number_at(path, at, slashes);
    if (number) {
      tsr_text_add_char(out, '*');
      at += number;
      continue;
    }
    // Up to the next number, or past the digits of one that belongs to a word.
    const char *const digits = "0123456789";
    const size_t length = isdigit((unsigned char)*at) ? strspn(at, digits) : strcspn(at, digits);
    tsr_text_add_bytes(out, at, length);
    at += length;
  }
}

size_t tsr_path_layer(const char *path) {
  const bool slashes = strchr(path, '/') != NULL;
  for (const char *at = path + strlen(path); at-- > path;) {
    const size_t number = number_at(path, at, slashes);
    if (number) return (size_t)(at - path) + number;
  }
  return 0;
}

// ---- gathering ----

typedef struct path_group {
  const char *pattern;
  int64_t first, count;
} path_group;

typedef struct group_job {
  const tsr_tree *tree;
  const uint64_t *keys;  // NULL = none
  tsr_arena arena;       // patterns
  tsr_text pattern;      // of the tensor at hand
  path_group *groups;    // owned
  int64_t count, capacity;
  tsr_hash_slots slots;  // of the groups
  int32_t *of_tensor;    // owned: the group of each
  size_t text_bytes;
} group_job;

static uint64_t hash_tensor(const group_job *work, int64_t index) {
  const tsr_tensor *tensor = tsr_tree_at(work->tree, index);
  uint64_t hash =
      tsr_hash64(work->pattern.data, work->pattern.length, work->keys ? work->keys[index] : 0);
  hash = tsr_hash64(tensor->dims, sizeof *tensor->dims * (size_t)tensor->rank, hash);
  return hash ^ (uint64_t)tensor->dtype;
}

static bool is_member(const group_job *work, const path_group *known, int64_t index) {
  if (strcmp(known->pattern, tsr_text_string(&work->pattern)) != 0) return false;
  if (work->keys && work->keys[index] != work->keys[known->first]) return false;
  const tsr_tensor *a = tsr_tree_at(work->tree, known->first);
  const tsr_tensor *b = tsr_tree_at(work->tree, index);
  return tsr_tensor_same_shape(a, b) && tsr_tensor_same_logical(a, b);
}

static tsr_status add_group(group_job *work, int64_t first, uint64_t hash) {
  path_group *groups = tsr_grow(work->groups, work->count, &work->capacity, sizeof *groups);
  if (!groups) return tsr_fail(NO_MEMORY, "%lld groups of tensors", (long long)work->count);
  work->groups = groups;
  const size_t length = work->pattern.length;
  const char *pattern = tsr_arena_copy(&work->arena, tsr_text_string(&work->pattern), length);
  if (!pattern || !tsr_hash_slots_add(&work->slots, hash))
    return tsr_fail(NO_MEMORY, "groups of tensors");
  groups[work->count++] = (path_group){.pattern = pattern, .first = first};
  work->text_bytes += length + 1;
  return NULL;
}

static tsr_status gather_tensor(group_job *work, int64_t index) {
  tsr_text_clear(&work->pattern);
  print_pattern(tsr_tree_at(work->tree, index)->path, &work->pattern);
  TSR_TRY(tsr_text_check(&work->pattern));
  const uint64_t hash = hash_tensor(work, index);
  size_t step = 0;
  int64_t at = -1;
  while ((at = tsr_hash_slots_probe(&work->slots, hash, &step)) >= 0 &&
         !is_member(work, &work->groups[at], index)) {
  }
  if (at < 0) {
    at = work->count;
    TSR_TRY(add_group(work, index, hash));
  }
  work->of_tensor[index] = (int32_t)at;
  work->groups[at].count++;
  return NULL;
}

static tsr_status gather(group_job *work) {
  const size_t count = (size_t)tsr_tree_count(work->tree);
  work->of_tensor = calloc(count + 1, sizeof *work->of_tensor);
  if (!work->of_tensor) return tsr_fail(NO_MEMORY, "groups of %zu tensors", count);
  for (size_t i = 0; i < count; i++) TSR_TRY(gather_tensor(work, (int64_t)i));
  return NULL;
}

// ---- the answer: items, members and patterns in one block ----

static tsr_status finish(const group_job *work, tsr_tree_groups *out_groups) {
  const size_t tensors = (size_t)tsr_tree_count(work->tree);
  const size_t item_bytes = sizeof(tsr_tree_group) * (size_t)work->count;
  const size_t member_bytes = sizeof(int64_t) * tensors;
  char *block = malloc(item_bytes + member_bytes + work->text_bytes + 1);
  if (!block) return tsr_fail(NO_MEMORY, "%lld groups of tensors", (long long)work->count);
  tsr_tree_group *items = (tsr_tree_group *)(void *)block;
  int64_t *members = (int64_t *)(void *)(block + item_bytes);
  char *text = block + item_bytes + member_bytes;
  for (int64_t g = 0; g < work->count; g++) {
    const size_t bytes = strlen(work->groups[g].pattern) + 1;
    items[g] = (tsr_tree_group){
        .pattern = memcpy(text, work->groups[g].pattern, bytes), .count = 0, .members = members};
    members += work->groups[g].count;
    text += bytes;
  }
  for (size_t i = 0; i < tensors; i++) {
    tsr_tree_group *const item = &items[work->of_tensor[i]];
    ((int64_t *)item->members)[item->count++] = (int64_t)i;
  }
  *out_groups = (tsr_tree_groups){.count = work->count, .items = items, .memory = block};
  return NULL;
}

tsr_status tsr_tree_group_by(const tsr_tree *tree, const uint64_t *keys,
                             tsr_tree_groups *out_groups) {
  group_job work = {
      .tree = tree, .keys = keys, .arena = TSR_ARENA_EMPTY, .pattern = TSR_TEXT_EMPTY};
  tsr_status status = gather(&work);
  if (!status) status = finish(&work, out_groups);
  tsr_arena_deinit(&work.arena);
  tsr_text_deinit(&work.pattern);
  free(work.groups);
  free(work.of_tensor);
  tsr_hash_slots_deinit(&work.slots);
  return status;
}

void tsr_tree_group_print(const tsr_tree_group *group, const tsr_tree *tree, tsr_text *out) {
  if (group->count > 1)
    tsr_text_addf(out, "%s (%lld tensors)", group->pattern, (long long)group->count);
  else
    tsr_text_add(out, tsr_tree_at(tree, group->members[0])->path);
}

void tsr_tree_groups_deinit(tsr_tree_groups *groups) {
  if (!groups) return;
  free(groups->memory);
  *groups = (tsr_tree_groups){0};
}
