// The trees of a jax.export file: Python containers around the arguments and results, and the path
// of every leaf, by which users know their arrays.
#include <ctype.h>
#include <string.h>

#include "base/text_internal.h"
#include "bytecode/export_internal.h"

// The slots of a PyTreeDef.
enum { KIND, CHILDREN, KEYS, CUSTOM_NAME, CUSTOM_DATA };
enum { MAX_FIELD_NAMES = 4096 };  // bytes of the names of a namedtuple

static tsr_status read_custom(const tsr_flat_table *table, tsr_export_tree *tree) {
  tsr_flat_list data;
  TSR_TRY(tsr_flat_string(table, CUSTOM_NAME, &tree->custom_name));
  TSR_TRY(tsr_flat_list_of(table, CUSTOM_DATA, 1, &data));
  tree->custom_data = data.file->bytes + data.at;
  tree->custom_length = (size_t)data.count;
  return NULL;
}

static tsr_status check_node(const tsr_export_tree *tree, int64_t key_count) {
  const bool inner = tree->kind >= TSR_EXPORT_TUPLE;
  if (!inner && tree->child_count)
    return tsr_fail(BROKEN_PROGRAM, "a leaf of a tree has %lld children, wanted none",
                    (long long)tree->child_count);
  if (tree->kind == TSR_EXPORT_DICT && key_count != tree->child_count)
    return tsr_fail(BROKEN_PROGRAM, "a dictionary of a tree has %lld keys and %lld values",
                    (long long)key_count, (long long)tree->child_count);
  return NULL;
}

static tsr_status read_node(tsr_export_reader *reader, const tsr_flat_table *table, int depth,
                            tsr_export_tree *tree) {
  if (depth > TSR_EXPORT_DEPTH)
    return tsr_fail(BROKEN_PROGRAM, "a tree is deeper than %d levels", TSR_EXPORT_DEPTH);
  uint64_t kind = 0;
  TSR_TRY(tsr_flat_number(table, KIND, 1, TSR_EXPORT_LEAF, &kind));
  if (kind >= TSR_EXPORT_NODE_COUNT)
    return tsr_fail(BROKEN_PROGRAM, "a node of a tree has kind %d, wanted 0 to %d", (int)kind,
                    TSR_EXPORT_NODE_COUNT - 1);
  tree->kind = (tsr_export_node)kind;
  tsr_export_names keys;
  TSR_TRY(tsr_export_names_read(reader, table, KEYS, &keys));
  tree->keys = keys.names;
  if (tree->kind == TSR_EXPORT_CUSTOM) TSR_TRY(read_custom(table, tree));
  tsr_flat_list children;
  TSR_TRY(tsr_flat_list_of(table, CHILDREN, 4, &children));
  tree->child_count = children.count;
  TSR_TRY(check_node(tree, keys.count));
  tree->children = tsr_export_zeros(reader, children.count, sizeof *tree->children);
  TSR_NEED(tree->children);
  for (int64_t i = 0; i < children.count; i++) {
    tsr_flat_table child;
    TSR_TRY(tsr_flat_item_table(&children, i, &child));
    TSR_TRY(read_node(reader, &child, depth + 1, &tree->children[i]));
  }
  return NULL;
}

tsr_status tsr_export_tree_read(tsr_export_reader *reader, const tsr_flat_table *root, int slot,
                                tsr_export_tree *out_tree) {
  tsr_flat_table table;
  bool present = false;
  TSR_TRY(tsr_flat_child(root, slot, &table, &present));
  if (!present) return tsr_fail(BROKEN_PROGRAM, "it is missing");
  return read_node(reader, &table, 0, out_tree);
}

// ---- paths and text ----

// A string as Python's repr writes it, but with all of Unicode as it is.
static void add_repr(const char *string, tsr_text *out) {
  const char quote = strchr(string, '\'') && !strchr(string, '"') ? '"' : '\'';
  tsr_text_add_char(out, quote);
  for (const char *c = string; *c; c++) {
    const char *escapes = "\nn\rr\tt\\\\", *found = strchr(escapes, *c);
    if (*c == quote) {
      tsr_text_addf(out, "\\%c", *c);
    } else if (found && (*c == '\\' || (unsigned char)*c < ' ')) {
      tsr_text_addf(out, "\\%c", found[1]);
    } else if ((unsigned char)*c < ' ' || *c == 127) {
      tsr_text_addf(out, "\\x%02x", (unsigned)*c);
    } else {
      tsr_text_add_char(out, *c);
    }
  }
  tsr_text_add_char(out, quote);
}

// The names of a namedtuple's fields are stored as a JSON list of identifiers: ["a", "b"]. Gives
// the one of a child, and its length; NULL for other custom nodes.
static const char *field_name(const tsr_export_tree *tree, int64_t child, size_t *out_length) {
  const char *at = tree->custom_data, *end = at + tree->custom_length;
  if (tree->custom_length < 2 || tree->custom_length > MAX_FIELD_NAMES || *at != '[' ||
      end[-1] != ']')
    return NULL;
  for (at++; at < end && *at == '"'; child--) {
    const char *name = ++at;
    while (at < end && (isalnum((unsigned char)*at) || *at == '_')) at++;
    if (at == end || *at != '"') return NULL;
    *out_length = (size_t)(at - name);
    if (!child) return name;
    for (at++; at < end && (*at == ',' || *at == ' ');) at++;
  }
  return NULL;
}

static void add_custom_step(const tsr_export_tree *tree, int64_t child, tsr_text *out) {
  size_t length = 0;
  const char *name = field_name(tree, child, &length);
  if (name)
    tsr_text_addf(out, ".%.*s", (int)length, name);
  else
    tsr_text_addf(out, "[<flat index %lld>]", (long long)child);
}

static void add_step(const tsr_export_tree *tree, int64_t child, tsr_text *out) {
  switch (tree->kind) {
    case TSR_EXPORT_DICT:
      tsr_text_add(out, "[");
      add_repr(tree->keys[child], out);
      tsr_text_add(out, "]");
      break;
    case TSR_EXPORT_CUSTOM:
      add_custom_step(tree, child, out);
      break;
    default:
      tsr_text_addf(out, "[%lld]", (long long)child);
      break;
  }
}

typedef struct path_walk {
  tsr_export_reader *reader;
  tsr_text path;  // of the node that is visited
  tsr_export_value *values;
  int64_t count, leaf_count;
  int skip;  // outer levels that paths leave out
} path_walk;

static tsr_status add_leaf(path_walk *walk) {
  if (walk->leaf_count < walk->count) {
    TSR_TRY(tsr_text_check(&walk->path));
    TSR_TRY(tsr_flat_spend(&walk->reader->flat, walk->path.length + 1));
    const char *path =
        tsr_arena_copy(walk->reader->arena, tsr_text_string(&walk->path), walk->path.length);
    if (!path) return tsr_fail(NO_MEMORY, "a path of %zu bytes", walk->path.length);
    walk->values[walk->leaf_count].path = path;
  }
  walk->leaf_count++;
  return NULL;
}

static tsr_status visit(path_walk *walk, const tsr_export_tree *tree, int depth) {
  if (tree->kind == TSR_EXPORT_LEAF) return add_leaf(walk);
  const size_t length = walk->path.length;
  for (int64_t i = 0; i < tree->child_count; i++) {
    if (depth >= walk->skip) add_step(tree, i, &walk->path);
    TSR_TRY(visit(walk, &tree->children[i], depth + 1));
    walk->path.length = length;
    if (walk->path.data) walk->path.data[length] = '\0';
  }
  return NULL;
}

tsr_status tsr_export_paths(tsr_export_reader *reader, const tsr_export_tree *tree, int skip,
                            tsr_export_value *values, int64_t count) {
  path_walk walk = {reader, TSR_TEXT_EMPTY, values, count, 0, skip};
  tsr_status status = visit(&walk, tree, 0);
  tsr_text_deinit(&walk.path);
  if (!status && walk.leaf_count != count)
    return tsr_fail(BROKEN_PROGRAM, "the tree has %lld leaves, wanted %lld, one for each value",
                    (long long)walk.leaf_count, (long long)count);
  return status;
}

static const struct {
  const char *open, *close;
} brackets[TSR_EXPORT_NODE_COUNT] = {
    [TSR_EXPORT_LEAF] = {"*", ""},   [TSR_EXPORT_NONE] = {"None", ""},
    [TSR_EXPORT_TUPLE] = {"(", ")"}, [TSR_EXPORT_LIST] = {"[", "]"},
    [TSR_EXPORT_DICT] = {"{", "}"},  [TSR_EXPORT_CUSTOM] = {"CustomNode(", "])"},
};

static void print_node(const tsr_export_tree *tree, tsr_text *out) {
  tsr_text_add(out, brackets[tree->kind].open);
  if (tree->kind == TSR_EXPORT_CUSTOM)
    tsr_text_addf(out, "%s, [", tree->custom_name ? tree->custom_name : "");
  for (int64_t i = 0; i < tree->child_count; i++) {
    if (i) tsr_text_add(out, ", ");
    if (tree->kind == TSR_EXPORT_DICT) {
      add_repr(tree->keys[i], out);
      tsr_text_add(out, ": ");
    }
    print_node(&tree->children[i], out);
  }
  if (tree->kind == TSR_EXPORT_TUPLE && tree->child_count == 1) tsr_text_add(out, ",");
  tsr_text_add(out, brackets[tree->kind].close);
}

void tsr_export_tree_print(const tsr_export_tree *tree, tsr_text *out) {
  tsr_text_add(out, "PyTreeDef(");
  print_node(tree, out);
  tsr_text_add(out, ")");
}
