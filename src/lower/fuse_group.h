// Groups of ops that become one tile program, while a block is put in groups.
#ifndef TESSERA_LOWER_FUSE_GROUP_H
#define TESSERA_LOWER_FUSE_GROUP_H

#include "lower/fuse_ops.h"

enum {
  TSR_FUSE_NODES = 192,         // of a group
  TSR_FUSE_INPUTS = 24,         // values that a group loads
  TSR_FUSE_LEAST_ROW = 16,      // shorter rows are no reason to run by rows
  TSR_FUSE_WHOLE_ROW = 1 << 15  // longer rows are not worth running one at a time
};

typedef enum tsr_node_kind {
  TSR_NODE_LOAD,     // a value in memory
  TSR_NODE_SPLAT,    // a constant
  TSR_NODE_IOTA,     // the form is that of the index, not of a position
  TSR_NODE_COMPUTE,  // an elementwise op
  TSR_NODE_ROWS,     // a reduction of each row; in[1] is the initial value
  TSR_NODE_FOLD      // a reduction over the outer dims; its form is that of the operand
} tsr_node_kind;

typedef struct tsr_fuse_node {
  tsr_node_kind kind;
  bool member;       // of this group only; not an op that each reader computes again
  bool stored;       // something outside of the group reads the value
  tsr_value *value;  // SPLAT, IOTA, COMPUTE and so on: the result of its op
  tsr_form form;
  int in[3];
} tsr_fuse_node;

typedef struct tsr_fuse_group {
  tsr_fuse_space space;
  int row_dims;    // the last dims, over which rows are reduced; 0: nothing asks for rows
  int batch_dims;  // the first dims, which folds keep; -1: there are no folds
  int node_count, node_capacity, input_count, member_count;
  tsr_fuse_node *nodes;
  int depth;                        // of all its ops
  const tsr_lane_classes *classes;  // of all its ops: work for few classes is not done for many
  struct tsr_fuse_group *joined;    // the group that it became part of
  int last;                         // the last of its ops in the block
  uint32_t stamp;                   // of the search that saw it last
  bool demanded, placed;
} tsr_fuse_group;

// A group of one elementwise op or reduction. *out_group is NULL where the op must run by itself.
TSR_MUST_USE tsr_status tsr_group_create(tsr_fuser *fuser, tsr_fuse_op *op,
                                         tsr_fuse_group **out_group);
// Joins two groups at a value that both have: one computes it, or both load it. NULL: one space
// does not fit both, and they stay. Gives the group that is left; the other has `joined` set. The
// caller has checked that nothing outside stands between the two.
tsr_fuse_group *tsr_group_join(tsr_fuser *fuser, tsr_fuse_group *maker, int made,
                               tsr_fuse_group *reader, int read);
// A load of a value in each of two groups that goes all over its space, of equal forms if there are
// such; false = none.
bool tsr_group_find_loads(const tsr_fuse_group *a, const tsr_fuse_group *b, const tsr_value *value,
                          int *out_a, int *out_b);

// Splits a dim of its space. False: there is no room for a dim more, or the split is none.
bool tsr_group_split(tsr_fuse_group *group, tsr_fuse_split split);
// Computes what a group loads by few cheap ops of what else it loads, where that is possible.
void tsr_group_spare_loads(tsr_fuser *fuser, tsr_fuse_group *group);

#endif
