// Log: what the library has to say beside its results. It says nothing unless it is asked to: the
// corrections of specs, with LOG_SHARDING_MOVE (tessera/spec.h).
#ifndef TESSERA_LOG_H
#define TESSERA_LOG_H

#include "tessera/api.h"

TSR_BEGIN_DECLS

// Takes one line of a log, without its end.
typedef void tsr_log_fn(void *context, const char *line);

// Where the lines of the whole process go from now on; NULL = to stderr, as at the beginning. From
// any thread. Lines come one at a time, from the threads that have something to say; when this
// returns, the function before is not running, unless it is the caller, and is not called again.
TSR_API void tsr_log_set(tsr_log_fn *log, void *context);

TSR_END_DECLS

#endif
