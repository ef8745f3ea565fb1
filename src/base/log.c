// The log is the only state of the library that a whole process shares. Its mutex is held while a
// line is written, so that lines do not mix and a replaced receiver is no longer running. It is
// recursive, because a receiver may use the library.
#include "base/log.h"

#include <pthread.h>
#include <stdio.h>

static struct {
  pthread_once_t once;
  pthread_mutex_t mutex;  // guards all below
  tsr_log_fn *log;        // NULL = stderr
  void *context;
} process_log = {.once = PTHREAD_ONCE_INIT};

static void begin(void) {
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&process_log.mutex, &recursive);
  pthread_mutexattr_destroy(&recursive);
}

static void lock(void) {
  pthread_once(&process_log.once, begin);
  pthread_mutex_lock(&process_log.mutex);
}

void tsr_log_set(tsr_log_fn *log, void *context) {
  lock();
  process_log.log = log;
  process_log.context = context;
  pthread_mutex_unlock(&process_log.mutex);
}

void tsr_log_line(const char *line) {
  lock();
  if (process_log.log)
    process_log.log(process_log.context, line);
  else
    fprintf(stderr, "%s\n", line);
  pthread_mutex_unlock(&process_log.mutex);
}
