// Journals of stopped jobs, cut at every byte and with every bit flipped: the job is done over from
// where the journal can be believed, and its result is right; or it is refused, and nothing is
// touched.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text_internal.h"
#include "corpus/corpus.h"
#include "tessera/checkpoint/fsck.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/mesh.h"
#include "tessera/plan.h"
#include "tessera/rules.h"
#include "tessera/tree.h"

enum { TENSORS = 6, WORDS = 48, MOST_FILES = 4 };

typedef struct saved_file {
  char name[64];
  char *bytes;  // owned
  size_t length;
} saved_file;

// A job that was stopped, as it lay on disk, and what it should have made.
typedef struct scene {
  test_folder folder;
  char source[96], out[96];
  tsr_plan *plan;
  saved_file journal, partial[MOST_FILES];
  int partial_count;
  int resumed, refused;
} scene;

static unsigned char byte_of(int64_t place) { return (unsigned char)(place * 37 + place / 50); }

static void write_source(const char *path) {
  tsr_text text = TSR_TEXT_EMPTY;
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  for (int i = 0; i < TENSORS; i++)
    tsr_text_addf(&text, "%s\"t%d\":{\"dtype\":\"U32\",\"shape\":[%d,2],\"data_offsets\":[%d,%d]}",
                  i ? "," : "{", i, WORDS / 2, i * WORDS * 4, (i + 1) * WORDS * 4);
  tsr_text_add(&text, "}");
  const uint64_t length = text.length;
  assert_int_equal(fwrite(&length, 8, 1, file), 1);
  assert_int_equal(fwrite(text.data, 1, length, file), length);
  for (int64_t i = 0; i < (int64_t)TENSORS * WORDS * 4; i++) fputc(byte_of(i), file);
  assert_int_equal(fclose(file), 0);
  tsr_text_deinit(&text);
}

static tsr_plan *make_plan(const tsr_tree *tree) {
  tsr_mesh *mesh = NULL;
  tsr_rules *rules = NULL;
  tsr_plan *plan = NULL;
  assert_ok(tsr_mesh_parse("x=2", NULL, &mesh));
  assert_ok(tsr_rules_parse(".* -> x\n", "test", NULL, &rules));
  assert_ok(tsr_plan_match(tree, mesh, rules, NULL, &plan));
  tsr_rules_release(rules);
  tsr_mesh_release(mesh);
  return plan;
}

static bool stop_at_once(void *context, const tsr_progress_report *report) {
  (void)context;
  return report->finished || report->done < 1;
}

static tsr_status run_job(const scene *s, bool stop) {
  const tsr_transform_options options = {
      .size = sizeof options,
      .format = TSR_FORMAT_TESSERA,
      .plan = s->plan,
      .jobs = 1,
      .no_sync = true,
      .existing = stop ? TSR_EXISTING_REFUSE : TSR_EXISTING_RESUME,
      .progress = stop ? stop_at_once : NULL,
      .progress_interval = 1e-9,
  };
  tsr_checkpoint *source = NULL;
  tsr_transform *job = NULL;
  TSR_TRY(tsr_checkpoint_open(s->source, NULL, &source));
  tsr_status status = tsr_transform_create(source, s->out, &options, &job);
  if (!status) status = tsr_transform_run(job);
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
  return status;
}

// ---- what lies on disk ----

static void save(const char *folder, const char *name, saved_file *out) {
  char path[256];
  snprintf(path, sizeof path, "%.128s/%.63s", folder, name);
  snprintf(out->name, sizeof out->name, "%.63s", name);
  assert_ok(tsr_file_read(path, &out->bytes, &out->length));
}

static void save_partial(scene *s) {
  char path[128];
  snprintf(path, sizeof path, "%s.partial", s->out);
  DIR *listing = opendir(path);
  assert_non_null(listing);
  for (const struct dirent *entry = NULL; (entry = readdir(listing));) {
    if (entry->d_name[0] == '.') continue;
    assert_true(s->partial_count < MOST_FILES);
    save(path, entry->d_name, &s->partial[s->partial_count++]);
  }
  closedir(listing);
}

static void write_file(const char *path, const char *bytes, size_t length) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static void remove_result(const scene *s, const char *end) {
  test_folder folder;
  struct stat info;
  snprintf(folder.path, sizeof folder.path, "%.50s%s", s->out, end);
  if (!stat(folder.path, &info)) test_folder_remove(&folder);
}

// The stopped job again, with another journal.
static void restore(const scene *s, const char *journal, size_t length) {
  char path[256];
  remove_result(s, "");
  remove_result(s, ".partial");
  snprintf(path, sizeof path, "%s.partial", s->out);
  assert_int_equal(mkdir(path, 0700), 0);
  for (int i = 0; i < s->partial_count; i++) {
    snprintf(path, sizeof path, "%s.partial/%s", s->out, s->partial[i].name);
    write_file(path, s->partial[i].bytes, s->partial[i].length);
  }
  snprintf(path, sizeof path, "%s.journal", s->out);
  write_file(path, journal, length);
}

static void make_scene(scene *s) {
  tsr_checkpoint *source = NULL;
  *s = (scene){0};
  test_folder_make_in_memory(&s->folder);
  snprintf(s->source, sizeof s->source, "%s/in.safetensors", s->folder.path);
  snprintf(s->out, sizeof s->out, "%s/out", s->folder.path);
  write_source(s->source);
  assert_ok(tsr_checkpoint_open(s->source, NULL, &source));
  s->plan = make_plan(tsr_checkpoint_tree(source));
  tsr_checkpoint_release(source);
  assert_fails_with(run_job(s, true), CANCELLED, "cancelled");
  save(s->folder.path, "out.journal", &s->journal);
  save_partial(s);
  assert_true(s->partial_count >= 2 && s->journal.length > 80);
}

static void remove_scene(scene *s) {
  free(s->journal.bytes);
  for (int i = 0; i < s->partial_count; i++) free(s->partial[i].bytes);
  tsr_plan_release(s->plan);
  test_folder_remove(&s->folder);
}

// ---- what comes of it ----

static void check_result(const scene *s) {
  const tsr_fsck_options deep = {.size = sizeof deep, .deep = true, .jobs = 1};
  tsr_fsck *fsck = NULL;
  tsr_checkpoint *result = NULL;
  assert_ok(tsr_fsck_run(s->out, &deep, &fsck));
  assert_int_equal(tsr_fsck_count(fsck), 0);
  tsr_fsck_destroy(fsck);
  assert_ok(tsr_checkpoint_open(s->out, NULL, &result));
  for (int i = 0; i < TENSORS; i++) {
    char name[16];
    unsigned char found[WORDS * 4];
    snprintf(name, sizeof name, "t%d", i);
    assert_ok(tsr_checkpoint_read(result, tsr_tree_find(tsr_checkpoint_tree(result), name), NULL,
                                  found, sizeof found));
    for (int64_t b = 0; b < (int64_t)sizeof found; b++)
      assert_int_equal(found[b], byte_of(i * (int64_t)sizeof found + b));
  }
  tsr_checkpoint_release(result);
}

static void resume(scene *s, const char *journal, size_t length) {
  restore(s, journal, length);
  tsr_status status = run_job(s, false);
  if (status) {
    // A journal that says no more that it is one leaves a folder that may be anybody's.
    assert_true(tsr_status_cause(status) == TSR_CAUSE_JOURNAL_MISMATCH ||
                tsr_status_cause(status) == TSR_CAUSE_ALREADY_THERE);
    assert_int_not_equal(access(s->out, F_OK), 0);
    char path[256], *kept = NULL;
    size_t kept_length = 0;
    snprintf(path, sizeof path, "%s.journal", s->out);
    assert_ok(tsr_file_read(path, &kept, &kept_length));
    assert_int_equal(kept_length, length);
    assert_memory_equal(kept, journal, length);
    free(kept);
    s->refused++;
  } else {
    check_result(s);
    s->resumed++;
  }
  tsr_status_free(status);
}

static void journals_cut_anywhere_are_resumed(void **state) {
  scene s;
  (void)state;
  make_scene(&s);
  for (size_t length = 0; length <= s.journal.length; length++) resume(&s, s.journal.bytes, length);
  assert_int_equal(s.refused, 0);
  remove_scene(&s);
}

static void journals_with_a_flipped_bit_are_resumed_or_refused(void **state) {
  scene s;
  (void)state;
  make_scene(&s);
  for (size_t bit = 0; bit < 8 * s.journal.length; bit++) {
    s.journal.bytes[bit / 8] = (char)(s.journal.bytes[bit / 8] ^ 1 << bit % 8);
    resume(&s, s.journal.bytes, s.journal.length);
    s.journal.bytes[bit / 8] = (char)(s.journal.bytes[bit / 8] ^ 1 << bit % 8);
  }
  // The first line says whose it is; of the others, what cannot be believed is written again.
  assert_true(s.refused > 0 && s.resumed > 0);
  print_message("%d journals resumed, %d refused\n", s.resumed, s.refused);
  remove_scene(&s);
}

SUITE(journal, TEST(journals_cut_anywhere_are_resumed),
      TEST(journals_with_a_flipped_bit_are_resumed_or_refused))
