// Saves over ranks: whatever way arrays lie on them, the files are those of whole tensors, each
// element written once; and what one rank cannot do fails on all, with nothing left behind.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cases.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/kernels.h"
#include "tessera/engine/layout.h"
#include "tessera/engine/sharding.h"
#include "tessera/tessera.h"

enum { ROWS = 2048, COLUMNS = 1280, DEVICES = 8, MOST_RANKS = 8 };  // three blocks of 4 MiB

static const char *const specs[] = {"x, y", "_, y", "()", "x/cyclic(5), y", "_, x+y"};

static tsr_status make_array(tsr_comm *comm, const char *spec_text, const float *whole,
                             tsr_array **out_array) {
  tsr_mesh *mesh = NULL;
  tsr_spec *spec = NULL;
  tsr_sharding *sharding = NULL;
  tsr_layout *layout = NULL;
  tsr_status status = tsr_mesh_parse("x=2,y=4", NULL, &mesh);
  if (!status) status = tsr_spec_parse(spec_text, TSR_FORM_ANY, &spec);
  if (!status) status = tsr_sharding_bind(mesh, spec, false, &sharding);
  if (!status)
    status = tsr_layout_create(sharding, TSR_SHAPE(ROWS, COLUMNS), TSR_POLICY_UNEVEN, &layout);
  if (!status) status = tsr_array_shard(comm, layout, TSR_F32, whole, NULL, out_array);
  tsr_layout_release(layout);
  tsr_sharding_release(sharding);
  tsr_spec_release(spec);
  tsr_mesh_release(mesh);
  return status;
}

static tsr_status make_tree(tsr_comm *comm, const char *spec, const float *whole,
                            const int32_t *step, tsr_array_tree **out_tree) {
  tsr_array *array = NULL;
  TSR_TRY(make_array(comm, spec, whole, &array));
  const tsr_leaf leaves[] = {
      {.tensor.path = "w", .kind = TSR_LEAF_ARRAY, .array = array},
      {.tensor.path = "step", .kind = TSR_LEAF_HOST, .tensor.dtype = TSR_I32, .data = step}};
  const tsr_status status = tsr_array_tree_create(leaves, 2, out_tree);
  tsr_array_release(array);
  return status;
}

static bool same(const float *a, const float *b, int count) {
  for (int i = 0; i < count; i++)
    if (a[i] != b[i]) return false;
  return true;
}

// By the first rank, which saw none of it while it was written.
static void check_saved(const char *path, const float *whole) {
  tsr_checkpoint *saved = NULL;
  tsr_hash128 known = {0}, found = {0};
  float *read = malloc(sizeof *read * ROWS * COLUMNS);
  if (!read || !check_ok("open", tsr_checkpoint_open(path, NULL, &saved))) return;
  const int64_t tensor = tsr_tree_find(tsr_checkpoint_tree(saved), "w");
  if (check_ok("read",
               tsr_checkpoint_read(saved, tensor, NULL, read, sizeof *read * ROWS * COLUMNS)))
    check_that("what was saved is there", same(read, whole, ROWS * COLUMNS));
  if (tsr_checkpoint_known_hash(saved, tensor, &known) &&
      check_ok("hash", tsr_checkpoint_hash(saved, tensor, NULL, &found)))
    check_that("its hash is right", known.low == found.low && known.high == found.high);
  tsr_checkpoint_release(saved);
  free(read);
}

static void check_counts(tsr_comm *comm, const tsr_save *save) {
  const tsr_save_certificate *mine = tsr_save_certificate_of(save);
  tsr_save_certificate all[MOST_RANKS];
  int64_t written = 0, sent = 0, received = 0;
  if (!check_ok("share", tsr_comm_share(comm, mine, sizeof *mine, all))) return;
  for (int r = 0; r < tsr_comm_rank_count(comm); r++) {
    written += all[r].bytes_written;
    sent += all[r].bytes_sent;
    received += all[r].bytes_received;
  }
  check_that("each element is written once", written == (int64_t)ROWS * COLUMNS * 4 + 4);
  check_that("what is sent is received", sent == received);
}

static void check_save(tsr_comm *comm, const char *path, const char *spec,
                       tsr_checkpoint_format format, const float *whole) {
  const tsr_save_options options = {.size = sizeof options,
                                    .format = format,
                                    .existing = TSR_EXISTING_REPLACE,
                                    .max_memory = 48 << 20,
                                    .no_sync = true};
  const int32_t step = 7;
  tsr_array_tree *tree = NULL;
  tsr_save *save = NULL;
  if (check_ok("tree", make_tree(comm, spec, whole, &step, &tree)) &&
      check_ok("create", tsr_save_create(tree, path, comm, &options, &save)) &&
      check_ok("run", tsr_save_run(save))) {
    check_counts(comm, save);
    if (tsr_comm_rank(comm) == 0) check_saved(path, whole);
  }
  check_ok("barrier", tsr_comm_barrier(comm));
  tsr_save_destroy(save);
  tsr_array_tree_release(tree);
}

static bool stop(void *context, const tsr_progress_report *report) {
  (void)context;
  return report->finished || report->done == 0;
}

// Only the last rank wants to stop; all do, and nothing is left.
static void check_cancelled(tsr_comm *comm, const char *path, const float *whole) {
  const bool last = tsr_comm_rank(comm) == tsr_comm_rank_count(comm) - 1;
  const tsr_save_options options = {.size = sizeof options,
                                    .progress = last ? stop : NULL,
                                    .progress_interval = 1e-9,
                                    .no_sync = true};
  const int32_t step = 7;
  char partial[160];
  tsr_array_tree *tree = NULL;
  if (!check_ok("tree", make_tree(comm, "x+y", whole, &step, &tree))) return;
  check_fails("save", tsr_checkpoint_save(tree, path, comm, &options), TSR_CAUSE_CANCELLED, "rank");
  check_ok("barrier", tsr_comm_barrier(comm));
  snprintf(partial, sizeof partial, "%s.partial", path);
  check_that("nothing is there", access(path, F_OK) && access(partial, F_OK));
  tsr_array_tree_release(tree);
}

static void remove_saved(const char *path) {
  char command[192];
  snprintf(command, sizeof command, "rm -rf '%s'", path);
  check_that("it is removed", system(command) == 0);  // NOLINT: a test's own paths
}

static void check_all(tsr_comm *comm) {
  static const tsr_checkpoint_format formats[] = {TSR_FORMAT_TESSERA, TSR_FORMAT_FILE,
                                                  TSR_FORMAT_RANKS};
  char folder[64] = "/tmp/tessera-save.XXXXXX", all[MOST_RANKS][64], path[128];
  const bool first = tsr_comm_rank(comm) == 0;
  float *whole = malloc(sizeof *whole * ROWS * COLUMNS);
  if (first) check_that("there is a folder", mkdtemp(folder) != NULL);
  if (whole && check_ok("share", tsr_comm_share(comm, folder, sizeof folder, all))) {
    for (int i = 0; i < ROWS * COLUMNS; i++) whole[i] = (float)i;
    snprintf(path, sizeof path, "%s/out", all[0]);
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
      check_save(comm, path, specs[i], formats[i % 3], whole);
    if (first) remove_saved(path);
    check_ok("barrier", tsr_comm_barrier(comm));
    if (tsr_comm_rank_count(comm) > 1) check_cancelled(comm, path, whole);
    if (first) remove_saved(all[0]);
  }
  free(whole);
}

int case_save(void) { return check_on_devices(DEVICES, check_all); }
