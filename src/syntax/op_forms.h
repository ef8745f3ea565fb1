// How ops are written: one entry per form of ir/text_forms.def.
//
// Most forms are a line of syntax/op_formats.def, from which the reader and the printer are made:
//
//   " %, dims = $broadcast_dimensions& : ~fn"     stablehlo.broadcast_in_dim %0, dims = [1] : ...
//
//   %      an operand              %*     all that are left, separated by commas
//   $name  an attribute of the op's row, without its type
//   @name  a notation with functions of its own (op_notations.c)
//   ?(  )  a group that is written only if the attribute in it is there and not the default
//   &      the dictionary of all attributes that the format does not name
//   ~name  a notation of the types (op_notations.c)
//   other  itself; spaces count for printing only
//
// The rest have a function to read and one to print.
#ifndef TESSERA_SYNTAX_OP_FORMS_H
#define TESSERA_SYNTAX_OP_FORMS_H

#include "syntax/op_printer.h"
#include "syntax/op_reader.h"

typedef struct tsr_op_form {
  const char *format;  // NULL = the functions
  tsr_status (*read)(tsr_op_reader *reader, tsr_draft *draft);
  // Prints what follows the op's name.
  void (*print)(tsr_op_printer *printer, const tsr_op *op);
  bool (*fits)(const tsr_op *op);  // NULL = always
} tsr_op_form;

// Reads what follows the name of an op.
TSR_MUST_USE tsr_status tsr_op_form_read(tsr_op_reader *reader, tsr_draft *draft);
// Prints the name and what follows; false and nothing if the op has no form or does not fit it.
bool tsr_op_form_print(tsr_op_printer *printer, const tsr_op *op);

// ---- notations (op_notations.c) ----

enum { TSR_NOTATION_ATTRS = 5 };

typedef struct tsr_op_notation {
  const char *name;
  tsr_status (*read)(tsr_op_reader *reader, tsr_draft *draft);
  void (*print)(tsr_op_printer *printer, const tsr_op *op);
  bool (*fits)(const tsr_op *op);         // whether the text would say all; NULL = always
  const char *attrs[TSR_NOTATION_ATTRS];  // those it writes
} tsr_op_notation;
// Never NULL for the names in the formats there are.
const tsr_op_notation *tsr_op_notation_find(const char *name, size_t length);

// ---- forms with functions ----

tsr_status tsr_read_module_form(tsr_op_reader *reader, tsr_draft *draft);
void tsr_print_module_form(tsr_op_printer *printer, const tsr_op *op);
bool tsr_fits_module_form(const tsr_op *op);
tsr_status tsr_read_func_form(tsr_op_reader *reader, tsr_draft *draft);
void tsr_print_func_form(tsr_op_printer *printer, const tsr_op *op);
bool tsr_fits_func_form(const tsr_op *op);
tsr_status tsr_read_constant_form(tsr_op_reader *reader, tsr_draft *draft);
void tsr_print_constant_form(tsr_op_printer *printer, const tsr_op *op);
tsr_status tsr_read_cast_form(tsr_op_reader *reader, tsr_draft *draft);
void tsr_print_cast_form(tsr_op_printer *printer, const tsr_op *op);
bool tsr_fits_cast_form(const tsr_op *op);
tsr_status tsr_read_barrier_form(tsr_op_reader *reader, tsr_draft *draft);
void tsr_print_barrier_form(tsr_op_printer *printer, const tsr_op *op);
bool tsr_fits_barrier_form(const tsr_op *op);
tsr_status tsr_read_return_form(tsr_op_reader *reader, tsr_draft *draft);
void tsr_print_return_form(tsr_op_printer *printer, const tsr_op *op);
tsr_status tsr_read_late_return_form(tsr_op_reader *reader, tsr_draft *draft);
void tsr_print_late_return_form(tsr_op_printer *printer, const tsr_op *op);
tsr_status tsr_read_reduce_form(tsr_op_reader *reader, tsr_draft *draft);
void tsr_print_reduce_form(tsr_op_printer *printer, const tsr_op *op);
bool tsr_fits_reduce_form(const tsr_op *op);
tsr_status tsr_read_while_form(tsr_op_reader *reader, tsr_draft *draft);
void tsr_print_while_form(tsr_op_printer *printer, const tsr_op *op);
bool tsr_fits_while_form(const tsr_op *op);
tsr_status tsr_read_scan_form(tsr_op_reader *reader, tsr_draft *draft);
void tsr_print_scan_form(tsr_op_printer *printer, const tsr_op *op);
bool tsr_fits_scan_form(const tsr_op *op);

#endif
