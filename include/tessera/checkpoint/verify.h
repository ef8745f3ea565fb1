// Verify: whether two checkpoints hold the same tensors, in any two formats and layouts.
//
// Whole tensors are compared by name, element by element in row-major order. By default every byte
// of both checkpoints is read, replicas included, within the memory limit.
//
//   tsr_verification *result = NULL;
//   TSR_TRY(tsr_checkpoint_verify(before, after, NULL, &result));
//   const bool equal = tsr_verification_equal(result);
//   tsr_verification_destroy(result);
#ifndef TSR_CHECKPOINT_VERIFY_H
#define TSR_CHECKPOINT_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "tessera/status.h"
#include "tessera/text.h"

TSR_BEGIN_DECLS

// How a tensor compares: id, the word programs read, what people read.
#define TSR_VERDICTS(X)                                     \
  X(SAME, "same", "the same")                               \
  X(ONLY_IN_FIRST, "only_in_first", "only in the first")    \
  X(ONLY_IN_SECOND, "only_in_second", "only in the second") \
  X(SHAPES, "shapes_differ", "the shapes differ")           \
  X(DTYPES, "dtypes_differ", "the element types differ")    \
  X(VALUES, "values_differ", "the values differ")           \
  X(COPIES, "copies_differ", "its replicas in one checkpoint differ")
#define TSR_ENUMERATOR_(id, word, text) TSR_VERDICT_##id,
typedef enum tsr_verdict { TSR_VERDICTS(TSR_ENUMERATOR_) TSR_VERDICT_COUNT } tsr_verdict;
#undef TSR_ENUMERATOR_
TSR_API const char *tsr_verdict_name(tsr_verdict verdict);  // "values_differ"

// Statistics of a tensor's elements as doubles; a complex number counts as two. Minimum, maximum,
// mean and 2-norm are of the finite elements, NaN if there are none.
typedef struct tsr_tensor_stats {
  int64_t count, nans, infinities;
  double min, max, mean, norm;
} tsr_tensor_stats;

typedef struct tsr_verify_options {
  size_t size;  // sizeof(tsr_verify_options)
  // Applied to one checkpoint before the comparison: the first, or the second if `mapped` is 1. The
  // stored hashes of that checkpoint are not used then. NULL = none.
  const tsr_mapping *map;
  int64_t mapped;
  // Compare stored hashes first and read only tensors whose hashes differ or are missing. Finds
  // tensors that were written differently, not damage since.
  bool trust_hashes;
  tsr_replicas replicas;  // of both checkpoints; default: compare
  // Elements are equal if they differ by at most absolute + relative * |second|, as doubles; NaN
  // equals NaN. Dtypes may differ, as after a cast.
  bool tolerant;
  double absolute, relative;
  bool hashes;                // fill in the hash of every tensor
  bool stats;                 // fill in statistics of every tensor
  int64_t max_memory;         // bytes of the whole process; 0 = 1 GiB
  int jobs;                   // workers; 0 = one for each CPU
  tsr_progress_fn *progress;  // bytes read; NULL = none. False cancels: TSR_CAUSE_CANCELLED
  void *progress_context;
  double progress_interval;  // least seconds between two reports; 0 = 0.1
} tsr_verify_options;
#define TSR_VERIFY_OPTIONS TSR_SIZED(tsr_verify_options)

// One tensor. Fields that were not requested or not computed are 0.
typedef struct tsr_verify_row {
  const char *name;
  tsr_verdict verdict;
  int64_t tensors[2];  // its index in each tree; -1 = not present
  bool hashed[2];
  tsr_hash128 hashes[2];
  int64_t differing;          // number of elements that differ
  int64_t first;              // row-major index of the first; -1 = none
  const char *values[2];      // of that element, as text; NULL = none
  double absolute, relative;  // the largest errors among finite numbers
  tsr_tensor_stats stats[2];
  const char *message;  // about replicas that differ; NULL = none
} tsr_verify_row;

// One owner. Immutable, so any thread may read it.
typedef struct tsr_verification tsr_verification;

// Rows come in the order of the first checkpoint, then tensors of the second only. Differences are
// not a failure; a read error is.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_checkpoint_verify(const tsr_checkpoint *first, const tsr_checkpoint *second,
                          const tsr_verify_options *options, tsr_verification **out_verification);
TSR_API void tsr_verification_destroy(tsr_verification *verification);  // NULL is fine
TSR_API TSR_NONNULL bool tsr_verification_equal(const tsr_verification *verification);
TSR_API TSR_NONNULL int64_t tsr_verification_count(const tsr_verification *verification);
TSR_API TSR_NONNULL const tsr_verify_row *tsr_verification_at(const tsr_verification *verification,
                                                              int64_t row);
// One line: `"w": the values differ: 3 of 48 elements, first at (0, 5): 1.0 and 2.0`.
TSR_API TSR_NONNULL void tsr_verification_print_row(const tsr_verification *verification,
                                                    int64_t row, tsr_text *out);

// Statistics of one tensor, by the workers of a pool (NULL = this thread).
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_checkpoint_stats(const tsr_checkpoint *checkpoint, int64_t tensor, tsr_pool *pool,
                         tsr_tensor_stats *out_stats);

TSR_END_DECLS

#endif
