// The parties of each group, and the nodes of the reduction tree that each holds (parties.h).
#include "comm/mpi/parties.h"

#include <stdlib.h>

#include "base/compare.h"
#include "base/grow.h"
#include "tessera/comm.h"
#include "tessera/dtype.h"
#include "tessera/engine/collectives.h"
#include "tessera/engine/groups.h"
#include "tessera/engine/reduce.h"
#include "tessera/status.h"

// Adds the nodes of members [first, last), all of which the party has.
static tsr_status add_run(tsr_mpi_group *group, tsr_mpi_party *party, int64_t size, int64_t first,
                          int64_t last, int64_t *capacity) {
  tsr_reduce_node run[TSR_REDUCE_MAX_NODES];
  const int64_t count = tsr_reduce_nodes(size, first, last, run);
  for (int i = 0; i < count; i++) {
    void *nodes = tsr_grow(group->nodes, group->node_count, capacity, sizeof *group->nodes);
    if (!nodes) return tsr_fail(NO_MEMORY, "nodes of %lld members", (long long)size);
    group->nodes = nodes;
    group->nodes[group->node_count++] = run[i];
    party->node_count++;
  }
  return NULL;
}

static tsr_status add_party(const tsr_comm *comm, tsr_mpi_group *group, int64_t size, int rank,
                            int64_t *capacity) {
  tsr_mpi_party *party = &group->parties[group->party_count];
  *party = (tsr_mpi_party){.rank = rank, .first_node = group->node_count};
  for (int64_t first = 0; first < size;) {
    int64_t last = first;
    while (last < size && tsr_comm_rank_of(comm, group->members[last]) == rank) last++;
    if (last > first) TSR_TRY(add_run(group, party, size, first, last, capacity));
    first = last > first ? last : first + 1;
  }
  if (rank == tsr_comm_rank(comm)) group->mine = group->party_count;
  group->party_count++;
  return NULL;
}

// The distinct ranks of the members, ascending; returns their number.
static int list_ranks(const tsr_comm *comm, const int64_t *members, int64_t size, int *ranks) {
  for (int64_t i = 0; i < size; i++) ranks[i] = tsr_comm_rank_of(comm, members[i]);
  qsort(ranks, (size_t)size, sizeof *ranks, tsr_compare_int32);
  int count = 0;
  for (int64_t i = 0; i < size; i++)
    if (!i || ranks[i] != ranks[count - 1]) ranks[count++] = ranks[i];
  return count;
}

static int compare_values(const void *a, const void *b) {
  const int64_t x = ((const tsr_mpi_value *)a)->first, y = ((const tsr_mpi_value *)b)->first;
  return (x > y) - (x < y);
}

static tsr_status put_in_order(tsr_mpi_group *group) {
  tsr_mpi_value *values = malloc(((size_t)group->node_count + 1) * sizeof *values);
  if (!values) return tsr_fail(NO_MEMORY, "%lld nodes", (long long)group->node_count);
  int64_t count = 0;
  for (int p = 0; p < group->party_count; p++)
    for (int64_t i = 0; i < group->parties[p].node_count; i++) {
      const int64_t first = group->nodes[group->parties[p].first_node + i].first;
      values[count++] = (tsr_mpi_value){first, p, i};
    }
  qsort(values, (size_t)count, sizeof *values, compare_values);
  group->in_order = values;
  return NULL;
}

static tsr_status make_group(const tsr_comm *comm, int64_t size, int *ranks, tsr_mpi_group *group) {
  const int count = list_ranks(comm, group->members, size, ranks);
  int64_t capacity = 0;
  group->mine = -1;
  group->parties = calloc((size_t)count + 1, sizeof *group->parties);
  if (!group->parties) return tsr_fail(NO_MEMORY, "group over %d ranks", count);
  for (int i = 0; i < count; i++) TSR_TRY(add_party(comm, group, size, ranks[i], &capacity));
  return put_in_order(group);
}

tsr_status tsr_mpi_groups_create(const tsr_comm *comm, const tsr_groups *groups,
                                 tsr_mpi_group **out_groups) {
  tsr_mpi_group *list = calloc((size_t)groups->count + 1, sizeof *list);
  int *ranks = malloc(((size_t)groups->size + 1) * sizeof *ranks);
  tsr_status status = list && ranks
                          ? NULL
                          : tsr_fail(NO_MEMORY, "%lld groups of devices", (long long)groups->count);
  for (int64_t g = 0; !status && g < groups->count; g++) {
    list[g].members = groups->members + g * groups->size;
    status = make_group(comm, groups->size, ranks, &list[g]);
  }
  free(ranks);
  if (status)
    tsr_mpi_groups_destroy(list, groups->count);
  else
    *out_groups = list;
  return status;
}

void tsr_mpi_groups_destroy(tsr_mpi_group *groups, int64_t count) {
  for (int64_t g = 0; groups && g < count; g++) {
    free(groups[g].parties);
    free(groups[g].nodes);
    free(groups[g].in_order);
  }
  free(groups);
}

size_t tsr_mpi_party_offset(const tsr_mpi_group *group, const tsr_mpi_party *party, tsr_dtype dtype,
                            int64_t elements, int64_t index) {
  size_t offset = 0;
  for (int64_t i = 0; i < index; i++) {
    const tsr_dtype wire = tsr_mpi_wire(dtype, &group->nodes[party->first_node + i]);
    const size_t bits = (size_t)elements * (size_t)tsr_dtype_info_of(wire)->bits;
    offset += (bits + 7) / 8;
    if (i + 1 < party->node_count) offset = (offset + 15) / 16 * 16;
  }
  return offset;
}
