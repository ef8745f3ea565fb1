// How files of each kind are opened.
#include "base/text_internal.h"
#include "corpus/corpus.h"
#include "format/fsck_report.h"
#include "tessera/checkpoint.h"

static tsr_status open_checkpoint(const char *path, tsr_text *warnings) {
  tsr_checkpoint *checkpoint = NULL;
  TSR_TRY(tsr_checkpoint_open(path, NULL, &checkpoint));
  tsr_text_add(warnings, tsr_checkpoint_warnings(checkpoint));
  tsr_checkpoint_release(checkpoint);
  return NULL;
}

static tsr_status open_file(const test_folder *folder, tsr_text *warnings) {
  return open_checkpoint(test_folder_path(folder, "model.safetensors"), warnings);
}

static tsr_status open_archive(const test_folder *folder, tsr_text *warnings) {
  return open_checkpoint(test_folder_path(folder, "model.npz"), warnings);
}

static tsr_status open_folder(const test_folder *folder, tsr_text *warnings) {
  return open_checkpoint(folder->path, warnings);
}

static tsr_status open_plan(const test_folder *folder, tsr_text *warnings) {
  tsr_plan *plan = NULL;
  (void)warnings;
  TSR_TRY(tsr_plan_open(test_folder_path(folder, "plan.json"), &plan));
  tsr_plan_release(plan);
  return NULL;
}

// A map is read and applied to the model beside it.
static tsr_status open_map(const test_folder *folder, tsr_text *warnings) {
  static const tsr_fact facts[] = {{"heads", 4}};
  const tsr_map_options options = {.size = sizeof options, .facts = facts, .fact_count = 1};
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  tsr_checkpoint *model = NULL;
  TSR_TRY(tsr_map_read(test_folder_path(folder, "names.map"), &map));
  tsr_status status =
      tsr_checkpoint_open(test_folder_path(folder, "model.safetensors"), NULL, &model);
  if (!status) status = tsr_map_apply(map, tsr_checkpoint_tree(model), &options, &mapping);
  if (!status) tsr_text_add(warnings, tsr_mapping_warnings(mapping));
  tsr_mapping_release(mapping);
  tsr_checkpoint_release(model);
  tsr_map_release(map);
  return status;
}

// Every fault, as "error kind: message", with '+' where --repair mends it.
static tsr_status open_fsck(const test_folder *folder, tsr_text *warnings) {
  const tsr_fsck_options options = {.size = sizeof options, .deep = true, .jobs = 1};
  tsr_fsck *fsck = NULL;
  TSR_TRY(tsr_fsck_run(folder->path, &options, &fsck));
  for (int64_t i = 0; i < tsr_fsck_count(fsck); i++) {
    const tsr_fault *fault = tsr_fsck_at(fsck, i);
    tsr_text_addf(warnings, "%s %s%s: %s\n", tsr_severity_name(fault->severity),
                  tsr_fault_name(fault->kind), fault->repairable ? "+" : "", fault->message);
  }
  tsr_fsck_destroy(fsck);
  return NULL;
}

const corpus_kind corpus_kinds[] = {
    {.name = "safetensors",
     .open = open_file,
     .checkpoint = true,
     .file = "model.safetensors",
     .least = 60},
    {.name = "index", .open = open_folder, .checkpoint = true, .least = 40},
    {.name = "manifest", .open = open_folder, .checkpoint = true, .least = 50},
    {.name = "ranks", .open = open_folder, .checkpoint = true, .least = 20},
    {.name = "npy", .open = open_folder, .checkpoint = true, .least = 20},
    {.name = "npz", .open = open_archive, .checkpoint = true, .file = "model.npz", .least = 12},
    {.name = "plan", .open = open_plan, .least = 50},
    {.name = "fsck", .open = open_fsck, .report = true, .least = 20},
    {.name = "map", .open = open_map, .least = 50},
};
const int corpus_kind_count = COUNT_OF(corpus_kinds);
