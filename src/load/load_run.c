// Running a load: makes the arrays, reads and sends in rounds, and gives a tree of them.
#include <stdlib.h>

#include "base/progress_internal.h"
#include "job/job_limits.h"
#include "load/load.h"
#include "plan/plan.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/array.h"
#include "tessera/place.h"

static tsr_status agree(const tsr_load *load, tsr_status found) {
  return tsr_load_agree(load->comm, "load", found);
}

// All ranks must run the same of several loads.
static tsr_status agree_to_start(const tsr_load *load, tsr_status found) {
  tsr_call c = tsr_call_begin(load->comm, "load_run");
  tsr_call_describe(&c, "load_run of %lld tensors, %lld bytes", (long long)load->count,
                    (long long)load->certificate.total_read);
  tsr_call_hash(&c, &load->agreed, sizeof load->agreed);
  return tsr_load_agree_on(&c, found);
}

// ---- arrays ----

static void release_arrays(tsr_array **arrays, int64_t count) {
  for (int64_t i = 0; i < count && arrays; i++) tsr_array_release(arrays[i]);
  free(arrays);
}

// Arrays and slots both have the shards of this rank, each on its first device.
static tsr_status make_array(tsr_load *load, tsr_load_tensor *t, tsr_array **out_array) {
  TSR_TRY_NOTE(tsr_array_empty(load->comm, t->layout, t->view->dtype, out_array), "tensor \"%s\"",
               t->view->name);
  for (int64_t i = 0; i < t->slot_count; i++) {
    const int64_t slot = tsr_array_local_find(*out_array, t->slots[i].device);
    t->slots[i].data = (*out_array)->slots[slot].data;
  }
  return NULL;
}

static tsr_status make_arrays(tsr_load *load, tsr_array ***out_arrays) {
  *out_arrays = calloc((size_t)load->count + 1, sizeof **out_arrays);
  if (!*out_arrays) return tsr_fail(NO_MEMORY, "%lld arrays", (long long)load->count);
  for (int64_t i = 0; i < load->count; i++)
    TSR_TRY(make_array(load, &load->tensors[i], &(*out_arrays)[i]));
  return NULL;
}

static tsr_status make_tree(const tsr_load *load, tsr_array *const *arrays,
                            tsr_array_tree **out_tree) {
  tsr_leaf *leaves = calloc((size_t)load->count + 1, sizeof *leaves);
  if (!leaves) return tsr_fail(NO_MEMORY, "%lld arrays", (long long)load->count);
  for (int64_t i = 0; i < load->count; i++)
    leaves[i] = (tsr_leaf){
        .tensor.path = load->tensors[i].view->name, .kind = TSR_LEAF_ARRAY, .array = arrays[i]};
  tsr_status status = tsr_array_tree_create(leaves, load->count, out_tree);
  free(leaves);
  return status;
}

// ---- rounds ----

static tsr_status do_rounds(tsr_load *load, tsr_progress *progress) {
  for (int64_t r = 0; r < load->certificate.rounds; r++) {
    const int64_t *tensors = load->order + load->rounds[r];
    const int64_t count = load->rounds[r + 1] - load->rounds[r];
    TSR_TRY(agree(load, tsr_load_read(load, tensors, count, progress)));
    if (!load->options.alone) TSR_TRY(tsr_load_share(load, tensors, count));
  }
  return NULL;
}

static tsr_status start(tsr_load *load, tsr_array ***out_arrays, tsr_progress **out_progress) {
  TSR_TRY(make_arrays(load, out_arrays));
  return tsr_job_limits_report(&TSR_JOB_LIMITS_OF(&load->options, 0), "load",
                               load->certificate.bytes_read, out_progress);
}

tsr_status tsr_load_run(tsr_load *load, tsr_array_tree **out_tree) {
  tsr_array **arrays = NULL;
  tsr_array_tree *tree = NULL;
  tsr_progress *progress = NULL;
  load->report = TSR_LOAD_REPORT;
  free(load->touched);
  load->touched = NULL;
  tsr_status status = agree_to_start(load, start(load, &arrays, &progress));
  if (!status) status = do_rounds(load, progress);
  if (!status) status = agree(load, make_tree(load, arrays, &tree));
  tsr_progress_finish(progress);
  release_arrays(arrays, load->count);
  if (status)
    tsr_array_tree_release(tree);
  else
    *out_tree = tree;
  return status;
}

tsr_status tsr_checkpoint_load(const tsr_checkpoint *checkpoint, const tsr_plan *plan,
                               tsr_comm *comm, const tsr_load_options *options,
                               tsr_array_tree **out_tree) {
  tsr_load *load = NULL;
  TSR_TRY(tsr_load_create(checkpoint, plan, comm, options, &load));
  tsr_status status = tsr_load_run(load, out_tree);
  tsr_load_destroy(load);
  return status;
}

tsr_status tsr_checkpoint_open_all(tsr_comm *comm, const char *path,
                                   const tsr_checkpoint_options *options,
                                   tsr_checkpoint **out_checkpoint) {
  tsr_checkpoint *checkpoint = NULL;
  tsr_status status = tsr_load_agree(comm, "open", tsr_checkpoint_open(path, options, &checkpoint));
  if (status)
    tsr_checkpoint_release(checkpoint);
  else
    *out_checkpoint = checkpoint;
  return status;
}

static tsr_status plan_load(const tsr_checkpoint *checkpoint, const tsr_mesh *mesh,
                            const char *rules, const tsr_load_options *options,
                            tsr_plan **out_plan) {
  tsr_tree *tree = NULL;
  TSR_TRY(tsr_load_tree(checkpoint, options, &tree));
  tsr_status status =
      tsr_plan_tree_by_text(tree, tsr_checkpoint_path(checkpoint), mesh, rules, out_plan);
  tsr_tree_release(tree);
  return status;
}

tsr_status tsr_checkpoint_load_path(const char *path, const tsr_mesh *mesh, const char *rules,
                                    tsr_comm *comm, const tsr_load_options *options,
                                    tsr_array_tree **out_tree) {
  tsr_checkpoint *checkpoint = NULL;
  tsr_plan *plan = NULL;
  TSR_TRY(tsr_checkpoint_open_all(comm, path, NULL, &checkpoint));
  tsr_status status = plan_load(checkpoint, mesh, rules, options, &plan);
  // Other ranks may have made a plan and wait to compare it.
  if (status)
    status = tsr_load_agree(comm, "load", status);
  else
    status = tsr_checkpoint_load(checkpoint, plan, comm, options, out_tree);
  tsr_plan_release(plan);
  tsr_checkpoint_release(checkpoint);
  return status;
}
