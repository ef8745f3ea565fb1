#include "round_trip.h"

#include <string.h>

#include "base/text_internal.h"
#include "support/test.h"
#include "syntax/syntax.h"

typedef tsr_status print_again(tsr_ir *ir, const char *text, tsr_text *out);

static tsr_status print_type(tsr_ir *ir, const char *text, tsr_text *out) {
  const tsr_type *type = NULL;
  TSR_TRY(tsr_syntax_read_type(ir, text, strlen(text), &type));
  tsr_type_print(type, out);
  return NULL;
}

static tsr_status print_attr(tsr_ir *ir, const char *text, tsr_text *out) {
  const tsr_attr *attr = NULL;
  TSR_TRY(tsr_syntax_read_attr(ir, text, strlen(text), &attr));
  tsr_attr_print(attr, out);
  return NULL;
}

static void check_printed(const printed_case *cases, size_t count, print_again *again) {
  for (size_t i = 0; i < count; i++) {
    tsr_ir *ir = tsr_ir_create();
    tsr_text once = TSR_TEXT_EMPTY, twice = TSR_TEXT_EMPTY;
    assert_ok(again(ir, cases[i].text, &once));
    assert_string_equal(tsr_text_string(&once),
                        cases[i].printed ? cases[i].printed : cases[i].text);
    assert_ok(again(ir, tsr_text_string(&once), &twice));
    assert_string_equal(tsr_text_string(&twice), tsr_text_string(&once));
    tsr_text_deinit(&once);
    tsr_text_deinit(&twice);
    tsr_ir_destroy(ir);
  }
}

void test_printed_types(const printed_case *cases, size_t count) {
  check_printed(cases, count, print_type);
}

void test_printed_attrs(const printed_case *cases, size_t count) {
  check_printed(cases, count, print_attr);
}

static void check_refused(const refused_case *cases, size_t count, print_again *again) {
  for (size_t i = 0; i < count; i++) {
    tsr_ir *ir = tsr_ir_create();
    tsr_text out = TSR_TEXT_EMPTY;
    tsr_status status = again(ir, cases[i].text, &out);
    if (!status) fail_msg("%s is read as %s", cases[i].text, tsr_text_string(&out));
    assert_message(status, cases[i].message);
    tsr_status_free(status);
    tsr_text_deinit(&out);
    tsr_ir_destroy(ir);
  }
}

void test_refused_types(const refused_case *cases, size_t count) {
  check_refused(cases, count, print_type);
}

void test_refused_attrs(const refused_case *cases, size_t count) {
  check_refused(cases, count, print_attr);
}
