// What the checks of single formats share.
#ifndef TESSERA_FORMAT_FSCK_REPORT_H
#define TESSERA_FORMAT_FSCK_REPORT_H

#include "base/arena.h"
#include "base/name_index.h"
#include "file/safetensors.h"
#include "tessera/checkpoint/fsck.h"

typedef struct tsr_fsck_file {
  const char *name;  // in the folder
  tsr_model *model;  // owned; NULL = its header could not be read
  bool named;        // by the index
} tsr_fsck_file;

// As tsr_fsck_run, for checkpoints inside of a checkpoint.
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
  tsr_name_index told;  // files with an error
  bool files_lost;      // some file is missing or cannot be read
  int64_t tensors, file_count, file_capacity;
  const char *ending;    // of files with tensors
  tsr_fsck_file *files;  // owned: all that end so, by name
  int64_t stage_files;   // that pipeline stages have
  bool single;           // the path is a file
  bool repaired;
};

// A fault is a row; the message is printed after the name of the file.
typedef struct tsr_fault_place {
  tsr_fault_kind kind;
  tsr_severity severity;
  bool repairable;
  const char *file, *tensor;
} tsr_fault_place;
TSR_MUST_USE TSR_PRINTF(3, 4) tsr_status
    tsr_fsck_add(tsr_fsck *fsck, const tsr_fault_place *place, const char *format, ...);
// A failure that is about the model becomes a fault; out of memory stays a failure.
TSR_MUST_USE tsr_status tsr_fsck_add_failure(tsr_fsck *fsck, const tsr_fault_place *place,
                                             tsr_status failure);
// The header of a file, NULL where it is none; what is wrong with it is told.
TSR_MUST_USE tsr_status tsr_fsck_read_header(tsr_fsck *fsck, const char *name,
                                             tsr_model **out_model);
// Whether an error of this file has been added.
bool tsr_fsck_is_told(const tsr_fsck *fsck, const char *file);
// The path of a file in the folder, in the arena.
TSR_MUST_USE tsr_status tsr_fsck_path(tsr_fsck *fsck, const char *name, const char **out_path);

// Opens it as a checkpoint, which holds index, plan or manifest against the headers. `kind` is what
// a failure is after which nothing more can be said.
TSR_MUST_USE tsr_status tsr_fsck_open_whole(tsr_fsck *fsck, tsr_fault_kind kind);

// Checks headers of safetensors files, then opens the checkpoint: for formats with slices.
TSR_MUST_USE tsr_status tsr_fsck_slices(tsr_fsck *fsck);

// ---- what is known ----

const char *tsr_severity_name(tsr_severity severity);  // "error"

// The number of faults of a severity.
int64_t tsr_fsck_total(const tsr_fsck *fsck, tsr_severity severity);
// How many were looked at.
int64_t tsr_fsck_tensors(const tsr_fsck *fsck);
int64_t tsr_fsck_files(const tsr_fsck *fsck);

#endif
