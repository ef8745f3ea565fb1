// Any thread adds; only the thread that began the job reports, when it adds and the interval is
// over. (In a pool that thread is worker 0, so it keeps adding.) The bar keeps no state: every
// report redraws the whole line.
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/progress_internal.h"
#include "base/text_internal.h"
#include "tessera/checkpoint/progress.h"
#include "tessera/status.h"
#include "tessera/text.h"

struct tsr_progress {
  char *job, *unit;
  int64_t total;
  double interval, began, reported;
  tsr_progress_fn *fn;
  void *context;
  pthread_t reporter;
  _Atomic int64_t done;
  atomic_bool stopped;
};

double tsr_now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void report(tsr_progress *p, double at, bool finished) {
  const tsr_progress_report report = {.job = p->job,
                                      .unit = p->unit,
                                      .done = atomic_load(&p->done),
                                      .total = p->total,
                                      .seconds = at - p->began,
                                      .finished = finished};
  p->reported = at;
  if (p->fn && !p->fn(p->context, &report)) atomic_store(&p->stopped, true);
}

static void destroy(tsr_progress *p) {
  free(p->job);
  free(p->unit);
  free(p);
}

tsr_status tsr_progress_create(const char *job, const char *unit, int64_t total, double interval,
                               tsr_progress_fn *fn, void *context, tsr_progress **out_progress) {
  tsr_progress *p = calloc(1, sizeof *p);
  if (!p) return tsr_fail(NO_MEMORY, "progress of %s", job);
  p->job = strdup(job);
  p->unit = strdup(unit);
  if (!p->job || !p->unit) {
    destroy(p);
    return tsr_fail(NO_MEMORY, "progress of %s", job);
  }
  p->total = total;
  p->interval = interval;
  p->fn = fn;
  p->context = context;
  p->reporter = pthread_self();
  p->began = p->reported = tsr_now();
  *out_progress = p;
  return NULL;
}

bool tsr_progress_add(tsr_progress *progress, int64_t amount) {
  if (!progress) return true;
  atomic_fetch_add_explicit(&progress->done, amount, memory_order_relaxed);
  if (progress->fn && pthread_equal(pthread_self(), progress->reporter)) {
    const double at = tsr_now();
    if (at - progress->reported >= progress->interval) report(progress, at, false);
  }
  return !atomic_load_explicit(&progress->stopped, memory_order_relaxed);
}

void tsr_progress_finish(tsr_progress *progress) {
  if (!progress) return;
  report(progress, tsr_now(), true);
  destroy(progress);
}

// The line.

// Three digits that matter: 999 B, 1.23 kB, 45.6 MB. Other units are counted in full.
static void add_amount(tsr_text *out, double amount, const char *unit) {
  static const char *const sizes[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  enum { LAST = sizeof sizes / sizeof *sizes - 1 };
  if (strcmp(unit, "B") != 0) {
    tsr_text_addf(out, amount < 9.95 && amount != floor(amount) ? "%.1f %s" : "%.0f %s", amount,
                  unit);
    return;
  }
  int size = 0;
  for (; amount >= 999.5 && size < LAST; size++) amount /= 1000;
  const int digits = !size || amount >= 99.95 ? 0 : amount >= 9.995 ? 1 : 2;
  tsr_text_addf(out, "%.*f %s", digits, amount, sizes[size]);
}

static void add_time(tsr_text *out, double seconds) {
  const int64_t whole = seconds < 1e9 ? (int64_t)(seconds + 0.5) : (int64_t)1e9;
  if (whole >= 3600)
    tsr_text_addf(out, "%lld:%02d:%02d", (long long)(whole / 3600), (int)(whole / 60 % 60),
                  (int)(whole % 60));
  else
    tsr_text_addf(out, "%d:%02d", (int)(whole / 60), (int)(whole % 60));
}

static double part_done(const tsr_progress_report *r) {
  if (r->total <= 0) return 0;
  const double fraction = (double)r->done / (double)r->total;
  return fraction < 0 ? 0 : fraction > 1 ? 1 : fraction;
}

// "1.20 GB of 2.66 GB", "3 of 10 tensors"; at the end, and without a total, what was done.
static void add_amounts(tsr_text *out, const tsr_progress_report *r) {
  const bool of_total = r->total > 0 && !r->finished;
  if (of_total && strcmp(r->unit, "B") != 0)
    tsr_text_add_int(out, r->done);
  else
    add_amount(out, (double)r->done, r->unit);
  if (!of_total) return;
  tsr_text_add(out, " of ");
  add_amount(out, (double)r->total, r->unit);
}

// What stands right of the bar: amount, rate and time.
static void add_numbers(tsr_text *out, const tsr_progress_report *r) {
  const double rate = r->seconds > 0 ? (double)r->done / r->seconds : 0;
  add_amounts(out, r);
  if (rate > 0) {
    tsr_text_add(out, "  ");
    add_amount(out, rate, r->unit);
    tsr_text_add(out, "/s");
  }
  tsr_text_add(out, "  ");
  if (r->finished || r->total <= 0 || rate <= 0) {
    if (r->finished) tsr_text_add(out, "in ");
    add_time(out, r->seconds);
  } else {
    add_time(out, r->done < r->total ? (double)(r->total - r->done) / rate : 0);
    tsr_text_add(out, " left");
  }
}

// Fills the columns that are left between the name and the numbers, if they suffice to see
// anything.
static void add_bar(tsr_text *out, double fraction, long columns) {
  enum { NARROWEST = 8, WIDEST = 40 };
  const long room = columns > WIDEST ? WIDEST : columns;
  if (room < NARROWEST) return;
  const long filled = (long)(fraction * (double)(room - 2));
  tsr_text_add_char(out, '[');
  for (long i = 0; i < room - 2; i++) tsr_text_add_char(out, i < filled ? '#' : '.');
  tsr_text_add(out, "]  ");
}

void tsr_progress_line(const tsr_progress_report *report, int width, char *out, size_t out_size) {
  if (!out_size) return;
  tsr_text line = TSR_TEXT_EMPTY, numbers = TSR_TEXT_EMPTY;
  add_numbers(&numbers, report);
  tsr_text_addf(&line, "%s  ", report->job);
  if (report->total > 0) {
    tsr_text_addf(&line, "%3.0f%%  ", floor(part_done(report) * 100));
    add_bar(&line, part_done(report), (long)width - (long)(line.length + numbers.length) - 2);
  }
  tsr_text_add(&line, tsr_text_string(&numbers));
  size_t length = line.length < out_size ? line.length : out_size - 1;
  if (length > (size_t)(width > 0 ? width : 0)) length = (size_t)(width > 0 ? width : 0);
  // Not through the middle of a character.
  while (length && length < line.length && ((unsigned char)line.data[length] & 0xc0) == 0x80)
    length--;
  memcpy(out, tsr_text_string(&line), length);
  out[length] = '\0';
  tsr_text_deinit(&line);
  tsr_text_deinit(&numbers);
}

static int terminal_width(int file) {
  struct winsize size;
  return !ioctl(file, TIOCGWINSZ, &size) && size.ws_col ? size.ws_col : 80;
}

bool tsr_progress_bar(void *context, const tsr_progress_report *report) {
  static const double SILENT_SECONDS = 2;
  FILE *const file = context;
  if (report->seconds < SILENT_SECONDS || !isatty(fileno(file))) return true;
  char line[512];
  // One column less than there are: some terminals break the line after the last one.
  tsr_progress_line(report, terminal_width(fileno(file)) - 1, line, sizeof line);
  fprintf(file, "\r%s\033[K%s", line, report->finished ? "\n" : "");
  fflush(file);
  return true;
}
