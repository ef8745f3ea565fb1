#include "checkpoint/models.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "plan/tree_internal.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/layout.h"

// ---- tensors ----

uint32_t test_word(const char *name, int64_t element) {
  uint64_t mixed = (uint64_t)element + 1;
  for (const char *c = name; *c; c++) mixed = mixed * 1099511628211U + (unsigned char)*c;
  return (uint32_t)(mixed * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static int64_t elements_of(const tsr_shape *shape) {
  int64_t elements = 0;
  assert_ok(tsr_shape_count(shape, &elements));
  return elements;
}

static test_tensor empty_tensor(const char *name, const tsr_shape *shape) {
  test_tensor tensor = {.name = name, .shape = *shape};
  tensor.words = calloc((size_t)elements_of(shape) + 1, sizeof *tensor.words);
  assert_non_null(tensor.words);
  return tensor;
}

test_tensor test_tensor_whole(const char *name, const tsr_shape *shape) {
  test_tensor tensor = empty_tensor(name, shape);
  for (int64_t i = 0; i < elements_of(shape); i++) tensor.words[i] = test_word(name, i);
  return tensor;
}

static void fill_piece(test_tensor *tensor, const tsr_shape *whole, const tsr_piece *piece) {
  int64_t at[TSR_MAX_RANK] = {0}, count = 1;
  for (int d = 0; d < whole->rank; d++) count *= piece->ranges[d].hi - piece->ranges[d].lo;
  for (int64_t i = 0; i < count; i++) {
    int64_t element = 0, place = piece->offset;
    for (int d = 0; d < whole->rank; d++) {
      element = element * whole->dims[d] + piece->ranges[d].lo + at[d];
      place += at[d] * piece->strides[d];
    }
    tensor->words[place] = test_word(tensor->name, element);
    for (int d = whole->rank - 1; d >= 0; d--) {
      if (++at[d] < piece->ranges[d].hi - piece->ranges[d].lo) break;
      at[d] = 0;
    }
  }
}

test_tensor test_tensor_slice(const char *name, const tsr_layout *layout, int64_t position) {
  const int64_t shard = tsr_layout_shard(layout, position);
  const tsr_shape whole = tsr_layout_shape(layout);
  tsr_shape shape;
  tsr_pieces pieces;
  tsr_layout_buffer_shape(layout, shard, &shape);
  test_tensor tensor = empty_tensor(name, &shape);
  assert_ok(tsr_pieces_init(&pieces, layout, shard));
  for (tsr_piece piece; tsr_pieces_next(&pieces, &piece);) fill_piece(&tensor, &whole, &piece);
  tsr_pieces_deinit(&pieces);
  return tensor;
}

// ---- files ----

static void write_header(const test_tensor *tensors, int count, tsr_text *out) {
  int64_t offset = 0;
  tsr_text_add(out, "{");
  for (int i = 0; i < count; i++) {
    tsr_text_addf(out, "%s\"%s\":{\"dtype\":\"U32\",\"shape\":[", i ? "," : "", tensors[i].name);
    for (int d = 0; d < tensors[i].shape.rank; d++)
      tsr_text_addf(out, "%s%lld", d ? "," : "", (long long)tensors[i].shape.dims[d]);
    const int64_t end = offset + 4 * elements_of(&tensors[i].shape);
    tsr_text_addf(out, "],\"data_offsets\":[%lld,%lld]}", (long long)offset, (long long)end);
    offset = end;
  }
  tsr_text_add(out, "}");
}

void test_write_safetensors(const char *path, test_tensor *tensors, int count) {
  tsr_text header = TSR_TEXT_EMPTY;
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  write_header(tensors, count, &header);
  const uint64_t length = strlen(tsr_text_string(&header));
  assert_int_equal(fwrite(&length, sizeof length, 1, file), 1);
  assert_int_equal(fwrite(tsr_text_string(&header), 1, length, file), length);
  for (int i = 0; i < count; i++) {
    const size_t words = (size_t)elements_of(&tensors[i].shape);
    assert_int_equal(fwrite(tensors[i].words, sizeof(uint32_t), words, file), words);
    free(tensors[i].words);
  }
  assert_int_equal(fclose(file), 0);
  tsr_text_deinit(&header);
}

void test_write_text(const char *path, const char *text) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

// ---- plans ----

tsr_plan *test_plan(const char *tree_json, const char *mesh_text, const char *rules_text) {
  tsr_json_doc *doc = NULL;
  tsr_tree *tree = NULL;
  tsr_mesh *mesh = NULL;
  tsr_rules *rules = NULL;
  tsr_plan *plan = NULL;
  assert_ok(tsr_json_parse(tree_json, strlen(tree_json), &doc));
  assert_ok(tsr_tree_from_json(tsr_json_root(doc), &tree));
  assert_ok(tsr_mesh_parse(mesh_text, NULL, &mesh));
  assert_ok(tsr_rules_parse(rules_text, "test", NULL, &rules));
  const tsr_match_options options = {.size = sizeof options,
                                     .no_correction = true,
                                     .allow_unmatched = true,
                                     .policy = TSR_POLICY_UNEVEN};
  assert_ok(tsr_plan_match(tree, mesh, rules, &options, &plan));
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  tsr_tree_release(tree);
  tsr_json_destroy(doc);
  return plan;
}

// ---- jobs ----

tsr_status test_transform(const char *from, const char *to, const tsr_transform_options *options) {
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  TSR_TRY(tsr_checkpoint_open(from, NULL, &source));
  tsr_status status = tsr_transform_create(source, to, options, &job);
  if (!status) status = tsr_transform_run(job);
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
  return status;
}
