// Reads and writes: whole, or a failure that names the file.
#include "base/io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "store/files.h"
#include "support/test.h"

static void make_path(char *path) {
  strcpy(path, "/tmp/tessera-io-XXXXXX");
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
}

static void what_is_written_in_parts_is_read_whole(void **state) {
  (void)state;
  char path[32], read[12] = "";
  int fd = -1;
  make_path(path);
  assert_ok(tsr_io_create(path, &fd));
  struct iovec parts[] = {{(char[]){"abc"}, 3}, {NULL, 0}, {(char[]){"defgh"}, 5}};
  assert_ok(tsr_io_write_vector(fd, path, parts, 3, 2));
  assert_ok(tsr_io_read(fd, path, read, 8, 2));
  assert_string_equal(read, "abcdefgh");
  struct iovec places[] = {{read + 4, 4}, {read, 4}};
  assert_ok(tsr_io_read_vector(fd, path, places, 2, 2));
  assert_string_equal(read, "efghabcd");
  assert_ok(tsr_io_close(fd, path));
  unlink(path);
}

static void a_file_that_ends_too_early_is_said_with_the_byte(void **state) {
  (void)state;
  char path[32], read[8], message[96];
  int fd = -1;
  make_path(path);
  assert_ok(tsr_io_create(path, &fd));
  assert_ok(tsr_io_write(fd, path, "abc", 3, 0));
  snprintf(message, sizeof message, "%s: the file ends at byte 3, in the middle of its data", path);
  assert_fails(tsr_io_read(fd, path, read, 8, 0), BROKEN_FILE, message);
  assert_ok(tsr_io_close(fd, path));
  unlink(path);
}

static void a_missing_file_is_not_found(void **state) {
  (void)state;
  int fd = -1;
  assert_fails(tsr_io_open("/nowhere/x", &fd), NOT_FOUND, "/nowhere/x: there is no such file");
  assert_fails_with(tsr_io_sync_folder("/nowhere"), NOT_FOUND, "/nowhere");
  assert_fails_with(tsr_io_rename("/nowhere/x", "/nowhere/y"), NOT_FOUND, "/nowhere/y");
}

static void a_closed_descriptor_fails_with_the_reason(void **state) {
  (void)state;
  char bytes[4] = "";
  int64_t size = 0;
  assert_fails(tsr_io_read(-1, "x", bytes, 4, 0), IO, "x: cannot read: Bad file descriptor");
  assert_fails_with(tsr_io_write(-1, "x", bytes, 4, 0), IO, "x: cannot write");
  assert_fails_with(tsr_io_sync(-1, "x"), IO, "x: cannot bring it to the disk");
  assert_fails_with(tsr_io_reserve(-1, "x", 4), IO, "x: cannot set its size");
  assert_fails_with(tsr_io_size(-1, "x", &size), IO, "x: cannot ask for its size");
  assert_ok(tsr_io_close(-1, "x"));
}

static void space_is_reserved_and_reaches_the_disk(void **state) {
  (void)state;
  char path[32];
  int fd = -1;
  int64_t size = 0;
  make_path(path);
  assert_ok(tsr_io_create(path, &fd));
  assert_ok(tsr_io_reserve(fd, path, 5000));
  assert_ok(tsr_io_sync(fd, path));
  assert_ok(tsr_io_sync_folder("/tmp"));
  assert_ok(tsr_io_sync_folder("/proc"));  // which answers EINVAL
  assert_ok(tsr_io_size(fd, path, &size));
  assert_int_equal(size, 5000);
  assert_ok(tsr_io_reserve(fd, path, 0));
  assert_ok(tsr_io_close(fd, path));
  unlink(path);
}

static void files_beyond_the_limit_are_closed_and_opened_again(void **state) {
  (void)state;
  enum { COUNT = 5 };
  char names[COUNT][32];
  const char *paths[COUNT];
  tsr_files *files = NULL;
  for (int i = 0; i < COUNT; i++) {
    make_path(names[i]);
    paths[i] = names[i];
  }
  assert_ok(tsr_files_create(paths, COUNT, true, &files));
  files->open_limit = 2;
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < COUNT; i++) {
      int fd = -1;
      assert_ok(tsr_files_take(files, i, &fd));
      assert_ok(tsr_io_write(fd, tsr_files_path(files, i), "x", 1, round));
      tsr_files_give_back(files, i);
      assert_true(files->open_count <= 2);
    }
  int all[COUNT];  // more in use than the limit: opened all the same
  for (int i = 0; i < COUNT; i++) assert_ok(tsr_files_take(files, i, &all[i]));
  for (int i = 0; i < COUNT; i++) tsr_files_give_back(files, i);
  assert_ok(tsr_files_close(files));
  for (int i = 0; i < COUNT; i++) unlink(paths[i]);
}

// As many as the process may have are open before ours: those out of use make way.
static void files_make_room_for_what_others_have_open(void **state) {
  (void)state;
  enum { COUNT = 6, LIMIT = 40 };
  char names[COUNT][32];
  const char *paths[COUNT];
  struct rlimit before, few;
  int others[LIMIT], other_count = 0, fd = -1;
  tsr_files *files = NULL;
  for (int i = 0; i < COUNT; i++) {
    make_path(names[i]);
    paths[i] = names[i];
  }
  assert_ok(tsr_files_create(paths, COUNT, true, &files));
  for (int i = 0; i < 2; i++) {
    assert_ok(tsr_files_take(files, i, &fd));
    tsr_files_give_back(files, i);
  }
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
  few = before;
  few.rlim_cur = LIMIT;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
  while (other_count < LIMIT && (fd = dup(0)) >= 0) others[other_count++] = fd;
  for (int i = COUNT; i-- > 0;) {
    assert_ok(tsr_files_take(files, i, &fd));
    assert_ok(tsr_io_write(fd, paths[i], "x", 1, 0));
    tsr_files_give_back(files, i);
  }
  int all[2] = {-1, -1};  // with all in use, there is none that could make way
  assert_ok(tsr_files_take(files, 0, &all[0]));
  assert_ok(tsr_files_take(files, 1, &all[1]));
  assert_fails_with(tsr_files_take(files, 2, &fd), IO, "Too many open files");
  for (int i = 0; i < 2; i++) tsr_files_give_back(files, i);
  while (other_count > 0) close(others[--other_count]);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
  assert_ok(tsr_files_close(files));
  for (int i = 0; i < COUNT; i++) unlink(paths[i]);
}

SUITE(io, TEST(what_is_written_in_parts_is_read_whole),
      TEST(a_file_that_ends_too_early_is_said_with_the_byte), TEST(a_missing_file_is_not_found),
      TEST(a_closed_descriptor_fails_with_the_reason), TEST(space_is_reserved_and_reaches_the_disk),
      TEST(files_beyond_the_limit_are_closed_and_opened_again),
      TEST(files_make_room_for_what_others_have_open))
