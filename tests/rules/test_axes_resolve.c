// From semantic names to mesh axes: modes, groups, the registry.
#include <stdio.h>

#include "rules/axes_internal.h"
#include "rules/entries.h"
#include "rules/logical_internal.h"
#include "support/test.h"
#include "tessera/compat/eformer_axes.h"

// A row resolves in a mode to this JSON, or fails with a message.
typedef struct resolving {
  const char *fields, *names;
  tsr_mode mode;
  const char *wanted;
} resolving;

static void check(const resolving *row, const tsr_axis_registry *registry) {
  tsr_axes *axes = axes_of(row->fields);
  tsr_logical_names names = names_of(row->names), found = {0};
  tsr_status status = tsr_axes_resolve(axes, registry, &names, row->mode, &found);
  if (status)
    assert_message(status, row->wanted);
  else
    assert_names(&found, row->wanted);
  tsr_status_free(status);
  tsr_logical_names_deinit(&names);
  tsr_axes_release(axes);
}

static const char decoding[] =
    "{'decode_batch_axis':'db','decode_query_sequence_axis':'dq','decode_head_axis':null,"
    "'head_axis':['tp','ep']}";

static void tokens_mean_their_fields(void **state) {
  (void)state;
  static const resolving rows[] = {
      {"{}", "[]", TSR_MODE_TRAIN, "[]"},
      {"{}", "['__BATCH__','_',null,'__HEAD__','__HEAD_DIM__']", TSR_MODE_TRAIN,
       "[['fsdp','dp'],null,null,'tp',null]"},
      {"{}", "['__HEAD__','__EMBED__']", TSR_MODE_TRAIN, "['tp','tp']"},
      {"{}", "[{'unconstrained':true}]", TSR_MODE_TRAIN, "[{'unconstrained':true}]"},
      {"{}", "['__HAED__']", TSR_MODE_TRAIN,
       "dimension 0: there is no semantic axis \"__HAED__\"; did you mean \"__HEAD__\"?"},
      {"{}", "['_','head_axis']", TSR_MODE_TRAIN,
       "dimension 1: \"head_axis\" is a field, wanted a semantic axis; did you mean "
       "\"__HEAD__\"?"},
      {"{}", "['decode_head_axis']", TSR_MODE_TRAIN,
       "dimension 0: there is no semantic axis \"decode_head_axis\""},
      {"{}", "['tp']", TSR_MODE_TRAIN, "dimension 0: there is no semantic axis \"tp\""},
  };
  for (size_t i = 0; i < COUNT_OF(rows); i++) check(&rows[i], NULL);
}

// eformer's _SEMANTIC_MAP, with its defaults.
static void every_token_has_a_field(void **state) {
  (void)state;
  static const resolving rows[] = {
      {"{}", "['__BATCH__']", TSR_MODE_TRAIN, "[['fsdp','dp']]"},
      {"{}", "['__LENGTH__']", TSR_MODE_TRAIN, "['sp']"},
      {"{}", "['__QUERY_LENGTH__']", TSR_MODE_TRAIN, "['sp']"},
      {"{}", "['__KV_LENGTH__']", TSR_MODE_TRAIN, "['sp']"},
      {"{}", "['__EMBED__']", TSR_MODE_TRAIN, "['tp']"},
      {"{}", "['__HEAD__']", TSR_MODE_TRAIN, "['tp']"},
      {"{}", "['__KV_HEAD__']", TSR_MODE_TRAIN, "['tp']"},
      {"{}", "['__MLP_INTERMEDIATE__']", TSR_MODE_TRAIN, "['tp']"},
      {"{}", "['__VOCAB__']", TSR_MODE_TRAIN, "['tp']"},
      {"{}", "['__EXPERT__']", TSR_MODE_TRAIN, "['ep']"},
      {"{}", "['__EXPERT_GATE__']", TSR_MODE_TRAIN, "[null]"},
      {"{}", "['__HEAD_DIM__']", TSR_MODE_TRAIN, "[null]"},
      {"{}", "['__KV_HEAD_DIM__']", TSR_MODE_TRAIN, "[null]"},
      {"{}", "['__BIAS_HEAD_SEQ__']", TSR_MODE_TRAIN, "[null]"},
      {"{}", "['__BIAS_KV_SEQ__']", TSR_MODE_TRAIN, "[null]"},
      {"{}", "['__DATA_PARALLEL__']", TSR_MODE_TRAIN, "['dp']"},
      {"{}", "['__FULLY_SHARDED_DATA_PARALLEL__']", TSR_MODE_TRAIN, "['fsdp']"},
      {"{}", "['__TENSOR_PARALLEL__']", TSR_MODE_TRAIN, "['tp']"},
      {"{}", "['__SEQUENCE_PARALLEL__']", TSR_MODE_TRAIN, "['sp']"},
      {"{}", "['__EXPERT_PARALLEL__']", TSR_MODE_TRAIN, "['ep']"},
  };
  for (size_t i = 0; i < COUNT_OF(rows); i++) check(&rows[i], NULL);
}

static void generation_modes_take_decode_fields_that_are_set(void **state) {
  (void)state;
  static const struct {
    tsr_mode mode;
    const char *wanted;
  } modes[] = {
      {TSR_MODE_TRAIN, "[['fsdp','dp'],'sp',['tp','ep'],'sp']"},
      {TSR_MODE_PREFILL, "[['fsdp','dp'],'sp',['tp','ep'],'sp']"},
      {TSR_MODE_DECODE, "['db','dq',['tp','ep'],'sp']"},
      {TSR_MODE_INSERT, "['db','dq',['tp','ep'],'sp']"},
  };
  for (size_t i = 0; i < COUNT_OF(modes); i++)
    check(&(resolving){decoding, "['__BATCH__','__QUERY_LENGTH__','__HEAD__','__LENGTH__']",
                       modes[i].mode, modes[i].wanted},
          NULL);
  // Nothing cannot switch cutting off when decoding; an empty group can.
  check(&(resolving){"{'decode_query_sequence_axis':[]}", "['__QUERY_LENGTH__']", TSR_MODE_DECODE,
                     "[[]]"},
        NULL);
}

static void groups_are_flat_and_hold_no_nothing(void **state) {
  (void)state;
  static const resolving rows[] = {
      {"{}", "[[],['__HEAD__'],['__HEAD__','__LENGTH__']]", TSR_MODE_TRAIN,
       "[[],['tp'],['tp','sp']]"},
      // eformer nests the first and keeps the nothings of the others.
      {"{}", "[['__BATCH__','__LENGTH__']]", TSR_MODE_TRAIN, "[['fsdp','dp','sp']]"},
      {"{}", "[['__EXPERT_GATE__','__LENGTH__'],['__EXPERT_GATE__']]", TSR_MODE_TRAIN,
       "[['sp'],[]]"},
      {"{}", "[['_','__LENGTH__'],[null,'__LENGTH__']]", TSR_MODE_TRAIN, "[['sp'],['sp']]"},
      {"{'batch_axis':['a',null]}", "['__BATCH__']", TSR_MODE_TRAIN, "[['a']]"},
      // Members may be fields and mesh axes.
      {"{}", "[['head_axis','pp','__LENGTH__']]", TSR_MODE_TRAIN, "[['tp','pp','sp']]"},
      {"{}", "[['__HEAD__','__VOCAB__']]", TSR_MODE_TRAIN, "[['tp','tp']]"},
      {decoding, "[['__BATCH__','batch_axis','head_axis','__HEAD__']]", TSR_MODE_DECODE,
       "[['db','db','tp','ep','tp','ep']]"},
      {decoding, "[['__BATCH__','batch_axis']]", TSR_MODE_PREFILL, "[['fsdp','dp','fsdp','dp']]"},
      {"{}", "[['replace','register']]", TSR_MODE_TRAIN, "[['replace','register']]"},
  };
  for (size_t i = 0; i < COUNT_OF(rows); i++) check(&rows[i], NULL);
}

static void specs_are_canonical(void **state) {
  (void)state;
  tsr_axes *axes = axes_of("{}");
  tsr_logical_names names = names_of("[['__HEAD__'],[],['__BATCH__','__LENGTH__'],'_']");
  tsr_spec *spec = NULL;
  assert_ok(tsr_axes_resolve_spec(axes, NULL, &names, TSR_MODE_TRAIN, &spec));
  assert_spec(spec, "tp, _, fsdp+dp+sp, _");
  tsr_logical_names_deinit(&names);
  tsr_axes_release(axes);
}

static void unknown_modes_are_refused(void **state) {
  (void)state;
  tsr_mode mode = TSR_MODE_TRAIN;
  for (int i = 0; i < TSR_MODE_COUNT; i++) {
    assert_ok(tsr_mode_parse(tsr_mode_name((tsr_mode)i), &mode));
    assert_int_equal(mode, i);
  }
  assert_fails(tsr_mode_parse("__trian__", &mode), UNKNOWN_MODE,
               "there is no mode \"__trian__\"; did you mean \"__train__\"?");
  assert_fails(tsr_mode_parse("", &mode), UNKNOWN_MODE, "there is no mode \"\"");
  check(&(resolving){"{}", "['_']", TSR_MODE_COUNT, "mode 4, wanted one of tsr_mode"}, NULL);
}

// ---- the registry ----

static void add(tsr_axis_registry *registry, const char *name, const char *rules, bool override) {
  tsr_logical_names list = names_of(rules);
  assert_ok(tsr_axis_registry_add(registry, name, &list.items[0],
                                  list.count > 1 ? &list.items[1] : NULL, override));
  tsr_logical_names_deinit(&list);
}

static void registered_names_are_followed(void **state) {
  (void)state;
  // A name, its rule and generation rule, and what it resolves to in training and decoding.
  static const struct {
    const char *rules, *names, *train, *decode;
  } cases[] = {
      {"['pp']", "['STAGE']", "['pp']", "['pp']"},
      {"['pp','gp']", "['STAGE']", "['pp']", "['gp']"},
      {"['pp',null]", "['STAGE']", "['pp']", "[null]"},
      {"[['tp','pp']]", "['STAGE']", "[['tp','pp']]", "[['tp','pp']]"},
      {"[['pp']]", "['STAGE']", "[['pp']]", "[['pp']]"},
      // One field brings its twin, even where that is nothing.
      {"['batch_axis']", "['STAGE']", "[['fsdp','dp']]", "['db']"},
      {"['head_axis']", "['STAGE']", "[['tp','ep']]", "[null]"},
      {"['vocab_axis']", "['STAGE']", "['tp']", "['tp']"},
      // Others do not.
      {"['__BATCH__']", "['STAGE']", "[['fsdp','dp']]", "[['fsdp','dp']]"},
      {"[['batch_axis','pp']]", "['STAGE']", "[['fsdp','dp','pp']]", "[['fsdp','dp','pp']]"},
      {"['pp','gp']", "[['STAGE','__BATCH__']]", "[['pp','fsdp','dp']]", "[['gp','db']]"},
      {"[['pp','_',null]]", "['STAGE',['STAGE']]", "[['pp'],['pp']]", "[['pp'],['pp']]"},
      {"['_']", "['STAGE']", "[null]", "[null]"},
      {"[null]", "['STAGE']",
       "dimension 0: semantic axis \"STAGE\" is registered for nothing; a "
       "dimension that is not cut is \"_\"",
       "dimension 0: semantic axis \"STAGE\" is registered for nothing; a dimension that is not "
       "cut "
       "is \"_\""},
      {"[null,'gp']", "[['STAGE']]", "[['STAGE']]", "[['gp']]"},
      {"['STAGE']", "['STAGE']",
       "dimension 0: semantic axis \"STAGE\" is registered in terms of itself",
       "dimension 0: semantic axis \"STAGE\" is registered in terms of itself"},
      {"[['pp','STAGE']]", "['STAGE']",
       "dimension 0: semantic axis \"STAGE\" is registered in terms of itself",
       "dimension 0: semantic axis \"STAGE\" is registered in terms of itself"},
  };
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    tsr_axis_registry *registry = NULL;
    assert_ok(tsr_axis_registry_create(&registry));
    add(registry, "STAGE", cases[i].rules, false);
    check(&(resolving){decoding, cases[i].names, TSR_MODE_TRAIN, cases[i].train}, registry);
    check(&(resolving){decoding, cases[i].names, TSR_MODE_DECODE, cases[i].decode}, registry);
    tsr_axis_registry_destroy(registry);
  }
}

static void names_may_lead_to_names(void **state) {
  (void)state;
  tsr_axis_registry *registry = NULL;
  assert_ok(tsr_axis_registry_create(&registry));
  add(registry, "A", "['B']", false);
  add(registry, "B", "[['C','x']]", false);
  add(registry, "C", "['__BATCH__']", false);
  check(&(resolving){"{}", "['A','B','C']", TSR_MODE_TRAIN,
                     "[['fsdp','dp','x'],['fsdp','dp','x'],['fsdp','dp']]"},
        registry);
  add(registry, "C", "['A']", true);
  check(&(resolving){"{}", "['A']", TSR_MODE_TRAIN,
                     "dimension 0: semantic axis \"B\" is registered in terms of itself"},
        registry);
  tsr_axis_registry_destroy(registry);
}

static void long_and_wide_chains_end(void **state) {
  (void)state;
  tsr_axis_registry *registry = NULL;
  assert_ok(tsr_axis_registry_create(&registry));
  for (int i = 0; i < 70; i++) {
    char name[16], rule[64];
    snprintf(name, sizeof name, "L%d", i);
    snprintf(rule, sizeof rule, "['L%d']", i + 1);
    add(registry, name, rule, false);
    // Doubles at every step.
    snprintf(name, sizeof name, "W%d", i);
    snprintf(rule, sizeof rule, i < 30 ? "[['W%d','W%d']]" : "['_']", i + 1, i + 1);
    add(registry, name, rule, false);
  }
  check(&(resolving){"{}", "['L40']", TSR_MODE_TRAIN, "['L70']"}, registry);
  check(&(resolving){"{}", "['L0']", TSR_MODE_TRAIN,
                     "dimension 0: semantic axis \"L65\" refers to too many others"},
        registry);
  check(&(resolving){"{}", "['W25']", TSR_MODE_TRAIN, "[[]]"}, registry);
  tsr_axes *axes = axes_of("{}");
  tsr_logical_names names = names_of("['W0']"), found = {0};
  assert_fails_with(tsr_axes_resolve(axes, registry, &names, TSR_MODE_TRAIN, &found), TOO_LARGE,
                    "refers to too many others");
  tsr_logical_names_deinit(&names);
  tsr_axes_release(axes);
  tsr_axis_registry_destroy(registry);
}

static void a_dimension_has_a_largest_number_of_axes(void **state) {
  (void)state;
  tsr_axis_registry *registry = NULL;
  assert_ok(tsr_axis_registry_create(&registry));
  add(registry, "D0", "[['x','x']]", false);
  for (int i = 1; i < 13; i++) {
    char name[16], rule[64];
    snprintf(name, sizeof name, "D%d", i);
    snprintf(rule, sizeof rule, "[['D%d','D%d']]", i - 1, i - 1);
    add(registry, name, rule, false);
  }
  tsr_axes *axes = axes_of("{}");
  tsr_logical_names most = names_of("['D11']"), more = names_of("['D12']"), found = {0};
  assert_ok(tsr_axes_resolve(axes, registry, &most, TSR_MODE_TRAIN, &found));
  assert_int_equal(found.items[0].count, 4096);
  tsr_logical_names_deinit(&found);
  assert_fails(tsr_axes_resolve(axes, registry, &more, TSR_MODE_TRAIN, &found), TOO_LARGE,
               "dimension 0: more than 4096 mesh axes for one dimension");
  tsr_logical_names_deinit(&most);
  tsr_logical_names_deinit(&more);
  tsr_axes_release(axes);
  tsr_axis_registry_destroy(registry);
}

static void tokens_can_be_overridden(void **state) {
  (void)state;
  tsr_axis_registry *registry = NULL;
  assert_ok(tsr_axis_registry_create(&registry));
  add(registry, "__BATCH__", "['hh']", true);
  // A literal has no twin.
  check(&(resolving){decoding, "['__BATCH__']", TSR_MODE_TRAIN, "['hh']"}, registry);
  check(&(resolving){decoding, "['__BATCH__']", TSR_MODE_DECODE, "['hh']"}, registry);
  assert_ok(tsr_axis_registry_remove(registry, "__BATCH__", false));
  check(&(resolving){decoding, "['__BATCH__']", TSR_MODE_DECODE, "['db']"}, registry);
  tsr_axis_registry_destroy(registry);
}

static void the_registry_guards_its_names(void **state) {
  (void)state;
  tsr_axis_registry *registry = NULL;
  const tsr_logical_entry pp = TSR_LOGICAL_NAME("pp"), qq = TSR_LOGICAL_NAME("qq");
  const tsr_logical_entry broken = {TSR_ENTRY_NAME, 1, NULL};
  assert_ok(tsr_axis_registry_create(&registry));
  assert_ok(tsr_axis_registry_add(registry, "  STAGE\t", &pp, NULL, false));
  assert_fails(tsr_axis_registry_add(registry, "STAGE", &qq, NULL, false),
               SEMANTIC_AXIS_ALREADY_EXISTS,
               "semantic axis \"STAGE\" exists already, wanted a new name or override");
  assert_fails(tsr_axis_registry_add(registry, "__HEAD__", &qq, NULL, false),
               SEMANTIC_AXIS_ALREADY_EXISTS,
               "semantic axis \"__HEAD__\" exists already as a built-in, wanted a new name or "
               "override");
  assert_fails_with(tsr_axis_registry_add(registry, "_", &qq, NULL, false),
                    SEMANTIC_AXIS_ALREADY_EXISTS, "\"_\"");
  assert_fails(tsr_axis_registry_add(registry, " \n", &pp, NULL, false), EMPTY_SEMANTIC_AXIS,
               "a semantic axis without a name");
  assert_fails(tsr_axis_registry_add(registry, "X", &broken, NULL, false), BAD_ARGUMENT,
               "entry 0: an entry whose name 0 is NULL");
  assert_fails(tsr_axis_registry_add(registry, "X", &pp, &broken, false), BAD_ARGUMENT,
               "entry 0: an entry whose name 0 is NULL");
  assert_ok(tsr_axis_registry_add(registry, "STAGE", &qq, &pp, true));
  const tsr_registration *stage = tsr_axis_registry_find(registry, "STAGE");
  assert_string_equal(stage->name, "STAGE");
  assert_string_equal(stage->rules.items[0].names[0], "qq");
  assert_true(stage->has_generation_rule);
  assert_string_equal(stage->rules.items[1].names[0], "pp");
  add(registry, "B", "['batch_axis']", false);
  add(registry, "C", "['pp']", false);
  assert_string_equal(tsr_axis_registry_find(registry, "B")->rules.items[1].names[0],
                      "decode_batch_axis");
  assert_false(tsr_axis_registry_find(registry, "C")->has_generation_rule);
  assert_ok(tsr_axis_registry_remove(registry, " STAGE ", false));
  assert_null(tsr_axis_registry_find(registry, "STAGE"));
  assert_non_null(tsr_axis_registry_find(registry, "B"));
  assert_ok(tsr_axis_registry_remove(registry, "STAGE", true));
  assert_fails(tsr_axis_registry_remove(registry, "STAGE", false), SEMANTIC_AXIS_NOT_REGISTERED,
               "semantic axis \"STAGE\" is not registered");
  assert_fails(tsr_axis_registry_remove(registry, "", true), EMPTY_SEMANTIC_AXIS,
               "a semantic axis without a name");
  tsr_axis_registry_clear(registry);
  assert_null(tsr_axis_registry_find(registry, "B"));
  assert_null(tsr_axis_registry_find(registry, "C"));
  tsr_axis_registry_destroy(registry);
  tsr_axis_registry_destroy(NULL);
}

static void registered_names_are_suggested(void **state) {
  (void)state;
  tsr_axis_registry *registry = NULL;
  assert_ok(tsr_axis_registry_create(&registry));
  add(registry, "STAGE", "['pp']", false);
  check(&(resolving){"{}", "['STAEG']", TSR_MODE_TRAIN,
                     "dimension 0: there is no semantic axis \"STAEG\"; did you mean \"STAGE\"?"},
        registry);
  tsr_axis_registry_destroy(registry);
}

// ---- for any axes ----

enum { MOST = 4 };

// Some fields with random values, whose names live in `words`.
static tsr_axes *random_axes(test_random *random) {
  static const char *const words[] = {"dp", "fsdp", "tp", "sp", "", "x"};
  tsr_field_value values[MOST];
  const int count = (int)test_random_range(random, 0, MOST);
  for (int i = 0; i < count; i++) {
    const int kind = (int)test_random_range(random, 0, 3), start = kind;
    values[i] = (tsr_field_value){
        .field = (tsr_axis_field)test_random_range(random, 0, TSR_FIELD_COUNT - 1)};
    if (kind == 1) values[i].entry = (tsr_logical_entry){TSR_ENTRY_NAME, 1, &words[start]};
    if (kind > 1) values[i].entry = (tsr_logical_entry){TSR_ENTRY_GROUP, kind, &words[start]};
  }
  tsr_axes *axes = NULL;
  assert_ok(tsr_axes_create(values, count, &axes));
  return axes;
}

static const char *random_member(test_random *random) {
  const tsr_axis_field field = (tsr_axis_field)test_random_range(random, 0, TSR_FIELD_COUNT - 1);
  switch (test_random_range(random, 0, 5)) {
    case 0:
      return tsr_field_name(field);
    case 1:
      return "_";
    case 2:
      return "literal";
    default:
      return tsr_field_token(field) ? tsr_field_token(field) : "";
  }
}

static void assert_flat(const tsr_logical_entry *entry) {
  for (int i = 0; i < entry->count; i++) {
    assert_true(entry->names[i][0] != '\0');
    assert_string_not_equal(entry->names[i], "_");
  }
}

// A group resolves to what its members resolve to one by one, and prefill is like training.
static void groups_are_the_sum_of_their_members(void **state) {
  (void)state;
  test_random random = {23};
  for (int round = 0; round < 2000; round++) {
    tsr_axes *axes = random_axes(&random);
    const tsr_mode mode = (tsr_mode)test_random_range(&random, 0, TSR_MODE_COUNT - 1);
    const char *members[MOST];
    tsr_logical_entry entries[MOST + 1];
    for (int i = 0; i < MOST; i++) {
      members[i] = random_member(&random);
      entries[i] = (tsr_logical_entry){TSR_ENTRY_GROUP, 1, &members[i]};
    }
    entries[MOST] = (tsr_logical_entry){TSR_ENTRY_GROUP, MOST, members};
    const tsr_logical_names names = {MOST + 1, entries, NULL};
    tsr_logical_names found;
    assert_ok(tsr_axes_resolve(axes, NULL, &names, mode, &found));
    const tsr_logical_entry *whole = &found.items[MOST];
    int next = 0;
    for (int i = 0; i < MOST; i++) {
      assert_flat(&found.items[i]);
      for (int j = 0; j < found.items[i].count; j++)
        assert_string_equal(whole->names[next++], found.items[i].names[j]);
    }
    assert_int_equal(next, whole->count);
    tsr_spec *spec = NULL, *same = NULL;
    assert_ok(tsr_axes_resolve_spec(axes, NULL, &names, mode, &spec));
    assert_ok(tsr_logical_names_to_spec(&found, &same));
    assert_true(tsr_spec_equal(spec, same));
    tsr_spec_release(same);
    if (mode == TSR_MODE_PREFILL) {
      assert_ok(tsr_axes_resolve_spec(axes, NULL, &names, TSR_MODE_TRAIN, &same));
      assert_true(tsr_spec_equal(spec, same));
      tsr_spec_release(same);
    }
    tsr_spec_release(spec);
    tsr_logical_names_deinit(&found);
    tsr_axes_release(axes);
  }
}

// ---- memory ----

static tsr_status register_and_resolve(void *context) {
  tsr_axis_registry *registry = NULL;
  tsr_logical_names names = {0}, found = {0};
  tsr_spec *spec = NULL;
  const tsr_logical_entry rule = TSR_LOGICAL_GROUP("a", "__BATCH__"), entry = TSR_LOGICAL_NAME("S");
  const tsr_logical_entry list[] = {entry, TSR_LOGICAL_GROUP("S", "x", "S", "y", "S"),
                                    TSR_LOGICAL_NONE};
  tsr_status status = tsr_axis_registry_create(&registry);
  if (!status) status = tsr_axis_registry_add(registry, " S ", &rule, NULL, false);
  if (!status) status = tsr_axis_registry_add(registry, "S", &rule, &rule, true);
  if (!status) status = tsr_axis_registry_add(registry, "T", &entry, NULL, false);
  if (!status) status = tsr_axis_registry_remove(registry, "T", false);
  if (!status) status = tsr_logical_names_init(&names, list, 3);
  if (!status) status = tsr_axes_resolve(context, registry, &names, TSR_MODE_DECODE, &found);
  if (!status) status = tsr_axes_resolve_spec(context, registry, &names, TSR_MODE_DECODE, &spec);
  tsr_axis_registry_destroy(registry);
  tsr_logical_names_deinit(&names);
  tsr_logical_names_deinit(&found);
  tsr_spec_release(spec);
  return status;
}

static void running_out_of_memory_is_a_status(void **state) {
  (void)state;
  tsr_axes *axes = axes_of("{}");
  test_allocation_sweep(register_and_resolve, axes);
  tsr_axes_release(axes);
}

SUITE(axes_resolve, TEST(tokens_mean_their_fields), TEST(every_token_has_a_field),
      TEST(generation_modes_take_decode_fields_that_are_set),
      TEST(groups_are_flat_and_hold_no_nothing), TEST(specs_are_canonical),
      TEST(unknown_modes_are_refused), TEST(registered_names_are_followed),
      TEST(names_may_lead_to_names), TEST(long_and_wide_chains_end),
      TEST(a_dimension_has_a_largest_number_of_axes), TEST(tokens_can_be_overridden),
      TEST(the_registry_guards_its_names), TEST(registered_names_are_suggested),
      TEST(groups_are_the_sum_of_their_members), TEST(running_out_of_memory_is_a_status))
