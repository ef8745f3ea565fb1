// Checkpoint: a model on disk, however it is stored, seen as whole tensors.
//
// One view serves a safetensors file, a Hugging Face folder, the folders of tensor-parallel engines
// with files for each rank, Tessera's own sharded folder, and NumPy's archives and arrays: a tree
// of tensors, each with a layout whose shards lie somewhere in files. Only headers are read on
// opening; after that any box of any tensor can be read, and only its bytes are (of what is packed,
// also those before it).
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
  TSR_FORMAT_ANY,  // find out
  TSR_CHECKPOINT_FORMATS(TSR_ENUMERATOR_) TSR_FORMAT_COUNT
} tsr_checkpoint_format;
#undef TSR_ENUMERATOR_
TSR_API const char *tsr_checkpoint_format_name(tsr_checkpoint_format format);  // "folder"

// Shared, and immutable once it is open: any threads may read from it at once.
typedef struct tsr_checkpoint tsr_checkpoint;

typedef struct tsr_checkpoint_options {
  size_t size;  // sizeof(tsr_checkpoint_options)
  tsr_checkpoint_format format;
  // How the tensors are cut, with their whole shapes; mesh position r is rank r. Ranks' files say
  // neither, so that it is asked for there, unless tessera-plan.json lies beside them. It must not
  // be given elsewhere.
  const tsr_plan *plan;
  // Element type of NumPy arrays that do not record one (those of ml_dtypes). Without it, arrays
  // with elements of two bytes are read as bf16 with a warning, others are refused.
  tsr_dtype fallback_dtype;
} tsr_checkpoint_options;
#define TSR_CHECKPOINT_OPTIONS TSR_SIZED(tsr_checkpoint_options)

// A safetensors file, a folder, a folder's index, a .npz archive or a .npy file. Fails with
// broken_file where headers, index and plan do not agree, naming file and tensor; with
// plan_required for ranks' files without a plan. NULL options = find out.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 3) tsr_status
    tsr_checkpoint_open(const char *path, const tsr_checkpoint_options *options,
                        tsr_checkpoint **out_checkpoint);
TSR_API TSR_NONNULL tsr_checkpoint *tsr_checkpoint_retain(const tsr_checkpoint *checkpoint);
TSR_API void tsr_checkpoint_release(const tsr_checkpoint *checkpoint);  // NULL is fine

TSR_API TSR_NONNULL tsr_checkpoint_format
tsr_checkpoint_format_of(const tsr_checkpoint *checkpoint);
// The whole tensors, in the order of the files, or of the plan. Those of pipeline stages are called
// stage0.x, stage1.x and so on, since each stage numbers its layers from 0: a map makes them one
// model.
TSR_API TSR_NONNULL const tsr_tree *tsr_checkpoint_tree(const tsr_checkpoint *checkpoint);
// How its tensors are cut; NULL where they are not, or only in stages.
TSR_API TSR_NONNULL const tsr_plan *tsr_checkpoint_plan(const tsr_checkpoint *checkpoint);
// Which shards a tensor is stored in.
TSR_API TSR_NONNULL const tsr_layout *tsr_checkpoint_layout(const tsr_checkpoint *checkpoint,
                                                            int64_t tensor);
// What the files say of the model as a whole, such as "format": "pt"; gives the number of items.
// Where files do not say the same, the first counts, and there is a warning. NumPy's have some
// where a transform wrote them.
TSR_API TSR_NONNULL int64_t tsr_checkpoint_metadata(const tsr_checkpoint *checkpoint,
                                                    const tsr_metadata **out_items);
// What is odd but not wrong, one line each; "" = nothing.
TSR_API TSR_NONNULL const char *tsr_checkpoint_warnings(const tsr_checkpoint *checkpoint);

// Where one stored copy of a shard lies: bytes [offset, offset + bytes) of a file.
typedef struct tsr_stored {
  int64_t file;      // the checkpoint's files are numbered from 0
  const char *path;  // of that file; as long as the checkpoint
  int64_t offset, bytes;
} tsr_stored;
// Formats with files for each rank have as many copies of a shard as the layout has replicas, of
// which some may be absent: false. Others have one. False also where the bytes there are not the
// shard's, because they are packed or in another order.
TSR_API TSR_NONNULL bool tsr_checkpoint_find(const tsr_checkpoint *checkpoint, int64_t tensor,
                                             int64_t shard, int64_t copy, tsr_stored *out_stored);

// Reads a box of a tensor, a range for each dimension (NULL = all of it), dense and row-major, to
// the `out_bytes` at `out`; fails with bad_argument where they are too few. From any thread.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1) tsr_status
    tsr_checkpoint_read(const tsr_checkpoint *checkpoint, int64_t tensor, const tsr_range *box,
                        void *out, int64_t out_bytes);

// The hash of a tensor's type, shape and elements in row-major order: the same for every way to
// store it. `pool` may be NULL.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(1, 4) tsr_status
    tsr_checkpoint_hash(const tsr_checkpoint *checkpoint, int64_t tensor, tsr_pool *pool,
                        tsr_hash128 *out_hash);

TSR_END_DECLS

#endif
