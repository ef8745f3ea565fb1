// What the files of this room share: equality across programs, copies into another program.
// Within one program equal types have one address.
#ifndef TESSERA_IR_TYPE_CONTENT_H
#define TESSERA_IR_TYPE_CONTENT_H

#include "ir/ir.h"

bool tsr_type_equal(const tsr_type *a, const tsr_type *b);  // NULL equals NULL
// The same type in another program; NULL without memory.
const tsr_type *tsr_type_import(tsr_ir *ir, const tsr_type *type);
// The same attribute in another program. Bytes of DENSE attributes stay shared: the program they
// come from must outlive `ir`, or keep its memory.
const tsr_attr *tsr_attr_import(tsr_ir *ir, const tsr_attr *attr);

// The attributes that every program has once. False without memory.
bool tsr_ir_make_common_attrs(tsr_ir *ir);

#endif
