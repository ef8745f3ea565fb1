// What may be replaced: a checkpoint, and nothing that is none. And what nothing can replace.
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checkpoint/models.h"
#include "job/replaceable.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/transform.h"

typedef struct fixture {
  test_folder folder;
  char in[96], out[96];
} fixture;

static void make_fixture(fixture *f) {
  test_tensor w = test_tensor_whole("w", TSR_SHAPE(4, 5));
  test_folder_make(&f->folder);
  strcpy(f->in, test_folder_path(&f->folder, "in"));
  strcpy(f->out, test_folder_path(&f->folder, "out"));
  assert_int_equal(mkdir(f->in, 0777), 0);
  test_write_safetensors(test_folder_path(&f->folder, "in/model.safetensors"), &w, 1);
}

// Files in `out`, apart by blanks; one that ends in a slash is a folder.
static void fill(const fixture *f, const char *names) {
  char list[256], path[192];
  snprintf(list, sizeof list, "%s", names);
  assert_int_equal(mkdir(f->out, 0777), 0);
  for (char *rest = list, *name = strtok_r(list, " ", &rest); name;
       name = strtok_r(NULL, " ", &rest)) {
    snprintf(path, sizeof path, "%s/%s", f->out, name);
    if (path[strlen(path) - 1] == '/')
      assert_int_equal(mkdir(path, 0777), 0);
    else
      test_write_text(path, "x");
  }
}

static void empty(const fixture *f) {
  test_folder out;
  snprintf(out.path, sizeof out.path, "%.*s", (int)sizeof out.path - 1, f->out);
  test_folder_remove(&out);
}

static tsr_status run(const fixture *f, tsr_existing existing) {
  const tsr_transform_options options = {
      .size = sizeof options, .existing = existing, .no_sync = true, .jobs = 1};
  return test_transform(f->in, f->out, &options);
}

static tsr_status replace(const fixture *f) { return run(f, TSR_EXISTING_REPLACE); }

static bool is_there(const fixture *f, const char *name) {
  return !access(test_folder_path(&f->folder, name), F_OK);
}

static const struct {
  const char *names, *failure;  // "" = it is replaced
} cases[] = {
    {"", ""},
    {"model.safetensors", ""},
    {"model-00001-of-00002.safetensors model.safetensors.index.json config.json tokenizer.json "
     "README.md LICENSE modeling_x.py merges.txt .gitattributes",
     ""},
    {"manifest.json x.safetensors", ""},
    {"tessera-npy.json w.npy", ""},
    {"letter.odt", "would delete \"letter.odt\", and it holds no checkpoint"},
    {"config.json README.md", "not replaced, since it holds no checkpoint"},
    {"model.safetensors thesis.tex",
     "would delete \"thesis.tex\", which does not belong to a checkpoint"},
    {"model.safetensors runs/", "would delete \"runs\""},
    {"model.safetensors x.npy/", "would delete \"x.npy\""},
    {"model.safetensors .git/", "would delete \".git\""},
    {"model.safetensors optimizer.pt", "would delete \"optimizer.pt\""},
    {"d.jpg a.jpg e.jpg b.jpg c.jpg",
     "would delete \"a.jpg\", \"b.jpg\", \"c.jpg\" and 2 more, and it holds no checkpoint"},
};

static void a_folder_is_replaced_if_all_of_it_is_a_checkpoint(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f);
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    fill(&f, cases[i].names);
    if (*cases[i].failure)
      assert_fails_with(replace(&f), ALREADY_THERE, cases[i].failure);
    else
      assert_ok(replace(&f));
    assert_int_equal(is_there(&f, "out/model.safetensors"),
                     !*cases[i].failure || strstr(cases[i].names, "model.safetensors") != NULL);
    assert_false(is_there(&f, "out.partial"));
    assert_false(is_there(&f, "out.journal"));
    empty(&f);
  }
  test_folder_remove(&f.folder);
}

// Otherwise a job could not be done twice.
static void small_files_of_the_same_source_may_be_replaced(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f);
  test_write_text(test_folder_path(&f.folder, "in/figures.odd"), "x");
  assert_ok(replace(&f));
  assert_true(is_there(&f, "out/figures.odd"));
  assert_ok(replace(&f));
  test_write_text(test_folder_path(&f.folder, "out/mine.odd"), "x");
  assert_fails_with(replace(&f), ALREADY_THERE, "would delete \"mine.odd\"");
  test_folder_remove(&f.folder);
}

static void a_file_is_replaced_if_it_is_a_checkpoint(void **state) {
  (void)state;
  fixture f;
  test_tensor old = test_tensor_whole("old", TSR_SHAPE(3));
  make_fixture(&f);
  test_write_text(f.out, "my only copy");
  assert_fails_with(replace(&f), ALREADY_THERE, "it is not a checkpoint");
  test_write_text(f.out, "");
  assert_ok(replace(&f));
  empty(&f);
  test_write_safetensors(f.out, &old, 1);
  assert_ok(replace(&f));
  empty(&f);
  // A link is not what it names.
  test_write_text(test_folder_path(&f.folder, "kept"), "mine");
  assert_int_equal(symlink("kept", f.out), 0);
  assert_ok(replace(&f));
  assert_true(is_there(&f, "kept"));
  test_folder_remove(&f.folder);
}

// A name that ends as ours do is no proof that it is ours.
static void what_lies_where_a_job_would_work_is_not_deleted(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f);
  assert_int_equal(mkdir(test_folder_path(&f.folder, "out.partial"), 0777), 0);
  test_write_text(test_folder_path(&f.folder, "out.partial/mine"), "x");
  assert_fails_with(replace(&f), ALREADY_THERE, "would delete \"mine\"");
  assert_fails_with(run(&f, TSR_EXISTING_RESUME), ALREADY_THERE, "would delete \"mine\"");
  test_write_text(test_folder_path(&f.folder, "out.journal"), "Dear diary,\n");
  assert_fails_with(replace(&f), ALREADY_THERE, "not a journal of an unfinished job");
  assert_true(is_there(&f, "out.partial/mine"));
  test_write_text(test_folder_path(&f.folder, "out.journal"), "tessera-journal 1 x\n");
  assert_ok(replace(&f));
  test_folder_remove(&f.folder);
}

// Files that come while a job runs are looked at again before it replaces anything.
static bool disturb(void *context, const tsr_progress_report *report) {
  (void)report;
  test_write_text(context, "x");
  return true;
}

static void what_comes_meanwhile_is_not_deleted(void **state) {
  (void)state;
  fixture f;
  char late[128];
  make_fixture(&f);
  assert_ok(replace(&f));
  snprintf(late, sizeof late, "%s/late.tex", f.out);
  const tsr_transform_options options = {.size = sizeof options,
                                         .existing = TSR_EXISTING_REPLACE,
                                         .no_sync = true,
                                         .progress = disturb,
                                         .progress_context = late,
                                         .progress_interval = 1e-9};
  assert_fails_with(test_transform(f.in, f.out, &options), ALREADY_THERE, "\"late.tex\"");
  assert_true(is_there(&f, "out/late.tex"));
  test_folder_remove(&f.folder);
}

// ---- mount points ----

enum { MOUNTED_OK = 0, NOT_ALLOWED = 77, FAILED = 1 };

// In a process of its own, whose mounts nobody else sees.
static int try_mounted(const fixture *f, bool bind) {
  if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
    return NOT_ALLOWED;
  if (bind ? mount(f->out, f->out, NULL, MS_BIND, NULL) : mount("none", f->out, "tmpfs", 0, NULL))
    return NOT_ALLOWED;
  for (int existing = TSR_EXISTING_REFUSE; existing <= TSR_EXISTING_RESUME; existing++) {
    const tsr_transform_options options = {
        .size = sizeof options, .existing = (tsr_existing)existing, .no_sync = true};
    tsr_status status = test_transform(f->in, f->out, &options);
    const bool right = status && strstr(tsr_status_text(status), "it is a mount point") &&
                       tsr_status_cause(status) == TSR_CAUSE_UNSUPPORTED;
    tsr_status_free(status);
    if (!right || is_there(f, "out.partial") || is_there(f, "out.journal")) return FAILED;
  }
  char inside[128];
  snprintf(inside, sizeof inside, "%s/model", f->out);
  const tsr_transform_options options = {.size = sizeof options, .no_sync = true};
  tsr_status status = test_transform(f->in, inside, &options);
  const int result = status ? FAILED : MOUNTED_OK;
  tsr_status_free(status);
  return result;
}

static void a_mount_point_is_refused_at_once(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f);
  assert_int_equal(mkdir(f.out, 0777), 0);
  for (int bind = 0; bind < 2; bind++) {
    int result = 0;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) _exit(try_mounted(&f, bind));
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    if (WEXITSTATUS(result) == NOT_ALLOWED) {
      test_folder_remove(&f.folder);
      print_message("skipped: this process may not mount anything\n");
      skip();
    }
    assert_int_equal(WEXITSTATUS(result), MOUNTED_OK);
  }
  test_folder_remove(&f.folder);
}

// ---- memory ----

static tsr_status check_all(void *context) {
  const fixture *f = context;
  TSR_TRY(tsr_replaceable_check_left(f->out, f->in));
  tsr_status status = tsr_replaceable_check(f->out, NULL);
  const bool known = tsr_status_cause(status) == TSR_CAUSE_ALREADY_THERE;
  if (!known) return status;
  tsr_status_free(status);
  return NULL;
}

static void checks_survive_failing_allocations(void **state) {
  (void)state;
  fixture f;
  make_fixture(&f);
  fill(&f, "a.jpg b.jpg c.jpg d.jpg");
  strcpy(f.in, test_folder_path(&f.folder, "j"));
  test_write_text(f.in, "tessera-journal 1 x\n");
  test_allocation_sweep(check_all, &f);
  test_folder_remove(&f.folder);
}

SUITE(replace, TEST(a_folder_is_replaced_if_all_of_it_is_a_checkpoint),
      TEST(small_files_of_the_same_source_may_be_replaced),
      TEST(a_file_is_replaced_if_it_is_a_checkpoint),
      TEST(what_lies_where_a_job_would_work_is_not_deleted),
      TEST(what_comes_meanwhile_is_not_deleted), TEST(a_mount_point_is_refused_at_once),
      TEST(checks_survive_failing_allocations))
