// Inspect: what a checkpoint holds, and where.
//
// Rows are tensors, or groups of tensors whose names differ only in numbers. Sums give the bytes in
// each file, and on each rank or device. All this comes from headers. tsr_checkpoint_survey reads
// elements once, in parallel, within a memory limit. Slices read only the elements they show.
//
//   tsr_inspection *listing = NULL;
//   TSR_TRY(tsr_inspection_create(model, NULL, &listing));
//   for (int64_t i = 0; i < tsr_inspection_count(listing); i++)
//     puts(tsr_inspection_row(listing, i)->name);
#ifndef TESSERA_INSPECT_INSPECT_INTERNAL_H
#define TESSERA_INSPECT_INSPECT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "element/slice.h"
#include "json/json.h"
#include "plan/tree_internal.h"
#include "tessera/api.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/dtype.h"
#include "tessera/engine/kernels.h"
#include "tessera/spec.h"
#include "tessera/status.h"
#include "tessera/text.h"

// How rows are ordered: id, the word users write. Numbers in names count as numbers.
#define TSR_INSPECT_ORDERS(X)                     \
  X(TREE, "tree")   /* order of the checkpoint */ \
  X(NAME, "name")   /* */                         \
  X(BYTES, "bytes") /* the largest first */       \
  X(FILE, "file")   /* by the place of the first stored byte */
#define TSR_ENUMERATOR_(id, word) TSR_INSPECT_BY_##id,
typedef enum tsr_inspect_order {
  TSR_INSPECT_ORDERS(TSR_ENUMERATOR_) TSR_INSPECT_ORDER_COUNT
} tsr_inspect_order;
#undef TSR_ENUMERATOR_
TSR_MUST_USE tsr_status tsr_inspect_order_parse(const char *word, tsr_inspect_order *out_order);

typedef struct tsr_inspect_options {
  size_t size;             // sizeof(tsr_inspect_options)
  tsr_tree_filter filter;  // which tensors
  bool group;              // one row for tensors of equal pattern, dtype, shape and spec
  tsr_inspect_order order;
} tsr_inspect_options;
#define TSR_INSPECT_OPTIONS TSR_SIZED(tsr_inspect_options)

typedef struct tsr_inspect_row {
  const char *name;         // of the tensor, or the pattern of a group: "layers.*.norm.weight"
  int64_t count;            // of tensors
  const int64_t *tensors;   // their places in the checkpoint's tree, ascending
  const tsr_spec *spec;     // NULL = the checkpoint is not cut
  int64_t elements, bytes;  // of all of them, each counted once
  int64_t stored;           // bytes in files before compression, replicas included
  int file;                 // of the first stored byte; -1 = all are empty
  int64_t offset;           // of that byte
  int files;                // that hold some of them
} tsr_inspect_row;

typedef struct tsr_inspection tsr_inspection;

// Retains the checkpoint. NULL options = all tensors, a row each.
TSR_MUST_USE tsr_status tsr_inspection_create(const tsr_checkpoint *checkpoint,
                                              const tsr_inspect_options *options,
                                              tsr_inspection **out_inspection);
void tsr_inspection_destroy(tsr_inspection *inspection);  // NULL is fine
int64_t tsr_inspection_count(const tsr_inspection *inspection);
const tsr_inspect_row *tsr_inspection_row(const tsr_inspection *inspection, int64_t row);

// Of all rows, or of those of one dtype. Counts saturate at 2^63 - 1.
typedef struct tsr_inspect_sums {
  int64_t tensors, elements, bytes, stored;
} tsr_inspect_sums;
tsr_inspect_sums tsr_inspection_sums(const tsr_inspection *inspection, tsr_dtype dtype);

// What bytes are counted by: id, the word users write.
#define TSR_SHARES(X)                                                                   \
  X(FILE, "file")     /* stored in each file */                                         \
  X(RANK, "rank")     /* held by each mesh position; of format ranks, what is stored */ \
  X(DEVICE, "device") /* held by each device, by its id */
#define TSR_ENUMERATOR_(id, word) TSR_SHARE_BY_##id,
typedef enum tsr_share_kind { TSR_SHARES(TSR_ENUMERATOR_) TSR_SHARE_KIND_COUNT } tsr_share_kind;
#undef TSR_ENUMERATOR_
typedef struct tsr_share {
  int64_t id;       // the file's number, the mesh position or the device's id
  int64_t tensors;  // with at least one element there
  int64_t bytes;
} tsr_share;
// In a block to free(). Ranks and devices need a checkpoint with a plan.
TSR_MUST_USE tsr_status tsr_inspection_shares(const tsr_inspection *inspection, tsr_share_kind by,
                                              tsr_share **out_shares, int64_t *out_count);

typedef struct tsr_survey_row {
  tsr_tensor_stats stats;
  tsr_hash128 hash;
} tsr_survey_row;

// Statistics and hashes of some tensors, a row each; each byte is read once. Uses `stats`,
// `hashes`, `replicas`, memory, jobs and progress of the options.
TSR_MUST_USE tsr_status tsr_checkpoint_survey(const tsr_checkpoint *checkpoint,
                                              const int64_t *tensors, int64_t count,
                                              const tsr_verify_options *options,
                                              tsr_survey_row *out_rows);

// Reads a slice of a tensor, dense and row-major. Only its elements are read, and gaps that are
// cheaper to read than to skip. Fails with bad_argument if `out_bytes` are too few.
TSR_MUST_USE tsr_status tsr_checkpoint_read_slice(const tsr_checkpoint *checkpoint, int64_t tensor,
                                                  const tsr_slice *slice, void *out,
                                                  int64_t out_bytes);

typedef struct tsr_values_options {
  size_t size;         // sizeof(tsr_values_options)
  int64_t most;        // elements shown whole; beyond, only the ends of each dimension. 0 = 1000
  int edge;            // elements at each end. 0 = 3
  int width;           // columns of a line. 0 = 75
  int64_t max_memory;  // bytes for reading and printing. 0 = 1 GiB
} tsr_values_options;
#define TSR_VALUES_OPTIONS TSR_SIZED(tsr_values_options)

// Prints a slice as NumPy prints arrays, and reads only what it shows.
TSR_MUST_USE tsr_status tsr_checkpoint_print_values(const tsr_checkpoint *checkpoint,
                                                    int64_t tensor, const tsr_slice *slice,
                                                    const tsr_values_options *options,
                                                    tsr_text *out);
// Writes a whole slice as nested lists. Floats that are not finite are strings ("nan", "-inf"),
// complex numbers lists of two. A slice without elements is one empty list.
TSR_MUST_USE tsr_status tsr_checkpoint_write_values(const tsr_checkpoint *checkpoint,
                                                    int64_t tensor, const tsr_slice *slice,
                                                    const tsr_values_options *options,
                                                    tsr_json_writer *writer);

#endif
