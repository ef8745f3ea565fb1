// A checkpoint is written again in another form: a map joins q and k in one tensor and names it as
// another program does. A second map leads back, and nothing was lost.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/checkpoint.h>
#include <tessera/tessera.h>

static tsr_status write_model(const char *path) {
  static const float q[4][4] = {{1}}, k[2][4] = {{2}};
  const tsr_leaf leaves[] = {
      {tsr_tensor_of("layers.0.q", TSR_F32, TSR_SHAPE(4, 4)), TSR_LEAF_HOST, .data = q},
      {tsr_tensor_of("layers.0.k", TSR_F32, TSR_SHAPE(2, 4)), TSR_LEAF_HOST, .data = k}};
  tsr_save_options options = TSR_SAVE_OPTIONS;
  options.format = TSR_FORMAT_FOLDER;
  TSR_OWN(comm, comm);
  TSR_OWN(array_tree, tree);
  TSR_TRY(tsr_comm_create(1, NULL, &comm));
  TSR_TRY(tsr_array_tree_create(leaves, 2, &tree));
  return tsr_checkpoint_save(tree, path, comm, &options);
}

static bool show(void *context, const tsr_progress_report *report) {
  if (report->finished) printf("%s: %" PRId64 " bytes\n", (char *)context, report->done);
  return true;  // false stops the job
}

static tsr_status transform(const tsr_checkpoint *source, const tsr_mapping *mapping, char *path) {
  tsr_transform_options options = TSR_TRANSFORM_OPTIONS;
  options.map = mapping;
  options.progress = show;
  options.progress_context = path;
  TSR_OWN(transform, job);
  TSR_TRY(tsr_transform_create(source, path, &options, &job));
  return tsr_transform_run(job);
}

static tsr_status apply(const char *text, const tsr_checkpoint *model, tsr_mapping **out_mapping) {
  TSR_OWN(map, map);
  TSR_TRY(tsr_map_parse(text, "example.map", &map));
  return tsr_map_apply(map, tsr_checkpoint_tree(model), NULL, out_mapping);
}

static tsr_status run(void) {
  TSR_OWN(checkpoint, before);
  TSR_OWN(checkpoint, joined);
  TSR_OWN(checkpoint, after);
  TSR_OWN(mapping, there);
  TSR_OWN(mapping, back);
  TSR_OWN(verification, result);
  TSR_TRY(write_model("before"));
  TSR_TRY(tsr_checkpoint_open("before", NULL, &before));
  TSR_TRY(apply("attention.{n}.qk = concat(0, layers.{n}.q, layers.{n}.k)\n", before, &there));
  TSR_TRY(transform(before, there, (char[]){"joined"}));
  TSR_TRY(tsr_checkpoint_open("joined", NULL, &joined));
  printf("%s\n", tsr_tree_at(tsr_checkpoint_tree(joined), 0)->path);
  TSR_TRY(apply("layers.{n}.q, layers.{n}.k = split(attention.{n}.qk, 0, 4, 2)\n", joined, &back));
  TSR_TRY(transform(joined, back, (char[]){"after"}));
  TSR_TRY(tsr_checkpoint_open("after", NULL, &after));
  TSR_TRY(tsr_checkpoint_verify(before, after, NULL, &result));
  printf("%s\n", tsr_verification_equal(result) ? "equal" : "different");
  return NULL;
}

int main(void) { return tsr_status_exit(run()); }
