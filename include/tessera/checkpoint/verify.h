// Verify: whether two checkpoints hold the same tensors, however each of them is stored.
//
// Tensors are compared as wholes, by name, element by element in row-major order: a file against a
// folder, 8 ranks' files against 4 of our own. By default every byte of both is read, and every
// stored copy; within the memory that is allowed, whatever the size of the model.
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

// About a tensor's elements, as doubles; of complex ones, about their parts. Minimum, maximum and
// mean are of those that are finite, NaN where there are none; so is the norm, the root of the sum
// of their squares.
typedef struct tsr_tensor_stats {
  int64_t count, nans, infinities;
  double min, max, mean, norm;
} tsr_tensor_stats;

typedef struct tsr_verify_options {
  size_t size;  // sizeof(tsr_verify_options)
  // Compare what this makes of one checkpoint's tensors with the other: it must have been applied
  // to the tree of the first, or where `mapped` is 1 to that of the second. The hashes that this
  // checkpoint stores are not believed then. NULL = as they are.
  const tsr_mapping *map;
  int64_t mapped;
  // Believe the hashes that a checkpoint stores: of tensors that have one in both, nothing is read
  // unless they differ. Finds what was written differently, not what was damaged later.
  bool trust_hashes;
  tsr_replicas replicas;  // of both checkpoints; default: compare
  // Equal is what differs by at most absolute + relative * |second|, compared as doubles; NaN
  // equals NaN. Types may then differ, as they do after a cast.
  bool tolerant;
  double absolute, relative;
  bool hashes;                // give the hash of every tensor
  bool stats;                 // give statistics of every tensor
  int64_t max_memory;         // bytes that the process may take; 0 = 1 GiB
  int jobs;                   // workers; 0 = one for each CPU
  tsr_progress_fn *progress;  // bytes read; NULL = none. False cancels: TSR_CAUSE_CANCELLED
  void *progress_context;
  double progress_interval;  // seconds between two reports at least; 0 = 0.1
} tsr_verify_options;
#define TSR_VERIFY_OPTIONS TSR_SIZED(tsr_verify_options)

// One tensor. What was not asked for, or not looked at, is 0.
typedef struct tsr_verify_row {
  const char *name;
  tsr_verdict verdict;
  int64_t tensors[2];  // its place in each tree that is compared; -1 = not there
  bool hashed[2];
  tsr_hash128 hashes[2];
  int64_t differing;          // elements that do
  int64_t first;              // of these, counted in row-major order; -1 = none
  const char *values[2];      // of that element, as text; NULL = none
  double absolute, relative;  // the largest errors; where both are finite numbers
  tsr_tensor_stats stats[2];
  const char *message;  // about replicas that differ; NULL = none
} tsr_verify_row;

// One owner. Not changed after tsr_checkpoint_verify: any threads may look at it.
typedef struct tsr_verification tsr_verification;

// Compares them. Rows come in the order of the first checkpoint, then those that only the second
// has. Fails when something cannot be read; differences are no failure.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 2, 4) tsr_status
    tsr_checkpoint_verify(const tsr_checkpoint *first, const tsr_checkpoint *second,
                          const tsr_verify_options *options, tsr_verification **out_verification);
TSR_API void tsr_verification_destroy(tsr_verification *verification);  // NULL is fine
TSR_API TSR_NONNULL bool tsr_verification_equal(const tsr_verification *verification);
TSR_API TSR_NONNULL int64_t tsr_verification_count(const tsr_verification *verification);
TSR_API TSR_NONNULL const tsr_verify_row *tsr_verification_at(const tsr_verification *verification,
                                                              int64_t row);
// One line of what is different: `"w": the values differ: 3 of 48 elements, first at (0, 5): 1.0
// and 2.0`.
TSR_API TSR_NONNULL void tsr_verification_print_row(const tsr_verification *verification,
                                                    int64_t row, tsr_text *out);

// Statistics of one tensor, by the workers of a pool (NULL = this thread).
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_checkpoint_stats(const tsr_checkpoint *checkpoint, int64_t tensor, tsr_pool *pool,
                         tsr_tensor_stats *out_stats);

TSR_END_DECLS

#endif
