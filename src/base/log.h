// Writing to the process's log.
#ifndef TESSERA_BASE_LOG_H
#define TESSERA_BASE_LOG_H

#include "tessera/log.h"

void tsr_log_line(const char *line);  // without a newline

#endif
