// The entry of one dimension (tsr_logical_entry): checked, copied, compared, read and written.
// Logical rules, names of tensors and semantic axes consist of entries.
#ifndef TESSERA_RULES_ENTRY_H
#define TESSERA_RULES_ENTRY_H

#include "base/arena.h"
#include "base/cursor.h"
#include "json/json.h"
#include "tessera/logical.h"

// Entries of a list, and names in a group: the limit of a spec. It is far beyond any tensor, and
// small enough to compare all pairs.
enum { TSR_ENTRIES_MAX = 4096 };

// Checks entries given by a caller.
TSR_MUST_USE tsr_status tsr_entries_check(const tsr_logical_entry *items, int count);
bool tsr_entry_equal(const tsr_logical_entry *a, const tsr_logical_entry *b);
// A copy that lives as long as the arena.
TSR_MUST_USE tsr_status tsr_entry_copy(tsr_arena *arena, const tsr_logical_entry *entry,
                                       tsr_logical_entry *out_entry);
// A copy of a name; a zero byte is an error.
TSR_MUST_USE tsr_status tsr_name_copy(tsr_arena *arena, const char *bytes, size_t length,
                                      const char **out_name);

TSR_MUST_USE tsr_status tsr_entry_from_json(tsr_arena *arena, const tsr_json *value,
                                            tsr_logical_entry *out_entry);
void tsr_entry_to_json(const tsr_logical_entry *entry, tsr_json_writer *writer);
// Fails unless the value is a list of at most TSR_ENTRIES_MAX.
TSR_MUST_USE tsr_status tsr_entries_list(const tsr_json *value, const char *what, int *out_count);

// The text form: model, replica+data, (data), (), _, ?. A name may be quoted.
TSR_MUST_USE tsr_status tsr_entry_read(tsr_arena *arena, tsr_cursor *cursor,
                                       tsr_logical_entry *out_entry);
TSR_MUST_USE tsr_status tsr_entry_read_name(tsr_arena *arena, tsr_cursor *cursor, const char *what,
                                            const char **out_name, bool *out_quoted);
void tsr_entry_print(const tsr_logical_entry *entry, tsr_text *out);

#endif
