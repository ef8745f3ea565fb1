// What `tessera inspect` shows, gathered before it is printed as text or as data.
#ifndef TESSERA_REPORT_INSPECT_REPORT_H
#define TESSERA_REPORT_INSPECT_REPORT_H

#include "element/slice.h"
#include "inspect/inspect_internal.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/verify.h"

typedef struct tsr_inspect_report {
  const char *path;  // as the user wrote it
  tsr_checkpoint *checkpoint;
  tsr_inspection *listing;  // NULL when it is about one tensor
  bool grouped;             // rows stand for groups of tensors
  bool full;                // long lists are printed whole
  // --by
  const char *by_word;  // "file", "rank" or "device"; NULL = not given
  tsr_share_kind by;
  tsr_share *shares;
  int64_t share_count;
  // --stats, --hash: of each row, all tensors of a group together, or of the one tensor
  bool stats, hashes;
  tsr_survey_row *survey;
  // --tensor, --slice
  int64_t tensor;  // -1 = none in particular
  bool sliced;
  tsr_slice slice;
  tsr_values_options values;
} tsr_inspect_report;

// A file's path in the checkpoint's folder.
const char *tsr_inspect_report_file(const tsr_inspect_report *job, int64_t file);
// Whether the hash that was computed is not the one that was stored.
bool tsr_inspect_report_disagrees(const tsr_inspect_report *job, int64_t tensor,
                                  const tsr_survey_row *row);

tsr_status tsr_inspect_report_print(const tsr_inspect_report *job, tsr_text *out);
tsr_status tsr_inspect_report_to_json(const tsr_inspect_report *job, tsr_text *out);

#endif
