// Stands in for the printers of types and attributes until the room syntax has them.
#include "base/text_internal.h"
#include "syntax/syntax.h"

__attribute__((weak)) void tsr_type_print(const tsr_type *type, tsr_text *out) {
  tsr_text_addf(out, "type of kind %d", (int)type->kind);
}

__attribute__((weak)) void tsr_attr_print(const tsr_attr *attr, tsr_text *out) {
  tsr_text_addf(out, "attribute of kind %d", (int)attr->kind);
}
