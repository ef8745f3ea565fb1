// A program that is read and verified is right after the passes around propagation.
#include <assert.h>
#include <stdint.h>

#include "program/pipelines.h"
#include "syntax/syntax.h"
#include "verify/verify.h"

static void check_passes(tsr_ir *ir, const char *passes) {
  tsr_status status = tsr_all_passes_run(ir, passes, NULL);
  if (!status) {
    tsr_status broken = tsr_verify(ir, "after");
    assert(!broken);
    tsr_status_free(broken);
  }
  tsr_status_free(status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const char *const lists[] = {
      "import-gspmd",
      "sdy-basic-propagate",
      "sdy-propagation-pipeline",
      "sdy-propagation-pipeline{dedup-functions-fully=true}",
      "sdy-user-priority-propagate{keep-sharding-rules conservative-propagation}",
      "sdy-insert-explicit-reshards{enable-full-version=true}",
      "sdy-verify-unreduced-axes,sdy-insert-explicit-reshards",
      "sdy-reshard-to-collectives,canonicalize",
      "canonicalize,sdy-remove-all-gather-reduce-scatter-for-cmv1",
      "sdy-explicit-gather-scatter-batching",
      "sdy-export-pipeline{enable-insert-explicit-collectives=true}",
      "sdy-resolve-permutation-factors",
      "sdy-pad-for-divisibility",
      "sdy-resolve-single-device-sharding,sdy-convert-global-to-local",
      "inline{sharded},share-collectives,partial-sums,sink-moves,loop-collectives,gather-operands",
      "share-collectives,exchange-parts,broadcast-slices,merge-reduces",
      "partition,lanes"};
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
