// The layout of a JSON document in memory, for its reader and accessors.
//
// Values are on a tape of 16-byte slots, in the order of the text. A scalar takes one slot. A
// container takes two, a head and its details, followed by its members. A member of an object is
// preceded by a slot for its key. So the next sibling is found by adding a span. Nothing on the
// tape points into the tape, so it may move while it grows.
#ifndef TESSERA_JSON_JSON_NODE_H
#define TESSERA_JSON_JSON_NODE_H

#include <string.h>

#include "json/json.h"
#include "tessera/api.h"
#include "tessera/status.h"

struct tsr_json {
  union {
    const char *text;              // a scalar's or head's first byte; a string's after the quote
    struct tsr_json_index *index;  // details of an object with many keys; else NULL
    size_t last;                   // details of a container still open: the slot of its last member
  };
  union {
    uint64_t word;  // size << SIZE_SHIFT | marks | kind; see json_size
    size_t count;   // details: how many members
  };
};

enum {
  JSON_KIND_MASK = 7,
  JSON_IS_MEMBER = 8,     // of an object: the key is in the slot before
  JSON_IS_LAST = 16,      // of its container
  JSON_IS_FRACTION = 32,  // a number with a fraction or an exponent
  JSON_SIZE_SHIFT = 8,
};

// The keys of a large object: open addressing over the hash of the key. An entry is the member's
// distance from the head below a tag of hash bits; 0 = empty.
typedef struct tsr_json_index {
  struct tsr_json_index *next;  // of the document
  size_t mask;
  uint64_t seed;
  uint64_t entries[];
} tsr_json_index;

struct tsr_json_doc {
  const char *bytes;
  size_t length;
  size_t start;  // offset of the bytes in their file; positions count from the file's start
  char *owned;   // the bytes, if the document owns them
  // Strings with escapes are resolved at the same offset in this second text of the same length,
  // which is allocated for the first of them.
  char *shadow;
  tsr_json *tape;
  tsr_json_index *indexes;
};

static inline tsr_json_kind json_kind(const tsr_json *value) {
  return (tsr_json_kind)(value->word & JSON_KIND_MASK);
}

// Bytes of a string or number; slots of a container, including its own two.
static inline size_t json_size(const tsr_json *value) { return value->word >> JSON_SIZE_SHIFT; }

static inline bool json_is_container(const tsr_json *value) {
  return json_kind(value) >= TSR_JSON_ARRAY;
}

static inline size_t json_span(const tsr_json *value) {
  return json_is_container(value) ? json_size(value) : 1;
}

static inline bool json_same_bytes(const tsr_json *string, const char *bytes, size_t length) {
  return json_size(string) == length && !memcmp(string->text, bytes, length);
}

// Finds the member called `name`, or NULL, by the index of `object` (which must have one).
const tsr_json *tsr_json_index_find(const tsr_json *object, const char *name, size_t length);

// Makes the index of an object with `count` keys; of two equal keys, returns the member of the
// later.
TSR_MUST_USE tsr_status tsr_json_index_create(const tsr_json *object, size_t count,
                                              tsr_json_index **out_index,
                                              const tsr_json **out_duplicate);

#endif
