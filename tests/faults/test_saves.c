// A save leaves what was there before, or its whole result, whichever call of the system is its
// last or fails. What it leaves beside is none of its own after a failure, and taken away by the
// next save after its end.
#include <errno.h>
#include <string.h>

#include "faults/scene.h"
#include "tessera/checkpoint/transform.h"

enum { SAVE_CASES = 10 };  // the scenes whose source is one file

static void make(scene *s, size_t index) {
  scene_make(s, index);
  s->saves = true;
}

static void check_nothing_beside(const scene *s) {
  assert_false(scene_is_there(s->partial));
  assert_false(scene_is_there(s->journal));
}

static void kill_everywhere(size_t index, inject_kind fault) {
  scene s;
  bool killed = true;
  long at = 1;
  make(&s, index);
  for (; killed; at++) {
    scene_restore(&s);
    killed = scene_is_killed(&s, scene_first_try(&s), fault, at);
    if (!killed) assert_int_equal(scene_look(&s), FOUND_NEW);
    scene_check_intact(&s);
    assert_ok(scene_transform(&s, TSR_EXISTING_REPLACE));
    assert_int_equal(scene_look(&s), FOUND_NEW);
    check_nothing_beside(&s);
  }
  assert_true(at > 20);
  scene_drop(&s);
}

static void a_save_that_is_killed_leaves_old_or_new(void **state) {
  (void)state;
  for (size_t i = 0; i < SAVE_CASES; i++)
    kill_everywhere(i, i % 2 ? INJECT_KILL_HALFWAY : INJECT_KILL_BEFORE);
}

// Where removing fails, or it is not known whose journal it is, something may be left beside; the
// next save takes it away.
static bool may_leave(const char *call) {
  static const char *const calls[] = {"nftw", "unlink", "remove", "rmdir",
                                      "stat", "fstat",  "flock"};
  for (size_t i = 0; call && i < COUNT_OF(calls); i++)
    if (!strcmp(call, calls[i])) return true;
  return false;
}

static void fail_everywhere(size_t index, int error, bool sync) {
  scene s;
  bool reached = true;
  make(&s, index);
  s.options.no_sync = !sync;
  for (long at = 1; reached; at++) {
    const char *call = NULL;
    scene_restore(&s);
    inject_begin(INJECT_ERROR, at, error);
    tsr_status status = scene_transform(&s, scene_first_try(&s));
    reached = inject_end(&call);
    assert_true(reached || !status);
    if (status && !strstr(tsr_status_text(status), s.folder.path))
      fail_msg("%s: no file is named: %s", call, tsr_status_text(status));
    if (!status) assert_int_equal(scene_look(&s), FOUND_NEW);
    tsr_status_free(status);
    scene_check_intact(&s);
    if (!may_leave(call)) check_nothing_beside(&s);
    assert_ok(scene_transform(&s, TSR_EXISTING_REPLACE));
    check_nothing_beside(&s);
  }
  scene_drop(&s);
}

static void a_save_on_a_bad_disk_says_so_and_leaves_old_or_new(void **state) {
  (void)state;
  for (size_t i = 0; i < SAVE_CASES; i++) fail_everywhere(i, i % 3 ? EIO : ENOSPC, i % 2 == 0);
}

static void short_and_interrupted_calls_change_nothing(void **state) {
  (void)state;
  for (size_t i = 0; i < 2 * SAVE_CASES; i++) {
    scene s;
    make(&s, i / 2);
    scene_restore(&s);
    inject_begin(i % 2 ? INJECT_SHORT : INJECT_INTERRUPT, 0, 0);
    tsr_status status = scene_transform(&s, scene_first_try(&s));
    inject_end(NULL);
    assert_ok(status);
    assert_int_equal(scene_look(&s), FOUND_NEW);
    scene_drop(&s);
  }
}

SUITE(saves, TEST(a_save_that_is_killed_leaves_old_or_new),
      TEST(a_save_on_a_bad_disk_says_so_and_leaves_old_or_new),
      TEST(short_and_interrupted_calls_change_nothing))
