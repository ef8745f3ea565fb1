// Parties: the ranks of a group, and what each contributes to its reduction.
//
// A party is a rank with members in the group. It contributes one value per node of the reduction
// tree that it holds entirely (tessera/engine/reduce.h): the member itself, or the partial of
// several. All ranks derive this from the devices of each rank, so messages need no headers.
#ifndef TESSERA_COMM_MPI_PARTIES_H
#define TESSERA_COMM_MPI_PARTIES_H

#include "tessera/api.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/reduce.h"
#include "tessera/status.h"

typedef struct tsr_mpi_party {
  int rank;
  int64_t first_node, node_count;  // in `nodes` of the group
} tsr_mpi_party;

// The value of a node: its party, and its index among that party's.
typedef struct tsr_mpi_value {
  int64_t first;
  int party;
  int64_t index;
} tsr_mpi_value;

typedef struct tsr_mpi_group {
  const int64_t *members;
  tsr_mpi_party *parties;  // in order of ranks
  int party_count;
  int mine;                 // the party of this rank; -1 = it has no member here
  tsr_reduce_node *nodes;   // of all parties, one party after the other
  tsr_mpi_value *in_order;  // the same, in order of members
  int64_t node_count;
} tsr_mpi_group;

// The parties of all groups of a job, one entry per group.
TSR_MUST_USE tsr_status tsr_mpi_groups_create(const tsr_comm *comm, const tsr_groups *groups,
                                              tsr_mpi_group **out_groups);
void tsr_mpi_groups_destroy(tsr_mpi_group *groups, int64_t count);  // NULL is fine

// The type of a node's value in messages.
static inline tsr_dtype tsr_mpi_wire(tsr_dtype dtype, const tsr_reduce_node *node) {
  return node->last - node->first == 1 ? dtype : tsr_reduce_partial_dtype(dtype);
}
// The offset of node `index` in the party's message about `elements` elements; for node_count, the
// size of the message.
size_t tsr_mpi_party_offset(const tsr_mpi_group *group, const tsr_mpi_party *party, tsr_dtype dtype,
                            int64_t elements, int64_t index);

#endif
