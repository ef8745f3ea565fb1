// Reads a type or an attribute and prints it.
#ifndef TESSERA_TESTS_SYNTAX_ROUND_TRIP_H
#define TESSERA_TESTS_SYNTAX_ROUND_TRIP_H

#include <stddef.h>

// A text, and how it is printed; NULL = as it was read.
typedef struct printed_case {
  const char *text, *printed;
} printed_case;

// Each is printed so, and what is printed is printed as it is when read again.
void test_printed_types(const printed_case *cases, size_t count);
void test_printed_attrs(const printed_case *cases, size_t count);

// A text that is refused, and the message without its place in the text.
typedef struct refused_case {
  const char *text, *message;
} refused_case;
void test_refused_types(const refused_case *cases, size_t count);
void test_refused_attrs(const refused_case *cases, size_t count);

#endif
