// Optimiser state, recognised by a word in its name, and the parameter it belongs to.
#include <stdio.h>
#include <string.h>

#include "element/shape_internal.h"
#include "plan/companions.h"

typedef enum state_kind { FULL, LOOSE, ROW, COLUMN, BLOCKS, BESIDE } state_kind;

static const struct {
  const char *word;
  state_kind kind;
} words[] = {
#define STATE(word, kind) {word, kind},
#include "plan/companions.def"
};

static const char *const homes[] = {
#define PARAMETERS(word) word,
#include "plan/companions.def"
};

static int find_word(const char *word_at, size_t length) {
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i].word) == length && !memcmp(words[i].word, word_at, length)) return (int)i;
  return -1;
}

static bool is_separator(char c) { return c == '.' || c == '/'; }

// ---- the parameter ----

// A tensor of this name under one of the prefixes that checkpoints give to parameters.
static int64_t find_at_home(const tsr_tree *tree, const char *name) {
  char path[TSR_COMPANION_NAME + 32];
  for (size_t i = 0; i < sizeof homes / sizeof *homes; i++)
    for (const char *separator = "./"; *separator; separator++) {
      snprintf(path, sizeof path, "%s%c%s", homes[i], *separator, name);
      const int64_t found = tsr_tree_find(tree, path);
      if (found >= 0) return found;
    }
  return -1;
}

// A tensor other than `index` with this name, or this name without some of its first words.
static int64_t find_parameter(const tsr_tree *tree, int64_t index, const char *name) {
  for (const char *rest = name; *rest;) {
    int64_t found = tsr_tree_find(tree, rest);
    if (found < 0) found = find_at_home(tree, rest);
    if (found >= 0 && found != index) return found;
    while (*rest && !is_separator(*rest)) rest++;
    if (*rest) rest++;
  }
  return -1;
}

// ---- shapes ----

// Whether a factor has the parameter's shape without dimension `lacks`.
static bool is_without(const tsr_tensor *parameter, int lacks, const tsr_tensor *factor) {
  for (int d = 0; d < factor->rank; d++)
    if (factor->dims[d] != parameter->dims[d + (d >= lacks)]) return false;
  return true;
}

// The dimension that a factor lacks. Of equal dimensions, rows lack the last and columns the one
// before it, as in torch, optax and t5x.
static int find_lacking(const tsr_tensor *parameter, const tsr_tensor *factor, state_kind kind) {
  int found = -1;
  if (factor->rank != parameter->rank - 1) return -1;
  for (int d = 0; d < parameter->rank; d++)
    if (is_without(parameter, d, factor) && (kind == ROW || found < 0 || d < parameter->rank - 1))
      found = d;
  return found;
}

static tsr_companion whole(int64_t of, const char *why) {
  return (tsr_companion){.kind = TSR_COMPANION_WHOLE, .of = of, .why = why};
}

// The kind of a state of parameter `of`; none if the shapes are unrelated and the word is
// ambiguous.
static tsr_companion judge(const tsr_tree *tree, int64_t index, int64_t of, state_kind kind) {
  const tsr_tensor *state = tsr_tree_at(tree, index), *parameter = tsr_tree_at(tree, of);
  const tsr_shape a = tsr_tensor_shape(state), b = tsr_tensor_shape(parameter);
  tsr_companion found = {.kind = TSR_COMPANION_STATE, .of = of};
  if (tsr_tensor_elements(state) == 1 || tsr_shape_equal(&a, &b)) return found;
  if (kind == ROW || kind == COLUMN) {
    found.kind = TSR_COMPANION_FACTOR;
    found.lacks = find_lacking(parameter, state, kind);
    if (found.lacks >= 0) return found;
  }
  if (kind == LOOSE) return (tsr_companion){.of = -1};
  return whole(of, "its shape is not its parameter's");
}

// ---- names ----

// Whether the tensor has a sibling whose name has another word in place of its own.
static bool has_sibling(const tsr_tree *tree, const char *path, const char *word_at,
                        const char *word) {
  char name[TSR_COMPANION_NAME + 32];
  snprintf(name, sizeof name, "%.*s%s%s", (int)(word_at - path), path, word,
           word_at + strcspn(word_at, "./"));
  return tsr_tree_find(tree, name) >= 0;
}

// A state whose word follows the parameter's name. With more words after it, the tensor is one of
// several of a state, and their names do not say how they relate.
static tsr_companion try_before(const tsr_tree *tree, int64_t index, const char *word_at,
                                state_kind kind, bool ends) {
  const char *path = tsr_tree_at(tree, index)->path;
  char name[TSR_COMPANION_NAME];
  snprintf(name, sizeof name, "%.*s", word_at > path ? (int)(word_at - path) - 1 : 0, path);
  const int64_t of = find_parameter(tree, index, name);
  if (of < 0 || (!ends && kind == LOOSE)) return (tsr_companion){.of = -1};
  if (ends) return judge(tree, index, of, kind);
  return whole(of, "it is one of several tensors of a state");
}

static tsr_companion try_word(const tsr_tree *tree, int64_t index, const char *word_at,
                              state_kind kind) {
  static const char in_blocks[] = "8-bit states have scales for blocks of the flattened parameter";
  const char *path = tsr_tree_at(tree, index)->path;
  const size_t length = strcspn(word_at, "./");
  const char *rest = word_at + length + (word_at[length] != '\0');
  tsr_companion found = {.of = find_parameter(tree, index, rest)};
  if (found.of >= 0) found = judge(tree, index, found.of, kind);
  if (!found.kind) found = try_before(tree, index, word_at, kind, !*rest);
  const bool blocks = kind == BLOCKS && (has_sibling(tree, path, word_at, "absmax1") ||
                                         has_sibling(tree, path, word_at, "absmax2"));
  if (blocks || kind == BESIDE) {
    found = whole(found.of, in_blocks);
    found.scales = kind == BESIDE;
    return found;
  }
  const tsr_tensor *tensor = tsr_tree_at(tree, index);
  if (!found.kind && tensor->rank && tsr_tensor_elements(tensor) == 1)
    return whole(-1, "it is a single number of its optimiser");
  return found;
}

tsr_companion tsr_companion_find_state(const tsr_tree *tree, int64_t index) {
  const char *path = tsr_tree_at(tree, index)->path;
  for (const char *word_at = path; *word_at;) {
    const size_t length = strcspn(word_at, "./");
    const int word = find_word(word_at, length);
    if (word >= 0) {
      const tsr_companion found = try_word(tree, index, word_at, words[word].kind);
      if (found.kind) return found;
    }
    word_at += length + (word_at[length] != '\0');
  }
  return (tsr_companion){.of = -1};
}

bool tsr_companion_parameter(const tsr_tree *tree, int64_t index, char *out_path, size_t size) {
  const char *path = tsr_tree_at(tree, index)->path, *last = path + strlen(path);
  while (last > path && !is_separator(last[-1])) last--;
  const int word = find_word(last, strlen(last));
  if (last == path || word < 0 || words[word].kind > LOOSE) return false;
  snprintf(out_path, size, "%.*s", (int)(last - path) - 1, path);
  return true;
}
