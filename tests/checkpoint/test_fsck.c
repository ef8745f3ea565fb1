// Fsck: every fault is found, named and told apart; what it mends is sound afterwards.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text_internal.h"
#include "checkpoint/models.h"
#include "format/fsck_report.h"
#include "job/journal.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/engine/kernels.h"

#define ONE "model-00001-of-00002.safetensors"
#define TWO "model-00002-of-00002.safetensors"
#define INDEX "model.safetensors.index.json"

static void write_files(const test_folder *folder) {
  test_tensor one[] = {test_tensor_whole("a", TSR_SHAPE(4)), test_tensor_whole("b", TSR_SHAPE(2))};
  test_tensor two[] = {test_tensor_whole("c", TSR_SHAPE(3))};
  test_write_safetensors(test_folder_path(folder, ONE), one, 2);
  test_write_safetensors(test_folder_path(folder, TWO), two, 1);
}

#define MAP(entries) "{\"metadata\": {\"total_size\": 36}, \"weight_map\": {" entries "}}"
#define WHOLE "\"a\": \"" ONE "\", \"b\": \"" ONE "\", \"c\": \"" TWO "\""

// An index, a change of the files, and the faults that follow, with `+` where --repair mends them.
static const struct {
  const char *index, *remove, *copy_two_to, *faults;
  bool repaired;
} cases[] = {
    {MAP(WHOLE), NULL, NULL, "", false},
    {NULL, NULL, NULL, "no_index+", true},
    {"{", NULL, NULL, "bad_index+", true},
    {"{\"weight_map\": 3}", NULL, NULL, "bad_index+", true},
    {MAP("\"a\": \"" ONE "\", \"b\": 5, \"c\": \"" TWO "\""), NULL, NULL, "bad_index+", true},
    {MAP("\"a\": \"" ONE "\", \"c\": \"" TWO "\""), NULL, NULL, "not_in_index+", true},
    {MAP(WHOLE ", \"d\": \"" ONE "\""), NULL, NULL, "not_in_file", false},  // lost, not mended away
    {MAP("\"a\": \"" TWO "\", \"b\": \"" ONE "\", \"c\": \"" TWO "\""), NULL, NULL, "not_in_file+",
     true},
    {MAP(WHOLE), TWO, NULL, "file_missing", false},
    {NULL, ONE, NULL, "file_missing", false},
    {MAP(WHOLE ", \"d\": \"../x.safetensors\""), NULL, NULL, "outside", false},
    {MAP(WHOLE ", \"d\": \"/x\", \"e\": \"" ONE "\""), NULL, NULL, "outside not_in_file", false},
    {MAP(WHOLE), NULL, "x.safetensors", "file_surplus", false},
    {MAP(WHOLE ", \"x\": \"x.safetensors\""), NULL, "x.safetensors", "twice not_in_file", false},
    {"{\"metadata\": {\"total_size\": 7}, \"weight_map\": {" WHOLE "}}", NULL, NULL, "total_size+",
     true},
    {"{\"metadata\": {\"total_size\": \"x\"}, \"weight_map\": {" WHOLE "}}", NULL, NULL,
     "total_size+", true},
    {MAP(WHOLE), NULL, "y.partial", "left_over", false},
};

static void print_faults(const tsr_fsck *fsck, tsr_text *out) {
  for (int64_t i = 0; i < tsr_fsck_count(fsck); i++) {
    const tsr_fault *fault = tsr_fsck_at(fsck, i);
    tsr_text_addf(out, "%s%s%s", i ? " " : "", tsr_fault_name(fault->kind),
                  fault->repairable ? "+" : "");
  }
}

static void check(const test_folder *folder, const tsr_fsck_options *options, const char *faults,
                  bool repaired) {
  tsr_fsck *fsck = NULL;
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_fsck_run(folder->path, options, &fsck));
  print_faults(fsck, &text);
  assert_string_equal(tsr_text_string(&text), faults);
  assert_int_equal(tsr_fsck_repaired(fsck), repaired);
  for (int64_t i = 0; i < tsr_fsck_count(fsck); i++)
    assert_non_null(strstr(tsr_fsck_at(fsck, i)->message, folder->path));
  tsr_text_deinit(&text);
  tsr_fsck_destroy(fsck);
}

static void faults_are_told_apart_and_mended(void **state) {
  (void)state;
  const tsr_fsck_options mending = {.size = sizeof mending, .repair = true};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    test_folder folder;
    test_folder_make(&folder);
    write_files(&folder);
    if (cases[i].index) test_write_text(test_folder_path(&folder, INDEX), cases[i].index);
    if (cases[i].copy_two_to)
      assert_int_equal(
          link(test_folder_path(&folder, TWO), test_folder_path(&folder, cases[i].copy_two_to)), 0);
    if (cases[i].remove) unlink(test_folder_path(&folder, cases[i].remove));
    check(&folder, NULL, cases[i].faults, false);
    check(&folder, &mending, cases[i].faults, cases[i].repaired);
    if (cases[i].repaired) check(&folder, NULL, "", false);
    const bool kept = !access(test_folder_path(&folder, INDEX ".bak"), F_OK);
    assert_int_equal(kept, cases[i].repaired && cases[i].index);
    test_folder_remove(&folder);
  }
}

static void files_and_links_are_looked_at(void **state) {
  (void)state;
  test_folder folder;
  test_folder_make(&folder);
  write_files(&folder);
  test_write_text(test_folder_path(&folder, INDEX), MAP(WHOLE));
  test_write_text(test_folder_path(&folder, "config.json"), "{\"tie_word_embeddings\": true}");
  assert_int_equal(symlink("/dev/null", test_folder_path(&folder, "outside")), 0);
  assert_int_equal(symlink("nothing", test_folder_path(&folder, "broken")), 0);
  assert_int_equal(symlink(ONE, test_folder_path(&folder, "inside")), 0);
  assert_int_equal(truncate(test_folder_path(&folder, TWO), 70), 0);
  check(&folder, NULL, "file_missing outside truncated tied", false);
  assert_int_equal(truncate(test_folder_path(&folder, TWO), 20), 0);
  test_write_text(test_folder_path(&folder, "config.json"), "{");
  check(&folder, NULL, "file_missing outside header unreadable", false);
  test_folder_remove(&folder);
}

static void one_file_is_checked_too(void **state) {
  (void)state;
  test_folder folder;
  tsr_fsck *fsck = NULL;
  test_folder_make(&folder);
  write_files(&folder);
  assert_ok(tsr_fsck_run(test_folder_path(&folder, ONE), NULL, &fsck));
  assert_int_equal(tsr_fsck_count(fsck), 0);
  assert_int_equal(tsr_fsck_files(fsck), 1);
  assert_int_equal(tsr_fsck_tensors(fsck), 2);
  assert_int_equal(tsr_fsck_total(fsck, TSR_SEVERITY_ERROR), 0);
  tsr_fsck_destroy(fsck);
  assert_fails_with(tsr_fsck_run("/nowhere", NULL, &fsck), NOT_FOUND, "/nowhere");
  assert_string_equal(tsr_severity_name(TSR_SEVERITY_NOTE), "note");
  test_folder_remove(&folder);
}

static bool count_reports(void *context, const tsr_progress_report *report) {
  int64_t *done = context;
  *done = report->done;
  return true;
}

static void reading_all_is_told_and_bounded(void **state) {
  (void)state;
  test_folder folder;
  tsr_fsck *fsck = NULL;
  int64_t done = 0;
  tsr_fsck_options options = {.size = sizeof options,
                              .deep = true,
                              .jobs = 2,
                              .progress = count_reports,
                              .progress_context = &done};
  test_folder_make(&folder);
  write_files(&folder);
  test_write_text(test_folder_path(&folder, INDEX), MAP(WHOLE));
  assert_ok(tsr_fsck_run(folder.path, &options, &fsck));
  assert_int_equal(tsr_fsck_count(fsck), 0);
  assert_int_equal(done, 36);
  tsr_fsck_destroy(fsck);
  options.max_memory = 1 << 20;
  assert_fails_with(tsr_fsck_run(folder.path, &options, &fsck), DOES_NOT_FIT, "1048576");
  // Where something is wrong already, nothing is read.
  unlink(test_folder_path(&folder, TWO));
  check(&folder, &options, "file_missing", false);
  test_folder_remove(&folder);
}

static void what_describes_a_folder_stands_for_it(void **state) {
  (void)state;
  test_folder folder;
  tsr_fsck *fsck = NULL;
  test_folder_make(&folder);
  write_files(&folder);
  test_write_text(test_folder_path(&folder, INDEX), MAP(WHOLE));
  test_write_text(test_folder_path(&folder, "config.json"), "{}");
  assert_ok(tsr_fsck_run(test_folder_path(&folder, INDEX), NULL, &fsck));
  assert_int_equal(tsr_fsck_files(fsck), 2);
  assert_int_equal(tsr_fsck_count(fsck), 0);
  tsr_fsck_destroy(fsck);
  assert_fails_with(tsr_fsck_run(test_folder_path(&folder, "config.json"), NULL, &fsck),
                    BAD_ARGUMENT, "not a checkpoint index; expected");
  test_folder_remove(&folder);
}

static void jobs_that_can_go_on_are_told(void **state) {
  (void)state;
  test_folder folder;
  tsr_fsck *fsck = NULL;
  tsr_journal *journal = NULL;
  test_folder_make(&folder);
  write_files(&folder);
  assert_ok(tsr_journal_open(test_folder_path(&folder, ONE ".journal"), &journal));
  assert_ok(tsr_journal_begin(journal, (tsr_hash128){1, 2}, false, false));
  assert_ok(tsr_journal_close(journal));
  assert_ok(tsr_fsck_run(test_folder_path(&folder, ONE), NULL, &fsck));
  assert_int_equal(tsr_fsck_count(fsck), 1);
  assert_int_equal(tsr_fsck_at(fsck, 0)->kind, TSR_FAULT_LEFT_OVER);
  assert_non_null(strstr(tsr_fsck_at(fsck, 0)->message, "is unfinished"));
  tsr_fsck_destroy(fsck);
  test_folder_remove(&folder);
}

static tsr_status run_all(void *context) {
  tsr_fsck *fsck = NULL;
  const tsr_fsck_options options = {.size = sizeof options, .repair = true};
  TSR_TRY(tsr_fsck_run(context, &options, &fsck));
  tsr_fsck_destroy(fsck);
  return NULL;
}

static void checks_survive_failing_allocations(void **state) {
  (void)state;
  test_folder folder;
  test_folder_make(&folder);
  write_files(&folder);
  test_write_text(test_folder_path(&folder, INDEX), MAP(WHOLE ", \"d\": \"" ONE "\""));
  test_allocation_sweep(run_all, folder.path);
  test_folder_remove(&folder);
}

SUITE(fsck, TEST(faults_are_told_apart_and_mended), TEST(files_and_links_are_looked_at),
      TEST(reading_all_is_told_and_bounded), TEST(what_describes_a_folder_stands_for_it),
      TEST(jobs_that_can_go_on_are_told), TEST(one_file_is_checked_too),
      TEST(checks_survive_failing_allocations))
