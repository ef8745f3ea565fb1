// Headers of single files, in memory and on disk.
#include <string.h>

#include "file/safetensors.h"
#include "support/test.h"
#include "tessera/checkpoint/metadata.h"

// A file's first bytes: the length of `json`, then `json` itself.
static size_t make_file(const char *json, char *out) {
  const uint64_t length = strlen(json);
  for (int i = 0; i < 8; i++) out[i] = (char)(length >> (8 * i) & 0xff);
  memcpy(out + 8, json, length);
  return 8 + (size_t)length;
}

static tsr_status parse(const char *json, int64_t data_bytes, tsr_model **out_model) {
  char bytes[4096];
  const size_t length = make_file(json, bytes);
  return tsr_safetensors_parse(bytes, length, (int64_t)length + data_bytes, out_model);
}

static const char two_tensors[] =
    "{\"__metadata__\":{\"format\":\"pt\"},"
    "\"a\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
    "\"b\":{\"dtype\":\"BF16\",\"shape\":[],\"data_offsets\":[24,26]}}   ";

static void headers_list_their_tensors(void **state) {
  (void)state;
  tsr_model *model = NULL;
  assert_ok(parse(two_tensors, 26, &model));
  assert_int_equal(tsr_model_count(model), 2);
  const tsr_model_tensor *a = tsr_model_tensor_at(model, 0), *b = tsr_model_tensor_at(model, 1);
  assert_string_equal(a->tensor.path, "a");
  assert_int_equal(a->tensor.dtype, TSR_F32);
  assert_int_equal(a->tensor.rank, 2);
  assert_int_equal(a->tensor.dims[1], 3);
  assert_int_equal(a->end - a->begin, 24);
  assert_int_equal(a->begin, 8 + (int64_t)strlen(two_tensors));
  assert_int_equal(b->tensor.rank, 0);
  assert_int_equal(b->begin, a->end);
  assert_int_equal(tsr_model_find(model, "b"), 1);
  assert_int_equal(tsr_model_find(model, "c"), -1);
  assert_int_equal(tsr_model_bytes(model), 26);
  assert_int_equal(tsr_model_file_count(model), 1);
  assert_string_equal(tsr_model_file(model, 0), "memory");
  const tsr_metadata *metadata = NULL;
  assert_int_equal(tsr_model_metadata(model, &metadata), 1);
  assert_string_equal(metadata->key, "format");
  assert_string_equal(metadata->value, "pt");
  assert_string_equal(tsr_model_warnings(model), "");
  tsr_model_destroy(model);
  tsr_model_destroy(NULL);
}

// clang-format off
static const struct {
  const char *json;
  int64_t data;
  tsr_cause cause;
  const char *part;
} faults[] = {
    {"[]", 0, TSR_CAUSE_BROKEN_FILE, "the header begins with byte 0x5b at byte 8"},
    {" {}", 0, TSR_CAUSE_BROKEN_FILE, "the header begins with byte 0x20 at byte 8"},
    {"{", 0, TSR_CAUSE_JSON_SYNTAX, "header: line 1, column 2 (byte 9)"},
    {"{\"a\":{},\"a\":{}}", 0, TSR_CAUSE_JSON_DUPLICATE_KEY, "a"},
    {"{\"a\":1}", 0, TSR_CAUSE_JSON_KIND, "tensor \"a\" at byte 13: its entry: wanted an object, found 1"},
    {"{\"a\":{\"shape\":[],\"data_offsets\":[0,1]}}", 1, TSR_CAUSE_JSON_KIND, "dtype"},
    {"{\"a\":{\"dtype\":\"float32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, TSR_CAUSE_UNKNOWN_DTYPE,
     "dtype \"float32\" is not one of safetensors'"},
    {"{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, TSR_CAUSE_JSON_KIND, "shape: missing, wanted an array"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":3,\"data_offsets\":[0,1]}}", 1, TSR_CAUSE_JSON_KIND, "shape: wanted an array, found 3"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]}}", 1, TSR_CAUSE_BAD_ARGUMENT, "-1"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1.5],\"data_offsets\":[0,1]}}", 1, TSR_CAUSE_NOT_AN_INTEGER, "shape"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"
     "\"data_offsets\":[0,1]}}", 1, TSR_CAUSE_TOO_LARGE, "shape: 33 dimensions, at most 32"},
    {"{\"a\":{\"dtype\":\"F64\",\"shape\":[4611686018427387903],\"data_offsets\":[0,1]}}", 1, TSR_CAUSE_OVERFLOW, ""},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, TSR_CAUSE_JSON_KIND, "data_offsets: missing"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0]}}", 1, TSR_CAUSE_JSON_KIND, "data_offsets: wanted two integers, found an array of 1"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,0]}}", 1, TSR_CAUSE_BROKEN_FILE, "data_offsets [1, 0] end before they begin"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", 1, TSR_CAUSE_BROKEN_FILE, "do not lie within the 1 bytes"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,1]}}", 1, TSR_CAUSE_BROKEN_FILE,
     "its type and shape take 2 bytes, its data_offsets 1"},
    {"{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,2]}}", 2, TSR_CAUSE_BROKEN_FILE,
     "3 elements of 4 bits do not fill whole bytes"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":0}}", 1, TSR_CAUSE_BROKEN_FILE,
     "field \"x\" is not one of dtype, shape, data_offsets"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}", 2, TSR_CAUSE_BROKEN_FILE,
     "belong to no tensor (before \"a\")"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]},\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}",
     3, TSR_CAUSE_BROKEN_FILE, "tensors \"b\" and \"a\" overlap"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 5, TSR_CAUSE_BROKEN_FILE, "at the end of the file belong to no tensor"},
    {"{\"__metadata__\":3}", 0, TSR_CAUSE_JSON_KIND, "__metadata__ at byte 24: its value: wanted an object of strings, found 3"},
    {"{\"__metadata__\":{\"k\":3}}", 0, TSR_CAUSE_JSON_KIND, "\"k\" at byte 29"},
    {"{\"a\\u0000b\":{}}", 0, TSR_CAUSE_BROKEN_FILE, "contains a zero byte"},
};
// clang-format on

static void every_fault_is_named(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(faults); i++) {
    tsr_model *model = NULL;
    test_assert_fails_with(parse(faults[i].json, faults[i].data, &model), faults[i].cause,
                           faults[i].part, __FILE__, __LINE__);
    assert_null(model);
  }
}

static void lengths_that_cannot_be_are_refused(void **state) {
  (void)state;
  tsr_model *model = NULL;
  const char huge[] = "\xff\xff\xff\xff\xff\xff\xff\xff{}";
  assert_fails_with(tsr_safetensors_parse(huge, 10, 10, &model), BROKEN_FILE, "at most 100000000");
  const char beyond[] = "\x20\0\0\0\0\0\0\0{}";
  assert_fails_with(tsr_safetensors_parse(beyond, 10, 10, &model), BROKEN_FILE,
                    "but the file has 10 in all");
  assert_fails_with(tsr_safetensors_parse(beyond, 10, 1000, &model), BROKEN_FILE, "10 bytes given");
  assert_fails_with(tsr_safetensors_parse(beyond, 4, 4, &model), BROKEN_FILE, "too few");
}

static void tensors_may_stand_in_any_order_and_be_empty(void **state) {
  (void)state;
  tsr_model *model = NULL;
  assert_ok(
      parse("{\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]},"
            "\"e\":{\"dtype\":\"F32\",\"shape\":[0,7],\"data_offsets\":[1,1]},"
            "\"f\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[3,5]},"
            "\"a\":{\"dtype\":\"BOOL\",\"shape\":[1],\"data_offsets\":[0,1]}}",
            5, &model));
  assert_int_equal(tsr_model_count(model), 4);
  assert_string_equal(tsr_model_tensor_at(model, 0)->tensor.path, "b");
  tsr_model_destroy(model);
}

static tsr_status parse_once(void *context) {
  (void)context;
  tsr_model *model = NULL;
  TSR_TRY(parse(two_tensors, 26, &model));
  tsr_model_destroy(model);
  return NULL;
}

static void running_out_of_memory_leaks_nothing(void **state) {
  (void)state;
  test_allocation_sweep(parse_once, NULL);
}

SUITE(safetensors, TEST(headers_list_their_tensors), TEST(every_fault_is_named),
      TEST(lengths_that_cannot_be_are_refused), TEST(tensors_may_stand_in_any_order_and_be_empty),
      TEST(running_out_of_memory_leaks_nothing))
