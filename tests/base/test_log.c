#include "base/log.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text_internal.h"
#include "support/test.h"
#include "tessera/text.h"

static void take_line(void *context, const char *line) { tsr_text_addf(context, "[%s]", line); }

static void lines_go_where_they_are_sent(void **state) {
  (void)state;
  tsr_text first = TSR_TEXT_EMPTY, second = TSR_TEXT_EMPTY;
  tsr_log_set(take_line, &first);
  tsr_log_line("one");
  tsr_log_line("two");
  tsr_log_set(take_line, &second);
  tsr_log_line("three %s");
  tsr_log_set(NULL, NULL);
  assert_string_equal(tsr_text_string(&first), "[one][two]");
  assert_string_equal(tsr_text_string(&second), "[three %s]");
  tsr_text_deinit(&first);
  tsr_text_deinit(&second);
}

// What a function writes to stderr.
static void capture(void (*write_it)(void), char *out, size_t size) {
  FILE *file = tmpfile();
  assert_non_null(file);
  fflush(stderr);
  const int saved = dup(STDERR_FILENO);
  assert_true(saved >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
  write_it();
  fflush(stderr);
  assert_true(dup2(saved, STDERR_FILENO) >= 0);
  close(saved);
  rewind(file);
  out[fread(out, 1, size - 1, file)] = '\0';
  fclose(file);
}

static void say_hello(void) { tsr_log_line("hello"); }

static void lines_go_to_stderr_unless_said_otherwise(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  char found[64];
  capture(say_hello, found, sizeof found);
  assert_string_equal(found, "hello\n");
  tsr_log_set(take_line, &text);
  capture(say_hello, found, sizeof found);
  assert_string_equal(found, "");
  tsr_log_set(NULL, NULL);
  capture(say_hello, found, sizeof found);
  assert_string_equal(found, "hello\n");
  tsr_text_deinit(&text);
}

// A function that uses the library: it logs one more line, and ends the log.
static void take_and_end(void *context, const char *line) {
  take_line(context, line);
  if (strcmp(line, "again") != 0) tsr_log_line("again");
  tsr_log_set(take_line, context);
}

static void a_log_may_log(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  tsr_log_set(take_and_end, &text);
  tsr_log_line("first");
  tsr_log_line("last");
  tsr_log_set(NULL, NULL);
  assert_string_equal(tsr_text_string(&text), "[first][again][last]");
  tsr_text_deinit(&text);
}

static void *log_many(void *name) {
  for (int i = 0; i < 500; i++) tsr_log_line(name);
  return NULL;
}

static void lines_of_threads_come_one_at_a_time(void **state) {
  (void)state;
  tsr_text text = TSR_TEXT_EMPTY;
  pthread_t threads[4];
  char names[4][2] = {"a", "b", "c", "d"};
  tsr_log_set(take_line, &text);
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, log_many, names[i]), 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  tsr_log_set(NULL, NULL);
  const char *found = tsr_text_string(&text);
  assert_int_equal(strlen(found), 4 * 500 * 3);
  for (size_t i = 0; i < strlen(found); i += 3) {
    assert_int_equal(found[i], '[');
    assert_int_equal(found[i + 2], ']');
  }
  tsr_text_deinit(&text);
}

SUITE(log, TEST(lines_go_where_they_are_sent), TEST(lines_go_to_stderr_unless_said_otherwise),
      TEST(a_log_may_log), TEST(lines_of_threads_come_one_at_a_time))
