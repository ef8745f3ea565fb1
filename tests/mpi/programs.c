// Partitioned programs over the ranks: every device gets the bytes that it gets in one process.
//
// TESSERA_PROGRAMS=all takes all recorded programs of tests/programs, otherwise those below do: one
// of each kind.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "exec/shard_run.h"
#include "tessera/program.h"
#include "tessera/program/executable.h"
#include "trial/trial.h"

static const char *const some[] = {
    "add_mismatched_operands",
    "argmax_argmin",
    "attention_gqa_grad",
    "batch_matmul_conflict",
    "cholesky_triangular_solve",
    "complex64_ops",
    "cond_switch",
    "conv_spatial_sharded",
    "cumulative_ops",
    "donated_sgd_update",
    "dtype_bf16_mlp",
    "dtype_f16_softmax",
    "dtype_int8_quant_matmul",
    "dynamic_slice_update",
    "embedding_grad",
    "exported_sharded_2x4_donated",
    "fft_batch_sharded",
    "flax_cnn_train_step",
    "gather_forms",
    "gpt2_train_step_adam_fsdp",
    "gpt2_train_step_sgd",
    "kv_cache_decode_step",
    "matmul_cannon_2d",
    "matmul_six_devices",
    "mesh_permuted_devices",
    "mesh_two_meshes",
    "moe_top2_einsum",
    "reduce_custom_region",
    "rng_uniform_normal_dropout",
    "scan_layers_grad",
    "scan_rnn",
    "scatter_forms",
    "shard_map_all_gather",
    "shard_map_all_to_all",
    "shard_map_partial_auto",
    "shard_map_ppermute_ring",
    "shard_map_psum",
    "shard_map_psum_scatter",
    "shard_map_tp_mlp_grad",
    "sort_argsort",
    "top_k",
    "transformer_block_fwd_bwd",
    "uneven_constraint",
    "while_newton",
    "xla_gap_xor_reduce",
};

// A program on the devices of a comm, with the results of those that are here.
typedef struct program_run {
  tsr_executable *executable;
  tsr_trial_shards inputs, outputs;
} program_run;

static tsr_status run_on(const tsr_program *program, const tsr_trial_case *trial, tsr_comm *comm,
                         program_run *out) {
  tsr_compile_options options = TSR_COMPILE_OPTIONS;
  options.workers = 1;
  options.comm = comm;
  TSR_TRY(tsr_executable_compile(program, &options, &out->executable));
  TSR_TRY(tsr_trial_shards_create(out->executable, comm, false, &out->inputs));
  TSR_TRY(tsr_trial_shards_create(out->executable, comm, true, &out->outputs));
  for (int64_t i = 0; i < out->inputs.count; i++)
    TSR_TRY(tsr_trial_case_fill(trial, &out->inputs.lists[i]));
  for (int i = 0; i < 2; i++)  // the second run finds the memory of the first
    TSR_TRY(tsr_trial_shards_run(out->executable, &out->inputs, &out->outputs));
  return NULL;
}

static void run_deinit(program_run *run) {
  tsr_trial_shards_deinit(&run->inputs);
  tsr_trial_shards_deinit(&run->outputs);
  tsr_executable_release(run->executable);
}

// Of one process all devices are there, in the order of positions.
static int64_t compare(const char *name, const program_run *one, const program_run *here) {
  int64_t compared = 0;
  for (int64_t i = 0; i < here->outputs.count; i++) {
    const tsr_trial_values *got = &here->outputs.lists[i];
    const tsr_trial_values *want = &one->outputs.lists[here->outputs.positions[i]];
    for (int64_t k = 0; k < got->count; k++) {
      const tsr_trial_value *a = &got->items[k], *b = &want->items[k];
      compared += a->bytes;
      if (a->bytes == b->bytes &&
          !memcmp(tsr_buffer_data(a->data), tsr_buffer_data(b->data), (size_t)a->bytes))
        continue;
      printf("rank %d: %s: out%lld has other bytes at position %lld\n", check_rank(), name,
             (long long)k, (long long)here->outputs.positions[i]);
      check_failures++;
    }
  }
  return compared;
}

static tsr_status check_bytes(const tsr_program *program, const tsr_trial_case *trial,
                              tsr_comm *comm) {
  program_run one = {0}, here = {0};
  tsr_comm *threads = NULL;
  const tsr_comm_options options = {.size = sizeof options, .workers = 1};
  tsr_status status = tsr_comm_create(tsr_comm_device_count(comm), &options, &threads);
  if (!status) status = run_on(program, trial, threads, &one);
  if (!status) status = run_on(program, trial, comm, &here);
  if (!status) {
    const int64_t compared = compare(trial->program, &one, &here);
    check_that("something was compared", !here.outputs.count || compared > 0);
  }
  run_deinit(&one);
  run_deinit(&here);
  tsr_comm_release(threads);
  return status;
}

typedef tsr_status check_fn(const tsr_program *program, const tsr_trial_case *trial,
                            tsr_comm *comm);

// The devices of the mesh, dealt to the ranks.
static tsr_status check_devices(const tsr_program *program, const tsr_trial_case *trial,
                                int64_t devices, check_fn *check) {
  const int64_t rank = check_rank(), size = check_size();
  const tsr_comm_options options = {
      .size = sizeof options, .workers = 1, .timeout = 60, .fast = check != check_bytes};
  const int64_t local = devices * (rank + 1) / size - devices * rank / size;
  tsr_comm *comm = NULL;
  TSR_TRY(tsr_comm_create_mpi(MPI_COMM_WORLD, local, &options, &comm));
  const tsr_status status = check(program, trial, comm);
  tsr_comm_release(comm);
  return status;
}

static tsr_status check_program(const tsr_trial_case *trial, check_fn *check) {
  tsr_program *program = NULL, *partitioned = NULL;
  tsr_mesh *mesh = NULL;
  tsr_status status = tsr_program_open(trial->program, NULL, &program);
  if (!status && tsr_program_mesh_count(program)) {
    status = tsr_program_mesh_at(program, 0, &mesh);
    const int64_t devices = status ? 0 : tsr_mesh_device_count(mesh);
    if (devices > 1) status = tsr_program_transform(program, "partition,lanes", &partitioned);
    if (devices > 1 && !status) status = check_devices(partitioned, trial, devices, check);
  }
  tsr_mesh_release(mesh);
  tsr_program_release(partitioned);
  tsr_program_release(program);
  return status;
}

static void check_folder(const char *name, check_fn *check) {
  char folder[512];
  tsr_trial_case trial;
  snprintf(folder, sizeof folder, "tests/programs/%s", name);
  if (!check_ok(name, tsr_trial_case_open(folder, false, &trial))) return;
  check_ok(name, check_program(&trial, check));
  tsr_trial_case_deinit(&trial);
}

static void check_all(void) {
  struct dirent **list = NULL;
  const int count = scandir("tests/programs", &list, NULL, alphasort);
  check_that("there are programs", count > 100);
  for (int i = 0; i < count; i++) {
    char folder[512];
    snprintf(folder, sizeof folder, "tests/programs/%s", list[i]->d_name);
    if (list[i]->d_name[0] != '.' && tsr_trial_is_case(folder))
      check_folder(list[i]->d_name, check_bytes);
    free(list[i]);
  }
  free(list);
}

// In any order of additions, results are within the tolerances of the case.
static tsr_status check_fast(const tsr_program *program, const tsr_trial_case *trial,
                             tsr_comm *comm) {
  program_run run = {0};
  tsr_trial_values whole = {0};
  tsr_trial_verdict verdict = {0};
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_status status = run_on(program, trial, comm, &run);
  if (!status) status = tsr_trial_values_create(run.executable, true, &whole);
  if (!status) status = tsr_trial_shards_gather(run.executable, &run.outputs, &whole);
  if (!status && check_rank() == 0) {
    status = tsr_trial_case_compare(trial, &whole, &text, &verdict);
    check_that("something was compared", verdict.elements > 0);
    check_that("the results are those of the case", !verdict.differing);
  }
  tsr_text_deinit(&text);
  tsr_trial_values_deinit(&whole);
  run_deinit(&run);
  return status;
}

int case_programs_fast(void) {
  static const char *const names[] = {"matmul_contract", "gpt2_train_step_sgd",  "shard_map_psum",
                                      "dtype_bf16_mlp",  "mlp_megatron_fwd_bwd", "reduce_dims"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) check_folder(names[i], check_fast);
  return check_failures > 0;
}

int case_programs(void) {
  const char *which = getenv("TESSERA_PROGRAMS");
  if (which && !strcmp(which, "all"))
    check_all();
  else
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) check_folder(some[i], check_bytes);
  return check_failures > 0;
}
