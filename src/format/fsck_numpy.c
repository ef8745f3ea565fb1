// NumPy's arrays and archives: headers, the index of a folder, and the checksums of an archive.
#include "file/npy_internal.h"
#include "format/fsck.h"
#include "tessera/checkpoint/fsck.h"

static tsr_status add_header_failure(tsr_fsck *fsck, const char *file, tsr_status failure) {
  const bool unreadable = tsr_status_cause(failure) == TSR_CAUSE_IO;
  const tsr_fault_place place = {.kind = unreadable ? TSR_FAULT_UNREADABLE : TSR_FAULT_HEADER,
                                 .file = file};
  return tsr_fsck_add_failure(fsck, &place, failure);
}

tsr_status tsr_fsck_arrays(tsr_fsck *fsck) {
  for (int64_t i = 0; i < fsck->file_count; i++) {
    const char *path = NULL;
    tsr_npy npy;
    TSR_TRY(tsr_fsck_path(fsck, fsck->files[i].name, &path));
    TSR_TRY(add_header_failure(fsck, fsck->files[i].name, tsr_npy_open(path, &npy)));
  }
  if (fsck->totals[TSR_SEVERITY_ERROR]) return NULL;
  return tsr_fsck_open_whole(fsck, TSR_FAULT_DISAGREES);
}

tsr_status tsr_fsck_numpy_file(tsr_fsck *fsck) {
  return tsr_fsck_open_whole(fsck, TSR_FAULT_HEADER);
}

tsr_status tsr_fsck_members(tsr_fsck *fsck) {
  tsr_npz *npz = NULL;
  TSR_TRY(tsr_npz_open(fsck->path, &npz));
  tsr_status status = NULL;
  for (int64_t i = 0; i < tsr_npz_count(npz) && !status; i++) {
    const tsr_fault_place place = {.kind = TSR_FAULT_HASH, .tensor = tsr_npz_name(npz, i)};
    status = tsr_fsck_add_failure(fsck, &place, tsr_npz_check(npz, i));
  }
  tsr_npz_destroy(npz);
  return status;
}
