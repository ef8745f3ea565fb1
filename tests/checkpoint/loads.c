#include "checkpoint/loads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "element/packed_bits.h"
#include "element/shape_internal.h"
#include "file/safetensors.h"
#include "support/models.h"
#include "tessera/array.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/array.h"
#include "tessera/engine/kernels.h"
#include "tessera/place.h"

// ---- the model ----

// Small integers as floats, so that every cast of them is one that can be told from another.
static void fill(const tsr_tensor *t, char *bytes) {
  const int bits = tsr_dtype_info_of(t->dtype)->bits;
  const bool is_float = tsr_dtype_info_of(t->dtype)->kind == TSR_CLASS_FLOAT;
  for (int64_t e = 0; e < tsr_tensor_elements(t); e++) {
    const uint32_t word = test_word(t->path, e);
    const uint8_t code = (uint8_t)(word & 15);
    const float number = (float)(word % 251) / 8;
    const int64_t integer = word;
    if (bits < 8)
      tsr_pack(bits, &code, 1, bytes, e);
    else
      assert_ok(tsr_convert(is_float ? TSR_F32 : TSR_I64,
                            is_float ? (const void *)&number : (const void *)&integer, t->dtype,
                            bytes + e * bits / 8, 1));
  }
}

static int64_t bytes_of(const tsr_tensor *t, tsr_dtype dtype) {
  return (tsr_tensor_elements(t) * tsr_dtype_info_of(dtype)->bits + 7) / 8;
}

void test_load_write_tree(const char *path, const char *tree_json) {
  tsr_tree *tree = NULL;
  tsr_safetensors_file plan;
  tsr_tensor tensors[16] = {{0}};
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_ok(read_tree(tree_json, &tree));
  const int64_t count = tsr_tree_count(tree);
  for (int64_t i = 0; i < count; i++) tensors[i] = *tsr_tree_at(tree, i);
  assert_ok(tsr_safetensors_plan(tensors, count, NULL, 0, &plan));
  char *bytes = calloc(1, (size_t)plan.size);
  memcpy(bytes, plan.header, (size_t)plan.length);
  for (int64_t i = 0; i < count; i++) fill(tsr_tree_at(tree, i), bytes + plan.begins[i]);
  assert_int_equal(fwrite(bytes, 1, (size_t)plan.size, file), plan.size);
  assert_int_equal(fclose(file), 0);
  free(bytes);
  tsr_safetensors_file_deinit(&plan);
  tsr_tree_release(tree);
}

void test_load_write(const char *path) { test_load_write_tree(path, TEST_LOAD_TREE); }

// ---- plans ----

static const char *const matrix_specs[] = {
    "_, _", "x, y", "y, x",           "x+y, _",         "_, y+x",
    "y",    "_, x", "y/cyclic(3), x", "x, y/cyclic(1)", "x/cyclic(2), y/cyclic(2)"};
static const char *const row_specs[] = {"_", "x", "y+x", "x/cyclic(2)", "x+y"};
static const char *const stack_specs[] = {"_", "x, y", "_, y, x", "y, x/cyclic(1)", "_, _, x+y"};
static const char *const qkv_specs[] = {"_", "x, y", "y/parts(q:8/2, k:4/2*2, v:4/2*2), x",
                                        "x+y/parts(q:8/1, k:4/1*2, v:4/2*4), _"};

static const char *any(test_random *random, const char *const *specs, size_t count) {
  return specs[test_random_range(random, 0, (int64_t)count - 1)];
}
#define ANY(random, specs) any(random, specs, COUNT_OF(specs))

tsr_plan *test_load_plan(test_random *random, bool for_files) {
  static const char *const meshes[] = {"x=2,y=4", "x=4,y=2"};
  const char *mesh = ANY(random, meshes);
  char rules[512];
  // The parts of qkv are cut for y = 4 and for 8.
  const char *qkv = mesh == meshes[0] ? ANY(random, qkv_specs) : qkv_specs[random->state % 2];
  snprintf(rules, sizeof rules,
           "^a -> %s\n^b -> %s\n^c -> %s\n^f -> %s\n^g -> %s\n^none -> %s\n^qkv -> %s\n",
           ANY(random, matrix_specs), ANY(random, row_specs), ANY(random, stack_specs),
           for_files ? "x+y" : ANY(random, matrix_specs),
           for_files ? "_" : ANY(random, matrix_specs), ANY(random, matrix_specs), qkv);
  return test_plan(TEST_LOAD_TREE, mesh, rules);
}

void test_load_store(const char *from, const char *to, tsr_checkpoint_format format,
                     const tsr_plan *plan) {
  const tsr_transform_options options = {.size = sizeof options,
                                         .format = format,
                                         .plan = plan,
                                         .max_file_size = 4000,
                                         .jobs = 1,
                                         .existing = TSR_EXISTING_REPLACE,
                                         .no_sync = true};
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  assert_ok(tsr_checkpoint_open(from, NULL, &source));
  assert_ok(tsr_transform_create(source, to, &options, &job));
  assert_ok(tsr_transform_run(job));
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
}

// ---- checking ----

static tsr_status same_parts(const tsr_array *found, const tsr_array *wanted) {
  for (int64_t i = 0; i < tsr_array_local_count(wanted); i++) {
    tsr_local_shard part = TSR_LOCAL_SHARD;
    TSR_TRY(tsr_array_local_at(wanted, i, &part));
    if (part.bytes && memcmp(tsr_array_data(found, i), part.data, (size_t)part.bytes) != 0)
      return tsr_fail(BROKEN_PLAN, "device %lld holds something else", (long long)part.device);
  }
  return NULL;
}

static tsr_status check_array(const tsr_array *found, const void *whole) {
  tsr_array *wanted = NULL;
  TSR_TRY(tsr_array_shard(tsr_array_comm(found), tsr_array_layout(found), tsr_array_dtype(found),
                          whole, NULL, &wanted));
  tsr_status status = same_parts(found, wanted);
  tsr_array_release(wanted);
  return status;
}

static tsr_status check_leaf(const tsr_leaf *leaf, const tsr_checkpoint *whole) {
  const int64_t tensor = tsr_tree_find(tsr_checkpoint_tree(whole), leaf->tensor.path);
  if (tensor < 0) return tsr_fail(NOT_FOUND, "no such tensor");
  const tsr_tensor *t = tsr_tree_at(tsr_checkpoint_tree(whole), tensor);
  char *stored = calloc(1, (size_t)bytes_of(t, t->dtype) + 1);
  char *cast = calloc(1, (size_t)bytes_of(t, leaf->tensor.dtype) + 1);
  tsr_status status =
      stored && cast ? NULL : tsr_fail(NO_MEMORY, "tensor \"%s\"", leaf->tensor.path);
  if (!status) status = tsr_checkpoint_read(whole, tensor, NULL, stored, bytes_of(t, t->dtype));
  if (!status)
    status = tsr_convert(t->dtype, stored, leaf->tensor.dtype, cast, tsr_tensor_elements(t));
  if (!status) status = check_array(leaf->array, t->dtype == leaf->tensor.dtype ? stored : cast);
  free(stored);
  free(cast);
  return status;
}

tsr_status test_load_check(const tsr_array_tree *tree, const tsr_checkpoint *whole) {
  for (int64_t i = 0; i < tsr_array_tree_count(tree); i++) {
    const tsr_leaf *leaf = tsr_array_tree_at(tree, i);
    TSR_TRY_NOTE(check_leaf(leaf, whole), "tensor \"%s\"", leaf->tensor.path);
  }
  return NULL;
}
