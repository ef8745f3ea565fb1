// Faults in calls of the system, injected where the library calls them.
//
// Calls are counted from 1, those on files outside the folder of the test left out. No call waits
// for the disk: what a killed process has written is there all the same.
#ifndef TESSERA_TESTS_FAULTS_INJECT_H
#define TESSERA_TESTS_FAULTS_INJECT_H

#include <stdbool.h>

typedef enum inject_kind {
  INJECT_NOTHING,
  INJECT_KILL_BEFORE,   // the process ends instead of the call, if it is one that changes something
  INJECT_KILL_HALFWAY,  // a write ends the process when half of it is done; other calls as above
  INJECT_ERROR,         // the call fails with `error`
  INJECT_SHORT,         // every read and write does half of what it was asked, or less
  INJECT_NO_EXCHANGE,   // two things cannot change places, as on some file systems
  INJECT_INTERRUPT      // every call that may be interrupted is, before it succeeds
} inject_kind;

// Counts from here on. The call number `at` is hit (0 = none, or for the last two kinds all).
void inject_begin(inject_kind kind, long at, int error);
// Ends it. Whether the call was reached, and what it was.
bool inject_end(const char **out_call);
// The exit code of a process that was killed.
enum { INJECT_KILLED = 77 };

#endif
