// What `tessera inspect` shows, gathered before it is printed as text or as data.
#ifndef TESSERA_CLI_INSPECT_VIEWS_H
#define TESSERA_CLI_INSPECT_VIEWS_H

#include "cli/checkpoint_source.h"
#include "element/slice.h"
#include "inspect/inspect_internal.h"
#include "tessera/checkpoint/open.h"

typedef struct cli_inspect {
  const cli_args *args;
  tsr_checkpoint *checkpoint;
  tsr_inspection *listing;  // NULL when it is about one tensor
  // --by
  bool shared;
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
