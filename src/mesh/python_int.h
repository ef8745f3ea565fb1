// Integers as Python's int() reads them from text, for the text forms of Python libraries.
#ifndef TESSERA_MESH_PYTHON_INT_H
#define TESSERA_MESH_PYTHON_INT_H

#include <stddef.h>
#include <stdint.h>

#include "tessera/status.h"

// Spaces around, a sign, and single underscores between digits are fine: " +1_000 ". Numbers beyond
// 64 bits become the nearest there is: they are too large for what any caller wants. Fails with
// not_an_integer.
TSR_MUST_USE tsr_status tsr_python_int(const char *text, size_t length, int64_t *out_value);

#endif
