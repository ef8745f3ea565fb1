// NumPy's archives and arrays as checkpoints: whatever the order and however packed, the same
// tensors.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_internal.h"
#include "checkpoint/models.h"
#include "checkpoint/numpy_files.h"
#include "element/shape_internal.h"
#include "format/fsck_report.h"
#include "json/json.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint.h"

// Every order, type and shape that matters; big.turned has more than one window of places.
static const test_array arrays[] = {
    TEST_ARRAY("a.w", "<f4", 4, 4, false, false, 2, 8, 6),
    TEST_ARRAY("a.turned", "<f4", 4, 4, false, true, 2, 8, 6),
    TEST_ARRAY("big.endian", ">i2", 2, 2, true, false, 3, 5, 3, 2),
    TEST_ARRAY("big.both", ">f8", 8, 8, true, true, 3, 5, 3, 2),
    TEST_ARRAY("complex", ">c16", 16, 8, true, true, 2, 3, 4),
    TEST_ARRAY("bytes", "|u1", 1, 1, false, true, 2, 3, 5),
    TEST_ARRAY("flags", "|b1", 1, 1, false, false, 1, 9),
    TEST_ARRAY("none", "<i8", 8, 8, false, true, 3, 4, 0, 2),
    TEST_ARRAY("half", "<V2", 2, 2, false, true, 2, 7, 2),
    TEST_ARRAY("one", ">u4", 4, 4, true, true, 1, 1),
    TEST_ARRAY("large", "<u2", 2, 2, false, true, 2, 700, 300),
    TEST_ARRAY("d/\xc3\xa9 '\"", "<f2", 2, 2, false, false, 1, 4),
};
static const test_array scalar = {"scalar", ">i4", 4, 4, true, false, {.rank = 0}};
enum { COUNT = COUNT_OF(arrays) };

static const tsr_dtype dtypes[COUNT] = {TSR_F32,  TSR_F32, TSR_I16,  TSR_F64, TSR_C128, TSR_U8,
                                        TSR_BOOL, TSR_I64, TSR_BF16, TSR_U32, TSR_U16,  TSR_F16};

static void check_box(const tsr_checkpoint *model, int64_t tensor, const test_array *array,
                      const tsr_range *box) {
  const int rank = array->shape.rank;
  int64_t count = 1, strides[TSR_MAX_RANK];
  for (int d = 0; d < rank; d++) count *= box[d].hi - box[d].lo;
  tsr_shape_strides(&array->shape, strides);
  unsigned char *bytes = malloc((size_t)(count * array->width) + 1);
  assert_non_null(bytes);
  assert_ok(tsr_checkpoint_read(model, tensor, box, bytes, count * array->width));
  for (int64_t i = 0; i < count; i++) {
    int64_t element = 0, left = i;
    for (int d = rank - 1; d >= 0; d--) {
      element += (box[d].lo + left % (box[d].hi - box[d].lo)) * strides[d];
      left /= box[d].hi - box[d].lo;
    }
    for (int b = 0; b < array->width; b++)
      assert_int_equal(bytes[i * array->width + b], test_array_byte(array, element, b));
  }
  free(bytes);
}

static void check_array(const tsr_checkpoint *model, const test_array *array, tsr_dtype dtype) {
  const int64_t tensor = tsr_tree_find(tsr_checkpoint_tree(model), array->name);
  test_random random = {5};
  tsr_range box[TSR_MAX_RANK];
  assert_true(tensor >= 0);
  const tsr_tensor *t = tsr_tree_at(tsr_checkpoint_tree(model), tensor);
  assert_int_equal(t->dtype, dtype);
  assert_int_equal(t->rank, array->shape.rank);
  for (int d = 0; d < t->rank; d++) {
    assert_int_equal(t->dims[d], array->shape.dims[d]);
    box[d] = (tsr_range){0, t->dims[d]};
  }
  check_box(model, tensor, array, box);
  for (int turn = 0; turn < 10; turn++) {
    for (int d = 0; d < t->rank; d++) {
      box[d].lo = test_random_range(&random, 0, t->dims[d]);
      box[d].hi = test_random_range(&random, box[d].lo, t->dims[d]);
    }
    check_box(model, tensor, array, box);
  }
}

static void check_all(const tsr_checkpoint *model) {
  assert_int_equal(tsr_tree_count(tsr_checkpoint_tree(model)), COUNT);
  for (int i = 0; i < COUNT; i++) check_array(model, &arrays[i], dtypes[i]);
  assert_string_equal(
      tsr_checkpoint_warnings(model),
      "array \"half\" has elements of 16 bits and records no dtype: read as bf16\n");
}

// ---- facts ----

static void archives_are_read_stored_and_packed(void **state) {
  (void)state;
  tsr_hash128 hashes[2][COUNT];
  test_folder folder;
  test_folder_make(&folder);
  for (int deflated = 0; deflated < 2; deflated++) {
    tsr_checkpoint *model = NULL;
    tsr_stored stored;
    const char *path = test_folder_path(&folder, "x.npz");
    test_write_npz(path, arrays, COUNT, deflated);
    assert_ok(tsr_checkpoint_open(path, NULL, &model));
    assert_int_equal(tsr_checkpoint_format_of(model), TSR_FORMAT_NPZ);
    assert_int_equal(tsr_checkpoint_file_count(model), 1);
    check_all(model);
    assert_int_equal(tsr_checkpoint_find(model, 0, 0, 0, &stored), !deflated);
    assert_false(tsr_checkpoint_find(model, 1, 0, 0, &stored));
    for (int i = 0; i < COUNT; i++)
      assert_ok(tsr_checkpoint_hash(model, i, NULL, &hashes[deflated][i]));
    tsr_checkpoint_release(model);
  }
  assert_memory_equal(hashes[0], hashes[1], sizeof hashes[0]);
  test_folder_remove(&folder);
}

// Files cannot be called all that tensors can.
static const char *file_of(int i, char out[64]) {
  snprintf(out, 64, "%s.npy", strchr(arrays[i].name, '/') ? "odd" : arrays[i].name);
  return out;
}

static void folders_of_arrays_are_read(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *model = NULL;
  char name[64];
  test_folder_make(&folder);
  for (int i = 0; i < COUNT; i++)
    test_write_npy(test_folder_path(&folder, file_of(i, name)), &arrays[i]);
  assert_ok(tsr_checkpoint_open(folder.path, NULL, &model));
  assert_int_equal(tsr_checkpoint_format_of(model), TSR_FORMAT_NPY);
  assert_int_equal(tsr_checkpoint_file_count(model), COUNT);
  for (int i = 0; i + 1 < COUNT; i++) check_array(model, &arrays[i], dtypes[i]);
  assert_true(tsr_tree_find(tsr_checkpoint_tree(model), "odd") >= 0);
  tsr_checkpoint_release(model);
  // With an index, names are what it says, and so are types.
  tsr_text index = TSR_TEXT_EMPTY;
  tsr_json_writer json;
  tsr_json_writer_init(&json, &index, 0);
  tsr_json_begin_object(&json);
  tsr_json_write_key(&json, "schema");
  tsr_json_write_string(&json, "tessera-npy/1");
  tsr_json_write_key(&json, "tensors");
  tsr_json_begin_object(&json);
  for (int i = COUNT - 1; i >= 0; i--) {
    tsr_json_write_key(&json, arrays[i].name);
    tsr_json_begin_object(&json);
    tsr_json_write_key(&json, "file");
    tsr_json_write_string(&json, file_of(i, name));
    tsr_json_write_key(&json, "dtype");
    tsr_json_write_string(&json, tsr_dtype_name(dtypes[i], TSR_NAMES_OWN));
    tsr_json_end_object(&json);
  }
  tsr_json_end_object(&json);
  tsr_json_end_object(&json);
  test_write_text(test_folder_path(&folder, "tessera-npy.json"), tsr_text_string(&index));
  tsr_text_deinit(&index);
  assert_ok(tsr_checkpoint_open(folder.path, NULL, &model));
  for (int i = 0; i < COUNT; i++) check_array(model, &arrays[i], dtypes[i]);
  assert_string_equal(tsr_checkpoint_warnings(model), "");
  assert_string_equal(tsr_tree_at(tsr_checkpoint_tree(model), 0)->path, arrays[COUNT - 1].name);
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

static void a_single_array_is_called_as_its_file(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *model = NULL;
  test_folder_make(&folder);
  const char *path = test_folder_path(&folder, "scalar.npy");
  test_write_npy(path, &scalar);
  assert_ok(tsr_checkpoint_open(path, NULL, &model));
  assert_int_equal(tsr_checkpoint_format_of(model), TSR_FORMAT_NPY);
  check_array(model, &scalar, TSR_I32);
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

static void a_forgotten_type_must_be_told(void **state) {
  (void)state;
  static const test_array eight = TEST_ARRAY("e", "|V1", 1, 1, false, false, 1, 6);
  test_folder folder;
  tsr_checkpoint *model = NULL;
  test_folder_make(&folder);
  const char *path = test_folder_path(&folder, "e.npy");
  test_write_npy(path, &eight);
  assert_fails_with(tsr_checkpoint_open(path, NULL, &model), NO_DTYPE,
                    "array \"e\" has elements of 8 bits and records no dtype");
  tsr_checkpoint_options options = {.size = sizeof options, .fallback_dtype = TSR_BF16};
  assert_fails_with(tsr_checkpoint_open(path, &options, &model), NO_DTYPE, "array \"e\"");
  options.fallback_dtype = TSR_F8E4M3FN;
  assert_ok(tsr_checkpoint_open(path, &options, &model));
  check_array(model, &eight, TSR_F8E4M3FN);
  assert_string_equal(tsr_checkpoint_warnings(model), "");
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

static void what_is_no_checkpoint_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *index, *message;
    tsr_cause cause;
  } cases[] = {
      {"[]", "array", TSR_CAUSE_JSON_KIND},
      {"{\"schema\": \"tessera-npy/2\", \"tensors\": {}}", "is not supported, wanted",
       TSR_CAUSE_UNSUPPORTED},
      {"{\"schema\": \"tessera-npy/1\"}", "tensors: missing, wanted an object",
       TSR_CAUSE_JSON_KIND},
      {"{\"schema\": \"tessera-npy/1\", \"tensors\": {\"a\": {\"file\": \"../x.npy\", \"dtype\": "
       "\"f32\"}}}",
       "file \"../x.npy\" is not one in its folder", TSR_CAUSE_BROKEN_FILE},
      {"{\"schema\": \"tessera-npy/1\", \"tensors\": {\"a\": {\"file\": \"a.w.npy\", \"dtype\": "
       "\"f16\"}}}",
       "tensor \"a\": dtype is f16 in the index, but f32 in the file", TSR_CAUSE_BROKEN_FILE},
      {"{\"schema\": \"tessera-npy/1\", \"tensors\": {\"a\": {\"file\": \"gone.npy\", \"dtype\": "
       "\"f16\"}}}",
       "gone.npy", TSR_CAUSE_NOT_FOUND},
  };
  test_folder folder;
  tsr_checkpoint *model = NULL;
  test_folder_make(&folder);
  test_write_npy(test_folder_path(&folder, "a.w.npy"), &arrays[0]);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    test_write_text(test_folder_path(&folder, "tessera-npy.json"), cases[i].index);
    test_assert_fails_with(tsr_checkpoint_open(folder.path, NULL, &model), cases[i].cause,
                           cases[i].message, __FILE__, __LINE__);
  }
  const char *path = test_folder_path(&folder, "x.npz");
  test_write_text(path, "no archive");
  assert_fails_with(tsr_checkpoint_open(path, NULL, &model), BROKEN_FILE,
                    "there is no end record of a zip archive");
  const tsr_checkpoint_options npy = {.size = sizeof npy, .format = TSR_FORMAT_NPY};
  test_folder empty;
  test_folder_make(&empty);
  assert_fails_with(tsr_checkpoint_open(empty.path, &npy, &model), NOT_FOUND,
                    "no file in it ends with .npy");
  assert_fails_with(tsr_checkpoint_open("/no/such", &npy, &model), IO, "/no/such");
  tsr_plan *plan = test_plan("{\"a\": {\"dtype\": \"u32\", \"shape\": [8]}}", "x=2", "a -> x\n");
  const tsr_checkpoint_options cut = {.size = sizeof cut, .plan = plan};
  assert_fails_with(tsr_checkpoint_open(path, &cut, &model), BAD_ARGUMENT, "stored whole here");
  tsr_plan_release(plan);
  test_folder_remove(&empty);
  test_folder_remove(&folder);
}

// Changes the byte in the middle of a file.
static void damage(const char *path) {
  FILE *file = fopen(path, "r+b");
  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  const long offset = ftell(file) / 2;
  assert_int_equal(fseek(file, offset, SEEK_SET), 0);
  const int byte = fgetc(file);
  assert_int_equal(fseek(file, offset, SEEK_SET), 0);
  fputc(byte ^ 0x10, file);
  assert_int_equal(fclose(file), 0);
}

// A packed array that was damaged is told by its checksum, whichever way all of it is read.
static void damaged_packed_bytes_are_found(void **state) {
  (void)state;
  test_folder folder;
  tsr_checkpoint *model = NULL;
  tsr_hash128 hash;
  test_folder_make(&folder);
  const char *path = test_folder_path(&folder, "x.npz");
  test_write_npz(path, &arrays[10], 1, true);
  damage(path);
  assert_ok(tsr_checkpoint_open(path, NULL, &model));
  tsr_status status = tsr_checkpoint_hash(model, 0, NULL, &hash);
  assert_int_equal(tsr_status_cause(status), TSR_CAUSE_BROKEN_FILE);
  assert_non_null(strstr(tsr_status_text(status), "x.npz"));
  assert_non_null(strstr(tsr_status_text(status), "tensor \"large\""));
  tsr_status_free(status);
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

static void check_faults(const char *path, bool deep, int64_t tensors, const char *faults) {
  const tsr_fsck_options options = {.size = sizeof options, .deep = deep};
  tsr_fsck *fsck = NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_fsck_run(path, &options, &fsck));
  for (int64_t i = 0; i < tsr_fsck_count(fsck); i++)
    tsr_text_addf(&text, "%s ", tsr_fault_name(tsr_fsck_at(fsck, i)->kind));
  assert_string_equal(tsr_text_string(&text), faults);
  assert_int_equal(tsr_fsck_tensors(fsck), tensors);
  tsr_text_deinit(&text);
  tsr_fsck_destroy(fsck);
}

static void faults_of_arrays_are_found(void **state) {
  (void)state;
  static const test_array eight = TEST_ARRAY("e", "|V1", 1, 1, false, false, 1, 6);
  test_folder folder;
  char path[128];
  test_folder_make(&folder);
  snprintf(path, sizeof path, "%s/x.npz", folder.path);
  for (int deflated = 0; deflated < 2; deflated++) {
    test_write_npz(path, arrays, COUNT, deflated);
    check_faults(path, true, COUNT, "");
    // The middle of the largest array: only its bytes tell.
    damage(path);
    check_faults(path, false, COUNT, "");
    check_faults(path, true, COUNT, "hash ");
  }
  test_write_text(path, "nothing");
  check_faults(path, false, 0, "header ");
  remove(path);
  test_write_npy(test_folder_path(&folder, "e.npy"), &eight);
  test_write_npy(test_folder_path(&folder, "f.npy"), &arrays[0]);
  check_faults(folder.path, true, 2, "");
  check_faults(test_folder_path(&folder, "e.npy"), true, 1, "");
  test_write_text(test_folder_path(&folder, "tessera-npy.json"),
                  "{\"schema\": \"tessera-npy/1\", \"tensors\": {\"e\": {\"file\": \"e.npy\", "
                  "\"dtype\": \"f8e5m2\"}}}");
  check_faults(folder.path, false, 1, "file_surplus ");
  test_write_text(test_folder_path(&folder, "tessera-npy.json"), "{}");
  check_faults(folder.path, false, 0, "disagrees ");
  test_write_text(test_folder_path(&folder, "f.npy"), "{}");
  test_write_text(test_folder_path(&folder, "g.npy"), "{}");
  check_faults(folder.path, false, 0, "header header ");
  test_folder_remove(&folder);
}

typedef struct hashing {
  const tsr_checkpoint *model;
  tsr_hash128 hashes[8];
} hashing;

static tsr_status hash_one(void *context, int64_t index, int worker) {
  hashing *h = context;
  (void)worker;
  return tsr_checkpoint_hash(h->model, index % tsr_tree_count(tsr_checkpoint_tree(h->model)), NULL,
                             &h->hashes[index]);
}

// More packed arrays at once than are kept ready, from several threads.
static void threads_share_packed_arrays(void **state) {
  (void)state;
  static const test_array four[] = {TEST_ARRAY("1", "<u2", 2, 2, false, true, 2, 70, 300),
                                    TEST_ARRAY("2", "<u2", 2, 2, false, false, 2, 210, 100),
                                    TEST_ARRAY("3", "<u2", 2, 2, false, false, 1, 21000),
                                    TEST_ARRAY("4", "<u2", 2, 2, false, true, 2, 300, 70),
                                    TEST_ARRAY("5", "<u2", 2, 2, false, true, 2, 30, 700)};
  test_folder folder;
  tsr_checkpoint *model = NULL;
  tsr_pool *pool = NULL;
  test_folder_make(&folder);
  const char *path = test_folder_path(&folder, "x.npz");
  test_write_npz(path, four, 4, true);
  assert_ok(tsr_checkpoint_open(path, NULL, &model));
  hashing h = {.model = model};
  assert_ok(tsr_pool_create(4, &pool));
  assert_ok(tsr_pool_run(pool, 8, hash_one, &h));
  assert_memory_equal(h.hashes, h.hashes + 4, sizeof h.hashes / 2);
  tsr_pool_destroy(pool);
  tsr_checkpoint_release(model);
  test_write_npz(path, four, 5, true);
  assert_ok(tsr_checkpoint_open(path, NULL, &model));
  for (int i = 0; i < 5; i++) check_array(model, &four[i], TSR_U16);
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

static void stages_may_be_numpys(void **state) {
  (void)state;
  test_array there = arrays[3];
  test_folder folder;
  tsr_checkpoint *model = NULL;
  char sub[128];
  test_folder_make(&folder);
  for (int i = 0; i < 2; i++) {
    snprintf(sub, sizeof sub, "%s/stage%d", folder.path, i);
    assert_int_equal(mkdir(sub, 0777), 0);
    strcat(sub, "/big.npy");
    there.name = i ? "stage1.big" : "stage0.big";
    test_write_npy(sub, &there);
  }
  assert_ok(tsr_checkpoint_open(folder.path, NULL, &model));
  for (int i = 0; i < 2; i++) {
    there.name = i ? "stage1.big" : "stage0.big";
    check_array(model, &there, TSR_F64);
  }
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

static tsr_status open_and_read(void *context) {
  tsr_checkpoint *model = NULL;
  tsr_status status = tsr_checkpoint_open(context, NULL, &model);
  char bytes[512];
  for (int64_t i = 0; i < 6 && !status; i++)
    status = tsr_checkpoint_read(model, i, NULL, bytes, sizeof bytes);
  tsr_checkpoint_release(model);
  return status;
}

static void memory_may_be_out(void **state) {
  (void)state;
  test_folder folder;
  char name[64], path[128];
  test_folder_make(&folder);
  snprintf(path, sizeof path, "%s/x.npz", folder.path);
  test_write_npz(path, arrays, 9, true);
  test_allocation_sweep(open_and_read, path);
  remove(path);
  for (int i = 0; i < 9; i++)
    test_write_npy(test_folder_path(&folder, file_of(i, name)), &arrays[i]);
  test_allocation_sweep(open_and_read, folder.path);
  test_folder_remove(&folder);
}

// Workers that took turns on a packed array would each unpack it from its start.
static void one_worker_goes_through_packed_arrays(void **state) {
  (void)state;
  for (int deflated = 0; deflated < 2; deflated++) {
    test_folder folder;
    tsr_checkpoint *model = NULL;
    tsr_transform *job = NULL;
    const tsr_transform_options options = {
        .size = sizeof options, .format = TSR_FORMAT_FOLDER, .jobs = 3};
    test_folder_make(&folder);
    const char *path = test_folder_path(&folder, "x.npz");
    test_write_npz(path, arrays, 1, deflated);
    assert_ok(tsr_checkpoint_open(path, NULL, &model));
    assert_ok(tsr_transform_create(model, test_folder_path(&folder, "out"), &options, &job));
    assert_int_equal(tsr_transform_certificate_of(job)->workers, deflated ? 1 : 3);
    tsr_transform_destroy(job);
    tsr_checkpoint_release(model);
    test_folder_remove(&folder);
  }
}

SUITE(numpy, TEST(archives_are_read_stored_and_packed), TEST(folders_of_arrays_are_read),
      TEST(a_single_array_is_called_as_its_file), TEST(a_forgotten_type_must_be_told),
      TEST(what_is_no_checkpoint_is_refused), TEST(damaged_packed_bytes_are_found),
      TEST(faults_of_arrays_are_found), TEST(threads_share_packed_arrays),
      TEST(one_worker_goes_through_packed_arrays), TEST(stages_may_be_numpys),
      TEST(memory_may_be_out))
