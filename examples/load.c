// A model is written for one use and loaded for another: from a file of whole tensors onto four
// devices, the weights cut in columns and cast to bf16 on the way; and then one shard alone, for
// those who have arrays of their own.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tessera/tessera.h>

enum { ROWS = 8, COLUMNS = 16 };

// ---- a small model to load ----

static tsr_status write_model(const char *path) {
  float values[(ROWS + 1) * COLUMNS];
  for (int i = 0; i < (ROWS + 1) * COLUMNS; i++) values[i] = (float)i;
  const int64_t matrix[] = {ROWS, COLUMNS}, row[] = {COLUMNS};
  const tsr_leaf leaves[] = {
      {.tensor = {.path = "mlp.weight", .dtype = TSR_F32, .rank = 2, .dims = matrix},
       .kind = TSR_LEAF_HOST,
       .data = values},
      {.tensor = {.path = "norm", .dtype = TSR_F32, .rank = 1, .dims = row},
       .kind = TSR_LEAF_HOST,
       .data = values + ROWS * COLUMNS}};
  const tsr_save_options options = {.size = sizeof options, .format = TSR_FORMAT_FILE};
  tsr_array_tree *tree = NULL;
  tsr_comm *comm = NULL;
  tsr_status status = tsr_array_tree_create(leaves, 2, &tree);
  if (!status) status = tsr_comm_create(1, NULL, &comm);
  if (!status) status = tsr_checkpoint_save(tree, path, comm, &options);
  tsr_comm_release(comm);
  tsr_array_tree_release(tree);
  return status;
}

// ---- loading ----

static void show(const tsr_array_tree *tree) {
  for (int64_t i = 0; i < tsr_array_tree_count(tree); i++) {
    const tsr_leaf *leaf = tsr_array_tree_leaf(tree, i);
    tsr_text line = {0};
    tsr_array_print(leaf->array, &line);
    printf("%-10s  %s\n", leaf->tensor.path, tsr_text_string(&line));
    tsr_text_deinit(&line);
  }
}

// What it takes is known before; here there is one rank, so that nothing is sent.
static tsr_status load(const tsr_checkpoint *model, const tsr_plan *plan, tsr_comm *comm) {
  tsr_load_options options = TSR_LOAD_OPTIONS;
  options.dtype = TSR_BF16;
  tsr_load *job = NULL;
  tsr_array_tree *tree = NULL;
  TSR_TRY(tsr_load_create(model, plan, comm, &options, &job));
  const tsr_load_certificate *c = tsr_load_certificate_of(job);
  printf("%" PRId64 " tensors: %" PRId64 " bytes will be read, %" PRId64 " bytes of arrays\n",
         c->tensors, c->bytes_read, c->array_bytes);
  tsr_status status = tsr_load_run(job, &tree);
  if (!status) {
    const tsr_load_report *report = tsr_load_report_of(job);
    printf("read %" PRId64 " bytes in %" PRId64 " call\n", report->bytes_read, report->calls);
    show(tree);
  }
  tsr_array_tree_release(tree);
  tsr_load_destroy(job);
  return status;
}

static tsr_status load_shard(const tsr_checkpoint *model, const tsr_plan *plan) {
  float shard[ROWS / 2][COLUMNS / 2];
  tsr_layout *layout = NULL;
  const int64_t tensor = tsr_tree_find(tsr_checkpoint_tree(model), "mlp.weight");
  TSR_TRY(tsr_plan_layout(plan, tensor, &layout));
  tsr_status status =
      tsr_checkpoint_read_shard(model, tensor, layout, 3, NULL, shard, sizeof shard, NULL);
  if (!status)
    printf("shard 3 of mlp.weight begins with %g and ends with %g\n", shard[0][0],
           shard[ROWS / 2 - 1][COLUMNS / 2 - 1]);
  tsr_layout_release(layout);
  return status;
}

static tsr_status make_plan(const tsr_checkpoint *model, tsr_plan **out_plan) {
  tsr_mesh *mesh = NULL;
  tsr_rules *rules = NULL;
  tsr_status status = tsr_mesh_parse("dp=2,tp=2", NULL, &mesh);
  if (!status) status = tsr_rules_parse("mlp -> dp, tp\nnorm -> ()\n", "example", NULL, &rules);
  if (!status) status = tsr_plan_match(tsr_checkpoint_tree(model), mesh, rules, NULL, out_plan);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  return status;
}

int main(void) {
  char folder[] = "/tmp/tessera-example.XXXXXX", path[64];
  tsr_comm *comm = NULL;
  tsr_checkpoint *model = NULL;
  tsr_plan *plan = NULL;
  tsr_status status = mkdtemp(folder) ? NULL : tsr_fail(IO, "%s cannot be made", folder);
  snprintf(path, sizeof path, "%s/model.safetensors", folder);
  if (!status) status = write_model(path);
  if (!status) status = tsr_comm_create(4, NULL, &comm);
  if (!status) status = tsr_checkpoint_open(path, NULL, &model);
  if (!status) status = make_plan(model, &plan);
  if (!status) status = load(model, plan, comm);
  if (!status) status = load_shard(model, plan);
  if (status) fprintf(stderr, "load: %s\n", tsr_status_text(status));
  const int code = status ? 1 : 0;
  tsr_status_free(status);
  tsr_plan_release(plan);
  tsr_checkpoint_release(model);
  tsr_comm_release(comm);
  remove(path);
  remove(folder);
  return code;
}
