// A model is written for one use and loaded for another: from a file of whole tensors onto four
// devices, the weights cut in rows and columns and cast to bf16 on the way; and then one shard
// alone, for those who have arrays of their own.
#include <inttypes.h>
#include <stdio.h>
#include <tessera/checkpoint.h>
#include <tessera/tessera.h>

enum { ROWS = 8, COLUMNS = 16 };

static tsr_status write_model(tsr_comm *comm, const char *path) {
  float weight[ROWS][COLUMNS], norm[COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; i++) weight[i / COLUMNS][i % COLUMNS] = (float)i;
  for (int i = 0; i < COLUMNS; i++) norm[i] = (float)(ROWS * COLUMNS + i);
  const tsr_leaf leaves[] = {
      {tsr_tensor_of("mlp.weight", TSR_F32, TSR_SHAPE(ROWS, COLUMNS)), TSR_LEAF_HOST,
       .data = weight},
      {tsr_tensor_of("norm", TSR_F32, TSR_SHAPE(COLUMNS)), TSR_LEAF_HOST, .data = norm}};
  tsr_save_options options = TSR_SAVE_OPTIONS;
  options.format = TSR_FORMAT_FILE;
  TSR_OWN(array_tree, tree);
  TSR_TRY(tsr_array_tree_create(leaves, 2, &tree));
  return tsr_checkpoint_save(tree, path, comm, &options);
}

// What it takes is known before; here there is one rank, so that nothing is sent.
static tsr_status load(const tsr_checkpoint *model, const tsr_plan *plan, tsr_comm *comm) {
  tsr_load_options options = TSR_LOAD_OPTIONS;
  options.dtype = TSR_BF16;
  TSR_OWN(load, job);
  TSR_OWN(array_tree, tree);
  TSR_OWN(text, text);
  TSR_TRY(tsr_load_create(model, plan, comm, &options, &job));
  const tsr_load_certificate *c = tsr_load_certificate_of(job);
  printf("%" PRId64 " tensors: %" PRId64 " bytes will be read, %" PRId64 " bytes of arrays\n",
         c->tensors, c->bytes_read, c->array_bytes);
  TSR_TRY(tsr_load_run(job, &tree));
  const tsr_load_report *report = tsr_load_report_of(job);
  printf("read %" PRId64 " bytes in %" PRId64 " call\n", report->bytes_read, report->calls);
  tsr_array_tree_print(tree, &text);
  printf("%s", tsr_text_string(&text));
  return NULL;
}

static tsr_status load_shard(const tsr_checkpoint *model, const tsr_plan *plan) {
  float shard[ROWS / 2][COLUMNS / 2];
  TSR_OWN(layout, layout);
  const int64_t tensor = tsr_tree_find(tsr_checkpoint_tree(model), "mlp.weight");
  TSR_TRY(tsr_plan_layout(plan, tensor, &layout));
  TSR_TRY(tsr_checkpoint_read_shard(model, tensor, layout, 3, NULL, shard, sizeof shard, NULL));
  printf("shard 3 of mlp.weight begins with %g and ends with %g\n", shard[0][0],
         shard[ROWS / 2 - 1][COLUMNS / 2 - 1]);
  return NULL;
}

static tsr_status run(void) {
  TSR_OWN(comm, comm);
  TSR_OWN(mesh, mesh);
  TSR_OWN(checkpoint, model);
  TSR_OWN(plan, plan);
  TSR_TRY(tsr_comm_create(4, NULL, &comm));
  TSR_TRY(tsr_mesh_parse("dp=2,tp=2", NULL, &mesh));
  TSR_TRY(write_model(comm, "model.safetensors"));
  TSR_TRY(tsr_checkpoint_open("model.safetensors", NULL, &model));
  TSR_TRY(tsr_plan_from_text("model.safetensors", mesh, "mlp -> dp, tp\nnorm -> ()\n", &plan));
  TSR_TRY(load(model, plan, comm));
  return load_shard(model, plan);
}

int main(void) { return tsr_status_exit(run()); }
