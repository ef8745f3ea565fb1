// Shared by the files of this room: maps as read, and mappings under construction.
#ifndef TESSERA_MAP_MAP_H
#define TESSERA_MAP_MAP_H

#include <stdatomic.h>

#include "base/arena.h"
#include "map/map_pieces.h"
#include "regex/regex.h"
#include "tessera/checkpoint/map.h"
#include "tessera/dtype.h"
#include "tessera/tree.h"

// ---- a map as written ----

// A piece of a name: plain text, a word in braces, or an expression in braces.
typedef struct tsr_name_piece {
  const char *text;     // plain, with single braces; NULL = none
  const char *word;     // of {word} and {word:regex}; NULL = none
  const char *pattern;  // the regex; NULL = none
  const char *number;   // of {expression}; NULL = none
} tsr_name_piece;

typedef struct tsr_map_name {
  int count;
  tsr_name_piece *pieces;
} tsr_map_name;

// for variable in from..to, `to` not included.
typedef struct tsr_map_loop {
  const char *variable, *from, *to;
} tsr_map_loop;

// A name left of the '=' or an operand right of it, with its loops, the first outermost.
typedef struct tsr_map_item {
  const struct tsr_map_expr *expr;  // on the right
  tsr_map_name name;                // on the left
  int loop_count;
  tsr_map_loop *loops;
} tsr_map_item;

// OP(id, word, takes any number of operands, takes any number of numbers after the operand, their
// least number).
#define TSR_MAP_OPS(OP)                                                              \
  OP(NAME, "", false, false, 0)              /* a source */                          \
  OP(CONCAT, "concat", true, false, 0)       /* concat(dim, a, b, ...) */            \
  OP(STACK, "stack", true, false, 0)         /* stack(dim, a, b, ...) */             \
  OP(SPLIT, "split", false, true, 1)         /* split(x, dim[, size, ...]) */        \
  OP(UNSTACK, "unstack", false, false, 0)    /* unstack(x, dim) */                   \
  OP(SLICE, "slice", false, false, 0)        /* slice(x, dim, from:to) */            \
  OP(TRANSPOSE, "transpose", false, true, 0) /* transpose(x[, order, ...]) */        \
  OP(RESHAPE, "reshape", false, true, 0)     /* reshape(x, size, ...) */             \
  OP(PERMUTE, "permute", false, false, 0)    /* permute(x, dim, (sizes), (order)) */ \
  OP(PAD, "pad", false, false, 0)            /* pad(x, dim, size[, value]) */        \
  OP(TRIM, "trim", false, false, 0)          /* trim(x, dim, size) */
#define OP(id, ...) TSR_MAP_##id,
typedef enum tsr_map_op { TSR_MAP_OPS(OP) TSR_MAP_OP_COUNT } tsr_map_op;
#undef OP
typedef struct tsr_map_op_info {
  const char *word;
  bool joins, open_numbers;
  int least_numbers;  // where they are open
} tsr_map_op_info;
extern const tsr_map_op_info tsr_map_ops[TSR_MAP_OP_COUNT];

typedef struct tsr_map_expr {
  tsr_map_op op;
  int line;
  tsr_map_name name;  // of NAME
  int item_count;
  tsr_map_item *items;  // the operands
  int number_count;
  const char **numbers;  // expressions; "_" = the rest; "" = the start or end of the dimension
  int size_count;        // of PERMUTE: numbers 1 .. size_count are sizes, the rest is the order
  const char *value;     // of PAD; NULL = 0
} tsr_map_expr;

typedef struct tsr_map_rule {
  int line;
  bool optional;  // no warning when it matches nothing
  bool drop;      // no destination: `value` is the name
  int target_count;
  tsr_map_item *targets;
  const tsr_map_expr *value;
  // The first name of the value finds the sources. Its captures are groups of a pattern; without
  // captures there is none. If the name has computed numbers, the pattern is compiled again once
  // they are known.
  const tsr_map_name *first;
  bool has_pattern, computed;
  tsr_regex pattern;
  int capture_count;
  const char **captures;
  int *groups;  // of the pattern, for each capture
} tsr_map_rule;

typedef struct tsr_map_let {
  const char *word, *number;
  int line;
} tsr_map_let;

struct tsr_map {
  atomic_int refs;
  tsr_arena arena;
  const char *name;
  bool only;
  int let_count, rule_count;
  tsr_map_let *lets;
  tsr_map_rule *rules;
  tsr_regex_engine *engine;
};

// ---- values of names and numbers ----

// Words and their values: facts, lets, captures and loop variables, the innermost last.
typedef struct tsr_map_word {
  const char *word;
  const char *text;  // that a capture matched; NULL = the number
  int64_t value;
  bool is_number;
} tsr_map_word;
typedef struct tsr_map_scope {
  tsr_map_word *words;  // owned
  int count;
  int64_t capacity;
} tsr_map_scope;
void tsr_map_scope_deinit(tsr_map_scope *scope);
TSR_MUST_USE tsr_status tsr_map_scope_push(tsr_map_scope *scope, tsr_map_word word);
TSR_MUST_USE tsr_status tsr_map_number(const tsr_map_scope *scope, const char *text, int64_t *out);
TSR_MUST_USE tsr_status tsr_map_name_fill(const tsr_map_scope *scope, const tsr_map_name *name,
                                          tsr_text *out);
// Calls `fn` for every turn of nested loops, with their variables in scope.
typedef tsr_status tsr_map_turn_fn(void *context, tsr_map_scope *scope);
TSR_MUST_USE tsr_status tsr_map_loops_run(tsr_map_scope *scope, const tsr_map_loop *loops,
                                          int count, tsr_map_turn_fn *fn, void *context);

// Sets a rule's pattern and captures, and checks its names against its loops.
TSR_MUST_USE tsr_status tsr_map_rule_bind(tsr_map *map, tsr_map_rule *rule);
// The pattern of the first name, with computed numbers as in `scope`; NULL = without them.
TSR_MUST_USE tsr_status tsr_map_rule_pattern(const tsr_map_rule *rule, const tsr_map_scope *scope,
                                             tsr_text *out);
void tsr_map_name_print(const tsr_map_name *name, tsr_text *out);  // as it is written

// ---- mappings ----

// A tensor under construction: dtype, shape, and the origin of its elements.
typedef struct tsr_made {
  tsr_dtype dtype;
  tsr_shape shape;
  tsr_map_pieces pieces;
} tsr_made;

// How a source is used.
typedef enum tsr_source_use {
  TSR_SOURCE_UNUSED,
  TSR_SOURCE_USED,
  TSR_SOURCE_DROPPED
} tsr_source_use;

// The context in which expressions are evaluated.
typedef struct tsr_map_world {
  const tsr_tree *source;
  unsigned char *used;  // of each source: a tsr_source_use
  tsr_map_scope scope;
  struct tsr_mapping *mapping;  // keeps constants
  int64_t first_source;         // of the expression: the first one found
} tsr_map_world;
// `out` needs tsr_map_pieces_deinit, also after a failure.
TSR_MUST_USE tsr_status tsr_map_evaluate(tsr_map_world *world, const tsr_map_expr *expr,
                                         tsr_made *out);
// The sizes of the sections that a split or unstack into `count` tensors makes.
TSR_MUST_USE tsr_status tsr_map_section_sizes(tsr_map_world *world, const tsr_map_expr *expr,
                                              const tsr_made *whole, int64_t count,
                                              int64_t *out_sizes, int *out_dim);
// Section [first, first+size) of `whole`; `unstack` removes the dimension.
TSR_MUST_USE tsr_status tsr_map_section(const tsr_made *whole, int dim, int64_t first, int64_t size,
                                        bool unstack, tsr_made *out);

// A compact piece; a source below 0 is constant number -1 - source.
typedef struct tsr_map_kept {
  int64_t source, from, to;
  int loop_count;
  const tsr_copy_loop *loops;
} tsr_map_kept;
typedef struct tsr_mapped {
  const char *name;
  tsr_dtype dtype;
  tsr_shape shape;
  int line;
  int64_t order;  // sort key: the position of its sources
  int64_t piece_count;
  const tsr_map_kept *pieces;
} tsr_mapped;

typedef struct tsr_map_constant {
  unsigned char bytes[16];  // one element
} tsr_map_constant;

struct tsr_mapping {
  atomic_int refs;
  tsr_arena arena;
  const tsr_tree *source, *tree;  // owned
  int64_t count, capacity;
  tsr_mapped *items;  // owned; in the tree's order
  int64_t constant_count, constant_capacity;
  tsr_map_constant *constants;  // owned
  tsr_text warnings;
  bool idle;       // no line finds a tensor
  tsr_text apart;  // a message about separated companions; "" = none
};

// Weights that the source has only in another form, such as packed codes or low-rank factors. Lines
// written for their plain names find nothing.
typedef struct tsr_map_hidden {
  const char *path;
  int64_t tensor;  // the source has instead
  int line;        // of the map that names it; 0 = none
} tsr_map_hidden;
typedef struct tsr_map_hiddens {
  tsr_arena arena;
  tsr_map_hidden *items;  // owned
  int64_t count, capacity;
} tsr_map_hiddens;
TSR_MUST_USE tsr_status tsr_map_hiddens_init(tsr_map_hiddens *hiddens, const tsr_tree *source);
void tsr_map_hiddens_deinit(tsr_map_hiddens *hiddens);
// Finds companions that lines leave behind, after all lines were applied.
TSR_MUST_USE tsr_status tsr_mapping_find_apart(tsr_mapping *mapping, const tsr_map *map,
                                               const unsigned char *used,
                                               const tsr_map_hiddens *hiddens);

TSR_MUST_USE tsr_status tsr_mapping_create(const tsr_tree *source, tsr_mapping **out_mapping);
// Adds a tensor; copies the name.
TSR_MUST_USE tsr_status tsr_mapping_add(tsr_mapping *mapping, const char *name, int line,
                                        int64_t order, const tsr_made *made);
// Sorts the tensors and makes the tree.
TSR_MUST_USE tsr_status tsr_mapping_finish(tsr_mapping *mapping);
// The origin of every element, as text. Equal texts mean equal mappings.
void tsr_mapping_describe(const tsr_mapping *mapping, tsr_text *out);
// Fails with not_found if no line finds a tensor although one must, and with companions_apart,
// unless allowed, if a line takes a tensor without its companions (plan/companions.def).
TSR_MUST_USE tsr_status tsr_mapping_check(const tsr_mapping *mapping, bool apart_allowed);
const tsr_mapped *tsr_mapping_tensor(const tsr_mapping *mapping, int64_t tensor);
tsr_map_piece tsr_map_kept_open(const tsr_map_kept *kept);

#endif
