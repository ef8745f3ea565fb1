// Shardy's attributes.
#include <string.h>

#include "syntax/reader_parts.h"

static tsr_status make(tsr_reader *reader, tsr_record_id id, const tsr_attr *const *fields,
                       const tsr_attr **out_attr) {
  const int count = tsr_record_info_of(id).field_count;
  for (int i = 0; i < count; i++)
    if (tsr_record_info_of(id).fields[i].required) TSR_NEED(fields[i]);
  *out_attr = tsr_attr_record(reader->ir, id, fields);
  TSR_NEED(*out_attr);
  return NULL;
}

static tsr_status read_name(tsr_reader *reader, const char *what, const tsr_attr **out_attr) {
  const char *bytes = NULL;
  size_t length = 0;
  TSR_TRY(tsr_read_string(reader, what, &bytes, &length));
  *out_attr = tsr_attr_string(reader->ir, bytes, length);
  TSR_NEED(*out_attr);
  return NULL;
}

static tsr_status read_number(tsr_reader *reader, const char *what, const tsr_attr **out_attr) {
  int64_t number = 0;
  TSR_TRY(tsr_read_int(reader, what, &number));
  *out_attr = tsr_attr_i64(reader->ir, number);
  TSR_NEED(*out_attr);
  return NULL;
}

static tsr_status add_name(tsr_reader *reader, void *context) {
  const tsr_attr *name = NULL;
  TSR_TRY(read_name(reader, "the name of an axis", &name));
  return tsr_attr_list_add(reader, context, name);
}

// {"x", "y"}
tsr_status tsr_read_sdy_names(tsr_reader *reader, tsr_record_id id, const tsr_attr **out_attr) {
  tsr_attr_list list = {NULL, 0};
  TSR_TRY(tsr_read_list(reader, "{", "}", add_name, &list));
  const tsr_attr *names = tsr_attr_array(reader->ir, list.items, list.count);
  return make(reader, id, &names, out_attr);
}

// ---- meshes ----

// "x"=2
tsr_status tsr_read_sdy_mesh_axis(tsr_reader *reader, tsr_record_id id, const tsr_attr **out_attr) {
  const tsr_attr *fields[2] = {NULL};
  TSR_TRY(read_name(reader, "the name of an axis", &fields[TSR_SDY_MESH_AXIS_NAME]));
  TSR_TRY(tsr_expect_sign(reader, "="));
  TSR_TRY(read_number(reader, "the size of an axis", &fields[TSR_SDY_MESH_AXIS_SIZE]));
  return make(reader, id, fields, out_attr);
}

// Whether the ids are 0 to the product of the axes - 1, in this order.
static bool is_iota(const tsr_attr *axes, const int64_t *ids, int64_t count) {
  int64_t product = 1;
  for (int64_t i = 0; i < axes->count; i++) {
    const int64_t size = tsr_attr_field(axes->items[i], TSR_SDY_MESH_AXIS_SIZE)->integer;
    if (__builtin_mul_overflow(product, size, &product)) return false;
  }
  for (int64_t i = 0; i < count; i++)
    if (ids[i] != i) return false;
  return axes->count && count == product;
}

// <["x"=2, "y"=4], device_ids=[1, 0, ...]>; ids in order are those of a mesh without ids.
tsr_status tsr_read_sdy_mesh(tsr_reader *reader, tsr_record_id id, const tsr_attr **out_attr) {
  const tsr_attr *fields[2] = {NULL};
  const int64_t *ids = NULL;
  int64_t count = 0;
  TSR_TRY(tsr_expect_sign(reader, "<"));
  TSR_TRY(
      tsr_read_record_list(reader, "[", "]", TSR_RECORD_SDY_MESH_AXIS, &fields[TSR_SDY_MESH_AXES]));
  if (tsr_take_sign(reader, ",")) {
    TSR_TRY(tsr_expect_word(reader, "device_ids"));
    TSR_TRY(tsr_expect_sign(reader, "="));
    TSR_TRY(tsr_read_int_list(reader, &ids, &count));
  }
  TSR_TRY(tsr_expect_sign(reader, ">"));
  if (is_iota(fields[TSR_SDY_MESH_AXES], ids, count)) count = 0;
  fields[TSR_SDY_MESH_DEVICE_IDS] = tsr_attr_ints(reader->ir, ids, count);
  return make(reader, id, fields, out_attr);
}

// ---- shardings ----

// "x" or "x":(1)2
tsr_status tsr_read_sdy_axis(tsr_reader *reader, tsr_record_id id, const tsr_attr **out_attr) {
  const tsr_attr *fields[2] = {NULL};
  TSR_TRY(read_name(reader, "the name of an axis", &fields[TSR_SDY_AXIS_NAME]));
  if (tsr_take_sign(reader, ":"))
    TSR_TRY(tsr_read_record_body(reader, TSR_RECORD_SDY_SUB_AXIS, &fields[TSR_SDY_AXIS_SUB_AXIS]));
  return make(reader, id, fields, out_attr);
}

// p1 behind a dimension.
static tsr_status read_priority(tsr_reader *reader, const tsr_attr **out_attr) {
  const tsr_token token = reader->token;
  if (token.kind != TSR_TOKEN_WORD) return NULL;
  int64_t priority = 0;
  bool valid = *token.start == 'p' && tsr_token_length(&token) > 1 &&
               (token.start[1] != '0' || tsr_token_length(&token) == 2);
  for (const char *c = token.start + 1; valid && c < token.end; c++)
    valid = *c >= '0' && *c <= '9' && !__builtin_mul_overflow(priority, (int64_t)10, &priority) &&
            !__builtin_add_overflow(priority, *c - '0', &priority);
  if (!valid) return tsr_reader_expected(reader, "a priority such as p0 or p12");
  tsr_next(reader);
  *out_attr = tsr_attr_i64(reader->ir, priority);
  TSR_NEED(*out_attr);
  return NULL;
}

// {"x", "y":(1)2, ?}p1
tsr_status tsr_read_sdy_dim(tsr_reader *reader, tsr_record_id id, const tsr_attr **out_attr) {
  const tsr_attr *fields[3] = {NULL};
  tsr_attr_list axes = {NULL, 0};
  bool open = false;
  TSR_TRY(tsr_expect_sign(reader, "{"));
  while (!tsr_at_sign(reader, "}") && !open) {
    if (axes.count && !tsr_take_sign(reader, ","))
      return tsr_reader_expected(reader, "\",\" or \"}\"");
    open = tsr_take_sign(reader, "?");
    if (open) break;
    const tsr_attr *axis = NULL;
    TSR_TRY(tsr_read_record_body(reader, TSR_RECORD_SDY_AXIS, &axis));
    TSR_TRY(tsr_attr_list_add(reader, &axes, axis));
  }
  TSR_TRY(tsr_expect_sign(reader, "}"));
  fields[TSR_SDY_DIM_AXES] = tsr_attr_array(reader->ir, axes.items, axes.count);
  fields[TSR_SDY_DIM_CLOSED] = tsr_attr_bool(reader->ir, !open);
  TSR_TRY(read_priority(reader, &fields[TSR_SDY_DIM_PRIORITY]));
  return make(reader, id, fields, out_attr);
}

static tsr_status read_mesh_or_name(tsr_reader *reader, const tsr_attr **out_attr) {
  if (tsr_take_word(reader, "mesh"))
    return tsr_read_record_body(reader, TSR_RECORD_SDY_MESH, out_attr);
  const char *name = NULL;
  TSR_TRY(tsr_read_symbol_name(reader, &name));
  *out_attr = tsr_attr_symbol(reader->ir, name, strlen(name));
  TSR_NEED(*out_attr);
  return NULL;
}

// replicated={...} or unreduced=max{...}
static tsr_status read_named_axes(tsr_reader *reader, const tsr_attr **fields) {
  const bool replicated = tsr_at_word(reader, "replicated");
  const int field = replicated ? TSR_SDY_SHARDING_REPLICATED : TSR_SDY_SHARDING_UNREDUCED;
  if ((!replicated && !tsr_at_word(reader, "unreduced")) || fields[field])
    return tsr_reader_expected(reader, "one of replicated unreduced, each once");
  tsr_next(reader);
  TSR_TRY(tsr_expect_sign(reader, "="));
  if (!replicated && tsr_at_kind(reader, TSR_TOKEN_WORD))
    TSR_TRY(tsr_read_enum(reader, TSR_ENUM_SDY_REDUCTION, &fields[TSR_SDY_SHARDING_REDUCTION]));
  return tsr_read_record_list(reader, "{", "}", TSR_RECORD_SDY_AXIS, &fields[field]);
}

// <@mesh, [{"x"}, {?}], replicated={"y"}, unreduced={"z"}>
tsr_status tsr_read_sdy_sharding(tsr_reader *reader, tsr_record_id id, const tsr_attr **out_attr) {
  const tsr_attr *fields[5] = {NULL};
  TSR_TRY(tsr_expect_sign(reader, "<"));
  TSR_TRY(read_mesh_or_name(reader, &fields[TSR_SDY_SHARDING_MESH]));
  TSR_TRY(tsr_expect_sign(reader, ","));
  TSR_TRY(
      tsr_read_record_list(reader, "[", "]", TSR_RECORD_SDY_DIM, &fields[TSR_SDY_SHARDING_DIMS]));
  while (tsr_take_sign(reader, ",")) TSR_TRY(read_named_axes(reader, fields));
  TSR_TRY(tsr_expect_sign(reader, ">"));
  const tsr_attr *none = tsr_attr_array(reader->ir, NULL, 0);
  if (!fields[TSR_SDY_SHARDING_REPLICATED]) fields[TSR_SDY_SHARDING_REPLICATED] = none;
  if (!fields[TSR_SDY_SHARDING_UNREDUCED]) fields[TSR_SDY_SHARDING_UNREDUCED] = none;
  if (!fields[TSR_SDY_SHARDING_REDUCTION])
    fields[TSR_SDY_SHARDING_REDUCTION] =
        tsr_attr_enum(reader->ir, TSR_ENUM_SDY_REDUCTION, TSR_SDY_REDUCTION_SUM);
  return make(reader, id, fields, out_attr);
}

// ---- lists ----

// A record of one list: between braces for axes, between square brackets otherwise.
tsr_status tsr_read_sdy_list(tsr_reader *reader, tsr_record_id id, const tsr_attr **out_attr) {
  const tsr_record_id element = (tsr_record_id)tsr_record_info_of(id).fields[0].id;
  const bool braces = id == TSR_RECORD_SDY_AXIS_LIST;
  const tsr_attr *list = NULL;
  TSR_TRY(tsr_read_record_list(reader, braces ? "{" : "[", braces ? "}" : "]", element, &list));
  return make(reader, id, &list, out_attr);
}

// {"x"}: 0->1
tsr_status tsr_read_sdy_all_to_all(tsr_reader *reader, tsr_record_id id,
                                   const tsr_attr **out_attr) {
  const tsr_attr *fields[3] = {NULL};
  TSR_TRY(tsr_read_record_list(reader, "{", "}", TSR_RECORD_SDY_AXIS,
                               &fields[TSR_SDY_ALL_TO_ALL_AXES]));
  TSR_TRY(tsr_expect_sign(reader, ":"));
  TSR_TRY(read_number(reader, "a dimension", &fields[TSR_SDY_ALL_TO_ALL_SOURCE]));
  TSR_TRY(tsr_expect_sign(reader, "->"));
  TSR_TRY(read_number(reader, "a dimension", &fields[TSR_SDY_ALL_TO_ALL_TARGET]));
  return make(reader, id, fields, out_attr);
}

// ---- sharding rules ----

typedef struct factor_list {
  int64_t *values, count;
} factor_list;

static tsr_status add_factor(tsr_reader *reader, factor_list *list, int64_t factor) {
  int64_t *values = tsr_arena_grow(&reader->ir->arena, list->values, list->count, sizeof *values);
  TSR_NEED(values);
  list->values = values;
  values[list->count++] = factor;
  return NULL;
}

// One factor of a word: a letter from i to z, or z_1, z_2 and so on; -1 = none.
static int64_t factor_at(const char **at, const char *end) {
  if (end - *at < 2 || (*at)[0] != 'z' || (*at)[1] != '_') {
    const char letter = *(*at)++;
    return letter >= 'i' && letter <= 'z' ? letter - 'i' : -1;
  }
  *at += 2;
  int64_t number = 0;
  const char *start = *at;
  for (; *at < end && **at >= '0' && **at <= '9'; ++*at) {
    number = number * 10 + (**at - '0');
    if (number > INT32_MAX) return -1;
  }
  return *at == start || *start == '0' ? -1 : number + ('z' - 'i');
}

// The factors of the current word, at least one.
static tsr_status read_factors(tsr_reader *reader, factor_list *list) {
  const tsr_token token = reader->token;
  const char *const what = "factors: letters from i to z, or z_1, z_2, ...";
  if (token.kind != TSR_TOKEN_WORD) return tsr_reader_expected(reader, what);
  for (const char *at = token.start; at < token.end;) {
    const int64_t factor = factor_at(&at, token.end);
    if (factor < 0) return tsr_reader_expected(reader, what);
    TSR_TRY(add_factor(reader, list, factor));
  }
  tsr_next(reader);
  return NULL;
}

// ij
tsr_status tsr_read_sdy_dim_mapping(tsr_reader *reader, tsr_record_id id,
                                    const tsr_attr **out_attr) {
  factor_list list = {NULL, 0};
  TSR_TRY(read_factors(reader, &list));
  const tsr_attr *factors = tsr_attr_ints(reader->ir, list.values, list.count);
  return make(reader, id, &factors, out_attr);
}

// i=8; factors are given in order.
static tsr_status read_size(tsr_reader *reader, void *context) {
  factor_list *sizes = context;
  const char *at = reader->token.start;
  factor_list factor = {NULL, 0};
  TSR_TRY(read_factors(reader, &factor));
  if (factor.count != 1 || factor.values[0] != sizes->count)
    return tsr_reader_fail(reader, at, SYNTAX,
                           "the sizes of factors are given in order from i on, one each");
  TSR_TRY(tsr_expect_sign(reader, "="));
  int64_t size = 0;
  TSR_TRY(tsr_read_int(reader, "the size of a factor", &size));
  return add_factor(reader, sizes, size);
}

static tsr_status read_one_factor(tsr_reader *reader, void *context) {
  factor_list *list = context;
  const char *at = reader->token.start;
  const int64_t before = list->count;
  TSR_TRY(read_factors(reader, list));
  return list->count == before + 1
             ? NULL
             : tsr_reader_fail(reader, at, SYNTAX, "expected one factor, found several");
}

static tsr_status read_factor_set(tsr_reader *reader, const char *word, const tsr_attr **out_attr) {
  factor_list list = {NULL, 0};
  if (tsr_take_word(reader, word)) {
    TSR_TRY(tsr_expect_sign(reader, "="));
    TSR_TRY(tsr_read_list(reader, "{", "}", read_one_factor, &list));
  }
  *out_attr = tsr_attr_ints(reader->ir, list.values, list.count);
  TSR_NEED(*out_attr);
  return NULL;
}

// <([i, j], [j, k])->([i, k]) {i=8, j=16, k=8} reduction={j}, custom>
tsr_status tsr_read_sdy_rule(tsr_reader *reader, tsr_record_id id, const tsr_attr **out_attr) {
  static const struct {
    const char *word;
    int field;
  } sets[] = {{"reduction", TSR_SDY_RULE_REDUCTION},
              {"need_replication", TSR_SDY_RULE_NEED_REPLICATION},
              {"permutation", TSR_SDY_RULE_PERMUTATION},
              {"blocked_propagation", TSR_SDY_RULE_BLOCKED}};
  const tsr_attr *fields[8] = {NULL};
  TSR_TRY(tsr_expect_sign(reader, "<"));
  TSR_TRY(tsr_read_record_list(reader, "(", ")", TSR_RECORD_SDY_TENSOR_MAPPING,
                               &fields[TSR_SDY_RULE_OPERANDS]));
  TSR_TRY(tsr_expect_sign(reader, "->"));
  TSR_TRY(tsr_read_record_list(reader, "(", ")", TSR_RECORD_SDY_TENSOR_MAPPING,
                               &fields[TSR_SDY_RULE_RESULTS]));
  factor_list sizes = {NULL, 0};
  if (tsr_at_sign(reader, "{")) TSR_TRY(tsr_read_list(reader, "{", "}", read_size, &sizes));
  fields[TSR_SDY_RULE_SIZES] = tsr_attr_ints(reader->ir, sizes.values, sizes.count);
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    TSR_TRY(read_factor_set(reader, sets[i].word, &fields[sets[i].field]));
  const bool custom = tsr_take_sign(reader, ",");
  if (custom) TSR_TRY(tsr_expect_word(reader, "custom"));
  fields[TSR_SDY_RULE_CUSTOM] = tsr_attr_bool(reader->ir, custom);
  TSR_TRY(tsr_expect_sign(reader, ">"));
  return make(reader, id, fields, out_attr);
}
