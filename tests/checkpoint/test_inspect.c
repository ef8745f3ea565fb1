// Inspect: rows, sums, shares; slices of any layout against elements picked from whole tensors.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash_internal.h"
#include "base/text_internal.h"
#include "checkpoint/models.h"
#include "element/shape_internal.h"
#include "element/slice.h"
#include "inspect/inspect_internal.h"
#include "inspect/verify_internal.h"
#include "json/json.h"
#include "plan/tree_internal.h"
#include "store/checkpoint_internal.h"
#include "tessera/checkpoint/open.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/checkpoint/transform.h"
#include "tessera/checkpoint/verify.h"
#include "tessera/engine/kernels.h"

#define TREE                                                    \
  "{\"layers.2.w\": {\"dtype\": \"u32\", \"shape\": [12, 8]},"  \
  " \"layers.10.w\": {\"dtype\": \"u32\", \"shape\": [12, 8]}," \
  " \"layers.2.scale\": {\"dtype\": \"u32\", \"shape\": [5]},"  \
  " \"empty\": {\"dtype\": \"u32\", \"shape\": [0, 3]},"        \
  " \"big\": {\"dtype\": \"u32\", \"shape\": [7, 6, 20]},"      \
  " \"one\": {\"dtype\": \"u32\", \"shape\": []}}"
#define RULES "w$ -> tp, _\nbig -> _, dp, tp\n"

static void write_model(const test_folder *folder) {
  test_tensor tensors[] = {test_tensor_whole("layers.2.w", TSR_SHAPE(12, 8)),
                           test_tensor_whole("layers.10.w", TSR_SHAPE(12, 8)),
                           test_tensor_whole("layers.2.scale", TSR_SHAPE(5)),
                           test_tensor_whole("empty", TSR_SHAPE(0, 3)),
                           test_tensor_whole("big", TSR_SHAPE(7, 6, 20)),
                           test_tensor_whole("one", TSR_SCALAR)};
  test_write_safetensors(test_folder_path(folder, "in.safetensors"), tensors, 6);
}

static tsr_checkpoint *open_model(const test_folder *folder, const char *name) {
  tsr_checkpoint *checkpoint = NULL;
  assert_ok(tsr_checkpoint_open(test_folder_path(folder, name), NULL, &checkpoint));
  return checkpoint;
}

static void write_as(const test_folder *folder, const char *to, tsr_checkpoint_format format) {
  tsr_plan *plan = test_plan(TREE, "dp=2,tp=4", RULES);
  tsr_checkpoint *source = open_model(folder, "in.safetensors");
  const tsr_transform_options options = {.size = sizeof options,
                                         .format = format,
                                         .plan = format == TSR_FORMAT_FOLDER ? NULL : plan,
                                         .max_file_size = 1000,
                                         .no_sync = true};
  tsr_transform *job = NULL;
  assert_ok(tsr_transform_create(source, test_folder_path(folder, to), &options, &job));
  assert_ok(tsr_transform_run(job));
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
  tsr_plan_release(plan);
}

// The same model as one file, a folder, ranks' files and our own.
static void write_all(test_folder *folder) {
  test_folder_make(folder);
  write_model(folder);
  write_as(folder, "hf", TSR_FORMAT_FOLDER);
  write_as(folder, "ranks", TSR_FORMAT_RANKS);
  write_as(folder, "own", TSR_FORMAT_TESSERA);
}

static const char *const stored_as[] = {"in.safetensors", "hf", "ranks", "own"};

// ---- rows ----

static void check_names(const tsr_checkpoint *model, const tsr_inspect_options *options,
                        const char *wanted) {
  tsr_inspection *listing = NULL;
  tsr_text names = TSR_TEXT_EMPTY;
  assert_ok(tsr_inspection_create(model, options, &listing));
  for (int64_t i = 0; i < tsr_inspection_count(listing); i++) {
    const tsr_inspect_row *row = tsr_inspection_row(listing, i);
    tsr_text_addf(&names, "%s%s*%lld", i ? " " : "", row->name, (long long)row->count);
  }
  assert_string_equal(tsr_text_string(&names), wanted);
  tsr_text_deinit(&names);
  tsr_inspection_destroy(listing);
}

static void rows_are_selected_grouped_and_ordered(void **state) {
  (void)state;
  test_folder folder;
  write_all(&folder);
  tsr_checkpoint *model = open_model(&folder, "in.safetensors");
  tsr_inspect_options options = {.size = sizeof options};
  check_names(model, NULL, "layers.2.w*1 layers.10.w*1 layers.2.scale*1 empty*1 big*1 one*1");
  options.order = TSR_INSPECT_BY_NAME;
  check_names(model, &options, "big*1 empty*1 layers.2.scale*1 layers.2.w*1 layers.10.w*1 one*1");
  options.order = TSR_INSPECT_BY_BYTES;
  check_names(model, &options, "big*1 layers.2.w*1 layers.10.w*1 layers.2.scale*1 one*1 empty*1");
  options.order = TSR_INSPECT_BY_FILE;
  check_names(model, &options, "empty*1 layers.2.w*1 layers.10.w*1 layers.2.scale*1 big*1 one*1");
  options = (tsr_inspect_options){.size = sizeof options, .group = true};
  check_names(model, &options, "layers.*.w*2 layers.*.scale*1 empty*1 big*1 one*1");
  const char *const include[] = {"layers", "big"}, *const exclude[] = {"scale"};
  options.filter = (tsr_tree_filter){include, exclude, 2, 1};
  check_names(model, &options, "layers.*.w*2 big*1");
  tsr_inspection *listing = NULL;
  const char *const none[] = {"nothing"};
  options.filter = (tsr_tree_filter){.include = none, .include_count = 1};
  assert_fails(tsr_inspection_create(model, &options, &listing), NOT_FOUND,
               "include: the pattern \"nothing\" matches none of 6 tensors");
  options.filter = (tsr_tree_filter){include, include, 2, 2};
  assert_fails(tsr_inspection_create(model, &options, &listing), NOT_FOUND,
               "no tensor is left after leaving out what was excluded");
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

static void orders_have_names(void **state) {
  (void)state;
  tsr_inspect_order order = TSR_INSPECT_BY_TREE;
  assert_ok(tsr_inspect_order_parse("file", &order));
  assert_int_equal(order, TSR_INSPECT_BY_FILE);
  assert_fails(tsr_inspect_order_parse("size", &order), BAD_ARGUMENT,
               "order \"size\" is unknown; known orders are tree, name, bytes, file");
}

static void rows_tell_where_tensors_lie(void **state) {
  (void)state;
  test_folder folder;
  write_all(&folder);
  const int64_t stored[] = {1, 1, 8, 1};  // of `one`, a copy for each rank
  for (size_t i = 0; i < COUNT_OF(stored_as); i++) {
    tsr_checkpoint *model = open_model(&folder, stored_as[i]);
    tsr_inspection *listing = NULL;
    assert_ok(tsr_inspection_create(model, NULL, &listing));
    for (int64_t r = 0; r < tsr_inspection_count(listing); r++) {
      const tsr_inspect_row *row = tsr_inspection_row(listing, r);
      assert_int_equal(row->spec != NULL, i >= 2);
      if (!strcmp(row->name, "empty")) {
        assert_int_equal(row->file, -1);
        assert_int_equal(row->files, 0);
      }
      if (strcmp(row->name, "one") != 0) continue;
      assert_int_equal(row->bytes, 4);
      assert_int_equal(row->elements, 1);
      assert_int_equal(row->stored, 4 * stored[i]);
      assert_int_equal(row->files, stored[i]);
      tsr_stored part;
      assert_true(tsr_checkpoint_find(model, row->tensors[0], 0, 0, &part));
      assert_int_equal(row->file, part.file);
      assert_int_equal(row->offset, part.offset);
    }
    const tsr_inspect_sums all = tsr_inspection_sums(listing, TSR_DTYPE_NONE);
    const tsr_inspect_sums none = tsr_inspection_sums(listing, TSR_F32);
    assert_int_equal(all.tensors, 6);
    assert_int_equal(all.elements, 2 * 96 + 5 + 840 + 1);
    assert_int_equal(all.bytes, 4 * all.elements);
    assert_int_equal(tsr_inspection_sums(listing, TSR_U32).stored, all.stored);
    assert_int_equal(none.tensors, 0);
    tsr_inspection_destroy(listing);
    tsr_checkpoint_release(model);
  }
  test_folder_remove(&folder);
}

// ---- shares ----

static int64_t check_shares(const tsr_checkpoint *model, tsr_share_kind by, int64_t most_tensors,
                            int64_t wanted_count) {
  tsr_inspection *listing = NULL;
  tsr_share *shares = NULL;
  int64_t count = 0, sum = 0;
  assert_ok(tsr_inspection_create(model, NULL, &listing));
  assert_ok(tsr_inspection_shares(listing, by, &shares, &count));
  assert_int_equal(count, wanted_count);
  for (int64_t i = 0; i < count; i++) {
    assert_int_equal(shares[i].id, i);
    assert_true(shares[i].tensors <= most_tensors);
    sum += shares[i].bytes;
  }
  free(shares);
  tsr_inspection_destroy(listing);
  return sum;
}

static void shares_add_up(void **state) {
  (void)state;
  test_folder folder;
  write_all(&folder);
  const int64_t bytes = 4 * (2 * 96 + 5 + 840 + 1);
  // w is cut in 4 and held twice, scale and one are everywhere, big is cut in 8.
  const int64_t held = 4 * (2 * 2 * 96 + 8 * 5 + 840 + 8);
  tsr_checkpoint *ranks = open_model(&folder, "ranks"), *own = open_model(&folder, "own");
  tsr_checkpoint *whole = open_model(&folder, "in.safetensors");
  assert_int_equal(check_shares(whole, TSR_SHARE_BY_FILE, 5, 1), bytes);
  assert_int_equal(check_shares(own, TSR_SHARE_BY_FILE, 5, tsr_checkpoint_file_count(own)), bytes);
  assert_int_equal(check_shares(own, TSR_SHARE_BY_RANK, 5, 8), held);
  assert_int_equal(check_shares(own, TSR_SHARE_BY_DEVICE, 5, 8), held);
  assert_int_equal(check_shares(ranks, TSR_SHARE_BY_FILE, 5, tsr_checkpoint_file_count(ranks)),
                   held);
  assert_int_equal(check_shares(ranks, TSR_SHARE_BY_RANK, 5, 8), held);
  tsr_checkpoint_release(ranks);
  tsr_inspection *listing = NULL;
  tsr_share *shares = NULL;
  int64_t count = 0;
  assert_ok(tsr_inspection_create(whole, NULL, &listing));
  assert_fails_with(tsr_inspection_shares(listing, TSR_SHARE_BY_RANK, &shares, &count), UNSUPPORTED,
                    "no plan says what its ranks or devices hold");
  tsr_inspection_destroy(listing);
  tsr_checkpoint_release(whole);
  tsr_checkpoint_release(own);
  test_folder_remove(&folder);
}

// Writes the model by a plan of its own, and gives its shares.
static tsr_share *shares_of(const test_folder *folder, const char *mesh, const char *rules,
                            tsr_checkpoint_format format, const char *lost, tsr_share_kind by) {
  tsr_plan *plan = test_plan(TREE, mesh, rules);
  tsr_checkpoint *source = open_model(folder, "in.safetensors");
  const tsr_transform_options options = {
      .size = sizeof options, .format = format, .plan = plan, .no_sync = true};
  tsr_transform *job = NULL;
  tsr_inspection *listing = NULL;
  tsr_share *shares = NULL;
  int64_t count = 0;
  assert_ok(tsr_transform_create(source, test_folder_path(folder, "again"), &options, &job));
  assert_ok(tsr_transform_run(job));
  if (lost) {  // but for one tensor
    test_tensor kept = test_tensor_whole("one", TSR_SCALAR);
    test_write_safetensors(test_folder_path(folder, lost), &kept, 1);
  }
  tsr_checkpoint *again = open_model(folder, "again");
  assert_ok(tsr_inspection_create(again, NULL, &listing));
  assert_ok(tsr_inspection_shares(listing, by, &shares, &count));
  assert_int_equal(count, 4);
  tsr_inspection_destroy(listing);
  tsr_checkpoint_release(again);
  tsr_transform_destroy(job);
  tsr_checkpoint_release(source);
  tsr_plan_release(plan);
  return shares;
}

static void devices_are_told_by_id(void **state) {
  (void)state;
  test_folder folder;
  write_all(&folder);
  tsr_share *shares = shares_of(&folder, "tp=4 devices=[3,1,0,2]", "big -> _, _, tp\n",
                                TSR_FORMAT_TESSERA, NULL, TSR_SHARE_BY_DEVICE);
  assert_int_equal(shares[0].id, 3);
  assert_int_equal(shares[3].id, 2);
  free(shares);
  test_folder_remove(&folder);
}

static void ranks_have_what_is_there_of_them(void **state) {
  (void)state;
  test_folder folder;
  write_all(&folder);
  tsr_share *shares = shares_of(&folder, "dp=2,tp=2", "w$ -> tp, _\n", TSR_FORMAT_RANKS,
                                "again/model-rank-3-part-0.safetensors", TSR_SHARE_BY_RANK);
  assert_int_equal(shares[1].tensors, 5);
  assert_int_equal(shares[1].bytes, 4 * (96 + 5 + 840 + 1));
  assert_int_equal(shares[3].tensors, 1);
  assert_int_equal(shares[3].bytes, 4);
  free(shares);
  test_folder_remove(&folder);
}

// ---- slices ----

static tsr_slice_dim random_dim(test_random *random, int64_t size) {
  char text[80];
  tsr_slice slice;
  const long long a = (long long)test_random_range(random, -size, size);
  const long long b = (long long)test_random_range(random, -size, size);
  long long step = (long long)test_random_range(random, -3, 3);
  if (!step) step = 1;
  if (size && test_random_range(random, 0, 4) == 0)
    snprintf(text, sizeof text, "%lld", (long long)test_random_range(random, -size, size - 1));
  else if (test_random_range(random, 0, 2) == 0)
    snprintf(text, sizeof text, ":");
  else
    snprintf(text, sizeof text, "%lld:%lld:%lld", a, b, step);
  assert_ok(tsr_slice_parse(text, TSR_SHAPE(size), &slice));
  return slice.dims[0];
}

// Element `index` of a slice's result, as an element of the whole tensor.
static int64_t element_of(const tsr_slice *slice, const tsr_shape *shape, int64_t index) {
  int64_t element = 0, strides[TSR_MAX_RANK];
  tsr_shape_strides(shape, strides);
  for (int d = slice->rank - 1; d >= 0; d--) {
    const tsr_slice_dim *dim = &slice->dims[d];
    element += (dim->start + index % dim->count * dim->step) * strides[d];
    index /= dim->count;
  }
  return element;
}

static void slices_of_all_layouts_are_read(void **state) {
  (void)state;
  test_folder folder;
  test_random random = {3};
  write_all(&folder);
  for (size_t s = 0; s < COUNT_OF(stored_as); s++) {
    tsr_checkpoint *model = open_model(&folder, stored_as[s]);
    const tsr_tree *tree = tsr_checkpoint_tree(model);
    for (int turn = 0; turn < 400; turn++) {
      const int64_t tensor = test_random_range(&random, 0, tsr_tree_count(tree) - 1);
      const tsr_tensor *t = tsr_tree_at(tree, tensor);
      const tsr_shape shape = tsr_tensor_shape(t);
      tsr_slice slice = {.rank = t->rank};
      for (int d = 0; d < t->rank; d++) slice.dims[d] = random_dim(&random, t->dims[d]);
      uint32_t words[840] = {0};
      assert_ok(tsr_checkpoint_read_slice(model, tensor, &slice, words, sizeof words));
      for (int64_t i = 0; i < tsr_slice_elements(&slice); i++)
        assert_int_equal(words[i], test_word(t->path, element_of(&slice, &shape, i)));
    }
    tsr_checkpoint_release(model);
  }
  test_folder_remove(&folder);
}

// A file with one tensor whose bytes are given.
static tsr_checkpoint *write_tensor(const test_folder *folder, const char *dtype, const char *shape,
                                    const void *bytes, size_t length) {
  char header[160];
  const int text = snprintf(header, sizeof header,
                            "{\"x\":{\"dtype\":\"%s\",\"shape\":%s,\"data_offsets\":[0,%zu]}}",
                            dtype, shape, length);
  const uint64_t header_length = (uint64_t)text;
  FILE *file = fopen(test_folder_path(folder, "x.safetensors"), "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(&header_length, 8, 1, file), 1);
  assert_int_equal(fwrite(header, 1, (size_t)text, file), text);
  assert_int_equal(fwrite(bytes, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
  return open_model(folder, "x.safetensors");
}

static void elements_smaller_than_a_byte_are_sliced(void **state) {
  (void)state;
  test_folder folder;
  test_random random = {11};
  unsigned char bytes[3 * 5 * 8 / 2];
  test_folder_make(&folder);
  for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)test_random_next(&random);
  tsr_checkpoint *model = write_tensor(&folder, "F4", "[3,5,8]", bytes, sizeof bytes);
  const tsr_shape shape = *TSR_SHAPE(3, 5, 8);
  for (int turn = 0; turn < 500; turn++) {
    tsr_slice slice = {.rank = 3};
    for (int d = 0; d < 3; d++) slice.dims[d] = random_dim(&random, shape.dims[d]);
    unsigned char out[61] = {0};
    assert_ok(tsr_checkpoint_read_slice(model, 0, &slice, out, sizeof out));
    for (int64_t i = 0; i < tsr_slice_elements(&slice); i++) {
      const int64_t e = element_of(&slice, &shape, i);
      assert_int_equal(out[i / 2] >> (i % 2 * 4) & 15, bytes[e / 2] >> (e % 2 * 4) & 15);
    }
  }
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

// Steps so long that each element is read by itself.
static void long_steps_read_single_elements(void **state) {
  (void)state;
  test_folder folder;
  test_folder_make(&folder);
  test_tensor tensor = test_tensor_whole("x", TSR_SHAPE(2, 9000));
  test_write_safetensors(test_folder_path(&folder, "x.safetensors"), &tensor, 1);
  tsr_checkpoint *model = open_model(&folder, "x.safetensors");
  tsr_slice slice;
  uint32_t words[6];
  assert_ok(tsr_slice_parse("::-1, 8999::-4000", TSR_SHAPE(2, 9000), &slice));
  assert_ok(tsr_checkpoint_read_slice(model, 0, &slice, words, sizeof words));
  for (int64_t i = 0; i < 6; i++)
    assert_int_equal(words[i], test_word("x", (1 - i / 3) * 9000 + 8999 - i % 3 * 4000));
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

static void slices_that_do_not_fit_are_refused(void **state) {
  (void)state;
  test_folder folder;
  write_all(&folder);
  tsr_checkpoint *model = open_model(&folder, "in.safetensors");
  tsr_slice slice = {.rank = 2, .dims = {{0, 1, 12, false}, {0, 1, 8, false}}};
  uint32_t words[96];
  assert_fails(tsr_checkpoint_read_slice(model, 9, &slice, words, sizeof words), INDEX_OUT_OF_RANGE,
               "tensor 9 of a checkpoint with 6");
  assert_fails(tsr_checkpoint_read_slice(model, 2, &slice, words, sizeof words), BAD_ARGUMENT,
               "tensor \"layers.2.scale\" has 1 dimensions, its slice 2");
  assert_fails_with(tsr_checkpoint_read_slice(model, 0, &slice, words, sizeof words - 1),
                    BAD_ARGUMENT, "the buffer has 383 bytes, wanted at least 384");
  static const tsr_slice_dim wrong[] = {
      {0, 1, 9, false}, {-1, 1, 2, false}, {0, 8, 2, false},
      {0, 0, 2, false}, {7, -1, 9, false}, {8, 1, 1, false},
      {0, 2, 1, false}, {0, 1, -1, false}, {0, 7, INT64_MAX, false}};
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    slice.dims[1] = wrong[i];
    assert_fails_with(tsr_checkpoint_read_slice(model, 0, &slice, words, sizeof words),
                      INDEX_OUT_OF_RANGE, "of dimension 1, whose size is 8");
  }
  tsr_text text = TSR_TEXT_EMPTY;
  assert_fails(tsr_checkpoint_print_values(model, -1, &slice, NULL, &text), INDEX_OUT_OF_RANGE,
               "tensor -1 of a checkpoint with 6");
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

// ---- values ----

static void check_values(const tsr_checkpoint *model, const char *slice_text,
                         const tsr_values_options *options, const char *wanted) {
  const tsr_shape shape = tsr_tensor_shape(tsr_tree_at(tsr_checkpoint_tree(model), 0));
  tsr_slice slice;
  tsr_text text = TSR_TEXT_EMPTY;
  assert_ok(tsr_slice_parse(slice_text, &shape, &slice));
  assert_ok(tsr_checkpoint_print_values(model, 0, &slice, options, &text));
  assert_string_equal(tsr_text_string(&text), wanted);
  tsr_text_deinit(&text);
}

static void check_data(const tsr_checkpoint *model, const char *slice_text, const char *wanted) {
  const tsr_shape shape = tsr_tensor_shape(tsr_tree_at(tsr_checkpoint_tree(model), 0));
  tsr_slice slice;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_json_writer writer;
  tsr_json_writer_init(&writer, &text, 2);
  assert_ok(tsr_slice_parse(slice_text, &shape, &slice));
  assert_ok(tsr_checkpoint_write_values(model, 0, &slice, NULL, &writer));
  assert_string_equal(tsr_text_string(&text), wanted);
  tsr_text_deinit(&text);
}

static void values_are_printed_as_numpy_does(void **state) {
  (void)state;
  test_folder folder;
  int16_t numbers[3 * 4 * 40];
  test_folder_make(&folder);
  for (int i = 0; i < 480; i++) numbers[i] = (int16_t)(i - 2);
  tsr_checkpoint *model = write_tensor(&folder, "I16", "[3,4,40]", numbers, sizeof numbers);
  check_values(model, "0, 0, :4", NULL, "[-2 -1  0  1]\n");
  check_values(model, "0, 0, 7", NULL, "5\n");
  check_values(model, "0, 0, 0:0", NULL, "[]\n");
  check_values(model, ":2, :2, :2", NULL,
               "[[[ -2  -1]\n  [ 38  39]]\n\n [[158 159]\n  [198 199]]]\n");
  check_values(model, "0, :2, ::-20", NULL, "[[37 17]\n [77 57]]\n");
  const tsr_values_options few = {.size = sizeof few, .most = 10, .edge = 1, .width = 40};
  check_values(model, ":", &few,
               "[[[ -2 ...  37]\n  ...\n  [118 ... 157]]\n\n ...\n\n"
               " [[318 ... 357]\n  ...\n  [438 ... 477]]]\n");
  const tsr_values_options narrow = {.size = sizeof narrow, .width = 30};
  check_values(model, "0, 0, :12", &narrow, "[-2 -1  0  1  2  3  4  5  6\n  7  8  9]\n");
  check_data(model, "1, :2, 1:3", "[[159, 160], [199, 200]]");
  check_data(model, "1, 2, 3", "241");
  check_data(model, "0:0", "[]");
  tsr_slice slice;
  tsr_text text = TSR_TEXT_EMPTY;
  const tsr_values_options tight = {.size = sizeof tight, .max_memory = 1000};
  tsr_slice_whole(TSR_SHAPE(3, 4, 40), &slice);
  assert_fails(
      tsr_checkpoint_print_values(model, 0, &slice, &tight, &text), DOES_NOT_FIT,
      "tensor \"x\": showing 480 elements takes more than 1000 bytes of memory; show fewer");
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

// A shape whose corners alone are beyond counting.
static void many_dimensions_are_refused(void **state) {
  (void)state;
  test_folder folder;
  tsr_text shape = TSR_TEXT_EMPTY;
  tsr_text text = TSR_TEXT_EMPTY;
  test_folder_make(&folder);
  tsr_text_add(&shape, "[");
  for (int d = 0; d < 20; d++) tsr_text_add(&shape, "8,");
  tsr_text_add(&shape, "0]");
  tsr_checkpoint *model = write_tensor(&folder, "I8", tsr_text_string(&shape), "", 0);
  tsr_slice slice = {.rank = 21};
  for (int d = 0; d < 21; d++) slice.dims[d] = (tsr_slice_dim){0, 1, 8, false};
  assert_fails_with(tsr_checkpoint_print_values(model, 0, &slice, NULL, &text), DOES_NOT_FIT,
                    "takes more than 1073741824 bytes");
  tsr_text_deinit(&text);
  tsr_text_deinit(&shape);
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

static void values_of_every_class_are_data(void **state) {
  (void)state;
  test_folder folder;
  test_folder_make(&folder);
  const float floats[] = {0.5F, NAN, INFINITY, -INFINITY, 0.1F, 3.0F};
  tsr_checkpoint *model = write_tensor(&folder, "F32", "[6]", floats, sizeof floats);
  check_data(model, ":", "[0.5, \"nan\", \"inf\", \"-inf\", 0.10000000149011612, 3.0]");
  check_values(model, ":", NULL, "[ 0.5  nan  inf -inf  0.1  3.0]\n");
  tsr_checkpoint_release(model);
  model = write_tensor(&folder, "C64", "[3]", floats, sizeof floats);
  check_data(model, "::2", "[[0.5, \"nan\"], [0.10000000149011612, 3.0]]");
  check_values(model, ":", NULL, "[0.5+nanj inf-infj 0.1+3.0j]\n");
  tsr_checkpoint_release(model);
  model = write_tensor(&folder, "BOOL", "[2]", "\1\0", 2);
  check_data(model, ":", "[true, false]");
  check_values(model, ":", NULL, "[ true false]\n");
  tsr_checkpoint_release(model);
  model = write_tensor(&folder, "U64", "[1]", "\377\377\377\377\377\377\377\377", 8);
  check_data(model, ":", "[18446744073709551615]");
  tsr_checkpoint_release(model);
  model = write_tensor(&folder, "F4", "[2,4]", "\x21\x43\x65\x07", 4);
  check_values(model, "1, ::-1", NULL, "[0.0 6.0 4.0 3.0]\n");
  const tsr_values_options few = {.size = sizeof few, .most = 1, .edge = 1};
  check_values(model, ":", &few, "[[0.5 ... 2.0]\n [3.0 ... 0.0]]\n");
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

// ---- reading all ----

static void a_survey_reads_hashes_and_statistics(void **state) {
  (void)state;
  test_folder folder;
  write_all(&folder);
  for (size_t s = 0; s < COUNT_OF(stored_as); s++) {
    tsr_checkpoint *model = open_model(&folder, stored_as[s]);
    const int64_t tensors[] = {4, 0, 3, 5, 4};
    tsr_survey_row rows[5];
    tsr_verify_options options = {.size = sizeof options, .stats = true, .hashes = true};
    assert_ok(tsr_checkpoint_survey(model, tensors, 5, &options, rows));
    for (int i = 0; i < 5; i++) {
      tsr_hash128 hash;
      tsr_tensor_stats stats;
      assert_ok(tsr_checkpoint_hash(model, tensors[i], NULL, &hash));
      assert_ok(tsr_checkpoint_stats(model, tensors[i], NULL, &stats));
      assert_true(tsr_hash128_equal(hash, rows[i].hash));
      assert_int_equal(stats.count, rows[i].stats.count);
      assert_memory_equal(&stats.norm, &rows[i].stats.norm, sizeof stats.norm);
    }
    options = (tsr_verify_options){.size = sizeof options, .replicas = TSR_REPLICAS_TRUST};
    assert_ok(tsr_checkpoint_survey(model, tensors, 5, &options, rows));
    assert_int_equal(rows[0].stats.count, 0);
    const int64_t wrong[] = {6};
    assert_fails(tsr_checkpoint_survey(model, wrong, 1, NULL, rows), INDEX_OUT_OF_RANGE,
                 "tensor 6 of a checkpoint with 6");
    options.max_memory = 1000;
    assert_fails_with(tsr_checkpoint_survey(model, tensors, 5, &options, rows), DOES_NOT_FIT,
                      "1000 bytes of memory are too little");
    tsr_checkpoint_release(model);
  }
  test_folder_remove(&folder);
}

static bool refuse(void *context, const tsr_progress_report *report) {
  (void)context, (void)report;
  return false;
}

static void a_survey_can_be_cancelled(void **state) {
  (void)state;
  test_folder folder;
  write_all(&folder);
  tsr_checkpoint *model = open_model(&folder, "own");
  const int64_t tensors[] = {0, 1, 2, 3, 4};
  tsr_survey_row rows[5];
  const tsr_verify_options options = {
      .size = sizeof options, .jobs = 1, .progress = refuse, .progress_interval = 1e-12};
  assert_fails(tsr_checkpoint_survey(model, tensors, 5, &options, rows), CANCELLED, "cancelled");
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

static void statistics_are_joined(void **state) {
  (void)state;
  tsr_tensor_stats all = {0};
  const tsr_tensor_stats none = {
      .count = 3, .nans = 2, .infinities = 1, .min = NAN, .max = NAN, .mean = NAN, .norm = NAN};
  const tsr_tensor_stats a = {.count = 5, .nans = 1, .min = -1, .max = 2, .mean = 1, .norm = 3};
  const tsr_tensor_stats b = {.count = 4, .min = -2, .max = 1, .mean = 0, .norm = 4};
  tsr_tensor_stats_join(&all, &none);
  assert_true(isnan(all.mean) && isnan(all.norm));
  tsr_tensor_stats_join(&all, &a);
  assert_float_equal(all.mean, 1, 0);
  tsr_tensor_stats_join(&all, &none);
  tsr_tensor_stats_join(&all, &b);
  assert_int_equal(all.count, 15);
  assert_int_equal(all.nans, 5);
  assert_int_equal(all.infinities, 2);
  assert_float_equal(all.min, -2, 0);
  assert_float_equal(all.max, 2, 0);
  assert_float_equal(all.mean, 0.5, 1e-15);
  assert_float_equal(all.norm, 5, 1e-15);
}

// ---- memory ----

static tsr_status inspect_all(void *context) {
  const tsr_checkpoint *model = context;
  static const char *const include[] = {"w", "big"}, *const exclude[] = {"10"};
  const tsr_inspect_options options = {.size = sizeof options,
                                       .filter = {include, exclude, 2, 1},
                                       .group = true,
                                       .order = TSR_INSPECT_BY_NAME};
  const tsr_verify_options read = {.size = sizeof read, .stats = true, .hashes = true, .jobs = 1};
  tsr_inspection *listing = NULL;
  tsr_share *shares = NULL;
  tsr_survey_row row;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_slice slice;
  int64_t count = 0;
  tsr_slice_whole(TSR_SHAPE(7, 6, 20), &slice);
  slice.dims[2] = (tsr_slice_dim){19, -1, 20, false};
  tsr_status status = tsr_inspection_create(model, &options, &listing);
  if (!status) status = tsr_inspection_shares(listing, TSR_SHARE_BY_DEVICE, &shares, &count);
  free(shares);
  shares = NULL;
  if (!status) status = tsr_inspection_shares(listing, TSR_SHARE_BY_FILE, &shares, &count);
  if (!status) status = tsr_checkpoint_survey(model, (const int64_t[]){4}, 1, &read, &row);
  if (!status) status = tsr_checkpoint_print_values(model, 4, &slice, NULL, &text);
  if (!status) status = tsr_text_check(&text);
  tsr_text_deinit(&text);
  free(shares);
  tsr_inspection_destroy(listing);
  return status;
}

static void memory_may_run_out_anywhere(void **state) {
  (void)state;
  test_folder folder;
  write_all(&folder);
  tsr_checkpoint *model = open_model(&folder, "own");
  test_allocation_sweep(inspect_all, model);
  tsr_checkpoint_release(model);
  test_folder_remove(&folder);
}

SUITE(inspect, TEST(rows_are_selected_grouped_and_ordered), TEST(orders_have_names),
      TEST(rows_tell_where_tensors_lie), TEST(shares_add_up), TEST(devices_are_told_by_id),
      TEST(ranks_have_what_is_there_of_them), TEST(slices_of_all_layouts_are_read),
      TEST(elements_smaller_than_a_byte_are_sliced), TEST(long_steps_read_single_elements),
      TEST(slices_that_do_not_fit_are_refused), TEST(values_are_printed_as_numpy_does),
      TEST(many_dimensions_are_refused), TEST(values_of_every_class_are_data),
      TEST(a_survey_reads_hashes_and_statistics), TEST(a_survey_can_be_cancelled),
      TEST(statistics_are_joined), TEST(memory_may_run_out_anywhere))
