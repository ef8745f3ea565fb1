// A model is cut for two ranks and stored so; then every rank of this job loads its own pieces of
// it, cut in another way. What several ranks hold is read by one of them, which sends it on.
//
//   cc mpi_load.c $(pkg-config --cflags --libs tessera-mpi_openmpi)
//   mpirun -n 4 ./mpi_load
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tessera/checkpoint.h>
#include <tessera/engine.h>
#include <tessera/mpi.h>
#include <tessera/tessera.h>

enum { ROWS = 64, COLUMNS = 48 };

// ---- a model to load, made by one rank ----

static tsr_status make_plan(const tsr_tree *tree, const char *mesh_text, const char *rules_text,
                            tsr_plan **out_plan) {
  TSR_OWN(mesh, mesh);
  TSR_OWN(rules, rules);
  TSR_TRY(tsr_mesh_parse(mesh_text, NULL, &mesh));
  TSR_TRY(tsr_rules_parse(rules_text, "example", NULL, &rules));
  return tsr_plan_match(tree, mesh, rules, NULL, out_plan);
}

// Element i of a tensor is i, so that each rank can check what it holds. Rows for two ranks, as
// engines store them: model-rank-0-part-0.safetensors and so on.
static tsr_status make_model(const char *folder) {
  static float values[ROWS * COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; i++) values[i] = (float)i;
  const tsr_leaf leaves[] = {
      {tsr_tensor_of("mlp.weight", TSR_F32, TSR_SHAPE(ROWS, COLUMNS)), TSR_LEAF_HOST,
       .data = values},
      {tsr_tensor_of("norm", TSR_F32, TSR_SHAPE(COLUMNS)), TSR_LEAF_HOST, .data = values}};
  tsr_save_options options = TSR_SAVE_OPTIONS;
  TSR_OWN(comm, alone);
  TSR_OWN(array_tree, tree);
  TSR_OWN(tree, shapes);
  TSR_OWN(plan, plan);
  TSR_TRY(tsr_comm_create(1, NULL, &alone));
  TSR_TRY(tsr_array_tree_create(leaves, 2, &tree));
  TSR_TRY(tsr_array_tree_shapes(tree, &shapes));
  TSR_TRY(make_plan(shapes, "rank=2", "mlp -> rank, _\nnorm -> ()\n", &plan));
  options.format = TSR_FORMAT_RANKS;
  options.existing = TSR_EXISTING_REPLACE;  // of an earlier run
  options.plan = plan;
  return tsr_checkpoint_save(tree, folder, alone, &options);
}

// ---- loading ----

// Of every element here whether it is its place in the tensor.
static tsr_status check(const tsr_leaf *leaf) {
  tsr_local_shard shard = TSR_LOCAL_SHARD;
  TSR_TRY(tsr_array_local_at(leaf->array, 0, &shard));
  const float *data = shard.data;
  const int64_t rows = shard.shape.rank == 2 ? shard.shape.dims[0] : 1;
  const int64_t columns = shard.shape.dims[shard.shape.rank - 1];
  const int64_t row = shard.shape.rank == 2 ? shard.ranges[0].lo : 0;
  const int64_t column = shard.ranges[shard.shape.rank - 1].lo;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      if (data[i * columns + j] != (float)((row + i) * COLUMNS + column + j))
        return tsr_fail(IO, "%s: row %" PRId64 ", column %" PRId64 " is %g", leaf->tensor.path,
                        row + i, column + j, (double)data[i * columns + j]);
  return NULL;
}

static tsr_status print_all(tsr_comm *comm, const tsr_load *job) {
  const tsr_load_certificate *mine = tsr_load_certificate_of(job);
  const int ranks = tsr_comm_rank_count(comm);
  tsr_load_certificate *all = calloc((size_t)ranks, sizeof *all);
  if (!all) return tsr_fail(NO_MEMORY, "%d ranks", ranks);
  tsr_status status = tsr_comm_share(comm, mine, sizeof *mine, all);
  for (int rank = 0; !status && tsr_comm_rank(comm) == 0 && rank < ranks; rank++)
    printf("rank %d: holds %" PRId64 " bytes, read %" PRId64 ", sent %" PRId64 ", received %" PRId64
           "\n",
           rank, all[rank].array_bytes, all[rank].bytes_read, all[rank].bytes_sent,
           all[rank].bytes_received);
  free(all);
  return status;
}

static tsr_status load_and_check(tsr_comm *comm, tsr_load *job) {
  TSR_OWN(array_tree, tree);
  TSR_TRY(tsr_load_run(job, &tree));
  for (int64_t i = 0; i < tsr_array_tree_count(tree); i++)
    TSR_TRY(check(tsr_array_tree_at(tree, i)));
  TSR_TRY(print_all(comm, job));
  if (tsr_comm_rank(comm) == 0)
    printf("%" PRId64 " bytes were read by all, every element is right\n",
           tsr_load_certificate_of(job)->total_read);
  return NULL;
}

// Columns for half of the ranks, twice: so every piece is on two of them.
static tsr_status load(tsr_comm *comm, const char *folder) {
  tsr_load_options options = TSR_LOAD_OPTIONS;
  char mesh[64];
  TSR_OWN(checkpoint, model);
  TSR_OWN(plan, plan);
  TSR_OWN(load, job);
  options.least_piece = 1024;
  snprintf(mesh, sizeof mesh, "copy=2,tp=%d", tsr_comm_rank_count(comm) / 2);
  TSR_TRY(tsr_checkpoint_open_all(comm, folder, NULL, &model));
  TSR_TRY(make_plan(tsr_checkpoint_tree(model), mesh, "mlp -> _, tp\nnorm -> ()\n", &plan));
  TSR_TRY(tsr_load_create(model, plan, comm, &options, &job));
  return load_and_check(comm, job);
}

// All ranks must see the folder.
static tsr_status run(void) {
  TSR_OWN(comm, comm);
  TSR_TRY(tsr_comm_create_mpi(MPI_COMM_WORLD, 1, NULL, &comm));  // a device per rank
  const int ranks = tsr_comm_rank_count(comm);
  if (ranks % 2) return tsr_fail(BAD_ARGUMENT, "%d ranks, wanted an even number", ranks);
  if (tsr_comm_rank(comm) == 0) TSR_TRY(make_model("model"));
  TSR_TRY(tsr_comm_barrier(comm));
  return load(comm, "model");
}

int main(int argc, char **argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  const int code = tsr_status_exit(run());
  if (code) MPI_Abort(MPI_COMM_WORLD, code);  // others may be waiting
  MPI_Finalize();
  return 0;
}
