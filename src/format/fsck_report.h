// The report that checks of formats add faults to, and the checks that formats share.
#ifndef TESSERA_FORMAT_FSCK_REPORT_H
#define TESSERA_FORMAT_FSCK_REPORT_H

#include "base/arena.h"
#include "base/name_index.h"
#include "file/safetensors.h"
#include "tessera/checkpoint/fsck.h"

typedef struct tsr_fsck_file {
  const char *name;  // in the folder
  tsr_model *model;  // owned; NULL = its header could not be read
  bool named;        // in the index
} tsr_fsck_file;

// tsr_fsck_run, for checkpoints inside a checkpoint.
typedef tsr_status tsr_fsck_fn(const char *path, const tsr_fsck_options *options,
                               tsr_fsck **out_fsck);

struct tsr_fsck {
  tsr_fsck_options options;
  tsr_fsck_fn *check_nested;
  const char *path;  // of the folder or file; borrowed while it runs
  tsr_arena arena;
  int64_t count, capacity;
  tsr_fault *faults;  // owned
  int64_t totals[TSR_SEVERITY_COUNT];
  tsr_name_index reported;  // files with an error
  bool files_missing;       // some file is missing or unreadable
  int64_t tensors, file_count, file_capacity;
  const char *ending;    // of tensor files
  tsr_fsck_file *files;  // owned: all files with this ending, by name
  int64_t stage_files;   // files of pipeline stages
  bool single;           // the path is a file
  bool repaired;
};

// Adds a copy of a fault with this message, which names the file itself. No `file` is the folder.
TSR_MUST_USE TSR_PRINTF(3, 4) tsr_status
    tsr_fsck_add(tsr_fsck *fsck, const tsr_fault *place, const char *format, ...);
// Turns a failure into a fault. Out of memory and cancellation stay failures.
TSR_MUST_USE tsr_status tsr_fsck_add_failure(tsr_fsck *fsck, const tsr_fault *place,
                                             tsr_status failure);
// Reads the header of a safetensors file and reports its faults; NULL = no legal header.
TSR_MUST_USE tsr_status tsr_fsck_read_header(tsr_fsck *fsck, const char *name,
                                             tsr_model **out_model);
// Whether an error of this file is in the report.
bool tsr_fsck_is_reported(const tsr_fsck *fsck, const char *file);
// The path of a file in the folder, in the arena.
TSR_MUST_USE tsr_status tsr_fsck_path(tsr_fsck *fsck, const char *name, const char **out_path);

// Opens the checkpoint and reports every fault that its reader finds. `kind` is the kind of a
// failure that ends the reading.
TSR_MUST_USE tsr_status tsr_fsck_open_whole(tsr_fsck *fsck, tsr_fault_kind kind);

// Checks headers of safetensors files, then opens the checkpoint: for formats with slices.
TSR_MUST_USE tsr_status tsr_fsck_slices(tsr_fsck *fsck);

// ---- results ----

const char *tsr_severity_name(tsr_severity severity);  // "error"

// The number of faults of a severity.
int64_t tsr_fsck_total(const tsr_fsck *fsck, tsr_severity severity);
// The number of tensors and files checked.
int64_t tsr_fsck_tensors(const tsr_fsck *fsck);
int64_t tsr_fsck_files(const tsr_fsck *fsck);

#endif
