// Arrays in NumPy's files.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array/arrays.h"
#include "file/npy_internal.h"
#include "support/ranks.h"
#include "tessera/checkpoint/npy.h"

static void make_path(char *path) {
  strcpy(path, "/tmp/tessera-array-XXXXXX");
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
}

static void a_file_is_written_and_read_by_parts(void **state) {
  (void)state;
  static const tsr_dtype dtypes[] = {TSR_BOOL, TSR_I16, TSR_F32, TSR_C128, TSR_BF16};
  test_random random = {41};
  tsr_comm *comm = test_comm(8, 2);
  char path[64];
  make_path(path);
  for (int turn = 0; turn < 60; turn++) {
    tsr_shape shape = {.rank = (int)test_random_range(&random, 0, 3)};
    for (int d = 0; d < shape.rank; d++) shape.dims[d] = test_random_range(&random, 0, 9);
    const tsr_dtype dtype = dtypes[turn % 5];
    tsr_layout *first = test_random_layout(&random, &shape);
    tsr_layout *second = test_random_layout(&random, &shape);
    void *host = test_tensor(&shape, dtype, 8);
    tsr_array *array = NULL, *read = NULL;
    assert_ok(tsr_array_shard(comm, first, dtype, host, NULL, &array));
    assert_ok(tsr_array_save_npy(array, path));
    tsr_npy npy;
    assert_ok(tsr_npy_open(path, &npy));
    const size_t bytes = (size_t)(npy.end - npy.begin);
    char *whole = malloc(bytes + 1);
    assert_ok(
        tsr_npy_read(path, &npy, 0, (npy.end - npy.begin) / npy.width, whole, npy.end - npy.begin));
    assert_memory_equal(whole, host, bytes);
    assert_ok(tsr_array_load_npy(comm, second, path, dtype, &read));
    assert_ok(test_array_check(read, 8));
    tsr_array_release(array);
    tsr_array_release(read);
    tsr_layout_release(first);
    tsr_layout_release(second);
    free(whole);
    free(host);
  }
  unlink(path);
  tsr_comm_release(comm);
}

static void fortran_order_and_long_rows_are_read(void **state) {
  (void)state;
  static const char *const specs[] = {"x, y", "_, x+y", "y, x/cyclic(3)"};
  enum { ROWS = 40, COLUMNS = 3000 };
  tsr_comm *comm = test_comm(4, 2);
  char path[64];
  make_path(path);
  float *host = test_tensor(TSR_SHAPE(ROWS, COLUMNS), TSR_F32, 8);
  float *turned = malloc(sizeof *turned * ROWS * COLUMNS);
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < COLUMNS; c++) turned[c * ROWS + r] = host[r * COLUMNS + c];
  for (int fortran = 0; fortran < 2; fortran++) {
    assert_ok(
        tsr_npy_write(path, TSR_F32, TSR_SHAPE(ROWS, COLUMNS), fortran, fortran ? turned : host));
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
      tsr_layout *layout = test_layout_of("x=2,y=2", specs[i], "40,3000", TSR_POLICY_UNEVEN);
      tsr_array *array = NULL;
      assert_ok(tsr_array_load_npy(comm, layout, path, TSR_DTYPE_NONE, &array));
      assert_ok(test_array_check(array, 8));
      tsr_array_release(array);
      tsr_layout_release(layout);
    }
  }
  unlink(path);
  free(host);
  free(turned);
  tsr_comm_release(comm);
}

static void files_that_do_not_fit_are_refused(void **state) {
  (void)state;
  tsr_comm *comm = test_comm(2, 1);
  tsr_layout *layout = test_layout_of("x=2", "x", "4", TSR_POLICY_ERROR);
  tsr_layout *partial = test_layout_of("x=2", "_ | unreduced=x", "4", TSR_POLICY_ERROR);
  tsr_layout *longer = test_layout_of("x=2", "x", "6", TSR_POLICY_ERROR);
  const uint16_t values[4] = {1, 2, 3, 4};
  tsr_array *array = NULL;
  char path[64];
  make_path(path);
  assert_ok(tsr_npy_write(path, TSR_BF16, TSR_SHAPE(4), false, values));
  assert_fails_with(tsr_array_load_npy(comm, layout, path, TSR_DTYPE_NONE, &array), UNKNOWN_DTYPE,
                    ": the file does not record the dtype of its elements of 2 bytes");
  assert_fails_with(tsr_array_load_npy(comm, layout, path, TSR_F32, &array), BAD_ARGUMENT,
                    "cannot be f32");
  assert_fails_with(tsr_array_load_npy(comm, longer, path, TSR_BF16, &array), SHAPES_DIFFER,
                    ": the array has shape (4,), the layout has (6,)");
  assert_fails_with(tsr_array_load_npy(comm, partial, path, TSR_BF16, &array), UNSUPPORTED,
                    ": a file cannot be read into a layout with unreduced axes");
  assert_ok(tsr_npy_write(path, TSR_U16, TSR_SHAPE(4), false, values));
  assert_fails_with(tsr_array_load_npy(comm, layout, path, TSR_I16, &array), BAD_ARGUMENT,
                    ": elements are u16, wanted i16");
  unlink(path);
  assert_fails_with(tsr_array_load_npy(comm, layout, path, TSR_I16, &array), NOT_FOUND, path);
  assert_ok(tsr_array_zeros(comm, layout, TSR_I4, &array));
  assert_fails_with(tsr_array_save_npy(array, path), UNSUPPORTED, "i4");
  tsr_array_release(array);
  assert_ok(tsr_array_zeros(comm, layout, TSR_F32, &array));
  assert_fails_with(tsr_array_save_npy(array, "/no/such/folder/x.npy"), NOT_FOUND,
                    "/no/such/folder");
  tsr_array_release(array);
  tsr_layout_release(layout);
  tsr_layout_release(partial);
  tsr_layout_release(longer);
  tsr_comm_release(comm);
}

// ---- several processes ----

typedef struct job {
  const tsr_layout *from, *to;
  const void *host;
  const char *path;
} job;

static tsr_status save_and_load(void *context, tsr_comm *comm) {
  const job *j = context;
  tsr_array *array = NULL, *read = NULL;
  tsr_status status = tsr_array_shard(comm, j->from, TSR_F32, j->host, NULL, &array);
  if (!status) status = tsr_array_save_npy(array, j->path);
  if (!status) status = tsr_array_load_npy(comm, j->to, j->path, TSR_F32, &read);
  if (!status) status = test_array_check(read, 8);
  tsr_array_release(array);
  tsr_array_release(read);
  return status;
}

static void processes_write_one_file_together(void **state) {
  (void)state;
  test_random random = {42};
  char path[64];
  make_path(path);
  for (int turn = 0; turn < 10; turn++) {
    const tsr_shape shape = {2, {test_random_range(&random, 1, 9), 7}};
    tsr_layout *from = test_random_layout(&random, &shape);
    tsr_layout *to = test_random_layout(&random, &shape);
    void *host = test_tensor(&shape, TSR_F32, 8);
    job j = {from, to, host, path};
    assert_ok(test_ranks_run(3, (int64_t[]){0, 3, 4, 8}, save_and_load, &j));
    tsr_layout_release(from);
    tsr_layout_release(to);
    free(host);
  }
  unlink(path);
}

static tsr_status once(void *context) {
  const job *j = context;
  tsr_comm *comm = NULL;
  const tsr_comm_options options = {.size = sizeof options, .workers = 1};
  tsr_status status = tsr_comm_create(4, &options, &comm);
  tsr_array *array = NULL, *read = NULL;
  if (!status) status = tsr_array_shard(comm, j->from, TSR_F32, j->host, NULL, &array);
  if (!status) status = tsr_array_save_npy(array, j->path);
  if (!status) status = tsr_array_load_npy(comm, j->to, j->path, TSR_F32, &read);
  tsr_array_release(array);
  tsr_array_release(read);
  tsr_comm_release(comm);
  unlink(j->path);
  return status;
}

static void every_allocation_may_fail(void **state) {
  (void)state;
  tsr_layout *from = test_layout_of("x=2,y=2", "x, y", "4,6", TSR_POLICY_ERROR);
  tsr_layout *to = test_layout_of("x=2,y=2", "_, x", "4,6", TSR_POLICY_ERROR);
  void *host = test_tensor(TSR_SHAPE(4, 6), TSR_F32, 8);
  char path[64];
  make_path(path);
  job j = {from, to, host, path};
  test_allocation_sweep(once, &j);
  tsr_layout_release(from);
  tsr_layout_release(to);
  free(host);
}

SUITE(npy, TEST(a_file_is_written_and_read_by_parts), TEST(fortran_order_and_long_rows_are_read),
      TEST(files_that_do_not_fit_are_refused), TEST(processes_write_one_file_together),
      TEST(every_allocation_may_fail))
