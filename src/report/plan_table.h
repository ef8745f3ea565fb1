// A plan as a text table: one line for each group of like tensors, and totals.
#ifndef TESSERA_REPORT_PLAN_TABLE_H
#define TESSERA_REPORT_PLAN_TABLE_H

#include "tessera/plan.h"
#include "tessera/text.h"

// A line: tensors whose names differ only in numbers.
typedef struct tsr_plan_line {
  char name[160];  // "layers.*.mlp.up_proj.weight"
  int64_t count;   // of tensors
  char shape[96], dtype[16];
  tsr_text spec;             // final, short form
  tsr_text wanted;           // "" = the same as spec
  tsr_text reason;           // notes of the first tensor, joined by "; "
  int64_t bytes_per_device;  // of all tensors of the line
} tsr_plan_line;

typedef struct tsr_plan_lines {
  int64_t count;
  tsr_plan_line *items;  // owned
} tsr_plan_lines;

tsr_status tsr_plan_lines_init(const tsr_plan *plan, tsr_plan_lines *out_groups);
void tsr_plan_lines_deinit(tsr_plan_lines *groups);

// Prints the table. Lines are truncated at `width` columns; 0 = never.
tsr_status tsr_plan_print_table(const tsr_plan *plan, const char *title, int width, tsr_text *out);

#endif
