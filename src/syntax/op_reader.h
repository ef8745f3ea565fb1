// Reading ops: what the forms of ops (syntax/op_forms.h) are made of.
//
// An op is gathered in a draft: references to values, types, attributes and regions, in the order
// in which its text has them. When all of it is read, the values are looked up, their types are
// compared with those written, and the op is made. Lists of drafts lie on stacks of the reader, so
// that an op in a region of an op needs no memory of its own.
//
// After a failure the reader goes on with the next op. Values of an op that failed are *lost*: ops
// that use them are dropped without a second failure.
#ifndef TESSERA_SYNTAX_OP_READER_H
#define TESSERA_SYNTAX_OP_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "syntax/reader.h"
#include "syntax/value_scope.h"

typedef struct tsr_value_ref {
  const char *at;    // of "%"
  const char *name;  // after "%"
  size_t length;
  int64_t number;  // after "#"; -1 = none
} tsr_value_ref;

typedef struct tsr_argument_draft {
  tsr_value_ref ref;  // of length 0 for an argument without a name
  const tsr_type *type;
  const tsr_attr *attrs;     // a dictionary, or NULL
  const tsr_attr *location;  // or NULL
} tsr_argument_draft;

// A list that grows at its end and is cut back to where a draft found it.
#define TSR_DRAFT_STACK(type) \
  struct {                    \
    type *items;              \
    int64_t count, capacity;  \
  }

typedef struct tsr_op_reader {
  tsr_reader *in;
  tsr_value_scope scope;
  TSR_DRAFT_STACK(tsr_value_ref) refs;   // operands
  TSR_DRAFT_STACK(tsr_value_ref) names;  // of results, before "="
  TSR_DRAFT_STACK(tsr_named_attr) attrs;
  TSR_DRAFT_STACK(tsr_region) regions;
  TSR_DRAFT_STACK(tsr_argument_draft) arguments;
  TSR_DRAFT_STACK(tsr_value *) values;
  const char *dialect;  // whose ops may be written without prefix: "func", "builtin" or ""
  bool graph;           // values may be used before their definition
} tsr_op_reader;

typedef struct tsr_draft {
  const tsr_op_info *info;
  const char *name;
  const char *at;  // of the op's name
  uint32_t line, column;
  int64_t first_ref, first_attr, first_region;
  // One type for each operand, or one for all.
  const tsr_type *const *operand_types;
  int operand_type_count;
  const tsr_type *operand_type;
  const tsr_type *const *result_types;
  int result_count;
  const tsr_type *result_type;  // the only one, if `result_types` is NULL
  const tsr_attr *location;     // read by the form itself; mostly NULL
} tsr_draft;

static inline int64_t tsr_draft_operand_count(const tsr_op_reader *reader, const tsr_draft *draft) {
  return reader->refs.count - draft->first_ref;
}

// Makes room on a stack for one more item; false without memory.
#define TSR_DRAFT_ROOM(stack) \
  tsr_draft_room(&(stack).items, (stack).count, &(stack).capacity, sizeof *(stack).items)
bool tsr_draft_room(void *items, int64_t count, int64_t *capacity, size_t size);

// %x or %x#1.
TSR_MUST_USE tsr_status tsr_read_ref(tsr_op_reader *reader, tsr_value_ref *out_ref);
TSR_MUST_USE tsr_status tsr_draft_operand(tsr_op_reader *reader, tsr_draft *draft);
// Any number of operands; stops before a comma that no operand follows.
TSR_MUST_USE tsr_status tsr_draft_operands(tsr_op_reader *reader, tsr_draft *draft);
TSR_MUST_USE tsr_status tsr_draft_attr(tsr_op_reader *reader, tsr_draft *draft, const char *name,
                                       const tsr_attr *attr);
// {...} if it comes next.
TSR_MUST_USE tsr_status tsr_draft_attr_dict(tsr_op_reader *reader, tsr_draft *draft);
// (T, U) -> V for the operands and results.
TSR_MUST_USE tsr_status tsr_draft_function_type(tsr_op_reader *reader, tsr_draft *draft);
void tsr_draft_types_of(tsr_draft *draft, const tsr_type *function);
// {...}, whose first block has the arguments on the stack from `first_argument` on. They stay on
// the stack. `inside` is the op it belongs to.
TSR_MUST_USE tsr_status tsr_draft_region(tsr_op_reader *reader, const tsr_draft *draft,
                                         int64_t first_argument);
// ({...}, {...}), or nothing.
TSR_MUST_USE tsr_status tsr_draft_regions(tsr_op_reader *reader, tsr_draft *draft);
// An empty region of the draft's op; it moves when another one is added.
TSR_MUST_USE tsr_status tsr_draft_add_region(tsr_op_reader *reader, tsr_region **out_region);
// %x: T {attrs} loc(...): pushed on the stack of arguments.
TSR_MUST_USE tsr_status tsr_read_argument(tsr_op_reader *reader, bool with_attrs);

// Makes the op of a draft; `*out_op` is NULL if it uses a lost value.
TSR_MUST_USE tsr_status tsr_draft_finish(tsr_op_reader *reader, tsr_draft *draft, tsr_op **out_op);

// Reads ops into a block until "}", a label or the end of the text.
TSR_MUST_USE tsr_status tsr_read_block_ops(tsr_op_reader *reader, tsr_ir_block *block);
// Reports values in the scope from `first` on that are used but not defined.
void tsr_read_check_forward(tsr_op_reader *reader, int64_t first);
// Keeps a failure for the report and goes on at the next op after `start`; gives back failures
// after which there is no going on.
TSR_MUST_USE tsr_status tsr_read_recover(tsr_op_reader *reader, const char *start,
                                         tsr_status failure);

#endif
