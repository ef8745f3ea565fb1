// A plan as people read it: groups of like tensors in a table, and the sums below it.
#ifndef TESSERA_REPORT_PLAN_TABLE_H
#define TESSERA_REPORT_PLAN_TABLE_H

#include "tessera/plan.h"
#include "tessera/text.h"

// One line of the table: tensors that differ only in numbers of their names.
typedef struct cli_plan_group {
  char name[160];  // "layers.*.mlp.up_proj.weight"
  int64_t count;   // of tensors
  char shape[96], dtype[16];
  tsr_text spec;             // final, short form
  tsr_text wanted;           // "" where it is the same
  tsr_text reason;           // the notes of the first member, joined by "; "
  int64_t bytes_per_device;  // of all members together
} cli_plan_group;

typedef struct cli_plan_groups {
  int64_t count;
  cli_plan_group *items;  // owned
} cli_plan_groups;

tsr_status cli_plan_group_rows(const tsr_plan *plan, cli_plan_groups *out_groups);
void cli_plan_groups_deinit(cli_plan_groups *groups);

// The table. Reasons are cut at `width` columns; 0 = nowhere.
tsr_status cli_plan_print_table(const tsr_plan *plan, const char *title, int width, tsr_text *out);

#endif
