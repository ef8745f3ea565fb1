#include "conformance/swaps.h"

#include <stdlib.h>
#include <string.h>

#include "tessera/compat/t5x_partitioner.h"
#include "tessera/engine/array.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"

// ---- the scene ----

tsr_status swap_layout(const scene *s, const tsr_mesh *mesh, const char *text,
                       tsr_layout **out_layout) {
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_status status = tsr_spec_parse(text, TSR_FORM_ANY, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status) status = tsr_layout_create(sharding, &s->shape, TSR_POLICY_ERROR, out_layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  return status;
}

static tsr_status make_meshes(scene *s) {
  int64_t reverse[MOST_SWAP_DEVICES];
  const tsr_axis axes[] = {{.name = "data", .size = s->ranks}, {.name = "model", .size = 2}};
  tsr_mesh_desc desc = {.size = sizeof desc, .axis_count = 2, .axes = axes};
  for (int i = 0; i < s->n; i++) reverse[i] = s->n - 1 - i;
  TSR_TRY(tsr_mesh_create(&desc, &s->mesh));
  desc.device_count = s->n;
  desc.devices = reverse;
  return tsr_mesh_create(&desc, &s->turned);
}

static tsr_status make_arrays(scene *s) {
  for (int t = 0; t < 2; t++) {
    s->tensors[t] = calloc((size_t)(4 * s->n * s->n), sizeof *s->tensors[t]);
    if (!s->tensors[t]) return tsr_fail(NO_MEMORY, "a tensor");
    for (int i = 0; i < 4 * s->n * s->n; i++) s->tensors[t][i] = 1000000 * t + i;
    TSR_TRY(tsr_array_shard(s->comm, s->rows, TSR_I32, s->tensors[t], NULL, &s->arrays[t]));
  }
  TSR_TRY(tsr_array_shard(s->comm, s->rows, TSR_F32, s->tensors[0], NULL, &s->of_floats));
  return tsr_array_shard(s->comm, s->columns, TSR_I32, s->tensors[0], NULL, &s->by_columns);
}

static tsr_status make_folder(scene *s) {
  char all[MOST_SWAP_RANKS][sizeof s->folder];
  strcpy(s->folder, "/tmp/tessera-swaps.XXXXXX");
  if (s->rank == 0 && !mkdtemp(s->folder)) return tsr_fail(IO, "%s cannot be made", s->folder);
  TSR_TRY(tsr_comm_share(s->comm, s->folder, sizeof s->folder, all));
  memcpy(s->folder, all[0], sizeof s->folder);
  return NULL;
}

static tsr_status make_scene(scene *s, tsr_comm *comm) {
  *s = (scene){.comm = comm,
               .rank = tsr_comm_rank(comm),
               .ranks = tsr_comm_rank_count(comm),
               .n = tsr_comm_device_count(comm)};
  if (s->ranks > MOST_SWAP_RANKS || s->n != (int64_t)DEVICES_PER_RANK * s->ranks)
    return tsr_fail(BAD_ARGUMENT, "%lld devices on %d ranks", (long long)s->n, s->ranks);
  s->shape = *TSR_SHAPE(2 * s->n, 2 * s->n);
  TSR_TRY(make_folder(s));
  TSR_TRY(make_meshes(s));
  TSR_TRY(swap_layout(s, s->mesh, "data+model, _", &s->rows));
  TSR_TRY(swap_layout(s, s->mesh, "_, data+model", &s->columns));
  TSR_TRY(swap_layout(s, s->turned, "data+model, _", &s->turned_rows));
  return make_arrays(s);
}

static void free_scene(scene *s) {
  char command[128];
  for (int t = 0; t < 2; t++) tsr_array_release(s->arrays[t]);
  for (int t = 0; t < 2; t++) free(s->tensors[t]);
  tsr_array_release(s->of_floats);
  tsr_array_release(s->by_columns);
  tsr_layout_release(s->rows);
  tsr_layout_release(s->columns);
  tsr_layout_release(s->turned_rows);
  tsr_mesh_release(s->mesh);
  tsr_mesh_release(s->turned);
  snprintf(command, sizeof command, "rm -rf '%s'", s->folder);
  if (s->rank == 0 && system(command)) fprintf(stderr, "%s is left\n", s->folder);  // NOLINT
}

// ---- what the rows share ----

tsr_status swap_check(const scene *s, const tsr_array *array, int tensor) {
  tsr_array *wanted = NULL;
  tsr_status status = tsr_array_shard(s->comm, tsr_array_layout(array), tsr_array_dtype(array),
                                      s->tensors[tensor], NULL, &wanted);
  for (int64_t i = 0; !status && i < tsr_array_local_count(wanted); i++) {
    tsr_local_shard part = TSR_LOCAL_SHARD;
    status = tsr_array_local_at(wanted, i, &part);
    if (!status && memcmp(part.data, tsr_array_data(array, i), (size_t)part.bytes) != 0)
      status = tsr_fail(REPLICAS_DIFFER, "device %lld holds the wrong data of tensor %d",
                        (long long)part.device, tensor);
  }
  tsr_array_release(wanted);
  return status;
}

static tsr_leaf host_leaf(const scene *s, const char *path, int tensor) {
  return (tsr_leaf){.tensor = tsr_tensor_of(path, TSR_I32, &s->shape),
                    .kind = TSR_LEAF_HOST,
                    .data = s->tensors[tensor]};
}

tsr_status swap_tree(const scene *s, tree_kind kind, tsr_array_tree **out_tree) {
  const tsr_leaf a = {.tensor.path = "a",
                      .kind = TSR_LEAF_ARRAY,
                      .array = kind == RETYPED ? s->of_floats : s->arrays[0]};
  const tsr_leaf b = {
      .tensor.path = kind == RENAMED ? "c" : "b", .kind = TSR_LEAF_ARRAY, .array = s->arrays[1]};
  const tsr_leaf leaves[] = {kind == REORDERED ? b : a,
                             kind == REORDERED ? a
                             : kind == HOSTED  ? host_leaf(s, "b", 1)
                                               : b,
                             host_leaf(s, "h", 0)};
  return tsr_array_tree_create(leaves, kind == SHORTER ? 2 : 3, out_tree);
}

static tsr_status check_leaf(const scene *s, const tsr_leaf *leaf) {
  const int tensor = leaf->tensor.path[0] == 'b';
  if (leaf->kind == TSR_LEAF_ARRAY) return swap_check(s, leaf->array, tensor);
  const size_t bytes = sizeof(int32_t) * (size_t)(4 * s->n * s->n);
  if (leaf->kind == TSR_LEAF_SHAPE || !memcmp(leaf->data, s->tensors[tensor], bytes)) return NULL;
  return tsr_fail(REPLICAS_DIFFER, "leaf \"%s\" holds the wrong data", leaf->tensor.path);
}

tsr_status swap_check_tree(const scene *s, tsr_array_tree *tree, tsr_status status) {
  for (int64_t i = 0; !status && i < tsr_array_tree_count(tree); i++)
    status = check_leaf(s, tsr_array_tree_at(tree, i));
  tsr_array_tree_release(tree);
  return status;
}

tsr_status swap_plan(const scene *s, const tsr_mesh *mesh, const char *text, int count,
                     tsr_plan **out_plan) {
  const tsr_tensor tensors[] = {{"a", TSR_I32, 2, s->shape.dims, NULL},
                                {"b", TSR_I32, 2, s->shape.dims, NULL},
                                {"h", TSR_I32, 2, s->shape.dims, NULL},
                                {"c", TSR_I32, 2, s->shape.dims, NULL}};
  tsr_tree *tree = NULL;
  tsr_rules *rules = NULL;
  tsr_status status = tsr_tree_create(tensors, count, &tree);
  if (!status) status = tsr_rules_parse(text, "rules", NULL, &rules);
  if (!status) status = tsr_plan_match(tree, mesh, rules, NULL, out_plan);
  tsr_rules_release(rules);
  tsr_tree_release(tree);
  return status;
}

tsr_status swap_partitioner(const scene *s, bool on_host, bool empty,
                            tsr_partitioner **out_partitioner) {
  const tsr_partitioner_options options = {
      .size = sizeof options, .num_partitions = 2, .params_on_host = on_host};
  char text[32];
  tsr_topology *machine = NULL;
  snprintf(text, sizeof text, "cpu:%lld", (long long)s->n);
  if (!empty) TSR_TRY(tsr_topology_parse(text, &machine));
  const tsr_status status = tsr_partitioner_create(machine, &options, out_partitioner);
  tsr_topology_release(machine);
  return status;
}

// ---- running ----

// All ranks read the same words.
static void check_texts(suite *u, const scene *s, const char *text) {
  enum { BYTES = 600 };
  char mine[BYTES] = "", all[MOST_SWAP_RANKS][BYTES];
  snprintf(mine, sizeof mine, "%s", text);
  if (!suite_ok(u, tsr_comm_share(s->comm, mine, sizeof mine, all))) return;
  for (int r = 0; r < s->ranks; r++)
    if (strcmp(all[r], all[0]) != 0)
      suite_fail(u, "rank 0 reads \"%s\", rank %d \"%s\"", all[0], r, all[r]);
}

// A rank that asks for something else is named; so is one that refuses its arguments, by others.
static void check_failure(suite *u, const scene *s, tsr_status status, int odd, bool refused) {
  const tsr_cause cause = tsr_status_cause(status);
  char name[32];
  snprintf(name, sizeof name, "rank %d%s", odd, refused ? ":" : " ");
  if (!status)
    suite_fail(u, "succeeds");
  else if (cause == TSR_CAUSE_COMM_TIMEOUT || cause == TSR_CAUSE_COMM_FAILED ||
           (cause == TSR_CAUSE_COMM_MISMATCH) == refused)
    suite_fail(u, "fails with \"%s\" (%s)", tsr_status_text(status), tsr_cause_slug(cause));
  else if ((!refused || s->rank != odd) && !strstr(tsr_status_text(status), name))
    suite_fail(u, "does not name rank %d: \"%s\"", odd, tsr_status_text(status));
  if (!refused) check_texts(u, s, tsr_status_text(status));
  tsr_status_free(status);
}

static tsr_status call_another(const collective *c, scene *s) {
  char byte = 0, all[MOST_SWAP_RANKS];
  if (!strcmp(c->function, "tsr_comm_barrier")) return tsr_comm_share(s->comm, &byte, 1, all);
  return tsr_comm_barrier(s->comm);
}

static void swap_on(suite *u, scene *s, const collective *c, int odd) {
  char words[256], *rest = NULL;
  bool refused = false;
  int number = 0;
  suite_begin(u, "%s, another call on rank %d", c->function, odd);
  check_failure(u, s, s->rank == odd ? call_another(c, s) : c->call(s, 0), odd, false);
  snprintf(words, sizeof words, "%s", c->arguments);
  for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
    refused = refused || !strcmp(word, "!");
    if (!strcmp(word, "!")) continue;
    suite_begin(u, "%s, another %s on rank %d", c->function, word, odd);
    number++;
    check_failure(u, s, c->call(s, s->rank == odd ? number : 0), odd, refused);
    suite_begin(u, "%s, after another %s on rank %d", c->function, word, odd);
    suite_ok(u, c->call(s, 0));
  }
}

int swaps_run(tsr_comm *comm, FILE *out) {
  const collective *const tables[] = {comm_collectives, array_collectives, place_collectives,
                                      file_collectives, program_collectives};
  suite u = {.comm = comm, .out = out};
  scene s;
  suite_begin(&u, "the scene");
  if (suite_ok(&u, make_scene(&s, comm)))
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
      for (const collective *c = tables[t]; c->function; c++) {
        suite_begin(&u, "%s", c->function);
        suite_ok(&u, c->call(&s, 0));
        for (int odd = 0; odd < s.ranks; odd += s.ranks - 1) swap_on(&u, &s, c, odd);
      }
  free_scene(&s);
  return u.failures;
}
