// An artifact of any bytes is read or refused; what is read has sound links.
#include <assert.h>
#include <stdint.h>

#include "bytecode/bytecode.h"
#include "tessera/status.h"

static tsr_status check_op(tsr_op *op, void *context) {
  (void)context;
  for (int i = 0; i < op->operand_count; i++) {
    assert(op->operands[i].user == op && op->operands[i].value->type);
    assert(*op->operands[i].link == &op->operands[i]);
  }
  for (int i = 0; i < op->attr_count; i++) assert(op->attrs[i].name && op->attrs[i].attr);
  for (int i = 0; i < op->region_count; i++) assert(op->regions[i].parent == op);
  return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  tsr_ir *ir = tsr_ir_create();
  if (!ir) return 0;
  tsr_status status = tsr_bytecode_read(ir, "fuzz", data, size);
  if (!status) status = tsr_op_walk(ir->module, check_op, NULL);
  tsr_status_free(status);
  tsr_ir_destroy(ir);
  return 0;
}
