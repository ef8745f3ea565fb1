#include "sized_structs/scene.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/save.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"

static void make_layouts(scene *s) {
  tsr_spec *columns = NULL;
  assert_ok(tsr_topology_parse("cpu:8", &s->topology));
  assert_ok(tsr_mesh_parse("x=4,y=2", s->topology, &s->mesh));
  assert_ok(tsr_comm_create(8, NULL, &s->comm));
  s->shape = *TSR_SHAPE(8, 16);
  assert_ok(tsr_spec_parse("x, y", TSR_FORM_SHORT, &s->spec));
  assert_ok(tsr_spec_parse("_, x", TSR_FORM_SHORT, &columns));
  assert_ok(tsr_sharding_bind(s->mesh, s->spec, false, &s->by_rows));
  assert_ok(tsr_sharding_bind(s->mesh, columns, false, &s->by_columns));
  assert_ok(tsr_layout_create(s->by_rows, &s->shape, TSR_POLICY_ERROR, &s->rows));
  assert_ok(tsr_layout_create(s->by_columns, &s->shape, TSR_POLICY_ERROR, &s->columns));
  assert_ok(tsr_copy_plan_create(s->rows, s->columns, NULL, &s->copies));
  tsr_spec_release(columns);
}

static const char negation[] =
    "sdy.mesh @mesh = <[\"x\"=4]>\n"
    "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>,"
    " tf.aliasing_output = 0 : i32}) -> tensor<8xf32> {\n"
    "  %0 = stablehlo.negate %x : tensor<8xf32>\n  return %0 : tensor<8xf32>\n}\n";

// A program that gathers its argument.
static void make_preflight(scene *s) {
  static const char text[] =
      "sdy.mesh @mesh = <[\"x\"=4]>\n"
      "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}) -> "
      "(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {\n"
      "  return %x : tensor<8xf32>\n}\n";
  TSR_OWN(program, program);
  TSR_OWN(propagation, propagation);
  assert_ok(tsr_program_read("gather", text, sizeof text - 1, NULL, &program));
  assert_ok(tsr_program_propagate(program, NULL, &propagation));
  assert_ok(tsr_preflight_create(propagation, NULL, &s->preflight));
}

// A program whose reshape cannot be cut.
static void make_gathering(scene *s) {
  TSR_OWN(program, program);
  assert_ok(tsr_program_open("tests/programs/reshape_inner_sharded/program.mlir", NULL, &program));
  assert_ok(tsr_program_partition(program, NULL, &s->gathering));
}

void scene_make(scene *s) {
  static const int64_t dims[] = {8, 16};
  const tsr_tensor tensor = {.path = "w", .dtype = TSR_F32, .rank = 2, .dims = dims};
  *s = (scene){0};
  make_layouts(s);
  assert_ok(tsr_rules_parse("w -> x, y", "rules", NULL, &s->rules));
  assert_ok(tsr_tree_create(&tensor, 1, &s->tree));
  assert_ok(tsr_plan_match(s->tree, s->mesh, s->rules, NULL, &s->plan));
  assert_ok(tsr_array_zeros(s->comm, s->rows, TSR_F32, &s->array));
  const tsr_leaf leaf = {.tensor.path = "w", .kind = TSR_LEAF_ARRAY, .array = s->array};
  assert_ok(tsr_array_tree_create(&leaf, 1, &s->state));
  assert_ok(tsr_map_parse("v = w\n", "map", &s->map));
  tsr_partitioner_options options = TSR_PARTITIONER_OPTIONS;
  options.num_partitions = 8;
  assert_ok(tsr_partitioner_create(s->topology, &options, &s->partitioner));
  assert_ok(tsr_program_read("negation", negation, sizeof negation - 1, NULL, &s->program));
  assert_ok(tsr_executable_compile(s->program, NULL, &s->executable));
  assert_ok(tsr_program_propagate(s->program, NULL, &s->propagation));
  assert_ok(tsr_program_partition(s->program, NULL, &s->partitioned));
  assert_ok(tsr_partitioned_compile(s->partitioned, s->comm, NULL, &s->compiled));
  make_preflight(s);
  make_gathering(s);
  test_folder_make(&s->folder);
  const char *path = test_folder_path(&s->folder, "model");
  assert_ok(tsr_checkpoint_save(s->state, path, s->comm, NULL));
  assert_ok(tsr_checkpoint_open(path, NULL, &s->checkpoint));
}

void scene_free(scene *s) {
  tsr_preflight_release(s->preflight);
  tsr_propagation_destroy(s->propagation);
  tsr_partitioned_release(s->gathering);
  tsr_compiled_release(s->compiled);
  tsr_partitioned_release(s->partitioned);
  tsr_executable_release(s->executable);
  tsr_program_release(s->program);
  tsr_checkpoint_release(s->checkpoint);
  test_folder_remove(&s->folder);
  tsr_partitioner_release(s->partitioner);
  tsr_map_release(s->map);
  tsr_array_tree_release(s->state);
  tsr_array_release(s->array);
  tsr_plan_release(s->plan);
  tsr_tree_release(s->tree);
  tsr_rules_release(s->rules);
  tsr_copy_plan_release(s->copies);
  tsr_layout_release(s->rows);
  tsr_layout_release(s->columns);
  tsr_sharding_release(s->by_rows);
  tsr_sharding_release(s->by_columns);
  tsr_spec_release(s->spec);
  tsr_comm_release(s->comm);
  tsr_mesh_release(s->mesh);
  tsr_topology_release(s->topology);
}

fenced fence(size_t bytes) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  assert_true(bytes <= page);
  char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(pages != MAP_FAILED);
  assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
  return (fenced){pages, pages + page - bytes};
}

void unfence(fenced f) { munmap(f.pages, 2 * (size_t)sysconf(_SC_PAGESIZE)); }
