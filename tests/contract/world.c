#include "contract/world.h"

#include "tessera/own.h"

#include <limits.h>
#include <string.h>

#include "file/npy_internal.h"
#include "support/models.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/compat/eformer_axes.h"
#include "tessera/compat/placer.h"
#include "tessera/compat/t5x_chunks.h"
#include "tessera/compat/t5x_partitioner.h"
#include "tessera/engine/copy_plan.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sequence.h"
#include "tessera/engine/sharding.h"
#include "transfer/transfer_internal.h"

enum { CANARY = 0xA5 };

void *world_out(world *w, int place) { return w->out + (size_t)place * OUT_BYTES / OUT_PLACES; }

void *world_sized_out(world *w, int place, size_t size) {
  w->sized[place] = size;
  return memcpy(world_out(w, place), &size, sizeof size);
}

bool world_is_untouched(world *w) {
  unsigned char before[OUT_BYTES];
  memset(before, CANARY, sizeof before);
  for (int place = 0; place < OUT_PLACES; place++)
    if (w->sized[place])
      memcpy(before + ((unsigned char *)world_out(w, place) - w->out), &w->sized[place],
             sizeof w->sized[place]);
  const bool same = !memcmp(w->out, before, sizeof before);
  memset(w->out, CANARY, sizeof w->out);
  memset(w->sized, 0, sizeof w->sized);
  return same;
}

int world_int(int64_t number) {
  return number > INT_MAX ? INT_MAX : number < INT_MIN ? INT_MIN : (int)number;
}

int complain(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vprint_error(format, args);
  va_end(args);
  print_error("\n");
  return 1;
}

static void make_layouts(world *w) {
  assert_ok(tsr_topology_parse("cpu:2x4", &w->topology));
  assert_ok(tsr_mesh_parse("data=2,model=4", w->topology, &w->mesh));
  assert_ok(tsr_spec_parse("data, model", TSR_FORM_ANY, &w->spec));
  assert_ok(tsr_spec_parse("model, data", TSR_FORM_ANY, &w->other_spec));
  assert_ok(tsr_sharding_bind(w->mesh, w->spec, false, &w->sharding));
  assert_ok(tsr_sharding_bind(w->mesh, w->other_spec, false, &w->other_sharding));
  assert_ok(tsr_layout_create(w->sharding, TSR_SHAPE(8, 16), TSR_POLICY_ERROR, &w->layout));
  assert_ok(tsr_layout_create(w->sharding, TSR_SHAPE(7, 5), TSR_POLICY_PAD, &w->padded));
  assert_ok(tsr_layout_create(w->other_sharding, TSR_SHAPE(8, 16), TSR_POLICY_ERROR, &w->other));
  const tsr_range boxes[] = {{0, 8}, {0, 4}, {0, 8}, {4, 16}};
  assert_ok(tsr_layout_from_boxes(w->mesh, TSR_SHAPE(8, 16), 2, (const int64_t[]){1, 1}, boxes,
                                  &w->boxes));
}

static void make_arrays(world *w) {
  for (int i = 0; i < 128; i++) w->host[i] = (float)i;
  assert_ok(tsr_comm_create(8, NULL, &w->comm));
  assert_ok(tsr_array_shard(w->comm, w->layout, TSR_F32, w->host, NULL, &w->array));
  const tsr_leaf leaves[] = {{.tensor.path = "a", .kind = TSR_LEAF_ARRAY, .array = w->array},
                             {.tensor = tsr_tensor_of("b", TSR_F32, TSR_SHAPE(4)),
                              .kind = TSR_LEAF_HOST,
                              .data = w->host}};
  assert_ok(tsr_array_tree_create(leaves, 2, &w->arrays));
}

static void make_plans(world *w) {
  const tsr_tensor tensors[] = {TENSOR("a", 8, 16), TENSOR("b", 4)};
  tsr_map *map = NULL;
  assert_ok(tsr_tree_create(tensors, 2, &w->tree));
  assert_ok(tsr_rules_parse("a -> data, model\nb -> _\n", "test", NULL, &w->rules));
  assert_ok(tsr_logical_rules_parse("batch -> data\n", "test", &w->logical));
  assert_ok(tsr_plan_match(w->tree, w->mesh, w->rules, NULL, &w->plan));
  assert_ok(tsr_map_parse("x = a", "test", &map));
  assert_ok(tsr_map_apply(map, w->tree, NULL, &w->mapping));
  tsr_map_release(map);
  assert_ok(tsr_placer_create(w->plan, NULL, &w->placer));
  const tsr_partitioner_options options = {.size = sizeof options, .num_partitions = 4};
  assert_ok(tsr_partitioner_create(w->topology, &options, &w->partitioner));
}

static void make_files(world *w) {
  const char *path = test_folder_path(&w->folder, "model");
  const char *other = test_folder_path(&w->folder, "other");
  assert_ok(tsr_checkpoint_save(w->arrays, path, w->comm, NULL));
  assert_ok(tsr_checkpoint_open(path, NULL, &w->checkpoint));
  assert_ok(tsr_fsck_run(path, NULL, &w->fsck));
  assert_ok(tsr_checkpoint_verify(w->checkpoint, w->checkpoint, NULL, &w->verification));
  assert_ok(tsr_transform_create(w->checkpoint, other, NULL, &w->transform));
  path = test_folder_path(&w->folder, "arrays.npz");
  const tsr_npz_item item = {.tensor = tsr_tensor_of("x", TSR_F32, TSR_SHAPE(4)),
                             .elements = w->host};
  assert_ok(tsr_npz_write(path, &item, 1, false));
  assert_ok(tsr_npz_open(path, &w->npz));
}

static void make_transfers(world *w) {
  assert_ok(tsr_chunker_create(w->mesh, &w->chunker));
  assert_ok(tsr_sequence_create(w->sharding, w->other_sharding, TSR_SHAPE(8, 16), TSR_F32, NULL,
                                &w->sequence));
  assert_ok(tsr_copy_plan_create(w->layout, w->other, NULL, &w->copy_plan));
  assert_ok(tsr_axes_create(NULL, 0, &w->axes));
  assert_ok(tsr_axis_registry_create(&w->registry));
  assert_ok(tsr_axis_registry_add(w->registry, "mine", &TSR_LOGICAL_NAME("tp"), NULL, false));
}

static void make_preflight(world *w) {
  static const char text[] =
      "sdy.mesh @mesh = <[\"x\"=4]>\n"
      "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}) -> "
      "(tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {\n"
      "  return %x : tensor<8xf32>\n}\n";
  TSR_OWN(program, program);
  TSR_OWN(propagation, propagation);
  assert_ok(tsr_program_read("gather", text, sizeof text - 1, NULL, &program));
  assert_ok(tsr_program_propagate(program, NULL, &propagation));
  assert_ok(tsr_preflight_create(propagation, NULL, &w->preflight));
}

static void make_programs(world *w) {
  static const char text[] =
      "sdy.mesh @mesh = <[\"x\"=4]>\n"
      "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n  return %x : tensor<8xf32>\n}\n";
  assert_ok(tsr_program_read("identity", text, sizeof text - 1, NULL, &w->program));
  assert_ok(tsr_executable_compile(w->program, NULL, &w->executable));
  assert_ok(tsr_program_partition(w->program, NULL, &w->partitioned));
  assert_ok(tsr_partitioned_compile(w->partitioned, w->comm, NULL, &w->compiled));
}

int world_set_up(void **state) {
  world *w = test_calloc(1, sizeof *w);
  test_folder_make(&w->folder);
  make_layouts(w);
  make_arrays(w);
  make_plans(w);
  make_files(w);
  make_transfers(w);
  make_programs(w);
  make_preflight(w);
  memset(w->out, CANARY, sizeof w->out);
  *state = w;
  return 0;
}

int world_tear_down(void **state) {
  world *w = *state;
  tsr_executable_release(w->executable);
  tsr_compiled_release(w->compiled);
  tsr_partitioned_release(w->partitioned);
  tsr_program_release(w->program);
  tsr_preflight_release(w->preflight);
  tsr_partitioner_release(w->partitioner);
  tsr_placer_release(w->placer);
  tsr_npz_destroy(w->npz);
  tsr_axis_registry_destroy(w->registry);
  tsr_axes_release(w->axes);
  tsr_copy_plan_release(w->copy_plan);
  tsr_sequence_release(w->sequence);
  tsr_chunker_release(w->chunker);
  tsr_transform_destroy(w->transform);
  tsr_verification_destroy(w->verification);
  tsr_fsck_destroy(w->fsck);
  tsr_checkpoint_release(w->checkpoint);
  tsr_mapping_release(w->mapping);
  tsr_plan_release(w->plan);
  tsr_logical_rules_release(w->logical);
  tsr_rules_release(w->rules);
  tsr_tree_release(w->tree);
  tsr_array_tree_release(w->arrays);
  tsr_array_release(w->array);
  tsr_comm_release(w->comm);
  tsr_layout_release(w->other);
  tsr_layout_release(w->boxes);
  tsr_layout_release(w->padded);
  tsr_layout_release(w->layout);
  tsr_sharding_release(w->other_sharding);
  tsr_sharding_release(w->sharding);
  tsr_spec_release(w->other_spec);
  tsr_spec_release(w->spec);
  tsr_mesh_release(w->mesh);
  tsr_topology_release(w->topology);
  test_folder_remove(&w->folder);
  test_free(w);
  return 0;
}

int world_judge(world *w, const char *name, int64_t value, tsr_status status) {
  int failures = 0;
  if (tsr_status_code(status) != TSR_CODE_INVALID)
    failures += complain("%s with %lld: %s (%s)", name, (long long)value,
                         tsr_cause_slug(tsr_status_cause(status)), tsr_status_text(status));
  if (!world_is_untouched(w)) failures += complain("%s wrote to its output", name);
  tsr_status_free(status);
  return failures;
}
