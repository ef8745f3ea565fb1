// Shared by the text and the JSON of `tessera inspect`.
#include "report/report.h"

#include <string.h>

#include "base/hash_internal.h"
#include "store/checkpoint_internal.h"

const char *tsr_inspect_report_file(const tsr_inspect_report *job, int64_t file) {
  const char *path = tsr_checkpoint_file_at(job->checkpoint, file), *slash = strrchr(path, '/');
  const char *folder = tsr_checkpoint_path(job->checkpoint);
  size_t length = strlen(folder);
  while (length > 1 && folder[length - 1] == '/') length--;
  // Folders of pipeline stages have files of the same names: keep the folder.
  if (!strncmp(path, folder, length) && path[length] == '/')
    return path + length + strspn(path + length, "/");
  return slash ? slash + 1 : path;
}

bool tsr_inspect_report_disagrees(const tsr_inspect_report *job, int64_t tensor,
                                  const tsr_survey_row *row) {
  tsr_hash128 known;
  return job->hashes && tsr_checkpoint_known_hash(job->checkpoint, tensor, &known) &&
         !tsr_hash128_equal(known, row->hash);
}
