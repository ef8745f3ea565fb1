// A checkpoint format is one row of functions, a tsr_format_ops, in a file of its own. Rows are
// listed in TSR_CHECKPOINT_FORMATS (tessera/checkpoint/open.h). Everything above this room asks the
// row; no other code compares formats. docs/adding-a-format.md walks through a row.
#ifndef TESSERA_FORMAT_FORMAT_H
#define TESSERA_FORMAT_FORMAT_H

#include "format/fsck_report.h"
#include "format/target.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"

// What a path looks like before its format is known.
typedef struct tsr_format_probe {
  const char *path;
  bool folder;
  char start[8];  // first bytes of a file, then zeros; zeros if the file's name decides
} tsr_format_probe;

// When a format is tried. Strict tests come first; within a stage, the order of the list.
typedef enum tsr_detect_stage {
  TSR_DETECT_BY_INDEX,   // a file that no other format has
  TSR_DETECT_BY_NAME,    // names of files or folders, or the first bytes of a file
  TSR_DETECT_BY_ENDING,  // any file that ends so
  TSR_DETECT_REST,       // every folder, or every file
  TSR_DETECT_STAGE_COUNT
} tsr_detect_stage;

typedef struct tsr_format_ops {
  const char *name;  // the word users write: "npz"

  // ---- files ----
  const char *single_name;      // the result is one file with this name; NULL = a folder
  const char *index_name;       // the file that describes a folder; NULL = none
  const char *ending;           // of files with tensors
  const char *const *patterns;  // of all its files, for fnmatch; ends with NULL
  bool needs_plan;              // tensors are cut by a plan; false = stored whole
  bool stores_replicas;         // every rank's files hold its shards, replicas too
  bool file_per_tensor;
  bool nested;          // a folder of checkpoints
  bool fallback_dtype;  // reads tsr_checkpoint_options.fallback_dtype

  // ---- reading ----
  tsr_detect_stage stage;
  tsr_status (*detect)(const tsr_format_probe *probe, bool *out_found);
  // Fills tree, plan and store of a checkpoint whose path is set. reading.h has the shared steps.
  tsr_status (*read)(tsr_checkpoint *checkpoint, const tsr_checkpoint_options *options);

  // ---- writing, in the order of the calls (target.h) ----
  const char *cannot_write;  // why not; NULL = the functions below are set
  // The name of file `index`, in `size` bytes. Not called for formats with a single_name.
  void (*name_file)(const tsr_dealing *deal, int64_t index, char *out, size_t size);
  // Header, size and the place of each shard of one file.
  tsr_status (*lay_out)(const tsr_dealing *deal, const tsr_bin *bin, tsr_target_file *file);
  // Sets target's index_name and index, or index_bytes if `end` makes the index. NULL = no index.
  tsr_status (*make_index)(const tsr_dealing *deal);
  // The digest of each block as it is written; NULL = none.
  tsr_hash128 (*digest)(const void *bytes, int64_t length);
  // After the last block: turns digests into the index or the end of a file. NULL = nothing to do.
  tsr_status (*end)(tsr_target *target, const tsr_target_end *end);
  // What identifies `target->state` for a job that is resumed; and freeing it. NULL = no state.
  void (*describe_state)(const tsr_target *target, tsr_text *out);
  void (*destroy_state)(void *state);

  // ---- checking (fsck_report.h) ----
  tsr_status (*check)(tsr_fsck *fsck);
  // Checksums in the files cover all elements; NULL = elements are read and hashed.
  tsr_status (*check_elements)(tsr_fsck *fsck);
} tsr_format_ops;

#define TSR_FORMAT_ROW_(id, word) extern const tsr_format_ops tsr_format_##word;
TSR_CHECKPOINT_FORMATS(TSR_FORMAT_ROW_)
#undef TSR_FORMAT_ROW_

// Rows beside the list, with numbers from TSR_FORMAT_COUNT on; NULL after the last. The library has
// none. A test program that defines this function adds its own.
const tsr_format_ops *tsr_format_added(int index);

// The row of a format; NULL for TSR_FORMAT_ANY and for numbers that no row has.
const tsr_format_ops *tsr_format_row(tsr_checkpoint_format format);
// Fails with bad_argument unless the format is TSR_FORMAT_ANY or has a row.
TSR_MUST_USE tsr_status tsr_checkpoint_check_format(tsr_checkpoint_format format);
// The format written if none is named: cut by a plan, or whole.
tsr_checkpoint_format tsr_format_default(bool cut);
// The format whose result is one file with the ending of this path; ANY = none.
tsr_checkpoint_format tsr_format_of_file_name(const char *path);
// The ending of the single file of a format, ".npz"; NULL = its result is a folder.
const char *tsr_format_single_ending(tsr_checkpoint_format format);
// Whether a name is that of a tensor file or an index of any format.
bool tsr_formats_own(const char *name);
// The format of the file or folder at a path.
TSR_MUST_USE tsr_status tsr_format_detect(const char *path, tsr_checkpoint_format *out_format);

// As tsr_checkpoint_open, but reports every fault and continues where possible. A checkpoint with
// a reported fault cannot be read.
TSR_MUST_USE tsr_status tsr_checkpoint_open_reporting(const char *path,
                                                      const tsr_checkpoint_options *options,
                                                      tsr_fault_fn *report, void *context,
                                                      tsr_checkpoint **out_checkpoint);

#endif
