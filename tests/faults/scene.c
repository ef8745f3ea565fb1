#include "faults/scene.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checkpoint/numpy_files.h"
#include "element/shape_internal.h"
#include "file/npy_internal.h"
#include "tessera/checkpoint/load.h"
#include "tessera/checkpoint/map.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/save.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/comm.h"
#include "tessera/place.h"

#define TREE                                           \
  "{\"a\": {\"dtype\": \"u32\", \"shape\": [24, 10]}," \
  " \"b\": {\"dtype\": \"u32\", \"shape\": [5]},"      \
  " \"c\": {\"dtype\": \"u32\", \"shape\": [8, 300]}}"

// What a map makes of it: other names, and one tensor with its halves exchanged.
#define MAP                                                    \
  "new.a = concat(0, slice(a, 0, 12:24), slice(a, 0, 0:12))\n" \
  "new.{x} = {x:[bc]}\n"
#define MAPPED_TREE                                        \
  "{\"new.a\": {\"dtype\": \"u32\", \"shape\": [24, 10]}," \
  " \"new.b\": {\"dtype\": \"u32\", \"shape\": [5]},"      \
  " \"new.c\": {\"dtype\": \"u32\", \"shape\": [8, 300]}}"

// What makes one model of stages.
#define JOIN "{x} = stage{n}.{x:.*}\n"

// Sources: a file, or a folder with an index, files for each rank, one of ours, or arrays, these
// with small files that go along; a packed archive of NumPy's; pipeline stages in two formats.
typedef enum kind { ONE_FILE, INDEXED, RANKS, OURS, ARRAYS, ARCHIVE, STAGES } kind;

static const struct {
  tsr_checkpoint_format format;
  before before;
  kind source;
  bool mapped;
} cases[SCENE_CASES] = {
    {.format = TSR_FORMAT_FILE, NOTHING},
    {.format = TSR_FORMAT_FILE, OLD_FILE},
    {.format = TSR_FORMAT_FILE, OLD_FOLDER},
    {.format = TSR_FORMAT_FOLDER, NOTHING},
    {.format = TSR_FORMAT_FOLDER, OLD_FOLDER},
    {.format = TSR_FORMAT_RANKS, NOTHING},
    {.format = TSR_FORMAT_RANKS, OLD_FOLDER},
    {.format = TSR_FORMAT_TESSERA, NOTHING},
    {.format = TSR_FORMAT_TESSERA, OLD_FILE},
    {.format = TSR_FORMAT_TESSERA, OLD_FOLDER},
    {.format = TSR_FORMAT_FILE, OLD_FILE, INDEXED},
    {.format = TSR_FORMAT_FOLDER, OLD_FOLDER, INDEXED},
    {.format = TSR_FORMAT_RANKS, NOTHING, INDEXED},
    {.format = TSR_FORMAT_RANKS, OLD_FOLDER, RANKS},
    {.format = TSR_FORMAT_FOLDER, NOTHING, RANKS},
    {.format = TSR_FORMAT_TESSERA, OLD_FOLDER, OURS},
    {.format = TSR_FORMAT_FOLDER, NOTHING, ONE_FILE, true},
    {.format = TSR_FORMAT_TESSERA, OLD_FOLDER, RANKS, true},
    {.format = TSR_FORMAT_RANKS, NOTHING, ARCHIVE},
    {.format = TSR_FORMAT_TESSERA, NOTHING, STAGES, true},
    {.format = TSR_FORMAT_NPZ, NOTHING},
    {.format = TSR_FORMAT_NPZ, OLD_FILE, ARRAYS},
    {.format = TSR_FORMAT_NPZ, OLD_FOLDER, RANKS, true},
    {.format = TSR_FORMAT_NPY, NOTHING},
    {.format = TSR_FORMAT_NPY, OLD_FOLDER, INDEXED},
};

static const test_array arrays[] = {
    {.name = "a", "<u4", 4, 4, .shape = {.rank = 2, .dims = {24, 10}}},
    {.name = "b", "<u4", 4, 4, .shape = {.rank = 1, .dims = {5}}},
    {.name = "c", "<u4", 4, 4, .shape = {.rank = 2, .dims = {8, 300}}},
};

static void write_new(const char *path) {
  test_tensor tensors[] = {test_tensor_whole("a", TSR_SHAPE(24, 10)),
                           test_tensor_whole("b", TSR_SHAPE(5)),
                           test_tensor_whole("c", TSR_SHAPE(8, 300))};
  test_write_safetensors(path, tensors, 3);
}

void scene_write_old(const char *path) {
  test_tensor tensors[] = {test_tensor_whole("old", TSR_SHAPE(7, 3))};
  test_write_safetensors(path, tensors, 1);
}

bool scene_is_there(const char *path) {
  struct stat info;
  return !lstat(path, &info);
}

void scene_remove(const char *path) {
  test_folder folder;
  assert_true(strlen(path) < sizeof folder.path);
  snprintf(folder.path, sizeof folder.path, "%.*s", (int)sizeof folder.path - 1, path);
  if (scene_is_there(path)) test_folder_remove(&folder);
}

void scene_restore(const scene *s) {
  char path[128];
  scene_remove(s->out);
  scene_remove(s->partial);
  scene_remove(s->journal);
  snprintf(path, sizeof path, "%s%s", s->out, s->before == OLD_FOLDER ? "/model.safetensors" : "");
  if (s->before == OLD_FOLDER) assert_int_equal(mkdir(s->out, 0777), 0);
  if (s->before != NOTHING) scene_write_old(path);
}

// In memory if that can be: thousands of small files.
static void make_folder(test_folder *folder) {
  strcpy(folder->path, "/dev/shm/tessera-test-XXXXXX");
  if (!mkdtemp(folder->path)) test_folder_make(folder);
}

static void copy(const char *from, const char *to, const tsr_transform_options *options) {
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  assert_ok(tsr_checkpoint_open(from, NULL, &source));
  assert_ok(tsr_transform_create(source, to, options, &job));
  assert_ok(tsr_transform_run(job));
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
}

// What lies beside the tensors: a text longer than one short write.
static void print_extra(const char *name, char *out, size_t size) {
  size_t length = 0;
  for (int i = 0; i < 40; i++)
    length += (size_t)snprintf(out + length, size - length, "%s %d\n", name, i);
}

static const char *const extras[] = {"config.json", "tokenizer.json"};

static void make_archive(scene *s) {
  assert_int_equal(unlink(s->in), 0);
  strcpy(s->in, test_folder_path(&s->folder, "in.npz"));
  test_write_npz(s->in, arrays, COUNT_OF(arrays), true);
}

static void make_stages(scene *s, const tsr_plan *plan) {
  static const char *const first[] = {"^[ab]$"}, *const second[] = {"^c$"};
  tsr_transform_options options = {.size = sizeof options, .include = first, .include_count = 1};
  const char *whole = test_folder_path(&s->folder, "in.safetensors");
  assert_int_equal(mkdir(test_folder_path(&s->folder, "in"), 0777), 0);
  options.plan = plan;
  options.format = TSR_FORMAT_RANKS;
  copy(whole, test_folder_path(&s->folder, "in/stage0"), &options);
  options.plan = NULL;
  options.format = TSR_FORMAT_FOLDER;
  options.include = second;
  copy(whole, test_folder_path(&s->folder, "in/stage1"), &options);
}

static bool is_cut(tsr_checkpoint_format format) {
  return format == TSR_FORMAT_RANKS || format == TSR_FORMAT_TESSERA;
}

bool scene_is_single(tsr_checkpoint_format format) {
  return format == TSR_FORMAT_FILE || format == TSR_FORMAT_NPZ;
}

static void make_source(scene *s, kind made) {
  static const tsr_checkpoint_format formats[STAGES + 1] = {[INDEXED] = TSR_FORMAT_FOLDER,
                                                            [RANKS] = TSR_FORMAT_RANKS,
                                                            [OURS] = TSR_FORMAT_TESSERA,
                                                            [ARRAYS] = TSR_FORMAT_NPY};
  strcpy(s->in, test_folder_path(&s->folder, "in.safetensors"));
  write_new(s->in);
  if (made == ONE_FILE) return;
  if (made == ARCHIVE) {
    make_archive(s);
    return;
  }
  tsr_plan *plan = test_plan(TREE, "x=2", "a -> x, _\nc -> _, x\n");
  const tsr_transform_options options = {.size = sizeof options,
                                         .format = formats[made],
                                         .plan = is_cut(formats[made]) ? plan : NULL,
                                         .max_file_size = 6000};
  if (made == STAGES)
    make_stages(s, plan);
  else
    copy(s->in, test_folder_path(&s->folder, "in"), &options);
  tsr_plan_release(plan);
  assert_int_equal(unlink(s->in), 0);
  strcpy(s->in, test_folder_path(&s->folder, "in"));
  for (size_t i = 0; i < COUNT_OF(extras); i++) {
    char path[128], text[1024];
    print_extra(extras[i], text, sizeof text);
    snprintf(path, sizeof path, "%s/%s", s->in, extras[i]);
    test_write_text(path, text);
  }
}

static tsr_mapping *make_map(const scene *s, const char *text) {
  tsr_map *map = NULL;
  tsr_mapping *mapping = NULL;
  tsr_checkpoint *source = NULL;
  assert_ok(tsr_checkpoint_open(s->in, NULL, &source));
  assert_ok(tsr_map_parse(text, "test", &map));
  assert_ok(tsr_map_apply(map, tsr_checkpoint_tree(source), NULL, &mapping));
  tsr_map_release(map);
  tsr_checkpoint_release(source);
  return mapping;
}

void scene_make(scene *s, size_t index) {
  const bool stages = cases[index].source == STAGES;
  const bool renamed = cases[index].mapped && !stages;
  make_folder(&s->folder);
  strcpy(s->out, test_folder_path(&s->folder, "out"));
  strcpy(s->partial, test_folder_path(&s->folder, "out.partial"));
  strcpy(s->journal, test_folder_path(&s->folder, "out.journal"));
  make_source(s, cases[index].source);
  s->map = cases[index].mapped ? make_map(s, stages ? JOIN : MAP) : NULL;
  s->plan = test_plan(renamed ? MAPPED_TREE : TREE, "x=2,y=2", "a -> x, y\nc -> _, y\n");
  const bool cut = is_cut(cases[index].format);
  s->before = cases[index].before;
  s->options = (tsr_transform_options){.size = sizeof s->options,
                                       .format = cases[index].format,
                                       .plan = cut ? s->plan : NULL,
                                       .map = s->map,
                                       .max_file_size = 1000,
                                       .jobs = 1};
  s->saves = false;
  s->archive = cases[index].source == ARCHIVE;
  s->extras = cases[index].source != ONE_FILE && !s->archive && !scene_is_single(s->options.format);
}

void scene_drop(const scene *s) {
  tsr_plan_release(s->plan);
  tsr_mapping_release(s->map);
  test_folder_remove(&s->folder);
}

tsr_existing scene_first_try(const scene *s) {
  return s->before == NOTHING ? TSR_EXISTING_REFUSE : TSR_EXISTING_REPLACE;
}

static tsr_status save(const scene *s, const tsr_checkpoint *source, tsr_comm *comm) {
  const tsr_transform_options *o = &s->options;
  const tsr_save_options options = {.size = sizeof options,
                                    .format = o->format,
                                    .plan = o->plan,
                                    .max_file_size = o->max_file_size,
                                    .existing = o->existing,
                                    .no_sync = o->no_sync,
                                    .progress = o->progress,
                                    .progress_context = o->progress_context,
                                    .progress_interval = o->progress_interval};
  tsr_array_tree *tree = NULL;
  TSR_TRY(tsr_checkpoint_load(source, s->plan, comm, NULL, &tree));
  tsr_status status = tsr_checkpoint_save(tree, s->out, comm, &options);
  tsr_array_tree_release(tree);
  return status;
}

static tsr_status load_and_save(const scene *s) {
  const tsr_comm_options options = {.size = sizeof options, .workers = 1};
  tsr_checkpoint *source = NULL;
  tsr_comm *comm = NULL;
  tsr_status status = tsr_comm_create(4, &options, &comm);
  if (!status) status = tsr_checkpoint_open(s->in, NULL, &source);
  if (!status) status = save(s, source, comm);
  tsr_checkpoint_release(source);
  tsr_comm_release(comm);
  return status;
}

tsr_status scene_transform(scene *s, tsr_existing existing) {
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  s->options.existing = existing;
  if (s->saves) return load_and_save(s);
  TSR_TRY(tsr_checkpoint_open(s->in, NULL, &source));
  tsr_status status = tsr_transform_create(source, s->out, &s->options, &job);
  if (!status) status = tsr_transform_run(job);
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
  return status;
}

static bool stop(void *context, const tsr_progress_report *report) {
  return report->finished || report->done < *(const int64_t *)context;
}

void scene_leave_unfinished(scene *s) {
  s->stop_after = 970;
  s->options.progress = stop;
  s->options.progress_context = &s->stop_after;
  s->options.progress_interval = 1e-9;
  assert_fails_with(scene_transform(s, scene_first_try(s)), CANCELLED, "cancelled");
  s->options.progress = NULL;
}

// ---- what is there ----

static uint32_t word_of_archive(const char *name, int64_t element) {
  uint32_t word = 0;
  for (int byte = 0; byte < 4; byte++)
    word |= (uint32_t)test_array_byte(&arrays[name[0] - 'a'], element, byte) << 8 * byte;
  return word;
}

static void check_tensor(const scene *s, const tsr_checkpoint *checkpoint, int64_t index) {
  const tsr_tensor *t = tsr_tree_at(tsr_checkpoint_tree(checkpoint), index);
  static uint32_t words[4096];
  const bool mapped = !strncmp(t->path, "new.", 4), halves = !strcmp(t->path, "new.a");
  const char *name = mapped ? t->path + 4 : t->path;
  const int64_t count = tsr_tensor_elements(t);
  assert_ok(tsr_checkpoint_read(checkpoint, index, NULL, words, sizeof words));
  for (int64_t e = 0; e < count; e++) {
    const int64_t from = halves ? (e + count / 2) % count : e;
    const bool archived = s->archive && strcmp(name, "old") != 0;
    assert_int_equal(words[e], archived ? word_of_archive(name, from) : test_word(name, from));
  }
}

static void check_extras(const scene *s) {
  for (size_t i = 0; i < COUNT_OF(extras); i++) {
    char path[128], wanted[1024], text[1024] = "";
    print_extra(extras[i], wanted, sizeof wanted);
    snprintf(path, sizeof path, "%s/%s", s->out, extras[i]);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(text, wanted);
  }
}

// The checksums of an archive, which reading by places does not ask for.
static void check_archive(const char *path) {
  tsr_npz *npz = NULL;
  assert_ok(tsr_npz_open(path, &npz));
  for (int64_t i = 0; i < tsr_npz_count(npz); i++) assert_ok(tsr_npz_check(npz, i));
  tsr_npz_destroy(npz);
}

found scene_look(const scene *s) {
  tsr_checkpoint *checkpoint = NULL;
  if (!scene_is_there(s->out)) return FOUND_NOTHING;
  assert_ok(tsr_checkpoint_open(s->out, NULL, &checkpoint));
  const int64_t count = tsr_tree_count(tsr_checkpoint_tree(checkpoint));
  for (int64_t i = 0; i < count; i++) check_tensor(s, checkpoint, i);
  const bool old = tsr_tree_find(tsr_checkpoint_tree(checkpoint), "old") >= 0;
  assert_int_equal(count, old ? 1 : 3);
  if (!old) assert_int_equal(tsr_checkpoint_format_of(checkpoint), s->options.format);
  if (!old && s->extras) check_extras(s);
  if (!old && s->options.format == TSR_FORMAT_NPZ) check_archive(s->out);
  tsr_checkpoint_release(checkpoint);
  return old ? FOUND_OLD : FOUND_NEW;
}

void scene_check_intact(const scene *s) {
  const found now = scene_look(s);
  if (now != FOUND_NEW) assert_int_equal(now, s->before == NOTHING ? FOUND_NOTHING : FOUND_OLD);
}

// Names in the destination: nothing may be left in it that is not of it.
int scene_count_entries(const char *path) {
  int count = 0;
  DIR *listing = opendir(path);
  while (listing && readdir(listing)) count++;
  if (listing) closedir(listing);
  return count;
}

void scene_finish(scene *s, int entries) {
  tsr_status status = scene_transform(s, TSR_EXISTING_RESUME);
  if (status && scene_look(s) != FOUND_NEW) {
    assert_int_equal(tsr_status_cause(status), TSR_CAUSE_ALREADY_THERE);
    tsr_status_free(status);
    status = scene_transform(s, scene_first_try(s));
  } else if (status) {
    assert_int_equal(tsr_status_cause(status), TSR_CAUSE_ALREADY_THERE);
    tsr_status_free(status);
    status = NULL;
  }
  assert_ok(status);
  assert_int_equal(scene_look(s), FOUND_NEW);
  assert_false(scene_is_there(s->partial));
  assert_false(scene_is_there(s->journal));
  assert_int_equal(scene_count_entries(s->out), entries);
}

int scene_entries(scene *s) {
  scene_restore(s);
  assert_ok(scene_transform(s, scene_first_try(s)));
  return scene_count_entries(s->out);
}

bool scene_is_killed(scene *s, tsr_existing existing, inject_kind fault, long at) {
  int code = 0;
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    inject_begin(fault, at, 0);
    _exit(scene_transform(s, existing) ? 1 : 0);
  }
  assert_int_equal(waitpid(child, &code, 0), child);
  assert_true(WIFEXITED(code));
  if (WEXITSTATUS(code) != INJECT_KILLED) assert_int_equal(WEXITSTATUS(code), 0);
  return WEXITSTATUS(code) == INJECT_KILLED;
}
