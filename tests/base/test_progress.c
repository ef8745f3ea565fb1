#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/progress_internal.h"
#include "support/test.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/engine/pool.h"

typedef struct receiver {
  int calls, finished, stop_after;
  tsr_progress_report last;
} receiver;

static bool receive(void *context, const tsr_progress_report *report) {
  receiver *r = context;
  r->calls++;
  r->finished += report->finished;
  assert_true(report->done >= r->last.done && report->seconds >= r->last.seconds);
  r->last = *report;
  return !r->stop_after || r->calls < r->stop_after;
}

static void every_interval_and_the_end_are_reported(void **state) {
  (void)state;
  receiver r = {0};
  tsr_progress *progress;
  assert_ok(tsr_progress_create("copy", "B", 100, 0, receive, &r, &progress));
  assert_true(tsr_progress_add(progress, 30));
  assert_int_equal(r.last.done, 30);
  assert_int_equal(r.last.total, 100);
  assert_true(tsr_progress_add(progress, 70));
  assert_int_equal(r.finished, 0);
  tsr_progress_finish(progress);
  assert_int_equal(r.calls, 3);
  assert_int_equal(r.finished, 1);
  assert_int_equal(r.last.done, 100);

  receiver rare = {0};
  assert_ok(tsr_progress_create("copy", "B", 100, 3600, receive, &rare, &progress));
  for (int i = 0; i < 100; i++) assert_true(tsr_progress_add(progress, 1));
  tsr_progress_finish(progress);
  assert_int_equal(rare.calls, 1);
}

static void the_receiver_can_stop_the_job(void **state) {
  (void)state;
  receiver r = {.stop_after = 2};
  tsr_progress *progress;
  assert_ok(tsr_progress_create("copy", "B", 0, 0, receive, &r, &progress));
  assert_true(tsr_progress_add(progress, 1));
  assert_false(tsr_progress_add(progress, 1));
  assert_false(tsr_progress_add(progress, 1));
  tsr_progress_finish(progress);
}

static void without_a_job_or_a_receiver_nothing_happens(void **state) {
  (void)state;
  tsr_progress *progress;
  assert_true(tsr_progress_add(NULL, 1));
  tsr_progress_finish(NULL);
  assert_ok(tsr_progress_create("copy", "B", 0, 0, NULL, NULL, &progress));
  assert_true(tsr_progress_add(progress, 1));
  tsr_progress_finish(progress);
}

static tsr_status add_task(void *context, int64_t index, int worker) {
  (void)index;
  (void)worker;
  tsr_progress_add(context, 2);
  return NULL;
}

// The receiver of this file takes no locks, so a sanitizer would see a report from another thread.
static void all_threads_add_but_one_reports(void **state) {
  (void)state;
  receiver r = {0};
  tsr_pool *pool;
  tsr_progress *progress;
  assert_ok(tsr_pool_create(4, &pool));
  assert_ok(tsr_progress_create("copy", "B", 2000, 0, receive, &r, &progress));
  assert_ok(tsr_pool_run(pool, 1000, add_task, progress));
  tsr_progress_finish(progress);
  assert_int_equal(r.last.done, 2000);
  tsr_pool_destroy(pool);
}

static const struct {
  tsr_progress_report report;
  int width;
  const char *line;
} lines[] = {
    {{"reshard", "B", 1200000000, 2660000000, 4, false},
     80,
     "reshard   45%  [#########.............]  1.20 GB of 2.66 GB  300 MB/s  0:05 left"},
    {{"reshard", "B", 1200000000, 2660000000, 4, false},
     120,
     "reshard   45%  [#################.....................]  1.20 GB of 2.66 GB  300 MB/s  "
     "0:05 left"},
    {{"reshard", "B", 1200000000, 2660000000, 4, false},
     60,
     "reshard   45%  1.20 GB of 2.66 GB  300 MB/s  0:05 left"},
    {{"reshard", "B", 1200000000, 2660000000, 4, false}, 20, "reshard   45%  1.20 "},
    {{"reshard", "B", 1200000000, 2660000000, 4, false}, 0, ""},
    {{"reshard", "B", 2664000000, 2664000000, 8, true},
     60,
     "reshard  100%  [###############]  2.66 GB  333 MB/s  in 0:08"},
    {{"check", "tensors", 30, 0, 20, false}, 80, "check  30 tensors  1.5 tensors/s  0:20"},
    {{"check", "tensors", 0, 10, 5, false},
     80,
     "check    0%  [......................................]  0 of 10 tensors  0:05"},
    {{"check", "tensors", 12, 10, 4, false},
     60,
     "check  100%  12 of 10 tensors  3 tensors/s  0:00 left"},
    {{"read", "B", 999, 0, 0, false}, 80, "read  999 B  0:00"},
    {{"read", "B", 999600, 0, 4000, true}, 80, "read  1.00 MB  250 B/s  in 1:06:40"},
    {{"read", "B", 1, 1000000000000000, 10000, false},
     80,
     "read    0%  [........................]  1 B of 1.00 PB  0 B/s  277777:46:40 left"},
    {{"caf\u00e9", "B", 0, 0, 3, false}, 4, "caf"},
};

static void lines_fit_the_width(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT_OF(lines); i++) {
    char line[200];
    tsr_progress_line(&lines[i].report, lines[i].width, line, sizeof line);
    assert_string_equal(line, lines[i].line);
    assert_true(strlen(line) <= (size_t)lines[i].width);
    char small[8] = "untouch";
    tsr_progress_line(&lines[i].report, lines[i].width, small, sizeof small);
    assert_int_equal(strlen(small) <= 7 && !strncmp(small, lines[i].line, strlen(small)), 1);
    tsr_progress_line(&lines[i].report, lines[i].width, small, 0);
  }
}

static void bars_stay_silent_off_terminals(void **state) {
  (void)state;
  FILE *file = tmpfile();
  assert_non_null(file);
  assert_true(tsr_progress_bar(file, &(tsr_progress_report){"copy", "B", 1, 2, 10, true}));
  assert_int_equal(ftell(file), 0);
  fclose(file);
}

// Opens a terminal of 60 columns; what is written to `*out_file` comes out of the returned end.
static int open_terminal(FILE **out_file) {
  const int master = posix_openpt(O_RDWR | O_NOCTTY);
  if (master < 0 || grantpt(master) || unlockpt(master)) return -1;
  const int slave = open(ptsname(master), O_RDWR | O_NOCTTY);
  if (slave < 0) return -1;
  struct termios raw;
  assert_int_equal(tcgetattr(slave, &raw), 0);
  cfmakeraw(&raw);
  assert_int_equal(tcsetattr(slave, TCSANOW, &raw), 0);
  assert_int_equal(ioctl(slave, TIOCSWINSZ, &(struct winsize){.ws_row = 24, .ws_col = 60}), 0);
  *out_file = fdopen(slave, "w");
  return master;
}

static void bars_are_drawn_on_terminals_after_two_seconds(void **state) {
  (void)state;
  FILE *file = NULL;
  const int master = open_terminal(&file);
  if (master < 0) skip();
  tsr_progress_report report = {"copy", "B", 500, 1000, 1.9, false};
  assert_true(tsr_progress_bar(file, &report));
  report.seconds = 5;
  assert_true(tsr_progress_bar(file, &report));
  report.finished = true;
  assert_true(tsr_progress_bar(file, &report));
  char drawn[400] = "";
  for (size_t length = 0; !strchr(drawn, '\n');) {
    const ssize_t got = read(master, drawn + length, sizeof drawn - 1 - length);
    assert_true(got > 0);
    length += (size_t)got;
  }
  assert_string_equal(drawn,
                      "\rcopy   50%  [###....]  500 B of 1.00 kB  100 B/s  0:05 left\033[K"
                      "\rcopy   50%  [##########..........]  500 B  100 B/s  in 0:05\033[K\n");
  fclose(file);
  close(master);
}

static tsr_status create_once(void *context) {
  (void)context;
  tsr_progress *progress;
  TSR_TRY(tsr_progress_create("copy", "B", 1, 1, NULL, NULL, &progress));
  tsr_progress_finish(progress);
  return NULL;
}

static void creating_survives_running_out_of_memory(void **state) {
  (void)state;
  test_allocation_sweep(create_once, NULL);
}

SUITE(progress, TEST(every_interval_and_the_end_are_reported), TEST(the_receiver_can_stop_the_job),
      TEST(without_a_job_or_a_receiver_nothing_happens), TEST(all_threads_add_but_one_reports),
      TEST(lines_fit_the_width), TEST(bars_stay_silent_off_terminals),
      TEST(bars_are_drawn_on_terminals_after_two_seconds),
      TEST(creating_survives_running_out_of_memory))
