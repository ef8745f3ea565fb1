// Artifacts made byte by byte, to reach what no writer makes: cycles, depth, counts that lie.
#include <stdlib.h>
#include <string.h>

#include "base/text_internal.h"
#include "bytecode/bytecode.h"
#include "bytecode/write_internal.h"
#include "support/test.h"

// An artifact with the dialects builtin and foo and the ops builtin.module and foo.bar. Attribute 0
// is the unknown location, attribute 1 the string "x", attribute 2 the dictionary of the module,
// whose entry x is attribute 3; the test adds attributes from 3 on, and what the module contains.
typedef struct crafted {
  tsr_text sizes, entries, body;
  tsr_text type_sizes, types;                // after the attributes
  tsr_text resource_sizes, resource_values;  // none if empty
  int attr_count, type_count;
} crafted;

static const char *const strings[] = {"builtin", "foo", "module", "bar", "x"};
enum { STRING_X = 4, FIRST_ATTR = 3 };

static void add_attr(crafted *file, const unsigned char *bytes, size_t length) {
  tsr_put_varint(&file->sizes, 0);
  tsr_put_varint(&file->sizes, 1);
  tsr_put_flagged(&file->sizes, length, true);
  tsr_text_add_bytes(&file->entries, (const char *)bytes, length);
  file->attr_count++;
}

static void add_type(crafted *file, const unsigned char *bytes, size_t length) {
  tsr_put_varint(&file->type_sizes, 0);
  tsr_put_varint(&file->type_sizes, 1);
  tsr_put_flagged(&file->type_sizes, length, true);
  tsr_text_add_bytes(&file->types, (const char *)bytes, length);
  file->type_count++;
}

#define ADD_ATTR(file, ...) \
  add_attr(file, (unsigned char[]){__VA_ARGS__}, sizeof((unsigned char[]){__VA_ARGS__}))

// A varint below 64.
#define N(value) ((unsigned char)(2 * (value) + 1))

static crafted begin(void) {
  crafted file = {0};
  ADD_ATTR(&file, N(15));
  ADD_ATTR(&file, N(2), N(STRING_X));
  ADD_ATTR(&file, N(1), N(1), N(1), N(3));
  return file;
}

// An array attribute whose items are the next attribute, `count` times.
static void add_array(crafted *file, int count) {
  tsr_text bytes = TSR_TEXT_EMPTY;
  tsr_put_varint(&bytes, 0);
  tsr_put_varint(&bytes, (uint64_t)count);
  for (int i = 0; i < count; i++) tsr_put_varint(&bytes, (uint64_t)file->attr_count + 1);
  add_attr(file, (const unsigned char *)bytes.data, bytes.length);
  tsr_text_deinit(&bytes);
}

static void put_section(tsr_text *out, char id, tsr_text *content) {
  tsr_text_add_char(out, id);
  tsr_put_varint(out, content->length);
  tsr_text_add_bytes(out, tsr_text_string(content), content->length);
  tsr_text_deinit(content);
}

static void put_strings(tsr_text *out) {
  tsr_text section = TSR_TEXT_EMPTY;
  tsr_put_varint(&section, COUNT_OF(strings));
  for (size_t i = COUNT_OF(strings); i > 0; i--)
    tsr_put_varint(&section, strlen(strings[i - 1]) + 1);
  for (size_t i = 0; i < COUNT_OF(strings); i++)
    tsr_text_add_bytes(&section, strings[i], strlen(strings[i]) + 1);
  put_section(out, 0, &section);
}

static void put_dialects(tsr_text *out) {
  static const unsigned char bytes[] = {N(2), N(0), N(2),          // builtin, foo
                                        N(2),                      // op names
                                        N(0), N(1), N(2 * 2 + 1),  // builtin.module
                                        N(1), N(1), N(2 * 3)};     // foo.bar, not registered
  tsr_text section = TSR_TEXT_EMPTY;
  tsr_text_add_bytes(&section, (const char *)bytes, sizeof bytes);
  put_section(out, 1, &section);
}

static void put_ir(tsr_text *out, tsr_text *body) {
  static const unsigned char head[] = {N(2), N(0), 0x51, N(0), N(2), N(0), N(3)};
  tsr_text section = TSR_TEXT_EMPTY;
  tsr_text_add_bytes(&section, (const char *)head, sizeof head);
  put_section(&section, 4, body);
  put_section(out, 4, &section);
}

// Reads the artifact that the parts make.
static tsr_status finish(crafted *file) {
  tsr_text out = TSR_TEXT_EMPTY, sizes = TSR_TEXT_EMPTY, properties = TSR_TEXT_EMPTY;
  static const unsigned char no_names[] = {N(1), N(2), N(0), N(0)};
  tsr_text_add_bytes(&out, "ML\xefR\x0dStableHLO_v1.15.0", 23);
  put_dialects(&out);
  tsr_put_varint(&sizes, (uint64_t)file->attr_count);
  tsr_put_varint(&sizes, (uint64_t)file->type_count);
  tsr_text_add_bytes(&sizes, file->sizes.data, file->sizes.length);
  tsr_text_add_bytes(&sizes, tsr_text_string(&file->type_sizes), file->type_sizes.length);
  tsr_text_add_bytes(&file->entries, tsr_text_string(&file->types), file->types.length);
  put_section(&out, 3, &sizes);
  put_section(&out, 2, &file->entries);
  put_ir(&out, &file->body);
  if (file->resource_sizes.length) {
    put_section(&out, 5, &file->resource_values);
    put_section(&out, 6, &file->resource_sizes);
  }
  put_strings(&out);
  tsr_text_add_bytes(&properties, (const char *)no_names, sizeof no_names);
  put_section(&out, 8, &properties);
  tsr_text_deinit(&file->sizes);
  tsr_text_deinit(&file->type_sizes);
  tsr_text_deinit(&file->types);
  tsr_ir *ir = tsr_ir_create();
  tsr_status status = tsr_bytecode_read(ir, "made.mlirbc", out.data, out.length);
  tsr_ir_destroy(ir);
  tsr_text_deinit(&out);
  return status;
}

// One block without values and arguments, and the number of its ops.
static void put_block(crafted *file, int ops) {
  tsr_put_varint(&file->body, 1);
  tsr_put_varint(&file->body, 0);
  tsr_put_flagged(&file->body, (uint64_t)ops, false);
}

static tsr_status finish_empty(crafted *file) {
  put_block(file, 0);
  return finish(file);
}

static void entries_that_nothing_uses_may_be_of_any_kind(void **state) {
  (void)state;
  crafted file = begin();
  ADD_ATTR(&file, N(7));
  ADD_ATTR(&file, N(60), 1, 2, 3);
  assert_ok(finish_empty(&file));

  file = begin();
  ADD_ATTR(&file, N(60), 1, 2, 3);
  assert_fails_with(finish_empty(&file), UNKNOWN_VERSION,
                    "attribute 3: attribute code 60 of the dialect \"builtin\" is not known");
}

static void attributes_may_not_contain_themselves(void **state) {
  (void)state;
  crafted file = begin();
  ADD_ATTR(&file, N(0), N(1), N(4));
  ADD_ATTR(&file, N(0), N(1), N(3));
  assert_fails_with(finish_empty(&file), BROKEN_PROGRAM, "attribute 3: it contains itself");
}

static tsr_status read_nested_arrays(int depth, int width) {
  crafted file = begin();
  for (int i = 0; i < depth; i++) add_array(&file, width);
  ADD_ATTR(&file, N(7));
  return finish_empty(&file);
}

static void the_depth_of_attributes_is_limited(void **state) {
  (void)state;
  assert_ok(read_nested_arrays(250, 1));
  assert_fails_with(read_nested_arrays(260, 1), TOO_LARGE, "nested more than 256 deep");
}

// Each array has the next one twice: a few bytes that would print as 2^60 words.
static void what_would_print_endlessly_is_refused(void **state) {
  (void)state;
  assert_ok(read_nested_arrays(10, 2));
  assert_fails_with(read_nested_arrays(60, 2), TOO_LARGE, "printed with more than");
}

static tsr_status read_nested_regions(int depth) {
  static const unsigned char outer[] = {N(1), 0x10, N(0), N(2)}, inner[] = {N(1), 0, N(0)};
  crafted file = begin();
  ADD_ATTR(&file, N(7));
  for (int i = 0; i < depth; i++) {
    put_block(&file, 1);
    tsr_text_add_bytes(&file.body, (const char *)outer, sizeof outer);
  }
  put_block(&file, 1);
  tsr_text_add_bytes(&file.body, (const char *)inner, sizeof inner);
  return finish(&file);
}

static void the_depth_of_regions_is_limited(void **state) {
  (void)state;
  assert_ok(read_nested_regions(250));
  assert_fails_with(read_nested_regions(260), TOO_LARGE, "regions are nested more than 256 deep");
}

// What the body of the module says, and what is wrong with it.
static const struct {
  unsigned char bytes[12];
  size_t length;
  const char *message;
} bodies[] = {
    {{N(1), N(40), N(0)}, 3, "40 values in a region, but 12 bytes are left"},
    {{N(1), N(3), N(0)}, 3, "builtin.module: a region of 3 values defines 0"},
    {{N(0)}, 1, "builtin.module: a region without a block"},
    {{N(1), N(0), N(0), N(0)}, 4, "1 bytes too many"},
    {{N(1), N(0), N(2)}, 3, "1 ops, but 0 bytes are left"},
    {{N(1), N(0), N(2), N(1), 4, N(0), N(1), N(0)}, 8, "value 0 of 0"},
    {{N(1), N(1), N(2), N(1), 4, N(0), N(1), N(0)}, 8, "value 0 is used before it is defined"},
    {{N(1), N(0), N(2), N(1), 128, N(0)}, 6, "op mask 128, which version 6 does not have"},
    {{N(1), N(0), N(2), N(5), 0, N(0)}, 6, "op name 5 of 2"},
    {{N(1), N(0), N(2), N(1), 0, N(1)}, 6, "expected a location, found another attribute"},
    {{N(1), N(0), N(2), N(1), 64, N(0), N(9)}, 7, "property entry 9 of 1"},
};

static void ir_sections_that_lie_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(bodies); i++) {
    crafted file = begin();
    ADD_ATTR(&file, N(7));
    tsr_text_add_bytes(&file.body, (const char *)bodies[i].bytes, bodies[i].length);
    assert_fails_with(finish(&file), BROKEN_PROGRAM, bodies[i].message);
  }
}

// Attribute 3, and what is wrong with it.
static const struct {
  unsigned char bytes[12];
  size_t length;
  const char *message;
} attributes[] = {
    {{N(2), N(9)}, 2, "attribute 3: string 9 of 5"},
    {{N(2)}, 1, "attribute 3: expected a number, found the end"},
    {{N(7), N(0)}, 2, "attribute 3: 1 bytes too many"},
    {{N(0), N(50)}, 2, "attribute 3: 50 attributes, but 0 bytes are left"},
    {{N(4), N(0)}, 2, "attribute 3: expected the name of a symbol, found another attribute"},
    {{N(1), N(1), N(0), N(1)}, 4, "attribute 3: expected the name of an entry"},
    {{N(1), N(2), N(1), N(1), N(1), N(1)}, 6, "attribute 3: two entries \"x\""},
    {{N(14), N(1), N(1)}, 3, "attribute 3: expected a location, found another attribute"},
    {{N(8), N(0)}, 2, "attribute 3: type 0 of 0"},
};

static void attributes_that_lie_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(attributes); i++) {
    crafted file = begin();
    add_attr(&file, attributes[i].bytes, attributes[i].length);
    assert_fails_with(finish_empty(&file), BROKEN_PROGRAM, attributes[i].message);
  }
}

// Type 0, the attribute 3 that has it, and what is wrong; NULL = nothing.
static const struct {
  unsigned char type[4];
  size_t type_length;
  unsigned char bytes[12];
  size_t length;
  tsr_cause cause;
  const char *message;
} typed[] = {
    {{N(8)},
     1,
     {N(9), N(0), 1},
     3,
     TSR_CAUSE_UNSUPPORTED,
     "attribute 3: a float of 128 bits, at most 64 are read"},
    {{N(5)},
     1,
     {N(8), N(0), 1},
     3,
     TSR_CAUSE_BROKEN_PROGRAM,
     "attribute 3: a number whose type is not an integer"},
    {{N(1)},
     1,
     {N(9), N(0), 1},
     3,
     TSR_CAUSE_BROKEN_PROGRAM,
     "attribute 3: a number whose type is not a float"},
    // An integer of 128 bits: 128 << 2, a varint of two bytes.
    {{N(0), 0x02, 0x08},
     3,
     {N(8), N(0), N(3), N(1), N(1), N(1)},
     6,
     TSR_CAUSE_BROKEN_PROGRAM,
     "attribute 3: 3 words for an integer of 128 bits"},
    {{N(0), 0x02, 0x08},
     3,
     {N(8), N(0), N(2), N(1), N(2)},
     5,
     TSR_CAUSE_UNSUPPORTED,
     "attribute 3: an integer of 128 bits whose value needs more than 64"},
    {{N(0), 0x02, 0x08}, 3, {N(8), N(0), N(1), N(10)}, 4, TSR_CAUSE_NONE, NULL},
    {{N(1)}, 1, {N(3), N(4), N(0)}, 3, TSR_CAUSE_NONE, NULL},
    {{N(1)},
     1,
     {N(19), N(0), N(1), N(0)},
     4,
     TSR_CAUSE_BROKEN_PROGRAM,
     "attribute 3: strings of a type that is not a tensor"},
    {{N(1)}, 1, {N(21), N(1)}, 2, TSR_CAUSE_NONE, NULL},
};

static void numbers_must_fit_their_types(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(typed); i++) {
    crafted file = begin();
    add_type(&file, typed[i].type, typed[i].type_length);
    add_attr(&file, typed[i].bytes, typed[i].length);
    tsr_status status = finish_empty(&file);
    if (!typed[i].message) {
      assert_ok(status);
      continue;
    }
    if (!strstr(tsr_status_text(status), typed[i].message))
      fail_msg("%s, expected %s", tsr_status_text(status), typed[i].message);
    assert_int_equal(tsr_status_cause(status), typed[i].cause);
    tsr_status_free(status);
  }
}

// Groups of resources, their values, and what is wrong with them; NULL = nothing.
static const struct {
  unsigned char sizes[12];
  size_t size_length;
  unsigned char values[8];
  size_t value_length;
  const char *message;
} resources[] = {
    // Of no dialect: a bool and a string of the name x.
    {{N(1), N(4), N(2), N(4), N(1), 1, N(3), N(1), 2}, 9, {1, N(4)}, 2, NULL},
    {{N(0), N(0), N(1), N(4), N(1), 7},
     6,
     {1},
     1,
     "resource kind 7, expected a blob, bool or string (0 to 2)"},
    {{N(0), N(0), N(2), N(4), N(3), 0, N(4), N(3), 0},
     9,
     {N(1), N(1), 5, N(1), N(1), 6},
     6,
     "two resources \"x\""},
    {{N(0), N(0), N(1), N(4), N(3), 0}, 6, {N(1), N(9), 5}, 3, "9 bytes"},
    {{N(0), N(3), N(0)}, 3, {0}, 0, "dialect 3 of 2"},
};

static void resources_that_lie_are_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(resources); i++) {
    crafted file = begin();
    ADD_ATTR(&file, N(7));
    tsr_text_add_bytes(&file.resource_sizes, (const char *)resources[i].sizes,
                       resources[i].size_length);
    tsr_text_add_bytes(&file.resource_values, (const char *)resources[i].values,
                       resources[i].value_length);
    if (resources[i].message)
      assert_fails_with(finish_empty(&file), BROKEN_PROGRAM, resources[i].message);
    else
      assert_ok(finish_empty(&file));
  }
}

SUITE(bytecode_limits, TEST(entries_that_nothing_uses_may_be_of_any_kind),
      TEST(attributes_may_not_contain_themselves), TEST(the_depth_of_attributes_is_limited),
      TEST(what_would_print_endlessly_is_refused), TEST(the_depth_of_regions_is_limited),
      TEST(ir_sections_that_lie_are_refused), TEST(attributes_that_lie_are_refused),
      TEST(numbers_must_fit_their_types), TEST(resources_that_lie_are_refused))
