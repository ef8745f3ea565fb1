// Headers to write: byte for byte those of the reference library, version 0.8.0.
#include <string.h>

#include "file/safetensors.h"
#include "support/test.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/shape.h"

static const int64_t eight[] = {8}, empty[] = {0, 3};

#define EIGHT(type, text) \
  { .path = (text), .dtype = TSR_##type, .rank = 1, .dims = eight }

static void the_order_is_the_reference_librarys(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {
      EIGHT(BOOL, "t"),
      EIGHT(F4E2M1FN, "f4"),
      EIGHT(U8, "u8"),
      EIGHT(BF16, "bf"),
      EIGHT(F32, "a"),
      EIGHT(F32, "Z\xc3\xa9\"\\\n\t\x01/\x7f\xe2\x80\xa8"),
      {.path = "empty", .dtype = TSR_F32, .rank = 2, .dims = empty},
      EIGHT(U64, "u64"),
      {.path = "s", .dtype = TSR_C64},
  };
  static const char wanted[] =
      "{\"__metadata__\":{\"b\":\"2\",\"format\":\"pt\"},"
      "\"u64\":{\"dtype\":\"U64\",\"shape\":[8],\"data_offsets\":[0,64]},"
      "\"s\":{\"dtype\":\"C64\",\"shape\":[],\"data_offsets\":[64,72]},"
      "\"Z\xc3\xa9\\\"\\\\\\n\\t\\u0001/\x7f\xe2\x80\xa8\":{\"dtype\":\"F32\",\"shape\":[8],"
      "\"data_offsets\":[72,104]},"
      "\"a\":{\"dtype\":\"F32\",\"shape\":[8],\"data_offsets\":[104,136]},"
      "\"empty\":{\"dtype\":\"F32\",\"shape\":[0,3],\"data_offsets\":[136,136]},"
      "\"bf\":{\"dtype\":\"BF16\",\"shape\":[8],\"data_offsets\":[136,152]},"
      "\"u8\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[152,160]},"
      "\"f4\":{\"dtype\":\"F4\",\"shape\":[8],\"data_offsets\":[160,164]},"
      "\"t\":{\"dtype\":\"BOOL\",\"shape\":[8],\"data_offsets\":[164,172]}}";
  tsr_safetensors_file file;
  const tsr_metadata metadata[] = {{"format", "pt"}, {"b", "2"}};
  assert_ok(tsr_safetensors_plan(tensors, COUNT_OF(tensors), metadata, 2, &file));
  const size_t length = sizeof wanted - 1, padded = (length + 7) / 8 * 8;
  assert_int_equal(file.length, padded + 8);
  assert_int_equal(file.size, padded + 8 + 172);
  assert_int_equal((unsigned char)file.header[0] | (unsigned char)file.header[1] << 8, padded);
  assert_memory_equal(file.header + 8, wanted, length);
  for (size_t i = length; i < padded; i++) assert_int_equal(file.header[8 + i], ' ');
  assert_int_equal(file.begins[7], file.length);
  assert_int_equal(file.begins[0], file.length + 164);
  tsr_safetensors_file_deinit(&file);
}

static void a_planned_file_is_read_back(void **state) {
  (void)state;
  const tsr_tensor tensors[] = {EIGHT(F32, "a"), EIGHT(I8, "b"), EIGHT(F6E3M2FN, "c")};
  tsr_safetensors_file file;
  tsr_model *model = NULL;
  assert_ok(tsr_safetensors_plan(tensors, 3, NULL, 0, &file));
  assert_ok(tsr_safetensors_parse(file.header, (size_t)file.length, file.size, &model));
  for (int i = 0; i < 3; i++) {
    const tsr_model_tensor *found =
        tsr_model_tensor_at(model, tsr_model_find(model, tensors[i].path));
    assert_int_equal(found->begin, file.begins[i]);
    assert_int_equal(found->tensor.dtype, tensors[i].dtype);
  }
  tsr_model_destroy(model);
  tsr_safetensors_file_deinit(&file);
}

static void nothing_is_a_file_too(void **state) {
  (void)state;
  tsr_safetensors_file file;
  assert_ok(tsr_safetensors_plan(NULL, 0, NULL, 0, &file));
  assert_int_equal(file.size, 16);
  assert_memory_equal(file.header, "\x08\0\0\0\0\0\0\0{}      ", 16);
  tsr_safetensors_file_deinit(&file);
}

static const int64_t three[] = {3}, huge[] = {INT64_C(1) << 61}, negative[] = {-1};
static const struct {
  tsr_tensor tensors[2];
  int count;
  tsr_cause cause;
  const char *message;
} bad[] = {
    {{EIGHT(I4, "x")},
     1,
     TSR_CAUSE_UNSUPPORTED,
     "tensor \"x\" is i4, which safetensors files cannot store"},
    {{EIGHT(F32, "x"), EIGHT(F16, "x")}, 2, TSR_CAUSE_BAD_ARGUMENT, "two tensors are called \"x\""},
    {{EIGHT(F32, "\xff")}, 1, TSR_CAUSE_BAD_ARGUMENT, "the name \"?\" is not UTF-8 at byte 0"},
    {{EIGHT(F32, "__metadata__")}, 1, TSR_CAUSE_BAD_ARGUMENT, "cannot be called \"__metadata__\""},
    {{{.path = "x", .dtype = TSR_F4E2M1FN, .rank = 1, .dims = three}},
     1,
     TSR_CAUSE_UNSUPPORTED,
     "tensor \"x\" has 3 elements of 4 bits, which do not fill whole bytes"},
    {{{.path = "x", .dtype = TSR_F64, .rank = 1, .dims = huge}},
     1,
     TSR_CAUSE_OVERFLOW,
     "tensor \"x\""},
    {{{.path = "x", .dtype = TSR_F64, .rank = 1, .dims = negative}},
     1,
     TSR_CAUSE_NONE,
     "tensor \"x\""},
};

static void what_cannot_be_written_is_named(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    tsr_safetensors_file file;
    tsr_status status = tsr_safetensors_plan(bad[i].tensors, bad[i].count, NULL, 0, &file);
    assert_non_null(status);
    if (bad[i].cause != TSR_CAUSE_NONE) assert_int_equal(tsr_status_cause(status), bad[i].cause);
    if (!strstr(tsr_status_text(status), bad[i].message)) fail_msg("%s", tsr_status_text(status));
    tsr_status_free(status);
  }
  tsr_safetensors_file file;
  const tsr_metadata metadata = {"k", "\xfe"};
  assert_fails_with(tsr_safetensors_plan(NULL, 0, &metadata, 1, &file), BAD_ARGUMENT,
                    "the metadata value");
}

static tsr_status plan_once(void *context) {
  const tsr_tensor tensors[] = {EIGHT(F32, "a"), EIGHT(I8, "b")};
  const tsr_metadata metadata = {"k", "v"};
  tsr_safetensors_file file;
  (void)context;
  TSR_TRY(tsr_safetensors_plan(tensors, 2, &metadata, 1, &file));
  tsr_safetensors_file_deinit(&file);
  return NULL;
}

static void planning_survives_failing_allocations(void **state) {
  (void)state;
  test_allocation_sweep(plan_once, NULL);
}

SUITE(safetensors_write, TEST(the_order_is_the_reference_librarys),
      TEST(a_planned_file_is_read_back), TEST(nothing_is_a_file_too),
      TEST(what_cannot_be_written_is_named), TEST(planning_survives_failing_allocations))
