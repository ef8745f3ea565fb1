// Portable artifacts: StableHLO as versioned VHLO in MLIR bytecode, with Shardy beside it; and the
// files of jax.export around them.
#ifndef TESSERA_BYTECODE_BYTECODE_H
#define TESSERA_BYTECODE_BYTECODE_H

#include "ir/ir.h"
#include "tessera/text.h"

bool tsr_bytecode_is(const void *bytes, size_t length);  // starts with "ML\xefR"
// Reads an artifact into an empty `ir` and brings it up to StableHLO. `bytes` are borrowed for the
// program's life: large constants are views of them. The result is well formed but not verified.
TSR_MUST_USE tsr_status tsr_bytecode_read(tsr_ir *ir, const char *name, const void *bytes,
                                          size_t length);
// Writes an artifact of a StableHLO version such as "1.15.0" (NULL = the default). What that
// version cannot hold is refused by name.
TSR_MUST_USE tsr_status tsr_bytecode_write(const tsr_ir *ir, const char *version, tsr_text *out);

#endif
