// Each thread has one stack of entered scopes. Entries of one kind are linked outwards, so that the
// innermost value of a kind is found at once however deep the stack is. Values set outside every
// scope lie in `lasting`, below the stack, where leaving scope 0 does not reach them.
#include "base/scope.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/grow.h"
#include "tessera/compat/scope.h"
#include "tessera/status.h"

typedef struct scope_value {
  void *value;
  void (*release)(void *);
} scope_value;

typedef struct scope_entry {
  scope_value held;
  tsr_scope_kind kind;
  int outer;  // index + 1 of the next entry of this kind further out; 0 = none
} scope_entry;

typedef struct scope_stack {
  scope_entry *entries;
  int depth;
  int64_t capacity;
  int innermost[TSR_SCOPE_KIND_COUNT];  // index + 1; 0 = none
  scope_value lasting[TSR_SCOPE_KIND_COUNT];
  bool watched;  // freed when the thread ends
} scope_stack;

static _Thread_local scope_stack scopes;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t thread_end;
static int key_error;

static void drop(scope_value *held) {
  if (held->value && held->release) held->release(held->value);
  *held = (scope_value){NULL, NULL};
}

static void leave_all(void *unused) {
  (void)unused;
  tsr_scope_leave(0);
  for (int kind = 0; kind < TSR_SCOPE_KIND_COUNT; kind++) drop(&scopes.lasting[kind]);
  free(scopes.entries);
  scopes = (scope_stack){0};
}

static void make_key(void) { key_error = pthread_key_create(&thread_end, leave_all); }

// Has `leave_all` called at the end of this thread. The key's value only has to be non-NULL.
static tsr_status watch_thread(void) {
  if (scopes.watched) return NULL;
  pthread_once(&once, make_key);
  if (key_error || pthread_setspecific(thread_end, &scopes))
    return tsr_fail(NO_MEMORY, "scopes of a thread");
  scopes.watched = true;
  return NULL;
}

static tsr_status make_room(void) {
  if (scopes.depth == INT_MAX)
    return tsr_fail(TOO_LARGE, "%d scopes are entered and not left", scopes.depth);
  scope_entry *entries = tsr_grow(scopes.entries, scopes.depth, &scopes.capacity, sizeof *entries);
  if (!entries) return tsr_fail(NO_MEMORY, "%d scopes", scopes.depth);
  scopes.entries = entries;
  return NULL;
}

static scope_value *innermost(tsr_scope_kind kind) {
  const int place = scopes.innermost[kind];
  return place ? &scopes.entries[place - 1].held : &scopes.lasting[kind];
}

tsr_status tsr_scope_enter(tsr_scope_kind kind, void *value, void (*release)(void *),
                           tsr_scope *out_scope) {
  TSR_TRY(watch_thread());
  TSR_TRY(make_room());
  const int index = scopes.depth++;
  scopes.entries[index] = (scope_entry){{value, release}, kind, scopes.innermost[kind]};
  scopes.innermost[kind] = index + 1;
  *out_scope = index;
  return NULL;
}

void *tsr_scope_current(tsr_scope_kind kind) { return innermost(kind)->value; }

tsr_status tsr_scope_set(tsr_scope_kind kind, void *value, void (*release)(void *)) {
  TSR_TRY(watch_thread());
  scope_value *held = innermost(kind);
  scope_value old = *held;
  *held = (scope_value){value, release};
  drop(&old);  // last, since releasing it may run code that asks for the current value
  return NULL;
}

void tsr_scope_leave(tsr_scope scope) {
  while (scopes.depth > scope && scopes.depth > 0) {
    scope_entry left = scopes.entries[--scopes.depth];
    scopes.innermost[left.kind] = left.outer;
    drop(&left.held);
  }
}

tsr_scope tsr_scope_mark(void) { return scopes.depth; }
