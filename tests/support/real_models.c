// A list is compact: {"preset", "mesh", "config", "tensors": [[path, type, shape], ...]}, where the
// path "layers.{0..31}.x" stands for every number between.
#include "support/real_models.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json/json.h"
#include "rules/rules_internal.h"
#include "support/test.h"

static const char folder[] = "tests/models";

static char *copy_string(const tsr_json *value) {
  const char *bytes = NULL;
  size_t length = 0;
  assert_ok(tsr_json_get_string(value, "model", &bytes, &length));
  char *copy = strndup(bytes, length);
  assert_non_null(copy);
  return copy;
}

// ---- tensors ----

typedef struct listing {
  tsr_tensor *tensors;
  int64_t count, capacity;
} listing;

static void add(listing *list, const char *path, const tsr_tensor *like) {
  if (list->count == list->capacity) {
    list->capacity = list->capacity ? 2 * list->capacity : 64;
    list->tensors = realloc(list->tensors, sizeof *list->tensors * (size_t)list->capacity);
    assert_non_null(list->tensors);
  }
  tsr_tensor *tensor = &list->tensors[list->count++];
  int64_t *dims = malloc(sizeof *dims * (size_t)(like->rank + 1));
  assert_non_null(dims);
  for (int d = 0; d < like->rank; d++) dims[d] = like->dims[d];
  *tensor = (tsr_tensor){strdup(path), like->dtype, like->rank, dims, NULL};
}

// Writes out the numbers of a path.
static void expand(listing *list, const char *compact, const tsr_tensor *like) {
  const char *open = strchr(compact, '{');
  int first = 0, last = 0, length = 0;
  if (!open) {
    add(list, compact, like);
    return;
  }
  assert_int_equal(sscanf(open, "{%d..%d}%n", &first, &last, &length), 2);
  for (int i = first; i <= last; i++) {
    char *path = NULL;
    assert_true(asprintf(&path, "%.*s%d%s", (int)(open - compact), compact, i, open + length) > 0);
    expand(list, path, like);
    free(path);
  }
}

static void add_row(listing *list, const tsr_json *row) {
  int64_t dims[TSR_MAX_RANK];
  tsr_tensor like = {.dims = dims};
  char *compact = copy_string(tsr_json_at(row, 0)), *dtype = copy_string(tsr_json_at(row, 1));
  assert_ok(tsr_dtype_parse(dtype, &like.dtype));
  const tsr_json *shape = tsr_json_at(row, 2);
  for (const tsr_json *at = tsr_json_first(shape); at; at = tsr_json_next(at))
    assert_ok(tsr_json_get_int(at, "shape", &dims[like.rank++]));
  expand(list, compact, &like);
  free(dtype);
  free(compact);
}

static tsr_tree *read_tensors(const tsr_json *rows) {
  listing list = {0};
  tsr_tree *tree = NULL;
  for (const tsr_json *row = tsr_json_first(rows); row; row = tsr_json_next(row))
    add_row(&list, row);
  assert_ok(tsr_tree_create(list.tensors, list.count, &tree));
  for (int64_t i = 0; i < list.count; i++) {
    free((char *)list.tensors[i].path);
    free((int64_t *)list.tensors[i].dims);
  }
  free(list.tensors);
  return tree;
}

// ---- models ----

static char *choose_preset(const tsr_json *config) {
  const char *family = NULL;
  assert_ok(tsr_preset_from_config(config, &family, NULL));
  assert_non_null(family);
  return strdup(family);
}

void real_model_open(const char *file, real_model *out_model) {
  char path[512];
  tsr_json_doc *doc = NULL;
  *out_model = (real_model){.file = file};
  snprintf(path, sizeof path, "%s/%s", folder, file);
  assert_ok(tsr_json_read_file(path, &doc));
  const tsr_json *root = tsr_json_root(doc);
  char *mesh = copy_string(tsr_json_find(root, "mesh"));
  assert_ok(tsr_mesh_parse(mesh, NULL, &out_model->mesh));
  out_model->preset = copy_string(tsr_json_find(root, "preset"));
  out_model->chosen = choose_preset(tsr_json_find(root, "config"));
  assert_ok(tsr_facts_from_config(tsr_json_find(root, "config"), &out_model->facts));
  out_model->tree = read_tensors(tsr_json_find(root, "tensors"));
  free(mesh);
  tsr_json_destroy(doc);
}

void real_model_close(real_model *model) {
  tsr_tree_release(model->tree);
  tsr_facts_deinit(&model->facts);
  free(model->preset);
  free(model->chosen);
  tsr_mesh_release(model->mesh);
}

tsr_rules *real_model_rules(const real_model *model, const char *variant) {
  char name[128];
  tsr_rules *rules = NULL;
  const tsr_rules_options options = {.size = sizeof options,
                                     .facts = model->facts.items,
                                     .fact_count = model->facts.count,
                                     .mesh = model->mesh};
  snprintf(name, sizeof name, "%s:%s", model->preset, variant);
  assert_ok(tsr_rules_preset(name, &options, &rules));
  return rules;
}

static bool is_list(const char *name) {
  const size_t length = strlen(name);
  return length > 5 && !strcmp(name + length - 5, ".json");
}

int each_real_model(void (*visit)(const real_model *model, void *context), void *context) {
  DIR *files = opendir(folder);
  int count = 0;
  assert_non_null(files);
  for (const struct dirent *file; (file = readdir(files));) {
    if (!is_list(file->d_name)) continue;
    real_model model;
    real_model_open(file->d_name, &model);
    visit(&model, context);
    real_model_close(&model);
    count++;
  }
  closedir(files);
  return count;
}
