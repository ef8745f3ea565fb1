// What the files of the printer of types and attributes share.
#ifndef TESSERA_SYNTAX_WRITER_PARTS_H
#define TESSERA_SYNTAX_WRITER_PARTS_H

#include "syntax/syntax.h"
#include "syntax/writer.h"

// When the type of a number is left out.
typedef enum tsr_type_shown {
  TSR_TYPE_SHOWN,
  TSR_TYPE_IF_UNUSUAL,  // not i64 and f64: inside arrays
  TSR_TYPE_HIDDEN
} tsr_type_shown;

typedef struct tsr_attr_style {
  tsr_type_shown type;
  int64_t elide_elements;  // 0 = never
} tsr_attr_style;

void tsr_attr_print_in(const tsr_attr *attr, tsr_attr_style style, tsr_text *out);
void tsr_dense_print(const tsr_attr *attr, tsr_text *out);  // dense<...>
void tsr_dense_array_print(const tsr_attr *attr, tsr_text *out);
void tsr_record_print(const tsr_attr *record, tsr_text *out);  // #dialect.name<...>
// "a, b, c": calls `print` for each item.
void tsr_items_print(const tsr_attr *array, void (*print)(const tsr_attr *item, tsr_text *out),
                     tsr_text *out);

// Printers of record bodies, the inverses of tsr_read_body.
typedef void tsr_print_body(const tsr_attr *record, tsr_text *out);
tsr_print_body tsr_print_struct, tsr_print_conv, tsr_print_bounds, tsr_print_sub_axis_info;
tsr_print_body tsr_print_sdy_names, tsr_print_sdy_mesh_axis, tsr_print_sdy_mesh, tsr_print_sdy_axis;
tsr_print_body tsr_print_sdy_dim, tsr_print_sdy_sharding, tsr_print_sdy_list;
tsr_print_body tsr_print_sdy_dim_mapping, tsr_print_sdy_rule, tsr_print_sdy_all_to_all;

#endif
