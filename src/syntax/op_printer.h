// Printing ops: what the forms of ops (syntax/op_forms.h) are made of.
#ifndef TESSERA_SYNTAX_OP_PRINTER_H
#define TESSERA_SYNTAX_OP_PRINTER_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/ir.h"
#include "syntax/syntax.h"
#include "tessera/text.h"

struct tsr_location_aliases;

// Types printed before, which are copied from where they stand in the text.
enum { TSR_PRINTED_TYPES = 64 };
typedef struct tsr_printed_type {
  const tsr_type *type;  // NULL = free
  size_t at, length;
} tsr_printed_type;

typedef struct tsr_op_printer {
  tsr_text *out;
  tsr_print_options options;
  int indent;                            // spaces before an op of the current block
  const char *dialect;                   // its ops print without "dialect."; "" = none
  struct tsr_location_aliases *aliases;  // NULL where locations are not printed
  tsr_printed_type printed[TSR_PRINTED_TYPES];
} tsr_op_printer;

void tsr_print_op(tsr_op_printer *printer, const tsr_op *op);  // without indent and newline
// "name"(%x) <{...}> ({...}) {...} : (T) -> U; with its name or from the parenthesis on.
void tsr_print_generic_op(tsr_op_printer *printer, const tsr_op *op, bool with_name);
void tsr_print_operand(tsr_op_printer *printer, const tsr_value *value);
void tsr_print_operands(tsr_op_printer *printer, const tsr_op *op, int first, int count);
void tsr_print_type(tsr_op_printer *printer, const tsr_type *type);
void tsr_print_attr(tsr_op_printer *printer, const tsr_attr *attr);
// " {a = 1 : i32, b}" or nothing. Bit i of `used` leaves the attribute i of the op's row out;
// `keyword` (or "") stands before the brace. `elide` leaves out attributes with default values.
void tsr_print_attr_dict(tsr_op_printer *printer, const tsr_op *op, uint32_t used, bool elide,
                         const char *keyword);
// The bit of an attribute in the op's row, which must have it.
uint32_t tsr_row_bit(const tsr_op_info *info, const char *name);
void tsr_print_operand_types(tsr_op_printer *printer, const tsr_op *op);    // T, U
void tsr_print_result_types(tsr_op_printer *printer, const tsr_op *op);     // T or (T, U)
void tsr_print_functional_type(tsr_op_printer *printer, const tsr_op *op);  // (T, U) -> V
// {...}; `header` prints the label of the first block where it has arguments.
void tsr_print_region(tsr_op_printer *printer, const tsr_region *region, bool header);
void tsr_print_argument(tsr_op_printer *printer, const tsr_value *argument);  // %arg0: T loc(...)
void tsr_print_newline(tsr_op_printer *printer);
// The location of an op, after it: " loc(#loc3)"; nothing unless locations are printed.
void tsr_print_location(tsr_op_printer *printer, const tsr_attr *location, bool allow_alias);

#endif
