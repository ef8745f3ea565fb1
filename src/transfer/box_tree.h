// Box tree: finds the boxes that meet a box.
//
// Boxes are halved recursively by the median of their middles along the widest dimension, and every
// node has the hull of its boxes. Boxes that tile a tensor are found in about log(count) steps
// each.
#ifndef TESSERA_TRANSFER_BOX_TREE_H
#define TESSERA_TRANSFER_BOX_TREE_H

#include "tessera/layout.h"

typedef struct tsr_box_tree tsr_box_tree;

// The boxes, `rank` ranges each, must outlive the tree. Empty ones are never found.
TSR_MUST_USE tsr_status tsr_box_tree_create(const tsr_range *boxes, int rank, int64_t count,
                                            tsr_box_tree **out_tree);
void tsr_box_tree_destroy(tsr_box_tree *tree);  // NULL is fine
// Calls `found` with every box that meets `box`, until it fails.
TSR_MUST_USE tsr_status tsr_box_tree_find(const tsr_box_tree *tree, const tsr_range *box,
                                          tsr_status (*found)(void *context, int64_t index),
                                          void *context);

#endif
