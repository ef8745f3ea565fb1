// Small good files cut at every byte and with every bit flipped: refused, or read as what they say.
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text_internal.h"
#include "corpus/corpus.h"
#include "element/dtype_internal.h"
#include "element/shape_internal.h"
#include "file/safetensors.h"
#include "format/fsck_report.h"
#include "map/map_internal.h"
#include "tessera/checkpoint.h"

// ---- the good folder of a kind, made on disk ----

typedef struct sample {
  const corpus_kind *kind;
  corpus_folder folder;
  test_folder where;
} sample;

static void make_sample(const char *kind, sample *out) {
  char path[128];
  corpus_block block;
  corpus_folder none = {0};
  for (int i = 0; i < corpus_kind_count; i++)
    if (!strcmp(corpus_kinds[i].name, kind)) out->kind = &corpus_kinds[i];
  char *text = corpus_read(out->kind, path);
  assert_true(corpus_block_next(text, &none, &block));
  corpus_folder_copy(&block.folder, &out->folder);
  corpus_block_end(&block, &none);
  corpus_folder_clear(&none);
  free(text);
  test_folder_make_in_memory(&out->where);
  corpus_folder_make(&out->folder, &out->where);
}

static void remove_sample(sample *s) {
  test_folder_remove(&s->where);
  corpus_folder_clear(&s->folder);
}

// In place: files that are cut to nothing first are flushed by some file systems, thousands of
// times.
static void write_bytes(const sample *s, int file, const char *bytes, size_t length) {
  const int out = open(test_folder_path(&s->where, s->folder.files[file].name), O_WRONLY);
  assert_true(out >= 0);
  assert_int_equal(pwrite(out, bytes, length, 0), length);
  assert_int_equal(ftruncate(out, (off_t)length), 0);
  assert_int_equal(close(out), 0);
}

// Each change of one file in turn; it is whole again afterwards.
typedef void check_fn(const sample *s, int file, const tsr_text *changed, void *context);

static void cut_everywhere(const sample *s, int file, check_fn *check, void *context) {
  tsr_text whole = TSR_TEXT_EMPTY;
  corpus_file_bytes(&s->folder.files[file], &whole);
  const size_t length = whole.length;
  for (whole.length = 0; whole.length < length; whole.length++) {
    write_bytes(s, file, whole.data, whole.length);
    check(s, file, &whole, context);
  }
  write_bytes(s, file, whole.data, length);
  tsr_text_deinit(&whole);
}

static void flip_everywhere(const sample *s, int file, check_fn *check, void *context) {
  tsr_text whole = TSR_TEXT_EMPTY;
  corpus_file_bytes(&s->folder.files[file], &whole);
  for (size_t bit = 0; bit < 8 * whole.length; bit++) {
    whole.data[bit / 8] = (char)(whole.data[bit / 8] ^ 1 << bit % 8);
    write_bytes(s, file, whole.data, whole.length);
    check(s, file, &whole, context);
    whole.data[bit / 8] = (char)(whole.data[bit / 8] ^ 1 << bit % 8);
  }
  write_bytes(s, file, whole.data, whole.length);
  tsr_text_deinit(&whole);
}

// ---- cuts ----

static void is_refused(const sample *s, int file, const tsr_text *changed, void *context) {
  tsr_text warnings = TSR_TEXT_EMPTY;
  (void)context;
  tsr_status status = s->kind->open(&s->where, &warnings);
  if (!status) fail_msg("%s is read when cut at %zu", s->folder.files[file].name, changed->length);
  assert_true(*tsr_status_text(status));
  tsr_status_free(status);
  tsr_text_deinit(&warnings);
}

// The last newline of a text may go; no other byte of it.
static void is_refused_or_whole(const sample *s, int file, const tsr_text *changed, void *context) {
  tsr_text whole = TSR_TEXT_EMPTY;
  corpus_file_bytes(&s->folder.files[file], &whole);
  if (changed->length + 1 < whole.length) is_refused(s, file, changed, context);
  tsr_text_deinit(&whole);
}

static void files_cut_anywhere_are_refused(void **state) {
  static const struct {
    const char *kind;
    int file;
    check_fn *check;
  } cuts[] = {
      {"safetensors", 0, is_refused},
      {"index", 0, is_refused_or_whole},
      {"index", 1, is_refused},
      {"index", 2, is_refused},
      {"manifest", 0, is_refused_or_whole},
      {"manifest", 1, is_refused},
      {"manifest", 2, is_refused},
      {"ranks", 0, is_refused_or_whole},
      {"ranks", 1, is_refused},
      {"plan", 0, is_refused_or_whole},
  };
  (void)state;
  for (size_t i = 0; i < COUNT_OF(cuts); i++) {
    sample s;
    make_sample(cuts[i].kind, &s);
    cut_everywhere(&s, cuts[i].file, cuts[i].check, NULL);
    remove_sample(&s);
  }
}

// A map may end anywhere that a line may. What is left says what the whole says, as far as it goes.
static void says_the_beginning(const sample *s, int file, const tsr_text *changed, void *context) {
  const char *whole = context;
  tsr_map *map = NULL;
  tsr_text printed = TSR_TEXT_EMPTY;
  (void)file, (void)changed;
  tsr_status status = tsr_map_read(test_folder_path(&s->where, "names.map"), &map);
  if (!status) {
    tsr_map_print(map, &printed);
    const size_t length = printed.length ? printed.length - 1 : 0;  // without the last newline
    assert_int_equal(strncmp(tsr_text_string(&printed), whole, length), 0);
  }
  tsr_status_free(status);
  tsr_map_release(map);
  tsr_text_deinit(&printed);
}

static void maps_cut_anywhere_say_their_beginning(void **state) {
  sample s;
  tsr_map *map = NULL;
  tsr_text printed = TSR_TEXT_EMPTY;
  (void)state;
  make_sample("map", &s);
  assert_ok(tsr_map_read(test_folder_path(&s.where, "names.map"), &map));
  tsr_map_print(map, &printed);
  tsr_map_release(map);
  cut_everywhere(&s, 0, says_the_beginning, printed.data);
  tsr_text_deinit(&printed);
  remove_sample(&s);
}

// ---- flipped bits of a header ----

// What a header says, written as the good one is: if this is not the header's own text, something
// was read that is not there.
static void print_header(const tsr_model *model, tsr_text *out) {
  const tsr_metadata *items = NULL;
  const int64_t count = tsr_model_metadata(model, &items);
  int64_t start = INT64_MAX;
  for (int64_t i = 0; i < tsr_model_count(model); i++)
    if (tsr_model_tensor_at(model, i)->begin < start) start = tsr_model_tensor_at(model, i)->begin;
  tsr_text_add(out, "{\"__metadata__\":{");
  for (int64_t i = 0; i < count; i++)
    tsr_text_addf(out, "%s\"%s\":\"%s\"", i ? "," : "", items[i].key, items[i].value);
  tsr_text_add(out, "}");
  for (int64_t i = 0; i < tsr_model_count(model); i++) {
    const tsr_model_tensor *t = tsr_model_tensor_at(model, i);
    tsr_text_addf(out, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", t->tensor.path,
                  tsr_dtype_name(t->tensor.dtype, TSR_NAMES_SAFETENSORS));
    for (int d = 0; d < t->tensor.rank; d++)
      tsr_text_addf(out, "%s%lld", d ? "," : "", (long long)t->tensor.dims[d]);
    tsr_text_addf(out, "],\"data_offsets\":[%lld,%lld]}", (long long)(t->begin - start),
                  (long long)(t->end - start));
  }
  tsr_text_add(out, "}");
}

static void says_what_is_there(const sample *s, int file, const tsr_text *changed, void *context) {
  tsr_model *model = NULL;
  tsr_text printed = TSR_TEXT_EMPTY;
  int *accepted = context;
  (void)file;
  tsr_status status =
      tsr_safetensors_open(test_folder_path(&s->where, "model.safetensors"), &model);
  if (!status) {
    print_header(model, &printed);
    assert_memory_equal(tsr_text_string(&printed), changed->data + 8, printed.length);
    ++*accepted;
  }
  tsr_status_free(status);
  tsr_model_destroy(model);
  tsr_text_deinit(&printed);
}

static void headers_with_a_flipped_bit_say_what_is_there(void **state) {
  sample s;
  int accepted = 0;
  (void)state;
  make_sample("safetensors", &s);
  flip_everywhere(&s, 0, says_what_is_there, &accepted);
  print_message("%d flips give another legal header, or other data\n", accepted);
  assert_true(accepted > 36 * 8);  // the data is no matter of the header's
  remove_sample(&s);
}

// ---- flipped bits of folders ----

// Every tensor with its type, shape and bytes.
static void print_contents(const tsr_checkpoint *model, tsr_text *out) {
  const tsr_tree *tree = tsr_checkpoint_tree(model);
  for (int64_t i = 0; i < tsr_tree_count(tree); i++) {
    const tsr_tensor *t = tsr_tree_at(tree, i);
    tsr_shape shape;
    int64_t count = 0, bytes = 0;
    assert_ok(tsr_shape_init(&shape, t->dims, t->rank));
    assert_ok(tsr_shape_count(&shape, &count));
    assert_ok(tsr_dtype_bytes(t->dtype, count, &bytes));
    char *data = calloc((size_t)bytes + 1, 1);
    assert_non_null(data);
    assert_ok(tsr_checkpoint_read(model, i, NULL, data, bytes));
    tsr_text_addf(out, "%s %d ", t->path, (int)t->dtype);
    tsr_shape_print(&shape, out);
    tsr_text_add_bytes(out, data, (size_t)bytes);
    free(data);
  }
}

static tsr_status read_contents(const sample *s, tsr_text *out) {
  tsr_checkpoint *model = NULL;
  TSR_TRY(tsr_checkpoint_open(s->where.path, NULL, &model));
  print_contents(model, out);
  tsr_checkpoint_release(model);
  return NULL;
}

static int64_t deep_errors(const sample *s) {
  const tsr_fsck_options options = {.size = sizeof options, .deep = true, .jobs = 1};
  tsr_fsck *fsck = NULL;
  assert_ok(tsr_fsck_run(s->where.path, &options, &fsck));
  const int64_t errors = tsr_fsck_total(fsck, TSR_SEVERITY_ERROR);
  tsr_fsck_destroy(fsck);
  return errors;
}

static void is_never_wrong_in_silence(const sample *s, int file, const tsr_text *changed,
                                      void *context) {
  const tsr_text *good = context;
  tsr_text found = TSR_TEXT_EMPTY;
  tsr_status status = read_contents(s, &found);
  const bool same =
      !status && found.length == good->length && !memcmp(found.data, good->data, good->length);
  if (!same && !deep_errors(s))
    fail_msg("%s: other contents are read in silence: %.*s", s->folder.files[file].name,
             (int)changed->length, changed->data);
  tsr_status_free(status);
  tsr_text_deinit(&found);
}

static void our_own_folders_are_never_wrong_in_silence(void **state) {
  sample s;
  tsr_text good = TSR_TEXT_EMPTY;
  (void)state;
  make_sample("manifest", &s);
  assert_ok(read_contents(&s, &good));
  assert_int_equal(deep_errors(&s), 0);
  for (int file = 0; file < s.folder.count; file++)
    flip_everywhere(&s, file, is_never_wrong_in_silence, &good);
  tsr_text_deinit(&good);
  remove_sample(&s);
}

// An index has no hashes: what it says is held against the headers.
static void is_refused_or_the_same(const sample *s, int file, const tsr_text *changed,
                                   void *context) {
  const tsr_text *good = context;
  tsr_text found = TSR_TEXT_EMPTY;
  tsr_status status = read_contents(s, &found);
  if (!status && (found.length != good->length || memcmp(found.data, good->data, good->length)))
    fail_msg("%s: other contents are read in silence: %.*s", s->folder.files[file].name,
             (int)changed->length, changed->data);
  tsr_status_free(status);
  tsr_text_deinit(&found);
}

static void an_index_with_a_flipped_bit_is_refused_or_means_the_same(void **state) {
  sample s;
  tsr_text good = TSR_TEXT_EMPTY;
  (void)state;
  make_sample("index", &s);
  assert_ok(read_contents(&s, &good));
  flip_everywhere(&s, 0, is_refused_or_the_same, &good);
  tsr_text_deinit(&good);
  remove_sample(&s);
}

// ---- memory ----

static tsr_status find_faults(void *context) {
  const tsr_fsck_options options = {.size = sizeof options, .deep = true, .jobs = 1};
  const test_folder *folder = context;
  tsr_fsck *fsck = NULL;
  TSR_TRY(tsr_fsck_run(folder->path, &options, &fsck));
  tsr_fsck_destroy(fsck);
  return NULL;
}

static void finding_faults_survives_failing_allocations(void **state) {
  static const char *const kinds[] = {"index", "manifest", "ranks"};
  (void)state;
  for (size_t i = 0; i < COUNT_OF(kinds); i++) {
    sample s;
    make_sample(kinds[i], &s);
    // Notes on copies that differ, as in this one, are left out when memory is, and nothing else.
    if (strcmp(kinds[i], "ranks") != 0) test_allocation_sweep(find_faults, &s.where);
    unlink(test_folder_path(&s.where, s.folder.files[2].name));
    test_allocation_sweep(find_faults, &s.where);
    remove_sample(&s);
  }
}

SUITE(sweeps, TEST(finding_faults_survives_failing_allocations),
      TEST(files_cut_anywhere_are_refused), TEST(maps_cut_anywhere_say_their_beginning),
      TEST(headers_with_a_flipped_bit_say_what_is_there),
      TEST(our_own_folders_are_never_wrong_in_silence),
      TEST(an_index_with_a_flipped_bit_is_refused_or_means_the_same))
