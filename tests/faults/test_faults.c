// A transform leaves what was there before, or its whole result, whichever call of the system is
// its last or fails; and what it leaves can be resumed.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checkpoint/models.h"
#include "faults/inject.h"
#include "tessera/transform.h"

#define TREE                                           \
  "{\"a\": {\"dtype\": \"u32\", \"shape\": [24, 10]}," \
  " \"b\": {\"dtype\": \"u32\", \"shape\": [5]},"      \
  " \"c\": {\"dtype\": \"u32\", \"shape\": [8, 300]}}"

typedef enum before { NOTHING, OLD_FILE, OLD_FOLDER } before;

static const struct {
  tsr_checkpoint_format format;
  before before;
} cases[] = {
    {TSR_FORMAT_FILE, NOTHING},      {TSR_FORMAT_FILE, OLD_FILE},
    {TSR_FORMAT_FILE, OLD_FOLDER},   {TSR_FORMAT_FOLDER, NOTHING},
    {TSR_FORMAT_FOLDER, OLD_FOLDER}, {TSR_FORMAT_RANKS, NOTHING},
    {TSR_FORMAT_RANKS, OLD_FOLDER},  {TSR_FORMAT_TESSERA, NOTHING},
    {TSR_FORMAT_TESSERA, OLD_FILE},  {TSR_FORMAT_TESSERA, OLD_FOLDER},
};

typedef struct scene {
  test_folder folder;
  char in[96], out[96], partial[96], journal[96];
  tsr_plan *plan;
  tsr_transform_options options;
  before before;
  int64_t stop_after;  // bytes after which a job is cancelled
} scene;

static void write_new(const char *path) {
  test_tensor tensors[] = {test_tensor_whole("a", TSR_SHAPE(24, 10)),
                           test_tensor_whole("b", TSR_SHAPE(5)),
                           test_tensor_whole("c", TSR_SHAPE(8, 300))};
  test_write_safetensors(path, tensors, 3);
}

static void write_old(const char *path) {
  test_tensor tensors[] = {test_tensor_whole("old", TSR_SHAPE(7, 3))};
  test_write_safetensors(path, tensors, 1);
}

static bool is_there(const char *path) {
  struct stat info;
  return !lstat(path, &info);
}

static void remove_all(const char *path) {
  test_folder folder;
  assert_true(strlen(path) < sizeof folder.path);
  snprintf(folder.path, sizeof folder.path, "%.*s", (int)sizeof folder.path - 1, path);
  if (is_there(path)) test_folder_remove(&folder);
}

// The destination as it was before any job.
static void restore(const scene *s) {
  char path[128];
  remove_all(s->out);
  remove_all(s->partial);
  remove_all(s->journal);
  snprintf(path, sizeof path, "%s%s", s->out, s->before == OLD_FOLDER ? "/model.safetensors" : "");
  if (s->before == OLD_FOLDER) assert_int_equal(mkdir(s->out, 0777), 0);
  if (s->before != NOTHING) write_old(path);
}

// In memory if that can be: thousands of small files.
static void make_folder(test_folder *folder) {
  strcpy(folder->path, "/dev/shm/tessera-test-XXXXXX");
  if (!mkdtemp(folder->path)) test_folder_make(folder);
}

static void make_scene(scene *s, size_t index) {
  make_folder(&s->folder);
  strcpy(s->in, test_folder_path(&s->folder, "in.safetensors"));
  strcpy(s->out, test_folder_path(&s->folder, "out"));
  strcpy(s->partial, test_folder_path(&s->folder, "out.partial"));
  strcpy(s->journal, test_folder_path(&s->folder, "out.journal"));
  write_new(s->in);
  s->plan = test_plan(TREE, "x=2,y=2", "a -> x, y\nc -> _, y\n");
  const bool cut = cases[index].format > TSR_FORMAT_FOLDER;
  s->before = cases[index].before;
  s->options = (tsr_transform_options){.size = sizeof s->options,
                                       .format = cases[index].format,
                                       .plan = cut ? s->plan : NULL,
                                       .max_file_size = 1000,
                                       .jobs = 1};
}

static void drop_scene(const scene *s) {
  tsr_plan_release(s->plan);
  test_folder_remove(&s->folder);
}

static tsr_existing first_try(const scene *s) {
  return s->before == NOTHING ? TSR_EXISTING_REFUSE : TSR_EXISTING_REPLACE;
}

static tsr_status transform(scene *s, tsr_existing existing) {
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  s->options.existing = existing;
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

// A job that was stopped after its first windows.
static void leave_unfinished(scene *s) {
  s->stop_after = 970;
  s->options.progress = stop;
  s->options.progress_context = &s->stop_after;
  s->options.progress_interval = 1e-9;
  assert_fails_with(transform(s, first_try(s)), CANCELLED, "cancelled");
  s->options.progress = NULL;
}

// ---- what is there ----

typedef enum found { FOUND_NOTHING, FOUND_OLD, FOUND_NEW } found;

static void check_tensor(const tsr_checkpoint *checkpoint, int64_t index) {
  const tsr_tensor *t = tsr_tree_tensor(tsr_checkpoint_tree(checkpoint), index);
  static uint32_t words[4096];
  assert_ok(tsr_checkpoint_read(checkpoint, index, NULL, words));
  for (int64_t e = 0; e < tsr_tensor_elements(t); e++)
    assert_int_equal(words[e], test_word(t->path, e));
}

// Fails unless it is wholly one of them.
static found look(const scene *s) {
  tsr_checkpoint *checkpoint = NULL;
  if (!is_there(s->out)) return FOUND_NOTHING;
  assert_ok(tsr_checkpoint_open(s->out, NULL, &checkpoint));
  const int64_t count = tsr_tree_count(tsr_checkpoint_tree(checkpoint));
  for (int64_t i = 0; i < count; i++) check_tensor(checkpoint, i);
  const bool old = tsr_tree_find(tsr_checkpoint_tree(checkpoint), "old") >= 0;
  assert_int_equal(count, old ? 1 : 3);
  if (!old) assert_int_equal(tsr_checkpoint_format_of(checkpoint), s->options.format);
  tsr_checkpoint_release(checkpoint);
  return old ? FOUND_OLD : FOUND_NEW;
}

static void check_intact(const scene *s) {
  const found now = look(s);
  if (now != FOUND_NEW) assert_int_equal(now, s->before == NOTHING ? FOUND_NOTHING : FOUND_OLD);
}

// Names in the destination: nothing may be left in it that is not of it.
static int count_entries(const char *path) {
  int count = 0;
  DIR *listing = opendir(path);
  while (listing && readdir(listing)) count++;
  if (listing) closedir(listing);
  return count;
}

// Resumes, or where nothing was begun starts again; then the result is there and nothing beside.
static void finish(scene *s, int entries) {
  tsr_status status = transform(s, TSR_EXISTING_RESUME);
  if (status && look(s) != FOUND_NEW) {
    assert_int_equal(tsr_status_cause(status), TSR_CAUSE_ALREADY_THERE);
    tsr_status_free(status);
    status = transform(s, first_try(s));
  } else if (status) {
    assert_int_equal(tsr_status_cause(status), TSR_CAUSE_ALREADY_THERE);
    tsr_status_free(status);
    status = NULL;
  }
  assert_ok(status);
  assert_int_equal(look(s), FOUND_NEW);
  assert_false(is_there(s->partial));
  assert_false(is_there(s->journal));
  assert_int_equal(count_entries(s->out), entries);
}

static int entries_of_result(scene *s) {
  restore(s);
  assert_ok(transform(s, first_try(s)));
  return count_entries(s->out);
}

// ---- killed ----

// Whether a job that is killed at its call `at` gets so far.
static bool is_killed(scene *s, tsr_existing existing, inject_kind kind, long at) {
  int code = 0;
  fflush(NULL);
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    inject_begin(kind, at, 0);
    _exit(transform(s, existing) ? 1 : 0);
  }
  assert_int_equal(waitpid(child, &code, 0), child);
  assert_true(WIFEXITED(code));
  if (WEXITSTATUS(code) != INJECT_KILLED) assert_int_equal(WEXITSTATUS(code), 0);
  return WEXITSTATUS(code) == INJECT_KILLED;
}

// A job is killed at each of its calls in turn; so is one that goes on with an unfinished one.
static void kill_everywhere(size_t index, bool resumed, inject_kind kind) {
  scene s;
  bool killed = true;
  long at = 1;
  make_scene(&s, index);
  const int entries = entries_of_result(&s);
  for (; killed; at++) {
    restore(&s);
    if (resumed) leave_unfinished(&s);
    killed = is_killed(&s, resumed ? TSR_EXISTING_RESUME : first_try(&s), kind, at);
    if (!killed) assert_int_equal(look(&s), FOUND_NEW);
    check_intact(&s);
    if (killed) finish(&s, entries);
  }
  assert_true(at > 20);
  drop_scene(&s);
}

static void a_job_that_is_killed_leaves_old_or_new(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) kill_everywhere(i, false, INJECT_KILL_HALFWAY);
}

static void a_resumed_job_that_is_killed_leaves_old_or_new(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) kill_everywhere(i, true, INJECT_KILL_BEFORE);
}

// Killed again and again, each time a little later, a job gets done in the end.
static void a_job_that_is_killed_over_and_over_gets_done(void **state) {
  (void)state;
  scene s;
  make_scene(&s, 9);
  restore(&s);
  tsr_existing existing = first_try(&s);
  for (long at = 1; is_killed(&s, existing, INJECT_KILL_BEFORE, at); at += 2) {
    struct stat journal;
    check_intact(&s);
    const bool begun = !stat(s.journal, &journal) && journal.st_size > 0;
    existing = begun ? TSR_EXISTING_RESUME : first_try(&s);
  }
  assert_int_equal(look(&s), FOUND_NEW);
  assert_false(is_there(s.partial));
  drop_scene(&s);
}

// ---- failing ----

static int count_descriptors(void) { return count_entries("/proc/self/fd"); }

static void check_message(const scene *s, tsr_status status, const char *call, int error) {
  const char *text = tsr_status_text(status);
  const tsr_cause cause = tsr_status_cause(status);
  if (!strstr(text, s->folder.path)) fail_msg("%s: no file is named: %s", call, text);
  const bool full = error == ENOSPC;
  if (!strstr(text, strerror(error)) && !(full && cause == TSR_CAUSE_DISK_FULL))
    fail_msg("%s: no reason is given: %s", call, text);
}

static void fail_everywhere(size_t index, int error, bool sync) {
  scene s;
  bool reached = true;
  make_scene(&s, index);
  s.options.no_sync = !sync;
  const int entries = entries_of_result(&s), descriptors = count_descriptors();
  for (long at = 1; reached; at++) {
    const char *call = NULL;
    restore(&s);
    inject_begin(INJECT_ERROR, at, error);
    tsr_status status = transform(&s, first_try(&s));
    reached = inject_end(&call);
    assert_true(reached || !status);
    if (status) check_message(&s, status, call, error);
    if (!status) assert_int_equal(look(&s), FOUND_NEW);
    tsr_status_free(status);
    check_intact(&s);
    assert_int_equal(count_descriptors(), descriptors);
    if (is_there(s.partial)) assert_true(is_there(s.journal));
    finish(&s, entries);
  }
  drop_scene(&s);
}

static void a_job_on_a_bad_disk_says_so_and_leaves_old_or_new(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) fail_everywhere(i, EIO, i % 2 == 0);
}

static void a_job_on_a_full_disk_says_so_and_leaves_old_or_new(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) fail_everywhere(i, ENOSPC, i % 2 == 1);
}

static void short_and_interrupted_calls_change_nothing(void **state) {
  (void)state;
  static const inject_kind kinds[] = {INJECT_SHORT, INJECT_INTERRUPT};
  for (size_t i = 0; i < COUNT_OF(cases) * COUNT_OF(kinds); i++) {
    scene s;
    make_scene(&s, i / COUNT_OF(kinds));
    const int entries = entries_of_result(&s);
    restore(&s);
    leave_unfinished(&s);
    inject_begin(kinds[i % COUNT_OF(kinds)], 0, 0);
    tsr_status status = transform(&s, TSR_EXISTING_RESUME);
    inject_end(NULL);
    assert_ok(status);
    assert_int_equal(look(&s), FOUND_NEW);
    assert_int_equal(count_entries(s.out), entries);
    drop_scene(&s);
  }
}

static void without_exchange_nothing_is_replaced_in_two_steps(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    scene s;
    make_scene(&s, i);
    restore(&s);
    const bool plain =
        s.before == NOTHING || (s.before == OLD_FILE && s.options.format == TSR_FORMAT_FILE);
    inject_begin(INJECT_NO_EXCHANGE, 0, 0);
    tsr_status status = transform(&s, first_try(&s));
    inject_end(NULL);
    if (plain)
      assert_ok(status);
    else
      assert_fails_with(status, UNSUPPORTED, "out: this file system cannot put another");
    assert_int_equal(look(&s), plain ? FOUND_NEW : FOUND_OLD);
    assert_false(is_there(s.partial));
    assert_false(is_there(s.journal));
    drop_scene(&s);
  }
}

// ---- the journal ----

static size_t read_journal(const scene *s, char *bytes, size_t size) {
  FILE *file = fopen(s->journal, "rb");
  assert_non_null(file);
  const size_t length = fread(bytes, 1, size, file);
  fclose(file);
  return length;
}

static void write_journal(const scene *s, const char *bytes, size_t length) {
  FILE *file = fopen(s->journal, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static void a_journal_may_be_torn_anywhere(void **state) {
  (void)state;
  static const size_t formats[] = {3, 9};  // without hashes, and with
  for (size_t i = 0; i < COUNT_OF(formats); i++) {
    scene s;
    char bytes[4096];
    size_t length = 1;
    make_scene(&s, formats[i]);
    const int entries = entries_of_result(&s);
    for (size_t end = 0; end <= length; end++) {
      restore(&s);
      leave_unfinished(&s);
      length = read_journal(&s, bytes, sizeof bytes);
      write_journal(&s, bytes, end);
      finish(&s, entries);
    }
    assert_true(length > 100);
    drop_scene(&s);
  }
}

static void a_journal_may_be_wrong_anywhere(void **state) {
  (void)state;
  scene s;
  char bytes[4096];
  size_t length = 1, refused = 0;
  make_scene(&s, 9);
  const int entries = entries_of_result(&s);
  for (size_t at = 0; at < length; at++) {
    restore(&s);
    leave_unfinished(&s);
    length = read_journal(&s, bytes, sizeof bytes);
    bytes[at] ^= 1;
    write_journal(&s, bytes, length);
    tsr_status status = transform(&s, TSR_EXISTING_RESUME);
    if (status) {
      const tsr_cause cause = tsr_status_cause(status);
      assert_true(cause == TSR_CAUSE_JOURNAL_MISMATCH || cause == TSR_CAUSE_ALREADY_THERE);
      assert_int_equal(look(&s), FOUND_OLD);
      refused++;
      tsr_status_free(status);
    } else {
      assert_int_equal(look(&s), FOUND_NEW);
      assert_int_equal(count_entries(s.out), entries);
    }
  }
  assert_in_range(refused, 20, 80);  // those in the first line
  drop_scene(&s);
}

static void a_file_that_is_gone_is_written_anew(void **state) {
  (void)state;
  scene s;
  char path[512];
  make_scene(&s, 9);
  const int entries = entries_of_result(&s);
  restore(&s);
  leave_unfinished(&s);
  DIR *listing = opendir(s.partial);
  const struct dirent *entry = readdir(listing);
  while (entry && entry->d_name[0] != 'd') entry = readdir(listing);
  assert_non_null(entry);
  snprintf(path, sizeof path, "%s/%s", s.partial, entry->d_name);
  closedir(listing);
  assert_int_equal(unlink(path), 0);
  finish(&s, entries);
  drop_scene(&s);
}

// ---- others at work ----

static bool start_another(void *context, const tsr_progress_report *report) {
  scene *s = context;
  (void)report;
  s->options.progress = NULL;
  assert_fails_with(transform(s, TSR_EXISTING_REPLACE), ALREADY_THERE,
                    "out.journal: another job is at work on it");
  assert_fails_with(transform(s, TSR_EXISTING_RESUME), ALREADY_THERE, "");
  return true;
}

static void two_jobs_cannot_write_one_destination(void **state) {
  (void)state;
  scene s;
  make_scene(&s, 4);
  restore(&s);
  s.options.progress = start_another;
  s.options.progress_context = &s;
  s.options.progress_interval = 1e-9;
  assert_ok(transform(&s, TSR_EXISTING_REPLACE));
  assert_int_equal(look(&s), FOUND_NEW);
  drop_scene(&s);
}

static bool change_source(void *context, const tsr_progress_report *report) {
  const scene *s = context;
  const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
  if (!report->finished) assert_int_equal(utimensat(AT_FDCWD, s->in, times, 0), 0);
  return true;
}

static bool remove_source(void *context, const tsr_progress_report *report) {
  const scene *s = context;
  if (!report->finished) unlink(s->in);
  return true;
}

static bool shorten_source(void *context, const tsr_progress_report *report) {
  const scene *s = context;
  if (report->finished) assert_int_equal(truncate(s->in, 400), 0);
  return true;
}

static const struct {
  tsr_progress_fn *change;
  const char *message;
} changes[] = {{change_source, "in.safetensors: it was written to while it was read"},
               {remove_source, "in.safetensors: it is no longer there"},
               {shorten_source, "in.safetensors: it has 400 bytes now and had"}};

static void a_source_that_changes_is_not_committed(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(changes); i++) {
    scene s;
    make_scene(&s, 9);
    restore(&s);
    s.options.progress = changes[i].change;
    s.options.progress_context = &s;
    s.options.progress_interval = 1e-9;
    assert_fails_with(transform(&s, TSR_EXISTING_REPLACE), SOURCE_CHANGED, changes[i].message);
    assert_int_equal(look(&s), FOUND_OLD);
    assert_false(is_there(s.partial));
    assert_false(is_there(s.journal));
    drop_scene(&s);
  }
}

static bool make_destination(void *context, const tsr_progress_report *report) {
  const scene *s = context;
  if (report->finished) write_old(s->out);
  return true;
}

static void what_comes_to_be_there_meanwhile_stays(void **state) {
  (void)state;
  static const size_t formats[] = {0, 3, 7};
  for (size_t i = 0; i < COUNT_OF(formats); i++) {
    scene s;
    make_scene(&s, formats[i]);
    restore(&s);
    s.options.progress = make_destination;
    s.options.progress_context = &s;
    assert_fails_with(transform(&s, TSR_EXISTING_REFUSE), IO, "out: cannot put it in its place");
    assert_int_equal(look(&s), FOUND_OLD);
    s.options.progress = NULL;
    remove_all(s.out);
    assert_ok(transform(&s, TSR_EXISTING_RESUME));
    assert_int_equal(look(&s), FOUND_NEW);
    drop_scene(&s);
  }
}

SUITE(faults, TEST(a_job_that_is_killed_leaves_old_or_new),
      TEST(a_resumed_job_that_is_killed_leaves_old_or_new),
      TEST(a_job_that_is_killed_over_and_over_gets_done),
      TEST(a_job_on_a_bad_disk_says_so_and_leaves_old_or_new),
      TEST(a_job_on_a_full_disk_says_so_and_leaves_old_or_new),
      TEST(short_and_interrupted_calls_change_nothing),
      TEST(without_exchange_nothing_is_replaced_in_two_steps), TEST(a_journal_may_be_torn_anywhere),
      TEST(a_journal_may_be_wrong_anywhere), TEST(a_file_that_is_gone_is_written_anew),
      TEST(two_jobs_cannot_write_one_destination), TEST(a_source_that_changes_is_not_committed),
      TEST(what_comes_to_be_there_meanwhile_stays))
