// FlatBuffers, read without a schema compiler: tables with numbered slots, lists and strings.
//
// A table begins with the distance to its vtable, which says for every slot where its field stands
// in the table, or that it is absent. Fields that hold tables, lists or strings are distances to
// them. Nothing is copied. Every position is checked before it is read, and the work is bounded:
// distances may form a graph in which a small file describes an endless tree, so reading draws on
// an allowance that is proportional to the file.
#ifndef TESSERA_BYTECODE_FLATBUFFER_H
#define TESSERA_BYTECODE_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tessera/status.h"

typedef struct tsr_flat {
  const unsigned char *bytes;
  size_t length;
  size_t allowance;  // what may still be read; TSR_FLAT_ALLOWANCE at first
} tsr_flat;

// Real files are read two or three times over; names of deep trees repeat the outer names.
#define TSR_FLAT_ALLOWANCE(length) (64 * (length) + 4096)

typedef struct tsr_flat_table {
  tsr_flat *file;
  size_t at, bytes;  // the table
  size_t vtable;
  int slot_count;
} tsr_flat_table;

typedef struct tsr_flat_list {
  tsr_flat *file;
  size_t at;  // the first element
  int64_t count;
  bool present;  // an absent list has no elements
} tsr_flat_list;

TSR_MUST_USE tsr_status tsr_flat_root(tsr_flat *file, tsr_flat_table *out_root);
// Takes `cost` bytes of the allowance.
TSR_MUST_USE tsr_status tsr_flat_spend(tsr_flat *file, size_t cost);

// A number of `width` bytes; `otherwise` if the slot is absent.
TSR_MUST_USE tsr_status tsr_flat_number(const tsr_flat_table *table, int slot, int width,
                                        uint64_t otherwise, uint64_t *out_number);
// `*out_present` is false, and the table untouched, if the slot is absent.
TSR_MUST_USE tsr_status tsr_flat_child(const tsr_flat_table *table, int slot,
                                       tsr_flat_table *out_child, bool *out_present);
// A list of elements of `width` bytes; tables and strings in a list take 4.
TSR_MUST_USE tsr_status tsr_flat_list_of(const tsr_flat_table *table, int slot, int width,
                                         tsr_flat_list *out_list);
// A view of a string, which is UTF-8 and ends with '\0'; NULL if the slot is absent.
TSR_MUST_USE tsr_status tsr_flat_string(const tsr_flat_table *table, int slot,
                                        const char **out_string);

// Elements of a list; `index` is in range.
uint64_t tsr_flat_item_number(const tsr_flat_list *list, int64_t index, int width);
TSR_MUST_USE tsr_status tsr_flat_item_table(const tsr_flat_list *list, int64_t index,
                                            tsr_flat_table *out_table);
TSR_MUST_USE tsr_status tsr_flat_item_string(const tsr_flat_list *list, int64_t index,
                                             const char **out_string);

#endif
