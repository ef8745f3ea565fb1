// A model is cut for two ranks and stored so; then every rank of this job loads its own pieces of
// it, cut in another way. What several ranks hold is read by one of them, which sends it on.
//
//   cc mpi_load.c $(pkg-config --cflags --libs tessera-mpi_openmpi)
//   mpirun -n 4 ./mpi_load
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <tessera/mpi.h>
#include <tessera/tessera.h>
#include <unistd.h>

enum { ROWS = 64, COLUMNS = 48 };

// ---- a model to load, made by one rank ----

// Element i of a tensor is i: whoever holds it can tell whether it is right.
static tsr_status write_file(const char *path) {
  static float values[ROWS * COLUMNS];
  for (int i = 0; i < ROWS * COLUMNS; i++) values[i] = (float)i;
  const int64_t matrix[] = {ROWS, COLUMNS}, row[] = {COLUMNS};
  const tsr_leaf leaves[] = {
      {.tensor = {.path = "mlp.weight", .dtype = TSR_F32, .rank = 2, .dims = matrix},
       .kind = TSR_LEAF_HOST,
       .data = values},
      {.tensor = {.path = "norm", .dtype = TSR_F32, .rank = 1, .dims = row},
       .kind = TSR_LEAF_HOST,
       .data = values}};
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

static tsr_status make_plan(const tsr_checkpoint *model, const char *mesh_text,
                            const char *rules_text, tsr_plan **out_plan) {
  tsr_mesh *mesh = NULL;
  tsr_rules *rules = NULL;
  tsr_status status = tsr_mesh_parse(mesh_text, NULL, &mesh);
  if (!status) status = tsr_rules_parse(rules_text, "example", NULL, &rules);
  if (!status) status = tsr_plan_match(tsr_checkpoint_tree(model), mesh, rules, NULL, out_plan);
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  return status;
}

// Rows for two ranks, as engines store them: model-rank-0-part-0.safetensors and so on.
static tsr_status store(const char *file, const char *folder) {
  tsr_checkpoint *model = NULL;
  tsr_transform *job = NULL;
  tsr_transform_options options = TSR_TRANSFORM_OPTIONS;
  options.format = TSR_FORMAT_RANKS;
  tsr_plan *plan = NULL;
  tsr_status status = tsr_checkpoint_open(file, NULL, &model);
  if (!status) status = make_plan(model, "rank=2", "mlp -> rank, _\nnorm -> ()\n", &plan);
  options.plan = plan;
  if (!status) status = tsr_transform_create(model, folder, &options, &job);
  if (!status) status = tsr_transform_run(job);
  tsr_transform_destroy(job);
  tsr_plan_release(plan);
  tsr_checkpoint_release(model);
  return status;
}

static tsr_status make_model(const char *folder) {
  char file[128];
  snprintf(file, sizeof file, "%s.safetensors", folder);
  tsr_status status = write_file(file);
  if (!status) status = store(file, folder);
  remove(file);
  return status;
}

static void remove_model(const char *folder) {
  static const char *const names[] = {"model-rank-0-part-0.safetensors",
                                      "model-rank-1-part-0.safetensors", "tessera-plan.json"};
  char path[192];
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/%s", folder, names[i]);
    remove(path);
  }
  rmdir(folder);
}

// ---- loading ----

// Of every element here whether it is its place in the tensor.
static tsr_status check(const tsr_leaf *leaf) {
  tsr_array_part part = TSR_ARRAY_PART;
  TSR_TRY(tsr_array_local(leaf->array, 0, &part));
  const float *data = part.data;
  const int64_t rows = part.shape.rank == 2 ? part.shape.dims[0] : 1;
  const int64_t columns = part.shape.dims[part.shape.rank - 1];
  const int64_t row = part.shape.rank == 2 ? part.ranges[0].lo : 0;
  const int64_t column = part.ranges[part.shape.rank - 1].lo;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      if (data[i * columns + j] != (float)((row + i) * COLUMNS + column + j))
        return tsr_fail(IO, "%s: row %" PRId64 ", column %" PRId64 " is %g", leaf->tensor.path,
                        row + i, column + j, (double)data[i * columns + j]);
  return NULL;
}

static tsr_status tell(tsr_comm *comm, const tsr_load *job) {
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

static tsr_status run(tsr_comm *comm, tsr_load *job) {
  tsr_array_tree *tree = NULL;
  TSR_TRY(tsr_load_run(job, &tree));
  tsr_status status = NULL;
  for (int64_t i = 0; i < tsr_array_tree_count(tree) && !status; i++)
    status = check(tsr_array_tree_leaf(tree, i));
  if (!status) status = tell(comm, job);
  if (!status && tsr_comm_rank(comm) == 0)
    printf("%" PRId64 " bytes were read by all, every element is right\n",
           tsr_load_certificate_of(job)->total_read);
  tsr_array_tree_release(tree);
  return status;
}

// Columns for half of the ranks, twice: so every piece is on two of them.
static tsr_status load(tsr_comm *comm, const char *folder) {
  tsr_load_options options = TSR_LOAD_OPTIONS;
  options.least_part = 1024;
  char mesh[64];
  tsr_checkpoint *model = NULL;
  tsr_plan *plan = NULL;
  tsr_load *job = NULL;
  snprintf(mesh, sizeof mesh, "copy=2,tp=%d", tsr_comm_rank_count(comm) / 2);
  tsr_status status = tsr_checkpoint_open_all(comm, folder, NULL, &model);
  if (!status) status = make_plan(model, mesh, "mlp -> _, tp\nnorm -> ()\n", &plan);
  if (!status) status = tsr_load_create(model, plan, comm, &options, &job);
  if (!status) status = run(comm, job);
  tsr_load_destroy(job);
  tsr_plan_release(plan);
  tsr_checkpoint_release(model);
  return status;
}

// All ranks must see the folder; which it is, the first of them says.
static tsr_status make_and_load(tsr_comm *comm) {
  const int ranks = tsr_comm_rank_count(comm);
  if (ranks % 2) return tsr_fail(BAD_ARGUMENT, "%d ranks, wanted an even number", ranks);
  char folder[64] = "/tmp/tessera-mpi-load.XXXXXX";
  char *all = calloc((size_t)ranks, sizeof folder);
  const bool first = tsr_comm_rank(comm) == 0;
  tsr_status status = all ? NULL : tsr_fail(NO_MEMORY, "%d ranks", ranks);
  if (!status && first && !mkdtemp(folder)) status = tsr_fail(IO, "%s cannot be made", folder);
  if (!status && first) status = make_model(folder);
  if (!status) status = tsr_comm_share(comm, folder, sizeof folder, all);
  if (!status) status = load(comm, all);
  if (first) remove_model(folder);
  free(all);
  return status;
}

int main(int argc, char **argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  tsr_comm *comm = NULL;
  tsr_status status = tsr_comm_create_mpi(MPI_COMM_WORLD, 1, NULL, &comm);  // a device per rank
  if (!status) status = make_and_load(comm);
  if (status) {
    fprintf(stderr, "%s\n", tsr_status_text(status));
    MPI_Abort(MPI_COMM_WORLD, 1);  // others may be waiting
  }
  tsr_comm_release(comm);
  MPI_Finalize();
  return 0;
}
