// Files for each rank, as tensor-parallel engines write and read them: the files of a rank hold its
// slice of every tensor, under the plain name of the tensor. They do not record how tensors were
// cut; that needs a plan, and every slice is checked against it.
//
// Names of files contain "rank" and a number: model-rank-3-part-0.safetensors (vLLM and SGLang),
// rank_3.safetensors, or any safetensors file in a folder rank-3.
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/io.h"
#include "base/text_internal.h"
#include "file/model.h"
#include "format/format.h"
#include "format/reading.h"
#include "json/json.h"
#include "plan/plan_internal.h"
#include "store/checkpoint.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/open.h"
#include "tessera/plan.h"

static const char plan_name[] = "tessera-plan.json";

// ---- names ----

// The number after "rank" in a name, past one '-', '_' or '='; -1 if there is none.
static int64_t rank_of_name(const char *name) {
  const char *word = strstr(name, "rank");
  if (!word) return -1;
  const char *digits = word + 4;
  if (*digits == '-' || *digits == '_' || *digits == '=') digits++;
  if (!isdigit((unsigned char)*digits)) return -1;
  errno = 0;
  const long long rank = strtoll(digits, NULL, 10);
  return errno || rank > INT32_MAX ? -1 : rank;
}

// In doubt it is a folder: opening it gives the reason.
static bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) ? errno != ENOENT : S_ISDIR(info.st_mode);
}

static tsr_status find_rank(void *context, const char *folder, const char *name, bool *out_stop) {
  char path[PATH_MAX];
  if (rank_of_name(name) < 0) return NULL;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  *(bool *)context = *out_stop = tsr_ends_with(name, ".safetensors") || is_folder(path);
  return NULL;
}

static tsr_status detect(const tsr_format_probe *probe, bool *out_found) {
  return probe->folder ? tsr_reading_each_name(probe->path, find_rank, out_found) : NULL;
}

// ---- finding the files ----

typedef struct rank_search {
  int64_t rank;  // of all files in this folder; -1 = names of files have the rank
  tsr_numbered_paths *files;
} rank_search;

static tsr_status add_file(void *context, const char *folder, const char *name, bool *out_stop) {
  const rank_search *search = context;
  const int64_t named = rank_of_name(name), rank = search->rank < 0 ? named : search->rank;
  char path[PATH_MAX];
  (void)out_stop;
  if (name[0] == '.' || rank < 0) return NULL;
  TSR_TRY(tsr_reading_join(folder, name, strlen(name), path));
  if (tsr_ends_with(name, ".safetensors")) return tsr_numbered_paths_add(search->files, rank, path);
  if (search->rank >= 0 || !is_folder(path)) return NULL;
  return tsr_reading_each_name(path, add_file, &(rank_search){named, search->files});
}

// Reports that ranks from <= rank < to have no file, in one message: a mesh may have millions.
static tsr_status ranks_missing(tsr_checkpoint *checkpoint, int64_t from, int64_t to,
                                int64_t count) {
  if (from >= to) return NULL;
  tsr_status status =
      to - from == 1
          ? tsr_fail(BROKEN_FILE,
                     "%s: there is no file for rank %lld; the plan's mesh has %lld devices",
                     checkpoint->path, (long long)from, (long long)count)
          : tsr_fail(
                BROKEN_FILE,
                "%s: there are no files for ranks %lld to %lld; the plan's mesh has %lld devices",
                checkpoint->path, (long long)from, (long long)to - 1, (long long)count);
  return tsr_checkpoint_report(checkpoint, TSR_FAULT_FILE_MISSING, NULL, NULL, status);
}

// Checks that ranks 0 to count - 1 have files, and no others.
static tsr_status check_ranks(tsr_checkpoint *checkpoint, const tsr_numbered_paths *files,
                              int64_t count) {
  int64_t next = 0;
  for (int64_t i = 0; i < files->count; i++) {
    const char *path = files->items[i].path;
    const int64_t rank = files->items[i].number;
    if (rank < count) {
      TSR_TRY(ranks_missing(checkpoint, next, rank, count));
      next = rank + 1;
    } else {
      TSR_TRY(tsr_checkpoint_report(
          checkpoint, TSR_FAULT_FILE_SURPLUS, path, NULL,
          tsr_fail(BROKEN_FILE,
                   "%s: there is a file for rank %lld, but the plan's mesh has %lld devices", path,
                   (long long)rank, (long long)count)));
    }
  }
  return ranks_missing(checkpoint, next, count, count);
}

// ---- the reader ----

static tsr_status take_files(tsr_checkpoint *checkpoint, const tsr_numbered_paths *files) {
  const int64_t count = tsr_mesh_device_count(tsr_plan_mesh(checkpoint->plan));
  TSR_TRY(check_ranks(checkpoint, files, count));
  for (int64_t i = 0; i < files->count && files->items[i].number < count; i++)
    TSR_TRY(tsr_reading_add_slices(checkpoint, files->items[i].path, files->items[i].number));
  return tsr_reading_check_complete(checkpoint);
}

// Takes the plan of the caller, or the one beside the files, at `path`.
static tsr_status find_plan(tsr_checkpoint *checkpoint, const tsr_plan *given, const char *path) {
  struct stat info;
  bool beside = false;
  tsr_plan *plan = NULL;
  if (!given) TSR_TRY(tsr_io_look(path, &beside, &info));
  if (beside) {
    TSR_TRY(tsr_model_check_link(path));
    TSR_TRY(tsr_plan_open(path, &plan));
  }
  checkpoint->plan = given ? tsr_plan_retain(given) : plan;
  if (checkpoint->plan && tsr_plan_mesh(checkpoint->plan)) return NULL;
  if (beside)
    return tsr_fail(BAD_PLAN, "%s: the plan has no mesh; expected one with a device for each rank",
                    path);
  return tsr_fail(PLAN_REQUIRED,
                  "%s: these are slices for each rank; reading them needs a plan with a mesh",
                  checkpoint->path);
}

static tsr_status take_plan(tsr_checkpoint *checkpoint, const tsr_plan *given) {
  char path[PATH_MAX];
  TSR_TRY(tsr_reading_join(checkpoint->path, plan_name, strlen(plan_name), path));
  TSR_TRY(find_plan(checkpoint, given, path));
  return tsr_note(tsr_reading_add_planned(checkpoint, true), "%s", given ? checkpoint->path : path);
}

static tsr_status read_ranks(tsr_checkpoint *checkpoint, const tsr_checkpoint_options *options) {
  tsr_numbered_paths files = {0};
  TSR_TRY(take_plan(checkpoint, options->plan));
  tsr_status status = tsr_reading_each_name(checkpoint->path, add_file, &(rank_search){-1, &files});
  tsr_numbered_paths_sort(&files);
  if (!status) status = take_files(checkpoint, &files);
  tsr_numbered_paths_deinit(&files);
  return status;
}

// ---- the destination ----

static void name_file(const tsr_dealing *deal, int64_t index, char *out, size_t size) {
  const tsr_bin *bin = &deal->bins[index];
  snprintf(out, size, "model-rank-%lld-part-%d.safetensors", (long long)bin->rank, bin->number);
}

// The files do not say how tensors were cut; the plan beside them does.
static tsr_status write_plan(const tsr_dealing *deal) {
  tsr_json_writer json;
  tsr_json_writer_init(&json, &deal->target->index, 2);
  tsr_plan_to_json(deal->target->plan, &json);
  return tsr_target_set_index(deal->target, plan_name);
}

static const char *const patterns[] = {"*.safetensors", plan_name, NULL};

const tsr_format_ops tsr_format_ranks = {.name = "ranks",
                                         .index_name = plan_name,
                                         .ending = ".safetensors",
                                         .patterns = patterns,
                                         .needs_plan = true,
                                         .stores_replicas = true,
                                         .stage = TSR_DETECT_BY_NAME,
                                         .detect = detect,
                                         .read = read_ranks,
                                         .name_file = name_file,
                                         .lay_out = tsr_dealing_lay_out_safetensors,
                                         .make_index = write_plan,
                                         .check = tsr_fsck_slices};
