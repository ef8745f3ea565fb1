// The blobs of constants, which stand after the module:
//
//   {-#
//     dialect_resources: {
//       builtin: {
//         key: "0x0400000001000000"
//       }
//     }
//   #-}
//
// A blob is the alignment of its data in 4 bytes, the lowest first, and the data.
#ifndef TESSERA_SYNTAX_RESOURCES_H
#define TESSERA_SYNTAX_RESOURCES_H

#include "syntax/reader.h"

// Reads from "{-#" to "#-}" and adds the blobs of the builtin dialect to the program's; the others
// are dropped, as MLIR drops what it does not know.
TSR_MUST_USE tsr_status tsr_read_resources(tsr_reader *reader);
void tsr_print_resources(const tsr_ir *ir, tsr_text *out);  // nothing if there are none

#endif
