// A transform leaves what was there before, or its whole result, whichever call of the system is
// its last or fails; and what it leaves can be resumed.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "faults/scene.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/checkpoint/verify.h"

// ---- killed ----

// A job is killed at each of its calls in turn; so is one that goes on with an unfinished one.
static void kill_everywhere(size_t index, bool resumed, inject_kind fault) {
  scene s;
  bool killed = true;
  long at = 1;
  scene_make(&s, index);
  const int entries = scene_entries(&s);
  for (; killed; at++) {
    scene_restore(&s);
    if (resumed) scene_leave_unfinished(&s);
    killed = scene_is_killed(&s, resumed ? TSR_EXISTING_RESUME : scene_first_try(&s), fault, at);
    if (!killed) assert_int_equal(scene_look(&s), FOUND_NEW);
    scene_check_intact(&s);
    if (killed) scene_finish(&s, entries);
  }
  assert_true(at > 20);
  scene_drop(&s);
}

static void a_job_that_is_killed_leaves_old_or_new(void **state) {
  (void)state;
  for (size_t i = 0; i < SCENE_CASES; i++) kill_everywhere(i, false, INJECT_KILL_HALFWAY);
}

static void a_resumed_job_that_is_killed_leaves_old_or_new(void **state) {
  (void)state;
  for (size_t i = 0; i < SCENE_CASES; i++) kill_everywhere(i, true, INJECT_KILL_BEFORE);
}

// Killed again and again, each time a little later, a job gets done in the end.
static void a_job_that_is_killed_over_and_over_gets_done(void **state) {
  (void)state;
  scene s;
  scene_make(&s, 9);
  scene_restore(&s);
  tsr_existing existing = scene_first_try(&s);
  for (long at = 1; scene_is_killed(&s, existing, INJECT_KILL_BEFORE, at); at += 2) {
    struct stat journal;
    scene_check_intact(&s);
    const bool begun = !stat(s.journal, &journal) && journal.st_size > 0;
    existing = begun ? TSR_EXISTING_RESUME : scene_first_try(&s);
  }
  assert_int_equal(scene_look(&s), FOUND_NEW);
  assert_false(scene_is_there(s.partial));
  scene_drop(&s);
}

// ---- failing ----

static int count_descriptors(void) { return scene_count_entries("/proc/self/fd"); }

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
  scene_make(&s, index);
  s.options.no_sync = !sync;
  const int entries = scene_entries(&s), descriptors = count_descriptors();
  for (long at = 1; reached; at++) {
    const char *call = NULL;
    scene_restore(&s);
    inject_begin(INJECT_ERROR, at, error);
    tsr_status status = scene_transform(&s, scene_first_try(&s));
    reached = inject_end(&call);
    assert_true(reached || !status);
    if (status) check_message(&s, status, call, error);
    if (!status) assert_int_equal(scene_look(&s), FOUND_NEW);
    tsr_status_free(status);
    scene_check_intact(&s);
    assert_int_equal(count_descriptors(), descriptors);
    if (scene_is_there(s.partial)) assert_true(scene_is_there(s.journal));
    scene_finish(&s, entries);
  }
  scene_drop(&s);
}

static void a_job_on_a_bad_disk_says_so_and_leaves_old_or_new(void **state) {
  (void)state;
  for (size_t i = 0; i < SCENE_CASES; i++) fail_everywhere(i, EIO, i % 2 == 0);
}

static void a_job_on_a_full_disk_says_so_and_leaves_old_or_new(void **state) {
  (void)state;
  for (size_t i = 0; i < SCENE_CASES; i++) fail_everywhere(i, ENOSPC, i % 2 == 1);
}

static void short_and_interrupted_calls_change_nothing(void **state) {
  (void)state;
  static const inject_kind faults[] = {INJECT_SHORT, INJECT_INTERRUPT};
  for (size_t i = 0; i < SCENE_CASES * COUNT_OF(faults); i++) {
    scene s;
    scene_make(&s, i / COUNT_OF(faults));
    const int entries = scene_entries(&s);
    scene_restore(&s);
    scene_leave_unfinished(&s);
    inject_begin(faults[i % COUNT_OF(faults)], 0, 0);
    tsr_status status = scene_transform(&s, TSR_EXISTING_RESUME);
    inject_end(NULL);
    assert_ok(status);
    assert_int_equal(scene_look(&s), FOUND_NEW);
    assert_int_equal(scene_count_entries(s.out), entries);
    scene_drop(&s);
  }
}

// Whether the destination is what the source is: on a bad disk that is yes, or not known.
static tsr_status verify(const scene *s, bool *out_equal) {
  tsr_checkpoint *source = NULL, *result = NULL;
  tsr_verification *verification = NULL;
  const tsr_verify_options options = {.size = sizeof options, .map = s->map, .jobs = 1};
  tsr_status status = tsr_checkpoint_open(s->in, NULL, &source);
  if (!status) status = tsr_checkpoint_open(s->out, NULL, &result);
  if (!status) status = tsr_checkpoint_verify(source, result, &options, &verification);
  if (!status) *out_equal = tsr_verification_equal(verification);
  tsr_verification_destroy(verification);
  tsr_checkpoint_release(source);
  tsr_checkpoint_release(result);
  return status;
}

static void verify_on_a_bad_disk_never_says_that_things_differ(void **state) {
  (void)state;
  for (size_t i = 0; i < SCENE_CASES; i++) {
    scene s;
    bool reached = true;
    scene_make(&s, i);
    scene_entries(&s);
    const int descriptors = count_descriptors();
    for (long at = 1; reached; at++) {
      const char *call = NULL;
      bool equal = false;
      inject_begin(INJECT_ERROR, at, EIO);
      tsr_status status = verify(&s, &equal);
      reached = inject_end(&call);
      assert_true(reached || !status);
      if (status) check_message(&s, status, call, EIO);
      assert_true(status || equal);
      assert_int_equal(count_descriptors(), descriptors);
      tsr_status_free(status);
    }
    scene_drop(&s);
  }
}

static void without_exchange_nothing_is_replaced_in_two_steps(void **state) {
  (void)state;
  for (size_t i = 0; i < SCENE_CASES; i++) {
    scene s;
    scene_make(&s, i);
    scene_restore(&s);
    const bool plain =
        s.before == NOTHING || (s.before == OLD_FILE && scene_is_single(s.options.format));
    inject_begin(INJECT_NO_EXCHANGE, 0, 0);
    tsr_status status = scene_transform(&s, scene_first_try(&s));
    inject_end(NULL);
    if (plain)
      assert_ok(status);
    else
      assert_fails_with(status, UNSUPPORTED, "out: this file system cannot exchange");
    assert_int_equal(scene_look(&s), plain ? FOUND_NEW : FOUND_OLD);
    assert_false(scene_is_there(s.partial));
    assert_false(scene_is_there(s.journal));
    scene_drop(&s);
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
    scene_make(&s, formats[i]);
    const int entries = scene_entries(&s);
    for (size_t end = 0; end <= length; end++) {
      scene_restore(&s);
      scene_leave_unfinished(&s);
      length = read_journal(&s, bytes, sizeof bytes);
      write_journal(&s, bytes, end);
      scene_finish(&s, entries);
    }
    assert_true(length > 100);
    scene_drop(&s);
  }
}

static void a_journal_may_be_wrong_anywhere(void **state) {
  (void)state;
  scene s;
  char bytes[4096];
  size_t length = 1, refused = 0;
  scene_make(&s, 9);
  const int entries = scene_entries(&s);
  for (size_t at = 0; at < length; at++) {
    scene_restore(&s);
    scene_leave_unfinished(&s);
    length = read_journal(&s, bytes, sizeof bytes);
    bytes[at] ^= 1;
    write_journal(&s, bytes, length);
    tsr_status status = scene_transform(&s, TSR_EXISTING_RESUME);
    if (status) {
      const tsr_cause cause = tsr_status_cause(status);
      assert_true(cause == TSR_CAUSE_JOURNAL_MISMATCH || cause == TSR_CAUSE_ALREADY_THERE);
      assert_int_equal(scene_look(&s), FOUND_OLD);
      refused++;
      tsr_status_free(status);
    } else {
      assert_int_equal(scene_look(&s), FOUND_NEW);
      assert_int_equal(scene_count_entries(s.out), entries);
    }
  }
  assert_in_range(refused, 20, 80);  // those in the first line
  scene_drop(&s);
}

static void a_file_that_is_gone_is_written_anew(void **state) {
  (void)state;
  scene s;
  char path[512];
  scene_make(&s, 9);
  const int entries = scene_entries(&s);
  scene_restore(&s);
  scene_leave_unfinished(&s);
  DIR *listing = opendir(s.partial);
  const struct dirent *entry = readdir(listing);
  while (entry && entry->d_name[0] != 'd') entry = readdir(listing);
  assert_non_null(entry);
  snprintf(path, sizeof path, "%s/%s", s.partial, entry->d_name);
  closedir(listing);
  assert_int_equal(unlink(path), 0);
  scene_finish(&s, entries);
  scene_drop(&s);
}

// A job that was killed when its result was in its place. What is there now has the number of that
// result, as a folder made later may, but is another.
static void what_has_taken_the_place_of_a_result_is_not_taken_for_it(void **state) {
  (void)state;
  const struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
  scene s;
  int found_done = 0;
  scene_make(&s, 3);
  for (long at = 1;
       scene_restore(&s), scene_is_killed(&s, TSR_EXISTING_REFUSE, INJECT_KILL_BEFORE, at); at++) {
    if (scene_look(&s) != FOUND_NEW || !scene_is_there(s.journal)) continue;
    found_done++;
    assert_int_equal(utimensat(AT_FDCWD, s.out, times, 0), 0);
    assert_fails_with(scene_transform(&s, TSR_EXISTING_RESUME), ALREADY_THERE,
                      "out: already exists");
    assert_true(scene_is_there(s.journal));
  }
  assert_true(found_done > 0);
  scene_drop(&s);
}

// ---- others at work ----

static bool start_another(void *context, const tsr_progress_report *report) {
  scene *s = context;
  (void)report;
  s->options.progress = NULL;
  assert_fails_with(scene_transform(s, TSR_EXISTING_REPLACE), ALREADY_THERE,
                    "out.journal: another job has it open");
  assert_fails_with(scene_transform(s, TSR_EXISTING_RESUME), ALREADY_THERE, "");
  return true;
}

static void two_jobs_cannot_write_one_destination(void **state) {
  (void)state;
  scene s;
  scene_make(&s, 4);
  scene_restore(&s);
  s.options.progress = start_another;
  s.options.progress_context = &s;
  s.options.progress_interval = 1e-9;
  assert_ok(scene_transform(&s, TSR_EXISTING_REPLACE));
  assert_int_equal(scene_look(&s), FOUND_NEW);
  scene_drop(&s);
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
               {remove_source, "in.safetensors: it no longer exists"},
               {shorten_source, "in.safetensors: it has 400 bytes now and had"}};

static void a_source_that_changes_is_not_committed(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(changes); i++) {
    scene s;
    scene_make(&s, 9);
    scene_restore(&s);
    s.options.progress = changes[i].change;
    s.options.progress_context = &s;
    s.options.progress_interval = 1e-9;
    assert_fails_with(scene_transform(&s, TSR_EXISTING_REPLACE), SOURCE_CHANGED,
                      changes[i].message);
    assert_int_equal(scene_look(&s), FOUND_OLD);
    assert_false(scene_is_there(s.partial));
    assert_false(scene_is_there(s.journal));
    scene_drop(&s);
  }
}

static bool make_destination(void *context, const tsr_progress_report *report) {
  const scene *s = context;
  if (report->finished) scene_write_old(s->out);
  return true;
}

static void what_comes_to_be_there_meanwhile_stays(void **state) {
  (void)state;
  static const size_t formats[] = {0, 3, 7};
  for (size_t i = 0; i < COUNT_OF(formats); i++) {
    scene s;
    scene_make(&s, formats[i]);
    scene_restore(&s);
    s.options.progress = make_destination;
    s.options.progress_context = &s;
    assert_fails_with(scene_transform(&s, TSR_EXISTING_REFUSE), IO,
                      "out: cannot put it in its place");
    assert_int_equal(scene_look(&s), FOUND_OLD);
    s.options.progress = NULL;
    scene_remove(s.out);
    assert_ok(scene_transform(&s, TSR_EXISTING_RESUME));
    assert_int_equal(scene_look(&s), FOUND_NEW);
    scene_drop(&s);
  }
}

SUITE(faults, TEST(a_job_that_is_killed_leaves_old_or_new),
      TEST(a_resumed_job_that_is_killed_leaves_old_or_new),
      TEST(a_job_that_is_killed_over_and_over_gets_done),
      TEST(a_job_on_a_bad_disk_says_so_and_leaves_old_or_new),
      TEST(a_job_on_a_full_disk_says_so_and_leaves_old_or_new),
      TEST(verify_on_a_bad_disk_never_says_that_things_differ),
      TEST(short_and_interrupted_calls_change_nothing),
      TEST(without_exchange_nothing_is_replaced_in_two_steps), TEST(a_journal_may_be_torn_anywhere),
      TEST(a_journal_may_be_wrong_anywhere), TEST(a_file_that_is_gone_is_written_anew),
      TEST(what_has_taken_the_place_of_a_result_is_not_taken_for_it),
      TEST(two_jobs_cannot_write_one_destination), TEST(a_source_that_changes_is_not_committed),
      TEST(what_comes_to_be_there_meanwhile_stays))
