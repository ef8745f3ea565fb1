// Failure: NULL is success, anything else explains itself.
//
// Every function that can fail returns a tsr_status. A failure has a *cause* (one entry of
// causes.def, for programs), a *code* (the kind of failure, for exit codes) and a *message* (for
// people: the thing, the value found, the value expected). Callers add notes that say where it
// happened. A failure in a text also shows the line of the text, with a caret below the place.
//
//   tsr_mesh *mesh = NULL;
//   tsr_status status = tsr_mesh_parse("data=4,model=2", NULL, &mesh);
//   if (status) {
//     fprintf(stderr, "%s\n", tsr_status_text(status));
//     tsr_status_free(status);
//   }
//
// One contract holds for every function of the library; a comment says where one differs:
//
// - A tsr_status of NULL is success. Any other value is a failure, which the caller frees.
// - Outputs (`out_...`, always last) are written on success only. After a failure they keep their
//   previous values, and objects that the call had made are freed. Exceptions: memory for elements
//   and bytes (`host`, `out`), and texts that are appended to, may be partly written.
// - A pointer must not be NULL unless the comment says what NULL means. Everywhere: NULL options
//   are the defaults; NULL can be released, destroyed, freed and deinitialised; a callback's
//   `context`, arrays of no elements and data of no bytes may be NULL. All other pointers are
//   marked TSR_NONNULL (tessera/api.h): compilers warn about NULL, and the library may crash.
// - Values are checked. Functions that return a status fail for an index outside 0 to count - 1
//   (index_out_of_range), an unlisted enum value and a negative count (bad_argument), and name the
//   value and the range. NULL for data or a list that is not empty is bad_argument too. Dtypes,
//   axis types and modes have causes of their own, such as unknown_dtype.
// - Functions that return a plain value cannot fail. For an index out of range or an unlisted enum
//   value they return NULL (a pointer), -1 (an index, position, device or process) or 0 (false, a
//   struct of zeros), and do not write outputs. `find` functions that miss return the same.
// - Shared handles (retain and release) are immutable and safe to use, retain and release from any
//   number of threads; exceptions are documented at the typedef. A struct in the caller's memory
//   (tsr_text, options, reports) and a status are used by one thread at a time.
#ifndef TESSERA_STATUS_H
#define TESSERA_STATUS_H

#include <stdbool.h>
#include <stddef.h>

#include "tessera/api.h"

TSR_BEGIN_DECLS

// One entry per kind of failure, with its number, which never changes: makes the enum, its names
// and the command's exit codes.
#define TSR_CODES(X)                 \
  X(INVALID, 1, "invalid input")     \
  X(NOT_FOUND, 2, "not found")       \
  X(UNSUPPORTED, 3, "not supported") \
  X(NO_MEMORY, 4, "out of memory")   \
  X(IO, 5, "input or output failed") \
  X(COMM, 6, "communication failed") \
  X(CANCELLED, 7, "cancelled")
#define TSR_ENUMERATOR_(id, number, text) TSR_CODE_##id = (number),
typedef enum tsr_code { TSR_CODE_OK = 0, TSR_CODES(TSR_ENUMERATOR_) } tsr_code;
#undef TSR_ENUMERATOR_

// The exact cause: TSR_CAUSE_INDIVISIBLE and so on, from tessera/causes.def. Their numbers
// never change; a later library may return causes that are not listed here.
#define TSR_CAUSE_ROW(number, id, code, slug, alias) TSR_CAUSE_##id = (number),
typedef enum tsr_cause {
  TSR_CAUSE_NONE = 0,
#include "tessera/causes.def"
} tsr_cause;
#undef TSR_CAUSE_ROW

typedef struct tsr_failure *tsr_status;

// The message with its notes, and for texts the line and a caret, after newlines; "" for NULL.
// Valid until the status is freed.
TSR_API const char *tsr_status_text(tsr_status status);
TSR_API tsr_code tsr_status_code(tsr_status status);    // TSR_CODE_OK for NULL
TSR_API tsr_cause tsr_status_cause(tsr_status status);  // TSR_CAUSE_NONE for NULL
TSR_API void tsr_status_free(tsr_status status);        // NULL is fine
// For the end of main: prints the failure to stderr, frees it, and returns the exit code that the
// command uses: 0 for NULL, else 2 + its code (3 for invalid input, 4 for not found, ...).
//   int main(void) { return tsr_status_exit(run()); }
TSR_API int tsr_status_exit(tsr_status status);

// "indivisible"; "" for TSR_CAUSE_NONE and for other values.
TSR_API const char *tsr_cause_slug(tsr_cause cause);

// Raising and passing on. `tsr_fail` never returns NULL: when there is no memory for its message,
// it returns a static out-of-memory failure.
#define tsr_fail(cause, ...) tsr_fail_at(TSR_CAUSE_##cause, __FILE__, __LINE__, __VA_ARGS__)
TSR_API TSR_MUST_USE TSR_NEVER_NULL TSR_NONNULL TSR_PRINTF(4, 5) tsr_status
    tsr_fail_at(tsr_cause cause, const char *file, int line, const char *format, ...);
// Adds where it happened: "in rule 3: ..." reads before the message. NULL stays NULL.
TSR_API TSR_MUST_USE TSR_NONNULL_AT(2) TSR_PRINTF(2, 3) tsr_status
    tsr_note(tsr_status status, const char *format, ...);

// Tells the static analyser, which sees one file at a time, that a raised failure is never NULL. A
// function would tell it only as long as it follows calls.
#ifdef __clang_analyzer__
#define tsr_raised(call)                   \
  __extension__({                          \
    tsr_status raised_ = (call);           \
    if (!raised_) __builtin_unreachable(); \
    raised_;                               \
  })
#undef tsr_fail
#define tsr_fail(cause, ...) \
  tsr_raised(tsr_fail_at(TSR_CAUSE_##cause, __FILE__, __LINE__, __VA_ARGS__))
#else
#define tsr_raised(call) (call)
#endif

#define TSR_TRY(call)       \
  do {                      \
    tsr_status s_ = (call); \
    if (s_) return s_;      \
  } while (0)
#define TSR_TRY_NOTE(call, ...)                           \
  do {                                                    \
    tsr_status s_ = (call);                               \
    if (s_) return tsr_raised(tsr_note(s_, __VA_ARGS__)); \
  } while (0)

TSR_END_DECLS

#endif
