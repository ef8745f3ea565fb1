// Semantic axes as values: defaults, what follows what, replacing, JSON, printing, equality, hash.
#include <string.h>

#include "base/text_internal.h"
#include "json/json.h"
#include "rules/axes_internal.h"
#include "rules/entries.h"
#include "rules/logical_internal.h"
#include "support/test.h"
#include "tessera/compat/eformer_axes.h"

static const char defaults[] =
    "{'data_parallel_axis':'dp','fully_sharded_data_parallel_axis':'fsdp',"
    "'tensor_parallel_axis':'tp','sequence_parallel_axis':'sp','expert_parallel_axis':'ep',"
    "'batch_axis':['fsdp','dp'],'sequence_axis':'sp','query_sequence_axis':'sp','head_axis':'tp',"
    "'kv_head_axis':'tp','key_sequence_axis':'sp','hidden_state_axis':'tp',"
    "'mlp_intermediate_axis':'tp','vocab_axis':'tp','expert_axis':'ep','expert_gate_axis':null,"
    "'attention_dim_axis':null,'attention_kv_dim_axis':null,'bias_head_sequence_axis':null,"
    "'bias_key_sequence_axis':null,'decode_batch_axis':['fsdp','dp'],"
    "'decode_query_sequence_axis':null,'decode_head_axis':'tp','decode_kv_head_axis':'tp',"
    "'decode_key_sequence_axis':'sp','decode_attention_dim_axis':null,"
    "'decode_attention_kv_dim_axis':null}";

static void assert_field(const tsr_axes *axes, tsr_axis_field field, const char *wanted) {
  tsr_logical_names names;
  assert_ok(tsr_logical_names_init(&names, tsr_axes_at(axes, field), 1));
  assert_names(&names, wanted);
}

static void fields_have_eformers_defaults(void **state) {
  (void)state;
  tsr_axes *axes = axes_of("null"), *empty = axes_of("{}"), *none = NULL;
  assert_ok(tsr_axes_replace_json(NULL, NULL, &none));
  assert_axes(axes, defaults);
  assert_true(tsr_axes_equal(axes, empty) && tsr_axes_equal(axes, none));
  tsr_axes_release(axes);
  tsr_axes_release(empty);
  tsr_axes_release(none);
}

static void fields_not_given_follow_others(void **state) {
  (void)state;
  tsr_axes *axes = axes_of("{'tensor_parallel_axis':'mdl','data_parallel_axis':'dat'}");
  assert_field(axes, TSR_FIELD_HEAD, "['mdl']");
  assert_field(axes, TSR_FIELD_DECODE_KV_HEAD, "['mdl']");
  assert_field(axes, TSR_FIELD_BATCH, "[['fsdp','dat']]");
  assert_field(axes, TSR_FIELD_DECODE_BATCH, "[['fsdp','dat']]");
  assert_true(tsr_axes_is_given(axes, TSR_FIELD_TENSOR_PARALLEL));
  assert_false(tsr_axes_is_given(axes, TSR_FIELD_HEAD));
  tsr_axes_release(axes);
  // Nothing, given, is not the same as not given.
  axes = axes_of("{'head_axis':null,'batch_axis':['a','b']}");
  assert_field(axes, TSR_FIELD_HEAD, "[null]");
  assert_field(axes, TSR_FIELD_DECODE_HEAD, "[null]");
  assert_field(axes, TSR_FIELD_KV_HEAD, "['tp']");
  assert_field(axes, TSR_FIELD_DECODE_BATCH, "[['a','b']]");
  tsr_axes_release(axes);
  axes = axes_of("{'data_parallel_axis':null,'fully_sharded_data_parallel_axis':['x','y']}");
  assert_field(axes, TSR_FIELD_BATCH, "[['x','y',null]]");
  tsr_axes_release(axes);
}

static void replacing_lets_derived_fields_follow(void **state) {
  (void)state;
  const tsr_field_value change = {.field = TSR_FIELD_TENSOR_PARALLEL,
                                  .entry = TSR_LOGICAL_NAME("mdl")};
  tsr_axes *axes = axes_of("{'vocab_axis':'v'}"), *changed = NULL, *back = NULL;
  assert_ok(tsr_axes_replace(axes, &change, 1, &changed));
  assert_field(changed, TSR_FIELD_HEAD, "['mdl']");
  assert_field(changed, TSR_FIELD_DECODE_HEAD, "['mdl']");
  assert_field(changed, TSR_FIELD_VOCAB, "['v']");
  assert_field(axes, TSR_FIELD_HEAD, "['tp']");
  // And back, by taking what was given away.
  const tsr_field_value undo = {.field = TSR_FIELD_TENSOR_PARALLEL, .not_given = true};
  assert_ok(tsr_axes_replace(changed, &undo, 1, &back));
  assert_true(tsr_axes_equal(axes, back));
  assert_false(tsr_axes_is_given(back, TSR_FIELD_TENSOR_PARALLEL));
  tsr_axes_release(axes);
  tsr_axes_release(changed);
  tsr_axes_release(back);
  // A field given before stays what it is, though what it would follow changes.
  json_text text = json_of("{'data_parallel_axis':'dat','head_axis':'g'}");
  axes = axes_of("{'head_axis':'h'}");
  assert_ok(tsr_axes_replace_json(axes, tsr_json_root(text.doc), &changed));
  assert_field(changed, TSR_FIELD_BATCH, "[['fsdp','dat']]");
  assert_field(changed, TSR_FIELD_HEAD, "['g']");
  assert_field(changed, TSR_FIELD_DECODE_HEAD, "['g']");
  tsr_axes_release(axes);
  tsr_axes_release(changed);
  json_free(&text);
}

static void faults_are_named(void **state) {
  (void)state;
  static const struct {
    const char *json;
    tsr_cause cause;
    const char *message;
  } cases[] = {
      {"{'no_such_field':'x'}", TSR_CAUSE_UNKNOWN_FIELD,
       "semantic axes have no field \"no_such_field\""},
      {"{'hed_axis':'x'}", TSR_CAUSE_UNKNOWN_FIELD,
       "semantic axes have no field \"hed_axis\"; did you mean \"head_axis\"?"},
      {"[]", TSR_CAUSE_JSON_KIND, "semantic axes: wanted an object of fields, found array"},
      {"{'head_axis':3}", TSR_CAUSE_JSON_KIND, "head_axis: axis: wanted a string, found 3"},
      {"{'head_axis':[['x']]}", TSR_CAUSE_NESTED_TUPLE,
       "head_axis: a group inside a group, wanted an axis"},
      {"{'head_axis':{'unconstrained':true}}", TSR_CAUSE_BAD_ARGUMENT,
       "head_axis is unconstrained, wanted mesh axes or nothing"},
      {"{'he\\u0000ad':'x'}", TSR_CAUSE_SYNTAX, "a name with a zero byte"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    json_text text = json_of(cases[i].json);
    tsr_axes *axes = NULL;
    tsr_status status = tsr_axes_replace_json(NULL, tsr_json_root(text.doc), &axes);
    assert_int_equal(tsr_status_cause(status), cases[i].cause);
    assert_message(status, cases[i].message);
    assert_null(axes);
    tsr_status_free(status);
    json_free(&text);
  }
  const tsr_field_value nowhere = {.field = TSR_FIELD_NONE}, past = {.field = TSR_FIELD_COUNT};
  const tsr_field_value broken = {.field = TSR_FIELD_HEAD, .entry = {TSR_ENTRY_NAME, 1, NULL}};
  tsr_axes *axes = NULL;
  assert_fails(tsr_axes_create(&nowhere, 1, &axes), UNKNOWN_FIELD,
               "field -1, wanted one of the 27 of tsr_axis_field");
  assert_fails(tsr_axes_create(&past, 1, &axes), UNKNOWN_FIELD,
               "field 27, wanted one of the 27 of tsr_axis_field");
  assert_fails(tsr_axes_create(&broken, 1, &axes), BAD_ARGUMENT,
               "head_axis: entry 0: an entry whose name 0 is NULL");
  assert_fails(tsr_axes_create(NULL, 1, &axes), BAD_ARGUMENT, "1 fields");
}

static void names_and_tokens_are_found(void **state) {
  (void)state;
  assert_int_equal(TSR_FIELD_COUNT, 27);
  for (int i = 0; i < TSR_FIELD_COUNT; i++) {
    const tsr_axis_field field = (tsr_axis_field)i;
    assert_int_equal(tsr_field_find(tsr_field_name(field)), field);
    if (tsr_field_token(field))
      assert_int_equal(tsr_field_find_token(tsr_field_token(field)), field);
    else
      assert_true(!strncmp(tsr_field_name(field), "decode_", 7));
  }
  assert_int_equal(tsr_field_find("nothing"), TSR_FIELD_NONE);
  assert_int_equal(tsr_field_find_token("_"), TSR_FIELD_NONE);
  assert_string_equal(tsr_field_token(TSR_FIELD_KEY_SEQUENCE), "__KV_LENGTH__");
}

static void what_was_given_reads_back(void **state) {
  (void)state;
  static const char *const cases[] = {"{}", "{'head_axis':null}",
                                      "{'tensor_parallel_axis':'mdl','batch_axis':['a','b']}",
                                      "{'vocab_axis':[],'expert_axis':['x']}"};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_text text = TSR_TEXT_EMPTY;
    tsr_json_writer writer;
    tsr_axes *axes = axes_of(cases[i]);
    tsr_json_writer_init(&writer, &text, 0);
    tsr_axes_to_json(axes, true, &writer);
    for (size_t c = 0; c < text.length; c++)
      if (text.data[c] == '"') text.data[c] = '\'';
    assert_string_equal(tsr_text_string(&text), cases[i]);
    tsr_axes *again = axes_of(tsr_text_string(&text));
    assert_true(tsr_axes_equal(axes, again));
    tsr_axes_release(axes);
    tsr_axes_release(again);
    tsr_text_deinit(&text);
  }
}

static void values_are_equal_by_all_fields(void **state) {
  (void)state;
  static const char *const different[] = {"{}",
                                          "{'head_axis':'q'}",
                                          "{'head_axis':null}",
                                          "{'head_axis':[]}",
                                          "{'head_axis':['tp']}",
                                          "{'tensor_parallel_axis':'q'}",
                                          "{'batch_axis':['dp','fsdp']}",
                                          "{'vocab_axis':'q'}",
                                          "{'batch_axis':['fs','dpdp']}",
                                          "{'batch_axis':['fsdpdp']}",
                                          "{'decode_query_sequence_axis':'sp'}"};
  enum { COUNT = COUNT_OF(different) };
  tsr_axes *axes[COUNT];
  for (size_t i = 0; i < COUNT; i++) axes[i] = axes_of(different[i]);
  for (size_t i = 0; i < COUNT; i++)
    for (size_t j = 0; j < COUNT; j++) {
      assert_true(tsr_axes_equal(axes[i], axes[j]) == (i == j));
      if (i != j) assert_true(tsr_axes_hash(axes[i]) != tsr_axes_hash(axes[j]));
    }
  for (size_t i = 0; i < COUNT; i++) tsr_axes_release(axes[i]);
  // Given or followed, the same values are the same.
  tsr_axes *plain = axes_of("{}"),
           *given = axes_of("{'head_axis':'tp','batch_axis':['fsdp','dp']}");
  assert_true(tsr_axes_equal(plain, given));
  assert_true(tsr_axes_hash(plain) == tsr_axes_hash(given));
  // The same number in every process and on every machine.
  assert_true(tsr_axes_hash(plain) == UINT64_C(0x0ee5237cbea4ca44));
  tsr_axes_release(plain);
  tsr_axes_release(given);
}

static void axes_are_shared(void **state) {
  (void)state;
  tsr_axes *axes = axes_of("{'head_axis':'q'}"), *same = tsr_axes_retain(axes);
  tsr_axes_release(axes);
  assert_field(same, TSR_FIELD_HEAD, "['q']");
  tsr_axes_release(same);
  tsr_axes_release(NULL);
}

static tsr_status make(void *context) {
  tsr_axes *axes = NULL, *changed = NULL;
  const tsr_json *root = tsr_json_root(((json_text *)context)->doc);
  tsr_status status = tsr_axes_replace_json(NULL, root, &axes);
  if (!status) status = tsr_axes_replace_json(axes, root, &changed);
  tsr_axes_release(axes);
  tsr_axes_release(changed);
  return status;
}

static void running_out_of_memory_is_a_status(void **state) {
  (void)state;
  json_text text = json_of("{'head_axis':['a','b'],'tensor_parallel_axis':'t'}");
  test_allocation_sweep(make, &text);
  json_free(&text);
}

SUITE(axes, TEST(fields_have_eformers_defaults), TEST(fields_not_given_follow_others),
      TEST(replacing_lets_derived_fields_follow), TEST(faults_are_named),
      TEST(names_and_tokens_are_found), TEST(what_was_given_reads_back),
      TEST(values_are_equal_by_all_fields), TEST(axes_are_shared),
      TEST(running_out_of_memory_is_a_status))
