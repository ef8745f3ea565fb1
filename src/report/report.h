// What commands print about checkpoints, plans and redistributions.
#ifndef TESSERA_REPORT_REPORT_H
#define TESSERA_REPORT_REPORT_H

#include "draw/draw.h"
#include "element/slice.h"
#include "inspect/inspect_internal.h"
#include "json/json.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/sequence.h"
#include "tessera/plan.h"
#include "tessera/text.h"
#include "transfer/transfer_internal.h"

// ---- inspect ----

// Filled by the command, printed as text or JSON.
typedef struct tsr_inspect_report {
  const char *path;  // as the user wrote it
  tsr_checkpoint *checkpoint;
  tsr_inspection *listing;  // NULL for a report about one tensor
  bool grouped;             // rows are groups of tensors
  bool full;                // print long lists in full
  // Bytes by file, rank or device.
  const char *by_word;  // "file", "rank" or "device"; NULL = list tensors
  tsr_share_kind by;
  tsr_share *shares;
  int64_t share_count;
  // Statistics and hashes, one entry for each row, or one for the tensor.
  bool stats, hashes;
  tsr_survey_row *survey;
  // One tensor, and a slice of it.
  int64_t tensor;  // -1 = all
  bool sliced;
  tsr_slice slice;
  tsr_values_options values;
} tsr_inspect_report;

// The path of a file relative to the checkpoint's folder.
const char *tsr_inspect_report_file(const tsr_inspect_report *job, int64_t file);
// Whether the computed hash differs from the stored one.
bool tsr_inspect_report_disagrees(const tsr_inspect_report *job, int64_t tensor,
                                  const tsr_survey_row *row);

tsr_status tsr_inspect_report_print(const tsr_inspect_report *job, tsr_text *out);
tsr_status tsr_inspect_report_to_json(const tsr_inspect_report *job, tsr_text *out);

// ---- plans ----

// A plan as one self-contained HTML page.
tsr_status tsr_plan_report(const tsr_plan *plan, const char *title, tsr_text *out);

// A line of the text table: tensors whose names differ only in numbers.
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

// ---- redistributions ----

// From one layout of a tensor to another, by a direct plan and by collectives.
typedef struct tsr_redistribution {
  tsr_shape shape;
  tsr_dtype dtype;
  tsr_layout *from, *to;  // owned, like everything below
  // The direct plan, or the reason why there is none.
  tsr_copy_plan *plan;
  tsr_text no_plan;
  tsr_certificate certificate;
  tsr_traffic traffic;  // rows = 0 if there are too many copies
  // The sequence of collectives, that of Shardy's greedy order, or the reason why there is none.
  tsr_sequence *sequence, *shardy;
  tsr_text no_sequence;
  // With --relabel: the order of the target's devices that moves least.
  bool relabelled;
  tsr_relabelling relabelling;
} tsr_redistribution;

void tsr_redistribution_deinit(tsr_redistribution *change);

// `all_copies` prints every copy, however many.
tsr_status tsr_redistribution_print(const tsr_redistribution *change, bool all_copies,
                                    tsr_text *out);
// Adds members to the open object.
tsr_status tsr_redistribution_to_json(const tsr_redistribution *change, bool all_copies,
                                      tsr_json_writer *writer);
tsr_status tsr_redistribution_print_svg(const tsr_redistribution *change, tsr_text *out);

typedef struct tsr_redistribution_timing {
  double seconds, memcpy_seconds;  // the fastest of several rounds
  int64_t bytes_written;           // by all ranks together
} tsr_redistribution_timing;

typedef struct tsr_redistribution_run {
  const char *engine;
  int ranks, workers;
  int64_t verified_elements;  // checked, for both plans and all ranks
  bool direct, collectives;
  tsr_redistribution_timing by_direct, by_collectives;
} tsr_redistribution_run;

void tsr_redistribution_run_print(const tsr_redistribution_run *run, tsr_text *out);
void tsr_redistribution_run_to_json(const tsr_redistribution_run *run, tsr_json_writer *writer);

// ---- statistics of a tensor, on one line and as JSON ----

void tsr_stats_print(const tsr_tensor_stats *stats, tsr_text *out);
void tsr_stats_to_json(const tsr_tensor_stats *stats, tsr_json_writer *json);

#endif
