// A program in text that is right and has unknown sizes is refined to small ones, or refused with a
// message. A refined one has no unknown size, and is right or contradicts the sizes that were
// given.
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "refine/refine.h"
#include "syntax/syntax.h"
#include "verify/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARGUMENTS_MOST = 32 };

// Sizes 1 to 5 where they are unknown.
static tsr_shape some_shape(const tsr_type *type, int index) {
  tsr_shape shape = {0, {0}};
  if (type->kind != TSR_TYPE_TENSOR || type->rank > TSR_MAX_RANK) return shape;
  shape.rank = type->rank;
  for (int i = 0; i < type->rank; i++)
    shape.dims[i] = type->dims[i] == TSR_DYNAMIC ? 1 + (index + i + 3) % 5 : type->dims[i];
  return shape;
}

static tsr_status refine(tsr_ir *ir) {
  const tsr_op *entry = tsr_ir_entry(ir);
  const tsr_ir_block *body = entry ? tsr_func_body(entry) : NULL;
  tsr_shape shapes[ARGUMENTS_MOST];
  if (!body || body->arg_count > ARGUMENTS_MOST) return NULL;
  for (int i = 0; i < body->arg_count; i++) shapes[i] = some_shape(body->args[i]->type, i);
  TSR_TRY(tsr_refine(ir, shapes, body->arg_count));
  assert(!tsr_is_polymorphic(ir));
  return tsr_verify(ir, "refined");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return 0;
  tsr_status status = tsr_syntax_read(ir, "fuzz", (const char *)data, size);
  if (!status) status = tsr_verify(ir, "fuzz");
  if (!status) status = refine(ir);
  assert(!status || *tsr_status_text(status));
  tsr_status_free(status);
  tsr_ir_destroy(ir);
  return 0;
}
