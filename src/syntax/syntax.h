// Programs as MLIR text: what JAX, StableHLO's and Shardy's tools print, and what they read.
#ifndef TESSERA_SYNTAX_SYNTAX_H
#define TESSERA_SYNTAX_SYNTAX_H

#include "ir/ir.h"
#include "tessera/text.h"

// Reads the text of a program into an empty `ir`. `text` is borrowed for the program's life (keep
// it with tsr_ir_keep); it need not be terminated. Syntax errors name NAME:LINE:COLUMN; up to
// TSR_ISSUES_SHOWN are reported in one failure. What is read is well formed (values defined once
// and before use, symbols unique) but not verified.
TSR_MUST_USE tsr_status tsr_syntax_read(tsr_ir *ir, const char *name, const char *text,
                                        size_t length);
// One type or attribute, such as an entry of a bytecode file; the whole text must be used.
TSR_MUST_USE tsr_status tsr_syntax_read_type(tsr_ir *ir, const char *text, size_t length,
                                             const tsr_type **out_type);
TSR_MUST_USE tsr_status tsr_syntax_read_attr(tsr_ir *ir, const char *text, size_t length,
                                             const tsr_attr **out_attr);

typedef struct tsr_print_options {
  bool generic;            // every op in its generic form
  bool locations;          // loc(...) after ops and arguments, as MLIR prints debug info
  int64_t elide_elements;  // larger constants print as dense_resource<__elided__>; 0 = never
} tsr_print_options;
// Adds the program as MLIR prints it. NULL options are the defaults. Writes the marks of values, so
// no other thread may use the program meanwhile.
void tsr_syntax_print(const tsr_ir *ir, const tsr_print_options *options, tsr_text *out);
void tsr_syntax_print_op(const tsr_op *op, const tsr_print_options *options, tsr_text *out);
void tsr_type_print(const tsr_type *type, tsr_text *out);  // tensor<2x3xf32>
void tsr_attr_print(const tsr_attr *attr, tsr_text *out);  // #stablehlo.gather<...>

#endif
