// A plan as people read it: groups of like tensors in a table, and the sums below it.
#ifndef TESSERA_REPORT_PLAN_TABLE_H
#define TESSERA_REPORT_PLAN_TABLE_H

#include "tessera/plan.h"
#include "tessera/text.h"

// One line of the table: tensors that differ only in numbers of their names.
typedef struct tsr_plan_line {
  char name[160];  // "layers.*.mlp.up_proj.weight"
  int64_t count;   // of tensors
  char shape[96], dtype[16];
  tsr_text spec;             // final, short form
  tsr_text wanted;           // "" where it is the same
  tsr_text reason;           // the notes of the first member, joined by "; "
  int64_t bytes_per_device;  // of all members together
} tsr_plan_line;

typedef struct tsr_plan_lines {
  int64_t count;
  tsr_plan_line *items;  // owned
} tsr_plan_lines;

tsr_status tsr_plan_lines_init(const tsr_plan *plan, tsr_plan_lines *out_groups);
void tsr_plan_lines_deinit(tsr_plan_lines *groups);

// The table. Reasons are cut at `width` columns; 0 = nowhere.
tsr_status tsr_plan_print_table(const tsr_plan *plan, const char *title, int width, tsr_text *out);

#endif
