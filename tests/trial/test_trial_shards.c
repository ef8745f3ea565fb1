// Shards of devices are filled as whole tensors are, and give the results of a whole run.
#include <string.h>

#include "support/folder.h"
#include "support/test.h"
#include "tessera/own.h"
#include "tessera/program.h"
#include "trial/trial.h"

// Rows and columns over the devices, packed elements, complex ones, and one on all of them.
static const char text[] =
    "sdy.mesh @mesh = <[\"x\"=2, \"y\"=3]>\n"
    "func.func @main(%a: tensor<6x9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, "
    "{\"y\"}]>}, "
    "%b: tensor<6x9xi4> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"y\"}]>}, %c: "
    "tensor<12xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\", \"x\"}]>}, %d: "
    "tensor<f32>) -> (tensor<6x9xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"y\"}, {}]>}, "
    "tensor<6x9xi4>, tensor<12xcomplex<f32>> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}) {\n"
    "%0 = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<f32>) -> tensor<6x9xf32>\n"
    "%1 = stablehlo.add %a, %0 : tensor<6x9xf32>\n"
    "%2 = stablehlo.add %b, %b : tensor<6x9xi4>\n"
    "%3 = stablehlo.multiply %c, %c : tensor<12xcomplex<f32>>\n"
    "return %1, %2, %3 : tensor<6x9xf32>, tensor<6x9xi4>, tensor<12xcomplex<f32>>\n}\n";

typedef struct shards_test {
  tsr_comm *comm;
  tsr_executable *executable;
  tsr_trial_values inputs, outputs, whole;
  tsr_trial_shards from, to;
} shards_test;

static void open_test(shards_test *t) {
  TSR_OWN(program, program);
  TSR_OWN(program, partitioned);
  *t = (shards_test){0};
  assert_ok(tsr_program_read("test", text, strlen(text), NULL, &program));
  assert_ok(tsr_program_transform(program, "partition,lanes", &partitioned));
  assert_ok(tsr_executable_compile(partitioned, NULL, &t->executable));
  assert_ok(tsr_comm_create(6, NULL, &t->comm));
  assert_ok(tsr_trial_values_create(t->executable, false, &t->inputs));
  assert_ok(tsr_trial_values_create(t->executable, true, &t->outputs));
  assert_ok(tsr_trial_values_create(t->executable, true, &t->whole));
  assert_ok(tsr_trial_shards_create(t->executable, t->comm, false, &t->from));
  assert_ok(tsr_trial_shards_create(t->executable, t->comm, true, &t->to));
}

static void close_test(shards_test *t) {
  tsr_trial_shards_deinit(&t->from);
  tsr_trial_shards_deinit(&t->to);
  tsr_trial_values_deinit(&t->inputs);
  tsr_trial_values_deinit(&t->outputs);
  tsr_trial_values_deinit(&t->whole);
  tsr_executable_release(t->executable);
  tsr_comm_release(t->comm);
}

// Runs both ways, and compares all bytes.
static void check_runs(shards_test *t) {
  tsr_trial_times times;
  assert_ok(tsr_trial_run(t->executable, &t->inputs, &t->outputs));
  assert_ok(tsr_trial_shards_run(t->executable, &t->from, &t->to));
  assert_ok(tsr_trial_shards_gather(t->executable, &t->to, &t->whole));
  for (int64_t i = 0; i < t->outputs.count; i++)
    assert_memory_equal(tsr_buffer_data(t->outputs.items[i].data),
                        tsr_buffer_data(t->whole.items[i].data), (size_t)t->outputs.items[i].bytes);
  assert_ok(tsr_trial_shards_time(t->executable, &t->from, &t->to, 3, &times));
  assert_int_equal(times.runs, 3);
}

static void random_shards_are_those_of_whole_tensors(void **state) {
  shards_test t;
  (void)state;
  open_test(&t);
  assert_int_equal(t.from.count, 6);
  // Device 1 has columns 3 to 5 of %b, as device 4 has.
  assert_true(t.from.lists[4].items[1].filled);
  assert_ptr_equal(t.from.lists[1].items[1].data, t.from.lists[4].items[1].data);
  assert_int_equal(t.from.lists[1].items[1].box[1].lo, 3);
  assert_ok(tsr_trial_values_random(&t.inputs, 7));
  for (int64_t i = 0; i < t.from.count; i++)
    assert_ok(tsr_trial_values_random(&t.from.lists[i], 7));
  check_runs(&t);
  close_test(&t);
}

static void shards_are_read_box_by_box(void **state) {
  test_folder folder;
  shards_test t;
  (void)state;
  test_folder_make(&folder);
  const char *path = test_folder_path(&folder, "values.safetensors");
  open_test(&t);
  assert_ok(tsr_trial_values_random(&t.inputs, 3));
  assert_ok(tsr_trial_values_write(&t.inputs, path));
  for (int64_t i = 0; i < t.from.count; i++)
    assert_ok(tsr_trial_values_read(&t.from.lists[i], path));
  check_runs(&t);
  close_test(&t);
  test_folder_remove(&folder);
}

SUITE(trial_shards, TEST(random_shards_are_those_of_whole_tensors),
      TEST(shards_are_read_box_by_box))
