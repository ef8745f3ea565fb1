// Checkpoint: a model on disk in any format, seen as whole tensors.
//
// A checkpoint is a tree of tensors. Each tensor has a layout, and each shard of the layout has a
// place in a file. That holds for a safetensors file, a Hugging Face folder, the folders of
// tensor-parallel engines with files for each rank, Tessera's own sharded folder, and NumPy's
// archives and arrays. Opening reads headers only. Reading a box of a tensor reads only its bytes;
// of a deflated array, also those before it.
//
//   TSR_OWN(checkpoint, model);  // tessera/own.h
//   TSR_TRY(tsr_checkpoint_open("llama", NULL, &model));
//   const int64_t tensor = tsr_tree_find(tsr_checkpoint_tree(model), "lm_head.weight");
//   TSR_TRY(tsr_checkpoint_read(model, tensor, (tsr_range[]){{0, 8}, {0, 4096}}, rows,
//                               sizeof rows));
#ifndef TSR_CHECKPOINT_OPEN_H
#define TSR_CHECKPOINT_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/api.h"
#include "tessera/checkpoint/metadata.h"
#include "tessera/dtype.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/pool.h"
#include "tessera/layout.h"
#include "tessera/plan.h"
#include "tessera/status.h"
#include "tessera/tree.h"

TSR_BEGIN_DECLS

// What a reader does with replicas: elements that a checkpoint stores several times.
typedef enum tsr_replicas {
  TSR_REPLICAS_DEFAULT,  // as the field says
  TSR_REPLICAS_TRUST,    // read one of them
  TSR_REPLICAS_COMPARE   // read all of them; the first that differs is an error, copies_differ
} tsr_replicas;

// Checkpoint formats: id, the word users write.
#define TSR_CHECKPOINT_FORMATS(X)                                                              \
  X(FILE, file)       /* one safetensors file */                                               \
  X(FOLDER, folder)   /* Hugging Face: one file, or several and an index */                    \
  X(RANKS, ranks)     /* files for each rank, its slice of a tensor under the tensor's name */ \
  X(TESSERA, tessera) /* our own: each shard once, and a manifest with plan and hashes */      \
  X(NPZ, npz)         /* NumPy's archive of arrays, stored or deflated */                      \
  X(NPY, npy)         /* NumPy's arrays: one file, or a folder with one for each tensor */     \
  X(STAGES, stages)   /* folders stage0, stage1, ... with a checkpoint each; read only */
#define TSR_ENUMERATOR_(id, word) TSR_FORMAT_##id,
typedef enum tsr_checkpoint_format {
  TSR_FORMAT_ANY,  // detect it, or choose the default
  TSR_CHECKPOINT_FORMATS(TSR_ENUMERATOR_) TSR_FORMAT_COUNT
} tsr_checkpoint_format;
#undef TSR_ENUMERATOR_
TSR_API const char *tsr_checkpoint_format_name(tsr_checkpoint_format format);  // "folder"

// Shared, and immutable once it is open: any threads may read from it at once.
typedef struct tsr_checkpoint tsr_checkpoint;

typedef struct tsr_checkpoint_options {
  size_t size;  // sizeof(tsr_checkpoint_options)
  tsr_checkpoint_format format;
  // How the tensors are cut, with their whole shapes; mesh position r is rank r. Required for
  // format "ranks", whose files record neither, unless tessera-plan.json is beside them. Refused
  // elsewhere.
  const tsr_plan *plan;
  // Element type of NumPy arrays that do not record one (those of ml_dtypes). Without it, arrays
  // with elements of two bytes are read as bf16 with a warning, others are refused.
  tsr_dtype fallback_dtype;
} tsr_checkpoint_options;
#define TSR_CHECKPOINT_OPTIONS TSR_SIZED(tsr_checkpoint_options)

// Opens a safetensors file, a folder, the index of a folder, a .npz archive or a .npy file. Fails
// with broken_file if headers, index and plan disagree, and names file and tensor; with
// plan_required for format "ranks" without a plan. NULL options = defaults.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_checkpoint_open(const char *path, const tsr_checkpoint_options *options,
                        tsr_checkpoint **out_checkpoint);
TSR_API TSR_NONNULL tsr_checkpoint *tsr_checkpoint_retain(const tsr_checkpoint *checkpoint);
TSR_API void tsr_checkpoint_release(const tsr_checkpoint *checkpoint);  // NULL is fine

TSR_API TSR_NONNULL tsr_checkpoint_format
tsr_checkpoint_format_of(const tsr_checkpoint *checkpoint);
// The whole tensors, in the order of the files or of the plan. Tensors of pipeline stages are named
// stage0.x, stage1.x and so on, because each stage numbers its layers from 0; a map renames them.
TSR_API TSR_NONNULL const tsr_tree *tsr_checkpoint_tree(const tsr_checkpoint *checkpoint);
// How its tensors are cut; NULL if they are whole, and for pipeline stages.
TSR_API TSR_NONNULL const tsr_plan *tsr_checkpoint_plan(const tsr_checkpoint *checkpoint);
// The layout of a tensor as it is stored.
TSR_API TSR_NONNULL const tsr_layout *tsr_checkpoint_layout(const tsr_checkpoint *checkpoint,
                                                            int64_t tensor);
// Metadata of the files, such as "format": "pt"; returns the number of items. If files disagree,
// the first value counts, with a warning. NumPy's files have metadata if a transform wrote them.
TSR_API TSR_NONNULL int64_t tsr_checkpoint_metadata(const tsr_checkpoint *checkpoint,
                                                    const tsr_metadata **out_items);
// Warnings, one line each; "" = none.
TSR_API TSR_NONNULL const char *tsr_checkpoint_warnings(const tsr_checkpoint *checkpoint);

// The place of one stored copy of a shard: bytes [offset, offset + bytes) of a file.
typedef struct tsr_stored {
  int64_t file;      // the checkpoint's files are numbered from 0
  const char *path;  // of that file; as long as the checkpoint
  int64_t offset, bytes;
} tsr_stored;
// Finds a copy of a shard. Formats with files for each rank have one copy for each replica of the
// layout, others have one. False if the copy is absent, and if its bytes are deflated or in another
// order.
TSR_API TSR_NONNULL bool tsr_checkpoint_find(const tsr_checkpoint *checkpoint, int64_t tensor,
                                             int64_t shard, int64_t copy, tsr_stored *out_stored);

// Reads a box of a tensor, a range for each dimension (NULL = the whole tensor), dense and
// row-major, to the `out_bytes` at `out`; fails with bad_argument if they are too few. From any
// thread.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_checkpoint_read(const tsr_checkpoint *checkpoint, int64_t tensor, const tsr_range *box,
                        void *out, int64_t out_bytes);

// The hash of a tensor's dtype, shape and elements in row-major order; it does not depend on the
// format. `pool` may be NULL.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_checkpoint_hash(const tsr_checkpoint *checkpoint, int64_t tensor, tsr_pool *pool,
                        tsr_hash128 *out_hash);

TSR_END_DECLS

#endif
