// A program that is read and verified is right after every pass.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "simplify/passes.h"
#include "syntax/syntax.h"
#include "verify/verify.h"

static void check_passes(tsr_ir *ir, const char *passes) {
  tsr_status status = tsr_passes_run(ir, passes, NULL);
  if (!status) {
    tsr_status broken = tsr_verify(ir, "after");
    assert(!broken);
    tsr_status_free(broken);
  }
  tsr_status_free(status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const lists[] = {"simplify",
                                      "composites,inline{all},operand-order,cse,fold,dce"};
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    tsr_ir *ir = tsr_ir_create();
    if (!ir) return 0;
    tsr_status status = tsr_syntax_read(ir, "fuzz", (const char *)data, size);
    if (!status) status = tsr_verify(ir, "fuzz");
    if (!status) check_passes(ir, lists[i]);
    tsr_status_free(status);
    tsr_ir_destroy(ir);
  }
  return 0;
}
