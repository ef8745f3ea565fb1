// What `tessera inspect` shows, gathered before it is printed as text or as data.
#ifndef TESSERA_REPORT_INSPECT_REPORT_H
#define TESSERA_REPORT_INSPECT_REPORT_H

#include "element/slice.h"
#include "inspect/inspect_internal.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/verify.h"

typedef struct cli_inspect {
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
} cli_inspect;

// A file's path in the checkpoint's folder.
const char *cli_inspect_file(const cli_inspect *job, int64_t file);
// Whether the hash that was computed is not the one that was stored.
bool cli_inspect_disagrees(const cli_inspect *job, int64_t tensor, const tsr_survey_row *row);

tsr_status cli_inspect_print(const cli_inspect *job, tsr_text *out);
tsr_status cli_inspect_write(const cli_inspect *job, tsr_text *out);

#endif
