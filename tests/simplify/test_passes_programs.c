// Passes on the programs that JAX exported: they stay right, get smaller, and come to an end.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/text_internal.h"
#include "programs.h"
#include "simplify/passes.h"
#include "support/test.h"
#include "syntax/syntax.h"
#include "tessera/own.h"
#include "verify/verify.h"

static tsr_status count_op(tsr_op *op, void *context) {
  (void)op;
  ++*(int64_t *)context;
  return NULL;
}

static int64_t op_count(tsr_ir *ir) {
  int64_t count = 0;
  assert_ok(tsr_op_walk(ir->module, count_op, &count));
  return count;
}

// What is printed after a pass is verified and read as the same program.
static void assert_whole(tsr_ir *ir, const char *path) {
  TSR_OWN(text, text);
  TSR_OWN(text, difference);
  assert_ok(tsr_note(tsr_verify(ir, path), "%s", path));
  tsr_syntax_print(ir, NULL, &text);
  tsr_ir *again = test_program(tsr_text_string(&text));
  if (!tsr_ir_equal(ir, again, &difference)) fail_msg("%s: %s", path, tsr_text_string(&difference));
  tsr_ir_destroy(again);
}

// Every pass on a copy of its own; `simplify` a second time changes nothing.
static void check_program(const char *path, const char *text, int64_t *before, int64_t *after) {
  for (int i = 0; i < tsr_simplify_passes().count; i++) {
    tsr_ir *ir = test_program(text);
    const char *name = tsr_simplify_passes().passes[i].name;
    const int64_t ops = op_count(ir);
    assert_ok(tsr_passes_run(ir, name, NULL));
    assert_whole(ir, path);
    if (!strcmp(name, "simplify")) {
      tsr_pass_report report;
      *before += ops;
      *after += op_count(ir);
      assert_ok(tsr_passes_run(ir, name, &report));
      if (report.changes[0].changes) fail_msg("%s: simplify has no fixed point", path);
      tsr_pass_report_deinit(&report);
    }
    tsr_ir_destroy(ir);
  }
}

static void exported_programs_stay_right_and_get_smaller(void **state) {
  (void)state;
  DIR *folder = opendir("tests/programs");
  int count = 0;
  int64_t before = 0, after = 0;
  assert_non_null(folder);
  for (const struct dirent *entry; (entry = readdir(folder));) {
    char path[512], *text = NULL;
    snprintf(path, sizeof path, "tests/programs/%s/program.mlir", entry->d_name);
    tsr_status status = tsr_file_read_text(path, &text);
    const bool missing = status != NULL;
    tsr_status_free(status);
    if (missing) continue;
    check_program(path, text, &before, &after);
    free(text);
    count++;
  }
  closedir(folder);
  assert_true(count >= 100);
  assert_true(after < before * 9 / 10);
}

SUITE(passes_programs, TEST(exported_programs_stay_right_and_get_smaller))
