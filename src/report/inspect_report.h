// The report of `tessera inspect`: filled by the command, printed as text or JSON.
#ifndef TESSERA_REPORT_INSPECT_REPORT_H
#define TESSERA_REPORT_INSPECT_REPORT_H

#include "element/slice.h"
#include "inspect/inspect_internal.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/verify.h"

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

#endif
