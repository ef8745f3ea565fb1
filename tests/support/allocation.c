// Stands between the library and malloc, so that a test can make the nth allocation fail.
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *string);
char *__wrap_strndup(const char *string, size_t length);

// Allocations until the failing one; negative = none fails. Per thread, so that workers are spared.
static _Thread_local long until_failure = -1;
static _Thread_local bool has_failed;

static bool fails_now(void) {
  if (until_failure < 0 || until_failure-- > 0) return false;
  has_failed = true;
  return true;
}

void *__wrap_malloc(size_t size) { return fails_now() ? NULL : __real_malloc(size); }

void *__wrap_calloc(size_t count, size_t size) {
  return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size) {
  return fails_now() ? NULL : __real_realloc(old, size);
}

char *__wrap_strndup(const char *string, size_t length) {
  length = strnlen(string, length);
  char *copy = __wrap_malloc(length + 1);
  if (!copy) return NULL;
  copy[length] = '\0';
  return memcpy(copy, string, length);
}

char *__wrap_strdup(const char *string) { return __wrap_strndup(string, strlen(string)); }

void test_allocation_sweep(tsr_status (*body)(void *context), void *context) {
  for (long nth = 0;; nth++) {
    has_failed = false;
    until_failure = nth;
    tsr_status status = body(context);
    until_failure = -1;
    const tsr_cause cause = tsr_status_cause(status);
    tsr_status_free(status);
    if (!has_failed) {
      assert_int_equal(cause, TSR_CAUSE_NONE);
      assert_true(nth > 0);  // a body that allocates nothing tests nothing
      return;
    }
    assert_int_equal(cause, TSR_CAUSE_NO_MEMORY);
  }
}
