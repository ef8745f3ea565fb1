// Loads over ranks: every device must get what it gets when the whole tensor is cut from host
// memory, while each byte of the file is read by one rank; and what one rank cannot read fails on
// all of them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/array_internal.h"
#include "cases.h"
#include "file/safetensors.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/open.h"
#include "tessera/engine/array.h"
#include "tessera/engine/collectives.h"
#include "tessera/tessera.h"

enum { ROWS = 96, COLUMNS = 40, DEVICES = 8, TENSORS = 3, MOST_RANKS = 8 };

static const char *const names[TENSORS] = {"a", "b", "c"};
#define PARTS "a -> y/parts(q:48/8, k:24/12*2, v:24/12*2), _\nb -> x\nc -> x, _\n"
static const char *const rules[] = {"a -> x, y\nb -> y, x\nc -> x+y\n",
                                    "a -> x\nb -> _, y\nc -> ()\n", "a -> ()\nb -> ()\nc -> ()\n",
                                    "a -> x/cyclic(5), y\nb -> _, x/cyclic(1)\nc -> y, _\n", PARTS};

static void fill(float *out, int tensor) {
  for (int i = 0; i < ROWS * COLUMNS; i++) out[i] = (float)(tensor * ROWS * COLUMNS + i);
}

static tsr_status write_model(const char *path) {
  tsr_tensor tensors[TENSORS] = {{0}};
  const int64_t dims[] = {ROWS, COLUMNS};
  tsr_safetensors_file plan;
  float *data = malloc(sizeof *data * ROWS * COLUMNS);
  FILE *file = fopen(path, "wb");
  for (int i = 0; i < TENSORS; i++)
    tensors[i] = (tsr_tensor){.path = names[i], .dtype = TSR_F32, .rank = 2, .dims = dims};
  tsr_status status = file && data ? tsr_safetensors_plan(tensors, TENSORS, NULL, 0, &plan)
                                   : tsr_fail(IO, "%s cannot be written", path);
  bool written = !status && fwrite(plan.header, 1, (size_t)plan.length, file) > 0;
  for (int i = 0; i < TENSORS && written; i++) {
    fill(data, i);
    written = !fseek(file, plan.begins[i], SEEK_SET) &&
              fwrite(data, sizeof *data, ROWS * COLUMNS, file) == ROWS * COLUMNS;
  }
  if (!status) tsr_safetensors_file_deinit(&plan);
  if (!status && !written) status = tsr_fail(IO, "%s was not written", path);
  if (file) fclose(file);
  free(data);
  return status;
}

static tsr_status make_plan(const tsr_checkpoint *model, const char *text, tsr_plan **out_plan) {
  const tsr_match_options options = {
      .size = sizeof options, .no_correction = true, .policy = TSR_POLICY_UNEVEN};
  tsr_mesh *mesh = NULL;
  tsr_rules *parsed = NULL;
  tsr_status status = tsr_mesh_parse("x=2,y=4", NULL, &mesh);
  if (!status) status = tsr_rules_parse(text, "test", NULL, &parsed);
  if (!status)
    status = tsr_plan_match(tsr_checkpoint_tree(model), mesh, parsed, &options, out_plan);
  tsr_rules_release(parsed);
  tsr_mesh_release(mesh);
  return status;
}

static void check_array(tsr_array *found, int tensor) {
  float *whole = malloc(sizeof *whole * ROWS * COLUMNS);
  tsr_array *wanted = NULL;
  bool same = true;
  if (!whole) return;
  fill(whole, tensor);
  if (check_ok("shard", tsr_array_shard(tsr_array_comm(found), tsr_array_layout(found), TSR_F32,
                                        whole, NULL, &wanted))) {
    for (int64_t i = 0; i < tsr_array_local_count(wanted); i++) {
      tsr_local_shard part = TSR_LOCAL_SHARD;
      if (!check_ok("part", tsr_array_local_at(wanted, i, &part))) continue;
      same = same && !memcmp(part.data, tsr_array_data(found, i), (size_t)part.bytes);
    }
    check_that("devices hold what they should", same);
  }
  check_ok("replicas", tsr_array_check_replicas(found));
  tsr_array_release(wanted);
  free(whole);
}

static void check_counts(tsr_comm *comm, const tsr_load *load) {
  const tsr_load_report *mine = tsr_load_report_of(load);
  tsr_load_report all[MOST_RANKS];
  int64_t read = 0;
  if (!check_ok("share", tsr_comm_share(comm, mine, sizeof *mine, all))) return;
  for (int r = 0; r < tsr_comm_rank_count(comm); r++) read += all[r].bytes_wanted;
  check_that("each byte was read once", read == (int64_t)TENSORS * ROWS * COLUMNS * 4);
  check_that("as much as was foretold",
             mine->bytes_wanted == tsr_load_certificate_of(load)->bytes_read);
}

static void check_load(tsr_comm *comm, const tsr_checkpoint *model, const char *text,
                       int64_t least_piece) {
  const tsr_load_options options = {.size = sizeof options, .least_piece = least_piece};
  tsr_plan *plan = NULL;
  tsr_load *load = NULL;
  tsr_array_tree *tree = NULL;
  if (check_ok("plan", make_plan(model, text, &plan)) &&
      check_ok("create", tsr_load_create(model, plan, comm, &options, &load)) &&
      check_ok("run", tsr_load_run(load, &tree))) {
    for (int i = 0; i < TENSORS; i++) check_array(tsr_array_tree_find(tree, names[i])->array, i);
    check_counts(comm, load);
  }
  tsr_array_tree_release(tree);
  tsr_load_destroy(load);
  tsr_plan_release(plan);
}

// The last rank is given a file that is not there; then all are, and its own ends too early.
static void check_failures_of_one(tsr_comm *comm, const char *folder) {
  const int last = tsr_comm_rank_count(comm) - 1, rank = tsr_comm_rank(comm);
  char path[160], who[32];
  tsr_checkpoint *model = NULL;
  tsr_plan *plan = NULL;
  tsr_array_tree *tree = NULL;
  const tsr_load_options options = {.size = sizeof options, .least_piece = 64};
  snprintf(path, sizeof path, "%s/%s.safetensors", folder, rank == last ? "short" : "model");
  snprintf(who, sizeof who, "rank %d", last);
  check_fails("open", tsr_checkpoint_open_all(comm, path, NULL, &model), TSR_CAUSE_NOT_FOUND, who);
  if (rank == last) check_ok("write", write_model(path));
  if (!check_ok("open", tsr_checkpoint_open_all(comm, path, NULL, &model))) return;
  if (rank == last) check_that("the file was cut", !truncate(path, 1000));
  if (check_ok("plan", make_plan(model, rules[2], &plan)))
    check_fails("load", tsr_checkpoint_load(model, plan, comm, &options, &tree),
                TSR_CAUSE_BROKEN_FILE, "short.safetensors");
  if (rank == last) remove(path);
  tsr_plan_release(plan);
  tsr_checkpoint_release(model);
}

static void check_all(tsr_comm *comm) {
  char folder[64] = "/tmp/tessera-load.XXXXXX", all[MOST_RANKS][64], path[128];
  tsr_checkpoint *model = NULL;
  const bool first = tsr_comm_rank(comm) == 0;
  if (first) check_that("there is a folder", mkdtemp(folder) != NULL);
  if (!check_ok("share", tsr_comm_share(comm, folder, sizeof folder, all))) return;
  snprintf(path, sizeof path, "%s/model.safetensors", all[0]);
  if (first) check_ok("write", write_model(path));
  if (check_ok("barrier", tsr_comm_barrier(comm)) &&
      check_ok("open", tsr_checkpoint_open_all(comm, path, NULL, &model))) {
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
      check_load(comm, model, rules[i], 0);
      check_load(comm, model, rules[i], 64);
    }
    if (tsr_comm_rank_count(comm) > 1) check_failures_of_one(comm, all[0]);
  }
  tsr_checkpoint_release(model);
  check_ok("barrier", tsr_comm_barrier(comm));
  if (first) {
    remove(path);
    remove(all[0]);
  }
}

int case_load(void) { return check_on_devices(DEVICES, check_all); }
