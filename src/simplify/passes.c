// The passes of this room, and the one that runs the others until nothing changes.
#include "simplify/passes.h"

#include "simplify/rewriter.h"

enum { ROUNDS = 8 };

#define OPTION(id) (1u << TSR_SIMPLIFY_##id)
#define PASS_ROWS "simplify/passes.def"
#include "simplify/pass_table.inc"

tsr_pass_table tsr_simplify_passes(void) { return pass_table; }

tsr_status tsr_passes_run(tsr_ir *ir, const char *text, tsr_pass_report *out_report) {
  const tsr_pass_table table = tsr_simplify_passes();
  return tsr_pass_list_run(ir, &table, 1, text, out_report);
}

static tsr_status simplify_once(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  const tsr_rewrite_set sets[] = {tsr_algebra_rules(), tsr_transpose_rules(), tsr_reshape_rules(),
                                  tsr_fold_rules()};
  TSR_TRY(tsr_pass_inline(ir, options, changes));
  TSR_TRY(tsr_rewrite(ir, options, sets, sizeof sets / sizeof *sets, changes));
  TSR_TRY(tsr_pass_operand_order(ir, options, changes));
  TSR_TRY(tsr_pass_cse(ir, options, changes));
  return tsr_pass_symbol_dce(ir, options, changes);
}

tsr_status tsr_pass_simplify(tsr_ir *ir, const tsr_pass_options *options, int64_t *changes) {
  const int64_t rounds = tsr_pass_number(options, TSR_SIMPLIFY_ROUNDS, ROUNDS);
  for (int64_t i = 0; i < rounds; i++) {
    const int64_t before = *changes;
    TSR_TRY(simplify_once(ir, options, changes));
    if (*changes == before) return NULL;
  }
  return NULL;
}
