// The names of values that can be seen at a place of the text, found by hash.
//
// Entries form a stack: leaving a region takes its names back. Names below `floor` are hidden, as
// those outside an isolated op are.
#ifndef TESSERA_SYNTAX_VALUE_SCOPE_H
#define TESSERA_SYNTAX_VALUE_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/ir.h"

typedef struct tsr_forward_use {
  tsr_value value;  // stands for the one that is not defined yet
  int64_t number;   // "#1"; -1 = none
  const char *at;
  struct tsr_forward_use *next;
} tsr_forward_use;

typedef enum tsr_scope_state {
  TSR_SCOPE_DEFINED,
  TSR_SCOPE_LOST,    // its op failed
  TSR_SCOPE_FORWARD  // used before its definition
} tsr_scope_state;

typedef struct tsr_scope_entry {
  const char *name;  // in the text, or of the program
  size_t length;
  uint32_t hash;
  tsr_scope_state state;
  tsr_value *values;  // DEFINED: the results, or the argument
  int count;
  const char *at;            // of the definition
  tsr_forward_use *forward;  // FORWARD: the newest first
} tsr_scope_entry;

typedef struct tsr_value_scope {
  tsr_scope_entry *entries;  // a stack
  int64_t count, capacity;
  int64_t floor;    // entries below are hidden
  uint32_t *slots;  // positions + 1 in `entries`; 0 = free
  size_t mask;
} tsr_value_scope;

void tsr_value_scope_deinit(tsr_value_scope *scope);
tsr_scope_entry *tsr_value_scope_find(const tsr_value_scope *scope, const char *name,
                                      size_t length);  // NULL = none that can be seen
// Adds a name that cannot be seen yet; NULL without memory.
tsr_scope_entry *tsr_value_scope_add(tsr_value_scope *scope, const char *name, size_t length);
// Takes back all but the first `count` entries.
void tsr_value_scope_cut(tsr_value_scope *scope, int64_t count);

#endif
