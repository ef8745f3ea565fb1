#include <stdio.h>
#include <string.h>

#include "plan/companions.h"

enum { MOST_NAME = 1024 };  // longer names have no companions

// ---- states of optimisers ----

static const char *const state_words[] = {
#define STATE(word) word,
#define SCALE(end, base)
#include "plan/companions.def"
#undef STATE
#undef SCALE
};

static bool is_state_word(const char *part, size_t length) {
  for (size_t i = 0; i < sizeof state_words / sizeof *state_words; i++)
    if (strlen(state_words[i]) == length && !memcmp(state_words[i], part, length)) return true;
  return false;
}

static bool is_separator(char c) { return c == '.' || c == '/'; }

// A tensor other than `index` that has this name, or this name without some of its first parts.
static int64_t find_parameter(const tsr_tree *tree, int64_t index, const char *name) {
  while (*name) {
    const int64_t found = tsr_tree_find(tree, name);
    if (found >= 0 && found != index) return found;
    while (*name && !is_separator(*name)) name++;
    if (*name) name++;
  }
  return -1;
}

// A state has its parameter's shape, unless it is a single number.
static bool suits(const tsr_tree *tree, int64_t index, int64_t of) {
  if (of < 0) return false;
  const tsr_tensor *state = tsr_tree_tensor(tree, index);
  const tsr_shape a = tsr_tensor_shape(state), b = tsr_tensor_shape(tsr_tree_tensor(tree, of));
  return tsr_tensor_elements(state) == 1 || tsr_shape_equal(&a, &b);
}

static int64_t find_state(const tsr_tree *tree, int64_t index, const char *path) {
  char name[MOST_NAME];
  for (const char *part = path; *part;) {
    const size_t length = strcspn(part, "./");
    const char *rest = part + length + (part[length] != '\0');
    if (is_state_word(part, length)) {
      const int64_t behind = find_parameter(tree, index, rest);
      if (suits(tree, index, behind)) return behind;
      const size_t before = part > path ? (size_t)(part - path) - 1 : 0;
      memcpy(name, path, before);
      name[before] = '\0';
      const int64_t ahead = find_parameter(tree, index, name);
      if (suits(tree, index, ahead)) return ahead;
    }
    part = rest;
  }
  return -1;
}

// ---- scales ----

static const struct {
  const char *end, *base;
} scales[] = {
#define STATE(word)
#define SCALE(end, base) {end, base},
#include "plan/companions.def"
#undef STATE
#undef SCALE
};

static int64_t find_weight(const tsr_tree *tree, const char *path) {
  const size_t length = strlen(path);
  char name[MOST_NAME + 32];
  for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
    const size_t end = strlen(scales[i].end);
    if (length <= end || strcmp(path + length - end, scales[i].end) != 0) continue;
    snprintf(name, sizeof name, "%.*s%s", (int)(length - end), path, scales[i].base);
    const int64_t found = tsr_tree_find(tree, name);
    if (found >= 0) return found;
  }
  return -1;
}

tsr_companion_kind tsr_companion_find(const tsr_tree *tree, int64_t index, int64_t *out_of) {
  const char *path = tsr_tree_tensor(tree, index)->path;
  if (strlen(path) >= MOST_NAME) return TSR_COMPANION_NONE;
  *out_of = find_state(tree, index, path);
  if (*out_of >= 0) return TSR_COMPANION_STATE;
  *out_of = find_weight(tree, path);
  return *out_of >= 0 ? TSR_COMPANION_SCALE : TSR_COMPANION_NONE;
}
