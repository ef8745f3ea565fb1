// A comparison of two checkpoints, shared by verify.c and verify_blocks.c.
#ifndef TESSERA_INSPECT_VERIFY_TENSORS_H
#define TESSERA_INSPECT_VERIFY_TENSORS_H

#include "inspect/elements.h"
#include "job/job_limits.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "tessera/tree.h"
#include "view/view.h"

struct tsr_verification {
  int64_t count, bytes_read;
  tsr_verify_row *rows;  // owned
  int64_t totals[TSR_VERDICT_COUNT];
  tsr_tree *trees[2];  // owned
  tsr_arena arena;     // values and messages
};

// A row for each name in the two trees.
TSR_MUST_USE tsr_status tsr_verification_make_rows(tsr_verification *result);

// The sides of a row to read.
enum { TSR_READ_FIRST = 1, TSR_READ_SECOND = 2, TSR_READ_BOTH = 3 };

typedef struct tsr_verify_block tsr_verify_block;
typedef struct tsr_verify_worker tsr_verify_worker;

typedef struct tsr_verify_job {
  tsr_verification *result;
  tsr_verify_options options;
  const tsr_checkpoint *sides[2];
  tsr_views views[2];
  const tsr_hash128 *known[2];  // of each view; NULL = not stored, or not trusted
  unsigned char *reads;         // owned: of each row, TSR_READ_*; 0 = none
  int64_t *first_block;         // owned: of each row, and one past the last
  tsr_verify_block *blocks;     // owned
  tsr_verify_worker *own;       // owned: what each worker has of its own
  tsr_job_workers workers;
} tsr_verify_job;

// The tensor of a row on one side, NULL = not present; and whether both have the same dtype.
const tsr_view *tsr_verify_view(const tsr_verify_job *job, int64_t row, int which);
bool tsr_verify_one_type(const tsr_verify_job *job, int64_t row);
TSR_MUST_USE tsr_status tsr_verify_take_message(const tsr_verify_job *job, tsr_verify_row *row,
                                                const char *message);

// Statistics of one tensor (survey.c).
TSR_MUST_USE tsr_status tsr_view_stats(const tsr_view *view, tsr_pool *pool,
                                       tsr_tensor_stats *out_stats);

// Reads the chosen sides of all rows and fills in the rows. Below, the bytes of its tables and of
// each worker, without what views take to read.
TSR_MUST_USE tsr_status tsr_verify_pass(tsr_verify_job *job);
TSR_MUST_USE tsr_status tsr_verify_make_workers(tsr_verify_job *job);
void tsr_verify_free_workers(tsr_verify_job *job);
int64_t tsr_verify_block_memory(const tsr_verify_job *job);
int64_t tsr_verify_worker_memory(const tsr_verify_job *job);

#endif
