// Train states restored from checkpoints onto the devices, and saved.
#include "array/array.h"
#include "base/sized.h"
#include "format/format.h"
#include "partitioner/partitioner.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/save.h"
#include "tessera/place.h"
#include "tessera/plan.h"

// A format that does not exist is refused by the save.
static bool stores_shards(tsr_checkpoint_format format) {
  const tsr_format_ops *row = tsr_format_row(format);
  return format == TSR_FORMAT_ANY || (row && row->needs_plan);
}

tsr_status tsr_partitioner_restore(const tsr_partitioner *partitioner,
                                   const tsr_checkpoint *checkpoint, const tsr_plan *axes,
                                   tsr_comm *comm, const tsr_load_options *options,
                                   tsr_array_tree **out_state) {
  tsr_load_options how;
  tsr_status status = tsr_sized_read(tsr_load_options, options, &how);
  if (!status) status = tsr_partitioner_need_mesh(partitioner);
  if (status) return tsr_array_agree(comm, "load", status);
  how.planned_only = true;
  return tsr_checkpoint_load(checkpoint, axes, comm, &how, out_state);
}

tsr_status tsr_partitioner_save(const tsr_partitioner *partitioner, const tsr_array_tree *state,
                                const tsr_plan *axes, const char *path, tsr_comm *comm,
                                const tsr_save_options *options) {
  tsr_save_options how;
  tsr_status status = tsr_sized_read(tsr_save_options, options, &how);
  if (!status) status = tsr_partitioner_need_mesh(partitioner);
  if (status) return tsr_array_agree(comm, "save", status);
  if (!how.plan && stores_shards(how.format)) how.plan = axes;
  return tsr_checkpoint_save(state, path, comm, &how);
}
