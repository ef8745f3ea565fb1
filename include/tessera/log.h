// Log: messages beside results. The library logs nothing by default; with LOG_SHARDING_MOVE it logs
// the corrections of specs (tessera/engine/sharding.h).
#ifndef TESSERA_LOG_H
#define TESSERA_LOG_H

#include "tessera/api.h"

TSR_BEGIN_DECLS

// Receives one line, without its newline.
typedef void tsr_log_fn(void *context, const char *line);

// Sets the receiver of all lines of the process; NULL = stderr, the default. Any thread may call
// this. Lines arrive one at a time, from the threads that log. When this returns, the previous
// receiver is not called again and is not running, unless it made this call.
TSR_API void tsr_log_set(tsr_log_fn *log, void *context);

TSR_END_DECLS

#endif
